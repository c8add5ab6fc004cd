"""What is written of a sample is read as the same answer: streams of the emitter, and documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from assistant_events import messages as msg
from assistant_events import values as v
from assistant_events.adapters.emitter import EmitterBase, Frame
from assistant_events.converters import dumps
from assistant_events.events import Event, StepStarted
from assistant_events.history import has_result
from assistant_events.reducer import fold
from assistant_events.testing.order import has_order, sequence
from assistant_events.testing.sample import (
    CUT,
    MESSAGE_ID,
    Sample,
    named,
    no_error,
    opaque_strings,
    parts_of,
    require,
    strings,
)

_OPAQUE: Final = 16
"""Length from which on a string of state is looked for in a document."""

# -- streams


def check_emitter(sample: Sample) -> None:
    """Write the sample's events as a stream and read it: the same events, or a `Drop` for what differs."""
    make = sample.dialect.emitter
    if make is None:
        return
    emitter = make()
    read = written_again(sample, emitter)
    parts, again = parts_of(sample.transcript), parts_of(read.transcript)
    different = [place for place, part in parts.items() if again.get(place) != part]
    reported = {(drop.message_id, drop.part) for drop in emitter.drops}
    silent = [place for place in different if place not in reported]
    require(not silent, f"{read.name}: {named(silent)} changed, and no Drop reports it")
    require(
        bool(emitter.drops) or read.transcript == sample.transcript,
        f"{read.name}: another message, and no Drop reports it",
    )
    if all(call.name for call in sample.calls):
        # What the app reads of an answer comes back, whatever an emitter reports.
        require(len(sample.answers) == len(read.answers), f"{read.name}: other messages")
        begun = [event.state for event in sample.events if isinstance(event, StepStarted)]
        for expected, found in zip(sample.answers, read.answers, strict=True):
            facts = _facts_of(expected)
            if not expected.state or expected.state not in begun:
                del facts["state of the message"]  # its start was written before it was known
            _check_alike(facts, _facts_of(found), read.name)


def written_again(sample: Sample, emitter: EmitterBase) -> Sample:
    """Return the stream that an emitter writes of a sample."""
    body = emitted(emitter, sample.events, sample.name)
    return Sample(sample.dialect, f"{sample.name}, written by the emitter", body, request=sample.request)


def emitted(emitter: EmitterBase, events: Iterable[Event], name: str) -> bytes:
    """Return the stream of *events*."""
    with no_error(f"{name}: the emitter"):
        frames: list[Frame] = []
        for event in events:
            frames += emitter.emit(event)
        return b"".join(map(emitter.to_bytes, [*frames, *emitter.close()]))


# -- documents and errors


def check_resource(sample: Sample) -> None:
    """Write the sample's answer as a document and read it: the same message."""
    write, read = sample.dialect.emit_resource, sample.dialect.decode_resource
    answers = sample.answers
    if read is None or write is None or not _is_one_answer(sample):
        return
    with no_error(f"{sample.name}: writing and reading the document"):
        events = read(write(answers[0]), MESSAGE_ID, request=sample.request)
    message = fold(events).last
    assert isinstance(message, msg.AssistantMessage)
    _check_same(answers[0], message, f"{sample.name}: read from its document")
    if has_order(sample, answers[0], write):
        key = sample.dialect.policy.item_key or ""
        expected, found = sequence(answers[0], key), sequence(message, key)
        require(
            found == expected,
            f"{sample.name}: read from its document the answer has its parts in the order {found!r:.300}, expected "
            f"{expected!r:.300}",
        )
    detect = sample.dialect.detect
    require(
        detect is None or detect(write(answers[0])), f"{sample.name}: detect does not know the document of the answer"
    )
    kept = "\x00".join(strings(json.loads(dumps(message))))
    lost = [text for part in answers[0].parts for _, text in opaque_strings(part, _OPAQUE) if text not in kept]
    require(not lost, f"{sample.name}: the document of the answer has lost the state {lost[:1]}")


def check_failed_resource(sample: Sample) -> None:
    """Write the document of an answer that failed, or whose stream is cut: it has the error, and is not whole."""
    write, read = sample.dialect.emit_resource, sample.dialect.decode_resource
    for message in sample.answers if len(sample.answers) == 1 else ():
        if read is None or write is None:
            return
        last = fold(read(write(message), MESSAGE_ID, request=sample.request)).last
        error = last.error if isinstance(last, msg.AssistantMessage) else None
        if message.error is not None and message.error.kind not in v.CUT_KINDS:
            expected, found = [None if each is None else _fault(each) for each in (message.error, error)]
            require(found == expected, f"{sample.name}: the error in its document is {found}, expected {expected}")
    cut = fold(sample.decode([sample.body[: len(sample.body) // 2]], error=CUT)).last
    if read is None or write is None or not isinstance(cut, msg.AssistantMessage) or cut.error is None:
        return
    with no_error(f"{sample.name}: writing and reading the document of an answer that was cut"):
        document = write(cut)
        events = read(document, MESSAGE_ID, request=sample.request)
    found = fold(events).last
    assert isinstance(found, msg.AssistantMessage)
    require(
        found.status is not msg.MessageStatus.COMPLETED,
        f"{sample.name}: the document of an answer that failed is read as one that has not: {document!r:.300}",
    )


def check_emitted_answer(sample: Sample) -> None:
    """Check that the sample's answer is the same in the emitter's stream and in its document."""
    make, write, read = sample.dialect.emitter, sample.dialect.emit_resource, sample.dialect.decode_resource
    if make is None or write is None or read is None or not _is_one_answer(sample):
        return
    streamed = written_again(sample, make()).transcript.last
    whole = fold(read(write(sample.answers[0]), MESSAGE_ID, request=sample.request)).last
    assert isinstance(streamed, msg.AssistantMessage)
    assert isinstance(whole, msg.AssistantMessage)
    streamed = attrs.evolve(streamed, state=whole.state)
    _check_same(whole, streamed, f"{sample.name}: not as in its document, written by the emitter")


def _is_one_answer(sample: Sample) -> bool:
    return len(sample.answers) == 1 and sample.answers[0].status is msg.MessageStatus.COMPLETED


def _check_same(expected: msg.AssistantMessage, found: msg.AssistantMessage, where: str) -> None:
    broken, others = [[call.input is None for call in each.tool_calls] for each in (expected, found)]
    if broken != others:  # a call that the document shows with an input waits for the app
        expected = attrs.evolve(expected, finish_reason=found.finish_reason)
    _check_alike(_outline(expected), _outline(found), where)


def _facts_of(message: msg.AssistantMessage) -> dict[str, object]:
    """Return what the app reads of an answer, also of one that failed."""
    return {
        "status": (message.status, None if message.error is None else _fault(message.error)),
        "kinds of parts": [part.type for part in message.parts if part.type != "opaque"],
        "parts that were cut": [at for at, part in enumerate(message.parts) if was_cut(part)],
        "text": message.text,
        "reasoning": message.reasoning,
        "calls": [(call.name, call.call_id, call.input or call.raw_input, call.status) for call in message.tool_calls],
        "results of the provider": [call.output for call in message.tool_calls if call.provider_executed],
        "finish reasons": (message.finish_reason, message.raw_finish_reason),
        "usage": message.usage,
        "model": message.origin.served_model or message.origin.model,
        "state of the message": message.state,
    }


def _fault(error: v.ErrorInfo) -> object:
    return error.kind, error.code, error.message


def was_cut(part: msg.Part) -> bool:
    """Return whether a part, or the input of a call, was cut."""
    return msg.content_status(part) is msg.PartStatus.INCOMPLETE


def _check_alike(expected: Mapping[str, object], others: Mapping[str, object], where: str) -> None:
    for what, value in expected.items():
        # A document may have texts in another order.
        other, is_text = others[what], isinstance(value, str)
        is_same = sorted(str(other)) == sorted(str(value)) if is_text else other == value
        found, given = (v.thaw(each) if isinstance(each, v.State) else each for each in (other, value))
        require(is_same, f"{where} the answer has other {what}: {found!r:.200}; expected {given!r:.200}")


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
        "results of the provider": [
            (call.call_id, call.status, call.output, call.error if has_result(call) else None) for call in executed
        ],
        "model": message.origin.served_model or message.origin.model,
        "media": [attrs.evolve(part, state=v.State()) for part in message.parts if isinstance(part, msg.MediaPart)],
        "details": message.details,
        "state of the message": message.state,
        "run": message.run,
    }
