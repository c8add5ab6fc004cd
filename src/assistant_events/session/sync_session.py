"""Sessions for apps without an event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from inspect import iscoroutinefunction
from threading import RLock
from time import monotonic
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack, cast, final

from assistant_events.events import LiveEvent
from assistant_events.session.answers import Client, check_synchronous, sync_source
from assistant_events.session.core import Core
from assistant_events.session.options import Meta, Records, SessionOptions
from assistant_events.session.session import Session
from assistant_events.session.streams import SyncEventStream, finished
from assistant_events.stores.contract import Store

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _without_await(
    method: Callable[Concatenate[Session, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[SyncSession, _P], _T]:
    """Return a method of `Session` for `SyncSession`: it uses what both have, and here nothing of that waits."""

    @wraps(method)
    def call(self: SyncSession, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return finished(method(cast("Session", self), *args, **kwargs))

    return call


@final
class SyncSession(Core[SyncEventStream]):
    """
    `Session` without `await`: the same operations with the same guarantees, and `with` in place of `async with`.

    It has no `claimed`: the claim of a worker is held for each `respond`, `resume` and `decode`.

    Threads may share it; their batches are stored one after another. A `KeyboardInterrupt` while receiving closes the
    message, like a cancellation of a task.
    """

    _open_with = "SyncSession.open"
    _source = staticmethod(sync_source)
    _stream_class = SyncEventStream
    _where: Store
    _lock: RLock
    _due: float | None = None

    @classmethod
    def open(cls, store: Store, session_id: str, **options: Unpack[SessionOptions]) -> Self:
        """See `Session.open`."""
        session = cls._new(store, session_id, options)
        if iscoroutinefunction(store.load_snapshot):
            raise TypeError("store: SyncSession takes a synchronous store; an asynchronous one is for Session")
        session._where, session._lock = store, RLock()
        finished(session._alone(session._open()))
        return session

    append = _without_await(Session.append)
    prompt = _without_await(Session.prompt)
    rewind = _without_await(Session.rewind)
    regenerate = _without_await(Session.regenerate)
    edit = _without_await(Session.edit)
    refresh = _without_await(Session.refresh)
    reconcile = _without_await(Session.reconcile)
    show = _without_await(Session.show)
    snapshot = _without_await(Session.snapshot)

    def stop(self, client: Client | None = None, *, meta: Meta = None) -> Records:
        """See `Session.stop`."""
        check_synchronous(client)
        return finished(self._stop(client, meta))

    def _has_streamed(self, deltas: Sequence[LiveEvent]) -> None:
        if self._publisher is not None and deltas:  # without a timer each is published as it comes
            self._publisher.publish(deltas, self.seq)
        elif self._publisher is not None:
            self._publisher.flush()
        if self._checkpoint_s is None:
            return
        # A timer in a thread is not needed: a provider that is silent streams nothing that could be lost.
        now = monotonic()
        if self._due is None:
            self._due = now + self._checkpoint_s
        elif now >= self._due:
            self._due = None
            finished(self._alone(self._checkpoint()))

    async def _alone(self, work: Coroutine[Any, Any, _T]) -> _T:
        # Any: see `Core`.
        with self._lock:
            return await work

    async def _call(self, request: Callable[[Store], _T]) -> _T:
        return request(self._where)
