"""
@google/genai of generations 2.x and 3.x for JavaScript, and of 1.x, from one and the same mock provider.
"""

import json

import pytest

from tests.official.client import OfficialError

MODEL = "gemini-3.6-flash"
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
CALL = {"calls": [{"id": "c1", "name": "get_weather", "arguments": {"city": "Zürich"}}], "timing": {"delta_chars": 4}}
HI = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 5}}
USAGE = {"total_tokens": 31, "total_input_tokens": 9, "total_output_tokens": 12, "total_thought_tokens": 10}


@pytest.fixture(params=["genai-2", "@google/genai"], ids=["2", "3"])
def client(javascript, request):
    """
    A function that returns the client of each version for a URL.
    """
    return lambda mock: javascript(mock.url, "genai.mjs", request.param)


@pytest.fixture
def old_client(javascript):
    """
    A function that returns the last client of 1.x for a URL.
    """
    return lambda mock: javascript(mock.url, "genai.mjs", "genai-1")


def text_of(events):
    """Return the text that the deltas add up to, in either generation."""
    deltas = [each["delta"] for each in events if each["event_type"] in ("step.delta", "content.delta")]
    return "".join(delta["text"] for delta in deltas if delta["type"] == "text")


def user(text):
    """Return a prompt as a step."""
    return {"type": "user_input", "content": [{"type": "text", "text": text}]}


def test_text(client, provider):
    """
    A unary answer has the client's own `output_text`; a stream has all of it in deltas, and ends with the id.
    """
    mock = provider({"Hello": HI})
    api = client(mock)
    unary = api.create(model=MODEL, input="Hello")
    events = api.stream(model=MODEL, input="Hello")

    assert ("completed", "Hi there, Zoë!") == (unary["status"], unary["output_text"])
    assert [
        "interaction.created",
        "interaction.status_update",
        "step.start",
        "step.delta",
        "step.delta",
        "step.delta",
        "step.stop",
        "interaction.completed",
    ] == [each["event_type"] for each in events]
    assert "Hi there, Zoë!" == text_of(events)
    assert events[0]["interaction"]["id"] == events[-1]["interaction"]["id"] != ""


def test_thoughts_and_usage(client, provider):
    """
    A thought has its summary and a signature, and usage is at the end.
    """
    mock = provider({"Hello": {"thought": "They greet me.", "text": "Hi.", "usage": USAGE}})
    events = client(mock).stream(model=MODEL, input="Hello")
    deltas = {each["delta"]["type"]: each["delta"] for each in events if each["event_type"] == "step.delta"}
    usage = events[-1]["interaction"]["usage"]

    assert "They greet me." == deltas["thought_summary"]["content"]["text"]
    assert deltas["thought_signature"]["signature"]
    assert USAGE == {name: usage[name] for name in USAGE}


def test_a_call_its_result_and_the_answer(client, provider):
    """
    A call comes in pieces of JSON, its result goes back by the id of the interaction, and the model answers.
    """
    mock = provider({"Weather?": [CALL, "It is 12 degrees."]})
    api = client(mock)
    events = api.stream(model=MODEL, input="Weather?", tools=[WEATHER])
    [start] = [each["step"] for each in events if each["event_type"] == "step.start"]
    pieces = [each["delta"]["arguments"] for each in events if each["event_type"] == "step.delta"]
    ended = events[-1]["interaction"]
    result = {"type": "function_result", "call_id": "c1", "name": "get_weather", "result": {"degrees": 12}}
    answer = api.create(model=MODEL, input=[result], previous_interaction_id=ended["id"], tools=[WEATHER])

    assert ("c1", "get_weather", {}) == (start["id"], start["name"], start["arguments"])
    assert len(pieces) > 1
    assert {"city": "Zürich"} == json.loads("".join(pieces))
    assert "requires_action" == ended["status"]
    assert "It is 12 degrees." == answer["output_text"]


@pytest.mark.parametrize(
    ("status", "name"),
    [(400, "BadRequestError"), (404, "NotFoundError"), (429, "RateLimitError"), (500, "InternalServerError")],
)
def test_http_errors(client, provider, status, name):
    """
    An HTTP error is the exception that the client has for it, and the client tries again where it should.
    """
    error = {"status": status, "code": "oh_no", "message": "not now", "headers": {"retry-after-ms": "1"}}
    mock = provider({"Hello": {"http_error": error}})
    with pytest.raises(OfficialError) as caught:
        client(mock).create(model=MODEL, input="Hello")

    assert (name, status) == (caught.value.classes[0], caught.value.status_code)
    assert {"code": "oh_no", "message": "not now"} == caught.value.body["error"]
    assert (len(mock.requests) > 1) is (status in (429, 500))


def test_background_and_polling(client, provider):
    """
    A background run is in progress until it has been asked about often enough, then it has its answer.
    """
    mock = provider({"Think": {"text": "Done.", "polls_in_progress": 2}})
    api = client(mock)
    created = api.create(model=MODEL, input="Think", background=True)
    polled = [api.get(interaction=created["id"]) for _ in range(3)]

    assert "in_progress" == created["status"]
    assert ["in_progress", "in_progress", "completed"] == [each["status"] for each in polled]
    assert "Done." == polled[-1]["output_text"]


def test_resuming_by_cursor(client, provider):
    """
    A stream that broke off goes on behind the last event that came: nothing twice, nothing missing.
    """
    mock = provider({"Hello": {**HI, "cut_after": 5}})
    api = client(mock)
    before = api.stream(model=MODEL, input="Hello", background=True)
    interaction = before[0]["interaction"]["id"]
    after = api.replay(interaction=interaction, last_event_id=before[-1]["event_id"])

    assert (5, 3) == (len(before), len(after))
    assert api.replay(interaction=interaction) == [*before, *after]
    assert "Hi there, Zoë!" == text_of([*before, *after])


def test_cancelling_and_deleting(client, provider):
    """
    A run that is cancelled says so, and a record that is deleted is gone.
    """
    mock = provider({"Dig": {"text": "Never.", "timing": {"between_s": 3600}}})
    api = client(mock)
    created = api.create(model=MODEL, input="Dig", background=True)
    cancelled = api.cancel(interaction=created["id"])
    api.delete(interaction=created["id"])
    with pytest.raises(OfficialError) as caught:
        api.get(interaction=created["id"])

    assert (created["id"], "cancelled") == (cancelled["id"], cancelled["status"])
    assert ("NotFoundError", 404) == (caught.value.classes[0], caught.value.status_code)


def test_long_decode(client, provider):
    """
    An answer of two requests is one stream, and one resource, of the client.
    """
    halves = [{"text": "First half, ", "continuation_token": "dG9rZW4x"}, "second half."]
    mock = provider({"Write": [*halves, *halves]})
    api = client(mock)
    events = api.stream(model="gemini-4-argon", input="Write")
    unary = api.create(model="gemini-4-argon", input="Write")
    hop = mock.requests[1].body

    assert ("First half, second half.", "First half, second half.") == (text_of(events), unary["output_text"])
    assert ("dG9rZW4x", events[0]["interaction"]["id"]) == (hop["continuation_token"], hop["previous_interaction_id"])
    assert "input" not in hop
    assert 4 == len(mock.requests)


def test_saying_everything_again(client, provider):
    """
    A conversation that is not stored sends back the client's own steps, and the signatures in them are right.
    """
    mock = provider({"One": {"thought": "The first.", "text": "1"}, "Two": {"thought": "The second.", "text": "2"}})
    answers = client(mock).say_again(prompts=[user("One"), user("Two")], model=MODEL)
    last = mock.requests[-1].body["input"]

    assert ["1", "2"] == [each["output_text"] for each in answers]
    assert ["user_input", "thought", "model_output", "user_input"] == [step["type"] for step in last]
    assert answers[0]["steps"][0]["signature"] == last[1]["signature"]


def test_text_of_1(old_client, provider):
    """
    A client of 1.x gets `outputs` and the events of 1.x, without anybody saying so.
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
