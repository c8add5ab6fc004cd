"""Fixture files of the mock: the form of this library for Interactions, and that of aimock."""

from __future__ import annotations

from functools import partial
from typing import Final

from assistant_events.adapters.gemini_interactions.mock.aimock import read_aimock
from assistant_events.adapters.gemini_interactions.mock.answers import AnswerEntry
from assistant_events.adapters.gemini_interactions.mock.request_facts import Match
from assistant_events.mock import fixture_files
from assistant_events.mock.fixture_files import FixtureFormat

FORM: Final = FixtureFormat(match=Match, entry=AnswerEntry, read_other=read_aimock)

load_fixtures = partial(fixture_files.load_fixtures, FORM)
"""Return the fixtures of files, folders and parsed documents, see `fixture_files.load_fixtures`."""

fixtures_of = partial(fixture_files.fixtures_of, FORM)
"""Return fixtures from any source, see `fixture_files.fixtures_of`."""
