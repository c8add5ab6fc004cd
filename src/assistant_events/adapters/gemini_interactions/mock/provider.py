"""A mock of the Interactions API."""

from __future__ import annotations

from typing import Unpack, cast

from assistant_events.adapters.gemini_interactions.mock.interactions import InteractionsService, InteractionsSettings
from assistant_events.adapters.gemini_interactions.mock.routes import api_of
from assistant_events.adapters.gemini_interactions.mock.runs import EventIds
from assistant_events.adapters.gemini_interactions.mock.validation import Generation
from assistant_events.adapters.gemini_interactions.step_stream import Arguments
from assistant_events.mock import app
from assistant_events.mock.app import Api
from assistant_events.mock.fixture_files import FixtureSource


class ProviderOptions(app.ProviderOptions, total=False):
    """The options of `MockProvider`."""

    generation: Generation
    sign: bool
    arguments: Arguments
    event_ids: EventIds


class MockProvider(app.MockProvider):
    """
    A provider of the Interactions API that answers from fixtures, in both generations at once.

    It has the options of `assistant_events.mock.MockProvider`, and some of its own.

    Args:
        fixtures: The answers, in any form that `fixtures_of` accepts.

        generation: Of the wire, 2 by default, for requests that do not name one in `Api-Revision` and are not of a
            client 1.x.

        arguments: Whether the arguments of calls come in deltas after `arguments: {}` (`streamed`, as the service
            sends them, the default), or with the start of their step (`whole`).

        event_ids: Which events have a cursor: those of `background` runs by default.

    Raises:
        ValueError: An option is not valid.

        FixtureError: The fixtures are not valid.
    """

    SETTINGS = InteractionsSettings
    SERVICE = InteractionsService

    def __init__(self, fixtures: FixtureSource, **options: Unpack[ProviderOptions]) -> None:
        super().__init__(fixtures, **options)

    def api(self) -> Api:
        """Return the HTTP interface of the service."""
        return api_of(cast("InteractionsService", self._service))
