"""
What the emitter writes on the Messages wire. Laws 11 and 12 are held in `tests/laws/test_emitting.py`.
"""

import json
from functools import partial

import pytest
from hypothesis import given

from assistant_events import ErrorInfo, Usage, fold
from assistant_events.recorder import Recorder
from assistant_events.testing import Call, origin
from assistant_events.testing import answer as answer_events
from assistant_events.values import JsonContent
from tests.adapters.reading import emitted_by
from tests.drawn import sessions

from .notation import DIALECT, END, B, C, E, K, M, S, T, X, answer, events, message, result, stream, text, tool
from .samples import CITED, SAMPLES

emitted = partial(emitted_by, DIALECT)


@pytest.mark.parametrize("odd", [{"tye": "beam"}, {"type": [1]}])
def test_deltas_of_no_known_shape_are_written(odd):
    """
    Unknown deltas that a block keeps are written as they came.
    """
    body = stream(M(), B(0, "hologram"), {"type": "content_block_delta", "index": 0, "delta": odd}, X(0), K(), END)

    _, written, _ = emitted(events(body))

    assert json.dumps(odd, separators=(",", ":")).encode() in written


def test_sources_of_no_known_shape_are_written():
    """
    What a text has in place of its sources is written as it came.
    """
    body = answer(B(0, "text", text="a", citations=True), X(0))

    assert frames_of(emitted(events(body))[1])[1][1]["content_block"]["citations"] is True


def test_the_document_of_an_answer_that_failed():
    """
    It is the error.
    """
    failed = message(SAMPLES["error first"])
    document = DIALECT.emit_resource(failed)

    assert {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
        "request_id": "req_1",
    } == document
    assert failed.error == fold(DIALECT.decode_resource(document, "a1")).last.error


def test_frames():
    """
    The frames are those of the service.
    """
    body = stream(
        M(usage={"input_tokens": 0, "output_tokens": 0}),
        *(B(0, "thinking", thinking="", signature=""), S(0, "EqQB"), X(0)),
        *(B(1, "text", text="", citations=[]), T(1, "so"), C(1, **CITED), X(1)),
        K(usage={"input_tokens": 3, "output_tokens": 5}),
        END,
    )

    assert frames_of(body) == frames_of(emitted(events(body))[1])


def test_the_input_of_a_call_that_came_whole():
    """
    A stream has it in a delta.
    """
    called = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
    document = {"type": "message", "role": "assistant", "model": "m", "content": [called], "stop_reason": "tool_use"}
    frames = frames_of(emitted(DIALECT.decode_resource(document, "a1"))[1])

    assert ['{"a":1}'] == [each["delta"]["partial_json"] for name, each in frames if name.endswith(b"block_delta")]


def test_the_end_of_a_refusal():
    """
    Its reason is in the `delta`, where clients look for it.
    """
    stop = {"type": "refusal", "category": "cyber", "explanation": "no"}
    [(_, end)] = [each for each in frames_of(emitted(events(SAMPLES["refusal"]))[1]) if each[0].endswith(b"_delta")]

    assert {"stop_reason": "refusal", "stop_sequence": None, "stop_details": stop} == end["delta"]
    assert {"type", "delta", "usage"} == end.keys()


@pytest.mark.parametrize("end", [[], [E()]], ids=["cut", "error"])
def test_an_answer_without_an_end(end):
    """
    It gets none: a `message_delta` would have a reason to stop.
    """
    body = stream(M(usage={"input_tokens": 0, "output_tokens": 0}), *text(0, "so"), *end)

    assert frames_of(body) == frames_of(emitted(events(body))[1])


@pytest.mark.parametrize("end", [[], [E()]], ids=["cut", "error"])
def test_the_counts_of_an_answer_without_an_end(end):
    """
    They are in a `message_delta` without a reason to stop, in the words of the service alone.
    """
    frames = frames_of(emitted(events(stream(M(), *text(0, "so"), *end)))[1])
    counts = {"input_tokens": 10, "output_tokens": 1}

    assert [{"type": "message_delta", "delta": {"stop_reason": None, "stop_sequence": None}, "usage": counts}] == [
        each for name, each in frames if name == b"event: message_delta"
    ]


def test_the_container_of_an_answer():
    """
    It has its id and what is beside that, in a document and in a stream.
    """
    container = {"id": "container_1", "expires_at": "2026-11-22T00:00:00Z"}
    frames = frames_of(emitted(events(SAMPLES["container"]))[1])

    assert container == DIALECT.emit_resource(message(SAMPLES["container"]))["container"]
    assert [container] == [each["delta"]["container"] for name, each in frames if name == b"event: message_delta"]


@pytest.mark.parametrize(
    ("answered", "text", "is_error"),
    [
        ({"output": JsonContent([{"url": "u"}])}, '[{"url":"u"}]', False),
        ({"output": "found"}, "found", False),
        ({"error": ErrorInfo(kind="tool", message="No page")}, "No page", True),
    ],
    ids=["json", "text", "error"],
)
def test_a_call_that_another_provider_has_run(answered, text, is_error):
    """
    It is one of an MCP server, which clients read with any name; the AI SDK takes its input from the start.
    """
    called = Call("search", {"q": 1}, call_id="s1", provider_executed=True, **answered)
    given = answer_events(calls=[called], origin=origin(dialect="acme-chat"))
    call = {"type": "mcp_tool_use", "id": "s1", "name": "search", "server_name": "search", "input": {"q": 1}}
    found = {"type": "mcp_tool_result", "tool_use_id": "s1", "is_error": is_error}
    found["content"] = [{"type": "text", "text": text}]
    started = [
        each["content_block"] for name, each in frames_of(emitted(given)[1]) if name == b"event: content_block_start"
    ]

    assert [call, found] == DIALECT.emit_resource(fold(given).last)["content"]
    assert [call, found] == started


def test_the_cut_input_of_a_call_of_another_provider():
    """
    What came of it is in a delta, as of any call: the start of a block can have an object alone.
    """
    given = []
    recorder = Recorder("a1", sink=given)
    recorder.start(origin(dialect="acme-chat"))
    recorder.tool_input("s1", "search", '{"q', provider_executed=True)
    recorder.end_tool_input("s1", complete=False)
    recorder.finish("length")

    frames = [each for _, each in frames_of(emitted(given)[1])]

    assert ['{"q'] == [each["delta"]["partial_json"] for each in frames if each["type"] == "content_block_delta"]


def test_a_failed_answer_of_another_provider_without_counts():
    """
    Its error follows its start: there is nothing about its end.
    """
    given = answer_events(error=ErrorInfo(kind="provider", message="Boom"), origin=origin(dialect="acme-chat"))

    assert ["message_start", "error"] == [each["type"] for _, each in frames_of(emitted(given)[1])]


def test_counts_of_another_provider():
    """
    Clients expect both sides: an answer whose prompt was blocked has none of one.
    """
    given = answer_events("Hi", origin=origin(dialect="acme-chat"), usage=Usage(input_tokens=9))
    [delta] = [each["usage"] for name, each in frames_of(emitted(given)[1]) if name == b"event: message_delta"]

    assert {"input_tokens": 9, "output_tokens": 0} == delta == DIALECT.emit_resource(fold(given).last)["usage"]
    uncounted = fold(answer_events("Hi", origin=origin(dialect="acme-chat"))).last
    assert {"input_tokens": 0, "output_tokens": 0} == DIALECT.emit_resource(uncounted)["usage"]


def test_a_failed_result_without_content():
    """
    Its mark is its error: it gets no content that it did not have.
    """
    failed = result(1, "mcptoolu_1", [], type="mcp_tool_result", is_error=True)
    body = answer(*tool(0, "mcptoolu_1", "echo", type="mcp_tool_use", server_name="s"), *failed)

    assert {
        "type": "mcp_tool_result",
        "tool_use_id": "mcptoolu_1",
        "content": [],
        "is_error": True,
    } == DIALECT.emit_resource(message(body))["content"][1]


@pytest.mark.parametrize("end", [[], [E()]], ids=["cut", "error"])
def test_a_block_that_was_cut(end):
    """
    It has no stop: a client would take it for a whole one.
    """
    body = stream(M(usage={"input_tokens": 0, "output_tokens": 0}), B(0, "text", text=""), T(0, "so"), *end)

    assert frames_of(body) == frames_of(emitted(events(body))[1])


def test_a_message_without_a_reason_to_stop():
    """
    None is made up for it.
    """
    frames = frames_of(emitted(events(stream(M(), *text(0, "so"), K(None), END)))[1])

    assert [None] == [each["delta"]["stop_reason"] for name, each in frames if name == b"event: message_delta"]


def test_a_replaced_call_that_came_whole():
    """
    A call of the app before a fallback is one of the app in the stream, also when its input was in its start.
    """
    hop = {"from": {"model": "claude-1"}, "to": {"model": "claude-2"}}
    body = answer(B(0, "tool_use", id="toolu_1", name="f", input={"a": 1}), X(0), B(1, "fallback", **hop), X(1))
    drops, found, _ = emitted(events(body))

    assert ("tool_use", ()) == (frames_of(found)[1][1]["content_block"]["type"], drops)


def frames_of(body):
    """
    Return names and documents of a stream.
    """
    frames = [frame.split(b"\ndata: ") for frame in body.strip().split(b"\n\n")]
    return [(name, json.loads(data)) for name, data in frames]


@given(sessions())
def test_conversations_of_others_are_encoded(given_events):
    """
    No conversation is refused; each call that is sent has one result, in the message behind it.
    """
    body = DIALECT.encoder(fold(given_events), {"model": "claude-opus-5-5"}).body
    contents = [(each["role"], each["content"]) for each in body["messages"]]
    for (role, content), (_, following) in zip(contents, [*contents, ("", [])][1:], strict=True):
        called = [block["id"] for block in content if block["type"] == "tool_use"]
        answered = [block["tool_use_id"] for block in following if block["type"] == "tool_result"]

        assert role != "assistant" or called == answered


def test_the_type_of_an_error_is_a_word():
    """
    Clients that check the document (`@ai-sdk/anthropic`) do not read an error whose type is a number.
    """
    error = DIALECT.http_error(401, {}, b'{"type":"error","error":{"type":"authentication_error","message":"no"}}')
    failed = fold(DIALECT.decoder("m").close(error)).last

    assert {"type": "authentication_error", "code": 401, "message": "no"} == DIALECT.emit_resource(failed)["error"]


def test_ids_of_answers_of_others():
    """
    Clients that know messages by their ids would take all answers for one.
    """
    given = answer_events("Hi", origin=origin(dialect="openai-chat"))

    assert "msg_a1" == DIALECT.emit_resource(fold(given).last)["id"]
    assert "msg_a1" == frames_of(emitted(given)[1])[0][1]["message"]["id"]


def test_an_end_of_others_that_has_no_word():
    """
    It is the usual one: any other word asks a client for more, such as `compaction` for a request in its place.
    """
    given = answer_events("Hi", origin=origin(dialect="openai-chat"), finish_reason="other")

    assert "end_turn" == DIALECT.emit_resource(fold(given).last)["stop_reason"]
    assert ["end_turn"] == [
        end["delta"]["stop_reason"] for name, end in frames_of(emitted(given)[1]) if b"message_delta" in name
    ]
