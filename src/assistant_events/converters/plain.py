"""
Plain JSON of a document to values and back: frozen JSON, bytes, moments, tuples.

Functions here take what a JSON reader gives or what a caller hands in, and raise `Fault` for anything else.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, TypeAlias

from assistant_events.converters.faults import Fault, wrong
from assistant_events.values import MAX_DEPTH, JsonObject, JsonValue, State, thaw
from assistant_events.values.fields import NO_FIELDS, NO_STATE
from assistant_events.values.frozen import _wrap
from assistant_events.values.unicode import joined_pairs

DOCUMENT_DEPTH = MAX_DEPTH + 8
"""How deep a document of ours may nest: a value inside a content inside a part inside a message of a transcript."""

Reader: TypeAlias = Callable[[Any], Any]
Writer: TypeAlias = Callable[[Any], Any]
# Any: documents are plain JSON, and what is read is of the class that the caller names.

_UTC = timedelta(0)


def as_dict(document: object) -> dict[str, Any]:
    """Return *document* as a `dict` of its own class; other mappings are taken too."""
    if isinstance(document, Mapping):
        return dict(document)
    raise wrong("", "an object", document)


def read_state(value: object) -> State:
    """Freeze an object into a `State`."""
    items = _frozen_items(value if type(value) is dict else as_dict(value), State, MAX_DEPTH)
    return _wrap(State, items) if items else NO_STATE


def read_object(value: object) -> JsonObject:
    """Freeze an object."""
    items = _frozen_items(value if type(value) is dict else as_dict(value), JsonObject, MAX_DEPTH)
    return _wrap(JsonObject, items) if items else NO_FIELDS


def read_value(value: object) -> JsonValue:
    """Freeze any JSON value."""
    return _frozen(value, JsonObject, MAX_DEPTH)


def read_unknown(document: dict[str, Any]) -> State:
    """Freeze a whole document, values of full depth inside it included."""
    return _wrap(State, _frozen_items(document, State, DOCUMENT_DEPTH))


def read_bytes(value: object) -> bytes:
    """Decode base64."""
    if type(value) is not str:
        raise wrong("", "a string of base64", value)
    try:
        return a2b_base64(value, strict_mode=True)
    except ValueError:
        raise Fault("a string of base64", "another string") from None


def write_bytes(value: bytes) -> str:
    """Encode as base64."""
    return b2a_base64(value, newline=False).decode()


def read_moment(value: object) -> datetime:
    """Read a moment in UTC from ISO 8601."""
    if type(value) is not str:
        raise wrong("", "a date and time in UTC", value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise Fault("a date and time in UTC", "another string") from None
    if moment.utcoffset() != _UTC:
        raise Fault("a date and time in UTC", "one without or with another offset")
    return moment


def write_moment(value: datetime) -> str:
    """Write a moment in UTC as ISO 8601 with a Z; microseconds are kept."""
    return value.isoformat().replace("+00:00", "Z")


def write_object(value: JsonObject) -> dict[str, Any]:
    """Write as a fresh `dict`."""
    return {key: thaw(item) for key, item in value._items.items()}


def share_object(value: JsonObject) -> dict[str, JsonValue]:
    """Return the items as they lie inside *value*: for the JSON writer, which changes nothing."""
    return value._items


def tuple_reader(read: Reader) -> Reader:
    """Return a function that reads an array of what *read* reads."""

    def read_tuple(value: object) -> tuple[Any, ...]:
        if type(value) is not list and type(value) is not tuple:
            raise wrong("", "an array", value)
        made: list[Any] = []
        try:
            for item in value:
                made.append(read(item))  # noqa: PERF401 - its length tells where a fault is
        except Fault as fault:
            raise fault.under(f"[{len(made)}]") from None
        return tuple(made)

    return read_tuple


def list_writer(write: Writer) -> Writer:
    """Return a function that writes an array of what *write* writes."""

    def write_list(values: Iterable[Any]) -> list[Any]:
        return [write(value) for value in values]

    return write_list


def _frozen_items(items: dict[str, Any], cls: type[JsonObject], levels: int) -> dict[str, JsonValue]:
    if not levels:
        raise Fault(f"at most {MAX_DEPTH} levels", "more")
    made: dict[str, JsonValue] = {}
    for key, item in items.items():
        kind = type(item)
        if type(key) is not str:
            raise Fault("string keys", type(key).__name__)
        if not key.isascii():
            key = joined_pairs(key)
        if kind is str:
            made[key] = item if item.isascii() else joined_pairs(item)
        elif kind is int or kind is bool or item is None:
            made[key] = item
        else:
            made[key] = _frozen(item, cls, levels - 1)
    return made


def _frozen(value: Any, cls: type[JsonObject], levels: int) -> JsonValue:
    kind = type(value)
    if kind is str:
        return value if value.isascii() else joined_pairs(value)
    if kind is dict:
        return _wrap(cls, _frozen_items(value, cls, levels))
    if kind is list or kind is tuple:
        if not levels:
            raise Fault(f"at most {MAX_DEPTH} levels", "more")
        return tuple([_frozen(item, cls, levels - 1) for item in value])
    if kind is int or kind is bool or value is None or (kind is float and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return _wrap(cls, _frozen_items(dict(value), cls, levels))
    raise Fault("JSON", "no finite number" if kind is float else kind.__name__)
