"""Steps as far as the first frames of their stream have come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assistant_events.adapters.gemini_interactions import vocabulary as words
from assistant_events.adapters.json_fields import Fields, mappings, string


def partial_step(frames: Iterable[Fields]) -> dict[str, Any]:
    """Return the step that the first frames of one step, from its start on, add up to."""
    step: dict[str, Any] = {}
    for frame in frames:
        if "step" in frame:
            step = {**frame["step"]}
        elif "delta" in frame:
            _grow(step, frame["delta"])
    return step


def _grow(step: dict[str, Any], delta: Fields) -> None:
    content: list[dict[str, Any]] = [dict(block) for block in mappings(step, "content")]
    match delta:
        case {"type": "text" | "text_annotation_delta"}:
            if not content or string(content[-1], "type") != "text":
                content.append({"type": "text", "text": ""})
            text = content[-1]["text"] + (string(delta, "text") or "")
            content[-1] |= {**delta, "type": "text", "text": text}
            step["content"] = content
        case {"type": "thought_summary", "content": item}:
            step["summary"] = [*mappings(step, "summary"), item]
        case {"type": "arguments_delta", "arguments": str(piece)}:
            step |= {**delta, "type": step["type"], "arguments": (string(step, "arguments") or "") + piece}
        case {"type": str(kind)} if kind in words.MEDIA:
            step["content"] = [*content, delta]
        case _:
            step |= {**delta, "type": step["type"]}
