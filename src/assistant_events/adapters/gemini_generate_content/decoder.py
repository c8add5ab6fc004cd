"""
Gemini's generateContent to events.

Each chunk of a stream is a part of the whole answer: its parts follow those of the chunks before. A text has no marks
of its start and end: it ends where a part of another kind comes, or with a part that has a signature. Facts: types of
google-genai 3.4.0, recordings of 2024-12 to 2026-06.
"""

from __future__ import annotations

from typing import Any

from assistant_events.adapters import google_rpc
from assistant_events.adapters.base import DecoderBase, StepFacts
from assistant_events.adapters.call_results import read_output
from assistant_events.adapters.errors import is_cut
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.gemini_generate_content import vocabulary as words
from assistant_events.adapters.gemini_generate_content.grounding import citations_of
from assistant_events.adapters.json_fields import (
    Fields,
    base64_bytes,
    extend_arrays,
    flag,
    integer,
    learn,
    mapping,
    mappings,
    merged,
    others,
    string,
    taken_object,
    text_of_input,
)
from assistant_events.adapters.json_pieces import JsonPieces
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, TextContent

_FRAME = frozenset({*words.OF_RESPONSE, "candidates", "usageMetadata", "modelVersion", *words.DROPPED})
_CANDIDATE = frozenset({"content", "index", "finishReason", "continuationToken", "logprobsResult", "citationMetadata"})
_GROWING = ("partialArgs", "willContinue")
_KINDS = ("text", *words.OWN_FIELDS)


class GeminiGenerateContentDecoder(DecoderBase):
    """
    Decodes streams and documents of `models.generateContent`, of the Gemini API and of Vertex.

    Streams are server-sent events; one that was asked for without `alt=sse` needs the framing `JsonArray`. The answer
    ends with its body, since no frame is marked as the last.
    """

    dialect = "gemini-generate-content"
    provider = "google"
    item_key = "i"
    usage_table = words.USAGE
    error_table = google_rpc.ERRORS
    answer_fields = frozenset({"candidates", "promptFeedback", "usageMetadata", "response", *google_rpc.OF_DUMPS})
    delta_frames = DeltaFrames(
        constant=("role", "index", "thought", "modelVersion", "responseId", "turnToken", "createTime"),
        counted=("usageMetadata",),
    )

    # -- the shape that DecoderBase asks for

    def on_begin(self) -> None:
        """Forget what was read: the message begins again."""
        self._model: str | None = None
        self._index: int | None = None
        self._last_item = -1  # its number: parts have theirs in their state, as `i`, and so has the result of a call
        self._text: OpenFragment | None = None
        """The text or reasoning that the next part may continue; with state, it waits for the sources at the end."""

        self._audio_type: str = ""  # of the audio that is open

        self._open_calls: dict[str | int, tuple[int, Fields, JsonPieces]] = {}
        """By id, or without one by item, the calls whose arguments are open: item, first fields, and what came."""

        self._calls: dict[tuple[str, str], list[int]] = {}
        """By kind and id, and by kind and tool, the items of calls that may have a result, oldest first."""

        self._given = 0  # results of the official client
        self._reason: str | None = None
        self._is_finished = False
        self._counts: Fields = {}
        self._traffic: dict[str, Any] = {}

    def on_event(self, event: Fields) -> None:
        """Read one chunk; Code Assist has it in an object."""
        event = {**others(event, ("response",)), **mapping(event, "response")} if mapping(event, "response") else event
        if not event.keys().isdisjoint(google_rpc.OF_DUMPS):
            event = google_rpc.camel_keys(event)
        if event.get("error") is not None:
            self.fail_step(google_rpc.ERRORS.read_document(event))
            return
        self._model = self._model or string(event, "modelVersion") or None
        state = {key: value for key in words.OF_RESPONSE if (value := string(event, key))}
        if not state.items() <= self.step_state.items():
            self.step_state |= state
            self._fast_paths.clear()  # learned frames have the old values, which would count again
        self._keep_counts(mapping(event, "usageMetadata"))
        learn(self.step_details, event, _FRAME)
        candidates = mappings(event, "candidates")
        if candidates or "responseId" in event:
            self.ensure_started()
        if "automaticFunctionCallingHistory" in event:
            self._on_history(event)
        for candidate in candidates:
            index = integer(candidate, "index") or 0
            self._index = index if self._index is None else self._index
            if index == self._index:
                self._on_candidate(candidate, event)
            else:
                self.note("other-candidate", "of several candidates only the first is kept")

    def on_skipped(self, counted: Fields) -> None:
        """Take the counts of the last frame on the fast path."""
        self._keep_counts(mapping(counted, "usageMetadata"))

    def on_close(self, error: ErrorInfo | None) -> None:
        """Finish the step when the body has ended and a chunk had a reason for it; a bare error at its end fails it."""
        if not (is_cut(error) or self.bare_error()) and (self._reason or words.block_reason_of(self.step_details)):
            self._finish()

    def ensure_started(self, served_model: str | None = None) -> None:
        """Begin the step if nothing has."""
        super().ensure_started(served_model or self._model)

    # -- the answer

    def facts(self) -> StepFacts:
        """Return the facts that each end of the step has; the counts are partial when the stream was cut."""
        if self._counts:
            self.note_usage({**self._traffic, **self._counts}, partial=not self._is_finished)
        return super().facts()

    def _keep_counts(self, usage: Fields) -> None:
        """Remember the counts: the last ones are totals. Early chunks have only what kind of traffic they are."""
        if usage.keys() != self._counts.keys() or None in usage.values():  # else only the numbers are new
            counts = {key: n for key, n in others(usage).items() if key.endswith(("TokenCount", "TokensDetails"))}
            self._traffic |= others(usage, counts)
            usage = counts or self._counts
        self._counts = usage

    def _on_history(self, event: Fields) -> None:
        for place, part in enumerate(google_rpc.results_of_client(event)[self._given :], self._given + 1):
            fields = mapping(part, "functionResponse")
            if self._calls.get(("functionCall", string(fields, "id") or string(fields, "name") or "")):
                self._given = place
                self._on_part(others(part), None)

    def _on_candidate(self, candidate: Fields, event: Fields) -> None:
        learn(self.step_details, candidate, _CANDIDATE)
        for key in ("logprobsResult", "citationMetadata"):
            if key in candidate:
                extend_arrays(self.step_details, key, mapping(candidate, key), repeats=key == "citationMetadata")
        if token := string(candidate, "continuationToken"):
            self.step_state["continuationToken"] = token
        parts = mappings(mapping(candidate, "content"), "parts")
        alone = event if len(parts) == 1 else None  # what other parts of a chunk end or sign is not continued
        for part in parts:
            if kept := {key: each for key, each in part.items() if each is not None and (each != "" or key == "text")}:
                self._on_part(kept, alone)  # Vertex sends empty ones
        self._reason = google_rpc.enum_word(candidate, "finishReason", words.REASONS) or self._reason

    def _finish(self) -> None:
        self.ensure_started()
        if self._text is not None:
            self.recorder.keep(self._text.key, citations=citations_of(self.step_details, self._text.buffer.value()))
        self._end_text()
        self._end_empty_call()
        for address, (item, _, arguments) in [*self._open_calls.items()]:  # without their last part, or cut
            is_followed = item < self._last_item and not arguments.will_continue
            self._end_call(address, complete=is_followed or self._reason == "STOP")
        self._is_finished = True
        if self._reason not in ("CONTINUATION", "MAX_TOKENS"):
            self.step_state.pop("continuationToken", None)  # of a checkpoint, which is void with any other end
        if error := words.failure(self._reason, string(self.step_details, "finishMessage")):
            self.fail_step(error)
        elif self._reason is None:
            self.finish_step(FinishReason.CONTENT_FILTER, words.block_reason_of(self.step_details))
        else:
            finish = words.FINISH_REASONS.get(self._reason, FinishReason.OTHER)
            self.finish_step(self.finish_reason_of(finish), self._reason)

    # -- parts

    def _on_part(self, part: Fields, event: Fields | None) -> None:
        is_bare = "thoughtSignature" in part and part.keys() <= words.BESIDE
        kind, *more = [*filter(part.__contains__, _KINDS)] or ["text" if is_bare else ""]
        if more:  # a part of the service has one kind, and what is beside it is here of the last
            self._on_part({key: part[key] for key in (kind, "thought") if key in part}, None)
            self._on_part({key: each for key, each in part.items() if key != kind}, None)
            return
        state = {key: each for key, each in part.items() if key != kind and key not in words.RESERVED}
        fields = {} if kind == "text" else others(mapping(part, kind))
        continued = self._continued_call(fields) if kind == "functionCall" else None
        if continued is not None:
            self._on_arguments(continued, fields, state)
            return
        self._end_empty_call()
        if kind == "text":
            self._on_text(string(part, "text") or "", state, event)
            return
        if kind == "functionCall" and not (fields or state):
            return  # the end of a call that had ended
        tool, data = words.tool_of(kind, fields), base64_bytes(string(fields, "data"), either=True)
        media_type = string(fields, "mimeType") or "application/octet-stream"
        rest = others(fields, words.OWN_FIELDS.get(kind, fields))
        rest |= {"args": {}} if kind == "toolCall" and fields.get("args") == {} else {}
        if data and not (state or rest) and words.PCM.match(media_type):
            self._on_audio(data, media_type)
            return
        self._end_text()
        key = self._last_item = self._last_item + 1
        own = {"i": key, **state, **({"fields": rest} if rest else {})}
        match kind:
            case "functionCall" | "executableCode" | "toolCall" if tool:
                self._on_call(key, kind, tool, fields, own)
            case "codeExecutionResult" | "toolResponse" | "functionResponse" if tool:
                self._on_result(key, kind, tool, fields, own)
            case "inlineData" | "fileData" if data or string(fields, "fileUri"):
                self.recorder.end_media(own, data, string(fields, "fileUri"), media_type=media_type, key=key)
            case _:
                self.recorder.opaque({"i": key, "part": part}, key)

    def _on_text(self, text: str, state: dict[str, Any], event: Fields | None) -> None:
        kind = "reasoning" if state.pop("thought", None) is True else "text"
        if not text and not state:
            return  # usual in the last chunk
        if self._text is None or self._text.kind != kind or self._text.known:
            self._end_text()
            self._last_item += 1
            self.recorder.begin(self._last_item, kind, {"i": self._last_item})
            opened = self.recorder.open_of(self._last_item)
            assert isinstance(opened, OpenFragment), "it has begun"
            self._text = opened
        key = self._text.key
        (self.recorder.text if kind == "text" else self.recorder.reasoning)(text, key=key)
        if state:
            self.recorder.keep(key, state)
        elif event is not None:
            self.offer_fast_path(event, ("candidates", 0, "content", "parts", 0, "text"), self._text, kind=kind)

    def _on_audio(self, data: bytes, media_type: str) -> None:
        """Add to the audio that is open, or begin a media item."""
        if media_type != self._audio_type:
            self._end_text()
            self._last_item, self._audio_type = self._last_item + 1, media_type
        self.recorder.media(data, media_type, key=self._last_item, state={"i": self._last_item})

    def _end_text(self) -> None:
        if self._text is not None or self._audio_type:
            self.recorder.end(self._last_item)
            self._text, self._audio_type = None, ""

    # -- calls and results

    def _on_call(self, key: int, kind: str, tool: str, fields: Fields, state: dict[str, Any]) -> None:
        call_id = string(fields, "id") or None
        for name in {call_id, tool} - {None}:
            self._calls.setdefault((kind, name or ""), []).append(key)
        if kind != "functionCall":
            code = {name: fields[name] for name in ("language", "code") if name in fields}
            args = code if kind == "executableCode" else mapping(fields, "args")
            self.recorder.tool_call(call_id, tool, args, key=key, provider_executed=True, state={"type": kind, **state})
        else:
            text, whole = text_of_input(fields.get("args")), taken_object(fields, "args") or None
            self.recorder.tool_input(call_id, tool, text, key=key, state=state, input=whole)
            grows = not fields.keys().isdisjoint(_GROWING)
            if (text or whole) and not grows:
                self.recorder.end_tool_input(key=key, input=None if text else whole)
                return
            self._open_calls[call_id or key] = key, fields, JsonPieces()
            if grows:
                self._on_arguments(call_id or key, fields, {})

    def _continued_call(self, fields: Fields) -> str | int | None:
        """Return the address of the call that a part is more of: that with its id, or the last one without a name."""
        given, last = string(fields, "id"), next(reversed(self._open_calls), None)
        if given and (given in self._open_calls or isinstance(last, str)):
            return given if given in self._open_calls else None
        return None if string(fields, "name") else last

    def _end_empty_call(self) -> None:
        """End a call without arguments: gateways send them in the part behind it (unify-chat-provider#48)."""
        last = next(reversed(self._open_calls), None)
        if last is not None and self._open_calls[last][1].keys().isdisjoint(_GROWING):
            key, first, _ = self._open_calls.pop(last)
            self.recorder.end_tool_input(key=key, input=None if string(first, "args") else {})

    def _on_arguments(self, address: str | int, fields: Fields, state: dict[str, Any]) -> None:
        """Add to the arguments of a call that is open: only its first part has its name."""
        key, first, arguments = self._open_calls[address]
        piece = google_rpc.argument_piece(fields) if first.keys().isdisjoint(_GROWING) else None
        self._open_calls[address] = key, merged(first, {"args": piece} if piece else fields), arguments
        if piece:
            self.recorder.tool_input(None, None, piece, key=key)
            return
        for argument in mappings(fields, "partialArgs"):
            delta = arguments.add_argument(argument)
            if delta is None:
                self.note("stray-argument", "a value without a place in the arguments was left out")
            else:
                self.recorder.tool_input(None, None, delta, key=key)
        if state:
            self.recorder.keep(key, state)
        if not any(flag(each, "willContinue") is True for each in (fields, *mappings(fields, "partialArgs"))):
            self._end_call(address)

    def _end_call(self, address: str | int, *, complete: bool = True) -> None:
        key, first, arguments = self._open_calls.pop(address)
        self.recorder.tool_input(None, None, arguments.end(), key=key)
        value = {**mapping(first, "args"), **arguments.value}
        is_text = arguments.is_ordered and len(value) == len(arguments.value)
        self.recorder.end_tool_input(key=key, input=None if is_text else value, complete=complete)

    def _on_result(self, key: int, kind: str, tool: str, fields: Fields, state: dict[str, Any]) -> None:
        """Record a result: of the call with its id; without one of the last of its tool, the first of its function."""
        (call_kind, field), call_id = words.CALLS[kind], string(fields, "id") or None
        waiting = self._calls.get((call_kind, call_id or tool), [])
        output, error = read_output(fields.get(field, None if kind == "toolResponse" else {})), None
        if kind == "codeExecutionResult":
            output = TextContent(string(fields, field) or "")
            outcome = state["outcome"] = google_rpc.enum_word(fields, "outcome", words.OUTCOMES) or words.OUTCOMES[0]
            if outcome != "OUTCOME_OK":
                error = ErrorInfo(kind=ErrorKind.TOOL, code=outcome, message=outcome)
        if not (waiting or key) and self.answer_paused(call_id, output, error, state=others(state, {"i"}), name=tool):
            self._last_item = -1  # it is of the message before
            return
        if not waiting:
            self.note("orphan-result", "a result came without its call, which was made up")
            made_up = {"i": key, "type": call_kind, "orphan": True}
            self.recorder.tool_call(call_id, tool, {}, key=key, provider_executed=True, state=made_up)
        key = waiting.pop(0 if call_kind == "functionCall" else -1) if waiting else key
        self.recorder.result(call_id, output, error, state=state, key=key, provider_executed=True)
