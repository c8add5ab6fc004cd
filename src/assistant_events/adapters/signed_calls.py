"""
Calls of the app, and images, that have no signature.

Gemini looks at the first call of each step in the current turn, its image models at the images of all answers, and
refuses the request when one has none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile

import attrs

from assistant_events import messages as msg
from assistant_events.values import State


def unsigned_calls(calls: Sequence[tuple[int, msg.ToolPart]], key: str) -> list[int]:
    """
    Return the places of the calls of an answer before the first signed one.

    Args:
        calls: The calls of the app that are sent of the answer, with their places.

        key: The key of the state that has the signature, or a path with dots.
    """
    key = key.partition(".")[0]
    return [place for place, _ in takewhile(lambda each: key not in each[1].state, calls)]


def lost_calls(
    message: msg.AssistantMessage,
    parts: Sequence[tuple[int, msg.Part]],
    calls: Sequence[tuple[int, msg.ToolPart]],
    key: str,
) -> list[int]:
    """
    Return what `unsigned_calls` does, where a call up to the first of them came with a signature that is not sent.

    A step whose first call came without one is sent as it came. A call of the service does not make up for another one:
    what is behind its result is a step of its own.
    """
    places, sent = unsigned_calls(calls, key), dict(parts)
    came = enumerate(message.parts[: places[0] + 1] if places else ())
    key = key.partition(".")[0]
    signed = [place for place, part in came if isinstance(part, msg.ToolPart) and key in part.state]
    has_lost = any(place not in sent or key not in sent[place].state for place in signed)
    return places if has_lost else []


def unsigned_images(parts: Sequence[tuple[int, msg.Part]], keys: Collection[str]) -> list[int]:
    """Return the places of the images of an answer whose state has none of *keys*, if any are needed."""
    images = [(place, part) for place, part in parts if isinstance(part, msg.MediaPart)] if keys else []
    return [place for place, part in images if "image/" in part.media_type and part.state.keys().isdisjoint(keys)]


def with_signature(part: msg.Part, key: str, signature: str | None) -> msg.Part:
    """Return a call with a signature in its state, under a key or a path with dots."""
    first, *inner = key.split(".")
    value: object = signature
    for each in reversed(inner):
        value = {each: value}
    return attrs.evolve(part, state=State({**part.state, first: value}))
