"""
What a run reports at every moment, for a user interface.
"""

import asyncio

import attrs
import pytest

from assistant_events import ErrorInfo, find_problems, fold
from assistant_events.clients import ACTIONS, Action, FailureMode, Situation
from assistant_events.testing.virtual_loop import run
from tests.adapters.notation import C, E, K, S, mo

from .answers import BODY, DATE, client, document, events_of, hello
from .provider import TAIL, Plan, Provider

MODEL_BODY = {"model": "gemini-3.6-flash", "input": "Hi"}
LEFT = ErrorInfo(kind="aborted", message="closed")
CUT = Plan(upto=4, tail=TAIL, at_s=600, beats=True)
STALLED = Plan(upto=4, how="stall")
RUNNING = document(mo("Hel"), status="in_progress")


def at(seconds, provider, body=BODY):
    """
    Read a run for so many seconds, then close it; return the reports before and after.
    """

    async def work():
        made = client(provider).create(body, "m")
        events = []

        async def read():
            async for event in made:
                events.append(event)

        reader = asyncio.create_task(read())
        await asyncio.sleep(seconds)
        before = made.report
        reader.cancel()
        await asyncio.wait([reader])
        events += made.close(LEFT)
        assert [] == find_problems(events)
        return before, made.report

    return run(work())


def test_before_a_run_is_followed_again():
    """
    It can be stopped and resumed from the beginning, and the error of its message is not its own.
    """

    async def work():
        body = {**MODEL_BODY, "background": True, "store": True}
        cut = client(Provider(*hello(), plans=[Plan(upto=4)])).create(body, "m")
        failed = fold([await anext(cut), *cut.close(LEFT)]).last
        return client(Provider(*hello())).resume(failed, request=MODEL_BODY).report

    report = run(work())

    assert (True, Situation.FOLLOWING, None) == (report.resumable, report.situation, report.error)


def test_a_document_is_asked_for_once():
    """
    Without `wait` a run that is in progress is left as it is.
    """

    async def work():
        cut = client(Provider(*hello(), plans=[Plan(upto=4)])).create(BODY, "m")
        events = [await anext(cut)]
        running = fold(events).last
        provider = Provider(*hello(), documents=[RUNNING, RUNNING, RUNNING], date=DATE)
        return await events_of(client(provider).recover(running)), provider.asked

    events, asked = run(work())

    assert ([], ["document"]) == (events, asked)


MOMENTS = {
    "the first stream": (10, [STALLED], Situation.INTERRUPTED),
    "before the first headers": (10, [Plan(delay_s=60)], Situation.LOST),
    "waiting after a drop": (0.2, [Plan(upto=4)], Situation.INTERRUPTED),
    "a replay": (10, [Plan(upto=4), STALLED], Situation.INTERRUPTED),
    "waiting after the cut": (600.2, [CUT], Situation.INTERRUPTED),
    "a second cut": (1201.0, [CUT, CUT], Situation.REPLAY_FAILED),
    "a resume that fails": (600.7, [CUT, Plan(status=503)], Situation.REPLAY_FAILED),
    "a resume that fails after a second cut": (1202.0, [CUT, CUT, Plan(status=503)], Situation.REPLAY_FAILED),
    "fetching the document": (90, [Plan(upto=4), STALLED], Situation.REPLAY_FAILED),
}


@pytest.mark.parametrize(("seconds", "plans", "left"), MOMENTS.values(), ids=MOMENTS)
def test_moments(seconds, plans, left):
    """
    A run reports its situation while the client follows it, and when its reader has left.
    """
    provider = Provider(*hello(), plans=plans, documents=[RUNNING], date=DATE)

    before, after = at(seconds, provider)

    assert (Situation.FOLLOWING, None, (Action.STOP,)) == (before.situation, before.error, before.actions)
    assert (left, LEFT, ACTIONS[left]) == (after.situation, after.error, after.actions)


def test_an_error_of_the_stream():
    """
    An error of the stream may be transient: Resume makes sense once, and not when the replay has the same error.
    """
    erred = Plan(events=[C(), S(0, mo("a")), E("unavailable", "later")])

    async def work():
        made = client(Provider(plans=[erred, erred]))
        first = made.create(BODY, "m")
        await events_of(first)
        second = made.resume(first)
        await events_of(second)
        return first.report, second.report

    first, second = run(work())

    assert (Situation.INTERRUPTED, "overloaded") == (first.situation, first.error.kind)
    assert Situation.NO_STREAM == second.situation


def test_the_parts_of_a_report():
    """
    A report has what the provider reported of the run, and what the client did.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4)])

    async def work():
        made = client(provider).create(BODY, "m")
        await events_of(made)
        return made.report

    report = run(work())

    assert ("m", "v1", True, "completed") == (report.message_id, report.run_id, report.resumable, report.status)
    assert [("create", "drop"), ("replay", None)] == [(attempt.kind, attempt.mode) for attempt in report.attempts]
    assert (None, ()) == (report.run, report.actions)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        report.run_id = "other"


def stopped_at(seconds, provider, body=BODY):
    """
    Stop a run after so many seconds; return its last event, and what was asked.
    """

    async def work():
        made = client(provider)
        stream = made.create(body, "m")
        reader = asyncio.create_task(events_of(stream))
        await asyncio.sleep(seconds)
        await asyncio.gather(made.stop(stream), made.stop(stream))
        return (await reader)[-1]

    return run(work())


STOPPED = {
    "before the headers": (10, [Plan(delay_s=60)], "aborted"),
    "while it waits to resume": (0.2, [Plan(upto=4)], "cancelled"),
    "while a resume hangs": (10, [Plan(upto=4), Plan(delay_s=100)], "cancelled"),
    "while it waits for a service": (
        1.0,
        [Plan(upto=4), Plan(status=503, headers={"retry-after": "5"})],
        "cancelled",
    ),
    "while it asks for the document": (90, [Plan(upto=4), STALLED], "cancelled"),
}


@pytest.mark.parametrize(("seconds", "plans", "kind"), STOPPED.values(), ids=STOPPED)
def test_stop_at_any_moment(seconds, plans, kind):
    """
    Whatever a run is waiting for, Stop ends the wait; a second Stop changes nothing. A run without an id can only be
    left.
    """
    provider = Provider(*hello(), plans=plans, documents=[RUNNING], date=DATE)

    event = stopped_at(seconds, provider)

    assert ("step.failed", kind) == (event.type, event.error.kind)


@pytest.mark.parametrize("turns", range(12))
def test_stop_in_the_moment_of_a_silence(turns):
    """
    A stream that turns out to be dead while it is stopped ends as stopped, in whatever order the tasks come.
    """
    stopped = ErrorInfo(kind="cancelled", message="the run was stopped")

    async def work():
        provider = Provider(*hello(), plans=[STALLED], documents=[document(mo("Hello"))])
        stops, answer = [], provider.answer

        async def stop():
            for _ in range(turns):
                await asyncio.sleep(0)
            stream.interrupt(stopped)

        async def answered(request):
            if request.method == "GET" and not stops:
                stops.append(asyncio.create_task(stop()))
            return await answer(request)

        provider.answer = answered
        made = client(provider)
        stream = made.create(BODY, "m")
        return (await events_of(stream))[-1]

    event = run(work())

    assert ("step.failed", "cancelled") == (event.type, event.error.kind)


def test_stop_while_the_usage_is_asked_for():
    """
    A run that has its answer is complete, also when it is stopped then.
    """
    provider = Provider(*hello(K(usage=None)), documents=[document(usage=None)])

    assert "step.ended" == stopped_at(0.2, provider).type


def test_a_run_in_the_foreground_that_met_the_cut():
    """
    A run that cannot be resumed fails with the reason of its end.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4, tail=TAIL)])

    async def work():
        made = client(provider).create(MODEL_BODY, "m")
        return (await events_of(made))[-1], made.report

    event, report = run(work())

    assert "the provider cut the stream after ten minutes" == event.error.message
    assert (FailureMode.CUT, Situation.NO_STREAM) == (report.mode, report.situation)
