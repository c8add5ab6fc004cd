"""
The official Python client of the Messages API against its mock: text, tools, thinking, errors, usage, and turns.
"""

import pytest

from tests.official.client import OfficialError

MODEL = "claude-opus-5-5"
HI = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 5}}
THOUGHT = {"thought": "They greet me.", "text": "Hi.", "timing": {"delta_chars": 7}}
CALL = {"calls": [{"id": "toolu_1", "name": "weather", "arguments": {"city": "Zürich", "days": 2}}]}
TOOLS = [{"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "12 degrees"}


@pytest.fixture(params=["sync", "async"])
def client(request, anthropic):
    """
    A function that returns the client in each of its modes for a mock provider.
    """
    return lambda mock: anthropic("2.12", request.param, mock.url)


@pytest.fixture
def messages(provider):
    """
    A function that returns a mock provider of the Messages API.
    """
    return lambda fixtures, **options: provider(fixtures, dialect="anthropic-messages", **options)


def body(*messages, **more):
    """Return a request with these messages; a text is one of the user."""
    sent = [{"role": "user", "content": one} if isinstance(one, str) else one for one in messages]
    return {"model": MODEL, "max_tokens": 2048, "messages": sent, **more}


def results(*blocks):
    """Return a message of the user with these blocks."""
    return {"role": "user", "content": list(blocks)}


def answered(message):
    """Return a message of the client as an application sends it back."""
    blocks = [{key: value for key, value in block.items() if key != "class"} for block in message["content"]]
    return {"role": "assistant", "content": blocks}


def types(events):
    """Return the types of events."""
    return [event["type"] for event in events]


def test_models(client, messages):
    """
    The models are the default one and those that fixtures name; any name is one.
    """
    named = {"match": {"model": "claude-haiku-5"}, "answer": {"text": "Hi"}}
    found = client(messages({"version": 1, "fixtures": [named]})).models(name="claude-9")

    assert [MODEL, "claude-haiku-5"] == [model["id"] for model in found["all"]]
    assert ("ModelInfo", "claude-9", "active") == tuple(found["one"][key] for key in ("class", "id", "lifecycle"))


def test_text_as_a_message(client, messages):
    """
    A unary answer is a message with its text, its stop reason and its model.
    """
    found = client(messages({"Hello": HI})).create(**body("Hello"))

    assert ("Message", MODEL, "end_turn", "assistant") == tuple(
        found[key] for key in ("class", "model", "stop_reason", "role")
    )
    assert [{"class": "TextBlock", "type": "text", "text": "Hi there, Zoë!"}] == found["content"]
    assert found["id"].startswith("msg_")


def test_text_as_a_stream(client, messages):
    """
    A stream has the events of the wire, cut as the fixture wants.
    """
    events = client(messages({"Hello": HI})).raw(**body("Hello"))

    assert [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ] == types(events)
    assert ["Hi th", "ere, ", "Zoë!"] == [event["delta"]["text"] for event in events[2:5]]


def test_the_accumulated_message(client, messages):
    """
    What the client adds up from the stream is the unary answer.
    """
    mock = messages({"Hello": {**THOUGHT, **CALL}})
    api = client(mock)
    streamed = api.stream(**body("Hello", tools=TOOLS))["message"]
    unary = api.create(**body("Hello", tools=TOOLS))
    thoughts = [message["content"][0].pop("signature") for message in (streamed, unary)]

    # A helper of the client names its texts `ParsedTextBlock`.
    assert answered(unary) == answered(streamed)
    assert ("tool_use", unary["usage"]) == (streamed["stop_reason"], streamed["usage"])
    assert all(thoughts)


def test_usage(client, messages):
    """
    Usage of a fixture is that of the message; a stream has one output token at its start.
    """
    usage = {"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 22}
    api = client(messages({"Hello": {**HI, "usage": usage}}))
    found, events = api.create(**body("Hello")), api.raw(**body("Hello"))

    assert usage == {key: found["usage"][key] for key in usage}
    assert (9, 1) == tuple(events[0]["message"]["usage"][key] for key in ("input_tokens", "output_tokens"))
    assert (9, 4, 22) == tuple(events[-2]["usage"][key] for key in usage)


def test_thinking(client, messages):
    """
    A thought comes in deltas, with its signature last.
    """
    events = client(messages({"Hello": THOUGHT})).raw(**body("Hello"))
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta" and event["index"] == 0]

    assert ["They gr", "eet me."] == [delta["thinking"] for delta in deltas[:-1]]
    assert "signature_delta" == deltas[-1]["type"]
    assert deltas[-1]["signature"]


def test_a_tool_loop(client, messages):
    """
    The call is sent back with its result, and the next fixture answers.
    """
    mock = messages({"Weather?": [{**THOUGHT, **CALL}, "It is 12 degrees."]})
    api = client(mock)
    first = api.create(**body("Weather?", tools=TOOLS))
    second = api.create(**body("Weather?", answered(first), results(RESULT), tools=TOOLS))

    assert {"city": "Zürich", "days": 2} == first["content"][2]["input"]
    assert "It is 12 degrees." == second["content"][0]["text"]


def test_objects_sent_back(client, messages):
    """
    The objects of the client are taken back as they are, thoughts included.
    """
    answers = client(messages({"Hello": THOUGHT, "Again": "Hi again."})).converse(
        prompts=["Hello", "Again"], model=MODEL, max_tokens=99
    )

    assert "Hi again." == answers[1]["content"][0]["text"]


CHANGES = {
    "text": ("thinking", "They greet you."),
    "signature": ("signature", "c2lnbmVkIGJ5IG5vYm9keQ=="),
    "no signature": ("signature", ""),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_thought(client, messages, change):
    """
    A thought that was changed, or whose signature was, is refused with the words of the service.
    """
    key, value = change
    mock = messages({"Hello": THOUGHT, "Again": "Hi again."})
    api = client(mock)
    turn = answered(api.create(**body("Hello")))
    turn["content"][0][key] = value
    with pytest.raises(OfficialError) as caught:
        api.create(**body("Hello", turn, "Again"))

    assert ("BadRequestError", 400) == (caught.value.classes[0], caught.value.status_code)
    assert "messages.1.content.0: " in caught.value.body["error"]["message"]
    assert "invalid_request_error" == caught.value.body["error"]["type"]


def test_a_call_without_its_result(client, messages):
    """
    A call that is not answered in the next message is refused.
    """
    mock = messages({"Weather?": [CALL]})
    api = client(mock)
    turn = answered(api.create(**body("Weather?", tools=TOOLS)))
    with pytest.raises(OfficialError) as caught:
        api.create(**body("Weather?", turn, "And?", tools=TOOLS))

    assert "`tool_use` ids were found without `tool_result` blocks" in caught.value.message


ERRORS = {
    400: ("BadRequestError", "invalid_request_error"),
    401: ("AuthenticationError", "authentication_error"),
    429: ("RateLimitError", "rate_limit_error"),
    500: ("InternalServerError", "api_error"),
    529: ("OverloadedError", "overloaded_error"),
}


@pytest.mark.parametrize("status", ERRORS)
def test_http_errors(client, messages, status):
    """
    An HTTP error is the exception of its status, with the type that the service uses for it.
    """
    name, kind = ERRORS[status]
    mock = messages({"Hello": {"http_error": {"status": status, "message": "later"}}})
    with pytest.raises(OfficialError) as caught:
        client(mock).create(**body("Hello"))

    assert (name, status) == (caught.value.classes[0], caught.value.status_code)
    assert {"type": kind, "message": "later"} == caught.value.body["error"]
    assert caught.value.request_id.startswith("req_")


def test_an_error_inside_of_a_stream(client, messages):
    """
    An error event ends the stream with an exception that has its type.
    """
    error = {"stream_error": {"code": "overloaded_error", "message": "Overloaded", "after": 3}}
    with pytest.raises(OfficialError) as caught:
        client(messages({"Hello": {**HI, **error}})).raw(**body("Hello"))

    assert {"type": "overloaded_error", "message": "Overloaded"} == caught.value.body["error"]


def test_a_retry(client, messages):
    """
    The client asks again after 529, and gets the answer.
    """
    mock = messages({"Hello": HI}, faults=("http-529",))
    found = client(mock).create(**body("Hello"), retries=1)

    assert "Hi there, Zoë!" == found["content"][0]["text"]
    assert 2 == len(mock.requests)


def test_the_beta_interface(client, messages):
    """
    The beta interface asks the same route.
    """
    mock = messages({"Hello": HI})
    found = client(mock).beta(**body("Hello"), betas=["context-management-2025-06-27"])

    assert "Hi there, Zoë!" == found["content"][0]["text"]
    assert "context-management-2025-06-27" == mock.requests[0].headers["anthropic-beta"]


def test_blocks_of_the_provider(client, messages):
    """
    Searches of the provider, their results and citations pass as they are in the fixture, and may be sent back.
    """
    found = {
        "type": "web_search_result",
        "url": "https://oslo",
        "title": "Oslo",
        "encrypted_content": "e",
        "page_age": None,
    }
    cited = {
        "type": "web_search_result_location",
        "url": "https://oslo",
        "title": "Oslo",
        "cited_text": "rain",
        "encrypted_index": "i",
    }
    content = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Oslo"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]},
        {"type": "text", "text": "Rain.", "citations": [cited]},
    ]
    mock = messages({"Hello": {"content": content}, "Again": "Hi again."})
    api = client(mock)
    message = api.stream(**body("Hello"))["message"]
    second = api.create(**body("Hello", {"role": "assistant", "content": content}, "Again"))

    assert ["server_tool_use", "web_search_tool_result", "text"] == types(message["content"])
    assert {"query": "Oslo"} == message["content"][0]["input"]
    assert "e" == message["content"][1]["content"][0]["encrypted_content"]
    assert "rain" == message["content"][2]["citations"][0]["cited_text"]
    assert "Hi again." == second["content"][0]["text"]
