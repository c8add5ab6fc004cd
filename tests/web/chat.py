"""
A chat whose provider the tests control, and a browser that asks its routes without a network.
"""

import asyncio
import json
from contextlib import asynccontextmanager
from types import SimpleNamespace
from urllib.parse import unquote

import uvicorn

from assistant_events import Awaits, Frame, Record, Transcript, fold
from assistant_events.converters import structure
from assistant_events.live import MemoryLive
from assistant_events.session import Turns, run_tools
from assistant_events.stores import MemoryStore
from assistant_events.web import ChatRoutes
from tests.session import scripted

SECONDS = 30


def run(main):
    """
    Run a coroutine, for a bounded time.
    """
    asyncio.run(asyncio.wait_for(main, SECONDS))


async def until(condition):
    """
    Wait for a condition.
    """
    async with asyncio.timeout(SECONDS):
        met = condition()
        while not met:
            await asyncio.sleep(0.005)
            met = condition()


class Provider(scripted.Provider):
    """
    Answers with chunks, and waits where an answer has an `asyncio.Event`.
    """

    async def _sent(self, chunks):
        for chunk in chunks:
            if isinstance(chunk, asyncio.Event):
                await chunk.wait()
            else:
                yield chunk


def authorize(request, _session_id):
    """
    Return the user that the header names.
    """
    return request.headers.get("x-user")


@asynccontextmanager
async def chat(
    *answers, store=None, live=None, tool=lambda _run: "rain", asks=None, turns=(), of_browser=(), **options
):
    """
    Open a chat: its routes, store, turns and provider.
    """
    store = MemoryStore() if store is None else store
    provider = Provider(*answers)

    async def move(session):
        if session.transcript.awaits is Awaits.MODEL:
            async with session.respond(provider, {"model": "acme-1"}) as events:
                async for _ in events:
                    pass
        else:
            await run_tools(session, tool, needs_approval=asks, of_browser=of_browser)

    async with MemoryLive(store, flush_s=0.005, poll_s=0.02) as channel:
        live = channel if live is None else live
        more = {"every_s": 0.05, "poll_s": 0.01, "of_browser": of_browser, **dict(turns)}
        async with Turns(store, move, client=provider, live=live, **more) as running:
            routes = ChatRoutes(running, **{"authorize": authorize, **options})
            yield SimpleNamespace(
                routes=routes, store=store, turns=running, live=live, provider=provider, ada=Browser(routes)
            )


class Instead:
    """
    Turns with another store or channel.
    """

    def __init__(self, turns, **parts):
        vars(self).update(parts)
        self.turns = turns

    def __getattr__(self, name):
        return getattr(self.turns, name)


class Browser:
    """
    Asks an ASGI app as one user.
    """

    def __init__(self, app, user="ada"):
        self.app = app
        self.headers = {"host": "chat.example", "x-user": user}

    async def get(self, path, **headers):
        """Return the answer to a GET."""
        return await self.send("GET", path, (), headers)

    async def post(self, path, document=None, *, body=None, **headers):
        """Return the answer to a POST of JSON, or of the pieces of a body."""
        pieces = [json.dumps({} if document is None else document).encode()] if body is None else body
        return await self.send("POST", path, pieces, {"content-type": "application/json", **headers})

    async def delete(self, path, **headers):
        """Return the answer to a DELETE."""
        return await self.send("DELETE", path, (), headers)

    async def send(self, method, path, pieces, headers):
        """Return the answer to any request whose answer has an end."""
        exchange = Exchange(self._scope(method, path, headers), pieces)
        await asyncio.wait_for(self.app(exchange.scope, exchange.receive, exchange.send), SECONDS)
        return exchange

    @asynccontextmanager
    async def watch(self, path, **headers):
        """Open server-sent events, and leave at the end of the block."""
        exchange = Exchange(self._scope("GET", path, headers), ())
        exchange.task = asyncio.create_task(self.app(exchange.scope, exchange.receive, exchange.send))
        try:
            await until(lambda: exchange.status or exchange.task.done())
            yield exchange
        finally:
            exchange.left.set()
            await asyncio.wait_for(asyncio.wait((exchange.task,)), SECONDS)

    def _scope(self, method, path, headers):
        given = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        path, _, query = path.partition("?")
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in given.items() if value is not None],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }


class Exchange:
    """
    One request and its answer.
    """

    def __init__(self, scope, pieces):
        self.scope = scope
        self.pieces = list(pieces)
        self.asked = False
        self.left = asyncio.Event()
        self.status = None
        self.headers = {}
        self.body = b""
        self.ended = False
        self.task = None
        self.reads = None
        """Cleared by a test, it keeps the server from sending."""

        self.last = None
        """The last id of an event, which a browser sends when it connects again."""

        self._new = asyncio.Event()
        self._place = 0

    async def receive(self):
        """Give the body, and then wait until the browser leaves."""
        if not self.asked:
            piece = self.pieces.pop(0) if self.pieces else b""
            self.asked = not self.pieces
            return {"type": "http.request", "body": piece, "more_body": bool(self.pieces)}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        """Take the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        assert "http.response.body" == message["type"]
        if self.reads is not None:
            await self.reads.wait()
        self.body += message.get("body", b"")
        self.ended = not message.get("more_body", False)
        self._new.set()

    @property
    def document(self):
        """The JSON of the answer."""
        return json.loads(self.body)

    async def next(self):
        """
        Return the next event as `(id, event, document)`; comments and `retry` are left out.

        The id is without its mark; `last` is the whole one.
        """
        async with asyncio.timeout(SECONDS):
            while True:
                end = self.body.find(b"\n\n", self._place)
                if end < 0:
                    assert not self.ended, "the answer has ended"
                    self._new.clear()
                    await self._new.wait()
                    continue
                block, self._place = self.body[self._place : end].decode(), end + 2
                fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
                self.last = fields.get("id", self.last)
                if "data" in fields:
                    seq = self.last.partition(".")[0] if "id" in fields else None
                    return seq, fields.get("event"), json.loads(fields["data"])

    async def until(self, type_):
        """Return the events up to the first with an event, or a document, of a type."""
        found = []
        while True:
            found.append(await self.next())
            document = found[-1][2]
            inner = [document.get("event", document), *document.get("events", ())]
            if type_ in {found[-1][1], *[each.get("type") for each in inner]}:
                return found


@asynccontextmanager
async def serving(app):
    """
    Serve an ASGI app on a port, and give its address.
    """
    config = uvicorn.Config(app, port=0, lifespan="off", ws="none", log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    try:
        await until(lambda: server.started)
        yield "127.0.0.1", server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task


def folded(events):
    """
    Return the transcript that a browser makes of events: the texts of the messages.
    """
    start, items = Transcript(), []
    for _, _, document in events:
        kind, plain = document["type"], {name: value for name, value in document.items() if name != "type"}
        if kind == "snapshot":
            start, items = structure(plain, Transcript), []
        elif kind in {"record", "frame"}:
            items.append(structure(plain, Record if kind == "record" else Frame))
    return [message.text for message in fold(items, start=start)]
