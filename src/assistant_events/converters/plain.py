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
from math import isfinite
from typing import Any, cast

from assistant_events.converters.codecs import Reader, array_of, ready
from assistant_events.converters.faults import Fault, kind_of, wrong
from assistant_events.values import MAX_DEPTH, JsonObject, State, thaw
from assistant_events.values.unicode import joined_pairs

DOCUMENT_DEPTH = MAX_DEPTH + 8
"""How deep a document may nest: a value in a content, in a part, in a message, in a transcript."""

_UTC = timedelta(0)


def owned(value: object, levels: int = DOCUMENT_DEPTH) -> Any:
    """
    Return a copy of *value* that readers may own, without going deeper than *levels*.

    Raises:
        Fault: For what is no JSON.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return joined_pairs(str.__str__(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    if isinstance(value, Mapping):
        return _owned_object(cast("Mapping[object, object]", value), levels)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return _owned_array(cast("Sequence[object]", value), levels)
    raise Fault("JSON", "a number that is not finite" if isinstance(value, float) else kind_of(value))


def _owned_object(value: Mapping[object, object], levels: int) -> dict[str, Any]:
    _check_levels(levels, DOCUMENT_DEPTH)
    copy: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise Fault("string keys", kind_of(key))
        try:
            copy[joined_pairs(str.__str__(key))] = owned(item, levels - 1)
        except Fault as fault:
            raise fault.under(f".{key}") from None
    return copy


def _owned_array(value: Sequence[object], levels: int) -> list[Any]:
    _check_levels(levels, DOCUMENT_DEPTH)
    copy: list[Any] = []
    try:
        for item in value:
            copy.append(owned(item, levels - 1))  # noqa: PERF401 - its length tells where a fault is
    except Fault as fault:
        raise fault.under(f"[{len(copy)}]") from None
    return copy


def _check_levels(levels: int, limit: int) -> None:
    if not levels:
        raise Fault(f"at most {limit} levels", "more")


def write_object(value: JsonObject) -> dict[str, Any]:
    """Write frozen JSON as a fresh `dict`."""
    return {key: thaw(item) for key, item in value._items.items()}


def pack_object(value: JsonObject) -> dict[str, Any]:
    """Return the items as they lie inside *value*: for the JSON writer, which changes nothing."""
    return value._items


class _Unfrozen(Mapping[str, Any]):
    # Has the slots of JsonObject, so that an object can be filled here and then be given that class: see `compiling`.
    __slots__ = ("_hash", "_items")

    _items: dict[str, Any]

    __getitem__ = __iter__ = __len__ = None  # type: ignore[assignment]


def _freezer(cls: type[JsonObject]) -> tuple[Reader, Callable[[Any, int], Any]]:
    """Return functions that freeze an object, and any value of so many levels; objects become *cls*."""

    def freeze_object(items: Any, levels: int = MAX_DEPTH) -> Any:
        if type(items) is not dict:
            raise wrong("", "an object", items)
        _check_levels(levels, MAX_DEPTH)
        for key, item in items.items():
            kind = type(item)
            if kind is dict or kind is list:
                items[key] = freeze(item, levels - 1)
        made = _Unfrozen()
        made._items = items
        made.__class__ = cls  # type: ignore[assignment]
        return made

    def freeze(value: Any, levels: int = MAX_DEPTH) -> Any:
        kind = type(value)
        if kind is dict:
            return freeze_object(value, levels)
        if kind is list:
            _check_levels(levels, MAX_DEPTH)
            return tuple([freeze(item, levels - 1) for item in value])
        return value

    return freeze_object, freeze


_read_object, _read_value = _freezer(JsonObject)
_read_state, _ = _freezer(State)


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


_names = array_of(ready(_read_name, str))

OBJECT = ready(_read_object, write_object, pack_object)
STATE = ready(_read_state, write_object, pack_object)
VALUE = ready(_read_value, thaw, lambda value: value._items if type(value) is JsonObject else value)
BYTES = ready(_read_bytes, _write_bytes)
MOMENT = ready(_read_moment, _write_moment)
NAMES = ready(lambda value: frozenset(_names.read(value)), sorted)
