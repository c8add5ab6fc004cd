"""Rows of the table `checkpoints`: pieces of open fragments."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final

from assistant_events import events as ev
from assistant_events.events import DELTA_EVENTS, DeltaEvent
from assistant_events.stores.checkpoints import Fragment, fragment_of
from assistant_events.stores.sqlite.columns import RowError, key_of, name_of


def fragments(db: sqlite3.Connection, session: int) -> list[Fragment]:
    """Return the fragments of a session that have checkpoints."""
    rows = db.execute("SELECT DISTINCT message, type, call FROM checkpoints WHERE session = ?", (session,)).fetchall()
    return [Fragment(*map(name_of, row)) for row in rows]


def insert(db: sqlite3.Connection, session: int, deltas: Iterable[DeltaEvent]) -> None:
    """Store pieces; each replaces an older one of the same offset."""
    db.executemany(
        "INSERT OR REPLACE INTO checkpoints (session, message, type, call, start, body) VALUES (?, ?, ?, ?, ?, ?)",
        [(session, *_keys(fragment_of(delta)), delta.offset, delta.delta) for delta in deltas],
    )


def load(db: sqlite3.Connection, session: int) -> tuple[DeltaEvent, ...]:
    """Return the pieces of a session, those of a fragment in the order of their offsets."""
    rows = db.execute(
        "SELECT message, type, call, start, body FROM checkpoints "
        "WHERE session = ? ORDER BY message, type, call, start",
        (session,),
    ).fetchall()
    return tuple([_delta(Fragment(*map(name_of, row[:3])), *row[3:]) for row in rows])


def delete(db: sqlite3.Connection, session: int, closed: Iterable[Fragment]) -> None:
    """Delete the pieces of fragments."""
    db.executemany(
        "DELETE FROM checkpoints WHERE session = ? AND message = ? AND type = ? AND call = ?",
        [(session, *_keys(fragment)) for fragment in closed],
    )


def delete_all(db: sqlite3.Connection, session: int) -> None:
    """Delete the pieces of a session."""
    db.execute("DELETE FROM checkpoints WHERE session = ?", (session,))


def copy(db: sqlite3.Connection, session: int, made: int, kept: Iterable[Fragment]) -> None:
    """Copy the pieces of fragments to another session."""
    db.executemany(
        "INSERT INTO checkpoints (session, message, type, call, start, body) "
        "SELECT ?, message, type, call, start, body FROM checkpoints "
        "WHERE session = ? AND message = ? AND type = ? AND call = ?",
        [(made, session, *_keys(fragment)) for fragment in kept],
    )


def _keys(fragment: Fragment) -> tuple[str | bytes, ...]:
    return tuple(map(key_of, fragment))


def _delta(fragment: Fragment, offset: object, delta: object) -> DeltaEvent:
    call = {"call_id": fragment.call_id} if fragment.type == ev.ToolInputDelta.type else {}
    try:
        made: DeltaEvent = _CLASSES[fragment.type](message_id=fragment.message_id, offset=offset, delta=delta, **call)
    except (LookupError, TypeError, ValueError):
        raise RowError(f"a checkpoint of message {fragment.message_id!r} is not a delta") from None
    return made


# Any: the classes take different arguments.
_CLASSES: Final[Mapping[str, Any]] = {cls.type: cls for cls in DELTA_EVENTS}
