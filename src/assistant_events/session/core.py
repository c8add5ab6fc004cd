"""The operations of a session, as coroutines: `Session` awaits their calls of the store, `SyncSession` makes them."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import takewhile
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, cast
from uuid import uuid4

import attrs

from assistant_events.adapters.base import DecoderBase, DecoderOptions
from assistant_events.adapters.encoded import Encoded, EncodeMode
from assistant_events.adapters.json_fields import Fields
from assistant_events.adapters.refused_state import refusal_of
from assistant_events.errors import ConflictError, FencedError, LocalProtocolError, OwnerError, PrunedError, StoreError
from assistant_events.events import LIVE_EVENTS, DeltaEvent, Event, HistoryRewound, LiveEvent, PromptSubmitted
from assistant_events.lifecycle import Outcome
from assistant_events.messages import AssistantMessage, Message, MessageStatus, Transcript, UserMessage, interrupted
from assistant_events.reducer import reconcile
from assistant_events.session.answers import Chunks, Client, Source, api_of, check_resumable, paused_last
from assistant_events.session.open_text import TextCursor
from assistant_events.session.options import CHECKPOINT_S, Meta, Records, SessionOptions, as_prompt, check_options
from assistant_events.session.projection import Batch, Projection
from assistant_events.session.publisher import Publisher
from assistant_events.session.receiver import Accepted, Receivers, StreamReceiver
from assistant_events.session.request import Refused, check_turn, created, request_for
from assistant_events.session.stopping import is_stopped, stop_run
from assistant_events.session.stream_calls import Ask, StreamCalls, Timers
from assistant_events.stores.contract import Claim, Store
from assistant_events.values import ContentInput

_T = TypeVar("_T")
StreamT = TypeVar("StreamT")

_log = logging.getLogger("assistant_events.session")

PAGE = 2000
"""Number of records per read of an opening: folding them blocks the event loop for some milliseconds."""

_TRIES: Final = 20
"""Number of attempts to append a batch while others append first."""


class Core(ABC, Generic[StreamT]):
    """Base of `Session` and `SyncSession`: the current state and all operations."""

    _open_with: ClassVar[str]  # for an error message
    _source: Callable[[object, Callable[[], DecoderBase], Message | None], Source]
    _stream_class: Callable[[Ask, Client | None, StreamCalls], StreamT]

    def __init__(self, *_given: object, **_options: object) -> None:
        raise TypeError(f"a session is opened with `{self._open_with}(store, session_id)`")

    @classmethod
    def _new(cls, store: object, session_id: str, options: SessionOptions) -> Self:
        check_options(store, options)
        core = cls.__new__(cls)
        core._session_id = session_id
        core._owner, core._worker = options.get("owner"), options.get("worker")
        core._claim, core._holders = None, 0
        core._snapshot_every, core._snapshot_seq = options.get("snapshot_every"), 0
        core._projection = Projection()
        core._receivers = Receivers(core._projection)
        live = options.get("live")
        core._publisher = None if live is None else Publisher(live, session_id, core._projection)
        every_s = options.get("checkpoint_s", CHECKPOINT_S)
        core._checkpoint_s = every_s if cast("Store", store).persistent else None
        core._checkpointed = TextCursor(core._projection)
        core._timers = Timers()
        return core

    _session_id: str
    _owner: str | None
    _worker: str | None
    _claim: Claim | None
    _holders: int
    _publisher: Publisher | None
    _snapshot_every: int | None
    _snapshot_seq: int
    _projection: Projection
    _receivers: Receivers
    _checkpoint_s: float | None
    _checkpointed: TextCursor
    _timers: Timers

    @property
    def session_id(self) -> str:
        """Id of the session in the store."""
        return self._session_id

    @property
    def transcript(self) -> Transcript:
        """
        All stored records, and the live events since: open text grows with every delta.

        A transcript is immutable; read the property again for the current one.
        """
        return self._projection.transcript

    @property
    def seq(self) -> int:
        """`seq` of the last record that this session has read or written; 0 while there is none."""
        return self._projection.seq

    def new_id(self) -> str:
        """
        Return a fresh message id: random, 32 hexadecimal digits.

        Any other non-empty string that is new in the session is valid too.
        """
        return uuid4().hex

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session_id!r}, seq={self.seq})"

    # -- answers

    def respond(
        self,
        client: Client,
        body: Fields,
        *,
        message_id: str | None = None,
        mode: EncodeMode = "auto",
        repair: bool = False,
        meta: Meta = None,
    ) -> StreamT:
        """
        Ask the model for the next message: `async with session.respond(client, body) as events`, `async for` in it.

        The durable events of a chunk are stored as one batch before any event of it is given. What the provider does
        never raises: it is `transcript.last_answer.error`. One that refuses to continue a conversation, with an error
        before any content, is sent the full history once, without what it must have stored. Leaving the block early, or
        a cancellation, closes the message as `aborted`; before its first event nothing is stored. An answer that
        another writer cancels or rewinds ends without an exception, and its run is stopped. A prompt that comes
        meanwhile, also before the first byte, is behind the answer in the transcript: it is answered next.

        Args:
            client: Asks the provider.

            body: Model, tools, system prompt and settings in the provider's words; the conversation is added.

            message_id: Id of the answer; a new one by default. A failed answer with this id is asked for again.

            mode: See `EncodeMode`.

            repair: Also ask when the last answer is incomplete or its calls have no results.

            meta: See `append`.

        Raises:
            LocalProtocolError: Calls have no results, an answer is incomplete, the message exists, or another writer
                writes it or has begun to answer.

            ClaimedError: The session has a worker, and another living one runs its steps.

            FencedError: Another worker has taken the session over meanwhile. What was not stored is lost.

            StoreError: The store failed. The events are kept; enter the same stream again to continue.
        """
        name, seen = self.new_id() if message_id is None else message_id, self.transcript

        async def ask(tried: Refused | None) -> tuple[Source, Encoded] | None:
            if tried is None:
                await self._alone(self._take_turn(ask, name, repair=repair))
            dialect, provider = api_of(client)
            prior = self.transcript.get(name)
            failed = prior if isinstance(prior, AssistantMessage) and prior.status is MessageStatus.FAILED else None
            if tried is None and (prior is not failed or (failed and failed.acted) or name in self.transcript.rewound):
                raise LocalProtocolError(f"message {name!r} exists already; use another id")
            before = tuple(takewhile(lambda message: message.id != name, self.transcript))
            paused = paused_last(before)
            known = (*before, failed) if failed and refusal_of(failed) else before
            if (sent := request_for(client, known, body, mode, tried)) is None:
                return None
            made = created(client, sent.body, name, prior=failed, continues=paused)
            options: DecoderOptions = {"request": sent.body, "prior": failed, "continues": paused, "provider": provider}
            source = self._source(made, lambda: dialect.decoder(name, **options), self.transcript.last)
            return attrs.evolve(source, stopped=tried is None and is_stopped(seen, self.transcript)), sent

        return self._stream(ask, client, meta)

    def resume(
        self, client: Client, *, message_id: str | None = None, request: Fields | None = None, meta: Meta = None
    ) -> StreamT:
        """
        Take up an answer that was cut or left running, and give its new events. Otherwise see `respond`.

        Args:
            client: Asks the provider.

            message_id: The message; by default the first whose run can be resumed (`transcript.unfinished()`).

            request: The body that was sent, if it is known: it decides which calls are the app's.

            meta: See `append`.

        Raises:
            LocalProtocolError: Nothing can be resumed, or *client* is of another dialect than the message.

            KeyError: No answer has this id.
        """

        async def ask(_refused: Refused | None) -> tuple[Source, None]:
            await self._alone(self._refresh())
            message = self.transcript.answer(self._resumable() if message_id is None else message_id)
            check_resumable(client, message)
            options: DecoderOptions = {"request": request, "prior": self.transcript, "provider": client.provider}
            made = client.resume(message, request=request)
            last = self.transcript.last
            return self._source(made, lambda: client.dialect.decoder(message.id, **options), last), None

        return self._stream(ask, client, meta)

    def decode(self, decoder: DecoderBase, chunks: Chunks, *, meta: Meta = None) -> StreamT:
        """
        Feed *chunks* to *decoder* and give its events. Otherwise see `respond`.

        Args:
            decoder: A new decoder for a new message, or one with the transcript as its `prior`, to rejoin a message.

            chunks: See `Chunks`; a single bytes object is one. A generator is closed at the end of the answer, and when
                the block is left; other iterables are not.

            meta: See `append`.

        Raises:
            LocalProtocolError: The decoder is closed.

            TypeError: *chunks* is something else.
        """
        if isinstance(decoder, type) or not hasattr(decoder, "closed"):
            raise TypeError(f'decoder: expected one such as dialect.decoder("a1"), got {decoder!r}')
        if decoder.closed:
            raise LocalProtocolError(
                f"the decoder of message {decoder.message_id!r} is closed; make a new one, with the transcript as prior"
            )
        source = self._source(chunks, lambda: decoder, self.transcript.last)

        async def ask(_refused: Refused | None) -> tuple[Source, None]:
            return source, None

        return self._stream(ask, None, meta)

    # -- of each face

    @abstractmethod
    async def _call(self, request: Callable[[Store], _T]) -> _T: ...

    # Carries an operation out to its end while no other is. Any: what a coroutine exchanges with its event loop.
    @abstractmethod
    async def _alone(self, work: Coroutine[Any, Any, _T]) -> _T: ...

    def _stream(self, ask: Ask, client: Client | None, meta: Meta) -> StreamT:
        async def store(receiver: StreamReceiver) -> Accepted:
            # Live events do not wait for the store: no batch depends on them.
            accepted = receiver.pass_live()
            if accepted is None:
                return await self._alone(self._keep(receiver, meta))
            if self._publisher is not None:
                self._publisher.add_answer(accepted.published, self.seq)
            self._has_streamed(())
            return accepted

        streamed = None if self._publisher is None and self._checkpoint_s is None else self._has_streamed
        calls = StreamCalls(self._receivers, store, streamed, self._timers, self._hold, self._worker is not None)
        return self._stream_class(ask, client, calls)

    async def _hold(self, *, held: bool) -> StoreError | None:
        """Claim the session for one more holder, or for one less; return why the store did not release it."""
        if held:
            self._timers.are_set = False  # perhaps by an event loop that has ended
        elif self._publisher is not None:
            self._publisher.flush()
        if self._worker is None:
            return None
        return await self._alone(self._claimed(self._worker) if held else self._released())

    async def _claimed(self, worker: str) -> None:
        self._holders += 1  # also if this fails: a cancelled caller cannot know, and so each releases what it asked for
        if self._claim is None:
            self._claim = await self._call(lambda store: store.claim(self.session_id, worker))
            if self._publisher is not None:
                self._publisher.claim(self._claim.token)

    async def _released(self) -> StoreError | None:
        """Release the claim with its last holder."""
        self._holders -= 1
        claim = self._claim
        if claim is None or self._holders:
            return None
        self._claim = None
        if self._publisher is not None:
            self._publisher.claim(None)
        try:
            await self._call(lambda store: store.release(claim))
        except StoreError as error:
            # The worker is asked for its next claim, and others wait until it is dead.
            _log.warning("session %r: its claim could not be released: %s", self.session_id, error)
            return error
        return None

    # -- operations

    async def _open(self) -> None:
        name = self.session_id

        def load(store: Store) -> tuple[Transcript | None, Records, tuple[DeltaEvent, ...], int]:
            if self._owner is not None:  # an empty batch writes nothing, and has its owner checked
                store.append(name, (), owner=self._owner)
            snapshot = store.load_snapshot(name)
            records: Records = ()
            with suppress(PrunedError):  # a newer snapshot was stored meanwhile
                records = tuple(store.read(name, 0 if snapshot is None else snapshot.seq, limit=PAGE))
            return snapshot, records, store.load_checkpoints(name), store.seq(name)

        snapshot, records, pieces, seq = await self._call(load)
        if snapshot is not None:
            self._start_from(snapshot)
        self._projection.extend(records)
        while seq != self.seq:  # there are more; or one that was appended meanwhile has closed the fragment of a piece
            if seq < self.seq:  # the log was deleted meanwhile
                self._start_from(Transcript())
            await self._read_on()
            pieces, seq = await self._call(lambda store: (store.load_checkpoints(name), store.seq(name)))
        self._projection.extend(pieces)
        self._checkpointed.advance(self._checkpointed.lengths())

    async def _read_on(self) -> None:
        while True:
            _, records = await self._read(self.seq, PAGE)
            self._projection.extend(records)
            if len(records) < PAGE:
                return

    async def _refresh(self) -> Records:
        known = self.seq
        after, records = await self._read(self._receivers.confirmed_to(known), None)
        self._projection.extend(records)
        self._receivers.match_log(records, after=after, known=known)
        new = tuple([record for record in records if record.seq > known])
        if new and self._publisher is not None:
            self._publisher.publish(new, max(after, known))
        return new

    async def _read(self, after: int, limit: int | None) -> tuple[int, Records]:
        """Return records and the `seq` before them: *after*, or that of the snapshot where they are pruned."""
        try:
            records = await self._call(lambda store: tuple(store.read(self.session_id, after, limit=limit)))
        except PrunedError:
            snapshot = await self._call(lambda store: store.load_snapshot(self.session_id))
            if snapshot is None or snapshot.seq <= after:
                raise
            start = after = snapshot.seq
            records = await self._call(lambda store: tuple(store.read(self.session_id, start, limit=limit)))
            if snapshot.seq > self.seq:
                own, live = self._receivers.confirmed_ids, TextCursor(self._projection).missing()
                self._start_from(snapshot)
                self._projection.extend([delta for delta in live if delta.message_id in own])
        return after, records

    async def _append(
        self,
        plan: Callable[[], Sequence[Event]],
        meta: Meta,
        *,
        at: datetime | None = None,
        names: Collection[str] | None = None,
    ) -> Records:
        """Append the events of *plan*; see `_commit`."""
        batch, records = await self._commit(
            lambda: self._projection.admit(plan()), meta, names, at, fenced=names is None
        )
        if records:
            self._projection.extend(records)
            self._projection.committed(batch)
            self._receivers.notice(records)
            if self._publisher is not None:
                self._publisher.publish(records, batch.after)
            await self._keep_snapshot()
        return records

    async def _keep(self, receiver: StreamReceiver, meta: Meta) -> Accepted:
        """Store what *receiver* has, and return the events to pass on."""
        try:
            if receiver.sent is not None:
                await self._refresh()
            batch, records = await self._commit(receiver.plan, meta, (), fenced=True)
        except (FencedError, OwnerError):
            receiver.give_up()  # a later try is refused too
            raise
        except LocalProtocolError:
            if (claim := self._claim) is not None:  # raises `FencedError` when the other writer is the new worker
                await self._call(lambda store: store.append(self.session_id, (), token=claim.token))
            raise
        except Exception:
            receiver.parked = bool(receiver.pending)
            raise
        accepted = receiver.accept(batch, records)
        if self._publisher is not None:
            self._publisher.add_answer(accepted.published, batch.after)
        if not self._timers.are_set:
            self._has_streamed(())
        await self._keep_snapshot()
        return accepted

    @abstractmethod
    def _has_streamed(self, deltas: Sequence[LiveEvent]) -> None:
        """Publish *deltas*, or what is open, and store a checkpoint of it, now or soon."""

    async def _commit(
        self,
        plan: Callable[[], Batch],
        meta: Meta,
        names: Collection[str] | None,
        at: datetime | None = None,
        *,
        fenced: bool,
    ) -> tuple[Batch, Records]:
        """
        Append the batch of *plan*; plan again when another writer was first, unless that touched a message of *names*.

        Without *names* it is the messages of the events. One that is *fenced* has the token of a claim that is held.
        """
        for tries_left in reversed(range(_TRIES)):
            batch = plan()
            if not batch.events:
                return batch, ()
            try:
                records = await self._write(batch, meta, at, self._claim if fenced else None)
            except ConflictError:
                self._receivers.refused(batch)
                touched = {record.event.message_id for record in await self._refresh()} | self.transcript.rewound
                named = {event.message_id for event in batch.events} if names is None else names
                if not tries_left or not touched.isdisjoint(named):
                    raise
            else:
                self._receivers.stored(batch)
                return batch, records
        raise AssertionError("the last try returns or raises")  # pragma: no cover

    async def _write(self, batch: Batch, meta: Meta, at: datetime | None, claim: Claim | None) -> Records:
        return await self._call(
            lambda store: store.append(
                self.session_id,
                batch.events,
                expected_seq=batch.after,
                meta=meta,
                at=at,
                owner=self._owner,
                token=None if claim is None else claim.token,
                unfinished=batch.trial.unfinished(),
            )
        )

    async def _show(self, events: Sequence[LiveEvent]) -> None:
        if not all(isinstance(event, LIVE_EVENTS) for event in events):
            raise LocalProtocolError("show: expected live events; append what has to be stored")
        applied = [event for event in events if self._projection.apply(event) is Outcome.APPLIED]
        if applied and self._publisher is not None:
            self._publisher.publish(applied, self.seq)

    async def _checkpoint(self) -> None:
        """Store what of the open fragments is not stored yet. The answer continues without it."""
        pieces, lengths, after = self._checkpointed.missing(), self._checkpointed.lengths(), self.seq
        token = None if self._claim is None else self._claim.token
        if not pieces:
            return
        try:
            await self._call(lambda store: store.checkpoint(self.session_id, pieces, after=after, token=token))
        except StoreError as error:
            if not self._checkpointed.is_refused:  # later ones fail for the same reason, twice a second
                _log.warning("session %r: no checkpoint after seq %d: %s", self.session_id, after, error)
            self._checkpointed.is_refused = True
        else:
            self._checkpointed.advance(lengths)

    async def _snapshot(self) -> None:
        transcript = self._projection.recorded()
        await self._call(lambda store: store.snapshot(self.session_id, transcript))
        self._snapshot_seq = self.seq

    async def _keep_snapshot(self) -> None:
        if self._snapshot_every is None or self.seq - self._snapshot_seq < self._snapshot_every:
            return
        try:
            await self._snapshot()
        except StoreError as error:
            # The batch is stored, and a snapshot only saves time. The next one is due later.
            self._snapshot_seq = self.seq
            _log.warning("session %r: no snapshot at seq %d: %s", self.session_id, self.seq, error)

    async def _prompt(self, content: ContentInput, name: str | None, meta: Meta, *, abandon_calls: bool) -> Records:
        prompt = PromptSubmitted(message_id=self.new_id() if name is None else name, content=as_prompt(content))

        def plan() -> list[Event]:
            is_new = name not in self.transcript  # else the calls that wait are of its own answer
            calls = self.transcript.pending_tool_calls if abandon_calls and is_new else ()
            return [*[call.fail(interrupted("the next prompt came without its result")) for call in calls], prompt]

        return await self._append(plan, meta, names=())

    async def _rewind(
        self, message_id: str, meta: Meta, *then: Event, last: bool = False, as_it_is: bool = False
    ) -> Records:
        """Remove a message; one that another writer has written meanwhile only *as it is* then."""

        def plan() -> list[Event]:
            self._message(message_id)
            newest = self.transcript.last
            if last and (newest is None or newest.id != message_id or message_id in self._receivers.message_ids):
                return []
            ends = [event for event in self._closing() if event.message_id == message_id] if last else []
            return [*ends, HistoryRewound(message_id=message_id), *then]

        return await self._append(plan, meta, names=None if last else () if as_it_is else (message_id,))

    async def _regenerate(self, message_id: str, meta: Meta) -> Records:
        if not isinstance(self._message(message_id), AssistantMessage):
            raise LocalProtocolError(f"message {message_id!r} is not an answer; regenerate takes one, edit a prompt")
        return await self._rewind(message_id, meta, as_it_is=True)

    async def _edit(self, message_id: str, content: ContentInput, name: str | None, meta: Meta) -> Records:
        if not isinstance(self._message(message_id), UserMessage):
            raise LocalProtocolError(
                f"message {message_id!r} is not a prompt; edit takes a prompt, regenerate an answer"
            )
        prompt = PromptSubmitted(message_id=self.new_id() if name is None else name, content=as_prompt(content))
        return await self._rewind(message_id, meta, prompt)

    async def _stop(self, client: Client | None, meta: Meta) -> Records:
        received, records, runs = await self._alone(self._cancelled(client, meta))
        for message in runs:
            if client is not None and message.id not in received:
                await stop_run(client, message, message.id)
        return records

    async def _cancelled(
        self, client: Client | None, meta: Meta
    ) -> tuple[Collection[str | None], Records, list[AssistantMessage]]:
        """Cancel the turn; return the messages that are received here, the records, and the answers with a run."""
        pieces, seq = tuple[DeltaEvent, ...](), self.seq + 1
        while seq > self.seq:  # the pieces of what another process receives, and the records before them
            await self._refresh()
            pieces, seq = await self._call(lambda s: (s.load_checkpoints(self.session_id), s.seq(self.session_id)))
        self._projection.extend(pieces)
        runs = [self.transcript.answer(left.message_id) for left in self.transcript.unfinished() if left.run]
        received, name = self._receivers.message_ids, self.new_id()
        return received, await self._append(lambda: self._receivers.cancellation(name, client), meta, names=()), runs

    def _closing(self, **abandon: bool) -> list[Event]:
        """Return the events that close abandoned messages, except those that this session receives."""
        busy = self._receivers.message_ids
        return [event for event in reconcile(self.transcript, **abandon) if event.message_id not in busy]

    async def _reconcile(self, meta: Meta, **abandon: bool) -> Records:
        return await self._append(lambda: self._closing(**abandon), meta)

    # -- decisions

    def _start_from(self, snapshot: Transcript) -> None:
        self._projection.start_from(snapshot)
        self._snapshot_seq = snapshot.seq

    def _message(self, message_id: str) -> Message:
        message = self.transcript.get(message_id)
        if message is None:
            gone = "was rewound" if message_id in self.transcript.rewound else "does not exist"
            raise LocalProtocolError(f"session {self._session_id!r}: message {message_id!r} {gone}")
        return message

    async def _take_turn(self, ask: Ask, name: str, *, repair: bool) -> None:
        await self._refresh()
        if not repair:
            if (other := self._receivers.asked_for) is not None:
                hint = "leave that block first, or pass repair=True"
                raise LocalProtocolError(f"message {other!r} is being received; {hint}")
            check_turn(self.transcript)
        self._receivers.asking[ask] = name

    def _resumable(self) -> str:
        for left in self.transcript.unfinished():
            if left.run is not None and left.run.resumable:
                return left.message_id
        raise LocalProtocolError(f"nothing can be resumed: no run continues (awaits: {self.transcript.awaits})")
