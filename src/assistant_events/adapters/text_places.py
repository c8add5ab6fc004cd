"""Places in a text: those of annotations, and code points to UTF-8 byte offsets and back in one pass."""

from __future__ import annotations

from collections.abc import Iterable

from assistant_events.adapters.json_fields import Fields, integer


def cited_place(annotation: Fields, length: int | None = None) -> tuple[int, int] | tuple[None, None]:
    """Return the code points that an annotation is about; nothing when it has no part of a text of this length."""
    start, end = integer(annotation, "start_index"), integer(annotation, "end_index")
    if start is None or end is None or not 0 <= start < end or (length is not None and end > length):
        return None, None
    return start, end


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
