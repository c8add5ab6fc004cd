"""
Entry point of the command: an error becomes one line and an exit code.

Only the standard library is imported before it is known that the extra is there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from assistant_events.cli.exit_codes import CommandError, Exit
from assistant_events.cli.terminal_safe import one_line
from assistant_events.errors import AssistantEventsError, StoreError
from assistant_events.extras import missing_extras

_NEEDED = {"cli": ("cyclopts", "rich")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. Without *arguments* it takes those of the process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _open_closed_streams()
    if (reconfigure := getattr(sys.stdout, "reconfigure", None)) is not None:
        reconfigure(errors="backslashreplace")  # as standard error has it
    try:
        code = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still in the buffer has nowhere to go, and the interpreter would complain about that at its end.
        _discard_output()
        return Exit.PIPE
    except KeyboardInterrupt:
        return _ended("stopped", Exit.STOPPED)
    except CommandError as error:
        return _ended(str(error), error.exit_code, *error.more)
    except StoreError as error:
        return _ended(_text_of(error), Exit.STORE)
    except OSError as error:
        return _ended(": ".join(filter(None, [error.filename, error.strerror or str(error)])), Exit.USAGE)
    except AssistantEventsError as error:
        return _ended(str(error), Exit.USAGE)
    return code


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(version("assistant-events"))
        return Exit.OK
    sentence = missing_extras("the command line", _NEEDED)
    if sentence is not None:
        raise CommandError(sentence, Exit.USAGE)
    from assistant_events.cli.commands import run  # needs what was just looked for

    return run(arguments)


def _text_of(error: StoreError) -> str:
    # The remedy in the error of a store is for programs: another `timeout_s`.
    if getattr(error.__cause__, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
        return f"{str(error).rpartition('; ')[0]}; another process is writing, try again when it is done"
    return str(error)


def _ended(text: str, code: Exit, *more: str) -> Exit:
    with suppress(OSError):
        print(
            f"assistant-events: {one_line(text)}", *[f"  {one_line(line)}" for line in more], sep="\n", file=sys.stderr
        )
    return code


def _open_closed_streams() -> None:
    # Python has `None` where the shell has closed a stream (`>&-`), though it is typed as a stream.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as the process


def _discard_output() -> None:
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
