"""
The events of a run, its report, and how it continues after a cut.
"""

import asyncio

import httpx2
import pytest

from assistant_events import AssistantMessage, Origin, RemoteRun, Transcript, find_problems, fold
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.clients import Action, FailureMode, Situation
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from assistant_events.testing.virtual_loop import run
from tests.adapters.notation import K, U
from tests.adapters.notation import stream as as_bytes

from .answers import BODY, DATE, HELLO, client, document, end_of, events_of, hello, last, received
from .provider import TAIL, Plan, Provider


def test_an_uncut_run():
    """
    A run that nothing happens to is one request, and its events are those of the decoder.
    """
    provider = Provider(*hello())

    events = run(events_of(client(provider).create(BODY, "m")))

    assert ["create"] == provider.asked
    assert "Hello" == last(events).text
    assert [] == find_problems(events)


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
    assert [] == find_problems(events)
    assert ("completed", Situation.FINISHED) == (end_of(report), report.situation)


def test_received_by_a_session():
    """
    A session takes a run as it is, and stores its durable events.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4)])
        session = await Session.open(MemoryStore(), "s")
        async with received(session, client(provider).create(BODY, "m")) as events:
            types = [event.type async for event in events]
        return types, session.transcript["m"], provider

    types, message, provider = run(work())

    assert ["step.started", "text.started", "text.delta", "text.delta", "text.ended", "step.ended"] == types
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

    report = made.report
    assert (Situation.ZOMBIE, FailureMode.ZOMBIE, 0) == (report.situation, report.mode, report.run.outputs)
    assert "zombie" == last(events).error.code
    assert Action.STOP is report.actions[0]


def test_read_and_iteration_share_a_batch():
    """
    What was not iterated over of a batch is read before the next one.
    """

    async def work():
        made = client(Provider(*hello(), plans=[Plan(piece=10_000)])).create(BODY, "m")
        first = await anext(made)
        return first, await made.read()

    first, rest = run(work())

    assert ("step.started", "step.ended") == (first.type, rest[-1].type)


def test_what_comes_behind_an_end_that_is_held_back():
    """
    While the usage is fetched, the rest of the stream is ignored.
    """
    provider = Provider(*hello(K(usage=None), U("failed")), plans=[Plan(piece=10_000)], documents=[HELLO])

    events = run(events_of(client(provider).create(BODY, "m")))

    assert ("step.ended", 13) == (events[-1].type, events[-1].usage.total_tokens)


def test_empty_pieces_are_no_end():
    """
    A piece of nothing is skipped.
    """

    class Pieces(httpx2.AsyncByteStream):
        async def __aiter__(self):
            for event in hello():
                yield b""
                yield as_bytes(event)

    async def answer(request):
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Pieces())

    async def work():
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        return await events_of(GeminiInteractions("k", http=http).create(BODY, "m"))

    assert "Hello" == last(run(work())).text


class Pausing(httpx2.AsyncByteStream):
    """A stream that is silent for 65 s in its middle."""

    async def __aiter__(self):
        for at, event in enumerate(hello()):
            await asyncio.sleep(65 if at == 4 else 0)
            yield as_bytes(event)


def test_a_silence_that_ends_while_the_document_is_asked_for():
    """
    A stream that continues is read on, whatever the request for the document returns.
    """
    asked = []

    async def answer(request):
        asked.append(request.method)
        if request.method == "POST":
            return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Pausing())
        await asyncio.sleep(10)
        return httpx2.Response(404)

    async def work():
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        events = []
        async for event in GeminiInteractions("k", http=http).create(BODY, "m"):
            events.append(event)
            await asyncio.sleep(10)
        return events

    events = run(work())

    assert ("Hello", "step.ended") == (last(events).text, events[-1].type)
    assert ["POST", "GET"] == asked


def test_a_run_that_failed():
    """
    A run that the provider has failed is over: there is nothing to offer.
    """
    made = client(Provider(*hello(K("failed")))).create(BODY, "m")

    event = run(events_of(made))[-1]

    assert ("step.failed", "provider") == (event.type, event.error.kind)
    assert ("provider", Situation.FINISHED) == (end_of(made.report), made.report.situation)


def test_a_zombie_that_its_document_tells():
    """
    A run that cannot be followed any more, with the document of a zombie, is not waited for.
    """
    dead = document(status="in_progress") | {"created": "2026-11-19T10:00:00Z"}
    provider = Provider(*hello(), plans=[Plan(upto=2), Plan(status=501)], documents=[dead], date=DATE)
    made = client(provider).create(BODY, "m")

    run(events_of(made))

    report = made.report
    assert (Situation.ZOMBIE, FailureMode.ZOMBIE) == (report.situation, report.mode)
    assert ["create", "replay", "document"] == provider.asked


def test_several_runs_of_one_client():
    """
    A client serves any number of runs; Stop ends the one that is meant.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall"), Plan(upto=0, how="stall")])
        made = client(provider)
        known, other = made.create(BODY, "m"), made.create(BODY, "n")
        readers = [asyncio.create_task(events_of(each)) for each in (known, other)]
        await asyncio.sleep(10)
        await made.stop("v1")
        await asyncio.sleep(1)
        done = [reader.done() for reader in readers]
        await other.aclose()
        await asyncio.wait(readers)
        return done, known.report, other.report

    done, known, other = run(work())

    assert [True, False] == done
    assert ("cancelled", "aborted") == (end_of(known), end_of(other))


def test_stopped_while_nobody_reads():
    """
    A run that is stopped between two events ends with the next one that is asked for.
    """

    async def work():
        made = client(Provider(*hello()))
        stream = made.create(BODY, "m")
        await stream.read()
        await made.stop(stream)
        return await events_of(stream)

    assert ["step.failed"] == [event.type for event in run(work())]


def test_a_message_whose_model_is_not_known():
    """
    A message without a model is resumed as well.
    """
    stored = AssistantMessage(
        id="m",
        origin=Origin(provider="google", dialect="gemini-interactions"),
        run=RemoteRun(id="v1", resumable=True, kind="interaction"),
        status="running",
    )
    provider = Provider(*hello())

    events = run(events_of(client(provider).resume(stored)))

    assert "Hello" == fold(events, start=Transcript(messages=(stored,))).last.text
    assert ["replay"] == provider.asked


def test_connections_of_its_own():
    """
    A client keeps its connections for all of its runs, and has others for Stop.
    """

    async def work():
        async with GeminiInteractions("k") as made:
            made.create(BODY, "m")
            first = made._own
            made.create(BODY, "n")
            return first is made._own, first[0] is first[1]

    assert (True, False) == run(work())


def test_more_runs_than_httpx_has_connections_for():
    """
    Each run keeps its connection for as long as it lasts, and none waits for the connection of another.
    """

    async def work():
        runs, asked, all_asked = 101, [], asyncio.Event()

        async def serve(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            asked.append(writer)
            if len(asked) == runs:
                all_asked.set()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with GeminiInteractions("k", base_url=f"http://127.0.0.1:{port}") as made:
                readers = [asyncio.create_task(events_of(made.create(BODY, f"m{at}"))) for at in range(runs)]
                try:
                    async with asyncio.timeout(60):
                        await all_asked.wait()
                finally:
                    for each in readers:
                        each.cancel()
                    await asyncio.wait(readers)
                    for writer in asked:
                        writer.close()
        return len(asked)

    assert 101 == asyncio.run(work())


def test_closed_from_outside_while_it_is_read():
    """
    When the message is closed while a task waits for more, closing the connection ends the wait.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")])
        made = client(provider).create(BODY, "m")
        reader = asyncio.create_task(events_of(made))
        await asyncio.sleep(10)
        closed = made.close()
        await made.aclose()
        return closed, await reader, provider

    closed, events, provider = run(work())

    assert ("step.failed", "text.delta") == (closed[-1].type, events[-1].type)
    assert provider.bodies[0].closed
