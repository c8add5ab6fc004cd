"""
The index of what is unfinished answers as a fold of the whole log would.
"""

from hypothesis import given
from hypothesis import strategies as st

from assistant_events.events import UnknownEvent
from assistant_events.reducer import fold
from assistant_events.stores import MemoryStore, SqliteStore, UnfinishedKind
from assistant_events.testing.builders import durable
from assistant_events.testing.store_samples import (
    asked,
    called,
    ended,
    failed,
    input_started,
    rewound,
    started,
    succeeded,
)
from assistant_events.testing.stores import unfinished_in
from assistant_events.testing.strategies import sessions
from assistant_events.values import CUT_KINDS, ErrorKind, RemoteRun


def in_any_order(found):
    """Calls stand in the order in which they were called, parts in that of their start."""
    return sorted(found, key=lambda each: (each.message_id, each.kind, each.call_id or ""))


@st.composite
def logs(draw):
    """
    Draw the durable events of a legal session and where to cut them into batches.
    """
    events = durable(draw(sessions()))
    cuts = sorted(draw(st.sets(st.integers(0, len(events)), max_size=6)))
    return [events[start:end] for start, end in zip([0, *cuts], [*cuts, len(events)], strict=True)]


@given(logs())
def test_the_index_equals_a_fold(batches):
    """
    After every batch of a legal session the index of each store names what a fold of its log shows.
    """
    with MemoryStore() as memory, SqliteStore(":memory:") as sqlite:
        for batch in batches:
            memory.append("s", batch)
            sqlite.append("s", batch)
            expected = unfinished_in("s", fold(memory.read("s")))

            assert in_any_order(expected) == in_any_order(memory.unfinished("s"))
            assert memory.unfinished() == sqlite.unfinished()


@given(logs(), st.data())
def test_the_index_of_a_pruned_fork_equals_a_fold(batches, data):
    """
    A fork of a pruned session knows what is unfinished from its snapshot and the records behind it.
    """
    with SqliteStore(":memory:") as store:
        for batch in batches:
            store.append("s", batch)
        seq = store.seq("s")
        if not seq:
            return
        held = data.draw(st.integers(1, seq))
        store.snapshot("s", fold(store.read("s", limit=held)))
        store.prune("s", data.draw(st.integers(0, held)))
        at = data.draw(st.integers(held, seq))
        store.fork("s", "fork", at=at)

        start = store.load_snapshot("fork")
        expected = unfinished_in("fork", fold(store.read("fork", start.seq), start=start))
        assert in_any_order(expected) == in_any_order(store.unfinished("fork"))


@given(logs(), st.data())
def test_batches_that_come_twice_at_once_change_nothing(batches, data):
    """
    A writer that does not know whether its batch arrived and sends it again leaves the index as it was.
    """
    with MemoryStore() as store:
        for batch in batches:
            store.append("s", batch)
            before = store.unfinished()
            if not any(event.type in {"step.failed", "step.restarted"} for event in batch):
                store.append("s", batch)

                assert before == store.unfinished()


def kinds_of(*events):
    with MemoryStore() as store:
        store.append("s", events)
        return [(each.message_id, each.kind, each.call_id) for each in store.unfinished()]


def test_every_kind_of_error_is_a_cut_or_none():
    """
    A failed step with a run that can be rejoined is a cut when we lost the stream, not when the provider failed.
    """
    run = RemoteRun(id="r", resumable=True, kind="response")
    for kind in ErrorKind:
        expected = [("m1", UnfinishedKind.CUT, None)] if kind in CUT_KINDS else []

        assert expected == kinds_of(started(run=run), failed(kind=kind))


def test_what_the_app_left_can_be_rejoined():
    """
    A step that was aborted here goes on at the provider, so it is a cut when its run can be resumed.
    """
    run = RemoteRun(id="r", resumable=True, kind="response")

    assert [("m1", UnfinishedKind.CUT, None)] == kinds_of(started(run=run), failed(kind=ErrorKind.ABORTED))
    assert [] == kinds_of(started(run=RemoteRun(id="r", kind="response")), failed(kind=ErrorKind.ABORTED))


def test_a_rewound_message_never_comes_back():
    """
    Late answers to calls of rewound messages and second beginnings of them leave nothing unfinished.
    """
    assert kinds_of(asked("u1"), started(), called(), rewound("u1"), succeeded(), started(), called("c2")) == []


def test_messages_after_a_rewind_stay():
    """
    Rewinding to a message that is rewound already does not touch what began after the first time.
    """
    log = [asked("u1"), started(), rewound("u1"), started("m2"), rewound("u1"), rewound("m1")]

    assert kinds_of(*log) == [("m2", UnfinishedKind.STEP, None)]


def test_a_late_beginning_of_a_call_that_waits_changes_nothing():
    """
    A call that stands is not taken away by a start of its input that says the provider runs it.
    """
    assert kinds_of(started(), called(), input_started(by_provider=True), ended()) == [
        ("m1", UnfinishedKind.CALL, "c1")
    ]


def test_unknown_events_are_passed_over():
    """
    An event of a newer version moves nothing, also when it names a message.
    """
    event = UnknownEvent(type="step.ended", version=9, data={"type": "step.ended", "v": 9, "message_id": "m1"})

    assert kinds_of(started(), event) == [("m1", UnfinishedKind.STEP, None)]


def test_a_batch_may_begin_more_messages_than_a_query_can_name():
    """
    Twelve hundred steps in one batch, and once more, and their ends.
    """
    names = [f"m{number}" for number in range(1200)]
    with SqliteStore(":memory:") as store:
        store.append("s", [started(name) for name in names])
        store.append("s", [*[started(name) for name in names], started("last")])

        assert [*names, "last"] == [each.message_id for each in store.unfinished()]

        store.append("s", [ended(name) for name in names])

        assert ["last"] == [each.message_id for each in store.unfinished()]


def test_a_rewind_in_the_batch_that_begins_messages():
    """
    What a batch begins before its rewind is gone, what it begins after it stays, in any cut of the batch.
    """
    log = [
        asked("u1"),
        started(),
        called(),
        asked("u2"),
        started("m2"),
        rewound("u2"),
        asked("u3"),
        started("m3"),
        called("c1", "m3"),
    ]
    for cut in range(len(log)):
        with MemoryStore() as memory, SqliteStore(":memory:") as sqlite:
            for store in (memory, sqlite):
                store.append("s", log[:cut])
                store.append("s", log[cut:])

            assert ["m1", "m1", "m3", "m3"] == [each.message_id for each in sqlite.unfinished()]
            assert memory.unfinished() == sqlite.unfinished()
