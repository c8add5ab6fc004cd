"""
Tools in bad moments: two tasks at once, exceptions that no tool should raise, results that cannot be stored.
"""

import asyncio

import pytest

from assistant_events import Awaits
from assistant_events.errors import StoreError
from assistant_events.session import Session, run_tools, tools
from assistant_events.stores import MemoryStore
from tests.session.moves import BODY, FailingStore, run, until
from tests.session.scripted import Provider, line


async def asked(store, *calls):
    """
    Return a session whose last answer has calls.
    """
    client = Provider((*[line(call=call) for call in calls], line(stop="tool-calls")))
    session = await Session.open(store, "s1")
    await session.prompt("Go")
    async with session.respond(client, BODY) as events:
        async for _ in events:
            pass
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


def _stops_iterating(run):
    return next(iter(()))


def _exits(run):
    raise SystemExit(2)


async def _cancels_itself(run):
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (_stops_iterating, "StopIteration"),
        (_exits, "SystemExit"),
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


def test_a_result_that_cannot_be_stored(monkeypatch):
    """
    It is tried some times; then the outcome is unknown, and the error is raised when the other calls have ended.
    """
    monkeypatch.setattr(tools, "_PAUSES_S", (0.001, 0.001))

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
