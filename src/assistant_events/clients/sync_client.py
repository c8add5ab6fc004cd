"""The client of a provider, for apps without an event loop: the same one, with a loop of its own in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from threading import Event as ThreadEvent
from threading import Lock, Thread
from typing import Any, ClassVar, Final, Self, TypeVar, final

from typing_extensions import Unpack

from assistant_events.adapters.hops import Prior
from assistant_events.adapters.json_fields import Fields
from assistant_events.clients.client import Body, ClientOptions, ProviderClient
from assistant_events.clients.recovery import RunSummary
from assistant_events.clients.report import Report, StopResult
from assistant_events.clients.run_stream import RunStream
from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage
from assistant_events.values import ErrorInfo, Usage

_T = TypeVar("_T")

_FINISH_S: Final = 5.0
"""Seconds that closing waits for tasks whose connections are closed already."""


@final
class _Background:
    """An event loop in a thread, from the first call on."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._closed = False

    def wait(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """
        Return the result of *work*, run in the loop. An exception in the waiting thread cancels it.

        It may come at any time, as Ctrl-C does: also before there is a future to cancel.
        """
        begun: list[asyncio.Task[Any] | None] = []
        given_up = ThreadEvent()

        async def awaited() -> _T:
            begun.append(asyncio.current_task())
            if given_up.is_set():
                raise asyncio.CancelledError
            return await work()

        def cancel() -> None:
            for task in begun:
                if task is not None:
                    task.cancel()

        loop = self._started()
        try:
            return asyncio.run_coroutine_threadsafe(awaited(), loop).result()
        except BaseException:
            given_up.set()
            with suppress(RuntimeError):  # the client was closed meanwhile
                loop.call_soon_threadsafe(cancel)
            raise

    def call(self, work: Callable[[], _T]) -> _T:
        """Call *work* in the loop, so that one thread alone uses the client."""

        async def call() -> _T:
            return work()

        return self.wait(call)

    def close(self, last: Callable[[], Awaitable[None]]) -> None:
        """Run *last*, then end the loop."""
        with self._lock:
            loop, thread, self._closed = self._loop, self._thread, True
            self._loop = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_finished(last), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise LocalProtocolError("the client is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # Not joined at exit: a run without a reader holds nothing that matters.
                self._thread = Thread(target=self._loop.run_forever, name="assistant-events-client", daemon=True)
                self._thread.start()
            return self._loop


async def _finished(last: Callable[[], Awaitable[None]]) -> None:
    await last()
    # Tasks that close a stream must end: Python reports an open generator on standard error.
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        _, others = await asyncio.wait(others, timeout=_FINISH_S)
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


@final
class SyncRunStream(Iterator[Event]):
    """`RunStream` without `await`. A `KeyboardInterrupt` while it is read closes the connection."""

    def __init__(self, run: RunStream, background: _Background) -> None:
        self.run = run  # in the event loop of the client
        self.message_id = run.message_id
        self._background = background
        self._unread: Iterator[Event] = iter(())

    @property
    def report(self) -> Report:
        """See `RunStream.report`."""
        return self._background.call(lambda: self.run.report)

    @property
    def terminal(self) -> bool:
        """See `RunStream.terminal`."""
        return self.run.terminal

    @property
    def message(self) -> AssistantMessage | None:
        """See `RunStream.message`."""
        return self._background.call(lambda: self.run.message)

    @property
    def usage_so_far(self) -> Usage | None:
        """See `DecoderBase.usage_so_far`."""
        return self._background.call(lambda: self.run.usage_so_far)

    def read(self) -> list[Event]:
        """See `RunStream.read`; raises `StopIteration` at the end."""
        rest = list(self._unread)
        if rest:
            return rest
        try:
            return self._background.wait(self.run.read)
        except StopAsyncIteration:
            raise StopIteration from None

    def __next__(self) -> Event:
        for event in self._unread:
            return event
        self._unread = iter(self.read())
        return next(self._unread)

    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """See `RunStream.close`."""
        return self._background.call(lambda: self.run.close(error))

    def disconnect(self) -> None:
        """Close the connection. Idempotent."""
        self._background.wait(self.run.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        return repr(self.run).replace("RunStream", "SyncRunStream", 1)


class SyncProviderClient:
    """
    `ProviderClient` without `await`: the same arguments, and the same methods.

    Threads may share it: one may stop a run that another is waiting for.
    """

    asynchronous: ClassVar[type[ProviderClient]]

    def __init__(self, api_key: str | None = None, **options: Unpack[ClientOptions]) -> None:
        self._client = self.asynchronous(api_key, **options)
        self.dialect, self.provider = self._client.dialect, self._client.provider
        self._background = _Background()

    def __repr__(self) -> str:
        return f"Sync{self._client!r}"

    def create(
        self, body: Body, message_id: str, *, prior: Prior = None, continues: AssistantMessage | None = None
    ) -> SyncRunStream:
        """See `ProviderClient.create`."""
        return self._run(lambda: self._client.create(body, message_id, prior=prior, continues=continues))

    def resume(self, target: SyncRunStream | AssistantMessage, *, request: Fields | None = None) -> SyncRunStream:
        """See `ProviderClient.resume`."""
        return self._run(lambda: self._client.resume(_plain(target), request=request))

    def recover(
        self, target: SyncRunStream | AssistantMessage, *, request: Fields | None = None, wait: bool = False
    ) -> SyncRunStream:
        """See `ProviderClient.recover`."""
        return self._run(lambda: self._client.recover(_plain(target), request=request, wait=wait))

    def stop(self, target: SyncRunStream | AssistantMessage | str) -> StopResult:
        """See `ProviderClient.stop`."""
        return self._background.wait(lambda: self._client.stop(_plain(target)))

    def status(self, target: SyncRunStream | AssistantMessage | str) -> RunSummary | ErrorInfo:
        """See `ProviderClient.status`."""
        return self._background.wait(lambda: self._client.status(_plain(target)))

    def close(self) -> None:
        """See `ProviderClient.aclose`. Idempotent."""
        self._background.close(self._client.aclose)

    def check_key(self) -> None:
        """See `ProviderClient.check_key`."""
        self._client.check_key()

    def __enter__(self) -> Self:
        self.check_key()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _run(self, make: Callable[[], RunStream]) -> SyncRunStream:
        return SyncRunStream(self._background.call(make), self._background)


def _plain(target: Any) -> Any:
    # Any: the stream inside of a synchronous one; the client checks everything else.
    return target.run if isinstance(target, SyncRunStream) else target
