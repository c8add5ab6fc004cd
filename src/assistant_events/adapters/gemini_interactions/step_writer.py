"""
One interaction as the provider tells it: parts of a message as steps of the wire.

A part is told as soon as it is known which step it belongs to. Its state comes with its end, so where a part may
continue a step that is still open, whoever calls looks ahead and hands over the end together with the start.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from assistant_events.adapters.gemini_interactions import vocabulary, wire_steps
from assistant_events.adapters.gemini_interactions.citations import cited
from assistant_events.adapters.gemini_interactions.wire_versions import Generation
from assistant_events.adapters.json_fields import Fields, mapping, mappings, string
from assistant_events.events import (
    MediaEnded,
    OpaqueReceived,
    ReasoningDelta,
    ReasoningEnded,
    TextDelta,
    TextEnded,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolSuccess,
)
from assistant_events.recorder.open_parts import joined, parsed_input
from assistant_events.values import Citation, ErrorInfo, ErrorKind, MediaContent, thaw, write_json

OTHER_PLACE = "a part continues a step of which others have begun since; it is told as a step of its own"
NO_PLACE = "in generation 1.x each part is an item of its own"
LATE_EXTRA = "fields of an item came with its end, when it had been told"
OTHER_TEXT = "the end says another text than the deltas did"
OTHER_ITEMS = "the items of a summary stand in another order, or are cut elsewhere, than its deltas were"
LATE_STATE = "the state of an input that was cut came with its end, when it had been told"
REWORDED = "arguments that come whole lose the wording of their JSON"
FOREIGN_TOOL = "a tool that the wire does not know is told as one of an MCP server"
APP_ANSWER = "the app answers its own calls, not the provider"
NO_STEP = "there is no item that it could be"
AFTER_CUT = "what came late of an item that had ended was cut; it is told as if it had come before that"
AFTER_ORPHAN = "a result follows one that has no call, and is read before it"
OPEN_SOUND = "a part continues a step whose sound is open; it is told as if that had ended"
OTHER_SOURCES = "the sources of a text are read as others"
OTHER_ERROR = "the error of a result is read as another"
OTHER_OUTPUT = "several outputs of one result are read as one"
NOTHING = "a part without content stands only in its state"

_TOOL_ERROR = ErrorInfo(kind=ErrorKind.TOOL, message="the tool reported an error")

_CARRIERS: Final[dict[str, Fields]] = {
    "thought": {"type": "thought_signature", "signature": ""},
    **{kind: {"type": "arguments_delta", "arguments": ""} for kind in vocabulary.CALLS},
}
"""Deltas that say nothing by themselves, for fields of a step that are known when its start has been told."""

LeaveOut = Callable[[str], None]


class Step:
    """An item of the interaction that has been told at least in part."""

    __slots__ = ("extra", "index", "items", "kind", "stopped", "text_last")

    def __init__(self, index: int, kind: str, extra: Fields) -> None:
        self.index = index
        self.kind = kind
        self.stopped = False
        self.extra = extra
        """Fields that are not documented, as they were told."""

        self.items: list[Fields] = []
        """Items of a summary that were told, and that no end has listed."""

        self.text_last = False
        """Whether text, or sound, is what it said last: more of the same would continue it."""


class Fragment:
    """A text or reasoning that is open."""

    __slots__ = ("guessed", "sent", "step")

    def __init__(self, step: Step, *, guessed: bool) -> None:
        self.step = step
        self.sent = 0
        self.guessed = guessed
        """Whether its step was chosen without knowing its state."""


class Call:
    """A call, and what of it has been told."""

    __slots__ = ("ended", "known", "name", "pieces", "sent", "step", "type", "wire_id")

    def __init__(self, name: str, wire_id: Any, kind: str) -> None:
        # Any: whatever the provider gave for an id.
        self.name = name
        self.wire_id = wire_id
        self.type = kind
        self.step: Step | None = None
        """`None` for a call that was made up for its result: the wire has the result alone."""

        self.known = False
        """Whether its state was known when it began."""

        self.sent = 0
        self.pieces: list[str] = []
        self.ended = False


class StepWriter:
    """
    Tells the parts of one message.

    Args:
        words: Of the generation.

        whole: Whether arguments of the app's calls come with the start of their step.

        frame: Makes a frame of a name and its fields, and keeps it.

        leave_out: Takes a reason for what the wire cannot say of the event that is told.
    """

    def __init__(
        self, words: Generation, frame: Callable[[str, dict[str, Any]], None], leave_out: LeaveOut, *, whole: bool
    ) -> None:
        self._words = words
        self._whole = whole
        self._frame = frame
        self._leave_out = leave_out
        self._next = 0
        self._orphans = False
        """Whether a result without its call was told: it is read at the end only."""

        self._cut = False
        """Whether a part was cut: the others that are told after it were cut with it."""

        self._places: dict[tuple[str, int], Step] = {}
        self._names: dict[str, int] = {}
        self.output: Step | None = None
        """The output whose last part has ended and that may go on; it has not been stopped yet."""

        self.text: Fragment | None = None
        """The text that is open."""

        self.medium: Step | None = None
        """The step of the medium that is open."""

        self.reasoning: Fragment | None = None
        """The reasoning that is open."""

        self.calls: dict[str, Call] = {}
        """All calls so far, by our id."""

        self._lingering: Step | None = None
        """The thought that has ended without the summary that its items would give it: another may have ended it."""

        self.thoughts = 0
        """How many thoughts were told."""

    # -- steps

    def flush(self) -> None:
        """Stop what might have gone on."""
        output, thought = self.output, self._lingering
        if output is not None:
            self.output = None
            self._stop(output)
        if thought is not None:
            self._lingering = None
            self._leave_out(OTHER_ITEMS)
            self._stop(thought)

    def think_on(self) -> None:
        """Let a thought stay open that the start of another has ended: what comes late has its summary."""
        self._lingering = None

    def _begin(self, kind: str, state: Fields | None, fields: Fields) -> Step:
        """Open a step; *state* is that of its first part, `None` when it is not known yet."""
        extra = _extra_of(state)
        if kind in vocabulary.MEDIA or kind == "text":  # 1.x: the content block is the item
            if extra:
                self._leave_out(LATE_EXTRA)
            extra = {}
        step = self._open(vocabulary.step_type(kind), extra)
        self._register(step, state)
        self._start(step, {"type": kind, **fields, **extra})
        return step

    def _open(self, kind: str, extra: Fields) -> Step:
        self.flush()
        step = Step(self._next, kind, extra)
        self._next += 1
        return step

    def _start(self, step: Step, fields: Fields) -> None:
        self._frame(self._words.start, {"index": step.index, self._words.item: fields})

    def _delta(self, step: Step, delta: Fields) -> None:
        self._frame(self._words.delta, {"index": step.index, "delta": delta})

    def _stop(self, step: Step) -> None:
        step.stopped = True
        self._frame(self._words.stop, {"index": step.index})

    def _register(self, step: Step, state: Fields | None) -> None:
        place = _place_of(state)
        if place is None:
            return
        self._places.setdefault((step.kind, place), step)
        if place != step.index:
            self._leave_out(NO_PLACE if self._words.flat else OTHER_PLACE)

    def _known(self, kind: str, state: Fields | None) -> Step | None:
        place = _place_of(state)
        return None if place is None else self._places.get((kind, place))

    def _tell_deltas(self, step: Step, state: Fields) -> None:
        """Tell what only the end of a part shows: deltas of unknown types, and fields in a delta that says no more."""
        for delta in _deltas_of(state):
            self._delta(step, delta)
        late = {key: value for key, value in _extra_of(state).items() if step.extra.get(key) != value}
        if late and step.kind in _CARRIERS:
            self._delta(step, {**_CARRIERS[step.kind], **late})
            step.extra = {**step.extra, **late}
        elif late:
            self._leave_out(LATE_EXTRA)

    def _check_other(self) -> None:
        if self._cut:
            self._leave_out(AFTER_CUT)

    def _check_cut(self, step: Step, state: Fields, *more: str) -> None:
        """Report what only the end of a part that was cut says of how it began; it is too late to tell that."""
        if not _extra_of(state).keys() <= step.extra.keys():
            self._leave_out(LATE_EXTRA)
        if any(key in state for key in more):
            self._leave_out(LATE_STATE)

    # -- text and media

    def text_started(self, end: TextEnded | None, state: Fields | None, first: str) -> None:
        """
        Open a text.

        Args:
            end: Its end; `None` when it has not come.

            state: The state of its end.

            first: What of it is told at once, because nothing shows a text but its first words.
        """
        self._check_other()
        step = self._output_for("text", state)
        self.text = Fragment(step, guessed=end is None)
        if end is not None and state is not None and not end.complete:
            self._tell_deltas(step, state)
        if first:
            self.text.sent = len(first)
            self._delta(step, {"text": first, "type": "text"})

    def text_delta(self, event: TextDelta) -> None:
        """Tell a piece of the open text."""
        if self.text is None:
            self._leave_out(NO_STEP)
            return
        piece = _piece(self.text, event.offset, event.delta)
        if piece:
            self._delta(self.text.step, {"text": piece, "type": "text"})

    def text_ended(self, event: TextEnded, state: Fields) -> None:
        """Tell what is left of the open text, and end it."""
        fragment = self.text
        if fragment is None:
            self._leave_out(NO_STEP)
            return
        self.text = None
        step = fragment.step
        self._settle_place(fragment, state)
        rest = event.text[fragment.sent :]
        if len(event.text) < fragment.sent:
            self._leave_out(OTHER_TEXT)
        if rest:
            self._delta(step, {"text": rest, "type": "text"})
        if not event.complete:
            self._cut = True
            self._check_cut(step, state, *(("deltas",) if fragment.guessed else ()))
            return
        self._tell_deltas(step, state)
        if state.get("block"):
            self._delta(step, {"text": "", "type": "text", **mapping(thaw(state), "block")})
        annotations = mappings({"all": thaw(state.get("annotations"))}, "all")
        if not annotations:
            annotations = [_annotation(each, event.text) for each in event.citations]
        if cited(annotations, event.text) != event.citations:
            self._leave_out(OTHER_SOURCES)
        if annotations:
            self._delta(step, {"type": self._words.annotations, "annotations": annotations})
        elif not event.text and not state.get("block"):
            self._leave_out(NOTHING)
        self._output_ended(step, text=True)

    def media_started(self, end: MediaEnded, state: Fields) -> None:
        """Tell a medium, which comes whole: *end* is its end."""
        self._check_other()
        block = wire_steps.medium(end)
        kind = block["type"]
        sound = kind == "audio" and end.data is not None
        step = self._output_for(kind if kind in vocabulary.MEDIA else "document", state, sound=sound)
        self._tell_deltas(step, state)
        self._delta(step, block)
        self.medium = step
        step.text_last = sound

    def media_ended(self, event: MediaEnded) -> None:
        """End a medium. Sound could go on."""
        step, self.medium = self.medium, None
        if step is None:
            self._leave_out(NO_STEP)
        elif event.complete or not step.text_last:
            self._output_ended(step, text=step.text_last)
        else:
            self._cut = True

    def _output_for(self, kind: str, state: Fields | None, *, sound: bool = False) -> Step:
        """Return the step that a part belongs to: the output that is open, one that was told before, or a new one."""
        known = None if self._words.flat else self._known("model_output", state)
        if self._words.flat and self._known("model_output", state) is not None:
            self._leave_out(NO_PLACE)
        if known is None:
            return self._begin(kind if self._words.flat else "model_output", state, {})
        if known is self.medium:
            self._leave_out(OPEN_SOUND)
        again = known.text_last and (kind == "text" or sound)
        if known is not self.output or again or _deltas_of(state):
            # What was told is over before this begins: more of the same would continue it, and what comes between
            # would be a part of it.
            self.flush()
        self.output = None
        return known

    def _output_ended(self, step: Step, *, text: bool) -> None:
        step.text_last = text
        self.flush()
        if step.stopped or self._words.flat:
            self._stop(step)  # where it was stopped before, what came late ends with that
        else:
            self.output = step

    def _settle_place(self, fragment: Fragment, state: Fields) -> None:
        if fragment.guessed:
            self._register(fragment.step, state)

    # -- reasoning

    def reasoning_started(self, end: ReasoningEnded | None, state: Fields | None) -> None:
        """Open a reasoning; *end* and *state* are those of its end, `None` when it has not come."""
        self._check_other()
        known = self._known("thought", state)
        if known is None:
            known = self._begin("thought", state, {})
            self.thoughts += 1
        else:
            self.flush()
        self.reasoning = Fragment(known, guessed=end is None)

    def reasoning_delta(self, event: ReasoningDelta) -> None:
        """Tell a piece of the open reasoning: one item of the summary."""
        fragment = self.reasoning
        if fragment is None:
            self._leave_out(NO_STEP)
            return
        if not fragment.guessed:
            return  # its end is known: items are told as they stand there
        piece = _piece(fragment, event.offset, event.delta)
        if piece:
            self._tell_item(fragment.step, {"type": "text", "text": piece})

    def reasoning_ended(self, event: ReasoningEnded, state: Fields) -> None:
        """Tell what is left of the open reasoning, its signature last, and end it."""
        fragment = self.reasoning
        if fragment is None:
            self._leave_out(NO_STEP)
            return
        self.reasoning = None
        step = fragment.step
        self._settle_place(fragment, state)
        items = self._items_left(fragment, event.text, state)
        signature = state.get("signature")
        if step.stopped:
            if not event.complete:
                self._leave_out(AFTER_CUT)
            self._tell_late(step, items, signature, state)
            return
        for item in items:
            self._tell_item(step, item)
        if not event.complete:
            self._cut = True
            return
        self._tell_deltas(step, state)
        if isinstance(signature, str) and signature:
            self._delta(step, {"signature": signature, "type": "thought_signature"})
        if "summary" in state:
            step.items = []
            self._stop(step)
        elif len(step.items) < 2:
            self._stop(step)
        else:
            self._lingering = step

    def _items_left(self, fragment: Fragment, text: str, state: Fields) -> list[Fields]:
        step = fragment.step
        summary = mappings({"all": thaw(state.get("summary"))}, "all")
        if not summary:
            if len(text) < fragment.sent:
                self._leave_out(OTHER_TEXT)
            rest = text[fragment.sent :]
            return [{"type": "text", "text": rest}] if rest else []
        told, whole = step.items, _whole_items(summary)
        if whole != summary:
            self._leave_out(OTHER_ITEMS)
        if whole[: len(told)] == told:
            return whole[len(told) :]
        self._leave_out(OTHER_ITEMS)
        return [item for item in summary if item.get("type", "text") != "text" and item not in told]

    def _tell_item(self, step: Step, item: Fields) -> None:
        step.items.append(item)
        self._delta(step, {"content": item, "type": "thought_summary"})

    def _tell_late(self, step: Step, items: list[Fields], signature: object, state: Fields) -> None:
        """Tell what came after a thought had been stopped. Signature and summary, in one delta, are one reasoning."""
        self._tell_deltas(step, state)
        step.items = [] if "summary" in state else [*step.items, *items]
        signed = {"signature": signature} if isinstance(signature, str) and signature else {}
        if signed and not items:
            self._delta(step, {"type": "thought_signature", **signed})
        elif len(items) == 1 and not signed:
            self._delta(step, {"content": items[0], "type": "thought_summary"})
        else:
            if items:
                self._delta(step, {"type": "thought", "summary": items, **signed})
            if not signed:
                self._delta(step, {"type": "thought_summary"})

    # -- calls

    def needs_end(self, event: ToolInputStarted) -> bool:
        """
        Tell whether a call cannot be told before its input has ended.

        So it is where its arguments come whole, and where only its state has the id that the provider gave it.
        """
        if self._words.flat or (self._whole and not event.provider_executed):
            return True
        base, mark, number = event.call_id.rpartition("#")
        if mark and number.isdecimal() and base in self.calls:
            return True
        word, _, number = event.call_id.rpartition("-")
        return word == "call" and number.isdecimal()

    def call_started(self, event: ToolInputStarted, end: ToolInputEnded | None, state: Fields | None) -> None:
        """Open a call; *end* and *state* are those of its input's end, `None` when it has not come."""
        known: Fields = {} if state is None else state
        kind = self._call_type(event.name, known, provider=event.provider_executed)
        wire_id = thaw(known["id"]) if "id" in known else event.call_id
        call = self.calls[event.call_id] = Call(event.name, wire_id, kind)
        call.known = end is not None
        if known.get("orphan") is True:
            return
        if self._words.flat:
            self._tell_call(call, end, known)
            return
        fields = self._call_fields(event.name, kind, wire_id)
        fields |= {key: thaw(known[key]) for key in wire_steps.DETAILS if key in known}
        whole = self._whole_arguments(kind, end)
        if whole is not None:
            call.sent = -1
            fields["arguments"] = whole
        if known.get("signature") and (whole is not None or (end is not None and not end.complete)):
            fields["signature"] = known["signature"]
        call.step = self._begin(kind, state, fields)

    def _tell_call(self, call: Call, end: ToolInputEnded | None, state: Fields) -> None:
        """Tell a call in one delta, as 1.x does."""
        fields = self._call_fields(call.name, call.type, call.wire_id)
        fields |= {key: thaw(state[key]) for key in (*wire_steps.DETAILS, "signature") if key in state}
        cut = end is not None and not end.complete
        # What a cut left of a call is what was known when it began.
        start = fields if cut or call.wire_id is None else {"id": call.wire_id}
        call.step = self._begin(call.type, state, {key: start[key] for key in start if key != "arguments"})
        if end is None:
            return
        parsed, _ = parsed_input(end.text)
        if parsed is not None and write_json(parsed).decode() != end.text:
            self._leave_out(REWORDED)
        fields["arguments"] = end.text if cut or parsed is None else thaw(parsed)
        self._delta(call.step, {"type": call.type, **fields})

    def _whole_arguments(self, kind: str, end: ToolInputEnded | None) -> dict[str, Any] | None:
        """Return the arguments that come with the start of a step; `None` when they are streamed."""
        if not self._whole or kind != "function_call" or end is None or not end.complete:
            return None
        parsed, _ = parsed_input(end.text)
        if parsed is None:
            return None
        if write_json(parsed).decode() != end.text:
            self._leave_out(REWORDED)
        arguments: dict[str, Any] = thaw(parsed)
        return arguments

    def _call_fields(self, name: str, kind: str, wire_id: Any) -> dict[str, Any]:
        # Without an id there is a null: a call begins when its id is said, whatever it is.
        fields: dict[str, Any] = {"id": wire_id}
        if vocabulary.CALLS.get(kind) is None:
            fields["name"] = name
        if kind == "function_call":
            fields["arguments"] = {}
        return fields

    def _call_type(self, name: str, state: Fields, *, provider: bool) -> str:
        kind = state.get("type")
        if isinstance(kind, str) and kind in vocabulary.CALLS:
            return kind
        if not provider or _place_of(state) is not None:
            return "function_call"
        if vocabulary.CALLS.get(f"{name}_call") is not None:
            return f"{name}_call"
        if name in vocabulary.SANDBOX_TOOLS:
            return "function_call"
        self._leave_out(FOREIGN_TOOL)
        return "mcp_server_tool_call"

    def input_delta(self, event: ToolInputDelta) -> None:
        """Tell a piece of the arguments; those of the provider's own tools come whole."""
        call = self.calls.get(event.call_id)
        if call is None or call.ended:
            self._leave_out(NO_STEP)
            return
        if call.step is None or call.type != "function_call" or self._words.flat or call.sent < 0:
            return
        piece = _piece(call, event.offset, event.delta)
        if piece:
            call.pieces.append(piece)
            self._delta(call.step, {"arguments": piece, "type": "arguments_delta"})

    def input_ended(self, event: ToolInputEnded, state: Fields) -> None:
        """Tell what is left of the arguments, and end the call."""
        call = self.calls.get(event.call_id)
        if call is None or call.ended:
            self._leave_out(NO_STEP)
            return
        call.ended = True
        step = call.step
        if step is None:
            return
        self._register(step, state)
        if not self._words.flat:
            self._tell_arguments(call, step, event.text, state, complete=event.complete)
        if event.complete:
            self._tell_deltas(step, state)
            self._stop(step)
        else:
            self._cut = True
            self._check_cut(step, state, "deltas", *(() if call.known else (*wire_steps.DETAILS, "signature")))

    def _tell_arguments(self, call: Call, step: Step, text: str, state: Fields, *, complete: bool) -> None:
        signed = {"signature": state["signature"]} if state.get("signature") and complete else {}
        if call.type != "function_call":
            parsed, _ = parsed_input(text)
            if complete and parsed is not None and write_json(parsed).decode() == text:
                details = {key: thaw(state[key]) for key in wire_steps.DETAILS if key in state}
                given = {"arguments": thaw(parsed)} if parsed or call.type not in wire_steps.NO_ARGUMENTS else {}
                if given or signed:
                    self._delta(step, {"type": call.type, **given, **signed, **details})
            elif text or signed:
                self._delta(step, {"arguments": text, "type": "arguments_delta", **signed})
            return
        if call.sent < 0:
            return
        told = "".join(call.pieces)
        rest = text[len(told) :]
        if not text.startswith(told):
            # Streamed pieces that made no object; what came whole beside them stands.
            parsed, _ = parsed_input(text)
            self._delta(step, {"type": call.type, "arguments": {} if parsed is None else thaw(parsed), **signed})
            if parsed is None:
                self._leave_out(OTHER_TEXT)
        elif rest or signed:
            self._delta(step, {"arguments": rest, "type": "arguments_delta", **signed})

    def called(self, event: ToolCalled, state: Fields) -> None:
        """Tell a call that came without its input before it."""
        if event.call_id in self.calls:
            return
        raw = write_json(event.input).decode()
        end = ToolInputEnded(message_id=event.message_id, call_id=event.call_id, text=raw, state=state)
        begun = ToolInputStarted(
            message_id=event.message_id,
            call_id=event.call_id,
            name=event.name,
            provider_executed=event.provider_executed,
        )
        self.call_started(begun, end, state)
        self.input_ended(end, state)

    def answered(self, event: ToolSuccess | ToolFailed, state: Fields) -> None:
        """Tell the result of a call that the provider ran."""
        call = self.calls.get(event.call_id)
        if call is None:
            self._leave_out(NO_STEP)
            return
        if isinstance(event, ToolFailed) and not state and event.error.kind in wire_steps.NO_ANSWER:
            return  # whoever reads the stream comes to the same
        if not event.provider_executed:
            self._leave_out(APP_ANSWER)
            return
        if self._orphans and call.step is not None:
            self._leave_out(AFTER_ORPHAN)
        self._orphans = self._orphans or call.step is None
        if isinstance(event, ToolFailed) and event.error != _TOOL_ERROR:
            self._leave_out(OTHER_ERROR)
        if len(event.output) > 1 or any(isinstance(item, MediaContent) for item in event.output):
            self._leave_out(OTHER_OUTPUT)
        kind = state.get("type")
        if not isinstance(kind, str) or kind not in vocabulary.RESULTS:
            kind = call.type.removesuffix("_call") + "_result"
        self._tell_result(call, kind, event, state)

    def _tell_result(self, call: Call, kind: str, event: ToolSuccess | ToolFailed, state: Fields) -> None:
        start: dict[str, Any] = {} if call.wire_id is None else {"call_id": call.wire_id}
        named = {key: thaw(state[key]) for key in ("name", *wire_steps.DETAILS) if key in state}
        fields: dict[str, Any] = {"result": wire_steps.raw_output(event.output)} if event.output else {}
        if isinstance(event, ToolFailed):
            fields["is_error"] = True
        fields |= {key: thaw(state[key]) for key in ("is_error", "signature") if key in state}
        if self._words.flat:
            fields = {**start, **named, **fields}
        else:
            start |= named
        step = self._begin(kind, state, start)
        if fields:
            self._delta(step, {"type": kind, **fields})
        self._tell_deltas(step, state)
        self._stop(step)

    def output_error(self, error: dict[str, Any]) -> None:
        """Tell why an output failed: a step without content, which gives nothing but its error."""
        self._stop(self._begin("model_output", None, {"error": error}))

    # -- what has no word

    def opaque(self, event: OpaqueReceived, state: Fields) -> None:
        """Tell an item that was kept raw."""
        raw = state.get("step")
        if isinstance(raw, Mapping):
            known = self._known("model_output", state) or self._known("", state)
            if known is not None and list(raw) == ["type"]:
                # What was left of a step is read at its stop, what came for it later at the end of the interaction.
                if known is not self.output:
                    self._leave_out(OTHER_PLACE)
                for delta in _deltas_of(state):
                    self._delta(known, delta)
                return
            step = self._open("", {})
            self._register(step, state)
            self._start(step, thaw(raw))
            for delta in mappings({"all": thaw(state.get("deltas"))}, "all"):
                self._delta(step, delta)
        elif isinstance(state.get("content"), Mapping):
            step = self._begin("model_output", state, {"content": [thaw(state["content"])]})
            if not self._words.flat:
                self.output = step
                return
        elif isinstance(state.get("type"), str):
            given = ("id", "arguments", *wire_steps.DETAILS, "signature")
            fields = {key: thaw(state[key]) for key in given if state.get(key) is not None}
            pieces = fields.pop("arguments") if isinstance(fields.get("arguments"), str) else None
            step = self._begin(state["type"], state, fields)
            if pieces is not None:
                self._delta(step, {"arguments": pieces, "type": "arguments_delta"})
            self._tell_deltas(step, state)
        else:
            self._leave_out(NO_STEP)
            return
        self._stop(step)


def _extra_of(state: Fields | None) -> dict[str, Any]:
    extra = None if state is None else state.get("extra")
    if not isinstance(extra, Mapping):
        return {}
    return {key: thaw(value) for key, value in extra.items() if key != "type"}


def _deltas_of(state: Fields | None) -> list[Fields]:
    return [] if state is None else mappings({"deltas": thaw(state.get("deltas"))}, "deltas")


def _place_of(state: Fields | None) -> int | None:
    place = None if state is None else state.get("i")
    return place if isinstance(place, int) and not isinstance(place, bool) else None


def _piece(fragment: Fragment | Call, offset: int, delta: str) -> str:
    """Return what of a delta is new; nothing when one before it was lost, which the end makes good."""
    skip = fragment.sent - offset
    if skip < 0:
        return ""
    piece = delta[skip:] if skip else delta
    fragment.sent += len(piece)
    return piece


def _whole_items(summary: list[Fields]) -> list[Fields]:
    """Return the items of a summary with each character whole: one that was cut between two is told with the second."""
    held = ""
    items: list[Fields] = []
    for item in summary:
        text = string(item, "text")
        if text is not None and (string(item, "type") or "text") == "text":
            text, held = joined(held, text)
            item = {**item, "text": text}
        items.append(item)
    return [*items, {"type": "text", "text": "\ufffd"}] if held else items


def _annotation(citation: Citation, text: str) -> dict[str, Any]:
    """Return a citation as the wire has it: with places in bytes."""
    fields: dict[str, Any] = {"type": "url_citation", "url": citation.url, "title": citation.title}
    for key, place in (("start_index", citation.start), ("end_index", citation.end)):
        fields[key] = None if place is None else len(text[:place].encode())
    return {key: value for key, value in fields.items() if value is not None}
