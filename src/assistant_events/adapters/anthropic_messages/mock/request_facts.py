"""What fixtures are compared with in a request of the Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import attrs

from assistant_events.adapters.json_fields import array, mappings, string
from assistant_events.mock.matching import Item, RequestFacts, prompt_of, text_of


def read_request(body: Mapping[str, Any]) -> RequestFacts:
    """
    Return the facts of a request. Nothing in it raises.

    In a message of the user the results precede the text, as in other dialects. aimock reads the text first, so that
    the last item is a result.
    """
    # Tools of the provider have a type of their own.
    tools = [tool for tool in mappings(body, "tools") if tool.get("type") in (None, "custom")]
    messages = [_items(message) for message in mappings(body, "messages")]
    facts = RequestFacts(
        items=tuple(chain(*messages)),
        model=string(body, "model"),
        system=text_of(body.get("system")) or "",
        tools=frozenset([name for tool in tools if (name := string(tool, "name")) is not None]),
    )
    of_aimock = chain.from_iterable(sorted(items, key=lambda item: item.kind == "result") for items in messages)
    return attrs.evolve(facts, alone=attrs.evolve(facts, items=tuple(of_aimock)))


def _items(message: Mapping[str, Any]) -> tuple[Item, ...]:
    if message.get("role") == "assistant":
        return (Item("model"),)
    if message.get("role") != "user":
        return ()
    results = [block for block in mappings(message, "content") if block.get("type") == "tool_result"]
    prompt = prompt_of(message.get("content"))
    return (
        *[Item("result", text_of(block.get("content")), (string(block, "tool_use_id") or "",)) for block in results],
        *([prompt] if prompt.text is not None or len(results) < len(array(message, "content")) else []),
    )
