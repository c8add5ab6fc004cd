"""Checks of arguments: what they raise names the argument, and what belongs there."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast


def check_object(value: object, member: str, expected: str) -> None:
    """Raise a `TypeError` unless *value* has a *member*; a class is not what it makes."""
    if isinstance(value, type) or not hasattr(value, member):
        given = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise TypeError(f"{expected}, got {given}")


def check_store(store: object) -> None:
    """Raise a `TypeError` for what is not a store."""
    check_object(store, "load_snapshot", 'store: expected a store, such as SqliteStore("chat.db")')


def check_function(name: str, value: object) -> None:
    """Raise a `TypeError` for what cannot be called."""
    if not callable(value):
        raise TypeError(f"{name}: expected a function, got {type(value).__name__}")


def check_seconds(name: str, value: object) -> None:
    """Raise an error for what is not a number of seconds, or below 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name}: expected a number of seconds, got {type(value).__name__}")
    if not value >= 0:
        raise ValueError(f"{name}: expected 0 or more seconds, got {value}")


def check_integer(name: str, value: object, least: int = 0) -> None:
    """Raise an error for what is not an integer, or below *least*."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: expected int, got {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name}: expected {least} or more, got {value}")


def names_of(name: str, value: object) -> frozenset[str]:
    """Return a collection of strings as a set; raise a `TypeError` for a single one, which is a collection too."""
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise TypeError(f"{name}: expected a collection of strings, such as a list, got {type(value).__name__}")
    return frozenset(cast("Collection[str]", value))
