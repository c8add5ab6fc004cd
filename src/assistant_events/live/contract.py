"""
The contract of a live channel: what happens in sessions now, for any number of subscribers.

1.  **Publishing waits for nothing.** `publish` returns at once, in any thread, and raises nothing for what it is given:
    what no subscriber can use is left out. Live events are collected and flushed together, as one `Frame`.
2.  **Each record once, in order.** A subscriber is given every record after its cursor with `seq` in order, whoever
    has written it, and none twice. A record is in the store before a subscriber is given it.
3.  **Late is whole.** After the records that were there, a subscriber that joins is given each open fragment, as one
    delta of what it lacks, and the last progress of each open call. Folding what it was given is, at each point, the
    transcript up to there.
4.  **A frame fits its place.** `Frame.after` is the `seq` of the record that the subscriber was given last. The offset
    of a delta is never beyond what the subscriber has of its fragment.
5.  **A flush precedes every end.** The record that ends a fragment follows the last of its deltas.
6.  **Slow subscribers cost nothing.** A channel keeps a bounded number of items, for all subscribers of a session
    together. One that falls behind is given what it lacks: the records, then each open fragment as one delta.
7.  **Old owners are refused.** What a session publishes with the token of an older claim changes nothing, as soon as
    a newer one was published.
8.  **Records of others are found.** What other processes append to the store is given within a time of the channel,
    without being published; so are the checkpoints of fragments that other processes receive.
9.  **Nothing is left behind.** A session that nobody watches and that has nothing open takes no memory.

`assistant_events.testing.check_live` tries each promise on any implementation. `MemoryLive` is the reference.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import Protocol, runtime_checkable

from assistant_events.events import Frame, LiveEvent, Record


@runtime_checkable
class Live(Protocol):
    """
    A channel from the sessions that receive answers to the subscribers that show them.

    See the top of this module for the contract.
    """

    def publish(
        self, session_id: str, items: Iterable[Record | LiveEvent], *, after: int, token: int | None = None
    ) -> None:
        """
        Publish records that are stored, and live events, in their order. A `Session` with a channel does so itself.

        Args:
            session_id: The session.

            items: Records of the session, and live events that its transcript has applied.

            after: `seq` of the record before the first item; 0 before the first record.

            token: `Claim.token` of the publisher. `None` where no worker claims sessions, and for those who append
                prompts and results to the answer of another one.
        """
        ...

    def subscribe(self, session_id: str, after: int = 0) -> AsyncGenerator[Record | Frame]:
        """
        Yield what happens in a session, until the generator is closed or the channel ends.

        Args:
            session_id: The session; one without records is awaited.

            after: `seq` of the last record that the subscriber has; 0 for none.

        Raises:
            StoreError: The store failed, or its log is shorter than the cursor: it was deleted, or restored.

            PrunedError: Records after the cursor have been pruned. Begin with the snapshot of the store.
        """
        ...
