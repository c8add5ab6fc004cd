"""
Values with their places, and the text of the object that they add up to.
"""

import json

import pytest

from assistant_events.adapters.json_pieces import JsonPieces, argument_of, pieces_of, place_of

PLACES = {
    "$.a": ("a",),
    "$.a.b[0].c": ("a", "b", 0, "c"),
    "$['a b'][12]": ("a b", 12),
    '$["it\'s"].x': ("it's", "x"),
    r"$['it\'s \\']": ("it's \\",),
    r"$['a\nb\u00e9']": ("a\nbé",),
    r"""$["\ud83d\ude80'"]['"\x']""": ("🚀'", '"x'),
    r"$['\ud83d']": ("\ufffd",),
    "$.größe-1": ("größe-1",),
    "a": None,
    "x.a": None,
    "": None,
    "$": None,
    "$[0]": None,
    "$.a..b": None,
    "$.a[*]": None,
    "$.a[-1]": None,
    "$" + ".a" * 99: ("a",) * 99,
    "$" + ".b" * 100: None,
}


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path[:20])
def test_places(path):
    """
    Names and indexes are read; an object is at the top.
    """
    assert PLACES[path] == place_of(path)


def leaves(value, path="$"):
    """
    Return the values of JSON that hold no others, with their paths.
    """
    if isinstance(value, dict) and value:
        return [leaf for key, each in value.items() for leaf in leaves(each, f"{path}[{json.dumps(key)}]")]
    if isinstance(value, list) and value:
        return [leaf for at, each in enumerate(value) for leaf in leaves(each, f"{path}[{at}]")]
    return [(path, value)]


OBJECTS = [
    {"a": 1},
    {"a": {"b": [{"c": 'x"\\'}, {"c": None, "d": [True, [1.5, {"e": ""}]]}]}, "f": "é🚀"},
    {"größe": {"a\n\tb": 1}},
    {"a": [[1, 2], [3]], "b": [{}], "c": []},
    {"a": [[at] for at in range(70)]},
]


@pytest.mark.parametrize("value", OBJECTS, ids=range(len(OBJECTS)))
def test_objects(value):
    """
    In their order, values give the compact text of the object.
    """
    pieces = JsonPieces()
    text = "".join(pieces.add(path, leaf) for path, leaf in leaves(value)) + pieces.end()

    assert (value, True) == (pieces.value, pieces.is_ordered)
    assert json.dumps(value, separators=(",", ":"), ensure_ascii=False) == text


def test_pieces_of_a_string():
    """
    They are joined, in the text at once and in the object at their end.
    """
    pieces = JsonPieces()
    text = [
        pieces.add("$.a", 'x"'),
        pieces.add("$.a", "y"),
        pieces.add("$.a", ""),
        pieces.add("$.b", "z"),
        pieces.end(),
    ]

    assert ['{"a":"x\\"', "y", "", '","b":"z', '"}'] == text
    assert {"a": 'x"y', "b": "z"} == pieces.value


DISORDER = {
    "up again": [("$.a.b", 1), ("$.c", 2), ("$.a.d", 3)],
    "the same again": [("$.a", 1), ("$.a", 2)],
    "an index again": [("$.a[0]", 1), ("$.a[1]", 2), ("$.a[0]", 3)],
    "around the last": [("$.a.b", 1), ("$.a", 2)],
    "a text where a number was": [("$.a", 1), ("$.a", "x")],
    "a number where a text was": [("$.a", "x"), ("$.a", 1)],
    "values behind a gap": [("$.a[0]", 1), ("$.a[2]", 3), ("$.a[3]", 4)],
    "an index later": [("$.a[0]", "x"), ("$.a[2]", "z"), ("$.a[1]", "y")],
    "objects of an array": [("$.a[0].b", 1), ("$.a[3].b", 4), ("$.a[1].b", 2)],
    "a null that was one": [("$.a[0]", None), ("$.a[0]", 1)],
}
VALUES = {
    "up again": {"a": {"b": 1, "d": 3}, "c": 2},
    "the same again": {"a": 2},
    "an index again": {"a": [3, 2]},
    "around the last": {"a": 2},
    "a text where a number was": {"a": "x"},
    "a number where a text was": {"a": 1},
    "values behind a gap": {"a": [1, None, 3, 4]},
    "an index later": {"a": ["x", "y", "z"]},
    "objects of an array": {"a": [{"b": 1}, {"b": 2}, None, {"b": 4}]},
    "a null that was one": {"a": [1]},
}


@pytest.mark.parametrize("name", DISORDER)
def test_values_out_of_order(name):
    """
    The object has them, and the text has what came before.
    """
    pieces = JsonPieces()
    text = "".join(pieces.add(*each) for each in DISORDER[name]) + pieces.end()

    assert (VALUES[name], False) == (pieces.value, pieces.is_ordered)
    assert '{"a":' == text[:5]


@pytest.mark.parametrize(
    ("path", "value"), [("$.a.b", 1), ("$.a[0]", 1), ("$.b.d[65]", 1), ("$.c.x", 1), ("$.c[66]", 1), ("nothing", 1)]
)
def test_places_that_the_object_does_not_have(path, value):
    """
    Nothing happens: values hold no others, and an array has no hundreds of gaps.
    """
    pieces = JsonPieces()
    text = "".join([pieces.add("$.a", "x"), pieces.add("$.c[0]", 1)])

    assert pieces.add(path, value) is None
    assert {"a": "x", "c": [1]} == pieces.value
    assert '{"a":"x","c":[1]}' == text + pieces.end()


@pytest.mark.parametrize("path", ["$.a[64]", "$.a[64][0]", "$.a[0][64]"])
def test_an_array_with_gaps(path):
    """
    As many values as may be missing at once.
    """
    assert JsonPieces().add(path, 1) is not None


ARGUMENTS = {
    "text": ("x", {"stringValue": "x"}),
    "a number": (1.5, {"numberValue": 1.5}),
    "an integer": (2, {"numberValue": 2}),
    "a boolean": (True, {"boolValue": True}),
    "null": (None, {"nullValue": "NULL_VALUE"}),
}


@pytest.mark.parametrize(("value", "field"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_value_as_an_argument(value, field):
    """
    It is written as Google does, and read as the same value.
    """
    pieces = JsonPieces()
    pieces.add_argument(argument_of("$.a", value))
    pieces.end()

    assert {"jsonPath": "$.a", **field} == argument_of("$.a", value)
    assert {"a": value} == pieces.value


CUT = {
    '{"a":1,"b":"x': [('$["a"]', 1, False), ('$["b"]', "x", True)],
    '{"a":[{"b":1},{"c":[2': [('$["a"][0]["b"]', 1, False), ('$["a"][1]["c"][0]', 2, True)],
    r'{"a":{"b":"]}\"{["},"c":null': [('$["a"]["b"]', ']}"{[', False), ('$["c"]', None, True)],
    '{"a":[': None,
    '{"a":[],"b":"x': None,
    '{"a":{}': None,
    '{"a"': None,
    "]": None,
}


@pytest.mark.parametrize("text", CUT)
def test_the_text_of_an_object_that_was_cut(text):
    """
    It is taken apart into whole values, but for a text at its end.
    """
    assert CUT[text] == pieces_of(text)
