"""
The AI SDK's provider of the Messages API against its mock.
"""

import pytest

from tests.official.client import OfficialError

MODEL = "claude-sonnet-4-5"
USAGE = {"input_tokens": 9, "output_tokens": 22}
ANSWER = {"thought": "They greet me.", "text": "Hi there, Zoë!", "usage": USAGE, "timing": {"delta_chars": 5}}
CALL = {"id": "toolu_1", "name": "get_weather", "arguments": {"city": "Zürich"}}


@pytest.fixture
def client(javascript):
    """
    A function that returns the client for a mock provider.
    """
    return lambda mock: javascript("ai-sdk.mjs", "@ai-sdk/anthropic", "ai", mock.url)


@pytest.fixture
def messages(provider):
    """
    A function that returns a mock provider of the Messages API.
    """
    return lambda fixtures: provider(fixtures, dialect="anthropic-messages")


def joined(parts, kind):
    """Return what the parts of a kind add up to."""
    return "".join(part["text"] for part in parts if part["type"] == kind)


def test_a_unary_answer(client, messages):
    """
    Text, reasoning and usage are there.
    """
    found = client(messages({"Hello": ANSWER})).generate(model=MODEL, prompt="Hello")

    assert ("Hi there, Zoë!", "They greet me.", "stop") == (found["text"], found["reasoning"], found["finish"])
    assert (9, 22) == (found["usage"]["inputTokens"], found["usage"]["outputTokens"])


def test_a_stream(client, messages):
    """
    The parts of the stream are those of the unary answer, and the thought is signed.
    """
    parts = client(messages({"Hello": ANSWER})).stream(model=MODEL, prompt="Hello")
    signatures = [
        part["providerMetadata"]["anthropic"]["signature"]
        for part in parts
        if part["type"].startswith("reasoning") and part.get("providerMetadata")
    ]

    assert ("They greet me.", "Hi there, Zoë!") == (joined(parts, "reasoning-delta"), joined(parts, "text-delta"))
    assert ("finish", "stop") == (parts[-1]["type"], parts[-1]["finishReason"])
    assert (9, 22) == (parts[-1]["totalUsage"]["inputTokens"], parts[-1]["totalUsage"]["outputTokens"])
    assert all(signatures)
    assert signatures


@pytest.mark.parametrize("how", ["generate", "stream"])
def test_a_tool_loop(client, messages, how):
    """
    The tool gets parsed arguments; the signed thought before the call comes back with its result.
    """
    thinking = {"thinking": {"type": "enabled", "budgetTokens": 2000}}
    first = {"thought": "A tool knows.", "calls": [CALL], "timing": {"delta_chars": 4}}
    mock = messages({"Weather?": [first, "It is 12 degrees."]})
    found = getattr(client(mock), how)(model=MODEL, prompt="Weather?", tool_output="12 degrees", options=thinking)
    if how == "generate":
        text, calls = found["text"], found["calls"]
    else:
        text, calls = joined(found, "text-delta"), [part for part in found if part["type"] == "tool-call"]
    _, answer, result = mock.requests[-1].body["messages"]

    assert "It is 12 degrees." == text
    assert [("toolu_1", "get_weather", {"city": "Zürich"})] == [
        (each["toolCallId"], each["toolName"], each["input"]) for each in calls
    ]
    assert ["thinking", "tool_use"] == [block["type"] for block in answer["content"]]
    assert "tool_result" == result["content"][0]["type"]


def turns(thought, signature=None):
    """Return a conversation whose answer has a thought, as the AI SDK sends it back."""
    options = {"providerOptions": {"anthropic": {"signature": signature}}}
    return [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [{"type": "reasoning", "text": thought, **options}]},
        {"role": "user", "content": "Again"},
    ]


def test_a_second_turn(client, messages):
    """
    A thought comes back with its signature, and is refused when it was changed.
    """
    api = client(messages({"Hello": ANSWER, "Again": "Hi again."}))
    first = api.generate(model=MODEL, prompt="Hello")["messages"]
    [thought] = [part for message in first for part in message["content"] if part["type"] == "reasoning"]
    signature = thought["providerOptions"]["anthropic"]["signature"]
    second = api.generate(model=MODEL, messages=turns("They greet me.", signature))
    with pytest.raises(OfficialError) as caught:
        api.generate(model=MODEL, messages=turns("They greet you.", signature))

    assert "Hi again." == second["text"]
    assert 400 == caught.value.status_code
    assert "cannot be modified" in caught.value.message


def test_http_errors(client, messages):
    """
    An HTTP error is an exception of a call, with the message of the service, and a part of a stream.
    """
    api = client(messages({"Hello": {"http_error": {"status": 529, "message": "Overloaded"}}}))
    with pytest.raises(OfficialError) as caught:
        api.generate(model=MODEL, prompt="Hello")
    parts = api.stream(model=MODEL, prompt="Hello")

    assert ("APICallError", 529, "Overloaded") == (
        caught.value.classes[0],
        caught.value.status_code,
        caught.value.message,
    )
    assert "error" in [part["type"] for part in parts]
