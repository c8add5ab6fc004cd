"""
Fixture files as JSON, read into attrs classes by cattrs: every fault of a file is collected with its path.

A field with more rules than its type is annotated with the function that reads it, for example
`Annotated[int, at_least(1)]`; a class may have a static method `check_keys` that yields faults. `null` counts as
absent, keys that begin with an underscore are notes, and unknown keys are faults. Messages show keys and words of
closed sets, but no other string of a file, which may be a signature.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Final, TypeAlias, TypeVar, final, get_origin

import attrs
from cattrs import Converter
from cattrs.cols import homogenous_tuple_structure_factory
from cattrs.errors import ClassValidationError, ForbiddenExtraKeysError, IterableValidationError, IterableValidationNote
from cattrs.gen import make_dict_structure_fn

from assistant_events.adapters.json_fields import is_array, is_object
from assistant_events.converters import structure
from assistant_events.errors import FixtureError, JsonError, StructureError
from assistant_events.events import Event
from assistant_events.values import JsonObject, read_json
from assistant_events.values.json_values import json_type

_T = TypeVar("_T")

_MAX_NUMBER: Final = 10**30
"""Larger numbers are not accepted, and messages do not show them: Python prints none of over 4,300 digits."""

_MAX_SECONDS: Final = 1e15

READ_ERRORS: Final = (ValueError, ClassValidationError)
"""Errors of reading; `faults_of` lists their faults."""


@final
class FieldError(ValueError):
    """Faults below one field, each with its path from there; an empty path is the field itself."""

    def __init__(self, *faults: tuple[str, str]) -> None:
        super().__init__(*faults)
        self.faults = faults


def checked(value: _T, faults: Iterable[tuple[str, str]]) -> _T:
    """Return *value*, or raise `FieldError` when it has faults."""
    found = tuple(faults)
    if found:
        raise FieldError(*found)
    return value


def expect(text: str, is_valid: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """Return the reader of a value that is used as it is when it is valid; *text* describes the valid ones."""

    def read(value: Any) -> Any:
        if is_valid(value):
            return value
        raise ValueError(f"expected {text}, got {kind_of(value)}")

    return read


def at_least(least: int) -> Callable[[Any], Any]:
    """Return the reader of an integer that is *least* or more."""
    return expect(f"an integer of at least {least}", lambda value: is_integer(value) and least <= value < _MAX_NUMBER)


Count: TypeAlias = Annotated[int, at_least(0)]
Seconds: TypeAlias = Annotated[
    float,
    expect(
        "a number from 0 to 1e15",
        lambda value: (is_integer(value) or isinstance(value, float)) and 0 <= value <= _MAX_SECONDS,
    ),
]
Code: TypeAlias = Annotated[
    str | int, expect("a word or a number", lambda value: isinstance(value, str) or is_integer(value))
]
"""Code of an error, as providers write it."""


def read_object(value: Any) -> Mapping[str, Any]:
    """Return a JSON object as it is."""
    if is_object(value):
        return value
    raise ValueError(f"expected an object, got {kind_of(value)}")


def read_class(value: Any, cls: type[_T]) -> _T:
    """Return an instance of an attrs class, or raise one of `READ_ERRORS`."""
    return _CONVERTER.structure(value, cls)


def faults_of(error: Exception, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the reason of every fault that *error* reports."""
    match error:
        case ClassValidationError() | IterableValidationError():
            located, others = error.group_exceptions()
            for each, note in located:
                at = f"[{note.index}]" if isinstance(note, IterableValidationNote) else note.name
                yield from faults_of(each, _joined(path, at))
            for each in others:
                yield from faults_of(each, path)
        case ForbiddenExtraKeysError():
            known = [field.name for field in attrs.fields(error.cl)]
            for key in sorted(error.extra_fields):
                yield _joined(path, key), unknown(key, known)
        case FieldError():
            for field, reason in error.faults:
                yield _joined(path, field), reason
        case KeyError():
            yield path, "is missing"
        case _:
            yield path, str(error)


def read_file_text(data: bytes, file: str) -> Any:
    """Return the JSON document of a file. Raises `FixtureError` for invalid JSON, and for a key twice in an object."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FixtureError(file, "", "", f"not valid UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise FixtureError(file, "", "", "the file is empty")
    try:
        # Numbers stay strings: Python refuses to parse one of over 4,300 digits.
        json.loads(text, object_pairs_hook=_without_duplicates, parse_int=str)
        return read_json(text)
    except json.JSONDecodeError as error:
        reason = f"line {error.lineno}, column {error.colno}: not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}"
    except JsonError as error:
        reason = str(error)
    except RecursionError:
        reason = "nested too deeply"
    raise FixtureError(file, "", "", reason) from None


def unknown(word: str, known: Iterable[str], what: str = "key") -> str:
    """Return the message about an unknown word, with the known word that is closest to it."""
    known = sorted(set(known))
    close = get_close_matches(word, known, 1)
    if close:
        return f"unknown {what}; did you mean {close[0]!r}?"
    return f"unknown {what}; known: {', '.join(known)}"


def kind_of(value: object) -> str:
    """Return the JSON type of *value* in words, with the value of numbers and booleans."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value!r}" if -_MAX_NUMBER < value < _MAX_NUMBER else "a number with very many digits"
    return "a list" if is_array(value) else json_type(value)


def is_integer(value: object) -> bool:
    """Return whether *value* is an integer and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def _joined(path: str, field: str) -> str:
    return f"{path}{'.' if path and field and field[0] != '[' else ''}{field}"


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        raise JsonError(f"the key {next(name for name in names if names.count(name) > 1)!r} occurs twice in one object")
    return document


# -- the converter


def make_converter() -> Converter:
    """Return a converter that reads attrs classes as this module describes."""
    converter = Converter(detailed_validation=True)
    converter.register_structure_hook(str, _hook(expect("a string", lambda value: isinstance(value, str))))
    converter.register_structure_hook(bool, _hook(expect("true or false", lambda value: isinstance(value, bool))))
    converter.register_structure_hook(JsonObject, _hook(lambda value: JsonObject(read_object(value))))
    converter.register_structure_hook_func(lambda type_: type_ == Event, _hook(_read_event))
    converter.register_structure_hook_factory(attrs.has, partial(_class_hook, converter))
    converter.register_structure_hook_factory(_is_tuple, partial(_tuple_hook, converter))
    converter.register_structure_hook_factory(_has_reader, _reader_hook)
    return converter


def _hook(read: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda value, _: read(value)


def _has_reader(type_: Any) -> bool:
    return get_origin(type_) is Annotated and callable(type_.__metadata__[0])


def _reader_hook(type_: Any) -> Callable[[Any, Any], Any]:
    return _hook(type_.__metadata__[0])


def _class_hook(converter: Converter, cls: type[Any]) -> Callable[[Any, Any], Any]:
    structured = make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=True)
    check_keys: Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]] = getattr(cls, "check_keys", lambda given: ())

    def read(value: Any) -> Any:
        given = {key: item for key, item in read_object(value).items() if item is not None and key[:1] != "_"}
        faults = tuple(check_keys(given))
        try:
            return checked(structured(given, cls), faults)
        except ClassValidationError as error:
            raise error.derive([FieldError(*faults), *error.exceptions]) from None

    return _hook(read)


def _is_tuple(type_: Any) -> bool:
    return get_origin(type_) is tuple


def _tuple_hook(converter: Converter, type_: Any) -> Callable[[Any, Any], Any]:
    structured = homogenous_tuple_structure_factory(type_, converter)

    def read(value: Any) -> Any:
        if is_array(value):
            return structured(value, type_)
        raise ValueError(f"expected a list, got {kind_of(value)}")

    return _hook(read)


def _read_event(value: Any) -> Event:
    try:
        return structure(value, Event)
    except StructureError as error:
        raise FieldError((error.path.lstrip("$."), f"expected {error.expected}, got {error.got}")) from None


_CONVERTER: Final = make_converter()
