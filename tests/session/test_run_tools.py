"""
Tools in bad moments: two tasks at once, exceptions that no tool should raise, results that cannot be stored.
"""

import asyncio
import threading
from contextvars import ContextVar
from datetime import date

import pytest

from assistant_events import Awaits, ErrorKind, JsonContent, PromptSubmitted, TextContent, ToolFailed, ToolSuccess
from assistant_events.errors import FencedError, LocalProtocolError, OwnerError, StoreError
from assistant_events.live import MemoryLive
from assistant_events.session import Session, run_tools, tools
from assistant_events.stores import AsyncStore, MemoryStore, SqliteStore
from assistant_events.testing import Call, builders, durable, prompt
from tests.session.moves import FailingStore, answer, run, until
from tests.session.scripted import Provider, line


async def asked(store, *calls):
    """
    Return a session whose last answer has calls.
    """
    client = Provider((*[line(call=call) for call in calls], line(stop="tool-calls")))
    session = await Session.open(store, "s1")
    await session.prompt("Go")
    await answer(session, client)
    return session


def call(name):
    return {"id": name, "name": name, "input": {}}


def test_two_tasks_run_the_tools_of_one_session():
    """
    Each call runs once.
    """

    async def main():
        session, ran = await asked(MemoryStore(), call("a"), call("b")), []

        async def tool(run):
            ran.append(run.call.call_id)
            await asyncio.sleep(0)
            return "rain"

        await asyncio.gather(*[run_tools(session, tool) for _ in range(3)])
        assert ["a", "b"] == sorted(ran)
        assert Awaits.MODEL is session.transcript.awaits

    run(main())


def test_where_the_move_is_of_others():
    """
    Nothing runs without an answer, nor before its end: the provider may still call more, or answer a call itself.
    """

    async def main():
        session = await Session.open(MemoryStore(), "s1")
        await run_tools(session, lambda run: "rain")
        await session.append(prompt(), *durable(builders.answer(calls=[Call("look")]))[:-1])
        await run_tools(session, lambda run: "rain")

        [call] = session.transcript.last_answer.tool_calls
        assert (Awaits.PROVIDER, False) == (session.transcript.awaits, call.answered or call.is_outcome_unknown)

    run(main())


@pytest.mark.parametrize(
    ("reason", "asked_for"),
    [("It costs money.", "It costs money."), ("", None), (True, None), (False, False), (None, False)],
)
def test_whether_a_person_has_to_allow_a_call(reason, asked_for):
    """
    With a text, which may be empty, it waits for a person; with `None` it runs.
    """

    async def main():
        session = await asked(MemoryStore(), call("a"))
        await run_tools(session, lambda run: "rain", needs_approval=lambda call: reason)

        [left] = session.transcript.last_answer.tool_calls
        assert (left.waits, left.answered) == ((False, True) if asked_for is False else (True, False))
        assert left.approval_reason == (asked_for or None)

    run(main())


def test_an_answer_about_approval_that_has_to_be_awaited():
    """
    It is refused, also where no async function can be recognised: no call is asked about, and none runs.
    """

    async def main():
        session = await asked(MemoryStore(), call("a"))
        answer = asyncio.get_running_loop().create_future()
        with pytest.raises(TypeError, match=r"^needs_approval: expected a plain function, it returned Future$"):
            await run_tools(session, lambda run: "rain", needs_approval=lambda call: answer)

        [left] = session.transcript.last_answer.tool_calls
        assert (None, 0) == (left.approval, left.attempt)

    run(main())


def test_a_call_that_was_allowed_is_not_asked_about_again():
    """
    It runs, whatever the rule would decide about it now.
    """

    async def main():
        session = await asked(MemoryStore(), call("a"))
        asked_about = []

        def costs(call):
            asked_about.append(call.call_id)
            return "It costs money."

        await run_tools(session, lambda run: "rain", needs_approval=costs)
        await session.append(session.transcript.pending_tool_calls[0].approve())
        await run_tools(session, lambda run: "rain", needs_approval=costs)

        assert (["a"], True) == (asked_about, session.transcript.last_answer.tool_calls[0].answered)

    run(main())


def test_calls_that_take_too_long():
    """
    They fail as such, and a thread is not waited for; a tool that gives up by itself has failed.
    """
    freed, ended = threading.Event(), []

    async def main():
        session = await asked(MemoryStore(), *[call(name) for name in ("waits", "hangs", "gives_up")])

        async def waits():
            await asyncio.Event().wait()

        def hangs():
            ended.append(freed.wait(2))

        def gives_up():
            raise TimeoutError("no answer")

        tools = {"waits": waits, "hangs": hangs, "gives_up": gives_up}
        await run_tools(session, tools, timeout_s=0.05)
        assert [] == ended

        errors = {
            each.name: (each.error.kind, each.error.message) for each in session.transcript.last_answer.tool_calls
        }
        late = (ErrorKind.TIMEOUT, "the call took longer than 0.05 s")
        assert {"waits": late, "hangs": late} == {name: errors[name] for name in ("waits", "hangs")}
        assert ErrorKind.TOOL == errors["gives_up"][0]

    try:
        run(main())
    finally:
        freed.set()


def test_a_thread_sees_the_context_of_its_task():
    """
    A plain function reads the context variables that are set where the tools are run.
    """
    user = ContextVar("user")

    async def main():
        session = await asked(MemoryStore(), call("who"))
        user.set("ada")
        await run_tools(session, {"who": user.get})

        assert (TextContent("ada"),) == session.transcript.last_answer.tool_calls[0].output

    run(main())


def test_results_that_are_not_json():
    """
    `default` makes JSON of what a tool returns, and of what it shows before.
    """

    async def main():
        session = await asked(MemoryStore(), call("a"))
        shown, given = (JsonContent({"at": "2026-01-01"}),), (JsonContent({"at": "2026-01-02"}),)

        async def tool(run):
            await run.progress({"at": date(2026, 1, 1)}, default=str)
            assert shown == session.transcript.last_answer.tool_calls[0].output
            return {"at": date(2026, 1, 2)}

        await run_tools(session, tool, default=str)

        [done] = session.transcript.last_answer.tool_calls
        assert (given, None) == (done.output, done.error)

    run(main())


def test_functions_by_the_names_of_their_tools():
    """
    Each gets the arguments of its calls: a coroutine in the loop, a plain function in a thread of its own.
    """

    async def main():
        given = {"add": {"x": 2, "y": 3}, "where": {}, "pay": {}, "wrong": {"z": 1}}
        session = await asked(MemoryStore(), *[{**call(name), "input": given[name]} for name in given])

        async def add(x, y=1):
            assert threading.current_thread() is threading.main_thread()
            return x + y

        def where():
            return threading.current_thread() is not threading.main_thread()

        await run_tools(session, {"add": add, "where": where, "wrong": lambda x: x})
        calls = {each.name: each for each in session.transcript.last_answer.tool_calls}
        assert [5, True] == [calls[name].output[0].value for name in ("add", "where")]
        assert (
            "LookupError: tool 'pay' is unknown; expected one of ['add', 'where', 'wrong']"
            in calls["pay"].error.message
        )
        assert "unexpected keyword argument 'z'" in calls["wrong"].error.message

    run(main())


@pytest.mark.parametrize(
    ("tools", "text"),
    [
        ({"add": 5}, r"run\['add'\]: expected a function, got int"),
        (None, "run: expected a function, or functions by the names of their tools, got NoneType"),
        ([print], "run: expected a function, or functions by the names of their tools, got list"),
    ],
)
def test_tools_that_are_no_functions(tools, text):
    """
    They are refused before a call begins.
    """

    async def main():
        session = await asked(MemoryStore(), call("add"))
        with pytest.raises(TypeError, match=text):
            await run_tools(session, tools)
        assert Awaits.TOOLS is session.transcript.awaits
        assert 0 == session.transcript.last_answer.tool_calls[0].attempt

    run(main())


def _stops_iterating(run):
    return next(iter(()))


def _exits(run):
    raise SystemExit(2)


class _PanicError(BaseException):
    """As native extensions raise it."""


def _panics(run):
    raise _PanicError("index out of bounds")


class _SilentError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def _fails_silently(run):
    raise _SilentError


async def _cancels_itself(run):
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (_stops_iterating, "StopIteration"),
        (_exits, "SystemExit"),
        (_panics, "_PanicError: index out of bounds"),
        (_fails_silently, "_SilentError"),
        (_cancels_itself, "cancelled itself"),
    ],
)
def test_tools_that_raise_what_no_tool_should(tool, message):
    """
    It is the error of the call.
    """

    async def main():
        session = await asked(MemoryStore(), call("a"))
        await run_tools(session, tool)

        [failed] = session.transcript.last.tool_calls
        assert "tool" == failed.error.kind
        assert message in failed.error.message

    run(main())


def test_a_tool_that_cancels_its_task():
    """
    Its outcome is unknown, as after any cancellation; the others run on.
    """

    async def main():
        session = await asked(MemoryStore(), call("a"), call("b"))

        async def tool(run):
            if run.call.name == "a":
                asyncio.current_task().cancel()
            await asyncio.sleep(0.01)
            return "rain"

        await run_tools(session, tool)
        assert [(True, False), (False, True)] == [
            (call.is_outcome_unknown, call.answered) for call in session.transcript.last_answer.tool_calls
        ]

    run(main())


def test_tools_of_a_session_in_another_loop():
    """
    Nothing of them can be stored: the error is raised, and none runs.
    """

    async def main():
        session, ran = await asked(AsyncStore(MemoryStore()), call("a")), []

        def elsewhere():
            with pytest.raises(LocalProtocolError, match="is used in another event loop, which still runs"):
                asyncio.run(run_tools(session, ran.append))

        await asyncio.to_thread(elsewhere)
        assert [] == ran

    run(main())


def test_a_result_that_cannot_be_stored(monkeypatch):
    """
    It is tried some times; then the outcome is unknown, and the error is raised when the other calls have ended.
    """
    monkeypatch.setattr(tools, "PAUSES_S", (0.001, 0.001))

    async def main():
        store = FailingStore()
        session = await asked(store, call("a"), call("b"))

        async def tool(run):
            if run.call.name == "b":
                await until(lambda: 0 == store.fail.get("tool.success"))
            else:
                store.fail["tool.success"] = 3
            return "rain"

        with pytest.raises(StoreError, match="the disk is full"):
            await run_tools(session, tool)

        a, b = session.transcript.last.tool_calls
        assert (True, "success") == (a.is_outcome_unknown, b.status)

    run(main())


def test_a_result_that_is_stored_at_the_second_try():
    """
    The error of the store leaves no trace.
    """

    async def main():
        store = FailingStore()
        session = await asked(store, call("a"))
        store.fail["tool.success"] = 1
        await run_tools(session, lambda run: "rain")

        assert "success" == session.transcript.last.tool_calls[0].status

    run(main())


def test_tools_that_hang():
    """
    They take no thread from others: not from a quick tool, and not from the store.
    """
    released = threading.Event()

    async def main():
        with SqliteStore(":memory:") as store:
            session = await asked(store, *[call(f"c{at}") for at in range(40)])

            def tool(run):
                if run.call.name != "c39":
                    released.wait(60)
                return "done"

            task = asyncio.create_task(run_tools(session, tool))
            await until(lambda: session.transcript.last.tool_calls[-1].settled)
            released.set()
            await task
            assert Awaits.MODEL is session.transcript.awaits

    try:
        run(main())
    finally:
        released.set()


def test_a_session_in_a_second_event_loop():
    """
    While the first one runs, that is an error of the caller, which names the way.
    """

    async def main():
        with SqliteStore(":memory:") as store:
            session = await Session.open(store, "s1")
            await session.prompt("Hi")
            with pytest.raises(LocalProtocolError, match="run_coroutine_threadsafe"):
                await asyncio.to_thread(asyncio.run, session.refresh())
            await session.prompt("Still there?")

    run(main())


def test_what_is_shown_is_live():
    """
    A durable event would be in the transcript, and never in the log.
    """

    async def main():
        session = await Session.open(MemoryStore(), "s1")
        with pytest.raises(LocalProtocolError, match="live events"):
            await session.show(PromptSubmitted(message_id="u1", content="Hi"))
        assert () == session.transcript.messages

    run(main())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ownr": "ann"}, "ownr: expected only the options .*owner"),
        ({"worker": ""}, "worker: expected a non-empty string or None"),
        ({"live": 3}, "live: expected a live channel"),
        ({"live": MemoryLive}, "live: expected a live channel such as MemoryLive or None, got the class MemoryLive"),
        ({"checkpoint_s": "1"}, "checkpoint_s: expected a number of seconds, got str"),
    ],
)
def test_options_that_there_are_not(options, text):
    """
    They are refused before anything is stored.
    """
    with pytest.raises(TypeError, match=text):
        run(Session.open(MemoryStore(), "s1", **options))


def test_two_tasks_on_a_store_that_waits(tmp_path):
    """
    Each call runs once, although the tasks look at the log before any of them has stored a start.
    """

    async def main():
        with SqliteStore(tmp_path / "chat.db") as store:
            session, ran = await asked(store, call("a"), call("b")), []

            async def tool(run):
                ran.append(run.call.call_id)
                await until(lambda: {"a", "b"} <= set(ran))
                return "rain"

            await asyncio.gather(*[run_tools(session, tool) for _ in range(3)])
            assert ["a", "b"] == sorted(ran)

    run(main())


@pytest.mark.parametrize("error", [FencedError("s1", 1), OwnerError("s1")], ids=["worker", "owner"])
def test_a_result_after_a_takeover(error, monkeypatch):
    """
    It is not stored, and not tried again: another worker decides about the call, or the session is that of another.
    """
    monkeypatch.setattr(tools, "PAUSES_S", (0, 0))

    class Taken(MemoryStore):
        tries = 0

        def append(self, session_id, events, **more):
            events = list(events)
            if any(isinstance(event, ToolSuccess) for event in events):
                self.tries += 1
                raise error
            return super().append(session_id, events, **more)

    async def main():
        store = Taken()
        session = await asked(store, call("a"))
        with pytest.raises(type(error)):
            await run_tools(session, lambda run: "rain")
        assert 1 == store.tries

    run(main())


def test_a_call_that_is_answered_before_it_begins():
    """
    Another process has answered it, which this one learns when it stores the start: the call does not run.
    """

    async def main():
        store, ran = MemoryStore(), []
        session = await asked(store, call("a"), call("b"))
        [first, _] = session.transcript.last.tool_calls
        store.append("s1", [first.succeed("sun")])

        await run_tools(session, lambda run: ran.append(run.call.call_id))

        assert ["b"] == ran
        assert "sun" == session.transcript.last.tool_calls[0].output[0].text

    run(main())


def test_a_call_that_is_answered_while_its_start_waits(tmp_path):
    """
    So it is when the session reads that, as `Turns` lets it from time to time, in front of the start.
    """

    async def main():
        with SqliteStore(tmp_path / "chat.db") as store:
            session, ran = await asked(store, call("a"), call("b")), []
            [first, _] = session.transcript.last.tool_calls
            store.append("s1", [first.succeed("sun")])

            await asyncio.gather(session.refresh(), run_tools(session, lambda run: ran.append(run.call.call_id)))

            assert ["b"] == ran
            assert [] == list(session.transcript.pending_tool_calls)

    run(main())


def test_a_call_that_is_stopped_while_its_result_waits():
    """
    The result comes while a stop is being stored: the stop wins, and the result is dropped without an error.
    """
    begun, released = threading.Event(), threading.Event()

    class Slow(MemoryStore):
        def append(self, session_id, events, **more):
            events = list(events)
            if any(isinstance(event, ToolFailed) for event in events):
                begun.set()
                released.wait(20)
            return super().append(session_id, events, **more)

    async def main():
        session = await asked(Slow(), call("a"))

        async def tool(run):
            stops.append(asyncio.create_task(session.stop()))
            await until(begun.is_set)
            asyncio.get_running_loop().call_later(0.05, released.set)
            return "rain"

        stops = []
        await run_tools(session, tool)
        await stops[0]
        [stopped] = [each for message in session.transcript for each in getattr(message, "tool_calls", ())]

        assert ErrorKind.CANCELLED == stopped.error.kind

    run(main())
