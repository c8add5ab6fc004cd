"""
A store that never waits is called in the event loop, any other in a thread; and how the events of a stream are given.
"""

import asyncio
import threading
from contextlib import suppress

import pytest

from assistant_events.errors import ConflictError, LocalProtocolError, StoreError
from assistant_events.events import TextDelta, TextStarted, ToolCalled, ToolInputDelta, ToolInputStarted, ToolProgress
from assistant_events.messages import MessageStatus
from assistant_events.reducer import fold
from assistant_events.session import Session, SyncSession
from assistant_events.stores import AsyncStore, MemoryStore
from assistant_events.testing import prompt
from tests.session.scripted import CALL, CUT, HELLO, InLoop, Provider, Scripted, Store, line


class Subclass(MemoryStore):
    """
    Inherits the declaration, and may wait all the same.
    """


class Delegate:
    """
    Passes its calls on to a store that declares that it never waits, after waiting.
    """

    def __init__(self, store):
        self.store = store

    def __getattr__(self, name):
        return getattr(self.store, name)


class Declared(Subclass):
    """
    Declares it for itself.
    """

    never_waits = True


@pytest.mark.parametrize(
    ("make", "is_called_here"),
    [
        (MemoryStore, True),
        (Declared, True),
        (Subclass, False),
        (lambda **more: Delegate(MemoryStore(**more)), False),
        (lambda **more: AsyncStore(MemoryStore(**more)), False),
    ],
    ids=["memory", "declared", "subclass", "delegate", "asynchronous"],
)
def test_where_a_store_is_called(make, is_called_here):
    """
    Only a class that declares it itself is called in the loop.
    """
    threads, clock = set(), MemoryStore()._clock

    def noted():
        threads.add(threading.get_ident())
        return clock()

    async def work():
        session = await Session.open(make(clock=noted), "s")
        await session.prompt("Hello")

    asyncio.run(work())
    assert ({threading.get_ident()} == threads) is is_called_here
    assert threads


def test_nothing_comes_between(store):
    """
    Operations of a store in the loop take no step of the loop, so that no other task sees half of one.
    """

    async def work():
        session, steps = await Session.open(InLoop(store), "s1"), []
        asyncio.get_running_loop().call_soon(steps.append, "a step")
        await session.prompt("Hello", message_id="u1")
        async with session.decode(Scripted("a1"), HELLO) as events:
            given = [event.type async for event in events if event.durable]
            await session.refresh()
            return list(steps), given

    steps, given = asyncio.run(work())
    assert [] == steps
    assert ["step.started", "text.started", "text.ended", "step.ended"] == given


def test_what_a_store_in_the_loop_refuses(store):
    """
    What it raises is raised, the events are kept, and the stream is entered again.
    """

    async def work():
        session = await Session.open(InLoop(store), "s1")
        stream, given = session.decode(Scripted("a1"), iter(HELLO)), []
        store.refuse = StoreError("full")
        for _ in range(2):
            with suppress(StoreError):
                async with stream as events:
                    async for event in events:
                        given.append(event.type)  # noqa: PERF401 - what is given before a failure counts
        return session, given

    session, given = asyncio.run(work())
    assert ["step.started", "text.started", "text.delta", "text.delta", "text.ended", "step.ended"] == given
    assert fold(store.read("s1")) == session.transcript


def test_two_sessions_write(store):
    """
    Each learns of the other by the conflict, and appends again; an append that names a changed message does not.
    """

    async def work():
        one, two = await Session.open(InLoop(store), "s1"), await Session.open(InLoop(store), "s1")
        async with one.decode(Scripted("a1"), [line(call=CALL), line(stop="tool-calls")]) as events:
            async for event in events:
                if event.type == "tool.called":
                    await two.prompt("meanwhile", message_id="u1")
        [call] = one.transcript.pending_tool_calls
        await two.refresh()
        await two.append(call.succeed("rain"))
        with pytest.raises(ConflictError):
            await one.append(call.succeed("snow"))
        return one, two

    one, two = asyncio.run(work())
    assert fold(store.read("s1")) == one.transcript == two.transcript
    assert ["a1", "u1"] == [message.id for message in one.transcript]


def test_a_run_is_stopped_outside_of_the_session(store):
    """
    While the provider is asked to stop a run, the session does other things; a cancelled stop asks it to the end.
    """
    asked, answered = asyncio.Event(), asyncio.Event()

    class Asked(Provider):
        async def stop(self, target):
            asked.set()
            await answered.wait()
            self.stopped.append(target.id)

    async def work():
        session = await Session.open(InLoop(store), "s1")
        await session.decode(Scripted("a1"), [line(lives="run", say="Hel")]).__aenter__()
        session = await Session.open(InLoop(store), "s1")
        async with session.decode(Scripted("a1"), [line(lives="run", say="Hel")]) as events:
            await anext(events)
            other, client = await Session.open(InLoop(store), "s1"), Asked()
            stopping = asyncio.create_task(other.stop(client))
            await asked.wait()
            await other.prompt("while it waits", message_id="u2")
            stopping.cancel()
            await asyncio.sleep(0)
            answered.set()
            await asyncio.wait([stopping])
        return other, client, stopping

    other, client, stopping = asyncio.run(work())
    assert (["a1"], True) == (client.stopped, stopping.cancelled())
    assert (MessageStatus.FAILED, "cancelled") == (other.transcript["a1"].status, other.transcript["a1"].error.kind)


# -- how events are given, on all faces


def test_iterating_in_parts(session):
    """
    A loop that is left in the middle of a chunk is continued by the next one.
    """
    chunk = line(say="Hel") + line(say="lo") + line(stop="stop")
    with session.decode(Scripted("a1"), [chunk]) as events:
        given = [next(events).type, next(events).type]
        for event in events:
            given.append(event.type)
            break
        given += [event.type for event in events]
        assert [] == list(events)

    assert ["step.started", "text.started", "text.delta", "text.delta", "text.ended", "step.ended"] == given


def test_iterating_in_parts_with_async_for(store):
    """
    So it is with `async for`, which makes no task of its own.
    """

    async def work():
        session = await Session.open(store, "s1")
        given = []
        async with session.decode(Scripted("a1"), [b"".join(HELLO)]) as events:
            async for event in events:
                given.append(event.type)
                break
            given.append((await anext(events)).type)
            async for event in events:
                given.append(event.type)
                break
            seq = events.seq
        await asyncio.sleep(0)
        return given, seq, len(asyncio.all_tasks())

    given, seq, tasks = asyncio.run(work())
    assert (["step.started", "text.started", "text.delta"], 2, 1) == (given, seq, tasks)


@pytest.mark.parametrize("passed", [lambda store: store, InLoop], ids=["in a thread", "in the loop"])
def test_another_task_leaves_the_block(store, passed):
    """
    A task that waits for the next chunk gets nothing more when the block is left by another one.
    """

    async def chunks():
        yield HELLO[0]
        waiting.set()
        await going_on.wait()
        yield HELLO[1]

    async def rest(events):
        return [event.type async for event in events]

    async def work():
        session = await Session.open(passed(store), "s1")
        stream = session.decode(Scripted("a1"), chunks())
        events = await stream.__aenter__()
        task = asyncio.create_task(rest(events))
        await waiting.wait()
        await stream.__aexit__(None, None, None)
        going_on.set()
        await asyncio.wait([task])
        return session, task

    waiting, going_on = asyncio.Event(), asyncio.Event()
    session, task = asyncio.run(work())
    assert isinstance(task.exception(), LocalProtocolError)  # the decoder is closed
    assert fold(store.read("s1")) == session.transcript
    assert MessageStatus.FAILED == session.transcript["a1"].status


def test_a_chunk_of_deltas_of_a_message_that_was_rewound(store):
    """
    Deltas that come alone are not given when another writer has rewound their message meanwhile.
    """
    session, other = SyncSession.open(store, "s1"), SyncSession.open(store, "s1")

    def chunks():
        yield line(say="Hel")
        other.refresh()
        other.rewind("a1")
        session.refresh()
        yield line(say="lo")

    with session.decode(Scripted("a1"), chunks()) as events:
        given = [event.type for event in events]

    assert ["step.started", "text.started", "text.delta"] == given
    assert [] == list(session.transcript)


def test_progress_beside_deltas(session):
    """
    Progress of a call and deltas in one chunk are given in their order, as far as they apply.
    """
    session.append(prompt(message_id="u1"))
    chunks = [line(call=CALL), line(progress="c1") + line(say="Hi"), line(say="!") + line(progress="c1")]
    with session.decode(Scripted("a1"), chunks) as events:
        given = [(event.type, events.seq) for event in events]

    assert [("tool.progress", 3), ("text.started", 4), ("text.delta", 4), ("text.delta", 4)] == given[2:6]
    assert ToolProgress.type == given[6][0]


def test_progress_of_an_answered_call_beside_text(session):
    """
    What does not apply is not given, also when it comes with what does.
    """
    given = []
    chunks = [line(call=CALL), line(progress="c1") + line(say="Hi"), line(stop="tool-calls")]
    with session.decode(Scripted("a1"), chunks) as events:
        for event in events:
            given.append(event.type)
            if event.type == "tool.called":
                session.append(session.transcript["a1"].tool_calls[0].succeed("rain"))

    assert ["step.started", "tool.called", "text.started", "text.delta", "text.ended", "step.ended"] == given


class Read:
    """
    An answer that a client has decoded, with events that do not follow one another.
    """

    message_id = "a1"
    terminal = False

    def __init__(self, *feeds):
        self.feeds = iter(feeds)

    def read(self):
        return list(next(self.feeds))

    def close(self, error=None):
        return []

    def disconnect(self):
        pass


def test_deltas_of_a_fragment_that_was_refused(store):
    """
    Where an event is out of place, the deltas behind it are looked at one by one.
    """
    started, called = CUT[0], ToolCalled(message_id="a1", call_id="c1", name="weather", input={})
    beginning = ToolInputStarted(message_id="a1", call_id="c1", name="weather")
    delta = ToolInputDelta(message_id="a1", call_id="c1", offset=0, delta="{")
    text = [TextStarted(message_id="a1"), TextDelta(message_id="a1", offset=0, delta="Hi")]

    class Client(Provider):
        def create(self, body, message_id, *, prior=None):
            return Read([started, called], [beginning, delta, *text])

    session = SyncSession.open(store, "s1")
    session.prompt("Hello")
    with session.respond(Client(), {}, message_id="a1") as events:
        given = list(events)

    assert [started, called, *text] == given


def test_a_store_wrapped_for_tests_waits():
    """
    The store of these tests blocks, and so it declares nothing.
    """
    assert "never_waits" not in vars(Store)
