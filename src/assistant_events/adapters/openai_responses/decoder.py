"""
OpenAI Responses to events.

An *item* is one of the `output` of a response; messages and reasonings hold *parts*, which are texts. Facts: SDK types
of openai 3.54.0, recordings of 2025-05 to 2026-10, also of servers that speak the wire without being OpenAI.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import attrs

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.call_results import read_output
from assistant_events.adapters.errors import SPLICED, error_of
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.json_fields import Fields, array, count, flag, mapping, mappings, others, said, string
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.sequence_numbers import SequenceNumbers
from assistant_events.adapters.text_places import citation_of
from assistant_events.recorder.calls import OpenCall
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, RemoteRun, write_json

_FLAGS = ("background", "store")


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
        self._items: dict[int, _Open] = {}
        """The items by their numbers, in the order in which they began."""

        self._at: dict[int | str | None, _Open] = {}
        """The items by their last index and by each of their ids."""

        self._run_id: str | None = None
        self._flags = {key: self.request.get(key) for key in _FLAGS}
        self._numbers = SequenceNumbers(self.frame_ids)

    @property
    def last_sequence_number(self) -> int | None:
        """Number of the last event, after which the stream can be resumed; `None` when none had a number."""
        self.catch_up()
        return self._numbers.last

    def on_skipped(self, counted: Fields) -> None:
        """Take the number of the last delta on the fast path."""
        self._numbers.add(count(counted, "sequence_number"))

    def on_event(self, event: Fields) -> None:
        """Read one event."""
        kind = string(event, "type") or self.frame_name() or ""
        if self._numbers.is_repeated(count(event, "sequence_number"), kind):
            return
        name, _, verb = kind.removeprefix("response.").partition(".")
        match verb:
            case "added" | "delta" | "done" | "annotation.added" if name in words.TEXT_EVENTS:
                self._on_text(event, words.TEXT_EVENTS[name], verb)
            case "added" | "done" if name == "output_item":
                self._on_item(count(event, "output_index"), mapping(event, "item"), is_done=verb == "done")
            case "" if name in words.ENDS or name == "done":
                beside = others(event, ("type", "sequence_number", "response"))
                self._on_response({**beside, **mapping(event, "response")}, name)
            case "" if name == "created" or name in words.UNFINISHED:
                self._on_response(mapping(event, "response"), name)
            case "" if name == "error" or (not name and "error" in event):
                self._on_error(event)
            case _ if name not in words.WITHOUT_NEWS:
                self.note("unknown-event", "an event of an unknown type was left out")
            case _:
                pass

    def on_failing(self) -> None:
        """Give the recorder what is known of open items."""
        for item in self._items.values():
            if not item.ended:
                self._keep(item)

    def remote_run(self) -> RemoteRun | None:
        """Return the response as a run; one in the background can be resumed."""
        resumable = self.response_flag("background") is True
        return RemoteRun(id=self._run_id, resumable=resumable, kind="response") if self._run_id else None

    def resource_events(self, resource: Fields) -> tuple[Fields, ...]:
        """Return the last event of the stream of a response; an error document is an event."""
        if string(resource, "object") != "response" and "error" in resource and "output" not in resource:
            return ({**resource, "type": "error"},)
        status = string(resource, "status") or "completed"
        return ({"type": f"response.{status if status in words.ENDS else 'in_progress'}", "response": resource},)

    # -- the response

    def response_flag(self, key: str) -> bool | None:
        """Return a flag of the response, or of the request where the response does not repeat it."""
        return flag(self._flags, key)

    def _on_response(self, response: Fields, name: str) -> None:
        """Read what an event has of the response; the last event ends the step."""
        if name == "created" and self._items:
            if string(response, "id") != self._run_id:
                self.fail_step(SPLICED)
                return
            self.replay_begins()
        # The first id counts: Copilot changes it with every event.
        self._run_id = self._run_id or string(response, "id")
        self._flags |= {key: response[key] for key in _FLAGS if response.get(key) is not None}
        is_stored = bool(self._run_id) and self.response_flag("store") is not False  # else it cannot be continued
        self.step_state = {"response_id": self._run_id} if is_stored else {}
        self.step_details |= {key: value for key, value in others(response, words.OWN).items() if value not in ({}, [])}
        self.note_usage(mapping(response, "usage"))
        self.ensure_started(string(response, "model") or None)
        raw = string(response, "status")
        # Codex servers end with `done`.
        status = raw if raw in words.ENDS else "completed" if name == "done" else name
        self._read_output(response, status)
        if name in words.ENDS or name == "done":
            self._finish(response, status, raw)

    def _finish(self, response: Fields, status: str, raw: str | None) -> None:
        if status in ("failed", "cancelled"):
            cancelled = ErrorInfo(kind=ErrorKind.CANCELLED, message="the response was cancelled")
            self.fail_step(cancelled if status == "cancelled" else ERRORS.read_document(response))
            return
        for item in self._items.values():
            if not item.ended:
                self._end(item, is_done=False, is_cut=status != "completed" and not item.whole)
        reason = string(mapping(self.step_details, "incomplete_details"), "reason")
        given = FinishReason.STOP if status == "completed" else words.INCOMPLETE.get(reason or "")
        refused = any(part.kind == "refusal" for item in self._items.values() for part in item.parts)
        self.finish_step(self.finish_reason_of(given, refused=refused), raw)

    def _on_error(self, event: Fields) -> None:
        fields = said(error_of(event) or {key: event.get(key) for key in ("code", "message", "param")})
        if fields:
            self.fail_step(ERRORS.read(fields))
        else:
            self.note("empty-error", "an error event without code and message was left out")

    # -- items

    def _item(self, index: int | None, item_id: str | None, kind: str, *, is_whole: bool = False) -> _Open:
        """
        Return the item of an event, which begins unless it has; one that has ended and comes *whole* is another item.

        Not by its id first: Copilot changes it with every event.
        """
        item = self._at.get(item_id if index is None else index)
        if item is None and index is None and not is_whole:
            item = next((each for each in reversed(self._items.values()) if each.kind == kind and not each.ended), None)
        if item is None or item.kind != kind or (is_whole and item.ended and item.fields.get("id") != item_id):
            self.ensure_started()
            number = max(self._items, default=-1) + 1 if index is None or index in self._items else index
            item = _Open(kind, {"i": number}, fields={"id": item_id} if item_id else {})
            self._items[number] = self._at[number if index is None else index] = item
            is_whole = True  # so that its id is known
        if is_whole and item_id:
            self._at[item_id] = item
        return item

    def _on_item(self, index: int | None, fields: Fields, *, is_done: bool) -> None:
        item = self._item(index, string(fields, "id"), string(fields, "type") or "", is_whole=True)
        if item.ended:
            return  # the same again
        # What changes until its end is not taken over from its start.
        item.fields.pop("status", None)
        item.learn(fields if is_done else others(fields, ("encrypted_content",)))
        tool = words.TOOLS.get(item.kind)
        if item.kind == "reasoning" and not item.parts:
            # At once: its end may come after the items that follow it (OpenRouter).
            self.recorder.begin(item, item.kind, item.state)
        elif tool is not None:
            item.hosted = words.is_hosted(item.kind, item.fields)
            item.awaits = tool.answer if item.hosted and tool.host == "provider" else ""
            call_id, opened = string(item.fields, "call_id"), self.recorder.open_of(item)
            if call_id and isinstance(opened, OpenCall) and opened.provider_id != call_id:
                item.state["id"] = call_id  # it comes with the end alone
            self.recorder.tool_input(
                call_id or string(item.fields, "id") or None,
                tool.name or string(item.fields, "name"),
                key=item,
                provider_executed=item.hosted,
                state=item.state,
            )
        if is_done:
            self._end(item)

    def _read_output(self, response: Fields, status: str) -> None:
        """Read the items that the stream has not ended; those of a response in progress do not end here."""
        known, unfinished = len(self._items), words.ENDS.get(status, ("in_progress", None))
        for index, fields in enumerate(mappings(response, "output")):
            named = self._at.get(string(fields, "id"))
            item = named or (self._at.get(index) if index < known else None)
            is_open = item is not None and not item.ended and item.kind == string(fields, "type")
            if is_open or (item is None and index >= known):
                is_done = string(fields, "status") not in unfinished
                self._on_item(index if named is None else None, fields, is_done=is_done)

    def _end(self, item: _Open, *, is_done: bool = True, is_cut: bool = False) -> None:
        """End an item; not *is_done* without its end from the provider, *is_cut* without the rest of its input."""
        item.ended = True
        for call in self._items.values() if item.kind in words.ANSWERS else ():
            if call.awaits == item.kind and call.fields.get("call_id") == item.fields.get("call_id"):
                call.awaits = ""
                self._record_result(call, item, words.ANSWERS[item.kind], item.final_state())
                return
        tool = words.TOOLS.get(item.kind)
        if tool is None:
            self._keep(item)
            for part in item.parts or [item]:
                self.recorder.end(part.key)
            return
        self._complete(item)
        given: dict[str, Any] | None = None
        if tool.form == "fields":
            given = {key: item.fields[key] for key in tool.input.split() if key in item.fields}
        elif (opened := self.recorder.open_of(item)) is not None:
            text = opened.buffer.value()
            given = {tool.input: text} if tool.form == "text" else {} if text.strip() == "null" else None
        is_cut = is_cut or string(item.fields, "status") == "incomplete"
        self.recorder.end_tool_input(None, item.final_state(), given, complete=not is_cut, key=item)
        if item.hosted and is_done and not is_cut and (not item.awaits or words.tool_error(item.fields)):
            self._record_result(item, item, "" if tool.answer else tool.output, item.state)

    def _record_result(self, call: _Open, item: _Open, field: str, state: dict[str, Any]) -> None:
        """Record the result of a call of the provider, which a field of an item has."""
        image = f"image/{string(item.fields, 'output_format') or 'png'}"
        output = read_output(item.fields.get(field), image if item.kind == "image_generation_call" else None)
        self.recorder.result(None, output, words.tool_error(item.fields), state=state, key=call)

    def _keep(self, item: _Open) -> None:
        """Give the recorder what is known of an item that ends: of a message or reasoning, its last part has it."""
        if item.kind in words.TOOLS:
            self._complete(item)
            self.recorder.keep(item, item.final_state())
        elif item.kind in words.WITH_TEXTS:
            for where in words.ARRAYS:
                # Their places are not always the indexes of the events (Bedrock).
                for place, text in enumerate(words.texts_of(item.fields, where)):
                    self._part(item, text["type"], None, place).learn(text)
            if not item.parts:
                self.recorder.begin(item, words.WITH_TEXTS[item.kind], item.state)
            for part in item.parts:
                self._keep_part(part)
            # A reasoning without encrypted content can be looked up by its id.
            is_stored = item.kind == "reasoning" and not item.fields.get("encrypted_content") and self.step_state
            state = {**item.final_state(), **({"stored": True} if is_stored else {})}
            self.recorder.keep([item, *item.parts][-1].key, state)
        else:
            self.recorder.opaque({**item.state, "item": item.fields}, item)

    # -- texts: those of messages and reasonings, and inputs

    def _on_text(self, event: Fields, kind: str, verb: str) -> None:
        """Read an event about a text, about a part with one, or about an input."""
        fields = mapping(event, "part")
        kind = kind or string(fields, "type") or ""
        if kind not in words.FIELDS:
            return  # the item has the parts of unknown types
        about, index = words.TEXTS.get(kind), count(event, "output_index")
        item = self._item(index, string(event, "item_id"), kind if about is None else about.item)
        if item.ended:
            self.note("late-event", "an event about an item that had ended was left out")
            return
        text = item if about is None else self._part(item, kind, count(event, f"{about.where}_index"))
        match verb:
            case "delta" if not text.whole:
                self._add(text, string(event, "delta") or "")
                if logprobs := array(event, "logprobs"):
                    text.fields["logprobs"] = [*array(text.fields, "logprobs"), *logprobs]
                elif index is not None and not isinstance(event.get("sequence_number"), (dict, list)):
                    # Without an index its id counts, which the fast path does not look at.
                    opened = self.recorder.open_of(text.key)
                    self.offer_fast_path(event, ("delta",), opened, kind=(text.kind, text.index))
            case "delta":
                self.note("late-event", "a delta after the whole text was left out")
            case "annotation.added":
                text.fields["annotations"] = [*array(text.fields, "annotations"), mapping(event, "annotation")]
            case "done":
                field = words.FIELDS[text.kind]
                text.learn(fields or {key: event[key] for key in (field, "logprobs") if key in event})
                text.whole = text.whole or string(text.fields, field) is not None
                self._complete(text)
            case _:
                pass

    def _add(self, text: _Open, delta: str) -> None:
        text.has_text = text.has_text or bool(delta)
        if text.index is None:
            self.recorder.tool_input(None, None, delta, key=text)
        elif words.TEXTS[text.kind].item == "message":
            self.recorder.text(delta, key=text.key, state=text.state)
        else:
            self.recorder.reasoning(delta, key=text.key, state=text.state)

    def _complete(self, text: _Open) -> None:
        """Take the whole of a text, which wins over its deltas; an empty one does not."""
        given = text.fields.get(words.FIELDS.get(text.kind, ""))
        if text.index is None and given and not isinstance(given, str):
            given = write_json(given).decode()  # an input that a server has parsed
        whole = given if isinstance(given, str) else None
        if whole and not text.has_text:
            self._add(text, whole)
        elif whole:
            self.replace_text(text.key, whole)

    def _part(self, item: _Open, kind: str, index: int | None, place: int = -1) -> _Open:
        """Return the part with an index, or without one that at a place; it begins unless it has."""
        where = words.TEXTS[kind].where
        parts = [part for part in item.parts if words.TEXTS[part.kind].where == where]
        found = parts[place:][:1] if index is None else [part for part in parts if part.index == index]
        if found:
            return found[0]
        for before in item.parts:
            if "type" in before.fields and not before.ended:  # all of it has come
                self._keep_part(before)
                self.recorder.end(before.key)
        state = {**item.state, f"{where}_index": len(parts)}
        part = _Open(kind, state, len(parts) if index is None else index)
        part.key = part if item.parts else item
        item.parts.append(part)
        self.recorder.begin(part.key, words.WITH_TEXTS[item.kind], state)
        return part

    def _keep_part(self, part: _Open) -> None:
        if not part.ended:
            part.ended = True
            self._complete(part)
            opened = self.recorder.open_of(part.key)
            length = 0 if opened is None else opened.buffer.length
            annotations = [each for each in mappings(part.fields, "annotations") if string(each, "type") != "file_path"]
            cited = [citation_of(each, length) for each in annotations]
            logprobs = array(part.fields, "logprobs")
            self.recorder.keep(part.key, part.final_state(), cited, {"logprobs": logprobs} if logprobs else {})


@attrs.define(eq=False)
class _Open:
    """What is known of an item, or of a text in a message or reasoning: its part."""

    kind: str
    state: dict[str, Any]  # Any: plain JSON, as below
    """State of all its fragments."""

    index: int | None = None
    """Index of a part in events, which is not always its place; `None` for an item."""

    fields: dict[str, Any] = attrs.Factory(dict[str, Any])
    """What the last event with the whole of it had, or is known by itself."""

    key: object = attrs.Factory(lambda self: self, takes_self=True)
    """Its key in the recorder: that of a first part is its item, which may begin before it."""

    parts: list[_Open] = attrs.Factory(list["_Open"])
    has_text: bool = False
    whole: bool = False
    """Whether all of its text or input has come; `has_text`: whether any has."""

    ended: bool = False
    hosted: bool = False
    """Whether the provider runs the call."""

    awaits: str = ""
    """Type of the item that is to bring the result of the call; empty when none is."""

    def learn(self, fields: Fields) -> None:
        """Take what an event has of it; a shorter array is not the whole."""
        arrays = [(key, value) for key, value in self.fields.items() if type(value) is list]
        longer = [key for key, value in arrays if len(array(fields, key)) < len(value)]
        self.fields |= others(fields, words.OF_HELPERS, longer)

    def final_state(self) -> dict[str, Any]:
        """Return the state of a part, item or result at its end, with the fields that events have no words for."""
        more = others(self.fields, words.OWN_FIELDS[self.kind])
        facts: dict[str, Any] = {"type": None if self.kind in words.WITHOUT_TYPE else self.kind}
        if self.index is not None:
            facts |= {"annotations": self.fields.get("annotations"), "part": more}
            more = {}
        else:
            facts["item_id"] = string(self.fields, "id")
            for where in words.ARRAYS if self.kind in words.WITH_TEXTS else ():
                texts = words.texts_of(self.fields, where)
                facts[where] = [part for part in mappings(self.fields, where) if part not in texts]
        return {**self.state, **{key: value for key, value in facts.items() if value}, **more}
