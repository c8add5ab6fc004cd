"""
The same answer in another form: with nulls, with frames that are joined, without texts, with words of tomorrow.

No expected results are needed: what a changed stream becomes is compared with what the sample became.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeAlias, cast

from assistant_events import messages as msg
from assistant_events.adapters.json_fields import mappings
from assistant_events.adapters.tables import names
from assistant_events.converters import dumps
from assistant_events.events import Event
from assistant_events.reducer import fold
from assistant_events.testing.conservation import COUNTS, OF_TOOLS, opaque_places
from assistant_events.testing.meanings import USUAL_CODES, check_error, may_end
from assistant_events.testing.round_trips import check_encoder
from assistant_events.testing.sample import (
    CUT,
    MESSAGE_ID,
    Path,
    Place,
    Sample,
    leaves,
    mapped,
    named,
    objects,
    opaque_strings,
    parts_of,
    pieces_of,
    replaced,
    require,
    strings,
)
from assistant_events.testing.written import check_emitter, check_resource, was_cut, written_again
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, thaw

_SHORT: Final = 3
"""Shorter strings of state occur in others by chance."""

_LONGEST: Final = 1 << 14
"""Bytes of a stream that is fed byte by byte."""

_SSE: Final = b"\n\n"
"""What is between frames of server-sent events."""

_TOMORROW: Final = "x_Check"
"""A word that no wire has."""

_STOPS: Final = ("stop", "STOP", "end_turn", "stop_sequence")
"""Words for a stop on many wires."""

_COUNTS: Final = (0, (1 << 53) + 1)
"""Counts that are easily lost: one that is false, and one that no float has."""

_ENDS: Final = ("max_tokens", "MAX_TOKENS", "length", "content_filter", "SAFETY", "refusal")
"""Words that many wires have for an end before all of an answer has come."""

_ANSWERS: Final = names("choices candidates")
"""Names of the array with several answers, on most wires."""

_KIND: Final = re.compile(r"[a-z_.]+")
"""A word of the wire's own vocabulary, also one with a dot: it may come with other frames too."""

_SEAL: Final = re.compile(r"[\w+/=-]+", re.ASCII)
"""A string of state that may be a seal, a signature or an id, and no JSON."""

_LONG: Final = 20
_LONG_SEAL: Final = 600
"""Lengths of a string of state that is looked for everywhere, and of a seal, which services make long."""


def check_parsed(sample: Sample) -> None:
    """Feed the frames as an SDK has parsed them, without marks of the end: the answer is the same."""
    documents = [frame.document for frame in sample.frames]
    if any(frame.name is not None and frame.name not in strings(frame.document) for frame in sample.frames):
        return  # the names of frames have what is not in them
    if None in documents and any(message.raw_finish_reason is None for message in sample.answers):
        return  # the mark alone is the end
    decoder = sample.decoder()
    events = [event for each in documents if each is not None for event in decoder.feed_event(each)] + decoder.close()
    answers = [message for message in fold(events).messages if isinstance(message, msg.AssistantMessage)]
    found, expected = [[(_summary(message), message.parts) for message in each] for each in (answers, sample.answers)]
    require(
        found == expected,
        f"{sample.name}: fed with `feed_event`, as the events of an SDK are, it has another end or other parts: "
        f"{found!r:.200}, expected {expected!r:.200}",
    )


def check_cuts_of_state(sample: Sample) -> None:
    """Cut the stream behind a string of state: it is kept."""
    plain = parts_of(sample.transcript)
    for text, place in opaque_places(plain):
        frame = next((each for each in reversed(sample.frames) if text in strings(each.document)), None)
        holder = plain[place]
        is_whole = isinstance(holder, msg.OpaquePart | msg.MediaPart) or getattr(holder, "provider_executed", False)
        if frame is None or is_whole or _KIND.fullmatch(text) or text not in strings(thaw(holder.state)):
            continue
        require(
            text in _kept_of(sample.decode([sample.body[: frame.end]], error=CUT)),
            f"{sample.name}: {text!r:.60} of the frame at byte {frame.start}, state of {named([place])}, is lost when "
            "the stream is cut behind it; give it to the recorder with `keep` when it comes",
        )


def check_cuts_of_details(sample: Sample) -> None:
    """Cut the stream behind the last frame with facts about a text: it has all of them."""
    for place, part in parts_of(sample.transcript).items():
        if not isinstance(part, msg.TextPart):
            continue
        facts = {leaf for _, leaf in leaves(thaw(part.details)) if leaf}
        having = [each for each in sample.frames if not facts.isdisjoint(leaf for _, leaf in leaves(each.document))]
        if not having:
            continue
        cut = parts_of(fold(sample.decode([sample.body[: having[-1].end]], error=CUT))).get(place)
        require(
            isinstance(cut, msg.TextPart) and cut.details == part.details,
            f"{sample.name}: details of {named([place])} are lost when the stream is cut behind the frame at byte "
            f"{having[-1].start}; give them to the recorder with `keep`: in `on_failing`, where they are collected",
        )


def check_cuts_of_usage(sample: Sample) -> None:
    """Cut the stream behind the first frame with a count of a side: the failed step has usage."""
    usage = sample.answers[0].usage if len(sample.answers) == 1 else None
    sides = set[object]() if usage is None else {getattr(usage, name) or None for name in COUNTS} - {None}
    details = [] if usage is None else [(path[-1], leaf) for path, leaf in leaves(thaw(usage.details)) if leaf in sides]
    for frame in sample.frames[:-1] if details else ():
        came = [path[-1] for path, leaf in leaves(frame.document) if path and (path[-1], leaf) in details]
        if came:
            last = fold(sample.decode([sample.body[: frame.end]], error=CUT)).last
            require(
                not isinstance(last, msg.AssistantMessage) or last.usage is not None,
                f"{sample.name}: {came[0]} of the frame at byte {frame.start} is lost if the stream is cut behind it: "
                "the step has no usage; give it to `note_usage` when it comes",
            )
            return


def check_last_errors(sample: Sample) -> None:
    """End the stream behind a frame with an error: it is the error of the answer."""
    for frame in sample.frames:
        found = [(path, leaf) for path, leaf in leaves((frame.document or {}).get("error")) if isinstance(leaf, str)]
        given = [leaf for path, leaf in found if leaf and path[-1:] in ((), ("message",))]
        if not given:
            continue
        events = sample.decode([sample.body[: frame.end]])
        kept, last = _kept_of(events), fold(events).last
        where = f"{sample.name}: the answer ends with the frame at byte {frame.start}, and its error {given[:1]}"
        require(any(leaf in kept for leaf in given), f"{where} is lost")
        require(
            not isinstance(last, msg.AssistantMessage)
            or last.status is not msg.MessageStatus.COMPLETED
            or any(call.error is not None for call in last.tool_calls),
            f"{where} has not failed it",
        )


def has_words(samples: Iterable[Sample]) -> bool:
    """Return whether the adapter knows words for more than one end; one that waits for the app follows from calls."""
    ends = {message.finish_reason for sample in samples for message in sample.answers if message.raw_finish_reason}
    return len(ends - {None, FinishReason.TOOL_CALLS}) > 1


def check_words(sample: Sample) -> None:
    """Put a word of tomorrow in place of the reason to finish: the answer has not just stopped."""
    for at, message in enumerate(sample.answers):
        word = message.raw_finish_reason
        if word is None or any(word in text and word != text for text in _words(sample)):
            continue  # it is in another word too, such as the type of the frame
        frames = sample.replacing(word, _TOMORROW)
        answers = sample.rewritten(frames).answers
        found = answers[at] if at < len(answers) else None
        require(
            found is None or found.error is None or found.error.kind != ErrorKind.ADAPTER,
            f"{sample.name}: the adapter failed an answer that ended with the unknown word {_TOMORROW!r}, in place of "
            f"{word!r}; an unknown reason is `FinishReason.OTHER`",
        )
        given = None if found is None else found.raw_finish_reason
        require(
            given == _TOMORROW or (given or "").lower() != _TOMORROW.lower(),
            f"{sample.name}: an answer that ended with {_TOMORROW!r}, in place of {word!r}, has the word {given!r}",
        )
        require(
            found is None or found.raw_finish_reason != _TOMORROW or found.finish_reason is not FinishReason.STOP,
            f"{sample.name}: an answer that ended with the unknown word {_TOMORROW!r}, in place of {word!r}, has "
            "stopped as if all of it had come; an unknown reason is `FinishReason.OTHER`",
        )
        if found is not None and [part.type for part in found.parts] == [part.type for part in message.parts]:
            check_emitter(sample.rewritten(frames))
            check_resource(sample.rewritten(frames))
        _check_stops(sample, at, word)
        for usual in _ENDS if message.finish_reason is FinishReason.STOP else ():
            frames = sample.replacing(word, usual)
            for each in sample.rewritten(frames).answers[at : at + 1]:
                require(
                    each.error is not None or each.raw_finish_reason != usual or may_end(usual, each.finish_reason),
                    f"{sample.name}: an answer that ended with {usual!r}, in place of {word!r}, has the finish reason "
                    f"{str(each.finish_reason)!r}",
                )


def _check_stops(sample: Sample, at: int, word: str) -> None:
    """Put null and words for a stop in place of the word for an end: neither null nor open calls are just a stop."""
    ends = [fields for fields in _objects_of(sample) if word in fields.values()]
    is_reason = any(key.lower().endswith("reason") for each in ends for key, leaf in each.items() if leaf == word)
    is_reason = is_reason and not any(leaf is True for each in ends for leaf in each.values())  # a flag is an end, too
    for usual in (*_STOPS, None)[: len(_STOPS) + is_reason]:
        frames = sample.replacing(word, usual)
        for each in sample.rewritten(frames).answers[at : at + 1]:
            waits = any(not call.provider_executed and not call.settled for call in each.tool_calls)
            require(
                each.finish_reason is not FinishReason.STOP or not (waits or usual is None),
                f"{sample.name}: an answer that ended with {usual!r}, in place of {word!r}, has just stopped"
                + (", and calls of the app wait" if waits else ""),
            )
    read, write = sample.dialect.decode_resource, sample.dialect.emit_resource
    if is_reason and read is not None and write is not None and len(sample.answers) == 1:
        document = replaced(write(sample.answers[0]), word, None)
        last = fold(read(document, MESSAGE_ID, request=sample.request)).last
        require(
            getattr(last, "finish_reason", None) is not FinishReason.STOP,
            f"{sample.name}: a document with null in place of {word!r} is read as one that has just stopped",
        )


def check_counts(sample: Sample) -> None:
    """Put 0, and a large number, in place of a count: it arrives as it is, and is written so."""
    if len(sample.answers) != 1 or not sample.can_be_rewritten:
        return
    [message] = sample.answers
    details = [] if message.usage is None else [*leaves(thaw(message.usage.details))]
    for given in {leaf for _, leaf in details if isinstance(leaf, int | float)}:
        keys = {path[-1] for path, leaf in details if leaf == given}
        owners = [name for name in COUNTS if getattr(message.usage, name) == given]
        for value in _COUNTS if given and owners else ():
            change = partial(_with_count, keys, given, value)
            frames = [(name, mapped(payload, change)) for name, payload in sample.payloads]
            for each in sample.rewritten(frames).answers:
                found = {name: getattr(each.usage, name, 0) for name in owners}
                # One of zero may be derived from others, and unknown where the wire leaves out zeros.
                known = [count for count in found.values() if value or count is not None]
                require(
                    bool(known) and (value in known or not value) and all(type(count) is int for count in known),
                    f"{sample.name}: with the count {value} in place of {given} the usage has {found}",
                )
            check_emitter(sample.rewritten(frames))
            check_resource(sample.rewritten(frames))


def check_written_cuts(sample: Sample) -> None:
    """End the stream behind a frame of each shape, and write what came: the part that is open is read as it was."""
    make, tried = sample.dialect.emitter, set[object]()
    for frame in sample.frames[:-1] if make is not None else ():
        if make is None or frame.shape in tried:
            continue
        tried.add(frame.shape)
        name = f"{sample.name}, ended at byte {frame.end}"
        short = Sample(sample.dialect, name, sample.body[: frame.end], request=sample.request)
        found = [*parts_of(short.transcript).values()][-1:]
        if [*filter(was_cut, parts_of(short.transcript).values())] != found or not any(map(_piece, found)):
            continue  # of several that are open each is written whole
        again = [*parts_of(written_again(short, make()).transcript).values()][-1:]
        expected, written = ([(part.type, was_cut(part), _piece(part)) for part in each] for each in (found, again))
        require(written == expected, f"{name}, written by the emitter: the last part is {written}, expected {expected}")


def check_codes(sample: Sample) -> None:
    """Put a code of tomorrow in place of that of an error: it is kept, and not taken for one that passes."""
    for message in sample.answers:
        code = None if message.error is None else message.error.code
        if message.error is None or message.error.status or not _has_code(sample, message.error):
            continue  # known by its status, or a word for an end
        frames = sample.replacing(code, _TOMORROW)
        for each in sample.rewritten(frames).answers if code and frames != sample.payloads else ():
            error = each.error
            require(
                error is None or error.code != _TOMORROW or error.retryable is not True,
                f"{sample.name}: the error with the unknown code {_TOMORROW!r}, in place of {code!r}, can be retried",
            )
        for usual in USUAL_CODES:
            frames = sample.replacing(code, usual)
            for each in sample.rewritten(frames).answers:
                if each.error is not None and each.error.code == usual and each.error.kind != ErrorKind.PROVIDER:
                    check_error(sample, each.error)


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


def check_absent(sample: Sample) -> None:
    """Put null, and false for flags, in place of fields that like objects of other frames have: it means nothing."""
    if not sample.can_be_rewritten:
        return
    seen: dict[Path, list[dict[str, object]]] = {}
    for frame in sample.frames:
        for path, fields in objects(frame.document):
            if OF_TOOLS.isdisjoint(path):  # null is content there
                seen.setdefault(path, []).append(fields)
    expected = [_summary(message) for message in sample.answers]
    for value in (None, False):
        changed = [*map(_summary, _with_absent(sample, seen, value, range(len(sample.frames))).answers)]
        if changed != expected:
            ways = [
                (at, [_summary(each) for each in _with_absent(sample, seen, value, [at]).answers])
                for at in range(len(sample.frames))
            ]
            at = next((at for at, found in ways if found != expected), 0)
            raise AssertionError(
                f"{sample.name}: with {json.dumps(value)} as fields that the frame at byte {sample.frames[at].start} "
                f"does not have ({', '.join(_absent_names(sample, seen, value, at))}) the answer is {changed!r:.200}, "
                f"expected {expected!r:.200}"
            )


def check_arrays(sample: Sample) -> None:
    """Send the items of two frames that differ in an array alone as one: the answer is the same."""
    if not sample.can_be_rewritten:
        return
    tried: set[Path] = set()
    expected = [(_summary(message), pieces_of(sample.transcript)) for message in sample.answers]
    frames = sample.payloads
    for at, ((name, one), (other_name, other)) in enumerate(pairwise(frames)):
        path, joined = _joined(one, other) if name == other_name else ((), None)
        if joined is None or path in tried:
            continue
        tried.add(path)
        emptied = [*frames[: at + 2], (name, _without_items(other, path)), *frames[at + 2 :]]
        if [_summary(message) for message in sample.rewritten(emptied).answers] != [summary for summary, _ in expected]:
            continue  # the rest of the frame has content too
        changed = sample.rewritten([*frames[:at], (name, joined), *frames[at + 2 :]])
        found = [(_summary(message), pieces_of(changed.transcript)) for message in changed.answers]
        require(
            found == expected,
            f"{sample.name}: with the frames at bytes {sample.frames[at].start} and {sample.frames[at + 1].start} in "
            f"one, which has all items of {'.'.join(path)}, the answer is {found!r:.200}, expected {expected!r:.200}",
        )


def check_other_answers(sample: Sample) -> None:
    """Send a second answer beside the first, where frames have an array of answers: the first one is as before."""
    frames = [(name, _with_second(payload)) for name, payload in sample.payloads]
    if frames == sample.payloads or not sample.can_be_rewritten:
        return
    expected, found = (
        [(_summary(each), each.parts) for each in one.answers] for one in (sample, sample.rewritten(frames))
    )
    require(
        found == expected,
        f"{sample.name}: with a second answer beside it, whose index is 1, the answer is {found!r:.200}, expected "
        f"{expected!r:.200}",
    )


def check_bare_state(sample: Sample) -> None:
    """Make state long, and take away the texts of the parts that have it: it is kept, written and sent all the same."""
    frames: list[tuple[str | None, Any]] = [*sample.payloads]
    states: list[tuple[Place, str]] = []
    for place, part in parts_of(sample.transcript).items():
        if isinstance(part, msg.OpaquePart | msg.MediaPart):
            continue
        own = _own_strings(part)
        for text in own:
            frames = [(name, replaced(payload, text, _longer(text))) for name, payload in frames]
        states += [(place, _longer(text)) for text in own]
        if own and isinstance(part, msg.TextPart | msg.ReasoningPart):
            places = _places_of(part.text, frames)
            frames = [(name, mapped(payload, partial(_without_text, part.text, places))) for name, payload in frames]
    if frames == sample.payloads or not sample.can_be_rewritten:
        return
    changed = sample.rewritten(frames, f"{sample.name}, without texts beside state")
    if [call.name for call in changed.calls] != [call.name for call in sample.calls]:
        return  # a text is the name of a call, too
    known = "\x00".join(strings([json.loads(dumps(message)) for message in changed.answers]))
    for place, text in states:
        require(
            text in known or text not in strings(frames),
            f"{changed.name}: {text!r}, state of {named([place])}, is lost; a part may have state and no text",
        )
    check_cuts_of_state(changed)
    check_encoder(changed)
    check_emitter(changed)
    check_resource(changed)


def _places_of(text: str, frames: Iterable[tuple[str | None, Any]]) -> set[Path]:
    """Return the fields that bring a text, by their last two names: a call may have a word of it for its name."""
    pieces: dict[Path, list[str]] = {}
    for _, payload in frames:
        for path, leaf in leaves(payload):
            if isinstance(leaf, str) and leaf in text:
                pieces.setdefault(path[-2:], []).append(leaf)
    return {path for path, found in pieces.items() if text in "".join(found)} or {*pieces}


def _without_text(text: str, places: Collection[Path], path: Path, leaf: object) -> object:
    """Return nothing in place of a piece of a text."""
    return "" if path[-2:] in places and isinstance(leaf, str) and leaf in text else leaf


def with_long_state(sample: Sample) -> Sample:
    """Return the stream with strings of state that are long enough to be looked for."""
    frames = sample.payloads
    for part in parts_of(sample.transcript).values():
        own = _own_strings(part)
        for text in filter(_SEAL.fullmatch, own):
            frames = [(name, replaced(payload, text, _longer(text))) for name, payload in frames]
    return sample if frames == sample.payloads or not sample.can_be_rewritten else sample.rewritten(frames)


# -- inside


def _own_strings(part: Any) -> list[str]:
    """Return the strings of the state of a part, and the seals at any depth."""
    # Any: parts have no base class.
    found = [text for _, text in opaque_strings(part, _SHORT)]
    deep = strings(thaw(part.state))
    return [
        text
        for text in found
        if text in part.state.values() or (text in deep and text.endswith("=") and _SEAL.fullmatch(text))
    ]


def _piece(part: msg.Part) -> str:
    return part.raw_input if isinstance(part, msg.ToolPart) else getattr(part, "text", "")


def _kept_of(events: Sequence[Event]) -> str:
    """Return the strings of durable events."""
    return "\x00".join(strings([json.loads(dumps(event)) for event in events if event.durable]))


_Seen: TypeAlias = Mapping[Path, Sequence[Mapping[str, object]]]
"""The objects of frames, by the fields that they are in."""


def _with_absent(sample: Sample, seen: _Seen, value: object, frames: Collection[int]) -> Sample:
    """Return the stream with *value* for fields that objects of these frames could have."""
    payloads = [
        (name, _with(payload, seen, value) if at in frames else payload)
        for at, (name, payload) in enumerate(sample.payloads)
    ]
    return sample.rewritten(payloads)


def _absent_names(sample: Sample, seen: _Seen, value: object, at: int) -> list[str]:
    """Return the names of the fields that an object of a frame could have."""
    found = objects(sample.frames[at].document)
    return [".".join((*path, key)) for path, fields in found for key in _absent(fields, seen.get(path, ()), value)]


def _absent(fields: Mapping[str, object], seen: Sequence[Mapping[str, object]], value: object) -> list[str]:
    """Return what an object does not have, and one with all of its fields does: any, or flags that are set."""
    more = [each for each in seen if len(each) > len(fields) and fields.keys() <= each.keys()]
    return sorted({key for each in more for key in each if key not in fields and (value is None or each[key] is True)})


def _with(document: Any, seen: _Seen, value: object, path: Path = ()) -> Any:
    """Return JSON with *value* for the fields that objects could have."""
    if isinstance(document, dict):
        fields = cast("dict[str, Any]", document)
        written = {key: _with(item, seen, value, (*path, key)) for key, item in fields.items()}
        return {**dict.fromkeys(_absent(fields, seen.get(path, ()), value), value), **written}
    if isinstance(document, list):
        return [_with(item, seen, value, path) for item in cast("list[object]", document)]
    return document


def _with_count(keys: AbstractSet[str], given: float, other: int, path: Path, leaf: object) -> object:
    """Return *other* in place of a count under one of its names."""
    return other if type(leaf) is int and leaf == given and not keys.isdisjoint(path[-1:]) else leaf


def _has_code(sample: Sample, error: ErrorInfo) -> bool:
    """Return whether an object has the code and the message of an error."""
    return any(
        error.message in fields.values()
        and any(leaf == error.code and not key.lower().endswith("reason") for key, leaf in fields.items())
        for fields in _objects_of(sample)
    )


def _objects_of(sample: Sample) -> Iterator[dict[str, object]]:
    for frame in sample.frames:
        yield from [fields for _, fields in objects(frame.document)]


def _words(sample: Sample) -> Iterator[str]:
    """Yield the names of frames, and their strings."""
    for frame in sample.frames:
        yield frame.name or ""
        yield from strings(frame.document)


def _summary(message: msg.AssistantMessage) -> object:
    """Return what the app reads of an answer; its state may have nulls."""
    calls = [(call.call_id, call.name, call.status) for call in message.tool_calls]
    kinds = [part.type for part in message.parts]
    return message.status, message.finish_reason, kinds, message.text, message.reasoning, calls


def _without_items(value: Any, path: Path) -> Any:
    """Return JSON with an empty array at a path."""
    if isinstance(value, list):
        return [_without_items(item, path) for item in cast("list[object]", value)] if path else []
    if not path or not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {**fields, path[0]: _without_items(fields.get(path[0]), path[1:])}


def _joined(one: Any, other: Any, path: Path = ()) -> tuple[Path, Any]:
    """Return JSON with the items of two arrays in one, when nothing else differs, and its path; else `None`."""
    if isinstance(one, dict) and isinstance(other, dict):
        fields, others = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        different = [key for key in fields if fields[key] != others.get(key)]
        if fields.keys() == others.keys() and len(different) == 1:
            [key] = different
            found, joined = _joined(fields[key], others[key], (*path, key))
            return found, None if joined is None else {**fields, key: joined}
    elif isinstance(one, list) and isinstance(other, list):
        items, more = cast("list[object]", one), cast("list[object]", other)
        found, joined = _joined(items[0], more[0], path) if len(items) == len(more) == 1 else (path, None)
        if joined is None and path[-1] not in _ANSWERS:
            return path, [*items, *more]
        return found, None if joined is None else [joined]
    return path, None


def _with_second(value: Any) -> Any:
    """Return JSON with a copy of each answer behind it, which has another index."""
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    both: dict[str, Any] = {}
    for key in _ANSWERS & fields.keys():
        answers: list[Any] = mappings(fields, key)
        if len(answers) == 1 and answers[0].get("index", 0) == 0:
            both[key] = [*answers, {**answers[0], "index": 1}]
    return {**fields, **both}


def _longer(text: str) -> str:
    """Return a string of state that is long enough to be looked for: of a seal, with all that base64 has."""
    size = _LONG_SEAL if text.endswith("=") else _LONG
    if len(text) >= size and (text.endswith("=") or not _SEAL.fullmatch(text)):
        return text
    longer = (text.rstrip("=") * size)[:size]
    return longer[:-1] + "/+w==" if _SEAL.fullmatch(text) else longer
