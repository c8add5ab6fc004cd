"""The events of one message as an asynchronous iterator, and its closing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from types import TracebackType
from typing import Self, TypeAlias, final

import attrs

from assistant_events.events import Event
from assistant_events.session.receiver import StreamReceiver

EventGenerator: TypeAlias = AsyncGenerator[Event, None]


@final
@attrs.define(eq=False)
class CloseState:
    """State of a stream that is closed before its end."""

    receiver: StreamReceiver | None = None
    """`None` until the first iteration."""

    awaited: bool = False
    """Whether a caller awaits the closing and receives its exceptions."""

    rejoined: bool = False
    """Whether another decoder continues the message, so that it must not be closed."""


@final
class EventStream(AsyncIterator[Event]):
    """
    The result of `Session.receive`: an iterator over the events, and a context manager that closes it.

    Closing it before the end closes the message; see `Session.receive`.
    """

    def __init__(
        self,
        events: EventGenerator,
        close_state: CloseState,
        abandoned: Callable[[EventGenerator, CloseState, asyncio.AbstractEventLoop], None],
    ) -> None:
        self._events = events
        self._close_state = close_state
        self._abandoned = abandoned
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __anext__(self) -> Event:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return await self._events.__anext__()

    async def aclose(self) -> None:
        """
        Stop receiving: a message that has not ended is closed as `aborted`. Calling it again does nothing.

        Raises:
            ConflictError: Another writer has appended meanwhile; the message is not closed.

            StoreError: The store failed; the message is not closed.
        """
        self._close_state.awaited = True
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        # A generator without a frame is exhausted.
        if self._loop is not None and getattr(self._events, "ag_frame", None) is not None:
            self._abandoned(self._events, self._close_state, self._loop)
