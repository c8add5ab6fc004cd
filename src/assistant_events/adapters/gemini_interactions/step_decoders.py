"""
The items of an interaction: what each kind of wire step becomes.

A wire step is opened by `step.start` (or implied by a delta that comes first), grows by deltas, and ends by
`step.stop` or with the interaction. States hold `i`, the place of the step among the generated ones, by which an
encoder merges parts of one step.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from assistant_events.adapters.frame_templates import Path
from assistant_events.adapters.gemini_interactions import citations, vocabulary
from assistant_events.adapters.json_fields import Fields, flag, mapping, said, string
from assistant_events.recorder.open_parts import OpenCall, OpenFragment
from assistant_events.values import ErrorInfo, ErrorKind, JsonContent, State, TextContent, own, thaw, write_json
from assistant_events.values.content import ContentInput
from assistant_events.values.validators import NO_STATE

if TYPE_CHECKING:
    from assistant_events.adapters.gemini_interactions.decoder import GeminiInteractionsDecoder

_DETAILS = ("search_type", "server_name", "retrieval_type")
_TEXT_KEYS = frozenset({"type", "text", "annotations"})
_MEDIA_KEYS = frozenset({"type", "data", "mime_type", "uri"})
_THOUGHT_KEYS = frozenset({"type", "signature", *vocabulary.SUMMARIES})
_OUTPUT_KEYS = frozenset({"type", "content", "text", "annotations", "error"})
_ARGUMENTS = ("arguments", "partial_arguments")
_CALL_KEYS = frozenset({"type", "id", "name", "signature", *_ARGUMENTS, *_DETAILS})
_UNREAD = "the input came in deltas of an unknown type"
_RESULT_KEYS = frozenset({"type", "call_id", "name", "result", "is_error", "signature", *_DETAILS})


class Continued(NamedTuple):
    """What deltas of one kind continue, and where their text is in a frame."""

    path: Path
    fragment: OpenFragment | OpenCall
    texts: list[Any] | None = None


class WireStep:
    """An item of the interaction; this base is for those that mean nothing here, such as the echo of the input."""

    usual_delta: ClassVar[str] = ""
    """Type of the deltas that make up most of it."""

    def __init__(self, decoder: GeminiInteractionsDecoder, kind: str) -> None:
        self.decoder = decoder
        self.recorder = decoder.recorder
        self.type = kind
        self.place = -1
        """Place among the steps that gave something, in the order in which they first did; -1 before that."""

        self.index: int | str = -1
        """Key of its deltas on the wire."""

        self.implied = False
        """Whether only a delta has told of it so far."""

        self.ended = False
        self.extra: dict[str, Any] = {}
        """Fields that are not documented, kept for the way back."""

        self.deltas: list[Fields] = []
        """Deltas of types that are not known, kept raw."""

    def accepts(self, kind: str) -> bool:
        """Tell whether a step that was implied may turn out to be one of *kind*."""
        return vocabulary.step_type(kind) == self.type

    def same_item(self, fields: Fields) -> bool:
        """Tell whether a second start under the same index means this step once more."""
        return True

    def begin(self, fields: Fields) -> None:
        """Take the fields of the start."""

    def delta(self, kind: str, delta: Fields) -> None:
        """Take one delta."""

    def stop(self) -> None:
        """End the step; again it does nothing."""

    def continued(self, kind: str, event: Fields | None) -> Continued | None:
        """Return what more deltas of *kind* continue; `None` when they have no fast path."""
        return None

    def kept(self) -> dict[str, Any]:
        """Return what a part of this step keeps, as plain JSON that nobody else holds."""
        if self.place < 0:
            self.place = self.decoder.next_place()
        kept: dict[str, Any] = {"i": self.place}
        if self.extra:
            kept["extra"] = thaw(self.extra)
        if self.deltas:
            kept["deltas"] = thaw(self.deltas)
        return kept

    def state(self, more: dict[str, Any] | None = None) -> State:
        """Return what is kept, and *more*, which is handed over, as a state."""
        kept = self.kept()
        if more:
            kept.update(more)
        state: State = own(kept, State)
        return state

    def keep_extra(self, fields: Fields, known: frozenset[str]) -> None:
        """Keep the fields that are not documented."""
        if fields.keys() <= known:
            return
        for key, value in fields.items():
            if key not in known and value is not None:
                self.extra[key] = value

    def keep_delta(self, delta: Fields) -> None:
        """Keep a delta of an unknown type raw."""
        self.decoder.note("unknown-delta", "a delta of an unknown type was kept raw")
        self.deltas.append(delta)


class PartedStep(WireStep):
    """
    An item that may become several parts.

    Each part keeps only what the parts before it do not: what a provider said once is written once, however many parts
    come after it.
    """

    def kept(self) -> dict[str, Any]:
        """Return the place, and what is not in a part yet; whoever asks puts it into one."""
        kept = super().kept()
        if len(kept) > 1:
            self.extra, self.deltas = {}, []
        return kept

    def opening(self, kind: str) -> State:
        """Return the state for content of *kind* that is about to come; an empty one when it goes on with a part."""
        return NO_STATE if self.recorder.goes_on(kind, self) else self.state()

    def ending(self, kind: str, more: dict[str, Any]) -> State:
        """Return the state that ends a part: what it was opened with, what is new since, and *more*."""
        kept = self.kept()
        fragment = self.recorder.open_fragment(kind)
        if fragment is not None and fragment.key is self and len(fragment.state) > 1:  # more than the place
            extra, deltas = fragment.state.get("extra"), fragment.state.get("deltas")
            if isinstance(extra, Mapping):
                kept["extra"] = {**extra, **kept.get("extra", {})}
            if isinstance(deltas, tuple):
                kept["deltas"] = [*deltas, *kept.get("deltas", ())]
        state: State = own({**kept, **more}, State)
        return state


class OutputStep(PartedStep):
    """What the model shows: text and media. A medium ends the text before it; text after it is a part of its own."""

    usual_delta = "text"

    def __init__(self, decoder: GeminiInteractionsDecoder, kind: str) -> None:
        super().__init__(decoder, kind)
        self._annotations: list[tuple[int, Fields]] = []
        self._cited: OpenFragment | None = None
        self._text_block: dict[str, Any] = {}
        self._text_open = False
        self._audio: str | None = None
        self._audio_state = NO_STATE
        self._audio_block: dict[str, Any] = {}

    def begin(self, fields: Fields) -> None:
        """Take content that came with the start; deltas append to it."""
        self.implied = False
        if vocabulary.step_type(string(fields, "type") or "") != string(fields, "type"):
            blocks = [fields] if said(fields).keys() - {"type"} else []  # 1.x: the block is the step
        else:
            self.keep_extra(fields, _OUTPUT_KEYS)
            blocks = vocabulary.content_of(fields)
        for block in blocks:
            self._add_block(block)
        error = mapping(fields, "error")
        if error:
            self.decoder.fail_output(error)

    def delta(self, kind: str, delta: Fields) -> None:
        """Append text, take a medium, or note sources of the text so far."""
        if self.ended:
            # The text of an ended step becomes one more part with the same place.
            self.ended = False
        if kind in ("text_annotation", "text_annotation_delta"):
            self._annotations += [(0, annotation) for annotation in vocabulary.annotations_of(delta)]
            self._keep_block(delta)
        elif kind == "text" or kind in vocabulary.MEDIA:
            self._add_block(delta, streamed=True)
        else:
            self.keep_delta(delta)

    def stop(self) -> None:
        """End the text or the sound that is open."""
        self._end_audio()
        self._end_text()
        if self.extra or self.deltas:
            # No part has come that could keep it.
            step, self.extra = {"type": self.type, **self.extra}, {}
            self.recorder.opaque(self.state({"step": thaw(step)}))
        self.ended = True

    def continued(self, kind: str, event: Fields | None) -> Continued | None:
        """Return the text that is open."""
        fragment = self.recorder.open_fragment("text")
        if kind != "text" or fragment is None or fragment.key is not self:
            return None
        return Continued(("delta", "text"), fragment)

    def _add_block(self, block: Fields, *, streamed: bool = False) -> None:
        kind = string(block, "type") or "text"
        if kind == "text" or kind in vocabulary.MEDIA:
            block = said(block)
        if kind == "text":
            self._keep_block(block)
            self._add_text(string(block, "text") or "", vocabulary.annotations_of(block))
        elif kind == "audio" and streamed:
            self._add_audio(block)
        elif kind in vocabulary.MEDIA:
            self._end_audio()
            self._end_text()
            self._add_medium(kind, block)
        else:
            self.decoder.note("unknown-content", "a content block of an unknown type was kept raw")
            self._end_audio()
            self._end_text()
            self.recorder.opaque(self.state({"content": block}))

    def _keep_block(self, fields: Fields) -> None:
        """Keep what is not documented of a block of text, or of a delta about one."""
        if not fields.keys() <= _TEXT_KEYS:
            self._text_block.update({key: value for key, value in said(fields).items() if key not in _TEXT_KEYS})

    def _add_text(self, text: str, annotations: list[Fields]) -> None:
        # A stream cannot show where one block ends, so the blocks of a document are one text too; what they cite
        # moves along.
        if annotations:
            before = 0
            fragment = self._open_text()
            if fragment is not None:
                before, self._cited = fragment.buffer.length, fragment
            self._annotations += [(before, annotation) for annotation in annotations]
        if text:
            self._end_audio()
            self.recorder.text(text, key=self, state=self.opening("text"))
            self._text_open = True

    def _open_text(self) -> OpenFragment | None:
        fragment = self.recorder.open_fragment("text")
        return fragment if fragment is not None and fragment.key is self else None

    def _end_text(self) -> None:
        if not self._text_open and not self._annotations and not self._text_block:
            return
        annotations = self._all_annotations()
        more: dict[str, Any] = {"annotations": annotations} if annotations else {}
        if self._text_block:
            more["block"] = thaw(self._text_block)
            self._text_block = {}
        fragment = self._open_text()
        text = fragment.buffer.value() if annotations and fragment is not None else ""
        self.recorder.end_text(self.ending("text", more), citations=citations.cited(annotations, text), key=self)
        self._text_open = False

    def _all_annotations(self) -> list[dict[str, Any]]:
        """Return the annotations of the text, each once, with places in the whole of it."""
        if not self._annotations:
            return []
        text = "" if self._cited is None else self._cited.buffer.value()
        annotations = citations.unique(citations.shifted(self._annotations, text))
        self._annotations, self._cited = [], None
        return annotations

    def _add_audio(self, block: Fields) -> None:
        """Consecutive pieces of sound of one type are one medium (unverified: no recording has more than one)."""
        data = _bytes(string(block, "data"))
        media_type = string(block, "mime_type") or "audio/*"
        if not data:
            self._end_audio()
            self._end_text()
            self._add_medium("audio", block)
            return
        if self._audio != media_type:
            self._end_audio()
            self._end_text()
            self._audio = media_type
            self._audio_state = own(self._media_state("audio", block), State)
        self._audio_block.update({key: value for key, value in block.items() if key not in _MEDIA_KEYS})
        self.recorder.media(data, media_type, key=self, state=self._audio_state)

    def _end_audio(self) -> None:
        if self._audio is not None:
            self._audio = None
            state, block = self._audio_state, self._audio_block
            if block:
                state = own({**thaw(state), "block": {**mapping(thaw(state), "block"), **block}}, State)
            self._audio_block = {}
            self.recorder.end_media(state, key=self)

    def _add_medium(self, kind: str, block: Fields) -> None:
        media_type = string(block, "mime_type") or f"{kind}/*"
        raw = string(block, "data")
        data, uri = _bytes(raw), string(block, "uri")
        state = self._media_state(kind, block)
        if data is None and not uri:
            if raw:
                state["data"] = raw
            self.decoder.note("no-media", "a medium came without bytes that can be read and without a place")
        self.recorder.end_media(
            own(state, State),
            data,
            None if data is not None else uri or None,
            media_type=media_type,
            key=self,
            complete=data is not None or bool(uri),
        )

    def _media_state(self, kind: str, block: Fields) -> dict[str, Any]:
        state = {**self.kept(), "type": kind}
        more = {key: value for key, value in block.items() if key not in _MEDIA_KEYS}
        if "data" in block and "uri" in block and _bytes(string(block, "data")) is not None:
            more["uri"] = block["uri"]
        if more:
            state["block"] = more
        return state


class ThoughtStep(PartedStep):
    """What the model thinks. It may have a signature and no text; the signature comes after the text."""

    usual_delta = "thought_summary"

    def __init__(self, decoder: GeminiInteractionsDecoder, kind: str) -> None:
        super().__init__(decoder, kind)
        self._summary: list[Fields | str] = []
        self._itemised = False
        self._signature = ""
        self._told_signature = ""
        self.recorder.begin_reasoning(key=self, state=self.state())

    def begin(self, fields: Fields) -> None:
        """Take a summary and a signature that came with the start."""
        self.implied = False
        self._take(fields)

    def delta(self, kind: str, delta: Fields) -> None:
        """Append to the summary or set the signature."""
        if kind in ("thought_summary", "thought_signature", "thought"):
            self._take(delta)
        else:
            self.keep_delta(delta)
        if self.ended and (kind == "thought_summary" or self._signature != self._told_signature):
            self._end()

    def stop(self) -> None:
        """End the reasoning; again it ends what has come since."""
        self.ended = True
        self._end()

    def continued(self, kind: str, event: Fields | None) -> Continued | None:
        """Return the reasoning that is open. Each text of the summary is an item that may have to go back as one."""
        fragment = self.recorder.open_fragment("reasoning")
        if kind != "thought_summary" or fragment is None or fragment.key is not self:
            return None
        if event is not None and string(mapping(mapping(event, "delta"), "content"), "type") != "text":
            return None
        return Continued(("delta", "content", "text"), fragment, self._summary)

    def _take(self, fields: Fields) -> None:
        self.keep_extra(fields, _THOUGHT_KEYS)
        for item in vocabulary.summary_of(fields):
            self._summary.append(item)
            text = string(item, "text")
            if text and (string(item, "type") or "text") == "text":
                self.recorder.reasoning(text, key=self, state=self.opening("reasoning"))
        self._sign(fields)

    def _sign(self, fields: Fields) -> None:
        # Deep Research sends "" now and then (live); the last real one counts.
        signature = string(fields, "signature")
        if signature:
            self._signature = signature

    def _end(self) -> None:
        more: dict[str, Any] = {}
        if self._signature != self._told_signature:
            more["signature"] = self._told_signature = self._signature
        # The first summary that is written is the whole of it, those of later parts are what is new.
        if self._itemised or len(self._summary) > 1 or any(map(_is_special, self._summary)):
            self._itemised = True
            if self._summary:
                more["summary"] = [{"type": "text", "text": s} if isinstance(s, str) else s for s in self._summary]
                self._summary = []
        state = self.ending("reasoning", more)
        if len(state) > 1 or self.recorder.goes_on("reasoning", self):
            self.recorder.end_reasoning(state, key=self)


class CallStep(WireStep):
    """A call: the app's (`function_call`) or one that the provider runs."""

    usual_delta = "arguments_delta"

    def __init__(self, decoder: GeminiInteractionsDecoder, kind: str) -> None:
        super().__init__(decoder, kind)
        self._wire_id: str | None = None
        self._name = vocabulary.CALLS[kind] or ""
        self._arguments: Fields | None = None
        self._raw: list[str] = []
        self._signature = ""
        self._details: dict[str, Any] = {}
        self._opened = False
        self._unread = False
        """Whether a delta came that nobody can read: it may have brought arguments."""

    @property
    def provider_executed(self) -> bool:
        """Whether the provider runs it: all but functions, and the functions of an Antigravity sandbox."""
        if self.type != "function_call":
            return True
        agent = string(self.decoder.request, "agent") or ""
        return agent.startswith("antigravity") and self._name in vocabulary.SANDBOX_TOOLS

    def same_item(self, fields: Fields) -> bool:
        """Tell by the id whether a second start means this call once more."""
        wire_id = string(fields, "id")
        return not wire_id or not self._wire_id or wire_id == self._wire_id

    def begin(self, fields: Fields) -> None:
        """Take id, name and arguments that came with the start; the call is known once id and name are."""
        self.implied = False
        self.keep_extra(fields, _CALL_KEYS)
        self._take(fields)
        if "id" in fields and self._name:
            self._open()

    def delta(self, kind: str, delta: Fields) -> None:
        """Append a piece of the arguments, or replace them whole."""
        if self.ended:
            self.decoder.note("late-arguments", "arguments came after their call had ended")
            return
        if kind in (self.type, "arguments_delta", "arguments"):
            self.keep_extra(delta, _CALL_KEYS)
            self._take(delta)
            if not self._opened and self._name and self._wire_id is not None:
                self._open()
        else:
            self.keep_delta(delta)
            self._unread = True

    def stop(self) -> None:
        """End the input: the recorder makes a call of it, or says why it is none."""
        if self.ended:
            return
        self.ended = True
        if not self._opened:
            if not self._name:
                self._keep_raw()
                return
            self._open()
        # Of a call that the provider runs the result tells what became of it.
        fault = _UNREAD if self._unread and not self.provider_executed else None
        prefill: Fields = {} if self._arguments is None else self._arguments
        self.recorder.end_tool_input(state=self.state(), key=self, prefill=prefill, fault=fault)

    def kept(self) -> dict[str, Any]:
        """Return what goes back with the call."""
        state = super().kept()
        if self.type != "function_call":
            state["type"] = self.type
        state.update(self._details)
        if self._signature:
            state["signature"] = self._signature
        return state

    def continued(self, kind: str, event: Fields | None) -> Continued | None:
        """Return the input that is open."""
        call = self.recorder.open_input(self)
        if kind != "arguments_delta" or call is None:
            return None
        return Continued(("delta", "arguments"), call)

    def _take(self, fields: Fields) -> None:
        wire_id = string(fields, "id")
        if wire_id or self._wire_id is None:
            self._wire_id = wire_id
        if vocabulary.CALLS[self.type] is None:
            self._name = string(fields, "name") or self._name
        for key in _ARGUMENTS:
            if key not in fields:
                continue
            arguments = fields[key]
            if isinstance(arguments, str):
                self._add(arguments) if self._opened else self._raw.append(arguments)
            elif isinstance(arguments, Mapping):
                self._arguments = arguments
            elif arguments is not None:
                self._keep_odd(key, arguments)
        for key in _DETAILS:
            if key in fields and isinstance(fields[key], str):
                self._details[key] = fields[key]
        self._sign(fields)

    def _keep_odd(self, key: str, arguments: object) -> None:
        """Keep arguments that are neither an object nor text: they are no input, so a call of the app fails by them."""
        if self.type == "function_call":
            self._take({"arguments": write_json(arguments).decode()})
        else:
            self.extra[key] = arguments

    def _sign(self, fields: Fields) -> None:
        self._signature = string(fields, "signature") or self._signature

    def _open(self) -> None:
        self._opened = True
        if self._wire_id:
            self.decoder.adopt_call(self, self._wire_id)
        self.recorder.tool_input(
            self._wire_id, self._name, key=self, provider_executed=self.provider_executed, state=self.state()
        )
        for piece in self._raw:
            self._add(piece)
        self._raw = []

    def _add(self, piece: str) -> None:
        self.recorder.tool_input(self._wire_id, self._name, piece, key=self)

    def _keep_raw(self) -> None:
        self.decoder.note("nameless-call", "a call without a name was kept raw")
        arguments = "".join(self._raw) if self._raw else self._arguments
        self.recorder.opaque(self.state({"type": self.type, "id": self._wire_id, "arguments": thaw(arguments)}))


class ResultStep(WireStep):
    """The result of a call that the provider ran."""

    def __init__(self, decoder: GeminiInteractionsDecoder, kind: str) -> None:
        super().__init__(decoder, kind)
        self._call_id = ""
        self._fields: dict[str, Any] = {}
        self._signature = ""
        self._answered = False

    def same_item(self, fields: Fields) -> bool:
        """Tell by the id of the call whether a second start means this result once more."""
        call_id = string(fields, "call_id")
        return not call_id or not self._call_id or call_id == self._call_id

    def begin(self, fields: Fields) -> None:
        """Take what came with the start."""
        self.implied = False
        self.keep_extra(fields, _RESULT_KEYS)
        self._take(fields)

    def delta(self, kind: str, delta: Fields) -> None:
        """Take the result."""
        if self._answered:
            self.decoder.note("late-result", "what came for a result after it had answered its call was left out")
            return
        if kind == self.type:
            self.keep_extra(delta, _RESULT_KEYS)
            self._take(delta)
        else:
            self.keep_delta(delta)

    def stop(self) -> None:
        """Answer the call."""
        if not self.ended:
            self.ended = True
            self.settle(synthesize=False)

    def settle(self, *, synthesize: bool) -> None:
        """Answer the call; when it has not come, wait for it, or make it up at the end: its signature may be needed."""
        call = self.decoder.call_of(self._call_id)
        if call is None:
            if not synthesize:
                self.decoder.hold_result(self)
                return
            self._make_up_call()
        else:
            call.stop()
        key = self if call is None else call
        if self.recorder.is_settled(key):
            self.decoder.note("second-result", "a second result of one call was left out")
            return
        self._answered = True
        result = self._fields.get("result")
        output: ContentInput = () if result is None else _output(result)
        if flag(self._fields, "is_error") is True:
            error = ErrorInfo(kind=ErrorKind.TOOL, message="the tool reported an error")
            self.recorder.tool_failed(None, error, output, key=key, provider_executed=True, state=self.state())
        else:
            self.recorder.tool_success(None, output, key=key, provider_executed=True, state=self.state())

    def kept(self) -> dict[str, Any]:
        """Return what goes back with the result."""
        state = {**super().kept(), "type": self.type}
        for key in (*_DETAILS, "name"):
            value = string(self._fields, key)
            if value is not None:
                state[key] = value
        is_error = flag(self._fields, "is_error")
        if is_error is not None:
            state["is_error"] = is_error
        if self._signature:
            state["signature"] = self._signature
        return state

    def _take(self, fields: Fields) -> None:
        self._call_id = string(fields, "call_id") or self._call_id
        self._fields.update({key: fields[key] for key in _RESULT_KEYS if fields.get(key) is not None})
        self._signature = string(fields, "signature") or self._signature

    def _make_up_call(self) -> None:
        self.decoder.note("orphan-result", "a result came without its call, which was made up")
        call_type = self.type.removesuffix("_result") + "_call"
        name = vocabulary.CALLS[call_type] or string(self._fields, "name") or "function"
        state = own({"i": WireStep.kept(self)["i"], "type": call_type, "orphan": True}, State)
        self.recorder.tool_input(self._call_id or None, name, key=self, provider_executed=True, state=state)
        self.recorder.end_tool_input(key=self, prefill={})


class OpaqueStep(WireStep):
    """A step of a type that is not known here, kept raw."""

    def __init__(self, decoder: GeminiInteractionsDecoder, kind: str) -> None:
        super().__init__(decoder, kind)
        self._fields: Fields = {"type": kind}

    def accepts(self, kind: str) -> bool:
        """Take any type that is not known either: the delta told nothing of it."""
        return not vocabulary.is_known(kind)

    def begin(self, fields: Fields) -> None:
        """Keep the start."""
        self.implied = False
        self._fields = fields

    def delta(self, kind: str, delta: Fields) -> None:
        """Keep the delta; what comes after the stop becomes one more item with the same place."""
        if self.ended:
            self.ended = False
            self._fields, self.deltas = {"type": self.type}, []
        self.deltas.append(delta)

    def stop(self) -> None:
        """Hand on what was kept."""
        if self.ended:
            return
        self.ended = True
        self.recorder.opaque(self.state({"step": thaw(self._fields)}))


def _bytes(data: str | None) -> bytes | None:
    """Return the bytes of standard base64, padded or not; `None` for anything else."""
    if not data:
        return None
    try:
        return b64decode(data + "=" * (-len(data) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _is_special(item: Fields | str) -> bool:
    """Tell whether a summary item says more than its text."""
    if isinstance(item, str) or (len(item) == 2 and item.get("type") == "text" and "text" in item):
        return False
    return (string(item, "type") or "text") != "text" or bool(set(item) - {"type", "text"})


def _output(result: object) -> ContentInput:
    return (TextContent(result),) if isinstance(result, str) else (JsonContent(thaw(result)),)
