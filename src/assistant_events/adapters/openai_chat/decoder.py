"""
Chat Completions to events.

A *chunk* has a delta of each field of one message. Facts: SDK types of openai 3.52.0, recordings of OpenAI and of forty
compatible servers, 2023-07 to 2026-10. What a chunk holds decides how it is read, not which server sent it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.errors import error_of, is_cut
from assistant_events.adapters.frame_templates import DeltaFrames, Path
from assistant_events.adapters.gateway_deltas import image_in, learn_logprobs, learn_returned, text_in, usual_delta
from assistant_events.adapters.items import piece_key
from assistant_events.adapters.json_fields import (
    Fields,
    array,
    base64_bytes,
    filled,
    has_any,
    integer,
    learn_arrays,
    listed,
    mapping,
    mappings,
    others,
    string,
)
from assistant_events.adapters.openai_chat import vocabulary as words
from assistant_events.adapters.openai_errors import ERRORS, chunk_error, failure_in
from assistant_events.adapters.server_tools import ServerTools
from assistant_events.adapters.streamed_calls import StreamedCalls, id_of, type_of
from assistant_events.adapters.streamed_details import StreamedDetails
from assistant_events.adapters.tables import names
from assistant_events.adapters.text_places import citations_of
from assistant_events.recorder.calls import CUTS
from assistant_events.values import ErrorInfo, FinishReason, write_json

_DELTA: Final[Path] = ("choices", 0, "delta")
_ARGUMENTS: Final[Path] = (*_DELTA, "tool_calls", 0, "function", "arguments")

_MESSAGE: Final = words.CONTENTS | {"role", "parsed", "index"}
_WITHOUT_NEWS: Final = ("keepalive", "ping", "content.", "refusal.", "tool_calls.", "logprobs.")  # helper of openai


class OpenAIChatDecoder(DecoderBase):
    """Decodes streams and documents of `POST /chat/completions`, of OpenAI and of compatible servers."""

    dialect = "openai-chat"
    dump_without = "exclude_unset"
    provider = "openai"
    usage_table = words.USAGE
    error_table = ERRORS
    answer_fields = frozenset({"choices"})
    delta_frames = DeltaFrames(
        constant=names(
            "id object model system_fingerprint service_tier provider choices index delta role content refusal "
            "tool_calls function_call reasoning reasoning_content function type name finish_reason "
            "native_finish_reason stop_reason logprobs channel token_ids content_filter_results reasoning_details "
            "format text summary signature thinking closed audio annotations matched_stop hidden_states stop_str "
            "prompt_token_ids note extra_fields audio_content input_sensitive output_sensitive input_sensitive_type "
            "output_sensitive_type output_sensitive_int message graph_data llm_data image_data translation_data "
            "web_search_data trace_details"
        ),
        number=(*_DELTA, "tool_calls", 0, "index"),
        loose={"id", "created", "obfuscation", "p"},  # Groq's agents send another id with each chunk
        counted={"usage"},  # vLLM sends the counts so far with each delta
        copies=tuple([(*_DELTA, field) for field in words.REASONING]),  # OpenRouter sends reasoning twice
        own={"citations", "search_results"},
        snapshots=(("choices", 0, "message", "content"),),  # Perplexity sends all text so far
    )

    # -- the shape that DecoderBase asks for

    def on_begin(self) -> None:
        """Forget what was read: the answer begins again."""
        tools = [mapping(tool, "function") or mapping(tool, "custom") for tool in mappings(self.request, "tools")]
        self._calls = StreamedCalls(self, {string(tool, "name") or "" for tool in tools}, {"custom": "input"})
        self._results = ServerTools(self, self._calls)
        self._details = StreamedDetails(self, words.DETAIL_TEXTS, words.DETAIL_PIECES, array=words.DETAILS[0])
        self._finish_reason: str | None = None
        self._given: FinishReason | None = None
        self._is_document = self._is_streamed = self._is_completion = self._has_refusal = False
        self._is_early = self._is_over = False
        self._frame: Fields | None = None  # the chunk, when frames like it may take the fast path
        self._audio: dict[str, Any] = {}  # its state
        self._sources: list[Fields] = []

    def on_event(self, event: Fields) -> None:
        """Read one chunk, or a whole answer."""
        if string(event, "model") == "keepalive":  # the first chunk of oMLX (its #1478)
            return
        if "choices" not in event:  # an event of the helper of openai, of mistralai, or of AIML API, has the chunk
            inside = (mapping(event, name) for name in ("chunk", "data", "event"))
            event = next((each for each in inside if "choices" in each), event)
        choices, error = [*self._results.one_message_each(mappings(event, "choices"))], chunk_error(event)
        fault, is_chunk = event.get("error"), not event.keys().isdisjoint(("choices", "usage", "id"))
        failed = bool(error or fault) or (fault is not None and not is_chunk)
        if not (is_chunk or failed):
            if self.frame_name() == "error":
                self._fail(event)
            elif not (string(event, "type") or "").startswith(_WITHOUT_NEWS) and not event.keys() <= words.PADDING:
                self.note("unknown-event", "an event that is not a chunk was left out")
            return
        self._learn(event)
        for choice in choices:
            if integer(choice, "index"):
                self.note("other-choice", "the delta of another choice was left out")
            else:
                self._on_choice(event, choice)
        if failed:
            self._fail(error)

    def on_failing(self) -> None:
        """Begin calls and sources that wait for a name or a text; what is open behind a reason to finish is whole."""
        if self._is_over:
            self._details.end()
            self.recorder.end(None)
        self._results.end()
        if self._sources and self.recorder.open_of(None) is None:
            self.recorder.begin(None, "text")
        elif self._sources:
            self.recorder.keep(None, {"annotations": self._sources})  # of a reasoning that was cut
        self._keep_sources()
        self._calls.begin_waiting()
        if self._is_over:
            for key in (None, "refusal", "audio"):  # the first may be a text for the sources
                self.recorder.end(key)
            self._calls.end(is_cut=self._given in CUTS)

    def on_done(self) -> None:
        """End the answer; without a single chunk there is none."""
        if not self.recorder.started:
            self.fail_step(self.interruption())
            return
        self._is_over = True
        self.on_failing()
        self.finish_step(self.finish_reason_of(self._given, refused=self._has_refusal), self._finish_reason)

    def on_close(self, error: ErrorInfo | None) -> None:
        """End an answer whose reason to finish has come; servers leave the mark out."""
        if not is_cut(error) and (self._finish_reason is not None or self._is_document):
            self.on_done()

    # -- the answer

    def _learn(self, event: Fields) -> None:
        """Remember the facts of a chunk, and start the step with the first that has any."""
        if ident := string(event, "id"):
            self.step_state.setdefault("id", ident)
        if ident or mappings(event, "choices"):
            self.ensure_started(string(event, "model") or None)
        for place in (mapping(event, "x_groq"), event) if "x_groq" in event else (event,):
            self.note_usage(self._results.usage_of(ident, mapping(place, "usage")))
        self.learn_details(event, words.CHUNK)

    def _on_choice(self, event: Fields, choice: Fields) -> None:
        delta, message = mapping(choice, "delta"), mapping(choice, "message")
        is_empty = not (self._is_streamed or any(map(delta.get, words.CONTENTS)))
        is_beside = is_empty and any(map(message.get, words.CONTENTS))  # as of Perplexity
        self._is_document = is_beside or (choice.get("delta") is None and choice.get("message") is not None)
        delta = message if self._is_document else delta
        delta, self._is_completion = delta or {"content": choice.get("text")}, not delta
        delta = {} if (is_result := self._results.add(delta)) else delta
        self.learn_details(choice, words.CHOICE, level="choice")
        if not delta.keys().isdisjoint(words.RETURNED):
            learn_returned(self.step_state, delta, words.RETURNED)
        given, delta = delta, usual_delta(self, event, delta, words.DETAILS)
        if more := others(delta, _MESSAGE):  # arrays as the official client adds deltas
            self.learn_details(learn_arrays(self.step_details, "message", more), (), level="message")
        self.note_usage(mapping(choice, "usage"))
        logprobs, reason = learn_logprobs(self.step_details, choice), string(choice, "finish_reason")
        reason = None if reason == "null" else reason  # as KoboldCpp and Xunfei's workflows write it
        self._frame = event if delta is given and not (logprobs or reason) else None
        # MiniMax repeats the message behind its deltas. Proxies of Gemini have a reason to finish in each chunk.
        repeats = self._is_document and self._is_streamed
        has_more = is_result or (self._on_delta(self._results.sources_in(delta) if repeats else delta) and not repeats)
        self._is_streamed = self._is_streamed or (has_more and not self._is_document)
        self._is_early = self._finish_reason is not None and (has_more or self._is_early)
        error, failure = error_of(choice) if "error" in choice else None, failure_in(choice)
        if error or failure:
            error = error or error_of(event)  # OpenRouter has it in one of them
            self._fail({**error, "finish_reason": reason} if error else failure)
        elif reason and reason != (other := self._finish_reason):
            if other is None or self._is_early:
                self._finish_reason, self._is_early = reason, False
                self._given = words.FINISH_REASONS.get(reason.partition(":")[0].lower(), FinishReason.OTHER)
            other = other if reason == self._finish_reason else reason
            self.learn_details({"other_finish_reason": other}, (), level="choice")
        self._is_over = not (self.terminal or has_more or self._finish_reason is None)
        if self._is_over:  # of another part more may come: Open WebUI has a reason behind each chunk (jcode#1326)
            self._calls.end_whole()

    def _fail(self, error: Fields) -> None:
        """Fail the answer; a reason to finish that came before is one of its details."""
        self.learn_details({"finish_reason": self._finish_reason}, (), level="choice")
        self.fail_step(ERRORS.read(error))

    def _on_delta(self, delta: Fields) -> bool:
        """Read the fields of a delta in the order of a message, and return whether it has any."""
        filled = [key for key, value in delta.items() if value and key in words.CONTENTS and has_any(value)]
        named, thought = (next(filter(filled.__contains__, fields), "") for fields in (words.DETAILS, words.REASONING))
        details = mappings(delta, named)
        shown = "".join([string(each, self._details.text_field(each)) or "" for each in details])
        filled = [key for key in filled if not (shown and key in words.REASONING)]
        self._frame = self._frame if len(filled) == 1 and len(array(delta, filled[0])) <= 1 else None
        if shown and thought and delta[thought] != shown:
            self.note("other-reasoning", "the text beside other details of the reasoning was left out")
            self._frame = None
        opened = getattr(self.recorder.open_of(None), "kind", None)
        if details and not shown and opened == "text" and (text := text_in(delta, "content")):
            self._on_text("content", text)  # Gemini behind OpenRouter ends a text so (danny-avila/LibreChat#10990)
            filled.remove("content")
        for item in details:
            if (facts := self._details.add(named, item)) is None:
                self._frame = None
            else:
                self._offer((*_DELTA, named, 0, self._details.text_field(item)), piece_key(facts), write_json(facts))
        for field in filter(filled.__contains__, dict.fromkeys((thought, "content", "refusal", *self._READERS))):
            text = text_in(delta, field) if field in (thought, "refusal", "content") else None
            if text:
                self._on_text(field, text)
            if text or (read := self._READERS.get(field)) is None:  # a signature beside a thought, of Envoy
                self.learn_details(mapping(delta, field), ("content", "text"), level="message")
            else:
                is_numbered = self._is_document and field in ("executed_tools", "tool_calls")
                items = listed(delta, field)
                for at, item in enumerate(self._calls.numbered(items) if field == "tool_calls" else items):
                    if field != "annotations":
                        self._details.end()
                    # Of a document each is whole, and ids may be the same.
                    read(self, {**item, "index": at} if is_numbered else item)
            self._keep_sources()
        return bool(filled)

    def _offer(self, path: Path, key: object, ident: object = None) -> None:
        """Offer the fast path to frames like this one: those with the same *ident*, such as the id of a call."""
        if self._frame is not None:
            self.offer_fast_path(self._frame, path, self.recorder.open_of(key), kind=(path, ident))

    def _on_text(self, field: str, text: str) -> None:
        """Read a piece of the text, of the reasoning or of a refusal."""
        key = "refusal" if field == "refusal" else None
        self._has_refusal = self._has_refusal or key is not None
        self._details.end()
        add = self.recorder.reasoning if field in words.REASONING else self.recorder.text
        add(text, key=key, state={} if field == "content" else {"field": field})
        self._offer(("choices", 0, "text") if self._is_completion else (*_DELTA, field), key)

    def _keep_sources(self) -> None:
        """Keep the sources that wait, or files that the server has parsed, for the text that is open, if one is."""
        if self._sources and getattr(self.recorder.open_of(None), "kind", None) == "text":
            citations = [each for source in self._sources for each in citations_of(source)]
            self.recorder.keep(None, {"annotations": self._sources}, citations)
            self._sources = []

    def _on_content(self, item: Fields) -> None:
        """Read an item of content in an array, as Mistral and Databricks send it."""
        text, kind = string(item, "text"), string(item, "type") or ""
        if kind in words.THOUGHTS and not string(item, words.THOUGHTS[kind][0]):
            field, usual = words.THOUGHTS[kind]
            more = others(item, ("type", field))
            for thought in mappings(item, field) or [{}]:
                is_text = bool(string(thought, "text")) or string(thought, "type") in (None, usual)
                facts = filled(thought, ("type", "text") if is_text else ("text",))
                if not is_text:
                    self.recorder.end(None)  # it is a reference
                self.recorder.begin(None, "reasoning", {"field": field})
                self.recorder.reasoning(string(thought, "text") or "")
                self.recorder.keep(None, more | ({"thought": facts} if facts else {}))
                if facts:
                    self.recorder.end(None)  # a signature is the end of a thought
            self._offer((*_DELTA, "content", 0, field, 0, "text"), None, write_json(more))
        elif kind in ("text", "") and text is not None:  # without a type: Qwen
            self.recorder.text(text)
            self.recorder.keep(None, details=others(item, ("type", "text")))
        else:
            self.recorder.end(None)
            self.recorder.opaque({"content": item})

    def _on_audio(self, audio: Fields) -> None:
        """Read a piece of audio; what is spoken is text beside it."""
        spoken = (string(mapping(self.step_details, "audio"), "transcript") or "") + (string(audio, "transcript") or "")
        self.learn_details({**audio, "transcript": spoken or None}, ("id", "data"), level="audio")
        self._audio |= {key: audio[key] for key in ("id",) if audio.get(key)}
        if data := base64_bytes(string(audio, "data")):
            kind = string(mapping(self.request, "audio"), "format") or "pcm16"
            self.recorder.media(data, f"audio/{kind}", key="audio", state=self._audio)

    def _on_image(self, item: Fields) -> None:
        """Read an image: a data URL, as OpenRouter sends it, or another address."""
        if image := image_in(item):
            self.recorder.end_media({}, image.data, image.uri, media_type=image.media_type)

    def _on_call(self, item: Fields) -> None:
        """Read a piece of a call; more of them, which most servers send without its id, may take the fast path."""
        function = mapping(item, "function") or mapping(item, "custom")
        more = others(function, ("name", "arguments", "input", "parsed_arguments")) or None
        facts = {**item, "type": type_of(item), "function": more}
        index, ident, name = integer(item, "index"), id_of(item), string(function, "name")
        given = function.get("arguments", function.get("input"))
        call = self._calls.add(index, ident or None, name or None, given, others(facts, ("id", "index", "custom")))
        if self._frame is not None and self._calls.continues(call, name):  # else another one may be another call
            self._offer(_ARGUMENTS, call, (ident, name))
            if ident is not None:
                opened = self.recorder.open_of(call)
                self.offer_fast_path(None, _ARGUMENTS, opened, kind=(_ARGUMENTS, (None, None)), number=index)

    # Any: the decoder.
    _READERS: ClassVar[Mapping[str, Callable[[Any, Fields], object]]] = {
        "content": _on_content,
        "annotations": lambda self, item: self._sources.append(item),
        "executed_tools": lambda self, item: self._results.add_executed(item),
        "images": _on_image,
        "audio": _on_audio,
        "tool_calls": _on_call,
        "function_call": lambda self, item: self._on_call({"type": "function_call", "index": -1, "function": item}),
    }
