"""The input of a command: a file, or standard input, in chunks as they come."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Final, final

from assistant_events.cli.exit_codes import CommandError, UnknownOption

CHUNK_BYTES: Final = 1 << 16

STDIN: Final = "-"

_NOTICED_S: Final = 1.0
"""Seconds after which a Ctrl-C that came just before a wait is noticed: it ends no wait, and Python looks after it."""


@contextmanager
def reading(place: str) -> Generator[Input]:
    """
    Open a file or, for `-`, standard input.

    Raises:
        CommandError: It cannot be opened.
    """
    source: AbstractContextManager[IO[bytes]]
    if place == STDIN:
        source = nullcontext(sys.stdin.buffer)
    elif place.startswith("-"):
        raise UnknownOption(place)
    else:
        source = _opened(place)
    with source as stream:
        yield Input(place, stream)


@final
class Input:
    """Bytes that begin anew until they are read for the last time."""

    def __init__(self, place: str, stream: IO[bytes]) -> None:
        self.is_stdin = place == STDIN
        self.name = "standard input" if self.is_stdin else place
        """Name in errors."""

        self._stream = stream
        self._kept: list[bytes] = []

    def chunks(self, *, last: bool = False) -> Iterator[bytes]:
        """Return everything from the start, as it comes. In the *last* read nothing more is kept in memory."""
        yield from self._kept
        while chunk := self._read():
            if not last:
                self._kept.append(chunk)
            yield chunk

    def _read(self) -> bytes:
        """Return what is there, once there is something: a stream is decoded while it is still being written."""
        if self.is_stdin and os.name == "posix" and _has_descriptor(self._stream):
            while not select.select([self._stream], [], [], _NOTICED_S)[0]:
                pass
        read = getattr(self._stream, "read1", self._stream.read)
        chunk: bytes = read(CHUNK_BYTES)
        return chunk


def _has_descriptor(stream: IO[bytes]) -> bool:
    try:
        stream.fileno()
    except (OSError, ValueError):
        return False
    return True


def _opened(place: str) -> IO[bytes]:
    if not place:
        raise CommandError("the file needs a name")
    path = Path(place)
    try:
        if path.is_dir():
            raise CommandError(f"{place}: this is a folder, expected a file or - for standard input")
        return path.open("rb")
    except FileNotFoundError:
        raise CommandError(f"{place}: no such file") from None
    except (OSError, ValueError) as error:
        raise CommandError(f"{place}: {getattr(error, 'strerror', None) or error}") from None
