"""What every emitter shares: its face, and how it says what its wire has no words for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, final

import attrs

from assistant_events.events import Event
from assistant_events.messages import AssistantMessage

Frame: TypeAlias = dict[str, Any] | Literal["[DONE]"]
"""One frame of a stream as plain JSON, or the mark that says that nothing follows. `Any`: see `reading.Fields`."""


@final
@attrs.frozen
class LeftOut:
    """Something that a wire cannot say."""

    message_id: str | None
    """The message that it belongs to; `None` for an unknown event that names none."""

    event: str
    """Type of the event that said it."""

    reason: str
    """Why, for people. It never holds what a state or a message says."""


class Emitter(Protocol):
    """Speaks as the provider does: events in, frames of its wire out."""

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """What the wire could not say so far, each once, in the order in which it came up."""
        ...

    def emit(self, event: Event) -> Sequence[Frame]:
        """Return the frames that say *event*; none when it has to wait for one that follows, or says nothing here."""
        ...

    def close(self) -> Sequence[Frame]:
        """Say that nothing more comes, and return the last frames."""
        ...


class MakeEmitter(Protocol):
    """Makes an emitter for one answer."""

    def __call__(self) -> Emitter:
        """Return an emitter."""
        ...


class EmitResource(Protocol):
    """Writes an answer as one JSON document."""

    def __call__(self, message: AssistantMessage) -> dict[str, Any]:
        """Return the document."""
        ...
