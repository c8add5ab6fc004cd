"""What a session publishes to a live channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, final

from assistant_events import events as ev
from assistant_events.events import Event, LiveEvent, Record
from assistant_events.live.contract import Live
from assistant_events.session.open_text import delta_of
from assistant_events.session.projection import Projection

FLUSH_S: Final = 0.05
"""Seconds after which a session with an event loop publishes what has streamed."""

_MAX_WAITING: Final = 64
"""Number of items that are published at once, so that no subscriber falls behind for their number."""


@final
class Publisher:
    """
    Publishes the records of a session, and what streams.

    The records of an answer wait for `flush`. What streams is read from the fold then, or from the record that ends it,
    so that a delta costs nothing; or the deltas are published as they come.
    """

    def __init__(self, live: Live, session_id: str, projection: Projection) -> None:
        self._live = live
        self._session_id = session_id
        self._projection = projection
        self._token: int | None = None
        # How much of each open fragment has been published, by message, and class of its deltas or id of its call.
        self._sizes: dict[tuple[str, object], int] = {}
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
            self._sizes = {}
            self.publish((), self._projection.seq)
            self.flush()

    def flush(self) -> None:
        """Publish what waits, and what is open and was not published."""
        self._publish_waiting()
        sizes, opened = self._sizes, self._projection.open_text()
        new = [
            delta_of(name, key, buffer.value()[start:], start)
            for name, key, buffer in opened
            if buffer.length > (start := sizes.get((name, key), 0))
        ]
        self._sizes = {(name, key): buffer.length for name, key, buffer in opened}
        if new:
            self.publish(new, self._projection.seq)

    def add_answer(self, events: Sequence[Event], records: Sequence[Record], after: int) -> None:
        """
        Take what was passed on of an answer, for `flush`.

        Args:
            events: In their order. Each durable one is published as its record, behind what it ends.

            records: Those of the last durable ones. The records of those before have been published.

            after: `seq` of the record before *records*.
        """
        waiting = self._waiting
        if not waiting:
            self._after = after
        at = len(records) - sum(map(_IS_DURABLE, events))
        for event in events:
            if event.durable:
                if at >= 0:
                    if event.__class__ in _TEXTS:
                        self._add_text(event)
                    waiting.append(records[at])
                at += 1
            elif isinstance(event, ev.ToolProgress):
                waiting.append(event)
        if len(waiting) >= _MAX_WAITING:
            self._publish_waiting()

    def _add_text(self, event: Any) -> None:
        """Add what an event ends and was not published; of what it begins nothing has been published."""
        # Any: the fields of its class.
        cls, field = _TEXTS[event.__class__]
        key = event.call_id if cls is ev.ToolInputDelta else cls
        start = self._sizes.pop((event.message_id, key), 0)
        if field is None or (cls is ev.MediaDelta and not start):  # most media come whole, with their end
            return
        if rest := (getattr(event, field) or "")[start:]:
            self._waiting.append(delta_of(event.message_id, key, rest, start))

    def _publish_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._live.publish(self._session_id, waiting, after=self._after, token=self._token)


_TEXTS: Final[Mapping[type, tuple[type, str | None]]] = {
    ev.TextStarted: (ev.TextDelta, None),
    ev.TextEnded: (ev.TextDelta, "text"),
    ev.ReasoningStarted: (ev.ReasoningDelta, None),
    ev.ReasoningEnded: (ev.ReasoningDelta, "text"),
    ev.MediaStarted: (ev.MediaDelta, None),
    ev.MediaEnded: (ev.MediaDelta, "data"),
    ev.ToolInputStarted: (ev.ToolInputDelta, None),
    ev.ToolInputEnded: (ev.ToolInputDelta, "text"),
    ev.CompactionStarted: (ev.CompactionDelta, None),
    ev.CompactionEnded: (ev.CompactionDelta, "text"),
}
"""Class of the deltas of the fragment that an event begins or ends, and the field with all of its content."""

_IS_DURABLE: Final = attrgetter("durable")
