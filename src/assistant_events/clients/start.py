"""How the following of a run begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

import attrs

from assistant_events.adapters.json_fields import Fields, string
from assistant_events.clients.http import RequestFailedError

Fallback: TypeAlias = Callable[[], Fields]
"""Gives the body that says all that the provider has forgotten."""


@final
@attrs.frozen(kw_only=True)
class Create:
    """Begin a run."""

    body: Fields

    fallback: Fallback | None = None
    """For a provider that does not have the interaction before this one; `None` to fail then."""


@final
@attrs.frozen(kw_only=True)
class FollowStream:
    """Follow a run that exists."""

    run_id: str


@final
@attrs.frozen(kw_only=True)
class FetchDocument:
    """Take a run from its document."""

    run_id: str

    wait: bool
    """Whether to ask again while the run is in progress."""


Start: TypeAlias = Create | FollowStream | FetchDocument


def is_forgotten(body: Fields, failure: RequestFailedError) -> bool:
    """
    Tell whether a provider refuses a body only because of the interaction before it.

    404 when it has expired, 501 when its steps hold built-in tools (googleapis/js-genai#1694, June 2026).
    """
    if not string(body, "previous_interaction_id"):
        return False
    if failure.status == 400:
        said = failure.error.message.lower()
        return "previous" in said and "interaction" in said
    return failure.status in (404, 501)


__all__ = ["Create", "Fallback", "FetchDocument", "FollowStream", "Start", "is_forgotten"]
