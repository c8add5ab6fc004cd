"""The marks of `stores.attention` in their tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from assistant_events.converters import dumps, loads
from assistant_events.events import ToolCalled, ToolFailed, ToolInputStarted, ToolSuccess
from assistant_events.stores.attention import BEGINS, UNFINISHED, Mark, Phase, Watch, of_concern
from assistant_events.stores.contract import StoredEvent, Unfinished, UnfinishedKind
from assistant_events.stores.sqlite.columns import Key, RowError, bytes_of, key_of, name_of, number_of
from assistant_events.values import RemoteRun

_REWOUND: Final = -1

_IDS_AT_ONCE: Final = 500
"""SQLite takes at least 999 parameters."""

_OF_CALLS: Final = (ToolInputStarted, ToolCalled, ToolSuccess, ToolFailed)

_Step: TypeAlias = tuple[str, bytes | None, bool]
_Calls: TypeAlias = dict[str, int | None]
"""Calls with the place since which they wait; `None` for those that do not."""


def follow(db: sqlite3.Connection, session: int, events: Sequence[StoredEvent], first_seq: int) -> None:
    """Bring the marks of a session to where a batch leads; its first event stands at *first_seq*."""
    moving = of_concern(events, first_seq)
    if moving:
        table = MarkTable(db, session)
        table.begin(moving)
        watch = Watch(table.load(moving))
        watch.follow(moving)
        table.save(watch)


class MarkTable:
    """The marks of one session, inside a transaction."""

    def __init__(self, db: sqlite3.Connection, session: int) -> None:
        self._db = db
        self._session = session
        self._new: dict[str, int] = {}
        """Messages that have a row since now, with their `first`."""

        self._steps: dict[str, _Step | None] = {}
        self._calls: dict[str, _Calls] = {}

    def begin(self, events: Iterable[tuple[int, StoredEvent]]) -> None:
        """Give a row to every message that begins with one of *events*."""
        # Nearly always all of them are new, so nothing has to be looked up: a message that is there keeps its row.
        for seq, event in events:
            if event.__class__ in BEGINS:
                self._new.setdefault(str(event.message_id), seq)
        if self._new:
            rows = [(self._session, key_of(message_id), first) for message_id, first in self._new.items()]
            if self._db.executemany(_BEGIN, rows).rowcount < len(rows):
                for message_id, mark in self._marks(dict.fromkeys(self._new, ())).items():
                    if mark.first != self._new[message_id]:
                        del self._new[message_id]

    def load(self, events: Iterable[tuple[int, StoredEvent]]) -> dict[str, Mark]:
        """
        Return the marks of those messages of *events* that have begun before, with the calls that *events* name.

        A message may have any number of other calls, which are not looked at.
        """
        named: dict[str, dict[str, None]] = {}
        for _, event in events:
            message_id = str(event.message_id)
            if message_id not in self._new:
                calls = named.setdefault(message_id, {})
                if isinstance(event, _OF_CALLS):
                    calls[event.call_id] = None
        marks = self._marks(named)
        for message_id, mark in marks.items():
            self._steps[message_id] = _step_of(mark)
            self._calls[message_id] = _calls_of(mark)
        return marks

    def _marks(self, named: Mapping[str, Iterable[str]]) -> dict[str, Mark]:
        """Return the marks of messages, with the calls that are named beside each."""
        marks: dict[str, Mark] = {}
        for message_id, call_ids in named.items():
            keys = [key_of(call_id) for call_id in call_ids]
            for at in range(0, len(keys) or 1, _IDS_AT_ONCE):
                self._load(marks, message_id, keys[at : at + _IDS_AT_ONCE])
        return marks

    def _load(self, marks: dict[str, Mark], name: str, calls: list[Key]) -> None:
        found = self._db.execute(_MARK.format(", ".join("?" * len(calls))), (*calls, self._session, key_of(name)))
        for first, phase, run, answered, call, since in found.fetchall():
            mark = marks.get(name)
            if mark is None:
                mark = marks[name] = Mark(name, number_of(first), Phase.REWOUND if first == _REWOUND else Phase.CLOSED)
                if phase is not None:
                    mark.phase = _phase_of(phase)
                    mark.run = None if run is None else loads(bytes_of(run), RemoteRun)
                    mark.answered = bool(answered)
            if since is not None:
                mark.waiting[name_of(call)] = number_of(since)
            elif call is not None:
                mark.closed.add(name_of(call))

    def save(self, watch: Watch) -> None:
        """Bring the tables to where *watch* stands."""
        if watch.rewound_from is not None:
            self._rewind(watch.rewound_from)
        rows = [
            (self._session, key_of(message_id), _REWOUND if mark.phase is Phase.REWOUND else mark.first)
            for message_id, mark in watch.marks.items()
            if message_id not in self._steps and (message_id not in self._new or watch.rewound_from is not None)
        ]
        if rows:
            self._db.executemany("INSERT OR REPLACE INTO messages (session, id, first) VALUES (?, ?, ?)", rows)
        for message_id, mark in watch.marks.items():
            if mark.phase is Phase.CLOSED and not mark.waiting and message_id in self._new:
                continue
            step = _step_of(mark)
            if step != self._steps.get(message_id):
                self._save_step(key_of(message_id), step)
            before = self._kept_calls(message_id, mark)
            calls = _calls_of(mark)
            if calls != before:
                self._save_calls(key_of(message_id), before, calls)

    def _save_step(self, key: Key, step: _Step | None) -> None:
        if step is None:
            self._db.execute("DELETE FROM steps WHERE session = ? AND message = ?", (self._session, key))
        else:
            self._db.execute(
                "INSERT OR REPLACE INTO steps (session, message, phase, run, answered) VALUES (?, ?, ?, ?, ?)",
                (self._session, key, *step),
            )

    def _kept_calls(self, message_id: str, mark: Mark) -> _Calls:
        """Remove the calls that are void, also those that were not loaded, and return what is left of the others."""
        before = self._calls.get(message_id, {})
        step = self._steps.get(message_id)
        if mark.emptied and message_id in self._steps:
            self._db.execute(_DELETE_ALL, (self._session, key_of(message_id)))
            return {}
        if step is not None and step[0] == Phase.RUNNING and mark.phase is not Phase.RUNNING:
            self._db.execute(_DELETE_CLOSED, (self._session, key_of(message_id)))
            return {call: since for call, since in before.items() if since is not None}
        return before

    def _save_calls(self, key: Key, before: _Calls, now: _Calls) -> None:
        self._db.executemany(
            "DELETE FROM calls WHERE session = ? AND message = ? AND id = ?",
            [(self._session, key, key_of(call)) for call in before.keys() - now.keys()],
        )
        self._db.executemany(
            "INSERT OR REPLACE INTO calls (session, message, id, waits_since) VALUES (?, ?, ?, ?)",
            [
                (self._session, key, key_of(call), since)
                for call, since in now.items()
                if call not in before or before[call] != since
            ],
        )

    def _rewind(self, first: int) -> None:
        where = {"session": self._session, "first": first, "rewound": _REWOUND}
        self._db.execute(_DELETE_STEPS, where)
        self._db.execute(_DELETE_CALLS, where)
        self._db.execute("UPDATE messages SET first = :rewound WHERE session = :session AND first >= :first", where)


def unfinished(db: sqlite3.Connection, session: int | None) -> list[Unfinished]:
    """Return what is unfinished in one session, or in all."""
    only = "" if session is None else "AND messages.session = :session"
    rows = db.execute(_UNFINISHED.format(only=only), {"session": session}).fetchall()
    return [
        Unfinished(
            session_id=name_of(session_key),
            message_id=name_of(message),
            kind=UnfinishedKind.CALL if call is not None else _kind_of(phase),
            call_id=None if call is None else name_of(call),
            run=None if run is None else loads(bytes_of(run), RemoteRun),
        )
        for session_key, message, phase, run, call in rows
    ]


def delete_marks(db: sqlite3.Connection, session: int) -> None:
    """Remove the marks of a session."""
    db.execute("DELETE FROM messages WHERE session = ?", (session,))
    db.execute("DELETE FROM steps WHERE session = ?", (session,))
    db.execute("DELETE FROM calls WHERE session = ?", (session,))


def _phase_of(word: object) -> Phase:
    phase = _PHASES.get(word)
    if phase is None:
        raise RowError("a phase is another word")
    return phase


def _kind_of(phase: object) -> UnfinishedKind:
    kind = UNFINISHED.get(_phase_of(phase))
    if kind is None:
        raise RowError("a phase is one in which nothing is unfinished")
    return kind


def _step_of(mark: Mark) -> _Step | None:
    if mark.phase is Phase.CLOSED or mark.phase is Phase.REWOUND:
        return None
    return mark.phase.value, None if mark.run is None else dumps(mark.run), mark.answered


def _calls_of(mark: Mark) -> _Calls:
    return {**mark.waiting, **dict.fromkeys(mark.closed)}


_PHASES: Final[dict[object, Phase]] = {phase.value: phase for phase in Phase}

_BEGIN: Final = "INSERT OR IGNORE INTO messages (session, id, first) VALUES (?, ?, ?)"
_DELETE_STEPS: Final = """
    DELETE FROM steps WHERE session = :session
        AND message IN (SELECT id FROM messages WHERE session = :session AND first >= :first)
"""
_DELETE_CALLS: Final = """
    DELETE FROM calls WHERE session = :session
        AND message IN (SELECT id FROM messages WHERE session = :session AND first >= :first)
"""
_DELETE_ALL: Final = "DELETE FROM calls WHERE session = ? AND message = ?"
_DELETE_CLOSED: Final = "DELETE FROM calls WHERE session = ? AND message = ? AND waits_since IS NULL"
_MARK: Final = """
    SELECT first, phase, run, answered, calls.id, waits_since FROM messages
    LEFT JOIN steps ON steps.session = messages.session AND steps.message = messages.id
    LEFT JOIN calls ON calls.session = messages.session AND calls.message = messages.id AND calls.id IN ({})
    WHERE messages.session = ? AND messages.id = ?
"""
_UNFINISHED: Final = """
    SELECT sessions.id, message, phase, run, call FROM (
        SELECT messages.session, first, 0 AS since, message, phase, run, NULL AS call
            FROM steps JOIN messages ON messages.session = steps.session AND messages.id = message
            WHERE phase <> 'failed' {only}
        UNION ALL
        SELECT messages.session, first, waits_since, calls.message, phase, NULL, calls.id
            FROM calls JOIN messages ON messages.session = calls.session AND messages.id = message
            LEFT JOIN steps USING (session, message)
            WHERE waits_since IS NOT NULL AND coalesce(phase, 'running') = 'running' {only}
    ) JOIN sessions ON sessions.number = session
    ORDER BY session, first, since
"""
