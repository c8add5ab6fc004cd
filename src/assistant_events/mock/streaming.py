"""A response that sends each event of a stream at its time, and ends with its client, its run or its server."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from math import inf
from types import MappingProxyType
from typing import Any, Final, final

import attrs
from starlette.types import Receive, Scope, Send

from assistant_events.mock.clock import ProviderClock, wait_until
from assistant_events.mock.runs import Run
from assistant_events.mock.stream_actions import ResetConnection, SendBytes, StopSending, StreamActions

RAW_SEND: Final = "assistant_events.send"
"""Key of a scope for the `send` of the server itself, through which a connection can be reset."""

SSE_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {"content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no"}
)
"""The headers of a stream of server-sent events."""

_ALONE: Final = 32
"""Number of first events of a stream that are a write each, as from a provider that has just made them."""

_TOGETHER: Final = 16
"""Maximum number of later events in one write, where they are due at the same time: a write costs the most."""

# Closing a socket that lingers for no time sends RST in the place of FIN (POSIX, SO_LINGER).
_NO_LINGER: Final = struct.pack("ii", 1, 0)


@final
@attrs.define(kw_only=True, eq=False)
class StreamResponse:
    """
    An ASGI response that streams the events of a run: *actions* from the time *opens*, or its *cancellation*.

    *on_end* is called at the end, with whether the stream has sent the end of the run.
    """

    run: Run[Any]
    actions: StreamActions
    cancellation: Callable[[], StreamActions]
    end_names: Collection[str]
    clock: ProviderClock
    opens: float
    headers: Mapping[str, str]
    is_closing: Callable[[], bool]
    on_end: Callable[[bool], None]
    _changed: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)
    _gone: bool = attrs.field(default=False, init=False)
    _whole: bool = attrs.field(default=False, init=False)
    _due: list[SendBytes] = attrs.field(factory=list[SendBytes], init=False)
    _sent: int = attrs.field(default=0, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything; return early when the client has gone."""
        self.run.streams += 1
        watcher = asyncio.create_task(self._watch(receive))
        try:
            with self.run.listening(self._changed):
                if await self._until(self.opens) or not self._is_over():
                    headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
                    await send({"type": "http.response.start", "status": 200, "headers": headers})
                    await self._send_actions(send, scope.get(RAW_SEND))
        finally:
            watcher.cancel()
            self.run.streams -= 1
            self.on_end(self._whole)
            await asyncio.wait([watcher])

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._changed.set()

    async def _send_actions(self, send: Send, raw_send: Any) -> None:
        # Any: what the server has put into the scope.
        actions, reached = self.actions, -inf
        while (action := next(actions, None)) is not None:
            at = inf if isinstance(action, StopSending) else action.at
            # What is due together with the action before it is sent without a look at the clock.
            if at > reached or self._changed.is_set():
                await self._write(send)
                if not await self._until(at, wakes=action.wakes):
                    if self._is_over():
                        break
                    actions = self.cancellation()
                    continue
            reached = at
            if isinstance(action, SendBytes):
                await self._send(action, send)
            elif isinstance(action, ResetConnection):
                await self._write(send)
                reset_connection(raw_send, "the mock provider drops this connection")
                return
        await self._write(send)
        if not self._gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, action: SendBytes, send: Send) -> None:
        """Send an event or a piece, now or together with the next events."""
        if not action.name:
            await self._write(send)
        self._due.append(action)
        self._sent += 1
        if not action.name or self._sent <= _ALONE or len(self._due) == _TOGETHER:
            await self._write(send)
        # After a few writes other streams get their turn.
        if self._sent % 8 == 0:
            await asyncio.sleep(0)

    async def _write(self, send: Send) -> None:
        if self._due:
            due, self._due = self._due, []
            data = b"".join([action.data for action in due])
            await send({"type": "http.response.body", "body": data, "more_body": True})
            self._whole = self._whole or any(action.name in self.end_names for action in due)

    async def _until(self, at: float, *, wakes: bool = True) -> bool:
        """Wait for a time. Returns False when the stream is over before, or its run was cancelled before."""

        def is_over() -> bool:
            cancelled = self.run.cancelled_at
            return self._is_over() or (wakes and cancelled is not None and at > cancelled)

        return await wait_until(self.clock, self._changed, at, is_over)

    def _is_over(self) -> bool:
        return self._gone or self.is_closing()


def reset_connection(send: Any, reason: str) -> None:
    """
    Reset the connection of *send*, which is that of the server itself.

    Raises:
        ConnectionResetError: The server is another than uvicorn, so that an exception has to do; it has the *reason*.
    """
    # Any: what the server has put into the scope.
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if not isinstance(transport, asyncio.Transport):
        raise ConnectionResetError(reason)
    endpoint = transport.get_extra_info("socket")
    if endpoint is not None:
        with suppress(OSError):
            endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    transport.abort()
