"""The events of one answer, on their way into the log and then to the caller."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, cast, final

from assistant_events import events as ev
from assistant_events.errors import LocalProtocolError
from assistant_events.lifecycle import Outcome
from assistant_events.session.answers import BYTES, Source
from assistant_events.session.projection import Batch, Projection
from assistant_events.session.transport_errors import abortion, transport_error
from assistant_events.stores.contract import StoredEvent
from assistant_events.values import ErrorInfo, ErrorKind
from assistant_events.values.credentials import traceback_text

STORED: Final = (*ev.DURABLE_EVENTS, ev.UnknownEvent)
"""Classes of events that a log can contain."""

KEPT: Final = frozenset({Outcome.APPLIED, Outcome.IGNORED})
"""Outcomes of events that are stored: events in place, and events unknown to this version."""

_FROM_OUTSIDE: Final = (ev.ToolApprovalRequested, ev.ToolApproved, ev.ToolStarted, ev.ToolSuccess, ev.ToolFailed)
"""Events that other writers may append to a message while it is being received."""

_LIVE: Final = frozenset[type](ev.LIVE_EVENTS)
_DELTAS: Final = frozenset[type]({ev.TextDelta, ev.ReasoningDelta, ev.MediaDelta, ev.ToolInputDelta})

_STARTS: Final = (ev.StepStarted, ev.StepRestarted)

_REFUSALS: Final = frozenset({ErrorKind.NOT_FOUND, ErrorKind.INVALID_REQUEST})
"""Errors with which a provider refuses to continue a conversation of which it does not have the beginning."""

_log = logging.getLogger("assistant_events.session")


@final
class StreamReceiver:
    """
    Collects the events of an answer, and decides which of them are stored and passed on.

    `read` and `abort` collect. What is passed on comes from `pass_live`, or from `accept` with the
    records of the batch of `plan`.
    """

    def __init__(self, projection: Projection, source: Source, *, sole: bool) -> None:
        self.source = source
        self.sole = sole  # no other writer may have begun to answer
        self.active = True  # a stream receives the events
        self.finished = False  # no more events will be collected
        self.parked = False  # storing has raised; the pending events stay for another attempt
        self.ended_by_others = False  # another writer has cancelled the answer or rewound what it belongs to
        self.message_ids: set[str | None] = {source.answer.message_id}  # several for an answer of several hops
        self.pending: list[ev.Event] = []  # collected, and not passed on
        self.sent: Batch | None = None  # was sent to the store, without a result so far
        last = projection.transcript.last
        self._after = None if last is None else last.id
        self._projection = projection
        self._stored: list[int] = []  # places of the pending durable events, from the first, that are in the log
        self._contested = False
        self._refusable = True  # nothing but the start of the first answer has come
        self._rival: str | None = None  # the message of another writer that began to answer first
        self._restart: str | None = None  # why the answer was asked for again, until it has begun again

    # -- collecting

    async def read(self) -> None:
        """Read and collect the next events."""
        try:
            item = await self.source.read()
        except StopAsyncIteration:
            self._close(None)
        except Exception as error:  # noqa: BLE001 - becomes the error of the message
            info = transport_error(error)
            if info.kind == ErrorKind.UNKNOWN:
                # It may be a bug of the app, which only the traceback locates.
                name = self.source.answer.message_id
                _log.warning("the stream of message %r raised\n%s", name, traceback_text(error))
            self._close(info)
        else:
            self._take(item)

    def _take(self, item: object) -> None:
        decoder = self.source.decoder
        if decoder is None:
            events = cast("list[ev.Event]", item)  # the result of `read`
        elif isinstance(item, BYTES):
            events = decoder.feed(cast("bytes", item))
        elif isinstance(item, str):
            raise TypeError("chunks: expected bytes or parsed events, got str; iterate over bytes, not text or lines")
        else:
            events = decoder.feed_event(item)
        self._collect(events)
        self.finished = self.source.answer.terminal

    def abort(self, reason: BaseException | None) -> None:
        """End the stream because the caller left, with an exception or without. What has not begun leaves nothing."""
        if self.pending or self._has_begun:
            self._close(abortion(reason))
        else:
            self.give_up()

    @property
    def _has_begun(self) -> bool:
        return self.source.answer.message_id in self._projection.transcript

    def _close(self, error: ErrorInfo | None) -> None:
        self._collect(self.source.answer.close(error))
        self.finished = True

    def _collect(self, events: list[ev.Event]) -> None:
        if events and self._restart is not None:
            reason, self._restart, start = self._restart, None, events[0]
            if isinstance(start, ev.StepStarted):  # otherwise the decoder knows that it restarts
                restarted = ev.StepRestarted(
                    message_id=start.message_id, reason=reason, origin=start.origin, run=start.run, state=start.state
                )
                events = [restarted, *events[1:]]
        self.pending += events

    # -- asking again

    @property
    def refusal(self) -> ErrorInfo | None:
        """Why the provider refused the request, when that is all that has come; `None` otherwise."""
        last = self.pending[-1] if self.pending and self._refusable else None
        if not isinstance(last, ev.StepFailed) or last.error.kind not in _REFUSALS:
            return None
        return last.error if all(isinstance(event, _STARTS) for event in self.pending[:-1]) else None

    def ask_again(self, source: Source, error: ErrorInfo) -> None:
        """Forget the refused answer, and collect another one under its id."""
        if self._has_begun:
            self._restart = f"the provider does not continue the conversation: {error.message}"
        self.pending = []
        self.source = source
        self.finished = self._refusable = False

    # -- storing

    def plan(self) -> Batch:
        """Return the batch to store; events that would not apply are dropped, and all when others ended the answer."""
        if self.ended_by_others or self._contested:
            self.give_up()
        if self._contested and not self.ended_by_others:
            raise LocalProtocolError(
                f"another writer appends to message {self.source.answer.message_id!r}; "
                "to continue it, pass the message as prior to a new decoder"
            )
        if self.sole and self._rival is not None and not self._has_begun:
            self.give_up()
            self.ended_by_others = True
            raise LocalProtocolError(f"another writer has begun to answer, in message {self._rival!r}")
        trial = self._projection.dry_run()
        planned: list[ev.Event] = []
        sent: list[StoredEvent] = []
        stored = len(self._stored)
        for event in self.pending:
            if isinstance(event, STORED):
                if stored:
                    stored -= 1
                elif trial.apply(event) in KEPT:
                    sent.append(event)
                elif isinstance(event, ev.StepStarted):
                    self.give_up()
                    raise LocalProtocolError(
                        f"message {event.message_id!r} exists already; "
                        "to continue it, pass the message as prior to the decoder; otherwise use another id"
                    )
                else:
                    continue
            planned.append(event)
        self.pending = planned
        self.sent = Batch(tuple(sent), self._projection.seq, trial)
        return self.sent

    def give_up(self) -> None:
        """Store and pass on nothing more."""
        self.pending = []
        self.finished = True

    def accept(self, batch: Batch, records: Sequence[ev.Record]) -> tuple[list[ev.Event], list[int]]:
        """Apply the stored *records* of *batch*; return the events to pass on, and the `seq` of the durable ones."""
        places, new = list(self._stored), iter(records)
        stored = len(places)
        passed_on: list[ev.Event] = []
        for event in self.pending:
            if not isinstance(event, STORED):
                if self._projection.apply(event) is Outcome.APPLIED:
                    passed_on.append(event)
                continue
            if stored:
                stored -= 1
            else:
                record = next(new)
                self._projection.apply(record)
                places.append(record.seq)
            self.message_ids.add(event.message_id)
            passed_on.append(event)
        self._refusable = self._refusable and all(isinstance(event, _STARTS) for event in passed_on)
        self.pending = []
        self._stored = []
        self.sent = None
        self.parked = False
        self._projection.committed(batch)
        return passed_on, places

    def pass_live(self) -> list[ev.Event] | None:
        """Return the events to pass on when all pending ones are live; `None` when some have to be stored first."""
        classes = {event.__class__ for event in self.pending}
        if not classes <= _LIVE:
            return None
        passed_on, self.pending = self.pending, []
        if classes <= _DELTAS:
            self._projection.extend(passed_on)  # no other writer closes a fragment without ending the stream
        else:
            passed_on = [event for event in passed_on if self._projection.apply(event) is Outcome.APPLIED]
        return passed_on

    # -- what others write

    def match_log(self, records: Sequence[ev.Record], *, after: int, known: int) -> None:
        """Learn from all records after *after* what was stored, and behind *known*, what others did to the answer."""
        sent, self.sent = self.sent, None
        if sent is not None:
            # When a snapshot covers the batch, its records are unknown, and storing it again might duplicate them.
            self._contested = self._contested or after > sent.after
            end = sent.after + len(sent.events)
            own = [record for record in records if sent.after < record.seq <= end]
            if sent.events == tuple([record.event for record in own]):
                self._stored += [record.seq for record in own]
                known = max(known, end)
        self.notice([record for record in records if record.seq > known])

    def notice(self, records: Sequence[ev.Record]) -> None:
        """Look at *records* of others: they may end the answer, and must not write it."""
        for record in records:
            event = record.event
            if isinstance(event, ev.HistoryRewound):
                gone = self._projection.transcript.rewound
                self.ended_by_others |= self._after in gone or not self.message_ids.isdisjoint(gone)
            elif event.message_id not in self.message_ids:
                if isinstance(event, ev.StepStarted):
                    self._rival = event.message_id
            elif isinstance(event, _FROM_OUTSIDE):
                continue
            elif isinstance(event, ev.StepFailed) and event.error.kind == ErrorKind.CANCELLED:
                self.ended_by_others = True
            else:
                self._contested = True


@final
class Receivers:
    """The receivers of a session: those that receive, and those whose events could not be stored."""

    def __init__(self, projection: Projection) -> None:
        self.projection = projection
        self._all: list[StreamReceiver] = []

    @property
    def message_ids(self) -> set[str | None]:
        """Ids of the messages that are being received."""
        return {name for receiver in self._all if receiver.active for name in receiver.message_ids}

    @property
    def asked_for(self) -> str | None:
        """Id of a message whose answer has not been stored to its end, of those that are being received."""
        open_ = [one for one in self._all if one.active and not one.ended_by_others]
        return next((one.source.answer.message_id for one in open_ if one.pending or not one.finished), None)

    def begin(self, source: Source, *, sole: bool) -> StreamReceiver:
        """Return a new receiver, unless another one receives the message."""
        name = source.answer.message_id
        if name in self.message_ids:
            raise LocalProtocolError(f"message {name!r} is being received already; leave that block first")
        for other in [other for other in self._all if name in other.message_ids]:
            other.parked = False  # its stream cannot be entered again
            self._all.remove(other)
        receiver = StreamReceiver(self.projection, source, sole=sole)
        self._all.append(receiver)
        return receiver

    def leave(self, receiver: StreamReceiver) -> None:
        """End receiving; what could not be stored is kept."""
        receiver.active = False
        if not receiver.pending and receiver in self._all:
            self._all.remove(receiver)

    def confirmed_to(self, known: int) -> int:
        """Return from which `seq`, at most *known*, the log has to be read to find batches that are not confirmed."""
        return min([known, *[batch.after for one in self._all if (batch := one.sent) is not None]])

    def refused(self, batch: Batch) -> None:
        """Learn that *batch* is not in the log."""
        for receiver in self._all:
            if receiver.sent is batch:
                receiver.sent = None

    def match_log(self, records: Sequence[ev.Record], *, after: int, known: int) -> None:
        """See `StreamReceiver.match_log`."""
        for receiver in self._all:
            receiver.match_log(records, after=after, known=known)

    def notice(self, records: Sequence[ev.Record]) -> None:
        """Inform all receivers of *records* that none of them has written."""
        for receiver in self._all:
            receiver.notice(records)
