"""
Parts of an answer as parts of the wire: the inverse of the decoder.

The only writer of parts; encoder, emitter and documents call it. All of a part is written, whether a request may hold
it or not: that is decided by the caller.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final, Literal, TypeAlias, assert_never

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.call_results import output_value
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.gemini_generate_content import vocabulary as words
from assistant_events.adapters.items import ItemParts, items_of
from assistant_events.adapters.json_fields import is_array, is_object, mapping, string, without
from assistant_events.values import MediaContent, TextContent, thaw
from assistant_events.values.validators import NO_FIELDS

PartKind: TypeAlias = Literal["part", "result"]
"""Whether a part of the wire is the result of a call."""

_RESULTS: Final = {call: result for result, (call, _) in words.CALLS.items()}


def wire_parts(message: msg.AssistantMessage) -> list[Item]:
    """Return the parts of an answer in the order of the wire. Results of the app are input, and not among them."""
    items: list[ItemParts[PartKind]] = items_of(message, "i", part_kind, "result")
    return [write_part(item.kind, part) for item in items for part in item.parts]


def part_kind(part: msg.Part) -> PartKind | None:
    """Return the kind of a part; `None` when the wire has none for it."""
    match part:
        case msg.OpaquePart():
            return "part" if mapping(part.state, "part") else None
        case msg.MediaPart():
            return "part" if part.data or part.uri is not None else None
        case _:
            return None if part.state.get("orphan") is True else "part"


def write_part(kind: PartKind, part: msg.Part) -> Item:
    """Return a part of the message, or the result of a call, as a part of the wire."""
    state = thaw(part.result_state if kind == "result" and isinstance(part, msg.ToolPart) else part.state)
    fields = state.get("fields", {})
    more = without(state, words.RESERVED)
    match part:
        case msg.TextPart():
            return {"text": part.text, **more}
        case msg.ReasoningPart():
            return {"text": part.text, "thought": True, **more}
        case msg.MediaPart():
            [(media_kind, written)] = media_part(part).items()
            return {media_kind: {**written, **fields}, **more}
        case msg.ToolPart():
            call_kind, call_id = call_kind_of(part), wire_id(part)
            fields |= {} if call_id is None else {"id": call_id}
            if kind == "result":
                return {_RESULTS[call_kind]: {**_result(call_kind, part), **fields}, **more}
            arguments = thaw(part.input or NO_FIELDS)
            named = _named(call_kind, part) | ({"args": arguments} if arguments or call_kind == "functionCall" else {})
            return {call_kind: {**(arguments if call_kind == "executableCode" else named), **fields}, **more}
        case msg.OpaquePart():
            return {**state["part"]}
        case _ as never:
            assert_never(never)


def call_kind_of(call: msg.ToolPart) -> str:
    """Return the kind of a call; one that another provider ran is not a function, which clients run."""
    other = "toolCall" if call.provider_executed and "i" not in call.state else "functionCall"
    return kind if (kind := string(call.state, "type")) in _RESULTS else other


def media_part(media: MediaContent | msg.MediaPart) -> Item:
    """Return bytes, or their address, as a part."""
    if media.data is None:
        return {"fileData": {"mimeType": media.media_type, "fileUri": media.uri}}
    return {"inlineData": {"mimeType": media.media_type, "data": b64encode(media.data).decode()}}


def _result(call_kind: str, call: msg.ToolPart) -> Item:
    """Return the result of a call that the provider ran, as the decoder has read it; of another, an object."""
    value = output_value(call)
    if call_kind == "toolCall" and "i" in call.state:  # one without a response has none (FILE_SEARCH, 2026-07)
        return _named(call_kind, call) | ({} if value is None else {"response": value})
    text = "".join([item.text for item in call.output if isinstance(item, TextContent)])
    if call_kind == "executableCode":
        outcome = "OUTCOME_OK" if call.error is None else call.error.code or "OUTCOME_FAILED"
        return {"outcome": outcome, "output": text}
    in_words = {"error": text or call.error.message} if call.error else {"output": value if is_array(value) else text}
    return {**_named(call_kind, call), "response": value if is_object(value) else in_words}


def _named(call_kind: str, call: msg.ToolPart) -> Item:
    return {"toolType" if call_kind == "toolCall" else "name": call.name}
