"""
What is wrong with a document, found on the way down and given its path on the way up.

A `ShapeError` knows the place relative to where it was raised, and every level adds its own step. The public functions
turn it into a `StructureError` with the whole path. No text here holds a value, but for the words of a closed set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from assistant_events.errors import StructureError
from assistant_events.values.json_values import json_type

_SHOWN = 60
"""Characters of a word or of a path that are shown."""


class ShapeError(Exception):
    """A place in a document that is not what it should be."""

    def __init__(self, expected: str, got: str, *steps: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got
        self.steps = list(steps)

    def under(self, step: str) -> ShapeError:
        """Say that the place lies below *step*, for example `.usage` or `[3]`."""
        self.steps.append(step)
        return self

    def as_error(self) -> StructureError:
        """Return the error with the path from the root."""
        path = "$" + "".join(reversed(self.steps))
        return StructureError(path if len(path) <= _SHOWN * 2 else path[: _SHOWN * 2] + "...", self.expected, self.got)


def wrong(step: str, expected: str, value: object) -> ShapeError:
    """Return the error that *value* below *step* is not what was *expected*."""
    return ShapeError(expected, kind_of(value), step)


def no_word(step: str, words: Iterable[str], value: object) -> ShapeError:
    """Return the error that *value* is none of *words*. A string is shown: such a field holds words, never content."""
    got = kind_of(value)
    if isinstance(value, str):
        got = repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")
    return ShapeError(f"one of {', '.join(words)}", got, step)


def no_tag(document: Mapping[str, object], words: Iterable[str]) -> ShapeError:
    """Return the error that the `type` of *document* is missing, is no word, or is none of *words*."""
    if "type" not in document:
        return ShapeError("a value", "nothing", ".type")
    tag = document["type"]
    return no_word(".type", words, tag) if words and isinstance(tag, str) else wrong(".type", "a non-empty string", tag)


def missing(error: KeyError) -> ShapeError:
    """Return the error that a field is not there."""
    return ShapeError("a value", "nothing", f".{error.args[0]}")


def broken_rule(error: ValueError, document: Mapping[str, object]) -> ShapeError:
    """Return the error that fields do not go together, which the class itself has found."""
    return ShapeError(str(error).partition("expected ")[2], f"an object with {', '.join(document)}")


def span_end(start: int | None, end: int, step: str) -> int:
    """Return *end* unless it lies before *start*."""
    if start is not None and end < start:
        raise ShapeError(f"start, {start}, or more", str(end), step)
    return end


def kind_of(value: object) -> str:
    """Return what *value* is in the words of JSON, without its content."""
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
