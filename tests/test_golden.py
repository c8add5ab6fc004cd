"""
Documents of every version, written by hand, and what they mean for ever.

A document in `golden/v1` is never changed. A new version of an event gets a folder of its own beside it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant_events import (
    EVENT_TYPES,
    Citation,
    CompactionDelta,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    ErrorInfo,
    ErrorKind,
    Event,
    Finish,
    HistoryRewound,
    JsonContent,
    JsonObject,
    MediaContent,
    MediaDelta,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    Origin,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    Run,
    State,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextContent,
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
    Usage,
)
from assistant_events.converters import dumps, loads, structure, unstructure
from assistant_events.upcasting import EVENTS

GOLDEN = Path(__file__).parent / "golden"

_RUN = Run(id="int_1", resumable=True, kind="interaction")

V1: tuple[Event, ...] = (
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
        run=Run(id="int_2", resumable=False, kind="interaction"),
        state=State(cursor="c-7"),
    ),
    StepEnded(
        message_id="a1",
        finish=Finish.TOOL_CALLS,
        raw_finish="requires_action",
        usage=Usage(
            input=120,
            cache_read=3000,
            cache_write=0,
            output=55,
            reasoning=700,
            details=JsonObject(input_tokens_by_modality=[{"modality": "text", "tokens": 120}]),
        ),
        run=_RUN,
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
        ),
        usage=Usage(input=120),
        run=_RUN,
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
        state=State(id="fr_1"),
    ),
    ToolFailed(
        message_id="a1",
        call_id="call-1",
        error=ErrorInfo(kind=ErrorKind.TOOL, message="no such city", retryable=False),
        output=(TextContent("Did you mean Zug?"),),
        provider_executed=True,
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


def golden(event: Event) -> bytes:
    return (GOLDEN / f"v{event.version}" / f"{event.type}.json").read_bytes()


@pytest.fixture(params=V1, ids=[event.type for event in V1])
def event(request):
    return request.param


def test_document_means_what_it_meant(event):
    """
    The document reads as exactly the event that is written out here.
    """
    assert event == loads(golden(event), Event)


def test_parsed_document_means_the_same(event):
    """
    Plain JSON reads as JSON text does.
    """
    assert event == structure(json.loads(golden(event)), Event)


def test_event_is_written_as_the_document(event):
    """
    The event is written as an equal document: the same fields, and none that equals its default.
    """
    assert json.loads(golden(event)) == json.loads(dumps(event))
    assert json.loads(golden(event)) == unstructure(event)


def test_fields_stand_in_the_order_of_the_document(event):
    """
    Fields are written in one order: type, version, message, then as the class has them.
    """
    assert list(json.loads(golden(event))) == list(unstructure(event))
    assert list(json.loads(golden(event))) == list(json.loads(dumps(event)))


def test_every_type_has_a_document():
    """
    No event is without a golden document, and no document is without an event.
    """
    assert sorted(EVENT_TYPES) == sorted(path.stem for path in (GOLDEN / "v1").iterdir())
    assert sorted(EVENT_TYPES) == sorted(event.type for event in V1)


def test_types_are_for_ever():
    """
    A type string that was stored once stays in the catalogue.
    """
    assert json.loads((GOLDEN / "types.json").read_bytes()) == sorted(EVENT_TYPES)


def test_every_version_has_a_way_up():
    """
    Documents of every older version of an event are brought up to the one that its class has.
    """
    assert {type_: EVENTS.newest(type_) for type_ in EVENT_TYPES} == {
        type_: cls.version for type_, cls in EVENT_TYPES.items()
    }
