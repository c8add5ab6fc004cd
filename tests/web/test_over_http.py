"""
The routes behind uvicorn: what only a connection shows.
"""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from tests.session.scripted import HELLO, line
from tests.web.chat import chat, run, serving, until

HEAD = "{} {} HTTP/1.1\r\nhost: chat.example\r\nx-user: ada\r\n{}\r\n"


@asynccontextmanager
async def connected(address, method, path, *headers):
    """
    Open a connection, and send the head of a request.
    """
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(HEAD.format(method, path, "".join(f"{header}\r\n" for header in headers)).encode())
        yield reader, writer
    finally:
        writer.close()


def test_a_connection_that_closes_ends_its_subscription():
    """
    A browser whose connection closes is not subscribed any more, although nothing happens in the session.
    """

    async def main():
        go = asyncio.Event()
        async with chat((line(say="Hello"), go, line(stop="stop"))) as app, serving(app.routes) as address:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with connected(address, "GET", "/sessions/s1/events") as (reader, _):
                await reader.readuntil(b"text.delta")
                assert {"ada": 1} == app.routes._streams._open
            await until(lambda: not app.routes._streams._open)
            go.set()
            await until(lambda: app.store.seq("s1") == 5)

    run(main())


def test_a_server_that_stops_breaks_the_connection():
    """
    A browser sees that the answer broke: the last chunk, which would be its end, never comes.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            async with AsyncExitStack() as served:
                address = await served.enter_async_context(serving(app.routes))
                reader, writer = await asyncio.open_connection(*address)
                writer.write(HEAD.format("GET", "/sessions/s1/events", "").encode())
                await reader.readuntil(b"snapshot")
            rest = await asyncio.wait_for(reader.read(), 20)
            writer.close()

            assert not rest.endswith(b"0\r\n\r\n")

    run(main())


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("content-length: 99999999", b"{"),
        ("transfer-encoding: chunked", b"800\r\n" + b"x" * 2048 + b"\r\n"),
    ],
    ids=["declared", "chunked"],
)
def test_a_body_that_is_too_long(header, body):
    """
    A body that is too long is refused while it is sent, with or without a declared length, and the connection closes.
    """

    async def main():
        async with chat(max_body_bytes=1000) as app, serving(app.routes) as address:
            path = "/sessions/s1/prompt"
            async with connected(address, "POST", path, "content-type: application/json", header) as (reader, writer):
                writer.write(body)
                answer = await asyncio.wait_for(reader.read(), 20)

            assert answer.startswith(b"HTTP/1.1 413 ")
            assert b'{"detail":"the body has more than 1000 bytes"}' in answer

    run(main())
