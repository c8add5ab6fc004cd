"""An assistant message while events change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import attrs

from assistant_events import events as ev
from assistant_events import messages as msg
from assistant_events.lifecycle import CallPhase, FragmentPhase, KnownEvent, MessageLifecycle, MessagePhase, Outcome
from assistant_events.reducer import parts
from assistant_events.reducer.open_message import Change, Moment, OpenMessage, append
from assistant_events.reducer.parts import call_draft
from assistant_events.values.buffers import Buffer
from assistant_events.values.construct import constructor
from assistant_events.values.validators import NO_STATE

_opaque_part: Callable[..., msg.OpaquePart] = constructor(msg.OpaquePart)

_DELTAS: dict[str, type] = {"text": ev.TextDelta, "reasoning": ev.ReasoningDelta, "media": ev.MediaDelta}
_KINDS: dict[type, str] = {
    **dict.fromkeys((ev.TextStarted, ev.TextDelta, ev.TextEnded), "text"),
    **dict.fromkeys((ev.ReasoningStarted, ev.ReasoningDelta, ev.ReasoningEnded), "reasoning"),
    **dict.fromkeys((ev.MediaStarted, ev.MediaDelta, ev.MediaEnded), "media"),
}
_PHASES = {
    msg.MessageStatus.RUNNING: MessagePhase.RUNNING,
    msg.MessageStatus.COMPLETED: MessagePhase.ENDED,
    msg.MessageStatus.FAILED: MessagePhase.FAILED,
}

# Reading a member of an enum takes as long as a look-up in a table.
_APPLIED, _INPUT_OPEN = Outcome.APPLIED, CallPhase.INPUT_OPEN
_STEP_COMPLETED = msg.MessageStatus.COMPLETED
_STREAMING, _COMPLETED, _INCOMPLETE = msg.PartStatus.STREAMING, msg.PartStatus.COMPLETED, msg.PartStatus.INCOMPLETE
_CALL_STREAMING, _CALLED, _CALL_SUCCESS = msg.CallStatus.STREAMING, msg.CallStatus.CALLED, msg.CallStatus.SUCCESS


class OpenAnswer(OpenMessage):
    """An assistant message. It is a draft, as are those of its calls that can still change; see `parts`."""

    __slots__ = ("calls", "ended", "fragments", "parts")

    def __init__(self, at: int, base: Any, life: MessageLifecycle) -> None:
        # Any: a draft.
        super().__init__(at, base, life)
        self.parts: list[Any] = list(base.parts)
        """The parts; drafts of calls; `None` where a fragment is open."""

        self.calls: dict[str, int] = {}
        """The place of each call among the parts, by its id."""

        self.fragments: dict[str, tuple[int, msg.Times | None, str]] = {}
        """Open fragments by kind: their place, their times, and the media type of media."""

        self.ended: dict[type, int] = {}
        """The place of the part that ended last, by its class: its end may come again."""

    @classmethod
    def reopen(cls, at: int, base: msg.AssistantMessage) -> OpenAnswer:
        """Open a folded message, with the phases that its parts show."""
        life = MessageLifecycle(_PHASES[base.status])
        made = cls(at, parts.copy_of(base), life)
        made.frozen = base
        for place, part in enumerate(base.parts):
            if isinstance(part, msg.ToolPart):
                made.calls[part.call_id] = place
                if not part.settled:
                    made.parts[place] = parts.copy_of(part)
                if part.input_status is msg.PartStatus.STREAMING:
                    made.buffers[part.call_id] = Buffer("", part.raw_input)
                life.adopt_call(part, parts.call_phase(part))
            elif not isinstance(part, msg.OpaquePart):
                is_open = part.status is msg.PartStatus.STREAMING
                life.adopt_fragment(part.type, FragmentPhase.OPEN if is_open else FragmentPhase.CLOSED)
                if is_open:
                    made._reopen_fragment(place, part)
                else:
                    made.ended[part.__class__] = place
        return made

    def _reopen_fragment(self, place: int, part: msg.TextPart | msg.ReasoningPart | msg.MediaPart) -> None:
        if isinstance(part, msg.MediaPart):
            self.fragments[part.type] = (place, part.times, part.media_type)
            self.buffers[ev.MediaDelta] = cast("Buffer[str]", Buffer(b"", part.data))
        else:
            self.fragments[part.type] = (place, part.times, "")
            self.buffers[_DELTAS[part.type]] = Buffer("", part.text)

    def buffer_of(self, cls: type, key: Any) -> Buffer[str] | None:
        """See `OpenMessage.buffer_of`."""
        # Any: the id of a call, or a class.
        buffer = self.buffers.get(key)
        if buffer is None and (
            self.life.call(key) is _INPUT_OPEN if cls is ev.ToolInputDelta else _KINDS[cls] in self.fragments
        ):
            # Made late: where only durable events are folded, none is needed.
            empty: Any = b"" if cls is ev.MediaDelta else ""
            buffer = self.buffers[key] = Buffer(empty)
        return buffer

    # -- changes: the effect of each event that the lifecycle accepts

    def _append_delta(self, event: Any, moment: Moment) -> Outcome:
        # Any: a delta, recognised by its class.
        cls = event.__class__
        buffer = self.buffer_of(cls, event.call_id if cls is ev.ToolInputDelta else cls)
        assert buffer is not None, "the lifecycle accepts no delta otherwise"
        return append(buffer, event.offset, event.delta)

    def _start_fragment(self, event: Any, moment: Moment) -> Outcome:
        # Any: the start of a fragment, recognised by its class.
        media_type = event.media_type if event.__class__ is ev.MediaStarted else ""
        self.fragments[_KINDS[event.__class__]] = (len(self.parts), moment.began, media_type)
        self.parts.append(None)
        return _APPLIED

    def _end_fragment(self, event: ev.TextEnded | ev.ReasoningEnded | ev.MediaEnded, moment: Moment) -> Outcome:
        kind = _KINDS[event.__class__]
        place, times, _ = self.fragments.pop(kind)
        self.buffers.pop(_DELTAS[kind], None)
        part = self.parts[place] = parts.ended_part(event, moment.ends(times))
        self.ended[part.__class__] = place
        return _APPLIED

    def _add_opaque(self, event: ev.OpaqueReceived, moment: Moment) -> Outcome:
        self.parts.append(_opaque_part(state=event.state, times=moment.instant))
        return _APPLIED

    def _start_input(self, event: ev.ToolInputStarted, moment: Moment) -> Outcome:
        self.calls[event.call_id] = len(self.parts)
        self.parts.append(call_draft(self.id, event, _CALL_STREAMING, _STREAMING, moment.began))
        return _APPLIED

    def _end_input(self, event: ev.ToolInputEnded, moment: Moment) -> Outcome:
        self.buffers.pop(event.call_id, None)
        part = self.parts[self.calls[event.call_id]]
        part.raw_input = event.text
        part.input_status = _COMPLETED if event.complete else _INCOMPLETE
        part.state = event.state
        return _APPLIED

    def _call(self, event: ev.ToolCalled, moment: Moment) -> Outcome:
        place = self.calls.get(event.call_id)
        if place is None:
            part = call_draft(self.id, event, _CALLED, None, moment.began)
            self.calls[event.call_id] = len(self.parts)
            self.parts.append(part)
        else:
            part = self.parts[place]
            part.status = _CALLED
            part.provider_executed = part.provider_executed or event.provider_executed
        part.input = event.input
        if event.state is not NO_STATE and event.state:
            part.state = event.state
        return _APPLIED

    def _request_approval(self, event: ev.ToolApprovalRequested, moment: Moment) -> Outcome:
        part = self.parts[self.calls[event.call_id]]
        part.approval = msg.ApprovalStatus.REQUESTED
        part.approval_reason = event.reason
        return _APPLIED

    def _approve(self, event: ev.ToolApproved, moment: Moment) -> Outcome:
        self.parts[self.calls[event.call_id]].approval = msg.ApprovalStatus.APPROVED
        return _APPLIED

    def _start_call(self, event: ev.ToolStarted, moment: Moment) -> Outcome:
        self.parts[self.calls[event.call_id]].attempt = event.attempt
        return _APPLIED

    def _report_progress(self, event: ev.ToolProgress, moment: Moment) -> Outcome:
        self.parts[self.calls[event.call_id]].output = event.output
        return _APPLIED

    def _settle(self, event: ev.ToolSuccess | ev.ToolFailed, moment: Moment) -> Outcome:
        part = self.parts[self.calls[event.call_id]]
        part.provider_executed = part.provider_executed or event.provider_executed
        part.output = event.output
        part.details = event.details
        part.result_state = event.state
        part.times = moment.ends(part.times)
        if isinstance(event, ev.ToolFailed):
            part.status = msg.CallStatus.FAILED
            part.error = event.error
        else:
            part.status = _CALL_SUCCESS
        part.__class__ = msg.ToolPart
        return _APPLIED

    def _end_step(self, event: ev.StepEnded, moment: Moment) -> Outcome:
        base = self.base
        base.status = _STEP_COMPLETED
        base.finish_reason = event.finish_reason
        base.raw_finish_reason = event.raw_finish_reason
        return self._close_step(event, moment)

    def _fail_step(self, event: ev.StepFailed, moment: Moment) -> Outcome:
        base = self.base
        base.status = msg.MessageStatus.FAILED
        base.error = event.error
        return self._close_step(event, moment)

    def _close_step(self, event: ev.StepEnded | ev.StepFailed, moment: Moment) -> Outcome:
        base = self.base
        base.usage = event.usage
        base.details = event.details
        if event.run is not None:
            base.run = event.run
        if event.state is not NO_STATE and event.state:
            base.state = event.state
        base.times = moment.ends(base.times)
        return _APPLIED

    def _restart_step(self, event: ev.StepRestarted, moment: Moment) -> Outcome:
        old = self.base
        origin = old.origin.filled_in(event.origin)
        self.base = base = parts.answer_draft(self.id, origin, event.run or old.run, event.state)
        base.times = None if old.times is None else attrs.evolve(old.times, ended=None)
        self.parts = []
        self.calls = {}
        self.fragments = {}
        self.buffers = {}
        return _APPLIED

    changes: ClassVar[Mapping[type, Change]] = {
        ev.TextStarted: _start_fragment,
        ev.TextDelta: _append_delta,
        ev.TextEnded: _end_fragment,
        ev.ReasoningStarted: _start_fragment,
        ev.ReasoningDelta: _append_delta,
        ev.ReasoningEnded: _end_fragment,
        ev.MediaStarted: _start_fragment,
        ev.MediaDelta: _append_delta,
        ev.MediaEnded: _end_fragment,
        ev.ToolInputStarted: _start_input,
        ev.ToolInputDelta: _append_delta,
        ev.ToolInputEnded: _end_input,
        ev.ToolCalled: _call,
        ev.ToolApprovalRequested: _request_approval,
        ev.ToolApproved: _approve,
        ev.ToolStarted: _start_call,
        ev.ToolProgress: _report_progress,
        ev.ToolSuccess: _settle,
        ev.ToolFailed: _settle,
        ev.OpaqueReceived: _add_opaque,
        ev.StepEnded: _end_step,
        ev.StepFailed: _fail_step,
        ev.StepRestarted: _restart_step,
    }

    # -- reading

    def repeats(self, event: KnownEvent) -> bool:
        """See `OpenMessage.repeats`."""
        base = self.base
        ended: tuple[object, ...]
        match event:
            case ev.TextEnded() | ev.ReasoningEnded() | ev.MediaEnded():
                again = parts.ended_part(event, None)
                return bool(again == self.parts[self.ended[again.__class__]])
            case ev.ToolInputEnded() | ev.ToolCalled() | ev.ToolSuccess() | ev.ToolFailed():
                return parts.agrees(self.parts[self.calls[event.call_id]], event)
            case ev.ToolApprovalRequested():
                return bool(event.reason == self.parts[self.calls[event.call_id]].approval_reason)
            case ev.ToolApproved() | ev.ToolStarted():
                return True  # the lifecycle has compared all of it
            case ev.StepEnded():
                ended = (msg.MessageStatus.COMPLETED, event.finish_reason, event.raw_finish_reason, None)
            case ev.StepFailed():
                ended = (msg.MessageStatus.FAILED, None, None, event.error)
            case _:  # pragma: no cover - the table has `AGAIN` for nothing else
                raise AssertionError(event.type)
        return (
            ended == (base.status, base.finish_reason, base.raw_finish_reason, base.error)
            and (event.usage, event.details) == (base.usage, base.details)
            and (event.run is None or event.run == base.run)
            and (not event.state or event.state == base.state)
        )

    def _freeze(self) -> msg.AssistantMessage:
        message = self.base
        now = self.parts
        if self.closed:
            # The builder drops a closed message once it has been read, so nothing else holds its drafts.
            for place in self.calls.values():
                if now[place].__class__ is parts.CallDraft:
                    now[place].__class__ = msg.ToolPart
        else:
            message = parts.copy_of(message)
            now = [self._call_so_far(part) if part.__class__ is parts.CallDraft else part for part in now]
            for kind, (place, times, media_type) in self.fragments.items():
                now[place] = parts.streaming_part(kind, self.buffers.get(_DELTAS[kind]), times, media_type)
        message.parts = tuple(now)
        message.__class__ = msg.AssistantMessage
        return cast(msg.AssistantMessage, message)

    def _call_so_far(self, draft: Any) -> msg.ToolPart:
        # Any: a draft.
        part = parts.copy_of(draft)
        buffer = self.buffers.get(draft.call_id)
        if buffer is not None:
            part.raw_input = buffer.value()
        part.__class__ = msg.ToolPart
        return cast(msg.ToolPart, part)
