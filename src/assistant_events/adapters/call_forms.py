"""The types of calls of a wire that has many: which tool is called, who runs it, where input and result are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, final

from assistant_events import messages as msg
from assistant_events.adapters.call_results import output_value, streamed_input
from assistant_events.adapters.json_fields import Fields, string
from assistant_events.history import has_result
from assistant_events.recorder.calls import parse_input
from assistant_events.values import thaw, write_json
from assistant_events.values.validators import NO_FIELDS

_ARGUMENTS: Final = "arguments"
"""Where xAI has the input of a call of free text, as JSON, in place of the own field of its type."""


class CallForm(NamedTuple):
    """
    A type of calls, and where an item of this type has what.

    The input is JSON text or free text in one field, which may be streamed, or all of several fields, with blanks
    between their names; with "any" it is free text where it is not the JSON of an object. The result is in the field
    `output` of the item of the type `answer`, which comes from the app or the provider; of the same item where that is
    empty.
    """

    name: str
    """Name of the tool; empty where the item has it under `name`."""

    form: Literal["json", "text", "any", "fields"]
    """How the input is written."""

    input: str
    """The field, or the fields, of the input."""

    answer: str = ""
    """Type of the item with the result; empty where that is the item of the call."""

    output: str = "output"
    """Field of the result; empty where no item has it."""

    required: bool = False
    """Whether a request must have that field in the item of the call: null where it has none."""

    def own_fields(self) -> frozenset[str]:
        """Return the fields of an item that have a meaning here."""
        return frozenset({*self.input.split(), "" if self.answer else self.output, self.name or "name"})

    def name_in(self, item: Fields) -> str | None:
        """Return the name of the tool that an item calls; `None` when it has none."""
        return self.name or string(item, "name")

    def input_in(self, item: Fields, text: str | None) -> dict[str, Any] | None:
        """
        Return the input of a call that ends; `None` where its text has to be parsed.

        Args:
            item: The whole item.

            text: The text that was streamed; `None` when it is not known.
        """
        if self.form == "fields":
            return {key: item[key] for key in self.input.split() if key in item}
        if text is None or (text and text == self.text_elsewhere(item)):
            return None
        given = streamed_input(text, self.input if self.form == "text" else "")
        return {self.input: text} if given is None and self._is_free(text) else given

    def text_elsewhere(self, item: Fields) -> str:
        """Return the JSON text of an input that is not in the own field of its type; empty where it is there."""
        text = string(item, _ARGUMENTS) or ""
        return text if self.form == "text" and not item.get(self.input) and parse_input(text)[0] else ""

    def _is_free(self, text: object) -> bool:
        """Return whether a value is an input that may be JSON, and is free text."""
        return self.form == "any" and isinstance(text, str) and parse_input(text)[0] is None

    def write(self, call: msg.ToolPart) -> dict[str, Any]:
        """Return name and input of a call, and its result where its own item has that, as fields of its item."""
        written: dict[str, Any] = {} if self.name else {"name": call.name}
        cut = parse_input(call.raw_input)[0] if self.form == "fields" else None  # one that came as fields is JSON
        arguments: dict[str, Any] = thaw(call.input or cut or NO_FIELDS)
        given = string(call.state, _ARGUMENTS) or ""
        known = parse_input(given)[0] if given else None
        is_elsewhere = known is not None and parse_input(call.raw_input)[0] == known == (call.input or known)
        if self.form == "fields":
            written |= {key: value for key, value in arguments.items() if key in self.input.split()}
        elif self.form == "text":
            written |= {} if is_elsewhere else {self.input: arguments.get(self.input, call.raw_input)}
        else:
            is_text = call.input is None or (call.raw_input and parse_input(call.raw_input)[0] == call.input)
            free = arguments.get(self.input) if len(arguments) == 1 else None
            other = free if self._is_free(free) else write_json(arguments).decode()
            written[self.input] = call.raw_input if is_text else other
        if self.output and not self.answer and call.output and has_result(call):
            written[self.output] = output_value(call)
        elif self.required and not is_elsewhere:
            written[self.output] = None
        return written


@final
class CallForms(dict[str, CallForm]):
    """
    The types of calls of a wire. The first of the app, and of the provider, is written for those of other wires.

    Args:
        app: By type of the item of a call, those of tools that the app runs.

        provider: The same of tools that the provider runs.
    """

    def __init__(self, *, app: Mapping[str, CallForm], provider: Mapping[str, CallForm]) -> None:
        super().__init__({**app, **provider})
        self._first = {False: next(iter(app)), True: next(iter(provider))}
        self.hosted = frozenset(provider)
        """Types of calls that the provider runs."""

        self.answered_later = frozenset([kind for kind, form in provider.items() if form.answer])
        """Those of which it sends the result as an item of its own."""

        self.inputs = {kind: form.input for kind, form in self.items() if form.form != "fields"}
        """By type of a call whose input is a text, which may be streamed, the field of the input."""

        self.outputs = {form.answer: form.output for form in self.values() if form.answer}
        """By type of an item with the result of a call, the field of the result."""

        self._answered = {form.answer: kind for kind, form in self.items() if form.answer}

    def may_be_half(self, item: Fields) -> bool:
        """Return whether an item, the last one of an answer that was cut, may be half a call: nothing shows its end."""
        form = self.get(string(item, "type") or "")
        return form is not None and not any(item.get(key) for key in ("status", form.output, "error"))

    def kind_of(self, call: msg.ToolPart) -> str:
        """Return the type of the item of a call: that in its state, or the one that its result answers."""
        answer = string(call.result_state, "type") or ""
        kind = string(call.state, "type") or self._answered.get(answer, answer)
        return kind if kind in self else self._first[call.provider_executed]

    def is_elsewhere(self, part: msg.Part) -> bool:
        """Return whether a part is a call of a function that the server has run, and of which another item is sent."""
        states = [part.state, part.result_state] if isinstance(part, msg.ToolPart) else []
        return self._first[False] in [string(state, "type") for state in states]
