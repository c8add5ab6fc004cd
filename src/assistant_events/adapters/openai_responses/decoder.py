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
from typing import Any, Unpack

from assistant_events.adapters.base import DecoderBase, DecoderOptions, StepFacts
from assistant_events.adapters.errors import error_of
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.json_fields import (
    Fields,
    array,
    base64_bytes,
    flag,
    integer,
    mapping,
    mappings,
    said,
    string,
)
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.openai_responses.open_items import OpenItem, OpenPart
from assistant_events.recorder.calls import OpenCall
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values import (
    ErrorInfo,
    ErrorKind,
    JsonContent,
    MediaContent,
    RemoteRun,
    TextContent,
    valid_text,
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
    delta_frames = DeltaFrames(
        constant=("type", "content_index", "summary_index", "logprobs"),
        number="output_index",
        loose=("obfuscation", "item_id"),
        counted=("sequence_number",),
    )

    def __init__(self, message_id: str, **options: Unpack[DecoderOptions]) -> None:
        super().__init__(message_id, **options)
        self.on_rejoin()

    # -- the shape that DecoderBase asks for

    def on_rejoin(self) -> None:
        """Forget what was read: the response begins again."""
        self._items: list[OpenItem] = []
        self._by_index: dict[int, OpenItem] = {}
        self._by_id: dict[str, OpenItem] = {}
        self._response: dict[str, Any] = {}
        self._sequence: dict[int, str] | None = {}
        self._last_number = -1

    @property
    def last_sequence_number(self) -> int | None:
        """Number of the last event, after which the stream can be resumed; `None` when none had a number."""
        self.catch_up()
        return self._last_number if self._last_number >= 0 else None

    def on_skipped(self, counted: Fields) -> None:
        """Take the number of the last delta on the fast path."""
        self._last_number = max(self._last_number, _index(counted, "sequence_number") or -1)

    def on_event(self, event: Fields) -> None:  # noqa: C901 - one arm for each kind of event
        """Read one event."""
        kind = string(event, "type") or self.frame_name() or ""
        if self._is_repeated(event, kind):
            return
        name, _, verb = kind.removeprefix("response.").partition(".")
        about = words.WORDS.get(name)
        match verb:
            case "delta" if about is not None:
                self._on_delta(event, kind, about)
            case "done" if about is not None:
                self._on_words_done(event, about)
            case "added" | "done" if name == "output_item":
                self._on_item(_index(event, "output_index"), mapping(event, "item"), is_done=verb == "done")
            case "added" | "done" if name in ("content_part", "reasoning_part", "reasoning_summary_part"):
                self._on_part(event, mapping(event, "part"), is_done=verb == "done")
            case "annotation.added":
                self._on_annotation(event)
            case "" if name in words.ENDS:
                beside = {
                    key: value for key, value in event.items() if key not in ("type", "sequence_number", "response")
                }
                self._on_end({**beside, **mapping(event, "response")}, name)
            case "" if name in ("created", "queued", "in_progress"):
                self._on_response(mapping(event, "response"), is_first=name == "created")
            case "" if name == "error" or (not name and "error" in event):
                self._on_error(event)
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
        head = {key: value for key, value in resource.items() if key not in ("output", "usage")}
        yield {"type": "response.created", "response": head}
        if status in words.ENDS:
            yield {"type": f"response.{status}", "response": resource}
            return
        for index, item in enumerate(mappings(resource, "output")):
            verb = "done" if string(item, "status") in (None, "completed") else "added"
            yield {"type": f"response.output_item.{verb}", "output_index": index, "item": item}

    # -- the response

    def _is_repeated(self, event: Fields, kind: str) -> bool:
        """
        Return whether an event came before, as after a resumption that began too early.

        Behind proxies the numbers may be wrong: one that belonged to an event of another type ends the trust in them.
        """
        number = _index(event, "sequence_number")
        if number is None or self._sequence is None:
            return False
        if number > self._last_number:
            self._last_number = number
            if not kind.endswith(".delta"):
                self._sequence[number] = kind
            return False
        before = self._sequence.get(number)
        if kind == before or (before is None and kind.endswith(".delta")):
            return True
        self._sequence = None
        return False

    def _on_response(self, response: Fields, *, is_first: bool) -> None:
        if is_first and self._items:
            if string(response, "id") != string(self._response, "id"):
                text = "another response began before the first had ended"
                self.fail_step(ErrorInfo(kind=ErrorKind.PROTOCOL, message=text))
                return
            self.replay_begins()
        self._learn(response)

    def _learn(self, response: Fields) -> None:
        news = {
            key: value for key, value in said(response).items() if key in _KEPT or key not in words.OWN + words.REPEATED
        }
        # Copilot changes the id with every event.
        self._response = {
            **self._response,
            **news,
            **{key: self._response[key] for key in ("id",) if key in self._response},
        }
        self.note_usage(mapping(response, "usage"))
        if not self.recorder.started:
            served = string(response, "model") or None
            self.recorder.start(self.origin(served_model=served), self._run(), self._state())

    def _run(self) -> RemoteRun | None:
        run_id = string(self._response, "id")
        is_background = flag({**self.request, **self._response}, "background") is True
        return RemoteRun(id=run_id, resumable=is_background, kind="response") if run_id else None

    def _state(self) -> dict[str, str]:
        """Return the id of a response that the provider stores: one that is not stored cannot be continued."""
        run_id = string(self._response, "id")
        is_stored = flag({**self.request, **self._response}, "store") is not False
        return {"response_id": run_id} if run_id and is_stored else {}

    def _on_end(self, response: Fields, name: str) -> None:
        self._learn(response)
        raw = string(response, "status")
        status = raw if raw in words.ENDS else name
        self._read_output(mappings(response, "output"), is_whole=status != "incomplete")
        if status == "failed":
            self.fail_step(words.ERRORS.read_document(response))
        elif status == "cancelled":
            self.fail_step(ErrorInfo(kind=ErrorKind.CANCELLED, message="the response was cancelled"))
        else:
            self._finish(status, raw)

    def _finish(self, status: str, raw: str | None) -> None:
        for item in self._items:
            if not item.ended:
                self._end(item, is_cut=status != "completed" and not item.has_input)
        reason = string(mapping(self._response, "incomplete_details"), "reason")
        calls = bool(self.recorder.unanswered(provider_executed=False))
        refused = any(part.kind == "refusal" for item in self._items for part in item.parts)
        self.finish_step(words.finish_of(status, reason, calls=calls, refused=refused), raw)

    def _on_error(self, event: Fields) -> None:
        fields = error_of(event) or {key: event[key] for key in ("code", "message", "param") if key in event}
        if said(fields):
            self.fail_step(words.ERRORS.read(fields))
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
        if item is not None and item.kind == kind:
            if item.ended:
                self.note("late-event", "an event about an item that had ended was left out")
                return None
            return item
        item = self._open(kind, index, item_id)
        item.fields = {"id": item_id} if item_id else {}
        self._begin(item)
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
        item.fields = {key: value for key, value in item.fields.items() if key not in ("status", "encrypted_content")}
        item.fields |= {key: value for key, value in said(fields).items() if key not in words.OF_HELPERS}
        if not is_done:
            item.fields.pop("encrypted_content", None)
        self._begin(item)
        if is_done:
            self._end(item, is_done=True)

    def _read_output(self, output: list[Fields], *, is_whole: bool) -> None:
        """Read the items of the last response, which count where the stream has not ended them."""
        ids = {string(fields, "id"): fields for fields in output}
        for item in [item for item in self._items if not item.ended]:
            fields = ids.get(string(item.fields, "id")) or (output[item.number] if item.number < len(output) else {})
            is_other = string(fields, "id") in self._by_id and string(fields, "id") != string(item.fields, "id")
            if string(fields, "type") == item.kind and not is_other:
                self._on_item(item.number, fields, is_done=is_whole or string(fields, "status") != "in_progress")
        for index, fields in enumerate(output[len(self._items) :], len(self._items)):
            if string(fields, "id") not in self._by_id:
                self._on_item(index, fields, is_done=is_whole or string(fields, "status") != "in_progress")

    def _begin(self, item: OpenItem) -> None:
        if item.kind == "reasoning" and not item.parts:
            # At once: its end may come after the items that follow it (OpenRouter).
            self.recorder.begin(item, "reasoning", {"i": item.number})
        elif item.kind in words.TOOLS:
            fields, tool = item.fields, words.TOOLS[item.kind]
            self.recorder.tool_input(
                string(fields, "call_id") or string(fields, "id") or None,
                tool.name or string(fields, "name"),
                key=item,
                provider_executed=words.is_hosted(item.kind, fields),
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
            is_cut = is_cut or string(item.fields, "status") == "incomplete"
            self._end_call(item)
            self.recorder.end_tool_input(None, item.state(), item.input, complete=not is_cut, key=item)
            if is_done and not is_cut:
                self._end_hosted_call(item)
        elif item.kind in ("message", "reasoning"):
            self._read_parts(item)
            self._keep(item)
            for part in item.parts:
                self.recorder.end(part.key)
            self.recorder.end(item)
        elif not (item.kind in words.ANSWERS and self._answer(item)):
            self._keep(item)

    def _keep(self, item: OpenItem) -> None:
        """Give the recorder the state of an item that ends: that of a message or reasoning is in its last part."""
        if item.kind in words.TOOLS:
            self.recorder.keep(item, item.state())
        elif item.kind in ("message", "reasoning"):
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

    # -- parts

    def _part(self, item: OpenItem, kind: str, index: int | None) -> OpenPart:
        """Return a part of a message or reasoning; it begins unless it has."""
        where = words.PARTS[kind][1]
        parts = [part for part in item.parts if part.where == where]
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
        if item.kind == "message":
            self.recorder.begin(part.key, "text", part.state())
        elif part.key is part:
            self.recorder.begin(part.key, "reasoning", part.state())
        return part

    def _keep_part(self, part: OpenPart) -> None:
        if part.ended:
            return
        part.ended = True
        fragment = self.recorder.open_of(part.key)
        length = fragment.buffer.length if isinstance(fragment, OpenFragment) else 0
        cited = words.citations_of(part.annotations, length)
        details = {"logprobs": part.logprobs} if part.logprobs else {}
        self.recorder.keep(part.key, part.final_state(), cited, details)

    def _read_parts(self, item: OpenItem) -> None:
        """Read the parts of a whole item. Their places are not always the indexes of the events (Bedrock)."""
        for where in ("content", "summary"):
            known = [part for part in item.parts if part.where == where]
            for place, fields in enumerate(mappings(item.fields, where)):
                kind = string(fields, "type") or ""
                if words.PARTS.get(kind, ("", "", ""))[:2] != (item.kind, where):
                    item.unread.setdefault(where, []).append(fields)
                    continue
                part = known[place] if place < len(known) else self._part(item, kind, item.next_index(where))
                self._finish_part(part, fields)
                part.done = True

    def _finish_part(self, part: OpenPart, fields: Fields) -> None:
        """Take the whole part, which wins over its deltas."""
        field = words.PARTS[part.kind][2]
        text = string(fields, field)
        if text is not None:
            self._set_text(part, text)
        annotations, logprobs = mappings(fields, "annotations"), array(fields, "logprobs")
        if len(annotations) >= len(part.annotations):
            part.annotations = annotations
        if logprobs:
            part.logprobs = list(logprobs)
        own = {"type", field, "annotations", "logprobs", *words.OF_HELPERS}
        part.fields |= {key: value for key, value in said(fields).items() if key not in own}

    def _set_text(self, part: OpenPart, text: str) -> None:
        if text == part.text:
            return
        part.text = text
        fragment = self.recorder.open_of(part.key)
        if not part.has_text:
            self._say(part, text)
        elif fragment is not None and fragment.buffer.value() != text:
            _replace(fragment, text)

    def _say(self, part: OpenPart, text: str) -> None:
        part.has_text = part.has_text or bool(text)
        if part.item.kind == "message":
            self.recorder.text(text, key=part.key, state=part.state())
        else:
            self.recorder.reasoning(text, key=part.key, state=part.state())

    # -- events about items

    def _on_delta(self, event: Fields, kind: str, about: words.Words) -> None:
        item, delta = self._find(event, about.item), string(event, "delta") or ""
        if item is None:
            return
        if not about.part and item.has_input:
            self.note("late-event", "a delta after the whole text was left out")
        elif not about.part:
            self.recorder.tool_input(None, None, delta, key=item)
            self.offer_fast_path(event, ("delta",), self.recorder.open_of(item), kind=kind)
        else:
            self._on_text_delta(event, kind, item, about)

    def _on_text_delta(self, event: Fields, kind: str, item: OpenItem, about: words.Words) -> None:
        index, delta = _index(event, words.INDEXES[words.PARTS[about.part][1]]), string(event, "delta") or ""
        part = self._part(item, about.part, index)
        if part.text is not None:
            self.note("late-event", "a delta after the whole text was left out")
            return
        self._say(part, delta)
        logprobs = array(event, "logprobs")
        if logprobs:
            part.logprobs += logprobs
        else:
            self.offer_fast_path(event, ("delta",), self.recorder.open_of(part.key), kind=(kind, index))

    def _on_words_done(self, event: Fields, about: words.Words) -> None:
        item, text = self._find(event, about.item), string(event, about.field)
        if item is None:
            return
        if about.part:
            index = _index(event, words.INDEXES[words.PARTS[about.part][1]])
            part = self._part(item, about.part, index)
            field = words.PARTS[about.part][2]
            self._finish_part(part, {field: text, "logprobs": event.get("logprobs")})
        elif text is not None:
            item.fields[about.field] = text
            item.has_input = True

    def _on_part(self, event: Fields, fields: Fields, *, is_done: bool) -> None:
        kind = string(fields, "type") or ""
        if kind not in words.PARTS:
            return  # the whole item has it
        item_kind, where, _ = words.PARTS[kind]
        item = self._find(event, item_kind)
        if item is not None:
            part = self._part(item, kind, _index(event, words.INDEXES[where]))
            if is_done:
                self._finish_part(part, fields)
                part.done = True

    def _on_annotation(self, event: Fields) -> None:
        item = self._find(event, "message")
        if item is not None:
            part = self._part(item, "output_text", _index(event, "content_index"))
            part.annotations.append(mapping(event, "annotation"))

    # -- calls

    def _end_call(self, item: OpenItem) -> None:
        """Find the input of a call: streamed, repeated in the item, or one of its fields."""
        fields, tool = item.fields, words.TOOLS[item.kind]
        [first, *_] = tool.input
        if tool.form == "fields":
            item.input = {key: fields[key] for key in tool.input if key in fields}
            return
        text, call = string(fields, first) or "", self.recorder.open_of(item)
        streamed = "" if call is None else call.buffer.value()
        if not streamed:
            self.recorder.tool_input(None, None, text, key=item)
        elif call is not None and text not in ("", streamed):
            _replace(call, text)
        if tool.form == "text":
            item.input = {first: text or streamed}

    def _end_hosted_call(self, item: OpenItem) -> None:
        """Record the result that is in the item of a call of the provider."""
        fields, tool = item.fields, words.TOOLS[item.kind]
        error, output = words.tool_error(fields), fields.get(tool.output)
        if words.is_hosted(item.kind, fields) and (error is not None or item.kind not in words.WITH_OUTPUT_ITEM):
            content = _output(item.kind, fields, output)
            self.recorder.result(None, content, error, state={"i": item.number}, key=item)

    def _answer(self, item: OpenItem) -> bool:
        """Record the result of a call of the provider that is an item; return whether the call is known."""
        field, call_id = words.ANSWERS[item.kind], string(item.fields, "call_id")
        for call in self._items:
            tool = words.TOOLS.get(call.kind)
            is_its = tool is not None and tool.answer == item.kind and call.answer is None
            if is_its and string(call.fields, "call_id") == call_id and words.is_hosted(call.kind, call.fields):
                call.answer = item
                output = _output(item.kind, item.fields, item.fields.get(field))
                error = words.tool_error(item.fields)
                self.recorder.result(None, output, error, state=item.state(), key=call)
                return True
        return False


def _replace(fragment: OpenFragment | OpenCall, text: str) -> None:
    """Put the whole text in place of what its deltas were."""
    fragment.held = ""
    fragment.buffer.replace(valid_text(text))


def _index(event: Fields, key: str) -> int | None:
    """Return the number of an item or event; `None` for one that no service uses."""
    number = integer(event, key)
    return number if number is not None and 0 <= number < _LIMIT else None


def _output(kind: str, fields: Fields, output: object) -> ContentInput:
    """Return the result of a call of the provider as content."""
    if output is None:
        return ()
    if kind == "image_generation_call" and isinstance(output, str):
        data = base64_bytes(output)
        if data and b64encode(data).decode() == output:
            return MediaContent(data=data, media_type=f"image/{string(fields, 'output_format') or 'png'}")
    return TextContent(output) if isinstance(output, str) else JsonContent(output)
