"""
Answers of the mock in the words of Chat Completions.

A fixture file has their content as a message, in events of this library, or in short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, final

import attrs

from assistant_events.adapters.json_fields import mapping, mappings, string
from assistant_events.adapters.openai_chat import emit_resource
from assistant_events.adapters.openai_chat.vocabulary import FINISH_REASONS
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.mock import answers, fixtures
from assistant_events.mock.answers import CallName, Item
from assistant_events.mock.json_reader import READ_ERRORS, FieldError, checked, faults_of, read_class, read_object
from assistant_events.values import JsonObject, write_json

# openai 3.54.0, types/completion_usage.py. Other keys are accepted, unless they look like a typing error.
_USAGE: Final = (
    *("prompt_tokens", "completion_tokens", "total_tokens"),
    *("prompt_tokens_details", "completion_tokens_details"),
)

RESERVED: Final = frozenset({"id", "object", "created", "choices", "message", "finish_reason", "choice", "usage"})
"""Fields of a completion that `more` does not hold: an `Answer` has them itself, or the server writes them."""

_OF_CHOICE: Final = frozenset({"index", "message", "finish_reason"})


@attrs.frozen(kw_only=True)
class _Function:
    name: CallName
    arguments: str = ""


def _read_message(value: Any) -> JsonObject:
    """Return a message as it is, after a check of the fields that the mock reads."""
    message = read_object(value)
    if message.get("role", "assistant") != "assistant":
        raise FieldError(("role", "expected 'assistant', whose message an answer is"))
    known: set[str] = set()
    faults: list[tuple[str, str]] = []
    for place, call in enumerate(mappings(message, "tool_calls")):
        function, call_id = mapping(call, "function"), string(call, "id")
        if call_id in known:
            faults.append((f"tool_calls[{place}].id", f"{call_id!r} is the id of another call of this answer"))
        known |= set() if call_id is None else {call_id}
        try:
            if "custom" not in call:
                read_class({key: function[key] for key in ("name", "arguments") if key in function}, _Function)
        except READ_ERRORS as error:
            faults += faults_of(error, f"tool_calls[{place}].function")
    return checked(JsonObject(message), faults)


def _merged(given: Mapping[str, object] | Sequence[Item]) -> JsonObject:
    """Return one message of several that have a part each: lists and texts of the same field are joined."""
    merged: dict[str, Any] = {}
    for item in [given] if isinstance(given, Mapping) else given:
        for key, value in item.items():
            merged[key] = merged[key] + value if key in merged and isinstance(value, (str, list, tuple)) else value
    return JsonObject(merged)


@attrs.frozen(kw_only=True)
class Answer(fixtures.Answer):
    """One answer of the model: its message, and how it is delivered."""

    CONTENT: ClassVar[tuple[str, ...]] = ("message", "finish_reason", "http_error", "stream_error")

    message: Annotated[JsonObject, _read_message] = attrs.field(default=JsonObject(), converter=_merged)
    """`content`, `tool_calls`, `reasoning_content` and so on. Calls without an id get one of their own in each run."""

    finish_reason: Annotated[str, answers.read_word("finish reason", FINISH_REASONS)] | None = None
    """None: `tool_calls` when there is a call, else `stop`."""

    usage: Annotated[JsonObject, answers.read_usage(_USAGE)] | None = attrs.field(
        default=None, converter=answers.as_optional_object
    )
    """In the provider's words. None: computed from the lengths of the texts."""

    choice: Annotated[JsonObject, answers.read_more(_OF_CHOICE, ("index",))] = attrs.field(
        default=JsonObject(), converter=JsonObject, validator=answers.check_more(_OF_CHOICE)
    )
    """Other fields of the choice, for example `logprobs` or `native_finish_reason`."""

    more: Annotated[JsonObject, answers.read_more(RESERVED, ("object", "created", "choices"))] = attrs.field(
        default=JsonObject(), converter=JsonObject, validator=answers.check_more(RESERVED)
    )
    """Other fields of the completion, for example `model`, `service_tier` or `system_fingerprint`."""


@final
@attrs.frozen(kw_only=True)
class AnswerEntry(Answer, answers.AnswerEntry):
    """An answer in a fixture file."""

    ANSWER: ClassVar[type[fixtures.Answer]] = Answer
    OF_RESOURCE: ClassVar[tuple[str, ...]] = ("finish_reason", "usage")
    NOT_MORE: ClassVar[frozenset[str]] = RESERVED | {"model"}

    def resource(self, message: AssistantMessage) -> Mapping[str, Any]:
        """Return an answer as the fields of a completion."""
        self.check_completed(message)
        return completion_fields(message)

    def given_items(self) -> Sequence[Item]:
        """Return the message, if the file has one."""
        return (self.message,) if self.message else ()

    def thought_items(self, texts: tuple[str, ...]) -> list[Item]:
        """Return a message with the texts as its reasoning."""
        return [{"reasoning_content": "".join(texts)}]

    @staticmethod
    def text_item(text: str) -> Item:
        """Return a message with a text."""
        return {"content": text}

    @staticmethod
    def call_item(name: str, arguments: Mapping[str, object], call_id: str | None) -> Item:
        """Return a message with a call; an id of `None` is made by each run."""
        function = {"name": name, "arguments": write_json(arguments).decode()}
        given = {} if call_id is None else {"id": call_id}
        return {"tool_calls": [{**given, "type": "function", "function": function}]}

    def call_id(self, item: Item) -> str | None:
        """Return the id of the call of a message in short."""
        calls = mappings(item, "tool_calls")
        return string(calls[0], "id") if len(calls) == 1 else None


def completion_fields(message: AssistantMessage) -> dict[str, Any]:
    """Return a completed or a failed answer as the fields of a completion, with those of its choice beside them."""
    completion = emit_resource(attrs.evolve(message, error=None, status=MessageStatus.COMPLETED))
    [choice] = completion.pop("choices")
    written = {key: value for key, value in choice.pop("message").items() if key != "role" and value is not None}
    return {**completion, "message": written, "finish_reason": choice["finish_reason"], "choice": choice}
