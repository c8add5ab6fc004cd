"""
Places in a text, in code points and in bytes.
"""

from hypothesis import given
from hypothesis import strategies as st

from assistant_events.adapters.text_places import annotation_of, byte_offsets, citation_of, code_points
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
