"""Rows of the tables `claims` and `workers`: who runs the steps of a session, and who is alive."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from assistant_events.errors import ClaimedError
from assistant_events.stores.sqlite.columns import key_of, name_of, number_of

_KEEP_S: Final = 86_400
"""Seconds after its last sign of life in which the row of a worker is kept at least."""


def beat(db: sqlite3.Connection, worker: str, now: int) -> None:
    """Store a sign of life at *now*, in microseconds since 1970."""
    db.execute("INSERT OR REPLACE INTO workers (name, beat) VALUES (?, ?)", (key_of(worker), now))


def current_token(db: sqlite3.Connection, session_id: str) -> int | None:
    """Return the token of the current claim; `None` without one."""
    row = db.execute("SELECT token FROM claims WHERE session = ? AND held", (key_of(session_id),)).fetchone()
    return None if row is None else number_of(row[0])


def check_free(db: sqlite3.Connection, session_id: str, worker: str, *, now: int, dead_after_s: float) -> None:
    """Raise `ClaimedError` when another living worker holds the session."""
    row = db.execute(
        "SELECT worker FROM claims JOIN workers ON name = worker "
        "WHERE session = ? AND held AND worker != ? AND abs(? - beat) < ?",
        (key_of(session_id), key_of(worker), now, dead_after_s * 1e6),
    ).fetchone()
    if row is not None:
        raise ClaimedError(session_id, name_of(row[0]))


def insert(db: sqlite3.Connection, session_id: str, worker: str) -> int:
    """Replace the claim of a session and return the new token."""
    token = db.execute(
        "INSERT OR REPLACE INTO claims (session, worker, held) VALUES (?, ?, 1)", (key_of(session_id), key_of(worker))
    ).lastrowid
    assert token is not None
    return token


def release(db: sqlite3.Connection, session_id: str, token: int) -> None:
    """End the claim with *token*, if it is the current one."""
    if current_token(db, session_id) == token:
        db.execute("UPDATE claims SET held = 0 WHERE session = ?", (key_of(session_id),))


def delete(db: sqlite3.Connection, session_id: str) -> None:
    """Delete the claim of a session."""
    db.execute("DELETE FROM claims WHERE session = ?", (key_of(session_id),))


def abandoned(db: sqlite3.Connection, *, now: int, dead_after_s: float, known: bool) -> Iterator[str]:
    """
    Return the sessions with unfinished work whose last worker is not alive, in the order of their creation.

    With *known* those whose unfinished work is known, otherwise the others.
    """
    rows = db.execute(
        "SELECT id FROM unfinished JOIN sessions ON number = unfinished.session "
        "WHERE (body IS NOT NULL) = ? AND NOT EXISTS ("
        "SELECT 1 FROM claims JOIN workers ON name = worker WHERE claims.session = id AND abs(? - beat) < ?"
        ") ORDER BY number",
        (known, now, dead_after_s * 1e6),
    ).fetchall()
    return (name_of(key) for (key,) in rows)


def forget_dead(db: sqlite3.Connection, *, now: int, dead_after_s: float) -> None:
    """Delete the rows of workers that have been dead for long. A worker without a row is dead."""
    db.execute("DELETE FROM workers WHERE ? - beat >= ?", (now, max(dead_after_s, _KEEP_S) * 1e6))
