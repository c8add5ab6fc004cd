"""
What a run gives, what it says of itself, and that it goes on by itself.
"""

import pytest

from assistant_events import problems
from assistant_events.clients.gemini_interactions import Mode, Outcome, Situation
from assistant_events.session import Session
from assistant_events.stores import MemoryStore

from .answers import BODY, DATE, HELLO, client, document, events_of, hello, last
from .provider import TAIL, Plan, Provider
from .virtual import run


def test_an_uncut_run():
    """
    A run that nothing happens to is one request, and its events are those of the decoder.
    """
    provider = Provider(*hello())

    events = run(events_of(client(provider).create(BODY, "m")))

    assert ["create"] == provider.asked
    assert "Hello" == last(events).text
    assert [] == problems(events)


def without_looks(asked):
    """
    Leave out the documents that were asked for while a stream was silent.
    """
    return [word for at, word in enumerate(asked) if word != "document" or at == len(asked) - 1]


CUTS = {
    "end": ([Plan(upto=4)], ["create", "replay"]),
    "reset": ([Plan(upto=4, how="reset")], ["create", "replay"]),
    "ten minutes": ([Plan(upto=4, tail=TAIL, at_s=600, beats=True)], ["create", "replay"]),
    "recut twice": ([Plan(upto=4, tail=TAIL, at_s=600, beats=True)] * 3, ["create", "replay", "replay", "document"]),
    "never anything new": ([Plan(upto=4), *[Plan(upto=2)] * 3], ["create", *["replay"] * 3, "document"]),
}


@pytest.mark.parametrize(("plans", "asked"), CUTS.values(), ids=CUTS)
def test_a_cut_run_goes_on(plans, asked):
    """
    However a stream is cut, the run is followed until its end, and comes to the message of the uncut one.
    """

    async def work():
        provider = Provider(*hello(), plans=plans, documents=[HELLO], ends_s=plans[-1].at_s * len(plans), date=DATE)
        made = client(provider).create(BODY, "m")
        return provider, await events_of(made), made.report

    provider, events, report = run(work())

    assert asked == without_looks(provider.asked)
    assert ("Hello", "completed") == (last(events).text, last(events).status)
    assert [] == problems(events)
    assert (Outcome.COMPLETED, Situation.FINISHED) == (report.outcome, report.situation)


def test_received_by_a_session():
    """
    A session takes a run as it is, and stores its durable events.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4)])
        session = await Session.open(MemoryStore(), "s")
        async with session.receive(client(provider).create(BODY, "m")) as events:
            received = [event.type async for event in events]
        return received, session.transcript["m"], provider

    received, message, provider = run(work())

    assert ["step.started", "text.started", "text.delta", "text.delta", "text.ended", "step.ended"] == received
    assert ("Hello", "completed") == (message.text, message.status)
    assert all(body.closed for body in provider.bodies)


def test_a_zombie_is_named():
    """
    A run in progress for over an hour that has produced nothing fails as a zombie, with its dates and its outputs.
    """
    dead = document(status="in_progress", updated="2026-11-19T10:00:07Z") | {"created": "2026-11-19T10:00:00Z"}
    provider = Provider(*hello(), plans=[Plan(upto=2, how="stall")], documents=[dead], date=DATE)
    made = client(provider).create(BODY, "m")

    events = run(events_of(made))

    assert (Outcome.ZOMBIE, Mode.ZOMBIE, 0) == (made.report.outcome, made.report.mode, made.report.outputs)
    assert "zombie" == last(events).error.code
    assert made.report.stop.primary
