"""What aimock's handler of generateContent does with a response (`@copilotkit/aimock` 1.43.0)."""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.gemini_generate_content.mock.answers import Answer, AnswerEntry
from assistant_events.adapters.gemini_generate_content.mock.runs import Prepared
from assistant_events.mock.aimock import AimockApi, AimockResponse
from assistant_events.mock.answers import Item

_REASONS: Final = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
"""For calls aimock sends `FUNCTION_CALL`, which the service does not have: clients run no tools then."""


def _answer(response: AimockResponse) -> Answer:
    parts: list[Item] = [{"text": response.reasoning, "thought": True}] if response.reasoning else []
    for part in response.items(AnswerEntry):
        call = part.get("functionCall")
        parts.append(part if call is None else {"functionCall": {"id": None, **call}})
    given = response.finishReason
    read, written, total = response.usage
    return Answer(
        parts=parts,
        finish_reason=_REASONS.get(given, given) if given else "STOP",
        usage={"promptTokenCount": read, "candidatesTokenCount": written, "totalTokenCount": total},
    )


FORM: Final = AimockApi(
    name="generateContent", entry=AnswerEntry, answer=_answer, prepared=Prepared, delta="part"
).form()
