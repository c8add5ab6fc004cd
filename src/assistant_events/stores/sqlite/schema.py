"""
The tables of a SQLite store. Whose a file is stands in `PRAGMA application_id`, its version in `user_version`.
"""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x41734576
"""`AsEv`: by this a store knows its own files."""

VERSION: Final = 2

SEQ_BITS: Final = 32
"""Rows of `records` lie under one number, `session << SEQ_BITS | seq`."""

_LOG: Final = (
    """
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id NOT NULL UNIQUE,
        created INTEGER NOT NULL,
        pruned INTEGER NOT NULL,
        pruned_at INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE records (
        place INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        meta BLOB,
        apart BLOB,
        body BLOB NOT NULL
    )
    """,
    # 32 is SEQ_BITS.
    """
    CREATE VIEW logs AS SELECT *, (
        SELECT place FROM records WHERE place BETWEEN number << 32 AND (number + 1 << 32) - 1
        ORDER BY place DESC LIMIT 1
    ) AS last FROM sessions
    """,
    """
    CREATE TABLE snapshots (
        session INTEGER PRIMARY KEY,
        seq INTEGER NOT NULL,
        apart INTEGER,
        body BLOB NOT NULL
    )
    """,
)
"""
Records and snapshots.

A row of `records` holds a batch or a piece of it: its `body` is a JSON array of events, `place` that of the last of
them. So a batch takes one row, and appending it changes nothing else: where a session ends is read from its last row.
`apart` lists the places whose media are in `media`. Times are microseconds since 1970; ids that are no valid Unicode
are bytes.
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
    CREATE TABLE holders (
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        digest BLOB NOT NULL,
        PRIMARY KEY (session, seq, digest)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX holders_by_digest ON holders (digest)",
)
"""Media by their SHA-256, and the records that hold them; a snapshot holds its media at `seq` 0."""

_ATTENTION: Final = (
    """
    CREATE TABLE messages (
        session INTEGER NOT NULL,
        id NOT NULL,
        first INTEGER NOT NULL,
        PRIMARY KEY (session, id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX messages_by_first ON messages (session, first)",
    """
    CREATE TABLE steps (
        session INTEGER NOT NULL,
        message NOT NULL,
        phase TEXT NOT NULL,
        run BLOB,
        answered INTEGER NOT NULL,
        PRIMARY KEY (session, message)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE calls (
        session INTEGER NOT NULL,
        message NOT NULL,
        id NOT NULL,
        waits_since INTEGER,
        PRIMARY KEY (session, message, id)
    ) WITHOUT ROWID
    """,
)
"""
The marks of `stores.attention`.

A message that is closed has a row in `messages` only, whose `first` is -1 once it is rewound. By the index a rewind
finds what it removes and nothing else; files that were made without it do as well. `steps` has the others;
a call that does not wait has no `waits_since`.
"""

SCHEMA: Final = (*_LOG, *_MEDIA, *_ATTENTION)
