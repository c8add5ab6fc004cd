"""What fixtures are compared with in a request of the Messages API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assistant_events.adapters.json_fields import array, mappings, string
from assistant_events.mock.matching import Item, RequestFacts, prompt_of, text_of


def read_request(body: Mapping[str, Any]) -> RequestFacts:
    """
    Return the facts of a request. Nothing in it raises.

    In a message of the user the text precedes the results, as aimock reads it: so the last item is a result.
    """
    # Tools of the provider have a type of their own.
    tools = [tool for tool in mappings(body, "tools") if tool.get("type") in (None, "custom")]
    return RequestFacts(
        items=tuple(_items(body)),
        model=string(body, "model"),
        system=text_of(body.get("system")) or "",
        tools=frozenset([name for tool in tools if (name := string(tool, "name")) is not None]),
    )


def _items(body: Mapping[str, Any]) -> Iterator[Item]:
    for message in mappings(body, "messages"):
        if message.get("role") == "assistant":
            yield Item("model")
        elif message.get("role") == "user":
            results = [block for block in mappings(message, "content") if block.get("type") == "tool_result"]
            prompt = prompt_of(message.get("content"))
            if prompt.text is not None or len(results) < len(array(message, "content")):
                yield prompt
            for block in results:
                yield Item("result", text_of(block.get("content")), (string(block, "tool_use_id") or "",))
