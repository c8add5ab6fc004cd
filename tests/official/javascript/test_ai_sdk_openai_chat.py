"""
The AI SDK's provider of Chat Completions against its mock.
"""

from functools import partial

import pytest

from tests.official.client import OfficialError

USAGE = {"prompt_tokens": 9, "completion_tokens": 22, "total_tokens": 31}
ANSWER = {"text": "Hi there, Zoë!", "usage": USAGE, "timing": {"delta_chars": 5}}
CALL = {"id": "call_1", "name": "get_weather", "arguments": {"city": "Zürich"}}


@pytest.fixture
def call(javascript, provider):
    """
    A function that makes a call with a mock provider of these fixtures, and the provider.
    """

    def client_of(fixtures):
        mock = provider(fixtures, dialect="openai-chat")
        api = javascript("ai-sdk.mjs", "@ai-sdk/openai", "ai", mock.url)
        settings = {"model": "gpt-5.6", "api": "chat"}
        return partial(api.generate, **settings), partial(api.stream, **settings), mock

    return client_of


def text_of(parts):
    """Return what the texts of a stream add up to."""
    return "".join(part["text"] for part in parts if part["type"] == "text-delta")


def test_a_unary_answer(call):
    """
    Text, usage and the reason to finish are there.
    """
    generate, _, _ = call({"Hello": ANSWER})
    found = generate(prompt="Hello")

    assert ("Hi there, Zoë!", "stop") == (found["text"], found["finish"])
    assert (9, 22) == (found["usage"]["inputTokens"], found["usage"]["outputTokens"])


def test_a_stream(call):
    """
    The parts of the stream are those of the unary answer; it asks for the usage.
    """
    _, stream, mock = call({"Hello": ANSWER})
    parts = stream(prompt="Hello")

    assert ("Hi there, Zoë!", "finish", "stop") == (text_of(parts), parts[-1]["type"], parts[-1]["finishReason"])
    assert (9, 22) == (parts[-1]["totalUsage"]["inputTokens"], parts[-1]["totalUsage"]["outputTokens"])
    assert {"include_usage": True} == mock.requests[-1].body["stream_options"]


@pytest.mark.parametrize("how", ["generate", "stream"])
def test_a_tool_loop(call, how):
    """
    The tool gets parsed arguments, and its result is the message behind the call.
    """
    generate, stream, mock = call({"Weather?": [{"calls": [CALL], "timing": {"delta_chars": 4}}, "It is 12 degrees."]})
    found = {"generate": generate, "stream": stream}[how](prompt="Weather?", tool_output="12 degrees")
    if how == "generate":
        text, calls = found["text"], found["calls"]
    else:
        text, calls = text_of(found), [part for part in found if part["type"] == "tool-call"]

    assert "It is 12 degrees." == text
    assert [("call_1", "get_weather", {"city": "Zürich"})] == [
        (each["toolCallId"], each["toolName"], each["input"]) for each in calls
    ]
    assert ["user", "assistant", "tool"] == [each["role"] for each in mock.requests[-1].body["messages"]]


def test_http_errors(call):
    """
    An HTTP error is an exception of a call, with the message of the service, and a part of a stream.
    """
    generate, stream, _ = call({"Hello": {"http_error": {"status": 429, "message": "Slow down"}}})
    with pytest.raises(OfficialError) as caught:
        generate(prompt="Hello")
    parts = stream(prompt="Hello")

    assert ("APICallError", 429, "Slow down") == (
        caught.value.classes[0],
        caught.value.status_code,
        caught.value.message,
    )
    assert "error" in [part["type"] for part in parts]
