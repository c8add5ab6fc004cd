"""
Gemini Interactions to events.

All generations of the wire: 1.x (`content.*`, until June 2026), 2.x (`step.*`), and long decode, where one answer
comes as several interactions. The names of both generations may stand in one stream. Facts: SDK types of google-genai
1.75, 2.19 and 3.4, recordings of 2026-01 to 2026-09, Google's migration page of May 2026.

A *wire step* is one item of an interaction's `steps`; the step of the events is the whole interaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeAlias

from assistant_events.adapters.base import DecoderBase, Prior
from assistant_events.adapters.errors import error_of
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.adapters.gemini_interactions.step_decoders import (
    CallStep,
    OpaqueStep,
    OutputStep,
    ResultStep,
    StepDecoder,
    ThoughtStep,
)
from assistant_events.adapters.json_fields import Fields, integer, mapping, plain_json, string
from assistant_events.events import Event
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, RemoteRun, Usage

_MAX_INDEX = 1 << 31
"""Indexes from here on, and those below 0, are none that a service counts."""

Index: TypeAlias = int | str
"""What names a step on the wire; an index that is none is taken as text."""

_BEGINNINGS = ("interaction.created", "interaction.start")


class GeminiInteractionsDecoder(DecoderBase):
    """
    Decodes streams of `POST /interactions` and `GET /interactions/{id}?stream=true`.

    `request` tells whether the run can be resumed (`background`, `store`, `agent`) and which model or agent was asked
    for.
    """

    dialect: ClassVar[str] = "gemini-interactions"
    provider: ClassVar[str] = "google"
    item_key: ClassVar[str | None] = "i"

    delta_frames: ClassVar[DeltaFrames] = DeltaFrames(
        constant=("type", "event_type"), number="index", counted=("usage", "metadata"), unique="event_id"
    )

    def __init__(self, message_id: str, *, request: Fields | None = None, prior: Prior = None) -> None:
        super().__init__(message_id, request=request, prior=prior)
        self._last_event_id: str | None = None
        self._cursor: str | None = None
        self._past: set[str] = set()
        self._repeated = False
        self._begin_hop()

    @property
    def last_event_id(self) -> str | None:
        """Cursor of the last event that has one; only background runs have them. `None` when there was none."""
        self.catch_up()
        return self._last_event_id

    @property
    def cursor(self) -> str | None:
        """The cursor of the last event, from which the stream can be resumed; `None` when that event has none."""
        self.catch_up()
        return self._cursor

    def on_skipped(self, counted: Fields) -> None:
        """Take the cursor and the usage of deltas on the fast path."""
        if counted or self._cursor is not None:
            self._cursor = string(counted, "event_id") or None
            self._last_event_id = self._cursor or self._last_event_id
            self._note_usage(counted)

    def _begin_hop(self) -> None:
        self._interaction_id = ""
        self._environment_id: str | None = None
        self._continuation_token: str | None = None
        self._running_usage: Fields | None = None
        self._steps: dict[Index, StepDecoder] = {}
        self._order: list[StepDecoder] = []
        self._latest: list[StepDecoder] = []
        self._highest = -1
        self.output_error: Fields | None = None
        """Error of a `model_output` step; it counts when the interaction has failed."""

        self._paused = False
        self._created_again: Fields | None = None

    # -- the shape that DecoderBase asks for

    def on_event(self, event: Fields) -> None:  # noqa: C901, PLR0912 - one arm for each word of the wire
        """Read one event of either generation. Its name stands in the document, or beside it."""
        name = self.event_name(event)
        if (self._paused or self._repeated) and name not in _BEGINNINGS:
            return  # between two hops there is nothing to add to
        event_id = string(event, "event_id") if "event_id" in event else None
        self._cursor = event_id or None
        if event_id:
            if event_id in self.frame_ids and not self._may_begin_replay(name):
                return
            self.frame_ids.add(event_id)
            self._last_event_id = event_id
        if "usage" in event or "metadata" in event:
            self._note_usage(event)
        match name:
            case "step.delta" | "content.delta":
                self._on_delta(event, name)
            case "step.start" | "content.start":
                self._on_start(event, mapping(event, "step") or mapping(event, "content"), name)
            case "step.stop" | "content.stop":
                self._on_stop(event)
            case str() if name in _BEGINNINGS:
                self._on_created(mapping(event, "interaction"))
            case "interaction.completed" | "interaction.complete":
                self._on_completed(mapping(event, "interaction"), None)
            case "interaction.failed" | "interaction.cancelled" | "interaction.incomplete":
                # Third-party servers name the terminal event after its status.
                self._on_completed(mapping(event, "interaction") or event, name.partition(".")[2])
            case "interaction.status_update" | "interaction.in_progress" | "interaction.requires_action":
                self._on_status(event)
            case "error":
                self._on_error(error_of(event))
            case None if "error" in event:
                self._on_error(error_of(event))
            case "done" | "finish":
                pass
            case _:
                self.note("unknown-event", "an event of an unknown type was left out")

    def event_name(self, event: Fields) -> str | None:
        """Return the name of an event: it stands in the document, or beside it. `None` when it has none."""
        return string(event, "event_type") or self.frame_name() or string(event, "type")

    def on_rejoin(self) -> None:
        """Forget what was read: the interaction begins again."""
        self._cursor = None
        self.frame_ids.clear()
        self._repeated = False
        if not (self._paused and self._interaction_id):
            self._begin_hop()

    def on_close(self, error: ErrorInfo | None) -> None:
        """Fail the step with what is known of its run: where it could be resumed, and how far it had come."""
        if self._paused:
            self.end_answer()
            return
        self._fail(self.interruption() if error is None else error)

    def requested_model(self) -> str | None:
        """Return the model or the agent of the request."""
        return super().requested_model() or string(self.request, "agent") or None

    # -- the interaction

    def _on_created(self, interaction: Fields) -> None:
        interaction_id = string(interaction, "id") or ""
        self._repeated = interaction_id in self._past
        if self._repeated or (self._paused and interaction_id and interaction_id == self._interaction_id):
            return  # a replay that begins before the hop that is told now
        if self._paused:
            if self._interaction_id:
                self._past.add(self._interaction_id)
            self.next_hop()
            self._begin_hop()
        elif self.recorder.started:
            if interaction_id and self._interaction_id and interaction_id != self._interaction_id:
                self.note("id-changed", "another interaction began before the first had ended")
                self._end_hop_without_end()
            else:
                if interaction_id and not self._interaction_id:
                    self._learn(interaction)
                # Once more the same: the first event of a replay, if its steps follow from the first on.
                self._created_again = interaction if self._order else None
                return
        elif interaction_id:
            self.resume_hop(interaction_id)
        self._learn(interaction)
        served = string(interaction, "model") or string(interaction, "agent")
        self.recorder.start(self.origin(served_model=served or None), self._run(), self._state())

    def _learn(self, interaction: Fields) -> None:
        self._interaction_id = string(interaction, "id") or self._interaction_id
        self._environment_id = string(interaction, "environment_id") or self._environment_id

    def _end_hop_without_end(self) -> None:
        error = self.interruption()
        self.error = error
        self.on_failing()
        self.recorder.fail(error, usage=self._usage({}), run=self._run(), state=self._state())
        self.next_hop()
        self._begin_hop()

    def _on_status(self, event: Fields) -> None:
        self._continuation_token = string(event, "continuation_token") or self._continuation_token

    def _on_completed(self, interaction: Fields, status: str | None) -> None:
        self._learn(interaction)
        if not self.recorder.started:
            served = string(interaction, "model") or string(interaction, "agent")
            self.recorder.start(self.origin(served_model=served or None), self._run(), self._state())
        if not self._order:
            self._backfill(interaction)
        # The token of the terminal event is the one that counts; without it earlier checkpoints are void.
        self._continuation_token = string(interaction, "continuation_token") or None
        status = string(interaction, "status") or status
        usage = self._usage(interaction)
        match status:
            case "failed":
                self._fail(vocabulary.failure(interaction, self.output_error), usage)
            case "cancelled":
                self._fail(ErrorInfo(kind=ErrorKind.CANCELLED, message="the interaction was cancelled"), usage)
            case "in_progress" | "queued":
                self._fail(
                    ErrorInfo(
                        kind=ErrorKind.INTERRUPTED,
                        message=f"the stream ended while the interaction was {status}",
                        retryable=True,
                    ),
                    usage,
                )
            case _:
                self._finish(status, usage)

    def _finish(self, status: str | None, usage: Usage | None) -> None:
        self._settle_steps()
        pending = bool(self.recorder.unanswered(provider_executed=False))
        finish = vocabulary.finish(status, pending=pending, content=bool(self._order))
        if status == "requires_action" and not pending:
            self.note("no-call", "the interaction requires an action but holds no call to answer")
        self.recorder.finish(finish, status, usage, self._run(), self._state())
        if finish is FinishReason.PAUSE:
            self._paused = True
        else:
            self.end_answer()

    def _fail(self, error: ErrorInfo, usage: Usage | None = None) -> None:
        # Wire steps that have not ended stay as they are: what is open is then marked incomplete.
        self.fail_step(error, usage=usage or self._usage({}), run=self._run(), state=self._state())

    def _on_error(self, error: Fields) -> None:
        info = vocabulary.stream_error(error)
        if info is None:
            # Seen live in runs that went on to their end (big-AGI, 2026).
            self.note("empty-error", "an error event without code and message was left out")
        else:
            self._fail(info)

    def _backfill(self, interaction: Fields) -> None:
        """Read the steps of the resource when none were streamed; documented as absent in a stream's terminal event."""
        steps = vocabulary.resource_steps(interaction)
        for step in steps:
            index = len(self._steps)
            self._on_start({"event_type": "step.start", "index": index}, step)
            self._on_stop({"event_type": "step.stop", "index": index})

    def _run(self) -> RemoteRun | None:
        if not self._interaction_id:
            return None
        return RemoteRun(id=self._interaction_id, resumable=vocabulary.is_resumable(self.request), kind="interaction")

    def _state(self) -> dict[str, object]:
        state: dict[str, object] = {}
        if self._interaction_id:
            state["interaction_id"] = self._interaction_id
        if self._environment_id:
            state["environment_id"] = self._environment_id
        if self._continuation_token:
            state["continuation_token"] = self._continuation_token
        return state

    def _note_usage(self, event: Fields) -> None:
        """Remember usage that is said on the way; it counts only when the terminal event has none."""
        metadata = mapping(event, "metadata")
        usage = mapping(event, "usage") or mapping(metadata, "total_usage") or mapping(metadata, "usage")
        if usage:
            self._running_usage = usage

    def _usage(self, interaction: Fields) -> Usage | None:
        usage = mapping(interaction, "usage")
        if usage:
            return vocabulary.USAGE.read(usage)
        return None if self._running_usage is None else vocabulary.USAGE.read({**self._running_usage, "partial": True})

    # -- wire steps

    def _on_start(self, event: Fields, fields: Fields, name: str = "step.start") -> None:
        kind = string(fields, "type") or ""
        index = self._index(event)
        if index is None:
            index = self._highest + 1
        self._meet_replay(index, kind)
        known = self._steps.get(index)
        if known is not None:
            if known.implied and not known.ended and known.accepts(kind):
                known.implied = False
                known.begin(fields)
                return
            if known.type == vocabulary.step_type(kind) and known.same_item(fields):
                return
            known.stop()
        if vocabulary.step_type(kind) == "user_input":
            self._steps[index] = StepDecoder(self, "user_input")
            return
        step = self._open_step(index, kind, implied=False)
        step.begin(fields)
        self._continue(step, step.usual_delta, name.replace("start", "delta"), index, None)

    def _on_delta(self, event: Fields, name: str) -> None:
        delta = mapping(event, "delta")
        if not delta:
            return
        kind = vocabulary.delta_type(delta) or ""
        index = self._index(event)
        if index is None:
            self.note("no-index", "a delta without an index was taken for the step that is open")
            latest = self._latest_open()
            index = self._highest + 1 if latest is None else latest.index
        step = self._steps.get(index)
        if step is None:
            step = self._open_step(index, vocabulary.step_of_delta(kind), implied=True)
        step.delta(kind, delta)
        self._continue(step, kind, name, index, event)

    def _continue(self, step: StepDecoder, kind: str, name: str, index: Index, event: Fields | None) -> None:
        """Offer the fast path for deltas like *event*, or (with `None`) like those of earlier steps."""
        if isinstance(index, int) and step.has_fast_path(kind, event):
            fragment = self.recorder.open_of(step)
            self.offer_fast_path(event, step.text_path, fragment, kind=(name, kind), number=index, texts=step.texts)

    def _on_stop(self, event: Fields) -> None:
        index = self._index(event)
        step = self._latest_open() if index is None else self._steps.get(index)
        if step is not None:
            step.stop()

    def _index(self, event: Fields) -> Index | None:
        index = integer(event, "index")
        if index is None or 0 <= index < _MAX_INDEX:
            return index
        # As text: integers of any size can be chosen so that their hashes are all alike.
        return hex(index)

    def _open_step(self, index: Index, kind: str, *, implied: bool) -> StepDecoder:
        self.ensure_started()
        self._created_again = None
        kind = vocabulary.step_type(kind)
        step: StepDecoder
        if kind == "model_output":
            step = OutputStep(self, kind)
        elif kind == "thought":
            step = ThoughtStep(self, kind)
        elif kind in vocabulary.CALLS:
            step = CallStep(self, kind)
        elif kind in vocabulary.RESULTS:
            step = ResultStep(self, kind)
        else:
            self.note("unknown-step", "a step of an unknown type was kept raw")
            step = OpaqueStep(self, kind)
        step.implied = implied
        # A new step under an old index: the old one keeps its place in the order.
        self._steps[index] = step
        self._order.append(step)
        self._latest.append(step)
        step.index = index
        if isinstance(index, int):
            self._highest = max(self._highest, index)
        return step

    def _latest_open(self) -> StepDecoder | None:
        """Return the step that was opened last and has not ended; `None` when all have."""
        while self._latest and self._latest[-1].ended:
            self._latest.pop()
        return self._latest[-1] if self._latest else None

    def _may_begin_replay(self, name: str | None) -> bool:
        """Tell whether an event that was seen before may still matter: it is how a replay begins."""
        if self._created_again is not None:
            return name in ("step.start", "content.start")
        return name in _BEGINNINGS

    def _meet_replay(self, index: Index, kind: str) -> None:
        """Begin anew when a created that came again turns out to begin a replay: when its first step follows."""
        created = self._created_again
        if created is None:
            return
        self._created_again = None
        first = self._steps.get(index)
        if first is not None and first is self._order[0] and first.type == vocabulary.step_type(kind):
            self.replay_begins()
            self._on_created(created)

    def _settle_steps(self) -> None:
        """End what the provider has not ended, in the order of opening, and use results that came too early."""
        for step in self._order:
            step.stop()

    def on_failing(self) -> None:
        """Give the recorder what the steps remember."""
        for step in self._order:
            step.cut()


def decode_resource(
    resource: Mapping[str, Any], message_id: str, *, request: Fields | None = None, prior: Prior = None
) -> list[Event]:
    """
    Return the events of an interaction that came as one JSON document (`GET`, or `POST` without `stream`).

    Takes 2.x `steps` and 1.x `outputs`, and error documents. Both forms of one response fold to the same message.

    Args:
        resource: The parsed document.

        message_id: Id of the message that it becomes.

        request: The body that was sent, as for the decoder.

        prior: As for the decoder.

    Raises:
        TypeError: When *resource* is no mapping.
    """
    # Any in the signature: the document is not known until it is read.
    if not isinstance(resource, Mapping):
        raise TypeError(f"resource: expected a mapping, got {type(resource).__name__}")
    resource = plain_json(resource)
    decoder = GeminiInteractionsDecoder(message_id, request=request, prior=prior)
    events: list[Event] = []
    for event in resource_stream(resource):
        events += decoder.feed_event(event)
    return events + decoder.close()


def resource_stream(resource: Fields) -> Iterator[Fields]:
    """Yield the events of a stream that says what *resource* (plain JSON) does: its steps come whole."""
    if not string(resource, "status") and "error" in resource and not vocabulary.resource_steps(resource):
        yield {"event_type": "error", "error": resource["error"]}
        return
    head = {key: value for key, value in resource.items() if key not in ("steps", "outputs", "usage")}
    yield {"event_type": "interaction.created", "interaction": head}
    for index, step in enumerate(vocabulary.resource_steps(resource)):
        yield {"event_type": "step.start", "index": index, "step": step}
        yield {"event_type": "step.stop", "index": index}
    if string(resource, "status") in vocabulary.UNFINISHED:
        yield {**head, "event_type": "interaction.status_update"}
    else:
        end = {**head, "usage": mapping(resource, "usage")}
        yield {"event_type": "interaction.completed", "interaction": end}


__all__ = ["GeminiInteractionsDecoder", "decode_resource", "resource_stream"]
