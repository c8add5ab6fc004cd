"""
What the events of a session leave unfinished, kept up to date batch by batch.

Every store keeps one `Mark` for each message. `Watch` moves the marks that a batch touches; the store loads and saves
them. It follows events and does not judge them: whether one may stand where it stands is decided in `lifecycle`. So
it is exact for logs without problems. Twice and too late is common enough that it looks at the phase of the message
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import compress
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, final

from assistant_events.events import (
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    HistoryRewound,
    PromptSubmitted,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    ToolCalled,
    ToolFailed,
    ToolInputStarted,
    ToolSuccess,
)
from assistant_events.messages import AssistantMessage, CompactionMessage, MessageStatus, Transcript
from assistant_events.stores.contract import StoredEvent, Unfinished, UnfinishedKind
from assistant_events.values import CUT_KINDS, ErrorKind, RemoteRun


class Phase(StrEnum):
    """How far a message is, as far as attention goes."""

    RUNNING = "running"
    FAILED = "failed"

    CUT = "cut"
    """Failed with one of `CUT_KINDS`, and its run can be rejoined."""

    COMPACTING = "compacting"

    CLOSED = "closed"
    """Nothing more comes for it but answers to its calls."""

    REWOUND = "rewound"


@final
class Mark:
    """Where one message stands. Mutable."""

    __slots__ = ("answered", "closed", "emptied", "first", "message_id", "phase", "run", "waiting")

    def __init__(self, message_id: str, first: int, phase: Phase, run: RemoteRun | None = None) -> None:
        self.message_id = message_id

        self.first = first
        """Its place in the order of messages: the `seq` of its first event."""

        self.phase = phase

        self.run = run
        """The newest run of a step; kept as long as the step may go on."""

        self.answered = False
        """Whether the app has answered a call since the step started."""

        self.waiting: dict[str, int] = {}
        """Calls that stand and wait for the app, with the `seq` of their `tool.called`."""

        self.closed: set[str] = set()
        """Calls of a running step that the app has nothing to do with any more: settled, or run by the provider."""

        self.emptied = False
        """Whether the calls that were there before are void, also those that a storage has and that are not here."""

    def unfinished(self, session_id: str) -> list[Unfinished]:
        """Return what is unfinished about the message."""
        found: list[Unfinished] = []
        kind = UNFINISHED.get(self.phase)
        if kind is not None:
            found.append(Unfinished(session_id=session_id, message_id=self.message_id, kind=kind, run=self.run))
        if self.phase in _WAITING:
            found += [
                Unfinished(session_id=session_id, message_id=self.message_id, kind=UnfinishedKind.CALL, call_id=call_id)
                for call_id in sorted(self.waiting, key=self.waiting.__getitem__)
            ]
        return found

    def rewind(self) -> None:
        """Take the message out of the transcript."""
        self.phase = Phase.REWOUND
        self._empty()
        self.run = None

    def restarted(self, event: StepRestarted) -> None:
        """Start over: what was received is void."""
        if self.phase in _MAY_RESTART and not self.answered:
            self.phase = Phase.RUNNING
            self.run = event.run or self.run
            self._empty()

    def ended(self, _: object) -> None:
        """Close the provider's answer; calls of the app go on waiting."""
        if self.phase is Phase.RUNNING:
            self.phase = Phase.CLOSED
            self.run = None
            self.closed = set()

    def failed(self, event: StepFailed) -> None:
        """Close a step that had no valid end."""
        if self.phase is Phase.RUNNING:
            self.run = event.run or self.run
            self.fail(event.error.kind)

    def fail(self, kind: str) -> None:
        """Set the phase of a failed step whose `run` is known."""
        cut = self.run is not None and self.run.resumable and kind in CUT_KINDS
        self.phase = Phase.CUT if cut else Phase.FAILED
        self.closed = set()

    def input_started(self, event: ToolInputStarted) -> None:
        """Remember a call that the provider runs."""
        if event.provider_executed and self.phase is Phase.RUNNING and event.call_id not in self.waiting:
            self.closed.add(event.call_id)

    def called(self, event: ToolCalled, seq: int) -> None:
        """Let a call wait, unless the provider runs it."""
        if self.phase is Phase.RUNNING and event.call_id not in self.closed:
            if event.provider_executed:
                self.closed.add(event.call_id)
            else:
                self.waiting.setdefault(event.call_id, seq)

    def settled(self, event: ToolSuccess | ToolFailed) -> None:
        """Let a call wait no more: it has its answer, or will never have one."""
        if self.phase not in _MAY_SETTLE[type(event)]:
            return
        waited = self.waiting.pop(event.call_id, None) is not None
        if waited and not event.provider_executed:
            cut = isinstance(event, ToolFailed) and event.error.kind == ErrorKind.INTERRUPTED
            self.answered = self.answered or not cut
        if self.phase is Phase.RUNNING:
            self.closed.add(event.call_id)

    def compacted(self, _: object) -> None:
        """Close a summary: it is written, or will never be."""
        if self.phase is Phase.COMPACTING:
            self.phase = Phase.CLOSED

    def _empty(self) -> None:
        self.emptied = True
        self.answered = False
        self.waiting = {}
        self.closed = set()


@final
class Watch:
    """
    The marks of a session, or those that a batch is concerned with while the rest of them lies in a storage.

    In the second case the storage is then brought up to date in this order: all that it holds from `rewound_from` on
    is rewound, then `marks` take their places. Of the calls of a message, only those that a batch names need be there.
    """

    def __init__(self, marks: dict[str, Mark]) -> None:
        self.marks = marks
        """By message id; what is missing has not begun. Changed in place."""

        live = [mark for mark in marks.values() if mark.phase is not Phase.REWOUND]
        self._live = sorted(live, key=attrgetter("first"))
        """What can be rewound, in order: each message leaves it once."""

        self.rewound_from: int | None = None
        """Messages that were there before are rewound from this place on; `None` when none is."""

    def follow(self, events: Iterable[tuple[int, StoredEvent]]) -> None:
        """Move to where *events* lead, given with their places: all of them, or what `of_concern` leaves."""
        # Any: the tables at the end of this module bring each event to the function that takes it.
        event: Any
        for seq, event in events:
            cls = event.__class__
            mark = self.marks.get(event.message_id)
            if mark is None:
                phase = BEGINS.get(cls)
                if phase is not None:
                    run = event.run if cls is StepStarted else None
                    mark = self.marks[event.message_id] = Mark(event.message_id, seq, phase, run)
                    self._live.append(mark)
            elif cls in _MOVES:
                _MOVES[cls](mark, event)
            elif cls is ToolCalled:
                mark.called(event, seq)
            elif cls is HistoryRewound:
                self._rewind(mark)

    def unfinished(self, session_id: str) -> list[Unfinished]:
        """Return what is unfinished about the messages in `marks`, in their order."""
        marks = sorted(self.marks.values(), key=lambda mark: mark.first)
        return [found for mark in marks for found in mark.unfinished(session_id)]

    def _rewind(self, target: Mark) -> None:
        if target.phase is Phase.REWOUND:
            return
        first = target.first
        live = self._live
        while live and live[-1].first >= first:
            live.pop().rewind()
        self.rewound_from = first if self.rewound_from is None else min(first, self.rewound_from)


def of_concern(events: Sequence[StoredEvent], first_seq: int) -> list[tuple[int, StoredEvent]]:
    """Return the events that can move a mark, with their places; the first event stands at *first_seq*."""
    # Without a step of Python for each event: most of them are of no concern.
    concerned = map(_OF_CONCERN.__contains__, map(type, events))
    return list(compress(enumerate(events, first_seq), concerned))


def watch_from(start: Transcript | None, events: Iterable[tuple[int, StoredEvent]]) -> Watch:
    """
    Return the marks that *events* lead to.

    Args:
        start: Snapshot to begin with, when the first records are pruned. Events that it holds already move nothing.

        events: With their places, without gaps, from the first that there is.
    """
    marks = {} if start is None else {mark.message_id: mark for mark in _marks_of(start)}
    after = 0 if start is None else start.seq
    watch = Watch(marks)
    watch.follow((seq, event) for seq, event in events if seq > after)
    return watch


def _marks_of(transcript: Transcript) -> Iterator[Mark]:
    for message_id in transcript.rewound:
        yield Mark(message_id, 0, Phase.REWOUND)
    for place, message in enumerate(transcript.messages, 1):
        # Every message took a record of its own at least, so these places lie before those of the records to come.
        mark = Mark(message.id, place, Phase.CLOSED)
        if isinstance(message, CompactionMessage):
            running = message.status is MessageStatus.RUNNING
            mark.phase = Phase.COMPACTING if running else Phase.CLOSED
        elif isinstance(message, AssistantMessage):
            _mark_answer(mark, message)
        yield mark


def _mark_answer(mark: Mark, message: AssistantMessage) -> None:
    mark.phase = Phase.RUNNING
    mark.run = message.run
    for place, call in enumerate(message.tool_calls, 1):
        if call.pending:
            mark.waiting[call.call_id] = place
        elif call.settled or call.provider_executed:
            mark.closed.add(call.call_id)
    mark.answered = any(call.answered for call in message.tool_calls)
    if message.status is MessageStatus.COMPLETED:
        mark.ended(message)
    elif message.status is MessageStatus.FAILED:
        mark.fail(ErrorKind.UNKNOWN if message.error is None else message.error.kind)


UNFINISHED: Final[Mapping[Phase, UnfinishedKind]] = MappingProxyType(
    {
        Phase.RUNNING: UnfinishedKind.STEP,
        Phase.CUT: UnfinishedKind.CUT,
        Phase.COMPACTING: UnfinishedKind.COMPACTION,
    }
)
"""Phases of a message that is unfinished itself."""

_WAITING: Final = frozenset({Phase.RUNNING, Phase.CLOSED})
_MAY_RESTART: Final = frozenset({Phase.RUNNING, Phase.FAILED, Phase.CUT})
_MAY_SETTLE: Final[Mapping[type, frozenset[Phase]]] = {
    ToolSuccess: _WAITING,
    # A call of a failed step is not to be run, but it may be failed.
    ToolFailed: _WAITING | {Phase.FAILED, Phase.CUT},
}
BEGINS: Final[Mapping[type, Phase]] = {
    PromptSubmitted: Phase.CLOSED,
    StepStarted: Phase.RUNNING,
    CompactionStarted: Phase.COMPACTING,
}
"""Events that begin a message, and the phase that it has then."""

# Any: each function takes the event that it stands under.
_MOVES: Final[Mapping[type, Callable[[Mark, Any], None]]] = {
    StepRestarted: Mark.restarted,
    StepEnded: Mark.ended,
    StepFailed: Mark.failed,
    ToolInputStarted: Mark.input_started,
    ToolSuccess: Mark.settled,
    ToolFailed: Mark.settled,
    CompactionEnded: Mark.compacted,
    CompactionFailed: Mark.compacted,
}
_OF_CONCERN: Final = frozenset[type]({*BEGINS, *_MOVES, HistoryRewound, ToolCalled})
