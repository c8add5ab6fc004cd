"""
Templates of frames: learned only from frames whose values are found, and exact.
"""

import json

import pytest

from assistant_events.adapters import JsonLines, Sse
from assistant_events.adapters.frame_templates import DeltaFrames, FrameTemplate

FRAME = b'{"type":"d","index":3,"delta":{"type":"text","text":"a"}}'
PATH = ("delta", "text")
FIELDS = DeltaFrames(number="index", loose=("created",), counted=("usage",), unique="id")


def learned(payload, path=PATH, fields=FIELDS):
    return FrameTemplate.learn(payload, json.loads(payload), path, fields)


def matched(template, number, payload, unique=False):
    """
    Return the text in a payload that matches, or its id; `None` when it does not match.
    """
    made = template.pattern(number)
    found = made.pattern.fullmatch(payload + b"\n")
    return found[made.unique if unique else made.text] if found.group(*made.groups) == made.expected else None


def test_the_bytes_around_the_text():
    """
    A frame that varies in its text has a prefix, with the number of its item, and a suffix.
    """
    assert (b'{"type":"d","index":12,"delta":{"type":"text","text":', b"}}\n") == learned(FRAME).bound(12)


def test_a_number_after_the_text():
    """
    The number of the item may come after the text.
    """
    made = learned(b'{"type":"d","delta":{"text":"a"},"index":3}')

    assert made.exact
    assert (b'{"type":"d","delta":{"text":', b'},"index":12}\n') == made.bound(12)


def test_a_frame_with_more_gaps():
    """
    What comes before the first gap is constant; what varies has no suffix but a pattern.
    """
    made = learned(b'{"created":1,"index":3,"delta":{"text":"a"}}')
    payload = b'{"created":22,"index":5,"delta":{"text":"b"   } }'

    assert (b'{"created":', False) == (made.bound(5)[0], made.exact)
    assert b'"b"' == matched(made, 5, payload)
    assert None is matched(made, 6, payload)
    assert None is matched(made, 15, payload)


def test_an_id():
    """
    The id of a frame is a gap, too.
    """
    made = learned(b'{"id":"i1","delta":{"text":"a"}}')

    assert b"i22" == matched(made, 0, b'{"id":"i22","delta":{"text":"b"}}', unique=True)
    assert 0 == learned(FRAME).pattern(3).unique
    made = learned(b'{"id":7,"delta":{"text":"a"}}')
    assert b"10" == matched(made, 0, b'{"id":10,"delta":{"text":"b"}}', unique=True)
    assert None is matched(made, 0, b'{"id":010,"delta":{"text":"b"}}', unique=True)


def test_an_empty_string_among_what_varies():
    """
    It matches itself alone: what comes in its place may be the first value that counts.
    """
    made = learned(b'{"id":"","created":"","delta":{"text":"a"}}')

    assert b'"b"' == matched(made, 0, b'{"id":"","created":"","delta":{"text":"b"}}')
    assert None is matched(made, 0, b'{"id":"","created":"x","delta":{"text":"b"}}')
    assert None is matched(made, 0, b'{"id":"x","created":"","delta":{"text":"b"}}')


def test_the_pattern_of_another_stream():
    """
    The pattern does not depend on long constants, so that the next stream finds it compiled.
    """
    fields = DeltaFrames(constant=("model", "run"), number="index", loose=("created",))
    payload = b'{"run":"%b","index":3,"created":1,"text":"a","model":"%b"}'
    first, other = (learned(payload % (each * 30, each * 20), ("text",), fields).pattern(3) for each in (b"x", b"y"))

    assert first.pattern is other.pattern
    assert first.expected != other.expected


@pytest.mark.parametrize("number", [3, 9, 10, 123, 10**9])
@pytest.mark.parametrize("at", [0, 1], ids=["before the text", "after it"])
def test_the_number_of_an_item(number, at):
    """
    It may have any digits, before the first gap or behind the last.
    """
    frames = [b'{"index":%d,"delta":{"text":"a"},"created":%d}', b'{"created":%d,"delta":{"text":"a"},"index":%d}']
    made = learned(frames[at] % (3, 3))

    def payload(item):
        return frames[at] % ((item, 7) if at == 0 else (7, item))

    assert b'"a"' == matched(made, number, payload(number))
    assert {None} == {matched(made, number, payload(other)) for other in (0, 30, number + 1, number * 10, number // 10)}


def test_the_right_one_of_two():
    """
    A string under the same key elsewhere is passed by.
    """
    payload = b'{"x":{"text":"no"},"y":{"text":1},"delta":{"text":"a"}}'

    assert payload[:-5] == learned(payload, fields=DeltaFrames(constant=("x", "y"))).bound(0)[0]


def test_what_varies_inside_of_an_object():
    """
    What varies may be in an object of the frame; it is not looked for beside it.
    """
    fields = DeltaFrames(inside=("delta",), number=("delta", "index"), loose=("p",), counted=("usage",))
    path = ("delta", "of", "text")
    made = learned(b'{"delta":{"index":3,"of":{"text":"a"},"p":"xy"}}', path, fields)

    assert b'{"delta":{"index":12,"of":{"text":' == made.bound(12)[0]
    assert b'"b"' == matched(made, 12, b'{"delta":{"index":12,"of":{"text":"b"},"p":"z"}}')
    assert learned(b'{"delta":{"index":3,"of":{"text":"a"}},"p":"xy"}', path, fields) is None
    assert {"usage": 1} == fields.counted_in({"delta": {"usage": 1}, "usage": 2})


def test_a_text_that_comes_twice():
    """
    Both places have the same text, whichever is first; where they differ, the frame is another one.
    """
    fields = DeltaFrames(constant=("plain", "items"), copies=(("plain",), ("other",)))
    for payload in (b'{"plain":"%b","items":[{"text":"%b"}]}', b'{"items":[{"text":"%b"}],"plain":"%b"}'):
        made = learned(payload % (b"a", b"a"), ("items", 0, "text"), fields)

        assert not made.exact
        assert b'"b"' == matched(made, 0, payload % (b"b", b"b"))
        assert None is matched(made, 0, payload % (b"b", b"c"))
    assert learned(b'{"plain":"b","items":[{"text":"a"}]}', ("items", 0, "text"), fields).exact


SNAPSHOTS = {
    "longer": ("so far", True),
    "empty": ("", True),
    "escapes": (r"\"\\\/\b\f\n\r\t\u00e9\ud83d", True),
    "an escape that JSON does not have": (r"\x", False),
    "half an escape": (r"\u12", False),
    "a control character": ("\t", False),
    "an end of a line": ("\r", False),
    "no UTF-8": ("\udcff", True),
    "an open string": ("a\\", False),
}


@pytest.mark.parametrize(("snapshot", "matches"), SNAPSHOTS.values(), ids=SNAPSHOTS)
def test_a_snapshot_beside_the_text(snapshot, matches):
    """
    It may be any string, under the same key as the text, but what is not JSON is decoded in full.
    """
    fields = DeltaFrames(constant=("whole", "role", "delta"), snapshots=(("whole", "text"),))
    made = learned(b'{"whole":{"text":"","role":"x"},"delta":{"text":"a"}}', PATH, fields)
    payload = b'{"whole":{"text":"%b","role":"x"},"delta":{"text":"b"}}' % snapshot.encode(errors="surrogateescape")

    assert (b'"b"' if matches else None) == matched(made, 0, payload)
    assert None is matched(made, 0, payload.replace(b'"x"', b'"y"'))


def test_constant_keys_of_the_frame_alone():
    """
    The same key beside the text is none of them.
    """
    fields = DeltaFrames(own=("sources",))

    assert learned(b'{"sources":[1],"delta":{"text":"a"}}', PATH, fields).exact
    assert None is learned(b'{"delta":{"text":"a","sources":[1]}}', PATH, fields)


def test_lists_in_the_path():
    """
    A path may lead through a list of one item.
    """
    made = learned(
        b'{"choices":[{"role":"x","delta":{"content":"a"}}]}',
        ("choices", 0, "delta", "content"),
        DeltaFrames(constant=("role",)),
    )

    assert (b'{"choices":[{"role":"x","delta":{"content":', b"}}]}\n") == made.bound(0)
    assert learned(b'{"choices":[{"content":"a"},{"content":"b"}]}', ("choices", 0, "content")) is None


def test_the_number_in_a_frame():
    """
    Frames without one are of no numbered item, and a value of another type is of none that there is.
    """
    given = [{}, {"index": None}, {"index": 0}, {"index": 3}, {"index": "3"}, {"index": True}, {"index": 3.0}]

    assert [None, None, 0, 3, -1, -1, -1] == [FIELDS.number_in(each) for each in given]


def test_the_number_of_an_item_in_a_list():
    """
    Where the list is empty, or holds no object, there is none.
    """
    given = [{"calls": []}, {"calls": [[1]]}, {"calls": "c"}, {"calls": [{"index": 2}]}]

    assert [None, None, None, 2] == [DeltaFrames(number=("calls", 0, "index")).number_in(each) for each in given]


TEACHES_NOTHING = {
    "spelled otherwise": b'{"index":3,"delta":{"t\\u0065xt":"a"}}',
    "spelled otherwise, beside others": b'{"type":[{"text":"x"},{"text":"y"}],"index":3,"delta":{"t\\u0065xt":"a"}}',
    "spelled otherwise, with other keys that come twice": (
        b'{"type":{"text":"x"},"index":3,"delta":{"t\\u0065xt":"a"},"usage":{"in":{"count":1},"out":{"count":2}}}'
    ),
    "too long": b'{"index":3,"delta":{"text":"%b"}}' % (b"x" * 17_000),
    "an undeclared field": b'{"index":3,"x":1,"delta":{"text":"a"}}',
    "an undeclared field inside": b'{"index":3,"delta":{"text":"a","x":1}}',
    "a declared field inside": b'{"index":3,"delta":{"text":"a","created":1}}',
    "no text": b'{"index":3,"delta":{"text":1}}',
    "no object": b'{"index":3,"delta":["text"]}',
    "a number in a list": b'{"index":3,"delta":{"text":"a"},"usage":[1]}',
    "an exponent": b'{"index":3,"delta":{"text":"a"},"created":1e5}',
    "an id with a fraction": b'{"id":0.5,"index":3,"delta":{"text":"a"}}',
    "an id that is an array": b'{"id":[1],"index":3,"delta":{"text":"a"}}',
    "an id that is an object": b'{"id":{"a":1},"index":3,"delta":{"text":"a"}}',
}


@pytest.mark.parametrize("payload", TEACHES_NOTHING.values(), ids=TEACHES_NOTHING.keys())
def test_frames_without_a_template(payload):
    """
    A frame whose values are not found, or that holds more than is declared, has no template.
    """
    assert None is learned(payload)


def test_a_key_that_comes_twice():
    """
    The text is that of the key that counts, the last one.
    """
    assert (
        b'{"index":3,"delta":{"text":"a","text":' == learned(b'{"index":3,"delta":{"text":"a","text":"b"}}').bound(3)[0]
    )


def test_a_key_that_two_gaps_have():
    """
    Each gap is where its own value is.
    """
    payload = b'{"usage":{"in":{"count":%d},"out":{"count":%d}},"index":3,"delta":{"text":"%b"}}'
    made = learned(payload % (1, 2, b"a"))

    assert b'"b"' == matched(made, 3, payload % (33, 4, b"b"))
    assert b'{"usage":{"in":{"count":' == made.bound(3)[0]


def test_a_frame_that_is_not_valid_utf_8():
    """
    A frame that had to be repaired before it was parsed has no template.
    """
    fields = DeltaFrames(constant=("x",))

    assert None is FrameTemplate.learn(b'{"x":"\xff","text":"a"}', {"x": "\ufffd", "text": "a"}, ("text",), fields)


def test_constant_fields_that_count():
    """
    A counted field has to be read even when nothing in it varies; a null has nothing to read.
    """
    assert not learned(b'{"index":3,"delta":{"text":"a"},"usage":{}}').exact
    assert learned(b'{"index":3,"delta":{"text":"a"},"usage":null}').exact


AROUND = {
    "named": (Sse, b"event: step.delta\ndata: ", b"\n\n"),
    "without a name": (Sse, b"data: ", b"\n\n"),
    "without spaces": (Sse, b"event:step.delta\ndata:", b"\n\n"),
    "lines": (JsonLines, b"", b"\n"),
}


@pytest.mark.parametrize(("framing", "before", "after"), AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("more", [b"", b"data: [1]\n\n"], ids=["alone", "with others"])
def test_what_is_around_a_payload(framing, before, after, more):
    """
    A framing returns the bytes around a payload of the last chunk.
    """
    made = framing()
    payloads = made.feed(more * (framing is Sse) + before + b"{}" + after)

    assert (before, after) == made.around(payloads[-1])


def test_the_name_has_to_be_among_the_bytes():
    """
    Of two frames with equal payloads the one with the name is meant.
    """
    made = Sse()
    made.feed(b"event: a\ndata: {}\n\nevent: b\ndata: {}\n\n")

    assert (b"event: b\ndata: ", b"\n\n") == made.around(b"{}", "b")
    assert None is made.around(b"{}", "c")


def test_unusual_lines_around_a_payload():
    """
    With other lines around it, a payload is found by the framing alone.
    """
    made = Sse()
    made.feed(b"id: 7\ndata: {}\n\n")

    assert None is made.around(b"{}")
