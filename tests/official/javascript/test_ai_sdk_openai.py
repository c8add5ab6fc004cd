"""
The AI SDK's provider of the Responses API against its mock.
"""

import pytest

from tests.official.client import OfficialError

MODEL = "gpt-5.6"
USAGE = {"input_tokens": 9, "output_tokens": 22, "total_tokens": 31}
ANSWER = {
    "thought": ["They greet me.", "I greet back."],
    "text": "Hi there, Zoë!",
    "usage": USAGE,
    "timing": {"delta_chars": 5},
}
CALL = {"id": "call_1", "name": "get_weather", "arguments": {"city": "Zürich"}}
ENCRYPTED = {"store": False, "include": ["reasoning.encrypted_content"]}


@pytest.fixture
def client(javascript):
    """
    A function that returns the client for a mock provider.
    """
    return lambda mock: javascript("ai-sdk.mjs", "@ai-sdk/openai", "ai", mock.url)


@pytest.fixture
def responses(provider):
    """
    A function that returns a mock provider of the Responses API.
    """
    return lambda fixtures: provider(fixtures, dialect="openai-responses")


def joined(parts, kind):
    """Return what the parts of a kind add up to."""
    return "".join(part["text"] for part in parts if part["type"] == kind)


def test_a_unary_answer(client, responses):
    """
    Text, reasoning, usage and the id of the response are there.
    """
    found = client(responses({"Hello": ANSWER})).generate(model=MODEL, prompt="Hello")

    assert ("Hi there, Zoë!", "stop") == (found["text"], found["finish"])
    assert "They greet me." in found["reasoning"]
    assert (9, 22) == (found["usage"]["inputTokens"], found["usage"]["outputTokens"])
    assert found["metadata"]["responseId"].startswith("resp_")


def test_a_stream(client, responses):
    """
    The parts of the stream are those of the unary answer.
    """
    parts = client(responses({"Hello": ANSWER})).stream(model=MODEL, prompt="Hello")

    assert ("They greet me.I greet back.", "Hi there, Zoë!") == (
        joined(parts, "reasoning-delta"),
        joined(parts, "text-delta"),
    )
    assert ("finish", "stop") == (parts[-1]["type"], parts[-1]["finishReason"])
    assert (9, 22) == (parts[-1]["totalUsage"]["inputTokens"], parts[-1]["totalUsage"]["outputTokens"])


@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("how", ["generate", "stream"])
def test_a_tool_loop(client, responses, how, store):
    """
    The tool gets parsed arguments; the reasoning before the call comes back, by its id or with its content.
    """
    first = {"thought": "A tool knows.", "calls": [CALL], "timing": {"delta_chars": 4}}
    mock = responses({"Weather?": [first, "It is 12 degrees."]})
    options = {} if store else ENCRYPTED
    found = getattr(client(mock), how)(model=MODEL, prompt="Weather?", tool_output="12 degrees", options=options)
    if how == "generate":
        text, calls = found["text"], found["calls"]
    else:
        text, calls = joined(found, "text-delta"), [part for part in found if part["type"] == "tool-call"]
    sent = [item.get("type", "message") for item in mock.requests[-1].body["input"]]

    assert "It is 12 degrees." == text
    assert [("call_1", "get_weather", {"city": "Zürich"})] == [
        (each["toolCallId"], each["toolName"], each["input"]) for each in calls
    ]
    assert "function_call_output" == sent[-1]
    assert ("item_reference" if store else "reasoning") in sent


def turns(content):
    """Return a conversation whose answer has a reasoning with this encrypted content, as the AI SDK sends it back."""
    options = {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": content}}
    return [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [{"type": "reasoning", "text": "Hm", "providerOptions": options}]},
        {"role": "user", "content": "Again"},
    ]


def test_a_second_turn(client, responses):
    """
    A reasoning comes back with its encrypted content, and is refused when that was changed.
    """
    api = client(responses({"Hello": ANSWER, "Again": "Hi again."}))
    first = api.generate(model=MODEL, prompt="Hello", options=ENCRYPTED)["messages"]
    [content, *_] = [
        part["providerOptions"]["openai"]["reasoningEncryptedContent"]
        for message in first
        for part in message["content"]
        if part["type"] == "reasoning"
    ]
    second = api.generate(model=MODEL, messages=turns(content), options=ENCRYPTED)
    with pytest.raises(OfficialError) as caught:
        api.generate(model=MODEL, messages=turns("eHk="), options=ENCRYPTED)

    assert "Hi again." == second["text"]
    assert 400 == caught.value.status_code
    assert "could not be verified" in caught.value.message


def test_http_errors(client, responses):
    """
    An HTTP error is an exception of a call, with the message of the service, and a part of a stream.
    """
    api = client(responses({"Hello": {"http_error": {"status": 429, "message": "Slow down"}}}))
    with pytest.raises(OfficialError) as caught:
        api.generate(model=MODEL, prompt="Hello")
    parts = api.stream(model=MODEL, prompt="Hello")

    assert ("APICallError", 429, "Slow down") == (
        caught.value.classes[0],
        caught.value.status_code,
        caught.value.message,
    )
    assert "error" in [part["type"] for part in parts]
