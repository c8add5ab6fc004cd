"""Turns: the moves of an app, made one after another by one worker, until it is the user's turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Self, TypeAlias, final
from uuid import uuid4

from assistant_events.errors import ClaimedError, LocalProtocolError, PrunedError, StoreError
from assistant_events.events import HistoryRewound, PromptSubmitted
from assistant_events.live.contract import Live
from assistant_events.messages import AssistantMessage, Awaits, MessageStatus, Transcript
from assistant_events.session.answers import Client
from assistant_events.session.session import Session
from assistant_events.session.tools import ready_calls
from assistant_events.stores import AsyncStore, Store
from assistant_events.stores.contract import DEAD_AFTER_S
from assistant_events.values import CUT_KINDS, ErrorKind

Move: TypeAlias = Callable[[Session], Awaitable[object]]
"""Makes one move of the app: asks the model while `awaits` is `MODEL`, runs the tools while it is `TOOLS`."""

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

        move: The app's move. The session's claim is held while it runs. A move that appends nothing ends the turn with
            a `LocalProtocolError`.

        client: Resumes and stops runs.

        live: Where the sessions publish what they store and what streams.

        worker: Name of this process, different after a restart; a random one by default.

        alone: Whether no other process uses the store: sessions of all others are taken up at once at the start.

        of_browser: Names of tools that only a browser can answer.

        max_rounds: How many answers a turn may have; the next one is a `LocalProtocolError`.

        retry: Whether a step that was cut before any content, and cannot be resumed, is asked for again, once a turn.

        every_s: Seconds between signs of life; sessions of dead workers are looked for at each.

        poll_s: Seconds between looks at the log for what others have written: a stop while a move is made; results
            and approvals while nothing can be done.
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
        retry: bool = False,
        every_s: float = 5.0,
        poll_s: float = 0.5,
    ) -> None:
        self.worker = uuid4().hex if worker is None else worker
        """Name of this process."""

        self._store = store if isinstance(store, AsyncStore) else AsyncStore(store)
        self._move = move
        self._client = client
        self._live = live
        self._alone = alone
        self._of_browser = frozenset(of_browser)
        self._max_rounds = max_rounds
        self._retry = retry
        self._every_s = every_s
        self._poll_s = poll_s
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asked: set[str] = set()  # sessions whose turn is to be looked at once more
        self._looking: asyncio.Task[None] | None = None

    async def open(self, session_id: str, *, owner: str | None = None, snapshot_every: int | None = None) -> Session:
        """Open a session of this worker; see `Session.open`."""
        return await Session.open(
            self._store,
            session_id,
            live=self._live,
            owner=owner,
            worker=self.worker,
            snapshot_every=snapshot_every,
        )

    def start(self, session: Session) -> None:
        """
        Make the moves that are due, in a task of its own; does nothing where that is under way.

        Call it after a prompt, and after an approval or a result that the app has not made itself. While nothing can be
        done the task waits for what others write. An error of the task is logged.
        """
        name = session.session_id
        self._asked.add(name)
        if name not in self._tasks:
            task = self._tasks[name] = asyncio.create_task(self._run(session))
            task.add_done_callback(lambda done: self._ended(name, done))

    async def run(self, session: Session) -> None:
        """`start`, and wait for the end of the turn, also for people to act. Cancelling the wait ends nothing."""
        self.start(session)
        await asyncio.shield(self._tasks[session.session_id])
        await session.refresh()  # the task may have a session of its own

    async def take_up(self, *, dead_after_s: float = DEAD_AFTER_S) -> tuple[str, ...]:
        """
        Take up sessions of dead workers, and return their ids. The block does so from time to time.

        Args:
            dead_after_s: Seconds after its last sign of life in which a worker counts as alive; with 0 none does.
        """
        claims = await self._store.take_over(self.worker, dead_after_s=dead_after_s)
        for claim in claims:
            self.start(await self.open(claim.session_id))
        return tuple([claim.session_id for claim in claims])

    async def __aenter__(self) -> Self:
        await self.take_up(dead_after_s=0 if self._alone else DEAD_AFTER_S)
        self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_exception: object) -> None:
        """End all tasks; answers that are received are closed as `aborted`, and can be resumed where the run can."""
        tasks = [*self._tasks.values(), *([] if self._looking is None else [self._looking])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- the tasks

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            try:
                await self.take_up()
            except StoreError as error:
                _log.warning("worker %r: no sign of life: %s", self.worker, error)

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        del self._tasks[name]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("session %r: its turn has failed", name, exc_info=error)

    async def _run(self, session: Session) -> None:
        name = session.session_id
        while name in self._asked:
            self._asked.discard(name)
            try:
                async with session.claimed():
                    await self._make_moves(session)
                if session.transcript.awaits is Awaits.TOOLS:
                    await self._wait_for_news(session)
            except ClaimedError:
                # The other worker makes the moves; this one waits, in case it leaves before it has seen the last one.
                await asyncio.sleep(self._poll_s)
                await session.refresh()
                if session.transcript.awaits is not Awaits.USER:
                    self._asked.add(name)

    async def _make_moves(self, session: Session) -> None:
        await session.refresh()
        await self._settle(session)
        while self._is_due(session.transcript):
            rounds = len([each for each in session.transcript.turns()[-1].messages if each.type == "assistant"])
            if rounds >= self._max_rounds and session.transcript.awaits is Awaits.MODEL:
                raise LocalProtocolError(f"session {session.session_id!r}: {rounds} answers, and no end of the turn")
            before = session.seq
            await self._make_move(session)
            if session.seq == before:
                raise LocalProtocolError(f"session {session.session_id!r}: the move has appended nothing")
            await session.refresh()

    def _is_due(self, transcript: Transcript) -> bool:
        """Return whether the app has a move to make."""
        if is_stopped(transcript):
            return False
        return transcript.awaits is Awaits.MODEL or bool(ready_calls(transcript, self._of_browser))

    async def _make_move(self, session: Session) -> None:
        """Make a move, and cancel it when another writer stops the turn."""
        move = asyncio.ensure_future(self._move(session))
        try:
            while not move.done():
                await asyncio.wait((move,), timeout=self._poll_s)
                await session.refresh()
                if is_stopped(session.transcript):
                    break
        finally:
            move.cancel()
            await asyncio.wait((move,))
        if is_stopped(session.transcript):
            return
        move.result()

    async def _wait_for_news(self, session: Session) -> None:
        news = await session.refresh()
        while not news:
            await asyncio.sleep(self._poll_s)
            news = await session.refresh()
        self._asked.add(session.session_id)

    # -- what others have left

    async def _settle(self, session: Session) -> None:
        """Resume what can be resumed, and close the rest: no other worker writes it any more."""
        for left in session.transcript.unfinished():
            if left.run is not None and left.run.resumable:
                async with session.resume(self._client, message_id=left.message_id) as events:
                    async for _ in events:
                        pass
        await session.reconcile()
        last = session.transcript.last
        if self._retry and isinstance(last, AssistantMessage) and await self._was_cut_at_its_start(last, session):
            await session.rewind(last.id)

    async def _was_cut_at_its_start(self, message: AssistantMessage, session: Session) -> bool:
        """Return whether an answer was cut before any content, and none of this turn was asked for again."""
        error = message.error
        if message.status is not MessageStatus.FAILED or message.parts or error is None or error.kind not in CUT_KINDS:
            return False
        tries = 0
        try:
            async for record in self._store.read(session.session_id):
                tries = 0 if isinstance(record.event, PromptSubmitted) else tries
                tries += isinstance(record.event, HistoryRewound)
        except PrunedError:
            return False
        return tries == 0


def is_stopped(transcript: Transcript) -> bool:
    """Return whether the last answer, or a call of it, was cancelled: the app makes no move before the next prompt."""
    last = transcript.last
    if not isinstance(last, AssistantMessage):
        return False
    errors = [last.error, *[call.error for call in last.tool_calls if not call.provider_executed]]
    return any(error is not None and error.kind == ErrorKind.CANCELLED for error in errors)
