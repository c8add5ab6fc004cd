"""
The official Python client of Chat Completions against its mock: text, tools, errors, usage and turns.
"""

import pytest

from tests.official.client import OfficialError

MODEL = "gpt-5.6"
HI = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 5}}
CALL = {"calls": [{"id": "call_1", "name": "weather", "arguments": {"city": "Zürich", "days": 2}}]}
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "12 degrees"}
USAGE = {"prompt_tokens": 9, "completion_tokens": 22, "total_tokens": 31}
HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture(params=["sync", "async"])
def client(request, openai_chat):
    """
    A function that returns the client in each of its modes for a mock provider.
    """
    return lambda mock: openai_chat("3.54", request.param, mock.url)


@pytest.fixture
def chat(provider):
    """
    A function that returns a mock provider of Chat Completions.
    """
    return lambda fixtures, **options: provider(fixtures, dialect="openai-chat", **options)


def plain(value):
    """Return objects of the client as an application sends them back."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in ("class", "parsed", "parsed_arguments")}
    return value


def test_text_as_a_completion(client, chat):
    """
    A unary answer is a completion with one choice.
    """
    found = client(chat({"Hello": HI})).create(model=MODEL, messages=HELLO)
    [choice] = found["choices"]

    assert ("ChatCompletion", "chat.completion", MODEL) == tuple(found[key] for key in ("class", "object", "model"))
    assert ("ChatCompletionMessage", "assistant", "Hi there, Zoë!", "stop") == (
        choice["message"]["class"],
        choice["message"]["role"],
        choice["message"]["content"],
        choice["finish_reason"],
    )
    assert found["id"].startswith("chatcmpl-")


def test_text_as_a_stream(client, chat):
    """
    A stream is chunks of one id: the role, the text cut as the fixture wants, and the reason to finish.
    """
    chunks = client(chat({"Hello": HI})).raw(model=MODEL, messages=HELLO)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]

    assert {"ChatCompletionChunk"} == {chunk["class"] for chunk in chunks}
    assert ["", "Hi th", "ere, ", "Zoë!", None] == [delta.get("content") for delta in deltas]
    assert ("assistant", "stop") == (deltas[0]["role"], chunks[-1]["choices"][0]["finish_reason"])
    assert 1 == len({chunk["id"] for chunk in chunks})


def test_usage(client, chat):
    """
    Usage is in the completion, and in the last chunk of a stream that asks for it.
    """
    api = client(chat({"Hello": {**HI, "usage": USAGE}}))
    unary = api.create(model=MODEL, messages=HELLO)["usage"]
    chunks = api.raw(model=MODEL, messages=HELLO, stream_options={"include_usage": True})
    without = api.raw(model=MODEL, messages=HELLO)

    assert USAGE == plain(unary) == plain(chunks[-1]["usage"])
    assert [] == chunks[-1]["choices"]
    assert not any(chunk.get("usage") for chunk in [*chunks[:-1], *without])


def test_the_accumulated_completion(client, chat):
    """
    What the client adds up from the stream is the unary answer.
    """
    api = client(chat({"Hello": {**HI, **CALL}}))
    unary = api.create(model=MODEL, messages=HELLO, tools=TOOLS)["choices"][0]
    streamed = api.stream(model=MODEL, messages=HELLO, tools=TOOLS)["choices"][0]

    def kept(choice):
        message = plain(choice["message"])
        calls = [{key: value for key, value in call.items() if key != "index"} for call in message["tool_calls"]]
        return message["content"], calls, choice["finish_reason"]

    call = {"name": "weather", "arguments": '{"city":"Zürich","days":2}'}
    expected = [{"id": "call_1", "type": "function", "function": call}]
    assert ("Hi there, Zoë!", expected, "tool_calls") == kept(unary) == kept(streamed)


def test_a_tool_loop(client, chat):
    """
    The call is sent back with its result, and the next fixture answers.
    """
    api = client(chat({"Weather?": [CALL, "It is 12 degrees."]}))
    prompt = {"role": "user", "content": "Weather?"}
    first = plain(api.create(model=MODEL, messages=[prompt], tools=TOOLS)["choices"][0]["message"])
    second = api.create(model=MODEL, messages=[prompt, first, RESULT], tools=TOOLS)

    assert "It is 12 degrees." == second["choices"][0]["message"]["content"]


def test_objects_sent_back(client, chat):
    """
    The messages of the client are taken back as they are.
    """
    answers = client(chat({"Hello": HI, "Again": "Hi again."})).converse(prompts=["Hello", "Again"], model=MODEL)

    assert "Hi again." == answers[1]["choices"][0]["message"]["content"]


def test_a_result_that_is_missing(client, chat):
    """
    The second turn is refused as the service does it.
    """
    api = client(chat({"Weather?": CALL}))
    with pytest.raises(OfficialError) as caught:
        api.converse(prompts=["Weather?", "And?"], model=MODEL, tools=TOOLS)

    assert ("BadRequestError", 400) == (caught.value.classes[0], caught.value.status_code)
    assert ("invalid_request_error", "messages.[2].role") == (caught.value.body["type"], caught.value.body["param"])
    assert caught.value.body["message"].endswith("did not have response messages: call_1")
