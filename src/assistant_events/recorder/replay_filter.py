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
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import assert_never, cast

from assistant_events import events as ev
from assistant_events import messages as msg
from assistant_events.values import ErrorInfo, ErrorKind

_AFTER_CUT = "the stream was rejoined after a cut"
_CONTRADICTED = "the replay differs from what was recorded"


class _ContradictionError(Exception):
    """The replay differs from what was recorded."""


class ReplayFilter:
    """Compares a replay with the message that was recorded before, and lets through what is new."""

    def __init__(self, prior: msg.AssistantMessage) -> None:
        self._prior = prior
        self._parts = prior.parts
        self._status = msg.MessageStatus.FAILED if _half_closed(prior) else prior.status
        self._acted = any(call.answered or call.attempt for call in prior.tool_calls)
        self._recorded_size = sum(_size(part) for part in prior.parts)
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
        self._open: dict[str, int] = {}
        self._calls: dict[str, int] = {}
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
        self.sealed = self.sealed or self._acted
        return ends

    def answered(self) -> list[str]:
        """Return the ids of the calls that the app has answered already, which no replay knows."""
        return [call.call_id for call in self._prior.tool_calls if call.answered]

    def _admit(self, event: ev.Event) -> list[ev.Event]:
        if self.sealed:
            return []
        if self._status is msg.MessageStatus.FAILED and self._acted:
            return self._contradict()
        self._history.append(event)
        if not self._contradicted:
            try:
                self._compare(event)
            except _ContradictionError:
                self._contradicted = True
                if self._status is msg.MessageStatus.RUNNING:
                    return self._contradict()
        self._size += _said(event)
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

    def _contradict(self) -> list[ev.Event]:
        if not self._acted:
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
        match event:
            case ev.StepStarted():
                run, before = event.run, self._prior.run
                if run is not None and before is not None and run.id != before.id:
                    raise _ContradictionError
            case ev.TextStarted() | ev.ReasoningStarted() | ev.MediaStarted() | ev.OpaqueReceived():
                self._compare_start(event)
            case ev.TextDelta() | ev.ReasoningDelta() | ev.MediaDelta():
                self._compare_delta(event)
            case ev.TextEnded() | ev.ReasoningEnded() | ev.MediaEnded():
                self._compare_end(event)
            case ev.ToolInputStarted():
                self._compare_call_start(event)
            case ev.ToolCalled() if event.call_id not in self._calls:
                self._compare_call_start(event)
                self._compare_call(event)
            case (
                ev.ToolInputDelta()
                | ev.ToolInputEnded()
                | ev.ToolCalled()
                | ev.ToolProgress()
                | ev.ToolSuccess()
                | ev.ToolFailed()
            ):
                self._compare_call(event)
            case _:
                self._fresh.append(event)

    def _place(self, event: ev.Event) -> tuple[int, msg.Part | None]:
        place = self._count
        self._count += 1
        if place < len(self._parts):
            return place, self._parts[place]
        self._fresh.append(event)
        return place, None

    def _compare_start(self, event: ev.TextStarted | ev.ReasoningStarted | ev.MediaStarted | ev.OpaqueReceived) -> None:
        place, part = self._place(event)
        kind = event.type.partition(".")[0]
        self._open[kind] = place
        if part is None:
            return
        if isinstance(part, msg.ToolPart) or part.type != kind:
            raise _ContradictionError
        if isinstance(part, msg.OpaquePart):
            if part.state != event.state:  # type: ignore[union-attr]  # both are opaque
                raise _ContradictionError
            self._passed.add(place)
        elif not _content(part) and not self._is_final(part):
            self._passed.add(place)

    def _compare_delta(self, event: ev.TextDelta | ev.ReasoningDelta | ev.MediaDelta) -> None:
        place = self._open[event.type.partition(".")[0]]
        if place >= len(self._parts):
            self._fresh.append(event)
            return
        part = cast("msg.TextPart | msg.ReasoningPart | msg.MediaPart", self._parts[place])
        if self._is_final(part):
            return  # its end repeats all of it
        rest = _beyond(_content(part), event.offset, event.delta)
        if rest:
            length = len(_content(part))
            start = max(event.offset, length)
            if isinstance(event, ev.MediaDelta):
                self._fresh.append(ev.MediaDelta(message_id=event.message_id, offset=start, delta=cast(bytes, rest)))
            else:
                cls = event.__class__
                self._fresh.append(cls(message_id=event.message_id, offset=start, delta=cast(str, rest)))
        if event.offset + len(event.delta) >= len(_content(part)):
            self._passed.add(place)

    def _compare_end(self, event: ev.TextEnded | ev.ReasoningEnded | ev.MediaEnded) -> None:
        place = self._open.pop(event.type.partition(".")[0])
        if place >= len(self._parts):
            self._fresh.append(event)
            return
        part = cast("msg.TextPart | msg.ReasoningPart | msg.MediaPart", self._parts[place])
        if self._is_final(part):
            if not _same_end(part, event):
                raise _ContradictionError
        else:
            whole = (event.data or b"") if isinstance(event, ev.MediaEnded) else event.text
            if not whole.startswith(_content(part)):  # type: ignore[arg-type]  # both are text or both are bytes
                raise _ContradictionError
            self._fresh.append(event)
        self._passed.add(place)

    def _is_final(self, part: msg.TextPart | msg.ReasoningPart | msg.MediaPart) -> bool:
        """Whether the provider ended this part. In a failed message, an incomplete one was ended by the cut."""
        return part.status is msg.PartStatus.COMPLETED or (
            part.status is msg.PartStatus.INCOMPLETE and self._status is msg.MessageStatus.RUNNING
        )

    def _compare_call_start(self, event: ev.ToolInputStarted | ev.ToolCalled) -> None:
        place = self._count
        part = self._parts[place] if place < len(self._parts) else None
        self._calls[event.call_id] = place
        self._count += 1
        if part is None:
            if isinstance(event, ev.ToolInputStarted):
                self._fresh.append(event)
            return
        if not isinstance(part, msg.ToolPart) or (part.call_id, part.name) != (event.call_id, event.name):
            raise _ContradictionError
        if isinstance(event, ev.ToolCalled) and part.input_status is msg.PartStatus.STREAMING:
            raise _ContradictionError  # an input that was recorded in pieces now comes whole, and would stay open
        is_open = part.input_status is msg.PartStatus.STREAMING
        if not part.raw_input and (
            is_open or (part.input_status is msg.PartStatus.INCOMPLETE and not _has_final_input(part))
        ):
            self._passed.add(place)

    def _compare_call(
        self,
        event: ev.ToolInputDelta | ev.ToolInputEnded | ev.ToolCalled | ev.ToolProgress | ev.ToolSuccess | ev.ToolFailed,
    ) -> None:
        place = self._calls[event.call_id]
        if place >= len(self._parts):
            self._fresh.append(event)
            return
        part = cast(msg.ToolPart, self._parts[place])
        passed = False
        match event:
            case ev.ToolInputDelta():
                passed = self._compare_input_delta(event, part)
            case ev.ToolInputEnded():
                passed = self._compare_input_end(event, part)
            case ev.ToolCalled():
                passed = self._compare_called(event, part)
            case ev.ToolProgress():
                pass
            case ev.ToolSuccess() | ev.ToolFailed():
                self._compare_answer(event, part)
                passed = True
            case _ as never:
                assert_never(never)
        if passed:
            self._passed.add(place)

    def _compare_input_delta(self, event: ev.ToolInputDelta, part: msg.ToolPart) -> bool:
        if _has_final_input(part):
            return False  # its end repeats all of it
        rest = _beyond(part.raw_input, event.offset, event.delta)
        if rest and part.input_status is msg.PartStatus.STREAMING:
            start = max(event.offset, len(part.raw_input))
            self._fresh.append(
                ev.ToolInputDelta(
                    message_id=event.message_id, call_id=event.call_id, offset=start, delta=cast(str, rest)
                )
            )
        return event.offset + len(event.delta) >= len(part.raw_input)

    def _compare_input_end(self, event: ev.ToolInputEnded, part: msg.ToolPart) -> bool:
        if _has_final_input(part):
            if event.text != part.raw_input:
                raise _ContradictionError
            return part.status is msg.CallStatus.STREAMING
        if not event.text.startswith(part.raw_input):
            raise _ContradictionError
        if part.input_status is msg.PartStatus.STREAMING:
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

    def _compare_answer(self, event: ev.ToolSuccess | ev.ToolFailed, part: msg.ToolPart) -> None:
        if not part.settled:
            self._fresh.append(event)
            return
        if _was_cut(part):
            return
        succeeded = isinstance(event, ev.ToolSuccess)
        same = part.status is (msg.CallStatus.SUCCESS if succeeded else msg.CallStatus.FAILED)
        if not same or (part.output, part.details, part.result_state) != (event.output, event.details, event.state):
            raise _ContradictionError


def _content(part: msg.TextPart | msg.ReasoningPart | msg.MediaPart) -> str | bytes:
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


def _has_final_input(call: msg.ToolPart) -> bool:
    """Whether the provider ended the input, and not a cut."""
    if call.input_status is msg.PartStatus.INCOMPLETE:
        return call.settled and not _was_cut(call)
    return call.input_status is msg.PartStatus.COMPLETED


def _was_cut(call: msg.ToolPart) -> bool:
    return call.error is not None and call.error.kind == ErrorKind.INTERRUPTED


def _same_end(
    part: msg.TextPart | msg.ReasoningPart | msg.MediaPart, event: ev.TextEnded | ev.ReasoningEnded | ev.MediaEnded
) -> bool:
    if part.state != event.state or event.complete is not (part.status is msg.PartStatus.COMPLETED):
        return False
    if isinstance(part, msg.TextPart):
        return isinstance(event, ev.TextEnded) and (part.text, part.citations, part.details) == (
            event.text,
            event.citations,
            event.details,
        )
    if isinstance(part, msg.ReasoningPart):
        return isinstance(event, ev.ReasoningEnded) and part.text == event.text
    return isinstance(event, ev.MediaEnded) and (part.data, part.uri) == (event.data, event.uri)


def _beyond(recorded: str | bytes, offset: int, delta: str | bytes) -> str | bytes:
    """Return what of *delta* lies beyond what was recorded; what lies inside must be the same."""
    inside = len(recorded) - offset
    if inside > 0 and recorded[offset : offset + len(delta)] != delta[:inside]:
        raise _ContradictionError
    return delta[max(inside, 0) :]


def _size(part: msg.Part) -> int:
    match part:
        case msg.TextPart() | msg.ReasoningPart():
            return 1 + len(part.text)
        case msg.MediaPart():
            return 1 + len(part.data or b"")
        case msg.ToolPart():
            return 1 + len(part.raw_input) + part.settled
        case msg.OpaquePart():
            return 1
        case _ as never:
            assert_never(never)


def _said(event: ev.Event) -> int:
    match event:
        case ev.TextDelta() | ev.ReasoningDelta() | ev.MediaDelta() | ev.ToolInputDelta():
            return len(event.delta)
        case (
            ev.TextStarted()
            | ev.ReasoningStarted()
            | ev.MediaStarted()
            | ev.OpaqueReceived()
            | ev.ToolInputStarted()
            | ev.ToolSuccess()
        ):
            return 1
        case _:
            return 0
