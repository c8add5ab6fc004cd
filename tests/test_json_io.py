"""
JSON text with msgspec and without it: the same values, the same refusals.
"""

from __future__ import annotations

import json
import math
import sys
from functools import cache
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant_events import Event, JsonObject, Record, Transcript, fold
from assistant_events.converters import dumps, json_text, loads, unstructure
from assistant_events.errors import JsonError, StructureError
from assistant_events.events import EVENT_TYPES
from assistant_events.testing import strategies as made
from assistant_events.values import MAX_DEPTH, json_io, read_json, write_json
from assistant_events.values.stdlib_json import read_plain, read_string, read_strings, write_plain

MSGSPEC = pytest.importorskip("msgspec")


CHOSEN = {
    (json_io, "fast_reader"): cache(json_io.fast_reader.__wrapped__),
    (json_io, "string_reader"): cache(json_io.string_reader.__wrapped__),
    (json_io, "fast_writer"): cache(json_io.fast_writer.__wrapped__),
    (json_text, "fast_reader"): cache(json_io.fast_reader.__wrapped__),
}


class Hidden:
    """
    Hides msgspec as long as it lasts. What was chosen with it and without it is kept apart, and found again.
    """

    def __enter__(self):
        sys.modules["msgspec"] = None
        self.swap()

    def __exit__(self, *failure):
        sys.modules["msgspec"] = MSGSPEC
        self.swap()

    def swap(self):
        for (module, name), other in CHOSEN.items():
            CHOSEN[module, name] = getattr(module, name)
            setattr(module, name, other)


def outcome(function, *arguments):
    """Return what came of a call: a value, or the class and the text of the error."""
    try:
        return exactly(function(*arguments))
    except (JsonError, StructureError, TypeError) as error:
        return type(error), str(error)


def exactly(value):
    """Return *value* in a form that distinguishes True from 1, 1 from 1.0, 0.0 from -0.0, and orders of keys."""
    if isinstance(value, (dict, JsonObject)):
        return {"object": [(key, exactly(item)) for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"array": [exactly(item) for item in value]}
    return (type(value), math.copysign(1, value), value) if isinstance(value, float) else (type(value), value)


def both(function, *arguments):
    """Return what comes of a call with msgspec and without it."""
    with_it = outcome(function, *arguments)
    with Hidden():
        return with_it, outcome(function, *arguments)


def nested(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + "1" + closing * levels


class OldDecodeError(Exception):
    """What msgspec raises before 0.21: no `ValueError`."""


def decode_as_020(data):
    raise OldDecodeError("Input data was truncated")


def test_a_msgspec_that_is_too_old(monkeypatch):
    """
    Before 0.21, whose errors are not of `ValueError`, msgspec is not used: another package may have brought it.
    """
    decoder = SimpleNamespace(decode=decode_as_020)
    fake = SimpleNamespace(Decoder=lambda *form: decoder, Encoder=lambda *, enc_hook: None)
    monkeypatch.setitem(sys.modules, "msgspec", SimpleNamespace(DecodeError=OldDecodeError, json=fake))
    monkeypatch.setattr(json_io, "fast_reader", fresh := json_io.fast_reader.__wrapped__)

    assert [1] == read_json("[1]")
    assert (read_plain, read_string, read_strings, write_plain) == (
        fresh(),
        json_io.string_reader.__wrapped__(),
        json_io.strings_reader.__wrapped__(),
        json_io.fast_writer.__wrapped__(),
    )


DOCUMENTS = {
    "object": '{"b": 1, "a": [true, false, null]}',
    "empty object": "{}",
    "empty array": "[]",
    "spaces": " \t\r\n[ 1 , 2 ] \n",
    "scalar": "1",
    "string": '"x"',
    "pair": r'"\ud83d\ude00"',
    "raw pair": '"😀"',
    "lone high": r'["\ud83d", 1]',
    "lone low": r'{"\ude00": "\ude00"}',
    "halves apart": r'["\ud83d", "\ude00"]',
    "half and letter": r'"\ud83dA"',
    "halves swapped": r'"\ude00\ud83d"',
    "high twice": r'"\ud83d\ud83d\ude00"',
    "escapes": r'"\"\\\/\b\f\n\r\t\u0041\u00e9"',
    "bad escape": r'"\x41"',
    "short escape": r'"\u12"',
    "odd escape": r'"\u12g4"',
    "escaped nul": r'"\u0000"',
    "raw nul": '"\x00"',
    "raw control": '"\x1f"',
    "raw newline": '"\n"',
    "raw delete": '"\x7f"',
    "nul outside": "1\x00",
    "separator": '"\u2028"',
    "no character": '"\uffff"',
    "integer": "[0, -0, 12345678901234567890]",
    "2**63": "[9223372036854775807, 9223372036854775808, -9223372036854775808, -9223372036854775809]",
    "2**64": "[18446744073709551615, 18446744073709551616]",
    "4300 digits": "[" + "7" * 4300 + "]",
    "4301 digits": "[" + "7" * 4301 + "]",
    "5000 digits": "[-" + "1234567890" * 500 + "]",
    "20000 digits": "[" + "9" * 20_000 + "]",
    "leading zero": "01",
    "leading plus": "+1",
    "bare point": "1.",
    "no integer part": ".5",
    "fraction": "[0.1, -0.0, 1e3, 1E-3, 1.5e+10, 123456789.123456789]",
    "smallest": "[5e-324, 1e-400]",
    "largest": "1.7976931348623157e308",
    "overflow": "1e400",
    "negative overflow": "[-1e400]",
    "overflow in object": '{"a": {"b": 1e999}}',
    "huge exponent": "1e1000000000",
    "long fraction": "0." + "1" * 5000,
    "nan": "NaN",
    "nan inside": '{"a": [NaN]}',
    "infinity": "Infinity",
    "negative infinity": "[-Infinity]",
    "duplicate keys": '{"a": 1, "b": 2, "a": 3}',
    "duplicate deep keys": '{"a": {"x": 1}, "a": {"y": 2}}',
    "duplicate after a fault": '{"a": 1e400, "a": 1}',
    "nothing": "",
    "only spaces": "  ",
    "cut array": "[1, 2",
    "cut object": '{"a": 1',
    "cut string": '"abc',
    "cut word": "tru",
    "trailing comma": "[1,]",
    "trailing object comma": '{"a": 1,}',
    "two documents": "{} {}",
    "comment": "[1] // one",
    "single quotes": "{'a': 1}",
    "bare key": "{a: 1}",
    "number key": "{1: 2}",
    "capital word": "[True]",
    "mark": "\ufeff[1]",
    "mark inside": '["\ufeff"]',
    "two marks": "\ufeff\ufeff[1]",
    "limit": nested(MAX_DEPTH),
    "limit of objects": nested(MAX_DEPTH, '{"a":', "}"),
    "over the limit": nested(MAX_DEPTH + 1),
    "over the limit of objects": nested(MAX_DEPTH + 1, '{"a":', "}"),
    "over the limit, wide": "[" + "[]," * 500 + nested(MAX_DEPTH) + "]",
    "brackets in strings": json.dumps(["[{" * 1000]),
    "wide": "[" + "[]," * 500 + "[]]",
    "100,000 deep": nested(100_000),
    "100,000 open": "[" * 100_000,
    "100,000 objects": nested(100_000, '{"a":', "}"),
    "deep and broken": "[" * 100_000 + "x",
}
BYTES = {
    "bad utf-8": b'"\xff"',
    "bad utf-8 outside": b"[1]\xff",
    "overlong": b'"\xc0\x80"',
    "encoded surrogate": b'"\xed\xa0\x80"',
    "encoded pair": b'"\xed\xa0\xbd\xed\xb8\x80"',
    "cut character": b'"\xc3"',
    "beyond unicode": b'"\xf4\x90\x80\x80"',
    "utf-16": "[1]".encode("utf-16"),
    "utf-16 without mark": '{"a": 1}'.encode("utf-16-le"),
    "half a mark": b"\xef\xbb[1]",
}
STRINGS = {
    "raw lone half": '"\ud83d"',
    "raw halves": '"\ud83d\ude00"',
    "escaped and raw half": '"\\ud83d\ude00"',
    "raw half in key": '{"\ud83d": "\ude00"}',
    "raw half outside": "[1]\ud83d",
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_same_outcome(text):
    """
    A document is the same value with msgspec and without it, or is refused with the same words; bytes or not.
    """
    with_it, without = both(read_json, text.encode())
    as_text, as_text_without = both(read_json, text)

    assert with_it == without
    assert as_text == as_text_without
    assert with_it == as_text


@pytest.mark.parametrize("data", BYTES.values(), ids=BYTES)
def test_no_utf8_is_refused(data):
    """
    Bytes that are not valid UTF-8 raise the same error with msgspec and without it.
    """
    with_it, without = both(read_json, data)

    assert with_it == without
    assert JsonError is with_it[0]


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_surrogates_in_strings(text):
    """
    A string that cannot be encoded as UTF-8 is read alike with msgspec and without it.
    """
    with_it, without = both(read_json, text)

    assert with_it == without


EXPECTED = [
    ("pair", "😀"),
    ("lone high", ["\ud83d", 1]),
    ("halves swapped", "\ude00\ud83d"),
    ("escaped nul", "\x00"),
    ("raw delete", "\x7f"),
    ("2**64", [2**64 - 1, 2**64]),
    ("5000 digits", [-int("1234567890" * 100) * 10**4000 + -int("1234567890" * 400)]),
    ("20000 digits", [10**20_000 - 1]),
    ("smallest", [5e-324, 0.0]),
    ("duplicate keys", {"a": 3, "b": 2}),
    ("duplicate deep keys", {"a": {"y": 2}}),
    ("mark", [1]),
    ("mark inside", ["\ufeff"]),
]


@pytest.mark.parametrize(("name", "value"), EXPECTED, ids=[name for name, _ in EXPECTED])
def test_values(name, value):
    """
    The value is exactly that of the text.
    """
    assert exactly(value) == exactly(read_json(DOCUMENTS[name]))


REFUSED = [
    ("raw nul", "not valid JSON: invalid control character at at character 1"),
    ("overflow", "number out of range"),
    ("overflow in object", "number out of range"),
    ("huge exponent", "number out of range"),
    ("nan", "not valid JSON: NaN"),
    ("negative infinity", "not valid JSON: -Infinity"),
    ("nothing", "not valid JSON: expecting value at character 0"),
    ("two documents", "not valid JSON: extra data at character 3"),
    ("capital word", "not valid JSON: expecting value at character 1"),
    ("over the limit", "nested deeper than 200 levels"),
    ("over the limit of objects", "nested deeper than 200 levels"),
    ("over the limit, wide", "nested deeper than 200 levels"),
    ("100,000 deep", "nested too deeply"),
    ("100,000 objects", "nested too deeply"),
]


@pytest.mark.parametrize(("name", "text"), REFUSED, ids=[name for name, _ in REFUSED])
def test_refusals(name, text):
    """
    What is refused is refused with its reason, and never with the data.
    """
    with pytest.raises(JsonError) as refused:
        read_json(DOCUMENTS[name])

    assert text == str(refused.value) == refused.value.reason


def test_broken_utf8_says_where():
    """
    The error for bytes that are not valid UTF-8 has the position.
    """
    with pytest.raises(JsonError) as refused:
        read_json(BYTES["bad utf-8"])

    assert "not valid UTF-8 at byte 1" == str(refused.value)


@pytest.mark.parametrize("as_bytes", [True, False])
@pytest.mark.parametrize("depth", [20, 21])
def test_a_depth_behind_a_long_text(as_bytes, depth):
    """
    What nests too deeply is refused, however far behind the beginning of the document it is.
    """
    text = '["' + "a" * 40_000 + '",' + "[" * (depth - 1) + "]" * (depth - 1) + "]"
    document = text.encode() if as_bytes else text
    if depth == 20:
        assert json.loads(text) == read_json(document, max_depth=20)
    else:
        with pytest.raises(JsonError, match="nested deeper than 20 levels"):
            read_json(document, max_depth=20)


@pytest.mark.parametrize("text", ["[%s[]]" % ("[]," * 300), "[%s{}]" % ('{"a":{}},' * 150)], ids=["arrays", "objects"])
def test_the_limit_is_one_of_depth(text):
    """
    A document may have more brackets than levels when they are siblings.
    """
    assert json.loads(text) == read_json(text)


WRAPPERS = ['["]",%s]', '["\\\\","]",%s]', '["\\\\\\"]",%s]', '{"[{":0,"}]":%s}', '["é]\\n",0,%s]']


AROUND = {"nothing": "", "small values": "[]," * 1_500, "a long value": f'"{"word " * 4_000}",'}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("limit", [64, 200])
@pytest.mark.parametrize("beside", AROUND.values(), ids=AROUND)
def test_brackets_inside_of_strings_are_no_levels(wrapper, limit, beside):
    """
    They neither hide the depth of a document that is deeper than the limit, nor add to that of one at the limit.
    """
    text = "0"
    for _ in range(limit - 1):
        text = wrapper.replace("%s", text)
    text = f"[{beside}{text}]"
    for document in (text, text.encode()):
        assert json.loads(text) == read_json(document, max_depth=limit)
        with pytest.raises(JsonError, match=f"^nested deeper than {limit - 1} levels$"):
            read_json(document, max_depth=limit - 1)


@pytest.mark.parametrize("levels", [0, 1, 7, 199])
def test_limit_can_be_set(levels):
    """
    A caller may ask for less depth, or more.
    """
    assert levels == read_json(nested(levels), max_depth=levels).__repr__().count("[")
    with pytest.raises(JsonError, match=f"^nested deeper than {levels} levels$"):
        read_json(nested(levels + 1) + " " * 2 * levels, max_depth=levels)


@given(made.json_values())
def test_what_is_written_is_read(value):
    """
    JSON is read as it was written, whichever library does which.
    """
    with_it, without = both(write_json, value)

    for written in (with_it[1], without[1]):
        assert both(read_json, written) == (exactly(value), exactly(value))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": 1, "a": [None, True, 1.5]}, b'{"b":1,"a":[null,true,1.5]}'),
        ("é😀\x7f\u2028", '"é😀\x7f\u2028"'.encode()),
        ('"\\\n\x00', rb'"\"\\\n\u0000"'),
        ("\ud800é", rb'"\ud800\u00e9"'),
        ({"\udc00": []}, rb'{"\udc00":[]}'),
        (10**30, b"1" + b"0" * 30),
        ([-(10**4999), {"a": (1.5, None, False, "x")}], b"[-1" + b"0" * 4999 + b',{"a":[1.5,null,false,"x"]}]'),
        (JsonObject(a=JsonObject(b=[{}])), b'{"a":{"b":[{}]}}'),
        ((), b"[]"),
    ],
    ids=["plain", "unicode", "escapes", "lone", "lone key", "large", "huge", "frozen", "tuple"],
)
def test_written(value, written):
    """
    JSON is written compactly; a lone surrogate or a huge integer makes the document ASCII.
    """
    assert (exactly(written), exactly(written)) == both(write_json, value)


@pytest.mark.parametrize(
    "value",
    [object(), [object()], {"a": 1j}, ["\ud800", object()], [10**30, {"a": object()}], ["\ud800", math.nan]],
    ids=["object", "inside", "complex", "after a half", "after a huge one", "not finite"],
)
def test_what_is_no_json_is_not_written(value):
    """
    A value that is not JSON raises TypeError with msgspec and without it.
    """
    assert [TypeError, TypeError] == [kind for kind, _ in both(write_json, value)]


def text_of(data):
    try:
        return json_io.string_reader()(data)
    except ValueError:
        return ValueError


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'""', ""),
        ('"é😀\x7f"'.encode(), "é😀\x7f"),
        (rb'"\ud83d\ude00\n\"\\\/"', '😀\n"\\/'),
        (rb'"\ud83d"', ValueError),
        (rb'"\ude00\ud83d"', ValueError),
        (b'"\xed\xa0\x80"', ValueError),
        (b'"\xff"', ValueError),
        (b'"a\x00"', ValueError),
        (b'"a\n"', ValueError),
        (rb'"\x"', ValueError),
        (b'"a', ValueError),
        (b'"a" 1', ValueError),
        (b'"a""b"', ValueError),
        (b"1", ValueError),
        (b"null", ValueError),
        (b'["a"]', ValueError),
        (b"", ValueError),
    ],
    ids=range(17),
)
def test_single_strings(data, text):
    """
    A document that is one string is read by a reader of its own, with msgspec and without it.
    """
    assert text == text_of(data)
    with Hidden():
        assert text == text_of(data)


# -- whole documents


def loaded(data, cls):
    return unstructure(loads(data, cls))


@given(made.records())
def test_records_are_the_same(record):
    """
    A record is written the same and read the same with msgspec and without it.
    """
    written = dumps(record)
    with Hidden():
        written_without = dumps(record)

    assert json.loads(written) == json.loads(written_without)
    assert (exactly(unstructure(record)),) * 2 == both(loaded, written, Record)
    assert (exactly(unstructure(record)),) * 2 == both(loaded, written_without, Record)


@given(made.sessions(max_moves=15))
def test_transcripts_are_the_same(events):
    """
    A transcript is written the same and read the same with msgspec and without it.
    """
    transcript = fold(events)
    written = dumps(transcript)

    assert (exactly(unstructure(transcript)),) * 2 == both(loaded, written, Transcript)


ODD = st.sampled_from(
    [None, True, False, 0, 1, -1, 1.0, "", "x", "text", "stop", [], [{}], {}, {"type": "text"}, {"kind": "x"}, "AA=="]
)


def spoiled(draw, value):
    """Return *value* with something in it dropped, replaced, added or renamed."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(value)))
        match draw(st.sampled_from(("inside", "inside", "drop", "replace", "add"))):
            case "inside":
                return {**value, key: spoiled(draw, value[key])}
            case "drop":
                return {name: item for name, item in value.items() if name != key}
            case "replace":
                return {**value, key: draw(ODD)}
            case _:
                return {**value, draw(st.sampled_from(("v", "state", "newer", "uri", "end", "complete"))): draw(ODD)}
    if isinstance(value, list) and value and draw(st.booleans()):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], spoiled(draw, value[at]), *value[at + 1 :]]
    return draw(ODD)


@given(data=st.data())
def test_spoiled_events_are_the_same(data):
    """
    However an event's document is spoiled, it is read or refused alike with msgspec and without it.
    """
    document = spoiled(data.draw, unstructure(data.draw(made.events())))
    with_it, without = both(loaded, write_json(document), Event)

    assert with_it == without


@given(data=st.data())
def test_spoiled_transcripts_are_the_same(data):
    """
    However a transcript's document is spoiled, it is read or refused alike with msgspec and without it.
    """
    document = unstructure(fold(data.draw(made.sessions(max_moves=12))))
    for _ in range(data.draw(st.integers(1, 3))):
        document = spoiled(data.draw, document)
    with_it, without = both(loaded, write_json(document), Transcript)

    assert with_it == without


WHATEVER = [None, True, 1, -1, 1.0, "x", "", [], {}, [None], [{}]]


@pytest.mark.parametrize("type_", sorted(EVENT_TYPES))
@settings(max_examples=5)
@given(data=st.data())
def test_every_field_of_every_event_is_checked_alike(type_, data):
    """
    Any value in any field of an event is read or refused alike with msgspec and without it.
    """
    document = unstructure(data.draw(made.events(EVENT_TYPES[type_])))
    written = [write_json({**document, name: value}) for name in document for value in WHATEVER]

    with_it = [outcome(loaded, data, Event) for data in written]
    with Hidden():
        without = [outcome(loaded, data, Event) for data in written]

    assert with_it == without


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"text.ended","v":1,"message_id":"a","text":"\ud83d","state":{"a":"\ud83d"}}',
        '{"type":"text.ended","v":1,"message_id":"a","text":"\ud83d\ude00","state":{"\ud83d\ude00":"\\ud83d\ude00"}}',
        '{"type":"text.ended","v":1,"message_id":"a","text":"","state":{"a":' + "7" * 5000 + "}}",
        '{"type":"text.ended","v":1,"v":1.0,"message_id":"a","text":""}',
        '{"type":"text.ended","v":1.0,"v":1,"message_id":"a","text":1,"text":"b"}',
        '{"type":"text.ended","type":"text.started","v":1,"message_id":"a"}',
        '\ufeff{"type":"text.started","v":1,"message_id":"a"}',
        '{"type":"text.delta","v":1,"message_id":"a","offset":-0,"delta":""}',
        '{"type":"text.delta","v":1,"message_id":"a","offset":18446744073709551616,"delta":""}',
        '{"type":"text.delta","v":1,"message_id":"a","offset":1e2,"delta":""}',
        '{"type":"opaque.received","v":1,"message_id":"a","state":' + nested(900, '{"a":', "}") + "}",
        '{"type":"opaque.received","v":1,"message_id":"a","state":{"a":1e400}}',
        '{"type":"opaque.received","v":1,"message_id":"a","state":{"a":NaN}}',
        '{"type":"prompt.submitted","v":1,"message_id":"a","content":[{"value":1,"type":"json"}]}',
        '{"type":"prompt.submitted","v":1,"message_id":"a","content":[{"value":1}]}',
    ],
    ids=range(15),
)
def test_odd_events(text):
    """
    Oddities of JSON inside an event have one outcome.
    """
    with_it, without = both(loaded, text, Event)

    assert with_it == without


def test_halves_of_a_pair_in_text():
    """
    Two beside each other are one character, and one alone is kept, wherever brackets have to be counted.
    """
    assert "😀" == read_json('"\ud83d\ude00"')
    assert "\ud83d" == read_json('["\ud83d",' + "[]," * 300 + "1]")[0]


@pytest.mark.parametrize("data", [b"1", b'1a"', b'ab"', b'"a', b'"\\ud83d"', b"null"])
def test_what_is_not_one_string(data):
    """
    The reader of the standard library refuses it, also in an array.
    """
    for read, document in ((read_string, data), (read_strings, b"[%b]" % data)):
        with pytest.raises(ValueError, match=r"."):
            read(document)


@pytest.mark.parametrize("value", [math.nan, math.inf, [-math.inf]])
def test_numbers_that_are_not_json_are_not_written(value):
    """
    The writer of the standard library would write words for them.
    """
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_plain(value)
