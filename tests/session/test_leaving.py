"""
Leaving a stream before its end: the message is closed, and what had come is kept.
"""

import asyncio
import threading
from contextlib import aclosing, closing

import pytest

from assistant_events.errors import StoreError
from assistant_events.messages import MessageStatus
from assistant_events.session import Session, SyncSession
from assistant_events.testing import prompt
from assistant_events.values import ErrorKind
from tests.session.scripted import HELLO, Scripted


def closed(session):
    """What a message that was left looks like."""
    message = session.transcript["a1"]
    return message.status, message.text, message.error and (message.error.kind, message.error.message)


def left(why):
    return MessageStatus.FAILED, "Hel", (ErrorKind.ABORTED, why)


STOPPED = left("the app stopped listening before its end")
CANCELLED = left("the task that received it was cancelled")


def test_break(store):
    """
    A blocking loop that is left by `break` has closed the message.
    """
    session = SyncSession.open(store, "s1")
    for event in session.receive(Scripted("a1"), HELLO):
        if event.type == "text.delta":
            break

    assert STOPPED == closed(session)
    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types


def test_exception_in_the_loop(store):
    """
    So has one that is left by an exception.
    """
    session = SyncSession.open(store, "s1")

    def show():
        for event in session.receive(Scripted("a1"), HELLO):
            if event.type == "text.delta":
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        show()

    assert STOPPED == closed(session)


def test_leaving_after_the_end(session):
    """
    A message that has ended stays as it is.
    """
    with closing(session.receive(Scripted("a1"), HELLO)) as events:
        for event in events:
            if event.type == "step.ended":
                break

    assert (MessageStatus.COMPLETED, "Hello", None) == closed(session)


def test_leaving_before_the_first_chunk(session, store):
    """
    A stream that nobody has begun to receive leaves no trace.
    """
    session.receive(Scripted("a1"), HELLO).close()

    assert [] == store.types


def test_receiving_again_what_was_left(session):
    """
    A message that was left can be rejoined.
    """
    with closing(session.receive(Scripted("a1"), HELLO)) as events:
        next(events)
    list(session.receive(Scripted("a1", prior=session.transcript["a1"]), HELLO))

    assert (MessageStatus.COMPLETED, "Hello", None) == closed(session)


def test_leaving_while_the_store_refuses(session, store):
    """
    When the message cannot be closed, whoever closes the stream learns it.
    """
    events = session.receive(Scripted("a1"), HELLO)
    next(events)
    store.refuse = StoreError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        events.close()

    assert MessageStatus.RUNNING is session.transcript["a1"].status


def interrupting(*chunks):
    """Give *chunks*, then behave as if somebody had pressed Ctrl-C."""
    yield from chunks
    raise KeyboardInterrupt


def test_keyboard_interrupt(store):
    """
    Ctrl-C while waiting for the provider closes the message, then goes on up.
    """
    session = SyncSession.open(store, "s1")

    with pytest.raises(KeyboardInterrupt):
        list(session.receive(Scripted("a1"), interrupting(HELLO[0])))

    assert left("stopped from the keyboard") == closed(session)
    assert "step.failed" == store.types[-1]


@pytest.mark.parametrize("stored", [False, True], ids=["not stored", "stored"])
def test_keyboard_interrupt_while_storing(store, stored):
    """
    Ctrl-C while the store works leaves in doubt whether it has the batch; the log is looked up, and nothing is doubled.
    """
    session = SyncSession.open(store, "s1")
    setattr(store, "lose" if stored else "refuse", KeyboardInterrupt())

    with pytest.raises(KeyboardInterrupt):
        list(session.receive(Scripted("a1"), HELLO))

    assert left("stopped from the keyboard") == closed(session)
    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types


def test_keyboard_interrupt_while_the_store_refuses(store):
    """
    Ctrl-C goes up all the same; that the message could not be closed stands beside it.
    """
    session = SyncSession.open(store, "s1")
    events = session.receive(Scripted("a1"), interrupting(HELLO[0]))
    next(events)
    store.refuse = StoreError("disk full")

    with pytest.raises(KeyboardInterrupt) as caught:
        list(events)

    assert ["message 'a1' could not be closed: disk full"] == caught.value.__notes__


def test_aclosing(store):
    """
    With `aclosing` the message is closed when the block is left.
    """

    async def main():
        session = await Session.open(store, "s1")
        async with aclosing(session.receive(Scripted("a1"), HELLO)) as events:
            async for event in events:
                if event.type == "text.delta":
                    break
        return session

    assert STOPPED == closed(asyncio.run(main()))


def test_break_without_aclosing(store):
    """
    A bare loop that is left has its message closed by the event loop, at the latest when that ends.
    """

    async def main():
        session = await Session.open(store, "s1")
        async for event in session.receive(Scripted("a1"), HELLO):
            if event.type == "text.delta":
                break
        return session

    session = asyncio.run(main())

    assert ("Hel", ErrorKind.ABORTED) == (session.transcript["a1"].text, session.transcript["a1"].error.kind)


class Stream:
    """
    Chunks that come when they are told to.
    """

    def __init__(self, *chunks):
        self.chunks = list(chunks)
        self.waiting = asyncio.Event()

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.chunks:
            return self.chunks.pop(0)
        self.waiting.set()
        return await asyncio.Event().wait()


async def drain(session, chunks):
    async for _ in session.receive(Scripted("a1"), chunks):
        pass


def test_cancelled_while_waiting_for_the_provider(store):
    """
    A task that is cancelled closes the message, stores that, and is cancelled.
    """

    async def main():
        session = await Session.open(store, "s1")
        stream = Stream(HELLO[0])
        task = asyncio.create_task(drain(session, stream))
        await stream.waiting.wait()
        task.cancel()
        await asyncio.wait([task])
        return session, task

    session, task = asyncio.run(main())

    assert task.cancelled()
    assert CANCELLED == closed(session)
    assert "step.failed" == store.types[-1]


def test_a_timeout_of_the_app(store):
    """
    `asyncio.timeout` is a cancellation inside, and stays a TimeoutError outside.
    """

    async def main():
        session = await Session.open(store, "s1")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await drain(session, Stream(HELLO[0]))
        return session

    session = asyncio.run(main())

    assert ErrorKind.ABORTED == session.transcript["a1"].error.kind


class Gate:
    """
    Holds the store's thread until it is opened.
    """

    def __init__(self):
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self):
        self.reached.set()
        assert self.opened.wait(10)

    async def arrival(self):
        assert await asyncio.to_thread(self.reached.wait, 10)


def test_cancelled_while_storing(store):
    """
    A batch on its way into the store gets there, then the message is closed, however often the task is cancelled.
    """

    async def main():
        session = await Session.open(store, "s1")
        gate = store.before_append = Gate()
        task = asyncio.create_task(drain(session, Stream(HELLO[0])))
        await gate.arrival()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        gate.opened.set()
        await asyncio.wait([task])
        return session, task

    session, task = asyncio.run(main())

    assert task.cancelled()
    assert CANCELLED == closed(session)
    assert [["step.started", "text.started"], ["text.ended", "step.failed"]] == store.batches


def test_cancelled_while_closing(store):
    """
    A second cancellation does not keep the closing from being stored.
    """

    async def main():
        session = await Session.open(store, "s1")
        stream = Stream(HELLO[0])
        task = asyncio.create_task(drain(session, stream))
        await stream.waiting.wait()
        gate = store.before_append = Gate()
        task.cancel()
        await gate.arrival()
        task.cancel()
        await asyncio.sleep(0)
        gate.opened.set()
        await asyncio.wait([task])
        return session, task

    session, task = asyncio.run(main())

    assert task.cancelled()
    assert CANCELLED == closed(session)


def test_cancelled_while_the_store_refuses(store):
    """
    A cancellation stays one; what the store raised stands beside it.
    """

    async def main():
        session = await Session.open(store, "s1")
        gate = store.before_append = Gate()
        store.refuse = StoreError("disk full")
        task = asyncio.create_task(drain(session, Stream(HELLO[0])))
        await gate.arrival()
        task.cancel()
        await asyncio.sleep(0)
        gate.opened.set()
        await asyncio.wait([task])
        with pytest.raises(asyncio.CancelledError) as caught:
            task.result()
        return caught.value

    error = asyncio.run(main())

    assert ["meanwhile the store raised StoreError('disk full')"] == error.__notes__
    assert [] == store.types


def test_cancelled_while_another_task_stores(store):
    """
    A task that waits for its turn is cancelled as soon as it has had it.
    """

    async def main():
        session = await Session.open(store, "s1")
        gate = store.before_append = Gate()
        first = asyncio.create_task(session.append(prompt()))
        await gate.arrival()
        second = asyncio.create_task(drain(session, Stream(HELLO[0])))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.opened.set()
        await asyncio.wait([first, second])
        return session, second

    session, second = asyncio.run(main())

    assert second.cancelled()
    assert CANCELLED == closed(session)
    assert "prompt.submitted" == store.types[0]


def test_an_append_that_is_cancelled(store):
    """
    What was on its way into the store is in the transcript when the cancellation goes on up.
    """

    async def main():
        session = await Session.open(store, "s1")
        gate = store.before_append = Gate()
        task = asyncio.create_task(session.append(prompt()))
        await gate.arrival()
        task.cancel()
        await asyncio.sleep(0)
        gate.opened.set()
        await asyncio.wait([task])
        return session, task

    session, task = asyncio.run(main())

    assert task.cancelled()
    assert 1 == session.seq == store.seq("s1")


def test_an_event_loop_that_ends(store):
    """
    When the loop cancels everything at once, inner work included, no answer comes from the store; nothing is doubled.
    """

    async def main():
        session = await Session.open(store, "s1")
        gate = store.before_append = Gate()
        task = asyncio.create_task(drain(session, Stream(HELLO[0])))
        await gate.arrival()
        for each in asyncio.all_tasks() - {asyncio.current_task()}:
            each.cancel()
        gate.opened.set()
        await asyncio.wait([task])
        return session, task

    session, task = asyncio.run(main())

    assert task.cancelled()
    assert CANCELLED == closed(session)
    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types
