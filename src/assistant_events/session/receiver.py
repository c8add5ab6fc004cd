"""The events of one answer, on their way into the log and then to the caller."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import chain, compress, repeat
from operator import not_
from threading import Lock
from typing import Any, Final, NamedTuple, cast, final
from weakref import WeakSet

import attrs

from assistant_events import events as ev
from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.refused_state import MARK, refusal_in
from assistant_events.errors import LocalProtocolError
from assistant_events.event_lists import EventList
from assistant_events.events import is_durable
from assistant_events.lifecycle import Outcome
from assistant_events.messages import AssistantMessage, Message, MessageStatus, UserMessage
from assistant_events.session.answers import BYTES, Client, Source
from assistant_events.session.projection import KEPT, Batch, Projection
from assistant_events.session.stopping import cancellation, is_cancelled
from assistant_events.session.transport_errors import abortion, transport_error
from assistant_events.stores.checkpoints import open_deltas
from assistant_events.stores.contract import StoredEvent
from assistant_events.values import ErrorInfo, ErrorKind
from assistant_events.values.credentials import traceback_text

_FROM_OUTSIDE: Final = (ev.ToolApprovalRequested, ev.ToolApproved, ev.ToolStarted, ev.ToolSuccess, ev.ToolFailed)
"""Events that other writers may append to a message while it is being received."""

_LIVE: Final = frozenset[type](ev.LIVE_EVENTS)
_DELTAS: Final = frozenset[type]({ev.TextDelta, ev.ReasoningDelta, ev.MediaDelta, ev.ToolInputDelta})

_EXPECTED: Final = _DELTAS.union(ev.DURABLE_EVENTS, (ev.UnknownEvent,))
"""Events that apply when what comes before them has applied."""

_STARTS: Final = (ev.StepStarted, ev.StepRestarted)

_REFUSALS: Final = frozenset({ErrorKind.NOT_FOUND, ErrorKind.INVALID_REQUEST})
"""Errors with which a provider refuses to continue a conversation of which it does not have the beginning."""

_log = logging.getLogger("assistant_events.session")


class Accepted(NamedTuple):
    """Events that were applied."""

    events: Sequence[ev.Event]
    """To pass on."""

    seqs: Sequence[int]
    """`seq` of the durable ones."""

    published: Sequence[ev.Record | ev.LiveEvent]
    """Records, and the progress of calls between them: text is published from the fold."""


@final
class StreamReceiver:
    """
    Collects the events of an answer, and decides which of them are stored and passed on.

    `take`, `end` and `abort` collect. What is passed on comes from `take`, from `pass_live`, or from `accept` with the
    records of the batch of `plan`.
    """

    def __init__(self, projection: Projection, source: Source, *, sole: bool) -> None:
        self.source = source
        self.sole = sole  # no other writer may have begun to answer
        self.active = True  # a stream receives the events
        self.finished = False  # no more events will be collected
        self.parked = False  # storing has raised; the pending events stay for another attempt
        self.message_ids: frozenset[str | None] = frozenset({source.answer.message_id})  # several for several hops
        self.pending: list[ev.Event] = []  # collected, and not passed on
        self.sent: Batch | None = None  # was sent to the store, without a result so far
        self._projection = projection
        self._stored: list[int] = []  # places of the pending durable events, from the first, that are in the log
        self._contested = False
        self._refusable = True  # nothing but the start of the first answer has come
        self._rival: str | None = None  # the message of another writer that began to answer first
        self._durable_at: list[int] = []  # places among the pending events, as planned
        self._has_dropped = False  # some of the pending events would not have applied
        self._restart: str | None = None  # why the answer was asked for again, until it has begun again
        self._refused = ""  # the words with which the state of the first request was refused
        self._before = projection.transcript.get(source.answer.message_id)  # as it is until it has begun again
        self.ended_by_others = source.stopped or self._is_rewound()  # since the model was asked

    # -- collecting

    def take(self, item: Any) -> list[ev.LiveEvent] | None:
        """
        Take what the source has given. Return deltas that come alone, to be passed on at once, and collect all else.

        Nearly all chunks of a live stream hold one delta. `None` when events were collected, or no more will come.
        """
        # Any: bytes, parsed events, or events where the source has no decoder. A call of `cast` would count here.
        events: Any = item
        source = self.source
        if (decoder := source.decoder) is not None:
            events = decoder.feed(item) if item.__class__ is bytes else _decoded(decoder, item)
        if source.answer.terminal:
            self.finished = True
        elif self._restart is None and not self.ended_by_others:
            is_live = events[0].__class__ in _DELTAS if len(events) == 1 else _DELTAS.issuperset(map(type, events))
            if is_live:
                self._projection.take(events)  # no other writer closes a fragment without ending the stream
                return events  # type: ignore[no-any-return]
        self._collect(events)
        return None

    def end(self, reason: Exception) -> None:
        """Collect the events that end the answer: what the source has raised is its error, or its end."""
        if isinstance(reason, StopAsyncIteration | StopIteration):
            self._close(None)
            return
        decoder = self.source.decoder
        info = transport_error(reason, None if decoder is None else decoder.error_table)
        if info.kind == ErrorKind.UNKNOWN:
            # It may be a bug of the app, which only the traceback locates.
            name = self.source.answer.message_id
            _log.warning("the stream of message %r raised\n%s", name, traceback_text(reason))
        self._close(info)

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
        for place, event in enumerate(events) if self._refused else ():
            if isinstance(event, ev.StepEnded | ev.StepFailed):
                events[place] = attrs.evolve(event, details={**event.details, MARK: self._refused})
                self._refused = ""  # the state of this hop is sent with the next one
                break
        if self.pending or events.__class__ is not EventList:
            self.pending += events
        else:
            self.pending = events  # with its runs

    # -- asking again

    @property
    def refusal(self) -> ErrorInfo | None:
        """Why the provider refused the request, when that is all that has come; `None` otherwise."""
        last = self.pending[-1] if self.pending and self._refusable else None
        if not isinstance(last, ev.StepFailed) or not (last.error.kind in _REFUSALS or refusal_in(last.error)):
            return None
        return last.error if all(isinstance(event, _STARTS) for event in self.pending[:-1]) else None

    def ask_again(self, source: Source, error: ErrorInfo) -> None:
        """Forget the refused answer, and collect another one under its id."""
        if self._has_begun:
            self._restart = f"the provider does not continue the conversation: {error.message}"
        self.pending = []
        self.source = source
        self.finished = self._refusable = False
        self._refused = refusal_in(error)

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
        if self.sole and self._rival is not None and not (self._has_begun or self.ended_by_others):
            self.give_up()
            self.ended_by_others = True
            other = f"another writer has begun to answer, in message {self._rival!r}"
            raise LocalProtocolError(f"{other}; nothing of message {self.source.answer.message_id!r} was stored")
        self._durable_at = [at for at, event in enumerate(self.pending) if event.durable]
        if not self._stored and ev.StepStarted in map(type, self.pending):
            self._place_starts()
        trial = self._projection.trial()
        # Any: durable events. To narrow them by a call for each event would count.
        new: list[Any] = [self.pending[at] for at in self._durable_at[len(self._stored) :]]  # those not in the log yet
        kept = [trial.apply(event) in KEPT for event in new]
        if not all(kept):
            self._drop(new, kept)
            new = list(compress(new, kept))
        self.sent = Batch(tuple(new), self._projection.seq, trial)
        return self.sent

    def _place_starts(self) -> None:
        """Put what starts before the prompts that it has not read."""
        unread = next((message.id for message in self._later() if isinstance(message, UserMessage)), None)
        for at in self._durable_at:
            event = self.pending[at]
            if isinstance(event, ev.StepStarted) and event.before != unread:
                self.pending[at] = attrs.evolve(event, before=unread)

    def _later(self) -> Sequence[Message]:
        """Return what is behind the messages of the answer so far, or behind the last one when the model was asked."""
        messages = self._projection.transcript.messages
        own = [place for place, message in enumerate(messages) if self._is_own(message)]
        known = own or [place for place, message in enumerate(messages) if message.id == self.source.after]
        return messages[known[-1] + 1 :] if known else messages

    def _is_own(self, message: Message) -> bool:
        """Return whether a message is of this answer; hop n of `m` is `m.n`."""
        name, _, hop = message.id.rpartition(".")
        is_hop = name in self.message_ids and hop.isdecimal() and isinstance(message, AssistantMessage)
        return message.id in self.message_ids or is_hop

    def _drop(self, new: list[StoredEvent], kept: list[bool]) -> None:
        """Drop those of the *new* pending events that are not *kept*: they would not apply."""
        for event in compress(new, map(not_, kept)):
            if isinstance(event, ev.StepStarted):
                self.give_up()
                raise LocalProtocolError(
                    f"message {event.message_id!r} exists already; "
                    "to continue it, pass the message as prior to the decoder; otherwise use another id"
                )
            if isinstance(event, ev.StepRestarted):  # what follows belongs to another answer
                self.give_up()
                self.ended_by_others = True
                raise LocalProtocolError(
                    f"message {event.message_id!r} cannot begin again: the app has run a call of it meanwhile"
                )
        flags = chain(repeat(True, len(self._stored)), kept)
        self.pending = [event for event in self.pending if not event.durable or next(flags)]
        self._has_dropped = True

    def give_up(self) -> None:
        """Store and pass on nothing more."""
        self.pending = []
        self.finished = True

    def accept(self, batch: Batch, records: Sequence[ev.Record]) -> Accepted:
        """Apply the stored *records* of *batch*, and what came between them."""
        seqs = [*self._stored, *[record.seq for record in records]]
        self.message_ids = self.message_ids.union([event.message_id for event in batch.events])
        if self._stored or self._has_dropped or not _EXPECTED.issuperset(map(type, self.pending)):
            accepted = self._apply_each(records, seqs)
        else:  # all of it is in place
            accepted = Accepted(self.pending, seqs, records)
            items: Any = EventList(self.pending)  # Any: `extend` takes events and records
            for at, record in zip(self._durable_at, records, strict=True):
                items[at] = record
            self._projection.extend(items)
        self._refusable = self._refusable and all(isinstance(event, _STARTS) for event in accepted.events)
        self.pending = []
        self._stored = []
        self._has_dropped = False
        self.sent = None
        self.parked = False
        self._projection.committed(batch)
        return accepted

    def _apply_each(self, records: Sequence[ev.Record], seqs: Sequence[int]) -> Accepted:
        """Apply the pending events, the durable ones as their records, and take those that are in place."""
        new = iter(records)
        stored = [event for event in self.pending if event.durable][: len(self._stored)]  # these are applied already
        passed_on: list[ev.Event] = []
        published: list[ev.Record | ev.LiveEvent] = []
        for event in self.pending:
            if not is_durable(event):
                if _has_ended(event, stored):
                    passed_on.append(event)
                elif self._projection.apply(event) is Outcome.APPLIED:
                    passed_on.append(event)
                    published += [event] if isinstance(event, ev.ToolProgress) else []
                continue
            if stored:
                del stored[0]
                self.message_ids = self.message_ids | {event.message_id}
            else:
                published.append(record := next(new))
                self._projection.apply(record)
            passed_on.append(event)
        return Accepted(passed_on, seqs, published)

    def pass_live(self) -> Accepted | None:
        """Apply the pending events when all are live; `None` when some have to be stored first."""
        if not _LIVE.issuperset(map(type, self.pending)):
            return None
        accepted = self._apply_each((), ())
        self.pending = []
        return accepted

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
        if after > known:  # the records between are pruned
            self._look_at_transcript()
        self.notice([record for record in records if record.seq > known])

    def _look_at_transcript(self) -> None:
        """Learn from the transcript alone what others did."""
        answers = [message for message in self._later() if isinstance(message, AssistantMessage)]
        messages = self._projection.transcript.messages
        own = [message for message in messages if self._is_own(message) and message != self._before]
        self._contested |= any(message.status is MessageStatus.FAILED for message in own)
        self._rival = answers[0].id if answers else None
        self.ended_by_others |= self._is_rewound() or any(map(is_cancelled, own)) or any(map(_is_stop, answers))

    def notice(self, records: Sequence[ev.Record]) -> None:
        """Look at *records* of others: they may end the answer, and must not write it."""
        for record in records:
            event = record.event
            if isinstance(event, ev.HistoryRewound):
                self.ended_by_others |= self._is_rewound()
            elif event.message_id not in self.message_ids:
                if isinstance(event, ev.StepStarted):
                    self._rival = event.message_id
                self.ended_by_others |= _is_stop(self._projection.transcript.get(event.message_id or ""))
            elif isinstance(event, _FROM_OUTSIDE):
                continue
            elif isinstance(event, ev.StepFailed) and event.error.kind == ErrorKind.CANCELLED:
                self.ended_by_others = True
            else:
                self._contested = True

    def _is_rewound(self) -> bool:
        """Return whether the answer is rewound; before it has begun, also what it comes after, or one begun instead."""
        rival = self._rival if self.sole else None
        names = self.message_ids if self._has_begun else {*self.message_ids, self.source.after, rival}
        return not self._projection.transcript.rewound.isdisjoint(names)


def _has_ended(event: ev.Event, stored: Sequence[ev.Event]) -> bool:
    """Return whether the fragment of a delta has ended in the log; another one of its kind may be open there."""
    return bool(stored) and isinstance(event, ev.DeltaEvent) and not open_deltas([event], stored, tuple)


def _is_stop(message: Message | None) -> bool:
    """Return whether a message is what a stop leaves where nothing runs: before an answer, or between its messages."""
    return message is not None and is_cancelled(message) and not message.parts


@final
class Receivers:
    """The receivers of a session: those that receive, and those whose events could not be stored."""

    def __init__(self, projection: Projection) -> None:
        self.projection = projection
        # Their streams keep them: one that cannot be entered again is forgotten, and so is its connection.
        # Replaced and never changed: threads look at them while others begin and leave.
        self._all: WeakSet[StreamReceiver] = WeakSet()
        self._lock = Lock()
        self.asking: dict[object, str] = {}
        """By stream, ids of the messages that are asked for: a synchronous client waits for the first byte."""

    @property
    def message_ids(self) -> set[str | None]:
        """Ids of the messages that are being received."""
        return {name for receiver in self._all if receiver.active for name in receiver.message_ids}

    @property
    def ended_by_others(self) -> bool:
        """Whether another writer has ended an answer that is being received."""
        return any(one.active and one.ended_by_others for one in self._all)

    @property
    def asked_for(self) -> str | None:
        """Id of a message that is asked for, or whose answer is being received and has not been stored to its end."""
        open_ = [one for one in self._all if one.active and not one.ended_by_others]
        received = [one.source.answer.message_id for one in open_ if one.pending or not one.finished]
        return next(iter([*self.asking.values(), *received]), None)

    async def begin(self, source: Source, *, sole: bool) -> StreamReceiver:
        """Return a new receiver, unless another one receives the message."""
        name = source.answer.message_id
        with self._lock:
            if name in self.message_ids:
                raise LocalProtocolError(f"message {name!r} is being received already; leave that block first")
            receiver = StreamReceiver(self.projection, source, sole=sole)
            self._all = WeakSet([*self._all, receiver])
        await self.abandon(name)
        return receiver

    def cancellation(self, name: str, client: Client | None) -> list[ev.DurableEvent]:
        """Return the events of `cancellation`, with the usage so far of what is received here."""
        usages = {one.source.answer.message_id: one.source.usage for one in self._all if one.active}
        return [
            attrs.evolve(event, usage=usages.get(event.message_id)) if isinstance(event, ev.StepFailed) else event
            for event in cancellation(self.projection.transcript, name, client)
        ]

    def leave(self, receiver: StreamReceiver) -> None:
        """End receiving; what could not be stored is kept."""
        receiver.active = False
        if not receiver.pending:
            self._forget(receiver)

    async def abandon(self, name: str | None = None) -> None:
        """Close what could not be stored, of all messages or of one: it cannot be received again."""
        for one in [one for one in self._all if not one.active and (name is None or name in one.message_ids)]:
            one.parked = False
            self._forget(one)
            await one.source.close()

    def _forget(self, receiver: StreamReceiver) -> None:
        with self._lock:
            self._all = WeakSet([one for one in self._all if one is not receiver])

    def confirmed_to(self, known: int) -> int:
        """Return from which `seq`, at most *known*, the log has to be read to find batches that are not confirmed."""
        return min([known, *[batch.after for one in self._all if (batch := one.sent) is not None]])

    @property
    def confirmed_ids(self) -> set[str | None]:
        """Ids of the messages that are being received, of those of which all that was sent is known to be stored."""
        return {name for one in self._all if one.active and one.sent is None for name in one.message_ids}

    def stored(self, batch: Batch) -> None:
        """Learn that *batch* is in the log, and that others that were sent for its place are not."""
        for receiver in self._all:
            if receiver.sent is not None and receiver.sent is not batch and receiver.sent.after == batch.after:
                receiver.sent = None

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


def _decoded(decoder: DecoderBase, item: object) -> list[ev.Event]:
    if isinstance(item, BYTES):
        return decoder.feed(cast("bytes", item))
    if isinstance(item, str):
        raise TypeError("chunks: expected bytes or parsed events, got str; iterate over bytes, not text or lines")
    return decoder.feed_event(item)
