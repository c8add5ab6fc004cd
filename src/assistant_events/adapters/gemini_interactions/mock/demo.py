"""Fixtures of a mock provider that has no others, as the document of a file."""

from __future__ import annotations

from typing import Any, Final

from assistant_events.adapters.gemini_interactions.mock.answers import text_step, thought_step
from assistant_events.mock import demo

_GREETING, *_, _ANYTHING_ELSE = demo.DEMO["fixtures"]

DEMO: Final[dict[str, Any]] = {
    "version": 1,
    "description": "A greeting, a call of a tool, a slow research agent, and an answer to all other requests.",
    "fixtures": [
        _GREETING,
        {
            "name": "weather",
            "match": {"user_text": {"matches": r"(?i)\bweather\b"}, "tool": "get_weather"},
            "answer": {"calls": [{"id": "call_weather", "name": "get_weather", "arguments": {"city": "Oslo"}}]},
        },
        {
            "name": "weather is known",
            "match": {"call_id": "call_weather"},
            "answer": {"text": "I have looked it up: your tool has returned the weather in Oslo."},
        },
        {
            "name": "research",
            "match": {"agent": {"contains": "deep-research"}},
            "answer": {
                "steps": [
                    thought_step("First I look for what others have found out."),
                    {"type": "google_search_call", "id": "search_1", "arguments": {"queries": ["mock providers"]}},
                    {
                        "type": "google_search_result",
                        "call_id": "search_1",
                        "result": [{"search_suggestions": "<div>mock providers</div>"}],
                    },
                    text_step("# Mock providers\n\nThey repeat their fixtures, and they never tire."),
                ],
                "timing": {"between_s": 0.1},
                "polls_in_progress": 2,
            },
        },
        _ANYTHING_ELSE,
    ],
}
