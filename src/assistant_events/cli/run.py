"""`run`: asks a model or an agent, shows the answer while it comes, and keeps the conversation."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from assistant_events.cli import endpoints
from assistant_events.cli.endpoints import MOCK
from assistant_events.cli.exit_codes import CommandError, Exit, UnknownOption
from assistant_events.cli.live import Live
from assistant_events.cli.open_store import check_session, opened

DATABASE: Final = "assistant-events.db"
"""In the current folder: a file that is seen, moved and deleted like any other."""

_Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
_Session = Annotated[str | None, Parameter(metavar="SESSION")]


def run_command(
    prompt: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    /,
    *,
    session: Annotated[str | None, Parameter(metavar="NAME")] = None,
    db: Annotated[str, Parameter(metavar="FILE")] = DATABASE,
    model: Annotated[str | None, Parameter(metavar="NAME")] = None,
    agent: Annotated[str | None, Parameter(metavar="NAME")] = None,
    system: Annotated[str | None, Parameter(metavar="TEXT")] = None,
    background: _Flag = False,
    base_url: Annotated[str | None, Parameter(metavar="URL")] = None,
    resume: _Session = None,
    recover: _Session = None,
    stop: _Session = None,
    json: _Flag = False,
) -> int:
    """
    Ask a model or an agent of Gemini, and store what it answers.

    The key is that of GEMINI_API_KEY. Without one a mock provider inside
    of the command answers, so that everything can be tried.

    The same session again goes on with its conversation, with the same
    model or agent and the same system instruction where none is named.

    An answer that was cut or stopped is taken up again with --resume or
    --recover, also by another process and after a crash. An agent, and a
    model with --background, goes on at the provider meanwhile.

    Standard output is the text of the answer. Reasoning, calls of tools
    and notes go to standard error.

    Args:
        prompt: what to say, - for standard input
        session: conversation in the database, "main" by default; "mock"
            when there is no key
        db: SQLite file, made when it is not there
        model: model to ask, gemini-3.6-flash by default
        agent: agent to ask, for example deep-research-preview-04-2026
        system: system instruction
        background: let the run of a model go on when nobody listens
        base_url: another server, for example of assistant-events mock
        resume: follow the last answer of a session again, from its start
        recover: take the last answer of a session from its document,
            which is whole where streams are cut
        stop: cancel the run of the last answer of a session, and delete it
        json: print the events as JSON lines
    """
    taken = {
        name: value for name, value in (("resume", resume), ("recover", recover), ("stop", stop)) if value is not None
    }
    _check(prompt, taken, {"--session": session, "--model": model, "--agent": agent, "--system": system})
    if any(value == "" for value in (session, resume, recover, stop)):
        raise CommandError("the session needs a name")
    again = [*(["--db", db] if db != DATABASE else []), *(["--base-url", base_url] if base_url else [])]
    if taken:
        [(action, name)] = taken.items()
        with opened(db) as store:
            check_session(store, db, name)
            known = endpoints.endpoint_of(store, name)
            endpoint = endpoints.chosen(base_url) if base_url else endpoints.named(known)
            endpoints.check_extras(endpoint)
            from assistant_events.cli.run_conversation import Conversation
            from assistant_events.clients.gemini_interactions import Action

            return _until_stopped(Conversation(store, name, endpoint, Live(json=json), again).take_up(Action(action)))
    endpoint = endpoints.chosen(base_url)
    endpoints.check_extras(endpoint)
    said = _said(prompt)
    name = session or (MOCK if endpoint.is_mock else "main")
    live = Live(json=json)
    is_new = not Path(db).exists()
    with opened(db, make=True) as store:
        if is_new:
            live.note(f"the conversation is kept in {db}")
        if endpoint.is_mock:
            live.note(f"no {endpoints.KEY_VARIABLE}: a mock provider answers, in session {name!r}")
        from assistant_events.cli.run_conversation import Conversation

        conversation = Conversation(store, name, endpoint, live, again)
        return _until_stopped(conversation.ask(said, model=model, agent=agent, system=system, background=background))


def _check(prompt: str | None, taken: dict[str, str], others: dict[str, str | None]) -> None:
    if len(taken) > 1:
        raise CommandError(f"expected one of {' and '.join(f'--{name}' for name in taken)}")
    if taken:
        [action] = taken
        for name, value in (("a prompt", prompt), *others.items()):
            if value is not None:
                raise CommandError(f"--{action} names a session, and goes without {name}")
    elif prompt is None:
        raise CommandError("run needs a prompt, or one of --resume, --recover and --stop")
    if others["--model"] and others["--agent"]:
        raise CommandError("expected either --model or --agent")


def _said(prompt: str | None) -> str:
    assert prompt is not None, "checked before"
    if prompt.startswith("-") and prompt != "-" and " " not in prompt:
        raise UnknownOption(prompt)
    said = sys.stdin.read().strip() if prompt == "-" else prompt
    if not said.strip():
        raise CommandError("the prompt is empty")
    return said


def _until_stopped(work: Coroutine[None, None, Exit]) -> Exit:
    """Return the code of *work*, or that of the signal that ended it: both let it close the answer first."""
    return asyncio.run(_stoppable(work))


async def _stoppable(work: Coroutine[None, None, Exit]) -> Exit:
    # asyncio itself cancels the task at Ctrl-C, on every system.
    ended = Exit.STOPPED
    task = asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"

    def terminate() -> None:
        nonlocal ended
        ended = Exit.TERMINATED
        task.cancel()

    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    try:
        return await work
    except asyncio.CancelledError:
        return ended
