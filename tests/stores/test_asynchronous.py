"""
The asynchronous face: the same verbs, in order, off the event loop.
"""

import asyncio
import inspect
import threading

import pytest

from assistant_events.errors import ConflictError, FencedError, StoreError
from assistant_events.events import TextDelta, TextEnded
from assistant_events.reducer import fold
from assistant_events.stores import AsyncStore, MemoryStore, SqliteStore, Store
from assistant_events.testing.store_samples import TURN


def texts(count):
    return [TextEnded(message_id="m1", text=f"{number}") for number in range(count)]


async def everything(records):
    return [record async for record in records]


class Slow(MemoryStore):
    """
    A store whose first append waits until it is let go.
    """

    def __init__(self):
        super().__init__()
        self.begun = threading.Event()
        self.go = threading.Event()

    def append(self, *args, **kwargs):
        self.begun.set()
        assert self.go.wait(30)
        return super().append(*args, **kwargs)


def test_every_verb_is_there():
    """
    What a Store can do, an AsyncStore can, with the same parameters and words.
    """
    verbs = {name for name, member in vars(Store).items() if inspect.isfunction(member) and name[0] != "_"}

    for name in verbs:
        verb, face = getattr(Store, name), getattr(AsyncStore, name)
        if name == "close":
            assert inspect.iscoroutinefunction(face)
        elif name == "read":
            assert inspect.isasyncgenfunction(face)
            assert list(inspect.signature(verb).parameters) == list(inspect.signature(face).parameters)
        else:
            assert inspect.iscoroutinefunction(face)
            assert inspect.signature(verb) == inspect.signature(face)
            assert verb.__doc__ == face.__doc__


def test_the_verbs_do_what_they_do(make_store):
    """
    A life of a session through coroutines, with every kind of store.
    """

    async def main():
        async with AsyncStore(make_store()) as store:
            written = await store.append("s", TURN, expected_seq=0, meta={"a": 1})
            assert list(written) == await everything(store.read("s"))
            assert list(written[3:5]) == await everything(store.read("s", 3, limit=2))
            assert len(TURN) == await store.seq("s")
            assert ["s"] == [info.session_id for info in await store.sessions()]
            assert {"s"} == set(await store.unfinished())
            with pytest.raises(ConflictError):
                await store.append("s", texts(1), expected_seq=1)
            transcript = fold(written)
            await store.snapshot("s", transcript)
            assert transcript == await store.load_snapshot("s")
            await store.prune("s", 2)
            assert len(TURN) == await store.fork("s", "t")
            claim = await store.claim("s", "w1")
            await store.append("s", texts(1), token=claim.token)
            await store.checkpoint("t", [TextDelta(message_id="m9", offset=0, delta="a")])
            assert ["a"] == [piece.delta for piece in await store.load_checkpoints("t")]
            await store.beat("w1")
            assert ["t"] == [taken.session_id for taken in await store.take_over("w2")]
            await store.release(claim)
            with pytest.raises(FencedError):
                await store.append("s", texts(1), token=claim.token)
            await store.delete("s")
            assert ["t"] == [info.session_id for info in await store.sessions()]

    asyncio.run(main())


def test_long_logs_are_read_in_pages():
    """
    Reading fetches many pages and may stop early.
    """

    async def main():
        async with AsyncStore(MemoryStore()) as store:
            await store.append("s", texts(600))

            assert list(range(1, 601)) == [record.seq async for record in store.read("s")]
            async for record in store.read("s", 100):
                assert 101 == record.seq
                break

    asyncio.run(main())


def test_calls_run_in_their_order():
    """
    Calls that are made without waiting for each other are carried out in the order in which they were made.
    """

    async def main():
        async with AsyncStore(SqliteStore(":memory:")) as store:
            await asyncio.gather(*[store.append("s", texts(1), expected_seq=number) for number in range(50)])

            assert 50 == await store.seq("s")

    asyncio.run(main())


def test_the_event_loop_is_not_held_up():
    """
    While a store works, other coroutines run.
    """

    async def main():
        slow = Slow()
        async with AsyncStore(slow) as store:
            append = asyncio.create_task(store.append("s", texts(1)))
            await asyncio.to_thread(slow.begun.wait, 30)
            assert not append.done()
            slow.go.set()
            assert 1 == (await append)[0].seq

    asyncio.run(main())


def test_a_cancelled_append_is_carried_out():
    """
    The awaiting tasks are cancelled at once; the running batch and the one after it are written.
    """

    async def main():
        slow = Slow()
        async with AsyncStore(slow) as store:
            waiting = [asyncio.create_task(store.append("s", texts(2))) for _ in range(2)]
            await asyncio.to_thread(slow.begun.wait, 30)
            for task in waiting:
                task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting[0]
            with pytest.raises(asyncio.CancelledError):
                await waiting[1]
            slow.go.set()

            assert 4 == await store.seq("s")

    asyncio.run(main())


def test_closing_waits_for_what_was_asked_before():
    """
    A batch that was handed over before `close` is written; after it every call is refused.
    """

    async def main():
        inner = MemoryStore()
        store = AsyncStore(inner)
        append = asyncio.create_task(store.append("s", texts(1)))
        await asyncio.sleep(0)
        await store.close()
        await store.close()

        assert 1 == (await append)[0].seq
        with pytest.raises(StoreError, match="the store is closed"):
            await store.seq("s")
        with pytest.raises(StoreError, match="the store is closed"):
            await everything(store.read("s"))
        with pytest.raises(StoreError, match="the store is closed"):
            inner.seq("s")

    asyncio.run(main())


def test_closing_waits_for_what_waits_itself():
    """
    The wrapped store is closed behind the calls that still wait for the thread.
    """

    async def main():
        inner = Slow()
        store = AsyncStore(inner)
        first, second = [asyncio.create_task(store.append("s", texts(1))) for _ in range(2)]
        await asyncio.to_thread(inner.begun.wait, 30)
        closing = asyncio.create_task(store.close())
        await asyncio.sleep(0)
        inner.go.set()
        await closing

        assert [1, 2] == [(await each)[0].seq for each in (first, second)]

    asyncio.run(main())


def test_a_cancelled_call_is_waited_for():
    """
    After `drain` the wrapped store can be closed: a batch whose task was cancelled is written. A closed store has none.
    """

    async def main():
        slow = Slow()
        store = AsyncStore(slow)
        append = asyncio.create_task(store.append("s", texts(2)))
        await asyncio.to_thread(slow.begun.wait, 30)
        append.cancel()
        with pytest.raises(asyncio.CancelledError):
            await append
        drain = asyncio.create_task(store.drain())
        await asyncio.sleep(0)
        assert 0 == slow.seq("s")
        slow.go.set()
        await drain

        assert 2 == slow.seq("s")
        await store.close()
        await store.drain()

    asyncio.run(main())


def test_other_work_may_run_in_the_same_thread():
    """
    `run` puts any function between the calls.
    """

    async def main():
        async with AsyncStore(MemoryStore()) as store:
            append = asyncio.create_task(store.append("s", texts(1)))
            await asyncio.sleep(0)

            assert 1 == await store.run(store.store.seq, "s")
            await append

    asyncio.run(main())
