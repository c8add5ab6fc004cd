"""
One run from its first request to its end, over as many connections as that takes.

The decisions are those of `recovery`. Nothing is read before it is asked for: a slow reader slows the provider down.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, assert_never, final

import attrs

from assistant_events.adapters.json_fields import Fields, mapping, string
from assistant_events.clients.recovery import (
    ConnectionState,
    FailureMode,
    FetchedRun,
    RecoveryState,
    RequestKind,
    RunSummary,
    Situation,
    classify,
)
from assistant_events.clients.report import Report
from assistant_events.clients.retry import GONE, RequestFailedError, may_create_again, retried
from assistant_events.clients.tracking_decoder import TrackingDecoder
from assistant_events.events import Event
from assistant_events.messages import fail_again
from assistant_events.values import ErrorInfo, ErrorKind
from assistant_events.values.validators import NO_STATE

if TYPE_CHECKING:
    from assistant_events.clients.http import Stream, Transport

_T = TypeVar("_T")

_LOST: Final[Mapping[Situation | None, str]] = {Situation.ZOMBIE: "zombie", Situation.LOST: "gone"}
"""Situations in which the run cannot be resumed, in the words of the reason of a restart."""


@final
@attrs.frozen(kw_only=True)
class Start:
    """The first request for a run."""

    kind: RequestKind
    body: Fields = NO_STATE  # of the request that creates a run
    run_id: str = ""  # of an existing run
    wait: bool = True  # whether to fetch the document again while the run is in progress


class Interrupt(Enum):
    """Why waiting ends early."""

    SILENT = auto()  # the stream brings nothing, and the document of the run shows that it should
    ABANDONED = auto()  # the stream has brought nothing for longer than the policy waits for a run
    STOP = auto()  # the run was stopped, or its reader left


class InterruptedWaitError(Exception):
    """Raised in place of the result that was awaited when an `Interrupt` came."""


@final
class Connection:
    """One connection, and what was observed of it. Times are seconds of the client's clock."""

    def __init__(self, stream: Stream, kind: RequestKind, now: float) -> None:
        self.stream = stream
        self.kind = kind
        self.opened = now
        self.last_byte: float | None = None
        self.waiting_since: float | None = None  # `None` while no reader waits
        self.news = 0  # times of new content or a new status; bytes, comments and repeated events do not count
        self.gave = False  # it caused events
        self.over = False  # the rest does not matter
        self.failure: RequestFailedError | None = None
        self.watch: asyncio.Task[None] | None = None
        self._waited = 0.0  # time of waiting since the last news, without the wait in progress

    @property
    def replay(self) -> bool:
        """Whether it repeats a run that exists."""
        return self.kind is not RequestKind.CREATE

    def silence(self, now: float) -> float:
        """Return for how many seconds a reader has waited for news. It does not grow without a reader."""
        return self._waited + (0.0 if self.waiting_since is None else now - self.waiting_since)

    def received(self, now: float, *, news: bool) -> None:
        """End the wait in progress, with or without news."""
        self._waited = 0.0 if news else self.silence(now)
        self.news += news
        self.waiting_since = None


_Next: TypeAlias = tuple[RequestKind | None, list[Event]]
"""The next request, `None` for the end, and the events until then."""


@final
class RunDriver:
    """Drives one run with `batches`; `close` and `interrupt` end it from outside, `report` returns its state."""

    def __init__(self, start: Start, decoder: TrackingDecoder, transport: Transport) -> None:
        self.decoder = decoder
        self.state = RecoveryState()
        self.closed = False  # the message was ended, from inside or from outside
        self._start = start
        self._transport = transport
        self._policy = transport.policy
        self._clock = transport.clock
        self._fetched: FetchedRun | None = None  # has the end of the run, and has not been used yet
        self._connection: Connection | None = None
        self._interrupt: Interrupt | None = None
        self._scope: asyncio.Timeout | None = None
        decoder.run_id = start.run_id

    # -- for the stream

    @property
    def over(self) -> bool:
        """Whether all events were returned."""
        return self.closed or self.decoder.terminal

    @property
    def resumable(self) -> bool:
        """Whether the run continues without a connection. One that is taken up again is known to do so."""
        return bool(self.decoder.run_id) and (bool(self._start.run_id) or self.decoder.resumable)

    async def batches(self) -> AsyncGenerator[list[Event], None]:
        """Yield events, those of one piece of the stream together, until the message has ended."""
        try:
            request, events = await self._make(self._start.kind)
            while True:
                if events:
                    yield events
                if self._connection is not None:
                    received = await self._receive(self._connection)
                    events = received or []
                    if received is None:
                        request = await self._disconnected(self._connection)
                elif request is None:
                    break
                else:
                    request, events = await self._make(request)
        finally:
            if self._connection is not None:
                self.state = self.state.attempted(self._connection.kind)
            await self._disconnect()
        events = self.close(self.state.error)
        if events:
            yield events

    def close(self, error: ErrorInfo | None) -> list[Event]:
        """End the message as it is. A stopped run ends as stopped, even if its reader leaves meanwhile."""
        if self.closed:
            return []
        if self._interrupt is Interrupt.STOP:
            error = self.state.error
        decoder = self.decoder
        # An end that is held is complete but for its usage.
        events = decoder.release({}) if decoder.held else []
        ended = decoder.terminal or decoder.paused
        if error is not None or self.state.situation is None:
            events += decoder.close(error)
        final = decoder.error if ended else decoder.error or error
        self.state = attrs.evolve(self.state, error=final)
        self.closed = True
        return events if ended else events + self._final_word(error)

    def _final_word(self, error: ErrorInfo | None) -> list[Event]:
        """Fail a message again that a cut had closed before, so that no reader waits for its run."""
        message, final = self.decoder.message, self.state.error
        cancelled = final is not None and final.kind == ErrorKind.CANCELLED
        reason = _LOST.get(self.state.situation, "cancelled" if cancelled else None)
        if error is None or message is None or reason is None or message.error == error:
            return []
        return [*fail_again(message, error, f"the run is {reason}")]

    def interrupt(self, error: ErrorInfo) -> None:
        """End the message with *error* as soon as possible, whatever is awaited. The reader gets the events."""
        if not self.over and self._interrupt is not Interrupt.STOP:
            self.state = attrs.evolve(self.state, error=error)
        self._wake(Interrupt.STOP)

    def report(self) -> Report:
        """Return the state of the run."""
        decoder, state, connection = self.decoder, self.state, self._connection
        return Report(
            message_id=decoder.message_id,
            situation=self._situation(),
            mode=state.mode,
            error=(state.error if self.closed else decoder.error) if self.over else None,
            run_id=decoder.run_id or None,
            resumable=self.resumable,
            status=decoder.status or state.status,
            run=state.run,
            attempts=(state if connection is None else state.attempted(connection.kind)).attempts,
        )

    def _situation(self) -> Situation:
        decoder, state = self.decoder, self.state
        error = state.error if self.closed else decoder.error
        if not self.over:
            return Situation.FINISHED if decoder.held else Situation.FOLLOWING
        if state.situation is not None:
            return state.situation
        if error is None or error.kind == ErrorKind.CANCELLED or decoder.completed:
            return Situation.FINISHED
        if not self.resumable:
            return Situation.NO_STREAM if decoder.stored else Situation.LOST
        if decoder.erred:
            return Situation.NO_STREAM if self._start.run_id else Situation.INTERRUPTED
        failed = state.mode is FailureMode.RECUT or (state.mode is FailureMode.CUT and state.replay_failed)
        return Situation.REPLAY_FAILED if failed else Situation.INTERRUPTED

    # -- creating a run

    async def _make(self, request: RequestKind) -> _Next:
        match request:
            case RequestKind.CREATE:
                return await self._create(self._start.body)
            case RequestKind.CURSOR | RequestKind.REPLAY:
                return await self._follow(request), []
            case RequestKind.FETCH:
                return await (self._fetch_usage() if self.decoder.held else self._fetch_document())
            case _ as never:
                assert_never(never)

    async def _create(self, body: Fields) -> _Next:
        create = partial(self._transport.create, body)
        again = partial(may_create_again, keeps_runs=self._transport.api.keeps_run(body))
        try:
            answer = await self._awaited(partial(retried, create, again, self._policy, self._clock))
        except InterruptedWaitError:
            return None, []
        except RequestFailedError as failure:
            self.state = self.state.attempted(RequestKind.CREATE, failure.error)
            self.state = attrs.evolve(self.state, error=failure.error)
            return None, []
        if not isinstance(answer, FetchedRun):
            self._connected(answer, RequestKind.CREATE)
            return None, []
        self._learn(answer, RequestKind.CREATE)
        if not answer.run.running:
            return self._use_document(answer, rejoin=False)
        # A run in the background without a stream: only its id is known yet.
        events = self.decoder.feed_event(next(iter(self.decoder.resource_events(answer.resource))))
        if self.resumable:
            return RequestKind.REPLAY, events
        return (RequestKind.FETCH if self.decoder.stored else None), events

    # -- following a stream

    def _connected(self, stream: Stream, kind: RequestKind) -> None:
        connection = Connection(stream, kind, self._clock.monotonic())
        connection.watch = asyncio.get_running_loop().create_task(self._watch(connection))
        self._connection = connection

    async def _follow(self, kind: RequestKind) -> RequestKind | None:
        """Request the stream of the run; `_connection` is set when there is one."""
        decoder, clock = self.decoder, self._clock
        cursor = decoder.stream_cursor if kind is RequestKind.CURSOR else None
        kind = RequestKind.REPLAY if cursor is None else RequestKind.CURSOR
        self.state = attrs.evolve(self.state, follows=self.state.follows + 1)
        try:
            if self.state.idle or self.state.attempts:
                await self._awaited(partial(clock.sleep, self._policy.reconnect_delay_s * (self.state.idle + 1)))
            answer = await self._awaited(partial(self._transport.follow, decoder.run_id, cursor))
        except InterruptedWaitError:
            return None
        except RequestFailedError as failure:
            self.state = self.state.attempted(kind, failure.error, FailureMode.DROP)
            return await self._not_followed(failure, cursor)
        if isinstance(answer, FetchedRun):
            # A server that sends the document instead of a stream.
            self._learn(answer, kind)
            self._fetched = answer
            return RequestKind.FETCH
        if cursor is None:
            decoder.restart_stream()
        else:
            decoder.continue_stream()
        self._connected(answer, kind)
        return None

    async def _not_followed(self, failure: RequestFailedError, cursor: str | None) -> RequestKind | None:
        self.state = attrs.evolve(self.state, replay_failed=True)
        if failure.status in GONE:
            self.state = self.state.lost(failure.error)
            return None
        if failure.status in (401, 403):
            self.state = attrs.evolve(self.state, error=failure.error)
            return None
        if not failure.transient:
            # The cursor is not known any more, or the run has no stream.
            return RequestKind.FETCH if cursor is None else RequestKind.REPLAY
        self.state = self.state.not_followed(failure.error)
        after = failure.error.retry_after_s
        if after is not None and after <= self._policy.retry_max_s:
            with suppress(InterruptedWaitError):
                await self._awaited(partial(self._clock.sleep, after))
        return self._next_request(FailureMode.DROP)

    async def _receive(self, connection: Connection) -> list[Event] | None:
        """Return the events of the next piece of the stream; `None` when the rest does not matter."""
        decoder, clock = self.decoder, self._clock
        if connection.over or decoder.idle:
            return None
        connection.waiting_since = clock.monotonic()
        try:
            data = await self._awaited(connection.stream.read)
        except InterruptedWaitError:
            connection.over = True
            return None
        except RequestFailedError as failure:
            connection.failure = failure
            data = b""
        connection.last_byte = clock.monotonic()
        connection.over = not data
        known = decoder.news
        events = decoder.feed(data) if data else decoder.end_stream()
        connection.gave = connection.gave or bool(events)
        # The time at which the data is decoded: reading a flood of repeated events takes as long as waiting does.
        connection.received(clock.monotonic(), news=bool(events) or decoder.news != known)
        return events

    async def _disconnected(self, connection: Connection) -> RequestKind | None:
        """Classify the end of a connection, and return the next request."""
        await self._disconnect()
        decoder, failure = self.decoder, connection.failure
        seen = ConnectionState(
            replay=connection.replay,
            age_s=self._clock.monotonic() - connection.opened,
            completed=decoder.terminal or decoder.completed,
            erred=decoder.erred,
            running=decoder.running,
            lacks_usage=decoder.held,
            empty_errors=decoder.empty_errors,
            cut_tail=self._transport.api.is_cut_tail(decoder.tail),
            silent=self._interrupt is Interrupt.SILENT,
            failed=failure is not None,
            aborted=self._interrupt is Interrupt.STOP,
        )
        mode = classify(seen, self._transport.api.traits, self.state.run, self._now())
        state = self.state.attempted(connection.kind, None if failure is None else failure.error, mode)
        self.state = attrs.evolve(state, status=decoder.status or self.state.status, mode=mode or self.state.mode)
        if seen.aborted or self._interrupt is Interrupt.ABANDONED or decoder.terminal or decoder.paused:
            return None
        self._interrupt = None
        self.state = self.state.disconnected(seen, mode, news=connection.gave)
        if failure is not None and failure.status in GONE:
            self.state = self.state.lost(failure.error)
            return None
        if mode is FailureMode.ZOMBIE and self.state.run is not None:
            self.state = self.state.dead(self.state.run)
            return None
        self.state = attrs.evolve(self.state, error=None if failure is None else failure.error)
        if decoder.foreign is not None:
            message = f"asked for run {decoder.run_id[:100]!r}, got the stream of {decoder.foreign[:100]!r}"
            error = ErrorInfo(kind=ErrorKind.PROTOCOL, message=message)
            self.state = attrs.evolve(self.state, error=error, stalled=True)
        return self._next_request(mode)

    def _next_request(self, mode: FailureMode | None) -> RequestKind | None:
        cursor = self.decoder.stream_cursor is not None and not self.decoder.strayed
        request = self.state.next_request(mode, self._policy, resumable=self.resumable, cursor=cursor)
        if request is None and self.state.error is None and mode in (FailureMode.CUT, FailureMode.RECUT):
            message = "the provider cut the stream after ten minutes"
            error = ErrorInfo(kind=ErrorKind.INTERRUPTED, message=message, retryable=True)
            self.state = attrs.evolve(self.state, error=error)
        return request

    async def _watch(self, connection: Connection) -> None:
        """Supervise a stream that brings nothing new while a reader waits for it."""
        policy, clock = self._policy, self._clock
        asked, news = 0.0, connection.news
        while True:
            if connection.news != news:
                asked, news = 0.0, connection.news
            # A run that is not in the background has no document before its end.
            patience = policy.silence_s if self.resumable else policy.foreground_silence_s
            left = asked + patience - connection.silence(clock.monotonic())
            if left > 0:
                # In steps: what is known of the run may change, and with it the patience.
                await clock.sleep(min(left, policy.silence_s))
            elif await self._is_dead(connection):
                if connection.news == news:
                    self._wake(Interrupt.SILENT)
                    return
                connection.failure = None
            elif connection.news == news:
                asked = connection.silence(clock.monotonic())
                if asked >= self._patience():
                    self.state = self.state.abandoned(asked)
                    self._wake(Interrupt.ABANDONED)
                    return

    async def _is_dead(self, connection: Connection) -> bool:
        """Return whether a silent stream will not bring anything any more."""
        now = self._clock.monotonic()
        if not self.resumable:
            silence, quiet_s = connection.silence(now), now - (connection.last_byte or connection.opened)
            if quiet_s < self._policy.foreground_silence_s and silence < self._policy.foreground_thought_s:
                return False
            message = f"the stream gave nothing new for {silence:.0f} s"
            error = ErrorInfo(kind=ErrorKind.TIMEOUT, message=message, retryable=True)
            connection.failure = RequestFailedError(error)
            return True
        try:
            fetched = await self._transport.fetch(self.decoder.run_id)
        except RequestFailedError as failure:
            connection.failure = failure
            return True
        self._learn(fetched)
        if not fetched.run.running:
            self._fetched = fetched
            return True
        # A stalled replay brings not even bytes. One that does may continue: the document is fetched again later.
        quiet_s = self._clock.monotonic() - (connection.last_byte or connection.opened)
        stalled = connection.replay and quiet_s >= self._policy.silence_s
        return stalled or self._is_zombie(fetched.run)

    # -- fetching the document

    async def _fetch_document(self) -> _Next:
        """Fetch the document of the run until the run has ended."""
        clock, policy = self._clock, self._policy
        began = clock.monotonic()
        polls = 0
        while True:
            try:
                if polls:
                    await self._awaited(partial(clock.sleep, policy.poll_delay(polls - 1)))
                fetched = await self._awaited(self._fetch)
            except InterruptedWaitError:
                return None, []
            except RequestFailedError as failure:
                if failure.status in GONE:
                    self.state = self.state.lost(failure.error)
                else:
                    self.state = self.state.not_fetched(failure.error, policy, transient=failure.transient)
                return None, []
            polls += 1
            if not fetched.run.running:
                return self._use_document(fetched, rejoin=True)
            waited = clock.monotonic() - began
            if self._is_zombie(fetched.run):
                self.state = self.state.dead(fetched.run)
            elif not self._start.wait:
                self.state = self.state.abandoned()
            elif waited >= self._patience():
                self.state = self.state.abandoned(waited)
            else:
                continue
            return None, []

    async def _fetch(self) -> FetchedRun:
        """Return the document of the run: the one that is here already, or a new one."""
        fetched, self._fetched = self._fetched, None
        if fetched is not None:
            return fetched
        fetch = partial(self._transport.fetch, self.decoder.run_id)
        try:
            fetched = await retried(fetch, lambda failure: failure.transient, self._policy, self._clock)
        except RequestFailedError as failure:
            self.state = self.state.attempted(RequestKind.FETCH, failure.error)
            raise
        self._learn(fetched, RequestKind.FETCH)
        return fetched

    def _use_document(self, fetched: FetchedRun, *, rejoin: bool) -> _Next:
        decoder = self.decoder
        if rejoin:
            decoder.restart_stream()
        events = decoder.feed_resource(fetched.resource)
        return (RequestKind.FETCH if decoder.held else None), events

    async def _fetch_usage(self) -> _Next:
        """Fetch the usage of the run, a few times, and end the message with or without it."""
        usage: Fields = {}
        for delay in self._policy.usage_delays_s:
            try:
                await self._awaited(partial(self._clock.sleep, delay))
                fetched = await self._awaited(partial(self._transport.fetch, self.decoder.run_id))
            except InterruptedWaitError:
                break
            except RequestFailedError as failure:
                self.state = self.state.attempted(RequestKind.FETCH, failure.error)
                if not failure.transient:
                    break
                continue
            self._learn(fetched, RequestKind.FETCH)
            usage = mapping(fetched.resource, "usage")
            if usage:
                break
        return None, self.decoder.release(usage)

    # -- internals

    def _learn(self, fetched: FetchedRun, kind: RequestKind | None = None) -> None:
        """Record a document, and the attempt that fetched it unless a stream is followed meanwhile."""
        self.state = (self.state if kind is None else self.state.attempted(kind)).fetched(fetched.run)
        self.decoder.run_id = self.decoder.run_id or string(fetched.resource, "id") or ""

    def _now(self) -> datetime:
        """Return the time at which the document was fetched, by the server's clock if possible."""
        run = self.state.run
        return self._clock.now() if run is None or run.served_at is None else run.served_at

    def _is_zombie(self, run: RunSummary) -> bool:
        return self._transport.api.traits.is_zombie(run, self._now())

    def _patience(self) -> float:
        """Return for how many seconds a run in progress is waited for."""
        agent = self._transport.api.is_agent(self.decoder.request)
        return self._policy.poll_agent_s if agent else self._policy.poll_model_s

    async def _awaited(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Return the result of *work*, unless an interrupt comes."""
        if self._interrupt is not None:
            raise InterruptedWaitError
        try:
            async with asyncio.timeout(None) as self._scope:
                return await work()
        except TimeoutError:
            # A timeout of the work itself is a `RequestFailedError`.
            raise InterruptedWaitError from None
        finally:
            self._scope = None

    def _wake(self, interrupt: Interrupt) -> None:
        if self._interrupt is Interrupt.STOP:
            return
        self._interrupt = interrupt
        if self._scope is not None:
            self._scope.reschedule(asyncio.get_running_loop().time())

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        assert connection.watch is not None, "started with the connection"
        connection.watch.cancel()
        try:
            await asyncio.wait((connection.watch,))
        finally:  # also in a scope of anyio that was cancelled, where this wait is too
            await connection.stream.aclose()
