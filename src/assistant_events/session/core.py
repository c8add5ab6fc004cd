"""
Every decision that a session takes, without its I/O.

What a session does is a script: a generator that yields what it wants of the store, is sent the answer, and returns
what came of it. The faces run scripts, one after another.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar, assert_never, final
from uuid import uuid4

import attrs

from assistant_events.errors import LocalProtocolError, PrunedError, StoreError
from assistant_events.events import LIVE_EVENTS, Event, Record
from assistant_events.lifecycle import Outcome
from assistant_events.messages import Transcript, UserMessage
from assistant_events.reducer import describe, reconcile
from assistant_events.session.finalizers import whole
from assistant_events.session.projection import Batch, Projection
from assistant_events.session.receiver import KEPT, STORED, Decoder, StreamReceiver
from assistant_events.stores.contract import Store, StoredEvent

Meta: TypeAlias = Mapping[str, object] | None

_T = TypeVar("_T")

_log = logging.getLogger("assistant_events.session")


@final
@attrs.frozen
class Append:
    """Answered with the records of the batch."""

    batch: Batch
    meta: Meta


@final
@attrs.frozen
class Read:
    """Answered with the records after a place, all of them when there is no limit."""

    after: int
    limit: int | None = None


@final
@attrs.frozen
class LoadSnapshot:
    """Answered with the snapshot, or `None`."""


@final
@attrs.frozen
class Snapshot:
    """Answered with nothing."""

    transcript: Transcript


PAGE = 2000
"""
Records read at once when a session is opened: an event loop stands still for some milliseconds while they are folded.
"""

Request: TypeAlias = Append | Read | LoadSnapshot | Snapshot

# Any, here and in `perform`: each request is sent its own answer, which the type of a generator cannot say.
Script: TypeAlias = Generator[Request, Any, _T]


def perform(store: Store, session_id: str, request: Request) -> Any:
    """Do what a script wants of a store, and return the answer."""
    with whole:
        return _performed(store, session_id, request)


def _performed(store: Store, session_id: str, request: Request) -> Any:
    match request:
        case Append():
            batch = request.batch
            unfinished = batch.dry_run.transcript.unfinished()
            return store.append(
                session_id, batch.events, expected_seq=batch.after, meta=request.meta, unfinished=unfinished
            )
        case Read():
            return tuple(store.read(session_id, request.after, limit=request.limit))
        case LoadSnapshot():
            return store.load_snapshot(session_id)
        case Snapshot():
            return store.snapshot(session_id, request.transcript)
        case _ as never:
            assert_never(never)


class Core:
    """Base of both faces: where the session stands, and the scripts of what it can do."""

    _closing: ClassVar[str]
    """How an iterator over events is closed."""

    def __init__(self, session_id: str, snapshot_every: int | None) -> None:
        _check_interval(snapshot_every)
        self._session_id = session_id
        self._snapshot_every = snapshot_every
        self._snapshot_seq = 0
        self._standing = Projection()
        self._receptions: list[StreamReceiver] = []

    @property
    def session_id(self) -> str:
        """The session in the store."""
        return self._session_id

    @property
    def transcript(self) -> Transcript:
        """
        Everything that is stored, and what has streamed since: text that is open grows here with every delta.

        Each value is immutable; ask again for the newest.
        """
        return self._standing.transcript

    @property
    def seq(self) -> int:
        """Place of the last record that this session knows; 0 while there is none."""
        return self._standing.seq

    def new_id(self) -> str:
        """
        Return a fresh message id: random, 32 hexadecimal digits.

        Any other non-empty string that is new in the session will do as well.
        """
        return uuid4().hex

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session_id!r}, seq={self.seq})"

    # -- scripts

    def _opening(self) -> Script[None]:
        snapshot: Transcript | None = yield LoadSnapshot()
        if snapshot is not None:
            self._start_from(snapshot)
        while True:
            _, records = yield from self._read(self.seq, PAGE)
            self._standing.extend(records)
            if len(records) < PAGE:
                return

    def _reading(self) -> Script[tuple[Record, ...]]:
        known = self.seq
        doubtful = [batch.after for reception in self._receptions if (batch := reception.unconfirmed) is not None]
        after, records = yield from self._read(min([known, *doubtful]), None)
        self._standing.extend(records)
        for reception in self._receptions:
            reception.match_log(records, after=after, known=known)
        return tuple([record for record in records if record.seq > known])

    def _read(self, after: int, limit: int | None) -> Script[tuple[int, tuple[Record, ...]]]:
        """Return records and the place before them: *after*, or that of a snapshot which stands for what is pruned."""
        try:
            records: tuple[Record, ...] = yield Read(after, limit)
        except PrunedError:
            snapshot: Transcript | None = yield LoadSnapshot()
            if snapshot is None or snapshot.seq <= self.seq:
                raise
            self._start_from(snapshot)
            after = snapshot.seq
            records = yield Read(after, limit)
        return after, records

    def _appending(self, plan: Callable[[], Batch], meta: Meta) -> Script[tuple[Record, ...]]:
        batch = plan()
        if not batch.events:
            return ()
        records: tuple[Record, ...] = yield Append(batch, meta)
        self._standing.extend(records)
        self._standing.committed(batch)
        yield from self._keeping_snapshot()
        return records

    def _storing(self, reception: StreamReceiver, meta: Meta) -> Script[list[Event]]:
        try:
            if reception.unconfirmed:
                yield from self._reading()
            batch = reception.plan()
            records: tuple[Record, ...] = (yield Append(batch, meta)) if batch.events else ()
        except Exception as error:
            reception.park(error)
            raise
        handed_on = reception.accept(batch, records)
        yield from self._keeping_snapshot()
        return handed_on

    def _snapshotting(self) -> Script[None]:
        yield Snapshot(self._standing.recorded())
        self._snapshot_seq = self.seq

    def _keeping_snapshot(self) -> Script[None]:
        if self._snapshot_every is None or self.seq - self._snapshot_seq < self._snapshot_every:
            return
        try:
            yield from self._snapshotting()
        except StoreError as error:
            # What was appended is stored, and a snapshot only saves time. Another one is due later.
            self._snapshot_seq = self.seq
            _log.warning("session %r: no snapshot at seq %d: %s", self.session_id, self.seq, error)

    # -- decisions

    def _start_from(self, snapshot: Transcript) -> None:
        self._standing.start_from(snapshot)
        self._snapshot_seq = snapshot.seq

    def _admitted(self, events: Sequence[Event]) -> Batch:
        """Return what of *events* is to be stored: all but equal duplicates."""
        rehearsal = self._standing.dry_run()
        kept: list[StoredEvent] = []
        for event in events:
            if not isinstance(event, STORED):
                if isinstance(event, LIVE_EVENTS):
                    raise LocalProtocolError(f"{describe(event)} is live; only durable events are appended")
                raise TypeError(f"expected an event, got {type(event).__name__}")
            outcome = rehearsal.apply(event)
            if outcome in KEPT:
                kept.append(event)
            elif outcome is not Outcome.DUPLICATE:
                raise LocalProtocolError(f"{describe(event)} is out of place ({outcome.value})")
        return Batch(tuple(kept), self.seq, rehearsal)

    def _unsettled(self, *, abandon_calls: bool, abandon_runs: bool) -> Batch:
        """Return what settles all that nobody will end. What this session is receiving is left alone."""
        busy = {name for reception in self._receptions if reception.active for name in reception.message_ids}
        events = reconcile(self.transcript, abandon_calls=abandon_calls, abandon_runs=abandon_runs)
        return self._admitted([event for event in events if event.message_id not in busy])

    def _prompt(self, message_id: str) -> UserMessage:
        message = self.transcript[message_id]
        assert isinstance(message, UserMessage), "a prompt that applies is the message of this id"
        return message

    def _begin(self, decoder: Decoder) -> StreamReceiver:
        """Return the reception of *decoder*: the one that the store cut short, or a new one."""
        for reception in list(self._receptions):
            if reception.decoder is decoder or decoder.message_id in reception.message_ids:
                if reception.active:
                    raise LocalProtocolError(
                        f"message {decoder.message_id!r} is being received already; first close the iterator that "
                        f"receives it, {self._closing}"
                    )
                self._receptions.remove(reception)
                if reception.decoder is decoder:
                    reception.active = True
                    reception.stuck = False
                    self._receptions.append(reception)
                    return reception
        reception = StreamReceiver(self._standing, decoder)
        self._receptions.append(reception)
        return reception

    def _leave(self, reception: StreamReceiver) -> None:
        reception.active = False
        if not reception.waiting:
            self._receptions.remove(reception)

    def _log_running(self, reception: StreamReceiver, error: Exception) -> None:
        _log.warning(
            "session %r: message %r was left and could not be closed, it stays running: %s",
            self.session_id,
            reception.decoder.message_id,
            error,
        )

    def _not_closed(self, reception: StreamReceiver, error: Exception, reason: BaseException) -> None:
        """Say that the message could not be closed when its stream was left, unless what goes up can say it."""
        if isinstance(reason, GeneratorExit):
            raise error
        reason.add_note(f"message {reception.decoder.message_id!r} could not be closed: {error}")


def _check_interval(snapshot_every: object) -> None:
    if snapshot_every is None:
        return
    if isinstance(snapshot_every, bool) or not isinstance(snapshot_every, int):
        raise TypeError(f"snapshot_every: expected int or None, got {type(snapshot_every).__name__}")
    if snapshot_every < 1:
        raise ValueError(f"snapshot_every: expected 1 or more, got {snapshot_every}")
