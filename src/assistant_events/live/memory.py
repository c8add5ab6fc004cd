"""A live channel in the memory of one process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from threading import get_ident
from typing import Any, Final, Self, TypeVar, cast, final

from assistant_events.errors import LocalProtocolError, PrunedError, StoreError
from assistant_events.events import DeltaEvent, Frame, LiveEvent, Record
from assistant_events.live.topic import FLUSH_SIZE, Place, Topic, place_of
from assistant_events.messages import Awaits
from assistant_events.stores import AsyncStore, Store
from assistant_events.stores.checks import check_read
from assistant_events.stores.contract import never_waits
from assistant_events.values.arguments import check_seconds, check_store
from assistant_events.values.credentials import error_text

_T = TypeVar("_T")

_PAGE: Final = 256
"""Number of records per read."""

_SLICE: Final = 64
"""Number of items that a subscriber takes at once."""

_log = logging.getLogger("assistant_events.live")


@final
class MemoryLive:
    """
    The live channel of an app of one process, or of several on one database; see `Live` for the contract.

    It is open within its `async with` block, for subscribers in the same event loop. Sessions in other threads may
    publish, too. Outside of the block published items are dropped; its end ends all subscriptions.

        async with MemoryLive(store) as live:
            session = await Session.open(store, "s1", live=live)

    Args:
        store: The store of the sessions.

        flush_s: Seconds for which live events are collected before they are emitted as one frame.

        poll_s: Seconds between reads of the store for what other processes have written, and for logs that were
            deleted; `None` for none, in an app of one process that calls `refresh` after it has deleted a log.
    """

    def __init__(self, store: Store | AsyncStore, *, flush_s: float = 0.05, poll_s: float | None = 0.5) -> None:
        check_store(store)
        check_seconds("flush_s", flush_s)
        if poll_s is not None:
            check_seconds("poll_s", poll_s)
        self._store = store if isinstance(store, AsyncStore) or never_waits(store) else AsyncStore(store)
        self._flush_s = flush_s
        self._poll_s = poll_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._topics: dict[str, Topic] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        if self._loop is not None:
            raise LocalProtocolError("the channel is open already")
        self._loop, self._thread = asyncio.get_running_loop(), get_ident()
        if self._poll_s is not None:
            self._start(self._poll(self._poll_s))
        return self

    async def __aexit__(self, *_exception: object) -> None:
        self._loop = None
        topics, self._topics = self._topics, {}
        for topic in topics.values():
            topic.end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if isinstance(self._store, AsyncStore):
            await self._store.drain()

    # -- publishing

    def publish(
        self, session_id: str, items: Iterable[Record | LiveEvent], *, after: int, token: int | None = None
    ) -> None:
        """See `Live.publish`."""
        loop = self._loop
        if loop is None:
            return
        given = items if isinstance(items, list) else list(items)
        if get_ident() == self._thread:
            self._take(session_id, given, after, token)
        else:
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(self._take, session_id, given, after, token)

    async def refresh(self, session_id: str) -> None:
        """Read the log of a session now: its subscriptions give what others have written, or end where it is gone."""
        topic = self._topics.get(session_id)
        if topic is not None:
            await self._look_safely(topic)

    def _take(self, session_id: str, items: list[Record | LiveEvent], after: int, token: int | None) -> None:
        if self._loop is None:
            return
        topic = self._topic(session_id)
        if token is not None and not topic.admits(token):
            return
        if topic.seq is None:
            topic.seq = after
        self._collect(topic, items, after)
        if topic.pending_size >= FLUSH_SIZE:
            self._flush(topic)
        elif topic.pending and topic.timer is None and topic.watchers:
            topic.timer = self._loop.call_later(self._flush_s, self._flush, topic)
        if not topic.watchers:
            self._forget_idle(topic)

    def _collect(self, topic: Topic, items: list[Record | LiveEvent], after: int) -> None:
        # After a pause, in which another process may have begun the log anew, watched ones are looked at.
        is_stale, topic.quiet = topic.quiet and topic.watchers > 0, False
        for cls, run in groupby(items, type):
            if cls is not Record:
                topic.collect(list(cast("Iterator[LiveEvent]", run)), after)
                continue
            records = list(cast("Iterator[Record]", run))
            self._add_records(topic, records, is_stale=is_stale)
            after = records[-1].seq

    def _add_records(self, topic: Topic, records: Sequence[Record], *, is_stale: bool) -> None:
        if topic.pending:
            self._flush(topic)
        known = topic.seq or 0
        if records[0].seq <= known:
            if any(record.seq == known and topic.last not in {None, place_of(record)} for record in records):
                self._end(topic)
                return
            records = [record for record in records if record.seq > known]
            if not records:
                return
        if is_stale or [record.seq for record in records] != list(range(known + 1, known + 1 + len(records))):
            self._catch_up(topic)  # or others have appended before them
        else:
            topic.add_records(records)

    def _flush(self, topic: Topic) -> None:
        if topic.timer is not None:
            topic.timer.cancel()
            topic.timer = None
        topic.flush()
        if topic.pending:
            self._catch_up(topic)

    # -- subscribing

    async def subscribe(self, session_id: str, after: int = 0) -> AsyncGenerator[Record | Frame]:
        """See `Live.subscribe`. Raises `LocalProtocolError` outside of the block of the channel."""
        if self._loop is None:
            raise LocalProtocolError("open the channel first: `async with MemoryLive(store) as live`")
        check_read(session_id, after, None)
        topic = self._topic(session_id)
        topic.watchers += 1
        try:
            await self._join(topic, after)
            seq, index = after, -1  # of the last record, and of the next item
            while not topic.is_ended():
                if index >= topic.next:
                    await topic.change()
                elif index >= topic.first:
                    start = index - topic.first
                    given = topic.items[start : start + _SLICE]
                    for item in given:
                        yield item
                    index += len(given)
                    last = given[-1]
                    seq = last.seq if isinstance(last, Record) else last.after
                elif seq < (topic.seq or 0):  # joins, or has fallen behind
                    for record in await self._read(topic, seq):
                        seq = record.seq
                        yield record
                else:
                    missing = topic.fragments.missing(None if index < 0 else index)
                    index = topic.next
                    if missing:
                        yield Frame(session_id=session_id, after=seq, events=missing)
        finally:
            topic.watchers -= 1
            if not topic.watchers:
                topic.drop_items()
            self._forget_idle(topic)

    async def _join(self, topic: Topic, after: int) -> None:
        await self._look(topic)
        if after > (topic.seq or 0):
            raise StoreError(f"session {topic.session_id!r}: its log ends at {topic.seq}, before {after}")

    def _topic(self, session_id: str) -> Topic:
        topic = self._topics.get(session_id)
        if topic is None:
            topic = self._topics[session_id] = Topic(session_id)
        return topic

    def _forget_idle(self, topic: Topic) -> None:
        if topic.is_idle and self._topics.get(topic.session_id) is topic:
            del self._topics[topic.session_id]

    # -- reading the store

    async def _call(self, request: Callable[[Store], _T]) -> _T:
        store = self._store
        return await store.run(request, store.store) if isinstance(store, AsyncStore) else request(store)

    async def _read(self, topic: Topic, after: int) -> list[Record]:
        """Return records after *after*, where there were some; new ones are emitted to all subscribers."""
        name, last = topic.session_id, topic.last
        records, is_same = await self._call(
            lambda store: (
                list(store.read(name, after, limit=_PAGE)),
                last is None or _place(store, name, last[0], last) == last,
            )
        )
        if not is_same or not records:
            raise self._end(topic)
        for record in records:
            if record.seq == (topic.seq or 0) + 1:
                topic.flush()
                topic.add_records((record,))
        return records

    async def _look(self, topic: Topic) -> None:
        """Read what is new in the store: records, and the checkpoints of what other processes receive."""
        name = topic.session_id

        def look(store: Store) -> tuple[int, list[DeltaEvent], int, Place | None]:
            before, pieces, seq = store.seq(name), list(store.load_checkpoints(name)), store.seq(name)
            return before, pieces, seq, _place(store, name, seq if last is None else last[0], last)

        while not topic.ended:
            known, last = topic.claimed_seq, topic.last
            before, pieces, seq, found = await self._call(look)
            if topic.seq is None:
                topic.seq = seq
            if seq < known or (last is not None and found != last):
                raise self._end(topic)
            if topic.last is None and found is not None and found[0] == topic.seq:
                topic.last = found
            while topic.seq < seq:
                try:
                    await self._read(topic, topic.seq)
                except PrunedError:
                    topic.skip_to(seq)
            if before == seq:
                topic.add_live(pieces, seq)
                break
        topic.flush()

    def _end(self, topic: Topic) -> StoreError:
        """End the subscriptions of a log that is not there any more, and return their failure."""
        name = topic.session_id
        failure = StoreError(
            f"session {name!r}: its log is not the one that ended at {topic.seq}: deleted, or restored"
        )
        topic.end(failure)
        if self._topics.get(name) is topic:
            del self._topics[name]
        return failure

    def _catch_up(self, topic: Topic) -> None:
        if not topic.is_reading:
            topic.is_reading = True
            self._start(self._look_safely(topic)).add_done_callback(lambda _task: self._has_read(topic))

    def _has_read(self, topic: Topic) -> None:
        topic.is_reading = False
        self._forget_idle(topic)

    async def _look_safely(self, topic: Topic) -> None:
        """Look at the store; a failure is logged, and the next look comes with the next time."""
        try:
            await self._look(topic)
        except StoreError as error:
            if topic.failure is None:  # that is raised by its subscriptions
                _log.warning("session %r: its log could not be read: %s", topic.session_id, error)

    async def _poll(self, every_s: float) -> None:
        def look(store: Store) -> tuple[dict[str, int], Collection[str]]:
            unfinished = store.unfinished().items()
            return store.seqs(names), {name for name, left in unfinished if left[0].awaits is Awaits.PROVIDER}

        names, is_failing = list[str](), False
        while True:
            await asyncio.sleep(every_s)
            topics = [topic for topic in self._topics.values() if topic.watchers or topic.quiet]
            names = [topic.session_id for topic in topics]
            for topic in topics:
                topic.drop_old_items()
            for topic in self._topics.values():
                topic.quiet |= not topic.watchers  # then another process may end what is open in it
            try:
                seqs, running = await self._call(look)
            except Exception as error:  # noqa: BLE001 - a store of others may raise anything; the next read may succeed
                if not is_failing:
                    _log.warning("the store could not be read, and is tried again: %s", error_text(error))
                is_failing = True
                continue
            is_failing = False
            for topic in topics:
                # Only another process can be streaming an answer of which nothing is published here.
                is_streaming = topic.quiet and topic.session_id in running
                topic.quiet = True
                if is_streaming or seqs[topic.session_id] != topic.seq:
                    await self._look_safely(topic)
                    self._forget_idle(topic)

    # Any: what a coroutine exchanges with its event loop.
    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _place(store: Store, name: str, seq: int, pruned: Place | None) -> Place | None:
    """Return the place of the record at *seq* of a log; *pruned* where it has been pruned."""
    try:
        return next(map(place_of, store.read(name, max(seq - 1, 0), limit=1)), None)
    except PrunedError:
        return pruned
