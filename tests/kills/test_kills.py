"""
A turn with tools in processes that are killed: the transcript is whole afterwards, each tool has run at most once, and
a page that was watching shows what is in the log.

The provider is a process that survives. Its runs are of both kinds: those that live there and are resumed, and those
that end with their connection.
"""

import asyncio
import os
import signal
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from assistant_events import Awaits, find_problems
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.errors import ClaimedError
from assistant_events.live import MemoryLive
from assistant_events.session import Session, Turns
from assistant_events.stores import SqliteStore
from tests.children import Child
from tests.drawn import THOROUGH
from tests.kills.serving import listening, routes, served
from tests.kills.trip import TEXTS, approve, trip_move
from tests.kills.watching import Page

WORKER = Path(__file__).with_name("worker.py")
PROVIDER = Path(__file__).with_name("provider.py")

LOST_S = 1.0
"""Of what has streamed, a kill may lose as much as came in this time."""

MODES = ("background", "foreground")
POINTS = [1 + at * 5 // 2 for at in range(100)] if THOROUGH else [6, 40, 91, 111, 230]
"""Where a process is killed; a turn has about 250 points, most of them pieces of text."""


def start(script, *arguments, **options):
    """
    Start a script that finds the package where this process found it.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return Child([sys.executable, script, *arguments], env=environment, **options)


class Trip:
    """
    The files of one turn, its processes, and a page that watches it.
    """

    def __init__(self, folder, url, mode, pages):
        self.path, self.runs, self.seen = folder / "s.db", folder / "runs", folder / "seen"
        self.url, self.mode = url, mode
        self.killed_at = None
        self.socket = listening()
        host, port = self.socket.getsockname()
        self.page = Page(pages, str(folder), [f"http://{host}:{port}/sessions/s1/events"])

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.page.leave()
        self.socket.close()

    def worker(self, point):
        """Return a process that kills itself at a point; at 0 it does not."""
        at = self.socket.fileno()
        return start(WORKER, self.path, self.url, self.runs, self.seen, self.mode, point, at, pass_fds=[at])

    def kill(self, point):
        """Start a process and wait until it has killed itself; return whether it did, and not come to the end."""
        with self.worker(point) as child:
            code, output, errors = child.ended()
        assert code in {-signal.SIGKILL, 0}, errors
        if code:
            self.killed_at = float(output.splitlines()[-1].split()[1])
        return bool(code)

    def take_up(self):
        """
        Take the session up in this process, and return its transcript when only a person can continue it.

        The calls whose outcome is unknown are answered then. The second transcript is that of the end of the turn; last
        comes what has happened to the page.
        """
        return asyncio.run(asyncio.wait_for(self._take_up(), 90))

    async def _take_up(self):
        with SqliteStore(self.path, synchronous="normal", timeout_s=60.0) as store:
            async with GeminiInteractions("key", base_url=self.url) as client, MemoryLive(store, poll_s=0.05) as live:
                move = trip_move(client, self.runs, background=self.mode == "background")
                options = {"client": client, "live": live, "alone": True, "retry": "empty", "poll_s": 0.01}
                turns = Turns(store, move, **options)
                async with turns, served(routes(turns), self.socket.dup()):
                    person = asyncio.create_task(approve(store, "s1"))
                    first = await settled(store)
                    unknown = [call for call in first.transcript.pending_tool_calls if call.is_outcome_unknown]
                    taken_up = first.transcript
                    await self.page.until_equal(store, "s1")
                    if unknown:
                        await first.append(*[call.fail("the process died while it ran") for call in unknown])
                    last = await settled(store)
                    person.cancel()
                    shown = await self.page.until_equal(store, "s1")
                    self.page.leave()
        return taken_up, last.transcript, shown

    def problems(self):
        """Return what is out of place in the log."""
        with SqliteStore(self.path) as store:
            return find_problems(store.read("s1"))

    def counts(self):
        """Return how often each call ran, by its key."""
        return Counter(self.runs.read_text().splitlines()) if self.runs.exists() else Counter()

    def lost(self, transcript):
        """Return the messages that have lost more than may be lost, with what was seen of them and what is left."""
        if self.killed_at is None or not self.seen.exists():
            return []
        due = {}
        for line in self.seen.read_text().splitlines():
            at, name, length = line.split()
            if float(at) <= self.killed_at - LOST_S:
                due[name] = max(due.get(name, 0), int(length))
        kept = {message.id: len(message.text) for message in transcript}
        return [(name, length, kept.get(name)) for name, length in due.items() if kept.get(name, 0) < length]


async def settled(store):
    """
    Return the session when it is the user's move, or when only calls are left whose outcome is unknown.

    A call that runs looks the same, but then a worker holds the session.
    """
    while True:
        with suppress(ClaimedError):
            claim = store.claim("s1", "person")
            session = await Session.open(store, "s1")
            store.release(claim)
            left = session.transcript.unfinished()
            if all(each.is_outcome_unknown and each.awaits is Awaits.TOOLS for each in left):
                return session
        await asyncio.sleep(0.01)


def check(trip):
    """
    Check the turn of a process that was killed: whole, each tool run at most once, or named, and shown by the page.
    """
    taken_up, last, shown = trip.take_up()

    assert [] == trip.problems()
    counts = trip.counts()
    assert [] == [key for key, count in counts.items() if count > 1]
    named = {f"s1/{left.message_id}/{left.call_id}" for left in taken_up.unfinished()}
    succeeded = {
        f"s1/{message.id}/{call.call_id}"
        for message in last
        if message.type == "assistant"
        for call in message.tool_calls
        if call.status == "success"
    }
    assert set(counts) - named <= succeeded <= set(counts)
    assert Awaits.USER is last.awaits
    assert [] == trip.lost(taken_up)
    assert shown["snapshots"] == min(shown["opened"], 1)  # after a cut it has continued
    assert shown["opened"] > 1 or not trip.seen.exists()
    if trip.mode == "background" and last.messages:  # there are none when it died before the prompt was stored
        assert [*TEXTS] == [message.text for message in last if message.type == "assistant"]
        assert all(message.error is None for message in last if message.type == "assistant")
    return named


@pytest.fixture(scope="module")
def url():
    """The address of a provider that survives the kills."""
    with start(PROVIDER) as child:
        yield child.stdout.readline().decode().strip()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("point", POINTS)
def test_a_process_is_killed(point, mode, url, pages, tmp_path):
    """
    Another process takes the turn up, wherever the first one died, and so does the page.
    """
    with Trip(tmp_path, url, mode, pages) as trip:
        assert trip.kill(point)
        check(trip)


@pytest.mark.parametrize("point", [30, 111, 200] if THOROUGH else [111])
def test_a_process_is_killed_from_outside(point, url, pages, tmp_path):
    """
    Between two points, wherever that is.
    """
    with Trip(tmp_path, url, "background", pages) as trip:
        with trip.worker(0) as child:
            child.until(f"\n{point} ".encode())
            child.kill()
            child.ended()

        check(trip)


@pytest.mark.parametrize("mode", MODES if THOROUGH else MODES[:1])
def test_processes_are_killed_one_after_another(mode, url, pages, tmp_path):
    """
    Each takes up what the last one has left, and is killed too.
    """
    with Trip(tmp_path, url, mode, pages) as trip:
        kills = [trip.kill(point) for point in (3, 8, 15, 30, 60, 100, 40, 20)]

        assert sum(kills) > 2
        check(trip)
