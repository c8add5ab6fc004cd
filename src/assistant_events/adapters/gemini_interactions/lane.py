"""
The short way for deltas: a frame that continues the fragment of the frame before it.

Every delta but the first of its kind goes through `Lane.run`, so nothing is looked up there that does not change from one to
the next. A frame of any other shape takes the plain way; a standing test proves that both give the same.
"""

from __future__ import annotations

from typing import Any

from assistant_events.events import Event, ReasoningDelta, TextDelta, ToolInputDelta, draft_of
from assistant_events.recorder.recording import OpenCall, OpenFragment
from assistant_events.values.buffers import COMPACT_AT
from assistant_events.values.reading import SAFE_LENGTH, fast_reader, read_json
from assistant_events.values.unicode import has_surrogates

_new = object.__new__
# Any: the drafts are the delta classes, but for being mutable.
_DRAFTS: dict[type, Any] = {cls: draft_of(cls) for cls in (TextDelta, ReasoningDelta, ToolInputDelta)}


class Lane:
    """The open fragment, and the one shape of frame that continues it."""

    __slots__ = (
        "_read",
        "refused",
        "_buffer",
        "_call_id",
        "_cls",
        "_event_type",
        "_field",
        "_index",
        "_items",
        "_kind",
        "_message_id",
        "_draft",
    )

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
        items: list[Any] | None = None,
    ) -> None:
        # Any: items of a summary as they were parsed. With them the text stands one level deeper, and each is kept there too.
        self._items = items
        self._message_id = message_id
        self.refused: dict[str, Any] | None = None
        """The frame that `run` stopped at, parsed; `None` when it is no object, or there were no more."""

        self._read = fast_reader()
        self._event_type = event_type
        self._index = index
        self._kind = kind
        self._field = field
        self._cls = cls
        self._draft = _DRAFTS[cls]
        self._buffer = fragment.buffer
        self._call_id = fragment.call_id if isinstance(fragment, OpenCall) else None

    def run(self, payloads: list[bytes], at: int, sink: list[Event]) -> int:
        """
        Take the payloads from *at* on for as long as they continue the fragment, and append their events to *sink*.

        Returns:
            The place of the first payload that has another shape; the number of payloads when there is none.
        """
        read = self._read
        event_type, index, kind, field, items = self._event_type, self._index, self._kind, self._field, self._items
        cls, draft, message_id, call_id = self._cls, self._draft, self._message_id, self._call_id
        buffer = self._buffer
        length = buffer.length
        emit, keep = sink.append, buffer.pieces.append
        room = COMPACT_AT - len(buffer.pieces)
        event: Any = None
        while at < len(payloads):
            payload = payloads[at]
            event = None
            try:
                event = read(payload) if len(payload) <= SAFE_LENGTH else read_json(payload)
                if event["event_type"] != event_type or len(event) != 3:
                    break
                position = event["index"]
                if position is not index and (position.__class__ is not int or position != index):
                    break
                delta = event["delta"]
                if delta["type"] != kind or len(delta) != 2:
                    break
                if items is not None:
                    item = delta = delta["content"]
                    if delta["type"] != "text" or len(delta) != 2:
                        break
                text = delta[field]
            except (ValueError, RecursionError, LookupError, TypeError):
                break  # another shape, or no JSON
            if text.__class__ is not str or not text or not (text.isascii() or not has_surrogates(text)):
                break
            made = _new(draft)
            made.message_id = message_id
            made.offset = length
            made.delta = text
            if call_id is not None:
                made.call_id = call_id
            elif items is not None:
                items.append(item)
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
        self.refused = event if event.__class__ is dict else None
        return at
