"""What fixtures are compared with in a request of Converse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assistant_events.adapters.json_fields import mapping, mappings, string
from assistant_events.mock.matching import Item, RequestFacts, prompt_of, text_of

_PATH: Final = re.compile(r"/model/(?P<model>.+)/converse(?P<stream>-stream)?$")


def path_fields(path: str) -> dict[str, Any]:
    """Return the fields that a path has in place of the body: `modelId` and `stream`; none for another path."""
    found = _PATH.search(path)
    return {} if found is None else {"modelId": found["model"], "stream": found["stream"] is not None}


def read_request(body: Mapping[str, Any]) -> RequestFacts:
    """
    Return the facts of a request. Nothing in it raises. The model of its path is `modelId` in *body*.

    In a message of the user the results precede the text, as aimock reads it; a point of the cache is not a prompt.
    """
    tools = mappings(mapping(body, "toolConfig"), "tools")
    return RequestFacts(
        items=tuple(_items(body)),
        model=string(body, "modelId"),
        system=text_of(body.get("system")) or "",
        tools=frozenset([name for tool in tools if (name := string(mapping(tool, "toolSpec"), "name")) is not None]),
    )


def _items(body: Mapping[str, Any]) -> Iterator[Item]:
    for message in mappings(body, "messages"):
        if message.get("role") == "assistant":
            yield Item("model")
        elif message.get("role") == "user":
            blocks = [block for block in mappings(message, "content") if "cachePoint" not in block]
            results = [mapping(block, "toolResult") for block in blocks if "toolResult" in block]
            for result in results:
                yield Item("result", text_of(result.get("content")), (string(result, "toolUseId") or "",))
            prompt = prompt_of(message.get("content"))
            if prompt.text is not None or len(results) < len(blocks):
                yield prompt
