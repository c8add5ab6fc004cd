"""How a command ends: the codes, and the error that carries one."""

from __future__ import annotations

from enum import IntEnum
from typing import final


class Exit(IntEnum):
    """What the shell is told."""

    OK = 0

    PROBLEMS = 1
    """The command did its work, and what it looked at is not in order."""

    USAGE = 2
    """The command line, or what it names, cannot be used."""

    STORE = 3
    """The database could not do what was asked: it is busy, full or damaged, or somebody else wrote meanwhile."""

    ANSWER = 4
    """There is no complete answer: the provider refused or failed, the run goes on, or nothing will come of it."""

    STOPPED = 130
    """Ctrl-C."""

    PIPE = 141
    """Whoever read the output has gone."""

    TERMINATED = 143
    """SIGTERM, while an answer was received."""


HELP = """\
Exit codes:
  0    done
  1    done, and something is not in order (verify, fold --check)
  2    the command line or the input cannot be used
  3    the database could not do it
  4    there is no complete answer (run)
  130  stopped with Ctrl-C
  141  whoever read the output has gone
  143  stopped with SIGTERM (run)"""


@final
class CommandError(Exception):
    """A command cannot go on. The text is one line for the person at the terminal."""

    def __init__(self, text: str, exit_code: Exit = Exit.USAGE) -> None:
        super().__init__(text)
        self.exit_code = exit_code


@final
class UnknownOption(Exception):  # noqa: N818 - it becomes a `CommandError` once the command is known
    """What stands where a file belongs is an option that nobody knows."""
