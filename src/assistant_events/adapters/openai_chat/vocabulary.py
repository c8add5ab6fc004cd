"""
The vocabulary of the Chat Completions wire. Tables with a fallback for the word of tomorrow.

Fields and words: openai 3.52.0, `types/chat`; those of compatible servers: recordings of 2023-07 to 2026-10.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from assistant_events.adapters.errors import error_of
from assistant_events.adapters.json_fields import Fields, count, integer, mapping, string
from assistant_events.adapters.tables import by_word
from assistant_events.adapters.usage import UsageTable
from assistant_events.values import Citation, FinishReason, Usage, thaw

FINISH_REASONS: Final = by_word(
    {
        FinishReason.STOP: "stop end_turn stop_sequence complete eos",
        FinishReason.LENGTH: "length max_tokens model_length",
        FinishReason.TOOL_CALLS: "tool_calls function_call",
        FinishReason.CONTENT_FILTER: "content_filter",
    }
)
"""Finish reason by the wire's word in lower case. The first word of a reason is written for it."""

FAILURES: Final = frozenset({"error", "network_error", "insufficient_system_resource"})
"""Finish reasons of an answer that failed: OpenRouter, Z.ai, DeepSeek."""

_COUNTS: Final = {
    "input_tokens": "prompt_tokens",
    "cache_read_tokens": "prompt_tokens_details.cached_tokens",
    "cache_write_tokens": "prompt_tokens_details.cache_write_tokens",
    "output_tokens": "completion_tokens",
    "reasoning_tokens": "completion_tokens_details.reasoning_tokens",
}

USAGE: Final = UsageTable(counts=_COUNTS, total="total_tokens")

USAGE_OF_DEEPSEEK: Final = UsageTable(counts={**_COUNTS, "cache_read_tokens": "prompt_cache_hit_tokens"})
"""Its own field beside, or instead of, that of OpenAI."""

USAGE_APART: Final = UsageTable(
    counts=_COUNTS, apart={"output_tokens": ("completion_tokens_details.reasoning_tokens",)}, total="total_tokens"
)
"""Of servers that count reasoning beside the output, as xAI does. The total shows it."""


def usage_of(fields: Fields) -> Usage:
    """Return the usage of an object, by the table that its counts agree with."""
    apart = count(mapping(fields, "completion_tokens_details"), "reasoning_tokens")
    sides = [count(fields, key) for key in ("prompt_tokens", "completion_tokens", "total_tokens")]
    if apart and None not in sides and sides[2] == (sides[0] or 0) + (sides[1] or 0) + apart:
        return USAGE_APART.read(fields)
    usage = USAGE.read(fields)
    return USAGE_OF_DEEPSEEK.read(fields) if usage.cache_read_tokens is None else usage


def write_usage(usage: Usage) -> dict[str, Any]:
    """Return the object of a usage: its own one where that is read as the same."""
    # Any: plain JSON.
    details: dict[str, Any] = thaw(usage.details)
    return details if details and usage_of(details) == usage else USAGE.write(usage)


CHUNK: Final = frozenset({"id", "object", "created", "model", "choices", "usage", "error", "obfuscation", "p"})
"""Fields of a chunk that are read, or dropped. All others are details of the step, under their own names."""

CHOICE: Final = frozenset({"index", "delta", "message", "finish_reason", "logprobs", "usage", "text", "token_id"})
"""The same of a choice: others are details under `choice`."""

RETURNED: Final = ("extra_content", "thought_signature")
"""Fields of a message that its server wants back: the signatures of Gemini."""

MESSAGE: Final = frozenset(
    {
        *("role", "content", "refusal", "reasoning_content", "reasoning", "reasoning_text", "reasoning_details"),
        *("tool_calls", "function_call", "executed_tools", "audio", "images", "annotations", "token_id", "token_ids"),
        *RETURNED,
    }
)
"""The same of a message or delta: others are details under `message`."""

REASONING: Final = ("reasoning_content", "reasoning", "reasoning_text")
"""Fields with the text of the reasoning, the first of which counts; servers send it in several at once."""

LEVELS: Final = frozenset({"choice", "message", "logprobs", "audio"})
"""Keys of the details that are not fields of a chunk."""

DROPPED: Final[Mapping[str, str]] = MappingProxyType(
    by_word(
        {
            "The first of an answer is kept; a few servers make one for each chunk.": ".id model",
            "It determines whether a document is a chunk or an answer.": "object",
            "The clock of the server; the store has the time of each event.": "created",
            "Padding against readers of encrypted traffic.": "obfuscation p",
            "There is one answer; other choices are noted.": "choices.index",
            "Every answer is the assistant's.": "choices.delta.role choices.message.role",
            "Some servers repeat in each chunk the whole message so far.": "chat.completion.chunk/choices.message"
            " chat.completion.done/choices.message text_completion/choices.message",
            "It determines what becomes of an item.": "content.type thinking.type images.type annotations.type",
            "The number of a token in the vocabulary of the model.": "token_id",
            "The order of the calls.": "tool_calls.index executed_tools.index",
            "`function`; another type is state.": "tool_calls.type",
            "It keeps the connection open.": "keepalive/type keepalive/sequence_number",
            "It is the sum of the other counts.": "total_tokens",
        }
    )
)
"""Fields that the decoder does not keep."""


def finish_reason_of(word: str | None, *, has_calls: bool, has_refusal: bool) -> FinishReason:
    """Return why an answer ended. Servers write `stop` for calls, too, and OpenAI does for a refusal."""
    finish = FINISH_REASONS.get((word or "").lower(), FinishReason.OTHER)
    if finish is FinishReason.STOP and has_refusal:
        return FinishReason.CONTENT_FILTER
    return FinishReason.TOOL_CALLS if has_calls and (finish is FinishReason.STOP or word is None) else finish


def citation_of(annotation: Fields) -> Citation | None:
    """Return the source that an annotation names; `None` for one that names none, such as the text of a file."""
    source = mapping(annotation, "url_citation")
    if string(source, "url") is None:
        return None
    start, end = integer(source, "start_index"), integer(source, "end_index")
    is_placed = start is not None and end is not None and 0 <= start < end
    return Citation(
        url=string(source, "url"),
        title=string(source, "title"),
        start=start if is_placed else None,
        end=end if is_placed else None,
    )


def detect(document: Fields) -> bool:
    """Return whether *document*, the first frame of a stream or a whole answer, is of this wire."""
    if "type" in document or "event_type" in document:
        return False
    error = error_of(document)
    return isinstance(document.get("choices"), (list, tuple)) or (bool(error) and "status" not in error)
