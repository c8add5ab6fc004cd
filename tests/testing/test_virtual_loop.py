"""
What the loop with a virtual time promises beyond what its users notice.
"""

import asyncio
import socket
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


def test_the_other_end_of_a_socket_is_waited_for():
    """
    A server in another process or thread answers in real time, long before a time limit of seconds is over.
    """
    near, far = socket.socketpair()

    def serve():
        asked = far.recv(1)
        time.sleep(0.5)
        far.send(asked)

    async def main():
        loop = asyncio.get_running_loop()
        reader, writer = await asyncio.open_connection(sock=near)
        writer.write(b"a")
        async with asyncio.timeout(60):
            answer = await reader.read(1)
        writer.close()
        return answer, loop.time()

    with far:
        thread = threading.Thread(target=serve)
        thread.start()
        answer, late = virtual_loop.run(main())
        thread.join()
    assert (b"a", True) == (answer, 1 < late < 60)  # 5, less what this side was late itself
