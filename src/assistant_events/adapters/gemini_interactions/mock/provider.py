"""A mock of the Interactions API."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from secrets import token_urlsafe
from typing import Final, get_args

from assistant_events.adapters.gemini_interactions.mock.form import FORM
from assistant_events.adapters.gemini_interactions.mock.interactions import InteractionsService, InteractionsSettings
from assistant_events.adapters.gemini_interactions.mock.routes import api_of
from assistant_events.adapters.gemini_interactions.mock.runs import EventIds
from assistant_events.adapters.gemini_interactions.mock.validation import Generation
from assistant_events.adapters.gemini_interactions.step_stream import Arguments
from assistant_events.mock import app
from assistant_events.mock.clock import ProviderClock, ScaledClock
from assistant_events.mock.faults import Fault, parse_fault
from assistant_events.mock.fixture_files import FixtureSource, fixtures_of

MAX_BODY_BYTES: Final = 20 << 20
"""Limit of the Gemini API: "Request payload size exceeds the limit: 20971520 bytes"."""

MAX_KEPT_BYTES: Final = 64 << 20
MAX_RUNS: Final = 2_000
MAX_REQUESTS: Final = 1_000


class MockProvider(app.MockProvider):
    """
    A provider of the Interactions API that answers from fixtures, in both generations at once.

    Runs and requests are in memory and bounded: beyond `max_runs` or `max_kept_bytes` the oldest are removed, as the
    service removes those older than its retention.

    Args:
        fixtures: The answers, in any form that `fixtures_of` accepts.

        generation: Of the wire, for requests that do not name one in `Api-Revision` and are not of a client 1.x.

        strict: Reject what the service rejects. Otherwise every JSON object is a request.

        faults: For every request, as `parse_fault` reads them. A fixture has its own, and a request may name more in
            the header `x-mock-fault`.

        time_scale: Real seconds for each second of the provider: with 0.001 ten minutes take 0.6 s.

        sign: Sign thoughts and the provider's tools, and reject a signature or content that comes back changed.

        arguments: Whether the arguments of calls come in deltas after `arguments: {}` (`streamed`, as the service
            sends them), or with the start of their step (`whole`).

        event_ids: Which events have a cursor.

        require_key: Reject requests without a key; as *strict* when `None`. Any key is accepted.

        max_body_bytes: Of a request.

        max_runs: Number of runs that are kept, of *max_kept_bytes* of requests.

        max_kept_bytes: Bytes of requests that are kept, for runs and for the log each.

        max_requests: Number of requests in the log.

        clock: The time, in place of *time_scale*.

        make_id: Returns the id of the next interaction; random by default.

    Raises:
        ValueError: An option is not valid.

        FixtureError: The fixtures are not valid.
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
        settings = InteractionsSettings(
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
            make_id=make_id or (lambda: f"v1_{token_urlsafe(24)}"),
        )
        parsed = [parse_fault(fault) if isinstance(fault, str) else fault for fault in faults]
        clock = clock or ScaledClock(time_scale)
        service = InteractionsService(fixtures_of(FORM, fixtures), settings, parsed, clock)
        super().__init__(service, FORM, api_of(service))
