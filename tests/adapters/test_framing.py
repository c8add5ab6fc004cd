"""
Cases 78 to 83 of the wire reference, and the framings by themselves.
"""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events.adapters import JsonLines, Sse
from assistant_events.adapters.framing import MAX_TAIL

from .notation import (
    DONE,
    C,
    D,
    K,
    S,
    X,
    args,
    codes,
    decoder,
    durable,
    ended,
    events,
    fc,
    interrupted,
    mo,
    notes,
    reasoning_of,
    signature,
    started,
    stream,
    summary,
    text,
    text_of,
    th,
)

WIRE = (
    *(C(), S(0, th()), D(0, summary("ð")), D(0, signature("A+/=")), X(0)),
    *(S(1, mo()), D(1, text("Hé")), D(1, text("🚀")), D(1, notes({"type": "url_citation", "url": "u"})), X(1)),
    *(S(2, fc()), D(2, args('{"a":')), D(2, args("1}")), X(2), K(), DONE),
)
PLAIN = stream(*WIRE)
EXPECTED = events(PLAIN)


def fed(chunks):
    made = decoder()
    found = [event for chunk in chunks for event in made.feed(chunk)]
    return found + made.close()


def whole(data, framing=Sse):
    """
    Return all payloads of these bytes, and the tail.
    """
    made = framing()
    return made.feed(data) + made.close(), made.tail


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_c78_every_split(end):
    """
    Wherever the bytes are cut, and whichever way lines end, the events are the same.
    """
    body = stream(*WIRE, end=end)

    for at in range(len(body) + 1):
        assert EXPECTED == fed([body[:at], body[at:]])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 50])
def test_c78_pieces_of_one_size(size, end):
    """
    So it is for many small pieces.
    """
    body = stream(*WIRE, end=end)

    assert EXPECTED == fed([body[at : at + size] for at in range(0, len(body), size)])


def test_c78_mixed_line_ends():
    """
    Every line may end in its own way.
    """
    choose = random.Random(78)
    for _ in range(50):
        lines = PLAIN.split(b"\n")
        body = b"".join(line + choose.choice((b"\n", b"\r\n")) for line in lines[:-1])

        at = choose.randrange(len(body))
        assert EXPECTED == fed([body[:at], body[at:]])


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"], ids=["none", "LF", "CR", "CRLF"])
def test_c79_last_frame_without_blank_line(end):
    """
    The end of the input ends an event that is whole.
    """
    body = stream(C(), S(0, mo()), D(0, text("a")), X(0), K())

    assert [started(), *text_of("a"), ended()] == durable(body.removesuffix(b"\n\n") + end)


def test_c79_last_frame_that_is_not_whole():
    """
    Half an event is none.
    """
    found = durable(stream(C(), S(0, mo()), D(0, text("a")), X(0), K())[:-10])

    assert "step.failed" == found[-1].type


DRESSED = {
    "data only": lambda body: stream(*WIRE, named=False),
    "comments": lambda body: body.replace(b"event:", b": keep-alive\n\n:\nevent:"),
    "id lines": lambda body: body.replace(b"event:", b"id: 7\nevent:"),
    "retry lines": lambda body: body.replace(b"event:", b"retry: 100\nevent:"),
    "unknown lines": lambda body: body.replace(b"event:", b"nonsense\nfield: x\nevent:"),
    "mark": lambda body: b"\xef\xbb\xbf" + body,
    "no spaces": lambda body: body.replace(b"event: ", b"event:").replace(b"data: ", b"data:"),
    "data first": lambda body: stream(*WIRE, named=False).replace(b"}\n\n", b"}\nevent: x\n\n"),
    "blank lines": lambda body: b"\n\n\n" + body.replace(b"\n\n", b"\n\n\n\n"),
    "wrong names": lambda body: body.replace(b"event: step", b"event: other"),
    "names without data": lambda body: body.replace(b"event:", b"event: ping\n\nevent:"),
}


@pytest.mark.parametrize("dress", DRESSED.values(), ids=DRESSED.keys())
def test_c80_other_lines(dress):
    """
    What stands around the data changes nothing, wherever it is cut.
    """
    body = dress(PLAIN)

    assert EXPECTED == fed([body])
    for at in range(0, len(body), 7):
        assert EXPECTED == fed([body[:at], body[at:]])


def test_c80_a_mark_is_skipped_byte_by_byte():
    """
    A byte order mark may come in pieces.
    """
    assert EXPECTED == fed([b"\xef", b"", b"\xbb", b"\xbf" + PLAIN])
    assert ([b"x"], "") == whole(b"\xef\xbb\xbfdata: x\n\n")


def test_c80_data_in_two_lines():
    """
    Lines of data are joined by a line feed.
    """
    assert ([b'{"a":\n1}'], "") == whole(b'data: {"a":\ndata: 1}\n\n')


def test_c81_done_without_completed():
    """
    The mark is no end: an answer without its terminal event is cut.
    """
    last = durable(stream(C(), S(0, mo()), D(0, text("a")), X(0), DONE))[-1]

    assert interrupted() == last.error


def test_c82_completed_without_done():
    """
    The terminal event is enough.
    """
    assert [started(), ended()] == durable(stream(C(), K()))


@pytest.mark.parametrize("bad", [b"{oops", b"{}}", b"NaN", b"\x00"], ids=["cut", "more", "NaN", "NUL"])
def test_c83_bad_json_mid_stream(bad):
    """
    A frame that is no JSON is left out and noted; the answer goes on to its end.
    """
    body = stream(C(), S(0, th(summary="t")), X(0)) + b"data: " + bad + b"\n\n" + stream(S(1, mo("a")), X(1), K())

    assert [started(), *reasoning_of("t"), *text_of("a", 1), ended()] == durable(body)
    assert ["bad-json"] == codes(body)


@pytest.mark.parametrize("bad", [b"[1]", b"1", b'"a"', b"null", b"true"])
def test_c83_json_that_is_no_object(bad):
    """
    So is a frame that is no object.
    """
    body = stream(C()) + b"data: " + bad + b"\n\n" + stream(K())

    assert [started(), ended()] == durable(body)
    assert ["no-object"] == codes(body)


def test_c83_bad_json_at_the_end():
    """
    The step fails when no valid end comes.
    """
    found = durable(stream(C(), S(0, mo("a")), X(0)) + b"data: {oops\n\n")

    assert text_of("a") == found[1:-1]
    assert interrupted() == found[-1].error


def test_bytes_that_are_no_utf8():
    """
    They become U+FFFD, as the standard wants it.
    """
    body = stream(C(), S(0, mo()), D(0, text("aXb")), X(0), K()).replace(b"aXb", b"a\xff\xc3b")

    assert text_of("a\ufffd\ufffdb") == durable(body)[1:-1]


# -- framings by themselves


def test_text_after_the_last_frame_is_kept():
    """
    A bare JSON document after a cut is no event, but may say why.
    """
    error = '[{\n"error": {\n"code": 503\n}\n}\n]\n'
    made = decoder()
    made.feed(stream(C()) + error.encode())
    made.close()

    assert error == made.tail
    assert ([b"x"], error) == whole(b"data: x\n\n" + error.encode())


def test_the_tail_is_bounded():
    """
    No more of it is kept than a page.
    """
    _, tail = whole(b'{"' + b"x" * (2 * MAX_TAIL) + b"\n")

    assert MAX_TAIL + 1 == len(tail)
    assert MAX_TAIL >= len(whole(b"{\n" * MAX_TAIL)[1])


def test_half_an_event_before_a_replay():
    """
    Where half an event runs into the next, the whole one is taken.
    """
    assert ([b'{"a":1}'], "") == whole(b'data: {"cut\ndata: {"a":1}\n\n')


def test_names_of_payloads():
    """
    The name beside a payload can be asked for; equal payloads have their own.
    """
    body = b"event: one\ndata: {}\n\ndata: {}\n\nevent: three\ndata: {}\n\n: end\n\n"
    for piece in (len(body), 1):
        made = Sse()
        names = [
            made.name(payload)
            for start in range(0, len(body), piece)
            for payload in made.feed(body[start : start + piece])
        ]

        assert ["one", None, "three"] == names
    assert None is made.name(b"of another")


def test_names_in_the_usual_lines():
    """
    So it is where all events have the usual lines.
    """
    made = Sse()
    named = made.feed(b"event: a\ndata: 1\n\nevent: b\ndata: 2\n\n")
    assert ["a", "b"] == [made.name(payload) for payload in named]
    bare = made.feed(b"data: 1\n\ndata: 2\n\n")
    assert [None, None] == [made.name(payload) for payload in bare]


LINES = st.sampled_from(
    [
        b"event: a",
        b"event:b",
        b"data: 1",
        b"data:2",
        b"data",
        b"data: [DONE]",
        b'data: {"a"',
        b"data:  3",
        b"",
        b"",
        b"",
        b": c",
        b"id: 1",
        b"{",
        b"xdata: 1",
        b"xevent: a",
    ]
)


@given(st.lists(LINES), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(0, 200)))
def test_the_quick_way_equals_the_careful_one(lines, end, places):
    """
    However lines stand together and are cut, the payloads and their names are those of one careful reading.
    """
    body = end.join(lines)
    careful = Sse()
    careful._payloads, careful._names = [], []
    careful._careful(b"\n".join(lines), whole=True)
    last = body.rfind(end + end)
    made, found = Sse(), []
    cuts = sorted({min(place, len(body)) for place in places})
    for start, stop in itertools.pairwise([0, *cuts, len(body)]):
        found += [(payload, made.name(payload)) for payload in made.feed(body[start:stop])]
    closed = made.close()
    expected = list(zip(careful._payloads, careful._names, strict=True))

    assert expected[: len(found)] == found
    assert len(found) + len(closed) <= len(expected)
    assert last >= 0 or not found


@given(st.lists(st.sampled_from([b'{"a":1}', b"{", b"", b" ", b"1", b"\r"])), st.integers(0, 40), st.booleans())
def test_json_lines(lines, at, ended):
    """
    Each line is a payload; blank ones are none, and the last needs no end when it is whole.
    """
    body = b"\n".join(lines) + (b"\n" if ended else b"")
    made = JsonLines()
    found = made.feed(body[:at]) + made.feed(body[at:])
    kept = [line.strip() for line in lines if line.strip()]
    if not ended and kept and lines[-1].strip() == b"{":
        kept.pop()

    assert kept == found + made.close()
    assert None is made.name(b"1")
    assert "" == made.tail
