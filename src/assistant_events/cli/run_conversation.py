"""
A conversation of `run` with a provider: what it sends, what it does with the last answer, what it says of it.

All that another process needs to go on is in the log: the run stands in the answer, and whom it was asked of, with
which settings, in the `meta` of the prompt. A key is nowhere.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, final

from assistant_events.adapters.gemini_interactions import encode
from assistant_events.cli import rendering
from assistant_events.cli.endpoints import MOCK, Body, Endpoint, newest_asked
from assistant_events.cli.exit_codes import CommandError, Exit
from assistant_events.cli.live import Live
from assistant_events.clients.client import with_defaults
from assistant_events.clients.gemini_interactions import (
    DECISIONS,
    Action,
    Choice,
    GeminiInteractions,
    RecoveryPolicy,
    Report,
    RunOutcome,
    RunStream,
    Situation,
    Stage,
    situation_of,
)
from assistant_events.events import DURABLE_EVENTS
from assistant_events.messages import AssistantMessage, MessageStatus, UserMessage
from assistant_events.session import Session
from assistant_events.stores import SqliteStore
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason

if TYPE_CHECKING:
    from stamina.instrumentation import RetryDetails

MODEL: Final = "gemini-3.6-flash"

_THOUGHTS: Final = {"thinking_summaries": "auto"}
_LOOK_S: Final = 0.1
"""How often it is looked whether there is something to say of a run that gives nothing."""

_EARLY: Final = frozenset({FinishReason.LENGTH, FinishReason.CONTENT_FILTER})


@final
class Conversation:
    """
    One session, while `run` goes on with it.

    Args:
        store: Where it is kept.

        session_id: Its name.

        endpoint: Whom to ask.

        live: Shows what comes.

        options: What a command has to say besides the session to find it again.
    """

    def __init__(
        self, store: SqliteStore, session_id: str, endpoint: Endpoint, live: Live, options: Sequence[str]
    ) -> None:
        self._store = store
        self._session_id = session_id
        self._endpoint = endpoint
        self._live = live
        self._options = options
        self._told = 0
        self._asking = False

    async def ask(
        self, prompt: str, *, model: str | None, agent: str | None, system: str | None, background: bool
    ) -> Exit:
        """
        Send *prompt* and show the answer. Settings that are `None` are those of the prompt before.

        Raises:
            CommandError: The session cannot go on like this.

            StoreError: The store could not do it.
        """
        session = await Session.open(self._store, self._session_id)
        before = newest_asked(self._store, self._session_id)
        if before is not None and (before.endpoint == MOCK) is not self._endpoint.is_mock:
            held = "the mock provider" if before.endpoint == MOCK else before.endpoint
            raise CommandError(f"session {self._session_id!r} was held with {held}; name another one with --session")
        await self._settle(session)
        body = _body({} if before is None else before.body, model, agent, system, background=background)
        noted = {"run": {"endpoint": self._endpoint.name, "request": body}}
        # Before the prompt is stored: there may be no client.
        async with self._client(prompt, None, None) as client:
            await session.prompt(prompt, meta=noted)
            hops = RecoveryPolicy().hops
            for _ in range(hops):
                code = await self._follow(session, self._created(client, session, body))
                answer = session.transcript.last_answer
                if code is not Exit.OK or answer is None or answer.finish_reason is not FinishReason.PAUSE:
                    return code
        self._live.note(f"the answer has paused {hops} times and is not complete; the next prompt continues it")
        return Exit.ANSWER

    async def take_up(self, action: Action) -> Exit:
        """
        Resume, recover or stop the run of the last answer, if that makes sense, and say what does.

        Raises:
            CommandError: There is no answer.

            StoreError: The store could not do it.
        """
        session = await Session.open(self._store, self._session_id)
        message = session.transcript.last_answer
        if message is None or isinstance(session.transcript.last, UserMessage):
            raise CommandError(f"the last prompt of session {self._session_id!r} has no answer, so there is no run")
        situation = situation_of(message)
        choice = _choice(situation, action)
        if not choice.available:
            await self._settle(session)
            self._live.note(f"{action.value} makes no sense: {choice.why}")
            if situation is Situation.FINISHED:
                return Exit.OK
            self._tell_choices(situation)
            return Exit.ANSWER
        if message.run is None:
            await self._settle(session)
            self._live.note("the provider knows of no run, so there is nothing to stop")
            return Exit.OK
        asked = newest_asked(self._store, self._session_id)
        request = None if asked is None else asked.body
        async with self._client(_prompt_of(session), message, request) as client:
            if action is Action.STOP:
                return await self._stop(session, client, message)
            take_up = client.resume if action is Action.RESUME else client.recover
            if message.status is MessageStatus.RUNNING:
                self._live.stored(message)
            return await self._follow(session, take_up(message, request=request))

    # -- inside

    def _client(
        self, prompt: str, taken_up: AssistantMessage | None, request: Mapping[str, Any] | None
    ) -> AbstractAsyncContextManager[GeminiInteractions]:
        if self._endpoint.is_mock:
            from assistant_events.cli.embedded_mock import mock_client

            return mock_client(prompt, taken_up, request)
        try:
            return GeminiInteractions(self._endpoint.key, base_url=self._endpoint.name)
        except ValueError as error:
            raise CommandError(str(error)) from None

    async def _settle(self, session: Session) -> None:
        """Close an answer whose process has died, unless it can be taken up again."""
        last = session.transcript.last_answer
        if last is None or last.status is not MessageStatus.RUNNING:
            return
        if last.run is not None and last.run.resumable:
            raise CommandError(
                f"the last answer of session {self._session_id!r} has not ended; "
                f"{self._command(Action.RESUME)} takes it up again, {self._command(Action.STOP)} ends it"
            )
        await session.reconcile()
        self._live.note("the answer before was left open by a process that is gone; it is closed now")

    def _created(self, client: GeminiInteractions, session: Session, body: Body) -> RunStream:
        transcript = session.transcript
        return client.create(
            encode(transcript, body),
            session.new_id(),
            fallback=lambda: encode(transcript, body, mode="full"),
        )

    async def _follow(self, session: Session, run: RunStream) -> Exit:
        watch = asyncio.create_task(self._watch(run))
        try:
            with self._telling_retries():
                async with session.receive(run) as events:
                    async for event in events:
                        self._tell_course(run.report)
                        self._live.event(event)
        except asyncio.CancelledError:
            self._live.note("stopped")
            self._tell_choices(run.report.situation)
            raise
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch
        self._live.end_line()
        message = session.transcript.get(run.message_id)
        return self._tell_end(message if isinstance(message, AssistantMessage) else None, run.report)

    async def _stop(self, session: Session, client: GeminiInteractions, message: AssistantMessage) -> Exit:
        stopped = await client.stop(message)
        if message.status is MessageStatus.RUNNING:
            error = ErrorInfo(kind=ErrorKind.CANCELLED, message="the run was stopped")
            ended = client.resume(message).close(error)
            await session.append(*[event for event in ended if isinstance(event, DURABLE_EVENTS)])
        for done, failure in (("cancelled", stopped.cancel_error), ("deleted", stopped.delete_error)):
            if failure is not None:
                self._live.note(f"the run could not be {done}: {failure.message}")
        if stopped.ok:
            self._live.note("the run is stopped, and deleted at the provider")
        return Exit.OK if stopped.ok else Exit.ANSWER

    # -- what is said of a run

    @contextmanager
    def _telling_retries(self) -> Generator[None]:
        """Say why a request is made again, and when; stamina itself would log a line that says neither."""
        from stamina.instrumentation import get_on_retry_hooks, set_on_retry_hooks

        def tell(details: RetryDetails) -> None:
            self._live.note(f"asking again in {details.wait_for:.1f} s: {details.caused_by}")

        before = get_on_retry_hooks()
        set_on_retry_hooks([tell])
        try:
            yield
        finally:
            set_on_retry_hooks(before)

    async def _watch(self, run: RunStream) -> None:
        while True:
            await asyncio.sleep(_LOOK_S)
            self._tell_course(run.report)

    def _tell_course(self, report: Report) -> None:
        """Say what went wrong on the way and is being overcome."""
        if report.stage is Stage.OVER:
            return
        ended = [attempt.mode for attempt in report.attempts if attempt.mode is not None]
        for mode in ended[self._told :]:
            self._live.note(f"the stream ended early ({mode.value}), going on")
        self._told = len(ended)
        if report.stage is Stage.ASKING and not self._asking and report.document is not None:
            self._asking = True
            self._live.note(f"the run is {report.status}; its document is asked for until it has ended")

    def _tell_end(self, message: AssistantMessage | None, report: Report) -> Exit:
        if message is not None and message.status is MessageStatus.COMPLETED:
            self._tell_answer(message)
            return Exit.OK
        if report.outcome is RunOutcome.RUNNING and report.error is None:
            self._live.note(f"the run is {report.status}; its answer is not there yet")
        else:
            error = report.error or (None if message is None else message.error)
            self._live.note("the answer is not complete" if error is None else error.message)
        if report.outcome is RunOutcome.ZOMBIE and report.document is not None:
            self._live.row("created", str(report.created))
            self._live.row("updated", str(report.updated))
            self._live.row("outputs", str(report.outputs))
        if report.run_id is not None:
            self._tell_choices(report.situation)
        return Exit.ANSWER

    def _tell_answer(self, message: AssistantMessage) -> None:
        if message.finish_reason in _EARLY:
            self._live.note(f"the answer ended early: {message.raw_finish_reason or message.finish_reason}")
        if message.pending_tool_calls:
            names = rendering.first_of([call.name for call in message.pending_tool_calls])
            self._live.note(f"calls wait for an answer, and this command runs no tools: {names}")
        if message.usage is not None and sys.stderr.isatty():
            self._live.row("tokens", rendering.usage_text(message.usage))

    def _tell_choices(self, situation: Situation) -> None:
        for action in Action:
            choice = _choice(situation, action)
            text = f"{self._command(action)}  ({choice.why})" if choice.available else f"no: {choice.why}"
            self._live.row(action.value, text)

    def _command(self, action: Action) -> str:
        return shlex.join(["assistant-events", "run", f"--{action.value}", self._session_id, *self._options])


def _choice(situation: Situation, action: Action) -> Choice:
    choices = DECISIONS[situation]
    return {Action.RESUME: choices.resume, Action.RECOVER: choices.recover, Action.STOP: choices.stop}[action]


def _prompt_of(session: Session) -> str:
    return next((one.text for one in reversed(session.transcript.messages) if isinstance(one, UserMessage)), "")


def _body(before: Body, model: str | None, agent: str | None, system: str | None, *, background: bool) -> Body:
    if model is None and agent is None:
        model, agent = before.get("model"), before.get("agent")
    if agent is None:
        body: Body = {"model": model or MODEL, "generation_config": dict(_THOUGHTS)}
    else:
        # Deep Research says nothing of its thoughts unless it is asked to.
        research = {"agent_config": {"type": "deep-research", **_THOUGHTS}}
        body = {"agent": agent, **(research if agent.startswith("deep-research") else {})}
    system = before.get("system_instruction") if system is None else system
    if system:
        body["system_instruction"] = system
    if background:
        body |= {"background": True, "store": True}
    return dict(with_defaults(body))
