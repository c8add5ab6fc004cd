"""
Messages and their parts, folded from events.

Parts are in the order of their start. `times` come from records, are `None` without them, and take no part in `==`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Literal, TypeAlias, assert_never, final

import attrs

from assistant_events.errors import LocalProtocolError
from assistant_events.events import (
    CompactionFailed,
    DurableEvent,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    ReasoningEnded,
    ReasoningStarted,
    StepFailed,
    StepRestarted,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputEnded,
    ToolInputStarted,
    ToolSuccess,
)
from assistant_events.values import (
    Citation,
    Content,
    ErrorInfo,
    ErrorKind,
    FinishReason,
    JsonContent,
    JsonObject,
    MediaContent,
    Origin,
    RemoteRun,
    State,
    TextContent,
    Usage,
    thaw,
    validators,
    write_json,
)
from assistant_events.values.content import ContentInput, as_content, size_only, to_bytes
from assistant_events.values.info import as_citations, is_answer
from assistant_events.values.validators import NO_FIELDS, NO_STATE, Frozen


class MessageStatus(StrEnum):
    """How far a message is."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class PartStatus(StrEnum):
    """How far a fragment is."""

    STREAMING = "streaming"
    COMPLETED = "completed"

    INCOMPLETE = "incomplete"
    """It was cut. Its content stands; its state never goes back to a provider."""


class CallStatus(StrEnum):
    """How far a call is. It only ever moves down this list."""

    STREAMING = "streaming"
    """The model writes its input, or has written it and it is not known yet whether it is an object."""

    CALLED = "called"
    """The input stands, the answer is outstanding."""

    SUCCESS = "success"
    FAILED = "failed"


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Times(Frozen):
    """When something began and ended, in UTC, as the records of its first and last event say."""

    started: datetime | None = attrs.field(default=None, validator=validators.check_utc_or_none)
    ended: datetime | None = attrs.field(default=None, validator=validators.check_utc_or_none)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class TextPart(Frozen):
    """Visible text."""

    type: ClassVar[Literal["text"]] = "text"

    text: str = attrs.field(converter=validators.to_text, validator=validators.check_text)
    status: PartStatus = attrs.field(converter=PartStatus)
    citations: tuple[Citation, ...] = attrs.field(default=(), converter=as_citations)

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """Facts of the provider about the text: shown, never sent back."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ReasoningPart(Frozen):
    """Reasoning; its text may be empty where only its state was given."""

    type: ClassVar[Literal["reasoning"]] = "reasoning"

    text: str = attrs.field(converter=validators.to_text, validator=validators.check_text)
    status: PartStatus = attrs.field(converter=PartStatus)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class MediaPart(Frozen):
    """An image, a sound, a film or a document."""

    type: ClassVar[Literal["media"]] = "media"

    media_type: str = attrs.field(validator=validators.check_name)

    data: bytes | None = attrs.field(
        default=None, converter=to_bytes, validator=validators.IsA(bytes, optional=True), repr=size_only
    )
    """What has come so far while it streams; `None` when it is elsewhere (`uri`) or nothing came."""

    uri: str | None = attrs.field(
        default=None, converter=validators.to_optional_text, validator=validators.check_text_or_none
    )
    status: PartStatus = attrs.field(converter=PartStatus)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolPart(Frozen):
    """A call and its answer."""

    type: ClassVar[Literal["tool"]] = "tool"

    message_id: str = attrs.field(validator=validators.check_name)
    """The message that the call stands in; call ids are unique only there."""

    call_id: str = attrs.field(validator=validators.check_name)
    """The id that the recorder gave it: the provider's, made unique within the message; never empty."""

    name: str = attrs.field(validator=validators.check_name)
    """Name of the tool."""

    provider_executed: bool = attrs.field(default=False, validator=validators.check_flag)
    """Whether the provider runs it. Otherwise the app does."""

    status: CallStatus = attrs.field(converter=CallStatus)
    """How far the call is: input, answer or failure."""

    raw_input: str = attrs.field(default="", converter=validators.to_text, validator=validators.check_text)
    """The input as the model wrote it, unparsed; empty when it came whole (`tool.called` alone)."""

    input_status: PartStatus | None = attrs.field(default=None, converter=attrs.converters.optional(PartStatus))
    """How far `raw_input` is; `None` when the input did not stream."""

    input: JsonObject | None = attrs.field(default=None, validator=validators.IsA(JsonObject, optional=True))
    """The input once it stands; `None` before, and for ever when the input was no object."""

    output: tuple[Content, ...] = attrs.field(default=(), converter=as_content)
    """The answer; before it the last progress."""

    error: ErrorInfo | None = attrs.field(default=None, validator=validators.IsA(ErrorInfo, optional=True))
    """Why the call failed; `None` unless it did."""

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """Facts of the provider about the result: shown, never sent back."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """What the provider wants back with the call, verbatim; empty when nothing."""

    result_state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """What the provider wants back with the result; empty when nothing, and for results of the app."""

    times: Times | None = attrs.field(default=None, eq=False, repr=False)
    """From the first event of the call to its answer; `None` when it was not folded from records."""

    @property
    def arguments(self) -> dict[str, Any]:
        """
        The input as a fresh plain `dict`.

        Raises:
            LocalProtocolError: When the call has no input to run with.
        """
        # Any: plain JSON, as the tool expects it.
        if self.input is None:
            raise LocalProtocolError(f"call {self.call_id!r} has no input: it is {self.status.value}")
        return {key: thaw(value) for key, value in self.input.items()}

    @property
    def pending(self) -> bool:
        """Whether the app still owes an answer to this call."""
        return self.status is CallStatus.CALLED and not self.provider_executed

    @property
    def settled(self) -> bool:
        """Whether the call has an end, of whatever kind."""
        return self.status is CallStatus.SUCCESS or self.status is CallStatus.FAILED

    @property
    def answered(self) -> bool:
        """Whether the app has answered this call, with a result or an error other than `interrupted`."""
        return not self.provider_executed and self.input is not None and self.settled and is_answer(self.error)

    def succeed(self, output: ContentInput = (), *, state: State = NO_STATE) -> ToolSuccess:
        """Return the event that answers this call with *output* (whatever `as_content` takes)."""
        return ToolSuccess(
            message_id=self.message_id,
            call_id=self.call_id,
            output=output,
            provider_executed=self.provider_executed,
            state=state,
        )

    def fail(self, error: ErrorInfo | str, *, output: ContentInput = (), state: State = NO_STATE) -> ToolFailed:
        """Return the event that says that this call failed; a `str` is the message of an error of kind `tool`."""
        info = ErrorInfo(kind=ErrorKind.TOOL, message=error) if isinstance(error, str) else error
        return ToolFailed(
            message_id=self.message_id,
            call_id=self.call_id,
            error=info,
            output=output,
            provider_executed=self.provider_executed,
            state=state,
        )


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class OpaquePart(Frozen):
    """An item of the provider without a word of ours."""

    type: ClassVar[Literal["opaque"]] = "opaque"

    status: PartStatus = attrs.field(default=PartStatus.COMPLETED, converter=PartStatus)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


Part: TypeAlias = TextPart | ReasoningPart | MediaPart | ToolPart | OpaquePart
PART_CLASSES: tuple[type[Part], ...] = Part.__args__


def _as_parts(value: Iterable[Part]) -> tuple[Part, ...]:
    return validators.tuple_of(value, PART_CLASSES, "parts", "a part")


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class UserMessage(Frozen):
    """What the user said."""

    type: ClassVar[Literal["user"]] = "user"

    status: ClassVar[Literal[MessageStatus.COMPLETED]] = MessageStatus.COMPLETED
    """A prompt is always complete."""

    id: str = attrs.field(validator=validators.check_name)
    content: tuple[Content, ...] = attrs.field(converter=as_content)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def text(self) -> str:
        """The texts, joined without a separator; JSON content as JSON text, media left out."""
        return plain_text(self.content)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class AssistantMessage(Frozen):
    """One step: one response of one model."""

    type: ClassVar[Literal["assistant"]] = "assistant"

    id: str = attrs.field(validator=validators.check_name)
    """Unique in the session; given by whoever made the decoder."""

    origin: Origin = attrs.field(validator=validators.IsA(Origin))
    """Who issued it."""

    run: RemoteRun | None = attrs.field(default=None, validator=validators.IsA(RemoteRun, optional=True))
    """The response at the provider; `None` when it gave no id."""

    parts: tuple[Part, ...] = attrs.field(default=(), converter=_as_parts)
    """What the model said and did, in the order in which it began."""

    status: MessageStatus = attrs.field(default=MessageStatus.RUNNING, converter=MessageStatus)
    """How far the step is. Its calls may still wait for answers when it is completed."""

    finish_reason: FinishReason | None = attrs.field(default=None, converter=attrs.converters.optional(FinishReason))
    """Why the provider ended the step; `None` unless completed."""

    raw_finish_reason: str | None = attrs.field(
        default=None, converter=validators.to_optional_text, validator=validators.check_text_or_none
    )
    """The provider's own word for `finish`; `None` unless completed, and where it gave none."""

    usage: Usage | None = attrs.field(default=None, validator=validators.IsA(Usage, optional=True))
    """Tokens of this step alone; `None` while it runs and when the provider gave no counts."""

    error: ErrorInfo | None = attrs.field(default=None, validator=validators.IsA(ErrorInfo, optional=True))
    """Why the step failed; `None` unless it did."""

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """Facts of the provider about the step, from its end: shown, never sent back."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """What the provider wants back with the message as a whole; empty when nothing."""

    times: Times | None = attrs.field(default=None, eq=False, repr=False)
    """When the step began and ended; `None` when it was not folded from records."""

    @property
    def text(self) -> str:
        """All visible text, joined without a separator."""
        return "".join([part.text for part in self.parts if isinstance(part, TextPart)])

    @property
    def reasoning(self) -> str:
        """All reasoning, joined without a separator."""
        return "".join([part.text for part in self.parts if isinstance(part, ReasoningPart)])

    @property
    def tool_calls(self) -> tuple[ToolPart, ...]:
        """All calls, those that the provider ran included."""
        return tuple([part for part in self.parts if isinstance(part, ToolPart)])

    @property
    def pending_tool_calls(self) -> tuple[ToolPart, ...]:
        """Calls that the app still owes an answer to. None in a failed message: its calls are not to be run."""
        if self.status is MessageStatus.FAILED:
            return ()
        return tuple([call for call in self.tool_calls if call.pending])

    @property
    def media(self) -> tuple[MediaPart, ...]:
        """All media."""
        return tuple([part for part in self.parts if isinstance(part, MediaPart)])


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class CompactionMessage(Frozen):
    """A summary, written by the app, of what stands before it."""

    type: ClassVar[Literal["compaction"]] = "compaction"

    id: str = attrs.field(validator=validators.check_name)
    reason: Literal["auto", "manual"] = attrs.field(validator=validators.check_reason)
    origin: Origin | None = attrs.field(default=None, validator=validators.IsA(Origin, optional=True))
    status: MessageStatus = attrs.field(default=MessageStatus.RUNNING, converter=MessageStatus)
    text: str = attrs.field(default="", converter=validators.to_text, validator=validators.check_text)
    error: ErrorInfo | None = attrs.field(default=None, validator=validators.IsA(ErrorInfo, optional=True))
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


Message: TypeAlias = UserMessage | AssistantMessage | CompactionMessage
MESSAGE_CLASSES: tuple[type[Message], ...] = Message.__args__


def plain_text(content: tuple[Content, ...]) -> str:
    """Return *content* as text: texts as they are, JSON as JSON text, media left out."""
    pieces: list[str] = []
    for item in content:
        match item:
            case TextContent():
                pieces.append(item.text)
            case JsonContent():
                pieces.append(write_json(item.value).decode())
            case MediaContent():
                pass
            case _ as never:
                assert_never(never)
    return "".join(pieces)


def closing(message: AssistantMessage | CompactionMessage, error: ErrorInfo) -> list[DurableEvent]:
    """
    Return the events that end a running message where it stands: fragments, calls, the step, in that order.

    What had come stays; what was open is marked incomplete. Every call that is not settled fails as `interrupted`:
    the calls of a failed step are not to be run. Empty for a message that is not running.
    """
    if message.status is not MessageStatus.RUNNING:
        return []
    if isinstance(message, CompactionMessage):
        return [CompactionFailed(message_id=message.id, error=error)]
    ends: list[DurableEvent] = []
    for part in message.parts:
        end = _cut(message.id, part)
        if end is not None:
            ends.append(end)
    ends += [call.fail(interrupted()) for call in message.tool_calls if not call.settled]
    return [*ends, StepFailed(message_id=message.id, error=error)]


def _cut(message_id: str, part: Part) -> DurableEvent | None:
    match part:
        case TextPart() if part.status is PartStatus.STREAMING:
            return TextEnded(message_id=message_id, text=part.text, complete=False)
        case ReasoningPart() if part.status is PartStatus.STREAMING:
            return ReasoningEnded(message_id=message_id, text=part.text, complete=False)
        case MediaPart() if part.status is PartStatus.STREAMING:
            return MediaEnded(message_id=message_id, media_type=part.media_type, data=part.data, complete=False)
        case ToolPart() if part.input_status is PartStatus.STREAMING:
            return ToolInputEnded(message_id=message_id, call_id=part.call_id, text=part.raw_input, complete=False)
        case _:
            return None


def failed_anew(message: AssistantMessage, error: ErrorInfo, reason: str) -> list[DurableEvent]:
    """
    Return the events that fail a failed message once more, with all that is in it and with *error* as its last word.

    For a message that was closed by a cut, when it turns out that its run is gone: it is restarted, says what it has
    said, and fails; its run can then not be resumed any more. Empty for a message that has not failed, and for one with
    a call that the app has answered, which is never restarted.

    Args:
        message: As it stands.

        error: Why nothing more will come.

        reason: Of the restart.
    """
    if message.status is not MessageStatus.FAILED or any(call.answered for call in message.tool_calls):
        return []
    run = None if message.run is None else attrs.evolve(message.run, resumable=False)
    again: list[DurableEvent] = [StepRestarted(message_id=message.id, reason=reason, run=run, state=message.state)]
    for part in message.parts:
        again += _said_again(message.id, part)
    failed = StepFailed(
        message_id=message.id, error=error, usage=message.usage, run=run, details=message.details, state=message.state
    )
    return [*again, failed]


def _said_again(message_id: str, part: Part) -> list[DurableEvent]:
    """Return the events of a part that has ended."""
    match part:
        case TextPart():
            complete = part.status is PartStatus.COMPLETED
            return [
                TextStarted(message_id=message_id),
                TextEnded(
                    message_id=message_id,
                    text=part.text,
                    complete=complete,
                    citations=part.citations,
                    details=part.details,
                    state=part.state,
                ),
            ]
        case ReasoningPart():
            complete = part.status is PartStatus.COMPLETED
            return [
                ReasoningStarted(message_id=message_id),
                ReasoningEnded(message_id=message_id, text=part.text, complete=complete, state=part.state),
            ]
        case MediaPart():
            return [
                MediaStarted(message_id=message_id, media_type=part.media_type),
                MediaEnded(
                    message_id=message_id,
                    media_type=part.media_type,
                    data=part.data,
                    uri=part.uri,
                    complete=part.status is PartStatus.COMPLETED,
                    state=part.state,
                ),
            ]
        case OpaquePart():
            return [OpaqueReceived(message_id=message_id, state=part.state)]
        case ToolPart():
            return _called_again(part)
        case _ as never:
            assert_never(never)


def _called_again(call: ToolPart) -> list[DurableEvent]:
    message_id, call_id, hosted = call.message_id, call.call_id, call.provider_executed
    again: list[DurableEvent] = []
    if call.input_status is not None:
        complete = call.input_status is PartStatus.COMPLETED
        again += [
            ToolInputStarted(message_id=message_id, call_id=call_id, name=call.name, provider_executed=hosted),
            ToolInputEnded(
                message_id=message_id, call_id=call_id, text=call.raw_input, complete=complete, state=call.state
            ),
        ]
    if call.input is not None:
        called = ToolCalled(
            message_id=message_id,
            call_id=call_id,
            name=call.name,
            input=call.input,
            provider_executed=hosted,
            state=call.state,
        )
        again.append(called)
    if call.error is not None:
        failed = ToolFailed(
            message_id=message_id,
            call_id=call_id,
            error=call.error,
            output=call.output,
            provider_executed=hosted,
            details=call.details,
            state=call.result_state,
        )
        again.append(failed)
    elif call.settled:
        success = ToolSuccess(
            message_id=message_id,
            call_id=call_id,
            output=call.output,
            provider_executed=hosted,
            details=call.details,
            state=call.result_state,
        )
        again.append(success)
    return again


def interrupted(message: str = "the stream stopped before its end") -> ErrorInfo:
    """Return the error of what was cut."""
    return ErrorInfo(kind=ErrorKind.INTERRUPTED, message=message)
