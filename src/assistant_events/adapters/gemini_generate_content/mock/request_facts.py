"""What a request of generateContent contains: its contents in one spelling, and the facts for fixtures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assistant_events.adapters.json_fields import Fields, mapping, mappings, string
from assistant_events.mock.matching import Item, RequestFacts
from assistant_events.values import write_json


def listed(fields: Fields, key: str) -> list[Fields]:
    """Return the objects of a field: the service takes one object for a list of one."""
    one = mapping(fields, key)
    return [one] if one else mappings(fields, key)


def declared(body: Mapping[str, Any]) -> Iterator[Fields]:
    """Yield the functions that a request declares."""
    for tool in listed(body, "tools"):
        yield from listed(tool, "functionDeclarations")


def read_request(body: Mapping[str, Any]) -> RequestFacts:
    """
    Return the facts of a request in camelCase. Nothing in it raises.

    In a content of the user the results precede the text, as aimock reads it. A result without an id is that of a call
    of its function, and a call without one has the id that aimock gives it.
    """
    # Any: a client sent it.
    system = [string(part, "text") or "" for part in listed(mapping(body, "systemInstruction"), "parts")]
    return RequestFacts(
        items=tuple(_items(body)),
        model=string(body, "model"),
        system="".join(system),
        tools=frozenset([name for function in declared(body) if (name := string(function, "name"))]),
    )


def _items(body: Mapping[str, Any]) -> Iterator[Item]:
    calls: dict[str, list[str]] = {}
    is_answer = False
    for content in listed(body, "contents"):
        parts, was_answer = listed(content, "parts"), is_answer
        is_answer = content.get("role") == "model"
        if is_answer:
            calls = {**calls} if was_answer else {}
            for place, call in enumerate([mapping(part, "functionCall") for part in parts if "functionCall" in part]):
                name = string(call, "name") or ""
                calls[name] = [*calls.get(name, []), string(call, "id") or f"call_gemini_{name}_{place}"]
            if not was_answer:
                yield Item("model")
            continue
        results = [mapping(part, "functionResponse") for part in parts if "functionResponse" in part]
        for result in results:
            waiting = calls.get(string(result, "name") or "", [])
            call_id = string(result, "id") or (waiting[0] if waiting else "")
            if call_id in waiting:
                waiting.remove(call_id)
            yield Item("result", write_json(result.get("response")).decode(), call_id)
        texts = [text for part in parts if (text := string(part, "text")) is not None and not part.get("thought")]
        if texts or not results:
            yield Item("user", "".join(texts))
