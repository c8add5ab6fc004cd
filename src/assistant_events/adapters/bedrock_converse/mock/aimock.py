"""What aimock's handler of Converse does with a response (`@copilotkit/aimock` 1.43.0)."""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.bedrock_converse.mock.answers import Answer, AnswerEntry, reasoning_block
from assistant_events.adapters.bedrock_converse.mock.runs import Prepared
from assistant_events.mock.aimock import AimockApi, AimockResponse
from assistant_events.mock.answers import Item

_STOP_REASONS: Final = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
"""Other words are sent as they are."""


def _answer(response: AimockResponse) -> Answer:
    blocks: list[Item] = [reasoning_block(response.reasoning)] if response.reasoning else []
    blocks += response.items(AnswerEntry)
    word, usage = response.finishReason, response.usage
    return Answer(
        content=blocks,
        stop_reason=None if word is None else _STOP_REASONS.get(word, word),
        usage={
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "totalTokens": usage.input + usage.output,
        },
    )


FORM: Final = AimockApi(
    name="Converse", entry=AnswerEntry, answer=_answer, prepared=Prepared, delta="contentBlockDelta"
).form()
