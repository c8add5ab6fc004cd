"""
Parts of an answer as wire steps: what was read is written again.
"""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import AssistantMessage, Origin, fold
from assistant_events.adapters.gemini_interactions import decode_resource
from assistant_events.adapters.gemini_interactions.step_stream import step_frames
from assistant_events.adapters.gemini_interactions.wire_steps import (
    has_unwritten_deltas,
    media_kind,
    wire_id,
    wire_steps,
)
from assistant_events.messages import (
    CallStatus,
    MediaPart,
    MessageStatus,
    OpaquePart,
    PartStatus,
    ReasoningPart,
    TextPart,
    ToolPart,
)
from assistant_events.testing.strategies import texts
from assistant_events.values import ErrorInfo, JsonContent, JsonObject, MediaContent, State, TextContent

from .notation import (
    C,
    D,
    K,
    S,
    X,
    answer,
    args,
    citation,
    delta,
    events,
    fc,
    message,
    mo,
    notes,
    old,
    signature,
    step,
    stream,
    summary,
    text,
    th,
)
from .samples import SAMPLES

PNG = "iVBORw0KGgo="
BIG = "aB+/" * 26_000 + "=="
"""A signature of 104 KB."""


def read(*steps, **resource):
    """
    Return the message of a document with these steps.
    """
    document = {"id": "v1", "status": "completed", "model": "m1", "steps": list(steps), **resource}
    return fold(decode_resource(document, "a1")).last


def search(id="s1", **fields):
    return step("google_search_call", id=id, arguments={"queries": ["q"]}, **fields)


def found(call_id="s1", **fields):
    return step("google_search_result", call_id=call_id, result=[{"search_suggestions": "<div>"}], **fields)


EXACT = {
    "thought, signed": [th(signature="c2ln")],
    "thought, with a summary": [th(summary=[{"type": "text", "text": "Plan"}], signature="c2ln")],
    "thought, with two items": [th(summary=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])],
    "thought, with an image": [th(summary=[{"type": "image", "data": PNG, "mime_type": "image/png"}])],
    "thought, with an item that says more": [th(summary=[{"type": "text", "text": "a", "kind": "new"}])],
    "thought, unsigned": [th(summary=[{"type": "text", "text": "Plan"}])],
    "thought, empty": [th()],
    "thought, signature of 104 KB": [th(signature=BIG)],
    "text": [mo("Hello")],
    "text with annotations": [
        step(
            "model_output",
            content=[
                {
                    "type": "text",
                    "text": "æøå",
                    "annotations": [citation("https://e.x/", 0, 6, title="E"), {"type": "newer_info", "new": 1}],
                }
            ],
        )
    ],
    "text, medium, text": [
        step(
            "model_output",
            content=[
                {"type": "text", "text": "see"},
                {"type": "image", "data": PNG, "mime_type": "image/png"},
                {"type": "text", "text": "and"},
            ],
        )
    ],
    "media": [
        step(
            "model_output",
            content=[
                {"type": "image", "uri": "files/1", "mime_type": "image/png", "resolution": "high"},
                {"type": "image", "data": PNG, "uri": "files/2", "mime_type": "image/webp"},
                {"type": "audio", "data": "AAAA", "mime_type": "audio/l16", "sample_rate": 24000, "channels": 1},
                {"type": "document", "data": "AAAA", "mime_type": "text/csv"},
                {"type": "video", "uri": "files/3"},
                {"type": "image", "data": "no base64!", "mime_type": "image/png"},
            ],
        )
    ],
    "content of tomorrow": [step("model_output", content=[{"type": "hologram", "beams": [1]}])],
    "call": [fc("c1", "weather", {"city": "Oslo", "days": 12345678901234567890})],
    "call without arguments": [fc("c1", "now")],
    "signed call, as in 1.x": [fc(signature="c2ln")],
    "call without an id": [fc("")],
    "calls of one id": [fc("c"), fc("c", "g")],
    "call and result of a sandbox": [
        fc("f1", "read_file", {"path": "a"}),
        step("function_result", call_id="f1", name="read_file", result=[{"type": "text", "text": "x"}], is_error=False),
    ],
    "search": [search(signature="c2ln", search_type="web_search"), found(signature=BIG, is_error=False)],
    "failed search": [search(), found(is_error=True)],
    "result before its signature": [search(), step("google_search_result", call_id="s1", signature="c2ln")],
    "code": [
        step("code_execution_call", id="x", arguments={"code": "1/0", "language": "python"}),
        step("code_execution_result", call_id="x", result="no\n", is_error=True),
    ],
    "file search": [step("file_search_call", id="x", signature="a"), step("file_search_result", call_id="x")],
    "processing": [step("processing_call", id="x"), step("processing_result", call_id="x", signature="b")],
    "maps without arguments": [
        step("google_maps_call", id="x"),
        step("google_maps_result", call_id="x", result=[{"places": []}]),
    ],
    "maps": [
        step("google_maps_call", id="x", arguments={"queries": ["q"]}),
        step("google_maps_result", call_id="x", result=[]),
    ],
    "retrieval": [
        step("retrieval_call", id="x", arguments={"queries": ["q"]}, retrieval_type="rag_store", signature="a"),
        step("retrieval_result", call_id="x", is_error=False, signature="b"),
    ],
    "tool search": [
        step("tool_search_call", id="x", arguments={"function_names": ["f"]}),
        step("tool_search_result", call_id="x", result=[{"name": "f"}]),
    ],
    "MCP": [
        step("mcp_server_tool_call", id="x", name="lookup", server_name="crm", arguments={"id": 7}),
        step("mcp_server_tool_result", call_id="x", name="lookup", server_name="crm", result={"a": None}),
    ],
    "url context": [
        step("url_context_call", id="x", arguments={"urls": ["https://e.x/"]}),
        step("url_context_result", call_id="x", result=[{"url": "https://e.x/", "status": "paywall"}]),
    ],
    "call without its result": [search(), mo("Hi")],
    "result without its call": [found("lost", signature="c2ln", name="n")],
    "step of tomorrow": [step("dream", plot=[1], signature="c2ln", nothing=None)],
    "fields of tomorrow": [
        th(signature="c2ln", new={"a": [1, None]}),
        mo("Hi", new=1),
        step("model_output", content=[{"type": "text", "text": "Hi", "new": {"a": None}, "annotations": [{"new": 1}]}]),
        fc(new=2),
        search(new=3),
        found(new=4),
    ],
    "call without a name": [
        step("function_call", id="c1", arguments={"a": 1}, signature="c2ln", new=1),
        step("mcp_server_tool_call", id="m1", server_name="crm"),
    ],
    "call whose input is no object": [step("function_call", id="c1", name="f", arguments="{oops")],
    "tools after the text": [th(signature="c2ln"), mo("It rains."), search(), found(), th(signature="c2cy")],
}
"""Steps that come back as they were."""


@pytest.mark.parametrize("steps", EXACT.values(), ids=EXACT)
def test_what_was_read_is_written(steps):
    """
    The steps of a document are written as they came, with every field.
    """
    assert steps == wire_steps(read(*steps))


def test_all_of_it_at_once():
    """
    All of them in one document come back too; a result that has lost its call is known only at the end.
    """
    alone = EXACT["result without its call"]
    names = [
        "thought, signed",
        "search",
        "text, medium, text",
        "MCP",
        "step of tomorrow",
        "call",
        "call without a name",
    ]
    steps = [each for name in names for each in EXACT[name]]

    assert [*steps, *alone] == wire_steps(read(*alone, *steps))


def test_a_result_that_lost_its_call():
    """
    A result that names no call follows the first call of its type that has no result.
    """
    steps = [search("a"), found("a"), search("b"), found("lost"), search("c"), found("gone", new=1), th(signature="s")]

    assert steps == wire_steps(read(*steps))


def test_a_result_of_a_server_that_lost_its_call():
    """
    Its type is that of the call, whose tool it names.
    """
    asked = step("mcp_server_tool_call", id="a", name="ask", server_name="docs", arguments={"q": 1})
    answered = step("mcp_server_tool_result", call_id="lost", name="ask", server_name="docs", result="found")

    assert [asked, answered, th(signature="s")] == wire_steps(read(asked, answered, th(signature="s")))
    assert [asked, answered, th(signature="s")] == wire_steps(read(asked, th(signature="s"), answered))


def test_a_result_that_never_had_a_call():
    """
    Without such a call it is the last step, where it turned out to have none.
    """
    url = step("url_context_result", call_id="gone")

    assert [search("a"), found("lost"), th(), url] == wire_steps(read(search("a"), url, th(), found("lost")))


SAME = {
    "an empty signature": ([th(signature="")], [th()]),
    "no summary": ([th(summary=[], signature="a")], [th(signature="a")]),
    "a summary that is a string": ([th(summary="Plan")], [th(summary=[{"type": "text", "text": "Plan"}])]),
    "text in two blocks": ([mo("Hel", "lo")], [mo("Hello")]),
    "an output of nothing": ([step("model_output"), mo("Hi"), step("model_output", content=[])], [mo("Hi")]),
    "base64 without padding": (
        [step("model_output", content=[{"type": "image", "data": PNG.rstrip("=")}])],
        [step("model_output", content=[{"type": "image", "data": PNG}])],
    ),
    "the echo of the input": ([step("user_input", content=[]), mo("Hi")], [mo("Hi")]),
    "a second result": ([search(), found(), found(signature="x")], [search(), found()]),
    "an empty signature of a step of tomorrow": ([step("dream", signature="")], [step("dream")]),
    "a name for no arguments": (
        [step("file_search_call", id="x", arguments={})],
        [step("file_search_call", id="x")],
    ),
}
"""Steps that come back in another form of the same meaning."""


@pytest.mark.parametrize(("given", "expected"), SAME.values(), ids=SAME)
def test_what_says_nothing_is_not_written(given, expected):
    """
    What is empty does not come back, and what has two forms comes back in the usual one.
    """
    assert expected == wire_steps(read(*given))


def test_annotations_move_with_their_text():
    """
    Of two blocks that became one, the annotations of the second count the bytes of the first.
    """
    steps = [
        step(
            "model_output",
            content=[
                {"type": "text", "text": "æ"},
                {"type": "text", "text": "b", "annotations": [citation("https://e.x/", 0, 1)]},
            ],
        )
    ]

    assert [
        step(
            "model_output",
            content=[{"type": "text", "text": "æb", "annotations": [citation("https://e.x/", 2, 3)]}],
        )
    ] == wire_steps(read(*steps))


def test_annotations_behind_media_as_frames():
    """
    In a stream they count in all text of the step.
    """
    content = [
        {"type": "text", "text": "æ!", "annotations": [citation("https://e.x/", 0, 2)]},
        {"type": "image", "data": PNG, "mime_type": "image/png"},
        {"type": "text", "text": "øh", "annotations": [citation("https://f.x/", 0, 2)]},
    ]
    frames = [*step_frames(step("model_output", content=content), 0)]
    sent = [frame["delta"]["annotations"] for frame in frames if "annotations" in frame.get("delta", {})]

    assert [[citation("https://e.x/", 0, 2)], [citation("https://f.x/", 3, 5)]] == sent
    assert [step("model_output", content=content)] == wire_steps(message(answer(*frames)))


BEHIND = {"type": "of_tomorrow"}
FRAMES = {
    "a step of tomorrow": (
        step("dream", result=[1], signature="s"),
        step("dream", result=[1], signature="s"),
        [BEHIND],
    ),
    "a result": (
        found(new=1),
        step("google_search_result", call_id="s1", new=1),
        [step("google_search_result", result=found()["result"]), BEHIND],
    ),
    "an empty text": (mo(""), step("model_output"), [{"type": "text", "text": ""}, BEHIND]),
    "a text that is null": (
        step("model_output", content=[{"type": "text", "text": None}, {"type": "text", "text": "Hi"}]),
        step("model_output"),
        [{"type": "text", "text": "Hi"}, BEHIND],
    ),
    "a source of nothing": (
        step("model_output", content=[{"type": "text", "text": "", "annotations": [citation("https://e.x/", 0, 0)]}]),
        step("model_output"),
        [{"type": "text_annotation_delta", "annotations": [citation("https://e.x/", 0, 0)]}, BEHIND],
    ),
}


@pytest.mark.parametrize(("whole", "start", "deltas"), FRAMES.values(), ids=FRAMES)
def test_the_frames_of_a_step(whole, start, deltas):
    """
    What only a start can hold is in it, and deltas of unknown types are behind what they came behind.
    """
    first, *sent, last = step_frames(whole, 7, deltas=[BEHIND])

    assert {"event_type": "step.start", "index": 7, "step": start} == first
    assert [{"event_type": "step.delta", "index": 7, "delta": each} for each in deltas] == sent
    assert {"event_type": "step.stop", "index": 7} == last


def test_half_a_character_as_frames():
    """
    A text may end with the first half of an emoji; it counts as the three bytes of its replacement.
    """
    content = [
        {"type": "text", "text": "\ud83d"},
        {"type": "image", "data": PNG, "mime_type": "image/png"},
        {"type": "text", "text": "Hi", "annotations": [citation("https://e.x/", 0, 2)]},
    ]
    frames = step_frames(step("model_output", content=content), 0)
    sent = [frame["delta"]["annotations"] for frame in frames if "annotations" in frame.get("delta", {})]

    assert [[citation("https://e.x/", 3, 5)]] == sent


def test_outputs_of_1_x_are_steps():
    """
    What 1.x calls outputs becomes steps of 2.x: blocks of text and media are outputs of the model.
    """
    outputs = [
        th(signature="c2ln"),
        {"type": "text", "text": "Hi"},
        {"type": "image", "data": PNG, "mime_type": "image/png"},
        fc(signature="c2cy"),
    ]
    written = wire_steps(read(steps=None, outputs=outputs))

    assert [
        th(signature="c2ln"),
        mo("Hi"),
        step("model_output", content=[{"type": "image", "data": PNG, "mime_type": "image/png"}]),
        fc(signature="c2cy"),
    ] == written


# -- streams

STREAMS = {
    "a signature after the stop": (
        [S(0, th()), D(0, summary("Plan")), X(0), S(1, mo()), D(1, text("Hi")), X(1), D(0, signature("late"))],
        [th(signature="late", summary=[{"type": "text", "text": "Plan"}]), mo("Hi")],
    ),
    "a summary after the stop": (
        [S(0, th()), D(0, summary("a")), X(0), D(0, summary("b")), D(0, signature("s"))],
        [th(signature="s", summary=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])],
    ),
    "thoughts side by side": (
        [
            *(S(0, th()), D(0, summary("p")), S(1, th()), D(1, summary("q"))),
            *(D(0, signature("S0")), D(1, signature("S1")), X(0), X(1)),
        ],
        [
            th(signature="S0", summary=[{"type": "text", "text": "p"}]),
            th(signature="S1", summary=[{"type": "text", "text": "q"}]),
        ],
    ),
    "texts side by side": (
        [S(0, mo()), D(0, text("a1 ")), S(1, mo()), D(1, text("b")), D(0, text("a2")), X(0), X(1)],
        [mo("a1 ", "a2"), mo("b")],
    ),
    "arguments in pieces": (
        [S(0, fc()), D(0, args('{"a":')), D(0, args("[1]}")), X(0)],
        [fc(arguments={"a": [1]})],
    ),
    "arguments that are cut": ([S(0, fc()), D(0, args('{"a":')), X(0)], [{**fc(), "arguments": '{"a":'}]),
    "annotations after the text": (
        [S(0, mo()), D(0, text("Hi")), D(0, notes(citation("https://e.x/", 0, 2))), X(0)],
        [
            step(
                "model_output",
                content=[{"type": "text", "text": "Hi", "annotations": [citation("https://e.x/", 0, 2)]}],
            )
        ],
    ),
    "sound in pieces": (
        [
            S(0, mo()),
            D(0, delta("audio", data="AAAA", mime_type="audio/l16", sample_rate=24000)),
            D(0, delta("audio", data="AQEB", mime_type="audio/l16")),
            X(0),
        ],
        [
            step(
                "model_output",
                content=[{"type": "audio", "data": "AAAAAQEB", "mime_type": "audio/l16", "sample_rate": 24000}],
            )
        ],
    ),
    "a delta of tomorrow": ([S(0, th(signature="s")), D(0, delta("sparkle", x=1)), X(0)], [th(signature="s")]),
    "a step of tomorrow": (
        [S(0, step("dream", a=1)), D(0, delta("dream", plot=[1], a=2)), D(0, delta("sparkle", x=1)), X(0)],
        [step("dream", a=2, plot=[1])],
    ),
    "nothing in it": ([S(0, mo()), X(0), S(1, mo()), D(1, text("Hi")), X(1)], [mo("Hi")]),
}


@pytest.mark.parametrize(("wire", "steps"), STREAMS.values(), ids=STREAMS)
def test_what_was_streamed_is_whole_steps(wire, steps):
    """
    What came in pieces, late or side by side is one step again.
    """
    assert steps == wire_steps(message(answer(*wire)))


def test_deltas_of_1_x():
    """
    A call that came as a delta of 1.x is a step.
    """
    wire = [C(), S(0, fc("", "")), D(0, delta("function_call", id="c", name="f", arguments={"a": 1})), X(0), K()]

    assert [fc("c", "f", {"a": 1})] == wire_steps(message(stream(*[old(event) for event in wire])))


@pytest.mark.parametrize("body", SAMPLES.values(), ids=SAMPLES)
def test_written_twice_is_written_once(body):
    """
    What is read from written steps is written as the same steps.
    """
    for each in fold(events(body)).messages:
        written = wire_steps(each)

        assert merged(written) == merged(wire_steps(read(*written)))


def merged(steps):
    """
    Return steps whose texts are as long as they can be, as reading makes them.
    """
    result = []
    for each in json.loads(json.dumps(steps)):
        content = []
        for block in each.get("content", []):
            last = content[-1] if content else {}
            if block["type"] == last.get("type") == "text" and not {"annotations"} & (block.keys() | last.keys()):
                last["text"] += block["text"]
            else:
                content.append(block)
        result.append({**each, "content": content} if "content" in each else each)
    return result


# -- messages that no decoder made


def made(*parts, **changes):
    return AssistantMessage(
        id="a1",
        origin=Origin(provider="google", model="m1", dialect="gemini-interactions"),
        parts=parts,
        status=MessageStatus.COMPLETED,
        **changes,
    )


def call(name="f", **changes):
    given = {"status": CallStatus.SUCCESS, "input": JsonObject(a=1), **changes}
    return ToolPart(message_id="a1", call_id="c1", name=name, **given)


DONE = PartStatus.COMPLETED
BARE = {
    "text": ([TextPart(text="Hi", status=DONE)], [mo("Hi")]),
    "texts": ([TextPart(text="a", status=DONE), TextPart(text="b", status=DONE)], [mo("a"), mo("b")]),
    "reasoning": ([ReasoningPart(text="hm", status=DONE)], [th(summary=[{"type": "text", "text": "hm"}])]),
    "medium": (
        [MediaPart(media_type="audio/wav", data=b"\x00", status=DONE)],
        [step("model_output", content=[{"type": "audio", "data": "AA==", "mime_type": "audio/wav"}])],
    ),
    "call": ([call()], [fc(arguments={"a": 1})]),
    "call and its answer": ([call(output="x")], [fc(arguments={"a": 1})]),
    "a call of the provider": (
        [call("google_search", provider_executed=True, output="x")],
        [
            step("google_search_call", id="c1", arguments={"a": 1}),
            step("google_search_result", call_id="c1", result="x"),
        ],
    ),
    "a function with the name of a tool of the provider": (
        [call("google_search")],
        [fc(name="google_search", arguments={"a": 1})],
    ),
    "a tool of the provider without a type of its own": (
        [call("run", provider_executed=True, output=JsonContent([1]))],
        [fc(name="run", arguments={"a": 1}), step("function_result", call_id="c1", result=[1])],
    ),
    "a call of the provider that failed": (
        [
            call(
                "code_execution",
                provider_executed=True,
                status=CallStatus.FAILED,
                error=ErrorInfo(kind="tool", message="x"),
            )
        ],
        [
            step("code_execution_call", id="c1", arguments={"a": 1}),
            step("code_execution_result", call_id="c1", result="x", is_error=True),
        ],
    ),
    "a call of the provider that was cut": (
        [
            call(
                "code_execution",
                provider_executed=True,
                status=CallStatus.FAILED,
                error=ErrorInfo(kind="interrupted", message="x"),
            )
        ],
        [step("code_execution_call", id="c1", arguments={"a": 1})],
    ),
    "a call of the provider that runs": (
        [call("code_execution", provider_executed=True, status=CallStatus.CALLED)],
        [step("code_execution_call", id="c1", arguments={"a": 1})],
    ),
    "a result of several": (
        [
            call(
                "run",
                provider_executed=True,
                output=(
                    TextContent("a"),
                    JsonContent({"b": 1}),
                    MediaContent(media_type="image/png", data=b"\x00"),
                    MediaContent(media_type="application/pdf", uri="files/1"),
                ),
            )
        ],
        [
            fc(name="run", arguments={"a": 1}),
            step(
                "function_result",
                call_id="c1",
                result=[
                    {"type": "text", "text": "a"},
                    {"type": "text", "text": '{"b":1}'},
                    {"type": "image", "data": "AA==", "mime_type": "image/png"},
                    {"type": "document", "uri": "files/1", "mime_type": "application/pdf"},
                ],
            ),
        ],
    ),
    "opaque without a meaning here": ([OpaquePart(state=State(item={"id": 1}))], []),
    "opaque of wrong types": ([OpaquePart(state=State(step=1, content=2, type=3))], []),
    "a place that is no number": (
        [TextPart(text="a", status=DONE, state=State(i=True)), TextPart(text="b", status=DONE, state=State(i="0"))],
        [mo("a"), mo("b")],
    ),
    "an empty signature": ([ReasoningPart(text="", status=DONE, state=State(signature=""))], [th()]),
    "no signature": ([ReasoningPart(text="", status=DONE, state=State(signature=None))], [th()]),
    "fields of wrong types": (
        [
            MediaPart(media_type="x/y", uri="u", status=DONE, state=State(type=1, block=2, extra=3)),
            call(state=State(extra=[]), provider_executed=True, result_state=State(type=1)),
        ],
        [
            step("model_output", content=[{"type": "document", "uri": "u", "mime_type": "x/y"}]),
            fc(arguments={"a": 1}),
            step("function_result", call_id="c1"),
        ],
    ),
    "a field of tomorrow that is known today": (
        [ReasoningPart(text="", status=DONE, state=State(signature="s", extra={"signature": "x", "type": "y"}))],
        [th(signature="s")],
    ),
}


@pytest.mark.parametrize(("parts", "steps"), BARE.values(), ids=BARE)
def test_parts_without_a_place(parts, steps):
    """
    Parts without a place in their state are steps of their own, in their order.
    """
    assert steps == wire_steps(made(*parts))


def test_places_order_the_steps():
    """
    Steps are in the order of their places; a step without a place follows the one before it.
    """
    parts = [
        TextPart(text="first", status=DONE),
        TextPart(text="c", status=DONE, state=State(i=2)),
        TextPart(text="behind c", status=DONE),
        ReasoningPart(text="", status=DONE, state=State(i=0, signature="s")),
        TextPart(text="C", status=DONE, state=State(i=2)),
    ]

    assert [mo("first"), th(signature="s"), mo("c", "C"), mo("behind c")] == wire_steps(made(*parts))


def test_what_is_written_is_fresh():
    """
    Changing what was written changes neither the message nor what is written next.
    """
    before = read(*EXACT["fields of tomorrow"])
    for each in wire_steps(before):
        each.clear()

    assert EXACT["fields of tomorrow"] == wire_steps(before)


@pytest.mark.parametrize(
    ("state", "expected"),
    [({}, "c1"), ({"id": "c"}, "c"), ({"id": ""}, ""), ({"id": None}, None), ({"id": 7}, None)],
)
def test_the_id_is_the_providers(state, expected):
    """
    The id that is written is the one that the provider gave, if it gave any.
    """
    assert expected == wire_id(call(state=State(state)))


def test_calls_without_an_id():
    """
    A call that came without an id is written without one.
    """
    assert [{"type": "function_call", "name": "f", "arguments": {}}] == wire_steps(
        read({"type": "function_call", "id": None, "name": "f", "arguments": {}})
    )


def test_a_result_without_an_id():
    """
    So is the result of a call that was made up for it.
    """
    assert [step("google_search_result", result="x")] == wire_steps(read(step("google_search_result", result="x")))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({}, False),
        ({"extra": {"new": 1}}, False),
        ({"deltas": [{"type": "sparkle"}]}, True),
        ({"step": {"type": "dream"}, "deltas": [{"type": "dream"}]}, False),
        ({"step": {"type": "dream"}, "deltas": [{"type": "dream"}, {"type": "sparkle"}]}, True),
    ],
)
def test_deltas_that_cannot_be_written(state, expected):
    """
    Deltas of unknown types are known to be lost; one that is named as its step is a set of its fields.
    """
    assert expected is has_unwritten_deltas(State(state))


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [("image/png", "image"), ("AUDIO/L16;rate=1", "audio"), ("video/mp4", "video"), ("application/pdf", "document")],
)
def test_the_kind_of_media(media_type, kind):
    """
    Media other than image, audio and video are documents.
    """
    assert kind == media_kind(media_type)


# -- anything

WORDS = texts().filter(bool)
NEW = st.dictionaries(st.sampled_from(("new", "newer")), st.one_of(WORDS, st.integers(), st.just([{"a": None}])))
SIGNED = st.fixed_dictionaries({}, optional={"signature": WORDS})
IDS = st.integers(0, 10**9).map("id{}".format)


def steps_of(kind, fields, *, optional=None):
    return st.builds(
        lambda known, signed, new: {"type": kind, **known, **signed, **new},
        st.fixed_dictionaries(fields, optional=optional),
        SIGNED if kind != "model_output" else st.just({}),
        NEW,
    )


BYTES = st.binary(min_size=1, max_size=9).map(lambda data: base64.b64encode(data).decode())
BLOCKS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(("image", "document", "video"))}, optional={"resolution": WORDS, "new": WORDS}
    ).flatmap(
        lambda block: st.one_of(
            BYTES.map(lambda data: {**block, "data": data}),
            WORDS.map(lambda uri: {**block, "uri": "files/" + str(len(uri))}),
        )
    ),
    min_size=1,
    max_size=3,
)
ANY_STEP = st.one_of(
    steps_of("thought", {}),
    steps_of("model_output", {"content": BLOCKS}),
    steps_of("model_output", {"content": st.just([{"type": "text", "text": "Hi"}])}),
    steps_of(
        "function_call", {"id": IDS, "name": st.just("f"), "arguments": st.dictionaries(WORDS, WORDS, max_size=2)}
    ),
    steps_of("google_search_call", {"id": IDS, "arguments": st.just({"queries": []})}, optional={"search_type": WORDS}),
    steps_of("dream", {"plot": WORDS}),
)


def code_units(value):
    return json.dumps(value, sort_keys=True)


@given(st.lists(ANY_STEP, max_size=6))
def test_every_string_comes_back(steps):
    """
    All strings in steps come back code unit for code unit, and so do unknown fields.
    """
    joined = json.loads(json.dumps(steps))

    assert code_units(joined) == code_units(wire_steps(read(*joined)))
