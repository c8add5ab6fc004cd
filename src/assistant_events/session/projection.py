"""The current transcript of a session: its records, and the live events since."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import attrs

from assistant_events import messages as msg
from assistant_events.events import Event, Record
from assistant_events.lifecycle import Outcome
from assistant_events.reducer import Builder
from assistant_events.stores.contract import StoredEvent
from assistant_events.values.buffers import Buffer


@final
@attrs.frozen
class Batch:
    """Events to append."""

    events: tuple[StoredEvent, ...]
    after: int  # `seq` of the record before them
    dry_run: Builder  # has applied them


@final
class Projection:
    """A transcript that records and live events update."""

    def __init__(self) -> None:
        self._builder = Builder()
        self._transcript: msg.Transcript | None = None
        self._reusable: tuple[int, Builder] | None = None

    @property
    def transcript(self) -> msg.Transcript:
        """The current transcript; the same object until the next update."""
        if self._transcript is None:
            self._transcript = self._builder.transcript
        return self._transcript

    @property
    def seq(self) -> int:
        """`seq` of the last record; 0 when there was none."""
        return self._builder.seq

    def open_text(self) -> list[tuple[str, object, Buffer[str]]]:
        """See `Builder.open_text`."""
        return self._builder.open_text()

    def start_from(self, snapshot: msg.Transcript) -> None:
        """Replace everything by *snapshot*."""
        self._builder = Builder(snapshot)
        self._transcript = None
        self._reusable = None

    def extend(self, records: Iterable[Event | Record]) -> None:
        """Apply records, or live events; known ones change nothing."""
        self._builder.extend(records)
        self._transcript = None

    def apply(self, item: Event | Record) -> Outcome:
        """Apply one record or one live event."""
        self._transcript = None
        return self._builder.apply(item)

    def dry_run(self) -> Builder:
        """Return a builder at the current state, to try durable events on; a `committed` one is used again."""
        reusable, self._reusable = self._reusable, None
        return reusable[1] if reusable is not None and reusable[0] == self.seq else Builder(self.transcript)

    def committed(self, batch: Batch) -> None:
        """Keep the builder of *batch* for the next dry run: its records were stored and applied here."""
        self._reusable = (self.seq, batch.dry_run)

    def recorded(self) -> msg.Transcript:
        """Return the transcript of the records alone, without the live events since."""
        return attrs.evolve(
            self.transcript, messages=tuple([_recorded(message) for message in self.transcript.messages])
        )


def _recorded(message: msg.Message) -> msg.Message:
    if isinstance(message, msg.AssistantMessage):
        return attrs.evolve(message, parts=tuple([_recorded_part(part) for part in message.parts]))
    if isinstance(message, msg.CompactionMessage) and message.status is msg.MessageStatus.RUNNING:
        return attrs.evolve(message, text="")
    return message


def _recorded_part(part: msg.Part) -> msg.Part:
    if isinstance(part, msg.TextPart | msg.ReasoningPart) and part.status is msg.PartStatus.STREAMING:
        return attrs.evolve(part, text="")
    if isinstance(part, msg.MediaPart) and part.status is msg.PartStatus.STREAMING:
        return attrs.evolve(part, data=None)
    if isinstance(part, msg.ToolPart) and part.input_status is msg.PartStatus.STREAMING:
        return attrs.evolve(part, raw_input="")
    if isinstance(part, msg.ToolPart) and part.status is msg.CallStatus.CALLED:
        return attrs.evolve(part, output=())  # progress
    return part
