"""
Parts of an answer as items of an `output`: the inverse of the decoder.

The only writer of items; encoder, emitter and documents call it. All of a part is written, whether a request may hold
it or not: that is decided by the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, assert_never

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.call_results import output_value
from assistant_events.adapters.encoder import Item
from assistant_events.adapters.items import BlockKind, content_blocks, joined_state
from assistant_events.adapters.json_fields import mapping, others, string
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.history import has_result
from assistant_events.recorder.calls import parse_input
from assistant_events.values import thaw, write_json

_OF_PARTS: Final = words.RESERVED | {"type", "annotations", "stored"}
"""Keys of state that are not fields of an item."""


def output_items(message: msg.AssistantMessage) -> list[Item]:
    """Return the items of an answer, as a document lists them. Results of the app are input, and not among them."""
    return content_blocks(message, "i", write_item)


def has_result_item(call: msg.ToolPart) -> bool:
    """Return whether the result of a call of the provider is an item of its own."""
    return string(call.result_state, "type") in words.ANSWERS


def write_item(kind: BlockKind, parts: Sequence[Any]) -> Item | None:
    """Return the item of *parts*, which are all of *kind*, of a call or a result one; `None` when they have none."""
    # Any: the kind determines the class of the parts.
    state = joined_state([part.result_state if kind == "result" else part.state for part in parts])
    fields = {**({"id": state["item_id"]} if state.get("item_id") else {}), **others(state, _OF_PARTS)}
    match kind:
        case "text":
            content = [*_texts(parts, "content"), *fields.get("content", ())]
            return {"type": "message", "role": "assistant", **fields, "content": content}
        case "reasoning":
            content = [*_texts(parts, "content"), *fields.pop("content", ())]
            summary = [*_texts(parts, "summary"), *fields.get("summary", ())]
            return {"type": "reasoning", **fields, "summary": summary, **({"content": content} if content else {})}
        case "call":
            [call] = parts
            return _call(call, fields)
        case "result":
            [call] = parts
            if not has_result_item(call):
                return None
            output = {words.ANSWERS[state["type"]]: output_value(call)}
            return {"type": state["type"], **_call_id(call), **fields, **output}
        case "media":
            return None  # images come as results of calls
        case "opaque":
            return state.get("item") or None
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
    return bool(part.text) or not set(words.INDEXES.values()).isdisjoint(part.state)


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
            field = words.TEXTS[written["type"]].field
            written[field] = f"{known.get(field, '')}{written[field]}"
            if "annotations" in written:
                written["annotations"] = [*known.get("annotations", ()), *written["annotations"]]
        texts[index] = {**(known or {}), **written}
    return [texts[index] for index in sorted(texts, key=_place)]


def _place(index: object) -> tuple[int, int]:
    return (0, index) if isinstance(index, int) else (1, 0)


def _index_of(part: msg.Part) -> object:
    return next((part.state[key] for key in words.INDEXES.values() if key in part.state), None)


def _call(call: msg.ToolPart, fields: dict[str, Any]) -> Item:
    kind = kind_of_call(call)
    tool = words.TOOLS[kind]
    [first, *_] = tool.input
    item: Item = {"type": kind, **_call_id(call), **fields}
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
        item[tool.output] = output_value(call)
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
