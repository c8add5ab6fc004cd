"""
The short way for deltas: a frame that continues the fragment of the frame before it.

Every delta but the first of its kind goes through `Lane.take`, so nothing is looked up there that does not change from one to
the next. A frame of any other shape is refused and takes the plain way; a standing test proves that both give the same.
"""

from __future__ import annotations

from typing import Any

from assistant_events.events import Event, ReasoningDelta, TextDelta, ToolInputDelta
from assistant_events.recorder.recording import OpenCall, OpenFragment
from assistant_events.values.buffers import COMPACT_AT
from assistant_events.values.unicode import has_surrogates

_new = object.__new__
# Slot descriptors of the frozen classes: filling a slot through them costs a third of what the constructor does.
_set_message_id = TextDelta.message_id.__set__  # type: ignore[attr-defined]
_set_offset = TextDelta.offset.__set__  # type: ignore[attr-defined]
_set_call_id = ToolInputDelta.call_id.__set__  # type: ignore[attr-defined]


class Lane:
    """The open fragment, and the one shape of frame that continues it."""

    __slots__ = ("_buffer", "_call_id", "_cls", "_event_type", "_field", "_index", "_kind", "_message_id", "_set_delta")

    def __init__(
        self,
        *,
        message_id: str,
        event_type: str,
        index: int,
        kind: str,
        field: str,
        cls: type[TextDelta] | type[ReasoningDelta] | type[ToolInputDelta],
        fragment: OpenFragment | OpenCall,
    ) -> None:
        self._message_id = message_id
        self._event_type = event_type
        self._index = index
        self._kind = kind
        self._field = field
        self._cls = cls
        self._set_delta = cls.delta.__set__  # type: ignore[attr-defined]
        self._buffer = fragment.buffer
        self._call_id = fragment.call_id if isinstance(fragment, OpenCall) else None

    def take(self, event: dict[str, Any], sink: list[Event]) -> bool:
        """Append the delta of *event* to the fragment and its event to *sink*; return whether the frame has this shape."""
        # Any: a frame as it was parsed.
        if event.get("event_type") != self._event_type or len(event) != 3:
            return False
        index = event.get("index")
        if index is not self._index and (index.__class__ is not int or index != self._index):
            return False
        delta = event.get("delta")
        if delta.__class__ is not dict or delta.get("type") != self._kind or len(delta) != 2:
            return False
        text = delta.get(self._field)
        if text.__class__ is not str or not text or not (text.isascii() or not has_surrogates(text)):
            return False
        made = _new(self._cls)
        buffer = self._buffer
        length = buffer.length
        _set_message_id(made, self._message_id)
        _set_offset(made, length)
        self._set_delta(made, text)
        if self._call_id is not None:
            _set_call_id(made, self._call_id)
        sink.append(made)
        pieces = buffer.pieces
        pieces.append(text)
        buffer.length = length + len(text)
        if len(pieces) >= COMPACT_AT:
            buffer.compact()
        return True
