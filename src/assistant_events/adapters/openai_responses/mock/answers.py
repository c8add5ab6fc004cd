"""
Answers of the mock in the words of the Responses wire.

A fixture file has their content in items, in events of this library, or in short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, final

import attrs

from assistant_events.adapters.openai_responses import emit_resource
from assistant_events.adapters.openai_responses.vocabulary import ENDS, TOOLS
from assistant_events.messages import AssistantMessage
from assistant_events.mock import answers, fixtures
from assistant_events.mock.answers import CallName, Item
from assistant_events.values import JsonObject, write_json

# openai 3.54.0, types/responses/response_usage.py. Other keys are accepted, unless they look like a typing error.
_USAGE: Final = ("input_tokens", "input_tokens_details", "output_tokens", "output_tokens_details", "total_tokens")

RESERVED: Final = frozenset({"id", "object", "created_at", "status", "output", "usage"})
"""Fields of a response that `more` does not hold: an `Answer` has them itself, or the server writes them."""


@attrs.frozen(kw_only=True)
class _Message:
    content: tuple[Any, ...]


@attrs.frozen(kw_only=True)
class _Call:
    name: CallName
    call_id: str | None = None
    arguments: str = "{}"


_read_item: Final = answers.read_typed(
    "an item", "message", "function_call_output", {"message": _Message, "function_call": _Call}
)


@attrs.frozen(kw_only=True)
class Answer(fixtures.Answer):
    """One answer of the model: the output of a response, and how it is delivered."""

    CONTENT: ClassVar[tuple[str, ...]] = ("output", "status", "http_error", "stream_error")

    output: tuple[Annotated[JsonObject, _read_item], ...] = attrs.field(default=(), converter=answers.as_objects)
    """Items and calls without an id get one of their own in each run."""

    status: Annotated[str, answers.read_word("status", ENDS)] | None = None
    """None: `completed`."""

    usage: Annotated[JsonObject, answers.read_usage(_USAGE)] | None = attrs.field(
        default=None, converter=answers.as_optional_object
    )
    """In the provider's words. None: computed from the lengths of the texts."""

    more: Annotated[JsonObject, answers.read_more(RESERVED, ("object", "created_at"))] = attrs.field(
        default=JsonObject(), converter=JsonObject, validator=answers.check_more(RESERVED)
    )
    """Other fields of the response, for example `model`, `incomplete_details`, `error` or `service_tier`."""


@final
@attrs.frozen(kw_only=True)
class AnswerEntry(Answer, answers.AnswerEntry):
    """An answer in a fixture file."""

    ANSWER: ClassVar[type[fixtures.Answer]] = Answer
    OF_RESOURCE: ClassVar[tuple[str, ...]] = ("status", "usage")
    NOT_MORE: ClassVar[frozenset[str]] = RESERVED | {"model"}

    def resource(self, message: AssistantMessage) -> Mapping[str, Any]:
        """Return an answer as a response."""
        return emit_resource(message)

    def thought_items(self, texts: tuple[str, ...]) -> list[Item]:
        """Return a reasoning with the texts as its summaries."""
        return [reasoning_item(*texts)]

    @staticmethod
    def text_item(text: str) -> Item:
        """Return a message with one text."""
        return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}

    @staticmethod
    def call_item(name: str, arguments: Mapping[str, object], call_id: str | None) -> Item:
        """Return a call of a function; an id of `None` is made by each run."""
        given = {} if call_id is None else {"call_id": call_id}
        return {"type": "function_call", **given, "name": name, "arguments": write_json(arguments).decode()}

    def call_id(self, item: Item) -> str | None:
        """Return the id of a call, of the app or of the provider; the item with its result has the same one."""
        return item.get("call_id") if item.get("type") in TOOLS else None


def reasoning_item(*texts: str) -> Item:
    """Return a reasoning with its summaries."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text} for text in texts]}
