"""
TanStack AI's adapter of Gemini Interactions, which a mock with the events of 1.x leaves with an empty message.
"""

import json
import re
import urllib.request

import pytest

MODEL = "gemini-3.6-flash"
EVENTS_OF_2 = {
    "interaction.created",
    "interaction.status_update",
    "step.start",
    "step.delta",
    "step.stop",
    "interaction.completed",
    "error",
}


@pytest.fixture
def client(javascript):
    """
    A function that returns the client for a URL.
    """
    return lambda mock: javascript("tanstack.mjs", mock.url)


def messages_of(text):
    """Return the messages of a turn with *text*."""
    return [{"role": "user", "content": text}]


def joined(chunks, kind):
    """Return what the chunks of a kind add up to."""
    return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == kind)


def interaction_of(chunks):
    """Return the id that the application gets from the adapter."""
    [found] = [chunk["value"] for chunk in chunks if chunk.get("name") == "gemini.interactionId"]
    return found["interactionId"]


def test_a_stateful_conversation(client, provider):
    """
    Two turns, the second with the interaction of the first, and the text of both arrives.
    """
    mock = provider({"My name is Zoë.": "Hello Zoë!", "What is my name?": "Your name is Zoë."})
    api = client(mock)
    first = api.turn(model=MODEL, messages=messages_of("My name is Zoë."))
    options = {"previous_interaction_id": interaction_of(first)}
    second = api.turn(model=MODEL, messages=messages_of("What is my name?"), options=options)

    assert ("Hello Zoë!", "Your name is Zoë.") == (
        joined(first, "TEXT_MESSAGE_CONTENT"),
        joined(second, "TEXT_MESSAGE_CONTENT"),
    )
    assert ["RUN_FINISHED", "RUN_FINISHED"] == [first[-1]["type"], second[-1]["type"]]
    assert interaction_of(first) == mock.requests[1].body["previous_interaction_id"] != interaction_of(second)


def test_the_events_are_those_of_2(client, provider):
    """
    What the adapter was sent has no event that only 1.x knows.
    """
    mock = provider({"Hello": {"thought": "They greet me.", "text": "Hi."}})
    interaction = interaction_of(client(mock).turn(model=MODEL, messages=messages_of("Hello")))
    asked = urllib.request.Request(f"{mock.url}/v1beta/interactions/{interaction}?stream=true")
    asked.add_header("x-goog-api-key", "key")
    with urllib.request.urlopen(asked) as answer:
        names = set(re.findall(r"^event: (.+)$", answer.read().decode(), re.MULTILINE)) - {"done"}

    assert {"interaction.created", "step.start", "step.delta", "step.stop", "interaction.completed"} <= names
    assert names <= EVENTS_OF_2


def test_thoughts_and_usage(client, provider):
    """
    Summaries are reasoning, and the counts of the provider are those of the run.
    """
    usage = {"total_tokens": 31, "total_input_tokens": 9, "total_output_tokens": 22}
    mock = provider({"Hello": {"thought": "They greet me.", "text": "Hi.", "usage": usage}})
    chunks = client(mock).turn(model=MODEL, messages=messages_of("Hello"))

    assert "They greet me." == joined(chunks, "REASONING_MESSAGE_CONTENT")
    assert "Hi." == joined(chunks, "TEXT_MESSAGE_CONTENT")
    assert {"promptTokens": 9, "completionTokens": 22, "totalTokens": 31} == chunks[-1]["usage"]


@pytest.mark.parametrize("arguments", ["streamed", "whole"])
def test_a_tool_loop(client, provider, arguments):
    """
    The tool runs with parsed arguments, and its result is sent to the interaction that called it.
    """
    call = {"id": "c1", "name": "get_weather", "arguments": {"city": "Zürich"}}
    mock = provider(
        {"Weather?": [{"calls": [call], "timing": {"delta_chars": 4}}, "It is 12 degrees."]}, arguments=arguments
    )
    chunks = client(mock).turn(model=MODEL, messages=messages_of("Weather?"), tool_output="12 degrees")
    [result] = [json.loads(chunk["content"]) for chunk in chunks if chunk["type"] == "TOOL_CALL_RESULT"]
    [answered] = mock.requests[1].body["input"]

    assert {"input": {"city": "Zürich"}, "output": "12 degrees"} == result
    assert ("function_result", "c1", "get_weather") == (answered["type"], answered["call_id"], answered["name"])
    assert "It is 12 degrees." == joined(chunks, "TEXT_MESSAGE_CONTENT")


def test_http_errors(client, provider):
    """
    An HTTP error ends the run with the message of the provider.
    """
    error = {"status": 400, "code": "invalid_request", "message": "no such thing"}
    mock = provider({"Hello": {"http_error": error}})
    last = client(mock).turn(model=MODEL, messages=messages_of("Hello"))[-1]

    assert "RUN_ERROR" == last["type"]
    assert "no such thing" in last["message"]


@pytest.mark.parametrize("fault", ["cut@4", "no-completed"])
def test_a_stream_that_breaks_off(client, provider, fault):
    """
    A stream without its end is an error of the run, behind the text that came.
    """
    mock = provider({"Hello": {"text": "Hi there.", "timing": {"delta_chars": 3}, "faults": [fault]}})
    chunks = client(mock).turn(model=MODEL, messages=messages_of("Hello"))

    assert "RUN_ERROR" == chunks[-1]["type"]
    assert joined(chunks, "TEXT_MESSAGE_CONTENT") in ("Hi ", "Hi there.")
