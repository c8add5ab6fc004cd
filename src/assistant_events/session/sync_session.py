"""The blocking face of a session."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from threading import RLock
from typing import Self, TypeVar, cast, final, overload

from assistant_events.events import DurableEvent, Event, PromptSubmitted, Record, UnknownEvent
from assistant_events.messages import UserMessage
from assistant_events.session.answer_source import BlockingAnswer, answer_decoder, no_answer
from assistant_events.session.chunks import blocking_iterator, close_blocking
from assistant_events.session.core import Core, Meta, Script, perform
from assistant_events.session.finalizers import postpone, whole
from assistant_events.session.receiver import Decoder, StreamReceiver
from assistant_events.stores.contract import Store
from assistant_events.values import ContentInput, as_content

_T = TypeVar("_T")


@final
class SyncSession(Core):
    """
    `Session` without `await`: the same methods, which promise the same.

    Threads may share it; what they append and receive is stored one batch after another. A `KeyboardInterrupt` while
    receiving closes the message, as a cancellation does there.
    """

    _closing = "with its `close()` or `contextlib.closing`"

    def __init__(self, store: Store, session_id: str, *, snapshot_every: int | None = None) -> None:
        super().__init__(session_id, snapshot_every)
        self._store = store
        # Reentrant: storing what was gathered and running the script for it is one call.
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
    def receive(self, decoder: BlockingAnswer, *, meta: Meta = None) -> Generator[Event, None, None]: ...

    @overload
    def receive(
        self, decoder: Decoder, chunks: Iterable[object], *, meta: Meta = None
    ) -> Generator[Event, None, None]: ...

    def receive(
        self, decoder: Decoder | BlockingAnswer, chunks: Iterable[object] | None = None, *, meta: Meta = None
    ) -> Generator[Event, None, None]:
        """See `Session.receive`; neither *decoder* nor *chunks* can be asynchronous here."""
        if chunks is not None:
            # cast: only decoders are fed.
            items = blocking_iterator(chunks)
            return self._receive(cast("Decoder", decoder), items, lambda: close_blocking(items), meta)
        if not isinstance(decoder, BlockingAnswer):
            raise no_answer(decoder)
        return self._receive(answer_decoder(decoder, self._receptions), _batches(decoder), decoder.disconnect, meta)

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
        self, decoder: Decoder, chunks: Iterator[object], disconnect: Callable[[], None], meta: Meta
    ) -> Generator[Event, None, None]:
        reception = self._begin(decoder)
        try:
            while True:
                yield from self._store_gathered(reception, meta)
                if reception.over:
                    return
                try:
                    item = next(chunks)
                except StopIteration:
                    reception.end()
                except Exception as error:  # noqa: BLE001 - whatever the transport did is an error of the message
                    reception.fail(error)
                else:
                    reception.take(item)
        except BaseException as reason:
            if not reception.stuck:
                self._abort(reception, reason, meta)
            raise
        finally:
            self._leave(reception)
            if not reception.stuck:
                disconnect()

    def _abort(self, reception: StreamReceiver, reason: BaseException, meta: Meta) -> None:
        reception.abort(reason)
        if isinstance(reason, GeneratorExit) and postpone(lambda: self._close_left(reception, meta)):
            return
        try:
            self._store_gathered(reception, meta)
        except Exception as error:  # noqa: BLE001 - it goes up, or with what goes up
            self._not_closed(reception, error, reason)

    def _close_left(self, reception: StreamReceiver, meta: Meta) -> None:
        if reception not in self._receptions:
            return  # another decoder goes on with the message
        try:
            self._store_gathered(reception, meta)
        except Exception as error:  # noqa: BLE001 - nobody waits for it
            self._log_running(reception, error)
        else:
            self._leave(reception)

    def _store_gathered(self, reception: StreamReceiver, meta: Meta) -> list[Event]:
        # Outermost: what was postponed may be for another session, whose lock comes after this one is released.
        with whole, self._lock:
            return self._run(self._storing(reception, meta)) if reception.storing else reception.pass_live()

    def _run(self, script: Script[_T]) -> _T:
        with whole, self._lock:
            try:
                request = next(script)
                while True:
                    try:
                        answer = perform(self._store, self.session_id, request)
                    except BaseException as error:  # noqa: BLE001 - the script knows what to do about it
                        request = script.throw(error)
                    else:
                        request = script.send(answer)
            except StopIteration as result:
                returned: _T = result.value
                return returned


def _batches(answer: BlockingAnswer) -> Iterator[object]:
    while True:
        try:
            batch = answer.read()
        except StopIteration:
            return
        yield batch
