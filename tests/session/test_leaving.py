"""
Leaving a stream before its end: the message is closed, and what had come is kept.
"""

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, closing, suppress
from functools import partial

import anyio
import pytest

from assistant_events.errors import LocalProtocolError, RemoteProtocolError, StoreError
from assistant_events.events import ToolSuccess
from assistant_events.messages import Awaits, MessageStatus
from assistant_events.reducer import find_problems, fold
from assistant_events.session import Session, SyncSession
from assistant_events.session.projection import Projection
from assistant_events.testing import answer, durable, prompt, rewind
from assistant_events.values import ErrorKind
from tests.session.scripted import ASKS, CALL, HELLO, InLoop, Provider, Scripted, Store, each, line, receive


def closed(session):
    """What a message that was left looks like."""
    message = session.transcript["a1"]
    return message.status, message.text, message.error and (message.error.kind, message.error.message)


def left(why):
    return MessageStatus.FAILED, "Hel", (ErrorKind.ABORTED, why)


STOPPED = left("the app stopped receiving before the end")
CANCELLED = left("the task that received it was cancelled")


def test_break(session, store):
    """
    When a block is left, its message is closed, and stored so.
    """
    with session.decode(Scripted("a1"), HELLO) as events:
        for event in events:
            if event.type == "text.delta":
                break

    assert STOPPED == closed(session)
    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types


@pytest.mark.parametrize("reason", [None, ZeroDivisionError(), KeyboardInterrupt()], ids=repr)
def test_before_the_first_event(session, store, reason):
    """
    An answer of which nothing has come leaves nothing: it is the model's move, as after a kill.
    """
    session.prompt("hi", message_id="u1")
    with suppress(ZeroDivisionError, KeyboardInterrupt), session.respond(Provider(HELLO), {}, message_id="a1"):
        if reason is not None:
            raise reason
    assert (["prompt.submitted"], "model") == (store.types, session.transcript.awaits)

    list(each(session.respond(Provider(HELLO), {}, message_id="a1")))
    assert "Hello" == session.transcript["a1"].text


def test_cancelled_before_the_first_event(store):
    """
    So it is when the task is cancelled that waits for the first event.
    """

    async def chunks():
        waiting.set()
        await asyncio.Event().wait()
        yield b""

    async def main():
        session = await Session.open(store, "s1")
        await session.prompt("hi", message_id="u1")

        async def answer():
            async with session.decode(Scripted("a1"), chunks()) as events:
                async for _ in events:
                    pass

        task = asyncio.create_task(answer())
        await waiting.wait()
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled(), session.transcript.awaits

    waiting = asyncio.Event()
    assert (True, "model") == asyncio.run(main())
    assert ["prompt.submitted"] == store.types


def test_exception_in_the_loop(session):
    """
    So it is when the block is left by an exception, which propagates.
    """

    def show():
        with session.decode(Scripted("a1"), HELLO) as events:
            for event in events:
                if event.type == "text.delta":
                    raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        show()

    assert left("the app stopped receiving with ZeroDivisionError") == closed(session)


ANSWERS = {
    "text": HELLO,
    "call": ASKS,
    "all at once": [line(think="Hm") + line(say="Hi") + line(stop="stop")],
    "hops": [line(say="one"), line(hop="pause"), line(say="two"), line(stop="stop")],
}


@pytest.mark.parametrize("chunks", ANSWERS.values(), ids=ANSWERS)
def test_leaving_at_each_position(open_session, chunks):
    """
    Wherever a block is left, the log is in order, nothing in it is open, and the transcript is what it folds to.
    """
    whole = list(receive(open_session(Store()), Scripted("a1"), chunks))
    for position in range(len(whole) + 1):
        store = Store()
        session = open_session(store)
        with session.decode(Scripted("a1"), chunks) as events:
            given = [next(events) for _ in range(position)]

        assert whole[:position] == given
        assert [] == find_problems(store.read("s1"))
        assert fold(store.read("s1")) == session.transcript
        assert MessageStatus.RUNNING not in [message.status for message in session.transcript]
        assert all(event in store.events for event in given if event.durable)


@pytest.mark.parametrize("chunks", ANSWERS.values(), ids=ANSWERS)
def test_cancelled_at_each_position(chunks):
    """
    So it is when the task is cancelled while it waits for a chunk, and the cancellation propagates.
    """

    async def cancelled_after(count):
        store = Store()
        session = await Session.open(store, "s1")
        stream = Stream(*chunks[:count])
        task = asyncio.create_task(drain(session, stream))
        await stream.waiting.wait()
        task.cancel()
        await asyncio.wait([task])
        return task, store, session

    for count in range(len(chunks)):
        task, store, session = asyncio.run(cancelled_after(count))

        assert task.cancelled()
        assert [] == find_problems(store.read("s1"))
        assert fold(store.read("s1")) == session.transcript
        assert MessageStatus.RUNNING not in [message.status for message in session.transcript]


class CountingLoop(asyncio.SelectorEventLoop):
    """
    An event loop that counts what it is asked to call soon.
    """

    calls = 0

    def call_soon(self, *args, **more):
        self.calls += 1
        return super().call_soon(*args, **more)


@pytest.mark.parametrize("native", [False, True], ids=["", "and the task cancelled too"])
def test_a_scope_of_anyio_that_is_cancelled(store, native):
    """
    The message is closed and stored first, without a turn of the loop while the store works: anyio cancels the task
    again in each one. Then the scope ends, or the task where that was cancelled too.
    """

    async def main():
        loop, released, ends = asyncio.get_running_loop(), threading.Event(), []
        session = await Session.open(store, "s1")

        def release():
            if native:
                task.cancel()
            loop.call_soon(released.set)

        async def work():
            with anyio.CancelScope() as scope:
                async with session.decode(Scripted("a1"), Stream(*HELLO[:1])) as events:
                    async for event in events:
                        if event.type == "text.delta":
                            store.before_append = partial(released.wait, 10)
                            loop.call_later(0.05, release)
                            scope.cancel()
            ends.append("the scope")

        task = loop.create_task(work())
        await asyncio.wait([task])
        return session, ends, loop.calls

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        session, ends, calls = runner.run(main())
    assert CANCELLED == closed(session)
    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types
    assert ([] if native else ["the scope"]) == ends
    assert calls < 200


class Inline(ThreadPoolExecutor):
    """
    Runs its work at once, so that each run of an event loop takes the same steps.
    """

    def submit(self, work, /, *args, **more):
        done = Future()
        try:
            done.set_result(work(*args, **more))
        except Exception as error:  # noqa: BLE001 - given to the one who waits
            done.set_exception(error)
        return done


class Slow(Provider):
    """
    A client that takes a step of the event loop for each chunk, and two to close or stop an answer.
    """

    async def _sent(self, chunks):
        try:
            for chunk in chunks:
                await asyncio.sleep(0)
                if isinstance(chunk, Exception):
                    raise chunk
                yield chunk
        finally:
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async def stop(self, target):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        self.stopped.append(target.id)


GONE = RemoteProtocolError(ErrorKind.NOT_FOUND, "gone")
TURNS = {
    "one answer": [HELLO],
    "calls": [[line(call={"id": "c1", "name": "weather"}), *HELLO[:2], line(stop="tool-calls")], HELLO],
    "a refusal": [[GONE], HELLO],
    "a refusal after the start": [[line(think=""), GONE], HELLO],
}


@pytest.mark.parametrize(("passed", "steps"), [(lambda store: store, 20), (InLoop, 5)], ids=["", "in the loop"])
@pytest.mark.parametrize("rewound", [False, True], ids=["", "rewound by another process"])
@pytest.mark.parametrize("answers", TURNS.values(), ids=TURNS)
def test_cancelled_at_each_step_of_the_loop(answers, rewound, passed, steps):
    """
    Wherever a turn is cancelled, the log is in order and nothing in it is open; the transcript is what it folds to,
    what was given is stored, and the session takes another turn.
    """

    async def turn(session, client, given, name):
        await session.prompt("Hello", message_id=name, abandon_calls=True)
        while session.transcript.awaits is not Awaits.USER:
            async with session.respond(client, {}) as events:
                async for event in events:
                    given.append(event)
            await session.append(*[call.succeed("rain") for call in session.transcript.pending_tool_calls])

    async def cancelled_after(count):
        asyncio.get_running_loop().set_default_executor(Inline(1))
        store, given = Store(), []
        store.append("s1", [prompt(message_id="u0"), *durable(answer("Hi", message_id="a0"))])
        session = await Session.open(passed(store), "s1")
        task = asyncio.create_task(turn(session, Slow(*answers), given, "u1"))
        for _ in range(count):
            await asyncio.sleep(0)
        done = task.done()
        if rewound and "u1" in session.transcript:
            store.append("s1", [rewind("u1")])
        task.cancel()
        await asyncio.wait([task])
        await session.refresh()

        assert done or task.cancelled()
        assert [] == find_problems(store.read("s1"))
        assert fold(store.read("s1")) == session.transcript
        assert MessageStatus.RUNNING not in [message.status for message in session.transcript]
        assert all(event in store.events for event in given if event.durable)
        await turn(session, Slow(HELLO), given, "u2")
        assert "Hello" == session.transcript.last.text
        return done

    count = 0
    while not asyncio.run(cancelled_after(count)):
        count += 1
    assert count > steps


def test_iterating_outside_of_the_block(session):
    """
    Without its block a stream gives nothing, and the error shows how it is entered; nor does it after the block.
    """
    stream = session.decode(Scripted("a1"), HELLO)
    with pytest.raises(LocalProtocolError, match=r"`async with session.*, without `async` for a"):
        next(stream)
    with stream as events:
        next(events)

    with pytest.raises(LocalProtocolError, match="the block of the stream was left; read its events inside"):
        next(stream)


def test_a_stream_that_was_left_is_not_entered_again(session):
    """
    Its message is closed; another decoder takes it up.
    """
    stream = session.decode(Scripted("a1"), HELLO)
    with stream as events:
        next(events)

    with pytest.raises(LocalProtocolError, match="entered again only after an error of the store"), stream:
        pass


def test_a_decoder_that_is_closed(session):
    """
    A decoder that was closed before is the mistake of the caller, and the error has the remedy.
    """
    decoder = Scripted("a1")
    decoder.close()

    with pytest.raises(LocalProtocolError, match="the decoder of message 'a1' is closed; make a new one, with the"):
        session.decode(decoder, HELLO)


def test_leaving_after_the_end(session):
    """
    A message that has ended stays as it is.
    """
    with closing(receive(session, Scripted("a1"), HELLO)) as events:
        for event in events:
            if event.type == "step.ended":
                break

    assert (MessageStatus.COMPLETED, "Hello", None) == closed(session)


def test_leaving_before_the_first_chunk(session, store):
    """
    A stream that was never iterated over leaves no trace.
    """
    receive(session, Scripted("a1"), HELLO).close()

    assert [] == store.types


def test_receiving_again_what_was_left(session):
    """
    A message that was left can be rejoined.
    """
    with closing(receive(session, Scripted("a1"), HELLO)) as events:
        next(events)
    list(receive(session, Scripted("a1", prior=session.transcript["a1"]), HELLO))

    assert (MessageStatus.COMPLETED, "Hello", None) == closed(session)


def test_leaving_while_the_store_refuses(session, store):
    """
    When the message cannot be closed, closing the stream raises.
    """

    def leave():
        with session.decode(Scripted("a1"), HELLO) as events:
            next(events)
            store.refuse = StoreError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        leave()

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
        list(receive(session, Scripted("a1"), interrupting(HELLO[0])))

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
        list(receive(session, Scripted("a1"), HELLO))

    assert left("stopped from the keyboard") == closed(session)
    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types


def test_keyboard_interrupt_while_a_call_is_answered(store):
    """
    The failure of a call that another writer has answered meanwhile is left out, and nothing else of the answer.
    """
    session = SyncSession.open(store, "s1")
    result = ToolSuccess(message_id="a1", call_id="c1", output="rain")
    batches = iter([(), [result]])
    store.before_append = lambda: store.inner.append("s1", next(batches, ()))
    store.lose = KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        list(receive(session, Scripted("a1"), [line(call=CALL) + line(say="x")]))

    assert ["step.started", "tool.called", "text.started", "tool.success", "text.ended", "step.failed"] == store.types
    assert fold(store.read("s1"), strict=True) == session.transcript


@pytest.mark.parametrize("prompted", [False, True])
def test_keyboard_interrupt_behind_a_batch(store, monkeypatch, prompted):
    """
    Ctrl-C while the stored records are applied leaves in doubt whether they are the answer's: the log is looked up.
    """
    session = SyncSession.open(store, "s1")
    extend = Projection.extend

    def interrupted(projection, records):
        extend(projection, records)
        if projection.seq:
            monkeypatch.undo()
            raise KeyboardInterrupt

    monkeypatch.setattr(Projection, "extend", interrupted)
    with session.decode(Scripted("a1"), HELLO) as events:
        with pytest.raises(KeyboardInterrupt):
            next(events)
        if prompted:
            session.prompt("And?")

    assert STOPPED == closed(session)
    asked = ["prompt.submitted"] * prompted
    assert ["step.started", "text.started", *asked, "text.ended", "step.failed"] == store.types


def test_keyboard_interrupt_and_a_lost_answer(store):
    """
    Two batches in doubt, one after the other, are both found in the log, and neither is stored twice.
    """
    session = SyncSession.open(store, "s1")
    stream = session.decode(Scripted("a1"), HELLO)

    def interrupted():
        with stream as events:
            store.lose = KeyboardInterrupt()
            try:
                next(events)
            finally:
                store.lose = StoreError("connection lost")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    types = [event.type for event in each(stream)]

    assert ["step.started", "text.started", "text.delta", "text.ended", "step.failed"] == types
    assert left("stopped from the keyboard") == closed(session)
    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types


def test_keyboard_interrupt_while_the_store_refuses(store):
    """
    Ctrl-C propagates, with a note that the message could not be closed.
    """
    session = SyncSession.open(store, "s1")
    events = receive(session, Scripted("a1"), interrupting(HELLO[0]))
    next(events)
    store.refuse = StoreError("disk full")

    with pytest.raises(KeyboardInterrupt) as caught:
        list(events)

    assert ["message 'a1' could not be closed: disk full"] == caught.value.__notes__


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
    async with session.decode(Scripted("a1"), chunks) as events:
        async for _ in events:
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
    async with session.decode(Scripted("a1"), chunks.outer()) as events:
        async for _ in events:
            pass


async def by_break(session, chunks):
    async with session.decode(Scripted("a1"), chunks.outer()) as events:
        async for _ in events:
            break


async def by_exception(session, chunks):
    with suppress(ZeroDivisionError):
        async with session.decode(Scripted("a1"), chunks.outer()) as events:
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
    Asynchronous generators are closed, one inside of the other, before the block is left: an event loop that
    ends meanwhile would close all of them at once, which Python reports on standard error.
    """

    async def main():
        session = await Session.open(store, "s1")
        nested = Nested(*chunks)
        await leave(session, nested)
        return nested.open

    assert 0 == asyncio.run(main())


class Opened:
    """
    Chunks of the app from something other than a generator, such as a file: it has opened them, and closes them.
    """

    def __init__(self):
        self.chunks = iter(HELLO)
        self.closes = []

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.chunks)

    def close(self):
        self.closes.append("close")


class AsyncOpened(Opened):
    def __aiter__(self):
        return self

    async def __anext__(self):
        return next(self.chunks)

    async def aclose(self):
        self.closes.append("aclose")


def test_what_the_app_has_opened_stays_open(store):
    """
    Only generators are closed, for which an app has no name.
    """
    opened, other = Opened(), AsyncOpened()
    with SyncSession.open(store, "s1").decode(Scripted("a1"), opened) as events:
        next(events)

    async def main():
        session = await Session.open(store, "s2")
        async with session.decode(Scripted("a1"), other) as events:
            await anext(events)

    asyncio.run(main())

    assert ([], []) == (opened.closes, other.closes)


def test_a_generator_is_closed_by_its_reader(store):
    """
    In the task that has read it, as the context managers of HTTP libraries require.
    """
    tasks = []

    async def chunks():
        try:
            for chunk in HELLO:
                yield chunk
        finally:
            tasks.append(asyncio.current_task())

    async def main():
        session = await Session.open(store, "s1")
        async with session.decode(Scripted("a1"), chunks()) as events:
            await anext(events)
        assert [asyncio.current_task()] == tasks

    asyncio.run(main())


def test_a_generator_that_does_not_close(store):
    """
    The message is stored as closed, and a cancellation ends the wait for the generator.
    """
    closing = asyncio.Event()

    async def chunks():
        try:
            for chunk in HELLO:
                yield chunk
        finally:
            closing.set()
            await asyncio.Event().wait()

    async def leave():
        session = await Session.open(store, "s1")
        async with session.decode(Scripted("a1"), chunks()) as events:
            await anext(events)

    async def main():
        task = asyncio.create_task(leave())
        await closing.wait()
        types = list(store.types)
        task.cancel()
        await asyncio.wait([task], timeout=10)
        return task.cancelled(), types

    assert (True, ["step.started", "text.started", "text.ended", "step.failed"]) == asyncio.run(main())


class UnclosedAnswer:
    """
    An answer that a client has decoded, whose connection cannot be closed.
    """

    def __init__(self):
        self._decoder = Scripted("a1")
        self.message_id = "a1"
        self.close = self._decoder.close

    @property
    def terminal(self):
        return self._decoder.terminal

    def read(self):
        return self._decoder.feed(b"".join(HELLO))

    def disconnect(self):
        raise OSError("lost https://me:password@api.example/")


def test_an_answer_that_fails_to_close(store, caplog):
    """
    What a client raises when the connection of its answer is closed is logged, without the credentials of a URL.
    """
    session = SyncSession.open(store, "s1")
    session.prompt("Hello")
    client = Provider()
    client.create = lambda *_, **__: UnclosedAnswer()
    types = [event.type for event in each(session.respond(client, {}, message_id="a1"))]

    assert "step.ended" == types[-1]
    [message] = caplog.messages
    assert message.startswith("the stream of message 'a1' could not be closed\n")
    assert message.endswith("\nOSError: lost https://api.example/\n")


class Waiting(Provider):
    """
    A client whose first `stop` never returns.
    """

    def __init__(self, *answers):
        super().__init__(*answers)
        self.asked = asyncio.Event()

    async def stop(self, target):
        first = not self.asked.is_set()
        self.asked.set()
        if first:
            await asyncio.Event().wait()
        self.stopped.append(target.id)


def test_cancelled_while_a_run_is_stopped(store):
    """
    A run of a rewound answer is stopped once more when the task that stops it is cancelled.
    """

    async def respond(session, client):
        async with session.respond(client, {}, message_id="a1") as events:
            await anext(events)
            await session.rewind("a1")
            async for _ in events:
                pass

    async def main():
        session = await Session.open(store, "s1")
        await session.prompt("Hello")
        client = Waiting(HELLO)
        task = asyncio.create_task(respond(session, client))
        await client.asked.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), client.stopped

    assert (True, ["a1"]) == asyncio.run(main())


def test_cancelled_while_a_stream_is_entered_again(store):
    """
    What the store has refused is stored when the stream is entered again, and then closed, as is any other.
    """

    async def again(stream):
        async with stream as events:
            async for _ in events:
                pass

    async def main():
        session = await Session.open(store, "s1")
        stream = session.decode(Scripted("a1"), Stream(HELLO[0]))
        store.refuse = StoreError("locked")
        with pytest.raises(StoreError):
            await again(stream)
        gate = store.before_append = Gate()
        return session, await gate.cancelled(again(stream))

    session, task = asyncio.run(main())

    assert task.cancelled()
    assert CANCELLED == closed(session)


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

    async def cancelled(self, work, *, times=1):
        """
        Return the task of *work*, which was cancelled while the thread was held, when it has ended.
        """
        task = asyncio.create_task(work)
        await self.arrival()
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        self.opened.set()
        await asyncio.wait([task])
        return task


def test_cancelled_while_storing(store):
    """
    A batch on its way into the store gets there, then the message is closed, however often the task is cancelled.
    """

    async def main():
        session = await Session.open(store, "s1")
        gate = store.before_append = Gate()
        return session, await gate.cancelled(drain(session, Stream(HELLO[0])), times=2)

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
        task = await gate.cancelled(drain(session, Stream(HELLO[0])))
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
        return session, await gate.cancelled(session.append(prompt()))

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
        for work in asyncio.all_tasks() - {asyncio.current_task()}:
            work.cancel()
        gate.opened.set()
        await asyncio.wait([task])
        return session, task

    session, task = asyncio.run(main())

    assert task.cancelled()
    assert CANCELLED == closed(session)
    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types
