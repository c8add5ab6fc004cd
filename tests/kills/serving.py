"""
What serves a session to a page. A server that dies is followed by another one on the same socket, which the test holds:
what connects while none of them runs is answered by the next one.
"""

import asyncio
import socket
from contextlib import asynccontextmanager

import uvicorn

from assistant_events.web import ChatRoutes

OWNER = "ada"


def listening():
    """
    Return a socket on which the servers of a page accept connections, one after another.
    """
    return socket.create_server(("127.0.0.1", 0))


def routes(turns):
    """
    Return the routes of the sessions, all of which belong to one owner.
    """
    return ChatRoutes(turns, authorize=lambda _request, _session_id: OWNER)


@asynccontextmanager
async def served(app, at):
    """
    Serve an app on a socket for a block, and give an event that is set once a page is connected.
    """
    connected = asyncio.Event()

    async def noting(scope, receive, send):
        async def sent(message):
            await send(message)
            if message.get("status") == 200:
                connected.set()

        await app(scope, receive, sent)

    config = uvicorn.Config(noting, lifespan="off", ws="none", log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[at]))
    try:
        yield connected
    finally:
        server.should_exit = True
        await serving
