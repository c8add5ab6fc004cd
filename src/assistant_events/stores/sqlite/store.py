"""A store in one SQLite file: WAL, one row for each batch or chunk of a long one, one transaction for each method."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, Final, Self, TypeVar, final

from assistant_events.converters import dumps
from assistant_events.errors import ConflictError, PrunedError, StoreError
from assistant_events.events import DeltaEvent, Event, Record
from assistant_events.messages import Transcript, Unfinished
from assistant_events.stores import checks, contract
from assistant_events.stores.call_lock import CallLock
from assistant_events.stores.checkpoints import closed_fragments, fragments_before, message_ids, open_deltas
from assistant_events.stores.contract import DEAD_AFTER_S, Claim, SessionInfo, StoredEvent
from assistant_events.stores.media import Media, extract_media, restore_media
from assistant_events.stores.sqlite import checkpoint_rows, claim_rows, columns, record_rows
from assistant_events.stores.sqlite.connection import MEMORY, Synchronous, name_of_file, open_file, transact, translated
from assistant_events.stores.unfinished import dump_unfinished, load_unfinished, recover_unfinished, resolve_unfinished
from assistant_events.values import write_json
from assistant_events.values.arguments import check_integer

_T = TypeVar("_T")

_log = logging.getLogger("assistant_events.stores")

_PAGE_BYTES: Final = 1 << 20
"""Size of one fetch of a reader; at least one row."""

_MAX_KEYS: Final = 500
"""Number of sessions that are named in one query."""


@final
class SqliteStore:
    """
    A store in one SQLite file. Several processes and threads may use the file at once.

    Deleted and pruned data is overwritten; copies in the write-ahead log (`-wal`) disappear with the last `close`.

    Args:
        path: The file, created when it does not exist; `":memory:"` for a store in memory.

        clock: Returns the time of a batch, in UTC.

        synchronous: With `"full"` returned batches survive a power failure. With `"normal"` the last batches may be
            lost then, never parts of one, and an append is faster. Both survive the end of the process.

        timeout_s: Time to wait for another writer before `StoreError` is raised.

    Raises:
        StoreError: The file is not a SQLite database, belongs to another application, has another schema version, or
            cannot be opened. It is not changed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Callable[[], datetime] = contract.utc_now,
        synchronous: Synchronous = "full",
        timeout_s: float = 10.0,
    ) -> None:
        self._path = name_of_file(path)
        self._clock = clock
        self._pid = os.getpid()
        self._closed = False
        self._unreadable = set[str]()
        opened = open_file(self._path, synchronous=synchronous, timeout_s=timeout_s)
        self._writer, self._reader, self._check_place = opened
        self._write_lock = CallLock()
        self._read_lock = self._write_lock if self._path == MEMORY else CallLock()

    @property
    def path(self) -> str:
        """The file, as given."""
        return self._path

    @property
    def persistent(self) -> bool:
        """See `Store.persistent`: whether there is a file."""
        return self._path != MEMORY

    def append(
        self,
        session_id: str,
        events: Iterable[Event],
        *,
        expected_seq: int | None = None,
        meta: Mapping[str, object] | None = None,
        at: datetime | None = None,
        owner: str | None = None,
        token: int | None = None,
        unfinished: Iterable[Unfinished] | None = None,
    ) -> tuple[Record, ...]:
        """See `Store.append`."""
        kept, left = checks.check_append(
            session_id, events, expected_seq, owner=owner, token=token, unfinished=unfinished
        )
        frozen = checks.check_meta(meta)
        written_meta = write_json(frozen) if frozen else None
        encoded = record_rows.encode(kept)

        def work(db: sqlite3.Connection) -> tuple[Record, ...]:
            number, seq, _ = _session(db, session_id)
            if token is not None:
                checks.check_token(session_id, token, current=claim_rows.current_token(db, session_id))
            if owner is not None and number:
                checks.check_owner(session_id, owner, stored=_owner(db, number))
            checks.check_expected_seq(session_id, expected_seq, seq)
            time = checks.check_time(self._clock() if at is None else at)
            if kept:
                if number:
                    self._remove_checkpoints(db, session_id, number, kept)
                micros = columns.micros_of(time)
                number = number or _begin(db, session_id, micros, owner)
                record_rows.write(db, number, seq, encoded, at=micros, meta=written_meta)
            if number and (kept or left is not None):
                _save_unfinished(db, number, left)
            return tuple(contract.make_records(session_id, seq + 1, time, kept, frozen))

        return self._writing(work)

    def read(self, session_id: str, after: int = 0, *, limit: int | None = None) -> Iterator[Record]:
        """See `Store.read`."""
        checks.check_read(session_id, after, limit)
        number, _, pruned = self._reading(lambda db: _session(db, session_id))
        if after < pruned:
            raise PrunedError(session_id, after, pruned)
        return self._records(session_id, number, after, limit)

    def seq(self, session_id: str) -> int:
        """See `Store.seq`."""
        checks.check_session_id(session_id)
        return self._reading(lambda db: _session(db, session_id)[1])

    def seqs(self, session_ids: Iterable[str]) -> dict[str, int]:
        """See `Store.seqs`."""
        found = dict.fromkeys(session_ids, 0)
        for session_id in found:
            checks.check_session_id(session_id)
        keys = iter([columns.key_of(session_id) for session_id in found])
        while some := list(islice(keys, _MAX_KEYS)):
            marks = ", ".join("?" * len(some))
            query = f"SELECT id, last, pruned FROM logs WHERE id IN ({marks})"  # noqa: S608 - of constants
            for key, last, pruned in self._reading(lambda db: db.execute(query, some).fetchall()):  # noqa: B023
                found[columns.name_of(key)] = _seq(last, pruned)
        return found

    def sessions(
        self, *, owner: str | None = None, after: str | None = None, limit: int | None = None
    ) -> tuple[SessionInfo, ...]:
        """See `Store.sessions`."""
        cursor = checks.check_sessions(owner, after, limit)
        conditions, values = ["1"], list[object]()
        if owner is not None:
            conditions.append("owner = ?")
            values.append(columns.key_of(owner))
        if cursor is not None:
            conditions.append("(updated < ? OR (updated = ? AND CAST(id AS BLOB) > CAST(? AS BLOB)))")
            micros = columns.micros_of(cursor[0])
            values += [micros, micros, columns.key_of(cursor[1])]

        def work(db: sqlite3.Connection) -> tuple[SessionInfo, ...]:
            rows = db.execute(
                "SELECT id, last, pruned, created, owner, "  # noqa: S608 - of constants
                "max(created, coalesce((SELECT at FROM records WHERE key = last), pruned_at)) AS updated "
                f"FROM logs WHERE {' AND '.join(conditions)} "
                "ORDER BY updated DESC, CAST(id AS BLOB) LIMIT ?",  # as BLOB: text would be before bytes
                (*values, -1 if limit is None else min(limit, columns.MAX_SEQ)),
            ).fetchall()
            return tuple(
                [
                    SessionInfo(
                        session_id=columns.name_of(key),
                        seq=_seq(last, pruned),
                        pruned_to=columns.number_of(pruned),
                        created=columns.time_of(created),
                        updated=columns.time_of(updated),
                        owner=None if its_owner is None else columns.name_of(its_owner),
                    )
                    for key, last, pruned, created, its_owner, updated in rows
                ]
            )

        return self._reading(work)

    def snapshot(self, session_id: str, transcript: Transcript) -> None:
        """See `Store.snapshot`."""
        checks.check_session_id(session_id)
        checks.check_transcript(transcript)
        kept, media = extract_media(transcript)
        body = dumps(kept)

        def work(db: sqlite3.Connection) -> None:
            number, seq, _ = _session(db, session_id)
            checks.check_snapshot(session_id, transcript.seq, seq=seq, held=_held(db, number))
            columns.release_media(db, number, columns.SNAPSHOT, columns.SNAPSHOT)
            columns.add_media(db, number, columns.SNAPSHOT, media)
            db.execute(
                "INSERT OR REPLACE INTO snapshots (session, seq, with_media, body) VALUES (?, ?, ?, ?)",
                (number, transcript.seq, 1 if media else None, body),
            )

        self._writing(work)

    def load_snapshot(self, session_id: str) -> Transcript | None:
        """See `Store.load_snapshot`."""
        checks.check_session_id(session_id)

        def work(db: sqlite3.Connection) -> tuple[Transcript | None, bool, Media]:
            number, _, _ = _session(db, session_id)
            return *self._snapshot(db, session_id, number), columns.load_media(db, number, columns.SNAPSHOT)

        kept, with_media, media = self._reading(work)
        return _whole(kept, media, session_id, columns.SNAPSHOT) if with_media else kept

    def prune(self, session_id: str, through_seq: int) -> None:
        """See `Store.prune`."""
        checks.check_session_id(session_id)
        check_integer("through_seq", through_seq)

        def work(db: sqlite3.Connection) -> None:
            number, _, pruned = _session(db, session_id)
            if through_seq > pruned:
                checks.check_prune(session_id, through_seq, held=_held(db, number))
                record_rows.cut_off(db, number, through_seq)
                columns.release_media(db, number, pruned + 1, through_seq)

        self._writing(work)

    def fork(self, session_id: str, new_session_id: str, *, at: int | None = None) -> int:
        """See `Store.fork`."""
        checks.check_fork_ids(session_id, new_session_id, at)

        def work(db: sqlite3.Connection) -> int:
            number, seq, pruned = _session(db, session_id)
            held = _held(db, number)
            chosen = checks.check_fork(session_id, at, seq=seq, pruned=pruned, held=held)
            existing = _session(db, new_session_id)[1]
            if existing:
                raise ConflictError(new_session_id, 0, existing)
            if chosen:
                made = _begin(db, new_session_id, self._now(), _owner(db, number))
                _copy(db, number, made, chosen, with_snapshot=held is not None and held <= chosen)
                _save_unfinished(db, made, None)
                if kept := checkpoint_rows.fragments(db, number):
                    later = record_rows.read_all(db, number, chosen, session_id)
                    checkpoint_rows.copy(db, number, made, fragments_before(kept, later))
            return chosen

        return self._writing(work)

    def delete(self, session_id: str) -> None:
        """See `Store.delete`."""
        checks.check_session_id(session_id)

        def work(db: sqlite3.Connection) -> None:
            number, seq, _ = _session(db, session_id)
            columns.release_media(db, number, columns.SNAPSHOT, seq)
            _save_unfinished(db, number, ())
            checkpoint_rows.delete_all(db, number)
            record_rows.delete_rows(db, number, seq)
            db.execute("DELETE FROM snapshots WHERE session = ?", (number,))
            db.execute("DELETE FROM sessions WHERE number = ?", (number,))
            claim_rows.delete(db, session_id)

        self._writing(work)

    def unfinished(self) -> dict[str, tuple[Unfinished, ...]]:
        """See `Store.unfinished`."""
        rows = self._reading(
            lambda db: db.execute(
                "SELECT id, body FROM unfinished JOIN sessions ON number = session ORDER BY number"
            ).fetchall()
        )
        with translated(self._path):
            known = [(name := columns.name_of(key), self._known_unfinished(name, body)) for key, body in rows]
        return resolve_unfinished(self, known, self._unreadable)

    def claim(self, session_id: str, worker: str, *, dead_after_s: float = DEAD_AFTER_S) -> Claim:
        """See `Store.claim`."""
        checks.check_session_id(session_id)
        checks.check_worker(worker, dead_after_s)

        def work(db: sqlite3.Connection) -> Claim:
            now = self._now()
            claim_rows.check_free(db, session_id, worker, now=now, dead_after_s=dead_after_s)
            claim_rows.beat(db, worker, now)
            return _claimed(db, session_id, worker)

        return self._writing(work)

    def release(self, claim: Claim) -> None:
        """See `Store.release`."""
        checks.check_claim(claim)
        self._writing(lambda db: claim_rows.release(db, claim.session_id, claim.token))

    def beat(self, worker: str) -> None:
        """See `Store.beat`."""
        checks.check_name("worker", worker)
        self._writing(lambda db: claim_rows.beat(db, worker, self._now()))

    def take_over(self, worker: str, *, dead_after_s: float = DEAD_AFTER_S, limit: int = 100) -> tuple[Claim, ...]:
        """See `Store.take_over`."""
        checks.check_worker(worker, dead_after_s)
        check_integer("limit", limit)

        def beaten(db: sqlite3.Connection, *, known: bool) -> Iterator[str]:
            now = self._now()
            claim_rows.beat(db, worker, now)
            claim_rows.forget_dead(db, now=now, dead_after_s=dead_after_s)
            return claim_rows.abandoned(db, now=now, dead_after_s=dead_after_s, known=known)

        def work(db: sqlite3.Connection) -> tuple[Claim, ...]:
            found = beaten(db, known=True)
            return tuple(
                [_claimed(db, session_id, worker) for session_id in islice(found, min(limit, columns.MAX_SEQ))]
            )

        with translated(self._path):  # after the transaction: the sign of life stays when an id is damaged
            unknown = list(self._writing(partial(beaten, known=False)))
        for session_id in unknown:
            recover_unfinished(self, session_id, self._unreadable)
        return self._writing(work)

    def checkpoint(
        self, session_id: str, deltas: Iterable[DeltaEvent], *, after: int | None = None, token: int | None = None
    ) -> None:
        """See `Store.checkpoint`."""
        kept = checks.check_checkpoint(session_id, deltas, after, token)

        def work(db: sqlite3.Connection) -> None:
            number, seq, pruned = _session(db, session_id)
            checks.check_token(session_id, token, current=claim_rows.current_token(db, session_id))
            place = checks.check_checkpoint_place(session_id, after, seq=seq, pruned=pruned)
            later = record_rows.read_all(db, number, place, session_id)
            checkpoint_rows.insert(
                db, number, open_deltas(kept, later, lambda: self._message_ids(db, session_id, number))
            )

        self._writing(work)

    def load_checkpoints(self, session_id: str) -> tuple[DeltaEvent, ...]:
        """See `Store.load_checkpoints`."""
        checks.check_session_id(session_id)
        return self._reading(lambda db: checkpoint_rows.load(db, _session(db, session_id)[0]))

    def close(self) -> None:
        """See `Store.close`."""
        if self._pid != os.getpid():
            # Closing an inherited connection would release the locks of the parent process and delete its log.
            return

        def work() -> None:
            self._closed = True
            self._reader.close()
            self._writer.close()

        with translated(self._path):
            if self._read_lock is self._write_lock:  # in memory
                self._write_lock.run(work)
            else:
                self._write_lock.run(lambda: self._read_lock.run(work))

    def __enter__(self) -> Self:
        self._check_usable()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _check_usable(self) -> None:
        if self._pid != os.getpid():
            raise StoreError(f"{self._path}: opened in another process; a forked process needs its own store")
        if self._closed:
            raise StoreError(f"{self._path}: the store is closed")

    def _now(self) -> int:
        """Return the time of the clock in microseconds since 1970."""
        return columns.micros_of(checks.check_time(self._clock()))

    def _writing(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        def checked(db: sqlite3.Connection) -> _T:
            self._check_place()
            return work(db)

        return self._transaction(self._write_lock, self._writer, "BEGIN IMMEDIATE", checked)

    def _reading(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        return self._transaction(self._read_lock, self._reader, "BEGIN", work)

    def _transaction(
        self, lock: CallLock, db: sqlite3.Connection, begin: str, work: Callable[[sqlite3.Connection], _T]
    ) -> _T:
        def whole() -> _T:
            self._check_usable()
            return transact(db, begin, work)

        self._check_usable()
        with translated(self._path):
            return lock.run(whole)

    def _records(self, session_id: str, number: int, after: int, limit: int | None) -> Iterator[Record]:
        left = columns.MAX_SEQ if limit is None else min(limit, columns.MAX_SEQ)
        while left and after < columns.MAX_SEQ:
            page = self._page(session_id, number, after, left)
            if not page:
                return
            for row in page:
                time, meta = record_rows.read_header(row, session_id)
                first, count, events = record_rows.events_after(row, after, left, session_id)
                if first != after + 1:
                    raise record_rows.damaged(session_id, after + 1, "the record is missing")
                records = contract.make_records(session_id, first, time, events, meta)
                with_media = record_rows.read_with_media(row, session_id)
                if not with_media:
                    yield from records
                elif not (yield from self._with_media(number, records, with_media)):
                    return
                left -= count
                after = row.last

    def _with_media(
        self, number: int, records: Iterable[Record], with_media: Collection[int]
    ) -> Generator[Record, None, bool]:
        """Yield the records with their media; return whether the session still exists."""
        for record in records:
            if record.seq not in with_media:
                yield record
                continue
            # The session may have been pruned or deleted meanwhile, with its media.
            media = self._media(record.session_id, number, record.seq)
            if media is None:
                return False
            event = _whole(record.event, media, record.session_id, record.seq)
            yield contract.make_record(record.session_id, record.seq, record.at, event, record.meta)
        return True

    def _page(self, session_id: str, number: int, after: int, limit: int) -> list[record_rows.RecordRow]:

        def work(db: sqlite3.Connection) -> list[record_rows.RecordRow]:
            if not _is_there(db, session_id, number, after):
                return []
            page: list[record_rows.RecordRow] = []
            size = 0
            for row in record_rows.rows_after(db, number, after, limit=limit):
                page.append(row)
                size += len(row.body)
                if size > _PAGE_BYTES:
                    break
            return page

        return self._reading(work)

    def _known_unfinished(self, session_id: str, body: object) -> tuple[Unfinished, ...] | None:
        """Return the unfinished work of a row; `None` when it is unknown, or the row is damaged."""
        if body is None:
            return None
        try:
            return load_unfinished(columns.bytes_of(body))
        except ValueError as error:
            if session_id not in self._unreadable:
                what = "the row of its unfinished work is damaged, so its log is read instead"
                _log.warning("session %r: %s: %s", session_id, what, error)
            return None

    def _media(self, session_id: str, number: int, seq: int) -> Media | None:

        def work(db: sqlite3.Connection) -> Media | None:
            return columns.load_media(db, number, seq) if _is_there(db, session_id, number, seq - 1) else None

        return self._reading(work)

    def _remove_checkpoints(
        self, db: sqlite3.Connection, session_id: str, number: int, batch: Sequence[StoredEvent]
    ) -> None:
        """Remove the checkpoints of the fragments that *batch* closes."""
        if open_ := checkpoint_rows.fragments(db, number):
            closed = closed_fragments(open_, batch, lambda: self._message_ids(db, session_id, number, batch))
            checkpoint_rows.delete(db, number, closed)

    def _message_ids(
        self, db: sqlite3.Connection, session_id: str, number: int, batch: Sequence[StoredEvent] = ()
    ) -> Collection[str]:
        """Return the ids of the messages of a session, also of those in a *batch* after the records."""
        start, _ = self._snapshot(db, session_id, number)
        stored = record_rows.read_all(db, number, 0 if start is None else start.seq, session_id)
        return message_ids(start, [*stored, *batch])

    def _snapshot(self, db: sqlite3.Connection, session_id: str, number: int) -> tuple[Transcript | None, bool]:
        """Return the snapshot, and whether its media were extracted."""
        row = db.execute("SELECT body, with_media FROM snapshots WHERE session = ?", (number,)).fetchone()
        if row is None:
            return None, False
        return record_rows.read_body(row[0], Transcript, session_id, columns.SNAPSHOT), row[1] is not None


def _whole(value: Any, media: Media, session_id: str, seq: int) -> Any:
    # Any: an instance of the same class.
    try:
        return restore_media(value, media.__getitem__)
    except KeyError:
        raise record_rows.damaged(session_id, seq, "media are missing") from None


def _session(db: sqlite3.Connection, session_id: str) -> tuple[int, int, int]:
    """Return number, last `seq` and pruned `seq`; three zeros for an unknown session."""
    row = db.execute("SELECT number, last, pruned FROM logs WHERE id = ?", (columns.key_of(session_id),)).fetchone()
    return (0, 0, 0) if row is None else (row[0], _seq(row[1], row[2]), columns.number_of(row[2]))


def _seq(last: int | None, pruned: object) -> int:
    """Return the last `seq` of a session whose last row has the key *last*."""
    return columns.number_of(pruned) if last is None else last & columns.MAX_SEQ


def _is_there(db: sqlite3.Connection, session_id: str, number: int, after: int) -> bool:
    """Return whether the session exists; raise `PrunedError` when records after *after* are pruned."""
    row = db.execute("SELECT pruned FROM sessions WHERE number = ?", (number,)).fetchone()
    if row is not None and after < columns.number_of(row[0]):
        raise PrunedError(session_id, after, row[0])
    return row is not None


def _held(db: sqlite3.Connection, number: int) -> int | None:
    """Return the `seq` of the snapshot."""
    row = db.execute("SELECT seq FROM snapshots WHERE session = ?", (number,)).fetchone()
    return None if row is None else columns.number_of(row[0])


def _begin(db: sqlite3.Connection, session_id: str, micros: int, owner: str | None) -> int:
    number = db.execute(
        "INSERT INTO sessions (id, created, pruned, pruned_at, owner) VALUES (?, ?, 0, 0, ?)",
        (columns.key_of(session_id), micros, None if owner is None else columns.key_of(owner)),
    ).lastrowid
    assert number is not None
    return number


def _owner(db: sqlite3.Connection, number: int) -> str | None:
    (owner,) = db.execute("SELECT owner FROM sessions WHERE number = ?", (number,)).fetchone()
    return None if owner is None else columns.name_of(owner)


def _claimed(db: sqlite3.Connection, session_id: str, worker: str) -> Claim:
    token = claim_rows.insert(db, session_id, worker)
    return Claim(session_id=session_id, worker=worker, token=token, seq=_session(db, session_id)[1])


def _save_unfinished(db: sqlite3.Connection, session: int, unfinished: tuple[Unfinished, ...] | None) -> None:
    """Replace the unfinished work of a session; `None` marks it as unknown."""
    if unfinished is None:
        db.execute(_SET_UNFINISHED, (session, None))
    elif unfinished:
        db.execute(_SET_UNFINISHED, (session, dump_unfinished(unfinished)))
    else:
        db.execute("DELETE FROM unfinished WHERE session = ?", (session,))


_SET_UNFINISHED: Final = """
    INSERT INTO unfinished (session, body) VALUES (?, ?)
    ON CONFLICT (session) DO UPDATE SET body = excluded.body WHERE body IS NOT excluded.body
"""  # an equal row is not written again


def _copy(db: sqlite3.Connection, session: int, made: int, through: int, *, with_snapshot: bool) -> None:
    """Copy the records up to *through*, the snapshot, and the references to media."""
    db.execute(
        "UPDATE sessions SET (pruned, pruned_at) = (SELECT pruned, pruned_at FROM sessions WHERE number = ?) "
        "WHERE number = ?",
        (session, made),
    )
    record_rows.copy(db, session, made, through)
    if with_snapshot:
        db.execute(
            "INSERT INTO snapshots (session, seq, with_media, body) "
            "SELECT ?, seq, with_media, body FROM snapshots WHERE session = ?",
            (made, session),
        )
    db.execute(
        "INSERT INTO media_refs (session, seq, digest) "
        "SELECT ?, seq, digest FROM media_refs WHERE session = ? AND seq BETWEEN ? AND ?",
        (made, session, columns.SNAPSHOT if with_snapshot else columns.SNAPSHOT + 1, through),
    )
