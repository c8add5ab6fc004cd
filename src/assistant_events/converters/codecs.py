"""
What reads and writes one kind of value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from operator import length_hint
from typing import Any, TypeAlias

from assistant_events.converters.faults import Fault, wrong

Reader: TypeAlias = Callable[[Any], Any]
"""Takes plain JSON and returns the value, or raises `Fault`."""

Writer: TypeAlias = Callable[[Any], Any]
"""Takes the value and returns what stands for it."""

# Any in both: documents are plain JSON, and what is read is of the class that the caller names.


class Codec:
    """
    Three functions for one kind of value.

    They are made on first use: code for some forty classes would double the time that an import takes.
    """

    def __init__(
        self, read: Callable[[], Reader], write: Callable[[], Writer], pack: Callable[[], Writer] | None = None
    ) -> None:
        self._make_read = read
        self._make_write = write
        self._make_pack = pack or write

    @cached_property
    def read(self) -> Reader:
        """From plain JSON that the reader may own to the value."""
        return self._make_read()

    @cached_property
    def write(self) -> Writer:
        """From the value to plain JSON that shares nothing with it."""
        return self._make_write()

    @cached_property
    def pack(self) -> Writer:
        """From the value to what msgspec writes fastest; it may share frozen JSON with the value."""
        return self._make_pack()

    def array(self) -> Codec:
        """Return the codec of a tuple of such values, which is an array on the wire."""
        return Codec(
            lambda: _tuple_reader(self.read), lambda: _list_writer(self.write), lambda: self.make_array_packer()
        )

    def make_array_packer(self) -> Writer:
        """Return the function that packs a tuple of such values."""
        return _list_writer(self.pack)


def ready(read: Reader, write: Writer, pack: Writer | None = None) -> Codec:
    """Return a codec of functions that are there already."""
    return Codec(lambda: read, lambda: write, lambda: pack or write)


def _tuple_reader(read: Reader) -> Reader:
    def read_tuple(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise wrong("", "an array", value)
        rest = iter(value)
        try:
            # Most arrays are of one item, and a comprehension is a call of its own.
            return (read(next(rest)),) if len(value) == 1 else tuple([read(item) for item in rest])
        except Fault as fault:
            raise fault.under(f"[{len(value) - length_hint(rest) - 1}]") from None

    return read_tuple


def _list_writer(write: Writer) -> Writer:
    def write_list(values: Iterable[Any]) -> list[Any]:
        return [write(value) for value in values]

    return write_list
