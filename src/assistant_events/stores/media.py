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
_MediaItem = TypeVar("_MediaItem", MediaEnded, MediaContent, MediaPart)


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
    if _size(value) < EXTRACT_FROM_BYTES:
        return value, {}
    found: Media = {}

    def digest(data: bytes) -> bytes:
        name = hashlib.sha256(data).digest()
        found[name] = data
        return name

    return restore_media(value, digest), found


def restore_media(value: _WithMedia, find: _Find) -> _WithMedia:
    """Return *value* with each media item replaced by the result of *find*."""
    return cast(_WithMedia, _replace(value, find))  # the same class comes back


def _replace(value: WithMedia, find: _Find) -> WithMedia:
    match value:
        case MediaEnded():
            return _replace_data(value, find)
        case PromptSubmitted():
            return attrs.evolve(value, content=_replace_in_contents(value.content, find))
        case ToolSuccess() | ToolFailed():
            return attrs.evolve(value, output=_replace_in_contents(value.output, find))
        case Transcript():
            return attrs.evolve(value, messages=tuple([_replace_in_message(each, find) for each in value.messages]))
        case _ as never:
            assert_never(never)


def _size(value: WithMedia) -> int:
    match value:
        case ToolSuccess() | ToolFailed():
            return _size_of(value.output)
        case PromptSubmitted():
            return _size_of(value.content)
        case MediaEnded():
            return len(value.data or b"")
        case Transcript():
            return sum(map(_size_of_message, value.messages))
        case _ as never:
            assert_never(never)


def _size_of(contents: tuple[Content, ...]) -> int:
    return sum([len(item.data or b"") for item in contents if isinstance(item, MediaContent)])


def _size_of_message(message: Message) -> int:
    if isinstance(message, UserMessage):
        return _size_of(message.content)
    if isinstance(message, AssistantMessage):
        return sum([len(part.data or b"") for part in message.media]) + sum(
            [_size_of(call.output) for call in message.tool_calls]
        )
    return 0


def _replace_data(value: _MediaItem, find: _Find) -> _MediaItem:
    return value if value.data is None else attrs.evolve(value, data=find(value.data))


def _replace_in_contents(contents: tuple[Content, ...], find: _Find) -> tuple[Content, ...]:
    return tuple([_replace_data(item, find) if isinstance(item, MediaContent) else item for item in contents])


def _replace_in_message(message: Message, find: _Find) -> Message:
    if isinstance(message, UserMessage):
        return attrs.evolve(message, content=_replace_in_contents(message.content, find))
    if isinstance(message, AssistantMessage):
        return attrs.evolve(message, parts=tuple([_replace_in_part(part, find) for part in message.parts]))
    return message


def _replace_in_part(part: Part, find: _Find) -> Part:
    if isinstance(part, MediaPart):
        return _replace_data(part, find)
    if isinstance(part, ToolPart):
        return attrs.evolve(part, output=_replace_in_contents(part.output, find))
    return part
