"""
The contract of a live channel: records and live events of running sessions, for any number of subscribers.

1.  **Publishing does not block.** `publish` returns at once, in any thread. It never raises: items that no subscriber
    can use are dropped. Live events are collected and flushed together, as one `Frame`.
2.  **Each record once, in order.** A subscriber receives every record after its cursor, in the order of `seq`, and none
    twice, no matter which process has appended it. A record is in the store before a subscriber receives it.
3.  **Joining late loses nothing.** After the stored records a new subscriber receives each open fragment as one delta,
    and the last progress of each open call. At any point, what it has received folds to the transcript up to there.
4.  **A frame fits its place.** `Frame.after` is the `seq` of the record that the subscriber received last. The offset
    of a delta is never beyond what the subscriber has of its fragment.
5.  **A flush precedes every end.** The record that ends a fragment follows the last of its deltas. What it has of the
    text that was not published precedes it as a delta, so a publisher may leave out texts that end at once. Media that
    come whole have no delta.
6.  **Memory is bounded.** A channel keeps a bounded number of items for all subscribers of a session together. One that
    falls behind receives what it lacks: the records, then each open fragment as one delta.
7.  **Old owners are refused.** As soon as a session has published with a newer token, items with an older one are
    dropped.
8.  **Other processes are seen.** Records that other processes append are found without being published, within an
    interval of the channel, and so are the checkpoints of what they receive.
9.  **Idle sessions take no memory.** A session without subscribers in which no fragment and no call is open is
    forgotten.

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

            token: `Claim.token` of the publisher; `None` for one that runs no step of the session.
        """
        ...

    def subscribe(self, session_id: str, after: int = 0) -> AsyncGenerator[Record | Frame]:
        """
        Yield the records and live events of a session, until the generator is closed or the channel ends.

        Args:
            session_id: The session. It may have no records yet.

            after: `seq` of the last record that the subscriber has; 0 for none.

        Raises:
            StoreError: The store failed, or its log is shorter than the cursor, or another one than before: it was
                deleted, or restored. No record of a log that has begun anew is given to a subscriber of the old one.

            PrunedError: Records after the cursor have been pruned. Begin with the snapshot of the store.
        """
        ...
