"""
The short way for deltas: frames that continue the fragment of the frame before them.

Nearly every frame of a long answer goes through `Lane.run`, so nothing is looked up there that does not change from one to the
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
        "_item",
        "_items",
        "_message_id",
        "_prefix",
        "_read",
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
        self._cls = cls
        self._draft = _DRAFTS[cls]
        self._buffer = fragment.buffer
        self._call_id = fragment.call_id if isinstance(fragment, OpenCall) else None
        self._items = items
        self._item = {} if item is None else item
        self._read = string_reader()

    def run(self, payloads: list[bytes], at: int, sink: list[Event]) -> int:
        """
        Take the payloads from *at* on for as long as they continue the fragment, and append their events to *sink*.

        Returns:
            The place of the first payload that has another shape; the number of payloads when there is none.
        """
        read, prefix, suffix = self._read, self._prefix, self._suffix
        start, end = len(prefix), -len(suffix)
        cls, draft, message_id, call_id, items = self._cls, self._draft, self._message_id, self._call_id, self._items
        buffer = self._buffer
        length = buffer.length
        emit, keep = sink.append, buffer.pieces.append
        room = COMPACT_AT - len(buffer.pieces)
        while at < len(payloads):
            payload = payloads[at]
            if not payload.startswith(prefix) or not payload.endswith(suffix):
                break
            try:
                text = read(payload[start:end])
            except ValueError:
                break  # no string, or none that is text
            if not text:
                break
            made = _new(draft)
            made.message_id = message_id
            made.offset = length
            made.delta = text
            if call_id is not None:
                made.call_id = call_id
            elif items is not None:
                items.append({**self._item, "text": text})
            made.__class__ = cls
            emit(made)
            keep(text)
            length += len(text)
            room -= 1
            if not room:
                buffer.compact()
                room = COMPACT_AT
            at += 1
        buffer.length = length
        return at
