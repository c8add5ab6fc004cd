"""Events to the chunks of Chat Completions, and messages to its documents."""

from __future__ import annotations

from functools import partial
from typing import Any

from assistant_events import messages as msg
from assistant_events.adapters.emitter import EmitterBase, finish_word, is_lost, own_error, own_message
from assistant_events.adapters.gateway_deltas import with_returned
from assistant_events.adapters.json_fields import merged, string
from assistant_events.adapters.openai_chat import vocabulary as words
from assistant_events.adapters.openai_chat.assistant_message import write_messages, write_part
from assistant_events.adapters.openai_chat.decoder import OpenAIChatDecoder
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.adapters.server_tools import write_result
from assistant_events.values import thaw

_DIALECT = OpenAIChatDecoder.dialect
_finish_reason = partial(finish_word, dialect=_DIALECT, words=words.FINISH_REASONS, otherwise="stop")


class OpenAIChatEmitter(EmitterBase):
    """Writes one answer as a stream of chunks, with the usage in a chunk of its own and `[DONE]` at the end."""

    decoder = OpenAIChatDecoder

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write a chunk with the role."""
        self._head = _head(message, "chat.completion.chunk")
        self._write({"role": "assistant", "content": ""})

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the reason to finish, the usage and the mark of the end, or the error; nothing of a lost stream."""
        choice, more, facts = _facts(message)
        if message.error is None:
            choice["finish_reason"] = _finish_reason(message)
        if choice or more or facts:
            self._write(with_returned({}, more, mark=True), choice, **facts)
        if message.usage is not None:
            self.write({**self._head, "choices": [], "usage": words.USAGE.write(message.usage)})
        if message.error is None:
            self.write("[DONE]")
        elif not is_lost(message.error):
            self.write(ERRORS.write_document(own_error(message, _DIALECT, ERRORS)))

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the deltas of a part: of a call an empty input first, then its pieces."""
        for name, value in write_part(part).items():
            if isinstance(value, str):
                for piece in self.pieces(value):
                    self._write({name: piece})
            elif name == "tool_calls":
                [call], index = value, {"index": self.index_of(place)}  # without gaps, for the official client
                of, key = ("custom", "input") if "custom" in call else ("function", "arguments")
                text = string(call[of], key) or ""  # only an item kept raw has something else
                self._write({name: [{**index, **call, of: {**call[of], **({key: ""} if text else {})}}]})
                for piece in self.pieces(text):
                    self._write({name: [{**index, of: {key: piece}}]})
            elif name == "executed_tools":
                self._write({name: [{"index": place, **value[0]}]})
            else:
                self._write({name: value})

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write a tool of the provider once more, with its result, or the message that has it."""
        if result := write_result(call):
            self._write(result)
        else:
            self.on_part(place, call)

    def _write(self, delta: dict[str, Any], choice: dict[str, Any] | None = None, **facts: Any) -> None:
        written = {"index": 0, "delta": delta, "finish_reason": None, **(choice or {})}
        self.write({**self._head, "choices": [written], **facts})


def emit_resource(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return an answer as one JSON document, or the error of one that failed."""
    if message.error is not None:
        return ERRORS.write_document(own_error(message, _DIALECT, ERRORS))
    message = own_message(message, _DIALECT)
    choice, more, facts = _facts(message)
    *before, last = write_messages(message.parts)
    more |= {"audio": merged(last.get("audio"), more["audio"])} if "audio" in more else {}
    written = with_returned(last, more, mark=True)
    usage = {} if message.usage is None else {"usage": words.USAGE.write(message.usage)}
    answer = {"messages": [*before, written]} if before else {"message": written}
    choice |= {"index": 0, **answer, "finish_reason": _finish_reason(message)}
    return {**_head(message, "chat.completion"), "choices": [choice], **usage, **facts}


def _head(message: msg.AssistantMessage, kind: str) -> dict[str, Any]:
    ident = string(message.state, "id") if message.origin.dialect == _DIALECT else f"chatcmpl-{message.id}"
    return {"id": ident or "", "object": kind, "created": 0, "model": message.origin.served_model or ""}


def _facts(message: msg.AssistantMessage) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the facts of an answer that belong to the choice, to the message and to the chunk."""
    facts, state = thaw(message.details), thaw(message.state)
    choice, more = facts.pop("choice", {}), facts.pop("message", {})
    more |= {key: merged(more.get(key), state[key]) for key in words.RETURNED if key in state}
    for level, key in ((more, "audio"), (choice, "logprobs")):
        level |= {key: facts.pop(key)} if key in facts else {}
    return choice, more, facts
