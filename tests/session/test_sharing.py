"""
Several tasks, or several threads, with one session.
"""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import ContextVar
from threading import Barrier
from unittest.mock import patch

import pytest

from assistant_events.errors import LocalProtocolError
from assistant_events.messages import MessageStatus
from assistant_events.reducer import Builder, find_problems, fold
from assistant_events.session import Session, SyncSession
from assistant_events.stores import SqliteStore
from assistant_events.testing import ids
from tests.session.moves import BODY, SlowProvider, answer, run, until
from tests.session.scripted import HELLO, Provider, Scripted, line, receive


def asking(count):
    """An answer with as many calls, each in a chunk of its own."""
    return [
        *[line(call={"id": f"c{at}", "name": "weather"}) for at in range(count)],
        line(say="so"),
        line(stop="tool-calls"),
    ]


def test_tools_that_answer_while_the_stream_goes_on(store):
    """
    A task of its own runs each call as soon as it is complete, while the message is still being received.
    """

    async def run(session, call):
        await session.append(call.succeed("rain"))

    async def main():
        session = await Session.open(store, "s1")
        async with asyncio.TaskGroup() as tools, session.decode(Scripted("a1"), asking(5)) as events:
            async for event in events:
                if event.type == "tool.called":
                    calls = {call.call_id: call for call in session.transcript["a1"].tool_calls}
                    tools.create_task(run(session, calls[event.call_id]))
        return session

    session = asyncio.run(main())

    assert 5 == store.types.count("tool.success")
    assert [] == find_problems(store.read("s1"))
    assert fold(store.read("s1")) == session.transcript
    assert MessageStatus.COMPLETED is session.transcript["a1"].status


def test_many_tasks_append(store):
    """
    Appends of many tasks never conflict with each other.
    """

    async def main():
        session = await Session.open(store, "s1")
        await asyncio.gather(*[session.prompt("hi") for _ in range(20)])
        return session

    session = asyncio.run(main())

    assert 20 == session.seq == len(session.transcript)


def test_appends_keep_their_order(store):
    """
    Tasks get their turn in the order in which they asked.
    """
    make = ids("u")

    async def main():
        session = await Session.open(store, "s1")
        await asyncio.gather(*[session.prompt("hi", message_id=make()) for _ in range(5)])

    asyncio.run(main())

    assert ["u1", "u2", "u3", "u4", "u5"] == [event.message_id for event in store.events]


def test_many_streams_in_one_session(store):
    """
    Messages that are received at the same time do not disturb each other.
    """

    async def receive(session, message_id):
        async with session.decode(Scripted(message_id), [line(say=message_id), line(stop="stop")]) as events:
            async for _ in events:
                await asyncio.sleep(0)

    async def main():
        session = await Session.open(store, "s1")
        await asyncio.gather(*[receive(session, f"a{at}") for at in range(5)])
        return session

    session = asyncio.run(main())

    assert {f"a{at}" for at in range(5)} == {message.text for message in session.transcript}
    assert [] == find_problems(store.read("s1"))


def test_sessions_in_one_database(tmp_path):
    """
    Many sessions may share a database, one per task; each is complete when it is opened again.
    """

    async def talk(store, name):
        session = await Session.open(store, name, snapshot_every=3)
        await session.prompt("hi", message_id="u1")
        async with session.decode(Scripted("a1"), [line(say=name), line(stop="stop")]) as events:
            async for _ in events:
                pass

    async def main(store):
        await asyncio.gather(*[talk(store, f"s{at}") for at in range(5)])

    with SqliteStore(tmp_path / "chat.db") as store:
        asyncio.run(main(store))
    with SqliteStore(tmp_path / "chat.db") as store:
        sessions = [SyncSession.open(store, f"s{at}") for at in range(5)]

        assert [f"s{at}" for at in range(5)] == [session.transcript["a1"].text for session in sessions]


def test_threads_share_a_session(store):
    """
    Threads that append and receive with one blocking session never conflict with each other.
    """
    session = SyncSession.open(store, "s1")
    together = Barrier(4)

    def work(at):
        together.wait(10)
        session.prompt("hi", message_id=f"u{at}")
        list(receive(session, Scripted(f"a{at}"), [line(say="Hel"), line(say="lo"), line(stop="stop")]))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))

    assert 8 == len(session.transcript)
    assert fold(store.read("s1"), strict=True) == session.transcript


def test_batches_of_threads_are_stored_one_after_another(store):
    """
    A thread that appends waits for the batch of another one, rather than write for the same place.
    """
    first, second, together = threading.Event(), threading.Event(), []

    def enter():
        if first.is_set():
            second.set()
            return
        first.set()
        together.append(second.wait(0.2))

    store.before_append = enter
    session = SyncSession.open(store, "s1")
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(session.prompt, "ab"))

    assert [False] == together
    assert {"a", "b"} == {message.text for message in session.transcript}


def test_a_thread_reads_the_transcript_while_text_streams(store):
    """
    Neither a delta nor an end is folded while the transcript is made, which may have the message that they change.

    A delta does not wait for that; an end does.
    """
    begun, streamed, ended, waits = threading.Event(), threading.Event(), threading.Event(), []

    def read(builder):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert streamed.wait(20)
            waits.append(not ended.wait(0.2))
        return transcript.fget(builder)

    session, transcript = SyncSession.open(store, "s1"), Builder.transcript
    with ThreadPoolExecutor(1) as threads, session.decode(Scripted("a1"), HELLO) as events:
        assert ["step.started", "text.started", "text.delta"] == [next(events).type for _ in range(3)]
        with patch.object(Builder, "transcript", property(read)):
            shown = threads.submit(lambda: session.transcript["a1"].text)
            assert begun.wait(20)
            assert "text.delta" == next(events).type
            streamed.set()
            assert "text.ended" == next(events).type
            ended.set()
            assert ([True], "Hel") == (waits, shown.result(20))
        assert "Hello" == session.transcript["a1"].text


def test_a_thread_begins_an_answer_while_another_one_stops(store):
    """
    A stop looks at all answers that are received, and another one may begin meanwhile.
    """

    class Counting(Scripted):
        @property
        def usage_so_far(self):
            threads.submit(streams.enter_context, session.decode(Scripted("a2"), HELLO)).result(20)

    session = SyncSession.open(store, "s1")
    with ThreadPoolExecutor(1) as threads, ExitStack() as streams, session.decode(Counting("a1"), HELLO) as events:
        next(events)
        [_, failed] = session.stop()

    assert ("a1", "cancelled") == (failed.event.message_id, failed.event.error.kind)
    assert ["a1"] == [message.id for message in session.transcript]


def test_threads_that_ask_at_once(store):
    """
    A synchronous client waits for the first byte; until then another thread asks for nothing.
    """
    asked, answers = threading.Event(), threading.Event()

    class Silent(Provider):
        def create(self, body, message_id, *, prior=None):
            asked.set()
            answers.wait(20)
            return super().create(body, message_id, prior=prior)

    def ask():
        with session.respond(client, BODY) as events:
            return [event.type for event in events]

    client = Silent(HELLO)
    session = SyncSession.open(store, "s1")
    session.prompt("Hi")
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(ask)
        asked.wait(20)
        with pytest.raises(LocalProtocolError, match="is being received; leave that block first"):
            ask()
        answers.set()
        first.result()

    assert ["Hi", "Hello"] == [message.text for message in session.transcript]
    session.prompt("More")
    with pytest.raises(IndexError):
        ask()  # the client has no answer
    client.answers = [HELLO]
    ask()
    assert "Hello" == session.transcript.last_answer.text


def test_an_answer_that_waits_to_be_stored(store):
    """
    As long as all of an answer has come and nothing of it is stored, no other one is asked for.
    """
    asked, reads, is_read, refused = asyncio.Event(), threading.Event(), threading.Event(), threading.Event()

    async def chunks():
        await asked.wait()
        yield line(say="Hello") + line(stop="stop")

    def read(*given, **more):
        reads.set()
        assert is_read.wait(20)
        return store.inner.read(*given, **more)

    async def main():
        session, client = await Session.open(store, "s1"), SlowProvider(chunks())
        await session.prompt("Hi")
        answering = asyncio.create_task(answer(session, client))
        await until(lambda: client.requests)
        store.read, store.before_append = read, lambda: refused.wait(20)
        other = asyncio.create_task(answer(session, client))
        await until(reads.is_set)
        asked.set()
        for _ in range(5):  # it waits for the session then
            await asyncio.sleep(0)
        is_read.set()
        with pytest.raises(LocalProtocolError, match="is being received; leave that block first"):
            await other
        refused.set()
        await answering

        assert ["Hi", "Hello"] == [message.text for message in session.transcript]

    run(main())


def test_a_store_has_the_context_of_its_caller(store):
    """
    Its calls are made in threads: a tracer finds there what is current in the task that appends.
    """
    current, seen = ContextVar("current"), []
    store.before_append = lambda: seen.append(current.get(None))

    async def main():
        session = await Session.open(store, "s1")
        current.set("span-1")
        await session.prompt("Hi")

    asyncio.run(main())

    assert ["span-1"] == seen
