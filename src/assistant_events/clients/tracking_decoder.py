"""The decoder of a client: it reads a stream as any, and remembers what recovery has to know."""

from __future__ import annotations

from datetime import datetime
from typing import Any, final

from assistant_events.adapters.base import Prior
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder, vocabulary
from assistant_events.adapters.json_fields import Fields, flag, integer, mapping, string
from assistant_events.clients.recovery import parse_time, wants_usage
from assistant_events.events import Event
from assistant_events.values import ErrorInfo
from assistant_events.values.credentials import Secrets

_CREATED = ("interaction.created", "interaction.start")
_COMPLETED = ("interaction.completed", "interaction.complete")


@final
class TrackingDecoder(GeminiInteractionsDecoder):
    """
    Holds back two ends that are none yet: one of a run that goes on, and one that does not say what the run cost.

    Args:
        secrets: The credentials to remove from what is read.
    """

    def __init__(
        self,
        message_id: str,
        *,
        request: Fields | None = None,
        prior: Prior = None,
        secrets: Secrets | None = None,
    ) -> None:
        super().__init__(message_id, request=request, prior=prior)
        self._secrets = Secrets() if secrets is None else secrets
        self.run_id = ""
        """The newest that was told; empty while none was."""

        self.status: str | None = None
        """What the stream that is read said last; `None` while it has said nothing."""

        self.created: datetime | None = None
        self.updated: datetime | None = None

        self.unfinished = False
        """Whether the stream has said that it is complete and that the run is not."""

        self.paused = False
        """Whether the run has ended for now and wants to be asked to go on, which is for the app to do."""

        self.strayed = False
        """Whether the stream does not go on where the cursor was."""

        self.foreign: str | None = None
        """Id of another run that a replay turned out to be of; `None` while it is not."""

        self.news = 0
        """
        How many events of the stream had news: a status that it had not told before, or content behind all that it has
        told since it began or began anew. Deltas on the short way are not counted; they always give events.
        """

        self.completed = False
        """Whether the stream has told its end."""

        self.erred = False
        """Whether the stream has told an error that says something."""

        self.empty_errors = 0
        """How many error events said nothing."""

        self._held: Fields | None = None
        self._released = False
        self._at_cursor = False
        self._replays = ""
        self._statuses: set[str] = set()
        self._place = 0
        self._furthest = 0

    @property
    def resumable(self) -> bool:
        """Whether the run goes on without us and lets us come back."""
        return bool(self.run_id) and vocabulary.is_resumable(self.request)

    @property
    def stored(self) -> bool:
        """Whether the provider keeps a document of the run."""
        return bool(self.run_id) and flag(self.request, "store") is not False

    @property
    def held(self) -> bool:
        """Whether the end of the run is held back until it is known what the run cost."""
        return self._held is not None

    @property
    def idle(self) -> bool:
        """Whether nothing that the stream may still bring matters."""
        return self.terminal or self.held or self.unfinished or self.strayed or self.foreign is not None

    def go_on(self) -> None:
        """Be fed the stream that goes on behind the last event."""
        self._begin_connection()
        self.reconnect()
        self._at_cursor = True

    def start_over(self) -> None:
        """Be fed the stream from its start."""
        self._begin_connection()
        self.rejoin()

    def release(self, usage: Fields) -> list[Event]:
        """Take the end that was held back, with what the run cost, empty when that is not known."""
        held, self._held = self._held, None
        assert held is not None, "only what is held is released"
        interaction = {**mapping(held, "interaction"), "usage": usage} if usage else mapping(held, "interaction")
        self._released = True
        return self.feed_event({**held, "interaction": interaction})

    def on_event(self, event: Fields) -> None:
        """Read one event, unless it is to be held back."""
        if self.idle:
            return
        event = self._secrets.json(event, self.payload)
        name = self.event_name(event)
        if self._at_cursor:
            self._at_cursor = False
            if self._is_astray(event, name):
                self.strayed = True
                return
        self.foreign = self._foreign(event)
        if self.foreign is not None:
            return
        if name in _CREATED or name in _COMPLETED:
            interaction = mapping(event, "interaction")
            if string(interaction, "id") not in (None, "", self.run_id):
                self.paused = self.completed = False  # the next response of the same answer
            self._learn_run(interaction)
            if name in _COMPLETED and self._holds({**event, "event_type": name}):
                return
        elif name == "interaction.status_update":
            self.status = string(event, "status") or self.status
        elif name == "error":
            self.erred = vocabulary.stream_error(mapping(event, "error")) is not None
            self.empty_errors += not self.erred
        else:
            self._count_content(event, name)
        self._count_status()
        super().on_event(event)

    def on_rejoin(self) -> None:
        """Forget what was read: the interaction begins again."""
        self._place = 0
        super().on_rejoin()

    def fail_step(self, error: ErrorInfo, **more: Any) -> None:
        """Fail the step, with credentials removed from the error."""
        # Any: passed on, see `DecoderBase.fail_step`.
        super().fail_step(self._secrets.error(error), **more)

    # -- inside

    def _begin_connection(self) -> None:
        self.status = None
        self.unfinished = self.paused = self.strayed = self.completed = self._released = False
        self._held = self.foreign = None
        self._replays = self.run_id
        self._statuses.clear()
        self._place = self._furthest = 0

    def _foreign(self, event: Fields) -> str | None:
        """Return the id of an interaction when it is another than the replayed one and those before and after it."""
        run_id = string(mapping(event, "interaction"), "id") or string(event, "interaction_id")
        known = not self._replays or not run_id or run_id in (self._replays, self.run_id) or run_id in self._past
        return None if known or self._paused else run_id

    def _count_status(self) -> None:
        if self.status is not None and self.status not in self._statuses:
            self._statuses.add(self.status)
            self.news += 1

    def _count_content(self, event: Fields, name: str | None) -> None:
        """Count content that a replay says once more; that which is new gives events."""
        event_id = string(event, "event_id")
        if event_id in self._seen_event_ids:
            return
        if name in ("step.start", "content.start"):
            self._place += integer(event, "index") not in self._steps
        elif name in ("step.delta", "content.delta"):
            self._place += _says_something(mapping(event, "delta"))
        if self._place > self._furthest:
            self._furthest = self._place
            self.news += 1

    def _learn_run(self, interaction: Fields) -> None:
        self.run_id = string(interaction, "id") or self.run_id
        self.status = string(interaction, "status") or self.status
        self.created = parse_time(string(interaction, "created")) or self.created
        self.updated = parse_time(string(interaction, "updated")) or self.updated

    def _holds(self, event: Fields) -> bool:
        interaction = mapping(event, "interaction")
        self.completed = True
        if string(interaction, "status") in vocabulary.UNFINISHED:
            self.unfinished = True
            return True
        self.paused = string(interaction, "status") == "requires_continuation"
        if self._released or mapping(interaction, "usage") or not (self.stored and wants_usage(self.status)):
            return False
        self._held = event
        return True

    def _is_astray(self, event: Fields, name: str | None) -> bool:
        """Tell whether an event cannot be the one behind the cursor: it goes on with a step that was never begun."""
        if name not in ("step.delta", "step.stop", "content.delta", "content.stop"):
            return False
        index = integer(event, "index")
        return index is not None and index not in self._steps


def _says_something(delta: Fields) -> bool:
    return any(bool(value) for key, value in delta.items() if key != "type")


__all__ = ["TrackingDecoder"]
