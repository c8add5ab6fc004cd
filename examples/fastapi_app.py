"""
A chat behind FastAPI: the app holds the run, browsers only watch.

    uvicorn --app-dir examples --timeout-graceful-shutdown 2 fastapi_app:app

    POST /chats/{name}          {"prompt": "…"}: begins an answer and returns at once
    GET  /chats/{name}/events   server-sent events: what is stored after `Last-Event-ID`, then everything as it comes

A browser that leaves cancels nothing, one that comes late misses nothing, and any number of them may watch.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from assistant_events import Awaits, Event, StepEnded, StepFailed, redact
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.converters import dumps
from assistant_events.session import EventStream, Session
from assistant_events.stores import SqliteStore

DATABASE = os.environ.get("CHAT_DB", "chat.db")
BASE_URL = os.environ.get("GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")
BODY = {"model": "gemini-3.6-flash", "background": True, "store": True}


def frame(event: Event, seq: int | None) -> bytes:
    """Return one server-sent event. Only what is stored has an id, so that a browser comes back to where it was."""
    # Without an `event:` line, so that `EventSource.onmessage` gets it.
    head = b"" if seq is None else b"id: %d\n" % seq
    return b"%sdata: %s\n\n" % (head, dumps(redact(event)))


class Chat:
    """One session, the task that receives its answer, and its readers."""

    def __init__(self, store: SqliteStore, session: Session) -> None:
        self.session = session
        self.task: asyncio.Task[None] | None = None
        # From a prompt to the end of its answer; the task is a little longer busy with its connection.
        self.busy = False
        self._store = store
        self._told = session.seq  # the place of the last durable event that was handed on
        self._open: dict[tuple[str | None, ...], list[bytes]] = {}  # live events of each fragment that is open
        self._watchers: set[asyncio.Queue[bytes]] = set()

    async def ask(self, client: GeminiInteractions, prompt: str) -> None:
        """Store a prompt and begin to receive its answer, in a task that continues when the sender has left."""
        self.busy = True
        try:
            if self.task is not None:
                await asyncio.wait((self.task,))
            for record in await self.session.prompt(prompt):
                self._tell(record.event, record.seq)
        except BaseException:
            self.busy = False
            raise
        self.receive(client, self.session.respond(client, BODY))

    def receive(self, client: GeminiInteractions, stream: EventStream) -> None:
        self.busy = True
        self.task = asyncio.create_task(self._receive(client, stream))

    async def take_up(self, client: GeminiInteractions) -> None:
        """Go on after a restart: close or resume what was left open, and answer a prompt that has no answer."""
        await self.session.reconcile()
        self._told = self.session.seq
        awaits = self.session.transcript.awaits
        if awaits is Awaits.PROVIDER:
            self.receive(client, self.session.resume(client))
        elif awaits is Awaits.MODEL:
            self.receive(client, self.session.respond(client, BODY))

    async def close(self) -> None:
        """Stop receiving. The answer is closed in the log, and its run can be resumed after the next start."""
        if self.task is not None:
            self.task.cancel()
            with suppress(asyncio.CancelledError):
                await self.task

    async def watch(self, after: int) -> AsyncIterator[bytes]:
        """Give the frames after a place in the log, and then everything as it comes."""
        # The transcript and the queue are taken in one go: nothing is missed, and nothing comes twice.
        told, now_open = self._told, [live for lives in self._open.values() for live in lives]
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._watchers.add(queue)
        try:
            for record in await asyncio.to_thread(lambda: list(self._store.read(self.session.session_id, after))):
                if record.seq <= told:
                    yield frame(record.event, record.seq)
            for live in now_open:
                yield live
            while True:
                yield await queue.get()
        finally:
            self._watchers.discard(queue)

    async def _receive(self, client: GeminiInteractions, stream: EventStream) -> None:
        try:
            while True:
                async with stream as events:
                    async for event in events:
                        self._tell(event, events.seq)
                if self.session.transcript.awaits is not Awaits.MODEL:
                    return
                stream = self.session.respond(client, BODY)  # a paused answer is continued
        finally:
            self.busy = False

    def _tell(self, event: Event, seq: int) -> None:
        if isinstance(event, (StepEnded, StepFailed)):
            self.busy = self.session.transcript.awaits is Awaits.MODEL
        fragment = (event.message_id, event.type.rpartition(".")[0], getattr(event, "call_id", None))
        if event.durable:
            self._told = seq
            if event.type.startswith("step."):
                self._open.clear()
            else:
                self._open.pop(fragment, None)
            told = frame(event, seq)
        else:
            told = frame(event, None)
            self._open.setdefault(fragment, []).append(told)
        for queue in self._watchers:
            queue.put_nowait(told)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    chats: dict[str, Chat] = {}
    with SqliteStore(DATABASE) as store:
        async with GeminiInteractions(base_url=BASE_URL) as client:
            app.state.store, app.state.client, app.state.chats = store, client, chats
            for session_id in store.unfinished():
                await (await chat_of(session_id)).take_up(client)
            yield
            await asyncio.gather(*[chat.close() for chat in chats.values()])


app = FastAPI(lifespan=lifespan)


async def chat_of(name: str) -> Chat:
    chats: dict[str, Chat] = app.state.chats
    if name not in chats:
        session = await Session.open(app.state.store, name)
        chats.setdefault(name, Chat(app.state.store, session))
    return chats[name]


class Prompt(BaseModel):
    prompt: str


@app.post("/chats/{name}", status_code=202)
async def ask(name: str, given: Prompt) -> dict[str, str]:
    chat = await chat_of(name)
    if chat.busy:
        raise HTTPException(409, "an answer is on its way")
    await chat.ask(app.state.client, given.prompt)
    return {"events": f"/chats/{name}/events"}


@app.get("/chats/{name}/events")
async def events(name: str, last_event_id: Annotated[int, Header()] = 0) -> StreamingResponse:
    chat = await chat_of(name)
    return StreamingResponse(chat.watch(last_event_id), media_type="text/event-stream")
