"""Tells a document of this wire from those of others."""

from __future__ import annotations

from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.adapters.json_fields import Fields, string

_PREFIXES = ("interaction.", "step.", "content.")


def detect(document: Fields) -> bool:
    """Tell whether *document*, the first frame of a stream or a whole resource, is of this wire."""
    name = string(document, "event_type") or string(document, "type") or ""
    if name.startswith(_PREFIXES) or string(document, "event_type") == "error":
        return True
    if string(document, "object") == "interaction" or vocabulary.is_error(document):
        return True
    listed = document.get("steps", document.get("outputs"))
    return isinstance(listed, (list, tuple)) and string(document, "status") is not None
