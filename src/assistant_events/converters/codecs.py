"""
What reads and writes one kind of value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from operator import length_hint
from typing import Any, TypeAlias

from typing_extensions import override

from assistant_events.converters.faults import ShapeError, wrong

Reader: TypeAlias = Callable[[Any], Any]
"""Takes plain JSON that it may own and returns the value, or raises `ShapeError`."""

Writer: TypeAlias = Callable[[Any], Any]
"""Takes the value and returns plain JSON that shares nothing with it."""

Packer: TypeAlias = Callable[[Any], Any]
"""Takes the value and returns what msgspec writes fastest; it may share frozen JSON with the value."""

Unpacker: TypeAlias = Callable[[Any], Any]
"""Takes what msgspec has read and returns the value, or raises `ShapeError` or `ValueError`."""

# Any in all four: documents are plain JSON, and what is read is of the class that the caller names.

type_of: Callable[[object], type] = type
"""`type` by a name that type checkers do not narrow by: an `Any` would become a `dict` of they know not what."""


class Codec(ABC):
    """
    The functions for one kind of value.

    They are made on first use: code for forty classes would double the time of an import. `wire`, `pack` and `unpack`
    are for where msgspec is installed.
    """

    @cached_property
    def read(self) -> Reader:
        """The reader."""
        return self.make_reader()

    @cached_property
    def write(self) -> Writer:
        """The writer."""
        return self.make_writer()

    @cached_property
    def wire(self) -> Any:
        """The annotation of what msgspec reads."""
        return self.make_wire()

    @cached_property
    def pack(self) -> Packer:
        """The packer."""
        return self.make_packer()

    @cached_property
    def unpack(self) -> Unpacker:
        """The unpacker."""
        return self.make_unpacker()

    @abstractmethod
    def make_reader(self) -> Reader:
        """Return what becomes `read`."""

    @abstractmethod
    def make_writer(self) -> Writer:
        """Return what becomes `write`."""

    @abstractmethod
    def make_wire(self) -> Any:
        """Return what becomes `wire`."""

    @abstractmethod
    def make_packer(self) -> Packer:
        """Return what becomes `pack`."""

    @abstractmethod
    def make_unpacker(self) -> Unpacker:
        """Return what becomes `unpack`."""

    def make_array_packer(self) -> Packer:
        """Return the function that packs a tuple of such values."""
        return _list_writer(self.pack)

    def make_array_unpacker(self) -> Unpacker:
        """Return the function that makes a tuple of such values."""
        return _tuple_unpacker(self.unpack)


class ValueCodec(Codec):
    """The codec of a single value, of functions that are there already."""

    def __init__(self, read: Reader, write: Writer, *, wire: Any, pack: Packer | None = None) -> None:
        self._read = read
        self._write = write
        self._wire = wire
        self._pack = pack or write

    @override
    def make_reader(self) -> Reader:
        return self._read

    @override
    def make_writer(self) -> Writer:
        return self._write

    @override
    def make_wire(self) -> Any:
        return self._wire

    @override
    def make_packer(self) -> Packer:
        return self._pack

    @override
    def make_unpacker(self) -> Unpacker:
        return self._read


class ArrayCodec(Codec):
    """The codec of a tuple, which is an array on the wire."""

    def __init__(self, item: Codec) -> None:
        self._item = item

    @override
    def make_reader(self) -> Reader:
        return _tuple_reader(self._item.read)

    @override
    def make_writer(self) -> Writer:
        return _list_writer(self._item.write)

    @override
    def make_wire(self) -> Any:
        return list.__class_getitem__(self._item.wire)

    @override
    def make_packer(self) -> Packer:
        return self._item.make_array_packer()

    @override
    def make_unpacker(self) -> Unpacker:
        return self._item.make_array_unpacker()


# Most arrays are of one item, and a comprehension is a call of its own.


def _tuple_reader(read: Reader) -> Reader:
    def read_tuple(value: Any) -> tuple[Any, ...]:
        kind = type_of(value)
        if kind is not list:
            raise wrong("", "an array", value)
        rest = iter(value)
        try:
            return (read(next(rest)),) if len(value) == 1 else tuple([read(item) for item in rest])
        except ShapeError as fault:
            raise fault.under(f"[{len(value) - length_hint(rest) - 1}]") from None

    return read_tuple


def _tuple_unpacker(unpack: Unpacker) -> Unpacker:
    def unpack_tuple(values: list[Any]) -> tuple[Any, ...]:
        return (unpack(values[0]),) if len(values) == 1 else tuple([unpack(value) for value in values])

    return unpack_tuple


def _list_writer(write: Writer) -> Writer:
    def write_list(values: Iterable[Any]) -> list[Any]:
        return [write(value) for value in values]

    return write_list
