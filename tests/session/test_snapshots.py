"""
Snapshots that a session stores: what they hold, and when they are due. Both faces.
"""

import logging
from contextlib import closing

import pytest

from assistant_events.errors import StoreError
from assistant_events.events import CompactionDelta, CompactionEnded, CompactionStarted, ToolProgress
from assistant_events.reducer import fold
from assistant_events.testing import Call, answer, compaction, durable, ids, prompt
from tests.session.scripted import ASKS, HELLO, Scripted, line, receive


def fill(session, count):
    """Append as many prompts, one at a time."""
    make = ids("u")
    for _ in range(count):
        session.prompt("hi", message_id=make())


def test_a_snapshot_is_what_the_records_fold_to(session, store):
    """
    An explicit snapshot covers all records so far.
    """
    session.append(prompt(), *durable(answer("Hello", reasoning="hm", calls=[Call("weather")])))
    session.snapshot()

    assert fold(store.read("s1")) == store.load_snapshot("s1")


def test_a_snapshot_of_nothing(session):
    """
    An empty session has no `seq` for a snapshot.
    """
    with pytest.raises(StoreError):
        session.snapshot()


STREAMING = {
    "text": [line(say="Hel")],
    "reasoning": [line(think="hm")],
    "media": [line(draw="pixels")],
    "input": [line(write={"id": "c1", "name": "weather", "delta": '{"city"'})],
    "text beside an ended one": [line(say="one"), line(said={}), line(say="two")],
}


@pytest.mark.parametrize("chunks", STREAMING.values(), ids=STREAMING)
def test_a_snapshot_in_the_middle_of_a_stream(session, store, chunks):
    """
    What has only streamed is not in the log, so it is not in the snapshot either.
    """
    with closing(receive(session, Scripted("a1"), [*chunks, line(stop="stop")])) as events:
        while not next(events).type.endswith(".delta"):
            pass
        session.snapshot()

        assert fold(store.read("s1")) == store.load_snapshot("s1")


class Live:
    """
    A decoder that returns given events, for events that answers of models do not contain.
    """

    message_id = "live"
    terminal = closed = False

    def __init__(self, *events):
        self.events = list(events)

    def feed(self, data):
        events, self.events = self.events, []
        return events

    def close(self, error=None):
        return []


def test_a_snapshot_with_progress_of_a_call(session, store):
    """
    Progress is live, so it is not in the snapshot; an answer is.
    """
    list(receive(session, Scripted("a1"), ASKS))
    list(receive(session, Live(ToolProgress(message_id="a1", call_id="c1", output="half")), b"-"))
    session.snapshot()

    assert "half" == session.transcript.pending_tool_calls[0].output[0].text
    assert fold(store.read("s1")) == store.load_snapshot("s1")


def test_a_snapshot_in_the_middle_of_a_summary(session, store):
    """
    A summary that is being written is empty in the snapshot.
    """
    session.append(CompactionStarted(message_id="c1", reason="auto"))
    list(receive(session, Live(CompactionDelta(message_id="c1", offset=0, delta="so ")), b"-"))
    session.snapshot()

    assert "so " == session.transcript["c1"].text
    assert fold(store.read("s1")) == store.load_snapshot("s1")


def test_a_snapshot_after_a_summary(session, store):
    """
    A summary that is written is in the snapshot.
    """
    session.append(*durable(compaction("so far")))
    session.snapshot()

    assert CompactionEnded(message_id="c1", text="so far").text == store.load_snapshot("s1")["c1"].text


def test_snapshots_by_themselves(open_session, store):
    """
    With `snapshot_every` one is stored as soon as so many records have come since the last.
    """
    fill(open_session(store, snapshot_every=3), 8)

    assert 6 == store.load_snapshot("s1").seq


def test_snapshots_while_receiving(open_session, store):
    """
    What is received counts as well.
    """
    list(receive(open_session(store, snapshot_every=4), Scripted("a1"), HELLO))

    assert 4 == store.load_snapshot("s1").seq


def test_no_snapshots_by_default(open_session, store):
    """
    By default no snapshot is stored.
    """
    fill(open_session(store), 8)

    assert store.load_snapshot("s1") is None


def test_snapshots_are_counted_from_the_one_that_is_there(open_session, store):
    """
    A session that starts from a snapshot counts from it.
    """
    fill(open_session(store, snapshot_every=3), 3)
    session = open_session(store, snapshot_every=3)
    session.prompt("more")

    assert 3 == store.load_snapshot("s1").seq


def test_a_snapshot_that_is_refused(open_session, store, caplog):
    """
    What was appended is stored, so a refusal is logged and nothing is raised; the next one is due later.
    """

    def refuse(session_id, transcript):
        del store.snapshot
        raise StoreError("a newer one is there")

    session = open_session(store, snapshot_every=2)
    store.snapshot = refuse
    fill(session, 3)

    assert [
        ("assistant_events.session", logging.WARNING, "session 's1': no snapshot at seq 2: a newer one is there")
    ] == caplog.record_tuples
    assert store.load_snapshot("s1") is None
    assert 3 == session.seq


NO_INTERVALS = {
    "no number": ("3", TypeError, "snapshot_every: expected int, got str"),
    "a claim": (True, TypeError, "snapshot_every: expected int, got bool"),
    "zero": (0, ValueError, "snapshot_every: expected 1 or more, got 0"),
}


@pytest.mark.parametrize(("value", "error", "text"), NO_INTERVALS.values(), ids=NO_INTERVALS)
def test_snapshot_every_is_a_number(open_session, store, value, error, text):
    """
    It counts records.
    """
    with pytest.raises(error) as caught:
        open_session(store, snapshot_every=value)

    assert text == str(caught.value)
