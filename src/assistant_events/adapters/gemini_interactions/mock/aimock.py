"""What aimock's handler of Interactions does with a response (`@copilotkit/aimock` 1.43.0)."""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.gemini_interactions.mock.answers import Answer, AnswerEntry, completed_step, thought_step
from assistant_events.adapters.gemini_interactions.mock.frames import Prepared
from assistant_events.adapters.gemini_interactions.mock.request_facts import Match
from assistant_events.mock.aimock import AimockApi, AimockResponse, word_of

_STATUSES: Final = {"stop": None, "tool_calls": None, "length": "incomplete"}


def _answer(response: AimockResponse) -> Answer:
    steps = [thought_step(response.reasoning)] if response.reasoning else []
    is_text_first = response.content is not None and not response.blocks
    numbered = enumerate(response.items(AnswerEntry), 0 if is_text_first else 1)
    steps += [completed_step(step, number) for number, step in numbered]
    usage = response.usage
    return Answer(
        steps=steps,
        status=word_of(response.finishReason, _STATUSES, "Interactions"),
        usage={
            "total_input_tokens": usage.input,
            "total_output_tokens": usage.output,
            "total_tokens": usage.total,
        },
        more={} if response.model is None else {"model": response.model},
    )


FORM: Final = AimockApi(
    name="Interactions", match=Match, entry=AnswerEntry, answer=_answer, prepared=Prepared, delta="step.delta"
).form()
