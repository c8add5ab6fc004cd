"""
The vocabulary of the Chat Completions wire. Tables with a fallback for the word of tomorrow.

Fields and words: openai 3.52.0, `types/chat`; those of compatible servers: recordings of 2023-07 to 2026-10.
"""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.errors import error_of
from assistant_events.adapters.gateway_deltas import BLOCKS, GATEWAY_STATE
from assistant_events.adapters.json_fields import Fields, string
from assistant_events.adapters.tables import by_word, names
from assistant_events.adapters.usage import UsageTable
from assistant_events.values import FinishReason

FINISH_REASONS: Final = by_word(
    {
        FinishReason.STOP: "stop end end_turn stop_sequence complete eos eos_token",
        FinishReason.LENGTH: "length max_tokens model_length max_output_tokens model_context_window_exceeded",
        FinishReason.TOOL_CALLS: "tool_calls function_call tool_use tooluse tool-calls",
        FinishReason.CONTENT_FILTER: "content_filter sensitive refusal safety recitation prohibited_content"
        " guardrail_intervened blacklist content-filter",
    }
)
"""By the word in lower case, up to a colon (Gemini: `content_filter: RECITATION`). The first one is written."""

USAGE: Final = UsageTable(
    counts={
        "input_tokens": "prompt_tokens",
        # The second of both is DeepSeek's or LiteLLM's; then Moonshot's or Qwen's, Writer's, Mistral's and Portkey's.
        "cache_read_tokens": "prompt_tokens_details.cached_tokens prompt_cache_hit_tokens cached_tokens"
        " prompt_token_details.cached_tokens num_cached_tokens cache_read_input_tokens",
        "cache_write_tokens": "prompt_tokens_details.cache_write_tokens prompt_tokens_details.cache_creation_tokens "
        "prompt_tokens_details.cache_creation_input_tokens cache_creation_input_tokens",
        "output_tokens": "completion_tokens",
        "reasoning_tokens": "completion_tokens_details.reasoning_tokens reasoning_tokens",
    },
    apart={"output_tokens": ("completion_tokens_details.reasoning_tokens reasoning_tokens",)},  # of xAI and Copilot
    total="total_tokens",
    total_decides=True,
)

DETAILS: Final = ("reasoning_details", "thinking_blocks", BLOCKS)
"""Arrays of a delta with the items of a reasoning: OpenRouter; LiteLLM and Portkey, Claude's, without an index."""

DETAIL_TEXTS: Final = by_word({"text": "reasoning.text", "summary": "reasoning.summary", "thinking": "thinking"})
"""By type of an item of `DETAILS`, the field of its text."""

DETAIL_PIECES: Final = frozenset({*DETAIL_TEXTS.values(), "data"})
"""Fields of such an item that come in pieces."""

THOUGHTS: Final = {"thinking": ("thinking", "text"), "reasoning": ("summary", "summary_text")}
"""By type of an item of `content`, its array of thoughts and their type: Mistral, Databricks."""

LEVELS: Final = ("choice", "message", "audio", "logprobs")
"""Details of the step that have fields of other objects than chunks."""

PADDING: Final = names("obfuscation p")
"""Fields without meaning."""

CHUNK: Final = names("id object created model choices usage error").union(LEVELS, PADDING)
"""Fields of a chunk that are read, or dropped. All others are details of the step, under their own names."""

CHOICE: Final = names(
    "index delta message finish_reason logprobs usage error text token_id token_ids reasoning_logprobs"
).union(PADDING)
"""The same of a choice: others are details under `choice`."""

SIGNATURES: Final = ("signature", "thought_signature", "reasoning_signature", "thinking_signature")
RETURNED: Final = (*SIGNATURES, "extra_content", "reasoning_opaque", "cot_id", "reasoning_items", *GATEWAY_STATE)
"""Fields of a message that its server wants back: signatures, reasoning of Copilot and LiteLLM, and of others."""

REASONING: Final = ("reasoning_content", "reasoning", "reasoning_text", "cot_summary")
"""Fields with the text of the reasoning: of several in a delta the first counts; it is written for that of others."""

CONTENTS: Final = names(
    "content refusal annotations executed_tools audio images tool_calls function_call token_id token_ids"
).union(REASONING, RETURNED[:-1], DETAILS)
"""The same of a message or delta, beside its role: others are details under `message`."""

DROPPED: Final = by_word(
    {
        "The first of an answer is kept; a few servers make one for each chunk.": ".id model",
        "It determines whether a document is a chunk or an answer.": "object",
        "The clock of the server; the store has the time of each event.": "created",
        "Padding against readers of encrypted traffic.": "obfuscation p",
        "There is one answer; other choices are noted.": "choices.index note:other-choice",
        "Of several texts or results of one thing the first counts.": "note:other-reasoning note:second-result",
        "Every answer is the assistant's.": "choices.delta.role choices.message.role messages.role",
        "Some servers repeat in each chunk the whole message so far.": "chat.completion.chunk/choices.message"
        " chat.completion.done/choices.message text_completion/choices.message",
        "It determines how an item is read.": "content.type thinking.type summary.type images.type annotations.type"
        " content_blocks.type content_blocks.delta.type",
        "The number of a token in the vocabulary of the model.": "token_id token_ids",
        "The order of items.": "tool_calls.index executed_tools.index delta.index messages.index content_blocks.index",
        "`function`; another type is state.": "tool_calls.type mcp_tool_calls.type",
        "It repeats that of the message.": "provider_specific_fields.thinking_blocks parsed parsed_arguments",
        "It keeps the connection open.": "keepalive/type keepalive/sequence_number ping/type",
        "It is the sum of the other counts.": "total_tokens",
    }
)
"""Fields that the decoder does not keep, and notes about frames of which it keeps nothing."""


def detect(document: Fields) -> bool:
    """Return whether *document*, the first frame of a stream or a whole answer, is of this wire."""
    is_other = not document.keys().isdisjoint(("type", "event_type")) or string(document, "object") == "response"
    error, is_answer = error_of(document), isinstance(document.get("choices"), (list, tuple))
    return not is_other and (is_answer or (bool(error) and "status" not in error))
