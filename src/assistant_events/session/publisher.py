"""What a session publishes to a live channel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, repeat
from operator import attrgetter
from typing import Final, cast, final

from assistant_events.events import DeltaEvent, Event, LiveEvent, Record, ToolProgress
from assistant_events.live.contract import Live
from assistant_events.session.open_text import TextCursor
from assistant_events.session.projection import Projection
from assistant_events.stores.checkpoints import join_deltas

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
        if missing := self.take_open():
            self.publish(missing, self._projection.seq)

    def take_open(self) -> list[DeltaEvent]:
        """Return what is open and was not published, for the caller to publish."""
        if missing := self._published.missing():
            self._published.advance(self._published.lengths())
        return missing

    def publish_answer(
        self, before: Sequence[LiveEvent], events: Sequence[Event], records: Sequence[Record], after: int
    ) -> None:
        """
        Publish what was passed on of an answer; its last text is open, and left to `publish_open`.

        Args:
            before: What was open before, of `take_open`.

            events: In their order. Each durable one is published as its record, and deltas are joined.

            records: Those of the last durable ones. The records of those before have been published.

            after: `seq` of the record before *records*.
        """
        earlier = sum(map(_IS_DURABLE, events)) - len(records)
        stored = chain(repeat(None, earlier), records)
        items: list[Record | LiveEvent] = [*before]
        live: list[LiveEvent] = []
        for is_stored, run in groupby(events, _IS_DURABLE):
            if is_stored:
                items += join_deltas(live)
                items += [record for _, record in zip(run, stored, strict=False) if record is not None]
            live = [] if is_stored else list(cast("Iterator[LiveEvent]", run))
        items += [event for event in live if isinstance(event, ToolProgress)]
        if items:
            self.publish(items, after)


_IS_DURABLE: Final = attrgetter("durable")
