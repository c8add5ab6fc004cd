"""
Chat Completions to events.

A *chunk* has a delta of each field of one message. Facts: SDK types of openai 3.52.0, recordings of OpenAI and of forty
compatible servers, 2023-07 to 2026-10. What a chunk holds decides how it is read, not which server sent it.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Unpack

import attrs

from assistant_events.adapters.base import DecoderBase, DecoderOptions, StepFacts
from assistant_events.adapters.data_urls import read_data_url
from assistant_events.adapters.frame_templates import DeltaFrames, Path
from assistant_events.adapters.json_fields import (
    Fields,
    array,
    base64_bytes,
    integer,
    mapping,
    mappings,
    said,
    string,
)
from assistant_events.adapters.openai_chat import vocabulary as words
from assistant_events.adapters.openai_chat.reasoning_details import ReasoningDetails, text_of
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.adapters.tables import names
from assistant_events.values import ErrorInfo, JsonContent, TextContent, write_json

_DELTA: Final[Path] = ("choices", 0, "delta")
_ARGUMENTS: Final[Path] = (*_DELTA, "tool_calls", 0, "function", "arguments")
_OF_CALL: Final = frozenset({"id", "index", "type", "function", "custom"})
_OF_FUNCTION: Final = frozenset({"name", "arguments", "input"})
_OF_EXECUTED: Final = frozenset({"index", "type", "arguments", "output"})

_CONSTANT: Final = names(
    "id object model system_fingerprint service_tier provider choices index delta role content refusal tool_calls "
    "function_call reasoning reasoning_content function type name finish_reason native_finish_reason stop_reason "
    "logprobs channel token_ids content_filter_results"
)
_CONTENTS: Final = words.MESSAGE - {"role"}


@attrs.define(eq=False)
class _Call:
    """A call of the answer, and the key of its input."""

    id: str | None
    name: str | None
    kind: str
    """`function`, or the wire's other word."""


class OpenAIChatDecoder(DecoderBase):
    """Decodes streams and documents of `POST /chat/completions`, of OpenAI and of compatible servers."""

    dialect = "openai-chat"
    provider = "openai"
    delta_frames = DeltaFrames(
        constant=_CONSTANT,
        number=(*_DELTA, "tool_calls", 0, "index"),
        loose={"created", "obfuscation", "p"},
        counted={"usage"},
    )

    def __init__(self, message_id: str, **options: Unpack[DecoderOptions]) -> None:
        super().__init__(message_id, **options)
        self.on_rejoin()

    # -- the shape that DecoderBase asks for

    def on_rejoin(self) -> None:
        """Forget what was read: the answer begins again."""
        self._calls: list[_Call] = []
        self._at: dict[int | None, _Call] = {}
        self._details = ReasoningDetails(self.recorder)
        self._finish_reason: str | None = None
        self._is_document = False
        self._has_refusal = False
        self._counts: Fields = {}
        self._state: dict[str, Any] = {}
        self._facts: dict[str, Any] = {}
        self._audio: dict[str, Any] = {}
        self._logprobs: dict[str, list[Any]] = {}

    def on_event(self, event: Fields) -> None:
        """Read one chunk, or a whole answer."""
        if "error" in event and event["error"] is not None:
            self._learn(event)
            self.fail_step(ERRORS.read_document(event))
            return
        choices = mappings(event, "choices")
        if not choices and event.keys().isdisjoint(("choices", "usage", "id")):
            if string(event, "type") != "keepalive":
                self.note("unknown-event", "an event that is not a chunk was left out")
            return
        self._learn(event)
        for choice in choices:
            if integer(choice, "index"):
                self.note("other-choice", "the delta of another choice was left out")
            else:
                self._on_choice(event, choice)

    def on_done(self) -> None:
        """End the answer."""
        self._finish()

    def on_close(self, error: ErrorInfo | None) -> None:
        """End an answer whose reason to finish has come; servers leave the mark out."""
        if error is None and (self._finish_reason is not None or self._is_document):
            self._finish()

    def on_skipped(self, counted: Fields) -> None:
        """Take the counts so far, which vLLM sends with each delta."""
        self._counts = said(mapping(counted, "usage")) or self._counts

    def facts(self) -> StepFacts:
        """Return usage, state and details of the answer, for each end of its step."""
        audio = {key: value for key, value in self._audio.items() if value and key not in ("id", "data")}
        found = {**self._facts, "audio": audio, "logprobs": self._logprobs}
        return {
            "usage": words.usage_of(self._counts) if self._counts else None,
            "state": self._state,
            "details": {key: value for key, value in found.items() if value or key not in words.LEVELS},
        }

    # -- the answer

    def _learn(self, event: Fields) -> None:
        """Remember the facts of a chunk, and start the step with the first that has any."""
        ident, model = string(event, "id"), string(event, "model")
        if ident:
            self._state.setdefault("id", ident)
        if not self.recorder.started and (ident or mappings(event, "choices")):
            self.recorder.start(self.origin(served_model=model or None), state=self._state)
        self._counts = said(mapping(event, "usage")) or self._counts or said(mapping(mapping(event, "x_groq"), "usage"))
        self._merge(self._facts, event, words.CHUNK)

    def _facts_of(self, part: str) -> dict[str, Any]:
        """Return the facts of a part of the chunks, which none of their own fields replaces."""
        if not isinstance(self._facts.get(part), dict):
            self._facts[part] = {}
        found: dict[str, Any] = self._facts[part]
        return found

    def _merge(self, into: dict[str, Any], fields: Fields, own: frozenset[str]) -> None:
        """
        Put fields that are not *own* into others: objects are merged at one level, else the last value counts.

        A new value makes the learned frames useless: they have the old one, which would count again.
        """
        for key, value in said(fields).items():
            if key not in own:
                merged = {**mapping(into, key), **value} if isinstance(value, dict) else value
                if into.get(key) != merged:
                    into[key] = merged
                    self._learners.clear()

    def _on_choice(self, event: Fields, choice: Fields) -> None:
        self._is_document = "delta" not in choice and "message" in choice
        delta = mapping(choice, "message" if self._is_document else "delta")
        if not delta and string(choice, "text"):
            delta = {"content": choice["text"]}
        self._merge(self._facts_of("choice"), choice, words.CHOICE)
        self._merge(self._facts_of("message"), delta, words.MESSAGE)
        self._state |= {key: delta[key] for key in words.RETURNED if delta.get(key) is not None}
        self._counts = said(mapping(choice, "usage")) or self._counts
        logprobs, reason = mapping(choice, "logprobs"), string(choice, "finish_reason")
        for kind in logprobs:
            if array(logprobs, kind):
                self._logprobs.setdefault(kind, []).extend(logprobs[kind])
        is_plain = not logprobs and not reason and len([key for key in _CONTENTS if delta.get(key)]) == 1
        self._on_delta(delta, event if is_plain else None)
        if reason in words.FAILURES:
            self.fail_step(ERRORS.read({"code": reason}))
        elif reason and self._finish_reason is None:
            self._finish_reason = reason
            self._end_parts()

    def _end_parts(self) -> None:
        """End what is open: no more of it comes after the reason to finish."""
        self._details.end()
        for key in (None, "refusal", "audio"):
            self.recorder.end(key)
        for call in self._calls:
            self._end_call(call)

    def _finish(self) -> None:
        self.ensure_started()
        self._end_parts()
        finish = words.finish_reason_of(
            self._finish_reason,
            has_calls=bool(self.recorder.unanswered(provider_executed=False)),
            has_refusal=self._has_refusal,
        )
        self.finish_step(finish, self._finish_reason)

    # -- fields of a delta

    def _on_delta(self, delta: Fields, frame: Fields | None) -> None:
        """
        Read the fields of a delta in the order of a message.

        Args:
            delta: The fields.

            frame: The chunk, when others like it may take the fast path; `None` when there is more in it.
        """
        details = mappings(delta, "reasoning_details")
        for item in details:
            self._details.add(item)
        field = next((field for field in words.REASONING if string(delta, field)), None)
        if field is not None and not any(map(text_of, details)):
            self._details.end()
            self.recorder.reasoning(delta[field], state={"field": field})
            self._offer(frame, (*_DELTA, field), None)
        content, refusal = delta.get("content"), string(delta, "refusal")
        if content and isinstance(content, str):
            self._details.end()
            self.recorder.text(content)
            self._offer(frame, (*_DELTA, "content"), None)
        for item in mappings(delta, "content"):
            self._on_content(item)
        if refusal:
            self._has_refusal = True
            self._details.end()
            self.recorder.text(refusal, key="refusal", state={"field": "refusal"})
            self._offer(frame, (*_DELTA, "refusal"), "refusal")
        self._on_annotations(mappings(delta, "annotations"))
        for item in mappings(delta, "executed_tools"):
            self._on_executed(item)
        self._on_audio(mapping(delta, "audio"))
        for item in mappings(delta, "images"):
            self._on_image(item)
        for item in mappings(delta, "tool_calls"):
            call = self._on_call(item)
            self._offer(frame, _ARGUMENTS, call, string(item, "id"))
        if mapping(delta, "function_call"):
            self._on_call({"type": "function_call", "function": delta["function_call"]})

    def _offer(self, frame: Fields | None, path: Path, key: object, ident: str | None = None) -> None:
        """Offer the fast path to frames like *frame*; those with an *ident* are of the call of that id alone."""
        if frame is not None:
            self.offer_fast_path(frame, path, self.recorder.open_of(key), kind=(path, ident))

    def _on_annotations(self, annotations: list[Fields]) -> None:
        """Read sources of the text, and files that the server has parsed."""
        if annotations:
            self._details.end()
            self.recorder.begin(None, "text")
            citations = [found for each in annotations if (found := words.citation_of(each)) is not None]
            self.recorder.keep(None, {"annotations": annotations}, citations)

    def _on_content(self, item: Fields) -> None:
        """Read an item of content in an array, as Mistral sends it."""
        self._details.end()
        text, kind = string(item, "text"), string(item, "type")
        if kind == "thinking":
            more = {key: value for key, value in item.items() if key not in ("type", "thinking")}
            texts = "".join([string(each, "text") or "" for each in mappings(item, "thinking")])
            if texts or more.get("signature"):
                self.recorder.reasoning(texts, state={"field": "thinking", **more})
        elif kind == "text" and text is not None:
            self.recorder.text(text)
        else:
            self.recorder.end(None)
            self.recorder.opaque({"content": item})

    def _on_executed(self, item: Fields) -> None:
        """Read a tool that Groq runs: first its arguments, then the same with its output."""
        key, output = ("executed", integer(item, "index")), string(item, "output")
        if self.recorder.open_of(key) is None:
            name = string(item, "type") or "tool"
            self.recorder.tool_input(None, name, string(item, "arguments") or "", key=key, provider_executed=True)
        if output is not None:
            more = {name: value for name, value in said(item).items() if name not in _OF_EXECUTED}
            self.recorder.result(None, [TextContent(output), *([JsonContent(more)] if more else [])], key=key)

    def _on_audio(self, audio: Fields) -> None:
        """Read a piece of audio; what is spoken is text beside it."""
        known = self._audio
        spoken = known.get("transcript", "") + (string(audio, "transcript") or "")
        known |= {**{key: value for key, value in said(audio).items() if key != "data"}, "transcript": spoken}
        data = base64_bytes(string(audio, "data"))
        if data:
            self._details.end()
            kind = string(mapping(self.request, "audio"), "format") or "pcm16"
            self.recorder.media(data, f"audio/{kind}", key="audio", state={"id": known["id"]} if "id" in known else {})

    def _on_image(self, item: Fields) -> None:
        """Read an image: a data URL, as OpenRouter sends it, or another address."""
        url = string(mapping(item, "image_url"), "url") or ""
        found = read_data_url(url)
        self._details.end()
        if found is not None:
            self.recorder.end_media(data=found[1], media_type=found[0], key=object())
        elif url:
            self.recorder.end_media(uri=url, media_type="image/png", key=object())

    # -- calls

    def _on_call(self, item: Fields) -> _Call:
        """Read a piece of a call, and return the call."""
        function = mapping(item, "function") or mapping(item, "custom")
        call = self._call_of(item, string(function, "name") or None)
        self._details.end()
        arguments = function.get("arguments", function.get("input"))
        if isinstance(arguments, Mapping):
            arguments = write_json(arguments).decode()
        state = {key: value for key, value in said(item).items() if key not in _OF_CALL}
        more = {key: value for key, value in said(function).items() if key not in _OF_FUNCTION}
        state |= {"type": call.kind} if call.kind != "function" else {}
        state |= {"function": more} if more else {}
        self.recorder.tool_input(
            call.id, call.name, arguments if isinstance(arguments, str) else "", key=call, state=state
        )
        return call

    def _call_of(self, item: Fields, name: str | None) -> _Call:
        """
        Return the call of a piece: that of its index, or the last one where it has none.

        Another id at the same index is another call: Ollama and others number all calls 0.
        """
        index, ident = integer(item, "index"), string(item, "id") or None
        call = self._at.get(index)
        if call is not None and (
            ident not in (None, call.id)
            if call.id is not None
            else index is None and name is not None and call.name is not None
        ):
            call = None
        if call is None:
            call = _Call(ident, name, string(item, "type") or "function")
            self._calls.append(call)
            self._at[index] = self._at[None] = call
        elif ident is not None and call.id is None:
            call.id = ident
            if call.name is not None:
                self.recorder.keep(call, {"id": ident})
        call.name = call.name or name
        return call

    def _end_call(self, call: _Call) -> None:
        """End the input of a call. A null counts as none; that of a custom tool is free text."""
        opened = self.recorder.open_of(call)
        text = "" if opened is None else str(opened.buffer.value()).strip()
        if opened is not None and (call.kind == "custom" or text == "null"):
            whole = {"input": opened.buffer.value()} if call.kind == "custom" else {}
            self.recorder.end_tool_input(key=call, input=whole)
        else:
            self.recorder.end(call)
