"""
The document of an interaction: head, status, usage and errors. The decoder's tables, inverted.

The only writer of this document, for the emitter and the mock provider.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.messages import AssistantMessage
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, Usage, thaw

_STATUSES: Final[dict[FinishReason, str]] = {
    FinishReason.STOP: "completed",
    FinishReason.TOOL_CALLS: "requires_action",
    FinishReason.PAUSE: "requires_continuation",
}
"""Status of the finish reasons of other dialects; all others are `incomplete`."""

_CUT: Final = frozenset({ErrorKind.INTERRUPTED, ErrorKind.ABORTED, ErrorKind.NETWORK, ErrorKind.ADAPTER})
"""Kinds of errors of a stream, not of an interaction: nothing is written then."""

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
    """How a message that has ended is written."""

    status: str | None
    """Status of the interaction; `None` when the stream stops without an end."""

    error: dict[str, Any] | None = None
    """Of an `error` event, or of the `errors` of the interaction."""

    output_error: dict[str, Any] | None = None
    """Of a `model_output` step."""


def interaction(
    interaction_id: str,
    status: str,
    name: str | None,
    *,
    is_agent: bool = False,
    fields: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """
    Return the document of an interaction.

    Args:
        interaction_id: Its id; empty when it is not stored.

        status: Its status.

        name: The model or agent; `None` when it is not known.

        is_agent: Whether *name* is an agent.

        fields: Fields that no message has, such as `created`.

        more: `environment_id`, `steps`, `errors`, `continuation_token` and `usage`; `None` is left out.
    """
    document: dict[str, Any] = {"id": interaction_id, "status": status, "object": "interaction"}
    if name:
        document["agent" if is_agent else "model"] = name
    return {**document, **(fields or {}), **{key: value for key, value in more.items() if value is not None}}


def usage_of(message: AssistantMessage) -> dict[str, Any]:
    """Return the token counts of a message: the provider's own when they are there and have the same values."""
    usage = message.usage
    if usage is None:
        return {}
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


def _counts(usage: Usage) -> tuple[int | None, ...]:
    return (
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    )


def failure_of(message: AssistantMessage, *, is_own: bool = True) -> Failure:
    """Return how a message ended. The finish reason of another dialect (not *is_own*) becomes the nearest status."""
    error = message.error
    if error is None:
        if message.finish_reason is None:
            return Failure(None)
        own = message.raw_finish_reason if is_own else None
        return Failure(own or _STATUSES.get(message.finish_reason, "incomplete"))
    if error == ErrorInfo(kind=ErrorKind.CANCELLED, message="the interaction was cancelled"):
        return Failure("cancelled")
    if error == ErrorInfo(kind=ErrorKind.PROVIDER, message="the interaction failed"):
        return Failure("failed")
    if error.kind in _CUT:
        for status in vocabulary.UNFINISHED:
            if error.message == f"the stream ended while the interaction was {status}":
                return Failure(status)
        return Failure(None)
    return _failed(error)


def _failed(error: ErrorInfo) -> Failure:
    for fields in _candidates(error):
        if vocabulary.error_info(fields) == error:
            return Failure("failed", fields)
    for fields in _candidates(error):
        if vocabulary.error_info(fields, grpc=True) == error:
            return Failure("failed", output_error=fields)
    if error.kind == ErrorKind.CANCELLED:
        return Failure("cancelled")
    code = error.code or _CODES.get(error.kind, "internal")
    return Failure("failed", {"code": code, "message": error.message})


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
