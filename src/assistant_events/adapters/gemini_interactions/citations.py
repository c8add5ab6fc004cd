"""
Annotations of a text, and the citations that they become.

The indices of annotations are UTF-8 byte offsets, end exclusive (all recordings with non-ASCII text; official clients
pass them on as they are): in a stream into all text of their step, in a document into that of their block. Citations
count code points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from assistant_events.adapters.json_fields import Fields, integer, string, without
from assistant_events.adapters.text_places import byte_offsets, code_points
from assistant_events.values import Citation

_CITATIONS: Final = {
    # type of annotation: (field of the address, field of the title)
    "url_citation": ("url", "title"),
    "file_citation": ("document_uri", "file_name"),
    "place_citation": ("url", "name"),
}
_PIECE: Final = 1 << 14
_INDEXES: Final = ("start_index", "end_index")


def is_transcription(annotation: Fields) -> bool:
    """Return whether an annotation describes the words or speakers of audio: details, which are never sent back."""
    return string(annotation, "type") in ("word_info", "speech_metadata")


def byte_length(text: str) -> int:
    """
    Return the length of a text in UTF-8, in which half a character is as long as its replacement.

    A long one is counted in pieces: a copy would take as much memory again.
    """
    if text.isascii():
        return len(text)
    if len(text) <= _PIECE:
        return len(text.encode("utf-8", "surrogatepass"))
    return sum([byte_length(text[at : at + _PIECE]) for at in range(0, len(text), _PIECE)])


def moved(annotation: Fields, offset: int) -> Fields:
    """Return an annotation with its place moved by *offset* bytes; without it where that is before the text."""
    if not offset:
        return annotation
    indexes = {key: index + offset for key in _INDEXES if (index := integer(annotation, key)) is not None}
    if min(indexes.values(), default=0) < 0:
        return without(annotation, _INDEXES)
    return {**annotation, **indexes}


def shifted(annotations: Sequence[tuple[int, Fields]], text: str) -> list[Fields]:
    """
    Return annotations of blocks as annotations of *text*, the texts of all blocks.

    Each comes with the place in *text* where its block starts, in code points.
    """
    offsets = byte_offsets(text, [start for start, _ in annotations])
    return [moved(annotation, offsets[start]) for start, annotation in annotations]


def cited(annotations: Sequence[Fields], text: str) -> tuple[Citation, ...]:
    """Return the sources among *annotations*, with their places in *text*. Others have no place in it."""
    sources = [each for each in annotations if string(each, "type") in (*_CITATIONS, None)]
    indexes = [index for each in sources for key in _INDEXES if (index := integer(each, key)) is not None]
    places = code_points(text, indexes)
    found: list[Citation] = []
    for each in sources:
        url_key, title_key = _CITATIONS.get(string(each, "type") or "", ("url", "title"))
        start, end = [None if (index := integer(each, key)) is None else places.get(index) for key in _INDEXES]
        if start is not None and end is not None and end < start:
            start = end = None
        # Captures of early 2026 have only `source` where later ones have url and title.
        url = string(each, url_key) or string(each, "source")
        found.append(Citation(url=url, title=string(each, title_key), start=start, end=end))
    return tuple(found)


def annotations_of(citations: Sequence[Citation], text: str) -> list[dict[str, Any]]:
    """Return citations as annotations of *text*."""
    offsets = byte_offsets(text, [place for each in citations for place in (each.start, each.end) if place is not None])
    annotations: list[dict[str, Any]] = []
    for each in citations:
        start, end = [None if place is None else offsets[place] for place in (each.start, each.end)]
        fields = {"type": "url_citation", "url": each.url, "title": each.title, "start_index": start, "end_index": end}
        annotations.append({key: field for key, field in fields.items() if field is not None})
    return annotations
