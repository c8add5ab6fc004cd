"""Places in a text: those of annotations, and code points to UTF-8 byte offsets and back in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assistant_events.adapters.json_fields import Fields, integer, mapping, string
from assistant_events.values import Citation


def citation_of(annotation: Fields, length: int | None = None) -> Citation:
    """Return the source of an annotation; without a place when it is not about a part of a text of this length."""
    start, end = integer(annotation, "start_index"), integer(annotation, "end_index")
    if start is None or end is None or not 0 <= start < end or (length is not None and end > length):
        start = end = None
    title = next((found for key in ("title", "filename", "document_title") if (found := string(annotation, key))), None)
    cited_text = string(annotation, "cited_text")  # LiteLLM has sources of Claude, of which some are documents
    return Citation(url=string(annotation, "url"), title=title, start=start, end=end, cited_text=cited_text)


def citations_of(annotation: Fields) -> list[Citation]:
    """Return the source that an annotation names; none of one such as the text of a file."""
    cited = citation_of(mapping(annotation, "url_citation") or annotation)
    return [cited] if cited.url is not None or cited.cited_text is not None else []


def annotation_of(citation: Citation) -> dict[str, Any]:
    """Return a source as an annotation, the inverse of `citation_of`."""
    fields = {"url": citation.url or "", "title": citation.title or ""}
    return {"type": "url_citation", **fields, "start_index": citation.start or 0, "end_index": citation.end or 0}


def byte_offsets(text: str, places: Iterable[int]) -> dict[int, int]:
    """Return the byte offset of each place; a place behind the end is the end."""
    offsets: dict[int, int] = {}
    end = size = 0
    for place in sorted(set(places)):
        size += len(text[end:place].encode())
        end, offsets[place] = place, size
    return offsets


def code_points(text: str, offsets: Iterable[int]) -> dict[int, int]:
    """Return the place of each byte offset; offsets outside of the text or inside a character are missing."""
    data = text.encode()
    places: dict[int, int] = {}
    end = points = 0
    for offset in sorted({each for each in offsets if 0 <= each <= len(data)}):
        if offset < len(data) and data[offset] & 0xC0 == 0x80:
            continue  # inside a character
        points += len(data[end:offset].decode())
        end, places[offset] = offset, points
    return places
