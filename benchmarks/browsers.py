"""What browsers cost that watch sessions."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from starlette.requests import Request
from starlette.types import Message

from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.live import MemoryLive
from assistant_events.session import Session, Turns
from assistant_events.stores import SqliteStore
from assistant_events.testing import answer, durable, prompt
from assistant_events.web import ChatRoutes
from benchmarks.measure import Figure, Settings, tracing
from benchmarks.session import speak


def browsers(settings: Settings) -> Iterator[Figure]:
    """
    What do 10,000 browsers cost that watch a session each, and 100 that watch the same one?

    The routes without a network, on SQLite in a file. `bytes_each`: memory of an answer of events that waits. `growth`:
    the memory after 20 sessions have each had twenty answers of 500 deltas, over that after ten. `hundred`: CPU of an
    answer of 2,000 deltas that 100 browsers watch, over that of one browser.
    """
    yield from asyncio.run(_waiting(settings.scaled(10_000), settings.scaled(500)))
    deltas = settings.scaled(2_000)
    alone, hundred = [
        min(asyncio.run(_answered(number, deltas)) for _ in range(settings.repeats)) for number in (1, 100)
    ]
    detail = f"{deltas:,} deltas: {alone * 1e3:.0f} ms with one browser, {hundred * 1e3:.0f} ms with 100"
    yield Figure("hundred", hundred / alone, detail=detail)


class _Browser:
    """An answer of events that is open."""

    def __init__(self, routes: ChatRoutes, name: str) -> None:
        self.shown = asyncio.Event()
        self.ends = 0
        self._left = asyncio.Event()
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/sessions/{name}/events",
            "query_string": b"",
            "root_path": "",
            "headers": [],
        }
        self.task = asyncio.create_task(routes(scope, self._receive, self._send))

    async def leave(self) -> None:
        self._left.set()
        await self.task

    async def _receive(self) -> Message:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        body: bytes = message.get("body", b"")
        if b'"snapshot"' in body:
            self.shown.set()
        self.ends += b"step.ended" in body

    async def until_end(self, number: int) -> None:
        """Wait until a number of answers has ended."""
        while self.ends < number:  # noqa: ASYNC110 - an event for each would be measured, too
            await asyncio.sleep(0.001)


@asynccontextmanager
async def _routes(count: int) -> AsyncIterator[tuple[SqliteStore, MemoryLive, ChatRoutes]]:
    def authorize(_request: Request, _session_id: str | None) -> str:
        return "ada"

    async def move(_session: Session) -> None:
        raise AssertionError("nothing is due")

    client = GeminiInteractions("any")  # asks nothing
    with TemporaryDirectory() as folder, SqliteStore(Path(folder) / "chat.db", synchronous="normal") as store:
        async with MemoryLive(store) as live:
            turns = Turns(store, move, client=client, live=live)
            yield (
                store,
                live,
                ChatRoutes(turns, authorize=authorize, max_streams_per_owner=count, heartbeat_s=3600),
            )


async def _waiting(count: int, deltas: int) -> list[Figure]:
    names = [f"s{number}" for number in range(count)]
    async with _routes(count) as (store, live, routes):
        for name in names:
            store.append(name, [prompt(), *durable(answer("Hello"))], owner="ada")
        with tracing() as memory:
            watching = [_Browser(routes, name) for name in names]
            for browser in watching:
                await browser.shown.wait()
            gc.collect()
        await _speak_often(live, store, watching[:20], range(10), deltas)
        with tracing() as busy:
            await _speak_often(live, store, watching[:20], range(10, 20), deltas)
            gc.collect()
        for browser in watching:
            await browser.leave()
    each = memory.kept / count
    return [
        Figure("bytes_each", each, unit="bytes", detail=f"{count:,} browsers"),
        Figure("growth", (memory.kept + max(0, busy.kept)) / memory.kept, 1.1, detail="ten more answers of 20"),
    ]


async def _speak_often(
    live: MemoryLive, store: SqliteStore, watching: list[_Browser], numbers: range, deltas: int
) -> None:
    for number in numbers:
        for place, browser in enumerate(watching):
            await speak(live, store, f"s{place}", f"b{number}", deltas, pauses=True)
            await browser.until_end(number + 1)


async def _answered(count: int, deltas: int) -> float:
    async with _routes(count) as (store, live, routes):
        store.append("s1", [prompt(), *durable(answer("Hello"))], owner="ada")
        watching = [_Browser(routes, "s1") for _ in range(count)]
        for browser in watching:
            await browser.shown.wait()
        started = process_time()
        await speak(live, store, "s1", "b1", deltas, pauses=True)
        for browser in watching:
            await browser.until_end(1)
        cost = process_time() - started
        for browser in watching:
            await browser.leave()
    return cost
