"""
The cattrs hooks of single values: frozen JSON, bytes, times, words and arrays.

Structure hooks own the document that they are given: its objects become frozen JSON without a copy.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias, get_args, get_type_hints

from cattrs import Converter

from assistant_events.converters.errors import check_array, check_object, unknown_word, wrong
from assistant_events.errors import JsonError
from assistant_events.messages import Awaits, CallStatus, MessageStatus, PartStatus
from assistant_events.values import ErrorKind, FinishReason, JsonContent, JsonObject, State
from assistant_events.values.json_values import MAX_DEPTH, ShapeError, own_object

StructureHook: TypeAlias = Callable[[Any, Any], Any]
"""Takes plain JSON, which it owns, and the class; returns the value or raises `ShapeError`."""

UnstructureHook: TypeAlias = Callable[[Any], Any]
"""Takes a value and returns plain JSON, except that frozen JSON inside it is shared with the value."""

# Any: documents are plain JSON, and cattrs types its hooks no further.


def structure_object(value: Any, cls: type[JsonObject], max_depth: int = MAX_DEPTH) -> Any:
    """Freeze a JSON object."""
    try:
        return own_object(value if type(value) is dict else check_object(value), cls, max_depth)
    except JsonError:
        raise ShapeError(f"at most {MAX_DEPTH} levels", "more") from None


def structure_tuple(hint: Any, converter: Converter) -> StructureHook:
    """Return the hook of a tuple, which is an array in a document."""
    item_hint = get_args(hint)[0]
    structure_item = converter.get_structure_hook(item_hint)

    def structure(value: Any, _: Any) -> tuple[Any, ...]:
        document, items = check_array(value), list[Any]()
        try:
            for item in document:
                items.append(structure_item(item, item_hint))
        except ShapeError as fault:
            raise fault.under(f"[{len(items)}]") from None
        return tuple(items)

    return structure


def unstructure_tuple(hint: Any, converter: Converter) -> UnstructureHook:
    """Return the hook of a tuple."""
    unstructure_item = converter.get_unstructure_hook(get_args(hint)[0])
    return lambda values: [unstructure_item(value) for value in values]


def _structure_value(value: Any, _: Any) -> Any:
    return structure_object({"": value}, JsonObject, MAX_DEPTH + 1)[""]


def _structure_bytes(value: Any, _: Any) -> bytes:
    if not isinstance(value, str):
        raise wrong("", "a string of base64", value)
    try:
        return a2b_base64(value, strict_mode=True)
    except ValueError:
        raise ShapeError("a string of base64", "another string") from None


def _unstructure_bytes(value: bytes) -> str:
    return b2a_base64(value, newline=False).decode()


def _structure_time(value: Any, _: Any) -> datetime:
    if not isinstance(value, str):
        raise wrong("", "a date and time in UTC", value)
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        raise ShapeError("a date and time in UTC", "another string") from None
    if time.utcoffset() != timedelta(0):
        raise ShapeError("a date and time in UTC", "one of another or no time zone")
    return time


def _unstructure_time(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")


def _structure_error_kind(value: Any, _: Any) -> ErrorKind | str:
    if not isinstance(value, str) or not value:
        raise wrong("", "a non-empty string", value)
    return _ERROR_KINDS.get(value, value)


def _structure_names(value: Any, _: Any) -> frozenset[str]:
    for at, name in enumerate(check_array(value)):
        if not isinstance(name, str) or not name:
            raise wrong(f"[{at}]", "a non-empty string", name)
    return frozenset(value)


def _word_hooks(words: Mapping[str, str]) -> tuple[StructureHook, UnstructureHook]:
    def structure(value: Any, _: Any) -> str:
        try:
            return words[value]
        except (KeyError, TypeError):
            raise unknown_word(words, value) from None

    return structure, str.__str__


_ERROR_KINDS: Mapping[str, ErrorKind] = {kind.value: kind for kind in ErrorKind}

VALUE_HOOKS: Final[Mapping[Any, tuple[StructureHook, UnstructureHook]]] = {
    JsonObject: (structure_object, attrgetter("_items")),
    State: (structure_object, attrgetter("_items")),
    # `JsonValue` contains itself; in the hints of a class it is another object.
    get_type_hints(JsonContent)["value"]: (_structure_value, lambda value: value),
    bytes: (_structure_bytes, _unstructure_bytes),
    datetime: (_structure_time, _unstructure_time),
    ErrorKind | str: (_structure_error_kind, str.__str__),
    Literal["auto", "manual"]: _word_hooks({"auto": "auto", "manual": "manual"}),
    frozenset[str]: (_structure_names, sorted),
    **{
        words: _word_hooks({word.value: word for word in words})
        for words in (Awaits, FinishReason, MessageStatus, PartStatus, CallStatus)
    },
}
"""The hooks of every type that a field may have, except strings, numbers, booleans and the library's own classes."""
