"""
Answers of the mock in the words of the Interactions wire.

A fixture file has their content in wire steps, in events of this library, or in short.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Final, TypeAlias, final

import attrs

from assistant_events.adapters.gemini_interactions import emit_resource
from assistant_events.events import Event
from assistant_events.mock import fixtures
from assistant_events.mock.fixture_files import message_of
from assistant_events.mock.json_reader import FieldError, at_least, checked, expect, read_class, read_object, unknown
from assistant_events.values import JsonObject

# Wire reference §2.1. The service may use others, so that only what looks like a typing error is a fault.
_STATUSES: Final = (
    *("in_progress", "queued", "requires_action", "completed", "failed", "cancelled", "incomplete"),
    *("budget_exceeded", "requires_continuation"),
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

_SHORT: Final = ("text", "thought", "calls")
_CONTENT: Final = ("steps", "events", *_SHORT, "status", "http_error", "stream_error")


Step: TypeAlias = Mapping[str, Any]
"""One wire step. `Any`: plain JSON."""


def _read_status(value: Any) -> str:
    status = read_class(value, str)
    if status not in _STATUSES and get_close_matches(status, _STATUSES, 1, 0.75):
        raise ValueError(unknown(status, _STATUSES, f"status {status!r}"))
    return status


def _read_usage(value: Any) -> JsonObject:
    faults: list[tuple[str, str]] = []
    for key, count in read_object(value).items():
        close = [f"total_{key}"] if f"total_{key}" in _USAGE else get_close_matches(key, _USAGE, 1, 0.85)
        if key.startswith("total_"):
            try:
                at_least(0)(count)
            except ValueError as error:
                faults.append((key, str(error)))
        if key not in _USAGE and close:
            faults.append((key, f"unknown key; did you mean {close[0]!r}?"))
    return checked(JsonObject(value), faults)


def _read_thought(value: Any) -> tuple[str, ...]:
    """Return the items of the summary of a thought; a text is one item."""
    texts: Any = tuple[str, ...]  # a type for cattrs, which type checkers do not take as an argument
    return read_class(value if isinstance(value, list) else [value], texts)


def _read_more(value: Any) -> JsonObject:
    faults = [
        (key, "is written by the server" if key in ("object", "outputs") else f"belongs beside `more`, as `{key}`")
        for key in sorted(RESERVED.intersection(read_object(value)))
    ]
    return checked(JsonObject(value), faults)


def is_word(value: object) -> bool:
    """Return whether *value* is a string that is not empty."""
    return isinstance(value, str) and value != ""


CallName: TypeAlias = Annotated[str, expect("the name of a function", is_word)]


@attrs.frozen(kw_only=True)
class _Call:
    """A call of a function, in short or as a step."""

    name: CallName
    id: str | None = None
    arguments: JsonObject = JsonObject()


def _read_block(value: Any) -> Any:
    faults = [] if is_word(read_object(value).get("type")) else [("type", "is missing")]
    return checked(value, faults)


def _read_step(value: Any) -> JsonObject:
    """Return a step as it is, after a check of the fields that the mock reads."""
    step = read_object(value)
    kind = step.get("type")
    if not is_word(kind):
        raise FieldError(("type", "expected the type of a step, for example 'model_output'"))
    if kind == "user_input":
        raise FieldError(("type", "'user_input' is not a step of an answer"))
    if kind == "function_call":
        read_class({key: step[key] for key in ("name", "id", "arguments") if key in step}, _Call)
    elif kind == "model_output":
        read_class({"content": step.get("content")}, _Output)
    return JsonObject(step)


@attrs.frozen(kw_only=True)
class _Output:
    """The fields of a `model_output` that are checked."""

    content: tuple[Annotated[Any, _read_block], ...] = ()


def _as_objects(values: Iterable[Mapping[str, object]]) -> tuple[JsonObject, ...]:
    return tuple([JsonObject(value) for value in values])


def _as_optional_object(value: Mapping[str, object] | None) -> JsonObject | None:
    return None if value is None else JsonObject(value)


def _check_more(answer: Answer, field: attrs.Attribute[JsonObject], more: JsonObject) -> None:
    wrong = sorted(RESERVED.intersection(more))
    if wrong:
        raise ValueError(f"more: {wrong[0]!r} is not one of the other fields; the answer has its own, or the server")


@attrs.frozen(kw_only=True)
class Answer(fixtures.Answer):
    """One answer of the model: the steps of a resource of generation 2.x, and how it is delivered."""

    CONTENT: ClassVar[tuple[str, ...]] = ("steps", "status", "http_error", "stream_error")

    steps: tuple[Annotated[JsonObject, _read_step], ...] = attrs.field(default=(), converter=_as_objects)
    """The generated steps in their order, without `user_input`."""

    status: Annotated[str, _read_status] | None = None
    """None: `requires_action` when a function call of the client has no result, else `completed`."""

    usage: Annotated[JsonObject, _read_usage] | None = attrs.field(default=None, converter=_as_optional_object)
    """In the provider's words. None: computed from the lengths of the texts."""

    more: Annotated[JsonObject, _read_more] = attrs.field(
        default=JsonObject(), converter=JsonObject, validator=_check_more
    )
    """Other fields of the resource, for example `errors`, `environment_id` or `service_tier`."""

    continuation_token: str | None = None
    """Sent at the end. With it the default of `status` is `requires_continuation`."""


@final
@attrs.frozen(kw_only=True)
class AnswerEntry(Answer):
    """An answer in a fixture file, whose content has one of three forms."""

    text: str | None = None
    thought: Annotated[tuple[str, ...], _read_thought] | None = None
    calls: tuple[_Call, ...] = ()
    events: tuple[Event, ...] | None = None

    @staticmethod
    def check_keys(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Yield the faults of the choice of keys."""
        forms = [key for key in ("steps", "events") if key in given]
        forms += ["/".join(_SHORT)] if any(key in given for key in _SHORT) else []
        if len(forms) > 1:
            yield "", f"expected only one of {', '.join(forms)}"
        if not any(key in given for key in _CONTENT):
            yield "", f"expected one of {', '.join(_CONTENT)}"

    def answer(self) -> Answer:
        """
        Return the answer in wire steps.

        Raises:
            FieldError: The events are not those of one answer, or two calls have the same id.
        """
        # Any: the fields of an answer, by their names.
        fields: dict[str, Any] = {field.name: getattr(self, field.name) for field in attrs.fields(Answer)}
        if self.events is None:
            fields["steps"] = self._checked_steps()
            return Answer(**fields)
        resource = emit_resource(message_of(self.events))
        more = {key: value for key, value in resource.items() if key not in {*RESERVED, "model", "agent"}}
        fields |= {"steps": resource.get("steps", ()), "more": {**more, **self.more}}
        for key in ("status", "usage", "continuation_token"):
            fields[key] = resource.get(key) if fields[key] is None else fields[key]
        return Answer(**fields)

    def _checked_steps(self) -> list[Step]:
        short = [] if self.thought is None else [thought_step(*self.thought)]
        short += [] if self.text is None else [text_step(self.text)]
        first_call = len(short)
        short += [call_step(call.name, call.arguments, call.id) for call in self.calls]
        steps = [_with_id(step, index) for index, step in enumerate(self.steps or short)]
        known: set[object] = {None}
        faults: list[tuple[str, str]] = []
        for index, step in enumerate(steps):
            if str(step.get("type")).endswith("_call"):
                if step.get("id") in known - {None}:
                    place = f"steps[{index}].id" if self.steps else f"calls[{index - first_call}].id"
                    faults.append((place, f"{step['id']!r} is the id of another call of this answer"))
                known.add(step.get("id"))
        return checked(steps, faults)


def thought_step(*texts: str) -> Step:
    """Return the step of a thought with the items of its summary."""
    return {"type": "thought", "summary": [{"type": "text", "text": text} for text in texts]}


def text_step(text: str) -> Step:
    """Return the step of a text."""
    return {"type": "model_output", "content": [{"type": "text", "text": text}]}


def call_step(name: str, arguments: Mapping[str, object], call_id: str | None) -> Step:
    """Return the step of a call of a function."""
    return {"type": "function_call", "id": call_id, "name": name, "arguments": arguments}


def _with_id(step: Step, index: int) -> Step:
    """Return a step as the service sends it: a call of a function has an id and arguments."""
    if step.get("type") != "function_call":
        return step
    return {**step, "id": step.get("id") or f"call_{index + 1}", "arguments": step.get("arguments") or {}}
