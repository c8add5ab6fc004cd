"""`run`: asks a model or an agent, shows the answer as it streams, and stores the conversation."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assistant_events.cli.answer_printer import AnswerPrinter
from assistant_events.cli.exit_codes import CommandError, Exit, UnknownOption
from assistant_events.cli.open_store import DATABASE, check_session, opened

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
    dialect: Annotated[str | None, Parameter(metavar="NAME")] = None,
    provider: Annotated[str | None, Parameter(metavar="NAME")] = None,
    base_url: Annotated[str | None, Parameter(metavar="URL")] = None,
    resume: _Session = None,
    recover: _Session = None,
    stop: _Session = None,
    json: _Flag = False,
) -> int:
    """
    Ask a model or an agent, and store the answer.

    Gemini is asked over its Interactions API unless another dialect is
    named. The key is in the environment, under the name that the provider
    gave it, such as GEMINI_API_KEY. Without a key a mock provider inside of
    the command answers, so that everything can be tried.

    The same session continues its conversation, with the same dialect,
    model or agent, and system instruction unless another one is given.

    An answer that was cut or stopped is continued with --resume or
    --recover, also by another process and after a crash. An agent, and a
    model with --background, works on at the provider meanwhile.

    Standard output is the text of the answer. Reasoning, tool calls and
    notes are written to standard error.

    Args:
        prompt: text of the prompt, - for standard input
        session: conversation in the database, "main" by default; "mock"
            without a key
        db: SQLite file, created if missing
        model: model to ask; of Interactions gemini-3.6-flash by default
        agent: agent to ask, for example deep-research-preview-04-2026
        system: system instruction
        background: let the run of a model continue without a connection
        dialect: what the provider speaks, for example anthropic-messages
        provider: who runs the model behind --base-url, for example deepseek
        base_url: another server, for example of assistant-events mock
        resume: follow the last answer of a session again, from its start
        recover: fetch the last answer of a session as a document, which
            is complete where streams are cut
        stop: cancel the run of the last answer of a session, and delete it
        json: print the events as JSON lines
    """
    chosen = {
        name: value for name, value in (("resume", resume), ("recover", recover), ("stop", stop)) if value is not None
    }
    others = {"--session": session, "--model": model, "--agent": agent, "--system": system, "--dialect": dialect}
    _check(prompt, chosen, {**others, "--provider": provider})
    if any(value == "" for value in (session, resume, recover, stop)):
        raise CommandError("the name of the session is empty; assistant-events sessions lists the names")
    # Imported late, as the client is: other commands start sooner.
    from assistant_events.cli import endpoints
    from assistant_events.cli.run_conversation import Conversation
    from assistant_events.clients import Action, load_client

    options = [*(["--db", db] if db != DATABASE else []), *(["--base-url", base_url] if base_url else [])]
    if chosen:
        [(action, name)] = chosen.items()
        with opened(db) as store:
            check_session(store, db, name)
            endpoint = endpoints.stored(store, name, base_url)
            endpoints.check_extras(endpoint)
            conversation = Conversation(store, name, endpoint, AnswerPrinter(json=json), options)
            return asyncio.run(_until_stopped(conversation.take_up(Action(action))))
    is_new = not Path(db).exists()
    if dialect is None and not is_new:
        with opened(db, make=True) as store:
            endpoint = endpoints.continued(store, session, base_url, provider)
    else:
        endpoint = endpoints.chosen(dialect or endpoints.DIALECT, base_url, provider)
    endpoints.check_extras(endpoint)
    text = _text_of(prompt)
    name = session or (endpoints.MOCK if endpoint.is_mock else "main")
    printer = AnswerPrinter(json=json)
    with opened(db, make=True) as store:
        if is_new:
            printer.note(f"the conversation is kept in {db}")
        if endpoint.is_mock:
            variable = load_client(endpoint.dialect).api.key_variable
            printer.note(f"no {variable}: a mock provider answers, in session {name!r}")
        conversation = Conversation(store, name, endpoint, printer, options)
        asked = conversation.ask(text, model=model, agent=agent, system=system, background=background)
        return asyncio.run(_until_stopped(asked))


def _check(prompt: str | None, chosen: dict[str, str], others: dict[str, str | None]) -> None:
    if len(chosen) > 1:
        raise CommandError(f"expected only one option, got {' and '.join(f'--{name}' for name in chosen)}")
    if chosen:
        [action] = chosen
        for name, value in (("a prompt", prompt), *others.items()):
            if value is not None:
                raise CommandError(f"--{action} names a session, and does not take {name}")
    elif prompt is None:
        raise CommandError("run needs a prompt, or one of --resume, --recover and --stop")
    if others["--model"] and others["--agent"]:
        raise CommandError("expected either --model or --agent, got both")


def _text_of(prompt: str | None) -> str:
    assert prompt is not None, "checked before"
    if prompt.startswith("-") and prompt != "-" and " " not in prompt:
        raise UnknownOption(prompt)
    text = sys.stdin.read().strip() if prompt == "-" else prompt
    if not text.strip():
        raise CommandError("the prompt is empty")
    return text


async def _until_stopped(work: Coroutine[None, None, Exit]) -> Exit:
    """Return the exit code of *work*, or that of the signal that ended it, after the answer was closed."""
    # Ctrl-C is handled by asyncio, on every system.
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
