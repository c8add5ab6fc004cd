"""One session in a live channel: its open fragments, and the last items for its subscribers. No I/O."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from typing import Final, TypeAlias, final

import attrs

from assistant_events.errors import StoreError
from assistant_events.events import DeltaEvent, Frame, LiveEvent, Record, ToolProgress
from assistant_events.live.fragments import OpenFragments
from assistant_events.stores.checkpoints import cut_delta, join_deltas
from assistant_events.values.construct import constructor

FLUSH_SIZE: Final = 2 * 1024
"""Characters, or bytes of media, after which pending events are flushed at once."""

_frame: Callable[..., Frame] = constructor(Frame)

_MAX_FRAME_SIZE: Final = 64 * 1024
"""Characters, or bytes of media, in one frame."""

_MAX_ITEMS: Final = 256
_MAX_SIZE: Final = 4 * _MAX_FRAME_SIZE
"""Limits of the items kept for slow subscribers: their number, after it has doubled, and the length of their text."""


Place: TypeAlias = tuple[int, datetime, str | None]
"""`seq`, time and message of a record: no other log has it."""


def place_of(record: Record) -> Place:
    """Return the place of a record."""
    return record.seq, record.at, record.event.message_id


@final
@attrs.define(eq=False)
class Topic:
    """State of a session that has subscribers, or something open."""

    session_id: str

    seq: int | None = None
    """`seq` of the last known record; `None` before the first look at the log."""

    last: Place | None = None
    """The place of that record: in a log that has begun anew it is another one. `None` where it is not known."""

    watchers: int = 0

    waiting: list[asyncio.Future[None]] = attrs.field(factory=list[asyncio.Future[None]])
    """Subscribers that wait for the next item."""

    ended: bool = False

    failure: StoreError | None = None
    """Why it has ended; `None` for the end of the channel."""

    token: int = 0
    """The highest token of a publisher."""

    fragments: OpenFragments = attrs.field(factory=OpenFragments)

    items: list[Record | Frame] = attrs.field(factory=list[Record | Frame])
    """The last items; empty without subscribers."""

    next: int = 0
    """Index of the next item: they are counted from the first, also without subscribers."""

    size: int = 0
    """Length of the text in `items`."""

    seen: int = 0
    """Index of the item that was next when old items were dropped last."""

    pending: list[tuple[int, list[LiveEvent]]] = attrs.field(factory=list[tuple[int, list[LiveEvent]]])
    """Published events that were not flushed, with the `seq` of the record before them."""

    pending_size: int = 0

    timer: asyncio.TimerHandle | None = None
    """Flushes the pending events."""

    is_reading: bool = False
    """Whether a task reads what the topic lacks."""

    quiet: bool = True
    """Whether nothing was published here since the last look at the store."""

    @property
    def first(self) -> int:
        """Index of the first of `items`."""
        return self.next - len(self.items)

    @property
    def is_idle(self) -> bool:
        """Whether it has no subscribers and nothing is open."""
        return not (self.watchers or self.fragments or self.pending or self.is_reading)

    def is_ended(self) -> bool:
        """Return whether the subscriptions have ended; raise if by a failure."""
        if self.failure is not None:
            raise self.failure
        return self.ended

    def admits(self, token: int) -> bool:
        """Return whether *token* is current. A higher one becomes it, and what the old owner had open is dropped."""
        if token > self.token:
            self.token = token
            self.forget_open()
        return token == self.token

    def collect(self, events: list[LiveEvent], after: int) -> None:
        """Keep live events, in a list of their own, until they are flushed."""
        if self.pending and self.pending[-1][0] == after:
            self.pending[-1][1].extend(events)
        else:
            self.pending.append((after, events))
        self.pending_size += _size(events)

    @property
    def claimed_seq(self) -> int:
        """The highest `seq` that a publisher has named: the log is not shorter."""
        return max([self.seq or 0, *[after for after, _ in self.pending]])

    def flush(self) -> None:
        """Emit the pending events; those that follow a record that is not known yet stay pending."""
        pending, self.pending, self.pending_size = self.pending, [], 0
        for after, events in pending:
            if after <= (self.seq or 0):
                self.add_live(events, after)
            else:
                self.pending.append((after, events))

    def add_live(self, events: Sequence[LiveEvent], after: int) -> None:
        """Emit live events that follow the record *after*."""
        seq, joined = self.seq or 0, join_deltas(events)
        for piece in _pieces(joined):  # each with an index of its own
            if new := self.fragments.add(piece, self.next, after=after, is_last=after == seq):
                self._add_frame(new, seq, _size(new))
        self._trim()

    def add_records(self, records: Sequence[Record]) -> None:
        """Emit the next records, one at least, each behind what it ends and was not emitted."""
        apply, is_watched, items = self.fragments.apply, self.watchers > 0, self.items
        for record in records:
            rest = apply(record)
            if is_watched:
                if rest is not None:
                    for piece in (rest,) if len(rest.delta) <= _MAX_FRAME_SIZE else _cut(rest):
                        self._add_frame((piece,), record.seq - 1, len(piece.delta))
                items.append(record)
        self.next += len(records)
        self.seq, self.last = records[-1].seq, place_of(records[-1])
        self._trim()

    def forget_open(self) -> None:
        """Forget what is open and pending."""
        self.fragments = OpenFragments()
        self.pending, self.pending_size = [], 0

    def skip_to(self, seq: int) -> None:
        """Continue after *seq*: the records before it have been pruned. Nothing where another look has read further."""
        if seq <= (self.seq or 0):
            return
        self.seq, self.last = seq, None
        self.forget_open()
        self.next += 1
        self.drop_items()

    def drop_old_items(self) -> None:
        """Drop the items that were there at the last call: a subscriber that still lacks one has fallen behind."""
        self._drop(max(0, self.seen - self.first))
        self.seen = self.next

    def drop_items(self) -> None:
        """Drop the items, so that no subscriber continues with them."""
        self.items, self.size = [], 0

    def end(self, failure: StoreError | None = None) -> None:
        """End all subscriptions."""
        self.ended, self.failure = True, failure
        if self.timer is not None:
            self.timer.cancel()
        self._wake()

    def _add_frame(self, events: Sequence[LiveEvent], after: int, size: int) -> None:
        self.next += 1
        if self.watchers:
            self.items.append(_frame(session_id=self.session_id, after=after, events=tuple(events)))
            self.size += size

    def _trim(self) -> None:
        """Drop old items beyond the limits, and wake the subscribers that wait for new ones."""
        if len(self.items) > 2 * _MAX_ITEMS:
            self._drop(len(self.items) - _MAX_ITEMS)
        while self.size > _MAX_SIZE:
            self._drop(1)
        self._wake()

    async def change(self) -> None:
        """Wait for the next item, or the end."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            with suppress(ValueError):
                self.waiting.remove(waiter)
            raise

    def _wake(self) -> None:
        if not self.waiting:
            return
        waiting, self.waiting = self.waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def _drop(self, count: int) -> None:
        oldest, self.items = self.items[:count], self.items[count:]
        self.size -= sum([_size(item.events) for item in oldest if isinstance(item, Frame)])


def _pieces(events: Sequence[LiveEvent]) -> Sequence[Sequence[LiveEvent]]:
    """Cut events into the contents of frames."""
    if _size(events) <= _MAX_FRAME_SIZE:
        return (events,)
    pieces: list[list[LiveEvent]] = [[]]
    size = 0
    parts = [(event,) if isinstance(event, ToolProgress) else _cut(event) for event in events]
    for part in chain.from_iterable(parts):
        size += _size((part,))
        if pieces[-1] and size > _MAX_FRAME_SIZE:
            pieces.append([])
            size = _size((part,))
        pieces[-1].append(part)
    return pieces


def _cut(delta: DeltaEvent) -> Iterator[DeltaEvent]:
    for start in range(0, len(delta.delta), _MAX_FRAME_SIZE):
        yield cut_delta(delta, start, start + _MAX_FRAME_SIZE)


def _size(events: Sequence[LiveEvent]) -> int:
    size = 0
    for event in events:
        if not isinstance(event, ToolProgress):
            size += len(event.delta)
    return size
