"""
Annotations of a text, and the citations they become.

Their indices are UTF-8 byte offsets into the text of their step, end exclusive (all recordings with non-ASCII text;
official clients pass them on as they are). Citations count code points.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assistant_events.adapters.json_fields import Fields, integer, string
from assistant_events.values import Citation, thaw, write_json

_CITATIONS = {
    # type of annotation: (field of the address, field of the title)
    "url_citation": ("url", "title"),
    "file_citation": ("document_uri", "file_name"),
    "place_citation": ("url", "name"),
}


def unique(annotations: Sequence[Fields]) -> list[dict[str, Any]]:
    """Return *annotations* as plain JSON in their order, each once."""
    # By their text: the hashes of numbers can be chosen so that all are alike, those of text cannot.
    kept: dict[bytes, Fields] = {}
    for annotation in annotations:
        kept.setdefault(write_json(_sorted(annotation)), annotation)
    return [thaw(annotation) for annotation in kept.values()]


def shifted(annotations: Sequence[tuple[int, Fields]], text: str) -> list[Fields]:
    """
    Return annotations whose places are those in a block as annotations of the whole text.

    Args:
        annotations: Each with the place in *text* where its block begins, in code points.

        text: All of it.
    """
    moved: list[Fields] = []
    sizes = {0: 0}
    end = size = 0
    for begin in sorted({begin for begin, _ in annotations}):
        size += len(text[end:begin].encode())
        end, sizes[begin] = begin, size
    for begin, annotation in annotations:
        offsets = {key: integer(annotation, key) for key in ("start_index", "end_index")} if begin else {}
        moved.append(
            {**annotation, **{key: offset + sizes[begin] for key, offset in offsets.items() if offset is not None}}
        )
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


def annotations_of(citations: Sequence[Citation], text: str) -> list[dict[str, Any]]:
    """Return citations as annotations of *text*, with places in bytes."""
    annotations: list[dict[str, Any]] = []
    for each in citations:
        start, end = [None if place is None else len(text[:place].encode()) for place in (each.start, each.end)]
        fields = {"url": each.url, "title": each.title, "start_index": start, "end_index": end}
        annotations.append(
            {"type": "url_citation", **{key: field for key, field in fields.items() if field is not None}}
        )
    return annotations


class _Places:
    """Byte offsets of a text as code points, all worked out in one pass over the text."""

    def __init__(self, text: str, offsets: Sequence[int | None]) -> None:
        self._known: dict[int, int] = {}
        data = text.encode()
        position = points = 0
        for offset in sorted({each for each in offsets if each is not None and 0 <= each <= len(data)}):
            if offset < len(data) and data[offset] & 0xC0 == 0x80:
                continue  # inside a character
            points += len(data[position:offset].decode())
            position = offset
            self._known[offset] = points

    def of(self, offset: int | None) -> int | None:
        return None if offset is None else self._known.get(offset)


def _sorted(value: Any) -> Any:
    # Any: plain JSON.
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, (list, tuple)) else value
