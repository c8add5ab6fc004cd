"""
Work of finalizers that run during a call, postponed to the end of that call.

The garbage collector closes an abandoned generator at any point of the thread, also inside a store that writes a batch.
The events that the generator appends then have to wait for the end of that batch.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from typing import final


@final
class _Calls(local):
    """Nesting of calls in this thread."""

    def __init__(self) -> None:
        self.depth = 0
        self.postponed: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        while not self.depth and self.postponed:
            self.postponed.pop(0)()


whole = _Calls()
"""Context of a call that finalizers must not interrupt."""


def postpone(work: Callable[[], None]) -> bool:
    """Postpone *work*, which never raises, to the end of the current call; return whether there is one."""
    if whole.depth:
        whole.postponed.append(work)
    return bool(whole.depth)
