"""
Single values between plain JSON and Python: frozen JSON, bytes, moments, names.

Readers own the document they are given: it is of the exact types of a JSON reader, no surrogate pairs are left apart in its
strings, nobody else has it, and what becomes frozen JSON is frozen where it lies. `owned` makes such a document out of
what a caller hands in.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from gc import is_tracked
from math import isfinite
from operator import attrgetter
from typing import Any, cast

from assistant_events.converters.codecs import ArrayCodec, ValueCodec
from assistant_events.converters.faults import Fault, kind_of, wrong
from assistant_events.values import MAX_DEPTH, JsonObject, State
from assistant_events.values.unicode import joined_pairs

DOCUMENT_DEPTH = MAX_DEPTH + 8
"""How deep a document may nest: a value in a content, in a part, in a message, in a transcript."""

_UTC = timedelta(0)
_items_of = attrgetter("_items")


def owned(value: Any, levels: int = DOCUMENT_DEPTH) -> Any:
    """
    Return a copy of *value* that readers may own, without going deeper than *levels*.

    Raises:
        Fault: For what is no JSON.
    """
    kind = type(value)
    if kind is str:
        return value if value.isascii() else joined_pairs(value)
    if kind is int or kind is bool or value is None:
        return value
    if kind is dict:
        return _owned_object(value, levels)
    if kind is list:
        return _owned_array(value, levels)
    return _owned_other(value, levels)


def _owned_object(value: Mapping[Any, Any], levels: int) -> dict[str, Any]:
    if not levels:
        raise _too_deep(DOCUMENT_DEPTH)
    copy: dict[str, Any] = {}
    key: Any = None
    try:
        for key, item in value.items():
            if type(key) is str and key.isascii():
                copy[key] = owned(item, levels - 1)
            elif isinstance(key, str):
                copy[joined_pairs(str.__str__(key))] = owned(item, levels - 1)
            else:
                raise Fault("string keys", kind_of(key))
    except Fault as fault:
        raise fault.under(f".{key}") from None
    return copy


def _owned_array(value: Sequence[Any], levels: int) -> list[Any]:
    if not levels:
        raise _too_deep(DOCUMENT_DEPTH)
    copy: list[Any] = []
    try:
        for item in value:
            copy.append(owned(item, levels - 1))  # noqa: PERF401 - its length tells where a fault is
    except Fault as fault:
        raise fault.under(f"[{len(copy)}]") from None
    return copy


def _owned_other(value: object, levels: int) -> Any:
    match value:
        case str():
            return joined_pairs(str.__str__(value))
        case int():
            return int(value)
        case float() if isfinite(value):
            return float(value)
        case Mapping():
            return _owned_object(cast("Mapping[Any, Any]", value), levels)
        case bytes() | bytearray() | memoryview():
            raise Fault("JSON", kind_of(value))
        case Sequence():
            return _owned_array(cast("Sequence[Any]", value), levels)
        case _:
            raise Fault("JSON", kind_of(value))


def _too_deep(limit: int) -> Fault:
    return Fault(f"at most {limit} levels", "more")


def write_object(value: JsonObject) -> dict[str, Any]:
    """Write frozen JSON as a fresh `dict`."""
    items: dict[str, Any] = value._items
    if is_tracked(items):
        return {key: write_value(item) for key, item in items.items()}
    return items.copy()


def write_value(value: Any) -> Any:
    """Write any frozen JSON as plain JSON: `thaw` for what is known to be frozen."""
    if isinstance(value, tuple):
        return [write_value(item) for item in cast("tuple[Any, ...]", value)]
    kind = type(value)
    return write_object(value) if kind is JsonObject or kind is State else value


def pack_object(value: JsonObject) -> dict[str, Any]:
    """Return the items as they lie inside *value*: for msgspec, which changes nothing."""
    return _items_of(value)  # type: ignore[no-any-return]


class _Unfrozen(Mapping[str, Any]):
    # Has the slots of JsonObject, so that an object can be filled here and then be given that class: see `compiling`.
    __slots__ = ("_hash", "_items")

    _items: dict[str, Any]

    __getitem__ = __iter__ = __len__ = None  # type: ignore[assignment]


def _freezer(cls: type[JsonObject]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions that freeze an object and an array, of so many levels; objects become *cls*."""

    def freeze_object(items: Any, levels: int = MAX_DEPTH) -> Any:
        if type(items) is not dict:
            raise wrong("", "an object", items)
        if not levels:
            raise _too_deep(MAX_DEPTH)
        # What the garbage collector does not track holds nothing but strings, numbers and the like.
        if is_tracked(items):
            for key, item in items.items():
                if type(item) is dict:
                    items[key] = freeze_object(item, levels - 1)
                elif type(item) is list:
                    items[key] = freeze_array(item, levels - 1)
        made = _Unfrozen()
        made._items = items
        made.__class__ = cls  # type: ignore[assignment]
        return made

    def freeze_array(items: list[Any], levels: int = MAX_DEPTH) -> tuple[Any, ...]:
        if not levels:
            raise _too_deep(MAX_DEPTH)
        below = levels - 1
        for at, item in enumerate(items):
            if type(item) is dict:
                if below and not is_tracked(item):  # as above, without a call
                    made = _Unfrozen()
                    made._items = item
                    made.__class__ = cls  # type: ignore[assignment]
                    items[at] = made
                else:
                    items[at] = freeze_object(item, below)
            elif type(item) is list:
                items[at] = freeze_array(item, below)
        return tuple(items)

    return freeze_object, freeze_array


_read_object, _read_array = _freezer(JsonObject)
_read_state, _ = _freezer(State)


def _read_value(value: Any) -> Any:
    if type(value) is dict:
        return _read_object(value)
    return _read_array(value) if type(value) is list else value


def read_object(value: Any) -> JsonObject:
    """Freeze an object."""
    return _read_object(value)  # type: ignore[no-any-return]


def read_document(document: Any) -> State:
    """Freeze a whole document with values of any legal depth inside it."""
    return _read_state(document, DOCUMENT_DEPTH)  # type: ignore[no-any-return]


def _read_bytes(value: Any) -> bytes:
    if type(value) is not str:
        raise wrong("", "a string of base64", value)
    try:
        return a2b_base64(value, strict_mode=True)
    except ValueError:
        raise Fault("a string of base64", "another string") from None


def _write_bytes(value: bytes) -> str:
    return b2a_base64(value, newline=False).decode()


def _read_moment(value: Any) -> datetime:
    if type(value) is not str:
        raise wrong("", "a date and time in UTC", value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise Fault("a date and time in UTC", "another string") from None
    if moment.utcoffset() != _UTC:
        raise Fault("a date and time in UTC", "one of another or no time zone")
    return moment


def _write_moment(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")


def _read_name(value: Any) -> str:
    if type(value) is not str or not value:
        raise wrong("", "a non-empty string", value)
    return value


def _read_names(value: Any) -> frozenset[str]:
    return frozenset(_name_list.read(value))


OBJECT = ValueCodec(_read_object, write_object, wire=dict[str, Any], pack=pack_object)
STATE = ValueCodec(_read_state, write_object, wire=dict[str, Any], pack=pack_object)
VALUE = ValueCodec(_read_value, write_value, wire=Any)
BYTES = ValueCodec(_read_bytes, _write_bytes, wire=str)
MOMENT = ValueCodec(_read_moment, _write_moment, wire=str)
NAMES = ValueCodec(_read_names, sorted, wire=list[str])

_name_list = ArrayCodec(ValueCodec(_read_name, str, wire=str))
