"""What a request for a run returns or raises, whatever library makes it."""

from __future__ import annotations

from typing import final

import attrs

from assistant_events.adapters.json_fields import Fields
from assistant_events.clients.recovery import RunSummary
from assistant_events.values import ErrorInfo
from assistant_events.values.info import is_retryable_status


class RequestFailedError(Exception):
    """A request failed. It never leaves the client: it becomes the error of a message."""

    def __init__(
        self, error: ErrorInfo, *, status: int | None = None, unsent: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.status = status
        """HTTP status; `None` without a response."""

        self.unsent = unsent
        """Whether the provider has seen nothing of the request."""

        self.retry_after = retry_after
        """Seconds after which the provider accepts the next request; `None` when it did not send a number."""

    @property
    def refused(self) -> bool:
        """Whether the provider understood the request, and will answer it in the same way the next time."""
        return self.status is not None and not self.transient

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.status is None or is_retryable_status(self.status)


@final
@attrs.frozen
class FetchedRun:
    """The document of a run."""

    resource: Fields
    run: RunSummary


__all__ = ["FetchedRun", "RequestFailedError"]
