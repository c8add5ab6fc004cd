"""
Streams of the Messages wire in a few characters each.

`M` message_start, `B` content_block_start, `D` a content_block_delta of any type, `T`, `H`, `J`, `S` and `C` those of
text, thinking, input, signature and citation, `X` content_block_stop, `K` message_delta, `END` message_stop, `E` error.
"""
# ruff: noqa: N802 - the letters are the notation

import json
from functools import partial

from assistant_events.adapters import load_dialect
from tests.adapters.reading import events_of, message_of

DIALECT = load_dialect("anthropic-messages")
MODEL = "claude-opus-5-5"
PING = {"type": "ping"}
END = {"type": "message_stop"}


def M(id="msg_1", usage=None, **more):
    head = {"id": id, "type": "message", "role": "assistant", "model": MODEL, "content": [], "stop_reason": None}
    counts = {"input_tokens": 10, "output_tokens": 1} if usage is None else usage
    return {"type": "message_start", "message": {**head, "stop_sequence": None, "usage": counts, **more}}


def B(index, type, **fields):
    return {"type": "content_block_start", "index": index, "content_block": {"type": type, **fields}}


def D(index, type, **fields):
    return {"type": "content_block_delta", "index": index, "delta": {"type": type, **fields}}


def T(index, text):
    return D(index, "text_delta", text=text)


def H(index, thinking):
    return D(index, "thinking_delta", thinking=thinking)


def J(index, partial_json):
    return D(index, "input_json_delta", partial_json=partial_json)


def S(index, signature):
    return D(index, "signature_delta", signature=signature)


def C(index, **citation):
    return D(index, "citations_delta", citation=citation)


def X(index):
    return {"type": "content_block_stop", "index": index}


def K(stop_reason="end_turn", usage=None, beside=None, **delta):
    counts = {"output_tokens": 5} if usage is None else usage
    fields = {"stop_reason": stop_reason, "stop_sequence": None, **delta}
    return {"type": "message_delta", "delta": fields, "usage": counts, **(beside or {})}


def E(type="overloaded_error", message="Overloaded", **beside):
    return {"type": "error", "error": {"type": type, "message": message}, **beside}


def text(index, words):
    """
    Return the frames of a whole text.
    """
    return B(index, "text", text=""), T(index, words), X(index)


def tool(index, id="toolu_1", name="f", input='{"a":1}', type="tool_use", **fields):
    """
    Return the frames of a whole call.
    """
    return B(index, type, id=id, name=name, input={}, **fields), J(index, input), X(index)


def result(index, id="srvtoolu_1", content=(), type="web_search_tool_result", **fields):
    """
    Return the frames of a result of a tool of the provider.
    """
    return B(index, type, tool_use_id=id, content=content, **fields), X(index)


def frame(event, spaces=0):
    """
    Return an event as bytes, with so many spaces before the last bracket.
    """
    data = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return b"event: %b\ndata: %b%b}\n\n" % (event["type"].encode(), data[:-1], b" " * spaces)


def stream(*events):
    """
    Return a stream, padded as the service does it.
    """
    return b"".join(frame(event, 7 * at % 16) for at, event in enumerate(events))


def answer(*events, stop_reason="end_turn"):
    """
    Return a stream with a start and an end around these events.
    """
    return stream(M(), *events, K(stop_reason), END)


events = partial(events_of, DIALECT)
message = partial(message_of, DIALECT)


def encoded(*messages, model=MODEL, **body):
    """
    Return the messages of a request for this conversation, with what was dropped as place and reason.
    """
    request = DIALECT.encoder(messages, {"model": model, "max_tokens": 9, **body})
    return request.body["messages"], [(drop.part, str(drop.reason)) for drop in request.drops]
