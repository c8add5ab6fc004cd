"""
Every failure at every place of two recorded streams: each run comes to the message of the uncut one, or to a named end.

Time jumps, so that ten minutes and an hour are ten minutes and an hour here.
"""

import asyncio
from functools import cache

import pytest

from assistant_events import find_problems, fold
from assistant_events.adapters.gemini_interactions import dialect
from assistant_events.testing.virtual_loop import run
from tests.adapters.notation import DONE, THOROUGH, E, K, U
from tests.adapters.notation import stream as as_bytes

from .answers import BODY, DATE, client, end_of, events_of
from .provider import TAIL, Plan, Provider
from .recorded import STREAMS, document_of, running_of, with_ids

IDS = ("none", "some", "all")
NAMES = tuple(STREAMS)
MANY = 99


@cache
def uncut(name):
    """
    The message of a stream to which nothing happens, by the decoder alone.
    """
    decoder = dialect.decoder("m", request={**BODY, "background": True, "store": True})
    return fold(decoder.feed(as_bytes(*STREAMS[name])) + decoder.close()).last


def places(name):
    """
    Every number of events after which something may happen, the run being known: behind the first, before the last.
    """
    return range(1, len(STREAMS[name]) - 1)


def places_with_ids(name, ids):
    """
    A third of the places for each way to number events, so that all three together are at every place; with the
    thorough profile every place for each.
    """
    return places(name) if THOROUGH else places(name)[IDS.index(ids) :: len(IDS)]


def followed(provider, **options):
    """
    Follow a run to its end; return its events and its report.
    """

    async def work():
        made = client(provider, **options).create(BODY, "m")
        return await events_of(made), made.report

    return run(work())


def cut(at, **more):
    return Plan(upto=at, tail=TAIL, at_s=600, beats=True, **more)


# What happens to the streams of a run, one after another, after so many events, and how long the run takes.
FAILURES = {
    "A": lambda at: ([cut(at)], 700),
    "A without a tail": lambda at: ([Plan(upto=at, at_s=600.4, beats=True)], 700),
    "A of a piece of a frame": lambda at: ([cut(at, piece=7)], 700),
    "B: cut again, once": lambda at: ([cut(at)] * 2, 700),
    "B: cut again and again": lambda at: ([cut(at)] * MANY, 3000),
    "B: cut again at its start": lambda at: ([cut(at), *[cut(1)] * MANY], 3000),
    "B: silent": lambda at: ([cut(at), *[Plan(upto=2, how="stall")] * MANY], 700),
    "B: silent, and done": lambda at: ([cut(at), *[Plan(upto=2, how="stall")] * MANY], 600),
    "D: the end": lambda at: ([Plan(upto=at)], 100),
    "D: a reset": lambda at: ([Plan(upto=at, how="reset", at_s=42)], 100),
    "D: a reset inside of a frame": lambda at: ([Plan(upto=at, how="reset", half=True)], 100),
    "D: half a frame": lambda at: ([Plan(upto=at, half=True)], 100),
    "D: again and again, a little later": lambda at: ([Plan(upto=at + more) for more in range(30)], 100),
    "D: again and again, at one place": lambda at: ([Plan(upto=at)] * MANY, 100),
    "D: silence": lambda at: ([Plan(upto=at, how="stall")], 30),
    "the network is gone for a while": lambda at: ([Plan(upto=at, how="reset"), *[Plan(fails=OSError("no"))] * 2], 100),
    "the service is out for a while": lambda at: ([Plan(upto=at), Plan(status=503), Plan(status=429)], 100),
    "the stream cannot be asked for": lambda at: ([Plan(upto=at), *[Plan(status=501)] * MANY], 100),
}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_cut_run_comes_to_the_uncut_message(failure, name, ids):
    """
    Wherever a stream is cut, and however the replays of it are, the message is the one of the uncut run.
    """
    expected = uncut(name)
    for at in places_with_ids(name, ids):
        plans, ends_s = failure(at)
        provider = Provider(
            *with_ids(STREAMS[name], ids), plans=plans, documents=[document_of(name)], ends_s=ends_s, date=DATE
        )
        provider.running = running_of(name)
        events, report = followed(provider)

        assert (at, []) == (at, find_problems(events))
        assert (at, expected) == (at, fold(events).last)
        assert (at, "completed") == (at, end_of(report))
        assert all(body.closed for body in provider.bodies)


INSERTED = {
    "F: an error without words": E(),
    "F: an error event of nothing": {"event_type": "error"},
    "F: an error of empty words": E("", ""),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("event", INSERTED.values(), ids=INSERTED)
def test_empty_errors_change_nothing(event, name):
    """
    F: an error event without code and message has no effect at any place, and one request is enough.
    """
    for at in places(name):
        wire = STREAMS[name]
        provider = Provider(*wire[:at], event, *wire[at:])
        events, report = followed(provider)

        assert (at, uncut(name), "empty-error") == (at, fold(events).last, report.mode)
        assert ["create"] == provider.asked


@pytest.mark.parametrize("name", NAMES)
def test_completed_while_in_progress(name):
    """
    G: wherever a stream completes while its run is in progress, the run is followed again.
    """
    for at in places(name):
        early = Plan(events=[*STREAMS[name][:at], K("in_progress"), DONE])
        provider = Provider(*STREAMS[name], plans=[early])
        events, report = followed(provider)

        assert (at, []) == (at, find_problems(events))
        assert (at, uncut(name)) == (at, fold(events).last)
        assert ["create", "replay"] == provider.asked
        assert "unfinished" == report.mode


@pytest.mark.parametrize("name", NAMES)
def test_a_last_status_and_nothing_more(name):
    """
    H: wherever a stream is over behind a status that is an end, one question finishes the message.
    """
    for at in places(name):
        early = Plan(events=[*STREAMS[name][:at], U("completed")])
        provider = Provider(*STREAMS[name], plans=[early], documents=[document_of(name)], date=DATE)
        events, report = followed(provider)

        assert (at, []) == (at, find_problems(events))
        assert (at, uncut(name)) == (at, fold(events).last)
        assert ["create", "document"] == provider.asked
        assert "no-end" == report.mode


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_and_no_usage(name):
    """
    E after D: the usage is fetched for a run that was cut anywhere and ends without it.
    """
    for at in places(name):
        wire = [*STREAMS[name][:-2], K(document_of(name)["status"], usage=None), DONE]
        documents = [document_of(name, usage=None), document_of(name)]
        provider = Provider(*wire, plans=[Plan(upto=at)], documents=documents)
        events, report = followed(provider)

        assert (at, uncut(name)) == (at, fold(events).last)
        assert ["create", "replay", "document", "document"] == provider.asked
        assert "no-usage" == report.mode


@pytest.mark.parametrize("name", NAMES)
def test_zombies(name):
    """
    C: wherever a stream falls silent, a document without output ends the message.
    """
    dead = document_of(name, "in_progress", usage=None, steps=[], created="2026-11-19T10:00:00Z")
    for at in places(name):
        provider = Provider(*STREAMS[name], plans=[Plan(upto=at, how="stall")] * MANY, documents=[dead], date=DATE)
        events, report = followed(provider)

        assert (at, []) == (at, find_problems(events))
        assert (at, "zombie", "zombie") == (at, report.situation, events[-1].error.code)


@pytest.mark.parametrize("name", NAMES)
def test_gone(name):
    """
    Wherever a stream is cut, when the provider does not have the run any more, that is the end; what came is kept.
    """
    for at in places(name):
        provider = Provider(*STREAMS[name], plans=[Plan(upto=at), Plan(status=404)])
        events, report = followed(provider)

        assert (at, []) == (at, find_problems(events))
        assert (at, "not-found", "not-found") == (at, end_of(report), events[-1].error.kind)
        assert uncut(name).text.startswith(fold(events).last.text)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("answers", [(200, 200), (404, 404), (500, 200)], ids=str)
def test_stopped(answers, name):
    """
    Wherever a run is stopped, be it while its stream hangs, the message ends as cancelled.
    """
    cancel, delete = answers

    async def work(at):
        provider = Provider(*STREAMS[name], plans=[Plan(upto=at, how="stall")], cancel=cancel, delete=delete)
        made = client(provider)
        stream = made.create(BODY, "m")
        reader = asyncio.create_task(events_of(stream))
        await asyncio.sleep(30)
        stopped = await made.stop(stream)
        return provider, stopped, await reader, stream.report

    for at in places(name):
        provider, stopped, events, report = run(work(at))

        assert (at, []) == (at, find_problems(events))
        assert (at, "cancelled", "cancelled") == (at, end_of(report), events[-1].error.kind)
        assert ["create", "cancel", "delete"] == provider.asked
        assert (True, cancel == 200) == (stopped.deleted, stopped.cancelled)
        assert provider.bodies[0].closed


@pytest.mark.parametrize("ids", ["none", "all"])
@pytest.mark.parametrize("how", ["resume", "recover"])
@pytest.mark.parametrize("name", NAMES)
def test_the_process_dies(name, how, ids):
    """
    Wherever the process died, another one takes the message up from the log: by a replay, never by a cursor.
    """

    async def work(at):
        provider = Provider(*with_ids(STREAMS[name], ids), documents=[document_of(name)], date=DATE)
        before = dialect.decoder("m", request={**BODY, "background": True}).feed(
            as_bytes(*with_ids(STREAMS[name], ids)[:at])
        )
        log = [event for event in before if event.durable]
        message = fold(log).last
        taken_up = getattr(client(provider), how)(message, request={**BODY, "background": True, "store": True})
        return provider, log, await events_of(taken_up)

    for at in places(name):
        provider, log, events = run(work(at))

        assert (at, []) == (at, find_problems([*log, *events]))
        assert (at, uncut(name)) == (at, fold([*log, *events]).last)
        assert ["replay" if how == "resume" else "document"] == provider.asked


@pytest.mark.parametrize("name", NAMES)
def test_left_and_resumed(name):
    """
    Wherever the reader left, which closed the message, it can be resumed: it restarts and ends as the same message.
    """

    async def work(at):
        provider = Provider(*STREAMS[name], plans=[Plan(upto=at, how="stall")])
        made = client(provider)
        stream = made.create(BODY, "m")
        log = []
        while len(log) == 0 or provider.sent < at:
            log += await stream.read()
        log += stream.close()
        await stream.aclose()
        again = made.resume(fold([event for event in log if event.durable]).last)
        return log, await events_of(again)

    for at in places(name):
        log, events = run(work(at))

        assert (at, []) == (at, find_problems([*log, *events]))
        assert (at, uncut(name)) == (at, fold([*log, *events]).last)
