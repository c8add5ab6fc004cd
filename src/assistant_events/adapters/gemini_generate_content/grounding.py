"""
Sources of an answer: what Gemini has grounded or cited, and the citations that they become.

Places are UTF-8 byte offsets into the whole text of a part, end exclusive (types of google-genai 3.4.0, and recordings
with text that is not ASCII). Citations count code points.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from assistant_events.adapters.json_fields import Fields, array, integer, mapping, mappings, string
from assistant_events.adapters.text_places import code_points
from assistant_events.values import Citation


class _Source(NamedTuple):
    """A place in the text, in bytes, and what it rests on."""

    source: Fields
    start: int
    end: int | None
    text: str | None
    """The text at the place, where the wire repeats it."""


def citations_of(details: Fields, text: str) -> tuple[Citation, ...]:
    """
    Return the sources in the details of an answer, with their places in *text*.

    A place whose text is another one is not of this text, and left out: the offsets may count in another part.
    """
    found = [*_grounded(mapping(details, "groundingMetadata")), *_cited(mapping(details, "citationMetadata"))]
    places = code_points(text, [offset for each in found for offset in (each.start, each.end or 0)])
    citations: list[Citation] = []
    for each in found:
        start, end = places.get(each.start), places.get(-1 if each.end is None else each.end)
        if start is None or end is None or end < start or (each.text is not None and text[start:end] != each.text):
            start = end = None
        url, title = string(each.source, "uri"), string(each.source, "title")
        citations.append(Citation(url=url, title=title, start=start, end=end, cited_text=string(each.source, "text")))
    return tuple(citations)


def _grounded(metadata: Fields) -> list[_Source]:
    """Return the chunks that support a place; the first object in a chunk is its source."""
    chunks = [
        next((each for each in chunk.values() if isinstance(each, dict)), {})
        for chunk in mappings(metadata, "groundingChunks")
    ]
    return [
        _Source(
            chunks[number], integer(segment, "startIndex") or 0, integer(segment, "endIndex"), string(segment, "text")
        )
        for support in mappings(metadata, "groundingSupports")
        for segment in [mapping(support, "segment")]
        for number in _numbers(array(support, "groundingChunkIndices"))
        if number < len(chunks)
    ]


def _cited(metadata: Fields) -> list[_Source]:
    """Return the citations; Vertex names their array `citations`."""
    cited = [*mappings(metadata, "citationSources"), *mappings(metadata, "citations")]
    return [_Source(each, integer(each, "startIndex") or 0, integer(each, "endIndex"), None) for each in cited]


def _numbers(values: Sequence[Any]) -> list[int]:
    # Any: plain JSON.
    return [value for value in values if type(value) is int and value >= 0]
