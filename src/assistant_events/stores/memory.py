"""The reference implementation of a store: a dictionary. Nothing outlives the process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import ClassVar, Self, final

import attrs

from assistant_events.converters.converter import unstructure_hooks
from assistant_events.errors import ClaimedError, ConflictError, PrunedError, StoreError
from assistant_events.events import DeltaEvent, Event, Record
from assistant_events.messages import Transcript, Unfinished
from assistant_events.stores import checks, contract
from assistant_events.stores.call_lock import CallLock
from assistant_events.stores.checkpoints import (
    Fragment,
    closed_fragments,
    fragment_of,
    fragments_before,
    message_ids,
    open_deltas,
)
from assistant_events.stores.contract import DEAD_AFTER_S, Claim, SessionInfo
from assistant_events.stores.unfinished import recover_unfinished, resolve_unfinished
from assistant_events.values.arguments import check_integer


@final
class MemoryStore:
    """
    A store in memory: for tests, and as the reference of the contract.

    It keeps references to the events, so equal media share memory only where they are the same object.
    """

    never_waits: ClassVar[bool] = True
    """See `assistant_events.stores.contract.never_waits`."""

    def __init__(self, *, clock: Callable[[], datetime] = contract.utc_now) -> None:
        self._clock = clock
        self._lock = CallLock()
        self._logs: dict[str, _Log] | None = {}
        self._claims: dict[str, _LastClaim] = {}
        self._beats: dict[str, datetime] = {}
        self._tokens = count(1)
        self._unreadable = set[str]()

    @property
    def persistent(self) -> bool:
        """See `Store.persistent`: never."""
        return False

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
        for event in kept:
            unstructure_hooks[type(event)](event)  # an event that has no document is refused by every store
        frozen = checks.check_meta(meta)

        def work() -> tuple[Record, ...]:
            log = self._log(session_id)
            seq = log.seq
            checks.check_token(session_id, token, current=self._current_token(session_id))
            if seq:
                checks.check_owner(session_id, owner, stored=log.owner)
            checks.check_expected_seq(session_id, expected_seq, seq)
            time = checks.check_time(self._clock() if at is None else at)
            records = tuple(contract.make_records(session_id, seq + 1, time, kept, frozen))
            if records:
                log.unfinished = None  # before the records: true also when Ctrl-C ends the batch here
                log.checkpoints = log.checkpoints_after(kept)
                log.records += records
                if seq == 0:
                    log.created, log.owner = time, owner
                log.updated = max(time, log.created)
                self._open()[session_id] = log
            if left is not None:
                log.unfinished = left
            return records

        return self._lock.run(work)

    def read(self, session_id: str, after: int = 0, *, limit: int | None = None) -> Iterator[Record]:
        """See `Store.read`."""
        checks.check_read(session_id, after, limit)

        def work() -> Iterator[Record]:
            log = self._log(session_id)
            if after < log.pruned:
                raise PrunedError(session_id, after, log.pruned)
            start = after - log.pruned
            return iter(log.records[start : None if limit is None else start + limit])

        return self._lock.run(work)

    def seq(self, session_id: str) -> int:
        """See `Store.seq`."""
        checks.check_session_id(session_id)
        return self._lock.run(lambda: self._log(session_id).seq)

    def seqs(self, session_ids: Iterable[str]) -> dict[str, int]:
        """See `Store.seqs`."""
        return {session_id: self.seq(session_id) for session_id in session_ids}

    def sessions(
        self, *, owner: str | None = None, after: str | None = None, limit: int | None = None
    ) -> tuple[SessionInfo, ...]:
        """See `Store.sessions`."""
        cursor = checks.check_sessions(owner, after, limit)
        found = self._lock.run(lambda: [log.info(session_id) for session_id, log in self._open().items()])
        kept = [info for info in found if owner is None or info.owner == owner]
        kept.sort(key=lambda info: info.session_id)
        kept.sort(key=lambda info: info.updated, reverse=True)
        if cursor is not None:
            time, session_id = cursor
            kept = [i for i in kept if i.updated < time or (i.updated == time and i.session_id > session_id)]
        return tuple(kept[:limit])

    def snapshot(self, session_id: str, transcript: Transcript) -> None:
        """See `Store.snapshot`."""
        checks.check_session_id(session_id)
        checks.check_transcript(transcript)

        def work() -> None:
            log = self._log(session_id)
            checks.check_snapshot(session_id, transcript.seq, seq=log.seq, held=log.held)
            log.snapshot = transcript

        self._lock.run(work)

    def load_snapshot(self, session_id: str) -> Transcript | None:
        """See `Store.load_snapshot`."""
        checks.check_session_id(session_id)
        return self._lock.run(lambda: self._log(session_id).snapshot)

    def prune(self, session_id: str, through_seq: int) -> None:
        """See `Store.prune`."""
        checks.check_session_id(session_id)
        check_integer("through_seq", through_seq)

        def work() -> None:
            log = self._log(session_id)
            if through_seq > log.pruned:
                checks.check_prune(session_id, through_seq, held=log.held)
                log.records = log.records[through_seq - log.pruned :]
                log.pruned = through_seq

        self._lock.run(work)

    def fork(self, session_id: str, new_session_id: str, *, at: int | None = None) -> int:
        """See `Store.fork`."""
        checks.check_fork_ids(session_id, new_session_id, at)

        def work() -> int:
            log = self._log(session_id)
            chosen = checks.check_fork(session_id, at, seq=log.seq, pruned=log.pruned, held=log.held)
            existing = self._log(new_session_id).seq
            if existing:
                raise ConflictError(new_session_id, 0, existing)
            if chosen:
                forked = log.forked(new_session_id, chosen)
                forked.created = forked.updated = self._now()
                self._open()[new_session_id] = forked
            return chosen

        return self._lock.run(work)

    def delete(self, session_id: str) -> None:
        """See `Store.delete`."""
        checks.check_session_id(session_id)

        def work() -> None:
            self._open().pop(session_id, None)
            self._claims.pop(session_id, None)

        self._lock.run(work)

    def unfinished(self) -> dict[str, tuple[Unfinished, ...]]:
        """See `Store.unfinished`."""
        rows = self._lock.run(lambda: [(name, log.unfinished) for name, log in self._open().items()])
        return resolve_unfinished(self, rows, self._unreadable)

    def claim(self, session_id: str, worker: str, *, dead_after_s: float = DEAD_AFTER_S) -> Claim:
        """See `Store.claim`."""
        checks.check_session_id(session_id)
        checks.check_worker(worker, dead_after_s)

        def work() -> Claim:
            self._open()
            now, last = self._now(), self._claims.get(session_id)
            is_free = last is None or not last.held or last.worker == worker
            if last is not None and not is_free and self._is_alive(last.worker, now, dead_after_s):
                raise ClaimedError(session_id, last.worker)
            self._beats[worker] = now
            return self._claimed(session_id, worker)

        return self._lock.run(work)

    def release(self, claim: Claim) -> None:
        """See `Store.release`."""
        checks.check_claim(claim)

        def work() -> None:
            self._open()
            if self._current_token(claim.session_id) == claim.token:
                self._claims[claim.session_id].held = False

        self._lock.run(work)

    def beat(self, worker: str) -> None:
        """See `Store.beat`."""
        checks.check_name("worker", worker)

        def work() -> None:
            self._open()
            self._beats[worker] = self._now()

        self._lock.run(work)

    def take_over(self, worker: str, *, dead_after_s: float = DEAD_AFTER_S, limit: int = 100) -> tuple[Claim, ...]:
        """See `Store.take_over`."""
        checks.check_worker(worker, dead_after_s)
        check_integer("limit", limit)

        def beaten() -> list[tuple[str, _Log]]:
            logs, last = self._open(), self._claims
            self._beats[worker] = now = self._now()
            return [
                (name, log)
                for name, log in logs.items()
                if not (name in last and self._is_alive(last[name].worker, now, dead_after_s))
            ]

        def work() -> tuple[Claim, ...]:
            known = [name for name, log in beaten() if log.unfinished]
            return tuple([self._claimed(name, worker) for name in known[:limit]])

        unknown = [name for name, log in self._lock.run(beaten) if log.unfinished is None]
        for session_id in unknown:
            recover_unfinished(self, session_id, self._unreadable)
        return self._lock.run(work)

    def checkpoint(
        self, session_id: str, deltas: Iterable[DeltaEvent], *, after: int | None = None, token: int | None = None
    ) -> None:
        """See `Store.checkpoint`."""
        kept = checks.check_checkpoint(session_id, deltas, after, token)

        def work() -> None:
            log = self._log(session_id)
            checks.check_token(session_id, token, current=self._current_token(session_id))
            place = checks.check_checkpoint_place(session_id, after, seq=log.seq, pruned=log.pruned)
            for delta in open_deltas(kept, log.events_after(place), log.message_ids):
                log.checkpoints.setdefault(fragment_of(delta), {})[delta.offset] = delta

        self._lock.run(work)

    def load_checkpoints(self, session_id: str) -> tuple[DeltaEvent, ...]:
        """See `Store.load_checkpoints`."""
        checks.check_session_id(session_id)

        def work() -> tuple[DeltaEvent, ...]:
            pieces = self._log(session_id).checkpoints
            return tuple([found[offset] for found in pieces.values() for offset in sorted(found)])

        return self._lock.run(work)

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

    def _current_token(self, session_id: str) -> int | None:
        last = self._claims.get(session_id)
        return last.token if last is not None and last.held else None

    def _now(self) -> datetime:
        return checks.check_time(self._clock())

    def _is_alive(self, worker: str, now: datetime, dead_after_s: float) -> bool:
        return abs(now - self._beats[worker]).total_seconds() < dead_after_s

    def _claimed(self, session_id: str, worker: str) -> Claim:
        token = next(self._tokens)
        self._claims[session_id] = _LastClaim(token=token, worker=worker)
        return Claim(session_id=session_id, worker=worker, token=token, seq=self._log(session_id).seq)


@final
@attrs.define(kw_only=True, eq=False)
class _LastClaim:
    token: int
    worker: str
    held: bool = True
    """Whether it was not released."""


@final
@attrs.define(kw_only=True, eq=False)
class _Log:
    created: datetime = attrs.field(init=False)
    updated: datetime = attrs.field(init=False)
    pruned: int = 0
    records: list[Record] = attrs.Factory(list[Record])
    snapshot: Transcript | None = None
    owner: str | None = None

    unfinished: tuple[Unfinished, ...] | None = None
    """`None` when it is unknown."""

    checkpoints: dict[Fragment, dict[int, DeltaEvent]] = attrs.Factory(dict[Fragment, dict[int, DeltaEvent]])
    """By fragment and offset."""

    @property
    def seq(self) -> int:
        return self.pruned + len(self.records)

    @property
    def held(self) -> int | None:
        """`seq` of the snapshot."""
        return None if self.snapshot is None else self.snapshot.seq

    def info(self, session_id: str) -> SessionInfo:
        return SessionInfo(
            session_id=session_id,
            seq=self.seq,
            pruned_to=self.pruned,
            created=self.created,
            updated=self.updated,
            owner=self.owner,
        )

    def forked(self, session_id: str, chosen: int) -> _Log:
        records = [
            contract.make_record(session_id, record.seq, record.at, record.event, record.meta)
            for record in self.records[: chosen - self.pruned]
        ]
        has_snapshot = self.held is not None and self.held <= chosen
        snapshot = self.snapshot if has_snapshot else None
        kept = fragments_before(self.checkpoints, self.events_after(chosen))
        checkpoints = {each: dict(self.checkpoints[each]) for each in kept}
        return _Log(pruned=self.pruned, records=records, snapshot=snapshot, owner=self.owner, checkpoints=checkpoints)

    def events_after(self, seq: int) -> list[Event]:
        """Return the events of the records after *seq*."""
        return [record.event for record in self.records[seq - self.pruned :]]

    def message_ids(self, batch: Sequence[Event] = ()) -> Collection[str]:
        """Return the ids of the messages, also of those in a *batch* after the records."""
        return message_ids(self.snapshot, [*self.events_after(self.held or 0), *batch])

    def checkpoints_after(self, batch: Sequence[Event]) -> dict[Fragment, dict[int, DeltaEvent]]:
        """Return the checkpoints without those of the fragments that *batch* closes."""
        if not self.checkpoints:
            return self.checkpoints
        closed = closed_fragments(self.checkpoints, batch, lambda: self.message_ids(batch))
        return {fragment: pieces for fragment, pieces in self.checkpoints.items() if fragment not in closed}
