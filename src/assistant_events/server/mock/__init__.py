"""A provider that answers from fixtures, so that clients can be tried without a network and without a key."""

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

__all__ = [
    "Answer",
    "Contains",
    "Fixture",
    "Fixtures",
    "HttpError",
    "Match",
    "StreamError",
    "TextRule",
    "Timing",
]
