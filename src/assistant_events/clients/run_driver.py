"""
One run from its first request to its end, over as many connections as that takes.

Decisions are those of `recovery`. Nothing is read before it is asked for, and nothing is kept that was not asked for:
whoever reads slowly makes the provider wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final, TypeVar, assert_never, final

import attrs

from assistant_events.adapters.gemini_interactions.decoder import resource_stream
from assistant_events.adapters.json_fields import Fields, mapping, plain_json, string
from assistant_events.clients.clock import Clock
from assistant_events.clients.connection import Connection, Interrupt, InterruptedReadError
from assistant_events.clients.http import (
    Answer,
    FetchedRun,
    RequestFailedError,
    Stream,
    Transport,
)
from assistant_events.clients.recovery import (
    ZOMBIE_CODE,
    AttemptHistory,
    ConnectionPhase,
    ConnectionState,
    DocumentVerdict,
    FailureMode,
    NextAction,
    RecoveryPolicy,
    RunSummary,
    Situation,
    classify,
    handle,
    next_move,
    read_document,
)
from assistant_events.clients.report import (
    MAX_ATTEMPTS,
    Attempt,
    AttemptKind,
    Backfill,
    Report,
    RunOutcome,
    Stage,
)
from assistant_events.clients.retry import may_ask_again, may_create_again, retried
from assistant_events.clients.start import Create, Fallback, FetchDocument, FollowStream, Start, is_forgotten
from assistant_events.clients.tracking_decoder import TrackingDecoder
from assistant_events.events import Event
from assistant_events.messages import failed_anew
from assistant_events.values import ErrorInfo, ErrorKind, write_json

_T = TypeVar("_T")

_FINAL: Final = frozenset({RunOutcome.ZOMBIE, RunOutcome.GONE, RunOutcome.CANCELLED})
"""Outcomes after which there is nothing to come back to."""


@final
class RunDriver:
    """
    See the module.

    `batches` runs it; `close` and `interrupt` end it from outside; `report` says how it stands at any moment.
    """

    def __init__(
        self, start: Start, decoder: TrackingDecoder, transport: Transport, policy: RecoveryPolicy, clock: Clock
    ) -> None:
        self.decoder = decoder
        self._start = start
        self._transport = transport
        self._policy = policy
        self._clock = clock
        self._stage = Stage.CONNECTING
        self._mode: FailureMode | None = None
        self._outcome: RunOutcome | None = None
        self._error: ErrorInfo | None = None
        self._status: str | None = None
        self._document: RunSummary | None = None
        self._fetched: FetchedRun | None = None
        self._date: datetime | None = None
        self._backfill = Backfill.NOT_NEEDED
        self._attempts: deque[Attempt] = deque(maxlen=MAX_ATTEMPTS)
        self._requests = 0
        self._idle = 0
        self._follows = 0
        self._recuts = 0
        self._stalled = False
        self._resume_failed = False
        self._taken_up = not isinstance(start, Create)
        self._leaves_open = False
        self._link: Connection | None = None
        self._alarm: Interrupt | None = None
        self._scope: asyncio.Timeout | None = None
        self._over = False
        if not isinstance(start, Create):
            decoder.run_id = start.run_id

    # -- for whoever reads

    @property
    def over(self) -> bool:
        """Whether everything has been said."""
        return self._over or self.decoder.terminal

    @property
    def closed(self) -> bool:
        """Whether the message was ended, from inside or from outside."""
        return self._over

    @property
    def resumable(self) -> bool:
        """Whether the run goes on without us; whoever asks for one that exists says so."""
        return bool(self.decoder.run_id) and (not isinstance(self._start, Create) or self.decoder.resumable)

    async def batches(self) -> AsyncGenerator[list[Event], None]:
        """Yield events, those of one piece of the stream together, until the message has ended."""
        try:
            move, events = await self._begin()
            while True:
                if events:
                    yield events
                if self._link is not None:
                    received = await self._receive(self._link)
                    events = received or []
                    if received is None:
                        move = await self._disconnected(self._link)
                elif move is NextAction.END:
                    break
                else:
                    move, events = await self._make(move)
        finally:
            if self._link is not None:
                self._tried(self._link.kind, self._link.opened, events=self._link.frames)
            await self._hang_up()
        events = self.close(self._error)
        if events:
            yield events

    def close(self, error: ErrorInfo | None) -> list[Event]:
        """End the message where it stands. When the run was stopped, it ends as that says, whoever leaves meanwhile."""
        if self._over:
            return []
        if self._alarm is Interrupt.STOP:
            error = self._error
        decoder = self.decoder
        events: list[Event] = []
        if decoder.held:
            # The answer is complete: only what it cost is not known.
            self._backfill = Backfill.MISSING
            events += decoder.release({})
        ended = decoder.terminal or decoder.paused
        if not self._leaves_open:
            events += decoder.close(error)
        if self._outcome is None:
            self._outcome = _named(decoder.error if ended else decoder.error or error)
        self._over = True
        return events if ended else events + self._last_word(error)

    def _last_word(self, error: ErrorInfo | None) -> list[Event]:
        """Fail a message anew that a cut had closed before this course: nothing more will come, so nobody may wait."""
        message = self.decoder.message
        if error is None or message is None or self._outcome not in _FINAL or message.error == error:
            return []
        return [*failed_anew(message, error, f"the run is {self._outcome}")]

    def interrupt(self, error: ErrorInfo) -> None:
        """End the message at the next moment, whatever is waited for. The reader gets the events of it."""
        if not self.over and self._alarm is not Interrupt.STOP:
            self._error = error
        self._sound(Interrupt.STOP)

    def report(self, message_id: str) -> Report:
        """Return how the run stands."""
        decoder, document = self.decoder, self._document
        attempts, link = tuple(self._attempts), self._link
        if link is not None:
            # Not until now: a report may be asked for where no event loop runs, and so no clock.
            lasted_s = 0.0 if link.last_byte is None else link.last_byte - link.opened
            attempts += (Attempt(kind=link.kind, events=link.frames, lasted_s=lasted_s),)
        outcome = self._outcome if self._over or not self.over else self._outcome or _named(decoder.error)
        return Report(
            message_id=message_id,
            stage=Stage.OVER if self.over else self._stage,
            situation=self._situation(outcome),
            outcome=outcome,
            mode=self._mode,
            error=(decoder.error or self._error) if self.over else None,
            run_id=decoder.run_id or None,
            resumable=self.resumable,
            status=decoder.status or self._status,
            created=decoder.created or (None if document is None else document.created),
            updated=decoder.updated if document is None else document.updated,
            document=document,
            backfill=self._backfill,
            empty_errors=decoder.empty_errors,
            attempts=attempts[-MAX_ATTEMPTS:],
            requests=self._requests + (link is not None),
        )

    # -- beginning

    async def _begin(self) -> tuple[NextAction, list[Event]]:
        match self._start:
            case Create():
                return await self._create(self._start)
            case FollowStream():
                return NextAction.REPLAY, []
            case FetchDocument():
                return NextAction.FETCH, []
            case _ as never:
                assert_never(never)

    async def _make(self, move: NextAction) -> tuple[NextAction, list[Event]]:
        match move:
            case NextAction.FETCH:
                return await self._ask()
            case NextAction.BACKFILL:
                return await self._ask_usage()
            case NextAction.CURSOR | NextAction.REPLAY:
                return await self._follow(move), []
            case NextAction.END:  # pragma: no cover - `batches` makes no such move
                return move, []
            case _ as never:
                assert_never(never)

    async def _create(self, start: Create) -> tuple[NextAction, list[Event]]:
        body = start.body
        stream = body.get("stream") is True
        request = write_json(body)
        began = self._clock.monotonic()
        try:
            create = partial(self._transport.create, request, stream=stream)
            answer = await self._alert(partial(retried, create, may_create_again, self._policy, self._clock))
        except InterruptedReadError:
            return NextAction.END, []
        except RequestFailedError as failure:
            self._tried(AttemptKind.CREATE, began, failure=failure)
            if start.fallback is not None and is_forgotten(body, failure):
                return await self._create(self._say_all(start.fallback))
            self._error = failure.error
            self._outcome = None if failure.status is None else RunOutcome.FAILED
            return NextAction.END, []
        return self._answered(answer, began)

    def _say_all(self, fallback: Fallback) -> Create:
        body = plain_json(fallback())
        self.decoder.request = body
        return Create(body=body)

    def _answered(self, answer: Answer, began: float) -> tuple[NextAction, list[Event]]:
        if isinstance(answer, Stream):
            self._connected(answer, ConnectionPhase.CREATE, AttemptKind.CREATE)
            return NextAction.END, []
        self._tried(AttemptKind.CREATE, began)
        self._learn(answer)
        if read_document(answer.resource).finished:
            return self._fold(answer.resource, rejoin=False)
        # A run that was sent to the background without a stream: only its id is known yet.
        head = {key: value for key, value in answer.resource.items() if key not in ("steps", "outputs")}
        events = self.decoder.feed_event({"event_type": "interaction.created", "interaction": head})
        if self.resumable:
            return NextAction.REPLAY, events
        return (NextAction.FETCH if self.decoder.stored else NextAction.END), events

    def _connected(self, stream: Stream, phase: ConnectionPhase, kind: AttemptKind) -> None:
        self._stage = Stage.STREAMING
        self._link = link = Connection(stream, phase, kind, self._clock.monotonic())
        link.watch = asyncio.get_running_loop().create_task(self._watch(link))

    # -- following a stream

    async def _follow(self, move: NextAction) -> NextAction:
        """Ask for the stream of the run. With one, `_link` is there afterwards."""
        decoder = self.decoder
        cursor = decoder.cursor if move is NextAction.CURSOR else None
        kind = AttemptKind.REPLAY if cursor is None else AttemptKind.CURSOR
        began = self._clock.monotonic()
        self._stage = Stage.CONNECTING
        self._taken_up = True
        self._follows += 1
        try:
            if self._idle or self._requests:
                await self._alert(partial(self._clock.sleep, self._policy.reconnect_delay_s * (self._idle + 1)))
            answer = await self._alert(partial(self._transport.follow, decoder.run_id, cursor))
        except InterruptedReadError:
            return NextAction.END
        except RequestFailedError as failure:
            self._tried(kind, began, failure=failure, mode=FailureMode.DROP)
            return await self._not_followed(failure, cursor)
        if isinstance(answer, FetchedRun):
            # A server that gives the document where a stream was asked for.
            self._tried(kind, began)
            self._learn(answer)
            self._fetched = answer
            return NextAction.FETCH
        if cursor is None:
            decoder.start_over()
        else:
            decoder.go_on()
        self._connected(answer, ConnectionPhase.REPLAY, kind)
        return NextAction.END

    async def _not_followed(self, failure: RequestFailedError, cursor: str | None) -> NextAction:
        self._resume_failed = True
        if failure.status == 404:
            return self._gone(failure)
        if failure.refused:
            if failure.status in (401, 403):
                self._error = failure.error
                self._outcome = RunOutcome.FAILED
                return NextAction.END
            # A cursor that is not known any more, or a run without a stream.
            return NextAction.FETCH if cursor is None else NextAction.REPLAY
        self._idle += 1
        if self._mode is not FailureMode.CUT:
            self._mode = FailureMode.DROP
        self._error = failure.error
        if failure.retry_after is not None and failure.retry_after <= self._policy.retry_max_s:
            with suppress(InterruptedReadError):
                await self._alert(partial(self._clock.sleep, failure.retry_after))
        return self._next(FailureMode.DROP)

    async def _receive(self, link: Connection) -> list[Event] | None:
        """Return the events of the next piece of the stream; `None` when nothing that matters comes any more."""
        decoder = self.decoder
        if link.over or decoder.idle:
            return None
        link.waiting_since = self._clock.monotonic()
        try:
            data = await self._alert(link.stream.read)
        except InterruptedReadError:
            link.over = True
            return None
        except RequestFailedError as failure:
            link.failure = failure
            data = b""
        link.last_byte = self._clock.monotonic()
        if not data:
            link.over = True
            # Ends a frame that came whole but for its end mark; what is no frame is the tail then.
            data = b"\n\n"
        link.count(data)
        known = decoder.news
        events = decoder.feed(data)
        if events:
            link.gave = True
        # A flood of what says nothing takes its time to be read, and leaves none to wait for it.
        link.waited(self._clock.monotonic(), news=bool(events) or decoder.news != known)
        return events

    async def _disconnected(self, link: Connection) -> NextAction:
        """Say what has happened to a connection that is over, and what is next."""
        await self._hang_up()
        decoder = self.decoder
        silent = self._alarm is Interrupt.SILENT
        seen = ConnectionState(
            phase=link.phase,
            opened=link.opened,
            ended=self._clock.monotonic(),
            last_byte=link.last_byte,
            events=link.frames,
            terminal=decoder.terminal or decoder.completed,
            erred=decoder.erred,
            status=decoder.status,
            has_usage=not decoder.held,
            stored=decoder.stored,
            empty_errors=decoder.empty_errors,
            tail=decoder.tail,
            silent=silent,
            failed=link.failure is not None,
            aborted=self._alarm is Interrupt.STOP,
        )
        mode = classify(seen, self._document, self._now())
        self._status = decoder.status or self._status
        self._tried(link.kind, link.opened, failure=link.failure, mode=mode, events=link.frames)
        if mode is not None:
            self._mode = mode
        if seen.aborted or self._alarm is Interrupt.GIVEN_UP or decoder.terminal or decoder.paused:
            return NextAction.END
        if silent:
            self._alarm = None
        self._idle = 0 if link.gave else self._idle + 1
        if link.phase is ConnectionPhase.REPLAY:
            self._resume_failed = not link.gave
        if mode is FailureMode.RECUT:
            self._recuts += 1
            self._stalled = silent
        failure = link.failure
        if failure is not None and failure.status == 404:
            return self._gone(failure)
        if mode is FailureMode.ZOMBIE:
            return self._buried()
        self._error = None if failure is None else failure.error
        if decoder.foreign is not None:
            message = f"asked for run {decoder.run_id[:100]!r}, got the stream of {decoder.foreign[:100]!r}"
            self._error = ErrorInfo(kind=ErrorKind.PROTOCOL, message=message)
            self._stalled = True
        return self._next(mode)

    def _next(self, mode: FailureMode | None) -> NextAction:
        history = AttemptHistory(
            resumable=self.resumable,
            cursor=self.decoder.cursor is not None and not self.decoder.strayed,
            idle=self._idle,
            follows=self._follows,
            recuts=self._recuts,
            stalled=self._stalled,
        )
        move = next_move(mode, history, self._policy)
        if move is NextAction.END and self._error is None and mode in (FailureMode.CUT, FailureMode.RECUT):
            self._error = ErrorInfo(
                kind=ErrorKind.INTERRUPTED, message="the provider cut the stream after ten minutes", retryable=True
            )
        return move

    async def _watch(self, link: Connection) -> None:
        """Look after a stream that gives nothing new while somebody waits for it."""
        policy, clock = self._policy, self._clock
        asked, news = 0.0, link.news
        while True:
            if link.news != news:
                asked, news = 0.0, link.news
            # A run that was not sent to the background has no document before it has ended.
            patience = policy.silence_s if self.resumable else policy.foreground_silence_s
            silence = link.silence(clock.monotonic())
            left = asked + patience - silence
            if left > 0:
                # Not all of it at once: what is known of the run, and so the patience, may change.
                await clock.sleep(min(left, policy.silence_s))
            elif await self._is_deaf(link):
                if link.news == news:
                    self._sound(Interrupt.SILENT)
                    return
                link.failure = None
            elif link.news == news:
                asked = link.silence(clock.monotonic())
                if asked >= self._patience():
                    self._given_up(asked)
                    self._sound(Interrupt.GIVEN_UP)
                    return

    async def _is_deaf(self, link: Connection) -> bool:
        """Tell whether a stream that gives nothing will not give anything any more."""
        if not self.resumable:
            message = f"the stream gave nothing new for {self._policy.foreground_silence_s:g} s"
            error = ErrorInfo(kind=ErrorKind.TIMEOUT, message=message, retryable=True)
            link.failure = RequestFailedError(error)
            return True
        try:
            fetched = await self._transport.fetch(self.decoder.run_id)
        except RequestFailedError as failure:
            link.failure = failure
            return True
        self._learn(fetched)
        handling = handle(read_document(fetched.resource), self._now())
        if handling is DocumentVerdict.FOLD:
            self._fetched = fetched
        # A replay that has stalled gives not even bytes. One that gives any may go on: the document is asked for again.
        quiet_s = self._clock.monotonic() - (link.opened if link.last_byte is None else link.last_byte)
        stalled = link.phase is ConnectionPhase.REPLAY and quiet_s >= self._policy.silence_s
        return stalled or handling is not DocumentVerdict.WAIT

    # -- asking for the document

    async def _ask(self) -> tuple[NextAction, list[Event]]:
        """Ask for the document of the run until the run has ended."""
        self._stage = Stage.ASKING
        self._taken_up = True
        clock, policy = self._clock, self._policy
        began = clock.monotonic()
        polls = 0
        while True:
            try:
                if polls:
                    await self._alert(partial(clock.sleep, policy.poll_delay(polls - 1)))
                fetched = await self._alert(self._fetch)
            except InterruptedReadError:
                return NextAction.END, []
            except RequestFailedError as failure:
                return (self._gone(failure) if failure.status == 404 else self._not_fetched(failure)), []
            polls += 1
            match handle(read_document(fetched.resource), self._now()):
                case DocumentVerdict.FOLD:
                    return self._fold(fetched.resource, rejoin=True)
                case DocumentVerdict.ZOMBIE:
                    return self._buried(), []
                case DocumentVerdict.WAIT if isinstance(self._start, FetchDocument) and not self._start.wait:
                    self._leaves_open = True
                    self._outcome = RunOutcome.RUNNING
                    return NextAction.END, []
                case DocumentVerdict.WAIT:
                    waited = clock.monotonic() - began
                    if waited >= self._patience():
                        return self._given_up(waited), []
                case _ as never:
                    assert_never(never)

    async def _fetch(self) -> FetchedRun:
        """Return the document of the run: one that is here already, or a new one."""
        fetched, self._fetched = self._fetched, None
        if fetched is not None:
            return fetched
        began = self._clock.monotonic()
        fetch = partial(self._transport.fetch, self.decoder.run_id)
        try:
            fetched = await retried(fetch, may_ask_again, self._policy, self._clock)
        except RequestFailedError as failure:
            self._tried(AttemptKind.FETCH, began, failure=failure)
            raise
        self._tried(AttemptKind.FETCH, began)
        self._learn(fetched)
        return fetched

    def _fold(self, resource: Fields, *, rejoin: bool) -> tuple[NextAction, list[Event]]:
        decoder = self.decoder
        if rejoin:
            decoder.start_over()
        events: list[Event] = []
        for event in resource_stream(resource):
            events += decoder.feed_event(event)
        return (NextAction.BACKFILL if decoder.held else NextAction.END), events

    async def _ask_usage(self) -> tuple[NextAction, list[Event]]:
        """Ask what the run cost, a few times, and end the message with or without it."""
        self._stage = Stage.BACKFILLING
        self._backfill = Backfill.ASKING
        usage: Fields = {}
        for delay in self._policy.usage_delays_s:
            began = self._clock.monotonic()
            try:
                await self._alert(partial(self._clock.sleep, delay))
                fetched = await self._alert(partial(self._transport.fetch, self.decoder.run_id))
            except InterruptedReadError:
                break
            except RequestFailedError as failure:
                self._tried(AttemptKind.FETCH, began, failure=failure)
                if failure.refused:
                    break
                continue
            self._tried(AttemptKind.FETCH, began)
            self._learn(fetched)
            usage = mapping(fetched.resource, "usage")
            if usage:
                break
        self._backfill = Backfill.FOUND if usage else Backfill.MISSING
        return NextAction.END, self.decoder.release(usage)

    # -- ends

    def _gone(self, failure: RequestFailedError) -> NextAction:
        self._outcome = RunOutcome.GONE
        self._error = attrs.evolve(
            failure.error, kind=ErrorKind.NOT_FOUND, message=f"the provider has no such run: {failure.error.message}"
        )
        return NextAction.END

    def _buried(self) -> NextAction:
        document = self._document
        assert document is not None, "only a document tells a zombie"
        self._mode = FailureMode.ZOMBIE
        self._outcome = RunOutcome.ZOMBIE
        updated = "never" if document.updated is None else document.updated.isoformat()
        created = "" if document.created is None else document.created.isoformat()
        self._error = ErrorInfo(
            kind=ErrorKind.PROVIDER,
            code=ZOMBIE_CODE,
            message=(
                f"the run has been {document.status} for over an hour and has produced nothing: "
                f"created {created}, updated {updated}, {document.outputs} outputs"
            ),
            retryable=True,
        )
        return NextAction.END

    def _not_fetched(self, failure: RequestFailedError) -> NextAction:
        error = failure.error
        if self._follows >= self._policy.follows:
            said = f"{error.message} (the stream was asked for {self._follows} times and did not come to its end)"
            error = attrs.evolve(error, message=said)
        self._error = error
        self._outcome = RunOutcome.FAILED if failure.refused else RunOutcome.INTERRUPTED
        return NextAction.END

    def _given_up(self, waited_s: float) -> NextAction:
        self._outcome = RunOutcome.RUNNING
        message = f"the run is still {self._status or 'running'}, and has given nothing for {waited_s:.0f} s"
        self._error = ErrorInfo(kind=ErrorKind.INTERRUPTED, message=message, retryable=True)
        return NextAction.END

    # -- inside

    def _situation(self, outcome: RunOutcome | None) -> Situation:
        match outcome:
            case None:
                return self._situation_now()
            case RunOutcome.COMPLETED | RunOutcome.CANCELLED:
                return Situation.FINISHED
            case RunOutcome.ZOMBIE:
                return Situation.ZOMBIE
            case RunOutcome.GONE:
                return Situation.LOST
            case RunOutcome.RUNNING:
                return Situation.RUNNING
            case RunOutcome.FAILED | RunOutcome.INTERRUPTED | RunOutcome.ABORTED:
                return self._situation_after()
            case _ as never:
                assert_never(never)

    def _situation_now(self) -> Situation:
        if self._stage is Stage.BACKFILLING:
            return Situation.BACKFILLING
        return Situation.BUSY if self._taken_up else Situation.STREAMING

    def _situation_after(self) -> Situation:
        decoder = self.decoder
        if decoder.completed:
            return Situation.FINISHED
        if not self.resumable:
            return Situation.STORED if decoder.stored else Situation.LOST
        if decoder.erred:
            return Situation.ERRED if isinstance(self._start, Create) else Situation.ERRED_TWICE
        if self._mode is FailureMode.RECUT:
            return Situation.RECUT
        if self._mode is FailureMode.CUT:
            return Situation.RESUME_FAILED if self._resume_failed else Situation.CUT
        return Situation.DROPPED

    def _learn(self, fetched: FetchedRun) -> None:
        self._document = read_document(fetched.resource)
        self._status = self._document.status or self._status
        self.decoder.run_id = self.decoder.run_id or string(fetched.resource, "id") or ""
        self._date = fetched.date

    def _now(self) -> datetime:
        """Return the time at which the document was looked at last, the server's own if it says."""
        return self._date or self._clock.now()

    def _patience(self) -> float:
        """Return for how long a run is waited for that is said to be in progress."""
        policy = self._policy
        return policy.poll_agent_s if string(self.decoder.request, "agent") else policy.poll_model_s

    def _tried(
        self,
        kind: AttemptKind,
        began: float,
        *,
        failure: RequestFailedError | None = None,
        mode: FailureMode | None = None,
        events: int = 0,
    ) -> None:
        self._requests += 1
        self._attempts.append(
            Attempt(
                kind=kind,
                mode=mode,
                status=None if failure is None else failure.status,
                error=None if failure is None else failure.error,
                events=events,
                lasted_s=self._clock.monotonic() - began,
            )
        )

    async def _alert(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Await *work*, unless an alarm comes."""
        if self._alarm is not None:
            raise InterruptedReadError
        try:
            async with asyncio.timeout(None) as self._scope:
                return await work()
        except TimeoutError:
            # What the work itself has to say of time comes as a failure of its own.
            raise InterruptedReadError from None
        finally:
            self._scope = None

    def _sound(self, alarm: Interrupt) -> None:
        if self._alarm is Interrupt.STOP:
            return
        self._alarm = alarm
        if self._scope is not None:
            self._scope.reschedule(asyncio.get_running_loop().time())

    async def _hang_up(self) -> None:
        link, self._link = self._link, None
        if link is None:
            return
        assert link.watch is not None, "begun with the connection"
        link.watch.cancel()
        await asyncio.wait((link.watch,))
        await link.stream.aclose()


def _named(error: ErrorInfo | None) -> RunOutcome:
    """Return what an end with *error* is called; with none, it is the answer."""
    if error is None:
        return RunOutcome.COMPLETED
    match error.kind:
        case ErrorKind.CANCELLED:
            return RunOutcome.CANCELLED
        case ErrorKind.ABORTED:
            return RunOutcome.ABORTED
        case ErrorKind.INTERRUPTED | ErrorKind.NETWORK | ErrorKind.TIMEOUT:
            return RunOutcome.INTERRUPTED
        case _:
            return RunOutcome.FAILED


__all__ = ["RunDriver"]
