"""
Single values between plain JSON and Python: frozen JSON, bytes, moments, ids.

Readers take what a JSON reader gives or what a caller hands in, and raise `Fault` for anything else.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, cast

from assistant_events.converters.codecs import array_of, ready
from assistant_events.converters.faults import Fault, kind_of, wrong
from assistant_events.values import MAX_DEPTH, JsonObject, State, thaw
from assistant_events.values.unicode import joined_pairs

DOCUMENT_DEPTH = MAX_DEPTH + 8
"""How deep a document may nest: a value in a content, in a part, in a message, in a transcript."""

_UTC = timedelta(0)


def as_dict(value: object) -> dict[str, Any]:
    """Return a mapping as a `dict` of that very class."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise wrong("", "an object", value)


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


def _freezer(cls: type[JsonObject]) -> tuple[Callable[[Any, int], Any], Callable[[Any, int], Any]]:
    """
    Return functions that freeze an object, and any value, into *cls*: both take how many levels it may have.

    The same as `cls(value)` in a third of its time, because what comes from a JSON reader is of a few exact types.
    """

    def freeze_object(value: Any, levels: int) -> Any:
        if type(value) is not dict:
            value = as_dict(value)
        if not levels:
            raise Fault(f"at most {MAX_DEPTH} levels", "more")
        items: dict[str, Any] = {}
        for key, item in value.items():
            if type(key) is not str:
                raise Fault("string keys", type(key).__name__)
            if not key.isascii():
                key = joined_pairs(key)  # noqa: PLW2901
            kind = type(item)
            if kind is str:
                items[key] = item if item.isascii() else joined_pairs(item)
            elif kind is int or kind is bool or item is None:
                items[key] = item
            else:
                items[key] = freeze_value(item, levels - 1)
        made = _Unfrozen()
        made._items = items
        made.__class__ = cls  # type: ignore[assignment]
        return made

    def freeze_value(value: Any, levels: int) -> Any:
        kind = type(value)
        if kind is str:
            return value if value.isascii() else joined_pairs(value)
        if kind is list or kind is tuple:
            if not levels:
                raise Fault(f"at most {MAX_DEPTH} levels", "more")
            return tuple([freeze_value(item, levels - 1) for item in value])
        if kind is int or kind is bool or value is None or (kind is float and isfinite(value)):
            return value
        if isinstance(value, Mapping):
            return freeze_object(value, levels)
        raise Fault("JSON", "a number that is not finite" if kind is float else kind_of(value))

    return freeze_object, freeze_value


_freeze_object, _freeze_value = _freezer(JsonObject)
_freeze_state, _ = _freezer(State)


def read_object(value: Any) -> JsonObject:
    """Freeze an object."""
    return _freeze_object(value, MAX_DEPTH)  # type: ignore[no-any-return]


def read_state(value: Any) -> State:
    """Freeze an object into a state."""
    return _freeze_state(value, MAX_DEPTH)  # type: ignore[no-any-return]


def read_document(document: Any) -> State:
    """Freeze a whole document with values of any legal depth inside it."""
    return _freeze_state(document, DOCUMENT_DEPTH)  # type: ignore[no-any-return]


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

OBJECT = ready(read_object, write_object, pack_object)
STATE = ready(read_state, write_object, pack_object)
VALUE = ready(lambda value: _freeze_value(value, MAX_DEPTH), thaw, lambda value: value)
BYTES = ready(_read_bytes, _write_bytes)
MOMENT = ready(_read_moment, _write_moment)
NAMES = ready(lambda value: frozenset(_names.read(value)), sorted)
