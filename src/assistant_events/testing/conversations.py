"""A conversation of several turns with the own model: each text, call and result is sent once, and in its order."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from assistant_events.adapters.dialect import Dialect
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage
from assistant_events.recorder import Recorder
from assistant_events.reducer import fold
from assistant_events.testing.builders import Call, answer, prompt
from assistant_events.testing.mutations import Steps, values_in
from assistant_events.testing.round_trips import MODEL_FIELDS, app_body, encode_twice
from assistant_events.testing.sample import MESSAGE_ID, Sample, require, strings
from assistant_events.testing.written import emitted

_TURNS: Final = ("first", "second", "third")
_CALLS: Final = {"a": "a", "b": "b", "a again": "a", "c": "c"}
"""Calls of an answer, with their tools: of two to one tool, each has its own result."""

_END: Final = "prompt at the end"

_AROUND: Final = ("text before", "text behind")
_BETWEEN: Final = "look_up_between"
_GIVEN: Final = {"at": "given between"}

_PRINTED: Final = ("JsonObject(", "State(")
"""Beginnings of what Python prints of JSON values."""


def check_conversation(dialect: Dialect, request: Mapping[str, Any] | None) -> None:
    """Send several turns, each with four calls at a time: all of it is in the request once, and in its order."""
    encode = dialect.encoder
    if encode is None:
        return
    sample = Sample(dialect, f"{dialect.name}, a conversation of {len(_TURNS)} turns", b"", request=request)
    body = app_body(sample)
    origin = dialect.decoder(MESSAGE_ID, request=body).origin()
    asked = [body[name] for name in MODEL_FIELDS if name in body]
    require(
        not asked or origin.model in asked,
        f"{dialect.name}: an answer is of the model {origin.model!r}, and the request names {asked}",
    )
    events: list[Event] = []
    for turn in _TURNS:
        calls = [
            Call(f"look_up_{turn}_{tool}", {"at": at}, output={"seen": f"seen {turn} {at}."})
            for at, tool in _CALLS.items()
        ]
        events += [
            prompt(f"prompt {turn}", message_id=f"u-{turn}"),
            *answer(f"asked {turn}", calls=calls, origin=origin, message_id=f"a-{turn}"),
            *answer(f"answer {turn}", origin=origin, message_id=f"b-{turn}"),
        ]
    events.append(prompt(_END, message_id="u-end"))
    found = encode_twice(sample, encode, events, body, provider=origin.provider, mode="full")
    texts = "\x00".join(strings(found.body))
    said: list[str] = []
    for turn in _TURNS:
        said += [f"prompt {turn}", f"asked {turn}", *[f"seen {turn} {at}." for at in _CALLS], f"answer {turn}"]
    for text in said:
        count = texts.count(text)
        require(count == 1, f"{sample.name}: {text!r} is in the request {count} times, expected once")
    names = [f"look_up_{turn}_{at}" for turn in _TURNS for at in dict.fromkeys(_CALLS.values())]
    for before, after in (*pairwise([*said, _END]), *pairwise(names)):
        is_behind = -1 < texts.find(before) < texts.find(after)
        require(is_behind, f"{sample.name}: {after!r} is not in the request behind {before!r}")
    printed = [each for each in _PRINTED if each in texts]
    require(not printed, f"{sample.name}: JSON of a result is in the request as Python prints it: {printed}")


def check_order_in_answer(dialect: Dialect, request: Mapping[str, Any] | None) -> None:
    """Send and write a call between two texts: where one array holds all three, it is between them."""
    sample = Sample(dialect, f"{dialect.name}, a call between two texts", b"", request=request)
    body = app_body(sample)
    origin = dialect.decoder(MESSAGE_ID, request=body).origin()
    recorder = Recorder(MESSAGE_ID)
    events = [
        *recorder.start(origin),
        *recorder.text(_AROUND[0]),
        *recorder.tool_call("call_between", _BETWEEN, _GIVEN),
    ]
    events += [*recorder.text(_AROUND[1]), *recorder.finish("tool-calls")]
    documents: dict[str, object] = {}
    if dialect.encoder is not None:
        asked = [prompt("prompt", message_id="u"), *events]
        documents["the request"] = encode_twice(
            sample, dialect.encoder, asked, body, provider=origin.provider, mode="full"
        ).body
    last = fold(events).last
    if dialect.emit_resource is not None and isinstance(last, AssistantMessage):
        documents["the document"] = dialect.emit_resource(last)
    for where, document in documents.items():
        texts = strings(document)
        require(
            _BETWEEN not in texts or any(_GIVEN["at"] in text for text in texts),
            f"{sample.name}: the input of the call, which came whole, is not in {where}; it has an `input` and no "
            "`raw_input`",
        )
        values = reversed([*values_in(document)])
        found = {value: steps for steps, value in values if isinstance(value, str)}  # the first of each
        if _BETWEEN not in found or any(text not in found for text in _AROUND):
            continue  # the wire has one text an answer
        places = [found[text] for text in (_AROUND[0], _BETWEEN, _AROUND[1])]
        ordered = [_are_in_order(*pair) for pair in pairwise(places)]
        require(False not in ordered, f"{sample.name}: in {where} it is not between them")
        if None in ordered:
            continue  # the wire has calls beside texts, in a field of their own
        if where == "the document" and dialect.emitter is not None:
            written = Sample(dialect, sample.name, emitted(dialect.emitter(), events, sample.name), request=request)
            kinds = [part.type for each in written.answers for part in each.parts]
            inputs = [call.input for call in written.calls]
            require(kinds == ["text", "tool", "text"], f"{sample.name}: its stream is read as {kinds}")
            require(inputs == [_GIVEN], f"{sample.name}: in its stream the call has the input {inputs}")


def _are_in_order(one: Steps, other: Steps) -> bool | None:
    """Return whether items of one array are in this order; `None` for fields of one object, which have no order."""
    keys = next(((mine, its) for mine, its in zip(one, other, strict=False) if mine != its), None)
    match keys:
        case int(mine), int(its):
            return mine < its
        case _:
            return None
