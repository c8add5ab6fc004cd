"""
The fast path of deltas: frames that continue the fragment of the frame before them.

`DeltaFastPath.try_append` takes nearly every frame of a long answer, so nothing is looked up there that is the same for
each of them. Any other frame is decoded in full; a differential test proves that the events are equal.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from assistant_events.adapters.frame_templates import TemplateLearner
from assistant_events.events import Event, ReasoningDelta, TextDelta, ToolInputDelta
from assistant_events.recorder.calls import OpenCall
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values.buffers import COMPACT_AT
from assistant_events.values.construct import draft_of
from assistant_events.values.json_io import string_reader
from assistant_events.values.validators import NO_FIELDS

_new = object.__new__
# Any: the drafts are the delta classes, but mutable.
_DRAFTS: dict[type, Any] = {cls: draft_of(cls) for cls in (TextDelta, ReasoningDelta, ToolInputDelta)}

Suffix: TypeAlias = bytes | tuple[()]
"""The bytes after a text; the empty tuple, with which nothing ends, when the text is not the only gap."""

Form: TypeAlias = tuple[bytes, Suffix, int, int, bytes]
"""
How a frame, or its payload alone, is matched: the bytes before its first gap, the suffix, where the text begins and
ends when there is a suffix, and the bytes after the payload.
"""


class DeltaFastPath:
    """
    An open fragment, and the frames that continue it. Made by `DecoderBase.offer_fast_path`.

    Args:
        message_id: Id of the message.

        learner: What has learned the template of these frames.

        number: Number of the item; 0 for wires without numbers.

        fragment: What the frames continue.

        max_frame_bytes: How long a frame may be.

        frame_ids: Ids of the frames that came, for wires that have them.

        texts: A list that gets the text of each frame, for adapters that need to know how it was cut.
    """

    __slots__ = (
        "_anchor",
        "_buffer",
        "_call_id",
        "_cls",
        "_draft",
        "_ids",
        "_item",
        "_last",
        "_longest",
        "_mark",
        "_message_id",
        "_patterns",
        "_read",
        "_texts",
        "bare",
        "fragment",
        "framed",
        "learner",
        "number",
        "template",
        "unended",
    )

    def __init__(
        self,
        message_id: str,
        learner: TemplateLearner,
        number: int,
        fragment: OpenFragment | OpenCall,
        *,
        max_frame_bytes: int,
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
        prefix, suffix = template.bound(number)
        before, after = learner.around or (b"", b"")
        self.framed = _form(before + prefix, suffix, after)
        """How a whole frame is matched. A JSON string holds no line end, so what matches is one frame."""

        self.unended = _form(before + prefix, suffix)
        """How a whole frame without its end is matched."""

        self.bare = self.unended if learner.named else _form(prefix, suffix)
        """How a payload is matched."""

        # A character takes up to 12 bytes, two escapes. A frame that may be too long is decoded in full, which counts.
        self._longest = (max_frame_bytes - template.longest - len(before + after)) // 12
        self._message_id = message_id
        self._call_id = fragment.call_id if isinstance(fragment, OpenCall) else None
        self._cls: type = ToolInputDelta
        if isinstance(fragment, OpenFragment):
            self._cls = TextDelta if fragment.kind == "text" else ReasoningDelta
        self._draft = _DRAFTS[self._cls]
        self._buffer = fragment.buffer
        self._mark = fragment.buffer.length
        self._item = b"%d" % number if template.numbered else None
        self._ids = frame_ids if template.unique else None
        self._patterns = template.patterns
        self._anchor = template.anchor
        self._last: bytes | None = None
        self._texts = texts
        self._read = string_reader()

    def try_append(self, data: bytes, form: Form, sink: list[Event]) -> bool:  # noqa: C901, PLR0912 - the hot path
        """
        Append a delta to the fragment and its event to *sink*.

        Args:
            data: A payload, or a frame.

            form: `bare`, `framed` or `unended`, as *data* is.

            sink: The list that gets the event.

        Returns:
            Whether *data* matched. If not, nothing happened.
        """
        prefix, suffix, start, end, after = form
        if not data.startswith(prefix):
            return False
        found = ids = None
        if end and data.endswith(suffix):
            literal = data[start:end]
        else:
            anchor = self._anchor
            stop = data.find(anchor, start) if anchor else start
            found = self._patterns[after](data, stop + len(anchor)) if stop >= 0 else None
            if found is None:
                return False
            if self._item is not None and found["number"] != self._item:
                return False
            literal = data[start:stop] if anchor else found["text"]
            ids = self._ids
            if ids is not None:
                frame_id = found["unique"]
                if frame_id in ids:
                    return False
        try:
            text = self._read(literal)
        except ValueError:
            return False  # not a string, or not valid text
        size = len(text)
        if not 0 < size <= self._longest:
            return False
        if found is not None:
            self._last = data
            if ids is not None:
                ids.add(frame_id)  # type: ignore[possibly-undefined]  # pyright: ignore[reportPossiblyUnboundVariable]
        buffer = self._buffer
        length = buffer.length
        made = _new(self._draft)
        made.message_id = self._message_id
        made.offset = length
        made.delta = text
        made.extra = NO_FIELDS
        if self._call_id is not None:
            made.call_id = self._call_id
        elif self._texts is not None:
            self._texts.append(text)
        made.__class__ = self._cls
        sink.append(made)
        pieces = buffer.pieces
        pieces.append(text)
        buffer.length = length + size
        if len(pieces) >= COMPACT_AT:
            buffer.compact()
        return True

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
        last = self._last
        if last is None or not last.startswith(self.framed[0]):
            return last
        return last[len(self.framed[0]) - len(self.template.bound(self.number)[0]) :]


def _form(before: bytes, suffix: Suffix, after: bytes = b"") -> Form:
    end = suffix + after if isinstance(suffix, bytes) else suffix
    return before, end, len(before), -len(end), after
