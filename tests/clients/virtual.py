"""
An event loop whose time jumps: when nothing is ready, it is at once as late as the next timer wants.

Hours pass in no time, and exactly. Work in threads (a store) is waited for in real time, in which none passes here.
"""

import asyncio
import selectors


class _Selector(selectors.DefaultSelector):
    loop = None

    def select(self, timeout=None):
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self.loop.busy:
            return super().select(timeout if timeout is None else min(timeout, 0.05))
        self.loop.late += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self):
        self.late = 0.0
        self.busy = 0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self):
        return self.late

    def run_in_executor(self, executor, func, *args):
        self.busy += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._done)
        return future

    def _done(self, _):
        self.busy -= 1


def run(work):
    """
    Run a coroutine to its end in a loop of its own, and return what it returns.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
