"""A mock of the Interactions API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from assistant_events.adapters.gemini_interactions.mock.form import FORM
from assistant_events.adapters.gemini_interactions.mock.interactions import InteractionsService, InteractionsSettings
from assistant_events.adapters.gemini_interactions.mock.routes import api_of
from assistant_events.adapters.gemini_interactions.mock.runs import EventIds
from assistant_events.adapters.gemini_interactions.mock.validation import Generation
from assistant_events.adapters.gemini_interactions.step_stream import Arguments
from assistant_events.mock import app
from assistant_events.mock.clock import ProviderClock, ScaledClock
from assistant_events.mock.faults import Fault
from assistant_events.mock.fixture_files import FixtureSource, fixtures_of
from assistant_events.mock.service import SettingsOptions, parsed_faults


class InteractionsOptions(SettingsOptions, total=False):
    """The options of `MockProvider` that are `InteractionsSettings`, which has their defaults."""

    generation: Generation
    sign: bool
    arguments: Arguments
    event_ids: EventIds


class ProviderOptions(InteractionsOptions, total=False):
    """The options of `MockProvider`."""

    faults: Iterable[Fault | str]
    time_scale: float
    clock: ProviderClock | None


class MockProvider(app.MockProvider):
    """
    A provider of the Interactions API that answers from fixtures, in both generations at once.

    Runs and requests are in memory and bounded: beyond `max_runs` or `max_kept_bytes` the oldest are removed, as the
    service removes those older than its retention.

    Args:
        fixtures: The answers, in any form that `fixtures_of` accepts.

        generation: Of the wire, 2 by default, for requests that do not name one in `Api-Revision` and are not of a
            client 1.x.

        strict: Reject what the service rejects, the default. Otherwise every JSON object is a request.

        faults: For every request, as `parse_fault` reads them. A fixture has its own, and a request may name more in
            the header `x-mock-fault`.

        time_scale: Real seconds for each second of the provider: with 0.001 ten minutes take 0.6 s.

        sign: Sign thoughts and the provider's tools, and reject a signature or content that comes back changed; the
            default.

        arguments: Whether the arguments of calls come in deltas after `arguments: {}` (`streamed`, as the service
            sends them, the default), or with the start of their step (`whole`).

        event_ids: Which events have a cursor: those of `background` runs by default.

        require_key: Reject requests without a key; as *strict* when `None`, the default. Any key is accepted.

        max_body_bytes: Of a request; 20 MiB by default, as the service.

        max_runs: Number of runs that are kept (2,000), of *max_kept_bytes* of requests.

        max_kept_bytes: Bytes of requests that are kept, for runs and for the log each (64 MiB).

        max_requests: Number of requests in the log (1,000).

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
        faults: Iterable[Fault | str] = (),
        time_scale: float = 1.0,
        clock: ProviderClock | None = None,
        **settings: Unpack[InteractionsOptions],
    ) -> None:
        parsed, clock = parsed_faults(faults), clock or ScaledClock(time_scale)
        service = InteractionsService(fixtures_of(FORM, fixtures), InteractionsSettings(**settings), parsed, clock)
        super().__init__(service, FORM, api_of(service))
