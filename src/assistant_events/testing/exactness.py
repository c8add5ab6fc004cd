"""
What a stream contains arrives as it was written, and nothing else is read into it.

No expected results are needed: a stream is changed or ended early, and its events are compared with those before.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Final, TypeAlias

from assistant_events import messages as msg
from assistant_events.adapters.json_fields import Fields
from assistant_events.converters import dumps
from assistant_events.events import ReasoningDelta, TextDelta
from assistant_events.reducer import fold
from assistant_events.testing.conservation import COUNTS
from assistant_events.testing.round_trips import app_body, encode_twice, prompt_events
from assistant_events.testing.sample import (
    CUT,
    Path,
    Place,
    Sample,
    id_of,
    leaves,
    named,
    objects,
    parts_of,
    pieces_of,
    replaced,
    require,
    strings,
)
from assistant_events.testing.written import check_emitter, check_resource, written_again
from assistant_events.values import ErrorKind, JsonContent, MediaContent, TextContent, thaw

_PLAIN: Final = "Zzyxw"
_ODD: Final = '  \u00e9e\u0301\x00\xa0\u200b\U0001f600\u200d\u2028\ufeff\x1b\r\n<b>&amp;"\\  x\t  \n'
_BLANK: Final = "\n  "
"""A text of one word, one with everything that may be taken away, joined or escaped, and one of blanks."""

_LONG: Final = _ODD + "long " * 2000
"""A text that a service may bring, longer than most logs show."""

_WORD: Final = re.compile("[a-z_]*|.{0,2}", re.DOTALL)
"""A word of the wire, or one that occurs in others by chance."""

_NAME: Final = "functions.Zz_Check-1"
_IDENT: Final = "functions.Zz_Check:1"
"""A name and an id of a call with all that may be taken away of one."""

_TYPES: Final = ("type", "event_type")
"""Names of the type of a frame, on most wires."""

_UNKNOWN: Final = "x-check"
"""A type that no wire has."""

_HALVES: Final = (rb"\ud83d", rb"\ude00")
"""A pair of surrogates, as JSON escapes them."""

_INPUT: Final = '{ "b" :\r\n\t1.50, "a":"\\u00e9\\/", "n":12345678901234567890,"l":[ ], "z":null }'
"""An input of a call that no writer of JSON would write."""

_OBJECT: Final[dict[str, Any]] = {
    "text": "\u00e9\n ",
    "n": 12345678901234567890,
    "x": 1.5,
    "l": [True, None, {}, [0]],
    "z": None,
    "f": False,
    "e": "",
}
"""An input of a call that is not text."""

_SHORT: Final = 3
"""Shorter texts occur in others by chance."""

_TRIED: Final = 30
"""At how many frames a stream is ended at most."""


def check_texts(sample: Sample) -> None:
    """Put a word, blanks, line ends and signs into a text that streams: each arrives once, at once, and as it is."""
    for at, path, text in _streamed_texts(sample):
        frame = sample.frames[at]
        plain, *odd = (_with_text(sample, at, text, word) for word in (_PLAIN, _ODD, _BLANK))
        before = _texts(plain)
        places = [place for place, found in before.items() for _ in range(found.count(_PLAIN))]
        where = f"{sample.name}: {'.'.join(path)} of the frame at byte {frame.start}"
        require(len(places) <= 1, f"{where} arrives {len(places)} times, in {named(dict.fromkeys(places))}")
        if not places:
            continue
        is_of_call = any(text in call.raw_input for call in sample.calls)
        if not (is_of_call or mixes_items(sample)):
            come = fold(sample.decoder().feed(plain.written(plain.payloads[: at + 1])))
            require(
                any(_PLAIN in found for found in _texts_of(come).values()),
                f"{where} is held back: when the frame has come, its text {_PLAIN!r} is not in the events; a text "
                "streams as it comes",
            )
        nulled = _texts(_with_text(sample, at, text, None)).get(places[0])
        printed = before[places[0]].replace(_PLAIN, "None")
        require(nulled != printed, f"{where} arrives as 'None' when it is null")
        for word, changed in zip((_ODD, _BLANK), odd, strict=True):
            found = _texts(changed).get(places[0], "")
            require(
                found == before[places[0]].replace(_PLAIN, word),
                f"{sample.name}: with {word!r} in {'.'.join(path)} of the frame at byte {frame.start}, "
                f"{named(places)} has the text {found!r:.200}",
            )
            streamed = _streamed(changed, places[0][0])
            require(
                word not in found or word in streamed or _PLAIN not in _streamed(plain, places[0][0]),
                f"{sample.name}: with {word!r} in {'.'.join(path)} of the frame at byte {frame.start} the deltas are "
                f"{streamed!r:.200}",
            )


def check_halves(sample: Sample) -> None:
    """Send the halves of a pair of surrogates in two frames, as servers do that cut UTF-16: the text has the sign."""
    decoder = sample.decoder()
    if decoder.framing.checksums or decoder.delta_frames.unique:
        return
    for at, path, text in _streamed_texts(sample):
        plain = _with_text(sample, at, text, _PLAIN)
        frames = plain.payloads
        if any(_PLAIN in each for _, payload in frames[at + 1 :] for each in strings(payload)):
            continue  # other frames repeat it
        name, payload = frames[at]
        doubled = sample.rewritten([*frames[: at + 1], (name, payload), *frames[at + 1 :]])
        if [each for each in _texts(doubled).values() if _PLAIN * 2 in each] == []:
            continue  # the frame is more than a piece of the text
        before = _texts(doubled)
        letters, found = (_texts_with(doubled, *escapes) for escapes in ((rb"\u0041", rb"\u0042"), _HALVES))
        if letters != {place: each.replace(_PLAIN * 2, "AB") for place, each in before.items()}:
            continue  # escapes of JSON cannot be put into these frames
        expected = {place: each.replace(_PLAIN * 2, "\U0001f600") for place, each in before.items()}
        require(
            found == expected,
            f"{sample.name}: with the halves of a pair of surrogates as {'.'.join(path)} of two frames at byte "
            f"{sample.frames[at].start} the texts are {list(found.values())!r:.200}",
        )


def _texts_with(sample: Sample, first: bytes, second: bytes) -> dict[Place, str]:
    """Return the texts with two escapes in place of two words."""
    body = sample.body.replace(_PLAIN.encode(), first, 1).replace(_PLAIN.encode(), second, 1)
    return _texts(Sample(sample.dialect, sample.name, body, request=sample.request))


def check_types(sample: Sample) -> None:
    """Send a frame with a text again under a type of tomorrow, where the types of frames differ: nothing is added."""
    frames, documents = sample.payloads, [frame.document or {} for frame in sample.frames]
    for at, _, _ in _streamed_texts(sample) if sample.can_be_rewritten else ():
        name, document = sample.frames[at].name, documents[at]
        for key in _TYPES:
            given, known = document.get(key), {json.dumps(each.get(key)) for each in documents if key in each}
            if len(known) < 2 or not isinstance(given, str) or name not in (None, given):
                continue
            strange = (name and _UNKNOWN, {**document, key: _UNKNOWN})
            found = _texts(sample.rewritten([*frames[: at + 1], strange, *frames[at + 1 :]]))
            require(
                found == _texts(sample),
                f"{sample.name}: with the frame at byte {sample.frames[at].start} again, whose {key} is {_UNKNOWN!r}, "
                f"the texts are {[*found.values()]!r:.200}; a frame of an unknown type is not a text",
            )


def check_sent_texts(sample: Sample) -> None:
    """Put blanks around a text: they are in the request, the stream and the document, where a plain word is."""
    written = (_ODD, json.dumps(_ODD)[1:-1], json.dumps(_ODD, ensure_ascii=False)[1:-1])
    for at, _, text in _streamed_texts(sample):
        plain, changed = (_with_text(sample, at, text, word) for word in (_PLAIN, _ODD))
        places = [place for place, found in _texts(changed).items() if _ODD in found]
        for (place, texts), (_, others) in zip(_written(plain), _written(changed), strict=False) if places else ():
            require(
                not any(_PLAIN in each for each in texts) or any(odd in each for each in others for odd in written),
                f"{sample.name}: with {_ODD!r} in {named(places)}, {place} has "
                f"{[each for each in others if '<b>' in each]!r:.200}",
            )
        check_resource(changed)


def check_items(sample: Sample) -> None:
    """Change the pieces of each item, where frames have the number of one: no part has pieces of two items."""
    whole, frames = pieces_of(sample.transcript), sample.payloads
    items: dict[Place, tuple[int, int]] = {}
    for at, frame in [*enumerate(sample.frames)][:_TRIED]:
        number = number_of_item(sample, frame.document)
        pieces = [text for text in strings(frame.document) if text and any(text in each for each in whole.values())]
        for text in pieces if number is not None else ():
            written = [*frames[:at], (frame.name, replaced(frames[at][1], text, _PLAIN))]
            found = pieces_of(fold(sample.decoder().feed(sample.written(written))))
            for place in [place for place, each in found.items() if _PLAIN in each]:
                other, start = items.setdefault(place, (number or 0, frame.start))
                require(
                    other == number,
                    f"{sample.name}: the frame at byte {frame.start} is of item {number}, and adds to "
                    f"{named([place])}, as that at byte {start} of item {other} does",
                )


def check_inputs(sample: Sample) -> None:
    """Put JSON that no writer would write into the input of a call: it is kept and sent as it is, and read exactly."""
    for message in sample.answers:
        for call in message.tool_calls:
            changes = {} if call.input is None else _pieces_of_input(sample, call.raw_input)
            if not changes or [*thaw(call.input or {}).values()] == [call.raw_input]:
                continue  # an input of free text has the text under one name
            changed = sample.changed(changes)
            same = [each for each in changed.calls if each.call_id == call.call_id]
            if len(same) != 1:
                continue  # a piece of the input was something else, too
            [found], where = same, f"{sample.name}: call {call.call_id!r} with the input {_INPUT!r}"
            require(found.raw_input == _INPUT, f"{where} has the raw input {found.raw_input!r}")
            given = json.loads(_INPUT)
            expected, read = json.dumps(given), json.dumps(thaw(found.input or {}))
            require(read == expected, f"{where} is read as {read}, expected {expected}")
            for place, document in documents_of(changed):
                _check_keys(document, given, f"{where} is in {place}")
            for place, texts in _written(changed):
                again = [text for text in texts if text != _INPUT and _reads_as(text, given)]
                require(not again, f"{where} is written again in {place}: {again[:1]}")
            return


def check_objects(sample: Sample) -> None:
    """Put values of all types into an input that comes as an object: they arrive and are sent as they are."""
    for message in sample.answers:
        for call in message.tool_calls:
            given = None if call.provider_executed or not call.input else thaw(call.input)
            frames = sample.replacing(given, _OBJECT)
            if given is not None and not call.raw_input:
                _check_given(sample, message, call, given)
            if given is None or frames == sample.payloads:
                continue
            pieces = _pieces_of_input(sample, call.raw_input, json.dumps(_OBJECT))  # an end may repeat them
            changed = sample.rewritten(frames).changed(pieces)
            same = [each for each in changed.calls if each.call_id == call.call_id]
            where = f"{sample.name}: call {call.call_id!r} with the input {_OBJECT}"
            found = [thaw(each.input) for each in same]
            require(json.dumps(found) == json.dumps([_OBJECT]), f"{where} is read as {found}")
            check_resource(changed)
            for place, document in documents_of(changed):
                found_objects = [fields for _, fields in objects(document)]
                texts = [text[text.find("{") : text.rfind("}") + 1] for text in strings(document)]  # in words, too
                require(
                    _OBJECT in found_objects or any(_reads_as(text, _OBJECT) for text in texts),
                    f"{where} is not in {place}",
                )
                _check_keys(document, _OBJECT, f"{where} is in {place}")
            return


def _check_given(sample: Sample, message: msg.AssistantMessage, call: msg.ToolPart, given: object) -> None:
    """Check that the frames have each string of an input that came whole, and that one without any is an input."""
    came = "\x00".join(sample.strings)
    lost = [text for text in strings(given) if text not in came and json.dumps(text)[1:-1] not in came]
    require(not lost, f"{sample.name}: call {call.call_id!r} has {lost[:1]} in its input, which no frame has")
    frames = sample.replacing(given, {})
    inputs = [each.input for each in sample.rewritten(frames).calls]
    expected: list[object] = [{} if each.input == call.input else each.input for each in message.tool_calls]
    require(
        frames == sample.payloads or len(sample.answers) > 1 or inputs == expected,
        f"{sample.name}: with an empty object as the input of call {call.call_id!r} the inputs are {inputs!r:.200}",
    )


def _check_keys(document: object, given: Mapping[str, object], where: str) -> None:
    """Check that an object has its keys in the order that came: another order is another prompt for a cache."""
    for _, fields in objects(document):
        require(fields != given or [*fields] == [*given], f"{where} with its keys in the order {[*fields]}")


def check_outputs(sample: Sample) -> None:
    """Put a long text with blanks and signs into the result of a tool of the provider: it arrives as it is."""
    found = [each for each in sample.calls if each.provider_executed]
    _check_written_results(sample, found)
    for text in {text for call in found for text in texts_of_output(call) if not _WORD.fullmatch(text)}:
        frames = sample.replacing(text, _LONG)
        changed = sample.rewritten(frames)
        calls = changed.calls
        if frames == sample.payloads or len(calls) != len(sample.calls):
            continue  # a piece of the text was something else, too
        emptied = sample.rewritten(sample.replacing(text, ""))
        check_resource(emptied)
        unanswered = [each.name for each in emptied.calls if _has_no_result(each)]
        require(
            not unanswered or any(map(_has_no_result, found)),
            f"{sample.name}: with an empty text in place of {text!r:.60} the calls {unanswered} have no result",
        )
        texts = [each for call in calls for each in texts_of_output(call)]
        marked = next((each for each in texts if _LONG.strip()[:20] in each or _LONG.strip()[-20:] in each), "")
        require(
            any(_LONG in each for each in texts),
            f"{sample.name}: with a text of {len(_LONG)} characters that begins with {_LONG[:9]!r} and ends with "
            f"{_LONG[-9:]!r} in place of {text!r:.60} the result has {len(marked)} characters: {marked[:9]!r}",
        )
        check_emitter(changed)
        check_resource(changed)


def _check_written_results(sample: Sample, calls: Sequence[msg.ToolPart]) -> None:
    """Check that results are not texts of the JSON that frames have, and that an empty object is a result."""
    came = sample.strings
    for call in calls:
        texts = [each.text for each in call.output if isinstance(each, TextContent)]
        again = [text for text in texts if text not in came and any(text == json.dumps(each) for each in came)]
        require(not again, f"{sample.name}: the result of call {call.call_id!r} is written again as JSON: {again[:1]}")
        for content in call.output:
            given = thaw(content.value) if isinstance(content, JsonContent) else None
            for other in ({}, _OBJECT) if given and next(objects(given), ((), None))[1] == given else ():
                frames = sample.replacing(given, other)
                changed = sample.rewritten(frames)
                outputs = [each.output for each in changed.calls]
                require(
                    frames == sample.payloads or (JsonContent(other),) in outputs or len(call.output) > 1,
                    f"{sample.name}: with the result {other} of call {call.call_id!r} the results are {outputs!r:.200}",
                )


def check_names(sample: Sample) -> None:
    """Put another name, and another id, in place of those of a call of the app: it has them as they are."""
    for message in sample.answers:
        for at, call in enumerate(message.tool_calls):
            changes = {} if call.provider_executed else {call.name: _NAME, id_of(call): _IDENT}
            for given, other in changes.items():
                frames = sample.replacing(given, other)
                answers = [each for each in sample.rewritten(frames).answers if each.id == message.id]
                calls = [each for one in answers for each in one.tool_calls]
                if frames == sample.payloads or len(calls) != len(message.tool_calls):
                    continue
                what, found = ("name", calls[at].name) if other == _NAME else ("id", id_of(calls[at]))
                require(
                    found in (given, other),  # the first for a call that is named by its type
                    f"{sample.name}: call {call.call_id!r} with the {what} {other!r} has the {what} {found!r}",
                )


def _has_no_result(call: msg.ToolPart) -> bool:
    return call.error is not None and call.error.kind == ErrorKind.NO_RESULT


def texts_of_output(call: msg.ToolPart) -> list[str]:
    """Return the texts of a result, and the strings in its JSON."""
    return [
        text
        for content in call.output
        if not isinstance(content, MediaContent)
        for text in strings(content.text if isinstance(content, TextContent) else thaw(content.value))
    ]


def mixes_items(sample: Sample) -> bool:
    """Return whether a stream has more of an item behind the start of another: the wire may mix them."""
    numbers = [number for number, _ in _runs(sample) if number >= 0]
    return len(numbers) > len(set(numbers))


def check_interleaving(sample: Sample) -> None:
    """Mix frames of two calls of the app, on a wire that may mix items: both inputs arrive whole."""
    runs = _runs(sample)
    expected = _calls(sample)
    begun = [len(_calls(_of(sample, runs[:at]))) for at in range(len(runs) + 1)] if len(runs) > 1 else []
    for at, ((one, _), (other, _)) in enumerate(pairwise(runs)):
        are_calls = begun[at] < begun[at + 1] < begun[at + 2]
        end = next((to for to in range(at, len(runs)) if runs[to][0] not in (one, other)), len(runs))
        first, second = (
            [each for number, some in runs[at:end] if number == which for each in some] for which in (one, other)
        )
        if min(one, other) < 0 or not are_calls or _have_reason([*first, *second]):
            continue
        half, middle = len(first) // 2, len(second) // 2
        mixed = [(one, first[:half]), (other, second[:middle]), (one, first[half:]), (other, second[middle:])]
        calls = _calls(_of(sample, [*runs[:at], *mixed, *runs[end:]]))
        require(
            calls == expected,
            f"{sample.name}: with mixed frames of the items {one} and {other} the calls are {calls}, "
            f"expected {expected}",
        )


def check_early_ends(sample: Sample) -> None:
    """End the body after a frame: on a wire with finish reasons nothing but the whole is complete without one."""
    if any(message.raw_finish_reason is None for message in sample.answers):
        return  # the end of the body may be the end of the answer
    whole = _size(sample.transcript)
    for frame in sample.frames[: -1 : -(-len(sample.frames) // _TRIED) or 1]:
        decoder = sample.decoder()
        events = decoder.feed(sample.body[: frame.end])
        if decoder.terminal:
            break
        transcript = fold([*events, *decoder.close()])
        last = transcript.last
        if isinstance(last, msg.AssistantMessage) and len(transcript.messages) == len(sample.transcript.messages):
            require(
                last.status is not msg.MessageStatus.COMPLETED
                or (last.raw_finish_reason or "\0").encode() in sample.body[: frame.end]
                or _size(transcript) >= whole,
                f"{sample.name}: the body ends at byte {frame.end}, before the end of the answer, and without a finish "
                "reason of the provider the step is complete",
            )


def check_counts_of_cuts(sample: Sample) -> None:
    """Cut the stream after a frame: counts that are not those of the whole have `partial` in their details."""
    if any(message.error is not None for message in sample.answers):
        return
    whole = [_counts(message) for message in sample.answers]
    for frame in sample.frames[: -1 : -(-len(sample.frames) // _TRIED) or 1]:
        decoder = sample.decoder()
        events = decoder.feed(sample.body[: frame.end])
        if decoder.terminal:
            break
        last = fold([*events, *decoder.close(CUT)]).last
        if not isinstance(last, msg.AssistantMessage) or last.error is None or last.usage is None:
            continue
        require(
            _counts(last) in whole or bool(last.usage.details.get("partial")),
            f"{sample.name}: cut at byte {frame.end}, the step has counts that are not those of the whole, and "
            "their details have no `partial`",
        )


def check_payload_lines(sample: Sample) -> None:
    """Read frames without a separator as a decoder does: each payload is one line, with nothing beside it."""
    framing = sample.decoder().framing()
    if framing.separator:
        return
    lines, payloads = framing.lines(sample.body).count(b"\n"), len(sample.frames)
    require(
        lines == payloads,
        f"{sample.name}: `lines` of the framing returns {lines} lines for {payloads} payloads of `feed`",
    )
    beside = {frame.name for frame in sample.frames} - {None}
    require(
        not beside,
        f"{sample.name}: the framing has names beside its payloads, {sorted(map(str, beside))}; "
        "those of a framing without a separator are not read, and belong into the documents",
    )


# -- inside


def _counts(message: msg.AssistantMessage) -> dict[str, object]:
    usage = message.usage
    return {} if usage is None else {name: getattr(usage, name) for name in COUNTS}


def _with_text(sample: Sample, at: int, text: str, word: str | None) -> Sample:
    """Return the stream with *word* in place of *text* in a frame, and in whole texts that frames repeat."""
    changes: dict[int, dict[str, str | None]] = {at: {text: word}}
    found = [each for each in _texts(sample).values() if text in each]
    whole = found[0] if len(found) == 1 and found[0].count(text) == 1 else text
    for other, frame in enumerate(sample.frames):
        if other != at and whole != text and whole in strings(frame.document):
            changes[other] = {whole: whole.replace(text, word or "")}
    return sample.changed(changes)


def _streamed(sample: Sample, message_id: str) -> str:
    """Return the deltas of the texts of a message."""
    deltas = [each for each in sample.events if isinstance(each, TextDelta | ReasoningDelta)]
    return "".join([each.delta for each in deltas if each.message_id == message_id])


def _streamed_texts(sample: Sample) -> Iterator[tuple[int, Path, str]]:
    """
    Yield strings of frames that a text has, and no other frame: number of the frame, path and string.

    The first one of each path in frames of one name.
    """
    seen = Counter(sample.strings)
    texts = _texts(sample).values()
    found: set[tuple[str | None, Path]] = set()
    for at, frame in enumerate(sample.frames):
        for path, leaf in leaves(frame.document):
            if not isinstance(leaf, str) or len(leaf) < _SHORT or seen[leaf] > 1 or (frame.name, path) in found:
                continue
            if any(leaf in text for text in texts):
                found.add((frame.name, path))
                yield at, path, leaf


_Run: TypeAlias = tuple[int, list[tuple[str | None, Any]]]
"""The number of an item, -1 for none, and names and payloads of frames of it that follow each other."""


def _runs(sample: Sample) -> list[_Run]:
    runs: list[_Run] = []
    for frame, written in zip(sample.frames, sample.payloads, strict=True):
        found = number_of_item(sample, frame.document)
        number = -1 if found is None else found
        if not runs or runs[-1][0] != number:
            runs.append((number, []))
        runs[-1][1].append(written)
    return runs


def number_of_item(sample: Sample, document: Fields | None) -> int | None:
    """Return the number of the item that a frame is of: where deltas have it, or once under the same name."""
    frames = sample.decoder().delta_frames
    number = None if document is None else frames.number_in(document)
    if number is not None:
        return number
    key = frames.number[-1:] or sample.usual_number
    found = [leaf for path, leaf in leaves(document) if path[-1:] == key and type(leaf) is int]
    return found[0] if len(found) == 1 else None


def _have_reason(frames: object) -> bool:
    """Return whether frames have a reason to finish, behind which no input comes."""
    return any(path and path[-1].lower().endswith("reason") and leaf is not None for path, leaf in leaves(frames))


def _of(sample: Sample, runs: Sequence[_Run]) -> Sample:
    """Return a stream of the frames of *runs*."""
    frames = [*chain.from_iterable([frames for _, frames in runs])]
    return sample.rewritten(frames)


def _calls(sample: Sample) -> list[tuple[str, str, str]]:
    calls = [call for call in sample.calls if not call.provider_executed]
    return sorted([(call.call_id, call.name, call.raw_input) for call in calls])


def _texts(sample: Sample) -> dict[Place, str]:
    return _texts_of(sample.transcript)


def _texts_of(transcript: msg.Transcript) -> dict[Place, str]:
    return {
        place: part.text
        for place, part in parts_of(transcript).items()
        if isinstance(part, msg.TextPart | msg.ReasoningPart)
    }


def _pieces_of_input(sample: Sample, whole: str, other: str = _INPUT) -> dict[int, dict[str, str]]:
    """Return what is put in place of the pieces of an input, by frames; nothing when they are not found."""
    changes: dict[int, dict[str, str]] = {}
    rest = whole
    for at, frame in enumerate(sample.frames):
        found = strings(frame.document)
        piece = next((text for text in found if text and rest.startswith(text)), None) if rest else None
        if piece is not None:
            changes[at] = {piece: "" if changes else other}
            rest = rest[len(piece) :]
        if whole in found:
            changes[at] = {whole: other}
    return {} if rest or len(whole) < _SHORT else changes


def _written(sample: Sample) -> Iterator[tuple[str, list[str]]]:
    """Yield the strings of the request after the sample, of its stream and of its document, by what they are of."""
    make = sample.dialect.emitter
    for place, document in documents_of(sample):
        yield place, strings(document)
    if make is not None:
        frames = written_again(sample, make()).frames
        yield "the emitter's stream", [text for frame in frames for text in strings(frame.document)]


def documents_of(sample: Sample) -> Iterator[tuple[str, object]]:
    """Yield the request after the sample, and its document, by what they are."""
    encode, write = sample.dialect.encoder, sample.dialect.emit_resource
    if encode is not None:
        body = app_body(sample)
        own = Sample(sample.dialect, sample.name, sample.body, request=body)  # an answer of the model that is asked
        results = [call.succeed("x") for call in own.calls if not call.provider_executed and not call.settled]
        events = [*prompt_events("u0"), *own.events, *results]
        provider = own.answers[0].origin.provider
        yield "the request", encode_twice(sample, encode, events, body, provider=provider, mode="full").body
    if write is not None and len(sample.answers) == 1:
        yield "the document", write(sample.answers[0])


def _reads_as(text: str, value: object) -> bool:
    """Return whether a text is the JSON of an object."""
    if not text.startswith("{"):
        return False
    try:
        return bool(json.loads(text) == value)
    except ValueError:
        return False


def _size(transcript: msg.Transcript) -> int:
    """Return how much content there is."""
    parts: list[Any] = list(parts_of(transcript).values())
    return sum([len(dumps(part)) for part in parts])
