"""An asynchronous interface to stores: all calls run in one thread of their own, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from inspect import iscoroutinefunction
from itertools import islice
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar, final

from assistant_events.errors import StoreError
from assistant_events.events import Record
from assistant_events.stores.contract import Store
from assistant_events.values.arguments import check_store

_PAGE: Final = 256
"""Number of records per call into the thread."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _in_thread(
    method: Callable[Concatenate[Store, _P], _T],
) -> Callable[Concatenate[AsyncStore, _P], Coroutine[Any, Any, _T]]:
    # Any: the values that a coroutine exchanges with its event loop.
    name = method.__name__

    @wraps(method)
    async def call(self: AsyncStore, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        verb: Callable[_P, _T] = getattr(self.store, name)
        return await self.run(verb, *args, **kwargs)

    return call


@final
class AsyncStore:
    """
    A store for coroutines, with the methods of `Store`.

    A submitted call is always carried out, also when the coroutine that awaits it is cancelled: `CancelledError` is
    raised at once; read the log to find out whether a batch was written. `close` closes the wrapped store, too.
    """

    def __init__(self, store: Store) -> None:
        check_store(store)
        if iscoroutinefunction(store.append):
            raise TypeError(f"store: expected a store whose calls return results, got {type(store).__name__}")
        self.store = store
        """The wrapped store."""

        self._thread = ThreadPoolExecutor(1, thread_name_prefix="assistant-events-store")
        self._closed = False

    @property
    def persistent(self) -> bool:
        """See `Store.persistent`."""
        return self.store.persistent

    append = _in_thread(Store.append)
    seq = _in_thread(Store.seq)
    seqs = _in_thread(Store.seqs)
    sessions = _in_thread(Store.sessions)
    snapshot = _in_thread(Store.snapshot)
    load_snapshot = _in_thread(Store.load_snapshot)
    prune = _in_thread(Store.prune)
    fork = _in_thread(Store.fork)
    delete = _in_thread(Store.delete)
    unfinished = _in_thread(Store.unfinished)
    claim = _in_thread(Store.claim)
    release = _in_thread(Store.release)
    beat = _in_thread(Store.beat)
    take_over = _in_thread(Store.take_over)
    checkpoint = _in_thread(Store.checkpoint)
    load_checkpoints = _in_thread(Store.load_checkpoints)

    async def read(self, session_id: str, after: int = 0, *, limit: int | None = None) -> AsyncIterator[Record]:
        """See `Store.read`. Errors are raised by the first iteration."""
        records = await self.run(self.store.read, session_id, after, limit=limit)
        while page := await self.run(list, islice(records, _PAGE)):
            for record in page:
                yield record

    async def run(self, function: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Call *function* in the thread of the store, after all earlier calls."""
        # Without the shield, cancelling the caller would drop a call that still waits for the thread.
        return await asyncio.shield(self.submit(function, *args, **kwargs))

    def submit(self, function: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> asyncio.Future[_T]:
        """Like `run`, but return a future. Cancelling it drops a call that still waits for the thread."""
        if self._closed:
            raise StoreError("the store is closed")
        return asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *args, **kwargs))

    async def drain(self) -> None:
        """Wait for all earlier calls, also those of coroutines that were cancelled: `store` can be closed then."""
        if not self._closed:
            await self.run(bool)

    async def close(self) -> None:
        """See `Store.close`. Earlier calls are carried out first."""
        if not self._closed:
            await self.run(self.store.close)
            self._closed = True
            self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()
