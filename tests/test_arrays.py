"""
Many documents in one pass: the same values as one by one, or a sign to look at them one by one.
"""

from __future__ import annotations

import sys

import pytest
from hypothesis import given

from assistant_events import Event
from assistant_events.converters import dumps, loads
from assistant_events.converters.arrays import UNUSUAL, array_reader
from assistant_events.testing import strategies as made

pytest.importorskip("msgspec")

TEXT = b'{"type":"text.ended","v":1,"message_id":"m1","text":"Hello"}'


def array_of(*documents):
    return b"[" + b",\n".join(documents) + b"]"


def read(data):
    reader = array_reader(Event)
    return [reader.make(element) for element in reader.parse(data)]


@given(made.loose_events(max_size=5))
def test_an_array_is_its_elements(events):
    """
    What comes in one pass is what `loads` returns for each, unless something is unusual.
    """
    documents = [dumps(event) for event in events]

    try:
        values = read(array_of(*documents))
    except UNUSUAL:
        return
    assert [loads(document, Event) for document in documents] == values


def test_what_is_usual_comes_in_one_pass():
    """
    Events of known types in their own version need no second way.
    """
    assert [loads(TEXT, Event)] * 3 == read(array_of(TEXT, TEXT, TEXT))


@pytest.mark.parametrize(
    "document",
    [
        b'{"type":"text.newer","v":1}',
        b'{"type":"text.ended","v":2,"message_id":"m1"}',
        b'{"type":"text.ended","v":1,"message_id":"m1","text":"Hello","newer":1}',
        b'{"type":"media.ended","v":1,"message_id":"m1","media_type":"image/png"}',
        b'{"type":"text.ended","v":1,"message_id":"m1","text":5}',
        b"{",
    ],
)
def test_what_is_unusual_or_wrong_is_left_to_the_careful_way(document):
    """
    One such element is never taken for another value.
    """
    with pytest.raises(UNUSUAL):
        read(array_of(TEXT, document))


def test_without_msgspec_there_is_no_faster_way(monkeypatch):
    """
    The reader of the standard library gains nothing from an array.
    """
    monkeypatch.setitem(sys.modules, "msgspec", None)

    assert array_reader.__wrapped__(Event) is None
