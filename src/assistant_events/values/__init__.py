"""
The values that events and messages are made of: frozen JSON, text, content, usage, errors, origins.

Everything here is immutable, hashable, comparable, picklable and copyable.
"""

from assistant_events.values.content import (
    Content,
    ContentInput,
    JsonContent,
    MediaContent,
    TextContent,
    as_content,
)
from assistant_events.values.facts import (
    CUT_KINDS,
    Citation,
    ErrorInfo,
    ErrorKind,
    Finish,
    Origin,
    Run,
    Usage,
)
from assistant_events.values.frozen import (
    MAX_DEPTH,
    JsonObject,
    JsonValue,
    State,
    freeze,
    own,
    thaw,
)
from assistant_events.values.reading import read_json, write_json
from assistant_events.values.unicode import valid_text

__all__ = [
    "CUT_KINDS",
    "MAX_DEPTH",
    "Citation",
    "Content",
    "ContentInput",
    "ErrorInfo",
    "ErrorKind",
    "Finish",
    "JsonContent",
    "JsonObject",
    "JsonValue",
    "MediaContent",
    "Origin",
    "Run",
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
