"""Fixture files of the mock: the form of this library for generateContent, and that of aimock."""

from __future__ import annotations

from functools import partial
from typing import Final

from assistant_events.adapters.gemini_generate_content.mock.aimock import AIMOCK
from assistant_events.adapters.gemini_generate_content.mock.answers import AnswerEntry
from assistant_events.mock.aimock import read_aimock
from assistant_events.mock.fixture_files import FixtureFormat
from assistant_events.mock.matching import Match

FORM: Final = FixtureFormat(match=Match, entry=AnswerEntry, read_other=partial(read_aimock, AIMOCK))
