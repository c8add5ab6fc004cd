"""
The document of an interaction: head, status, usage and errors. The decoder's tables, inverted.

The only writer of this document, for the emitter and the mock provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from assistant_events.adapters.emitter import is_lost
from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.messages import AssistantMessage
from assistant_events.values import ErrorKind, thaw


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

    The id is empty when the interaction is not stored; *name* is the model or agent. *fields* has what no message has,
    such as `created`; *more* has steps, usage and other optional fields, of which `None` is left out.
    """
    document: dict[str, Any] = {"id": interaction_id, "status": status, "object": "interaction"}
    if name:
        document["agent" if is_agent else "model"] = name
    return {**document, **(fields or {}), **{key: value for key, value in more.items() if value is not None}}


def usage_of(message: AssistantMessage) -> dict[str, Any]:
    """Return the token counts of a message: the provider's own when they are there and have the same values."""
    return {} if message.usage is None else vocabulary.USAGE.write(message.usage)


def failure_of(message: AssistantMessage) -> Failure:
    """Return how a message ended. The finish reason of another dialect becomes the nearest status."""
    error = message.error
    if error is None:
        if message.finish_reason is None:
            return Failure(None)
        is_own = message.origin.dialect == "gemini-interactions"
        own, output_error = (message.raw_finish_reason, message.details.get("output_error")) if is_own else (None, None)
        return Failure(own or vocabulary.status_of(message.finish_reason), output_error=thaw(output_error))
    if error == vocabulary.CANCELLED:
        return Failure("cancelled")
    if error == vocabulary.FAILED:
        return Failure("failed")
    if is_lost(error):
        for status in vocabulary.UNFINISHED:
            if error.message == vocabulary.unfinished(status).message:
                return Failure(status)
        return Failure(None)
    written = vocabulary.ERRORS.write(error)
    if vocabulary.ERRORS.read(written) == error:
        return Failure("failed", written)
    if vocabulary.OUTPUT_ERRORS.is_exact(error):
        return Failure("failed", output_error=vocabulary.OUTPUT_ERRORS.write(error))
    return Failure("cancelled") if error.kind == ErrorKind.CANCELLED else Failure("failed", written)
