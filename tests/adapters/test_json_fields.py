"""
Fields are read alike from what a JSON reader gives and from what the library keeps.
"""

import pytest

from assistant_events import State, thaw
from assistant_events.adapters.json_fields import (
    array,
    base64_bytes,
    count,
    distinct,
    extend_arrays,
    flag,
    integer,
    json_object,
    learn,
    learn_arrays,
    listed,
    mapping,
    mappings,
    merged,
    pruned,
    string,
    taken_object,
    text_of_input,
    valid_json,
)
from assistant_events.values import freeze

FIELDS = {
    "string": "a",
    "integer": 1,
    "whole": 2.0,
    "zero": 0,
    "negative": -1,
    "most": 9223372036854775807,
    "too much": 9223372036854775808,
    "flag": False,
    "object": {"a": {"b": [1]}},
    "empty": {},
    "array": [{"a": 1}, 5, "x", [], {"b": {}}],
    "null": None,
}
EXPECTED = [
    (string, "string", "a"),
    (string, "integer", None),
    (integer, "integer", 1),
    (integer, "whole", 2),
    (integer, "flag", None),
    (integer, "too much", 9223372036854775808),
    (count, "integer", 1),
    (count, "zero", 0),
    (count, "negative", None),
    (count, "most", 9223372036854775807),
    (count, "too much", None),
    (flag, "flag", False),
    (flag, "integer", None),
    (mapping, "object", {"a": {"b": [1]}}),
    (mapping, "empty", {}),
    (mapping, "array", {}),
    (mapping, "null", {}),
    (mapping, "missing", {}),
    (taken_object, "object", {"a": {"b": [1]}}),
    (taken_object, "array", {}),
    (taken_object, "missing", {}),
    (mappings, "array", [{"a": 1}, {"b": {}}]),
    (mappings, "object", []),
    (listed, "array", [{"a": 1}, {"b": {}}]),
    (listed, "object", [{"a": {"b": [1]}}]),
    (listed, "string", []),
    (array, "array", [{"a": 1}, 5, "x", [], {"b": {}}]),
    (array, "string", []),
]


@pytest.mark.parametrize("form", [dict, freeze, State], ids=["plain", "frozen", "state"])
@pytest.mark.parametrize(
    ("read", "key", "expected"), EXPECTED, ids=[f"{read.__name__} {key}" for read, key, _ in EXPECTED]
)
def test_plain_and_frozen_are_read_alike(form, read, key, expected):
    """
    A reader finds the same in a plain object, in a frozen one and in a state.
    """
    assert expected == thaw(read(form(FIELDS), key))


def test_an_array_in_place_of_another_value():
    """
    It continues nothing, and is left to what learns other values.
    """
    facts = {"known": {"a": [1], "b": "x"}}

    assert {"b": [], "c": 1} == learn_arrays(facts, "known", {"a": [2], "b": [], "c": 1, "d": [3]})
    assert {"known": {"a": [1, 2], "b": "x", "d": [3]}} == facts
    assert {} == learn_arrays(facts, "known", {"a": [1, 2, 4], "d": [5]})
    assert {"known": {"a": [1, 2, 4], "b": "x", "d": [3, 5]}} == facts


def test_arrays_that_go_on():
    """
    Arrays are joined, other values replaced; an object without news changes nothing.
    """
    facts = {"known": {"a": [1], "b": 2}, "text": "x"}
    extend_arrays(facts, "known", {"a": [2, 3], "b": 4, "c": None})
    extend_arrays(facts, "text", {"a": [5]})
    extend_arrays(facts, "missing", {"a": [], "b": None})

    assert {"known": {"a": [1, 2, 3], "b": 4}, "text": {"a": [5]}} == facts


def test_arrays_that_repeat():
    """
    With repeats an array that begins with the one that is there has its items again; any other is appended.
    """
    facts = {"known": {"a": [1]}}
    extend_arrays(facts, "known", {"a": [1, 2]}, repeats=True)
    extend_arrays(facts, "known", {"a": [3]}, repeats=True)
    extend_arrays(facts, "known", {"b": []}, repeats=True)

    assert {"known": {"a": [1, 2, 3], "b": []}} == facts

    extend_arrays(facts, "known", {"a": [1, 2, 3], "b": "x"})

    assert {"known": {"a": [1, 2, 3, 1, 2, 3], "b": "x"}} == facts


def test_what_is_learned():
    """
    Objects are merged at one level, without nulls, and it is known whether something is new.
    """
    facts = {"object": {"a": 1}}

    assert learn(facts, {"object": {"a": None, "b": 2}, "own": 1, "text": "x"}, {"own"})
    assert {"object": {"a": 1, "b": 2}, "text": "x"} == facts
    assert not learn(facts, {"object": {"b": 2}, "text": "x", "null": None})


MERGED = [
    ({"a": 1, "b": {"c": 2}}, {"b": {"d": 3}}, {"a": 1, "b": {"c": 2, "d": 3}}),
    ("x", "", "x"),
    (None, "", ""),
    ("x", "y", "y"),
    ({"a": 1}, "y", "y"),
    ("x", {"a": 1}, {"a": 1}),
]


@pytest.mark.parametrize(("known", "value", "expected"), MERGED)
def test_merged(known, value, expected):
    """
    Objects are joined at every depth; else the last value counts, but for an empty text.
    """
    assert expected == merged(known, value)


def test_pruned():
    """
    Objects with the field are left out, and it is left out of the outermost one.
    """
    value = {"a": 1, "k": 2, "list": [{"k": 1}, {"b": 1, "c": {"k": 1}}], "object": {"k": 1}, "text": "k"}

    assert {"a": 1, "list": [{"b": 1}], "text": "k"} == pruned(value, "k")


BASE64 = [
    ("aQ==", False, b"i"),
    ("aQ", False, b"i"),
    ("-_-_", False, None),
    ("-_-_", True, b"\xfb\xff\xbf"),
    ("aQ*=", False, None),
    ("\xe4", False, None),
    ("", False, None),
    (None, False, None),
]


@pytest.mark.parametrize(("text", "either", "expected"), BASE64)
def test_base64(text, either, expected):
    """
    Padding may be missing; other letters are not left out, they make it another text.
    """
    assert expected == base64_bytes(text, either=either)


@pytest.mark.parametrize(("given", "expected"), [("a", "a"), (None, ""), ({"a": 1}, ""), ([1], "[1]"), (5, "5")])
def test_the_text_of_an_input(given, expected):
    """
    What is not an object is its JSON text.
    """
    assert expected == text_of_input(given)


@pytest.mark.parametrize(("text", "expected"), [('{"a": 1}', {"a": 1}), ("[1]", None), ("{", None)])
def test_an_object_in_a_text(text, expected):
    """
    Another value is not one, nor is half of one.
    """
    assert expected == json_object(text)


def test_distinct_objects():
    """
    The order of keys makes no difference, also inside of arrays.
    """
    assert [{"a": [{"b": 1, "c": 2}]}] == distinct([{"a": [{"b": 1, "c": 2}]}, {"a": [{"c": 2, "b": 1}]}])


def test_halves_of_pairs():
    """
    They are replaced everywhere; other values stay.
    """
    assert {"\ufffd": ["\ufffd", {"a": "\ufffd"}, 1, None]} == valid_json(
        {"\ud83d": ("\ud83d", {"a": "\ud83d"}, 1, None)}
    )
