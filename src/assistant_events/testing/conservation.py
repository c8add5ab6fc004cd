"""
What a stream has arrives in its events: nothing is lost, made up, misplaced, or shared with another stream.

No expected results are needed: each check compares the events with the frames.
"""

from __future__ import annotations

import json
import re
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from statistics import median
from types import FrameType
from typing import Any, Final, NamedTuple, TypeAlias

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.json_fields import Fields, base64_bytes
from assistant_events.adapters.tables import names
from assistant_events.converters import dumps
from assistant_events.errors import JsonError
from assistant_events.events import Event, MediaEnded, ReasoningDelta, StepEnded, StepFailed, TextDelta, ToolInputDelta
from assistant_events.messages import Part, PartStatus, TextPart, ToolPart, Transcript, content_status
from assistant_events.reducer import fold
from assistant_events.testing.sample import (
    Path,
    Place,
    Sample,
    SampleFrame,
    leaves,
    named,
    number_arrays,
    objects,
    opaque_strings,
    parts_of,
    replaced,
    require,
    strings,
)
from assistant_events.values import Usage, read_json, thaw

_SHORT: Final = 6
"""Shorter strings occur in others by chance: they are looked for in what a model wrote, not in state and names."""

_OPAQUE: Final = 8
"""Length from which on a string in state is changed to see which part has it."""

_CHANGED_STRINGS: Final = 6
_REPEATS: Final = (100, 1000)
_MEASURED_FRAMES: Final = 15

_SAVED: Final = 1.5
"""A fast path saves more than this. Where none was learned, the framing alone makes the plain one dearer."""

COUNTS: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")

_OF_SIDES: Final = {
    "input_tokens": re.compile("input|prompt", re.IGNORECASE),
    "output_tokens": re.compile("output|completion|candidate|response", re.IGNORECASE),
    "cache_read_tokens": re.compile("read|hit", re.IGNORECASE),
    "cache_write_tokens": re.compile("writ|creat", re.IGNORECASE),
}
"""Words in the names of counts, on most wires, by the side that they belong to."""

_OTHER_SIDES: Final = {
    "input_tokens": "output_tokens",
    "output_tokens": "input_tokens",
    "cache_read_tokens": "cache_write_tokens",
    "cache_write_tokens": "cache_read_tokens",
}

_FAILED: Final = re.compile(r"(^|[._-])(error|failed|failure|exceeded|timeout|timed_out)$", re.IGNORECASE)
"""Ends of a status or an outcome without success."""

OF_TOOLS: Final = names("args arguments input output outputs response result results data json parameters tools text")
"""Names of fields, of most wires, whose content is of a tool or a model."""

_FLAGS: Final = {"iserror": True, "failed": True, "ok": False}
"""What a flag of a failure is, by its name in small letters."""

_OF_SOURCES: Final = re.compile(r"citation|annotation|(?:^|_)(?:source|reference)s?$", re.IGNORECASE)
_SOURCES: Final = {"url": "url", "uri": "url", "title": "title", "cited_text": "cited_text"}
"""By names of fields of sources, of most wires, what a citation has of them."""

_END: Final = re.compile(r"(start|end)(?:_?[iI]ndex)?")
"""Names of the ends of a source in a text, on most wires."""

_WRITTEN: Final = frozenset({"text", "raw_input", "input", "output", "message", "summary", "transcript", "cited_text"})
"""Fields of events with text of any length, in which a frame's part of it is looked for."""

# -- nothing is lost


def check_nothing_lost(sample: Sample) -> None:
    """Check that each string, each last number and those of arrays are in a durable event, or dropped by name."""
    kept = _Kept.of(sample.events)
    read = [(frame, document) for frame in sample.frames if (document := frame.document) is not None]
    last = {path[-2:]: leaf for _, document in read for path, leaf in leaves(document)}
    listed = {path for _, document in read for path in number_arrays(document)}  # no counts, which grow
    found: set[tuple[Path, object]] = set()
    for frame, document in read:
        for path, fields in objects(document):
            printed = repr(fields) if fields else ""
            require(
                not printed or printed not in kept.anywhere,
                f"{sample.name}: {'.'.join(path)} of the frame at byte {frame.start} is in an event as Python prints "
                f"it: {printed:.60}",
            )
        for path, leaf in leaves(document):
            if isinstance(leaf, bool) or not leaf or (path, leaf) in found:
                continue
            is_lost = (
                not kept.has(leaf)
                if isinstance(leaf, str)
                else isinstance(leaf, (int, float))
                and (path in listed or last[path[-2:]] == leaf)
                and leaf not in kept.numbers
            )
            if not is_lost:
                found.add((path, leaf))
                continue
            if not _is_dropped(sample, frame, document, path):
                codes = {f"note:{code}" for code in _notes(sample, frame)}
                noted = f", nor its note {min(codes, default='')!r}" if codes else ""
                require(
                    not codes.isdisjoint(sample.dialect.dropped),
                    f"{sample.name}: {'.'.join(path)} is lost: no durable event has {_short(leaf)} of the frame at "
                    f"byte {frame.start}, and `Dialect.dropped` does not name it{noted}",
                )


def check_citations(sample: Sample) -> None:
    """Check that each source in the state of a text is among its citations, and each of these where a frame has one."""
    _check_ranges(sample)
    _check_made_up(sample)
    found = [each for part in parts_of(sample.transcript).values() for each in getattr(part, "citations", ())]
    for title in {each.title for each in found if each.title}:
        _check_made_up(sample.rewritten(sample.replacing(title, None)))
    for place, part in parts_of(sample.transcript).items():
        if not isinstance(part, TextPart):
            continue
        for path, leaf in leaves(thaw(part.state)):
            name = _SOURCES.get(path[-1]) if any(_OF_SOURCES.search(each) for each in path) else None
            require(
                name is None or not leaf or leaf in [getattr(each, name) for each in part.citations],
                f"{sample.name}: {'.'.join(path)} of the state of {named([place])} is in no citation: {_short(leaf)}",
            )


def _check_made_up(sample: Sample) -> None:
    """Check that frames have the address and the title of each citation."""
    came = "\x00".join(sample.strings)
    for place, part in parts_of(sample.transcript).items():
        for each in getattr(part, "citations", ()):
            for name, text in (("url", each.url), ("title", each.title)):
                require(
                    not text or text in came,
                    f"{sample.name}: a citation of {named([place])} has the {name} {text!r}, which no frame has",
                )


def _check_ranges(sample: Sample) -> None:
    ranges: set[_Range] = {
        (start, end, text if isinstance(text := fields.get("text"), str) else None)
        for frame in sample.frames
        for fields, start, end in places_in(frame.document)
    }
    before: dict[str, list[str]] = {}  # the texts of a message: some wires count from the first one, or of the item
    for place, part in parts_of(sample.transcript).items() if ranges else ():
        if not isinstance(part, TextPart):
            continue
        earlier = before.setdefault(place[0], [""])  # all that the place may count from
        starts, before[place[0]] = earlier, ["", *[each + part.text for each in earlier]]
        for each in part.citations:
            require(
                each.start is None
                or each.end is None
                or any(not ranges.isdisjoint(_written(text, part.text, each.start, each.end)) for text in starts),
                f"{sample.name}: a citation of {named([place])} is from {each.start} to {each.end} of its text, and no "
                "frame has a source there",
            )


_Range: TypeAlias = tuple[int, int, str | None]
"""Start and end of a source in a text, and the text between them where a frame has it."""


def places_in(document: object) -> Iterator[tuple[Mapping[str, Any], int, int]]:
    """Yield the objects with a place in a text, and start and end of it. Protobuf leaves out a start of 0."""
    for _, fields in objects(document):
        ends = {found[1]: leaf for key, leaf in fields.items() if (found := _END.fullmatch(key))}
        start, end = ends.get("start", 0), ends.get("end")
        if type(start) is int and type(end) is int:
            yield fields, start, end


def _written(earlier: str, text: str, start: int, end: int) -> set[_Range]:
    """Return a range of code points as wires write it: in code points, UTF-16 units or bytes."""
    sizes: tuple[Callable[[str], int], ...] = (
        len,
        lambda before: len(before.encode("utf-16-le")) // 2,
        lambda before: len(before.encode()),
    )
    ends = [(size(earlier + text[:start]), size(earlier + text[:end])) for size in sizes]
    return {(*each, quoted) for each in ends for quoted in (None, text[start:end])}


def check_failures(sample: Sample) -> None:
    """Check that a call or the answer has failed where a frame calls something failed."""
    for message in sample.answers:
        if message.error is not None or any(call.error is not None for call in message.tool_calls):
            return
    for frame in sample.frames:
        for path, leaf in leaves(frame.document or {}):
            require(
                not is_failure(path, leaf)
                or _is_dropped(sample, frame, frame.document or {}, path)
                or bool(_notes(sample, frame)),
                f"{sample.name}: {'.'.join(path)} of the frame at byte {frame.start} is {_short(leaf)}, and neither a "
                "call nor the answer has failed",
            )


def is_failure(path: Path, leaf: object) -> bool:
    """Return whether a field calls something failed, which is not of a tool or a model."""
    if not OF_TOOLS.isdisjoint(path[:-1]):
        return False
    if isinstance(leaf, bool):
        return leaf is _FLAGS.get(path[-1].lower().replace("_", ""))
    if not isinstance(leaf, str):
        return False
    return (
        leaf.endswith(("_error", "-error"))
        if path[-1] == "type"
        else path[-1] in ("status", "outcome") and bool(_FAILED.search(leaf))
    )


def _notes(sample: Sample, frame: SampleFrame) -> set[str]:
    """Return the codes of the notes that the decoder makes of a frame."""
    decoder = sample.decoder(fast=False)
    decoder.feed(sample.body[: frame.start])
    before = len(decoder.notes)
    decoder.feed(sample.body[frame.start : frame.end])
    return {note.code for note in decoder.notes[before:]}


class _Kept(NamedTuple):
    """The content of durable events."""

    exact: frozenset[str]
    anywhere: str
    written: str
    """The text in fields that a model, a tool or a service writes."""

    numbers: frozenset[float]
    media: bytes

    @classmethod
    def of(cls, events: Sequence[Event]) -> _Kept:
        """Return the content of *events*; JSON inside of a string is read too."""
        found: list[tuple[Path, object]] = []
        for event in events:
            if event.durable:
                found += leaves(json.loads(dumps(event)))
        for path, leaf in list(found):
            if isinstance(leaf, str) and leaf[:1] in ("{", "["):
                found += [(path + inner, each) for inner, each in leaves(_read(leaf))]
        texts = [(path, leaf) for path, leaf in found if isinstance(leaf, str)]
        return cls(
            frozenset([text for _, text in texts]),
            "\x00".join([text for _, text in texts]),
            "\x00".join([text for path, text in texts if not _WRITTEN.isdisjoint(path)]),
            frozenset([leaf for _, leaf in found if isinstance(leaf, (int, float))]),
            b"".join([event.data or b"" for event in events if isinstance(event, MediaEnded)]),
        )

    def has(self, text: str) -> bool:
        """Return whether *text* is there: by itself, or in a longer one."""
        if text in self.exact or text in (self.written if len(text) < _SHORT else self.anywhere):
            return True
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            return True  # half of a pair, whose other half came in another frame
        encoded = text.partition(";base64,")[2] if text.startswith("data:") else text
        data = base64_bytes(encoded) if self.media else None
        if data is not None and data in self.media:
            return True
        inner = _read(text) if text[:1] in ("{", "[") else None
        return bool(inner) and all(each in self.exact for each in strings(inner))


def _is_dropped(sample: Sample, frame: SampleFrame, document: Fields, path: Path) -> bool:
    for pattern in sample.dialect.dropped:
        word, slash, field = pattern.rpartition("/")
        if slash and word != frame.name and word not in document.values():
            continue
        names = tuple(field.removeprefix(".").split("."))
        places = range(1 if field.startswith(".") else len(path))
        if any(path[at : at + len(names)] == names for at in places):
            return True
    return False


# -- nothing is made up


def check_numbers(sample: Sample) -> None:
    """Check that usage has only numbers of the frames under their names, of its side, or sums, and no zeros beside."""
    numbers = {(path[-1:], leaf) for frame in sample.frames for path, leaf in leaves(frame.document)}
    plain = {leaf for _, leaf in numbers}
    for event in sample.events:
        usage = event.usage if isinstance(event, (StepEnded, StepFailed)) else None
        if usage is None:
            continue
        found: dict[Path, float] = {}
        for path, leaf in leaves(usage.details):
            if isinstance(leaf, bool) or not isinstance(leaf, (int, float)):
                continue
            found[path] = leaf
            require(
                (path[-1:], leaf) in numbers,
                f"{sample.name}: usage.details.{'.'.join(path)} is {leaf}, which no frame has under that name",
            )
        details = [*found.values()]
        for name, count in _counts(usage):
            require(
                not _is_swapped(name, count, found),
                f"{sample.name}: usage.{name} is {count}, which is only in fields of the other side",
            )
            require(
                count in details if count == 0 else count in plain or is_sum(count, details),
                f"{sample.name}: usage.{name} is {count}, which is neither in a frame nor a sum of its details; "
                "a count that is not sent is None",
            )


def _counts(usage: Usage) -> Iterator[tuple[str, int]]:
    for name in COUNTS:
        count: int | None = getattr(usage, name)
        if count is not None:
            yield name, count


def _is_swapped(name: str, count: int, details: Mapping[Path, float]) -> bool:
    """Return whether a side has a count that is the other one's by its name."""
    if name not in _OF_SIDES:
        return False
    other = _OTHER_SIDES[name]
    others = {path for path in details if _has(path, other) and not _has(path, name)}
    own = [leaf for path, leaf in details.items() if path not in others]
    return count in [details[path] for path in others] and count not in own and not is_sum(count, own)


def _has(path: Path, side: str) -> bool:
    return _OF_SIDES[side].search(path[-1]) is not None


def is_sum(count: int, details: Sequence[float]) -> bool:
    """Return whether a count is the sum of up to four others, or the difference of two."""
    summands = [each for each in details if each]
    return any(sum(some) == count for size in (2, 3, 4) for some in combinations(summands, size)) or any(
        abs(one - other) == count for one, other in combinations(summands, 2)
    )


# -- nothing is misplaced


def check_places(sample: Sample) -> None:
    """Change one opaque string of the frames: exactly one part changes, the one that was open when it came."""
    frames = sample.payloads
    plain = parts_of(_decoded(sample, frames))
    for text, place in opaque_places(plain):
        came = [at for at, (_, payload) in enumerate(frames) if text in strings(payload)]
        if not came:
            continue  # the decoder joined or took it apart
        changed = _changed(text)
        parts = parts_of(_decoded(sample, [(name, replaced(payload, text, changed)) for name, payload in frames]))
        others = [each for each in {**plain, **parts} if plain.get(each) != parts.get(each)]
        where = f"{sample.name}: {_short(text)} of the frame at byte {sample.frames[came[0]].start}"
        require(
            others == [place],
            f"{where}: with another text there, {named(others)} changed; expected {named([place])} alone",
        )
        item = item_of(sample, plain, place)
        first = _open_at(sample, frames, came[0], plain[place])
        opened = chain([first], (_open_at(sample, frames, at, plain[place]) for at in came[1:]))
        require(
            any(not open_then or item & open_then for open_then in opened),
            f"{where} is in {named([place])}; {named(first)} was open",
        )


def _decoded(sample: Sample, frames: Sequence[tuple[str | None, Any]]) -> Transcript:
    return fold(sample.decode([sample.written(frames)]))


def opaque_places(parts: Mapping[Place, Any]) -> list[tuple[str, Place]]:
    """Return some of the strings of state that exactly one part has, with its place."""
    texts = {place: "\x00".join(strings(json.loads(dumps(part)))) for place, part in parts.items()}
    found = {text: place for place, part in parts.items() for _, text in opaque_strings(part, _OPAQUE)}
    alone = [(text, place) for text, place in found.items() if sum([text in each for each in texts.values()]) == 1]
    return alone[:: -(-len(alone) // _CHANGED_STRINGS) or 1]


def item_of(sample: Sample, parts: Mapping[Place, Part], place: Place) -> set[Place]:
    """Return the places of the parts of one item of the provider: it has a part more when state comes after its end."""
    key = sample.dialect.policy.item_key or ""
    number = parts[place].state.get(key)
    others = {each for each, part in parts.items() if number is not None and part.state.get(key) == number}
    return {place, *(each for each in others if each[0] == place[0])}


def _open_at(sample: Sample, frames: Sequence[tuple[str | None, Any]], at: int, holder: Part) -> set[Place]:
    """Return the parts that were open for *holder*'s state at frame *at*, or that it began; none when none were."""
    decoder = sample.decoder()
    before = decoder.feed(sample.written(frames[:at]))
    old = parts_of(fold(before))
    new = parts_of(fold([*before, *decoder.feed(sample.written(frames[at : at + 1]))]))
    still = {place for place, part in old.items() if _is_open(part, for_result=isinstance(holder, ToolPart))}
    return still | (new.keys() - old.keys()) if still else set()


def _is_open(part: Part, *, for_result: bool) -> bool:
    """Return whether state can still come for a part: a call that was made can only get that of its result."""
    is_owed = for_result and isinstance(part, ToolPart) and not part.settled
    return is_owed or content_status(part) is PartStatus.STREAMING


def _changed(text: str) -> str:
    """Return a text of the same length and alphabet."""
    at = len(text) // 2
    while not text[at].isalnum() and at:
        at -= 1
    return f"{text[:at]}{'B' if text[at] == 'A' else 'A'}{text[at + 1 :]}"


# -- nothing is shared


def check_nothing_shared(samples: Sequence[Sample]) -> None:
    """Decode all streams in turns, and each with other opaque strings too: each gives what it gives alone."""
    pairs = [each for sample in samples for each in (sample, _with_other_strings(sample))]
    decoders = [sample.decoder() for sample in pairs]
    found: list[list[Event]] = [[] for _ in pairs]
    for turn in range(max([len(sample.frames) for sample in pairs], default=0)):
        for sample, decoder, events in zip(pairs, decoders, found, strict=True):
            if turn < len(sample.frames):
                frame = sample.frames[turn]
                events += decoder.feed(sample.body[frame.start : frame.end])
    for sample, decoder, events in zip(pairs, decoders, found, strict=True):
        events += decoder.feed(sample.body[sample.frames[-1].end :] if sample.frames else sample.body)
        events += decoder.close()
        require(
            fold(events) == sample.transcript,
            f"{sample.name}: decoded in turns with other streams it gives another transcript: decoders share something",
        )


def _with_other_strings(sample: Sample) -> Sample:
    frames = sample.payloads
    for text, _ in opaque_places(parts_of(sample.transcript)):
        frames = [(name, replaced(payload, text, _changed(text))) for name, payload in frames]
    return sample.rewritten(frames)


# -- nothing is read twice


def check_known_frames(sample: Sample) -> None:
    """Send a frame twice, where frames have ids: the second one changes nothing."""
    key = sample.decoder().delta_frames.unique
    tried: set[object] = set()
    for frame in sample.frames[:-1]:
        if not key or frame.shape in tried or key not in (frame.document or {}):
            continue
        tried.add(frame.shape)
        twice = fold(sample.decode([sample.body[: frame.end] + sample.body[frame.start :]]))
        require(
            twice == sample.transcript,
            f"{sample.name}: the frame at byte {frame.start} comes twice with the same {key}, and changes the answer",
        )


def check_growth(sample: Sample, tried: set[object]) -> None:
    """
    Repeat a frame of each shape: the cost of one more does not grow with those before, nor the memory of more text.

    Bytecodes and bytes are counted, so a busy machine changes nothing. *tried* has the shapes of frames that were
    repeated before, and gets these.
    """
    usual = Counter([frame.shape for frame in sample.frames]).most_common(1)
    for frame in sample.frames:
        trial = frame.shape, frame.shape == usual[0][0]
        if trial not in tried:
            tried.add(trial)
            _check_growth(sample, frame, is_usual=trial[1])


def _check_growth(sample: Sample, frame: SampleFrame, *, is_usual: bool) -> None:
    body = sample.body[frame.start : frame.end]
    on_fast_path = -1.0
    for fast in (True, False):
        decoder = sample.decoder(fast=fast)
        decoder.feed(sample.body[: frame.start])
        few = _cost_of_one_more(decoder, body, _REPEATS[0])
        if few.steps <= _SAVED * on_fast_path:
            break  # No fast path was learned: the plain one is what has been measured.
        on_fast_path = few.steps
        many = _cost_of_one_more(decoder, body, _REPEATS[1] - _REPEATS[0])
        streamed = _streamed(decoder.feed(body))
        added = streamed or max([len(text) for text in strings(frame.document)], default=0)
        where = f"{sample.name}: after {_REPEATS[1]} frames like the one at byte {frame.start}"
        shown = f"; the frame is {body[:300]!r}"
        require(
            many.steps <= 2 * few.steps + 100,
            f"{where}, one more costs {many.steps} bytecodes; after {_REPEATS[0]} it costs {few.steps}{shown}",
        )
        require(
            not (streamed or is_usual) or many.size - few.size <= added * (_REPEATS[1] - _REPEATS[0]) / 2,
            f"{where}, one more takes {many.size} bytes of memory; after {_REPEATS[0]} it takes {few.size}{shown}",
        )


def _streamed(events: Sequence[Event]) -> int:
    """Return the length of the text that *events* stream, if they do nothing else: a copy of all takes as much more."""
    deltas = [event.delta for event in events if isinstance(event, (TextDelta, ReasoningDelta, ToolInputDelta))]
    return sum(map(len, deltas)) if len(deltas) == len(events) else 0


class _Cost(NamedTuple):
    steps: float
    size: float


def _cost_of_one_more(decoder: DecoderBase, body: bytes, repeats: int) -> _Cost:
    decoder.feed(body * repeats)
    steps = [_bytecodes(decoder, body) for _ in range(_MEASURED_FRAMES)]
    return _Cost(median(steps), median(_sizes(decoder, body)))


def _bytecodes(decoder: DecoderBase, body: bytes) -> int:
    count = 0

    def trace(frame: FrameType, what: str, _: Any) -> Any:
        # Any: as `sys.settrace` wants it.
        nonlocal count
        frame.f_trace_opcodes = True
        count += what == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        decoder.feed(body)
    finally:
        sys.settrace(before)
    return count


def _sizes(decoder: DecoderBase, body: bytes) -> list[int]:
    was_on = tracemalloc.is_tracing()
    if not was_on:
        tracemalloc.start()
    found: list[int] = []
    try:
        for _ in range(_MEASURED_FRAMES):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            decoder.feed(body)
            found.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not was_on:
            tracemalloc.stop()
    return found


# -- sentences


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _read(text: str) -> object:
    try:
        return read_json(text)
    except JsonError:
        return None
