"""
Media apart from what holds them, so that equal bytes are kept once.

A value whose media are worth it is stored as the same value with the digest of each medium in the place of its bytes.
All of its media are replaced or none, so a digest is never taken for bytes.
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

APART_FROM_BYTES: Final = 256
"""Media of a value that have fewer bytes together stay inside it: rows of their own would take more room."""

HolderEvent: TypeAlias = MediaEnded | PromptSubmitted | ToolSuccess | ToolFailed
Holder: TypeAlias = HolderEvent | Transcript
"""What can hold media."""

HOLDERS: Final = frozenset[type]({MediaEnded, PromptSubmitted, ToolSuccess, ToolFailed})

Media: TypeAlias = dict[bytes, bytes]
"""Media by their SHA-256."""

_Find: TypeAlias = Callable[[bytes], bytes]
_Holder = TypeVar("_Holder", bound=Holder)
_Medium = TypeVar("_Medium", MediaEnded, MediaContent, MediaPart)


def holders_in(events: Sequence[StoredEvent]) -> list[tuple[int, HolderEvent]]:
    """Return the events that hold a medium, with their positions."""
    # Most events cannot hold one, and most that can hold texts only: both are told without a call for each event.
    found: list[tuple[int, HolderEvent]] = []
    for at, event in compress(enumerate(events), map(HOLDERS.__contains__, map(type, events))):
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


def extract_media(value: _Holder) -> tuple[_Holder, Media]:
    """Return *value* with digests in the place of its media, and these media; *value* itself when they are small."""
    if _size(value) < APART_FROM_BYTES:
        return value, {}
    found: Media = {}

    def digest(data: bytes) -> bytes:
        name = hashlib.sha256(data).digest()
        found[name] = data
        return name

    return restore_media(value, digest), found


def restore_media(value: _Holder, find: _Find) -> _Holder:
    """Return *value* with what *find* returns in the place of each of its media."""
    return cast(_Holder, _put_together(value, find))  # the same class comes back


def _put_together(value: Holder, find: _Find) -> Holder:
    match value:
        case MediaEnded():
            return _swapped_data(value, find)
        case PromptSubmitted():
            return attrs.evolve(value, content=_swapped(value.content, find))
        case ToolSuccess() | ToolFailed():
            return attrs.evolve(value, output=_swapped(value.output, find))
        case Transcript():
            return attrs.evolve(value, messages=tuple([_swapped_message(each, find) for each in value.messages]))
        case _ as never:
            assert_never(never)


def _size(value: Holder) -> int:
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


def _swapped_data(value: _Medium, find: _Find) -> _Medium:
    return value if value.data is None else attrs.evolve(value, data=find(value.data))


def _swapped(contents: tuple[Content, ...], find: _Find) -> tuple[Content, ...]:
    return tuple([_swapped_data(item, find) if isinstance(item, MediaContent) else item for item in contents])


def _swapped_message(message: Message, find: _Find) -> Message:
    if isinstance(message, UserMessage):
        return attrs.evolve(message, content=_swapped(message.content, find))
    if isinstance(message, AssistantMessage):
        return attrs.evolve(message, parts=tuple([_swapped_part(part, find) for part in message.parts]))
    return message


def _swapped_part(part: Part, find: _Find) -> Part:
    if isinstance(part, MediaPart):
        return _swapped_data(part, find)
    if isinstance(part, ToolPart):
        return attrs.evolve(part, output=_swapped(part.output, find))
    return part
