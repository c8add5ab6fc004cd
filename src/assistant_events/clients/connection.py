"""One connection on which a run is followed, and what interrupts waiting for it."""

from __future__ import annotations

import asyncio
from enum import Enum, auto
from typing import TYPE_CHECKING, final

from assistant_events.clients.recovery import RequestKind

if TYPE_CHECKING:
    from assistant_events.clients.http import Stream
    from assistant_events.clients.retry import RequestFailedError


class Interrupt(Enum):
    """Why waiting ends early."""

    SILENT = auto()
    """The stream brings nothing, and the document of the run shows that it should."""

    ABANDONED = auto()
    """The stream has brought nothing for longer than the policy waits for a run."""

    STOP = auto()
    """The run was stopped, or its reader left."""


class InterruptedWaitError(Exception):
    """Raised in place of the result that was awaited when an `Interrupt` came."""


@final
class Connection:
    """One connection, and what was observed of it. Times are seconds of the client's clock."""

    def __init__(self, stream: Stream, kind: RequestKind, now: float) -> None:
        self.stream = stream
        self.kind = kind
        self.opened = now
        self.last_byte: float | None = None
        """When it last brought anything; `None` when it never did."""

        self.waiting_since: float | None = None
        """Since when a reader waits for more; `None` while none does."""

        self.news = 0
        """How many times it brought new content or a new status. Bytes, comments and repeated events do not count."""

        self.gave = False
        """Whether it caused events."""

        self.over = False
        """Whether the rest does not matter."""

        self.failure: RequestFailedError | None = None
        self.watch: asyncio.Task[None] | None = None
        self._waited = 0.0
        """How long a reader has waited since the last news, without the wait in progress."""

    @property
    def replay(self) -> bool:
        """Whether it repeats a run that exists."""
        return self.kind is not RequestKind.CREATE

    def silence(self, now: float) -> float:
        """Return for how many seconds a reader has waited for news. It does not grow without a reader."""
        return self._waited + (0.0 if self.waiting_since is None else now - self.waiting_since)

    def received(self, now: float, *, news: bool) -> None:
        """End the wait in progress, with or without news."""
        self._waited = 0.0 if news else self.silence(now)
        self.news += news
        self.waiting_since = None


__all__ = ["Connection", "Interrupt", "InterruptedWaitError"]
