"""
The vocabulary of the Interactions wire, and what its words mean here. Tables with a fallback for the word of tomorrow.

Types of steps and deltas: google-genai 3.4.0, 2.19.0 and 1.75.0, `_interactions/types` (seen 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import dropwhile
from types import MappingProxyType
from typing import Final

import attrs

from assistant_events.adapters import google_rpc
from assistant_events.adapters.errors import error_of
from assistant_events.adapters.json_fields import Fields, array, flag, integer, mapping, mappings, others, string
from assistant_events.adapters.tables import by_word, names, word_of
from assistant_events.adapters.usage import UsageTable
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason

MEDIA: Final = frozenset({"image", "audio", "document", "video"})

UNSEEN_IMAGES: Final = re.compile("image/(?!(?:png|jpeg|webp|heic|heif|gif|bmp|tiff)$)")
"""Images of other types than google-genai 3.6 lists: “Unsupported MIME type: image/svg+xml” (gemini-cli#3054)."""

CALLS: Final[dict[str, str | None]] = {
    "function_call": None,
    "mcp_server_tool_call": None,
    "code_execution_call": "code_execution",
    "url_context_call": "url_context",
    "google_search_call": "google_search",
    "google_maps_call": "google_maps",
    "file_search_call": "file_search",
    "retrieval_call": "retrieval",
    "processing_call": "processing",
    "tool_search_call": "tool_search",
}
"""
Steps that call a tool and the name of the tool; `None` where the step names it. All but `function_call` the provider
runs.
"""

_MEDIA_FIELDS: Final = frozenset({"type", "data", "mime_type", "uri"})

RESULTS: Final[frozenset[str]] = frozenset({call.removesuffix("_call") + "_result" for call in CALLS})

DETAILS: Final = ("search_type", "server_name", "retrieval_type")
"""Fields of calls and results that have their own names in the state."""

NO_ARGUMENTS: Final = frozenset({"file_search_call", "processing_call", "google_maps_call"})
"""Calls without arguments, or for which they are optional."""

SANDBOX_TOOLS: Final = frozenset({"list_files", "read_file", "write_file", "edit_file", "search_files"})
"""Function calls that an Antigravity sandbox answers itself (big-AGI, live, 2026-06)."""

_AGENTS: Final = ("antigravity", "code-mender", "deep-research")
"""Prefixes of the names of agents; all other names are models."""

_FOREGROUND_AGENTS: Final = "antigravity-preview-05"
"""
Prefix of agents that cannot run in the background: they refuse it, and forget the run seconds after its connection is
gone (big-AGI, live, 2026-05 and 2026-06).
"""

UNFINISHED: Final = frozenset({"in_progress", "queued"})

_ECHO: Final = (
    *("previous_interaction_id", "environment", "agent_config", "system_instruction", "tools", "tool_choice"),
    *("generation_config", "response_format", "response_mime_type", "response_modalities", "safety_settings", "labels"),
    *("webhook_config", "cached_content", "background", "store", "stream"),
)

DROPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "event_type": "It determines what the event becomes.",
        "event_id": "Needed only while the stream runs; the last is `decoder.last_event_id`.",
        "type": "It determines the class of the part.",
        "role": "Every answer is the model's.",
        "index": "See the [decision](../decisions/the-place-of-a-gemini-step.md).",
        "status": "The end of the step has its result.",
        "created": "The request has it, not the answer.",
        "updated": "The request has it, not the answer.",
        "service_tier": "The request has it, not the answer.",
        "interaction.input": "The echo of the prompt is in the transcript already.",
        **{f"interaction.{name}": "The interaction repeats it from the request." for name in _ECHO},
    }
)
"""Fields that the decoder does not keep."""

INTERACTION: Final = names(
    "id object model agent input steps outputs usage error errors code message environment_id continuation_token"
    " interaction interaction_id metadata finish_reason stop_reason output_text output_image output_audio output_video"
    " continuation_ids sdk_http_response"
).union(DROPPED, _ECHO)
"""Fields of an interaction, or of its event, that are read, or dropped, or made by an SDK. All others are details."""

_FINISH_REASONS: Final[dict[str, FinishReason]] = {
    "completed": FinishReason.STOP,
    "idle": FinishReason.STOP,  # "has completed all processing", in place of `requires_action` (google-genai 3.6)
    "requires_action": FinishReason.TOOL_CALLS,
    "incomplete": FinishReason.LENGTH,
    "budget_exceeded": FinishReason.LENGTH,
    "requires_continuation": FinishReason.PAUSE,
}
"""Finish reason by status. The first status of a reason is written for it."""

USAGE: Final = UsageTable(
    # `total_tokens` is input + output + thought + tool use, the cached tokens are part of the input (all recordings).
    # The second names are those of OGX, the third ones of Google's manual (2026-05).
    counts={
        "input_tokens": "total_input_tokens input_tokens prompt_tokens",
        "cache_read_tokens": "total_cached_tokens",
        "output_tokens": "total_output_tokens output_tokens completion_tokens",
        "reasoning_tokens": "total_thought_tokens",
    },
    apart={"input_tokens": ("total_tool_use_tokens",), "output_tokens": ("total_thought_tokens",)},
    total="total_tokens",
)

ERRORS: Final = attrs.evolve(
    google_rpc.ERRORS,
    # The words of the Interactions API, and google.rpc.Code (ai.google.dev/gemini-api/docs/api-errors, seen 2026-11).
    codes={
        "invalid_request": ErrorKind.INVALID_REQUEST,
        "too_many_requests": ErrorKind.RATE_LIMIT,
        **google_rpc.CODES,
        **by_word(
            {
                ErrorKind.INVALID_REQUEST: "not_implemented parameter_unknown out_of_range language",
                ErrorKind.RATE_LIMIT: "rate_limit_exceeded",
                ErrorKind.QUOTA: "quota_exceeded payment_required",
                ErrorKind.AUTH: "authentication",
                ErrorKind.NOT_FOUND: "model_not_found",
                ErrorKind.TIMEOUT: "gateway_timeout",
                ErrorKind.OVERLOADED: "overloaded service_unavailable",
                ErrorKind.CONTENT_FILTER: "content_blocked safety prohibited_content blocklist spii recitation "
                "image_safety image_prohibited_content image_recitation",
            }
        ),
    },
    # An overloaded model has been reported with the code `invalid_request` (2026-11).
    phrases={"experiencing high demand": ErrorKind.OVERLOADED, "api key": ErrorKind.AUTH},
)

OUTPUT_ERRORS: Final = attrs.evolve(
    ERRORS,
    # The error of a `model_output` is a google.rpc.Status: its integer is a gRPC code.
    numbers={
        1: ErrorKind.CANCELLED,
        3: ErrorKind.INVALID_REQUEST,
        4: ErrorKind.TIMEOUT,
        5: ErrorKind.NOT_FOUND,
        7: ErrorKind.AUTH,
        8: ErrorKind.RATE_LIMIT,
        9: ErrorKind.INVALID_REQUEST,
        11: ErrorKind.INVALID_REQUEST,
        12: ErrorKind.INVALID_REQUEST,
        14: ErrorKind.OVERLOADED,
        16: ErrorKind.AUTH,
    },
)

_DELTA_STEPS: Final[dict[str, str]] = {
    **dict.fromkeys(("text", *MEDIA, "text_annotation", "text_annotation_delta"), "model_output"),
    **dict.fromkeys(("thought_summary", "thought_signature", "thought"), "thought"),
    **dict.fromkeys(("arguments_delta", "arguments"), "function_call"),
}
"""Type of the step by that of a delta; any other, as those of calls and results, has the type of its step."""


SUMMARIES: Final = ("summary", "content", "text", "thought")
"""Fields that have brought a summary: of steps, of deltas, of an old mock server, and of Google's manual (2026)."""


def step_type(kind: str) -> str:
    """Return the 2.x type of a step or of a 1.x content block: text and media are blocks of their own in 1.x."""
    return "model_output" if kind == "text" or kind in MEDIA else kind


def is_known(kind: str) -> bool:
    """Return whether steps of this type are known."""
    return step_type(kind) in ("model_output", "thought", "user_input") or kind in CALLS or kind in RESULTS


def step_of_delta(kind: str) -> str:
    """Return the type of the step that a delta belongs to; the delta's own type when it is not known."""
    return _DELTA_STEPS.get(kind, kind)


def delta_type(delta: Fields) -> str | None:
    """
    Return the type of a delta. One in the manual has only `text`; live ones are `{}` now and then: those have none.
    """
    kind = string(delta, "type")
    if kind:
        return kind
    return "text" if string(delta, "text") is not None else None


def finish(status: str | None, *, pending: bool, content: bool) -> FinishReason:
    """Return why an interaction ended: by its status, calls of the app that are pending, and whether it has content."""
    if status in ("completed", "idle", "requires_action", None) and pending:
        return FinishReason.TOOL_CALLS
    if status is None:
        return FinishReason.STOP if content else FinishReason.OTHER
    return FinishReason.OTHER if status == "requires_action" else _FINISH_REASONS.get(status, FinishReason.OTHER)


def status_of(reason: FinishReason) -> str:
    """Return the status of a finish reason, for answers of other dialects."""
    return word_of(_FINISH_REASONS, reason, "incomplete")


def interaction_of(event: Fields) -> Fields:
    """
    Return the interaction of an event about it, with the error that is beside it.

    LiteLLM (2026-09) has its fields in the event.
    """
    interaction = mapping(event, "interaction") or event
    return interaction if interaction.get("error") else {**interaction, **others({"error": event.get("error")})}


def is_filtered(interaction: Fields) -> bool:
    """Return whether a filter has cut an incomplete interaction: CLIProxyAPI (2026-09) has that beside the status."""
    return "content_filter" in (interaction.get("finish_reason"), interaction.get("stop_reason"))


def resource_steps(resource: Fields) -> list[Fields]:
    """
    Return the generated steps; 1.x `outputs` are steps of one block each.

    What is before the last `user_input` is the input, with the answers of earlier turns (google-genai 3.4 takes it so
    for its `output_text`), and so are results behind it that come before all calls.
    """
    given = mappings(resource, "steps")
    echoes = [place for place, step in enumerate(given, 1) if string(step, "type") == "user_input"]
    fresh = given[max(echoes, default=0) :]
    return [*dropwhile(lambda step: string(step, "type") == "function_result", fresh)] or mappings(resource, "outputs")


def content_of(fields: Fields) -> list[Fields]:
    """Return the content blocks of a `model_output` step; a bare string is one text."""
    blocks = _items(fields.get("content"))
    text = others({key: fields.get(key) for key in ("text", "annotations")})
    return blocks if blocks or not text else [{"type": "text", **text}]


def annotations_of(fields: Fields) -> list[Fields]:
    """Return the annotations of a text, or of a delta that brings them."""
    return [others(annotation) for annotation in mappings(fields, "annotations")]


def summary_of(fields: Fields) -> list[Fields]:
    """Return the items of the summary of a thought, or of a delta of one; those that two fields name count once."""
    items: list[Fields] = []
    for key in SUMMARIES:
        if key in fields:
            found = [others(item) for item in _items(fields[key])]
            if found != items:
                items += found
    return items


def media_extra(block: Fields, data: bytes | None) -> dict[str, object]:
    """Return the fields of a media block that its part has no place for."""
    more: dict[str, object] = others(block, _MEDIA_FIELDS)
    if data is not None and "uri" in block:
        more["uri"] = block["uri"]
    return more


def is_special_item(item: Fields | str) -> bool:
    """Return whether an item of a summary holds more than its text; it may be its text alone."""
    if isinstance(item, str):
        return False
    return (string(item, "type") or "text") != "text" or bool(set(item) - {"type", "text"})


def _items(value: object) -> list[Fields]:
    """Return the objects of an array, or the one that it is; a bare string (previews of early 2026) is a text."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value else []
    if isinstance(value, dict):
        return [value] if value else []
    return [item for each in array({"all": value}, "all") for item in _items(each)]


def is_agent(name: str) -> bool:
    """Return whether a name is that of an agent."""
    return name.startswith(_AGENTS)


def runs_in_background(agent: str) -> bool:
    """Return whether an agent can run in the background."""
    return not agent.startswith(_FOREGROUND_AGENTS)


def is_resumable(request: Fields) -> bool:
    """Return whether a run continues without a connection and can be followed again: stored, and in the background."""
    return (
        flag(request, "background") is True
        and flag(request, "store") is not False
        and runs_in_background(string(request, "agent") or "")
    )


def detect(document: Fields) -> bool:
    """Return whether *document*, the first frame of a stream or a whole resource, is of this wire."""
    name = string(document, "event_type") or string(document, "type") or ""
    if name.startswith(("interaction.", "step.", "content.")) or string(document, "event_type") == "error":
        return True
    if string(document, "object") == "interaction" or _is_error(document):
        return True
    listed = document.get("steps", document.get("outputs"))
    return isinstance(listed, (list, tuple)) and string(document, "status") is not None


def _is_error(document: Fields) -> bool:
    """Return whether a document is an error alone with a code of this API; other APIs have other fields or codes."""
    error = mapping(document, "error")
    code = string(error, "code")
    return len(document) == 1 and code in ERRORS.codes and error.keys() <= {"code", "message", "details"}


CANCELLED: Final = ErrorInfo(kind=ErrorKind.CANCELLED, message="the interaction was cancelled")
FAILED: Final = ErrorInfo(kind=ErrorKind.PROVIDER, message="the interaction failed")
"""The errors of interactions that have ended so without an error of their own."""


def unfinished(status: str) -> ErrorInfo:
    """Return the error of a stream that has ended while its interaction had this status."""
    message = f"the stream ended while the interaction was {status}"
    return ErrorInfo(kind=ErrorKind.INTERRUPTED, message=message, retryable=True)


def stream_error(error: Fields) -> ErrorInfo | None:
    """Return the error of an `error` event; `None` when it has neither message nor code."""
    known = [string(error, key) for key in ("message", "code", "status")]
    if not any(known) and integer(error, "code") is None:
        return None
    return ERRORS.read(error)


def failure(interaction: Fields, output_error: Fields | None) -> ErrorInfo:
    """Return why an interaction of status `failed` failed: its own errors first, then the one of its output."""
    errors = mappings(interaction, "errors")
    if errors:
        return ERRORS.read(errors[0])
    own = error_of(interaction)
    if own:
        return ERRORS.read(own)
    if output_error:
        return OUTPUT_ERRORS.read(output_error)
    return FAILED
