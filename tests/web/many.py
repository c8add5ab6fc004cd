"""
A chat for very many browsers: `uvicorn tests.web.many:app`. Its answers need no network, and it shows what it uses.
"""

import asyncio
import os
import resource
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from assistant_events.live import MemoryLive
from assistant_events.session import Turns
from assistant_events.stores import MemoryStore
from assistant_events.web import ChatRoutes
from tests.session.scripted import DIALECT, HELLO

resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)


class Provider:
    """
    Answers everything with the same text.
    """

    dialect = DIALECT
    provider = "acme"

    def create(self, body, message_id, *, prior=None):
        return iter(HELLO)


async def move(session):
    """Ask the provider."""
    async with session.respond(Provider(), {"model": "acme-1"}) as events:
        async for _ in events:
            pass


@asynccontextmanager
async def lifespan(app):
    """Serve the chat as long as the server runs."""
    store = MemoryStore()
    async with MemoryLive(store) as live, Turns(store, move, client=Provider(), live=live) as turns:
        limits = {name: int(os.environ[name.upper()]) for name in ("max_streams", "max_streams_per_owner")}
        # No comment is ever due: a browser that has left is noticed without one.
        options = {"authorize": lambda request, _: request.headers.get("x-user"), "heartbeat_s": 3600, **limits}
        app.mount("/", ChatRoutes(turns, **options))
        yield


async def used(_request):
    """Return how many tasks and open files there are, and how much memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])  # noqa: ASYNC240 - not of a disk
    return JSONResponse(
        {
            "tasks": len(asyncio.all_tasks()),
            "files": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - as above
            "memory": pages * resource.getpagesize(),
        }
    )


app = Starlette(routes=[Route("/used", used)], lifespan=lifespan)
