"""The way of an event out of a recorder: the lifecycle checks it, the replay filter may hold it back."""

from __future__ import annotations

from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event, StepRestarted, StepStarted, ToolProgress
from assistant_events.lifecycle import CallPhase, KnownEvent, MessageLifecycle, MessagePhase
from assistant_events.messages import AssistantMessage
from assistant_events.recorder.calls import Calls, OpenCall
from assistant_events.recorder.replay_filter import ReplayFilter

_RUNNING = MessagePhase.RUNNING  # reading a member of an enum takes as long as a look-up in a table


class Delivery:
    """The base of `Recorder`, which documents the arguments."""

    _calls: Calls

    def __init__(self, message_id: str, prior: AssistantMessage | None, sink: list[Event] | None) -> None:
        if not isinstance(message_id, str) or not message_id:
            raise TypeError("message_id: expected a non-empty string")
        if prior is not None and prior.id != message_id:
            raise LocalProtocolError(f"prior is message {prior.id!r}, expected {message_id!r}")
        self.message_id = message_id
        self.sink = sink
        self._lifecycle = MessageLifecycle()
        self._replay = None if prior is None else ReplayFilter(prior)
        self._caused: list[Event] = []
        self._recorded: list[Event] = []

    @property
    def started(self) -> bool:
        """Whether `start` has been called."""
        return self._lifecycle.phase is not MessagePhase.UNKNOWN

    @property
    def terminal(self) -> bool:
        """Whether the step has ended or failed."""
        return self._lifecycle.phase is MessagePhase.ENDED or self._lifecycle.phase is MessagePhase.FAILED

    @property
    def is_direct(self) -> bool:
        """Whether events are given at once: no replay is compared, and no end of an input waits for the next one."""
        return self._replay is None and self._calls.unsure is None

    @property
    def rejoining(self) -> bool:
        """Whether a replay is still being compared with what was recorded before."""
        return self._replay is not None

    def _require_running(self) -> None:
        phase = self._lifecycle.phase
        if phase is not _RUNNING:
            hint = "; call start() or ensure_started() first" if phase is MessagePhase.UNKNOWN else ""
            raise LocalProtocolError(f"message {self.message_id!r} is {phase.value}, expected running{hint}")

    def _emit(self, event: KnownEvent) -> None:
        if self._calls.unsure is not None and self._is_allowed_behind(self._calls.unsure, event):
            self._calls.end_unsure()
        rejection = self._lifecycle.advance(event)
        if rejection is not None:
            self._caused = []
            call_id = getattr(event, "call_id", None)
            about = f" of call {call_id!r}" if call_id is not None else ""
            raise LocalProtocolError(
                f"{event.type}{about} is not allowed in message {self.message_id!r} now ({rejection.value}): "
                f"it is {self._lifecycle.phase.value}"
                + (f", the call is {self._lifecycle.call(call_id).value}" if call_id is not None else "")
            )
        self._caused.append(event)

    def _is_allowed_behind(self, unsure: OpenCall, event: KnownEvent) -> bool:
        """Return whether an event is taken after the end of an input that waits; what is refused causes no end."""
        match event:
            case StepStarted():
                return False
            case StepRestarted():
                return not self._lifecycle.acted
            case ToolProgress():
                return event.call_id == unsure.call_id or self._lifecycle.call(event.call_id) is CallPhase.CALLED
            case _:
                return True

    def _deliver(self) -> list[Event]:
        caused = self._caused
        if not caused:
            return []
        self._caused = []
        if self._replay is not None:
            caused = self._replay.admit(caused)
            if self._replay.over:
                self._lifecycle.acted |= self._replay.acted
                self._calls.answered_before.update(filter(self._lifecycle.settle, self._replay.answered()))
                self._replay = None
        for event in caused:
            if event.durable:
                self._recorded.append(event)
        if self.sink is not None:
            self.sink += caused
        return caused
