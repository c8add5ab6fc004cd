"""Events to streams and documents of the Messages API."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from assistant_events import messages as msg
from assistant_events.adapters.anthropic_messages import blocks
from assistant_events.adapters.anthropic_messages import vocabulary as words
from assistant_events.adapters.anthropic_messages.decoder import AnthropicMessagesDecoder
from assistant_events.adapters.block_emitter import BlockEmitter, BlockFrames
from assistant_events.adapters.emitter import called_only, finish_word, is_lost, own_error, own_message
from assistant_events.adapters.items import content_blocks
from assistant_events.adapters.json_fields import array, mapping, string, without
from assistant_events.values import thaw, write_json

_DIALECT = AnthropicMessagesDecoder.dialect
_stop_reason = partial(finish_word, dialect=_DIALECT, words=words.FINISH_REASONS, otherwise="end_turn")

_OF_DELTA = ("stop_sequence", "stop_details", "container")
"""Facts about the end of a message inside the `delta` of a `message_delta`; others are beside it."""

_NO_COUNTS = {"input_tokens": 0, "output_tokens": 0}  # official clients expect them


class AnthropicMessagesEmitter(BlockEmitter):
    """Writes one answer as a stream."""

    decoder = AnthropicMessagesDecoder
    name_field = "type"
    write_block = staticmethod(blocks.write_block)

    # -- the message

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write `message_start`."""
        self.write({"type": "message_start", "message": {**_head(message), "content": [], "usage": {**_NO_COUNTS}}})

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write `message_delta` and `message_stop`, or the error; without an end when the stream was cut."""
        facts, usage = _facts(message), _usage(message)
        if message.error is None or usage or facts:
            delta = {key: facts.pop(key) for key in _OF_DELTA if key in facts}
            stop = {"stop_reason": _stop_reason(message), "stop_sequence": None, **delta}
            self.write({"type": "message_delta", "delta": stop, "usage": usage or {"output_tokens": 0}, **facts})
        if message.error is None:
            self.write({"type": "message_stop"})
        elif not is_lost(message.error):
            self.write({"type": "error", **words.ERRORS.write_document(own_error(message, _DIALECT, words.ERRORS))})

    # -- blocks

    def block_frames(self, index: int, block: dict[str, Any], part: msg.Part | None) -> BlockFrames:
        """Return the events of a block."""
        start, deltas = _split(block, part)
        pieces = [piece for delta in deltas for piece in self._cut(delta)]
        return BlockFrames(
            {"type": "content_block_start", "index": index, "content_block": start},
            [{"type": "content_block_delta", "index": index, "delta": piece} for piece in pieces],
            {"type": "content_block_stop", "index": index},
        )

    def _cut(self, delta: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield a delta in pieces."""
        _, field = words.DELTAS.get(string(delta, "type") or "", ("", ""))
        text = string(delta, field) or ""
        yield from [{**delta, field: piece} for piece in self.pieces(text)] or [delta]


def _split(block: dict[str, Any], part: msg.Part | None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the block of a `content_block_start`, and the deltas that follow."""
    deltas: list[dict[str, Any]] = []
    unknown = [] if part is None else list(thaw(part.state.get("deltas", ())))
    match part:
        case msg.TextPart():
            cited = array(block, "citations")
            deltas = [{"type": "text_delta", "text": block["text"]}] if part.text else []
            deltas += [{"type": "citations_delta", "citation": each} for each in cited]
            block |= {"text": "", **({"citations": []} if cited else {})}
        case msg.ReasoningPart() if "data" not in part.state:
            deltas = [{"type": "thinking_delta", "thinking": part.text}] if part.text else []
            signed = [{"type": "signature_delta", "signature": block["signature"]}] if block["signature"] else []
            return {**block, "thinking": "", "signature": ""}, [*deltas, *unknown, *signed]
        case msg.ToolPart() if "i" in part.state or not part.provider_executed or part.input is None:
            text = write_json(block["input"]).decode() if part.input_status is None else part.raw_input
            deltas = [{"type": "input_json_delta", "partial_json": text}]
            block["input"] = {}
        case _:
            pass
    return block, [*deltas, *unknown]


def emit_resource(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return an answer as one JSON document: the message, or the error of one that failed."""
    if message.error is not None:
        return {"type": "error", **words.ERRORS.write_document(own_error(message, _DIALECT, words.ERRORS))}
    message = own_message(message, _DIALECT)
    ending = {"stop_reason": _stop_reason(message), "usage": _usage(message) or {**_NO_COUNTS}, **_facts(message)}
    written = message if message.origin.dialect == _DIALECT else called_only(message)
    return {**_head(message), "content": content_blocks(written, "i", blocks.write_block), **ending}


def _head(message: msg.AssistantMessage) -> dict[str, Any]:
    ident = string(message.state, "message_id") if message.origin.dialect == _DIALECT else f"msg_{message.id}"
    head = {"id": ident or "", "type": "message", "role": "assistant"}
    return {**head, "model": message.origin.served_model or "", "stop_reason": None, "stop_sequence": None}


def _facts(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return the facts of the end of a message, the container among them."""
    facts: dict[str, Any] = thaw(message.details)
    container = string(message.state, "container")
    return facts if container is None else {**facts, "container": {"id": container, **mapping(facts, "container")}}


def _usage(message: msg.AssistantMessage) -> dict[str, Any]:
    counts = {} if message.usage is None else without(words.USAGE.write(message.usage), {"partial"})
    return counts if message.origin.dialect == _DIALECT or not counts else {**_NO_COUNTS, **counts}
