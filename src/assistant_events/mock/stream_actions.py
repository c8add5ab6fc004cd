"""What a stream is made of on its way out: bytes with the time when they are there, and how it can stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, final

import attrs


@final
@attrs.frozen
class SendBytes:
    """One event of a run, or a piece of bytes, as it goes into a stream."""

    at: float
    """When it is there, on the provider's clock."""

    name: str
    """Its `event_type`; empty for `[DONE]` and for what is no event."""

    data: bytes
    wakes: bool = True
    """Whether the stream says that the run is cancelled, when that happens before."""


@final
@attrs.frozen
class StopSending:
    """Nothing comes any more, and the socket stays open."""

    at: float
    wakes: bool = False
    """Whether the stream still says when the run is cancelled."""


@final
@attrs.frozen
class ResetConnection:
    """The connection is reset: the body has no end."""

    at: float


StreamAction: TypeAlias = SendBytes | StopSending | ResetConnection
StreamActions: TypeAlias = Iterator[StreamAction]
"""In the order of their times. The end is the clean end of the body."""
