"""
Streams of the Chat Completions wire in a few characters each.

`D` is a chunk with a delta, `T`, `R` and `J` those of text, reasoning and input, `F` one with the reason to finish, `U`
one with the usage, `E` one with an error, `DONE` the mark of the end.
"""
# ruff: noqa: N802 - the letters are the notation

import json
from functools import partial

from assistant_events.adapters import load_dialect
from assistant_events.values import thaw
from tests.adapters.reading import events_of, message_of

DIALECT = load_dialect("openai-chat")
MODEL = "gpt-5.5"
DONE = "[DONE]"
HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000000, "model": MODEL}


def chunk(*choices, **more):
    return {**HEAD, "choices": list(choices), **more}


def D(finish_reason=None, choice=None, chunk=None, **delta):
    written = {"index": 0, "delta": delta, "finish_reason": finish_reason, **(choice or {})}
    return {**HEAD, "choices": [written], **(chunk or {})}


def T(content):
    return D(content=content)


def R(text, field="reasoning_content"):
    return D(**{field: text})


def J(arguments=None, index=0, id=None, name=None, **more):
    """
    Return a chunk with a piece of a call; what is `None` is not in it.
    """
    function = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    call = {key: value for key, value in {"index": index, "id": id}.items() if value is not None}
    return D(tool_calls=[{**call, "function": function, **more}])


def F(finish_reason="stop", choice=None, chunk=None, **delta):
    return D(finish_reason, choice, chunk, **delta)


def U(prompt=10, completion=5, **more):
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion, **more}
    return chunk(usage=usage)


def E(message="Overloaded", **error):
    return {"error": {"message": message, **error}}


def frame(event):
    """
    Return a chunk, or a mark, as bytes.
    """
    data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return b"data: %b\n\n" % data.encode("utf-8", "surrogatepass")


def stream(*events):
    return b"".join(map(frame, events))


def answer(*events, finish_reason="stop"):
    """
    Return a stream with a role, and an end with usage, around these chunks.
    """
    return stream(D(role="assistant", content=""), *events, F(finish_reason), U(), DONE)


def document(finish_reason="stop", choice=None, usage=None, **message):
    """
    Return an answer as one document.
    """
    written = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
    counts = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15} if usage is None else usage
    head = {**HEAD, "object": "chat.completion"}
    return {**head, "choices": [{**written, **(choice or {})}], "usage": counts}


events = partial(events_of, DIALECT)
message = partial(message_of, DIALECT)


def parts(body, **options):
    """
    Return type, content and state of each part; of a call its id, name, input and status.
    """
    found = []
    for part in message(body, **options).parts:
        state = thaw(part.state)
        match part.type:
            case "text" | "reasoning":
                found.append((part.type, part.text, state))
            case "tool":
                found.append((part.type, part.call_id, part.name, thaw(part.input), part.status.value, state))
            case "media":
                found.append((part.type, part.media_type, part.data or part.uri, state))
            case _:
                found.append((part.type, state))
    return found


def encoded(*messages, model=MODEL, provider="openai", **body):
    """
    Return the messages of a request for this conversation, with what was dropped as place and reason.
    """
    request = DIALECT.encoder(messages, {"model": model, **body}, provider=provider)
    return request.body["messages"], [(drop.part, str(drop.reason)) for drop in request.drops]
