"""Pieces of open fragments: their keys, how they are joined, and which of them a batch or a fork leaves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple, cast

import attrs

from assistant_events import events as ev
from assistant_events.events import DeltaEvent, Event, LiveEvent
from assistant_events.messages import Transcript
from assistant_events.reducer import fold
from assistant_events.values import JsonObject
from assistant_events.values.construct import MadeOnce, compiled, construction, constructor


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


def join_deltas(events: Sequence[LiveEvent]) -> list[LiveEvent]:
    """Return *events* with the deltas joined that continue one another, and of the progress of a call only the last."""
    if len(events) == 1:
        return [*events]
    joined: list[LiveEvent] = []
    for kind, run in groupby(events, type):
        if kind is ev.ToolProgress:
            last = {(event.message_id, event.call_id): event for event in cast("Iterator[ev.ToolProgress]", run)}
            joined += last.values()
        else:
            joined += _joined(list(cast("Iterator[DeltaEvent]", run)))
    return joined


def _joined(deltas: list[DeltaEvent]) -> Iterator[DeltaEvent]:
    """Join deltas of one class."""
    for _, one in groupby(deltas, _CALL_ID) if isinstance(deltas[0], ev.ToolInputDelta) else ((None, deltas),):
        run = list[DeltaEvent]()
        name, end = "", 0
        for delta in one:
            if run and (delta.offset != end or delta.message_id != name):
                yield _one_of(run)
                run = []
            run.append(delta)
            name, end = delta.message_id, delta.offset + len(delta.delta)
        yield _one_of(run)


def _one_of(deltas: list[DeltaEvent]) -> DeltaEvent:
    first = deltas[0]
    if len(deltas) == 1:
        return first
    pieces: list[Any] = [delta.delta for delta in deltas]  # Any: text, or bytes of media
    return with_piece(first, first.offset, pieces[0][:0].join(pieces))


def cut_delta(delta: DeltaEvent, start: int, end: int | None = None) -> DeltaEvent:
    """Return the part of a delta from the character, or byte, *start* of it to before *end*."""
    return with_piece(delta, delta.offset + start, delta.delta[start:end])


def delta_of(message_id: str, key: object, piece: str | bytes, start: int) -> DeltaEvent:
    """Return a piece of checked text of an open fragment; see `Builder.open_text` for its *key*."""
    if isinstance(key, str):
        return _DELTAS[ev.ToolInputDelta](message_id=message_id, call_id=key, offset=start, delta=piece)
    return _DELTAS[cast("type[DeltaEvent]", key)](message_id=message_id, offset=start, delta=piece)


def with_piece(delta: DeltaEvent, offset: int, piece: str | bytes) -> DeltaEvent:
    """Return *delta* with another offset and another piece, of text or bytes that were checked before."""
    return _WITH_PIECE[delta.__class__](delta, offset, piece)


def _piece_maker(cls: type) -> Callable[[DeltaEvent, int, str | bytes], DeltaEvent]:
    kept = [field.name for field in attrs.fields(cls) if field.name not in {"offset", "delta"}]
    body, names = construction(cls)
    return compiled(
        "piece(like, offset, delta)", [*[f"{name} = like.{name}" for name in kept], *body, "return made"], names
    )


# Compiled when they are first needed, not at import.
_WITH_PIECE: Final = MadeOnce(_piece_maker)
_DELTAS: Final[MadeOnce[type[DeltaEvent], Callable[..., DeltaEvent]]] = MadeOnce(constructor)  # type: ignore[arg-type]  # a cached function
_CALL_ID: Final = attrgetter("call_id")


def closed_fragments(
    fragments: Collection[Fragment], events: Sequence[Event], messages: Callable[[], Collection[str]]
) -> list[Fragment]:
    """
    Return those of *fragments* that a batch closes: it ends them, or ends, restarts or rewinds their message.

    *messages* returns the ids of the messages after the batch. It is called when the batch rewinds one.
    """
    ended = {event.message_id for event in events if isinstance(event, _END_ALL)}
    named = {fragment_in(event, ENDS) for event in events}
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
    begun = {fragment_in(event, STARTS) for event in events}
    return [each for each in fragments if each not in begun]


def message_ids(start: Transcript | None, events: Iterable[Event | ev.Record]) -> Collection[str]:
    """Return the ids of the messages of a log: of the snapshot *start*, and *events* after it."""
    return {message.id for message in fold(events, start=start)}


def fragment_in(event: Event, types: Mapping[type, str]) -> Fragment | None:
    """Return the fragment that an event begins, by `STARTS`, or ends, by `ENDS`; `None` where it does not."""
    kind = types.get(type(event))
    # The message of such an event is never `None`.
    return None if kind is None else Fragment(cast("str", event.message_id), kind, getattr(event, "call_id", ""))


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

_CONTENTS: Final[Mapping[type, tuple[type, str]]] = {
    ev.TextEnded: (ev.TextDelta, "text"),
    ev.ReasoningEnded: (ev.ReasoningDelta, "text"),
    ev.MediaEnded: (ev.MediaDelta, "data"),
    ev.ToolInputEnded: (ev.ToolInputDelta, "text"),
    ev.CompactionEnded: (ev.CompactionDelta, "text"),
}
"""By class of an event that ends a fragment, the class of its deltas, and the field with all of its content."""


def rest_of(event: Event, start: int) -> DeltaEvent | None:
    """Return what the end of a fragment has from *start* on; `None` for nothing, and for media that come whole."""
    cls = event.__class__
    return _RESTS[cls](event, start) if cls in _CONTENTS else None


def _rest_maker(ended: type) -> Callable[[Event, int], DeltaEvent | None]:
    cls, field = _CONTENTS[ended]
    body, names = construction(cls)
    call = ["call_id = ended.call_id"] if cls is ev.ToolInputDelta else []
    read = [f"delta = (ended.{field} or '')[offset:]", "message_id = ended.message_id", *call]
    nothing = "not (offset and delta)" if cls is ev.MediaDelta else "not delta"
    code = [*read, f"if {nothing}:", "    return None", *body, "return made"]
    return compiled("rest(ended, offset, extra=extra)", code, {**names, "extra": JsonObject()})


_RESTS: Final = MadeOnce(_rest_maker)
