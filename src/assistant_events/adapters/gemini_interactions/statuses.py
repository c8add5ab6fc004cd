"""How an interaction ends in the words of the wire: status, usage, errors. The decoder's tables, turned around."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, Usage, thaw

_STATUSES: Final[dict[FinishReason, str]] = {
    FinishReason.STOP: "completed",
    FinishReason.TOOL_CALLS: "requires_action",
    FinishReason.LENGTH: "incomplete",
    FinishReason.CONTENT_FILTER: "incomplete",
    FinishReason.PAUSE: "requires_continuation",
    FinishReason.OTHER: "incomplete",
}

_CUT: Final = frozenset({ErrorKind.INTERRUPTED, ErrorKind.ABORTED, ErrorKind.NETWORK, ErrorKind.ADAPTER})
"""Kinds of errors that happen to a stream, not to an interaction: the wire is silent then."""

_CODES: Final[dict[str, str]] = {
    ErrorKind.INVALID_REQUEST: "invalid_request",
    ErrorKind.CONTEXT_LENGTH: "invalid_request",
    ErrorKind.AUTH: "permission_denied",
    ErrorKind.NOT_FOUND: "not_found",
    ErrorKind.RATE_LIMIT: "too_many_requests",
    ErrorKind.QUOTA: "quota_exceeded",
    ErrorKind.TIMEOUT: "deadline_exceeded",
    ErrorKind.OVERLOADED: "unavailable",
}


class Failure(NamedTuple):
    """How a failed step is said."""

    status: str | None
    """Status of the interaction; `None` when the stream simply stops."""

    error: dict[str, Any] | None = None
    """What an `error` event, or the `errors` of the interaction, say."""

    output_error: dict[str, Any] | None = None
    """What the error of a `model_output` says."""

    exact: bool = True
    """Whether it is read as the same error."""


def status_of(finish_reason: FinishReason, word: str | None) -> str:
    """Return the status of an end: the provider's own *word*, or the one that is nearest when it is not known."""
    return _STATUSES[finish_reason] if word is None else word


def usage_of(usage: Usage) -> dict[str, Any]:
    """Return the counts in the provider's words: its own when they are there and say the same."""
    details: dict[str, Any] = thaw(usage.details)
    if details and _counts(vocabulary.usage(details)) == _counts(usage):
        return details
    known = {
        "total_input_tokens": _sum(usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens),
        "total_cached_tokens": usage.cache_read_tokens,
        "total_output_tokens": usage.output_tokens,
        "total_thought_tokens": usage.reasoning_tokens,
        "total_tokens": usage.total_tokens,
    }
    return {key: count for key, count in known.items() if count is not None}


def is_exact(usage: Usage) -> bool:
    """Tell whether the counts are read as the same."""
    return _counts(vocabulary.usage(usage_of(usage))) == _counts(usage)


def _counts(usage: Usage) -> tuple[int | None, ...]:
    return (
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    )


def failure_of(error: ErrorInfo) -> Failure:
    """Return how a failed step is said."""
    if error == ErrorInfo(kind=ErrorKind.CANCELLED, message="the interaction was cancelled"):
        return Failure("cancelled")
    if error == ErrorInfo(kind=ErrorKind.PROVIDER, message="the interaction failed"):
        return Failure("failed")
    if error.kind in _CUT:
        for status in sorted(vocabulary.UNFINISHED):
            if error.message == f"the stream ended while the interaction was {status}":
                return Failure(status)
        return Failure(None, exact=error.kind == ErrorKind.INTERRUPTED)
    return _failed(error)


def _failed(error: ErrorInfo) -> Failure:
    for fields in _candidates(error):
        if vocabulary.error_info(fields) == error:
            return Failure("failed", fields)
    for fields in _candidates(error):
        if vocabulary.error_info(fields, grpc=True) == error:
            return Failure("failed", output_error=fields)
    if error.kind == ErrorKind.CANCELLED:
        return Failure("cancelled", exact=False)
    code = error.code or _CODES.get(error.kind, "internal")
    return Failure("failed", {"code": code, "message": error.message}, exact=False)


def _candidates(error: ErrorInfo) -> Iterator[dict[str, Any]]:
    """Yield the forms in which an error may have come, likely ones first."""
    code, message = error.code, error.message
    if code is None:
        yield {"message": message}
        return
    yield {"code": code, "message": message}
    if error.status is not None:
        yield {"code": error.status, "message": message, "status": code}
        yield {"code": error.status, "message": message}
    digits = code.removeprefix("-")
    if digits.isdecimal() and digits.isascii() and len(digits) < 11:
        yield {"code": int(code), "message": message}
    yield {"message": message, "status": code}


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
