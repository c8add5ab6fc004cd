"""
Gemini's generateContent to events.

Each chunk of a stream is a part of the whole answer: its parts follow those of the chunks before. A text has no marks
of its start and end: it ends where a part of another kind comes, or with a part that has a signature. Facts: types of
google-genai 3.4.0, recordings of 2024-12 to 2026-06.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, Unpack

from assistant_events.adapters.base import DecoderBase, DecoderOptions, StepFacts
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.gemini_generate_content import vocabulary as words
from assistant_events.adapters.gemini_generate_content.grounding import citations_of
from assistant_events.adapters.json_fields import Fields, base64_bytes, flag, integer, mapping, mappings, said, string
from assistant_events.adapters.json_pieces import JsonPieces
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, JsonContent, TextContent, Usage, read_json
from assistant_events.values.content import ContentInput

_FRAME = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId", "turnToken", "createTime"})
_OF_CLIENT = frozenset({"sdkHttpResponse", "automaticFunctionCallingHistory", "parsed"})
_CANDIDATE = frozenset({"content", "index", "finishReason", "continuationToken"})
_TEXT_PATH = ("candidates", 0, "content", "parts", 0, "text")


class GeminiGenerateContentDecoder(DecoderBase):
    """
    Decodes streams and documents of `models.generateContent`, of the Gemini API and of Vertex.

    Streams are server-sent events; one that was asked for without `alt=sse` needs the framing `JsonArray`. The answer
    ends with its body, since no frame is marked as the last.
    """

    dialect = "gemini-generate-content"
    provider = "google"
    usage_table = words.USAGE
    delta_frames = DeltaFrames(
        constant=("role", "index", "thought", "modelVersion", "responseId", "turnToken", "createTime"),
        counted=("usageMetadata",),
    )

    def __init__(self, message_id: str, **options: Unpack[DecoderOptions]) -> None:
        super().__init__(message_id, **options)
        self.on_rejoin()

    # -- the shape that DecoderBase asks for

    def on_rejoin(self) -> None:
        """Forget what was read: the message begins again."""
        self._model: str | None = None
        self._index: int | None = None
        self._items = 0
        self._text: _OpenText | None = None

        self._call: _PartialCall | None = None
        self._calls: dict[tuple[str, str], list[int]] = {}
        """By kind and id, and by kind and tool, the items of calls that may have a result, oldest first."""

        self._reason: str | None = None
        self._counts: Fields = {}
        self._traffic: dict[str, Any] = {}
        self._state: dict[str, Any] = {}
        self._details: dict[str, Any] = {}

    def on_event(self, event: Fields) -> None:
        """Read one chunk."""
        if event.get("error") is not None:
            self.fail_step(words.ERRORS.read_document(event))
            return
        self._model = self._model or string(event, "modelVersion") or None
        self._state |= {key: each for key in ("responseId", "turnToken") if (each := string(event, key))}
        self._count(mapping(event, "usageMetadata"))
        self._learn(event, _FRAME | _OF_CLIENT)
        if "candidates" in event or "responseId" in event:
            self.ensure_started()
        for candidate in mappings(event, "candidates"):
            index = integer(candidate, "index") or 0
            self._index = index if self._index is None else self._index
            if index == self._index:
                self._on_candidate(candidate, event)
            else:
                self.note("other-candidate", "of several candidates only the first is kept")

    def on_skipped(self, counted: Fields) -> None:
        """Take the counts of the last frame on the fast path."""
        self._count(mapping(counted, "usageMetadata"))

    def on_close(self, error: ErrorInfo | None) -> None:
        """Finish the step when the body has ended and a chunk had a reason for it; a bare error at its end fails it."""
        if error is not None:
            return
        for line in self.tail.splitlines():
            document = read_json(line) if line.startswith('{"error"') else None
            if isinstance(document, dict):
                self.fail_step(words.ERRORS.read_document(document))
                return
        if self._reason is not None or words.block_reason_of(self._details):
            self._finish()

    def ensure_started(self) -> None:
        """Begin the step if nothing has."""
        if not self.recorder.started:
            self.recorder.start(self.origin(served_model=self._model), state=self._state)

    def facts(self) -> StepFacts:
        """Return usage, state and details of the answer, for each end of its step."""
        return {"usage": self._usage_so_far(partial=True), "state": self._state, "details": self._details}

    # -- the answer

    def _count(self, usage: Fields) -> None:
        """Remember the counts: the last ones are totals. Early chunks have only what kind of traffic they are."""
        counts = {key: each for key, each in usage.items() if key.endswith(("TokenCount", "TokensDetails"))}
        self._counts = counts or self._counts
        self._traffic |= {key: each for key, each in said(usage).items() if key not in counts}

    def _usage_so_far(self, *, partial: bool) -> Usage | None:
        if not self._counts:
            return None
        return words.USAGE.read({**self._traffic, **self._counts, **({"partial": True} if partial else {})})

    def _learn(self, fields: Fields, own: frozenset[str]) -> None:
        """Remember facts about the answer; others than *own* are details, of which later ones count."""
        for key, value in said(fields).items():
            if key not in own:
                before = self._details.get(key)
                both = isinstance(before, dict) and isinstance(value, dict)
                self._details[key] = {**mapping(self._details, key), **value} if both else value

    def _on_candidate(self, candidate: Fields, event: Fields) -> None:
        self._learn(candidate, _CANDIDATE)
        if token := string(candidate, "continuationToken"):
            self._state["continuationToken"] = token
        for part in mappings(mapping(candidate, "content"), "parts"):
            self._on_part({key: each for key, each in said(part).items() if each != "" or key == "text"}, event)
        self._reason = words.reason_of(candidate) or self._reason

    def _finish(self) -> None:
        self.ensure_started()
        fragment = None if self._text is None else self.recorder.open_of(self._text.key)
        if isinstance(fragment, OpenFragment) and fragment.kind == "text":
            self.recorder.keep(fragment.key, citations=citations_of(self._details, fragment.buffer.value()))
        self._end_text()
        self._end_call()
        usage = self._usage_so_far(partial=False)
        reason = self._reason or words.block_reason_of(self._details) or ""
        error = words.failure(reason, string(self._details, "finishMessage")) if self._reason else None
        if error is not None:
            self.fail_step(error, usage=usage)
            return
        finish = words.FINISH_REASONS.get(reason, FinishReason.OTHER)
        if not self._reason:
            finish = FinishReason.CONTENT_FILTER
        elif finish is FinishReason.STOP and self.recorder.unanswered(provider_executed=False):
            finish = FinishReason.TOOL_CALLS
        self.finish_step(finish, reason, usage=usage)

    # -- parts

    def _on_part(self, part: Fields, event: Fields) -> None:
        kind = next((each for each in words.PARTS if each in part), "")
        state = {key: each for key, each in part.items() if key != kind and key not in words.RESERVED}
        fields = mapping(part, kind)
        match kind:
            case "text":
                self._on_text(string(part, "text") or "", state, event)
                return
            case "functionCall" if not string(fields, "name"):
                if self._call is not None:
                    self._on_arguments(self._call, fields, state)
                    return
                if not fields and not state:
                    return  # the end of a call that had ended
            case _:
                pass
        self._end_call()
        self._end_text()
        key = self._next_item()
        tool = words.tool_of(kind, fields)
        own = {"i": key, **state, **_rest(kind, fields)}
        match kind:
            case "functionCall" | "executableCode" | "toolCall" if tool:
                self._on_call(key, kind, tool, fields, own)
            case "codeExecutionResult" | "toolResponse" | "functionResponse" if tool:
                self._on_result(key, kind, tool, fields, own)
            case "inlineData" if (data := _bytes(fields)) is not None:
                self.recorder.end_media(own, data, media_type=_media_type(fields), key=key)
            case "fileData" if uri := string(fields, "fileUri"):
                self.recorder.end_media(own, uri=uri, media_type=_media_type(fields), key=key)
            case _:
                self.recorder.opaque({"i": key, "part": part}, key)

    def _next_item(self) -> int:
        """Return the number of a new item: parts have it in their state, as `i`, and so has the result of a call."""
        self._items += 1
        return self._items - 1

    def _on_text(self, text: str, state: dict[str, Any], event: Fields) -> None:
        kind = "reasoning" if state.pop("thought", None) is True else "text"
        if not text and not state:
            return  # usual in the last chunk
        self._end_call()
        opened = self._text
        if opened is None or opened.kind != kind or opened.has_state:
            self._end_text()
            opened = self._text = _OpenText(self._next_item(), kind)
            self.recorder.begin(opened.key, kind, {"i": opened.key})
        if kind == "text":
            self.recorder.text(text, key=opened.key)
        else:
            self.recorder.reasoning(text, key=opened.key)
        if state:
            self.recorder.keep(opened.key, state)
            opened.has_state = True
        else:
            self.offer_fast_path(event, _TEXT_PATH, self.recorder.open_of(opened.key), kind=kind)

    def _end_text(self) -> None:
        if self._text is not None:
            self.recorder.end(self._text.key)
            self._text = None

    # -- calls and results

    def _on_call(self, key: int, kind: str, tool: str, fields: Fields, state: dict[str, Any]) -> None:
        call_id = string(fields, "id") or None
        for name in {call_id, tool} - {None}:
            self._calls.setdefault((kind, name or ""), []).append(key)
        if kind != "functionCall":
            code = {name: fields[name] for name in ("language", "code") if name in fields}
            arguments = code if kind == "executableCode" else mapping(fields, "args")
            known = {"type": kind, **state}
            self.recorder.tool_call(call_id, tool, arguments, key=key, provider_executed=True, state=known)
        elif "args" in fields or not (_goes_on(fields) or mappings(fields, "partialArgs")):
            self.recorder.tool_call(call_id, tool, mapping(fields, "args"), key=key, state=state)
        else:
            self.recorder.tool_input(call_id, tool, key=key, state=state)
            self._call = _PartialCall(key)
            self._on_arguments(self._call, fields, {})

    def _on_arguments(self, call: _PartialCall, fields: Fields, state: dict[str, Any]) -> None:
        """Add to the arguments of the call that is open: only its first part has its name."""
        for argument in mappings(fields, "partialArgs"):
            name, value = next(((name, argument[name]) for name in words.VALUES if name in argument), ("", None))
            value = None if name == "nullValue" else _whole(value)
            goes_on = flag(argument, "willContinue") is True
            delta = call.arguments.add(string(argument, "jsonPath") or "", value, goes_on=goes_on) if name else None
            if delta is None:
                self.note("stray-argument", "a value without a place in the arguments was left out")
            else:
                self.recorder.tool_input(None, None, delta, key=call.key)
        if state:
            self.recorder.keep(call.key, state)
        if not _goes_on(fields):
            self._end_call()

    def _end_call(self) -> None:
        """End the arguments that are open: the part that ends them may be missing."""
        if self._call is not None:
            key, arguments = self._call.key, self._call.arguments
            self._call = None
            self.recorder.tool_input(None, None, arguments.end(), key=key)
            self.recorder.end_tool_input(key=key, input=None if arguments.is_ordered else arguments.value)

    def _on_result(self, key: int, kind: str, tool: str, fields: Fields, state: dict[str, Any]) -> None:
        """Record a result: of the call with its id, or of the last one of its tool where it has none."""
        call_kind, field = words.CALLS[kind]
        call_id = string(fields, "id") or None
        waiting = self._calls.get((call_kind, call_id or tool), [])
        output: ContentInput = ()
        error = None
        if kind != "codeExecutionResult":
            output = JsonContent(mapping(fields, field))
        else:
            output = TextContent(string(fields, field) or "")
            outcome = string(fields, "outcome") or ""
            state |= {"outcome": outcome} if outcome else {}
            if outcome != "OUTCOME_OK":
                error = ErrorInfo(kind=ErrorKind.TOOL, code=outcome or None, message=outcome or "the code failed")
        self.recorder.result(
            call_id,
            output,
            error,
            name=tool,
            state=state,
            key=waiting.pop() if waiting else key,
            provider_executed=True,
            call_state={"type": call_kind},
        )


class _OpenText:
    """The text or reasoning that the next part may continue."""

    def __init__(self, key: int, kind: str) -> None:
        self.key = key
        self.kind = kind
        self.has_state = False
        """Whether a part had state: it was the last of this text, which stays open for the sources at the end."""


class _PartialCall:
    """A call whose arguments come in pieces."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.arguments = JsonPieces()


def _goes_on(call: Fields) -> bool:
    return any(flag(each, "willContinue") is True for each in (call, *mappings(call, "partialArgs")))


def _rest(kind: str, fields: Fields) -> dict[str, Any]:
    """Return the fields in the object of a part that have no word here, for the state."""
    # Any: plain JSON.
    rest = {key: each for key, each in said(fields).items() if key not in words.OWN_FIELDS.get(kind, fields)}
    return {"fields": rest} if rest else {}


def _whole(value: Any) -> Any:
    """Return a number without a fraction as an integer: those of arguments in pieces are doubles."""
    # Any: plain JSON.
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53 else value


def _bytes(blob: Fields) -> bytes | None:
    """Return the bytes of a blob; official clients dump them in the alphabet for addresses (`-_`)."""
    return base64_bytes((string(blob, "data") or "").replace("-", "+").replace("_", "/"))


def _media_type(fields: Fields) -> str:
    return string(fields, "mimeType") or "application/octet-stream"
