"""
Opening a file as a store: which files are refused, and how new ones are created.

A foreign file is inspected without SQLite's locks and journals, so that it is not changed and no file is created
beside it. Our application id is written before the file changes to WAL mode, so the header identifies our files also
after a crash.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar, cast, get_args

from assistant_events.errors import JsonError, StoreError, StructureError
from assistant_events.stores.sqlite.columns import RowError
from assistant_events.stores.sqlite.schema import APPLICATION_ID, SCHEMA, VERSION
from assistant_events.values.arguments import check_seconds

_T = TypeVar("_T")

Synchronous: TypeAlias = Literal["full", "normal"]

MEMORY: Final = ":memory:"

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100

_MAX_WAIT_S: Final = 2_147_483
"""SQLite counts milliseconds in 32 bits; with more it would not wait at all."""


def name_of_file(path: str | os.PathLike[str]) -> str:
    """Return *path* as a string; raise when it cannot name a file."""
    try:
        name = cast(object, os.fspath(path))
    except TypeError:
        raise TypeError(f"path: expected str or PathLike, got {type(path).__name__}") from None
    if not isinstance(name, str):
        raise TypeError(f"path: expected str or PathLike of str, got {type(name).__name__}")
    if not name:
        raise ValueError("path: expected a non-empty string")
    return name


def open_file(
    path: str, *, synchronous: Synchronous, timeout_s: float
) -> tuple[sqlite3.Connection, sqlite3.Connection, Callable[[], None]]:
    """
    Return a connection for writing and one for reading; in memory both are the same.

    The function raises `StoreError` once another file, or none, is at *path*: SQLite would write to the old one.
    """
    if synchronous not in get_args(Synchronous):
        raise ValueError(f"synchronous: expected 'full' or 'normal', got {synchronous!r}")
    check_seconds("timeout_s", timeout_s)
    timeout_s = min(timeout_s, _MAX_WAIT_S)
    if path != MEMORY:
        _check_path(path)
        _check_header(path)
    with translated(path):
        writer = _connect(path, synchronous=synchronous, timeout_s=timeout_s)
        try:
            if (_pragma(writer, "application_id"), _pragma(writer, "user_version")) != (APPLICATION_ID, VERSION):
                transact(writer, "BEGIN IMMEDIATE", lambda db: _make_tables(db, path))
            if path == MEMORY:
                return writer, writer, lambda: None
            _use_wal(writer, timeout_s)
            reader = _connect(path, synchronous=synchronous, timeout_s=timeout_s)
        except BaseException:
            writer.close()
            raise
    return writer, reader, _place_check(path)


def transact(db: sqlite3.Connection, begin: str, work: Callable[[sqlite3.Connection], _T]) -> _T:
    """Return the result of *work* in a transaction, which is rolled back when anything raises."""
    try:
        # SQLite waits for a lock here; Ctrl-C during the wait is raised once the transaction has begun.
        db.execute(begin)
        result = work(db)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return result


@contextmanager
def translated(path: str) -> Generator[None]:
    """Translate errors of SQLite and of damaged rows into `StoreError` with the path of the file."""
    try:
        yield
    except sqlite3.Error as error:
        name = _name_of(error)
        remedy = next((text for code, text in _REMEDIES.items() if name.startswith(code)), "")
        raise StoreError(f"{path}: {error}{remedy}") from error
    except (JsonError, StructureError, RowError, UnicodeDecodeError) as error:
        # UnicodeDecodeError: SQLite quotes a damaged schema, and its message is not UTF-8 then.
        raise StoreError(f"{path}: the file is damaged: {error}") from error


def _name_of(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "")  # those of the Python module have none


_REMEDIES: Final = {
    "SQLITE_BUSY": "; another writer holds the lock for longer than timeout_s",
    "SQLITE_FULL": "; nothing of this batch was written",
    "SQLITE_CORRUPT": "; restore the file from a backup",
    "SQLITE_NOTADB": "; restore the file from a backup",
}


def _connect(path: str, *, synchronous: Synchronous, timeout_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        # Deleted conversations are to be overwritten. The default depends on the build of SQLite.
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _place_check(path: str) -> Callable[[], None]:
    place = Path(path).absolute()  # the working folder may change
    inode = _inode(place)

    def check() -> None:
        if _inode(place) != inode:
            raise StoreError(f"{path}: the file was moved, deleted or replaced; open another store")

    return check


def _inode(place: Path) -> int | None:
    try:
        return place.stat().st_ino
    except OSError:
        return None


def _check_path(path: str) -> None:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except FileNotFoundError:
        parent = Path(path).parent
        if not parent.is_dir():
            raise StoreError(f"{path}: the folder {str(parent)!r} does not exist") from None
        return
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise StoreError(f"{path}: expected a database file, this is {kind}")
    if not os.access(path, os.R_OK | os.W_OK):
        raise StoreError(f"{path}: this process is not allowed to read and write the file")


def _check_header(path: str) -> None:
    """Raise unless the file is new, empty or ours, according to its header."""
    try:
        with Path(path).open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return
    if not header:
        return
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise StoreError(f"{path}: this is not a SQLite database; it was not changed")
    application_id = int.from_bytes(header[68:72], "big")
    if application_id == APPLICATION_ID:
        _check_version(path, int.from_bytes(header[60:64], "big"))
    elif application_id or not _is_empty(path):
        raise _foreign(path)


def _check_version(path: str, version: int) -> None:
    if version != VERSION:
        raise StoreError(
            f"{path}: the file has schema version {version}, this version of the library reads and writes {VERSION}"
        )


def _foreign(path: str) -> StoreError:
    return StoreError(f"{path}: this SQLite database belongs to another application; it was not changed")


def _is_empty(path: str) -> bool:
    """Return whether a SQLite database without application id has no tables, without locks and journals."""
    for suffix in ("-wal", "-journal"):
        try:
            if Path(path + suffix).stat().st_size:
                return False
        except FileNotFoundError:
            pass
    try:
        connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            return _tables(connection) == 0
        finally:
            connection.close()
    except sqlite3.Error:
        return False


def _tables(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    assert isinstance(count, int)
    return count


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    assert isinstance(value, int)
    return value


def _make_tables(connection: sqlite3.Connection, path: str) -> None:
    if _pragma(connection, "application_id") == APPLICATION_ID:  # another process may have created them meanwhile
        _check_version(path, _pragma(connection, "user_version"))
    elif _tables(connection):
        raise _foreign(path)
    else:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _use_wal(connection: sqlite3.Connection, timeout_s: float) -> None:
    # Here SQLite does not wait for other processes, and two may open a new file at once.
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if time.monotonic() >= deadline or not _name_of(error).startswith("SQLITE_BUSY"):
                raise
            time.sleep(0.005)
        else:
            return
