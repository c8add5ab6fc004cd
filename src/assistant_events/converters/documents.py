"""
Everything that is stored, to plain JSON and JSON text and back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

from typing_extensions import TypeForm

from assistant_events.converters.codecs import Codec, Packer, Reader
from assistant_events.converters.faults import ShapeError
from assistant_events.converters.plain import owned
from assistant_events.converters.unions import OnDemand
from assistant_events.converters.wire import CLASSES, CODECS
from assistant_events.values import read_json, write_json
from assistant_events.values.text import has_surrogates

_T = TypeVar("_T")
_Loader: TypeAlias = tuple[Callable[[bytes | str], Any], Reader]

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
    try:
        return _codec(cls).read(owned(data))  # type: ignore[no-any-return]  # the reader of a class returns its objects
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
        encode, pack = _DUMPERS[type(value)]
    except KeyError:
        raise _not_stored(value) from None
    try:
        return encode(pack(value))  # type: ignore[no-any-return]  # what every writer of JSON returns
    except (ValueError, OverflowError, RecursionError):  # huge integers, lone surrogates
        return write_json(unstructure(value))


def loads(data: bytes | str, cls: TypeForm[_T]) -> _T:
    """
    Return what JSON text says, as *cls*: what `structure` takes.

    Raises:
        JsonError: When *data* is no JSON.

        StructureError: When it is something else than *cls*, with the path of the place.

        TypeError: For a *cls* that is not stored by this library.
    """
    decode, unpack = _LOADERS.get(id(cls)) or _loader(cls)
    try:
        return unpack(decode(data))  # type: ignore[no-any-return]  # as above
    except (ShapeError, ValueError, RecursionError):
        document = _document(data)
    try:
        return _codec(cls).read(document)  # type: ignore[no-any-return]
    except ShapeError as fault:
        raise fault.as_error() from None


def _document(data: bytes | str) -> Any:
    """Return the document in JSON text, for a reader to own."""
    document = read_json(data, max_depth=_NO_LIMIT)
    return owned(document) if isinstance(data, str) and has_surrogates(data) else document


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


def _dumper(codec: Codec) -> tuple[Callable[[Any], bytes], Packer]:
    """Return what writes JSON text and what prepares a value for it."""
    try:
        import msgspec
    except ImportError:
        return write_json, codec.write
    # Frozen JSON may stand at any depth; a getter in C opens it without a call of Python for each object.
    return msgspec.json.Encoder(enc_hook=attrgetter("_items")).encode, codec.pack


def _loader(cls: object) -> _Loader:
    loader = _loader_of(_codec(cls))
    if id(cls) in _BY_IDENTITY:
        _LOADERS[id(cls)] = loader
    return loader


@cache
def _loader_of(codec: Codec) -> _Loader:
    """Return what reads JSON text and what makes a value of it."""
    try:
        import msgspec
    except ImportError:
        return _document, codec.read
    return msgspec.json.Decoder(codec.wire).decode, codec.unpack


_WRITERS = OnDemand(lambda cls: CLASSES[cls].write)
_DUMPERS = OnDemand(lambda cls: _dumper(CLASSES[cls]))

# By identity: the hash of a union of 28 classes takes half as long as to read an event.
_BY_IDENTITY = {id(cls): codec for cls, codec in CODECS.items()}
_LOADERS: dict[int, _Loader] = {}
