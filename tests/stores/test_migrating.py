"""
A file of an older version is brought up to date when it is opened, or left as it was.
"""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier, Thread

import pytest

from assistant_events.errors import StoreError
from assistant_events.events import UnknownEvent
from assistant_events.stores import SqliteStore
from assistant_events.stores.sqlite.schema import VERSION

START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA_1 = Path(__file__).with_name("schema_1.sql").read_text(encoding="utf-8")


@pytest.fixture
def old_file(tmp_path):
    """
    A file of schema version 1.
    """
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(SCHEMA_1)
    return path


def test_everything_of_an_old_file_is_there(old_file):
    """
    Records keep their places, times and meta; an event that nobody knows is kept too.
    """
    with SqliteStore(old_file) as store:
        records = list(store.read("chat"))

        assert [1, 2, 3, 4, 5] == [record.seq for record in records]
        assert [0, 1, 1, 1, 2] == [(record.at - START) // timedelta(seconds=1) for record in records]
        assert [{"user": "ann"}, {}, {}, {}, {}] == [record.meta for record in records]
        assert isinstance(records[4].event, UnknownEvent)
        assert [("chat", 5), ("picture", 2)] == [(info.session_id, info.seq) for info in store.sessions()]


def test_an_old_file_gets_what_it_did_not_have(old_file):
    """
    Media are stored once, what is unfinished is known, events of one batch share a row.
    """
    with SqliteStore(old_file) as store:
        assert [("chat", "m1", "call", "c1")] == [
            (each.session_id, each.message_id, each.kind, each.call_id) for each in store.unfinished("chat")
        ]
        assert [b"ABC" * 200] * 2 == [record.event.data for record in store.read("picture")]

    with closing(sqlite3.connect(old_file)) as db:
        assert (1,) == db.execute("SELECT count(*) FROM media").fetchone()
        assert (4,) == db.execute("SELECT count(*) FROM records").fetchone()
        assert (VERSION,) == db.execute("PRAGMA user_version").fetchone()
        assert [] == db.execute("SELECT name FROM sqlite_master WHERE tbl_name LIKE '%\\_1' ESCAPE '\\'").fetchall()


def test_a_migrated_file_goes_on(old_file):
    """
    Appending, opening again and new sessions work as in any other file.
    """
    with SqliteStore(old_file) as store:
        event = next(store.read("chat")).event
        assert 6 == store.append("chat", [event], expected_seq=5)[0].seq
        assert 1 == store.append("new", [event], expected_seq=0)[0].seq

    with SqliteStore(old_file) as store:
        assert 6 == store.seq("chat")


def test_a_migration_that_fails_changes_nothing(old_file):
    """
    When a record cannot be read the file stays in its version, with everything in it, and the record is named.
    """
    with closing(sqlite3.connect(old_file)) as db:
        db.execute("UPDATE records SET body = '{' WHERE place = (1 << 32) + 3")
        db.commit()
    before = old_file.read_bytes()

    with pytest.raises(StoreError, match="session 'chat', seq 3 is damaged"):
        SqliteStore(old_file)

    assert before == old_file.read_bytes()


def test_two_may_migrate_at_once(old_file):
    """
    Whoever comes second finds it done.
    """
    start, seqs = Barrier(2), []

    def work():
        start.wait()
        with SqliteStore(old_file) as store:
            seqs.append(store.seq("chat"))

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [5, 5] == seqs
