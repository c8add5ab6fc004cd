"""
Arguments of the wrong kind: one sentence, where they are given, names the argument and what belongs there.
"""

import asyncio

import pytest

from assistant_events.adapters.anthropic_messages.client import AnthropicMessages
from assistant_events.live import MemoryLive
from assistant_events.session import Session, SyncSession, Turns, ready_calls, run_tools
from assistant_events.stores import AsyncStore, MemoryStore, SqliteStore
from assistant_events.testing import Clock
from assistant_events.web import ChatRoutes
from tests.session.scripted import Provider


async def move(session):
    """Make no move."""


def turns(store=None, **options):
    return Turns(store or MemoryStore(), move, client=Provider(), **options)


def routes(turned=None, **options):
    options = {"authorize": lambda request, session_id: "me", **options}
    return ChatRoutes(turned or turns(live=MemoryLive(MemoryStore())), **options)


async def stop():
    await (await Session.open(MemoryStore(), "s1")).stop(Provider)


async def run(function=print, **options):
    await run_tools(await Session.open(MemoryStore(), "s1"), function, **options)


async def run_in_threads():
    await run_tools(SyncSession.open(MemoryStore(), "s1"), print)


async def watch(session_id="s1", after=0):
    async with MemoryLive(MemoryStore()) as live:
        await anext(live.subscribe(session_id, after))


STORE = r'store: expected a store, such as SqliteStore\("chat.db"\), got '
NAMES = "expected a collection of strings, such as a list, got str"
SECONDS = "expected a number of seconds, got str"

MISTAKES = [
    (stop, r"client: expected a client such as AnthropicMessages\(\), got the class Provider"),
    (lambda: SyncSession.open(MemoryStore(), "s1").stop("p"), "client: expected a client .*, got str"),
    (run_in_threads, "session: expected a Session, got SyncSession"),
    (lambda: run("look"), "run: expected a function, or functions by the names of their tools, got str"),
    (lambda: run(of_browser="draw"), f"of_browser: {NAMES}"),
    (lambda: run(timeout_s="1"), f"timeout_s: {SECONDS}"),
    (lambda: SqliteStore("s.db", timeout_s="1"), f"timeout_s: {SECONDS}"),
    (lambda: run(timeout_s=True), "timeout_s: expected a number of seconds, got bool"),
    (lambda: run(needs_approval=True), "needs_approval: expected a function, got bool"),
    (lambda: run(needs_approval=move), "needs_approval: expected a plain function, got an async one"),
    (lambda: ready_calls(None), r"transcript: expected a Transcript, such as session\.transcript, got NoneType"),
    (lambda: turns("chat.db"), f"{STORE}str"),
    (lambda: turns(of_browser="draw"), f"of_browser: {NAMES}"),
    (lambda: turns(every_s="5"), f"every_s: {SECONDS}"),
    (lambda: turns(poll_s="5"), f"poll_s: {SECONDS}"),
    (lambda: turns(live="x"), "live: expected a live channel such as MemoryLive or None, got str"),
    (lambda: turns(lost=5), "lost: expected a function, got int"),
    (lambda: turns(max_rounds="3"), "max_rounds: expected int, got str"),
    (lambda: turns().start("s1"), r"session: expected a Session, as `Turns\.open` returns it, got str"),
    (lambda: turns().stop("s1"), r"session: expected a Session, as `Turns\.open` returns it, got str"),
    (lambda: AsyncStore("chat.db"), f"{STORE}str"),
    (lambda: AsyncStore(AsyncStore(MemoryStore())), "store: expected a store whose calls return results, got Async.*"),
    (lambda: MemoryLive(MemoryStore), f"{STORE}the class MemoryStore"),
    (lambda: MemoryLive(MemoryStore(), flush_s="1"), f"flush_s: {SECONDS}"),
    (lambda: MemoryLive(MemoryStore(), poll_s="1"), f"poll_s: {SECONDS}"),
    (lambda: watch(None), "session_id: expected str, got NoneType"),
    (lambda: watch(after=None), "after: expected int, got NoneType"),
    (lambda: routes(turned=Turns), "turns: expected a Turns, got the class Turns"),
    (lambda: routes(turned=turns()), r"turns: expected one with a live channel, such as Turns\(store, move, .*"),
    (lambda: routes(authorize="me"), "authorize: expected a function, got str"),
    (lambda: routes(before_delete="bill"), "before_delete: expected a function, got str"),
    (lambda: routes(hosts="chat.example"), f"hosts: {NAMES}"),
    (lambda: routes(origins="https://chat.example"), f"origins: {NAMES}"),
    (lambda: routes(heartbeat_s="15"), f"heartbeat_s: {SECONDS}"),
    (lambda: routes(max_streams=None), "max_streams: expected int, got NoneType"),
    (lambda: AnthropicMessages("k", headers=["a"]), "headers: expected a mapping, got list"),
    (lambda: AnthropicMessages("k", policy={}), "policy: expected a RecoveryPolicy, got dict"),
    (lambda: AnthropicMessages("k", clock=Clock()), r"clock: expected a Clock of assistant_events\.clients, got Clock"),
    (lambda: AnthropicMessages("k", http="x"), r"http: expected an httpx2\.AsyncClient, got str"),
]


@pytest.mark.parametrize(("call", "text"), MISTAKES, ids=[f"{at} {text}" for at, (_, text) in enumerate(MISTAKES)])
def test_an_argument_of_the_wrong_kind(call, text):
    """
    A class, a path or a single string, in place of an object, a store or several strings, is refused at once.
    """

    async def main():
        result = call()
        if asyncio.iscoroutine(result):
            await asyncio.wait_for(result, 1)

    with pytest.raises(TypeError, match=f"^{text}$"):
        asyncio.run(main())


@pytest.mark.parametrize("seconds", [-1, float("nan")])
def test_seconds_that_are_not(seconds):
    """
    So is a time that runs backwards.
    """
    with pytest.raises(ValueError, match=f"poll_s: expected 0 or more seconds, got {seconds}"):
        MemoryLive(MemoryStore(), poll_s=seconds)


def test_counts_that_allow_nothing():
    """
    So is a number of which nothing would come.
    """
    with pytest.raises(ValueError, match="max_rounds: expected 1 or more, got 0"):
        turns(max_rounds=0)
    with pytest.raises(ValueError, match="max_streams_per_owner: expected 1 or more, got 0"):
        routes(max_streams_per_owner=0)
