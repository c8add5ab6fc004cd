"""The events of an answer while it comes: `EventStream` for `Session`, `SyncEventStream` for `SyncSession`."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import AsyncGeneratorType
from typing import Any, Self, TypeVar, cast, final

from assistant_events.adapters.encoded import Encoded
from assistant_events.errors import ConflictError, LocalProtocolError, StoreError
from assistant_events.events import Event
from assistant_events.session.answers import Answer, Client, check_synchronous
from assistant_events.session.receiver import Accepted, StreamReceiver
from assistant_events.session.request import Refused
from assistant_events.session.stopping import stop_run
from assistant_events.session.stream_calls import PAUSES_S, Ask, StreamCalls
from assistant_events.values.credentials import error_text

_T = TypeVar("_T")

_log = logging.getLogger("assistant_events.session")


class AnswerStream:
    """Base of both streams. Calls of the store run alone in the session, those of the provider do not."""

    def __init__(self, ask: Ask, client: Client | None, calls: StreamCalls) -> None:
        self.request: Encoded | None = None
        """The request that was sent last, with the conversation; `None` before the block, of `resume` and `decode`."""

        self.seq = calls.receivers.projection.seq
        """`seq` of the event that was given last, or of the record that it follows."""

        self._ask = ask
        self._client = client
        self._calls = calls
        self._receiver: StreamReceiver | None = None
        self._given: AsyncGeneratorType[Event, None] | None = None
        self._cut: object = None  # what ran when its connection broke

    @property
    def answer(self) -> Answer:
        """What the client returned, for example a `RunStream` with its `report`; for chunks it is their decoder."""
        return self._entered().source.answer

    def _entered(self) -> StreamReceiver:
        if self._receiver is None:
            how = "`async with session.respond(...) as events`, without `async` for a `SyncSession`"
            raise LocalProtocolError(f"enter the stream first: {how}")
        return self._receiver

    async def _enter(self) -> None:
        receiver, receivers = self._receiver, self._calls.receivers
        if receiver is not None and not receiver.parked:
            raise LocalProtocolError(
                "the block of the stream was left; ask for another stream, with respond, resume or decode "
                "(one is entered again only after an error of the store, and before another answer)"
            )
        try:
            await self._calls.hold(held=True)
            if receiver is not None:  # what is pending comes first
                receiver.active, receiver.parked = True, False
                return
            asked = await self._ask(None)
            assert asked is not None, "nothing was refused"
            source, self.request = asked
            self.seq = receivers.projection.seq
            self._receiver = await receivers.begin(source, sole=self.request is not None)
        except BaseException:
            await self._calls.hold(held=False)
            raise
        finally:
            receivers.asking.pop(self._ask, None)

    def _events(self) -> AsyncGenerator[Event]:
        """Return the iterator over the events; another one when an exception has ended it."""
        if self._given is None or self._given.ag_frame is None:
            self._given = cast("AsyncGeneratorType[Event, None]", self._give())
        return self._given

    async def _give(self) -> AsyncGenerator[Event]:
        receiver, streamed, timers = self._entered(), self._calls.streamed, self._calls.timers
        if not receiver.active:
            raise LocalProtocolError("the block of the stream was left; read its events inside of the block")
        while (settled := await self._settle(receiver)) is not None:
            events, seqs = settled
            for event in events:
                if event.durable:
                    self.seq = next(seqs)
                yield event
            # Nearly all chunks of a live stream hold one delta: what is done for each of them is here and in `take`.
            source = receiver.source
            while not (receiver.finished or receiver.ended_by_others):
                try:
                    item = await source.read() if source.waits else source.read()
                except Exception as error:  # noqa: BLE001 - becomes the error of the message, or is the end
                    self._cut = self._target  # before the end, after which nothing runs for this reader
                    receiver.end(error)
                    break
                if (live := receiver.take(item)) is None:
                    break
                if streamed is not None and not timers.are_set:
                    streamed(live)
                for event in live:
                    yield event
                del live  # so that the next events are made where these were

    async def _settle(self, receiver: StreamReceiver) -> tuple[Sequence[Event], Iterator[int]] | None:
        """Store what was collected. Return events to give, and the `seq` of the durable ones; `None` at the end."""
        if receiver.ended_by_others:
            await self._stop(receiver, self._target)
            return None
        if not receiver.pending:
            return None if receiver.finished else ((), iter(()))
        refusal = receiver.refusal
        tried = None if self.request is None or refusal is None else Refused(self.request, refusal)
        if tried is not None and (asked := await self._ask(tried)) is not None:
            await receiver.source.close()
            source, self.request = asked
            receiver.ask_again(source, tried.error)
            return (), iter(())
        accepted = await self._store(receiver)
        return accepted.events, iter(accepted.seqs)

    async def _store(self, receiver: StreamReceiver) -> Accepted:
        return await self._calls.store(receiver)

    @property
    def _target(self) -> object:
        return None if self._client is None else self._entered().source.target or self._cut

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
            self._calls.receivers.leave(receiver)
            if self._given is not None and not self._given.ag_running:
                await self._given.aclose()

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

    async def _store(self, receiver: StreamReceiver) -> Accepted:
        """Wait for a store that fails, where a worker makes the moves: its streams are not entered again."""
        for pause in PAUSES_S if self._calls.waits else ():
            try:
                return await super()._store(receiver)
            except StoreError as error:
                if not receiver.parked or isinstance(error, ConflictError):
                    raise
                name = self.answer.message_id
                _log.warning("message %r is stored again in %g s: %s", name, pause, error_text(error))
            receiver.parked = False
            await asyncio.sleep(pause)
        return await super()._store(receiver)

    def __aiter__(self) -> AsyncGenerator[Event]:
        return self._events()

    def __anext__(self) -> Coroutine[Any, Any, Event]:
        return self._events().__anext__()

    async def __aexit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        try:
            await to_the_end(self._leave(error))
        finally:  # in this task, as the chunks were read, and a cancellation ends it
            await self._close()


@final
class SyncEventStream(AnswerStream, Iterator[Event]):
    """`EventStream` for `SyncSession`, without `async` and `await`."""

    def __init__(self, ask: Ask, client: Client | None, calls: StreamCalls) -> None:
        check_synchronous(client)
        super().__init__(ask, client, calls)

    def __enter__(self) -> Self:
        finished(self._enter())
        return self

    def __next__(self) -> Event:
        try:
            return finished(self._events().__anext__())
        except StopAsyncIteration:
            raise StopIteration from None

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
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError as error:
        cancelled = error
    else:
        return task.result()
    with _shielded():
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError as error:
                cancelled = error
    if not task.cancelled() and (failure := task.exception()) is not None:
        cancelled.add_note(f"meanwhile the store raised {failure!r}")
    raise cancelled


def _shielded() -> AbstractContextManager[object]:
    """Keep off a scope of anyio that was cancelled: it cancels a task that waits inside it in each turn of the loop."""
    anyio: Any = sys.modules.get("anyio")  # imported by those who have a scope
    return nullcontext() if anyio is None else anyio.CancelScope(shield=True)
