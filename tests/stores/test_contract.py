"""
The checks of every store, and their errors.
"""

import pickle
from datetime import UTC, datetime, timedelta
from functools import partial

import attrs
import pytest

from assistant_events.errors import (
    AssistantEventsError,
    ClaimedError,
    ConflictError,
    FencedError,
    LocalProtocolError,
    PrunedError,
    StoreError,
)
from assistant_events.events import Record, TextDelta, TextEnded, UnknownEvent
from assistant_events.messages import Transcript
from assistant_events.reducer import fold
from assistant_events.stores import MemoryStore, SqliteStore, Store
from assistant_events.stores.contract import make_record, utc_now
from assistant_events.testing.store_samples import LIVE, RUNNING, started
from assistant_events.values import JsonObject

EVENT = TextEnded(message_id="m1", text="hi")
DELTA = TextDelta(message_id="m1", offset=0, delta="secret")
STRAY = UnknownEvent(type="a", version=1, data={"type": "b", "signature": "secret"})


def test_a_quick_record_is_a_record():
    """
    The record that stores make without its constructor is the one that it would make.
    """
    values = {"session_id": "s", "seq": 3, "at": utc_now(), "event": EVENT, "meta": JsonObject({"a": 1})}
    record = make_record(*values.values())

    assert Record(**values) == record
    assert hash(Record(**values)) == hash(record)
    assert repr(Record(**values)) == repr(record)
    assert record == pickle.loads(pickle.dumps(record))
    assert 4 == attrs.evolve(record, seq=4).seq
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        record.seq = 4


def test_the_clock_of_a_store_without_one_tells_utc():
    """
    The default clock returns UTC.
    """
    assert UTC == utc_now().tzinfo


REFUSALS = [
    (
        lambda store: store.append("s", [EVENT, DELTA]),
        LocalProtocolError,
        "TextDelta is a live event and cannot be stored; append durable events only",
    ),
    (lambda store: store.append("s", [EVENT, None]), TypeError, "events: expected durable events, got NoneType"),
    (lambda store: store.append("s", EVENT), TypeError, "events: expected an iterable of events, got TextEnded"),
    (lambda store: store.append("s", "hi"), TypeError, "events: expected durable events, got str"),
    (
        lambda store: store.append("s", list(store.read("s"))),
        TypeError,
        "events: expected durable events, got Record",
    ),
    (lambda store: store.append("", [EVENT]), ValueError, "session_id: expected a non-empty string"),
    (lambda store: store.append(7, [EVENT]), TypeError, "session_id: expected str, got int"),
    (
        lambda store: store.append("s", [EVENT], expected_seq=-1),
        ValueError,
        "expected_seq: expected 0 or more, got -1",
    ),
    (
        lambda store: store.append("s", [EVENT], expected_seq=True),
        TypeError,
        "expected_seq: expected int, got bool",
    ),
    (lambda store: store.append("s", [EVENT], meta=[]), TypeError, "meta: $: expected a JSON object, got list"),
    (lambda store: store.append("s", [EVENT], meta={"a": {1}}), TypeError, "meta: $.a: expected JSON, got set"),
    (lambda store: store.append("s", [EVENT], at=5), TypeError, "at: expected datetime, got int"),
    (
        lambda store: store.append("s", [EVENT], at=datetime(2026, 1, 1)),  # noqa: DTZ001 - what is refused
        ValueError,
        "at: expected a datetime in UTC, got 2026-01-01T00:00:00",
    ),
    (
        lambda store: store.append("s", [STRAY]),
        ValueError,
        "UnknownEvent.data: expected the whole document of 'a', version 1",
    ),
    (
        lambda store: store.append("s", [EVENT], expected_seq=1),
        ConflictError,
        "session 's': expected seq 1, store holds 2; read the new records and try again",
    ),
    (
        lambda store: store.append("s", [EVENT], expected_seq=5),
        StoreError,
        "session 's': expected seq 5, but the log ends at 2; it was deleted or restored from an older copy",
    ),
    (
        lambda store: store.append("s", [EVENT], unfinished=()),
        ValueError,
        "unfinished: expected_seq is required with it; other writers may have appended",
    ),
    (
        lambda store: store.append("s", [EVENT], expected_seq=2, unfinished=["m1"]),
        TypeError,
        "unfinished[0]: expected an Unfinished, got str",
    ),
    (
        lambda store: store.append("s", [EVENT], token=7),
        FencedError,
        "session 's': token 7 is not that of the current claim; the claim was released, or another worker has taken the session over",  # noqa: E501 - one text
    ),
    (
        lambda store: store.append("s", [EVENT], owner="u2"),
        StoreError,
        "session 's': it was created with another owner, or without one; the owner never changes",
    ),
    (lambda store: store.append("s", [EVENT], owner=""), ValueError, "owner: expected a non-empty string"),
    (lambda store: store.sessions(owner=5), TypeError, "owner: expected str, got int"),
    (lambda store: store.sessions(limit="5"), TypeError, "limit: expected int, got str"),
    (lambda store: store.sessions(after="s"), ValueError, "after: expected the cursor of a session, got 's'"),
    (
        lambda store: store.claim("claimed", "w2"),
        ClaimedError,
        "session 'claimed' is claimed by worker 'w1'; it can be claimed once it is released, or its worker has died",
    ),
    (lambda store: store.claim("s", ""), ValueError, "worker: expected a non-empty string"),
    (
        lambda store: store.claim("s", "w1", dead_after_s="15"),
        TypeError,
        "dead_after_s: expected a number of seconds, got str",
    ),
    (
        lambda store: store.take_over("w1", dead_after_s=float("nan")),
        ValueError,
        "dead_after_s: expected 0 or more seconds, got nan",
    ),
    (lambda store: store.take_over("w1", limit=-1), ValueError, "limit: expected 0 or more, got -1"),
    (lambda store: store.release("s"), TypeError, "claim: expected Claim, got str"),
    (lambda store: store.checkpoint("s", DELTA), TypeError, "deltas: expected an iterable, got TextDelta"),
    (lambda store: store.checkpoint("s", [DELTA, EVENT]), TypeError, "deltas[1]: expected a delta, got TextEnded"),
    (
        lambda store: store.checkpoint("new", [DELTA]),
        StoreError,
        "session 'new' has no records, so no fragment of it is open",
    ),
    (lambda store: store.load_checkpoints(""), ValueError, "session_id: expected a non-empty string"),
    (lambda store: store.beat(None), TypeError, "worker: expected str, got NoneType"),
    (lambda store: store.read("s", "1"), TypeError, "after: expected int, got str"),
    (lambda store: store.read("s", limit=-1), ValueError, "limit: expected 0 or more, got -1"),
    (lambda store: store.read(None), TypeError, "session_id: expected str, got NoneType"),
    (
        lambda store: store.read("pruned", 0),
        PrunedError,
        "session 'pruned': records up to seq 1 are pruned, cannot read after 0; start from the snapshot",
    ),
    (lambda store: store.snapshot("s", None), TypeError, "transcript: expected Transcript, got NoneType"),
    (
        lambda store: store.snapshot("s", Transcript()),
        AssistantEventsError,
        "a snapshot needs a seq: fold records, not events",
    ),
    (
        lambda store: store.snapshot("s", Transcript(seq=3)),
        AssistantEventsError,
        "session 's': snapshot at seq 3, but the log ends at 2",
    ),
    (
        lambda store: store.snapshot("pruned", Transcript(seq=1)),
        AssistantEventsError,
        "session 'pruned': snapshot at seq 1, but there is a newer one at 2",
    ),
    (
        lambda store: store.prune("s", 1),
        AssistantEventsError,
        "session 's': pruning up to seq 1 needs a snapshot there or after it, there is none; store one first",
    ),
    (
        lambda store: store.prune("pruned", 3),
        AssistantEventsError,
        "session 'pruned': pruning up to seq 3 needs a snapshot there or after it, the current one is at 2; store one first",  # noqa: E501 - one text
    ),
    (lambda store: store.prune("s", None), TypeError, "through_seq: expected int, got NoneType"),
    (lambda store: store.fork("new", "t"), AssistantEventsError, "session 'new' has no records to fork"),
    (lambda store: store.fork("s", "t", at="1"), TypeError, "at: expected int, got str"),
    (lambda store: store.fork("s", ""), ValueError, "session_id: expected a non-empty string"),
    (
        lambda store: store.fork("s", "t", at=9),
        AssistantEventsError,
        "session 's': cannot fork at seq 9, the log ends at 2",
    ),
    (
        lambda store: store.fork("pruned", "t", at=1),
        AssistantEventsError,
        "session 'pruned': cannot fork at seq 1, records up to 1 are pruned; from 2 on it can be forked",
    ),
    (
        lambda store: store.fork("s", "pruned"),
        ConflictError,
        "session 'pruned': expected seq 0, store holds 2; read the new records and try again",
    ),
    (lambda store: store.delete(b"s"), TypeError, "session_id: expected str, got bytes"),
    (lambda store: store.seq(""), ValueError, "session_id: expected a non-empty string"),
    (lambda store: store.load_snapshot(5), TypeError, "session_id: expected str, got int"),
    (lambda store: store.seqs(["s", 5]), TypeError, "session_id: expected str, got int"),
    (lambda store: store.snapshot("", Transcript(seq=1)), ValueError, "session_id: expected a non-empty string"),
    (lambda store: store.prune("", 1), ValueError, "session_id: expected a non-empty string"),
    (lambda store: store.fork("", "t"), ValueError, "session_id: expected a non-empty string"),
    (lambda store: store.claim("", "w1"), ValueError, "session_id: expected a non-empty string"),
    (lambda store: store.checkpoint("", [DELTA]), ValueError, "session_id: expected a non-empty string"),
    (lambda store: store.checkpoint("s", [DELTA], after=-1), ValueError, "after: expected 0 or more, got -1"),
    (lambda store: store.checkpoint("s", [DELTA], token="7"), TypeError, "token: expected int, got str"),
    (lambda store: store.append("s", [EVENT], token="7"), TypeError, "token: expected int, got str"),
    (lambda store: store.take_over(""), ValueError, "worker: expected a non-empty string"),
    (lambda store: store.sessions(after=5), TypeError, "after: expected str, got int"),
]


@pytest.mark.parametrize(
    ("attempt", "kind", "text"), REFUSALS, ids=[f"{number} {text}" for number, (_, _, text) in enumerate(REFUSALS)]
)
def test_errors_say_what_was_wrong(store, attempt, kind, text):
    """
    Every store raises the same error, loses no data, and shows no content of an event.
    """
    for session in ("s", "pruned"):
        store.append(session, [EVENT, EVENT])
    store.snapshot("pruned", fold(store.read("pruned")))
    store.prune("pruned", 1)
    store.claim("claimed", "w1")
    before = store.sessions()

    with pytest.raises(kind) as caught:
        attempt(store)

    assert text == str(caught.value)
    assert before == store.sessions()
    assert [EVENT] == [record.event for record in store.read("pruned", 1)]


@pytest.mark.parametrize("live", LIVE, ids=lambda event: type(event).__name__)
def test_live_events_are_refused_by_name(store, live):
    """
    The error names the first live event.
    """
    with pytest.raises(LocalProtocolError, match=f"^{type(live).__name__} is a live event"):
        store.append("s", iter([EVENT, live, None]))


def test_stores_are_recognised(make_store):
    """
    Every store that is shipped is a `Store` for `isinstance`.
    """
    with make_store() as store:
        assert isinstance(store, Store)
    assert not isinstance(object(), Store)


def test_equal_times_are_listed_in_the_order_of_ids(store):
    """
    Sessions with the same time of their last batch are in the order of their ids, by code points.
    """
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for name in ("c", "\ud800", "\uffff", "a", "b"):
        store.append(name, [EVENT], at=at)

    assert ["a", "b", "c", "\ud800", "\uffff"] == [info.session_id for info in store.sessions()]


def test_a_memory_store_with_a_wrong_clock_writes_nothing():
    """
    The reference refuses local time as every store does.
    """
    with MemoryStore(clock=lambda: datetime(2026, 1, 1)) as store:  # noqa: DTZ001 - what is refused
        with pytest.raises(ValueError, match="expected a datetime in UTC"):
            store.append("s", [EVENT])

        assert 0 == store.seq("s")


@pytest.mark.parametrize("dead_after_s", [0, 15])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_worker_that_died_before_the_clock_was_set_back_is_dead(kind, dead_after_s):
    """
    Its last sign of life is an hour in the future; another worker does not wait for that hour.
    """
    now = [datetime(2026, 1, 1, 13, tzinfo=UTC)]
    made = {"memory": MemoryStore, "sqlite": partial(SqliteStore, ":memory:")}[kind]
    with made(clock=lambda: now[0]) as store:
        store.append("s", [started("m1")])
        store.claim("s", "w1")
        now[0] = datetime(2026, 1, 1, 12, tzinfo=UTC)

        assert ["s"] == [claim.session_id for claim in store.take_over("w2", dead_after_s=dead_after_s)]
        now[0] = datetime(2026, 1, 1, 11, tzinfo=UTC)
        assert "w3" == store.claim("s", "w3", dead_after_s=dead_after_s).worker


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_worker_is_dead_after_the_time_for_which_it_lives(kind):
    """
    Not one microsecond earlier, and not later; where that time is 0 it is dead in the moment of its sign of life.
    """
    now = [datetime(2026, 1, 1, 13, tzinfo=UTC)]
    made = {"memory": MemoryStore, "sqlite": partial(SqliteStore, ":memory:")}[kind]
    with made(clock=lambda: now[0]) as store:
        store.append("s", [started("m1")])
        store.claim("s", "w1")
        now[0] += timedelta(seconds=14.999999)
        with pytest.raises(ClaimedError):
            store.claim("s", "w2")
        assert () == store.take_over("w2")
        now[0] += timedelta(microseconds=1)
        assert ["s"] == [claim.session_id for claim in store.take_over("w2")]

        assert "w3" == store.claim("s", "w3", dead_after_s=0).worker
        assert ["s"] == [claim.session_id for claim in store.take_over("w4", dead_after_s=0)]


@pytest.mark.parametrize("dead_after_s", [1, 15])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_worker_outlives_a_clock_that_is_adjusted(kind, dead_after_s):
    """
    By less than the time for which it lives.
    """
    now = [datetime(2026, 1, 1, 13, tzinfo=UTC)]
    made = {"memory": MemoryStore, "sqlite": partial(SqliteStore, ":memory:")}[kind]
    with made(clock=lambda: now[0]) as store:
        store.append("s", [started("m1")])
        store.claim("s", "w1")
        now[0] -= timedelta(seconds=0.9)

        assert () == store.take_over("w2", dead_after_s=dead_after_s)


@pytest.mark.parametrize("before", [0, 2], ids=["new session", "old session"])
def test_an_interrupted_batch_leaves_a_memory_store_whole(before, monkeypatch):
    """
    Ctrl-C in the middle of a batch leaves nothing of it, neither among the records nor in the unfinished work.
    """
    with MemoryStore() as store:
        store.append("s", [started("m1"), EVENT][:before])
        expected = (list(store.read("s")), store.unfinished(), store.sessions())

        def interrupted(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as broken:
            broken.setattr("assistant_events.stores.contract.make_records", interrupted)
            with pytest.raises(KeyboardInterrupt):
                store.append("s", [started("m2"), started("m3")])
        assert expected == (list(store.read("s")), store.unfinished(), store.sessions())
        assert before + 1 == store.append("s", [started("m2")], expected_seq=before)[0].seq


def meanwhile(monkeypatch, store, action):
    """
    Let another writer call *action* once, after the store has loaded the snapshot of a log that it folds.
    """
    load_snapshot = type(store).load_snapshot
    actions = iter([action])

    def load(self, session_id):
        snapshot = load_snapshot(self, session_id)
        for act in actions:
            act()
        return snapshot

    monkeypatch.setattr(type(store), "load_snapshot", load)


def test_a_fold_that_comes_too_late_is_not_stored(store, monkeypatch):
    """
    When another writer appends during a fold, the unfinished work stays unknown, and the next call folds again.
    """
    store.append("s", [started("m1")])
    records = list(store.read("s"))
    read = type(store).read
    meanwhile(monkeypatch, store, lambda: store.append("s", [started("m2")]))

    with monkeypatch.context() as outdated:
        outdated.setattr(type(store), "read", lambda *_: iter(records))
        assert ["m1"] == [each.message_id for each in store.unfinished()["s"]]
    assert read is type(store).read
    assert ["m1", "m2"] == [each.message_id for each in store.unfinished()["s"]]


def test_a_session_that_is_deleted_during_its_fold(store, monkeypatch):
    """
    When another writer deletes the session during a fold, nothing is stored for it.
    """
    store.append("s", [started("m1")])
    records = list(store.read("s"))
    meanwhile(monkeypatch, store, lambda: store.delete("s"))

    with monkeypatch.context() as outdated:
        outdated.setattr(type(store), "read", lambda *_: iter(records))
        assert ["m1"] == [each.message_id for each in store.unfinished()["s"]]
    assert {} == store.unfinished()


def test_a_log_that_is_pruned_during_its_fold(store, monkeypatch):
    """
    When another writer prunes the log during a fold, the fold starts again from the newer snapshot.
    """
    store.append("s", [started("m1"), EVENT, started("m2")])

    def prune():
        store.snapshot("s", fold(store.read("s", limit=2)))
        store.prune("s", 2)

    meanwhile(monkeypatch, store, prune)

    assert ["m1", "m2"] == [each.message_id for each in store.unfinished()["s"]]


HUGE = [2**31, 2**32, 2**32 + 2, 2**62, 2**63 - 1, 2**63, 2**64, 10**30]


@pytest.mark.parametrize("number", HUGE)
def test_numbers_of_any_size_are_places(store, number):
    """
    A `seq` of any size is valid: beyond the end reading yields nothing, and calls that need the record are refused.
    """
    store.append("before", [EVENT, EVENT])
    store.append("s", [EVENT, EVENT])
    store.append("behind", [EVENT, EVENT])
    transcript = fold(store.read("s"))
    store.snapshot("s", transcript)

    assert [] == [*store.read("before", number), *store.read("s", number), *store.read("behind", number)]
    assert [] == list(store.read("s", number, limit=number))
    assert [2] == [record.seq for record in store.read("s", 1, limit=number)]
    for attempt in (
        lambda: store.append("s", [EVENT], expected_seq=number),
        lambda: store.prune("s", number),
        lambda: store.prune("nobody", number),
        lambda: store.fork("s", "t", at=number),
        lambda: store.snapshot("s", attrs.evolve(transcript, seq=number)),
    ):
        with pytest.raises(StoreError):
            attempt()
    assert [2, 2, 2] == [info.seq for info in store.sessions()]


@pytest.mark.parametrize("number", HUGE)
def test_numbers_of_any_size_are_limits_and_tokens(store, number):
    """
    A limit beyond the number of sessions returns all of them, and a token of any size is that of no claim.
    """
    store.append("s", [started("m1")])

    assert ["s"] == [info.session_id for info in store.sessions(limit=number)]
    (claim,) = store.take_over("w1", limit=number)
    store.release(attrs.evolve(claim, token=number))
    with pytest.raises(FencedError):
        store.append("s", [EVENT], token=number)
    assert [2] == [record.seq for record in store.append("s", [EVENT], token=claim.token)]


def test_an_empty_batch_leaves_the_unfinished_work_known(store):
    """
    It writes nothing, so what a writer handed in before is still that of the log.
    """
    store.append("s", [EVENT], expected_seq=0, unfinished=RUNNING)
    store.append("s", [], expected_seq=1)

    assert {"s": RUNNING} == store.unfinished()


def test_pruning_nothing_of_an_unknown_session(store):
    """
    Nothing is pruned up to 0, so a session that is not known has that behind it; others are not touched.
    """
    store.append("s", [EVENT, EVENT])
    store.snapshot("s", fold(store.read("s")))

    store.prune("nobody", 0)
    with pytest.raises(StoreError, match="session 'nobody': pruning up to seq 1 needs a snapshot"):
        store.prune("nobody", 1)
    assert [1, 2] == [record.seq for record in store.read("s")]
    assert 0 == store.seq("nobody")
    assert [] == list(store.read("nobody"))
    assert None is store.load_snapshot("nobody")


def calling(action):
    """
    Return a clock that calls *action* once, and what *action* raised.
    """
    raised = []

    def clock():
        if not raised:
            raised.append(None)
            try:
                action()
            except StoreError as error:
                raised[0] = str(error)
        return datetime(2026, 1, 1, tzinfo=UTC)

    return clock, raised


INTERRUPTING = (
    "the store was called during another call of the same thread, by a finalizer or a signal handler; "
    "nothing was done, call it again later"
)
READ = {"memory": INTERRUPTING, "sqlite in memory": INTERRUPTING, "sqlite in a file": None}
INSIDE = {
    "append": lambda store: store.append("s", [EVENT]),
    "append elsewhere": lambda store: store.append("t", [EVENT]),
    "snapshot": lambda store: store.snapshot("old", fold(store.read("old"))),
    "prune": lambda store: store.prune("old", 1),
    "fork": lambda store: store.fork("old", "t"),
    "delete": lambda store: store.delete("old"),
    "close": lambda store: store.close(),
}


@pytest.mark.parametrize("kind", ["memory", "sqlite in memory", "sqlite in a file"])
@pytest.mark.parametrize("inside", INSIDE.values(), ids=INSIDE)
def test_a_call_inside_a_call_is_refused(kind, inside, tmp_path):
    """
    A call during another call of the same thread is refused; the outer call is complete, and the store stays usable.
    """
    clock, raised = calling(lambda: inside(store))
    makers = {
        "memory": lambda: MemoryStore(clock=clock),
        "sqlite in memory": lambda: SqliteStore(":memory:", clock=clock),
        "sqlite in a file": lambda: SqliteStore(tmp_path / "s.db", clock=clock),
    }
    with makers[kind]() as store:
        store.append("old", [EVENT, EVENT], at=datetime(2026, 1, 1, tzinfo=UTC))
        store.snapshot("old", fold(store.read("old", limit=1)))

        written = store.append("s", [EVENT, EVENT])

        assert [INTERRUPTING] == raised
        assert written == tuple(store.read("s"))
        assert (2, 2, 0) == (store.seq("s"), store.seq("old"), store.seq("t"))
        inside(store)


@pytest.mark.parametrize("kind", READ)
def test_a_read_inside_a_batch(kind, tmp_path):
    """
    A file is read through a connection of its own, so that a batch in the middle is not seen; elsewhere it is refused.
    """
    seen = []
    clock, raised = calling(lambda: seen.append(store.seq("s")))
    makers = {
        "memory": lambda: MemoryStore(clock=clock),
        "sqlite in memory": lambda: SqliteStore(":memory:", clock=clock),
        "sqlite in a file": lambda: SqliteStore(tmp_path / "s.db", clock=clock),
    }
    with makers[kind]() as store:
        store.append("s", [EVENT], at=datetime(2026, 1, 1, tzinfo=UTC))
        store.append("s", [EVENT])

        assert ([READ[kind]], [] if READ[kind] else [1]) == (raised, seen)
        assert 2 == store.seq("s")
