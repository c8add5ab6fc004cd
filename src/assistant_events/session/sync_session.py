"""Sessions for apps without an event loop."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from threading import RLock
from typing import Self, TypeVar, final, overload

from assistant_events.events import DurableEvent, Event, PromptSubmitted, Record, UnknownEvent
from assistant_events.messages import UserMessage
from assistant_events.session.chunks import close_sync, sync_iterator
from assistant_events.session.core import Core, Meta, Script, perform
from assistant_events.session.finalizers import postpone, whole
from assistant_events.session.receiver import Answer, Decoder, StreamReceiver, SyncAnswer, not_an_answer
from assistant_events.stores.contract import Store
from assistant_events.values import ContentInput, as_content

_T = TypeVar("_T")


@final
class SyncSession(Core):
    """
    `Session` without `await`: the same methods with the same guarantees.

    Threads may share it; their batches are stored one after another. A `KeyboardInterrupt` while receiving closes the
    message, like a cancellation of `Session.receive`.
    """

    _closing = "with its `close()` or `contextlib.closing`"

    def __init__(self, store: Store, session_id: str, *, snapshot_every: int | None = None) -> None:
        super().__init__(session_id, snapshot_every)
        self._store = store
        # Reentrant: `_store_pending` holds it while it runs a script.
        self._lock = RLock()

    @classmethod
    def open(cls, store: Store, session_id: str, *, snapshot_every: int | None = None) -> Self:
        """See `Session.open`."""
        session = cls(store, session_id, snapshot_every=snapshot_every)
        session._run(session._opening())
        return session

    def append(self, *events: DurableEvent | UnknownEvent, meta: Meta = None) -> tuple[Record, ...]:
        """See `Session.append`."""
        return self._run(self._appending(lambda: self._admitted(events), meta))

    def prompt(self, content: ContentInput, *, message_id: str | None = None, meta: Meta = None) -> UserMessage:
        """See `Session.prompt`."""
        name = self.new_id() if message_id is None else message_id
        self.append(PromptSubmitted(message_id=name, content=as_content(content)), meta=meta)
        return self._prompt(name)

    @overload
    def receive(self, decoder: SyncAnswer, *, meta: Meta = None) -> Generator[Event, None, None]: ...

    @overload
    def receive(
        self, decoder: Decoder, chunks: Iterable[object], *, meta: Meta = None
    ) -> Generator[Event, None, None]: ...

    def receive(
        self, decoder: Decoder | SyncAnswer, chunks: Iterable[object] | None = None, *, meta: Meta = None
    ) -> Generator[Event, None, None]:
        """See `Session.receive`; neither *decoder* nor *chunks* can be asynchronous here."""
        if chunks is not None:
            items = sync_iterator(chunks)
            return self._receive(decoder, items, lambda: close_sync(items), meta)
        if not isinstance(decoder, SyncAnswer):
            raise not_an_answer(decoder)
        return self._receive(decoder, _batches(decoder), decoder.disconnect, meta)

    def refresh(self) -> tuple[Record, ...]:
        """See `Session.refresh`."""
        return self._run(self._reading())

    def reconcile(
        self, *, abandon_calls: bool = False, abandon_runs: bool = False, meta: Meta = None
    ) -> tuple[Record, ...]:
        """See `Session.reconcile`."""
        return self._run(
            self._appending(lambda: self._unsettled(abandon_calls=abandon_calls, abandon_runs=abandon_runs), meta)
        )

    def snapshot(self) -> None:
        """See `Session.snapshot`."""
        self._run(self._snapshotting())

    def _receive(
        self, answer: Answer, chunks: Iterator[object], disconnect: Callable[[], None], meta: Meta
    ) -> Generator[Event, None, None]:
        receiver = self._begin(answer)
        try:
            while True:
                yield from self._store_pending(receiver, meta)
                if receiver.finished:
                    return
                try:
                    item = next(chunks)
                except StopIteration:
                    receiver.end()
                except Exception as error:  # noqa: BLE001 - becomes the error of the message
                    receiver.fail(error)
                else:
                    receiver.take(item)
        except BaseException as reason:
            if not receiver.parked:
                self._abort(receiver, reason, meta)
            raise
        finally:
            self._leave(receiver)
            if not receiver.parked:
                disconnect()

    def _abort(self, receiver: StreamReceiver, reason: BaseException, meta: Meta) -> None:
        receiver.abort(reason)
        if isinstance(reason, GeneratorExit) and postpone(lambda: self._close_left(receiver, meta)):
            return
        try:
            self._store_pending(receiver, meta)
        except Exception as error:  # noqa: BLE001 - raised, or added to the propagating exception
            self._not_closed(receiver, error, reason)

    def _close_left(self, receiver: StreamReceiver, meta: Meta) -> None:
        if receiver not in self._receivers:
            return  # another decoder continues the message
        try:
            self._store_pending(receiver, meta)
        except Exception as error:  # noqa: BLE001 - called by a finalizer, where it cannot be raised
            self._log_running(receiver, error)
        else:
            self._leave(receiver)

    def _store_pending(self, receiver: StreamReceiver, meta: Meta) -> list[Event]:
        # `whole` first: postponed work may need the lock of another session, after this one is released.
        with whole, self._lock:
            return self._run(self._storing(receiver, meta)) if receiver.has_durable else receiver.pass_live()

    def _run(self, script: Script[_T]) -> _T:
        with whole, self._lock:
            try:
                request = next(script)
                while True:
                    try:
                        answer = perform(self._store, request)
                    except BaseException as error:  # noqa: BLE001 - handled by the script
                        request = script.throw(error)
                    else:
                        request = script.send(answer)
            except StopIteration as result:
                returned: _T = result.value
                return returned


def _batches(answer: SyncAnswer) -> Iterator[object]:
    while True:
        try:
            batch = answer.read()
        except StopIteration:
            return
        yield batch
