"""Pieces of open fragments: their keys, how they are joined, and which of them a batch or a fork leaves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import add, attrgetter
from typing import Any, Final, NamedTuple, cast

import attrs

from assistant_events import events as ev
from assistant_events.events import DeltaEvent, Event, LiveEvent
from assistant_events.messages import Transcript
from assistant_events.reducer import fold
from assistant_events.values.construct import constructor

_OFFSET: Final = attrgetter("offset")
_DELTA: Final = attrgetter("delta")
_MESSAGE_ID: Final = attrgetter("message_id")
_CALL_ID: Final = attrgetter("call_id")

_FIELDS: Final = {cls: tuple([field.name for field in attrs.fields(cls)]) for cls in ev.DELTA_EVENTS}
_MAKE: Final[Mapping[type, Callable[..., DeltaEvent]]] = {cls: constructor(cls) for cls in ev.DELTA_EVENTS}  # type: ignore[arg-type]  # a union of classes


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


def join_deltas(events: Iterable[LiveEvent]) -> list[LiveEvent]:
    """Return *events* with the deltas joined that continue one another, and of the progress of a call only the last."""
    joined: list[LiveEvent] = []
    for kind, run in groupby(events, type):
        same = list(run)
        if kind is ev.ToolProgress:
            last = {(event.message_id, event.call_id): event for event in cast("list[ev.ToolProgress]", same)}
            joined += last.values()
        else:
            joined += _joined(cast("list[DeltaEvent]", same))
    return joined


def _joined(deltas: list[DeltaEvent]) -> Iterator[DeltaEvent]:
    """Join deltas of one class."""
    if len(deltas) == 1:
        yield deltas[0]
        return
    offsets, pieces = list(map(_OFFSET, deltas)), list(map(_DELTA, deltas))
    ends = list(map(add, offsets, map(len, pieces)))
    is_input = isinstance(deltas[0], ev.ToolInputDelta)
    is_one = len(set(map(_MESSAGE_ID, deltas))) == 1 and not (is_input and len(set(map(_CALL_ID, deltas))) > 1)
    if is_one and offsets[1:] == ends[:-1]:  # nearly always
        yield with_piece(deltas[0], offsets[0], pieces[0][:0].join(pieces))
        return
    owners = None if is_one else list(map(fragment_of, deltas))
    first = 0
    for at in range(1, len(deltas) + 1):
        if at < len(deltas) and offsets[at] == ends[at - 1] and (owners is None or owners[at] == owners[at - 1]):
            continue
        run = pieces[first:at]
        yield deltas[first] if len(run) == 1 else with_piece(deltas[first], offsets[first], run[0][:0].join(run))
        first = at


def cut_delta(delta: DeltaEvent, start: int, end: int | None = None) -> DeltaEvent:
    """Return the part of a delta from the character, or byte, *start* of it to before *end*."""
    piece: Any = delta.delta[start:end]  # Any: text, or bytes of media
    return with_piece(delta, delta.offset + start, piece)


def with_piece(delta: DeltaEvent, offset: int, piece: Any) -> DeltaEvent:
    """Return *delta* with another offset and another piece, of text or bytes that were checked before."""
    # Any: see `constructor`.
    values: dict[str, Any] = {name: getattr(delta, name) for name in _FIELDS[delta.__class__]}
    return _MAKE[delta.__class__](**(values | {"offset": offset, "delta": piece}))


def closed_fragments(
    fragments: Collection[Fragment], events: Sequence[Event], messages: Callable[[], Collection[str]]
) -> list[Fragment]:
    """
    Return those of *fragments* that a batch closes: it ends them, or ends, restarts or rewinds their message.

    *messages* returns the ids of the messages after the batch. It is called when the batch rewinds one.
    """
    ended = {event.message_id for event in events if isinstance(event, _END_ALL)}
    named = _named(events, ENDS)
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
    begun = _named(events, STARTS)
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


STARTS: Final[Mapping[type, str]] = {
    ev.TextStarted: ev.TextDelta.type,
    ev.ReasoningStarted: ev.ReasoningDelta.type,
    ev.MediaStarted: ev.MediaDelta.type,
    ev.ToolInputStarted: ev.ToolInputDelta.type,
    ev.CompactionStarted: ev.CompactionDelta.type,
}

ENDS: Final[Mapping[type, str]] = {
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
