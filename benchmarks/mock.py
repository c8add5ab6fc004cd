"""
What the mock provider costs under load: many streams at once, from a process of its own.

`python -m benchmarks.mock serve NAME SECONDS` is that process. It serves on loopback until its input ends, prints its
port, and after each line of input what it has cost so far. Another server is measured by another entry in `SERVERS`.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from subprocess import PIPE, Popen
from time import perf_counter, process_time
from typing import Any, Final

import attrs
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant_events.server.mock import Answer, Fixture, Fixtures, MockProvider, Timing
from assistant_events.server.mock.serving import Serving
from benchmarks.measure import Figure, Settings

_STREAMS: Final = 1_000
_DELTAS: Final = 200
_WORD: Final = "word "
_BODY: Final = json.dumps({"model": "gemini-3.6-flash", "input": "hi", "stream": True}).encode()
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
    its deltas are counted; one that is not whole is an error. CPU time of the server's process. `growth_mb`: how much
    the peak of its memory grows from the second round to the third, when as many runs are kept as may be.
    """
    streams = settings.scaled(_STREAMS)
    rounds = 3
    costs: dict[str, list[float]] = {}
    growth, seconds = 0, 0.0
    for name in SERVERS:
        with serving(name, wait_s=max(settings.scale, 0.05)) as server:
            seen = [server.cost()]
            for _ in range(rounds):
                started = perf_counter()
                load(server.port, streams)
                seconds = perf_counter() - started if name == "mock" else seconds
                seen.append(server.cost())
        costs[name] = [after.cpu_s - before.cpu_s for before, after in pairwise(seen)]
        if name == "mock":
            growth = seen[-1].peak_bytes - seen[2].peak_bytes
    # The first round warms up, in both.
    ratios = tuple([mine / theirs for mine, theirs in zip(costs["mock"][1:], costs["floor"][1:], strict=True)])
    each = sorted(costs["mock"])[rounds // 2] / (streams * _DELTAS) * 1e6
    detail = f"{streams:,} streams of {_DELTAS} deltas in {seconds:.1f} s, {each:.1f} us a delta"
    yield Figure("cpu", sorted(ratios)[len(ratios) // 2], samples=ratios, detail=detail)
    yield Figure("growth_mb", max(growth, 0) / 2**20, goal=8.0, unit="MB", detail=f"{rounds} rounds")


def load(port: int, streams: int) -> None:
    """
    Read so many streams at once from a port of this machine.

    Raises:
        RuntimeError: When one is not whole; the message says how many.
    """
    counts = asyncio.run(_read_all(port, streams))
    broken = [count for count in counts if count != _DELTAS]
    if broken:
        raise RuntimeError(
            f"{len(broken)} of {streams} streams are not whole; expected {_DELTAS} deltas, got {broken[0]}"
        )


@contextmanager
def serving(name: str, *, wait_s: float = 1.0) -> Generator[Server]:
    """Serve one of `SERVERS` in a process of its own until the end of the block; streams wait after their start."""
    command = [sys.executable, "-m", "benchmarks.mock", "serve", name, str(wait_s)]
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
    head = f"POST /v1/interactions HTTP/1.1\r\nhost: mock\r\nx-goog-api-key: k\r\ncontent-length: {len(_BODY)}\r\n\r\n"
    writer.write(head.encode() + _BODY)
    found, last = 0, b""
    while piece := await reader.read(65_536):
        kept = last[-len(_DELTA) + 1 :]
        found += (kept + piece).count(_DELTA) - kept.count(_DELTA)
        last = (last + piece)[-64:]
        if last.endswith(_END):
            break
    writer.close()
    return found if last.endswith(_END) else -1


def _mock(wait_s: float) -> ASGIApp:
    text = {"type": "model_output", "content": [{"type": "text", "text": _WORD * _DELTAS}]}
    timing = Timing(delta_chars=len(_WORD), waits_s=(0.0, 0.0, wait_s))
    return MockProvider(Fixtures((Fixture(answers=(Answer(steps=(text,), timing=timing),)),))).app


class _Floor:
    """Sends as many events of the same size, and does nothing else."""

    def __init__(self, wait_s: float) -> None:
        self._wait_s = wait_s
        document = {"index": 0, "delta": {"text": _WORD, "type": "text"}, "event_type": "step.delta"}
        self._event = b"event: step.delta\ndata: %b\n\n" % json.dumps(document, separators=(",", ":")).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await asyncio.sleep(self._wait_s)
        for _ in range(_DELTAS):
            await send({"type": "http.response.body", "body": self._event, "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


SERVERS: Final[Mapping[str, Callable[[float], ASGIApp]]] = {"floor": _Floor, "mock": _mock}
"""What is served, by name: what makes the ASGI app."""


def main() -> None:
    """Serve until the input ends."""
    with Serving(SERVERS[sys.argv[2]](float(sys.argv[3]))) as served:
        print(json.dumps({"port": served.port}), flush=True)
        for _ in sys.stdin:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
            print(json.dumps({"cpu_s": process_time(), "peak_bytes": peak}), flush=True)


if __name__ == "__main__":
    main()
