"""An assistant message while events change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import attrs
from typing_extensions import override

from assistant_events.events import (
    MediaDelta,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    StepEnded,
    StepFailed,
    StepRestarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolProgress,
    ToolSuccess,
)
from assistant_events.lifecycle import FragmentPhase, KnownEvent, MessageLifecycle, MessagePhase, Outcome
from assistant_events.messages import (
    AssistantMessage,
    CallStatus,
    MediaPart,
    MessageStatus,
    OpaquePart,
    PartStatus,
    ReasoningPart,
    TextPart,
    Times,
    ToolPart,
)
from assistant_events.reducer.open_message import Change, OpenMessage, append
from assistant_events.reducer.parts import (
    CallDraft,
    agrees,
    answer_draft,
    call_draft,
    call_phase,
    copy_of,
    ended_part,
    media_part,
    reasoning_part,
    streaming_part,
    text_part,
)
from assistant_events.reducer.times import Moment
from assistant_events.values.buffers import Buffer
from assistant_events.values.construct import constructor
from assistant_events.values.validators import NO_STATE

_opaque_part: Callable[..., OpaquePart] = constructor(OpaquePart)

_DELTAS: dict[str, type] = {"text": TextDelta, "reasoning": ReasoningDelta, "media": MediaDelta}
_PHASES = {
    MessageStatus.RUNNING: MessagePhase.RUNNING,
    MessageStatus.COMPLETED: MessagePhase.ENDED,
    MessageStatus.FAILED: MessagePhase.FAILED,
}

# Reading a member of an enum takes as long as a look-up in a table.
_APPLIED = Outcome.APPLIED
_STEP_COMPLETED = MessageStatus.COMPLETED
_STREAMING, _COMPLETED, _INCOMPLETE = PartStatus.STREAMING, PartStatus.COMPLETED, PartStatus.INCOMPLETE
_CALL_STREAMING, _CALLED, _CALL_SUCCESS = CallStatus.STREAMING, CallStatus.CALLED, CallStatus.SUCCESS


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

        self.fragments: dict[str, tuple[int, Times | None, str]] = {}
        """Open fragments by kind: their place, their times, and the media type of media."""

        self.ended: dict[type, int] = {}
        """The place of the part that ended last, by its class: its end may come again."""

    @classmethod
    def reopen(cls, at: int, base: AssistantMessage) -> OpenAnswer:
        """Open a folded message, with the phases that its parts show."""
        life = MessageLifecycle(_PHASES[base.status])
        made = cls(at, copy_of(base), life)
        made.frozen = base
        for place, part in enumerate(base.parts):
            if isinstance(part, ToolPart):
                made.calls[part.call_id] = place
                if not part.settled:
                    made.parts[place] = copy_of(part)
                if part.input_status is PartStatus.STREAMING:
                    made.buffers[part.call_id] = Buffer("", part.raw_input)
                life.adopt_call(
                    part.call_id,
                    part.name,
                    call_phase(part),
                    provider_executed=part.provider_executed,
                    answered=part.answered,
                )
            elif not isinstance(part, OpaquePart):
                is_open = part.status is PartStatus.STREAMING
                life.adopt_fragment(part.type, FragmentPhase.OPEN if is_open else FragmentPhase.CLOSED)
                if is_open:
                    made._reopen_fragment(place, part)
                else:
                    made.ended[part.__class__] = place
        return made

    def _reopen_fragment(self, place: int, part: TextPart | ReasoningPart | MediaPart) -> None:
        if isinstance(part, MediaPart):
            self.fragments[part.type] = (place, part.times, part.media_type)
            self.buffers[MediaDelta] = cast("Buffer[str]", Buffer(b"", part.data))
        else:
            self.fragments[part.type] = (place, part.times, "")
            self.buffers[_DELTAS[part.type]] = Buffer("", part.text)

    # -- changes

    def append_delta(self, event: TextDelta | ReasoningDelta | MediaDelta | ToolInputDelta, moment: Moment) -> Outcome:
        """Append a delta to what is open."""
        cls = event.__class__
        key = event.call_id if isinstance(event, ToolInputDelta) else cls
        buffer = self.buffers.get(key)
        if buffer is None:
            # Made late: where only durable events are folded, none is needed.
            buffer = self.buffers[key] = Buffer(cast(str, b"" if cls is MediaDelta else ""))
        return append(buffer, event.offset, event.delta)

    def start_text(self, event: TextStarted, moment: Moment) -> Outcome:
        """Open a text."""
        self.fragments["text"] = (len(self.parts), moment.began, "")
        self.parts.append(None)
        return _APPLIED

    def start_reasoning(self, event: ReasoningStarted, moment: Moment) -> Outcome:
        """Open a reasoning."""
        self.fragments["reasoning"] = (len(self.parts), moment.began, "")
        self.parts.append(None)
        return _APPLIED

    def start_media(self, event: MediaStarted, moment: Moment) -> Outcome:
        """Open media."""
        self.fragments["media"] = (len(self.parts), moment.began, event.media_type)
        self.parts.append(None)
        return _APPLIED

    def end_text(self, event: TextEnded, moment: Moment) -> Outcome:
        """Replace the open text by its part."""
        place, times, _ = self.fragments.pop("text")
        self.buffers.pop(TextDelta, None)
        self.parts[place] = text_part(event, moment.ends(times))
        self.ended[TextPart] = place
        return _APPLIED

    def end_reasoning(self, event: ReasoningEnded, moment: Moment) -> Outcome:
        """Replace the open reasoning by its part."""
        place, times, _ = self.fragments.pop("reasoning")
        self.buffers.pop(ReasoningDelta, None)
        self.parts[place] = reasoning_part(event, moment.ends(times))
        self.ended[ReasoningPart] = place
        return _APPLIED

    def end_media(self, event: MediaEnded, moment: Moment) -> Outcome:
        """Replace the open media by their part."""
        place, times, _ = self.fragments.pop("media")
        self.buffers.pop(MediaDelta, None)
        self.parts[place] = media_part(event, moment.ends(times))
        self.ended[MediaPart] = place
        return _APPLIED

    def add_opaque(self, event: OpaqueReceived, moment: Moment) -> Outcome:
        """Add an opaque part."""
        self.parts.append(_opaque_part(state=event.state, times=moment.instant))
        return _APPLIED

    def start_input(self, event: ToolInputStarted, moment: Moment) -> Outcome:
        """Open the input of a new call."""
        self.calls[event.call_id] = len(self.parts)
        self.parts.append(call_draft(self.id, event, _CALL_STREAMING, _STREAMING, moment.began))
        return _APPLIED

    def end_input(self, event: ToolInputEnded, moment: Moment) -> Outcome:
        """Set the final text of an input."""
        self.buffers.pop(event.call_id, None)
        part = self.parts[self.calls[event.call_id]]
        part.raw_input = event.text
        part.input_status = _COMPLETED if event.complete else _INCOMPLETE
        part.state = event.state
        return _APPLIED

    def call(self, event: ToolCalled, moment: Moment) -> Outcome:
        """Set the input of a call, which may be new."""
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

    def report_progress(self, event: ToolProgress, moment: Moment) -> Outcome:
        """Replace the output of a running call."""
        self.parts[self.calls[event.call_id]].output = event.output
        return _APPLIED

    def settle(self, event: ToolSuccess | ToolFailed, moment: Moment) -> Outcome:
        """Set the result of a call."""
        part = self.parts[self.calls[event.call_id]]
        part.provider_executed = part.provider_executed or event.provider_executed
        part.output = event.output
        part.details = event.details
        part.result_state = event.state
        part.times = moment.ends(part.times)
        if isinstance(event, ToolFailed):
            part.status = CallStatus.FAILED
            part.error = event.error
        else:
            part.status = _CALL_SUCCESS
        part.__class__ = ToolPart
        return _APPLIED

    def end_step(self, event: StepEnded, moment: Moment) -> Outcome:
        """End the step."""
        base = self.base
        base.status = _STEP_COMPLETED
        base.finish_reason = event.finish_reason
        base.raw_finish_reason = event.raw_finish_reason
        base.error = None
        return self._close_step(event, moment)

    def fail_step(self, event: StepFailed, moment: Moment) -> Outcome:
        """Fail the step."""
        base = self.base
        base.status = MessageStatus.FAILED
        base.finish_reason = base.raw_finish_reason = None
        base.error = event.error
        return self._close_step(event, moment)

    def _close_step(self, event: StepEnded | StepFailed, moment: Moment) -> Outcome:
        base = self.base
        base.usage = event.usage
        base.details = event.details
        if event.run is not None:
            base.run = event.run
        if event.state is not NO_STATE and event.state:
            base.state = event.state
        base.times = moment.ends(base.times)
        return _APPLIED

    def restart_step(self, event: StepRestarted, moment: Moment) -> Outcome:
        """Remove everything that the step has brought."""
        old = self.base
        origin = old.origin.filled_in(event.origin)
        self.base = base = answer_draft(self.id, origin, event.run or old.run, event.state or old.state)
        base.times = None if old.times is None else attrs.evolve(old.times, ended=None)
        self.parts = []
        self.calls = {}
        self.fragments = {}
        self.ended = {}
        self.buffers = {}
        return _APPLIED

    changes: ClassVar[Mapping[type, Change]] = {
        TextStarted: start_text,
        TextDelta: append_delta,
        TextEnded: end_text,
        ReasoningStarted: start_reasoning,
        ReasoningDelta: append_delta,
        ReasoningEnded: end_reasoning,
        MediaStarted: start_media,
        MediaDelta: append_delta,
        MediaEnded: end_media,
        ToolInputStarted: start_input,
        ToolInputDelta: append_delta,
        ToolInputEnded: end_input,
        ToolCalled: call,
        ToolProgress: report_progress,
        ToolSuccess: settle,
        ToolFailed: settle,
        OpaqueReceived: add_opaque,
        StepEnded: end_step,
        StepFailed: fail_step,
        StepRestarted: restart_step,
    }

    # -- reading

    @override
    def repeats(self, event: KnownEvent) -> bool:
        base = self.base
        ended: tuple[object, ...]
        match event:
            case TextEnded() | ReasoningEnded() | MediaEnded():
                again = ended_part(event)
                return bool(again == self.parts[self.ended[again.__class__]])
            case ToolInputEnded() | ToolCalled() | ToolSuccess() | ToolFailed():
                return agrees(self.parts[self.calls[event.call_id]], event)
            case StepEnded():
                ended = (MessageStatus.COMPLETED, event.finish_reason, event.raw_finish_reason, None)
            case StepFailed():
                ended = (MessageStatus.FAILED, None, None, event.error)
            case _:  # pragma: no cover - the table has `AGAIN` for nothing else
                raise AssertionError(event.type)
        return (
            ended == (base.status, base.finish_reason, base.raw_finish_reason, base.error)
            and (event.usage, event.details) == (base.usage, base.details)
            and (event.run is None or event.run == base.run)
            and (not event.state or event.state == base.state)
        )

    @override
    def _freeze(self) -> AssistantMessage:
        message = self.base
        parts = self.parts
        if self.closed:
            # The builder drops a closed message once it has been read, so nothing else holds its drafts.
            for place in self.calls.values():
                if parts[place].__class__ is CallDraft:
                    parts[place].__class__ = ToolPart
        else:
            message = copy_of(message)
            parts = [self._call_so_far(part) if part.__class__ is CallDraft else part for part in parts]
            for kind, (place, times, media_type) in self.fragments.items():
                parts[place] = streaming_part(kind, self.buffers.get(_DELTAS[kind]), times, media_type)
        message.parts = tuple(parts)
        message.__class__ = AssistantMessage
        frozen: AssistantMessage = message
        return frozen

    def _call_so_far(self, draft: Any) -> ToolPart:
        # Any: a draft.
        part = copy_of(draft)
        buffer = self.buffers.get(draft.call_id)
        if buffer is not None:
            part.raw_input = buffer.value()
        part.__class__ = ToolPart
        made: ToolPart = part
        return made
