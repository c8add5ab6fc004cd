"""
Four servers on one SQLite file: each step belongs to one of them, and what one leaves behind is taken up by another.

A page watches each session at any of the servers, and continues at another one when it is cut.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter, deque
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import cycle

import httpx2
import pytest

from assistant_events import Awaits, find_problems, fold
from assistant_events.errors import StoreError
from assistant_events.stores import SqliteStore
from tests.children import Child
from tests.kills.test_kills import PROVIDER, start
from tests.kills.trip import TEXTS, approve
from tests.kills.watching import Page

SERVERS = ("w1", "w2", "w3", "w4")
SESSIONS = [f"s{number}" for number in range(6)]


@pytest.fixture
def servers(tmp_path):
    """
    The addresses and processes of four servers on one store, by name.
    """
    with ExitStack() as started:
        provider = started.enter_context(start(PROVIDER)).stdout.readline().decode().strip()
        found = {}
        for name in SERVERS:
            environment = {
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "CHAT_DB": str(tmp_path / "s.db"),
                "RUNS": str(tmp_path / "runs"),
                "PROVIDER": provider,
                "WORKER": name,
            }
            command = [sys.executable, "-m", "uvicorn", "--port", "0", "--no-access-log", "tests.kills.server:app"]
            found[name] = started.enter_context(Child(command, env=environment, stdout=subprocess.DEVNULL))
        yield {name: (address_of(child), child) for name, child in found.items()}


def address_of(child):
    """
    Return the address of a server, once it runs.
    """
    line = next(line for line in child.stderr if b"running on" in line)
    return line.split(b"running on ")[1].split()[0].decode()


@pytest.fixture
def watching(servers, pages, tmp_path):
    """
    A page for each session, at different servers.
    """
    addresses = deque([address for address, _ in servers.values()])
    found = {}
    for session in SESSIONS:
        urls = [f"{address}/sessions/{session}/events" for address in addresses]
        addresses.rotate(-1)
        found[session] = Page(pages, str(tmp_path / session), urls)
    yield found
    for page in found.values():
        page.leave()


async def all_shown(watching, store):
    """
    Wait until each page shows what is in the log of its session.
    """
    async with asyncio.timeout(60):
        shown = [await page.until_equal(store, session) for session, page in watching.items()]
    assert {1} == {each["snapshots"] for each in shown}


async def cut_once(watching, server):
    """
    Wait until the pages at a server that was killed are connected to another one; no other page was cut.
    """
    times = {session: 2 if at % len(SERVERS) == server else 1 for at, session in enumerate(watching)}
    async with asyncio.timeout(60):
        for session, page in watching.items():
            await page.until_opened(times[session])
    assert times == {session: page.shown()["opened"] for session, page in watching.items()}


async def start_everywhere(addresses):
    """
    Start each session on one of the servers, and then all of them on each, all at once.
    """
    async with httpx2.AsyncClient(timeout=60) as browser:
        for session, address in zip(SESSIONS, cycle(addresses), strict=False):
            await browser.post(f"{address}/{session}")
        asked = [browser.post(f"{address}/{session}") for session in SESSIONS for address in addresses]
        assert {202} == {response.status_code for response in await asyncio.gather(*asked)}


async def all_settled(store):
    """
    Wait until nothing but calls with an unknown outcome is left, as a worker that is dead has left them.
    """
    while True:
        unfinished = [left for lefts in store.unfinished().values() for left in lefts]
        if all(left.is_outcome_unknown and left.awaits is Awaits.TOOLS for left in unfinished):
            return
        await asyncio.sleep(0.05)


def records_of(store):
    """
    Return the records of each session, none of which is out of place.
    """
    records = {session: list(store.read(session)) for session in SESSIONS}
    assert [] == [problem for each in records.values() for problem in find_problems(each)]
    return records


def writers(records):
    """
    Return the workers that have written each answer, by session and message.
    """
    found = {}
    for record in records:
        if "worker" in record.meta:
            found.setdefault((record.session_id, record.event.message_id), set()).add(record.meta["worker"])
    return found


def test_one_of_four_servers_makes_each_move(servers, watching, tmp_path):
    """
    All are asked to start all sessions: each answer is written by one, and each tool runs once.
    """

    async def main():
        with SqliteStore(tmp_path / "s.db", synchronous="normal", timeout_s=60.0) as store:
            people = asyncio.gather(*[approve(store, session) for session in SESSIONS])
            await start_everywhere([address for address, _ in servers.values()])
            async with asyncio.timeout(100):
                await all_settled(store)
            people.cancel()

            await all_shown(watching, store)
            assert {} == store.unfinished()
            for session, records in records_of(store).items():
                answers = [message for message in fold(records) if message.type == "assistant"]
                assert [*TEXTS] == [message.text for message in answers], session
                assert [None] * 3 == [message.error for message in answers]
                assert {1} == {len(names) for names in writers(records).values()}
            counts = Counter((tmp_path / "runs").read_text().splitlines())
            assert (3 * len(SESSIONS), {1}) == (len(counts), set(counts.values()))

    asyncio.run(main())


def test_what_a_killed_server_leaves_is_taken_up(servers, watching, tmp_path):
    """
    Only its answers are closed as interrupted, and each tool has run once, or is named as unknown.
    """

    async def main():
        with SqliteStore(tmp_path / "s.db", synchronous="normal", timeout_s=60.0) as store:
            people = asyncio.gather(*[approve(store, session) for session in SESSIONS])
            await start_everywhere([address for address, _ in servers.values()])
            async with asyncio.timeout(100):
                for page in watching.values():
                    await page.until_opened(1)
                name = await one_that_answers(store)
                servers[name][1].kill()
                servers[name][1].wait(30)
                count_as_dead(tmp_path / "s.db", name)
                await all_settled(store)
            people.cancel()

            await all_shown(watching, store)
            await cut_once(watching, SERVERS.index(name))
            interrupted = 0
            for session, records in records_of(store).items():
                by = writers(records)
                for message in fold(records):
                    if message.type == "assistant" and message.error is not None:
                        interrupted += 1
                        assert ("interrupted", {name}) == (message.error.kind, by[session, message.id])
            assert interrupted > 0
            counts = Counter((tmp_path / "runs").read_text().splitlines())
            assert {1} == set(counts.values())

    asyncio.run(main())


async def one_that_answers(store):
    """
    Return the name of a worker with an open answer: a first one, unless the machine is too busy to see it.
    """
    while True:
        for session in SESSIONS:
            records = list(store.read(session))
            if records and records[-1].event.type == "text.started":
                return records[-1].meta["worker"]
        await asyncio.sleep(0.01)


def count_as_dead(path, name):
    """
    Put the last sign of life of a worker a minute back, so that nothing has to wait until it counts as dead.
    """
    with SqliteStore(path, clock=lambda: datetime.now(UTC) - timedelta(minutes=1), timeout_s=1.0) as late:
        late.beat(name)


def test_what_a_frozen_server_still_sends_is_refused(servers, watching, tmp_path):
    """
    A server that was frozen and taken for dead continues: it adds nothing to the turns that others have ended.
    """

    async def main():
        with SqliteStore(tmp_path / "s.db", synchronous="normal", timeout_s=60.0) as store:
            people = asyncio.gather(*[approve(store, session) for session in SESSIONS])
            await start_everywhere([address for address, _ in servers.values()])
            async with asyncio.timeout(100):
                name = await one_that_answers(store)
                frozen = servers[name][1]
                freeze(frozen, tmp_path / "s.db", name)
                await all_settled(store)
            people.cancel()
            before = records_of(store)
            frozen.send_signal(signal.SIGCONT)

            assert any(b"FencedError" in line for line in frozen.stderr)
            assert before == records_of(store)
            await all_shown(watching, store)
            counts = Counter((tmp_path / "runs").read_text().splitlines())
            assert {1} == set(counts.values())

    asyncio.run(main())


def freeze(server, path, name):
    """
    Stop a server without ending it, where it does not hold the lock of the file, and have it count as dead.
    """
    while True:
        server.send_signal(signal.SIGSTOP)
        try:
            count_as_dead(path, name)
        except StoreError:
            server.send_signal(signal.SIGCONT)
        else:
            return
