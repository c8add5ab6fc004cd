"""Databases: opened without making one by accident, and with an answer that helps when a session is not there."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from assistant_events.cli.exit_codes import CommandError, Exit
from assistant_events.cli.rendering import first_of
from assistant_events.errors import JsonError, StoreError, StructureError
from assistant_events.stores import SqliteStore

DATABASE: Final = "assistant-events.db"
"""The default of `--db`: in the current folder, a visible file."""


@contextmanager
def opened(place: str, *, make: bool = False) -> Generator[SqliteStore]:
    """
    Open a database; with *make*, make it when it is not there.

    Raises:
        CommandError: It does not exist, or is not a database of this library.

        StoreError: It is one, and could not be opened.
    """
    if not place:
        raise CommandError("--db needs the name of a file")
    path = Path(place)
    if not make and not path.is_dir() and not (path.exists() and path.stat().st_size):
        raise CommandError(f"{place}: {'the file is empty' if path.exists() else 'no such file'}, expected a database")
    try:
        store = SqliteStore(place)
    except StoreError as error:
        if _is_of_the_database(error.__cause__):
            raise
        raise CommandError(str(error)) from None
    except OSError as error:
        code = Exit.STORE if _is_of_the_database(error) else Exit.USAGE
        raise CommandError(f"{place}: {error.strerror or error}", code) from None
    except ValueError as error:
        raise CommandError(f"{place}: {error}") from None
    with store:
        yield store


def _is_of_the_database(cause: BaseException | None) -> bool:
    """Return whether a database of this library failed; `False` when the file is something else."""
    if isinstance(cause, OSError):
        return cause.errno in {errno.EIO, errno.ENOSPC}
    return isinstance(cause, (sqlite3.Error, JsonError, StructureError))


def check_session(store: SqliteStore, place: str, session_id: str) -> None:
    """Raise unless the session is there; the error names those that are."""
    if not session_id:
        raise CommandError("the name of the session is empty; assistant-events sessions lists the names")
    if store.seq(session_id) == 0:
        known = [info.session_id for info in store.sessions()]
        listed = f"it holds {first_of(known)}" if known else "it holds none"
        raise CommandError(f"{place}: no session {session_id!r}; {listed}")
