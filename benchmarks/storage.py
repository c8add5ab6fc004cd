"""What the SQLite store adds to SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from assistant_events import DurableEvent, Transcript, fold
from assistant_events.converters import dumps
from assistant_events.stores import SqliteStore
from benchmarks.events import session
from benchmarks.measure import Figure, Settings, compare, ratio_figure

_APPEND_GOALS = {1: None, 10: None, 100: 1.3}
_READ_GOAL = 2.2
_AT = "2026-06-05T17:35:35.000000+00:00"

_TABLE = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = normal;
    CREATE TABLE records (session TEXT, seq INTEGER, at TEXT, event BLOB, PRIMARY KEY (session, seq)) WITHOUT ROWID;
"""
_INSERT = "INSERT INTO records VALUES (?, ?, ?, ?)"


def sqlite_append(settings: Settings) -> Iterator[Figure]:
    """
    What does it cost to append events to the SQLite store, as a multiple of writing the same bytes, encoded beforehand?

    3,300 events in batches of 1, 10 and 100, each batch a transaction, each run a new session. The bytes go into one
    plain table in WAL mode; both with `synchronous=normal`. CPU time, so the disk hardly counts.
    """
    events = list(session(settings.scaled(300)))
    encoded = [dumps(event) for event in events]
    for batch, goal in _APPEND_GOALS.items():
        with _databases() as (store, floor):
            ours, theirs = _appender(store, events, batch), _writer(floor, encoded, batch)
            comparison = compare(ours, theirs, settings)
        each = comparison.candidate_s / len(events) * 1e6
        detail = f"{len(events):,} events of {sum(map(len, encoded)) / len(encoded):.0f} bytes, {each:.1f} us an event"
        yield ratio_figure(f"batch_{batch}", comparison, goal=goal, detail=detail)


def read_and_fold(settings: Settings) -> Iterator[Figure]:
    """
    What does it cost to make a transcript of 100,000 stored records, as a multiple of fetching and parsing their rows?

    One session of 9,091 turns in the SQLite store: read, decoded to checked immutable records, folded. The multiple is
    of `SELECT` and `orjson.loads` on the same bytes in one plain table.
    """
    turns = settings.scaled(9_091)
    events = list(session(turns))
    encoded = [dumps(event) for event in events]
    with _databases() as (store, floor):
        for at in range(0, len(events), 1_000):
            store.append("s", events[at : at + 1_000])
        _write(floor, "s", encoded, 1_000)
        transcript = _fold_all(store)
        assert len(transcript) == 2 * turns, f"expected {2 * turns} messages, got {len(transcript)}"
        assert transcript.seq == len(events), f"expected place {len(events)}, got {transcript.seq}"
        comparison = compare(lambda: _fold_all(store), lambda: _parse_all(floor), settings.at_most(7))
    each = comparison.candidate_s / len(events) * 1e6
    yield ratio_figure(
        "records", comparison, goal=_READ_GOAL, detail=f"{len(events):,} records, {each:.2f} us a record"
    )


def _appender(store: SqliteStore, events: Sequence[DurableEvent], batch: int) -> Callable[[], None]:
    numbers = count()

    def append() -> None:
        name = f"s{next(numbers)}"
        for at in range(0, len(events), batch):
            store.append(name, events[at : at + batch], expected_seq=at)

    return append


def _writer(floor: sqlite3.Connection, encoded: Sequence[bytes], batch: int) -> Callable[[], None]:
    numbers = count()
    return lambda: _write(floor, f"s{next(numbers)}", encoded, batch)


def _write(floor: sqlite3.Connection, name: str, encoded: Sequence[bytes], batch: int) -> None:
    for at in range(0, len(encoded), batch):
        floor.execute("BEGIN IMMEDIATE")
        rows = [(name, at + place, _AT, data) for place, data in enumerate(encoded[at : at + batch], 1)]
        floor.executemany(_INSERT, rows)
        floor.execute("COMMIT")


def _fold_all(store: SqliteStore) -> Transcript:
    return fold(store.read("s"))


def _parse_all(floor: sqlite3.Connection) -> None:
    loads = orjson.loads
    for (data,) in floor.execute("SELECT event FROM records WHERE session = ? ORDER BY seq", ("s",)):
        loads(data)


@contextmanager
def _databases() -> Iterator[tuple[SqliteStore, sqlite3.Connection]]:
    with TemporaryDirectory(prefix="benchmarks-") as folder:
        path = Path(folder, "floor.db")
        with (
            SqliteStore(Path(folder, "store.db"), synchronous="normal") as store,
            closing(sqlite3.connect(path, isolation_level=None)) as floor,
        ):
            floor.executescript(_TABLE)
            yield store, floor
