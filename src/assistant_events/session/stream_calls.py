"""The operations of a session that the stream of an answer uses."""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeAlias, final

import attrs

from assistant_events.adapters.encoded import Encoded
from assistant_events.events import LiveEvent
from assistant_events.session.answers import Source
from assistant_events.session.receiver import Accepted, Receivers, StreamReceiver
from assistant_events.session.request import Refused

PAUSES_S: Final = (0.1, 0.4, 1.6, 6.4)
"""Pauses before an answer, or a result of a tool, is stored again after an error of the store."""


class Hold(Protocol):
    """Claims the session for one more holder, or for one less."""

    async def __call__(self, *, held: bool) -> object: ...  # noqa: D102


Ask: TypeAlias = Callable[[Refused | None], Awaitable[tuple[Source, Encoded | None] | None]]
"""
Asks for an answer, after a request that was refused with another one. Returns its source, and the request if known;
`None` when the other one is the same.
"""


@final
@attrs.define
class Timers:
    """Timers of a session with an event loop, which are set when text has streamed."""

    flush: TimerHandle | None = None
    """Publishes it."""

    checkpoint: TimerHandle | None = None
    """Stores it."""

    are_set: bool = False
    """Whether all timers that are needed are set, so that nothing is left to do for a delta."""


@final
@attrs.frozen
class StreamCalls:
    """The operations of a session that its streams share."""

    receivers: Receivers

    store: Callable[[StreamReceiver], Awaitable[Accepted]]
    """Stores what a receiver has, as far as that is durable."""

    streamed: Callable[[Sequence[LiveEvent]], None] | None
    """Is called with deltas that have been applied; `None` where nothing depends on them."""

    timers: Timers
    """While they are set `streamed` need not be called."""

    hold: Hold

    waits: bool
    """Whether an error of the store is waited out, where it can be."""
