"""One connection that a run is followed on, and what ends the waiting on it."""

from __future__ import annotations

import asyncio
from enum import Enum, auto
from typing import final

from assistant_events.clients.http import RequestFailedError, Stream
from assistant_events.clients.recovery import ConnectionPhase
from assistant_events.clients.report import AttemptKind

_DONE = b"data: [DONE]"


class Interrupt(Enum):
    """Why something that is awaited is not awaited any longer."""

    SILENT = auto()
    """The stream gives nothing, and the document of the run says that it should."""

    GIVEN_UP = auto()
    """The stream has given nothing for longer than anybody waits for a run."""

    STOP = auto()
    """The run was stopped, or nobody listens any more."""


class InterruptedReadError(Exception):
    """Raised where something was awaited when an alarm came."""


@final
class Connection:
    """One connection, and what was seen of it."""

    def __init__(self, stream: Stream, phase: ConnectionPhase, kind: AttemptKind, now: float) -> None:
        self.stream = stream
        self.phase = phase
        self.kind = kind
        self.opened = now
        """When it was made, on the clock of the client."""

        self.last_byte: float | None = None
        """When it last gave anything; `None` when it never did."""

        self.waiting_since: float | None = None
        """Since when somebody waits for more; `None` while nobody does."""

        self.news = 0
        """How many times it gave content or a status that was new. Bytes, comments and repeated events are not."""

        self._waited = 0.0
        """For how long somebody has waited since the last of them, without the wait that goes on."""

        self.frames = 0
        """How many events came, without the mark `[DONE]`."""

        self._line = b""
        """How the line begins that has not ended yet, as far as that tells what it is."""

        self.gave = False
        """Whether anything new came of it."""

        self.over = False
        """Whether nothing that matters comes any more."""

        self.failure: RequestFailedError | None = None
        self.watch: asyncio.Task[None] | None = None

    def silence(self, now: float) -> float:
        """Return for how many seconds somebody has waited for something new. While nobody reads, it does not grow."""
        return self._waited + (0.0 if self.waiting_since is None else now - self.waiting_since)

    def waited(self, now: float, *, news: bool) -> None:
        """Say that the wait is over, and whether anything new came of it."""
        self._waited = 0.0 if news else self.silence(now)
        self.news += news
        self.waiting_since = None

    def count(self, data: bytes) -> None:
        """Count the events in what came: lines that say data, however they are cut."""
        *lines, rest = (self._line + data).split(b"\n")
        self.frames += sum(line.startswith(b"data:") and not line.startswith(_DONE) for line in lines)
        self._line = rest[: len(_DONE)]


__all__ = ["Connection", "Interrupt", "InterruptedReadError"]
