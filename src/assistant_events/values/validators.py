"""
Validators and converters of the fields of values, events and messages, and the base classes of these.

Validators (`check_…`) raise errors with the name of the class and the field. They check the arguments of constructors;
the converters check documents themselves and make instances without these constructors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from itertools import repeat
from operator import attrgetter
from typing import Any, TypeVar

import attrs
from attrs import Attribute

from assistant_events.values.json_values import JsonObject, LazyObject, LazyState, State
from assistant_events.values.text import valid_text

NO_FIELDS = JsonObject()
NO_STATE = State()

_T = TypeVar("_T")


def _wrong(cls: type, field: Attribute[Any], expected: str, got: object) -> TypeError:
    return TypeError(f"{cls.__name__}.{field.name}: expected {expected}, got {type(got).__name__}")


def _out_of_range(instance: object, field: Attribute[Any], expected: str) -> ValueError:
    return ValueError(f"{type(instance).__name__}.{field.name}: expected {expected}")


class IsA:
    """A validator for instances of a class, and `None` if *optional*."""

    __slots__ = ("expected", "label", "optional")

    def __init__(self, expected: type | tuple[type, ...], *, optional: bool = False) -> None:
        self.expected = expected
        self.optional = optional
        names = [each.__name__ for each in (expected if isinstance(expected, tuple) else (expected,))]
        self.label = " or ".join([*names, "None"] if optional else names)

    def __call__(self, instance: object, field: Attribute[Any], value: object) -> None:
        """Raise `TypeError` with the name of the field unless *value* is valid."""
        if isinstance(value, self.expected) or (self.optional and value is None):
            return
        raise _wrong(type(instance), field, self.label, value)


class AtLeast:
    """A validator for integers."""

    __slots__ = ("least",)

    def __init__(self, least: int) -> None:
        self.least = least

    def __call__(self, instance: object, field: Attribute[Any], value: object) -> None:
        """Raise an error with the name of the field unless *value* is valid."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise _wrong(type(instance), field, "int", value)
        if value < self.least:
            raise _out_of_range(instance, field, f"{self.least} or more, got {value}")


check_text = IsA(str)
check_text_or_none = IsA(str, optional=True)
check_flag = IsA(bool)
check_flag_or_none = IsA(bool, optional=True)
check_count = AtLeast(0)
check_count_or_none = attrs.validators.optional(check_count)
check_seq = AtLeast(1)


def check_name(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a non-empty string."""
    check_text(instance, field, value)
    if not value:
        raise _out_of_range(instance, field, "a non-empty string")


def check_seconds_or_none(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a number of 0 or more and below 2 ** 63, as documents have it, or `None`."""
    if value is None:
        return
    if not isinstance(value, float):
        raise _wrong(type(instance), field, "a number or None", value)
    if not 0 <= value < 1 << 63:
        raise _out_of_range(instance, field, f"0 or more, got {value}")


def check_utc(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is a datetime in UTC."""
    if not isinstance(value, datetime):
        raise _wrong(type(instance), field, "datetime", value)
    if value.utcoffset() != timedelta(0):
        raise _out_of_range(instance, field, "a datetime in UTC")


check_utc_or_none = attrs.validators.optional(check_utc)


def check_reason(instance: object, field: Attribute[Any], value: object) -> None:
    """Check that the value is the reason of a compaction: `auto` or `manual`."""
    if value not in ("auto", "manual"):
        raise _out_of_range(instance, field, f"one of auto, manual; got {value!r}")


def to_text(value: str) -> str:
    """Return *value* as valid text. Other types pass: the validator after it raises the error."""
    return valid_text(value) if isinstance(value, str) else value


def to_optional_text(value: str | None) -> str | None:
    """Return *value* as valid text, or `None`."""
    return valid_text(value) if isinstance(value, str) else value


def to_seconds(value: float | None) -> float | None:
    """Return *value* as a float, or `None`. Other types pass: the validator after it raises the error."""
    given: object = value  # a type checker takes an int for a float
    return float(given) if type(given) is int and abs(given) < 1 << 63 else value


def as_state(value: Mapping[str, object]) -> State:
    """Return *value* as a `State`; an instance is returned as it is."""
    if type(value) is State or type(value) is LazyState:
        return value
    return NO_STATE if value == {} else State(_checked(value, "state"))


def as_input(value: Mapping[str, object]) -> JsonObject:
    """Return the input of a call as frozen JSON."""
    if type(value) is JsonObject or type(value) is LazyObject:
        return value
    return NO_FIELDS if value == {} else JsonObject(_checked(value, "input"))


def as_details(value: Mapping[str, object]) -> JsonObject:
    """Return facts of the provider as frozen JSON."""
    if type(value) is JsonObject:
        return value
    return NO_FIELDS if value == {} else JsonObject(_checked(value, "details"))


def as_meta(value: Mapping[str, object]) -> JsonObject:
    """Return data of the app as frozen JSON."""
    return value if type(value) is JsonObject else JsonObject(_checked(value, "meta"))


def as_extra(value: Mapping[str, object]) -> JsonObject:
    """Return unknown fields as frozen JSON."""
    return value if type(value) is JsonObject else JsonObject(_checked(value, "extra"))


def _checked(value: Mapping[str, object], field: str) -> Mapping[str, object]:
    if type(value) is not dict and not isinstance(value, Mapping):
        raise TypeError(f"{field}: expected a JSON object, got {type(value).__name__}")
    return value  # pyright: ignore[reportUnknownVariableType]  # isinstance leaves its items unknown


def tuple_of(value: Iterable[_T], expected: type | tuple[type, ...], field: str, label: str) -> tuple[_T, ...]:
    """Return *value* as a tuple of instances of *expected*."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{field}: expected an iterable, got {type(value).__name__}")
    items = tuple(value)
    if not all(map(isinstance, items, repeat(expected))):  # without a step of Python for each
        at, item = next((at, item) for at, item in enumerate(items) if not isinstance(item, expected))
        raise TypeError(f"{field}[{at}]: expected {label}, got {type(item).__name__}")
    return items


class Frozen:
    """
    Base of immutable classes: `repr`, `==` and hash, from the attrs fields of the class.

    Shared by all classes; generating these methods per class would cost a third of the import time.
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
    """Return the function that reads from an instance what `==` compares."""
    compared = [field for field in _fields_of(cls) if field.eq]
    # Any: the value of a field. The stubs of attrs omit `eq_key`.
    keys: dict[str, Callable[[Any], object]] = {
        field.name: key for field in compared if (key := getattr(field, "eq_key", None)) is not None
    }
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
    """Base of classes that keep unknown fields, which a newer version of the library wrote."""

    extra: JsonObject = attrs.field(default=NO_FIELDS, converter=as_extra, repr=False)
    """Unknown fields, written back as they came. Empty in values made by this version."""
