"""
Field definitions shared by values, events and messages: one place that says what each kind of field accepts.

Each function returns an attrs field that checks (and where it says so, converts) what a caller passes and names the
field in its error. Documents from outside are checked by the converters instead, which build the classes directly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from math import inf
from operator import attrgetter
from typing import Any, TypeVar

import attrs
from attrs import Attribute

from assistant_events.values.json_values import JsonObject, State
from assistant_events.values.text import valid_text

NO_FIELDS = JsonObject()
NO_STATE = State()

_T = TypeVar("_T")


def _wrong(cls: type, field: Attribute[Any], expected: str, got: object) -> TypeError:
    return TypeError(f"{cls.__name__}.{field.name}: expected {expected}, got {type(got).__name__}")


def check_text(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is text."""
    if not isinstance(value, str):
        raise _wrong(type(instance), field, "str", value)


def check_text_or_none(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is text or `None`."""
    if value is not None and not isinstance(value, str):
        raise _wrong(type(instance), field, "str or None", value)


def check_name(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a non-empty string."""
    if not isinstance(value, str):
        raise _wrong(type(instance), field, "str", value)
    if not value:
        raise ValueError(f"{type(instance).__name__}.{field.name}: expected a non-empty string")


def check_flag(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a bool."""
    if value is not True and value is not False:
        raise _wrong(type(instance), field, "bool", value)


def check_flag_or_none(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a bool or `None`."""
    if value is not None and not isinstance(value, bool):
        raise _wrong(type(instance), field, "bool or None", value)


def check_count(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is an int of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(type(instance), field, "int", value)
    if value < 0:
        raise ValueError(f"{type(instance).__name__}.{field.name}: expected 0 or more, got {value}")


def check_count_or_none(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is an int of 0 or more, or `None`."""
    if value is not None:
        check_count(instance, field, value)


def check_seconds_or_none(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a finite number of 0 or more, or `None`."""
    if value is None:
        return
    if not isinstance(value, float):
        raise _wrong(type(instance), field, "a number or None", value)
    if not 0 <= value < inf:
        raise ValueError(f"{type(instance).__name__}.{field.name}: expected 0 or more, got {value}")


def check_seq(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a place in a log: an int of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(type(instance), field, "int", value)
    if value < 1:
        raise ValueError(f"{type(instance).__name__}.{field.name}: expected 1 or more, got {value}")


def check_utc(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a moment in UTC."""
    if not isinstance(value, datetime):
        raise _wrong(type(instance), field, "datetime", value)
    if value.utcoffset() != timedelta(0):
        raise ValueError(f"{type(instance).__name__}.{field.name}: expected a datetime in UTC")


def check_utc_or_none(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a moment in UTC, or `None`."""
    if value is not None:
        check_utc(instance, field, value)


def check_reason(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a word for why a summary is written."""
    if value not in ("auto", "manual"):
        raise ValueError(f"{type(instance).__name__}.{field.name}: expected one of auto, manual; got {value!r}")


def to_text(value: str) -> str:
    """Return *value* as valid text. What is no text passes: the validator after it names the field."""
    return valid_text(value) if isinstance(value, str) else value


def to_optional_text(value: str | None) -> str | None:
    """Return *value* as valid text; `None` stays."""
    return valid_text(value) if isinstance(value, str) else value


def to_seconds(value: float | None) -> float | None:
    """Return *value* as a float; `None` stays. What is not a number passes: the validator after it names the field."""
    given: object = value  # a type checker takes an int for a float
    return float(given) if type(given) is int and abs(given) < 1 << 63 else value


def as_state(value: Mapping[str, object]) -> State:
    """Return *value* as a `State`; the same one when it is one already."""
    return value if type(value) is State else State(_checked(value, "state"))


def as_input(value: Mapping[str, object]) -> JsonObject:
    """Return the input of a call, frozen."""
    return value if type(value) is JsonObject else JsonObject(_checked(value, "input"))


def as_details(value: Mapping[str, object]) -> JsonObject:
    """Return a provider's own figures, frozen."""
    return value if type(value) is JsonObject else JsonObject(_checked(value, "details"))


def as_meta(value: Mapping[str, object]) -> JsonObject:
    """Return the app's own data, frozen."""
    return value if type(value) is JsonObject else JsonObject(_checked(value, "meta"))


def as_extra(value: Mapping[str, object]) -> JsonObject:
    """Return unknown fields, frozen."""
    return value if type(value) is JsonObject else JsonObject(_checked(value, "extra"))


def _checked(value: Mapping[str, object], field: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{field}: expected a JSON object, got {type(value).__name__}")
    return value


def tuple_of(value: Iterable[_T], expected: type | tuple[type, ...], field: str, label: str) -> tuple[_T, ...]:
    """Return *value* as a tuple, each item of which is an instance of *expected*."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{field}: expected an iterable, got {type(value).__name__}")
    items = tuple(value)
    for at, item in enumerate(items):
        if not isinstance(item, expected):
            raise TypeError(f"{field}[{at}]: expected {label}, got {type(item).__name__}")
    return items


class IsA:
    """A validator: an instance of a class, or `None` where that is allowed."""

    __slots__ = ("expected", "label", "optional")

    def __init__(self, expected: type | tuple[type, ...], *, optional: bool = False) -> None:
        self.expected = expected
        self.optional = optional
        names = [each.__name__ for each in (expected if isinstance(expected, tuple) else (expected,))]
        self.label = " or ".join([*names, "None"] if optional else names)

    def __call__(self, instance: object, field: Attribute[Any], value: object) -> None:
        """Raise `TypeError`, naming the field, unless *value* is one."""
        if isinstance(value, self.expected) or (self.optional and value is None):
            return
        raise _wrong(type(instance), field, self.label, value)


class Frozen:
    """
    Gives a class its `repr`, `==` and hash, from the fields that attrs knows.

    Once for all, instead of three functions compiled for each class: that is a third of the time to import them.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        shown: list[str] = []
        for field in _fields_of(type(self)):
            if field.repr is not False:
                value = getattr(self, field.name)
                shown.append(f"{field.name}={repr(value) if field.repr is True else field.repr(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        # mypy takes the hash of instances for that of their class, here and below.
        key = _key_of(self.__class__)  # type: ignore[arg-type]
        return bool(key(self) == key(other))

    def __hash__(self) -> int:
        return hash((self.__class__, _key_of(self.__class__)(self)))  # type: ignore[arg-type]


@cache
def _key_of(cls: type) -> Callable[[object], object]:
    """Return what reads from an instance all that `==` compares."""
    compared = [field for field in _fields_of(cls) if field.eq]
    # Any: what a field is compared by. The stubs of attrs leave `eq_key` out.
    keys: dict[str, Callable[[Any], object]] = {
        field.name: key for field in compared if (key := getattr(field, "eq_key", None)) is not None
    }
    if not compared:
        return lambda instance: ()
    read = attrgetter(*[field.name for field in compared])
    if not keys:
        return read
    return lambda instance: tuple([keys.get(field.name, _same)(getattr(instance, field.name)) for field in compared])


def _same(value: object) -> object:
    return value


def _fields_of(cls: type) -> tuple[Attribute[Any], ...]:
    # Any: attributes of all types.
    return cls.__attrs_attrs__  # type: ignore[attr-defined, no-any-return]  # every class here is made by attrs


@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Extensible(Frozen):
    """Base of everything that is stored: it keeps the fields of a newer writer that this version does not know."""

    extra: JsonObject = attrs.field(default=NO_FIELDS, converter=as_extra, repr=False)
    """Unknown fields, written back as they came. Empty for everything made by this version."""
