"""The mocks of dialects, and how the installed ones are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, final

import attrs

from assistant_events.adapters.dialect import load_entry_point
from assistant_events.mock.app import MockProvider
from assistant_events.mock.fixture_files import FixtureFormat
from assistant_events.mock.tape import RecordedApi

GROUP: Final = "assistant_events.mocks"
"""Entry points of this group name a `MockDialect`."""


@final
@attrs.frozen(kw_only=True)
class MockDialect:
    """The mock of one dialect: its provider, the form of its fixtures, some to try it, and what a recording reads."""

    name: str
    """The name of the dialect, and of the entry point."""

    provider: Callable[..., MockProvider]
    form: FixtureFormat
    demo: Mapping[str, Any]
    recorded: RecordedApi

    def __repr__(self) -> str:
        return f"<MockDialect {self.name!r}>"


def load_mock(name: str) -> MockDialect:
    """
    Return the mock of an installed dialect.

    Raises:
        UnknownDialectError: No mock of this name is installed.

        AdapterError: Its entry point does not load or names something else.
    """
    return load_entry_point(GROUP, name, MockDialect, "mock")
