"""
Where a prompt and a key go when the environment names proxies. Proxy and server listen on loopback.
"""

import asyncio
import socket
import sys
import threading

import pytest

from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.cli import main
from assistant_events.clients.hosts import is_loopback, service_url
from assistant_events.errors import LocalProtocolError
from assistant_events.stores import SqliteStore
from assistant_events.testing import mock_provider

from .answers import events_of

BODY = {"model": "gemini-3.6-flash", "input": "Hi"}
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


class Proxy:
    """A listener that remembers what it is sent, and refuses it."""

    def __init__(self):
        self.received = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self.received.append(connection.recv(1 << 16))
                connection.sendall(b"HTTP/1.1 403 CANARY-password\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def close(self):
        # Closing does not wake up who accepts on every system.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(10)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """No proxy and no key of the machine, and no support for SOCKS."""
    for name in (*VARIABLES, "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setitem(sys.modules, "socksio", None)
    return monkeypatch


@pytest.fixture
def proxy():
    made = Proxy()
    yield made
    made.close()


def ask(base_url):
    async def work():
        async with GeminiInteractions("CANARY-key", base_url=base_url) as client:
            return await events_of(client.create(BODY, "m"))

    return asyncio.run(work())


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_server_of_this_machine_is_reached_directly(proxy, environment, name):
    """
    A proxy sees neither the key nor the prompt for a server on loopback.
    """
    environment.setenv(name, f"http://{proxy.address}")
    with mock_provider({"Hi": "Hello"}) as provider:
        events = ask(provider.url)

    assert "step.ended" == events[-1].type
    assert [] == proxy.received


def test_the_mock_of_the_command_is_reached_directly(proxy, environment, tmp_path, capsys):
    """
    Nor does it see the prompt of a command that no key leaves the machine for.
    """
    environment.setenv("HTTP_PROXY", f"http://{proxy.address}")

    assert 0 == main(["run", "CANARY prompt", "--db", str(tmp_path / "a.db")])
    assert [] == proxy.received
    assert "CANARY prompt" in capsys.readouterr().out


def test_another_server_is_reached_through_the_proxy(proxy, environment):
    """
    For others the environment holds, and the error is without the password of the proxy.
    """
    environment.setenv("HTTP_PROXY", f"http://me:CANARY-password@{proxy.address}")

    [event] = ask("http://provider.example")[-1:]

    assert proxy.received[0].startswith(b"POST http://provider.example/v1beta/interactions")
    assert "CANARY" not in repr(event)


def test_a_tunnel_that_is_refused(proxy, environment):
    """
    The error contains the response of the proxy, without its password.
    """
    environment.setenv("HTTPS_PROXY", f"http://me:CANARY-password@{proxy.address}")

    [event] = ask("https://provider.example")[-1:]

    assert proxy.received[0].startswith(b"CONNECT provider.example:443")
    assert ("network", "ProxyError: 403 [hidden]") == (event.error.kind, event.error.message)


SOCKS = "ALL_PROXY names a SOCKS proxy, which needs socksio: pip install 'httpx2[socks]', or unset it"
NO_PROXY_URL = "a proxy variable of the environment is not a proxy URL: expected http://host:port"
UNUSABLE = {
    "SOCKS": ("socks5://me:CANARY@127.0.0.1:1", SOCKS),
    "no scheme that is known": ("ftp://me:CANARY@127.0.0.1:1", NO_PROXY_URL),
    "no port": ("http://me:pass@127.0.0.1:CANARY", NO_PROXY_URL),
}


@pytest.mark.parametrize(("url", "message"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_proxy_that_cannot_be_used(environment, url, message):
    """
    The client raises when it is entered or first used, without the password in the error.
    """
    environment.setenv("ALL_PROXY", url)

    with pytest.raises(LocalProtocolError) as caught:
        ask("http://provider.example")
    assert message == str(caught.value)
    with pytest.raises(LocalProtocolError):
        GeminiInteractions("key").create(BODY, "m")


@pytest.mark.parametrize(("url", "message"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_command_with_a_proxy_that_cannot_be_used(environment, tmp_path, capsys, url, message):
    """
    The command reports it in one line, before the prompt is stored.
    """
    environment.setenv("ALL_PROXY", url)
    environment.setenv("GEMINI_API_KEY", "CANARY-key")
    db = tmp_path / "a.db"

    assert 2 == main(["run", "Hi", "--db", str(db)])
    assert f"assistant-events: {message}" == capsys.readouterr().err.splitlines()[-1]
    with SqliteStore(db) as store:
        assert [] == list(store.read("main"))


def test_a_proxy_that_cannot_be_used_and_is_not_needed(environment):
    """
    For a server of this machine it plays no part.
    """
    environment.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    with mock_provider({"Hi": "Hello"}) as provider:
        assert "step.ended" == ask(provider.url)[-1].type


HOSTS = {
    "127.0.0.1": True,
    "127.9.9.9": True,
    "::1": True,
    "localhost": True,
    "LOCALHOST.": True,
    "a.localhost": True,
    "10.0.0.1": False,
    "0.0.0.0": False,
    "localhost.example": False,
    "notlocalhost": False,
    "127.0.0.1.example": False,
}


@pytest.mark.parametrize(("host", "loopback"), HOSTS.items(), ids=HOSTS)
def test_hosts_of_this_machine(host, loopback):
    """
    Addresses and the names that are reserved for loopback; no name is resolved.
    """
    assert loopback is is_loopback(host)


URLS = {
    "https://h": True,
    "http://h:80/prefix/": True,
    "http://[::1]:8000": True,
    "h": False,
    "ftp://h": False,
    "https://": False,
    "https://h:port": False,
    "http://[::1": False,
    "https://me@h": False,
    "https://me:word@h": False,
    "https://:word@h": False,
    "https://h?key=k": False,
    "https://h#k": False,
    "https://h?": False,
    "https://h#": False,
    "https://h:0": False,
}


@pytest.mark.parametrize(("url", "usable"), URLS.items(), ids=URLS)
def test_urls_of_a_service(url, usable):
    """
    A base URL has a host, and no credentials.
    """
    assert usable is (service_url(url) is not None)
