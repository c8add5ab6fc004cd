"""A provider that answers from fixtures, so that clients can be tried without a network and without a key."""

from assistant_events.mock.answers import Answer
from assistant_events.mock.app import MockProvider
from assistant_events.mock.faults import Fault, fault_help, parse_fault
from assistant_events.mock.fixture_files import FixtureSource
from assistant_events.mock.fixture_format import fixture_document
from assistant_events.mock.fixtures import Fixture, Fixtures, HttpError, StreamError, Timing
from assistant_events.mock.form import fixtures_of, load_fixtures
from assistant_events.mock.matching import Contains, RequestFacts, TextRule
from assistant_events.mock.request_facts import Match, read_request
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
