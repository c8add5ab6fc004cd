"""What is known of models by their names, behind any server."""

from __future__ import annotations

import re
from typing import Final

from assistant_events.adapters.json_fields import Fields, mapping, string

CLAUDE: Final = re.compile("(?i)claude")
"""They refuse ids: “tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'” (also opencode, `transform.ts`)."""

MISTRAL: Final = re.compile("(?i)(?:mi|mini|magi|dev|code|math)stral|(?:mi|pi|vo)xtral")
"""
They refuse “role 'user' after role 'tool'” also at NIM, vLLM and Venice (NousResearch/hermes-agent#20154,
browser-use#2059, agent-zero#728), and ids that do not have nine letters and digits (opencode, `transform.ts`).
"""

_THINKS: Final = re.compile(r"deepseek-(v[4-9]|reasoner|flash)|kimi-(k2\.|k[3-9]|.*thinking)|mimo-v(2\.|[3-9])")
"""Models that think unless a request switches it off (litellm#30233, webbrain#143, continue#9606, 9router#1210)."""


def thinks(body: Fields) -> bool:
    """Return whether the model of a request thinks, and wants its thoughts back."""
    mode = string(mapping(body, "thinking"), "type")
    return mode != "disabled" if mode else _THINKS.match(string(body, "model") or "") is not None


__all__ = ["CLAUDE", "MISTRAL", "thinks"]
