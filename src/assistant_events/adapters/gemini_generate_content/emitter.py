"""Events to streams and documents of generateContent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assistant_events import messages as msg
from assistant_events.adapters import google_rpc
from assistant_events.adapters.emitter import EmitterBase, called_only, finish_word, is_lost, is_uncalled, own_message
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.gemini_generate_content import vocabulary as words
from assistant_events.adapters.gemini_generate_content.decoder import GeminiGenerateContentDecoder
from assistant_events.adapters.gemini_generate_content.parts import part_kind, wire_parts, write_part
from assistant_events.adapters.json_fields import string
from assistant_events.adapters.json_pieces import argument_of, pieces_of
from assistant_events.values import thaw

_DIALECT = GeminiGenerateContentDecoder.dialect

_OF_CHUNK = ("promptFeedback", "modelStatus")
"""Details of an answer that are beside its candidates; others are in the candidate."""


class GeminiGenerateContentEmitter(EmitterBase):
    """Writes one answer as a stream."""

    decoder = GeminiGenerateContentDecoder
    joins_hops = True

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Remember what every chunk repeats."""
        self._head = _head(message)

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the last chunk, and the error of an answer that failed; without a reason when the stream was cut."""
        ending = _ending(message)
        if message.error is None and "candidates" in ending:  # chats of `@google/genai` forget one without content
            content = {"parts": [{"text": ""}], "role": "model"}
            ending["candidates"] = [{"content": content, **candidate} for candidate in ending["candidates"]]
        self.write({**ending, **_head(message)})
        if message.error is not None and not is_lost(message.error) and not _is_candidates(message):
            self.write(google_rpc.error_document(message.error))

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the chunks of a part: a text is as many as it has pieces."""
        written = {} if part_kind(part) is None else write_part("part", part)
        cut = part if isinstance(part, msg.ToolPart) and part.input_status is msg.PartStatus.INCOMPLETE else None
        if cut is not None and "functionCall" in written:
            self._write_cut(written, pieces_of(cut.raw_input) or ())
        elif written and not is_uncalled(part):  # a client would run it with an empty input
            *pieces, last = self.pieces(written.get("text", "")) or [""]
            for piece in pieces:
                self._part({key: value for key, value in written.items() if key == "thought"} | {"text": piece})
            self._part({**written, "text": last} if "text" in written else written)

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write the result of a call."""
        self._part(write_part("result", call))

    def _write_cut(self, written: Item, pieces: Iterable[tuple[str, Any, bool]]) -> None:
        """Write a call whose arguments were cut, in pieces; more of the last one is announced and does not come."""
        call = {key: value for key, value in written.get("functionCall", {}).items() if key != "args"}
        self._part({**written, "functionCall": {**call, "willContinue": True}})
        for path, value, will_continue in pieces:
            argument = {**argument_of(path, value), "willContinue": will_continue}
            self._part({"functionCall": {"partialArgs": [argument], "willContinue": True}})

    def _part(self, part: Item) -> None:
        self.write({"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}], **self._head})


def emit_resource(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return an answer as one JSON document, or the error of one that failed."""
    if message.error is not None and not _is_candidates(message):
        return google_rpc.error_document(message.error)
    message = own_message(message, _DIALECT)
    ending, parts = _ending(message), wire_parts(called_only(message))
    if parts:
        [candidate] = ending.get("candidates") or [{"index": 0}]
        ending["candidates"] = [{"content": {"parts": parts, "role": "model"}, **candidate}]
    return {**ending, **_head(message)}


def _head(message: msg.AssistantMessage) -> Item:
    state = {key: string(message.state, key) for key in words.OF_RESPONSE}
    return {key: each for key, each in {"modelVersion": message.origin.served_model, **state}.items() if each}


def _ending(message: msg.AssistantMessage) -> Item:
    """Return what the last chunk has beside content: reason, details and counts."""
    details: Item = thaw(message.details)
    chunk = {key: details.pop(key) for key in _OF_CHUNK if key in details}
    reason = finish_word(message, _DIALECT, words.FINISH_REASONS, "STOP", wordless=())
    if message.error is not None:
        reason = message.error.code if _is_candidates(message) else None
    if reason is not None and reason != words.block_reason_of(chunk):
        details["finishReason"] = reason
    if token := string(message.state, "continuationToken"):
        details["continuationToken"] = token
    candidates = {"candidates": [{**details, "index": 0}]} if details or not chunk else {}
    usage = {} if message.usage is None else words.USAGE.write(message.usage)
    usage.pop("partial", None)
    return {**candidates, **chunk, **({"usageMetadata": usage} if usage else {})}


def _is_candidates(message: msg.AssistantMessage) -> bool:
    """Return whether the error of an answer is the finish reason of its candidate."""
    error, own = message.error, message.origin.dialect == _DIALECT
    return own and error is not None and words.failure(error.code, string(message.details, "finishMessage")) == error
