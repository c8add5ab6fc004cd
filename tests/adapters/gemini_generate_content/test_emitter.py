"""
What the emitter writes on the generateContent wire. Laws 11 and 12 are held in `tests/laws/test_emitting.py`.
"""

import json
from functools import partial

import pytest
from hypothesis import given

from assistant_events import ErrorInfo, ErrorKind, fold
from assistant_events.adapters import load_dialect
from assistant_events.recorder import Recorder
from assistant_events.testing import Call, origin
from assistant_events.testing import answer as built
from assistant_events.values import JsonContent
from tests.adapters.reading import emitted_by
from tests.drawn import sessions

from .notation import DIALECT, END, HEAD, USAGE, C, F, H, O, P, T, X, answer, candidate, ended, events, message, stream
from .samples import ERROR, SAMPLES, SIG

emitted = partial(emitted_by, DIALECT)


def test_a_cut_call_before_a_text():
    """
    It comes back as cut: the text behind it does not close its arguments.
    """
    pieces = [F("f", willContinue=True), P("$.a", goes_on=True, stringValue="Fra")]
    sample = events(answer(*pieces, T("So."), end=ended("MAX_TOKENS")))
    drops, _, found = emitted(sample)

    assert () == drops
    assert fold(sample) == fold(found)


FAILED = {
    "error first": {"error": ERROR},
    "malformed call": {
        "candidates": [
            {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: print(", "index": 0}
        ],
        "usageMetadata": USAGE,
        **HEAD,
    },
}


@pytest.mark.parametrize("name", FAILED)
def test_the_document_of_an_answer_that_failed(name):
    """
    It is the error, or the candidate that failed.
    """
    failed = message(SAMPLES[name])
    document = DIALECT.emit_resource(failed)

    assert FAILED[name] == document
    assert failed.error == fold(DIALECT.decode_resource(document, "a1")).last.error


@pytest.mark.parametrize(
    ("kind", "code", "status"),
    [
        (ErrorKind.OVERLOADED, 503, "UNAVAILABLE"),
        (ErrorKind.RATE_LIMIT, 429, "RESOURCE_EXHAUSTED"),
        (ErrorKind.AUTH, 403, "PERMISSION_DENIED"),
        (ErrorKind.CONTEXT_LENGTH, 400, "INVALID_ARGUMENT"),
        (ErrorKind.CONTENT_FILTER, 400, "INVALID_ARGUMENT"),
        (ErrorKind.QUOTA, 429, "RESOURCE_EXHAUSTED"),
    ],
)
def test_the_error_of_another_provider(kind, code, status):
    """
    It has the code and the status that official clients expect for its kind, or the nearest one that the API has.
    """
    failed = fold(built("half", error=ErrorInfo(kind=kind, message="no", code="of_another"))).last

    assert {"error": {"code": code, "message": "no", "status": status}} == DIALECT.emit_resource(failed)


def test_a_document():
    """
    It has all parts in their order, what is beside them, and the counts.
    """
    parts = [H("Plan"), X("1+1", SIG, id="x1"), T("It is"), O("2", id="x1"), T(" 2.", SIG), F("f", {"x": 1}, id="f1")]
    whole = message(answer(*parts, end=ended("STOP", avgLogprobs=-0.5)))

    assert {
        "candidates": [candidate(*parts, finish="STOP", avgLogprobs=-0.5)],
        "usageMetadata": USAGE,
        **HEAD,
    } == DIALECT.emit_resource(whole)


HOSTED = Call("search", {"q": 1}, provider_executed=True)
ANSWERED = Call("search", {"q": 1}, call_id="s1", provider_executed=True, output="found")


def test_a_call_that_another_provider_has_not_answered():
    """
    It is written as one of a tool of the service, with a result or none: a client runs functions.
    """
    given_events = built("So.", calls=[HOSTED, ANSWERED])
    _, body, found = emitted(given_events)
    ids = ["call-1", "s1"]
    calls = [{"toolCall": {"id": given_id, "toolType": "search", "args": {"q": 1}}} for given_id in ids]
    result = {"toolResponse": {"id": "s1", "toolType": "search", "response": {"output": "found"}}}
    chunks = [json.loads(frame.removeprefix(b"data: ")) for frame in body.strip().split(b"\n\n")]

    assert [T("So."), *calls, result] == [chunk["candidates"][0]["content"]["parts"][0] for chunk in chunks[:-1]]
    assert [True, True] == [call.provider_executed for call in fold(found).last.tool_calls]
    document = DIALECT.emit_resource(fold(given_events).last)
    assert [T("So."), *calls, result] == document["candidates"][0]["content"]["parts"]


def test_the_cut_input_of_a_call_of_another_provider():
    """
    It is not written as a function either: its arguments are left out.
    """
    given_events = []
    recorder = Recorder("a1", sink=given_events)
    recorder.start(origin(dialect="acme-chat"))
    recorder.tool_input("s1", "search", '{"q', provider_executed=True)
    recorder.end_tool_input("s1", complete=False)
    recorder.finish("length")
    [first, *_] = [chunk["candidates"][0]["content"]["parts"] for chunk in written(given_events)]

    assert [{"toolCall": {"id": "s1", "toolType": "search"}}] == first


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ({"output": JsonContent([{"url": "u"}])}, {"output": [{"url": "u"}]}),
        ({"output": JsonContent({"url": "u"})}, {"url": "u"}),
        ({"error": ErrorInfo(kind="tool", message="No page")}, {"error": "No page"}),
    ],
    ids=["array", "object", "error"],
)
def test_the_result_of_a_call_that_another_provider_has_run(answer, response):
    """
    A response is an object.
    """
    called = Call("search", {"q": 1}, call_id="s1", provider_executed=True, **answer)
    document = DIALECT.emit_resource(fold(built(calls=[called])).last)
    [_, result] = document["candidates"][0]["content"]["parts"]

    assert {"toolResponse": {"id": "s1", "toolType": "search", "response": response}} == result


def written(given_events):
    """
    Return the chunks of a stream.
    """
    _, body, _ = emitted(given_events)
    return [json.loads(frame.removeprefix(b"data: ")) for frame in body.strip().split(b"\n\n")]


def test_the_stream_of_a_malformed_call():
    """
    The reason of the candidate is its error, and the only one.
    """
    assert FAILED["malformed call"] == written(events(SAMPLES["malformed call"]))[-1]


def test_counts_of_an_answer_that_was_cut():
    """
    They are those of the service, without a mark.
    """
    assert {"usageMetadata": USAGE, **HEAD} == {
        key: each for key, each in written(events(stream(C(T("a"), usage=USAGE))))[-1].items() if key != "candidates"
    }


def test_an_answer_to_continue():
    """
    The candidate has the token that continues it.
    """
    sample = answer(T("So"), end=ended("MAX_TOKENS", continuationToken="c1"))

    assert "c1" == written(events(sample))[-1]["candidates"][0]["continuationToken"]
    assert "c1" == DIALECT.emit_resource(message(sample))["candidates"][0]["continuationToken"]


def test_a_prompt_that_was_blocked():
    """
    The reason is that of the prompt, without a candidate beside it.
    """
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": USAGE, **HEAD}

    assert blocked == DIALECT.emit_resource(message(stream(blocked)))
    assert [blocked] == written(events(stream(blocked)))


def test_texts_are_cut_on_request():
    """
    Each piece of a thought is one.
    """
    _, body, _ = emitted(built("So.", reasoning="Hmm"), delta_chars=2)
    chunks = [json.loads(frame.removeprefix(b"data: ")) for frame in body.strip().split(b"\n\n")]
    written = [chunk["candidates"][0]["content"]["parts"][0] for chunk in chunks[:-1]]

    assert [H("Hm"), H("m"), T("So"), T(".")] == written


def test_the_status_of_a_model():
    """
    It is a field of the chunk, as the service has it.
    """
    _, body, _ = emitted(events(SAMPLES["unknown fields"]))
    last = json.loads(body.strip().split(b"\n\n")[-1].removeprefix(b"data: "))

    assert {"modelStage": "PREVIEW"} == last["modelStatus"]
    assert "modelStatus" not in last["candidates"][0]


def test_a_call_without_an_object_for_its_input():
    """
    It is left out and reported: a client would run it without arguments (rig, a call that the limit has cut).
    """
    chat = load_dialect("openai-chat").decoder("a1")
    function = {"index": 0, "id": "c1", "function": {"name": "record", "arguments": '{"note": "The'}}
    chunks = [{"tool_calls": [function]}, {"content": "So."}]
    given_events = [
        event
        for delta in chunks
        for event in chat.feed_event({"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    ]
    given_events += chat.feed_event({"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
    given_events += chat.close()
    drops, _, found = emitted(given_events)
    document = DIALECT.emit_resource(fold(given_events).last)

    assert "invalid-input" == fold(given_events).last.tool_calls[0].error.kind
    assert ["text"] == [part.type for part in fold(found).last.parts]
    assert (0, "unplaced") in [(drop.part, str(drop.reason)) for drop in drops]
    assert [T("So.")] == document["candidates"][0]["content"]["parts"]


def test_the_document_of_an_answer_with_a_cut_call():
    """
    A document has no form for arguments that were cut, and a client would run the call without them.
    """
    pieces = [F("f", willContinue=True), P("$.a", goes_on=True, stringValue="Fra")]
    cut = message(answer(T("So."), *pieces, end=ended("MAX_TOKENS")))

    assert [T("So.")] == DIALECT.emit_resource(cut)["candidates"][0]["content"]["parts"]


def test_frames():
    """
    The frames are those of the service: each part is one chunk, without names.
    """
    chunks = [C(H("hm")), C(T("so", SIG)), C(F("f", {"x": 1}, id="f1")), END]
    body = emitted(events(stream(*chunks)))[1]

    assert chunks == [json.loads(frame.removeprefix(b"data: ")) for frame in body.strip().split(b"\n\n")]


@given(sessions())
def test_conversations_of_others_are_encoded(given_events):
    """
    No conversation is refused; each call that is sent has one result, in the content behind it.
    """
    contents = DIALECT.encoder(fold(given_events), {"model": "gemini-3-pro"}).body["contents"]
    for content, following in zip(contents, [*contents, {"parts": []}][1:], strict=True):
        called = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
        answered = [part["functionResponse"]["name"] for part in following["parts"] if "functionResponse" in part]

        assert content["role"] != "model" or called == answered
