"""What a mock provider answers that was given no fixtures: something of everything, in the form of a file."""

from __future__ import annotations

from typing import Any, Final

# Any: plain JSON.
DEMO: Final[dict[str, Any]] = {
    "version": 1,
    "description": "A greeting, a tool that is to be run, a researcher that takes its time, an answer to all else.",
    "fixtures": [
        {
            "name": "greeting",
            "match": {"user_text": {"matches": r"(?i)\b(hello|hi)\b"}},
            "answer": {"thought": "A greeting. I greet back.", "text": "Hello from the mock provider."},
        },
        {
            "name": "weather",
            "match": {"user_text": {"matches": r"(?i)\bweather\b"}, "tool": "get_weather"},
            "answer": {"calls": [{"id": "call_weather", "name": "get_weather", "arguments": {"city": "Oslo"}}]},
        },
        {
            "name": "weather is known",
            "match": {"call_id": "call_weather"},
            "answer": {"text": "I have looked it up for you: your tool has told me what the weather is like in Oslo."},
        },
        {
            "name": "research",
            "match": {"agent": {"contains": "deep-research"}},
            "answer": {
                "steps": [
                    {
                        "type": "thought",
                        "summary": [{"type": "text", "text": "First I look for what others have found out."}],
                    },
                    {
                        "type": "google_search_call",
                        "id": "search_1",
                        "arguments": {"queries": ["mock providers"]},
                    },
                    {
                        "type": "google_search_result",
                        "call_id": "search_1",
                        "result": [{"search_suggestions": "<div>mock providers</div>"}],
                    },
                    {
                        "type": "model_output",
                        "content": [
                            {
                                "type": "text",
                                "text": "# Mock providers\n\nThey say what they were told to say, and they never tire.",
                            }
                        ],
                    },
                ],
                "timing": {"between_s": 0.1},
                "polls_in_progress": 2,
            },
        },
        {
            "name": "anything else",
            "match": {},
            "answer": {
                "text": "I am a mock provider without fixtures of yours. Start me with --fixtures FILE, and I say what "
                "the file says."
            },
        },
    ],
}
