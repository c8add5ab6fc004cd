"""What fixtures are compared with in a request of the Responses API, in any form of its `input`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, final

import attrs

from assistant_events.adapters.json_fields import Fields, mappings, string
from assistant_events.adapters.openai_responses.vocabulary import TOOLS
from assistant_events.mock import matching
from assistant_events.mock.matching import Item, RequestFacts, TextRule, text_of
from assistant_events.values import write_json

_ANSWER = Item("model")


@final
@attrs.frozen(kw_only=True, eq=False)
class Match(matching.Match):
    """Which requests of the Responses API a fixture answers: every field that is set has to hold."""

    previous_response_id: TextRule | None = None
    """Of the request; `""` matches a request without one, the pattern `.` a request with any."""


def read_request(
    body: Mapping[str, Any],
    earlier: list[Fields] | None = None,
    call_id_of: Callable[[str], str | None] = lambda _: None,
) -> RequestFacts:
    """
    Return the facts of a create request. Nothing in it raises.

    *earlier* are the items of the conversation that it continues, oldest first; `None` when it begins one. Clients such
    as chatlas have the id of its item in place of that of a call, for which *call_id_of* returns the latter.
    """
    items = input_items(body)
    system = [string(body, "instructions") or ""]
    system += [text_of(item.get("content")) or "" for item in items if item.get("role") in ("system", "developer")]
    tools = [tool for tool in mappings(body, "tools") if tool.get("type") in ("function", "custom")]
    facts = RequestFacts(
        items=tuple(_items(items, call_id_of)),
        model=string(body, "model"),
        system="\n".join([text for text in system if text]),
        tools=frozenset([name for tool in tools if (name := string(tool, "name")) is not None]),
        fields={"previous_response_id": string(body, "previous_response_id") or ""},
    )
    if earlier is None:
        return facts
    return attrs.evolve(facts, items=(*_items(earlier, call_id_of), *facts.items), alone=facts)


def input_items(body: Mapping[str, Any]) -> list[Fields]:
    """Return the items of an `input`: a string is a message of the user."""
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else mappings(body, "input")


def _items(items: list[Fields], call_id_of: Callable[[str], str | None]) -> Iterator[Item]:
    for item in items:
        role, kind = item.get("role"), string(item, "type") or "message"
        if role == "user":
            yield Item("user", text_of(item.get("content")))
        elif kind in TOOLS.outputs:
            output = item.get(TOOLS.outputs[kind])
            text = text_of(output)
            written = write_json(output).decode() if text is None and output is not None else text
            given = string(item, "call_id") or ""
            known = call_id_of(given)
            yield Item("result", written, (given,) if known is None else (given, known))
        elif role not in ("system", "developer"):
            yield _ANSWER
