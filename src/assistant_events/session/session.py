"""Sessions for apps with an event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Coroutine, Iterable
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Self, TypeVar, final, overload

from assistant_events.events import DurableEvent, Event, PromptSubmitted, Record, UnknownEvent
from assistant_events.messages import UserMessage
from assistant_events.session.chunks import Disconnect, Read, async_reader
from assistant_events.session.core import Core, Meta, Request, Script, perform
from assistant_events.session.event_stream import CloseState, EventGenerator, EventStream
from assistant_events.session.receiver import Answer, AsyncAnswer, Decoder, StreamReceiver, not_an_answer
from assistant_events.stores import AsyncStore, Store
from assistant_events.values import ContentInput, as_content

_T = TypeVar("_T")

_log = logging.getLogger("assistant_events.session")


@final
class Session(Core):
    """
    One conversation in a store: its `transcript`, and the operations that continue it.

    Appended and received events are stored before the transcript changes, directly after the records that this session
    knows. If another writer has appended meanwhile, `ConflictError` is raised; the session stays usable, and `refresh`
    reads the new records.

    Tasks of one event loop may share a session: their batches are stored one after another. When a task is cancelled, a
    batch that is being stored is completed, and the transcript updated, before `CancelledError` propagates.

    Create one with `open`.
    """

    _closing = "with its `aclose()` or `async with`"

    def __init__(self, store: Store | AsyncStore, session_id: str, *, snapshot_every: int | None = None) -> None:
        super().__init__(session_id, snapshot_every)
        self._store = store
        self._lock = asyncio.Lock()
        self._left: list[tuple[EventGenerator, CloseState]] = []
        self._settling = asyncio.Lock()
        self._settlers: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, store: Store | AsyncStore, session_id: str, *, snapshot_every: int | None = None) -> Self:
        """
        Open a session: read its snapshot, if there is one, and the records after it.

        Args:
            store: Where the session is stored. An `AsyncStore` runs in its own thread, any other in the threads of the
                event loop; neither blocks the loop.

            session_id: Any non-empty string. An unknown session is empty; its first batch creates it.

            snapshot_every: Store a snapshot after this many records since the last one, so that opening stays fast.
                `None` stores none. A refused snapshot is only logged.

        Raises:
            StoreError: The store could not be read.
        """
        session = cls(store, session_id, snapshot_every=snapshot_every)
        await session._run(session._opening())
        return session

    async def append(self, *events: DurableEvent | UnknownEvent, meta: Meta = None) -> tuple[Record, ...]:
        """
        Store *events* as one batch, all or none, and return their records.

        Duplicates of stored events are skipped, so appending is idempotent.

        Args:
            events: Durable events.

            meta: Data of the app, stored with each record; empty by default.

        Raises:
            LocalProtocolError: An event is live, or out of place in the transcript. Nothing was stored.

            ConflictError: Another writer has appended meanwhile. Nothing was stored; call `refresh` and decide again.

            StoreError: The store failed.
        """
        await self._settle()
        return await self._run(self._appending(lambda: self._admitted(events), meta))

    async def prompt(self, content: ContentInput, *, message_id: str | None = None, meta: Meta = None) -> UserMessage:
        """
        Append a prompt of the user, and return the message.

        Args:
            content: A string, one content, or several, as for `as_content`.

            message_id: Id of the message; a new one by default. With an id from the app, prompting is idempotent.

            meta: See `append`.

        Raises:
            LocalProtocolError: Another message has this id.

            ConflictError, StoreError: See `append`.
        """
        name = self.new_id() if message_id is None else message_id
        await self.append(PromptSubmitted(message_id=name, content=as_content(content)), meta=meta)
        return self._prompt(name)

    @overload
    def receive(self, decoder: AsyncAnswer, *, meta: Meta = None) -> EventStream: ...

    @overload
    def receive(
        self, decoder: Decoder, chunks: AsyncIterable[object] | Iterable[object], *, meta: Meta = None
    ) -> EventStream: ...

    def receive(
        self,
        decoder: Decoder | AsyncAnswer,
        chunks: AsyncIterable[object] | Iterable[object] | None = None,
        *,
        meta: Meta = None,
    ) -> EventStream:
        """
        Feed *chunks* to *decoder*, store the durable events, and iterate over all events.

        The durable events of a chunk are stored as one batch before any event of it is yielded. Events that would not
        apply, such as the end of a call that the app has answered already, are neither stored nor yielded.

        Failures of the provider and the transport are not raised: a broken stream closes the message with an error
        (`transcript.last.error`). Failures of the store are raised, and the events are kept: call `refresh`, then
        receive the same decoder and the rest of the chunks again.

        Leaving before the end closes the message as `aborted` and keeps the content so far. With `async with`, the
        closed message is stored when the block is left in any way:

            async with session.receive(decoder, chunks) as events:
                async for event in events:
                    ...

        A plain `async for` does the same when it is cancelled while it waits for the next event. When its body is left
        (`break`, `return`, an exception, a cancellation there), nothing can be awaited: the event loop closes the
        message soon afterwards, at the latest with the next `append`, `prompt`, `receive`, `refresh` or `reconcile` of
        this session. A decoder that rejoins the message continues it instead. If the store is closed first, the message
        stays running in the log, as after a crash: `reconcile` or rejoin it.

        A message that has ended is not changed.

        Args:
            decoder: A new decoder for a new message, or one with `transcript[message_id]` as its `prior`, to rejoin
                that. Or, without *chunks*, the answer of a client (`RunStream`): its connection is closed at the end,
                and when the iteration is left.

            chunks: An iterable, asynchronous or not, of bytes split anywhere, or of parsed events (mappings, objects of
                an SDK); a single bytes object is one chunk. It is read until the answer has ended. A generator is
                closed then, and when the iteration is left, but not when the store has raised, so that the rest can be
                received; otherwise close it with `contextlib.aclosing`. Other iterables are not closed.

            meta: See `append`.

        Raises:
            TypeError: *chunks* is something else.

            LocalProtocolError: The message exists already and the decoder does not rejoin it, or another iterator
                receives it.

            ConflictError: Another writer has appended meanwhile.

            StoreError: The store failed.
        """
        close_state = CloseState()
        events = self._receive(*self._source(decoder, chunks), meta, close_state)
        return EventStream(events, close_state, self._abandoned)

    async def refresh(self) -> tuple[Record, ...]:
        """
        Read the records of other writers, and return those that are new to this session.

        Raises:
            StoreError: The store could not be read.
        """
        records = await self._run(self._reading())
        # After reading, so that it does not conflict with the new records.
        await self._settle()
        return records

    async def reconcile(
        self, *, abandon_calls: bool = False, abandon_runs: bool = False, meta: Meta = None
    ) -> tuple[Record, ...]:
        """
        Close abandoned messages, for example after a restart, and return the records.

        Messages that this session receives are not changed. Nothing is run again.

        Args:
            abandon_calls: Fail the client calls without a result; by default they stay open.

            abandon_runs: Close running steps even when their run can be resumed; by default they stay open.

            meta: See `append`.

        Raises:
            ConflictError, StoreError: See `append`.
        """
        await self._settle()
        return await self._run(
            self._appending(lambda: self._unsettled(abandon_calls=abandon_calls, abandon_runs=abandon_runs), meta)
        )

    async def snapshot(self) -> None:
        """
        Store a snapshot at `seq`, so that the next `open` reads only the records after it.

        Raises:
            StoreError: The session is empty, or the store has a newer snapshot.
        """
        await self._run(self._snapshotting())

    def _source(
        self, decoder: Decoder | AsyncAnswer, chunks: AsyncIterable[object] | Iterable[object] | None
    ) -> tuple[Answer, Read, Disconnect]:
        if chunks is not None:
            return decoder, *async_reader(chunks)
        if not isinstance(decoder, AsyncAnswer):
            raise not_an_answer(decoder)
        return decoder, decoder.read, decoder.aclose

    async def _receive(
        self, answer: Answer, read: Read, disconnect: Disconnect, meta: Meta, close_state: CloseState
    ) -> EventGenerator:
        await self._settle(rejoining=answer.message_id)
        receiver = self._begin(answer)
        close_state.receiver = receiver
        try:
            while True:
                for event in await self._store_pending(receiver, meta):
                    yield event
                if receiver.finished:
                    return
                try:
                    item = await read()
                except StopAsyncIteration:
                    receiver.end()
                except Exception as error:  # noqa: BLE001 - becomes the error of the message
                    receiver.fail(error)
                else:
                    receiver.take(item)
        except BaseException as reason:
            if not receiver.parked and not close_state.rejoined:
                await self._abort(receiver, reason, meta, awaited=close_state.awaited)
            raise
        finally:
            self._leave(receiver)
            if not receiver.parked:
                await _to_the_end(disconnect())

    async def _abort(self, receiver: StreamReceiver, reason: BaseException, meta: Meta, *, awaited: bool) -> None:
        receiver.abort(reason)
        try:
            await self._store_pending(receiver, meta)
        except Exception as error:  # noqa: BLE001 - raised, added to the propagating exception, or logged
            if awaited or not isinstance(reason, GeneratorExit):
                self._not_closed(receiver, error, reason)
            else:
                self._log_running(receiver, error)

    def _abandoned(self, events: EventGenerator, close_state: CloseState, loop: asyncio.AbstractEventLoop) -> None:
        """Keep a stream whose iterator was collected, to close it later. Called in any thread, at any moment."""
        # The reference prevents the finalization of the generator in a task whose errors cannot be caught.
        self._left.append((events, close_state))
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._settle_soon)

    def _settle_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self._settle())
        self._settlers.add(task)
        task.add_done_callback(self._settlers.discard)

    async def _settle(self, *, rejoining: str | None = None) -> None:
        """Close the messages of abandoned streams, except one that is about to be rejoined."""
        if not self._left:
            return
        async with self._settling:
            while self._left:
                events, close_state = left = self._left[0]
                close_state.rejoined = (
                    close_state.receiver is not None and rejoining in close_state.receiver.message_ids
                )
                try:
                    await events.aclose()
                except Exception:  # noqa: BLE001 - a bug of the decoder, which does not concern the caller
                    _log.exception("session %r: a stream that was left could not be closed", self.session_id)
                finally:
                    self._left.remove(left)

    async def _store_pending(self, receiver: StreamReceiver, meta: Meta) -> list[Event]:
        # Live events do not wait for the store: no batch depends on them.
        return await self._run(self._storing(receiver, meta)) if receiver.has_durable else receiver.pass_live()

    async def _run(self, script: Script[_T]) -> _T:
        return await _to_the_end(self._run_alone(script))

    async def _run_alone(self, script: Script[_T]) -> _T:
        async with self._lock:
            try:
                request = next(script)
                while True:
                    try:
                        answer = await self._perform(request)
                    except BaseException as error:  # noqa: BLE001 - handled by the script
                        request = script.throw(error)
                    else:
                        request = script.send(answer)
            except StopIteration as result:
                returned: _T = result.value
                return returned

    async def _perform(self, request: Request) -> Any:
        # Any: see `Script`.
        if isinstance(self._store, AsyncStore):
            answer = self._store.submit(perform, self._store.store, request)
        else:
            store, context = self._store, copy_context()
            answer = asyncio.get_running_loop().run_in_executor(None, lambda: context.run(perform, store, request))
        # A future, not a task: `asyncio.run` cancels all tasks at its end, but not this.
        while not answer.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait((answer,))
        return answer.result()


async def _to_the_end(work: Coroutine[Any, Any, _T]) -> _T:
    """Await *work* to its end even when this task is cancelled meanwhile; then raise `CancelledError`."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled() and (failure := task.exception()) is not None:
        cancelled.add_note(f"meanwhile the store raised {failure!r}")
    raise cancelled
