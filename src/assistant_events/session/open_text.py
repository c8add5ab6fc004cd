"""How much of the open fragments of a session the checkpoints, or the live channel, have been given."""

from __future__ import annotations

from typing import final

from assistant_events.events import DeltaEvent
from assistant_events.session.projection import Projection
from assistant_events.stores.checkpoints import delta_of
from assistant_events.values.buffers import Buffer


@final
class TextCursor:
    """How much of each open fragment has been handed on. A delta costs nothing: the fold has the text anyway."""

    def __init__(self, projection: Projection) -> None:
        self._projection = projection
        self._sizes: dict[Buffer[str], int] = {}

        self.is_refused = False
        """Whether the text was refused when it was handed on last."""

    def is_behind(self) -> bool:
        """Return whether there is text that has not been handed on."""
        sizes = self._sizes
        return any(buffer.length > sizes.get(buffer, 0) for _, _, buffer in self._projection.open_text())

    def missing(self) -> list[DeltaEvent]:
        """Return what of the open fragments has not been handed on."""
        sizes = self._sizes
        return [
            delta_of(message_id, key, buffer.value()[start:], start)
            for message_id, key, buffer in self._projection.open_text()
            if buffer.length > (start := sizes.get(buffer, 0))
        ]

    def lengths(self) -> dict[Buffer[str], int]:
        """Return how much there is of each open fragment, for `advance`."""
        return {buffer: buffer.length for _, _, buffer in self._projection.open_text()}

    def advance(self, lengths: dict[Buffer[str], int]) -> None:
        """Note that as much has been handed on."""
        self._sizes, self.is_refused = lengths, False
