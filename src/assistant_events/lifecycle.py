"""
Which event may follow which. The only module that decides it.

Three tables, one for each thing that lives: the message, a fragment of one kind inside it, a call inside it. A cell
holds the phase that follows, or why the event is out of place. `GUARDS` lists the rules beside them. Recorder, reducer
and the diagrams in the docs read these tables. Knows event types and phases; never content, providers or storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from assistant_events import events as ev
from assistant_events.values.info import FinishReason, is_answer


class Outcome(StrEnum):
    """What became of an event. All but `applied` change nothing."""

    APPLIED = "applied"

    DUPLICATE = "duplicate"
    """It was here before: an equal end, a covered delta, a record whose place has passed."""

    CONFLICT = "conflict"
    """Its address is taken by other content, or what must come before it has not come."""

    LATE = "late"
    """Its fragment, call or message is closed or rewound."""

    ORPHAN = "orphan"
    """Its message, fragment or call is unknown."""

    GAP = "gap"
    """Something before it is missing: an offset or a place in the log lies beyond."""

    IGNORED = "ignored"
    """This version of the library does not know it."""


class _Phase(Enum):
    # Members are compared by identity and hashed by it: Enum's own hash is a Python call for each look-up.
    __hash__ = object.__hash__


class MessagePhase(_Phase):
    """Phase of a message."""

    UNKNOWN = "unknown"
    PROMPT = "prompt"
    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"
    COMPACTING = "compacting"
    COMPACTED = "compacted"
    REWOUND = "rewound"


class FragmentPhase(_Phase):
    """Phase of the fragments of one kind inside a message."""

    ABSENT = "absent"
    OPEN = "open"
    CLOSED = "closed"


class CallPhase(_Phase):
    """Phase of a call."""

    UNKNOWN = "unknown"
    INPUT_OPEN = "input open"
    INPUT_ENDED = "input ended"
    CALLED = "called"
    SETTLED = "settled"


class Rejection(_Phase):
    """Why an event is out of place in a phase."""

    AGAIN = "again"
    """It may be the one that was here before: `duplicate` when equal to it, else `conflict`."""

    CONFLICT = "conflict"
    LATE = "late"
    ORPHAN = "orphan"


KnownEvent: TypeAlias = ev.DurableEvent | ev.LiveEvent
KnownType: TypeAlias = type[KnownEvent]

_P = TypeVar("_P", MessagePhase, FragmentPhase, CallPhase)

_FRAGMENTS: Final[dict[str, tuple[KnownType, KnownType, KnownType]]] = {
    "text": (ev.TextStarted, ev.TextDelta, ev.TextEnded),
    "reasoning": (ev.ReasoningStarted, ev.ReasoningDelta, ev.ReasoningEnded),
    "media": (ev.MediaStarted, ev.MediaDelta, ev.MediaEnded),
}
FRAGMENT_KINDS: Final[tuple[str, ...]] = tuple(_FRAGMENTS)
"""Kinds of which a message has at most one open."""

_FRAGMENT_EVENTS: Final = frozenset(cls for three in _FRAGMENTS.values() for cls in three)
_INPUT_PIECES: Final = frozenset[KnownType]({ev.ToolInputDelta, ev.ToolInputEnded})
_INPUT_EVENTS: Final = frozenset[KnownType]({ev.ToolInputStarted, ev.ToolCalled}) | _INPUT_PIECES
_BY_APP: Final = frozenset[KnownType]({ev.ToolApprovalRequested, ev.ToolApproved, ev.ToolStarted})
_ANSWERS: Final = _BY_APP | {ev.ToolProgress, ev.ToolSuccess, ev.ToolFailed}
_CALL_EVENTS: Final = _INPUT_EVENTS | _ANSWERS
_CONTENT: Final = _FRAGMENT_EVENTS | _CALL_EVENTS | {ev.OpaqueReceived}
_STEP_TERMINALS: Final = frozenset[KnownType]({ev.StepEnded, ev.StepFailed})
_STARTS: Final = frozenset[KnownType]({ev.PromptSubmitted, ev.StepStarted, ev.CompactionStarted})
_COMPACTION: Final = frozenset[KnownType]({ev.CompactionDelta, ev.CompactionEnded, ev.CompactionFailed})
_STEP: Final = _CONTENT | _STEP_TERMINALS | {ev.StepRestarted}

ALL_EVENTS: Final[tuple[KnownType, ...]] = (*ev.DURABLE_EVENTS, *ev.LIVE_EVENTS)


def _row(
    allowed: Mapping[KnownType, _P], refused: Mapping[KnownType, Rejection], otherwise: Rejection
) -> Mapping[KnownType, _P | Rejection]:
    return MappingProxyType({cls: allowed.get(cls, refused.get(cls, otherwise)) for cls in ALL_EVENTS})


_AGAIN, _CONFLICT, _LATE, _ORPHAN = Rejection.AGAIN, Rejection.CONFLICT, Rejection.LATE, Rejection.ORPHAN
_REWIND: Final[dict[KnownType, MessagePhase]] = {ev.HistoryRewound: MessagePhase.REWOUND}
_AFTER_STEP: Final = dict.fromkeys(_STEP, _LATE) | dict.fromkeys(_STEP_TERMINALS, _AGAIN)

MESSAGE: Final[Mapping[MessagePhase, Mapping[KnownType, MessagePhase | Rejection]]] = MappingProxyType(
    {
        MessagePhase.UNKNOWN: _row(
            {
                ev.PromptSubmitted: MessagePhase.PROMPT,
                ev.StepStarted: MessagePhase.RUNNING,
                ev.CompactionStarted: MessagePhase.COMPACTING,
            },
            {},
            _ORPHAN,
        ),
        MessagePhase.PROMPT: _row(_REWIND, {ev.PromptSubmitted: _AGAIN}, _CONFLICT),
        MessagePhase.RUNNING: _row(
            {
                **dict.fromkeys(_CONTENT, MessagePhase.RUNNING),
                ev.StepRestarted: MessagePhase.RUNNING,
                ev.StepEnded: MessagePhase.ENDED,
                ev.StepFailed: MessagePhase.FAILED,
                **_REWIND,
            },
            {},
            _CONFLICT,
        ),
        # The end of a step ends the provider's answer, not its calls.
        MessagePhase.ENDED: _row(
            {**dict.fromkeys(_ANSWERS, MessagePhase.ENDED), **_REWIND},
            _AFTER_STEP,
            _CONFLICT,
        ),
        # Calls of a failed step are not to be run; one that was left open may still be failed.
        MessagePhase.FAILED: _row(
            {ev.StepRestarted: MessagePhase.RUNNING, ev.ToolFailed: MessagePhase.FAILED, **_REWIND},
            _AFTER_STEP,
            _CONFLICT,
        ),
        MessagePhase.COMPACTING: _row(
            {
                ev.CompactionDelta: MessagePhase.COMPACTING,
                ev.CompactionEnded: MessagePhase.COMPACTED,
                ev.CompactionFailed: MessagePhase.COMPACTED,
                **_REWIND,
            },
            {},
            _CONFLICT,
        ),
        MessagePhase.COMPACTED: _row(
            _REWIND, {**dict.fromkeys(_COMPACTION, _AGAIN), ev.CompactionDelta: _LATE}, _CONFLICT
        ),
        MessagePhase.REWOUND: _row({}, {ev.HistoryRewound: _AGAIN}, _LATE),
    }
)
"""Phase of a message x event. Content that is allowed here is then looked up in `FRAGMENT` or `CALL`."""

FRAGMENT: Final[Mapping[str, Mapping[FragmentPhase, Mapping[KnownType, FragmentPhase | Rejection]]]] = MappingProxyType(
    {
        kind: MappingProxyType(
            {
                FragmentPhase.ABSENT: MappingProxyType({started: FragmentPhase.OPEN, delta: _ORPHAN, ended: _ORPHAN}),
                FragmentPhase.OPEN: MappingProxyType(
                    {started: _CONFLICT, delta: FragmentPhase.OPEN, ended: FragmentPhase.CLOSED}
                ),
                FragmentPhase.CLOSED: MappingProxyType({started: FragmentPhase.OPEN, delta: _LATE, ended: _AGAIN}),
            }
        )
        for kind, (started, delta, ended) in _FRAGMENTS.items()
    }
)
"""Kind x phase x event. The kind is the address: a message has at most one open fragment of each."""

CALL: Final[Mapping[CallPhase, Mapping[KnownType, CallPhase | Rejection]]] = MappingProxyType(
    {
        CallPhase.UNKNOWN: MappingProxyType(
            {
                **dict.fromkeys(_CALL_EVENTS, _ORPHAN),
                ev.ToolInputStarted: CallPhase.INPUT_OPEN,
                ev.ToolCalled: CallPhase.CALLED,
            }
        ),
        CallPhase.INPUT_OPEN: MappingProxyType(
            {
                **dict.fromkeys(_CALL_EVENTS, _CONFLICT),
                ev.ToolInputDelta: CallPhase.INPUT_OPEN,
                ev.ToolInputEnded: CallPhase.INPUT_ENDED,
            }
        ),
        CallPhase.INPUT_ENDED: MappingProxyType(
            {
                **dict.fromkeys(_CALL_EVENTS, _CONFLICT),
                ev.ToolInputDelta: _LATE,
                ev.ToolInputEnded: _AGAIN,
                ev.ToolCalled: CallPhase.CALLED,
                ev.ToolFailed: CallPhase.SETTLED,
            }
        ),
        CallPhase.CALLED: MappingProxyType(
            {
                ev.ToolInputStarted: _CONFLICT,
                ev.ToolInputDelta: _LATE,
                ev.ToolInputEnded: _AGAIN,
                ev.ToolCalled: _AGAIN,
                **dict.fromkeys(_BY_APP, CallPhase.CALLED),
                ev.ToolProgress: CallPhase.CALLED,
                ev.ToolSuccess: CallPhase.SETTLED,
                ev.ToolFailed: CallPhase.SETTLED,
            }
        ),
        CallPhase.SETTLED: MappingProxyType(
            {
                ev.ToolInputStarted: _CONFLICT,
                ev.ToolInputDelta: _LATE,
                ev.ToolInputEnded: _AGAIN,
                ev.ToolCalled: _AGAIN,
                **dict.fromkeys(_BY_APP, _LATE),
                ev.ToolProgress: _LATE,
                ev.ToolSuccess: _AGAIN,
                ev.ToolFailed: _AGAIN,
            }
        ),
    }
)
"""Phase of a call x event. It never moves back; the first answer wins."""

GUARDS: Final[Mapping[KnownType, str]] = MappingProxyType(
    {
        ev.StepEnded: "every fragment has ended and every call the provider runs is settled; a step that pauses may "
        "leave such calls without a result",
        ev.StepFailed: "every fragment has ended and every call the provider runs is settled",
        ev.StepRestarted: "the app has not started or answered any call",
        ev.ToolApprovalRequested: "the app runs the call, and has not asked before; the same again is a duplicate",
        ev.ToolApproved: "the app runs the call; again it is a duplicate",
        ev.ToolStarted: "the app runs the call; the last attempt again is a duplicate, a lower one is late",
    }
)
"""What must hold for these events beside the tables; else they are a conflict, unless another outcome is named."""

_KIND_OF: Final[dict[KnownType, str]] = {cls: kind for kind, three in _FRAGMENTS.items() for cls in three}

_FragmentColumn: TypeAlias = Mapping[FragmentPhase, FragmentPhase | Rejection]
_CallColumn: TypeAlias = Mapping[CallPhase, CallPhase | Rejection]


def _fragment_column(cls: KnownType) -> _FragmentColumn | None:
    kind = _KIND_OF.get(cls)
    return None if kind is None else {phase: row[cls] for phase, row in FRAGMENT[kind].items()}


def _call_column(cls: KnownType) -> _CallColumn | None:
    return {phase: row[cls] for phase, row in CALL.items()} if cls in _CALL_EVENTS else None


# The three tables in the form in which one look-up finds all that `advance` needs: every stored event passes there.
_MOVES: Final[
    dict[
        MessagePhase,
        dict[KnownType, tuple[MessagePhase | Rejection, str, _FragmentColumn | None, _CallColumn | None]],
    ]
] = {
    phase: {
        cls: (after, "", None, None)
        if isinstance(after, Rejection)
        else (after, _KIND_OF.get(cls, ""), _fragment_column(cls), _call_column(cls))
        for cls, after in row.items()
    }
    for phase, row in MESSAGE.items()
}

# To read a member of an enum takes as long as a look-up in a table.
_OPEN = FragmentPhase.OPEN
_NO_CALL, _CALLED = CallPhase.UNKNOWN, CallPhase.CALLED

_NO_FRAGMENTS: Final = dict.fromkeys(FRAGMENT_KINDS, FragmentPhase.ABSENT)


class CallLifecycle:
    """The phase of one call, and what its guards ask. `MessageLifecycle.advance` moves it."""

    __slots__ = ("approval", "attempt", "name", "phase", "provider_executed")

    def __init__(self, name: str, provider_executed: bool) -> None:
        self.phase = _NO_CALL
        self.name = name
        self.provider_executed = provider_executed
        self.attempt = 0
        self.approval: str | None = None

    def advance_by_app(self, event: Any) -> Rejection | None:
        """Note an event of the app, or return why it is out of place."""
        # Any: an event of `_BY_APP`, recognised by its class.
        if self.provider_executed:
            return _CONFLICT
        if event.__class__ is ev.ToolStarted:
            if event.attempt <= self.attempt:
                return _AGAIN if event.attempt == self.attempt else _LATE
            self.attempt = event.attempt
            return None
        approval = _APPROVALS[event.__class__]
        if self.approval in (approval, "approved"):
            return _AGAIN
        self.approval = approval
        return None


_APPROVALS: Final[Mapping[KnownType, str]] = {ev.ToolApprovalRequested: "requested", ev.ToolApproved: "approved"}


_KEEPS_OPEN: Final[Mapping[CallPhase, tuple[bool, bool]]] = {
    CallPhase.INPUT_OPEN: (True, True),
    CallPhase.INPUT_ENDED: (True, True),
    CallPhase.CALLED: (False, True),
    CallPhase.SETTLED: (False, False),
}
"""Whether a call in this phase keeps its step from ending: when the app runs it, and when the provider does."""


class MessageLifecycle:
    """The phases of one message and of everything inside it. Mutable; `advance` moves them by events."""

    __slots__ = ("_calls", "_fragments", "_unsettled", "acted", "phase")

    phase: MessagePhase

    def __init__(self, phase: MessagePhase = MessagePhase.UNKNOWN) -> None:
        self.phase = phase
        self._fragments: dict[str, FragmentPhase] = _NO_FRAGMENTS.copy()
        self._calls: dict[str, CallLifecycle] = {}

        # What the guards ask, kept up to date: a message may have any number of calls.
        self._unsettled: dict[str, None] = {}
        self.acted = False
        """Whether the app has started or answered a call: the step cannot be restarted any more."""

    def advance(self, event: KnownEvent) -> Rejection | None:
        """Move to where *event* leads and return `None`, or stay and return why it is out of place."""
        cls = event.__class__
        after, kind, fragment_moves, call_moves = _MOVES[self.phase][cls]
        # Parts of a message never change the phase of the message.
        if fragment_moves is not None:
            moved = fragment_moves[self._fragments[kind]]
            # For an enum, `isinstance` takes longer than all the rest here.
            if type(moved) is Rejection:
                return moved
            self._fragments[kind] = moved  # type: ignore[assignment]
            return None
        if call_moves is not None:
            return self._advance_call(event, call_moves)
        if type(after) is Rejection:
            return self._refused(event, after)
        if cls in _STEP_TERMINALS:
            if _OPEN in self._fragments.values() or (self._unsettled and not self._may_pause(event)):
                return Rejection.CONFLICT
        elif cls is ev.StepRestarted:
            if self.acted:
                return Rejection.CONFLICT
            self._fragments = _NO_FRAGMENTS.copy()
            self._calls = {}
            self._unsettled = {}
        self.phase = after  # type: ignore[assignment]
        return None

    def fragment(self, kind: str) -> FragmentPhase:
        """Return the phase of the fragments of this kind."""
        return self._fragments[kind]

    def call(self, call_id: str) -> CallPhase:
        """Return the phase of a call; `UNKNOWN` when there is none of this id."""
        call = self._calls.get(call_id)
        return _NO_CALL if call is None else call.phase

    def of_call(self, call_id: str) -> CallLifecycle:
        """Return the lifecycle of a call that has begun."""
        return self._calls[call_id]

    def unsettled_calls(self) -> list[str]:
        """Return the ids of calls that keep a step from ending: without input, or the provider's without a result."""
        return list(self._unsettled)

    def settle(self, call_id: str) -> bool:
        """Settle a call without an event, since its result is known already; return whether it had none."""
        if self.call(call_id) is not _CALLED:
            return False
        self._calls[call_id].phase = CallPhase.SETTLED
        self._unsettled.pop(call_id, None)
        return True

    def abandon(self) -> None:
        """Fail the message and settle its calls without events: other events close what was recorded of it."""
        for call_id in self._calls:
            self.settle(call_id)
        self.phase = MessagePhase.FAILED

    def adopt_fragment(self, kind: str, phase: FragmentPhase) -> None:
        """Set the phase of a kind from a message that is known already."""
        self._fragments[kind] = phase

    def adopt_call(self, part: Any, phase: CallPhase) -> None:
        """Set the phase of a call from the `ToolPart` of a message that is known already."""
        # Any: messages are in the same layer.
        call = self._calls[part.call_id] = CallLifecycle(part.name, part.provider_executed)
        call.phase = phase
        call.attempt, call.approval = part.attempt, part.approval
        self.acted = self.acted or part.answered or part.attempt > 0
        if _KEEPS_OPEN[phase][call.provider_executed]:
            self._unsettled[part.call_id] = None

    def _advance_call(self, event: Any, moves: _CallColumn) -> Rejection | None:
        # Any: an event of a call; what is read of it is looked at by its class.
        call_id = event.call_id
        call = self._calls.get(call_id)
        phase = _NO_CALL if call is None else call.phase
        after = moves[phase]
        if type(after) is Rejection:
            return after
        cls = event.__class__
        if call is None:
            # Only events with a name begin a call.
            call = self._calls[call_id] = CallLifecycle(event.name, event.provider_executed)
        elif cls not in _INPUT_PIECES:
            rejection = self._update_call(call, event)
            if rejection is not None:
                return rejection
        if after is not phase:
            call.phase = after  # type: ignore[assignment]
            if _KEEPS_OPEN[after][call.provider_executed]:  # type: ignore[index]
                self._unsettled[call_id] = None
            else:
                self._unsettled.pop(call_id, None)
        return None

    def _update_call(self, call: CallLifecycle, event: Any) -> Rejection | None:
        """Note what an event adds to a call, or return why the call does not allow it."""
        # Any: as for `_advance_call`.
        cls = event.__class__
        if cls in _BY_APP:
            rejection = call.advance_by_app(event)
            self.acted = self.acted or call.attempt > 0
            return rejection
        if cls is ev.ToolCalled and call.name != event.name:
            return Rejection.CONFLICT
        if cls is not ev.ToolProgress:
            call.provider_executed = call.provider_executed or event.provider_executed
            if cls is not ev.ToolCalled and not call.provider_executed and call.phase is _CALLED:
                self.acted = self.acted or cls is ev.ToolSuccess or is_answer(event.error)
        return None

    def _may_pause(self, event: KnownEvent) -> bool:
        """Return whether the calls that keep the step open may get their results after it."""
        if not isinstance(event, ev.StepEnded) or event.finish_reason is not FinishReason.PAUSE:
            return False
        return all(self._calls[call_id].phase is _CALLED for call_id in self._unsettled)

    def _refused(self, event: KnownEvent, why: Rejection) -> Rejection:
        # In a closed message an equal second end of a fragment or call is still a duplicate.
        if self.phase is not MessagePhase.REWOUND:
            kind = _KIND_OF.get(event.__class__)
            if kind is not None and FRAGMENT[kind][self.fragment(kind)][event.__class__] is Rejection.AGAIN:
                return Rejection.AGAIN
            if (
                isinstance(event, (ev.ToolInputEnded, ev.ToolCalled, ev.ToolSuccess))
                and CALL[self.call(event.call_id)][event.__class__] is Rejection.AGAIN
            ):
                return Rejection.AGAIN
        return why
