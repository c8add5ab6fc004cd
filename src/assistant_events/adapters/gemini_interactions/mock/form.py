"""Fixture files of the mock: the form of this library for Interactions, and that of aimock."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Final

from assistant_events.adapters.gemini_interactions.mock.aimock import AIMOCK
from assistant_events.adapters.gemini_interactions.mock.answers import AnswerEntry
from assistant_events.mock import fixture_files
from assistant_events.mock.fixture_files import FixtureSource
from assistant_events.mock.fixtures import Fixtures

FORM: Final = AIMOCK.fixture_format(AnswerEntry)


def load_fixtures(*sources: str | PathLike[str] | Mapping[str, object]) -> Fixtures:
    """Return the fixtures of files, folders and parsed documents; see `assistant_events.mock.load_fixtures`."""
    return fixture_files.load_fixtures(FORM, *sources)


def fixtures_of(source: FixtureSource) -> Fixtures:
    """Return the fixtures of any source; see `assistant_events.mock.fixtures_of`."""
    return fixture_files.fixtures_of(FORM, source)
