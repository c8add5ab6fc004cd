"""Items that a provider takes back together alone: a reasoning and the item that it led to, a call and its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from assistant_events import messages as msg
from assistant_events.adapters.call_results import result_content
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import number_of
from assistant_events.adapters.json_fields import Fields, mappings, string, without
from assistant_events.adapters.media_urls import images_in
from assistant_events.history import DropReason
from assistant_events.values import Content, TextContent

ALONE: Final = "The item that it led to is not there, and without one it is refused."
"""Why a reasoning is not sent at the end of an answer."""

_NAMED: Final = ("function_call", "custom_tool_call")

LOST: Final = "Its container is gone, or may be: services keep one for minutes, and refuse the call after that."
"""Why a call that ran in a container is not sent after a refusal (pydantic-ai#7461)."""


def without_successor(
    message: msg.AssistantMessage, sent: Sequence[tuple[int, msg.Part]]
) -> dict[int, DropReason | str]:
    """
    Return the places of reasonings without the item that follows them, with the reasons.

    Args:
        message: The answer.

        sent: Its parts that have an item in the request, with their places.
    """
    others = [number_of(part.state, "i") for part in message.parts if not isinstance(part, msg.ReasoningPart)]
    numbers = {number_of(part.state, "i") for _, part in sent}
    seals = {number_of(part.state, "i") for part in message.parts if _seals(part)}
    found: dict[int, DropReason | str] = {}
    for place, part in sent:
        number = number_of(part.state, "i")
        if isinstance(part, msg.ReasoningPart) and number is not None:
            following = min([other for other in others if other is not None and other > number], default=None)
            is_behind = number in seals and number - 1 in numbers
            if not is_behind and (following is None or following not in numbers):
                found[place] = ALONE if following is None else DropReason.LINKED
    return found


def _seals(part: msg.Part) -> bool:
    """Return whether a part is the signature of what is before it: that of Gemini at OpenRouter, by its format."""
    return isinstance(part, msg.ReasoningPart) and (string(part.state, "format") or "").startswith("google-gemini")


def in_taken_order(items: Iterable[Item], provider: str) -> list[Item]:
    """
    Return the items of an answer in an order that the server takes: for DeepSeek thoughts first and calls last.

    It wants results at once, and finds none of a call behind which there is another item (pydantic-ai#7448), and no
    thought that is behind a text: "The `reasoning_text` in the thinking mode must be passed back to the API."
    """
    places = {"reasoning": 0, "function_call": 2} if provider == "deepseek" else {}
    return sorted(items, key=lambda item: places.get(str(item.get("type")), 1))


def with_namespaces(items: Iterable[Item], tools: Sequence[Fields]) -> list[Item]:
    """
    Return items, of which the calls without a namespace have the one in which the request has their tool.

    The service refuses a call without it (earendil-works/pi#7709), also one that another model or service made.
    """
    spaces = {name: space for space in tools for each in mappings(space, "tools") if (name := string(each, "name"))}
    known = {name: space["name"] for name, space in spaces.items() if string(space, "name")}
    known = without(known, [string(tool, "name") or "" for tool in tools])
    return [
        {**item, "namespace": known[item["name"]]}
        if item.get("type") in _NAMED and item["name"] in known and "namespace" not in item
        else item
        for item in items
    ]


def formless_calls(calls: Iterable[tuple[int, msg.ToolPart]], kind_of: Callable[[msg.ToolPart], str]) -> list[int]:
    """Return the places of the calls of the app whose result has no form, by the types of their items."""
    return [place for place, call in calls if not _has_form(kind_of(call), result_content(call))]


def _has_form(kind: str, content: Sequence[Content]) -> bool:
    """Return whether a call of this type can have such a result: of the computer an image, of a search an array."""
    if kind == "tool_search_call":
        return len(content) == 1 and isinstance(content[0], TextContent) and content[0].text.lstrip().startswith("[")
    return kind != "computer_call" or bool(images_in(content))


def lost_calls(parts: Sequence[tuple[int, msg.Part]], *, is_gone: bool, is_stored: bool) -> dict[int, DropReason | str]:
    """
    Return the places of calls that the service has run and may not know again, with the reasons.

    Args:
        parts: The parts of the answer with their places.

        is_gone: Whether what the service keeps may be gone, as the container of a call is.

        is_stored: Whether the answer is stored: else an image without its bytes is not known (can1357/oh-my-pi#3225).
    """
    calls = [(place, part) for place, part in parts if isinstance(part, msg.ToolPart)]
    images = [(place, call) for place, call in calls if string(call.state, "type") == "image_generation_call"]
    return {
        **{place: LOST for place, call in calls if is_gone and "container_id" in call.state},
        **{place: DropReason.UNANSWERED for place, call in images if not (is_stored or call.output)},
    }
