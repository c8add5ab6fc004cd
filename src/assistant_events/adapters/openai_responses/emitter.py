"""Events to streams and documents of the Responses API."""

from __future__ import annotations

from typing import Any, Final

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

_OF_TEXT: Final = {"i", "type", "annotations", "part", "content_index", "summary_index"}
"""Keys of state of a text; others are of its item, and in its last text."""


class OpenAIResponsesEmitter(EmitterBase):
    """Writes one answer as a stream. A message or a reasoning is written when its last text has come."""

    decoder = OpenAIResponsesDecoder

    name_field = "type"

    # -- the response

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write `response.created` and `response.in_progress`."""
        self._sequence_number = 0
        self._texts: dict[tuple[int | None, BlockKind], list[Any]] = {}  # Any: the kind determines the class
        """The parts of the items that wait for their last one, by the numbers of the items."""

        self._indexes_of_calls: dict[str, int] = {}
        self._output: dict[int, Item | None] = {}
        """The items by their indexes; `None` until they have ended."""

        for verb in ("created", "in_progress"):
            self._frame(verb, response={**_response(message, "in_progress"), "output": []})

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the last frame with the whole response; when the stream was cut, one that ends nothing."""
        self._write_waiting(is_whole=message.error is None)
        if not is_lost(message.error):
            status = _status(message)
            items = [item for _, item in sorted(self._output.items()) if item is not None]
            self._frame(status, response={**_response(message, status), "output": items})
        elif message.details:
            self._frame("in_progress", response=_response(message, "in_progress"))

    def on_close(self) -> tuple[()]:
        """Write the texts that wait, when the events stop before the end of the answer."""
        if self._answer is not None:
            self._write_waiting(is_whole=False)
        return ()

    # -- items

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the item of a part; a text waits for the last of its item."""
        kind = block_kind(part)
        if isinstance(part, (msg.TextPart, msg.ReasoningPart)):
            key = number_of(part.state, "i"), kind
            self._texts.setdefault(key, []).append(part)
            if key[0] is None or part.state.keys() - _OF_TEXT:
                is_whole = part.status is not msg.PartStatus.INCOMPLETE
                self._write_item(part.state, kind, self._texts.pop(key), is_whole=is_whole)
        elif isinstance(part, msg.ToolPart):
            is_cut = part.input_status is msg.PartStatus.INCOMPLETE and part.state.get("status") != "incomplete"
            is_open = part.provider_executed and output_items.kind_of_call(part) not in words.WITH_OUTPUT_ITEM
            index = self._write_item(part.state, kind, [part], is_whole=not is_cut and not is_open)
            self._indexes_of_calls |= {} if index is None else {part.call_id: index}
        else:
            self._write_item(part.state, kind, [part], is_whole=True)

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write the item of a result, or the end of that of the call."""
        index = self._indexes_of_calls.get(call.call_id)
        if self._write_item(call.result_state, "result", [call], is_whole=True) is None and index is not None:
            self._end_item(index, output_items.write_item("call", [call]))

    def _write_waiting(self, *, is_whole: bool) -> None:
        for (_, kind), parts in self._texts.items():
            self._write_item(parts[0].state, kind, parts, is_whole=is_whole)
        self._texts.clear()

    def _write_item(self, state: State, kind: BlockKind, parts: list[Any], *, is_whole: bool) -> int | None:
        """Write an item, and its end if it *is_whole*; return its index, `None` when the parts have no item."""
        # Any: see `_texts`.
        item = output_items.write_item(kind, parts)
        if item is None:
            return None
        index = number_of(state, "i")
        if index is None or index in self._output:  # two at one place come of a damaged stream
            index = max(self._output, default=-1) + 1
        self._output[index] = None
        status = getattr(parts[-1], "input_status", getattr(parts[-1], "status", None))
        self._write_content(index, item, is_cut=status is msg.PartStatus.INCOMPLETE)
        if is_whole:
            self._end_item(index, item)
        return index

    def _end_item(self, index: int, item: Item | None) -> None:
        self._output[index] = item
        self._frame("output_item.done", output_index=index, item=item)

    def _write_content(self, index: int, item: Item, *, is_cut: bool) -> None:
        """Write the start of an item, and its texts or input; what was cut does not end."""
        kind = string(item, "type") or ""
        arrays = words.ARRAYS if kind in words.WITH_TEXTS else ()
        field, at = words.INPUTS.get(kind, ""), {"item_id": item.get("id", ""), "output_index": index}
        start: Item = {**item, **{key: "" if key == field else [] for key in (field, *arrays) if key in item}}
        if "status" in item and not is_cut:
            start["status"] = "in_progress"
        self._frame("output_item.added", output_index=index, item=start)
        places = [(where, *each) for where in arrays for each in enumerate(item.get(where, ()))]
        texts = [each for each in places if words.is_text(kind, each[0], each[2])]
        for number, (where, place, part) in enumerate(texts, 1):
            self._write_part({**at, f"{where}_index": place}, part, is_cut=is_cut and number == len(texts))
        if field:
            self._write_text(f"{kind}_{field}", at, item, field, is_cut=is_cut)

    def _write_part(self, at: Item, part: Item, *, is_cut: bool) -> None:
        about, field = words.TEXTS[part["type"]], words.FIELDS[part["type"]]
        name = "reasoning_summary_part" if about.where == "summary" else "content_part"
        empty: Item = {key: [] for key in ("annotations", "logprobs") if key in part}
        self._frame(f"{name}.added", **at, part={**part, **empty, field: ""})
        self._write_text(about.event, at, part, field, is_cut=is_cut)
        if not is_cut:
            self._frame(f"{name}.done", **at, part=part)

    def _write_text(self, event: str, at: Item, fields: Item, field: str, *, is_cut: bool) -> None:
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
        self.write({"type": f"response.{name}", "sequence_number": self._sequence_number, **fields})
        self._sequence_number += 1


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
