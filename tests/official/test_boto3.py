"""
boto3 against the mock of Converse: text, tools, reasoning, errors before and inside of a stream, usage, and turns.
"""

import pytest

from assistant_events import fold
from assistant_events.adapters.bedrock_converse import BedrockConverseDecoder, encode, read_exception
from tests.official.client import OfficialError

MODEL = "eu.anthropic.claude-opus-5-5-v1:0"
ARN = f"arn:aws:bedrock:eu-central-1:123456789012:inference-profile/{MODEL}"
HI = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 5}}
THOUGHT = {"thought": "They greet me.", "text": "Hi.", "timing": {"delta_chars": 7}}
CALL = {"calls": [{"id": "tooluse_1", "name": "weather", "arguments": {"city": "Zürich", "days": 2}}]}
TOOLS = {"tools": [{"toolSpec": {"name": "weather", "inputSchema": {"json": {"type": "object"}}}}]}
RESULT = {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "12 degrees"}]}}


@pytest.fixture
def client(boto3):
    """
    A function that returns the client for a mock provider.
    """
    return lambda mock: boto3("1.44", mock.url)


@pytest.fixture
def converse(provider):
    """
    A function that returns a mock provider of Converse.
    """
    return lambda fixtures, **options: provider(fixtures, dialect="bedrock-converse", **options)


def user(*blocks):
    """Return a message of the user; a string is a block of text."""
    return {"role": "user", "content": [{"text": one} if isinstance(one, str) else one for one in blocks]}


def body(*messages, **more):
    """Return a request with these messages; a string is one of the user."""
    return {"modelId": MODEL, "messages": [user(one) if isinstance(one, str) else one for one in messages], **more}


def message(found):
    """Return the message of an answer, as an application sends it back."""
    return found["output"]["message"]


def kinds(events):
    """Return the kinds of events."""
    return [next(iter(event)) for event in events]


def deltas(events, index):
    """Return the deltas of a block."""
    found = [event["contentBlockDelta"] for event in events if "contentBlockDelta" in event]
    return [each["delta"] for each in found if each["contentBlockIndex"] == index]


@pytest.mark.parametrize("model", [MODEL, ARN])
def test_text_as_a_document(client, converse, model):
    """
    A unary answer has its text, its stop reason and the id of its request; the model may be an ARN.
    """
    fixtures = {"version": 1, "fixtures": [{"match": {"model": model}, "answer": {**HI, "id": "request-1"}}]}
    mock = converse(fixtures)
    found = client(mock).converse(**{**body("Hello"), "modelId": model})

    assert ("end_turn", {"role": "assistant", "content": [{"text": "Hi there, Zoë!"}]}) == (
        found["stopReason"],
        message(found),
    )
    assert ("request-1", 200) == (
        found["ResponseMetadata"]["RequestId"],
        found["ResponseMetadata"]["HTTPStatusCode"],
    )


def test_text_as_a_stream(client, converse):
    """
    A stream has the events of the wire, cut as the fixture wants.
    """
    events = client(converse({"Hello": HI})).stream(**body("Hello"))["events"]

    assert [
        "messageStart",
        "contentBlockDelta",
        "contentBlockDelta",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    ] == kinds(events)
    assert ["Hi th", "ere, ", "Zoë!"] == [delta["text"] for delta in deltas(events, 0)]


def test_usage(client, converse):
    """
    Usage of a fixture is that of the document, and of the last event.
    """
    usage = {"inputTokens": 9, "cacheReadInputTokens": 4, "outputTokens": 22, "totalTokens": 35}
    api = client(converse({"Hello": {**HI, "usage": usage}}))

    assert usage == api.converse(**body("Hello"))["usage"]
    assert usage == api.stream(**body("Hello"))["events"][-1]["metadata"]["usage"]


def test_reasoning(client, converse):
    """
    Reasoning comes in deltas, with its signature last; redacted content as bytes.
    """
    content = [{"reasoningContent": {"reasoningText": {"text": "They greet me."}}}]
    content += [{"reasoningContent": {"redactedContent": "c2VjcmV0"}}]
    api = client(converse({"Hello": {"content": content, "timing": {"delta_chars": 7}}}))
    events, found = api.stream(**body("Hello"))["events"], message(api.converse(**body("Hello")))
    *texts, signed = [delta["reasoningContent"] for delta in deltas(events, 0)]

    assert [{"text": "They gr"}, {"text": "eet me."}] == texts
    assert ["signature"] == list(signed)
    assert [{"reasoningContent": {"redactedContent": "c2VjcmV0"}}] == deltas(events, 1) == found["content"][1:]
    assert "They greet me." == found["content"][0]["reasoningContent"]["reasoningText"]["text"]


def test_a_tool_loop(client, converse):
    """
    The call is sent back with its result, and the next fixture answers.
    """
    api = client(converse({"Weather?": [{**THOUGHT, **CALL}, "It is 12 degrees."]}))
    first = api.converse(**body("Weather?", toolConfig=TOOLS))
    second = api.converse(**body("Weather?", message(first), user(RESULT), toolConfig=TOOLS))

    assert "tool_use" == first["stopReason"]
    assert {"toolUseId": "tooluse_1", "name": "weather", "input": {"city": "Zürich", "days": 2}} == message(first)[
        "content"
    ][2]["toolUse"]
    assert [{"text": "It is 12 degrees."}] == message(second)["content"]


def test_a_streamed_call(client, converse):
    """
    A call starts with its name, and its arguments are pieces of JSON.
    """
    events = client(converse({"Weather?": CALL})).stream(**body("Weather?", toolConfig=TOOLS))["events"]

    assert {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "tooluse_1", "name": "weather"}}} == events[1][
        "contentBlockStart"
    ]
    assert '{"city":"Zürich","days":2}' == "".join(delta["toolUse"]["input"] for delta in deltas(events, 0))


def test_objects_sent_back(client, converse):
    """
    The objects of the client are taken back as they are, reasoning and redacted content included.
    """
    content = [{"reasoningContent": {"redactedContent": ""}}, {"text": "Hi."}]
    answers = {"Hello": THOUGHT, "Again": {"content": content}, "More": "Hi again."}
    found = client(converse(answers)).conversation(prompts=["Hello", "Again", "More"], modelId=MODEL)

    assert [{"text": "Hi again."}] == message(found[-1])["content"]


def test_a_turn_of_this_library(client, converse):
    """
    Events of the client are read by the decoder, and the request that the encoder makes of them is accepted.
    """
    api = client(converse({"Weather?": [{**THOUGHT, **CALL}, "It is 12 degrees."]}))
    sent = body("Weather?", toolConfig=TOOLS)
    decoder = BedrockConverseDecoder("a1", request=sent)
    events = [found for each in api.stream(**sent)["events"] for found in decoder.feed_event(each)]
    transcript = fold([*events, *decoder.close()])
    [turn] = encode(transcript, {"modelId": MODEL, "toolConfig": TOOLS}).body["messages"][
        1:2
    ]  # behind a sentence of the user
    second = api.converse(**body("Weather?", turn, user(RESULT), toolConfig=TOOLS))

    assert "assistant" == turn["role"]
    assert [{"text": "It is 12 degrees."}] == message(second)["content"]


CHANGES = {
    "text": ("text", "They greet you.", "Invalid `signature` in `thinking` block"),
    "signature": ("signature", "c2lnbmVkIGJ5IG5vYm9keQ==", "Invalid `signature` in `thinking` block"),
    "no signature": ("signature", "", "thinking.signature: Field required"),
}


@pytest.mark.parametrize(("key", "value", "reason"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("call", ["converse", "stream"])
def test_changed_reasoning(client, converse, call, key, value, reason):
    """
    Reasoning that was changed, or whose signature was, is refused with the words of the service.
    """
    api = client(converse({"Hello": THOUGHT, "Again": "Hi again."}))
    turn = message(api.converse(**body("Hello")))
    turn["content"][0]["reasoningContent"]["reasoningText"][key] = value
    with pytest.raises(OfficialError) as caught:
        getattr(api, call)(**body("Hello", turn, "Again"))

    assert "ValidationException" == caught.value.classes[0]
    assert "The model returned the following errors: messages.1.content.0" in caught.value.message
    assert reason in caught.value.message


def test_a_call_without_its_result(client, converse):
    """
    A call that is not answered in the next message is refused.
    """
    api = client(converse({"Weather?": CALL}))
    turn = message(api.converse(**body("Weather?", toolConfig=TOOLS)))
    with pytest.raises(OfficialError) as caught:
        api.converse(**body("Weather?", turn, "And?", toolConfig=TOOLS))

    assert "ValidationException" == caught.value.classes[0]
    assert "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1" in caught.value.message


ERRORS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}


@pytest.mark.parametrize(("status", "name"), ERRORS.items())
def test_http_errors(client, converse, status, name):
    """
    An HTTP error is the exception of its status, which this library reads as the client does.
    """
    mock = converse({"Hello": {"http_error": {"status": status, "message": "later"}}})
    with pytest.raises(OfficialError) as caught:
        client(mock).converse(**body("Hello"))
    response = caught.value.response
    error = read_exception(response)

    assert name == caught.value.classes[0]
    assert ({"Code": name, "Message": "later"}, status) == (
        response["Error"],
        response["ResponseMetadata"]["HTTPStatusCode"],
    )
    assert ("later", status, f"{name[:1].lower()}{name[1:]}") == (error.message, error.status, error.code)


STREAM_ERRORS = {
    "an exception": ("throttlingException", "throttlingException"),
    "of the model": ("ModelStreamErrorException", "modelStreamErrorException"),
    "of the stream": ("Broken", "Broken"),
}


@pytest.mark.parametrize(("code", "name"), STREAM_ERRORS.values(), ids=STREAM_ERRORS)
def test_an_error_inside_of_a_stream(client, converse, code, name):
    """
    An exception or an error ends the stream behind the events before it.
    """
    error = {"stream_error": {"code": code, "message": "Too many requests", "after": 3}}
    found = client(converse({"Hello": {**HI, **error}})).stream(**body("Hello"))

    assert ["messageStart", "contentBlockDelta", "contentBlockDelta"] == kinds(found["events"])
    assert "EventStreamError" == found["raised"]["classes"][0]
    assert {"Code": name, "Message": "Too many requests"} == found["raised"]["response"]["Error"]


def test_a_damaged_frame(client, converse):
    """
    A frame with a wrong checksum is refused by the client.
    """
    with pytest.raises(OfficialError) as caught:
        client(converse({"Hello": HI}, faults=("bad-checksum",))).stream(**body("Hello"))

    assert "ChecksumMismatch" == caught.value.classes[0]


def test_unknown_events(client, converse):
    """
    Events that the client does not know do no harm.
    """
    events = client(converse({"Hello": HI}, faults=("unknown-events",))).stream(**body("Hello"))["events"]

    assert "Hi there, Zoë!" == "".join(delta.get("text", "") for delta in deltas(events, 0))


def test_signed_requests(client, converse):
    """
    The client signs its requests, and the log of the mock shows no credential.
    """
    mock = converse({"Hello": HI})
    client(mock).converse(**body("Hello"))
    [request] = mock.requests

    assert ("[hidden]", "[hidden]") == (request.headers["authorization"], request.headers["x-amz-security-token"])
