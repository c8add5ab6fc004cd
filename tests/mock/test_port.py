"""
The mock provider behind a real server and over real sockets.
"""

import asyncio
import json
import socket
import tracemalloc

import pytest

from assistant_events.adapters.gemini_interactions.mock import Answer
from assistant_events.mock import Timing
from assistant_events.mock.threaded_server import ThreadedServer

from .asgi import create, provider_of, text_step

WORDS = "word " * 50


@pytest.fixture
def serve():
    """
    Serves providers; whatever is open is ended with the test.
    """
    open_ = []

    def start(*answers, **options):
        provider = provider_of(*answers, **{"clock": None, **options})
        serving = ThreadedServer(provider.app, before_stop=provider.close)
        open_.append(serving)
        return provider, serving.port

    yield start
    for serving in open_:
        serving.stop()


def request(body, *, path="/v1beta/interactions", method="POST"):
    data = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nhost: mock\r\nx-goog-api-key: k\r\ncontent-length: {len(data)}\r\n\r\n"
    return head.encode() + data


def connect(port, data):
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(data)
    return connection


def read_until(connection, end):
    got = b""
    while end not in got:
        piece = connection.recv(65536)
        if not piece:
            break
        got += piece
    return got


def test_a_stream_is_chunked_and_the_connection_goes_on(serve):
    """
    Each event is one chunk, the body ends with the empty one, and the connection serves the next request.
    """
    _, port = serve()
    with connect(port, request(create(stream=True))) as connection:
        first = read_until(connection, b"\r\n0\r\n\r\n")
        connection.sendall(request(create()))
        second = read_until(connection, b'"usage"')

    assert first.startswith(b"HTTP/1.1 200 OK\r\n")
    assert 7 == first.count(b"\n\n\r\n")
    assert first.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")
    assert second.startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_drop_resets_the_connection(serve, caplog):
    """
    A dropped stream has neither an end nor a FIN: the socket fails. The server takes it for a client that has gone.
    """
    provider, port = serve(faults=["drop@2"])
    with connect(port, request(create(stream=True))) as connection, pytest.raises(ConnectionResetError):
        read_until(connection, b"\r\n0\r\n\r\n")
    with connect(port, request(create())) as connection:
        read_until(connection, b'"usage"')

    assert 2 == len(provider.requests)
    assert "" == caplog.text


def test_a_cut_ends_cleanly(serve):
    """
    The ten-minute cut ends the body as if all were well.
    """
    _, port = serve(faults=["ten-minute-cut@2"])
    with connect(port, request(create(stream=True))) as connection:
        got = read_until(connection, b"\r\n0\r\n\r\n")

    assert b'"status": "UNAVAILABLE"\n}\n}\n]\n\r\n0\r\n\r\n' in got


def test_who_leaves_ends_only_his_stream(serve):
    """
    A client that closes its connection in the middle leaves the others theirs.
    """
    answer = Answer(steps=(text_step(WORDS),), timing=Timing(between_s=1.0))
    _, port = serve(answer, time_scale=0.01)
    leaving, staying = (connect(port, request(create(stream=True))) for _ in range(2))
    read_until(leaving, b"step.start")
    leaving.close()
    with staying:
        got = read_until(staying, b"\r\n0\r\n\r\n")

    assert b"data: [DONE]" in got


def test_a_hanging_stream_is_cancelled_by_another_connection(serve):
    """
    While the stream of a zombie is open, its cancellation is answered, and ends it.
    """
    provider, port = serve(faults=["zombie"])
    with connect(port, request(create(stream=True, background=True))) as hanging:
        read_until(hanging, b"interaction.status_update")
        with connect(port, request(None, path="/v1/interactions/v1_1:cancel")) as connection:
            answer = read_until(connection, b'"cancelled"')
        got = read_until(hanging, b"\r\n0\r\n\r\n")

    assert b'"status":"cancelled"' in answer
    assert b'"status":"cancelled"' in got
    assert 2 == len(provider.requests)


def test_many_streams_at_once(serve):
    """
    A hundred streams of fifty deltas come whole, side by side, on one process.
    """
    _, port = serve(Answer(steps=(text_step(WORDS),), timing=Timing(delta_chars=5, between_s=0.001)))

    async def one():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request(create(stream=True)))
        got = await reader.readuntil(b"\r\n0\r\n\r\n")
        writer.close()
        await writer.wait_closed()
        return got.count(b'"type":"text"')

    async def main():
        return await asyncio.gather(*[one() for _ in range(100)])

    assert [50] * 100 == asyncio.run(main())


def test_memory_is_flat(serve):
    """
    Once as many runs are kept as may be, more of them take no more memory.
    """
    _, port = serve(Answer(steps=(text_step(WORDS),)), max_runs=20, max_requests=20)

    def ask(times):
        with connect(port, b"") as connection:
            for _ in range(times):
                connection.sendall(request(create("x" * 1000, stream=True)))
                read_until(connection, b"\r\n0\r\n\r\n")

    ask(60)
    tracemalloc.start()
    try:
        ask(40)
        before, _ = tracemalloc.get_traced_memory()
        ask(200)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert after - before < 100_000


def test_closing_ends_what_hangs(serve):
    """
    A provider that is closed ends the streams that hang, cleanly.
    """
    provider, port = serve(faults=["stall@1"])
    with connect(port, request(create(stream=True))) as connection:
        read_until(connection, b"interaction.created")
        provider.close()
        got = read_until(connection, b"0\r\n\r\n")

    assert got.endswith(b"0\r\n\r\n")
