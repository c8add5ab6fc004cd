"""The mock of generateContent: a provider that answers from fixtures, without a network and without a key."""

from typing import Final

from assistant_events.adapters.gemini_generate_content import dialect
from assistant_events.adapters.gemini_generate_content.mock.aimock import FORM
from assistant_events.adapters.gemini_generate_content.mock.answers import Answer
from assistant_events.adapters.gemini_generate_content.mock.provider import MockProvider
from assistant_events.adapters.gemini_generate_content.mock.recorded import RecordedGenerateContent
from assistant_events.adapters.gemini_generate_content.mock.request_facts import read_request
from assistant_events.mock.demo import DEMO
from assistant_events.mock.dialect import MockDialect

__all__ = ["Answer", "MockProvider", "mock", "read_request"]

mock: Final = MockDialect(
    name=dialect.name, provider=MockProvider, form=FORM, demo=DEMO, recorded=RecordedGenerateContent()
)
"""What the entry point of this mock names."""
