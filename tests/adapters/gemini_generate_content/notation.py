"""
Streams of the generateContent wire in a few characters each.

`T` a text, `H` a thought, `F` a call, `P` a piece of its arguments, `R` its end, `X` code and `O` its result; a keyword
`sig` is the signature of the part. `C` makes a chunk of parts, `END` is the usual last one, `stream` makes bytes.
"""
# ruff: noqa: N802 - the letters are the notation

import json
from functools import partial

from assistant_events.adapters import load_dialect
from tests.adapters.reading import events_of, message_of

DIALECT = load_dialect("gemini-generate-content")
MODEL = "gemini-3-pro"
USAGE = {"promptTokenCount": 12, "candidatesTokenCount": 8, "thoughtsTokenCount": 40, "totalTokenCount": 60}
HEAD = {"modelVersion": MODEL, "responseId": "r1"}


def signed(part, sig):
    return part if sig is None else {**part, "thoughtSignature": sig}


def T(text, sig=None):
    return signed({"text": text}, sig)


def H(text, sig=None):
    return signed({"text": text, "thought": True}, sig)


def F(name, args=None, sig=None, **fields):
    more = fields if args is None else {"args": args, **fields}
    return signed({"functionCall": {"name": name, **more}}, sig)


def P(path, goes_on=False, last=False, **value):
    argument = {"jsonPath": path, **value, **({"willContinue": True} if goes_on else {})}
    return {"functionCall": {"partialArgs": [argument], **({} if last else {"willContinue": True})}}


R = {"functionCall": {}}


def X(code, sig=None, **fields):
    return signed({"executableCode": {"language": "PYTHON", "code": code, **fields}}, sig)


def O(output, outcome="OUTCOME_OK", **fields):  # noqa: E743 - the letter is the notation
    return {"codeExecutionResult": {"outcome": outcome, "output": output, **fields}}


def candidate(*parts, finish=None, index=0, **fields):
    content = {"content": {"parts": list(parts), "role": "model"}} if parts else {}
    return {**content, **({"finishReason": finish} if finish else {}), "index": index, **fields}


def C(*parts, finish=None, usage=None, head=HEAD, **fields):
    counts = {} if usage is None else {"usageMetadata": usage}
    return {"candidates": [candidate(*parts, finish=finish, **fields)], **counts, **head}


END = C(T(""), finish="STOP", usage=USAGE)


def ended(finish, **fields):
    return C(finish=finish, usage=USAGE, **fields)


def stream(*chunks):
    """
    Return server-sent events with the line ends that the service sends.
    """
    return b"".join(
        b"data: %b\r\n\r\n" % json.dumps(chunk, ensure_ascii=False).encode("utf-8", "surrogatepass") for chunk in chunks
    )


def answer(*parts, end=END):
    """
    Return a stream with one chunk for each part, or for each list of parts, and a last one.
    """
    return stream(*[C(*(part if isinstance(part, list) else [part])) for part in parts], end)


events = partial(events_of, DIALECT)
message = partial(message_of, DIALECT)


def encoded(*messages, model=MODEL, **body):
    """
    Return the contents of a request for this conversation, with what was dropped as place and reason.
    """
    request = DIALECT.encoder(messages, {"model": model, **body})
    return request.body["contents"], [(drop.part, str(drop.reason)) for drop in request.drops]
