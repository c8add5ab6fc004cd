"""The mock of the Responses API: a provider that answers from fixtures, without a network and without a key."""

from typing import Final

from assistant_events.adapters.openai_responses import dialect
from assistant_events.adapters.openai_responses.mock.aimock import FORM
from assistant_events.adapters.openai_responses.mock.answers import Answer
from assistant_events.adapters.openai_responses.mock.provider import MockProvider
from assistant_events.adapters.openai_responses.mock.recorded import RecordedResponses
from assistant_events.adapters.openai_responses.mock.request_facts import Match, read_request
from assistant_events.mock.demo import DEMO
from assistant_events.mock.dialect import MockDialect

__all__ = ["Answer", "Match", "MockProvider", "mock", "read_request"]

mock: Final = MockDialect(name=dialect.name, provider=MockProvider, form=FORM, demo=DEMO, recorded=RecordedResponses())
"""What the entry point of this mock names."""
