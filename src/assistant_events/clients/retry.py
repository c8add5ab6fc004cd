"""Failed requests, and their repetition as often and as long as the policy allows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from assistant_events.clients.clock import Clock
from assistant_events.clients.recovery import RecoveryPolicy
from assistant_events.values import ErrorInfo, ErrorKind
from assistant_events.values.info import is_retryable_status

_T = TypeVar("_T")

GONE: Final = frozenset({404, 410})
"""HTTP statuses of a run that the provider does not have, or not any more."""

_PASSING: Final = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED})
_LASTING: Final = frozenset(
    {ErrorKind.QUOTA, ErrorKind.CONTEXT_LENGTH, ErrorKind.AUTH, ErrorKind.NOT_FOUND, ErrorKind.CONTENT_FILTER}
)
"""Kinds of errors that pass, and that do not, whatever their status: OpenAI sends 429 for a lack of money."""


class RequestFailedError(Exception):
    """A request failed. It never leaves the client: it becomes the error of a message."""

    def __init__(
        self, error: ErrorInfo, *, status: int | None = None, unsent: bool = False, should_retry: bool | None = None
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.status = status  # of HTTP; `None` without a response
        self.unsent = unsent  # the provider has seen nothing of the request
        self.should_retry = should_retry  # what the provider advises; `None` without its header

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.status is None or is_retryable_status(self.status)


def may_create_again(failure: RequestFailedError, *, keeps_runs: bool) -> bool:
    """
    Return whether a request for an answer may be repeated: only when no answer has begun.

    Where the provider *keeps runs*, not after a 5xx: services also answer 503 while the run continues. Its advice
    (`x-should-retry`, which the SDKs of OpenAI and Anthropic follow) counts otherwise, then the kind of its error.
    """
    if failure.should_retry is False or (failure.should_retry is None and failure.error.kind in _LASTING):
        return False
    if keeps_runs or failure.status is None:
        return failure.unsent or failure.status == 429
    return failure.should_retry or failure.transient or failure.error.kind in _PASSING


async def retried(
    request: Callable[[], Awaitable[_T]],
    again: Callable[[RequestFailedError], bool],
    policy: RecoveryPolicy,
    clock: Clock,
) -> _T:
    """
    Return the result of *request*, repeated after failures for which *again* is true.

    Raises:
        RequestFailedError: The last failure.
    """
    import stamina

    def backoff(error: Exception) -> bool | float:
        if not isinstance(error, RequestFailedError) or not again(error):
            return False
        after = error.error.retry_after_s
        if after is None:
            return True
        return after * clock.scale if after <= policy.retry_max_s else False

    async for attempt in stamina.retry_context(
        on=backoff,
        attempts=policy.tries,
        timeout=clock.limit(policy.tries_s),
        wait_initial=policy.retry_s * clock.scale,
        wait_max=policy.retry_max_s * clock.scale,
        wait_jitter=policy.retry_s * clock.scale,
        wait_exp_base=2,
    ):
        with attempt:
            return await request()
    raise AssertionError("stamina raises what the last attempt raised")  # pragma: no cover
