"""
What a server cannot make the client do: wait for a dead stream, ask for ever, or take another run for this one.
"""

import asyncio
from datetime import datetime

import httpx2
import pytest

from assistant_events import find_problems, fold
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.clients import Clock, RecoveryPolicy, Situation
from assistant_events.clients.recovery import FailureMode, RecoveryState, RequestKind
from assistant_events.clients.tracking_decoder import TrackingDecoder
from assistant_events.testing.virtual_loop import run
from tests.adapters.notation import C, D, K, S, U, X, mo, text
from tests.adapters.notation import stream as as_bytes

from .answers import BODY, CREATED, DATE, HELLO, client, document, end_of, events_of, hello, last
from .provider import Body, Plan, Provider

MODEL_BODY = {"model": "gemini-3.6-flash", "input": "Hi"}
HEARTBEAT_S = 10.0
MOST_BEATS = 1000
MOST_STREAMS = 100
"""After these a test that waits for a limit gives up."""


class Beating(Body):
    """A stream that sends something every ten seconds after its events."""

    beats = ()

    async def __aiter__(self):
        for chunk in self._chunks(self.frames):
            yield chunk
        for at in range(MOST_BEATS):
            await asyncio.sleep(HEARTBEAT_S)
            yield self.beats[at % len(self.beats)]


class BeatingProvider(Provider):
    """Its streams end with heartbeats."""

    beats = ()

    async def _stream(self, events):
        response = await super()._stream(events)
        if isinstance(response.stream, Body):
            response.stream.__class__ = type("Beats", (Beating,), {"beats": self.beats})
        return response


def beating(*events, beats, **options):
    provider = BeatingProvider(*events, **options)
    provider.beats = beats
    return provider


def followed(provider, body=BODY, policy=None):
    """
    Follow a run to its end; return the events, the report, and how long it took.
    """

    async def work():
        made = client(provider, policy=policy).create(body, "m")
        events = await events_of(made)
        return events, made.report, asyncio.get_running_loop().time()

    events, report, lasted_s = run(work())
    assert [] == find_problems(events)
    return events, report, lasted_s


def frames(*events):
    return [as_bytes(event) for event in events]


def bytes_of(chunk):
    return [bytes([byte]) for byte in chunk]


HEARTBEATS = {
    "comments": [b": keep-alive\n\n"],
    "a byte now and then": bytes_of(b": keep-alive\n"),
    "bytes of an event that never ends": [b"data: ", *[b" "] * 10_000],
    "the same status": frames(U()),
    "statuses in turn": frames(U("queued"), U()),
    "the first event": frames(hello()[0]),
    "the start of a step": frames(hello()[2]),
    "deltas of nothing": frames(D(0, text("")), D(0, {})),
    "empty errors": frames({"event_type": "error", "error": {}}),
    "events that nobody knows": frames({"event_type": "ping"}),
    "an event again, by its id": frames({**D(0, text("Hel")), "event_id": "e3"}),
}


@pytest.mark.parametrize("beats", HEARTBEATS.values(), ids=HEARTBEATS)
def test_heartbeats_do_not_keep_a_dead_stream_alive(beats):
    """
    Silence is time without new content or a new status, so that the document of a run that is done is asked for.
    """
    wire = [{**event, "event_id": f"e{at}"} if at == 3 else event for at, event in enumerate(hello()[:4])]
    provider = beating(*wire, beats=beats, documents=[HELLO], date=DATE)

    events, report, lasted_s = followed(provider)

    assert ("Hello", "completed") == (last(events).text, end_of(report))
    assert ["create", "document"] == provider.asked
    assert 60 <= lasted_s <= 81


REPLAYS = {
    "comments": [b": keep-alive\n\n"],
    "the same status": frames(U()),
    "a delta that is repeated": frames({**hello()[3], "event_id": "e3"}),
    "its beginning, again and again": frames(hello()[0], hello()[2], hello()[3]),
}


@pytest.mark.parametrize("beats", REPLAYS.values(), ids=REPLAYS)
def test_heartbeats_do_not_keep_a_dead_replay_alive(beats):
    """
    The same holds for a replay that stops after its first events.
    """
    wire = [{**event, "event_id": "e3"} if at == 3 else event for at, event in enumerate(hello())]
    provider = beating(*wire, beats=beats, documents=[HELLO], date=DATE)

    async def work():
        cut = Provider(*hello(), plans=[Plan(upto=5, how="stall")])
        first = client(cut).create(BODY, "m")
        for _ in range(4):
            await anext(first)
        message = first.message
        await first.aclose()
        provider.plans = [Plan(upto=4)]
        made = client(provider).resume(message)
        return await events_of(made), made.report, message

    events, report, message = run(work())

    assert ("Hello", "completed") == (
        [event for event in events if event.type == "text.ended"][-1].text,
        end_of(report),
    )
    assert "running" == message.status
    assert ["replay", "document"] == provider.asked


def test_a_replay_that_comes_slowly_is_not_silent():
    """
    Repeated content is news of a replay: a slow replay is not silent.
    """

    class Slow(Body):
        async def __aiter__(self):
            for chunk in self._chunks(self.frames):
                await asyncio.sleep(29)
                yield chunk

    class SlowProvider(Provider):
        async def _stream(self, events):
            response = await super()._stream(events)
            if len(self.bodies) > 1:
                response.stream.__class__ = Slow
            return response

    provider = SlowProvider(*hello(), plans=[Plan(upto=5)])

    events, _, _ = followed(provider)

    assert "Hello" == last(events).text
    assert ["create", "replay"] == provider.asked


def test_heartbeats_of_a_run_that_works():
    """
    A stream with heartbeats stays open while the document reports a run in progress, up to the limit of the policy.
    """
    busy = document(mo("Hel"), status="in_progress")
    provider = beating(*hello()[:4], beats=[b": keep-alive\n\n"], documents=[busy], date=DATE)

    events, report, lasted_s = followed(provider)

    assert (Situation.INTERRUPTED, "interrupted") == (report.situation, events[-1].error.kind)
    assert ["create"] == [word for word in provider.asked if word != "document"]
    assert 3600 <= lasted_s <= 3700


def test_heartbeats_of_a_run_in_the_foreground():
    """
    A run without a document to ask for is given up after some minutes of heartbeats, in which a model may think.
    """
    provider = beating(*hello()[:4], beats=[b": keep-alive\n\n"])

    events, _, lasted_s = followed(provider, MODEL_BODY)

    assert ("timeout", "the stream gave nothing new for 600 s") == (events[-1].error.kind, events[-1].error.message)
    assert 600 <= lasted_s <= 611


def test_a_model_that_thinks_behind_heartbeats():
    """
    Its answer comes after minutes in which bytes came, and nothing else.
    """

    class Thinking(Provider):
        async def _stream(self, events):
            response = await super()._stream(events)
            if isinstance(response.stream, Body):
                response.stream.__class__ = ThinkingBody
            return response

    class ThinkingBody(Body):
        async def __aiter__(self):
            chunks = list(self._chunks(self.frames))
            for chunk in chunks[:3]:
                yield chunk
            for _ in range(30):
                await asyncio.sleep(HEARTBEAT_S)
                yield b": keep-alive\n\n"
            for chunk in chunks[3:]:
                yield chunk

    events, _, lasted_s = followed(Thinking(*hello()), MODEL_BODY)

    assert "Hello" == last(events).text
    assert 300 <= lasted_s <= 310


def test_nobody_reads():
    """
    Time in which the app does not read is not silence.
    """
    provider = Provider(*hello(), plans=[Plan(piece=40)], documents=[HELLO])

    async def work():
        made = client(provider).create(BODY, "m")
        events = []
        async for event in made:
            events.append(event)
            await asyncio.sleep(1000)
        return events

    assert "Hello" == last(run(work())).text
    assert ["create"] == provider.asked


def test_a_silent_stream_whose_document_cannot_be_fetched():
    """
    A stream that is silent is left when the document does not come either, and followed once more.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")], documents=[500])

    events, report, _ = followed(provider)

    assert ("Hello", [FailureMode.DROP, None]) == (last(events).text, [attempt.mode for attempt in report.attempts])
    assert ["create", "document", "replay"] == provider.asked


class Paced(httpx2.AsyncByteStream):
    """A stream of events with a pause before each."""

    def __init__(self, *paces):
        self.paces = paces

    async def __aiter__(self):
        for seconds, event in self.paces:
            await asyncio.sleep(seconds)
            yield b"" if event is None else as_bytes(event)


def paced(*streams, document_s=0.0, status=200, said=None):
    """
    Follow a run whose streams have pauses; return its events and the times at which its document was asked for.
    """
    left, asked = list(streams), []

    async def answer(request):
        if request.method == "POST" or "stream" in request.url.params:
            headers = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=headers, stream=Paced(*left.pop(0)))
        asked.append(asyncio.get_running_loop().time())
        await asyncio.sleep(document_s)
        return httpx2.Response(status, json=said, headers={"date": DATE})

    async def work():
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        return await events_of(GeminiInteractions("secret-key", http=http).create(BODY, "m"))

    return run(work()), asked


BUSY = document(mo("Hel"), status="in_progress")


def test_silence_is_measured_from_the_last_news():
    """
    Each news begins a new silence, of the same length.
    """
    begun, rest = [(0, event) for event in hello()[:4]], [(0, event) for event in hello()[5:]]
    events, asked = paced([*begun, (70, hello()[4]), (70, hello()[5]), *rest[1:]], said=BUSY)

    assert "Hello" == last(events).text
    assert [60, 130] == asked


def test_news_while_a_document_is_not_found():
    """
    A stream that continues is not abandoned, and the failed fetch of the document is forgotten.
    """
    begun, rest = [(0, event) for event in hello()[:4]], [(0, event) for event in hello()[5:]]
    whole = [(0, event) for event in hello()]
    events, asked = paced([*begun, (65, hello()[4]), (40, None)], whole, document_s=10, status=404)
    again, _ = paced([*begun, (65, hello()[4]), *rest], document_s=10, status=404)

    assert ("step.ended", "step.ended") == (events[-1].type, again[-1].type)
    assert [60] == asked


def test_a_replay_without_a_byte():
    """
    A replay that gives nothing at all has stalled, also while the run works: the document is asked for until it ends.
    """
    provider = Provider(
        *hello(), plans=[Plan(upto=4), Plan(upto=2, how="stall")], documents=[BUSY, BUSY, HELLO], date=DATE
    )

    events, report, lasted_s = followed(provider)

    assert ("Hello", FailureMode.RECUT) == (last(events).text, report.mode)
    assert ["create", "replay", "document", "document", "document"] == provider.asked
    assert 60 <= lasted_s <= 64


# -- replays that differ


class Differing(Provider):
    """Each of its streams has other content."""

    async def _stream(self, events):
        assert len(self.bodies) < MOST_STREAMS
        words = f"{len(self.bodies)} is what it says now"
        self.events = [*hello()[:3], D(0, text(words)), D(0, text("and more"))]
        return await super()._stream(self.events)


def test_replays_that_all_differ():
    """
    The stream is asked for once more up to a limit, then the document is, which is whole.
    """
    provider = Differing(documents=[HELLO], date=DATE)

    events, report, _ = followed(provider, policy=RecoveryPolicy(follows=5))

    assert ("Hello", "completed") == (last(events).text, end_of(report))
    assert ["create", *["replay"] * 5, "document"] == provider.asked


def test_replays_that_all_differ_and_no_document():
    """
    The error has the number of requests for the stream beside the failure of the document.
    """
    provider = Differing(documents=[501], date=DATE)

    events, _, _ = followed(provider)

    assert "501 (the stream was asked for 30 times and did not come to its end)" == events[-1].error.message
    assert ["create", *["replay"] * 30, "document"] == provider.asked


def test_cursors_that_lead_astray_again_and_again():
    """
    The limit holds whatever a connection ends with.
    """

    class Astray(Provider):
        async def _stream(self, events):
            assert len(self.bodies) < MOST_STREAMS
            words = f"{len(self.bodies)} is what it says now"
            begun = [*hello()[:3], {**D(0, text(words)), "event_id": f"e{len(self.bodies)}"}]
            self.events = [D(7, text("astray"))] if self.asked[-1].startswith("cursor") else begun
            return await super()._stream(self.events)

        def _after(self, cursor):
            return self.events

    provider = Astray(documents=[HELLO], date=DATE)

    events, _, _ = followed(provider, policy=RecoveryPolicy(follows=6))

    assert "Hello" == last(events).text
    assert 6 == len([word for word in provider.asked if word not in ("create", "document")])


@pytest.mark.parametrize("mode", [FailureMode.CUT, FailureMode.DROP, FailureMode.UNFINISHED, FailureMode.RECUT])
def test_follows_are_bounded(mode):
    """
    Whatever a stream ends with, the limit decides.
    """
    policy = RecoveryPolicy(follows=3)

    assert [RequestKind.REPLAY, RequestKind.FETCH] == [
        RecoveryState(follows=follows).next_request(mode, policy, resumable=True) for follows in (2, 3)
    ]


class Flood(Body):
    """A stream that is never waited for after its events."""

    async def __aiter__(self):
        for chunk in self._chunks(self.frames):
            yield chunk
        for _ in range(MOST_BEATS):
            await asyncio.sleep(0)
            yield b": ping\n\n"


class FloodingProvider(Provider):
    """Its streams end with a flood."""

    async def _stream(self, events):
        response = await super()._stream(events)
        response.stream.__class__ = Flood
        return response


def test_a_flood_of_comments_is_silence(monkeypatch):
    """
    Comments that come faster than they are read leave no time to wait in: the time that they take is silence, too.
    """
    feed = TrackingDecoder.feed

    def slow(decoder, data):
        asyncio.get_running_loop().now += 1.0
        return feed(decoder, data)

    monkeypatch.setattr(TrackingDecoder, "feed", slow)
    events, _, lasted_s = followed(FloodingProvider(*hello()[:5]), MODEL_BODY)

    assert "the stream gave nothing new for 610 s" == events[-1].error.message
    assert lasted_s < 620


# -- another run

OTHER = [C("v2", status="in_progress", created=CREATED), S(0, mo()), D(0, text("Bye")), X(0), K(id="v2")]
FOREIGN = {
    "from its first event": OTHER,
    "in its last event": [*hello()[:6], K(id="v2")],
    "nameless, then in its last event": [C("", status="in_progress"), *OTHER[1:]],
    "in its status, without a first event": [
        U(interaction_id="v2"),
        S(0, mo()),
        D(0, text("Hello, you")),
        X(0),
        K(id=""),
    ],
}


@pytest.mark.parametrize("wire", FOREIGN.values(), ids=FOREIGN)
def test_a_replay_of_another_run(wire):
    """
    A replay with the id of another run is refused; what is known stays, and the document of the right one is asked for.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4), Plan(events=wire)], documents=[HELLO], date=DATE)

    events, report, _ = followed(provider)

    assert ("Hello", "v1", "completed") == (last(events).text, last(events).run.id, end_of(report))
    assert ["create", "replay", "document"] == provider.asked


HOPS = [
    *[C("v1", status="in_progress", created=CREATED), S(0, mo()), D(0, text("one")), X(0)],
    K("requires_continuation", continuation_token="t"),
    *[C("v2", status="in_progress", created=CREATED), S(0, mo()), D(0, text("two")), X(0), K(id="v2")],
]


@pytest.mark.parametrize("upto", [at for at in range(2, len(HOPS)) if at != 5])
def test_a_replay_of_several_hops(upto):
    """
    The runs before and after the one that was asked for belong to the same answer, wherever the stream was cut.
    """
    provider = Provider(*HOPS, plans=[Plan(upto=upto)])

    events, report, _ = followed(provider)
    messages = fold(events).messages

    assert [("one", "v1"), ("two", "v2")] == [(message.text, message.run.id) for message in messages]
    assert ("completed", ["create", "replay"]) == (end_of(report), provider.asked)
    assert [FailureMode.DROP, None] == [attempt.mode for attempt in report.attempts]


def test_a_stream_that_ends_between_two_hops():
    """
    What pauses is for the app to go on with.
    """
    provider = Provider(*HOPS, plans=[Plan(upto=5)])

    events, report, _ = followed(provider)

    assert ("pause", "completed") == (last(events).finish_reason, end_of(report))
    assert ["create"] == provider.asked


def test_a_document_of_another_run():
    """
    So is a document. It is not asked for again.
    """
    other = document(mo("Bye"), id="v2")
    provider = Provider(*hello(), plans=[Plan(upto=4), Plan(events=OTHER)], documents=[other], date=DATE)

    events, report, _ = followed(provider)

    assert ("Hel", "v1", "protocol") == (last(events).text, last(events).run.id, end_of(report))
    assert ("protocol", "asked for run 'v1', got the document of 'v2'") == (
        events[-1].error.kind,
        events[-1].error.message,
    )
    assert 1 == provider.asked.count("document")


def test_a_stream_instead_of_a_document():
    """
    A stream in place of a document is rejected, and the error does not list streams as expected.
    """
    stream = httpx2.Response(200, headers={"content-type": "text/event-stream"})
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda request: stream))
    status = run(GeminiInteractions("secret-key", http=http).status("v1"))

    assert "expected application/json, got 'text/event-stream'" == status.message


def test_the_status_of_another_run():
    """
    The document of another run is not the status of this one.
    """
    status = run(client(Provider(documents=[document(id="v2")])).status("v1"))

    assert "asked for run 'v1', got the document of 'v2'" == status.message


def test_the_usage_of_another_run():
    """
    Nor has it the usage of this one.
    """
    provider = Provider(*hello(K(usage=None)), documents=[document(mo("Bye"), id="v2")])

    events, report, _ = followed(provider)

    assert (None, FailureMode.NO_USAGE) == (events[-1].usage, report.mode)


def test_a_document_of_another_run_instead_of_a_replay():
    """
    Nor does a document that comes where a stream was asked for.
    """
    body = b'{"id": "v2", "status": "completed", "steps": [{"type": "model_output"}]}'
    plan = Plan(body=body, headers={"content-type": "application/json"})
    provider = Provider(*hello(), plans=[Plan(upto=4), plan], documents=[HELLO], date=DATE)

    events, _, _ = followed(provider)

    assert ("Hello", ["create", "replay", "document"]) == (last(events).text, provider.asked)


def test_a_document_without_an_id():
    """
    A document without an id is accepted as the requested one.
    """
    nameless = {key: value for key, value in HELLO.items() if key != "id"}
    provider = Provider(*hello(), plans=[Plan(upto=4), *[Plan(status=501)] * 2], documents=[nameless], date=DATE)

    assert "Hello" == last(followed(provider)[0]).text


# -- the time of the server


ZOMBIES = {
    "the server's time is late": ("Sun, 22 Nov 2026 11:00:01 GMT", "2026-11-22T10:30:00+00:00", Situation.ZOMBIE),
    "the server's time is early": ("Sun, 22 Nov 2026 11:00:00 GMT", "2026-11-22T12:00:00+00:00", Situation.INTERRUPTED),
    "a date of no zone, ours late": ("Sun, 22 Nov 2026 10:00:00 -0000", "2026-11-22T11:00:01+00:00", Situation.ZOMBIE),
    "only our time, late": (None, "2026-11-22T11:00:01+00:00", Situation.ZOMBIE),
    "only our time, early": (None, "2026-11-22T11:00:00+00:00", Situation.INTERRUPTED),
}


@pytest.mark.parametrize("silent", [False, True], ids=["asked for", "beside a silent stream"])
@pytest.mark.parametrize(("date", "ours", "situation"), ZOMBIES.values(), ids=ZOMBIES)
def test_whose_time_tells_a_zombie(date, ours, situation, silent):
    """
    The time of the server decides, when it is sent: the clock of a laptop may be an hour off.
    """
    busy = document(status="in_progress", created=CREATED)
    plans = [Plan(upto=2, how="stall")] if silent else [Plan(upto=2), *[Plan(status=501)] * 2]
    provider = Provider(*hello(), plans=plans, documents=[busy], date=date)

    async def work():
        clock = Clock(now=lambda: datetime.fromisoformat(ours))
        made = client(provider, clock=clock, policy=RecoveryPolicy(poll_agent_s=100.0)).create(BODY, "m")
        return await events_of(made), made.report

    events, report = run(work())

    assert situation is report.situation
    assert ("zombie", True) == (events[-1].error.code, events[-1].error.retryable) or situation is Situation.INTERRUPTED


def test_how_long_an_agent_is_waited_for():
    """
    An hour, as in its manual; a model half of that.
    """
    assert (3600, 1800) == (RecoveryPolicy().poll_agent_s, RecoveryPolicy().poll_model_s)
