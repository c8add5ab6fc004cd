"""
The wire form of everything that is stored: how each class is written, and what tells the classes of a union apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Literal, get_type_hints

from assistant_events.converters import kinds, plain
from assistant_events.converters.codecs import Codec, OnDemand, Reader, UnionCodec, ready
from assistant_events.converters.compiling import compiled
from assistant_events.converters.faults import Fault, no_tag, wrong
from assistant_events.converters.kinds import Kind, called, word_of
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

_CONTENTS = {"text": TextContent, "json": JsonContent, "media": MediaContent}
_PARTS = {cls.type: cls for cls in PART_CLASSES}
_MESSAGES = {cls.type: cls for cls in MESSAGE_CLASSES}

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
    Literal["auto", "manual"]: kinds.REASON,
    frozenset[str]: kinds.NAMES,
}


def tagged(types: Mapping[str, type], codecs: Callable[[type], Codec]) -> Codec:
    """Return the codec of a union whose classes the word under `type` tells apart."""

    def reader() -> Reader:
        readers = OnDemand(lambda type_: codecs(types[type_]).read)

        def read(document: Any) -> Any:
            if type(document) is not dict:
                raise wrong("", "an object", document)
            try:
                read_class = readers[document["type"]]
            except (KeyError, TypeError):
                raise no_tag(document, types) from None
            return read_class(document)

        return read

    return UnionCodec(reader, codecs)


def versioned(types: Mapping[str, Any], codecs: Callable[[type], Codec], upcasters: Upcasters) -> Codec:
    """
    Return the codec of events.

    Those of *types* are read in the version of their class. Older documents are brought up to it; newer ones and those of
    other types are kept as they are.
    """

    def reader() -> Reader:
        known = OnDemand(lambda type_: (types[type_].version, codecs(types[type_]).read))

        def read(document: Any) -> Any:
            if type(document) is not dict:
                raise wrong("", "an object", document)
            try:
                current, read_class = known[document["type"]]
                version = document["v"]
            except (KeyError, TypeError):
                return read_unusual(document)
            if version != current or type(version) is not int:
                return read_unusual(document)
            return read_class(document)

        def read_unusual(document: dict[str, Any]) -> Any:
            type_, version = document.get("type"), document.get("v", 1)
            if type(type_) is not str or not type_:
                raise no_tag(document, ())
            if type(version) is not int or version < 1:
                raise wrong(".v", "an integer of 1 or more", version)
            if type_ in types:
                current, read_class = known[type_]
                newest = {"v": 1, **upcasters.upcast(document)}
                if newest["v"] == current:
                    return read_class(newest)
            return UnknownEvent(type=type_, version=version, data=plain.read_document(document))

        return read

    return UnionCodec(reader, codecs)


def narrowed(union: Codec, classes: Collection[type], expected: str) -> Codec:
    """Return the codec of a union for some of its classes."""
    wanted = frozenset(classes)

    def reader() -> Reader:
        read_any = union.read

        def read(document: Any) -> Any:
            made = read_any(document)
            if type(made) not in wanted:
                raise Fault(expected, repr(made.type), ".type")
            return made

        return read

    return Codec(reader, lambda: union.write, lambda: union.pack)


def _kind_of(hint: Any) -> Kind | None:
    if hint in _KINDS:
        return _KINDS[hint]
    if hint in _UNIONS:
        return called(_UNIONS[hint])
    return called(class_codec(hint)) if isinstance(hint, type) else None


@cache
def class_codec(cls: type) -> Codec:
    """
    Return the codec of one class. Its reader takes for granted that the document is one of this class.

    Raises:
        KeyError: For a class that is not stored.
    """
    if cls is UnknownEvent:
        return _UNKNOWN
    if cls is Transcript:
        return _TRANSCRIPT
    return compiled(cls, _kind_of, constants=_CONSTANTS[cls], always=_ALWAYS.get(cls, ()))


def _whole(event: UnknownEvent) -> State:
    if event.data.get("type") != event.type or event.data.get("v", 1) != event.version:
        raise ValueError(f"UnknownEvent.data: expected the whole document of {event.type!r}, version {event.version}")
    return event.data


def _transcript_reader() -> Reader:
    read_any = _ANY_TRANSCRIPT.read

    def read(document: Any) -> Any:
        if type(document) is not dict:
            raise wrong("", "an object", document)
        version = document.get("v", TRANSCRIPT_VERSION)
        if type(version) is not int or version < 1:
            raise wrong(".v", "an integer of 1 or more", version)
        if version > TRANSCRIPT_VERSION:
            raise Fault(f"a transcript of version {TRANSCRIPT_VERSION} at most", f"one of version {version}", ".v")
        return read_any({"v": version, **document})

    return read


_CONSTANTS: dict[type, dict[str, object]] = {
    **{cls: {"type": type_, "v": cls.version} for type_, cls in EVENT_TYPES.items()},
    **{cls: {"type": type_} for types in (_CONTENTS, _PARTS, _MESSAGES) for type_, cls in types.items()},
    **{cls: {} for cls in (Record, Times, Usage, ErrorInfo, Origin, Run, Citation)},
}

_ALWAYS = {cls: ("status",) for types in (_PARTS, _MESSAGES) for cls in types.values()}

_UNKNOWN = ready(
    plain.read_document,
    lambda event: plain.write_object(_whole(event)),
    lambda event: plain.pack_object(_whole(event)),
)

_EVENTS = versioned(EVENT_TYPES, class_codec, EVENTS)

_UNIONS: dict[Any, Codec] = {
    Content: tagged(_CONTENTS, class_codec),
    Part: tagged(_PARTS, class_codec),
    Message: tagged(_MESSAGES, class_codec),
    Event: _EVENTS,
    DurableEvent | UnknownEvent: narrowed(_EVENTS, (*DURABLE_EVENTS, UnknownEvent), "a durable event"),
    DurableEvent: narrowed(_EVENTS, DURABLE_EVENTS, "a durable event"),
    LiveEvent: narrowed(_EVENTS, LIVE_EVENTS, "a live event"),
}

_ANY_TRANSCRIPT = compiled(
    Transcript, _kind_of, constants={"v": TRANSCRIPT_VERSION}, always=("messages", "seq", "rewound")
)
_TRANSCRIPT = Codec(_transcript_reader, lambda: _ANY_TRANSCRIPT.write, lambda: _ANY_TRANSCRIPT.pack)

CODECS: dict[Any, Codec] = {
    **_UNIONS,
    **{cls: class_codec(cls) for cls in (Record, Transcript, Times, Usage, ErrorInfo, Origin, Run, Citation)},
    **{
        cls: narrowed(_UNIONS[union], [cls], repr(type_))
        for union, types in ((Event, EVENT_TYPES), (Content, _CONTENTS), (Part, _PARTS), (Message, _MESSAGES))
        for type_, cls in types.items()
    },
    UnknownEvent: narrowed(_EVENTS, [UnknownEvent], "an event that this version does not know"),
}
"""The codec of everything that is stored: of every class and, under the name that the library gives it, every union."""
