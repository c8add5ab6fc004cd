"""
What type checkers see of the public API. Checked by mypy and pyright, never run.

Every public union is matched to its end, so a member that is added makes this file fail until it is thought of.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Literal, assert_never, assert_type

from assistant_events import (
    AssistantMessage,
    CallStatus,
    Citation,
    CompactionDelta,
    CompactionEnded,
    CompactionFailed,
    CompactionMessage,
    CompactionStarted,
    Content,
    DurableEvent,
    ErrorInfo,
    ErrorKind,
    Event,
    FinishReason,
    HistoryRewound,
    JsonContent,
    JsonObject,
    LiveEvent,
    MediaContent,
    MediaDelta,
    MediaEnded,
    MediaPart,
    MediaStarted,
    Message,
    MessageStatus,
    OpaquePart,
    OpaqueReceived,
    Origin,
    Part,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningPart,
    ReasoningStarted,
    Record,
    RemoteRun,
    State,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextContent,
    TextDelta,
    TextEnded,
    TextPart,
    TextStarted,
    ToolApprovalRequested,
    ToolApproved,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolPart,
    ToolProgress,
    ToolStarted,
    ToolSuccess,
    Transcript,
    UnknownEvent,
    Usage,
    UserMessage,
    find_problems,
    fold,
    is_durable,
    reconcile,
    redact,
    reduce,
    thaw,
)
from assistant_events.adapters import Encode, Encoded, load_dialect
from assistant_events.adapters.anthropic_messages.client import AnthropicMessages, SyncAnthropicMessages
from assistant_events.adapters.gemini_interactions import encode
from assistant_events.errors import LocalProtocolError, RemoteProtocolError
from assistant_events.history import Drop
from assistant_events.messages import PartStatus, Turn
from assistant_events.recorder import Recorder
from assistant_events.reducer import Builder, Outcome, Problem
from assistant_events.session import Client
from assistant_events.testing import Call, Clock, answer, compaction, deltas, ids, message, prompt, records
from assistant_events.values import JsonValue, as_content, freeze


def name_event(event: Event) -> str | None:
    match event:
        case PromptSubmitted() | HistoryRewound() | UnknownEvent():
            return event.message_id
        case StepStarted() | StepRestarted() | StepEnded() | StepFailed():
            return event.run.id if event.run is not None else None
        case TextStarted() | ReasoningStarted() | MediaStarted():
            return event.type
        case TextDelta() | ReasoningDelta() | CompactionDelta() | ToolInputDelta():
            return event.delta
        case TextEnded() | ReasoningEnded() | CompactionEnded():
            return event.text
        case MediaDelta() | MediaEnded():
            return event.type
        case ToolInputStarted() | ToolInputEnded() | ToolCalled() | ToolProgress() | ToolSuccess() | ToolFailed():
            return event.call_id
        case ToolApprovalRequested() | ToolApproved() | ToolStarted():
            return event.call_id
        case OpaqueReceived() | CompactionStarted() | CompactionFailed():
            return event.type
        case _ as never:
            assert_never(never)


def is_kept(event: Event) -> bool:
    if event.durable is True:
        kept: DurableEvent | UnknownEvent = event
        return kept.durable
    live: LiveEvent = event
    return live.durable


def name_durable(event: DurableEvent) -> str:
    match event:
        case PromptSubmitted() | HistoryRewound() | OpaqueReceived():
            return event.type
        case StepStarted() | StepRestarted() | StepEnded() | StepFailed():
            return event.type
        case TextStarted() | TextEnded() | ReasoningStarted() | ReasoningEnded() | MediaStarted() | MediaEnded():
            return event.type
        case ToolInputStarted() | ToolInputEnded() | ToolCalled() | ToolSuccess() | ToolFailed():
            return event.type
        case ToolApprovalRequested() | ToolApproved() | ToolStarted():
            return event.type
        case CompactionStarted() | CompactionEnded() | CompactionFailed():
            return event.type
        case _ as never:
            assert_never(never)


def name_live(event: LiveEvent) -> int | str:
    match event:
        case TextDelta() | ReasoningDelta() | MediaDelta() | ToolInputDelta() | CompactionDelta():
            return event.offset
        case ToolProgress():
            return event.call_id
        case _ as never:
            assert_never(never)


def name_message(each: Message) -> str:
    match each:
        case UserMessage() | AssistantMessage() | CompactionMessage():
            return each.text
        case _ as never:
            assert_never(never)


def name_part(part: Part) -> str:
    match part:
        case TextPart() | ReasoningPart():
            return part.text
        case MediaPart():
            return part.media_type
        case ToolPart():
            return part.name
        case OpaquePart():
            return part.type
        case _ as never:
            assert_never(never)


def name_content(content: Content) -> object:
    match content:
        case TextContent():
            return content.text
        case JsonContent():
            return thaw(content.value)
        case MediaContent():
            return content.data if content.uri is None else content.uri
        case _ as never:
            assert_never(never)


def name_json(value: JsonValue) -> str:
    match value:
        case None | bool() | int() | float() | str():
            return str(value)
        case tuple():
            return "".join([name_json(item) for item in value])
        case JsonObject():
            return "".join([name_json(item) for item in value.values()])
        case _ as never:
            assert_never(never)


def name_finish(finish_reason: FinishReason) -> str:
    match finish_reason:
        case (
            FinishReason.STOP
            | FinishReason.LENGTH
            | FinishReason.TOOL_CALLS
            | FinishReason.CONTENT_FILTER
            | FinishReason.PAUSE
            | FinishReason.OTHER
        ):
            return finish_reason.value
        case _ as never:
            assert_never(never)


def name_statuses(status: MessageStatus, part: PartStatus, call: CallStatus) -> str:
    match status:
        case MessageStatus.RUNNING | MessageStatus.COMPLETED | MessageStatus.FAILED:
            pass
        case _ as never_status:
            assert_never(never_status)
    match part:
        case PartStatus.STREAMING | PartStatus.COMPLETED | PartStatus.INCOMPLETE:
            pass
        case _ as never_part:
            assert_never(never_part)
    match call:
        case CallStatus.STREAMING | CallStatus.CALLED | CallStatus.SUCCESS | CallStatus.FAILED:
            return f"{status} {part} {call}"
        case _ as never_call:
            assert_never(never_call)


def name_outcome(outcome: Outcome) -> str:
    match outcome:
        case Outcome.APPLIED | Outcome.DUPLICATE | Outcome.CONFLICT | Outcome.LATE:
            return outcome.value
        case Outcome.ORPHAN | Outcome.GAP | Outcome.IGNORED:
            return outcome.value
        case _ as never:
            assert_never(never)


def fold_a_session(log: list[Record], live: list[Event]) -> Transcript:
    transcript = fold(log)
    transcript = fold(live, start=transcript, strict=True)
    transcript, outcome = reduce(transcript, live[0], strict=False)
    assert_type(outcome, Outcome)
    builder = Builder(transcript)
    builder.extend([*log, *live])
    assert_type(builder.apply(log[0]), Outcome)
    assert_type(builder.seq, int)
    assert_type(find_problems(live, start=transcript), list[Problem])
    assert_type(reconcile(transcript, abandon_calls=True, abandon_runs=True), list[DurableEvent])
    return builder.transcript


def part_events(events: list[Event]) -> None:
    for event in events:
        if is_durable(event):
            assert_type(event, DurableEvent | UnknownEvent)
        else:
            assert_type(event, LiveEvent)


def read_a_transcript(transcript: Transcript) -> None:
    assert_type(transcript.last, Message | None)
    assert_type(transcript.last_answer, AssistantMessage | None)
    assert_type(transcript["m1"], Message)
    assert_type(transcript.get("m1"), Message | None)
    assert_type(transcript.turns(), tuple[Turn, ...])
    assert_type(transcript.context(), tuple[Message, ...])
    assert_type(transcript.pending_tool_calls, tuple[ToolPart, ...])
    assert_type(redact(transcript), Transcript)
    assert_type(transcript.usage, Usage | None)
    assert_type("m1" in transcript, bool)
    for each in transcript:
        assert_type(each, Message)
        if isinstance(each, AssistantMessage):
            assert_type(redact(each), AssistantMessage)
            assert_type(each.media, tuple[MediaPart, ...])
            for call in each.pending_tool_calls:
                answer_a_call(call)


def answer_a_call(call: ToolPart) -> ToolSuccess | ToolFailed:
    arguments: dict[str, Any] = call.arguments
    if "city" not in arguments:
        return call.fail("no city")
    if arguments["city"] is None:
        return call.fail(ErrorInfo(kind=ErrorKind.TOOL_DENIED, message="not there", retryable=False))
    return call.succeed([TextContent("sunny"), {"degrees": 21}], state=State({"id": 1}))


def record_a_step() -> list[Event]:
    sink: list[Event] = []
    recorder = Recorder("m1", sink=sink)
    recorder.start(Origin(provider="acme", model="acme-1", dialect="acme-chat"), RemoteRun(id="r1", kind="response"))
    recorder.reasoning("Hm", key=("item", 1), state={"item": "x"})
    recorder.end_reasoning({"signature": "abc"}, key=("item", 1))
    recorder.text("Hi")
    recorder.end_text(citations=[Citation(url="https://x.test", start=0, end=2)])
    recorder.media(b"a", "image/png")
    recorder.end_media(uri="https://x.test/1")
    recorder.tool_input("c1", "search", "{")
    recorder.end_tool_input("c1", input={"a": 1})
    recorder.tool_call(None, "search", {"query": "x"}, provider_executed=True)
    recorder.tool_progress("call-1", "half")
    recorder.result("call-1", {"found": [1, 2]})
    recorder.result("c1", error=ErrorInfo(kind="tool", message="no"))
    recorder.opaque({"type": "new"})
    recorder.finish("stop", "STOP", Usage(input_tokens=1, output_tokens=2))
    try:
        recorder.restart("again")
    except LocalProtocolError as refused:
        assert_type(refused.reason, str)
    assert_type(recorder.close(), list[Event])
    return sink


def make_values(at: datetime) -> Record:
    assert_type(as_content({"a": 1}), tuple[Content, ...])
    assert_type(freeze([1, {"a": None}]), JsonValue)
    event = PromptSubmitted(message_id="m1", content="hi")
    assert_type(event.content, tuple[Content, ...])
    called = ToolCalled(message_id="m1", call_id="c1", name="search", input={"a": [1]})
    assert_type(called.input, JsonObject)
    ended = StepEnded(message_id="m1", finish_reason="stop", state={"id": "x"})
    assert_type(ended.finish_reason, FinishReason)
    assert_type(ended.state, State)
    return Record(session_id="s1", seq=1, at=at, event=event, meta={"user": 1})


def write_a_test() -> None:
    make_id, clock = ids("m"), Clock()
    events: list[Event] = [
        prompt("hi", message_id=make_id()),
        *answer("Hello", reasoning="Hm", calls=[Call("search", {"a": 1}, output="x")]),
        *compaction("so far"),
    ]
    assert_type(records(events, clock=clock), list[Record])
    assert_type(message(answer("Hi")), AssistantMessage)
    assert_type(deltas("Hi"), list[TextDelta])
    assert_type(deltas("Hi", kind="reasoning"), list[ReasoningDelta])
    assert_type(deltas("{}", call_id="c1"), list[ToolInputDelta])


def raise_what_failed(each: AssistantMessage) -> str:
    if each.error is not None:
        raise RemoteProtocolError(each.error.kind, each.error.message)
    return each.text


def ask_again(transcript: Transcript) -> dict[str, Any]:
    encoded = encode(transcript, {"model": "gemini-3-pro", "stream": True}, mode="full")
    assert_type(encoded, Encoded)
    assert_type(encoded.drops, tuple[Drop, ...])
    assert_type(encoded.mode, Literal["chained", "full", "hop"])
    encoder: Encode | None = load_dialect("gemini-interactions").encoder
    if encoder is not None:
        assert_type(encoder(transcript.messages, {"agent": "a"}, strip=True), Encoded)
    return encoded.body


class OwnClient:
    """A client of an app, with no more than the contract asks for."""

    dialect = load_dialect("openai-chat")
    provider = "openai"

    async def create(
        self, body: dict[str, Any], message_id: str, *, prior: object = None
    ) -> AsyncIterator[Mapping[str, Any]]:
        yield body

    def resume(self, message: AssistantMessage, *, request: object = None) -> list[bytes]:
        raise NotImplementedError

    async def stop(self, target: object) -> None:
        pass


def use_clients(own: OwnClient, library: AnthropicMessages, blocking: SyncAnthropicMessages) -> tuple[Client, ...]:
    return own, library, blocking
