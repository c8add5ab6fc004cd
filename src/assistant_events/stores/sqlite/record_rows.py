"""
Rows of the table `records`: each contains a batch, or a chunk of a large batch, as one JSON array.

One row for a batch of 100 events takes a quarter of the time of 100 rows. The JSON of an event contains no line break,
so an array with line breaks between its elements is split without parsing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import repeat
from typing import Any, Final, NamedTuple, TypeVar

from assistant_events.converters import dumps, loads
from assistant_events.converters.converter import structure_hook
from assistant_events.errors import JsonError, StoreError, StructureError
from assistant_events.events import Event
from assistant_events.stores.contract import StoredEvent
from assistant_events.stores.media import Media, events_with_media, extract_media
from assistant_events.stores.sqlite.columns import MAX_SEQ, RowError, add_media, bytes_of, key_of_record, time_of
from assistant_events.values import JsonObject, read_json, write_json
from assistant_events.values.json_values import ShapeError
from assistant_events.values.validators import NO_FIELDS

_Item = TypeVar("_Item")

ROW_EVENTS: Final = 128
ROW_BYTES: Final = 1 << 16
"""Limits of one row. Reading a single record splits its row; larger rows are not faster to append."""


class RecordRow(NamedTuple):
    """A row of `records`."""

    key: int
    at: int
    meta: bytes | None

    with_media: bytes | None
    """JSON array of the `seq` of records whose media are in the table `media`; `None` for none."""

    body: bytes

    @property
    def last(self) -> int:
        """`seq` of its last record."""
        return self.key & MAX_SEQ


class EncodedBatch(NamedTuple):
    """A batch as JSON."""

    bodies: list[bytes]
    media: dict[int, Media]
    """Extracted media, by the position of their event in the batch."""


def encode(events: Sequence[StoredEvent]) -> EncodedBatch:
    """Return *events* as JSON, with their media extracted."""
    media: dict[int, Media] = {}
    kept = list(events)
    for at, event in events_with_media(events):
        kept[at], found = extract_media(event)
        if found:
            media[at] = found
    return EncodedBatch(list(map(dumps, kept)), media)


def write(
    db: sqlite3.Connection, session: int, after: int, encoded: EncodedBatch, *, at: int, meta: bytes | None
) -> None:
    """Insert a batch after the record at *after*."""
    bodies, media = encoded
    for first, chunk in _chunks(bodies):
        last = after + first + len(chunk)
        with_media = [after + 1 + at for at in range(first, first + len(chunk)) if at in media] if media else None
        listed = write_json(with_media) if with_media else None
        insert(db, RecordRow(key_of_record(session, last), at, meta, listed, join_array(chunk)))
    for at_position, found in media.items():
        add_media(db, session, after + 1 + at_position, found)


def insert(db: sqlite3.Connection, row: RecordRow) -> None:
    """Insert one row."""
    db.execute("INSERT INTO records (key, at, meta, with_media, body) VALUES (?, ?, ?, ?, ?)", row)


def rows_after(db: sqlite3.Connection, session: int, after: int, *, limit: int = -1) -> Iterator[RecordRow]:
    """
    Return the rows with records after *after*, in order; at most *limit* unless it is negative.

    A damaged file may contain a page twice or at a wrong offset, which SQLite does not detect.

    Raises:
        RowError: A row is not after the row before it.
    """
    lowest, highest = key_of_record(session, after + 1), key_of_record(session, MAX_SEQ)
    found = db.execute(
        "SELECT key, at, meta, with_media, CAST(body AS BLOB) FROM records WHERE key BETWEEN ? AND ? "
        "ORDER BY key LIMIT ?",
        (lowest, highest, limit),
    )
    try:
        for row in map(RecordRow._make, found):
            if row.key < lowest:
                raise RowError("the rows of the records are out of order")
            bytes_of(row.body)
            lowest = row.key + 1
            yield row
    finally:
        # The traceback of an error would keep the cursor open, and with it an old view of the file.
        found.close()


def records_after(row: RecordRow, after: int) -> tuple[int, Sequence[bytes]]:
    """Return the JSON of the events of a row after `seq` *after*, with the `seq` of the first."""
    return _behind(after, row, split_array(row.body))


def events_after(row: RecordRow, after: int, limit: int, session_id: str) -> tuple[int, int, Iterable[StoredEvent]]:
    """
    Return the `seq` of the first event of a row after `seq` *after*, the number of events, and the events.

    At most *limit* of them, without their extracted media. The iterator raises `StoreError` for a damaged event.
    """
    if limit >= ROW_EVENTS:
        # Every stored event passes here. When one is damaged, those before it are read one by one.
        with suppress(JsonError, ShapeError, TypeError):
            first, documents = _behind(after, row, read_json(row.body, max_depth=None))
            return first, len(documents), [*map(structure_hook(Event), documents, repeat(Event))]
    first, bodies = records_after(row, after)
    bodies = bodies[:limit]
    return first, len(bodies), (read_body(body, Event, session_id, seq) for seq, body in enumerate(bodies, first))


def read_all(db: sqlite3.Connection, session: int, after: int, session_id: str) -> list[StoredEvent]:
    """Return the events of the records after *after*, without their extracted media."""
    return [
        event for row in rows_after(db, session, after) for event in events_after(row, after, MAX_SEQ, session_id)[2]
    ]


def cut_off(db: sqlite3.Connection, session: int, through: int) -> None:
    """Remove the records up to and including *through*, and store when the last of them was appended."""
    rows = list(rows_after(db, session, through - 1, limit=1))
    if not rows:
        raise RowError(f"{name_of_record(through)} is missing")
    (row,) = rows
    if row.last > through:
        _, bodies = records_after(row, through)
        db.execute("UPDATE records SET body = ? WHERE key = ?", (join_array(bodies), row.key))
    delete_rows(db, session, through)
    db.execute("UPDATE sessions SET pruned = ?, pruned_at = ? WHERE number = ?", (through, row.at, session))


def delete_rows(db: sqlite3.Connection, session: int, through: int) -> None:
    """Delete the rows whose last record is not after *through*."""
    between = (key_of_record(session, 1), key_of_record(session, through))
    db.execute("DELETE FROM records WHERE key BETWEEN ? AND ?", between)


def copy(db: sqlite3.Connection, session: int, made: int, through: int) -> None:
    """Copy the records up to and including *through* to another session."""
    db.execute(
        "INSERT INTO records (key, at, meta, with_media, body) "
        "SELECT key - ? + ?, at, meta, with_media, body FROM records WHERE key BETWEEN ? AND ?",
        (key_of_record(session, 0), key_of_record(made, 0), key_of_record(session, 1), key_of_record(session, through)),
    )
    for row in rows_after(db, session, through - 1, limit=1):
        first, bodies = records_after(row, 0)
        if first <= through < row.last:
            body = join_array(bodies[: through + 1 - first])
            insert(db, row._replace(key=key_of_record(made, through), body=body))


def read_body(body: bytes, cls: Any, session_id: str, seq: int) -> Any:
    """
    Return the value of a JSON text.

    Raises:
        StoreError: The text is damaged.
    """
    # Any: what `loads` makes of the class that it is given; not all type checkers let a type form be handed on.
    try:
        return loads(body, cls)
    except (JsonError, StructureError, TypeError) as error:  # a TypeError for neither text nor bytes
        raise damaged(session_id, seq, error) from error


def read_header(row: RecordRow, session_id: str) -> tuple[datetime, JsonObject]:
    """Return time and `meta` of a row; raise `StoreError` when they are damaged."""
    try:
        return time_of(row.at), NO_FIELDS if row.meta is None else JsonObject(read_json(row.meta))
    except (JsonError, RowError, TypeError) as error:
        raise damaged(session_id, row.last, error) from error


def read_with_media(row: RecordRow, session_id: str) -> Collection[int]:
    """Return the `seq` of the records whose media were extracted; raise `StoreError` when the list is damaged."""
    try:
        return () if row.with_media is None else frozenset(read_json(row.with_media))
    except (JsonError, TypeError) as error:
        raise damaged(session_id, row.last, error) from error


def name_of_record(seq: int) -> str:
    """Return the name of a record, or of the snapshot, for error messages."""
    return f"seq {seq}" if seq else "the snapshot"


def join_array(bodies: Iterable[bytes]) -> bytes:
    """Return *bodies* as one JSON array."""
    return b"[" + _BETWEEN.join(bodies) + b"]"


def split_array(array: bytes) -> list[bytes]:
    """Return the elements of a JSON array from `join_array`."""
    bodies = array.split(_BETWEEN)
    bodies[0] = bodies[0][1:]
    bodies[-1] = bodies[-1][:-1]
    return bodies


_BETWEEN: Final = b",\n"


def damaged(session_id: str, seq: int, reason: object) -> StoreError:
    """Return the error for a damaged record or snapshot."""
    return StoreError(f"session {session_id!r}, {name_of_record(seq)} is damaged: {reason}")


def _behind(after: int, row: RecordRow, items: Sequence[_Item]) -> tuple[int, Sequence[_Item]]:
    first = row.last - len(items) + 1
    return (first, items) if first > after else (after + 1, items[after + 1 - first :])


def _chunks(bodies: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Split the bodies into chunks for rows, each with the position of its first body."""
    if len(bodies) <= ROW_EVENTS and sum(map(len, bodies)) <= ROW_BYTES:
        yield 0, bodies
        return
    first, size = 0, 0
    for at, body in enumerate(bodies):
        if at - first == ROW_EVENTS or (at > first and size + len(body) > ROW_BYTES):
            yield first, bodies[first:at]
            first, size = at, 0
        size += len(body)
    yield first, bodies[first:]
