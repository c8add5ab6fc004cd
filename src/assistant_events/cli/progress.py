"""How far the reading of an input is, on a terminal, once it takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, final

from assistant_events.cli.inputs import Input
from assistant_events.cli.visible import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S: Final = 1.0


@contextmanager
def reading(place: str, *, quiet: bool = False) -> Generator[Input]:
    """
    Open what a command reads, and show how far it is read.

    Args:
        place: A file, or `-`.

        quiet: Show nothing: the command prints while it reads.
    """
    bar = _Bar(shown=sys.stderr.isatty() and not quiet)
    try:
        with Input(place, on_read=bar.advance) as source:
            bar.name, bar.total = source.name, source.size
            yield source
    finally:
        bar.close()


@final
class _Bar:
    def __init__(self, *, shown: bool) -> None:
        self.name = ""
        self.total: int | None = None
        self._due = time.monotonic() + PATIENCE_S if shown else float("inf")
        self._read = 0
        self._progress: Progress | None = None

    def advance(self, count: int) -> None:
        self._read += count
        if self._progress is not None:
            # The second time through the file the bar stays where it is.
            self._progress.update(self._progress.task_ids[0], completed=self._read)
        elif time.monotonic() >= self._due:
            self._progress = self._begun()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()

    def _begun(self) -> Progress:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        progress.add_task(escape(one_line(self.name)), total=self.total, completed=self._read)
        progress.start()
        return progress
