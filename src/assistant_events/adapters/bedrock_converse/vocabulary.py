"""
The vocabulary of the Converse wire, and what its words mean here. Tables with a fallback for the word of tomorrow.

Types of events, blocks and exceptions: the model of bedrock-runtime in botocore 1.44.5 (seen 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from assistant_events.adapters.aws import error_in
from assistant_events.adapters.json_fields import Fields, mapping, mappings, string
from assistant_events.adapters.media_urls import DOCUMENTS
from assistant_events.adapters.tables import by_word
from assistant_events.adapters.usage import UsageTable
from assistant_events.values import Citation, ErrorInfo, ErrorKind, FinishReason

FINISH_REASONS: Final = by_word(
    {
        FinishReason.STOP: "end_turn stop_sequence",
        FinishReason.TOOL_CALLS: "tool_use",
        FinishReason.LENGTH: "max_tokens model_context_window_exceeded",
        FinishReason.CONTENT_FILTER: "content_filtered guardrail_intervened",
    }
)
"""Finish reason by stop reason. The first stop reason of a reason is written for it."""

MALFORMED: Final[dict[str, str]] = {
    "malformed_model_output": "the model's output is malformed",
    "malformed_tool_use": "the model's call of a tool is malformed",
}
"""Stop reasons that are errors, with their messages."""

_READ, _WRITTEN = [f"cache{each}InputTokens cache{each}InputTokenCount" for each in ("Read", "Write")]

USAGE: Final = UsageTable(
    # The second names are those of Nova behind `InvokeModel`.
    counts={
        "input_tokens": "inputTokens",
        "output_tokens": "outputTokens",
        "cache_read_tokens": _READ,
        "cache_write_tokens": _WRITTEN,
    },
    # The documentation of prompt caching: the whole input is the sum of the three.
    apart={"input_tokens": (_READ, _WRITTEN)},
    total="totalTokens",
)

_OF_BLOCKS: Final = [f"contentBlock{each}" for each in ("Start", "Delta", "Stop")]
EVENTS: Final = ("messageStart", *_OF_BLOCKS, "messageStop", "metadata")
"""Keys of the events of a stream."""

BLOCKS: Final = ("text", "citationsContent", "reasoningContent", "toolUse", "toolResult", "image")
"""Keys of the blocks of an answer that events have words for."""

UNKNOWN_MEMBER: Final = "SDK_UNKNOWN_MEMBER"
"""Key of boto3 for a member of a union that it does not know, of which it gives the name alone (botocore 1.44.5)."""

OWN_FIELDS: Final = frozenset({"toolUseId", "name", "input", "content"})
"""Fields of calls and results that events have words for. All others are their state, under their own names."""

CALL_TYPES: Final = frozenset({"tool_use", "server_tool_use"})
"""Types of calls. The type is not state: a call of the app has one in answers of Claude, and none in requests."""

RESERVED: Final = frozenset({"i", "id", "orphan", "deltas"})
"""Keys of state that are not fields of a block."""

MEDIA: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        **{f"image/{each}": ("image", each) for each in ("png", "jpeg", "gif", "webp")},
        **{f"video/{each}": ("video", each) for each in ("mp4", "webm", "mpeg")},
        "video/quicktime": ("video", "mov"),
        "video/x-matroska": ("video", "mkv"),
        "video/x-flv": ("video", "flv"),
        "video/x-ms-wmv": ("video", "wmv"),
        "video/3gpp": ("video", "three_gp"),
        **{f"audio/{each}": ("audio", each) for each in ("aac", "flac", "mp4", "ogg", "opus", "wav", "webm")},
        "audio/mpeg": ("audio", "mp3"),
        **{kind: ("document", each) for kind, each in DOCUMENTS.items()},
    }
)
"""Kind and format of the block of a media type."""


def citation_of(fields: Fields) -> Citation:
    """Return the source of a cited text. It supports the whole text; places in documents are in the state."""
    quoted = [string(each, "text") or "" for each in mappings(fields, "sourceContent")]
    location = mapping(fields, "location")
    source = string(fields, "source") if "searchResultLocation" in location else None
    return Citation(
        url=string(mapping(location, "web"), "url") or source,
        title=string(fields, "title"),
        cited_text="".join(quoted) or None,
    )


def result_error(fields: Fields, text: str) -> ErrorInfo | None:
    """Return the error of a result of a tool of the provider, whose first text is *text*; `None` when it succeeded."""
    if string(fields, "status") != "error":
        return None
    return ErrorInfo(kind=ErrorKind.TOOL, message=text or "the tool reported an error")


DROPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "p": "Padding without a meaning.",
        "toolUse.type": "It determines who runs the tool.",
        "role": "Every answer is the assistant's.",
        "contentBlockIndex": "The order of the parts.",
        "image.format": "It is the media type of the part.",
        "amazon-bedrock-invocationMetrics": "Its counts repeat those of the usage.",
        "ResponseMetadata": "Headers of the response; `details.requestId` has its id.",
        "note:second-result": "Of several results of one call the first counts.",
    }
)
"""Fields that the decoder does not keep."""


def detect(document: Fields) -> bool:
    """Return whether *document*, an event of a stream or a whole answer, is of this wire."""
    if any(isinstance(document.get(key), dict) for key in EVENTS if key != "metadata"):
        return True
    if error_in(document) is not None and "error" not in document:
        return True
    return "stopReason" in document and bool(mapping(document, "output"))
