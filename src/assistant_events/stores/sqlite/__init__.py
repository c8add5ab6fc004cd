"""A store in one SQLite file."""

from assistant_events.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
