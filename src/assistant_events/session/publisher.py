"""Publishes the records of a session, and its open text, to a live channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from assistant_events.events import LiveEvent, Record
from assistant_events.live.contract import Live
from assistant_events.session.open_text import TextCursor
from assistant_events.session.projection import Projection

FLUSH_S: Final = 0.05
"""Seconds after which a session with an event loop publishes what has streamed."""

_MAX_WAITING: Final = 128
"""Number of waiting items that are published at once: with a delta for each the channel still keeps all of them."""


@final
class Publisher:
    """
    Publishes the records of a session, and what streams.

    The records of an answer wait for `flush`. What streams is read from the fold then, so that a delta costs nothing;
    or the deltas are published as they come.
    """

    def __init__(self, live: Live, session_id: str, projection: Projection) -> None:
        self._live = live
        self._session_id = session_id
        self._projection = projection
        self._published = TextCursor(projection)
        self._token: int | None = None
        self._waiting: list[Record | LiveEvent] = []
        self._after = 0  # `seq` of the record before those that wait

    def publish(self, items: Sequence[Record | LiveEvent], after: int) -> None:
        """Publish what waits, then *items*; see `Live.publish`."""
        self._publish_waiting()
        self._live.publish(self._session_id, items, after=after, token=self._token)

    def claim(self, token: int | None) -> None:
        """Publish with the token of a claim from now on, first of all what is open; `None` after its release."""
        self._token = token
        if token is not None:
            self._published = TextCursor(self._projection)
            self.publish((), self._projection.seq)
            self.flush()

    def flush(self) -> None:
        """Publish what waits, and what is open and was not published."""
        self._publish_waiting()
        if new := self._published.missing():
            self.publish(new, self._projection.seq)
        self._published.advance(self._published.lengths())

    def add_answer(self, items: Sequence[Record | LiveEvent], after: int) -> None:
        """
        Keep items of an answer for `flush`. The channel gives what a record ends and was not published.

        Args:
            items: Records, and the progress of calls between them.

            after: `seq` of the record before the first of the records.
        """
        if not self._waiting:
            self._after = after
        self._waiting += items
        if len(self._waiting) >= _MAX_WAITING:
            self._publish_waiting()

    def _publish_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._live.publish(self._session_id, waiting, after=self._after, token=self._token)
