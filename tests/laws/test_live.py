"""
Laws 17 and 18 on the memory channel: a subscriber that joins at any moment receives each record once and each fragment
whole, while one worker receives an answer, others write, and another worker may take the session over.
"""

import asyncio
from contextlib import aclosing, suppress
from itertools import cycle
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant_events.errors import (
    ClaimedError,
    ConflictError,
    FencedError,
    LocalProtocolError,
    PrunedError,
    StoreError,
)
from assistant_events.live import MemoryLive, topic
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.reducer import Builder, find_problems, fold
from assistant_events.session import Session
from assistant_events.stores import AsyncStore, MemoryStore, SqliteStore
from assistant_events.testing.live import judge
from assistant_events.testing.virtual_loop import VirtualLoop, run
from tests.session.scripted import Provider, line

CALL = {"id": "c1", "name": "weather"}
PIECES = ["Grüße, ", "👋 ", "x" * 3000, *"abcdef", "y" * 70_000, "z"]
TEXT = "".join(PIECES)
CHUNKS = [
    *[line(think=word) for word in "hmm"],
    *[line(write={**CALL, "delta": piece}) for piece in ('{"city"', ': "', "Oslo", '"}')],
    *[line(say=piece) for piece in PIECES],
    line(think="more") + line(say="second ") + line(say="text"),
    line(say=" ends"),
    line(stop="tool-calls"),
]
TIMES = st.sampled_from((0.0, 0.0, 0.001, 0.04, 0.06, 0.3, 1.1))
ACTS = ("prompt", "answer", "progress", "rewind", "cancel", "prune")


class DrawnLoop(VirtualLoop):
    """
    Calls of a store take a drawn time, before and after they are carried out, and overtake each other.
    """

    def __init__(self, delays):
        super().__init__()
        self.delays = cycle(delays)

    def run_in_executor(self, _executor, func, *args):
        future = self.create_future()

        def settle(set_it, value):
            if not future.done():
                set_it(value)

        def call():
            try:
                settled = future.set_result, func(*args)
            except Exception as error:  # noqa: BLE001 - raised where the call is awaited
                settled = future.set_exception, error
            self.call_later(next(self.delays), settle, *settled)

        self.call_later(next(self.delays), call)
        return future


class Slow:
    """
    A client whose chunks come after drawn times; the same again when it is resumed.
    """

    dialect = Provider.dialect
    provider = Provider.provider

    def __init__(self, pauses):
        self.pauses = pauses

    async def create(self, _body, _message_id, **_more):
        for chunk, pause in zip(CHUNKS, cycle(self.pauses), strict=False):
            await asyncio.sleep(pause)
            yield chunk

    def resume(self, message, *, request=None):
        return self.create({}, message.id)

    def stop(self, target):
        pass


class Watcher:
    """
    Joins at a drawn time with a drawn part of the log, and judges what it is given.
    """

    def __init__(self, live, store, *, joins_at, skips, pause, repeats):
        self.builder = Builder()
        self.task = asyncio.create_task(self.watch(live, store, joins_at, skips, pause, repeats))

    async def watch(self, live, store, joins_at, skips, pause, repeats):
        await asyncio.sleep(joins_at)
        start = store.load_snapshot("s1")
        log = list(store.read("s1", 0 if start is None else start.seq))
        self.builder = Builder(fold(log[: len(log) * skips // 4], start=start))
        while True:
            with suppress(PrunedError):
                await self.follow(live, pause, repeats)
            self.builder = Builder(store.load_snapshot("s1"))

    async def follow(self, live, pause, repeats):
        async with aclosing(live.subscribe("s1", self.builder.seq)) as source:
            async for item in source:
                judge(self.builder, item, repeats=repeats)
                if not repeats:
                    check_texts(self.builder.transcript)
                await asyncio.sleep(pause)

    async def leave(self, seq):
        """
        Wait until it has the log, and return what it was given.
        """
        async with asyncio.timeout(600):
            while self.builder.seq < seq and not self.task.done():  # noqa: ASYNC110 - it costs no time
                await asyncio.sleep(0.1)
        self.task.cancel()
        await asyncio.wait((self.task,))
        if not self.task.cancelled():
            self.task.result()
        return self.builder.transcript


def check_texts(transcript):
    """
    The open text is a prefix of the text of the provider.
    """
    answer = transcript.get("a1")
    said = [part.text for part in answer.parts if part.type == "text"] if answer is not None else []
    for text, whole in zip(said, (TEXT, "second text ends"), strict=False):
        assert whole.startswith(text)


async def act(store, other, name):
    """
    Do something to the session that another one receives, if it can be done.
    """
    message = other.transcript.get("a1")
    calls = message.pending_tool_calls if isinstance(message, AssistantMessage) else ()
    with suppress(LocalProtocolError, ConflictError, StoreError):
        match name:
            case "prompt":
                await other.prompt("And?")
            case "answer":
                await other.append(*[call.succeed("rain") for call in calls])
            case "progress" if calls and message.status is MessageStatus.COMPLETED:
                await other.show(*[call.progress("half") for call in calls])
            case "rewind" if message is not None:
                await other.rewind("a1")
            case "cancel" if message is not None:
                await other.stop()
            case "prune":
                await other.snapshot()
                await store.prune("s1", other.seq)


async def take_over(store, live, at):
    """
    Take the session from its worker, who learns nothing of it, and close what it has left.
    """
    await asyncio.sleep(at)
    if await store.take_over("new", dead_after_s=0):
        session = await Session.open(store, "s1", live=live, worker="new")
        async with session.claimed():
            while True:
                await session.refresh()
                with suppress(ConflictError):  # another one has rewound it meanwhile
                    await session.reconcile(abandon_runs=True)
                    break


async def play(store, plan):
    async_store = AsyncStore(store)
    live = MemoryLive(async_store)
    async with live:
        receiver = await Session.open(async_store, "s1", live=live, worker="old")
        other = await Session.open(async_store, "s1", live=live)
        await receiver.prompt("Hello", message_id="u1")
        taken = plan["takeover"] is not None
        watchers = [
            Watcher(live, store, joins_at=at, skips=skips, pause=pause, repeats=taken)
            for at, skips, pause in plan["joins"]
        ]

        async def receive():
            with suppress(ClaimedError, FencedError, LocalProtocolError):
                async with receiver.respond(Slow(plan["pauses"]), {}, message_id="a1") as events:
                    async for _ in events:
                        pass

        async def write():
            for at, name in plan["acts"]:
                await asyncio.sleep(at)
                await other.refresh()
                await act(async_store, other, name)

        tasks = [receive(), write()]
        if taken:
            tasks.append(take_over(async_store, live, plan["takeover"]))
        await asyncio.gather(*tasks)
        await asyncio.sleep(2)
        await other.prompt("Still here?", abandon_calls=True)
        seen = [await watcher.leave(other.seq) for watcher in watchers]
        start = store.load_snapshot("s1")
        records = list(store.read("s1", 0 if start is None else start.seq))
        assert [] == find_problems(records, start=start)
        assert [fold(records, start=start)] * len(seen) == seen
        await asyncio.sleep(5)  # two calls of the store that have begun, one after another, take less
        assert {} == live._topics
    return records


PLANS = st.fixed_dictionaries(
    {
        "delays": st.lists(TIMES, min_size=1, max_size=7),
        "pauses": st.lists(TIMES, min_size=1, max_size=7),
        "joins": st.lists(st.tuples(TIMES, st.integers(0, 4), TIMES), min_size=1, max_size=4),
        "acts": st.lists(st.tuples(TIMES, st.sampled_from(ACTS)), max_size=5),
        "takeover": st.none() | TIMES,
        "kept": st.sampled_from((1, 3, 256)),
    }
)


@pytest.mark.parametrize("make_store", [MemoryStore, lambda: SqliteStore(":memory:")], ids=["memory", "sqlite"])
@given(PLANS)
@example(
    # Another look at the log came further while one read what was pruned.
    {
        "delays": [0.0, 0.3, 0.3, 0.3, 0.0, 0.06],
        "pauses": [0.0, 0.3],
        "joins": [(0.001, 0, 0.0)],
        "acts": [(0.0, "answer"), (0.04, "prune")],
        "takeover": None,
        "kept": 3,
    }
)
@example(
    {
        "delays": [0.001, 0.06, 1.1],
        "pauses": [0.0, 1.1],
        "joins": [(0.0, 0, 0.0), (0.3, 0, 0.0), (0.3, 0, 0.0), (1.1, 0, 0.0)],
        "acts": [(0.0, "prune")],
        "takeover": None,
        "kept": 1,
    }
)
def test_late_is_whole(make_store, plan):
    """
    What a subscriber is given applies, item for item, and folds to the transcript of the log.
    """
    with make_store() as store, patch.object(topic, "_MAX_ITEMS", plan["kept"]):
        run(play(store, plan), loop=lambda: DrawnLoop(plan["delays"]))
