"""Sessions for apps without an event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from inspect import iscoroutinefunction
from threading import RLock
from time import monotonic
from typing import Any, Self, TypeVar, Unpack, final

from assistant_events.events import DurableEvent, LiveEvent, UnknownEvent
from assistant_events.session.answers import Client, check_synchronous, sync_source
from assistant_events.session.core import Core
from assistant_events.session.options import Meta, Records, SessionOptions
from assistant_events.session.streams import SyncEventStream, finished
from assistant_events.stores.contract import Store
from assistant_events.values import ContentInput

_T = TypeVar("_T")


@final
class SyncSession(Core[SyncEventStream]):
    """
    `Session` without `await`: the same methods with the same guarantees, and `with` in place of `async with`.

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

    def append(self, *events: DurableEvent | UnknownEvent, at: datetime | None = None, meta: Meta = None) -> Records:
        """See `Session.append`."""
        return finished(self._alone(self._append(lambda: events, meta, at=at)))

    def prompt(
        self,
        content: ContentInput,
        *,
        message_id: str | None = None,
        abandon_calls: bool = False,
        meta: Meta = None,
    ) -> Records:
        """See `Session.prompt`."""
        return finished(self._alone(self._prompt(content, message_id, meta, abandon_calls=abandon_calls)))

    def rewind(self, message_id: str, *, last: bool = False, meta: Meta = None) -> Records:
        """See `Session.rewind`."""
        return finished(self._alone(self._rewind(message_id, meta, last=last)))

    def regenerate(self, message_id: str, *, meta: Meta = None) -> Records:
        """See `Session.regenerate`."""
        return finished(self._alone(self._regenerate(message_id, meta)))

    def edit(
        self, message_id: str, content: ContentInput, *, new_message_id: str | None = None, meta: Meta = None
    ) -> Records:
        """See `Session.edit`."""
        return finished(self._alone(self._edit(message_id, content, new_message_id, meta)))

    def refresh(self) -> Records:
        """See `Session.refresh`."""
        return finished(self._alone(self._refresh()))

    def reconcile(self, *, abandon_calls: bool = False, abandon_runs: bool = False, meta: Meta = None) -> Records:
        """See `Session.reconcile`."""
        return finished(self._alone(self._reconcile(meta, abandon_calls=abandon_calls, abandon_runs=abandon_runs)))

    def stop(self, client: Client | None = None, *, meta: Meta = None) -> Records:
        """See `Session.stop`."""
        check_synchronous(client)
        return finished(self._stop(client, meta))

    def show(self, *events: LiveEvent) -> None:
        """See `Session.show`."""
        finished(self._alone(self._show(events)))

    def snapshot(self) -> None:
        """See `Session.snapshot`."""
        finished(self._alone(self._snapshot()))

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
