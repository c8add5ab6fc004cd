"""The reports of a client about a run: for a user interface, for logs, and for diagnosis."""

from __future__ import annotations

from typing import final

import attrs

from assistant_events.clients.recovery import ACTIONS, Action, Attempt, FailureMode, RunSummary, Situation
from assistant_events.values import ErrorInfo


@final
@attrs.frozen(kw_only=True)
class Report:
    """The state of a run that a client follows. A snapshot: the stream returns the next one."""

    message_id: str
    situation: Situation

    mode: FailureMode | None = None
    """The last failure; `None` when there was none."""

    error: ErrorInfo | None = None
    """Why the message ended, when it did not end with the answer."""

    run_id: str | None = None
    """`None` while the provider has sent none."""

    resumable: bool = False
    """Whether the run continues without a connection, and can be followed again."""

    status: str | None = None
    """The status that the provider reported last, in its own word."""

    run: RunSummary | None = None
    """The document of the run, if it was fetched."""

    attempts: tuple[Attempt, ...] = ()
    """The newest 50, oldest first, including the one in progress."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions that make sense now, the most promising first; see `ACTIONS`."""
        return ACTIONS[self.situation]


@final
@attrs.frozen(kw_only=True)
class StopResult:
    """The result of stopping a run."""

    run_id: str | None
    """`None` when the provider had not sent one yet: then there was nothing to cancel."""

    cancelled: bool
    """Whether the provider accepted the cancellation."""

    deleted: bool
    """Whether nothing is stored any more. A run that was deleted and not cancelled may still cost."""

    cancel_error: ErrorInfo | None = None
    """Why the cancellation failed."""

    delete_error: ErrorInfo | None = None
