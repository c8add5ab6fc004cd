"""
Claims of a session, made and lost in bad moments.
"""

import asyncio

import pytest

from assistant_events.errors import FencedError
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from tests.session.moves import BODY, SlowProvider, run
from tests.session.scripted import HELLO, Provider, Store, line


def test_a_cancelled_claim():
    """
    A cancellation while the claim is made leaves none.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO)
        session = await Session.open(store, "s1", worker="w1")
        await session.prompt("Hi")
        task = None

        class Cancelling(Store):
            def claim(self, *args, **more):
                loop.call_soon_threadsafe(task.cancel)
                return self.inner.claim(*args, **more)

        failing = Cancelling()
        failing.inner = store
        loop = asyncio.get_running_loop()
        for claiming in (_answer, _claimed):
            session = await Session.open(failing, "s1", worker="w1")
            task = asyncio.create_task(claiming(session, client))
            with pytest.raises(asyncio.CancelledError):
                await task

            assert "s1" == store.claim("s1", "w2").session_id
            store.release(store.claim("s1", "w2"))

    run(main())


async def _answer(session, client):
    async with session.respond(client, BODY) as events:
        async for _ in events:
            pass


async def _claimed(session, client):
    async with session.claimed():
        await asyncio.Event().wait()


def test_an_answer_that_a_newer_claim_refuses():
    """
    Its connection is closed with the block, for it cannot be continued.
    """

    async def main():
        store, closed = MemoryStore(), []

        async def chunks():
            try:
                yield line(say="Hel")
                store.take_over("w2", dead_after_s=0)
                yield line(stop="stop")
            finally:
                closed.append(True)

        session = await Session.open(store, "s1", worker="w1")
        await session.prompt("Hi")
        with pytest.raises(FencedError):
            await _answer(session, SlowProvider(chunks()))

        assert [True] == closed

    run(main())
