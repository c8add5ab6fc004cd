"""Reading fields of a parsed document. A wrong type counts as missing: what a provider sent never raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Fields: TypeAlias = Mapping[str, Any]
"""A parsed JSON object of the wire. `Any`, because nothing is known of it until it is read with the functions here."""

_NOTHING: Fields = {}


def string(fields: Fields, key: str) -> str | None:
    """Return a string, or `None`."""
    value = fields.get(key)
    return value if isinstance(value, str) else None


def integer(fields: Fields, key: str) -> int | None:
    """Return an integer, or `None`; a float without a fraction is one, a bool is none."""
    value = fields.get(key)
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def count(fields: Fields, key: str) -> int | None:
    """Return an integer of 0 or more, or `None`."""
    value = integer(fields, key)
    return value if value is not None and value >= 0 else None


def flag(fields: Fields, key: str) -> bool | None:
    """Return a bool, or `None`."""
    value = fields.get(key)
    return value if isinstance(value, bool) else None


def mapping(fields: Fields, key: str) -> Fields:
    """Return an object; an empty one when there is none."""
    value = fields.get(key)
    return value if isinstance(value, Mapping) else _NOTHING


def mappings(fields: Fields, key: str) -> list[Fields]:
    """Return the objects of an array; nothing when there is none. What is no object inside is left out."""
    return [item for item in array(fields, key) if isinstance(item, Mapping)]


def array(fields: Fields, key: str) -> Sequence[Any]:
    """Return an array; an empty one when there is none."""
    value = fields.get(key)
    return value if isinstance(value, (list, tuple)) else ()
