"""
Parts of an answer as the fields of a message: the inverse of the decoder.

The only writer of messages; encoder, emitter and documents call it. A message has one text, one reasoning and a list of
calls, so the order between them is lost.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any, Final, assert_never

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.call_results import input_text
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.gateway_deltas import BLOCKS, whole_blocks
from assistant_events.adapters.items import joined_pieces, joined_texts, text_block, text_or_blocks
from assistant_events.adapters.json_fields import string, without
from assistant_events.adapters.media_urls import media_url
from assistant_events.adapters.openai_chat.vocabulary import DETAIL_PIECES, DETAIL_TEXTS, DETAILS, REASONING, THOUGHTS
from assistant_events.adapters.server_tools import split_at_results, write_executed
from assistant_events.adapters.streamed_calls import is_hosted
from assistant_events.values import thaw
from assistant_events.values.validators import NO_FIELDS

_THOUGHTS: Final = {array: (kind, each) for kind, (array, each) in THOUGHTS.items()}


def write_messages(parts: Iterable[msg.Part], taken: Sequence[str] | None = None) -> list[Item]:
    """Return the messages of parts: one, and one more for each result of a tool that Mistral has run."""
    return [each for own, results in split_at_results(parts) for each in (_write_message(own, taken), *results)]


def _write_message(parts: Iterable[msg.Part], taken: Sequence[str] | None) -> Item:
    """Return the message of parts, as `write_part`, with each field that one of them needs, and `content` always."""
    fields: dict[str, Any] = {"content": []}
    written = [write_part(part, taken) for part in parts]
    for name, value in (field for each in written for field in each.items()):
        new = [text_block(value)] if name == "content" and isinstance(value, str) else value
        fields[name] = fields[name] + new if name in fields and isinstance(new, (str, list)) else new
    if "reasoning_details" in fields:
        fields["reasoning_details"] = joined_pieces(fields["reasoning_details"], DETAIL_PIECES)
    if BLOCKS in fields:
        fields[BLOCKS] = whole_blocks(written)
    blocks = joined_texts(fields["content"])
    return {"role": "assistant", **fields, "content": text_or_blocks(blocks) if blocks else None}


def write_part(part: msg.Part, taken: Sequence[str] | None = None) -> dict[str, Any]:  # noqa: C901 - an arm a form
    """Return the fields of a part alone; of a call without an index. A reasoning is in one that is *taken*."""
    state = thaw(part.state)
    field = state.pop("field", None)
    array = field if field in DETAILS else DETAILS[0]
    is_detail = "detail" in state and (not taken or array in taken)
    if taken and field not in taken and isinstance(part, msg.ReasoningPart) and not is_detail:
        field = taken[0]
    match part:
        case msg.TextPart():
            return {field or "content": part.text, **{key: state[key] for key in ("annotations",) if key in state}}
        case msg.ReasoningPart() if field in _THOUGHTS:
            kind, each = _THOUGHTS[field]
            thought = state.pop("thought", {})
            text = {"text": part.text} if part.text or "type" not in thought else {}
            return {"content": [{"type": kind, field: [{"type": each, **text, **thought}], **state}]}
        case msg.ReasoningPart():
            details = [*state.get("details", ())]
            if "detail" in state:
                usual = DETAIL_TEXTS.get(string(state["detail"], "type") or "", "text")
                own = next((name for name in DETAIL_TEXTS.values() if name in state["detail"]), usual)
                details.insert(0, state["detail"] | ({own: part.text} if part.text or own == "thinking" else {}))
            text = {field if field in REASONING else REASONING[0]: part.text} if part.text and not is_detail else {}
            return {**text, **({array: details} if details else {})}
        case msg.ToolPart() if part.provider_executed and not is_hosted(state):
            return {"executed_tools": [write_executed(part)]}
        case msg.ToolPart():
            written = _write_call(part, state)
            return {"function_call": written["function"]} if "type" not in written else {"tool_calls": [written]}
        case msg.MediaPart() if part.media_type.startswith("audio/"):
            return {"audio": {**state, **({"data": b64encode(part.data).decode()} if part.data else {})}}
        case msg.MediaPart():
            url = media_url(part) if part.media_type.startswith("image/") else None
            return {"images": [{"type": "image_url", "image_url": {"url": url}}]} if url else {}
        case msg.OpaquePart() if "arguments" in state:  # a call without a name
            function = {"arguments": state.pop("arguments"), **state.pop("function", {})}
            return {"tool_calls": [{"type": "function", **state, "function": function}]}
        case msg.OpaquePart():
            return {"content": [state["content"]]} if "content" in state else {}
        case _ as never:
            assert_never(never)


def _write_call(call: msg.ToolPart, state: dict[str, Any]) -> Item:
    """Return a call of the app, its input as the text that came; without a type, the function that is called."""
    ident, given = wire_id(call), thaw(call.input or NO_FIELDS)
    kind, more = state.pop("type", "function"), state.pop("function", {})
    head = {**({} if ident is None else {"id": ident}), "type": kind, **without(state, ("id", "orphan"))}
    if kind == "custom":
        return {**head, "custom": {"name": call.name, "input": given.get("input", call.raw_input), **more}}
    function = {"name": call.name, "arguments": input_text(call), **more}
    return {"function": function} if kind == "function_call" else {**head, "function": function}
