"""
Classes that stand in one place, and how a document tells which of them it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Union

from typing_extensions import override

from assistant_events.converters.codecs import Codec, Packer, Reader, Unpacker, Writer, type_of
from assistant_events.converters.compiling import ClassCodec
from assistant_events.converters.faults import ShapeError, no_tag, wrong
from assistant_events.converters.plain import owned, read_document
from assistant_events.events import UnknownEvent
from assistant_events.upcasting import Upcasters


class OnDemand(dict[Any, Any]):
    """A table that makes an entry when it is first asked for. What cannot be made is a `KeyError`."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Any) -> Any:
        made = self[key] = self._make(key)
        return made


class UnionCodec(Codec):
    """
    The codec of several classes: the class of a value tells how it is written.

    Args:
        codecs: What may be written.

        types: What a document may say under `type`, with the class for each.
    """

    def __init__(self, codecs: Mapping[type, Codec], types: Mapping[str, type]) -> None:
        self._codecs = codecs
        self._types = types

    @override
    def make_reader(self) -> Reader:
        readers = OnDemand(lambda type_: self._codecs[self._types[type_]].read)

        def read(document: Any) -> Any:
            kind = type_of(document)
            if kind is not dict:
                raise wrong("", "an object", document)
            try:
                read_class = readers[document["type"]]
            except (KeyError, TypeError):
                raise no_tag(document, self._types) from None
            return read_class(document)

        return read

    @override
    def make_writer(self) -> Writer:
        writers = OnDemand(lambda cls: self._codecs[cls].write)
        return lambda value: writers[type(value)](value)

    @override
    def make_wire(self) -> Any:
        return Union[tuple([self._codecs[cls].wire for cls in self._types.values()])]  # noqa: UP007 - at run time

    @override
    def make_packer(self) -> Packer:
        packers = OnDemand(lambda cls: self._codecs[cls].pack)
        return lambda value: packers[type(value)](value)

    @override
    def make_unpacker(self) -> Unpacker:
        unpackers = self._unpackers()
        return lambda value: unpackers[type(value)](value)

    @override
    def make_array_unpacker(self) -> Unpacker:
        unpackers = self._unpackers()

        def unpack_tuple(values: list[Any]) -> tuple[Any, ...]:
            # Not by a call of `unpack` for each: the parts of a message and the records of a batch are such arrays.
            if len(values) == 1:
                return (unpackers[type(values[0])](values[0]),)
            return tuple([unpackers[type(value)](value) for value in values])

        return unpack_tuple

    def _unpackers(self) -> OnDemand:
        codecs = {self._codecs[cls].wire: self._codecs[cls] for cls in self._types.values()}
        return OnDemand(lambda struct: codecs[struct].unpack)

    @override
    def make_array_packer(self) -> Packer:
        from assistant_events.converters import structs

        codecs = [codec for codec in self._codecs.values() if isinstance(codec, ClassCodec)]
        return structs.array_packer([(codec.plan, codec.wire, codec.write) for codec in codecs])


class EventCodec(UnionCodec):
    """
    The codec of events.

    Documents are read in the version of their class. Older ones are brought up to it; newer ones, and those of other
    types, are kept as they are.
    """

    def __init__(self, codecs: Mapping[type, Codec], types: Mapping[str, Any], upcasters: Upcasters) -> None:
        super().__init__(codecs, types)
        self._versions = {type_: cls.version for type_, cls in types.items()}
        self._upcasters = upcasters

    @override
    def make_reader(self) -> Reader:
        known = OnDemand(lambda type_: (self._versions[type_], self._codecs[self._types[type_]].read))

        def read(document: Any) -> Any:
            kind = type_of(document)
            if kind is not dict:
                raise wrong("", "an object", document)
            try:
                current, read_class = known[document["type"]]
                version = document["v"]
            except (KeyError, TypeError):
                return self._read_unusual(document)
            # Small integers are the same object; where they are not, the other way gives the same answer.
            return read_class(document) if version is current else self._read_unusual(document)

        return read

    def _read_unusual(self, document: dict[str, Any]) -> Any:
        type_: Any = document.get("type")
        if not isinstance(type_, str) or not type_:
            raise no_tag(document, ())
        version = checked_version(document)
        if type_ in self._types:
            newest = {"v": 1, **owned(self._upcasters.upcast(document))}
            if newest["v"] == self._versions[type_]:
                return self._codecs[self._types[type_]].read(newest)
        return UnknownEvent(type=type_, version=version, data=read_document(document))


class NarrowedCodec(Codec):
    """The codec of some of the classes of a union."""

    def __init__(self, union: Codec, classes: Collection[type], expected: str) -> None:
        self._union = union
        self._classes = frozenset(classes)
        self._expected = expected

    @override
    def make_reader(self) -> Reader:
        read_any, classes, expected = self._union.read, self._classes, self._expected

        def read(document: Any) -> Any:
            made = read_any(document)
            if type(made) not in classes:
                raise ShapeError(expected, repr(document["type"]), ".type")
            return made

        return read

    @override
    def make_writer(self) -> Writer:
        return self._union.write

    @override
    def make_wire(self) -> Any:
        return self._union.wire  # all of them: where there is only one, msgspec does not miss its type

    @override
    def make_packer(self) -> Packer:
        return self._union.pack

    @override
    def make_unpacker(self) -> Unpacker:
        unpack_any, classes, expected = self._union.unpack, self._classes, self._expected

        def unpack(value: Any) -> Any:
            made = unpack_any(value)
            if type(made) not in classes:
                raise ShapeError(expected, "another", ".type")
            return made

        return unpack


def checked_version(document: Mapping[str, Any]) -> int:
    """Return the version of *document*, which is 1 when it does not say."""
    version: Any = document.get("v", 1)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise wrong(".v", "an integer of 1 or more", version)
    return version
