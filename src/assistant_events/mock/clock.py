"""
The time of a mock provider: all of its waiting goes through one clock, which may run faster than the wall.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import Protocol, final


class ProviderClock(Protocol):
    """Tells the time and waits. Seconds are those of the provider: what it calls ten minutes may be gone in no time."""

    def now(self) -> float:
        """Return seconds since some point; they never go back."""
        ...

    def utc(self) -> datetime:
        """Return the time of day, in UTC, for `created` and `updated`."""
        ...

    def real(self, seconds: float) -> float:
        """Return how long *seconds* take for whoever lives outside of it."""
        ...

    async def wait(self, changed: asyncio.Event, seconds: float | None) -> None:
        """Return after *seconds* (`None`: never) or when *changed* is set, whatever comes first."""
        ...


@final
class ScaledClock:
    """
    The clock of the wall, at another pace.

    Args:
        scale: How many real seconds a second of the provider takes: with 0.001 ten minutes take 0.6 s. From 1e-9 to
            1e9: beyond that sums of times are no numbers any more.

        utc: Tells the time of day, which is never scaled.

    Raises:
        ValueError: When *scale* is out of that range.
    """

    def __init__(self, scale: float = 1.0, *, utc: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        if not 1e-9 <= scale <= 1e9:
            raise ValueError(f"time_scale: expected real seconds for each second, from 1e-9 to 1e9, got {scale!r}")
        self.scale = scale
        self.utc = utc

    def now(self) -> float:
        """Return seconds since some point; they never go back."""
        return monotonic() / self.scale

    def real(self, seconds: float) -> float:
        """Return how many seconds of the wall *seconds* are."""
        return seconds * self.scale

    async def wait(self, changed: asyncio.Event, seconds: float | None) -> None:
        """Return after *seconds* (`None`: never) or when *changed* is set, whatever comes first."""
        try:
            async with asyncio.timeout(None if seconds is None else self.real(max(seconds, 0.0))):
                await changed.wait()
        except TimeoutError:
            return
