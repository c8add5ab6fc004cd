"""
What users call: to plain JSON, to JSON text, and the same for converters of cattrs.
"""

from __future__ import annotations

from typing import Any, TypeVar

import cattrs
from typing_extensions import TypeForm

from assistant_events.converters.faults import Fault
from assistant_events.converters.plain import DOCUMENT_DEPTH, Reader, Writer, read_object, read_state, write_object
from assistant_events.converters.wire import CODECS
from assistant_events.values import JsonObject, State, read_json, write_json

_T = TypeVar("_T")


def make_converter() -> cattrs.Converter:
    """Return a converter of cattrs that knows the wire form of this library; see `configure_converter`."""
    converter = cattrs.Converter()
    configure_converter(converter)
    return converter


def configure_converter(converter: cattrs.Converter) -> None:
    """
    Teach *converter* the wire form of events, records, messages and values, so that classes of yours can hold them.

    The wire form:

    - An event is an object with its `type`, its version `v` and its fields by their names.
    - Fields that equal their default are left out: an empty state, `complete` true, `None`. Fields without a default, the
      status of messages and parts, and all three fields of a transcript are always there.
    - A record is `session_id`, `seq`, `at`, `event` and, unless it is empty, `meta`.
    - Messages, parts and contents are told apart by `type`: `user`, `assistant`, `compaction`; `text`, `reasoning`, `media`,
      `tool`, `opaque`; `text`, `json`, `media`. A transcript has its version under `v`; a newer one is refused.
    - Bytes are base64, enums their words, moments ISO 8601 in UTC with a `Z` and with their microseconds.
    - State and other JSON is written as it is: every string code unit for code unit, integers of any size, keys in their order.
    - Reading converts nothing: `"false"` and 0 are no booleans, `true` and 1.0 are no integers, null only stands where a
      field may be `None`.
    - Fields that are not known go into `extra` of events and values and are written back behind the known ones. Records,
      messages, parts and transcripts have no place for them: there they are an error.
    - An event of a type that is not known, or of a newer version than this one, becomes an `UnknownEvent` with the whole
      document and is written back as it came. Older versions are brought up by `upcasting`. No `v` means version 1.
    - What does not fit raises `StructureError` with the path of the field, from the root of what the hook was given.
    """
    for cls, codec in CODECS.items():
        _register(converter, cls, codec.read, codec.write)
    _register(converter, State, read_state, write_object)
    _register(converter, JsonObject, read_object, write_object)


def unstructure(value: object) -> Any:
    """
    Return *value* as plain JSON, fresh: nothing in it is shared with *value*.

    Raises:
        TypeError: For what is not stored by this library.

        ValueError: For an unknown field that has the name of a known one.
    """
    # Any: plain JSON is what callers index into.
    return _writer(_WRITE, value)(value)


def structure(data: object, cls: TypeForm[_T]) -> _T:
    """
    Return what plain JSON says, as *cls*.

    Args:
        data: Plain JSON. It is not changed and may be changed later.

        cls: `Event`, `DurableEvent`, `LiveEvent`, `Record`, `Message`, `Part`, `Content`, `Transcript`, or one class that
            is stored.

    Raises:
        StructureError: When *data* is something else, with the path of the place.

        TypeError: For a *cls* that is not stored by this library.
    """
    try:
        return _reader(cls)(data)  # type: ignore[no-any-return]  # the reader of a class returns its objects
    except Fault as fault:
        raise fault.as_error() from None


def dumps(value: object) -> bytes:
    """
    Return *value* as compact JSON in UTF-8.

    Raises:
        TypeError: For what is not stored by this library.

        ValueError: For an unknown field that has the name of a known one.
    """
    return write_json(_writer(_SHARE, value)(value))


def loads(data: bytes | str, cls: TypeForm[_T]) -> _T:
    """
    Return what JSON text says, as *cls*: what `structure` takes.

    Raises:
        JsonError: When *data* is no JSON.

        StructureError: When it is something else than *cls*, with the path of the place.

        TypeError: For a *cls* that is not stored by this library.
    """
    read = _reader(cls)
    document = read_json(data, max_depth=DOCUMENT_DEPTH)
    try:
        return read(document)  # type: ignore[no-any-return]
    except Fault as fault:
        raise fault.as_error() from None


_READ: dict[int, Reader] = {id(cls): codec.read for cls, codec in CODECS.items()}
# By identity: the hash of a union of 28 classes costs more than reading an event.
_WRITE: dict[type, Writer] = {cls: codec.write for cls, codec in CODECS.items() if isinstance(cls, type)}
_SHARE: dict[type, Writer] = {cls: codec.share for cls, codec in CODECS.items() if isinstance(cls, type)}


def _reader(cls: object) -> Reader:
    read = _READ.get(id(cls))
    if read is not None:
        return read
    for known, codec in CODECS.items():
        if known == cls:
            return codec.read
    raise TypeError(f"expected a class that this library stores, got {cls!r}")


def _writer(writers: dict[type, Writer], value: object) -> Writer:
    try:
        return writers[type(value)]
    except KeyError:
        raise TypeError(f"expected an object that this library stores, got {type(value).__name__}") from None


def _register(converter: cattrs.Converter, cls: Any, read: Reader, write: Writer) -> None:
    def structured(data: Any, _: Any) -> Any:
        try:
            return read(data)
        except Fault as fault:
            raise fault.as_error() from None

    converter.register_structure_hook(cls, structured)
    converter.register_unstructure_hook(cls, write)
