"""
Parts of messages, made from the events that begin and end them.

A message or a call that can still change is a draft: a mutable object with the slots of its class. It gets that class
when nothing can change it any more; until then, readers get a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

import attrs

from assistant_events import events as ev
from assistant_events import messages as msg
from assistant_events.lifecycle import CallPhase
from assistant_events.values import Origin, RemoteRun, State
from assistant_events.values.buffers import Buffer
from assistant_events.values.construct import constructor, draft_of
from assistant_events.values.validators import NO_FIELDS, NO_STATE

# Any: drafts are filled by plain assignment.
_AnswerDraft: Any = draft_of(msg.AssistantMessage)
CallDraft: Any = draft_of(msg.ToolPart)
_DRAFTS: dict[type, Any] = {
    msg.AssistantMessage: _AnswerDraft,
    _AnswerDraft: _AnswerDraft,
    msg.ToolPart: CallDraft,
    CallDraft: CallDraft,
}
_text_part: Callable[..., msg.TextPart] = constructor(msg.TextPart)
_reasoning_part: Callable[..., msg.ReasoningPart] = constructor(msg.ReasoningPart)
_media_part: Callable[..., msg.MediaPart] = constructor(msg.MediaPart)

# Reading a member of an enum takes as long as a look-up in a table.
_RUNNING = msg.MessageStatus.RUNNING
_STREAMING, _COMPLETED, _INCOMPLETE = msg.PartStatus.STREAMING, msg.PartStatus.COMPLETED, msg.PartStatus.INCOMPLETE


def copy_of(value: msg.AssistantMessage | msg.ToolPart) -> Any:
    """Return a draft with the values of a message, a call or another draft."""
    # Any: a draft.
    draft = _DRAFTS[value.__class__]()
    for field in attrs.fields(value.__class__):
        setattr(draft, field.name, getattr(value, field.name))
    return draft


def answer_draft(message_id: str, origin: Origin, run: RemoteRun | None, state: State) -> Any:
    """Return the draft of a message without parts, and without times."""
    # Any: a draft.
    draft: Any = _AnswerDraft()
    draft.id = message_id
    draft.origin = origin
    draft.run = run
    draft.parts = ()
    draft.status = _RUNNING
    draft.finish_reason = draft.raw_finish_reason = draft.usage = draft.error = None
    draft.details = draft.extra = NO_FIELDS
    draft.state = state
    return draft


def call_draft(
    message_id: str,
    event: ev.ToolInputStarted | ev.ToolCalled,
    status: msg.CallStatus,
    input_status: msg.PartStatus | None,
    times: msg.Times | None,
) -> Any:
    """Return the draft of the call that an event begins."""
    # Any: a draft.
    draft: Any = CallDraft()
    draft.message_id = message_id
    draft.call_id = event.call_id
    draft.name = event.name
    draft.provider_executed = event.provider_executed
    draft.status = status
    draft.raw_input = ""
    draft.input_status = input_status
    draft.input = None
    draft.approval = draft.approval_reason = None
    draft.attempt = 0
    draft.output = ()
    draft.error = None
    draft.details = draft.extra = NO_FIELDS
    draft.state = draft.result_state = NO_STATE
    draft.times = times
    return draft


def ended_part(event: ev.TextEnded | ev.ReasoningEnded | ev.MediaEnded, times: msg.Times | None) -> msg.Part:
    """Return the part that a fragment has become."""
    status = _COMPLETED if event.complete else _INCOMPLETE
    if isinstance(event, ev.TextEnded):
        return _text_part(
            text=event.text,
            status=status,
            citations=event.citations,
            details=event.details,
            state=event.state,
            times=times,
        )
    if isinstance(event, ev.ReasoningEnded):
        return _reasoning_part(text=event.text, status=status, state=event.state, times=times)
    return _media_part(
        media_type=event.media_type, data=event.data, uri=event.uri, status=status, state=event.state, times=times
    )


def streaming_part(kind: str, buffer: Buffer[str] | None, times: msg.Times | None, media_type: str) -> msg.Part:
    """Return the part that an open fragment is so far."""
    value: Any = None if buffer is None else buffer.value()  # Any: bytes for media
    if kind == "media":
        return _media_part(media_type=media_type, data=value or None, status=_STREAMING, times=times)
    make = _text_part if kind == "text" else _reasoning_part
    return make(text=value or "", status=_STREAMING, times=times)


def call_phase(part: msg.ToolPart) -> CallPhase:
    """Return the phase of a call of a folded message."""
    if part.status is msg.CallStatus.CALLED:
        return CallPhase.CALLED
    if part.status is not msg.CallStatus.STREAMING:
        return CallPhase.SETTLED
    return CallPhase.INPUT_OPEN if part.input_status is msg.PartStatus.STREAMING else CallPhase.INPUT_ENDED


def agrees(part: msg.ToolPart, event: ev.ToolInputEnded | ev.ToolCalled | ev.ToolSuccess | ev.ToolFailed) -> bool:
    """Return whether a repeated event of a call equals the one that made the part what it is."""
    match event:
        case ev.ToolInputEnded():
            return (part.raw_input, part.input_status) == (
                event.text,
                _COMPLETED if event.complete else _INCOMPLETE,
            ) and (not event.state or event.state == part.state or part.input is not None)
        case ev.ToolCalled():
            return (part.name, part.input) == (event.name, event.input) and (
                not event.state or event.state == part.state
            )
        case ev.ToolSuccess():
            return part.status is msg.CallStatus.SUCCESS and (
                (part.output, part.details, part.result_state) == (event.output, event.details, event.state)
            )
        case ev.ToolFailed():
            after = (event.error, event.output, event.details, event.state)
            return (part.error, part.output, part.details, part.result_state) == after
        case _ as never:
            assert_never(never)
