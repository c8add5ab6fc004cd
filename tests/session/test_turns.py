"""
Turns: moves of the app in tasks of their own, stopped and taken up from anywhere, tools that run at most once.
"""

import asyncio
import gc
import sqlite3
import weakref
from contextlib import closing, suppress

import attrs
import pytest

from assistant_events import (
    Awaits,
    CompactionEnded,
    CompactionStarted,
    ErrorInfo,
    HistoryRewound,
    PromptSubmitted,
    StepFailed,
    ToolFailed,
    ToolStarted,
    ToolSuccess,
    UnknownEvent,
    fold,
)
from assistant_events.adapters.openai_responses.client import SyncOpenAIResponses
from assistant_events.errors import ClaimedError, FencedError, LocalProtocolError
from assistant_events.session import Session, SyncSession, Turns, run_tools
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import durable, prompt, virtual_loop
from tests.session.moves import (
    BODY,
    OFTEN,
    RUN,
    SOON,
    FailingStore,
    SlowProvider,
    answer,
    app,
    left_by_a_dead_worker,
    run,
    silent,
    until,
    with_run,
)
from tests.session.scripted import ASKS, CALL, CUT, HELLO, Provider, Scripted, Store, line


def test_a_turn_with_tools():
    """
    Prompt, call, result, answer: the moves follow one another, each start of a call is stored before its result.
    """

    async def main():
        store, client, keys = MemoryStore(), Provider(ASKS, HELLO), []

        async def tool(run):
            keys.append((run.key, run.session.transcript.pending_tool_calls[0].attempt))
            return "rain"

        async with Turns(store, app(client, tool), client=client, **SOON) as turns:
            session = await turns.open("s1", owner="ada")
            await session.prompt("Weather?")
            await turns.run(session)

            [call] = session.transcript.messages[1].tool_calls
            assert ("Hello", Awaits.USER) == (session.transcript.last.text, session.transcript.awaits)
            assert [(f"s1/{call.message_id}/c1", 1)] == keys
            assert ["tool.started", "tool.success"] == [
                record.event.type for record in store.read("s1") if record.event.type.startswith("tool.s")
            ]
            assert "ada" == store.sessions()[0].owner

    run(main())


def test_turns_keep_no_session():
    """
    A session whose turn has ended is kept by the app alone.
    """

    async def main():
        store = MemoryStore()
        async with Turns(store, app(Provider(HELLO)), client=Provider(), **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            await turns.run(session)
            kept = weakref.ref(session)
            del session
            await until(lambda: gc.collect() >= 0 and kept() is None)

    run(main())


def test_who_waits_ends_nothing():
    """
    A cancelled wait, such as that of a browser that leaves, does not end the turn.
    """

    async def main():
        gate = asyncio.Event()

        async def tool(run):
            await gate.wait()
            return "rain"

        client = Provider(ASKS, HELLO)
        async with Turns(MemoryStore(), app(client, tool), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            waiting = asyncio.create_task(turns.run(session))
            await until(lambda: any(call.attempt for call in session.transcript.pending_tool_calls))
            waiting.cancel()
            gate.set()
            await until(lambda: session.transcript.awaits is Awaits.USER)

            assert waiting.cancelled()
            assert "Hello" == session.transcript.last.text

    run(main())


@pytest.mark.parametrize("deny", [False, True])
def test_an_approval_of_another_process(deny):
    """
    A call that needs an approval waits; the approval or denial of another process starts the turn again.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS, HELLO)
        move = app(client, needs_approval=lambda call: f"{call.name} costs money")
        async with Turns(store, move, client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: any(call.waits for call in session.transcript.pending_tool_calls))

            other = await Session.open(store, "s1")
            [call] = other.transcript.pending_tool_calls
            assert "weather costs money" == call.approval_reason
            await other.append(call.deny("too dear") if deny else call.approve())
            await turns.run(session)

            [call] = session.transcript.messages[1].tool_calls
            assert ("failed" if deny else "success", 0 if deny else 1) == (call.status, call.attempt)
            assert (call.error and call.error.kind) == ("tool-denied" if deny else None)
            assert "Hello" == session.transcript.last.text

    run(main())


def test_calls_of_the_browser():
    """
    Calls that only a browser can answer are left to it, and its answer starts the turn again.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS, HELLO)
        move = app(client, of_browser={"weather"})
        async with Turns(store, move, client=client, of_browser={"weather"}, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: session.transcript.awaits is Awaits.TOOLS)
            other = await Session.open(store, "s1")
            await other.append(other.transcript.pending_tool_calls[0].succeed("sun"))
            await turns.run(session)

            assert "Hello" == session.transcript.last.text

    run(main())


@pytest.mark.parametrize(
    ("every_s", "poll_s", "looks"), [(8.0, 1.0, [0, 1, 3, 7, 15, 23, 31]), (1.0, 10.0, [0, 10, 20, 30])]
)
def test_a_turn_that_waits_looks_less_and_less_often(every_s, poll_s, looks):
    """
    Each pause is twice as long as the one before it, up to the time between signs of life; what waits is not claimed.
    """

    class Watched(MemoryStore):
        claims, looks, loop, began = 0, (), None, 0

        def claim(self, session_id, worker, **options):
            self.claims += 1
            return super().claim(session_id, worker, **options)

        def seq(self, session_id):
            self.looks += (round(self.loop.time() - self.began),)
            return super().seq(session_id)

    async def main():
        store, client = Watched(), Provider()
        store.append("s1", [prompt("Weather?"), *durable(Scripted("a1").feed(b"".join(ASKS)))])
        store.loop = asyncio.get_running_loop()
        options = {"of_browser": {"weather"}, "every_s": every_s, "poll_s": poll_s}
        store.began = store.loop.time()
        async with Turns(store, app(client), client=client, **options):
            await asyncio.sleep(32)
        return store.claims, sorted(set(store.looks))

    assert (1, looks) == virtual_loop.run(main())


# -- stop


@pytest.mark.parametrize("here", [True, False], ids=["here", "in another process"])
def test_a_stop_while_the_model_answers(here):
    """
    The answer is closed as cancelled, its run is stopped at the provider, and nothing is asked before the next prompt.
    """

    async def main():
        store, chunks = MemoryStore(), [line(say="Hel")]

        async def endless():
            for chunk in chunks:
                yield chunk
            await asyncio.Event().wait()

        client = Provider(endless(), HELLO)
        client._sent = lambda answer: answer if hasattr(answer, "__anext__") else Provider._sent(client, answer)
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            turns.start(session)
            await until(lambda: session.transcript.last.type == "assistant" and session.transcript.last.text)
            await (session if here else await Session.open(store, "s1")).stop()
            await turns.run(session)

            message = session.transcript.last
            assert ("failed", "cancelled", Awaits.USER) == (
                message.status,
                message.error.kind,
                session.transcript.awaits,
            )
            assert [message.id] == client.stopped

            await session.prompt("Again")
            await turns.run(session)
            assert "Hello" == session.transcript.last.text

    run(main())


def test_a_stop_keeps_the_text_that_is_received_here():
    """
    So does its usage: `Turns.stop` ends the turn through the session that receives the answer; another object of it has
    only checkpoints.
    """

    async def main():
        store, client = MemoryStore(), SlowProvider(silent(line(count={"input": 26}), line(say="Hel"), line(say="lo")))
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            turns.start(session)
            await until(lambda: session.transcript.last.text == "Hello")
            other = await Session.open(store, "s1")
            await turns.stop(other)

            last = other.transcript.last
            assert ("Hello", "cancelled", 26) == (last.text, last.error.kind, last.usage.input_tokens)
            assert last.usage.details["partial"]
            assert other.transcript == fold(store.read("s1"))

    run(main())


def test_a_stop_while_an_adapter_cannot_count():
    """
    It ends the turn all the same.
    """

    async def main():
        store, client = MemoryStore(), SlowProvider(silent(line(count={"input": "broken"}), line(say="Hel")))
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            turns.start(session)
            await until(lambda: session.transcript.last.text == "Hel")
            await turns.stop(session)

            assert ("cancelled", None) == (session.transcript.last.error.kind, session.transcript.last.usage)

    run(main())


def test_turns_that_have_ended_make_no_move():
    """
    Outside of its block `Turns` refuses a session; in a new block it takes it.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO)
        turns = Turns(store, app(client), client=client, **SOON)
        session = await turns.open("s1")
        with pytest.raises(LocalProtocolError, match="the turns do not run: use them inside of `async with Turns"):
            turns.start(session)
        async with turns:
            pass
        await session.prompt("Hi")
        with pytest.raises(LocalProtocolError, match="the turns do not run"):
            turns.start(session)
        async with turns:
            await turns.run(session)

        assert "Hello" == session.transcript.last.text

    run(main())


@pytest.mark.parametrize(("alone", "taken"), [(True, 250), (False, 100)])
def test_a_worker_that_is_alone_takes_all_sessions_up(alone, taken):
    """
    At once, also many of them: the last ones are those that were cut by the crash. Others leave some to one another,
    and all to the living.
    """

    async def main():
        store, client = MemoryStore(), Provider(*[HELLO] * 250)
        for number in range(250):
            name = f"s{number}"
            store.append(name, [prompt("Hi")], token=store.claim(name, "dead").token)
        async with Turns(store, app(client), client=client, alone=alone, **SOON) as turns:
            if not alone:
                assert not turns._tasks  # of the living
                await turns.take_up(dead_after_s=0)
            await until(lambda: len(store.unfinished()) == 250 - taken)
            await asyncio.sleep(0.05)
        assert 250 - taken == len(store.unfinished())

    run(main())


def test_a_wait_for_an_unknown_outcome_is_logged(caplog):
    """
    A turn that waits because a worker died during a call logs a warning: a prompt alone does not end the wait.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS)
        session = await Session.open(store, "s1")
        await session.prompt("Hi")
        await answer(session, client)
        await session.append(session.transcript.pending_tool_calls[0].start())
        async with Turns(store, app(client), client=client, alone=True, **SOON):
            await until(lambda: "the outcome of calls ['c1'] is unknown" in caplog.text)

    run(main())


@pytest.mark.parametrize("alone", [True, False], ids=["at the start", "after the death of the worker"])
def test_the_app_decides_about_calls_whose_worker_died(alone):
    """
    What it returns is their result, and the turn continues; a call of a living worker is not asked about.
    """

    async def main():
        store, client, asked = MemoryStore(), Provider(ASKS, HELLO), []

        def lost(call):
            asked.append(call.call_id)
            return call.fail("its process died") if len(asked) > 1 else None

        session = await Session.open(store, "s1", worker="dead")
        await session.prompt("Hi")
        async with session.claimed():
            await answer(session, client)
            await session.append(session.transcript.pending_tool_calls[0].start())
            async with Turns(store, app(client), client=client, alone=alone, lost=lost, **SOON) as turns:
                if not alone:
                    assert () == await turns.take_up()
                    assert [] == asked
                    await turns.take_up(dead_after_s=0)
                other = await turns.open("s1")
                await until(lambda: asked)
                turns.start(other)  # asked again: nothing was decided the first time
                await turns.run(other)
                assert ("failed", "Hello") == (
                    other.transcript.messages[1].tool_calls[0].status.value,
                    other.transcript.last.text,
                )
        assert ["c1", "c1"] == asked

    run(main())


@pytest.mark.parametrize(
    "returned", [42, "no", ToolFailed(message_id="a1", call_id="c9", error=ErrorInfo(kind="tool", message="x"))]
)
def test_what_is_no_result_of_a_lost_call(returned):
    """
    Anything else than a result of the call ends the turn, with an error that its user sees; nothing of it is stored.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS)
        session = await Session.open(store, "s1")
        await session.prompt("Hi")
        await answer(session, client)
        await session.append(session.transcript.pending_tool_calls[0].start())
        async with Turns(store, app(client), client=client, alone=True, lost=lambda _: returned, **SOON):
            await until(lambda: not store.unfinished())
        await session.refresh()
        assert "lost: expected a result of call 'c1' or None" in session.transcript.last_answer.error.message

    run(main())


def test_a_prompt_during_a_retry():
    """
    An answer that was cut at its start is not retried when a prompt has come behind it: that is kept, and answered.
    """

    class Late(MemoryStore):
        def append(self, session_id, events, **more):
            if any(isinstance(event, HistoryRewound) for event in events) and not hasattr(self, "came"):
                self.came = super().append(session_id, [prompt("And you?", message_id="u2")])
            return super().append(session_id, events, **more)

    async def main():
        store, client = Late(), Provider((ConnectionResetError("x"),), (line(say="Well"), line(stop="stop")))
        async with Turns(store, app(client), client=client, retry="empty", **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi", message_id="u1")
            await turns.run(session)
        assert {"u1", "u2"} <= {message.id for message in session.transcript}
        assert "Well" == session.transcript.last.text

    run(main())


def test_a_prompt_while_the_log_is_read_for_a_retry(monkeypatch):
    """
    The cut answer may be rewound then, the prompt behind it may not: it is answered.
    """
    asks_again = Turns.asks_again

    async def main():
        client = Provider((line(count={"input": 1}),), HELLO, HELLO)
        async with Turns(MemoryStore(), app(client), client=client, retry="empty", **SOON) as turns:
            session = await turns.open("s1")

            async def slow(self, session_id, transcript):
                found = await asks_again(self, session_id, transcript)
                if found:
                    await session.prompt("And?")
                return found

            monkeypatch.setattr(Turns, "asks_again", slow)
            await session.prompt("Hi")
            await turns.run(session)
            await turns.run(session)

            texts = [message.text for message in session.transcript if message.type == "user"]
            assert (["Hi", "And?"], "Hello", Awaits.USER) == (
                texts,
                session.transcript.last.text,
                session.transcript.awaits,
            )

    run(main())


@pytest.mark.parametrize("raises", [True, False], ids=["raises", "returns"])
def test_a_move_that_raises_behind_a_cut(raises):
    """
    It ends the turn, though the answer was cut before any content: nothing is asked for again, and the user sees why.
    """

    async def main():
        store, client = MemoryStore(), Provider((line(count={"input": 1}),), HELLO)

        async def move(session):
            await app(client)(session)
            if raises and session.transcript.last.error:
                raise ValueError("no")

        async with Turns(store, move, client=client, retry="empty", **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            with suppress(ValueError):
                await turns.run(session)
            await session.refresh()
            return session.transcript.last

    last = asyncio.run(main())
    assert ("unknown", "") == (last.error.kind, last.text) if raises else last.text == "Hello"


def test_a_stop_while_tools_run():
    """
    The calls fail as cancelled, what runs is cancelled, and the model is not asked: it is the user's move.
    """

    async def main():
        store, client, ended = MemoryStore(), Provider(ASKS), []

        async def tool(run):
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(run.call.call_id)

        async with Turns(store, app(client, tool), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: any(call.attempt for call in session.transcript.pending_tool_calls))
            await (await Session.open(store, "s1")).stop()
            await turns.run(session)

            *_, asked, stopped = session.transcript.messages
            [call] = asked.tool_calls
            assert (["c1"], "cancelled", 1) == (ended, call.error.kind, len(client.requests))
            assert ("cancelled", Awaits.USER) == (stopped.error.kind, session.transcript.awaits)

    run(main())


def test_a_stop_where_nobody_receives():
    """
    A run that a dead process has left is closed, cannot be resumed, and is stopped at the provider.
    """

    async def main():
        store, client = MemoryStore(), Provider()
        store.append("s1", [PromptSubmitted(message_id="u1", content="Hi"), *with_run(RUN)])
        session = await Session.open(store, "s1")
        await session.stop(client)

        assert (["a1"], Awaits.USER, False) == (
            client.stopped,
            session.transcript.awaits,
            session.transcript["a1"].run.resumable,
        )
        assert {} == store.unfinished()

    run(main())


@pytest.mark.parametrize("given", [[], ["Hi"]], ids=["nothing", "a prompt"])
def test_a_stop_between_the_moves(given):
    """
    A prompt without an answer gets an empty one that is cancelled; where it is the user's turn, nothing is appended.
    """

    async def main():
        session = await Session.open(MemoryStore(), "s1")
        for text in given:
            await session.prompt(text)
        records = await session.stop(Provider())

        assert (["step.started", "step.failed"] if given else []) == [record.event.type for record in records]
        assert ["acme"] * len(given) == [message.origin.provider for message in session.transcript.messages[1:]]
        assert Awaits.USER is session.transcript.awaits

    run(main())


# -- after a crash


async def taken_up(store, client, **options):
    """
    Return the transcript after all sessions of dead workers were taken up.
    """
    move = options.pop("move", None) or app(client)
    async with Turns(store, move, client=client, alone=True, **SOON, **options) as turns:
        session = await turns.open("s1")
        await turns.run(session)
        return session.transcript


def test_a_prompt_without_an_answer_is_answered():
    """
    The process died between the prompt and the first byte.
    """
    client = Provider(HELLO)

    assert "Hello" == asyncio.run(taken_up(left_by_a_dead_worker(), client)).last.text


def test_a_run_is_resumed():
    """
    A run that lives at the provider is resumed, and not asked for again.
    """
    client = Provider(HELLO)
    transcript = asyncio.run(taken_up(left_by_a_dead_worker(*with_run(RUN)), client))

    assert (["a1"], []) == (client.resumed, client.requests)
    assert ("Hello", "completed") == (transcript["a1"].text, transcript["a1"].status)


def test_a_run_with_a_call_that_was_begun_early_is_resumed():
    """
    The app may run a call before the end of the answer, which is not stopped for that.
    """
    client = Provider(ASKS, HELLO)
    start, *said = [event for event in Scripted("a1").feed(line(call=CALL)) if event.durable]
    begun = ToolStarted(message_id="a1", call_id="c1", attempt=1)
    store = left_by_a_dead_worker(attrs.evolve(start, run=RUN), *said, begun)
    transcript = asyncio.run(taken_up(store, client, lost=lambda call: call.fail("its process died")))

    assert (["a1"], []) == (client.resumed, client.stopped)
    assert (["completed", "completed"], "Hello") == (
        [each.status for each in transcript.messages[1:]],
        transcript.last.text,
    )


def test_a_run_that_nothing_resumes_is_closed():
    """
    What the provider does not keep is interrupted, and it is the move of the user.
    """
    client = Provider()
    left = left_by_a_dead_worker(*with_run(attrs.evolve(RUN, resumable=False)))
    transcript = asyncio.run(taken_up(left, client))

    assert ([], []) == (client.resumed, client.requests)
    assert "interrupted" == transcript["a1"].error.kind


def test_every_run_is_resumed():
    """
    Also one behind a run whose connection is cut again.
    """
    [start, *_] = with_run(RUN)
    client = Provider([ConnectionError("down")], HELLO)
    left = left_by_a_dead_worker(start, attrs.evolve(start, message_id="a2"))
    transcript = asyncio.run(taken_up(left, client))

    assert ["a1", "a2"] == client.resumed
    assert ("network", "Hello") == (transcript["a1"].error.kind, transcript["a2"].text)


def test_a_run_of_another_dialect_is_left(caplog):
    """
    The client of the turns cannot ask for it: it stays, for the client that can.
    """
    [start, *_] = with_run(RUN)
    left = left_by_a_dead_worker(attrs.evolve(start, origin=attrs.evolve(start.origin, dialect="other")))
    client = Provider(HELLO)

    async def main():
        async with Turns(left, app(client), client=client, alone=True, **SOON) as turns:
            await until(lambda: "the run of message 'a1' is not resumed: it is of 'other'" in caplog.text)
            session = await turns.open("s1")
        with pytest.raises(LocalProtocolError, match=r"message 'a1' cannot be resumed: it is of 'other'"):
            async with session.resume(client):
                pass
        return session.transcript

    transcript = asyncio.run(main())
    assert ([], []) == (client.resumed, client.requests)
    assert ("running", Awaits.PROVIDER) == (transcript["a1"].status, transcript.awaits)


def test_a_stop_of_a_run_of_another_dialect():
    """
    It is stopped here, and nothing is asked of a provider that does not know it.
    """
    [start, *_] = with_run(RUN)
    left = left_by_a_dead_worker(attrs.evolve(start, origin=attrs.evolve(start.origin, dialect="other")))
    client = Provider(HELLO)

    async def main():
        session = await Session.open(left, "s1")
        await session.stop(client)
        return session.transcript

    assert Awaits.USER is asyncio.run(main()).awaits
    assert [] == client.stopped


@pytest.mark.parametrize("retry", [False, True])
def test_a_step_that_was_cut_at_its_start(retry):
    """
    It is closed; with `retry` it is asked for again, once.
    """
    store, client = left_by_a_dead_worker(CUT[0]), Provider((), HELLO)
    options = {"retry": "empty"} if retry else {}
    transcript = asyncio.run(taken_up(store, client, **options))

    if retry:
        assert [("user", None), ("assistant", "interrupted")] == [
            (message.type, getattr(message, "error", None) and message.error.kind) for message in transcript
        ]
        assert (1, Awaits.USER) == (len(client.requests), transcript.awaits)
        later = asyncio.run(taken_up(store, client, **options))
        assert 1 == len(client.requests)
        assert transcript == later
    else:
        assert ("interrupted", []) == (transcript["a1"].error.kind, client.requests)


@pytest.mark.parametrize(("left", "retry"), [(CUT[:1], "empty"), (CUT, "cut")], ids=["at its start", "in a text"])
def test_a_worker_that_dies_behind_the_close_of_a_cut_step(left, retry):
    """
    What closes the step has rewound it, too: the next worker asks for it again.
    """
    inner = left_by_a_dead_worker(*left)

    class Killed(Store):
        """A store that is reached no more behind that batch."""

        def append(self, session_id, events, **more):
            self.refuse = FencedError("killed") if "step.failed" in self.types else None
            return super().append(session_id, events, **more)

    async def take_up(store, condition):
        client = Provider(HELLO)
        async with Turns(store, app(client), client=client, alone=True, retry=retry, **SOON):
            await until(condition)

    async def main():
        store = Killed()
        store.inner = inner
        await take_up(store, lambda: "step.failed" in store.types)
        await take_up(inner, lambda: not inner.unfinished())

    run(main())
    assert "Hello" == fold(inner.read("s1")).last.text


@pytest.mark.parametrize(
    ("retry", "ran", "texts"),
    [
        pytest.param("cut", False, ["Hi", "Hello"], id="replaced"),
        pytest.param("empty", False, ["Hi", "Hel"], id="stays"),
        pytest.param("cut", True, ["Hi", "Hel"], id="a call of it was run"),
    ],
)
def test_an_answer_that_was_cut_in_mid_sentence(retry, ran, texts):
    """
    The next worker asks for it again where the app wants it, and no call of it has had an effect.
    """
    said = Scripted("a1").feed(line(say="Hel") + line(said={}) + line(call=CALL))
    calls = [
        ToolStarted(message_id="a1", call_id="c1", attempt=1),
        ToolSuccess(message_id="a1", call_id="c1", output="ok"),
    ]
    events = [event for event in said if event.durable]
    store, client = left_by_a_dead_worker(*events, *(calls if ran else ())), Provider(HELLO)

    transcript = asyncio.run(taken_up(store, client, retry=retry))

    assert texts == [message.text for message in transcript]
    assert len(client.requests) == (texts[-1] == "Hello")


@pytest.mark.parametrize("rewound", [HELLO, (line(fail="auth"),)], ids=["whole", "refused"])
def test_a_regenerated_answer_that_was_cut(rewound):
    """
    It is asked for again, too, and once: what the user has rewound was not cut.
    """
    cut = (line(say="Hel"), ConnectionResetError("x"))

    async def main():
        store, client = MemoryStore(), Provider(rewound, cut, cut, HELLO)
        async with Turns(store, app(client), client=client, retry="cut", **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            await turns.run(session)
            await session.regenerate(session.transcript.last.id)
            await turns.run(session)
        last = session.transcript.last
        assert (3, "Hel", "network") == (len(client.requests), last.text, last.error.kind)

    run(main())


def test_a_turn_with_two_answers_that_were_cut():
    """
    Each is asked for again: a long turn may meet several deploys.
    """
    cut = (line(say="Hel"), ConnectionResetError("x"))

    async def main():
        client = Provider(cut, ASKS, cut, HELLO)
        async with Turns(MemoryStore(), app(client), client=client, retry="cut", **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            await turns.run(session)
        assert (4, "Hello") == (len(client.requests), session.transcript.last.text)

    run(main())


def test_a_run_that_was_cut_behind_a_call_that_was_run():
    """
    The log takes nothing more of its answer: the run is stopped, and it is the user's move.
    """
    start, *said = [event for event in Scripted("a1").feed(line(call=CALL)) if event.durable]
    events = [attrs.evolve(start, run=RUN), *said]
    cut = ErrorInfo(kind="interrupted", message="cut")
    of_call = {"message_id": "a1", "call_id": "c1"}
    store = left_by_a_dead_worker(*events, ToolSuccess(output="ok", **of_call), StepFailed(message_id="a1", error=cut))
    client = Provider(HELLO)
    before = SyncSession.open(store, "s1")
    with pytest.raises(LocalProtocolError, match=r"reconcile\(\) or stop\(\)"), before.respond(client, BODY):
        pass

    transcript = asyncio.run(taken_up(store, client))

    assert (Awaits.PROVIDER, Awaits.USER) == (before.transcript.awaits, transcript.awaits)
    assert ([], [], ["a1"]) == (client.requests, client.resumed, client.stopped)


def test_what_is_asked_for_again_is_one_of_two():
    """
    A flag would not show which.
    """
    with pytest.raises(ValueError, match='retry: expected "empty", "cut" or None, got True'):
        Turns(MemoryStore(), print, client=Provider(), retry=True)


def test_a_step_of_a_pruned_log_that_was_cut_at_its_start():
    """
    It is asked for again as long as nothing was rewound; after that, how often is not known.
    """
    store, client = left_by_a_dead_worker(CUT[0]), Provider((), HELLO)
    store.snapshot("s1", fold(store.read("s1")))
    store.prune("s1", store.seq("s1"))
    transcript = asyncio.run(taken_up(store, client, retry="empty"))

    assert (1, "interrupted") == (len(client.requests), transcript.last.error.kind)


def test_a_run_that_cannot_be_resumed_is_tried_less_and_less_often():
    """
    Each pause is twice as long as the one before it, until something is appended.
    """

    class Broken(Provider):
        def resume(self, message, *, request=None):
            self.resumed.append(asyncio.get_running_loop().time())
            return self._sent([ConnectionResetError("cut")])

    async def main():
        client, store = Broken(), left_by_a_dead_worker(*with_run(RUN))
        async with Turns(store, app(client), client=client, alone=True, every_s=1.0):
            await asyncio.sleep(8)
            store.append("s1", [UnknownEvent(type="app.noted", version=1, data={"type": "app.noted"})])
            await asyncio.sleep(12)
        return client.resumed

    assert [0, 1, 3, 7, 15, 16, 18] == virtual_loop.run(main())


BEGUN = line(count={"input": 26})
"""A chunk without content."""


@pytest.mark.parametrize(
    ("chunks", "retry", "awaits"),
    [
        pytest.param((BEGUN,), "empty", Awaits.MODEL, id="before content"),
        pytest.param((BEGUN,), None, Awaits.USER, id="without retry"),
        pytest.param((BEGUN, line(say="Hel")), "empty", Awaits.USER, id="with content"),
        pytest.param((BEGUN, line(say="Hel")), "cut", Awaits.MODEL, id="with content, which is replaced"),
    ],
)
def test_a_step_that_ends_with_the_block(chunks, retry, awaits):
    """
    A server that is restarted: a step without content, or any, is rewound with `retry`, and the next worker asks again.
    """

    async def main():
        store, client = MemoryStore(), SlowProvider(silent(*chunks))
        async with Turns(store, app(client), client=client, retry=retry, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            turns.start(session)
            end = len(chunks) - 1
            await until(
                lambda: session.transcript.last.type == "assistant" and len(session.transcript.last.text) == 3 * end
            )
            left = await turns.open("s1")
        return store, (await Session.open(store, left.session_id)).transcript

    store, left = asyncio.run(main())
    assert (awaits, awaits is Awaits.USER) == (left.awaits, left.last.type == "assistant")

    client = Provider(HELLO)
    texts = [message.text for message in asyncio.run(taken_up(store, client, retry=retry))]
    assert len(client.requests) == (awaits is Awaits.MODEL)
    assert texts[-1] == ("Hello" if client.requests else left.last.text)


async def after(gate, chunks):
    """Send *chunks* when an event has come."""
    await gate.wait()
    for chunk in chunks:
        yield chunk


def test_an_answer_that_the_app_receives_itself(caplog):
    """
    A task of the turns leaves it alone: it is neither closed nor asked for again.
    """

    async def main():
        gate = asyncio.Event()
        client = SlowProvider(after(gate, HELLO))
        async with Turns(MemoryStore(), app(client), client=client, retry="cut", **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            async with session.respond(client, BODY) as events:
                gate.set()
                async for event in events:
                    if event.type == "step.started":
                        turns.start(session)
                        await until(lambda: "its run could not be resumed" in caplog.text)
            assert "Hello" == session.transcript.last.text

    run(main())


def test_a_drain_waits_for_the_end_of_a_turn():
    """
    Its answer and its tools come to their end, the worker lives meanwhile, and no other turn begins.
    """

    async def main():
        store, gate, beats = MemoryStore(), asyncio.Event(), []
        client = SlowProvider(after(gate, ASKS), HELLO, HELLO)
        turns = Turns(store, app(client), client=client, drain_s=60, **OFTEN)
        await turns.__aenter__()
        session = await turns.open("s1")
        await session.prompt("Weather?")
        turns.start(session)
        await until(lambda: client.requests)
        store.beat = beats.append
        leaving = asyncio.create_task(turns.__aexit__(None, None, None))
        await until(lambda: len(beats) > 1)

        other = await turns.open("s2")
        await other.prompt("Hi")
        with pytest.raises(LocalProtocolError, match="the turns do not run"):
            turns.start(other)
        gate.set()
        await leaving
        last = (await Session.open(store, "s1")).transcript.last
        assert ("completed", "Hello", {turns.worker}) == (last.status, last.text, set(beats))
        assert 2 == len(client.requests)
        assert Awaits.MODEL is (await Session.open(store, "s2")).transcript.awaits

    run(main())


def test_a_drain_begins_with_a_sign_of_life():
    """
    The last one may be nearly as old as a worker may be that is alive. Whatever the store raises there ends nothing.
    """

    async def main():
        store, gate, beats = MemoryStore(), asyncio.Event(), []

        def beat(worker):
            beats.append(worker)
            raise OSError("a store of others")

        client = SlowProvider(after(gate, HELLO))
        turns = Turns(store, app(client), client=client, drain_s=60, every_s=14)
        await turns.__aenter__()
        session = await turns.open("s1")
        await session.prompt("Hi")
        turns.start(session)
        await until(lambda: client.requests)
        store.beat = beat
        leaving = asyncio.create_task(turns.__aexit__(None))
        await until(lambda: beats)
        gate.set()
        await leaving
        assert "Hello" == (await Session.open(store, "s1")).transcript.last.text

    run(main())


@pytest.mark.parametrize("end", ["its seconds are over", "an exception", "a cancellation"])
def test_a_drain_that_ends_early(end):
    """
    The answer is closed as it is without a drain.
    """

    async def main():
        store, client = MemoryStore(), SlowProvider(silent(line(say="Hel")))
        seconds = 0.05 if end == "its seconds are over" else 60
        turns = Turns(store, app(client), client=client, drain_s=seconds, **SOON)
        await turns.__aenter__()
        session = await turns.open("s1")
        await session.prompt("Hi")
        turns.start(session)
        await until(lambda: session.transcript.last.type == "assistant" and session.transcript.last.text)
        leaving = asyncio.create_task(turns.__aexit__(ValueError if end == "an exception" else None))
        if end == "a cancellation":
            await until(turns._looking.done)
            leaving.cancel()
        await asyncio.wait((leaving,))
        assert (end == "a cancellation") is leaving.cancelled()
        last = (await Session.open(store, "s1")).transcript.last
        assert ("failed", "aborted", "Hel") == (last.status, last.error.kind, last.text)

    run(main())


def test_a_drain_waits_for_no_person():
    """
    A turn that waits for an approval ends at once, and so does one whose store fails; the next worker has them.
    """

    async def main():
        store, client = FailingStore(), Provider(ASKS, HELLO)
        store.inner = MemoryStore()
        move = app(client, needs_approval=lambda call: True)
        async with Turns(store, move, client=client, drain_s=60, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            turns.start(session)
            await until(lambda: any(call.waits for call in session.transcript.pending_tool_calls))
            store.fail["claim"] = 1 << 20
            other = await turns.open("s2")
            await other.prompt("Hi")
            turns.start(other)
            await until(lambda: store.fail["claim"] < 1 << 20)

        assert Awaits.TOOLS is (await Session.open(store, "s1")).transcript.awaits
        assert Awaits.MODEL is (await Session.open(store, "s2")).transcript.awaits

    run(main())


def test_a_step_that_was_cut_later_is_not_asked_for_again():
    """
    What has come of it stays.
    """
    client = Provider(HELLO)
    transcript = asyncio.run(taken_up(left_by_a_dead_worker(*CUT), client, retry="empty"))

    assert ("interrupted", []) == (transcript["a1"].error.kind, client.requests)


def test_a_call_that_was_started_is_not_run_again():
    """
    Its outcome is unknown, which `unfinished` reports; a call that was not started is run.
    """

    async def main():
        client, ran = Provider((line(call=CALL), line(call={**CALL, "id": "c2"}), line(stop="tool-calls"))), []
        store = MemoryStore()
        async with Turns(store, app(client), client=client, worker="dead", **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            await answer(session, client)
            first, _ = session.transcript.pending_tool_calls
            await session.append(first.start())

        move = app(client, lambda run: ran.append(run.call.call_id) or "rain")
        async with Turns(store, move, client=client, alone=True, **SOON) as turns:
            other = await Session.open(store, "s1")
            while len(other.transcript.pending_tool_calls) > 1:
                await asyncio.sleep(0.01)
                await other.refresh()
            [left] = other.transcript.unfinished()
            assert (["c2"], "c1", True) == (ran, left.call_id, left.is_outcome_unknown)

            client.answers.append(HELLO)
            await other.append(other.transcript.pending_tool_calls[0].fail("nobody knows"))
            await turns.run(await turns.open("s1"))
            assert "Hello" == (await Session.open(store, "s1")).transcript.last.text

    run(main())


def test_two_workers_take_up_one_session_once():
    """
    One of them gets it.
    """

    async def main():
        store = left_by_a_dead_worker()
        clients = [Provider(HELLO), Provider(HELLO)]
        made = [Turns(store, app(client), client=client, alone=at == 0, **SOON) for at, client in enumerate(clients)]
        async with made[0], made[1]:
            session = await Session.open(store, "s1")
            while session.transcript.awaits is not Awaits.USER:
                await asyncio.sleep(0.01)
                await session.refresh()
        assert 1 == sum(len(client.requests) for client in clients)

    run(main())


def test_two_workers_beside_a_damaged_session(tmp_path, caplog):
    """
    A session whose log is damaged in the file keeps no worker from starting, and no other session from its answers.
    """
    path = tmp_path / "s.db"
    with SqliteStore(path) as store:
        for name in ("damaged", "s1"):
            store.append(name, [prompt("Hi", message_id="u1")])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE records SET body = '[{]' WHERE key >> 32 = 1")

    async def main():
        clients = [Provider(HELLO, HELLO), Provider(HELLO, HELLO)]
        with SqliteStore(path) as one, SqliteStore(path) as two:
            made = [
                Turns(store, app(client), client=client, alone=at == 0, **OFTEN)
                for at, (store, client) in enumerate(zip((one, two), clients, strict=True))
            ]
            async with made[0], made[1]:
                await until(lambda: "step.ended" in [record.event.type for record in one.read("s1")])
                two.append("s1", [prompt("And you?", message_id="u2")])
                await until(lambda: not one.unfinished())
        assert 2 == sum(len(client.requests) for client in clients)

    run(main())
    assert caplog.messages
    assert all("'damaged'" in message for message in caplog.messages)


# -- limits


def test_rounds():
    """
    A turn has at most so many answers.
    """

    async def main():
        client = Provider(*[ASKS] * 5)
        async with Turns(MemoryStore(), app(client), client=client, max_rounds=3, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            with pytest.raises(LocalProtocolError, match="its turn has 3 answers, as many as max_rounds allows"):
                await turns.run(session)
            assert 3 == len(client.requests)

    run(main())


def test_a_compaction_is_no_round():
    """
    An app may make the conversation shorter in the middle of a turn.
    """

    async def main():
        client = Provider(ASKS, HELLO)
        moves = app(client)

        async def move(session):
            await moves(session)
            if session.transcript.awaits is Awaits.MODEL:
                origin = session.transcript.last_answer.origin
                begun = CompactionStarted(message_id="k1", reason="auto", origin=origin)
                await session.append(begun, CompactionEnded(message_id="k1", text="It rains."))

        async with Turns(MemoryStore(), move, client=client, max_rounds=2, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Weather?")
            await turns.run(session)

            assert "Hello" == session.transcript.last.text

    run(main())


async def yields(session):
    yield session


@pytest.mark.parametrize(("move", "kind"), [(lambda session: 5, "int"), (yields, "async_generator")])
def test_a_move_that_cannot_be_awaited(move, kind):
    """
    The error names the move, and what belongs there.
    """

    async def main():
        async with Turns(MemoryStore(), move, client=Provider(), **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            with pytest.raises(TypeError, match=f"^move: expected an async function, it returned {kind}$"):
                await turns.run(session)

    run(main())


def test_a_move_that_appends_nothing():
    """
    It would be made for ever.
    """

    async def main():
        async def move(session):
            pass

        async with Turns(MemoryStore(), move, client=Provider(), **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            with pytest.raises(
                LocalProtocolError, match="the move has appended nothing; expected an answer, or results of calls"
            ):
                await turns.run(session)

    run(main())


def test_a_move_that_raises():
    """
    Its exception ends the turn with an answer that shows it, and the next prompt begins another one.
    """

    async def main():
        client = Provider(HELLO)
        answering, faults = app(client), [ValueError("no")]

        async def move(session):
            if faults:
                raise faults.pop()
            await answering(session)

        async with Turns(MemoryStore(), move, client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            with pytest.raises(ValueError, match="no"):
                await turns.run(session)
            failed = session.transcript.last
            await session.prompt("Again")
            await turns.run(session)

            assert ("unknown", "ValueError: no") == (failed.error.kind, failed.error.message)
            assert "Hello" == session.transcript.last.text

    run(main())


def test_a_move_that_raises_behind_a_prompt_of_another_process():
    """
    It has not read that prompt, which is answered at once.
    """

    async def main():
        store, client, faults = MemoryStore(), Provider(HELLO), [ValueError("no")]
        answering, other = app(client), await Session.open(store, "s1")

        async def move(session):
            if faults:
                await other.prompt("And?")
                raise faults.pop()
            await answering(session)

        async with Turns(store, move, client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            await turns.run(session)

        assert ["Hi", "And?", "Hello"] == [message.text for message in session.transcript]

    run(main())


# -- tools


def test_tools_that_fail_and_that_take_too_long():
    """
    An exception and a timeout are the errors of their calls; the others are not affected.
    """

    async def main():
        names = ("fails", "hangs", "works", "blocks", "waits")
        calls = [line(call={**CALL, "id": name, "name": name}) for name in names]
        client = Provider((*calls, line(stop="tool-calls")))
        session = await Session.open(MemoryStore(), "s1")
        await session.prompt("Go")
        await answer(session, client)

        def tool(run):
            return tools[run.call.name](run)

        async def hangs(run):
            await asyncio.Event().wait()

        async def waits(run):
            raise TimeoutError("the printer is off")

        async def works(run):
            await run.progress("half")
            assert "half" == session.transcript.last.tool_calls[2].output[0].text
            return {"ok": True}

        tools = {
            "fails": lambda run: 1 / 0,
            "hangs": hangs,
            "works": works,
            "blocks": lambda run: run.key,
            "waits": waits,
        }
        await run_tools(session, tool, timeout_s=0.3)

        fails, hangs_, works_, blocks, waits_ = session.transcript.last.tool_calls
        assert ("tool", True) == (fails.error.kind, "division by zero" in fails.error.message)
        assert "timeout" == hangs_.error.kind
        assert "the printer is off" in waits_.error.message
        assert {"ok": True} == works_.output[0].value
        assert f"s1/{session.transcript.last.id}/blocks" == blocks.output[0].text

    run(main())


def test_a_result_that_others_gave_first():
    """
    The first result stays, and the tool's is dropped.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS)
        session = await Session.open(store, "s1")
        await session.prompt("Go")
        await answer(session, client)

        async def tool(run):
            other = await Session.open(store, "s1")
            await other.append(other.transcript.pending_tool_calls[0].succeed("first"))
            return "second"

        await run_tools(session, tool)
        assert "first" == session.transcript.last.tool_calls[0].output[0].text

    run(main())


# -- claims of a session


def test_a_session_of_a_living_worker_is_refused():
    """
    Two workers do not answer at once; a prompt needs no claim.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO, HELLO)
        session = await Session.open(store, "s1", worker="w1")
        other = await Session.open(store, "s1", worker="w2")
        await session.prompt("Hi")
        async with session.respond(client, BODY) as events:
            with pytest.raises(ClaimedError):
                await other.respond(client, BODY).__aenter__()
            await other.prompt("And?")
            async for _ in events:
                pass
        await answer(other, client)
        assert (4, 2) == (len(other.transcript.messages), len(client.requests))

    run(main())


def test_a_worker_learns_that_another_one_has_claimed_its_session():
    """
    From then on it does not answer what others prompt there.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO)
        async with Turns(store, app(client), client=client, **SOON) as turns:
            session = await turns.open("s1")
            await session.prompt("Hi")
            await turns.run(session)
            assert {"s1"} == turns.claimed
            store.claim("s1", "w2")
            await session.prompt("And?")
            turns.start(session)
            await until(lambda: not turns.claimed)

        assert 1 == len(client.requests)

    run(main())


def test_what_an_old_worker_sends_is_refused():
    """
    A session that was taken over meanwhile takes no answer and no result of the old worker.
    """

    async def main():
        store, client = MemoryStore(), Provider(ASKS)
        old = await Session.open(store, "s1", worker="old")
        await old.prompt("Weather?")
        async with old.claimed():
            await answer(old, client)
            [claim] = store.take_over("new", dead_after_s=0)
            with pytest.raises(FencedError):
                await old.append(old.transcript.pending_tool_calls[0].succeed("late"))
        assert claim.token == store.claim("s1", "new").token - 1

    run(main())


def test_a_claim_ends_with_its_block():
    """
    It is released after the answer, also when nothing could be asked.
    """

    async def main():
        store, client = MemoryStore(), Provider(HELLO)
        session = await Session.open(store, "s1", worker="w1")
        await session.append(*CUT)
        with pytest.raises(LocalProtocolError):
            await session.respond(client, BODY).__aenter__()
        store.claim("s1", "w2")

    run(main())


@pytest.mark.parametrize(
    ("move", "client", "sentence"),
    [
        pytest.param(None, Provider(), "move: expected a function, got NoneType", id="no move"),
        pytest.param(print, None, r"expected a client such as AnthropicMessages\(\), got NoneType", id="no client"),
        pytest.param(print, Provider, "got the class Provider", id="a class"),
        pytest.param(
            print,
            SyncOpenAIResponses("key"),
            "Session takes an asynchronous client, such as OpenAIChat; SyncOpenAIChat is for SyncSession",
            id="of another face",
        ),
    ],
)
def test_arguments_that_are_none(move, client, sentence):
    """
    What is missing is named when the turns are made, and not in the log of a task; so it is by `respond`.
    """
    with pytest.raises(TypeError, match=sentence):
        Turns(MemoryStore(), move, client=client)
    if move is not None and not isinstance(client, SyncOpenAIResponses):
        with pytest.raises(TypeError, match=sentence), SyncSession.open(MemoryStore(), "s1").respond(client, BODY):
            pass


def asked_for(*answers, prompts=("Hi",)):
    """
    Return how often a model was asked, and the transcript, when turns ask again for what was cut.
    """
    client = Provider(*answers)

    async def main():
        async with Turns(MemoryStore(), app(client), client=client, retry="empty", **SOON) as turns:
            session = await turns.open("s1")
            for words in prompts:
                await session.prompt(words)
                await turns.run(session)
            return len(client.requests), session.transcript

    return asyncio.run(asyncio.wait_for(main(), 30))


def test_a_refusal_is_not_asked_for_again():
    """
    Only a cut may pass by itself.
    """
    count, transcript = asked_for((line(fail="auth"),), HELLO)

    assert (1, "auth") == (count, transcript.last.error.kind)


def test_each_turn_may_be_cut_once():
    """
    A prompt begins a new turn.
    """
    cut = (ConnectionResetError("x"),)
    count, transcript = asked_for(cut, HELLO, cut, HELLO, prompts=("Hi", "And?"))

    assert (4, None) == (count, transcript.last.error)


def test_the_app_decides_about_no_call_of_the_browser():
    """
    It waits for its person, also when it was started by a worker that has died.
    """

    async def main():
        store = MemoryStore()
        client = Provider((line(call=CALL), line(call={"id": "c2", "name": "confirm"}), line(stop="stop")))
        session = await Session.open(store, "s1")
        await session.prompt("Hi")
        await answer(session, client)
        await session.append(*[call.start() for call in session.transcript.pending_tool_calls])
        options = {"alone": True, "of_browser": ["confirm"], "lost": lambda call: call.fail("died")}
        async with Turns(store, app(client), client=client, **options, **SOON):
            await until(lambda: "tool.failed" in {record.event.type for record in store.read("s1")})
        return [each.status.value for each in fold(store.read("s1")).last.tool_calls]

    assert ["failed", "called"] == asyncio.run(main())


def test_calls_about_which_the_app_decides_nothing():
    """
    They stay open, and the others are answered.
    """

    async def main():
        store, client = MemoryStore(), Provider((line(call=CALL), line(call={**CALL, "id": "c2"}), line(stop="stop")))
        session = await Session.open(store, "s1")
        await session.prompt("Hi")
        await answer(session, client)
        await session.append(*[call.start() for call in session.transcript.pending_tool_calls])

        def lost(call):
            return call.fail("died") if call.call_id == "c2" else None

        async with Turns(store, app(client), client=client, alone=True, lost=lost, **SOON):
            await until(lambda: "failed" in {each.status for each in fold(store.read("s1")).last.tool_calls})
        return [each.status for each in fold(store.read("s1")).last.tool_calls]

    assert ["called", "failed"] == asyncio.run(asyncio.wait_for(main(), 30))
