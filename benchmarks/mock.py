"""
What the mock provider costs under load: many streams at once, from a process of its own.

`python -m benchmarks.mock NAME SECONDS` is that process. It serves on loopback until its input ends, prints its
port, and after each line of input what it has cost so far. Whatever speaks like that can be measured.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from statistics import median
from subprocess import PIPE, Popen
from time import perf_counter, process_time
from typing import Any, Final

import attrs
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant_events.adapters.gemini_interactions.mock import Answer, MockProvider
from assistant_events.mock import Fixture, Fixtures, Timing
from assistant_events.mock.threaded_server import ThreadedServer
from benchmarks.measure import Figure, Settings

_STREAMS: Final = 1_000
_ROUNDS: Final = 3
DELTAS: Final = 200
WORD: Final = "word "
_BODY: Final = json.dumps({"model": "gemini-3.6-flash", "input": "hi", "stream": True}).encode()
_REQUEST: Final = (
    b"POST /v1beta/interactions HTTP/1.1\r\nhost: mock\r\nx-goog-api-key: k\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)
_END: Final = b"\r\n0\r\n\r\n"
_DELTA: Final = b'"type":"text"'
_OPEN_S: Final = 120.0
"""How long one round may take before it counts as hanging."""


@attrs.frozen
class Cost:
    """What a server has cost up to now."""

    cpu_s: float
    peak_bytes: int


@attrs.define
class Server:
    """A server in a process of its own."""

    process: Popen[str]
    port: int

    def cost(self) -> Cost:
        """Return what it has cost up to now."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return Cost(**_line(self.process))


def mock_streams(settings: Settings) -> Iterator[Figure]:
    """
    What does it cost to serve 1,000 streams of 200 deltas at once, as a multiple of an app that only sends the bytes?

    All streams are open before the first may end: each waits a second after it has begun. Each is read to its end and
    its deltas are counted; one that is not whole is an error. CPU time of the server's process. `delta_us`: the same in
    microseconds a delta, where aimock was seen to cost 4. `growth_mb`: how much the peak of its memory grows from
    the second round to the third, when as many runs are kept as may be.
    """
    floor = measure(own_server("floor", settings), settings)
    mock = measure(own_server("mock", settings), settings)
    yield from figures_of("", mock, floor, goal_us=15.0, goal_mb=8.0)


@attrs.frozen
class Rounds:
    """What the rounds of load have cost one server."""

    streams: int
    cpu_s: tuple[float, ...]
    """Of each round; the first warms up."""

    growth_bytes: int
    """How much its peak grew from the second round to the last."""

    seconds: float
    """How long the last round took."""


def measure(command: Sequence[str], settings: Settings) -> Rounds:
    """Put a server that *command* starts under the load of every server."""
    streams = settings.scaled(_STREAMS)
    seconds = 0.0
    with serving(command) as server:
        seen = [server.cost()]
        for _ in range(_ROUNDS):
            started = perf_counter()
            load(server.port, streams)
            seconds = perf_counter() - started
            seen.append(server.cost())
    cpu_s = tuple([after.cpu_s - before.cpu_s for before, after in pairwise(seen)])
    return Rounds(streams, cpu_s, max(seen[-1].peak_bytes - seen[2].peak_bytes, 0), seconds)


def figures_of(
    name: str, rounds: Rounds, floor: Rounds, *, goal_us: float | None = None, goal_mb: float | None = None
) -> Iterator[Figure]:
    """Yield the figures of one server, whose cases begin with *name*."""
    ratios = tuple([mine / theirs for mine, theirs in zip(rounds.cpu_s[1:], floor.cpu_s[1:], strict=True)])
    each = median(rounds.cpu_s) / (rounds.streams * DELTAS) * 1e6
    detail = f"{rounds.streams:,} streams of {DELTAS} deltas in {rounds.seconds:.1f} s"
    yield Figure(f"{name}cpu", median(ratios), samples=ratios, detail=detail)
    yield Figure(f"{name}delta_us", each, goal_us, unit="us", detail="CPU of a delta: depends on the machine")
    growth_mb = rounds.growth_bytes / 2**20
    yield Figure(f"{name}growth_mb", growth_mb, goal_mb, unit="MB", detail=f"{_ROUNDS} rounds")


def load(port: int, streams: int) -> None:
    """
    Read so many streams at once from a port of this machine.

    Raises:
        RuntimeError: When streams are not whole; the message has their number.
    """
    counts = asyncio.run(_read_all(port, streams))
    broken = [count for count in counts if count != DELTAS]
    if broken:
        raise RuntimeError(
            f"{len(broken)} of {streams} streams are not whole; expected {DELTAS} deltas, got {broken[0]}"
        )


def own_server(name: str, settings: Settings) -> list[str]:
    """Return the command that serves one of `SERVERS`."""
    return [sys.executable, "-m", "benchmarks.mock", name, str(wait_s(settings))]


def wait_s(settings: Settings) -> float:
    """Return how long a stream waits after its start, so that all are open before one of them ends."""
    return max(settings.scale, 0.05)


@contextmanager
def serving(command: Sequence[str]) -> Generator[Server]:
    """Run a server in a process of its own until the end of the block."""
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        try:
            yield Server(process, _line(process)["port"])
        finally:
            assert process.stdin is not None
            process.stdin.close()


def _line(process: Popen[str]) -> Any:
    # Any: the document of our own child.
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


async def _read_all(port: int, streams: int) -> list[int]:
    return await asyncio.wait_for(asyncio.gather(*[_read(port) for _ in range(streams)]), _OPEN_S)


async def _read(port: int) -> int:
    """Return how many deltas a stream has that comes whole; -1 when it does not."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_REQUEST)
    found, last = 0, b""
    while piece := await reader.read(65_536):
        kept = last[-len(_DELTA) + 1 :]
        found += (kept + piece).count(_DELTA) - kept.count(_DELTA)
        last = (last + piece)[-64:]
        if last.endswith(_END):
            break
    writer.close()
    return found if last.endswith(_END) else -1


def _mock(seconds: float) -> ASGIApp:
    text = {"type": "model_output", "content": [{"type": "text", "text": WORD * DELTAS}]}
    timing = Timing(delta_chars=len(WORD), waits_s=(0.0, 0.0, seconds))
    return MockProvider(Fixtures((Fixture(answers=(Answer(steps=(text,), timing=timing),)),))).app


class _Floor:
    """Sends as many events of the same size, and does nothing else."""

    def __init__(self, seconds: float) -> None:
        self._wait_s = seconds
        document = {"index": 0, "delta": {"text": WORD, "type": "text"}, "event_type": "step.delta"}
        self._event = b"event: step.delta\ndata: %b\n\n" % json.dumps(document, separators=(",", ":")).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await asyncio.sleep(self._wait_s)
        for _ in range(DELTAS):
            await send({"type": "http.response.body", "body": self._event, "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


SERVERS: Final[Mapping[str, Callable[[float], ASGIApp]]] = {"floor": _Floor, "mock": _mock}
"""What is served, by name: what makes the ASGI app."""


def main() -> None:
    """Serve until the input ends."""
    _, name, seconds = sys.argv
    with ThreadedServer(SERVERS[name](float(seconds))) as served:
        print(json.dumps({"port": served.port}), flush=True)
        for _ in sys.stdin:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
            print(json.dumps({"cpu_s": process_time(), "peak_bytes": peak}), flush=True)


if __name__ == "__main__":
    main()
