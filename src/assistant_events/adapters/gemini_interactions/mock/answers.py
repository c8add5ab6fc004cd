"""
Answers of the mock in the words of the Interactions wire.

A fixture file has their content in wire steps, in events of this library, or in short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, TypeAlias, final

import attrs

from assistant_events.adapters.gemini_interactions import emit_resource
from assistant_events.messages import AssistantMessage
from assistant_events.mock import answers, fixtures
from assistant_events.mock.answers import Item, ShortCall
from assistant_events.mock.json_reader import checked, read_object
from assistant_events.values import JsonObject

# Wire reference §2.1. The service may use others, so that only what looks like a typing error is a fault.
_STATUSES: Final = (
    *("in_progress", "queued", "requires_action", "completed", "failed", "cancelled", "incomplete"),
    *("budget_exceeded", "idle", "requires_continuation"),
)

# Wire reference §2.2. Other keys are accepted, as the service may add some, unless they look like a typing error.
_COUNTED: Final = ("input", "cached", "output", "tool_use", "thought")
_USAGE: Final = (
    "total_tokens",
    *[f"total_{what}_tokens" for what in _COUNTED],
    *[f"{what}_tokens_by_modality" for what in _COUNTED],
    "grounding_tool_count",
    "initial_input_tokens",
)

RESERVED: Final = frozenset({"id", "object", "status", "steps", "outputs", "usage", "continuation_token"})
"""Fields of the resource that `more` does not hold: an `Answer` has them itself, or the server writes them."""

Step: TypeAlias = Item
"""One wire step."""


def _read_block(value: Any) -> Any:
    faults = [] if answers.is_word(read_object(value).get("type")) else [("type", "is missing")]
    return checked(value, faults)


@attrs.frozen(kw_only=True)
class _Output:
    """The fields of a `model_output` that are checked."""

    content: tuple[Annotated[Any, _read_block], ...]


_read_step: Final = answers.read_typed(
    "a step", "model_output", "user_input", {"function_call": ShortCall, "model_output": _Output}
)


@attrs.frozen(kw_only=True)
class Answer(fixtures.Answer):
    """One answer of the model: the steps of a resource of generation 2.x, and how it is delivered."""

    CONTENT: ClassVar[tuple[str, ...]] = ("steps", "status", "http_error", "stream_error")

    steps: tuple[Annotated[JsonObject, _read_step], ...] = attrs.field(default=(), converter=answers.as_objects)
    """The generated steps in their order, without `user_input`."""

    status: Annotated[str, answers.read_word("status", _STATUSES)] | None = None
    """None: `requires_action` when a function call of the client has no result, else `completed`."""

    usage: Annotated[JsonObject, answers.read_usage(_USAGE, prefix="total_")] | None = attrs.field(
        default=None, converter=answers.as_optional_object
    )
    """In the provider's words. None: computed from the lengths of the texts."""

    more: Annotated[JsonObject, answers.read_more(RESERVED, ("object", "outputs"))] = attrs.field(
        default=JsonObject(), converter=JsonObject, validator=answers.check_more(RESERVED)
    )
    """Other fields of the resource, for example `errors`, `environment_id` or `service_tier`."""

    continuation_token: str | None = None
    """Sent at the end. With it the default of `status` is `requires_continuation`."""


def text_step(text: str) -> Step:
    """Return the step of a text."""
    return {"type": "model_output", "content": [{"type": "text", "text": text}]}


def call_step(name: str, arguments: Mapping[str, object], call_id: str | None) -> Step:
    """Return the step of a call of a function."""
    return {"type": "function_call", "id": call_id, "name": name, "arguments": arguments}


def completed_step(item: Step, number: int) -> Step:
    """Return a step, the *number*-th, as the service sends it: a call of a function has an id and arguments."""
    if item.get("type") != "function_call":
        return item
    return {**item, "id": item.get("id") or f"call_{number}", "arguments": item.get("arguments") or {}}


@final
@attrs.frozen(kw_only=True)
class AnswerEntry(Answer, answers.AnswerEntry):
    """An answer in a fixture file."""

    ANSWER: ClassVar[type[fixtures.Answer]] = Answer
    OF_RESOURCE: ClassVar[tuple[str, ...]] = ("status", "usage", "continuation_token")
    NOT_MORE: ClassVar[frozenset[str]] = RESERVED | {"model", "agent"}
    text_item = staticmethod(text_step)
    call_item = staticmethod(call_step)
    completed = staticmethod(completed_step)

    def resource(self, message: AssistantMessage) -> Mapping[str, Any]:
        """Return an answer as a resource."""
        return emit_resource(message)

    def thought_items(self, texts: tuple[str, ...]) -> list[Item]:
        """Return the step of a thought with the items of its summary."""
        return [thought_step(*texts)]

    def call_id(self, item: Item) -> str | None:
        """Return the id of a call, of the app or of the provider."""
        return item.get("id") if str(item.get("type")).endswith("_call") else None


def thought_step(*texts: str) -> Step:
    """Return the step of a thought with the items of its summary."""
    return {"type": "thought", "summary": [{"type": "text", "text": text} for text in texts]}
