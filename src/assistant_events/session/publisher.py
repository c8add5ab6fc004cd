"""What a session publishes to a live channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from assistant_events.events import Event, LiveEvent, Record, ToolProgress
from assistant_events.live.contract import Live
from assistant_events.session.open_text import TextCursor
from assistant_events.session.projection import Projection

FLUSH_S: Final = 0.05
"""Seconds after which a session with an event loop publishes what has streamed."""

_MAX_WAITING: Final = 128
"""Number of items that are published at once: with a delta for each the channel still keeps all of them."""


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

    def add_answer(self, events: Sequence[Event], records: Sequence[Record], after: int) -> None:
        """
        Take what was passed on of an answer, for `flush`. The channel gives what a record ends and was not published.

        Args:
            events: In their order. The progress of calls is published in its place.

            records: Those of the last durable ones. The records of those before have been published.

            after: `seq` of the record before *records*.
        """
        waiting = self._waiting
        if not waiting:
            self._after = after
        if ToolProgress not in map(type, events):
            waiting += records
        else:
            known = sum([event.durable for event in events]) - len(records)
            places = iter([None] * known + [*records])
            items = [next(places) if event.durable else event for event in events]
            waiting += [item for item in items if isinstance(item, Record | ToolProgress)]
        if len(waiting) >= _MAX_WAITING:
            self._publish_waiting()

    def _publish_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._live.publish(self._session_id, waiting, after=self._after, token=self._token)
