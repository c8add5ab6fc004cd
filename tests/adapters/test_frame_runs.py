"""
Frames that follow each other are decoded as if each came alone, without the fast path: with noise and without, with
other frames and damaged ones between them, and wherever the chunks end.
"""

import json

import pytest

from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder
from assistant_events.values import json_io
from assistant_events.values.stdlib_json import read_string, read_strings

from . import padded
from .notation import C, D, S, X, args, fc, mo, stream, text
from .padded import DECODERS, PaddedDecoder, written
from .test_fast_path import both, counted

STYLES = {
    "clean": lambda at: {},
    "an id": lambda at: {"id": f"i{at}"},
    "noise first": lambda at: {"noise": "r" * (at % 5), "index": 0},
    "all of it": lambda at: {"sequence": at, "noise": "r" * (at % 5), "usage": {"output": at}, "id": f"i{at}"},
}


def noisy(at, style, words="a"):
    """Return the document of a delta with what differs in this style, before the text or after it."""
    event = padded.delta(text=words)
    return {**STYLES[style](at), **event} if style == "noise first" else {**event, **STYLES[style](at)}


def run(first, count, cls, style):
    """Return frames that continue each other."""
    padding = 0 if style == "clean" else 1
    words = [" word", "é🚀", 'a "quote" \\ \n', "x"]
    return [
        written(noisy(at, style, words[at % len(words)]), cls, padding=at % 4 * padding)
        for at in range(first, first + count)
    ]


def spelled(new, old=b'"text":"a"'):
    """Return what replaces bytes of a frame."""
    return lambda made: made.replace(old, new)


DAMAGE = {
    "an empty text": spelled(b'"text":""'),
    "a number": spelled(b'"text":1'),
    "no value": spelled(b'"text":'),
    "two strings": spelled(b'"text":"a","b"'),
    "two strings and a line end": spelled(b'"text":"a",\n"b"'),
    "two strings and a carriage return": spelled(b'"text":"a",\r"b"'),
    "a line end after the text": spelled(b'"text":"a"\n'),
    "a line end before the text": spelled(b'"text":\n"a"'),
    "a carriage return after the text": spelled(b'"text":"a"\r'),
    "spaces around the text": spelled(b'"text": "a"\t '),
    "a line end in the text": spelled(b'"text":"a\nb"'),
    "a carriage return in the text": spelled(b'"text":"a\rb"'),
    "a text without a start": spelled(b'"text":&a"'),
    "a text without an end": spelled(b'"text":"a'),
    "an escape without an end": spelled(b'"text":"a\\"'),
    "an escape without an end, then two strings": lambda made: (
        made.replace(b'"text":"a"', b'"text":"a\\"') + made.replace(b'"text":"a"', b'"text":"b","c"')
    ),
    "an unknown escape": spelled(rb'"text":"\x"'),
    "the first half of a pair": spelled(rb'"text":"\ud83d"'),
    "the second half of a pair": spelled(rb'"text":"\ude80"'),
    "an escaped pair": spelled(rb'"text":"\ud83d\ude80"'),
    "bytes that are not text": spelled(b'"text":"\xff"'),
    "a second text": spelled(b'"text":"a","text":"b"'),
    "a frame in a text": spelled(b'"text":' + json.dumps('"}}\n\ndata: {"type":"text"').encode()),
    "another index": spelled(b'"index":1', b'"index":0'),
    "a longer index": spelled(b'"index":00', b'"index":0'),
    "another kind": spelled(b"reasoning", b'text"'),
    "half a frame": lambda made: made[: len(made) // 2],
    "half a frame and a blank line": lambda made: made[: len(made) // 2] + b"\n\n",
    "carriage returns": lambda made: made.replace(b"\n", b"\r\n"),
    "a comment": lambda made: b": ping\n\n" + made,
    "a comment inside": lambda made: b": ping\n" + made,
    "an id": lambda made: b"id: 7\n" + made,
    "blank lines": lambda made: b"\n\n\n" + made,
    "no space": lambda made: made.replace(b": ", b":", 1),
    "a bare document": lambda made: made.removeprefix(b"event: text\n").removeprefix(b"data: "),
    "a bare document without an end": lambda made: made.removeprefix(b"data: ").rstrip(),
    "the end of the data": lambda made: b"data: [DONE]\n\n" + made,
    "two documents": lambda made: made[:-1] + b"\n" + made,
    "the frame twice": lambda made: made + made,
    "nothing": lambda made: made,
}


@pytest.mark.parametrize("cls", DECODERS)
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_frame_in_a_run(damage, cls):
    """
    The same events, notes and ids, whether the run came at once, in two chunks or frame by frame, in every style.
    """
    for style in STYLES:
        damaged = damage(written(noisy(20, style), cls))
        frames = [*run(0, 12, cls, style), damaged, *run(30, 6, cls, style), damaged, *run(40, 6, cls, style)]
        body = b"".join(frames)
        at = body.index(damaged)

        for chunks in ([body], frames, [body[:at], body[at:]], [body[: at + 1], body[at + 1 :]]):
            fast, plain = both(cls, chunks)
            assert (style, plain) == (style, fast)


ROLE = "a role that is longer than most"


@pytest.mark.parametrize("cls", DECODERS)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("first", [5, 9])
@pytest.mark.parametrize("order", [1, -1])
def test_two_frames_of_other_kinds_in_a_run(order, first, style, cls):
    """
    The run ends before the first of them: another item, or another kind with the same length.
    """
    events = [{"type": "text", "delta": {"text": "a"}, **STYLES[style](at), "role": ROLE} for at in range(30)]
    for at, event in enumerate(events):
        event["index"] = int(at == first)
    events[14 - first]["type"] = "quiz"
    frames = [written(dict(list(event.items())[::order]), cls) for event in events]

    fast, plain = both(cls, [b"".join(frames)])
    assert plain == fast


@pytest.mark.parametrize("cls", DECODERS)
@pytest.mark.parametrize("style", STYLES)
def test_a_border_at_every_byte(style, cls):
    """
    A chunk may end anywhere in a run, and in the frames of another kind inside it.
    """
    other = [written(padded.delta("reasoning", "b"), cls), written({"type": "end"}, cls)]
    body = b"".join([*run(0, 6, cls, style), other[0], *run(10, 3, cls, style), *other])
    _, whole = both(cls, [body])

    for at in range(len(body) + 1):
        made = cls("m")
        found = made.feed(body[:at]) + made.feed(body[at:])
        assert whole[0] == [found, made.close()]
        assert whole[-1] == counted(made)


INTERACTION = [
    *[C(), S(0, mo()), *[D(0, text("é"))] * 5, X(0), S(1, fc()), *[D(1, args(each)) for each in "[1,2]"], X(1)],
    *[{**D(2, text("a")), "event_id": f"e{at}"} for at in (0, 1, 2, 3, 4, 3, 5)],
]


@pytest.mark.parametrize(("line_end", "step"), [(b"\n", 1), (b"\r\n", 5), (b"\r", 5)])
def test_a_border_at_every_byte_of_an_interaction(line_end, step):
    """
    So may those of a real wire, with each kind of line end.
    """
    body = stream(*INTERACTION).replace(b"\n", line_end)
    _, whole = both(GeminiInteractionsDecoder, [body])

    for at in range(0, len(body) + 1, step):
        made = GeminiInteractionsDecoder("m")
        found = made.feed(body[:at]) + made.feed(body[at:])
        assert whole[0] == [found, made.close()]
        assert whole[-1] == (made.cursor, made.last_event_id)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("longest", [120, 200, 4000])
def test_a_frame_that_is_too_long_in_a_run(longest, style):
    """
    The answer fails at the same frame, and what came before it is kept.
    """

    class Short(PaddedDecoder):
        max_frame_bytes = longest

    lengths = [*[5] * 8, longest - 100, 5, longest - 60, 5, longest, 5, 5, longest + 1, 5]
    frames = [written(noisy(at, style, "y" * length)) for at, length in enumerate(lengths)]

    for chunks in ([b"".join(frames)], frames):
        fast, plain = both(Short, chunks)
        assert plain == fast


@pytest.mark.parametrize("style", STYLES)
def test_items_in_turns(style):
    """
    Frames of two items that alternate, alone and in groups.
    """
    pattern = [0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1]
    frames = [written({**noisy(at, style), "index": index}) for at, index in enumerate(pattern * 3)]

    for chunks in ([b"".join(frames)], frames):
        fast, plain = both(PaddedDecoder, chunks)
        assert plain == fast


def test_a_run_without_msgspec(monkeypatch):
    """
    The standard library reads a run as msgspec does.
    """
    monkeypatch.setattr("assistant_events.adapters.fast_path.string_reader", lambda: read_string)
    monkeypatch.setattr("assistant_events.adapters.fast_path.strings_reader", lambda: read_strings)
    for damage in DAMAGE.values():
        frames = run(0, 12, PaddedDecoder, "an id")
        damaged = damage(written(noisy(20, "an id")))
        fast, plain = both(PaddedDecoder, [b"".join([*frames, damaged, *run(30, 6, PaddedDecoder, "an id")])])
        assert plain == fast


STRINGS = {
    b'["a",\r"b"]': ["a", "b"],
    b"[]": [],
    b'["a",1]': None,
    b'["a",]': None,
    b'["a" "b"]': None,
    b'["a\r"]': None,
    rb'["\ud83d\ude80"]': ["🚀"],
    rb'["\ud83d",' + b"\r" + rb'"\ude80"]': None,
    rb'["\ude80"]': None,
    b'["\xff"]': None,
    b'{"a":1}': None,
    b'"a"': None,
}


@pytest.mark.parametrize("read", [json_io.strings_reader(), read_strings], ids=["msgspec", "standard"])
@pytest.mark.parametrize(("data", "expected"), STRINGS.items(), ids=map(repr, STRINGS))
def test_arrays_of_strings(data, expected, read):
    """
    Nothing but an array of strings of valid text is read.
    """
    if expected is not None:
        assert expected == read(data)
    else:
        with pytest.raises(ValueError, match=r"."):
            read(data)
