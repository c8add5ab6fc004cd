"""What a request of generateContent contains: its contents in one spelling, and the facts for fixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from assistant_events.adapters.json_fields import Fields, listed, mapping, string
from assistant_events.mock.matching import Item, RequestFacts
from assistant_events.values import write_json

FindIds: TypeAlias = Callable[[RequestFacts, Sequence[Fields]], Sequence[str | None] | None]
"""Returns the ids of the calls of an answer; the facts are those of the conversation before it."""

_Called: TypeAlias = tuple[str, tuple[str, ...]]
"""Name and ids of a call."""


def declared(body: Mapping[str, Any]) -> Iterator[Fields]:
    """Yield the functions that a request declares."""
    for tool in listed(body, "tools"):
        yield from listed(tool, "functionDeclarations")


def read_request(body: Mapping[str, Any], ids_of: FindIds | None = None) -> RequestFacts:
    """
    Return the facts of a request in camelCase. Nothing in it raises.

    In a content of the user the results precede the text, as aimock reads it. A result without an id is that of a call
    of its function. Calls without ids, as langchain-google-genai and others send them, have those that *ids_of* finds
    and those that aimock gives them.
    """
    system = [string(part, "text") or "" for part in listed(mapping(body, "systemInstruction"), "parts")]
    facts = RequestFacts(
        model=string(body, "model"),
        system="".join(system),
        tools=frozenset([name for function in declared(body) if (name := string(function, "name"))]),
    )
    items: list[Item] = []
    waiting: list[_Called] = []
    is_answer = False
    for content in listed(body, "contents"):
        parts, was_answer = listed(content, "parts"), is_answer
        is_answer = content.get("role") == "model"
        if is_answer:
            calls = [mapping(part, "functionCall") for part in parts if "functionCall" in part]
            found: Sequence[str | None] | None = None
            if ids_of is not None and not all(string(call, "id") for call in calls):
                found = ids_of(attrs.evolve(facts, items=tuple(items)), calls)
            waiting = waiting if was_answer else []
            waiting += _named(calls, found or [None] * len(calls))
            items += [] if was_answer else [Item("model")]
        else:
            items += _items_of_user(parts, waiting)
    return attrs.evolve(facts, items=tuple(items))


def _named(calls: Sequence[Fields], found: Sequence[str | None]) -> Iterator[_Called]:
    """Yield name and ids of each call: its own, or the one that was found and that of aimock."""
    for place, (call, call_id) in enumerate(zip(calls, found, strict=True)):
        name, own = string(call, "name") or "", string(call, "id")
        yield name, (own,) if own else (*((call_id,) if call_id else ()), f"call_gemini_{name}_{place}")


def _items_of_user(parts: list[Fields], waiting: list[_Called]) -> Iterator[Item]:
    """Yield the items of a content, and remove the calls that are answered from *waiting*."""
    results = [mapping(part, "functionResponse") for part in parts if "functionResponse" in part]
    for result in results:
        name, call_id = string(result, "name") or "", string(result, "id")
        called = next((call for call in waiting if (call_id in call[1] if call_id else call[0] == name)), None)
        if called is not None:
            waiting.remove(called)
        ids = called[1] if called is not None else (call_id or "",)
        yield Item("result", write_json(result.get("response")).decode(), ids)
    texts = [text for part in parts if (text := string(part, "text")) is not None and not part.get("thought")]
    if texts or not results:
        yield Item("user", "".join(texts), last_text=texts[-1] if texts else None)
