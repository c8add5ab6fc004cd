"""
`check_store`: the promises of a store, each tried on any implementation.

What cannot be seen through the verbs is left to the implementation's own tests: what a killed process leaves behind,
what a file takes up, how long things take.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Barrier, Thread
from typing import Final, TypeAlias

import attrs

from assistant_events.errors import ConflictError, LocalProtocolError, PrunedError, StoreError
from assistant_events.events import Event, OpaqueReceived, PromptSubmitted, Record, TextEnded
from assistant_events.messages import AssistantMessage, CompactionMessage, MessageStatus, Transcript
from assistant_events.reducer import fold
from assistant_events.stores.contract import Store, Unfinished, UnfinishedKind
from assistant_events.testing.store_samples import LIVE, ODD, STORIES, TURN, UNKNOWN, called, started, with_media
from assistant_events.values import CUT_KINDS

_Try: TypeAlias = Callable[[Store], None]
_OPEN: Final = (started("open"), called("c1", "open"))
_SECONDS: Final = 30.0
"""How long something may take that must not wait for anybody."""

_FINALISERS: Final = 1000
"""How many are collected one after another while a store writes."""


def check_store(make_store: Callable[[], Store], *, again: Callable[[Store], Store] | None = None) -> None:
    """
    Try every promise of `assistant_events.stores.contract` on stores of one implementation.

    Args:
        make_store: Return a new store that holds nothing. It is closed afterwards.

        again: Open another store on the storage of the one that it is given, as a second process would. Left out for
            stores that share nothing.

    Raises:
        AssertionError: A promise is not kept. The sentence says which, and what came instead.
    """
    for promise, tries in _PROMISES.items():
        for attempt in tries:
            with _told(promise), make_store() as store:
                attempt(store)
    if again is not None:
        for of_two in _OF_TWO:
            with _told("stores on one storage are one"), make_store() as store, again(store) as second:
                of_two(store, second)


def unfinished_in(session_id: str, transcript: Transcript) -> list[Unfinished]:
    """Return what is unfinished as the transcript shows it: what an index must answer without one."""
    found: list[Unfinished] = []
    for message in transcript.messages:
        kind = None
        run = None
        if isinstance(message, CompactionMessage) and message.status is MessageStatus.RUNNING:
            kind = UnfinishedKind.COMPACTION
        elif isinstance(message, AssistantMessage):
            run = message.run
            if message.status is MessageStatus.RUNNING:
                kind = UnfinishedKind.STEP
            elif message.error is not None and message.error.kind in CUT_KINDS and run is not None and run.resumable:
                kind = UnfinishedKind.CUT
        if kind is not None:
            found.append(Unfinished(session_id=session_id, message_id=message.id, kind=kind, run=run))
        if isinstance(message, AssistantMessage):
            found += [
                Unfinished(session_id=session_id, message_id=message.id, kind=UnfinishedKind.CALL, call_id=call.call_id)
                for call in message.pending_tool_calls
            ]
    return found


@contextmanager
def _told(promise: str) -> Generator[None]:
    """Say which promise it was when something fails."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"{promise}: {error}") from error
    except Exception as error:
        raise AssertionError(f"{promise}: unexpected {type(error).__name__}: {error}") from error


def _hold(condition: bool, sentence: str) -> None:
    if not condition:
        raise AssertionError(sentence)


def _same(expected: object, got: object, what: str) -> None:
    _hold(expected == got, f"{what}: expected {expected!r}, got {got!r}")


def _refuse(kind: type[Exception], attempt: Callable[[], object], what: str) -> Exception:
    try:
        attempt()
    except kind as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what}: expected {kind.__name__}, got {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what}: expected {kind.__name__}, nothing was raised")


def _events_of(records: Iterable[Record]) -> list[Event]:
    return [record.event for record in records]


def _texts(count: int, message_id: str = "m1") -> list[Event]:
    return [TextEnded(message_id=message_id, text=f"text {number}") for number in range(count)]


# 1 to 5: appending


def _batch_is_one(store: Store) -> None:
    written = store.append("s", _texts(3))
    _same(list(written), list(store.read("s")), "what append returned and what read returns")

    def broken() -> Iterator[Event]:
        yield _texts(1)[0]
        raise RuntimeError("the caller's own")

    _refuse(RuntimeError, lambda: store.append("s", broken()), "a batch whose making fails")
    _same(3, store.seq("s"), "seq after a batch whose making failed")
    _same((), store.append("s", []), "an empty batch")
    _same((), store.append("empty", []), "an empty batch to a session that is not known")
    _same(["s"], [info.session_id for info in store.sessions()], "sessions after an empty batch to another")


def _places_have_no_gaps(store: Store) -> None:
    for size in (1, 3, 2):
        store.append("a", _texts(size))
        store.append("b", _texts(1))
    _same([1, 2, 3, 4, 5, 6], [record.seq for record in store.read("a")], "places of one session")
    _same([1, 2, 3], [record.seq for record in store.read("b")], "places of another")
    _same({"a"}, {record.session_id for record in store.read("a")}, "session of the records")
    _same((6, 3, 0), (store.seq("a"), store.seq("b"), store.seq("c")), "seq of two sessions and of none")


def _late_writer_learns_it(store: Store) -> None:
    store.append("s", _texts(2), expected_seq=0)
    for expected in (0, 1, 3):
        error = _refuse(
            ConflictError,
            lambda: store.append("s", _texts(1), expected_seq=expected),  # noqa: B023 - called at once
            f"a batch that expects seq {expected} where the store holds 2",
        )
        told = (
            getattr(error, "session_id", None),
            getattr(error, "expected_seq", None),
            getattr(error, "actual_seq", None),
        )
        _same(("s", expected, 2), told, "session, expected and actual seq of the ConflictError")
    _refuse(ConflictError, lambda: store.append("s", [], expected_seq=1), "an empty batch that expects another seq")
    _refuse(
        ConflictError, lambda: store.append("t", _texts(1), expected_seq=1), "a batch that expects seq 1 of nothing"
    )
    _same((2, 0), (store.seq("s"), store.seq("t")), "seq after refused batches")
    store.append("s", _texts(1), expected_seq=2)
    store.append("s", _texts(1))
    _same(4, store.seq("s"), "seq after a batch that expected it and one that expected nothing")


def _one_of_two_writers_wins(store: Store) -> None:
    _same(["conflict", "won"], sorted(_race(store, store)), "two batches at once that expect the same seq")
    _same(2, store.seq("s"), "seq after two batches of 2 at once of which one may win")


def _only_durable_events_are_kept(store: Store) -> None:
    for live in LIVE:
        name = type(live).__name__
        error = _refuse(
            LocalProtocolError,
            lambda: store.append("s", [*_texts(2), live]),  # noqa: B023 - called at once
            f"a batch that ends with {name}",
        )
        _hold(name in str(error), f"the error for {name} does not name it: {error}")
    _refuse(TypeError, lambda: store.append("s", [*_texts(2), "text"]), "a batch with a str")  # type: ignore[list-item]
    _same(0, store.seq("s"), "seq after batches that were refused for one of their events")
    other = attrs.evolve(UNKNOWN, type="another.event")
    _refuse(ValueError, lambda: store.append("s", [*_texts(2), other]), "an UnknownEvent that is not its document")
    _same(0, store.seq("s"), "seq after an UnknownEvent that is not its document")
    store.append("s", [UNKNOWN])
    _same([UNKNOWN], _events_of(store.read("s")), "an UnknownEvent")


def _a_batch_has_one_time(store: Store) -> None:
    before = datetime.now(UTC)
    at = datetime(2001, 2, 3, 4, 5, 6, 789012, tzinfo=UTC)
    written = (*store.append("s", _texts(2)), *store.append("s", _texts(2), at=at))
    _same(list(written), list(store.read("s")), "records with their times")
    _same([at, at], [record.at for record in store.read("s")][2:], "the time that was given")
    told = {record.at for record in list(store.read("s"))[:2]}
    _same(1, len(told), "how many times the records of one batch have")
    _hold(
        all(each.utcoffset() == timedelta(0) for each in told), f"a time that is not in UTC: {told}, asked at {before}"
    )
    _refuse(ValueError, lambda: store.append("s", _texts(1), at=datetime(2001, 2, 3)), "a time without a zone")  # noqa: DTZ001
    _same(4, store.seq("s"), "seq after a batch with an impossible time")


def _meta_comes_back(store: Store) -> None:
    meta = {"user": "ü\ud800", "n": 10**30, "deep": [{"x": None, "a": 1.5}]}
    store.append("s", _texts(2), meta=meta)
    store.append("s", _texts(1))
    store.append("s", _texts(1), meta={"other": True})
    _same([meta, meta, {}, {"other": True}], [record.meta for record in store.read("s")], "meta of the records")
    _same(["user", "n", "deep"], list(next(store.read("s")).meta), "keys of meta, in their order")
    _refuse(TypeError, lambda: store.append("s", _texts(1), meta={"at": object()}), "meta that is no JSON")
    _same(4, store.seq("s"), "seq after a batch whose meta is no JSON")


# 6 and 7: reading


def _what_comes_back_is_equal(store: Store) -> None:
    events = [*TURN, *ODD]
    store.append("s", events)
    for given, record in zip(events, store.read("s"), strict=True):
        _same(given, record.event, f"{type(given).__name__} at seq {record.seq}")
        _same(type(given), type(record.event), f"class of the event at seq {record.seq}")
    for given, record in zip(events, store.read("s"), strict=True):
        if isinstance(given, OpaqueReceived) and isinstance(record.event, OpaqueReceived):
            _same(list(given.state), list(record.event.state), "keys of a state, in their order")


def _the_cursor_is_not_included(store: Store) -> None:
    store.append("s", _texts(3))
    store.append("s", _texts(4))
    for after in range(9):
        _same(list(range(after + 1, 8)), [record.seq for record in store.read("s", after)], f"places after {after}")
        for limit in (0, 1, 2, 4, 9):
            expected = list(range(after + 1, 8))[:limit]
            got = [record.seq for record in store.read("s", after, limit=limit)]
            _same(expected, got, f"at most {limit} places after {after}")
    _same([], list(store.read("nobody", 5)), "records of a session that is not known")
    _refuse(ValueError, lambda: list(store.read("s", -1)), "a cursor before the start")
    _refuse(ValueError, lambda: list(store.read("s", limit=-1)), "a limit below 0")


def _ids_are_any_strings(store: Store) -> None:
    ids = ["a", "A", "a ", "a/b", "a\x00", "a\x00b", "é", "e\u0301", "😀", "\ud83d", "%_'\"", "1", "x" * 5000]
    for name in ids:
        store.append(
            name, [PromptSubmitted(message_id=name, content=name), started(f"{name}!"), called(name, f"{name}!")]
        )
    for name in ids:
        _same([1, 2, 3], [record.seq for record in store.read(name)], f"places of session {name!r}")
        _same(name, next(store.read(name)).event.message_id, f"message of session {name!r}")
        _same([f"{name}!"] * 2, [each.message_id for each in store.unfinished(name)], f"unfinished of {name!r}")
    _same(set(ids), {info.session_id for info in store.sessions()}, "ids of the sessions")
    for wrong, kind in (("", ValueError), (None, TypeError), (1, TypeError), (b"a", TypeError)):
        _refuse(kind, lambda: store.append(wrong, _texts(1)), f"session id {wrong!r}")  # type: ignore[arg-type]  # noqa: B023
        _refuse(kind, lambda: list(store.read(wrong)), f"session id {wrong!r}")  # type: ignore[arg-type]  # noqa: B023


def _reading_waits_for_nobody(store: Store) -> None:
    store.append("s", _texts(600))
    reader = store.read("s")
    first = [next(reader) for _ in range(3)]
    other = store.read("s", 1)
    _at_once([lambda: store.append("s", _texts(2))], "a writer beside a reader that stands still")
    _same(602, store.seq("s"), "seq after a batch during a read")
    _same(2, next(other).seq, "place of the first record of a second reader")
    rest = [record.seq for record in (*first, *reader)]
    _same(list(range(1, 601)), rest[:600], "places that a reader saw that stood still meanwhile")


# 8 to 11: the life of a log


def _snapshot_stands_for_its_records(store: Store) -> None:
    store.append("s", TURN)
    whole = fold(store.read("s"))
    early = fold(store.read("s", limit=4))
    _same(None, store.load_snapshot("s"), "the snapshot of a session that has none")
    _same(None, store.load_snapshot("nobody"), "the snapshot of a session that is not known")
    store.snapshot("s", early)
    _same(early, store.load_snapshot("s"), "a snapshot")
    store.snapshot("s", whole)
    loaded = store.load_snapshot("s")
    _same(whole, loaded, "the snapshot that took the place of an older one")
    _same([each.times for each in whole], [each.times for each in loaded or ()], "times of the messages of a snapshot")
    _same(whole, fold(store.read("s", whole.seq), start=loaded), "a snapshot at the end and the records after it")
    store.snapshot("s", whole)
    _refuse(StoreError, lambda: store.snapshot("s", early), "a snapshot behind the one that is there")
    beyond = attrs.evolve(whole, seq=whole.seq + 1)
    _refuse(StoreError, lambda: store.snapshot("s", beyond), "a snapshot beyond the end of the log")
    _refuse(StoreError, lambda: store.snapshot("s", Transcript()), "a snapshot of nothing")
    _refuse(StoreError, lambda: store.snapshot("nobody", whole), "a snapshot of a session that is not known")
    _same(whole, store.load_snapshot("s"), "the snapshot after others were refused")


def _pruning_loses_nothing(store: Store) -> None:
    for at in range(0, len(TURN), 5):
        store.append("s", TURN[at : at + 5])
    records = list(store.read("s"))
    whole = fold(records)
    error = _refuse(StoreError, lambda: store.prune("s", 7), "pruning without a snapshot")
    _hold("snapshot" in str(error), f"the error does not say that a snapshot is missing: {error}")
    store.snapshot("s", fold(records[:8]))
    _refuse(StoreError, lambda: store.prune("s", 9), "pruning beyond the snapshot")
    _refuse(StoreError, lambda: store.prune("nobody", 1), "pruning a session that is not known")
    _same(records, list(store.read("s")), "records after pruning was refused")
    for through in (0, 3, 7, 7, 2):
        store.prune("s", through)
        kept = max(through, {2: 7}.get(through, 0))
        _same(records[kept:], list(store.read("s", kept)), f"records after {kept} when pruned up to there")
        told = next(info for info in store.sessions() if info.session_id == "s")
        _same((len(records), kept), (told.seq, told.pruned_to), "seq and pruned_to of the session")
    for after in (0, 6):
        _refuse(PrunedError, lambda: list(store.read("s", after)), f"reading after {after} when pruned up to 7")  # noqa: B023
    start = store.load_snapshot("s")
    _same(whole, fold(store.read("s", 8), start=start), "the snapshot and the records after it")
    _same((len(records) + 1,), tuple(each.seq for each in store.append("s", _texts(1))), "the place after a pruned log")
    rest = store.append("s", _texts(1), expected_seq=len(records) + 1)
    store.snapshot("s", attrs.evolve(whole, seq=rest[-1].seq))
    store.prune("s", rest[-1].seq)
    _same([], list(store.read("s", rest[-1].seq)), "records of a log that is pruned to its end")
    _same(rest[-1].seq, store.seq("s"), "seq of a log that is pruned to its end")
    _refuse(ConflictError, lambda: store.append("s", _texts(1), expected_seq=0), "a writer who takes it for empty")


def _fork_is_a_session_of_its_own(store: Store) -> None:
    for at in range(0, len(TURN), 5):
        store.append("s", TURN[at : at + 5], meta={"batch": at})
    records = list(store.read("s"))
    for place in range(1, len(records) + 1):
        name = f"fork {place}"
        _same(place, store.fork("s", name, at=place), "what fork returns")
        expected = [attrs.evolve(record, session_id=name) for record in records[:place]]
        _same(expected, list(store.read(name)), f"records of a fork at {place}")
        _same(_expected_unfinished(store, name), _unfinished(store, name), f"unfinished of a fork at {place}")
    store.append("fork 7", _texts(1), expected_seq=7)
    _same(records, list(store.read("s")), "records of a session after its fork was appended to")
    _same(len(records), store.fork("s", "whole"), "what fork returns without a place")
    store.append("whole", _texts(1), expected_seq=len(records))
    _same(records, list(store.read("s")), "records of a session after a fork of all of it was appended to")
    _same(0, store.fork("s", "none", at=0), "what a fork before the first record returns")
    _same(0, store.seq("none"), "seq of a fork before the first record")
    _refuse(ConflictError, lambda: store.fork("s", "fork 3"), "a fork to a session that has records")
    _refuse(ConflictError, lambda: store.fork("s", "s"), "a fork to itself")
    _refuse(StoreError, lambda: store.fork("nobody", "new"), "a fork of a session that is not known")
    _refuse(StoreError, lambda: store.fork("s", "new", at=len(records) + 1), "a fork beyond the end")
    _same(0, store.seq("new"), "seq of a fork that was refused")


def _fork_of_a_pruned_log(store: Store) -> None:
    for at in range(0, len(TURN), 5):
        store.append("s", TURN[at : at + 5])
    records = list(store.read("s"))
    held = 8
    store.snapshot("s", fold(records[:held]))
    store.prune("s", 6)
    for place in (5, 7):
        _refuse(StoreError, lambda: store.fork("s", "early", at=place), f"a fork at {place} below the snapshot")  # noqa: B023
    for place in range(held, len(records) + 1):
        name = f"fork {place}"
        store.fork("s", name, at=place)
        start = store.load_snapshot(name)
        _same(fold(records[:held]), start, f"snapshot of a fork at {place}")
        _same(fold(records[:place]), fold(store.read(name, held), start=start), f"transcript of a fork at {place}")
        _refuse(PrunedError, lambda: list(store.read(name)), "reading a fork of a pruned log from its start")  # noqa: B023
        _same(_expected_unfinished(store, name), _unfinished(store, name), f"unfinished of a fork at {place}")


def _deleting_leaves_nothing(store: Store) -> None:
    store.append("s", [*TURN, *_OPEN])
    store.append("other", [*TURN, *_OPEN])
    kept, unfinished = list(store.read("other")), _unfinished(store, "other")
    store.snapshot("s", fold(store.read("s")))
    store.delete("s")
    store.delete("s")
    _same([], list(store.read("s")), "records of a session that was deleted")
    _same((0, None), (store.seq("s"), store.load_snapshot("s")), "seq and snapshot of a session that was deleted")
    _same(["other"], [info.session_id for info in store.sessions()], "sessions after one was deleted")
    _same([], _unfinished(store, "s"), "what is unfinished in a session that was deleted")
    _same((kept, unfinished), (list(store.read("other")), _unfinished(store, "other")), "the session beside it")
    store.append("s", _OPEN[:1], expected_seq=0)
    _same([1], [record.seq for record in store.read("s")], "places of a session that begins anew")
    _same(["open"], [each.message_id for each in store.unfinished("s")], "unfinished of a session that begins anew")


def _sessions_are_listed(store: Store) -> None:
    times = [datetime(2020, 1, day, tzinfo=UTC) for day in (1, 2, 3, 4)]
    store.append("a", _texts(1), at=times[0])
    store.append("b", _texts(2), at=times[1])
    store.append("c", _texts(1), at=times[2])
    store.append("a", _texts(2), at=times[3])
    told = [(info.session_id, info.seq, info.pruned_to, info.created, info.updated) for info in store.sessions()]
    expected = [("a", 3, 0, times[0], times[3]), ("c", 1, 0, times[2], times[2]), ("b", 2, 0, times[1], times[1])]
    _same(expected, told, "id, seq, pruned_to, created and updated of the sessions, newest first")
    store.snapshot("a", fold(store.read("a")))
    store.prune("a", 3)
    _same(expected[0][3:], (store.sessions()[0].created, store.sessions()[0].updated), "times of a pruned session")


# 12: media


def _media_outlive_other_holders(store: Store) -> None:
    for name in ("a", "b"):
        store.append(name, with_media("m"))
        store.append(name, with_media("n"))
    transcript = fold(store.read("a"))
    store.snapshot("a", fold(store.read("a", limit=2)))
    store.snapshot("a", transcript)
    events = _events_of(store.read("a"))
    _same([*with_media("m"), *with_media("n")], events, "events with media")
    store.delete("b")
    _same(events, _events_of(store.read("a")), "events with media after another holder was deleted")
    store.prune("a", 3)
    _same(events[3:], _events_of(store.read("a", 3)), "events with media after others were pruned")
    store.fork("a", "c")
    store.delete("a")
    _same(events[3:], _events_of(store.read("c", 3)), "events with media of a fork whose origin was deleted")
    _same(transcript, store.load_snapshot("c"), "a snapshot with media of a fork whose origin was deleted")


# 13: what is unfinished


def _unfinished_is_known(store: Store) -> None:
    for number, story in enumerate(STORIES):
        whole, single = f"story {number} at once", f"story {number} one by one"
        store.append(whole, story)
        for event in story:
            store.append(single, [event])
            _same(_expected_unfinished(store, single), _unfinished(store, single), f"after {event!r}, unfinished")
        _same(_expected_unfinished(store, whole), _unfinished(store, whole), f"after {story!r} at once, unfinished")
        for event in story:
            store.append(whole, [event])
            _same(_expected_unfinished(store, whole), _unfinished(store, whole), f"{event!r} came late; unfinished")
    everything = [each for info in store.sessions() for each in store.unfinished(info.session_id)]
    _same(set(everything), set(store.unfinished()), "what is unfinished in all sessions")
    _same((), store.unfinished("nobody"), "what is unfinished in a session that is not known")


def _unfinished(store: Store, session_id: str) -> list[Unfinished]:
    return list(store.unfinished(session_id))


def _expected_unfinished(store: Store, session_id: str) -> list[Unfinished]:
    snapshot = store.load_snapshot(session_id)
    start = snapshot if snapshot is not None else Transcript()
    return unfinished_in(session_id, fold(store.read(session_id, start.seq), start=start))


# 14: threads, and the end


def _threads_may_share_a_store(store: Store) -> None:
    def write(name: str) -> None:
        for number in range(10):
            store.append("s", [TextEnded(message_id=name, text=f"{number} {part}") for part in range(3)])
            list(store.read("s", limit=5))

    _at_once([partial(write, f"thread {number}") for number in range(4)], "one of four threads that write")
    records = list(store.read("s"))
    _same(list(range(1, 121)), [record.seq for record in records], "places after four threads wrote")
    for at in range(0, 120, 3):
        batch = {record.event.message_id for record in records[at : at + 3]}
        _same(1, len(batch), f"how many threads wrote the batch at seq {at + 1}")
    for number in range(4):
        texts = [
            getattr(record.event, "text", "") for record in records if record.event.message_id == f"thread {number}"
        ]
        _same(sorted(texts), texts, "the batches of one thread, in its order")


def _closed_is_closed(store: Store) -> None:
    store.append("s", _texts(2))
    transcript = fold(store.read("s"))
    store.close()
    store.close()
    verbs: dict[str, Callable[[], object]] = {
        "append": lambda: store.append("s", _texts(1)),
        "read": lambda: list(store.read("s")),
        "seq": lambda: store.seq("s"),
        "sessions": store.sessions,
        "snapshot": lambda: store.snapshot("s", transcript),
        "load_snapshot": lambda: store.load_snapshot("s"),
        "prune": lambda: store.prune("s", 1),
        "fork": lambda: store.fork("s", "t"),
        "delete": lambda: store.delete("s"),
        "unfinished": store.unfinished,
        "with": store.__enter__,
    }
    for name, verb in verbs.items():
        _refuse(StoreError, verb, f"{name} after close")


# 15: calls inside calls


class _Finaliser:
    """Garbage that appends an event when it is collected, and leaves garbage like itself."""

    def __init__(self, store: Store, written: list[int], left: int) -> None:
        self.store = store
        self.written = written
        self.left = left
        self.itself = self

    def __del__(self) -> None:
        if self.left:
            _Finaliser(self.store, self.written, self.left - 1)
            with suppress(StoreError):
                (record,) = self.store.append("s", [TextEnded(message_id="finaliser", text=str(self.left))])
                self.written.append(record.seq)


def _calls_inside_calls_harm_nothing(store: Store) -> None:
    written: list[int] = []
    batches: list[Sequence[Record]] = []

    def write() -> None:
        before = gc.get_threshold()
        _Finaliser(store, written, _FINALISERS)
        gc.set_threshold(1)  # the collector runs as often as it can, so also in the middle of what a store does
        try:
            for number in range(20):
                batches.append(store.append("s", [started(f"m{number}"), *_texts(3, f"m{number}")]))
                store.unfinished("s")
        finally:
            gc.set_threshold(*before)

    _at_once([write], "a writer that is interrupted by finalisers which write, too")
    gc.collect()
    records = list(store.read("s"))
    _same(list(range(1, len(records) + 1)), [record.seq for record in records], "places after calls inside calls")
    inner = [record.seq for record in records if record.event.message_id == "finaliser"]
    _same(sorted(written), inner, "places of what was written by calls inside calls")
    for batch in batches:
        _same(list(batch), records[batch[0].seq - 1 :][: len(batch)], "a batch that was interrupted by calls")
    _same(_expected_unfinished(store, "s"), _unfinished(store, "s"), "what is unfinished after calls inside calls")


def _at_once(work: Sequence[Callable[[], object]], what: str) -> None:
    """Do all of it at once, each in a thread of its own; none may fail or wait for ever."""
    faults: list[Exception] = []

    def run(each: Callable[[], object]) -> None:
        try:
            each()
        except Exception as error:  # noqa: BLE001 - told by the thread that waits
            faults.append(error)

    threads = [Thread(target=run, args=(each,), daemon=True) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_SECONDS)
        _hold(not thread.is_alive(), f"{what} did not end within {_SECONDS:.0f} s")
    _hold(not faults, f"{what} failed: {faults!r}")


def _race(one: Store, two: Store) -> list[str]:
    """Let both append at once with the same expectation, and return how it went."""
    results: list[str] = []
    start = Barrier(2)

    def write(store: Store) -> None:
        start.wait()
        try:
            store.append("s", _texts(2), expected_seq=0)
        except ConflictError:
            results.append("conflict")
        else:
            results.append("won")

    _at_once([partial(write, one), partial(write, two)], "one of two writers")
    return results


# Two stores on one storage


def _both_see_all(one: Store, two: Store) -> None:
    one.append("s", [*TURN, *_OPEN])
    two.append("s", _texts(1))
    _same(list(one.read("s")), list(two.read("s")), "records seen from two stores")
    _same(one.unfinished(), two.unfinished(), "what is unfinished, seen from two stores")
    one.snapshot("s", fold(one.read("s")))
    _same(one.load_snapshot("s"), two.load_snapshot("s"), "a snapshot seen from two stores")
    one.close()
    _same(len(TURN) + 3, two.seq("s"), "seq after the other store was closed")


def _one_of_both_wins(one: Store, two: Store) -> None:
    _same(["conflict", "won"], sorted(_race(one, two)), "two batches at once that expect the same seq")


_PROMISES: Final[dict[str, tuple[_Try, ...]]] = {
    "1, a batch is one": (_batch_is_one,),
    "2, places have no gaps": (_places_have_no_gaps,),
    "3, who is late learns it": (_late_writer_learns_it, _one_of_two_writers_wins),
    "4, only durable events are kept": (_only_durable_events_are_kept,),
    "5, a batch has one time and one meta": (_a_batch_has_one_time, _meta_comes_back),
    "6, what comes back is equal": (_what_comes_back_is_equal, _the_cursor_is_not_included, _ids_are_any_strings),
    "7, reading waits for nobody": (_reading_waits_for_nobody,),
    "8, a snapshot stands for what it folded": (_snapshot_stands_for_its_records,),
    "9, pruning loses nothing": (_pruning_loses_nothing,),
    "10, a fork is a session of its own": (_fork_is_a_session_of_its_own, _fork_of_a_pruned_log),
    "11, deleting leaves nothing": (_deleting_leaves_nothing, _sessions_are_listed),
    "12, media are stored once": (_media_outlive_other_holders,),
    "13, what is unfinished is known at once": (_unfinished_is_known,),
    "14, threads may share a store": (_threads_may_share_a_store, _closed_is_closed),
    "15, a call is not interrupted": (_calls_inside_calls_harm_nothing,),
}
_OF_TWO: Final = (_both_see_all, _one_of_both_wins)
