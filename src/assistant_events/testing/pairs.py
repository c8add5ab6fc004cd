"""What belongs together stays together: state and its own part, a result and its own call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Final

from assistant_events import messages as msg
from assistant_events.history import has_result
from assistant_events.testing.conservation import is_failure
from assistant_events.testing.exactness import documents_of, number_of_item, texts_of_output
from assistant_events.testing.round_trips import app_body, check_encoder, ids_in
from assistant_events.testing.sample import (
    Place,
    Sample,
    id_of,
    leaves,
    named,
    objects,
    opaque_strings,
    parts_of,
    pieces_of,
    require,
    strings,
)
from assistant_events.testing.variations import with_long_state
from assistant_events.testing.written import check_emitter, check_resource, written_again
from assistant_events.values import thaw

_SHORT: Final = 6
"""Shorter texts occur in others by chance."""

_OF_RESULTS: Final = re.compile("result|output|response", re.IGNORECASE)
"""Words in the types of results of calls, or in the names of fields with one, on most wires."""

_TEXTS: Final = (msg.TextPart, msg.ReasoningPart)

_WORD_TWICE: Final = "Zzyxw"

_OPAQUE: Final = 16
"""Length from which on a string of state is looked for."""


def check_state_beside(sample: Sample) -> None:
    """Look where a string of state is in request and document: beside what its own part has, if beside any part."""
    if len(parts_of(sample.transcript)) < 2:
        return
    sample = with_long_state(sample)
    parts = parts_of(sample.transcript)
    states = _own_states(parts)
    if not states:
        return
    tokens = _tokens(parts)
    documents = dict(documents_of(sample))
    _check_apart(sample, documents, tokens, {*states.values()})
    for where, document in documents.items():
        found = [strings(fields) for _, fields in objects(document)]
        own = _findable(tokens, document)
        for text, place in states.items():
            holder = next((each for each in reversed(found) if text in each and _beside(each, own)), None)
            if holder is None or place not in _beside(strings(document), own):
                continue
            beside = _beside(holder, own)
            require(
                place in beside,
                f"{sample.name}: in {where} {text[:40]!r}, state of {named([place])}, is beside {named(beside)}",
            )


def _check_apart(
    sample: Sample, documents: Mapping[str, object], tokens: Mapping[Place, Sequence[str]], signed: Collection[Place]
) -> None:
    """Check that texts with state are not joined with others in a request, where a document has them apart."""
    joined = {
        where: {place: each for text in strings(document) if len(each := _beside([text], tokens)) > 1 for place in each}
        for where, document in documents.items()
    }
    for place in signed if len(documents) > 1 else ():
        others = joined["the request"].get(place, [])
        require(
            not others or place in joined["the document"],
            f"{sample.name}: in the request the texts of {named(others)} are one, and {named([place])} has state",
        )


def check_same_ids(sample: Sample) -> None:
    """Give two calls of the app the same id, where their frames have different numbers: both are there, as before."""
    for message in sample.answers:
        calls = [call for call in message.tool_calls if not call.provider_executed]
        first, *others = [*map(id_of, calls)] or [""]
        frames = sample.replacing((*others, "")[0], first)
        numbers = [
            {number_of_item(sample, frame.document) for frame in sample.frames if ident in strings(frame.document)}
            for ident in (first, *others[:1])
        ]
        if not others or not numbers[0].isdisjoint(numbers[1]) or frames == sample.payloads:
            continue
        answers = [each for each in sample.rewritten(frames).answers if each.id == message.id]
        found = [
            (each.name, each.raw_input) for one in answers for each in one.tool_calls if not each.provider_executed
        ]
        expected = [(call.name, call.raw_input) for call in calls]
        require(
            found == expected,
            f"{sample.name}: with the id {first!r} for two calls the calls are {found!r:.200}, "
            f"expected {expected!r:.200}",
        )
        check_encoder(sample.rewritten(frames))
        check_emitter(sample.rewritten(frames))


def check_written_state(sample: Sample) -> None:
    """Write the answer with the emitter and read it: each string and key of state is in its own part again."""
    make, sample = sample.dialect.emitter, with_long_state(sample)
    parts = parts_of(sample.transcript)
    if not any(isinstance(part, msg.OpaquePart) for part in parts.values()):  # a document may have no place for one
        check_resource(sample)
    states = _own_states(parts)
    if make is None or not any(part.state for part in parts.values()):
        return
    again = parts_of(written_again(sample, make()).transcript)
    for place, part in parts.items():
        found = again.get(place)
        lost = part.state.keys() - found.state.keys() if found is not None and found.type == part.type else ()
        require(
            not lost,
            f"{sample.name}, written by the emitter: {sorted(lost)}, state of {named([place])}, is not read again",
        )
    for text, place in states.items():
        holders = [each for each, part in again.items() if text in [each for _, each in opaque_strings(part, 1)]]
        require(
            holders == [place] or (len(holders) == 1 and len(again) != len(parts)),
            f"{sample.name}, written by the emitter: {text[:40]!r}, state of {named([place])}, is in {named(holders)}; "
            f"expected {named([place])} alone",
        )


def check_written_numbers(sample: Sample) -> None:
    """Write the answer with the emitter: frames with the ids of two calls have other numbers, if they have any."""
    make = sample.dialect.emitter
    calls = [call for message in sample.answers[:1] for call in message.tool_calls if not call.provider_executed]
    idents = {ident: set[int | None]() for call in calls if (ident := id_of(call))}
    if make is None or len(idents) < 2:
        return
    for frame in written_again(sample, make()).frames:
        number = number_of_item(sample, frame.document)
        for ident in idents.keys() & set(strings(frame.document)):
            idents[ident] |= {number} - {None}
    for (one, numbers), (other, others) in combinations(idents.items(), 2):
        require(
            numbers.isdisjoint(others),
            f"{sample.name}: in the emitter's stream the calls {one!r} and {other!r} have the same number",
        )


def check_written_frames(sample: Sample) -> None:
    """Write the answer with the emitter, on a wire whose frames have ids: each has its own, else a client drops it."""
    make, key = sample.dialect.emitter, sample.decoder().delta_frames.unique
    if make is None or not key:
        return
    frames = written_again(sample, make()).frames
    found = [str(frame.document[key]) for frame in frames if frame.document and key in frame.document]
    require(
        len(found) == len({*found}), f"{sample.name}: in the emitter's stream frames have the same {key}: {found!r:.99}"
    )


def check_own_results(sample: Sample) -> None:
    """Compare results that the provider brings with the ids beside them: each is that of the call with its id."""
    calls = [call for call in sample.calls if call.provider_executed]
    by_id: dict[str, list[msg.ToolPart]] = {}
    for call in calls:
        by_id.setdefault(id_of(call), []).append(call)
    outputs = {text for call in calls for text in _outputs(call)}
    if len(by_id) < 2 or len(by_id) < len(calls):
        return
    for frame in sample.frames:
        for _, fields in objects(frame.document):
            for ident in ids_in(fields):
                for call in by_id.get(ident, ()):
                    own = {*_outputs(call), *strings(thaw(call.input or {})), call.raw_input}
                    other = next((text for text in strings(fields) if text in outputs and text not in own), None)
                    require(
                        other is None,
                        f"{sample.name}: {other!r:.60} of the frame at byte {frame.start} is beside the id {ident!r}, "
                        "and in the result of another call",
                    )


def check_own_pieces(sample: Sample) -> None:
    """Compare pieces of inputs with the ids beside them: each is in the call with its id."""
    calls = {id_of(call): call for call in sample.calls}
    # The code of one call has the names of those that it makes.
    known = calls.keys() | {call.name for call in sample.calls}
    for frame in sample.frames if len(calls) > 1 else ():
        for _, fields in objects(frame.document):
            texts = [text for text in strings(fields) if len(text) >= _SHORT and text not in known]
            for ident, text in product(calls.keys() & {*ids_in(fields)}, texts):
                holders = [each for each, call in calls.items() if text in call.raw_input]
                require(
                    not holders or ident in holders,
                    f"{sample.name}: {text!r:.60} of the frame at byte {frame.start} is beside the id {ident!r}, and "
                    "in the input of another call",
                )


def check_written_ids(sample: Sample) -> None:
    """Write the answer with the emitter: texts that have ids of their own beside them have so again."""
    make = sample.dialect.emitter
    if make is None:
        return
    ids, again = (_ids_beside(each) for each in (sample, written_again(sample, make())))
    for one, other in combinations(ids.keys() & again.keys(), 2):
        same = again[one] & again[other]
        require(
            not ids[one].isdisjoint(ids[other]) or not same,
            f"{sample.name}: in the emitter's stream {named([one, other])} have the same id {sorted(same)}",
        )


def check_served_model(sample: Sample) -> None:
    """Ask another model than the one that has answered: the emitter's stream and the document have the latter."""
    name = f"{sample.name}, asked of another model"
    asked = Sample(sample.dialect, name, sample.body, request=app_body(sample))
    check_emitter(asked)
    check_resource(asked)


def check_answered(sample: Sample) -> None:
    """Look for results of calls of the provider by their ids: the call has one, and has failed if it shows that."""
    calls = {id_of(call): call for call in sample.calls if call.provider_executed}
    results: dict[str, Mapping[str, object]] = {}
    decoder = sample.decoder()
    for frame in sample.frames if calls else ():
        if decoder.terminal:
            break  # what comes behind the end is not read
        decoder.feed(sample.body[frame.start : frame.end])
        for path, found in objects(frame.document):
            kind = str(found.get("type", "".join(path[-1:])))
            for ident in ids_in(found) if _OF_RESULTS.search(kind) else ():
                results.setdefault(ident, found)  # of several the first counts
    for ident, call in calls.items():
        fields = results.get(ident, {})
        where = f"{sample.name}: the call with the id {ident!r}, which the provider runs,"
        require(not fields or has_result(call), f"{where} has no result, although a frame has one: {fields!r:.200}")
        shown = f"the flag of its result is another one: {fields!r:.200}"
        for name, value in fields.items():
            opposite = not value if isinstance(value, bool) else None
            require(not is_failure((name,), value) or call.error is not None, f"{where} has not failed, and {shown}")
            require(not is_failure((name,), opposite) or call.error is None, f"{where} has failed, and {shown}")


# -- inside


def _own_states(parts: Mapping[Place, msg.Part]) -> dict[str, Place]:
    """Return the opaque strings of state that exactly one part has, each with its place."""
    found: dict[str, list[Place]] = {}
    for place, part in parts.items():
        for key, text in opaque_strings(part, _OPAQUE):
            if key != "id":
                found.setdefault(text, []).append(place)
    everything = "\x00".join(text for part in parts.values() for _, text in opaque_strings(part, 1))
    everything += "\x00".join(part.call_id for part in parts.values() if isinstance(part, msg.ToolPart))
    return {text: places[0] for text, places in found.items() if len(places) == 1 == everything.count(text)}


def _tokens(parts: Mapping[Place, msg.Part]) -> dict[Place, list[str]]:
    """Return the texts of each part, or the id and the input of a call, that no other part, state or result has."""
    found = {place: [text for text in _texts(part) if text] for place, part in parts.items()}
    # Thoughts may have the id of the call that they lead to.
    states = {place: strings(thaw(part.state)) for place, part in parts.items()}
    known = {
        place: [*found[place], *(texts_of_output(part) if isinstance(part, msg.ToolPart) else ())]
        for place, part in parts.items()
    }
    return {
        place: [
            text
            for text in texts
            if not any(text in states[other] for other in parts if other != place)
            and not any(text in each for other, others in known.items() if other != place for each in others)
        ]
        for place, texts in found.items()
    }


def _findable(tokens: Mapping[Place, Sequence[str]], document: object) -> dict[Place, list[str]]:
    """Return the texts that are found in a document by what they are: short ones that are there once."""
    texts = strings(document)
    return {
        place: [each for each in own if len(each) >= _SHORT or texts.count(each) == 1] for place, own in tokens.items()
    }


def _texts(part: msg.Part) -> Iterator[str]:
    if isinstance(part, msg.ToolPart):
        yield id_of(part)
        yield part.raw_input
        yield from strings(thaw(part.input or {}))
    elif isinstance(part, msg.TextPart | msg.ReasoningPart):
        yield part.text


def _beside(texts: Sequence[str], tokens: Mapping[Place, Sequence[str]]) -> list[Place]:
    """Return the parts of which something is among *texts*."""
    return [place for place, own in tokens.items() if any(_has(text, token) for token in own for text in texts)]


def _has(text: str, token: str) -> bool:
    return token == text or (len(token) >= _SHORT and token in text)


def _ids_beside(sample: Sample) -> dict[Place, set[str]]:
    """Return the ids in frames with a text of exactly one part, by that part."""
    tokens = {place: each.text for place, each in parts_of(sample.transcript).items() if isinstance(each, _TEXTS)}
    found: dict[Place, set[str]] = {}
    for frame in sample.frames:
        texts = [text for text in strings(frame.document) if len(text) >= _SHORT]
        places = [place for place, token in tokens.items() if any(text in token for text in texts)]
        ids = {ident for _, fields in objects(frame.document) for ident in ids_in(fields)}
        if len(places) == 1 and ids:
            found.setdefault(places[0], set()).update(ids)
    return found


def _outputs(call: msg.ToolPart) -> list[str]:
    return [text for text in texts_of_output(call) if len(text) >= _SHORT]


def check_equal_pieces(sample: Sample) -> None:
    """Put the same word into two pieces of a text that follow each other: both arrive."""
    seen = Counter(sample.strings)
    tokens = {place: part.text for place, part in parts_of(sample.transcript).items() if isinstance(part, _TEXTS)}
    last: dict[object, tuple[int, str, Place]] = {}
    tried: set[object] = set()
    for at, frame in enumerate(sample.frames):
        for path, leaf in leaves(frame.document):
            places = [place for place, token in tokens.items() if isinstance(leaf, str) and leaf and leaf in token]
            if not isinstance(leaf, str) or len(places) != 1 or seen[leaf] > 1:
                continue
            key = frame.name, path
            before, last[key] = last.get(key), (at, leaf, places[0])
            if before is not None and before[2] == places[0] and before[0] < at and key not in tried:
                tried.add(key)
                _check_equal_pieces(sample, (before[0], before[1]), (at, leaf), places[0])


def _check_equal_pieces(sample: Sample, one: tuple[int, str], other: tuple[int, str], place: Place) -> None:
    whole = pieces_of(sample.transcript)[place]

    def with_word(*pieces: tuple[int, str]) -> tuple[str | None, str]:
        """Return the text with a word in place of some pieces, and what it has to be."""
        expected = whole
        for _, text in pieces:
            expected = expected.replace(text, _WORD_TWICE, 1)
        repeating = {at: {whole: expected} for at, each in enumerate(sample.frames) if whole in strings(each.document)}
        changed = sample.changed({**repeating, **{at: {text: _WORD_TWICE} for at, text in pieces}})
        return pieces_of(changed.transcript).get(place), expected

    if any(found != expected for found, expected in (with_word(one), with_word(other))):
        return  # a piece is more than a text
    found, expected = with_word(one, other)
    require(
        found == expected,
        f"{sample.name}: with {_WORD_TWICE!r} in the frames at byte {sample.frames[one[0]].start} and "
        f"{sample.frames[other[0]].start}, {named([place])} has the text {found!r:.200}; a piece that is as the one "
        "before it is not the same one",
    )


CHECKS: Final[tuple[Callable[[Sample], None], ...]] = (
    check_answered,
    check_own_results,
    check_own_pieces,
    check_served_model,
    check_written_ids,
    check_state_beside,
    check_written_state,
    check_written_numbers,
    check_written_frames,
    check_same_ids,
    check_equal_pieces,
)
"""What is tried on each stream."""
