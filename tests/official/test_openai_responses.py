"""
The official Python client of the Responses API against its mock: text, tools, reasoning, errors, usage, turns, and
runs in the background.
"""

import pytest

from tests.official.client import OfficialError

MODEL = "gpt-5.6"
HI = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 5}}
THOUGHT = {"thought": ["They greet me.", "I greet back."], "text": "Hi.", "timing": {"delta_chars": 7}}
CALL = {"calls": [{"id": "call_1", "name": "weather", "arguments": {"city": "Zürich", "days": 2}}]}
TOOLS = [{"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}]
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "12 degrees"}
ENCRYPTED = {"store": False, "include": ["reasoning.encrypted_content"]}


@pytest.fixture(params=["sync", "async"])
def client(request, openai):
    """
    A function that returns the client in each of its modes for a mock provider.
    """
    return lambda mock: openai("3.54", request.param, mock.url)


@pytest.fixture
def responses(provider):
    """
    A function that returns a mock provider of the Responses API.
    """
    return lambda fixtures, **options: provider(fixtures, dialect="openai-responses", **options)


def plain(items):
    """Return items of the client as an application sends them back."""
    if isinstance(items, list):
        return [plain(item) for item in items]
    if isinstance(items, dict):
        return {key: plain(value) for key, value in items.items() if key not in ("class", "parsed", "parsed_arguments")}
    return items


def user(text):
    """Return a message of the user."""
    return {"role": "user", "content": text}


def test_text_as_a_response(client, responses):
    """
    A unary answer is a response with one message.
    """
    found = client(responses({"Hello": HI})).create(model=MODEL, input="Hello")
    [message] = found["output"]

    assert ("Response", MODEL, "completed") == tuple(found[key] for key in ("class", "model", "status"))
    assert ("ResponseOutputMessage", "Hi there, Zoë!") == (message["class"], message["content"][0]["text"])
    assert found["id"].startswith("resp_")
    assert message["id"].startswith("msg_")


def test_text_as_a_stream(client, responses):
    """
    A stream has the events of the wire with their numbers, cut as the fixture wants.
    """
    events = client(responses({"Hello": HI})).raw(model=MODEL, input="Hello")

    assert [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ] == [event["type"] for event in events]
    assert ["Hi th", "ere, ", "Zoë!"] == [event["delta"] for event in events[4:7]]
    assert list(range(11)) == [event["sequence_number"] for event in events]
    assert 1 == len({event["item_id"] for event in events[3:9]})


def test_the_accumulated_response(client, responses):
    """
    What the client adds up from the stream is the response of the last event, and the unary answer but for ids.
    """
    api = client(responses({"Hello": {**THOUGHT, **CALL}}))
    streamed = api.stream(model=MODEL, input="Hello", tools=TOOLS)["response"]
    unary = api.create(model=MODEL, input="Hello", tools=TOOLS)
    kept = [
        [{key: value for key, value in item.items() if key not in ("id", "encrypted_content")} for item in each]
        for each in (plain(unary["output"]), plain(streamed["output"]))
    ]

    assert kept[0] == kept[1]
    assert ["reasoning", "message", "function_call"] == [item["type"] for item in kept[0]]
    assert ["They greet me.", "I greet back."] == [part["text"] for part in kept[0][0]["summary"]]
    assert unary["usage"] == streamed["usage"]


def test_usage(client, responses):
    """
    Usage of a fixture is that of the response, and of the last event.
    """
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 22,
        "output_tokens_details": {"reasoning_tokens": 10},
        "total_tokens": 31,
    }
    api = client(responses({"Hello": {**HI, "usage": usage}}))
    unary = api.create(model=MODEL, input="Hello")
    streamed = api.raw(model=MODEL, input="Hello")[-1]["response"]

    assert usage == plain(unary["usage"]) == plain(streamed["usage"])


@pytest.mark.parametrize("store", [True, False])
def test_reasoning(client, responses, store):
    """
    A reasoning has its encrypted content where it is asked for, else it is known by its id.
    """
    api = client(responses({"Hello": THOUGHT}))
    more = {} if store else ENCRYPTED
    events = api.raw(model=MODEL, input="Hello", **more)
    reasoning = events[-1]["response"]["output"][0]
    deltas = [event["delta"] for event in events if event["type"] == "response.reasoning_summary_text.delta"]

    assert ["They gr", "eet me.", "I greet", " back."] == deltas
    assert store is (reasoning.get("encrypted_content") is None)
    assert reasoning["id"].startswith("rs_")


def test_a_tool_loop(client, responses):
    """
    The call is sent back with its result, and the next fixture answers.
    """
    api = client(responses({"Weather?": [{**THOUGHT, **CALL}, "It is 12 degrees."]}))
    first = api.create(model=MODEL, input="Weather?", tools=TOOLS, **ENCRYPTED)
    sent = [user("Weather?"), *plain(first["output"]), RESULT]
    second = api.create(model=MODEL, input=sent, tools=TOOLS, **ENCRYPTED)

    assert '{"city":"Zürich","days":2}' == first["output"][2]["arguments"]
    assert "It is 12 degrees." == second["output"][0]["content"][0]["text"]


def test_a_stored_conversation(client, responses):
    """
    The second request names the response and has the result alone.
    """
    mock = responses({"Weather?": [CALL, "It is 12 degrees."]})
    api = client(mock)
    first = api.create(model=MODEL, input="Weather?", tools=TOOLS)
    second = api.create(model=MODEL, input=[RESULT], previous_response_id=first["id"])

    assert "It is 12 degrees." == second["output"][0]["content"][0]["text"]
    assert first["id"] == second["previous_response_id"]


def test_objects_sent_back(client, responses):
    """
    The objects of the client are taken back as they are, reasonings included.
    """
    answers = client(responses({"Hello": THOUGHT, "Again": "Hi again."})).converse(
        prompts=["Hello", "Again"], model=MODEL
    )

    assert "Hi again." == answers[1]["output"][0]["content"][0]["text"]


CHANGES = {
    "encrypted content": (
        lambda items: [{**items[0], "encrypted_content": "c2lnbmVkIGJ5IG5vYm9keQ=="}, *items[1:]],
        "invalid_encrypted_content",
        "could not be verified",
    ),
    "reasoning alone": (lambda items: items[:1], None, "of type 'reasoning' was provided without its required"),
    "message alone": (lambda items: items[1:], None, "of type 'message' was provided without its required 'reasoning'"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_turn(client, responses, change):
    """
    A reasoning that was changed, or separated from the item that it led to, is refused.
    """
    altered, code, message = change
    api = client(responses({"Hello": THOUGHT, "Again": "Hi again."}))
    items = altered(plain(api.create(model=MODEL, input="Hello", **ENCRYPTED)["output"]))
    with pytest.raises(OfficialError) as caught:
        api.create(model=MODEL, input=[user("Hello"), *items, user("Again")], **ENCRYPTED)

    assert ("BadRequestError", 400) == (caught.value.classes[0], caught.value.status_code)
    assert (code, "invalid_request_error") == (caught.value.body["code"], caught.value.body["type"])
    assert message in caught.value.body["message"]


def test_an_answer_that_is_incomplete(client, responses):
    """
    The status and its reason are there.
    """
    answer = {**HI, "status": "incomplete", "more": {"incomplete_details": {"reason": "max_output_tokens"}}}
    api = client(responses({"Hello": answer}))
    unary, event = api.create(model=MODEL, input="Hello"), api.raw(model=MODEL, input="Hello")[-1]

    assert "response.incomplete" == event["type"]
    for response in (unary, event["response"]):
        assert ("incomplete", "max_output_tokens") == (response["status"], response["incomplete_details"]["reason"])


def test_models(client, responses):
    """
    The models are the default one and those that fixtures name; any name is one.
    """
    named = {"match": {"model": "gpt-5.6-mini"}, "answer": {"text": "Hi"}}
    found = client(responses({"version": 1, "fixtures": [named]})).models(name="gpt-9")

    assert [MODEL, "gpt-5.6-mini"] == [model["id"] for model in found["all"]]
    assert ("Model", "gpt-9") == (found["one"]["class"], found["one"]["id"])


def test_items_before_an_answer(client, responses):
    """
    They are those of the request, and those of the responses that it continues, newest first, on as many pages as
    wanted.
    """
    asking = client(responses({"Hello": HI, "And then?": HI}))
    first = asking.create(model=MODEL, input="Hello")
    second = asking.create(model=MODEL, input="And then?", previous_response_id=first["id"])
    found = asking.inputs(response=second["id"], limit=2)

    assert [("user", "And then?"), ("assistant", "Hi there, Zoë!"), ("user", "Hello")] == [
        (item["role"], item["content"][0]["text"]) for item in found
    ]
    assert found[::-1] == asking.inputs(response=second["id"], order="asc")
    assert first["output"][0]["id"] == found[1]["id"]


def test_a_conversation_that_is_remembered(client, responses):
    """
    A conversation keeps the items of its requests and their answers, and each request is answered as one that has them.
    """
    second = {"match": {"call_id": "call_1"}, "answer": {"text": "It rains."}}
    first = {"match": {"user_text": "Weather?"}, "answer": CALL}
    asking = client(responses({"version": 1, "fixtures": [second, first]}))
    prompts = [[{"role": "user", "content": "Weather?"}], [RESULT]]
    found = asking.remember(given=[user("I am in Zürich.")], prompts=prompts, model=MODEL, tools=TOOLS)
    called, answer = found["answers"]

    assert ("conversation", {"topic": "rain"}) == (found["made"]["object"], found["made"]["metadata"])
    assert "It rains." == answer["output"][0]["content"][0]["text"]
    assert [found["made"]["id"]] * 2 == [each["conversation"]["id"] for each in (called, answer)]
    assert ["Message", "Message", "ResponseFunctionToolCallItem", "ResponseFunctionToolCallOutputItem", "Message"] == [
        item["class"] for item in found["items"]
    ]
    assert called["output"][0]["id"] == found["items"][2]["id"]
    assert found["items"][0] == found["again"]
    assert found["items"][1:] == found["left"][:0:-1]
    assert found["added"]["data"] == found["left"][:1]
    assert {"topic": "sun"} == found["changed"]["metadata"]
    assert (found["made"]["id"], True) == (found["removed"]["id"], found["removed"]["deleted"])


def test_no_such_conversation(client, responses):
    """
    A request for a conversation that is not there is refused with 404.
    """
    with pytest.raises(OfficialError) as refused:
        client(responses({"Hello": HI})).create(model=MODEL, input="Hello", conversation={"id": "conv_9"})

    assert (404, "Conversation with id 'conv_9' not found.") == (
        refused.value.status_code,
        refused.value.body["message"],
    )


def test_a_run_in_the_background(client, responses):
    """
    It is queued or in progress until its document has the answer.
    """
    api = client(responses({"Dig": {"text": "Found.", "polls_in_progress": 1}}))
    first = api.create(model=MODEL, input="Dig", background=True)
    later = [api.get(response=first["id"]) for _ in range(2)]

    assert ["in_progress", "in_progress", "completed"] == [each["status"] for each in (first, *later)]
    assert [] == first["output"]
    assert "Found." == later[1]["output"][0]["content"][0]["text"]


def test_the_rest_of_a_stream(client, responses):
    """
    A stream that was left continues behind a number.
    """
    api = client(responses({"Dig": HI}))
    began = api.raw(model=MODEL, input="Dig", background=True, first=6)
    run = began[0]["response"]["id"]
    rest = api.replay(response=run, starting_after=began[-1]["sequence_number"])

    assert list(range(11)) == [event["sequence_number"] for event in [*began, *rest]]
    assert list(range(11)) == [event["sequence_number"] for event in api.replay(response=run)]


def test_cancel_and_delete(client, responses):
    """
    A run that is cancelled has that status; one that is deleted is not found.
    """
    api = client(responses({"Dig": {**HI, "faults": ["zombie"]}}))
    run = api.create(model=MODEL, input="Dig", background=True)["id"]
    cancelled = api.cancel(response=run)
    api.delete(response=run)
    with pytest.raises(OfficialError) as caught:
        api.get(response=run)

    assert "cancelled" == cancelled["status"]
    assert ("NotFoundError", 404) == (caught.value.classes[0], caught.value.status_code)


def test_an_answer_in_the_foreground_cannot_be_cancelled(client, responses):
    """
    It has ended with its request.
    """
    api = client(responses({"Hello": HI}))
    run = api.create(model=MODEL, input="Hello")["id"]
    with pytest.raises(OfficialError) as caught:
        api.cancel(response=run)

    assert "Cannot cancel a synchronous response." in caught.value.message
