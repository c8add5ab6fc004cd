"""What aimock's handler of Claude's messages does with a response (`@copilotkit/aimock` 1.43.0)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from assistant_events.adapters.anthropic_messages.mock.answers import Answer, AnswerEntry
from assistant_events.adapters.anthropic_messages.mock.runs import Prepared
from assistant_events.mock.aimock import AimockApi, AimockResponse
from assistant_events.mock.answers import Item, read_texts

_STOP_REASONS: Final = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
"""Other words are sent as they are."""


@attrs.frozen(kw_only=True)
class _Read:
    """Fields of a response that this handler reads and others do not."""

    id: str | None = None
    reasoningSignature: str | None = None
    redactedThinking: Annotated[tuple[str, ...], read_texts] = ()


def _answer(response: AimockResponse) -> Answer:
    # A signature that a file does not have is made here: aimock sends the same placeholder for all.
    own = response.read_own(_Read)
    signature = {} if own.reasoningSignature is None else {"signature": own.reasoningSignature}
    blocks: list[Item] = [{"type": "redacted_thinking", "data": data} for data in own.redactedThinking]
    blocks += [{"type": "thinking", "thinking": response.reasoning, **signature}] if response.reasoning else []
    blocks += response.items(AnswerEntry)
    word = response.finishReason
    return Answer(
        id=own.id,
        content=blocks,
        stop_reason=None if word is None else _STOP_REASONS.get(word, word),
        usage={"input_tokens": response.usage.input, "output_tokens": response.usage.output},
        more={} if response.model is None else {"model": response.model},
    )


FORM: Final = AimockApi(
    name="Messages", entry=AnswerEntry, answer=_answer, prepared=Prepared, delta="content_block_delta"
).form()
