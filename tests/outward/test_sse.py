"""
Server-sent events: bytes, cursors, and items that are written once for several browsers.
"""

import json
import sys
from datetime import UTC, datetime, timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import (
    Frame,
    HistoryRewound,
    PromptSubmitted,
    Record,
    TextDelta,
    TextEnded,
    TextStarted,
    Transcript,
)
from assistant_events.outward import Cursor, DocumentWriter, SharedEvents, SseWriter, end_event, error_event
from tests.drawn import sessions

NOW = datetime(2026, 11, 24, 1, tzinfo=UTC)
STARTED = Record(session_id="s1", seq=1, at=NOW, event=TextStarted(message_id="a1"))


def frame(*deltas, after=1):
    """
    Return a frame of text deltas, each an offset and a text.
    """
    events = [TextDelta(message_id="a1", offset=offset, delta=text) for offset, text in deltas]
    return Frame(session_id="s1", after=after, events=events)


def offsets(written):
    """
    Return the offsets of the deltas in an event.
    """
    return [event["offset"] for event in json.loads(written.partition(b"data: ")[2])["events"]]


def test_a_record_has_its_cursor_as_id():
    """
    A record is one event: its id, one line of data, an empty line.
    """
    written = SseWriter().write(STARTED).decode()

    assert (
        'id: 1.97ff14312991-0\ndata: {"type":"record","session_id":"s1","seq":1,"at":"2026-11-24T01:00:00Z",'
        '"event":{"type":"text.started","v":1,"message_id":"a1"}}\n\n'
    ) == written


def test_a_frame_has_no_id():
    """
    A frame keeps the last id of the browser: it has no `id:` line at all.
    """
    written = SseWriter().write(frame((0, "a\nb\u2028c"))).decode()

    assert (
        'data: {"type":"frame","session_id":"s1","after":1,'
        '"events":[{"type":"text.delta","v":1,"message_id":"a1","offset":0,"delta":"a\\nb\u2028c"}]}\n\n'
    ) == written


def test_a_snapshot_has_the_seq_of_its_transcript():
    """
    A browser that is given a snapshot comes back with its seq, and where its last record is pruned with a mark, too.
    """
    pruned = Cursor.of_pruned(7)

    assert SseWriter().snapshot(Transcript(seq=7)).startswith(b'id: 7\ndata: {"type":"snapshot",')
    assert SseWriter().snapshot(Transcript(seq=7), pruned).startswith(b"id: 7.000000000000-0\ndata: ")
    assert pruned == Cursor.parse("7.000000000000-0")


def test_the_last_events():
    """
    Only `end` and `error` have an `event:` line, and both have data, without which a browser drops them.
    """
    assert b'event: end\ndata: {"type":"end","seq":3}\n\n' == end_event(3)
    assert b'event: error\ndata: {"type":"error","message":"gone"}\n\n' == error_event("gone")


MARK = "5f3c0a9be21d"


@pytest.mark.parametrize(
    ("text", "seq", "mark"),
    [
        ("0", 0, None),
        ("17", 17, None),
        ("17.w1-3", 17, None),
        ("999999999999999999", 10**18 - 1, None),
        (f"17.{MARK}-0", 17, MARK),
        (f"17.{MARK}-3", 17, MARK),
        (f"17.{MARK}x-3", 17, None),
    ],
)
def test_cursors(text, seq, mark):
    """
    A cursor is the seq of a record, with or without its mark and the place of a frame.
    """
    cursor = Cursor.parse(text)

    assert (seq, mark) == (cursor.seq, cursor.mark)
    assert (f"{seq}.{mark}-0" if mark else f"{seq}") == str(cursor)


def test_the_mark_of_a_record():
    """
    The mark is of session, seq, time and message, so that no other log has it; the content does not matter.
    """
    at = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    record = Record(session_id="s1", seq=3, at=at, event=PromptSubmitted(message_id="u1", content="Hi"))
    mark = "ba021a642801"  # printf 's1\n3\n2026-01-02T03:04:05.000678+00:00\nu1' | b2sum -l 48
    others = [
        attrs.evolve(record, session_id="s2"),
        attrs.evolve(record, seq=4),
        attrs.evolve(record, at=at + timedelta(microseconds=1)),
        attrs.evolve(record, event=PromptSubmitted(message_id="u2", content="Hi")),
    ]

    assert Cursor(3, mark) == Cursor.of(record) == Cursor.parse(f"3.{mark}-0")
    assert Cursor.of(record) == Cursor.of(attrs.evolve(record, meta={"a": 1}, event=HistoryRewound(message_id="u1")))
    assert 5 == len({Cursor.of(each).mark for each in (record, *others)})
    assert 12 == len(Cursor.of(attrs.evolve(record, session_id="\ud800")).mark)
    assert SseWriter().write(record).startswith(f"id: 3.{mark}-0\n".encode())
    assert SseWriter().snapshot(Transcript(seq=3), Cursor.of(record)).startswith(f"id: 3.{mark}-0\n".encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-1",
        "1 ",
        "+1",
        "1.5",
        "1.w-",
        "one",
        "1\n",
        "٣",
        "1" * 19,
        "1.w-1.w-1",
        "0x1",
        "1e3",
        "null",
        "1-",
        "1-5f3c0a9be21d",
        "1.5f3c0a9be21d",
        ".5f3c0a9be21d-0",
    ],
)
def test_no_cursors(text):
    """
    Anything else is refused, with a sentence that does not repeat it.
    """
    with pytest.raises(
        ValueError, match=r"^expected a cursor: the id of an event, or the seq of a record, such as 17$"
    ):
        Cursor.parse(text)


@given(sessions(), st.data())
def test_what_others_have_written_fits(events, data):
    """
    Wherever the writer of another browser was first, a browser gets the documents of a writer of its own.
    """
    alone, writer = DocumentWriter(), DocumentWriter()
    for event in events:
        document = alone.write(event)
        if data.draw(st.booleans()):
            writer.skip(event)
        else:
            assert document == writer.write(event)


def test_an_item_is_written_once():
    """
    The second browser gets the same bytes object for the same item, and counts on from there.
    """
    shared = SharedEvents()
    first, second = SseWriter(shared), SseWriter(shared)
    wide = frame((0, "😀😀"))
    written = first.write(STARTED), first.write(wide)

    assert all(one is other for one, other in zip(written, (second.write(STARTED), second.write(wide)), strict=True))
    assert [4] == offsets(second.write(frame((2, "x"))))


def test_equal_items_are_not_the_same():
    """
    Only the very same item is shared: an equal frame may continue another fragment.
    """
    shared = SharedEvents()
    slow, fast = SseWriter(shared), SseWriter(shared)
    for writer in (slow, fast):
        writer.write(STARTED)
    fast.write(frame((0, "😀")))
    fast.write(Record(session_id="s1", seq=2, at=NOW, event=TextEnded(message_id="a1", text="😀")))
    fast.write(Record(session_id="s1", seq=3, at=NOW, event=TextStarted(message_id="a1")))

    assert [[0], [1]] == [offsets(fast.write(frame(each, after=3))) for each in ((0, "a"), (1, "b"))]
    assert [[0], [2]] == [offsets(slow.write(frame(each))) for each in ((0, "😀"), (1, "b"))]


def test_an_item_whose_bytes_are_kept():
    """
    It is kept, too: no other item gets its identity, and with that its bytes.
    """
    item = frame((0, "x"))
    before = sys.getrefcount(item)
    shared = SharedEvents()
    shared.add(item, b"x")

    assert before < sys.getrefcount(item)
    assert b"x" == shared.get(item)


def test_what_is_kept_is_bounded():
    """
    The oldest items are forgotten beyond a number of items and of bytes; the last one is kept in any case.
    """
    few, small = SharedEvents(max_items=2), SharedEvents(max_bytes=10)
    items = [frame((0, str(number))) for number in range(3)]
    for item in items:
        few.add(item, b"12345")
        small.add(item, b"12345")

    assert [None, b"12345", b"12345"] == [few.get(item) for item in items] == [small.get(item) for item in items]
    small.add(STARTED, b"x" * 11)
    assert [None, None, None, b"x" * 11] == [small.get(item) for item in (*items, STARTED)]
