"""The mock provider as a command, which prints its address and a line for each request."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final, NoReturn, final
from urllib.parse import parse_qsl, urlencode

from assistant_events.adapters.errors import error_of_body
from assistant_events.adapters.json_fields import string
from assistant_events.cli.background_writer import BackgroundWriter
from assistant_events.cli.exit_codes import CommandError, Exit
from assistant_events.cli.output import note_line, print_note, print_table
from assistant_events.cli.terminal_safe import one_line
from assistant_events.errors import FixtureError
from assistant_events.extras import missing_extras

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from assistant_events.mock import Fixtures, MockDialect
    from assistant_events.values.credentials import Secrets

PORT: Final = 4010
"""The default port, which aimock has too."""

DIALECT: Final = "gemini-interactions"
"""The default dialect."""

_NEEDED: Final = {"web": ("starlette", "uvicorn")}
_SHOWN_PARAMETERS: Final = frozenset({"stream", "last_event_id"})


def list_faults() -> None:
    """Print all faults and their effects."""
    _check_installed(_NEEDED)
    from assistant_events.mock import fault_help

    print_table(("fault", "what it does"), list(fault_help()))


def serve(fixtures: Sequence[str], *, host: str, port: int, dialect: str, **options: object) -> None:
    """
    Answer from fixtures until Ctrl-C, which is raised; *options* are those of the provider, `None` for a default.

    Raises:
        CommandError: The fixtures, an option or the address cannot be used.
    """
    _check_installed(_NEEDED)
    from assistant_events.mock import load_mock

    mock = load_mock(dialect)
    known = _loaded(mock, fixtures)
    try:
        provider = mock.provider(known, **{name: value for name, value in options.items() if value is not None})
    except TypeError as error:
        unknown = next((name for name in options if f"argument '{name}'" in str(error)), None)
        if unknown is None:
            raise
        raise CommandError(f"the mock of {dialect} has no option --{unknown.replace('_', '-')}") from None
    except ValueError as error:
        raise CommandError(str(error)) from None
    what = f"{len(known)} fixture{'' if len(known) == 1 else 's'}"
    with BackgroundWriter(sys.stderr) as notes:
        _run(provider.app, what, notes, host=host, port=port, before_stop=provider.close)


def record(upstream: str, fixtures: Sequence[str], *, host: str, port: int, dialect: str) -> None:
    """
    Pass requests on to *upstream* and write what it answers as fixtures, until Ctrl-C, which is raised.

    Raises:
        CommandError: The file or the address cannot be used.
    """
    _check_installed({**_NEEDED, "http": ("httpx2",)})
    if len(fixtures) != 1:
        raise CommandError("--record needs one --fixtures FILE to write to")
    from assistant_events.mock import load_mock
    from assistant_events.mock.proxy import RecordingProxy

    path = Path(fixtures[0])
    with BackgroundWriter(sys.stderr) as notes:
        try:
            proxy = RecordingProxy(
                load_mock(dialect).recorded, upstream, path, note=lambda text: notes.write(note_line(text))
            )
        except FixtureError as error:
            raise _refused(error) from None
        except ValueError as error:
            raise CommandError(str(error)) from None
        what = f"recording {proxy.upstream} to {path}"
        _run(proxy, what, notes, host=host, port=port, before_stop=proxy.close)


def _loaded(mock: MockDialect, fixtures: Sequence[str]) -> Fixtures:
    from assistant_events.mock.fixture_files import load_fixtures

    try:
        known = load_fixtures(mock.form, *fixtures) if fixtures else load_fixtures(mock.form, mock.demo)
    except FixtureError as error:
        raise _refused(error) from None
    for line in known.left_out:
        print_note(f"left out: {line}")
    return known


def _refused(error: FixtureError) -> CommandError:
    """Print all faults but the last, a line each, and return the last."""
    *lines, last = [one.line for one in (error, *error.others)]
    for line in lines:
        print_note(line)
    return CommandError(last)


def _run(app: ASGIApp, what: str, notes: BackgroundWriter, *, host: str, port: int, before_stop: Any) -> None:
    # Any: a function that takes nothing.
    from assistant_events.mock.threaded_server import ThreadedServer
    from assistant_events.values.credentials import Secrets

    # An endpoint that is recorded may repeat a key.
    secrets = Secrets()
    with ExitStack() as stack:
        lines = stack.enter_context(BackgroundWriter(sys.stdout))
        # The handler of last resort would wait for the reader of standard error.
        handler = _LogHandler(lambda text: notes.write(one_line(secrets.text(text))))
        logging.getLogger().addHandler(handler)
        stack.callback(logging.getLogger().removeHandler, handler)
        logged = _Logged(app, secrets, lambda text: lines.write(one_line(secrets.text(text))))
        try:
            serving = stack.enter_context(ThreadedServer(logged, host=host, port=port, before_stop=before_stop))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise CommandError(
                f"cannot listen on {host}, port {port}: {reason}; --port 0 takes any that is free"
            ) from None
        with suppress(ValueError):  # another thread than the main one gets no signals
            stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, _terminate))
        line = f"{serving.url}  {what}; base URL for clients, any API key will do; stop with Ctrl-C"
        print(one_line(line), flush=True)
        # It is never set: Ctrl-C and SIGTERM raise here, and what was received is written.
        Event().wait()


def _terminate(*_signal: object) -> NoReturn:
    raise CommandError("stopped", Exit.TERMINATED)


@final
class _LogHandler(logging.Handler):
    """Writes log records, a line each."""

    def __init__(self, write: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        for line in self.format(record).splitlines():
            self._write(line)


@final
class _Logged:
    """Prints a line for each request when its answer begins, without keys, headers and content."""

    def __init__(self, app: ASGIApp, secrets: Secrets, print_line: Callable[[str], None]) -> None:
        self._app = app
        self._secrets = secrets
        self._print_line = print_line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.requests import Request

        from assistant_events.mock.requests import secrets_of_request

        self._secrets.add(secrets_of_request(Request(scope)))
        await self._app(scope, receive, _Line(scope, send, self._print_line).send)


@final
class _Line:
    def __init__(self, scope: Scope, send: Send, print_line: Callable[[str], None]) -> None:
        self.transport = getattr(getattr(send, "__self__", None), "transport", None)
        """The transport of the connection: a fault may reset it."""

        shown = [pair for pair in parse_qsl(scope["query_string"].decode("latin-1")) if pair[0] in _SHOWN_PARAMETERS]
        query = f"?{urlencode(shown)}" if shown else ""
        self._request = f"{scope['method']} {scope['path']}{query}"
        self._status = 0
        self._send = send
        self._print_line = print_line

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            if self._status < 400:
                self._print_line(f"{self._request} {self._status}")
        elif self._status >= 400:
            self._print_line(f"{self._request} {self._status} {_reason(message)}".rstrip())
            self._status = 0
        await self._send(message)


def _reason(message: Message) -> str:
    return string(error_of_body(message.get("body", b"")), "message") or ""


def _check_installed(needed: Mapping[str, Sequence[str]]) -> None:
    sentence = missing_extras("this command", needed)
    if sentence is not None:
        raise CommandError(sentence)
