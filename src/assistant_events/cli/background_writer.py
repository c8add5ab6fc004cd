"""
Lines for a stream that may have no reader: a thread writes them, and those beyond the bound are counted and left out.
"""

from __future__ import annotations

import os
from collections import deque
from threading import Condition, Thread
from typing import Final, Self, TextIO, final

from assistant_events.cli.terminal_safe import shortened

MAX_WAITING: Final = 1_000
"""Maximum number of lines that wait for their reader."""

MAX_LINE: Final = 4_000
"""Maximum number of characters of a line: a prompt may have millions."""

_CLOSE_S: Final = 1.0
"""Seconds that the end of the block waits for the last lines."""


@final
class BackgroundWriter:
    """
    Writes lines in a thread of its own, in their order.

    The end of the block waits a second for the remaining lines, and drops them when they are not read.

    Args:
        stream: Gets the lines. One that has a file descriptor is written past its buffer, so that no lock of it is held
            when the process ends in the middle of a write.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waiting: deque[str] = deque()
        self._left_out = 0
        self._is_closing = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="background-writer", daemon=True)

    def write(self, line: str) -> None:
        """Write one line, without its end, when it is its turn."""
        with self._changed:
            if len(self._waiting) >= MAX_WAITING:
                self._left_out += 1
                return
            self._note_left_out()
            self._waiting.append(shortened(line, MAX_LINE))
            self._changed.notify()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        with self._changed:
            self._is_closing = True
            self._note_left_out()
            self._changed.notify()
        self._thread.join(_CLOSE_S)

    def _note_left_out(self) -> None:
        if self._left_out:
            self._waiting.append(f"({self._left_out} lines left out: they were not read)")
            self._left_out = 0

    def _run(self) -> None:
        try:
            descriptor: int | None = self._stream.fileno()
        except (OSError, ValueError):
            descriptor = None
        while (line := self._next()) is not None:
            try:
                self._put(f"{line}\n", descriptor)
            except (OSError, ValueError):
                return  # the reader closed it

    def _next(self) -> str | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closing)
            return self._waiting.popleft() if self._waiting else None

    def _put(self, text: str, descriptor: int | None) -> None:
        if descriptor is None:
            self._stream.write(text)
            self._stream.flush()
            return
        data = text.encode(self._stream.encoding or "utf-8", "backslashreplace")
        while data:
            data = data[os.write(descriptor, data) :]
