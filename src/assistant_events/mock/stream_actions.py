"""The actions with which a mock provider sends a stream: bytes with the time when they are due, and ways to stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias, final


class WireFrame(NamedTuple):
    """The type of an event, and its bytes with the blank line."""

    name: str
    data: bytes


@final
class SendBytes(NamedTuple):
    """Send one event of a run, or a piece of bytes."""

    at: float
    """When it is due, on the provider's clock."""

    name: str
    """The type of the event; empty for `[DONE]` and for bytes that are not an event."""

    data: bytes
    wakes: bool = True
    """Whether the stream ends with the cancellation when the run is cancelled before."""


@final
class StopSending(NamedTuple):
    """Send nothing more, and keep the socket open."""

    at: float
    wakes: bool = False
    """Whether the stream still ends with the cancellation when the run is cancelled."""


@final
class ResetConnection(NamedTuple):
    """Reset the connection, without an end of the body."""

    at: float
    wakes: bool = True


StreamAction: TypeAlias = SendBytes | StopSending | ResetConnection
StreamActions: TypeAlias = Iterator[StreamAction]
"""In the order of their times. Its end is the clean end of the body."""
