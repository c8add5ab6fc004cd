"""Events to streams and documents of the Responses API."""

from __future__ import annotations

from itertools import count
from typing import Any, Final

from assistant_events import messages as msg
from assistant_events.adapters.emitter import EmitterBase, is_lost, own_message
from assistant_events.adapters.encoder import Item
from assistant_events.adapters.items import BlockKind, block_kind, number_of
from assistant_events.adapters.json_fields import Fields, string
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.adapters.openai_responses import output_items
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.openai_responses.decoder import OpenAIResponsesDecoder
from assistant_events.adapters.tables import word_of
from assistant_events.values import ErrorKind, FinishReason, thaw

_DIALECT = OpenAIResponsesDecoder.dialect

_EMPTY: Final[dict[str, Any]] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}
"""Fields that every response has for official clients."""

_OF_TEXT: Final = {"i", "type", "annotations", "part", "content_index", "summary_index"}
"""Keys of state of a text; others are of its item, and in its last text."""


class OpenAIResponsesEmitter(EmitterBase):
    """Writes one answer as a stream. A message or a reasoning is written when its last text has come."""

    decoder = OpenAIResponsesDecoder

    name_field = "type"

    # -- the response

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write `response.created` and `response.in_progress`."""
        self._numbers = count()
        self._waiting: dict[tuple[int | None, BlockKind], list[Any]] = {}  # Any: the kind determines the class
        """The parts of the items whose last part has not come, by the numbers of the items."""

        self._indexes_of_calls: dict[str, int] = {}
        self._output: dict[int, Item | None] = {}
        """The items by their indexes; `None` until they have ended."""

        for verb in ("created", "in_progress"):
            self._frame(verb, response={**_response(message, "in_progress"), "output": []})

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the last frame with the whole response; when the stream was cut, one that ends nothing."""
        self._write_waiting(is_whole=message.error is None)
        status = "in_progress" if is_lost(message.error) else _status(message)
        response = _response(message, status)
        if status != "in_progress":
            response["output"] = [item for _, item in sorted(self._output.items()) if item is not None]
        if status != "in_progress" or message.details:
            self._frame(status, response=response)

    def on_close(self) -> tuple[()]:
        """Write the texts that wait, when the events stop before the end of the answer."""
        if self._answer is not None:
            self._write_waiting(is_whole=False)
        return ()

    # -- items

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the item of a part; a text waits for the last of its item."""
        kind, number = block_kind(part), number_of(part.state, "i")
        parts = self._waiting.setdefault((number, kind), [])
        parts.append(part)
        is_text = isinstance(part, (msg.TextPart, msg.ReasoningPart))
        if not is_text or number is None or part.state.keys() - _OF_TEXT:
            del self._waiting[number, kind]
            self._write_item(kind, parts)

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write the item of a result, or the end of that of the call."""
        if not self._write_item("result", [call]):
            self._end_item(self._indexes_of_calls[call.call_id], output_items.write_item("call", [call]))

    def _write_waiting(self, *, is_whole: bool) -> None:
        for (_, kind), parts in self._waiting.items():
            self._write_item(kind, parts, is_whole=is_whole)
        self._waiting.clear()

    def _write_item(self, kind: BlockKind, parts: list[Any], *, is_whole: bool = True) -> bool:
        """Write an item, and its end if it *is_whole*; return whether the parts have one."""
        # Any: see `_waiting`.
        item, last = output_items.write_item(kind, parts), parts[-1]
        if item is None:
            return False
        index = number_of(last.result_state if kind == "result" else last.state, "i")
        if index is None or index in self._output:  # two at one place come of a damaged stream
            index = max(self._output, default=-1) + 1
        self._output[index] = None
        self._indexes_of_calls |= {last.call_id: index} if kind == "call" else {}
        is_cut = getattr(last, "input_status", getattr(last, "status", None)) is msg.PartStatus.INCOMPLETE
        self._write_content(index, item, is_cut=is_cut)
        has_result = kind == "call" and last.provider_executed and item["type"] not in words.WITH_OUTPUT_ITEM
        if is_whole and not has_result and (not is_cut or item.get("status") == "incomplete"):
            self._end_item(index, item)
        return True

    def _end_item(self, index: int, item: Item | None) -> None:
        self._output[index] = item
        self._frame("output_item.done", output_index=index, item=item)

    def _write_content(self, index: int, item: Item, *, is_cut: bool) -> None:
        """Write the start of an item, and its texts or input; what was cut does not end."""
        kind, at = string(item, "type") or "", {"item_id": item.get("id", ""), "output_index": index}
        field, arrays = words.INPUTS.get(kind, ""), words.ARRAYS if kind in words.WITH_TEXTS else ()
        started = {"status": "in_progress"} if "status" in item and not is_cut else {}
        start = {**_emptied(item, field, *arrays), **started}
        self._frame("output_item.added", output_index=index, item=start)
        if field:
            self._write_text(f"{kind}_{field}", at, item, field, is_cut=is_cut)
        texts = [(where, *each) for where in arrays for each in enumerate(words.texts_of(item, where))]
        for number, (where, place, part) in enumerate(texts, 1):
            self._write_part({**at, f"{where}_index": place}, part, is_cut=is_cut and number == len(texts))

    def _write_part(self, at: Item, part: Fields, *, is_cut: bool) -> None:
        text = words.TEXTS[part["type"]]
        name = "reasoning_summary_part" if text.where == "summary" else "content_part"
        self._frame(f"{name}.added", **at, part=_emptied(part, text.field, "annotations", "logprobs"))
        self._write_text(text.event, at, part, text.field, is_cut=is_cut)
        if not is_cut:
            self._frame(f"{name}.done", **at, part=part)

    def _write_text(self, event: str, at: Item, fields: Fields, field: str, *, is_cut: bool) -> None:
        """Write the events of a text or an input: that of *fields* under *field*."""
        more: Item = {"logprobs": []} if event == "output_text" else {}
        for piece in self.pieces(fields[field]):
            self._frame(f"{event}.delta", **at, delta=piece, **more)
        for number, annotation in enumerate(fields.get("annotations", ())):
            self._frame("output_text.annotation.added", **at, annotation_index=number, annotation=annotation)
        if not is_cut:
            whole = {key: fields[key] for key in (field, "logprobs") if key in fields}
            self._frame(f"{event}.done", **at, **{**more, **whole})

    def _frame(self, name: str, **fields: Any) -> None:
        self.write({"type": f"response.{name}", "sequence_number": next(self._numbers), **fields})


def _emptied(fields: Fields, *keys: str) -> Item:
    return {key: type(value)() if key in keys else value for key, value in fields.items()}


def emit_resource(message: msg.AssistantMessage) -> dict[str, Any]:
    """Return an answer as one JSON document, as `GET` and a `POST` without `stream` do."""
    message = own_message(message, _DIALECT)
    return {**_response(message, _status(message)), "output": output_items.output_items(message)}


def _response(message: msg.AssistantMessage, status: str) -> dict[str, Any]:
    """Return a response without its output."""
    is_own, run = message.origin.dialect == _DIALECT, message.run
    response = {"id": "", "object": "response", "created_at": 0, "model": message.origin.served_model or "", **_EMPTY}
    response |= {"error": None, "incomplete_details": None, "usage": None, "status": status, **thaw(message.details)}
    if run is not None and is_own:
        response |= {"id": run.id, **({"background": True} if run.resumable else {})}
        response |= {} if "response_id" in message.state else {"store": False}
    if message.usage is not None:
        response["usage"] = words.USAGE.write(message.usage)
    if is_own and message.status is msg.MessageStatus.COMPLETED and message.raw_finish_reason is None:
        del response["status"]
    if message.error is not None and status == "failed":
        response["error"] = ERRORS.write(message.error)
    if status == "incomplete" and not is_own:
        response["incomplete_details"] = {"reason": word_of(words.INCOMPLETE, message.finish_reason, None)}
    return response


def _status(message: msg.AssistantMessage) -> str:
    if message.status is msg.MessageStatus.RUNNING:
        return "in_progress"
    if message.error is not None:
        return "cancelled" if message.error.kind == ErrorKind.CANCELLED else "failed"
    if message.raw_finish_reason in words.ENDS and message.origin.dialect == _DIALECT:
        return message.raw_finish_reason
    ended = (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.PAUSE, None)
    return "completed" if message.finish_reason in ended else "incomplete"
