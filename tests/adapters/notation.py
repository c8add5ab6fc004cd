"""
Streams of the Interactions wire in a few characters each, and the events they become.

Wire: `C` created, `U` status update, `S` step.start, `D` step.delta, `X` step.stop, `K` completed, `E` error; items of
steps come from `th`, `mo`, `fc`, `step`; deltas from `text`, `summary`, `signature`, `args`, `delta`. `stream` makes
bytes of them.

Events: `events` decodes, `durable` is what is kept of it, and the builders below write down what is expected: each
gives one event of message `m`, or all of a fragment.
"""
# ruff: noqa: N802 - the letters are the notation of the wire reference

import json
import os

from assistant_events import (
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    Origin,
    ReasoningEnded,
    ReasoningStarted,
    RemoteRun,
    StepEnded,
    StepFailed,
    StepStarted,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputEnded,
    ToolInputStarted,
    ToolSuccess,
    find_problems,
    fold,
)
from assistant_events.adapters import load_dialect
from assistant_events.values import ErrorInfo, Usage

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
"""Whether tests that cost a function of every byte try all of them."""

DIALECT = load_dialect("gemini-interactions")
DONE = "[DONE]"
MODEL = "gemini-3.6-flash"
USAGE = {"total_input_tokens": 10, "total_output_tokens": 3, "total_tokens": 13}


# -- the wire


def C(id="v1", **more):
    return {"event_type": "interaction.created", "interaction": {"id": id, "model": MODEL, **more}}


def U(status="in_progress", **more):
    return {"event_type": "interaction.status_update", "status": status, **more}


def S(index, step):
    return {"event_type": "step.start", "index": index, "step": step}


def D(index, delta):
    return {"event_type": "step.delta", "index": index, "delta": delta}


def X(index):
    return {"event_type": "step.stop", "index": index}


def K(status="completed", id="v1", usage=USAGE, **more):
    kept = {} if usage is None else {"usage": usage}
    return {"event_type": "interaction.completed", "interaction": {"id": id, "status": status, **kept, **more}}


def E(code=None, message=None):
    error = {key: value for key, value in (("code", code), ("message", message)) if value is not None}
    return {"event_type": "error", "error": error}


def old(event):
    """
    Return an event as generation 1.x names it.
    """
    names = {
        "interaction.created": "interaction.start",
        "interaction.completed": "interaction.complete",
        "step.start": "content.start",
        "step.delta": "content.delta",
        "step.stop": "content.stop",
    }
    changed = {**event, "event_type": names[event["event_type"]]}
    if "step" in changed:
        changed["content"] = changed.pop("step")
    return changed


def step(type, **fields):
    return {"type": type, **fields}


def th(**fields):
    return step("thought", **fields)


def mo(*texts, **fields):
    content = {"content": [{"type": "text", "text": text} for text in texts]} if texts else {}
    return step("model_output", **content, **fields)


def fc(id="c1", name="f", arguments=None, **fields):
    return step("function_call", id=id, name=name, arguments={} if arguments is None else arguments, **fields)


def delta(type, **fields):
    return {"type": type, **fields}


def text(text):
    return delta("text", text=text)


def summary(text):
    return delta("thought_summary", content={"type": "text", "text": text})


def signature(value):
    return delta("thought_signature", signature=value)


def args(piece):
    return delta("arguments_delta", arguments=piece)


def citation(url, start, end, **more):
    return {"type": "url_citation", "url": url, "start_index": start, "end_index": end, **more}


def notes(*annotations):
    return delta("text_annotation_delta", annotations=list(annotations))


def frame(event, *, named=True, end="\n"):
    """
    Return one event as the service sends it.
    """
    if event == DONE:
        return f"event: done{end}data: [DONE]{end}{end}".encode()
    data = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    name = f"event: {event['event_type']}{end}" if named else ""
    return f"{name}data: {data}{end}{end}".encode("utf-8", "surrogatepass")


def stream(*wire, **how):
    """
    Return the bytes of a whole stream.
    """
    return b"".join(frame(event, **how) for event in wire)


def answer(*wire):
    """
    Return the bytes of a stream that begins and ends as usual.
    """
    return stream(C(), *wire, K(), DONE)


# -- what it becomes


def decoder(message_id="m", **how):
    return DIALECT.decoder(message_id, **how)


def decoded(data, **how):
    """
    Return a closed decoder and the events of these bytes, having checked that they are legal.
    """
    made = decoder(**how)
    caused = made.feed(data) + made.close()
    assert made.failure is None
    assert [] == find_problems(caused)
    assert fold(caused) == fold([event for event in caused if event.durable])
    return made, caused


def events(data, **how):
    return decoded(data, **how)[1]


def durable(data, **how):
    """
    Return what is kept of these bytes.
    """
    return [event for event in events(data, **how) if event.durable]


def inner(data, **how):
    """
    Return what is kept between the start of the step and its end.
    """
    return durable(data, **how)[1:-1]


def terminal(data, **how):
    return durable(data, **how)[-1]


def message(data, **how):
    last = fold(events(data, **how)).last
    assert last is not None
    return last


def codes(data, **how):
    """
    Return the codes of the decoder's notes.
    """
    return [note.code for note in decoded(data, **how)[0].notes]


# -- the events that are expected


def started(id="v1", model=MODEL, *, served=MODEL, message_id="m", state=None, run=...):
    if run is ...:
        run = RemoteRun(id=id, kind="interaction") if id else None
    known = {"interaction_id": id} if id else {}
    return StepStarted(
        message_id=message_id,
        origin=Origin(provider="google", model=model, dialect="gemini-interactions", served_model=served),
        run=run,
        state=known if state is None else state,
    )


def ended(finish_reason="stop", raw="completed", *, id="v1", usage=..., message_id="m", state=None):
    if usage is ...:
        usage = Usage(input_tokens=10, output_tokens=3, details=USAGE)
    known = {"interaction_id": id} if id else {}
    return StepEnded(
        message_id=message_id,
        finish_reason=finish_reason,
        raw_finish_reason=raw,
        usage=usage,
        run=RemoteRun(id=id, kind="interaction") if id else None,
        state=known if state is None else state,
    )


def failed(error, *, id="v1", usage=None, state=None):
    known = {"interaction_id": id} if id else {}
    return StepFailed(
        message_id="m",
        error=error,
        usage=usage,
        run=RemoteRun(id=id, kind="interaction") if id else None,
        state=known if state is None else state,
    )


def interrupted(message="the stream stopped before its end", retryable=True):
    return ErrorInfo(kind="interrupted", message=message, retryable=retryable)


def text_of(words, i=0, *, complete=True, citations=(), message_id="m", **state):
    """
    Return both durable events of a text.
    """
    kept = {"i": i, **state}
    return [
        TextStarted(message_id=message_id),
        TextEnded(message_id=message_id, text=words, complete=complete, citations=citations, state=kept),
    ]


def reasoning_of(words, i=0, *, complete=True, **state):
    kept = {"i": i, **state}
    return [
        ReasoningStarted(message_id="m"),
        ReasoningEnded(message_id="m", text=words, complete=complete, state=kept),
    ]


def media_of(media_type, data=None, uri=None, i=0, *, complete=True, **state):
    return [
        MediaStarted(message_id="m", media_type=media_type),
        MediaEnded(
            message_id="m", media_type=media_type, data=data, uri=uri, complete=complete, state={"i": i, **state}
        ),
    ]


def input_of(call_id, raw, name="f", i=0, *, provider=False, complete=True, **state):
    """
    Return both durable events of the input of a call.
    """
    return [
        ToolInputStarted(message_id="m", call_id=call_id, name=name, provider_executed=provider),
        ToolInputEnded(message_id="m", call_id=call_id, text=raw, complete=complete, state={"i": i, **state}),
    ]


def called(call_id, input, name="f", *, provider=False):
    return ToolCalled(message_id="m", call_id=call_id, name=name, input=input, provider_executed=provider)


def call_of(call_id, raw, name="f", i=0, *, provider=False, **state):
    """
    Return the three events of a call that has no answer: *raw* is its input.
    """
    return [
        *input_of(call_id, raw, name, i, provider=provider, **state),
        called(call_id, json.loads(raw), name, provider=provider),
    ]


def success(call_id, output=(), **state):
    return ToolSuccess(message_id="m", call_id=call_id, output=output, provider_executed=True, state=state)


def failure(call_id, kind, message, output=(), *, provider=True, **state):
    return ToolFailed(
        message_id="m",
        call_id=call_id,
        error=ErrorInfo(kind=kind, message=message),
        output=output,
        provider_executed=provider,
        state=state,
    )


def opaque(i, **state):
    return OpaqueReceived(message_id="m", state={"i": i, **state})
