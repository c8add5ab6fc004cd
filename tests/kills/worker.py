"""
A process that makes the turn of `trip`, and kills itself at a point of it:
`worker.py STORE URL RUNS SEEN MODE POINT SOCKET`. It serves the session to a page, and begins once that is connected.

Its points are counted: before and after each call that writes to the store, at each event of an answer, and inside the
tools. It prints each of them, so that a test can also kill it from outside.
"""

import asyncio
import os
import signal
import socket
import sys
import threading
import time

from assistant_events import Awaits
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.live import MemoryLive
from assistant_events.session import Turns
from assistant_events.stores import AsyncStore, SqliteStore
from tests.kills.serving import OWNER, routes, served
from tests.kills.trip import QUESTION, append_line, approve, trip_move
from tests.web.chat import Instead

WRITES = ("append", "claim", "release", "take_over", "checkpoint")


class Points:
    """Counts the points that were reached, in all threads, and ends the process at one of them."""

    def __init__(self, last):
        self._last = last
        self._count = 0
        self._lock = threading.Lock()

    def reach(self, name):
        with self._lock:
            self._count += 1
            os.write(1, f"{self._count} {time.monotonic()} {name}\n".encode())
            if self._count == self._last:
                os.kill(os.getpid(), signal.SIGKILL)


class Watched:
    """A store with a point before and after each call that writes."""

    def __init__(self, store, reach):
        self._store = store
        for name in WRITES:
            setattr(self, name, self._watched(name, reach))

    def _watched(self, name, reach):
        method = getattr(self._store, name)

        def call(*args, **more):
            reach(f"before {name}")
            result = method(*args, **more)
            reach(f"after {name}")
            return result

        return call

    def __getattr__(self, name):
        return getattr(self._store, name)


async def main(path, url, runs, seen, mode, last, at):
    """Make the turn to its end, or to the point where the process dies."""
    reach = Points(int(last)).reach

    def on_event(session, event):
        message = session.transcript.get(event.message_id)
        append_line(seen, f"{time.monotonic()} {event.message_id} {len(message.text)}")

    with SqliteStore(path, synchronous="normal", timeout_s=60.0) as opened:
        store = Watched(opened, reach)
        async with GeminiInteractions("key", base_url=url) as client, MemoryLive(opened, poll_s=0.05) as live:
            move = trip_move(client, runs, background=mode == "background", reach=reach, on_event=on_event)
            options = {"client": client, "live": live, "alone": True, "retry": "empty", "every_s": 600, "poll_s": 0.01}
            turns, at = Turns(store, move, **options), socket.socket(fileno=int(at))
            async with turns, served(routes(Instead(turns, store=AsyncStore(opened))), at) as connected:
                session = await turns.open("s1", owner=OWNER)
                if not session.seq:
                    await session.prompt(QUESTION, message_id="u1")
                await connected.wait()
                person = asyncio.create_task(approve(opened, "s1"))
                turns.start(session)
                while session.transcript.awaits is not Awaits.USER:
                    await asyncio.sleep(0.01)
                    await session.refresh()
                person.cancel()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
