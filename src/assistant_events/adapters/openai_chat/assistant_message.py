"""
Parts of an answer as the fields of a message: the inverse of the decoder.

The only writer of messages; encoder, emitter and documents call it. A message has one text, one reasoning and a list of
calls, so the order between them is lost.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from typing import Any, Final, assert_never

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.data_urls import data_url
from assistant_events.adapters.encoder import Item
from assistant_events.adapters.json_fields import mapping, string
from assistant_events.adapters.openai_chat.reasoning_details import details_of
from assistant_events.history import has_result
from assistant_events.values import JsonContent, TextContent, thaw, write_json
from assistant_events.values.validators import NO_FIELDS

REASONING_FIELD: Final = "reasoning_content"
"""Where reasoning is written that came in no field of this wire."""


def write_message(parts: Iterable[msg.Part]) -> Item:
    """Return the message of parts, with each field that one of them needs, and `content` always."""
    contents: list[Item] = []
    fields: dict[str, Any] = {}
    details: list[msg.ReasoningPart] = []
    for part in parts:
        match part:
            case msg.ReasoningPart() if not part.state.keys().isdisjoint(("detail", "details")):
                details.append(part)
            case msg.OpaquePart() if mapping(part.state, "content"):
                contents.append(thaw(part.state["content"]))
                continue
            case _:
                pass
        for name, value in write_part(part).items():
            if name == "content":
                contents += [{"type": "text", "text": value}] if isinstance(value, str) else value
            elif name in fields and isinstance(value, (str, list)):
                fields[name] += value
            else:
                fields[name] = value
    if details:
        fields["reasoning_details"] = details_of(details)
    return {"role": "assistant", "content": _content(contents), **fields}


def write_part(part: msg.Part) -> dict[str, Any]:
    """Return the fields of a part alone; of a call without an index."""
    # Any: plain JSON.
    state = thaw(part.state)
    match part:
        case msg.TextPart():
            annotations = {"annotations": state["annotations"]} if "annotations" in state else {}
            return {state.get("field", "content"): part.text, **annotations}
        case msg.ReasoningPart() if state.get("field") == "thinking":
            state.pop("field")
            return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": part.text}], **state}]}
        case msg.ReasoningPart():
            details = details_of([part])
            own = {"reasoning_details": details} if details else {}
            has_field = part.text and "detail" not in state
            return {**({state.get("field", REASONING_FIELD): part.text} if has_field else {}), **own}
        case msg.ToolPart():
            return _write_tool(part)
        case msg.MediaPart():
            return _write_media(part)
        case msg.OpaquePart():
            return _write_opaque(state)
        case _ as never:
            assert_never(never)


def _write_tool(call: msg.ToolPart) -> dict[str, Any]:
    if call.provider_executed:
        return {"executed_tools": [write_executed(call)]}
    written = write_call(call)
    return {"function_call": written["function"]} if written["type"] == "function_call" else {"tool_calls": [written]}


def _write_opaque(state: dict[str, Any]) -> dict[str, Any]:
    """Return an item of content, or a call without a name."""
    if "arguments" in state:
        function = {"arguments": state.pop("arguments"), **state.pop("function", {})}
        return {"tool_calls": [{"type": "function", **state, "function": function}]}
    return {"content": [state["content"]]} if "content" in state else {}


def write_call(call: msg.ToolPart) -> Item:
    """Return a call of the app, its input as the text that came."""
    state = thaw(call.state)
    kind, more = state.pop("type", "function"), state.pop("function", {})
    state.pop("orphan", None)
    ident = wire_id(call)
    head = {**({} if ident is None else {"id": ident}), "type": kind, **{k: v for k, v in state.items() if k != "id"}}
    text = call.raw_input or write_json(call.input or NO_FIELDS).decode()
    if kind == "custom":
        given = mapping({"input": call.input}, "input")
        return {**head, "custom": {"name": call.name, "input": given.get("input", call.raw_input or ""), **more}}
    return {**head, "function": {"name": call.name, "arguments": text, **more}}


def write_executed(call: msg.ToolPart) -> Item:
    """Return a call of the provider with its result, if it has one."""
    text = call.raw_input or write_json(call.input or NO_FIELDS).decode()
    executed: Item = {"type": call.name, "arguments": text}
    if has_result(call):
        executed["output"] = "".join([item.text for item in call.output if isinstance(item, TextContent)])
        for item in call.output:
            if isinstance(item, JsonContent) and isinstance(value := thaw(item.value), dict):
                executed |= value
    return executed


def _write_media(part: msg.MediaPart) -> dict[str, Any]:
    if part.media_type.startswith("audio/"):
        data = {} if part.data is None else {"data": b64encode(part.data).decode()}
        return {"audio": {**thaw(part.state), **data}}
    url = part.uri if part.data is None else data_url(part.media_type, part.data)
    return {"images": [{"type": "image_url", "image_url": {"url": url}}]} if url else {}


def _content(items: list[Item]) -> str | list[Item] | None:
    """Return content: one text, unless there is something else; adjacent texts are one."""
    joined: list[Item] = []
    for item in items:
        if joined and string(item, "type") == string(joined[-1], "type") == "text" and item.keys() == {"type", "text"}:
            joined[-1] = {"type": "text", "text": joined[-1]["text"] + item["text"]}
        else:
            joined.append(item)
    if not joined:
        return None
    is_text = len(joined) == 1 and joined[0].keys() == {"type", "text"} and joined[0]["type"] == "text"
    return joined[0]["text"] if is_text else joined


__all__ = ["REASONING_FIELD", "write_call", "write_executed", "write_message", "write_part"]
