"""
Documents for browsers: places in UTF-16 units, and nothing that may not leave.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import (
    Citation,
    CompactionDelta,
    CompactionStarted,
    Frame,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    Record,
    StepRestarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolInputDelta,
    ToolInputStarted,
    UnknownEvent,
    fold,
    redact,
)
from assistant_events.converters import structure, unstructure
from assistant_events.events import Event
from assistant_events.outward import DocumentWriter
from assistant_events.testing import Call, answer, records
from tests.drawn import sessions

NOW = datetime(2026, 11, 24, 1, tzinfo=UTC)


def units(text):
    """
    Return the number of UTF-16 units of a text.
    """
    return len(text.encode("utf-16-le")) // 2


def delta(offset, text, message_id="a1"):
    return TextDelta(message_id=message_id, offset=offset, delta=text)


def offsets(writer, *deltas):
    return [writer.write(each)["offset"] for each in deltas]


@given(sessions())
def test_each_delta_continues_the_text_in_units(events):
    """
    The offset of every delta is the number of units before it, in any session.
    """
    writer = DocumentWriter()
    texts = {}
    for event in events:
        document = writer.write(event)
        kind, _, what = event.type.rpartition(".")
        address = (event.message_id, kind, getattr(event, "call_id", None))
        if what == "started":
            texts[address] = ""
        elif what == "delta" and isinstance(event.delta, str):
            assert len(texts[address]) == event.offset
            assert units(texts[address]) == document["offset"]
            texts[address] += event.delta


@given(sessions(), st.data())
def test_a_reader_may_join_anywhere(events, data):
    """
    A writer that continues a transcript writes what the one from the beginning writes.
    """
    at = data.draw(st.integers(0, len(events)))
    whole = DocumentWriter()
    documents = [whole.write(event) for event in events]
    rest = DocumentWriter(fold(events[:at]))
    joined = DocumentWriter()
    joined.snapshot(fold(events[:at]))

    assert documents[at:] == [rest.write(event) for event in events[at:]]
    assert documents[at:] == [joined.write(event) for event in events[at:]]


@given(sessions())
def test_documents_are_redacted(events):
    """
    Beside offsets and citations, a document is that of the redacted event, and can be read again.
    """
    writer = DocumentWriter()
    for event in events:
        document, plain = writer.write(event), unstructure(redact(event))

        structure(document, Event)
        for moved in ("offset", "citations"):
            assert document.pop(moved, None) is not None or moved not in plain
            plain.pop(moved, None)
        assert plain == document


def test_offsets():
    """
    Characters outside of the basic plane count twice; a repeated and a partly new delta find their place.
    """
    writer = DocumentWriter()

    assert [0, 3, 4, 1, 3, 7] == offsets(
        writer, delta(0, "a😀"), delta(2, "b"), delta(3, "😀c"), delta(1, "😀b"), delta(2, "b😀cd"), delta(5, "d")
    )
    assert [8, 9] == offsets(writer, delta(6, "e"), delta(7, "f"))


def test_a_delta_that_comes_twice():
    """
    Its characters count once, also where it ends with the text.
    """
    twice = delta(0, "a😀"), delta(1, "😀"), delta(2, "b"), delta(3, "😀"), delta(4, "x")

    assert [0, 1, 3, 4, 6] == offsets(DocumentWriter(), *twice)


def test_what_a_browser_gets_from_another_writer():
    """
    Its deltas are counted, in frames, records and alone; what it ends is not continued.
    """
    writer = DocumentWriter()
    writer.skip(Frame(session_id="s", after=1, events=(delta(0, "😀"),)))
    writer.skip(delta(1, "😀"))

    assert [4] == offsets(writer, delta(2, "x"))

    [ended] = records([TextEnded(message_id="a1", text="😀😀x")])
    writer.skip(ended)

    assert [0, 1] == offsets(writer, delta(0, "y"), delta(1, "z"))


def test_a_gap_stays_a_gap():
    """
    After a delta that was lost, offsets are beyond what the browser has.
    """
    writer = DocumentWriter()

    lost = delta(0, "😀"), delta(5, "x"), delta(6, "😀"), delta(1, "y"), delta(7, "z")
    assert [0, 6, 7, 2, 8] == offsets(writer, *lost)


def test_the_last_character_of_one_unit():
    """
    Only those behind it have two.
    """
    assert [0, 1, 3] == offsets(DocumentWriter(), delta(0, "\uffff"), delta(1, "\U00010000"), delta(2, "x"))


def test_a_snapshot_replaces_what_is_open():
    """
    A text that begins behind it begins at 0.
    """
    writer = DocumentWriter()
    writer.write(delta(0, "😀"))
    writer.snapshot(fold(answer("x")[:1]))

    assert [0, 1] == offsets(writer, delta(0, "x"), delta(1, "y"))

    writer.snapshot(fold(answer("😀")[:3]))

    assert [2] == offsets(writer, delta(1, "x"))


def test_what_a_browser_has_is_counted():
    """
    Of a transcript, the texts that are open; one that has ended is not continued.
    """
    about, call = {"message_id": "a1"}, {"message_id": "a1", "call_id": "c1"}
    begun = answer("😀😀")[:4]
    open_ = [
        ReasoningDelta(**about, offset=0, delta="😀"),
        ToolInputStarted(**call, name="t"),
        ToolInputDelta(**call, offset=0, delta="😀😀😀"),
    ]
    more = [
        TextDelta(**about, offset=0, delta="x"),
        TextDelta(**about, offset=1, delta="x"),
        ReasoningDelta(**about, offset=1, delta="x"),
        ToolInputDelta(**call, offset=3, delta="x"),
    ]

    assert [0, 1] == offsets(DocumentWriter(fold(begun)), *more[:2])
    transcript = fold([*begun, ReasoningStarted(**about), *open_, TextStarted(**about)])
    assert [0, 1, 2, 6] == offsets(DocumentWriter(transcript), *more)
    compaction = [
        CompactionStarted(message_id="k1", reason="auto"),
        CompactionDelta(message_id="k1", offset=0, delta="😀"),
    ]
    assert [2] == offsets(DocumentWriter(fold(compaction)), CompactionDelta(message_id="k1", offset=1, delta="x"))


def test_each_fragment_counts_for_itself():
    """
    Messages, calls and the next fragment of a kind begin at 0, and so does a message that starts over.
    """
    writer = DocumentWriter()
    call = {"message_id": "a1", "call_id": "text"}
    writer.write(ToolInputStarted(name="t", **call))

    assert [0, 0] == offsets(writer, delta(0, "😀"), ToolInputDelta(offset=0, delta="😀😀", **call))
    assert [0, 2, 4] == offsets(writer, delta(0, "x", "a2"), delta(1, "y"), ToolInputDelta(offset=2, delta="z", **call))
    writer.write(TextEnded(message_id="a1", text="😀y"))
    assert [0, 2, 5] == offsets(writer, delta(0, "😀"), delta(1, "y"), ToolInputDelta(offset=3, delta="z", **call))
    writer.write(StepRestarted(message_id="a1", reason="cut"))
    assert [0, 1, 2] == offsets(writer, delta(0, "xy"), delta(1, "y"), delta(2, "z"))
    writer.write(ToolInputDelta(offset=0, delta="😀", **call))
    other = {"message_id": "a1", "call_id": "other"}
    assert [0, 1] == offsets(writer, *[ToolInputDelta(offset=at, delta="x", **other) for at in (0, 1)])
    thoughts = [ReasoningDelta(message_id="a1", offset=at, delta=text) for at, text in ((0, "😀"), (1, "y"), (0, "x"))]
    assert [0, 2] == offsets(writer, *thoughts[:2])
    writer.write(ReasoningEnded(message_id="a1", text="😀y"))
    assert [0, 1] == offsets(writer, thoughts[2], thoughts[1])


@pytest.mark.parametrize("way", ["event", "record", "snapshot"])
def test_places_of_citations(way):
    """
    A citation covers the same characters in units, in an event, a record and a snapshot.
    """
    citations = [Citation(start=1, end=3), Citation(start=3, end=None), Citation(url="u")]
    ended = TextEnded(message_id="a1", text="a😀b😀", citations=citations)
    if way == "event":
        found = DocumentWriter().write(ended)
    elif way == "record":
        found = DocumentWriter().write(Record(session_id="s", seq=1, at=NOW, event=ended))["event"]
    else:
        [start, *_] = answer("x")
        transcript = fold([start, TextStarted(message_id=start.message_id), ended])
        found = DocumentWriter().snapshot(transcript)["messages"][0]["parts"][0]

    assert [{"start": 1, "end": 4}, {"start": 4}, {"url": "u"}] == found["citations"]


def test_kinds():
    """
    Records, frames and snapshots have their kind in `type`; the meta of a record stays behind.
    """
    writer = DocumentWriter()
    started = TextStarted(message_id="a1")
    record = writer.write(Record(session_id="s", seq=2, at=NOW, event=started, meta={"mine": 1}))
    frame = writer.write(Frame(session_id="s", after=2, events=[delta(0, "😀"), delta(1, "x")]))

    assert record == {
        "type": "record",
        "session_id": "s",
        "seq": 2,
        "at": "2026-11-24T01:00:00Z",
        "event": {"type": "text.started", "v": 1, "message_id": "a1"},
    }
    assert ("frame", 2, [0, 2]) == (frame["type"], frame["after"], [each["offset"] for each in frame["events"]])
    assert {"type": "snapshot", "v": 1, "messages": [], "seq": 0, "rewound": []} == writer.snapshot(fold([]))


def test_nothing_leaves():
    """
    No state is in any document: neither in events of an answer, nor in those that are unknown, nor in a snapshot.
    """
    events = [
        *answer("Hi", calls=[Call("t", state={"id": "canary"})]),
        UnknownEvent(type="x", version=1, data={"type": "x", "secret": "canary"}),
    ]
    log = records(events)
    writer = DocumentWriter()
    documents = [*map(writer.write, events), *map(writer.write, log), writer.snapshot(fold(log))]

    assert "canary" not in json.dumps(documents)


def test_other_things_are_refused():
    """
    A part is not for this writer.
    """
    with pytest.raises(TypeError, match="expected an event, record, frame"):
        DocumentWriter().write("text")
