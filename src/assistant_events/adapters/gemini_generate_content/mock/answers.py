"""
Answers of the mock in the words of generateContent.

A fixture file has their content in parts, in events of this library, or in short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, final

import attrs

from assistant_events.adapters.gemini_generate_content import emit_resource
from assistant_events.adapters.gemini_generate_content.vocabulary import FAILURES, FINISH_REASONS
from assistant_events.adapters.json_fields import mapping, string, without
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.mock import answers, fixtures
from assistant_events.mock.answers import CallName, Item
from assistant_events.mock.json_reader import FieldError, read_class, read_object
from assistant_events.values import JsonObject

# google-genai 3.4.0, types.py. Other keys are accepted, unless they look like a typing error.
_COUNTED: Final = ("prompt", "cachedContent", "candidates", "thoughts", "toolUsePrompt", "total")
_USAGE: Final = (*[f"{what}TokenCount" for what in _COUNTED], "promptTokensDetails", "candidatesTokensDetails")

RESERVED: Final = frozenset(
    {"id", "responseId", "candidates", "parts", "finish_reason", "candidate", "usageMetadata", "usage"}
)
"""Fields of a response that `more` does not hold: an `Answer` has them itself, or the server writes them."""

_OF_CANDIDATE: Final = frozenset({"index", "content", "finishReason"})


@attrs.frozen(kw_only=True)
class _Call:
    name: CallName
    id: str | None = None
    args: JsonObject = JsonObject()


def _read_call(value: Any) -> Any:
    call = read_object(value)
    return read_class({key: call[key] for key in ("name", "id", "args") if key in call}, _Call)


@attrs.frozen(kw_only=True)
class _Part:
    """The fields of a part that are checked."""

    text: str = ""
    functionCall: Annotated[Any, _read_call] = None
    thoughtSignature: str = ""


def _read_part(value: Any) -> JsonObject:
    """Return a part as it is, after a check of the fields that the mock reads."""
    part = read_object(value)
    if "functionResponse" in part:
        raise FieldError(("functionResponse", "is not a part of an answer"))
    read_class({field.name: part[field.name] for field in attrs.fields(_Part) if field.name in part}, _Part)
    return JsonObject(part)


@attrs.frozen(kw_only=True)
class Answer(fixtures.Answer):
    """One answer of the model: the parts of its candidate, and how it is delivered."""

    CONTENT: ClassVar[tuple[str, ...]] = ("parts", "finish_reason", "http_error", "stream_error")

    parts: tuple[Annotated[JsonObject, _read_part], ...] = attrs.field(default=(), converter=answers.as_objects)
    """A call without an id gets one of its own in each run; with `null` it has none, as those of old models."""

    finish_reason: Annotated[str, answers.read_word("finish reason", (*FINISH_REASONS, *FAILURES))] | None = None
    """None: `STOP`, or nothing for a prompt that was blocked."""

    usage: Annotated[JsonObject, answers.read_usage(_USAGE)] | None = attrs.field(
        default=None, converter=answers.as_optional_object
    )
    """In the provider's words. None: computed from the lengths of the texts."""

    candidate: Annotated[JsonObject, answers.read_more(_OF_CANDIDATE, ("index",))] | None = attrs.field(
        default=None, converter=answers.as_optional_object
    )
    """Other fields of the candidate, for example `groundingMetadata` or `finishMessage`."""

    more: Annotated[JsonObject, answers.read_more(RESERVED, ("responseId", "candidates", "usageMetadata"))] = (
        attrs.field(default=JsonObject(), converter=JsonObject, validator=answers.check_more(RESERVED))
    )
    """Other fields of the response, for example `modelVersion` or `promptFeedback`."""


@final
@attrs.frozen(kw_only=True)
class AnswerEntry(Answer, answers.AnswerEntry):
    """An answer in a fixture file."""

    ANSWER: ClassVar[type[fixtures.Answer]] = Answer
    OF_RESOURCE: ClassVar[tuple[str, ...]] = ("finish_reason", "usage", "candidate")
    NOT_MORE: ClassVar[frozenset[str]] = RESERVED | {"modelVersion"}

    def resource(self, message: AssistantMessage) -> Mapping[str, Any]:
        """Return an answer as the fields of a response."""
        fields = response_fields(message)
        if fields["finish_reason"] is None:
            self.check_completed(message)
        return fields

    def thought_items(self, texts: tuple[str, ...]) -> list[Item]:
        """Return one part of all texts: a stream does not show where one ends."""
        return [{"text": "".join(texts), "thought": True}]

    @staticmethod
    def text_item(text: str) -> Item:
        """Return a text as a part."""
        return {"text": text}

    @staticmethod
    def call_item(name: str, arguments: Mapping[str, object], call_id: str | None) -> Item:
        """Return a call of a function as a part; an id of `None` is made by each run."""
        return {"functionCall": {"name": name, "args": arguments, **({} if call_id is None else {"id": call_id})}}

    def call_id(self, item: Item) -> str | None:
        """Return the id of a call of the app."""
        return string(mapping(item, "functionCall"), "id")


def response_fields(message: AssistantMessage) -> dict[str, Any]:
    """Return an answer, one that failed up to its error, as the fields of a response and those of its candidate."""
    response = emit_resource(message)
    if "error" in response:
        response = emit_resource(attrs.evolve(message, error=None, status=MessageStatus.COMPLETED))
    [candidate] = response.pop("candidates", [{}])
    other = without(candidate, _OF_CANDIDATE)
    return {
        "parts": mapping(candidate, "content").get("parts", ()),
        "finish_reason": candidate.get("finishReason"),
        "usage": response.pop("usageMetadata", None),
        "candidate": other or None,
        "id": response.pop("responseId", None),
        **response,
    }
