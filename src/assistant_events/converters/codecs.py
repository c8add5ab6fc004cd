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

from assistant_events.converters.faults import Fault, wrong

Reader: TypeAlias = Callable[[Any], Any]
"""Takes plain JSON that it may own and returns the value, or raises `Fault`."""

Writer: TypeAlias = Callable[[Any], Any]
"""Takes the value and returns plain JSON that shares nothing with it."""

Packer: TypeAlias = Callable[[Any], Any]
"""Takes the value and returns what msgspec writes fastest; it may share frozen JSON with the value."""

Unpacker: TypeAlias = Callable[[Any], Any]
"""Takes what msgspec has read and returns the value, or raises `Fault` or `ValueError`."""

# Any in all four: documents are plain JSON, and what is read is of the class that the caller names.


class Codec(ABC):
    """
    The functions for one kind of value, made on first use: code for forty classes would double the time of an import.

    `wire`, `pack` and `unpack` are for where msgspec is installed.
    """

    @cached_property
    def read(self) -> Reader:
        return self.make_reader()

    @cached_property
    def write(self) -> Writer:
        return self.make_writer()

    @cached_property
    def wire(self) -> Any:
        """Annotation of what msgspec reads."""
        return self.make_wire()

    @cached_property
    def pack(self) -> Packer:
        return self.make_packer()

    @cached_property
    def unpack(self) -> Unpacker:
        return self.make_unpacker()

    @abstractmethod
    def make_reader(self) -> Reader: ...

    @abstractmethod
    def make_writer(self) -> Writer: ...

    @abstractmethod
    def make_wire(self) -> Any: ...

    @abstractmethod
    def make_packer(self) -> Packer: ...

    @abstractmethod
    def make_unpacker(self) -> Unpacker: ...

    def make_array_packer(self) -> Packer:
        """Return the function that packs a tuple of such values."""
        return _list_of(self.pack)


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
    """The codec of a tuple, an array on the wire."""

    def __init__(self, item: Codec) -> None:
        self._item = item

    @override
    def make_reader(self) -> Reader:
        return _tuple_reader(self._item.read)

    @override
    def make_writer(self) -> Writer:
        return _list_of(self._item.write)

    @override
    def make_wire(self) -> Any:
        return list[self._item.wire]  # type: ignore[name-defined]  # known at run time only

    @override
    def make_packer(self) -> Packer:
        return self._item.make_array_packer()

    @override
    def make_unpacker(self) -> Unpacker:
        return _tuple_of(self._item.unpack)


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


def _tuple_of(unpack: Unpacker) -> Unpacker:
    def unpack_tuple(values: list[Any]) -> tuple[Any, ...]:
        return (unpack(values[0]),) if len(values) == 1 else tuple([unpack(value) for value in values])

    return unpack_tuple


def _list_of(write: Writer) -> Writer:
    def write_list(values: Iterable[Any]) -> list[Any]:
        return [write(value) for value in values]

    return write_list
