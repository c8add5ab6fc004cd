"""JSON cut into its documents, wherever the bytes are cut."""

import json

import pytest

from assistant_events.cli.documents import lines, objects

DOCUMENTS = [{"a": 1}, {"b": {"c": [{"d": '}{\\"'}]}}, {}, {"e": "\\", "f": "ö{"}]
LAYOUTS = {
    "array": json.dumps(DOCUMENTS),
    "pretty": json.dumps(DOCUMENTS, indent=2, ensure_ascii=False),
    "one after another": "".join(map(json.dumps, DOCUMENTS)),
    "other things between": '["{", ' + ", 7, ".join(map(json.dumps, DOCUMENTS)) + "] }",
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_objects(layout, size):
    """
    The outermost objects are found in every layout, however the bytes are cut.
    """
    data = layout.encode()
    found = list(objects(data[at : at + size] for at in range(0, len(data), size)))

    assert [f"object {number}" for number in (1, 2, 3, 4)] == [place for place, _ in found]
    assert DOCUMENTS == [json.loads(document) for _, document in found]


def test_cut_object():
    """
    An object that the end of the input cuts comes as it is.
    """
    assert [("object 1", b"{}"), ("object 2", b'{"a": {"b"')] == list(objects([b"[{}, {", b'"a": {"b"']))


def test_damaged_object():
    """
    The end of a damaged object is unknown, so all that follows comes with it.
    """
    assert [("object 1", b"{}"), ("object 2", b'{"a": nonsense}, {}]')] == list(objects([b'[{}, {"a": nonsense}, {}]']))


def test_object_that_nests_too_deep():
    """
    It comes with all that follows it, as a damaged one does.
    """
    data = b'{"a":' * 100_000

    assert [("object 1", data)] == list(objects([data]))


def test_a_string_without_an_end():
    """
    Its end is looked for once, however many quotes are in it: once for each of these would take some minutes.
    """
    assert [] == list(objects([b'["', b'\\"' * 200_000]))


def test_object_with_a_line_end_in_a_string():
    """
    Its end is found, though JSON forbids the line end.
    """
    assert [("object 1", b'{"a": "b\nc"}'), ("object 2", b"{}")] == list(objects([b'[{"a": "b\nc"}, {}]']))


def test_object_with_a_long_integer():
    """
    The end of an object is found behind an integer of more digits than Python makes an int of.
    """
    data = b'{"a": %s}' % (b"7" * 5000)

    assert [("object 1", data), ("object 2", b"{}")] == list(objects([data, b"{}"]))


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_lines(size):
    """
    Lines have their numbers, blank ones are passed over, and the last needs no end.
    """
    data = b'{"a": 1}\n\n  \r\n{"b": 2}\r\n{"c"'
    found = list(lines(data[at : at + size] for at in range(0, len(data), size)))

    assert [("line 1", b'{"a": 1}'), ("line 4", b'{"b": 2}\r'), ("line 5", b'{"c"')] == found
