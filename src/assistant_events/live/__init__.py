"""
What happens in sessions now, for subscribers: `Live` is the contract.

Sessions publish what they store and what streams; subscribers join at any moment, and are given what they lack.
"""

from assistant_events.live.contract import Live

__all__ = ["Live"]
