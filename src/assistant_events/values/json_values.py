"""
Immutable JSON.

A JSON object is a `JsonObject`, an array is a tuple, and everything else is itself. `freeze` converts plain Python,
`thaw` converts back. `State` is a `JsonObject` that never shows its values.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from math import isfinite
from typing import Any, Self, TypeAlias, TypeVar

from assistant_events.errors import JsonError, StructureError
from assistant_events.values.construct import draft_of
from assistant_events.values.text import joined_pairs

MAX_DEPTH = 200
"""
Maximum nesting of objects and arrays in one JSON value. `freeze`, `own` and the converters have the same limit, so that
every value that can be made can be stored and read. Providers stay below 20; the standard reader fails near 1,000.
"""


DOCUMENT_DEPTH = MAX_DEPTH + 8
"""Maximum nesting of a document: a JSON value in a content, in a part, in a message, in a transcript."""


class JsonObject(Mapping[str, "JsonValue"]):
    """
    An immutable JSON object.

    Accepts any mapping with string keys and freezes it deeply. Keeps the order of keys, which `==` ignores. Equal to a
    plain mapping of the same JSON; `True` and `1` are different JSON and not equal.

    Raises:
        TypeError: A value is not JSON; the error has its path.
    """

    __slots__ = ("_hash", "_items")

    _items: dict[str, JsonValue]
    _hash: int

    _json: dict[str, Any]
    """The same for writers: plain inside while nothing has looked into a `LazyObject`."""

    def __init__(self, items: Mapping[str, object] | None = None, /, **more: object) -> None:
        given: Mapping[str, object] = {} if items is None else items
        if more:
            given = {**given, **more}
        try:
            items_ = _copied_items(given, type(self), MAX_DEPTH)
        except ShapeError as fault:
            raise fault.as_type_error() from None
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
        items = {**self._items, **other}
        return type(self)(items)

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
            return f"{JsonObject.__name__}({thaw(self)!r})"
        except ValueError:  # an integer of over 4,300 digits has no repr
            return f"{JsonObject.__name__}(<{len(self)} keys>)"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        items = self._items  # before the class, which a `LazyObject` changes when it is looked into
        return (wrap, (type(self), items))


class State(JsonObject):
    """
    Provider-made continuation data: opaque, kept verbatim, returned to the same provider.

    Its values, and those of the objects inside it, never show in `repr`, and so not in logs or errors.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"State(<{', '.join(self)}>)" if self._items else "State()"


class LazyObject(JsonObject):
    """
    A `JsonObject` of plain JSON, which is frozen when something looks into it; from then on it is a `JsonObject`.

    The inputs of calls can be large, and most are only written and thawed.
    """

    __slots__ = ()

    @property
    def _items(self) -> dict[str, JsonValue]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]
        items, frozen = items_of(self), State if isinstance(self, State) else JsonObject
        own_object(items, frozen)
        object.__setattr__(self, "__class__", frozen)
        return items

    def __len__(self) -> int:
        return len(items_of(self))


class LazyState(State):
    """A `State` of plain JSON, which is frozen when something looks into it; from then on it is a `State`."""

    __slots__ = ()

    _items = LazyObject._items  # pyright: ignore[reportAssignmentType, reportPrivateUsage]
    __len__ = LazyObject.__len__


JsonValue: TypeAlias = bool | int | float | str | tuple["JsonValue", ...] | JsonObject | None
"""A frozen JSON value. Floats are finite."""

_Object = TypeVar("_Object", bound=JsonObject)

_ObjectDraft = draft_of(JsonObject)


class ShapeError(Exception):
    """
    A value does not have the expected shape at some place inside it.

    Args:
        expected: What the place should hold.

        got: What it holds.

        steps: The way to the place, last step first: `.name` or `[3]`. Each level of a recursion adds its own on the
            way up; paths made on the way down would take quadratic time.
    """

    def __init__(self, expected: str, got: str, *steps: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got
        self.steps = list(steps)

    def under(self, step: str) -> ShapeError:
        """Add the step that leads to the place so far, and return the error."""
        self.steps.append(step)
        return self

    def as_type_error(self) -> TypeError:
        """Return the error of a wrong argument."""
        return TypeError(f"{self._path}: expected {self.expected}, got {self.got}")

    def as_structure_error(self) -> StructureError:
        """Return the error of a wrong document."""
        return StructureError(self._path, self.expected, self.got)

    @property
    def _path(self) -> str:
        path = "$" + "".join(reversed(self.steps))
        return path if len(path) <= _MAX_PATH else path[:_MAX_PATH] + "..."


_MAX_PATH = 60


def freeze(value: object) -> JsonValue:
    """
    Return *value* as immutable JSON: mappings as `JsonObject`, lists and tuples as tuples.

    Raises:
        TypeError: A value is not JSON (another type, a key that is not a string, NaN, infinity, nesting deeper than
            `MAX_DEPTH`); the error has its path.
    """
    if isinstance(value, JsonObject) and type(value) is JsonObject:
        return value
    try:
        frozen: JsonValue = _copied(value, JsonObject, MAX_DEPTH)
    except ShapeError as fault:
        raise fault.as_type_error() from None
    return frozen


def plain_copy(value: object) -> Any:
    """
    Return a copy of a document in the types of a JSON reader: `dict`, `list` and scalars, surrogate pairs joined.

    Raises:
        StructureError: A value is not JSON, or nests deeper than `DOCUMENT_DEPTH`.
    """
    try:
        return _copied(value, dict, DOCUMENT_DEPTH)
    except ShapeError as fault:
        raise fault.as_structure_error() from None


def own(value: Any, cls: type[JsonObject] = JsonObject) -> Any:
    """
    Return plain JSON that `read_json` has just made as immutable JSON, without a copy.

    Takes ownership of *value*: the caller must not keep references to it or to anything inside. It must consist of the
    types of a JSON reader (`dict`, `list` and scalars, surrogate pairs joined).

    Args:
        value: The plain JSON.

        cls: The class of its objects.

    Raises:
        JsonError: *value* nests deeper than `MAX_DEPTH`, for example because it is a document of that depth with a
            level around it. It must not be used afterwards: parts of it are frozen.
    """
    if type(value) is dict:
        return own_object(value, cls)
    return _own_array(value, cls, MAX_DEPTH) if type(value) is list else value


def own_object(value: dict[str, Any], cls: type[JsonObject], max_depth: int = MAX_DEPTH) -> Any:
    """Return what `own` does of an object, for hot loops."""
    if not max_depth:
        raise JsonError(f"nested deeper than {MAX_DEPTH} levels")
    for key, item in value.items():
        kind = type(item)
        if kind is dict:
            value[key] = own_object(item, cls, max_depth - 1)
        elif kind is list:
            value[key] = _own_array(item, cls, max_depth - 1)
    made = _ObjectDraft()
    made._items = value
    made.__class__ = cls
    return made


def _own_array(value: list[Any], cls: type[JsonObject], max_depth: int) -> tuple[Any, ...]:
    if not max_depth:
        raise JsonError(f"nested deeper than {MAX_DEPTH} levels")
    for at, item in enumerate(value):
        kind = type(item)
        if kind is dict:
            value[at] = own_object(item, cls, max_depth - 1)
        elif kind is list:
            value[at] = _own_array(item, cls, max_depth - 1)
    return tuple(value)


def thaw(value: object) -> Any:
    """Return a fresh plain copy of frozen JSON: `dict`, `list` and scalars, safe to change and to serialise."""
    # Any: plain JSON is what callers index into; a recursive union would make each of them cast.
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, JsonObject):
        return {key: thaw(item) for key, item in items_of(value).items()}
    if isinstance(value, (dict, Mapping)):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [thaw(item) for item in value]
    return value


def same_json(one: object, other: object) -> bool:
    """Return whether two values are the same JSON; key order and the class of mappings and sequences are ignored."""
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


_JSON_TYPES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    ((int, float), "a number"),
    (str, "a string"),
    ((list, tuple), "an array"),
    (Mapping, "an object"),
    (type(None), "null"),
)


def json_type(value: object) -> str:
    """Return the JSON type of *value* in words, without its content; for other objects, the name of their class."""
    return next((words for types, words in _JSON_TYPES if isinstance(value, types)), type(value).__name__)


def described(value: object) -> str:
    """Return what `json_type` does, and whether a boolean is true, a string empty, a number an integer."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "an integer" if value >= 0 else "a negative integer"
    return json_type(value) if value != "" else "an empty string"


class same_as:  # noqa: N801 - reads like a function in a field definition
    """Wrap a JSON value so that `==` compares it as JSON. For `attrs.field(eq=same_as)`."""

    __slots__ = ("value",)

    def __init__(self, value: JsonValue) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, same_as) and same_json(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.value)


JsonObject._json = vars(JsonObject)["_items"]  # pyright: ignore[reportPrivateUsage]
items_of: Callable[[object], dict[str, JsonValue]] = vars(JsonObject)["_items"].__get__
"""
Returns the items of a `JsonObject`, for JSON writers that support only `dict`; they must not change it. Those of a
`LazyObject` are plain.
"""


def wrap(cls: type[_Object], items: dict[str, Any]) -> _Object:
    """
    Return an object of *items*, which the caller gives away.

    They are frozen; for a `LazyObject` or a `LazyState` they are plain, and nest at most `MAX_DEPTH` levels.
    """
    made = _ObjectDraft()
    made._items = items
    made.__class__ = cls
    wrapped: _Object = made
    return wrapped


# `_copied` makes frozen JSON for a *cls* that is a `JsonObject`, and plain JSON for `dict`.


def _copied_items(items: object, cls: type[Any], max_depth: int) -> dict[str, Any]:
    if type(items) is cls and isinstance(items, JsonObject) and max_depth == MAX_DEPTH:
        return items._items  # pyright: ignore[reportPrivateUsage]
    # For a class like `Mapping`, `isinstance` takes ten times as long.
    if type(items) is not dict and not isinstance(items, Mapping):
        raise ShapeError("a JSON object", type(items).__name__)
    if not max_depth:
        raise _too_deep(cls)
    copy: dict[str, Any] = {}
    key: Any
    item: Any
    for key, item in items.items():
        kind = type(item)
        if type(key) is not str:
            if not isinstance(key, str):
                raise ShapeError("string keys", type(key).__name__)
            key = str.__str__(key)
        if not key.isascii():
            key = joined_pairs(key)
        if item is None or kind is bool or kind is int or (kind is str and item.isascii()):
            copy[key] = item
        else:
            try:
                copy[key] = _copied(item, cls, max_depth - 1)
            except ShapeError as fault:
                raise fault.under(".*" if cls is State else f".{key}") from None
    return copy


def _copied(value: object, cls: type[Any], max_depth: int) -> Any:
    if type(value) is list:  # before the class `Mapping` is asked, see above
        return _copied_array(value, cls, max_depth)
    match value:
        case None | bool():
            return value
        case str():
            return joined_pairs(value if type(value) is str else str.__str__(value))
        case int():
            return value if type(value) is int else int(value)
        case float() if isfinite(value):
            return value if type(value) is float else float(value)
        case float():
            raise ShapeError("a finite number", repr(value))
        case dict() | Mapping():
            items = _copied_items(value, cls, max_depth)
            return items if cls is dict else wrap(cls, items)
        case list() | Sequence() if not isinstance(value, (bytes, bytearray, memoryview)):
            return _copied_array(value, cls, max_depth)
        case _:
            raise ShapeError("JSON", type(value).__name__)


def _copied_array(values: Sequence[object], cls: type[Any], max_depth: int) -> Any:
    if not max_depth:
        raise _too_deep(cls)
    copies: list[Any] = []
    try:
        for item in values:
            copies.append(_copied(item, cls, max_depth - 1))  # noqa: PERF401 - its length is the index of a fault
    except ShapeError as fault:
        raise fault.under(f"[{len(copies)}]") from None
    return copies if cls is dict else tuple(copies)


def _too_deep(cls: type[Any]) -> ShapeError:
    return ShapeError(f"at most {DOCUMENT_DEPTH if cls is dict else MAX_DEPTH} levels", "more")
