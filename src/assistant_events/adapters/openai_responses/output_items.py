"""
Parts of an answer as items of an `output`: the inverse of the decoder.

The only writer of items; encoder, emitter and documents call it. All of a part is written, whether a request may hold
it or not: that is decided by the caller.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias, assert_never

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.encoder import Item
from assistant_events.adapters.items import ItemParts, items_of
from assistant_events.adapters.json_fields import mapping, string
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.history import has_result
from assistant_events.recorder.calls import parse_input
from assistant_events.values import Content, JsonContent, MediaContent, State, TextContent, thaw, write_json

ItemKind: TypeAlias = Literal["message", "reasoning", "call", "result", "opaque"]
"""Kinds of items that are written alike."""

_OF_PARTS: Final = words.RESERVED | {"type", "annotations", "stored"}
"""Keys of state that are not fields of an item."""


def item_kind(part: msg.Part) -> ItemKind | None:
    """Return the kind of the item of a part; `None` when it has none."""
    match part:
        case msg.TextPart():
            return "message"
        case msg.ReasoningPart():
            return "reasoning"
        case msg.ToolPart():
            return "call"
        case msg.OpaquePart():
            return "opaque" if mapping(part.state, "item") else None
        case msg.MediaPart():
            return None  # images come as results of calls
        case _ as never:
            assert_never(never)


def items_with_parts(message: msg.AssistantMessage) -> list[ItemParts[ItemKind]]:
    """Return the items of an answer with their parts. Results of the app are input, and not among them."""
    items: list[ItemParts[ItemKind]] = items_of(message, "i", item_kind, "result")
    return [item for item in items if item.kind != "result" or has_result_item(item.parts[0])]


def has_result_item(call: msg.ToolPart) -> bool:
    """Return whether the result of a call of the provider is an item of its own."""
    return string(call.result_state, "type") in words.ANSWERS


def write_item(kind: ItemKind, parts: Sequence[Any]) -> Item:
    """Return the item of *parts*, which are all of *kind*: of a call or a result one."""
    # Any: the kind determines the class of the parts.
    match kind:
        case "message":
            state = _fields(parts)
            content = [*_texts(parts, "content"), *state.pop("content", ())]
            return {"type": "message", "role": "assistant", **state, "content": content}
        case "reasoning":
            state = _fields(parts)
            raw = [*_texts(parts, "content"), *state.pop("content", ())]
            summary = [*_texts(parts, "summary"), *state.pop("summary", ())]
            return {"type": "reasoning", **state, "summary": summary, **({"content": raw} if raw else {})}
        case "call":
            [call] = parts
            return _call(call)
        case "result":
            [call] = parts
            kind_of = string(call.result_state, "type") or ""
            fields = _fields([call], of_result=True)
            return {"type": kind_of, **_call_id(call), **fields, words.ANSWERS[kind_of]: _output(call.output)}
        case "opaque":
            item: Item = thaw(parts[0].state["item"])
            return item
        case _ as never:
            assert_never(never)


def write_part(part: msg.TextPart | msg.ReasoningPart) -> Item:
    """Return the text of a message or reasoning as a part of its item."""
    state = part.state
    if isinstance(part, msg.ReasoningPart):
        kind = "reasoning_text" if "content_index" in state else "summary_text"
        return {"type": kind, "text": part.text, **thaw(mapping(state, "part"))}
    if state.get("type") == "refusal":
        return {"type": "refusal", "refusal": part.text, **thaw(mapping(state, "part"))}
    annotations = thaw(state.get("annotations", ())) or [words.annotation_of(each) for each in part.citations]
    logprobs = thaw(part.details.get("logprobs", ()))
    more = {**({"logprobs": list(logprobs)} if logprobs else {}), **thaw(mapping(state, "part"))}
    return {"type": "output_text", "text": part.text, "annotations": list(annotations), **more}


def has_place(part: msg.TextPart | msg.ReasoningPart) -> bool:
    """Return whether an item holds the text of a part: not of an empty one that has no place in it."""
    return bool(part.text) or not words.INDEXES_OF_STATE.isdisjoint(part.state)


def _texts(parts: Sequence[msg.TextPart | msg.ReasoningPart], where: words.PartList) -> list[Item]:
    """Return the texts of an array of an item; parts with the same index are one."""
    key, otherwise = words.INDEXES[where], "content" if isinstance(parts[0], msg.TextPart) else "summary"
    texts: dict[object, Item] = {}
    for place, part in enumerate(parts):
        index: object = part.state.get(key)
        if not has_place(part) or (index is None and (where != otherwise or _index_of(part) is not None)):
            continue
        if index is None:  # the start of a reasoning that was cut by another one; or of another dialect
            index = 0 if isinstance(part, msg.ReasoningPart) else (place,)
        written, known = write_part(part), texts.get(index)
        if known is not None:
            field = words.PARTS[written["type"]][2]
            written[field] = f"{known.get(field, '')}{written[field]}"
            if "annotations" in written:
                written["annotations"] = [*known.get("annotations", ()), *written["annotations"]]
        texts[index] = {**(known or {}), **written}
    return [texts[index] for index in sorted(texts, key=_place)]


def _place(index: object) -> tuple[int, int]:
    return (0, index) if isinstance(index, int) else (1, 0)


def _index_of(part: msg.Part) -> object:
    return next((part.state[key] for key in words.INDEXES.values() if key in part.state), None)


def _fields(parts: Sequence[Any], *, of_result: bool = False) -> dict[str, Any]:
    """Return the fields of an item from the states of its parts, of which later ones count."""
    # Any: see `write_item`; plain JSON.
    fields: dict[str, Any] = {}
    for part in parts:
        state: State = part.result_state if of_result else part.state
        item_id = string(state, "item_id")
        fields |= {"id": item_id} if item_id else {}
        fields |= {key: value for key, value in thaw(state).items() if key not in _OF_PARTS}
    return fields


def _call(call: msg.ToolPart) -> Item:
    kind = kind_of_call(call)
    tool = words.TOOLS[kind]
    [first, *_] = tool.input
    item: Item = {"type": kind, **_call_id(call), **_fields([call])}
    if not tool.name:
        item["name"] = call.name
    arguments: dict[str, Any] = {} if call.input is None else thaw(call.input)
    if call.input is None:
        item |= {first: call.raw_input} if tool.form != "fields" else {}
    elif tool.form == "fields":
        item |= {key: value for key, value in arguments.items() if key in tool.input}
    elif tool.form == "text":
        item[first] = arguments.get(first, call.raw_input)
    else:
        as_it_came = call.raw_input and parse_input(call.raw_input)[0] == call.input
        item[first] = call.raw_input if as_it_came else write_json(call.input).decode()
    if tool.output and call.output and has_result(call):
        item[tool.output] = _output(call.output)
    if call.provider_executed and call.error is not None and has_result(call) and "error" not in item:
        item["error"] = call.error.message
    return item


def kind_of_call(call: msg.ToolPart) -> str:
    """Return the type of the item of a call. Calls that other providers ran are written as those of a server."""
    otherwise = "mcp_call" if call.provider_executed else "function_call"
    kind = string(call.state, "type") or otherwise
    return kind if kind in words.TOOLS else otherwise


def _call_id(call: msg.ToolPart) -> dict[str, str]:
    """Return the id of a call, which is that of its item where it has no other."""
    call_id = wire_id(call) or call.call_id
    own = string(call.state, "item_id")
    if own is None and call.provider_executed and not words.TOOLS[kind_of_call(call)].answer:
        return {"id": call_id}
    return {} if own == call_id else {"call_id": call_id}


def _output(output: Sequence[Content]) -> Any:
    """Return the output of a result of the provider, as the decoder has read it."""
    # Any: plain JSON.
    match output:
        case ():
            return None
        case (JsonContent(value=value),):
            return thaw(value)
        case (MediaContent(data=bytes() as data),):
            return b64encode(data).decode()
        case _:
            return "".join([item.text for item in output if isinstance(item, TextContent)])


__all__ = [
    "ItemKind",
    "has_place",
    "has_result_item",
    "item_kind",
    "items_with_parts",
    "kind_of_call",
    "write_item",
    "write_part",
]
