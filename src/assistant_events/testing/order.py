"""What is sent and written of an answer is in its order, where the wire has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import attrs

from assistant_events import messages as msg
from assistant_events import values as v
from assistant_events.adapters.encoded import Encode, Encoded
from assistant_events.adapters.items import in_item_order
from assistant_events.events import Event
from assistant_events.history import DropReason
from assistant_events.reducer import fold
from assistant_events.testing.sample import Sample, id_of, parts_of, require, strings

_SHORT: Final = 5
"""Shorter texts occur in others by chance."""


def check_order(sample: Sample, encoded: Encoded, events: Sequence[Event]) -> None:
    """Check that prompts and texts are in the body in their order, and results in that of their calls."""
    texts = "\x00".join(strings(encoded.body))
    said = [
        part.text
        for message in fold(events).messages
        for part in (message.content if isinstance(message, msg.UserMessage) else getattr(message, "parts", ()))
        if isinstance(part, (v.TextContent, msg.TextPart)) and len(part.text) > _SHORT
    ]
    results = [
        content.text
        for part in parts_of(fold(events)).values()
        for content in (part.output if isinstance(part, msg.ToolPart) and not part.provider_executed else ())
        if isinstance(content, v.TextContent)
    ]
    is_reworded = any(drop.reason is DropReason.REWORDED for drop in encoded.drops)
    for some in (said, [] if is_reworded else results):
        places = [(texts.find(text), text) for text in some if texts.count(text) == 1]
        for (before, first), (after, second) in pairwise(places):
            require(before < after, f"{sample.name}: {second[:40]!r} is in the request before {first[:40]!r}")


def check_order_of_parts(
    sample: Sample, encode: Encode, events: Sequence[Event], body: dict[str, Any], provider: str | None
) -> None:
    """Check that texts and calls of an answer are in their order, in a request that has one, as a document has."""
    key, write = sample.dialect.policy.item_key or "", sample.dialect.emit_resource
    for message in fold(events).messages:
        if not isinstance(message, msg.AssistantMessage) or message.status is not msg.MessageStatus.COMPLETED:
            continue
        ordered = [part for _, part in in_item_order(enumerate(message.parts), key)]
        whole = attrs.evolve(message, parts=[_without_number(part, key) for part in ordered])
        if len({part.type for part in whole.parts}) < 2:
            continue
        sent = encode(msg.Transcript(messages=(whole,)), body, mode="full", provider=provider)
        dropped = {drop.part for drop in sent.drops}
        plain = [at for at, part in enumerate(whole.parts) if _is_plain(part)]
        ids = [id_of(call) for call in whole.tool_calls]
        have_places = len(ids) == len({*ids})
        for at, behind in pairwise(plain):
            one, other = whole.parts[at], whole.parts[behind]
            if not dropped.isdisjoint((None, at, behind)) or one.type == other.type:
                continue
            between = whole.parts[at + 1 : behind]
            swapped = attrs.evolve(whole, parts=[*whole.parts[:at], other, *between, one, *whole.parts[behind + 1 :]])
            has_order = (
                encode(msg.Transcript(messages=(swapped,)), body, mode="full", provider=provider).body != sent.body
            )
            where = f"{sample.name}: parts {at} and {behind} of {message.id!r}, {one.type} and {other.type},"
            require(
                has_order or write is None or _written(write, swapped) == _written(write, whole),
                f"{where} may change places and make the same request, although they make another document",
            )
            texts = strings(sent.body)
            places = [_place_of(part, texts) for part in (one, other)] if has_order and have_places else []
            known = [place for place in places if place is not None]
            require(len(known) < 2 or known == sorted(known), f"{where} are in the request the other way around")


def has_order(sample: Sample, message: msg.AssistantMessage, write: Callable[[msg.AssistantMessage], object]) -> bool:
    """Return whether what is written of an answer is another thing when two of its parts change places."""
    key = sample.dialect.policy.item_key or ""
    parts = [_without_number(part, key) for part in message.parts]
    whole = _written(write, attrs.evolve(message, parts=parts))
    for at, (one, other) in enumerate(pairwise(parts)):
        swapped = attrs.evolve(message, parts=[*parts[:at], other, one, *parts[at + 2 :]])
        if one.type != other.type and _written(write, swapped) == whole:
            return False
    return True


def _written(write: Callable[[msg.AssistantMessage], object], message: msg.AssistantMessage) -> object:
    """Return the document of an answer; `None` when it raises, which is found with the answers of other providers."""
    try:
        return write(message)
    except Exception:  # noqa: BLE001 - as it is described
        return None


def sequence(message: msg.AssistantMessage, key: str) -> list[tuple[str, str]]:
    """Return kinds and texts of the parts, in the order of their items; those of one kind in a row are one."""
    found: list[tuple[str, str]] = []
    for _, part in in_item_order(enumerate(message.parts), key):
        text = part.name if isinstance(part, msg.ToolPart) else getattr(part, "text", "")
        before = found.pop()[1] if found and found[-1][0] == part.type else ""
        found.append((part.type, before + text))
    return found


def _without_number(part: msg.Part, key: str) -> msg.Part:
    """Return a part without the number of its item."""
    found = attrs.evolve(part, state=v.State({name: value for name, value in part.state.items() if name != key}))
    if isinstance(found, msg.ToolPart):
        own = {name: value for name, value in found.result_state.items() if name != key}
        return attrs.evolve(found, result_state=v.State(own))
    return found


def _is_plain(part: msg.Part) -> bool:
    if isinstance(part, msg.ToolPart):
        return not part.provider_executed
    return isinstance(part, (msg.TextPart, msg.ReasoningPart)) and bool(part.text.strip())


def _place_of(part: msg.Part, texts: Sequence[str]) -> int | None:
    """Return the number of the first string with the text of a part or the id of a call; `None` for none or several."""
    named = id_of(part) if isinstance(part, msg.ToolPart) else getattr(part, "text", "")
    found = [at for at, text in enumerate(texts) if text == named]
    return found[0] if len(found) == 1 or (found and isinstance(part, msg.ToolPart)) else None
