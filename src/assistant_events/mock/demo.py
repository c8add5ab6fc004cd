"""Fixtures of a mock provider that has no others, as the document of a file that is the same for several dialects."""

from __future__ import annotations

from typing import Any, Final

DEMO: Final[dict[str, Any]] = {
    "version": 1,
    "description": "A greeting, a call of a tool, and an answer to all other requests.",
    "fixtures": [
        {
            "name": "greeting",
            "match": {"user_text": {"matches": r"(?i)\b(hello|hi)\b"}},
            "answer": {"thought": "A greeting. I greet back.", "text": "Hello from the mock provider."},
        },
        {
            "name": "weather",
            "match": {"user_text": {"matches": r"(?i)\bweather\b"}, "tool": "get_weather", "has_result": False},
            "answer": {"calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]},
        },
        {
            "name": "weather is known",
            "match": {"tool": "get_weather", "has_result": True},
            "answer": {"text": "I have looked it up: your tool has returned the weather in Oslo."},
        },
        {
            "name": "anything else",
            "match": {},
            "answer": {"text": "I am a mock provider without fixtures of yours. Start me with --fixtures FILE."},
        },
    ],
}
