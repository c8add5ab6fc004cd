"""
What happens in sessions now, for any number of subscribers.

`Live` is the contract and `MemoryLive` its reference. Sessions with a channel publish what they store and what streams;
a subscriber joins at any moment, and is given the records after its cursor, what is open, and then what comes.
"""

from assistant_events.live.contract import Live
from assistant_events.live.memory import MemoryLive

__all__ = ["Live", "MemoryLive"]
