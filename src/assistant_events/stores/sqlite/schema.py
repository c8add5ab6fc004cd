"""The tables of a SQLite store. Its files have an `application_id`; the `user_version` is that of this schema."""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x41734576
"""`AsEv`."""

VERSION: Final = 4

SEQ_BITS: Final = 32
"""The key of a record is `session << SEQ_BITS | seq`."""

_LOG: Final = (
    """
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id NOT NULL UNIQUE,
        created INTEGER NOT NULL,
        pruned INTEGER NOT NULL,
        pruned_at INTEGER NOT NULL,
        owner
    )
    """,
    "CREATE INDEX sessions_by_owner ON sessions (owner)",
    """
    CREATE TABLE records (
        key INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        meta BLOB,
        with_media BLOB,
        body BLOB NOT NULL
    )
    """,
    # 32 is SEQ_BITS.
    """
    CREATE VIEW logs AS SELECT *, (
        SELECT key FROM records WHERE key BETWEEN number << 32 AND (number + 1 << 32) - 1
        ORDER BY key DESC LIMIT 1
    ) AS last FROM sessions
    """,
    """
    CREATE TABLE snapshots (
        session INTEGER PRIMARY KEY,
        seq INTEGER NOT NULL,
        with_media INTEGER,
        body BLOB NOT NULL
    )
    """,
)
"""
Records and snapshots.

A row of `records` is a batch or a chunk of it: `body` is a JSON array of events, `key` belongs to the last of them. The
end of a session is read from its last row, so an append updates no other row. `with_media` lists the `seq` of records
whose media are in `media`. Times are microseconds since 1970; ids and other names that are not valid Unicode are bytes.
"""

_MEDIA: Final = (
    """
    CREATE TABLE media (
        number INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        data BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE media_refs (
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        digest BLOB NOT NULL,
        PRIMARY KEY (session, seq, digest)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX media_refs_by_digest ON media_refs (digest)",
)
"""Media by their SHA-256, and the records that refer to them; a snapshot has the `seq` 0."""

_UNFINISHED: Final = ("CREATE TABLE unfinished (session INTEGER PRIMARY KEY, body BLOB)",)
"""Unfinished work of a session as JSON. `NULL` when it is unknown; without a row the session awaits its user."""

_CLAIMS: Final = (
    """
    CREATE TABLE claims (
        token INTEGER PRIMARY KEY AUTOINCREMENT,
        session NOT NULL UNIQUE,
        worker NOT NULL,
        held INTEGER NOT NULL
    )
    """,
    "CREATE TABLE workers (name NOT NULL PRIMARY KEY, beat INTEGER NOT NULL) WITHOUT ROWID",
)
"""
The last claim of each session by the id of the session, which may have no records yet; `held` is 0 after its release.
`AUTOINCREMENT`: no token is used twice. A worker has a row as long as it may be alive.
"""

_CHECKPOINTS: Final = (
    """
    CREATE TABLE checkpoints (
        session INTEGER NOT NULL,
        message NOT NULL,
        type NOT NULL,
        call NOT NULL,
        start INTEGER NOT NULL,
        body NOT NULL,
        PRIMARY KEY (session, message, type, call, start)
    ) WITHOUT ROWID
    """,
)
"""
Pieces of open fragments, text or bytes, by the type of their deltas. `call` is empty unless it is the input of a call;
`start` is the offset.
"""

SCHEMA: Final = (*_LOG, *_MEDIA, *_UNFINISHED, *_CLAIMS, *_CHECKPOINTS)
