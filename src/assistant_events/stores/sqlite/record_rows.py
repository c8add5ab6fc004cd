"""
Rows of records: a batch, or a piece of a large one, as one JSON array.

One row for each batch of 100 takes a quarter of the time of one row for each event. Events are written without line
breaks, so an array with one between its elements is cut apart without parsing it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from assistant_events.converters import dumps, loads
from assistant_events.converters.arrays import UNUSUAL, ArrayReader, array_reader
from assistant_events.errors import JsonError, StoreError, StructureError
from assistant_events.events import Event
from assistant_events.stores.contract import StoredEvent
from assistant_events.stores.media import Media, extract_media, holders_in
from assistant_events.stores.sqlite.columns import LAST_SEQ, RowError, bytes_of, hold_media, place_of, time_of
from assistant_events.values import JsonObject, read_json, write_json
from assistant_events.values.validators import NO_FIELDS

_Item = TypeVar("_Item")

PIECE_EVENTS: Final = 128
PIECE_BYTES: Final = 1 << 16
"""
How much goes into one row. Reading a single record costs cutting its row apart; beyond these sizes larger rows gain
nothing.
"""


class RecordRow(NamedTuple):
    """A row."""

    place: int
    at: int
    meta: bytes | None

    apart: bytes | None
    """JSON array of the places of records whose media are apart; `None` for none."""

    body: bytes

    @property
    def last(self) -> int:
        """Place of its last record."""
        return self.place & LAST_SEQ


class Encoded(NamedTuple):
    """A batch as it will be written."""

    bodies: list[bytes]
    media: dict[int, Media]
    """Media of the events that were taken apart, by position in the batch."""


def encode(events: Sequence[StoredEvent]) -> Encoded:
    """Return *events* as JSON with their media apart."""
    media: dict[int, Media] = {}
    kept = list(events)
    for at, event in holders_in(events):
        kept[at], found = extract_media(event)
        if found:
            media[at] = found
    return Encoded(list(map(dumps, kept)), media)


def write(db: sqlite3.Connection, session: int, after: int, encoded: Encoded, *, at: int, meta: bytes | None) -> None:
    """Write a batch behind the record at *after*."""
    bodies, media = encoded
    for first, piece in _pieces(bodies):
        seq = after + first
        apart = [seq + place for place in range(1, len(piece) + 1) if first + place - 1 in media] if media else None
        insert(
            db,
            RecordRow(
                place_of(session, seq + len(piece)), at, meta, write_json(apart) if apart else None, join_array(piece)
            ),
        )
    for position, found in media.items():
        hold_media(db, session, after + 1 + position, found)


def insert(db: sqlite3.Connection, piece: RecordRow) -> None:
    """Write one row."""
    db.execute("INSERT INTO records (place, at, meta, apart, body) VALUES (?, ?, ?, ?, ?)", piece)


def pieces_after(db: sqlite3.Connection, session: int, after: int, *, limit: int = -1) -> Iterator[RecordRow]:
    """
    Return the rows that hold records after *after*, in order; not more than *limit* unless it is negative.

    In a damaged file a page may stand twice or at a wrong place, and SQLite does not notice. A row that does not lie
    behind the row before it is a `RowError`.
    """
    lowest, highest = place_of(session, after + 1), place_of(session, LAST_SEQ)
    found = db.execute(
        "SELECT place, at, meta, apart, CAST(body AS BLOB) FROM records "
        "WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?",
        (lowest, highest, limit),
    )
    try:
        for piece in map(RecordRow._make, found):
            if not lowest <= piece.place <= highest:
                raise RowError("the rows of the records are not in their order")
            bytes_of(piece.body)
            lowest = piece.place + 1
            yield piece
    finally:
        # The traceback of an error keeps the rest alive, and with it what the reader sees of the file.
        found.close()


def records_after(piece: RecordRow, after: int) -> tuple[int, Sequence[bytes]]:
    """Return the bodies of a row after the place *after*, with the place of the first of them."""
    return _behind(after, piece, split_array(piece.body))


def events_after(piece: RecordRow, after: int, limit: int, session_id: str) -> tuple[int, int, Iterable[StoredEvent]]:
    """
    Return at most *limit* events of a row after the place *after*, with the place of the first and their number.

    Media stand apart still. A damaged event is a `StoreError` when its turn comes.
    """
    reader = array_reader(Event) if limit >= PIECE_EVENTS else None
    elements = [] if reader is None else _parsed(reader, piece.body)
    if reader is not None and elements:
        first, kept = _behind(after, piece, elements)
        return first, len(kept), _made(reader, kept, first, piece, session_id)
    first, bodies = records_after(piece, after)
    bodies = bodies[:limit]
    return first, len(bodies), (read_body(body, Event, session_id, seq) for seq, body in enumerate(bodies, first))


def cut_off(db: sqlite3.Connection, session: int, through: int) -> None:
    """Remove the records up to and including *through*, and remember when the last of them was appended."""
    pieces = list(pieces_after(db, session, through - 1, limit=1))
    if not pieces:
        raise RowError(f"{at_place(through)} is missing")
    (piece,) = pieces
    if piece.last > through:
        _, bodies = records_after(piece, through)
        db.execute("UPDATE records SET body = ? WHERE place = ?", (join_array(bodies), piece.place))
    db.execute("DELETE FROM records WHERE place BETWEEN ? AND ?", (place_of(session, 1), place_of(session, through)))
    db.execute("UPDATE sessions SET pruned = ?, pruned_at = ? WHERE number = ?", (through, piece.at, session))


def copy(db: sqlite3.Connection, session: int, made: int, through: int) -> None:
    """Copy the records up to and including *through* to another session."""
    db.execute(
        "INSERT INTO records (place, at, meta, apart, body) "
        "SELECT place - ? + ?, at, meta, apart, body FROM records WHERE place BETWEEN ? AND ?",
        (place_of(session, 0), place_of(made, 0), place_of(session, 1), place_of(session, through)),
    )
    for piece in pieces_after(db, session, through - 1, limit=1):
        first, bodies = records_after(piece, 0)
        if first <= through < piece.last:
            body = join_array(bodies[: through + 1 - first])
            insert(db, piece._replace(place=place_of(made, through), body=body))


def read_body(body: bytes, cls: Any, session_id: str, seq: int) -> Any:
    """
    Return what a body says.

    Raises:
        StoreError: It is damaged.
    """
    # Any: what `loads` makes of the class that it is given; not all type checkers let a type form be handed on.
    try:
        return loads(body, cls)
    except (JsonError, StructureError, TypeError) as error:  # a TypeError when it is neither text nor bytes
        raise StoreError(f"session {session_id!r}, {at_place(seq)} is damaged: {error}") from error


def read_time(piece: RecordRow, session_id: str) -> datetime:
    """Return the time of a row; raise a `StoreError` when it is damaged."""
    try:
        return time_of(piece.at)
    except RowError as error:
        raise StoreError(f"session {session_id!r}, {at_place(piece.last)} is damaged: {error}") from error


def read_meta(piece: RecordRow, session_id: str) -> JsonObject:
    """Return the `meta` of a row; raise a `StoreError` when it is damaged."""
    try:
        return NO_FIELDS if piece.meta is None else JsonObject(read_json(piece.meta))
    except (JsonError, TypeError) as error:
        raise StoreError(f"session {session_id!r}, meta of {at_place(piece.last)} is damaged: {error}") from error


def read_apart(piece: RecordRow, session_id: str) -> Collection[int]:
    """Return the places of the records whose media are apart; raise a `StoreError` when that is damaged."""
    try:
        return () if piece.apart is None else frozenset(read_json(piece.apart))
    except (JsonError, TypeError) as error:
        raise StoreError(f"session {session_id!r}, {at_place(piece.last)} is damaged: {error}") from error


def at_place(seq: int) -> str:
    """Name a record, or the snapshot, for people."""
    return f"seq {seq}" if seq else "the snapshot"


def join_array(bodies: Iterable[bytes]) -> bytes:
    """Return a JSON array of *bodies*."""
    return b"[" + _BETWEEN.join(bodies) + b"]"


def split_array(array: bytes) -> list[bytes]:
    """Return the elements of a JSON array that `join` made."""
    bodies = array.split(_BETWEEN)
    bodies[0] = bodies[0][1:]
    bodies[-1] = bodies[-1][:-1]
    return bodies


_BETWEEN: Final = b",\n"


def _parsed(reader: ArrayReader, body: bytes) -> list[Any]:
    try:
        return reader.parse(body)
    except UNUSUAL:
        return []


def _made(
    reader: ArrayReader, elements: Iterable[Any], first: int, piece: RecordRow, session_id: str
) -> Iterator[StoredEvent]:
    make = reader.make
    for seq, element in enumerate(elements, first):
        try:
            event = make(element)
        except UNUSUAL:
            event = read_body(records_after(piece, seq - 1)[1][0], Event, session_id, seq)
        yield event


def _behind(after: int, piece: RecordRow, items: Sequence[_Item]) -> tuple[int, Sequence[_Item]]:
    first = piece.last - len(items) + 1
    return (first, items) if first > after else (after + 1, items[after + 1 - first :])


def _pieces(bodies: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Return the bodies in pieces, each with the position of its first."""
    if len(bodies) <= PIECE_EVENTS and sum(map(len, bodies)) <= PIECE_BYTES:
        yield 0, bodies
        return
    first, size = 0, 0
    for at, body in enumerate(bodies):
        if at - first == PIECE_EVENTS or (at > first and size + len(body) > PIECE_BYTES):
            yield first, bodies[first:at]
            first, size = at, 0
        size += len(body)
    yield first, bodies[first:]
