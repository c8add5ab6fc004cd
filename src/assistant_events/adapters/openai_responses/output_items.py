"""
Parts of an answer as items of an `output`: the inverse of the decoder.

The only writer of items; encoder, emitter and documents call it. All of a part is written, whether a request may hold
it or not: that is decided by the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, assert_never

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import wire_or_own_id
from assistant_events.adapters.call_results import output_value, text_of
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import BlockKind, content_blocks, joined_state
from assistant_events.adapters.json_fields import mapping, others, string
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.text_forms import TextLike
from assistant_events.adapters.text_places import annotation_of
from assistant_events.history import has_result
from assistant_events.values import thaw

_OF_PARTS: Final = words.RESERVED | {"annotations", "stored"}
"""Keys of state that are not fields of an item."""


def output_items(message: msg.AssistantMessage) -> list[Item]:
    """Return the items of an answer, as a document lists them. Results of the app are input, and not among them."""
    return content_blocks(message, "i", write_item)


def write_item(kind: BlockKind, parts: Sequence[Any]) -> Item | None:
    """Return the item of *parts*, which are all of *kind*, of a call or a result one; `None` when they have none."""
    # Any: the kind determines the class of the parts.
    state = joined_state(kind, parts)
    fields = {**({"id": state["item_id"]} if state.get("item_id") else {}), **others(state, _OF_PARTS)}
    match kind:
        case "text" | "reasoning":
            texts = words.TEXTS.write(parts, _kind_of_text, _more_of_text)
            arrays = {where: found + fields.pop(where, []) for where, found in texts.items()}
            if kind == "text":
                return {"type": "message", "role": "assistant", **fields, "content": arrays["content"]}
            content = {"content": arrays["content"]} if arrays["content"] else {}
            return {"type": "reasoning", **fields, "summary": arrays["summary"], **content}
        case "call":
            return None if state.get("type") == "function_call" else _call(parts[0], fields)  # its server wrote another
        case "result":
            kind_of, call = string(state, "type") or "", parts[0]
            if kind_of not in words.TOOLS.outputs:
                return None  # the item of the call has it
            return {"type": kind_of, **_call_id(call), **fields, words.TOOLS.outputs[kind_of]: output_value(call)}
        case "media" | "opaque":  # images come as results of calls
            return state.get("item") or None
        case _ as never:
            assert_never(never)


def _kind_of_text(part: TextLike) -> str:
    if isinstance(part, msg.ReasoningPart):
        return "reasoning_text" if "content_index" in part.state else "summary_text"
    return "refusal" if part.state.get("type") == "refusal" else "output_text"


def _more_of_text(part: TextLike, kind: str) -> Item:
    more: Item = {}
    if isinstance(part, msg.TextPart) and kind == "output_text":
        more["annotations"] = thaw(part.state.get("annotations")) or list(map(annotation_of, part.citations))
        more |= thaw({key: part.details[key] for key in ("logprobs",) if part.details.get(key)})
    return {**more, **thaw(mapping(part.state, "part"))}


def _call(call: msg.ToolPart, fields: dict[str, Any]) -> Item:
    kind = words.TOOLS.kind_of(call)
    item: Item = {"type": kind, **_call_id(call), **fields, **words.TOOLS[kind].write(call)}
    if kind == "mcp_call" and "i" not in call.state:  # of another provider; clients refuse one without a server
        item |= {"server_label": call.name, **({"output": text_of(call.output)} if "output" in item else {})}
    if has_result(call) and call.error is not None and item.get("status") != "failed":
        item.setdefault("error", call.error.message)
    return item


def _call_id(call: msg.ToolPart) -> dict[str, str | None]:
    """Return the id of a call: that of its item where it has no other, but functions are refused without their own."""
    call_id, own, kind = wire_or_own_id(call), string(call.state, "item_id"), words.TOOLS.kind_of(call)
    if kind == "mcp_approval_request" or (call.provider_executed and not words.TOOLS[kind].answer):
        return {"id": own or call_id}
    prefix = {"computer_call": "cu_", "local_shell_call": "lsh_"}.get(kind)
    if own is None and prefix is not None:  # both are required, and the result of a shell has the other one
        return {"id": f"{prefix}{call_id}"[:64], "call_id": call_id}
    if own != call_id or kind in ("function_call", "custom_tool_call"):
        return {"call_id": call_id}
    return {"call_id": None} if kind == "tool_search_call" else {}  # clients refuse one without
