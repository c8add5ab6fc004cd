"""Stores: logs of durable events in memory and in SQLite, and the contract they implement."""

from assistant_events.stores.asynchronous import AsyncStore
from assistant_events.stores.contract import Claim, SessionInfo, Store
from assistant_events.stores.memory import MemoryStore
from assistant_events.stores.sqlite import SqliteStore

__all__ = ["AsyncStore", "Claim", "MemoryStore", "SessionInfo", "SqliteStore", "Store"]
