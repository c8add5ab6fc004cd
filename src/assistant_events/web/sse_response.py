"""Server-sent events to a browser, until they end or the browser leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final, final

from starlette.types import Receive, Scope, Send

from assistant_events.outward.sse import HEARTBEAT, SSE_HEADERS

_HEADERS: Final = [(name.encode(), value.encode()) for name, value in SSE_HEADERS.items()]


@final
class SseResponse:
    """
    An ASGI app that sends what *events* yields.

    When the browser leaves, *events* is closed at once, not with the next event. An answer that is cancelled, as when
    the server ends, is left without its end, so that the browser connects again.

    Args:
        events: Yields bytes of events.

        heartbeat_s: Seconds without an event after which a comment is sent.

        on_end: Called at the end, however it comes.
    """

    def __init__(self, events: AsyncGenerator[bytes], *, heartbeat_s: float, on_end: Callable[[], None]) -> None:
        self._events = events
        self._heartbeat_s = heartbeat_s
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        gone = asyncio.create_task(_disconnected(receive))
        try:
            async with aclosing(self._events) as events:
                await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
                if scope["method"] != "HEAD":
                    await self._send(events, send, gone)
                if not gone.done():
                    await send({"type": "http.response.body", "body": b""})
        finally:
            self._on_end()
            gone.cancel()
            await asyncio.wait((gone,))

    async def _send(self, events: AsyncGenerator[bytes], send: Send, gone: asyncio.Task[None]) -> None:
        while not gone.done():
            event = asyncio.create_task(_next(events))
            try:
                # A wait that is cut by its timeout must not cancel the generator: the same task is awaited again.
                while not event.done() and not gone.done():
                    await asyncio.wait((event, gone), timeout=self._heartbeat_s, return_when=asyncio.FIRST_COMPLETED)
                    if not event.done() and not gone.done():
                        await send({"type": "http.response.body", "body": HEARTBEAT, "more_body": True})
            finally:
                if not event.done():
                    event.cancel()
                    await asyncio.wait((event,))
            if gone.done() or event.result() is None:
                return
            # Without a name for the bytes: they would be kept until the next event.
            await send({"type": "http.response.body", "body": event.result(), "more_body": True})


async def _next(events: AsyncGenerator[bytes]) -> bytes | None:
    return await anext(events, None)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
