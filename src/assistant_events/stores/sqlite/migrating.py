"""
How a file of an older version comes to have the tables of today.

A migration brings a file from one version to the next, inside the transaction of the caller. One whose version was
ever released stays for ever.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Final, NamedTuple

from assistant_events.events import Event
from assistant_events.stores.sqlite.marks import follow
from assistant_events.stores.sqlite.pieces import encode, read_body, write
from assistant_events.stores.sqlite.rows import LAST_SEQ, name_of
from assistant_events.stores.sqlite.schema import SCHEMA


class _OldRow(NamedTuple):
    place: int
    at: int
    meta: bytes | None
    body: bytes


def one_row_each_to_batches(db: sqlite3.Connection) -> None:
    """
    Bring version 1 to 2.

    Version 1 had a row for each event, media inside them, the last place of a session beside its id, and neither
    snapshots nor marks.
    """
    db.execute("ALTER TABLE sessions RENAME TO sessions_1")
    db.execute("ALTER TABLE records RENAME TO records_1")
    for statement in SCHEMA:
        db.execute(statement)
    db.execute(
        "INSERT INTO sessions (number, id, created, pruned, pruned_at) "
        "SELECT number, id, created, 0, 0 FROM sessions_1 WHERE seq > 0"
    )
    for number, key in db.execute("SELECT number, id FROM sessions").fetchall():
        after = 0
        for rows in _batches(db, number):
            events = [read_body(row.body, Event, name_of(key), row.place & LAST_SEQ) for row in rows]
            write(db, number, after, encode(events), at=rows[0].at, meta=rows[0].meta)
            follow(db, number, events, after + 1)
            after += len(rows)
    db.execute("DROP TABLE records_1")
    db.execute("DROP TABLE sessions_1")


def _batches(db: sqlite3.Connection, number: int) -> Iterator[list[_OldRow]]:
    """Return the rows of a session by time and `meta`, which is what the events of a batch have in common."""
    rows = db.execute("SELECT place, at, meta, body FROM records_1 WHERE place >> 32 = ? ORDER BY place", (number,))
    for _, batch in groupby(map(_OldRow._make, rows), key=lambda row: (row.at, row.meta)):
        yield list(batch)


MIGRATIONS: Final[Mapping[int, Callable[[sqlite3.Connection], None]]] = {1: one_row_each_to_batches}
"""Migrations by the version that they start from."""
