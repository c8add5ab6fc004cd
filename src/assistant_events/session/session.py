"""Sessions for apps with an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from datetime import datetime
from typing import Any, Self, TypeVar, Unpack, cast, final

from assistant_events.errors import LocalProtocolError
from assistant_events.events import DurableEvent, LiveEvent, UnknownEvent
from assistant_events.session.answers import Client, api_of, async_source
from assistant_events.session.core import Core
from assistant_events.session.options import Meta, Records, SessionOptions
from assistant_events.session.publisher import FLUSH_S
from assistant_events.session.streams import EventStream, finished, to_the_end
from assistant_events.stores import AsyncStore, Store
from assistant_events.stores.contract import never_waits
from assistant_events.values import ContentInput

_T = TypeVar("_T")


@final
class Session(Core[EventStream]):
    """
    One conversation in a store: its `transcript`, and the operations that continue it.

    Events are stored before the transcript changes, and verbs return the records. If another writer has appended
    meanwhile, the session reads the new records and appends again, unless they touch what it writes.

    Tasks of one event loop may share a session, and after its end those of another one. When a task is cancelled, a
    batch that is being stored is completed, and the transcript updated, before `CancelledError` propagates.
    """

    _open_with = "await Session.open"
    _source = staticmethod(async_source)
    _stream_class = EventStream
    _where: Store | AsyncStore
    _loop: asyncio.AbstractEventLoop | None = None
    _lock: asyncio.Lock
    _never_waits: bool
    _writing: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, store: Store | AsyncStore, session_id: str, **options: Unpack[SessionOptions]) -> Self:
        """
        Open a session: read its snapshot, if there is one, the records after it, and checkpoints of open fragments.

        Args:
            store: Where the session is stored. An `AsyncStore` runs in its own thread, any other in the threads of the
                event loop, and one that never waits, as `MemoryStore`, in the loop itself: nothing blocks it.

            session_id: Any non-empty string. An unknown session is empty; its first batch creates it.

            options: See `SessionOptions`.

        Every method raises `StoreError` when the store fails.
        """
        session = cls._new(store, session_id, options)
        session._where, session._never_waits = store, never_waits(store)
        await session._alone(session._open())
        return session

    @property
    def worker(self) -> str | None:
        """The worker that the session was opened for; `None` without one."""
        return self._worker

    @property
    def ended_by_others(self) -> bool:
        """Whether another writer has ended an answer that is received here; while its provider is silent, so is it."""
        return self._receivers.ended_by_others

    @asynccontextmanager
    async def claimed(self) -> AsyncGenerator[None]:
        """
        Hold the claim of the session for a block: `respond` and what `append` writes in it belong to one claim.

        What `prompt`, `rewind`, `regenerate` and `edit` write needs no claim. A stream that the store has cut is closed
        at the end of the block, and cannot be entered again. Without a worker nothing is claimed.

        Raises:
            ClaimedError: Another living worker holds the session.

            StoreError: The claim could not be released. It ends with the next one of this worker, or with its death.
        """
        try:
            await self._hold(held=True)
            yield
        finally:
            try:
                await self._receivers.abandon()
            finally:
                failure = await self._hold(held=False)
        if failure is not None:
            raise failure

    async def append(
        self, *events: DurableEvent | UnknownEvent, at: datetime | None = None, meta: Meta = None
    ) -> Records:
        """
        Store *events* as one batch, all or none.

        Duplicates of stored events are skipped, so appending is idempotent.

        Args:
            events: Durable events.

            at: Time of the records in UTC; by default that of the store's clock.

            meta: Data of the app, stored with each record; empty by default.

        Raises:
            LocalProtocolError: An event is live, or out of place in the transcript. Nothing was stored.

            ConflictError: Another writer has written a message of *events* meanwhile, even if just the same. Nothing
                was stored, and the transcript has the new records: decide again.
        """
        return await self._alone(self._append(lambda: events, meta, at=at))

    async def prompt(
        self,
        content: ContentInput,
        *,
        message_id: str | None = None,
        abandon_calls: bool = False,
        meta: Meta = None,
    ) -> Records:
        """
        Append a prompt of the user.

        Args:
            content: A string, one content, or several, as for `as_content`.

            message_id: Id of the message; a new one by default. With an id from the app, prompting is idempotent.

            abandon_calls: Fail the client calls without a result in the same batch; the model is not asked before all
                have one.

            meta: See `append`.

        Raises:
            TypeError, ValueError: *content* is empty, or not a prompt.

            LocalProtocolError: Another message has this id.
        """
        return await self._alone(self._prompt(content, message_id, meta, abandon_calls=abandon_calls))

    async def rewind(self, message_id: str, *, last: bool = False, meta: Meta = None) -> Records:
        """
        Remove a message and all after it from the transcript; the log keeps them. Raises as `append` does.

        With *last* it is closed first, in the same batch; nothing is done when another writer has appended a message
        behind it meanwhile, or while it is received here.
        """
        return await self._alone(self._rewind(message_id, meta, last=last))

    async def regenerate(self, message_id: str, *, meta: Meta = None) -> Records:
        """
        Rewind an answer, for `respond` to make another one.

        One that is written meanwhile, as by its own turn, is removed all the same.

        Raises:
            LocalProtocolError: The answer does not exist, also as another writer has removed it meanwhile.

            ConflictError: Others have written again and again. Nothing was stored.
        """
        return await self._alone(self._regenerate(message_id, meta))

    async def edit(
        self, message_id: str, content: ContentInput, *, new_message_id: str | None = None, meta: Meta = None
    ) -> Records:
        """Replace a prompt and all after it by another one, in one batch. Raises as `append` and `prompt` do."""
        return await self._alone(self._edit(message_id, content, new_message_id, meta))

    async def refresh(self) -> Records:
        """Read the records of other writers, and return those that are new to this session."""
        return await self._alone(self._refresh())

    async def reconcile(self, *, abandon_calls: bool = False, abandon_runs: bool = False, meta: Meta = None) -> Records:
        """
        Close abandoned messages, for example after a restart. Nothing is run again.

        Args:
            abandon_calls: Fail the client calls without a result; by default they stay open.

            abandon_runs: Close running steps even when their run can be resumed, and leave no run to resume where the
                last answer was cut; by default both stay.

            meta: See `append`.
        """
        return await self._alone(self._reconcile(meta, abandon_calls=abandon_calls, abandon_runs=abandon_runs))

    async def stop(self, client: Client | None = None, *, meta: Meta = None) -> Records:
        """
        Stop the turn: close the answer that runs as `cancelled`, or fail the calls without a result so.

        Any process may do so. Where the answer is received, its block ends without an exception, at the latest with the
        next batch. Where a move would be left, for a prompt or for the calls, an empty answer is cancelled: then it is
        the user's move, and what was cancelled cannot be resumed. While it is the user's move nothing happens.

        Args:
            client: Also stops a run at the provider that is not received here; a failure is logged.

            meta: See `append`.
        """
        if client is not None:
            api_of(client)
        return await to_the_end(self._stop(client, meta))

    async def show(self, *events: LiveEvent) -> None:
        """Apply live events of the app, such as the progress of a call, to the transcript. They are not stored."""
        await self._alone(self._show(events))

    async def snapshot(self) -> None:
        """Store a snapshot at `seq`, so that the next `open` reads only the records after it."""
        await self._alone(self._snapshot())

    def _has_streamed(self, deltas: Sequence[LiveEvent]) -> None:
        loop, timers = self._running_loop(), self._timers
        if self._publisher is not None and timers.flush is None:
            timers.flush = loop.call_later(FLUSH_S, self._flush)
        if self._checkpoint_s is not None and timers.checkpoint is None:
            timers.checkpoint = loop.call_later(self._checkpoint_s, self._write_checkpoint)
        timers.are_set = True

    def _flush(self) -> None:
        self._timers.flush, self._timers.are_set = None, False
        if self._publisher is not None:
            self._publisher.flush()

    def _write_checkpoint(self) -> None:
        self._timers.checkpoint, self._timers.are_set = None, False
        if self._writing is not None and not self._writing.done():
            # Those that wait would be in front of everything else that the session is asked for.
            self._has_streamed(())
        elif self._checkpointed.is_behind():
            self._writing = asyncio.create_task(self._alone(self._checkpoint()))

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        """Return the event loop; after the end of an earlier one, what waited there is made anew."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop and self._loop is not None and self._loop.is_running():
            raise LocalProtocolError(
                f"session {self._session_id!r} is used in another event loop, which still runs; "
                "from a thread use asyncio.run_coroutine_threadsafe"
            )
        if loop is not self._loop:
            self._loop, self._lock = loop, asyncio.Lock()
            self._timers.flush = self._timers.checkpoint = self._writing = None
            self._timers.are_set = False
        return loop

    async def _alone(self, work: Coroutine[Any, Any, _T]) -> _T:
        # Any: see `Core`.
        if self._never_waits:
            return finished(work)  # at once: no other operation comes between, and no cancellation
        try:
            self._running_loop()
        except LocalProtocolError:
            work.close()
            raise

        async def alone() -> _T:
            async with self._lock:
                return await work

        return await to_the_end(alone())

    async def _call(self, request: Callable[[Store], _T]) -> _T:
        where = self._where
        if self._never_waits:
            return request(cast("Store", where))
        if isinstance(where, AsyncStore):
            answer = where.submit(request, where.store)
        else:
            context = copy_context()
            answer = asyncio.get_running_loop().run_in_executor(None, lambda: context.run(request, where))
        # A future, not a task: `asyncio.run` cancels all tasks at its end, but not this.
        while not answer.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait((answer,))
        return answer.result()
