"""Calls of the app, run at most once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import TypeAlias, final

import attrs

from assistant_events.errors import ConflictError, FencedError, LocalProtocolError, OwnerError, StoreError
from assistant_events.events import ToolFailed, ToolStarted, ToolSuccess
from assistant_events.messages import Awaits, ToolPart, Transcript
from assistant_events.session.session import Session
from assistant_events.session.stream_calls import PAUSES_S
from assistant_events.values import ContentInput, ErrorInfo, ErrorKind
from assistant_events.values.arguments import check_function, check_object, check_seconds, names_of
from assistant_events.values.content import Default


@final
@attrs.frozen
class ToolRun:
    """A call while it runs."""

    call: ToolPart
    """The call: `call.name`, `call.arguments`."""

    session: Session

    @property
    def key(self) -> str:
        """`session/message/call`: the same in every attempt, for services that take an idempotency key."""
        return f"{self.session.session_id}/{self.call.message_id}/{self.call.call_id}"

    async def progress(self, output: ContentInput, *, default: Default | None = None) -> None:
        """Show what the call has so far; it replaces the last one and is not stored."""
        await self.session.show(self.call.progress(output, default=default))


RunTool: TypeAlias = Callable[[ToolRun], object]
"""Runs a call and returns its output, as `ToolPart.succeed` takes it. A plain function is called in a thread."""

Tools: TypeAlias = Mapping[str, Callable[..., object]]
"""Functions by the names of their tools. Each takes the arguments of a call as keywords, and returns its output."""

AsksApproval: TypeAlias = Callable[[ToolPart], str | bool | None]
"""
Returns whether a person has to allow a call: a reason for that person, which may be an empty text, or whether there has
to be one.
"""


def ready_calls(transcript: Transcript, of_browser: Collection[str] = ()) -> tuple[ToolPart, ...]:
    """
    Return the calls that the app may run now.

    Not among them are those that wait for an approval, those that were started and may have run, and calls of the tools
    *of_browser*, which only a browser can answer.
    """
    names = names_of("of_browser", of_browser)
    check_object(transcript, "awaits", "transcript: expected a Transcript, such as session.transcript")
    if transcript.awaits is not Awaits.TOOLS or transcript.last_answer is None:
        return ()
    pending = transcript.last_answer.pending_tool_calls
    return tuple([call for call in pending if not call.waits and call.name not in names])


async def run_tools(
    session: Session,
    run: RunTool | Tools,
    *,
    needs_approval: AsksApproval | None = None,
    of_browser: Collection[str] = (),
    timeout_s: float | None = None,
    default: Default | None = None,
) -> None:
    """
    Run the calls that the app may run now, at the same time, and store their results as they come.

    Before a call runs, its `tool.started` is stored. After a crash, a call that was started and has no result is never
    run again: its outcome is unknown (`Transcript.unfinished`), and the app decides. What *run* raises is the error of
    the call. When this is cancelled, calls that run are cancelled, and their outcome is unknown. A thread is not ended
    by a cancellation or the limit of time; its result is dropped.

    Args:
        session: The session; with a worker, hold its claim (`Turns` does).

        run: Runs one call; or the functions of the tools by name, which do not get the `ToolRun`.

        needs_approval: Which calls a person has to allow first. They get a `tool.approval.requested` in place of a run,
            and run in a later call of this function, after `ToolPart.approve`.

        of_browser: Names of tools whose calls are left to a browser.

        timeout_s: Seconds that a call may take; one that takes longer is cancelled, and fails with kind `timeout`.

        default: Converts output that is not JSON, see `as_content`.

    Raises:
        StoreError: A start could not be stored, and no call runs; or a result, of a call whose outcome is unknown now.
            The other calls have run to their end.
    """
    if not isinstance(session, Session):
        raise TypeError(f"session: expected a Session, got {type(session).__name__}")
    if not callable(run):
        check_object(run, "items", "run: expected a function, or functions by the names of their tools")
        for name, function in run.items():
            check_function(f"run[{name!r}]", function)
    if needs_approval is not None:
        check_function("needs_approval", needs_approval)
        if iscoroutinefunction(needs_approval):
            raise TypeError("needs_approval: expected a plain function, got an async one")
    if timeout_s is not None:
        check_seconds("timeout_s", timeout_s)
    calls = await _started(session, needs_approval, of_browser)
    async with asyncio.TaskGroup() as group:
        runs = [group.create_task(_run(ToolRun(call, session), run, timeout_s, default)) for call in calls]
    for each in runs:
        if not each.cancelled() and (error := each.result()) is not None:
            raise error


async def _started(
    session: Session, needs_approval: AsksApproval | None, of_browser: Collection[str]
) -> list[ToolPart]:
    """Store what begins each call that is ready, and return those that run now."""
    while True:
        asked: dict[str, str | None] = {}
        calls = ready_calls(session.transcript, of_browser)
        for call in calls:
            reason = None if needs_approval is None or call.approval is not None else needs_approval(call)
            if isawaitable(reason):
                raise TypeError(f"needs_approval: expected a plain function, it returned {type(reason).__name__}")
            if isinstance(reason, str) or reason:
                asked[call.call_id] = reason if isinstance(reason, str) and reason else None
        try:
            records = await session.append(
                *[
                    call.request_approval(asked[call.call_id]) if call.call_id in asked else call.start()
                    for call in calls
                ]
            )
        except ConflictError:
            continue  # another writer has answered or approved one of them
        except LocalProtocolError:
            if calls == ready_calls(session.transcript, of_browser):
                raise
            continue  # the same, and the session has read it while this waited for its turn
        # A start that another task of this process has stored is not among the records.
        stored = {record.event.call_id for record in records if isinstance(record.event, ToolStarted)}
        return [call for call in calls if call.call_id in stored]


async def _run(
    tool: ToolRun, run: RunTool | Tools, timeout_s: float | None, default: Default | None
) -> StoreError | None:
    """Run a call and store its result; return the error of the store by which that is lost, for the others run on."""
    call = tool.call
    answer: ToolSuccess | ToolFailed
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            work = _bound(run, tool)
            output = work() if iscoroutinefunction(work) else await _in_own_thread(work)
            if isawaitable(output):
                output = await output
        answer = call.succeed(output, default=default)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        answer = call.fail("the call has cancelled itself")
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - becomes the error of the call, also a panic of a native extension
        late = ErrorInfo(kind=ErrorKind.TIMEOUT, message=f"the call took longer than {timeout_s} s")
        answer = call.fail(late if limit.expired() else error)
    return await _store(tool, answer)


async def _store(tool: ToolRun, answer: ToolSuccess | ToolFailed) -> StoreError | None:
    """Store the result of a call that has none."""
    pauses = iter(PAUSES_S)
    while True:
        try:
            await tool.session.append(answer)
        except ConflictError:
            pass  # another call of the message was answered meanwhile, or this one
        except (FencedError, OwnerError) as error:
            return error
        except StoreError as error:
            if (pause := next(pauses, None)) is None:
                return error
            await asyncio.sleep(pause)
        except LocalProtocolError:
            if _is_open(tool):
                raise
        else:
            return None
        if not _is_open(tool):
            return None


def _bound(run: RunTool | Tools, tool: ToolRun) -> Callable[[], object]:
    """Return what runs a call."""
    if callable(run):
        return partial(run, tool)
    if tool.call.name not in run:
        raise LookupError(f"tool {tool.call.name!r} is unknown; expected one of {[*run]}")
    return partial(run[tool.call.name], **tool.call.arguments)


async def _in_own_thread(work: Callable[[], object]) -> object:
    """Call a plain function in a thread of its own: tools that hang would fill a pool, which the store may share."""
    thread, context = ThreadPoolExecutor(1, "tool"), copy_context()
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, lambda: context.run(_in_thread, work))
    finally:
        thread.shutdown(wait=False)


def _in_thread(work: Callable[[], object]) -> object:
    try:
        return work()
    except StopIteration as error:  # which no future takes
        raise RuntimeError("the tool raised StopIteration") from error


def _is_open(tool: ToolRun) -> bool:
    message = tool.session.transcript.get(tool.call.message_id)
    calls = getattr(message, "pending_tool_calls", ())
    return any(call.call_id == tool.call.call_id for call in calls)
