"""
@google/genai 1.x for JavaScript, from the same mock provider as its successors.
"""

import pytest

MODEL = "gemini-3.6-flash"
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
CALL = {"calls": [{"id": "c1", "name": "get_weather", "arguments": {"city": "Zürich"}}], "timing": {"delta_chars": 4}}
HI = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 5}}


@pytest.fixture
def old_client(javascript):
    """
    A function that returns the last client of 1.x for a URL.
    """
    return lambda mock: javascript("genai.mjs", "genai-1", mock.url)


def text_of(events):
    """Return the text of all deltas."""
    deltas = [each["delta"] for each in events if each["event_type"] == "content.delta"]
    return "".join(delta["text"] for delta in deltas if delta["type"] == "text")


def test_text_of_1(old_client, provider):
    """
    A client of 1.x gets `outputs` and the events of 1.x, by its own version.
    """
    mock = provider({"Hello": {"thought": "They greet me.", **HI}})
    api = old_client(mock)
    unary = api.create(model=MODEL, input="Hello")
    events = api.stream(model=MODEL, input="Hello")

    assert ["thought", "text"] == [each["type"] for each in unary["outputs"]]
    assert "Hi there, Zoë!" == unary["outputs"][1]["text"] == text_of(events)
    assert {
        "interaction.start",
        "interaction.status_update",
        "content.start",
        "content.delta",
        "content.stop",
        "interaction.complete",
    } == {each["event_type"] for each in events}


def test_a_call_of_1(old_client, provider):
    """
    A client of 1.x gets a call in one delta, with parsed arguments.
    """
    mock = provider({"Weather?": CALL})
    events = old_client(mock).stream(model=MODEL, input="Weather?", tools=[WEATHER])
    [delta] = [each["delta"] for each in events if each["event_type"] == "content.delta"]

    assert ("function_call", "c1", "get_weather", {"city": "Zürich"}) == (
        delta["type"],
        delta["id"],
        delta["name"],
        delta["arguments"],
    )
    assert "requires_action" == events[-1]["interaction"]["status"]
