"""
The mock provider: an ASGI app that answers as the Interactions API does, from fixtures.

Everything that is known of runs and requests is in memory and bounded: beyond `max_runs` or `max_kept_bytes` the oldest
runs are given up, as the service gives up what is older than its retention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from secrets import token_urlsafe
from typing import Final, get_args

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant_events.adapters.gemini_interactions.step_stream import Arguments
from assistant_events.mock.api_versions import Generation
from assistant_events.mock.clock import ProviderClock, ScaledClock
from assistant_events.mock.faults import Fault, parse_fault
from assistant_events.mock.fixture_files import FixtureSource
from assistant_events.mock.form import fixtures_of
from assistant_events.mock.requests import LoggedRequest
from assistant_events.mock.routes import make_routes, not_found
from assistant_events.mock.runs import EventIds
from assistant_events.mock.service import Service, Settings
from assistant_events.mock.streaming import RAW_SEND

MAX_BODY_BYTES: Final = 20 << 20
"""What the Gemini API takes: "Request payload size exceeds the limit: 20971520 bytes"."""

MAX_KEPT_BYTES: Final = 64 << 20
MAX_RUNS: Final = 2_000
MAX_REQUESTS: Final = 1_000

_SLASHES = re.compile("//+")


class MockProvider:
    """
    A provider of the Interactions API that answers from fixtures, of both generations at once.

    Args:
        fixtures: What it answers to what: whatever `fixtures_of` takes.

        generation: Of the wire, for requests that do not say: the header `Api-Revision` and clients of version 1.x do.

        strict: Refuse what the service refuses. Lenient, every JSON object is a request.

        faults: What goes wrong, for every request; `parse_fault` says how they are written. A fixture has its own,
            and a request may name more in the header `x-mock-fault`.

        time_scale: How many real seconds a second of the provider takes: with 0.001 ten minutes take 0.6 s.

        sign: Sign thoughts and the provider's tools, and refuse what comes back with another signature or another
            content.

        arguments: Whether the arguments of calls come in deltas after `arguments: {}` (`streamed`, as the service
            does), or with the start of their step (`whole`).

        event_ids: Which events have a cursor.

        require_key: Refuse requests without a key; as *strict* when `None`. Any key will do.

        max_body_bytes: Of a request.

        max_runs: How many runs are kept.

        max_kept_bytes: How many bytes of requests are kept, for runs and for the log each.

        max_requests: How many requests the log keeps.

        clock: What tells the time, in the place of *time_scale*.

        make_id: Returns the id of the next interaction; random by default.

    Raises:
        ValueError: For a generation, a fault or a scale that there is not.

        FixtureError: For fixtures that make no sense.
    """

    def __init__(
        self,
        fixtures: FixtureSource,
        *,
        generation: Generation = 2,
        strict: bool = True,
        faults: Iterable[Fault | str] = (),
        time_scale: float = 1.0,
        sign: bool = True,
        arguments: Arguments = "streamed",
        event_ids: EventIds = "background",
        require_key: bool | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
        max_runs: int = MAX_RUNS,
        max_kept_bytes: int = MAX_KEPT_BYTES,
        max_requests: int = MAX_REQUESTS,
        clock: ProviderClock | None = None,
        make_id: Callable[[], str] | None = None,
    ) -> None:
        if generation not in (1, 2):
            raise ValueError(f"generation: expected 1 or 2, got {generation!r}")
        if arguments not in ("streamed", "whole"):
            raise ValueError(f"arguments: expected 'streamed' or 'whole', got {arguments!r}")
        if event_ids not in get_args(EventIds):
            raise ValueError(f"event_ids: expected one of {', '.join(get_args(EventIds))}, got {event_ids!r}")
        if isinstance(faults, str):
            raise TypeError("faults: expected several of them, got one string")
        settings = Settings(
            generation=generation,
            strict=strict,
            require_key=strict if require_key is None else require_key,
            sign=sign,
            arguments=arguments,
            event_ids=event_ids,
            max_body_bytes=max_body_bytes,
            max_runs=max_runs,
            max_kept_bytes=max_kept_bytes,
            max_requests=max_requests,
            make_id=make_id or _random_id,
        )
        parsed = [parse_fault(fault) if isinstance(fault, str) else fault for fault in faults]
        self._service = Service(fixtures_of(fixtures), settings, parsed, clock or ScaledClock(time_scale))
        self.app: ASGIApp = _App(make_routes(self._service))
        """The ASGI app: for uvicorn, for a test client, or mounted in another app."""

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """The last requests, oldest first, with their keys masked."""
        return self._service.log.entries

    def close(self) -> None:
        """
        End all open streams, those that hang too, so that a server can stop. Runs and requests stay, and more may come.
        """
        self._service.close()

    def add(self, fixtures: FixtureSource) -> None:
        """
        Answer more. What is added goes before what was there, until the next `reset`.

        Raises:
            FixtureError: It makes no sense.
        """
        self._service.add(fixtures_of(fixtures))

    def reset(self) -> None:
        """Forget runs, requests and what was added, count fixtures and faults from the start, and end all streams."""
        self._service.reset()


class _App:
    """What a server calls. A class, because servers ask whether `__call__` is a coroutine function."""

    def __init__(self, routes: list[Route]) -> None:
        self._inner = Starlette(routes=routes, exception_handlers={HTTPException: not_found})
        self._inner.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            # Through the `send` of the server itself a connection can be reset; what is wrapped around it hides that.
            scope = {**scope, RAW_SEND: send, "path": _SLASHES.sub("/", scope["path"]).rstrip("/") or "/"}
        await self._inner(scope, receive, send)


def _random_id() -> str:
    return f"v1_{token_urlsafe(24)}"
