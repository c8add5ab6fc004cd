"""Where a session stands: what its records fold to, and what has streamed since."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never, final

import attrs

from assistant_events.events import Event, Record
from assistant_events.lifecycle import Outcome
from assistant_events.messages import (
    AssistantMessage,
    CallStatus,
    CompactionMessage,
    MediaPart,
    Message,
    MessageStatus,
    OpaquePart,
    Part,
    PartStatus,
    ReasoningPart,
    TextPart,
    ToolPart,
    Transcript,
    UserMessage,
)
from assistant_events.reducer import Builder
from assistant_events.stores.contract import StoredEvent


@final
@attrs.frozen
class Batch:
    """What is to be stored at once."""

    events: tuple[StoredEvent, ...]

    after: int
    """Place in the log that it follows."""

    dry_run: Builder
    """What it was tried on."""


@final
class Projection:
    """A transcript that moves by records and by live events."""

    def __init__(self) -> None:
        self._builder = Builder()
        self._transcript: Transcript | None = None
        self._rehearsed: tuple[int, Builder] | None = None

    @property
    def transcript(self) -> Transcript:
        """The transcript as it stands; the same object as long as nothing moves."""
        if self._transcript is None:
            self._transcript = self._builder.transcript
        return self._transcript

    @property
    def seq(self) -> int:
        """Place of the last record; 0 when there was none."""
        return self._builder.seq

    def start_from(self, snapshot: Transcript) -> None:
        """Begin anew where *snapshot* stands."""
        self._builder = Builder(snapshot)
        self._transcript = None
        self._rehearsed = None

    def extend(self, records: Iterable[Record]) -> None:
        """Move by records; those that are known already change nothing."""
        self._builder.extend(records)
        self._transcript = None

    def apply(self, item: Event | Record) -> Outcome:
        """Move by one record or one live event."""
        self._transcript = None
        return self._builder.apply(item)

    def dry_run(self) -> Builder:
        """
        Return a builder that tells what becomes of durable events here, and moves on its own.

        A new one costs the parts of the messages it touches; one that went as rehearsed serves again (see `performed`).
        """
        rehearsed, self._rehearsed = self._rehearsed, None
        return rehearsed[1] if rehearsed is not None and rehearsed[0] == self.seq else Builder(self.transcript)

    def committed(self, batch: Batch) -> None:
        """Say that *batch* has become records, and that they were applied."""
        self._rehearsed = (self.seq, batch.dry_run)

    def recorded(self) -> Transcript:
        """Return what the records alone fold to: the transcript without what has only streamed."""
        return attrs.evolve(
            self.transcript, messages=tuple([_recorded(message) for message in self.transcript.messages])
        )


def _recorded(message: Message) -> Message:
    match message:
        case AssistantMessage():
            return attrs.evolve(message, parts=tuple([_recorded_part(part) for part in message.parts]))
        case CompactionMessage() if message.status is MessageStatus.RUNNING:
            return attrs.evolve(message, text="")
        case UserMessage() | CompactionMessage():
            return message
        case _ as never:
            assert_never(never)


def _recorded_part(part: Part) -> Part:
    match part:
        case TextPart() | ReasoningPart() if part.status is PartStatus.STREAMING:
            return attrs.evolve(part, text="")
        case MediaPart() if part.status is PartStatus.STREAMING:
            return attrs.evolve(part, data=None)
        case ToolPart() if part.input_status is PartStatus.STREAMING:
            return attrs.evolve(part, raw_input="")
        case ToolPart() if part.status is CallStatus.CALLED:
            # An answer settles the call, so this is progress.
            return attrs.evolve(part, output=())
        case TextPart() | ReasoningPart() | MediaPart() | ToolPart() | OpaquePart():
            return part
        case _ as never:
            assert_never(never)
