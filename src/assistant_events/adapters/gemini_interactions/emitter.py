"""
Events to the Interactions wire, as the provider would have told them.

What the decoder reads is what the emitter was given, up to the cutting of deltas. Deltas go out at once. The state of
a part comes with its end, so a part waits where only its state can tell which step of the wire it belongs to: a text
or a medium that follows another directly, and media, which come whole on this wire.
"""

from __future__ import annotations

from base64 import b64encode
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from assistant_events.adapters.emitter import Frame, LeftOut
from assistant_events.adapters.gemini_interactions import statuses, wire_steps
from assistant_events.adapters.gemini_interactions.step_writer import StepWriter
from assistant_events.adapters.gemini_interactions.wire_versions import generation_of, is_text, sse
from assistant_events.adapters.json_fields import Fields, string
from assistant_events.events import (
    CompactionDelta,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    HistoryRewound,
    MediaDelta,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolSuccess,
)
from assistant_events.messages import AssistantMessage
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, Origin, RemoteRun, State, Usage, thaw
from assistant_events.values.validators import NO_STATE

_DIALECT = "gemini-interactions"

_STOPPED = ErrorInfo(kind=ErrorKind.INTERRUPTED, message="the stream stopped before its end", retryable=True)

_NO_WORD = "the wire has no word for it"
_FOREIGN = "state of another dialect means nothing here"
_FOREIGN_ORIGIN = "another provider issued it; the wire names this one"
_OTHER_MESSAGE = "it belongs to a message that is not told now"
_OVER = "the answer has come to its end"
_RESTARTED = "a restart is told as a replay from the start; whoever reads it decides what is void"
_OTHER_ERROR = "the error is read as another"
_OTHER_USAGE = "some of the counts have no word"
_HALVES = "half of a surrogate pair cannot be told, since many clients cannot read it"
_OTHER_RUN = "the run that the start named is read as that of the end"
_NO_STATUS = "nobody gave a status; the wire has the one that is nearest to the finish"

_Part: TypeAlias = (
    TextStarted
    | TextDelta
    | TextEnded
    | ReasoningStarted
    | ReasoningDelta
    | ReasoningEnded
    | MediaStarted
    | MediaDelta
    | MediaEnded
    | ToolInputStarted
    | ToolInputDelta
    | ToolInputEnded
    | ToolCalled
    | ToolSuccess
    | ToolFailed
    | OpaqueReceived
)
_PARTS: tuple[type, ...] = _Part.__args__
_AWAITED = frozenset[type](
    {TextEnded, TextDelta, ReasoningEnded, ReasoningDelta, MediaEnded, ToolInputEnded, ToolInputDelta}
)
"""Events that tell of which step a part is, or of which form."""

_GO_ON = (TextStarted, MediaStarted, MediaDelta, MediaEnded, OpaqueReceived)
"""Events of parts that may belong to the output that was told last. All others end it."""

_OTHERS = (PromptSubmitted, HistoryRewound, CompactionStarted, CompactionDelta, CompactionEnded, CompactionFailed)


class GeminiInteractionsEmitter:
    """
    Tells one answer, which may be several messages (hops), as a stream of the Interactions API.

    Live events are told as they come; durable events alone are enough, an end then brings all of its part.

    Args:
        generation: 2 for `step.*`, 1 for `content.*`.

        arguments: How the arguments of the app's calls come in generation 2: `streamed` in JSON-string fragments after
            `arguments: {}`, or `whole` with the start of their step. Arguments that are no object are always streamed,
            and generation 1 has them in one delta.

        event_ids: Whether each frame has an `event_id`, a cursor to resume after. Only background runs have them.

        status_updates: Whether a status update follows the first frame of an interaction, as the service sends it.

        agent: Whether an agent answers, and not a model.

        live: Whether deltas go out at once. Otherwise every part waits for its end, whose state then decides where it
            stands: nothing is guessed. For events that are recorded already.

        fields: Fields of the interaction that no event knows (`created`, `updated`, `service_tier`, …), for its first
            and its last frame.

    Raises:
        ValueError: For a generation or a kind of arguments that there is not.
    """

    def __init__(
        self,
        *,
        generation: Literal[1, 2] = 2,
        arguments: Literal["streamed", "whole"] = "streamed",
        event_ids: bool = False,
        status_updates: bool = True,
        agent: bool = False,
        live: bool = True,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        if arguments not in ("streamed", "whole"):
            raise ValueError(f"arguments: expected 'streamed' or 'whole', got {arguments!r}")
        self._words = generation_of(generation)
        self._whole = arguments == "whole"
        self._event_ids = event_ids
        self._status_updates = status_updates
        self._agent = agent
        self._live = live
        self._fields = dict(fields or {})
        self._left_out: dict[LeftOut, None] = {}
        self._out: list[Frame] = []
        self._sequence = 0
        self._told: Event | None = None
        self._message_id: str | None = None
        self._origin: Origin | None = None
        self._own = True
        self._id = ""
        self._running = False
        self._over = False
        self._ended = False
        self._closed = False
        self._telling = self._new_telling()
        self._held: deque[_Part] = deque()
        self._awaited: tuple[tuple[type, ...], str | None] | None = None
        """Classes of the events, and the call, that the first of the held ones waits for; `None` when nothing waits."""

        self._ahead: dict[tuple[type, str | None], deque[tuple[int, _Part]]] = {}
        """Held events for which others may wait, numbered in their order, by their class and their call."""

        self._count = 0

    # -- for whoever has events

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What the wire could not say so far, each once, in the order in which it came up."""
        return tuple(self._left_out)

    def emit(self, event: Event) -> Sequence[Frame]:
        """
        Return the frames that say *event*; none when it waits for one that follows, or when it has no word.

        Never raises for an event, however it came here.
        """
        if isinstance(event, TextDelta) and not self._held:
            text = self._telling.text
            if text is not None and event.offset == text.sent and event.message_id == self._message_id:
                text.sent += len(event.delta)
                delta = {"text": event.delta, "type": "text"}
                return [self._framed(self._words.delta, {"index": text.step.index, "delta": delta})]
        self._take(event)
        return self._taken()

    def close(self) -> Sequence[Frame]:
        """
        Say that nothing more comes: the mark `[DONE]`, unless the last interaction has not come to its end.

        Again it does nothing.
        """
        if self._closed:
            return []
        self._closed = True
        self._release(everything=True)
        if self._ended:
            self._out.append("[DONE]")
        return self._taken()

    # -- messages

    def _take(self, event: Event) -> None:
        self._told = event
        if isinstance(event, StepStarted):
            self._on_started(event)
        elif self._message_id is None or event.message_id != self._message_id or isinstance(event, _OTHERS):
            self._leave_out(_NO_WORD if isinstance(event, _OTHERS) else _OTHER_MESSAGE)
        elif isinstance(event, StepRestarted):
            self._on_restarted(event)
        elif not self._running:
            self._leave_out(_OVER)
        elif isinstance(event, (StepEnded, StepFailed)):
            self._release(everything=True)
            self._told = event
            if isinstance(event, StepEnded):
                self._on_ended(event)
            else:
                self._on_failed(event)
            self._running = False
        elif isinstance(event, _PARTS):
            self._hold(event)  # type: ignore[arg-type]  # what `_PARTS` lists
            if self._awaited is None or _is_one(event, *self._awaited):
                self._release()
        else:
            self._leave_out(_NO_WORD)

    def _on_started(self, event: StepStarted) -> None:
        if self._over or event.message_id == self._message_id:
            self._leave_out(_OVER if self._over else _OTHER_MESSAGE)
            return
        self._release(everything=True)
        self._told = event
        self._message_id = event.message_id
        self._origin = event.origin
        self._own = event.origin.dialect == _DIALECT
        self._id = _id_of(event.run, event.state if self._own else NO_STATE)
        if not self._own:
            self._leave_out(_FOREIGN_ORIGIN)
        self._begin(event, event.origin)

    def _on_restarted(self, event: StepRestarted) -> None:
        if self._over or self._origin is None:
            self._leave_out(_OVER)
            return
        self._leave_out(_RESTARTED)
        self._held.clear()
        self._ahead.clear()
        self._awaited = None
        self._id = _id_of(event.run, event.state) or self._id
        self._origin = self._origin.filled_in(event.origin)
        self._begin(event, self._origin)

    def _begin(self, event: StepStarted | StepRestarted, origin: Origin) -> None:
        self._running = True
        self._ended = False
        self._telling = self._new_telling()
        state = self._state(event.state)
        token = string(state, "continuation_token")
        if token:
            self._update({"continuation_token": token})
        self._frame(self._words.created, {"interaction": self._interaction("in_progress", origin, state)})
        if self._status_updates:
            self._update({})

    def _interaction(self, status: str, origin: Origin, state: Fields, **more: Any) -> dict[str, Any]:
        fields: dict[str, Any] = {"id": self._id, "status": status}
        fields |= {key: value for key, value in more.items() if value is not None}
        fields |= self._fields
        fields["object"] = "interaction"
        name = origin.served_model if self._own else origin.served_model or origin.model
        if name:
            fields["agent" if self._agent else "model"] = name
        if "environment_id" in state:
            fields["environment_id"] = thaw(state["environment_id"])
        return fields

    def _update(self, more: dict[str, Any]) -> None:
        address = {"interaction_id": self._id} if self._id else {}
        self._frame("interaction.status_update", {**address, "status": "in_progress", **more})

    def _on_ended(self, event: StepEnded) -> None:
        assert self._origin is not None
        self._telling.flush()
        state = self._state(event.state)
        self._id = self._end_id(event)
        usage, partial = self._usage(event.usage)
        if partial:
            self._update({"usage": partial})
        status = statuses.status_of(event.finish_reason, event.raw_finish_reason if self._own else None)
        if status != event.raw_finish_reason:
            self._leave_out(_NO_STATUS)
        token = string(state, "continuation_token")
        fields = self._interaction(status, self._origin, state, usage=usage, continuation_token=token)
        self._frame(self._words.completed, {"interaction": fields})
        self._ended = True
        self._over = event.finish_reason is not FinishReason.PAUSE

    def _on_failed(self, event: StepFailed) -> None:
        assert self._origin is not None
        self._telling.flush()
        state = self._state(event.state)
        known = self._id
        self._id = self._end_id(event)
        usage, partial = self._usage(event.usage)
        failure = statuses.failure_of(event.error)
        if not failure.exact or (failure.status is None and event.error != _STOPPED):
            self._leave_out(_OTHER_ERROR)
        token = string(state, "continuation_token")
        as_event = failure.error is not None and usage is None
        said = {"continuation_token": token if as_event or failure.status is None else None, "usage": partial}
        if any(said.values()):
            self._update({key: value for key, value in said.items() if value})
        origin = self._origin
        if failure.status is not None and not as_event:
            if failure.output_error is not None:
                self._telling.output_error(failure.output_error)
            errors = None if failure.error is None else [failure.error]
            fields = self._interaction(
                failure.status, origin, state, usage=usage, errors=errors, continuation_token=token
            )
            self._frame(self._words.completed, {"interaction": fields})
        elif self._id and not known:
            self._frame(self._words.created, {"interaction": self._interaction("in_progress", origin, state)})
        if as_event:
            self._frame("error", {"error": failure.error})
        self._ended = self._over = failure.status is not None

    def _end_id(self, event: StepEnded | StepFailed) -> str:
        found = _id_of(event.run, event.state if self._own else NO_STATE)
        if self._id and not found and self._own:
            self._leave_out(_OTHER_RUN)
        return found or self._id

    def _usage(self, usage: Usage | None) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Return the counts of the end, and those that were said on the way only."""
        if usage is None:
            return None, None
        if not statuses.is_exact(usage):
            self._leave_out(_OTHER_USAGE)
        counts = statuses.usage_of(usage)
        if counts.get("partial") is True:
            return None, {key: value for key, value in counts.items() if key != "partial"}
        return counts or None, None

    # -- parts

    def _release(self, *, everything: bool = False) -> None:
        """Tell the parts that wait, as far as it is known what they are."""
        self._awaited = None
        while self._held:
            event = self._held[0]
            awaited = self._awaits(event)
            first = None if awaited is None else self._first_ahead(*awaited)
            if awaited is not None and first is None and not everything:
                self._awaited = awaited
                return
            self._let_go()
            self._told = event
            self._tell(event, first)

    def _awaits(self, event: _Part) -> tuple[tuple[type, ...], str | None] | None:
        """Return what has to follow before *event* is told: classes of events, and their call; `None` if nothing."""
        telling = self._telling
        match event:
            case TextStarted():
                at_once = self._live and telling.output is None
                return (TextEnded, TextDelta) if at_once else (TextEnded,), None
            case ReasoningStarted():
                if self._live and not telling.thoughts:
                    return None
                return (ReasoningEnded, ReasoningDelta) if self._live else (ReasoningEnded,), None
            case MediaStarted():
                return (MediaEnded,), None
            case ToolInputStarted():
                if not self._live or telling.needs_end(event):
                    return (ToolInputEnded,), event.call_id
                return ((ToolInputEnded, ToolInputDelta), event.call_id) if event.provider_executed else None
            case _:
                return None

    def _hold(self, event: _Part) -> None:
        self._held.append(event)
        if type(event) in _AWAITED:
            self._ahead.setdefault(_key_of(event), deque()).append((self._count, event))
            self._count += 1

    def _let_go(self) -> None:
        event = self._held.popleft()
        if type(event) in _AWAITED:
            key = _key_of(event)
            self._ahead[key].popleft()
            if not self._ahead[key]:
                del self._ahead[key]

    def _first_ahead(self, classes: tuple[type, ...], call_id: str | None) -> Event | None:
        """Return the first of the held events that is of these classes, and of this call."""
        first = min([self._ahead[cls, call_id][0] for cls in classes if (cls, call_id) in self._ahead], default=None)
        return None if first is None else first[1]

    def _tell(self, event: _Part, ahead: Event | None) -> None:
        """Tell a part, or a piece of it; *ahead* is what it has waited for, if it has."""
        telling = self._telling
        if isinstance(event, ReasoningStarted):
            telling.think_on()
        if not isinstance(event, _GO_ON):
            telling.flush()
        match event:
            case TextStarted() | ReasoningStarted() | MediaStarted() | ToolInputStarted():
                self._tell_start(event, ahead)
            case TextDelta():
                telling.text_delta(event)
            case ReasoningDelta():
                telling.reasoning_delta(event)
            case ToolInputDelta():
                telling.input_delta(event)
            case MediaEnded():
                telling.media_ended(event)
            case MediaDelta():
                pass  # told with the start
            case _:
                self._tell_end(event)

    def _tell_start(
        self, event: TextStarted | ReasoningStarted | MediaStarted | ToolInputStarted, ahead: Event | None
    ) -> None:
        telling = self._telling
        match event:
            case TextStarted():
                end = ahead if isinstance(ahead, TextEnded) else None
                telling.text_started(end, self._state_of(end), self._first_of(ahead))
            case ReasoningStarted():
                thought = ahead if isinstance(ahead, ReasoningEnded) else None
                telling.reasoning_started(thought, self._state_of(thought))
            case MediaStarted():
                if isinstance(ahead, MediaEnded):
                    telling.media_started(ahead, self._state(ahead.state))
            case _:
                arguments = ahead if isinstance(ahead, ToolInputEnded) else None
                telling.call_started(event, arguments, self._state_of(arguments))

    def _tell_end(
        self,
        event: TextEnded | ReasoningEnded | ToolInputEnded | ToolCalled | ToolSuccess | ToolFailed | OpaqueReceived,
    ) -> None:
        telling = self._telling
        state = self._state(event.state)
        match event:
            case TextEnded():
                telling.text_ended(event, state)
            case ReasoningEnded():
                telling.reasoning_ended(event, state)
            case ToolInputEnded():
                telling.input_ended(event, state)
            case ToolCalled():
                telling.called(event, state)
            case OpaqueReceived():
                telling.opaque(event, state)
            case _:
                telling.answered(event, state)

    def _first_of(self, ahead: Event | None) -> str:
        """Return what of a text is told with its start: nothing when a delta follows at once."""
        if self._held and isinstance(self._held[0], TextDelta):
            return ""
        if isinstance(ahead, TextEnded):
            return ahead.text
        return ahead.delta if isinstance(ahead, TextDelta) else ""

    def _state_of(self, end: TextEnded | ReasoningEnded | ToolInputEnded | None) -> State | None:
        return None if end is None else self._state(end.state)

    def _state(self, state: State) -> State:
        if self._own or not state:
            return state
        self._leave_out(_FOREIGN)
        return NO_STATE

    # -- frames

    def _new_telling(self) -> StepWriter:
        return StepWriter(self._words, self._frame, self._leave_out, whole=self._whole)

    def _frame(self, name: str, fields: dict[str, Any]) -> None:
        if not is_text(fields):
            self._leave_out(_HALVES)
        self._out.append(self._framed(name, fields))

    def _framed(self, name: str, fields: dict[str, Any]) -> dict[str, Any]:
        if self._event_ids:
            cursor = f"{fields.get('index', 0)}_{name}_{self._sequence}"
            fields["event_id"] = f"v1_{b64encode(cursor.encode()).decode()}"
            self._sequence += 1
        fields["event_type"] = name
        return fields

    def _taken(self) -> list[Frame]:
        out = self._out
        self._out = []
        return out

    def _leave_out(self, reason: str) -> None:
        assert self._told is not None
        self._left_out.setdefault(LeftOut(self._told.message_id, self._told.type, reason))


def emit_resource(
    message: AssistantMessage,
    *,
    generation: Literal[1, 2] = 2,
    agent: bool = False,
    fields: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """
    Return an answer as one JSON document, as `GET` and a `POST` without `stream` do.

    `decode_resource` makes the same message of it. A message that runs is `in_progress`; one whose run has no id (it
    was not stored) gives a document without one.

    Args:
        message: The answer. Calls that the app has answered are told without the answer.

        generation: 2 for `steps`, 1 for `outputs`.

        agent: Whether an agent answered, and not a model.

        fields: Fields of the interaction that no message knows, such as `created`; they come before its own.

    Raises:
        TypeError: When *message* is no `AssistantMessage`.

        ValueError: For a generation that there is not.
    """
    if not isinstance(message, AssistantMessage):
        raise TypeError(f"message: expected an AssistantMessage, got {type(message).__name__}")
    words = generation_of(generation)
    own = message.origin.dialect == _DIALECT
    document: dict[str, Any] = {}
    interaction_id = _id_of(message.run, message.state if own else NO_STATE)
    if interaction_id:
        document["id"] = interaction_id
    failure = statuses.Failure("in_progress") if message.error is None else statuses.failure_of(message.error)
    status = failure.status or "in_progress"
    if message.finish_reason is not None:
        status = statuses.status_of(message.finish_reason, message.raw_finish_reason if own else None)
    document["status"] = status
    document |= {**(fields or {}), "object": "interaction"}
    name = message.origin.served_model if own else message.origin.served_model or message.origin.model
    if name:
        document["agent" if agent else "model"] = name
    steps = wire_steps.wire_steps(message)
    if failure.output_error is not None:
        steps.append({"type": "model_output", "error": failure.output_error})
    document[words.items] = [block for step in steps for block in _flat(step)] if words.flat else steps
    if message.usage is not None:
        document["usage"] = statuses.usage_of(message.usage)
    if failure.error is not None:
        document["errors"] = [failure.error]
    state = message.state if own else NO_STATE
    document |= {key: thaw(state[key]) for key in ("environment_id", "continuation_token") if key in state}
    return document


def _flat(step: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the 1.x items of a step: each content block is one of its own."""
    return step.get("content", []) if step["type"] == "model_output" else [step]


def _key_of(event: _Part) -> tuple[type, str | None]:
    return type(event), getattr(event, "call_id", None)


def _is_one(event: Event, classes: tuple[type, ...], call_id: str | None) -> bool:
    return isinstance(event, classes) and (call_id is None or getattr(event, "call_id", None) == call_id)


def _id_of(run: RemoteRun | None, state: State) -> str:
    if run is not None:
        return run.id
    return string(state, "interaction_id") or ""


__all__ = ["GeminiInteractionsEmitter", "emit_resource", "sse"]
