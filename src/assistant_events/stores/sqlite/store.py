"""Logs in one SQLite file: WAL, one row for each record, every method one transaction."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self, TypeVar, final

from assistant_events.converters import dumps
from assistant_events.errors import ConflictError, PrunedError, StoreError
from assistant_events.events import Event, Record
from assistant_events.messages import Transcript
from assistant_events.stores.attention import watch_from
from assistant_events.stores.contract import (
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
    make_records,
    utc_now,
)
from assistant_events.stores.media import Media, extract_media, restore_media
from assistant_events.stores.sqlite.columns import (
    LAST_SEQ,
    SNAPSHOT,
    hold_media,
    key_of,
    media_held,
    micros_of,
    name_of,
    number_of,
    place_of,
    release_media,
    time_of,
)
from assistant_events.stores.sqlite.connection import MEMORY, Synchronous, name_of_file, open_file, translated
from assistant_events.stores.sqlite.marks import MarkTable, delete_marks, follow, unfinished
from assistant_events.stores.sqlite.record_rows import (
    RecordRow,
    at_place,
    copy,
    cut_off,
    encode,
    events_after,
    pieces_after,
    read_apart,
    read_body,
    read_meta,
    read_time,
    records_after,
    write,
)
from assistant_events.stores.turns import Turn
from assistant_events.values import write_json
from assistant_events.values.validators import NO_FIELDS

_T = TypeVar("_T")

_PAGE_BYTES: Final = 1 << 20
"""How much is fetched at once for a reader, at least one row."""


@final
class SqliteStore:
    """
    A store in one SQLite file. Several processes and threads may use the file at once.

    What is deleted or pruned is overwritten; what the file's log (`-wal`) still has of it goes with the last `close`.

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
        clock: Callable[[], datetime] = utc_now,
        synchronous: Synchronous = "full",
        timeout_s: float = 10.0,
    ) -> None:
        self._path = name_of_file(path)
        self._clock = clock
        self._pid = os.getpid()
        self._closed = False
        self._writer, self._reader = open_file(self._path, synchronous=synchronous, timeout_s=timeout_s)
        self._write_turn = Turn()
        self._read_turn = self._write_turn if self._path == MEMORY else Turn()

    @property
    def path(self) -> str:
        """The file, as it was named."""
        return self._path

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
        encoded = encode(kept)

        def work(db: sqlite3.Connection) -> tuple[Record, ...]:
            number, seq, _ = _session(db, session_id)
            if expected_seq is not None and expected_seq != seq:
                raise ConflictError(session_id, expected_seq, seq)
            time = check_time(self._clock() if at is None else at)
            if not kept:
                return ()
            micros = micros_of(time)
            if not number:
                number = _begin(db, session_id, micros)
            write(db, number, seq, encoded, at=micros, meta=written_meta)
            follow(db, number, kept, seq + 1)
            return tuple(make_records(session_id, seq + 1, time, kept, frozen))

        return self._writing(work)

    def read(self, session_id: str, after: int = 0, *, limit: int | None = None) -> Iterator[Record]:
        """See `Store.read`."""
        check_read(session_id, after, limit)
        number, _, pruned = self._reading(lambda db: _session(db, session_id))
        if number and after < pruned:
            raise PrunedError(session_id, after, pruned)
        return self._records(session_id, number, after, limit)

    def seq(self, session_id: str) -> int:
        """See `Store.seq`."""
        check_session_id(session_id)
        return self._reading(lambda db: _session(db, session_id)[1])

    def sessions(self) -> tuple[SessionInfo, ...]:
        """See `Store.sessions`."""

        def work(db: sqlite3.Connection) -> tuple[SessionInfo, ...]:
            rows = db.execute(
                "SELECT id, last, pruned, created, "
                "coalesce((SELECT at FROM records WHERE place = last), pruned_at) AS updated "
                "FROM logs ORDER BY updated DESC, number"
            ).fetchall()
            return tuple(
                [
                    SessionInfo(
                        session_id=name_of(key),
                        seq=_seq(last, pruned),
                        pruned_to=number_of(pruned),
                        created=time_of(created),
                        updated=time_of(updated),
                    )
                    for key, last, pruned, created, updated in rows
                ]
            )

        return self._reading(work)

    def snapshot(self, session_id: str, transcript: Transcript) -> None:
        """See `Store.snapshot`."""
        check_session_id(session_id)
        check_transcript(transcript)
        kept, media = extract_media(transcript)
        body = dumps(kept)

        def work(db: sqlite3.Connection) -> None:
            number, seq, _ = _session(db, session_id)
            check_snapshot(session_id, transcript.seq, seq=seq, held=_held(db, number))
            release_media(db, number, SNAPSHOT, SNAPSHOT)
            hold_media(db, number, SNAPSHOT, media)
            db.execute(
                "INSERT OR REPLACE INTO snapshots (session, seq, apart, body) VALUES (?, ?, ?, ?)",
                (number, transcript.seq, 1 if media else None, body),
            )

        self._writing(work)

    def load_snapshot(self, session_id: str) -> Transcript | None:
        """See `Store.load_snapshot`."""
        check_session_id(session_id)

        def work(db: sqlite3.Connection) -> tuple[Transcript | None, bool, Media]:
            number, _, _ = _session(db, session_id)
            return *self._snapshot(db, session_id, number), media_held(db, number, SNAPSHOT)

        kept, apart, media = self._reading(work)
        return _whole(kept, media, session_id, SNAPSHOT) if apart else kept

    def prune(self, session_id: str, through_seq: int) -> None:
        """See `Store.prune`."""
        check_session_id(session_id)
        check_place("through_seq", through_seq)

        def work(db: sqlite3.Connection) -> None:
            number, _, pruned = _session(db, session_id)
            if through_seq > pruned:
                check_prune(session_id, through_seq, held=_held(db, number))
                cut_off(db, number, through_seq)
                release_media(db, number, pruned + 1, through_seq)

        self._writing(work)

    def fork(self, session_id: str, new_session_id: str, *, at: int | None = None) -> int:
        """See `Store.fork`."""
        check_fork_ids(session_id, new_session_id, at)

        def work(db: sqlite3.Connection) -> int:
            number, seq, pruned = _session(db, session_id)
            held = _held(db, number)
            place = check_fork(session_id, at, seq=seq, pruned=pruned, held=held)
            there = _session(db, new_session_id)[1]
            if there:
                raise ConflictError(new_session_id, 0, there)
            if place:
                made = _begin(db, new_session_id, micros_of(check_time(self._clock())))
                _copy(db, number, made, place, with_snapshot=held is not None and held <= place)
                start = self._snapshot(db, new_session_id, made)[0] if pruned else None
                MarkTable(db, made).save(watch_from(start, self._stored(db, new_session_id, made)))
            return place

        return self._writing(work)

    def delete(self, session_id: str) -> None:
        """See `Store.delete`."""
        check_session_id(session_id)

        def work(db: sqlite3.Connection) -> None:
            number, seq, _ = _session(db, session_id)
            release_media(db, number, SNAPSHOT, seq)
            delete_marks(db, number)
            db.execute("DELETE FROM records WHERE place BETWEEN ? AND ?", (place_of(number, 1), place_of(number, seq)))
            db.execute("DELETE FROM snapshots WHERE session = ?", (number,))
            db.execute("DELETE FROM sessions WHERE number = ?", (number,))

        self._writing(work)

    def unfinished(self, session_id: str | None = None) -> tuple[Unfinished, ...]:
        """See `Store.unfinished`."""
        if session_id is not None:
            check_session_id(session_id)

        def work(db: sqlite3.Connection) -> tuple[Unfinished, ...]:
            number = None if session_id is None else _session(db, session_id)[0]
            return tuple(unfinished(db, number))

        return self._reading(work)

    def close(self) -> None:
        """See `Store.close`."""
        if self._pid != os.getpid():
            # Closing a connection that was inherited would take the locks and the log of the parent away.
            return

        def work() -> None:
            self._closed = True
            self._reader.close()
            self._writer.close()

        with translated(self._path):
            if self._read_turn is self._write_turn:  # in memory
                self._write_turn.run(work)
            else:
                self._write_turn.run(lambda: self._read_turn.run(work))

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

    def _writing(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        return self._transaction(self._write_turn, self._writer, "BEGIN IMMEDIATE", work)

    def _reading(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        return self._transaction(self._read_turn, self._reader, "BEGIN", work)

    def _transaction(
        self, turn: Turn, db: sqlite3.Connection, begin: str, work: Callable[[sqlite3.Connection], _T]
    ) -> _T:
        def whole() -> _T:
            self._check_usable()
            try:
                # SQLite waits for a lock in here, and Ctrl-C during that is raised when the transaction has begun.
                db.execute(begin)
                result = work(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            return result

        self._check_usable()
        with translated(self._path):
            return turn.run(whole)

    def _records(self, session_id: str, number: int, after: int, limit: int | None) -> Iterator[Record]:
        seen_at, time = -1, utc_now()
        seen_meta, meta = None, NO_FIELDS
        left = LAST_SEQ if limit is None else min(limit, LAST_SEQ)
        while left and after < LAST_SEQ:
            page = self._page(session_id, number, after, left)
            if not page:
                return
            for piece in page:
                if piece.at != seen_at:
                    seen_at, time = piece.at, read_time(piece, session_id)
                if piece.meta != seen_meta:
                    seen_meta, meta = piece.meta, read_meta(piece, session_id)
                first, count, events = events_after(piece, after, left, session_id)
                if first != after + 1:
                    raise StoreError(f"session {session_id!r}, {at_place(after + 1)} is damaged: the record is missing")
                records = make_records(session_id, first, time, events, meta)
                apart = read_apart(piece, session_id)
                if not apart:
                    yield from records
                elif not (yield from self._with_media(number, records, apart)):
                    return
                left -= count
                after = piece.last

    def _with_media(
        self, number: int, records: Iterable[Record], apart: Collection[int]
    ) -> Generator[Record, None, bool]:
        """Give the records with their media, and return whether the session is still there."""
        for record in records:
            if record.seq not in apart:
                yield record
                continue
            # Meanwhile the session may be pruned or deleted, and its media with it.
            media = self._media(record.session_id, number, record.seq)
            if media is None:
                return False
            event = _whole(record.event, media, record.session_id, record.seq)
            yield make_record(record.session_id, record.seq, record.at, event, record.meta)
        return True

    def _page(self, session_id: str, number: int, after: int, limit: int) -> list[RecordRow]:

        def work(db: sqlite3.Connection) -> list[RecordRow]:
            if not _is_there(db, session_id, number, after):
                return []
            page: list[RecordRow] = []
            size = 0
            for piece in pieces_after(db, number, after, limit=limit):
                page.append(piece)
                size += len(piece.body)
                if size > _PAGE_BYTES:
                    break
            return page

        return self._reading(work)

    def _media(self, session_id: str, number: int, seq: int) -> Media | None:

        def work(db: sqlite3.Connection) -> Media | None:
            return media_held(db, number, seq) if _is_there(db, session_id, number, seq - 1) else None

        return self._reading(work)

    def _snapshot(self, db: sqlite3.Connection, session_id: str, number: int) -> tuple[Transcript | None, bool]:
        """Return the snapshot, and whether it has digests in the place of media."""
        row = db.execute("SELECT body, apart FROM snapshots WHERE session = ?", (number,)).fetchone()
        if row is None:
            return None, False
        return read_body(row[0], Transcript, session_id, SNAPSHOT), row[1] is not None

    def _stored(self, db: sqlite3.Connection, session_id: str, number: int) -> Iterator[tuple[int, StoredEvent]]:
        """Return all events of a session with digests in the place of media."""
        for piece in pieces_after(db, number, 0):
            first, bodies = records_after(piece, 0)
            for seq, body in enumerate(bodies, first):
                yield seq, read_body(body, Event, session_id, seq)


def _whole(value: Any, media: Media, session_id: str, seq: int) -> Any:
    # Any: the same class comes back.
    try:
        return restore_media(value, media.__getitem__)
    except KeyError:
        raise StoreError(f"session {session_id!r}, {at_place(seq)} is damaged: a medium is missing") from None


def _session(db: sqlite3.Connection, session_id: str) -> tuple[int, int, int]:
    """Return number, last place and pruned place; three zeros when there is no such session."""
    row = db.execute("SELECT number, last, pruned FROM logs WHERE id = ?", (key_of(session_id),)).fetchone()
    return (0, 0, 0) if row is None else (row[0], _seq(row[1], row[2]), number_of(row[2]))


def _seq(last: int | None, pruned: object) -> int:
    """Return the last place of a session whose last row is *last*."""
    return number_of(pruned) if last is None else last & LAST_SEQ


def _is_there(db: sqlite3.Connection, session_id: str, number: int, after: int) -> bool:
    """Tell whether the session still exists, and raise when records after *after* are pruned."""
    row = db.execute("SELECT pruned FROM sessions WHERE number = ?", (number,)).fetchone()
    if row is not None and after < number_of(row[0]):
        raise PrunedError(session_id, after, row[0])
    return row is not None


def _held(db: sqlite3.Connection, number: int) -> int | None:
    """Return the place of the snapshot."""
    row = db.execute("SELECT seq FROM snapshots WHERE session = ?", (number,)).fetchone()
    return None if row is None else number_of(row[0])


def _begin(db: sqlite3.Connection, session_id: str, micros: int) -> int:
    number = db.execute(
        "INSERT INTO sessions (id, created, pruned, pruned_at) VALUES (?, ?, 0, 0)", (key_of(session_id), micros)
    ).lastrowid
    assert number is not None
    return number


def _copy(db: sqlite3.Connection, session: int, made: int, through: int, *, with_snapshot: bool) -> None:
    """Copy the records up to *through*, the snapshot, and who holds media."""
    db.execute(
        "UPDATE sessions SET (pruned, pruned_at) = (SELECT pruned, pruned_at FROM sessions WHERE number = ?) "
        "WHERE number = ?",
        (session, made),
    )
    copy(db, session, made, through)
    if with_snapshot:
        db.execute(
            "INSERT INTO snapshots (session, seq, apart, body) "
            "SELECT ?, seq, apart, body FROM snapshots WHERE session = ?",
            (made, session),
        )
    db.execute(
        "INSERT INTO holders (session, seq, digest) "
        "SELECT ?, seq, digest FROM holders WHERE session = ? AND seq BETWEEN ? AND ?",
        (made, session, SNAPSHOT if with_snapshot else SNAPSHOT + 1, through),
    )
