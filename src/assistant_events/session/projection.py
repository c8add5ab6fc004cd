"""The current transcript of a session: its records, and the live events since."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from threading import RLock
from typing import Final, final

import attrs

from assistant_events import events as ev
from assistant_events import messages as msg
from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event, Record
from assistant_events.lifecycle import Outcome
from assistant_events.reducer import Builder, describe, explain
from assistant_events.stores.contract import StoredEvent
from assistant_events.values.buffers import Buffer

STORED: Final = (*ev.DURABLE_EVENTS, ev.UnknownEvent)
"""Classes of events that a log can contain."""

KEPT: Final = frozenset({Outcome.APPLIED, Outcome.IGNORED})
"""Outcomes of events that are stored: events in place, and events unknown to this version."""

_CONTENT: Final = frozenset[type](
    {
        ev.TextStarted,
        ev.TextEnded,
        ev.ReasoningStarted,
        ev.ReasoningEnded,
        ev.MediaStarted,
        ev.MediaEnded,
        ev.ToolInputStarted,
        ev.ToolInputEnded,
        ev.ToolCalled,
        ev.ToolApprovalRequested,
        ev.ToolApproved,
        ev.OpaqueReceived,
        ev.UnknownEvent,
    }
)
"""Events that change nothing of what is unfinished: what comes while a step runs, and approvals."""

_MOST: Final = 64
"""Maximum number of deltas that came one at a time and wait to be folded together."""


@final
class Trial:
    """The transcript as it will be when the events of a batch are stored."""

    def __init__(self, start: msg.Transcript) -> None:
        self._builder = Builder(start)
        # By message and call; `None` before it is asked for, and after an event that may change all of it.
        self._unfinished: dict[tuple[str, str | None], msg.Unfinished] | None = None

    def apply(self, event: StoredEvent) -> Outcome:
        """Apply one event that is to be stored."""
        outcome = self._builder.apply(event)
        if outcome is Outcome.APPLIED and event.__class__ not in _CONTENT and not self._has_followed(event):
            self._unfinished = None
        return outcome

    def unfinished(self) -> tuple[msg.Unfinished, ...]:
        """
        Return `Transcript.unfinished` after the events.

        From the start of a step to its end it changes only with the calls that the app starts, and then with each
        result, however many events come between and however many calls there are.
        """
        if self._unfinished is None:
            left = self._builder.transcript.unfinished()
            self._unfinished = {(each.message_id, each.call_id): each for each in left}
        return tuple(self._unfinished.values())

    def _has_followed(self, event: StoredEvent) -> bool:
        """Let what is unfinished follow the start or the result of one call; return whether nothing else changes."""
        left = self._unfinished
        if left is None or not isinstance(event, ev.ToolStarted | ev.ToolSuccess | ev.ToolFailed):
            return False
        name = event.message_id, event.call_id
        is_named, call = (event.message_id, None) in left, left.get(name)
        if isinstance(event, ev.ToolStarted):
            if call is not None:
                left[name] = attrs.evolve(call, is_outcome_unknown=True)
            return call is not None
        if not is_named and (call is None or len(left) == 1):
            return False  # the last result makes it the move of the model
        left.pop(name, None)
        return True


@final
@attrs.frozen
class Batch:
    """Events to append."""

    events: tuple[StoredEvent, ...]
    after: int  # `seq` of the record before them
    trial: Trial  # has applied them


@final
class Projection:
    """
    A transcript that records and live events update.

    A thread may read it at any time: what streams does not wait for the operations of the session.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._deltas: deque[ev.LiveEvent] = deque()
        """Deltas that are not folded yet: they come one at a time, and few of them are looked at."""

        self._builder = Builder()
        self._transcript: msg.Transcript | None = None
        self._reusable: tuple[int, Trial] | None = None

    @property
    def transcript(self) -> msg.Transcript:
        """The current transcript; the same object until the next update."""
        with self._lock:
            self._fold_deltas()
            if self._transcript is None:
                self._transcript = self._builder.transcript
            return self._transcript

    @property
    def seq(self) -> int:
        """`seq` of the last record; 0 when there was none."""
        return self._builder.seq

    def open_text(self) -> list[tuple[str, object, Buffer[str]]]:
        """See `Builder.open_text`."""
        with self._lock:
            self._fold_deltas()
            return self._builder.open_text()

    def start_from(self, snapshot: msg.Transcript) -> None:
        """Replace everything by *snapshot*."""
        with self._lock:
            self._builder = Builder(snapshot)
            self._transcript = None
            self._reusable = None

    def extend(self, records: Iterable[Event | Record]) -> None:
        """Apply records, or live events; known ones change nothing."""
        with self._lock:
            self._fold_deltas()
            self._builder.extend(records)
            self._transcript = None

    def take(self, deltas: list[ev.LiveEvent]) -> None:
        """Apply deltas of an answer that streams, one alone not before something looks."""
        if len(deltas) != 1:
            self.extend(deltas)
            return
        self._deltas.append(deltas[0])
        if len(self._deltas) >= _MOST:
            with self._lock:
                self._fold_deltas()

    def _fold_deltas(self) -> None:
        if self._deltas:
            self._builder.extend([self._deltas.popleft() for _ in range(len(self._deltas))])
            self._transcript = None

    def apply(self, item: Event | Record) -> Outcome:
        """Apply one record or one live event."""
        with self._lock:
            self._fold_deltas()
            self._transcript = None
            return self._builder.apply(item)

    def trial(self) -> Trial:
        """Return a trial at the current state; a `committed` one is used again."""
        reusable, self._reusable = self._reusable, None
        return reusable[1] if reusable is not None and reusable[0] == self.seq else Trial(self.transcript)

    def committed(self, batch: Batch) -> None:
        """Keep the trial of *batch* for the next one: its records were stored and applied here."""
        self._reusable = (self.seq, batch.trial)

    def admit(self, events: Sequence[Event]) -> Batch:
        """
        Return a batch of *events* without duplicates.

        Raises:
            LocalProtocolError: One is live, or out of place.

            TypeError: One is something else.
        """
        trial = self.trial()
        kept: list[StoredEvent] = []
        for event in events:
            if not isinstance(event, STORED):
                if isinstance(event, ev.LIVE_EVENTS):
                    raise LocalProtocolError(f"{describe(event)} is a live event; append durable events only")
                raise TypeError(
                    f"expected an event, got {type(event).__name__}; give several as arguments of their own"
                )
            outcome = trial.apply(event)
            if outcome in KEPT:
                kept.append(event)
            elif outcome is not Outcome.DUPLICATE:
                raise LocalProtocolError(explain(event, outcome))
        return Batch(tuple(kept), self.seq, trial)

    def recorded(self) -> msg.Transcript:
        """Return the transcript of the records alone, without the live events since."""
        transcript = self.transcript  # a thread may update it
        return attrs.evolve(transcript, messages=tuple([_recorded(message) for message in transcript.messages]))


def _recorded(message: msg.Message) -> msg.Message:
    if isinstance(message, msg.AssistantMessage):
        return attrs.evolve(message, parts=tuple([_recorded_part(part) for part in message.parts]))
    if isinstance(message, msg.CompactionMessage) and message.status is msg.MessageStatus.RUNNING:
        return attrs.evolve(message, text="")
    return message


def _recorded_part(part: msg.Part) -> msg.Part:
    if isinstance(part, msg.TextPart | msg.ReasoningPart) and part.status is msg.PartStatus.STREAMING:
        return attrs.evolve(part, text="")
    if isinstance(part, msg.MediaPart) and part.status is msg.PartStatus.STREAMING:
        return attrs.evolve(part, data=None)
    if isinstance(part, msg.ToolPart) and part.input_status is msg.PartStatus.STREAMING:
        return attrs.evolve(part, raw_input="")
    if isinstance(part, msg.ToolPart) and part.status is msg.CallStatus.CALLED:
        return attrs.evolve(part, output=())  # progress
    return part
