"""
Sources of an answer: what Gemini has grounded or cited, and the citations that they become.

Places are UTF-8 byte offsets into the whole text of a part, end exclusive (types of google-genai 3.4.0, and recordings
with text that is not ASCII). Citations count code points.
"""

from __future__ import annotations

from typing import TypeAlias

from assistant_events.adapters.json_fields import Fields, array, integer, mapping, mappings, string
from assistant_events.adapters.text_places import code_points
from assistant_events.values import Citation

_CHUNKS = "groundingChunks"
_Source: TypeAlias = tuple[Fields, int, int | None, str | None]
"""The source, the first byte and the end of the text that it supports, and that text where the wire repeats it."""


def citations_of(details: Fields, text: str) -> tuple[Citation, ...]:
    """
    Return the sources in the details of an answer, with their places in *text*.

    A place whose text is another one is not of this text, and left out: the offsets may count in another part.
    """
    metadata = mapping(details, "citationMetadata")
    cited = [*mappings(metadata, "citationSources"), *mappings(metadata, "citations")]  # the second is of Vertex
    found = _grounded(mapping(details, "groundingMetadata"))
    found += [(each, integer(each, "startIndex") or 0, integer(each, "endIndex"), None) for each in cited]
    places = code_points(text, [offset for _, start, end, _ in found for offset in (start, end or 0)])
    citations: list[Citation] = []
    for source, first, last, repeated in found:
        start, end = places.get(first), places.get(-1 if last is None else last)
        if start is None or end is None or end < start or text[start:end] != (repeated or text[start:end]):
            start = end = None
        url, title = string(source, "uri") or string(source, "sourceUri") or None, string(source, "title") or None
        citations.append(Citation(url=url, title=title, start=start, end=end, cited_text=string(source, "text")))
    return tuple(citations)


def _grounded(metadata: Fields) -> list[_Source]:
    """Return the chunks that support a place; a chunk has one object, the source (dumps have nulls beside it)."""
    chunks = [next((mapping(each, key) for key in each if each[key]), each) for each in mappings(metadata, _CHUNKS)]
    return [
        (chunks[number], integer(segment, "startIndex") or 0, integer(segment, "endIndex"), string(segment, "text"))
        for support in mappings(metadata, "groundingSupports")
        for segment in [mapping(support, "segment")]
        for each in array(support, "groundingChunkIndices")
        if (number := integer({"": each}, "")) is not None and 0 <= number < len(chunks) and chunks[number]
    ]
