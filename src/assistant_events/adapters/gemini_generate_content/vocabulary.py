"""
The vocabulary of the generateContent wire, and what its words mean here. Tables with a fallback for unknown words.

Fields and enums: google-genai 3.4.0, `types.py` (seen 2026-11), for the Gemini API and for Vertex.
"""

from __future__ import annotations

import re
from typing import Final

from assistant_events.adapters import google_rpc
from assistant_events.adapters.json_fields import Fields, integer, is_array, mapping, string
from assistant_events.adapters.tables import by_word
from assistant_events.adapters.usage import UsageTable
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason

FINISH_REASONS: Final = by_word(
    {
        FinishReason.STOP: "STOP",
        FinishReason.LENGTH: "MAX_TOKENS",
        FinishReason.PAUSE: "CONTINUATION",
        FinishReason.OTHER: "OTHER",
        FinishReason.CONTENT_FILTER: "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR ESCALATION "
        "IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION",
    }
)
"""Finish reason by that of a candidate. The first one of a reason is written for it."""

FAILURES: Final = by_word(
    {
        ErrorKind.INVALID_REQUEST: "MISSING_THOUGHT_SIGNATURE LANGUAGE",
        ErrorKind.AUTH: "PUP_LIMITED_DISABLED",
        ErrorKind.PROVIDER: "MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MALFORMED_RESPONSE "
        "NO_IMAGE IMAGE_OTHER",
    }
)
"""Finish reasons of candidates that failed, and the kind of the error."""

REASONS: Final = (
    *("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "LANGUAGE", "BLOCKLIST"),
    *("PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL"),
)
_BLOCKS: Final = ("BLOCK_REASON_UNSPECIFIED", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY")
OUTCOMES: Final = ("OUTCOME_UNSPECIFIED", "OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED")
"""Words of enums by number, for clients that ask for these (`google/ai/generativelanguage/v1beta`)."""

CALLS: Final[dict[str, tuple[str, str]]] = {
    "codeExecutionResult": ("executableCode", "output"),
    "toolResponse": ("toolCall", "response"),
    "functionResponse": ("functionCall", "response"),
}
"""By kind of a result, the kind of its call, and the field of the output."""

OWN_FIELDS: Final[dict[str, frozenset[str]]] = {
    "functionCall": frozenset({"id", "name", "args", "partialArgs", "willContinue"}),
    "executableCode": frozenset({"id", "language", "code"}),
    "toolCall": frozenset({"id", "toolType", "args"}),
    "codeExecutionResult": frozenset({"id", "outcome", "output"}),
    "toolResponse": frozenset({"id", "toolType", "response"}),
    "functionResponse": frozenset({"id", "name", "response"}),
    "inlineData": frozenset({"mimeType", "data"}),
    "fileData": frozenset({"mimeType", "fileUri"}),
}
"""By kind of a part, the fields in its object that events have words for. A part has one kind."""

OF_RESPONSE: Final = ("responseId", "turnToken")
"""Fields that every chunk repeats, and that are state of the step."""

BESIDE: Final = frozenset({"thought", "thoughtSignature", "partMetadata", "audioTranscription"})
"""Fields beside the kind of a part. A request cannot have a part of them alone."""

RESERVED: Final = frozenset({"type", "i", "id", "orphan", "fields", "outcome"})
"""Keys of state that no field of a part may take. `fields` has what else is in the object of the part's kind."""

USAGE: Final = UsageTable(
    # Recordings: `totalTokenCount` sums prompt, tool use, candidates and thoughts; the prompt includes what was cached.
    counts={
        "input_tokens": "promptTokenCount",
        "cache_read_tokens": "cachedContentTokenCount",
        "output_tokens": "candidatesTokenCount",
        "reasoning_tokens": "thoughtsTokenCount",
    },
    apart={"input_tokens": ("toolUsePromptTokenCount",), "output_tokens": ("thoughtsTokenCount",)},
    total="totalTokenCount",
    omits_zeros=True,
)

DROPPED: Final = by_word(
    {
        "Only one candidate is kept.": "candidates.index note:other-candidate",
        "Every answer is the model's.": "content.role",
        "The request has it, not the answer.": "createTime",
        "Of an early chunk; the last counts are the totals.": "usageMetadata.candidatesTokenCount",
        "Of several, the last ones count.": "safetyRatings",
        "It is the place of a value in the input.": "partialArgs.jsonPath",
        "It is a null of the input.": "partialArgs.nullValue",
        "The official client has added it.": "sdkHttpResponse parsed",
        "Only the results of calls of the answer are kept.": "automaticFunctionCallingHistory",
    }
)
"""Fields that the decoder does not keep, and notes about frames of which it keeps nothing."""

PCM: Final = re.compile("audio/(?:l16|pcm)", re.IGNORECASE)
"""Audio without a header, which a stream has in pieces (gemini-3.1-flash-tts: markusylisiurunen/tau#442)."""


def failure(reason: str | None, message: str | None) -> ErrorInfo | None:
    """
    Return the error of a finish reason; `None` when the answer ended as it may.

    A proxy has put its own error there (big-AGI, 2026): it is not a word in capitals.
    """
    if reason is None or (reason not in FAILURES and re.fullmatch(r"[A-Z0-9_]+", reason)):
        return None
    kind = FAILURES.get(reason, ErrorKind.PROVIDER)
    message = message or f"the candidate ended with {reason}"
    return ErrorInfo(kind=kind, code=reason, message=message, retryable=kind == ErrorKind.PROVIDER)


def block_reason_of(details: Fields) -> str | None:
    """Return why the prompt was blocked; `None` when it was not. JSON leaves out a default that a message explains."""
    found = mapping(details, "promptFeedback")
    default = _BLOCKS[0] if string(found, "blockReasonMessage") else None
    return google_rpc.enum_word(found, "blockReason", _BLOCKS) or default


def tool_of(kind: str, fields: Fields) -> str | None:
    """Return the name of the tool of a call or a result; `None` when it has none."""
    if kind in ("executableCode", "codeExecutionResult"):
        return "code_execution"
    return string(fields, "toolType" if kind in ("toolCall", "toolResponse") else "name") or None


def detect(document: Fields) -> bool:
    """Return whether *document*, the first frame of a stream or a whole answer, is of this wire."""
    document = mapping(document, "response") or document
    if is_array(document.get("candidates")) or {"modelVersion", "usageMetadata", "usage_metadata"} & document.keys():
        return True
    error = mapping(document, "error")
    code = (string(error, "status") or "").lower()
    is_error = len(document) == 1 and integer(error, "code") is not None and code in (*google_rpc.CODES, "internal")
    return is_error or block_reason_of(document) is not None
