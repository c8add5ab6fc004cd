"""
The AI SDK's provider of the Responses API against its mock: what is its own.
"""

import pytest

from tests.official.client import OfficialError

MODEL = "gpt-5.6"
ANSWER = {"thought": ["They greet me.", "I greet back."], "text": "Hi there, Zoë!"}
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


def test_summaries(client, responses):
    """
    Each summary of a reasoning comes, and the id of the response.
    """
    api = client(responses({"Hello": ANSWER}))
    found = api.generate(model=MODEL, prompt="Hello")
    deltas = [part["text"] for part in api.stream(model=MODEL, prompt="Hello") if part["type"] == "reasoning-delta"]

    assert "They greet me." in found["reasoning"]
    assert "They greet me.I greet back." == "".join(deltas)
    assert found["metadata"]["responseId"].startswith("resp_")


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
