"""The reference implementation of a store: a dictionary. Nothing outlives the process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Self, final

import attrs

from assistant_events.converters import dumps
from assistant_events.errors import ConflictError, PrunedError, StoreError
from assistant_events.events import Event, Record
from assistant_events.messages import Transcript, Unfinished
from assistant_events.stores import contract
from assistant_events.stores.call_lock import CallLock
from assistant_events.stores.contract import SessionInfo
from assistant_events.stores.unfinished import resolve_unfinished


@final
class MemoryStore:
    """
    A store in memory: for tests, and as the reference of the contract.

    It keeps references to the events, so equal media share memory only where they are the same object.
    """

    def __init__(self, *, clock: Callable[[], datetime] = contract.utc_now) -> None:
        self._clock = clock
        self._lock = CallLock()
        self._logs: dict[str, _Log] | None = {}

    def append(
        self,
        session_id: str,
        events: Iterable[Event],
        *,
        expected_seq: int | None = None,
        meta: Mapping[str, object] | None = None,
        at: datetime | None = None,
        unfinished: Iterable[Unfinished] | None = None,
    ) -> tuple[Record, ...]:
        """See `Store.append`."""
        kept, left = contract.check_append(session_id, events, expected_seq, unfinished)
        for event in kept:
            dumps(event)  # an event that cannot be serialized is refused by every store
        frozen = contract.check_meta(meta)

        def work() -> tuple[Record, ...]:
            log = self._log(session_id)
            seq = log.seq
            contract.check_expected_seq(session_id, expected_seq, seq)
            time = contract.check_time(self._clock() if at is None else at)
            records = tuple(contract.make_records(session_id, seq + 1, time, kept, frozen))
            if records:
                log.unfinished = None  # before the records: true also when Ctrl-C ends the batch here
                log.records += records
                log.updated = time
                if seq == 0:
                    log.created = time
                    self._open()[session_id] = log
            if left is not None:
                log.unfinished = left
            return records

        return self._lock.run(work)

    def read(self, session_id: str, after: int = 0, *, limit: int | None = None) -> Iterator[Record]:
        """See `Store.read`."""
        contract.check_read(session_id, after, limit)

        def work() -> Iterator[Record]:
            log = self._log(session_id)
            if after < log.pruned:
                raise PrunedError(session_id, after, log.pruned)
            start = after - log.pruned
            return iter(log.records[start : None if limit is None else start + limit])

        return self._lock.run(work)

    def seq(self, session_id: str) -> int:
        """See `Store.seq`."""
        contract.check_session_id(session_id)
        return self._lock.run(lambda: self._log(session_id).seq)

    def sessions(self) -> tuple[SessionInfo, ...]:
        """See `Store.sessions`."""
        found = self._lock.run(lambda: [log.info(session_id) for session_id, log in self._open().items()])
        return tuple(sorted(found, key=lambda info: info.updated, reverse=True))

    def snapshot(self, session_id: str, transcript: Transcript) -> None:
        """See `Store.snapshot`."""
        contract.check_session_id(session_id)
        contract.check_transcript(transcript)

        def work() -> None:
            log = self._log(session_id)
            contract.check_snapshot(session_id, transcript.seq, seq=log.seq, held=log.held)
            log.snapshot = transcript

        self._lock.run(work)

    def load_snapshot(self, session_id: str) -> Transcript | None:
        """See `Store.load_snapshot`."""
        contract.check_session_id(session_id)
        return self._lock.run(lambda: self._log(session_id).snapshot)

    def prune(self, session_id: str, through_seq: int) -> None:
        """See `Store.prune`."""
        contract.check_session_id(session_id)
        contract.check_seq("through_seq", through_seq)

        def work() -> None:
            log = self._log(session_id)
            if through_seq > log.pruned:
                contract.check_prune(session_id, through_seq, held=log.held)
                log.records = log.records[through_seq - log.pruned :]
                log.pruned = through_seq

        self._lock.run(work)

    def fork(self, session_id: str, new_session_id: str, *, at: int | None = None) -> int:
        """See `Store.fork`."""
        contract.check_fork_ids(session_id, new_session_id, at)

        def work() -> int:
            log = self._log(session_id)
            chosen = contract.check_fork(session_id, at, seq=log.seq, pruned=log.pruned, held=log.held)
            existing = self._log(new_session_id).seq
            if existing:
                raise ConflictError(new_session_id, 0, existing)
            if chosen:
                forked = log.forked(new_session_id, chosen)
                forked.created = forked.updated = contract.check_time(self._clock())
                self._open()[new_session_id] = forked
            return chosen

        return self._lock.run(work)

    def delete(self, session_id: str) -> None:
        """See `Store.delete`."""
        contract.check_session_id(session_id)
        self._lock.run(lambda: self._open().pop(session_id, None))

    def unfinished(self) -> dict[str, tuple[Unfinished, ...]]:
        """See `Store.unfinished`."""
        rows = self._lock.run(lambda: [(name, log.unfinished) for name, log in self._open().items()])
        return resolve_unfinished(self, rows)

    def close(self) -> None:
        """See `Store.close`."""

        def work() -> None:
            self._logs = None

        self._lock.run(work)

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _open(self) -> dict[str, _Log]:
        if self._logs is None:
            raise StoreError("the store is closed")
        return self._logs

    def _log(self, session_id: str) -> _Log:
        """Return the log of a session; a new one, which is not in `_logs` yet, for an unknown session."""
        return self._open().get(session_id) or _Log()


@final
@attrs.define(kw_only=True, eq=False)
class _Log:
    created: datetime = attrs.field(init=False)
    updated: datetime = attrs.field(init=False)
    pruned: int = 0
    records: list[Record] = attrs.Factory(list[Record])
    snapshot: Transcript | None = None

    unfinished: tuple[Unfinished, ...] | None = None
    """`None` when it is unknown."""

    @property
    def seq(self) -> int:
        return self.pruned + len(self.records)

    @property
    def held(self) -> int | None:
        """`seq` of the snapshot."""
        return None if self.snapshot is None else self.snapshot.seq

    def info(self, session_id: str) -> SessionInfo:
        return SessionInfo(
            session_id=session_id, seq=self.seq, pruned_to=self.pruned, created=self.created, updated=self.updated
        )

    def forked(self, session_id: str, chosen: int) -> _Log:
        records = [
            contract.make_record(session_id, record.seq, record.at, record.event, record.meta)
            for record in self.records[: chosen - self.pruned]
        ]
        has_snapshot = self.held is not None and self.held <= chosen
        return _Log(pruned=self.pruned, records=records, snapshot=self.snapshot if has_snapshot else None)
