"""What a session publishes to a live channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from assistant_events.events import Event, LiveEvent, Record, is_durable
from assistant_events.live.contract import Live
from assistant_events.session.open_text import TextCursor
from assistant_events.session.projection import Projection

FLUSH_S: Final = 0.05
"""Seconds after which a session with an event loop publishes what has streamed."""


@final
class Publisher:
    """
    Publishes the records of a session, and what streams.

    Open text is read from the fold from time to time (`publish_open`), so that a delta costs nothing; or the deltas are
    published as they come.
    """

    def __init__(self, live: Live, session_id: str, projection: Projection) -> None:
        self._live = live
        self._session_id = session_id
        self._projection = projection
        self._token: int | None = None
        self._published = TextCursor(projection)

    def publish(self, items: Sequence[Record | LiveEvent], after: int) -> None:
        """See `Live.publish`."""
        self._live.publish(self._session_id, items, after=after, token=self._token)

    def claim(self, token: int | None) -> None:
        """Publish with the token of a claim from now on, first of all what is open; `None` after its release."""
        self._token = token
        if token is not None:
            self._published = TextCursor(self._projection)
            self.publish((), self._projection.seq)
            self.publish_open()

    def publish_open(self) -> None:
        """Publish what is open and was not published."""
        if missing := self._published.missing():
            self._published.advance(self._published.lengths())
            self.publish(missing, self._projection.seq)

    def publish_answer(
        self, events: Sequence[Event], places: Sequence[int], records: Sequence[Record], after: int
    ) -> None:
        """
        Publish what was stored of an answer.

        Args:
            events: In their order; each durable one is published as its record.

            places: `seq` of the durable ones.

            records: Those that were stored now; earlier ones have been published.

            after: `seq` of the record before them.
        """
        stored, seqs = {record.seq: record for record in records}, iter(places)
        items = [stored.get(next(seqs)) if is_durable(event) else event for event in events]
        self.publish([item for item in items if item is not None], after)
