"""What aimock's handler of Chat Completions does with a response (`@copilotkit/aimock` 1.43.0)."""

from __future__ import annotations

from typing import Any, Final

import attrs

from assistant_events.adapters.openai_chat.mock.answers import Answer, AnswerEntry
from assistant_events.adapters.openai_chat.mock.runs import Prepared
from assistant_events.mock.aimock import AimockApi, AimockResponse
from assistant_events.mock.answers import Item


@attrs.frozen(kw_only=True)
class _Read:
    """Fields of a response that this handler reads and others do not."""

    id: str | None = None
    systemFingerprint: str | None = None


def _answer(response: AimockResponse) -> Answer:
    own = response.read_own(_Read)
    parts: list[Item] = [{"reasoning_content": response.reasoning}] if response.reasoning else []
    parts += response.items(AnswerEntry)
    read, written, total = response.usage
    more: dict[str, Any] = {"model": response.model, "system_fingerprint": own.systemFingerprint}
    return Answer(
        id=own.id,
        message=parts,
        finish_reason=response.finishReason,
        # Without counts it estimates them, as this mock does.
        usage={"prompt_tokens": read, "completion_tokens": written, "total_tokens": total} if total else None,
        more={key: value for key, value in more.items() if value is not None},
    )


FORM: Final = AimockApi(
    name="Chat Completions", entry=AnswerEntry, answer=_answer, prepared=Prepared, delta="delta"
).form()
