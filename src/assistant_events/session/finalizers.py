"""
What a finaliser does in the middle of a call, postponed to the end of that call.

The garbage collector closes a forgotten generator wherever the thread happens to be, also inside of a store that is
writing a batch. What the generator appends then has to wait, and cannot wait there.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from typing import final


@final
class _Calls(local):
    """The calls that this thread is inside of."""

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
"""Context of a call that no finaliser may disturb."""


def postpone(work: Callable[[], None]) -> bool:
    """Do *work*, which never raises, at the end of the call that this thread is inside of. Returns whether it is."""
    if whole.depth:
        whole.postponed.append(work)
    return bool(whole.depth)
