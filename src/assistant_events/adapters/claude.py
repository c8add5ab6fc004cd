"""What the platforms of Claude have in common: signatures that are valid on all of them, and what they refuse."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant_events import messages as msg
from assistant_events.history import Platforms
from assistant_events.values import FinishReason

PLATFORMS: Final = Platforms(
    origins=frozenset(
        {
            ("anthropic", "anthropic-messages"),
            ("bedrock", "anthropic-messages"),
            ("vertex", "anthropic-messages"),
            ("bedrock", "bedrock-converse"),
        }
    ),
    keys=frozenset({"signature", "data"}),
    affixes=re.compile(
        r"^(?:arn:[^/]*/)?(?:[a-z-]+\.)?anthropic\.|^(?:.*/)?publishers/anthropic/models/"
        r"|-v\d+(?::\d+)?$|[@-]\d{8}(?=-v\d|$)"
    ),
)
"""
Anthropic's own, Bedrock in both dialects, and Vertex: a signature of one is valid on the others (Claude documentation,
extended thinking, 2026-10).

Names of one model: `claude-sonnet-4-5-20250929`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, alone or in the ARN of
an inference profile, `claude-sonnet-4-5@20250929`, alone or behind `publishers/anthropic/models/`.
"""

ENDS_WITH_THOUGHT: Final = "Claude refuses an answer that ends with a thought."
"""“The final block in an assistant message cannot be `thinking`” (forgecode#2107, hermes-agent#16921)."""


def last_thoughts(message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]) -> dict[int, str]:
    """Return the places of the thoughts with which an answer ends, and why they are left out; none after a pause."""
    first: dict[object, int] = {}
    starts: dict[int, int] = {}  # the parts of a block have one number, and its place is that of the first
    for place, part in parts:
        starts[place] = first.setdefault(part.state.get("i", (place,)), place)
    ending: dict[int, str] = {}
    for place, part in sorted(parts, key=lambda each: starts[each[0]]):
        if isinstance(part, msg.ReasoningPart):
            ending[place] = ENDS_WITH_THOUGHT
        elif not isinstance(part, msg.TextPart) or part.text:
            ending.clear()
    return {} if message.finish_reason is FinishReason.PAUSE else ending


__all__ = ["ENDS_WITH_THOUGHT", "PLATFORMS", "last_thoughts"]
