"""
How the two generations of the wire name the same things, and how a frame is written down.

Sources: types of google-genai 1.75 (1.x) and 2.19 (2.x), recordings of both, Google's migration page of May 2026.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, final

import attrs

from assistant_events.adapters.json_fields import valid_json
from assistant_events.values import write_json


@final
@attrs.frozen(kw_only=True)
class Generation:
    """The words of one generation, and where its shape differs."""

    created: str
    completed: str
    start: str
    delta: str
    stop: str

    item: str
    """Key of the item in a start."""

    items: str
    """Key of the list of items in a resource."""

    annotations: str
    """Type of the delta that brings annotations."""

    flat: bool
    """Whether each content block is an item of its own, and calls and results come whole in one delta."""


GENERATIONS: Final[Mapping[int, Generation]] = MappingProxyType(
    {
        1: Generation(
            created="interaction.start",
            completed="interaction.complete",
            start="content.start",
            delta="content.delta",
            stop="content.stop",
            item="content",
            items="outputs",
            annotations="text_annotation",
            flat=True,
        ),
        2: Generation(
            created="interaction.created",
            completed="interaction.completed",
            start="step.start",
            delta="step.delta",
            stop="step.stop",
            item="step",
            items="steps",
            annotations="text_annotation_delta",
            flat=False,
        ),
    }
)


def generation_of(number: int) -> Generation:
    """
    Return the generation of a number.

    Raises:
        ValueError: When there is none.
    """
    if number not in GENERATIONS:
        raise ValueError(f"generation: expected 1 or 2, got {number!r}")
    return GENERATIONS[number]


_HALF: Final = b"\\ud"
"""Stands in JSON text for half of a surrogate pair, or where the text itself is about escapes; not for a whole pair."""

_DONE: Final = b"event: done\ndata: [DONE]\n\n"

# Python's own `str.splitlines`, and clients that read a stream with it, take these for the ends of lines.
_LINE_ENDS: Final = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


def sse(frame: Mapping[str, Any] | Literal["[DONE]"]) -> bytes:
    """
    Return a frame as the service sends it: a line with its name, a line with its JSON, an empty line.

    Whatever is no text becomes U+FFFD: many clients cannot read half of a surrogate pair.

    Raises:
        TypeError: For what is no JSON.
    """
    # Any: see `reading.Fields`.
    if isinstance(frame, str):
        return _DONE
    data = write_json(frame)
    if _HALF in data:
        data = write_json(valid_json(frame))
    if not data.isascii():
        for character, escape in _LINE_ENDS:
            if character in data:
                data = data.replace(character, escape)
    return b"event: %b\ndata: %b\n\n" % (frame["event_type"].encode(), data)


def is_text(value: Mapping[str, Any]) -> bool:
    """Tell whether every string of a JSON object is valid Unicode, so that `sse` changes none."""
    return _HALF not in write_json(value) or valid_json(value) == value
