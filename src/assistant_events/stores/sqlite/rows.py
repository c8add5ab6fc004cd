"""Between columns and what they stand for: ids, times, places; and who holds which media."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from assistant_events.stores.sqlite.schema import SEQ_BITS
from assistant_events.values.unicode import has_surrogates

Key: TypeAlias = str | bytes
"""An id as SQLite takes it."""

LAST_SEQ: Final = (1 << SEQ_BITS) - 1
SNAPSHOT: Final = 0
"""The `seq` at which a snapshot holds its media."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def key_of(name: str) -> Key:
    """Return an id as SQLite takes it: text is UTF-8 there, so an id with lone surrogates becomes bytes."""
    if name.isascii() or not has_surrogates(name):
        return name
    return name.encode("utf-8", "surrogatepass")


def name_of(key: Key) -> str:
    """Return the id of a key."""
    return key if isinstance(key, str) else key.decode("utf-8", "surrogatepass")


def micros_of(at: datetime) -> int:
    """Return a time as microseconds since 1970."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def time_of(micros: int) -> datetime:
    """Return the time of microseconds since 1970."""
    return _EPOCH + micros * _MICROSECOND


def place_of(session: int, seq: int) -> int:
    """Return the row id of a record."""
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
    return dict(
        db.execute(
            "SELECT digest, data FROM holders JOIN media USING (digest) WHERE session = ? AND seq = ?", (session, seq)
        )
    )
