"""
Which stored message an input is: the same answer once more, the rest of one that was cut, or a new one.

A run id tells answers apart, but recordings whose ids were blanked out share one, and answers that a provider does not
store have none. So what was said decides.
"""

from __future__ import annotations

from typing import assert_never

from assistant_events.messages import (
    AssistantMessage,
    MediaPart,
    MessageStatus,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
    Transcript,
)
from assistant_events.values import CUT_KINDS, Origin, Run


def new_message_id(transcript: Transcript) -> str:
    """Return an id that no message has had: `m1` in an empty session."""
    number = len(transcript.messages) + 1
    while (name := f"m{number}") in transcript or name in transcript.rewound:
        number += 1
    return name


def candidates(transcript: Transcript, origin: Origin, run: Run | None) -> list[AssistantMessage]:
    """Return the stored messages, newest first, that an answer of this origin and run may be."""
    return [
        message
        for message in reversed(transcript.messages)
        if isinstance(message, AssistantMessage)
        and message.origin.same_as(origin)
        and (None if message.run is None else message.run.id) == (None if run is None else run.id)
    ]


def is_same_answer(stored: AssistantMessage, seen: AssistantMessage) -> bool:
    """Tell whether *seen* is *stored* again, or one of them is the other one cut short."""
    if says_no_more(stored, seen):
        return True
    return (_is_cut(stored) or len(stored.parts) == len(seen.parts)) and _goes_on(stored, seen)


def says_no_more(stored: AssistantMessage, seen: AssistantMessage) -> bool:
    """Tell whether *seen* is the beginning of *stored*, which has come to an end."""
    return stored.status is not MessageStatus.RUNNING and _is_cut(seen) and _goes_on(seen, stored)


def _is_cut(message: AssistantMessage) -> bool:
    return message.status is MessageStatus.RUNNING or (message.error is not None and message.error.kind in CUT_KINDS)


def _goes_on(first: AssistantMessage, second: AssistantMessage) -> bool:
    """Tell whether *second* says all that *first* says, in its places, and more only where *first* is cut."""
    exact = not _is_cut(first) and not _is_cut(second)
    return len(first.parts) <= len(second.parts) and all(
        _continues(one, other, exact=exact) for one, other in zip(first.parts, second.parts, strict=False)
    )


def _continues(one: Part, other: Part, *, exact: bool) -> bool:
    match one:
        case TextPart():
            return isinstance(other, TextPart) and _goes_on_in(one.text, other.text, exact=exact)
        case ReasoningPart():
            return isinstance(other, ReasoningPart) and _goes_on_in(one.text, other.text, exact=exact)
        case MediaPart():
            return isinstance(other, MediaPart) and one.uri == other.uri and _holds(one.data, other.data, exact=exact)
        case ToolPart():
            # How far the input of a cut call had come says nothing more: its id is in no other answer.
            return (
                isinstance(other, ToolPart)
                and (one.call_id, one.name) == (other.call_id, other.name)
                and (not exact or one.raw_input == other.raw_input)
            )
        case OpaquePart():
            # What became raw because it was cut may be anything when it comes whole.
            return not exact or one == other
        case _ as never:
            assert_never(never)


def _goes_on_in(one: str, other: str, *, exact: bool) -> bool:
    # Where a character was cut in two, the first half reads as U+FFFD.
    return one == other if exact else other.startswith(one.removesuffix("\ufffd"))


def _holds(one: bytes | None, other: bytes | None, *, exact: bool) -> bool:
    return one == other if exact else (other or b"").startswith(one or b"")
