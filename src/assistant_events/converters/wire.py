"""
The wire form of everything that is stored: what stands in which field, and which words tell the classes apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any, Literal, get_type_hints

from typing_extensions import override

from assistant_events.converters import kinds, plain
from assistant_events.converters.codecs import Codec, Reader, ValueCodec, type_of
from assistant_events.converters.compiling import ClassCodec
from assistant_events.converters.faults import ShapeError, wrong
from assistant_events.converters.kinds import Kind, called, word_of
from assistant_events.converters.plans import Plan
from assistant_events.converters.unions import EventCodec, NarrowedCodec, UnionCodec, checked_version
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
from assistant_events.upcasting import EVENTS
from assistant_events.values import (
    Citation,
    Content,
    ErrorInfo,
    ErrorKind,
    FinishReason,
    JsonContent,
    JsonObject,
    MediaContent,
    Origin,
    RemoteRun,
    State,
    TextContent,
    Usage,
)

TRANSCRIPT_VERSION = 1

_CONTENTS: dict[str, type] = {"text": TextContent, "json": JsonContent, "media": MediaContent}
_PARTS: dict[str, type] = {cls.type: cls for cls in PART_CLASSES}
_MESSAGES: dict[str, type] = {cls.type: cls for cls in MESSAGE_CLASSES}
_UNTAGGED: tuple[type, ...] = (Record, Times, Usage, ErrorInfo, Origin, RemoteRun, Citation)

_KINDS: dict[Any, Kind] = {
    str: kinds.TEXT,
    bool: kinds.FLAG,
    int: kinds.COUNT,
    float: kinds.SECONDS,
    bytes: kinds.BYTES,
    datetime: kinds.MOMENT,
    State: kinds.STATE,
    JsonObject: kinds.OBJECT,
    # JsonValue names itself inside; this is how it looks once that is resolved.
    get_type_hints(JsonContent)["value"]: kinds.VALUE,
    ErrorKind | str: kinds.ERROR_KIND,
    FinishReason: word_of(FinishReason),
    MessageStatus: word_of(MessageStatus),
    PartStatus: word_of(PartStatus),
    CallStatus: word_of(CallStatus),
    Literal["auto", "manual"]: kinds.REASON,
    frozenset[str]: kinds.NAMES,
}

_CONSTANTS: dict[type, dict[str, object]] = {
    **{cls: {"type": type_, "v": cls.version} for type_, cls in EVENT_TYPES.items()},
    **{cls: {"type": type_} for types in (_CONTENTS, _PARTS, _MESSAGES) for type_, cls in types.items()},
    **{cls: {} for cls in _UNTAGGED},
    Transcript: {"v": TRANSCRIPT_VERSION},
}

_ALWAYS: dict[type, tuple[str, ...]] = {
    **{cls: ("status",) for types in (_PARTS, _MESSAGES) for cls in types.values()},
    Transcript: ("messages", "seq", "rewound"),
}


class TranscriptCodec(ClassCodec):
    """The codec of a transcript, which stands alone and so looks at its version itself."""

    @override
    def make_reader(self) -> Reader:
        read_any = super().make_reader()

        def read(document: Any) -> Any:
            kind = type_of(document)
            if kind is not dict:
                raise wrong("", "an object", document)
            version = checked_version(document)
            if version > TRANSCRIPT_VERSION:
                raise ShapeError(f"a transcript of version {TRANSCRIPT_VERSION}", f"one of version {version}", ".v")
            return read_any({**document, "v": version})

        return read


def kind_of(hint: Any) -> Kind | None:
    """Return the kind of a field with this annotation; `None` when it is not one of those that stand alone."""
    if hint in _KINDS:
        return _KINDS[hint]
    codec = _UNIONS.get(hint) or CLASSES.get(hint)
    return called(codec) if codec else None


def _plan(cls: type) -> Plan:
    return Plan(cls, kind_of, _CONSTANTS[cls], _ALWAYS.get(cls, ()))


def _codecs(types: Mapping[str, type]) -> dict[type, Codec]:
    return {cls: CLASSES[cls] for cls in types.values()}


def _whole(event: UnknownEvent) -> State:
    if event.data.get("type") != event.type or event.data.get("v", 1) != event.version:
        raise ValueError(f"UnknownEvent.data: expected the whole document of {event.type!r}, version {event.version}")
    return event.data


CLASSES: dict[type, Codec] = {
    **{cls: (TranscriptCodec if cls is Transcript else ClassCodec)(partial(_plan, cls)) for cls in _CONSTANTS},
    UnknownEvent: ValueCodec(
        plain.read_document,
        lambda event: plain.write_object(_whole(event)),
        wire=None,
        pack=lambda event: plain.pack_object(_whole(event)),
    ),
}
"""The codec of each class. Its reader takes for granted that the document says to be of this class."""

_EVENTS = EventCodec({**_codecs(EVENT_TYPES), UnknownEvent: CLASSES[UnknownEvent]}, EVENT_TYPES, EVENTS)

_UNIONS: dict[Any, Codec] = {
    Content: UnionCodec(_codecs(_CONTENTS), _CONTENTS),
    Part: UnionCodec(_codecs(_PARTS), _PARTS),
    Message: UnionCodec(_codecs(_MESSAGES), _MESSAGES),
    Event: _EVENTS,
    DurableEvent: NarrowedCodec(_EVENTS, DURABLE_EVENTS, "a durable event"),
    LiveEvent: NarrowedCodec(_EVENTS, LIVE_EVENTS, "a live event"),
    DurableEvent | UnknownEvent: NarrowedCodec(_EVENTS, (*DURABLE_EVENTS, UnknownEvent), "a durable event"),
}

CODECS: dict[Any, Codec] = {
    **_UNIONS,
    **{cls: CLASSES[cls] for cls in (*_UNTAGGED, Transcript)},
    **{
        cls: NarrowedCodec(_UNIONS[union], (cls,), repr(type_))
        for union, types in ((Event, EVENT_TYPES), (Content, _CONTENTS), (Part, _PARTS), (Message, _MESSAGES))
        for type_, cls in types.items()
    },
    UnknownEvent: NarrowedCodec(_EVENTS, (UnknownEvent,), "an event that this version does not know"),
}
"""The codec of all that can be asked for: every class, and every union under the name that the library gives it."""
