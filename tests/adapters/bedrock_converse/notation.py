"""
Streams of the Converse wire in a few characters each.

`M` messageStart, `B` contentBlockStart, `D` a contentBlockDelta of any kind, `T`, `H`, `G`, `R`, `J`, `O` and `C` those
of text, reasoning, signature, redacted content, input, result and citation, `X` contentBlockStop, `K` messageStop, `U`
metadata, `E` an exception.
"""
# ruff: noqa: N802 - the letters are the notation

from functools import partial

from assistant_events.adapters import AwsEventStream, load_dialect
from tests.adapters.reading import events_of, message_of

DIALECT = load_dialect("bedrock-converse")
MODEL = "us.anthropic.claude-opus-5-5-v1:0"
REQUEST = {"modelId": MODEL, "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}]}}
M = {"messageStart": {"role": "assistant"}}


def B(index, **start):
    return {"contentBlockStart": {"contentBlockIndex": index, "start": start}}


def D(index, **delta):
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}


def T(index, text):
    return D(index, text=text)


def H(index, text):
    return D(index, reasoningContent={"text": text})


def G(index, signature):
    return D(index, reasoningContent={"signature": signature})


def R(index, data):
    return D(index, reasoningContent={"redactedContent": data})


def J(index, input):
    return D(index, toolUse={"input": input})


def O(index, *content):  # noqa: E743
    return D(index, toolResult=list(content))


def C(index, **citation):
    return D(index, citation=citation)


def X(index):
    return {"contentBlockStop": {"contentBlockIndex": index}}


def K(reason="end_turn", **more):
    return {"messageStop": {"stopReason": reason, **more}}


def U(usage=None, **more):
    counts = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15} if usage is None else usage
    return {"metadata": {"usage": counts, "metrics": {"latencyMs": 812}, **more}}


def E(name="throttlingException", message="Too many requests", **more):
    return {name: {"message": message, **more}}


def text(index, words):
    """
    Return the events of a whole text.
    """
    return T(index, words), X(index)


def tool(index, id="tooluse_1", name="f", input='{"a":1}', **more):
    """
    Return the events of a whole call.
    """
    return B(index, toolUse={"toolUseId": id, "name": name, **more}), J(index, input), X(index)


def padded(event, at):
    """
    Return an event with padding, as the service adds it.
    """
    [(name, fields)] = event.items()
    return {name: {**fields, "p": "abcdefghijklmnopqrstuvwxyz"[: at % 26]}}


def stream(*events):
    """
    Return a binary stream, padded as the service does it.
    """
    return b"".join(AwsEventStream.frame(None, padded(event, 7 * at)) for at, event in enumerate(events))


def answer(*events, reason="end_turn"):
    """
    Return a stream with a start and an end around these events.
    """
    return stream(M, *events, K(reason), U())


events = partial(events_of, DIALECT)
message = partial(message_of, DIALECT)


def encoded(*messages, model=MODEL, **body):
    """
    Return the messages of a request for this conversation, with what was dropped as place and reason.
    """
    request = DIALECT.encoder(messages, {**REQUEST, "modelId": model, **body})
    return request.body["messages"], [(drop.part, str(drop.reason)) for drop in request.drops]
