"""Events to streams and documents of Converse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assistant_events import messages as msg
from assistant_events.adapters.aws import write_exception
from assistant_events.adapters.bedrock_converse import blocks
from assistant_events.adapters.bedrock_converse import vocabulary as words
from assistant_events.adapters.bedrock_converse.decoder import BedrockConverseDecoder
from assistant_events.adapters.block_emitter import BlockEmitter, BlockFrames
from assistant_events.adapters.emitter import called_only, finish_word, is_lost, own_message
from assistant_events.adapters.items import content_blocks
from assistant_events.values import thaw

_DIALECT = BedrockConverseDecoder.dialect

_STOP = "additionalModelResponseFields"
"""The fact that is in `messageStop`; others are in `metadata`."""


class BedrockConverseEmitter(BlockEmitter):
    """Writes one answer as a stream."""

    decoder = BedrockConverseDecoder
    write_block = staticmethod(blocks.write_block)

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write `messageStart`."""
        self.write({"messageStart": {"role": "assistant"}})

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write `messageStop` and `metadata`, or the exception; without an end when the stream was cut."""
        facts: dict[str, Any] = thaw(message.details)
        stop = {_STOP: facts.pop(_STOP)} if _STOP in facts else {}
        metadata = {**_usage(message), **facts}
        reason = _stop_reason(message)
        if reason is not None or message.error is None:
            self.write({"messageStop": {**({} if reason is None else {"stopReason": reason}), **stop}})
            self.write({"metadata": metadata})
            return
        if metadata:
            self.write({"metadata": metadata})
        if not is_lost(message.error):
            self.write(write_exception(message.error))

    def block_frames(self, index: int, block: dict[str, Any], part: msg.Part | None) -> BlockFrames:
        """Return the events of a block; texts and reasoning have no start."""
        text = part.raw_input if isinstance(part, msg.ToolPart) and part.input_status is not None else None
        *events, stop = blocks.block_events(index, block, text)
        start = events.pop(0) if events and "contentBlockStart" in events[0] else None
        unknown = () if part is None else thaw(part.state.get("deltas", ()))
        events += [{"contentBlockDelta": {"contentBlockIndex": index, "delta": each}} for each in unknown]
        return BlockFrames(start, [piece for event in events for piece in self._cut(event)], stop)

    def _cut(self, event: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield an event in pieces, when it is a delta of text."""
        match event:
            case {"contentBlockDelta": {"delta": {"text": str() as text}}}:
                way: tuple[str, ...] = ("text",)
            case {"contentBlockDelta": {"delta": {"reasoningContent": {"text": str() as text}}}}:
                way = ("reasoningContent", "text")
            case {"contentBlockDelta": {"delta": {"toolUse": {"input": str() as text}}}}:
                way = ("toolUse", "input")
            case _:
                yield event
                return
        for piece in self.pieces(text):
            delta: Any = piece
            for key in reversed(way):
                delta = {key: delta}
            yield {"contentBlockDelta": {**event["contentBlockDelta"], "delta": delta}}


def emit_resource(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return an answer as one JSON document: that of `Converse`, or the exception of one that failed."""
    if message.error is not None and message.error.code not in words.MALFORMED:
        return write_exception(message.error)
    message = own_message(message, _DIALECT)
    written = message if message.origin.dialect == _DIALECT else called_only(message)
    output = {"message": {"role": "assistant", "content": content_blocks(written, "i", blocks.write_block)}}
    return {"output": output, "stopReason": _stop_reason(message), **_usage(message), **thaw(message.details)}


def _usage(message: msg.AssistantMessage) -> dict[str, Any]:
    return {} if message.usage is None else {"usage": words.USAGE.write(message.usage)}


def _stop_reason(message: msg.AssistantMessage) -> str | None:
    """Return the stop reason of a message; of a failed one, when it failed with one."""
    if message.error is not None:
        return message.error.code if message.error.code in words.MALFORMED else None
    return finish_word(message, _DIALECT, words.FINISH_REASONS, "end_turn")
