"""
A server that makes turns, one of several on one store: `uvicorn tests.kills.server:app`.
"""

import os
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.live import MemoryLive
from assistant_events.session import Turns
from assistant_events.stores import SqliteStore
from tests.kills.serving import OWNER, routes
from tests.kills.trip import QUESTION, trip_move


@asynccontextmanager
async def lifespan(app):
    """Make turns as long as the server runs."""
    name = os.environ["WORKER"]
    with SqliteStore(os.environ["CHAT_DB"], synchronous="normal", timeout_s=60.0) as store:
        async with GeminiInteractions("key", base_url=os.environ["PROVIDER"]) as client, MemoryLive(store) as live:
            move = trip_move(client, os.environ["RUNS"], background=False, meta={"worker": name})
            async with Turns(store, move, client=client, live=live, worker=name, every_s=0.2, poll_s=0.05) as turns:
                app.state.turns = turns
                app.mount("/", routes(turns))
                yield


async def start(request):
    """Store the prompt, if it is the first, and start the turn: each server may be asked for the same session."""
    session = await request.app.state.turns.open(request.path_params["name"], owner=OWNER)
    await session.prompt(QUESTION, message_id="u1")
    request.app.state.turns.start(session)
    return Response(status_code=202)


app = Starlette(routes=[Route("/{name}", start, methods=["POST"])], lifespan=lifespan)
