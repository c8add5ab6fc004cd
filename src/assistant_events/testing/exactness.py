"""
What a stream contains arrives as it was written, and nothing else is read into it.

No expected results are needed: a stream is changed or ended early, and its events are compared with those before.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, Final, TypeAlias

from assistant_events import messages as msg
from assistant_events.converters import dumps
from assistant_events.reducer import fold
from assistant_events.testing.conservation import COUNTS
from assistant_events.testing.round_trips import app_body, emitted, encode_twice, prompt_events
from assistant_events.testing.sample import (
    CUT,
    Path,
    Place,
    Sample,
    leaves,
    named,
    parts_of,
    require,
    strings,
)
from assistant_events.values import thaw

_PLAIN: Final = "Zzyxw"
_ODD: Final = '  \u00e9\U0001f600\r\n<b>"\\  x\t  '
_BLANK: Final = "\n  "
"""A text of one word, one with everything that may be taken away, joined or escaped, and one of blanks."""

_INPUT: Final = '{ "b" : 1.50, "a":"\\u00e9\\/", "n":12345678901234567890,"l":[ ] }'
"""An input of a call that no writer of JSON would write."""

_SHORT: Final = 3
"""Shorter texts occur in others by chance."""

_TRIED: Final = 30
"""At how many frames a stream is ended at most."""

_LONGEST: Final = 1 << 14
"""Bytes of a stream that is fed byte by byte."""

_SSE: Final = b"\n\n"
"""What is between frames of server-sent events."""


def check_texts(sample: Sample) -> None:
    """Put blanks, line ends and signs into a text that streams: where a plain word arrives, they do too."""
    tried: set[tuple[str | None, Path]] = set()
    for at, path, text in _streamed_texts(sample):
        frame = sample.frames[at]
        if (frame.name, path) in tried:
            continue
        tried.add((frame.name, path))
        plain, *odd = (_texts(sample.changed({at: {text: word}})) for word in (_PLAIN, _ODD, _BLANK))
        places = [place for place, found in plain.items() if found.count(_PLAIN) == 1]
        for word, texts in zip((_ODD, _BLANK), odd, strict=True) if len(places) == 1 else ():
            found = texts.get(places[0], "")
            require(
                found == plain[places[0]].replace(_PLAIN, word),
                f"{sample.name}: with {word!r} in {'.'.join(path)} of the frame at byte {frame.start}, "
                f"{named(places)} has the text {found!r:.200}",
            )


def check_inputs(sample: Sample) -> None:
    """Put JSON that no writer would write into the input of a call: it is kept and sent as it is, and read exactly."""
    for message in sample.answers:
        for call in message.tool_calls:
            changes = {} if call.input is None else _pieces_of_input(sample, call.raw_input)
            if not changes or [*thaw(call.input or {}).values()] == [call.raw_input]:
                continue  # an input of free text has the text under one name
            changed = sample.changed(changes)
            same = [each for answer in changed.answers for each in answer.tool_calls if each.call_id == call.call_id]
            if len(same) != 1:
                continue  # a piece of the input was something else, too
            [found], where = same, f"{sample.name}: call {call.call_id!r} with the input {_INPUT}"
            require(found.raw_input == _INPUT, f"{where} has the raw input {found.raw_input}")
            expected, read = json.dumps(json.loads(_INPUT)), json.dumps(thaw(found.input or {}))
            require(read == expected, f"{where} is read as {read}, expected {expected}")
            for place, texts in _written(changed):
                again = [text for text in texts if text != _INPUT and _is_input(text)]
                require(not again, f"{where} is written again in {place}: {again[:1]}")
            return


def mixes_items(sample: Sample) -> bool:
    """Return whether a stream has more of an item behind the start of another: the wire may mix them."""
    numbers = [number for number, _ in _runs(sample) if number >= 0]
    return len(numbers) > len(set(numbers))


def check_interleaving(sample: Sample) -> None:
    """Mix frames of two calls of the app, on a wire that may mix items: both inputs arrive whole."""
    runs = _runs(sample)
    expected = _calls(sample)
    begun = [len(_calls(_of(sample, runs[:at]))) for at in range(len(runs) + 1)] if len(runs) > 1 else []
    for at, ((one, first), (other, second)) in enumerate(pairwise(runs)):
        are_calls = begun[at] < begun[at + 1] < begun[at + 2]
        if min(one, other) < 0 or not are_calls or _have_reason([*first, *second]):
            continue
        half, middle = len(first) // 2, len(second) // 2
        mixed = [(one, first[:half]), (other, second[:middle]), (one, first[half:]), (other, second[middle:])]
        calls = _calls(_of(sample, [*runs[:at], *mixed, *runs[at + 2 :]]))
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


def check_lines(sample: Sample) -> None:
    """Write server-sent events as others do, with a mark at the start, other line ends, comments, and more fields."""
    if sample.decoder().framing.separator != _SSE:
        return
    lines = sample.body.replace(b"\r\n", b"\n")
    ways = {
        "a byte order mark": b"\xef\xbb\xbf" + sample.body,
        "line ends of CR and LF": lines.replace(b"\n", b"\r\n"),
        "comments": lines.replace(_SSE, _SSE + b": keep-alive\n\n"),
        "the fields id and retry": lines.replace(b"\ndata:", b"\nid: 7\nretry: 10\ndata:"),
    }
    for way, body in ways.items():
        for size in (len(body) or 1, *([1] if len(body) <= _LONGEST else [])):
            pieces = [body[at : at + size] for at in range(0, len(body), size)]
            require(
                fold(sample.decode(pieces)) == sample.transcript,
                f"{sample.name}: with {way}, in pieces of {size} bytes, it gives another transcript",
            )


# -- inside


def _counts(message: msg.AssistantMessage) -> dict[str, object]:
    usage = message.usage
    return {} if usage is None else {name: getattr(usage, name) for name in COUNTS}


def _streamed_texts(sample: Sample) -> Iterator[tuple[int, Path, str]]:
    """Yield the strings of frames that one text has, and no other frame: number of the frame, path and string."""
    documents = [frame.document for frame in sample.frames]
    seen = Counter([text for document in documents for text in strings(document)])
    texts = _texts(sample).values()
    for at, document in enumerate(documents):
        for path, leaf in leaves(document):
            if not isinstance(leaf, str) or len(leaf) < _SHORT or seen[leaf] > 1:
                continue
            if sum([text.count(leaf) for text in texts]) == 1:
                yield at, path, leaf


_Run: TypeAlias = tuple[int, list[tuple[str | None, Any]]]
"""The number of an item, -1 for none, and names and payloads of frames of it that follow each other."""


def _runs(sample: Sample) -> list[_Run]:
    # Any: plain JSON.
    number_in = sample.decoder().delta_frames.number_in
    runs: list[_Run] = []
    for frame, written in zip(sample.frames, sample.payloads, strict=True):
        found = None if frame.document is None else number_in(frame.document)
        number = -1 if found is None else found
        if not runs or runs[-1][0] != number:
            runs.append((number, []))
        runs[-1][1].append(written)
    return runs


def _have_reason(frames: object) -> bool:
    """Return whether frames have a reason to finish, behind which no input comes."""
    return any(path and path[-1].lower().endswith("reason") and leaf is not None for path, leaf in leaves(frames))


def _of(sample: Sample, runs: Sequence[_Run]) -> Sample:
    """Return a stream of the frames of *runs*."""
    frames = chain.from_iterable([frames for _, frames in runs])
    return Sample(sample.dialect, sample.name, sample.written(frames), request=sample.request)


def _calls(sample: Sample) -> list[tuple[str, str, str]]:
    calls = [call for message in sample.answers for call in message.tool_calls if not call.provider_executed]
    return sorted([(call.call_id, call.name, call.raw_input) for call in calls])


def _texts(sample: Sample) -> dict[Place, str]:
    return {
        place: part.text
        for place, part in parts_of(sample.transcript).items()
        if isinstance(part, msg.TextPart | msg.ReasoningPart)
    }


def _pieces_of_input(sample: Sample, whole: str) -> dict[int, dict[str, str]]:
    """Return what is put in place of the pieces of an input, by frames; nothing when they are not found."""
    changes: dict[int, dict[str, str]] = {}
    rest = whole
    for at, frame in enumerate(sample.frames):
        found = strings(frame.document)
        piece = next((text for text in found if text and rest.startswith(text)), None) if rest else None
        if piece is not None:
            changes[at] = {piece: "" if changes else _INPUT}
            rest = rest[len(piece) :]
        if whole in found:
            changes[at] = {whole: _INPUT}
    return {} if rest or len(whole) < _SHORT else changes


def _written(sample: Sample) -> Iterator[tuple[str, list[str]]]:
    """Yield the strings of the request after the sample, of its stream and of its document, by what they are of."""
    encode, make, write = sample.dialect.encoder, sample.dialect.emitter, sample.dialect.emit_resource
    if encode is not None:
        calls = [call for message in sample.answers for call in message.tool_calls]
        results = [call.succeed("x") for call in calls if not call.provider_executed and not call.settled]
        events = [*prompt_events("u0"), *sample.events, *results]
        provider = sample.answers[0].origin.provider
        request = encode_twice(sample, encode, events, app_body(sample), provider=provider, mode="full").body
        yield "the request", strings(request)
    if make is not None:
        body = emitted(make(), sample.events, sample.name)
        frames = Sample(sample.dialect, sample.name, body, request=sample.request).frames
        yield "the emitter's stream", [text for frame in frames for text in strings(frame.document)]
    if write is not None and len(sample.answers) == 1:
        yield "the document", strings(write(sample.answers[0]))


def _is_input(text: str) -> bool:
    """Return whether a text is JSON with the content of the input."""
    if not text.startswith("{"):
        return False
    try:
        return bool(json.loads(text) == json.loads(_INPUT))
    except ValueError:
        return False


def _size(transcript: msg.Transcript) -> int:
    """Return how much content there is."""
    parts: list[Any] = list(parts_of(transcript).values())
    return sum([len(dumps(part)) for part in parts])
