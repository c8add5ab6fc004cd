"""The face of a session for apps with an event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Coroutine, Iterable
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Self, TypeVar, cast, final, overload

from assistant_events.events import DurableEvent, Event, PromptSubmitted, Record, UnknownEvent
from assistant_events.messages import UserMessage
from assistant_events.session.answer_source import AwaitedAnswer, answer_decoder, no_answer
from assistant_events.session.chunks import Disconnect, Read, awaited_reader
from assistant_events.session.core import Core, Meta, Request, Script, perform
from assistant_events.session.event_stream import CloseState, EventGenerator, EventStream
from assistant_events.session.receiver import Decoder, StreamReceiver
from assistant_events.stores import AsyncStore, Store
from assistant_events.values import ContentInput, as_content

_T = TypeVar("_T")

_log = logging.getLogger("assistant_events.session")


@final
class Session(Core):
    """
    One conversation, kept in a store: what it adds up to (`transcript`), and the ways to go on with it.

    Everything that is appended or received is stored before the transcript moves, as the next records after those that
    this session knows. When somebody else has written meanwhile, that is a `ConflictError`; the session stays usable,
    and `refresh` reads what they wrote.

    Tasks of one event loop may share a session: what they append and receive is stored one batch after another. When a
    task is cancelled, a batch on its way into the store still gets there, and the transcript moves, before
    `CancelledError` goes on up.

    Make one with `open`.
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
        Read where a session stands: its snapshot, if there is one, and the records after it.

        Args:
            store: Where the session is kept. An `AsyncStore` works in its own thread, any other in those of the event
                loop, which never waits for it.

            session_id: Any non-empty string. A session that is not known yet is empty; its first batch makes it.

            snapshot_every: Store a snapshot whenever so many records have come since the last one, so that the session
                opens fast however long it grows. `None` stores none. When a snapshot is refused, that is logged and no
                more.

        Raises:
            StoreError: The store could not be read.
        """
        session = cls(store, session_id, snapshot_every=snapshot_every)
        await session._run(session._opening())
        return session

    async def append(self, *events: DurableEvent | UnknownEvent, meta: Meta = None) -> tuple[Record, ...]:
        """
        Store *events* as one batch, all or none, and return their records.

        What is there already, equal, is skipped: appending twice is appending once.

        Args:
            events: Durable events.

            meta: The app's own, kept with each record; nothing by default.

        Raises:
            LocalProtocolError: An event is live, or is out of place in the transcript. Nothing was stored.

            ConflictError: Somebody else has written meanwhile. Nothing was stored; `refresh` and decide again.

            StoreError: The store could not do it.
        """
        await self._settle()
        return await self._run(self._appending(lambda: self._admitted(events), meta))

    async def prompt(self, content: ContentInput, *, message_id: str | None = None, meta: Meta = None) -> UserMessage:
        """
        Append what the user says, and return the message.

        Args:
            content: A string, one content, or several; whatever `as_content` takes.

            message_id: Id of the message; a fresh one by default. With an id of the app's own, saying the same twice is
                saying it once.

            meta: See `append`.

        Raises:
            LocalProtocolError: Another message has this id.

            ConflictError: See `append`.

            StoreError: See `append`.
        """
        name = self.new_id() if message_id is None else message_id
        await self.append(PromptSubmitted(message_id=name, content=as_content(content)), meta=meta)
        return self._prompt(name)

    @overload
    def receive(self, decoder: AwaitedAnswer, *, meta: Meta = None) -> EventStream: ...

    @overload
    def receive(
        self, decoder: Decoder, chunks: AsyncIterable[object] | Iterable[object], *, meta: Meta = None
    ) -> EventStream: ...

    def receive(
        self,
        decoder: Decoder | AwaitedAnswer,
        chunks: AsyncIterable[object] | Iterable[object] | None = None,
        *,
        meta: Meta = None,
    ) -> EventStream:
        """
        Feed *chunks* to *decoder*, store what comes of them, and give the events one by one.

        The durable events of a chunk are stored, as one batch, before any event of it is given, the live ones included.
        Events that would not apply, such as a call's end after the app has answered it, are neither stored nor given.

        What the provider or the transport did does not raise: a stream that breaks closes the message, which then says
        why (`transcript.last.error`). What the store did does raise. What it has not taken is kept: `refresh`, then
        receive the same decoder and the rest of the chunks again.

        Whoever leaves before the end closes the message as `aborted`, what had come is kept. With `async with`, that is
        stored when the block is left, however it is left:

            async with session.receive(decoder, chunks) as events:
                async for event in events:
                    ...

        A plain `async for` is as exact when it is cancelled while it waits for the next event. When its body is left
        (`break`, `return`, an exception, a cancellation there), nothing can be awaited any more: the message is closed
        soon afterwards by the event loop, and at the latest by the next `append`, `prompt`, `receive`, `refresh` or
        `reconcile` of this session. A decoder that rejoins the message goes on with it instead. When the store is
        closed before, the message stays running in the log, as after a crash: `reconcile` or rejoin it.

        A message that has ended stays as it is.

        Args:
            decoder: A new decoder for a new message, or one that has `transcript[message_id]` as its `prior`, to rejoin
                that. Or, alone, what a client gives (`RunStream`): its connection is closed at the end, and when it is
                left.

            chunks: An iterable, asynchronous or not, of bytes cut anywhere, or of parsed events (mappings, objects of
                an SDK); bytes alone are one chunk. It is read until the answer has come to its end. A generator is
                closed then, and when the message is left, but not when the store has raised, so that the rest can be
                received; close that one with `contextlib.aclosing` unless you do. Other iterables are not closed.

            meta: See `append`.

        Raises:
            TypeError: *chunks* is something else.

            LocalProtocolError: The message is there already and the decoder does not rejoin it, or it is being received
                by somebody else, too.

            ConflictError: Somebody else has written meanwhile.

            StoreError: The store could not do it.
        """
        leaving = CloseState()
        events = self._receive(*self._source(decoder, chunks), meta, leaving)
        return EventStream(events, leaving, self._abandoned)

    async def refresh(self) -> tuple[Record, ...]:
        """
        Read what others have written, and return the records that are new here.

        Raises:
            StoreError: The store could not be read.
        """
        records = await self._run(self._reading())
        # After reading: before, it might conflict with what is read.
        await self._settle()
        return records

    async def reconcile(
        self, *, abandon_calls: bool = False, abandon_runs: bool = False, meta: Meta = None
    ) -> tuple[Record, ...]:
        """
        Settle what nobody will end, for example after a restart, and return the records of it.

        Messages that this session is receiving are left alone. Nothing is run again.

        Args:
            abandon_calls: Fail the calls that the app still owes an answer to; by default they stay.

            abandon_runs: Close running steps even when their run can be resumed; by default they stay.

            meta: See `append`.

        Raises:
            ConflictError: See `append`.

            StoreError: See `append`.
        """
        await self._settle()
        return await self._run(
            self._appending(lambda: self._unsettled(abandon_calls=abandon_calls, abandon_runs=abandon_runs), meta)
        )

    async def snapshot(self) -> None:
        """
        Store what the records up to `seq` fold to, so that the next `open` need not read them.

        Raises:
            StoreError: There are no records, or a newer snapshot is there.
        """
        await self._run(self._snapshotting())

    def _source(
        self, decoder: Decoder | AwaitedAnswer, chunks: AsyncIterable[object] | Iterable[object] | None
    ) -> tuple[Decoder, Read, Disconnect]:
        if chunks is not None:
            # cast: only decoders are fed.
            return cast("Decoder", decoder), *awaited_reader(chunks)
        if not isinstance(decoder, AwaitedAnswer):
            raise no_answer(decoder)
        return answer_decoder(decoder, self._receptions), decoder.read, decoder.aclose

    async def _receive(
        self, decoder: Decoder, read: Read, disconnect: Disconnect, meta: Meta, leaving: CloseState
    ) -> EventGenerator:
        await self._settle(rejoining=decoder.message_id)
        reception = self._begin(decoder)
        leaving.reception = reception
        try:
            while True:
                for event in await self._store_gathered(reception, meta):
                    yield event
                if reception.over:
                    return
                try:
                    item = await read()
                except StopAsyncIteration:
                    reception.end()
                except Exception as error:  # noqa: BLE001 - whatever the transport did is an error of the message
                    reception.fail(error)
                else:
                    reception.take(item)
        except BaseException as reason:
            if not reception.stuck and not leaving.rejoined:
                await self._abort(reception, reason, meta, awaited=leaving.awaited)
            raise
        finally:
            self._leave(reception)
            if not reception.stuck:
                await _to_the_end(disconnect())

    async def _abort(self, reception: StreamReceiver, reason: BaseException, meta: Meta, *, awaited: bool) -> None:
        reception.abort(reason)
        try:
            await self._store_gathered(reception, meta)
        except Exception as error:  # noqa: BLE001 - it goes up, or with what goes up, or is logged
            if awaited or not isinstance(reason, GeneratorExit):
                self._not_closed(reception, error, reason)
            else:
                self._log_running(reception, error)

    def _abandoned(self, events: EventGenerator, leaving: CloseState, loop: asyncio.AbstractEventLoop) -> None:
        """Take over a stream whose iterator is gone. Called from wherever Python drops it: any thread, any moment."""
        # Held here, the generator is not finalised by itself, in a task whose errors nobody could await.
        self._left.append((events, leaving))
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._settle_soon)

    def _settle_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self._settle())
        self._settlers.add(task)
        task.add_done_callback(self._settlers.discard)

    async def _settle(self, *, rejoining: str | None = None) -> None:
        """Close the messages whose iterators are gone, except one that is about to be rejoined: that goes on."""
        if not self._left:
            return
        async with self._settling:
            while self._left:
                events, leaving = left = self._left[0]
                leaving.rejoined = leaving.reception is not None and rejoining in leaving.reception.message_ids
                try:
                    await events.aclose()
                except Exception:  # noqa: BLE001 - a mistake of the decoder, which those who settle have no part in
                    _log.exception("session %r: a stream that was left could not be closed", self.session_id)
                finally:
                    self._left.remove(left)

    async def _store_gathered(self, reception: StreamReceiver, meta: Meta) -> list[Event]:
        # Live events never wait for the store: they move nothing that a batch on its way depends on.
        return await self._run(self._storing(reception, meta)) if reception.storing else reception.pass_live()

    async def _run(self, script: Script[_T]) -> _T:
        return await _to_the_end(self._run_alone(script))

    async def _run_alone(self, script: Script[_T]) -> _T:
        async with self._lock:
            try:
                request = next(script)
                while True:
                    try:
                        answer = await self._perform(request)
                    except BaseException as error:  # noqa: BLE001 - the script knows what to do about it
                        request = script.throw(error)
                    else:
                        request = script.send(answer)
            except StopIteration as result:
                returned: _T = result.value
                return returned

    async def _perform(self, request: Request) -> Any:
        # Any: see `Script`.
        if isinstance(self._store, AsyncStore):
            answer = self._store.submit(perform, self._store.store, self.session_id, request)
        else:
            store, context = self._store, copy_context()
            answer = asyncio.get_running_loop().run_in_executor(
                None, lambda: context.run(perform, store, self.session_id, request)
            )
        # What is asked of the store is no task: a loop that cancels all of its tasks, as at its end, leaves it alone.
        while not answer.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait((answer,))
        return answer.result()


async def _to_the_end(work: Coroutine[Any, Any, _T]) -> _T:
    """Await *work*, however often this task is cancelled meanwhile; then be cancelled."""
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
