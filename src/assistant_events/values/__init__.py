"""
The values that events and messages are made of: frozen JSON, text, content, usage, errors, origins.

Everything here is immutable, hashable, comparable, picklable and copyable.
"""

from assistant_events.values.content import Content, ContentInput, JsonContent, MediaContent, TextContent, as_content
from assistant_events.values.info import (
    CUT_KINDS,
    Citation,
    ErrorInfo,
    ErrorKind,
    FinishReason,
    Origin,
    RemoteRun,
    Usage,
)
from assistant_events.values.json_io import read_json, write_json
from assistant_events.values.json_values import MAX_DEPTH, JsonObject, JsonValue, State, freeze, own, thaw
from assistant_events.values.text import valid_text

__all__ = [
    "CUT_KINDS",
    "MAX_DEPTH",
    "Citation",
    "Content",
    "ContentInput",
    "ErrorInfo",
    "ErrorKind",
    "FinishReason",
    "JsonContent",
    "JsonObject",
    "JsonValue",
    "MediaContent",
    "Origin",
    "RemoteRun",
    "State",
    "TextContent",
    "Usage",
    "as_content",
    "freeze",
    "own",
    "read_json",
    "thaw",
    "valid_text",
    "write_json",
]
