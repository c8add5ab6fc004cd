"""What fixtures are compared with in a request of Chat Completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assistant_events.adapters.json_fields import Fields, mapping, mappings, string
from assistant_events.mock.matching import Item, RequestFacts, text_of


def read_request(body: Mapping[str, Any]) -> RequestFacts:
    """Return the facts of a request. Nothing in it raises."""
    messages = mappings(body, "messages")
    system = [text_of(each.get("content")) for each in messages if each.get("role") in ("system", "developer")]
    return RequestFacts(
        items=tuple(_items(messages)),
        model=string(body, "model"),
        system="\n".join([text for text in system if text]),
        tools=frozenset([name for tool in mappings(body, "tools") if (name := function_name(tool)) is not None]),
    )


def _items(messages: list[Fields]) -> Iterator[Item]:
    for message in messages:
        match message.get("role"):
            case "user":
                yield Item("user", text_of(message.get("content")))
            case "assistant":
                yield Item("model")
            case "tool" | "function":
                yield Item("result", text_of(message.get("content")), (string(message, "tool_call_id") or "",))
            case _:
                pass


def function_name(tool: Fields) -> str | None:
    """Return the name of a function or of a custom tool, in a declaration or in a call; `None` without one."""
    return string(mapping(tool, "function") or mapping(tool, "custom"), "name")
