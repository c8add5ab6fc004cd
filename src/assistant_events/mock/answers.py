"""Answers in fixture files: the short form, and the checks that the forms of all dialects share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Final, TypeAlias, cast, final

import attrs

from assistant_events.events import Event
from assistant_events.messages import AssistantMessage
from assistant_events.mock.fixture_files import message_of
from assistant_events.mock.fixtures import Answer
from assistant_events.mock.json_reader import FieldError, at_least, checked, expect, read_class, read_object, unknown
from assistant_events.values import JsonObject

Item: TypeAlias = Mapping[str, Any]
"""One item of an answer in the words of the wire. `Any`: plain JSON."""

_SHORT: Final = ("text", "thought", "calls")


def is_word(value: object) -> bool:
    """Return whether *value* is a string that is not empty."""
    return isinstance(value, str) and value != ""


CallName: TypeAlias = Annotated[str, expect("the name of a function", is_word)]


@final
@attrs.frozen(kw_only=True)
class ShortCall:
    """A call of a function, in short or as a wire item."""

    name: CallName
    id: str | None = None
    arguments: JsonObject = JsonObject()


def read_texts(value: Any) -> tuple[str, ...]:
    """Return several texts; one text is a list of one."""
    texts: Any = tuple[str, ...]  # a type for cattrs, which type checkers do not take as an argument
    return read_class(value if isinstance(value, list) else [value], texts)


def read_typed(what: str, example: str, of_client: str, checked: Mapping[str, type]) -> Callable[[Any], JsonObject]:
    """
    Return the reader of an item of a wire, as it is: only fields that the mock reads are checked.

    Args:
        what: What the wire calls an item.

        example: A type of an item.

        of_client: The type of an item that no answer has.

        checked: By type, the class with the fields that are checked.
    """

    def read(value: Any) -> JsonObject:
        item = read_object(value)
        kind = str(item.get("type"))
        if not is_word(item.get("type")):
            raise FieldError(("type", f"expected the type of {what}, for example {example!r}"))
        if kind == of_client:
            raise FieldError(("type", f"{of_client!r} is not {what} of an answer"))
        if kind in checked:
            # Any: an attrs class.
            fields: Any = attrs.fields(checked[kind])
            read_class({field.name: item[field.name] for field in fields if field.name in item}, checked[kind])
        return JsonObject(item)

    return read


def read_word(what: str, words: Collection[str]) -> Callable[[Any], str]:
    """Return the reader of a word of an open set: only what looks like a typing error of a known one is a fault."""

    def read(value: Any) -> str:
        word = read_class(value, str)
        if word not in words and get_close_matches(word, words, 1, 0.75):
            raise ValueError(unknown(word, words, f"{what} {word!r}"))
        return word

    return read


def read_usage(counts: Collection[str], *, prefix: str = "") -> Callable[[Any], JsonObject]:
    """
    Return the reader of a usage in the provider's words.

    Args:
        counts: Known keys. Other keys are accepted, unless they look like a typing error.

        prefix: Of the keys whose values have to be counts; a key without it is a typing error of one with it. Empty:
            all known keys whose names end in `tokens`, `Tokens` or `TokenCount`.
    """

    def read(value: Any) -> JsonObject:
        faults: list[tuple[str, str]] = []
        for key, count in read_object(value).items():
            prefixed = f"{prefix}{key}"
            close = [prefixed] if prefix and prefixed in counts else get_close_matches(key, counts, 1, 0.85)
            if key.startswith(prefix) if prefix else key in counts and key.lower().endswith(("tokens", "tokencount")):
                try:
                    at_least(0)(count)
                except ValueError as error:
                    faults.append((key, str(error)))
            if key not in counts and close:
                faults.append((key, f"unknown key; did you mean {close[0]!r}?"))
        return checked(JsonObject(value), faults)

    return read


def read_more(reserved: Collection[str], written: Collection[str]) -> Callable[[Any], JsonObject]:
    """Return the reader of other fields of a document, without the *reserved* ones; the server writes *written*."""

    def read(value: Any) -> JsonObject:
        faults = [
            (key, "is written by the server" if key in written else f"belongs beside `more`, as `{key}`")
            for key in sorted(set(reserved).intersection(read_object(value)))
        ]
        return checked(JsonObject(value), faults)

    return read


def check_more(reserved: Collection[str]) -> Callable[[Any, Any, Mapping[str, object]], None]:
    """Return the validator of the field that `read_more` reads."""

    def check(_answer: Any, _field: Any, more: Mapping[str, object]) -> None:
        wrong = sorted(set(reserved).intersection(more))
        if wrong:
            raise ValueError(f"more: {wrong[0]!r} is a field of the answer itself, or written by the server")

    return check


def as_objects(values: Iterable[Mapping[str, object]]) -> tuple[JsonObject, ...]:
    """Return JSON objects, frozen."""
    return tuple([JsonObject(value) for value in values])


def as_optional_object(value: Mapping[str, object] | None) -> JsonObject | None:
    """Return a JSON object, frozen, or `None`."""
    return None if value is None else JsonObject(value)


@attrs.frozen(kw_only=True, slots=False)
class AnswerEntry:
    """
    An answer in a fixture file, whose content has one of three forms: items, events, or text, thought and calls.

    A dialect adds its class of answers as another base class; the first of its `CONTENT` are the items.
    """

    CONTENT: ClassVar[tuple[str, ...]]
    ANSWER: ClassVar[type[Answer]]
    """The class of answers."""

    OF_RESOURCE: ClassVar[tuple[str, ...]]
    """Fields of an answer that a document has under the same name, beside the items."""

    NOT_MORE: ClassVar[frozenset[str]]
    """Fields of a document that are not kept in the `more` of an answer."""

    text: str | None = None
    thought: Annotated[tuple[str, ...], read_texts] | None = None
    calls: tuple[ShortCall, ...] = ()
    events: tuple[Event, ...] | None = None

    @classmethod
    def check_keys(cls, given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Yield the faults of the choice of keys."""
        items, *others = cls.CONTENT
        forms = [key for key in (items, "events") if key in given]
        forms += ["/".join(_SHORT)] if any(key in given for key in _SHORT) else []
        if len(forms) > 1:
            yield "", f"expected only one of {', '.join(forms)}"
        content = (items, "events", *_SHORT, *others)
        if not any(key in given for key in content):
            yield "", f"expected one of {', '.join(content)}"

    # -- implemented by a dialect

    @abstractmethod
    def resource(self, message: AssistantMessage) -> Mapping[str, Any]:
        """Return an answer as a document: `emit_resource` of the dialect."""

    @abstractmethod
    def thought_items(self, texts: tuple[str, ...]) -> list[Item]:
        """Return the items of a thought."""

    @staticmethod
    @abstractmethod
    def text_item(text: str) -> Item:
        """Return the item of a text."""

    @staticmethod
    @abstractmethod
    def call_item(name: str, arguments: Mapping[str, object], call_id: str | None) -> Item:
        """Return the item of a call of a function; an id of `None` is made by each run."""

    @staticmethod
    def completed(item: Item, number: int) -> Item:
        """Return an item, the *number*-th from 1, with what the service always sends; unchanged by default."""
        return item

    @abstractmethod
    def call_id(self, item: Item) -> str | None:
        """Return the id of a call; `None` for another item, and without one."""

    @staticmethod
    def check_completed(message: AssistantMessage) -> None:
        """Check an answer whose document cannot have an error. Raises `FieldError`."""
        if message.error is not None:
            raise FieldError(("events", "expected an answer that has completed; `stream_error` ends one with an error"))

    def given_items(self) -> Sequence[Item]:
        """Return the items of the file; empty when it has another form."""
        return cast("tuple[Item, ...]", getattr(self, self.CONTENT[0]))

    # -- read

    def answer(self) -> Answer:
        """
        Return the answer in wire items.

        Raises:
            FieldError: The events are not those of one answer, or two calls have the same id.
        """
        name = self.CONTENT[0]
        # Any: the fields of an answer, by their names.
        fields: dict[str, Any] = {field.name: getattr(self, field.name) for field in attrs.fields(self.ANSWER)}
        if self.events is None:
            fields[name] = self._checked_items()
            return self.ANSWER(**fields)
        resource = self.resource(message_of(self.events))
        more = {key: value for key, value in resource.items() if key not in self.NOT_MORE}
        fields |= {name: resource.get(name, ()), "more": {**more, **fields["more"]}}
        for key in self.OF_RESOURCE:
            fields[key] = resource.get(key) if fields[key] is None else fields[key]
        return self.ANSWER(**fields)

    def _checked_items(self) -> list[Item]:
        name = self.CONTENT[0]
        given = self.given_items()
        short = [] if self.thought is None else self.thought_items(self.thought)
        short += [] if self.text is None else [self.text_item(self.text)]
        first_call = len(short)
        short += [self.call_item(call.name, call.arguments, call.id) for call in self.calls]
        items = [self.completed(item, number) for number, item in enumerate(given or short, 1)]
        known: set[str] = set()
        faults: list[tuple[str, str]] = []
        for index, item in enumerate(items):
            call_id = self.call_id(item)
            if call_id in known:
                place = f"{name}[{index}].id" if given else f"calls[{index - first_call}].id"
                faults.append((place, f"{call_id!r} is the id of another call of this answer"))
            known |= set() if call_id is None else {call_id}
        return checked(items, faults)
