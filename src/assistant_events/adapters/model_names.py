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

ALTERNATES: Final = re.compile(f"{MISTRAL.pattern}|(?i:gemma|deepseek-(?:r1|reasoner))")
"""
They refuse two prompts in a row: “conversation roles must alternate user/assistant/user/assistant/...” (at vLLM and
Docker: vllm#6862, charmbracelet/crush#279, google/adk-python#1373), “does not support successive user or assistant
messages” (DeepSeek-R1#21).
"""

_SIGNS_CALLS: Final = re.compile(r"gemini-(?:[3-9]|\d\d)")

_THINKS: Final = re.compile(r"deepseek-(v[4-9]|reasoner|flash)|kimi-(k2\.|k[3-9]|.*thinking)|mimo-v(2\.|[3-9])")
"""Models that think unless a request switches it off (litellm#30233, webbrain#143, continue#9606, 9router#1210)."""


def signs_calls(provider: str, model: str) -> bool:
    """
    Return whether a model of Google refuses calls without its signature in Chat Completions.

    “Function call is missing a thought_signature in functionCall parts”: of Google (securo#884), and of OpenRouter,
    where the signature is in details of a reasoning (LibreChat-AI/agents#37, cline#8850).
    """
    return provider in ("google", "vertex", "openrouter") and _SIGNS_CALLS.search(model) is not None


def thinks(body: Fields) -> bool:
    """Return whether the model of a request thinks, and wants its thoughts back."""
    mode = string(mapping(body, "thinking"), "type")
    return mode != "disabled" if mode else _THINKS.match(string(body, "model") or "") is not None
