"""Ids and times that are the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import final

START = datetime(2026, 1, 1, tzinfo=UTC)
"""First time of a `Clock` by default."""


def ids(prefix: str) -> Callable[[], str]:
    """Return a function that returns `{prefix}1`, `{prefix}2`, …, the next with each call."""
    numbers = count(1)
    return lambda: f"{prefix}{next(numbers)}"


@final
class Clock:
    """
    Returns a time with each call, each later than the one before by the same step.

    Args:
        start: Result of the first call, in UTC.

        step: How much later each following call is.
    """

    def __init__(self, start: datetime = START, step: timedelta = timedelta(seconds=1)) -> None:
        if start.utcoffset() != timedelta(0):
            raise ValueError("start: expected a datetime in UTC")
        self._next = start
        self._step = step

    def __call__(self) -> datetime:
        """Return the time."""
        now = self._next
        self._next = now + self._step
        return now
