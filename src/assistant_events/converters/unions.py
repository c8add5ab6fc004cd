"""
Classes that stand in one place, and how a document tells which of them it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from assistant_events.converters.codecs import Codec, Reader, Writer
from assistant_events.converters.compiling import ClassCodec
from assistant_events.converters.faults import Fault, no_tag, wrong
from assistant_events.converters.packing import array_packer
from assistant_events.converters.plain import read_document
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
    """The codec of several classes: the class of a value tells how it is written."""

    def __init__(self, read: Callable[[], Reader], codecs: Mapping[type, Codec]) -> None:
        writers = OnDemand(lambda cls: codecs[cls].write)
        packers = OnDemand(lambda cls: codecs[cls].pack)
        super().__init__(
            read,
            lambda: lambda value: writers[type(value)](value),
            lambda: lambda value: packers[type(value)](value),
        )
        self._codecs = codecs

    def make_array_packer(self) -> Writer:
        """Return the function that packs a tuple of such values."""
        return array_packer(
            [(codec.plan, codec.write) for codec in self._codecs.values() if isinstance(codec, ClassCodec)]
        )


def tagged(types: Mapping[str, type], codecs: Mapping[type, Codec]) -> Codec:
    """Return the codec of classes that the word under `type` tells apart."""

    def make_reader() -> Reader:
        readers = OnDemand(lambda type_: codecs[types[type_]].read)

        def read(document: Any) -> Any:
            if type(document) is not dict:
                raise wrong("", "an object", document)
            try:
                read_class = readers[document["type"]]
            except (KeyError, TypeError):
                raise no_tag(document, types) from None
            return read_class(document)

        return read

    return UnionCodec(make_reader, {cls: codecs[cls] for cls in types.values()})


def versioned(types: Mapping[str, Any], codecs: Mapping[type, Codec], upcasters: Upcasters) -> Codec:
    """
    Return the codec of events.

    Those of *types* are read in the version of their class. Older documents are brought up to it; newer ones and those of
    other types are kept as they are.
    """

    def make_reader() -> Reader:
        known = OnDemand(lambda type_: (types[type_].version, codecs[types[type_]].read))

        def read(document: Any) -> Any:
            if type(document) is not dict:
                raise wrong("", "an object", document)
            try:
                current, read_class = known[document["type"]]
                version = document["v"]
            except (KeyError, TypeError):
                return read_unusual(document)
            # Small integers are the same object; where they are not, the other way gives the same answer.
            return read_class(document) if version is current else read_unusual(document)

        def read_unusual(document: dict[str, Any]) -> Any:
            type_ = document.get("type")
            if type(type_) is not str or not type_:
                raise no_tag(document, ())
            version = checked_version(document)
            if type_ in types:
                current, read_class = known[type_]
                newest = {"v": 1, **upcasters.upcast(document)}
                if newest["v"] == current:
                    return read_class(newest)
            return UnknownEvent(type=type_, version=version, data=read_document(document))

        return read

    return UnionCodec(make_reader, codecs)


def checked_version(document: Mapping[str, Any]) -> int:
    """Return the version of *document*, which is 1 when it does not say."""
    version = document.get("v", 1)
    if type(version) is not int or version < 1:
        raise wrong(".v", "an integer of 1 or more", version)
    return version


def narrowed(union: Codec, classes: Collection[type], expected: str) -> Codec:
    """Return the codec of some of the classes of *union*."""
    wanted = frozenset(classes)

    def make_reader() -> Reader:
        read_any = union.read

        def read(document: Any) -> Any:
            made = read_any(document)
            if type(made) not in wanted:
                raise Fault(expected, repr(made.type), ".type")
            return made

        return read

    return Codec(make_reader, lambda: union.write, lambda: union.pack)
