"""JSON text of everything that is stored."""

from __future__ import annotations

from typing import TypeVar

from typing_extensions import TypeForm

from assistant_events.converters.converter import structure_hook, structure_hooks, unstructure_hooks
from assistant_events.values import read_json, write_json
from assistant_events.values.json_io import fast_reader
from assistant_events.values.json_values import ShapeError

_T = TypeVar("_T")


def dumps(value: object) -> bytes:
    """
    Return a value as compact JSON in UTF-8.

    Raises:
        TypeError: The library does not store such values.

        ValueError: An unknown field has the name of a known one.
    """
    return write_json(unstructure_hooks[type(value)](value))


def loads(data: bytes | str, cls: TypeForm[_T]) -> _T:
    """
    Return the value of JSON text; see `structure` for *cls* and the errors.

    Raises:
        JsonError: *data* is not valid JSON.
    """
    hook = structure_hooks.get(id(cls)) or structure_hook(cls)
    try:
        document = fast_reader()(data)
    except (ValueError, RecursionError):
        document = read_json(data, max_depth=None)  # JSON in a document has its own limit
    try:
        return hook(document, cls)  # type: ignore[no-any-return]  # the hook of a class returns its instances
    except ShapeError as fault:
        raise fault.as_structure_error() from None
