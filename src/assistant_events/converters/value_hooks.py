"""
The cattrs hooks of single values: frozen JSON, bytes, times, words and arrays; and the errors of all hooks.

Structure hooks own the document that they are given: its objects become frozen JSON without a copy.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args, get_type_hints

from cattrs import Converter

from assistant_events.errors import JsonError
from assistant_events.messages import ApprovalStatus, Awaits, CallStatus, MessageStatus, PartStatus
from assistant_events.values import ErrorKind, FinishReason, JsonContent, JsonObject
from assistant_events.values.json_values import MAX_DEPTH, ShapeError, described, own, own_object

StructureHook: TypeAlias = Callable[[Any, Any], Any]
"""Takes plain JSON, which it owns, and the class; returns the value or raises `ShapeError`."""

UnstructureHook: TypeAlias = Callable[[Any], Any]
"""Takes a value and returns plain JSON, except that frozen JSON inside it is shared with the value."""

# Any: documents are plain JSON, and cattrs types its hooks no further.

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema."""

NAME: Final[Schema] = {"type": "string", "minLength": 1}

MISSING: Final = ("a value", "nothing")
TOO_DEEP: Final = (f"at most {MAX_DEPTH} levels", "more")


def wrong(step: str, expected: str, value: object) -> ShapeError:
    """Return the error for a value of the wrong type or range."""
    return ShapeError(expected, described(value), step)


def unknown_word(words: Iterable[str], value: object, *steps: str) -> ShapeError:
    """Return the error for a value outside a closed set of words. A string is shown: such fields hold no content."""
    got = repr(value if len(value) <= 60 else value[:60] + "...") if isinstance(value, str) else described(value)
    return ShapeError(f"one of {', '.join(words)}", got, *steps)


def check_object(document: object) -> dict[str, Any]:
    """Return a document that is an object, or raise the error that it is not."""
    if isinstance(document, dict):
        return document  # pyright: ignore[reportUnknownVariableType]  # isinstance leaves its items unknown
    raise wrong("", "an object", document)


def tag_of(document: object) -> str:
    """Return the `type` of a document, or raise the error that it has no name there."""
    tag = check_object(document).get("type", MISSING)
    if tag is MISSING:
        raise ShapeError(*MISSING, ".type")
    if not isinstance(tag, str) or not tag:
        raise wrong(".type", "a non-empty string", tag)
    return tag


def broken_rule(error: ValueError, document: Mapping[str, object]) -> ShapeError:
    """Return the error for fields that contradict each other, from the error of their class."""
    place, _, rule = str(error).partition(": expected ")  # `Class` or `Class.field` comes before it
    expected, _, got = rule.partition(", got ")
    _, dot, field = place.partition(".")
    return ShapeError(expected, got or f"an object with {', '.join(document)}", dot + field)


def structure_object(value: Any, cls: type[JsonObject], max_depth: int = MAX_DEPTH) -> Any:
    """Freeze a JSON object."""
    if type(value) is not dict:
        raise wrong("", "an object", value)
    try:
        return own_object(value, cls, max_depth)  # pyright: ignore[reportUnknownArgumentType]  # as above
    except JsonError:
        raise ShapeError(f"at most {max_depth} levels", "more") from None


def structure_tuple(hint: Any, converter: Converter) -> StructureHook:
    """Return the hook of a tuple, which is an array in a document."""
    item_hint = get_args(hint)[0]
    return _array_hook(converter.get_structure_hook(item_hint), item_hint, tuple)


def _array_hook(structure_item: StructureHook, hint: Any, cls: type) -> StructureHook:
    def structure_array(value: Any, _: Any) -> Any:
        if type(value) is not list:
            raise wrong("", "an array", value)
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]  # as above
        at = 0
        try:
            for at, item in enumerate(items):
                items[at] = structure_item(item, hint)
        except ShapeError as fault:
            raise fault.under(f"[{at}]") from None
        return cls(items)

    return structure_array


def _structure_value(value: Any, _: Any) -> Any:
    try:
        return own(value)
    except JsonError:
        raise ShapeError(*TOO_DEEP) from None


def _unstructure_value(value: Any) -> Any:
    return value


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


def _structure_name(value: Any, _: Any) -> str:
    if not isinstance(value, str) or not value:
        raise wrong("", "a non-empty string", value)
    return value


def _structure_error_kind(value: Any, _: Any) -> ErrorKind | str:
    try:
        return _ERROR_KINDS[value]
    except (KeyError, TypeError):
        return _structure_name(value, _)


class ValueHooks(NamedTuple):
    """The hooks of a value, and the schema of its documents."""

    structure: StructureHook
    unstructure: UnstructureHook
    schema: Schema


def _word_hooks(words: Mapping[str, str]) -> ValueHooks:
    def structure(value: Any, _: Any) -> str:
        try:
            return words[value]
        except (KeyError, TypeError):
            raise unknown_word(words, value) from None

    return ValueHooks(structure, str.__str__, {"enum": [*words]})


_ERROR_KINDS: Mapping[str, ErrorKind] = {kind.value: kind for kind in ErrorKind}

# RFC 4648, section 4, with padding.
_BASE64: Final = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"

VALUE_HOOKS: Final[Mapping[Any, ValueHooks]] = {
    # `JsonValue` contains itself; in the hints of a class it is another object.
    get_type_hints(JsonContent)["value"]: ValueHooks(_structure_value, _unstructure_value, {}),
    bytes: ValueHooks(
        _structure_bytes,
        _unstructure_bytes,
        {"type": "string", "contentEncoding": "base64", "pattern": _BASE64},
    ),
    datetime: ValueHooks(
        _structure_time, _unstructure_time, {"type": "string", "format": "date-time", "pattern": "(Z|[+-]00:00)$"}
    ),
    ErrorKind | str: ValueHooks(
        _structure_error_kind, str.__str__, {"anyOf": [{"enum": [kind.value for kind in ErrorKind]}, NAME]}
    ),
    Literal["auto", "manual"]: _word_hooks({"auto": "auto", "manual": "manual"}),
    frozenset[str]: ValueHooks(_array_hook(_structure_name, str, frozenset), sorted, {"type": "array", "items": NAME}),
    **{
        words: _word_hooks({word.value: word for word in words})
        for words in (ApprovalStatus, Awaits, FinishReason, MessageStatus, PartStatus, CallStatus)
    },
}
"""The hooks of what a field may have, except strings, numbers, booleans, objects and the library's own classes."""
