"""
Answers as one JSON document of the Interactions API (wire reference, section 2).
"""

import json

import pytest

from assistant_events import MessageStatus, fold
from assistant_events.adapters.gemini_interactions import decode_resource, emit_resource
from assistant_events.adapters.gemini_interactions.mock.wire_versions import version_1
from assistant_events.testing import Call, answer, durable
from assistant_events.values import Citation, ErrorInfo, Usage
from tests.corpus.bodies import RESOURCES, STREAMS, body_of, stream_of

from .notation import (
    DIALECT,
    MODEL,
    USAGE,
    call_of,
    called,
    ended,
    failed,
    input_of,
    media_of,
    reasoning_of,
    started,
    step,
    success,
    text_of,
)
from .samples import SAMPLES


def of(*events, **options):
    """
    Return the document of the message that these events fold to.
    """
    return emit_resource(fold(events).last, **options)


def read(document):
    """
    Return the message that a document folds to.
    """
    return fold(decode_resource(document, "m")).last


def test_text():
    """
    A text is a step with one block; counts, status and id are fields of the document.
    """
    assert {
        "id": "v1",
        "status": "completed",
        "object": "interaction",
        "model": MODEL,
        "steps": [step("model_output", content=[{"type": "text", "text": "Hello"}])],
        "usage": USAGE,
    } == of(started(), *text_of("Hello"), ended())


def test_everything_else():
    """
    Thoughts, media, calls and results are items in their order.
    """
    events = [
        *reasoning_of("p", signature="A="),
        *text_of("a", 1),
        *media_of("image/png", b"\0", i=1, type="image"),
        *input_of("s1", '{"queries":["q"]}', "google_search", i=2, provider=True, type="google_search_call"),
        called("s1", {"queries": ["q"]}, "google_search", provider=True),
        success("s1", "r", i=3, type="google_search_result"),
        *call_of("c1", '{"a":1}', i=4),
    ]
    before = step("thought", summary=[{"type": "text", "text": "p"}], signature="A=")
    content = [{"type": "text", "text": "a"}, {"type": "image", "data": "AA==", "mime_type": "image/png"}]
    after = [
        step("google_search_call", id="s1", arguments={"queries": ["q"]}),
        step("google_search_result", call_id="s1", result="r"),
        step("function_call", id="c1", name="f", arguments={"a": 1}),
    ]
    document = of(started(), *events, ended("tool-calls", "requires_action"))

    assert [before, step("model_output", content=content), *after] == [
        {key: each[key] for key in each if each[key] is not None} for each in document["steps"]
    ]
    assert "requires_action" == document["status"]


def test_what_was_not_stored():
    """
    A document without an id has no `id` field.
    """
    assert "id" not in of(started(""), ended(id=""))


def test_what_is_running():
    """
    A message that runs, and one whose stream was cut, is in progress.
    """
    assert "in_progress" == of(started())["status"]
    assert "in_progress" == of(started(), failed(ErrorInfo(kind="interrupted", message="cut")))["status"]


def test_failures():
    """
    A failure is a status, and the errors of the interaction or of an output.
    """
    by_word = of(started(), failed(ErrorInfo(kind="provider", message="boom", code="internal")))
    by_number = of(started(), failed(ErrorInfo(kind="rate-limit", message="slow", code="8", retryable=True)))

    assert ("failed", [{"code": "internal", "message": "boom"}]) == (by_word["status"], by_word["errors"])
    assert [step("model_output", error={"code": 8, "message": "slow"})] == by_number["steps"]
    assert "cancelled" == of(started(), failed(ErrorInfo(kind="cancelled", message="by hand")))["status"]


def test_continuation_and_sandbox():
    """
    Token and environment have fields of their own.
    """
    state = {"interaction_id": "v1", "continuation_token": "dG9r", "environment_id": "e1"}
    document = of(started(), ended("pause", "requires_continuation", state=state))

    assert ("dG9r", "e1") == (document["continuation_token"], document["environment_id"])


def test_fields_and_agents():
    """
    What no message knows is the caller's to give.
    """
    document = of(started(), ended(), agent=True, fields={"created": "2026-01-05T10:00:00Z"})

    assert ("2026-01-05T10:00:00Z", MODEL) == (document["created"], document["agent"])


def test_answers_of_others():
    """
    An answer of another provider becomes one of this wire, without state.
    """
    document = of(*answer("Hi", usage=Usage(input_tokens=1), state={"interaction_id": "secret"}))

    assert {"total_input_tokens": 1} == document["usage"]
    assert ("completed", "acme-1") == (document["status"], document["model"])
    assert "id" not in document


def test_hosted_calls_and_sources_of_others():
    """
    A call that another provider runs is none of the app, also without a result, and sources of a text are kept.
    """
    source = Citation(url="https://a.example", title="A", start=0, end=2)
    hosted = Call("shell", {"command": "ls"}, provider_executed=True)
    message = read(of(*answer("Hi", calls=[hosted], citations=[source])))
    text, call = message.parts

    assert (source,) == text.citations
    assert ("shell", True) == (call.name, call.provider_executed)
    assert "stop" == message.finish_reason


@pytest.mark.parametrize("name", ["plain", "overlap", "media and citations", "two hops", "parallel calls", "no ids"])
def test_documents_are_read_as_the_same_message(name):
    """
    The document of an answer folds to the answer.
    """
    decoder = DIALECT.decoder("m")
    message = fold(durable(decoder.feed(SAMPLES[name]) + decoder.close())).messages[0]

    assert message == read(emit_resource(message))


@pytest.mark.parametrize("file", RESOURCES)
def test_recorded_documents_come_back(file):
    """
    A recorded document, decoded and written, is decoded to the same message, in both generations.
    """
    document = json.loads(body_of(file))
    if "status" not in document:
        pytest.skip("an error is no answer")
    message = read(document)
    written = emit_resource(message)

    assert message == read(written)
    assert message == read(version_1(written))


@pytest.mark.parametrize("file", STREAMS)
def test_documents_of_recorded_streams(file):
    """
    The document that a recorded stream adds up to folds to its message.
    """
    decoder = DIALECT.decoder("m")
    message = fold(decoder.feed(stream_of(file)) + decoder.close()).messages[0]
    if message.status is not MessageStatus.COMPLETED:
        pytest.skip("a document does not show what of it was cut")

    assert message == read(emit_resource(message))


def test_a_message_is_expected():
    """
    Anything else is refused at once.
    """
    with pytest.raises(TypeError, match="expected an AssistantMessage"):
        emit_resource("message")


def test_an_end_without_a_word():
    """
    An answer that ended without a status has the one that is nearest.
    """
    assert "completed" == of(started(), ended(raw=None))["status"]


def test_an_output_that_failed_in_an_answer_that_completed():
    """
    Its error is one of a step, in the document and in a stream that is written.
    """
    error = {"code": 8, "message": "The image is over your quota."}
    steps = [step("model_output", content=[{"type": "text", "text": "Hello"}]), step("model_output", error=error)]
    document = {"id": "v1", "status": "incomplete", "object": "interaction", "model": MODEL, "steps": steps}
    events = decode_resource(document, "m")
    message = fold(events).last
    emitter = DIALECT.emitter()
    frames = [frame for event in events for frame in emitter.emit(event)]
    decoder = DIALECT.decoder("m")

    assert {"output_error": error} == dict(message.details)
    assert document == emit_resource(message)
    assert message == fold([*decoder.feed(b"".join(map(emitter.to_bytes, frames))), *decoder.close()]).last
