"""
A session receives what a client gives: stored before it is shown, closed when it is left, taken up after a failure.
"""

import asyncio

import anyio
import pytest

from assistant_events import Origin
from assistant_events.adapters.anthropic_messages.client import AnthropicMessages, SyncAnthropicMessages
from assistant_events.adapters.gemini_interactions import dialect
from assistant_events.clients import load_client
from assistant_events.errors import StoreError
from assistant_events.history import DropReason
from assistant_events.session import Session, SyncSession
from assistant_events.stores import MemoryStore
from assistant_events.testing import answer, durable, mock_provider, prompt
from assistant_events.testing.virtual_loop import run
from tests.adapters.notation import stream

from .answers import BODY, client, hello, received
from .provider import Plan, Provider
from .test_sync import sync_client


class Failing(MemoryStore):
    """A store that refuses one append."""

    fails_at = 1

    def append(self, *arguments, **options):
        self.fails_at -= 1
        if not self.fails_at:
            raise StoreError("the disk is full")
        return super().append(*arguments, **options)


def test_stored_before_it_is_given():
    """
    The durable events of a batch are in the store before any event of it is given.
    """
    store = MemoryStore()

    async def work():
        session = await Session.open(store, "s")
        async with received(
            session, client(Provider(*hello(), plans=[Plan(piece=10_000)])).create(BODY, "m")
        ) as events:
            first = await anext(events)
            return first, [record.event.type for record in store.read("s")]

    first, stored = run(work())

    assert "step.started" == first.type
    assert ["step.started", "text.started", "text.ended", "step.ended"] == stored


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_store_that_fails(fails_at):
    """
    Events that the store refused are kept; the same stream, entered again, continues on the same connection.
    """
    store = Failing()
    store.fails_at = fails_at

    async def work():
        provider = Provider(*hello())
        session = await Session.open(store, "s")
        stream = received(session, client(provider).create(BODY, "m"))
        types = []

        async def receive():
            async with stream as events:
                async for event in events:
                    types.append(event.type)  # noqa: PERF401 - what came before the failure is kept

        with pytest.raises(StoreError, match="the disk is full"):
            await receive()
        await receive()
        return provider, types, session.transcript["m"]

    provider, types, message = run(work())

    assert ["step.started", "text.started", "text.delta", "text.delta", "text.ended", "step.ended"] == types
    assert ("Hello", ["create"]) == (message.text, provider.asked)
    assert provider.bodies[0].closed


def test_a_task_that_is_cancelled():
    """
    A cancellation closes the connection and the message, which can be resumed by another session.
    """
    store = MemoryStore()

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")])
        session = await Session.open(store, "s")

        async def receive():
            async with received(session, client(provider).create(BODY, "m")) as events:
                async for _ in events:
                    pass

        task = asyncio.create_task(receive())
        await asyncio.sleep(10)
        task.cancel()
        await asyncio.wait([task])
        left = session.transcript["m"]

        other = await Session.open(store, "s")
        async with received(other, client(provider).resume(other.transcript["m"])) as events:
            resumed = [event.type async for event in events]
        return provider, left, resumed, other.transcript["m"]

    provider, left, resumed, message = run(work())

    assert ("failed", "aborted", True) == (left.status, left.error.kind, left.run.resumable)
    assert all(body.closed for body in provider.bodies)
    assert ("step.restarted", "step.ended") == (resumed[0], resumed[-1])
    assert ("Hello", "completed") == (message.text, message.status)


@pytest.mark.parametrize("reading", [True, False], ids=["while it reads", "between two events"])
def test_a_scope_of_anyio_that_is_cancelled(reading):
    """
    So does a scope of anyio, in which each wait of the closing is cancelled too.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")])
        session = await Session.open(MemoryStore(), "s")
        with anyio.move_on_after(10):
            async with received(session, client(provider).create(BODY, "m")) as events:
                async for event in events:
                    if event.type == "text.delta" and not reading:
                        await asyncio.sleep(20)
        await asyncio.sleep(1)
        return session.transcript["m"], [body.closed for body in provider.bodies]

    left, closed = run(work())

    assert ("failed", "aborted", True) == (left.status, left.error.kind, left.run.resumable)
    assert [True] == closed


def test_a_closed_message_whose_run_is_gone():
    """
    A message that was closed by a cut fails with the loss of its run, keeps its content, and is not unfinished any
    more.
    """
    store = MemoryStore()

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall"), Plan(status=404), Plan(status=404)])
        session = await Session.open(store, "s")
        async with received(session, client(provider).create(BODY, "m")) as events:
            async for event in events:
                if event.type == "text.delta":
                    break
        left = store.unfinished()["s"]
        resumed = []
        for _ in range(2):
            async with received(session, client(provider).resume(session.transcript["m"])) as events:
                resumed.append([event.type async for event in events])
        return left, resumed, session.transcript["m"]

    left, resumed, message = run(work())

    assert [("m", "provider")] == [(each.message_id, each.awaits) for each in left]
    assert [["step.restarted", "text.started", "text.ended", "step.failed"], []] == resumed
    assert ("Hel", "not-found", False) == (message.text, message.error.kind, message.run.resumable)
    assert {} == store.unfinished()


def test_a_message_of_a_dead_process():
    """
    A message that was left open continues as after a pause of the stream.
    """
    store = MemoryStore()
    running = dialect.decoder("m", request={**BODY, "background": True})

    async def work():
        provider = Provider(*hello())
        begun = [event for event in running.feed(stream(*hello()[:4])) if event.durable]
        await asyncio.to_thread(store.append, "s", begun)
        session = await Session.open(store, "s")
        async with received(session, client(provider).resume(session.transcript["m"])) as events:
            return [event.type async for event in events], session.transcript["m"].text

    assert (["text.delta", "text.delta", "text.ended", "step.ended"], "Hello") == run(work())


def test_recovered_while_it_runs():
    """
    A run that is in progress gives nothing to recover yet, and the message stays as it is.
    """

    async def work():
        store = MemoryStore()
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")], ends_s=1e9, date="")
        session = await Session.open(store, "s")
        async with received(session, client(provider).create(BODY, "m")) as events:
            async for event in events:
                if event.type == "text.delta":
                    break
        before = session.transcript["m"]
        made = client(provider).recover(before)
        async with received(session, made) as events:
            recovered = [event async for event in events]
        return before, recovered, session.transcript["m"], made.report

    before, recovered, after, report = run(work())

    assert ([], before) == (recovered, after)
    assert (None, "interrupted", "in_progress") == (report.error, report.situation, report.status)


LONG = {"Hi": {"text": "word " * 200, "timing": {"between_s": 0.05, "delta_chars": 6}}}
MESSAGES = {"model": "claude-opus-5-5", "max_tokens": 9, "stream": True}


@pytest.mark.parametrize("is_sync", [False, True], ids=["async", "sync"])
def test_the_usage_of_an_answer_that_is_stopped(is_sync):
    """
    What the provider has counted until then is billed: the tokens of the input come with the first frame.
    """
    with mock_provider(LONG, dialect="anthropic-messages") as mock:

        async def work():
            session = await Session.open(MemoryStore(), "s")
            await session.prompt("Hi")
            async with AnthropicMessages("k", base_url=mock.url) as api, session.respond(api, MESSAGES) as events:
                while (await anext(events)).type != "text.delta":
                    pass
                await session.stop(api)
            return session.transcript.last

        def work_in_this_thread():
            session = SyncSession.open(MemoryStore(), "s")
            session.prompt("Hi")
            with SyncAnthropicMessages("k", base_url=mock.url) as api, session.respond(api, MESSAGES) as events:
                while next(events).type != "text.delta":
                    pass
                session.stop(api)
            return session.transcript.last

        last = work_in_this_thread() if is_sync else asyncio.run(work())

    assert ("cancelled", True) == (last.error.kind, last.usage.details["partial"])
    assert last.usage.input_tokens > 0


OTHERS = "b3RoZXJz"
MOVED = {
    "anthropic-messages": ("anthropic", {"model": "claude-opus-4-6", "max_tokens": 9}, {"signature": OTHERS, "i": 0}),
    "bedrock-converse": ("bedrock", {"modelId": "anthropic.claude-opus-4-6-v1:0"}, {"signature": OTHERS, "i": 0}),
    "gemini-generate-content": ("google", {"model": "gemini-3-pro"}, {"thoughtSignature": OTHERS, "i": 0}),
    "openai-responses": (
        "openai",
        {"model": "gpt-5.6", "store": False},
        {"encrypted_content": OTHERS, "item_id": "rs_1"},
    ),
}
"""Provider, request and state of a thought of each dialect."""


@pytest.mark.parametrize("name", MOVED)
def test_state_of_another_account(name):
    """
    The service refuses it; the answer comes all the same, to a request without it, and later ones do not have it.
    """
    provider, body, thought = MOVED[name]
    origin = Origin(provider=provider, model=body.get("model") or body["modelId"], dialect=name)
    store = MemoryStore()
    store.append("s", [prompt("Hi"), *durable(answer("Ho", reasoning="Hm", reasoning_state=thought, origin=origin))])
    with mock_provider({"And?": "So.", "Then?": "No."}, dialect=name) as mock:

        async def work():
            session = await Session.open(store, "s")
            async with load_client(name)("k", base_url=mock.url) as api:
                for question in ("And?", "Then?"):
                    await session.prompt(question)
                    async with session.respond(api, body) as events:
                        types = [event.type async for event in events]
            return session.transcript, types, {drop.reason for drop in events.request.drops}

        transcript, types, reasons = asyncio.run(work())
        sent = [OTHERS in str(request) for request in mock.requests]

    assert ("So.", "No.") == tuple(message.text for message in transcript)[3::2]
    assert ([True, False, False], {DropReason.STRIPPED}) == (sent, reasons)
    assert "step.failed" not in types


def test_the_client_of_the_other_face():
    """
    Each face takes the answers of its own clients.
    """
    blocking = SyncSession.open(MemoryStore(), "s")

    async def work(made):
        session = await Session.open(MemoryStore(), "s")
        async with received(session, made):
            pass

    with pytest.raises(TypeError, match="SyncSession takes a synchronous client"):
        received(blocking, client(Provider()).create(BODY, "m")).__enter__()
    with sync_client(Provider()) as other, pytest.raises(TypeError, match="Session takes an asynchronous client"):
        run(work(other.create(BODY, "m")))


def test_two_runs_of_one_session():
    """
    A session receives several runs, one after another or at once.
    """

    async def work():
        session = await Session.open(MemoryStore(), "s")

        async def receive(message_id):
            async with received(session, client(Provider(*hello())).create(BODY, message_id)) as events:
                return [event async for event in events]

        await asyncio.gather(receive("m"), receive("n"))
        return [message.text for message in session.transcript.messages]

    assert ["Hello", "Hello"] == run(work())


def test_the_blocking_face_after_a_failure():
    """
    The same stream, entered again, continues where it was.
    """
    store = Failing()
    store.fails_at = 2
    session = SyncSession.open(store, "s")
    provider = Provider(*hello())

    with sync_client(provider) as made:
        stream = received(session, made.create(BODY, "m"))
        with pytest.raises(StoreError, match="the disk is full"), stream as events:
            list(events)
        with stream as events:
            types = [event.type for event in events]

    assert "step.ended" == types[-1]
    assert ("Hello", ["create"]) == (session.transcript["m"].text, provider.asked)
