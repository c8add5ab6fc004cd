"""
`check_store`: tests every promise of a store, on any implementation.

Not covered, because the methods do not show it: a killed process, the size of files, and durations.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Barrier
from time import monotonic
from typing import Final, TypeAlias, TypeVar

import attrs

from assistant_events.errors import (
    ConflictError,
    LocalProtocolError,
    PrunedError,
    StoreError,
)
from assistant_events.events import (
    Event,
    OpaqueReceived,
    PromptSubmitted,
    Record,
    TextDelta,
    TextEnded,
    TextStarted,
)
from assistant_events.messages import Transcript, Unfinished
from assistant_events.reducer import fold
from assistant_events.stores.contract import Store, never_waits
from assistant_events.testing import store_checkpoints as checkpoints
from assistant_events.testing import store_claims as claims
from assistant_events.testing import store_forks as forks
from assistant_events.testing import store_ids as ids
from assistant_events.testing import store_readers as readers
from assistant_events.testing.sample import require
from assistant_events.testing.store_expectations import (
    SECONDS,
    at_once,
    events_of,
    folded,
    of_promise,
    refuse,
    same,
    texts,
    unfinished_of,
)
from assistant_events.testing.store_samples import LIVE, ODD, OPEN, RUNNING, TURN, UNKNOWN, started, with_media

_Store = TypeVar("_Store", bound=Store)
_Try: TypeAlias = Callable[[Store], None]

_FINALIZERS: Final = 1000
"""How many run one after another while a store writes, at most."""

_FINALIZERS_S: Final = SECONDS / 6
"""After so many seconds no more of them follow: a database that is far away, or busy, is slow and not blocked."""


def check_store(
    make_store: Callable[[], _Store],
    *,
    again: Callable[[_Store], _Store] | None = None,
    damage: Callable[[_Store, str], object] | None = None,
) -> None:
    """
    Check every promise of `assistant_events.stores.contract` on stores of one implementation.

    Args:
        make_store: Returns a new, empty store, which is closed afterwards.

        again: Opens the storage of the given store once more, as a second process would. Omit it for stores that share
            nothing.

        damage: Makes the records of the session with the given id unreadable, in the storage of the given store. Omit
            it for storage that cannot be damaged.

    Raises:
        AssertionError: A promise is broken. The message names it, the expected and the actual result.
    """
    for promise, tries in _PROMISES.items():
        for attempt in tries:
            with of_promise(promise), make_store() as store:
                attempt(store)
    if again is not None:
        for of_two in _OF_TWO:
            with of_promise("stores on one storage are one"), make_store() as store, again(store) as second:
                of_two(store, second)
    if damage is not None:
        with of_promise("13, unfinished work is indexed"), make_store() as store:
            claims.a_damaged_session_is_left_out(store, partial(damage, store))


# 1 to 5: appending


def _a_store_has_all_methods(store: Store) -> None:
    missing = [name for name in vars(Store) if not (name.startswith("_") or hasattr(store, name))]
    same([], missing, "methods and attributes of Store that it lacks")
    require(not (store.persistent and never_waits(store)), "a persistent store that declares that it never waits")


def _batches_are_atomic(store: Store) -> None:
    written = store.append("s", texts(3))
    same(list(written), list(store.read("s")), "returned and read records")

    def broken() -> Iterator[Event]:
        yield texts(1)[0]
        raise RuntimeError("the caller's own")

    refuse(RuntimeError, lambda: store.append("s", broken()), "a batch whose iterator fails")
    same(3, store.seq("s"), "seq after a batch whose iterator failed")
    same(((), ()), (store.append("s", []), store.append("empty", [])), "empty batches")
    same(["s"], [info.session_id for info in store.sessions()], "sessions after an empty batch for another one")


def _seq_has_no_gaps(store: Store) -> None:
    for size in (1, 3, 2):
        store.append("a", texts(size))
        store.append("b", texts(1))
    same([1, 2, 3, 4, 5, 6], [record.seq for record in store.read("a")], "seq of one session")
    same([1, 2, 3], [record.seq for record in store.read("b")], "seq of another session")
    same({"a"}, {record.session_id for record in store.read("a")}, "session of the records")
    same((6, 3, 0), (store.seq("a"), store.seq("b"), store.seq("c")), "seq of two sessions and of an unknown one")
    many = {"a": 6, **{f"unknown {number}": 0 for number in range(2_000)}, "b": 3}
    same(many, store.seqs(iter(many)), "seq of many sessions")


def _expected_seq_is_checked(store: Store) -> None:
    store.append("s", texts(2), expected_seq=0)
    for expected in (0, 1):
        outdated = partial(store.append, "s", texts(1), expected_seq=expected)
        error = refuse(ConflictError, outdated, f"a batch that expects seq {expected} of a log that ends at 2")
        found = [getattr(error, name, None) for name in ("session_id", "expected_seq", "actual_seq")]
        same(["s", expected, 2], found, "session_id, expected_seq and actual_seq of the ConflictError")
    refuse(ConflictError, lambda: store.append("s", [], expected_seq=1), "an empty batch that expects another seq")
    for name, expected in (("s", 3), ("unknown", 1)):
        ahead = partial(store.append, name, texts(1), expected_seq=expected)
        error = refuse(StoreError, ahead, f"a batch that expects seq {expected} of a shorter log")
        require(not isinstance(error, ConflictError), f"a ConflictError for a log that is too short: {error}")
    same((2, 0), (store.seq("s"), store.seq("unknown")), "seq after refused batches")
    store.append("s", texts(1), expected_seq=2)
    store.append("s", texts(1))
    same(4, store.seq("s"), "seq after a batch with expected_seq and one without")


def _one_of_two_writers_wins(store: Store) -> None:
    same(["conflict", "won"], sorted(_race(store, store)), "two concurrent batches with the same expected_seq")
    same(2, store.seq("s"), "seq after two concurrent batches of 2, one of which is refused")


def _only_durable_events_are_stored(store: Store) -> None:
    for live in LIVE:
        name = type(live).__name__
        batch = partial(store.append, "s", [*texts(2), live])
        error = refuse(LocalProtocolError, batch, f"a batch that ends with {name}")
        require(name in str(error), f"the error for {name} does not name it: {error}")
    refuse(TypeError, lambda: store.append("s", [*texts(2), "text"]), "a batch with a str")  # type: ignore[list-item]
    other = attrs.evolve(UNKNOWN, type="another.event")
    refuse(ValueError, lambda: store.append("s", [*texts(2), other]), "an UnknownEvent with the data of another type")
    same(0, store.seq("s"), "seq after batches that were refused for one of their events")
    store.append("s", [UNKNOWN])
    same([UNKNOWN], events_of(store.read("s")), "an UnknownEvent")


def _a_batch_has_one_time(store: Store) -> None:
    at = datetime(2001, 2, 3, 4, 5, 6, 789012, tzinfo=UTC)
    written = (*store.append("s", texts(2)), *store.append("s", texts(2), at=at))
    same(list(written), list(store.read("s")), "records with their times")
    same([at, at], [record.at for record in store.read("s")][2:], "the given time")
    times = {record.at for record in list(store.read("s"))[:2]}
    same(1, len(times), "number of different times in one batch")
    require(all(each.utcoffset() == timedelta(0) for each in times), f"a time that is not in UTC: {times}")
    refuse(ValueError, lambda: store.append("s", texts(1), at=datetime(2001, 2, 3)), "a time without a zone")  # noqa: DTZ001
    same(4, store.seq("s"), "seq after a batch with an invalid time")


def _meta_round_trips(store: Store) -> None:
    meta = {"user": "ü\ud800", "n": 10**30, "deep": [{"x": None, "a": 1.5}]}
    own = deepcopy(meta)
    store.append("s", texts(2), meta=own)
    own.clear()  # it is the app's
    store.append("s", texts(1))
    store.append("s", texts(1), meta={"other": True})
    same([meta, meta, {}, {"other": True}], [record.meta for record in store.read("s")], "meta of the records")
    same(["user", "n", "deep"], list(next(store.read("s")).meta), "keys of meta, in order")
    refuse(TypeError, lambda: store.append("s", texts(1), meta={"at": object()}), "meta that is not JSON")
    same(4, store.seq("s"), "seq after a batch whose meta is not JSON")


# 6: reading


def _events_round_trip(store: Store) -> None:
    events = [*TURN, *ODD]
    store.append("s", events)
    for given, record in zip(events, store.read("s"), strict=True):
        same(given, record.event, f"{type(given).__name__} at seq {record.seq}")
        same(type(given), type(record.event), f"class of the event at seq {record.seq}")
        if isinstance(given, OpaqueReceived) and isinstance(record.event, OpaqueReceived):
            same(list(given.state), list(record.event.state), "keys of a state, in order")


# 8 to 11: snapshots, pruning, forks, deletion


def _one_snapshot_per_session(store: Store) -> None:
    store.append("s", TURN)
    whole = fold(store.read("s"))
    early = fold(store.read("s", limit=4))
    same([None] * 2, [store.load_snapshot(name) for name in ("s", "unknown")], "snapshots of sessions without one")
    store.snapshot("s", early)
    same(early, store.load_snapshot("s"), "a snapshot")
    store.snapshot("s", whole)
    loaded = store.load_snapshot("s")
    same(whole, loaded, "a snapshot that replaced an older one")
    same([each.times for each in whole], [each.times for each in loaded or ()], "times of the messages of a snapshot")
    same(whole, fold(store.read("s", whole.seq), start=loaded), "a snapshot at the end, and the records after it")
    store.snapshot("s", whole)
    refuse(StoreError, lambda: store.snapshot("s", early), "a snapshot before the current one")
    beyond = attrs.evolve(whole, seq=whole.seq + 1)
    refuse(StoreError, lambda: store.snapshot("s", beyond), "a snapshot beyond the end of the log")
    refuse(StoreError, lambda: store.snapshot("s", Transcript()), "an empty snapshot")
    refuse(StoreError, lambda: store.snapshot("unknown", whole), "a snapshot of an unknown session")
    same(whole, store.load_snapshot("s"), "the snapshot after refused ones")
    store.fork("s", "fork", at=early.seq)
    same(None, store.load_snapshot("fork"), "snapshot of a fork at a seq before it")


def _pruning_needs_a_snapshot(store: Store) -> None:
    for at in range(0, len(TURN), 5):
        store.append("s", TURN[at : at + 5])
    records = list(store.read("s"))
    whole = fold(records)
    error = refuse(StoreError, lambda: store.prune("s", 7), "pruning without a snapshot")
    require("snapshot" in str(error), f"the error does not mention the missing snapshot: {error}")
    store.snapshot("s", fold(records[:8]))
    refuse(StoreError, lambda: store.prune("s", 9), "pruning beyond the snapshot")
    refuse(StoreError, lambda: store.prune("unknown", 1), "pruning an unknown session")
    same(records, list(store.read("s")), "records after refused pruning")
    for through, kept in ((0, 0), (3, 3), (7, 7), (7, 7), (2, 7)):
        store.prune("s", through)
        same(records[kept:], list(store.read("s", kept)), f"records after {kept} of a log pruned up to there")
        info = next(info for info in store.sessions() if info.session_id == "s")
        same((len(records), kept), (info.seq, info.pruned_to), "seq and pruned_to of the session")
    for after in (0, 6):
        error = refuse(PrunedError, lambda: list(store.read("s", after)), f"reading after {after} a log pruned up to 7")  # noqa: B023
        found = [getattr(error, name, None) for name in ("session_id", "after", "pruned_to")]
        same(["s", after, 7], found, "session_id, after and pruned_to of the PrunedError")
    start = store.load_snapshot("s")
    same(whole, fold(store.read("s", 8), start=start), "the snapshot, and the records after it")
    (record,) = store.append("s", texts(1))
    same(len(records) + 1, record.seq, "seq of the record after a pruned log")
    rest = store.append("s", texts(1), expected_seq=len(records) + 1)
    store.snapshot("s", attrs.evolve(whole, seq=rest[-1].seq))
    store.prune("s", rest[-1].seq)
    same([], list(store.read("s", rest[-1].seq)), "records of a log pruned to its end")
    same((rest[-1].seq, {"s": rest[-1].seq}), (store.seq("s"), store.seqs(["s"])), "seq of a log pruned to its end")
    refuse(ConflictError, lambda: store.append("s", texts(1), expected_seq=0), "a writer that expects it to be empty")


def _deleting_is_complete(store: Store) -> None:
    for name in ("s", "other"):
        store.append(name, [*TURN, *OPEN], expected_seq=0, unfinished=RUNNING)
    kept = list(store.read("other"))
    store.snapshot("s", fold(store.read("s")))
    store.delete("s")
    store.delete("s")
    same([], list(store.read("s")), "records of a deleted session")
    same((0, None), (store.seq("s"), store.load_snapshot("s")), "seq and snapshot of a deleted session")
    same(["other"], [info.session_id for info in store.sessions()], "sessions after one was deleted")
    same({"other": RUNNING}, store.unfinished(), "unfinished work after a session was deleted")
    same(kept, list(store.read("other")), "records of another session")
    store.append("s", texts(1), expected_seq=0)
    same([1], [record.seq for record in store.read("s")], "seq of a session created again")
    same({"other": RUNNING}, store.unfinished(), "unfinished work after a session was created again")
    store.snapshot("s", fold(store.read("s")))
    store.prune("s", 1)
    store.delete("s")
    at = datetime(2020, 1, 1, tzinfo=UTC)
    store.append("s", OPEN, expected_seq=0, unfinished=RUNNING, at=at)
    same([1, 2], [record.seq for record in store.read("s")], "seq of a session that was pruned, and created again")
    found = {info.session_id: (info.pruned_to, info.created) for info in store.sessions()}
    same((0, at), found["s"], "pruned_to and created of a session that was pruned, and created again")
    same(["other", "s"], list(store.unfinished()), "sessions in the order of their creation, one created again")


def _sessions_are_listed(store: Store) -> None:
    times = [datetime(2020, 1, day, tzinfo=UTC) for day in (1, 2, 3, 4)]
    store.append("a", texts(1), at=times[0])
    store.append("b", texts(2), at=times[1])
    store.append("c", texts(1), at=times[2])
    store.append("a", texts(2), at=times[3])
    found = [(info.session_id, info.seq, info.pruned_to, info.created, info.updated) for info in store.sessions()]
    expected = [("a", 3, 0, times[0], times[3]), ("c", 1, 0, times[2], times[2]), ("b", 2, 0, times[1], times[1])]
    same(expected, found, "id, seq, pruned_to, created and updated of the sessions, newest first")
    store.snapshot("a", fold(store.read("a")))
    store.prune("a", 3)
    refuse(ConflictError, lambda: store.append("a", texts(1), expected_seq=1), "an outdated batch")
    same(expected[0][3:], (store.sessions()[0].created, store.sessions()[0].updated), "times of a pruned session")
    store.fork("b", "fork")
    fork = store.sessions()[0]
    same(("fork", fork.created), (fork.session_id, fork.updated), "id and updated of a fork, the session updated last")
    store.append("c", texts(1), at=times[0])
    store.append("a", texts(1), at=times[0])
    rest = [(info.session_id, info.updated) for info in store.sessions()[1:]]
    same([("c", times[2]), ("b", times[1]), ("a", times[0])], rest, "sessions after batches of the first time")


# 12: media


def _media_outlive_other_references(store: Store) -> None:
    for name in ("a", "b"):
        store.append(name, with_media("m"))
        store.append(name, with_media("n"))
    transcript = fold(store.read("a"))
    store.snapshot("a", fold(store.read("a", limit=2)))
    store.snapshot("a", transcript)
    events = events_of(store.read("a"))
    same([*with_media("m"), *with_media("n")], events, "events with media")
    store.delete("b")
    same(events, events_of(store.read("a")), "events with media after another session with them was deleted")
    store.prune("a", 3)
    same(events[3:], events_of(store.read("a", 3)), "events with media after others were pruned")
    store.fork("a", "c")
    store.delete("a")
    same(events[3:], events_of(store.read("c", 3)), "events with media of a fork whose source was deleted")
    same(transcript, store.load_snapshot("c"), "a snapshot with media of a fork whose source was deleted")


# 13: unfinished work


def _unfinished_work_is_indexed(store: Store) -> None:
    call = Unfinished(message_id="m1", awaits="tools", call_id="c1")
    prompt = Unfinished(message_id="u1", awaits="model")
    store.append("b", texts(1), expected_seq=0, unfinished=[call, *RUNNING])
    store.append("a", texts(1), expected_seq=0, unfinished=iter([prompt]))
    store.append("settled", OPEN, expected_seq=0, unfinished=())
    expected = {"b": (call, *RUNNING), "a": (prompt,)}
    same(list(expected.items()), list(store.unfinished().items()), "unfinished work in the order of the sessions")
    refuse(ConflictError, lambda: store.append("a", [], expected_seq=0, unfinished=()), "an outdated empty batch")
    refuse(ConflictError, lambda: store.append("a", texts(1), expected_seq=0, unfinished=()), "an outdated batch")
    refuse(ValueError, lambda: store.append("a", texts(1), unfinished=()), "unfinished without expected_seq")
    wrong: list[Unfinished] = ["u1"]  # type: ignore[list-item]
    refuse(TypeError, lambda: store.append("a", texts(1), expected_seq=1, unfinished=wrong), "a str as unfinished")
    same(expected, store.unfinished(), "unfinished work after refused batches")
    store.snapshot("a", fold(store.read("a")))
    store.prune("a", 1)
    same(expected, store.unfinished(), "unfinished work after its log was pruned")
    store.append("a", [], expected_seq=1, unfinished=RUNNING)
    store.append("b", texts(1), expected_seq=1, unfinished=())
    same({"a": RUNNING}, store.unfinished(), "unfinished work after it was replaced, by an empty batch too")
    same(1, store.seq("a"), "seq after an empty batch with unfinished work")


def _unknown_unfinished_work_is_folded(store: Store) -> None:
    for at in range(0, len(TURN), 3):
        store.append("s", TURN[at : at + 3])
        same(folded(store, "s"), unfinished_of(store, "s"), f"unfinished work after {TURN[: at + 3]!r}")
        same(folded(store, "s"), unfinished_of(store, "s"), "unfinished work, asked for again")
    store.append("s", [], expected_seq=len(TURN), unfinished=())
    store.append("s", OPEN)
    store.snapshot("s", fold(store.read("s")))
    store.prune("s", len(TURN))
    same({"s": folded(store, "s")}, store.unfinished(), "unfinished work after a batch without it")


# 14: threads, and closing


def _threads_may_share_a_store(store: Store) -> None:
    def write(name: str) -> None:
        for number in range(10):
            store.append("s", [TextEnded(message_id=name, text=f"{number} {part}") for part in range(3)])
            list(store.read("s", limit=5))

    at_once([partial(write, f"thread {number}") for number in range(4)], "one of four writing threads")
    records = list(store.read("s"))
    same(list(range(1, 121)), [record.seq for record in records], "seq of the records of four threads")
    for at in range(0, 120, 3):
        batch = {record.event.message_id for record in records[at : at + 3]}
        same(1, len(batch), f"number of threads in the batch at seq {at + 1}")
    for number in range(4):
        own = [record.event for record in records if record.event.message_id == f"thread {number}"]
        texts = [getattr(event, "text", "") for event in own]
        same(sorted(texts), texts, "batches of one thread, in its order")


def _closed_stores_refuse_calls(store: Store) -> None:
    store.append("s", texts(2))
    transcript, claim = fold(store.read("s")), store.claim("s", "w1")
    store.close()
    store.close()
    verbs: dict[str, Callable[[], object]] = {
        "append": lambda: store.append("s", texts(1)),
        "read": lambda: list(store.read("s")),
        "seq": lambda: store.seq("s"),
        "seqs": lambda: store.seqs(["s"]),
        "sessions": store.sessions,
        "snapshot": lambda: store.snapshot("s", transcript),
        "load_snapshot": lambda: store.load_snapshot("s"),
        "prune": lambda: store.prune("s", 1),
        "fork": lambda: store.fork("s", "t"),
        "delete": lambda: store.delete("s"),
        "unfinished": store.unfinished,
        "claim": lambda: store.claim("s", "w1"),
        "release": lambda: store.release(claim),
        "beat": lambda: store.beat("w1"),
        "take_over": lambda: store.take_over("w1"),
        "checkpoint": lambda: store.checkpoint("s", []),
        "load_checkpoints": lambda: store.load_checkpoints("s"),
        "with": store.__enter__,
    }
    for name, verb in verbs.items():
        refuse(StoreError, verb, f"{name} after close")


# 15: reentrant calls


class _Finalizer:
    """Garbage whose finalizer appends an event and creates the next one."""

    def __init__(self, store: Store, written: list[int], left: int, until: float) -> None:
        self.store = store
        self.written = written
        self.left = left
        self.until = until
        self.itself = self

    def __del__(self) -> None:
        if self.left and monotonic() < self.until:
            _Finalizer(self.store, self.written, self.left - 1, self.until)
            with suppress(StoreError):
                (record,) = self.store.append("s", [TextEnded(message_id="finalizer", text=str(self.left))])
                self.written.append(record.seq)


def _reentrant_calls_are_harmless(store: Store) -> None:
    written: list[int] = []
    batches: list[Sequence[Record]] = []

    def write() -> None:
        before = gc.get_threshold()
        _Finalizer(store, written, _FINALIZERS, monotonic() + _FINALIZERS_S)
        gc.set_threshold(1)  # the collector runs as often as possible, also during calls of the store
        try:
            for number in range(20):
                batches.append(store.append("s", [started(f"m{number}"), *texts(3, f"m{number}")]))
                store.unfinished()
        finally:
            gc.set_threshold(*before)

    at_once([write], "a writer that is interrupted by finalizers which append")
    gc.collect()
    records = list(store.read("s"))
    same(list(range(1, len(records) + 1)), [record.seq for record in records], "seq after reentrant calls")
    inner = [record.seq for record in records if record.event.message_id == "finalizer"]
    same(sorted(written), inner, "seq of the records of reentrant calls")
    for batch in batches:
        same(list(batch), records[batch[0].seq - 1 :][: len(batch)], "a batch that was interrupted by reentrant calls")
    same(folded(store, "s"), unfinished_of(store, "s"), "unfinished work after reentrant calls")


def _race(one: Store, two: Store) -> list[str]:
    """Append to both at once with the same expected_seq, and return the outcomes."""
    results: list[str] = []
    start = Barrier(2)

    def write(store: Store) -> None:
        start.wait()
        try:
            store.append("s", texts(2), expected_seq=0)
        except ConflictError:
            results.append("conflict")
        else:
            results.append("won")

    at_once([partial(write, one), partial(write, two)], "one of two writers")
    return results


# Two stores on one storage


def _both_see_all(one: Store, two: Store) -> None:
    one.append("s", [*TURN, *OPEN], expected_seq=0, unfinished=RUNNING)
    two.append("s", texts(1))
    same(list(one.read("s")), list(two.read("s")), "records seen from two stores")
    same(one.unfinished(), two.unfinished(), "unfinished work, seen from two stores")
    one.snapshot("s", fold(one.read("s")))
    same(one.load_snapshot("s"), two.load_snapshot("s"), "a snapshot seen from two stores")
    same(one.seq("s"), two.seq("s"), "seq, seen from two stores")
    for what in (one.sessions, partial(one.seqs, ["s"]), partial(one.load_checkpoints, "s")):
        what()  # a store may keep it
    two.append(
        "s", [PromptSubmitted(message_id="prompt", content="later"), started("later"), TextStarted(message_id="later")]
    )
    end = len(TURN) + 6
    same((end, {"s": end}), (one.seq("s"), one.seqs(["s"])), "seq after a batch of the other store")
    same([end], [info.seq for info in one.sessions()], "sessions after a batch of the other store")
    same(folded(two, "s"), unfinished_of(one, "s"), "unfinished work after a batch of the other store")
    piece = TextDelta(message_id="later", offset=0, delta="piece")
    two.checkpoint("s", [piece])
    same((piece,), one.load_checkpoints("s"), "checkpoints of the other store")
    newer = fold(two.read("s"))
    two.snapshot("s", newer)
    same(newer, one.load_snapshot("s"), "a snapshot that the other store has replaced")
    two.prune("s", 5)
    refuse(PrunedError, lambda: list(one.read("s")), "reading what the other store has pruned")
    two.delete("s")
    same((0, (), None), (one.seq("s"), (*one.read("s"),), one.load_snapshot("s")), "what the other store has deleted")
    one.append("s", texts(2), expected_seq=0)
    one.close()
    same(events_of(two.read("s")), texts(2), "records after the other store was closed")
    require(two.persistent, "a store whose storage is opened again is not persistent: sessions write no checkpoints")


def _one_of_both_wins(one: Store, two: Store) -> None:
    same(["conflict", "won"], sorted(_race(one, two)), "two concurrent batches with the same expected_seq")


_PROMISES: Final[dict[str, tuple[_Try, ...]]] = {
    "1, batches are atomic": (_a_store_has_all_methods, _batches_are_atomic, readers.readers_see_whole_batches),
    "2, seq has no gaps": (_seq_has_no_gaps,),
    "3, concurrency is optimistic": (_expected_seq_is_checked, _one_of_two_writers_wins),
    "4, only durable events are stored": (_only_durable_events_are_stored,),
    "5, a batch has one time and one meta": (_a_batch_has_one_time, _meta_round_trips),
    "6, events round-trip": (
        _events_round_trip,
        readers.the_cursor_is_exclusive,
        readers.long_logs_are_read,
        ids.ids_are_any_strings,
    ),
    "7, readers do not block": (readers.readers_do_not_block, readers.a_reader_notices_pruning),
    "8, one snapshot per session": (_one_snapshot_per_session,),
    "9, pruning needs a snapshot": (_pruning_needs_a_snapshot,),
    "10, a fork is independent": (
        forks.a_fork_has_the_records,
        forks.a_fork_of_a_pruned_log,
        forks.a_fork_is_independent,
    ),
    "11, deleting is complete": (_deleting_is_complete, _sessions_are_listed),
    "12, media are deduplicated": (_media_outlive_other_references,),
    "13, unfinished work is indexed": (_unfinished_work_is_indexed, _unknown_unfinished_work_is_folded),
    "14, threads may share a store": (_threads_may_share_a_store, _closed_stores_refuse_calls),
    "15, calls are not reentrant": (_reentrant_calls_are_harmless,),
    "16, a session has one owner": (claims.a_session_has_one_owner, claims.sessions_are_listed_in_pages),
    "17, a token is for one claim": (
        claims.a_session_has_one_claim,
        claims.tokens_fence,
        claims.a_claim_ends_the_batches_before,
    ),
    "18, sessions of dead workers are taken over once": (
        claims.sessions_of_dead_workers_are_taken_over,
        claims.a_sign_of_life_lasts,
        claims.one_of_several_takes_over,
    ),
    "19, checkpoints are not records": (
        checkpoints.checkpoints_are_kept_apart,
        checkpoints.checkpoints_end_with_their_fragment,
        checkpoints.a_rewind_removes_checkpoints,
        checkpoints.late_checkpoints_are_left_out,
        checkpoints.a_fork_has_the_checkpoints_of_its_place,
        checkpoints.checkpoints_are_fenced,
    ),
    "sessions are independent": (ids.sessions_are_kept_apart,),
}
_OF_TWO: Final = (_both_see_all, _one_of_both_wins, claims.one_of_both_takes_over)
