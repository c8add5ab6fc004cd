"""
Fields are read alike from what a JSON reader gives and from what the library keeps.
"""

import pytest

from assistant_events import State, thaw
from assistant_events.adapters.json_fields import (
    array,
    count,
    extend_arrays,
    flag,
    integer,
    learn_arrays,
    mapping,
    mappings,
    string,
)
from assistant_events.values import freeze

FIELDS = {
    "string": "a",
    "integer": 1,
    "whole": 2.0,
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
    (count, "integer", 1),
    (flag, "flag", False),
    (flag, "integer", None),
    (mapping, "object", {"a": {"b": [1]}}),
    (mapping, "empty", {}),
    (mapping, "array", {}),
    (mapping, "null", {}),
    (mapping, "missing", {}),
    (mappings, "array", [{"a": 1}, {"b": {}}]),
    (mappings, "object", []),
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


def test_arrays_that_go_on():
    """
    Arrays are joined, other values replaced; an object without news changes nothing.
    """
    facts = {"known": {"a": [1], "b": 2}, "text": "x"}
    extend_arrays(facts, "known", {"a": [2, 3], "b": 4, "c": None})
    extend_arrays(facts, "text", {"a": [5]})
    extend_arrays(facts, "missing", {"a": [], "b": None})

    assert {"known": {"a": [1, 2, 3], "b": 4}, "text": {"a": [5]}} == facts
