"""A provider that answers from fixtures, so that clients can be tried without a network and without a key."""

from assistant_events.mock.app import MockProvider
from assistant_events.mock.faults import Fault, fault_help, parse_fault
from assistant_events.mock.fixture_files import FixtureSource, fixture_document, fixtures_of, load_fixtures
from assistant_events.mock.fixtures import (
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
from assistant_events.mock.matching import RequestFacts, read_request
from assistant_events.mock.requests import LoggedRequest

__all__ = [
    "Answer",
    "Contains",
    "Fault",
    "Fixture",
    "FixtureSource",
    "Fixtures",
    "HttpError",
    "LoggedRequest",
    "Match",
    "MockProvider",
    "RequestFacts",
    "StreamError",
    "TextRule",
    "Timing",
    "fault_help",
    "fixture_document",
    "fixtures_of",
    "load_fixtures",
    "parse_fault",
    "read_request",
]
