"""
Messages and their parts, folded from events.

Parts are in the order of their start. `times` come from records, are `None` without them, and take no part in `==`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Literal, Self, TypeAlias, final

import attrs

from assistant_events.errors import LocalProtocolError, RemoteProtocolError
from assistant_events.events import (
    ToolApprovalRequested,
    ToolApproved,
    ToolFailed,
    ToolProgress,
    ToolStarted,
    ToolSuccess,
)
from assistant_events.values import (
    Citation,
    Content,
    ErrorInfo,
    ErrorKind,
    FinishReason,
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
from assistant_events.values.content import ContentInput, Default, as_content, size_only, to_bytes
from assistant_events.values.info import as_citations, is_answer
from assistant_events.values.validators import NO_FIELDS, NO_STATE, check_text_or_none, to_optional_text


class MessageStatus(StrEnum):
    """Status of a message."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class PartStatus(StrEnum):
    """Status of a fragment."""

    STREAMING = "streaming"
    COMPLETED = "completed"

    INCOMPLETE = "incomplete"
    """The fragment was cut. Its state is never sent to a provider."""


class CallStatus(StrEnum):
    """Status of a call. It changes only in the order of this list."""

    STREAMING = "streaming"
    """Its input streams, or has ended and is not validated yet."""

    CALLED = "called"
    """The input is complete, and the result pending."""

    SUCCESS = "success"
    FAILED = "failed"


class ApprovalStatus(StrEnum):
    """Whether a person has allowed the app to run a call. A denied call has failed."""

    REQUESTED = "requested"
    APPROVED = "approved"


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Times(validators.Frozen):
    """Start and end of a message or part in UTC: the times of the records of its first and last event."""

    started: datetime | None = attrs.field(default=None, validator=validators.check_utc_or_none)

    ended: datetime | None = attrs.field(default=None, validator=validators.check_utc_or_none)
    """`None` while it is open, and for a prompt."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class TextPart(validators.Extensible):
    """Visible text."""

    type: ClassVar[Literal["text"]] = "text"

    text: str = attrs.field(converter=validators.to_text, validator=validators.check_text)
    """The text so far while it streams."""

    status: PartStatus = attrs.field(converter=PartStatus)
    citations: tuple[Citation, ...] = attrs.field(default=(), converter=as_citations)

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """Facts of the provider about the text: shown, never sent back."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ReasoningPart(validators.Extensible):
    """Reasoning; its text is empty when the provider sent only its state."""

    type: ClassVar[Literal["reasoning"]] = "reasoning"

    text: str = attrs.field(converter=validators.to_text, validator=validators.check_text)
    status: PartStatus = attrs.field(converter=PartStatus)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class MediaPart(validators.Extensible):
    """An image, audio, a video or a document."""

    type: ClassVar[Literal["media"]] = "media"

    media_type: str = attrs.field(validator=validators.check_name)

    data: bytes | None = attrs.field(
        default=None, converter=to_bytes, validator=validators.IsA(bytes, optional=True), repr=size_only
    )
    """The bytes so far while it streams; `None` when there are none, or when they are at `uri`."""

    uri: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    status: PartStatus = attrs.field(converter=PartStatus)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolPart(validators.Extensible):
    """A tool call and its result."""

    type: ClassVar[Literal["tool"]] = "tool"

    message_id: str = attrs.field(validator=validators.check_name)
    """Id of its message; call ids are unique only within a message."""

    call_id: str = attrs.field(validator=validators.check_name)
    """The id from the recorder: that of the provider, made unique within the message; never empty."""

    name: str = attrs.field(validator=validators.check_name)
    """Name of the tool."""

    provider_executed: bool = attrs.field(default=False, validator=validators.check_flag)
    """Whether the provider runs the call; otherwise the app does."""

    status: CallStatus = attrs.field(converter=CallStatus)
    """Status of the call."""

    raw_input: str = attrs.field(default="", converter=validators.to_text, validator=validators.check_text, eq=False)
    """
    The unparsed input; empty when it did not stream (`tool.called` alone). It takes no part in `==` when there is an
    `input`: a stream and a document of one answer have it with other spaces.
    """

    input_status: PartStatus | None = attrs.field(default=None, converter=attrs.converters.optional(PartStatus))
    """Status of `raw_input`; `None` when the input did not stream."""

    input: JsonObject | None = attrs.field(default=None, validator=validators.IsA(JsonObject, optional=True))
    """The parsed input; `None` until the call, and when the input was not a JSON object."""

    approval: ApprovalStatus | None = attrs.field(default=None, converter=attrs.converters.optional(ApprovalStatus))
    """Whether the app has asked for approval, and got it; `None` when it needs none."""

    approval_reason: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    """Why the app has asked for approval; `None` without a reason."""

    attempt: int = attrs.field(default=0, validator=validators.check_count)
    """Number of times that the app has begun to run the call; 0 before the first."""

    output: tuple[Content, ...] = attrs.field(default=(), converter=as_content)
    """The output of the result; before it, of the last progress."""

    error: ErrorInfo | None = attrs.field(default=None, validator=validators.IsA(ErrorInfo, optional=True))
    """Why the call failed; `None` unless it did."""

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """Facts of the provider about the result: shown, never sent back."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """State that the provider needs back with the call, verbatim."""

    result_state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """State that the provider needs back with the result; empty for results of the app."""

    times: Times | None = attrs.field(default=None, eq=False, repr=False)
    """From the first event of the call to its result; `None` when it was not folded from records."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolPart):
            return NotImplemented
        return super().__eq__(other) and (self.input is not None or self.raw_input == other.raw_input)

    def __hash__(self) -> int:
        return super().__hash__()

    @property
    def arguments(self) -> dict[str, Any]:
        """
        The input as a fresh plain `dict`.

        Raises:
            LocalProtocolError: The call has no parsed input.
        """
        # Any: plain JSON, as the tool expects it.
        if self.input is None:
            raise LocalProtocolError(f"call {self.call_id!r} has no input: it is {self.status.value}")
        return {key: thaw(value) for key, value in self.input.items()}

    @property
    def pending(self) -> bool:
        """Whether the app has to answer this call."""
        return self.status is CallStatus.CALLED and not self.provider_executed

    @property
    def settled(self) -> bool:
        """Whether the call has succeeded or failed."""
        return self.status is CallStatus.SUCCESS or self.status is CallStatus.FAILED

    @property
    def answered(self) -> bool:
        """Whether the app has answered this call, with a result or an error other than `interrupted`."""
        return not self.provider_executed and self.input is not None and self.settled and is_answer(self.error)

    @property
    def is_outcome_unknown(self) -> bool:
        """Whether the app has started the call and not answered it, so that it may have run or not."""
        return self.pending and self.attempt > 0

    @property
    def waits(self) -> bool:
        """Whether the app must not run this call: it needs an approval, or may have run already."""
        return self.approval is ApprovalStatus.REQUESTED or self.is_outcome_unknown

    def request_approval(self, reason: str | None = None) -> ToolApprovalRequested:
        """Return the event that asks a person whether this call may run, with a *reason* for that person."""
        return ToolApprovalRequested(message_id=self.message_id, call_id=self.call_id, reason=reason)

    def approve(self) -> ToolApproved:
        """Return the event that lets this call run."""
        return ToolApproved(message_id=self.message_id, call_id=self.call_id)

    def deny(self, reason: str = "The user denied this call.") -> ToolFailed:
        """
        Return the event that answers this call with an error of kind `tool-denied`, which the model reads.

        Raises:
            LocalProtocolError: The call was approved or started: it may run, or have run.
        """
        if self.approval is ApprovalStatus.APPROVED or self.attempt:
            done = "started" if self.attempt else "approved"
            raise LocalProtocolError(f"call {self.call_id!r} cannot be denied: it was {done}")
        return self.fail(ErrorInfo(kind=ErrorKind.TOOL_DENIED, message=reason))

    def start(self) -> ToolStarted:
        """Return the event to store before the call runs: the next attempt."""
        return ToolStarted(message_id=self.message_id, call_id=self.call_id, attempt=self.attempt + 1)

    def progress(self, output: ContentInput, *, default: Default | None = None) -> ToolProgress:
        """Return the live event that shows what the call has so far; see `succeed`."""
        return ToolProgress(
            message_id=self.message_id, call_id=self.call_id, output=as_content(output, default=default)
        )

    def succeed(
        self, output: ContentInput = (), *, default: Default | None = None, state: State = NO_STATE
    ) -> ToolSuccess:
        """Return the event that answers this call with *output*, converted by `as_content` with *default*."""
        return ToolSuccess(
            message_id=self.message_id,
            call_id=self.call_id,
            output=as_content(output, default=default),
            provider_executed=self.provider_executed,
            state=state,
        )

    def fail(
        self,
        error: ErrorInfo | BaseException | str,
        *,
        output: ContentInput = (),
        default: Default | None = None,
        state: State = NO_STATE,
    ) -> ToolFailed:
        """
        Return the event that fails this call, with *output* as in `succeed`.

        A `str` becomes the message of an error of kind `tool`; so do the class and the text of an exception, without
        the credentials of its request and with a bounded length.
        """
        if isinstance(error, BaseException):
            from assistant_events.values.credentials import error_text  # imports urllib

            error = error_text(error)
        info = ErrorInfo(kind=ErrorKind.TOOL, message=error) if isinstance(error, str) else error
        return ToolFailed(
            message_id=self.message_id,
            call_id=self.call_id,
            error=info,
            output=as_content(output, default=default),
            provider_executed=self.provider_executed,
            state=state,
        )


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class OpaquePart(validators.Extensible):
    """An item of the provider that the catalogue has no event for."""

    type: ClassVar[Literal["opaque"]] = "opaque"

    status: PartStatus = attrs.field(default=PartStatus.COMPLETED, converter=PartStatus)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


Part: TypeAlias = TextPart | ReasoningPart | MediaPart | ToolPart | OpaquePart
PART_CLASSES: tuple[type[Part], ...] = Part.__args__


def content_status(part: Part) -> PartStatus | None:
    """Return the status of the content of *part*, of a call that of its input: `None` for one that came whole."""
    return part.input_status if isinstance(part, ToolPart) else part.status


@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class _Message(validators.Extensible):
    version: ClassVar[int] = 1

    id: str = attrs.field(validator=validators.check_name)
    """Unique in the session; chosen by the app."""


def _as_parts(value: Iterable[Part]) -> tuple[Part, ...]:
    return validators.tuple_of(value, PART_CLASSES, "parts", "a part")


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class UserMessage(_Message):
    """A prompt of the user."""

    type: ClassVar[Literal["user"]] = "user"

    status: ClassVar[Literal[MessageStatus.COMPLETED]] = MessageStatus.COMPLETED
    """A prompt is always complete."""

    content: tuple[Content, ...] = attrs.field(converter=as_content)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def text(self) -> str:
        """The texts, joined without a separator; JSON content as JSON text, without media."""
        return plain_text(self.content)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class AssistantMessage(_Message):
    """One step: one response of one model."""

    type: ClassVar[Literal["assistant"]] = "assistant"

    origin: Origin = attrs.field(validator=validators.IsA(Origin))
    """The provider, model and dialect that issued it."""

    run: RemoteRun | None = attrs.field(default=None, validator=validators.IsA(RemoteRun, optional=True))
    """The response at the provider; `None` without an id."""

    parts: tuple[Part, ...] = attrs.field(default=(), converter=_as_parts)
    """Its parts, in the order of their start."""

    status: MessageStatus = attrs.field(default=MessageStatus.RUNNING, converter=MessageStatus)
    """Status of the step. The client calls of a completed step may still wait for results."""

    finish_reason: FinishReason | None = attrs.field(default=None, converter=attrs.converters.optional(FinishReason))
    """Why the provider ended the step; `None` unless completed."""

    raw_finish_reason: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    """The provider's own value for `finish_reason`; `None` unless completed, or when it sent none."""

    usage: Usage | None = attrs.field(default=None, validator=validators.IsA(Usage, optional=True))
    """Tokens of this step; `None` while it is running, and when the provider sent no counts."""

    error: ErrorInfo | None = attrs.field(default=None, validator=validators.IsA(ErrorInfo, optional=True))
    """Why the step failed; `None` unless it did."""

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """Facts of the provider about the step, from its end: shown, never sent back."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """State that the provider needs back with the message."""

    times: Times | None = attrs.field(default=None, eq=False, repr=False)
    """Start and end of the step; `None` when it was not folded from records."""

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
        """All calls, including those that the provider runs."""
        return tuple([part for part in self.parts if isinstance(part, ToolPart)])

    @property
    def pending_tool_calls(self) -> tuple[ToolPart, ...]:
        """Client calls without a result. Empty in a failed message, whose calls must not be run."""
        if self.status is MessageStatus.FAILED:
            return ()
        return tuple([call for call in self.tool_calls if call.pending])

    @property
    def acted(self) -> bool:
        """Whether the app has started or answered a call: the step cannot be restarted any more."""
        return any(call.answered or call.attempt for call in self.tool_calls)

    @property
    def media(self) -> tuple[MediaPart, ...]:
        """All media."""
        return tuple([part for part in self.parts if isinstance(part, MediaPart)])

    def raise_for_error(self) -> Self:
        """
        Return the message unless it has failed.

        Raises:
            AnswerError: The step failed.
        """
        if self.error is not None:
            raise AnswerError(self, self.error)
        return self


@final
class AnswerError(RemoteProtocolError):
    """A step failed: *answer* is its message, *error* the reason. See `AssistantMessage.raise_for_error`."""

    def __init__(self, answer: AssistantMessage, error: ErrorInfo) -> None:
        super().__init__(error.kind, error.message)
        self.answer = answer
        self.error = error

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.answer, self.error))


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class CompactionMessage(_Message):
    """A summary of the messages before it, written by the app."""

    type: ClassVar[Literal["compaction"]] = "compaction"

    reason: Literal["auto", "manual"] = attrs.field(validator=validators.check_reason)
    """`manual` when the user asked for the summary, `auto` when the app did it by itself."""

    origin: Origin | None = attrs.field(default=None, validator=validators.IsA(Origin, optional=True))
    """The model that writes it; `None` when no model does."""

    status: MessageStatus = attrs.field(default=MessageStatus.RUNNING, converter=MessageStatus)

    text: str = attrs.field(default="", converter=validators.to_text, validator=validators.check_text)
    """The summary; what there is of it while it is running."""

    error: ErrorInfo | None = attrs.field(default=None, validator=validators.IsA(ErrorInfo, optional=True))
    """Why it failed; `None` unless it did."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    times: Times | None = attrs.field(default=None, eq=False, repr=False)


Message: TypeAlias = UserMessage | AssistantMessage | CompactionMessage
MESSAGE_CLASSES: tuple[type[Message], ...] = Message.__args__


def plain_text(content: tuple[Content, ...]) -> str:
    """Return the texts of *content*, with JSON content as JSON text, and without media."""
    held = [item for item in content if not isinstance(item, MediaContent)]
    return "".join([item.text if isinstance(item, TextContent) else write_json(item.value).decode() for item in held])
