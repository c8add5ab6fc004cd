"""
Frozen JSON, text, content and infos: what they accept, return and refuse.
"""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from datetime import date
from decimal import Decimal
from enum import IntEnum, StrEnum
from types import MappingProxyType

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import (
    Citation,
    ErrorInfo,
    ErrorKind,
    FinishReason,
    JsonContent,
    JsonObject,
    MediaContent,
    Origin,
    RemoteRun,
    State,
    TextContent,
    Usage,
    thaw,
)
from assistant_events.errors import JsonError
from assistant_events.testing import origin
from assistant_events.testing import strategies as made
from assistant_events.values import MAX_DEPTH, as_content, freeze, own, valid_text
from assistant_events.values.buffers import COMPACT_AT, Buffer
from assistant_events.values.json_io import write_json
from assistant_events.values.json_values import LazyObject, LazyState, json_type, same_as, same_json, wrap
from assistant_events.values.text import has_surrogates, is_high_surrogate, joined_pairs
from assistant_events.values.validators import as_input, as_state

# -- frozen JSON


def test_an_object_is_a_mapping():
    """
    A JSON object can be asked like any mapping.
    """
    value = JsonObject({"b": 1, "a": [True]}, c=None)

    assert ["b", "a", "c"] == list(value) == list(value.keys())
    assert [1, (True,), None] == list(value.values())
    assert [("b", 1), ("a", (True,)), ("c", None)] == list(value.items())
    assert (3, 1, None, "x") == (len(value), value["b"], value["c"], value.get("d", "x"))
    assert ("a" in value, "d" in value, 1 in value) == (True, False, False)
    with pytest.raises(KeyError, match="d"):
        _ = value["d"]


def test_an_object_cannot_be_changed():
    """
    An item cannot be set, added or removed.
    """
    value = JsonObject(a={"b": 1})

    for change in ("__setitem__", "__delitem__", "update", "pop", "clear", "setdefault", "__ior__"):
        assert not hasattr(value, change)
    with pytest.raises(AttributeError, match=r"^JsonObject is immutable$"):
        value._items = {}
    with pytest.raises(AttributeError, match=r"^JsonObject is immutable$"):
        del value._items
    with pytest.raises(AttributeError, match=r"^State is immutable$"):
        State().note = 1


def test_objects_freeze_deeply():
    """
    Objects inside are of the same class, arrays are tuples.
    """
    for cls in (JsonObject, State):
        value = cls({"a": [{"b": [1]}], "c": {}})

        assert cls is type(value["a"][0])
        assert (1,) == value["a"][0]["b"]
        assert cls is type(value["c"])


def test_frozen_is_kept():
    """
    What is frozen already is not copied; a state becomes another kind of object when it is asked for.
    """
    value = JsonObject(a={"b": 1})

    assert value is freeze(value)
    assert JsonObject is type(freeze(State(a=1)))
    assert State is type(State(value)["a"])
    assert value == State(value)


def test_objects_can_be_joined():
    """
    Two objects make a new one of the class of the first, and the second wins.
    """
    left = State(a=1, b=2)

    assert State is type(left | {"b": 3})
    assert {"a": 1, "b": 3, "c": 4} == left | {"b": 3, "c": 4}
    assert {"a": 1, "b": 2} == left


SAME = [
    (JsonObject(), {}),
    (JsonObject(a=1, b=2), {"b": 2, "a": 1}),
    (JsonObject(a=[1, {"b": None}]), {"a": [1, {"b": None}]}),
    (JsonObject(a=(1,)), {"a": (1,)}),
    (JsonObject(a=1), MappingProxyType({"a": 1.0})),
    (JsonObject(a={"b": 1}), State(a={"b": 1})),
    (JsonObject(a=True), {"a": True}),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=range(len(SAME)))
def test_same_json_is_equal(one, other):
    """
    The order of keys and the kinds of mapping and array play no part in equality.
    """
    assert one == other
    assert other == one
    assert hash(one) == hash(JsonObject(other))


DIFFERENT = [
    (True, 1),
    (False, 0),
    (1, True),
    (None, False),
    (None, 0),
    ("1", 1),
    ([], {}),
    ({}, []),
    ([1], [1, 1]),
    ([1, 2], [2, 1]),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 1, "b": 1}),
    ("ab", ["a", "b"]),
    ([[True]], [[1]]),
    ({"a": [{"b": 0}]}, {"a": [{"b": False}]}),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=range(len(DIFFERENT)))
def test_other_json_differs(one, other):
    """
    Different JSON is different, at any depth; true is not 1.
    """
    assert JsonObject(x=one) != JsonObject(x=other)
    assert JsonObject(x=[one]) != {"x": [other]}
    assert JsonContent(one) != JsonContent(other)
    assert not same_json(one, other)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (False, "a boolean"),
        (0, "a number"),
        (1.5, "a number"),
        ("", "a string"),
        ([1], "an array"),
        ((), "an array"),
        ({}, "an object"),
        (JsonObject(), "an object"),
        (b"", "bytes"),
    ],
    ids=repr,
)
def test_the_json_type_in_words(value, words):
    """
    Errors contain the JSON type of a value without its content, and the class of other objects.
    """
    assert words == json_type(value)


@pytest.mark.parametrize("other", [None, 1, "a", ["a"], object()], ids=["null", "number", "text", "array", "object"])
def test_an_object_is_nothing_else(other):
    """
    A JSON object does not equal an object that is not a mapping.
    """
    assert JsonObject(a=1) != other
    assert same_as(1) != other


def test_same_as_compares_json():
    """
    Wrapped values compare as JSON and hash as what they wrap.
    """
    assert same_as((1, True)) == same_as((1, True))
    assert same_as((1, True)) != same_as((1, 1))
    assert hash(same_as("a")) == hash("a")


@given(made.json_objects(), made.json_objects())
def test_equal_objects_have_one_hash(one, other):
    """
    What is equal has the same hash, whatever the order of keys.
    """
    again = JsonObject(dict(reversed(one.items())))

    assert one == again
    assert hash(one) == hash(again) == hash(one)
    assert (one != other) or hash(one) == hash(other)


@given(made.json_values())
def test_thaw_gives_what_was_frozen(value):
    """
    Plain Python and frozen JSON convert into each other without a change.
    """
    plain = thaw(value)

    assert same_json(value, plain)
    assert same_json(value, freeze(plain))


def test_thaw_is_fresh():
    """
    Plain Python that was made of frozen JSON may be changed.
    """
    value = JsonObject(a=[{"b": 1}])
    thaw(value)["a"][0]["b"] = 2
    thaw(value)["a"].append(3)

    assert {"a": [{"b": 1}]} == value == thaw(value)
    assert [{"a": []}, 1] == thaw([JsonObject(a=()), 1])


class Word(StrEnum):
    ONE = "one"


class Number(IntEnum):
    TWO = 2


class Half(float):
    pass


@pytest.mark.parametrize(
    ("given", "frozen"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        (-0.0, -0.0),
        ("x", "x"),
        (10**100, 10**100),
        ([], ()),
        ((1, [2]), (1, (2,))),
        (range(2), (0, 1)),
        (OrderedDict(a=1), JsonObject(a=1)),
        (MappingProxyType({"a": []}), JsonObject(a=())),
        (Word.ONE, "one"),
        (Number.TWO, 2),
        (Half(0.5), 0.5),
        ([Number.TWO, {Word.ONE: Half(2)}], (2, JsonObject(one=2.0))),
    ],
    ids=range(15),
)
def test_freeze(given, frozen):
    """
    Anything that is JSON is frozen; subclasses of scalars become plain.
    """
    value = freeze(given)

    assert same_json(frozen, value)
    assert type(frozen) is type(value)


def test_freeze_inside():
    """
    Inside an object subclasses of scalars and of keys become plain too.
    """
    value = JsonObject({Word.ONE: Word.ONE, "n": Number.TWO, "f": Half(1), "b": True})

    assert [str] * 4 == [type(key) for key in value]
    assert [str, int, float, bool] == [type(item) for item in value.values()]


NO_JSON = [
    (object(), "$: expected JSON, got object"),
    (b"x", "$: expected JSON, got bytes"),
    ({1}, "$: expected JSON, got set"),
    (float("nan"), "$: expected a finite number, got nan"),
    ([float("inf")], "$[0]: expected a finite number, got inf"),
    ({"a": [1, {"b": 1j}]}, "$.a[1].b: expected JSON, got complex"),
    ({1: 2}, "$: expected string keys, got int"),
    ({"a": {None: 2}}, "$.a: expected string keys, got NoneType"),
    ([bytearray(b"x")], "$[0]: expected JSON, got bytearray"),
    ([memoryview(b"x")], "$[0]: expected JSON, got memoryview"),
]


@pytest.mark.parametrize(("given", "text"), NO_JSON, ids=[text for _, text in NO_JSON])
def test_what_is_no_json(given, text):
    """
    A value that is not JSON is refused, with its path.
    """
    with pytest.raises(TypeError) as refused:
        freeze(given)

    assert text == str(refused.value)


def test_no_object():
    """
    An object is made of a mapping.
    """
    with pytest.raises(TypeError, match=r"^\$: expected a JSON object, got list$"):
        JsonObject([("a", 1)])


def test_states_hide_their_keys_in_errors():
    """
    The error for a value inside a state does not contain its keys, since errors are logged.
    """
    with pytest.raises(TypeError, match=r"^\$\.\*\[0\]\.\*: expected JSON, got object$"):
        State({"secret": [{"c2VjcmV0": object()}]})


def nested(levels: int, kind: type) -> object:
    value: object = kind()
    for _ in range(levels - 1):
        value = {"a": value} if kind is dict else [value]
    return value


@pytest.mark.parametrize("kind", [dict, list], ids=["objects", "arrays"])
def test_depth(kind):
    """
    JSON nests as deep as the limit, and no deeper.
    """
    assert same_json(nested(MAX_DEPTH, kind), freeze(nested(MAX_DEPTH, kind)))
    assert same_json(nested(MAX_DEPTH - 1, kind), JsonObject(a=nested(MAX_DEPTH - 1, kind))["a"])
    for too_deep in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(TypeError) as refused:
            freeze(nested(too_deep, kind))
        assert str(refused.value).endswith("...: expected at most 200 levels, got more")
        assert 120 > len(str(refused.value))


@pytest.mark.parametrize("kind", [dict, list], ids=["objects", "arrays"])
def test_depth_of_what_was_read(kind):
    """
    So does JSON that was read and is taken over without a copy.
    """
    assert nested(MAX_DEPTH, kind) == thaw(own(nested(MAX_DEPTH, kind)))
    with pytest.raises(JsonError, match=r"^nested deeper than 200 levels$"):
        own(nested(MAX_DEPTH + 1, kind))


def test_depth_of_objects():
    """
    The object itself is the first level.
    """
    with pytest.raises(TypeError, match="expected at most 200 levels, got more"):
        JsonObject(a=nested(MAX_DEPTH, list))


def test_reprs():
    """
    An object shows what is in it, a state only its keys.
    """
    assert "JsonObject({'a': [1, {'b': None}]})" == repr(JsonObject(a=[1, {"b": None}]))
    assert "State(<a, b>)" == repr(State(a=1, b={}))
    assert "JsonObject({})" == repr(JsonObject())


def test_repr_of_a_huge_integer():
    """
    An integer of which Python refuses to show the digits does not break the repr.
    """
    assert "JsonObject(<1 keys>)" == repr(JsonObject(a=10**5000))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("\ud83d\ude00", "😀"),
        ("a\ud83d", "a\ud83d"),
        ("\ude00\ud83d", "\ude00\ud83d"),
        ("\ud83d\ud83d\ude00", "\ud83d😀"),
        ("\x00\ufeff", "\x00\ufeff"),
    ],
    ids=["pair", "lone", "swapped", "twice", "others"],
)
def test_strings_are_verbatim(given, kept):
    """
    Adjacent halves of a pair are joined to one character; everything else is kept, including lone halves.
    """
    value = JsonObject({given: [given, {given: given}]})

    assert {kept: (kept, {kept: kept})} == value
    assert (kept, kept) == (freeze(given), next(iter(value)))


LOOKS = [
    lambda lazy: lazy["a"],
    dict,
    list,
    hash,
    lambda lazy: "a" in lazy,
    lambda lazy: lazy.keys(),
    lambda lazy: tuple(lazy.values()),
    lambda lazy: lazy.items(),
    lambda lazy: lazy == {"a": 1, "c": 1},
    lambda lazy: lazy | {},
    JsonObject,
    State,
    pickle.dumps,
]


@pytest.mark.parametrize(("lazy_class", "frozen_class"), [(LazyObject, JsonObject), (LazyState, State)])
@pytest.mark.parametrize("look", LOOKS, ids=range(len(LOOKS)))
def test_a_lazy_object_is_frozen_when_it_is_looked_into(look, lazy_class, frozen_class):
    """
    Whatever looks into it sees frozen JSON, and afterwards it is an object like any other.
    """
    lazy, frozen = wrap(lazy_class, {"a": [{"b": [1]}], "c": 1}), frozen_class(a=[{"b": [1]}], c=1)
    assert lazy_class is type(lazy)
    assert look(frozen) == look(lazy)

    assert frozen_class is type(lazy)
    assert ({"b": (1,)},) == lazy["a"]
    assert frozen_class is type(lazy["a"][0])


@pytest.mark.parametrize("accept", [as_input, as_state])
def test_a_lazy_object_is_written_and_thawed_as_it_is(accept):
    """
    Neither takes the time of freezing it, nor does its length, and what is thawed is a copy.
    """
    lazy_class = LazyObject if accept is as_input else LazyState
    lazy = wrap(lazy_class, {"a": [{"b": 1}]})
    assert (1, True) == (len(lazy), bool(lazy))
    thaw(lazy)["a"].append(2)
    thaw(lazy)["a"][0]["b"] = 2

    assert b'{"a":[{"b":1}]}' == write_json(lazy)
    assert copy.deepcopy(lazy) is lazy is accept(lazy)
    assert lazy_class is type(lazy)


def test_the_repr_of_a_lazy_object():
    """
    It is that of a frozen one, which has no values where it is a state.
    """
    lazy = wrap(LazyObject, {"a": [{"b": 1}]})

    assert "JsonObject({'a': [{'b': 1}]})" == repr(lazy)
    assert LazyObject is type(lazy)
    assert "State(<a>)" == repr(wrap(LazyState, {"a": [{"b": 1}]}))


def test_a_lazy_object_cannot_be_changed():
    """
    It is as immutable as one that is frozen.
    """
    lazy = wrap(LazyObject, {"a": 1})
    for name in ("_items", "_json", "a"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(lazy, name, {})
    with pytest.raises(TypeError):
        lazy["a"] = 2

    assert {"a": 1} == lazy


@given(made.json_values())
def test_a_lazy_object_is_what_freeze_makes(value):
    """
    It equals, hashes and is written as an object that is frozen at once.
    """
    plain = {"value": thaw(value)}

    assert write_json(freeze(plain)) == write_json(wrap(LazyObject, copy.deepcopy(plain)))
    assert hash(freeze(plain)) == hash(wrap(LazyObject, copy.deepcopy(plain)))
    assert same_json(plain, wrap(LazyObject, copy.deepcopy(plain)))
    assert pickle.loads(pickle.dumps(wrap(LazyObject, copy.deepcopy(plain)))) == freeze(plain)


@given(made.json_values())
def test_own_is_freeze(value):
    """
    What a JSON reader has just made is frozen in place to the same.
    """
    plain = thaw(value)
    for cls in (JsonObject, State):
        frozen = own(thaw(value), cls)

        assert same_json(plain, frozen)
        assert hash(frozen) == hash(freeze(plain))
    assert type(freeze(plain)) is type(own(thaw(value)))


# -- text


@pytest.mark.parametrize(
    ("text", "valid", "joined"),
    [
        ("", "", ""),
        ("é😀", "é😀", "é😀"),
        ("\ud83d\ude00", "😀", "😀"),
        ("\ud83d", "\ufffd", "\ud83d"),
        ("\ude00\ud83d", "\ufffd\ufffd", "\ude00\ud83d"),
        ("a\ud83d\ud83d\ude00é", "a\ufffd😀é", "a\ud83d😀é"),
    ],
    ids=["empty", "valid", "pair", "lone", "swapped", "mixed"],
)
def test_surrogates(text, valid, joined):
    """
    Pairs are joined; lone halves become U+FFFD in text and stay in JSON.
    """
    assert (valid, joined) == (valid_text(text), joined_pairs(text))
    assert (text != valid) == has_surrogates(text)


@pytest.mark.parametrize("before", [0, 1, 65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("half", [chr(0xD83D), chr(0xDE00)], ids=["high", "low"])
def test_surrogates_anywhere(before, half):
    """
    A lone surrogate is found at any position of a long text.
    """
    assert has_surrogates("é" * before + half + "é" * 70_000)
    assert not has_surrogates("é" * before + "😀" + "é" * 70_000)


@given(st.text(st.characters(), max_size=20) | made.texts())
def test_valid_text_is_valid(text):
    """
    Valid text can be encoded, and is its own valid text.
    """
    valid = valid_text(text)

    assert valid == valid.encode().decode() == valid_text(valid)


def test_first_halves():
    """
    The first half of a pair is distinguished from the second.
    """
    assert [True, True, False, False, False] == [is_high_surrogate(each) for each in "\ud800\udbff\udc00\udfff~"]


@pytest.mark.parametrize("start", [None, "", "ab"], ids=["nothing", "empty", "text"])
@pytest.mark.parametrize("count", [0, 1, COMPACT_AT - 1, COMPACT_AT, COMPACT_AT**2, COMPACT_AT**2 * 2 + 3])
def test_buffers(count, start):
    """
    A buffer holds all that was appended, in order, however much it is and however often it is read.
    """
    pieces = [str(number) for number in range(count)]
    buffer = Buffer("", start)
    media = Buffer(b"", start and start.encode())
    values = []
    for piece in pieces:
        buffer.append(piece)
        media.append(piece.encode())
        if buffer.length % 3000 == 0:
            values.append(buffer.value())

    expected = (start or "") + "".join(pieces)
    assert [expected[: len(value)] for value in values] == values
    assert (expected, len(expected)) == (buffer.value(), buffer.length)
    assert (expected.encode(), len(expected)) == (media.value(), media.length)
    assert COMPACT_AT > len(buffer.pieces)


@pytest.mark.parametrize("count", [1, COMPACT_AT, COMPACT_AT + 1])
def test_a_buffer_that_is_replaced(count):
    """
    It knows what was shown before the first replacement, and nothing of it is left.
    """
    buffer = Buffer("")
    for _ in range(count):
        buffer.append("ab")
    buffer.replace("x")
    buffer.replace("yz")

    assert ("yz", 2, "ab" * count) == (buffer.value(), buffer.length, buffer.shown())


def test_buffers_keep_one_copy():
    """
    A long text that is read is not kept in pieces beside it.
    """
    buffer = Buffer("", "x")
    for _ in range(COMPACT_AT):
        buffer.append("ab")

    assert buffer.value() is buffer.value()


# -- content


CONTENT = [
    ("Hi", (TextContent("Hi"),)),
    (TextContent("Hi"), (TextContent("Hi"),)),
    (["Hi", JsonContent(1)], (TextContent("Hi"), JsonContent(1))),
    ((), ()),
    ([], (JsonContent([]),)),
    (None, (JsonContent(None),)),
    ({"a": 1}, (JsonContent({"a": 1}),)),
    ([1, "two"], (JsonContent([1, "two"]),)),
    (["a", "b"], (JsonContent(["a", "b"]),)),
    (5, (JsonContent(5),)),
    (False, (JsonContent(False),)),
]


@pytest.mark.parametrize(("given", "contents"), CONTENT, ids=[repr(given) for given, _ in CONTENT])
def test_as_content(given, contents):
    """
    Text, JSON, contents, or contents and texts together are taken for contents.
    """
    assert contents == as_content(given)


@attrs.frozen
class City:
    """
    A value that is not JSON.
    """

    name: str
    founded: date


def plain(value):
    """
    A `default` for a value of an app, whose result holds one that is not JSON either.
    """
    if isinstance(value, City):
        return {"name": value.name, "founded": value.founded}
    if isinstance(value, bytearray):
        return MediaContent(media_type="image/png", data=value)
    return str(value)


OSLO = City("Oslo", date(1048, 1, 1))


@pytest.mark.parametrize(
    ("given", "contents"),
    [
        (OSLO, (JsonContent({"name": "Oslo", "founded": "1048-01-01"}),)),
        (
            {"cities": [OSLO, 1], "n": Decimal("1.5")},
            (JsonContent({"cities": [{"name": "Oslo", "founded": "1048-01-01"}, 1], "n": "1.5"}),),
        ),
        (Decimal("1.50"), (TextContent("1.50"),)),
        (bytearray(b"x"), (MediaContent(media_type="image/png", data=b"x"),)),
        ([TextContent("a"), bytearray(b"x")], (TextContent("a"), MediaContent(media_type="image/png", data=b"x"))),
        ("text", (TextContent("text"),)),
        ((), ()),
        ([], (JsonContent([]),)),
        (None, (JsonContent(None),)),
    ],
    ids=["object", "nested", "text", "content", "contents", "str", "nothing", "empty list", "null"],
)
def test_content_with_a_default(given, contents):
    """
    What is not JSON is replaced by what the default returns, at any depth; everything else is as without it.
    """
    assert contents == as_content(given, default=plain)


def test_a_default_that_returns_no_json():
    """
    A default that helps nothing is an error and no endless loop.
    """
    with pytest.raises(TypeError, match=r"^\$\.a: expected JSON, got object$"):
        as_content({"a": object()}, default=lambda value: value)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (object(), "$: expected JSON, got object"),
        ([TextContent("a"), 1], "$[1]: expected a Content or str beside other contents, got int"),
        (b"x", "$: expected JSON, got bytes"),
    ],
    ids=["object", "mixed", "bytes"],
)
def test_what_is_no_content(given, text):
    """
    What is neither content nor JSON is refused with its place.
    """
    with pytest.raises(TypeError) as refused:
        as_content(given)

    assert text == str(refused.value)


@pytest.mark.parametrize("sources", [{}, {"data": b"", "uri": "x:y"}], ids=["neither", "both"])
def test_media_have_one_source(sources):
    """
    Media content has bytes or a URI.
    """
    with pytest.raises(ValueError, match=r"^MediaContent: expected either data or uri$"):
        MediaContent(media_type="image/png", **sources)


# -- facts


def test_words():
    """
    Words of the model are strings, and stay as they are in logs; an error may be of a kind that is not known.
    """
    assert "tool-calls" == FinishReason.TOOL_CALLS
    assert ErrorKind.RATE_LIMIT is ErrorInfo(kind="rate-limit", message="").kind
    assert "of-tomorrow" == ErrorInfo(kind="of-tomorrow", message="").kind
    assert {
        *("interrupted", "aborted", "cancelled", "protocol", "provider", "overloaded", "rate-limit", "auth"),
        *("invalid-request", "not-found", "quota", "context-length", "timeout", "network", "content-filter"),
        *("invalid-input", "no-result", "unexpected-action", "tool", "tool-denied", "adapter", "unknown"),
    } == {kind.value for kind in ErrorKind}


def test_total_of_usage():
    """
    The total is input and output, which include their parts; it is unknown unless both are known.
    """
    assert 15 == Usage(input_tokens=10, cache_read_tokens=4, output_tokens=5, reasoning_tokens=5).total_tokens
    assert 0 == Usage(input_tokens=0, output_tokens=0).total_tokens
    assert Usage(output_tokens=5).total_tokens is None
    assert Usage(input_tokens=5).total_tokens is None


def test_usages_add_up():
    """
    Usage adds field by field, an unknown count adds nothing, and details are left out.
    """
    one = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, details={"a": 1})
    two = Usage(input_tokens=10, cache_read_tokens=30, cache_write_tokens=4)

    expected = Usage(input_tokens=11, output_tokens=2, cache_read_tokens=33, cache_write_tokens=4)
    assert expected == one + two == two + one
    assert Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3) == Usage() + one


def test_origins_of_replay():
    """
    State is sent back to the same origin: provider, model and dialect are compared, the served model is not.
    """
    assert origin().same_as(origin(served_model="acme-1b"))
    assert not origin().same_as(origin("other"))
    assert not origin().same_as(origin(model=None))
    assert not origin().same_as(origin(dialect="other"))


def test_span_of_a_citation():
    """
    A span may be empty, and either end may be unknown.
    """
    assert (3, 3) == (Citation(start=3, end=3).start, Citation(start=3, end=3).end)
    assert 3 == Citation(end=3).end
    assert Citation(start=3).end is None


ERROR = {"kind": "tool", "message": ""}
PLACE = {"provider": "p", "dialect": "d"}
WRONG = [
    (TextContent, {"text": 1}, TypeError, "TextContent.text: expected str, got int"),
    (TextContent, {"text": None}, TypeError, "TextContent.text: expected str, got NoneType"),
    (MediaContent, {"media_type": ""}, ValueError, "MediaContent.media_type: expected a non-empty string"),
    (MediaContent, {"media_type": b"x"}, TypeError, "MediaContent.media_type: expected str, got bytes"),
    (MediaContent, {"media_type": "a/b", "data": "x"}, TypeError, "MediaContent.data: expected bytes or None, got str"),
    (MediaContent, {"media_type": "a/b", "uri": 1}, TypeError, "MediaContent.uri: expected str or None, got int"),
    (ErrorInfo, {**ERROR, "kind": ""}, ValueError, "ErrorInfo.kind: expected a non-empty string"),
    (ErrorInfo, {**ERROR, "kind": 5}, TypeError, "ErrorInfo.kind: expected str, got int"),
    (ErrorInfo, {**ERROR, "message": None}, TypeError, "ErrorInfo.message: expected str, got NoneType"),
    (ErrorInfo, {**ERROR, "code": 5}, TypeError, "ErrorInfo.code: expected str or None, got int"),
    (ErrorInfo, {**ERROR, "status": "5"}, TypeError, "ErrorInfo.status: expected int, got str"),
    (ErrorInfo, {**ERROR, "status": True}, TypeError, "ErrorInfo.status: expected int, got bool"),
    (
        ErrorInfo,
        {**ERROR, "retry_after_s": "1"},
        TypeError,
        "ErrorInfo.retry_after_s: expected a number or None, got str",
    ),
    (ErrorInfo, {**ERROR, "retry_after_s": -1}, ValueError, "ErrorInfo.retry_after_s: expected 0 or more, got -1.0"),
    (
        ErrorInfo,
        {**ERROR, "retry_after_s": float("inf")},
        ValueError,
        "ErrorInfo.retry_after_s: expected 0 or more, got inf",
    ),
    (
        ErrorInfo,
        {**ERROR, "retry_after_s": float(1 << 63)},  # a document with it could not be read
        ValueError,
        "ErrorInfo.retry_after_s: expected 0 or more, got 9.223372036854776e+18",
    ),
    (
        ErrorInfo,
        {**ERROR, "retry_after_s": 1 << 63},
        TypeError,
        "ErrorInfo.retry_after_s: expected a number or None, got int",
    ),
    (
        ErrorInfo,
        {**ERROR, "retry_after_s": True},
        TypeError,
        "ErrorInfo.retry_after_s: expected a number or None, got bool",
    ),
    (ErrorInfo, {**ERROR, "details": 1}, TypeError, "details: expected a JSON object, got int"),
    (ErrorInfo, {**ERROR, "retryable": 1}, TypeError, "ErrorInfo.retryable: expected bool or None, got int"),
    (Usage, {"input_tokens": -1}, ValueError, "Usage.input_tokens: expected 0 or more, got -1"),
    (Usage, {"output_tokens": 1.0}, TypeError, "Usage.output_tokens: expected int, got float"),
    (Origin, {**PLACE, "provider": ""}, ValueError, "Origin.provider: expected a non-empty string"),
    (Origin, {**PLACE, "model": 1}, TypeError, "Origin.model: expected str or None, got int"),
    (RemoteRun, {"id": "r", "kind": "k", "resumable": 1}, TypeError, "RemoteRun.resumable: expected bool, got int"),
    (RemoteRun, {"id": None, "kind": "k"}, TypeError, "RemoteRun.id: expected str, got NoneType"),
    (Citation, {"start": -1}, ValueError, "Citation.start: expected 0 or more, got -1"),
    (Citation, {"start": 3, "end": 2}, ValueError, "Citation.end: expected start (3) or more, got 2"),
    (Citation, {"end": "2"}, TypeError, "Citation.end: expected int, got str"),
]


@pytest.mark.parametrize(("cls", "fields", "error", "text"), WRONG, ids=[text for *_, text in WRONG])
def test_what_is_wrong_is_named(cls, fields, error, text):
    """
    A constructor that is given nonsense names the class, the field, what was expected and what came.
    """
    with pytest.raises(error) as refused:
        cls(**fields)

    assert text == str(refused.value)


@pytest.mark.parametrize(
    ("cls", "fields"),
    [(Usage, {"details": []}), (Usage, {"extra": 5}), (TextContent, {"text": "", "extra": "x"})],
    ids=["details", "extra", "text"],
)
def test_objects_are_expected(cls, fields):
    """
    A field of JSON takes a mapping.
    """
    with pytest.raises(TypeError, match="expected a JSON object, got"):
        cls(**fields)


def test_text_is_made_valid():
    """
    Wherever there is text, it is valid Unicode.
    """
    half = "a\ud83d"
    error = ErrorInfo(kind="tool", message=half, code=half)
    citation = Citation(url=half, title=half, cited_text=half)

    assert {"a\ufffd"} == {
        TextContent(half).text,
        error.message,
        error.code,
        citation.url,
        citation.title,
        citation.cited_text,
        MediaContent(media_type="a/b", uri=half).uri,
        Origin(provider="p", dialect="d", model=half).model,
    }
