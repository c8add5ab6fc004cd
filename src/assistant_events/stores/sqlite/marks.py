"""The marks of `stores.attention` in their tables."""

from __future__ import annotations

import sqlite3
from typing import Final, TypeAlias

from assistant_events.converters import dumps, loads
from assistant_events.stores.attention import UNFINISHED, Mark, Phase, Watch
from assistant_events.stores.base import Unfinished, UnfinishedKind
from assistant_events.stores.sqlite.rows import Key, key_of, name_of
from assistant_events.values import Run

_Row: TypeAlias = tuple[int, str, bytes | None, bool]
_Calls: TypeAlias = dict[str, int | None]
"""Calls with the place since which they wait; `None` for those that do not."""


class MarkTable:
    """The marks of one session, inside a transaction. `find` is for a `Watch`, `save` for what it did."""

    def __init__(self, db: sqlite3.Connection, session: int) -> None:
        self._db = db
        self._session = session
        self._rows: dict[str, _Row] = {}
        self._calls: dict[str, _Calls] = {}

    def find(self, message_id: str) -> Mark | None:
        """Return the mark of a message; `None` when it has none."""
        where = (self._session, key_of(message_id))
        row = self._db.execute(
            "SELECT first, phase, run, answered FROM messages WHERE session = ? AND id = ?", where
        ).fetchone()
        if row is None:
            return None
        first, phase, run, answered = row
        mark = Mark(message_id, first, Phase(phase), None if run is None else loads(run, Run))
        mark.answered = bool(answered)
        for call, since in self._db.execute(
            "SELECT id, waits_since FROM calls WHERE session = ? AND message = ?", where
        ):
            if since is None:
                mark.closed.add(name_of(call))
            else:
                mark.waiting[name_of(call)] = since
        self._rows[message_id] = _row_of(mark)
        self._calls[message_id] = _calls_of(mark)
        return mark

    def save(self, watch: Watch) -> None:
        """Bring the tables to where *watch* stands."""
        if watch.rewound_from is not None:
            self._rewind(watch.rewound_from)
        rows: list[tuple[int, Key, int, str, bytes | None, bool]] = []
        gone: list[tuple[int, Key, Key]] = []
        come: list[tuple[int, Key, Key, int | None]] = []
        for message_id, mark in watch.touched.items():
            key = key_of(message_id)
            row = _row_of(mark)
            if row != self._rows.get(message_id):
                rows.append((self._session, key, *row))
            before = self._calls.get(message_id, {})
            now = _calls_of(mark)
            if before != now:
                gone += [(self._session, key, key_of(call)) for call in before if call not in now]
                come += [
                    (self._session, key, key_of(call), since)
                    for call, since in now.items()
                    if before.get(call, _ABSENT) != since
                ]
        self._db.executemany(
            "INSERT OR REPLACE INTO messages (session, id, first, phase, run, answered) VALUES (?, ?, ?, ?, ?, ?)", rows
        )
        self._db.executemany("DELETE FROM calls WHERE session = ? AND message = ? AND id = ?", gone)
        self._db.executemany(
            "INSERT OR REPLACE INTO calls (session, message, id, waits_since) VALUES (?, ?, ?, ?)", come
        )

    def _rewind(self, first: int) -> None:
        where = (self._session, first)
        self._db.execute(
            "DELETE FROM calls WHERE session = ?1 AND message IN "
            "(SELECT id FROM messages WHERE session = ?1 AND first >= ?2)",
            where,
        )
        self._db.execute(
            "UPDATE messages SET phase = 'rewound', run = NULL, answered = 0 WHERE session = ? AND first >= ?", where
        )


def unfinished(db: sqlite3.Connection, session: int | None) -> list[Unfinished]:
    """Return what is unfinished in one session, or in all."""
    only = "" if session is None else "AND messages.session = :session"
    found = db.execute(_UNFINISHED.format(only=only), {"session": session})
    return [
        Unfinished(
            session_id=name_of(session_key),
            message_id=name_of(message),
            kind=UnfinishedKind.CALL if call is not None else UNFINISHED[Phase(phase)],
            call_id=None if call is None else name_of(call),
            run=None if run is None else loads(run, Run),
        )
        for session_key, message, phase, run, call in found
    ]


def delete_marks(db: sqlite3.Connection, session: int) -> None:
    """Remove the marks of a session."""
    db.execute("DELETE FROM messages WHERE session = ?", (session,))
    db.execute("DELETE FROM calls WHERE session = ?", (session,))


def _row_of(mark: Mark) -> _Row:
    return mark.first, mark.phase.value, None if mark.run is None else dumps(mark.run), mark.answered


def _calls_of(mark: Mark) -> _Calls:
    return {**mark.waiting, **dict.fromkeys(mark.closed)}


_ABSENT: Final = -1

# The list of phases is spelt as in the index, so that SQLite sees that the index has all the rows.
_UNFINISHED: Final = """
    SELECT sessions.id, message, phase, run, call FROM (
        SELECT session, first, 0 AS since, id AS message, phase, run, NULL AS call FROM messages
            WHERE phase IN ('running', 'cut', 'compacting') {only}
        UNION ALL
        SELECT messages.session, first, waits_since, messages.id, phase, NULL, calls.id
            FROM calls JOIN messages ON messages.session = calls.session AND messages.id = calls.message
            WHERE waits_since IS NOT NULL AND phase IN ('running', 'ended') {only}
    ) JOIN sessions ON sessions.number = session
    ORDER BY session, first, since
"""
