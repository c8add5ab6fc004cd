"""Events that close messages: for a stream that was cut, and for a run that is gone."""

from __future__ import annotations

from typing import assert_never

import attrs

from assistant_events import events as ev
from assistant_events.messages import messages as msg
from assistant_events.values import ErrorInfo, ErrorKind, RemoteRun


def close_message(
    message: msg.AssistantMessage | msg.CompactionMessage, error: ErrorInfo, *, abandon_run: bool = False
) -> list[ev.DurableEvent]:
    """
    Return the events that close a running message: ends of its fragments, failures of its calls, end of the step.

    The content so far stays; open fragments become incomplete. Every unsettled call fails as `interrupted`, because the
    calls of a failed step must not be run. With *abandon_run* its run cannot be resumed any more. Empty for a message
    that is not running.
    """
    if message.status is not msg.MessageStatus.RUNNING:
        return []
    if isinstance(message, msg.CompactionMessage):
        return [ev.CompactionFailed(message_id=message.id, error=error)]
    streaming = [part for part in message.parts if msg.content_status(part) is msg.PartStatus.STREAMING]
    ends = [_events_of(message.id, part)[-1] for part in streaming]
    failures = [call.fail(interrupted()) for call in message.tool_calls if not call.settled]
    run = _gone(message.run) if abandon_run else None
    return [*ends, *failures, ev.StepFailed(message_id=message.id, error=error, run=run)]


def fail_again(message: msg.AssistantMessage, error: ErrorInfo, reason: str) -> list[ev.DurableEvent]:
    """
    Return the events that replace the error of a failed message by *error*, with the same content.

    For a message that was closed because its stream was cut, and whose run turns out to be gone: the message restarts,
    repeats its content, and fails; its run is not resumable any more. Empty for a message that has not failed, and for
    one with a call that the app has started or answered, which must not restart.
    """
    if message.status is not msg.MessageStatus.FAILED or message.acted:
        return []
    run = _gone(message.run)
    again: list[ev.DurableEvent] = [ev.StepRestarted(message_id=message.id, reason=reason, run=run)]
    for part in message.parts:
        again += _events_of(message.id, part)
    failed = ev.StepFailed(
        message_id=message.id, error=error, usage=message.usage, run=run, details=message.details, state=message.state
    )
    return [*again, failed]


def _gone(run: RemoteRun | None) -> RemoteRun | None:
    return None if run is None else attrs.evolve(run, resumable=False)


def _events_of(message_id: str, part: msg.Part) -> list[ev.DurableEvent]:
    """Return the durable events of a part; one that streams is cut."""
    complete = msg.content_status(part) is msg.PartStatus.COMPLETED
    match part:
        case msg.TextPart():
            return [
                ev.TextStarted(message_id=message_id),
                ev.TextEnded(
                    message_id=message_id,
                    text=part.text,
                    complete=complete,
                    citations=part.citations,
                    details=part.details,
                    state=part.state,
                ),
            ]
        case msg.ReasoningPart():
            return [
                ev.ReasoningStarted(message_id=message_id),
                ev.ReasoningEnded(message_id=message_id, text=part.text, complete=complete, state=part.state),
            ]
        case msg.MediaPart():
            return [
                ev.MediaStarted(message_id=message_id, media_type=part.media_type),
                ev.MediaEnded(
                    message_id=message_id,
                    media_type=part.media_type,
                    data=part.data,
                    uri=part.uri,
                    complete=complete,
                    state=part.state,
                ),
            ]
        case msg.OpaquePart():
            return [ev.OpaqueReceived(message_id=message_id, state=part.state)]
        case msg.ToolPart():
            return _events_of_call(part, complete=complete)
        case _ as never:
            assert_never(never)


def _events_of_call(call: msg.ToolPart, *, complete: bool) -> list[ev.DurableEvent]:
    message_id, call_id = call.message_id, call.call_id
    # The app asks about its own calls alone: such a call became the provider's by its result.
    hosted = call.provider_executed and call.approval is None
    again: list[ev.DurableEvent] = []
    if call.input_status is not None:
        again += [
            ev.ToolInputStarted(message_id=message_id, call_id=call_id, name=call.name, provider_executed=hosted),
            ev.ToolInputEnded(
                message_id=message_id, call_id=call_id, text=call.raw_input, complete=complete, state=call.state
            ),
        ]
    if call.input is not None:
        called = ev.ToolCalled(
            message_id=message_id,
            call_id=call_id,
            name=call.name,
            input=call.input,
            provider_executed=hosted,
            state=call.state,
        )
        again.append(called)
    if call.approval is not None:
        again.append(call.request_approval(call.approval_reason))
        again += [call.approve()] * (call.approval is msg.ApprovalStatus.APPROVED)
    if call.settled:
        output, state = call.output, call.result_state
        if call.error is None:
            end: ev.ToolSuccess | ev.ToolFailed = call.succeed(output, state=state)
        else:
            end = call.fail(call.error, output=output, state=state)
        again.append(attrs.evolve(end, details=call.details))
    return again


def interrupted(message: str = "the stream stopped before its end") -> ErrorInfo:
    """Return the error of a message or call whose stream was cut."""
    return ErrorInfo(kind=ErrorKind.INTERRUPTED, message=message)
