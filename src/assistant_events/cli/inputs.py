"""
What a command reads, in chunks and as often as it wants: a file, or standard input.

What cannot be read twice is written down on the way, in memory up to a size and then in a file that nobody else sees.
"""

from __future__ import annotations

import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, final

from assistant_events.cli.exits import CommandError, UnknownOption

CHUNK_BYTES: Final = 1 << 16
_IN_MEMORY_BYTES: Final = 1 << 24

STDIN: Final = "-"


@final
class Input:
    """Bytes of a file or, for `-`, of standard input."""

    def __init__(self, place: str, *, on_read: Callable[[int], None] = lambda count: None) -> None:
        self.name = "standard input" if place == STDIN else place
        """What errors call it."""

        self.is_stdin = place == STDIN
        self.size: int | None = None
        """How many bytes there are; `None` when nobody knows before the end."""

        self._on_read = on_read
        self._tape: IO[bytes] | None = None
        if place == STDIN:
            self._stream: IO[bytes] = sys.stdin.buffer
            self._own = False
        else:
            if place.startswith("-"):
                raise UnknownOption(place)
            self._stream = _opened(place)
            self._own = True
            mode = Path(place).stat()
            if stat.S_ISREG(mode.st_mode):
                self.size = mode.st_size
        if self.size is None:
            self._tape = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115 - `close` closes it
        elif self.size == 0:
            self.close()
            raise CommandError(f"{self.name}: the file is empty")

    def chunks(self, *, last: bool = False) -> Iterator[bytes]:
        """
        Return everything from the start, as it comes.

        Args:
            last: Nobody will ask again, so nothing has to be written down any more.
        """
        if self._tape is None:
            self._stream.seek(0)
        else:
            self._tape.seek(0)
            while chunk := self._tape.read(CHUNK_BYTES):
                yield chunk
        while chunk := self._read():
            if self._tape is not None and not last:
                self._tape.write(chunk)
            yield chunk

    def close(self) -> None:
        """Let go of the file."""
        if self._own:
            self._stream.close()
        if self._tape is not None:
            self._tape.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> bytes:
        # What is there is taken at once: a stream that is still being written is decoded as it comes.
        read = getattr(self._stream, "read1", self._stream.read)
        chunk: bytes = read(CHUNK_BYTES)
        self._on_read(len(chunk))
        return chunk


def _opened(place: str) -> IO[bytes]:
    path = Path(place)
    try:
        if path.is_dir():
            raise CommandError(f"{place}: this is a folder, expected a file or - for standard input")
        return path.open("rb")
    except FileNotFoundError:
        raise CommandError(f"{place}: no such file") from None
    except (OSError, ValueError) as error:
        raise CommandError(f"{place}: {getattr(error, 'strerror', None) or error}") from None
