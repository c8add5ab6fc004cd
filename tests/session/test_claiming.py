"""
Claims of a session, made and lost in bad moments.
"""

import asyncio

import pytest

from assistant_events.errors import ConflictError, FencedError, StoreError
from assistant_events.events import CompactionStarted
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from assistant_events.testing import prompt, virtual_loop
from tests.session.moves import FailingStore, SlowProvider, answer, run, silent
from tests.session.scripted import CUT, HELLO, Provider, Store, line


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
        for claiming in (answer, _claimed):
            session = await Session.open(failing, "s1", worker="w1")
            task = asyncio.create_task(claiming(session, client))
            with pytest.raises(asyncio.CancelledError):
                await task

            assert "s1" == store.claim("s1", "w2").session_id
            store.release(store.claim("s1", "w2"))

    run(main())


async def _claimed(session, client):
    async with session.claimed():
        await asyncio.Event().wait()


def test_an_answer_inside_of_a_claim():
    """
    It has the claim that is held: another one would be newer, and what is open in the channel would be dropped.
    """

    class Counting(MemoryStore):
        claims = 0

        def claim(self, *args, **more):
            self.claims += 1
            return super().claim(*args, **more)

    async def main():
        store = Counting()
        session = await Session.open(store, "s1", worker="w1")
        await session.prompt("Hi")
        async with session.claimed():
            await answer(session, Provider(HELLO))
        assert 1 == store.claims

    run(main())


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
            await answer(session, SlowProvider(chunks()))

        assert [True] == closed

    run(main())


def test_a_cut_answer_of_a_session_that_was_taken_over():
    """
    The worker that has lost the session neither closes nor rewinds it.
    """

    async def main():
        store = Store()
        store.append("s1", [prompt(message_id="u1"), *CUT])
        session = await Session.open(store, "s1", worker="w1")
        async with session.claimed():
            store.take_over("w2", dead_after_s=0)
            with pytest.raises(FencedError):
                await session.rewind("a1", last=True)

        assert ["prompt.submitted", "step.started", "text.started"] == store.types

    run(main())


def test_a_cut_answer_is_closed_alone():
    """
    A summary that another process makes meanwhile continues.
    """

    async def main():
        store = Store()
        summary = CompactionStarted(message_id="k1", reason="auto")
        store.append("s1", [prompt(message_id="u1"), summary, *CUT])
        session = await Session.open(store, "s1")
        await session.rewind("a1", last=True)

        assert ["text.ended", "step.failed", "history.rewound"] == store.types[4:]

    run(main())


def test_a_claim_that_cannot_be_released():
    """
    The block has done its work, and raises: until this worker dies, others are refused.
    """

    async def main():
        store = FailingStore()
        session = await Session.open(store, "s1", worker="w1")
        store.fail["release"] = 1
        with pytest.raises(StoreError, match="release: the disk is full"):
            async with session.claimed():
                await session.prompt("Hi")

        assert ["prompt.submitted"] == store.types

    run(main())


def test_an_answer_whose_claim_cannot_be_released(caplog):
    """
    It is whole, and its stream ends without an exception.
    """

    async def main():
        store = FailingStore()
        session = await Session.open(store, "s1", worker="w1")
        await session.prompt("Hi")
        store.fail["release"] = 1
        await answer(session, Provider(HELLO))

        assert "Hello" == session.transcript.last.text

    run(main())

    assert "session 's1': its claim could not be released" in caplog.text


def test_a_worker_that_leaves_while_its_store_is_waited_for():
    """
    The answer is closed when the store is back by then.
    """

    async def main():
        store = Store()
        session = await Session.open(store, "s1", worker="w1")
        store.refuse = StoreError("the disk is full")
        receiving = asyncio.create_task(answer(session, SlowProvider(silent(line(say="Hel")))))
        await asyncio.sleep(0.05)
        receiving.cancel()
        await asyncio.wait((receiving,))

        assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types

    virtual_loop.run(main())


def test_a_worker_does_not_wait_for_others_that_append():
    """
    That they append before each try is not a failure of the store: the conflict is raised at once.
    """

    async def main():
        store = Store()
        session = await Session.open(store, "s1", worker="w1")
        store.before_append = lambda: store.inner.append("s1", [prompt(message_id=f"u{store.seq('s1')}")])
        with pytest.raises(ConflictError):
            await answer(session, Provider(HELLO))

        assert (0, 20) == (asyncio.get_running_loop().time(), store.seq("s1"))

    virtual_loop.run(main())
