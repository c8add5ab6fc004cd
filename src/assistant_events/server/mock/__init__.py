"""A provider that answers from fixtures, so that clients can be tried without a network and without a key."""

from assistant_events.server.mock.app import MockProvider
from assistant_events.server.mock.asking import LoggedRequest
from assistant_events.server.mock.faults import Fault, fault_help, parse_fault
from assistant_events.server.mock.fixtures import (
    Answer,
    Contains,
    Fixture,
    Fixtures,
    HttpError,
    Match,
    StreamError,
    TextRule,
    Timing,
)
from assistant_events.server.mock.loading import FixtureSource, fixture_document, fixtures_of, load_fixtures
from assistant_events.server.mock.matching import Asked, asked

__all__ = [
    "Answer",
    "Asked",
    "Contains",
    "Fault",
    "Fixture",
    "FixtureSource",
    "Fixtures",
    "HttpError",
    "LoggedRequest",
    "Match",
    "MockProvider",
    "StreamError",
    "TextRule",
    "Timing",
    "asked",
    "fault_help",
    "fixture_document",
    "fixtures_of",
    "load_fixtures",
    "parse_fault",
]
