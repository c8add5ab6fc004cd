"""The time that a client lives in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, final

_REAL_S: Final = 5.0
"""Real seconds; httpx gives as many to anything."""


def _now() -> datetime:
    return datetime.now(UTC)


@final
class Clock:
    """
    Says what time it is, and waits. All durations of a client go through it.

    Args:
        scale: How many real seconds one second of the client lasts. A client of a mock that plays ten minutes in one
            second needs the scale of the mock.

        now: Returns the time of day, with a zone; the system's own by default. Asked only where a server does not say
            what time it is.
    """

    def __init__(self, scale: float = 1.0, *, now: Callable[[], datetime] = _now) -> None:
        if not scale > 0:
            raise ValueError(f"scale: expected more than 0, got {scale!r}")
        self.scale = scale
        self.now = now

    def monotonic(self) -> float:
        """Return a time in seconds that only moves on."""
        return asyncio.get_running_loop().time() / self.scale

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds * self.scale)

    def limit(self, seconds: float) -> float:
        """
        Return how many real seconds a network gets that should need no more than *seconds*.

        No scale makes a network or a busy machine faster, so it is not less than five of them, if it was so many.
        """
        return max(seconds * self.scale, min(seconds, _REAL_S))

    def timeout(self, seconds: float) -> asyncio.Timeout:
        """Return a context manager in which nothing lasts longer than `limit`: it raises `TimeoutError`."""
        return asyncio.timeout(self.limit(seconds))

    def __repr__(self) -> str:
        return f"Clock(scale={self.scale!r})"


__all__ = ["Clock"]
