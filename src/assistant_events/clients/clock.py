"""The clock of a client, which a test or a mock provider can speed up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Final, final

import attrs

_REAL_S: Final = 5.0
"""Real seconds; the default timeout of httpx."""


@final
@attrs.frozen
class Clock:
    """
    Measures and waits. All durations of a client go through it.

    Args:
        scale: Real seconds for each second of the client. A client of a mock provider that plays ten minutes in one
            second needs the scale of the mock.

        now: Returns the time of day, with a time zone; the system's by default. Called only where no answer of
            a server with its time has come.
    """

    scale: float = 1.0
    now: Callable[[], datetime] = attrs.field(default=partial(datetime.now, UTC), kw_only=True, repr=False)

    def __attrs_post_init__(self) -> None:
        if not self.scale > 0:
            raise ValueError(f"scale: expected more than 0, got {self.scale!r}")

    def monotonic(self) -> float:
        """Return a time in seconds that never decreases."""
        return asyncio.get_running_loop().time() / self.scale

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds * self.scale)

    def limit(self, seconds: float) -> float:
        """
        Return a timeout of the network in real seconds.

        Scaling never shortens it below `min(seconds, 5)`: networks and busy machines do not get faster.
        """
        return max(seconds * self.scale, min(seconds, _REAL_S))

    def timeout(self, seconds: float) -> asyncio.Timeout:
        """Return a context manager that raises `TimeoutError` after `limit` seconds."""
        return asyncio.timeout(self.limit(seconds))
