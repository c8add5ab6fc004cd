"""
The catalogue of events, one immutable class each.

An event is *durable* (kept, has a place in the log) or *live* (a streaming update that may be lost). The class name
is the type in CamelCase. A fragment (text, reasoning, media, tool input, compaction) is `*.started` (durable),
`*.delta` (live), `*.ended` (durable, with the full final value). Text, reasoning and media are addressed by their
kind: a message has at most one of each open. Calls are addressed by `call_id`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, final

import attrs

from assistant_events.values import (
    Citation,
    Content,
    ErrorInfo,
    FinishReason,
    JsonObject,
    Origin,
    RemoteRun,
    State,
    Usage,
    validators,
)
from assistant_events.values.content import as_content, size_only, to_bytes
from assistant_events.values.info import as_citations, to_finish
from assistant_events.values.validators import NO_FIELDS, NO_STATE, check_text_or_none, to_optional_text

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # only for type checkers: its import is slow


@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class _Event(validators.Extensible):
    version: ClassVar[int] = 1

    message_id: str = attrs.field(validator=validators.check_name)
    """The message that this event belongs to."""


# A class without fields of its own shares the constructor of its base: attrs would compile another.
class _Durable(_Event):
    __slots__ = ()
    durable: ClassVar[Literal[True]] = True


@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class _DurableOfCall(_Durable):
    call_id: str = attrs.field(validator=validators.check_name)
    """Unique inside its message."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class PromptSubmitted(_Durable):
    """The user, or the app for them, submitted a prompt. It is a whole message."""

    type: ClassVar[Literal["prompt.submitted"]] = "prompt.submitted"

    content: tuple[Content, ...] = attrs.field(converter=as_content)


@final
class HistoryRewound(_Durable):
    """The message and all after it leave the transcript; the log keeps them. For regenerating and editing."""

    __slots__ = ()
    type: ClassVar[Literal["history.rewound"]] = "history.rewound"


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class StepStarted(_Durable):
    """A model began to answer: one response of one model, which is one assistant message."""

    type: ClassVar[Literal["step.started"]] = "step.started"

    origin: Origin = attrs.field(validator=validators.IsA(Origin))

    run: RemoteRun | None = attrs.field(default=None, validator=validators.IsA(RemoteRun, optional=True))
    """The response on the provider's side; `None` when it does not live there."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)

    before: str | None = attrs.field(
        default=None, converter=validators.to_optional_text, validator=validators.check_text_or_none
    )
    """
    The first prompt that came while the model was asked, and that it has not read: the answer is before it. `None`
    when it has read everything, and is the last.
    """


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class StepRestarted(_Durable):
    """The received content is void; the same message starts over."""

    type: ClassVar[Literal["step.restarted"]] = "step.restarted"

    reason: str = attrs.field(converter=validators.to_text, validator=validators.check_text)
    """Why, for people."""

    origin: Origin | None = attrs.field(default=None, validator=validators.IsA(Origin, optional=True))
    """Fills in the model names that the start of the step did not know; `None` when it adds nothing."""

    run: RemoteRun | None = attrs.field(default=None, validator=validators.IsA(RemoteRun, optional=True))
    """The response at the provider, if it is another one."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """State of the new attempt; that of the one before is void."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class StepEnded(_Durable):
    """
    The provider's answer is complete.

    It ends the answer, not its calls: calls that the app runs are answered after it.
    """

    type: ClassVar[Literal["step.ended"]] = "step.ended"

    finish_reason: FinishReason = attrs.field(converter=to_finish)

    raw_finish_reason: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    """The provider's own word; `None` when it gave none."""

    usage: Usage | None = attrs.field(default=None, validator=validators.IsA(Usage, optional=True))
    """`None` when the provider did not report any."""

    run: RemoteRun | None = attrs.field(default=None, validator=validators.IsA(RemoteRun, optional=True))
    """Replaces the one of the start when it is not `None`."""

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """Facts of the provider about the step that are not continuation: shown, never sent back."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """Replaces the one of the start when it is not empty."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class StepFailed(_Durable):
    """The step ended without a valid end. Content received before stays in the message."""

    type: ClassVar[Literal["step.failed"]] = "step.failed"

    error: ErrorInfo = attrs.field(validator=validators.IsA(ErrorInfo))
    usage: Usage | None = attrs.field(default=None, validator=validators.IsA(Usage, optional=True))
    run: RemoteRun | None = attrs.field(default=None, validator=validators.IsA(RemoteRun, optional=True))
    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)


@final
class TextStarted(_Durable):
    """Visible text begins."""

    __slots__ = ()
    type: ClassVar[Literal["text.started"]] = "text.started"


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class TextEnded(_Durable):
    """Visible text has ended; `text` is all of it."""

    type: ClassVar[Literal["text.ended"]] = "text.ended"

    text: str = attrs.field(converter=validators.to_text, validator=validators.check_text)

    complete: bool = attrs.field(default=True, validator=validators.check_flag)
    """False when it was cut; its state is then never sent to a provider."""

    citations: tuple[Citation, ...] = attrs.field(default=(), converter=as_citations)

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """Facts of the provider about the text, such as the speakers of a transcription: shown, never sent back."""

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)


@final
class ReasoningStarted(_Durable):
    """Reasoning begins."""

    __slots__ = ()
    type: ClassVar[Literal["reasoning.started"]] = "reasoning.started"


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ReasoningEnded(_Durable):
    """Reasoning has ended. The text may be empty, when only its state was received."""

    type: ClassVar[Literal["reasoning.ended"]] = "reasoning.ended"

    text: str = attrs.field(converter=validators.to_text, validator=validators.check_text)
    complete: bool = attrs.field(default=True, validator=validators.check_flag)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class MediaStarted(_Durable):
    """An image, an audio, a video or a document begins."""

    type: ClassVar[Literal["media.started"]] = "media.started"

    media_type: str = attrs.field(validator=validators.check_name)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class MediaEnded(_Durable):
    """A media item has ended: its bytes or its URI, or neither when it was cut before the first byte."""

    type: ClassVar[Literal["media.ended"]] = "media.ended"

    media_type: str = attrs.field(validator=validators.check_name)
    data: bytes | None = attrs.field(
        default=None, converter=to_bytes, validator=validators.IsA(bytes, optional=True), repr=size_only
    )
    uri: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    complete: bool = attrs.field(default=True, validator=validators.check_flag)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)

    def __attrs_post_init__(self) -> None:
        if self.data is not None and self.uri is not None:
            raise ValueError("MediaEnded: expected data or uri, not both")
        if self.complete and self.data is None and self.uri is None:
            raise ValueError("MediaEnded: expected data or uri for a complete media item")


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolInputStarted(_DurableOfCall):
    """The model begins to write the input of a call."""

    type: ClassVar[Literal["tool.input.started"]] = "tool.input.started"

    name: str = attrs.field(validator=validators.check_name)
    provider_executed: bool = attrs.field(default=False, validator=validators.check_flag)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolInputEnded(_DurableOfCall):
    """The input has ended; `text` is all of it as the model wrote it."""

    type: ClassVar[Literal["tool.input.ended"]] = "tool.input.ended"

    text: str = attrs.field(converter=validators.to_text, validator=validators.check_text)
    """Raw and unparsed."""

    complete: bool = attrs.field(default=True, validator=validators.check_flag)

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """State of the call."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolCalled(_DurableOfCall):
    """The input of the call is complete and an object. Legal without `tool.input.*` before it."""

    type: ClassVar[Literal["tool.called"]] = "tool.called"

    name: str = attrs.field(validator=validators.check_name)
    input: JsonObject = attrs.field(converter=validators.as_input)
    provider_executed: bool = attrs.field(default=False, validator=validators.check_flag)

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """Replaces the state of `tool.input.ended` when it is not empty."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolApprovalRequested(_DurableOfCall):
    """The app asks a person whether it may run the call."""

    type: ClassVar[Literal["tool.approval.requested"]] = "tool.approval.requested"

    reason: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    """Why, for people; `None` without a reason."""


@final
class ToolApproved(_DurableOfCall):
    """The call may run. A denial is `tool.failed` with an error of kind `tool-denied`."""

    __slots__ = ()
    type: ClassVar[Literal["tool.approved"]] = "tool.approved"


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolStarted(_DurableOfCall):
    """The app is about to run the call. Without a result after it, whether the call ran is unknown."""

    type: ClassVar[Literal["tool.started"]] = "tool.started"

    attempt: int = attrs.field(validator=validators.check_seq)
    """1 for the first run; higher for each further one."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolSuccess(_DurableOfCall):
    """The call was answered."""

    type: ClassVar[Literal["tool.success"]] = "tool.success"

    output: tuple[Content, ...] = attrs.field(default=(), converter=as_content)
    provider_executed: bool = attrs.field(default=False, validator=validators.check_flag)
    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """State of the result."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolFailed(_DurableOfCall):
    """The call failed, was cut, or never had an input to run with."""

    type: ClassVar[Literal["tool.failed"]] = "tool.failed"

    error: ErrorInfo = attrs.field(validator=validators.IsA(ErrorInfo))
    output: tuple[Content, ...] = attrs.field(default=(), converter=as_content)
    provider_executed: bool = attrs.field(default=False, validator=validators.check_flag)
    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class OpaqueReceived(_Durable):
    """A provider item without an event of its own, kept raw at its place so that it can be sent back."""

    type: ClassVar[Literal["opaque.received"]] = "opaque.received"

    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class CompactionStarted(_Durable):
    """The app begins to write a summary that replaces the messages before it in the context."""

    type: ClassVar[Literal["compaction.started"]] = "compaction.started"

    reason: Literal["auto", "manual"] = attrs.field(validator=validators.check_reason)
    origin: Origin | None = attrs.field(default=None, validator=validators.IsA(Origin, optional=True))
    """The model that writes it; `None` when no model does."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class CompactionEnded(_Durable):
    """The summary is written."""

    type: ClassVar[Literal["compaction.ended"]] = "compaction.ended"

    text: str = attrs.field(converter=validators.to_text, validator=validators.check_text)
    state: State = attrs.field(default=NO_STATE, converter=validators.as_state)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class CompactionFailed(_Durable):
    """The summary failed; the context does not change."""

    type: ClassVar[Literal["compaction.failed"]] = "compaction.failed"

    error: ErrorInfo = attrs.field(validator=validators.IsA(ErrorInfo))


class _Live(_Event):
    __slots__ = ()
    durable: ClassVar[Literal[False]] = False


@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class _Delta(_Live):
    offset: int = attrs.field(validator=validators.check_count)
    """How much of the fragment came before, in code points (bytes for media)."""


@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class _TextDelta(_Delta):
    delta: str = attrs.field(converter=validators.to_text, validator=validators.check_text)


@final
class TextDelta(_TextDelta):
    """A piece of the open text."""

    __slots__ = ()
    type: ClassVar[Literal["text.delta"]] = "text.delta"


@final
class ReasoningDelta(_TextDelta):
    """A piece of the open reasoning."""

    __slots__ = ()
    type: ClassVar[Literal["reasoning.delta"]] = "reasoning.delta"


def _to_bytes(value: bytes | bytearray | memoryview) -> bytes:
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class MediaDelta(_Delta):
    """A piece of the open media item."""

    type: ClassVar[Literal["media.delta"]] = "media.delta"

    delta: bytes = attrs.field(converter=_to_bytes, validator=validators.IsA(bytes), repr=size_only)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolInputDelta(_Delta):
    """A piece of the input of a call."""

    type: ClassVar[Literal["tool.input.delta"]] = "tool.input.delta"

    call_id: str = attrs.field(validator=validators.check_name)
    delta: str = attrs.field(converter=validators.to_text, validator=validators.check_text)


@final
class CompactionDelta(_TextDelta):
    """A piece of the summary."""

    __slots__ = ()
    type: ClassVar[Literal["compaction.delta"]] = "compaction.delta"


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ToolProgress(_Live):
    """Output of a running call so far. Replaces the last progress."""

    type: ClassVar[Literal["tool.progress"]] = "tool.progress"

    call_id: str = attrs.field(validator=validators.check_name)
    output: tuple[Content, ...] = attrs.field(default=(), converter=as_content)


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class UnknownEvent(validators.Frozen):
    """
    A stored event of a type or version that this version of the library does not know.

    Folds as `ignored` and is written back as it came.
    """

    durable: ClassVar[Literal[True]] = True

    type: str = attrs.field(validator=validators.check_name)
    version: int = attrs.field(validator=validators.check_count)

    data: State = attrs.field(default=NO_STATE, converter=validators.as_state)
    """The whole document. Hidden like a state, since it may hold one."""

    @property
    def message_id(self) -> str | None:
        """The `message_id` of the document; `None` without one."""
        value = self.data.get("message_id")
        return value if isinstance(value, str) else None


DurableEvent: TypeAlias = (
    PromptSubmitted
    | HistoryRewound
    | StepStarted
    | StepRestarted
    | StepEnded
    | StepFailed
    | TextStarted
    | TextEnded
    | ReasoningStarted
    | ReasoningEnded
    | MediaStarted
    | MediaEnded
    | ToolInputStarted
    | ToolInputEnded
    | ToolCalled
    | ToolApprovalRequested
    | ToolApproved
    | ToolStarted
    | ToolSuccess
    | ToolFailed
    | OpaqueReceived
    | CompactionStarted
    | CompactionEnded
    | CompactionFailed
)
DeltaEvent: TypeAlias = TextDelta | ReasoningDelta | MediaDelta | ToolInputDelta | CompactionDelta
LiveEvent: TypeAlias = TextDelta | ReasoningDelta | MediaDelta | ToolInputDelta | ToolProgress | CompactionDelta
Event: TypeAlias = DurableEvent | LiveEvent | UnknownEvent

DURABLE_EVENTS: tuple[type[DurableEvent], ...] = DurableEvent.__args__
LIVE_EVENTS: tuple[type[LiveEvent], ...] = LiveEvent.__args__
DELTA_EVENTS: tuple[type[DeltaEvent], ...] = DeltaEvent.__args__
"""Live events that are pieces of a fragment."""

EVENT_TYPES: Mapping[str, type[DurableEvent | LiveEvent]] = MappingProxyType(
    {cls.type: cls for cls in (*DURABLE_EVENTS, *LIVE_EVENTS)}
)
"""Every known type string and its class."""


def is_durable(event: Event) -> TypeIs[DurableEvent | UnknownEvent]:
    """
    Return whether *event* is stored in a log; `False` for a streaming update.

    Type checkers narrow by it: `store.append(session_id, list(filter(is_durable, events)))`.
    """
    return event.durable


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Record(validators.Frozen):
    """A durable event with its place in a log."""

    session_id: str = attrs.field(validator=validators.check_name)

    seq: int = attrs.field(validator=validators.check_seq)
    """1, 2, 3, … without gaps."""

    at: datetime = attrs.field(validator=validators.check_utc)
    """When it was appended, in UTC."""

    event: DurableEvent | UnknownEvent = attrs.field(
        validator=attrs.validators.instance_of((*DURABLE_EVENTS, UnknownEvent))
    )

    meta: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_meta)
    """The app's own; never read by the library, never sent to a provider."""


def _to_live_events(value: Iterable[LiveEvent]) -> tuple[LiveEvent, ...]:
    return validators.tuple_of(value, LIVE_EVENTS, "events", "a live event")


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Frame(validators.Frozen):
    """
    Live events of a session, with their place in its log.

    `reduce` applies a frame only to a transcript with the same `seq`, so that one that arrives late never changes a
    later fragment.
    """

    session_id: str = attrs.field(validator=validators.check_name)

    after: int = attrs.field(validator=validators.check_count)
    """`seq` of the record before the events; 0 before the first."""

    events: tuple[LiveEvent, ...] = attrs.field(converter=_to_live_events)
