"""
One of each: every event with all its fields filled, every value, every part, and messages in many states.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from assistant_events import (
    AssistantMessage,
    Citation,
    CompactionDelta,
    CompactionEnded,
    CompactionFailed,
    CompactionMessage,
    CompactionStarted,
    ErrorInfo,
    ErrorKind,
    Event,
    FinishReason,
    HistoryRewound,
    JsonContent,
    JsonObject,
    MediaContent,
    MediaDelta,
    MediaEnded,
    MediaPart,
    MediaStarted,
    Message,
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
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolPart,
    ToolProgress,
    ToolSuccess,
    Transcript,
    UnknownEvent,
    Usage,
    UserMessage,
)
from assistant_events.messages import Times, Turn
from assistant_events.testing import origin, run

NOON = datetime(2026, 1, 2, 12, 0, 0, 250, tzinfo=UTC)

_RUN = RemoteRun(id="int_1", resumable=True, kind="interaction")

EVENTS: tuple[Event, ...] = (
    PromptSubmitted(
        message_id="u1",
        content=(
            TextContent("What is on this picture? 🦉"),
            MediaContent(media_type="image/png", data=b"\x89PNG\r\n\x1a\n"),
            MediaContent(media_type="application/pdf", uri="https://files.example/a.pdf"),
            JsonContent({"zoom": 2.5, "tags": ["bird", None], "exact": 12345678901234567890123}),
        ),
    ),
    HistoryRewound(message_id="u1"),
    StepStarted(
        message_id="a1",
        origin=Origin(
            provider="google",
            model="gemini-3-pro",
            dialect="gemini-interactions",
            served_model="gemini-3-pro-001",
        ),
        run=_RUN,
        state=State(environment={"id": "env_1"}),
    ),
    StepRestarted(
        message_id="a1",
        reason="the replay says something else",
        origin=Origin(
            provider="google",
            model="gemini-3-pro",
            dialect="gemini-interactions",
            served_model="gemini-3-pro-001",
        ),
        run=RemoteRun(id="int_2", resumable=False, kind="interaction"),
        state=State(cursor="c-7"),
    ),
    StepEnded(
        message_id="a1",
        finish_reason=FinishReason.TOOL_CALLS,
        raw_finish_reason="requires_action",
        usage=Usage(
            input_tokens=120,
            cache_read_tokens=3000,
            cache_write_tokens=0,
            output_tokens=55,
            reasoning_tokens=700,
            details=JsonObject(input_tokens_by_modality=[{"modality": "text", "tokens": 120}]),
        ),
        run=_RUN,
        details=JsonObject(service_tier="standard"),
        state=State(id="int_1"),
    ),
    StepFailed(
        message_id="a1",
        error=ErrorInfo(
            kind=ErrorKind.OVERLOADED,
            message="The model is overloaded.",
            code="unavailable",
            status=503,
            retryable=True,
            retry_after_s=1.5,
            details=JsonObject(request_id="req_1"),
        ),
        usage=Usage(input_tokens=120),
        run=_RUN,
        details=JsonObject(service_tier="standard"),
        state=State(id="int_1"),
    ),
    TextStarted(message_id="a1"),
    TextDelta(message_id="a1", offset=4, delta="größer"),
    TextEnded(
        message_id="a1",
        text="Paris is the capital of",
        complete=False,
        citations=(
            Citation(
                url="https://en.example/paris",
                title="Paris",
                start=0,
                end=5,
                cited_text="Paris, the capital of France",
            ),
            Citation(title="An atlas"),
        ),
        details=JsonObject(speakers=["Ada"]),
        state=State(thought_signature="AbCd+/=="),
    ),
    ReasoningStarted(message_id="a1"),
    ReasoningDelta(message_id="a1", offset=0, delta="The user"),
    ReasoningEnded(
        message_id="a1",
        text="",
        complete=True,
        state=State(
            signature="\ud83d alone stays",
            summary=[{"text": "", "nested": [[]]}, 1.5, -3, True, None],
        ),
    ),
    MediaStarted(message_id="a1", media_type="audio/l16;rate=24000"),
    MediaDelta(message_id="a1", offset=2, delta=b"\x00\xff\xfe"),
    MediaEnded(
        message_id="a1",
        media_type="audio/l16;rate=24000",
        data=b"\x00\x01\x00\xff\xfe",
        uri=None,
        complete=False,
        state=State(id="audio_1"),
    ),
    ToolInputStarted(message_id="a1", call_id="call-1", name="google_search", provider_executed=True),
    ToolInputDelta(message_id="a1", call_id="call-1", offset=8, delta='"Zürich"}'),
    ToolInputEnded(message_id="a1", call_id="call-1", text='{"city":"Zür', complete=False, state=State(id="fc_1")),
    ToolCalled(
        message_id="a1",
        call_id="call-1",
        name="get_weather",
        input=JsonObject(city="Zürich", days=[1, 2], units={}),
        provider_executed=True,
        state=State(thought_signature="c2ln"),
    ),
    ToolProgress(message_id="a1", call_id="call-1", output=(TextContent("half way"),)),
    ToolSuccess(
        message_id="a1",
        call_id="call-1",
        output=(JsonContent(None), JsonContent((1, "two", False))),
        provider_executed=True,
        details=JsonObject(took_s=2),
        state=State(id="fr_1"),
    ),
    ToolFailed(
        message_id="a1",
        call_id="call-1",
        error=ErrorInfo(kind=ErrorKind.TOOL, message="no such city", retryable=False),
        output=(TextContent("Did you mean Zug?"),),
        provider_executed=True,
        details=JsonObject(took_s=2),
        state=State(id="fr_1"),
    ),
    OpaqueReceived(
        message_id="a1",
        state=State(type="url_context_call", id="uc_1", arguments={"urls": ["https://a.example"]}),
    ),
    CompactionStarted(
        message_id="c1",
        reason="manual",
        origin=Origin(provider="google", model=None, dialect="gemini-interactions", served_model=None),
    ),
    CompactionDelta(message_id="c1", offset=10, delta="about birds"),
    CompactionEnded(message_id="c1", text="They talked about birds.", state=State(by="app")),
    CompactionFailed(message_id="c1", error=ErrorInfo(kind="a-word-of-tomorrow", message="")),
)

PARTS: tuple[Part, ...] = (
    TextPart(
        text="Paris",
        status="completed",
        citations=[Citation(url="https://a.example", start=0, end=5)],
        details={"speakers": ["Ada"]},
        state={"sig": "x"},
        times=Times(started=NOON),
    ),
    ReasoningPart(text="", status="streaming", state={"sig": "+/="}),
    MediaPart(media_type="image/png", data=b"\x89PNG", status="incomplete"),
    MediaPart(media_type="image/png", uri="https://a.example/b.png", status="completed", state={"id": "i"}),
    ToolPart(message_id="a1", call_id="c1", name="look", status="streaming"),
    ToolPart(
        message_id="a1",
        call_id="c2",
        name="look",
        provider_executed=True,
        status="failed",
        raw_input='{"a":1}',
        input_status="completed",
        input=JsonObject(a=1),
        output=[JsonContent(None), TextContent("no")],
        error=ErrorInfo(kind="tool", message="no"),
        details={"took_s": 2},
        state={"id": "c"},
        result_state={"id": "r"},
        times=Times(started=NOON, ended=NOON + timedelta(seconds=1)),
    ),
    OpaquePart(state={"type": "odd"}),
)
MESSAGES: tuple[Message, ...] = (
    UserMessage(id="u1", content=["Where?", MediaContent(media_type="image/png", data=b"")], times=Times(ended=NOON)),
    AssistantMessage(id="a1", origin=origin()),
    AssistantMessage(
        id="a2",
        origin=origin(),
        run=run(),
        parts=PARTS,
        status="completed",
        finish_reason="stop",
        raw_finish_reason="end_turn",
        usage=Usage(input_tokens=0, details={"n": 1}),
        details={"tier": [1]},
        state={"id": "s"},
        times=Times(),
    ),
    AssistantMessage(id="a3", origin=origin(), status="failed", error=ErrorInfo(kind="newer", message="")),
    CompactionMessage(id="s1", reason="auto"),
    CompactionMessage(
        id="s2",
        reason="manual",
        origin=origin(),
        status="failed",
        text="They",
        error=ErrorInfo(kind="timeout", message="late"),
        state={"a": 1},
    ),
)
TRANSCRIPT = Transcript(messages=MESSAGES, seq=12, rewound={"u9", "a9"})
VALUES = (
    TextContent("Hi"),
    JsonContent({"a": [1, {"b": None}]}),
    MediaContent(media_type="image/png", data=b"\x89PNG"),
    MediaContent(media_type="image/png", uri="https://a.example/b.png"),
    Usage(input_tokens=1, details={"n": [1]}),
    ErrorInfo(kind="tool", message="no", code="E1", status=500, retryable=False, retry_after_s=2, details={"id": "r"}),
    origin(served_model="acme-1a"),
    run(),
    Citation(url="https://a.example", start=0, end=5),
    Times(started=NOON),
    JsonObject({"a": [1, {"b": None}]}),
    State({"a": [1, {"b": None}]}),
)
UNKNOWN = UnknownEvent(type="text.begun", version=3, data={"type": "text.begun", "v": 3, "state": {"a": [1]}})
RECORD = Record(session_id="s1", seq=3, at=NOON, event=EVENTS[-1], meta={"user": [1]})
TURN = Turn(prompt=MESSAGES[0], messages=MESSAGES[1:3])

EVERYTHING = (*VALUES, *EVENTS, UNKNOWN, RECORD, *PARTS, *MESSAGES, TURN, TRANSCRIPT)


def label(value: object) -> str:
    return " ".join([type(value).__name__, *[str(getattr(value, name, "")) for name in ("id", "status")]])
