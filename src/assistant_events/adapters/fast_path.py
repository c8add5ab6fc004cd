"""
The fast path of deltas: frames that continue the fragment of the frame before them.

`DeltaFastPath` takes nearly every frame of a long answer, so nothing is looked up there that is the same for each of
them, and the texts of a run of frames are parsed together. Any other frame is decoded in full; a differential test
proves that the events are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from assistant_events.adapters.frame_templates import AS_LINE, DeltaFrames, FramePattern, FrameTemplate, TemplateLearner
from assistant_events.adapters.json_fields import Fields
from assistant_events.event_lists import DeltaRun
from assistant_events.events import Event, ReasoningDelta, TextDelta, ToolInputDelta
from assistant_events.recorder.calls import OpenCall
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values.buffers import COMPACT_AT, Buffer
from assistant_events.values.construct import copy_for_class, draft_of
from assistant_events.values.json_io import read_json, string_reader, strings_reader
from assistant_events.values.validators import NO_FIELDS

# Any: the drafts are the delta classes, but mutable.
DELTAS: dict[str, tuple[type, Any]] = {
    kind: (cls, draft_of(cls))
    for kind, cls in (("text", TextDelta), ("reasoning", ReasoningDelta), (OpenCall.kind, ToolInputDelta))
}
"""By the kind of a fragment, the class of its deltas and their draft; other kinds have no fast path."""


def _make_deltas(
    texts: Sequence[str], sink: list[Event], *, draft: Any, cls: type, message_id: str, call_id: str | None, offset: int
) -> None:
    """Append an event for each text to *sink*."""
    # Any: see `DELTAS`.
    for text in texts:
        made = draft()
        made.message_id = message_id
        made.offset = offset
        made.delta = text
        made.extra = NO_FIELDS
        if call_id is not None:
            made.call_id = call_id
        made.__class__ = cls
        sink.append(made)
        offset += len(text)


_MAKERS = {cls: copy_for_class(_make_deltas) for cls, _ in DELTAS.values()}

_MIN_WINDOW, _MAX_WINDOW = 1 << 10, 1 << 15
"""Bounds of `TemplateLearner.window`: bytes that are searched without a result cost time, too."""

Continued: TypeAlias = OpenFragment | OpenCall | Callable[[], OpenFragment]
"""What frames continue: what is open, or a function that opens it."""


class SkippedFrames(NamedTuple):
    """What is known of frames that were not decoded in full."""

    ids: list[bytes]
    texts: list[str]


_QUOTE = ord('"')

# Around and between the texts of a run. A string holds no line end, so none reaches from one literal into the next.
_BARE = b"[", b",\r", b"]"
_QUOTED = b'["', b'",\r"', b'"]'
"""The same of literals that miss their quotes."""


class DeltaFastPath:
    """
    What is open, and the frames of one kind that continue it. Made by `DecoderBase.offer_fast_path`.

    Args:
        frame_ids: Ids of the frames that came, for wires that have them.

        runs: Gets a run for all deltas that are appended to a sink at once.
    """

    __slots__ = (
        "_around",
        "_buffer",
        "_call_id",
        "_cls",
        "_draft",
        "_ids",
        "_mark",
        "_message_id",
        "_pattern",
        "_read",
        "_read_run",
        "_tail",
        "_texts",
        "_varies",
        "fragment",
        "framed",
        "head",
        "last",
        "last_id",
        "learner",
        "number",
        "prefix",
        "runs",
        "skipped_frames",
        "stopped",
        "template",
    )

    framed: bool
    """Whether the bytes around a payload are known. A JSON string holds no line end, so what matches is a frame."""

    head: bytes
    """The bytes of a frame before its first gap; of a line, where the bytes around a payload are not known."""

    prefix: bytes
    """The same of a payload."""

    skipped_frames: SkippedFrames | None
    """Lists that get ids and texts."""

    last: bytes | None
    """The last frame with counted values beside its id; `None` when there was none."""

    last_id: bytes
    """The id of the last frame, without quotes; empty when it had none."""

    runs: list[DeltaRun]
    """The runs that were appended to a sink."""

    stopped: bool
    """Whether another frame came after the last run, which need not be tried again."""

    def __init__(self, frame_ids: set[bytes], runs: list[DeltaRun]) -> None:
        self.learner = TemplateLearner()
        self.fragment: Continued | None = None
        self.number = -1
        self.template: FrameTemplate | None = None
        self._ids = frame_ids
        self.runs = runs
        self._read = string_reader()
        self._read_run = strings_reader()

    def continue_with(
        self,
        message_id: str,
        number: int,
        fragment: Continued,
        texts: list[Any] | None,
        skipped_frames: SkippedFrames | None,
    ) -> None:
        """
        Expect frames that continue a fragment, as long as they do, by the template that was learned.

        Args:
            message_id: Id of the message.

            number: Number of the item; 0 for wires without numbers.

            fragment: What the frames continue, or what opens it when the first of them comes.

            texts: A list that gets the text of each frame, for adapters that need to know how it was cut.

            skipped_frames: Lists that get id and text of each frame that has an id.
        """
        # Any: an adapter may keep items of its own in the list.
        template = self.learner.template
        assert template is not None, "only what was learned is offered"
        if template is self.template and fragment is self.fragment and number == self.number:
            self._mark = 0 if self._buffer is None else self._buffer.length
            self.skipped_frames = skipped_frames
            return
        if template is not self.template:
            self.template = template
            self.number = -1
            self._around = template.around or AS_LINE
            self._varies = not template.exact
            self.framed = template.around is not None
        if number != self.number:
            self.number = number
            self._pattern: FramePattern | None = None
            self.head, self._tail = template.bound(number)
            self.prefix = self.head[len(self._around[0]) :]
        self._message_id = message_id
        self._texts, self.skipped_frames = texts, skipped_frames
        self.last, self.last_id = None, b""
        self.learner.size = 0
        self.stopped = False
        if callable(fragment):
            self.fragment = fragment
            self._buffer: Buffer[str] | None = None
            self._mark = 0
        else:
            self._continue(fragment)

    def take(self, frame: bytes) -> Event | None:
        """
        Append a delta to the fragment.

        Args:
            frame: A frame.

        Returns:
            The event; `None` when the frame does not match, and nothing happened.
        """
        try:
            delta = self._read_varied(frame) if self._varies else self._read_exact(frame)
        except ValueError:
            return None  # not a string, or not valid text
        if not delta:
            return None
        buffer = self._buffer or self._open()
        pieces = buffer.pieces
        made = self._draft()
        made.message_id = self._message_id
        made.offset = buffer.length
        made.delta = delta
        made.extra = NO_FIELDS
        if self._call_id is not None:
            made.call_id = self._call_id
        made.__class__ = self._cls
        pieces.append(delta)
        buffer.length += len(delta)
        if len(pieces) >= COMPACT_AT:
            buffer.compact()
        if self._texts is not None:
            self._texts.append(delta)
        event: Event = made
        return event

    def take_payload(self, payload: bytes) -> Event | None:
        """Do the same with a payload alone."""
        return None if self.learner.named else self.take(payload.join(self._around))

    def append_run(self, data: bytes, start: int, sink: list[Event]) -> tuple[int, int]:
        """
        Append the deltas of frames that follow each other, and their events to *sink*.

        Args:
            data: Bytes in which a frame begins at *start*.

            start: Where the run begins.

            sink: The list that gets the events.

        Returns:
            How many frames the run has, and where it ends: none, and *start*, when it has less than two.
        """
        self.stopped = False
        head, after = self.head, self._around[1]
        border = data.find(after, start) + len(after)
        if border < len(after) or not data.startswith(head, border):
            return 0, start
        append = self._append_varied if self._varies else self._append_exact
        count, found, end = append(data, start, sink)
        if not found:
            return 0, start
        learner = self.learner
        learner.size += end - start
        self.stopped = count < found or not head.startswith(data[end : end + len(head)])
        if self.stopped:
            # The next fragment is probably not much longer than this one.
            learner.window = min(max(learner.size * 9 // 8, _MIN_WINDOW), _MAX_WINDOW)
        elif start + learner.window < len(data):
            learner.window = min(2 * learner.window, _MAX_WINDOW)
        return count, end

    @property
    def is_open(self) -> bool:
        """Whether the fragment is open; else the next frame opens it."""
        return self._buffer is not None

    def is_for(self, number: int, fragment: Continued) -> bool:
        """Return whether frames that continue this fragment are expected, or were last."""
        return self.fragment is fragment and self.number == number

    def skipped(self, frames: DeltaFrames) -> Fields | None:
        """
        Return the counted fields of the last frame, where it had any and varied in more than its text.

        Returns:
            `None` when no frame matched since this was made or resumed, or since the last call.
        """
        length = 0 if self._buffer is None else self._buffer.length
        if length == self._mark:
            return None
        self._mark = length
        self.learner.earned = True
        if self.last is not None:
            before, after = self._around
            payload = self.last.removeprefix(before).removesuffix(after)
            text = payload.decode("utf-8", "replace")  # bytes of a snapshot, which was not read, may be no UTF-8
            return frames.counted_in(read_json(text, max_depth=None))
        return self.template.id_fields(self.last_id) if self.last_id and self.template is not None else {}

    # -- inside

    def _continue(self, fragment: OpenFragment | OpenCall) -> Buffer[str]:
        self.fragment = fragment
        self._call_id = fragment.call_id
        self._cls, self._draft = DELTAS[fragment.kind]
        self._buffer = buffer = fragment.buffer
        self._mark = buffer.length
        return buffer

    def _open(self) -> Buffer[str]:
        """Open the fragment: its first delta has come."""
        assert callable(self.fragment), "a fragment has a buffer"
        return self._continue(self.fragment())

    def _read_exact(self, frame: bytes) -> str | None:
        """Return the text of a frame whose text is the only gap."""
        head, tail = self.head, self._tail
        literal = frame.removeprefix(head).removesuffix(tail)
        if len(frame) - len(literal) != len(head) + len(tail):
            if not frame.startswith(head):
                return None  # most frames of other kinds
            delta = self._read_varied(frame)
            if delta:
                assert self.template is not None, "it has matched"
                self.template.exact, self._varies = False, True
            return delta
        delta = self._read(literal)
        # What may be around a string are line ends. ASCII without escapes leaves no room for them.
        if len(literal) != len(delta) + 2 and not literal[0] == _QUOTE == literal[-1]:
            return None
        return delta

    def _read_varied(self, frame: bytes) -> str | None:
        """Return the text of a frame that varies in more."""
        pattern, text, unique, counts, groups, expected = self._pattern or self._bind()
        found = pattern.fullmatch(frame)
        if found is None or found.group(*groups) != expected:
            return None
        frame_id = found[unique] if unique else b""
        if frame_id and frame_id in self._ids:
            return None
        delta = self._read(found[text])
        if delta:
            if counts:
                self.last = frame
            if frame_id:
                self.last_id = frame_id
                self._ids.add(frame_id)
                if self.skipped_frames is not None:
                    self.skipped_frames.ids.append(frame_id)
                    self.skipped_frames.texts.append(delta)
        return delta

    def _bind(self) -> FramePattern:
        assert self.template is not None, "frames are expected"
        pattern = self._pattern = self.template.pattern(self.number)
        return pattern

    def _append_exact(self, data: bytes, start: int, sink: list[Event]) -> tuple[int, int, int]:
        """
        Return how many frames with the same bytes around their text were appended and were found; and their end.

        A piece between these bytes may hold frames of another kind, too. It is not valid JSON then, which holds no line
        end in a string.
        """
        head, tail = self.head + b'"', b'"' + self._tail
        if not data.startswith(head, start):
            return 0, 0, start
        begin, end = start + len(head), min(start + self.learner.window, len(data))
        # Of CPython's searches for such long bytes the one from the right is faster, by a quarter to a half.
        pieces = data[begin:end].rsplit(tail + head)
        last, whole, rest = pieces.pop().partition(tail)
        if whole:
            pieces.append(last)
            end -= len(rest)
        else:
            end -= len(head) + len(last)
        texts = self._read_all(pieces, _QUOTED)
        count, found = len(texts), len(pieces)
        if texts:
            self._append(texts, sink)
        if count < found:
            end = start + count * len(head + tail) + sum(map(len, pieces[:count]))
        return count, found, end

    def _append_varied(self, data: bytes, start: int, sink: list[Event]) -> tuple[int, int, int]:
        """Do the same with frames that vary in more than their text."""
        after = self._around[1]
        end = data.rfind(after, start, start + self.learner.window) + len(after)
        if end < len(after):
            return 0, 0, start
        literals, ids, rests = self._match_run(data, start, end)
        texts = self._read_all(literals, _BARE)
        if ids:
            del texts[self._add_ids(ids[: len(texts)]) :]
        count, found = len(texts), len(rests)
        if count == found - 1 and rests[-1]:
            end -= len(rests[-1])
        elif count < found:
            # What comes after the frames of the run: none of them has such bytes but at its end.
            end -= len(data[start:end].split(after, count)[-1])
        if count:
            assert self.template is not None, "they have matched"
            if self.template.counts:
                self.last = data[start:end].removesuffix(after).rpartition(after)[2] + after
            if ids:
                self.last_id = ids[count - 1]
                if self.skipped_frames is not None:
                    self.skipped_frames.ids.extend(ids[:count])
                    self.skipped_frames.texts.extend(texts)
            self._append(texts, sink)
        return count, found, end

    def _match_run(self, data: bytes, start: int, end: int) -> tuple[Sequence[bytes], Sequence[bytes], Sequence[bytes]]:
        """Return texts and ids of the frames that match; and for each frame or other piece, what does not match."""
        known = self._pattern or self._bind()
        columns = list(zip(*known.pattern.findall(data, start, end), strict=True))
        literals, rests = columns[known.text - 1], columns[known.groups[-1] - 1]
        count = len(literals)
        if rests[-1]:
            count -= 1
        for group, constant in zip(known.groups[:-1], known.expected[:-1], strict=True):
            column = columns[group - 1][:count]
            if column.count(constant) < count:
                count = next(at for at, each in enumerate(column) if each != constant)
        return literals[:count], columns[known.unique - 1][:count] if known.unique else (), rests

    def _add_ids(self, ids: Sequence[bytes]) -> int:
        """Add the ids of frames, up to one that came before, and return how many there are."""
        if self._ids.isdisjoint(ids):
            size = len(self._ids)
            self._ids.update(ids)
            if len(self._ids) == size + len(ids):
                return len(ids)
            self._ids.difference_update(ids)  # one of them comes twice
        for count, frame_id in enumerate(ids):
            if frame_id in self._ids:
                return count
            self._ids.add(frame_id)
        return len(ids)

    def _read_all(self, literals: Sequence[bytes], marks: tuple[bytes, bytes, bytes]) -> list[str]:
        """Parse texts, with *marks* around and between them, up to the first that is empty or not valid."""
        if not literals:
            return []
        opening, between, closing = marks
        try:
            texts = self._read_run(opening + between.join(literals) + closing)
            if len(texts) == len(literals) and all(texts):
                return texts
        except ValueError:
            pass
        half = len(literals) // 2
        texts = self._read_all(literals[:half], marks)
        return texts + self._read_all(literals[half:], marks) if half and len(texts) == half else texts

    def _append(self, texts: Sequence[str], sink: list[Event]) -> None:
        """Append texts to the fragment, and an event for each to *sink*."""
        buffer = self._buffer or self._open()
        deltas: list[Event] = []
        _MAKERS[self._cls](
            texts,
            deltas,
            draft=self._draft,
            cls=self._cls,
            message_id=self._message_id,
            call_id=self._call_id,
            offset=buffer.length,
        )
        text = "".join(texts)
        buffer.append(text)
        self.runs.append(DeltaRun(len(sink), deltas, text))
        sink += deltas
        if self._texts is not None:
            self._texts.extend(texts)
