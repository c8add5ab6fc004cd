"""
The wire form of everything that is stored: how each class is written, and what tells the classes of a union apart.

`CODECS` has the functions of every class and union. They raise `Fault`; the public functions turn it into an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, get_type_hints

from assistant_events.converters import kinds, plain
from assistant_events.converters.compiling import compile_class
from assistant_events.converters.faults import Fault, no_tag, wrong
from assistant_events.converters.kinds import Codec, Kind, called, word_of
from assistant_events.events import (
    DURABLE_EVENTS,
    EVENT_TYPES,
    LIVE_EVENTS,
    DurableEvent,
    Event,
    LiveEvent,
    Record,
    UnknownEvent,
)
from assistant_events.messages import (
    MESSAGE_CLASSES,
    PART_CLASSES,
    CallStatus,
    Message,
    MessageStatus,
    Part,
    PartStatus,
    Times,
    Transcript,
)
from assistant_events.upcasting import EVENTS, Upcasters
from assistant_events.values import (
    Citation,
    Content,
    ErrorInfo,
    ErrorKind,
    Finish,
    JsonContent,
    JsonObject,
    MediaContent,
    Origin,
    Run,
    State,
    TextContent,
    Usage,
)

TRANSCRIPT_VERSION = 1

CODECS: dict[Any, Codec] = {}
"""Functions of every class and union; a union under the name that the library gives it."""

_COMPILED: dict[type, Codec] = {}

_KINDS: dict[Any, Kind] = {
    str: kinds.TEXT,
    bool: kinds.FLAG,
    int: kinds.COUNT,
    bytes: kinds.BYTES,
    datetime: kinds.MOMENT,
    State: kinds.STATE,
    JsonObject: kinds.OBJECT,
    # JsonValue names itself inside; this is how it looks once that is resolved.
    get_type_hints(JsonContent)["value"]: kinds.VALUE,
    ErrorKind | str: kinds.ERROR_KIND,
    Finish: word_of(Finish),
    MessageStatus: word_of(MessageStatus),
    PartStatus: word_of(PartStatus),
    CallStatus: word_of(CallStatus),
    Literal["auto", "manual"]: word_of(("auto", "manual")),
    frozenset[str]: kinds.IDS,
}


def union_of(types: Mapping[str, type], codecs: Mapping[type, Codec]) -> Codec:
    """Return the functions for classes that the word under `type` tells apart."""
    readers = {type_: codecs[cls].read for type_, cls in types.items()}

    def read(document: Any) -> Any:
        if type(document) is not dict:
            document = plain.as_dict(document)
        try:
            reader = readers[document["type"]]
        except (KeyError, TypeError):
            raise no_tag(document, readers) from None
        return reader(document)

    return _by_class(read, {cls: codecs[cls] for cls in types.values()})


def event_union(types: Mapping[str, Any], codecs: Mapping[type, Codec], upcasters: Upcasters) -> Codec:
    """Return the functions for events: *types* in their version, older ones brought up to it, all others kept as they are."""
    known = {type_: (cls.version, codecs[cls].read) for type_, cls in types.items()}

    def read(document: Any) -> Any:
        if type(document) is not dict:
            document = plain.as_dict(document)
        try:
            current, reader = known[document["type"]]
            version = document["v"]
        except (KeyError, TypeError):
            return read_unusual(document)
        if version != current or type(version) is not int:
            return read_unusual(document)
        return reader(document)

    def read_unusual(document: dict[str, Any]) -> Any:
        type_, version = document.get("type"), document.get("v", 1)
        if type(type_) is not str or not type_:
            raise no_tag(document, ())
        if type(version) is not int or version < 1:
            raise wrong(".v", "an integer of 1 or more", version)
        if type_ in known:
            current, reader = known[type_]
            newest = {"v": 1, **upcasters.upcast(document)}
            if newest["v"] == current:
                return reader(newest)
        return UnknownEvent(type=type_, version=version, data=plain.read_unknown(document))

    return _by_class(read, {**codecs, UnknownEvent: _UNKNOWN})


def narrowed(codec: Codec, classes: Iterable[type], expected: str) -> Codec:
    """Return *codec* for some of its classes only."""
    wanted = frozenset(classes)

    def read(document: Any) -> Any:
        made = codec.read(document)
        if type(made) not in wanted:
            raise Fault(expected, repr(made.type), ".type")
        return made

    return Codec(read, codec.write, codec.share)


def _by_class(read: plain.Reader, codecs: Mapping[type, Codec]) -> Codec:
    write = {cls: codec.write for cls, codec in codecs.items()}
    share = {cls: codec.share for cls, codec in codecs.items()}
    return Codec(read, lambda value: write[type(value)](value), lambda value: share[type(value)](value))


def _whole(event: UnknownEvent) -> State:
    if event.data.get("type") != event.type or event.data.get("v", 1) != event.version:
        raise ValueError(f"UnknownEvent.data: expected the whole document of {event.type!r}, version {event.version}")
    return event.data


_UNKNOWN = Codec(
    plain.read_unknown,
    lambda event: plain.write_object(_whole(event)),
    lambda event: plain.share_object(_whole(event)),
)


def _transcript(codec: Codec) -> Codec:
    def read(document: Any) -> Any:
        if type(document) is not dict:
            document = plain.as_dict(document)
        version = document.get("v", TRANSCRIPT_VERSION)
        if type(version) is not int or version < 1:
            raise wrong(".v", "an integer of 1 or more", version)
        if version > TRANSCRIPT_VERSION:
            raise Fault(
                f"version {TRANSCRIPT_VERSION} of a transcript, which is what this release reads",
                f"version {version}",
                ".v",
            )
        return codec.read({"v": version, **document})

    return Codec(read, codec.write, codec.share)


def _define(cls: type, **how: Any) -> None:
    _COMPILED[cls] = compile_class(cls, _KINDS, **how)
    _KINDS[cls] = called(_COMPILED[cls])


def _define_union(union: Any, types: Mapping[str, type], **how: Any) -> None:
    for type_, cls in types.items():
        _define(cls, tag={"type": type_}, **how)
    codec = union_of(types, _COMPILED)
    _KINDS[union] = called(codec)
    CODECS[union] = codec
    CODECS.update({cls: narrowed(codec, [cls], repr(type_)) for type_, cls in types.items()})


def _define_events() -> None:
    for type_, cls in EVENT_TYPES.items():
        _define(cls, tag={"type": type_, "v": cls.version})
    codec = event_union(EVENT_TYPES, {cls: _COMPILED[cls] for cls in EVENT_TYPES.values()}, EVENTS)
    stored = narrowed(codec, (*DURABLE_EVENTS, UnknownEvent), "a durable event")
    _KINDS[DurableEvent | UnknownEvent] = called(stored)
    CODECS[Event] = codec
    CODECS[DurableEvent] = narrowed(codec, DURABLE_EVENTS, "a durable event")
    CODECS[LiveEvent] = narrowed(codec, LIVE_EVENTS, "a live event")
    CODECS[UnknownEvent] = narrowed(codec, [UnknownEvent], "an event that is not known")
    CODECS.update({cls: narrowed(codec, [cls], repr(type_)) for type_, cls in EVENT_TYPES.items()})


for _class in (Usage, ErrorInfo, Origin, Run, Citation, Times):
    _define(_class)
_define_union(Content, {"text": TextContent, "json": JsonContent, "media": MediaContent})
_define_events()
_define(Record)
_define_union(Part, {cls.type: cls for cls in PART_CLASSES}, always=["status"])
_define_union(Message, {cls.type: cls for cls in MESSAGE_CLASSES}, always=["status"])
_define(Transcript, tag={"v": TRANSCRIPT_VERSION}, always=["messages", "seq", "rewound"])
CODECS.update({cls: _COMPILED[cls] for cls in (Usage, ErrorInfo, Origin, Run, Citation, Times, Record)})
CODECS[Transcript] = _transcript(_COMPILED[Transcript])
