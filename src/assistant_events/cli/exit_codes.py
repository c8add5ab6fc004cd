"""The exit codes of a command, and the error that carries one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, Self, final


class Exit(IntEnum):
    """Exit codes of the process, and what each means."""

    meaning: str

    OK = 0, "done"
    PROBLEMS = 1, "done, and something is not in order (verify, fold --check)"
    USAGE = 2, "the command line or the input cannot be used"
    STORE = 3, "the database refused"
    ANSWER = 4, "the answer is not complete (run)"
    STOPPED = 130, "stopped with Ctrl-C"
    PIPE = 141, "the reader of the output closed it"
    TERMINATED = 143, "stopped with SIGTERM (run, mock)"

    def __new__(cls, code: int, meaning: str) -> Self:
        """Make a member; Python calls it with each of the pairs."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member


HELP: Final = "\n".join(["Exit codes:", *[f"  {code.value:<4} {code.meaning}" for code in Exit]])


@final
class CommandError(Exception):
    """A command cannot continue. The text is one line for the person at the terminal, *more* are lines below it."""

    def __init__(self, text: str, exit_code: Exit = Exit.USAGE, *, more: Iterable[str] = ()) -> None:
        super().__init__(text)
        self.exit_code = exit_code
        self.more = tuple(more)


@final
class UnknownOption(Exception):  # noqa: N818 - it becomes a `CommandError` once the command is known
    """An unknown option in the place of a file."""
