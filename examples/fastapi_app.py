"""
A chat backend: users, tools, approvals and any number of tabs, on FastAPI and `ChatRoutes`.

    uvicorn --app-dir examples --timeout-graceful-shutdown 2 fastapi_app:app

Then open http://127.0.0.1:8000/ and log in as `ada` with the password `lovelace`. What a page may do with its sessions
is below `/api`, see `ChatRoutes`: prompt, watch, stop, edit, regenerate, allow and deny calls, delete. A turn runs in a
task of this process; a page that leaves cancels nothing, and one that comes back misses nothing. After a restart the
turns that were cut continue.
"""

import asyncio
import hmac
import os
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel

from assistant_events import Awaits, StepEnded, StepFailed, ToolFailed, ToolPart, Usage
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.live import MemoryLive
from assistant_events.session import Session, ToolRun, Turns, run_tools
from assistant_events.stores import AsyncStore, SqliteStore
from assistant_events.web import ChatRoutes

DATABASE = os.environ.get("CHAT_DB", "chat.db")
BASE_URL = os.environ.get("GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")
SECRET = os.environ.get("CHAT_SECRET") or secrets.token_hex()  # with a random one, a restart logs everyone out
USERS = dict(user.split(":", 1) for user in os.environ.get("CHAT_USERS", "ada:lovelace bob:builder").split())
SLOW_S = float(os.environ.get("CHAT_SLOW_S", "3"))


# -- users: a signed cookie, because an `EventSource` sends no header


def signed(name: str) -> str:
    return f"{name}.{hmac.digest(SECRET.encode(), name.encode(), 'sha256').hex()}"


def user_of(request: Request, _session_id: str | None = None) -> str:
    """Return the user who has logged in."""
    cookie = request.cookies.get("user", "")
    name = cookie.rpartition(".")[0]
    if name not in USERS or not hmac.compare_digest(cookie.encode(), signed(name).encode()):
        raise HTTPException(401, "log in first")
    return name


# -- tools


async def find_orders(run: ToolRun, customer: str) -> list[dict[str, object]]:
    """Take a while, and show how far it is."""
    for done in (0, 50):
        await run.progress(f"{done} %")
        await asyncio.sleep(SLOW_S / 2)
    return [{"order": 17, "customer": customer, "total": 40}]


async def read_thermometer(run: ToolRun, room: str) -> str:
    """Fail: the model is given the error, and answers with it."""
    raise RuntimeError(f"the thermometer of {room} does not answer")


async def refund(run: ToolRun, order: int, amount: int) -> str:
    """Do what a person has to allow. A payment service takes `run.key`, so that it never pays twice."""
    return f"order {order}: {amount} paid back"


TOOLS: dict[str, Callable[..., Awaitable[object]]] = {
    "find_orders": find_orders,
    "read_thermometer": read_thermometer,
    "refund": refund,
}
NUMBER, TEXT = {"type": "integer"}, {"type": "string"}
PARAMETERS = {
    "find_orders": {"customer": TEXT},
    "read_thermometer": {"room": TEXT},
    "refund": {"order": NUMBER, "amount": NUMBER},
}
BODY = {
    "model": "gemini-3.6-flash",
    "background": True,  # the run can be resumed after a restart
    "store": True,
    "tools": [
        {
            "type": "function",
            "name": name,
            "description": TOOLS[name].__doc__,
            "parameters": {"type": "object", "properties": properties, "required": list(properties)},
        }
        for name, properties in PARAMETERS.items()
    ],
}


def needs_approval(call: ToolPart) -> str | None:
    return f"It costs {call.arguments.get('amount')}." if call.name == "refund" else None


def interrupted(call: ToolPart) -> ToolFailed:
    return call.fail("The server stopped while it ran: whether it is done is not known.")


async def run_tool(run: ToolRun) -> object:
    return await TOOLS[run.call.name](run, **run.call.arguments)


# -- the app


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(AsyncStore(SqliteStore(DATABASE)))
        client = await stack.enter_async_context(GeminiInteractions(base_url=BASE_URL))

        async def move(session: Session) -> None:
            if session.transcript.awaits is Awaits.MODEL:
                async with session.respond(client, BODY) as events:
                    async for _ in events:
                        pass  # stored and published by the session
            else:
                await run_tools(session, run_tool, needs_approval=needs_approval, timeout_s=60)

        # The channel outlives the turns, so that the pages get the last of what is stored.
        live = await stack.enter_async_context(MemoryLive(store))
        turns = await stack.enter_async_context(
            Turns(store, move, client=client, live=live, alone=True, retry="empty", lost=interrupted)
        )
        app.state.store = store
        app.mount("/api", ChatRoutes(turns, authorize=user_of))
        yield


app = FastAPI(lifespan=lifespan)


class Login(BaseModel):
    name: str
    password: str


@app.post("/login", status_code=204)
async def login(given: Login) -> Response:
    if not hmac.compare_digest(USERS.get(given.name, "").encode(), given.password.encode()) or not given.password:
        raise HTTPException(401, "the name or the password is wrong")
    response = Response(status_code=204)
    response.set_cookie("user", signed(given.name), httponly=True, samesite="strict")
    return response


@app.get("/usage")
async def usage(request: Request) -> dict[str, int]:
    """Return the tokens that a user has used up, also those of answers that were replaced or stopped."""
    store: AsyncStore = app.state.store
    used: dict[object, Usage] = {}
    for info in await store.sessions(owner=user_of(request)):
        async for record in store.read(info.session_id):
            match record.event:
                # A run that was cut and resumed has several ends, and is one response.
                case StepEnded(run=run, usage=Usage() as counted) | StepFailed(run=run, usage=Usage() as counted):
                    used[run.id if run is not None else (info.session_id, record.seq)] = counted
                case _:
                    pass
    total = sum(used.values(), Usage())
    return {"input_tokens": total.input_tokens or 0, "output_tokens": total.output_tokens or 0}


@app.get("/")
async def page() -> FileResponse:
    return FileResponse(Path(__file__).with_name("chat.html"))
