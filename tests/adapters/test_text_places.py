"""
Places in a text, in code points and in bytes.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events.adapters.text_places import annotation_of, byte_offsets, citation_of, citations_of, code_points
from assistant_events.values import Citation


def test_places():
    """
    Characters of several bytes count once; offsets inside them, and outside of the text, are missing.
    """
    assert {0: 0, 1: 1, 2: 3, 3: 7, 9: 7} == byte_offsets("aé🚀", [3, 0, 2, 1, 9])
    assert {0: 0, 1: 1, 3: 2, 7: 3} == code_points("aé🚀", [-1, 0, 1, 2, 3, 5, 7, 8])


@given(st.text())
def test_there_and_back(text):
    """
    Every place comes back from its offset.
    """
    offsets = byte_offsets(text, range(len(text) + 1))

    assert {offset: place for place, offset in offsets.items()} == code_points(text, offsets.values())


def test_annotations_and_citations():
    """
    A source comes back from its annotation, with a place only when it is one of the text.
    """
    cited = Citation(url="https://a.example", title="A", start=1, end=3)

    assert cited == citation_of(annotation_of(cited), 3)
    assert (None, None) == (citation_of(annotation_of(cited), 2).start, citation_of(annotation_of(cited), 2).end)
    assert {"type": "url_citation", "url": "u", "title": "", "start_index": 0, "end_index": 0} == annotation_of(
        Citation(url="u")
    )


SOURCES = {
    "all of the text": ({"start_index": 0, "end_index": 5}, Citation(url="u", start=0, end=5)),
    "a place of nothing": ({"start_index": 2, "end_index": 2}, Citation(url="u")),
    "a place before the text": ({"start_index": -1, "end_index": 2}, Citation(url="u")),
    "a place behind the text": ({"start_index": 2, "end_index": 6}, Citation(url="u")),
    "a place without an end": ({"start_index": 2}, Citation(url="u")),
    "a place without a beginning": ({"end_index": 2}, Citation(url="u")),
    "a title": ({"title": "a", "filename": "b"}, Citation(url="u", title="a")),
    "a file": ({"title": None, "filename": "b"}, Citation(url="u", title="b")),
    "a document": ({"document_title": "c", "cited_text": "d"}, Citation(url="u", title="c", cited_text="d")),
}


@pytest.mark.parametrize(("fields", "expected"), SOURCES.values(), ids=SOURCES)
def test_sources(fields, expected):
    """
    A source without a place in the text is one all the same, alone or in an object of its own.
    """
    assert expected == citation_of({"url": "u", **fields}, 5)
    assert [citation_of({"url": "u", **fields})] == citations_of({"url_citation": {"url": "u", **fields}})


def test_what_is_a_source():
    """
    What has an address or a text; without the length of a text each place counts.
    """
    assert [Citation(url="u", start=2, end=6)] == citations_of({"url": "u", "start_index": 2, "end_index": 6})
    assert [Citation(title="a", cited_text="b")] == citations_of({"title": "a", "cited_text": "b"})
    assert [] == citations_of({"title": "a", "text": "b"})
