"""
A run that is stopped while a reader receives it and leaves at any moment: the message ends once, as stopped.
"""

import asyncio

import pytest

from assistant_events import find_problems, fold
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from assistant_events.testing.virtual_loop import run
from assistant_events.values import ErrorInfo
from tests.adapters.notation import K

from .answers import BODY, HELLO, client, events_of, hello, received
from .provider import NOT_FOUND, Plan, Provider

EVENTS = 6
"""Of the message: step.started, text.started, two deltas, text.ended, and the end."""

WIRES = {
    "stalls": (hello(), [Plan(upto=4, how="stall")]),
    "is completed": (hello(), []),
    "is cancelled by the provider": (hello(K("cancelled")), []),
    "is cancelled by the provider early": ([*hello()[:4], K("cancelled")], []),
    "fails": (hello(K("failed")), []),
    "is taken in pieces": (hello(K("cancelled")), [Plan(piece=10_000)]),
}


async def stopped_and_left(wire, plans, stop_at, leave, leave_at):
    """
    Receive a run that is stopped behind some events, and left behind some; return what is stored.
    """
    store = MemoryStore()
    made = client(Provider(*wire, plans=list(plans), documents=[HELLO]))
    session = await Session.open(store, "s")
    stream = made.create(BODY, "m")
    at_stop = asyncio.Event()

    async def receive(events):
        at_stop.set() if not stop_at else None
        seen = 0
        async for _ in events:
            seen += 1
            if seen == stop_at:
                at_stop.set()
                await asyncio.sleep(0)
            if seen == leave_at:
                break

    async def receive_and_leave():
        async with received(session, stream) as events:
            return await receive(events)

    async def stop():
        await at_stop.wait()
        await made.stop(stream)
        if leave == "cancel":
            receiver.cancel()

    receiver = asyncio.create_task(receive_and_leave())
    stopper = asyncio.create_task(stop())
    await asyncio.wait([receiver], timeout=10_000)
    at_stop.set()
    await asyncio.wait([receiver, stopper], timeout=10_000)
    await made.aclose()
    await session.refresh()
    return store.read("s")


@pytest.mark.parametrize("leave", ["close", "cancel", "stay"])
@pytest.mark.parametrize("stop_at", range(EVENTS + 1))
@pytest.mark.parametrize(("wire", "plans"), WIRES.values(), ids=WIRES)
def test_stop_and_leave_at_every_position(wire, plans, stop_at, leave):
    """
    However its reader leaves, a message ends once: as the provider ended it or as stopped, unless its reader left
    before, or its run had no id yet.
    """
    positions = range(1, EVENTS + 1) if leave == "close" else [0]
    for leave_at in positions:
        events = [record.event for record in run(stopped_and_left(wire, plans, stop_at, leave, leave_at))]
        ends = [event for event in events if event.type in ("step.ended", "step.failed")]

        assert [] == find_problems(events)
        assert "step.restarted" not in [event.type for event in events]
        assert len(ends) == (1 if events else 0)
        if stop_at and not 0 < leave_at <= stop_at:
            assert ends[0].type == "step.ended" or ends[0].error.kind in ("cancelled", "provider")


@pytest.mark.parametrize("end", [K("cancelled"), K("failed"), K()], ids=["cancelled", "failed", "completed"])
def test_an_end_of_the_provider_is_the_last_word(end):
    """
    What the decoder has ended is not ended again by who closes the stream behind it.
    """

    async def work():
        stream = client(Provider(*hello(end))).create(BODY, "m")
        events = []
        while not stream.terminal:
            events += await stream.read()
        return events, stream.close(ErrorInfo(kind="aborted", message="left"))

    events, more = run(work())

    assert events[-1].type in ("step.ended", "step.failed")
    assert [] == more


def test_a_stop_counts_before_the_reason_of_leaving():
    """
    A reader that leaves a stopped run does not make it resumable.
    """
    told = Provider(*hello(), plans=[Plan(upto=4, how="stall")])
    untold = Provider(*hello(), plans=[Plan(upto=4, how="stall")], cancel=500, delete=500)

    async def work(provider):
        made = client(provider)
        stream = made.create(BODY, "m")
        await anext(stream)
        await made.stop(stream)
        return stream.close(ErrorInfo(kind="interrupted", message="left"))[-1].error

    assert ("cancelled", "the run was stopped") == ((error := run(work(told))).kind, error.message)
    assert "aborted" == run(work(untold)).kind


def test_the_first_interruption_counts():
    """
    A connection that is closed after a stop does not undo it.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")])
        made = client(provider)
        stream = made.create(BODY, "m")
        reader = asyncio.create_task(events_of(stream))
        await asyncio.sleep(10)
        await made.stop(stream)
        await stream.aclose()
        return await reader

    assert "cancelled" == run(work())[-1].error.kind


def test_a_message_that_a_cut_had_closed_fails_anew():
    """
    When its run is gone, the message fails again and is not resumable.
    """

    async def work():
        cut = client(Provider(*hello(), plans=[Plan(upto=4, how="stall")])).create(BODY, "m")
        begun = [await anext(cut) for _ in range(3)]
        begun += cut.close(ErrorInfo(kind="aborted", message="left"))
        gone = Provider(plans=[Plan(status=404, body=str(NOT_FOUND).encode())])
        return await events_of(client(gone).resume(fold(begun).last))

    assert ("step.restarted", "step.failed") == ((events := run(work()))[0].type, events[-1].type)
    assert ("the run is gone", "not-found") == (events[0].reason, events[-1].error.kind)


def test_a_stop_of_a_message_that_a_cut_had_closed():
    """
    The message fails again as cancelled, before anything of its run has come again.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall"), Plan(upto=0, how="stall")])
        made = client(provider)
        cut = made.create(BODY, "m")
        begun = [await anext(cut) for _ in range(3)]
        begun += cut.close(ErrorInfo(kind="aborted", message="left"))
        again = made.resume(fold(begun).last)
        reader = asyncio.create_task(events_of(again))
        await asyncio.sleep(10)
        await made.stop(again)
        return await reader

    events = run(work())

    assert ("the run is cancelled", "cancelled") == (events[0].reason, events[-1].error.kind)
