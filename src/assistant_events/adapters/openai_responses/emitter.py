"""Events to streams and documents of the Responses API."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final

import attrs

from assistant_events import messages as msg
from assistant_events.adapters.emitter import EmitterBase, is_lost, own_message
from assistant_events.adapters.encoder import Item
from assistant_events.adapters.items import BlockKind, block_kind, number_of
from assistant_events.adapters.json_fields import string
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.adapters.openai_responses import output_items
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.openai_responses.decoder import OpenAIResponsesDecoder
from assistant_events.adapters.tables import word_of
from assistant_events.values import ErrorKind, FinishReason, State, thaw

_DIALECT = OpenAIResponsesDecoder.dialect

_EMPTY: Final[dict[str, Any]] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}
"""Fields that every response has for official clients."""


class OpenAIResponsesEmitter(EmitterBase):
    """Writes one answer as a stream."""

    decoder = OpenAIResponsesDecoder

    name_field = "type"

    # -- the response

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write `response.created` and `response.in_progress`."""
        self._sequence_number = 0
        self._items: dict[object, _Written] = {}
        for verb in ("created", "in_progress"):
            self._frame(verb, response={**_head(message), "status": "in_progress", "output": [], "usage": None})

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the last frame with the whole response; when the stream was cut, one that ends nothing."""
        if is_lost(message.error):
            if message.details:
                self._frame("in_progress", response={**_head(message), **_ending(message, "in_progress")})
            return
        if message.error is None:
            for item in self._items.values():
                if item.kind in ("text", "reasoning") and item.whole is None:
                    self._end_item(item)
        items = [item.whole for item in sorted(self._items.values(), key=attrgetter("index")) if item.whole is not None]
        status = _status(message)
        self._frame(status, response={**_head(message), **_ending(message, status), "output": items})

    # -- items

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the item of a part, or continue the one that it belongs to."""
        item = self._item(part.state, block_kind(part), part)
        if item is None:
            return
        if isinstance(part, (msg.TextPart, msg.ReasoningPart)):
            self._write_text(item, part)
            is_last = bool(part.state.keys() - {*words.RESERVED, "annotations", "type"}) or "i" not in part.state
            if is_last and part.status is not msg.PartStatus.INCOMPLETE:
                self._end_item(item)
        elif isinstance(part, msg.ToolPart):
            self._write_input(item, part)
            is_cut = part.input_status is msg.PartStatus.INCOMPLETE and part.state.get("status") != "incomplete"
            is_open = part.provider_executed and output_items.kind_of_call(part) not in words.WITH_OUTPUT_ITEM
            if not is_cut and not is_open:
                self._end_item(item)
        else:
            self._end_item(item)

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write the item of a result, or the end of that of the call."""
        result = self._item(call.result_state, "result", call)
        if result is not None:
            self._end_item(result)
            return
        for item in self._items.values():
            if item.kind == "call" and item.parts[0].call_id == call.call_id and item.whole is None:
                item.parts = [call]
                self._end_item(item)

    def _item(self, state: State, kind: BlockKind, part: Any) -> _Written | None:
        """Return the item of a part or a result; `None` when it has none."""
        # Any: see `_Written`.
        index = number_of(state, "i")
        item = self._items.get((kind, index))
        if item is not None and kind in ("text", "reasoning"):
            item.parts.append(part)
            return item
        if index is None or item is not None:  # an item of its own; two calls at one place come of a damaged stream
            index = max([each.index for each in self._items.values()], default=-1) + 1
        start = output_items.write_item(kind, [part])
        if start is None:
            return None
        item = self._items[kind, index] = _Written(kind, index, [part])
        status = getattr(part, "input_status", None) or getattr(part, "status", None)
        if "status" in start and status is not msg.PartStatus.INCOMPLETE:
            start["status"] = "in_progress"
        if kind in ("text", "reasoning"):
            start |= {where: [] for where in words.INDEXES if where in start}
        elif kind == "call":
            tool = words.TOOLS[start["type"]]
            start |= {tool.input[0]: ""} if tool.form != "fields" else {}
        item.id = string(start, "id") or ""
        self._frame("output_item.added", output_index=item.index, item=start)
        return item

    def _end_item(self, item: _Written) -> None:
        item.whole = output_items.write_item(item.kind, item.parts)
        self._frame("output_item.done", output_index=item.index, item=item.whole)

    def _write_text(self, item: _Written, part: msg.TextPart | msg.ReasoningPart) -> None:
        if not output_items.has_place(part):
            return
        written = output_items.write_part(part)
        _, where, field, event = words.TEXTS[written["type"]]
        text, index_key = written[field], words.INDEXES[where]
        index = part.state.get(index_key, item.next_index(where))
        at: dict[str, Any] = {"item_id": item.id, "output_index": item.index, index_key: index}
        name = "reasoning_summary_part" if where == "summary" else "content_part"
        before = item.texts.get((where, index))
        if before is None:
            empty = {**written, field: ""}
            empty |= {key: [] for key in ("annotations", "logprobs") if key in empty}
            self._frame(f"{name}.added", **at, part=empty)
        logprobs: dict[str, Any] = {"logprobs": []} if event == "output_text" else {}
        for piece in self.pieces(text):
            self._frame(f"{event}.delta", **at, delta=piece, **logprobs)
        for number, annotation in enumerate(written.get("annotations", ())):
            self._frame("output_text.annotation.added", **at, annotation_index=number, annotation=annotation)
        item.texts[where, index] = whole = f"{before or ''}{text}"
        if part.status is not msg.PartStatus.INCOMPLETE:
            logprobs = {"logprobs": written.get("logprobs", [])} if event == "output_text" else {}
            self._frame(f"{event}.done", **at, **{field: whole}, **logprobs)
            self._frame(f"{name}.done", **at, part={**written, field: whole})

    def _write_input(self, item: _Written, call: msg.ToolPart) -> None:
        kind = output_items.kind_of_call(call)
        field = words.TOOLS[kind].input[0]
        event = f"{kind}_{field}"
        if event not in words.INPUT_EVENTS:
            return
        text = (output_items.write_item("call", [call]) or {})[field]
        at: dict[str, Any] = {"item_id": item.id, "output_index": item.index}
        for piece in self.pieces(text):
            self._frame(f"{event}.delta", **at, delta=piece)
        if call.input_status is not msg.PartStatus.INCOMPLETE:
            self._frame(f"{event}.done", **at, **{field: text})

    def _frame(self, name: str, **fields: Any) -> None:
        self.write({"type": f"response.{name}", "sequence_number": self._sequence_number, **fields})
        self._sequence_number += 1


@attrs.define
class _Written:
    """An item of the stream."""

    # Any: the class of the parts follows from the kind; plain JSON.
    kind: BlockKind
    index: int
    parts: list[Any]
    id: str = ""
    texts: dict[tuple[str, object], str] = attrs.Factory(dict[tuple[str, object], str])
    """What was written, by array and index."""

    whole: Item | None = None
    """The item, once it has ended."""

    def next_index(self, where: str) -> int:
        """Return the index of one more text."""
        return sum(array == where for array, _ in self.texts)


def emit_resource(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return an answer as one JSON document, as `GET` and a `POST` without `stream` do."""
    message = own_message(message, _DIALECT)
    items = output_items.output_items(message)
    status = _status(message) if message.status is not msg.MessageStatus.RUNNING else "in_progress"
    return {**_head(message), **_ending(message, status), "output": items}


def _head(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return the fields of a response that do not change."""
    origin, run = message.origin, message.run
    is_own = origin.dialect == _DIALECT
    stored = {} if run is None or not is_own or "response_id" in message.state else {"store": False}
    background = {"background": True} if is_own and run is not None and run.resumable else {}
    ident = run.id if is_own and run is not None else ""
    head = {"id": ident, "object": "response", "created_at": 0, "model": origin.served_model or ""}
    return {**head, "error": None, "incomplete_details": None, **_EMPTY, **background, **stored}


def _ending(message: msg.AssistantMessage, status: str) -> dict[str, Any]:
    """Return the fields of the end of a response."""
    is_own = message.origin.dialect == _DIALECT
    usage = None if message.usage is None else words.USAGE.write(message.usage)
    ending: dict[str, Any] = {"status": status, "usage": usage, **thaw(message.details)}
    if is_own and message.error is None and message.raw_finish_reason is None:
        del ending["status"]
    if message.error is not None and status == "failed":
        ending["error"] = ERRORS.write(message.error)
    if status == "incomplete" and not is_own:
        ending["incomplete_details"] = {"reason": word_of(words.INCOMPLETE, message.finish_reason, None)}
    return ending


def _status(message: msg.AssistantMessage) -> str:
    if message.error is not None:
        return "cancelled" if message.error.kind == ErrorKind.CANCELLED else "failed"
    if message.raw_finish_reason in words.ENDS and message.origin.dialect == _DIALECT:
        return message.raw_finish_reason
    ended = (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.PAUSE, None)
    return "completed" if message.finish_reason in ended else "incomplete"
