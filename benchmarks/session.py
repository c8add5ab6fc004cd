"""What sessions, live channels and checkpoints add to decoding an answer."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, TypeVar

import attrs

from assistant_events import Record
from assistant_events import events as ev
from assistant_events.adapters.gemini_interactions import dialect
from assistant_events.live import Live, MemoryLive
from assistant_events.session import Session
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import answer, durable, origin, prompt
from benchmarks.answers import ANSWERS
from benchmarks.decode import consume
from benchmarks.limit import parse_all
from benchmarks.measure import Figure, Settings, compare, ratio_figure, tracing
from benchmarks.wire import CHUNK, in_chunks, interactions

_T = TypeVar("_T")

_SESSION_GOAL = 0.25
_PUBLISH_GOAL = 0.3
_JOIN_GOAL_MS = 50.0
_CHECKPOINT_GOAL = 1.2

# Any: what a coroutine exchanges with its event loop.
_Receive = Callable[[], Coroutine[Any, Any, None]]


def session_stream(settings: Settings) -> Iterator[Figure]:
    """
    What does `async for` over the events of a session cost more than decoding and folding the same stream?

    The streams of `sse_to_message` in chunks of 16 KiB and, as `_live`, one event a chunk; a memory store, so that
    SQLite does not count. The difference, over the limit; both run in a task of an event loop. `_floor`: an `async for`
    over an asynchronous generator that does nothing but read the same events from another one, over the same limit.
    """
    with asyncio.Runner() as runner:
        for case, chunks in _streams(settings):
            received = _running(runner, _receiver(chunks))
            difference = _Difference(received, _running(runner, _consumer(chunks)), chunks)
            yield difference.figure(case, settings, _SESSION_GOAL, "async for over a session, less decode and build")
            floor = compare(_running(runner, _floor(chunks)), lambda: parse_all(b"".join(chunks)), settings)  # noqa: B023
            yield ratio_figure(f"{case}_floor", floor, detail="two nested async for, which give the same events")


def live_publish(settings: Settings) -> Iterator[Figure]:
    """
    What does publishing to a live channel cost more than not publishing?

    As `session_stream`, with a channel that has one subscriber, and 100; the difference to a session without one, over
    the limit. Each subscriber receives everything. On both sides other tasks run after each 16 KiB, or a subscriber
    would receive nothing before the end.
    """
    store = MemoryStore()
    live = MemoryLive(store, poll_s=None)
    with asyncio.Runner() as runner:
        runner.run(live.__aenter__())
        for case, chunks in _streams(settings):
            alone = _running(runner, _receiver(chunks, pauses=True))
            many = attrs.evolve(settings, repeats=3 * settings.repeats)  # the sides differ by a few percent
            for watchers, goal, thoroughly in ((1, _PUBLISH_GOAL, many), (100, None, settings.fewer())):
                difference = _Difference(_running(runner, _watched(chunks, store, live, watchers)), alone, chunks)
                detail = f"{watchers} subscribers, less none"
                yield difference.figure(f"{case}_{watchers}", thoroughly, goal, detail)
        runner.run(live.__aexit__())


def live_join(settings: Settings) -> Iterator[Figure]:
    """
    How long does a subscriber wait that joins while 1 MB of text is open?

    200 joins, one after another, while deltas are published: from `subscribe` to the frame with the whole text, in
    milliseconds of wall time.
    """
    size = settings.scaled(1_000_000)
    times = asyncio.run(_join(size, settings.scaled(200)))
    times.sort()
    yield Figure("p50_ms", times[len(times) // 2], unit="ms", detail=f"{len(times)} joins at {size:,} characters")
    yield Figure("p99_ms", times[int(len(times) * 0.99)], _JOIN_GOAL_MS, unit="ms")


def live_watchers(settings: Settings) -> Iterator[Figure]:
    """
    What do 10,000 watched sessions cost in one process?

    SQLite in a file, one subscriber a session. `bytes_each`: memory of a subscriber that waits. `growth`: the memory
    after 100 sessions have each had four answers of 2,000 deltas, over that after the first of them. `poll_share`: CPU
    for the looks at the store, as a share of one processor.
    """
    watched = settings.scaled(10_000)
    with TemporaryDirectory() as folder, SqliteStore(Path(folder) / "chat.db", synchronous="normal") as store:
        yield from asyncio.run(_watch_many(store, watched, settings))


def checkpoints(settings: Settings) -> Iterator[Figure]:
    """
    What do checkpoints cost an answer of 20 s?

    4,000 deltas, 200 a second, in SQLite with `synchronous=normal`. `bytes`: text that is handed to
    checkpoints over the text of the answer. `cpu`: CPU with checkpoints over CPU without.
    """
    deltas = settings.scaled(4_000)
    with TemporaryDirectory() as folder, SqliteStore(Path(folder) / "chat.db", synchronous="normal") as store:
        handed: list[int] = []
        write = store.checkpoint

        def counted(session_id: str, given: Sequence[ev.DeltaEvent], **more: Any) -> None:
            handed.append(sum(len(delta.delta) for delta in given))
            write(session_id, given, **more)

        store.checkpoint = counted  # type: ignore[method-assign, assignment]
        costs = [asyncio.run(_slow_answer(store, deltas, every)) for every in (0.5, None)]
    characters = len(ANSWERS["chat"](deltas / 2_000).text)
    detail = f"{len(handed)} checkpoints in {deltas * 0.005:.0f} s, {costs[0] * 1e6 / deltas:.1f} us a delta with them"
    yield Figure("bytes", sum(handed) / characters, _CHECKPOINT_GOAL, detail=detail)
    yield Figure("cpu", costs[0] / costs[1], detail="with checkpoints over without; the pauses are not counted")


def _streams(settings: Settings) -> Iterator[tuple[str, list[bytes]]]:
    for name, make in ANSWERS.items():
        frames = list(interactions(make(settings.scale)))
        yield name, in_chunks(frames)
        yield f"{name}_live", frames


@attrs.frozen
class _Difference:
    """What one side costs more than another, which both take the same stream."""

    candidate: Callable[[], object]
    without: Callable[[], object]
    chunks: Sequence[bytes]

    def figure(self, case: str, settings: Settings, goal: float | None, detail: str) -> Figure:
        """Measure both alternately, and return the difference over the limit."""
        data = b"".join(self.chunks)
        limit = compare(self.without, lambda: parse_all(data), settings).ratio
        samples = tuple((ratio - 1) * limit for ratio in compare(self.candidate, self.without, settings).ratios)
        return Figure(case, median(samples), goal, samples=samples, detail=detail)


def _running(runner: asyncio.Runner, receive: _Receive) -> Callable[[], None]:
    return lambda: runner.run(receive())


def _receiver(chunks: Sequence[bytes], *, pauses: bool = False) -> _Receive:
    async def receive() -> None:
        await _decode(await Session.open(MemoryStore(), "s"), _paused(chunks) if pauses else _given(chunks))

    return receive


def _consumer(chunks: Sequence[bytes]) -> _Receive:
    async def receive() -> None:
        consume(chunks)

    return receive


def _floor(chunks: Sequence[bytes]) -> _Receive:
    decoder = dialect.decoder("m1")
    fed = [decoder.feed(chunk) for chunk in chunks]

    async def events() -> AsyncIterator[ev.Event]:
        async for each in _given(fed):
            for event in each:
                yield event

    async def receive() -> None:
        async for _ in events():
            pass

    return receive


async def _decode(session: Session, chunks: AsyncIterator[bytes]) -> None:
    async with session.decode(dialect.decoder("m1"), chunks) as events:
        async for _ in events:
            pass


async def _given(chunks: Sequence[_T]) -> AsyncIterator[_T]:
    for chunk in chunks:
        yield chunk


async def _paused(chunks: Sequence[bytes]) -> AsyncIterator[bytes]:
    size = 0
    for chunk in chunks:
        yield chunk
        size += len(chunk)
        if size >= CHUNK:
            size = 0
            await asyncio.sleep(0)


def _watched(chunks: Sequence[bytes], store: MemoryStore, live: MemoryLive, watchers: int) -> _Receive:
    async def watch(name: str) -> None:
        async with aclosing(live.subscribe(name)) as items:
            async for item in items:
                if isinstance(item, Record) and item.event.type == "step.ended":
                    return

    async def receive() -> None:
        name = "s"
        watching = [asyncio.create_task(watch(name)) for _ in range(watchers)]
        await _decode(await Session.open(store, name, live=live), _paused(chunks))
        await asyncio.gather(*watching)
        store.delete(name)

    return receive


async def _join(size: int, joins: int) -> list[float]:
    store, times = MemoryStore(), list[float]()
    async with MemoryLive(store, poll_s=None) as live:
        started = ev.StepStarted(message_id="a1", origin=origin())
        live.publish("s", store.append("s", [prompt(), started, ev.TextStarted(message_id="a1")]), after=0)
        pieces = [ev.TextDelta(message_id="a1", offset=at, delta="abcd") for at in range(0, size, 4)]
        live.publish("s", pieces, after=3)
        offset = 4 * len(pieces)
        for _ in range(joins):
            live.publish("s", [ev.TextDelta(message_id="a1", offset=offset, delta="abcd")], after=3)
            offset += 4
            began = perf_counter()
            async with aclosing(live.subscribe("s", after=3)) as items:
                async for item in items:
                    if not isinstance(item, Record):
                        assert sum(len(getattr(each, "delta", "")) for each in item.events) >= size
                        break
            times.append((perf_counter() - began) * 1e3)
    return times


async def _watch_many(store: SqliteStore, watched: int, settings: Settings) -> list[Figure]:
    deltas, wait_s = settings.scaled(2_000), max(0.6, 5 * settings.scale)
    names = [f"s{number}" for number in range(watched)]
    for name in names:
        store.append(name, [prompt(), *durable(answer("Hello"))], expected_seq=0, unfinished=())

    joined, left = asyncio.Event(), set(names)

    async def watch(live: Live, name: str) -> None:
        async for _ in live.subscribe(name):
            left.discard(name)
            if not left:
                joined.set()

    async with MemoryLive(store) as live:
        with tracing() as memory:
            watching = [asyncio.create_task(watch(live, name)) for name in names]
            await joined.wait()
        before = memory.kept
        for name in names[:100]:
            await speak(live, store, name, "b0", deltas)
        with tracing() as busy:
            for number in range(1, 4):
                for name in names[:100]:
                    await speak(live, store, name, f"b{number}", deltas)
            await asyncio.sleep(wait_s)
            gc.collect()
        started, began = process_time(), perf_counter()
        await asyncio.sleep(wait_s)
        share = (process_time() - started) / (perf_counter() - began)
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
    return [
        Figure("bytes_each", before / watched, unit="bytes", detail=f"{watched:,} watched sessions"),
        Figure(
            "growth", (before + busy.kept) / before, 1.1, detail="memory after four answers of 100 sessions over one"
        ),
        Figure("poll_share", share, unit="", detail="of one processor, for a look at every session twice a second"),
    ]


async def speak(
    live: Live, store: SqliteStore, name: str, message_id: str, deltas: int, *, pauses: bool = False
) -> None:
    """Store and publish an answer to a session; with *pauses*, other tasks run after each 100 deltas."""
    after = store.seq(name)
    started: list[ev.Event] = [
        ev.StepStarted(message_id=message_id, origin=origin()),
        ev.TextStarted(message_id=message_id),
    ]
    live.publish(name, store.append(name, started), after=after)
    for offset in range(0, 4 * deltas, 4):
        live.publish(name, [ev.TextDelta(message_id=message_id, offset=offset, delta="abcd")], after=after + 2)
        if pauses and offset % 400 == 0:
            await asyncio.sleep(0)
    text = ev.TextEnded(message_id=message_id, text="abcd" * deltas)
    ended = store.append(name, [text, ev.StepEnded(message_id=message_id, finish_reason="stop")])
    live.publish(name, ended, after=after + 2)
    await asyncio.sleep(0)


async def _slow_answer(store: SqliteStore, deltas: int, every_s: float | None) -> float:
    frames = list(interactions(ANSWERS["chat"](deltas / 2_000)))

    async def chunks() -> AsyncIterator[bytes]:
        for number, frame in enumerate(frames):
            if number % 20 == 0:
                await asyncio.sleep(0.1)
            yield frame

    started = process_time()
    session = await Session.open(store, f"s{every_s}", checkpoint_s=every_s)
    async with session.decode(dialect.decoder("m1"), chunks()) as events:
        async for _ in events:
            pass
    return process_time() - started
