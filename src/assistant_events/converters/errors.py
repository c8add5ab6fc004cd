"""The faults of a document, as errors that name the place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, cast

from assistant_events.values.json_values import ShapeError, json_type

_SHOWN = 60
"""Maximum length of a word that an error shows."""


def wrong(step: str, expected: str, value: object) -> ShapeError:
    """Return the error for a value of the wrong type or range."""
    return ShapeError(expected, _described(value), step)


def unknown_word(words: Iterable[str], value: object, *steps: str) -> ShapeError:
    """Return the error for a value outside a closed set of words. A string is shown: such fields hold no content."""
    got = _described(value)
    if isinstance(value, str):
        got = repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")
    return ShapeError(f"one of {', '.join(words)}", got, *steps)


def check_object(document: object) -> dict[str, Any]:
    """Return a document that is an object, or raise the error that it is not."""
    # Any: its fields are checked one by one.
    if isinstance(document, dict):
        return cast("dict[str, Any]", document)
    raise wrong("", "an object", document)


def check_array(document: Any) -> list[Any]:
    """Return a document that is an array, or raise the error that it is not."""
    if not isinstance(document, list):
        raise wrong("", "an array", document)
    return document  # pyright: ignore[reportUnknownVariableType]  # isinstance leaves its items unknown


def tag_of(document: object) -> str:
    """Return the `type` of a document, or raise the error that it has no name there."""
    fields = check_object(document)
    if "type" not in fields:
        raise missing("type")
    tag = fields["type"]
    if not isinstance(tag, str) or not tag:
        raise wrong(".type", "a non-empty string", tag)
    return tag


def missing(field: str) -> ShapeError:
    """Return the error for a missing field."""
    return ShapeError("a value", "nothing", f".{field}")


def broken_rule(error: ValueError, document: Mapping[str, object]) -> ShapeError:
    """Return the error for fields that contradict each other, from the error of their class."""
    place, _, rule = str(error).partition(": expected ")  # `Class` or `Class.field` comes before it
    expected, _, got = rule.partition(", got ")
    _, dot, field = place.partition(".")
    return ShapeError(expected, got or f"an object with {', '.join(document)}", dot + field)


def _described(value: object) -> str:
    """Return the JSON type of a value in words, without its content."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() if not value:
            return "an empty string"
        case int():
            return "an integer" if value >= 0 else "a negative integer"
        case float() if not isfinite(value):
            return "a number that is not finite"
        case _:
            return json_type(value)
