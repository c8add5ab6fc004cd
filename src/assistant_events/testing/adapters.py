"""
`check_adapter`: everything that must hold for any adapter, tried on sample streams.

The meaning of a wire is for the adapter's own tests. The rules here hold for every wire: legal output, nothing lost,
durable events that suffice, cutting, closing, rejoining, damage, and what is sent back to the provider.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, Final, TypeAlias, cast

from assistant_events import messages as msg
from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.json_fields import Fields
from assistant_events.converters import dumps, loads
from assistant_events.errors import LocalProtocolError
from assistant_events.events import EVENT_TYPES, Event
from assistant_events.reducer import find_problems, fold, reconcile
from assistant_events.testing import (
    class_state,
    conservation,
    conversations,
    exactness,
    foreign,
    meanings,
    pairs,
    round_trips,
    variations,
    written,
)
from assistant_events.testing.mutations import mutated
from assistant_events.testing.sample import CUT, MESSAGE_ID, Sample, SampleFrame, has_as_much, no_error, require
from assistant_events.testing.shortest import SHORTEST, shortest
from assistant_events.values import FinishReason

_Request: TypeAlias = Mapping[str, Any]

_LEARNED: Final = 8
"""After how many equal frames a decoder has learned their shape."""

_REPEATED_FRAMES: Final = 32
"""How many frames of a stream are repeated at most."""

_KEY: Final = re.compile(rb'"([^"\\]*)"\s*:')

_NO_STOP: Final = re.compile(
    r"(?:tools?|functions?)(?:[_-]?(?:use|calls?))?|max(?:_output|_new)?_tokens|length|content_filter(?:ed)?|safety|refusal",
    re.IGNORECASE,
)
"""Words of most wires for an end that waits for the app, or comes before all of the answer."""


def check_adapter(
    dialect: Dialect,
    streams: Mapping[str, bytes] | Iterable[bytes],
    *,
    request: _Request | None = None,
    every_position: int = 4096,
    mutations: int = 50,
    seed: int = 0,
) -> None:
    """
    Try on sample streams what must hold for every adapter.

    - Output is legal and every step has an end; the durable events alone fold to the same transcript, and survive being
      stored. The fast path gives the same events as the plain one.
    - Each string and number of a frame is in a durable event, or `Dialect.dropped` names it; usage has only numbers
      of the wire, on the side of their names; citations are where the wire has sources, and what they quote; an opaque
      string is in the part that was open when it came; texts and inputs arrive as written; what the provider calls
      failed has failed; frames of two calls may be mixed where a sample mixes items.
    - The same bytes give the same transcript, however they are cut, and whatever other decoders read meanwhile; so do
      server-sent events with other line ends and comments, and frames that come twice with the same id.
    - A stream that is cut anywhere and closed gives the whole answer, or a failed step that keeps what came before; a
      body that ends early completes nothing without a finish reason; counts that are not the last ones are `partial`.
    - A stream that is cut anywhere and rejoined gives the transcript of the uncut one: in the same decoder, in a new
      one from all events, from the durable ones, and after the message was closed.
    - A stream in which a frame comes twice, which starts again after a frame, or is one frame alone, never raises and
      ends like any other; a frame of an unknown type changes neither its parts nor its end.
    - So do damaged streams, damaged between frames and inside of them; nothing follows an end; feeding after `close`
      raises. Where frames have checksums, nothing of a damaged frame is used, and the step fails.
    - One frame more costs the same after 100 as after 1,000 of its kind, in bytecodes, and in memory where it streams
      text; the fast path takes no more than it may when frames are repeated.
    - Requests have each text of the result of every call, once, behind its call and under its id or name, and each
      state that the policy lets go, not more often than the conversation has it, and show which calls have failed
      (`marks_failures`); texts, thoughts and calls are sent in their order, with their blanks, and so are turns; the
      emitter's stream and the document are read as the same answer, with its sources, results and details, and the
      document of a cut answer as one that failed; histories of other providers, strange documents and HTTP errors never
      raise.
    - A string of state is beside the text or the call of its own part, in requests, streams and documents, and a result
      that the provider brings is that of the call with its id, and failed or not; two calls may have the same id. Where
      frames have several answers, the first one is read.
    - Words that most wires have for ends, codes of errors and counts mean here what they mean there; each count of a
      total is in a side; a count of 0 and a large one arrive; a stop is none while calls of the app wait, nor where
      the word is null; an error that may pass can be retried, one with an unknown code may not; results, names and ids
      of calls arrive as written, whatever is in them, and media with their type; no title, input or result is made up.
    - The emitter's stream has model, id and error of the answer, and what was cut is cut in it; of answers of others it
      has texts, counts and ends. Documents have errors, and are read as the stream is when it has other content.
    - State is kept without a text beside it, and when the stream is cut behind it, as are details of a text and usage;
      a piece with the number of an item adds to that item alone; a text streams as it comes, once, also where a piece
      is as the one before. An answer means the same
      with nulls and unset flags, with two frames in one, with parsed events in place of bytes, and with a word of
      tomorrow for its end.
    - Decoding, encoding and emitting change nothing in the classes of the adapter and in their modules.
    - An HTTP error has the sentence of its body; one that may pass can be retried, after the time that it names, and
      one that cannot pass may not; `detect` knows no other dialect that is installed.

    Args:
        dialect: What an entry point of the adapter names.

        streams: Whole streams as they came from the provider, by name if they have one.

        request: The body that was sent for them. By default it names a model, which is all that most wires require.

        every_position: Streams up to this size are cut at every byte, longer ones at the ends of frames and at random.

        mutations: How many damaged copies of each stream are tried.

        seed: Decides the damages and the random cuts.

    Raises:
        AssertionError: With a line for each check that failed, the most basic one first: a sentence that names the
            stream, the place and what is wrong, and the shortest input that was found for it. Growth, repeated frames,
            cuts and damage, which take long, are tried one after the other when nothing else was found.
    """
    named: Mapping[str, object] = (
        cast("Mapping[str, object]", streams)
        if isinstance(streams, Mapping)
        else {f"streams[{at}]": body for at, body in enumerate(streams)}
    )
    trials: list[Trial] = []
    for name, body in named.items():
        if not isinstance(body, bytes):
            raise AssertionError(f"{name}: expected bytes, got {type(body).__name__}")  # noqa: TRY004 - as all it raises
        trials.append(Trial(dialect, name, body, request=request, every_position=every_position, seed=seed))
    require(
        any(trial.frames for trial in trials), "streams: expected at least one with a frame of the dialect's framing"
    )
    _check_all(
        [
            *_on_each(trials, _CHECKS),
            partial(conservation.check_nothing_shared, trials),
            *_on_each(trials, _FURTHER_CHECKS),
            partial(_check_interleaving, trials),
            partial(_check_words, trials),
            partial(conversations.check_conversation, dialect, request),
            *_on_each(trials, pairs.CHECKS),
            partial(foreign.check_foreign_histories, dialect, request),
            partial(foreign.check_foreign_streams, dialect),
            partial(conversations.check_order_in_answer, dialect, request),
            partial(foreign.check_strange_documents, dialect),
            partial(foreign.check_http_error, dialect),
            partial(foreign.check_detection, dialect),
        ]
    )
    _each(trials, partial(conservation.check_growth, tried=set()))
    for check in _on_each(trials, _COSTLY_CHECKS):
        check()
    _each(trials, partial(Trial.check_damage, count=mutations))


def _check_all(checks: Iterable[Callable[[], object]]) -> None:
    """Run all checks, and raise what was found first by each, but a sentence once."""
    faults: dict[str, AssertionError] = {}
    for check in checks:
        try:
            check()
        except AssertionError as error:
            faults.setdefault(str(error).partition(SHORTEST)[0], error)
        except Exception:
            if not faults:
                raise  # otherwise it comes of a fault that was found
    if faults:
        first, *others = faults.values()
        raise AssertionError("\n".join(map(str, [first, *others]))) from first.__cause__


def _on_each(trials: Sequence[Trial], checks: Iterable[Callable[[Trial], None]]) -> Iterator[Callable[[], object]]:
    return (partial(_each, trials, partial(Trial.check, check=check)) for check in checks)


def _each(trials: Sequence[Trial], check: Callable[[Trial], None]) -> None:
    for trial in trials:
        check(trial)


def _check_interleaving(trials: Sequence[Trial]) -> None:
    if any(map(exactness.mixes_items, trials)):
        _each(trials, partial(Trial.check, check=exactness.check_interleaving))


def _check_words(trials: Sequence[Trial]) -> None:
    if variations.has_words(trials):
        _each(trials, partial(Trial.check, check=variations.check_words))


class Trial(Sample):
    """
    One stream, and what is tried on it. `check_adapter` tries all of it, and describes the arguments.
    """

    def __init__(
        self,
        dialect: Dialect,
        name: str,
        body: bytes,
        *,
        request: _Request | None = None,
        every_position: int = 4096,
        seed: int = 0,
    ) -> None:
        super().__init__(dialect, name, body, request=request)
        self._every_position = every_position
        self._seed = seed
        self._random = Random(f"{seed} {name}")  # noqa: S311 - the same in every run is what it has to be

    def check(self, check: Callable[[Trial], None]) -> None:
        """Run one check. When it fails, look for a shorter stream for which it fails alike, and show that."""
        try:
            check(self)
        except AssertionError as error:
            pieces = [self.body[frame.start : frame.end] for frame in self.frames]
            pieces.append(self.body[self.frames[-1].end if self.frames else 0 :])
            shown = shortest(pieces, str(error), lambda body: check(self._copy(self.name, body)))
            raise AssertionError(shown) from error.__cause__

    @property
    def ended(self) -> bool:
        """Whether the provider ended the answer; if not, nothing can be uncut."""
        last = self.transcript.last
        return isinstance(last, msg.AssistantMessage) and last.status is msg.MessageStatus.COMPLETED

    def positions(self) -> Iterator[int]:
        """Yield where the stream is cut."""
        length = len(self.body)
        if length <= self._every_position:
            yield from range(length + 1)
            return
        ends = [frame.end for frame in self.frames]
        ends = ends if len(ends) <= 60 else self._random.sample(ends, 60)
        yield from sorted({0, length, *ends, *[self._random.randrange(length) for _ in range(20)]})

    # -- what is tried

    def check_whole(self) -> None:
        """Try the stream as it is: legal, settled, durable events are enough, the same again, nothing after the end."""
        decoder = self.decoder()
        events = decoder.feed(self.body)
        terminal = decoder.terminal
        require(
            not terminal or decoder.feed(self.body) == [],
            f"{self.name}: a decoder that came to the end of the answer returns events when it is fed again",
        )
        events += decoder.close()
        require(events == self.events, f"{self.name}: the same bytes give other events the second time")
        require(
            events == self.decode([self.body], fast=False),
            f"{self.name}: without the fast path the same bytes give other events",
        )
        self._check_ended(decoder, "")
        self.check_events(events, "")
        again = [loads(dumps(event), EVENT_TYPES[event.type]) for event in events if event.durable]
        require(
            again == [event for event in events if event.durable],
            f"{self.name}: the durable events are not the same after they were stored and read",
        )

    def check_detection(self) -> None:
        """Try `detect`: it knows the first frames of the dialect, and never raises for documents of others."""
        detect = self.dialect.detect
        if detect is None:
            return
        strange: tuple[Fields, ...] = ({}, {"type": 1}, {"steps": None, "choices": "x", "object": []})
        for document in strange:
            try:
                is_known = detect(document)
            except Exception as error:
                raise AssertionError(f"{self.dialect.name}: detect raised {error!r} for {document!r}") from error
            require(not is_known, f"{self.dialect.name}: detect knows {document!r}, which is of no dialect")
        first = [found for frame in self.frames if (found := frame.document) is not None][:3]
        require(
            not first or any(detect(document) for document in first),
            f"{self.name}: detect knows none of the first {len(first)} frames",
        )

    def check_fast_path(self) -> None:
        """Repeat frames, among them others of their shape: the fast path gives the same as the plain one."""
        shapes: dict[object, list[SampleFrame]] = {}
        for frame in self.frames:
            shapes.setdefault(frame.shape, []).append(frame)
        for first, *others in shapes.values():
            body = [self.body[frame.start : frame.end] for frame in (first, *others[:1], *others[-1:])]
            repeated = body[0] * _LEARNED + b"".join(body) * 2 + body[-1] * _LEARNED
            changed = self.body[: first.start] + repeated + self.body[first.end :]
            ways = [self._outcome(changed, fast=fast) for fast in (True, False)]
            require(
                ways[0] == ways[1],
                f"{self.name}, the frame of bytes {first.start} to {first.end} repeated: "
                f"without the fast path the same bytes give other events",
            )

    def _outcome(self, body: bytes, *, fast: bool) -> object:
        decoder = self.decoder(fast=fast)
        events = decoder.feed(body) + decoder.close()
        return events, decoder.error, decoder.notes, decoder.notes_left_out

    def check_splits(self) -> None:
        """Cut it anywhere: however the bytes are cut, the transcript and the durable events are the same."""
        for at in self.positions():
            self._check_split([self.body[:at], self.body[at:]], f"cut in two at byte {at}")
        for size in (1, 2, 3, 7, 64):
            if size * 4096 >= len(self.body):
                pieces = [self.body[at : at + size] for at in range(0, len(self.body), size)]
                self._check_split(pieces, f"in pieces of {size} bytes")
        for _ in range(5):
            self._check_split(self._cut_at_random(), "cut at random")

    def check_cutting(self) -> None:
        """Stop anywhere: closed it keeps what came before, rejoined in any way it is the uncut stream."""
        tried: tuple[int, list[Event], list[Event]] | None = None
        for at in self.positions():
            first, second = self.decoder(), self.decoder()
            before = first.feed(self.body[:at])
            if first.terminal:
                break
            closed = before + first.close(CUT)
            self._check_ended(first, f", closed at byte {at}")
            second.feed(self.body[:at])
            second.rejoin()
            rest = second.feed(self.body) + second.close()
            # Inside of one frame nothing changes, so nothing new can be tried.
            if tried != (len(before), closed, rest):
                tried = (len(before), closed, rest)
                self._check_closed(before, closed, f", closed at byte {at}")
                self._check_rejoined(before, rest, f", rejoined at byte {at}")
                self._check_new_decoder(before, closed, at)

    def check_repeats(self) -> None:
        """Repeat a frame, or the stream after it, or begin with it: nothing raises, and the answer has an end."""
        for start, end in self._frames():
            self.check_damaged(self.body[start:end], f", the frame of bytes {start} to {end} alone")
            twice = self.body[:end] + self.body[start:]
            where = f", the frame of bytes {start} to {end} repeated"
            self.check_damaged(twice, where)
            conservation.check_numbers(self._copy(f"{self.name}{where}", twice))
            self.check_damaged(self.body[:end] + self.body, f", begun again after byte {end}")

    def check_checksums(self) -> None:
        """Flip a bit of a frame, where frames have checksums: the answer fails with what came before."""
        if not self.decoder().framing.checksums:
            return
        for start, end in self._frames():
            before = self.decoder()
            kept = before.feed(self.body[:start])
            if before.terminal:
                break
            at = self._random.randrange(start, end)
            flipped = self.body[at] ^ 1 << self._random.randrange(8)
            where = f"a bit of byte {at} is flipped"
            decoder = self.decoder()
            events = decoder.feed(self.body[:at] + bytes([flipped]) + self.body[at + 1 :]) + decoder.close()
            is_noted = not {note.code for note in decoder.notes}.isdisjoint({"damaged-frame", "long-frame"})
            # With a length that is too large, the frame is one that has not come whole.
            is_cut = events == kept + before.close() and decoder.notes == before.notes
            require(is_noted or is_cut, f"{self.name}: {where}, and the decoder has not noted it")
            require(decoder.error is not None, f"{self.name}: {where}, and the step does not fail")
            self._check_closed(kept, events, f", {where}")

    def check_damage(self, count: int) -> None:
        """Damage it: copies never raise, and end like any other."""
        for number in range(count):
            damaged = self.damaged_frames(self._random) if number % 2 else mutated(self.body, self._random)
            self._copy(f"{self.name}, damaged copy {number}", damaged).check(
                lambda trial: trial.check_damaged(trial.body, "")
            )

    def check_events(self, events: Sequence[Event], where: str) -> msg.Transcript:
        """Check what must hold for the events of any whole answer, and return their transcript."""
        name = f"{self.name}{where}"
        found = find_problems(events)
        require(not found, f"{name}: {found[0] if found else ''}")
        strangers = [each for each in {event.message_id or "" for event in events} if not _is_ours(each)]
        require(not strangers, f"{name}: events of message {sorted(strangers)}, expected {MESSAGE_ID!r} or its hops")
        transcript = fold(events)
        for message in transcript.messages:
            assert isinstance(message, msg.AssistantMessage)
            require(message.status is not msg.MessageStatus.RUNNING, f"{name}: message {message.id!r} has no end")
            is_no_stop = _NO_STOP.fullmatch(message.raw_finish_reason or "") is not None
            require(
                not is_no_stop or message.finish_reason is not FinishReason.STOP,
                f"{name}: message {message.id!r} ended with {message.raw_finish_reason!r}, which does not mean a stop",
            )
        left = reconcile(transcript)
        require(not left, f"{name}: left open: {', '.join([event.type for event in left])}")
        kept = fold([event for event in events if event.durable])
        require(kept == transcript, f"{name}: the durable events alone give another transcript")
        return transcript

    def check_damaged(self, damaged: bytes, where: str) -> None:
        """Check a stream that no provider sends: it never raises, and ends like any other."""
        decoder = self.decoder()
        with no_error(f"{self.name}{where}:"):
            events = decoder.feed(damaged) + decoder.close()
        self._check_ended(decoder, where)
        self.check_events(events, where)
        require(
            events == self.decode([damaged]), f"{self.name}{where}: the same bytes give other events the second time"
        )

    def check_unknown_frames(self) -> None:
        """Insert a frame of an unknown type: the answer has the same parts and the same end."""
        strange = self.decoder().framing.frame("x-check", {"type": "x-check", "x_check": "of tomorrow"})
        for at in {frame.end for frame in (*self.frames[:1], *self.frames[len(self.frames) // 2 :][:1])}:
            body = self.body[:at] + strange + self.body[at:]
            where = f", with a frame of an unknown type at byte {at}"
            self.check_damaged(body, where)
            require(
                [*map(_end_and_parts, self._copy("", body).answers)] == [*map(_end_and_parts, self.answers)],
                f"{self.name}{where}: the answer has another end or other parts",
            )

    # -- inside

    def _copy(self, name: str, body: bytes) -> Trial:
        """Return another stream to try as this one."""
        return Trial(
            self.dialect, name, body, request=self.request, every_position=self._every_position, seed=self._seed
        )

    def _check_ended(self, decoder: DecoderBase, where: str) -> None:
        name = f"{self.name}{where}"
        if decoder.failure is not None:
            raise AssertionError(f"{name}: the adapter raised {decoder.failure!r}") from decoder.failure
        require(decoder.close() == [], f"{name}: the second close returns events")
        calls: tuple[Callable[[], object], ...] = (
            lambda: decoder.feed(b""),
            lambda: decoder.feed_event({}),
            decoder.rejoin,
        )
        for call in calls:
            try:
                call()
            except LocalProtocolError:
                continue
            raise AssertionError(f"{name}: a closed decoder takes more; expected LocalProtocolError")

    def _check_split(self, chunks: Sequence[bytes], how: str) -> None:
        events = self.decode(chunks)
        if events == self.events:
            return
        transcript = self.check_events(events, f", {how}")
        require(transcript == self.transcript, f"{self.name}: {how} it gives another transcript")
        durable, expected = ([event for event in each if event.durable] for each in (events, self.events))
        require(durable == expected, f"{self.name}: {how} it gives other durable events")

    def _check_closed(self, before: Sequence[Event], closed: Sequence[Event], where: str) -> None:
        after = self.check_events(closed, where)
        if after != self.transcript:
            self._check_kept(fold(before), after, where)
            last, is_shorter = after.last, len(after.messages) < len(self.transcript.messages)
            require(
                is_shorter or not isinstance(last, msg.AssistantMessage) or last.error is not None,
                f"{self.name}{where}: the step is complete, and not as in the whole stream",
            )

    def _check_new_decoder(self, before: Sequence[Event], closed: Sequence[Event], at: int) -> None:
        self._check_replay(before, [self.body], f", rejoined at byte {at} by a new decoder")
        kept = [event for event in before if event.durable]
        self._check_replay(kept, self._cut_at_random(), f", rejoined at byte {at} from the durable events")
        self._check_replay(closed, [self.body], f", closed at byte {at} and rejoined")
        gone = [*kept, *reconcile(fold(kept), abandon_runs=True)]
        self._check_replay(gone, [self.body], f", reconciled after byte {at} and rejoined")
        for start, how in ((before, "cut"), (closed, "closed"), (gone, "reconciled")):
            cut = self._random.randrange(len(self.body) + 1)
            shorter = [*start, *self.decode([self.body[:cut]], _messages(start), error=CUT)]
            where = f", {how} at byte {at}, replayed to byte {cut}, and replayed once more"
            self._check_replay(shorter, [self.body], where)

    def _check_replay(self, before: Sequence[Event], chunks: Iterable[bytes], where: str) -> None:
        self._check_rejoined(before, self.decode(chunks, _messages(before)), where)

    def _check_rejoined(self, before: Sequence[Event], new: Sequence[Event], where: str) -> None:
        events = [*before, *new]
        after = self.check_events(events, where)
        if self.ended:
            require(after == self.transcript, f"{self.name}{where}: not the transcript of the uncut stream")
        else:
            self._check_kept(fold(before), after, where)

    def _check_kept(self, before: msg.Transcript, after: msg.Transcript, where: str) -> None:
        for message in before.messages:
            assert isinstance(message, msg.AssistantMessage)
            parts: tuple[msg.Part, ...] = getattr(after.get(message.id), "parts", ())
            require(
                len(parts) >= len(message.parts) and all(map(has_as_much, message.parts, parts)),
                f"{self.name}{where}: what came before the cut is not kept",
            )

    def _frames(self) -> list[tuple[int, int]]:
        """Return where some frames begin and end: of adjacent frames with the same keys only the first and the last."""
        frames = [(frame.start, frame.end) for frame in self.frames]
        keys = [None, *[frozenset(_KEY.findall(self.body, *frame)) for frame in frames], None]
        found = [frame for at, frame in enumerate(frames, 1) if keys[at - 1] != keys[at] or keys[at] != keys[at + 1]]
        return found[:: -(-len(found) // _REPEATED_FRAMES) or 1]

    def _cut_at_random(self) -> list[bytes]:
        places = sorted(self._random.randrange(len(self.body) + 1) for _ in range(self._random.randint(1, 12)))
        return [self.body[start:end] for start, end in zip([0, *places], [*places, len(self.body)], strict=True)]


_CHECKS: Final[tuple[Callable[[Trial], None], ...]] = (
    class_state.check_classes,
    exactness.check_payload_lines,
    Trial.check_whole,
    Trial.check_detection,
    Trial.check_unknown_frames,
    conservation.check_nothing_lost,
    conservation.check_numbers,
    conservation.check_places,
    conservation.check_citations,
    conservation.check_failures,
    *meanings.CHECKS,
    conservation.check_known_frames,
    exactness.check_texts,
    exactness.check_early_ends,
    exactness.check_counts_of_cuts,
    variations.check_lines,
    round_trips.check_encoder,
    round_trips.check_body,
    written.check_emitter,
    written.check_resource,
    exactness.check_inputs,
)
"""What is tried on each stream, the fastest first."""

_FURTHER_CHECKS: Final[tuple[Callable[[Trial], None], ...]] = (
    variations.check_parsed,
    exactness.check_names,
    exactness.check_outputs,
    exactness.check_halves,
    exactness.check_types,
    exactness.check_sent_texts,
    exactness.check_items,
    exactness.check_objects,
    variations.check_cuts_of_state,
    variations.check_cuts_of_details,
    variations.check_cuts_of_usage,
    variations.check_last_errors,
    variations.check_counts,
    variations.check_written_cuts,
    variations.check_codes,
    variations.check_absent,
    variations.check_arrays,
    variations.check_other_answers,
    variations.check_bare_state,
)
"""What is tried on each stream when nothing has been found in any: it changes more."""

_COSTLY_CHECKS: Final[tuple[Callable[[Trial], None], ...]] = (
    written.check_failed_resource,
    written.check_emitted_answer,
    Trial.check_checksums,
    Trial.check_repeats,
    Trial.check_splits,
    Trial.check_cutting,
    Trial.check_fast_path,
)
"""What is tried after everything else, because it decodes each stream many times."""


def _end_and_parts(message: msg.AssistantMessage) -> object:
    return message.status, message.finish_reason, message.parts


def _is_ours(message_id: str) -> bool:
    hop = message_id.removeprefix(f"{MESSAGE_ID}.")
    return message_id == MESSAGE_ID or (hop != message_id and hop.isdecimal() and int(hop) > 1)


def _messages(events: Iterable[Event]) -> list[msg.AssistantMessage]:
    return [message for message in fold(events).messages if isinstance(message, msg.AssistantMessage)]
