"""The platforms of Claude, whose models read each other's signatures."""

from __future__ import annotations

import re
from typing import Final

from assistant_events.history import Platforms

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

__all__ = ["PLATFORMS"]
