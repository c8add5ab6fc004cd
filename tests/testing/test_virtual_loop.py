"""
What the loop with a virtual time promises beyond what its users notice.
"""

import asyncio
import threading
import time

from assistant_events.testing import virtual_loop


def test_threads_that_are_left_end_in_real_time():
    """
    A time limit for the end of threads, which runners have from Python 3.12 on, is not over at once in virtual time.
    """
    begun, ended = threading.Event(), []

    def work():
        begun.set()
        time.sleep(0.1)
        ended.append(True)

    async def main():
        loop = asyncio.get_running_loop()
        left = loop.run_in_executor(None, work)
        begun.wait()
        left.cancel()
        await loop.shutdown_default_executor(300)
        return loop.time(), list(ended)

    assert (0, [True]) == virtual_loop.run(main())
