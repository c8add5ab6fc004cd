"""
JSON of a provider in two pieces: what everybody may see, and what is sealed and only sent back to the provider.

The sealed values are listed by their place, a JSON pointer (RFC 6901), so nothing is stored twice.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assistant_events.adapters.json_fields import Fields


def split_sealed(value: Any, is_sealed: Callable[[str], bool], place: str = "") -> tuple[Any, dict[str, Any]]:
    """
    Return *value* without its sealed fields, and these by their place.

    Args:
        value: Plain JSON.

        is_sealed: Whether the value of a key is sealed.

        place: The place of *value*.
    """
    sealed: dict[str, Any] = {}
    if isinstance(value, dict):
        shown: Any = {}
        for key, item in value.items():
            at = f"{place}/{_escaped(key)}"
            if is_sealed(key):
                sealed[at] = item
            else:
                shown[key], more = split_sealed(item, is_sealed, at)
                sealed |= more
        return shown, sealed
    if isinstance(value, list):
        shown = []
        for index, item in enumerate(value):
            kept, more = split_sealed(item, is_sealed, f"{place}/{index}")
            shown.append(kept)
            sealed |= more
        return shown, sealed
    return value, sealed


def join_sealed(shown: Any, sealed: Fields) -> Any:
    """Put sealed fields back into plain JSON, which is changed; a place that *shown* does not have is left out."""
    for place, item in sealed.items():
        _, *parents, key = ["", *[step.replace("~1", "/").replace("~0", "~") for step in place.split("/")]]
        within: Any = shown if parents else None
        for step in parents[1:]:
            if isinstance(within, list):
                within = within[int(step)] if step.isdecimal() and int(step) < len(within) else None
            elif isinstance(within, dict):
                within = within.get(step)
        if isinstance(within, dict):
            within[key] = item
    return shown


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
