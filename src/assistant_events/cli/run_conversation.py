"""
A conversation of `run` with a provider: sends prompts, resumes and stops answers, and reports how they end.

Another process continues from the log alone: the run is stored in the answer, the endpoint and the settings in the
`meta` of the prompt. A key is never stored.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, final

import attrs

from assistant_events.cli import rendering
from assistant_events.cli.answer_printer import AnswerPrinter
from assistant_events.cli.endpoints import DIALECT, MOCK, Endpoint, newest_request
from assistant_events.cli.exit_codes import CommandError, Exit
from assistant_events.clients import (
    ACTIONS,
    Action,
    ProviderClient,
    Report,
    RunStream,
    Situation,
    load_client,
    situation_of,
)
from assistant_events.clients.recovery import RequestKind
from assistant_events.errors import LocalProtocolError
from assistant_events.events import DURABLE_EVENTS
from assistant_events.messages import AssistantMessage, Awaits, MessageStatus, UserMessage, fail_again
from assistant_events.recorder.calls import CUTS
from assistant_events.session import EventStream, Session
from assistant_events.stores import SqliteStore
from assistant_events.values import ErrorInfo, ErrorKind

if TYPE_CHECKING:
    from stamina.instrumentation import RetryDetails

MAX_HOPS: Final = 20
"""
How many responses are requested to complete one answer that pauses. Each is billed; a response has up to 65,536 tokens,
and the service gives about a million in all.
"""

_POLL_S: Final = 0.1
"""Interval at which the report of a silent run is checked."""

_WHY: Final[Mapping[Action, str]] = MappingProxyType(
    {
        Action.RESUME: "the run continues, and its stream can be followed again",
        Action.RECOVER: "the document has the whole answer once the run has ended",
        Action.STOP: "it ends the run, which would continue and cost",
    }
)
"""Why an action makes sense while the run continues."""

_WHY_OF_ENDED: Final[Mapping[Action, str]] = MappingProxyType(
    {
        Action.RECOVER: "the document has the answer, if the run has come to its end",
        Action.STOP: "it deletes what the provider has of the run",
    }
)
"""Why it makes sense for a run that does not continue."""

_ENDED: Final = frozenset({Situation.NO_STREAM, Situation.ZOMBIE})

_WHY_NOT: Final[Mapping[Situation, str]] = MappingProxyType(
    {
        Situation.FOLLOWING: "the run is being followed",
        Situation.FINISHED: "the run has ended, nothing more comes of it",
        Situation.NO_STREAM: "a run that was not sent to the background, or failed twice, has no stream to follow",
        Situation.ZOMBIE: "the run has produced nothing for over an hour, and will not",
        Situation.LOST: "the provider does not have the run",
    }
)
"""Why the other actions do not."""


@final
class Conversation:
    """One session of `run`; *options* are those that a command needs besides the session to find it again."""

    def __init__(
        self, store: SqliteStore, session_id: str, endpoint: Endpoint, printer: AnswerPrinter, options: Sequence[str]
    ) -> None:
        self._store = store
        self._session_id = session_id
        self._endpoint = endpoint
        self._printer = printer
        self._options = options
        self._reported = 0
        self._fetching = False

    async def ask(
        self, prompt: str, *, model: str | None, agent: str | None, system: str | None, background: bool
    ) -> Exit:
        """
        Send *prompt* and show the answer. Settings that are `None` are those of the previous prompt.

        Raises:
            CommandError: The session belongs to another endpoint, or its last answer is open.

            StoreError: The store failed.
        """
        session = await Session.open(self._store, self._session_id)
        before = newest_request(self._store, self._session_id)
        if before is not None and (before.endpoint == MOCK) is not self._endpoint.is_mock:
            other = "the mock provider" if before.endpoint == MOCK else before.endpoint
            raise CommandError(f"session {self._session_id!r} was held with {other}; name another one with --session")
        await self._settle(session)
        if before is not None and before.dialect != self._endpoint.dialect:
            before = None  # its model is not known here
        elif before is not None and before.endpoint == self._endpoint.name and self._endpoint.provider is None:
            self._endpoint = attrs.evolve(self._endpoint, provider=before.provider)
        if before is None and self._endpoint.is_mock and self._endpoint.dialect != DIALECT:
            model = model or MOCK
        api, answer = load_client(self._endpoint.dialect).api, session.transcript.last_answer
        if before is not None:
            known: Mapping[str, Any] = before.body
        else:
            known = api.request_of(answer) if answer is not None and answer.origin.dialect == api.dialect.name else {}
        try:
            body = api.settings(known, model=model, agent=agent, system=system, background=background)
        except ValueError as error:
            raise CommandError(str(error)) from None
        meta = {"run": self._endpoint.note(body)}
        # Before the prompt is stored: the client may be unusable.
        async with self._client(prompt, None, None) as client:
            await session.prompt(prompt, abandon_calls=True, meta=meta)
            for _ in range(MAX_HOPS):
                code = await self._follow(session, session.respond(client, body))
                if code is not Exit.OK or session.transcript.awaits is not Awaits.MODEL:
                    return code
        self._printer.note(f"the answer has paused {MAX_HOPS} times and is not complete; the next prompt continues it")
        return Exit.ANSWER

    async def take_up(self, action: Action) -> Exit:
        """
        Resume, recover or stop the run of the last answer. When that makes no sense, list what does.

        Raises:
            CommandError: The session has no answer.

            StoreError: The store failed.
        """
        session = await Session.open(self._store, self._session_id)
        message = session.transcript.last_answer
        is_prompt = isinstance(session.transcript.last, UserMessage)
        if message is None or (message.status is MessageStatus.COMPLETED and is_prompt):
            raise CommandError(f"the last prompt of session {self._session_id!r} has no answer, so it has no run")
        situation = situation_of(message)
        if action not in ACTIONS[situation]:
            await self._settle(session)
            self._printer.note(f"{action.value} makes no sense: {_WHY_NOT[situation]}")
            if situation is Situation.FINISHED:
                return Exit.OK
            self._list_actions(situation)
            return Exit.ANSWER
        if message.run is None:
            await self._settle(session)
            self._printer.note("the answer has no run, so nothing has to be stopped")
            return Exit.OK
        stored = newest_request(self._store, self._session_id)
        request = None if stored is None else stored.body
        async with self._client(_prompt_of(session), message, request) as client:
            if action is Action.STOP:
                return await self._stop(session, client, message)
            if message.status is MessageStatus.RUNNING:
                self._printer.stored(message)
            source = client if action is Action.RESUME else _Recovering(client)
            return await self._follow(session, session.resume(source, message_id=message.id, request=request))

    # -- internals

    def _client(
        self, prompt: str, resumed: AssistantMessage | None, request: Mapping[str, Any] | None
    ) -> AbstractAsyncContextManager[ProviderClient]:
        if self._endpoint.is_mock:
            from assistant_events.cli.embedded_mock import mock_client

            return mock_client(self._endpoint.dialect, prompt, resumed, request)
        endpoint = self._endpoint
        try:
            return load_client(endpoint.dialect)(endpoint.key, base_url=endpoint.name, provider=endpoint.provider)
        except ValueError as error:
            raise CommandError(str(error)) from None

    async def _settle(self, session: Session) -> None:
        """Close an answer whose process has died, unless it can be resumed."""
        last = session.transcript.last_answer
        if last is None or last.status is not MessageStatus.RUNNING:
            return
        if last.run is not None and last.run.resumable:
            raise CommandError(
                f"the last answer of session {self._session_id!r} has not ended; "
                f"{self._command(Action.RESUME)} takes it up again, {self._command(Action.STOP)} ends it"
            )
        await session.reconcile()
        self._printer.note("the answer before was left open by a process that is gone; it is closed now")

    async def _follow(self, session: Session, events: EventStream) -> Exit:
        try:
            with self._retries_shown():
                async with events, self._watched(events):
                    async for event in events:
                        self._show_progress(_report(events))
                        self._printer.event(event)
        except asyncio.CancelledError:
            self._printer.note("stopped")
            with suppress(LocalProtocolError):  # before the block nothing runs
                self._list_actions_on(_report(events))
            raise
        self._printer.end_line()
        message = session.transcript.get(events.answer.message_id)
        return self._show_end(message if isinstance(message, AssistantMessage) else None, _report(events))

    async def _stop(self, session: Session, client: ProviderClient, message: AssistantMessage) -> Exit:
        result = await client.stop(message)
        error = ErrorInfo(kind=ErrorKind.CANCELLED, message="the run was stopped")
        if message.status is MessageStatus.RUNNING:
            ended = client.resume(message).close(error)
            await session.append(*[event for event in ended if isinstance(event, DURABLE_EVENTS)])
        elif message.run is not None and message.run.resumable and (result.cancelled or result.deleted):
            await session.append(*fail_again(message, error, error.message))
        for what, failure in (("cancelled", result.cancel_error), ("deleted", result.delete_error)):
            if failure is not None:
                self._printer.note(f"the run could not be {what}: {failure.message}")
        if result.deleted:
            self._printer.note("the run is stopped, and deleted at the provider")
        return Exit.OK if result.deleted else Exit.ANSWER

    # -- notes on a run

    @contextmanager
    def _retries_shown(self) -> Generator[None]:
        """Show why and when a request is repeated, in place of the log line of stamina, which shows neither."""
        from stamina.instrumentation import get_on_retry_hooks, set_on_retry_hooks

        def show(details: RetryDetails) -> None:
            self._printer.note(f"asking again in {details.wait_for:.1f} s: {details.caused_by}")

        before = get_on_retry_hooks()
        set_on_retry_hooks([show])
        try:
            yield
        finally:
            set_on_retry_hooks(before)

    @asynccontextmanager
    async def _watched(self, events: EventStream) -> AsyncGenerator[None]:
        """Show what happens between two events, too."""

        async def watch() -> None:
            while True:
                await asyncio.sleep(_POLL_S)
                self._show_progress(_report(events))

        task = asyncio.create_task(watch())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def _show_progress(self, report: Report) -> None:
        """Show the failures of connections, and that the client recovers."""
        if report.situation is not Situation.FOLLOWING:
            return
        modes = [attempt.mode for attempt in report.attempts if attempt.mode is not None]
        for mode in modes[self._reported :]:
            self._printer.note(f"the stream ended early ({mode.value}), going on")
        self._reported = len(modes)
        fetching = bool(report.attempts) and report.attempts[-1].kind is RequestKind.FETCH
        if fetching and report.run is not None and not self._fetching:
            self._fetching = True
            self._printer.note(f"the run is {report.status}; its document is asked for until it has ended")

    def _show_end(self, message: AssistantMessage | None, report: Report) -> Exit:
        if message is not None and message.status is MessageStatus.COMPLETED:
            self._show_answer(message)
            return Exit.OK
        error, run = report.error, report.run
        if error is None and report.situation is Situation.INTERRUPTED:
            self._printer.note(f"the run is {report.status}; its answer is not there yet")
        else:
            error = error or (None if message is None else message.error)
            self._printer.note("the answer is not complete" if error is None else error.message)
        if report.situation is Situation.ZOMBIE and run is not None:
            self._printer.row("created", str(run.created))
            self._printer.row("updated", str(run.updated))
            self._printer.row("outputs", str(run.outputs))
        self._list_actions_on(report)
        return Exit.ANSWER

    def _show_answer(self, message: AssistantMessage) -> None:
        if message.finish_reason in CUTS:
            self._printer.note(f"the answer ended early: {message.raw_finish_reason or message.finish_reason}")
        if message.pending_tool_calls:
            names = rendering.first_of([call.name for call in message.pending_tool_calls])
            self._printer.note(f"calls wait for an answer, and this command runs no tools: {names}")
        if message.usage is not None and sys.stderr.isatty():
            self._printer.row("tokens", rendering.usage_text(message.usage))

    def _list_actions_on(self, report: Report) -> None:
        if report.run_id is not None:  # else nothing has begun
            self._list_actions(report.situation)

    def _list_actions(self, situation: Situation) -> None:
        for action in Action:
            # Of a run that the provider does not have, a stop is never refused, but it changes nothing.
            available = action in ACTIONS[situation] and situation is not Situation.LOST
            why = (_WHY_OF_ENDED if situation in _ENDED else _WHY).get(action)
            text = f"{self._command(action)}  ({why})" if available else f"no: {_WHY_NOT[situation]}"
            self._printer.row(action.value, text)

    def _command(self, action: Action) -> str:
        return shlex.join(["assistant-events", "run", f"--{action.value}", self._session_id, *self._options])


@final
class _Recovering:
    """A client that takes up a run by its document."""

    def __init__(self, client: ProviderClient) -> None:
        self.dialect, self.provider = client.dialect, client.provider
        self.create, self.resume, self.stop = client.create, client.recover, client.stop


def _report(events: EventStream) -> Report:
    run = events.answer
    assert isinstance(run, RunStream), "that is what these clients return"
    return run.report


def _prompt_of(session: Session) -> str:
    return next((one.text for one in reversed(session.transcript.messages) if isinstance(one, UserMessage)), "")
