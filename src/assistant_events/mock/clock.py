"""
The time of a mock provider: one clock for all waits, which may run faster than real time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from math import inf
from time import monotonic
from typing import Protocol, final


class ProviderClock(Protocol):
    """Returns the time and waits. Seconds are those of the provider, which may be shorter than real ones."""

    def now(self) -> float:
        """Return monotonic seconds."""
        ...

    def utc(self) -> datetime:
        """Return the time of day, in UTC, for `created` and `updated`."""
        ...

    def real(self, seconds: float) -> float:
        """Return the real seconds that *seconds* take."""
        ...

    async def wait(self, changed: asyncio.Event, seconds: float | None) -> None:
        """Return after *seconds* (`None`: never), or earlier when *changed* is set."""
        ...


@final
class ScaledClock:
    """
    Real time, scaled.

    Args:
        scale: Real seconds for each second of the provider: with 0.001 ten minutes take 0.6 s. From 1e-9 to 1e9: beyond
            that sums of times overflow.

        utc: Returns the time of day, which is never scaled.

    Raises:
        ValueError: *scale* is out of that range.
    """

    def __init__(self, scale: float = 1.0, *, utc: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        if not (isinstance(scale, int | float) and 1e-9 <= scale <= 1e9):
            raise ValueError(f"time_scale: expected real seconds for each second, from 1e-9 to 1e9, got {scale!r}")
        self.scale = scale
        self.utc = utc

    def now(self) -> float:
        """Return monotonic seconds."""
        return monotonic() / self.scale

    def real(self, seconds: float) -> float:
        """Return the real seconds that *seconds* take."""
        return seconds * self.scale

    async def wait(self, changed: asyncio.Event, seconds: float | None) -> None:
        """Return after *seconds* (`None`: never), or earlier when *changed* is set."""
        try:
            async with asyncio.timeout(None if seconds is None else self.real(max(seconds, 0.0))):
                await changed.wait()
        except TimeoutError:
            return


async def wait_until(clock: ProviderClock, changed: asyncio.Event, at: float, is_over: Callable[[], bool]) -> bool:
    """Wait for a time. Returns False when *is_over* is true before it, of which *changed* gives notice."""
    while not is_over():
        left = at - clock.now()
        if left <= 0:
            return True
        changed.clear()
        await clock.wait(changed, None if left == inf else left)
    return False
