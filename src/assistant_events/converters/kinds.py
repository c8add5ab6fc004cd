"""
What stands in a field, and the straight-line code that reads and writes it.

Code is text in which `{x}` is the variable that holds the value; variables have the names of their fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from assistant_events.converters import plain
from assistant_events.converters.faults import wrong
from assistant_events.converters.plain import Reader, Writer
from assistant_events.values import ErrorKind, thaw


@frozen
class Codec:
    """The functions that read and write one value."""

    read: Reader
    """Plain JSON to the value. Raises `Fault`."""

    write: Writer
    """The value to plain JSON that shares nothing with it."""

    share: Writer
    """The value to JSON in which frozen JSON may stand as it is: for the JSON writer alone."""


@frozen
class Kind:
    """How one kind of field is read and written."""

    read: str
    """Statements that check `{x}` and, where it has to change, assign it anew."""

    write: str = "{value}"
    """Expression of what stands in the document for `{value}`."""

    filled: str = "{x}"
    """Expression that is true when the value is not the empty default."""

    codec: Codec | None = None
    """What `read_{x}` and `write_{x}` call."""

    words: Mapping[str, str] | None = None
    """What `words_{x}` names."""


def _inline(wrong_when: str, expected: str) -> Kind:
    return Kind(f"if {wrong_when}:\n    raise wrong('.{{x}}', {expected!r}, {{x}})")


def called(codec: Codec, filled: str = "{x}") -> Kind:
    """A field that functions read and write."""
    return Kind(
        "try:\n    {x} = read_{x}({x})\nexcept Fault as fault:\n    raise fault.under('.{x}') from None",
        "write_{x}({value})",
        filled,
        codec,
    )


def optional(kind: Kind) -> Kind:
    """A field that may be null. It is left out when it is."""
    indented = kind.read.replace("\n", "\n    ")
    return evolve(kind, read=f"if {{x}} is not None:\n    {indented}")


def tuple_of(codec: Codec) -> Kind:
    """A field that holds an array."""
    return called(Codec(plain.tuple_reader(codec.read), plain.list_writer(codec.write), plain.list_writer(codec.share)))


def word_of(words: Iterable[str]) -> Kind:
    """A field that holds a word of a closed set."""
    known = {str.__str__(word): word for word in words}
    return Kind(
        "try:\n    {x} = words_{x}[{x}]\nexcept (KeyError, TypeError):\n"
        "    raise no_word('.{x}', words_{x}, {x}) from None",
        "write_word({value})",
        words=known,
    )


def _same(read: Reader, write: Writer) -> Codec:
    return Codec(read, write, write)


def _read_ids(value: object) -> frozenset[str]:
    return frozenset(_read_id_list(value))


def _read_id(value: object) -> str:
    if type(value) is not str or not value:
        raise wrong("", "a non-empty string", value)
    return value


_read_id_list = plain.tuple_reader(_read_id)

NAME = _inline("type({x}) is not str or not {x}", "a non-empty string")
TEXT = Kind(
    "if type({x}) is not str:\n    raise wrong('.{x}', 'a string', {x})\n"
    "if not {x}.isascii():\n    {x} = valid_text({x})"
)
FLAG = _inline("{x} is not True and {x} is not False", "true or false")
COUNT = _inline("type({x}) is not int or {x} < 0", "an integer of 0 or more")
SEQ = _inline("type({x}) is not int or {x} < 1", "an integer of 1 or more")
SPAN_END = Kind(
    f"{COUNT.read}\n"
    "if start is not None and {x} < start:\n    raise Fault(f'start, {start}, or more', str({x}), '.{x}')"
)
STATE = called(Codec(plain.read_state, plain.write_object, plain.share_object), "{x}._items")
OBJECT = called(Codec(plain.read_object, plain.write_object, plain.share_object), "{x}._items")
VALUE = called(Codec(plain.read_value, thaw, lambda value: value))
BYTES = called(_same(plain.read_bytes, plain.write_bytes))
MOMENT = called(_same(plain.read_moment, plain.write_moment))
ERROR_KIND = Kind(
    NAME.read + "\n{x} = words_{x}.get({x}, {x})", "write_word({value})", words={kind.value: kind for kind in ErrorKind}
)
REASON = word_of(("auto", "manual"))
IDS = called(_same(_read_ids, sorted))
