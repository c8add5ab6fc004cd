"""
The items of an interaction: what each kind of wire step becomes.

A wire step is opened by `step.start` or by its first delta, and ends with `step.stop` or with the interaction. It is
the key of its parts in the recorder, which numbers the steps (`i` in the state) and keeps what is known of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from assistant_events.adapters.call_results import read_output
from assistant_events.adapters.fast_path import Continued
from assistant_events.adapters.frame_templates import Path
from assistant_events.adapters.gemini_interactions import citations, vocabulary
from assistant_events.adapters.json_fields import Fields, base64_bytes, distinct, flag, mapping, others, string
from assistant_events.recorder import Recorder
from assistant_events.recorder.calls import OpenCall
from assistant_events.recorder.fragments import JsonMap, OpenFragment, merge_state
from assistant_events.values import ErrorInfo, ErrorKind, State, own, write_json
from assistant_events.values.content import ContentInput
from assistant_events.values.json_values import LazyState, wrap
from assistant_events.values.validators import NO_FIELDS, NO_STATE, as_state

_FAILED = ErrorInfo(kind=ErrorKind.TOOL, message="the tool reported an error")
_TEXT_KEYS = frozenset({"type", "text", "annotations"})
_THOUGHT_KEYS = frozenset({"type", "signature", *vocabulary.SUMMARIES})
_OUTPUT_KEYS = frozenset({"type", "content", "text", "annotations", "error"})
_ARGUMENTS = ("arguments", "partial_arguments")
_USUAL_CALL_KEYS = frozenset({"type", "id", "name", "arguments"})
_CALL_KEYS = _USUAL_CALL_KEYS.union({"signature"}, _ARGUMENTS, vocabulary.DETAILS)
_UNKNOWN_DELTA = "a delta of an unknown type was kept raw"
_UNREAD = "the input came in deltas of an unknown type"
_RESULT_KEYS = frozenset({"type", "call_id", "name", "result", "is_error", "signature", *vocabulary.DETAILS})


class Interaction(Protocol):
    """What a step decoder needs of the decoder of its stream."""

    recorder: Recorder
    request: Fields
    output_error: Fields | None

    def note(self, code: str, message: str) -> None:
        """Record something that could not be used."""

    def answer_paused(self, call_id: str, output: ContentInput, error: ErrorInfo | None, *, state: JsonMap) -> bool:
        """Record a result for a call of the hop before; return whether there is one."""
        ...


class StepDecoder:
    """An item of the interaction; the base class is for those without a meaning here, such as the echo of the input."""

    known: ClassVar[frozenset[str]] = frozenset()
    """Documented fields. Others are kept under `extra` for the way back."""

    usual_delta: ClassVar[str] = ""
    text_path: ClassVar[Path] = ()
    texts: list[Any] | None = None
    """The type of most of its deltas, the place of their text, and (where needed) a list that gets each text."""

    def __init__(self, decoder: Interaction, kind: str, index: int | str = -1) -> None:
        self.decoder = decoder
        self.recorder = decoder.recorder
        self.type = kind
        self.index = index
        """Key of its deltas on the wire."""

        self.implied = False
        """Whether only a delta has announced it so far."""

        self.ended = False

    def accepts(self, kind: str) -> bool:
        """Whether a step that was implied may turn out to be one of *kind*."""
        return kind == self.type

    def same_item(self, fields: Fields) -> bool:
        """Whether a second start under the same index means this step again."""
        return True

    def begin(self, fields: Fields) -> None:
        """Read the fields of the start."""

    def delta(self, kind: str, delta: Fields) -> None:
        """Read one delta."""

    def stop(self) -> None:
        """End the step. Has no effect the second time."""

    def cut(self) -> None:
        """Give the recorder what is known, before the step of the model fails."""

    def continued(self, delta: Fields | None) -> Continued | None:
        """Return what more deltas like *delta*, or (with `None`) the usual ones, only add text to."""
        return self.recorder.open_of(self) if self.usual_delta else None

    def keep(self, state: Mapping[str, object]) -> None:
        """Keep *state* with the part of this step that is open."""
        self.recorder.keep(self, state)

    def keep_extra(self, fields: Fields) -> None:
        """Keep the fields that are not documented."""
        if extra := others(fields, self.known):
            self.keep({"extra": extra})

    def keep_delta(self, delta: Fields) -> None:
        """Keep a delta of an unknown type raw."""
        self.decoder.note("unknown-delta", _UNKNOWN_DELTA)
        self.keep({"deltas": [delta]})


class OutputStep(StepDecoder):
    """The visible answer: text and media. A media item ends the text before it; text after it is a part of its own."""

    known = _OUTPUT_KEYS
    usual_delta = "text"
    text_path = ("delta", "text")

    def __init__(self, decoder: Interaction, kind: str, index: int | str) -> None:
        super().__init__(decoder, kind, index)
        self._part: str | None = None
        """Media type of the part that is open, `text`, or `None`."""

        self._pending: dict[str, Any] = {}
        """State that came while no part was open."""

        self._block: dict[str, Any] = {}
        self._annotations: list[tuple[int, Fields]] = []
        self._cited: OpenFragment | None = None
        self._past = 0  # bytes of the texts of the step that have ended

    def begin(self, fields: Fields) -> None:
        """Read content that came with the start; deltas append to it."""
        if len(fields) == 1:
            return  # nothing but its type
        if string(fields, "type") != self.type:
            blocks = [fields] if others(fields).keys() - {"type"} else []  # 1.x: the block is the step
        else:
            self.keep_extra(fields)
            blocks = vocabulary.content_of(fields)
        for block in blocks:
            self._add_block(block)
        if error := mapping(fields, "error"):
            self.decoder.output_error = error

    def delta(self, kind: str, delta: Fields) -> None:
        """Append text, read a media item, or note sources of the text so far. Late ones make one more part."""
        self.ended = False
        if kind in ("text_annotation", "text_annotation_delta"):
            self._annotations += [(0, citations.moved(each, -self._past)) for each in vocabulary.annotations_of(delta)]
            self._keep_block(delta)
        elif kind == "text" or kind in vocabulary.MEDIA:
            self._add_block(delta, streamed=True)
        else:
            self.keep_delta(delta)

    def stop(self) -> None:
        """End the text or the audio that is open."""
        self._end_part()
        if self._pending:
            # No part has come that could keep it.
            state = self._drained()
            self.recorder.opaque({"step": {"type": self.type, **state.pop("extra", {})}, **state}, key=self)
        self.ended = True

    def continued(self, delta: Fields | None) -> Continued | None:
        """Return the text that is open; before the first delta of the step, what opens it."""
        if self._part is None and delta is None and not (self._annotations or self._pending):
            return self._begin_text
        return self.recorder.open_of(self) if self._part == "text" else None

    def _begin_text(self) -> OpenFragment:
        self.recorder.begin(self, "text")
        self._part = "text"
        fragment = self._open_text()
        assert fragment is not None, "nothing of the step has ended"
        return fragment

    def cut(self) -> None:
        """Keep the sources of the text."""
        if self._part == "text":
            state, details, cited = self._text_facts()
            self.recorder.keep(self, state, cited, details)

    def keep(self, state: Mapping[str, object]) -> None:
        """Keep *state* with the part that is open, or with the next one."""
        if self._part is None:
            merge_state(self._pending, as_state(state))
        else:
            super().keep(state)

    def _drained(self) -> dict[str, Any]:
        pending, self._pending = self._pending, {}
        return pending

    def _opened(self, part: str) -> None:
        self._part = part
        if self._pending:
            self.keep(self._drained())

    def _add_block(self, block: Fields, *, streamed: bool = False) -> None:
        kind = string(block, "type") or "text"
        if kind == "text":
            self._add_text(others(block), streamed=streamed)
        elif kind in vocabulary.MEDIA:
            block = others(block)
            data = base64_bytes(string(block, "data"))
            if kind == "audio" and streamed and data:
                self._add_audio(data, block)
            else:
                self._end_part()
                self._add_media(kind, data, block)
        else:
            self.decoder.note("unknown-content", "a content block of an unknown type was kept raw")
            self._end_part()
            self.recorder.opaque({"content": block, **self._drained()}, key=self)

    def _keep_block(self, fields: Fields) -> None:
        """Keep the fields that are not documented of a block of text, or of a delta about one."""
        self._block |= others(fields, _TEXT_KEYS)

    def _add_text(self, block: Fields, *, streamed: bool) -> None:
        # A stream cannot show where one block ends, so the blocks of a document are one text too; the places of their
        # sources are moved.
        self._keep_block(block)
        if block.get("annotations") and (annotations := vocabulary.annotations_of(block)):
            self._cited = self._open_text() or self._cited
            before = 0 if streamed or self._cited is None else self._cited.buffer.length
            past = self._past if streamed else 0
            self._annotations += [(before, citations.moved(each, -past)) for each in annotations]
        text = string(block, "text")
        if text:
            if self._part != "text":
                self._end_audio()
            self.recorder.text(text, key=self)
            self._opened("text")

    def _open_text(self) -> OpenFragment | None:
        fragment = self.recorder.open_of(self)
        return fragment if isinstance(fragment, OpenFragment) and fragment.kind == "text" else None

    def _end_part(self) -> None:
        self._end_audio()
        if self._part == "text" or self._annotations or self._block:
            fragment = self._open_text()
            state, details, cited = self._text_facts()
            self._past += 0 if fragment is None else citations.byte_length(fragment.buffer.value())
            self.recorder.end_text(self._drained() | state, citations=cited, details=details, key=self)
            self._part = None

    def _text_facts(self) -> tuple[dict[str, Any], JsonMap, tuple[Any, ...]]:
        """Return the state, the details and the citations of the text part, which ends."""
        state: dict[str, Any] = {}
        if not self._annotations and not self._block:
            return state, NO_FIELDS, ()
        details: dict[str, Any] = {}
        cited: tuple[Any, ...] = ()
        if self._annotations:
            before = "" if self._cited is None else self._cited.buffer.value()
            annotations = distinct(citations.shifted(self._annotations, before))
            fragment = self._open_text()
            cited = citations.cited(annotations, "" if fragment is None else fragment.buffer.value())
            for kept, place in ((state, False), (details, True)):
                if found := [each for each in annotations if citations.is_transcription(each) is place]:
                    kept["annotations"] = found
        if self._block:
            state["block"] = self._block
        self._annotations, self._cited, self._block = [], None, {}
        return state, details, cited

    def _add_audio(self, data: bytes, block: Fields) -> None:
        """Consecutive pieces of audio of one type are one media item (unverified: no recording has more than one)."""
        media_type = string(block, "mime_type") or ("audio/*" if self._part in (None, "text") else f"{self._part}")
        if self._part != media_type:
            self._end_part()
        self.recorder.media(data, media_type, key=self, state={"type": "audio"})
        self._opened(media_type)
        if more := vocabulary.media_extra(block, data):
            self.keep({"block": more})

    def _end_audio(self) -> None:
        if self._part not in (None, "text"):
            self._part = None
            self.recorder.end_media(key=self)

    def _add_media(self, kind: str, data: bytes | None, block: Fields) -> None:
        raw, uri = string(block, "data"), string(block, "uri")
        more = vocabulary.media_extra(block, data)
        state = {**self._drained(), "type": kind, **({"block": more} if more else {})}
        if data is None and not uri:
            if raw:
                state["data"] = raw
            self.decoder.note("no-media", "a media item came without readable bytes and without an address")
        self.recorder.end_media(
            state,
            data,
            None if data is not None else uri or None,
            media_type=string(block, "mime_type") or f"{kind}/*",
            key=self,
            complete=data is not None or bool(uri),
        )


class ThoughtStep(StepDecoder):
    """A thought of the model. It may have a signature and no text; the signature comes after the text."""

    known = _THOUGHT_KEYS
    usual_delta = "thought_summary"
    text_path = ("delta", "content", "text")

    def __init__(self, decoder: Interaction, kind: str, index: int | str) -> None:
        super().__init__(decoder, kind, index)
        self._items: list[Fields | str] = []
        """The items of the summary that are not in the state of a part yet; a text item may be its text alone."""

        self.texts = self._items
        self._itemised = False
        self._signature = ""
        self.recorder.begin(self, "reasoning")

    def begin(self, fields: Fields) -> None:
        """Read a summary and a signature that came with the start."""
        if len(fields) > 1:  # else there is nothing but its type
            self._read(fields)

    def delta(self, kind: str, delta: Fields) -> None:
        """Append to the summary or set the signature. Late ones make one more part."""
        if kind not in ("thought_summary", "thought_signature", "thought"):
            self.keep_delta(delta)
        elif self._read(delta):
            self.ended = False

    def stop(self) -> None:
        """End the reasoning; the second time it ends what has come since."""
        self.ended = True
        self.recorder.end_reasoning(self._summary_state(), key=self)

    def continued(self, delta: Fields | None) -> Continued | None:
        """Return the reasoning, for items of text."""
        is_text = delta is None or string(mapping(delta, "content"), "type") == "text"
        return self.recorder.open_of(self) if is_text else None

    def cut(self) -> None:
        """Keep the items of the summary."""
        self.keep(self._summary_state())

    def _read(self, fields: Fields) -> bool:
        """Read a summary and a signature; return whether there was one that is new."""
        self.keep_extra(fields)
        items = vocabulary.summary_of(fields)
        for item in items:
            self._items.append(item)
            text = string(item, "text")
            if text and (string(item, "type") or "text") == "text":
                self.recorder.reasoning(text, key=self)
        # Deep Research sends "" now and then (live); the last real one counts.
        signature = string(fields, "signature")
        if signature and signature != self._signature:
            self._signature = signature
            self.keep(own({"signature": signature}, State))
            return True
        return bool(items)

    def _summary_state(self) -> State:
        """Return the items of the summary, where they hold more than one text: first the whole, later what is new."""
        if not self._itemised and len(self._items) < 2 and not any(map(vocabulary.is_special_item, self._items)):
            return NO_STATE
        self._itemised = True
        items, self._items = self._items, []
        self.texts = self._items
        if not items:
            return NO_STATE
        # They can be many, and most are only written.
        texts = [{"type": "text", "text": item} if item.__class__ is str else own(item, State) for item in items]
        return wrap(LazyState, {"summary": texts})


class CallStep(StepDecoder):
    """A call: the app's (`function_call`) or one that the provider runs."""

    known = _CALL_KEYS
    usual_delta = "arguments_delta"
    text_path = ("delta", "arguments")

    def __init__(self, decoder: Interaction, kind: str, index: int | str) -> None:
        super().__init__(decoder, kind, index)
        self._wire_id: str | None = None
        self._name = vocabulary.CALLS[kind] or ""
        self._opened = False
        self._unread = False
        """Whether a delta came that cannot be read: it may have brought arguments."""

    @property
    def provider_executed(self) -> bool:
        """Whether the provider runs it: all but functions, and the functions of an Antigravity sandbox."""
        if self.type != "function_call":
            return True
        sandboxed = self._name in vocabulary.SANDBOX_TOOLS
        return sandboxed and (string(self.decoder.request, "agent") or "").startswith("antigravity")

    def same_item(self, fields: Fields) -> bool:
        """Whether the id of a second start is that of this call, or missing."""
        wire_id = string(fields, "id")
        return not wire_id or not self._wire_id or wire_id == self._wire_id

    def begin(self, fields: Fields) -> None:
        """Read id, name and arguments that came with the start; the call is known once id and name are."""
        self._read(fields, has_id="id" in fields)

    def delta(self, kind: str, delta: Fields) -> None:
        """Append a piece of the arguments, or replace them whole."""
        if self.ended or (self._opened and self.recorder.open_of(self) is None):
            self.decoder.note("late-arguments", "arguments came after their call had ended")
        elif kind in (self.type, "arguments_delta", "arguments"):
            self._read(delta, has_id=False)
        else:
            self._add(None)
            self.keep_delta(delta)
            self._unread = True

    def stop(self) -> None:
        """End the input: the recorder makes a call of it, or reports why it is none."""
        if self.ended:
            return
        self.ended, was_opened = True, self._opened
        if not was_opened:
            self.cut()
        call = self.recorder.open_of(self)
        if was_opened and call is None:
            return  # its result has ended it
        given = isinstance(call, OpenCall) and (call.buffer.length or call.input)
        # A call that the provider runs is settled by its result.
        unread = self._unread and not given and not self.provider_executed
        self.recorder.end_tool_input(key=self, fault=_UNREAD if unread else None)

    def _read(self, fields: Fields, *, has_id: bool) -> None:
        wire_id = string(fields, "id" if "id" in fields else "call_id")  # the second is of CLIProxyAPI (2026-09)
        if wire_id or self._wire_id is None:
            self._wire_id = wire_id
        if vocabulary.CALLS[self.type] is None:
            self._name = string(fields, "name") or self._name
        if not self._opened and self._name and (has_id or self._wire_id is not None):
            self._opened = True
        given = [key for key in _ARGUMENTS if fields.get(key) is not None]
        for key in given:
            self._read_arguments(key, fields[key])
        if not given:
            self._add(None)
        if fields.keys() <= _USUAL_CALL_KEYS:
            return  # as nearly always
        state = {key: fields[key] for key in vocabulary.DETAILS if isinstance(fields.get(key), str)}
        if signature := string(fields, "signature"):
            state["signature"] = signature
        if state:
            self.keep(state)
        self.keep_extra(fields)

    def _read_arguments(self, key: str, arguments: object) -> None:
        if isinstance(arguments, dict):
            self._add(arguments)  # pyright: ignore[reportUnknownArgumentType]  # plain JSON
        elif isinstance(arguments, str):
            self._add(None, arguments)
        elif self.type == "function_call":
            # They are not an input, so a call of the app fails by them.
            self._read_arguments(key, write_json(arguments).decode())
        else:
            self._add(None)
            self.keep({"extra": {key: arguments}})

    def cut(self) -> None:
        """Open a call whose id has not come; keep the type of one without a name, which becomes an opaque item."""
        self._opened = bool(self._name)
        self._add(None)
        if not self._name:
            self.keep({"type": self.type})

    def _add(self, arguments: Mapping[str, object] | None, text: str = "") -> None:
        self.recorder.tool_input(
            self._wire_id,
            self._name if self._opened else None,
            text,
            key=self,
            provider_executed=self.provider_executed,
            state=NO_STATE if self.type == "function_call" else {"type": self.type},
            input=arguments,
        )


class ResultStep(StepDecoder):
    """The result of a call that the provider ran."""

    known = _RESULT_KEYS

    def __init__(self, decoder: Interaction, kind: str, index: int | str) -> None:
        super().__init__(decoder, kind, index)
        self._call_id = self._name = ""
        self._output: ContentInput = ()
        self._state: dict[str, Any] = {"type": kind}

    def same_item(self, fields: Fields) -> bool:
        """Whether the call of a second start is that of this result, or missing."""
        return not self._call_id or string(fields, "call_id") in (None, "", self._call_id)

    def begin(self, fields: Fields) -> None:
        """Read what came with the start."""
        self._call_id = string(fields, "call_id") or self._call_id
        self._name = string(fields, "name") or self._name
        self._output = read_output(fields.get("result")) or self._output
        for key in (*vocabulary.DETAILS, "name", "signature"):
            if string(fields, key) or (key != "signature" and string(fields, key) is not None):
                self._state[key] = fields[key]
        if flag(fields, "is_error") is not None:
            self._state["is_error"] = fields["is_error"]
        self.keep_extra(fields)

    def delta(self, kind: str, delta: Fields) -> None:
        """Read the result."""
        if kind == self.type and not self.ended:
            self.begin(delta)
            return
        self.keep({"deltas": [delta]})  # with a note of its own when the result has answered its call
        self.decoder.note("unknown-delta", _UNKNOWN_DELTA)

    def keep(self, state: Mapping[str, object]) -> None:
        """Keep *state* for the result, also while it waits for its call."""
        if self.ended:
            super().keep(state)
        else:
            merge_state(self._state, as_state(state))

    def stop(self) -> None:
        """Answer the call. A result whose call has not come waits for it in the recorder."""
        if self.ended:
            return
        self.ended = True
        error = _FAILED if self._state.get("is_error") is True else None
        call_type = self.type.removesuffix("_result") + "_call"
        if self.decoder.answer_paused(self._call_id, self._output, error, state=self._state):
            return
        self.recorder.result(
            self._call_id or None,
            self._output,
            error,
            vocabulary.CALLS[call_type] or self._name or "function",
            self._state,
            key=self,
            provider_executed=True,
            call_state={"type": call_type},
        )


class OpaqueStep(StepDecoder):
    """A step of an unknown type, kept raw."""

    def __init__(self, decoder: Interaction, kind: str, index: int | str) -> None:
        super().__init__(decoder, kind, index)
        decoder.note("unknown-step", "a step of an unknown type was kept raw")
        self.recorder.begin(self, "opaque", {"step": {"type": kind}})

    def accepts(self, kind: str) -> bool:
        """Any unknown type: the delta did not name that of the step."""
        return not vocabulary.is_known(kind)

    def begin(self, fields: Fields) -> None:
        """Keep the start."""
        self.keep({"step": fields})

    def delta(self, kind: str, delta: Fields) -> None:
        """Keep the delta; what comes after the stop becomes one more item with the same number."""
        if self.ended:
            self.ended = False
            self.recorder.begin(self, "opaque", {"step": {"type": self.type}})
        self.keep({"deltas": [delta]})

    def stop(self) -> None:
        """Record what was kept."""
        self.ended = True
        self.recorder.end(self)


DECODERS: dict[str, type[StepDecoder]] = {
    "model_output": OutputStep,
    "thought": ThoughtStep,
    **dict.fromkeys(vocabulary.CALLS, CallStep),
    **dict.fromkeys(vocabulary.RESULTS, ResultStep),
}
"""By type of a wire step; any other is an `OpaqueStep`."""
