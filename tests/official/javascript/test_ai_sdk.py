"""
The AI SDK's provider of Gemini Interactions, models and agents, in the two newest versions.
"""

import json

import pytest

from tests.official.client import OfficialError

MODEL = "gemini-3.6-flash"
AGENT = {"agent": "deep-research-preview-04-2026"}
USAGE = {
    "total_tokens": 31,
    "total_input_tokens": 9,
    "total_cached_tokens": 4,
    "total_output_tokens": 12,
    "total_thought_tokens": 10,
}
ANSWER = {"thought": "They greet me.", "text": "Hi there, Zoë!", "usage": USAGE, "timing": {"delta_chars": 5}}


@pytest.fixture(params=[("ai-sdk-google-3", "ai-6"), ("@ai-sdk/google", "ai")], ids=["3", "4"])
def client(javascript, request):
    """
    A function that returns the client of each version for a URL.
    """
    return lambda mock: javascript("ai-sdk.mjs", *request.param, mock.url)


def joined(parts, kind):
    """Return what the parts of a kind add up to."""
    return "".join(part["text"] for part in parts if part["type"] == kind)


def test_a_unary_answer(client, provider):
    """
    Text, reasoning, usage and the id of the interaction are there.
    """
    found = client(provider({"Hello": ANSWER})).generate(model=MODEL, prompt="Hello")

    assert ("Hi there, Zoë!", "They greet me.", "stop") == (found["text"], found["reasoning"], found["finish"])
    assert (9, 22) == (found["usage"]["inputTokens"], found["usage"]["outputTokens"])
    assert found["metadata"]["interactionId"]


def test_a_stream(client, provider):
    """
    The parts of the stream are those of the unary answer, and the thought is signed.
    """
    parts = client(provider({"Hello": ANSWER})).stream(model=MODEL, prompt="Hello")
    [thought] = [part for part in parts if part["type"] == "reasoning-end"]

    assert ("They greet me.", "Hi there, Zoë!") == (joined(parts, "reasoning-delta"), joined(parts, "text-delta"))
    assert ("finish", "stop") == (parts[-1]["type"], parts[-1]["finishReason"])
    assert (9, 22) == (parts[-1]["totalUsage"]["inputTokens"], parts[-1]["totalUsage"]["outputTokens"])
    assert thought["providerMetadata"]["google"]["signature"]


@pytest.mark.parametrize("how", ["generate", "stream"])
def test_a_tool_loop(client, provider, how):
    """
    The tool gets parsed arguments, and its result is accepted where the AI SDK puts it: inside of a user's step.
    """
    call = {"id": "c1", "name": "get_weather", "arguments": {"city": "Zürich"}}
    mock = provider({"Weather?": [{"calls": [call], "timing": {"delta_chars": 4}}, "It is 12 degrees."]})
    found = getattr(client(mock), how)(model=MODEL, prompt="Weather?", tool_output="12 degrees")
    if how == "generate":
        text, calls = found["text"], found["calls"]
    else:
        text, calls = joined(found, "text-delta"), [part for part in found if part["type"] == "tool-call"]
    last = mock.requests[-1].body["input"][-1]

    assert "It is 12 degrees." == text
    assert [("c1", "get_weather", {"city": "Zürich"})] == [
        (each["toolCallId"], each["toolName"], each["input"]) for each in calls
    ]
    assert ("user_input", "function_result") == (last["type"], last["content"][0]["type"])


def test_a_stateful_conversation(client, provider):
    """
    The second turn names the interaction of the first and sends only what is new.
    """
    mock = provider({"Hello": ANSWER, "Again": "Hi again."})
    api = client(mock)
    first = api.generate(model=MODEL, prompt="Hello")
    options = {"previousInteractionId": first["metadata"]["interactionId"]}
    second = api.stream(model=MODEL, prompt="Again", options=options)

    assert "Hi again." == joined(second, "text-delta")
    assert first["metadata"]["interactionId"] == mock.requests[1].body["previous_interaction_id"]


@pytest.mark.parametrize("how", ["generate", "stream"])
def test_nothing_matches(client, provider, how):
    """
    When no fixture matches, the user of the AI SDK reads what was asked and what was probably meant.
    """
    api = client(provider({"Hello": "Hi"}))
    if how == "generate":
        with pytest.raises(OfficialError) as caught:
            api.generate(model=MODEL, prompt="Helo")
        message = caught.value.message
    else:
        message = json.dumps([part for part in api.stream(model=MODEL, prompt="Helo") if part["type"] == "error"])

    assert "no fixture matches: newest user text 'Helo'" in message
    assert "did you mean 'Hello'?" in message


def test_http_errors(client, provider):
    """
    An HTTP error is an exception of a call and a part of a stream.
    """
    mock = provider({"Hello": {"http_error": {"status": 429, "code": "too_many_requests", "message": "later"}}})
    api = client(mock)
    with pytest.raises(OfficialError) as caught:
        api.generate(model=MODEL, prompt="Hello")
    parts = api.stream(model=MODEL, prompt="Hello")

    assert ("APICallError", 429) == (caught.value.classes[0], caught.value.status_code)
    assert "later" in caught.value.body
    assert "error" in [part["type"] for part in parts]


def test_an_agent_that_is_polled(client, provider):
    """
    A unary answer of an agent runs in the background until its resource has an answer.
    """
    mock = provider({"Dig": {"text": "Found.", "polls_in_progress": 1}})
    options = {"background": True, "pollingTimeoutMs": 30_000}
    found = client(mock).generate(model=AGENT, prompt="Dig", options=options)

    assert "Found." == found["text"]
    assert ["POST", "GET", "GET"] == [each.method for each in mock.requests]


def test_an_agent_whose_stream_is_cut(client, provider):
    """
    The stream of an agent that breaks off continues by its cursor: nothing twice, nothing missing.
    """
    answer = {"thought": "Where?", "text": "Found it.", "timing": {"delta_chars": 4}, "faults": ["cut@9"]}
    mock = provider({"Dig": answer})
    parts = client(mock).stream(model=AGENT, prompt="Dig", options={"background": True})
    queries = [dict(each.query) for each in mock.requests[1:]]

    assert ("Where?", "Found it.") == (joined(parts, "reasoning-delta"), joined(parts, "text-delta"))
    assert [{"stream"}, {"stream", "last_event_id"}] == [set(each) for each in queries]
    assert ("finish", "stop") == (parts[-1]["type"], parts[-1]["finishReason"])


def test_an_agent_that_is_left(client, provider):
    """
    Who stops listening to an agent cancels it.
    """
    answer = {"text": "Found it. And more.", "timing": {"delta_chars": 4, "waits_s": [0, 0, 0, 0, 3600]}}
    mock = provider({"Dig": answer})
    types = client(mock).leave(model=AGENT, prompt="Dig", options={"background": True})

    assert "abort" == types[-1]
    assert [("POST", "cancel")] == [
        (each.method, each.path.rpartition("/")[2]) for each in mock.requests if "cancel" in each.path
    ]
