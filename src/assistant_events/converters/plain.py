"""
Single values between plain JSON and Python: frozen JSON, bytes, moments, names.

Readers own the document they are given: it is of the exact types of a JSON reader, no surrogate pairs are left apart in
its strings, nobody else has it, and what becomes frozen JSON is frozen where it lies. `owned` makes such a document out
of what a caller hands in.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from gc import is_tracked
from math import isfinite
from operator import attrgetter
from typing import Any

from assistant_events.converters.codecs import ArrayCodec, ValueCodec, type_of
from assistant_events.converters.faults import ShapeError, kind_of, wrong
from assistant_events.values import MAX_DEPTH, JsonObject, State
from assistant_events.values.text import joined_pairs

DOCUMENT_DEPTH = MAX_DEPTH + 8
"""How deep a document may nest: a value in a content, in a part, in a message, in a transcript."""

_EVENT_DEPTH = DOCUMENT_DEPTH - 1
"""How deep an unknown event may nest: a record around it is one level more."""

_UTC = timedelta(0)
_NESTED = frozenset({tuple, JsonObject, State})
_items_of = attrgetter("_items")


def owned(value: Any, levels: int = DOCUMENT_DEPTH) -> Any:
    """
    Return a copy of *value* that readers may own, without going deeper than *levels*.

    Raises:
        ShapeError: For what is no JSON.
    """
    kind = type_of(value)
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
    for key, item in value.items():
        kind = type_of(key)
        if not isinstance(key, str):
            raise ShapeError("string keys", kind_of(key))
        try:
            copy[key if kind is str and key.isascii() else joined_pairs(str.__str__(key))] = owned(item, levels - 1)
        except ShapeError as fault:
            raise fault.under(f".{key}") from None
    return copy


def _owned_array(value: Sequence[Any], levels: int) -> list[Any]:
    if not levels:
        raise _too_deep(DOCUMENT_DEPTH)
    copy: list[Any] = []
    try:
        for item in value:
            copy.append(owned(item, levels - 1))  # noqa: PERF401 - its length tells where a fault is
    except ShapeError as fault:
        raise fault.under(f"[{len(copy)}]") from None
    return copy


def _owned_other(value: Any, levels: int) -> Any:
    anything = value
    match value:
        case str():
            return joined_pairs(str.__str__(value))
        case int():
            return int(value)
        case float() if isfinite(value):
            return float(value)
        case Mapping():
            return _owned_object(anything, levels)
        case Sequence() if not isinstance(value, (bytes, bytearray, memoryview)):
            return _owned_array(anything, levels)
        case _:
            raise ShapeError("JSON", kind_of(anything))


def _too_deep(limit: int) -> ShapeError:
    return ShapeError(f"at most {limit} levels", "more")


class _Unfrozen(Mapping[str, Any]):
    # Has the slots of JsonObject, so that an object can be filled here and then be given that class: see `plans.twin`.
    __slots__ = ("_hash", "_items")

    __getitem__ = __iter__ = __len__ = None  # type: ignore[assignment]  # there is nothing to call on it


def _freeze_object(cls: type[JsonObject], levels: int, items: Any) -> Any:
    kind = type_of(items)
    if kind is not dict:
        raise wrong("", "an object", items)
    if not levels:
        raise _too_deep(MAX_DEPTH)
    # What the garbage collector does not track holds no `dict` and no `list`.
    if is_tracked(items):
        for key, item in items.items():
            kind = type_of(item)
            if kind is dict:
                items[key] = _freeze_object(cls, levels - 1, item)
            elif kind is list:
                items[key] = _freeze_array(cls, levels - 1, item)
    made: Any = _Unfrozen()
    made._items = items
    made.__class__ = cls
    return made


def _freeze_array(cls: type[JsonObject], levels: int, items: list[Any]) -> tuple[Any, ...]:
    if not levels:
        raise _too_deep(MAX_DEPTH)
    below = levels - 1
    for at, item in enumerate(items):
        kind = type_of(item)
        if kind is list:
            items[at] = _freeze_array(cls, below, item)
        elif kind is dict and below and not is_tracked(item):  # as above, without a call
            made: Any = _Unfrozen()
            made._items = item
            made.__class__ = cls
            items[at] = made
        elif kind is dict:
            items[at] = _freeze_object(cls, below, item)
    return tuple(items)


read_object = partial(_freeze_object, JsonObject, MAX_DEPTH)
"""Freeze an object."""

read_state = partial(_freeze_object, State, MAX_DEPTH)
"""Freeze an object into a state."""

read_document = partial(_freeze_object, State, _EVENT_DEPTH)
"""Freeze a whole event, with values of any legal depth inside it."""


def _read_value(value: Any) -> Any:
    kind = type_of(value)
    if kind is dict:
        return read_object(value)
    return _freeze_array(JsonObject, MAX_DEPTH, value) if kind is list else value


def write_object(value: JsonObject) -> dict[str, Any]:
    """Write frozen JSON as a fresh `dict`."""
    items = pack_object(value)
    return {key: write_value(item) if type_of(item) in _NESTED else item for key, item in items.items()}


def write_value(value: Any) -> Any:
    """Write any frozen JSON as fresh plain JSON."""
    kind = type_of(value)
    if kind is tuple:
        return [write_value(item) for item in value]
    return write_object(value) if kind in _NESTED else value


def pack_object(value: JsonObject) -> dict[str, Any]:
    """Return the items as they lie inside *value*, for msgspec, which changes nothing."""
    items: dict[str, Any] = _items_of(value)
    return items


def _read_bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise wrong("", "a string of base64", value)
    try:
        return a2b_base64(value, strict_mode=True)
    except ValueError:
        raise ShapeError("a string of base64", "another string") from None


def _write_bytes(value: bytes) -> str:
    return b2a_base64(value, newline=False).decode()


def _read_moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise wrong("", "a date and time in UTC", value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ShapeError("a date and time in UTC", "another string") from None
    if moment.utcoffset() != _UTC:
        raise ShapeError("a date and time in UTC", "one of another or no time zone")
    return moment


def _write_moment(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")


def _read_name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise wrong("", "a non-empty string", value)
    return value


def _read_names(value: Any) -> frozenset[str]:
    return frozenset(_name_list.read(value))


OBJECT = ValueCodec(read_object, write_object, wire=dict[str, Any], pack=pack_object)
STATE = ValueCodec(read_state, write_object, wire=dict[str, Any], pack=pack_object)
VALUE = ValueCodec(_read_value, write_value, wire=Any)
BYTES = ValueCodec(_read_bytes, _write_bytes, wire=str)
MOMENT = ValueCodec(_read_moment, _write_moment, wire=str)
NAMES = ValueCodec(_read_names, sorted, wire=list[str])

_name_list = ArrayCodec(ValueCodec(_read_name, str, wire=str))
