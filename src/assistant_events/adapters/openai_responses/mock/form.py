"""Fixture files of the mock: the form of this library for Responses, and that of aimock."""

from __future__ import annotations

from functools import partial
from typing import Final

from assistant_events.adapters.openai_responses.mock.aimock import AIMOCK
from assistant_events.adapters.openai_responses.mock.answers import AnswerEntry
from assistant_events.adapters.openai_responses.mock.request_facts import Match
from assistant_events.mock.aimock import read_aimock
from assistant_events.mock.fixture_files import FixtureFormat

FORM: Final = FixtureFormat(match=Match, entry=AnswerEntry, read_other=partial(read_aimock, AIMOCK))
