"""
Answers of the mock in the words of Converse.

A fixture file has their content in blocks, in events of this library, or in short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, final

import attrs

from assistant_events.adapters.bedrock_converse import emit_resource
from assistant_events.adapters.bedrock_converse.vocabulary import FINISH_REASONS, MALFORMED
from assistant_events.adapters.json_fields import Fields, mapping, string, without
from assistant_events.messages import AssistantMessage
from assistant_events.mock import answers, fixtures
from assistant_events.mock.answers import CallName, Item
from assistant_events.mock.json_reader import FieldError, read_class, read_object
from assistant_events.values import JsonObject

# TokenUsage of botocore 1.44.5. Other keys are accepted, unless they look like a typing error.
_USAGE: Final = (
    *("inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
    *("cacheDetails", "serverToolUsage"),
)

RESERVED: Final = frozenset({"id", "output", "content", "stopReason", "stop_reason", "usage"})
"""Fields of a document that `more` does not hold: an `Answer` has them itself, or the server writes them."""


@attrs.frozen(kw_only=True)
class _ReasoningText:
    text: str
    signature: str | None = None


@attrs.frozen(kw_only=True)
class _Reasoning:
    reasoningText: _ReasoningText | None = None
    redactedContent: str | None = None


@attrs.frozen(kw_only=True)
class _ToolUse:
    name: CallName
    toolUseId: str | None = None
    input: JsonObject = JsonObject()
    type: str | None = None


@attrs.frozen(kw_only=True)
class _Block:
    """The blocks that are checked."""

    text: str | None = None
    reasoningContent: _Reasoning | None = None
    toolUse: _ToolUse | None = None


_KINDS: Final = frozenset(field.name for field in attrs.fields(_Block))


def _read_block(value: Any) -> JsonObject:
    """Return a block as it is, after a check of the fields that the mock reads."""
    block = read_object(value)
    if len(block) != 1:
        raise FieldError(("", "expected one key, the kind of the block, for example 'text'"))
    if block.keys() <= _KINDS:
        read_class(block, _Block)
    return JsonObject(block)


@attrs.frozen(kw_only=True)
class Answer(fixtures.Answer):
    """One answer of the model: the blocks of a message, and how it is delivered."""

    CONTENT: ClassVar[tuple[str, ...]] = ("content", "stop_reason", "http_error", "stream_error")

    content: tuple[Annotated[JsonObject, _read_block], ...] = attrs.field(default=(), converter=answers.as_objects)
    """A `toolUse` without an id gets one of its own in each run."""

    stop_reason: Annotated[str, answers.read_word("stop reason", {**FINISH_REASONS, **MALFORMED})] | None = None
    """None: `tool_use` when there is a call of the client, else `end_turn`."""

    usage: Annotated[JsonObject, answers.read_usage(_USAGE)] | None = attrs.field(
        default=None, converter=answers.as_optional_object
    )
    """In the provider's words. None: computed from the lengths of the texts."""

    more: Annotated[JsonObject, answers.read_more(RESERVED, ("output",))] = attrs.field(
        default=JsonObject(), converter=JsonObject, validator=answers.check_more(RESERVED)
    )
    """Other fields of the document, for example `metrics`, `trace` or `additionalModelResponseFields`."""


@final
@attrs.frozen(kw_only=True)
class AnswerEntry(Answer, answers.AnswerEntry):
    """An answer in a fixture file."""

    ANSWER: ClassVar[type[fixtures.Answer]] = Answer
    OF_RESOURCE: ClassVar[tuple[str, ...]] = ("stop_reason", "usage")
    NOT_MORE: ClassVar[frozenset[str]] = RESERVED

    def resource(self, message: AssistantMessage) -> Mapping[str, Any]:
        """Return an answer as a document with the fields of an `Answer`."""
        self.check_completed(message)
        return answer_fields(message)

    def thought_items(self, texts: tuple[str, ...]) -> list[Item]:
        """Return one block of all texts."""
        return [reasoning_block("".join(texts))]

    @staticmethod
    def text_item(text: str) -> Item:
        """Return a block of text."""
        return {"text": text}

    @staticmethod
    def call_item(name: str, arguments: Mapping[str, object], call_id: str | None) -> Item:
        """Return the block of a call of a function; an id of `None` is made by each run."""
        return {"toolUse": {**({} if call_id is None else {"toolUseId": call_id}), "name": name, "input": arguments}}

    def call_id(self, item: Item) -> str | None:
        """Return the id of a call, of the app or of the provider."""
        return string(mapping(item, "toolUse"), "toolUseId")


def answer_fields(message: AssistantMessage) -> dict[str, Any]:
    """Return the fields of an `Answer` that gives *message*; those of `more` are beside them."""
    resource = emit_resource(message)
    content = mapping(mapping(resource, "output"), "message").get("content", ())
    more = without(resource, RESERVED)
    return {"content": content, "stop_reason": resource.get("stopReason"), "usage": resource.get("usage"), **more}


def reasoning_block(text: str) -> Item:
    """Return a block of reasoning, which is signed by each run."""
    return {"reasoningContent": {"reasoningText": {"text": text}}}


def app_call(block: Fields) -> Fields:
    """Return the call of the client that a block is; an empty object for another block."""
    call = mapping(block, "toolUse")
    return {} if call.get("type") == "server_tool_use" else call


def default_stop_reason(answer: Answer) -> str:
    """Return the stop reason of an answer."""
    if answer.stop_reason is not None:
        return answer.stop_reason
    return "tool_use" if any(map(app_call, answer.content)) else "end_turn"
