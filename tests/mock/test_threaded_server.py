"""
An app on a port, in a thread of its own.
"""

import socket
import threading

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from assistant_events.mock.threaded_server import ThreadedServer

APP = PlainTextResponse("Hi")


def test_served():
    """
    The app answers as soon as there is an address.
    """
    with ThreadedServer(APP) as serving, httpx2.Client() as client:
        assert "Hi" == client.get(serving.url).text
        assert serving.url == f"http://127.0.0.1:{serving.port}"


def test_a_host_with_colons():
    """
    An IPv6 address is in brackets.
    """
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    try:
        serving = ThreadedServer(APP, host="::1")
    except OSError:
        pytest.skip("no IPv6 address here")
    with serving, httpx2.Client() as client:
        assert serving.url == f"http://[::1]:{serving.port}"
        assert "Hi" == client.get(serving.url).text


def test_run():
    """
    A function runs in the thread of the server; what it returns and what it raises comes back.
    """
    with ThreadedServer(APP) as serving:
        name = serving.run(lambda: threading.current_thread().name)
        with pytest.raises(ZeroDivisionError):
            serving.run(lambda: 1 // 0)
    after = serving.run(threading.current_thread)

    assert "mock-provider" == name
    assert threading.current_thread() is after


def test_stop():
    """
    What would keep connections open is ended once, in the thread of the server; to stop again does nothing.
    """
    ended: list[str] = []
    serving = ThreadedServer(APP, before_stop=lambda: ended.append(threading.current_thread().name))
    serving.stop()
    serving.stop()

    assert ["mock-provider"] == ended
    with pytest.raises(httpx2.ConnectError), httpx2.Client() as client:
        client.get(serving.url)


def test_the_same_port_again():
    """
    A port can be used again as soon as its server has stopped.
    """
    with ThreadedServer(APP) as first, httpx2.Client() as client:
        client.get(first.url)
    with ThreadedServer(APP, port=first.port) as second:
        assert first.url == second.url


def test_no_such_port():
    """
    A number that is not a port is rejected, not cut to a valid one.
    """
    with pytest.raises(ValueError, match="port: expected 0 to 65535, got 65536"):
        ThreadedServer(APP, port=65536)
