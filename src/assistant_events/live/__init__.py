"""
Live channels: the records and live events of running sessions, for any number of subscribers.

`Live` is the contract and `MemoryLive` its reference. A session with a channel publishes what it stores and what
streams. A subscriber joins at any moment; it receives the records after its cursor, what is open, and all that follows.
"""

from assistant_events.live.contract import Live
from assistant_events.live.memory import MemoryLive

__all__ = ["Live", "MemoryLive"]
