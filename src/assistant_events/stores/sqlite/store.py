"""Logs in one SQLite file: WAL, one row for each record, every method one transaction."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from threading import RLock
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, final

from assistant_events.converters import dumps, loads
from assistant_events.errors import ConflictError, JsonError, PrunedError, StoreError, StructureError
from assistant_events.events import Event, Record
from assistant_events.messages import Transcript
from assistant_events.stores.attention import Watch, watch_from
from assistant_events.stores.base import (
    Clock,
    SessionInfo,
    StoredEvent,
    Unfinished,
    check_append,
    check_fork,
    check_fork_ids,
    check_meta,
    check_place,
    check_prune,
    check_read,
    check_session_id,
    check_snapshot,
    check_time,
    check_transcript,
    make_record,
    utc_now,
)
from assistant_events.stores.media import HOLDERS, Media, put_together, taken_apart
from assistant_events.stores.sqlite.marks import MarkTable, delete_marks, unfinished
from assistant_events.stores.sqlite.opening import MEMORY, Synchronous, open_file, translated
from assistant_events.stores.sqlite.rows import (
    LAST_SEQ,
    SNAPSHOT,
    hold_media,
    key_of,
    media_held,
    micros_of,
    name_of,
    places,
    release_media,
    time_of,
)
from assistant_events.values import JsonObject, read_json, write_json
from assistant_events.values.fields import NO_FIELDS

_PAGE: Final = 256
"""Records that are fetched at once. 64 cost 10 % more, 1024 gain nothing and hold more memory."""


@final
class SqliteStore:
    """
    A store in one SQLite file. Several processes and threads may use the file at once.

    Args:
        path: The file, made when it does not exist; `":memory:"` for a store that ends with the object.

        clock: Tells the time of a batch, in UTC.

        synchronous: With `"full"` a batch that was returned survives a loss of power. With `"normal"` the last
            batches may be lost then, never parts of one; it takes less time for each batch. Both survive the end of
            the process.

        timeout_s: How long to wait for another writer before giving up with a `StoreError`.

    Raises:
        StoreError: The file is no SQLite database, belongs to another application, was written by a newer version, or
            cannot be opened. It is left as it was.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Clock = utc_now,
        synchronous: Synchronous = "full",
        timeout_s: float = 10.0,
    ) -> None:
        self._path = os.fspath(path)
        self._clock = clock
        self._pid = os.getpid()
        self._closed = False
        self._writer, self._reader = open_file(self._path, synchronous=synchronous, timeout_s=timeout_s)
        self._write_lock = RLock()
        self._read_lock = self._write_lock if self._path == MEMORY else RLock()

    def append(
        self,
        session_id: str,
        events: Iterable[Event],
        *,
        expected_seq: int | None = None,
        meta: Mapping[str, object] | None = None,
        at: datetime | None = None,
    ) -> tuple[Record, ...]:
        """See `Store.append`."""
        kept = check_append(session_id, events, expected_seq)
        frozen = check_meta(meta)
        written_meta = write_json(frozen) if frozen else None
        bodies, media = _encoded(kept)
        with self._writing() as db:
            number, seq, _ = _session(db, session_id)
            if expected_seq is not None and expected_seq != seq:
                raise ConflictError(session_id, expected_seq, seq)
            time = check_time(self._clock() if at is None else at)
            if not kept:
                return ()
            micros = micros_of(time)
            if not number:
                number = _begin(db, session_id, micros)
            first, _ = places(number, seq + 1, seq + 1)
            rows: list[_Row] = [(place, micros, written_meta, None, body) for place, body in enumerate(bodies, first)]
            for at_row, found in media.items():
                rows[at_row] = (first + at_row, micros, written_meta, 1, bodies[at_row])
                hold_media(db, number, seq + 1 + at_row, found)
            db.executemany("INSERT INTO records (place, at, meta, apart, body) VALUES (?, ?, ?, ?, ?)", rows)
            db.execute("UPDATE sessions SET seq = ?, updated = ? WHERE number = ?", (seq + len(kept), micros, number))
            marks = MarkTable(db, number)
            watch = Watch(marks.find)
            watch.follow(kept, seq + 1)
            marks.save(watch)
        return tuple([make_record(session_id, seq, time, event, frozen) for seq, event in enumerate(kept, seq + 1)])

    def read(self, session_id: str, after: int = 0, *, limit: int | None = None) -> Iterator[Record]:
        """See `Store.read`."""
        check_read(session_id, after, limit)
        with self._reading() as db:
            number, _, pruned = _session(db, session_id)
        if number and after < pruned:
            raise PrunedError(session_id, after, pruned)
        return self._records(session_id, number, after, limit)

    def seq(self, session_id: str) -> int:
        """See `Store.seq`."""
        check_session_id(session_id)
        with self._reading() as db:
            return _session(db, session_id)[1]

    def sessions(self) -> tuple[SessionInfo, ...]:
        """See `Store.sessions`."""
        with self._reading() as db:
            rows = db.execute("SELECT id, seq, pruned, created, updated FROM sessions ORDER BY updated DESC, number")
            return tuple(
                [
                    SessionInfo(
                        session_id=name_of(key),
                        seq=seq,
                        pruned_to=pruned,
                        created=time_of(created),
                        updated=time_of(updated),
                    )
                    for key, seq, pruned, created, updated in rows
                ]
            )

    def snapshot(self, session_id: str, transcript: Transcript) -> None:
        """See `Store.snapshot`."""
        check_session_id(session_id)
        check_transcript(transcript)
        kept, media = taken_apart(transcript)
        body = dumps(kept)
        with self._writing() as db:
            number, seq, _ = _session(db, session_id)
            check_snapshot(session_id, transcript.seq, seq=seq, held=_held(db, number))
            release_media(db, number, SNAPSHOT, SNAPSHOT)
            hold_media(db, number, SNAPSHOT, media)
            db.execute(
                "INSERT OR REPLACE INTO snapshots (session, seq, apart, body) VALUES (?, ?, ?, ?)",
                (number, transcript.seq, 1 if media else None, body),
            )

    def load_snapshot(self, session_id: str) -> Transcript | None:
        """See `Store.load_snapshot`."""
        check_session_id(session_id)
        with self._reading() as db:
            number, _, _ = _session(db, session_id)
            kept, apart = self._snapshot(db, session_id, number)
            media = media_held(db, number, SNAPSHOT)
        return self._whole(kept, media, session_id, SNAPSHOT) if apart else kept

    def prune(self, session_id: str, through_seq: int) -> None:
        """See `Store.prune`."""
        check_session_id(session_id)
        check_place("through_seq", through_seq)
        with self._writing() as db:
            number, _, pruned = _session(db, session_id)
            if through_seq > pruned:
                check_prune(session_id, through_seq, held=_held(db, number))
                db.execute("DELETE FROM records WHERE place BETWEEN ? AND ?", places(number, pruned + 1, through_seq))
                release_media(db, number, pruned + 1, through_seq)
                db.execute("UPDATE sessions SET pruned = ? WHERE number = ?", (through_seq, number))

    def fork(self, session_id: str, new_session_id: str, *, at: int | None = None) -> int:
        """See `Store.fork`."""
        check_fork_ids(session_id, new_session_id, at)
        with self._writing() as db:
            number, seq, pruned = _session(db, session_id)
            held = _held(db, number)
            place = check_fork(session_id, at, seq=seq, pruned=pruned, held=held)
            there = _session(db, new_session_id)[1]
            if there:
                raise ConflictError(new_session_id, 0, there)
            if place:
                made = _begin(db, new_session_id, micros_of(check_time(self._clock())))
                db.execute("UPDATE sessions SET seq = ?, pruned = ? WHERE number = ?", (place, pruned, made))
                _copy(db, number, made, place, with_snapshot=held is not None and held <= place)
                start = self._snapshot(db, new_session_id, made)[0] if pruned else None
                MarkTable(db, made).save(watch_from(start, self._events(db, new_session_id, made)))
            return place

    def delete(self, session_id: str) -> None:
        """See `Store.delete`."""
        check_session_id(session_id)
        with self._writing() as db:
            number, seq, _ = _session(db, session_id)
            release_media(db, number, SNAPSHOT, seq)
            delete_marks(db, number)
            db.execute("DELETE FROM records WHERE place BETWEEN ? AND ?", places(number, 1, seq))
            db.execute("DELETE FROM snapshots WHERE session = ?", (number,))
            db.execute("DELETE FROM sessions WHERE number = ?", (number,))

    def unfinished(self, session_id: str | None = None) -> tuple[Unfinished, ...]:
        """See `Store.unfinished`."""
        if session_id is not None:
            check_session_id(session_id)
        with self._reading() as db:
            number = None if session_id is None else _session(db, session_id)[0]
            return tuple(unfinished(db, number))

    def close(self) -> None:
        """See `Store.close`."""
        if self._pid != os.getpid():
            # Closing a connection that was inherited would take the locks and the log of the parent away.
            return
        with self._write_lock, self._read_lock, translated(self._path):
            self._closed = True
            self._reader.close()
            self._writer.close()

    def __enter__(self) -> Self:
        self._check_usable()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_usable(self) -> None:
        if self._pid != os.getpid():
            raise StoreError(f"{self._path}: opened in another process; a fork needs a store of its own")
        if self._closed:
            raise StoreError(f"{self._path}: the store is closed")

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        self._check_usable()
        with self._write_lock, translated(self._path):
            yield from self._transaction(self._writer, "BEGIN IMMEDIATE")

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        self._check_usable()
        with self._read_lock, translated(self._path):
            yield from self._transaction(self._reader, "BEGIN")

    def _transaction(self, db: sqlite3.Connection, begin: str) -> Generator[sqlite3.Connection]:
        self._check_usable()
        db.execute(begin)
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    def _records(self, session_id: str, number: int, after: int, limit: int | None) -> Iterator[Record]:
        seen_at, time = -1, utc_now()
        seen_meta, meta = None, NO_FIELDS
        left = LAST_SEQ if limit is None else limit
        while left:
            wanted = min(left, _PAGE)
            rows = self._page(session_id, number, after, wanted)
            for place, at, written_meta, apart, body in rows:
                if at != seen_at:
                    seen_at, time = at, time_of(at)
                if written_meta != seen_meta:
                    seen_meta, meta = written_meta, _meta(written_meta)
                seq = place & LAST_SEQ
                event = self._read(body, Event, session_id, seq)
                if apart:
                    # Between two pages the session may be pruned or deleted, and its media with it.
                    media = self._media(session_id, number, seq)
                    if media is None:
                        return
                    event = self._whole(event, media, session_id, seq)
                yield make_record(session_id, seq, time, event, meta)
                after = seq
            if len(rows) < wanted:
                return
            left -= wanted

    def _page(self, session_id: str, number: int, after: int, limit: int) -> list[_Row]:
        with self._reading() as db:
            if not _is_there(db, session_id, number, after):
                return []
            return db.execute(
                "SELECT place, at, meta, apart, body FROM records WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?",
                (*places(number, after + 1, LAST_SEQ), limit),
            ).fetchall()

    def _media(self, session_id: str, number: int, seq: int) -> Media | None:
        with self._reading() as db:
            return media_held(db, number, seq) if _is_there(db, session_id, number, seq - 1) else None

    def _snapshot(self, db: sqlite3.Connection, session_id: str, number: int) -> tuple[Transcript | None, bool]:
        """Return the snapshot, and whether it has digests in the place of media."""
        row = db.execute("SELECT body, apart FROM snapshots WHERE session = ?", (number,)).fetchone()
        if row is None:
            return None, False
        return self._read(row[0], Transcript, session_id, SNAPSHOT), row[1] is not None

    def _events(self, db: sqlite3.Connection, session_id: str, number: int) -> Iterator[tuple[int, StoredEvent]]:
        """Return all events of a session with digests in the place of media."""
        for place, body in db.execute(
            "SELECT place, body FROM records WHERE place BETWEEN ? AND ? ORDER BY place", places(number, 1, LAST_SEQ)
        ):
            seq = place & LAST_SEQ
            yield seq, self._read(body, Event, session_id, seq)

    def _read(self, body: bytes, cls: Any, session_id: str, seq: int) -> Any:
        # Any: what `loads` makes of a class that it is given; its own type form cannot be passed on by all type
        # checkers.
        try:
            return loads(body, cls)
        except (JsonError, StructureError) as error:
            raise StoreError(f"{self._path}: session {session_id!r}, {_at(seq)}: {error}") from error

    def _whole(self, value: Any, media: Media, session_id: str, seq: int) -> Any:
        # Any: the same class comes back.
        try:
            return put_together(value, media.__getitem__)
        except KeyError:
            raise StoreError(f"{self._path}: session {session_id!r}, {_at(seq)}: a medium is missing") from None


_Row: TypeAlias = tuple[int, int, bytes | None, int | None, bytes]


def _session(db: sqlite3.Connection, session_id: str) -> tuple[int, int, int]:
    """Return number, last place and pruned place; three zeros when there is no such session."""
    row = db.execute("SELECT number, seq, pruned FROM sessions WHERE id = ?", (key_of(session_id),)).fetchone()
    return (0, 0, 0) if row is None else row


def _is_there(db: sqlite3.Connection, session_id: str, number: int, after: int) -> bool:
    """Tell whether the session still exists, and raise when records after *after* are pruned."""
    row = db.execute("SELECT pruned FROM sessions WHERE number = ?", (number,)).fetchone()
    if row is not None and after < row[0]:
        raise PrunedError(session_id, after, row[0])
    return row is not None


def _held(db: sqlite3.Connection, number: int) -> int | None:
    """Return the place of the snapshot."""
    row = db.execute("SELECT seq FROM snapshots WHERE session = ?", (number,)).fetchone()
    return None if row is None else row[0]


def _begin(db: sqlite3.Connection, session_id: str, micros: int) -> int:
    number = db.execute(
        "INSERT INTO sessions (id, seq, pruned, created, updated) VALUES (?, 0, 0, ?, ?)",
        (key_of(session_id), micros, micros),
    ).lastrowid
    assert number is not None
    return number


def _copy(db: sqlite3.Connection, number: int, made: int, place: int, *, with_snapshot: bool) -> None:
    """Copy records up to *place*, the snapshot, and who holds media."""
    first, last = places(number, 1, place)
    db.execute(
        "INSERT INTO records (place, at, meta, apart, body) "
        "SELECT place - ? + ?, at, meta, apart, body FROM records WHERE place BETWEEN ? AND ?",
        (first, places(made, 1, 1)[0], first, last),
    )
    if with_snapshot:
        db.execute(
            "INSERT INTO snapshots (session, seq, apart, body) "
            "SELECT ?, seq, apart, body FROM snapshots WHERE session = ?",
            (made, number),
        )
    db.execute(
        "INSERT INTO holders (session, seq, digest) "
        "SELECT ?, seq, digest FROM holders WHERE session = ? AND seq BETWEEN ? AND ?",
        (made, number, SNAPSHOT if with_snapshot else SNAPSHOT + 1, place),
    )


def _meta(written: bytes | None) -> JsonObject:
    return NO_FIELDS if written is None else JsonObject(read_json(written))


def _at(seq: int) -> str:
    return f"seq {seq}" if seq else "snapshot"


def _encoded(events: Iterable[StoredEvent]) -> tuple[list[bytes], dict[int, Media]]:
    """Return the bodies, and the media of those that were taken apart by the position of the body."""
    bodies: list[bytes] = []
    media: dict[int, Media] = {}
    for event in events:
        if event.__class__ in HOLDERS:
            kept, found = taken_apart(event)
            if found:
                media[len(bodies)] = found
            bodies.append(dumps(kept))
        else:
            bodies.append(dumps(event))
    return bodies, media
