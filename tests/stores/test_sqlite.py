"""
A SQLite store beyond the contract: deduplication of media, large batches in several rows, named errors.
"""

import gc
import hashlib
import logging
import os
import sqlite3
import sys
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta, timezone
from inspect import CO_GENERATOR
from itertools import count, islice, pairwise, product
from pathlib import Path
from threading import Thread

import pytest

import assistant_events.stores
from assistant_events.converters import dumps
from assistant_events.errors import ClaimedError, ConflictError, PrunedError, StoreError
from assistant_events.events import (
    MediaEnded,
    MediaStarted,
    PromptSubmitted,
    StepStarted,
    TextDelta,
    TextEnded,
    ToolInputDelta,
)
from assistant_events.messages import Transcript, Unfinished
from assistant_events.reducer import fold
from assistant_events.stores import SqliteStore
from assistant_events.stores.media import EXTRACT_FROM_BYTES
from assistant_events.stores.sqlite.columns import RowError, key_of_record, load_media
from assistant_events.stores.sqlite.record_rows import ROW_BYTES, ROW_EVENTS, EncodedBatch, RecordRow, rows_after, write
from assistant_events.stores.sqlite.schema import SCHEMA
from assistant_events.testing import Clock, rewind, run
from assistant_events.testing.store_samples import PICTURE, SIGNATURE, TURN, called, started, with_media
from assistant_events.values import MediaContent, Origin

CANARY = "c4n4ry+/=="

STORES = str(Path(assistant_events.stores.__file__).parent)


ODD = [None, 0, -1, 2**62, 2**63 - 1, 1.5, float("inf"), "", "text", b"\xff\xfe", b"5", b"{}", b'[[], "a", null]']
COLUMNS = [
    f"{table}.{column}"
    for table, columns in {
        "sessions": ["number", "id", "created", "pruned", "pruned_at", "owner"],
        "records": ["at", "meta", "with_media", "body"],
        "snapshots": ["session", "seq", "with_media", "body"],
        "media": ["digest", "data"],
        "media_refs": ["session", "seq", "digest"],
        "unfinished": ["session", "body"],
        "claims": ["token", "session", "worker", "held"],
        "workers": ["name", "beat"],
        "checkpoints": ["session", "message", "type", "call", "start", "body"],
    }.items()
    for column in columns
]
VERBS = {
    "append": lambda store: store.append("s", [called("c2", "m1"), started("m9")]),
    "read": lambda store: list(store.read("s")),
    "read one by one": lambda store: [list(store.read("s", seq, limit=1)) for seq in range(5)],
    "seq": lambda store: store.seq("s"),
    "sessions": lambda store: store.sessions(),
    "snapshot": lambda store: store.snapshot("s", fold(store.append("new", texts(1)))),
    "load_snapshot": lambda store: store.load_snapshot("s"),
    "unfinished": lambda store: (store.unfinished(), store.unfinished()),
    "fork": lambda store: store.fork("s", "t"),
    "fork inside": lambda store: store.fork("s", "t", at=3),
    "prune": lambda store: store.prune("s", 1),
    "sessions of an owner": lambda store: store.sessions(owner="u1", after="2026-01-01T00:00:00Z_s", limit=5),
    "append of an owner": lambda store: store.append("owned", texts(1), owner="u1"),
    "append with a token": lambda store: store.append("s", [], token=store.claim("s", "w2").token),
    "release": lambda store: store.release(store.claim("s", "w2")),
    "beat": lambda store: store.beat("w1"),
    "take_over": lambda store: store.take_over("w2", dead_after_s=0),
    "checkpoint": lambda store: store.checkpoint("s", [piece(1)]),
    "load_checkpoints": lambda store: store.load_checkpoints("s"),
    "rewind": lambda store: store.append("s", [rewind("m2")]),
    "delete": lambda store: store.delete("s"),
}


@pytest.fixture
def store(sqlite_stores):
    return sqlite_stores()


def texts(count, size=10):
    return [TextEnded(message_id="m1", text=f"{number:0{size}}") for number in range(count)]


def piece(offset):
    return ToolInputDelta(message_id="m1", call_id="c2", offset=offset, delta="x")


class InterruptedWait:
    """
    A connection whose user presses Ctrl-C while SQLite waits for a lock: Python raises when the wait is over.
    """

    def __init__(self, db):
        self._db = db

    def __getattr__(self, name):
        return getattr(self._db, name)

    def execute(self, statement, *values):
        cursor = self._db.execute(statement, *values)
        if statement.startswith("BEGIN"):
            raise KeyboardInterrupt
        return cursor


@contextmanager
def ctrl_c(place):
    """
    Raise KeyboardInterrupt at a call or a return inside the stores, the one numbered *place*: where Python looks for
    signals.
    """
    left = place

    def look(frame, what, _):
        nonlocal left
        if what == "call" and frame.f_code.co_flags & CO_GENERATOR:
            return  # Python may be closing it, and ignores what is raised there
        if what in ("call", "c_return") and STORES in frame.f_back.f_code.co_filename + frame.f_code.co_filename:
            left -= 1
            if not left:
                sys.setprofile(None)
                raise KeyboardInterrupt

    gc.disable()  # what is raised in a callback of the collector is ignored
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)
        gc.enable()


def closing_iterator(items):
    """Return an iterator with the `close` of a cursor."""
    yield from items


def replace_file(path):
    """Put a copy of the file in its place, as a backup that is restored."""
    data = path.read_bytes()
    path.with_name("new").write_bytes(data)
    path.with_name("new").replace(path)


def move_file(path):
    path.rename(path.with_name("moved.db"))


RUNNING = Unfinished(message_id="m1", awaits="provider", run=run())


def rows(path, query, *values):
    """Return what a query finds in the file."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query, values).fetchall()


def change(path, statement, *values):
    """Change the file behind the store's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(statement, values)


class TestLasting:
    def test_what_was_appended_is_there_again(self, tmp_path):
        """
        Another store on the same file has everything: records, snapshot, what is unfinished.
        """
        with SqliteStore(tmp_path / "s.db") as store:
            written = store.append("s", TURN, meta={"a": 1})
            store.snapshot("s", fold(written))
            unfinished = store.unfinished()

        with SqliteStore(str(tmp_path / "s.db")) as store:
            assert written == tuple(store.read("s"))
            assert fold(written) == store.load_snapshot("s")
            assert unfinished == store.unfinished()

    def test_nothing_is_left_beside_the_file(self, tmp_path):
        """
        After the last close there is one file.
        """
        with SqliteStore(tmp_path / "s.db") as store:
            store.append("s", TURN)
            list(store.read("s"))

        assert ["s.db"] == [path.name for path in tmp_path.iterdir()]

    def test_what_is_deleted_is_overwritten(self, tmp_path):
        """
        Nothing of a deleted session or of pruned records is in the file any more, in no free page either.
        """
        path = tmp_path / "s.db"
        with SqliteStore(path) as store:
            for session in ("deleted", "pruned", "kept"):
                events = [TextEnded(message_id="m1", text=f"{session} {number}") for number in range(500)]
                store.append(session, events[:1])
                left = Unfinished(message_id=f"left in {session}", awaits="model")
                store.append(session, [*events, *with_media(session)], expected_seq=1, unfinished=[left])
                store.checkpoint(session, [TextDelta(message_id="m1", offset=0, delta=f"piece of {session}")])
                store.claim(session, f"worker of {session}")
            store.delete("deleted")
            store.snapshot("pruned", Transcript(seq=store.seq("pruned")))
            store.prune("pruned", 300)

        data = path.read_bytes()
        assert (b"deleted 7" in data, b"pruned 7" in data) == (False, False)
        for what in (b"piece of ", b"left in "):
            assert [False, True] == [what + name in data for name in (b"deleted", b"kept")]
        assert (b"pruned 400" in data, b"kept 7" in data) == (True, True)

    def test_time_comes_from_the_clock(self, tmp_path):
        """
        Every batch asks the clock once.
        """
        with SqliteStore(tmp_path / "s.db", clock=Clock()) as store:
            store.append("s", texts(2))
            store.append("s", texts(1))

            start = datetime(2026, 1, 1, tzinfo=UTC)
            assert [start, start, start + timedelta(seconds=1)] == [record.at for record in store.read("s")]

    def test_batches_of_one_time(self, store):
        """
        Each has its own `meta`.
        """
        at = datetime(2026, 1, 1, tzinfo=UTC)
        for number in range(3):
            store.append("s", texts(1), at=at, meta={"n": number} if number else None)

        assert [(at, None), (at, 1), (at, 2)] == [(record.at, record.meta.get("n")) for record in store.read("s")]

    def test_the_time_before_1970(self, store):
        """
        A batch has its time, also that of the last microsecond before the first one that is counted.
        """
        at = datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
        store.append("s", texts(2), at=at)

        assert [at, at] == [record.at for record in store.read("s")]

    def test_a_clock_that_tells_local_time_is_refused(self):
        """
        A time that is not in UTC is an error, and the batch is not written.
        """
        local = timezone(timedelta(hours=1))
        with SqliteStore(":memory:", clock=lambda: datetime(2026, 1, 1, tzinfo=local)) as store:
            with pytest.raises(ValueError, match=r"expected a datetime in UTC, got 2026-01-01T00:00:00\+01:00"):
                store.append("s", texts(1))

            assert 0 == store.seq("s")

    def test_dead_workers_are_forgotten(self):
        """
        A takeover deletes the rows of workers without a sign of life for a day, or for as long as it calls them alive.
        """
        now = datetime(2026, 1, 1, tzinfo=UTC)
        with SqliteStore(":memory:", clock=lambda: now) as store:

            def workers():
                return {name for (name,) in store._writer.execute("SELECT name FROM workers")}

            store.beat("first")
            now += timedelta(hours=23)
            store.beat("second")
            store.take_over("taker")
            assert {"first", "second", "taker"} == workers()
            now += timedelta(hours=1)
            store.take_over("taker", dead_after_s=90_000)
            assert {"first", "second", "taker"} == workers()
            store.take_over("taker", dead_after_s=0)
            assert {"second", "taker"} == workers()

    @pytest.mark.parametrize(("synchronous", "level"), [("full", 2), ("normal", 1)])
    def test_synchronous(self, tmp_path, synchronous, level):
        """
        The option is the one of SQLite.
        """
        with SqliteStore(tmp_path / "s.db", synchronous=synchronous) as store:
            assert [(level,)] == store._writer.execute("PRAGMA synchronous").fetchall()

    def test_full_is_the_default(self, tmp_path):
        """
        Unless one chooses otherwise, what was returned survives a loss of power.
        """
        with SqliteStore(tmp_path / "s.db") as store:
            assert [(2,)] == store._writer.execute("PRAGMA synchronous").fetchall()

    def test_another_synchronous_is_refused(self, tmp_path):
        """
        What SQLite would ignore is an error, and no file is made.
        """
        with pytest.raises(ValueError, match="synchronous: expected 'full' or 'normal', got 'off'"):
            SqliteStore(tmp_path / "s.db", synchronous="off")

        assert [] == list(tmp_path.iterdir())


class TestRows:
    @pytest.mark.parametrize(
        ("count", "size"),
        [(ROW_EVENTS, 1), (ROW_EVENTS + 1, 1), (3 * ROW_EVENTS, 1), (7, ROW_BYTES // 3), (2, 2 * ROW_BYTES)],
    )
    def test_large_batches_are_read_from_any_place(self, store, count, size):
        """
        A batch that is too large for one row is cut, which a reader does not notice.
        """
        written = store.append("s", texts(count, size))

        assert written == tuple(store.read("s"))
        for after in (0, 1, count // 2, count - 1, count):
            assert written[after:] == tuple(store.read("s", after))
            assert written[after : after + 2] == tuple(store.read("s", after, limit=2))

    def test_a_batch_is_one_row(self, store):
        """
        A batch of the usual size takes one row, whose body is a JSON array.
        """
        store.append("s", texts(100))

        assert [(100, 1)] == rows(store.path, "SELECT json_array_length(CAST(body AS TEXT)), count(*) FROM records")

    def test_rows_hold_a_bounded_number_of_events(self, store):
        """
        However many events a batch has, a row holds no more than the limit.
        """
        store.append("s", texts(2 * ROW_EVENTS + 1))

        counts = rows(store.path, "SELECT json_array_length(CAST(body AS TEXT)) FROM records ORDER BY key")
        assert [(ROW_EVENTS,), (ROW_EVENTS,), (1,)] == counts

    @pytest.mark.parametrize(
        ("sizes", "expected"),
        [
            ([ROW_BYTES], [1]),
            ([ROW_BYTES + 1], [1]),
            ([ROW_BYTES, ROW_BYTES], [1, 1]),
            ([ROW_BYTES // 2, ROW_BYTES // 2], [2]),
            ([ROW_BYTES // 2, ROW_BYTES // 2 + 1], [1, 1]),
            ([ROW_BYTES // 2, ROW_BYTES // 2, 2], [2, 1]),
            ([2 * ROW_BYTES, 2, 2], [1, 2]),
            ([2, 2 * ROW_BYTES, 2, 2], [1, 1, 2]),
            ([2, ROW_BYTES - 2, 2, ROW_BYTES - 2, 2], [2, 2, 1]),
            ([ROW_BYTES // 4] * 9, [4, 4, 1]),
            ([2] * ROW_EVENTS, [ROW_EVENTS]),
            ([2] * (ROW_EVENTS + 1), [ROW_EVENTS, 1]),
            ([2] * (2 * ROW_EVENTS), [ROW_EVENTS, ROW_EVENTS]),
            ([ROW_BYTES, *[2] * (ROW_EVENTS + 1)], [1, ROW_EVENTS, 1]),
        ],
        ids=lambda value: "" if len(str(value)) > 60 else str(value),
    )
    def test_rows_are_as_large_as_they_may_be(self, store, sizes, expected):
        """
        A row is filled up to the limits of events and bytes, a larger event has one of its own, and none is empty.
        """
        encoded = EncodedBatch([b"x" * size for size in sizes], {})
        store._writing(lambda db: write(db, 1, 0, encoded, at=0, meta=None))

        written = rows(store.path, "SELECT key & 0xffffffff, length(body) FROM records ORDER BY key")
        ends = [0, *[seq for seq, _ in written]]
        assert expected == [after - before for before, after in pairwise(ends)]
        # A body has two brackets, and a comma and a line break between its events.
        assert sum(sizes) + 2 * len(sizes) == sum(length for _, length in written)

    def test_pruning_inside_a_batch_removes_what_is_pruned(self, store):
        """
        Pruned records are removed from the file, also when the rest of their batch stays.
        """
        store.append("s", [TextEnded(message_id="m1", text="gone"), *texts(2)])
        store.snapshot("s", fold(store.read("s")))
        store.prune("s", 1)

        (body,) = rows(store.path, "SELECT body FROM records")[0]
        assert b"gone" not in body
        assert [2, 3] == [record.seq for record in store.read("s", 1)]

    def test_a_reader_goes_on_over_many_pages(self, store, monkeypatch):
        """
        What does not fit into one page is fetched when it is asked for.
        """
        monkeypatch.setattr("assistant_events.stores.sqlite.store._PAGE_BYTES", 1)
        for _ in range(5):
            store.append("s", texts(3))

        assert list(range(1, 16)) == [record.seq for record in store.read("s")]
        assert list(range(5, 12)) == [record.seq for record in store.read("s", 4, limit=7)]

    def test_pruning_under_a_reader_is_told(self, store, monkeypatch):
        """
        A reader whose next records are pruned meanwhile gets the error, not a gap.
        """
        monkeypatch.setattr("assistant_events.stores.sqlite.store._PAGE_BYTES", 1)
        for _ in range(4):
            store.append("s", texts(3))
        reader = store.read("s")
        next(reader)
        store.snapshot("s", fold(store.read("s")))
        store.prune("s", 7)

        with pytest.raises(PrunedError, match="records up to seq 7 are pruned, cannot read after 3"):
            list(reader)

    def test_deleting_under_a_reader_ends_it(self, store, monkeypatch):
        """
        A reader whose session is deleted meanwhile ends; a new session of the same id is not for it.
        """
        monkeypatch.setattr("assistant_events.stores.sqlite.store._PAGE_BYTES", 1)
        for _ in range(4):
            store.append("s", texts(3))
        reader = store.read("s")
        seen = [next(reader).seq]
        store.delete("s")
        for _ in range(9):
            store.append("s", texts(3))

        assert [1, 2, 3] == seen + [record.seq for record in reader]


class TestMedia:
    def count(self, store):
        """Return how many media the file has, and how many holders."""
        return rows(store.path, "SELECT (SELECT count(*) FROM media), (SELECT count(*) FROM media_refs)")[0]

    def test_equal_bytes_are_stored_once(self, store):
        """
        The same picture in prompts, outputs, answers and snapshots of several sessions is one row.
        """
        for session in ("a", "b"):
            store.append(session, with_media("m"))
            store.append(session, with_media("n"))
            store.snapshot(session, fold(store.read(session)))

        assert [(PICTURE,)] == rows(store.path, "SELECT data FROM media WHERE length(data) > 100")
        for body in rows(store.path, "SELECT body FROM records UNION ALL SELECT body FROM snapshots"):
            assert len(body[0]) < 3 * len(PICTURE)

    def test_media_go_with_the_last_holder(self, store):
        """
        Pruning, a newer snapshot and deleting each let go of what they held, and the last takes the bytes along.
        """
        store.append("a", with_media("m"))
        store.snapshot("a", fold(store.read("a")))
        store.append("a", texts(1))
        everything = self.count(store)
        store.prune("a", 8)
        held = self.count(store)
        store.snapshot("a", Transcript(seq=store.seq("a")))
        left = self.count(store)

        assert (everything[0], held[0]) == (2, 2)
        assert everything[1] > held[1] > 0
        assert left == (0, 0)

    def test_deleting_removes_media_that_nobody_else_holds(self, store):
        """
        What another session holds stays.
        """
        store.append("a", [*with_media("m"), MediaEnded(message_id="m", media_type="a/b", data=b"only a" * 100)])
        store.append("b", with_media("m"))
        store.delete("a")

        assert [] == rows(store.path, "SELECT 1 FROM media WHERE data = ?", b"only a" * 100)
        assert 2 == self.count(store)[0]
        assert with_media("m") == [record.event for record in store.read("b")]

    def test_a_fork_holds_the_media_of_what_it_has(self, store):
        """
        It is made before the snapshot, so it has none, and nothing of its media: they go with the source.
        """
        store.append("a", texts(1))
        store.append("a", with_media("m"))
        store.snapshot("a", fold(store.read("a")))
        store.fork("a", "b", at=1)
        store.delete("a")

        assert (0, 0) == self.count(store)

    def test_a_medium_that_is_pruned_under_a_reader(self, store):
        """
        The record of it is gone: that is not a damaged file.
        """
        picture = MediaEnded(message_id="m", media_type="image/png", data=PICTURE)
        store.append("s", [*texts(1), picture])
        reader = store.read("s")
        next(reader)
        store.snapshot("s", Transcript(seq=2))
        store.prune("s", 2)

        with pytest.raises(PrunedError, match="records up to seq 2 are pruned, cannot read after 1"):
            next(reader)

    @pytest.mark.parametrize(("size", "apart"), [(0, 0), (EXTRACT_FROM_BYTES - 1, 0), (EXTRACT_FROM_BYTES, 1)])
    def test_small_media_stay_inside(self, store, size, apart):
        """
        A few bytes take less room where they are than in a row of their own.
        """
        event = MediaEnded(message_id="m", media_type="a/b", data=b"x" * size)
        transcript = fold(store.append("s", [started("m"), MediaStarted(message_id="m", media_type="a/b"), event]))
        store.snapshot("s", transcript)

        assert [event] == [record.event for record in store.read("s", 2)]
        assert transcript == store.load_snapshot("s")
        assert (apart, 2 * apart) == self.count(store)

    def test_a_digest_is_not_taken_for_bytes(self, store):
        """
        Media whose bytes equal the digest of other media round-trip.
        """
        digest = hashlib.sha256(PICTURE).digest()
        contents = [MediaContent(media_type="a/b", data=data) for data in (PICTURE, digest, b"")]
        event = PromptSubmitted(message_id="u", content=contents)
        store.append("s", [event])
        store.append("s", [MediaEnded(message_id="m", media_type="a/b", data=digest)])

        assert [event, MediaEnded(message_id="m", media_type="a/b", data=digest)] == [
            record.event for record in store.read("s")
        ]

    def test_only_a_medium_that_is_asked_for_is_loaded(self, store, monkeypatch):
        """
        A page of records does not hold the media of all of them in memory.
        """
        asked = []
        name = "assistant_events.stores.sqlite.columns.load_media"
        monkeypatch.setattr(name, lambda *given: asked.append(given[-1]) or load_media(*given))
        pictures = [MediaEnded(message_id="m", media_type="a/b", data=bytes([n]) * 1000) for n in range(5)]
        store.append("s", [*texts(1), *pictures])
        reader = store.read("s")
        next(reader)
        next(reader)

        assert [2] == asked

    def test_a_session_deleted_under_a_reader_ends_at_its_media(self, store):
        """
        Media that were deleted with their session end the reader, so that it yields no gap.
        """
        store.append("s", [*texts(1), *with_media("m")])
        store.append("s", texts(1))
        reader = store.read("s")
        next(reader)
        store.delete("s")

        assert [] == list(reader)


class TestDamage:
    @pytest.mark.parametrize("body", [b"[]", b"[{]", b'[{"type":"text.ended"}]', b'[{"text":"c4n4ry"}]', b"", b"\xff"])
    def test_a_damaged_record_is_named(self, store, body):
        """
        A row that is not a batch is a StoreError with session and `seq`, and without its content.
        """
        store.append("s", texts(1))
        change(store.path, "UPDATE records SET body = ?", body)

        with pytest.raises(StoreError, match="session 's', seq 1 is damaged") as caught:
            list(store.read("s"))
        assert "c4n4ry" not in str(caught.value)

    @pytest.mark.parametrize("media", [b'"media_type":"image/png"', b'"media_type":5'])
    def test_what_stands_before_damage_is_read(self, store, media):
        """
        A damaged record is an error when its turn comes, not before.
        """
        store.append("s", texts(1))
        written = dumps(texts(1)[0])
        damaged = b'{"type":"media.ended","v":1,"message_id":"m1",%b}' % media
        change(store.path, "UPDATE records SET key = key + 1, body = ?", b"[" + written + b",\n" + damaged + b"]")

        records = store.read("s")
        assert texts(1)[0] == next(records).event
        with pytest.raises(StoreError, match="session 's', seq 2 is damaged"):
            next(records)

    @pytest.mark.parametrize("column", ["meta", "with_media"])
    @pytest.mark.parametrize("value", [b"{", b"5", "[c4n4ry"])
    def test_damage_beside_the_events_is_named(self, store, column, value):
        """
        So are the other columns of a batch.
        """
        store.append("s", texts(2))
        change(store.path, f"UPDATE records SET {column} = ?", value)

        with pytest.raises(StoreError, match=r"session .s., .*seq 2 is damaged") as caught:
            list(store.read("s"))
        assert "c4n4ry" not in str(caught.value)

    def test_a_body_that_became_text_is_read(self, store):
        """
        A body that was repaired by hand may be text instead of bytes, and is read all the same.
        """
        store.append("s", texts(2))
        change(store.path, "UPDATE records SET body = replace(body, 'type', 'type')")

        assert texts(2) == [record.event for record in store.read("s")]

    def test_a_damaged_snapshot_is_named(self, store):
        """
        So is a snapshot.
        """
        store.append("s", texts(1))
        store.snapshot("s", fold(store.read("s")))
        change(store.path, "UPDATE snapshots SET body = ?", b"[]")

        with pytest.raises(StoreError, match="session 's', the snapshot is damaged"):
            store.load_snapshot("s")

    def test_a_missing_medium_is_named(self, store):
        """
        So is a record whose media are missing.
        """
        store.append("s", with_media("m"))
        change(store.path, "DELETE FROM media")

        with pytest.raises(StoreError, match="session 's', seq 1 is damaged: media are missing"):
            list(store.read("s"))

    @pytest.mark.parametrize("body", [b"c4n4ry", b"[5]", b"{}", b'["c4n4ry"]', b'[{"message_id":"m1"}]', b"5", "text"])
    def test_damaged_unfinished_work_is_folded_again(self, store, caplog, body):
        """
        A damaged row of unfinished work counts as unknown; a warning names its session without what it contains.
        """
        store.append("s", [started()], expected_seq=0, unfinished=[RUNNING])
        change(store.path, "UPDATE unfinished SET body = ?", body)

        assert {"s": (RUNNING,)} == store.unfinished()
        assert {"s": (RUNNING,)} == store.unfinished()
        (warning,) = caplog.messages
        assert warning.startswith("session 's': the row of its unfinished work is damaged, so its log is read instead:")
        assert "c4n4ry" not in warning

    def test_a_damaged_session_is_named_once(self, store, caplog):
        """
        The warning about a session that cannot be read comes once, and again when it was readable meanwhile.
        """
        store.append("s", [started()])
        written = dumps(started())
        for body, messages in ((b"[{]", 1), (b"[{]", 1), (b"[" + written + b"]", 1), (b"[{]", 2)):
            change(store.path, "UPDATE records SET body = ?", body)
            change(store.path, "UPDATE unfinished SET body = NULL")
            store.unfinished()
            store.take_over("w1")
            assert messages == len(caplog.messages)
        assert "session 's', seq 1 is damaged" in caplog.messages[0]

    @pytest.mark.parametrize("damage", ["DELETE FROM snapshots", "UPDATE sessions SET pruned = 2"])
    def test_a_log_that_is_pruned_beyond_its_snapshot_is_left_out(self, store, caplog, damage):
        """
        Its records and the snapshot give no transcript.
        """
        store.append("s", [started(), *texts(1)])
        store.snapshot("s", fold(store.read("s", limit=1)))
        store.prune("s", 1)
        change(store.path, damage)

        assert {} == store.unfinished()
        assert ["session 's': its unfinished work is unknown"] == [text.partition(",")[0] for text in caplog.messages]

    def test_a_store_that_fails_leaves_nothing_out(self, store, caplog):
        """
        Where no session can be read, none is named: that is an error.
        """
        store.append("s", [started()])
        change(store.path, "DROP TABLE records")

        for verb in (store.unfinished, lambda: store.take_over("w1")):
            with pytest.raises(StoreError, match="no such table"):
                verb()
        assert [] == caplog.messages

    def test_a_session_with_two_damages_is_named_once(self, store, caplog):
        """
        Neither the row of its unfinished work nor its log can be read: each is named once.
        """
        store.append("s", [started()])
        change(store.path, "UPDATE records SET body = x'5b'")
        change(store.path, "UPDATE unfinished SET body = x'5b'")
        for _ in range(3):
            assert {} == store.unfinished()

        assert 2 == len(caplog.messages)

    @pytest.mark.parametrize(
        "damage",
        ["records SET body = x'5b'", "unfinished SET body = x'5b'", "sessions SET id = x'ff' WHERE number = 2"],
    )
    def test_a_worker_beats_beside_damage(self, store, damage):
        """
        A worker whose takeover meets a damaged session lives on, and keeps its claims.
        """
        for name in ("a", "s"):
            store.append(name, [started()])
        store.claim("a", "w1")
        change(store.path, f"UPDATE {damage}")
        change(store.path, "UPDATE workers SET beat = 0")

        with suppress(StoreError):  # an id that is damaged names no session
            store.take_over("w1")
        with pytest.raises(ClaimedError):
            store.claim("a", "w2")

    @pytest.mark.parametrize(
        "damage", ["type = 'step.ended'", "type = 5", "start = -1", "body = x'c4'", "message = 1.5", "message = ''"]
    )
    def test_a_damaged_checkpoint_is_named(self, store, damage):
        """
        A row that is not a delta is an error without what the row contains.
        """
        store.append("s", [started()])
        store.checkpoint("s", [piece(0)])
        change(store.path, f"UPDATE checkpoints SET {damage}")

        with pytest.raises(StoreError, match="the file is damaged") as caught:
            store.load_checkpoints("s")
        assert "c4" not in str(caught.value)

    def test_a_damaged_file_is_no_raw_error(self, tmp_path):
        """
        An error of SQLite about a broken page is a StoreError.
        """
        path = tmp_path / "s.db"
        with SqliteStore(path) as store:
            for _ in range(50):
                store.append("s", texts(100))
        data = bytearray(path.read_bytes())
        data[4096 * 8 :] = b"\xff" * (len(data) - 4096 * 8)
        path.write_bytes(data)

        with SqliteStore(path) as store, pytest.raises(StoreError, match="malformed; restore the file from a backup"):
            list(store.read("s"))

    def test_pruning_a_damaged_file_is_no_raw_error(self, tmp_path):
        """
        A page of the file in the place of another: pruning that finds no record at its place is a StoreError.
        """
        path = tmp_path / "s.db"
        with SqliteStore(path, synchronous="normal") as store:
            for _ in range(16):
                store.append("s", texts(1, 900))
                store.append("t", texts(1, 900))
            store.snapshot("s", fold(store.read("s")))
        whole = path.read_bytes()
        pages = [whole[at : at + 4096] for at in range(0, len(whole), 4096)]
        ends = set()
        for target, source in product(range(1, len(pages)), repeat=2):
            path.write_bytes(b"".join([*pages[:target], pages[source], *pages[target + 1 :]]))
            try:
                with SqliteStore(path, synchronous="normal") as store:
                    store.prune("s", 15)
                ends.add("end")
            except StoreError as error:
                ends.add(str(error).rpartition(": ")[2])

        assert {"end", "seq 15 is missing"} < ends

    def test_a_damaged_schema_is_no_raw_error(self, tmp_path):
        """
        SQLite quotes the statement that it cannot parse, here with a byte that is not UTF-8.
        """
        path = tmp_path / "s.db"
        with SqliteStore(path) as store:
            store.append("s", texts(1))
        path.write_bytes(path.read_bytes().replace(b"CREATE TABLE sessions", b"CREATE TABL\x9a sessions"))

        with pytest.raises(StoreError, match="the file is damaged"):
            SqliteStore(path)

    @pytest.mark.parametrize("column", COLUMNS)
    def test_whatever_stands_in_a_column_is_no_raw_error(self, monkeypatch, column):
        """
        A value that no store has written is a StoreError or does no harm, in every column and for every verb.
        """
        loose = [statement.replace(" NOT NULL", "") for statement in SCHEMA]
        monkeypatch.setattr("assistant_events.stores.sqlite.connection.SCHEMA", loose)
        table, _, name = column.partition(".")
        for value in ODD:
            with SqliteStore(":memory:") as store:
                store.append("s", [started("m1"), called("c1", "m1"), *with_media("m2")], meta={"a": 1}, owner="u1")
                store.snapshot("s", fold(store.read("s", limit=2)))
                store.append("s", texts(1), expected_seq=10, unfinished=[RUNNING])
                store.claim("s", "w1")
                store.checkpoint("s", [piece(0)])
                with suppress(sqlite3.IntegrityError):
                    store._writer.execute(f"UPDATE OR IGNORE {table} SET {name} = ?", (value,))

                for verb in VERBS.values():
                    with suppress(StoreError):
                        verb(store)

    def test_a_page_that_stands_twice_ends_the_reading(self, tmp_path):
        """
        A page of the file in the place of another gives every record at most once, and then an error or the end.
        """
        path = tmp_path / "s.db"
        with SqliteStore(path, synchronous="normal") as store:
            for _ in range(16):
                store.append("s", texts(1, 900))
                store.append("t", texts(1, 900))
        whole = path.read_bytes()
        pages = [whole[at : at + 4096] for at in range(0, len(whole), 4096)]
        ends = set()
        for target, source in product(range(1, len(pages)), repeat=2):
            path.write_bytes(b"".join([*pages[:target], pages[source], *pages[target + 1 :]]))
            try:
                with SqliteStore(path, synchronous="normal") as store:
                    seen = [record.seq for record in islice(store.read("s"), 200)]
                ends.add("end")
            except StoreError as error:
                ends.add(str(error).rpartition(": ")[2])
            else:
                assert sorted(set(seen)) == seen

        assert {"end", "the rows of the records are out of order"} < ends

    @pytest.mark.parametrize("numbers", [[2, 2], [2, 1], [0]])
    def test_rows_out_of_order_are_refused(self, numbers):
        """
        SQLite gives such rows where a page of the file is in the place of another.
        """

        class Damaged:
            def execute(self, *_):
                rows = [RecordRow(key_of_record(1, number), 0, None, None, b"[]") for number in numbers]
                return closing_iterator(rows)

        with pytest.raises(RowError, match="the rows of the records are out of order"):
            list(rows_after(Damaged(), 1, 0))

    def test_an_error_in_the_middle_leaves_no_old_view(self, store, monkeypatch):
        """
        After it, while its traceback is referenced, the store sees what others append.
        """
        for _ in range(2):
            store.append("s", texts(1))
        with monkeypatch.context() as damaged:
            damaged.setattr("assistant_events.stores.sqlite.record_rows.bytes_of", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError) as kept:
                list(store.read("s"))
        with SqliteStore(store.path) as other:
            other.append("s", texts(1))

        assert 3 == store.seq("s")
        assert kept.tb is not None

    def test_a_missing_row_is_named(self, store):
        """
        `seq` has no gaps; a missing record is an error.
        """
        for _ in range(3):
            store.append("s", texts(2))
        change(store.path, "DELETE FROM records WHERE key & 15 = 4")

        reader = store.read("s")
        assert [1, 2] == [next(reader).seq, next(reader).seq]
        with pytest.raises(StoreError, match="session 's', seq 3 is damaged: the record is missing"):
            next(reader)


class TestTrouble:
    def test_a_full_disk_loses_nothing(self, store):
        """
        A batch that does not fit is refused as a whole, and the store stays usable.
        """
        store.append("s", texts(1))
        (pages,) = store._writer.execute("PRAGMA page_count").fetchone()
        store._writer.execute(f"PRAGMA max_page_count = {pages + 1}")

        with pytest.raises(StoreError, match="full; nothing of this batch was written"):
            store.append("s", texts(100, 10_000))
        assert 1 == store.seq("s")
        store._writer.execute("PRAGMA max_page_count = 1000000")
        assert 2 == store.append("s", texts(1), expected_seq=1)[0].seq

    def test_a_writer_waits_no_longer_than_it_was_told(self, tmp_path):
        """
        A database that stays locked is a StoreError with the reason; readers are not blocked.
        """
        with SqliteStore(tmp_path / "s.db", timeout_s=0.05) as store:
            store.append("s", texts(1))
            with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")

                with pytest.raises(
                    StoreError, match=r"locked; another writer holds the lock for longer than timeout_s"
                ):
                    store.append("s", texts(1))
                assert 1 == store.seq("s")
            assert 2 == store.append("s", texts(1))[0].seq

    @pytest.mark.parametrize(
        "change_file", [Path.unlink, replace_file, move_file], ids=["deleted", "replaced", "moved"]
    )
    def test_a_file_that_is_not_at_its_place_is_not_written(self, tmp_path, monkeypatch, change_file):
        """
        What was written to such a file would be lost; the working folder may change.
        """
        monkeypatch.chdir(tmp_path)
        Path("folder").mkdir()
        with SqliteStore("s.db") as store:
            store.append("s", texts(1))
            os.chdir("folder")
            assert 2 == store.append("s", texts(1))[0].seq
            change_file(tmp_path / "s.db")

            for verb in ("append", "beat", "fork", "delete"):
                with pytest.raises(StoreError, match=r"^s\.db: the file was moved, deleted or replaced"):
                    VERBS[verb](store)
            assert 2 == store.seq("s")

    def test_a_store_in_memory_has_no_file(self, tmp_path, monkeypatch):
        """
        A file that has its name by chance changes nothing.
        """
        monkeypatch.chdir(tmp_path)
        with SqliteStore(":memory:") as store:
            store.append("s", texts(1))
            Path(":memory:").touch()

            assert 2 == store.append("s", texts(1))[0].seq

    @pytest.mark.parametrize("timeout_s", [2_147_483, 2_147_484, 2**64, float("inf")])
    def test_a_writer_may_wait_for_any_time(self, tmp_path, timeout_s):
        """
        SQLite counts milliseconds in 32 bits; beyond them it would not wait at all.
        """
        with SqliteStore(tmp_path / "s.db", timeout_s=timeout_s) as store:
            assert [(2_147_483_000,)] == store._writer.execute("PRAGMA busy_timeout").fetchall()
            assert [(2_147_483_000,)] == store._reader.execute("PRAGMA busy_timeout").fetchall()

    @pytest.mark.parametrize("timeout_s", [-1, float("nan")])
    def test_a_wait_without_a_time_is_refused(self, tmp_path, timeout_s):
        """
        With it SQLite would not wait at all; no file is made.
        """
        with pytest.raises(ValueError, match="timeout_s: expected 0 or more seconds, got"):
            SqliteStore(tmp_path / "s.db", timeout_s=timeout_s)

        assert [] == list(tmp_path.iterdir())

    def test_a_fork_of_the_process_is_refused(self, tmp_path, monkeypatch):
        """
        A store that a forked process inherited is refused, and closing it there does not affect the parent.
        """
        with SqliteStore(tmp_path / "s.db") as store:
            with monkeypatch.context() as other:
                other.setattr(os, "getpid", lambda: -1)
                with pytest.raises(StoreError, match="opened in another process; a forked process needs its own store"):
                    store.append("s", texts(1))
                store.close()

            assert 1 == store.append("s", texts(1))[0].seq

    def test_a_reader_of_a_closed_store_is_refused(self, store, monkeypatch):
        """
        A reader raises when its store was closed before its end.
        """
        monkeypatch.setattr("assistant_events.stores.sqlite.store._PAGE_BYTES", 1)
        store.append("s", texts(1))
        store.append("s", texts(1))
        reader = store.read("s")
        next(reader)
        store.close()

        with pytest.raises(StoreError, match="the store is closed"):
            next(reader)

    def test_a_reader_may_be_handed_to_another_thread(self, store):
        """
        A reader belongs to no thread.
        """
        store.append("s", texts(3))
        reader = store.read("s")
        seen = [next(reader).seq]
        thread = Thread(target=lambda: seen.extend(record.seq for record in reader))
        thread.start()
        thread.join()

        assert [1, 2, 3] == seen

    @pytest.mark.parametrize("verb", VERBS)
    def test_an_interrupted_wait_leaves_no_transaction(self, store, verb):
        """
        Ctrl-C while SQLite waits for a lock ends the call, and the store and others go on.
        """
        store.append("s", [started("m1"), *texts(2)])
        store.snapshot("s", fold(store.read("s")))
        writer, reader = store._writer, store._reader
        store._writer, store._reader = InterruptedWait(writer), InterruptedWait(reader)

        with pytest.raises(KeyboardInterrupt):
            VERBS[verb](store)

        store._writer, store._reader = writer, reader
        assert (False, False) == (writer.in_transaction, reader.in_transaction)
        with SqliteStore(store.path, timeout_s=0.05) as other:
            assert 1 == len(other.append("s", texts(1), expected_seq=3))
        assert 1 == len(store.append("s", texts(1), expected_seq=4))

    @pytest.mark.parametrize("verb", VERBS)
    def test_ctrl_c_at_any_call_leaves_the_store_usable(self, tmp_path, verb):
        """
        Ctrl-C between any two calls inside the store leaves no lock, no transaction and no old view of the file, also
        while its traceback is referenced: other writers can append, and the store can be closed.
        """
        with SqliteStore(tmp_path / "s.db", synchronous="normal") as store:
            for place in count(1):
                for session in ("s", "t", "new"):
                    store.delete(session)
                store.append("s", [started("m1"), *texts(2)])
                store.snapshot("s", fold(store.read("s", limit=1)))
                try:
                    with ctrl_c(place):
                        VERBS[verb](store)
                except KeyboardInterrupt:
                    assert (False, False) == (store._writer.in_transaction, store._reader.in_transaction)
                    # Handed in, or the store would fold a log that grows with every call.
                    store.append("other", texts(1), expected_seq=place - 1, unfinished=())
                    assert store.seq("other") == place
                else:
                    break
            assert place > 10

    def test_an_interrupted_batch_is_not_written(self, store, monkeypatch):
        """
        Ctrl-C in the middle of a batch leaves nothing of it, and the store stays usable.
        """

        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as broken:
            broken.setattr("assistant_events.stores.sqlite.store._save_unfinished", interrupt)
            with pytest.raises(KeyboardInterrupt):
                store.append("s", texts(3))

        assert 0 == store.seq("s")
        assert 3 == len(store.append("s", texts(3), expected_seq=0))


class TestSecrets:
    def test_state_never_shows(self, store, caplog):
        """
        No error, log line or repr of a store holds anything of a state.
        """
        caplog.set_level(logging.DEBUG)
        origin = Origin(provider="acme", dialect="acme-chat")
        secret = {"signature": CANARY + SIGNATURE}
        event = StepStarted(message_id="m1", origin=origin, state=secret)
        written = store.append("s", [event, TextEnded(message_id="m1", text="hi", state=secret)])
        told = [repr(store), repr(written), repr(store.unfinished()), repr(store.sessions())]
        with pytest.raises(ConflictError) as conflict:
            store.append("s", [event], expected_seq=0)
        told += [str(conflict.value), repr(conflict.value)]
        change(store.path, """UPDATE records SET body = replace(body, '"text":', '"text":1,"x":')""")
        with pytest.raises(StoreError) as damaged:
            list(store.read("s"))
        cause = damaged.value.__cause__
        told += [str(damaged.value), repr(damaged.value), str(cause), repr(cause)]
        change(store.path, "UPDATE records SET body = substr(body, 1, 500)")
        with pytest.raises(StoreError) as cut:
            list(store.read("s"))
        told += [str(cut.value), repr(cut.value.__cause__), caplog.text]

        assert [] == [text for text in told if CANARY in text or "ab+/cd" in text]

    def test_signatures_survive_byte_for_byte(self, store):
        """
        100 KB of base64 with + / = come back as they were, from records and snapshots.
        """
        written = store.append(
            "s",
            [
                started(),
                TextEnded(message_id="m1", text="hi", state={"signature": SIGNATURE}),
                called(),
            ],
        )
        state = tuple(store.read("s"))[1].event.state

        assert written == tuple(store.read("s"))
        assert SIGNATURE.encode() == state["signature"].encode()
        assert 102_400 == len(SIGNATURE)
        assert {"+", "/", "="} <= set(SIGNATURE)


class TestSpeed:
    def plan(self, store, query):
        found = store._reader.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
        return [detail for *_, detail in found]

    def test_only_unknown_sessions_are_folded(self, store):
        """
        Sessions whose writers handed in their unfinished work are not read, and others once.
        """
        for name, unfinished in (("settled", ()), ("running", [RUNNING])):
            store.append(name, [started()], expected_seq=0, unfinished=unfinished)
        store.append("unknown", [started()])
        expected = {"running": (RUNNING,), "unknown": (RUNNING,)}

        assert expected == store.unfinished()
        change(store.path, "UPDATE records SET body = 'c4n4ry'")
        assert expected == store.unfinished()

    def test_unfinished_work_of_an_unknown_session_is_not_stored(self, store):
        """
        As after a fold during which the session was deleted.
        """
        store.append("new", [], expected_seq=0, unfinished=[RUNNING])

        assert [] == rows(store.path, "SELECT * FROM unfinished")

    def test_sessions_are_listed_without_scanning_records(self, store):
        """
        The end of each session is found by one search.
        """
        plan = self.plan(store, "SELECT id, last, (SELECT at FROM records WHERE key = last) FROM logs")

        assert not any(step.startswith("SCAN") and "records" in step for step in plan)
