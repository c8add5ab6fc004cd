"""
Which files become a store, which are refused, and that a refused one stays as it was.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Barrier, Thread

import pytest

from assistant_events.errors import StoreError
from assistant_events.events import TextEnded
from assistant_events.stores import SqliteStore
from assistant_events.stores.sqlite.connection import _use_wal
from assistant_events.stores.sqlite.schema import APPLICATION_ID, VERSION

EVENT = TextEnded(message_id="m1", text="hi")


def database(path, *statements):
    """Make a SQLite database by hand."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def snapshot(folder):
    """Return every file of a folder with its bytes."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def refusal(path):
    """Return the error of opening a file."""
    with pytest.raises(StoreError) as caught:
        SqliteStore(path)
    return str(caught.value)


def make_nothing(path):
    """Leave the place empty."""


def make_empty_database(path):
    database(path, "CREATE TABLE x (a)", "DROP TABLE x")


def make_empty_database_with_a_log(path):
    make_empty_database(path)
    path.with_name(f"{path.name}-wal").touch()


@pytest.mark.parametrize("make", [make_nothing, Path.touch, make_empty_database, make_empty_database_with_a_log])
def test_a_new_or_empty_file_becomes_a_store(tmp_path, make):
    """
    What holds nothing yet is made a store.
    """
    path = tmp_path / "s.db"
    make(path)
    with SqliteStore(path) as store:
        store.append("s", [EVENT])

    with closing(sqlite3.connect(path)) as db:
        assert (APPLICATION_ID,) == db.execute("PRAGMA application_id").fetchone()
        assert (VERSION,) == db.execute("PRAGMA user_version").fetchone()
        assert ("wal",) == db.execute("PRAGMA journal_mode").fetchone()


OTHER_SCHEMA = f"the file has schema version {{}}, this version of the library reads and writes {VERSION}"


def make_text(path):
    path.write_text("not a database\n" * 100)


def make_short_text(path):
    path.write_text("x")


def make_cut_database(path):
    path.write_bytes(b"SQLite format 3\0" + bytes(20))


def make_foreign_database(path):
    database(path, "CREATE TABLE theirs (a)", "INSERT INTO theirs VALUES (1)")


def make_owned_database(path):
    database(path, "PRAGMA application_id = 42", "CREATE TABLE x (a)", "DROP TABLE x")


def make_broken_database(path):
    path.write_bytes(b"SQLite format 3\0" + bytes([16, 0, 1, 1, 0, 64, 32, 32]) + bytes(500))


def make_newer_store(path):
    database(path, f"PRAGMA application_id = {APPLICATION_ID}", "PRAGMA user_version = 99", "CREATE TABLE x (a)")


def make_older_store(path):
    database(path, f"PRAGMA application_id = {APPLICATION_ID}", "PRAGMA user_version = 1", "CREATE TABLE x (a)")


def make_store_of_no_version(path):
    database(path, f"PRAGMA application_id = {APPLICATION_ID}", "CREATE TABLE x (a)")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (make_text, "this is not a SQLite database; it was not changed"),
        (make_short_text, "this is not a SQLite database; it was not changed"),
        (make_cut_database, "this is not a SQLite database; it was not changed"),
        (make_foreign_database, "this SQLite database belongs to another application; it was not changed"),
        (make_owned_database, "this SQLite database belongs to another application; it was not changed"),
        (make_broken_database, "this SQLite database belongs to another application; it was not changed"),
        (make_newer_store, OTHER_SCHEMA.format(99)),
        (make_older_store, OTHER_SCHEMA.format(1)),
        (make_store_of_no_version, OTHER_SCHEMA.format(0)),
    ],
)
def test_what_is_not_ours_is_refused_and_left_alone(tmp_path, make, sentence):
    """
    The error has the reason; the file is the same byte for byte, and no file is created beside it.
    """
    path = tmp_path / "s.db"
    make(path)
    before = snapshot(tmp_path)

    assert f"{path}: {sentence}" == refusal(path)
    assert before == snapshot(tmp_path)


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_database_in_use_by_others_is_left_alone(tmp_path, mode):
    """
    Tables of another application may still be in the journal, and not in the file itself.
    """
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("PRAGMA user_version = 0")
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE theirs (a)")
        if mode == "WAL":
            other.execute("COMMIT")
        before = snapshot(tmp_path)

        assert "belongs to another application" in refusal(path) if path.stat().st_size else True
        assert before == snapshot(tmp_path)


def test_a_database_that_turns_foreign_meanwhile_is_refused(tmp_path, monkeypatch):
    """
    A file that was empty when it was looked at, and is not when it is locked, is not written to.
    """
    path = tmp_path / "s.db"
    make_foreign_database(path)
    before = path.read_bytes()
    monkeypatch.setattr("assistant_events.stores.sqlite.connection._check_header", lambda path: None)

    assert "belongs to another application" in refusal(path)
    assert before == path.read_bytes()


def test_a_store_that_turns_newer_meanwhile_is_refused(tmp_path, monkeypatch):
    """
    So is one whose schema version changes between both checks.
    """
    path = tmp_path / "s.db"
    make_newer_store(path)
    monkeypatch.setattr("assistant_events.stores.sqlite.connection._check_header", lambda path: None)

    assert OTHER_SCHEMA.format(99) in refusal(path)


def test_a_folder_is_refused(tmp_path):
    """
    A folder is refused.
    """
    assert f"{tmp_path}: expected a database file, this is a folder" == refusal(tmp_path)


def test_a_pipe_is_refused(tmp_path):
    """
    A file that is not a regular one is not opened, which could block.
    """
    os.mkfifo(tmp_path / "pipe")

    assert f"{tmp_path / 'pipe'}: expected a database file, this is not a regular file" == refusal(tmp_path / "pipe")


def test_a_missing_folder_is_refused(tmp_path):
    """
    A store makes a file, not the folders above it.
    """
    path = tmp_path / "a" / "b" / "s.db"

    assert f"{path}: the folder {str(path.parent)!r} does not exist" == refusal(path)
    assert [] == list(tmp_path.iterdir())


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    """
    The error of the operating system about a name is passed on.
    """
    assert "File name too long" in refusal(tmp_path / ("x" * 300))


def test_a_file_below_a_file_is_refused(tmp_path):
    """
    So is its error about a file used as a folder.
    """
    (tmp_path / "file").touch()

    assert "Not a directory" in refusal(tmp_path / "file" / "s.db")


def test_a_file_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    """
    A store that could not append is refused when it is opened.
    """
    path = tmp_path / "s.db"
    SqliteStore(path).close()
    before = snapshot(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)

    assert f"{path}: this process is not allowed to read and write the file" == refusal(path)
    assert before == snapshot(tmp_path)


def test_a_file_that_vanishes_meanwhile_is_made_anew(tmp_path, monkeypatch):
    """
    A file that was there when its kind was asked, and is not when it is read, is a new one.
    """
    path = tmp_path / "s.db"
    monkeypatch.setattr("assistant_events.stores.sqlite.connection._check_path", lambda path: None)
    with SqliteStore(path) as store:
        assert 0 == store.seq("s")


def test_a_path_of_another_type_is_refused():
    """
    A path is a string or a path object.
    """
    with pytest.raises(TypeError, match="path: expected str or PathLike, got int"):
        SqliteStore(5)
    with pytest.raises(TypeError, match="path: expected str or PathLike of str, got bytes"):
        SqliteStore(b"s.db")
    with pytest.raises(ValueError, match="path: expected a non-empty string"):
        SqliteStore("")


def test_opening_a_store_waits_for_no_writer(tmp_path):
    """
    Nor does reading it.
    """
    path = tmp_path / "s.db"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with SqliteStore(path, timeout_s=0) as store:
            assert 0 == store.seq("s")


def test_many_may_open_a_new_file_at_once(tmp_path):
    """
    The first process creates the tables, the others wait.
    """
    for number in range(10):
        path = tmp_path / f"{number}.db"
        start, faults = Barrier(4), []

        def work(name, path=path, start=start, faults=faults):
            start.wait()
            try:
                with SqliteStore(path, synchronous="normal") as store:
                    store.append(name, [EVENT])
            except StoreError as error:
                faults.append(error)

        threads = [Thread(target=work, args=(f"s{each}",)) for each in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [] == faults
        with SqliteStore(path) as store:
            assert {"s0", "s1", "s2", "s3"} == {info.session_id for info in store.sessions()}


def test_a_file_whose_journal_cannot_be_changed_is_refused(tmp_path):
    """
    A store that was set to another journal by hand, and is read by others all the time, gives an error after the wait.
    """
    path = tmp_path / "s.db"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN")
        other.execute("SELECT * FROM sessions").fetchall()

        with pytest.raises(StoreError, match="locked; another writer holds the lock for longer"):
            SqliteStore(path, timeout_s=0.05)


class Refusing:
    """A connection that refuses to change the journal twice."""

    tries = 0

    def __init__(self, name):
        self.error = sqlite3.OperationalError(name)
        self.error.sqlite_errorname = name

    def execute(self, statement):
        self.tries += 1
        if self.tries < 3:
            raise self.error


def test_a_change_of_journal_is_tried_again():
    """
    SQLite refuses at once when two connections change the journal of a new file; the next attempt succeeds.
    """
    connection = Refusing("SQLITE_BUSY_RECOVERY")
    _use_wal(connection, 30.0)

    assert 3 == connection.tries


def test_a_full_disk_is_not_waited_for():
    """
    Waiting gives no room on a full disk.
    """
    connection = Refusing("SQLITE_FULL")
    with pytest.raises(sqlite3.OperationalError):
        _use_wal(connection, 30.0)

    assert 1 == connection.tries


def test_tables_that_cannot_be_made_are_an_error(tmp_path, monkeypatch):
    """
    When SQLite has given up the transaction by itself there is nothing to roll back.
    """

    def fail(connection, path):
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("assistant_events.stores.sqlite.connection._make_tables", fail)

    assert f"{tmp_path / 's.db'}: database or disk is full" == refusal(tmp_path / "s.db")


def test_an_option_that_fails_leaves_nothing_open(tmp_path, monkeypatch):
    """
    When a connection cannot be set up it is closed again, and so is the one before it.
    """
    opened = []
    connect = sqlite3.connect

    def limited(*args, **kwargs):
        opened.append(connect(*args, **kwargs))
        if len(opened) == 2:
            opened[1].close()
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", limited)

    assert "Cannot operate on a closed database" in refusal(tmp_path / "s.db")
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError):
            connection.execute("SELECT 1")
