"""
The decisions of a session, without I/O.

Each operation is a script: a generator that yields requests, which are functions of the store, is sent their results,
and returns the result of the operation. `Session` and `SyncSession` run the scripts, one after another.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar
from uuid import uuid4

from assistant_events.errors import LocalProtocolError, PrunedError, StoreError
from assistant_events.events import LIVE_EVENTS, Event, Record
from assistant_events.lifecycle import Outcome
from assistant_events.messages import Transcript, UserMessage
from assistant_events.reducer import describe, reconcile
from assistant_events.session.finalizers import whole
from assistant_events.session.projection import Batch, Projection
from assistant_events.session.receiver import KEPT, STORED, Answer, StreamReceiver
from assistant_events.stores.contract import Store, StoredEvent

Meta: TypeAlias = Mapping[str, object] | None

_T = TypeVar("_T")

_log = logging.getLogger("assistant_events.session")


PAGE = 2000
"""Number of records per read of an opening: folding them blocks the event loop for some milliseconds."""

# Any, here and in `perform`: each request has its own result type, which the type of a generator cannot express.
Request: TypeAlias = Callable[[Store], Any]
Script: TypeAlias = Generator[Request, Any, _T]


def perform(store: Store, request: Request) -> Any:
    """Execute a request of a script and return its result."""
    with whole:
        return request(store)


class Core:
    """Base of `Session` and `SyncSession`: the current state and the scripts of all operations."""

    _closing: ClassVar[str]
    """How to close an iterator over events, for error messages."""

    def __init__(self, session_id: str, snapshot_every: int | None) -> None:
        _check_interval(snapshot_every)
        self._session_id = session_id
        self._snapshot_every = snapshot_every
        self._snapshot_seq = 0
        self._projection = Projection()
        self._receivers: list[StreamReceiver] = []

    @property
    def session_id(self) -> str:
        """Id of the session in the store."""
        return self._session_id

    @property
    def transcript(self) -> Transcript:
        """
        All stored records, and the live events since: open text grows with every delta.

        A transcript is immutable; read the property again for the current one.
        """
        return self._projection.transcript

    @property
    def seq(self) -> int:
        """`seq` of the last record that this session has read or written; 0 while there is none."""
        return self._projection.seq

    def new_id(self) -> str:
        """
        Return a fresh message id: random, 32 hexadecimal digits.

        Any other non-empty string that is new in the session is valid too.
        """
        return uuid4().hex

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session_id!r}, seq={self.seq})"

    # -- requests

    def _load_snapshot(self, store: Store) -> Transcript | None:
        return store.load_snapshot(self.session_id)

    def _read_records(self, after: int, limit: int | None) -> Request:
        return lambda store: tuple(store.read(self.session_id, after, limit=limit))

    def _append_batch(self, batch: Batch, meta: Meta) -> Request:
        return lambda store: store.append(
            self.session_id,
            batch.events,
            expected_seq=batch.after,
            meta=meta,
            unfinished=batch.dry_run.transcript.unfinished(),
        )

    # -- scripts

    def _opening(self) -> Script[None]:
        snapshot: Transcript | None = yield self._load_snapshot
        if snapshot is not None:
            self._start_from(snapshot)
        while True:
            _, records = yield from self._read(self.seq, PAGE)
            self._projection.extend(records)
            if len(records) < PAGE:
                return

    def _reading(self) -> Script[tuple[Record, ...]]:
        known = self.seq
        unconfirmed = [batch.after for receiver in self._receivers if (batch := receiver.unconfirmed) is not None]
        after, records = yield from self._read(min([known, *unconfirmed]), None)
        self._projection.extend(records)
        for receiver in self._receivers:
            receiver.match_log(records, after=after, known=known)
        return tuple([record for record in records if record.seq > known])

    def _read(self, after: int, limit: int | None) -> Script[tuple[int, tuple[Record, ...]]]:
        """Return records and the `seq` before them: *after*, or that of the snapshot when records are pruned."""
        try:
            records: tuple[Record, ...] = yield self._read_records(after, limit)
        except PrunedError:
            snapshot: Transcript | None = yield self._load_snapshot
            if snapshot is None or snapshot.seq <= self.seq:
                raise
            self._start_from(snapshot)
            after = snapshot.seq
            records = yield self._read_records(after, limit)
        return after, records

    def _appending(self, plan: Callable[[], Batch], meta: Meta) -> Script[tuple[Record, ...]]:
        batch = plan()
        if not batch.events:
            return ()
        records: tuple[Record, ...] = yield self._append_batch(batch, meta)
        self._projection.extend(records)
        self._projection.committed(batch)
        yield from self._keeping_snapshot()
        return records

    def _storing(self, receiver: StreamReceiver, meta: Meta) -> Script[list[Event]]:
        try:
            if receiver.unconfirmed:
                yield from self._reading()
            batch = receiver.plan()
            records: tuple[Record, ...] = (yield self._append_batch(batch, meta)) if batch.events else ()
        except Exception as error:
            receiver.park(error)
            raise
        passed_on = receiver.accept(batch, records)
        yield from self._keeping_snapshot()
        return passed_on

    def _snapshotting(self) -> Script[None]:
        transcript = self._projection.recorded()
        yield lambda store: store.snapshot(self.session_id, transcript)
        self._snapshot_seq = self.seq

    def _keeping_snapshot(self) -> Script[None]:
        if self._snapshot_every is None or self.seq - self._snapshot_seq < self._snapshot_every:
            return
        try:
            yield from self._snapshotting()
        except StoreError as error:
            # The batch is stored, and a snapshot only saves time. The next one is due later.
            self._snapshot_seq = self.seq
            _log.warning("session %r: no snapshot at seq %d: %s", self.session_id, self.seq, error)

    # -- decisions

    def _start_from(self, snapshot: Transcript) -> None:
        self._projection.start_from(snapshot)
        self._snapshot_seq = snapshot.seq

    def _admitted(self, events: Sequence[Event]) -> Batch:
        """Return a batch of *events* without duplicates; raise when one is out of place."""
        trial = self._projection.dry_run()
        kept: list[StoredEvent] = []
        for event in events:
            if not isinstance(event, STORED):
                if isinstance(event, LIVE_EVENTS):
                    raise LocalProtocolError(f"{describe(event)} is a live event; append durable events only")
                raise TypeError(f"expected an event, got {type(event).__name__}")
            outcome = trial.apply(event)
            if outcome in KEPT:
                kept.append(event)
            elif outcome is not Outcome.DUPLICATE:
                raise LocalProtocolError(f"{describe(event)} is out of place ({outcome.value})")
        return Batch(tuple(kept), self.seq, trial)

    def _unsettled(self, *, abandon_calls: bool, abandon_runs: bool) -> Batch:
        """Return the batch that closes abandoned messages. Messages that this session receives are skipped."""
        busy = {name for receiver in self._receivers if receiver.active for name in receiver.message_ids}
        events = reconcile(self.transcript, abandon_calls=abandon_calls, abandon_runs=abandon_runs)
        return self._admitted([event for event in events if event.message_id not in busy])

    def _prompt(self, message_id: str) -> UserMessage:
        message = self.transcript[message_id]
        assert isinstance(message, UserMessage), "a prompt that was applied is the message with its id"
        return message

    def _begin(self, answer: Answer) -> StreamReceiver:
        """Return the receiver of *answer*: the one whose storing has failed, or a new one."""
        for receiver in list(self._receivers):
            if receiver.answer is answer or answer.message_id in receiver.message_ids:
                if receiver.active:
                    raise LocalProtocolError(
                        f"message {answer.message_id!r} is being received already; first close the iterator that "
                        f"receives it, {self._closing}"
                    )
                self._receivers.remove(receiver)
                if receiver.answer is answer:
                    receiver.active = True
                    receiver.parked = False
                    self._receivers.append(receiver)
                    return receiver
        receiver = StreamReceiver(self._projection, answer)
        self._receivers.append(receiver)
        return receiver

    def _leave(self, receiver: StreamReceiver) -> None:
        receiver.active = False
        if not receiver.has_pending:
            self._receivers.remove(receiver)

    def _log_running(self, receiver: StreamReceiver, error: Exception) -> None:
        _log.warning(
            "session %r: message %r was left and could not be closed; it stays running: %s",
            self.session_id,
            receiver.answer.message_id,
            error,
        )

    def _not_closed(self, receiver: StreamReceiver, error: Exception, reason: BaseException) -> None:
        """Raise, or add as a note to the propagating exception, that the abandoned message could not be closed."""
        if isinstance(reason, GeneratorExit):
            raise error
        reason.add_note(f"message {receiver.answer.message_id!r} could not be closed: {error}")


def _check_interval(snapshot_every: object) -> None:
    if snapshot_every is None:
        return
    if isinstance(snapshot_every, bool) or not isinstance(snapshot_every, int):
        raise TypeError(f"snapshot_every: expected int or None, got {type(snapshot_every).__name__}")
    if snapshot_every < 1:
        raise ValueError(f"snapshot_every: expected 1 or more, got {snapshot_every}")
