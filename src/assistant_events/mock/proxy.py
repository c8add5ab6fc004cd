"""
A proxy that forwards requests to a real endpoint and records its answers as fixtures.

The client gets every byte as the endpoint sent it, and when it did. Of a request only what a fixture matches on is
written: no header, no key, no cookie. Signatures are, since the next turn needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, final
from urllib.parse import quote
from urllib.request import getproxies, proxy_bypass

import httpx2
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from assistant_events.clients.hosts import is_loopback, proxy_secrets, service_url
from assistant_events.mock.requests import ApiError, secrets_of_request
from assistant_events.mock.streaming import reset_connection
from assistant_events.mock.tape import RecordedApi, Tape
from assistant_events.values.credentials import Secrets

# Headers of one connection only (RFC 9110, 7.6.1), or made anew for the next.
_OWN_HEADERS: Final = frozenset(
    [
        *("accept-encoding", "connection", "content-length", "host", "keep-alive", "proxy-authenticate"),
        *("proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"),
    ]
)


@final
class RecordingProxy:
    """
    An ASGI app that forwards requests to an endpoint and records the answers.

    Args:
        api: What is recorded of the dialect.

        upstream: Address of the endpoint without version and path, for example `https://api.example.com`.

        path: The file. It is written as a whole after each answer; fixtures that are in it stay.

        note: Called with one line about each answer: recorded, or why not.

        transport: Connection to the endpoint; over the network by default.

    Raises:
        FixtureError: The file is not a fixture file of this library.

        ValueError: *upstream* is not an address, or the folder of the file does not exist.
    """

    def __init__(
        self,
        api: RecordedApi,
        upstream: str,
        path: Path,
        *,
        note: Callable[[str], None] = lambda text: None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._upstream = _origin(upstream)
        self.upstream = str(self._upstream).rstrip("/")
        self._secrets = Secrets(proxy_secrets())
        self._api = api
        self._tape = Tape(path, api, self._secrets)
        self._write_note = note
        self._transport = transport
        if transport is None:
            self._make_transport()

    def close(self) -> None:
        """Do nothing: a request under way ends with its connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the endpoint, and its answer to the client."""
        request = Request(scope, receive)
        self._secrets.add(secrets_of_request(request))
        body = await request.body()
        try:
            forwarded = self._request(request, body)
        except (httpx2.InvalidURL, ValueError):
            error_response = self._api.error_response(ApiError(400, "the target of the request is not a path"))
            await error_response(scope, receive, send)
            return
        pieces: list[bytes] = []
        # Without a client of httpx2: it writes every URL to its log, the key in the query included.
        async with self._transport or self._make_transport() as transport:
            try:
                response = await transport.handle_async_request(forwarded)
            except httpx2.TransportError as error:
                reason = f"{self.upstream} cannot be reached: {type(error).__name__}"
                await self._api.error_response(ApiError(502, reason))(scope, receive, send)
                return
            try:
                await _forward(response, send, pieces)
            except httpx2.TransportError as error:
                is_stream = _is_stream(response)
                lost = "" if is_stream else "not recorded, "
                self._note(f"{lost}the endpoint broke off: {type(error).__name__}")
                if is_stream:
                    self._record(request, body, response, b"".join(pieces))
                reset_connection(send, "the endpoint broke off")
                while (await receive())["type"] != "http.disconnect":
                    pass
                return
        self._record(request, body, response, b"".join(pieces))

    def _request(self, request: Request, body: bytes) -> httpx2.Request:
        """
        Return the request for the endpoint. Scheme, host and port are always those of the endpoint.

        Raises `InvalidURL`, or `ValueError` for a target such as `@host/`, `http://host/`, or that of CONNECT.
        """
        # As the client has quoted it: an id may contain a slash.
        path: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
        query: bytes = request.scope["query_string"]
        if request.method == "CONNECT" or not path.startswith(b"/"):
            raise ValueError("the target is not a path")
        target = self._upstream.raw_path.rstrip(b"/") + path + (b"?" + query if query else b"")
        headers = [pair for pair in request.headers.raw if pair[0].decode("latin-1") not in _OWN_HEADERS]
        headers.append((b"accept-encoding", b"identity"))
        return httpx2.Request(request.method, self._upstream.copy_with(raw_path=target), headers=headers, content=body)

    def _make_transport(self) -> httpx2.AsyncBaseTransport:
        """Return a transport over the network: through the proxy of the environment, but to this machine without."""
        try:
            return httpx2.AsyncHTTPTransport(proxy=_proxy_for(self._upstream))
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            # The text does not show the proxy: it may contain a password.
            raise ValueError(f"the proxy that the environment names cannot be used: {type(error).__name__}") from None

    def _note(self, text: str) -> None:
        self._write_note(self._secrets.text(text))

    def _record(self, request: Request, body: bytes, response: httpx2.Response, data: bytes) -> None:
        recorded = self._api.request_of(request.method, request.scope["path"], request.query_params)
        if recorded is None or "content-encoding" in response.headers:
            return
        is_stream = _is_stream(response)
        try:
            if recorded.run_id is None:
                status, headers, fields = response.status_code, response.headers, recorded.fields
                note = self._tape.created(body, status, headers, data, is_stream=is_stream, fields=fields)
            elif response.status_code == 200:
                note = self._tape.fetched(recorded.run_id, data, is_stream=is_stream, after=recorded.after)
            else:
                return
        except OSError as error:
            note = f"not recorded, the file cannot be written: {error.strerror or type(error).__name__}"
        self._note(note)


def _origin(upstream: str) -> httpx2.URL:
    if service_url(upstream) is not None:
        with suppress(httpx2.InvalidURL):
            return httpx2.URL(upstream)
    raise ValueError("upstream: expected an http or https URL without user, password, query and fragment")


def _proxy_for(url: httpx2.URL) -> str | None:
    """Return the proxy that the environment names for *url*; `None` without one, and for this machine."""
    if is_loopback(url.host) or proxy_bypass(url.host):
        return None
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _is_stream(response: httpx2.Response) -> bool:
    """Return whether an answer is a stream, of any framing: it is not one JSON document."""
    media_type = response.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    return not media_type.endswith(("/json", "+json"))


async def _forward(response: httpx2.Response, send: Send, pieces: list[bytes]) -> None:
    """Forward an answer to the client piece by piece, and add each piece to *pieces*."""
    headers = [(name.lower(), value) for name, value in response.headers.raw]
    headers = [pair for pair in headers if pair[0].decode() not in _OWN_HEADERS - {"content-length"}]
    # Servers cannot send other codes than those of HTTP, which end with 599.
    status = response.status_code if response.status_code < 600 else 502
    try:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        async for piece in response.aiter_raw():
            pieces.append(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        await response.aclose()
