"""
Cases 78 to 83 of the wire reference, and the framings by themselves.
"""

import itertools
import json
import random
import tracemalloc
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant_events import fold
from assistant_events.adapters import JsonArray, JsonLines, Sse, frame_reader, framing
from assistant_events.adapters.framing import MAX_FRAME_BYTES, MAX_TAIL
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder

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


TOGETHER = {
    "data": (b"data: 1\n\ndata: 2\n\n", [b"1", b"2"]),
    "without a space": (b"data:1\n\ndata:2\n\n", [b"1", b"2"]),
    "a space in some": (b"data: 1\n\ndata:2\n\ndata:  3\n\n", [b"1", b"2", b" 3"]),
    "another field": (b"data: 1\n\nxdata: 2\n\ndata: 3\n\n", [b"1", b"3"]),
    "another field, and no space": (b"data:1\n\nxdata: 2\n\n", [b"1"]),
    "a field in the data": (b"data: data: 1\n\ndata: 2\n\n", [b"data: 1", b"2"]),
    "two lines of data": (b"data: 1\ndata: 2\n\ndata: 3\n\n", [b"1", b"2", b"3"]),
    "names": (b"event: a\ndata: 1\n\nevent: b\ndata:2\n\n", [b"1", b"2"]),
    "a name alone": (b"event: a\ndata: 1\n\nxevent: b\ndata: 2\n\n", [b"1", b"2"]),
    "a name in the data": (
        b'event: a\ndata: 1\n\ndata: ["event: b",\ndata: 2]\n\n',
        [b"1", b'["event: b",\n2]'],
    ),
    "one event": (b"data:1\n\n", [b"1"]),
    "a comment before a text": (b": c\ndata: x\n\n", [b"x"]),
}


@pytest.mark.parametrize(("body", "payloads"), TOGETHER.values(), ids=TOGETHER)
def test_events_that_come_together(body, payloads):
    """
    A field has its name at the beginning of the line, and one space after its colon is not part of the value.
    """
    made = Sse()

    assert payloads == made.feed(body)
    made = Sse()
    assert payloads == [each for at in range(len(body)) for each in made.feed(body[at : at + 1])]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"], ids=["none", "LF", "CR", "CRLF"])
def test_c79_last_frame_without_blank_line(end):
    """
    The end of the input ends an event that is whole.
    """
    body = stream(C(), S(0, mo()), D(0, text("a")), X(0), K())

    assert [started(), *text_of("a"), ended()] == durable(body.removesuffix(b"\n\n") + end)


def test_c79_last_frame_that_is_not_whole():
    """
    Half an event is not returned.
    """
    found = durable(stream(C(), S(0, mo()), D(0, text("a")), X(0), K())[:-10])
    made = Sse()
    made.feed(b'data: {"a":')

    assert "step.failed" == found[-1].type
    assert [] == made.close()


def test_a_last_mark_without_blank_line():
    """
    The mark needs no blank line, though it is not JSON.
    """
    made = Sse()
    made.feed(b"data: [DONE]")

    assert [b"[DONE]"] == made.close()


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
    Other lines change nothing, wherever the bytes are cut.
    """
    body = dress(PLAIN)

    assert EXPECTED == fed([body])
    for at in range(0, len(body), 7):
        assert EXPECTED == fed([body[:at], body[at:]])


def test_c80_a_mark_is_skipped_byte_by_byte():
    """
    A byte order mark may come in pieces.
    """
    assert EXPECTED == fed([b"\xef", b"", b"\xbb", b"\xbf" + stream(*WIRE, named=False)])
    assert ([b"x"], "") == whole(b"\xef\xbb\xbfdata: x\n\n")


def test_c80_data_in_two_lines():
    """
    Lines of data are joined by a line feed.
    """
    assert ([b'{"a":\n1}'], "") == whole(b'data: {"a":\ndata: 1}\n\n')


def test_c81_done_without_completed():
    """
    The mark is not an end: an answer without its terminal event is cut.
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
    A frame that is not JSON is left out and noted; the answer continues.
    """
    body = stream(C(), S(0, th(summary="t")), X(0)) + b"data: " + bad + b"\n\n" + stream(S(1, mo("a")), X(1), K())

    assert [started(), *reasoning_of("t"), *text_of("a", 1), ended()] == durable(body)
    assert ["bad-json"] == codes(body)


@pytest.mark.parametrize("bad", [b"[1]", b"1", b'"a"', b"null", b"true"])
def test_c83_json_that_is_no_object(bad):
    """
    So is a frame that is not an object.
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


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("raw", ["\x1b[31m", "\x00\x1f", "\t", '\\\\\t\\"'], ids=["escape", "NUL", "tab", "quote"])
def test_control_characters_in_strings(raw, fast):
    """
    A frame whose server has left them as they are is read: so are escapes of a terminal in code (pi#4446).

    The text of the frame was lost.
    """
    body = stream(C(), S(0, mo()), *[D(0, text("aXb"))] * 12, X(0), K()).replace(b"X", raw.encode())
    made = decoder()
    made.fast = fast
    found = [event for event in made.feed(body) if event.durable]

    assert text_of(f"a{json.loads(f'{chr(34)}{raw}{chr(34)}', strict=False)}b" * 12) == found[1:-1]
    assert [] == made.notes


@pytest.mark.parametrize(
    "bad", ['{"a":\x0b1}', '{"a":"\\\t"}', '{"a":"\t'], ids=["outside", "behind a backslash", "cut"]
)
def test_control_characters_elsewhere(bad):
    """
    A frame with one is left out and noted, as any other that is not JSON.
    """
    assert ["bad-json"] == codes(stream(C()) + b"data: " + bad.encode() + b"\n\n" + stream(K()))


def test_a_string_over_two_lines_of_data():
    """
    The lines of data are joined by a line feed, which belongs to the string.
    """
    body = stream(C(), S(0, mo()), D(0, text("aXb")), X(0), K()).replace(b"X", b"\ndata: ")

    assert text_of("a\nb") == durable(body)[1:-1]


# -- framings by themselves


def test_text_after_the_last_frame_is_kept():
    """
    A bare JSON document after a cut is not an event, but may have the reason.
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


def test_a_name_that_is_no_utf8():
    """
    Its bytes become U+FFFD, as the standard has it: it is not the name without them.
    """
    made = Sse()
    [payload] = made.feed(b"event: err\xffor\ndata: {}\n\n")

    assert "err\ufffdor" == made.name(payload)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_around_a_payload(end):
    """
    Of equal payloads each has its own name before it, and the line ends as they came.
    """
    made = Sse()
    made.feed("".join([f"event: {name}{end}data: {{}}{end}{end}" for name in ("one", "two")]).encode())

    assert (f"event: two{end}data: ".encode(), f"{end}{end}".encode()) == made.around(b"{}", "two")
    assert made.around(b"{}", "three") is None


@pytest.mark.parametrize("piece", [1, 5, 100])
def test_a_field_with_an_error(piece):
    """
    It is data under the name `error`, as llama.cpp sent it until September 2025.
    """
    made, body = Sse(), b'data: 1\n\nerror: {"code":400}\n\ndata: [DONE]\n\n'
    found = [
        (payload, made.name(payload))
        for start in range(0, len(body), piece)
        for payload in made.feed(body[start : start + piece])
    ]

    assert [(b"1", None), (b'{"code":400}', "error"), (b"[DONE]", None)] == found


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
        b"error: 4",
        b"error",
        b"{",
        b"xdata: 1",
        b"xevent: a",
    ]
)


def with_names(made, payloads):
    """
    Return payloads with their names, which those under two bytes do not have for certain.
    """
    return [(payload, made.name(payload) if len(payload) > 1 else None) for payload in payloads]


@pytest.mark.parametrize("made", [Sse, JsonLines])
@pytest.mark.parametrize("before", [b"data: 1\n\n", b"data: 1\r\n\r\n"], ids=["lf", "crlf"])
@given(
    lines=st.lists(LINES, min_size=1, max_size=4), ends=st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=8)
)
def test_the_next_frame_is_what_feed_takes(made, before, lines, ends):
    """
    Where a framing knows the next frame, its payload and its name are those of the same bytes that are fed.
    """
    data = b"".join(line + end for line, end in zip([*lines, b""], ends, strict=False)) + b"data: 2\n\n"
    fed, asked = made(), made()
    assert fed.feed(before) == asked.feed(before)
    found = asked.next(data, 0) if asked.idle else None
    if found is not None:
        payload, end = found

        assert [payload] == (payloads := fed.feed(data[:end]))
        assert fed.idle
        assert with_names(fed, payloads) == with_names(asked, [payload])
        assert fed.around(payloads[0]) == asked.around(payload)


def test_the_next_frame_of_the_usual_lines():
    """
    It is known with and without a name, with both line ends, and anywhere in the bytes.
    """
    for end in (b"\n", b"\r\n"):
        made, frame = Sse(), b"event: a\ndata: {}\n\n".replace(b"\n", end)
        made.feed(frame)

        assert (b"{}", len(frame) + 2) == made.next(b"xx" + frame + frame, 2)
        assert (b"{}", len(frame) - len(b"event: a" + end)) == made.next(frame.removeprefix(b"event: a" + end), 0)
        assert None is made.next(frame[:-1], 0)


@given(st.lists(LINES), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(0, 200)))
def test_the_quick_way_equals_the_careful_one(lines, end, places):
    """
    However lines are combined and cut, payloads and names equal those of the careful reading.
    """
    body = end.join(lines)
    careful = Sse()
    careful._payloads, careful._names = [], []
    careful._careful(b"\n".join(lines), whole=True)
    last = body.rfind(end + end)
    made, found = Sse(), []
    cuts = sorted({min(place, len(body)) for place in places})
    for start, stop in itertools.pairwise([0, *cuts, len(body)]):
        found += with_names(made, made.feed(body[start:stop]))
    closed = made.close()
    expected = with_names(careful, careful._payloads)

    assert expected[: len(found)] == found
    assert len(found) + len(closed) <= len(expected)
    assert last >= 0 or not found


@given(st.lists(st.sampled_from([b'{"a":1}', b"{", b"", b" ", b"1", b"\r"])), st.integers(0, 40), st.booleans())
def test_json_lines(lines, at, ended):
    """
    Each line is a payload, blank ones are skipped, and the last needs no line end when it is complete.
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


ENDS_OF_LINES = {
    "a LF that begins a piece with CR": ([b"data: [1,\n", b"\ndata: 2]\r\n\r\n"], [b"[1,", b"2]"]),
    "nothing between CR and LF": ([b"data: [1,\r", b"", b"\ndata: 2]\r\r"], [b"[1,\n2]"]),
    "a LF of its own after CR and LF": ([b"data: [1,\r", b"\n", b"\ndata: 2]\n\n"], [b"[1,", b"2]"]),
}


@pytest.mark.parametrize(("pieces", "payloads"), ENDS_OF_LINES.values(), ids=ENDS_OF_LINES)
def test_ends_of_lines_between_pieces(pieces, payloads):
    """
    One LF is skipped after a CR at the end of a piece, and no other.
    """
    made = Sse()

    assert payloads == [payload for piece in pieces for payload in made.feed(piece)]


def test_json_lines_are_idle_between_lines():
    """
    The next byte begins a line, or does not.
    """
    made = JsonLines()
    states = []
    for piece in (b"", b'{"a":1}\n', b'{"b":1}\n{"c', b'":1', b"}\n"):
        made.feed(piece)
        states.append(made.idle)

    assert [True, True, False, False, True] == states


# -- how much of a frame is taken

LIMIT = 20
LENGTHS = {
    # name: (framing, bytes, payloads, whether a frame is too long)
    "as long as it may be": (Sse, b"event: a\ndata: 234567\n\ndata: 1\n\n", [b"234567", b"1"], False),
    "one byte longer": (Sse, b"data: 0\n\nevent: a\ndata: 2345678\n\ndata: 1\n\n", [b"0"], True),
    "several lines": (Sse, b"data: 1\ndata: 2\ndata\ndata:\ndata: 3\n\ndata: 1\n\n", [], True),
    "a long name": (Sse, b"event: abcdefghijklmno\ndata\n\ndata: 1\n\n", [], True),
    "comments": (Sse, b": 1234567890\ndata: 1\n: 1234567890\nid: 1234567890\n\n", [b"1"], False),
    "a long line of no field": (Sse, b"database: 1234567890123456\ndata: 1\n\n", [b"1"], False),
    "what is no event": (Sse, b"{1234567890123456789\ndata: 1\n\n", [b"1"], False),
    "a long document that is no event": (Sse, b"{12345678901234567890\ndata: 1\n\n", [b"1"], False),
    "a line that begins like a field": (Sse, b"eventful: 1234567890123\ndata: 1\n\n", [b"1"], False),
    "an error document before it": (Sse, b"{\nevent: a\ndata: 2345678\n\n", [], True),
    "without an end": (Sse, b"data: 0\n\ndata: 12345678901234567890", [b"0"], True),
    "a line as long as it may be": (JsonLines, b"12345678901234567890\n1\n", [b"12345678901234567890", b"1"], False),
    "a line that is longer": (JsonLines, b"0\n123456789012345678901\n1\n", [b"0"], True),
    "a line without an end": (JsonLines, b"0\n123456789012345678901", [b"0"], True),
}


@pytest.mark.parametrize("piece", [1, 3, 100])
@pytest.mark.parametrize(("made", "body", "payloads", "too_long"), LENGTHS.values(), ids=LENGTHS)
def test_how_long_a_frame_may_be(made, body, payloads, too_long, piece):
    """
    However the bytes are cut, frames before one that is too long are returned, and none after it.
    """
    with patch.object(framing, "_SETTLE_AT", 1):
        reader = made(LIMIT)
        found = [each for at in range(0, len(body), piece) for each in reader.feed(body[at : at + piece])]
        found += reader.close()

    assert payloads == found
    assert too_long is reader.too_long
    assert b"" == reader.release(LIMIT)
    assert not (too_long and (reader.idle or reader.tail))


@given(st.lists(LINES), st.lists(st.integers(0, 200)), st.integers(1, 40))
@example([b": x", b'{"a":1}'], [6], 40)
def test_what_waits_is_made_short_without_loss(lines, places, limit):
    """
    Lines that belong to no frame are forgotten while it is not whole; that changes nothing, whatever the bounds are.
    """
    body = b"\n".join(lines)
    cuts = sorted({min(place, len(body)) for place in places})

    def read(settle_at):
        with patch.object(framing, "_SETTLE_AT", settle_at):
            made, found = Sse(limit), []
            for start, stop in itertools.pairwise([0, *cuts, len(body)]):
                found += with_names(made, made.feed(body[start:stop]))
            return found + with_names(made, made.close()), made.tail, made.too_long

    assert read(1 << 16) == read(0)


COMMENTS = {
    "lines": b": ping\n",
    "lines apart": b": ping\n\n",
    "lines of CR": b": ping\r",
    "one line": b":ping   ",
    "other fields": b"retry: 1\n",
    "one other field": b"idididid",
    "errors": b"{\n",
}


@pytest.mark.parametrize("line", COMMENTS.values(), ids=COMMENTS)
def test_comments_take_no_memory(line):
    """
    What belongs to no frame is not kept, however much of it comes before the next one.
    """
    chunk = line * ((1 << 15) // len(line))
    made = decoder()
    made.feed(stream(C(), S(0, mo())) + b"data: ")
    made.reconnect()
    tracemalloc.start()
    try:
        for _ in range(20):
            made.feed(bytes(bytearray(chunk)))  # a copy, as each piece of a stream has bytes of its own
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak <= 384 << 10
    assert [] == made.feed(b"\n\n" + stream(S(0, mo())))


def test_many_short_lines_in_one_piece_take_little_memory():
    """
    A large piece is taken apart bit by bit.
    """
    body = b": c\n\n" * (1 << 15)
    made = decoder()
    with patch.object(frame_reader, "_PIECE", 1 << 14):
        tracemalloc.start()
        try:
            made.feed(body)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert peak <= 1 << 18


def test_short_lines_of_one_frame_take_little_memory():
    """
    A frame of many short lines that waits for its end takes a few times the room of its bytes.
    """
    limit = 1 << 18
    framing = Sse(max_frame_bytes=limit)
    tracemalloc.start()
    try:
        while not framing.too_long:
            framing.feed(bytes(bytearray(b"data: x\n" * 1000)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak <= 8 * limit


class Short(GeminiInteractionsDecoder):
    """
    Takes only short frames.
    """

    max_frame_bytes = 400


class ShortAndPlain(Short):
    fast = False


TOO_LONG = stream(C(), S(0, mo()), *[D(0, text("é" * size)) for size in range(1, 400)], X(0), K())


@pytest.mark.parametrize("piece", [1, 7, 100, 350, 10_000, 1 << 20])
@pytest.mark.parametrize("made", [Short, ShortAndPlain])
def test_a_frame_that_is_too_long_fails_the_step(made, piece):
    """
    Earlier content is kept, and the error names the bound; fast or plain, however the bytes are cut.
    """
    reader = made("m")
    found = [event for at in range(0, len(TOO_LONG), piece) for event in reader.feed(TOO_LONG[at : at + piece])]
    frames = TOO_LONG.split(b"\n\n")
    count = next(at for at, frame in enumerate(frames) if len(frame) - 1 > 400) - 2

    assert "é" * (count * (count + 1) // 2) == fold(found).last.text
    assert ("protocol", "a frame is longer than 400 bytes") == (reader.error.kind, reader.error.message)
    assert reader.terminal
    assert found[-1].run.id == "v1"
    assert ["long-frame"] == [note.code for note in reader.notes]
    assert [] == reader.close()


def test_a_frame_without_its_end_may_not_be_too_long_either():
    """
    It is counted when the body ends.
    """
    for made in (Short, ShortAndPlain):
        reader = made("m")
        reader.feed(stream(C(), S(0, mo())) + b"data: " + b" " * 400 + b"{}")
        reader.close()

        assert "a frame is longer than 400 bytes" == reader.error.message


def test_a_line_without_its_end_is_counted():
    """
    It is not waited for.
    """
    with patch.object(framing, "_SETTLE_AT", 1):
        made = Sse(LIMIT)
        made.feed(b"data: 12345678901234")
        assert not made.too_long
        made.feed(b"x" * LIMIT * 2)

    assert made.too_long


def test_frames_of_single_pieces_may_not_be_too_long_either():
    """
    A frame that comes alone is counted as well.
    """
    for made in (Short, ShortAndPlain):
        reader = made("m")
        frames = [frame + b"\n\n" for frame in TOO_LONG.split(b"\n\n")[:-1]]
        found = [event for frame in frames for event in reader.feed(frame)]

        assert "step.failed" == found[-1].type
        assert reader.error.kind == "protocol"


def test_the_usual_bound_is_64_mib():
    """
    The default bound is the documented one.
    """
    assert 64 * 1024 * 1024 == MAX_FRAME_BYTES == GeminiInteractionsDecoder.max_frame_bytes


# -- writing


@pytest.mark.parametrize(
    ("framing", "name", "payload", "expected"),
    [
        (Sse, "x", {"a": 1}, b'event: x\ndata: {"a":1}\n\n'),
        (Sse, None, {"a": 1}, b'data: {"a":1}\n\n'),
        (Sse, "done", "[DONE]", b"event: done\ndata: [DONE]\n\n"),
        (JsonLines, None, {"a": 1}, b'{"a":1}\n'),
        (JsonArray, None, {"a": 1}, b'{"a":1}\n,\n'),
        (Sse, None, {"a": "b\u0085c\u2028d\u2029é\r\n"}, b'data: {"a":"b\\u0085c\\u2028d\\u2029\xc3\xa9\\r\\n"}\n\n'),
        (JsonLines, None, {"a\ud83d": ["\ude00", "\\ud83d"]}, '{"a\ufffd":["\ufffd","\\\\ud83d"]}\n'.encode()),
    ],
    ids=["sse", "no name", "mark", "line", "object", "line ends of Unicode", "half of a pair"],
)
def test_frames_are_written(framing, name, payload, expected):
    """
    A framing writes what it reads: in one line, with Unicode line ends escaped, and half of a surrogate pair replaced.
    """
    assert expected == framing.frame(name, payload)


@given(st.dictionaries(st.text(), st.text()))
def test_what_is_written_is_read(payload):
    """
    What a framing writes is its own payload again.
    """
    for made in (Sse, JsonLines):
        assert [payload] == [json.loads(each) for each in made().feed(made.frame(None, payload))]


STARTS = {
    "half an event": (Sse, b"data: 1\n\nevent: a\ndata: {", b"event: a\ndata: {"),
    "nothing": (Sse, b"data: 1\n\n", b""),
    "too much": (Sse, b"data: 1\n\ndata: " + b"x" * 100, b""),
    "half a line end": (Sse, b"data: 1\n\nevent: a\r", b""),
    "half a mark": (Sse, b"\xef\xbb", b""),
    "half a line": (JsonLines, b"1\n{", b"{"),
    "too long a line": (JsonLines, b"1\n" + b"x" * 100, b""),
    "an object": (JsonArray, b"[{", b""),
}


@pytest.mark.parametrize(("framing", "data", "start"), STARTS.values(), ids=STARTS)
def test_the_start_of_a_frame_is_released(framing, data, start):
    """
    What is fed again gives the same payloads; nothing is released where the next bytes depend on what came before.
    """
    rest = b"\n{}\n\n{}\n\n,data: {}\n\n"
    made, other = framing(), framing()
    made.feed(data)
    other.feed(data)
    released = made.release(50)

    assert start == released
    assert made.idle or not start
    assert other.feed(rest) == made.feed(released + rest)
