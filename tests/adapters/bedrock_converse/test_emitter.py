"""
What the emitter writes on the Converse wire. Laws 11 and 12 are held in `tests/laws/test_emitting.py`.
"""

import json
from functools import partial

import pytest
from hypothesis import given

from assistant_events import AssistantMessage, ErrorInfo, JsonObject, Origin, ToolPart, fold
from assistant_events.adapters import AwsEventStream
from assistant_events.testing import answer as built
from tests.adapters.reading import emitted_by
from tests.drawn import sessions

from .notation import DIALECT, REQUEST, C, D, E, G, H, J, K, M, R, T, U, X, events, message, stream, text
from .samples import FACTS, NOVA, RAN, SAMPLES, B, O

emitted = partial(emitted_by, DIALECT)


def frames_of(body):
    return [json.loads(payload) for payload in AwsEventStream().feed(body)]


FAILED = {
    "exception first": {"throttlingException": {"message": "Please wait before you try again"}},
    "exception after text": {
        "modelStreamErrorException": {"message": "No", "originalStatusCode": 500, "originalMessage": "it broke"}
    },
}


@pytest.mark.parametrize("name", FAILED)
def test_the_document_of_an_answer_that_failed(name):
    """
    It is the exception.
    """
    failed = message(SAMPLES[name])
    document = DIALECT.emit_resource(failed)

    assert FAILED[name] == document
    assert failed.error == fold(DIALECT.decode_resource(document, "a1")).last.error


def test_errors_of_others():
    """
    An error of another dialect becomes the exception of its kind.
    """
    given_events = built("so", error=ErrorInfo(kind="overloaded", message="Overloaded"))
    written = frames_of(emitted(given_events)[1])[-1]

    assert {"serviceUnavailableException": {"message": "Overloaded"}} == written


def test_a_document():
    """
    Blocks, facts and counts are where Converse has them.
    """
    body = stream(
        M,
        *(H(0, "Hm."), G(0, "EpwC"), X(0), R(1, "YWJj"), X(1), T(2, "Matz."), C(2, **FACTS), X(2)),
        *(B(3, toolUse={"toolUseId": "t1", "name": "f"}), J(3, '{"a": 1}'), X(3)),
        K("tool_use", additionalModelResponseFields={"a": 1}),
        U(serviceTier={"type": "flex"}),
    )
    content = [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "EpwC"}}},
        {"reasoningContent": {"redactedContent": "YWJj"}},
        {"citationsContent": {"content": [{"text": "Matz."}], "citations": [FACTS]}},
        {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}},
    ]

    assert {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use",
        "additionalModelResponseFields": {"a": 1},
        "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
        "metrics": {"latencyMs": 812},
        "serviceTier": {"type": "flex"},
    } == DIALECT.emit_resource(message(body))


def test_a_result_of_others_that_failed():
    """
    Its error is the content, with the mark of Converse; another reason for the end is that of an end.
    """
    call = {"message_id": "a1", "call_id": "c1", "name": "search", "input": JsonObject({}), "provider_executed": True}
    failed = ToolPart(**call, status="failed", error=ErrorInfo(kind="tool", message="no network"))
    origin = Origin(provider="anthropic", model="m", dialect="anthropic-messages")
    given_message = AssistantMessage(id="a1", parts=(failed,), status="completed", finish_reason="other", origin=origin)

    assert {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "c1", "name": "search", "input": {}, "type": "server_tool_use"}},
                    {"toolResult": {"toolUseId": "c1", "content": [{"text": "no network"}], "status": "error"}},
                ],
            }
        },
        "stopReason": "end_turn",
    } == DIALECT.emit_resource(given_message)


def test_frames():
    """
    The frames are those of the service.
    """
    frames = [
        M,
        *(H(0, "Hm."), G(0, "EpwC"), X(0), T(1, "so"), C(1, **FACTS), X(1)),
        *(B(2, toolUse={"toolUseId": NOVA["id"], "name": NOVA["name"], "type": NOVA["type"]}), J(2, '{"a": 1}'), X(2)),
        *(B(3, toolResult={"toolUseId": NOVA["id"], "type": "t", "status": "success"}), O(3, RAN), X(3)),
        *(T(4, "so"), D(4, beam={"width": 1}), X(4)),
        K(),
        U(),
    ]
    body = b"".join(AwsEventStream.frame(None, each) for each in frames)

    assert frames == frames_of(emitted(events(body))[1])


def test_an_answer_that_ended_malformed():
    """
    Its stop reason is the error, without an exception, in a stream and in a document.
    """
    frames = [M, *text(0, "so"), K("malformed_tool_use", additionalModelResponseFields={"a": 1}), U()]
    body = b"".join(AwsEventStream.frame(None, each) for each in frames)

    assert frames == frames_of(emitted(events(body))[1])
    assert {
        "output": {"message": {"role": "assistant", "content": [{"text": "so"}]}},
        "stopReason": "malformed_tool_use",
        "additionalModelResponseFields": {"a": 1},
        **U()["metadata"],
    } == DIALECT.emit_resource(message(body))


def test_a_late_piece_of_a_block():
    """
    Late content of a block is written under its index, without another start.
    """
    frames = frames_of(emitted(events(SAMPLES["overlapping"]))[1])
    thoughts = [each for each in frames if "reasoningContent" in str(each)]

    assert {0} == {each["contentBlockDelta"]["contentBlockIndex"] for each in thoughts}


def test_a_stream_that_was_lost():
    """
    It is written without an end; what is known of the usage is.
    """
    cut = DIALECT.decoder("a1")
    given_events = cut.feed(stream(M, *text(0, "Hello"), U()))
    given_events += cut.close(cut.interruption())
    drops, body, _ = emitted(given_events)

    assert () == drops
    assert ["messageStart", "contentBlockDelta", "contentBlockStop", "metadata"] == [
        key for each in frames_of(body) for key in each
    ]


def test_another_code():
    """
    An error whose code is not the name of an exception is an error of the stream.
    """
    code = {"error": {"code": "c", "message": "no"}}

    assert code == frames_of(emitted(events(AwsEventStream.frame(None, code)))[1])[-1]
    assert [E()] == frames_of(emitted(events(stream(E())))[1])[1:]


@pytest.mark.parametrize(
    "error",
    [
        ErrorInfo(kind="provider", message="no"),
        ErrorInfo(kind="context-length", message="no", code="context_length_exceeded", details={"type": "tokens"}),
        ErrorInfo(kind="provider", message="no", code="500", status=500),
    ],
    ids=["without a code", "with a type", "with a number"],
)
def test_errors_of_others_are_read(error):
    """
    An error of another provider, without a code, with a type or a number, is none of a stream that was cut.
    """
    found = fold(events(emitted(built("Hi", error=error))[1])).last.error

    assert (error.kind, "no") == (found.kind, found.message)


@given(sessions())
def test_conversations_of_others_are_encoded(given_events):
    """
    No conversation is refused; each call that is sent has one result, in the message behind it.
    """
    body = DIALECT.encoder(fold(given_events), REQUEST).body
    contents = [(each["role"], each["content"]) for each in body["messages"]]
    for (role, content), (_, following) in zip(contents, [*contents, ("", [])][1:], strict=True):
        called = [block["toolUse"]["toolUseId"] for block in content if "toolUse" in block]
        answered = [block["toolResult"]["toolUseId"] for block in following if "toolResult" in block]

        assert role != "assistant" or called == answered
