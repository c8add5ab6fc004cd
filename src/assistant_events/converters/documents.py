"""
Everything that is stored, to plain JSON and JSON text and back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from operator import attrgetter
from typing import Any, TypeVar

from typing_extensions import TypeForm

from assistant_events.converters.codecs import Reader
from assistant_events.converters.faults import Fault
from assistant_events.converters.plain import owned
from assistant_events.converters.unions import OnDemand
from assistant_events.converters.wire import CLASSES, CODECS
from assistant_events.values import read_json, write_json
from assistant_events.values.unicode import has_surrogates

_T = TypeVar("_T")

# Documents are read field by field, and JSON inside them no deeper than `MAX_DEPTH`. Nothing in them is left unlooked at, so
# that the reader need not count levels, which would take longer than to read a message.
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
    read = _READERS.get(id(cls)) or _reader(cls)
    try:
        return read(owned(data))  # type: ignore[no-any-return]  # the reader of a class returns its objects
    except Fault as fault:
        raise fault.as_error() from None


def dumps(value: object) -> bytes:
    """
    Return *value* as compact JSON in UTF-8.

    Raises:
        TypeError: For what is not stored by this library.

        ValueError: For an unknown field that has the name of a known one.
    """
    try:
        pack = _PACKERS[type(value)]
    except KeyError:
        raise _not_stored(value) from None
    try:
        return _encoder()(pack(value))
    except (OverflowError, UnicodeEncodeError, RecursionError):  # huge integers and lone surrogates
        return write_json(unstructure(value))


def loads(data: bytes | str, cls: TypeForm[_T]) -> _T:
    """
    Return what JSON text says, as *cls*: what `structure` takes.

    Raises:
        JsonError: When *data* is no JSON.

        StructureError: When it is something else than *cls*, with the path of the place.

        TypeError: For a *cls* that is not stored by this library.
    """
    read = _READERS.get(id(cls)) or _reader(cls)
    try:
        document = _decoder()(data)
    except (ValueError, RecursionError):
        document = read_json(data, max_depth=_NO_LIMIT)
    if type(data) is str and has_surrogates(data):
        document = owned(document)
    try:
        return read(document)  # type: ignore[no-any-return]
    except Fault as fault:
        raise fault.as_error() from None


# `read_json` and `write_json` say what JSON is. Where msgspec is content they would only add to its time.


@cache
def _decoder() -> Callable[[bytes | str], Any]:
    try:
        import msgspec
    except ImportError:
        return partial(read_json, max_depth=_NO_LIMIT)
    return msgspec.json.Decoder().decode


@cache
def _encoder() -> Callable[[Any], bytes]:
    try:
        import msgspec
    except ImportError:
        return write_json
    # Frozen JSON may stand at any depth; a getter in C opens it without a call of Python for each object.
    return msgspec.json.Encoder(enc_hook=attrgetter("_items")).encode


_WRITERS = OnDemand(lambda cls: CLASSES[cls].write)
_PACKERS = OnDemand(lambda cls: CLASSES[cls].pack)
_READERS: dict[int, Reader] = {}
"""By identity of what `CODECS` knows: the hash of a union of 28 classes takes as long as to read an event."""


def _reader(cls: object) -> Reader:
    for known, codec in CODECS.items():
        if known is cls:
            _READERS[id(cls)] = codec.read
            return codec.read
    if cls in CODECS:
        return CODECS[cls].read
    raise TypeError(f"expected a class that is stored, got {cls!r}")


def _not_stored(value: object) -> TypeError:
    return TypeError(f"expected an object of a class that is stored, got {type(value).__name__}")
