"""
The framing of a JSON array that comes in pieces: its objects, however the bytes are cut.
"""

import json

import pytest

from assistant_events.adapters import JsonArray

OBJECTS = [{"a": 'x"}\\'}, {"b": [{"c": "{["}, []]}, {}, {"é": "\u2028🚀"}]

BODIES = {
    "compact": json.dumps(OBJECTS, separators=(",", ":")),
    "indented": json.dumps(OBJECTS, indent=2, ensure_ascii=False),
    "as Google sends it": "[" + "\n,\r\n".join(json.dumps(each) for each in OBJECTS) + "\n]\n",
    "without brackets": "".join(json.dumps(each) for each in OBJECTS),
    "as it is written": b"".join(JsonArray.frame(None, each) for each in OBJECTS).decode(),
}


def read(chunks):
    framing = JsonArray()
    found = [payload for chunk in chunks for payload in framing.feed(chunk)] + framing.close()
    return [json.loads(payload) for payload in found]


@pytest.mark.parametrize("name", BODIES)
def test_objects(name):
    """
    The objects are those of the array, wherever its bytes are cut.
    """
    body = BODIES[name].encode("utf-8", "surrogatepass")
    cuts = [[body[:at], body[at:]] for at in range(len(body) + 1)]

    assert [OBJECTS] * len(cuts) == [read(chunks) for chunks in cuts]
    assert OBJECTS == read([body[at : at + 1] for at in range(len(body))])


def test_an_object_that_is_cut():
    """
    It is not given.
    """
    assert [{"a": 1}] == read([b'[{"a":1},{"b":'])


def test_what_is_between_the_objects():
    """
    It may be anything: text, quotes, closing brackets.
    """
    assert [{"a": 1}, {"b": 2}] == read([b'<html>"}} {"a":1} "half \\" {"b":2}]'])


@pytest.mark.parametrize("cut", [1, 7, 100])
def test_an_object_that_is_too_long(cut):
    """
    Nothing follows it, and no bytes are kept.
    """
    framing = JsonArray(20)
    body = b'[{"a":1},{"b":"%b"},{"c":1}]' % (b"x" * 30)
    found = [each for at in range(0, len(body), cut) for each in framing.feed(body[at : at + cut])]

    assert [b'{"a":1}'] == found
    assert framing.too_long
    assert [] == framing.feed(b'{"d":1}')


@pytest.mark.parametrize("cut", [1, 7, 100])
def test_how_long_an_object_may_be(cut):
    """
    As long as the limit; what is between the objects is not counted. One without its end is counted, too.
    """
    longest = b'{"a":"234567890123"}'
    for end, too_long in ((b"", False), (b'{"b":"2345678901234"', False), (b'{"b":"234567890123456', True)):
        framing = JsonArray(20)
        body = b"[" + longest + b" " * 30 + longest + end
        found = [each for at in range(0, len(body), cut) for each in framing.feed(body[at : at + cut])]

        assert [longest] * 2 == found
        assert too_long is framing.too_long


def test_the_cost_of_a_long_object():
    """
    Bytes that were looked through are not looked through again: a string of a megabyte in pieces takes no time.
    """
    framing = JsonArray()
    found = framing.feed(b'[{"a":"')
    for _ in range(20000):
        found += framing.feed(b"x" * 50)

    assert [b'{"a":"%b"}' % (b"x" * 1_000_000)] == found + framing.feed(b'"}]')
