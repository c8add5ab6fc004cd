"""Between columns and what they stand for: ids, times, places; and who holds which media."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from assistant_events.stores.sqlite.schema import SEQ_BITS
from assistant_events.values.text import has_surrogates

Key: TypeAlias = str | bytes
"""An id as SQLite takes it."""

LAST_SEQ: Final = (1 << SEQ_BITS) - 1
SNAPSHOT: Final = 0
"""The `seq` at which a snapshot holds its media."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class RowError(ValueError):
    """
    A column holds what no store has written there.

    SQLite lets values of every type stand in every column, so a damaged file may hold anything anywhere.
    """


def key_of(name: str) -> Key:
    """Return an id as SQLite takes it: text is UTF-8 there, so an id with lone surrogates becomes bytes."""
    if name.isascii() or not has_surrogates(name):
        return name
    return name.encode("utf-8", "surrogatepass")


def name_of(key: object) -> str:
    """Return the id of a key; raise a `RowError` when it is none."""
    if isinstance(key, str):
        return key
    if not isinstance(key, bytes):
        raise RowError(f"an id is {type(key).__name__}")
    try:
        return key.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise RowError(f"an id is no UTF-8 at byte {error.start}") from None


def number_of(value: object) -> int:
    """Return a number; raise a `RowError` when it is none."""
    if not isinstance(value, int):
        raise RowError(f"a number is {type(value).__name__}")
    return value


def bytes_of(value: object) -> bytes:
    """Return bytes; raise a `RowError` when they are none."""
    if not isinstance(value, bytes):
        raise RowError(f"bytes are {type(value).__name__}")
    return value


def micros_of(at: datetime) -> int:
    """Return a time as microseconds since 1970."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def time_of(micros: object) -> datetime:
    """Return the time of microseconds since 1970; raise a `RowError` when there is no such time."""
    try:
        return _EPOCH + number_of(micros) * _MICROSECOND
    except OverflowError:
        raise RowError(f"a time is {micros} microseconds after 1970") from None


def place_of(session: int, seq: int) -> int:
    """Return the row id of a record; raise a `RowError` when the session has a number that no store gives."""
    if session >> 63 - SEQ_BITS:
        raise RowError("a session has a number that is too large")
    return session << SEQ_BITS | seq


def hold_media(db: sqlite3.Connection, session: int, seq: int, media: dict[bytes, bytes]) -> None:
    """Keep media for the record at *seq*."""
    db.executemany("INSERT OR IGNORE INTO media (digest, data) VALUES (?, ?)", media.items())
    db.executemany(
        "INSERT INTO holders (session, seq, digest) VALUES (?, ?, ?)", [(session, seq, digest) for digest in media]
    )


def release_media(db: sqlite3.Connection, session: int, first: int, last: int) -> None:
    """Let go of the media of the records from *first* to *last*; what nobody else holds is removed."""
    held = (session, first, last)
    digests = db.execute(
        "SELECT DISTINCT digest FROM holders WHERE session = ? AND seq BETWEEN ? AND ?", held
    ).fetchall()
    db.execute("DELETE FROM holders WHERE session = ? AND seq BETWEEN ? AND ?", held)
    db.executemany(
        "DELETE FROM media WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM holders WHERE holders.digest = media.digest)",
        digests,
    )


def media_held(db: sqlite3.Connection, session: int, seq: int) -> dict[bytes, bytes]:
    """Return the media of the record at *seq* by their digests."""
    found = db.execute(
        "SELECT digest, data FROM holders JOIN media USING (digest) WHERE session = ? AND seq = ?", (session, seq)
    ).fetchall()
    return {bytes_of(digest): bytes_of(data) for digest, data in found}
