"""Ids and times that are the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import final

START = datetime(2026, 1, 1, tzinfo=UTC)
"""First time that a `Clock` tells unless it is set otherwise."""


def ids(prefix: str) -> Callable[[], str]:
    """Return a function that gives `{prefix}1`, `{prefix}2`, … one at each call."""
    numbers = count(1)
    return lambda: f"{prefix}{next(numbers)}"


@final
class Clock:
    """
    Tells the time when called, and moves on by the same step each time.

    Args:
        start: What the first call tells, in UTC.

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
