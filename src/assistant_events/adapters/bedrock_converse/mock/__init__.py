"""The mock of Converse: a provider that answers from fixtures, without a network and without a key."""

from typing import Final

from assistant_events.adapters.bedrock_converse import dialect
from assistant_events.adapters.bedrock_converse.mock.aimock import FORM
from assistant_events.adapters.bedrock_converse.mock.answers import Answer
from assistant_events.adapters.bedrock_converse.mock.provider import MockProvider
from assistant_events.adapters.bedrock_converse.mock.recorded import RecordedConverse
from assistant_events.adapters.bedrock_converse.mock.request_facts import read_request
from assistant_events.mock.demo import DEMO
from assistant_events.mock.dialect import MockDialect

__all__ = ["Answer", "MockProvider", "mock", "read_request"]

mock: Final = MockDialect(name=dialect.name, provider=MockProvider, form=FORM, demo=DEMO, recorded=RecordedConverse())
"""What the entry point of this mock names."""
