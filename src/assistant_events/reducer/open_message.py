"""A message while events change it: what every kind has in common, prompts and compactions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar, TypeAlias

import attrs

from assistant_events.events import CompactionDelta, CompactionEnded, CompactionFailed, PromptSubmitted
from assistant_events.lifecycle import KnownEvent, MessageLifecycle, MessagePhase, Outcome, Rejection
from assistant_events.messages import CompactionMessage, Message, MessageStatus, Times, UserMessage
from assistant_events.values.buffers import Buffer
from assistant_events.values.construct import constructor

_times: Callable[..., Times] = constructor(Times)

# Reading a member of an enum takes as long as a look-up in a table.
_APPLIED = Outcome.APPLIED
_RUNNING, _COMPACTING = MessagePhase.RUNNING, MessagePhase.COMPACTING


class Moment:
    """
    The time of a record.

    The records of a batch share a moment, and everything that began with it shares one `Times`.
    """

    __slots__ = ("at", "began", "instant")

    def __init__(self, at: datetime | None) -> None:
        self.at = at
        self.began = None if at is None else _times(started=at)
        """Times of what begins now."""

        self.instant = None if at is None else _times(started=at, ended=at)
        """Times of what begins and ends now."""

    def ends(self, times: Times | None) -> Times | None:
        """Return the times of what ends now and began as in *times*."""
        if times is self.began:
            return self.instant
        if self.at is None:
            return times
        return _times(started=None if times is None else times.started, ended=self.at)


NO_MOMENT = Moment(None)
"""The moment of an event without a record."""


# Any: the open message, and the event.
Change: TypeAlias = Callable[[Any, Any, Moment], Outcome]

OUTCOMES = {Rejection.CONFLICT: Outcome.CONFLICT, Rejection.LATE: Outcome.LATE, Rejection.ORPHAN: Outcome.ORPHAN}
"""The outcome of a rejected event; `AGAIN` depends on its content."""


class OpenMessage(ABC):
    """One message, opened for change."""

    __slots__ = ("at", "base", "buffers", "frozen", "id", "life", "new")

    # Any: a draft or a message; see `OpenAnswer`.
    base: Any

    changes: ClassVar[Mapping[type, Change]]
    """The effect of each event that the lifecycle accepts."""

    def __init__(self, at: int, base: Any, life: MessageLifecycle) -> None:
        # Any: see `base`.
        self.at = at
        self.id: str = base.id
        self.base = base
        self.life = life
        self.frozen: Message | None = None

        self.new = False
        """Whether the message began in this fold."""

        self.buffers: dict[object, Buffer[str]] = {}
        """The content of each open fragment, by the class of its deltas, and of each open input, by its call id."""

    def buffer_of(self, cls: type, key: object) -> Buffer[str] | None:
        """Return the content of the open fragment or input that deltas of this class continue; `None` without one."""
        return None

    @property
    def closed(self) -> bool:
        """Whether nothing but results of calls can follow."""
        phase = self.life.phase
        return phase is not _RUNNING and phase is not _COMPACTING

    def rejected(self, event: KnownEvent, why: Rejection) -> Outcome:
        """Return the outcome of an event that the lifecycle rejects."""
        if why is not Rejection.AGAIN:
            return OUTCOMES[why]
        return Outcome.DUPLICATE if self.repeats(event) else Outcome.CONFLICT

    def open_text(self) -> list[tuple[object, Buffer[str]]]:
        """Return the content of each open fragment, and its key as in `buffers`."""
        return list(self.buffers.items())

    @abstractmethod
    def repeats(self, event: KnownEvent) -> bool:
        """Return whether an event that comes again equals the one that was applied."""

    def message(self) -> Message:
        """Return the message in its current state."""
        if self.frozen is None or self.buffers:
            self.frozen = self._freeze()
        return self.frozen

    @abstractmethod
    def _freeze(self) -> Message: ...


class OpenPrompt(OpenMessage):
    """A prompt. No event changes it."""

    __slots__ = ()
    changes: ClassVar[Mapping[type, Change]] = {}

    def __init__(self, at: int, base: UserMessage) -> None:
        super().__init__(at, base, MessageLifecycle(MessagePhase.PROMPT))

    def repeats(self, event: KnownEvent) -> bool:
        """See `OpenMessage.repeats`."""
        return isinstance(event, PromptSubmitted) and event.content == self.base.content

    def _freeze(self) -> UserMessage:
        message: UserMessage = self.base
        return message


class OpenCompaction(OpenMessage):
    """A compaction."""

    __slots__ = ("buffer",)

    base: CompactionMessage

    def __init__(self, at: int, base: CompactionMessage) -> None:
        running = base.status is MessageStatus.RUNNING
        super().__init__(at, base, MessageLifecycle(_COMPACTING if running else MessagePhase.COMPACTED))
        self.buffer = Buffer("", base.text)

    def _append_delta(self, event: CompactionDelta, moment: Moment) -> Outcome:
        return append(self.buffer, event.offset, event.delta)

    def _end(self, event: CompactionEnded, moment: Moment) -> Outcome:
        self.buffer = Buffer("", event.text)
        times = moment.ends(self.base.times)
        self.base = attrs.evolve(self.base, status=MessageStatus.COMPLETED, state=event.state, times=times)
        return _APPLIED

    def _fail(self, event: CompactionFailed, moment: Moment) -> Outcome:
        self.buffer = Buffer("")  # what came live is not in the log
        times = moment.ends(self.base.times)
        self.base = attrs.evolve(self.base, status=MessageStatus.FAILED, error=event.error, times=times)
        return _APPLIED

    def open_text(self) -> list[tuple[object, Buffer[str]]]:
        """See `OpenMessage.open_text`."""
        return [] if self.closed else [(CompactionDelta, self.buffer)]

    def repeats(self, event: KnownEvent) -> bool:
        """See `OpenMessage.repeats`."""
        base = self.base
        if isinstance(event, CompactionEnded):
            return base.status is MessageStatus.COMPLETED and (event.text, event.state) == (
                self.buffer.value(),
                base.state,
            )
        return isinstance(event, CompactionFailed) and event.error == base.error

    def _freeze(self) -> CompactionMessage:
        return attrs.evolve(self.base, text=self.buffer.value())

    changes: ClassVar[Mapping[type, Change]] = {
        CompactionDelta: _append_delta,
        CompactionEnded: _end,
        CompactionFailed: _fail,
    }


def append(buffer: Buffer[str], offset: int, delta: str | bytes) -> Outcome:
    """Append the part of a delta that the buffer does not have."""
    length = buffer.length
    if offset > length:
        return Outcome.GAP
    if offset + len(delta) <= length:
        return Outcome.DUPLICATE
    buffer.append(delta[length - offset :])  # type: ignore[arg-type]  # media are bytes
    return Outcome.APPLIED
