"""
The vocabulary of the Interactions wire, and what its words mean here. Tables with a fallback for the word of tomorrow.

Types of steps and deltas: google-genai 3.4.0, 2.19.0 and 1.75.0, `_interactions/types` (seen 2026-11).
"""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.json_fields import Fields, array, count, flag, integer, mapping, mappings, said, string
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, Usage
from assistant_events.values.info import kind_of_status

MEDIA: Final = frozenset({"image", "audio", "document", "video"})

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

_FINISH: Final[dict[str | None, FinishReason]] = {
    "incomplete": FinishReason.LENGTH,
    "budget_exceeded": FinishReason.LENGTH,
    "requires_continuation": FinishReason.PAUSE,
}

_KINDS_BY_CODE: Final[dict[str, ErrorKind]] = {
    # google.rpc.Code, and the words of the Interactions API.
    "invalid_request": ErrorKind.INVALID_REQUEST,
    "invalid_argument": ErrorKind.INVALID_REQUEST,
    "failed_precondition": ErrorKind.INVALID_REQUEST,
    "not_implemented": ErrorKind.INVALID_REQUEST,
    "unimplemented": ErrorKind.INVALID_REQUEST,
    "unauthenticated": ErrorKind.AUTH,
    "permission_denied": ErrorKind.AUTH,
    "not_found": ErrorKind.NOT_FOUND,
    "resource_exhausted": ErrorKind.RATE_LIMIT,
    "too_many_requests": ErrorKind.RATE_LIMIT,
    "rate_limit_exceeded": ErrorKind.RATE_LIMIT,
    "quota_exceeded": ErrorKind.QUOTA,
    "cancelled": ErrorKind.CANCELLED,
    "deadline_exceeded": ErrorKind.TIMEOUT,
    "gateway_timeout": ErrorKind.TIMEOUT,
    "unavailable": ErrorKind.OVERLOADED,
    "overloaded": ErrorKind.OVERLOADED,
}

_GRPC: Final[dict[int, ErrorKind]] = {
    # `model_output.error` is a google.rpc.Status: its integer is a gRPC code, not an HTTP status.
    1: ErrorKind.CANCELLED,
    3: ErrorKind.INVALID_REQUEST,
    4: ErrorKind.TIMEOUT,
    5: ErrorKind.NOT_FOUND,
    7: ErrorKind.AUTH,
    8: ErrorKind.RATE_LIMIT,
    14: ErrorKind.OVERLOADED,
    16: ErrorKind.AUTH,
}

_HIGH_DEMAND: Final = "experiencing high demand"
"""Words of the message when a model is overloaded; they have come with the code `invalid_request` (2026-11)."""

_NO_CODE: Final = 1 << 31
"""Numbers from here on are no codes of anything; Python does not even write them down when they are long enough."""

_RETRYABLE: Final = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.TIMEOUT})

# Longest first: `function_call` in 1.x is a delta too, and every X_call and X_result delta belongs to the step of its
# name.
_DELTA_STEPS: Final[dict[str, str]] = {
    "text": "model_output",
    "image": "model_output",
    "audio": "model_output",
    "document": "model_output",
    "video": "model_output",
    "text_annotation": "model_output",
    "text_annotation_delta": "model_output",
    "thought_summary": "thought",
    "thought_signature": "thought",
    "thought": "thought",
    "arguments_delta": "function_call",
    "arguments": "function_call",
}


SUMMARIES: Final = ("summary", "content", "text", "thought")
"""Fields that have brought a summary: of steps, of deltas, of an old mock server, and of Google's manual (2026)."""


def step_type(kind: str) -> str:
    """Return the 2.x type of a step or of a 1.x content block: text and media are blocks of their own in 1.x."""
    return "model_output" if kind == "text" or kind in MEDIA else kind


def is_known(kind: str) -> bool:
    """Tell whether steps of this type have a meaning here."""
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
    """
    Return why an interaction of this status ended.

    Args:
        status: The status of the terminal event; `None` when it had none.

        pending: Whether the app owes an answer to a call.

        content: Whether anything was generated.
    """
    if status in _FINISH:
        return _FINISH[status]
    if status in ("completed", "requires_action", None) and pending:
        return FinishReason.TOOL_CALLS
    if status == "completed" or (status is None and content):
        return FinishReason.STOP
    return FinishReason.OTHER


def usage(raw: Fields) -> Usage:
    """
    Return counts that do not overlap; what the provider does not say is unknown.

    `total_tokens` is input + output + thought + tool use, the cached ones are a part of the input (holds in all
    recordings).
    """
    total_input, cached, tools = (
        count(raw, "total_input_tokens"),
        count(raw, "total_cached_tokens"),
        count(raw, "total_tool_use_tokens"),
    )
    fresh = None if total_input is None else max(total_input - (cached or 0), 0) + (tools or 0)
    return Usage(
        input_tokens=fresh,
        cache_read_tokens=cached,
        output_tokens=count(raw, "total_output_tokens"),
        reasoning_tokens=count(raw, "total_thought_tokens"),
        details=said(raw),
    )


def resource_steps(resource: Fields) -> list[Fields]:
    """Return the generated steps, without the echo of the input; 1.x `outputs` are steps of one block each."""
    steps = [step for step in mappings(resource, "steps") if string(step, "type") != "user_input"]
    return steps or mappings(resource, "outputs")


def content_of(fields: Fields) -> list[Fields]:
    """Return the content blocks of a `model_output` step; a bare string is one text."""
    blocks = _items(fields.get("content"))
    text = said({key: fields.get(key) for key in ("text", "annotations")})
    return blocks if blocks or not text else [{"type": "text", **text}]


def annotations_of(fields: Fields) -> list[Fields]:
    """Return the annotations of a text, or of a delta that brings them."""
    return [said(annotation) for annotation in mappings(fields, "annotations")]


def summary_of(fields: Fields) -> list[Fields]:
    """Return the items of the summary of a thought, or of a delta of one; those that two fields name count once."""
    items: list[Fields] = []
    for key in SUMMARIES:
        if key in fields:
            found = [said(item) for item in _items(fields[key])]
            if found != items:
                items += found
    return items


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


def error_info(error: Fields, *, status: int | None = None, grpc: bool = False) -> ErrorInfo:
    """Return what an error document says. `code` may be a word, an HTTP status, or (in a step) a gRPC code."""
    number = integer(error, "code")
    if number is not None and abs(number) >= _NO_CODE:
        number = None
    word = string(error, "status") or string(error, "code") or ""
    kind = _KINDS_BY_CODE.get(word.lower())
    http = status if status is not None else (number if number is not None and not grpc and number >= 100 else None)
    if kind is None and grpc and number is not None:
        kind = _GRPC.get(number)
    if kind is None and http is not None:
        kind = kind_of_status(http)
    kind = kind or ErrorKind.PROVIDER
    message = string(error, "message")
    if kind == ErrorKind.INVALID_REQUEST and message is not None and _HIGH_DEMAND in message:
        kind = ErrorKind.OVERLOADED
    code = string(error, "code") or string(error, "status") or (None if number is None else str(number))
    return ErrorInfo(
        kind=kind,
        message=message or code or "the provider reported an error",
        code=code,
        status=http if http is not None and 100 <= http < 600 else None,
        retryable=True if kind in _RETRYABLE else None,
    )


def is_error(document: Fields) -> bool:
    """Tell whether a document is an error alone in the words of this API; others have other fields, or other codes."""
    error = mapping(document, "error")
    code = string(error, "code")
    return len(document) == 1 and code in _KINDS_BY_CODE and error.keys() <= {"code", "message", "details"}


def error_of(document: Fields) -> Fields:
    """Return the error of a document or an event: its fields, or its text."""
    message = string(document, "error")
    return mapping(document, "error") if message is None else {"message": message}


def stream_error(error: Fields) -> ErrorInfo | None:
    """Return what an `error` event says; `None` when it says nothing."""
    if not string(error, "message") and not string(error, "code") and integer(error, "code") is None:
        return None
    return error_info(error)


def failure(interaction: Fields, output_error: Fields | None) -> ErrorInfo:
    """Return why an interaction of status `failed` failed: its own errors first, then the one of its output."""
    errors = mappings(interaction, "errors")
    if errors:
        return error_info(errors[0])
    own = error_of(interaction)
    if own:
        return error_info(own)
    if output_error:
        return error_info(output_error, grpc=True)
    return ErrorInfo(kind=ErrorKind.PROVIDER, message="the interaction failed")
