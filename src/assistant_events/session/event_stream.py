"""The events of one message, for apps with an event loop, and what happens when they are left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from types import TracebackType
from typing import Self, TypeAlias, final

from assistant_events.events import Event
from assistant_events.session.receiver import StreamReceiver

EventGenerator: TypeAlias = AsyncGenerator[Event, None]


@final
class CloseState:
    """What a stream has to know when it is closed before its end."""

    __slots__ = ("awaited", "reception", "rejoined")

    def __init__(self) -> None:
        self.reception: StreamReceiver | None = None
        """`None` until the first event is asked for."""

        self.awaited = False
        """Whether somebody awaits the closing, and so learns what it raises."""

        self.rejoined = False
        """Whether another decoder goes on with the message, so that it is not to be closed."""


@final
class EventStream(AsyncIterator[Event]):
    """
    What `Session.receive` returns: an iterator over the events, and a context manager that closes it.

    Leaving it before the end closes the message; see `Session.receive`.
    """

    def __init__(
        self,
        events: EventGenerator,
        leaving: CloseState,
        abandoned: Callable[[EventGenerator, CloseState, asyncio.AbstractEventLoop], None],
    ) -> None:
        self._events = events
        self._leaving = leaving
        self._abandoned = abandoned
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __anext__(self) -> Event:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return await self._events.__anext__()

    async def aclose(self) -> None:
        """
        Stop receiving: a message that has not ended is closed as `aborted`. Again it does nothing.

        Raises:
            ConflictError: Somebody else has written meanwhile; the message is not closed.

            StoreError: The store could not do it; the message is not closed.
        """
        self._leaving.awaited = True
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        # A generator without a frame has come to its end.
        if self._loop is not None and getattr(self._events, "ag_frame", None) is not None:
            self._abandoned(self._events, self._leaving, self._loop)
