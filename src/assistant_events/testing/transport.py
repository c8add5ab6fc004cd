"""
Lets an httpx2 client talk to an ASGI app without a socket, and streams: each piece arrives when the app sends it.

The transport of httpx2 itself hands out an answer when all of it is there, so that a stream that hangs never comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias, final

import httpx2

# Any: ASGI leaves open what its messages hold.
_Message: TypeAlias = MutableMapping[str, Any]
_App: TypeAlias = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]],
    Awaitable[None],
]

_GOODBYE_S: Final = 0.1
"""How long an app may take to see that its client is gone."""


@final
class StreamingTransport(httpx2.AsyncBaseTransport):
    """
    Gives the requests of an `httpx2.AsyncClient` to an app in the same event loop.

    The app waits until the client has read what it sent. Closing an answer before its end tells the app that the client
    is gone. An app that fails breaks the connection: `httpx2.RemoteProtocolError`.

    Args:
        app: Speaks ASGI 3.
    """

    def __init__(self, app: _App) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer as soon as its head is there."""
        exchange = _Exchange(self._app, request, await request.aread())
        try:
            head = await exchange.head()
        except BaseException:
            await exchange.aclose()
            raise
        return httpx2.Response(head["status"], headers=list(head.get("headers", ())), stream=exchange)


@final
class _Exchange(httpx2.AsyncByteStream):
    """One request, the app that answers it, and the answer."""

    def __init__(self, app: _App, request: httpx2.Request, body: bytes) -> None:
        self._request = request
        self._to_app: asyncio.Queue[_Message] = asyncio.Queue()
        self._to_app.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self._to_client: asyncio.Queue[_Message | Exception | None] = asyncio.Queue()
        # One piece is under way at most: the app goes at the pace of the client.
        self._room = asyncio.Semaphore(1)
        self._task = asyncio.create_task(self._run(app))

    async def head(self) -> _Message:
        """Return the start of the answer."""
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
        """Tell the app that the client is gone, and end it if it does not care."""
        self._to_app.put_nowait({"type": "http.disconnect"})
        self._room.release()
        if not (await asyncio.wait([self._task], timeout=_GOODBYE_S))[0]:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self, app: _App) -> None:
        try:
            await app(_scope(self._request), self._to_app.get, self._send)
        except Exception as error:  # noqa: BLE001 - whatever it was, the client sees a connection that broke
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
            raise httpx2.RemoteProtocolError("the app ended before its answer did", request=self._request)
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
