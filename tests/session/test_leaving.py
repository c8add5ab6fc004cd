"""
Leaving a stream before its end: the message is closed, and what had come is kept.
"""

import asyncio
import gc
import threading
from contextlib import aclosing, closing, suppress

import pytest

from assistant_events import fold
from assistant_events.errors import LocalProtocolError, StoreError
from assistant_events.messages import MessageStatus
from assistant_events.session import Session, SyncSession
from assistant_events.session.finalizers import whole
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import prompt
from assistant_events.values import ErrorKind
from tests.session.scripted import HELLO, Scripted


def closed(session):
    """What a message that was left looks like."""
    message = session.transcript["a1"]
    return message.status, message.text, message.error and (message.error.kind, message.error.message)


def left(why):
    return MessageStatus.FAILED, "Hel", (ErrorKind.ABORTED, why)


STOPPED = left("the app stopped receiving before the end")
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
    A stream that was never iterated over leaves no trace.
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
    When the message cannot be closed, closing the stream raises.
    """
    events = session.receive(Scripted("a1"), HELLO)
    next(events)
    store.refuse = StoreError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        events.close()

    assert MessageStatus.RUNNING is session.transcript["a1"].status


def interrupting(*chunks):
    """Yield *chunks*, then raise as Ctrl-C does."""
    yield from chunks
    raise KeyboardInterrupt


def test_keyboard_interrupt(store):
    """
    Ctrl-C while waiting for the provider closes the message, then propagates.
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
    Ctrl-C propagates, with a note that the message could not be closed.
    """
    session = SyncSession.open(store, "s1")
    events = session.receive(Scripted("a1"), interrupting(HELLO[0]))
    next(events)
    store.refuse = StoreError("disk full")

    with pytest.raises(KeyboardInterrupt) as caught:
        list(events)

    assert ["message 'a1' could not be closed: disk full"] == caught.value.__notes__


class Busy:
    """
    A memory store that runs the garbage collector in the middle of each append, and counts the calls inside of calls.
    """

    def __init__(self):
        self.inner = MemoryStore()
        self.depth = 0
        self.deepest = 0

    def append(self, *arguments, **more):
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        gc.collect()
        try:
            return self.inner.append(*arguments, **more)
        finally:
            self.depth -= 1

    def __getattr__(self, name):
        return getattr(self.inner, name)


def forgotten(session):
    """Begin to receive a message, and forget the stream so that only the garbage collector can find it."""
    events = session.receive(Scripted("a1"), HELLO)
    while next(events).type != "text.delta":
        pass
    ring = [events]
    ring.append(ring)


@pytest.fixture
def without_collector():
    """Disable the garbage collector, except for explicit collections."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("other", [False, True], ids=["the same session", "another session"])
def test_collected_inside_another_append(without_collector, other):
    """
    A stream that is collected in the middle of an append is closed when that has ended: no batch inside of another.
    """
    store = Busy()
    session = SyncSession.open(store, "s1")
    appending = SyncSession.open(store, "s2") if other else session
    forgotten(session)
    appending.prompt("Hi.", message_id="u2")

    assert 1 == store.deepest
    assert STOPPED == closed(session)
    assert fold(store.read("s1"), strict=True) == session.transcript
    assert "Hi." == appending.transcript["u2"].text


def test_collected_inside_an_append_in_a_thread(without_collector):
    """
    So it is inside an append of a session with an event loop, whose store works in another thread.
    """
    store = Busy()
    session = SyncSession.open(store, "s1")

    async def main():
        await (await Session.open(store, "s2")).prompt("Hi.")

    forgotten(session)
    asyncio.run(main())

    assert 1 == store.deepest
    assert STOPPED == closed(session)


def test_collected_and_rejoined(without_collector):
    """
    A decoder that has taken the message over continues it: the abandoned stream emits nothing more.
    """
    store = Busy()
    session = SyncSession.open(store, "s1")
    forgotten(session)
    # Where a finalizer may run: inside a call.
    with whole:
        gc.collect()
        again = session.receive(Scripted("a1", prior=session.transcript["a1"]), HELLO)
        next(again)
    for _ in again:
        pass

    assert MessageStatus.COMPLETED is session.transcript["a1"].status


def test_collected_while_the_store_refuses(store, without_collector, caplog):
    """
    What cannot be stored then is logged, and the message stays running in the log.
    """
    session = SyncSession.open(store, "s1")
    forgotten(session)

    def refuse():
        store.before_append = None
        store.refuse = StoreError("disk full")

    def collect():
        store.before_append = refuse
        gc.collect()

    store.before_append = collect
    session.prompt("Hi.", message_id="u2")

    assert [
        "session 's1': message 'a1' was left and could not be closed; it stays running: disk full"
    ] == caplog.messages
    assert ["step.started", "text.started", "prompt.submitted"] == store.types


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


async def receive_until(done, session, *, exact):
    """Receive a message until *done* returns true for an event."""
    if exact:
        async with session.receive(Scripted("a1"), HELLO) as events:
            async for event in events:
                if await done(event):
                    break
    else:
        async for event in session.receive(Scripted("a1"), HELLO):
            if await done(event):
                break


async def leave(session, how, *, exact):
    """Receive a message and leave the body of the loop after its first text."""
    task = asyncio.current_task()

    async def show(event):
        """Return whether the loop shall stop, unless it is left in another way."""
        if event.type != "text.delta":
            return False
        if how == "exception":
            raise ZeroDivisionError
        if how == "cancelled":
            task.cancel()
            await asyncio.sleep(0)
        return True

    try:
        await receive_until(show, session, exact=exact)
    except ZeroDivisionError:
        assert how == "exception"
    except asyncio.CancelledError:
        assert how == "cancelled"
        task.uncancel()


leaving = pytest.mark.parametrize("how", ["break", "exception", "cancelled"])


def quiet(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


@leaving
def test_leaving_the_body_of_a_block(store, how):
    """
    With `async with` the message is closed, and stored so, when the block is left, however that happens.
    """

    async def main():
        session = await Session.open(store, "s1")
        await leave(session, how, exact=True)
        return closed(session), store.types

    assert (STOPPED, ["step.started", "text.started", "text.ended", "step.failed"]) == asyncio.run(main())


@leaving
@pytest.mark.parametrize("act", ["append", "prompt", "reconcile", "refresh", "receive"])
def test_what_was_left_is_settled_first(store, how, act):
    """
    A bare loop whose body was left has its message closed before the session does anything else.
    """

    async def main():
        session = await Session.open(store, "s1")
        await leave(session, how, exact=False)
        assert MessageStatus.RUNNING is session.transcript.last.status
        if act == "receive":
            async for _ in session.receive(Scripted("a2"), HELLO):
                pass
        elif act == "append":
            await session.append(prompt())
        elif act == "prompt":
            await session.prompt("And?")
        else:
            await getattr(session, act)()
        return closed(session), store.types[:4]

    assert (STOPPED, ["step.started", "text.started", "text.ended", "step.failed"]) == asyncio.run(main())


@leaving
def test_what_was_left_is_closed_by_the_loop(store, how):
    """
    The event loop closes it without any further call.
    """

    async def main():
        session = await Session.open(store, "s1")
        await leave(session, how, exact=False)
        async with asyncio.timeout(10):
            while session.transcript.last.status is MessageStatus.RUNNING:  # noqa: ASYNC110 - there is nothing else to await
                await asyncio.sleep(0.001)
        return closed(session)

    assert STOPPED == asyncio.run(main())


@leaving
@pytest.mark.parametrize("exact", [True, False], ids=["block", "bare"])
def test_rejoining_at_once(store, caplog, how, exact):
    """
    A message that was left can be rejoined in the next line, with the current transcript.
    """

    async def main():
        session = await Session.open(store, "s1")
        await leave(session, how, exact=exact)
        decoder = Scripted("a1", prior=session.transcript)
        async for _ in session.receive(decoder, HELLO):
            pass
        return session

    session = asyncio.run(main())

    assert (MessageStatus.COMPLETED, "Hello", None) == closed(session)
    assert session.transcript.messages == fold(store.inner.read("s1")).messages
    assert quiet(caplog)


def test_the_same_decoder_after_leaving(store):
    """
    Who left may also go on with the decoder and the rest of the chunks.
    """

    async def main():
        session = await Session.open(store, "s1")
        decoder, chunks = Scripted("a1"), iter(HELLO)
        async for event in session.receive(decoder, chunks):
            if event.type == "text.delta":
                break
        async for _ in session.receive(decoder, chunks):
            pass
        return session

    assert (MessageStatus.COMPLETED, "Hello", None) == closed(asyncio.run(main()))


def test_a_message_that_is_left_is_not_begun_anew(store):
    """
    A decoder without the message as `prior` is refused; the error names `prior`.
    """

    async def main():
        session = await Session.open(store, "s1")
        await leave(session, "break", exact=False)
        with pytest.raises(LocalProtocolError, match="pass the message as prior to the decoder"):
            await drain(session, HELLO)
        async for _ in session.receive(Scripted("a1", prior=session.transcript), HELLO):
            pass
        return session

    assert (MessageStatus.COMPLETED, "Hello", None) == closed(asyncio.run(main()))


def test_an_iterator_that_is_kept(store):
    """
    A message whose iterator is referenced cannot be received by another one; the error has the remedy.
    """

    async def main():
        session = await Session.open(store, "s1")
        events = session.receive(Scripted("a1"), HELLO)
        await anext(events)
        with pytest.raises(LocalProtocolError, match=r"close the iterator that receives it, with its `aclose\(\)`"):
            await drain(session, HELLO)
        await events.aclose()
        await events.aclose()
        return session

    assert STOPPED == closed(asyncio.run(main()))


def test_dropping_an_iterator(store, caplog):
    """
    An iterator that is dropped, begun or not, is closed without a word.
    """

    async def main():
        session = await Session.open(store, "s1")
        session.receive(Scripted("a2"), HELLO)
        events = session.receive(Scripted("a1"), HELLO)
        await anext(events)
        del events
        await session.refresh()
        return session

    assert STOPPED == closed(asyncio.run(main()))
    assert [] == caplog.records


def test_dropping_an_iterator_in_another_thread(store):
    """
    The garbage collector drops iterators wherever it happens to run.
    """

    async def main():
        session = await Session.open(store, "s1")
        held = [session.receive(Scripted("a1"), HELLO)]
        await anext(held[0])
        await asyncio.to_thread(held.clear)
        await session.refresh()
        return session

    assert STOPPED == closed(asyncio.run(main()))


@leaving
def test_a_store_that_is_closed_before(tmp_path, caplog, how):
    """
    When the store is closed before the message, the message stays running in the log, and a warning is logged.
    """
    path = tmp_path / "chat.db"

    async def main():
        with SqliteStore(path) as store:
            await leave(await Session.open(store, "s1"), how, exact=False)

    asyncio.run(main())
    gc.collect()

    assert quiet(caplog)
    assert ["session 's1': message 'a1' was left and could not be closed; it stays running"] == [
        record.getMessage().partition(f": {path}")[0] for record in caplog.records
    ]
    with SqliteStore(path) as store:
        session = SyncSession.open(store, "s1")
        assert MessageStatus.RUNNING is session.transcript.last.status
        session.reconcile()
        assert MessageStatus.FAILED is session.transcript.last.status


@leaving
def test_a_store_that_is_closed_after_a_block(tmp_path, caplog, how):
    """
    With `async with` the message is closed before the store is.
    """

    async def main():
        with SqliteStore(tmp_path / "chat.db") as store:
            session = await Session.open(store, "s1")
            await leave(session, how, exact=True)
            return fold(store.read("s1")).last.status

    assert MessageStatus.FAILED is asyncio.run(main())
    assert [] == caplog.records


def test_a_decoder_that_fails_when_it_is_left(store, caplog):
    """
    A bug of the decoder is logged, and the session stays usable.
    """

    class Broken(Scripted):
        def close(self, error=None):
            raise ZeroDivisionError

    async def main():
        session = await Session.open(store, "s1")
        async for _ in session.receive(Broken("a1"), HELLO):
            break
        await session.append(prompt())

    asyncio.run(main())

    assert ["session 's1': a stream that was left could not be closed"] == [
        record.getMessage() for record in caplog.records
    ]
    assert "prompt.submitted" == store.types[-1]


class Stream:
    """
    Chunks that arrive on demand.
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


class Nested:
    """
    Chunks of a generator inside of a generator, as HTTP libraries read; counts those that are open.
    """

    def __init__(self, *chunks):
        self.open = 0
        self.waiting = asyncio.Event()
        self._chunks = chunks

    async def outer(self):
        async with aclosing(self._counted(self._counted(self._inner()))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _counted(self, chunks):
        self.open += 1
        try:
            async for chunk in chunks:
                yield chunk
        finally:
            await chunks.aclose()
            await asyncio.sleep(0)
            self.open -= 1

    async def _inner(self):
        for chunk in self._chunks:
            yield chunk
        self.waiting.set()
        await asyncio.Event().wait()


async def to_the_end(session, chunks):
    async with session.receive(Scripted("a1"), chunks.outer()) as events:
        async for _ in events:
            pass


async def by_break(session, chunks):
    async with session.receive(Scripted("a1"), chunks.outer()) as events:
        async for _ in events:
            break


async def by_exception(session, chunks):
    with suppress(ZeroDivisionError):
        async with session.receive(Scripted("a1"), chunks.outer()) as events:
            async for _ in events:
                raise ZeroDivisionError


async def by_cancelling(session, chunks):
    task = asyncio.create_task(to_the_end(session, chunks))
    await chunks.waiting.wait()
    task.cancel()
    await asyncio.wait([task])


LEFT_BY = {
    "end": (to_the_end, HELLO),
    "break": (by_break, HELLO),
    "exception": (by_exception, HELLO),
    "cancellation": (by_cancelling, HELLO[:1]),
}


@pytest.mark.parametrize(("leave", "chunks"), LEFT_BY.values(), ids=LEFT_BY)
def test_generators_of_the_app_are_closed(store, leave, chunks):
    """
    Asynchronous generators are closed, one inside of the other, before `receive` gives back control: an event loop that
    ends meanwhile would close all of them at once, which Python reports on standard error.
    """

    async def main():
        session = await Session.open(store, "s1")
        nested = Nested(*chunks)
        await leave(session, nested)
        return nested.open

    assert 0 == asyncio.run(main())


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
    A cancellation propagates, with a note about the error of the store.
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
    A batch that was being stored is in the transcript when the cancellation propagates.
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
    When the loop cancels everything at once, inner work included, the answer of the store is waited for all the same.
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
