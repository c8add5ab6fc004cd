"""
The official clients of generations 2.x and 3.x, for Python and for JavaScript: one table of cases, one driver for each
version and mode.
"""

import json

import pytest

from tests.official.client import JAVASCRIPT, PYTHON, OfficialError

MODEL = "gemini-3.6-flash"
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a place.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
HI = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 5}}
USAGE = {
    "total_tokens": 31,
    "total_input_tokens": 9,
    "total_cached_tokens": 4,
    "total_output_tokens": 12,
    "total_thought_tokens": 10,
    "total_tool_use_tokens": 0,
    "input_tokens_by_modality": [{"modality": "text", "tokens": 9}],
}


@pytest.fixture(params=[*PYTHON, *JAVASCRIPT], ids="-".join)
def client(request):
    """
    A function that returns the client of each driver for a mock provider.
    """
    driver, *version = request.param
    return lambda mock: request.getfixturevalue(driver)(*version, mock.url)


def without_class(value):
    """Return the fields of an object; Python clients show its class, too."""
    return {name: each for name, each in value.items() if name != "class"}


def text_of(events):
    """Return the text of all deltas."""
    deltas = [each["delta"] for each in events if each["event_type"] == "step.delta"]
    return "".join(delta["text"] for delta in deltas if delta["type"] == "text")


def user(text):
    """Return a prompt as a step."""
    return {"type": "user_input", "content": [{"type": "text", "text": text}]}


def test_text_as_a_resource(client, provider):
    """
    A unary answer is an interaction with its steps, its text and its usage.
    """
    mock = provider({"Hello": {**HI, "usage": USAGE}})
    found = client(mock).create(model=MODEL, input="Hello")
    [step] = found["steps"]

    assert ("completed", MODEL, "Hi there, Zoë!") == (found["status"], found["model"], found["output_text"])
    assert "model_output" == step["type"]
    assert [{"type": "text", "text": "Hi there, Zoë!"}] == [without_class(each) for each in step["content"]]
    assert found["id"]
    assert found["created"] <= found["updated"]


def test_text_as_a_stream(client, provider):
    """
    A stream has the seven types of events of 2.x for text, and the id at both ends.
    """
    mock = provider({"Hello": HI})
    events = client(mock).stream(model=MODEL, input="Hello")

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
    assert ["Hi th", "ere, ", "Zoë!"] == [each["delta"]["text"] for each in events[3:6]]
    assert "model_output" == events[2]["step"]["type"]
    assert {0} == {each["index"] for each in events[2:7]}
    assert events[0]["interaction"]["id"] == events[-1]["interaction"]["id"] != ""
    assert ("in_progress", "completed") == (events[0]["interaction"]["status"], events[-1]["interaction"]["status"])


def test_usage(client, provider):
    """
    Usage of a fixture is the usage of the resource and of the end of the stream.
    """
    mock = provider({"Hello": {**HI, "usage": USAGE}})
    api = client(mock)
    streamed = api.stream(model=MODEL, input="Hello")[-1]["interaction"]
    got = api.get(interaction=streamed["id"])

    for usage in (streamed["usage"], got["usage"]):
        counts = {name: usage[name] for name in USAGE if name != "input_tokens_by_modality"}
        assert {name: USAGE[name] for name in counts} == counts
        assert [("text", 9)] == [(each["modality"], each["tokens"]) for each in usage["input_tokens_by_modality"]]


def test_thoughts_as_a_resource(client, provider):
    """
    A thought is a step of its own, with its summary and a signature.
    """
    mock = provider({"Hello": {"thought": "They greet me.", "text": "Hi."}})
    found = client(mock).create(model=MODEL, input="Hello")
    thought, output = found["steps"]

    assert ("thought", "model_output") == (thought["type"], output["type"])
    assert [{"type": "text", "text": "They greet me."}] == [without_class(each) for each in thought["summary"]]
    assert thought["signature"]
    assert "Hi." == found["output_text"]


def test_thoughts_as_a_stream(client, provider):
    """
    The summary comes in deltas, the signature in one, and it is the one that the stored interaction has.
    """
    mock = provider({"Hello": {"thought": "They greet me.", "text": "Hi.", "timing": {"delta_chars": 7}}})
    api = client(mock)
    events = api.stream(model=MODEL, input="Hello")
    deltas = [each["delta"] for each in events if each["event_type"] == "step.delta" and each["index"] == 0]
    summaries = [delta for delta in deltas if delta["type"] == "thought_summary"]
    [signature] = [delta["signature"] for delta in deltas if delta["type"] == "thought_signature"]
    stored = api.get(interaction=events[0]["interaction"]["id"])

    assert ["They greet me."] == [each["content"]["text"] for each in summaries]
    assert {"text"} == {each["content"]["type"] for each in summaries}
    assert "thought" == events[2]["step"]["type"]
    assert [signature] == [step["signature"] for step in stored["steps"] if step["type"] == "thought"]


CALL = {"calls": [{"id": "c1", "name": "get_weather", "arguments": {"city": "Zürich", "days": 2}}]}


def test_a_call_as_a_resource(client, provider):
    """
    A function call has parsed arguments and requires an action.
    """
    mock = provider({"Weather?": CALL})
    found = client(mock).create(model=MODEL, input="Weather?", tools=[WEATHER])
    [step] = found["steps"]

    assert ("function_call", "c1", "get_weather") == (step["type"], step["id"], step["name"])
    assert {"city": "Zürich", "days": 2} == step["arguments"]
    assert "requires_action" == found["status"]


def test_a_call_as_a_stream(client, provider):
    """
    A function call starts without arguments, and its deltas are the JSON of them.
    """
    mock = provider({"Weather?": {**CALL, "timing": {"delta_chars": 6}}})
    events = client(mock).stream(model=MODEL, input="Weather?", tools=[WEATHER])
    start = next(each for each in events if each["event_type"] == "step.start")["step"]
    deltas = [each["delta"] for each in events if each["event_type"] == "step.delta"]

    assert ("c1", "get_weather", {}) == (start["id"], start["name"], start["arguments"])
    assert {"arguments_delta"} == {delta["type"] for delta in deltas}
    assert len(deltas) > 1
    assert {"city": "Zürich", "days": 2} == json.loads("".join(delta["arguments"] for delta in deltas))
    assert "requires_action" == events[-1]["interaction"]["status"]


def test_a_call_with_whole_arguments(client, provider):
    """
    A mock can also put the arguments into the start of the step.
    """
    mock = provider({"Weather?": CALL}, arguments="whole")
    events = client(mock).stream(model=MODEL, input="Weather?", tools=[WEATHER])

    assert {"city": "Zürich", "days": 2} == events[2]["step"]["arguments"]
    assert [] == [each for each in events if each["event_type"] == "step.delta"]


def test_parallel_calls(client, provider):
    """
    Each call has its own step, index and id.
    """
    calls = [{"id": f"c{n}", "name": "get_weather", "arguments": {"city": city}} for n, city in enumerate("AB")]
    mock = provider({"Weather?": {"calls": calls}})
    events = client(mock).stream(model=MODEL, input="Weather?", tools=[WEATHER])
    starts = [(each["index"], each["step"]["id"]) for each in events if each["event_type"] == "step.start"]
    deltas = [each for each in events if each["event_type"] == "step.delta"]
    assert [(0, "c0"), (1, "c1")] == starts
    assert [(0, '{"city":"A"}'), (1, '{"city":"B"}')] == [
        (each["index"], each["delta"]["arguments"]) for each in deltas
    ]


@pytest.mark.parametrize("result", ["12 degrees", [{"type": "text", "text": "12 degrees"}], {"degrees": 12}])
def test_a_result_and_its_answer(client, provider, result):
    """
    The result of a call is sent with the id of the interaction that made it; the model answers.
    """
    mock = provider({"Weather?": [CALL, {"text": "It is 12 degrees."}]})
    api = client(mock)
    first = api.create(model=MODEL, input="Weather?", tools=[WEATHER])
    output = {"type": "function_result", "call_id": "c1", "name": "get_weather", "result": result}
    second = api.create(model=MODEL, input=[output], previous_interaction_id=first["id"], tools=[WEATHER])

    assert ("completed", "It is 12 degrees.") == (second["status"], second["output_text"])
    assert first["id"] == second["previous_interaction_id"]
    assert first["id"] != second["id"]


def test_the_tools_of_the_provider(client, provider):
    """
    What the provider runs itself comes as call and result, and the text cites it.
    """
    steps = [
        {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["oslo weather"]}},
        {"type": "google_search_result", "call_id": "s1", "result": [{"search_suggestions": "<b>oslo</b>"}]},
        {
            "type": "model_output",
            "content": [
                {
                    "type": "text",
                    "text": "It rains.",
                    "annotations": [
                        {
                            "type": "url_citation",
                            "url": "https://e.example/",
                            "title": "E",
                            "start_index": 0,
                            "end_index": 9,
                        }
                    ],
                }
            ],
        },
    ]
    mock = provider({"Rain?": {"steps": steps}})
    api = client(mock)
    events = api.stream(model=MODEL, input="Rain?", tools=[{"type": "google_search"}])
    starts = [each["step"] for each in events if each["event_type"] == "step.start"]
    deltas = {each["delta"]["type"]: each["delta"] for each in events if each["event_type"] == "step.delta"}
    unary = api.create(model=MODEL, input="Rain?", tools=[{"type": "google_search"}])

    assert ["google_search_call", "google_search_result", "model_output"] == [each["type"] for each in starts]
    assert ("s1", "s1") == (starts[0]["id"], starts[1]["call_id"])
    assert ["oslo weather"] == deltas["google_search_call"]["arguments"]["queries"]
    assert "<b>oslo</b>" == deltas["google_search_result"]["result"][0]["search_suggestions"]
    assert "url_citation" == deltas["text_annotation_delta"]["annotations"][0]["type"]
    assert [each["type"] for each in starts] == [each["type"] for each in unary["steps"]]
    assert "https://e.example/" == unary["steps"][2]["content"][0]["annotations"][0]["url"]
    assert "completed" == unary["status"]


def test_images(client, provider):
    """
    An image is one delta, and content of the step.
    """
    image = {"type": "image", "data": "iVBORw0KGgo=", "mime_type": "image/png"}
    mock = provider({"Draw": {"steps": [{"type": "model_output", "content": [image]}]}})
    api = client(mock)
    events = api.stream(model=MODEL, input="Draw")
    [delta] = [each["delta"] for each in events if each["event_type"] == "step.delta"]
    unary = api.create(model=MODEL, input="Draw")

    assert ("image", "iVBORw0KGgo=", "image/png") == (delta["type"], delta["data"], delta["mime_type"])
    assert "iVBORw0KGgo=" == unary["output_image"]["data"]


@pytest.mark.parametrize(
    ("status", "name"),
    [(400, "BadRequestError"), (404, "NotFoundError"), (429, "RateLimitError"), (500, "InternalServerError")],
)
@pytest.mark.parametrize("how", ["create", "stream"])
def test_http_errors(client, provider, how, status, name):
    """
    An HTTP error is the exception that the client has for it, and the client tries again where it should.
    """
    error = {"status": status, "code": "oh_no", "message": "not now", "headers": {"retry-after-ms": "1"}}
    mock = provider({"Hello": {"http_error": error}})
    api = client(mock)
    with pytest.raises(OfficialError) as caught:
        getattr(api, how)(model=MODEL, input="Hello")

    assert name == caught.value.classes[0]
    assert (status, "oh_no", "not now") == (
        caught.value.status_code,
        caught.value.body["error"]["code"],
        caught.value.body["error"]["message"],
    )
    # The reference, seen of the clients: a constant 500 makes four requests with 2.19 and five with 3.4.
    assert (len(mock.requests) > 1) is (status in (429, 500))


def test_an_error_that_passes(client, provider):
    """
    A client that tries again gets the answer behind the error.
    """
    error = {"http_error": {"status": 500, "message": "boom", "headers": {"retry-after-ms": "1"}}}
    mock = provider({"Hello": [error, HI]})

    assert "Hi there, Zoë!" == client(mock).create(model=MODEL, input="Hello")["output_text"]


def test_what_the_mock_refuses(client, provider):
    """
    A request that the service refuses is refused in its words.
    """
    mock = provider({"Hello": HI})
    with pytest.raises(OfficialError) as caught:
        client(mock).create(model=MODEL, input="Hello", background=True, store=False)

    assert "BadRequestError" == caught.value.classes[0]
    assert "store=true is required" in caught.value.message


def test_an_unknown_interaction(client, provider):
    """
    An unknown interaction is not found, by any route and as the previous interaction.
    """
    mock = provider({"Hello": HI})
    api = client(mock)
    asks = (
        lambda: api.get(interaction="v1_unknown"),
        lambda: api.replay(interaction="v1_unknown"),
        lambda: api.cancel(interaction="v1_unknown"),
        lambda: api.create(model=MODEL, input="Hello", previous_interaction_id="v1_unknown"),
    )
    found = []
    for ask in asks:
        with pytest.raises(OfficialError) as caught:
            ask()
        found.append((caught.value.classes[0], caught.value.status_code))

    assert [("NotFoundError", 404)] * 4 == found


def test_an_error_in_the_stream(client, provider):
    """
    An error event is an object too, and the text before it stays.
    """
    mock = provider({"Hello": {**HI, "stream_error": {"code": "internal", "message": "boom", "after": 5}}})
    events = client(mock).stream(model=MODEL, input="Hello")

    assert "error" == events[-1]["event_type"]
    assert ("internal", "boom") == (events[-1]["error"]["code"], events[-1]["error"]["message"])
    assert "Hi there, " == text_of(events)


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
    assert ["", "", "Done."] == [each.get("output_text", "") for each in polled]
    assert polled[-1]["usage"]["total_tokens"]


def test_an_agent_in_the_background(client, provider):
    """
    An agent is named in the place of a model, and its stream carries a cursor in every event.
    """
    agent = "deep-research-preview-04-2026"
    mock = provider({"Dig": {"thought": "Where?", "text": "Here."}})
    config = {"type": "deep-research", "thinking_summaries": "auto"}
    events = client(mock).stream(agent=agent, agent_config=config, input="Dig", background=True)

    assert agent == events[0]["interaction"]["agent"]
    assert len(events) == len({each["event_id"] for each in events})
    assert "Here." == text_of(events)
    assert {"type": "deep-research", "thinking_summaries": "auto"} == mock.requests[0].body["agent_config"]


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

    assert (5, "step.delta") == (len(before), before[-1]["event_type"])
    assert whole == [*before, *after]
    assert "Hi there, Zoë!" == text_of([*before, *after])
    assert "interaction.completed" == after[-1]["event_type"]


def test_leaving_a_stream(client, provider):
    """
    A client that leaves a background run in the middle finds it whole later.
    """
    mock = provider({"Hello": HI})
    api = client(mock)
    left = api.stream(model=MODEL, input="Hello", background=True, first=3)
    found = api.get(interaction=left[0]["interaction"]["id"])

    assert ("completed", "Hi there, Zoë!") == (found["status"], found["output_text"])


def test_cancelling(client, provider):
    """
    A run that is cancelled has that status then and later.
    """
    mock = provider({"Dig": {"text": "Never.", "timing": {"between_s": 3600}}})
    api = client(mock)
    created = api.create(model=MODEL, input="Dig", background=True)
    cancelled = api.cancel(interaction=created["id"])
    got = api.get(interaction=created["id"])

    assert (created["id"], "cancelled") == (cancelled["id"], cancelled["status"])
    assert "cancelled" == got["status"]


def test_deleting(client, provider):
    """
    A record that was deleted is gone.
    """
    mock = provider({"Hello": HI})
    api = client(mock)
    created = api.create(model=MODEL, input="Hello")
    before = api.get(interaction=created["id"])
    api.delete(interaction=created["id"])
    with pytest.raises(OfficialError) as caught:
        api.get(interaction=created["id"])

    assert "Hi there, Zoë!" == before["output_text"]
    assert 404 == caught.value.status_code


def test_what_is_not_stored(client, provider):
    """
    Without `store` there is an answer but no id.
    """
    mock = provider({"Hello": HI})
    api = client(mock)
    unary = api.create(model=MODEL, input="Hello", store=False)
    events = api.stream(model=MODEL, input="Hello", store=False)

    assert ("Hi there, Zoë!", "") == (unary["output_text"], unary.get("id", ""))
    assert ("", "") == (events[0]["interaction"].get("id", ""), events[-1]["interaction"].get("id", ""))
    assert "Hi there, Zoë!" == text_of(events)


def test_saying_everything_again(client, provider):
    """
    A conversation that is not stored sends back the client's own steps, and the signatures in them are right.
    """
    mock = provider(
        {
            "One": {"thought": "The first.", "text": "1"},
            "Two": {"thought": "The second.", "text": "2"},
            "Three": {"text": "3"},
        }
    )
    answers = client(mock).say_again(prompts=[user("One"), user("Two"), user("Three")], model=MODEL)
    last = mock.requests[-1].body["input"]

    assert ["1", "2", "3"] == [each["output_text"] for each in answers]
    assert ["user_input", "thought", "model_output"] * 2 + ["user_input"] == [step["type"] for step in last]
    assert [each["steps"][0]["signature"] for each in answers[:2]] == [last[1]["signature"], last[4]["signature"]]


def test_a_changed_thought(client, provider):
    """
    A thought whose summary was changed is rejected, because its signature seals the summary.
    """
    mock = provider({"One": {"thought": "The first.", "text": "1"}, "Two": "2"})
    api = client(mock)
    first = api.create(model=MODEL, input="One", store=False)
    thought = {"type": "thought", "signature": first["steps"][0]["signature"]}
    said = [user("One"), {**thought, "summary": [{"type": "text", "text": "Another."}]}, user("Two")]
    with pytest.raises(OfficialError) as caught:
        api.create(model=MODEL, input=said, store=False)

    assert "BadRequestError" == caught.value.classes[0]


def test_a_conversation(client, provider):
    """
    Turns that name the one before are answered as turns of one conversation.
    """
    mock = provider({"Hello": HI, "Again": "Hi again."})
    api = client(mock)
    first = api.stream(model=MODEL, input="Hello")[-1]["interaction"]["id"]
    second = api.stream(model=MODEL, input="Again", previous_interaction_id=first)

    assert "Hi again." == text_of(second)
    assert second[-1]["interaction"]["id"] not in ("", first)


CLASSES = {
    "thought": ("ThoughtStep", {"ThoughtSummaryDelta", "ThoughtSignatureDelta"}),
    "model_output": ("ModelOutputStep", {"TextDelta"}),
    "function_call": ("FunctionCallStep", {"ArgumentsDelta"}),
}


@pytest.mark.parametrize("driver", PYTHON, ids="-".join)
def test_classes_of_python(driver, google_genai, provider):
    """
    Python clients parse every event, step and delta into a class of their own.
    """
    mock = provider({"Hello": {"thought": "They greet me.", **HI, **CALL}})
    api = google_genai(*driver[1:], mock.url)
    events = api.stream(model=MODEL, input="Hello", tools=[WEATHER])
    stored = api.get(interaction=events[0]["interaction"]["id"])
    starts = [each["step"] for each in events if each["event_type"] == "step.start"]
    deltas = [[each["delta"]["class"] for each in events if "delta" in each and each["index"] == at] for at in range(3)]

    assert {
        "interaction.created": "InteractionCreatedEvent",
        "interaction.status_update": "InteractionStatusUpdate",
        "step.start": "StepStart",
        "step.delta": "StepDelta",
        "step.stop": "StepStop",
        "interaction.completed": "InteractionCompletedEvent",
    } == {each["event_type"]: each["class"] for each in events}
    assert CLASSES == {start["type"]: (start["class"], set(names)) for start, names in zip(starts, deltas, strict=True)}
    assert ("Interaction", "Usage") == (stored["class"], stored["usage"]["class"])
    assert {"ThoughtStep", "ModelOutputStep", "FunctionCallStep"} <= {each["class"] for each in stored["steps"]}
