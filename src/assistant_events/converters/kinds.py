"""
What stands in a field, and the straight-line code that reads and writes it.

Code is text. In statements `{x}` is the variable that holds the value: it has the name of its field. In expressions
`{value}` is the value, and `{x}` the end of the names of functions and tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from attrs import evolve, frozen

from assistant_events.converters import plain
from assistant_events.converters.codecs import Codec
from assistant_events.values import ErrorKind


@frozen
class Kind:
    """How one kind of field is read and written."""

    read: str
    """Statements that check `{x}` and, where it has to change, assign it anew."""

    write: str = "{value}"
    """Expression of what stands in the document."""

    pack: str = "{value}"
    """Expression of what msgspec is given."""

    unpack: str = "{value}"
    """Expression of the value for what msgspec has read."""

    filled: str = "{value}"
    """Expression that is true when the value is not its empty default."""

    codec: Codec | None = None
    """What `read_{x}`, `write_{x}`, `pack_{x}` and `unpack_{x}` call, and what msgspec reads."""

    wire: Any = None
    """Annotation of what msgspec reads where there is no codec."""

    least: int | None = None
    """The smallest number, or the length of the shortest string."""

    words: Mapping[str, str] | None = None
    """What `words_{x}` names."""


def called(codec: Codec) -> Kind:
    """Return the kind of a field that functions read and write."""
    return Kind(
        "try:\n    {x} = read_{x}({x})\nexcept ShapeError as fault:\n    raise fault.under('.{x}') from None",
        "write_{x}({value})",
        "pack_{x}({value})",
        "unpack_{x}({value})",
        codec=codec,
    )


def optional(kind: Kind) -> Kind:
    """Return the kind of a field that may be null as well."""
    indented = kind.read.replace("\n", "\n    ")
    return evolve(kind, read=f"if {{x}} is not None:\n    {indented}")


def word_of(words: type[StrEnum]) -> Kind:
    """Return the kind of a field that holds one of *words*."""
    return Kind(
        "try:\n    {x} = words_{x}[{x}]\nexcept (KeyError, TypeError):\n"
        "    raise no_word('.{x}', words_{x}, {x}) from None",
        "{value}._value_",
        wire=words,
        words={word.value: word for word in words},
    )


def _checked(wrong_when: str, expected: str, wire: type, least: int | None = None) -> Kind:
    read = f"if {wrong_when}:\n    raise wrong('.{{x}}', {expected!r}, {{x}})"
    return Kind(read, wire=wire, least=least)


NAME = _checked("type({x}) is not str or not {x}", "a non-empty string", str, 1)
FLAG = _checked("{x} is not True and {x} is not False", "true or false", bool)
COUNT = _checked("type({x}) is not int or {x} < 0", "an integer of 0 or more", int, 0)
SEQ = _checked("type({x}) is not int or {x} < 1", "an integer of 1 or more", int, 1)
SECONDS = Kind(
    "if type({x}) is not float and type({x}) is not int or not 0 <= {x} < 1 << 63:\n"
    "    raise wrong('.{x}', 'a number of 0 or more', {x})\n{x} = float({x})",
    wire=float,
    least=0,
)
SPAN_END = evolve(
    COUNT,
    read=f"{COUNT.read}\n{{x}} = span_end(start, {{x}}, '.{{x}}')",
    unpack="span_end(wire.start, {value}, '.{x}')",
)
TEXT = Kind(
    "if type({x}) is not str:\n    raise wrong('.{x}', 'a string', {x})\n"
    # Only text with surrogates cannot be encoded. msgspec never reads any.
    "if not {x}.isascii():\n    try:\n        {x}.encode()\n"
    "    except UnicodeEncodeError:\n        {x} = valid_text({x})",
    wire=str,
)
REASON = Kind(
    "if {x} != 'auto' and {x} != 'manual':\n    raise no_word('.{x}', ('auto', 'manual'), {x})",
    wire=Literal["auto", "manual"],
)
ERROR_KIND = Kind(
    f"{NAME.read}\n{{x}} = words_{{x}}.get({{x}}, {{x}})",
    "({value} if type({value}) is str else {value}._value_)",
    unpack="words_{x}.get({value}, {value})",
    wire=str,
    least=1,
    words={kind.value: kind for kind in ErrorKind},
)
OBJECT = evolve(called(plain.OBJECT), pack="{value}._items", filled="{value}._items")
STATE = evolve(called(plain.STATE), pack="{value}._items", filled="{value}._items")
VALUE = evolve(called(plain.VALUE), pack="({value}._items if type({value}) is JsonObject else {value})")
BYTES = evolve(called(plain.BYTES), pack="{value}")
MOMENT = called(plain.MOMENT)
NAMES = called(plain.NAMES)
