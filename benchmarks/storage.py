"""What the SQLite store adds to SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import orjson

from assistant_events import DurableEvent, Transcript, fold
from assistant_events.converters import dumps
from assistant_events.stores import SqliteStore
from benchmarks.events import session as make_session
from benchmarks.measure import Figure, Settings, compare, ratio_figure

_APPEND_GOALS = {1: None, 10: None, 100: 1.5}
_READ_GOAL = 3.2
_AT = 1_780_680_935_000_000
"""Microseconds since 1970."""

_TABLES = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = normal;
    CREATE TABLE plain (session TEXT, seq INTEGER, at INTEGER, body BLOB, PRIMARY KEY (session, seq)) WITHOUT ROWID;
    CREATE TABLE numbered (place INTEGER PRIMARY KEY, at INTEGER, body BLOB);
"""
_SELECT = "SELECT body FROM plain WHERE session = ? AND seq > ? ORDER BY seq"


def sqlite_append(settings: Settings) -> Iterator[Figure]:
    """
    What does it cost to append events to the SQLite store, as a multiple of writing the same bytes, encoded beforehand?

    3,300 events in batches of 1, 10 and 100, each batch a transaction, each run a new session. `batch`: the bytes go
    into a plain table with the key that one would write by hand, session and place. `same_rows`: into one with a single
    number as its key, which is how the store keeps records and is the least that SQLite can do. All in WAL mode and
    with `synchronous=normal`. CPU time, so the disk hardly counts.
    """
    events = list(make_session(settings.scaled(300)))
    encoded = [dumps(event) for event in events]
    # Samples as long as several checkpoints of the log, or they count in some and not in others.
    settings = attrs.evolve(settings.fewer(), sample_s=5 * settings.sample_s)
    for batch, goal in _APPEND_GOALS.items():
        for case, write in (("batch", _write_plain), ("same_rows", _write_numbered)):
            with _databases() as (store, floor):
                ours, theirs = _appender(store, events, batch), _writer(write, floor, encoded, batch)
                comparison = compare(ours, theirs, settings)
            each = comparison.candidate_s / len(events) * 1e6
            size = sum(map(len, encoded)) / len(encoded)
            detail = f"{len(events):,} events of {size:.0f} bytes, {each:.1f} us an event"
            yield ratio_figure(f"{case}_{batch}", comparison, goal=goal, detail=detail)


def read_and_fold(settings: Settings) -> Iterator[Figure]:
    """
    What does it cost to make a transcript of 100,000 stored records, as a multiple of fetching and parsing their rows?

    One session of 9,091 turns in the SQLite store: read, decoded to checked immutable records, folded. The multiple is
    of `SELECT` and `orjson.loads` on the same bytes in the plain table.
    """
    turns = settings.scaled(9_091)
    events = list(make_session(turns))
    encoded = [dumps(event) for event in events]
    with _databases() as (store, floor):
        for at in range(0, len(events), 1_000):
            store.append("s", events[at : at + 1_000])
        _write_plain(floor, 0, 1, encoded)
        count = len(events)
        # A process that reads a session does not hold its events already: they would only be scanned for rubbish, again
        # and again, and only on the side that makes objects.
        del events, encoded
        transcript = _fold_all(store)
        assert len(transcript) == 2 * turns, f"expected {2 * turns} messages, got {len(transcript)}"
        assert transcript.seq == count, f"expected place {count}, got {transcript.seq}"
        del transcript
        comparison = compare(lambda: _fold_all(store), lambda: _parse_all(floor), settings.fewer())
    each = comparison.candidate_s / count * 1e6
    yield ratio_figure("records", comparison, goal=_READ_GOAL, detail=f"{count:,} records, {each:.2f} us a record")


def _appender(store: SqliteStore, events: Sequence[DurableEvent], batch: int) -> Callable[[], None]:
    numbers = count()

    def append() -> None:
        name = f"s{next(numbers)}"
        for at in range(0, len(events), batch):
            store.append(name, events[at : at + batch], expected_seq=at)

    return append


def _writer(
    write: Callable[[sqlite3.Connection, int, int, Sequence[bytes]], None],
    floor: sqlite3.Connection,
    encoded: Sequence[bytes],
    batch: int,
) -> Callable[[], None]:
    numbers = count()

    def run() -> None:
        session = next(numbers)
        for at in range(0, len(encoded), batch):
            floor.execute("BEGIN IMMEDIATE")
            write(floor, session, at + 1, encoded[at : at + batch])
            floor.execute("COMMIT")

    return run


def _write_plain(floor: sqlite3.Connection, session: int, first: int, encoded: Sequence[bytes]) -> None:
    name = f"s{session}"
    rows = [(name, seq, _AT, body) for seq, body in enumerate(encoded, first)]
    floor.executemany("INSERT INTO plain VALUES (?, ?, ?, ?)", rows)


def _write_numbered(floor: sqlite3.Connection, session: int, first: int, encoded: Sequence[bytes]) -> None:
    rows = [(place, _AT, body) for place, body in enumerate(encoded, (session << 32) + first)]
    floor.executemany("INSERT INTO numbered VALUES (?, ?, ?)", rows)


def _fold_all(store: SqliteStore) -> Transcript:
    return fold(store.read("s"))


def _parse_all(floor: sqlite3.Connection) -> None:
    loads = orjson.loads
    for (body,) in floor.execute(_SELECT, ("s0", 0)):
        loads(body)


@contextmanager
def _databases() -> Generator[tuple[SqliteStore, sqlite3.Connection]]:
    with TemporaryDirectory(prefix="benchmarks-") as folder:
        path = Path(folder, "floor.db")
        with (
            SqliteStore(Path(folder, "store.db"), synchronous="normal") as store,
            closing(sqlite3.connect(path, isolation_level=None)) as floor,
        ):
            floor.executescript(_TABLES)
            yield store, floor
