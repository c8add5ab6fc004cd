"""Where logs live: what a store promises, and the stores."""

from assistant_events.stores.asynchronous import AsyncStore
from assistant_events.stores.contract import SessionInfo, Store, Unfinished, UnfinishedKind
from assistant_events.stores.memory import MemoryStore
from assistant_events.stores.sqlite import SqliteStore

__all__ = ["AsyncStore", "MemoryStore", "SessionInfo", "SqliteStore", "Store", "Unfinished", "UnfinishedKind"]
