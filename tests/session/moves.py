"""
Moves of an app for the tests of turns, and waiting for what tasks do.
"""

import asyncio
from datetime import UTC, datetime

from assistant_events import Awaits, PromptSubmitted, RemoteRun, StepStarted
from assistant_events.errors import StoreError
from assistant_events.session import run_tools
from assistant_events.stores import MemoryStore
from tests.session.scripted import CUT, Provider, Store

BODY = {"model": "acme-1"}
SOON = {"every_s": 60, "poll_s": 0.01}
"""Options of `Turns` with which nothing takes long, and none takes a session up between its prompt and its start."""

OFTEN = {"every_s": 0.05, "poll_s": 0.01}
"""The same, and what was left is soon taken up or tried again."""


RUN = RemoteRun(id="run-1", kind="acme", resumable=True)


def run(main):
    """Run a coroutine, for at most 30 seconds."""
    asyncio.run(asyncio.wait_for(main, 30))


async def until(condition):
    """Wait for a condition."""
    async with asyncio.timeout(20):
        met = condition()
        while not met:
            await asyncio.sleep(0.005)
            met = condition()


async def answer(session, client):
    """Ask for an answer, and receive all of it."""
    async with session.respond(client, BODY) as events:
        async for _ in events:
            pass


def app(client, tool=lambda run: "rain", **options):
    """Return the move of an app: ask the model, or run the tools."""

    async def move(session):
        if session.transcript.awaits is Awaits.MODEL:
            await answer(session, client)
        else:
            await run_tools(session, tool, **options)

    return move


async def silent(*chunks):
    """Send *chunks* as the beginning of an answer, and then nothing."""
    for chunk in chunks:
        yield chunk
    await asyncio.Event().wait()


class SlowProvider(Provider):
    """A provider whose answers may be asynchronous iterators, such as `silent`."""

    def _sent(self, answer):
        return answer if hasattr(answer, "__anext__") else super()._sent(answer)


class FailingStore(Store):
    """A store whose methods fail on demand."""

    def __init__(self):
        super().__init__()
        self.fail = {}
        """Name of a method, or type of an event in a batch -> how often it fails."""

    def append(self, session_id, events, **more):
        events = list(events)
        for event in events:
            self._try(event.type)
        return super().append(session_id, events, **more)

    def __getattr__(self, name):
        method = getattr(self.inner, name)

        def call(*args, **more):
            self._try(name)
            return method(*args, **more)

        return call

    def _try(self, name):
        if self.fail.get(name, 0) > 0:
            self.fail[name] -= 1
            raise StoreError(f"{name}: the disk is full")


def left_by_a_dead_worker(*events):
    """Return a store in which a worker has written *events* and died. Its clock does not run, so only that is known."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    store = MemoryStore(clock=lambda: now)
    token = store.claim("s1", "dead").token
    store.append("s1", [PromptSubmitted(message_id="u1", content="Hi"), *events], token=token)
    return store


def with_run(remote):
    """Return the beginning of an answer that lives at the provider."""
    [start, *rest] = CUT
    return [StepStarted(message_id="a1", origin=start.origin, run=remote), *rest]
