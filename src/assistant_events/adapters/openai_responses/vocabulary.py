"""
The vocabulary of the Responses wire, and what its words mean here. Tables with a fallback for the word of tomorrow.

Types of events and items: openai 3.54.0, `types/responses` (seen 2026-11), and recordings of compatible servers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from assistant_events.adapters.call_forms import CallForm, CallForms
from assistant_events.adapters.json_fields import Fields, mapping, string
from assistant_events.adapters.tables import by_word, names
from assistant_events.adapters.text_forms import TextForm, TextForms
from assistant_events.adapters.usage import UsageTable
from assistant_events.values import FinishReason

INCOMPLETE: Final = by_word(
    {FinishReason.LENGTH: "max_output_tokens max_tokens length", FinishReason.CONTENT_FILTER: "content_filter"}
)
"""Finish reason by the reason of an incomplete response. Of several the first is written, others are of proxies."""

USAGE: Final = UsageTable(
    counts={
        "input_tokens": "input_tokens prompt_tokens",
        "cache_read_tokens": "input_tokens_details.cached_tokens prompt_tokens_details.cached_tokens",
        "cache_write_tokens": "input_tokens_details.cache_write_tokens "
        "input_tokens_details.cache_creation_input_tokens",  # Perplexity
        "output_tokens": "output_tokens completion_tokens",
        "reasoning_tokens": "output_tokens_details.reasoning_tokens completion_tokens_details.reasoning_tokens",
    },
    total="total_tokens",
)

REPEATED: Final = (
    "background billing context_management conversation frequency_penalty include input instructions max_messages "
    "max_output_tokens max_tool_calls metadata parallel_tool_calls presence_penalty previous_response_id prompt "
    "prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier store stream temperature "
    "text tool_choice tools top_k top_logprobs top_p truncation user"
)
"""Fields of a response that repeat the request."""

OWN: Final = names(f"id object model status output output_text usage error created_at completed_at {REPEATED}")
"""Those, and fields that events have words for, or that mean nothing. All others are details of the step."""

DROPPED: Final = by_word(
    {
        "It determines what the event becomes.": ".type",
        "It determines the class of the part.": "item.type part.type content.type summary.type",
        "That of the end counts.": "response.created/response.service_tier response.queued/response.service_tier"
        " response.in_progress/response.service_tier response.status response.output_item.added/item.id"
        " response.output_item.added/item.status response.output_item.added/item.encrypted_content"
        " response.output_item.added/item.fingerprint response.reasoning_summary_part.done/status",
        "Copilot changes it; the first counts.": "response.in_progress/response.id response.completed/response.id",
        "Every document is a response.": "response.object",
        "Dates are those of the records.": "response.created_at response.completed_at",
        "The items came before.": "response.output response.output_text",
        "Every message is the assistant's.": "role",
        "Needed only while the stream runs.": "sequence_number",
        "The order of items, texts and annotations.": "output_index content_index summary_index annotation_index",
        "Padding.": "obfuscation",
        "The item has its id; Copilot changes it with every event.": "item_id",
        "The error before it counts, where there is one.": "response.failed/response.error",
        "The item has the whole when it ends.": "shell_call_command partial_image_b64",
        "Of the account, or the app's words.": ".plan_type .rate_limits .additional_rate_limits .credits .steer",
        "It repeats the request.": " ".join([f"response.{field}" for field in REPEATED.split()]),
    }
)
"""Fields that the decoder does not keep."""

ENDS: Final = {"completed": (), "failed": (), "cancelled": (), "incomplete": ("in_progress",)}
"""Statuses of a response that has ended, each with the statuses of its items that have not."""

UNFINISHED: Final = frozenset({"queued", "in_progress"})
"""Statuses of a response in progress."""

TEXTS: Final = TextForms(
    {
        "summary_text": TextForm("reasoning", "reasoning", "summary", "reasoning_summary_text"),
        "output_text": TextForm("message", "text", "content", "output_text"),
        "refusal": TextForm("message", "text", "content", "refusal", "refusal"),
        "reasoning_text": TextForm("reasoning", "reasoning", "content", "reasoning_text"),
    }
)
"""By type of a part."""

TOOLS: Final = CallForms(
    app={
        "function_call": CallForm("", "json", "arguments", "function_call_output"),
        "custom_tool_call": CallForm("", "text", "input", "custom_tool_call_output"),
        "computer_call": CallForm("computer", "fields", "action actions pending_safety_checks", "computer_call_output"),
        "local_shell_call": CallForm("local_shell", "fields", "action", "local_shell_call_output"),
        "apply_patch_call": CallForm("apply_patch", "fields", "operation", "apply_patch_call_output"),
        "mcp_approval_request": CallForm(
            "mcp_approval", "fields", "server_label name arguments", "mcp_approval_response"
        ),
    },
    provider={
        "mcp_call": CallForm("", "any", "arguments"),  # vLLM has code of Python there (its #31761)
        "shell_call": CallForm("shell", "fields", "action", "shell_call_output"),
        "tool_search_call": CallForm("tool_search", "fields", "arguments", "tool_search_output", "tools"),
        "program": CallForm("program", "fields", "code", "program_output", "result"),
        "web_search_call": CallForm("web_search", "fields", "action arguments", output=""),
        "file_search_call": CallForm("file_search", "fields", "queries", output="results"),
        "code_interpreter_call": CallForm("code_interpreter", "text", "code", "", "outputs", required=True),
        "image_generation_call": CallForm("image_generation", "fields", "revised_prompt", "", "result", required=True),
        "doubao_app_call": CallForm("doubao_app", "fields", "feature", output="blocks"),  # Volcengine
    },
)
"""By type of an item that is a call, and by who runs the tool; `is_hosted` knows the exceptions."""

TEXT_EVENTS: Final = {
    **{text.event: kind for kind, text in TEXTS.items()},
    **{f"{kind}_{field}": kind for kind, field in TOOLS.inputs.items()},
    **dict.fromkeys(("reasoning", "reasoning_content", "reasoning_raw_text"), "reasoning_text"),  # gateways, Volcengine
    **dict.fromkeys(("content_part", "reasoning_part", "reasoning_summary_part"), ""),
}
"""By the name of events about a text or an input, its type; empty for those about a part, which has its own."""

WITHOUT_NEWS: Final = names(
    "mcp_list_tools compaction shell_call_command shell_call_output_content apply_patch_call_operation_diff keepalive "
    "steer rate_limits codex output_item doubao_app_call_output_text doubao_app_call_reasoning_text"
).union(TOOLS)
"""First words of events of which the item, when it is done, has all."""

RESERVED: Final = names("type i id call_id orphan item_id part output_index content_index summary_index")
"""Keys of state that no field of an item may take."""

OWN_FIELDS: Final[dict[str, Collection[str]]] = {
    **{kind: frozenset({"type", text.field, "annotations", "logprobs"}) for kind, text in TEXTS.items()},
    **dict.fromkeys(TEXTS.roles, RESERVED.union(TEXTS.arrays, {"role"})),
    **{kind: RESERVED | tool.own_fields() for kind, tool in TOOLS.items()},
    **{kind: RESERVED | {field} for kind, field in TOOLS.outputs.items()},
}
"""By type of a part or an item, fields that events have words for. All others are its state, under their own names."""

REFUSED: Final = {
    **{each: {"status"} for each in ("reasoning", "compaction", "compaction_summary")},  # unsloth#8372, oh-my-pi#10415
    "image_generation_call": names("action background output_format quality revised_prompt size"),
}
"""By type of an item, fields of an answer that the service refuses in a request (openai-agents-python#853)."""

WITHOUT_TYPE: Final = {*TEXTS.roles, *TEXTS, "function_call"} - {"refusal"}
"""Types that follow from the class of a part, so its state leaves them out."""

OF_HELPERS: Final = names("parsed parsed_arguments")
"""Fields that the official client derives from others."""


def is_hosted(kind: str, item: Fields) -> bool:
    """Return whether the provider runs a call of this type."""
    match kind:
        case "custom_tool_call":
            return (string(item, "call_id") or "").startswith("xs_call")  # of xAI (vercel/ai, xai-x-search-tool)
        case "shell_call":
            return string(mapping(item, "environment"), "type") == "container_reference"
        case "tool_search_call":
            return string(item, "execution") != "client"
        case _:
            return kind in TOOLS.hosted


def is_of_others(fields: Fields) -> bool:
    """Return whether an item or event is of the user (Fireworks), or of an agent that works for the answering one."""
    return fields.get("role") == "user" or string(mapping(fields, "agent"), "agent_name") not in (None, "/root")


def detect(document: Fields) -> bool:
    """Return whether *document*, the first frame of a stream or a whole answer, is of this wire."""
    kind, is_whole = string(document, "type") or "", string(document, "object") == "response"
    return "sequence_number" in document if kind == "error" else is_whole or kind.startswith("response.")
