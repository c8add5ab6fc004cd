"""The open fragments of a transcript as deltas, and how much of them the checkpoints have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, final

from assistant_events import messages as msg
from assistant_events.events import (
    CompactionDelta,
    DeltaEvent,
    MediaDelta,
    ReasoningDelta,
    Record,
    StepRestarted,
    TextDelta,
    ToolInputDelta,
)
from assistant_events.messages import MessageStatus, PartStatus, Transcript
from assistant_events.stores.checkpoints import cut_delta


class _Place(NamedTuple):
    message_id: str
    part: int


def open_text(transcript: Transcript) -> dict[_Place, DeltaEvent]:
    """Return each open fragment that is not empty, as one delta from its start."""
    found: dict[_Place, DeltaEvent] = {}
    for message in transcript.messages:
        if isinstance(message, msg.UserMessage) or message.status is not MessageStatus.RUNNING:
            continue
        if isinstance(message, msg.CompactionMessage):
            if message.text:
                found[_Place(message.id, 0)] = CompactionDelta(message_id=message.id, offset=0, delta=message.text)
            continue
        for at, part in enumerate(message.parts):
            if (delta := _delta_of(message.id, part)) is not None:
                found[_Place(message.id, at)] = delta
    return found


def _delta_of(message_id: str, part: msg.Part) -> DeltaEvent | None:
    match part:
        case msg.TextPart(text=text, status=PartStatus.STREAMING) if text:
            return TextDelta(message_id=message_id, offset=0, delta=text)
        case msg.ReasoningPart(text=text, status=PartStatus.STREAMING) if text:
            return ReasoningDelta(message_id=message_id, offset=0, delta=text)
        case msg.MediaPart(data=bytes() as data, status=PartStatus.STREAMING) if data:
            return MediaDelta(message_id=message_id, offset=0, delta=data)
        case msg.ToolPart(raw_input=text, input_status=PartStatus.STREAMING) if text:
            return ToolInputDelta(message_id=message_id, call_id=part.call_id, offset=0, delta=text)
        case _:
            return None


@final
class Checkpoints:
    """How much of each open fragment of a session has been stored in checkpoints."""

    def __init__(self, every_s: float) -> None:
        self.every_s = every_s
        """Seconds between checkpoints."""

        self._stored: dict[_Place, int] = {}

    def missing(self, transcript: Transcript) -> list[DeltaEvent]:
        """Return what of the open fragments has not been stored."""
        stored = self._stored
        pieces = [cut_delta(delta, stored.get(place, 0)) for place, delta in open_text(transcript).items()]
        return [piece for piece in pieces if piece.delta]

    def stored(self, transcript: Transcript) -> None:
        """Note that all that is open in *transcript* has been stored."""
        self._stored = {place: len(delta.delta) for place, delta in open_text(transcript).items()}

    def notice(self, records: Iterable[Record]) -> None:
        """Forget what a restart has made void."""
        void = {record.event.message_id for record in records if isinstance(record.event, StepRestarted)}
        if void:
            self._stored = {place: size for place, size in self._stored.items() if place.message_id not in void}
