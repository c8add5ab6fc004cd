"""
Connects an httpx2 client to an ASGI app without a socket, with streaming: each piece arrives when the app sends it.

The ASGI transport of httpx2 returns a response when it is complete, so that a stream that hangs never arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias, final

import httpx2

# Any: ASGI does not define the content of messages further.
_Message: TypeAlias = MutableMapping[str, Any]
_App: TypeAlias = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]],
    Awaitable[None],
]

_GOODBYE_S: Final = 0.1
"""How long an app may take to notice that its client has disconnected."""


@final
class StreamingTransport(httpx2.AsyncBaseTransport):
    """
    Passes the requests of an `httpx2.AsyncClient` to an ASGI 3 app in the same event loop.

    The app waits until the client has read a piece before it sends the next one. Closing a response before its end
    disconnects the client. When the app fails, the client raises `httpx2.RemoteProtocolError`.
    """

    def __init__(self, app: _App) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response as soon as its head has arrived."""
        exchange = _Exchange(self._app, request, await request.aread())
        try:
            head = await exchange.head()
        except BaseException:
            await exchange.aclose()
            raise
        return httpx2.Response(head["status"], headers=list(head.get("headers", ())), stream=exchange)


@final
class _Exchange(httpx2.AsyncByteStream):
    """One request, and the response of the app."""

    def __init__(self, app: _App, request: httpx2.Request, body: bytes) -> None:
        self._request = request
        self._to_app: asyncio.Queue[_Message] = asyncio.Queue()
        self._to_app.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self._to_client: asyncio.Queue[_Message | Exception | None] = asyncio.Queue()
        # At most one piece is in transit: the client sets the pace.
        self._room = asyncio.Semaphore(1)
        self._task = asyncio.create_task(self._run(app))

    async def head(self) -> _Message:
        """Return the start of the response."""
        return await self._next()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield each piece when the app has sent it."""
        more = True
        while more:
            message = await self._next()
            more = message.get("more_body", False)
            if message.get("body"):
                yield message["body"]

    async def aclose(self) -> None:
        """Disconnect the client, and cancel an app that ignores it."""
        self._to_app.put_nowait({"type": "http.disconnect"})
        self._room.release()
        if not (await asyncio.wait([self._task], timeout=_GOODBYE_S))[0]:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self, app: _App) -> None:
        try:
            await app(_scope(self._request), self._to_app.get, self._send)
        except Exception as error:  # noqa: BLE001 - for the client every exception breaks the connection
            self._to_client.put_nowait(error)
        else:
            self._to_client.put_nowait(None)

    async def _send(self, message: _Message) -> None:
        await self._room.acquire()
        self._to_client.put_nowait(message)

    async def _next(self) -> _Message:
        message = await self._to_client.get()
        self._room.release()
        if message is None:
            raise httpx2.RemoteProtocolError("the app returned before the end of its response", request=self._request)
        if isinstance(message, Exception):
            raise httpx2.RemoteProtocolError(f"the app failed: {message}", request=self._request) from message
        return message


def _scope(request: httpx2.Request) -> MutableMapping[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.partition(b"?")[0],
        "query_string": request.url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "server": (request.url.host, request.url.port),
        "client": ("127.0.0.1", 0),
    }
