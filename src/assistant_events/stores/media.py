"""
Extraction of media from events and snapshots, so that equal bytes are stored once.

A value with enough media is stored with the digest of each media item in place of its bytes. Either all or none of its
media are replaced, so a digest is never mistaken for bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Final, TypeAlias, TypeVar, assert_never, cast

import attrs

from assistant_events.events import MediaEnded, PromptSubmitted, ToolFailed, ToolSuccess
from assistant_events.messages import AssistantMessage, MediaPart, Message, Part, ToolPart, Transcript, UserMessage
from assistant_events.stores.contract import StoredEvent
from assistant_events.values import Content, MediaContent

EXTRACT_FROM_BYTES: Final = 256
"""Media of a value with fewer bytes in total are not extracted: their own rows would take more room."""

MediaEvent: TypeAlias = MediaEnded | PromptSubmitted | ToolSuccess | ToolFailed
WithMedia: TypeAlias = MediaEvent | Transcript
"""A value that can contain media."""

_MEDIA_EVENTS: Final = frozenset[type]({MediaEnded, PromptSubmitted, ToolSuccess, ToolFailed})

Media: TypeAlias = dict[bytes, bytes]
"""Media by SHA-256."""

_Find: TypeAlias = Callable[[bytes], bytes]
_WithMedia = TypeVar("_WithMedia", bound=WithMedia)
_T = TypeVar("_T")


def events_with_media(events: Sequence[StoredEvent]) -> list[tuple[int, MediaEvent]]:
    """Return the events that contain media, with their positions."""
    # Most events cannot contain media, and most others contain texts only: both are found without a call per event.
    found: list[tuple[int, MediaEvent]] = []
    for at, event in compress(enumerate(events), map(_MEDIA_EVENTS.__contains__, map(type, events))):
        if isinstance(event, PromptSubmitted):
            contents = event.content
        elif isinstance(event, (ToolSuccess, ToolFailed)):
            contents = event.output
        else:
            found.append((at, cast(MediaEnded, event)))
            continue
        if MediaContent in map(type, contents):
            found.append((at, event))
    return found


def extract_media(value: _WithMedia) -> tuple[_WithMedia, Media]:
    """Return *value* with digests in place of its media, and the media; *value* itself when they are small."""
    found: Media = {}
    size = 0

    def digest(data: bytes) -> bytes:
        nonlocal size
        size += len(data)
        name = hashlib.sha256(data).digest()
        found[name] = data
        return name

    extracted = restore_media(value, digest)
    return (value, {}) if size < EXTRACT_FROM_BYTES else (extracted, found)


def restore_media(value: _WithMedia, find: _Find) -> _WithMedia:
    """Return *value* with each media item replaced by the result of *find*."""
    changed: WithMedia
    match value:
        case MediaEnded():
            changed = _changed(value, data=_found(value.data, find))
        case PromptSubmitted():
            changed = _changed(value, content=_contents(value.content, find))
        case ToolSuccess() | ToolFailed():
            changed = _changed(value, output=_contents(value.output, find))
        case Transcript():
            changed = _changed(value, messages=tuple([_message(each, find) for each in value.messages]))
        case _ as never:
            assert_never(never)
    return cast(_WithMedia, changed)  # the class stays the same


def _found(data: bytes | None, find: _Find) -> bytes | None:
    return None if data is None else find(data)


def _contents(contents: tuple[Content, ...], find: _Find) -> tuple[Content, ...]:
    if MediaContent not in map(type, contents):
        return contents
    return tuple(
        [_changed(each, data=_found(each.data, find)) if isinstance(each, MediaContent) else each for each in contents]
    )


def _message(message: Message, find: _Find) -> Message:
    if isinstance(message, UserMessage):
        return _changed(message, content=_contents(message.content, find))
    if isinstance(message, AssistantMessage) and (message.media or message.tool_calls):
        return _changed(message, parts=tuple([_part(part, find) for part in message.parts]))
    return message


def _part(part: Part, find: _Find) -> Part:
    if isinstance(part, MediaPart):
        return _changed(part, data=_found(part.data, find))
    if isinstance(part, ToolPart):
        return _changed(part, output=_contents(part.output, find))
    return part


def _changed(value: _T, **fields: object) -> _T:
    """Return *value* with these fields; *value* itself when they are the same objects, as most are."""
    if all(getattr(value, name) is new for name, new in fields.items()):
        return value
    return attrs.evolve(value, **fields)  # type: ignore[misc]  # an attrs class
