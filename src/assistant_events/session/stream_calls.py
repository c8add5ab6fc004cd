"""What the stream of an answer asks of its session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias, final

import attrs

from assistant_events.adapters.encoder import Encoded
from assistant_events.events import Event
from assistant_events.session.answers import Source
from assistant_events.session.receiver import Receivers, StreamReceiver

Keep: TypeAlias = Callable[[StreamReceiver], Awaitable[tuple[list[Event], list[int]]]]


class Hold(Protocol):
    """Claims the session for one more holder, or for one less."""

    async def __call__(self, *, held: bool) -> None: ...  # noqa: D102


Ask: TypeAlias = Callable[[bool], Awaitable[tuple[Source, Encoded | None]]]
"""Asks for an answer, with the full history if its argument is true. Returns its source, and the request if known."""


@final
@attrs.frozen
class StreamCalls:
    """The operations of a session that its streams share."""

    receivers: Receivers

    pass_live: Callable[[StreamReceiver], list[Event] | None]
    """Returns the events to pass on when nothing has to be stored first, `None` otherwise."""

    keep: Keep
    """Stores what a receiver has. Returns the events to pass on, and the `seq` of the durable ones."""

    hold: Hold
