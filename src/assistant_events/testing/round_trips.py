"""What is sent and written of a sample: requests, streams and documents."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, cast

import attrs

from assistant_events import messages as msg
from assistant_events import values as v
from assistant_events.adapters.call_results import NO_ANSWER
from assistant_events.adapters.encoded import Encode, Encoded, EncodeMode
from assistant_events.converters import dumps
from assistant_events.events import Event
from assistant_events.history import Drop, DropReason, select
from assistant_events.reducer import fold
from assistant_events.testing.builders import error, prompt
from assistant_events.testing.conservation import is_failure
from assistant_events.testing.order import check_order, check_order_of_parts
from assistant_events.testing.sample import (
    MESSAGE_ID,
    Sample,
    id_of,
    leaves,
    named,
    no_error,
    objects,
    opaque_strings,
    parts_of,
    require,
    strings,
)

_MODEL: Final = "check-1"
_MARK: Final = "output-of-this-call-{}-{}"
_SPACED: Final = "  {}\r\n\t{} {}\n"
"""The text of a result, with blanks that have to be sent."""

_PRINTED: Final = re.compile(r"\{'|Content\(")
"""What an object, or content, has when it is printed in place of written as JSON."""

_OF_APP: Final = "a value of the app"
_APP_FIELD: Final = {"x-check": {"of": ["the app"]}}
"""A field of the body that no encoder knows."""

_STRANGE: Final = re.compile(r"[^\w-]", re.ASCII)
"""What most services refuse in the name of a function, although a model may write it."""

_IDS: Final = re.compile(r"(^id|_id|Id)$")
"""Names of fields with the id of a call, of most wires."""

_SHORT: Final = 5
"""Shorter texts occur in others by chance."""

_LONG_ID: Final = 40
"""Longer ids of calls may be refused by another server of the same wire."""

MODEL_FIELDS: Final = ("modelId", "model", "agent")
"""Names of the field with the model, of most wires."""

_SUCCESS: Final = re.compile("success|succeeded|ok", re.IGNORECASE)
"""Words for a call that has not failed, on most wires."""

_MODES: Final[tuple[EncodeMode, ...]] = ("full", "auto")

_OPAQUE: Final = 16
"""Length from which on a string of state is looked for in a request."""

_OF_MESSAGE: Final = 8
"""The same of the state of a message, which is ids."""

# -- requests


def check_encoder(sample: Sample) -> None:
    """Send the sample's answer back: every call has its result, and all state that may go is there, once."""
    encode = sample.dialect.encoder
    if encode is None:
        return
    body = app_body(sample)
    own = Sample(sample.dialect, sample.name, sample.body, request=body)
    origin = next((message.origin for message in own.answers), None)
    provider = None if origin is None else origin.provider
    completed = [message for message in own.answers if message.status is msg.MessageStatus.COMPLETED]
    calls = [call for message in completed for call in message.tool_calls if not call.settled]
    calls = [call for call in calls if not call.provider_executed]

    def answer_with(what: str) -> tuple[Encoded, list[Event]]:
        marks = {call.call_id: [_MARK.format(at, each) for each in "abc"] for at, call in enumerate(calls)}
        results = [_OUTPUTS[what](call, *marks[call.call_id]) for call in calls]
        events = [*prompt_events("u0"), *own.events, *results, *prompt_events("u9")]
        encoded = encode_twice(sample, encode, events, body, where=what, provider=provider, mode="full")
        _check_results(sample, encoded, events, marks, what)
        return encoded, events

    encoded, answered = answer_with("")
    for what in _OTHER_OUTPUTS if calls else ():
        answer_with(what)
    _check_empty(sample, encode, [*prompt_events("u0"), *own.events], body, provider)
    _check_failures(sample, encode, [*prompt_events("u0"), *own.events], body, provider)
    _check_content(sample, encoded, answered)
    check_order(sample, encoded, answered)
    check_order_of_parts(sample, encode, answered, body, provider)
    if origin is not None:
        _check_state(sample, encoded, answered, origin)
    open_calls = encode_twice(sample, encode, [*prompt_events("u0"), *own.events], body, provider=provider, mode="full")
    unanswered = [drop for drop in open_calls.drops if drop.reason is DropReason.NO_ANSWER]
    repaired = sum([text.count(NO_ANSWER) for text in strings(open_calls.body)])
    reworded = [drop for drop in open_calls.drops if drop.reason is DropReason.REWORDED]
    require(
        repaired == len(unanswered) or bool(reworded),
        f"{sample.name}: the request has {repaired} calls without a result, and {len(unanswered)} drops for them",
    )
    encode_twice(sample, encode, answered, body, provider=provider, mode="auto")
    stripped = encode_twice(sample, encode, answered, body, provider=provider, mode="full", strip=True)
    if origin is None:
        return
    _check_left_out(sample, stripped, answered, origin, strip=True)
    key = next((name for name in MODEL_FIELDS if name in body), "model")
    for mode in _MODES:
        elsewhere = encode_twice(sample, encode, answered, body, provider="another-provider", mode=mode)
        _check_left_out(sample, elsewhere, answered, attrs.evolve(origin, provider="another-provider"), strip=False)
        other = encode_twice(sample, encode, answered, {**body, key: "another-model"}, provider=provider, mode=mode)
        _check_left_out(sample, other, answered, attrs.evolve(origin, model="another-model"), strip=False)


def check_body(sample: Sample) -> None:
    """Check that what the app puts into the body wins over what an encoder adds, and that its messages are sent."""
    encode = sample.dialect.encoder
    if encode is None:
        return
    body, events = app_body(sample), [*prompt_events("u0"), *sample.events, *prompt_events("u9")]
    provider = next((message.origin.provider for message in sample.answers), None)
    made = encode_twice(sample, encode, events, body, provider=provider, mode="full").body
    for key in made.keys() - body.keys() - _conversation_fields(sample):
        if isinstance(made[key], str):
            # It looks for all of the body.
            encode_twice(sample, encode, events, {**body, key: _OF_APP}, provider=provider, mode="full")
    instructions = {"messages": [{"role": "system", "content": _OF_APP}]}
    try:
        sent = encode(fold(events), {**body, **instructions}).body
    except ValueError:
        return
    require(_OF_APP in "\x00".join(strings(sent)), f"{sample.name}: {instructions} of the app is not in the request")


def prompt_events(message_id: str) -> list[Event]:
    """Return a prompt."""
    return [prompt(f"prompt {message_id}", message_id=message_id)]


def app_body(sample: Sample) -> dict[str, Any]:
    """Return the app's part of the request."""
    request = {"model": _MODEL} if sample.request is None else sample.request
    own = _conversation_fields(sample)
    return {**{key: deepcopy(value) for key, value in request.items() if key not in own}, **_APP_FIELD}


def _conversation_fields(sample: Sample) -> set[str]:
    owner = getattr(sample.dialect.encoder, "__self__", None)
    own: Collection[str] = getattr(owner, "conversation_fields", ())
    stored: str = getattr(owner, "stored_field", "")
    return {*own, stored, "messages"}


def encode_twice(
    sample: Sample,
    encode: Encode,
    events: Sequence[Event],
    body: dict[str, Any],
    *,
    where: str = "",
    provider: str | None = None,
    mode: EncodeMode,
    strip: bool = False,
) -> Encoded:
    """Return a request, after the same conversation has made it twice without a change of what was given."""
    transcript, given = fold(events), deepcopy(body)
    name = f"{sample.name}{where}"
    with no_error(f"{name}: the encoder"):
        found = encode(transcript, body, mode=mode, provider=provider, strip=strip)
        again = encode(transcript, body, mode=mode, provider=provider, strip=strip)
    require(found == again, f"{name}: the same conversation makes another request the second time")
    require(body == given and transcript == fold(events), f"{name}: the encoder changes what it is given")
    try:
        json.dumps(found.body, allow_nan=False)
    except (TypeError, ValueError) as failure:
        raise AssertionError(f"{name}: the request is not JSON: {failure}") from failure
    sent = set(leaves(found.body))
    lost = [".".join(path) for path, leaf in leaves(body) if (path, leaf) not in sent]
    require(not lost, f"{name}: {', '.join(lost)} of the app's body is not in the request")
    return found


_OUTPUTS: Final[Mapping[str, Callable[[msg.ToolPart, str, str, str], Event]]] = {
    "": lambda call, one, two, three: call.succeed(_SPACED.format(one, two, three)),
    ", several contents": lambda call, one, two, three: call.succeed(
        [v.TextContent(one), v.JsonContent({"k": two}), v.TextContent(three)]
    ),
    ", failed calls": lambda call, one, two, three: call.fail(
        error("tool", one), output=[v.TextContent(two), v.JsonContent({"k": three})]
    ),
}
"""By what they are, the results of the app, which have three texts each."""

_OTHER_OUTPUTS: Final = [what for what in _OUTPUTS if what]


def _check_results(
    sample: Sample, encoded: Encoded, events: Sequence[Event], marks: Mapping[str, Sequence[str]], what: str
) -> None:
    """Check that each text of each result is in the body once, behind its call and with the id of it."""
    texts = strings(encoded.body)
    holders = [(ids_in(fields), fields) for _, fields in objects(encoded.body)]
    came = set(sample.strings)
    for message in fold(events).messages:
        for at, part in enumerate(getattr(message, "parts", ())):
            known = marks.get(part.call_id, ()) if isinstance(part, msg.ToolPart) else ()
            dropped = [drop for drop in encoded.drops if (drop.message_id, drop.part) == (message.id, at)]
            is_out = any(drop.whole for drop in dropped)
            where = f"{sample.name}{what}: the result of call {getattr(part, 'call_id', '')!r}"
            for mark in known:
                found = sum([text.count(mark) for text in texts])
                require(found == (0 if is_out else 1), f"{where} is in the request {found} times")
                printed = [text for text in texts if mark in text and _PRINTED.search(text)]
                require(not printed, f"{where} is in the request as Python prints it: {printed[:1]!r:.100}")
            if known and not is_out:
                _check_ids(holders, known[0], where)
                spaced = _SPACED.format(*known)
                written = (spaced, json.dumps(spaced)[1:-1])
                require(
                    bool(what) or any(each in text for text in texts for each in written),
                    f"{where} is in the request without its blanks: {[text for text in texts if known[0] in text]}",
                )
            if known and not any(drop.whole or drop.reason is DropReason.REWORDED for drop in dropped):
                assert isinstance(part, msg.ToolPart)
                _check_named(holders, known[0], part, fold(events), where)
                _check_known_by_id(holders, known[0], part, fold(events), where)
                given = id_of(part)
                require(
                    not given or len(given) > _LONG_ID or given not in came or given in texts,
                    f"{sample.name}: call {part.call_id!r} is in the request without its id {given!r}, as the provider "
                    "gave it",
                )


def _check_empty(
    sample: Sample, encode: Encode, events: list[Event], body: dict[str, Any], provider: str | None
) -> None:
    """Check that a call whose result is empty has one all the same."""
    calls = [call for call in fold(events).pending_tool_calls if call.message_id == MESSAGE_ID]
    names = {name for call in calls for name in _names_of(call) if name}
    named: list[list[str]] = []
    for output in (_OF_APP, "") if calls else ():
        results: list[Event] = [call.succeed(output) for call in calls]
        sent = encode_twice(sample, encode, events + results, body, provider=provider, mode="full").body
        named.append([text for text in strings(sent) if text in names])
    require(
        not named or named[0] == named[1],
        f"{sample.name}: with results that are empty the request names {named[1:]}, with others {named[:1]}: each call "
        "needs a result",
    )


def _check_failures(
    sample: Sample, encode: Encode, events: list[Event], body: dict[str, Any], provider: str | None
) -> None:
    """Check that a request shows which calls have failed, where the wire has a mark for that."""
    pending = [call for call in fold(events).pending_tool_calls if call.message_id == MESSAGE_ID]
    calls = [call for call in pending if call.input is not None]  # others have failed before they are run
    if not calls or not getattr(getattr(encode, "__self__", None), "marks_failures", False):
        return
    fault = error("tool", _OF_APP)
    ways: list[list[Event]] = [[call.succeed(_OF_APP) for call in calls], [call.fail(fault) for call in calls]]
    ways.extend([each.fail(fault) if each is call else each.succeed(_OF_APP) for each in calls] for call in calls)
    sent = [encode_twice(sample, encode, events + way, body, provider=provider, mode="full").body for way in ways]
    require(
        sent[0] not in sent[1:],
        f"{sample.name}: a request has failed calls as if they had succeeded, although the encoder `marks_failures`",
    )
    called = [sum([_SUCCESS.fullmatch(text) is not None for text in strings(each)]) for each in sent]
    marked = [sum([is_failure(path, leaf) for path, leaf in leaves(each)]) for each in sent]
    require(
        called[1] <= called[0] and marked[0] <= marked[1],
        f"{sample.name}: a request calls a success what has failed, or a failure what has not: {sent[1]!r:.200}",
    )


def _check_ids(holders: Sequence[tuple[list[str], object]], mark: str, where: str) -> None:
    """Check that an object with the id of a result is before the one that has it: the call."""
    places = [at for at, (ids, inside) in enumerate(holders) if ids and _has(inside, mark)]
    if places:
        ids = holders[places[-1]][0]
        calls = [
            at for at, (each, inside) in enumerate(holders) if not _has(inside, mark) and not set(each).isdisjoint(ids)
        ]
        require(bool(calls), f"{where} has the id {ids[0]!r}, which nothing else in the request has")
        require(calls[0] < places[-1], f"{where} is in the request before its call")


def _check_named(
    holders: Sequence[tuple[list[str], object]], mark: str, call: msg.ToolPart, transcript: msg.Transcript, where: str
) -> None:
    """Check that what is around a result names its call, if any: not another one."""
    own = _names_of(call)
    calls = [each for message in transcript.messages for each in getattr(message, "tool_calls", ())]
    names = {name for each in calls for name in _names_of(each)}
    around = (names.intersection(strings(inside)) for _, inside in reversed(holders) if _has(inside, mark))
    found = next((each for each in around if each), own)
    require(not own.isdisjoint(found), f"{where} is in the request as that of {min(found)!r}, which is another call")
    fields = [*_named_fields(inside for _, inside in holders)]
    keys = {key for key, leaf in fields if leaf == call.name}
    for key, leaf in _named_fields(inside for _, inside in _innermost(holders, mark)):
        require(key not in keys or leaf in own, f"{where} is in the request with the {key} {leaf!r}")


def _check_known_by_id(
    holders: Sequence[tuple[list[str], object]], mark: str, call: msg.ToolPart, transcript: msg.Transcript, where: str
) -> None:
    """Check that a result has the id of its call, where calls have theirs and another one has the same name."""
    others = [each for message in transcript.messages for each in getattr(message, "tool_calls", ())]
    own = _names_of(call) - {call.name}
    is_alone = sum([each.name == call.name for each in others]) < 2
    has_id = any(not own.isdisjoint(ids) for ids, inside in holders if not _has(inside, mark))
    is_named = any(ids or not own.isdisjoint(strings(inside)) for ids, inside in _innermost(holders, mark))
    require(is_alone or not has_id or is_named, f"{where} is in the request without the id that its call has there")


def _named_fields(found: Iterable[object]) -> Iterator[tuple[str, object]]:
    """Yield the names that objects have themselves."""
    for inside in found:
        for key, leaf in cast("Mapping[str, object]", inside).items():
            if key.lower().endswith("name") and isinstance(leaf, str):
                yield key, leaf


def _innermost(holders: Sequence[tuple[list[str], object]], mark: str) -> Sequence[tuple[list[str], object]]:
    """Return the objects around a result that have no other result in them."""
    pieces = [(ids, inside) for ids, inside in holders if _has(inside, mark)]
    other = mark.removesuffix(mark.rpartition("-")[2])
    return [
        each
        for each in pieces
        if not any(_MARK.partition("{")[0] in text and other not in text for text in strings(each[1]))
    ]


def _names_of(call: msg.ToolPart) -> set[str]:
    return {call.call_id, call.name, id_of(call)}


def _check_content(sample: Sample, encoded: Encoded, events: Sequence[Event]) -> None:
    """Check that texts of own answers, and names and inputs of their calls for the app, are in the body."""
    texts = "\x00".join(strings(encoded.body))
    completed = {message.id for message in sample.answers if message.status is msg.MessageStatus.COMPLETED}
    left_out = {
        (drop.message_id, drop.part)
        for drop in encoded.drops
        if drop.whole and (drop.reason is DropReason.EMPTY or not isinstance(drop.reason, DropReason))
    }
    dropped = {(drop.message_id, drop.part) for drop in encoded.drops if drop.whole}
    for place, part in parts_of(fold(events)).items():
        if place[0] not in completed or place in left_out or (place[0], None) in left_out:
            continue
        said: dict[str, object] = {"text": part.text} if isinstance(part, msg.TextPart) and part.text.strip() else {}
        if isinstance(part, msg.ReasoningPart) and place not in dropped:
            said = {"reasoning": part.text}
        if isinstance(part, msg.ToolPart) and not part.provider_executed:
            said = {"name": part.name, **{".".join(path): leaf for path, leaf in leaves(v.thaw(part.input or {}))}}
        for what, given in said.items():
            pieces = [each for each in strings(encoded.body) if len(each) > 1] if what == "reasoning" else []
            written = [str(given), *[each for each in pieces if each in str(given)]]
            written += [json.dumps(given, ensure_ascii=is_ascii)[1:-1] for is_ascii in (False, True)]
            written += [_STRANGE.sub("_", str(given))] if what == "name" else []
            require(
                not isinstance(given, str) or any(each in texts for each in written),
                f"{sample.name}: {what} of {named([place])} is not in the request: {given!r:.60}",
            )


def ids_in(fields: Mapping[str, object]) -> list[str]:
    """Return the ids that an object has itself."""
    return [each for key, each in fields.items() if _IDS.search(key) and isinstance(each, str)]


def _has(value: object, text: str) -> bool:
    return any(text in each for each in strings(value))


def _made_strings(sample: Sample, encoded: Encoded) -> list[str]:
    """Return the strings of the body in fields that are not as the app gave them: its tools may have the same words."""
    given = app_body(sample)
    return strings({key: value for key, value in encoded.body.items() if key not in given or given[key] != value})


def _check_state(sample: Sample, encoded: Encoded, events: Sequence[Event], origin: v.Origin) -> None:
    """Check that state that may be sent occurs in the body, not more often than in the conversation."""
    sent = _made_strings(sample, encoded)
    own = strings([json.loads(dumps(message)) for message in fold(events).messages])
    parts = [part for message in fold(events).messages for part in getattr(message, "parts", ())]
    ids = {getattr(part, "call_id", None) for part in parts} | {part.state.get("id") for part in parts}
    selection = select(fold(events), origin, policy=sample.dialect.policy)
    unsigned = {(drop.message_id, drop.part) for drop in encoded.drops if drop.reason is DropReason.UNSIGNED}
    for drop in encoded.drops:
        part = parts_of(fold(events)).get((drop.message_id or "", -1 if drop.part is None else drop.part))
        if drop.reason is DropReason.UNPLACED and not drop.whole and part is not None:
            _check_unplaced(sample, drop, part, "\x00".join(sent))
    for place, part in parts_of(fold(events)).items():
        seals = [text for key, text in opaque_strings(part, _SHORT) if place in unsigned and not _IDS.search(key)]
        require(not seals, f"{sample.name}: {named([place])} is left out as unsigned, and has the state {seals[:1]}")
    for message, places in zip(selection.messages, selection.places, strict=True):
        for at, part in zip(places, getattr(message, "parts", ()), strict=True):
            if any((drop.message_id, drop.part) == (message.id, at) for drop in encoded.drops):
                continue
            for _, text in opaque_strings(part, _OPAQUE):
                found, count = [sum([each.count(text) for each in texts]) for texts in (sent, own)]
                require(
                    found >= 1 and (found <= count or text in ids),
                    f"{sample.name}: the state {text[:40]!r} may be sent and is in the request {found} times; "
                    f"expected {'once' if count == 1 else f'1 to {count} times'}",
                )


def _check_unplaced(sample: Sample, drop: Drop, part: msg.Part, texts: str) -> None:
    """Check that something of the state that is reported as left out is not in the body."""
    own = {"id", sample.dialect.policy.item_key}
    states = [v.thaw(state) for state in (part.state, getattr(part, "result_state", v.State()))]
    kept = [leaf for state in states for path, leaf in leaves(state) if path[0] not in own]
    is_sent = bool(kept) and all(isinstance(leaf, str) and len(leaf) > _SHORT and leaf in texts for leaf in kept)
    require(not is_sent, f"{sample.name}: all state of part {drop.part} is in the request, and a drop reports: {drop}")


def _check_left_out(
    sample: Sample, encoded: Encoded, events: Sequence[Event], target: v.Origin, *, strip: bool
) -> None:
    """Check that state that may not be sent is not in the body."""
    selected = select(fold(events), target, policy=sample.dialect.policy, strip=strip).messages
    kept = "\x00".join(strings([json.loads(dumps(message)) for message in selected]))
    texts = "\x00".join(_made_strings(sample, encoded))
    for message in fold(events).messages:
        own = strings(v.thaw(message.state)) if isinstance(message, msg.AssistantMessage) else []
        sealed = [("", "the message", text) for text in own if len(text) >= _OF_MESSAGE]
        for at, part in enumerate(getattr(message, "parts", ())):
            sealed += [(key, f"part {at}", text) for key, text in opaque_strings(part, _OPAQUE)]
        for key, holder, text in sealed:
            require(
                key == "id" or text in kept or text not in texts,
                f"{sample.name}: the state {text[:40]!r} of {holder} is sent, which the policy does not allow",
            )
