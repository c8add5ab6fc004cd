"""
The fast path of deltas: frames that continue the fragment of the frame before them.

`DeltaFastPath` takes nearly every frame of a long answer, so nothing is looked up there that is the same for each of
them, and the texts of a run of frames are parsed together. Any other frame is decoded in full; a differential test
proves that the events are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from assistant_events.adapters.frame_templates import TemplateLearner
from assistant_events.events import Event, ReasoningDelta, TextDelta, ToolInputDelta
from assistant_events.recorder.calls import OpenCall
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values.buffers import COMPACT_AT, Buffer
from assistant_events.values.construct import draft_of
from assistant_events.values.json_io import string_reader, strings_reader
from assistant_events.values.validators import NO_FIELDS

# Any: the drafts are the delta classes, but mutable.
DELTAS: dict[str, tuple[type, Any]] = {
    kind: (cls, draft_of(cls))
    for kind, cls in (("text", TextDelta), ("reasoning", ReasoningDelta), (OpenCall.kind, ToolInputDelta))
}
"""By the kind of a fragment, the class of its deltas and their draft; other kinds have no fast path."""

_SHORT_RUN, _LAST_RUN = 1 << 10, 1 << 15
"""In how many bytes a run of frames is looked for at least, and at most: what is looked through in vain costs, too."""

_SHORT_FRAME = 1 << 6
"""Bytes of a short payload: a run is looked for in as many of them as fill the window."""

Form: TypeAlias = tuple[bytes, bytes, int, bytes]
"""
How a frame, or its payload alone, is matched: the bytes up to its first gap; the bytes after its text when that is the
only gap, otherwise those after the payload; the length of both; the bytes after the payload.
"""

Continued: TypeAlias = OpenFragment | OpenCall | Callable[[], OpenFragment]
"""What frames continue: what is open, or a function that opens it."""

_NO_FORM: Form = b"", b"", -1, b""
"""Matches nothing."""

_QUOTE = ord('"')


class DeltaFastPath:
    """
    An open fragment, and the frames that continue it. Made by `DecoderBase.offer_fast_path`.

    Args:
        message_id: Id of the message.

        learner: What has learned the template of these frames.

        number: Number of the item; 0 for wires without numbers.

        fragment: What the frames continue, or what opens it when the first of them comes.

        frame_ids: Ids of the frames that came, for wires that have them.

        texts: A list that gets the text of each frame, for adapters that need to know how it was cut.
    """

    __slots__ = (
        "_bare",
        "_buffer",
        "_call_id",
        "_cls",
        "_draft",
        "_ids",
        "_item",
        "_last",
        "_mark",
        "_message_id",
        "_read",
        "_suffix",
        "_texts",
        "_varies",
        "fragment",
        "framed",
        "learner",
        "number",
        "prefix",
        "stopped",
        "template",
    )

    def __init__(
        self,
        message_id: str,
        learner: TemplateLearner,
        number: int,
        fragment: Continued,
        *,
        frame_ids: set[bytes],
        texts: list[Any] | None = None,
    ) -> None:
        # Any: an adapter may keep items of its own in the list.
        template = learner.template
        assert template is not None, "only what was learned is offered"
        self.learner = learner
        self.template = template
        self.number = number
        self.fragment = fragment
        self._message_id = message_id
        self._buffer: Buffer[str] | None = None
        self._mark = 0
        if not callable(fragment):
            self._continue(fragment)
        self._item = b"%d" % number if template.numbered else b""
        self._ids = frame_ids
        self._last: bytes | None = None
        learner.size = 0
        self.stopped = False
        """Whether another frame came after the last run, which need not be tried again."""

        self._texts = texts
        self._read = string_reader()
        self._bind()

    def take(self, data: bytes, form: Form) -> Event | None:
        """
        Append a delta to the fragment.

        Args:
            data: A payload, or a frame.

            form: `bare` or `framed`, as *data* is.

        Returns:
            The event; `None` when *data* does not match, and nothing happened.
        """
        head, tail, constant, _ = form
        literal = data.removeprefix(head).removesuffix(tail)
        try:
            if self._varies or len(data) - len(literal) != constant:
                delta = self._read_varied(data, literal, form)
            else:
                delta = self._read(literal)
                # What may be around a string are line ends. ASCII without escapes leaves no room for them.
                if len(literal) != len(delta) + 2 and not literal[0] == _QUOTE == literal[-1]:
                    return None
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

    def _read_varied(self, data: bytes, rest: bytes, form: Form) -> str | None:
        """Return the text of a frame that varies in more; *rest* is *data* without what the head and tail matched."""
        head, _, constant, after = form
        if not self._varies:
            if len(rest) == len(data):
                return None  # most frames of other kinds
            rest, constant = data.removeprefix(head).removesuffix(after), len(head) + len(after)
        found = self.template.pattern.fullmatch(rest) if len(data) - len(rest) == constant else None
        if found is None:
            return None
        literal, number, frame_id = found.group(*self.template.order)
        if literal is None or number != self._item or frame_id in self._ids:
            return None
        delta = self._read(literal)
        if delta:
            self._last = rest
            if frame_id:
                self._ids.add(frame_id)
            if not self._varies:
                self.template.exact = False
                self._bind()
        return delta

    def append_run(self, data: bytes, start: int, sink: list[Event]) -> int:
        """
        Append the deltas of frames that follow each other, and their events to *sink*.

        Args:
            data: Bytes in which a frame begins at *start*.

            start: Where the run begins.

            sink: The list that gets the events.

        Returns:
            Where the run ends: *start* when it has less than two frames.
        """
        return self._append_run(data, start, sink, self.framed)[1]

    def append_payloads(self, payloads: list[bytes], start: int, sink: list[Event]) -> int:
        """
        Append the deltas of payloads that follow each other, and their events to *sink*.

        Args:
            payloads: The payloads of some frames.

            start: Index of the first.

            sink: The list that gets the events.

        Returns:
            How many there were: none when there are less than two.
        """
        some = payloads[start : start + self.learner.window // _SHORT_FRAME]
        if len(some) < 2 or self.learner.named or not some[1].startswith(self.prefix):
            return 0
        lines = b"%b\n" % b"\n".join(some)
        is_lines = lines.count(b"\n") == len(some)
        return self._append_run(lines, 0, sink, self._form(b"", b"\n"))[0] if is_lines else 0

    @property
    def is_open(self) -> bool:
        """Whether the fragment is open; else the next frame opens it."""
        return self._buffer is not None

    def is_for(self, learner: TemplateLearner, number: int, fragment: Continued) -> bool:
        """Return whether it was made for frames of this kind that continue this fragment."""
        return self.fragment is fragment and self.template is learner.template and self.number == number

    def resume(self) -> None:
        """Go on after frames that were decoded in full."""
        self._mark = self._length

    def was_used(self) -> bool:
        """Return whether frames matched since it was made or resumed, or since the last call."""
        length = self._length
        used = length != self._mark
        if used:
            self._mark = length
            self.learner.earned = True
        return used

    def last_payload(self) -> bytes | None:
        """Return the payload of the last frame that varied in more than its text; `None` when there was none."""
        return None if self._last is None else self.template.bound(self.number)[0] + self._last

    # -- inside

    @property
    def _length(self) -> int:
        return 0 if self._buffer is None else self._buffer.length

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
        buffer = self._continue(self.fragment())
        self._mark = -1
        return buffer

    def _bind(self) -> None:
        """Set the form of the frames of the item."""
        template = self.template
        self._varies = not template.exact
        self.prefix, self._suffix = template.bound(self.number)
        """The bytes of a payload before its first gap and, where the text is the only one, after it."""

        around = self.learner.around
        self.framed = _NO_FORM if around is None else self._form(*around)
        """How a whole frame is matched. A JSON string holds no line end, so what matches is one frame."""

        self._bare: Form | None = None

    @property
    def bare(self) -> Form:
        """How a payload is matched."""
        form = self._bare
        if form is None:
            form = self._bare = _NO_FORM if self.learner.named else self._form(b"", b"")
        return form

    def _form(self, before: bytes, after: bytes) -> Form:
        head, tail = before + self.prefix, after if self._varies else self._suffix + after
        return head, tail, len(head) + len(tail), after

    def _append_run(self, data: bytes, start: int, sink: list[Event], form: Form) -> tuple[int, int]:
        """Return how many frames a run has, and where it ends."""
        self.stopped = False
        head, tail, constant, after = form
        exact = not self._varies
        if exact:
            head, tail = head + b'"', b'"' + tail
        if constant < 0 or not data.startswith(head, start):
            return 0, start
        pieces = self._cut_run(data, start, head, tail, after)
        if not pieces:
            return 0, start
        literals: Sequence[bytes] = pieces
        ids: Sequence[bytes] = ()
        if not exact:
            literals, ids = self._match_run(pieces)
        texts = self._read_all(literals, b'"' if exact else b"")
        count = len(texts)
        if count and not exact:
            self._last = pieces[count - 1]
            if any(ids):
                self._ids.update(ids[:count])
        if texts:
            self._append(texts, sink)
        size, learner = count * len(head + tail) + sum(map(len, pieces[:count])), self.learner
        learner.size += size
        end, begin = start + size, form[0]
        self.stopped = count < len(pieces) or not begin.startswith(data[end : end + len(begin)])
        if self.stopped:
            # The next fragment is probably not much longer than this one.
            learner.window = min(max(learner.size * 9 // 8, _SHORT_RUN), _LAST_RUN)
        elif start + learner.window < len(data):
            learner.window = min(2 * learner.window, _LAST_RUN)
        return count, end

    def _cut_run(self, data: bytes, start: int, head: bytes, tail: bytes, after: bytes) -> list[bytes]:
        """Return what differs in two or more frames with the same bytes between them."""
        border = data.find(after, start)
        if border < 0 or not data.startswith(head, border + len(after)):
            return []
        end = start + self.learner.window
        pieces = data[start + len(head) : end].split(tail + head)
        last, whole, _ = pieces[-1].partition(tail)
        pieces[-1:] = [last] if whole else []
        joined = b"\0".join(pieces)
        other = joined.find(b"\n")
        if other >= 0:
            # Frames of another kind are between two of these.
            del pieces[joined.count(b"\0", 0, other) :]
        return pieces

    def _match_run(self, pieces: list[bytes]) -> tuple[Sequence[bytes], Sequence[bytes]]:
        """Return texts and ids of frames up to the first that does not match, is of another item or not new."""
        columns = list(zip(*self.template.pattern.findall(b"\n".join(pieces)), strict=True))
        literals, numbers, ids = [columns[group - 1] for group in self.template.order]
        if b"" in literals:
            count = literals.index(b"")
            literals, numbers, ids = literals[:count], numbers[:count], ids[:count]
        if not literals:
            return (), ()
        known, item = self._ids, self._item
        if numbers.count(item) == len(ids) and (not ids[0] or (len({*ids}) == len(ids) and known.isdisjoint(ids))):
            return literals, ids
        seen: set[bytes] = set()
        for number, frame_id in zip(numbers, ids, strict=True):
            if number != item or frame_id in known or frame_id in seen:
                break
            seen.add(frame_id)
        return literals[: len(seen)], ids[: len(seen)]

    def _read_all(self, literals: Sequence[bytes], quote: bytes) -> list[str]:
        """Parse texts, which miss *quote* around them, up to the first that is empty or not valid."""
        try:
            # A string holds no line end, so none reaches from one literal into the next.
            joined = b"%b,\r%b" % (quote, quote)
            texts = strings_reader()(b"[%b%b%b]" % (quote, joined.join(literals), quote))
            if len(texts) == len(literals) and all(texts):
                return texts
        except ValueError:
            pass
        half = len(literals) // 2
        texts = self._read_all(literals[:half], quote) if half else []
        return texts + self._read_all(literals[half:], quote) if half and len(texts) == half else texts

    def _append(self, texts: Sequence[str], sink: list[Event]) -> None:
        """Append texts to the fragment, and an event for each to *sink*."""
        buffer = self._buffer or self._open()
        draft, cls, message_id, call_id = self._draft, self._cls, self._message_id, self._call_id
        length = buffer.length
        for text in texts:
            made = draft()
            made.message_id = message_id
            made.offset = length
            made.delta = text
            made.extra = NO_FIELDS
            if call_id is not None:
                made.call_id = call_id
            made.__class__ = cls
            sink.append(made)
            length += len(text)
        buffer.append("".join(texts))
        if self._texts is not None:
            self._texts.extend(texts)
