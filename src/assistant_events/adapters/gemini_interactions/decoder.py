"""
Gemini Interactions to events.

All generations of the wire: 1.x (`content.*`, until June 2026), 2.x (`step.*`), and long decode, where one answer
comes as several interactions. One stream may use the names of both generations. Facts: SDK types of google-genai
1.75, 2.19 and 3.4, recordings of 2026-01 to 2026-09, Google's migration page of May 2026.

A *wire step* is one item of an interaction's `steps`; the step of the events is the whole interaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, Unpack

from assistant_events.adapters.base import DecoderBase, DecoderOptions, StepFacts
from assistant_events.adapters.errors import error_of
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.adapters.gemini_interactions.step_decoders import DECODERS, OpaqueStep, StepDecoder
from assistant_events.adapters.json_fields import Fields, array, integer, is_object, mapping, string, without
from assistant_events.values import ErrorInfo, FinishReason, RemoteRun

_MAX_INDEX = 1 << 31
"""No service counts its steps up to here."""

Index: TypeAlias = int | str
"""Key of a step on the wire; an index that no service uses is taken as text."""

_ONE_AT_A_TIME = ("model_output", "thought")  # a stop may be missing where another one begins
BEGINNINGS = ("interaction.created", "interaction.start")
_OF_CALL = frozenset({"type", "id", "call_id", "name", "signature"})


class GeminiInteractionsDecoder(DecoderBase):
    """
    Decodes streams of `POST /interactions` and `GET /interactions/{id}?stream=true`.

    `request` decides whether the run can be resumed (`background`, `store`, `agent`), and which model or agent was
    asked for.
    """

    dialect = "gemini-interactions"
    provider = "google"
    item_key = "i"
    usage_table = vocabulary.USAGE
    error_table = vocabulary.ERRORS
    answer_fields = frozenset({"status", "steps", "outputs"})
    delta_frames = DeltaFrames(
        constant=("type", "event_type"), number="index", counted=("usage", "metadata"), unique="event_id"
    )

    _paused = False
    _cursor: str | None = None

    def __init__(self, message_id: str, **options: Unpack[DecoderOptions]) -> None:
        super().__init__(message_id, **options)
        self._last_event_id: str | None = None
        self._past: set[str] = set()

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
            if "usage" in counted or "metadata" in counted:
                self._note_running_usage(counted)

    def _begin_hop(self) -> None:
        self.output_error: Fields | None = None
        """Error of a `model_output` step; it counts when the interaction has failed."""

        self._state = self.step_state
        self._steps: dict[Index, StepDecoder] = {}
        self._order: list[StepDecoder] = []
        self._latest: list[StepDecoder] = []
        self._last_of: dict[str, StepDecoder] = {}  # by type
        self._next_index = 0
        self._paused = False
        self._waiting: Fields = {}
        """
        The interaction of an event that it requires an action, with which servers end their streams (2026-08), or the
        event itself where calls of the app are all that is open.
        """

        self._created_again: Fields | None = None
        self._echo = False
        """Whether the input is repeated, behind an interaction that was created again."""

    # -- the shape that DecoderBase asks for

    def on_event(self, event: Fields) -> None:  # noqa: C901, PLR0912 - one arm for each event type
        """Read one event of either generation. Its type is in the document, or beside it."""
        name = event.get("event_type")
        if type(name) is not str or not name:
            name = self.event_name(event)
        if (self._paused or self._repeated) and name not in BEGINNINGS:
            return  # no step is open between two hops
        event_id = string(event, "event_id") if "event_id" in event else None
        self._cursor = event_id or None
        if event_id:
            frame_id = event_id.encode(errors="surrogatepass")
            if frame_id in self.frame_ids and name not in (
                BEGINNINGS if self._created_again is None else ("step.start", "content.start")
            ):
                return  # it came before, and begins no replay
            self.frame_ids.add(frame_id)
            self._last_event_id = event_id
        if "usage" in event or "metadata" in event:
            self._note_running_usage(event)
        match name:
            case "step.stop" | "content.stop":
                self._on_stop(event)
            case "step.start" | "content.start":
                fields = mapping(event, "step") or mapping(event, "content") or mapping(event, "delta")
                if fields:  # else the type is that of the first delta
                    self._on_start(event, fields, name)
            case "step.delta" | "content.delta":
                self._on_delta(event, name)
            case str() if name in BEGINNINGS:
                self._on_created(vocabulary.interaction_of(event))
            case "interaction.completed" | "interaction.complete":
                self._on_completed(vocabulary.interaction_of(event), None)
            case "interaction.failed" | "interaction.cancelled" | "interaction.incomplete" | "response.failed":
                # Third-party servers name the terminal event after its status; one has a word of the Responses API.
                self._on_completed(vocabulary.interaction_of(event), name.partition(".")[2])
            case "interaction.status_update" | "interaction.in_progress" | "interaction.requires_action":
                self._learn(event, "continuation_token")
                self.note_usage(mapping(mapping(event, "interaction"), "usage"), partial=True)
                if name == "interaction.requires_action":
                    is_pending = self.recorder.unanswered(provider_executed=False)
                    self._waiting = mapping(event, "interaction") or (event if is_pending else {})
            case "error" | "interaction.error":
                self._on_error(event)
            case None if "error" in event:
                self._on_error(event)
            case "done" | "finish":
                pass
            case _:
                self.note("unknown-event", "an event of an unknown type was left out")

    def event_name(self, event: Fields) -> str | None:
        """Return the type of an event, which is in the document or beside it; `None` when it has none."""
        name = event.get("event_type")
        return name if isinstance(name, str) and name else self.frame_name() or string(event, "type")

    def on_begin(self) -> None:
        """Forget what was read: the interaction begins again."""
        self._cursor = None
        self.frame_ids.clear()
        self._repeated = False
        if not (self._paused and "interaction_id" in self._state):
            self._begin_hop()

    def on_close(self, error: ErrorInfo | None) -> None:
        """End the answer where it may end: between two hops, or behind the document of one that waits for the app."""
        if self._paused:
            self.end_answer()
        elif error is None and self._waiting and not self.terminal and self.bare_error() is None:
            self._on_completed(self._waiting, "requires_action")

    def on_failing(self) -> None:
        """Give the recorder what the steps remember."""
        for step in self._order:
            if not step.ended:
                step.cut()

    def facts(self) -> StepFacts:
        """Return usage, run and state of the interaction, for each end of its step."""
        return {**super().facts(), "state": dict(self._state)}

    def requested_model(self) -> str | None:
        """Return the model or the agent of the request."""
        return super().requested_model() or string(self.request, "agent") or None

    def bare_error(self) -> ErrorInfo | None:
        """
        Return the error at the end of the body that has a code of the API: a filter refuses so (js-genai#1973).

        Those codes are in lower case; one of the service in front, `503` and `UNAVAILABLE`, is a cut after ten minutes.
        """
        error = super().bare_error()
        return error if error is not None and (error.code or "").islower() else None

    def resource_events(self, resource: Fields) -> Iterator[Fields]:
        """Yield the events of a stream with the content of an interaction, 2.x or 1.x."""
        head = without(resource, ("steps", "outputs", "usage"))
        yield {"event_type": "interaction.created", "interaction": head}
        for index, step in enumerate(vocabulary.resource_steps(resource)):
            yield {"event_type": "step.start", "index": index, "step": step}
            yield {"event_type": "step.stop", "index": index}
        if string(resource, "status") in vocabulary.UNFINISHED:
            yield {**without(resource, ("steps", "outputs")), "event_type": "interaction.status_update"}
        else:
            end = {**head, "usage": mapping(resource, "usage")}
            yield {"event_type": "interaction.completed", "interaction": end}

    # -- the interaction

    def _on_created(self, interaction: Fields) -> None:
        interaction_id = string(interaction, "id") or ""
        known_id = self._state.get("interaction_id", "")
        self._repeated = interaction_id in self._past
        if self._repeated or (self._paused and interaction_id and interaction_id == known_id):
            return  # a replay that begins before the current hop
        if self._paused:
            if known_id:
                self._past.add(known_id)
            self._go_to_next_hop()
        elif self.recorder.started:
            if interaction_id and known_id and interaction_id != known_id:
                self.note("id-changed", "another interaction began before the first had ended")
                self.fail_step(self.interruption(), last=False)
                self._go_to_next_hop()
            else:
                if interaction_id and not known_id:
                    self._learn_interaction(interaction)
                # The same again: the first event of a replay, if its steps follow from the first on.
                self._created_again, self._echo = interaction if self._order else None, False
                return
        elif interaction_id:
            self.resume_hop(interaction_id)
        self._learn_interaction(interaction)
        self.note_usage(mapping(interaction, "usage"), partial=True)

    def _go_to_next_hop(self) -> None:
        self.next_hop()
        self._begin_hop()

    def _learn_interaction(self, interaction: Fields) -> None:
        self._learn({"interaction_id": string(interaction, "id")}, "interaction_id")
        self._learn(interaction, "environment_id")
        self.learn_details(interaction, vocabulary.INTERACTION)
        self.ensure_started(string(interaction, "model") or string(interaction, "agent") or None)

    def _learn(self, fields: Fields, key: str) -> None:
        value = string(fields, key)
        if value:
            self._state[key] = value

    def remote_run(self) -> RemoteRun | None:
        """Return the interaction as a run."""
        run_id = self._state.get("interaction_id")
        resumable = vocabulary.is_resumable(self.request)
        return None if run_id is None else RemoteRun(id=run_id, resumable=resumable, kind="interaction")

    def _note_running_usage(self, event: Fields) -> None:
        """Note usage of an event before the terminal one, which counts only when that has none."""
        usage = mapping(event, "usage")
        if not usage and "metadata" in event:
            metadata = mapping(event, "metadata")
            usage = mapping(metadata, "total_usage") or mapping(metadata, "usage")
        self.note_usage(usage, partial=True)

    def _on_completed(self, interaction: Fields, status: str | None) -> None:
        self._learn_interaction(interaction)
        if not self._order:
            # Documented as absent in the terminal event of a stream, but sent by servers that stream no steps.
            for index, step in enumerate(vocabulary.resource_steps(interaction)):
                self._on_start({"index": index}, step)
                self._on_stop({"index": index})
        # The token of the terminal event is the one that counts; without it earlier checkpoints are void.
        self._state.pop("continuation_token", None)
        self._learn(interaction, "continuation_token")
        self.note_usage(mapping(interaction, "usage"))
        status = string(interaction, "status") or status
        match status:
            case "failed":
                self.fail_step(vocabulary.failure(interaction, self.output_error))
            case "cancelled":
                self.fail_step(vocabulary.CANCELLED)
            case "in_progress" | "queued":
                self.fail_step(vocabulary.unfinished(status))
            case _:
                self.learn_details({"errors": array(interaction, "errors") or None}, ())
                self.learn_details({"output_error": self.output_error}, ())
                is_filtered = status == "incomplete" and vocabulary.is_filtered(interaction)
                self._finish(status, is_filtered=is_filtered)

    def _finish(self, status: str | None, *, is_filtered: bool) -> None:
        for step in self._order:
            if not step.ended:
                step.stop()
        pending = bool(self.recorder.unanswered(provider_executed=False))
        finish_reason = vocabulary.finish(status, pending=pending, content=bool(self._order))
        finish_reason = FinishReason.CONTENT_FILTER if is_filtered else finish_reason
        if status == "requires_action" and not pending:
            self.note("no-call", "the interaction requires an action but has no call to answer")
        self._paused = finish_reason is FinishReason.PAUSE
        self.finish_step(finish_reason, status, last=not self._paused)

    def _on_error(self, event: Fields) -> None:
        flat = {key: event[key] for key in ("code", "status", "message") if key in event}  # of gateways
        error = vocabulary.stream_error(error_of(vocabulary.interaction_of(event)) or flat)
        if error is None:
            # Seen live in runs that later completed (big-AGI, 2026).
            self.note("empty-error", "an error event without code and message was left out")
        else:
            self.fail_step(error)

    # -- wire steps

    def _on_start(self, event: Fields, fields: Fields, name: str = "step.start") -> None:
        kind = vocabulary.step_type(string(fields, "type") or "")
        index = self._index(event)
        if index is None:
            index = self._next_index
        self._waiting = {}
        if self._created_again is not None and kind == "user_input":
            self._echo = True
            return
        if self._created_again is not None:
            self._meet_replay(self._created_again, index, kind)
        known = self._steps.get(index)
        if known is not None:
            if known.implied and not known.ended and known.accepts(kind):
                known.implied = False
                known.begin(fields)
                return
            if known.type == kind and known.same_item(fields):
                _read_again(known, fields)
                return
            known.stop()
        if kind == "user_input":
            self._steps[index] = StepDecoder(self, kind)
            return
        step = self._open_step(index, kind, implied=False)
        step.begin(fields)
        self._continue(step, step.usual_delta, name.replace("start", "delta"), index, None)

    def _on_delta(self, event: Fields, name: str) -> None:
        delta = mapping(event, "delta")
        if not delta or self._echo:
            return
        kind = vocabulary.delta_type(delta) or ""
        given = index = self._index(event)
        if index is None:
            self.note("no-index", "a delta without an index was taken for the step that is open")
            latest = self._latest_open()
            index = self._next_index if latest is None else latest.index
        step = self._steps.get(index)
        if step is not None and _is_of_another(step, kind, delta, has_index=given is not None):
            step.stop()
            step = None
            index = self._next_index if given is None else index
        if step is None:
            step = self._open_step(index, vocabulary.step_of_delta(kind), implied=True)
        step.delta(kind, delta)
        if kind == step.usual_delta and given is not None:  # each of the others has a note
            self._continue(step, kind, name, index, event)

    def _continue(self, step: StepDecoder, kind: str, name: str, index: Index, event: Fields | None) -> None:
        """Offer the fast path for deltas like *event*, or (with `None`) like those of earlier steps."""
        fragment = step.continued(None if event is None else mapping(event, "delta"))
        if fragment is not None and isinstance(index, int):
            path, texts = step.text_path, step.texts
            self.offer_fast_path(event, path, fragment, kind=(name, kind), number=index, texts=texts)

    def _on_stop(self, event: Fields) -> None:
        index = self._index(event)
        step = self._latest_open() if index is None else self._steps.get(index)
        if step is not None and not self._echo:
            if "step" in event:
                _read_again(step, mapping(event, "step"))
            step.stop()

    def _index(self, event: Fields) -> Index | None:
        index: Index | None = event.get("index")
        if type(index) is int and 0 <= index < _MAX_INDEX:
            return index  # as nearly always
        index = integer(event, "index")
        if index is None or 0 <= index < _MAX_INDEX:
            return index
        # As text: integers of any size can be chosen so that their hashes are all alike.
        return hex(index)

    def _open_step(self, index: Index, kind: str, *, implied: bool) -> StepDecoder:
        if not self._order:
            self.ensure_started()
        self._created_again = None
        before, last = self._latest_open(), self._last_of.get(kind) if kind in _ONE_AT_A_TIME else None
        if isinstance(before, OpaqueStep):
            before.stop()  # its place is before what follows, also without a stop
        if last is not None and not last.ended:
            last.stop()
        step = self._last_of[kind] = DECODERS.get(kind, OpaqueStep)(self, kind, index)
        step.implied = implied
        # A new step under an old index: the old one keeps its place in the order.
        self._steps[index] = step
        self._order.append(step)
        self._latest.append(step)
        if isinstance(index, int) and index >= self._next_index:
            self._next_index = index + 1
        return step

    def _latest_open(self) -> StepDecoder | None:
        """Return the step that was opened last and has not ended; `None` when all have."""
        while self._latest and self._latest[-1].ended:
            self._latest.pop()
        return self._latest[-1] if self._latest else None

    def _meet_replay(self, created: Fields, index: Index, kind: str) -> None:
        """Begin anew when *created*, which came again, turns out to begin a replay: when its first step follows."""
        # Behind the echo of the input its index may be another one.
        first, is_shifted = self._order[0], self._echo
        self._created_again, self._echo = None, False
        if first.type == kind and (is_shifted or self._steps.get(index) is first):
            self.replay_begins()
            self._on_created(created)


def _is_of_another(step: StepDecoder, kind: str, delta: Fields, *, has_index: bool) -> bool:
    """
    Return whether a delta is not of the step that is open: another whole call (1.x), or of another type of step.

    With the index of a call or a result it belongs there, whatever its type.
    """
    if step.type == kind:
        return not step.same_item(delta)
    own = vocabulary.step_of_delta(kind)
    begins_step = own in _ONE_AT_A_TIME or own == kind  # arguments alone do not
    is_free = not has_index or step.type in _ONE_AT_A_TIME
    return is_free and begins_step and own != step.type and vocabulary.is_known(own)


def _read_again(step: StepDecoder, fields: Fields) -> None:
    """
    Read what a second start or the stop of a call has of it: its name or arguments may come there first.

    Test streams of CLIProxyAPI (2026-09) have the whole call there. Arguments in a text would be added to what came.
    """
    given = {key: value for key, value in fields.items() if key in _OF_CALL or (value and is_object(value))}
    if given and step.type == string(given, "type") == "function_call" and not step.ended:
        step.delta(step.type, given)
