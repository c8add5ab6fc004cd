"""
The mock of Chat Completions: its answers, what it refuses, its faults, fixtures and recordings.

Expected values come from the types of openai 3.54.0 and from reports of refused requests; those of aimock's fixtures
from its handler of `@copilotkit/aimock` 1.43.0.
"""

import asyncio
import json

import pytest

from assistant_events import fold, is_durable
from assistant_events.adapters.openai_chat import OpenAIChatDecoder
from assistant_events.adapters.openai_chat.mock import Answer, MockProvider, mock, read_request
from assistant_events.converters import unstructure
from assistant_events.mock import Match
from assistant_events.mock.fixture_files import load_fixtures
from assistant_events.mock.proxy import RecordingProxy
from assistant_events.testing.transport import StreamingTransport

from .asgi import JumpClock, ask, asked

PATH = "/v1/chat/completions"
MODEL = "gpt-5.6"
HEADERS = {"x-goog-api-key": None, "authorization": "Bearer secret"}
USER = {"role": "user", "content": "Hello"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "rain", "arguments": "{}"}}
OTHER = {**CALL, "id": "call_2"}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}
USAGE = {"stream": True, "stream_options": {"include_usage": True}}
EVERYTHING = {"thought": ["Hm"], "text": "Hi é", "calls": [{"id": "call_1", "name": "rain", "arguments": {"at": 1}}]}


def provider_of(fixtures, **options):
    numbers = iter(range(1, 100))
    return MockProvider(fixtures, **{"clock": JumpClock(), "make_id": lambda: f"chatcmpl-{next(numbers)}", **options})


def anything(answer="Hi", **options):
    fixture = {"match": {}, "answer": {"text": answer} if isinstance(answer, str) else answer}
    return provider_of({"version": 1, "fixtures": [fixture]}, **options)


def body(*messages, **more):
    return {"model": MODEL, "messages": list(messages) or [USER], **more}


def calling(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def posted(provider, request, headers=()):
    return asked(provider, "POST", PATH, request, {**HEADERS, **dict(headers)})


def frames_of(exchange):
    """Return what the frames of a stream hold, `[DONE]` as it is."""
    data = [frame.removeprefix("data: ") for frame in exchange.body.decode().split("\n\n") if frame]
    return [each if each == "[DONE]" else json.loads(each) for each in data]


def streamed(provider, **more):
    return frames_of(posted(provider, body(**{"stream": True, **more})))


def one(response, **more):
    fixtures = load_fixtures(mock.form, {"fixtures": [{"match": {}, "response": response, **more}]})
    ((answer,),) = [fixture.answers for fixture in fixtures]
    return answer


# -- answers


def test_a_document():
    """
    A completion has one choice, with the message of the assistant.
    """
    found = posted(anything("Hi there"), body()).document

    assert ("chatcmpl-1", "chat.completion", MODEL) == tuple(found[key] for key in ("id", "object", "model"))
    assert [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hi there", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ] == found["choices"]
    assert (2, 2, 4) == tuple(found["usage"][key] for key in ("prompt_tokens", "completion_tokens", "total_tokens"))


def test_a_stream():
    """
    The role is first, then the deltas in the order of a message, the reason to finish, and `[DONE]`.
    """
    answer = {**EVERYTHING, "timing": {"delta_chars": 3}}
    *chunks, done = streamed(anything(answer))
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]

    def call(**more):
        return {"tool_calls": [{"index": 0, **more}]}

    assert [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "Hm"},
        {"content": "Hi "},
        {"content": "é"},
        call(id="call_1", type="function", function={"name": "rain", "arguments": ""}),
        call(function={"arguments": '{"a'}),
        call(function={"arguments": 't":'}),
        call(function={"arguments": "1}"}),
        {},
    ] == deltas
    assert [None] * 8 + ["tool_calls"] == [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert {("chatcmpl-1", "chat.completion.chunk", MODEL, True)} == {
        (chunk["id"], chunk["object"], chunk["model"], chunk["created"] > 0) for chunk in chunks
    }
    assert "[DONE]" == done


SH = {"id": "call_3", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}


@pytest.mark.parametrize("model", ["mistral-large-latest", "grok-5", "gemini-3.6-flash"])
def test_calls_in_one_piece(model):
    """
    Mistral, xAI and Google send each call whole; the clients of Mistral and xAI take no pieces, and failed.
    """
    rain = {**CALL, "function": {"name": "rain", "arguments": '{"at": 1}'}}
    answer = {"message": {"content": "Hi", "tool_calls": [rain, SH, OTHER]}, "timing": {"delta_chars": 3}}
    chunks = [chunk for chunk in streamed(anything(answer), model=model) if chunk != "[DONE]" and chunk["choices"]]
    calls = [calls for chunk in chunks if (calls := chunk["choices"][0]["delta"].get("tool_calls"))]

    assert [[{"index": at, **call}] for at, call in enumerate([rain, SH, OTHER])] == calls
    assert "tool_calls" == chunks[-1]["choices"][0]["finish_reason"]


@pytest.mark.parametrize(("model", "more"), [("mistral-large-latest", [{"index": 0}, {"index": 1}]), (MODEL, [{}, {}])])
def test_calls_of_a_document(model, more):
    """
    Mistral writes the place of each call in a document, too: the plugin of LLM joined two calls without places.
    """
    document = posted(anything({"message": {"tool_calls": [CALL, OTHER]}}), {**body(), "model": model}).document

    assert [{**CALL, **more[0]}, {**OTHER, **more[1]}] == document["choices"][0]["message"]["tool_calls"]


@pytest.mark.parametrize("more", [{}, {"stream_options": {"include_usage": True}}])
def test_the_usage_of_mistral(more):
    """
    It is in the chunk of the end, asked for or not: their clients got none, or failed at a chunk without a choice.
    """
    *chunks, last, _ = streamed(anything(), model="mistral-large-latest", **more)

    assert ("stop", 3) == (last["choices"][0]["finish_reason"], last["usage"]["total_tokens"])
    assert [1] * len(chunks) == [len(chunk["choices"]) for chunk in chunks]


BESIDE_DETAILS = {
    "OpenRouter": ({"reasoning": "Hm"}, {"type": "reasoning.text", "text": "Hm", "signature": "c2ln", "index": 0}),
    "OpenRouter, a summary": ({"reasoning": "Hm"}, {"type": "reasoning.summary", "summary": "Hm", "index": 0}),
    "LiteLLM": ({"reasoning_content": "Hm"}, {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}),
    "details alone": ({}, {"type": "reasoning.text", "text": "Hm", "signature": "c2ln", "index": 0}),
}


@pytest.mark.parametrize(("text", "item"), BESIDE_DETAILS.values(), ids=BESIDE_DETAILS)
def test_the_text_beside_details_of_a_reasoning(text, item):
    """
    The text is in the stream, too, if the message has it: pydantic-ai and others read no details, and got no reasoning.
    """
    array = "thinking_blocks" if item["type"] == "thinking" else "reasoning_details"
    *chunks, _ = streamed(anything({"message": {"content": "Hi", **text, array: [item]}}))
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]

    assert [{array: [item], **text}] == [delta for delta in deltas if array in delta or text.keys() & delta.keys()]


def test_a_stream_without_content():
    """
    Its first chunk has a null, as a completion has, so that clients do not add it up to an empty text.
    """
    call = {"calls": [{"id": "call_1", "name": "rain", "arguments": {}}]}
    firsts = [streamed(anything(answer))[0]["choices"][0]["delta"] for answer in (call, {**call, "text": "Hi"})]

    assert [{"role": "assistant", "content": None}, {"role": "assistant", "content": ""}] == firsts
    assert None is posted(anything(call), body()).document["choices"][0]["message"]["content"]


def test_usage():
    """
    A stream has its usage in a chunk of its own, and only when the request asks for it.
    """
    usage = {"prompt_tokens": 9, "completion_tokens": 22, "total_tokens": 31}
    provider = anything({"text": "Hi", "usage": usage})
    *chunks, last, done = streamed(provider, **USAGE)
    without = streamed(provider, stream_options={"include_usage": False})

    assert (usage, [], "[DONE]") == (last["usage"], last["choices"], done)
    assert {"chat.completion.chunk"} == {chunk["object"] for chunk in (*chunks, last)}
    assert not any("usage" in chunk for chunk in without[:-1])
    assert usage == posted(provider, body()).document["usage"]


@pytest.mark.parametrize(
    ("more", "given", "expected"),
    [({}, {}, False), ({}, {"usage": {"include": True}}, True), ({"more": {"provider": "Anthropic"}}, {}, True)],
    ids=["OpenAI", "a request to OpenRouter", "an answer of OpenRouter"],
)
def test_usage_of_openrouter(more, given, expected):
    """
    OpenRouter sends it always (its documentation of `include_usage`, all 28 recordings): its provider for the AI SDK
    does not ask, or asks with a field of its own.
    """
    *chunks, _ = streamed(anything({"text": "Hi", **more}), **given)

    assert expected == ("usage" in chunks[-1])


def test_ids_of_each_run():
    """
    A call without an id gets another one in each run, the same in a stream and in its document.
    """
    provider = anything({"calls": [{"name": "rain"}, {"name": "snow"}]})
    ids = [
        call["id"]
        for _ in range(2)
        for call in posted(provider, body()).document["choices"][0]["message"]["tool_calls"]
    ]

    assert 4 == len(set(ids))
    assert all(each.startswith("call_") for each in ids)


def test_fields_of_a_message():
    """
    A message in the words of the wire is sent as it is, with other fields of the choice and of the completion.
    """
    answer = {
        "message": {"refusal": "No."},
        "finish_reason": "length",
        "choice": {"native_finish_reason": "MAX"},
        "more": {"model": "gpt-served", "system_fingerprint": "fp_1"},
    }
    provider = anything(answer)
    found = posted(provider, body()).document
    [choice] = found["choices"]
    deltas = [chunk["choices"][0]["delta"] for chunk in streamed(provider)[:-1]]

    assert ("gpt-served", "fp_1") == (found["model"], found["system_fingerprint"])
    assert ("No.", None, "length", "MAX") == (
        choice["message"]["refusal"],
        choice["message"]["content"],
        choice["finish_reason"],
        choice["native_finish_reason"],
    )
    assert {"refusal": "No."} in deltas


@pytest.mark.parametrize("prefix", ["/v1", "/openai/v1", "/openai/deployments/gpt-5.6"])
def test_fields_of_every_chunk(prefix):
    """
    Chunks have the fields of the completion that are the same in all of them, at each address of the API.
    """
    provider = anything({"text": "Hi", "more": {"service_tier": "flex", "system_fingerprint": "fp_1"}})
    found = asked(provider, "POST", f"{prefix}/chat/completions", body(**USAGE), HEADERS)
    *chunks, done = frames_of(found)

    assert "[DONE]" == done
    assert {("flex", "fp_1")} == {(chunk["service_tier"], chunk["system_fingerprint"]) for chunk in chunks}


@pytest.mark.parametrize("model", [{}, {"model": None}, {"model": ""}])
def test_a_deployment_is_a_model(model):
    """
    At the address of a deployment of Azure a request needs no model, and fixtures are compared with the deployment.
    """
    provider = provider_of({Match(model="my-gpt"): "Hi"})
    sent = {**{key: each for key, each in body().items() if key != "model"}, **model}
    found = asked(provider, "POST", "/openai/deployments/my-gpt/chat/completions", sent, HEADERS)

    assert (200, "my-gpt") == (found.status, found.document["model"])
    assert 400 == asked(provider, "POST", "/openai/v1/chat/completions", sent, HEADERS).status


def test_the_tier_of_an_answer():
    """
    Completions and chunks have the tier that the service uses by default: LiteLLM fails without one of Groq.
    """
    provider = anything("Hi")
    chunk = frames_of(posted(provider, body(stream=True)))[0]

    assert ["default"] * 2 == [each["service_tier"] for each in (posted(provider, body()).document, chunk)]


def test_events_of_this_library():
    """
    An answer in events is the message that they were decoded from.
    """
    wire = posted(anything(EVERYTHING), body()).document
    events = [unstructure(event) for event in OpenAIChatDecoder.decode_resource(wire, "m") if is_durable(event)]
    found = posted(anything({"events": events}), body()).document

    assert wire["choices"][0]["finish_reason"] == found["choices"][0]["finish_reason"]
    assert wire["choices"][0]["message"] == found["choices"][0]["message"]
    assert wire["usage"] == found["usage"]


def test_an_error_of_a_stream():
    """
    A stream ends with a chunk that has an error; the unary answer is HTTP error 500.
    """
    provider = anything({"text": "Hi", "stream_error": {"message": "boom"}})
    error = {"message": "boom", "type": "server_error", "param": None}
    unary = posted(provider, body())

    assert {"error": {**error, "code": "server_error"}} == streamed(provider)[-2]
    assert (500, {"error": {**error, "code": None}}) == (unary.status, unary.document)


# -- requests


def named(**function):
    return {**CALL, "function": {**CALL["function"], **function}}


NO_RESULT = "The following tool_call_ids did not have response messages: call_1"
NO_CALL = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
ADDRESS = {"type": "image_url", "image_url": "https://a.b/c.png"}
REFUSED = {
    "no model": ({"messages": [USER]}, "you must provide a model parameter", None),
    "no messages": ({"model": MODEL}, "Missing required parameter: 'messages'.", "messages"),
    "empty messages": ({"model": MODEL, "messages": []}, "Invalid 'messages': empty array.", "messages"),
    "messages of a wrong type": ({"model": MODEL, "messages": "Hi"}, "Invalid type for 'messages'", "messages"),
    "a message of a wrong type": (body(7), "Invalid type for 'messages[0]'", "messages[0]"),
    "stream of a wrong type": (body(stream="yes"), "Invalid type for 'stream'", "stream"),
    "stream options alone": (
        body(stream_options={"include_usage": True}),
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        "stream_options",
    ),
    "an unknown role": (
        body({**USER, "role": "robot"}),
        "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'devel",
        "messages[0].role",
    ),
    "no role": (body({"content": "Hi"}), "Missing required parameter: 'messages[0].role'.", "messages[0].role"),
    "no content": (
        body({"role": "user", "content": None}),
        "Invalid value for 'content': expected a string, got null.",
        "messages[0].content",
    ),
    "an answer with neither text nor calls": (
        body(USER, {"role": "assistant", "content": None}),
        "Invalid value for 'content': expected a string, got null.",
        "messages[1].content",
    ),
    "an unknown item": (
        body({"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}),
        "Invalid value: 'input_text'.",
        "messages[0].content[0].type",
    ),
    "a text that is missing": (
        body({"role": "user", "content": [{"type": "text"}]}),
        "Missing required parameter: 'messages[0].content[0].text'.",
        "messages[0].content[0].text",
    ),
    "a text that is none": (
        body(USER, calling(CALL), {**RESULT, "content": [{"type": "text", "text": 7}]}),
        "Invalid type for 'messages[2].content[0].text': expected a string, but got a number instead.",
        "messages[2].content[0].text",
    ),
    "an address in place of an image": (
        body({"role": "user", "content": [{"type": "text", "text": "Hi"}, ADDRESS]}),
        "Invalid type for 'messages[0].content[1].image_url': expected an object, but got a string instead.",
        "messages[0].content[1].image_url",
    ),
    "an image without an address": (
        body({"role": "user", "content": [{"type": "image_url", "image_url": {"detail": "low"}}]}),
        "Missing required parameter: 'messages[0].content[0].image_url.url'.",
        "messages[0].content[0].image_url.url",
    ),
    "no calls": (body(USER, calling()), "Invalid 'messages[1].tool_calls': empty array.", "messages[1].tool_calls"),
    "a call of a wrong type, at Mistral": (
        body(USER, calling("rain"), RESULT, model="mistral-large-latest"),
        "Invalid type for 'messages[1].tool_calls[0]': expected an object, but got a string instead.",
        "messages[1].tool_calls[0]",
    ),
    "a call without an id": (
        body(USER, calling({**CALL, "id": ""})),
        "Missing required parameter: 'messages[1].tool_calls[0].id'.",
        "messages[1].tool_calls[0].id",
    ),
    "a call without a name": (
        body(USER, calling(named(name=None)), RESULT),
        "Missing required parameter: 'messages[1].tool_calls[0].function.name'.",
        "messages[1].tool_calls[0].function.name",
    ),
    "a call with a long id": (
        body(USER, calling({**CALL, "id": "c" * 65})),
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 64",
        "messages[1].tool_calls[0].id",
    ),
    "a name of other characters": (
        body(USER, calling(named(name="functions.f")), RESULT),
        "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern.",
        "messages[1].tool_calls[0].function.name",
    ),
    "arguments of a wrong type": (
        body(USER, calling(named(arguments={})), RESULT),
        "expected a string, but got an object instead.",
        "messages[1].tool_calls[0].function.arguments",
    ),
    "arguments that are not JSON": (
        body(USER, calling(named(arguments='{"city": "Os')), RESULT),
        "expected the text of a JSON object",
        "messages[1].tool_calls[0].function.arguments",
    ),
    "a call without a result": (body(USER, calling(CALL)), NO_RESULT, "messages.[1].role"),
    "a prompt before the result": (body(USER, calling(CALL), USER, RESULT), NO_RESULT, "messages.[2].role"),
    "one result of two": (body(USER, calling(OTHER, CALL), {**RESULT, "tool_call_id": "call_2"}), NO_RESULT, None),
    "a result without a call": (body(USER, RESULT), NO_CALL, "messages.[1].role"),
    "a result of another call": (
        body(USER, calling(CALL), {**RESULT, "tool_call_id": "call_9"}),
        NO_CALL,
        "messages.[2].role",
    ),
    "a second result": (body(USER, calling(CALL), RESULT, RESULT), NO_CALL, "messages.[3].role"),
    "a result without an id": (
        body(USER, calling(CALL), {"role": "tool", "content": "sunny"}),
        "Missing required parameter: 'messages[2].tool_call_id'.",
        "messages[2].tool_call_id",
    ),
    "a tool without a type": (body(tools=[{}]), "Missing required parameter: 'tools[0].type'.", "tools[0].type"),
    "a choice beside no tools": (
        body(tools=[], tool_choice="required"),
        "'tool_choice' is only allowed when 'tools' are specified.",
        "tool_choice",
    ),
    "a function without a name": (
        body(tools=[{"type": "function", "function": {}}]),
        "Missing required parameter: 'tools[0].function.name'.",
        "tools[0].function.name",
    ),
    "a name of other characters in a tool": (
        body(tools=[{"type": "function", "function": {"name": "a.b"}}]),
        "Invalid 'tools[0].function.name': string does not match pattern.",
        "tools[0].function.name",
    ),
    "calls at the same time without tools": (
        body(parallel_tool_calls=False),
        "'parallel_tool_calls' is only allowed when 'tools' are specified.",
        "parallel_tool_calls",
    ),
    "a choice of another tool": (
        body(
            tools=[{"type": "function", "function": {"name": "f"}}],
            tool_choice={"type": "function", "function": {"name": "g"}},
        ),
        "Tool choice 'g' not found in 'tools' parameter.",
        "tool_choice",
    ),
    "a tool of a wrong type": (
        body(tools=["rain"]),
        "Invalid type for 'tools[0]': expected an object, but got a string instead.",
        "tools[0]",
    ),
    "a choice without tools": (
        body(tool_choice="auto"),
        "'tool_choice' is only allowed when 'tools' are specified.",
        "tool_choice",
    ),
}


@pytest.mark.parametrize(("request_", "message", "param"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(request_, message, param):
    """
    A strict mock refuses what the service refuses, with an error of its shape.
    """
    found = posted(anything(), request_)
    error = found.document["error"]

    assert (400, "invalid_request_error") == (found.status, error["type"])
    assert message in error["message"]
    assert {"message", "type", "param", "code"} == error.keys()
    assert param in (None, error["param"])


ACCEPTED = {
    "all roles": body(
        {"role": "system", "content": "Be brief."}, {"role": "developer", "content": "Be kind."}, USER,
        {"role": "assistant", "content": "Hi"}, USER,
    ),
    "a loop": body(USER, calling(CALL, OTHER), {**RESULT, "tool_call_id": "call_2"}, RESULT),
    "a loop, and more": body(USER, calling(CALL), RESULT, {"role": "assistant", "content": "Sunny."}, USER),
    "a custom tool": body(
        USER, calling({"id": "call_1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}), RESULT
    ),
    "a refusal": body(USER, {"role": "assistant", "refusal": "No."}, USER),
    "items": body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}),
    "the old call of a function": body(
        USER,
        {"role": "assistant", "content": None, "function_call": {"name": "rain", "arguments": "{}"}},
        {"role": "function", "name": "rain", "content": "sunny"},
    ),
    "unknown keys": body(speed="fast"),
    "no tools, as Strands Agents sends them": body(tools=[], stream=True),
    "calls without types, as LangChain sends them to Mistral": body(
        USER, calling({"id": "call_1", "function": CALL["function"]}), RESULT, model="magistral-medium-latest"
    ),
    "no calls, as Pydantic AI sends them to Mistral": body(
        USER, {"role": "assistant", "content": "Hi", "tool_calls": []}, USER, model="mistral-large-latest"
    ),
    "a tool of a gateway": body(tools=[{"type": "openrouter:web_search"}]),
    "an address in place of an image, at Mistral": body(
        {"role": "user", "content": [ADDRESS]}, model="mistral-large-latest"
    ),
    "a PDF of Mistral": body({"role": "user", "content": [{"type": "document_url", "document_url": "https://a.b/c"}]}),
}  # fmt: skip


@pytest.mark.parametrize("request_", ACCEPTED.values(), ids=ACCEPTED)
def test_what_is_accepted(request_):
    """
    What the service accepts is answered.
    """
    assert 200 == posted(anything(), request_).status


def test_keys_and_routes():
    """
    A key, any key, is required; other paths and methods are errors of the provider's shape.
    """
    provider = anything()
    found = [
        posted(provider, body(), {"authorization": None}),
        asked(provider, "POST", "/v1/completions", {}, HEADERS),
        asked(provider, "GET", PATH, None, HEADERS),
    ]

    assert [(401, "invalid_api_key"), (404, None), (405, None)] == [
        (each.status, each.document["error"]["code"]) for each in found
    ]


def test_a_lenient_mock():
    """
    Any object is a request.
    """
    found = posted(anything(strict=False), {}, {"authorization": None})

    assert (200, "Hi") == (found.status, found.document["choices"][0]["message"]["content"])


# -- faults


def frames_with(fault):
    return streamed(anything(faults=[fault]), **USAGE)


FAULTS = {
    "no-completed": lambda frames: frames[-1] == "[DONE]" and "usage" not in frames[-2] and len(frames) == 3,
    "completed-in-progress": lambda frames: frames[2]["choices"][0]["finish_reason"] is None,
    "no-usage": lambda frames: frames[-2]["usage"] is None,
    "no-done": lambda frames: len(frames) == 4 and "usage" in frames[-1],
    "error@2": lambda frames: "error" in frames[2] and len(frames) == 3,
    "cut@2": lambda frames: len(frames) == 2,
    "empty-errors": lambda frames: [None, {}] == [frame["error"] for frame in frames[2:4]],
    "unknown-events": lambda frames: {"dream": "of tomorrow"} == frames[3]["choices"][0]["delta"],
    "duplicated-frames@2": lambda frames: frames[:2] == frames[2:4],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault):
    """
    A fault breaks the stream in the way of this wire. Without one it has a role, a text, an end, usage, and a mark.
    """
    assert FAULTS[fault](frames_with(fault))


def test_a_cut_by_a_gateway():
    """
    The rest of the body is a bare error.
    """
    exchange = posted(anything(faults=["ten-minute-cut@1"]), body(stream=True))

    assert exchange.body.endswith(b'"param":null,"code":null}}\n')


def test_an_http_fault():
    """
    The first request gets an error with the time to wait.
    """
    found = posted(anything(faults=["http-429"]), body())

    assert (429, "rate_limit_exceeded", "1") == (
        found.status,
        found.document["error"]["code"],
        found.headers["retry-after"],
    )


# -- fixtures


def test_facts_of_a_request():
    """
    Messages of the system and the developer are one text; results and tools are read.
    """
    facts = read_request(
        body(
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
            USER,
            calling(CALL),
            RESULT,
            tools=[
                {"type": "function", "function": {"name": "rain"}},
                {"type": "custom", "custom": {"name": "sh"}},
                {"type": "other"},
            ],
        )
    )

    assert (MODEL, "Be brief.\nBe kind.", {"rain", "sh"}) == (facts.model, facts.system, facts.tools)
    assert ("Hello", ("call_1",), "sunny", 1) == (facts.user_text, facts.call_ids, facts.result_text, facts.turn)


def test_a_loop():
    """
    The result of a call picks the next answer.
    """
    provider = provider_of({"Hello": {"message": {"tool_calls": [CALL]}}, Match(call_id="call_1"): "Sunny."})
    first = posted(provider, body()).document["choices"][0]
    second = posted(provider, body(USER, first["message"], RESULT)).document["choices"][0]

    assert ("tool_calls", "Sunny.") == (first["finish_reason"], second["message"]["content"])


def test_fixtures_of_aimock():
    """
    Reasoning, text and calls are one message; the reason to finish is sent as it is.
    """
    answer = one(
        {
            "content": "Hi",
            "toolCalls": [{"name": "rain", "id": "call_1", "arguments": "{}"}],
            "reasoning": "Hm",
            "finishReason": "length",
            "usage": {"prompt_tokens": 3, "completion_tokens": 4},
            "id": "chatcmpl-9",
            "systemFingerprint": "fp_1",
        }
    )

    assert (
        Answer(
            id="chatcmpl-9",
            message={"reasoning_content": "Hm", "content": "Hi", "tool_calls": [CALL]},
            finish_reason="length",
            usage={"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
            more={"system_fingerprint": "fp_1"},
        )
        == answer
    )
    assert None is one({"content": "Hi"}).usage


# -- recordings


@pytest.mark.parametrize("stream", [True, False])
def test_a_recording_gives_the_same(tmp_path, stream):
    """
    What was recorded is given again: the message, usage and the end; an error with its code.
    """
    path = tmp_path / "recorded.json"
    script = {
        "Hello": {**EVERYTHING, "more": {"system_fingerprint": "fp_1"}},
        "Broken": {"text": "Hi", "stream_error": {"code": "overloaded", "message": "boom"}},
        "Bad": {"http_error": {"status": 429, "message": "later", "headers": {"retry-after": "7"}}},
    }
    more = USAGE if stream else {}
    requests = [body({**USER, "content": text}, **more) for text in script]

    async def main():
        transport = StreamingTransport(provider_of(script).app)
        proxy = RecordingProxy(mock.recorded, "https://upstream.test", path, transport=transport)
        first = [await ask(proxy, "POST", PATH, each, HEADERS) for each in requests]
        replay = provider_of(str(path))
        return first, [await ask(replay, "POST", PATH, each, HEADERS) for each in requests]

    recorded, replayed = asyncio.run(main())

    for before, after in zip(recorded[:1] if not stream else recorded[:2], replayed, strict=False):
        assert message_of(before, stream=stream) == message_of(after, stream=stream)
    assert recorded[2].status == replayed[2].status == 429
    assert recorded[2].document["error"] == replayed[2].document["error"]
    assert "7" == replayed[2].headers["retry-after"]
    assert "secret" not in path.read_text("utf-8")


def test_codes_that_are_numbers():
    """
    The code of an error is the one of the fixture, also a number, as OpenRouter writes them.
    """
    bad = {"http_error": {"status": 402, "code": 402, "message": "no credits"}}
    found = asked(provider_of({"Hello": bad}), "POST", PATH, body(USER), HEADERS)

    assert (402, 402) == (found.status, found.document["error"]["code"])


def test_the_fingerprint():
    """
    Completions and chunks name the system that made them.
    """
    provider = provider_of({"Hello": {"text": "Hi"}})
    document = asked(provider, "POST", PATH, body(USER), HEADERS).document
    chunks = asked(provider, "POST", PATH, body(USER, stream=True), HEADERS).events

    assert document["system_fingerprint"].startswith("fp_")
    assert {document["system_fingerprint"]} == {chunk["system_fingerprint"] for chunk in chunks}


def message_of(exchange, *, stream):
    if stream:
        decoder = OpenAIChatDecoder("m")
        return fold([*decoder.feed(exchange.body), *decoder.close()]).last
    return fold(OpenAIChatDecoder.decode_resource(exchange.document, "m")).last


def test_arguments_of_a_call_without_any():
    """
    The empty text that a fixture's call without arguments has is accepted when it comes back.
    """
    found = posted(anything(), body(USER, calling(named(arguments="")), RESULT))

    assert 200 == found.status
