"""Events to streams and documents of the Interactions API, in the form of generation 2.x."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

import attrs

from assistant_events import messages as msg
from assistant_events.adapters.emitter import EmitterBase, Frame, own_message
from assistant_events.adapters.gemini_interactions import wire_steps
from assistant_events.adapters.gemini_interactions.citations import annotations_of, byte_length, moved
from assistant_events.adapters.gemini_interactions.decoder import GeminiInteractionsDecoder
from assistant_events.adapters.gemini_interactions.statuses import Failure, failure_of, interaction, usage_of
from assistant_events.adapters.gemini_interactions.step_stream import Arguments, sse, step_frames
from assistant_events.adapters.gemini_interactions.vocabulary import CALLS, SANDBOX_TOOLS
from assistant_events.adapters.items import number_of
from assistant_events.adapters.json_fields import array, string, without
from assistant_events.values import State, thaw

_DIALECT = GeminiInteractionsDecoder.dialect


class GeminiInteractionsEmitter(EmitterBase):
    """
    Writes one answer, which may be several interactions, as a stream.

    Args:
        arguments: How the arguments of calls of the app are sent.

        delta_chars: Length of one delta of text or of arguments; `None` sends each in one delta.

        status_updates: Whether a status update follows the first frame, as the service sends it.

        agent: Whether an agent answers, not a model.

        fields: Fields of the interaction that no event has (`created`, `updated`, `service_tier`, …), for its first
            and its last frame.

    Raises:
        ValueError: For an unknown value of *arguments*.
    """

    decoder = GeminiInteractionsDecoder
    joins_hops = True

    def __init__(
        self,
        *,
        arguments: Arguments = "streamed",
        delta_chars: int | None = None,
        status_updates: bool = True,
        agent: bool = False,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(delta_chars=delta_chars)
        if arguments not in get_args(Arguments):
            raise ValueError(f"arguments: expected 'streamed' or 'whole', got {arguments!r}")
        self._arguments: Arguments = arguments
        self._status_updates = status_updates
        self._agent = agent
        self._fields = dict(fields or {})
        self._id = ""
        self._has_end = False
        self._written_items: dict[int, int] = {}
        """How many items of a summary were written of parts whose state has none, by the index of the thought."""

        self._written_bytes: dict[int, int] = {}
        """How many bytes of text were written, by the index of the output."""

        self._open: tuple[int, str] | None = None
        """Index of the output that may go on, and the type of its last part."""

    def to_bytes(self, frame: Frame) -> bytes:
        """Return the server-sent event of a frame."""
        return sse(frame)

    # -- the interaction

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Write `interaction.created`, and before it a continuation token that is known already."""
        self._written_items, self._written_bytes, self._open, self._has_end = {}, {}, None, False
        self._id = _id_of(message)
        token = string(message.state, "continuation_token")
        if token:
            self._update(continuation_token=token)
        self._created(message)
        if self._status_updates:
            self._update()

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the last interaction, or the error; nothing when the stream was cut."""
        self._stop_output()
        failure, usage = failure_of(message), usage_of(message)
        is_partial = usage.pop("partial", None) is True
        token = string(message.state, "continuation_token")
        is_event = failure.error is not None and (is_partial or not usage)
        is_whole = failure.status is not None and not is_event
        learned, self._id = _id_of(message) != self._id, _id_of(message)
        early = {"usage": usage if is_partial else None, "continuation_token": None if is_whole else token}
        if any(early.values()):
            self._update(**{key: value for key, value in early.items() if value})
        if failure.status is not None and is_whole:
            if failure.output_error is not None:
                for frame in step_frames({"type": "model_output", "error": failure.output_error}, len(self._indexes)):
                    self._frame(**frame)
            ending = {"usage": None if is_partial else usage or None, "continuation_token": token}
            document = _interaction(message, failure, agent=self._agent, fields=self._fields, **ending)
            self._frame("interaction.completed", interaction=document)
        elif learned:
            self._created(message)
        if is_event:
            self._frame("error", error=failure.error)
        self._has_end = failure.status is not None

    def on_close(self) -> Iterable[Frame]:
        """Return the mark `[DONE]`, unless the last interaction was cut."""
        return ["[DONE]"] if self._has_end else []

    def _created(self, message: msg.AssistantMessage) -> None:
        document = _interaction(message, Failure("in_progress"), agent=self._agent, fields=self._fields)
        self._frame("interaction.created", interaction=document)

    def _update(self, **more: Any) -> None:
        address = {"interaction_id": self._id} if self._id else {}
        self._frame("interaction.status_update", **address, status="in_progress", **more)

    # -- steps

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the step of a part, or continue the one that it belongs to."""
        kind = wire_steps.step_kind(part)
        if kind == "opaque" and wire_steps.opaque_step(part.state).get("type") == "model_output":
            kind = "model_output"  # fields and deltas of an output that no other part has
        if kind is not None:
            self._write_part(kind, part, part.state)

    def on_piece(self, place: int, part: msg.TextPart | msg.ReasoningPart, piece: str, *, begins: bool) -> None:
        """Write the start of a step, its next delta or its end: the sources and the stop."""
        if begins:
            self._stop_output()
        kind: wire_steps.StepKind = "model_output" if isinstance(part, msg.TextPart) else "thought"
        index = self.index_of((kind, f"part {place}"))
        if piece:
            step = wire_steps.write_step(kind, [attrs.evolve(part, text=piece)])
            for frame in step_frames(step, index, delta_chars=self._delta_chars, is_cut=True):
                if begins or frame["event_type"] != "step.start":
                    self._frame(**frame)
        else:
            step = wire_steps.write_step(kind, [_in_our_words(part)])
            for frame in step_frames(step, index, is_cut=_is_cut(part)):
                if frame["event_type"] == "step.stop" or "annotations" in frame.get("delta", {}):
                    self._frame(**frame)

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write the step of a result."""
        self._write_part("result", call, call.result_state)

    def _write_part(self, kind: wire_steps.StepKind, part: msg.Part, state: State) -> None:
        number = number_of(state, "i")
        key = (kind, len(self._indexes) if number is None else number)
        is_late = key in self._indexes
        index = self.index_of(key)
        media_type = part.media_type.partition("/")[0] if isinstance(part, msg.MediaPart) else part.type
        # Without a stop between them, two texts are decoded to one, and unknown deltas belong to the part before.
        is_joined = media_type not in ("opaque", "" if self._open is None else self._open[1])
        if self._open is None or self._open[0] != index or not is_joined or wire_steps.deltas_of(state):
            self._stop_output()
        self._open = None
        for frame in step_frames(
            self._step_of(kind, part, index),
            index,
            arguments="whole" if isinstance(part, msg.OpaquePart) else self._arguments,
            raw_input=part.raw_input if isinstance(part, msg.ToolPart) and part.input_status is not None else None,
            deltas=wire_steps.deltas_of(state),
            delta_chars=self._delta_chars,
            is_late=is_late,
            is_cut=_is_cut(part),
        ):
            if kind == "model_output" and frame["event_type"] == "step.stop":
                self._open = index, media_type
            else:
                self._frame(**frame)

    def _step_of(self, kind: wire_steps.StepKind, part: msg.Part, index: int) -> dict[str, Any]:
        if isinstance(part, msg.OpaquePart):
            return wire_steps.opaque_step(part.state)
        step = wire_steps.write_step(kind, [_in_our_words(part)])
        if isinstance(part, msg.TextPart):
            [block], past = step["content"], self._written_bytes.get(index, 0)
            block |= {key: [moved(each, past) for each in block[key]] for key in ("annotations",) if key in block}
            self._written_bytes[index] = past + byte_length(part.text)
        if kind == "thought":
            # The first summary in a state is the whole of it, also what earlier parts of the thought have written.
            written = self._written_items.pop(index, 0)
            if "summary" not in part.state:
                self._written_items[index] = written + len(step.get("summary", ()))
            elif written:
                step["summary"] = step["summary"][written:]
        return step

    def _stop_output(self) -> None:
        if self._open is not None:
            self._frame("step.stop", index=self._open[0])
            self._open = None

    def _frame(self, event_type: str, **fields: Any) -> None:
        self.write({**fields, "event_type": event_type})


def emit_resource(
    message: msg.AssistantMessage, *, agent: bool = False, fields: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """
    Return an answer as one JSON document, as `GET` and a `POST` without `stream` do.

    `decode_resource` returns the same message. The status of a message that runs is `in_progress`; the document of a
    message without a run has no id.

    Args:
        message: The answer. Results of the app are not in the document.

        agent: Whether an agent answered, not a model.

        fields: Fields of the interaction that no message has, such as `created`.

    Raises:
        TypeError: When *message* is not an `AssistantMessage`.
    """
    if not isinstance(message, msg.AssistantMessage):
        raise TypeError(f"message: expected an AssistantMessage, got {type(message).__name__}")
    message = own_message(message, _DIALECT)
    failure = failure_of(message)
    steps = wire_steps.wire_steps(attrs.evolve(message, parts=[_in_our_words(part) for part in message.parts]))
    if failure.output_error is not None:
        steps.append({"type": "model_output", "error": failure.output_error})
    ending = {
        "usage": None if message.usage is None else usage_of(message),
        "continuation_token": string(message.state, "continuation_token"),
    }
    document = _interaction(message, failure, agent=agent, fields=fields, steps=steps, **ending)
    if not document["id"]:
        del document["id"]
    return document


def _interaction(
    message: msg.AssistantMessage, failure: Failure, *, agent: bool, fields: Mapping[str, Any] | None, **more: Any
) -> dict[str, Any]:
    facts = without(thaw(message.details), ("served_model", "output_error"))
    errors = facts.pop("errors", None) if failure.error is None else [failure.error]
    more |= {"errors": errors, "environment_id": string(message.state, "environment_id")}
    status, name = failure.status or "in_progress", message.origin.served_model
    return interaction(_id_of(message), status, name, is_agent=agent, fields={**(fields or {}), **facts}, **more)


def _id_of(message: msg.AssistantMessage) -> str:
    return string(message.state, "interaction_id") or "" if message.run is None else message.run.id


def _with_transcription(part: msg.Part) -> msg.Part:
    """Return a text part with the annotations of its details behind those of its state."""
    if not isinstance(part, msg.TextPart) or "annotations" not in part.details:
        return part
    annotations = [each for facts in (part.state, part.details) for each in array(facts, "annotations")]
    return attrs.evolve(part, state=State({**part.state, "annotations": annotations}))


def _in_our_words(part: msg.Part) -> msg.Part:
    """Return a part of another provider with what this one has in the state: annotations, the type of a tool."""
    part = _with_transcription(part)
    if isinstance(part, msg.TextPart) and part.citations and "annotations" not in part.state:
        annotations = annotations_of(part.citations, part.text)
        return attrs.evolve(part, state=State({**part.state, "annotations": annotations}))
    if not isinstance(part, msg.ToolPart) or not part.provider_executed or part.state.keys() & {"i", "type"}:
        return part
    if wire_steps.call_type(part) == "function_call" and part.name not in SANDBOX_TOOLS:
        return attrs.evolve(part, state=State({**part.state, "type": "mcp_server_tool_call"}))
    return part


def _is_cut(part: msg.Part) -> bool:
    if isinstance(part, msg.ToolPart):
        return part.input_status is msg.PartStatus.INCOMPLETE
    if isinstance(part, msg.OpaquePart):
        return bool(CALLS.get(str(part.state.get("type"))))  # a call that was cut before its id; a stop would make one
    return part.status is msg.PartStatus.INCOMPLETE and not (isinstance(part, msg.MediaPart) and part.data is None)
