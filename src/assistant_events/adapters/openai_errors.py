"""The errors of OpenAI's APIs, which other servers have taken over, with the words that they have added."""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.errors import ErrorTable, error_of, error_of_document, error_of_status
from assistant_events.adapters.json_fields import Fields, integer, mapping, others, string
from assistant_events.adapters.tables import by_word, names
from assistant_events.values import ErrorKind


def _reset_s(error: Fields) -> float | None:
    """Return the seconds until a plan of Codex begins anew (raine/claude-code-proxy#139)."""
    seconds = integer(error, "resets_in_seconds")
    return None if seconds is None or not 0 <= seconds < 1 << 31 else float(seconds)


ERRORS: Final = ErrorTable(
    codes=by_word(
        {
            ErrorKind.INVALID_REQUEST: "invalid_request_error invalid_prompt invalid_encrypted_content invalid_image"
            " image_too_large data_residency_mismatch invalid_value invalid_image_format"
            " invalid_base64_image invalid_image_url image_too_small image_parse_error invalid_image_mode"
            " image_file_too_large unsupported_image_media_type empty_image_file failed_to_download_image"
            " image_file_not_found badrequesterror",
            ErrorKind.RATE_LIMIT: "rate_limit_exceeded rate_limit_error too_many_requests",
            ErrorKind.QUOTA: "insufficient_quota billing_hard_limit_reached billing_not_active"
            " insufficient_balance_error",
            ErrorKind.CONTEXT_LENGTH: "context_length_exceeded exceed_context_size_error 1261"
            " model_max_prompt_tokens_exceeded",
            ErrorKind.AUTH: "invalid_api_key authentication_error permission_error account_deactivated",
            ErrorKind.NOT_FOUND: "model_not_found previous_response_not_found not_found_error",
            ErrorKind.TIMEOUT: "vector_store_timeout",
            ErrorKind.OVERLOADED: "server_is_overloaded slow_down overloaded_error service_unavailable_error"
            " insufficient_system_resource",
            ErrorKind.CONTENT_FILTER: "content_filter content_policy_violation image_content_policy_violation"
            " misalignment_policy_violation bio_policy cyber_policy data_inspection_failed",
            # The third: of a WebSocket, after an hour (openai/codex, responses_websocket.rs). The last three: of
            # Codex, in a stream (anomalyco/opencode#30323), and of Groq, as 400, of what the model wrote
            # (drnic/groq-ruby#12, pydantic/pydantic-ai#4350).
            ErrorKind.PROVIDER: "server_error network_error websocket_connection_limit_reached function_call_filter"
            " malformed_function_call stream_read_error tool_use_failed json_validate_failed",
        }
    ),
    fields=("code", "type"),
    retryable=names(
        "server_error network_error websocket_connection_limit_reached function_call_filter malformed_function_call"
        " stream_read_error tool_use_failed json_validate_failed"
    ),
    otherwise="server_error",
    retry_after=_reset_s,
)
"""The codes of OpenAI's APIs, and those that other servers have added."""

_FAILURES: Final = names("error insufficient_system_resource abort function_call_filter malformed_function_call")
"""
Reasons to finish of a failed answer: OpenRouter, DeepSeek, vLLM (stopped), and Gemini (a bad call). So is the type of
an error, such as `network_error` (Z.ai) or `overloaded_error` (Portkey: of Claude in the middle of an answer).
"""

_SIGNS: Final = frozenset({"error", "error_message", "x_groq", "base_resp", "code", "detail", "errors"})
_NO_FAULT: Final = (None, 0, "0", 200, "200")
"""Codes of a success."""


def chunk_error(chunk: Fields) -> Fields:
    """Return the error of a chunk of Chat Completions, in the usual form or another; empty when it has none."""
    if string(chunk, "object") == "error":  # vLLM until 2025, FastChat
        return others(chunk, ("object",))
    if chunk.keys().isdisjoint(_SIGNS):
        return {}
    found = error_of(chunk) or error_of(mapping(chunk, "x_groq")) or error_of_status(chunk)
    if message := string(chunk, "error_message"):  # DeepInfra, Venice (NousResearch/hermes-agent#65631, #68451)
        found = found or {"message": message, "type": chunk.get("error_type")}
    if found or not chunk.keys().isdisjoint(("choices", "usage", "id")):
        return found
    is_fault = "message" not in chunk or chunk.get("code") not in _NO_FAULT  # of a gateway, without an object
    return error_of_document(chunk) if is_fault else {}


def failure_in(choice: Fields) -> Fields:
    """
    Return the error of a choice that has ended with a failure; empty for any other.

    OpenRouter has ended answers with "stop" whose server has failed, for the native reason beside it
    (earendil-works/pi#8511, sunholo-data/ailang#842).
    """
    for key in ("native_finish_reason", "finish_reason"):
        reason = string(choice, key) or ""
        if (word := reason.partition(":")[0].lower()) in _FAILURES or word.endswith("_error"):
            return {"code": word, "message": reason}
    return {}
