"""
Events, records and messages in one line each, for tests.

Everything here is made by the recorder or by the classes themselves, so what comes out is legal. Ids are fixed words
(`u1` for a prompt, `a1` for an answer, `c1` for a compaction, `s1` for a session) unless others are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Literal, final, overload

import attrs

from assistant_events import events as ev
from assistant_events import values as v
from assistant_events.messages import AssistantMessage
from assistant_events.recorder import Recorder
from assistant_events.reducer import fold
from assistant_events.testing.fixed_ids_and_clock import Clock
from assistant_events.values.validators import NO_FIELDS, NO_STATE

_Json = Mapping[str, object]


def origin(
    provider: str = "acme",
    model: str | None = "acme-1",
    dialect: str = "acme-chat",
    *,
    served_model: str | None = None,
) -> v.Origin:
    """Return an origin."""
    return v.Origin(provider=provider, model=model, dialect=dialect, served_model=served_model)


def run(id: str = "run-1", *, resumable: bool = True, kind: str = "response") -> v.RemoteRun:
    """Return a run, resumable by default."""
    return v.RemoteRun(id=id, resumable=resumable, kind=kind)


def error(kind: v.ErrorKind | str = v.ErrorKind.PROVIDER, message: str = "it broke") -> v.ErrorInfo:
    """Return an error."""
    return v.ErrorInfo(kind=kind, message=message)


def prompt(content: v.ContentInput = "hi", *, message_id: str = "u1") -> ev.PromptSubmitted:
    """Return a prompt; *content* is converted by `as_content`."""
    return ev.PromptSubmitted(message_id=message_id, content=content)


def rewind(message_id: str) -> ev.HistoryRewound:
    """Return the event that takes a message and all after it out of the transcript."""
    return ev.HistoryRewound(message_id=message_id)


@final
@attrs.frozen
class Call:
    """A call for `answer`, and what becomes of it."""

    name: str

    input: _Json | str = NO_FIELDS
    """The arguments, or the raw text that the model writes, valid or not."""

    call_id: str | None = attrs.field(default=None, kw_only=True)
    """`None` for `call-1`, `call-2`, … in their order."""

    output: v.ContentInput | None = attrs.field(default=None, kw_only=True)
    """What answers it: by the provider before the step ends, by the app after it. `None` for no answer."""

    error: v.ErrorInfo | None = attrs.field(default=None, kw_only=True)
    """Why it failed; with it *output* is what it had so far."""

    provider_executed: bool = attrs.field(default=False, kw_only=True)
    state: _Json = attrs.field(default=NO_STATE, kw_only=True)
    result_state: _Json = attrs.field(default=NO_STATE, kw_only=True)


def answer(
    text: str = "",
    *,
    reasoning: str = "",
    calls: Sequence[Call] = (),
    message_id: str = "a1",
    origin: v.Origin | None = None,
    run: v.RemoteRun | None = None,
    finish_reason: v.FinishReason | str | None = None,
    usage: v.Usage | None = None,
    error: v.ErrorInfo | None = None,
    citations: Sequence[v.Citation] = (),
    state: _Json = NO_STATE,
    text_state: _Json = NO_STATE,
    reasoning_state: _Json = NO_STATE,
    size: int = 4,
) -> list[ev.Event]:
    """
    Return a whole step as events, live ones included: reasoning, text, calls, the step's end, then the app's answers.

    Text and reasoning that are empty and without state are left out. By default *origin* is that of `origin()`, and
    *finish_reason* is `tool-calls` when the app has a call to run, else `stop`. With *error* the step fails instead of
    ending, with whole fragments, and the calls of the app fail with it. A delta has *size* characters.
    """
    sink: list[ev.Event] = []
    recorder = Recorder(message_id, sink=sink)
    recorder.start(_ORIGIN if origin is None else origin, run, state)
    for piece in _pieces(reasoning, size):
        recorder.reasoning(piece)
    recorder.end_reasoning(reasoning_state)
    for piece in _pieces(text, size):
        recorder.text(piece)
    if citations or text or text_state:
        recorder.begin(None, "text")
        recorder.end_text(text_state, None, citations)
    keys = [_record_call(recorder, call, at, size) for at, call in enumerate(calls)]
    if error is not None:
        recorder.fail(error, usage)
        return sink
    runs = bool(recorder.unanswered(provider_executed=False))
    recorder.finish(finish_reason or (v.FinishReason.TOOL_CALLS if runs else v.FinishReason.STOP), None, usage)
    for call, key in zip(calls, keys, strict=True):
        if not call.provider_executed:
            _record_answer(recorder, call, key)
    return sink


def message(events: Iterable[ev.Event]) -> AssistantMessage:
    """Return the one answer that *events* fold to."""
    last = fold(events, strict=True).last
    assert isinstance(last, AssistantMessage)
    return last


@overload
def deltas(text: str, *, message_id: str = ..., size: int = ...) -> list[ev.TextDelta]: ...
@overload
def deltas(
    text: str, *, kind: Literal["reasoning"], message_id: str = ..., size: int = ...
) -> list[ev.ReasoningDelta]: ...
@overload
def deltas(
    text: str, *, kind: Literal["compaction"], message_id: str = ..., size: int = ...
) -> list[ev.CompactionDelta]: ...
@overload
def deltas(text: str, *, call_id: str, message_id: str = ..., size: int = ...) -> list[ev.ToolInputDelta]: ...
def deltas(
    text: str,
    *,
    kind: Literal["text", "reasoning", "compaction"] = "text",
    call_id: str | None = None,
    message_id: str = "a1",
    size: int = 4,
) -> list[Any]:
    """Return *text* as deltas of *size* characters each: of the text, or of another kind, or of the input of a call."""
    # Any: the class is that of the overload.
    make = _DELTAS[kind] if call_id is None else partial(ev.ToolInputDelta, call_id=call_id)
    pieces = enumerate(_pieces(text, size))
    return [make(message_id=message_id, offset=number * size, delta=piece) for number, piece in pieces]


def compaction(
    text: str = "so far",
    *,
    reason: Literal["auto", "manual"] = "auto",
    message_id: str = "c1",
    origin: v.Origin | None = None,
    size: int = 4,
) -> list[ev.Event]:
    """Return a summary that the app wrote, as events, live ones included."""
    return [
        ev.CompactionStarted(message_id=message_id, reason=reason, origin=origin),
        *deltas(text, kind="compaction", message_id=message_id, size=size),
        ev.CompactionEnded(message_id=message_id, text=text),
    ]


def durable(events: Iterable[ev.Event]) -> list[ev.DurableEvent | ev.UnknownEvent]:
    """Return the durable ones of *events*."""
    return list(filter(ev.is_durable, events))


def records(
    events: Iterable[ev.Event],
    *,
    session_id: str = "s1",
    after: int = 0,
    clock: Callable[[], datetime] | None = None,
    meta: _Json = NO_FIELDS,
) -> list[ev.Record]:
    """
    Return the durable ones of *events* as a log holds them.

    *after* is the `seq` of the record before the first. *clock* returns the time of each record, a `Clock` by default;
    all of them have the same *meta*.
    """
    now = Clock() if clock is None else clock
    return [
        ev.Record(session_id=session_id, seq=seq, at=now(), event=event, meta=v.JsonObject(meta))
        for seq, event in enumerate(durable(events), after + 1)
    ]


_ORIGIN = origin()
_DELTAS = {"text": ev.TextDelta, "reasoning": ev.ReasoningDelta, "compaction": ev.CompactionDelta}


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _record_call(recorder: Recorder, call: Call, key: int, size: int) -> int:
    raw = call.input if isinstance(call.input, str) else v.write_json(call.input).decode()
    call_id = call.call_id or f"call-{key + 1}"
    recorder.tool_input(call_id, call.name, key=key, provider_executed=call.provider_executed, state=call.state)
    for piece in _pieces(raw, size):
        recorder.tool_input(call_id, call.name, piece, key=key)
    recorder.end_tool_input(key=key)
    if call.provider_executed:
        _record_answer(recorder, call, key)
    return key


def _record_answer(recorder: Recorder, call: Call, key: int) -> None:
    if call.error is not None or call.output is not None:
        output = () if call.output is None else call.output
        recorder.result(None, output, call.error, state=call.result_state, key=key)
