"""
OpenAI Responses to events.

An *item* is one of the `output` of a response; messages and reasonings hold *parts*, which are texts. Facts: SDK types
of openai 3.54.0, recordings of 2025-05 to 2026-10, also of servers that speak the wire without being OpenAI.
"""

from __future__ import annotations

from typing import Any

from assistant_events.adapters.call_results import read_output, tool_error
from assistant_events.adapters.errors import SPLICED, error_of
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.json_fields import Fields, array, count, flag, mapping, mappings, others, string
from assistant_events.adapters.media_urls import image_type
from assistant_events.adapters.open_items import OpenItem, OpenItems
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.sequence_numbers import NumberedDecoder
from assistant_events.adapters.text_places import citation_of
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, RemoteRun

_NOT_AT_STARTS = words.OF_HELPERS | {"encrypted_content"}  # it changes until the end of an item


class OpenAIResponsesDecoder(NumberedDecoder):
    """
    Decodes streams and documents of `POST /v1/responses` and `GET /v1/responses/{id}`.

    `request` decides what the response does not repeat: whether it is stored (`store`) and resumable (`background`).
    """

    dialect = "openai-responses"
    dump_without = "exclude_unset"  # nulls of items, such as `strict` of a tool, are required when these go back
    provider = "openai"
    item_key = "i"
    usage_table = words.USAGE
    error_table = ERRORS
    answer_fields = frozenset({"output", "status"})
    delta_frames = DeltaFrames(
        constant=("type", "content_index", "summary_index", "logprobs"),
        number="output_index",
        loose=("obfuscation", "item_id"),
        unique="sequence_number",
    )

    # -- the shape that DecoderBase asks for

    def on_begin(self) -> None:
        """Forget what was read: the response begins again."""
        super().on_begin()
        self._items = OpenItems(self, words.TEXTS, words.TOOLS, kept="encrypted_content")
        self._run_id: str | None = None
        self._facts = {**self.request}

    def on_event(self, event: Fields) -> None:
        """Read one event."""
        kind = string(event, "type") or self.frame_name() or ""
        if self.is_repeated(event, kind, event.get("output_index")):
            return
        name, _, verb = kind.removeprefix("response.").partition(".")
        match verb:
            case "added" | "delta" | "done" | "annotation.added" if name in words.TEXT_EVENTS:
                self._on_text(event, words.TEXT_EVENTS[name], verb)
            case "added" | "done" if name == "output_item" and (item := mapping(event, "item")):  # proxies send null
                self._on_item(count(event, "output_index"), item, is_done=verb == "done")
            case "" if name in ("created", "done") or name in words.UNFINISHED.union(words.ENDS):
                beside = others(event, ("type", "sequence_number", "response"))
                self._on_response({**beside, **mapping(event, "response")}, name)
            case "" if name == "error" or (not name and "error" in event):
                self._on_error(event)
            case _ if name == "reasoning" and string(event, "thought"):  # a whole one, of Perplexity
                whole = {"text": event["thought"], "content_index": event.get("sequence_number")}
                self._on_text(whole, "reasoning_text", "done")
            case _:
                if name not in words.WITHOUT_NEWS and (verb == "delta" or "_call" not in name):
                    self.note("unknown-event", "an event of an unknown type was left out")

    def on_close(self, error: ErrorInfo | None) -> None:
        """Fail the step of a response that has failed for a reason that no event had."""
        if self._facts.get("status") == "failed":
            self.fail_step(ERRORS.read_document(self._facts))

    def on_failing(self) -> None:
        """Give the recorder what is known of open items."""
        for item in self._items.unended():
            self._keep(item)

    def remote_run(self) -> RemoteRun | None:
        """Return the response as a run; one in the background can be resumed."""
        ident, resumable = self.step_state.get("response_id", self._run_id), self.response_flag("background") is True
        return RemoteRun(id=ident, resumable=resumable, kind="response") if ident else None

    def resource_events(self, resource: Fields) -> tuple[Fields, ...]:
        """Return the last event of the stream of a response."""
        status = string(resource, "status") or "completed"
        return ({"type": f"response.{status if status in words.ENDS else 'in_progress'}", "response": resource},)

    # -- the response

    def response_flag(self, key: str) -> bool | None:
        """Return a flag of the response, or of the request where the response does not repeat it."""
        return flag(self._facts, key)

    def _on_response(self, response: Fields, name: str) -> None:
        """Read what an event has of the response; the last event ends the step."""
        if name == "created" and self._items:
            if string(response, "id") != self._run_id:
                self.fail_step(SPLICED)
                return
            self.replay_begins()
        self._run_id = self._run_id or string(response, "id")  # Copilot changes it with every event; LiteLLM at the end
        raw = string(response, "status")
        status = raw if raw in words.ENDS else "completed" if name == "done" else name  # Codex servers end with `done`
        self._facts |= {**others(response, ("output",)), "status": status}
        is_stored = self.response_flag("store") is not False and string(response, "object") != "response.compaction"
        self.step_state = {"response_id": string(response, "id") or self._run_id} if self._run_id and is_stored else {}
        self.step_details |= {key: value for key, value in others(response, words.OWN).items() if value not in ({}, [])}
        self.note_usage(mapping(response, "usage"))
        self.ensure_started(string(response, "model") or None)
        unfinished = words.ENDS.get(status, ("in_progress", None))  # items of a response in progress do not end here
        output = self._items.with_thought(response, is_end=name in words.ENDS)
        for index, fields in self._items.unread(output) if output else ():
            may_be_cut = status == "incomplete" and fields is output[-1] and words.TOOLS.may_be_half(fields)
            self._on_item(index, fields, is_done=not may_be_cut and string(fields, "status") not in unfinished)
        if name in words.ENDS or name == "done":
            self._finish(response, status, raw)

    def _finish(self, response: Fields, status: str, raw: str | None) -> None:
        if status in ("failed", "cancelled") or mapping(response, "error"):
            cancelled = ErrorInfo(kind=ErrorKind.CANCELLED, message="the response was cancelled")
            if status != "failed" or mapping(response, "error"):  # else an event behind it may have the reason (Azure)
                self.fail_step(cancelled if status == "cancelled" else ERRORS.read_document(response))
            return
        for item in self._items.unended():
            self._end(item, is_done=False, is_cut=status != "completed" and not item.whole)
        reason = string(mapping(self.step_details, "incomplete_details"), "reason")
        given = FinishReason.STOP if status == "completed" else words.INCOMPLETE.get(reason or "")
        refused = any(part.kind == "refusal" for item in self._items for part in item.parts)
        self.finish_step(self.finish_reason_of(given, refused=refused), raw)

    def _on_error(self, event: Fields) -> None:
        if fields := others(error_of(event) or {key: event.get(key) for key in ("code", "message", "param")}):
            self.fail_step(ERRORS.read(fields))
        else:
            self.note("empty-error", "an error event without code and message was left out")

    # -- items

    def _on_item(self, index: int | None, fields: Fields, *, is_done: bool) -> None:
        kind, item_id = string(fields, "type") or "", string(fields, "id") or string(fields, "item_id")
        item = self._items.find(index, item_id, kind, "done" if is_done else "added", whole=fields)
        if item.ended:
            return  # the same again
        item.fields.pop("status", None)
        item.learn(fields, words.OF_HELPERS if is_done else _NOT_AT_STARTS)
        item.state |= {key: item.fields[key] for key in ("phase",) if key in item.fields}  # its last text may be empty
        is_text = item.role in ("text", "reasoning") and not (item.parts or self.recorder.open_of(item))
        if is_text and words.is_of_others(item.fields):
            item.role = "opaque"  # it is not what answers
        if item.role == "reasoning" and not item.parts:
            # At once: its end may come after the items that follow it (OpenRouter).
            self.recorder.begin(item, item.role, item.state)
        elif item.role == "call":
            is_hosted, tool = words.is_hosted(kind, item.fields), words.TOOLS[kind]
            self._items.wait(item, tool.answer if not is_hosted or kind in words.TOOLS.answered_later else "")
            item.begin_call(string(item.fields, "call_id"), tool, provider_executed=is_hosted)
        if is_done and not item.waits_for_input():
            self._end(item)

    def _end(self, item: OpenItem, *, is_done: bool = True, is_cut: bool = False) -> None:
        """End an item; not *is_done* without its end from the provider, *is_cut* without the rest of its input."""
        item.ended = True
        if item.role == "call":
            self._end_call(item, is_done=is_done, is_cut=is_cut or string(item.fields, "status") == "incomplete")
            return
        call = self._items.answered_by(item)
        if call is not None and call.ended:
            self._record_result(call)
        elif call is None:
            self._keep(item)
            for part in item.parts or [item]:
                self.recorder.end(part.key)

    def _end_call(self, item: OpenItem, *, is_done: bool, is_cut: bool) -> None:
        item.complete()
        opened = self.recorder.open_of(item)
        given = words.TOOLS[item.kind].input_in(item.fields, None if opened is None else opened.buffer.value())
        is_cut = is_cut and not (item.answer or item.fields.get(words.TOOLS[item.kind].output))  # else it was run
        self.recorder.end_tool_input(None, _final_state(item), given, complete=not is_cut, key=item)
        is_hosted, error = words.is_hosted(item.kind, item.fields), tool_error(item.fields)
        if item.answer is not None or (is_hosted and is_done and not is_cut and (error or not item.awaits)):
            self._record_result(item)
        self._items.run_elsewhere(item)

    def _record_result(self, call: OpenItem) -> None:
        """Record the result of a call of the provider, which an item of its own has, or that of the call."""
        tool, item = words.TOOLS[call.kind], call.answer or call
        state = call.state if item is call else _final_state(item)
        image = image_type(string(item.fields, "output_format")) if item.kind == "image_generation_call" else None
        output = read_output(item.fields.get("" if tool.answer and item is call else tool.output), image)
        # A call that never had a name was kept raw: its result then makes one up.
        self.recorder.result(None, output, tool_error(item.fields), call.kind, state, key=call, provider_executed=True)

    def _keep(self, item: OpenItem) -> None:
        """Give the recorder what is known of an item that ends: of a message or reasoning, its last part has it."""
        if item.role == "call":
            item.complete()
            self.recorder.keep(item, _final_state(item))
            if item.answer is not None:
                self._record_result(item)
        elif item.role in ("text", "reasoning"):
            for part, text in item.with_parts(words.TEXTS.of(item.fields)):
                # Their places are not always the indexes of the events (Bedrock).
                (part or self._begin_part(item, text["type"], None)).learn(text, words.OF_HELPERS)
            if not item.parts:
                self.recorder.begin(item, item.role, item.state)
            for part in item.parts:
                self._keep_part(part)
            # A reasoning without encrypted content can be looked up by its id; a summary without one cannot.
            is_open = item.role == "reasoning" and item.is_known and not item.fields.get("encrypted_content")
            state = {**_final_state(item), **({"stored": True} if is_open and self.step_state else {})}
            self.recorder.keep([item, *item.parts][-1].key, state)
        else:
            self.recorder.opaque({**item.state, "item": item.fields}, item)

    # -- texts: those of messages and reasonings, and inputs

    def _on_text(self, event: Fields, kind: str, verb: str) -> None:
        """Read an event about a text, about a part with one, or about an input."""
        fields: Fields = mapping(event, "part") if "part" in event else {}
        kind = kind or string(fields, "type") or ""
        about, index = words.TEXTS.get(kind), count(event, "output_index")
        if words.is_of_others(event) if about is not None else kind not in words.TOOLS.inputs:
            return  # the item has what is not of this answer, and parts of unknown types
        whose = kind if about is None else about.item
        address = (item_id := string(event, "item_id")) or (index if fields else None)  # vLLM 0.10 has empty ids
        named = self._items.at(address) if fields or about is None else None
        if named is not None and named.kind != whose and (fields or named.role == "call"):
            return  # LiteLLM's bridge ends a text with a part of another kind; its custom calls have arguments, too
        item = self._items.find(index, item_id, whose, verb)
        if item.ended or item.role == "opaque":
            self.note("late-event", "an event about an item that had ended, or is kept raw, was left out")
            return
        at = None if about is None else count(event, f"{about.where}_index")
        text = item if about is None else item.part_of(about.where, at, kind, verb) or self._begin_part(item, kind, at)
        if verb == "delta" and text.whole:
            self.note("late-event", "a delta after the whole text was left out")
        elif verb == "delta":
            text.add(string(event, "delta") or "")
            if logprobs := array(event, "logprobs"):
                text.append("logprobs", logprobs)
            elif text.has_text and self._items.is_at(index, item):  # elsewhere its id counts
                self.offer_delta(event, self.recorder.open_of(text.key), kind=(text.kind, text.index))
        elif verb == "annotation.added":
            text.append("annotations", [mapping(event, "annotation")])
        elif verb == "done":
            whole = fields or {key: event[key] for key in (text.field, "logprobs") if key in event}
            text.learn(whole, words.OF_HELPERS)
            text.whole = text.whole or string(text.fields, text.field) is not None
            text.complete()

    def _begin_part(self, item: OpenItem, kind: str, index: int | None) -> OpenItem:
        for before in item.take_finished():
            self._keep_part(before)
            self.recorder.end(before.key)
        return item.begin_part(kind, words.TEXTS[kind], index, typed=kind not in words.WITHOUT_TYPE)

    def _keep_part(self, part: OpenItem) -> None:
        known = mappings(part.fields, "annotations")
        if part.ended and len(known) <= part.cited:
            return
        part.complete()
        cited = [citation_of(each, part.length) for each in known[part.cited :] if string(each, "type") != "file_path"]
        part.ended, part.cited = True, len(known)
        details = {"logprobs": logprobs} if (logprobs := array(part.fields, "logprobs")) else {}
        if (state := _final_state(part)) != part.state or cited or details:  # its start had the same
            self.recorder.keep(part.key, state, cited, details)


def _final_state(item: OpenItem) -> dict[str, Any]:
    """Return the state of an item or a part at its end, with the fields that events have no words for."""
    more = others(item.fields, words.OWN_FIELDS[item.kind])
    facts: dict[str, Any] = {"type": None if item.kind in words.WITHOUT_TYPE else item.kind}
    if item.index is not None:
        facts, more = {**facts, "annotations": item.fields.get("annotations"), "part": more}, {}
    else:
        facts["item_id"] = string(item.fields, "id")
        facts |= words.TEXTS.others(item.fields) if item.kind in words.TEXTS.roles else {}
    return {**item.state, **{key: value for key, value in facts.items() if value}, **more}
