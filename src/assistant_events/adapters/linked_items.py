"""Items that a provider takes back together alone: a reasoning and the item that it led to, a call and its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from assistant_events import messages as msg
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import number_of
from assistant_events.adapters.json_fields import string
from assistant_events.history import DropReason

ALONE: Final = "The item that it led to is not there, and without one it is refused."
"""Why a reasoning is not sent at the end of an answer."""


def without_successor(
    message: msg.AssistantMessage, sent: Sequence[tuple[int, msg.Part]], item_key: str
) -> dict[int, DropReason | str]:
    """
    Return the places of reasonings without the item that follows them, with the reasons.

    Args:
        message: The answer.

        sent: Its parts that have an item in the request, with their places.

        item_key: The key of the number of an item in the states.
    """
    others = [number_of(part.state, item_key) for part in message.parts if not isinstance(part, msg.ReasoningPart)]
    numbers = {number_of(part.state, item_key) for _, part in sent}
    seals = {number_of(part.state, item_key) for part in message.parts if _seals(part)}
    found: dict[int, DropReason | str] = {}
    for place, part in sent:
        number = number_of(part.state, item_key)
        if isinstance(part, msg.ReasoningPart) and number is not None:
            following = min([other for other in others if other is not None and other > number], default=None)
            is_behind = number in seals and number - 1 in numbers
            if not is_behind and (following is None or following not in numbers):
                found[place] = ALONE if following is None else DropReason.LINKED
    return found


def _seals(part: msg.Part) -> bool:
    """Return whether a part is the signature of what is before it: that of Gemini at OpenRouter, by its format."""
    return isinstance(part, msg.ReasoningPart) and (string(part.state, "format") or "").startswith("google-gemini")


def calls_last(items: Iterable[Item], provider: str) -> list[Item]:
    """
    Return the items of an answer: for DeepSeek, with the calls of functions behind all others.

    It wants results at once, and finds none of a call behind which there is another item (pydantic-ai#7448).
    """
    return sorted(items, key=lambda item: provider == "deepseek" and item.get("type") == "function_call")


__all__ = ["ALONE", "calls_last", "without_successor"]
