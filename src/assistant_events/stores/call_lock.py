"""
The lock of a store: one call at a time, across threads and within a thread.

Signal handlers, and finalizers of the app, run in the middle of any code. One may call the store whose call it
interrupted, in the same thread. Such an inner call is refused: a reentrant lock would mix two batches, and a plain lock
would deadlock.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TypeVar, final

from assistant_events.errors import StoreError

_T = TypeVar("_T")


@final
class CallLock:
    """A lock that serializes calls and refuses reentrant ones."""

    __slots__ = ("_lock", "_taken")

    def __init__(self) -> None:
        self._lock = RLock()
        self._taken = False

    def run(self, work: Callable[[], _T]) -> _T:
        """
        Call *work* while holding the lock and return its result.

        Takes a function, because Ctrl-C between two steps of a context manager would leave its lock taken.

        Raises:
            StoreError: This thread holds the lock already. *work* was not called; the outer call continues.
        """
        with self._lock:
            if self._taken:
                raise StoreError(
                    "the store was called during another call of the same thread, by a finalizer or a signal handler; "
                    "nothing was done, call it again later"
                )
            try:
                self._taken = True
                return work()
            finally:
                self._taken = False
