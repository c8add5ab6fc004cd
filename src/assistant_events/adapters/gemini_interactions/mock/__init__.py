"""The mock of the Interactions API: a provider that answers from fixtures, without a network and without a key."""

from typing import Final

from assistant_events.adapters.gemini_interactions import dialect
from assistant_events.adapters.gemini_interactions.mock.answers import Answer
from assistant_events.adapters.gemini_interactions.mock.demo import DEMO
from assistant_events.adapters.gemini_interactions.mock.form import FORM, fixtures_of, load_fixtures
from assistant_events.adapters.gemini_interactions.mock.provider import MockProvider
from assistant_events.adapters.gemini_interactions.mock.recorded import RecordedInteractions
from assistant_events.adapters.gemini_interactions.mock.request_facts import Match, read_request
from assistant_events.mock.dialect import MockDialect

__all__ = ["Answer", "Match", "MockProvider", "fixtures_of", "load_fixtures", "mock", "read_request"]

mock: Final = MockDialect(
    name=dialect.name, provider=MockProvider, form=FORM, demo=DEMO, recorded=RecordedInteractions()
)
"""What the entry point of this mock names."""
