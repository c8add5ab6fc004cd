"""Events to streams and documents of the Responses API."""

from __future__ import annotations

from itertools import count
from typing import Any

from assistant_events import messages as msg
from assistant_events.adapters.emitter import is_lost, own_error, own_message
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.item_emitter import ItemEmitter, emptied, with_ids
from assistant_events.adapters.json_fields import Fields, array, string
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.adapters.openai_responses import output_items
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.openai_responses.decoder import OpenAIResponsesDecoder
from assistant_events.adapters.tables import word_of
from assistant_events.values import ErrorKind, FinishReason, Usage, thaw


class OpenAIResponsesEmitter(ItemEmitter):
    """Writes one answer as a stream. A message or a reasoning is written when its last text has come."""

    decoder = OpenAIResponsesDecoder
    name_field = "type"
    write_item = staticmethod(output_items.write_item)
    text_state = frozenset({"i", "type", "phase", "annotations", "part", "content_index", "summary_index"})

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write `response.created` and `response.in_progress`."""
        super().on_start(message)
        self._numbers = count()
        for verb in ("created", "in_progress"):
            self._frame(verb, response={**_response(message, "in_progress"), "output": []})

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the last frame with the whole response; when the stream was cut, one that ends nothing."""
        super().on_end(message)
        status = "in_progress" if is_lost(message.error) else _status(message)
        output = {} if status == "in_progress" else {"output": self.output()}
        self._frame(status, response={**_response(message, status), **output})

    def has_later_result(self, item: Item, call: msg.ToolPart) -> bool:
        """Return whether the result of a call, which the provider runs, will be in its item."""
        return call.provider_executed and item["type"] not in words.TOOLS.answered_later

    def item_ended(self, index: int, item: Item) -> None:
        """Write the end of an item."""
        self._frame("output_item.done", output_index=index, item=item)

    def item_started(self, index: int, item: Item, *, is_cut: bool) -> None:
        """Write the start of an item, and its texts or input; what was cut does not end."""
        kind, at = string(item, "type") or "", {"item_id": item.get("id", ""), "output_index": index}
        field, arrays = words.TOOLS.inputs.get(kind, ""), words.TEXTS.arrays if kind in words.TEXTS.roles else ()
        started = {"status": "in_progress"} if "status" in item and not (is_cut or kind in words.TOOLS.outputs) else {}
        start = {**emptied(item, field, *arrays), **started}
        self._frame("output_item.added", output_index=index, item=start)
        if field in item:  # xAI has the input of a call of free text elsewhere
            self._write_text(f"{kind}_{field}", at, item, field, is_cut=is_cut)
        texts = words.TEXTS.of(item)
        for number, (where, place, part) in enumerate(texts, 1):
            self._write_part({**at, f"{where}_index": place}, part, is_cut=is_cut and number == len(texts))

    def _write_part(self, at: Item, part: Fields, *, is_cut: bool) -> None:
        text = words.TEXTS[part["type"]]
        name = "reasoning_summary_part" if text.where == "summary" else "content_part"
        self._frame(f"{name}.added", **at, part=emptied(part, text.field, "annotations", "logprobs"))
        self._write_text(text.event, at, part, text.field, is_cut=is_cut)
        if not is_cut:
            self._frame(f"{name}.done", **at, part=part)

    def _write_text(self, event: str, at: Item, fields: Fields, field: str, *, is_cut: bool) -> None:
        """Write the events of a text or an input: that of *fields* under *field*."""
        more: Item = {"logprobs": []} if event == "output_text" else {}
        for piece in self.pieces(fields[field]):
            self._frame(f"{event}.delta", **at, delta=piece, **more)
        for number, annotation in enumerate(array(fields, "annotations")):
            self._frame("output_text.annotation.added", **at, annotation_index=number, annotation=annotation)
        if not is_cut:
            whole = {key: fields[key] for key in (field, "logprobs") if key in fields}
            self._frame(f"{event}.done", **at, **{**more, **whole})

    def _frame(self, name: str, **fields: Any) -> None:
        if not name.endswith(self.left_out):
            self.write({"type": f"response.{name}", "sequence_number": next(self._numbers), **fields})


def emit_resource(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return an answer as one JSON document, as `GET` and a `POST` without `stream` do."""
    message = own_message(message, OpenAIResponsesDecoder.dialect)
    is_own, output_of = message.origin.dialect == OpenAIResponsesDecoder.dialect, output_items.output_items
    output = output_of(message) if is_own else with_ids(output_of(message), message.id)
    return {**_response(message, _status(message)), "output": output}


def _response(message: msg.AssistantMessage, status: str) -> dict[str, Any]:
    """Return a response without its output."""
    is_own, run = message.origin.dialect == OpenAIResponsesDecoder.dialect, message.run
    response: Item = {"id": "", "object": "response", "created_at": 0, "model": message.origin.served_model or ""}
    response |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}  # clients expect them
    response |= {"error": None, "incomplete_details": None, "usage": None, "status": status, **thaw(message.details)}
    response |= {} if is_own else {"id": f"resp_{message.id}", "store": False}
    if run is not None and is_own:
        response |= {"id": run.id, **({"background": True} if run.resumable else {})}
        response |= {} if "response_id" in message.state else {"store": False}
    if message.usage is not None:
        zeros = Usage(input_tokens=0, output_tokens=0)  # clients refuse a usage without a side, or without a total
        response["usage"] = words.USAGE.write(message.usage if is_own else message.usage + zeros)
    if is_own and message.status is msg.MessageStatus.COMPLETED and message.raw_finish_reason is None:
        del response["status"]
    if message.error is not None and status == "failed":
        response["error"] = ERRORS.write(own_error(message, OpenAIResponsesDecoder.dialect, ERRORS))
    if status == "incomplete" and not is_own and (reason := word_of(words.INCOMPLETE, message.finish_reason, None)):
        response["incomplete_details"] = {"reason": reason}
    return response


def _status(message: msg.AssistantMessage) -> str:
    if message.status is msg.MessageStatus.RUNNING:
        return "in_progress"
    if message.error is not None:
        return "cancelled" if message.error.kind == ErrorKind.CANCELLED else "failed"
    if message.raw_finish_reason in words.ENDS and message.origin.dialect == OpenAIResponsesDecoder.dialect:
        return message.raw_finish_reason
    ended = (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.PAUSE, None)
    return "completed" if message.finish_reason in ended else "incomplete"
