"""
The short way for deltas: frames that continue the fragment of the frame before them.

Nearly every frame of a long answer goes through `Lane.take`, so nothing is looked up there that does not change from
one to the next. A frame of any other shape takes the plain way; a standing test proves that both give the same.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from assistant_events.adapters.frame_templates import Template
from assistant_events.adapters.json_fields import Fields
from assistant_events.events import Event, ReasoningDelta, TextDelta, ToolInputDelta
from assistant_events.recorder.open_parts import OpenCall, OpenFragment
from assistant_events.values.buffers import COMPACT_AT
from assistant_events.values.construct import draft_of
from assistant_events.values.json_io import string_reader
from assistant_events.values.validators import NO_FIELDS

DeltaClass: TypeAlias = type[TextDelta] | type[ReasoningDelta] | type[ToolInputDelta]

_new = object.__new__
# Any: the drafts are the delta classes, but for being mutable.
_DRAFTS: dict[type, Any] = {cls: draft_of(cls) for cls in (TextDelta, ReasoningDelta, ToolInputDelta)}


_Shape: TypeAlias = tuple[bytes, bytes, int, int]
"""The constant bytes before and after a string, and where it begins and ends."""


def _shape(prefix: bytes, suffix: bytes) -> _Shape:
    return prefix, suffix, len(prefix), -len(suffix)


class DeltaFastPath:
    """
    The open fragment, and the one shape of frame that continues it.

    Made by `DecoderBase.open_lane`, which says what the arguments are. *around* is what stands before and after a
    payload in its frame.
    """

    __slots__ = (
        "_buffer",
        "_call_id",
        "_cls",
        "_draft",
        "_item",
        "_items",
        "_longest",
        "_message_id",
        "_read",
        "bare",
        "framed",
        "unended",
    )

    def __init__(
        self,
        message_id: str,
        template: Template,
        around: tuple[bytes, bytes],
        cls: DeltaClass,
        fragment: OpenFragment | OpenCall,
        *,
        max_frame_bytes: int,
        items: list[Any] | None = None,
        item: Fields | None = None,
    ) -> None:
        # Any: items as they were parsed.
        before, after = around
        begin = before + template.prefix
        self.bare = _shape(template.prefix, template.suffix)
        """What a payload looks like."""

        self.framed = _shape(begin, template.suffix + after)
        """What a whole frame looks like. A JSON string holds no line end, so it is one frame and not more."""

        self.unended = _shape(begin, template.suffix)
        """What a whole frame looks like without its end."""

        # A character takes up to 12 bytes, two escapes. A frame that may be too long goes the plain way, which counts.
        self._longest = (max_frame_bytes - len(begin) - len(template.suffix) - len(after)) // 12
        self._message_id = message_id
        self._cls = cls
        self._draft = _DRAFTS[cls]
        self._buffer = fragment.buffer
        self._call_id = fragment.call_id if isinstance(fragment, OpenCall) else None
        self._items = items
        self._item: Fields = {} if item is None else item
        self._read = string_reader()

    def try_append(self, data: bytes, shape: _Shape, sink: list[Event]) -> bool:
        """
        Append a delta to the fragment and its event to *sink*.

        Args:
            data: A payload, or a frame.

            shape: `bare` or `framed`, as *data* is.

            sink: Where the event goes.

        Returns:
            Whether *data* has the shape. If not, nothing happened.
        """
        prefix, suffix, start, end = shape
        if not data.startswith(prefix) or not data.endswith(suffix):
            return False
        try:
            text = self._read(data[start:end])
        except ValueError:
            return False  # no string, or none that is text
        size = len(text)
        if not 0 < size <= self._longest:
            return False
        buffer = self._buffer
        length = buffer.length
        made = _new(self._draft)
        made.message_id = self._message_id
        made.offset = length
        made.delta = text
        made.extra = NO_FIELDS
        if self._call_id is not None:
            made.call_id = self._call_id
        elif self._items is not None:
            self._items.append({**self._item, "text": text})
        made.__class__ = self._cls
        sink.append(made)
        pieces = buffer.pieces
        pieces.append(text)
        buffer.length = length + size
        if len(pieces) >= COMPACT_AT:
            buffer.compact()
        return True
