"""
The short way for deltas: frames that continue the fragment of the frame before them.

Nearly every frame of a long answer goes through `Lane.take`, so nothing is looked up there that does not change from one to the
next. A frame of any other shape takes the plain way; a standing test proves that both give the same.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from assistant_events.adapters.templates import Template
from assistant_events.events import Event, ReasoningDelta, TextDelta, ToolInputDelta, draft_of
from assistant_events.recorder.recording import OpenCall, OpenFragment
from assistant_events.values.buffers import COMPACT_AT
from assistant_events.values.reading import string_reader

DeltaClass: TypeAlias = type[TextDelta] | type[ReasoningDelta] | type[ToolInputDelta]

_new = object.__new__
# Any: the drafts are the delta classes, but for being mutable.
_DRAFTS: dict[type, Any] = {cls: draft_of(cls) for cls in (TextDelta, ReasoningDelta, ToolInputDelta)}


class Lane:
    """
    The open fragment, and the one shape of frame that continues it.

    Args:
        message_id: Of the message that the fragment is in.

        template: Of the frames.

        cls: Class of the deltas that they are.

        fragment: What they continue.

        items: A list that gets *item* with the text of each frame, for wires on which every delta is an item.
    """

    __slots__ = (
        "_buffer",
        "_call_id",
        "_cls",
        "_draft",
        "_end",
        "_item",
        "_items",
        "_message_id",
        "_prefix",
        "_read",
        "_start",
        "_suffix",
    )

    def __init__(
        self,
        *,
        message_id: str,
        template: Template,
        cls: DeltaClass,
        fragment: OpenFragment | OpenCall,
        items: list[Any] | None = None,
        item: dict[str, Any] | None = None,
    ) -> None:
        # Any: items as they were parsed.
        self._message_id = message_id
        self._prefix = template.prefix
        self._suffix = template.suffix
        self._start = len(template.prefix)
        self._end = -len(template.suffix)
        self._cls = cls
        self._draft = _DRAFTS[cls]
        self._buffer = fragment.buffer
        self._call_id = fragment.call_id if isinstance(fragment, OpenCall) else None
        self._items = items
        self._item = {} if item is None else item
        self._read = string_reader()

    def take(self, payload: bytes, sink: list[Event]) -> bool:
        """Append the delta of a frame to the fragment and its event to *sink*; return whether the frame has this shape."""
        if not payload.startswith(self._prefix) or not payload.endswith(self._suffix):
            return False
        try:
            text = self._read(payload[self._start : self._end])
        except ValueError:
            return False  # no string, or none that is text
        if not text:
            return False
        buffer = self._buffer
        length = buffer.length
        made = _new(self._draft)
        made.message_id = self._message_id
        made.offset = length
        made.delta = text
        if self._call_id is not None:
            made.call_id = self._call_id
        elif self._items is not None:
            self._items.append({**self._item, "text": text})
        made.__class__ = self._cls
        sink.append(made)
        pieces = buffer.pieces
        pieces.append(text)
        buffer.length = length + len(text)
        if len(pieces) >= COMPACT_AT:
            buffer.compact()
        return True
