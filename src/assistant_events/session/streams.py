"""The events of an answer while it comes: `EventStream` for `Session`, `SyncEventStream` for `SyncSession`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, Self, TypeVar, final

from assistant_events.adapters.encoder import Encoded
from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event
from assistant_events.session.answers import Answer, Client
from assistant_events.session.receiver import StreamReceiver
from assistant_events.session.stopping import stop_run
from assistant_events.session.stream_calls import Ask, StreamCalls

_T = TypeVar("_T")

_log = logging.getLogger("assistant_events.session")


class AnswerStream:
    """What both faces share. Calls of the store run alone in the session, those of the provider do not."""

    def __init__(self, ask: Ask, client: Client | None, calls: StreamCalls) -> None:
        self.request: Encoded | None = None
        """The request that was sent last, with the conversation; `None` before the block, of `resume` and `decode`."""

        self.seq = calls.receivers.projection.seq
        """`seq` of the event that was given last, or of the record that it follows."""

        self._ask = ask
        self._client = client
        self._calls = calls
        self._receiver: StreamReceiver | None = None
        self._unread: Iterator[Event] = iter(())
        self._places: Iterator[int] | None = None  # of the durable events among them; `None` when all are live

    @property
    def answer(self) -> Answer:
        """What the client returned, for example a `RunStream` with its `report`; for chunks it is their decoder."""
        return self._entered().source.answer

    def _entered(self) -> StreamReceiver:
        if self._receiver is None:
            raise LocalProtocolError("enter the stream first: `async with session.respond(...) as events`")
        return self._receiver

    async def _enter(self) -> None:
        receiver = self._receiver
        if receiver is not None and not receiver.parked:
            raise LocalProtocolError("a stream is entered again only when its store has failed, and before another")
        try:
            await self._calls.hold(held=True)
            if receiver is not None:  # what is pending comes first
                receiver.active, receiver.parked = True, False
                return
            source, self.request = await self._ask(False)
            self.seq = self._calls.receivers.projection.seq
            self._receiver = self._calls.receivers.begin(source, sole=self.request is not None)
        except BaseException:
            await self._calls.hold(held=False)
            raise

    async def _next(self) -> bool:  # whether there are more events
        receiver = self._entered()
        if not receiver.active:
            raise LocalProtocolError("the block of the stream was left")
        while True:
            if receiver.ended_by_others:
                await self._stop(receiver, self._target)
                return False
            if receiver.pending:
                chained = self.request is not None and self.request.mode != "full"
                if chained and (refusal := receiver.refusal) is not None:
                    await receiver.source.close()
                    source, self.request = await self._ask(True)
                    receiver.ask_again(source, refusal)
                elif await self._store(receiver):
                    return True
            elif receiver.finished:
                return False
            else:
                await receiver.read()

    async def _store(self, receiver: StreamReceiver) -> bool:
        # Live events do not wait for the store: no batch depends on them.
        events, self._places = self._calls.pass_live(receiver), None
        if events is None:
            events, places = await self._calls.keep(receiver)
            self._places = iter(places)
        self._unread = iter(events)
        return bool(events)

    @property
    def _target(self) -> object:
        return None if self._client is None else self._entered().source.target

    async def _stop(self, receiver: StreamReceiver, target: object) -> None:
        """End an answer that others have ended, also at the provider."""
        receiver.give_up()
        if self._client is None or target is None:
            return
        await stop_run(self._client, target, self.answer.message_id)
        self._client = None  # after a cancellation it is asked again at the end of the block

    async def _leave(self, reason: BaseException | None) -> None:
        receiver = self._entered()
        target = self._target  # before the abort, which ends the answer for this reader alone
        try:
            if receiver.parked:
                return
            if not receiver.finished and not receiver.ended_by_others:
                receiver.abort(reason)
            if receiver.pending:
                await self._store(receiver)
            if receiver.ended_by_others:
                await self._stop(receiver, target)
        except Exception as error:
            if reason is None:
                raise
            reason.add_note(f"message {self.answer.message_id!r} could not be closed: {error}")
        finally:
            self._unread = iter(())  # what closed the message is not given to anyone
            self._calls.receivers.leave(receiver)

    async def _close(self) -> None:
        try:
            if not self._entered().parked:
                await self._entered().source.close()
        finally:
            await self._calls.hold(held=False)


@final
class EventStream(AnswerStream, AsyncIterator[Event]):
    """The result of `Session.respond`, `resume` and `decode`: a block, and in it an iterator over the events."""

    async def __aenter__(self) -> Self:
        await self._enter()
        return self

    async def __anext__(self) -> Event:
        while True:
            for event in self._unread:
                if self._places is not None and event.durable:
                    self.seq = next(self._places)
                return event
            if not await self._next():
                raise StopAsyncIteration

    async def __aexit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        try:
            await to_the_end(self._leave(error))
        finally:  # in this task, as the chunks were read, and a cancellation ends it
            await self._close()


@final
class SyncEventStream(AnswerStream, Iterator[Event]):
    """`EventStream` for `SyncSession`, without `async` and `await`."""

    def __enter__(self) -> Self:
        finished(self._enter())
        return self

    def __next__(self) -> Event:
        while True:
            for event in self._unread:
                if self._places is not None and event.durable:
                    self.seq = next(self._places)
                return event
            if not finished(self._next()):
                raise StopIteration

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        try:
            finished(self._leave(error))
        finally:
            finished(self._close())


# Any, here and below: what a coroutine exchanges with its event loop.
def finished(work: Coroutine[Any, Any, _T]) -> _T:
    """Return the result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        result: _T = end.value
        return result
    raise AssertionError("a synchronous session waits for nothing")  # pragma: no cover


async def to_the_end(work: Coroutine[Any, Any, _T]) -> _T:
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
