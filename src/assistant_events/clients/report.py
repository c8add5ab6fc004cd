"""What a stream of a run says about itself: for a user interface, for logs, and for whoever asks why."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final, final

import attrs

from assistant_events.clients.recovery import (
    DECISIONS,
    Choice,
    FailureMode,
    RunSummary,
    Situation,
)
from assistant_events.values import ErrorInfo

MAX_ATTEMPTS: Final = 50
"""How many of the newest attempts a report lists."""


class Stage(StrEnum):
    """What a stream of a run is doing."""

    CONNECTING = "connecting"
    """It asks for a stream, or waits before it asks again."""

    STREAMING = "streaming"
    """It reads the provider's stream."""

    ASKING = "asking"
    """It asks for the document of the run, until the run has ended."""

    BACKFILLING = "backfilling"
    """The answer is complete; it asks what the run cost before it says so."""

    OVER = "over"
    """Nothing more comes."""


class RunOutcome(StrEnum):
    """How a stream of a run ended."""

    COMPLETED = "completed"
    """With the answer."""

    FAILED = "failed"
    """The provider refused the request, or says that the run failed."""

    CANCELLED = "cancelled"
    """The run was stopped."""

    ZOMBIE = "zombie"
    """The run has been in progress for over an hour and has produced nothing. It never will."""

    GONE = "gone"
    """The provider does not have the run any more."""

    RUNNING = "running"
    """The run goes on, and nobody waits for it any longer. It can be resumed."""

    INTERRUPTED = "interrupted"
    """The connection was lost, and could not be made again. A resumable run can be resumed."""

    ABORTED = "aborted"
    """Whoever listened has left. A resumable run can be resumed."""


class Backfill(StrEnum):
    """What became of the question what a run cost, when its stream did not say."""

    NOT_NEEDED = "not-needed"
    """The stream has said it, or has not come so far."""

    ASKING = "asking"
    FOUND = "found"

    MISSING = "missing"
    """The provider did not say it in time. The message ends without usage."""


class AttemptKind(StrEnum):
    """What was attempted."""

    CREATE = "create"
    CURSOR = "cursor"
    REPLAY = "replay"
    FETCH = "fetch"


@final
@attrs.frozen(kw_only=True)
class Attempt:
    """One connection, or one question for the document of the run."""

    kind: AttemptKind

    mode: FailureMode | None = None
    """What was wrong at its end; `None` when nothing was."""

    status: int | None = None
    """HTTP status, when the provider refused."""

    error: ErrorInfo | None = None
    """What the network or the provider did."""

    events: int = 0
    """How many events came."""

    lasted_s: float = 0.0


@final
@attrs.frozen(kw_only=True)
class Report:
    """A run as it stands, and what makes sense now. A snapshot: ask the stream for the next one."""

    message_id: str
    stage: Stage
    situation: Situation

    outcome: RunOutcome | None = None
    """How it ended; `None` while it has not."""

    mode: FailureMode | None = None
    """What went wrong last; `None` when nothing did."""

    error: ErrorInfo | None = None
    """Why it ended, when it did not end with the answer."""

    run_id: str | None = None
    """`None` while the provider has told none."""

    resumable: bool = False
    """Whether the run goes on without us and lets us come back."""

    status: str | None = None
    """What the provider said last of the run, in its own word."""

    created: datetime | None = None
    """When the run was created, as the provider says; `None` when it has not."""

    updated: datetime | None = None
    """When the run was last touched, as the provider says. It says little: see `Document.updated`."""

    document: RunSummary | None = None
    """What the document of the run said, when it was asked for; for a zombie, the number of outputs."""

    backfill: Backfill = Backfill.NOT_NEEDED

    empty_errors: int = 0
    """How many error events said nothing; they are left out (mode F)."""

    attempts: tuple[Attempt, ...] = ()
    """The newest of them, oldest first, the one that goes on included; `MAX_ATTEMPTS` at most."""

    requests: int = 0
    """How many attempts there were in all."""

    @property
    def resume(self) -> Choice:
        """Whether to offer Resume."""
        return DECISIONS[self.situation].resume

    @property
    def recover(self) -> Choice:
        """Whether to offer Recover."""
        return DECISIONS[self.situation].recover

    @property
    def stop(self) -> Choice:
        """Whether to offer Stop."""
        return DECISIONS[self.situation].stop

    @property
    def outputs(self) -> int | None:
        """How many steps the document of the run has; `None` when it was not asked for."""
        return None if self.document is None else self.document.outputs


__all__ = ["MAX_ATTEMPTS", "Attempt", "AttemptKind", "Backfill", "Report", "RunOutcome", "Stage"]
