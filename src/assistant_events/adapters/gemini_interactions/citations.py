"""
Annotations of a text, and the citations they become.

Their indices are UTF-8 byte offsets into the text of their step, end exclusive (all recordings with non-ASCII text;
official clients pass them on as they are). Citations count code points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assistant_events.adapters.reading import Fields, integer, string
from assistant_events.values import Citation, thaw
from assistant_events.values.frozen import same_json

_CITATIONS = {
    # type of annotation: (field of the address, field of the title)
    "url_citation": ("url", "title"),
    "file_citation": ("document_uri", "file_name"),
    "place_citation": ("url", "name"),
}


def unique(annotations: Sequence[Fields]) -> list[dict[str, Any]]:
    """Return *annotations* as plain JSON in their order, each once."""
    kept: list[dict[str, Any]] = []
    for annotation in annotations:
        if not any(same_json(annotation, other) for other in kept):
            kept.append(thaw(annotation))
    return kept


def shifted(annotations: Sequence[Fields], by: int) -> list[Fields]:
    """Return *annotations* moved by so many bytes."""
    moved: list[Fields] = []
    for annotation in annotations:
        copy = dict(annotation)
        for key in ("start_index", "end_index"):
            offset = integer(annotation, key)
            if offset is not None:
                copy[key] = offset + by
        moved.append(copy)
    return moved


def cited(annotations: Sequence[Fields], text: str) -> tuple[Citation, ...]:
    """Return the sources among *annotations*, with their place in *text*. Other annotations stay in the state alone."""
    sources = [each for each in annotations if string(each, "type") in (*_CITATIONS, None)]
    places = _Places(text, [integer(each, key) for each in sources for key in ("start_index", "end_index")])
    found: list[Citation] = []
    for each in sources:
        url_key, title_key = _CITATIONS.get(string(each, "type") or "", ("url", "title"))
        start, end = places.of(integer(each, "start_index")), places.of(integer(each, "end_index"))
        if start is not None and end is not None and end < start:
            start = end = None
        found.append(
            Citation(
                # Captures of early 2026 have only `source` where later ones have url and title.
                url=string(each, url_key) or string(each, "source"),
                title=string(each, title_key),
                start=start,
                end=end,
            )
        )
    return tuple(found)


class _Places:
    """Byte offsets of a text as code points, all worked out in one pass over the text."""

    def __init__(self, text: str, offsets: Sequence[int | None]) -> None:
        self._known: dict[int, int | None] = {}
        data = text.encode()
        position = points = 0
        for offset in sorted({each for each in offsets if each is not None}):
            if not 0 <= offset <= len(data) or (offset < len(data) and data[offset] & 0xC0 == 0x80):
                self._known[offset] = None  # outside, or inside a character
                continue
            points += len(data[position:offset].decode())
            position = offset
            self._known[offset] = points

    def of(self, offset: int | None) -> int | None:
        return None if offset is None else self._known[offset]
