"""Events to streams and documents of the Responses API."""

from __future__ import annotations

from typing import Any, Final

from assistant_events import messages as msg
from assistant_events.adapters.emitter import EmitterBase, is_lost, own_message
from assistant_events.adapters.encoder import Item
from assistant_events.adapters.items import BlockKind, block_kind, number_of
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.adapters.openai_responses import output_items
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.openai_responses.decoder import OpenAIResponsesDecoder
from assistant_events.adapters.tables import word_of
from assistant_events.values import ErrorKind, FinishReason, State, thaw

_DIALECT = OpenAIResponsesDecoder.dialect

_EMPTY: Final[dict[str, Any]] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}
"""Fields that every response has for official clients."""

_OF_TEXT: Final = {"i", "type", "annotations", "part", "content_index", "summary_index"}
"""Keys of state of a text; others are of its item, and in its last text."""


class OpenAIResponsesEmitter(EmitterBase):
    """Writes one answer as a stream."""

    decoder = OpenAIResponsesDecoder

    name_field = "type"

    # -- the response

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write `response.created` and `response.in_progress`."""
        self._sequence_number = 0
        self._parts: dict[tuple[int, BlockKind], list[Any]] = {}  # Any: the kind determines the class
        """The parts of each item, by its index and kind."""

        self._at: dict[tuple[int, BlockKind], dict[str, Any]] = {}
        """The fields that every event about an item has."""

        self._ended: dict[tuple[int, BlockKind], Item | None] = {}
        for verb in ("created", "in_progress"):
            self._frame(verb, response={**_head(message), "status": "in_progress", "output": [], "usage": None})

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the last frame with the whole response; when the stream was cut, one that ends nothing."""
        if is_lost(message.error):
            if message.details:
                self._frame("in_progress", response={**_head(message), **_ending(message, "in_progress")})
            return
        if message.error is None:
            for key in self._parts.keys() - self._ended.keys():
                if key[1] in ("text", "reasoning"):
                    self._end_item(key)
        status = _status(message)
        items = [self._ended[key] for key in sorted(self._ended)]
        self._frame(status, response={**_head(message), **_ending(message, status), "output": items})

    # -- items

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the item of a part, or continue the one that it belongs to."""
        key = self._add(part.state, block_kind(part), part)
        if key is None:
            return
        is_whole = True
        if isinstance(part, (msg.TextPart, msg.ReasoningPart)):
            self._write_text(key, part)
            is_last = "i" not in part.state or bool(part.state.keys() - _OF_TEXT)
            is_whole = is_last and part.status is not msg.PartStatus.INCOMPLETE
        elif isinstance(part, msg.ToolPart):
            self._write_input(key, part)
            is_cut = part.input_status is msg.PartStatus.INCOMPLETE and part.state.get("status") != "incomplete"
            is_open = part.provider_executed and output_items.kind_of_call(part) not in words.WITH_OUTPUT_ITEM
            is_whole = not is_cut and not is_open
        if is_whole:
            self._end_item(key)

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write the item of a result, or the end of that of the call."""
        key = self._add(call.result_state, "result", call)
        if key is not None:
            self._end_item(key)
            return
        for key, [first, *_] in self._parts.items():
            if key[1] == "call" and first.call_id == call.call_id and key not in self._ended:
                self._parts[key] = [call]
                self._end_item(key)

    def _add(self, state: State, kind: BlockKind, part: Any) -> tuple[int, BlockKind] | None:
        """Add a part or a result to its item, which begins unless it has, and return its key; `None` without one."""
        # Any: see `_parts`.
        index = number_of(state, "i")
        if index is not None and kind in ("text", "reasoning") and (index, kind) in self._parts:
            self._parts[index, kind].append(part)
            return index, kind
        if index is None or (index, kind) in self._parts:  # two calls at one place come of a damaged stream
            index = max([other for other, _ in self._parts], default=-1) + 1
        start = output_items.write_item(kind, [part])
        if start is None:
            return None
        key = index, kind
        self._parts[key] = [part]
        self._at[key] = {"item_id": start.get("id", ""), "output_index": index}
        status = getattr(part, "input_status", None) or getattr(part, "status", None)
        if "status" in start and status is not msg.PartStatus.INCOMPLETE:
            start["status"] = "in_progress"
        if kind in ("text", "reasoning"):
            start |= {where: [] for where in words.ARRAYS if where in start}
        elif kind == "call" and (tool := words.TOOLS[start["type"]]).form != "fields":
            start[tool.input[0]] = ""
        self._frame("output_item.added", output_index=key[0], item=start)
        return key

    def _end_item(self, key: tuple[int, BlockKind]) -> None:
        index, kind = key
        self._ended[key] = item = output_items.write_item(kind, self._parts[key])
        self._frame("output_item.done", output_index=index, item=item)

    def _write_text(self, key: tuple[int, BlockKind], part: output_items.TextPart) -> None:
        place = output_items.place_of(part)
        if place is None:
            return
        same = [each for each in self._parts[key] if output_items.place_of(each) == place]
        [written], [whole] = [output_items.write_texts(parts).values() for parts in ([part], same)]
        about, (where, index) = words.TEXTS[written["type"]], place
        at = {**self._at[key], f"{where}_index": index}
        name = "reasoning_summary_part" if where == "summary" else "content_part"
        if len(same) == 1:
            empty: dict[str, Any] = {key: [] for key in ("annotations", "logprobs") if key in written}
            self._frame(f"{name}.added", **at, part={**written, **empty, about.field: ""})
        logprobs: dict[str, Any] = {"logprobs": []} if written["type"] == "output_text" else {}
        for piece in self.pieces(part.text):
            self._frame(f"{about.event}.delta", **at, delta=piece, **logprobs)
        for number, annotation in enumerate(written.get("annotations", ())):
            self._frame("output_text.annotation.added", **at, annotation_index=number, annotation=annotation)
        if part.status is not msg.PartStatus.INCOMPLETE:
            fields = {key: whole[key] for key in (about.field, "logprobs") if key in whole}
            self._frame(f"{about.event}.done", **at, **{**logprobs, **fields})
            self._frame(f"{name}.done", **at, part=whole)

    def _write_input(self, key: tuple[int, BlockKind], call: msg.ToolPart) -> None:
        kind = output_items.kind_of_call(call)
        field = words.TOOLS[kind].input[0]
        event = f"{kind}_{field}"
        if event in words.TEXT_EVENTS:
            at, text = self._at[key], (output_items.write_item("call", [call]) or {})[field]
            for piece in self.pieces(text):
                self._frame(f"{event}.delta", **at, delta=piece)
            if call.input_status is not msg.PartStatus.INCOMPLETE:
                self._frame(f"{event}.done", **at, **{field: text})

    def _frame(self, name: str, **fields: Any) -> None:
        self.write({"type": f"response.{name}", "sequence_number": self._sequence_number, **fields})
        self._sequence_number += 1


def emit_resource(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return an answer as one JSON document, as `GET` and a `POST` without `stream` do."""
    message = own_message(message, _DIALECT)
    status = _status(message) if message.status is not msg.MessageStatus.RUNNING else "in_progress"
    return {**_head(message), **_ending(message, status), "output": output_items.output_items(message)}


def _head(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return the fields of a response that do not change."""
    head = {"id": "", "object": "response", "created_at": 0, "model": message.origin.served_model or ""}
    head |= {"error": None, "incomplete_details": None, **_EMPTY}
    run = message.run
    if run is not None and message.origin.dialect == _DIALECT:
        head |= {"id": run.id, **({"background": True} if run.resumable else {})}
        head |= {} if "response_id" in message.state else {"store": False}
    return head


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
