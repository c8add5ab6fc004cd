"""
What a run says of itself at every moment, for a user interface.
"""

import asyncio

import attrs
import pytest

from assistant_events import ErrorInfo, find_problems
from assistant_events.clients.gemini_interactions import FailureMode, RunOutcome, Situation, Stage
from tests.adapters.notation import C, E, K, S, mo

from .answers import BODY, DATE, client, document, events_of, hello
from .provider import TAIL, Plan, Provider
from .virtual import run

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


MOMENTS = {
    "the first stream": (10, [STALLED], Stage.STREAMING, Situation.STREAMING, Situation.DROPPED),
    "before the first headers": (10, [Plan(delay_s=60)], Stage.CONNECTING, Situation.STREAMING, Situation.LOST),
    "waiting after a drop": (0.2, [Plan(upto=4)], Stage.CONNECTING, Situation.BUSY, Situation.DROPPED),
    "a replay": (10, [Plan(upto=4), STALLED], Stage.STREAMING, Situation.BUSY, Situation.DROPPED),
    "waiting after the cut": (600.2, [CUT], Stage.CONNECTING, Situation.BUSY, Situation.CUT),
    "a second cut": (1201.0, [CUT, CUT], Stage.CONNECTING, Situation.BUSY, Situation.RECUT),
    "a resume that fails": (600.7, [CUT, Plan(status=503)], Stage.CONNECTING, Situation.BUSY, Situation.RESUME_FAILED),
    "asking for the document": (90, [Plan(upto=4), STALLED], Stage.ASKING, Situation.BUSY, Situation.RECUT),
}


@pytest.mark.parametrize(("seconds", "plans", "stage", "busy", "left"), MOMENTS.values(), ids=MOMENTS)
def test_moments(seconds, plans, stage, busy, left):
    """
    While it goes on, and when it is left, a run says where it stands, and what makes sense.
    """
    provider = Provider(*hello(), plans=plans, documents=[RUNNING], date=DATE)

    before, after = at(seconds, provider)

    assert (stage, busy, None) == (before.stage, before.situation, before.outcome)
    assert (Stage.OVER, left, RunOutcome.ABORTED) == (after.stage, after.situation, after.outcome)
    assert before.stop.available
    assert before.error is None
    assert "closed" == after.error.message


def test_a_cut_whose_resume_failed():
    """
    After the cut Resume is what to offer first; when it was refused, the document is.
    """
    _, cut = at(600.2, Provider(*hello(), plans=[CUT], documents=[RUNNING], date=DATE))
    _, refused = at(600.7, Provider(*hello(), plans=[CUT, Plan(status=503)], documents=[RUNNING], date=DATE))

    assert (FailureMode.CUT, True, False) == (cut.mode, cut.resume.primary, cut.recover.primary)
    assert (FailureMode.CUT, False, True) == (refused.mode, refused.resume.primary, refused.recover.primary)


def test_an_error_of_the_stream():
    """
    An error that says something may be a passing one: Resume makes sense once, and not when it says it again.
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

    assert (Situation.ERRED, RunOutcome.FAILED) == (first.situation, first.outcome)
    assert Situation.ERRED_TWICE == second.situation
    assert (True, False) == (first.resume.available, second.resume.available)


def test_the_parts_of_a_report():
    """
    A report holds what the provider said of the run, and what the client did.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4)])

    async def work():
        made = client(provider).create(BODY, "m")
        await events_of(made)
        return made.report

    report = run(work())

    assert ("m", "v1", True, "completed") == (report.message_id, report.run_id, report.resumable, report.status)
    assert "2026-11-22T10:00:00+00:00" == report.created.isoformat()
    assert [("create", "drop", 4), ("replay", None, 7)] == [
        (attempt.kind, attempt.mode, attempt.events) for attempt in report.attempts
    ]
    assert (2, None, False) == (report.requests, report.outputs, report.recover.available)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        report.run_id = "other"


@pytest.mark.parametrize("piece", [0, 1, 7, 10_000])
def test_events_are_counted_however_they_are_cut(piece):
    """
    An attempt says how many events came, whatever pieces they came in.
    """
    provider = Provider(*hello(), plans=[Plan(piece=piece)])

    async def work():
        made = client(provider).create(BODY, "m")
        await events_of(made)
        return made.report

    assert [len(hello()) - 1] == [attempt.events for attempt in run(work()).attempts]  # without [DONE]


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
    Whatever a run is waiting for, Stop ends the wait; twice is as once. What has no id yet can only be left.
    """
    provider = Provider(*hello(), plans=plans, documents=[RUNNING], date=DATE)

    event = stopped_at(seconds, provider)

    assert ("step.failed", kind) == (event.type, event.error.kind)


def test_stop_while_the_usage_is_asked_for():
    """
    A run that has its answer is complete, whoever stops it then.
    """
    provider = Provider(*hello(K(usage=None)), documents=[document(usage=None)])

    assert "step.ended" == stopped_at(0.2, provider).type


def test_a_run_in_the_foreground_that_met_the_cut():
    """
    A run that cannot be come back to fails with what happened to it.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4, tail=TAIL)])

    async def work():
        made = client(provider).create(MODEL_BODY, "m")
        return (await events_of(made))[-1], made.report

    event, report = run(work())

    assert "the provider cut the stream after ten minutes" == event.error.message
    assert (FailureMode.CUT, Situation.STORED) == (report.mode, report.situation)
