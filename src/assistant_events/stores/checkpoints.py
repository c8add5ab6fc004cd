"""Checkpoints of open fragments: their keys, and which of them a batch or a fork leaves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from assistant_events import events as ev
from assistant_events.events import DeltaEvent, Event
from assistant_events.messages import Transcript
from assistant_events.reducer import fold


class Fragment(NamedTuple):
    """The fragment of a checkpoint. A message has at most one open fragment of a kind, and one for each call."""

    message_id: str

    type: str
    """Type of its deltas."""

    call_id: str
    """Empty unless it is the input of a call."""


def fragment_of(delta: DeltaEvent) -> Fragment:
    """Return the fragment of a delta."""
    return Fragment(delta.message_id, delta.type, delta.call_id if isinstance(delta, ev.ToolInputDelta) else "")


def closed_fragments(
    fragments: Collection[Fragment], events: Sequence[Event], messages: Callable[[], Collection[str]]
) -> list[Fragment]:
    """
    Return those of *fragments* that a batch closes: it ends them, or ends, restarts or rewinds their message.

    *messages* returns the ids of the messages after the batch. It is called when the batch rewinds one.
    """
    ended = {event.message_id for event in events if isinstance(event, _END_ALL)}
    named = _named(events, _ENDS)
    closed = [each for each in fragments if each in named or each.message_id in ended]
    if len(closed) < len(fragments) and any(isinstance(event, ev.HistoryRewound) for event in events):
        left = messages()
        closed += [each for each in fragments if each.message_id not in left]
    return closed


def open_deltas(
    deltas: Sequence[DeltaEvent], later: Sequence[Event], messages: Callable[[], Collection[str]]
) -> list[DeltaEvent]:
    """Return those of *deltas* whose fragment none of the *later* events closes. *messages* as above."""
    closed = closed_fragments({fragment_of(delta) for delta in deltas}, later, messages)
    return [delta for delta in deltas if fragment_of(delta) not in closed]


def fragments_before(fragments: Collection[Fragment], events: Sequence[Event]) -> list[Fragment]:
    """Return those of *fragments*, which are open after *events*, that were open before them."""
    begun = _named(events, _STARTS)
    return [each for each in fragments if each not in begun]


def message_ids(start: Transcript | None, events: Iterable[Event | ev.Record]) -> Collection[str]:
    """Return the ids of the messages of a log: of the snapshot *start*, and *events* after it."""
    return {message.id for message in fold(events, start=start)}


def _named(events: Iterable[Event], types: Mapping[type, str]) -> set[tuple[str | None, str, str]]:
    """Return the fragments that those of *events* name whose class is one of *types*."""
    return {
        (event.message_id, types[type(event)], getattr(event, "call_id", ""))
        for event in events
        if type(event) in types
    }


_STARTS: Final[Mapping[type, str]] = {
    ev.TextStarted: ev.TextDelta.type,
    ev.ReasoningStarted: ev.ReasoningDelta.type,
    ev.MediaStarted: ev.MediaDelta.type,
    ev.ToolInputStarted: ev.ToolInputDelta.type,
    ev.CompactionStarted: ev.CompactionDelta.type,
}

_ENDS: Final[Mapping[type, str]] = {
    ev.TextEnded: ev.TextDelta.type,
    ev.ReasoningEnded: ev.ReasoningDelta.type,
    ev.MediaEnded: ev.MediaDelta.type,
    ev.ToolInputEnded: ev.ToolInputDelta.type,
    ev.ToolCalled: ev.ToolInputDelta.type,
    ev.ToolFailed: ev.ToolInputDelta.type,
    ev.CompactionEnded: ev.CompactionDelta.type,
    ev.CompactionFailed: ev.CompactionDelta.type,
}
_END_ALL: Final = (ev.StepRestarted, ev.StepEnded, ev.StepFailed)
