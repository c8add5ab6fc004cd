"""
The lock of a store: one call at a time, of threads and inside a thread.

The garbage collector runs finalisers in the middle of any code. One of them may call the store whose call it
interrupted, in the same thread: a forgotten stream that appends its end does. That inner call is refused, because a
lock that lets it in would mix two batches and one that makes it wait would wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TypeVar, final

from assistant_events.errors import StoreError

_T = TypeVar("_T")


@final
class Turn:
    """A lock for calls that must not be interrupted by each other."""

    __slots__ = ("_lock", "_taken")

    def __init__(self) -> None:
        self._lock = RLock()
        self._taken = False

    def run(self, work: Callable[[], _T]) -> _T:
        """
        Wait for other threads, keep them out, and return what *work* returns.

        It takes a function because Ctrl-C may end a context manager between its parts, and its lock would stay.

        Raises:
            StoreError: This thread is inside already. Nothing was done, and the call outside goes on unharmed.
        """
        with self._lock:
            if self._taken:
                raise StoreError(
                    "the store was called from inside another call of the same thread, by a finaliser or a signal "
                    "handler; nothing was done, call it again later"
                )
            try:
                self._taken = True
                return work()
            finally:
                self._taken = False
