"""What the platforms of Claude have in common: signatures that are valid on all of them, and what they refuse."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import attrs

from assistant_events import messages as msg
from assistant_events.adapters.items import block_kind, items_of
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


def last_thoughts(
    messages: Sequence[msg.Message], message: msg.AssistantMessage, sent: Sequence[tuple[int, msg.Part]]
) -> dict[int, str]:
    """
    Return the places of the thoughts with which an answer ends, and why they are left out.

    Args:
        messages: The conversation: an answer that was paused may end so, if another follows or nothing does.

        message: The answer.

        sent: Its parts that have a block in the request, with their places.
    """
    ending: list[object] = []
    for item in items_of(attrs.evolve(message, parts=tuple([part for _, part in sent])), "i", block_kind, "result"):
        if item.kind == "reasoning":
            ending += item.parts
        elif item.kind != "text" or any(part.text for part in item.parts):
            ending = []
    if ending and message.finish_reason is FinishReason.PAUSE:
        at = [each.id for each in messages].index(message.id)
        ending = ending if any(isinstance(each, msg.UserMessage) for each in messages[at + 1 : at + 2]) else []
    return {place: ENDS_WITH_THOUGHT for place, part in sent if any(part is each for each in ending)}


__all__ = ["ENDS_WITH_THOUGHT", "PLATFORMS", "last_thoughts"]
