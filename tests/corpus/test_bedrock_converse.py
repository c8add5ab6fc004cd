"""
Recorded bodies of the Converse wire: what they fold to, and what botocore makes of them.
"""

import json
from base64 import b64decode, b64encode
from io import BytesIO

import pytest

from assistant_events import fold
from assistant_events.adapters import AwsChunkStream, AwsEventStream, load_dialect
from assistant_events.adapters.bedrock_converse import for_boto3, read_exception
from assistant_events.messages import OpaquePart, ToolPart
from tests.each import for_each

from .recordings import answers

DIALECT = load_dialect("bedrock-converse")
FOLDER = "bedrock-converse"

ANSWERS = answers(FOLDER)
STREAMS = [name for name, answer in ANSWERS.items() if answer.form != "json"]


def folded(frames):
    """
    Return what a stream has, worked out from the wire alone: text, reasoning, calls, reason and counts.
    """
    found = {"text": "", "reasoning": "", "calls": {}, "reason": None, "usage": None, "signatures": []}
    for frame in frames:
        delta = frame.get("contentBlockDelta", {}).get("delta", {})
        reasoning = delta.get("reasoningContent", {})
        found["text"] += delta.get("text", "")
        found["reasoning"] += reasoning.get("text", "")
        found["signatures"] += [reasoning[key] for key in ("signature", "redactedContent") if key in reasoning]
        start = frame.get("contentBlockStart", {})
        if "toolUse" in start.get("start", {}):
            found["calls"][start["contentBlockIndex"]] = [start["start"]["toolUse"], ""]
        if "toolUse" in delta:
            found["calls"][frame["contentBlockDelta"]["contentBlockIndex"]][1] += delta["toolUse"]["input"]
        found["reason"] = frame.get("messageStop", {}).get("stopReason", found["reason"])
        found["usage"] = frame.get("metadata", {}).get("usage", found["usage"])
    return found


@pytest.mark.parametrize("name", STREAMS)
def test_what_the_wire_has(name):
    """
    Text, reasoning, signatures, calls, stop reason and counts are those of the wire.
    """
    expected, message = folded(ANSWERS[name].frames()), fold(ANSWERS[name].events()).last
    calls = [part for part in message.parts if isinstance(part, ToolPart)]
    states = [part.state.get(key) for part in message.parts for key in ("signature", "redactedContent")]

    assert (expected["text"], expected["reasoning"]) == (message.text, message.reasoning)
    assert [
        (tool["toolUseId"], tool["name"], json.loads(text or "{}")) for tool, text in expected["calls"].values()
    ] == [(call.call_id, call.name, call.arguments) for call in calls]
    assert ["server_tool_use" == tool.get("type") for tool, _ in expected["calls"].values()] == [
        call.provider_executed for call in calls
    ]
    assert expected["signatures"] == [state for state in states if state]
    assert expected["reason"] == message.raw_finish_reason
    assert expected["usage"] == (message.usage and message.usage.details)
    assert not [part for part in message.parts if isinstance(part, OpaquePart)]
    assert 1 >= sum("messageStop" in frame for frame in ANSWERS[name].frames())


@for_each(ANSWERS)
def test_counts(name):
    """
    The counts of a message follow from those of the wire; what is read from the cache is a part of the input.
    """
    usage = fold(ANSWERS[name].events()).last.usage
    if usage is None:
        assert name.startswith("vercel.model-stream-error-exception")
        return
    counts = usage.details
    # Some streams have a count under both names.
    cached = counts.get("cacheReadInputTokens", counts.get("cacheReadInputTokenCount"))
    written = counts.get("cacheWriteInputTokens", counts.get("cacheWriteInputTokenCount"))

    assert counts["inputTokens"] + (cached or 0) + (written or 0) == usage.input_tokens
    assert counts["outputTokens"] == usage.output_tokens
    assert counts.get("totalTokens", usage.total_tokens) == usage.total_tokens
    assert (cached, written) == (usage.cache_read_tokens, usage.cache_write_tokens)


# -- beside botocore

HELLO = [{"role": "user", "content": [{"text": "Hi"}]}]


class Raw(BytesIO):
    """
    The body of a response, as urllib3 gives it.
    """

    def stream(self, *_, **__):
        while piece := self.read(77):
            yield piece


@pytest.fixture(scope="module")
def bedrock():
    """
    Return a function that calls an operation of the official client with a body that the service returns.
    """
    session = pytest.importorskip("botocore.session", reason="the official client is not installed")
    awsrequest = pytest.importorskip("botocore.awsrequest")
    credentials = {"aws_access_key_id": "any", "aws_secret_access_key": "any"}
    client = session.get_session().create_client("bedrock-runtime", "us-east-1", **credentials)
    returned, requests = {}, []

    def send(request, **_):
        requests.append(json.loads(request.body))
        return awsrequest.AWSResponse(request.url, 200, returned["headers"], Raw(returned["body"]))

    client.meta.events.register("before-send.bedrock-runtime.*", send)

    def call(operation, content, headers=None, **arguments):
        returned.update(body=content, headers=headers or {})
        return getattr(client, operation)(**{"modelId": "m", **arguments}), requests

    return call


@pytest.mark.parametrize("name", STREAMS)
def test_events_of_the_official_client(bedrock, name):
    """
    The events of botocore, whose blobs are bytes, give the same events as the binary stream and the recorded lines.
    """
    eventstream = pytest.importorskip("botocore.exceptions")
    frames = ANSWERS[name].frames()
    if any(len(frame) > 1 for frame in frames):  # metrics beside the event: it was in a chunk of InvokeModel
        body = b"".join(AwsChunkStream.frame(None, frame) for frame in frames)
        stream = bedrock("invoke_model_with_response_stream", body, body=b"{}")[0]["body"]
    else:
        body = b"".join(AwsEventStream.frame(None, frame) for frame in frames)
        stream = bedrock("converse_stream", body, messages=HELLO)[0]["stream"]
    decoder = DIALECT.decoder("a1")
    found, error = [], None
    try:
        for event in stream:
            found += decoder.feed_event(event)
    except eventstream.EventStreamError as failure:
        error = read_exception(failure.response)
    found += decoder.close(error)

    binary = DIALECT.decoder("a1")
    assert ANSWERS[name].events() == binary.feed(body) + binary.close()
    ours, theirs = fold(ANSWERS[name].events()).last, fold(found).last
    if ours.error is not None:
        assert (ours.parts, ours.error.kind, ours.error.message, ours.error.code) == (
            theirs.parts,
            theirs.error.kind,
            theirs.error.message,
            theirs.error.code,
        )
        return
    assert ours.parts == theirs.parts
    assert (ours.finish_reason, ours.raw_finish_reason) == (theirs.finish_reason, theirs.raw_finish_reason)
    assert known(ours.usage.details) == known(theirs.usage.details)


def known(counts):
    """
    Return the counts that the model of botocore has: it leaves out what it does not know.
    """
    return {key: value for key, value in counts.items() if key.endswith("Tokens") and isinstance(value, int)}


@pytest.mark.parametrize("name", [name for name in ANSWERS if name not in STREAMS])
def test_answers_of_the_official_client(bedrock, name):
    """
    An answer of Converse as botocore returns it is the recorded document; the id of the response is a detail.
    """
    response, _ = bedrock("converse", ANSWERS[name].body, messages=HELLO, headers={"x-amzn-requestid": "r1"})
    ours, theirs = fold(ANSWERS[name].events()).last, fold(DIALECT.decode_resource(response, "a1")).last

    assert ours.parts == theirs.parts
    assert ours.finish_reason == theirs.finish_reason
    assert "r1" == theirs.details["requestId"]


def test_bytes_for_the_official_client(bedrock):
    """
    A body with bytes in place of base64 is sent as the body that was encoded.
    """
    data = b64encode(b"redacted").decode()
    messages = [
        {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": data}}}]},
        {"role": "assistant", "content": [{"reasoningContent": {"redactedContent": data}}, {"text": "bytes"}]},
        {"role": "user", "content": [{"text": data}]},
    ]
    body = for_boto3({"messages": messages})
    _, requests = bedrock("converse", b"{}", messages=body["messages"])

    assert b64decode(data) == body["messages"][0]["content"][0]["image"]["source"]["bytes"]
    assert messages == requests[-1]["messages"]
