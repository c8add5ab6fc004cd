"""
Field definitions shared by values, events and messages: one place that says what each kind of field accepts.

Each function returns an attrs field that checks (and where it says so, converts) what a caller passes and names the field
in its error. Documents from outside are checked by the converters instead, which build the classes directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import attrs
from attrs import Attribute

from assistant_events.values.frozen import JsonObject, State
from assistant_events.values.unicode import valid_text

NO_FIELDS = JsonObject()
NO_STATE = State()

_T = TypeVar("_T")


def _wrong(cls: type, field: Attribute[Any], expected: str, got: object) -> TypeError:
    return TypeError(f"{cls.__name__}.{field.name}: expected {expected}, got {type(got).__name__}")


def _check_text(instance: object, field: Attribute[Any], value: object) -> None:
    if not isinstance(value, str):
        raise _wrong(type(instance), field, "str", value)


def _check_text_or_none(instance: object, field: Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise _wrong(type(instance), field, "str or None", value)


def _check_name(instance: object, field: Attribute[Any], value: object) -> None:
    if not isinstance(value, str):
        raise _wrong(type(instance), field, "str", value)
    if not value:
        raise ValueError(f"{type(instance).__name__}.{field.name}: expected a non-empty string")


def _check_flag(instance: object, field: Attribute[Any], value: object) -> None:
    if value is not True and value is not False:
        raise _wrong(type(instance), field, "bool", value)


def _check_flag_or_none(instance: object, field: Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, bool):
        raise _wrong(type(instance), field, "bool or None", value)


def _check_count(instance: object, field: Attribute[Any], value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(type(instance), field, "int", value)
    if value < 0:
        raise ValueError(f"{type(instance).__name__}.{field.name}: expected 0 or more, got {value}")


def _check_count_or_none(instance: object, field: Attribute[Any], value: object) -> None:
    if value is not None:
        _check_count(instance, field, value)


def _to_text(value: object) -> Any:
    # Any: attrs takes the converter's parameter as the type of the argument; the validator after it reports the wrong type.
    return valid_text(value) if isinstance(value, str) else value


def _to_object(value: Mapping[str, object], instance: object, field: Attribute[Any]) -> JsonObject:
    if type(value) is JsonObject:
        return value
    if not isinstance(value, Mapping):
        raise _wrong(type(instance), field, "a JSON object", value)
    try:
        return JsonObject(value)
    except TypeError as error:
        raise TypeError(f"{type(instance).__name__}.{field.name}: {error}") from None


def _to_state(value: Mapping[str, object], instance: object, field: Attribute[Any]) -> State:
    if type(value) is State:
        return value
    if not isinstance(value, Mapping):
        raise _wrong(type(instance), field, "a JSON object", value)
    try:
        return State(value)
    except TypeError as error:
        raise TypeError(f"{type(instance).__name__}.{field.name}: {error}") from None


def text() -> Any:
    """Text; lone surrogates become U+FFFD."""
    # Any in this and the following: attrs fields are typed by the annotation beside them.
    return attrs.field(converter=_to_text, validator=_check_text)


def optional_text() -> Any:
    """Text or `None`, `None` by default."""
    return attrs.field(default=None, converter=_to_text, validator=_check_text_or_none)


def name() -> Any:
    """A non-empty string."""
    return attrs.field(validator=_check_name)


def flag(*, default: bool) -> Any:
    """A bool."""
    return attrs.field(default=default, validator=_check_flag)


def optional_flag() -> Any:
    """A bool or `None`, `None` by default."""
    return attrs.field(default=None, validator=_check_flag_or_none)


def count() -> Any:
    """An int of 0 or more."""
    return attrs.field(validator=_check_count)


def optional_count() -> Any:
    """An int of 0 or more, or `None`, which is the default."""
    return attrs.field(default=None, validator=_check_count_or_none)


def state() -> Any:
    """A `State`, empty by default; any mapping of JSON is frozen."""
    return attrs.field(default=NO_STATE, converter=attrs.Converter(_to_state, takes_self=True, takes_field=True))


def json_object(*, required: bool = False, repr: bool = True) -> Any:
    """A `JsonObject`, empty by default; any mapping of JSON is frozen."""
    return attrs.field(
        default=attrs.NOTHING if required else NO_FIELDS,
        converter=attrs.Converter(_to_object, takes_self=True, takes_field=True),
        repr=repr,
    )


def one_of(expected: type[_T] | tuple[type, ...]) -> Any:
    """An instance of *expected*."""
    return attrs.field(validator=_InstanceOf(expected, optional=False))


def optional(expected: type[_T] | tuple[type, ...]) -> Any:
    """An instance of *expected* or `None`, which is the default."""
    return attrs.field(default=None, validator=_InstanceOf(expected, optional=True))


def tuple_of(expected: type[_T] | tuple[type, ...]) -> Any:
    """A tuple of instances of *expected*, empty by default; any iterable of them is taken."""
    return attrs.field(
        default=(),
        converter=attrs.Converter(_to_tuple, takes_self=True, takes_field=True),
        validator=_TupleOf(expected),
    )


def _to_tuple(value: Any, instance: object, field: Attribute[Any]) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise _wrong(type(instance), field, "an iterable", value)
    return tuple(value)


class _TupleOf:
    __slots__ = ("expected", "label")

    def __init__(self, expected: type | tuple[type, ...]) -> None:
        self.expected = expected
        self.label = " or ".join(each.__name__ for each in (expected if isinstance(expected, tuple) else (expected,)))

    def __call__(self, instance: object, field: Attribute[Any], value: tuple[object, ...]) -> None:
        for at, item in enumerate(value):
            if not isinstance(item, self.expected):
                cls = type(instance).__name__
                raise TypeError(f"{cls}.{field.name}[{at}]: expected {self.label}, got {type(item).__name__}")


class _InstanceOf:
    __slots__ = ("expected", "label", "optional")

    def __init__(self, expected: type | tuple[type, ...], *, optional: bool) -> None:
        self.expected = expected
        self.optional = optional
        names = [each.__name__ for each in (expected if isinstance(expected, tuple) else (expected,))]
        self.label = " or ".join([*names, "None"] if optional else names)

    def __call__(self, instance: object, field: Attribute[Any], value: object) -> None:
        if isinstance(value, self.expected) or (self.optional and value is None):
            return
        raise _wrong(type(instance), field, self.label, value)


@attrs.frozen(kw_only=True, slots=True, weakref_slot=False)
class Extensible:
    """Base of everything that is stored: it keeps the fields of a newer writer that this version does not know."""

    extra: JsonObject = json_object(repr=False)
    """Unknown fields, written back as they came. Empty for everything made by this version."""
