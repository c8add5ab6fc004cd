"""
The fast path of deltas: frames that continue the fragment of the frame before them.

`DeltaFastPath` takes nearly every frame of a long answer, so nothing is looked up there that is the same for each of
them, and the texts of a run of frames are parsed together. Any other frame is decoded in full; a differential test
proves that the events are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, TypeAlias

from assistant_events.adapters.frame_templates import TemplateLearner
from assistant_events.events import Event, ReasoningDelta, TextDelta, ToolInputDelta
from assistant_events.recorder.calls import OpenCall
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values.construct import draft_of
from assistant_events.values.json_io import string_reader, strings_reader
from assistant_events.values.validators import NO_FIELDS

_new = object.__new__
# Any: the drafts are the delta classes, but mutable.
_DRAFTS: dict[type, Any] = {cls: draft_of(cls) for cls in (TextDelta, ReasoningDelta, ToolInputDelta)}

_FIRST_RUN, _LAST_RUN = 1 << 12, 1 << 15
"""In how many bytes a run of frames is looked for at first, and at most: what is looked through in vain costs, too."""

Form: TypeAlias = tuple[bytes | tuple[()], bytes, int, int, bytes]
"""
How a frame, or its payload alone, is matched: the bytes up to its text, and those after it when the text is the only
gap; where the text begins and ends then, with its quotes; the bytes after the payload. With other gaps, the first are
the bytes up to the first of them, and the second are the last.
"""

_NO_FORM: Form = (), b"", 0, 0, b""
"""Matches nothing: no bytes begin with an item of the empty tuple."""


class DeltaFastPath:
    """
    An open fragment, and the frames that continue it. Made by `DecoderBase.offer_fast_path`.

    Args:
        message_id: Id of the message.

        learner: What has learned the template of these frames.

        number: Number of the item; 0 for wires without numbers.

        fragment: What the frames continue.

        frame_ids: Ids of the frames that came, for wires that have them.

        texts: A list that gets the text of each frame, for adapters that need to know how it was cut.
    """

    __slots__ = (
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
        "_read_list",
        "_texts",
        "_window",
        "bare",
        "fragment",
        "framed",
        "learner",
        "number",
        "template",
    )

    def __init__(
        self,
        message_id: str,
        learner: TemplateLearner,
        number: int,
        fragment: OpenFragment | OpenCall,
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
        self._call_id = fragment.call_id if isinstance(fragment, OpenCall) else None
        self._cls: type = ToolInputDelta
        if isinstance(fragment, OpenFragment):
            self._cls = TextDelta if fragment.kind == "text" else ReasoningDelta
        self._draft = _DRAFTS[self._cls]
        self._buffer = fragment.buffer
        self._mark = fragment.buffer.length
        self._item = b"%d" % number if template.numbered else b""
        self._ids = frame_ids
        self._last: bytes | None = None
        self._window = _FIRST_RUN
        self._texts = texts
        self._read = string_reader()
        self._read_list = strings_reader()
        self._bind()

    def try_append(self, data: bytes, form: Form, sink: list[Event]) -> bool:  # noqa: C901, PLR0912 - the hot path
        """
        Append a delta to the fragment and its event to *sink*.

        Args:
            data: A payload, or a frame.

            form: `bare` or `framed`, as *data* is.

            sink: The list that gets the event.

        Returns:
            Whether *data* matched. If not, nothing happened.
        """
        head, tail, start, end, after = form
        if not data.startswith(head):
            return False
        rest = frame_id = b""
        if end and data.endswith(tail):
            literal = data[start:end]
        elif data.endswith(after):
            rest = data[start : len(data) - len(after)]
            found = self.template.pattern.fullmatch(rest)
            if found is None or (self._item and found["number"] != self._item):
                return False
            literal, frame_id = found["text"], found["unique"]
            if frame_id in self._ids:
                return False
        else:
            return False
        try:
            text = self._read(literal)
        except ValueError:
            return False  # not a string, or not valid text
        if not text:
            return False
        if rest:
            self._last = rest
            if frame_id:
                self._ids.add(frame_id)
            if end:
                self.template.exact = False
                self._bind()
        buffer = self._buffer
        made = _new(self._draft)
        made.message_id = self._message_id
        made.offset = buffer.length
        made.delta = text
        made.extra = NO_FIELDS
        if self._call_id is not None:
            made.call_id = self._call_id
        made.__class__ = self._cls
        sink.append(made)
        buffer.append(text)
        if self._texts is not None:
            self._texts.append(text)
        return True

    def append_run(self, data: bytes, start: int, sink: list[Event]) -> int:
        """
        Append the deltas of frames that follow each other, and their events to *sink*.

        Args:
            data: Bytes in which a frame begins at *start*.

            start: Where the run begins.

            sink: The list that gets the events.

        Returns:
            Where the run ends, at the last of these frames or before it.
        """
        head, tail, _, exact, _ = self.framed
        if not data.startswith(head, start):
            return start
        assert isinstance(head, bytes)
        pieces = self._cut_run(data, start, head)
        if not pieces:
            return start
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
        self._append(texts, sink)
        return start + count * len(head + tail) + sum(map(len, pieces[:count]))

    def is_for(self, learner: TemplateLearner, number: int, fragment: OpenFragment | OpenCall) -> bool:
        """Return whether it was made for frames of this kind that continue this fragment."""
        return self.fragment is fragment and self.template is learner.template and self.number == number

    def resume(self) -> None:
        """Go on after frames that were decoded in full."""
        self._mark = self._buffer.length

    def was_used(self) -> bool:
        """Return whether frames matched since it was made or resumed, or since the last call."""
        length = self._buffer.length
        used = length != self._mark
        if used:
            self._mark = length
            self.learner.earned = True
        return used

    def last_payload(self) -> bytes | None:
        """Return the payload of the last frame that varied in more than its text; `None` when there was none."""
        return None if self._last is None else self.template.bound(self.number)[0] + self._last

    # -- inside

    def _bind(self) -> None:
        """Set the forms of the frames of the item."""
        around, template = self.learner.around, self.template
        prefix, suffix = template.bound(self.number)

        def form(before: bytes, after: bytes) -> Form:
            head, tail = before + prefix, suffix + after
            if template.exact:
                return head + b'"', b'"' + tail, len(head), -len(tail), after
            return head, after, len(head), 0, after

        self.framed = _NO_FORM if around is None else form(*around)
        """How a whole frame is matched. A JSON string holds no line end, so what matches is one frame."""

        self.bare = _NO_FORM if self.learner.named else form(b"", b"")
        """How a payload is matched."""

    def _cut_run(self, data: bytes, start: int, head: bytes) -> list[bytes]:
        """Return what differs in frames with the same bytes between them, but for the last one."""
        _, tail, _, _, after = self.framed
        border = data.find(after, start)
        if border < 0 or not data.startswith(head, border + len(after)):
            return []
        end = start + self._window
        *pieces, _ = data[start + len(head) : end].split(tail + head)
        joined = b"\r".join(pieces)
        other = joined.find(b"\n")
        if other >= 0:
            # Frames of another kind are between two of these.
            del pieces[joined.count(b"\r", 0, other) :]
        elif end < len(data):
            self._window = min(2 * self._window, _LAST_RUN)
        return pieces

    def _match_run(self, pieces: list[bytes]) -> tuple[Sequence[bytes], Sequence[bytes]]:
        """Return texts and ids of frames up to the first that does not match, is of another item or not new."""
        pattern = self.template.pattern
        rows = pattern.findall(b"\n".join(pieces))
        if len(rows) != len(pieces):
            matches = takewhile(bool, map(pattern.fullmatch, pieces))
            rows = [found.groups() for found in matches if found is not None]
        if not rows:
            return (), ()
        columns = list(zip(*rows, strict=True))
        literals, numbers, ids = [columns[group - 1] for group in self.template.order]
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
            texts = self._read_list(b"[%b%b%b]" % (quote, joined.join(literals), quote))
            if len(texts) == len(literals) and all(texts):
                return texts
        except ValueError:
            pass
        half = len(literals) // 2
        texts = self._read_all(literals[:half], quote) if half else []
        return texts + self._read_all(literals[half:], quote) if half and len(texts) == half else texts

    def _append(self, texts: Sequence[str], sink: list[Event]) -> None:
        """Append texts to the fragment, and an event for each to *sink*."""
        draft, cls, message_id, call_id = self._draft, self._cls, self._message_id, self._call_id
        buffer = self._buffer
        length = buffer.length
        for text in texts:
            made = _new(draft)
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
