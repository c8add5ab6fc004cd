"""What a create request contains, in any form of its `input`: the facts for fixtures, and the input of the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, final

import attrs

from assistant_events.adapters.json_fields import is_array, is_object, mappings, string
from assistant_events.mock import matching
from assistant_events.mock.matching import Item, RequestFacts, TextRule
from assistant_events.values import write_json

# Wire reference §4.4. Content has other types, so that the type of an item shows whether it is a step.
_STEP_TYPES: Final = frozenset({"user_input", "model_output", "thought"})
_STEP_ENDS: Final = ("_call", "_result")

_ANSWER: Final = Item("model")


@final
@attrs.frozen(kw_only=True, eq=False)
class Match(matching.Match):
    """Which requests of the Interactions API a fixture answers: every field that is set has to hold."""

    agent: TextRule | None = None

    previous_interaction_id: TextRule | None = None
    """Of the request; `""` matches a request without one, the pattern `.` a request with any."""

    continuation_token: str | None = None
    """Of the request; `""` matches a request without one."""

    @property
    def is_about_a_result(self) -> bool:
        """Whether this names the result of a call, or a token: such a fixture precedes those that do not."""
        return bool(self.continuation_token) or super().is_about_a_result


def read_request(body: Mapping[str, object], chain: Sequence[Mapping[str, object]] = ()) -> RequestFacts:
    """
    Return the facts of a create request. Nothing in it raises.

    *chain* are the bodies of the requests that it continues, oldest first. The answer to each counts as one answer.
    """
    functions = [tool for tool in mappings(body, "tools") if tool.get("type") == "function"]
    facts = RequestFacts(
        items=tuple(_items(body.get("input"))),
        model=string(body, "model"),
        system=_content_text(body.get("system_instruction")) or "",
        tools=frozenset([name for tool in functions if (name := string(tool, "name")) is not None]),
        fields={
            "agent": string(body, "agent"),
            "previous_interaction_id": string(body, "previous_interaction_id") or "",
            "continuation_token": string(body, "continuation_token") or "",
        },
    )
    if not chain:
        return facts
    before = [item for earlier in chain for item in (*_items(earlier.get("input")), _ANSWER)]
    return attrs.evolve(facts, items=(*before, *facts.items), alone=facts)


def _items(given: object) -> Iterator[Item]:
    for step in _input_steps(given):
        kind = step.get("type")
        if kind == "user_input":
            yield from _user_items(step.get("content"))
        else:
            yield _result(step) if kind == "function_result" else _ANSWER


def _input_steps(given: object) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of an `input` in any of its forms: content and turns become steps, too."""
    if isinstance(given, str):
        given = [{"type": "text", "text": given}]
    content: list[object] = []
    for entry in given if is_array(given) else [given]:
        if not is_object(entry):
            continue
        if "role" not in entry and not _is_step(entry):
            content.append(entry)
            continue
        if content:
            yield {"type": "user_input", "content": content}
            content = []
        if "role" not in entry:
            yield entry
        elif entry["role"] == "user":
            yield from _input_steps(entry.get("content"))
        else:
            yield {"type": "model_output"}
    if content:
        yield {"type": "user_input", "content": content}


def _is_step(entry: Mapping[str, object]) -> bool:
    kind = entry.get("type")
    return isinstance(kind, str) and (kind in _STEP_TYPES or kind.endswith(_STEP_ENDS))


def _user_items(content: object) -> Iterator[Item]:
    """Yield the results among *content*, then the rest as one input of the user."""
    if isinstance(content, str):
        yield Item("user", content)
        return
    if is_object(content):
        content = [content]
    if not is_array(content) or not content:
        return
    rest: list[object] = []
    for block in content:
        if is_object(block) and block.get("type") == "function_result":
            yield _result(block)
        else:
            rest.append(block)
    if rest:
        yield Item("user", _content_text(rest))


def _result(step: Mapping[str, object]) -> Item:
    result = step.get("result")
    text = _content_text(result)
    if text is None and result is not None:
        text = write_json(result).decode()
    return Item("result", text, (string(step, "call_id") or "",))


def _content_text(content: object) -> str | None:
    """Return the texts of *content* joined without a separator, or None when there is none."""
    if isinstance(content, str):
        return content
    blocks = content if is_array(content) else [content]
    texts = [block["text"] for block in blocks if is_object(block) and isinstance(block.get("text"), str)]
    return "".join(texts) if texts else None


def user_inputs(given: object) -> list[dict[str, Any]]:
    """
    Return the `user_input` steps of an `input` in any of its forms, as GET does.

    Other steps that a client sent as history are left out.
    """
    return [dict(step) for step in _input_steps(given) if step.get("type") == "user_input"]
