"""
Turns in bad moments: stops, prompts and starts at any time, and stores, moves and processes that fail.
"""

import asyncio
import gc
import logging
import threading
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from assistant_events import Awaits, PromptSubmitted, find_problems
from assistant_events.errors import ConflictError, LocalProtocolError, OwnerError, StoreError
from assistant_events.session import Session, Turns, streams
from assistant_events.stores import MemoryStore
from tests.session.moves import (
    BODY,
    OFTEN,
    RUN,
    SOON,
    FailingStore,
    SlowProvider,
    app,
    left_by_a_dead_worker,
    run,
    silent,
    until,
    with_run,
)
from tests.session.scripted import ASKS, CALL, HELLO, Provider, Store, line


def types(store, session_id="s1"):
    """
    Return the types of a log without problems.
    """
    records = list(store.read(session_id))
    assert [] == find_problems(records)
    return [record.event.type for record in records]


def started(session):
    """
    Return whether a call of a session was started.
    """
    return any(call.attempt for call in session.transcript.pending_tool_calls)


def counting(ran):
    """
    Return a tool that notes its runs.
    """

    def tool(run):
        ran.append(run.key)
        return "rain"

    return tool


def stop_from_elsewhere(store, client=None):
    """
    Stop the turn as another process does.
    """

    async def stop():
        return await (await Session.open(store, "s1")).stop(client)

    return stop()


# -- starts


@pytest.mark.parametrize("later", range(8))
def test_a_start_at_the_moment_of_the_end(later):
    """
    A start between the end of a task and the callback of that end begins another task.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO, HELLO)
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            others = asyncio.all_tasks()
            turns.start(session)
            [task] = asyncio.all_tasks() - others
            for _ in range(later):
                await asyncio.sleep(0)
            await ended(task)
            store.append("s1", [PromptSubmitted(message_id="u2", content="And?")])
            turns.start(session)

            await until(lambda: 2 == len(client.requests))

    run(main())


async def ended(task):
    """
    Return in the pass of the event loop in which a task ends, before its callbacks if this one is the last of the pass.
    """
    while not task.done():  # noqa: ASYNC110 - an event would come after the callbacks
        await asyncio.sleep(0)


def test_a_prompt_during_a_move_that_fails():
    """
    The move fails, and the prompt that came meanwhile gets its answer.
    """

    async def main():
        store, client, entered, gate = MemoryStore(), Provider(HELLO), asyncio.Event(), asyncio.Event()
        answering, faults = app(client), [ValueError("no")]

        async def move(session):
            if faults:
                entered.set()
                await gate.wait()
                raise faults.pop()
            await answering(session)

        async with Turns(store, move, client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            turns.start(session)
            await entered.wait()
            await session.prompt("And?")
            turns.start(session)
            gate.set()

            await until(lambda: "Hello" == session.transcript.last.text)
            assert ["user", "user", "assistant"] == [message.type for message in session.transcript]

    run(main())


@pytest.mark.parametrize("starts", [True, False], ids=["with a start", "without one"])
def test_an_approval_through_the_same_session(starts):
    """
    The task that waits continues, though its session has no records of others to read.
    """

    async def main():
        client = Provider(ASKS, HELLO)
        move = app(client, needs_approval=lambda call: True)
        async with Turns(MemoryStore(), move, client=client, every_s=0.05, poll_s=0.01) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: any(call.waits for call in session.transcript.pending_tool_calls))
            await session.append(session.transcript.pending_tool_calls[0].approve())
            if starts:
                turns.start(session)

            await until(lambda: session.transcript.awaits is Awaits.USER)
            assert "Hello" == session.transcript.last.text

    run(main())


def test_a_start_wakes_a_task_that_waits():
    """
    An approval with a start does not wait for the next look at the log.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS, HELLO)
        move = app(client, needs_approval=lambda call: True)
        async with Turns(store, move, client=client, every_s=3600, poll_s=3600) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: any(call.waits for call in session.transcript.pending_tool_calls))
            other = await Session.open(store, "s1")
            await other.append(other.transcript.pending_tool_calls[0].approve())
            await turns.run(session)

            assert "Hello" == session.transcript.last.text

    run(main())


def test_several_workers_start_one_session_at_once():
    """
    Each move is made by one of them.
    """

    async def main():
        store, ran = MemoryStore(), []
        client = Provider(ASKS, HELLO)
        made = [Turns(store, app(client, counting(ran)), client=client, **SOON) for _ in range(4)]
        async with AsyncExitStack() as blocks:
            sessions = [await (await blocks.enter_async_context(turns)).open("s1") for turns in made]
            await sessions[0].prompt("Weather?")
            await asyncio.gather(*[turns.run(session) for turns, session in zip(made, sessions, strict=True)])

        assert (1, 2) == (len(ran), len(client.requests))
        assert {"Hello"} == {session.transcript.last.text for session in sessions}
        assert [] == find_problems(store.read("s1"))

    run(main())


def test_a_prompt_during_an_answer():
    """
    The answer comes to its end, and the prompt gets one of its own.
    """

    async def main():
        gate = asyncio.Event()

        async def slowly():
            yield line(say="Hel")
            await gate.wait()
            yield line(say="lo")
            yield line(stop="stop")

        store, client = MemoryStore(), SlowProvider(slowly(), (line(say="And you?"), line(stop="stop")))
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            turns.start(session)
            await until(lambda: session.transcript.last.text == "Hel")
            await (await turns.open("s1")).prompt("How are you?")
            gate.set()
            await until(lambda: "And you?" == session.transcript.last.text and not store.unfinished())

            assert ["Hi", "Hello", "How are you?", "And you?"] == [message.text for message in session.transcript]
            assert [] == find_problems(store.read("s1"))

    run(main())


def test_a_start_while_another_worker_holds_the_session():
    """
    A worker that has seen nothing to do, and releases the session, does not make the move: this one does.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO)
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            other = await Session.open(store, "s1", worker="other")
            async with other.claimed():
                await session.prompt("Hi")
                tries = []
                claim, store.claim = store.claim, lambda *args, **more: tries.append(args) or claim(*args, **more)
                turns.start(session)
                await until(lambda: tries)

            await until(lambda: "Hello" == session.transcript.last.text)

    run(main())


# -- stops


def test_a_stop_between_the_look_and_the_move():
    """
    What a move begins all the same is cancelled: no tool of it runs, and the model is not asked again.
    """

    async def main():
        store, client, ran = MemoryStore(), Provider(ASKS, HELLO), []
        answering = app(client, counting(ran))

        async def move(session):
            if not client.requests:
                await stop_from_elsewhere(store)
            await answering(session)

        async with Turns(store, move, client=client, every_s=3600, poll_s=3600) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            await turns.run(session)

            assert ([], 1, Awaits.USER) == (ran, len(client.requests), session.transcript.awaits)
            assert {} == store.unfinished()
            assert "tool.started" not in types(store)

    run(main())


def test_a_stop_between_two_moves():
    """
    The next move is not made.
    """

    async def main():
        store, client, ran = MemoryStore(), Provider(ASKS), []
        answering = app(client, counting(ran))

        async def move(session):
            await answering(session)
            await stop_from_elsewhere(store)

        async with Turns(store, move, client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            await turns.run(session)

            [call] = session.transcript.messages[1].tool_calls
            assert ([], "cancelled", Awaits.USER) == (ran, call.error.kind, session.transcript.awaits)

    run(main())


def test_a_stop_at_the_end_of_an_answer():
    """
    Whichever is first, the log is whole and no move follows.
    """

    async def main():
        for before_last in (True, False):
            store, client = Store(), Provider(HELLO)
            async with Turns(store, app(client), client=client, **SOON) as turns:
                session = await turns.open("s1")
                await session.prompt("Hi")

                def stopping(store=store, before_last=before_last):
                    if ["text.started"] == store.batches[-1:][0][-1:] and before_last:
                        store.before_append = None
                        asyncio.run(stop_from_elsewhere(store.inner))

                store.before_append = stopping
                await turns.run(session)
                await stop_from_elsewhere(store.inner)
                await session.refresh()

                expected = ("failed", "cancelled") if before_last else ("completed", None)
                last = session.transcript.last
                assert (*expected, Awaits.USER) == (
                    last.status,
                    last.error and last.error.kind,
                    session.transcript.awaits,
                )
                assert 1 == len(client.requests)
                assert [] == find_problems(store.read("s1"))

    run(main())


def test_a_stop_while_a_tool_blocks_a_thread():
    """
    The turn ends at once; the thread ends when it likes, and its result is dropped.
    """

    async def main():
        store, client, gate, ended = MemoryStore(), Provider(ASKS, HELLO), threading.Event(), []

        def tool(run):
            gate.wait(20)
            ended.append(run.key)
            return "late"

        async with Turns(store, app(client, tool), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: started(session))
            await stop_from_elsewhere(store)
            await turns.run(session)
            assert ([], Awaits.USER) == (ended, session.transcript.awaits)

            gate.set()
            await until(lambda: ended)
            await session.prompt("Again")
            await turns.run(session)
            assert "Hello" == session.transcript.last.text
            assert "tool.success" not in types(store)

    run(main())


def test_a_stop_while_a_person_is_asked():
    """
    The call is cancelled, and a later approval is refused by the log.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS)
        move = app(client, needs_approval=lambda call: True)
        async with Turns(store, move, client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: any(call.waits for call in session.transcript.pending_tool_calls))
            person = await Session.open(store, "s1")
            await stop_from_elsewhere(store)
            await turns.run(session)

            with pytest.raises(ConflictError):
                await person.append(person.transcript.pending_tool_calls[0].approve())
            assert (1, Awaits.USER) == (len(client.requests), session.transcript.awaits)
            assert {} == store.unfinished()

    run(main())


def test_a_stop_after_a_second_prompt():
    """
    Both prompts came before the stop, so neither is answered.
    """

    async def main():
        store, client = MemoryStore(), SlowProvider(silent(line(say="Hel")), HELLO)
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            turns.start(session)
            await until(lambda: session.transcript.last.text == "Hel")
            await session.prompt("And?")
            await stop_from_elsewhere(store)
            await turns.run(session)

            assert (1, Awaits.USER) == (len(client.requests), session.transcript.awaits)
            assert ["user", "assistant", "user", "assistant"] == [message.type for message in session.transcript]
            assert [] == find_problems(store.read("s1"))

    run(main())


@pytest.mark.parametrize("then", ["prompt", "edit"])
@pytest.mark.parametrize("doing", ["an answer", "a tool"])
def test_a_stop_and_the_next_prompt_at_once(then, doing):
    """
    What runs is cancelled though the stop is not the last of the log any more, and the next prompt is answered.
    """

    async def main():
        ended = []

        async def tool(run):
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(run.key)

        answers = (silent(line(say="Hel")), HELLO) if doing == "an answer" else (ASKS, HELLO)
        store, client = MemoryStore(), SlowProvider(*answers)
        async with Turns(store, app(client, tool), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi", message_id="u1")
            turns.start(session)
            await until(lambda: started(session) or session.transcript.last.text == "Hel")
            other = await Session.open(store, "s1")
            if then == "prompt":
                await other.stop()
                await other.prompt("And?")
            else:
                await other.edit("u1", "And?")
            await turns.run(session)

            assert ("Hello", 2) == (session.transcript.last.text, len(client.requests))
            assert 0 == len(ended) if doing == "an answer" else 1 == len(ended)
            assert [] == find_problems(store.read("s1"))

    run(main())


@pytest.mark.parametrize("chunks", [(), (line(say="Hel"),)], ids=["before the first byte", "in its text"])
def test_a_silent_answer_that_is_stopped_and_regenerated_at_once(chunks):
    """
    The rewind removes what the stop has left in the transcript; the model is asked again all the same.
    """

    async def main():
        store, client = MemoryStore(), SlowProvider(silent(*chunks), HELLO)
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi", message_id="u1")
            turns.start(session)
            await until(lambda: client.requests and (not chunks or session.transcript.last.text == "Hel"))
            other = await Session.open(store, "s1")
            await other.stop()
            await other.regenerate(other.transcript.last.id)
            await turns.run(session)

            assert (["u1", "Hello"], 2) == (
                [session.transcript.messages[0].id, session.transcript.messages[1].text],
                len(client.requests),
            )
            assert "step.failed" in types(store)

    run(main())


def test_a_silent_answer_that_is_regenerated():
    """
    Its stream gives nothing that could end it, so the move is cancelled, and the model is asked again.
    """

    async def main():
        store, client = MemoryStore(), SlowProvider(silent(line(say="Hel")), HELLO)
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            turns.start(session)
            await until(lambda: session.transcript.last.text == "Hel")
            other = await Session.open(store, "s1")
            await other.regenerate(other.transcript.last.id)
            await turns.run(session)

            assert ("Hello", 2) == (session.transcript.last.text, len(client.requests))
            assert "history.rewound" in types(store)

    run(main())


def test_a_stop_of_a_run_that_is_resumed():
    """
    A silent run that this process took up ends at the next look at the log, and at the provider.
    """

    async def main():
        store = left_by_a_dead_worker(*with_run(RUN))
        client = SlowProvider(silent())
        async with Turns(store, app(client), client=client, alone=True, **SOON) as turns:
            await until(lambda: client.resumed)
            await stop_from_elsewhere(store)
            session = await turns.open("s1")
            await turns.run(session)

            assert ("cancelled", Awaits.USER) == (session.transcript["a1"].error.kind, session.transcript.awaits)
            assert ["a1"] == client.stopped

    run(main())


# -- failures


@pytest.mark.parametrize("what", ["step.started", "text.ended", "tool.started", "tool.success", "claim", "release"])
def test_a_store_that_fails_once(what):
    """
    The turn waits for the store and comes to its end, and every tool runs at most once.
    """

    async def main():
        store, ran = FailingStore(), []
        client = Provider((), (), ASKS, HELLO) if what == "step.started" else Provider(ASKS, HELLO)
        async with Turns(store, app(client, counting(ran)), client=client, **OFTEN) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            store.fail[what] = 1
            await turns.run(session)

            assert Awaits.USER is session.transcript.awaits
            assert len(ran) <= 1
            assert [] == find_problems(store.inner.read("s1"))
            assert 0 == store.fail[what]
            if what in {"tool.started", "tool.success", "claim", "release"}:
                assert "Hello" == session.transcript.last.text

    run(main())


def test_a_claim_that_is_not_released_at_once():
    """
    The worker that holds it lives on and releases it later, so that another one answers the next prompt.
    """

    async def main():
        store, client = FailingStore(), Provider(HELLO, HELLO)
        async with (
            Turns(store, app(client), client=client, worker="w1", **OFTEN) as turns,
            Turns(store, app(client), client=client, worker="w2", **OFTEN) as others,
        ):
            session = await turns.open("s1")
            await session.prompt("Hi")
            store.fail["release"] = 1
            await turns.run(session)
            other = await others.open("s1")
            await other.prompt("And you?")
            others.start(other)
            await until(lambda: not store.unfinished())

            assert 0 == store.fail["release"]

    run(main())


def test_a_store_that_cannot_be_read_during_a_move():
    """
    A look at the log that fails does not end the move.
    """

    async def main():
        store, client, gate = FailingStore(), Provider(ASKS, HELLO), asyncio.Event()

        async def tool(run):
            store.fail["read"] = 3
            await gate.wait()
            return "rain"

        async with Turns(store, app(client, tool), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: 0 == store.fail.get("read"))
            gate.set()
            await turns.run(session)

            assert ("Hello", "success") == (
                session.transcript.last.text,
                session.transcript.messages[1].tool_calls[0].status,
            )

    run(main())


def test_a_session_that_cannot_be_opened_at_once():
    """
    A session that was taken over is opened as soon as the store can.
    """

    async def main():
        store, client = FailingStore(), Provider(HELLO)
        store.inner = left_by_a_dead_worker()
        store.fail["read"] = 2
        async with Turns(store, app(client), client=client, alone=True, **OFTEN):
            await until(lambda: not store.inner.unfinished())
        assert "text.ended" in types(store.inner)

    run(main())


def test_a_worker_without_a_sign_of_life():
    """
    Whatever the store raises, the next sign of life is tried.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO)
        tries = []

        class Broken(Store):
            def take_over(self, worker, **more):
                tries.append(worker)
                if 1 < len(tries) < 4:
                    raise ValueError("damaged")
                return store.take_over(worker, **more)

        async with Turns(Broken(), app(client), client=client, **OFTEN):
            await until(lambda: len(tries) > 4)

    run(main())


def test_the_end_of_the_block_while_sessions_are_taken_over():
    """
    It waits for the store, which the app closes next.
    """

    async def main():
        store, client = MemoryStore(), Provider()
        begun, may_end, ended, is_entered = threading.Event(), threading.Event(), [], []

        class Slow(Store):
            def take_over(self, worker, **more):
                if is_entered:
                    begun.set()
                    assert may_end.wait(30)
                    ended.append(worker)
                return store.take_over(worker, **more)

        turns = Turns(Slow(), app(client), client=client, **OFTEN)
        await turns.__aenter__()
        is_entered.append(True)
        await until(begun.is_set)
        leaving = asyncio.create_task(turns.__aexit__(None))
        await until(turns._looking.done)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not leaving.done()
        may_end.set()
        await leaving
        assert [turns.worker] == ended

    run(main())


@pytest.mark.parametrize("when", ["while a tool runs", "while a person is asked"])
def test_a_deleted_session(when):
    """
    The turn of a session that is deleted meanwhile ends.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS)
        asks = when == "while a person is asked"

        async def tool(run):
            store.delete("s1")
            return "rain"

        move = app(client, tool, needs_approval=lambda call: asks)
        async with Turns(store, move, client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            others = asyncio.all_tasks()
            turns.start(session)
            [task] = asyncio.all_tasks() - others
            if asks:
                await until(lambda: any(call.waits for call in session.transcript.pending_tool_calls))
                store.delete("s1")
            await until(task.done)

            assert [] == list(store.read("s1"))

    run(main())


def test_a_session_that_another_process_deletes():
    """
    Its answer ends at the next look at the log.
    """

    async def main():
        store, client = MemoryStore(), SlowProvider(silent(line(say="Hel")))
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            earlier = asyncio.all_tasks()
            turns.start(session)
            [task] = asyncio.all_tasks() - earlier
            await until(lambda: "Hel" == session.transcript.last.text)
            store.delete("s1")
            await until(task.done)
            assert [] == list(store.read("s1"))

    run(main())


def test_a_session_that_begins_anew_under_the_name_of_a_deleted_one():
    """
    Nothing is asked for the old one, whose object a task still has, and the new one is answered.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO)
        async with Turns(store, app(client), client=client, poll_s=0.01, every_s=60) as turns:
            old = await turns.open("s1")
            await old.prompt("Hi")
            await old.prompt("Are you there?")
            store.delete("s1")
            await (await Session.open(store, "s1")).prompt("Hello?")
            turns.start(old)
            await until(lambda: "step.ended" in types(store))

            assert ["Hello?", "Hello"] == [each.text for each in (await Session.open(store, "s1")).transcript]
            assert 1 == len(client.requests)

    run(main())


def test_a_move_that_raises_while_tools_wait(caplog):
    """
    The calls fail with its error, the user sees the end of the turn, and the log of the app has the traceback.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS)
        answering = app(client)

        async def move(session):
            if session.transcript.awaits is Awaits.TOOLS:
                raise ValueError("no tools here")
            await answering(session)

        async with Turns(store, move, client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            with pytest.raises(ValueError, match="no tools here"):
                await turns.run(session)

            [call] = session.transcript.messages[1].tool_calls
            errors = [call.error, session.transcript.last.error]
            assert [("unknown", "ValueError: no tools here")] * 2 == [(each.kind, each.message) for each in errors]
            assert (Awaits.USER, {}) == (session.transcript.awaits, store.unfinished())
            [record] = caplog.records
            assert "Traceback" in record.getMessage()
            assert record.exc_info is None  # whose text may have credentials

    run(main())


def test_a_move_that_raises_in_an_answer():
    """
    The answer is closed, and its run is stopped at the provider: nothing would resume it.
    """

    async def main():
        store, client = left_by_a_dead_worker(), Provider((line(lives="run-1"), line(say="Hel"), line(say="lo")))

        async def move(session):
            async with session.respond(client, BODY) as events:
                async for event in events:
                    if event.type == "text.delta":
                        raise ValueError("the browser has left")

        async with Turns(store, move, client=client, alone=True, **SOON) as turns:
            session = await turns.open("s1")
            with pytest.raises(ValueError, match="the browser has left"):
                await turns.run(session)

            await session.refresh()
            _, answer, failed = session.transcript.messages
            assert ("aborted", "unknown", Awaits.USER) == (
                answer.error.kind,
                failed.error.kind,
                session.transcript.awaits,
            )
            assert [answer.id] == client.stopped

    run(main())


def test_a_result_that_comes_while_a_turn_fails():
    """
    It stays, and the other calls fail with the error of the move.
    """

    async def main():
        calls = [line(call={**CALL, "id": name}) for name in ("c1", "c2")]
        store, client = Store(), Provider((*calls, line(stop="tool-calls")))
        answering = app(client)

        async def move(session):
            if session.transcript.awaits is not Awaits.TOOLS:
                await answering(session)
                return
            first, _ = session.transcript.pending_tool_calls

            def answered():
                store.before_append = None
                store.inner.append("s1", [first.succeed("sun")])

            store.before_append = answered
            raise ValueError("no tools here")

        async with Turns(store, move, client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            with pytest.raises(ValueError, match="no tools here"):
                await turns.run(session)

            statuses = [call.status for call in session.transcript.messages[1].tool_calls]
            assert (["success", "failed"], Awaits.USER) == (statuses, session.transcript.awaits)

    run(main())


def test_a_conflict_of_a_move():
    """
    A move that another writer has forestalled is made again, with what that one has written.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS, HELLO)
        answering, moves = app(client), []

        async def move(session):
            moves.append(session.transcript.awaits)
            if session.transcript.awaits is not Awaits.TOOLS:
                await answering(session)
                return
            [call] = session.transcript.pending_tool_calls
            store.append("s1", [call.succeed("sun")])
            await session.append(call.succeed("rain"))

        async with Turns(store, move, client=client, every_s=3600, poll_s=0.01) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            await turns.run(session)

            assert ["model", "tools", "model"] == moves
            assert ("sun", "Hello") == (
                session.transcript.messages[1].tool_calls[0].output[0].text,
                session.transcript.last.text,
            )

    run(main())


def test_a_move_that_cancels_itself():
    """
    It is an error as any other: the turn does not disappear without a trace.
    """

    async def main():
        async def move(session):
            raise asyncio.CancelledError

        async with Turns(MemoryStore(), move, client=Provider(), **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            with pytest.raises(Exception, match="the move was cancelled"):
                await turns.run(session)
            assert "the move was cancelled" in session.transcript.last.error.message

    run(main())


def test_a_run_that_cannot_be_resumed_at_first():
    """
    It is tried again until the provider answers, by the worker that has the session.
    """

    async def main():
        store = left_by_a_dead_worker(*with_run(RUN))
        client = Provider([ConnectionError("down")], [ConnectionError("down")], HELLO)
        async with Turns(store, app(client), client=client, alone=True, **OFTEN) as turns:
            session = await turns.open("s1")
            await turns.run(session)

            assert (["a1"] * 3, "Hello") == (client.resumed, session.transcript["a1"].text)

    run(main())


@pytest.mark.parametrize("refusing", ["provider", "store"])
def test_a_run_that_can_never_be_resumed(refusing, caplog, monkeypatch):
    """
    Each try is logged, and the pauses between them grow to a limit; a stop ends them.
    """
    monkeypatch.setattr(streams, "PAUSES_S", ())

    async def main():
        store = FailingStore()
        store.inner = left_by_a_dead_worker(*with_run(RUN))
        client = Provider(*[[ConnectionError("down")] if refusing == "provider" else HELLO for _ in range(100)])
        turns = Turns(store, app(client), client=client, alone=True, every_s=0.001, poll_s=0.001)
        store.fail = {} if refusing == "provider" else dict.fromkeys(("step.restarted", "text.ended"), 1000)
        async with turns:
            session = await turns.open("s1")
            turns.start(session)
            await until(lambda: 10 == len(tries(caplog)))
            store.fail = {}
            await (await Session.open(store, "s1")).stop()
            await turns.run(session)

        expected = [f"{each / 1000:g} s" for each in (1, 2, 4, 8, 16, 32, 64, 64, 64, 64)]
        assert expected == tries(caplog)[:10]
        assert Awaits.USER is session.transcript.awaits

    run(main())


def tries(caplog):
    """
    Return the pauses that were logged before other tries.
    """
    logged = [record.getMessage() for record in caplog.records]
    return [text.split(" again in ")[1].split(":")[0] for text in logged if " again in " in text]


@pytest.mark.parametrize("what", ["text.started", "text.ended"])
def test_a_store_that_fails_during_an_answer(what, monkeypatch):
    """
    The stream of an answer that could not be stored is closed, although nothing has collected it.
    """
    monkeypatch.setattr(streams, "PAUSES_S", ())

    async def main():
        store, open_streams = FailingStore(), set()

        async def chunks():
            open_streams.add(name := len(client.requests))
            try:
                for chunk in (*HELLO[:2], line(think="hm")):
                    yield chunk
                await asyncio.Event().wait()
            finally:
                open_streams.discard(name)

        client = SlowProvider(*[chunks() for _ in range(3)], HELLO)
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            store.fail[what] = 1
            gc.disable()
            try:
                turns.start(session)
                await until(lambda: 0 == store.fail[what] and not open_streams)
            finally:
                gc.enable()

    run(main())


@pytest.mark.parametrize("what", ["step.started", "text.started", "text.ended", "step.ended"])
def test_a_store_that_fails_for_a_moment(what, monkeypatch):
    """
    The answer waits for the store, and its model is asked once.
    """
    monkeypatch.setattr(streams, "PAUSES_S", (0.001,) * 4)

    async def main():
        store, client = FailingStore(), Provider(HELLO)
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            store.fail[what] = 3
            await turns.run(session)

            assert (1, "Hello") == (len(client.requests), session.transcript.last.text)
            assert 0 == store.fail[what]

    run(main())


def test_a_prompt_of_another_process():
    """
    The worker that has claimed the session last answers it by itself.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO, HELLO)
        async with Turns(store, app(client), client=client, **OFTEN) as turns:
            session = await turns.open("s1")
            await session.prompt("One")
            await turns.run(session)
            other = await Session.open(store, "s1")
            await other.prompt("Two")
            await until(lambda: {} == store.unfinished())
            await other.refresh()

            assert (2, Awaits.USER) == (len(client.requests), other.transcript.awaits)

    run(main())


# -- workers


@pytest.mark.parametrize("worker", [None, "another"])
def test_a_session_of_another_worker(worker):
    """
    `Turns` makes the moves of sessions that were opened for its worker: no claim would protect those of another one.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO)
        async with Turns(store, app(client), client=client, worker="w1", **SOON) as turns:
            session = await Session.open(store, "s1", worker=worker)
            await session.prompt("Hi")
            opened = "for worker 'another'" if worker else "without a worker"
            with pytest.raises(
                LocalProtocolError, match=f"^session 's1' was opened {opened}; open it with `Turns.open`"
            ):
                turns.start(session)

    run(main())


def test_a_worker_whose_clock_stops(caplog):
    """
    Another one takes over; what the old one still sends is refused, and it waits until the turn has ended.
    """

    async def main():
        now = [datetime(2026, 1, 1, tzinfo=UTC)]
        store = MemoryStore(clock=lambda: now[0])
        gate, answers = asyncio.Event(), Provider(ASKS, HELLO)

        async def tool(run):
            await gate.wait()
            return "late"

        old = Turns(store, app(answers, tool), client=answers, worker="old", every_s=3600, poll_s=0.01)
        new = Turns(store, app(answers), client=answers, worker="new", **SOON)
        async with old:
            session = await old.open("s1")
            await session.prompt("Weather?")
            waiting = asyncio.create_task(old.run(session))
            await until(lambda: started(session))
            now[0] += timedelta(seconds=20)
            async with new:
                gate.set()
                person = await Session.open(store, "s1")
                [left] = person.transcript.unfinished()
                assert left.is_outcome_unknown
                await until(lambda: "FencedError" in caplog.text)  # the old worker has sent its result
                await person.append(person.transcript.pending_tool_calls[0].fail("not known"))
                await waiting

            assert ("Hello", 2) == (session.transcript.last.text, len(answers.requests))
            assert 1 == types(store).count("tool.failed")
            assert "tool.success" not in types(store)

    run(main())


async def halves(gate, closed):
    """
    Yield an answer, the second half of it behind *gate*, and note in *closed* when it is left.
    """
    try:
        yield line(say="Hel")
        await gate.wait()
        yield line(say="lo")
        yield line(stop="stop")
    finally:
        closed.append(True)


def test_an_answer_in_a_session_that_another_owner_has_begun_anew(caplog):
    """
    Nothing of it is stored again and again while the new owner waits: the connection is closed at once.
    """

    async def main():
        store, gate, closed = Store(), asyncio.Event(), []

        def begun_anew():
            raise OwnerError("s1")

        client = SlowProvider(halves(gate, closed))
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1", owner="ada")
            await session.prompt("Hi")
            turns.start(session)
            await until(lambda: session.transcript.last.text == "Hel")
            store.before_append = begun_anew
            gate.set()
            await until(lambda: closed)
            store.before_append = None

        assert "is stored again" not in caplog.text

    run(main())


@pytest.mark.parametrize("poll_s", [0.01, 3600], ids=["looks at the log", "does not look"])
def test_an_answer_of_a_worker_whose_clock_stops(poll_s, caplog):
    """
    The new worker closes the answer; the old one's connection is closed, its log stays as it was, and no turn fails.
    """

    async def main():
        now = [datetime(2026, 1, 1, tzinfo=UTC)]
        store = MemoryStore(clock=lambda: now[0])
        gate, closed = asyncio.Event(), []

        client = SlowProvider(halves(gate, closed))
        old = Turns(store, app(client), client=client, worker="old", every_s=3600, poll_s=poll_s)
        async with old:
            session = await old.open("s1")
            await session.prompt("Hi")
            waiting = asyncio.create_task(old.run(session))
            await until(lambda: session.transcript.last.text == "Hel")
            now[0] += timedelta(seconds=20)
            async with Turns(store, app(client), client=client, worker="new", **SOON):
                await until(lambda: not store.unfinished())
            before = types(store)
            if poll_s < 1:
                await until(lambda: session.seq == store.seq("s1"))
            gate.set()
            await until(lambda: closed and "FencedError" in caplog.text)
            if poll_s < 1:
                await waiting
            else:
                waiting.cancel()

        assert before == types(store)
        assert "interrupted" == (await Session.open(store, "s1")).transcript.last.error.kind
        assert [] == [record for record in caplog.records if record.levelno > logging.WARNING]

    run(main())


def test_an_approval_while_the_worker_dies():
    """
    It is in the log, and the worker that takes the session over runs the call.
    """

    async def main():
        store, client, ran = MemoryStore(), Provider(ASKS, HELLO), []
        move = app(client, counting(ran), needs_approval=lambda call: True)
        async with Turns(store, move, client=client, worker="dead", **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: any(call.waits for call in session.transcript.pending_tool_calls))
        person = await Session.open(store, "s1")
        await person.append(person.transcript.pending_tool_calls[0].approve())
        async with Turns(store, move, client=client, alone=True, **SOON):
            await until(lambda: not store.unfinished())

        assert (1, 2) == (len(ran), len(client.requests))
        assert [] == find_problems(store.read("s1"))

    run(main())


def test_a_block_that_cannot_be_entered():
    """
    Where the store fails at its start, nothing is left that takes sessions up.
    """

    class Failing(MemoryStore):
        def take_over(self, worker, **options):
            raise StoreError("the disk is full")

    async def main():
        client = Provider()
        turns, tasks = Turns(Failing(), app(client), client=client, **OFTEN), asyncio.all_tasks()
        with pytest.raises(StoreError, match="the disk is full"):
            await turns.__aenter__()

        assert tasks == asyncio.all_tasks()

    run(main())


def test_the_end_of_the_block_while_moves_are_made(caplog):
    """
    Answers are closed as aborted, calls that run have an unknown outcome, claims are released, and no task is left.
    """

    async def main():
        store, client = MemoryStore(), SlowProvider(silent(line(say="Hel")), ASKS)

        async def tool(run):
            await asyncio.Event().wait()

        before = asyncio.all_tasks()
        async with Turns(store, app(client, tool), client=client, worker="w1", **SOON) as turns:
            answering, calling = await turns.open("s1"), await turns.open("s2")
            await answering.prompt("Hi")
            turns.start(answering)
            await until(lambda: answering.transcript.last.text == "Hel")
            await calling.prompt("Weather?")
            turns.start(calling)
            await until(lambda: started(calling))

        assert before == asyncio.all_tasks()
        assert ("aborted", "Hel") == (answering.transcript.last.error.kind, answering.transcript.last.text)
        assert [True] == [left.is_outcome_unknown for left in calling.transcript.unfinished()]
        assert ["s1", "s2"] == [store.claim(name, "w2").session_id for name in ("s1", "s2")]
        assert [] == [record for record in caplog.records if record.levelno >= logging.WARNING]

    run(main())


@asynccontextmanager
async def lingering_turn(store, entered, gate):
    """
    The block of a turn whose tool, once it is cancelled, sets *entered* and ends when *gate* is set.
    """
    client = Provider(ASKS)

    async def tool(run):
        try:
            await asyncio.Event().wait()
        finally:
            entered.set()
            await gate.wait()

    async with Turns(store, app(client, tool), client=client, worker="w1", **SOON) as turns:
        session = await turns.open("s1")
        await session.prompt("Weather?")
        turns.start(session)
        await until(lambda: started(session))
        yield


def test_the_end_of_the_block_is_cancelled():
    """
    It comes to its end all the same, and then the cancellation is raised.
    """

    async def main():
        store, gate, entered = MemoryStore(), asyncio.Event(), asyncio.Event()

        async def block():
            async with lingering_turn(store, entered, gate):
                pass

        before = asyncio.all_tasks()
        task = asyncio.create_task(block())
        await entered.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert before == asyncio.all_tasks()
        assert "s1" == store.claim("s1", "w2").session_id

    run(main())


def test_the_end_of_the_block_while_a_stopped_move_ends():
    """
    The move comes to its end first: the store may be closed behind the block.
    """

    async def main():
        store, gate, entered = MemoryStore(), asyncio.Event(), asyncio.Event()

        async def block():
            async with lingering_turn(store, entered, gate):
                await stop_from_elsewhere(store)
                await entered.wait()
            return gate.is_set()

        before = asyncio.all_tasks()
        task = asyncio.create_task(block())
        await entered.wait()
        await asyncio.sleep(0.05)
        gate.set()

        assert await task
        assert before == asyncio.all_tasks()
        assert "s1" == store.claim("s1", "w2").session_id

    run(main())
