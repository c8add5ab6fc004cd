"""
Templates: learned only from frames that they are right about.
"""

import json

import pytest

from assistant_events.adapters import JsonLines, Sse
from assistant_events.adapters.frame_templates import Template

FRAME = b'{"type":"d","index":3,"delta":{"type":"text","text":"a"}}'
PATH = ("delta", "text")


def learned(payload, path=PATH):
    return Template.learn(payload, json.loads(payload), path)


def test_the_bytes_around_the_string():
    """
    What stands before the string and after it is the template.
    """
    made = learned(FRAME)

    assert (FRAME[:-5], b"}}") == (made.prefix, made.suffix)


def test_the_right_one_of_two():
    """
    A string under the same key elsewhere is passed by.
    """
    payload = b'{"x":{"text":"no"},"y":{"text":1},"delta":{"text":"a"}}'

    assert payload[:-5] == learned(payload).prefix


TEACHES_NOTHING = {
    "spelled otherwise": b'{"index":3,"delta":{"t\\u0065xt":"a"}}',
    "twice": b'{"index":3,"delta":{"text":"a","text":"b"}}',
    "too long": b'{"index":3,"delta":{"text":"%b"}}' % (b"x" * 5000),
}


@pytest.mark.parametrize("payload", TEACHES_NOTHING.values(), ids=TEACHES_NOTHING.keys())
def test_frames_that_teach_nothing(payload):
    """
    Where the string cannot be found, or is too far away, there is no template, or one that is right.
    """
    made = learned(payload)

    assert made is None or json.loads(made.prefix + b'"b"' + made.suffix)["delta"]["text"] == "b"


def test_a_frame_that_is_no_json_as_it_came():
    """
    A frame that had to be mended before it was read teaches nothing.
    """
    assert None is Template.learn(b'{"x":"\xff","text":"a"}', {"x": "\ufffd", "text": "a"}, ("text",))


def test_a_number_beside_the_string():
    """
    The template of other numbers is made from that of one.
    """
    numbered = learned(FRAME).numbered("index")
    made = numbered.with_number(12)

    assert {"type": "d", "index": 12, "delta": {"type": "text", "text": "b"}} == json.loads(
        made.prefix + b'"b"' + made.suffix
    )


@pytest.mark.parametrize("payload", [b'{"delta":{"text":"a"}}', b'{"x":{"index":3},"delta":{"text":"a"}}'])
def test_no_number_beside_the_string(payload):
    """
    Where there is none at the top there is no such template.
    """
    assert None is learned(payload).numbered("index")


@pytest.mark.parametrize("framing", [Sse, JsonLines])
def test_what_stands_around_a_payload(framing):
    """
    A framing says how a payload comes, and reads it so.
    """
    before, after = framing().around("step.delta")

    assert [b"{}"] == framing().feed(before + b"{}" + after)
