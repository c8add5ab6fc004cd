"""The tries of `check_store` for readers: cursors, writers beside them, and pruning."""

from __future__ import annotations

from assistant_events.errors import PrunedError
from assistant_events.reducer import fold
from assistant_events.stores.contract import Store
from assistant_events.testing.store_expectations import at_once, refuse, same, texts


def the_cursor_is_exclusive(store: Store) -> None:
    """Try cursors and limits, also beyond the end of the log, and beyond 64 bits."""
    store.append("s", texts(3))
    store.append("s", texts(4))
    for after in (*range(9), 10**20):
        same(list(range(after + 1, 8)), [record.seq for record in store.read("s", after)], f"seq after {after}")
        for limit in (0, 1, 2, 4, 9):
            expected = list(range(after + 1, 8))[:limit]
            got = [record.seq for record in store.read("s", after, limit=limit)]
            same(expected, got, f"at most {limit} records after {after}")
    same([], list(store.read("unknown", 5)), "records of an unknown session")
    refuse(ValueError, lambda: list(store.read("s", -1)), "a negative cursor")
    refuse(ValueError, lambda: list(store.read("s", limit=-1)), "a negative limit")


def long_logs_are_read(store: Store) -> None:
    """Try cursors and limits in a log that is longer than most pages."""
    for _ in range(5):
        store.append("s", texts(300))
    for after, limit, last in ((0, None, 1500), (700, None, 1500), (0, 1400, 1400), (700, 799, 1499)):
        found = [record.seq for record in store.read("s", after, limit=limit)]
        same([*range(after + 1, last + 1)], found, f"seq of at most {limit} records after {after} of a long log")


def readers_see_whole_batches(store: Store) -> None:
    """Try a reader beside a writer: it sees all of a batch, or nothing."""
    ended: list[bool] = []

    def write() -> None:
        try:
            for _ in range(5):
                store.append("s", texts(300))
        finally:
            ended.append(True)

    def look() -> None:
        while not ended:
            same(0, len(list(store.read("s"))) % 300, "records of a part of a batch of 300")

    at_once([write, look], "a reader beside a writer of long batches")


def readers_do_not_block(store: Store) -> None:
    """Try readers that are suspended, more than a pool has connections, beside a writer."""
    store.append("s", texts(600))
    reader = store.read("s")
    first = [next(reader) for _ in range(3)]
    others = [store.read("s", 1) for _ in range(32)]
    same([2] * 32, [next(other).seq for other in others], "seq of the first record of other readers")
    at_once([lambda: store.append("s", texts(2))], "a writer beside suspended readers")
    same(602, store.seq("s"), "seq after a batch during a read")
    rest = [record.seq for record in (*first, *reader)]
    same(list(range(1, 601)), rest[:600], "records of a reader that was suspended")


def a_reader_notices_pruning(store: Store) -> None:
    """Try a reader before which the log is pruned: it gives all records, or raises."""
    store.append("s", texts(600))
    reader, end = store.read("s"), 600
    found = [next(reader).seq]
    store.snapshot("s", fold(store.read("s")))
    store.prune("s", 500)
    try:
        found += [record.seq for record in reader]
    except PrunedError:
        end = len(found)
    same(list(range(1, end + 1)), found, "records of a reader before which the log was pruned")
