"""
A replay of a step that was recorded before, at least in part.

The recorder is driven from the start of the step as if nothing had been. What comes out is compared with the message
as it was recorded, and only new events are returned:

- A running message is continued. Where the replay differs from what was recorded, the message is restarted.
- A message that failed was closed by a cut. Nothing is returned until the replay has passed all of it, then the
  message is restarted and the whole replay follows. So a replay that fails never leaves less than there was. The same
  holds when the closing itself was cut.
- A message that completed needs nothing.
- A message with a call that the app has started or answered is never restarted.
- A replay that restarts is compared from there: what came before is void.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, TypeAlias

import attrs

from assistant_events import events as ev
from assistant_events import messages as msg
from assistant_events.values import ErrorInfo, ErrorKind

_AFTER_CUT = "the stream was rejoined after a cut"
_CONTRADICTED = "the replay differs from what was recorded"


_Begin: TypeAlias = ev.TextStarted | ev.ReasoningStarted | ev.MediaStarted | ev.OpaqueReceived | ev.ToolInputStarted
_Delta: TypeAlias = ev.TextDelta | ev.ReasoningDelta | ev.MediaDelta | ev.ToolInputDelta
_End: TypeAlias = ev.TextEnded | ev.ReasoningEnded | ev.MediaEnded | ev.ToolInputEnded
_OfPart: TypeAlias = _Begin | _Delta | _End | ev.ToolCalled | ev.ToolProgress | ev.ToolSuccess | ev.ToolFailed
_WithContent: TypeAlias = msg.TextPart | msg.ReasoningPart | msg.MediaPart | msg.ToolPart


class _ContradictionError(Exception):
    """The replay differs from what was recorded."""


class ReplayFilter:
    """Compares a replay with the message that was recorded before, and lets through what is new."""

    def __init__(self, prior: msg.AssistantMessage) -> None:
        self._prior = prior
        self._parts = prior.parts
        self._status = msg.MessageStatus.FAILED if _half_closed(prior) else prior.status
        self.acted = prior.acted
        """Whether the app has started or answered a call."""

        self._recorded_size = sum(_part_size(part) for part in prior.parts)
        self.sealed = prior.status is msg.MessageStatus.COMPLETED
        """Whether nothing of the replay can go on any more: the message stays as it is."""
        self._begin()

    def another(self) -> ReplayFilter:
        """Return what compares one more replay with the same message, which is not looked through again."""
        made = copy(self)
        made._begin()
        return made

    def _begin(self) -> None:
        self._history: list[ev.Event] = []
        self._fresh: list[ev.Event] = []
        self._passed: set[int] = set()
        self._count = 0
        # Places of parts, by the first word of the type of their events, and the id of a call.
        self._places: dict[tuple[str, str], int] = {}
        self._contradicted = False
        self._size = 0
        self.over = False
        """Whether the replay has passed what was recorded: everything from now on is new."""

    def admit(self, events: Sequence[ev.Event]) -> list[ev.Event]:
        """Return the events that are new."""
        admitted: list[ev.Event] = []
        for at, event in enumerate(events):
            admitted += self._admit(event)
            if self.over:
                answered = set(self.answered())
                return [*admitted, *[each for each in events[at + 1 :] if not _answers(each, answered)]]
        return admitted

    def closing(self, error: ErrorInfo) -> list[ev.Event]:
        """Return the events that close the message as it was recorded, unless that has been done."""
        ends: list[ev.Event] = [] if self.sealed else [*msg.close_message(self._prior, error)]
        self.sealed = self.sealed or self.acted
        return ends

    def answered(self) -> list[str]:
        """Return the ids of the calls that the app has answered already, which no replay knows."""
        return [call.call_id for call in self._prior.tool_calls if call.answered]

    def _admit(self, event: ev.Event) -> list[ev.Event]:
        if self.sealed:
            return []
        if self._status is msg.MessageStatus.FAILED and self.acted:
            return self._contradict()
        event = self._remember(event)
        if not self._contradicted:
            try:
                self._compare(event)
            except _ContradictionError:
                self._contradicted = True
                if self._status is msg.MessageStatus.RUNNING:
                    return self._contradict()
        self._size += _event_size(event)
        ended = isinstance(event, ev.StepEnded)
        if self._contradicted:
            # What was recorded cannot be matched any more; only a replay with at least as much content may replace it.
            return self._restart(_CONTRADICTED) if ended or self._size >= self._recorded_size else []
        if len(self._passed) < len(self._parts) and not ended:
            return []
        if self._status is msg.MessageStatus.FAILED:
            return self._restart(_AFTER_CUT)
        if len(self._passed) < len(self._parts):
            return self._contradict()
        self.over = True
        return self._fresh

    def _remember(self, event: ev.Event) -> ev.Event:
        """Add an event to the history; after a restart this begins anew, with what the rest starts with."""
        if isinstance(event, ev.StepRestarted):
            first = self._history[0]
            assert isinstance(first, ev.StepStarted)  # the lifecycle allows nothing before it
            self._begin()
            event = attrs.evolve(first, origin=event.origin or first.origin, run=event.run, state=event.state)
        self._history.append(event)
        return event

    def _contradict(self) -> list[ev.Event]:
        if not self.acted:
            return self._restart(_CONTRADICTED)
        # A restart would void a call that the app has started or answered.
        error = ErrorInfo(kind=ErrorKind.PROTOCOL, message=f"{_CONTRADICTED}, and the app has run a call already")
        return self.closing(error)

    def _restart(self, reason: str) -> list[ev.Event]:
        self.over = True
        first, *rest = self._history
        assert isinstance(first, ev.StepStarted)  # the lifecycle allows nothing before it
        restarted = ev.StepRestarted(
            message_id=self._prior.id, reason=reason, origin=first.origin, run=first.run, state=first.state
        )
        return [restarted, *rest]

    # -- comparing one event with what was recorded

    def _compare(self, event: ev.Event) -> None:
        """Compare an event with the part that it belongs to; what lies beyond the recorded parts is new."""
        if isinstance(event, ev.StepStarted):
            run, before = event.run, self._prior.run
            if run is not None and before is not None and run.id != before.id:
                raise _ContradictionError
            return
        if not isinstance(event, _OfPart):
            self._fresh.append(event)
            return
        place, begins = self._place(event)
        if place >= len(self._parts):
            self._fresh.append(event)
            return
        # Any: a part that has the fields of these events; at the begin that is checked.
        part: Any = self._parts[place]
        passed = begins and self._compare_begin(event, part)
        match event:
            case ev.TextDelta() | ev.ReasoningDelta() | ev.MediaDelta() | ev.ToolInputDelta():
                passed = self._compare_delta(event, part)
            case ev.TextEnded() | ev.ReasoningEnded() | ev.MediaEnded() | ev.ToolInputEnded():
                passed = self._compare_end(event, part)
            case ev.ToolCalled():
                passed = self._compare_called(event, part) or passed
            case ev.ToolSuccess() | ev.ToolFailed():
                passed = self._compare_answer(event, part)
            case _:
                pass
        if passed:
            self._passed.add(place)

    def _place(self, event: _OfPart) -> tuple[int, bool]:
        """Return the place of the part of an event, and whether the event begins the part."""
        address = event.type.partition(".")[0], getattr(event, "call_id", "")
        begins = isinstance(event, _Begin) or (isinstance(event, ev.ToolCalled) and address not in self._places)
        if begins:
            self._places[address] = self._count
            self._count += 1
        return self._places[address], begins

    # Each returns whether the replay has now passed the part.

    def _compare_begin(self, event: ev.Event, part: msg.Part) -> bool:
        if part.type != event.type.partition(".")[0]:
            raise _ContradictionError
        if isinstance(part, msg.OpaquePart):
            if isinstance(event, ev.OpaqueReceived) and part.state != event.state:
                raise _ContradictionError
            return True
        if isinstance(event, (ev.ToolInputStarted, ev.ToolCalled)) and isinstance(part, msg.ToolPart):
            if (part.call_id, part.name) != (event.call_id, event.name):
                raise _ContradictionError
            if isinstance(event, ev.ToolCalled) and part.input_status is msg.PartStatus.STREAMING:
                raise _ContradictionError  # an input that was recorded in pieces now comes whole, and would stay open
        return not (_content(part) or self._is_final(part))

    def _compare_delta(self, event: _Delta, part: _WithContent) -> bool:
        if self._is_final(part):
            return False  # its end repeats all of it
        recorded = _content(part)
        inside = len(recorded) - event.offset
        if inside > 0 and recorded[event.offset : event.offset + len(event.delta)] != event.delta[:inside]:
            raise _ContradictionError
        rest: Any = event.delta[max(inside, 0) :]  # Any: text or bytes, as the delta has
        if rest and msg.content_status(part) is msg.PartStatus.STREAMING:
            self._fresh.append(attrs.evolve(event, offset=max(event.offset, len(recorded)), delta=rest))
        return event.offset + len(event.delta) >= len(recorded)

    def _compare_end(self, event: _End, part: _WithContent) -> bool:
        if self._is_final(part):
            if not _same_end(part, event):
                raise _ContradictionError
            return not isinstance(part, msg.ToolPart) or part.status is msg.CallStatus.STREAMING
        whole = (event.data or b"") if isinstance(event, ev.MediaEnded) else event.text
        if not whole.startswith(_content(part)):  # type: ignore[arg-type]  # both are text or both are bytes
            raise _ContradictionError
        if msg.content_status(part) is msg.PartStatus.STREAMING:
            self._fresh.append(event)
        return True

    def _compare_called(self, event: ev.ToolCalled, part: msg.ToolPart) -> bool:
        cut = _was_cut(part)
        if part.input is not None:
            if event.input != part.input:
                raise _ContradictionError
            return part.status is msg.CallStatus.CALLED or cut or not part.provider_executed
        if part.status is msg.CallStatus.STREAMING:
            self._fresh.append(event)
        elif not cut:
            raise _ContradictionError
        return cut

    def _compare_answer(self, event: ev.ToolSuccess | ev.ToolFailed, part: msg.ToolPart) -> bool:
        if not part.settled:
            self._fresh.append(event)
        elif not _was_cut(part):
            succeeded = isinstance(event, ev.ToolSuccess)
            same = part.status is (msg.CallStatus.SUCCESS if succeeded else msg.CallStatus.FAILED)
            if not same or (part.output, part.details, part.result_state) != (event.output, event.details, event.state):
                raise _ContradictionError
        return True

    def _is_final(self, part: _WithContent) -> bool:
        """Whether the provider ended the content of this part. In a failed message, a cut ended what is incomplete."""
        status = msg.content_status(part)
        if status is not msg.PartStatus.INCOMPLETE:
            return status is not msg.PartStatus.STREAMING
        if isinstance(part, msg.ToolPart):
            return part.settled and not _was_cut(part)
        return self._status is msg.MessageStatus.RUNNING


def _content(part: _WithContent) -> str | bytes:
    if isinstance(part, msg.ToolPart):
        return part.raw_input
    return (part.data or b"") if isinstance(part, msg.MediaPart) else part.text


def _half_closed(message: msg.AssistantMessage) -> bool:
    """Whether a running message was being closed when the log was cut: only a closing leaves such parts."""
    return message.status is msg.MessageStatus.RUNNING and any(
        (part.input_status is msg.PartStatus.INCOMPLETE and not part.settled) or _was_cut(part)
        if isinstance(part, msg.ToolPart)
        else isinstance(part, (msg.TextPart, msg.ReasoningPart)) and part.status is msg.PartStatus.INCOMPLETE
        for part in message.parts
    )


def _answers(event: ev.Event, call_ids: set[str]) -> bool:
    return isinstance(event, (ev.ToolSuccess, ev.ToolFailed)) and event.call_id in call_ids


def _was_cut(call: msg.ToolPart) -> bool:
    return call.error is not None and call.error.kind == ErrorKind.INTERRUPTED


def _same_end(part: Any, event: _End) -> bool:
    # Any: see `_compare`.
    same: bool
    match event:
        case ev.ToolInputEnded():
            return part.input_status is None or part.raw_input == event.text  # one that came whole: see the call
        case ev.TextEnded():
            same = (part.text, part.citations, part.details) == (event.text, event.citations, event.details)
        case ev.ReasoningEnded():
            same = part.text == event.text
        case ev.MediaEnded():
            same = (part.data, part.uri) == (event.data, event.uri)
    return same and part.state == event.state and event.complete is (part.status is msg.PartStatus.COMPLETED)


def _part_size(part: msg.Part) -> int:
    """Return the size of a part that was recorded, to compare it with what `_event_size` adds up to in a replay."""
    if isinstance(part, msg.OpaquePart):
        return 1
    return 1 + len(_content(part)) + (part.settled if isinstance(part, msg.ToolPart) else 0)


def _event_size(event: ev.Event) -> int:
    """Return how much an event of a replay brings: its delta, or one where a part begins or a call succeeds."""
    if isinstance(event, _Delta):
        return len(event.delta)
    return int(isinstance(event, _Begin | ev.ToolSuccess))
