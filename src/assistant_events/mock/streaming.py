"""
Sends a stream: waits for the time of each event, sends it by itself, and ends with its client, its run or its server.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum
from math import inf
from typing import Any, Final, final

from starlette.types import Receive, Scope, Send

from assistant_events.mock.clock import ProviderClock
from assistant_events.mock.runs import Run
from assistant_events.mock.stream_actions import ResetConnection, SendBytes, StopSending, StreamAction, StreamActions

RAW_SEND: Final = "assistant_events.send"
"""Where a scope keeps the `send` of the server itself, through which a connection can be reset."""

_HEADERS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)

# Closing a socket that lingers for no time sends RST in the place of FIN (POSIX, SO_LINGER).
_NO_LINGER: Final = struct.pack("ii", 1, 0)


class _Came(Enum):
    """Why the wait for an event is over."""

    TIME = "its time has come"
    CANCEL = "the run was cancelled before"
    END = "the client or the server is gone"


@final
class EventStream:
    """
    An ASGI response that streams events of a run.

    Args:
        run: Whose events they are.

        cancellation: Returns what ends it when its run is cancelled.

        moves: What is sent and when.

        clock: Of the provider.

        opens: When the headers are sent.

        is_closing: Tells whether the server is about to end.

        on_end: Called when the stream is over, with whether it brought the end of the run.
    """

    def __init__(
        self,
        run: Run,
        cancellation: Callable[[], Iterable[StreamAction]],
        moves: StreamActions,
        *,
        clock: ProviderClock,
        opens: float,
        is_closing: Callable[[], bool],
        on_end: Callable[[bool], None],
    ) -> None:
        self._run = run
        self._cancellation = cancellation
        self._moves = moves
        self._clock = clock
        self._opens = opens
        self._is_closing = is_closing
        self._on_end = on_end
        self._changed = asyncio.Event()
        self._gone = False
        self._whole = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything; return early when the client is gone."""
        self._run.streams += 1
        watcher = asyncio.create_task(self._watch(receive))
        stop_listening = self._run.listen(asyncio.get_running_loop(), self._changed)
        try:
            if await self._until(self._opens) is not _Came.END:
                await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
                await self._send_moves(send, scope.get(RAW_SEND))
        finally:
            stop_listening()
            watcher.cancel()
            self._run.streams -= 1
            self._on_end(self._whole)
            await asyncio.wait([watcher])

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._changed.set()

    async def _send_moves(self, send: Send, raw_send: Any) -> None:
        # Any: whatever the server has put into the scope.
        for move in self._moves:
            at = inf if isinstance(move, StopSending) else move.at
            match await self._until(at, wakes=isinstance(move, ResetConnection) or move.wakes):
                case _Came.END:
                    break
                case _Came.CANCEL:
                    for one in self._cancellation():
                        if isinstance(one, SendBytes):
                            await self._send(send, one)
                    break
                case _Came.TIME:
                    pass
            if isinstance(move, ResetConnection):
                await self._reset(raw_send)
                return
            if isinstance(move, SendBytes):
                await self._send(send, move)
        if not self._gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, send: Send, sent: SendBytes) -> None:
        await send({"type": "http.response.body", "body": sent.data, "more_body": True})
        self._whole = self._whole or sent.name.startswith("interaction.complete")
        # One event is one write; and of many streams each gets its turn.
        await asyncio.sleep(0)

    async def _until(self, at: float, *, wakes: bool = True) -> _Came:
        while True:
            if self._gone or self._is_closing():
                return _Came.END
            cancelled = self._run.cancelled_at
            if wakes and cancelled is not None and at > cancelled:
                return _Came.CANCEL
            left = at - self._clock.now()
            if left <= 0:
                return _Came.TIME
            self._changed.clear()
            await self._clock.wait(self._changed, None if left == inf else left)

    async def _reset(self, raw_send: Any) -> None:
        transport = getattr(getattr(raw_send, "__self__", None), "transport", None)
        if not isinstance(transport, asyncio.Transport):
            raise ConnectionResetError("the mock provider drops this connection")
        endpoint = transport.get_extra_info("socket")
        if endpoint is not None:
            with suppress(OSError):
                endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        transport.abort()
        while not self._gone:
            self._changed.clear()
            await self._clock.wait(self._changed, None)
