"""
The vocabulary of the Responses wire, and what its words mean here. Tables with a fallback for the word of tomorrow.

Types of events and items: openai 3.54.0, `types/responses` (seen 2026-11), and recordings of compatible servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from assistant_events.adapters.json_fields import Fields, mapping, string
from assistant_events.adapters.tables import by_word, names
from assistant_events.adapters.text_places import cited_place
from assistant_events.adapters.usage import UsageTable
from assistant_events.values import Citation, ErrorInfo, ErrorKind, FinishReason

INCOMPLETE: Final[dict[str, FinishReason]] = {
    "max_output_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "max_messages": FinishReason.OTHER,
    "steered": FinishReason.OTHER,
}
"""Finish reason by the reason of an incomplete response. The first of a finish reason is written for it."""

USAGE: Final = UsageTable(
    counts={
        "input_tokens": "input_tokens",
        "cache_read_tokens": "input_tokens_details.cached_tokens",
        "cache_write_tokens": "input_tokens_details.cache_write_tokens",
        "output_tokens": "output_tokens",
        "reasoning_tokens": "output_tokens_details.reasoning_tokens",
    },
    total="total_tokens",
)

REPEATED: Final = (
    *("background", "billing", "context_management", "conversation", "frequency_penalty", "include", "input"),
    *("instructions", "max_messages", "max_output_tokens", "max_tool_calls", "metadata", "parallel_tool_calls"),
    *("presence_penalty", "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_options"),
    *("prompt_cache_retention", "reasoning", "safety_identifier", "store", "stream", "temperature", "text"),
    *("tool_choice", "tools", "top_k", "top_logprobs", "top_p", "truncation", "user"),
)
"""Fields of a response that repeat the request."""

OWN: Final = (
    *("id", "object", "model", "status", "output", "output_text", "usage", "error", "created_at", "completed_at"),
)
"""Fields of a response that events have words for, or that mean nothing. All others are details of the step."""

DROPPED: Final[Mapping[str, str]] = MappingProxyType(
    by_word(
        {
            "It determines what the event becomes.": ".type",
            "It determines the class of the part.": "item.type part.type content.type summary.type",
            "That of the end counts.": "response.created/response.service_tier response.queued/response.service_tier"
            " response.in_progress/response.service_tier",
            "That of the start counts; Copilot changes it with every event.": "response.in_progress/response.id"
            " response.completed/response.id",
            "Every document is a response.": "response.object",
            "The end of the step has the last one.": "response.status",
            "Dates are those of the records.": "response.created_at response.completed_at",
            "The items came before.": "response.output",
            "It repeats the texts.": "response.output_text",
            "Every message is the assistant's.": "role",
            "Needed only while the stream runs.": "sequence_number",
            "The order of the items.": "output_index",
            "The order of the texts of an item.": "content_index summary_index",
            "The order of the annotations of a text.": "annotation_index",
            "Padding.": "obfuscation",
            "The item has its id; Copilot changes it with every event.": "item_id",
            "The end of the item has the id that counts.": "response.output_item.added/item.id",
            "The end of the item has the last one.": "response.output_item.added/item.status",
            "It is not complete before the end of the item.": "response.output_item.added/item.encrypted_content"
            " response.output_item.added/item.fingerprint",
            "The error before it counts, where there is one.": "response.failed/response.error",
            "The item has the commands when it ends.": "shell_call_command",
            "The item has the whole image when it ends.": "partial_image_b64",
            "It repeats the request.": " ".join([f"response.{field}" for field in REPEATED]),
        }
    )
)
"""Fields that the decoder does not keep."""

ENDS: Final = names("completed incomplete failed cancelled")
"""Statuses of a response that has ended."""

UNFINISHED: Final = frozenset({"queued", "in_progress"})
"""Statuses of a response in progress."""

PartList: TypeAlias = Literal["content", "summary"]
"""The two arrays of an item that hold texts."""

INDEXES: Final[dict[PartList, str]] = {"content": "content_index", "summary": "summary_index"}
"""By array, the field of the index, in events and in state."""


class Text(NamedTuple):
    """A type of text parts."""

    item: str
    """Type of the item that has them."""

    where: PartList
    field: str
    """The field of the text, in the part and in the `done` event."""

    event: str
    """Name of the events about the text, without `response.` and what happens."""


TEXTS: Final[dict[str, Text]] = {
    "output_text": Text("message", "content", "text", "output_text"),
    "refusal": Text("message", "content", "refusal", "refusal"),
    "reasoning_text": Text("reasoning", "content", "text", "reasoning_text"),
    "summary_text": Text("reasoning", "summary", "text", "reasoning_summary_text"),
}
"""By type of a part."""

TEXT_EVENTS: Final = {text.event: kind for kind, text in TEXTS.items()} | dict.fromkeys(
    ("content_part", "reasoning_part", "reasoning_summary_part"), ""
)
"""By the name of an event about a text, its type; empty for events about a part, which has its own."""

WITH_TEXTS: Final = frozenset({text.item for text in TEXTS.values()})
"""Types of items that have texts."""


class Tool(NamedTuple):
    """How a call is written."""

    name: str
    """Name of the tool; empty where the item has a `name`."""

    form: Literal["json", "text", "fields"]
    """Whether the input is JSON text, free text in one field, or all the fields."""

    input: tuple[str, ...]
    """Fields of the input."""

    output: str = ""
    """Field of the result in the same item; empty when it has none."""

    answer: str = ""
    """Type of the item with the result, the app's or the provider's; empty when no item has it."""


TOOLS: Final[dict[str, Tool]] = {
    "function_call": Tool("", "json", ("arguments",), answer="function_call_output"),
    "custom_tool_call": Tool("", "text", ("input",), answer="custom_tool_call_output"),
    "computer_call": Tool(
        "computer", "fields", ("action", "actions", "pending_safety_checks"), answer="computer_call_output"
    ),
    "local_shell_call": Tool("local_shell", "fields", ("action",), answer="local_shell_call_output"),
    "shell_call": Tool("shell", "fields", ("action",), answer="shell_call_output"),
    "apply_patch_call": Tool("apply_patch", "fields", ("operation",), answer="apply_patch_call_output"),
    "tool_search_call": Tool("tool_search", "fields", ("arguments",), answer="tool_search_output"),
    "mcp_approval_request": Tool(
        "mcp_approval", "fields", ("server_label", "name", "arguments"), answer="mcp_approval_response"
    ),
    "program": Tool("program", "text", ("code",), answer="program_output"),
    "mcp_call": Tool("", "json", ("arguments",), "output"),
    "web_search_call": Tool("web_search", "fields", ("action", "arguments")),
    "file_search_call": Tool("file_search", "fields", ("queries",), "results"),
    "code_interpreter_call": Tool("code_interpreter", "text", ("code",), "outputs"),
    "image_generation_call": Tool("image_generation", "fields", ("revised_prompt",), "result"),
}
"""By type of an item that is a call."""

INPUT_EVENTS: Final = {
    f"{kind}_{TOOLS[kind].input[0]}": kind
    for kind in ("function_call", "custom_tool_call", "mcp_call", "code_interpreter_call")
}
"""By the name of events about the input of a call, the type of the call."""

ANSWERS: Final = by_word(
    {
        "output": "function_call_output custom_tool_call_output shell_call_output apply_patch_call_output"
        " computer_call_output",
        "tools": "tool_search_output",
        "result": "program_output",
    }
)
"""By type of an item with the result of a call, the field of the result."""

WITH_OUTPUT_ITEM: Final = frozenset({"shell_call", "tool_search_call", "program"})
"""Types of calls of which the provider sends the result as an item of its own, when it ran them."""

OF_APP: Final = names(
    "function_call custom_tool_call computer_call local_shell_call apply_patch_call mcp_approval_request"
)
"""Types of calls that the app runs, or answers. `is_hosted` knows the exceptions."""

WITHOUT_NEWS: Final = names(
    "mcp_list_tools compaction shell_call_command shell_call_output_content apply_patch_call_operation_diff keepalive "
    "steer rate_limits codex"
).union(TOOLS)
"""First words of events of which the item, when it is done, has all."""

RESERVED: Final = names("i id orphan item_id part").union(INDEXES.values())
"""Keys of state that no field of an item may take."""

OF_HELPERS: Final = names("parsed parsed_arguments")
"""Fields that the official client derives from others."""


def is_hosted(kind: str, item: Fields) -> bool:
    """Return whether the provider runs a call of this type."""
    match kind:
        case "custom_tool_call":
            # xAI's own searches come as custom calls, without a tool of the app (vercel/ai, fixture xai-x-search-tool).
            return (string(item, "call_id") or "").startswith("xs_call_")
        case "shell_call":
            return string(mapping(item, "environment"), "type") == "container_reference"
        case "tool_search_call":
            return string(item, "execution") != "client"
        case _:
            return kind not in OF_APP


def tool_error(item: Fields) -> ErrorInfo | None:
    """Return the error of a call of the provider; `None` when it succeeded."""
    error = item.get("error")
    if error is None and string(item, "status") != "failed":
        return None
    fields = mapping(item, "error")
    message = error if isinstance(error, str) else string(fields, "message")
    return ErrorInfo(kind=ErrorKind.TOOL, message=message or "the tool failed", code=string(fields, "code"))


def citations_of(annotations: Sequence[Fields], length: int) -> list[Citation]:
    """Return the sources among the annotations of a text of *length* code points. Paths of files are none."""
    found: list[Citation] = []
    for each in annotations:
        if string(each, "type") == "file_path":
            continue
        start, end = cited_place(each, length)
        title = string(each, "title") or string(each, "filename")
        found.append(Citation(url=string(each, "url"), title=title, start=start, end=end))
    return found


def annotation_of(citation: Citation) -> dict[str, Any]:
    """Return a citation as an annotation."""
    # Any: plain JSON.
    fields = {"url": citation.url or "", "title": citation.title or ""}
    return {"type": "url_citation", **fields, "start_index": citation.start or 0, "end_index": citation.end or 0}


def detect(document: Fields) -> bool:
    """Return whether *document*, the first frame of a stream or a whole answer, is of this wire."""
    kind = string(document, "type")
    if kind == "error":
        return "sequence_number" in document
    return string(document, "object") == "response" or (kind is not None and kind.startswith("response."))
