"""The decoder of a client: decodes a stream as usual, and records what recovery has to know of it."""

from __future__ import annotations

from typing import ClassVar, Unpack

import attrs

from assistant_events.adapters.base import DecoderBase, DecoderOptions
from assistant_events.adapters.json_fields import Fields
from assistant_events.events import Event
from assistant_events.values import ErrorInfo
from assistant_events.values.credentials import Secrets


@attrs.frozen(kw_only=True)
class Observation:
    """The meaning of one event of the wire for recovery."""

    run_id: str | None = None  # of the run or the response that a lifecycle event names
    status: str | None = None
    completes: Fields | None = None  # an event that completes the run, in a form that can be decoded later
    pauses: bool = False  # it ends a response that has to be continued by another request
    lacks_usage: bool = False  # it completes a run without usage, which the document will have
    error: bool | None = None  # of an error event: whether it has a code or a message
    content: int = 0  # 1 for a new part, or a delta that is not empty; a repeated event counts as 0
    misplaced: bool = False  # it continues a part that was never started
    foreign: str | None = None  # id of its run, when that is not the followed one nor a response before or after it


class TrackingDecoder(DecoderBase):
    """
    Base of the decoder of a client, in front of the decoder of the dialect in the list of bases.

    As it is, for answers that end with their connection. Of a provider that keeps runs a subclass observes the events,
    and two ends are held back: of a run that is still in progress, and one whose usage the document will have.

    Args:
        secrets: The credentials to remove from what is read.
    """

    unfinished: ClassVar[frozenset[str]] = frozenset()
    """Statuses of a run in progress."""

    def __init__(self, message_id: str, *, secrets: Secrets | None = None, **options: Unpack[DecoderOptions]) -> None:
        super().__init__(message_id, **options)
        self._secrets = Secrets() if secrets is None else secrets
        self.run_id = ""  # the newest one
        self.replayed = ""  # the run that this connection repeats; empty for the first
        self.status: str | None = None  # the last one of this connection
        self.completed = False  # this connection reported its end
        self.in_progress = False  # it did so for a run that is still in progress
        self.paused = False  # the response has to be continued by another request, which is up to the app
        self.strayed = False  # the stream does not continue at the cursor
        self.foreign: str | None = None  # id of another run that a replay turned out to be of
        self.erred = False  # an error with a code or a message came
        self.empty_errors = 0  # errors without code and message

        # Events with a status for the first time, or with content beyond all that this connection has brought. Deltas
        # on the fast path are not counted; they always return events.
        self.news = 0

        self._held: Fields | None = None
        self._released = False
        self._at_cursor = False
        self._statuses: set[str] = set()
        self._place = 0
        self._furthest = 0

    # -- of a provider that keeps runs

    def observe(self, event: Fields) -> Observation:
        """Return what an event means for recovery."""
        return Observation()

    def with_usage(self, event: Fields, usage: Fields) -> Fields:
        """Return a completion event with usage."""
        return event

    @property
    def resumable(self) -> bool:
        """Whether the run continues without a connection, and can be followed again."""
        return False

    @property
    def stream_cursor(self) -> str | None:
        """Id of the last event, from which the stream can continue; `None` when it had none."""
        return None

    @property
    def stored(self) -> bool:
        """Whether the provider keeps a document of the run."""
        return False

    # -- for the driver

    @property
    def running(self) -> bool | None:
        """Whether the last status is that of a run in progress; `None` when the stream has not reported any."""
        return None if self.status is None else self.status in self.unfinished

    @property
    def held(self) -> bool:
        """Whether the end of the run is held back until its usage is known."""
        return self._held is not None

    @property
    def idle(self) -> bool:
        """Whether the rest of the stream does not matter."""
        return self.terminal or self.held or self.in_progress or self.strayed or self.foreign is not None

    def continue_stream(self) -> None:
        """Expect the stream that continues behind the last event."""
        self._begin_connection()
        self.reconnect()
        self._at_cursor = True

    def restart_stream(self) -> None:
        """Expect the stream from its start."""
        self._begin_connection()
        self.rejoin()

    def end_stream(self) -> list[Event]:
        """Decode an event that is complete but for its end mark, because no more bytes come; other text is the tail."""
        self._close_framing()
        return self._taken()

    def release(self, usage: Fields) -> list[Event]:
        """Decode the end that was held back, with the usage of the document, or without any."""
        held, self._held = self._held, None
        assert held is not None, "only called while an end is held"
        self._released = True
        return self.feed_event(self.with_usage(held, usage) if usage else held)

    # -- for DecoderBase

    def on_event(self, event: Fields) -> None:
        """Decode one event, unless it is held back."""
        if self.idle:
            return
        event = self._secrets.json(event, self.payload)
        seen = self.observe(event)
        if self._at_cursor:
            self._at_cursor = False
            self.strayed = seen.misplaced
        self.foreign = seen.foreign
        if self.strayed or self.foreign is not None:
            return
        if seen.run_id and seen.run_id != self.run_id:
            self.run_id = seen.run_id
            self.paused = self.completed = False  # the next response of the same answer
        self.status = seen.status or self.status
        if seen.completes is not None and self._holds(seen.completes, seen):
            return
        if seen.error is not None:
            self.erred = seen.error
            self.empty_errors += not seen.error
        self._count(seen.content)
        super().on_event(event)  # type: ignore[safe-super]  # that of the dialect is between this class and the base

    def on_begin(self) -> None:
        """Count content from its start again."""
        self._place = 0
        super().on_begin()

    def fail_step(self, error: ErrorInfo, *, last: bool = True) -> None:
        """Fail the step, with credentials removed from the error."""
        super().fail_step(self._secrets.error(error), last=last)

    # -- internals

    def _begin_connection(self) -> None:
        self.status = self.foreign = self._held = None
        self.in_progress = self.paused = self.strayed = self.completed = self._released = False
        self.replayed = self.run_id
        self._statuses.clear()
        self._place = self._furthest = 0

    def _holds(self, event: Fields, seen: Observation) -> bool:
        self.completed = True
        self.in_progress = seen.status in self.unfinished
        if self.in_progress:
            return True
        self.paused = seen.pauses
        if self._released or not (seen.lacks_usage and self.stored):
            return False
        self._held = event
        return True

    def _count(self, content: int) -> None:
        if self.status is not None and self.status not in self._statuses:
            self._statuses.add(self.status)
            self.news += 1
        self._place += content
        if self._place > self._furthest:
            self._furthest = self._place
            self.news += 1
