"""
Everything that is stored, to plain JSON and JSON text and back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

from typing_extensions import TypeForm

from assistant_events.converters.codecs import Codec
from assistant_events.converters.faults import ShapeError
from assistant_events.converters.plain import owned
from assistant_events.converters.unions import OnDemand
from assistant_events.converters.wire import CLASSES, CODECS
from assistant_events.values import read_json, write_json
from assistant_events.values.unicode import has_surrogates

_T = TypeVar("_T")
_Load: TypeAlias = Callable[[bytes | str], Any]

# Documents are read field by field, and JSON inside them no deeper than `MAX_DEPTH`. As nothing in them is passed over,
# the JSON reader need not count levels, which would take longer than to read a message.
_NO_LIMIT = 1 << 62


def unstructure(value: object) -> Any:
    """
    Return *value* as plain JSON, fresh: nothing in it is shared with *value*.

    Raises:
        TypeError: For what is not stored by this library.

        ValueError: For an unknown field that has the name of a known one.
    """
    # Any: plain JSON is what callers index into.
    try:
        write = _WRITERS[type(value)]
    except KeyError:
        raise _not_stored(value) from None
    return write(value)


def structure(data: object, cls: TypeForm[_T]) -> _T:
    """
    Return what plain JSON says, as *cls*.

    Args:
        data: Plain JSON. It is not changed and may be changed later.

        cls: `Event`, `DurableEvent`, `LiveEvent`, `Message`, `Part`, `Content`, or one class that is stored, such as
            `Record`, `Transcript` or `TextEnded`.

    Raises:
        StructureError: When *data* is something else, with the path of the place.

        TypeError: For a *cls* that is not stored by this library.
    """
    read = _codec(cls).read
    try:
        return read(owned(data))  # type: ignore[no-any-return]  # the reader of a class returns its objects
    except ShapeError as fault:
        raise fault.as_error() from None


def dumps(value: object) -> bytes:
    """
    Return *value* as compact JSON in UTF-8.

    Raises:
        TypeError: For what is not stored by this library.

        ValueError: For an unknown field that has the name of a known one.
    """
    try:
        dump = _DUMPERS[type(value)]
    except KeyError:
        raise _not_stored(value) from None
    data: bytes = dump(value)
    return data


def loads(data: bytes | str, cls: TypeForm[_T]) -> _T:
    """
    Return what JSON text says, as *cls*: what `structure` takes.

    Raises:
        JsonError: When *data* is no JSON.

        StructureError: When it is something else than *cls*, with the path of the place.

        TypeError: For a *cls* that is not stored by this library.
    """
    load = _LOADERS.get(id(cls)) or _loader(cls)
    return load(data)  # type: ignore[no-any-return]  # as above


def _not_stored(value: object) -> TypeError:
    return TypeError(f"expected an object of a class that is stored, got {type(value).__name__}")


def _codec(cls: object) -> Codec:
    codec = _BY_IDENTITY.get(id(cls))
    if codec is not None:
        return codec
    try:
        return CODECS[cls]
    except (KeyError, TypeError):
        raise TypeError(f"expected a class that is stored, got {cls!r}") from None


_BY_IDENTITY = {id(cls): codec for cls, codec in CODECS.items()}
# The hash of a union of 28 classes takes half as long as to read an event.

_WRITERS = OnDemand(lambda cls: CLASSES[cls].write)
_DUMPERS = OnDemand(lambda cls: _dumper(CLASSES[cls]))

_LOADERS: dict[int, _Load] = {}
"""By identity of what `CODECS` knows."""


def _dumper(codec: Codec) -> Callable[[Any], bytes]:
    write = codec.write

    def dump_plain(value: Any) -> bytes:
        return write_json(write(value))

    try:
        import msgspec
    except ImportError:
        return dump_plain
    pack = codec.pack
    # Frozen JSON may stand at any depth; a getter in C opens it without a call of Python for each object.
    encode = msgspec.json.Encoder(enc_hook=attrgetter("_items")).encode

    def dump(value: Any) -> bytes:
        try:
            return encode(pack(value))
        except (ValueError, OverflowError, RecursionError):  # huge integers, lone surrogates
            return dump_plain(value)

    return dump


def _loader(cls: object) -> _Load:
    load = _loader_of(_codec(cls))
    if id(cls) in _BY_IDENTITY:
        _LOADERS[id(cls)] = load
    return load


@cache
def _loader_of(codec: Codec) -> _Load:
    read = codec.read

    def load_plain(data: bytes | str) -> Any:
        document = read_json(data, max_depth=_NO_LIMIT)
        if isinstance(data, str) and has_surrogates(data):
            document = owned(document)
        try:
            return read(document)
        except ShapeError as fault:
            raise fault.as_error() from None

    try:
        import msgspec
    except ImportError:
        return load_plain
    unpack = codec.unpack
    decode = msgspec.json.Decoder(codec.wire).decode

    def load(data: bytes | str) -> Any:
        try:
            return unpack(decode(data))
        except (ShapeError, ValueError, RecursionError):
            return load_plain(data)

    return load
