"""
What one decoder gives, on its way into the log and from there to whoever listens.

The durable events of one feed are stored as one batch before anything of that feed is handed on. What the store did not
take waits: the same decoder can be received again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, Protocol, cast, final

from assistant_events.errors import ConflictError, LocalProtocolError
from assistant_events.events import (
    DURABLE_EVENTS,
    Event,
    HistoryRewound,
    Record,
    StepStarted,
    ToolFailed,
    ToolSuccess,
    UnknownEvent,
)
from assistant_events.lifecycle import Outcome
from assistant_events.session.chunks import BYTES
from assistant_events.session.projection import Batch, Projection
from assistant_events.session.transport_errors import abortion, transport_error
from assistant_events.stores.contract import StoredEvent
from assistant_events.values import ErrorInfo, ErrorKind
from assistant_events.values.credentials import traceback_text

STORED: Final = (*DURABLE_EVENTS, UnknownEvent)
"""Classes of what a log can hold."""

KEPT: Final = frozenset({Outcome.APPLIED, Outcome.IGNORED})
"""What a log may hold: all that is in place, and what this version does not know."""

_FROM_OUTSIDE: Final = (ToolSuccess, ToolFailed, HistoryRewound)
"""What may be said of a message by others than those who receive it."""

_log = logging.getLogger("assistant_events.session")


class Decoder(Protocol):
    """What turns a provider's stream into events. Every decoder of `assistant_events.adapters` is one."""

    @property
    def message_id(self) -> str:
        """The message that the stream becomes."""
        ...

    @property
    def terminal(self) -> bool:
        """Whether the answer has come to its end."""
        ...

    def feed(self, data: bytes, /) -> list[Event]:
        """Take bytes and return the events that they cause. Never raises for what a provider sent."""
        ...

    def feed_event(self, event: object, /) -> list[Event]:
        """Take one event that is parsed already and return the events that it causes."""
        ...

    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """
        Say that nothing more comes, and why, and return the events that settle what is open. Again it does nothing.
        """
        ...


@final
class StreamReceiver:
    """
    Gathers what a decoder gives, and tells what of it is stored and what is handed on.

    `take`, `fail`, `end` and `abort` gather. When `storing`, `plan` returns what goes into the store, and `accept`
    takes what came of it; in between it is `in_doubt` whether the store has it.
    """

    def __init__(self, standing: Projection, decoder: Decoder) -> None:
        self.decoder = decoder

        self.active = True
        """Whether somebody listens."""

        self.over = False
        """Whether nothing more will be gathered."""

        self.stuck = False
        """Whether what was gathered cannot be stored now, for a reason that was raised."""

        self.message_ids: set[str | None] = {decoder.message_id}
        """Messages that the decoder writes: several for an answer of several hops."""

        self._standing = standing
        self._pending: list[Event] = []
        self._stored = 0
        """How many of the durable events among them, from the first, are known to be in the log."""

        self._sent: Batch | None = None
        self._contested = False

    # -- gathering

    def take(self, item: object) -> None:
        """
        Feed the decoder with bytes, or with an event that is parsed already.

        Raises:
            TypeError: For text, and for what the decoder does not take.
        """
        if isinstance(item, BYTES):
            # cast: what can be made `bytes` of.
            self._pending += self.decoder.feed(bytes(cast("bytes", item)))
        elif isinstance(item, str):
            raise TypeError("chunks: expected bytes or parsed events, got str; iterate over bytes, not text or lines")
        else:
            self._pending += self.decoder.feed_event(item)
        self.over = self.decoder.terminal

    def end(self) -> None:
        """Say that the stream is over."""
        self._close(None)

    def fail(self, error: Exception) -> None:
        """Say that the stream raised *error*."""
        info = transport_error(error)
        if info.kind == ErrorKind.UNKNOWN:
            # It may as well be a mistake of the app, whose place only the traceback tells.
            _log.warning("the stream of message %r raised\n%s", self.decoder.message_id, traceback_text(error))
        self._close(info)

    def abort(self, reason: BaseException) -> None:
        """Say that whoever listened has left because of *reason*."""
        self._close(abortion(reason))

    def _close(self, error: ErrorInfo | None) -> None:
        self._pending += self.decoder.close(error)
        self.over = True

    # -- storing

    @property
    def storing(self) -> bool:
        """Whether something was gathered that has to be stored before anything is handed on."""
        return any(event.durable for event in self._pending)

    @property
    def waiting(self) -> bool:
        """Whether something was gathered that has not been handed on."""
        return bool(self._pending)

    @property
    def unconfirmed(self) -> Batch | None:
        """The batch that was given to the store and of which nothing is known since; `None` when there is none."""
        return self._sent

    def plan(self) -> Batch:
        """
        Return what is to be stored now. What would not apply is left out, and will not be handed on.

        Raises:
            LocalProtocolError: The decoder begins a message that is there already, or somebody else writes the message,
            too.
        """
        if self._contested:
            raise LocalProtocolError(
                f"message {self.decoder.message_id!r} is written by somebody else, too; "
                "to go on with it, give a new decoder the message as prior"
            )
        rehearsal = self._standing.dry_run()
        planned: list[Event] = []
        sent: list[StoredEvent] = []
        stored = self._stored
        for event in self._pending:
            if isinstance(event, STORED):
                if stored:
                    stored -= 1
                elif rehearsal.apply(event) in KEPT:
                    sent.append(event)
                elif isinstance(event, StepStarted):
                    raise LocalProtocolError(
                        f"message {event.message_id!r} is there already; "
                        "to go on with it, give the decoder the message as prior, else another id"
                    )
                else:
                    continue
            planned.append(event)
        self._pending = planned
        self._sent = Batch(tuple(sent), self._standing.seq, rehearsal)
        return self._sent

    def accept(self, batch: Batch, records: Sequence[Record]) -> list[Event]:
        """Say that what was planned is stored as *records*, and return what is handed on."""
        stored, new = self._stored, iter(records)
        handed_on: list[Event] = []
        for event in self._pending:
            if not isinstance(event, STORED):
                if self._standing.apply(event) is Outcome.APPLIED:
                    handed_on.append(event)
                continue
            if stored:
                stored -= 1
            else:
                self._standing.apply(next(new))
            self.message_ids.add(event.message_id)
            handed_on.append(event)
        self._pending = []
        self._stored = 0
        self._sent = None
        self._standing.committed(batch)
        return handed_on

    def pass_live(self) -> list[Event]:
        """Return what is handed on of live events alone."""
        apply = self._standing.apply
        handed_on = [event for event in self._pending if apply(event) is Outcome.APPLIED]
        self._pending = []
        return handed_on

    def park(self, error: Exception) -> None:
        """Say that storing raised *error*."""
        self.stuck = True
        if isinstance(error, ConflictError):
            self._sent = None

    def match_log(self, records: Sequence[Record], *, after: int, known: int) -> None:
        """
        Learn whether a batch in doubt was stored, and whether somebody else writes the message.

        Args:
            records: All records after a place.

            after: That place.

            known: Place of the last of them that was known already.
        """
        sent, self._sent = self._sent, None
        if sent is not None:
            # Where a snapshot stands for its place nobody can tell, and storing it again might double what it says.
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
