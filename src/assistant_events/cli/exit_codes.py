"""How a command ends: the codes, and the error that carries one."""

from __future__ import annotations

from enum import IntEnum
from typing import final


class Exit(IntEnum):
    """Exit codes of the process."""

    OK = 0

    PROBLEMS = 1
    """The command did its work, and what it looked at is not in order."""

    USAGE = 2
    """The command line, or what it names, cannot be used."""

    STORE = 3
    """The database refused: it is busy, full or damaged, or another process wrote meanwhile."""

    ANSWER = 4
    """The answer is not complete: the provider refused or failed, or the run is still in progress or dead."""

    STOPPED = 130
    """Ctrl-C."""

    PIPE = 141
    """The reader of the output closed it."""

    TERMINATED = 143
    """SIGTERM, while an answer was received."""


HELP = """\
Exit codes:
  0    done
  1    done, and something is not in order (verify, fold --check)
  2    the command line or the input cannot be used
  3    the database refused
  4    the answer is not complete (run)
  130  stopped with Ctrl-C
  141  the reader of the output closed it
  143  stopped with SIGTERM (run)"""


@final
class CommandError(Exception):
    """A command cannot continue. The text is one line for the person at the terminal."""

    def __init__(self, text: str, exit_code: Exit = Exit.USAGE) -> None:
        super().__init__(text)
        self.exit_code = exit_code


@final
class UnknownOption(Exception):  # noqa: N818 - it becomes a `CommandError` once the command is known
    """An unknown option in the place of a file."""
