"""
Answers of the mock in the words of the Messages wire.

A fixture file has their content in blocks, in events of this library, or in short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, final

import attrs

from assistant_events.adapters.anthropic_messages import emit_resource
from assistant_events.adapters.anthropic_messages.vocabulary import FINISH_REASONS
from assistant_events.messages import AssistantMessage
from assistant_events.mock import answers, fixtures
from assistant_events.mock.answers import CallName, Item
from assistant_events.values import JsonObject

# anthropic 2.12.0, types/usage.py. Other keys are accepted, unless they look like a typing error.
_USAGE: Final = (
    *("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    *("cache_creation", "output_tokens_details", "server_tool_use", "service_tier", "inference_geo", "iterations"),
)

RESERVED: Final = frozenset({"id", "type", "role", "content", "stop_reason", "usage"})
"""Fields of a message that `more` does not hold: an `Answer` has them itself, or the server writes them."""


@attrs.frozen(kw_only=True)
class _Text:
    text: str


@attrs.frozen(kw_only=True)
class _Thinking:
    thinking: str
    signature: str | None = None


@attrs.frozen(kw_only=True)
class _Call:
    name: CallName
    id: str | None = None
    input: JsonObject = JsonObject()


_read_block: Final = answers.read_typed(
    "a block", "text", "tool_result", {"text": _Text, "thinking": _Thinking, "tool_use": _Call}
)


@attrs.frozen(kw_only=True)
class Answer(fixtures.Answer):
    """One answer of the model: the blocks of a message, and how it is delivered."""

    CONTENT: ClassVar[tuple[str, ...]] = ("content", "stop_reason", "http_error", "stream_error")

    content: tuple[Annotated[JsonObject, _read_block], ...] = attrs.field(default=(), converter=answers.as_objects)
    """A `tool_use` without an id gets one of its own in each run."""

    stop_reason: Annotated[str, answers.read_word("stop reason", FINISH_REASONS)] | None = None
    """None: `tool_use` when there is a call of the client, else `end_turn`."""

    usage: Annotated[JsonObject, answers.read_usage(_USAGE)] | None = attrs.field(
        default=None, converter=answers.as_optional_object
    )
    """In the provider's words. None: computed from the lengths of the texts."""

    more: Annotated[JsonObject, answers.read_more(RESERVED, ("type", "role"))] = attrs.field(
        default=JsonObject(), converter=JsonObject, validator=answers.check_more(RESERVED)
    )
    """Other fields of the message, for example `model`, `stop_sequence`, `stop_details` or `container`."""


@final
@attrs.frozen(kw_only=True)
class AnswerEntry(Answer, answers.AnswerEntry):
    """An answer in a fixture file."""

    ANSWER: ClassVar[type[fixtures.Answer]] = Answer
    OF_RESOURCE: ClassVar[tuple[str, ...]] = ("stop_reason", "usage")
    NOT_MORE: ClassVar[frozenset[str]] = RESERVED | {"model"}

    def resource(self, message: AssistantMessage) -> Mapping[str, Any]:
        """Return an answer as a message."""
        self.check_completed(message)
        return emit_resource(message)

    def thought_items(self, texts: tuple[str, ...]) -> list[Item]:
        """Return one block of all texts."""
        return [{"type": "thinking", "thinking": "".join(texts)}]

    @staticmethod
    def text_item(text: str) -> Item:
        """Return a block of text."""
        return {"type": "text", "text": text}

    @staticmethod
    def call_item(name: str, arguments: Mapping[str, object], call_id: str | None) -> Item:
        """Return the block of a call of a function; an id of `None` is made by each run."""
        return {"type": "tool_use", **({} if call_id is None else {"id": call_id}), "name": name, "input": arguments}

    def call_id(self, item: Item) -> str | None:
        """Return the id of a call, of the app or of the provider."""
        return item.get("id") if str(item.get("type")).endswith("tool_use") else None


def default_stop_reason(answer: Answer) -> str:
    """Return the stop reason of an answer."""
    if answer.stop_reason is not None:
        return answer.stop_reason
    return "tool_use" if any(block.get("type") == "tool_use" for block in answer.content) else "end_turn"
