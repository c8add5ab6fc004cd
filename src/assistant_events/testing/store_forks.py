"""The tries of `check_store` for forks."""

from __future__ import annotations

from functools import partial

import attrs

from assistant_events.errors import ConflictError, PrunedError, StoreError
from assistant_events.events import Record
from assistant_events.reducer import fold
from assistant_events.stores.contract import Store
from assistant_events.testing.store_expectations import folded, refuse, same, texts, unfinished_of
from assistant_events.testing.store_samples import RUNNING, TURN


def a_fork_has_the_records(store: Store) -> None:
    """Try forks at every place, and those that are refused."""
    for at in range(0, len(TURN), 5):
        store.append("s", TURN[at : at + 5], meta={"batch": at})
    records = list(store.read("s"))
    for seq in range(1, len(records) + 1):
        name = f"fork {seq}"
        same(seq, store.fork("s", name, at=seq), "result of fork")
        expected = [attrs.evolve(record, session_id=name) for record in records[:seq]]
        same(expected, list(store.read(name)), f"records of a fork at {seq}")
        same(folded(store, name), unfinished_of(store, name), f"unfinished work of a fork at {seq}")
    store.append("fork 7", texts(1), expected_seq=7)
    same(records, list(store.read("s")), "records of a session after appending to its fork")
    same(len(records), store.fork("s", "whole"), "result of fork without a seq")
    store.append("whole", texts(1), expected_seq=len(records))
    same(records, list(store.read("s")), "records of a session after appending to a fork of all of it")
    same(0, store.fork("s", "none", at=0), "result of a fork before the first record")
    same(0, store.seq("none"), "seq of a fork before the first record")
    same(False, "none" in [info.session_id for info in store.sessions()], "is there a fork before the first record")
    refuse(ConflictError, lambda: store.fork("s", "fork 3"), "a fork to a session with records")
    refuse(ConflictError, lambda: store.fork("s", "s"), "a fork to itself")
    refuse(StoreError, lambda: store.fork("unknown", "new"), "a fork of an unknown session")
    refuse(StoreError, lambda: store.fork("s", "new", at=len(records) + 1), "a fork beyond the end")
    same(0, store.seq("new"), "seq of a refused fork")


def a_fork_of_a_pruned_log(store: Store) -> None:
    """Try forks of a log whose first records are in a snapshot alone."""
    for at in range(0, len(TURN), 5):
        store.append("s", TURN[at : at + 5])
    records = list(store.read("s"))
    held = 8
    store.snapshot("s", fold(records[:held]))
    store.prune("s", 6)
    for seq in (5, 7):
        refuse(StoreError, lambda: store.fork("s", "early", at=seq), f"a fork at {seq}, before the snapshot")  # noqa: B023
    for seq in range(held, len(records) + 1):
        name = f"fork {seq}"
        store.fork("s", name, at=seq)
        start = store.load_snapshot(name)
        same(fold(records[:held]), start, f"snapshot of a fork at {seq}")
        same(fold(records[:seq]), fold(store.read(name, held), start=start), f"transcript of a fork at {seq}")
        refuse(PrunedError, partial(_all, store, name), "reading a fork of a pruned log from the start")
        places = {info.session_id: (info.seq, info.pruned_to) for info in store.sessions()}
        same((seq, 6), places[name], f"seq and pruned_to of a fork at {seq}")
        same(folded(store, name), unfinished_of(store, name), f"unfinished work of a fork at {seq}")


def a_fork_is_independent(store: Store) -> None:
    """Try that a fork stays as it is whatever becomes of its source, and the source whatever becomes of a fork."""
    records = list(store.append("s", TURN, expected_seq=0, unfinished=RUNNING))
    held, end = fold(records[:8]), len(records)
    store.snapshot("s", held)
    for name, at in (("whole", None), ("early", 8), ("gone", 9)):
        store.fork("s", name, at=at)
        same(held, store.load_snapshot(name), f"snapshot of the fork {name!r}, whose source has one at 8")
    same(RUNNING, unfinished_of(store, "s"), "unfinished work of a session after it was forked")
    expected = {name: [attrs.evolve(each, session_id=name) for each in records] for name in ("whole", "early")}
    store.append("s", texts(1))
    store.prune("s", 3)
    same(expected["whole"], _all(store, "whole"), "records of a fork after its source has another one, and is pruned")
    same(expected["early"][:8], _all(store, "early"), "records of a fork at 8 after its source is pruned")
    store.append("whole", texts(2), expected_seq=end)
    store.snapshot("whole", fold(_all(store, "whole")))
    store.prune("whole", 5)
    store.delete("gone")
    same(records[3:], list(store.read("s", 3))[:-1], "records of a session after a fork is pruned, and one is deleted")
    same((end + 1, held), (store.seq("s"), store.load_snapshot("s")), "seq and snapshot of a session beside its forks")
    store.delete("s")
    same(expected["whole"][5:], list(store.read("whole", 5))[:-2], "records of a fork whose source was deleted")
    same(held, store.load_snapshot("early"), "snapshot of a fork whose source was deleted")


def _all(store: Store, session_id: str) -> list[Record]:
    return list(store.read(session_id))
