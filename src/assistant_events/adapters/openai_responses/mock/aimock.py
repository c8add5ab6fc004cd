"""What aimock's handler of Responses does with a response (`@copilotkit/aimock` 1.43.0)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from assistant_events.adapters.openai_responses.mock.answers import Answer, AnswerEntry, reasoning_item
from assistant_events.adapters.openai_responses.mock.request_facts import Match
from assistant_events.adapters.openai_responses.mock.runs import Prepared
from assistant_events.mock.aimock import AimockApi, AimockResponse
from assistant_events.mock.answers import Item, read_texts

_STATUSES: Final = {"stop": "completed", "tool_calls": "completed", "length": "incomplete", "content_filter": "failed"}
"""Other words are sent as they are."""


@attrs.frozen(kw_only=True)
class _Read:
    """Fields of a response that this handler reads and others do not."""

    id: str | None = None
    webSearches: Annotated[tuple[str, ...], read_texts] = ()


def _answer(response: AimockResponse) -> Answer:
    own = response.read_own(_Read)
    output: list[Item] = [reasoning_item(response.reasoning)] if response.reasoning else []
    for query in own.webSearches:
        action = {"type": "search", "query": query}
        output.append({"type": "web_search_call", "status": "completed", "action": action})
    output += response.items(AnswerEntry)
    usage, word = response.usage, response.finishReason
    return Answer(
        id=own.id,
        output=output,
        status=None if word is None else _STATUSES.get(word, word),
        usage={"input_tokens": usage.input, "output_tokens": usage.output, "total_tokens": usage.total},
        more={} if response.model is None else {"model": response.model},
    )


FORM: Final = AimockApi(
    name="Responses", match=Match, entry=AnswerEntry, answer=_answer, prepared=Prepared, delta=".delta"
).form()
