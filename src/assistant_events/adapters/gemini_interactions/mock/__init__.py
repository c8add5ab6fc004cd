"""The mock of the Interactions API: a provider that answers from fixtures, without a network and without a key."""

from collections.abc import Mapping
from os import PathLike
from typing import Final

from assistant_events.adapters.gemini_interactions import dialect
from assistant_events.adapters.gemini_interactions.mock.aimock import FORM
from assistant_events.adapters.gemini_interactions.mock.answers import Answer
from assistant_events.adapters.gemini_interactions.mock.demo import DEMO
from assistant_events.adapters.gemini_interactions.mock.provider import MockProvider
from assistant_events.adapters.gemini_interactions.mock.recorded import RecordedInteractions
from assistant_events.adapters.gemini_interactions.mock.request_facts import Match, read_request
from assistant_events.mock import fixture_files
from assistant_events.mock.dialect import MockDialect
from assistant_events.mock.fixtures import Fixtures

__all__ = ["Answer", "Match", "MockProvider", "load_fixtures", "mock", "read_request"]

mock: Final = MockDialect(
    name=dialect.name, provider=MockProvider, form=FORM, demo=DEMO, recorded=RecordedInteractions()
)
"""What the entry point of this mock names."""


def load_fixtures(*sources: str | PathLike[str] | Mapping[str, object]) -> Fixtures:
    """Return the fixtures of files, folders and parsed documents; see `mock.fixture_files.load_fixtures`."""
    return fixture_files.load_fixtures(FORM, *sources)
