"""Turns: the moves of an app, made one after another by one worker, until it is the user's turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from inspect import isawaitable
from typing import Final, Literal, Self, TypeAlias, final, get_args
from uuid import uuid4

from assistant_events.errors import (
    ClaimedError,
    ConflictError,
    FencedError,
    LocalProtocolError,
    OwnerError,
    PrunedError,
    StoreError,
)
from assistant_events.events import HistoryRewound, PromptSubmitted, StepEnded, StepFailed, ToolFailed, ToolSuccess
from assistant_events.live.contract import Live
from assistant_events.messages import (
    AssistantMessage,
    Awaits,
    MessageStatus,
    ToolPart,
    Transcript,
    UserMessage,
    fail_again,
)
from assistant_events.reducer import fold, reconcile
from assistant_events.session.answers import Client, check_asynchronous, is_of
from assistant_events.session.options import Records
from assistant_events.session.session import Session
from assistant_events.session.stopping import cancellation, since_its_end, stop_run
from assistant_events.session.streams import to_the_end
from assistant_events.session.tools import ready_calls
from assistant_events.stores import AsyncStore, Store
from assistant_events.stores.contract import DEAD_AFTER_S
from assistant_events.values import CUT_KINDS, ErrorInfo, ErrorKind
from assistant_events.values.arguments import (
    check_function,
    check_integer,
    check_object,
    check_seconds,
    check_store,
    names_of,
)
from assistant_events.values.credentials import error_text, traceback_text

Move: TypeAlias = Callable[[Session], Awaitable[object]]
"""Makes one move of the app: asks the model while `awaits` is `MODEL`, runs the tools while it is `TOOLS`."""

Retry: TypeAlias = Literal["empty", "cut"]
"""See `Turns`."""

_SHARE: Final = 100
"""Maximum number of sessions of dead workers that one worker takes up at a look: the others take their share."""

_ALL: Final = 2**31 - 1
"""The same for a worker that is alone."""

_DOUBLINGS: Final = 6
"""Maximum number of doublings of the pause between tries, while the store or the provider refuses: 64 `every_s`."""

_log = logging.getLogger("assistant_events.session")


@final
class Turns:
    """
    Runs the turns of sessions in tasks of their own: a browser that leaves cancels nothing.

    In its block it also takes up what dead workers have left: it resumes their runs, closes the rest, and makes the
    moves that are due. Every worker on a store has one.

        async def move(session):
            if session.transcript.awaits is Awaits.MODEL:
                async with session.respond(client, body) as events:
                    async for event in events:
                        ...
            else:
                await run_tools(session, run)

        async with Turns(store, move, client=client) as turns:
            session = await turns.open("s1")
            await session.prompt("Hello!")
            await turns.run(session)

    Args:
        store: Where the sessions are stored.

        move: The app's move. The session's claim is held while it runs. A move that raises ends the turn, and so does
            one that appends nothing; it is cancelled when another writer stops the turn, rewinds its message, or
            deletes the session.

        client: Resumes and stops runs of its dialect; those of others are left as they are, and can be resumed later.

        live: Where the sessions publish what they store and what streams.

        worker: Name of this process, different after a restart; a random one by default.

        alone: Whether no other process uses the store: sessions of all others are taken up at once at the start.

        of_browser: Names of tools that only a browser can answer.

        max_rounds: How many answers a turn may have; before the next one it ends with a `LocalProtocolError`.

        lost: Decides about a call of the app that was started, and of which no result was stored: its worker died
            while it ran, or the store failed. Returns its result, such as `call.fail("…")`, or `None` to leave it
            open. By default such calls stay open until they are answered.

        retry: Which steps that were cut, and cannot be resumed, are asked for again, each once: `"empty"` for those
            that have no content, `"cut"` also for those that have some, which is rewound, unless the app has run a call
            of it; `None` for none. A step that the end of the block has cut is asked for by the next worker.

        every_s: Seconds between signs of life; sessions of dead workers are looked for at each. A store that fails, and
            a run that cannot be resumed, are tried again after this time, then less and less often, up to 64 times it.

        poll_s: Seconds between looks at the log for what others have written: a stop while a move is made; results
            and approvals while nothing can be done, then less and less often, up to *every_s*.

        drain_s: Seconds that the end of the block gives turns to come to their end; 0 for none. Those that wait for
            people, and all turns where the block ends with an exception, end at once.
    """

    def __init__(
        self,
        store: Store | AsyncStore,
        move: Move,
        *,
        client: Client,
        live: Live | None = None,
        worker: str | None = None,
        alone: bool = False,
        of_browser: Collection[str] = (),
        max_rounds: int = 32,
        lost: Callable[[ToolPart], ToolSuccess | ToolFailed | None] | None = None,
        retry: Retry | None = None,
        every_s: float = 5.0,
        poll_s: float = 0.5,
        drain_s: float = 0.0,
    ) -> None:
        check_store(store)
        check_function("move", move)
        check_asynchronous(client)
        if live is not None:
            check_object(live, "publish", "live: expected a live channel such as MemoryLive or None")
        if lost is not None:
            check_function("lost", lost)
        check_integer("max_rounds", max_rounds, 1)
        if retry not in (None, *get_args(Retry)):
            raise ValueError(f'retry: expected "empty", "cut" or None, got {retry!r}')
        check_seconds("every_s", every_s)
        check_seconds("poll_s", poll_s)
        check_seconds("drain_s", drain_s)
        self.worker = uuid4().hex if worker is None else worker
        """Name of this process."""

        self.lost = lost
        """Decides about calls whose worker died while they ran; `None` to leave them open."""

        self.claimed: set[str] = set()
        """Ids of sessions whose last claim may be that of this worker: it answers what others prompt there."""

        self.live: Final = live
        """Where the sessions publish; `None` for nowhere."""

        self.of_browser: Final = names_of("of_browser", of_browser)
        """Names of tools that only a browser can answer."""

        self.store: Final = store if isinstance(store, AsyncStore) else AsyncStore(store)
        """Where the sessions are stored."""

        self._move = move
        self._client = client
        self._alone = alone
        self._max_rounds = max_rounds
        self._retry = retry
        self._every_s = every_s
        self._poll_s = poll_s
        self._drain_s = drain_s
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asked: dict[str, asyncio.Event] = {}  # whether each task has to look at its session once more
        self._running: dict[str, Session] = {}  # those that the tasks use
        self._looking: asyncio.Task[None] | None = None

    async def open(self, session_id: str, *, owner: str | None = None, snapshot_every: int | None = None) -> Session:
        """Open a session of this worker; see `Session.open`."""
        return await Session.open(
            self.store,
            session_id,
            live=self.live,
            owner=owner,
            worker=self.worker,
            snapshot_every=snapshot_every,
        )

    def start(self, session: Session) -> None:
        """
        Make the moves that are due, in a task of its own; where that is under way, it looks at the session once more.

        Call it after a prompt, and in any process after an approval or a result: while nothing can be done, the task
        looks at the log less and less often. An error of the task is logged. That of a move ends the turn: calls
        without a result fail, and so does the answer, or an empty one, with a text for the user.

        Args:
            session: One of this worker, as `open` returns it.

        Raises:
            LocalProtocolError: The session was opened for another worker or for none; the block has ended, or was not
                entered: without its signs of life others would take the session over.
        """
        _check_session(session)
        if session.worker != self.worker:
            other = "without a worker" if session.worker is None else f"for worker {session.worker!r}"
            raise LocalProtocolError(f"session {session.session_id!r} was opened {other}; open it with `Turns.open`")
        self._ask(session.session_id, session)

    async def run(self, session: Session) -> None:
        """
        `start`, and wait for the end of the turn, also for people to act. Cancelling the wait ends nothing.

        What a move raises ends its turn, and is raised here; otherwise see `start`.
        """
        self.start(session)
        await asyncio.shield(self._tasks[session.session_id])
        await session.refresh()  # the task may have a session of its own

    async def stop(self, session: Session) -> Records:
        """
        Stop the turn of a session, as `Session.stop` does; with all of its text where it is received here.

        A session object that does not receive the answer knows its open text from checkpoints alone.
        """
        _check_session(session)
        records = await self._running.get(session.session_id, session).stop(self._client)
        await session.refresh()
        return records

    async def take_up(self, *, dead_after_s: float = DEAD_AFTER_S) -> tuple[str, ...]:
        """
        Take up sessions of dead workers, and return their ids. The block does so from time to time.

        Args:
            dead_after_s: Seconds after its last sign of life in which a worker counts as alive; with 0 none does.
        """
        most = _ALL if self._alone else _SHARE
        claims = await self.store.take_over(self.worker, dead_after_s=dead_after_s, limit=most)
        for claim in claims:
            self._ask(claim.session_id, None)
        return tuple([claim.session_id for claim in claims])

    async def asks_again(self, session_id: str, transcript: Transcript) -> bool:
        """Return whether a task of this worker asks for the last answer again, as *retry* allows it."""
        last, is_due = transcript.last, self._retry is not None and session_id in self._tasks
        if not is_due or transcript.awaits is not Awaits.USER or not isinstance(last, AssistantMessage):
            return False
        was_cut = last.error is not None and last.error.kind in CUT_KINDS
        if not was_cut or last.acted or (last.parts and self._retry != "cut"):
            return False
        if not transcript.rewound:
            return True
        was_asked_again, cut = False, ""
        try:
            async for record in self.store.read(session_id, limit=transcript.seq):
                event = record.event
                if isinstance(event, StepFailed) and event.error.kind in CUT_KINDS:
                    cut = event.message_id
                elif isinstance(event, (PromptSubmitted, StepEnded, HistoryRewound)):  # the user rewinds answers, too
                    was_asked_again = isinstance(event, HistoryRewound) and event.message_id == cut
        except PrunedError:
            return False
        return not was_asked_again

    async def __aenter__(self) -> Self:
        self._looking = asyncio.create_task(self._look())
        try:
            await self.take_up(dead_after_s=0 if self._alone else DEAD_AFTER_S)
        except BaseException:
            await to_the_end(self._end())
            raise
        return self

    async def __aexit__(self, kind: object, *_exception: object) -> None:
        """
        End all tasks, after *drain_s*.

        Answers that are received are closed as `aborted`, and can be resumed where the run can. No call of the store
        is left behind, so that it can be closed.
        """
        try:
            if kind is None and self._drain_s:
                await self._drain()
        finally:
            await to_the_end(self._end())

    # -- the tasks

    def _ask(self, name: str, session: Session | None) -> None:
        """Have a task look at the session; without one that is open, it opens its own."""
        if self._ends:
            raise LocalProtocolError("the turns do not run: use them inside of `async with Turns(...) as turns`")
        self._asked.setdefault(name, asyncio.Event()).set()
        if name not in self._tasks or self._tasks[name].done():
            task = self._tasks[name] = asyncio.create_task(self._run(name, session))
            task.add_done_callback(lambda done: self._ended(name, done))

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("session %r: its turn has failed\n%s", name, traceback_text(error))
        if self._tasks[name] is task:  # otherwise the next one has begun
            del self._tasks[name], self._asked[name]
            self._running.pop(name, None)

    @property
    def _ends(self) -> bool:
        """Whether the block was not entered, or its end has come: no turn begins."""
        return self._looking is None or self._looking.done()

    async def _drain(self) -> None:
        """Wait for the turns under way; a turn that waits ends when it is asked to look at its session."""
        assert self._looking is not None, "the block was entered"
        self._looking.cancel()
        await asyncio.wait((self._looking,))
        for asked in self._asked.values():
            asked.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._drain_s):
                while tasks := [*self._tasks.values()]:
                    with suppress(Exception):  # a store of others may raise anything, and be back at the next one
                        await self.store.beat(self.worker)
                    await asyncio.wait(tasks, timeout=self._every_s)

    async def _end(self) -> None:
        while tasks := [task for task in (*self._tasks.values(), self._looking) if task and not task.done()]:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        await self.store.drain()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            try:
                await self.take_up()
                await self._take_up_prompts()
            except Exception as error:  # noqa: BLE001 - without its sign of life a worker counts as dead
                _log.warning("worker %r: no sign of life: %s", self.worker, error_text(error))

    async def _take_up_prompts(self) -> None:
        """Take up sessions that this worker has claimed, and that another process has prompted since."""
        left = await self.store.unfinished() if self.claimed else {}
        for name in self.claimed & left.keys() - self._tasks.keys():
            if any(each.awaits is Awaits.MODEL for each in left[name]):
                self._ask(name, None)

    async def _run(self, name: str, session: Session | None) -> None:
        asked, pauses = self._asked[name], _Pauses(self._every_s)
        failure: tuple[Exception, int] | None = None
        while asked.is_set() and not self._ends:
            asked.clear()
            try:
                session = self._running[name] = session or await self.open(name)
                await self._advance(session, asked, pauses)
            except StoreError as error:
                # Another writer was first, or has taken the session over, or it was deleted, or the store has failed.
                by_others = isinstance(error, ConflictError | FencedError | OwnerError | _DeletedError)
                pause = self._poll_s if by_others else pauses.after(session)
                _log.warning("session %r: its turn is looked at again in %g s: %s", name, pause, error_text(error))
                session = None
                self._running.pop(name, None)
                await _pause(asked, pause)
                asked.set()
            except Exception as error:
                if not asked.is_set() or session is None:
                    raise
                _log.error("session %r: its turn has failed\n%s", name, traceback_text(error))
                failure = error, session.seq
        if failure is not None and session is not None and session.seq == failure[1]:
            raise failure[0]  # there was nothing to do since

    async def _advance(self, session: Session, asked: asyncio.Event, pauses: _Pauses) -> None:
        """Make the moves that are due, and wait where that is not the end of the turn."""
        try:
            async with session.claimed():
                self.claimed.add(session.session_id)
                seq = await self._make_moves(session)
        except ClaimedError:
            self.claimed.discard(session.session_id)
            # The other worker makes the moves; this one waits, in case it leaves before it has seen the last one.
            await _pause(asked, self._poll_s)
            await session.refresh()
            if session.transcript.awaits is not Awaits.USER:
                asked.set()
            return
        awaits = session.transcript.awaits
        if awaits is Awaits.USER:
            return
        if unknown := [call.call_id for call in session.transcript.pending_tool_calls if call.is_outcome_unknown]:
            hint = "answer them, or prompt with abandon_calls=True"
            _log.warning("session %r waits: the outcome of calls %s is unknown; %s", session.session_id, unknown, hint)
        if awaits is Awaits.PROVIDER:
            pause = pauses.after(session)
            _log.warning(
                "session %r: its run could not be resumed; it is tried again in %g s", session.session_id, pause
            )
            await _pause(asked, pause)
        else:
            await self._wait_for_news(session.session_id, seq, asked)
        asked.set()

    async def _wait_for_news(self, name: str, seq: int, asked: asyncio.Event) -> None:
        pause = self._poll_s
        while not asked.is_set():
            end = await self.store.seq(name)
            _check_end(name, end, seq)
            if end > seq:
                return
            await _pause(asked, pause)
            pause = min(2 * pause, max(self._every_s, self._poll_s))

    # -- the moves

    async def _make_moves(self, session: Session) -> int:
        """Make the moves that are due, and return the `seq` after which none was."""
        await self._refresh(session)
        while True:
            before = session.transcript
            try:
                await self._settle(session)
                transcript, seq = session.transcript, session.seq
                if transcript.awaits is not Awaits.MODEL and not ready_calls(transcript, self.of_browser):
                    return seq
                self._check_rounds(session.session_id, transcript)
                await self._watch(session, self._move(session))
                _check_progress(session, seq)
            except StoreError:
                raise
            except asyncio.CancelledError:  # the block has ended
                with suppress(StoreError, LocalProtocolError):  # others were first, or the store has failed
                    await self._ask_again(session)
                raise
            except Exception as error:
                await self._fail(session, before, ErrorInfo(kind=ErrorKind.UNKNOWN, message=error_text(error)))
                raise
            await self._refresh(session)

    async def _refresh(self, session: Session) -> None:
        """Read what others have written; raise an error where they have deleted the session."""
        known, end = session.seq, await self.store.seq(session.session_id)
        await session.refresh()
        _check_end(session.session_id, end, known)

    def _check_rounds(self, name: str, transcript: Transcript) -> None:
        rounds = len([each for each in transcript.turns()[-1].messages if each.type == "assistant"])
        if rounds >= self._max_rounds and transcript.awaits is Awaits.MODEL:
            reason = f"its turn has {rounds} answers, as many as max_rounds allows; a prompt begins the next one"
            raise LocalProtocolError(f"session {name!r}: {reason}")

    async def _watch(self, session: Session, move: Awaitable[object]) -> None:
        """Await a move, and cancel it when others stop its turn, rewind its message or delete the session."""
        if not isawaitable(move):
            raise TypeError(f"move: expected an async function, it returned {type(move).__name__}")
        before, later = session.transcript, None
        task = asyncio.ensure_future(move)
        try:
            while not task.done() and later is None:
                await asyncio.wait((task,), timeout=self._poll_s)
                try:
                    await self._refresh(session)
                except _DeletedError:
                    raise
                except StoreError as error:  # the move itself may not need the store now
                    _log.warning("session %r: the log cannot be read: %s", session.session_id, error_text(error))
                later = since_its_end(before, session.transcript)
                if later is None and session.ended_by_others and not task.done():  # its stream may wait for ever
                    later = ()
            if later and isinstance(later[-1], AssistantMessage):  # the move has begun to answer all the same
                await session.stop(self._client)
        finally:
            task.cancel()
            await to_the_end(asyncio.wait((task,)))  # also when the end of the block cancels this meanwhile
        if later is not None:
            return
        if task.cancelled():
            reason = (
                "the move was cancelled, but its turn was not stopped; what it awaits must not be cancelled by others"
            )
            raise LocalProtocolError(f"session {session.session_id!r}: {reason}")
        task.result()

    async def _fail(self, session: Session, before: Transcript, error: ErrorInfo) -> None:
        """End the turn of a move that began at *before*, so that its user sees the error; a later prompt stays."""
        name = session.new_id()
        runs = [session.transcript.answer(left.message_id) for left in session.transcript.unfinished() if left.run]
        while True:
            events = cancellation(session.transcript, name, self._client, error)
            last = session.transcript.last_answer
            if last is not None and not events and await self.asks_again(session.session_id, session.transcript):
                events = fail_again(last, error, "its turn has failed")
            if _last_prompt(session.transcript) != _last_prompt(before):
                events = [event for event in events if event.message_id != name]
                self._asked[session.session_id].set()
            try:
                await session.append(*events)
            except ConflictError:
                continue  # the session has the records of another writer now
            break
        for message in runs:
            await stop_run(self._client, message, message.id)

    # -- what others have left

    async def _settle(self, session: Session) -> None:
        """Resume what can be resumed, and close the rest: no other worker writes it any more."""
        runs = [left.message_id for left in session.transcript.unfinished() if left.run and left.run.resumable]
        for message in [session.transcript.answer(name) for name in runs]:
            if message.status is MessageStatus.FAILED and message.acted:
                await session.stop(self._client)  # the log takes nothing more of it
            elif is_of(self._client, message):
                await self._watch(session, self._resume(session, message.id))
            else:
                _log.warning("the run of message %r is not resumed: it is of %r", message.id, message.origin.dialect)
        await self._ask_again(session)
        await session.reconcile()
        await session.append(*self._results_of_lost(session.transcript))

    async def _ask_again(self, session: Session) -> None:
        """Close the last answer, and rewind it, if it is asked for again: then it is the move of the model."""
        closed = fold(reconcile(session.transcript), start=session.transcript)
        if closed.last is not None and await self.asks_again(session.session_id, closed):
            await session.rewind(closed.last.id, last=True)

    def _results_of_lost(self, transcript: Transcript) -> list[ToolSuccess | ToolFailed]:
        calls = [call for call in transcript.pending_tool_calls if call.is_outcome_unknown]
        results: list[ToolSuccess | ToolFailed] = []
        for call in calls:
            result = None if self.lost is None or call.name in self.of_browser else self.lost(call)
            if result is None:
                continue
            if not isinstance(result, ToolSuccess | ToolFailed) or result.call_id != call.call_id:
                raise TypeError(f"lost: expected a result of call {call.call_id!r} or None, got {result!r}")
            results.append(result)
        return results

    async def _resume(self, session: Session, message_id: str) -> None:
        async with session.resume(self._client, message_id=message_id) as events:
            async for _ in events:
                pass


def _check_session(session: object) -> None:
    if not isinstance(session, Session):
        raise TypeError(f"session: expected a Session, as `Turns.open` returns it, got {type(session).__name__}")


class _DeletedError(StoreError):
    """The log of a session is shorter than it was."""


def _check_end(name: str, end: int, seq: int) -> None:
    if end < seq:
        raise _DeletedError(f"session {name!r}: its log ends at seq {end}, before {seq}; it was deleted")


def _check_progress(session: Session, seq: int) -> None:
    if session.seq == seq:
        reason = "the move has appended nothing; expected an answer, or results of calls"
        raise LocalProtocolError(f"session {session.session_id!r}: {reason}")


def _last_prompt(transcript: Transcript) -> UserMessage | None:
    turns = transcript.turns()
    return turns[-1].prompt if turns else None


class _Pauses:
    """Pauses between tries of one task, longer and longer as long as the log of the session does not grow."""

    def __init__(self, first_s: float) -> None:
        self._first_s = first_s
        self._tries = 0
        self._seq = 0

    def after(self, session: Session | None) -> float:
        """Return the seconds to wait after another try; without a session it could not be opened."""
        if session is not None and session.seq != self._seq:
            self._tries, self._seq = 0, session.seq
        self._tries += 1
        return self._first_s * (1 << min(self._tries - 1, _DOUBLINGS))


async def _pause(asked: asyncio.Event, seconds: float) -> None:
    """Wait until the task is asked to look at its session, at most *seconds*."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asked.wait()
