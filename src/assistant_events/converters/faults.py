"""
What is wrong with a document, found on the way down and given its path on the way up.

A `Fault` knows the place relative to where it was raised; every level adds its own step. The public functions turn it into
a `StructureError` with the whole path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from assistant_events.errors import StructureError

_SHOWN = 60


class Fault(Exception):
    """A place in a document that is not what it should be."""

    def __init__(self, expected: str, got: str, *steps: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got
        self.steps = list(steps)

    def under(self, step: str) -> Fault:
        """Say that the place lies below *step*, for example `.usage` or `[3]`."""
        self.steps.append(step)
        return self

    def as_error(self) -> StructureError:
        """Return the error with the path from the root."""
        return StructureError("$" + "".join(reversed(self.steps)), self.expected, self.got)


def wrong(step: str, expected: str, value: object) -> Fault:
    """Return the fault that *value* below *step* is not what was *expected*. Names the kind of the value only."""
    return Fault(expected, kind_of(value), step)


def no_word(step: str, words: Iterable[str], value: object) -> Fault:
    """Return the fault that *value* is none of our *words*. A string is shown: these fields hold words, never content."""
    got = repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...") if isinstance(value, str) else kind_of(value)
    return Fault(f"one of {', '.join(words)}", got, step)


def no_tag(document: Mapping[str, object], words: Iterable[str]) -> Fault:
    """Return the fault that the `type` of *document* is missing, is no word, or is none of *words*."""
    if "type" not in document:
        return Fault("a value", "nothing", ".type")
    if words and isinstance(document["type"], str):
        return no_word(".type", words, document["type"])
    return wrong(".type", "a non-empty string", document["type"])


def span_end(start: int | None, end: int, step: str) -> int:
    """Return *end* when it is not before *start*."""
    if start is not None and end < start:
        raise Fault(f"start, {start}, or more", str(end), step)
    return end


def missing(error: KeyError) -> Fault:
    """Return the fault that a field is not there."""
    return Fault("a value", "nothing", f".{error.args[0]}")


def broken_rule(error: ValueError, document: Mapping[str, object]) -> Fault:
    """Return the fault that fields do not go together, which the class itself found out."""
    return Fault(str(error).partition("expected ")[2], f"an object with {', '.join(document)}")


def kind_of(value: object) -> str:
    """Return what *value* is in the words of JSON, without its content."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "a string" if value else "an empty string"
        case int():
            return "an integer" if value >= 0 else "a negative integer"
        case float():
            return "a number" if isfinite(value) else "a number that is not finite"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "an array"
        case _:
            return type(value).__name__
