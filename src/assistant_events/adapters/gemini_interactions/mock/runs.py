"""Interactions of the mock: their documents, their events, and the frames of faults."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, cast, final

import attrs

from assistant_events.adapters.gemini_interactions.mock import frames
from assistant_events.adapters.gemini_interactions.mock.answers import Answer
from assistant_events.adapters.gemini_interactions.mock.request_facts import user_inputs
from assistant_events.adapters.gemini_interactions.mock.validation import is_stored
from assistant_events.adapters.gemini_interactions.mock.wire_versions import Version1Stream, version_1
from assistant_events.adapters.gemini_interactions.statuses import interaction
from assistant_events.mock import runs
from assistant_events.mock.documents import changed_frame, texts_of
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.google_api import MODEL
from assistant_events.mock.stream_actions import SendBytes, StreamAction, StreamActions, WireFrame
from assistant_events.values import thaw

EventIds: TypeAlias = Literal["background", "all", "some", "none"]
"""Which events have a cursor: those of background runs (as the service), of all runs, every second one, none."""


@final
class Run(runs.Run[frames.Prepared]):
    """One interaction."""

    MODEL = MODEL
    HEAD_EVENTS = 2
    done = frames.DONE

    def __init__(self, *given: Any, event_ids: EventIds = "background", **options: Any) -> None:
        # Any: as for the base.
        super().__init__(*given, **options)
        self._cursors = {"background": int(self.background), "all": 1, "some": 2, "none": 0}[event_ids]
        """Every n-th event has a cursor; 0: none."""

    @property
    def stored(self) -> bool:
        """Whether it can be fetched and continued."""
        return is_stored(self.body)

    @property
    def steps(self) -> list[frames.Document]:
        """All steps of the answer, signed, in the form of 2.x."""
        steps: list[frames.Document] = self.whole()["steps"]
        return steps

    @property
    def token(self) -> str | None:
        """The continuation token at its end; `None` when it has none."""
        return self._answer.continuation_token

    @property
    def final_status(self) -> str:
        """The status after the end."""
        if self.cancelled_at is not None:
            return "cancelled"
        return "failed" if self.answer.stream_error is not None else frames.default_status(self._answer)

    @property
    def _answer(self) -> Answer:
        return cast("Answer", self.answer)

    def own_values(self) -> frames.Document:
        """Return the interaction as it begins, and the id that a stream shows."""
        created = {**self._head("in_progress"), "id": self._shown_id}
        if not self.background:
            del created["created"], created["updated"]
        return {"created": created, "shown id": self._shown_id}

    @property
    def _shown_id(self) -> str:
        return self.id if self.stored else ""

    # -- events

    def event(self, number: int) -> WireFrame:
        """Return the frame of an event."""
        frame = self._frame(number)
        return frames.with_cursor(frame, number) if self._has_cursor(number) else frame

    def _frame(self, number: int) -> WireFrame:
        frame = super().event(number)
        return self.end() if frame.name == frames.END else frame

    def error_frame(self) -> WireFrame:
        """Return the frame of the error that ends the stream."""
        return frames.wire_frame({"error": _body_of(self.stream_error), "event_type": "error"})

    def end(self) -> WireFrame:
        """Return the frame of the end."""
        document = {**self._head(self.final_status), "id": self._shown_id, **self._ending(with_usage=True)}
        return frames.wire_frame({"interaction": document, "event_type": frames.END})

    def status_update(self) -> bytes:
        """Return the frame that shows the run as running."""
        return self.event(1).data

    def place_of(self, event_id: str) -> int | None:
        """Return the number of events up to the one with this cursor, that one included; `None` when none has it."""
        for number, name in enumerate(self.event_names):
            if self._has_cursor(number) and frames.cursor(name, number) == event_id:
                return number + 1
        return None

    def _has_cursor(self, number: int) -> bool:
        return self._cursors > 0 and number % self._cursors == 0

    # -- documents

    def resource(self, status: str, *, with_input: bool = False) -> frames.Document:
        """Return its document, with the answer after the end, and with the prompt before it as GET does."""
        document = self._head(status)
        if not self.stored:
            del document["id"]
        if self.previous_id:
            document["previous_interaction_id"] = self.previous_id
        over = status not in ("in_progress", "queued")
        if over or with_input:
            steps = self._steps_so_far() if over else []
            document["steps"] = [*(user_inputs(self.body.get("input")) if with_input else ()), *steps]
        if over:
            document |= self._ending(with_usage=self.takes_usage() if with_input else True)
        # A model that still answers with `outputs` in a 2.x resource (google-genai 2.19 and 3.4).
        is_of_version_1 = over and str(self.body.get("model", "")).startswith("lyria-3-")
        return version_1(document) if is_of_version_1 else document

    def _steps_so_far(self) -> list[frames.Document]:
        if self.cancelled_at is None:
            return self.steps
        sent = range(self.HEAD_EVENTS, self.event_count(self.times()))
        return frames.decoded_steps(frames.event_of(self._frame(number).data) for number in sent)

    def _head(self, status: str) -> frames.Document:
        named = "agent" if self.body.get("agent") else "model"
        return interaction(
            self.id,
            status,
            self.body.get(named) or "unknown",
            is_agent=named == "agent",
            fields={"created": _iso(self.created), "updated": _iso(self.updated(status))},
            environment_id=self._answer.more.get("environment_id"),
        )

    def _ending(self, *, with_usage: bool) -> frames.Document:
        answer = self._answer
        ending: frames.Document = thaw(answer.more)
        error = answer.stream_error
        if error is not None:
            ending["errors"] = [_body_of(error)]
        if answer.continuation_token is not None and self.cancelled_at is None:
            ending["continuation_token"] = answer.continuation_token
        if self.cancelled_at is not None:
            # Neither the usage of a fixture nor its whole text is right for an answer that was cancelled.
            answer = attrs.evolve(answer, usage=None, steps=self._steps_so_far())
        if with_usage:
            ending["usage"] = frames.usage_of(answer, texts_of(self.body.get("input")))
        return ending


def version_1_actions(actions: Iterable[StreamAction], after: int = 0) -> StreamActions:
    """Yield the actions of a run in generation 1.x, without those of its first *after* events."""
    stream = Version1Stream()
    for number, action in enumerate(actions):
        sent: list[StreamAction] = [action]
        if isinstance(action, SendBytes) and action.name:
            written = map(frames.wire_frame, stream.write(frames.event_of(action.data)))
            sent = [SendBytes(action.at, frame.name, frame.data, action.wakes) for frame in written]
        if number >= after:
            yield from sent


def _body_of(error: StreamError) -> frames.Document:
    return {"code": error.code, "message": error.message}


def _iso(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


# Google forum 143098 (live, 2026): the body of a stream that is cut ends with this, directly after the last frame.
CUT_TAIL: Final = b"""\
[{
"error": {
"code": 503,
"message": "The service is currently unavailable.",
"status": "UNAVAILABLE"
}
}
]
"""


FAULT_FRAMES: Final = FaultFrames(
    cut_tail=CUT_TAIL,
    error=lambda _: frames.wire_frame({"error": {"code": "internal", "message": "boom"}, "event_type": "error"}),
    empty_errors=(
        frames.wire_frame({"event_type": "error"}),
        frames.wire_frame({"event_type": "error", "error": {}}),
        frames.wire_frame({"event_type": "error", "error": {"code": "", "message": ""}}),
    ),
    unknown_types=(
        frames.wire_frame({"event_type": "interaction.hint", "hint": "of tomorrow"}),
        frames.wire_frame({"event_type": "step.start", "index": 900, "step": {"type": "dream", "depth": 2}}),
        frames.wire_frame({"event_type": "step.delta", "index": 900, "delta": {"type": "dream_text", "text": "?"}}),
        frames.wire_frame({"event_type": "step.stop", "index": 900}),
    ),
    bad_json=WireFrame("step.delta", b'event: step.delta\ndata: {"event_type":"step.delta","index":0,\n\n'),
    end_names=frozenset({"interaction.completed", "interaction.complete"}),
    stop_names=frozenset({"step.stop", "content.stop"}),
    done=b"[DONE]\n\n",
    without_usage=changed_frame(frames.wire_frame, lambda event: event["interaction"].pop("usage", None)),
    unfinished=changed_frame(frames.wire_frame, lambda event: event["interaction"].update(status="in_progress")),
)
