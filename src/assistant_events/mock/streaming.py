"""A response that sends each event of a stream at its time, and ends with its client, its run or its server."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Collection
from contextlib import suppress
from enum import Enum
from math import inf
from typing import Any, Final, final

from starlette.types import Receive, Scope, Send

from assistant_events.mock.clock import ProviderClock
from assistant_events.mock.runs import Run
from assistant_events.mock.stream_actions import ResetConnection, SendBytes, StopSending, StreamActions

RAW_SEND: Final = "assistant_events.send"
"""Key of a scope for the `send` of the server itself, through which a connection can be reset."""

_HEADERS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)

# Closing a socket that lingers for no time sends RST in the place of FIN (POSIX, SO_LINGER).
_NO_LINGER: Final = struct.pack("ii", 1, 0)


class _Wakeup(Enum):
    """Why the wait for an action is over."""

    TIME = "the action is due"
    CANCEL = "the run was cancelled before"
    END = "the client or the server has gone"


@final
class EventStream:
    """
    An ASGI response that streams the events of a run: *actions* from the time *opens*, or its *cancellation*.

    *on_end* is called at the end, with whether the stream has sent the end of the run.
    """

    def __init__(
        self,
        run: Run,
        actions: StreamActions,
        *,
        cancellation: Callable[[], StreamActions],
        end_names: Collection[str],
        clock: ProviderClock,
        opens: float,
        is_closing: Callable[[], bool],
        on_end: Callable[[bool], None],
    ) -> None:
        self._run = run
        self._actions = actions
        self._cancellation = cancellation
        self._end_names = end_names
        self._clock = clock
        self._opens = opens
        self._is_closing = is_closing
        self._on_end = on_end
        self._changed = asyncio.Event()
        self._gone = False
        self._whole = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything; return early when the client has gone."""
        self._run.streams += 1
        watcher = asyncio.create_task(self._watch(receive))
        stop_listening = self._run.listen(asyncio.get_running_loop(), self._changed)
        try:
            if await self._until(self._opens) is not _Wakeup.END:
                await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
                await self._send_actions(send, scope.get(RAW_SEND))
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

    async def _send_actions(self, send: Send, raw_send: Any) -> None:
        # Any: what the server has put into the scope.
        for action in self._actions:
            at = inf if isinstance(action, StopSending) else action.at
            match await self._until(at, wakes=isinstance(action, ResetConnection) or action.wakes):
                case _Wakeup.END:
                    break
                case _Wakeup.CANCEL:
                    for each in self._cancellation():
                        if isinstance(each, SendBytes):
                            await self._send(send, each)
                    break
                case _Wakeup.TIME:
                    pass
            if isinstance(action, ResetConnection):
                await self._reset(raw_send)
                return
            if isinstance(action, SendBytes):
                await self._send(send, action)
        if not self._gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, send: Send, sent: SendBytes) -> None:
        await send({"type": "http.response.body", "body": sent.data, "more_body": True})
        self._whole = self._whole or sent.name in self._end_names
        # One event is one write, and other streams get their turn.
        await asyncio.sleep(0)

    async def _until(self, at: float, *, wakes: bool = True) -> _Wakeup:
        while True:
            if self._gone or self._is_closing():
                return _Wakeup.END
            cancelled = self._run.cancelled_at
            if wakes and cancelled is not None and at > cancelled:
                return _Wakeup.CANCEL
            left = at - self._clock.now()
            if left <= 0:
                return _Wakeup.TIME
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
