"""Conversions between SQLite columns and ids, times and record keys; the tables of media."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from assistant_events.stores.sqlite.schema import SEQ_BITS
from assistant_events.values.text import has_surrogates

Key: TypeAlias = str | bytes
"""An id as SQLite takes it."""

MAX_SEQ: Final = (1 << SEQ_BITS) - 1
SNAPSHOT: Final = 0
"""The `seq` of a snapshot in `media_refs`."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class RowError(ValueError):
    """
    A column contains a value that no store writes.

    SQLite accepts values of any type in any column, so a damaged file may contain anything anywhere.
    """


def key_of(name: str) -> Key:
    """Return an id for SQLite: text is UTF-8 there, so an id with lone surrogates becomes bytes."""
    if name.isascii() or not has_surrogates(name):
        return name
    return name.encode("utf-8", "surrogatepass")


def name_of(key: object) -> str:
    """Return the id of a key; raise `RowError` for other values."""
    if isinstance(key, str):
        return key
    if not isinstance(key, bytes):
        raise RowError(f"an id is {type(key).__name__}")
    try:
        return key.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise RowError(f"an id is not valid UTF-8 at byte {error.start}") from None


def number_of(value: object) -> int:
    """Return an int; raise `RowError` for other types."""
    if not isinstance(value, int):
        raise RowError(f"a number is {type(value).__name__}")
    return value


def bytes_of(value: object) -> bytes:
    """Return bytes; raise `RowError` for other types."""
    if not isinstance(value, bytes):
        raise RowError(f"bytes are {type(value).__name__}")
    return value


def micros_of(at: datetime) -> int:
    """Return a time as microseconds since 1970."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def time_of(micros: object) -> datetime:
    """Return the time at *micros* microseconds since 1970; raise `RowError` when it is out of range."""
    try:
        return _EPOCH + number_of(micros) * _MICROSECOND
    except OverflowError:
        raise RowError(f"a time is out of range: {micros} microseconds after 1970") from None


def key_of_record(session: int, seq: int) -> int:
    """Return the key of a record; raise `RowError` for a session number that no store assigns."""
    if session >> 63 - SEQ_BITS:
        raise RowError("the number of a session is too large")
    return session << SEQ_BITS | seq


def add_media(db: sqlite3.Connection, session: int, seq: int, media: dict[bytes, bytes]) -> None:
    """Store media and their references from the record at *seq*."""
    db.executemany("INSERT OR IGNORE INTO media (digest, data) VALUES (?, ?)", media.items())
    db.executemany(
        "INSERT INTO media_refs (session, seq, digest) VALUES (?, ?, ?)", [(session, seq, digest) for digest in media]
    )


def release_media(db: sqlite3.Connection, session: int, first: int, last: int) -> None:
    """Remove the references from the records *first* to *last*, and media without references."""
    rows = (session, first, last)
    digests = db.execute(
        "SELECT DISTINCT digest FROM media_refs WHERE session = ? AND seq BETWEEN ? AND ?", rows
    ).fetchall()
    db.execute("DELETE FROM media_refs WHERE session = ? AND seq BETWEEN ? AND ?", rows)
    db.executemany(
        "DELETE FROM media WHERE digest = ? "
        "AND NOT EXISTS (SELECT 1 FROM media_refs WHERE media_refs.digest = media.digest)",
        digests,
    )


def load_media(db: sqlite3.Connection, session: int, seq: int) -> dict[bytes, bytes]:
    """Return the media of the record at *seq*, by digest."""
    found = db.execute(
        "SELECT digest, data FROM media_refs JOIN media USING (digest) WHERE session = ? AND seq = ?", (session, seq)
    ).fetchall()
    return {bytes_of(digest): bytes_of(data) for digest, data in found}
