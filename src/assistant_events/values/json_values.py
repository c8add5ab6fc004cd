"""
JSON that cannot change.

`JsonObject` is a mapping, a JSON array is a tuple, everything else is itself. `freeze` makes them out of plain Python,
`thaw` gives plain Python back. `State` is a `JsonObject` that never shows its values.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from math import isfinite
from typing import Any, Self, TypeAlias, TypeVar

from assistant_events.errors import JsonError
from assistant_events.values.text import joined_pairs

MAX_DEPTH = 200
"""
How deep objects and arrays may nest in one JSON value, however it is made: `freeze`, `own` and the converters have the
same limit, so that every value that can be made can be stored and read. Providers stay below 20; the standard reader
gives up near 1,000.
"""


class JsonObject(Mapping[str, "JsonValue"]):
    """
    An immutable JSON object.

    Takes any mapping with string keys and freezes it deeply. Keeps the order of keys; order plays no part in `==`.
    Equal to a plain mapping of the same JSON; `True` and `1` are different JSON and so never equal here.

    Raises:
        TypeError: For what is no JSON, with the path of the place.
    """

    __slots__ = ("_hash", "_items")

    _items: dict[str, JsonValue]
    _hash: int

    def __init__(self, items: Mapping[str, object] | None = None, /, **more: object) -> None:
        given: Mapping[str, object] = {} if items is None else items
        if more:
            given = {**given, **more}
        try:
            items_ = _frozen_items(given, type(self), 1)
        except _NotJsonError as fault:
            raise fault.as_error() from None
        object.__setattr__(self, "_items", items_)

    def __getitem__(self, key: str) -> JsonValue:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def keys(self) -> KeysView[str]:
        """Return the keys, in their order."""
        return self._items.keys()

    def values(self) -> ValuesView[JsonValue]:
        """Return the values, in the order of their keys."""
        return self._items.values()

    def items(self) -> ItemsView[str, JsonValue]:
        """Return keys and values, in their order."""
        return self._items.items()

    def __or__(self, other: Mapping[str, object]) -> Self:
        """Return a new object with the keys of both; those of *other* win."""
        return type(self)({**self._items, **other})

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Mapping):
            return NotImplemented
        return same_json(self, other)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            value = hash(frozenset(self._items.items()))
            object.__setattr__(self, "_hash", value)
            return value

    def __repr__(self) -> str:
        try:
            return f"{type(self).__name__}({thaw(self)!r})"
        except ValueError:  # an integer of over 4,300 digits has no repr
            return f"{type(self).__name__}(<{len(self)} keys>)"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return (_wrap, (type(self), self._items))


class State(JsonObject):
    """
    Provider-made continuation data: opaque, kept verbatim, given back to the same provider.

    Its values, and those of the objects inside it, never show in `repr`, and so not in logs or errors.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"State(<{', '.join(self)}>)" if self._items else "State()"


JsonValue: TypeAlias = bool | int | float | str | tuple["JsonValue", ...] | JsonObject | None
"""A frozen JSON value. Floats are finite."""

_Object = TypeVar("_Object", bound=JsonObject)


def freeze(value: object) -> JsonValue:
    """
    Return *value* as immutable JSON: mappings as `JsonObject`, lists and tuples as tuples.

    Raises:
        TypeError: For what is no JSON (other types, keys that are no strings, NaN, infinities, nesting deeper than
            `MAX_DEPTH`), with the path of the place.
    """
    if isinstance(value, JsonObject) and type(value) is JsonObject:
        return value
    try:
        return _frozen(value, JsonObject, 0)
    except _NotJsonError as fault:
        raise fault.as_error() from None


_CONTAINERS = frozenset((dict, list))


def own(value: Any, cls: type[JsonObject] = JsonObject, depth: int = MAX_DEPTH) -> Any:
    """
    Return plain JSON that `read_json` has just made as immutable JSON, without a copy.

    Whoever calls it hands *value* over: nothing else may hold it or what is inside it, and it must be what JSON gives
    (`dict`, `list` and scalars, strings without surrogate pairs in halves).

    Args:
        value: What was read.

        cls: What its objects become.

        depth: How many levels are left; for the recursion.

    Raises:
        JsonError: *value* nests deeper than `MAX_DEPTH`, for example because it is a document of that depth with a
            level around it. It must not be used afterwards: parts of it are frozen.
    """
    # Any: see `read_json`.
    kind = type(value)
    if kind is dict:
        if not _CONTAINERS.isdisjoint(map(type, value.values())):
            if depth <= 1:
                raise JsonError(f"nested deeper than {MAX_DEPTH} levels")
            for key, item in value.items():
                if type(item) in _CONTAINERS:
                    value[key] = own(item, cls, depth - 1)
        made = object.__new__(cls)
        _set_items(made, value)
        return made
    if kind is list:
        if _CONTAINERS.isdisjoint(map(type, value)):
            return tuple(value)
        if depth <= 1:
            raise JsonError(f"nested deeper than {MAX_DEPTH} levels")
        return tuple([own(item, cls, depth - 1) if type(item) in _CONTAINERS else item for item in value])
    return value


def thaw(value: object) -> Any:
    """Return a fresh plain copy of frozen JSON: `dict`, `list` and scalars, safe to change and to serialise."""
    # Any: plain JSON is what callers index into; a recursive union would make each of them cast.
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [thaw(item) for item in value]
    return value


def same_json(one: object, other: object) -> bool:
    """Tell whether both are the same JSON value; key order and the kind of mapping or sequence play no part."""
    if one is other:
        return True
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and len(one) == len(other)
            and all(key in other and same_json(item, other[key]) for key, item in one.items())
        )
    if isinstance(one, (tuple, list)):
        return (
            isinstance(other, (tuple, list))
            and len(one) == len(other)
            and all(same_json(a, b) for a, b in zip(one, other, strict=True))
        )
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    return one == other


def json_type(value: object) -> str:
    """Return the JSON type of *value* in words, without its content; for what is no JSON the name of its class."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "an array"
        case Mapping():
            return "an object"
        case _:
            return type(value).__name__


class same_as:  # noqa: N801 - reads as what it does in a field definition
    """Wrap a JSON value so that `==` compares it as JSON. For `attrs.field(eq=same_as)`."""

    __slots__ = ("value",)

    def __init__(self, value: JsonValue) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, same_as) and same_json(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.value)


def plain_mapping(value: object) -> object:
    """
    Return the items of a `JsonObject`, for writers of JSON that know only `dict`; they must not change it.

    Raises:
        TypeError: For anything else.
    """
    if isinstance(value, JsonObject):
        return value._items  # pyright: ignore[reportPrivateUsage]
    raise TypeError(f"expected JSON, got {type(value).__name__}")


_set_items = JsonObject._items.__set__  # type: ignore[attr-defined]  # the slot's descriptor, past `__setattr__`


def _wrap(cls: type[_Object], items: dict[str, JsonValue]) -> _Object:
    made = object.__new__(cls)
    _set_items(made, items)
    return made


class _NotJsonError(Exception):
    """
    What is wrong, and where.

    Each level adds its step on the way up. Paths made on the way down take quadratic time below a long key.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: list[str] = []

    def under(self, step: str) -> _NotJsonError:
        self.steps.append(step)
        return self

    def as_error(self) -> TypeError:
        path = "$" + "".join(reversed(self.steps))
        return TypeError(f"{path if len(path) <= _PATH_SHOWN else path[: _PATH_SHOWN - 3] + '...'}: {self.reason}")


_PATH_SHOWN = 60
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


def _frozen_items(items: object, cls: type[JsonObject], depth: int) -> dict[str, JsonValue]:
    if isinstance(items, JsonObject) and type(items) is cls and depth == 1:
        return items._items  # pyright: ignore[reportPrivateUsage]
    if not isinstance(items, Mapping):
        raise _NotJsonError(f"expected a JSON object, got {type(items).__name__}")
    if depth > MAX_DEPTH:
        raise _NotJsonError(_TOO_DEEP)
    frozen: dict[str, JsonValue] = {}
    key: Any
    item: Any
    for key, item in items.items():
        kind = type(item)
        if type(key) is not str:
            if not isinstance(key, str):
                raise _NotJsonError(f"expected string keys, got {type(key).__name__}")
            key = str.__str__(key)
        if not key.isascii():
            key = joined_pairs(key)
        if item is None or kind is bool or kind is int or (kind is str and item.isascii()):
            frozen[key] = item
        else:
            try:
                frozen[key] = _frozen(item, cls, depth)
            except _NotJsonError as fault:
                raise fault.under(f".{key}" if cls is JsonObject else ".*") from None
    return frozen


def _frozen(value: object, cls: type[JsonObject], depth: int) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return joined_pairs(value if type(value) is str else str.__str__(value))
    if isinstance(value, int):
        return value if type(value) is int else int(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise _NotJsonError(f"expected a finite number, got {value!r}")
        return value if type(value) is float else float(value)
    if isinstance(value, Mapping):
        return _wrap(cls, _frozen_items(value, cls, depth + 1))
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        if depth >= MAX_DEPTH:
            raise _NotJsonError(_TOO_DEEP)
        return _frozen_array(value, cls, depth + 1)
    raise _NotJsonError(f"expected JSON, got {type(value).__name__}")


def _frozen_array(values: Sequence[object], cls: type[JsonObject], depth: int) -> tuple[JsonValue, ...]:
    frozen: list[JsonValue] = []
    try:
        for item in values:
            frozen.append(_frozen(item, cls, depth))  # noqa: PERF401 - its length tells where a fault is
    except _NotJsonError as fault:
        raise fault.under(f"[{len(frozen)}]") from None
    return tuple(frozen)
