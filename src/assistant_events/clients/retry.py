"""Making one request again, as often and as long as the policy allows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina

from assistant_events.clients.clock import Clock
from assistant_events.clients.http import RequestFailedError
from assistant_events.clients.recovery import RecoveryPolicy

_T = TypeVar("_T")


def may_create_again(failure: RequestFailedError) -> bool:
    """
    Tell whether a request that begins a run may be made once more: it must not have begun one.

    Not after a 5xx: the service also answers 503 where the run lives on, as the tail of the ten-minute cut shows.
    """
    return failure.unsent or failure.status == 429


def may_ask_again(failure: RequestFailedError) -> bool:
    """Tell whether a request that only asks may be made once more."""
    return failure.passing


async def retried(
    request: Callable[[], Awaitable[_T]],
    again: Callable[[RequestFailedError], bool],
    policy: RecoveryPolicy,
    clock: Clock,
) -> _T:
    """
    Return what *request* gives, making it again after failures for which *again* says so.

    Raises:
        RequestFailedError: The last failure.
    """

    def backoff(error: Exception) -> bool | float:
        if not isinstance(error, RequestFailedError) or not again(error):
            return False
        after = error.retry_after
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


__all__ = ["may_ask_again", "may_create_again", "retried"]
