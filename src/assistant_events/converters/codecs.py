"""
What reads and writes one kind of value, made when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from operator import length_hint
from typing import Any, TypeAlias

from assistant_events.converters.faults import Fault, wrong

Reader: TypeAlias = Callable[[Any], Any]
"""Takes plain JSON, returns the value. Raises `Fault`."""

Writer: TypeAlias = Callable[[Any], Any]
"""Takes the value, returns what stands for it."""

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
        """Plain JSON to the value."""
        return self._make_read()

    @cached_property
    def write(self) -> Writer:
        """The value to plain JSON that shares nothing with it."""
        return self._make_write()

    @cached_property
    def pack(self) -> Writer:
        """The value to what the JSON writer takes fastest; it may share frozen JSON with the value."""
        return self._make_pack()


def ready(read: Reader, write: Writer, pack: Writer | None = None) -> Codec:
    """Return a codec of functions that are there already."""
    return Codec(lambda: read, lambda: write, lambda: pack or write)


class UnionCodec(Codec):
    """The codec of a union: the class of a value tells how it is written."""

    def __init__(self, read: Callable[[], Reader], codecs: Callable[[type], Codec]) -> None:
        super().__init__(read, lambda: _by_class(self.writers), lambda: _by_class(self.packers))
        self.writers = OnDemand(lambda cls: codecs(cls).write)
        self.packers = OnDemand(lambda cls: codecs(cls).pack)


class OnDemand(dict[Any, Any]):
    """A table that makes an entry when it is first asked for. What cannot be made is a `KeyError`."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Any) -> Any:
        made = self[key] = self._make(key)
        return made


def array_of(codec: Codec) -> Codec:
    """Return the codec of a tuple, an array on the wire, of what *codec* reads and writes."""
    if isinstance(codec, UnionCodec):
        return Codec(
            lambda: _tuple_reader(codec.read),
            lambda: _mixed_list_writer(codec.writers),
            lambda: _mixed_list_writer(codec.packers),
        )
    return Codec(
        lambda: _tuple_reader(codec.read), lambda: _list_writer(codec.write), lambda: _list_writer(codec.pack)
    )


def _tuple_reader(read: Reader) -> Reader:
    def read_tuple(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise wrong("", "an array", value)
        rest = iter(value)
        try:
            return tuple(map(read, rest))
        except Fault as fault:
            raise fault.under(f"[{len(value) - length_hint(rest) - 1}]") from None

    return read_tuple


def _list_writer(write: Writer) -> Writer:
    def write_list(values: Iterable[Any]) -> list[Any]:
        return [write(value) for value in values]

    return write_list


def _mixed_list_writer(writers: Mapping[type, Writer]) -> Writer:
    def write_list(values: Iterable[Any]) -> list[Any]:
        return [writers[type(value)](value) for value in values]

    return write_list


def _by_class(writers: Mapping[type, Writer]) -> Writer:
    return lambda value: writers[type(value)](value)
