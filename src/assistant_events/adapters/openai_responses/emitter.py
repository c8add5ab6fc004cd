"""Events to streams and documents of the Responses API."""

from __future__ import annotations

from collections import deque
from typing import Any, Final, TypeAlias

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

_Key: TypeAlias = tuple[int, BlockKind]


_EMPTY: Final[dict[str, Any]] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}
"""Fields that every response has for official clients."""

_OF_TEXT: Final = {"i", "type", "annotations", "part", "content_index", "summary_index"}
"""Keys of state of a text; others are of its item, and in its last text."""

_TEXTS: Final[frozenset[BlockKind]] = frozenset({"text", "reasoning"})


class OpenAIResponsesEmitter(EmitterBase):
    """Writes one answer as a stream. A message or a reasoning is written when its last text has come."""

    decoder = OpenAIResponsesDecoder

    name_field = "type"

    # -- the response

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write `response.created` and `response.in_progress`."""
        self._sequence_number = 0
        self._parts: dict[_Key, list[Any]] = {}  # Any: the kind determines the class
        """The parts of each item, by its index and kind."""

        self._whole: set[_Key] = set()
        self._waiting: deque[_Key] = deque()
        self._output: dict[_Key, Item | None] = {}
        for verb in ("created", "in_progress"):
            self._frame(verb, response={**_head(message), "status": "in_progress", "output": [], "usage": None})

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the last frame with the whole response; when the stream was cut, one that ends nothing."""
        if message.error is None:
            self._whole |= {key for key in self._waiting if key[1] in _TEXTS}
        self._write_items(everything=True)
        if not is_lost(message.error):
            status = _status(message)
            items = [self._output[key] for key in sorted(self._output)]
            self._frame(status, response={**_head(message), **_ending(message, status), "output": items})
        elif message.details:
            self._frame("in_progress", response={**_head(message), **_ending(message, "in_progress")})

    # -- items

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the item of a part when it is the last of its item, or a call."""
        is_whole = True
        if isinstance(part, (msg.TextPart, msg.ReasoningPart)):
            is_last = "i" not in part.state or bool(part.state.keys() - _OF_TEXT)
            is_whole = is_last and part.status is not msg.PartStatus.INCOMPLETE
        elif isinstance(part, msg.ToolPart):
            is_cut = part.input_status is msg.PartStatus.INCOMPLETE and part.state.get("status") != "incomplete"
            is_open = part.provider_executed and output_items.kind_of_call(part) not in words.WITH_OUTPUT_ITEM
            is_whole = not is_cut and not is_open
        self._add(part.state, block_kind(part), part, is_whole=is_whole)

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write the item of a result, or the end of that of the call."""
        if self._add(call.result_state, "result", call, is_whole=True):
            return
        for key, [first, *_] in self._parts.items():
            if key[1] == "call" and first.call_id == call.call_id and key not in self._whole:
                self._parts[key] = [call]
                self._whole.add(key)
                if key not in self._waiting:
                    self._end_item(key)

    def _add(self, state: State, kind: BlockKind, part: Any, *, is_whole: bool) -> bool:
        """Add a part or a result to its item, which begins unless it waits for more; return whether it has an item."""
        # Any: see `_parts`.
        if output_items.write_item(kind, [part]) is None:
            return False
        index = number_of(state, "i")
        is_more = kind in _TEXTS and (index, kind) in self._waiting
        if index is None or ((index, kind) in self._parts and not is_more):  # two at one place: of a damaged stream
            index = max([other for other, _ in self._parts], default=-1) + 1
        key = index, kind
        if not is_more:
            self._waiting.append(key)
        self._parts.setdefault(key, []).append(part)
        self._whole |= {key} if is_whole else set()
        self._write_items()
        return True

    def _write_items(self, *, everything: bool = False) -> None:
        """Write the items up to one that waits for another text; with *everything* that one, too."""
        while self._waiting and (everything or self._waiting[0][1] not in _TEXTS or self._waiting[0] in self._whole):
            key = self._waiting.popleft()
            self._write_item(key)
            if key in self._whole:
                self._end_item(key)

    def _end_item(self, key: _Key) -> None:
        index, kind = key
        self._output[key] = item = output_items.write_item(kind, self._parts[key])
        self._frame("output_item.done", output_index=index, item=item)

    def _write_item(self, key: _Key) -> None:
        """Write the start of an item, and its texts or input; what was cut does not end."""
        item, last = output_items.write_item(key[1], self._parts[key]) or {}, self._parts[key][-1]
        is_cut = getattr(last, "input_status", getattr(last, "status", None)) is msg.PartStatus.INCOMPLETE
        kind = string(item, "type") or ""
        arrays = words.ARRAYS if kind in words.WITH_TEXTS else ()
        field, at = words.INPUTS.get(kind, ""), {"item_id": item.get("id", ""), "output_index": key[0]}
        start: Item = {**item, **{key: "" if key == field else [] for key in (field, *arrays) if key in item}}
        if "status" in item and not is_cut:
            start["status"] = "in_progress"
        self._frame("output_item.added", output_index=key[0], item=start)
        texts = [(where, *each) for where in arrays for each in enumerate(item.get(where, ()))]
        for number, (where, place, part) in enumerate(texts, 1):
            if words.is_text(kind, where, part):
                self._write_part({**at, f"{where}_index": place}, part, is_cut=is_cut and number == len(texts))
        if field:
            self._write_text(f"{kind}_{field}", at, item, field, is_cut=is_cut)

    def _write_part(self, at: Item, part: Item, *, is_cut: bool) -> None:
        about = words.TEXTS[part["type"]]
        name = "reasoning_summary_part" if about.where == "summary" else "content_part"
        empty: Item = {key: [] for key in ("annotations", "logprobs") if key in part}
        self._frame(f"{name}.added", **at, part={**part, **empty, about.field: ""})
        self._write_text(about.event, at, part, about.field, is_cut=is_cut)
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
