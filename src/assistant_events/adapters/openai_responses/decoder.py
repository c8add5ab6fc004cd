"""
OpenAI Responses to events.

An *item* is one of the `output` of a response; messages and reasonings hold *parts*, which are texts. Facts: SDK types
of openai 3.54.0, recordings of 2025-05 to 2026-10, also of servers that speak the wire without being OpenAI.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from assistant_events.adapters import json_fields as json
from assistant_events.adapters.base import DecoderBase, StepFacts
from assistant_events.adapters.errors import error_of
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.json_fields import Fields, flag, mapping, mappings, others, said, string
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.openai_responses.open_items import OpenItem, OpenPart
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values import (
    ErrorInfo,
    ErrorKind,
    FinishReason,
    JsonContent,
    MediaContent,
    RemoteRun,
    TextContent,
)
from assistant_events.values.content import ContentInput

_LIMIT = 1 << 31
"""No service counts its items and events up to here."""

_KEPT = ("id", "background", "store")
"""Fields of a response that are remembered beside its details."""


class OpenAIResponsesDecoder(DecoderBase):
    """
    Decodes streams and documents of `POST /v1/responses` and `GET /v1/responses/{id}`.

    `request` decides, where the response does not repeat it, whether the run can be resumed (`background`) and whether
    the response is stored (`store`).
    """

    dialect = "openai-responses"
    provider = "openai"
    item_key = "i"
    usage_table = words.USAGE
    error_table = ERRORS
    delta_frames = DeltaFrames(
        constant=("type", "content_index", "summary_index", "logprobs"),
        number="output_index",
        loose=("obfuscation", "item_id"),
        unique="sequence_number",
    )

    # -- the shape that DecoderBase asks for

    def on_begin(self) -> None:
        """Forget what was read: the response begins again."""
        self._items: list[OpenItem] = []
        self._by_index: dict[int, OpenItem] = {}
        self._by_id: dict[str, OpenItem] = {}
        self._response: dict[str, Any] = {}
        self._sequence: dict[int, str] | None = {}
        self._last_number = -1
        self.frame_ids.clear()

    @property
    def last_sequence_number(self) -> int | None:
        """Number of the last event, after which the stream can be resumed; `None` when none had a number."""
        self.catch_up()
        return self._last_number if self._last_number >= 0 else None

    def on_skipped(self, counted: Fields) -> None:
        """Take the number of the last delta on the fast path."""
        self._last_number = max(self._last_number, _index(counted, "sequence_number") or -1)

    def on_event(self, event: Fields) -> None:
        """Read one event."""
        kind = string(event, "type") or self.frame_name() or ""
        if self._is_repeated(event, kind):
            return
        name, _, verb = kind.removeprefix("response.").partition(".")
        match verb:
            case "delta" | "done" if name in words.INPUT_EVENTS:
                self._on_input(event, words.INPUT_EVENTS[name], verb)
            case "added" | "delta" | "done" | "annotation.added" if name in words.TEXT_EVENTS:
                self._on_text(event, name, verb)
            case "added" | "done" if name == "output_item":
                self._on_item(_index(event, "output_index"), mapping(event, "item"), is_done=verb == "done")
            case "":
                self._on_response_event(event, name)
            case _ if name not in words.WITHOUT_NEWS:
                self.note("unknown-event", "an event of an unknown type was left out")
            case _:
                pass

    def on_failing(self) -> None:
        """Give the recorder what is known of open items."""
        for item in self._items:
            if not item.ended:
                self._keep(item)

    def facts(self) -> StepFacts:
        """Return usage, run, state and details of the response, for each end of its step."""
        details = {key: value for key, value in self._response.items() if key not in _KEPT and value not in ({}, [])}
        return {**super().facts(), "run": self._run(), "state": self._state(), "details": details}

    def resource_events(self, resource: Fields) -> Iterator[Fields]:
        """Yield the events of a stream with the content of a response, or of an error document."""
        if string(resource, "object") != "response" and "error" in resource and "output" not in resource:
            yield {**resource, "type": "error"}
            return
        status = string(resource, "status") or "completed"
        yield {"type": "response.created", "response": {**resource, "output": (), "usage": None}}
        if status in words.ENDS:
            yield {"type": f"response.{status}", "response": resource}
            return
        for index, item in enumerate(mappings(resource, "output")):
            verb = "done" if string(item, "status") in (None, "completed") else "added"
            yield {"type": f"response.output_item.{verb}", "output_index": index, "item": item}

    # -- the response

    def _on_response_event(self, event: Fields, name: str) -> None:
        response = mapping(event, "response")
        if name in words.ENDS:
            beside = {key: event[key] for key in event.keys() - {"type", "sequence_number", "response"}}
            self._on_end({**beside, **response}, name)
        elif name in ("created", "queued", "in_progress"):
            self._on_start(response, is_first=name == "created")
        elif name == "error" or (not name and "error" in event):
            self._on_error(event)
        elif name not in words.WITHOUT_NEWS:
            self.note("unknown-event", "an event of an unknown type was left out")

    def _is_repeated(self, event: Fields, kind: str) -> bool:
        """
        Return whether an event came before, as after a resumption that began too early.

        Behind proxies the numbers may be wrong: one that belonged to an event of another type ends the trust in them.
        """
        number = _index(event, "sequence_number")
        if number is None or self._sequence is None:
            return False
        is_delta = kind.endswith(".delta")
        serial = b"%d" % number
        if serial not in self.frame_ids:
            self.frame_ids.add(serial)
            self._last_number = max(self._last_number, number)
            if not is_delta:
                self._sequence[number] = kind
            return False
        if self._sequence.get(number, kind if is_delta else None) == kind:
            return True
        self._sequence = None
        return False

    def _on_start(self, response: Fields, *, is_first: bool) -> None:
        if is_first and self._items:
            if string(response, "id") != string(self._response, "id"):
                text = "another response began before the first had ended"
                self.fail_step(ErrorInfo(kind=ErrorKind.PROTOCOL, message=text))
                return
            self.replay_begins()
        self._learn(response)

    def _learn(self, response: Fields) -> None:
        # The first id counts: Copilot changes it with every event.
        known = {"id": self._response["id"]} if "id" in self._response else {}
        self._response |= others(response, {*words.OWN, *words.REPEATED}.difference(_KEPT)) | known
        self.note_usage(mapping(response, "usage"))
        if not self.recorder.started:
            served = string(response, "model") or None
            self.recorder.start(self.origin(served_model=served), self._run(), self._state())

    def response_flag(self, key: str) -> bool | None:
        """Return a flag of the response, or of the request where the response does not repeat it."""
        return flag({**self.request, **self._response}, key)

    def _run(self) -> RemoteRun | None:
        run_id = string(self._response, "id")
        resumable = self.response_flag("background") is True
        return RemoteRun(id=run_id, resumable=resumable, kind="response") if run_id else None

    def _state(self) -> dict[str, str]:
        """Return the id of a response that the provider stores: one that is not stored cannot be continued."""
        run_id = string(self._response, "id")
        return {"response_id": run_id} if run_id and self.response_flag("store") is not False else {}

    def _on_end(self, response: Fields, name: str) -> None:
        self._learn(response)
        raw = string(response, "status")
        status = raw if raw in words.ENDS else name
        self._read_output(mappings(response, "output"), is_whole=status != "incomplete")
        if status == "failed":
            self.fail_step(ERRORS.read_document(response))
        elif status == "cancelled":
            self.fail_step(ErrorInfo(kind=ErrorKind.CANCELLED, message="the response was cancelled"))
        else:
            self._finish(status, raw)

    def _finish(self, status: str, raw: str | None) -> None:
        for item in self._items:
            if not item.ended:
                self._end(item, is_cut=status != "completed" and not item.whole)
        reason = string(mapping(self._response, "incomplete_details"), "reason")
        given = FinishReason.STOP if status == "completed" else words.INCOMPLETE.get(reason or "")
        given = None if given is FinishReason.OTHER else given
        refused = any(part.kind == "refusal" for item in self._items for part in item.parts)
        self.finish_step(self.finish_reason_of(given, refused=refused), raw)

    def _on_error(self, event: Fields) -> None:
        fields = error_of(event) or others(event, event.keys() - {"code", "message", "param"})
        if said(fields):
            self.fail_step(ERRORS.read(fields))
        else:
            self.note("empty-error", "an error event without code and message was left out")

    # -- items

    def _find(self, event: Fields, kind: str) -> OpenItem | None:
        """Return the open item of an event about an item of this type; a late event has none."""
        index, item_id = _index(event, "output_index"), string(event, "item_id")
        # Not by the id first: Copilot changes it with every event.
        item = self._by_id.get(item_id or "") if index is None else self._by_index.get(index)
        if item is None and index is None:
            item = next((each for each in reversed(self._items) if each.kind == kind and not each.ended), None)
        if item is None or item.kind != kind:
            item = self._open(kind, index, item_id)
            item.fields = {"id": item_id} if item_id else {}
            self._begin(item)
        elif item.ended:
            self.note("late-event", "an event about an item that had ended was left out")
            return None
        return item

    def _open(self, kind: str, index: int | None, item_id: str | None) -> OpenItem:
        self.ensure_started()
        number = index if index is not None and index not in self._by_index else max(self._by_index, default=-1) + 1
        item = OpenItem(kind, number)
        self._items.append(item)
        self._by_index[number if index is None else index] = item
        if item_id:
            self._by_id[item_id] = item
        return item

    def _on_item(self, index: int | None, fields: Fields, *, is_done: bool) -> None:
        kind, item_id = string(fields, "type") or "", string(fields, "id")
        item = self._by_id.get(item_id or "") if index is None else self._by_index.get(index)
        if item is not None and item.ended and item.kind == kind and item.fields.get("id") == item_id:
            return  # the same again
        if item is None or item.ended or item.kind != kind:
            item = self._open(kind, index, item_id)
        elif item_id:
            self._by_id[item_id] = item
        # What changes until its end is not taken over from its start.
        item.fields = others(item.fields, ("status", "encrypted_content"))
        item.fields |= others(fields, words.OF_HELPERS, () if is_done else ("encrypted_content",))
        self._begin(item)
        if is_done:
            self._end(item, is_done=True)

    def _read_output(self, output: list[Fields], *, is_whole: bool) -> None:
        """Read the items of the last response, which count where the stream has not ended them."""
        ids = {string(fields, "id"): fields for fields in output}
        found: list[tuple[int, Fields]] = []
        for item in self._items:
            fields = ids.get(string(item.fields, "id")) or (output[item.number] if item.number < len(output) else {})
            is_other = string(fields, "id") in self._by_id and string(fields, "id") != string(item.fields, "id")
            if not item.ended and string(fields, "type") == item.kind and not is_other:
                found.append((item.number, fields))
        more = enumerate(output[len(self._items) :], len(self._items))
        found += [(index, fields) for index, fields in more if string(fields, "id") not in self._by_id]
        for index, fields in found:
            self._on_item(index, fields, is_done=is_whole or string(fields, "status") != "in_progress")

    def _begin(self, item: OpenItem) -> None:
        if item.kind == "reasoning" and not item.parts:
            # At once: its end may come after the items that follow it (OpenRouter).
            self.recorder.begin(item, "reasoning", {"i": item.number})
        elif item.kind in words.TOOLS:
            self.recorder.tool_input(
                string(item.fields, "call_id") or string(item.fields, "id") or None,
                words.TOOLS[item.kind].name or string(item.fields, "name"),
                key=item,
                provider_executed=words.is_hosted(item.kind, item.fields),
                state={"i": item.number},
            )

    def _end(self, item: OpenItem, *, is_done: bool = False, is_cut: bool = False) -> None:
        """
        End an item.

        Args:
            item: The item.

            is_done: Whether the provider has ended it, with all its fields.

            is_cut: Whether the rest of its input did not come.
        """
        item.ended = True
        if item.kind in words.TOOLS:
            self._end_call(item, is_done=is_done, is_cut=is_cut or string(item.fields, "status") == "incomplete")
        elif item.kind in words.WITH_TEXTS:
            self._read_parts(item)
            self._keep(item)
            for key in (*[part.key for part in item.parts], item):
                self.recorder.end(key)
        elif item.kind not in words.ANSWERS or not self._answer(item):
            self._keep(item)

    def _keep(self, item: OpenItem) -> None:
        """Give the recorder the state of an item that ends: that of a message or reasoning is in its last part."""
        if item.kind in words.TOOLS:
            self.recorder.keep(item, item.state())
        elif item.kind in words.WITH_TEXTS:
            if item.kind == "message" and not item.parts:
                self.recorder.begin(item, "text", {"i": item.number})
            for part in item.parts:
                self._keep_part(part)
            state = item.state()
            if item.kind == "reasoning" and not state.get("encrypted_content") and self._state():
                state["stored"] = True  # it can be looked up by its id
            self.recorder.keep(item.parts[-1].key if item.parts else item, state)
        else:
            self.recorder.opaque({"i": item.number, "item": item.fields}, item)

    # -- the texts of messages and reasonings

    def _part(self, item: OpenItem, kind: str, index: int | None) -> OpenPart:
        """Return a part of a message or reasoning; it begins unless it has."""
        parts = item.parts_in(words.TEXTS[kind].where)
        if index is None:
            index = parts[-1].index if parts else 0
        for part in parts:
            if part.index == index:
                return part
        for before in item.parts:
            if before.done and not before.ended:
                self._keep_part(before)
                self.recorder.end(before.key)
        part = OpenPart(item, kind, index, len(parts))
        item.parts.append(part)
        if part.key is part:
            self.recorder.begin(part.key, "text" if item.kind == "message" else "reasoning", part.state())
        return part

    def _read_parts(self, item: OpenItem) -> None:
        """Read the parts of a whole item. Their places are not always the indexes of the events (Bedrock)."""
        for where in words.INDEXES:
            known = item.parts_in(where)
            for place, fields in enumerate(mappings(item.fields, where)):
                if item.knows(where, fields):
                    index = max([part.index for part in item.parts_in(where)], default=-1) + 1
                    part = known[place] if place < len(known) else self._part(item, fields["type"], index)
                    self._take(part, fields)
                    part.done = True

    def _take(self, part: OpenPart, fields: Fields) -> None:
        """Take what is known of the whole part. Its text wins over its deltas."""
        shorter = [key for key in fields if len(json.array(fields, key)) < len(json.array(part.fields, key))]
        part.fields |= others(fields, words.OF_HELPERS, shorter)
        text = string(fields, part.about.field)
        if text is not None:
            part.whole = True
            if part.has_text:
                self.replace_text(part.key, text)
            elif text:
                self._say(part, text)

    def _keep_part(self, part: OpenPart) -> None:
        if not part.ended:
            part.ended = True
            fragment = self.recorder.open_of(part.key)
            length = fragment.buffer.length if isinstance(fragment, OpenFragment) else 0
            cited = words.citations_of(mappings(part.fields, "annotations"), length)
            logprobs = json.array(part.fields, "logprobs")
            self.recorder.keep(part.key, part.final_state(), cited, {"logprobs": logprobs} if logprobs else {})

    def _say(self, part: OpenPart, text: str) -> None:
        part.has_text = part.has_text or bool(text)
        add = self.recorder.text if part.item.kind == "message" else self.recorder.reasoning
        add(text, key=part.key, state=part.state())

    # -- events about items

    def _on_text(self, event: Fields, name: str, verb: str) -> None:
        """Read an event about a text, or about a part with one: the item has the parts of unknown types."""
        fields = mapping(event, "part")
        kind = words.TEXT_EVENTS[name] or string(fields, "type") or ""
        about = words.TEXTS.get(kind)
        item = None if about is None else self._find(event, about.item)
        if about is None or item is None:
            return
        part = self._part(item, kind, _index(event, words.INDEXES[about.where]))
        if verb == "delta":
            self._on_delta(event, part)
        elif verb == "annotation.added":
            part.fields["annotations"] = [*json.array(part.fields, "annotations"), mapping(event, "annotation")]
        elif verb == "done":
            part.done = part.done or bool(fields)
            self._take(part, fields or {key: event[key] for key in (about.field, "logprobs") if key in event})

    def _on_input(self, event: Fields, kind: str, verb: str) -> None:
        """Read an event about the input of a call."""
        item, field = self._find(event, kind), words.TOOLS[kind].input[0]
        text = string(event, field)
        if item is not None and verb == "delta":
            self._on_delta(event, item)
        elif item is not None and text is not None:
            item.fields[field], item.whole = text, True

    def _on_delta(self, event: Fields, target: OpenItem | OpenPart) -> None:
        delta, logprobs = string(event, "delta") or "", json.array(event, "logprobs")
        if target.whole:
            self.note("late-event", "a delta after the whole text was left out")
            return
        if isinstance(target, OpenPart):
            self._say(target, delta)
        else:
            self.recorder.tool_input(None, None, delta, key=target)
        if logprobs:
            target.fields["logprobs"] = [*json.array(target.fields, "logprobs"), *logprobs]
        else:
            self.offer_fast_path(event, ("delta",), self.recorder.open_of(target.key), kind=(target.kind, target.index))

    # -- calls

    def _end_call(self, item: OpenItem, *, is_done: bool, is_cut: bool) -> None:
        """End the input of a call, and record the result that is in the item of a call of the provider."""
        fields, tool = item.fields, words.TOOLS[item.kind]
        self.recorder.end_tool_input(None, item.state(), self._input(item), complete=not is_cut, key=item)
        if not is_done or is_cut or not words.is_hosted(item.kind, fields):
            return
        error = words.tool_error(fields)
        if error is not None or item.kind not in words.WITH_OUTPUT_ITEM:
            output = _output(item.kind, fields, fields.get(tool.output))
            self.recorder.result(None, output, error, state={"i": item.number}, key=item)

    def _input(self, item: OpenItem) -> dict[str, Any] | None:
        """Return the input of a call where it is not JSON text; that is streamed, or repeated in the item."""
        tool = words.TOOLS[item.kind]
        if tool.form == "fields":
            return {key: item.fields[key] for key in tool.input if key in item.fields}
        text, call = string(item.fields, tool.input[0]) or "", self.recorder.open_of(item)
        streamed = "" if call is None else call.buffer.value()
        if not streamed:
            self.recorder.tool_input(None, None, text, key=item)
        elif text:
            self.replace_text(item, text)
        return {tool.input[0]: text or streamed} if tool.form == "text" else None

    def _answer(self, item: OpenItem) -> bool:
        """Record the result of a call of the provider that is an item; return whether the call is known."""
        for call in self._items:
            tool = words.TOOLS.get(call.kind)
            is_its = tool is not None and tool.answer == item.kind and not call.answered
            same = string(call.fields, "call_id") == string(item.fields, "call_id")
            if is_its and same and words.is_hosted(call.kind, call.fields):
                call.answered = True
                output = _output(item.kind, item.fields, item.fields.get(words.ANSWERS[item.kind]))
                self.recorder.result(None, output, words.tool_error(item.fields), state=item.state(), key=call)
                return True
        return False


def _index(event: Fields, key: str) -> int | None:
    """Return the number of an item or event; `None` for one that no service uses."""
    number = json.integer(event, key)
    return number if number is not None and 0 <= number < _LIMIT else None


def _output(kind: str, fields: Fields, output: object) -> ContentInput:
    """Return the result of a call of the provider as content."""
    if output is None:
        return ()
    if kind == "image_generation_call" and isinstance(output, str):
        data = json.base64_bytes(output)
        if data and b64encode(data).decode() == output:
            return MediaContent(data=data, media_type=f"image/{string(fields, 'output_format') or 'png'}")
    return TextContent(output) if isinstance(output, str) else JsonContent(output)
