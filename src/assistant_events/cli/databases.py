"""Databases: opened without making one by accident, and with an answer that helps when a session is not there."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from assistant_events.cli.exits import CommandError
from assistant_events.cli.sheets import first_of
from assistant_events.errors import StoreError
from assistant_events.stores import SqliteStore


@contextmanager
def opened(place: str, *, make: bool = False) -> Generator[SqliteStore]:
    """
    Open a database.

    Args:
        place: The file.

        make: Make it when it is not there.

    Raises:
        CommandError: It is not there, or no database of ours.
    """
    path = Path(place)
    if not make and not path.is_dir() and not (path.exists() and path.stat().st_size):
        raise CommandError(f"{place}: {'the file is empty' if path.exists() else 'no such file'}, expected a database")
    try:
        store = SqliteStore(place)
    except (StoreError, ValueError) as error:
        raise CommandError(str(error)) from None
    with store:
        yield store


def check_session(store: SqliteStore, place: str, session_id: str) -> None:
    """Raise unless the session is there; the error names those that are."""
    if not session_id:
        raise CommandError("the session needs a name")
    if store.seq(session_id) == 0:
        known = [info.session_id for info in store.sessions()]
        listed = f"it holds {first_of(known)}" if known else "it holds none"
        raise CommandError(f"{place}: no session {session_id!r}; {listed}")
