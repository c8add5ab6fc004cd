"""The vocabulary of the Messages wire, with a fallback for the word of tomorrow (anthropic 2.12.0, 2026-11)."""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.aws import AWS_ERRORS
from assistant_events.adapters.errors import ErrorTable, error_of
from assistant_events.adapters.json_fields import Fields, mapping, string
from assistant_events.adapters.tables import by_word, names
from assistant_events.adapters.usage import UsageTable
from assistant_events.values import Citation, ErrorInfo, ErrorKind, FinishReason

FINISH_REASONS: Final = by_word(
    {
        FinishReason.STOP: "end_turn stop_sequence stop",
        FinishReason.TOOL_CALLS: "tool_use tool_calls",
        FinishReason.LENGTH: "max_tokens model_context_window_exceeded length",
        FinishReason.CONTENT_FILTER: "refusal sensitive guardrail_intervened content_filter",
        FinishReason.PAUSE: "pause_turn",
    }
)
"""Finish reason by stop reason, the last of each in OpenAI's words, which gateways leave; the first is written."""

USAGE: Final = UsageTable(
    counts={
        "input_tokens": "input_tokens",
        "cache_read_tokens": "cache_read_input_tokens",
        "cache_write_tokens": "cache_creation_input_tokens",
        "output_tokens": "output_tokens",
        "reasoning_tokens": "output_tokens_details.thinking_tokens",
    },
    # The total of the input is the sum of its three counts (types/usage.py); thinking is a part of the output.
    apart={"input_tokens": ("cache_read_input_tokens", "cache_creation_input_tokens")},
)

ERRORS: Final = ErrorTable(
    codes=by_word(
        {
            ErrorKind.INVALID_REQUEST: "invalid_request_error request_too_large conflict_error",
            ErrorKind.AUTH: "authentication_error permission_error organization_on_hold "
            "claude_code_key_creator_not_member",
            ErrorKind.QUOTA: "billing_error enforced_spend_limit_reached contract_spend_limit_reached "
            "user_profile_not_billable user_profile_billing_not_authorized",
            ErrorKind.NOT_FOUND: "not_found_error",
            ErrorKind.TIMEOUT: "timeout_error request_body_timeout",
            ErrorKind.CONTENT_FILTER: "guardrail_error",  # of LiteLLM (litellm#36598)
            ErrorKind.RATE_LIMIT: "rate_limit_error",
            ErrorKind.OVERLOADED: "overloaded_error",
            ErrorKind.PROVIDER: "api_error",
        }
    )
    | AWS_ERRORS.codes,  # the official client writes exceptions of Bedrock as errors
    fields=("type", "code"),  # Vertex and gateways write a status or a word as `code`
    beside=("request_id",),
    retryable=AWS_ERRORS.retryable | {"api_error", "server_error"},  # the second: of Moonshot and MiniMax
    otherwise="api_error",
)

_OWN: Final = {"text": "text", "thinking": "thinking", "call": "id name input", "result": "tool_use_id content"}
OWN_FIELDS: Final = {role: names(fields) for role, fields in _OWN.items()}
"""By role of a block, the fields that events have words for. All others are its state, under their own names."""

RESERVED: Final = frozenset({"type", "i", "orphan", "deltas", "sealed"})
"""Keys of state that no field of a block may take."""

DELTAS: Final[dict[str, tuple[str, str]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("call", "partial_json"),
}
"""By type of a delta, the role of the block that it adds to, and the field of its text."""

WITHOUT_NEWS: Final = names("ping vertex_event text thinking signature citation input_json compaction")
"""`ping`, the counts of Vertex (2025-12), and events that the streams of the official client derive from the others."""

REPLACED: Final = ErrorInfo(kind=ErrorKind.NO_RESULT, message="Another model has replaced the one that made it.")
"""Why a call of the app before a `fallback` block is neither run nor sent back."""


def role_of(kind: str) -> str:
    """Return what a block of this type is here: `text`, `thinking`, `call`, `result` or `opaque`."""
    if kind in ("text", "thinking", "redacted_thinking"):
        return kind.removeprefix("redacted_")
    if kind == "tool_use" or kind.endswith("_tool_use"):
        return "call"
    return "result" if kind.endswith("tool_result") else "opaque"


def is_sealed(key: str) -> bool:
    """Return whether a field holds what only the provider can read, such as `encrypted_content`."""
    return key.startswith("encrypted_")


def is_summary(block: Fields) -> bool:
    """Return whether a block is a compaction with content, which sums up all that is before it."""
    return string(block, "type") == "compaction" and bool(block.get("content"))


def result_error(content: object, *, is_error: bool) -> ErrorInfo | None:
    """Return the error of a result of the provider's tool; `None` when it succeeded."""
    fields = mapping({"content": content}, "content")
    code = string(fields, "error_code")
    if not is_error and not (string(fields, "type") or "").endswith("_error"):
        return None
    return ErrorInfo(kind=ErrorKind.TOOL, message=code or "the tool reported an error", code=code)


def citation_of(fields: Fields) -> Citation:
    """Return the source of a cited text. It supports the whole text; places in documents are in the state."""
    return Citation(
        url=string(fields, "url") or string(fields, "source"),
        title=string(fields, "title") or string(fields, "document_title"),
        cited_text=string(fields, "cited_text"),
    )


DROPPED: Final = by_word(
    {
        "It determines what the event becomes.": ".type",
        "A stream is one message.": "message.type",
        "Every answer is the assistant's.": "role",
        "The order of the parts.": "index",
        "It determines the class of the part.": "content_block.type",
        "It determines what is added to the part.": "delta.type",
        "An estimate on the way; the usage counts.": "estimated_tokens",
        "Its counts repeat those of the usage.": "amazon-bedrock-invocationMetrics vertex_event/usage",
        "The price that a gateway puts into a frame that keeps the connection open.": "ping/cost",
        "Of several results of one call the first counts.": "note:second-result",
    }
)
"""Fields that the decoder does not keep, and notes about frames of which it keeps nothing."""


def detect(document: Fields) -> bool:
    """Return whether *document*, the first frame of a stream or a whole answer, is of this wire."""
    kind = string(document, "type")
    if kind == "message":
        return string(document, "role") == "assistant" and isinstance(document.get("content"), (list, tuple))
    if kind == "error":  # one of another API has a code, or no type around it
        return string(error_of(document), "type") in ERRORS.codes
    return kind is not None and kind.startswith(("content_block_", "message_"))
