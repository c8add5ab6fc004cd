"""
Very many browsers of one server process, over real connections: hundreds, or thousands (HYPOTHESIS_PROFILE=thorough).
"""

import asyncio
import json
import os
import resource
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.children import Child
from tests.drawn import THOROUGH
from tests.web.chat import until

OWNERS = 30
STREAMS = 100 if THOROUGH else 10
"""Of each owner."""

MEMORY = 60_000
"""Bytes that the server may use for one browser that only waits: its socket, the parser of HTTP, and three tasks."""

PROMPT = b'{"prompt": "Hi"}'
SECONDS = 60

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="needs /proc, as Linux has it")


@pytest.fixture
def server():
    """
    A server in a process of its own, and its port.
    """
    needed, (soft, hard) = OWNERS * STREAMS + 200, resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"needs {needed} open files, and {hard} are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    limits = {"MAX_STREAMS": str(OWNERS * STREAMS), "MAX_STREAMS_PER_OWNER": str(STREAMS)}
    environment = {**os.environ, **limits, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "uvicorn", "--port", "0", "--no-access-log", "--timeout-graceful-shutdown", "1"]
    with Child([*command, "tests.web.many:app"], env=environment) as child:
        line = next(line for line in child.stderr if b"running on" in line)
        yield child, int(line.split(b"running on ")[1].split()[0].rpartition(b":")[2])
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@asynccontextmanager
async def asked(port, method, path, owner="-", body=b""):
    """
    Send a request on a connection of its own, and give its status and what reads the answer.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        head = f"{method} {path} HTTP/1.1\r\nhost: chat.example\r\nx-user: {owner}\r\ncontent-length: {len(body)}\r\n"
        writer.write(f"{head}content-type: application/json\r\n\r\n".encode() + body)
        status = (await asyncio.wait_for(reader.readline(), SECONDS)).split()[1]
        yield int(status), reader
    finally:
        writer.transport.abort()  # at once, as when a network is lost


async def document(port, path, owner="-"):
    """
    Return the JSON of an answer.
    """
    async with asked(port, "GET", path, owner) as (status, reader):
        assert 200 == status
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length: ")[1].split()[0])
        return json.loads(await reader.readexactly(length))


class Browsers:
    """
    The browsers of all owners, each of which watches the session of its owner.
    """

    def __init__(self, port):
        self.port = port
        self.leaving = asyncio.Event()
        self.shown = [0] * OWNERS
        """By owner: how many answers all of its browsers together have shown to their end."""

        self.tasks = []

    async def open(self):
        """Open them, some at a time, and wait until each shows the session."""
        for at in range(STREAMS):
            self.tasks += [asyncio.create_task(self.watch(owner)) for owner in range(OWNERS)]
            await self.until_shown([1 + at] * OWNERS)

    async def until_shown(self, answers):
        """Wait until so many answers have been shown, by owner."""
        await until(lambda: self.shown >= answers or any(task.done() for task in self.tasks))
        assert answers == self.shown

    async def leave(self):
        """Break all connections at once."""
        self.leaving.set()
        await asyncio.gather(*self.tasks)

    async def watch(self, owner):
        """Watch the session of an owner."""
        async with asked(self.port, "GET", f"/sessions/s{owner}/events", f"user-{owner}") as (status, reader):
            assert 200 == status
            showing = asyncio.create_task(self._show(owner, reader))
            leaving = asyncio.create_task(self.leaving.wait())
            await asyncio.wait((showing, leaving), return_when=asyncio.FIRST_COMPLETED)
            leaving.cancel()
            if not self.leaving.is_set():
                showing.result()
            showing.cancel()

    async def _show(self, owner, reader):
        while True:
            line = await reader.readuntil(b"\n")
            # A snapshot of a message that has ended, or the record of its end.
            self.shown[owner] += b'"status":"completed"' in line or b'"step.ended"' in line


async def prompt(port, owner):
    """
    Send a prompt.
    """
    async with asked(port, "POST", f"/sessions/s{owner}/prompt", f"user-{owner}", PROMPT) as (status, _):
        assert 202 == status


async def first_answer(port, owner):
    """
    Send the first prompt of an owner, and wait until it is answered.
    """
    await prompt(port, owner)
    async with asked(port, "GET", f"/sessions/s{owner}/events?until=user", f"user-{owner}") as (status, reader):
        assert 200 == status
        await asyncio.wait_for(reader.readuntil(b"event: end"), SECONDS)


async def refusal(port, owner):
    """
    Ask for events, and return the status and whether the answer names a time to wait.
    """
    async with asked(port, "GET", f"/sessions/s{owner}/events", f"user-{owner}") as (status, reader):
        return status, b"retry-after: 5" in await reader.readuntil(b"\r\n\r\n")


async def used(port):
    """
    Return what the server uses.
    """
    return await document(port, "/used")


def test_browsers_of_one_server(server):
    """
    Each owner has as many connections as it may; one more is refused at once, and other requests are answered.

    All are given a new answer, with bounded memory for each. When they break at once, no task and no file is left. The
    server ends although others are connected then.
    """
    child, port = server

    async def main():
        idle = await used(port)
        for owner in range(OWNERS + 1):
            await first_answer(port, owner)
        before = await used(port)
        browsers = Browsers(port)
        await browsers.open()
        while_open = await used(port)
        refusals = [await refusal(port, 0), await refusal(port, OWNERS)]
        await prompt(port, 0)
        await browsers.until_shown([2 * STREAMS, *[STREAMS] * (OWNERS - 1)])

        assert [(429, True), (503, True)] == refusals
        assert OWNERS * STREAMS <= while_open["files"] - idle["files"] <= OWNERS * STREAMS + 2
        assert while_open["memory"] - before["memory"] < OWNERS * STREAMS * MEMORY

        await browsers.leave()
        left = await used(port)
        while left["tasks"] > idle["tasks"] or left["files"] > idle["files"]:
            await asyncio.sleep(0.05)
            left = await used(port)

        last = Browsers(port)
        last.tasks = [asyncio.create_task(last.watch(owner)) for owner in range(OWNERS)]
        await last.until_shown([1] * OWNERS)
        child.send_signal(signal.SIGTERM)
        code, _, errors = await asyncio.to_thread(child.ended)
        await asyncio.wait(last.tasks)
        assert code in {0, -signal.SIGTERM}, errors
        assert {asyncio.IncompleteReadError} == {type(task.exception()) for task in last.tasks}

    asyncio.run(asyncio.wait_for(main(), 110))
