"""
An event loop whose time jumps: when nothing is ready, it is at once as late as the next timer wants.

Hours pass in no time, and exactly. Work in threads, such as calls of a store, is waited for in real time, in which none
passes here. While a socket is watched, whose other end needs real time, this one is only ten times as fast.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from time import monotonic
from typing import Any, TypeVar, TypeVarTuple, Unpack

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

_REAL_S = 0.05
"""Seconds of real time after which work in threads is looked at again."""

_SPEED = 10.0
"""Virtual seconds in a real one while a socket is watched."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time, which begins at 0; see the top of this module."""

    def __init__(self) -> None:
        self.now = 0.0
        self.busy = 0
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Return the virtual time."""
        return self.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[_Ts]], _T], *args: *_Ts
    ) -> asyncio.Future[_T]:
        """Run *func* in a thread; the virtual time does not change meanwhile."""
        self.busy += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._done)
        return future

    async def shutdown_default_executor(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - a runner passes it, from Python 3.12 on
    ) -> None:
        """Wait until all threads have ended, in real time: in the virtual one, any *timeout* is over at once."""
        await super().shutdown_default_executor()

    def _done(self, _future: asyncio.Future[_T]) -> None:
        self.busy -= 1


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self._loop.busy:
            return super().select(timeout if timeout is None else min(timeout, _REAL_S))
        if len(self.get_map()) > 1:  # beside that of the loop itself
            began = monotonic()
            ready = super().select(timeout / _SPEED)
            if ready:
                timeout = min(timeout, (monotonic() - began) * _SPEED)
        self._loop.now += timeout
        return ready


# Any: what a coroutine exchanges with its event loop.
def run(work: Coroutine[Any, Any, _T], loop: Callable[[], VirtualLoop] = VirtualLoop) -> _T:
    """Run a coroutine to its end in a virtual loop of its own, and return its result."""
    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(work)
