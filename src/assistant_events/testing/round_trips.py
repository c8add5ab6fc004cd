"""
What is sent and written: requests, streams and documents, of a sample and of other providers' histories, and errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, Final, cast

import attrs

from assistant_events import messages as msg
from assistant_events import values as v
from assistant_events.adapters.call_results import NO_ANSWER
from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.emitter import EmitterBase, Frame
from assistant_events.adapters.encoded import Encode, Encoded, EncodeMode
from assistant_events.converters import dumps
from assistant_events.events import Event
from assistant_events.history import Drop, DropReason, select
from assistant_events.reducer import find_problems, fold, reconcile
from assistant_events.testing.builders import Call, answer, compaction, error, prompt
from assistant_events.testing.sample import (
    MESSAGE_ID,
    Sample,
    leaves,
    named,
    opaque_strings,
    parts_of,
    require,
    strings,
)

_MODEL: Final = "check-1"
_MARK: Final = "output-of-this-call-{}-{}"
_APP_FIELD: Final = {"x-check": {"of": ["the app"]}}
"""A field of the body that no encoder knows."""

_IDS: Final = re.compile(r"(^id|_id|Id)$")
"""Names of fields with the id of a call, of most wires."""

_SHORT: Final = 5
"""Shorter texts occur in others by chance."""

_OPAQUE: Final = 16
"""Length from which on a string of state is looked for in a request."""

_KINDS: Final[Mapping[int, frozenset[v.ErrorKind]]] = {
    401: frozenset({v.ErrorKind.AUTH}),
    403: frozenset({v.ErrorKind.AUTH}),
    404: frozenset({v.ErrorKind.NOT_FOUND}),
    429: frozenset({v.ErrorKind.RATE_LIMIT, v.ErrorKind.QUOTA}),
    500: frozenset({v.ErrorKind.PROVIDER, v.ErrorKind.OVERLOADED}),
    503: frozenset({v.ErrorKind.OVERLOADED, v.ErrorKind.PROVIDER}),
}
"""Kinds of an HTTP error by its status, when its body is empty."""

_DOCUMENTS: Final[tuple[Mapping[str, Any], ...]] = (
    {},
    {"error": None},
    {"error": "no"},
    {"error": {"message": 1, "code": [], "type": {}}},
    {"id": 1, "type": "message", "content": [None, 1, {"type": "text"}], "usage": "x"},
    {"choices": [{}], "candidates": [None], "output": [[]], "steps": {}},
)
"""Documents that no provider sends."""


# -- requests


def check_encoder(sample: Sample) -> None:
    """Send the sample's answer back: every call has its result, and all state that may go is there, once."""
    encode = sample.dialect.encoder
    if encode is None:
        return
    body = _body(sample)
    own = Sample(sample.dialect, sample.name, sample.body, request=body)
    origin = next((message.origin for message in own.answers), None)
    provider = None if origin is None else origin.provider
    calls = [call for message in own.answers for call in message.tool_calls if _is_for_app(message, call)]

    def answer_with(what: str) -> tuple[Encoded, list[Event]]:
        marks = {call.call_id: [_MARK.format(at, each) for each in "abc"] for at, call in enumerate(calls)}
        results = [_OUTPUTS[what](call, *marks[call.call_id]) for call in calls]
        events = [*prompt_events("u0"), *own.events, *results, *prompt_events("u9")]
        encoded = _encoded(sample, encode, events, body, where=what, provider=provider, mode="full")
        _check_results(sample, encoded, events, marks, what)
        return encoded, events

    encoded, answered = answer_with("")
    for what in _OTHER_OUTPUTS if calls else ():
        answer_with(what)
    _check_content(sample, encoded, answered)
    _check_order(sample, encoded, answered)
    if origin is not None:
        _check_state(sample, encoded, answered, origin)
    open_calls = _encoded(sample, encode, [*prompt_events("u0"), *own.events], body, provider=provider, mode="full")
    unanswered = [drop for drop in open_calls.drops if drop.reason is DropReason.NO_ANSWER]
    repaired = sum([text.count(NO_ANSWER) for text in strings(open_calls.body)])
    reworded = [drop for drop in open_calls.drops if drop.reason is DropReason.REWORDED]
    require(
        repaired == len(unanswered) or bool(reworded),
        f"{sample.name}: the request has {repaired} calls without a result, and {len(unanswered)} drops for them",
    )
    _encoded(sample, encode, answered, body, provider=provider, mode="auto")
    stripped = _encoded(sample, encode, answered, body, provider=provider, mode="full", strip=True)
    others = _encoded(sample, encode, answered, body, provider="another-provider", mode="full")
    if origin is not None:
        for request, target, strip in (
            (stripped, origin, True),
            (others, attrs.evolve(origin, provider="another-provider"), False),
        ):
            _check_left_out(sample, request, answered, target, strip=strip)


def check_foreign_histories(dialect: Dialect, request: Mapping[str, Any] | None) -> None:
    """Send the histories of other providers: nothing raises, and every prompt is sent or reported."""
    # Any: the body of a request, as the app has it.
    encode = dialect.encoder
    if encode is None:
        return
    sample = Sample(dialect, dialect.name, b"", request=request)
    for name, events in _histories():
        for mode in ("full", "auto"):
            found = _encoded(sample, encode, events, _body(sample), where=f", history with {name}", mode=mode)
            texts = "\x00".join(strings(found.body))
            for message in fold(events).context():
                content = message.content if isinstance(message, msg.UserMessage) else ()
                for text in [each.text for each in content if isinstance(each, v.TextContent)]:
                    require(
                        text in texts or any(drop.message_id == message.id for drop in found.drops),
                        f"{dialect.name}, history with {name}: the prompt {text!r} is neither sent nor reported",
                    )


def prompt_events(message_id: str) -> list[Event]:
    """Return a prompt."""
    return [prompt(f"prompt {message_id}", message_id=message_id)]


def _body(sample: Sample) -> dict[str, Any]:
    """Return the app's part of the request."""
    owner = getattr(sample.dialect.encoder, "__self__", None)
    own: Collection[str] = getattr(owner, "conversation_fields", ())
    stored: str = getattr(owner, "stored_field", "")
    request = {"model": _MODEL} if sample.request is None else sample.request
    own = {*own, stored, "messages"}
    return {**{key: deepcopy(value) for key, value in request.items() if key not in own}, **_APP_FIELD}


def _encoded(
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
    transcript, given = fold(events), deepcopy(body)
    name = f"{sample.name}{where}"
    try:
        found = encode(transcript, body, mode=mode, provider=provider, strip=strip)
        again = encode(transcript, body, mode=mode, provider=provider, strip=strip)
    except Exception as failure:
        raise AssertionError(f"{name}: the encoder raised {failure!r}") from failure
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


def _is_for_app(message: msg.AssistantMessage, call: msg.ToolPart) -> bool:
    return not call.settled and not call.provider_executed and message.status is msg.MessageStatus.COMPLETED


_OUTPUTS: Final[Mapping[str, Callable[[msg.ToolPart, str, str, str], Event]]] = {
    "": lambda call, one, two, three: call.succeed(f"{one} {two} {three}"),
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
    holders = list(_holders(encoded.body))
    for message in fold(events).messages:
        for at, part in enumerate(getattr(message, "parts", ())):
            known = marks.get(part.call_id, ()) if isinstance(part, msg.ToolPart) else ()
            dropped = [drop for drop in encoded.drops if (drop.message_id, drop.part) == (message.id, at)]
            is_out = any(drop.whole for drop in dropped)
            where = f"{sample.name}{what}: the result of call {getattr(part, 'call_id', '')!r}"
            for mark in known:
                found = sum([text.count(mark) for text in texts])
                require(found == (0 if is_out else 1), f"{where} is in the request {found} times")
            if known and not is_out:
                _check_ids(holders, known[0], where)


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


def _check_content(sample: Sample, encoded: Encoded, events: Sequence[Event]) -> None:
    """Check that texts of own answers, and names and inputs of their calls for the app, are in the body."""
    texts = "\x00".join(strings(encoded.body))
    completed = {message.id for message in sample.answers if message.status is msg.MessageStatus.COMPLETED}
    left_out = {
        (drop.message_id, drop.part)
        for drop in encoded.drops
        if drop.whole and (drop.reason is DropReason.EMPTY or not isinstance(drop.reason, DropReason))
    }
    for place, part in parts_of(fold(events)).items():
        if place[0] not in completed or place in left_out or (place[0], None) in left_out:
            continue
        said: dict[str, object] = {"text": part.text} if isinstance(part, msg.TextPart) and part.text.strip() else {}
        if isinstance(part, msg.ToolPart) and not part.provider_executed:
            said = {"name": part.name, **{".".join(path): leaf for path, leaf in leaves(v.thaw(part.input or {}))}}
        for what, given in said.items():
            escaped = json.dumps(given, ensure_ascii=False)[1:-1]
            require(
                not isinstance(given, str) or given in texts or escaped in texts,
                f"{sample.name}: {what} of {named([place])} is not in the request: {given!r:.60}",
            )


def _check_order(sample: Sample, encoded: Encoded, events: Sequence[Event]) -> None:
    """Check that prompts and texts are in the body in their order."""
    texts = "\x00".join(strings(encoded.body))
    said = [
        part.text
        for message in fold(events).messages
        for part in (message.content if isinstance(message, msg.UserMessage) else getattr(message, "parts", ()))
        if isinstance(part, (v.TextContent, msg.TextPart)) and len(part.text) > _SHORT
    ]
    places = [(texts.find(text), text) for text in said if texts.count(text) == 1]
    for (before, first), (after, second) in pairwise(places):
        require(before < after, f"{sample.name}: {second[:40]!r} is in the request before {first[:40]!r}")


def _holders(value: object) -> Iterator[tuple[list[str], object]]:
    """Yield the objects of a body, outer ones first, each with the ids that it has itself."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        yield [each for key, each in fields.items() if _IDS.search(key) and isinstance(each, str)], fields
        for each in fields.values():
            yield from _holders(each)
    elif isinstance(value, (list, tuple)):
        for each in cast("list[object]", value):
            yield from _holders(each)


def _has(value: object, text: str) -> bool:
    return any(text in each for each in strings(value))


def _check_state(sample: Sample, encoded: Encoded, events: Sequence[Event], origin: v.Origin) -> None:
    """Check that state that may be sent occurs in the body, not more often than in the conversation."""
    sent = strings(encoded.body)
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
    texts = "\x00".join(strings(encoded.body))
    for message in fold(events).messages:
        for at, part in enumerate(getattr(message, "parts", ())):
            for key, text in opaque_strings(part, _OPAQUE):
                require(
                    key == "id" or text in kept or text not in texts,
                    f"{sample.name}: the state {text[:40]!r} of part {at} is sent, which the policy does not allow",
                )


def _histories() -> Iterator[tuple[str, list[Event]]]:
    """Yield conversations of another provider, by what is in them."""
    state = {"signature": "c2lnbmF0dXJlLW9mLWFub3RoZXI=", "extra": {"deep": [1, None, "x"]}}
    data = v.MediaContent(media_type="image/png", data=b"\x89PNG")
    linked = v.MediaContent(media_type="application/pdf", uri="https://example.com/a.pdf")
    calls = {
        "calls": [
            Call("look_up", {"city": "Bonn"}, output="sun"),
            Call("now", output={"hour": 7}, call_id="a b/c" * 20),
        ],
        "failed calls": [Call("look_up", {"city": "Bonn"}, error=error("tool", "no"), output="half")],
        "open calls": [Call("look_up", {"city": "Bonn"})],
        "input that is not an object": [Call("look_up", "[1", error=error("invalid-input", "not JSON"))],
        "calls of the provider": [
            Call("web_search", {"q": "x"}, output="found", provider_executed=True, state=state, result_state=state)
        ],
        "media as a result": [Call("draw", output=[data, linked])],
        "an empty result": [Call("look_up", output="")],
    }
    for name, each in calls.items():
        yield name, [*prompt_events("u1"), *answer("so", calls=each, state=state), *prompt_events("u2")]
        yield f"{name} alone", [*prompt_events("u1"), *answer(calls=each)]
    signed = answer("text", reasoning="thought", text_state=state, reasoning_state=state, state=state)
    yield "state", [*prompt_events("u1"), *signed, *prompt_events("u2")]
    yield (
        "reasoning alone",
        [*prompt_events("u1"), *answer(reasoning="hm", reasoning_state=state), *prompt_events("u2")],
    )
    yield "an empty answer", [*prompt_events("u1"), *answer(), *prompt_events("u2")]
    yield "a failed answer", [*prompt_events("u1"), *answer("half", error=error()), *prompt_events("u2")]
    yield "a pause", [*prompt_events("u1"), *answer("wait", finish_reason=v.FinishReason.PAUSE)]
    yield "a refusal", [*prompt_events("u1"), *answer("no", finish_reason=v.FinishReason.CONTENT_FILTER)]
    yield "a summary", [*prompt_events("u1"), *answer("a"), *compaction("a summary"), *prompt_events("u2")]
    yield "an answer first", [*answer("hello"), *prompt_events("u1")]
    yield "two prompts", [*prompt_events("u1"), *prompt_events("u2")]
    yield "media in a prompt", [prompt([v.TextContent("see"), data, linked, v.JsonContent({"a": 1})])]
    yield "nothing but an answer", answer("hello")
    yield "odd text", [prompt("\x00\u2028\ud83d"), *answer("\ud83d\x00", reasoning="\u2028"), *prompt_events("u2")]
    yield "nothing", []


# -- streams


def check_emitter(sample: Sample) -> None:
    """Write the sample's events as a stream and read it: the same events, or a `Drop` for what differs."""
    make = sample.dialect.emitter
    if make is None:
        return
    emitter = make()
    body = _emitted(emitter, sample.events, sample.name)
    read = Sample(sample.dialect, f"{sample.name}, written by the emitter", body, request=sample.request)
    parts, again = parts_of(sample.transcript), parts_of(read.transcript)
    different = [place for place, part in parts.items() if again.get(place) != part]
    reported = {(drop.message_id, drop.part) for drop in emitter.drops}
    silent = [place for place in different if place not in reported]
    require(not silent, f"{read.name}: {named(silent)} changed, and no Drop reports it")
    require(
        bool(emitter.drops) or read.transcript == sample.transcript,
        f"{read.name}: another message, and no Drop reports it",
    )


def check_emitted_parts(samples: Sequence[Sample]) -> None:
    """Check that the emitter can write at least some of the parts of the samples."""
    make = samples[0].dialect.emitter
    if make is None:
        return
    written = False
    for sample in samples:
        read = Sample(sample.dialect, sample.name, _emitted(make(), sample.events, sample.name), request=sample.request)
        parts, again = [
            [_without_state(part) for part in parts_of(each.transcript).values()] for each in (sample, read)
        ]
        written = written or any(part in again for part in parts)
    has_parts = any(part.type != "opaque" for sample in samples for part in parts_of(sample.transcript).values())
    require(written or not has_parts, f"{samples[0].dialect.name}: no part of any stream comes back from the emitter")


def _without_state(part: msg.Part) -> msg.Part:
    return attrs.evolve(part, state=v.State())


def check_foreign_streams(dialect: Dialect) -> None:
    """Write the answers of other providers: nothing raises, and what is written is a legal stream."""
    if dialect.emitter is None:
        return
    for name, events in _histories():
        where = f"{dialect.name}, answer with {name}"
        body = _emitted(dialect.emitter(), events, where)
        _check_legal(Sample(dialect, f"{where}, written by the emitter", body).events, where)


def _emitted(emitter: EmitterBase, events: Iterable[Event], name: str) -> bytes:
    try:
        frames: list[Frame] = []
        for event in events:
            frames += emitter.emit(event)
        return b"".join(map(emitter.to_bytes, [*frames, *emitter.close()]))
    except Exception as failure:
        raise AssertionError(f"{name}: the emitter raised {failure!r}") from failure


# -- documents and errors


def check_resource(sample: Sample) -> None:
    """Write the sample's answer as a document and read it: the same message."""
    write, read = sample.dialect.emit_resource, sample.dialect.decode_resource
    answers = sample.answers
    if read is None or write is None or not _is_one_answer(sample):
        return
    try:
        events = read(write(answers[0]), MESSAGE_ID, request=sample.request)
    except Exception as failure:
        raise AssertionError(f"{sample.name}: writing and reading the document raised {failure!r}") from failure
    message = fold(events).last
    assert isinstance(message, msg.AssistantMessage)
    _check_same(answers[0], message, f"{sample.name}: read from its document")
    detect = sample.dialect.detect
    require(
        detect is None or detect(write(answers[0])), f"{sample.name}: detect does not know the document of the answer"
    )
    kept = "\x00".join(strings(json.loads(dumps(message))))
    lost = [text for part in answers[0].parts for _, text in opaque_strings(part, _OPAQUE) if text not in kept]
    require(not lost, f"{sample.name}: the document of the answer has lost the state {lost[:1]}")


def check_emitted_answer(sample: Sample) -> None:
    """Check that the sample's answer is the same in the emitter's stream and in its document."""
    make, write, read = sample.dialect.emitter, sample.dialect.emit_resource, sample.dialect.decode_resource
    if make is None or write is None or read is None or not _is_one_answer(sample):
        return
    body = _emitted(make(), sample.events, sample.name)
    streamed = Sample(sample.dialect, sample.name, body, request=sample.request).transcript.last
    whole = fold(read(write(sample.answers[0]), MESSAGE_ID, request=sample.request)).last
    assert isinstance(streamed, msg.AssistantMessage)
    assert isinstance(whole, msg.AssistantMessage)
    streamed = attrs.evolve(streamed, state=whole.state)
    _check_same(whole, streamed, f"{sample.name}: not as in its document, written by the emitter")


def _is_one_answer(sample: Sample) -> bool:
    return len(sample.answers) == 1 and sample.answers[0].status is msg.MessageStatus.COMPLETED


def _check_same(expected: msg.AssistantMessage, found: msg.AssistantMessage, where: str) -> None:
    others = _outline(found)
    for what, value in _outline(expected).items():
        # A document may have texts in another order.
        other, is_text = others[what], isinstance(value, str)
        is_same = sorted(str(other)) == sorted(str(value)) if is_text else other == value
        require(is_same, f"{where} the answer has other {what}: {other!r:.200}; expected {value!r:.200}")


def _outline(message: msg.AssistantMessage) -> dict[str, object]:
    """Return what stream and document of an answer have both; how its parts are cut may differ."""
    texts = [part for part in message.parts if isinstance(part, msg.TextPart)]
    executed = [call for call in message.tool_calls if call.provider_executed]
    return {
        "text": message.text,
        "reasoning": message.reasoning,
        "calls": [(call.name, call.call_id, call.input or {}) for call in message.tool_calls],
        "finish reasons": (message.finish_reason, message.raw_finish_reason),
        "usage": message.usage,
        "citations": [attrs.evolve(cited, start=None, end=None) for text in texts for cited in text.citations],
        "results of the provider": [(call.call_id, call.status, call.output, call.error) for call in executed],
        "media": [attrs.evolve(part, state=v.State()) for part in message.parts if isinstance(part, msg.MediaPart)],
        "details": message.details,
        "state of the message": message.state,
        "run": message.run,
    }


def check_strange_documents(dialect: Dialect) -> None:
    """Read documents that no provider sends: nothing raises, and the answer has an end."""
    read = dialect.decode_resource
    if read is None:
        return
    for document in _DOCUMENTS:
        where = f"{dialect.name}: decode_resource({document!r})"
        try:
            events = read(document, MESSAGE_ID)
        except Exception as failure:
            raise AssertionError(f"{where} raised {failure!r}") from failure
        _check_legal(events, where)
        require(bool(events), f"{where} returns no events")


def _check_legal(events: Sequence[Event], where: str) -> None:
    found = find_problems(events)
    require(not found, f"{where}: {found[0] if found else ''}")
    left = reconcile(fold(events))
    require(not left, f"{where}: left open: {', '.join([event.type for event in left])}")


def check_http_error(dialect: Dialect) -> None:
    """Read HTTP errors: nothing raises, and an empty body has the kind of the status."""
    read = dialect.http_error
    if read is None:
        return
    bodies = (b"", b"\xff\xfe", b"<html>Bad gateway</html>", b"null", b"[]", b'{"error":', *map(_json, _DOCUMENTS))
    for status in (200, 400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504, 529, 599):
        for body in bodies:
            where = f"{dialect.name}: http_error({status}, {{}}, {body!r})"
            try:
                found = read(status, {}, body)
            except Exception as failure:
                raise AssertionError(f"{where} raised {failure!r}") from failure
            require(isinstance(found, v.ErrorInfo), f"{where} is {type(found).__name__}, expected an ErrorInfo")
            require(bool(found.message), f"{where} has no message")
            expected = _KINDS.get(status)
            require(
                body not in (b"", b"null") or expected is None or found.kind in expected,
                f"{where} is of kind {str(found.kind)!r}, expected {' or '.join(sorted(expected or ()))}",
            )

    for status in (429, 503):
        found = read(status, {"retry-after": "7"}, b"")
        where = f'{dialect.name}: http_error({status}, {{"retry-after": "7"}}, b"")'
        require(found.retry_after_s == 7, f"{where} may be retried after {found.retry_after_s} s, expected 7 s")
        require(found.retryable is True, f"{where} has retryable={found.retryable}, expected True")


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document).encode()
