"""
The machinery of mock providers: fixtures, matching, faults, time, recording, and a server.

The mock of a dialect is `adapters/<dialect>/mock`; `load_mock` returns it by the name of its dialect.
"""

from assistant_events.extras import require

require("the mock provider", {"web": ("starlette", "uvicorn")})

# ruff: noqa: E402 - behind the check
from assistant_events.mock.app import MockProvider
from assistant_events.mock.dialect import MockDialect, load_mock
from assistant_events.mock.faults import Fault, fault_help, parse_fault
from assistant_events.mock.fixture_files import FixtureFormat, FixtureSource, fixture_document
from assistant_events.mock.fixtures import Answer, Fixture, Fixtures, HttpError, StreamError, Timing
from assistant_events.mock.matching import Contains, Match, RequestFacts, TextRule
from assistant_events.mock.requests import LoggedRequest

__all__ = [
    "Answer",
    "Contains",
    "Fault",
    "Fixture",
    "FixtureFormat",
    "FixtureSource",
    "Fixtures",
    "HttpError",
    "LoggedRequest",
    "Match",
    "MockDialect",
    "MockProvider",
    "RequestFacts",
    "StreamError",
    "TextRule",
    "Timing",
    "fault_help",
    "fixture_document",
    "load_mock",
    "parse_fault",
]
