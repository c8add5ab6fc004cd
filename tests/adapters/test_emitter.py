"""
Frames of the Interactions emitter, as the wire reference has them (sections 4, 8.5 and 9.3).
"""

import base64
import json

import attrs
import pytest

from assistant_events import (
    HistoryRewound,
    MediaStarted,
    OpaqueReceived,
    Origin,
    PromptSubmitted,
    ReasoningStarted,
    StepEnded,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolApprovalRequested,
    ToolApproved,
    ToolCalled,
    ToolFailed,
    ToolInputStarted,
    ToolProgress,
    ToolStarted,
    ToolSuccess,
    fold,
)
from assistant_events.adapters.anthropic_messages import AnthropicMessagesEmitter
from assistant_events.adapters.gemini_interactions import (
    GeminiInteractionsDecoder,
    GeminiInteractionsEmitter,
    sse,
)
from assistant_events.history import Drop, DropReason
from assistant_events.testing import answer, origin
from assistant_events.values import Citation, ErrorInfo, JsonContent, MediaContent, TextContent, Usage
from tests.adapters.reading import emitted_by

from .notation import (
    DIALECT,
    MODEL,
    USAGE,
    C,
    D,
    S,
    X,
    args,
    call_of,
    decoded,
    delta,
    ended,
    failed,
    failure,
    fc,
    input_of,
    interrupted,
    media_of,
    mo,
    opaque,
    reasoning_of,
    signature,
    started,
    step,
    stream,
    success,
    summary,
    text,
    text_of,
    th,
)

CREATED = {
    "interaction": {"id": "v1", "status": "in_progress", "object": "interaction", "model": MODEL},
    "event_type": "interaction.created",
}
UPDATE = {"interaction_id": "v1", "status": "in_progress", "event_type": "interaction.status_update"}
PNG = {"type": "image", "data": "AA==", "mime_type": "image/png"}
REQUIRES_ACTION = ended("tool-calls", "requires_action")


def completed(status="completed", **more):
    interaction = {"id": "v1", "status": status, "usage": USAGE, "object": "interaction", "model": MODEL, **more}
    return {"interaction": interaction, "event_type": "interaction.completed"}


def emitted(*events, **options):
    """
    Return the frames of these events and the drops.
    """
    emitter = GeminiInteractionsEmitter(**options)
    frames = [frame for event in events for frame in emitter.emit(event)] + emitter.close()
    return frames, emitter.drops


def told(*events, **options):
    """
    Return the frames of these events, having checked that nothing is dropped.
    """
    frames, drops = emitted(*events, **options)
    assert () == drops
    return frames


def inner(*events, end=None, **options):
    """
    Return the frames of the parts of a whole interaction.
    """
    return told(started(), *events, ended() if end is None else end, **options)[2:-2]


def dropped(*events, **options):
    """
    Return place and reason of each drop.
    """
    return [(drop.part, drop.reason) for drop in emitted(*events, **options)[1]]


UNPLACED = [(0, DropReason.UNPLACED)]


def image(i=0, **state):
    return media_of("image/png", b"\0", i=i, type="image", **state)


def search(call_id="s1", raw='{"queries":["q"]}', i=0, **state):
    """
    Return the events of a search that the provider runs, up to its result.
    """
    return call_of(call_id, raw, "google_search", i, provider=True, type="google_search_call", **state)


def result(call_id="s1", output=(), i=1, type="google_search_result", **state):
    return success(call_id, output, i=i, type=type, **state)


# -- whole answers


def test_text():
    """
    A text is one step; the interaction starts and ends with its id, and ends `completed`.
    """
    assert [
        *(CREATED, UPDATE),
        *(S(0, mo()), D(0, text("Hello")), X(0)),
        *(completed(), "[DONE]"),
    ] == told(started(), *text_of("Hello"), ended())


def test_frames_are_returned_by_the_event_that_completes_them():
    """
    A part of this dialect is written at its end; live events write nothing.
    """
    emitter = GeminiInteractionsEmitter()
    begun, end = text_of("Hello")
    events = [started(), begun, TextDelta(message_id="m", offset=0, delta="Hello"), end, ended()]

    assert [2, 0, 0, 2, 2] == [len(emitter.emit(event)) for event in events]
    assert ["[DONE]"] == emitter.close()
    assert [] == emitter.close()


def test_parts_keep_the_order_of_their_starts():
    """
    A part that ends before an earlier one waits for it.
    """
    begun, end = text_of("a")
    call = call_of("c1", "{}", i=1)

    assert [
        *(S(0, mo()), D(0, text("a")), X(0)),
        *(S(1, fc()), D(1, args("{}")), X(1)),
    ] == inner(begun, *call, end, end=REQUIRES_ACTION)


def test_texts_are_cut_on_request():
    """
    Texts and arguments come in deltas of at most so many characters.
    """
    frames = inner(*text_of("Hello"), *call_of("c1", '{"a":1}', i=1), end=REQUIRES_ACTION, delta_chars=4)

    assert [text("Hell"), text("o"), args('{"a"'), args(":1}")] == [each["delta"] for each in frames if "delta" in each]


# -- calls


def test_a_call_that_streams():
    """
    The start has id, name and `arguments: {}`, the arguments follow as JSON text.
    """
    events = call_of("c1", '{"a": 1}')

    assert [S(0, fc("c1", "f", {})), D(0, args('{"a": 1}')), X(0)] == inner(*events, end=REQUIRES_ACTION)
    assert completed("requires_action") == told(started(), *events, REQUIRES_ACTION)[-2]


def test_a_call_that_is_whole():
    """
    On request the arguments come with the start.
    """
    events = call_of("c1", '{"a":1}', signature="S=")

    assert [S(0, fc("c1", "f", {"a": 1}, signature="S=")), X(0)] == inner(
        *events, end=REQUIRES_ACTION, arguments="whole"
    )


@pytest.mark.parametrize("arguments", ["streamed", "whole"])
def test_a_call_with_input_that_is_not_an_object(arguments):
    """
    What the model wrote is sent as it is.
    """
    reason = "the input is not a JSON object but an array"
    events = [*input_of("c1", "[1]"), failure("c1", "invalid-input", reason, provider=False)]

    assert [S(0, fc()), D(0, args("[1]")), X(0)] == inner(*events, arguments=arguments)


def test_a_signature_of_a_call():
    """
    It comes with the last piece of the arguments.
    """
    frames = inner(*call_of("c1", '{"a":1}', signature="S="), end=REQUIRES_ACTION, delta_chars=4)

    assert [args('{"a"'), {**args(":1}"), "signature": "S="}] == [each["delta"] for each in frames if "delta" in each]


def test_ids_of_the_provider():
    """
    The wire has the id that the provider gave, and null where it gave none.
    """
    events = [
        *(*call_of("c1", "{}"), *call_of("c1#2", "{}", i=1, id="c1")),
        *(*call_of("call-1", "{}", i=2, id=""), *call_of("call-2", "{}", i=3, id=None)),
    ]
    frames = inner(*events, end=REQUIRES_ACTION)

    assert ["c1", "c1", "", None] == [each["step"]["id"] for each in frames if "step" in each]


def test_a_call_that_came_whole():
    """
    It is written like others.
    """
    whole = ToolCalled(message_id="m", call_id="c1", name="f", input={"a": 1}, state={"i": 0})
    frames, _ = emitted(started(), whole, REQUIRES_ACTION)

    assert [S(0, fc()), D(0, args('{"a":1}')), X(0)] == frames[2:-2]


def test_a_search():
    """
    Arguments and result come in deltas of their own types, each with its signature.
    """
    events = [*search(signature="S="), result(output=JsonContent([{"x": 1}]), signature="R=")]

    assert [
        S(0, step("google_search_call", id="s1")),
        D(0, delta("google_search_call", arguments={"queries": ["q"]}, signature="S=")),
        X(0),
        S(1, step("google_search_result", call_id="s1")),
        D(1, delta("google_search_result", result=[{"x": 1}], signature="R=")),
        X(1),
    ] == inner(*events)


@pytest.mark.parametrize(
    ("raw", "sent"),
    [('{"queries": []}', [D(0, args('{"queries": []}'))]), ("{}", [D(0, delta("google_search_call", arguments={}))])],
)
def test_arguments_of_a_search(raw, sent):
    """
    Arguments in other words than the plain ones are sent as text.
    """
    assert [S(0, step("google_search_call", id="s1")), *sent, X(0)] == inner(*search(raw=raw), result())[:-2]


def test_a_tool_of_a_server():
    """
    MCP calls have the name of their tool and of their server.
    """
    call = call_of("t1", "{}", "look", provider=True, type="mcp_server_tool_call", server_name="crm")

    assert [
        S(0, step("mcp_server_tool_call", id="t1", name="look", server_name="crm")),
        D(0, delta("mcp_server_tool_call", arguments={}, server_name="crm")),
    ] == inner(*call, result("t1", type="mcp_server_tool_result"))[:2]


def test_a_failed_tool():
    """
    A result that is an error has `is_error`; a call without arguments has no delta.
    """
    error = ("tool", "the tool reported an error", TextContent("no"))
    call = call_of("x1", "{}", "file_search", provider=True, type="file_search_call")

    assert [
        *(S(0, step("file_search_call", id="x1")), X(0)),
        S(1, step("file_search_result", call_id="x1")),
        D(1, delta("file_search_result", result="no", is_error=True)),
        X(1),
    ] == inner(*call, failure("x1", *error, i=1, type="file_search_result", is_error=True))


def test_a_call_without_a_result():
    """
    What the decoder concludes by itself is not written.
    """
    message = "the provider ended its answer without a result of this call"

    assert 3 == len(inner(*search(), failure("s1", "no-result", message)))


def test_a_result_without_its_call():
    """
    A call that was made up is not written.
    """
    call = call_of("x1", "{}", "url_context", provider=True, type="url_context_call", orphan=True)

    assert [S(0, step("url_context_result", call_id="x1")), X(0)] == inner(
        *call, success("x1", i=0, type="url_context_result")
    )


def test_results_that_are_decoded_to_others():
    """
    Several outputs of one result are one JSON value; an error has no message of its own.
    """
    both = (TextContent("a"), MediaContent(media_type="image/png", uri="u"))

    assert UNPLACED == dropped(started(), *search(), result(output=both), ended())
    assert UNPLACED == dropped(started(), *search(), failure("s1", "tool", "other words", i=1), ended())


# -- thoughts


def test_a_thought():
    """
    Each item of the summary is a delta, the signature comes last.
    """
    items = [summary("p")["content"], {"type": "image", "data": "AAAA"}, summary("q")["content"]]

    assert [
        S(0, th()),
        *[D(0, delta("thought_summary", content=item)) for item in items],
        *(D(0, signature("A=")), X(0)),
    ] == inner(*reasoning_of("pq", summary=items, signature="A="))
    assert [S(0, th()), D(0, signature("A=")), X(0)] == inner(*reasoning_of("", signature="A="))


def test_what_came_late_of_a_thought():
    """
    It is sent under the index of the thought, in one delta.
    """
    whole = [summary(word)["content"] for word in "pqr"]
    items = whole[1:]
    signed, unsigned = reasoning_of("qr", summary=whole, signature="A="), reasoning_of("qr", summary=whole)

    assert [D(0, signature("A="))] == inner(*reasoning_of("p"), *reasoning_of("", signature="A="))[3:]
    assert [D(0, delta("thought", summary=items, signature="A="))] == inner(*reasoning_of("p"), *signed)[3:]
    assert [D(0, delta("thought", summary=items)), D(0, delta("thought_summary"))] == (
        inner(*reasoning_of("p"), *unsigned)[3:]
    )


# -- text, media, sources


@pytest.mark.parametrize(
    ("events", "frames"),
    [
        pytest.param(
            [*text_of("a"), *image(), *text_of("b")],
            [S(0, mo()), D(0, text("a")), D(0, PNG), D(0, text("b")), X(0)],
            id="one step",
        ),
        pytest.param(
            [*image(), *text_of("b", 1)], [S(0, mo()), D(0, PNG), X(0), S(1, mo()), D(1, text("b")), X(1)], id="two"
        ),
        pytest.param(
            [*text_of("a"), *text_of("b")],
            [S(0, mo()), D(0, text("a")), X(0), D(0, text("b")), X(0)],
            id="two texts of one step",
        ),
        pytest.param(
            [*text_of("a"), *reasoning_of("t", 1), *text_of("b")],
            [S(0, mo()), D(0, text("a")), X(0), S(1, th()), D(1, summary("t")), X(1), D(0, text("b")), X(0)],
            id="late text",
        ),
    ],
)
def test_parts_of_one_step(events, frames):
    """
    Parts with the same `i` are written into one step; what came late continues it after its stop.
    """
    assert frames == inner(*events)


def test_audio():
    """
    Pieces of audio are sent as one; two audios of one step have a stop between them.
    """
    audio = media_of("audio/l16", b"abc", type="audio", block={"sample_rate": 24000})
    sent = {"type": "audio", "data": base64.b64encode(b"abc").decode(), "mime_type": "audio/l16", "sample_rate": 24000}

    assert [S(0, mo()), D(0, sent), X(0), D(0, sent), X(0)] == inner(*audio, *audio)


def test_media_without_bytes():
    """
    What cannot be decoded is sent as it came.
    """
    begun, end = media_of("image/png", complete=False)
    bad = [begun, attrs.evolve(end, state={"i": 0, "type": "image", "data": "%%%"})]

    assert D(0, {"type": "image", "data": "%%%", "mime_type": "image/png"}) == inner(*bad)[1]


@pytest.mark.parametrize(
    "state", [{"annotations": [{"type": "url_citation", "url": "u", "end_index": 2}]}, {}], ids=len
)
def test_sources(state):
    """
    Annotations follow the text; citations of another provider become annotations with places in bytes.
    """
    citation = Citation(url="u", title=None if state else "E", start=None if state else 0, end=1)
    expected = state or {
        "annotations": [{"type": "url_citation", "url": "u", "title": "E", "start_index": 0, "end_index": 2}]
    }
    frames, _ = emitted(started(), *text_of("é", citations=(citation,), **state), ended())

    assert D(0, {"type": "text_annotation_delta", **expected}) == frames[4]


def test_sources_of_a_text_behind_a_medium():
    """
    Their places count all texts of the step.
    """
    image = {"type": "image", "data": "AAAA", "mime_type": "image/png"}
    cited = {"type": "text", "text": "and", "annotations": [{"type": "url_citation", "url": "u", "end_index": 3}]}
    answered = step("model_output", content=[{"type": "text", "text": "see"}, image, cited])
    document = {"id": "v1", "status": "completed", "model": MODEL, "steps": [answered]}
    given = DIALECT.decode_resource(document, "m")
    drops, body, read = emitted_by(DIALECT, given)

    assert ((), fold(given).last.parts) == (drops, fold(read).last.parts)
    assert b'"end_index":6' in body


def test_a_text_without_content():
    """
    An empty text is nothing on the wire, unless it has sources or other fields.
    """
    note = {"type": "url_citation", "url": "u"}
    sourced = text_of("", citations=(Citation(url="u"),), annotations=[note])

    assert UNPLACED == dropped(started(), *text_of(""), ended())
    assert [S(0, mo()), D(0, delta("text_annotation_delta", annotations=[note])), X(0)] == inner(*sourced)


# -- what is not known


def test_opaque_items():
    """
    What was kept raw is sent raw: steps with their deltas, content in the start, calls without a name.
    """
    raw, odd = {"type": "dream", "plot": [1]}, {"type": "dream_piece", "x": 1}
    nameless = opaque(2, type="function_call", id=None, arguments='{"a":1}')

    assert [
        *(S(0, raw), D(0, odd), X(0)),
        *(S(1, step("model_output", content=[{"type": "scent"}])), X(1)),
        *(S(2, step("function_call", arguments='{"a":1}')), X(2)),
    ] == inner(opaque(0, step=raw, deltas=[odd]), opaque(1, content={"type": "scent"}), nameless)


@pytest.mark.parametrize(
    ("events", "frames"),
    [
        pytest.param(
            text_of("a", extra={"mood": 1}, deltas=[{"type": "odd"}], block={"x": 1}),
            [S(0, mo(mood=1)), D(0, text("a")), D(0, {**text(""), "x": 1}), D(0, delta("odd")), X(0)],
            id="text",
        ),
        pytest.param(
            reasoning_of("", extra={"mood": 1}, deltas=[{"type": "odd"}], signature="A="),
            [S(0, th(mood=1)), D(0, delta("odd")), D(0, signature("A=")), X(0)],
            id="thought",
        ),
        pytest.param(
            [*text_of("a"), *image(deltas=[{"type": "odd"}])],
            [S(0, mo()), D(0, text("a")), X(0), D(0, delta("odd")), D(0, PNG), X(0)],
            id="second part",
        ),
        pytest.param(
            [*reasoning_of("p"), *reasoning_of("", deltas=[{"type": "odd"}])],
            [S(0, th()), D(0, summary("p")), X(0), D(0, delta("odd")), D(0, delta("thought_summary"))],
            id="late part",
        ),
    ],
)
def test_unknown_fields(events, frames):
    """
    Fields that are not documented come with the start, those of a text behind it; unknown deltas before the stop.
    """
    assert frames == inner(*events)


def test_unknown_fields_that_came_late():
    """
    A step that was started has no place for more fields.
    """
    assert [(1, DropReason.UNPLACED)] == dropped(started(), *text_of("a"), *image(extra={"mood": 1}), ended())


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(reasoning_of("", signature="A\ud83d"), id="signature"),
        pytest.param(text_of("a", block={"odd": ["\ude00"]}), id="block"),
        pytest.param([*search(), result(output=JsonContent(["\ud83d"]))], id="result"),
    ],
)
def test_half_of_a_character_is_reported(events):
    """
    Half of a surrogate pair becomes U+FFFD, and is reported.
    """
    frames, drops = emitted(started(), *events, ended())

    assert (Drop("m", 0, DropReason.UNPLACED),) == drops
    assert b"\xef\xbf\xbd" in b"".join(map(sse, frames))


# -- start and end


def test_what_was_not_stored_has_no_id():
    """
    With `store: false` the id is empty.
    """
    frames = told(started(""), ended(id=""))

    assert ["", ""] == [frame["interaction"]["id"] for frame in (frames[0], frames[2])]
    assert "interaction_id" not in frames[1]


def test_agents():
    """
    The name of an agent is under its own key.
    """
    assert "model" not in told(started(), agent=True)[0]["interaction"]
    assert MODEL == told(started(), agent=True)[0]["interaction"]["agent"]


def test_fields_of_the_interaction():
    """
    Fields that no event has are given by the caller.
    """
    frames = told(started(), ended(), fields={"created": "2026-06-02T10:00:00Z", "service_tier": "standard"})

    assert ["standard", "standard"] == [frame["interaction"]["service_tier"] for frame in (frames[0], frames[2])]


def test_without_status_updates():
    """
    They can be left out.
    """
    assert [CREATED, completed(), "[DONE]"] == told(started(), ended(), status_updates=False)


def test_hops():
    """
    An answer in several interactions has a first and a last frame for each, and one mark at its end.
    """
    paused = ended("pause", "requires_continuation", state={"interaction_id": "v1", "continuation_token": "dG9r"})
    frames = told(
        *(started(), *text_of("a"), paused),
        *(started("v2", message_id="m.2"), *text_of("b", message_id="m.2"), ended(id="v2", message_id="m.2")),
    )

    assert completed("requires_continuation", continuation_token="dG9r") == frames[5]
    assert ("v2", 0) == (frames[6]["interaction"]["id"], frames[8]["index"])
    assert 1 == frames.count("[DONE]")


def test_the_sandbox_of_an_agent():
    """
    Its id is in the first and the last frame.
    """
    state = {"interaction_id": "v1", "environment_id": "e1"}
    frames = told(started(state=state), ended(state=state))

    assert ["e1", "e1"] == [frame["interaction"]["environment_id"] for frame in (frames[0], frames[2])]


def test_a_token_before_the_start():
    """
    A continuation token that is known when the step starts comes before it.
    """
    frames, _ = emitted(started(state={"interaction_id": "v1", "continuation_token": "dG9r"}))

    assert ["dG9r", None] == [frame.get("continuation_token") for frame in frames[:2]]


def test_usage_that_no_end_confirmed():
    """
    It comes before the end.
    """
    usage = Usage(input_tokens=10, output_tokens=3, details={**USAGE, "partial": True})
    frames = told(started(), ended(usage=usage))

    assert USAGE == frames[2]["usage"]
    assert "usage" not in frames[3]["interaction"]


def test_usage_without_a_field():
    """
    Tokens that were written into a cache have no field of their own.
    """
    assert [(None, DropReason.UNPLACED)] == dropped(
        started(), ended(usage=Usage(input_tokens=1, cache_write_tokens=2, details={"total_input_tokens": 1}))
    )


@pytest.mark.parametrize("finish", ["stop", "tool-calls", "length", "content-filter", "pause", "other"])
def test_finish_reasons_of_others(finish):
    """
    Finish reasons of other providers become the nearest status.
    """
    expected = {"stop": "completed", "tool-calls": "requires_action", "pause": "requires_continuation"}
    emitter = GeminiInteractionsEmitter()
    emitter.emit(StepStarted(message_id="m", origin=origin()))

    [end] = emitter.emit(StepEnded(message_id="m", finish_reason=finish, raw_finish_reason="x"))

    assert expected.get(finish, "incomplete") == end["interaction"]["status"]


# -- failures

BOOM = ErrorInfo(kind="provider", message="boom", code="internal")


def test_an_error_of_the_provider():
    """
    It is an `error` event, followed by the mark alone; what is open stays open.
    """
    assert [
        *(S(0, mo()), D(0, text("a"))),
        *({"error": {"code": "internal", "message": "boom"}, "event_type": "error"}, "[DONE]"),
    ] == told(started(), *text_of("a", complete=False), failed(BOOM))[2:]


def test_an_error_with_usage():
    """
    With usage it is an interaction that failed: the event has no place for it.
    """
    end = told(started(), failed(BOOM, usage=Usage(input_tokens=10, output_tokens=3, details=USAGE)))[-2]

    assert ("failed", [{"code": "internal", "message": "boom"}]) == (
        end["interaction"]["status"],
        end["interaction"]["errors"],
    )


def test_an_error_of_an_output():
    """
    A code that is not an HTTP status is one of an output.
    """
    error = ErrorInfo(kind="rate-limit", message="slow down", code="8", retryable=True)

    assert [
        *(S(0, step("model_output", error={"code": 8, "message": "slow down"})), X(0)),
    ] == told(started(), failed(error))[2:4]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ErrorInfo(kind="cancelled", message="the interaction was cancelled"), "cancelled"),
        (ErrorInfo(kind="provider", message="the interaction failed"), "failed"),
        (interrupted("the stream ended while the interaction was queued"), "queued"),
    ],
)
def test_failures_that_are_a_status(error, status):
    """
    Some failures are a status and nothing else.
    """
    assert status == told(started(), failed(error))[-2]["interaction"]["status"]


@pytest.mark.parametrize(
    "error",
    [
        ErrorInfo(kind="rate-limit", message="slow", code="429", status=429, retryable=True),
        ErrorInfo(kind="not-found", message="gone", code="NOT_FOUND", status=404),
        ErrorInfo(kind="provider", message="only words"),
        ErrorInfo(kind="rate-limit", message="slow", code="RESOURCE_EXHAUSTED", status=429, retryable=True),
        ErrorInfo(kind="overloaded", message="busy", code="unavailable", retryable=True),
    ],
)
def test_errors_come_back(error):
    """
    An error that the decoder made is decoded to the same.
    """
    _, events = decoded(stream(*told(started(), failed(error))))

    assert error == events[-1].error


@pytest.mark.parametrize("error", [("tool-denied", "no"), ("cancelled", "by hand"), ("aborted", "stopped")])
def test_errors_of_others(error):
    """
    Errors without a code are written with the nearest, and reported.
    """
    kind, message = error

    assert [(None, DropReason.UNPLACED)] == dropped(started(), failed(ErrorInfo(kind=kind, message=message)))


def test_a_call_that_was_cut_keeps_its_signature():
    """
    It is in the start, since no delta behind the arguments can have it.
    """
    _, given = decoded(stream(C(), S(0, fc(signature="c2ln")), D(0, args('{"a"'))))

    assert ["c2ln"] == [each["step"].get("signature") for each in emitted(*given)[0] if "step" in each]


def test_a_stream_that_was_cut():
    """
    It has no end and no mark; token and usage of the run are sent before it stops.
    """
    usage = Usage(input_tokens=10, output_tokens=3, details={**USAGE, "partial": True})
    state = {"interaction_id": "v1", "continuation_token": "dG9r"}

    *parts, update = told(started(), *text_of("a", complete=False), failed(interrupted(), usage=usage, state=state))[2:]

    assert [S(0, mo()), D(0, text("a"))] == parts
    assert ("dG9r", USAGE) == (update["continuation_token"], update["usage"])


CUT_MESSAGE = "the provider's answer ended before a result of this call"


@pytest.mark.parametrize(
    ("events", "frames"),
    [
        pytest.param(
            [*input_of("c1", '{"a', complete=False), failure("c1", "interrupted", "x", provider=False)],
            [S(0, fc()), D(0, args('{"a'))],
            id="call",
        ),
        pytest.param(media_of("audio/l16", b"\0", complete=False, type="audio"), [S(0, mo())], id="audio"),
        pytest.param(reasoning_of("p", complete=False), [S(0, th()), D(0, summary("p"))], id="thought"),
    ],
)
def test_parts_that_were_cut(events, frames):
    """
    They are sent as far as they came, without a stop.
    """
    written, _ = emitted(started(), *events, failed(interrupted()))

    assert frames == written[2:][: len(frames)]
    assert "step.stop" not in [frame["event_type"] for frame in written]


def test_an_id_that_was_learned_late():
    """
    An id that was known only when the run failed is sent before the error, one that came with the end with the end.
    """
    begun = started("", None, served=None)
    frames, _ = emitted(begun, failed(BOOM))

    assert ["", "v1"] == [frame["interaction"]["id"] for frame in frames if "interaction" in frame]
    assert "v1" == emitted(begun, ended())[0][-2]["interaction"]["id"]


def test_an_end_without_a_status():
    """
    Clients expect a status: the nearest is sent, and reported.
    """
    frames, drops = emitted(started(), *call_of("c1", "{}"), ended("tool-calls", None))

    assert "requires_action" == frames[-2]["interaction"]["status"]
    assert (Drop("m", None, DropReason.UNPLACED),) == drops


# -- what is not written


def test_restarts():
    """
    A restart begins the interaction again, with the model that it names, and is reported.
    """
    unknown = Origin(provider="google", dialect="gemini-interactions")
    emitter = GeminiInteractionsEmitter(status_updates=False)
    waits = TextStarted(message_id="m")
    for event in [StepStarted(message_id="m", origin=unknown), *text_of("a"), waits]:
        emitter.emit(event)
    restarted = StepRestarted(message_id="m", reason="again", origin=attrs.evolve(unknown, served_model="g"))
    frames = [frame for event in (restarted, *text_of("a"), ended()) for frame in emitter.emit(event)]

    assert ["interaction.created", "step.start", "step.delta", "step.stop", "interaction.completed"] == [
        frame["event_type"] for frame in frames
    ]
    assert ["g", "g"] == [frame["interaction"]["model"] for frame in frames if "interaction" in frame]
    assert [(None, "the wire cannot mark a restart: the answer begins again")] == [
        (drop.part, drop.reason) for drop in emitter.drops
    ]


@pytest.mark.parametrize(
    "event",
    [
        PromptSubmitted(message_id="p", content="hi"),
        HistoryRewound(message_id="m"),
        ToolSuccess(message_id="m", call_id="c9"),
        TextEnded(message_id="m", text="x"),
        TextStarted(message_id="other"),
        started("v2", message_id="m"),
        started("v2", message_id="m2"),
    ],
    ids=lambda event: f"{event.type}-{event.message_id}",
)
def test_events_without_a_place(event):
    """
    What is not part of the answer, or cannot follow it, is reported once.
    """
    assert 1 == len(emitted(started(), event, event, ended())[1])


def test_an_opaque_item_of_another_form():
    """
    An item that is not one of this wire is reported.
    """
    assert UNPLACED == dropped(started(), OpaqueReceived(message_id="m", state={"i": 0, "odd": 1}), ended())


def test_live_events_are_not_reported():
    """
    The durable ones have what they have.
    """
    assert () == emitted(started(), ToolProgress(message_id="m", call_id="c1", output="50 %"), ended())[1]


def test_results_of_the_app():
    """
    They are not part of the answer.
    """
    late = ToolSuccess(message_id="m", call_id="c1", output="sunny")
    early = ToolFailed(message_id="m", call_id="c1", error=ErrorInfo(kind="tool", message="no"))
    reason = "what the app does with a call is sent with the next request, if at all"

    assert [(0, reason)] == dropped(started(), *call_of("c1", "{}"), REQUIRES_ACTION, late)
    assert [(0, reason)] == dropped(started(), *call_of("c1", "{}"), early, REQUIRES_ACTION)


@pytest.mark.parametrize(
    "act",
    [
        ToolApprovalRequested(message_id="m", call_id="c1"),
        ToolApproved(message_id="m", call_id="c1"),
        ToolStarted(message_id="m", call_id="c1", attempt=1),
    ],
    ids=lambda event: event.type,
)
def test_approvals_and_starts_of_calls(act):
    """
    They are not part of the answer, and what is written is the same without them.
    """
    reason = "what the app does with a call is sent with the next request, if at all"
    frames, drops = emitted(started(), *call_of("c1", "{}"), act, REQUIRES_ACTION)

    assert [(0, reason)] == dropped(started(), *call_of("c1", "{}"), act, REQUIRES_ACTION)
    assert 1 == len(drops)
    assert emitted(started(), *call_of("c1", "{}"), REQUIRES_ACTION)[0] == frames


def test_answers_of_others():
    """
    State of another provider is not written; its tools are tools of a server, unless this wire has them.
    """
    events = answer("Hi", reasoning="p", reasoning_state={"signature": "secret"}, text_state={"i": 7})
    frames, drops = emitted(*events)
    tools = [
        *call_of("c1", "{}", "web_look", provider=True),
        *call_of("c2", "{}", "google_search", provider=True),
        *call_of("c3", "{}", "read_file", provider=True),
    ]
    tool_frames, _ = emitted(StepStarted(message_id="m", origin=origin()), *tools)

    assert "secret" not in json.dumps(frames)
    assert {(0, DropReason.OTHER_PROVIDER), (1, DropReason.OTHER_PROVIDER)} <= {
        (drop.part, drop.reason) for drop in drops
    }
    assert "acme-1" == frames[0]["interaction"]["model"]
    assert ["mcp_server_tool_call", "google_search_call", "function_call"] == [
        frame["step"]["type"] for frame in tool_frames if frame["event_type"] == "step.start"
    ]


def test_parts_that_wait_are_written_when_the_emitter_is_closed():
    """
    What ended behind an open part is not lost.
    """
    frames, _ = emitted(started(), TextStarted(message_id="m"), *call_of("c1", "{}", i=1))

    assert [S(0, fc()), D(0, args("{}")), X(0)] == frames[2:]


def test_nothing():
    """
    An emitter without events writes nothing, nor does a part of which nothing came.
    """
    assert [] == GeminiInteractionsEmitter().close()
    for begun in (
        MediaStarted(message_id="m", media_type="a/b"),
        ReasoningStarted(message_id="m"),
        ToolInputStarted(message_id="m", call_id="c", name="f"),
    ):
        assert [] == told(started(), begun)[2:]


# -- frames as bytes


def test_bytes():
    """
    A name, one line of JSON whose last key is the name, and an empty line.
    """
    assert b'event: step.stop\ndata: {"index":0,"event_type":"step.stop"}\n\n' == sse(
        {"index": 0, "event_type": "step.stop"}
    )
    assert b"event: done\ndata: [DONE]\n\n" == sse("[DONE]") == GeminiInteractionsEmitter().to_bytes("[DONE]")


def test_a_frame_without_the_field_of_names():
    """
    It is written without a name, as the errors of a gateway are between the named events of a wire.
    """
    emitter = AnthropicMessagesEmitter()

    assert b'data: {"error":{"message":"no"}}\n\n' == emitter.to_bytes({"error": {"message": "no"}})
    assert b'event: ping\ndata: {"type":"ping"}\n\n' == emitter.to_bytes({"type": "ping"})


def test_options_that_do_not_exist():
    """
    They are refused at once.
    """
    with pytest.raises(ValueError, match="expected"):
        GeminiInteractionsEmitter(arguments="half")


def test_the_emitter_of_the_dialect():
    """
    The dialect has both forms.
    """
    assert isinstance(DIALECT.emitter(), GeminiInteractionsEmitter)
    assert DIALECT.emit_resource is not None


def test_an_origin_that_asked_for_a_model():
    """
    The model that the app asked for is not one that the provider named.
    """
    asked = Origin(provider="google", model="asked", dialect="gemini-interactions")

    assert "model" not in told(StepStarted(message_id="m", origin=asked))[0]["interaction"]


def test_frames_are_decoded_for_the_drops_alone():
    """
    An emitter whose drops are not read decodes nothing; each message is decoded once, however often they are read.
    """
    made = []

    class CountingDecoder(GeminiInteractionsDecoder):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            made.append(self)

    class CountingEmitter(GeminiInteractionsEmitter):
        decoder = CountingDecoder

    emitter = CountingEmitter()
    for event in [started(), *text_of("Hello"), ended()]:
        emitter.emit(event)
    emitter.close()
    before = len(made)
    drops = emitter.drops + emitter.drops

    assert 0 == before
    assert () == drops
    assert 1 == len(made)
