"""
google-genai 1.75, the last of 1.x: a mock provider answers it with `outputs` and `content.*` by itself.
"""

import pytest

from tests.official.client import OfficialError

MODEL = "gemini-3.6-flash"
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
CALL = {"calls": [{"id": "c1", "name": "get_weather", "arguments": {"city": "Zürich", "days": 2}}]}
HI = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 5}}
USAGE = {"total_tokens": 31, "total_input_tokens": 9, "total_output_tokens": 12, "total_thought_tokens": 10}


@pytest.fixture(params=["sync", "async"])
def client(google_genai, request):
    """
    A function that returns a client of each mode for a URL.
    """
    return lambda mock: google_genai("1.75", request.param, mock.url)


def kinds(events):
    """Return what the events are, by their classes and their words."""
    return [(each["class"], each["event_type"]) for each in events]


def text_of(events):
    """Return the text that the deltas add up to."""
    deltas = [each["delta"] for each in events if each["event_type"] == "content.delta"]
    return "".join(delta["text"] for delta in deltas if delta["class"] == "DeltaText")


def test_text_as_a_resource(client, provider):
    """
    A unary answer is an interaction with outputs and usage.
    """
    mock = provider({"Hello": {**HI, "usage": USAGE}})
    found = client(mock).create(model=MODEL, input="Hello")

    assert ("Interaction", "completed", MODEL) == (found["class"], found["status"], found["model"])
    assert [{"class": "TextContent", "type": "text", "text": "Hi there, Zoë!"}] == found["outputs"]
    assert found["id"]
    assert USAGE == {name: found["usage"][name] for name in USAGE}


def test_text_as_a_stream(client, provider):
    """
    A stream brings the events of 1.x and none of 2.x, and the id at both ends.
    """
    mock = provider({"Hello": HI})
    events = client(mock).stream(model=MODEL, input="Hello")

    assert [
        ("InteractionStartEvent", "interaction.start"),
        ("InteractionStatusUpdate", "interaction.status_update"),
        ("ContentStart", "content.start"),
        ("ContentDelta", "content.delta"),
        ("ContentDelta", "content.delta"),
        ("ContentDelta", "content.delta"),
        ("ContentStop", "content.stop"),
        ("InteractionCompleteEvent", "interaction.complete"),
    ] == kinds(events)
    assert "Hi there, Zoë!" == text_of(events)
    assert "TextContent" == events[2]["content"]["class"]
    assert events[0]["interaction"]["id"] == events[-1]["interaction"]["id"] != ""
    assert "completed" == events[-1]["interaction"]["status"]


def test_usage(client, provider):
    """
    Usage of a fixture is the usage at the end of the stream.
    """
    mock = provider({"Hello": {**HI, "usage": USAGE}})
    usage = client(mock).stream(model=MODEL, input="Hello")[-1]["interaction"]["usage"]

    assert {"class": "Usage", **USAGE} == {name: usage[name] for name in ("class", *USAGE)}


def test_thoughts(client, provider):
    """
    A thought is content of its own, in the resource and in the stream.
    """
    mock = provider({"Hello": {"thought": "They greet me.", "text": "Hi."}})
    api = client(mock)
    unary = api.create(model=MODEL, input="Hello")
    events = api.stream(model=MODEL, input="Hello")
    deltas = {each["delta"]["class"]: each["delta"] for each in events if each["event_type"] == "content.delta"}

    assert ["ThoughtContent", "TextContent"] == [each["class"] for each in unary["outputs"]]
    assert "They greet me." == unary["outputs"][0]["summary"][0]["text"]
    assert unary["outputs"][0]["signature"]
    assert "They greet me." == deltas["DeltaThoughtSummary"]["content"]["text"]
    assert deltas["DeltaThoughtSignature"]["signature"]
    assert "Hi." == text_of(events)


def test_a_call(client, provider):
    """
    A function call comes whole in one delta, its arguments parsed.
    """
    mock = provider({"Weather?": CALL})
    api = client(mock)
    unary = api.create(model=MODEL, input="Weather?", tools=[WEATHER])
    events = api.stream(model=MODEL, input="Weather?", tools=[WEATHER])
    [delta] = [each["delta"] for each in events if each["event_type"] == "content.delta"]
    [output] = unary["outputs"]

    assert ("DeltaFunctionCall", "FunctionCallContent") == (delta["class"], output["class"])
    for found in (delta, output):
        assert ("c1", "get_weather", {"city": "Zürich", "days": 2}) == (
            found["id"],
            found["name"],
            found["arguments"],
        )
    assert ("requires_action", "requires_action") == (unary["status"], events[-1]["interaction"]["status"])


def test_a_result_and_its_answer(client, provider):
    """
    The result of a call is sent with the id of the interaction that made it; the model answers.
    """
    mock = provider({"Weather?": [CALL, {"text": "It is 12 degrees."}]})
    api = client(mock)
    first = api.create(model=MODEL, input="Weather?", tools=[WEATHER])
    output = {"type": "function_result", "call_id": "c1", "name": "get_weather", "result": {"degrees": 12}}
    second = api.create(model=MODEL, input=[output], previous_interaction_id=first["id"], tools=[WEATHER])

    assert ("completed", "It is 12 degrees.") == (second["status"], second["outputs"][0]["text"])


def test_turns(client, provider):
    """
    Turns with a role, which only 1.x has, are understood.
    """
    mock = provider({"Again": "Hi again."})
    turns = [
        {"role": "user", "content": "Hello"},
        {"role": "model", "content": [{"type": "text", "text": "Hi."}]},
        {"role": "user", "content": [{"type": "text", "text": "Again"}]},
    ]
    found = client(mock).create(model=MODEL, input=turns)

    assert "Hi again." == found["outputs"][0]["text"]


@pytest.mark.parametrize(
    ("status", "name"),
    [(400, "BadRequestError"), (404, "NotFoundError"), (429, "RateLimitError"), (500, "InternalServerError")],
)
def test_http_errors(client, provider, status, name):
    """
    An HTTP error is the exception that the client has for it.
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
    assert "Done." == polled[-1]["outputs"][0]["text"]


def test_resuming_by_cursor(client, provider):
    """
    A stream that broke off continues after the last event: nothing twice, nothing missing.
    """
    mock = provider({"Hello": {**HI, "cut_after": 5}})
    api = client(mock)
    before = api.stream(model=MODEL, input="Hello", background=True)
    interaction = before[0]["interaction"]["id"]
    after = api.replay(interaction=interaction, last_event_id=before[-1]["event_id"])
    whole = api.replay(interaction=interaction)

    assert (5, "content.delta") == (len(before), before[-1]["event_type"])
    assert whole == [*before, *after]
    assert "Hi there, Zoë!" == text_of([*before, *after])


def test_cancelling_and_deleting(client, provider):
    """
    A run that is cancelled has that status, and a record that is deleted is gone.
    """
    mock = provider({"Dig": {"text": "Never.", "timing": {"between_s": 3600}}})
    api = client(mock)
    created = api.create(model=MODEL, input="Dig", background=True)
    cancelled = api.cancel(interaction=created["id"])
    api.delete(interaction=created["id"])
    with pytest.raises(OfficialError) as caught:
        api.get(interaction=created["id"])

    assert (created["id"], "cancelled") == (cancelled["id"], cancelled["status"])
    assert "NotFoundError" == caught.value.classes[0]


def test_what_is_not_stored(client, provider):
    """
    Without `store` there is an answer but no id.
    """
    mock = provider({"Hello": HI})
    found = client(mock).create(model=MODEL, input="Hello", store=False)

    assert ("Hi there, Zoë!", "") == (found["outputs"][0]["text"], found.get("id", ""))
