"""
What the emitter of Chat Completions writes of parts that are kept raw.
"""

import json

import pytest

from assistant_events import (
    ErrorInfo,
    ErrorKind,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    StepEnded,
    StepStarted,
    fold,
    testing,
)
from assistant_events.testing import Call
from assistant_events.values import JsonContent, Origin, TextContent, write_json
from tests.adapters.openai_responses import notation as responses

from .notation import DIALECT, D, E, J, T, answer, document, events, message, stream
from .samples import DRAWN, SAMPLES, drawn


def chunks(body):
    """
    Return the chunks that an answer is written as, without the mark of its end.
    """
    emitter = DIALECT.emitter()
    frames = [frame for event in events(body) for frame in emitter.emit(event)] + emitter.close()
    return [frame for frame in frames if frame != "[DONE]"]


def deltas(body):
    """
    Return the deltas of these chunks.
    """
    return [choice["delta"] for chunk in chunks(body) for choice in chunk.get("choices", ())]


def test_parallel_calls():
    """
    Each has its own number, and the mark comes last.
    """
    given = testing.answer(calls=[testing.Call("f", {"a": 1}), testing.Call("g", {"b": 2})])
    emitter = DIALECT.emitter()
    *frames, last = [frame for event in given for frame in emitter.emit(event)] + emitter.close()
    calls = [call for frame in frames for choice in frame["choices"] for call in choice["delta"].get("tool_calls", ())]

    assert {"f": 0, "g": 1} == {call["function"]["name"]: call["index"] for call in calls if "name" in call["function"]}
    assert "[DONE]" == last


def test_arguments_of_another_dialect():
    """
    Their text is written as its model wrote it: it is JSON, whose spaces and order stay.
    """
    given = responses.events(responses.stream(responses.call(0, '{"b": 1, ', '"a":2}')))
    emitter = DIALECT.emitter()
    *frames, _ = [frame for event in given for frame in emitter.emit(event)] + emitter.close()
    calls = [call for frame in frames for choice in frame["choices"] for call in choice["delta"].get("tool_calls", ())]

    assert '{"b": 1, "a":2}' == "".join(call["function"]["arguments"] for call in calls)


@pytest.mark.parametrize(("served", "written"), [("m-2026-11", "m-2026-11"), (None, "m")])
def test_the_model_of_another_dialect(served, written):
    """
    The document has the model that answered; that of the request only where no other is known.
    """
    origin = Origin(provider="google", dialect="gemini-interactions", model="m", served_model=served)

    assert written == DIALECT.emit_resource(fold(testing.answer("Hi", origin=origin)).last)["model"]


def test_a_video_is_no_image():
    """
    The wire has images and sound alone: others are reported, and not written as an image.
    """
    given = [
        StepStarted(message_id="a1", origin=Origin(provider="google", dialect="gemini-interactions")),
        MediaStarted(message_id="a1", media_type="video/mp4"),
        MediaEnded(message_id="a1", media_type="video/mp4", uri="https://files.example/1"),
        StepEnded(message_id="a1", finish_reason="stop"),
    ]
    emitter = DIALECT.emitter()
    frames = [frame for event in given for frame in emitter.emit(event)] + emitter.close()

    assert "files.example" not in str(frames)
    assert (0, "unplaced") in [(drop.part, drop.reason) for drop in emitter.drops]


@pytest.mark.parametrize("found", [{"type": "web_result", "url": "u"}, {"index": 1}, {"arguments": "x", "output": "y"}])
def test_a_result_with_fields_of_a_tool(found):
    """
    It is written as text: beside the tool its fields would replace the name, the number or the arguments.
    """
    ran = [Call(name, {"a": 1}, output=[JsonContent(found)], provider_executed=True) for name in ("f", "g")]
    given = testing.answer(calls=ran)
    emitter = DIALECT.emitter()
    frames = [frame for event in given for frame in emitter.emit(event)] + emitter.close()
    streamed = fold(events(b"".join(map(emitter.to_bytes, frames)))).last
    read = fold(DIALECT.decode_resource(DIALECT.emit_resource(fold(given).last), "a1")).last
    expected = [(name, {"a": 1}, (TextContent(write_json(found).decode()),)) for name in ("f", "g")]

    assert expected == [(call.name, call.input, call.output) for call in streamed.tool_calls]
    assert expected == [(call.name, call.input, call.output) for call in read.tool_calls]


def test_a_tool_of_another_provider_that_failed():
    """
    The words of its error are its output: the wire has no other place.
    """
    fault = ErrorInfo(kind=ErrorKind.TOOL, message="no network")
    given = fold(testing.answer(calls=[Call("search", {"q": "x"}, error=fault, provider_executed=True)])).last
    [ran] = DIALECT.emit_resource(given)["choices"][0]["message"]["executed_tools"]

    assert {"type": "search", "arguments": '{"q":"x"}', "output": "no network"} == ran


def test_calls_of_the_app_are_counted_alone():
    """
    The official client has no place for a call 1 without a call 0: it raised behind a tool that the provider had run.
    """
    ran = Call("search", {"q": "x"}, output=[TextContent("found")], provider_executed=True)
    emitter = DIALECT.emitter()
    written = [emitter.emit(event) for event in testing.answer(calls=[ran, Call("f", {}), Call("g", {})])]
    chunks = [frame for frames in written for frame in frames if frame != "[DONE]"]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]

    assert [0, 0, 1, 1] == [call["index"] for delta in deltas for call in delta.get("tool_calls", ())]
    assert {0} == {call["index"] for delta in deltas for call in delta.get("executed_tools", ())}


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_a_call_that_was_cut_before_its_input(reason):
    """
    Its arguments are empty, not an object: a reader of the chunks would run the call.
    """
    cut = events(answer(J("", id="call_1", name="f"), finish_reason=reason))
    emitter = DIALECT.emitter()
    frames = [frame for event in cut for frame in emitter.emit(event)] + emitter.close()
    again = fold(events(b"".join(map(emitter.to_bytes, frames)))).last
    [written] = DIALECT.emit_resource(fold(cut).last)["choices"][0]["message"]["tool_calls"]

    assert [("failed", None)] == [(call.status, call.input) for call in again.tool_calls]
    assert {"name": "f", "arguments": ""} == written["function"]


@pytest.mark.parametrize("arguments", ["{}", None, {"city": "Oslo"}, [1], 1], ids=json.dumps)
def test_a_call_without_a_name_comes_back(arguments):
    """
    It is written as it came, whatever its arguments are.
    """
    state = {"id": "call_1", "arguments": arguments}
    given = [
        StepStarted(message_id="a1", origin=Origin(provider="openai", dialect="openai-chat")),
        OpaqueReceived(message_id="a1", state=state),
        StepEnded(message_id="a1", finish_reason="stop"),
    ]
    emitter = DIALECT.emitter()
    frames = [frame for event in given for frame in emitter.emit(event)] + emitter.close()
    calls = [
        call for frame in frames if frame != "[DONE]" for call in frame["choices"][0]["delta"].get("tool_calls", ())
    ]
    pieces = [call["function"]["arguments"] for call in calls]

    assert [("call_1", "function")] == [(call["id"], call["type"]) for call in calls if "id" in call]
    assert arguments == ("".join(pieces) if isinstance(arguments, str) else pieces[0])
    if isinstance(arguments, str):
        [part] = fold(events(b"".join(map(emitter.to_bytes, frames)))).last.parts
        assert state == part.state


@pytest.mark.parametrize("function", [{}, {"thought_signature": "EqQB"}])
def test_a_call_without_a_name_keeps_its_other_fields(function):
    """
    What the function had beside its arguments is written with these.
    """
    call = {"index": 0, "id": "call_1", "function": {"arguments": "{}", **function}}
    [written] = DIALECT.emit_resource(message(answer(D(tool_calls=[call]))))["choices"][0]["message"]["tool_calls"]

    assert {"arguments": "{}", **function} == written["function"]


def test_a_free_text_that_was_cut():
    """
    What came of the input of a custom call is written.
    """
    call = {"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "f", "input": "print("}}
    cut = message(answer(D(tool_calls=[call]), finish_reason="length"))
    [written] = DIALECT.emit_resource(cut)["choices"][0]["message"]["tool_calls"]

    assert (None, {"name": "f", "input": "print("}) == (cut.tool_calls[0].input, written["custom"])


def test_sound_in_a_document():
    """
    It has the bytes, beside what is known of them.
    """
    audio = {"id": "audio_1", "data": "AAAA", "transcript": "Hi", "expires_at": 1790000999}

    assert audio == DIALECT.emit_resource(message(document(audio=audio)))["choices"][0]["message"]["audio"]


def test_a_free_text_in_a_stream():
    """
    Its pieces are those of a custom call.
    """
    call = {"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "f", "input": "print()"}}
    written = [each["tool_calls"] for each in deltas(answer(D(tool_calls=[call]))) if "tool_calls" in each]

    assert [
        [{"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "f", "input": ""}}],
        [{"index": 0, "custom": {"input": "print()"}}],
    ] == written


def test_tools_that_mistral_has_run():
    """
    The result is a message of its own, in a document of several and in a stream.
    """
    body = answer(*[D(**each) for each in drawn()])
    result = {"role": "tool", "tool_call_id": "imagecall", "content": DRAWN}
    [choice] = DIALECT.emit_resource(message(body))["choices"]

    assert [result] == [each for each in deltas(body) if each.get("role") == "tool"]
    assert ["I draw.", DRAWN, "Here it is."] == [each["content"] for each in choice["messages"]]
    assert result == choice["messages"][1]
    assert "message" not in choice


def test_log_probabilities_of_a_document():
    """
    They are of the choice.
    """
    probabilities = [("Hel", -0.25), ("lo", -0.125)]
    [choice] = DIALECT.emit_resource(message(SAMPLES["log probabilities"]))["choices"]

    assert {"content": [{"token": text, "logprob": value, "bytes": [72]} for text, value in probabilities]} == choice[
        "logprobs"
    ]


def test_facts_of_an_answer_that_failed():
    """
    They come before its error.
    """
    *_, facts, error = chunks(stream(T("a") | {"service_tier": "flex"}, E("Overloaded")))

    assert ("flex", None) == (facts["service_tier"], facts["choices"][0]["finish_reason"])
    assert "Overloaded" == error["error"]["message"]
