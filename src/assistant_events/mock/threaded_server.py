"""
Serves an ASGI app on a port of this machine, in a thread of its own.

The socket is bound before the thread starts, so that the address is known at once.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from threading import Event, Thread
from typing import Final, Self, TypeVar, final

import uvicorn
from starlette.types import ASGIApp

_T = TypeVar("_T")

_STOP_S: Final = 5.0
"""Limit of a stop, which takes 0.2 s, and a second more when a client does not read its answer."""


@final
class ThreadedServer:
    """
    An app that is served until `stop`, or until the end of a `with`.

    Port 0 is any that is free. *before_stop* ends open streams; it is called in the thread of the server.

    Raises:
        OSError: The port is taken, or the host is not one of this machine.

        ValueError: The port is not valid.
    """

    def __init__(
        self, app: ASGIApp, *, host: str = "127.0.0.1", port: int = 0, before_stop: Callable[[], None] = lambda: None
    ) -> None:
        self._socket = _bound(host, port)
        self._before_stop = before_stop
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
        """Without a slash at its end and without a version."""

        # The app has no lifespan; the program configures its logging.
        config = uvicorn.Config(
            app,
            loop="asyncio",
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running = Event()
        # A daemon: a program that does not stop it can still exit.
        self._thread = Thread(target=asyncio.run, args=(self._serve(),), name="mock-provider", daemon=True)
        self._thread.start()
        self._running.wait()

    def run(self, function: Callable[[], _T]) -> _T:
        """Call *function* in the thread of the server, and return its result."""
        if self._loop is None or not self._thread.is_alive():
            return function()

        async def call() -> _T:
            return function()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(_STOP_S)

    def stop(self) -> None:
        """End all streams and the server. A second call does nothing."""
        if self._thread.is_alive() and not self._server.should_exit:
            self.run(self._before_stop)
            self._server.should_exit = True
        self._thread.join(_STOP_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.stop()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._running.set()
        await self._server.serve([self._socket])


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:  # the resolver would use its last 16 bits
        raise ValueError(f"port: expected 0 to 65535, got {port}")
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, kind, protocol)
    try:
        # A port can be used again at once. On Windows it always can, and this would let two servers have the same.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(os.name == "posix"))
        bound.bind(address)
        bound.listen(1024)
    except OSError:
        bound.close()
        raise
    return bound
