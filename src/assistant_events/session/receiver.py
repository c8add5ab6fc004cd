"""
The events of one decoder, on their way into the log and then to the caller.

The durable events of one feed are stored as one batch before any event of that feed is passed on. Events that could not
be stored stay pending: the same decoder can be received again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, Protocol, cast, final, runtime_checkable

from assistant_events import events as ev
from assistant_events.errors import ConflictError, LocalProtocolError
from assistant_events.lifecycle import Outcome
from assistant_events.session.chunks import BYTES
from assistant_events.session.projection import Batch, Projection
from assistant_events.session.transport_errors import abortion, transport_error
from assistant_events.stores.contract import StoredEvent
from assistant_events.values import ErrorInfo, ErrorKind
from assistant_events.values.credentials import traceback_text

STORED: Final = (*ev.DURABLE_EVENTS, ev.UnknownEvent)
"""Classes of events that a log can contain."""

KEPT: Final = frozenset({Outcome.APPLIED, Outcome.IGNORED})
"""Outcomes of events that are stored: events in place, and events unknown to this version."""

_FROM_OUTSIDE: Final = (
    *(ev.ToolApprovalRequested, ev.ToolApproved, ev.ToolStarted),
    *(ev.ToolSuccess, ev.ToolFailed, ev.HistoryRewound),
)
"""Events that other writers may append to a message while it is being received."""

_log = logging.getLogger("assistant_events.session")


class Answer(Protocol):
    """One answer of a provider, which becomes a message."""

    @property
    def message_id(self) -> str:
        """Id of the message."""
        ...

    @property
    def terminal(self) -> bool:
        """Whether the answer has ended."""
        ...

    def close(self, error: ErrorInfo | None = None) -> list[ev.Event]:
        """End the answer, with the reason, and return the events that close the message. Again it does nothing."""
        ...


class Decoder(Answer, Protocol):
    """Turns the stream of a provider into events. Every decoder of `assistant_events.adapters` implements it."""

    def feed(self, data: bytes, /) -> list[ev.Event]:
        """Decode bytes and return their events. Never raises for the data of a provider."""
        ...

    def feed_event(self, event: object, /) -> list[ev.Event]:
        """Decode one parsed event of the provider and return its events."""
        ...


@runtime_checkable
class AsyncAnswer(Answer, Protocol):
    """An answer for `Session`."""

    async def read(self) -> list[ev.Event]:
        """Return the next group of events; raise `StopAsyncIteration` after the last."""
        ...

    async def aclose(self) -> None:
        """Close the connection. Again it does nothing."""
        ...


@runtime_checkable
class SyncAnswer(Answer, Protocol):
    """An answer for `SyncSession`."""

    def read(self) -> list[ev.Event]:
        """Return the next group of events; raise `StopIteration` after the last."""
        ...

    def disconnect(self) -> None:
        """Close the connection. Again it does nothing."""
        ...


def not_an_answer(given: object) -> TypeError:
    """Return the error for a decoder without chunks, or for an answer of the other (sync or async) kind."""
    return TypeError(
        "chunks: expected an iterable of bytes or parsed events, got None; "
        "only the answer of a client is received without chunks, that of an asynchronous client by Session, that of a "
        f"synchronous one by SyncSession, got {type(given).__name__}"
    )


@final
class StreamReceiver:
    """
    Collects the events of a decoder or an answer, and decides which of them are stored and passed on.

    `take`, `fail`, `end` and `abort` collect. If `has_durable`, `plan` returns the batch for the store, and `accept`
    takes its records; in between the batch is `unconfirmed`.
    """

    def __init__(self, projection: Projection, answer: Answer) -> None:
        self.answer = answer
        self._decoder = None if isinstance(answer, AsyncAnswer | SyncAnswer) else cast("Decoder", answer)

        self.active = True
        """Whether an iterator receives the events."""

        self.finished = False
        """Whether no more events will be collected."""

        self.parked = False
        """Whether storing has raised; the pending events stay for another attempt."""

        self.message_ids: set[str | None] = {answer.message_id}
        """Ids of its messages: several for an answer of several hops."""

        self._projection = projection
        self._pending: list[ev.Event] = []
        self._stored = 0
        """Number of pending durable events, from the first, that are known to be in the log."""

        self._sent: Batch | None = None
        self._contested = False

    # -- collecting

    def take(self, item: object) -> None:
        """
        Collect the events of an answer, or those of a decoder that is fed with bytes or a parsed event.

        Raises:
            TypeError: *item* is a str, or the decoder refuses it.
        """
        if self._decoder is None:
            self._pending += cast("list[ev.Event]", item)  # the result of `read`
        elif isinstance(item, BYTES):
            # cast: bytes-like.
            self._pending += self._decoder.feed(bytes(cast("bytes", item)))
        elif isinstance(item, str):
            raise TypeError("chunks: expected bytes or parsed events, got str; iterate over bytes, not text or lines")
        else:
            self._pending += self._decoder.feed_event(item)
        self.finished = self.answer.terminal

    def end(self) -> None:
        """End the stream."""
        self._close(None)

    def fail(self, error: Exception) -> None:
        """End the stream with the exception that it raised."""
        info = transport_error(error)
        if info.kind == ErrorKind.UNKNOWN:
            # It may be a bug of the app, which only the traceback locates.
            _log.warning("the stream of message %r raised\n%s", self.answer.message_id, traceback_text(error))
        self._close(info)

    def abort(self, reason: BaseException) -> None:
        """End the stream because the caller left with *reason*."""
        self._close(abortion(reason))

    def _close(self, error: ErrorInfo | None) -> None:
        self._pending += self.answer.close(error)
        self.finished = True

    # -- storing

    @property
    def has_durable(self) -> bool:
        """Whether durable events are pending, which are stored before anything is passed on."""
        return any(event.durable for event in self._pending)

    @property
    def has_pending(self) -> bool:
        """Whether events are pending."""
        return bool(self._pending)

    @property
    def unconfirmed(self) -> Batch | None:
        """The batch that was sent to the store without a result so far; `None` when there is none."""
        return self._sent

    def plan(self) -> Batch:
        """
        Return the batch to store. Events that would not apply are dropped.

        Raises:
            LocalProtocolError: The decoder starts a message that exists already, or another writer writes the message.
        """
        if self._contested:
            raise LocalProtocolError(
                f"another writer appends to message {self.answer.message_id!r}; "
                "to continue it, pass the message as prior to a new decoder"
            )
        trial = self._projection.dry_run()
        planned: list[ev.Event] = []
        sent: list[StoredEvent] = []
        stored = self._stored
        for event in self._pending:
            if isinstance(event, STORED):
                if stored:
                    stored -= 1
                elif trial.apply(event) in KEPT:
                    sent.append(event)
                elif isinstance(event, ev.StepStarted):
                    raise LocalProtocolError(
                        f"message {event.message_id!r} exists already; "
                        "to continue it, pass the message as prior to the decoder; otherwise use another id"
                    )
                else:
                    continue
            planned.append(event)
        self._pending = planned
        self._sent = Batch(tuple(sent), self._projection.seq, trial)
        return self._sent

    def accept(self, batch: Batch, records: Sequence[ev.Record]) -> list[ev.Event]:
        """Apply the stored *records* of *batch* and return the events to pass on."""
        stored, new = self._stored, iter(records)
        passed_on: list[ev.Event] = []
        for event in self._pending:
            if not isinstance(event, STORED):
                if self._projection.apply(event) is Outcome.APPLIED:
                    passed_on.append(event)
                continue
            if stored:
                stored -= 1
            else:
                self._projection.apply(next(new))
            self.message_ids.add(event.message_id)
            passed_on.append(event)
        self._pending = []
        self._stored = 0
        self._sent = None
        self._projection.committed(batch)
        return passed_on

    def pass_live(self) -> list[ev.Event]:
        """Return the events to pass on when all pending ones are live."""
        apply = self._projection.apply
        passed_on = [event for event in self._pending if apply(event) is Outcome.APPLIED]
        self._pending = []
        return passed_on

    def park(self, error: Exception) -> None:
        """Keep the pending events after storing raised *error*."""
        self.parked = True
        if isinstance(error, ConflictError):
            self._sent = None

    def match_log(self, records: Sequence[ev.Record], *, after: int, known: int) -> None:
        """
        Find out from the log whether an unconfirmed batch was stored, and whether another writer writes the message.

        Args:
            records: All records after *after*.

            after: The `seq` before them.

            known: `seq` of the last record that was known before.
        """
        sent, self._sent = self._sent, None
        if sent is not None:
            # When a snapshot covers the batch, its records are unknown, and storing it again might duplicate them.
            self._contested = self._contested or after > sent.after
            end = sent.after + len(sent.events)
            if sent.events == tuple([record.event for record in records if sent.after < record.seq <= end]):
                self._stored += len(sent.events)
                known = max(known, end)
        self._contested = self._contested or any(
            record.seq > known
            and record.event.message_id in self.message_ids
            and not isinstance(record.event, _FROM_OUTSIDE)
            for record in records
        )
