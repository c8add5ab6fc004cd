"""
The requests of a client, and their responses.

Whatever the provider or the network does becomes a `RequestFailedError`. Redirects are not followed: a client that
follows one would send the key to whatever host it names.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, final
from urllib.parse import quote
from urllib.request import getproxies

import attrs
import httpx2

from assistant_events.adapters.json_fields import Fields, string
from assistant_events.clients.hosts import is_loopback
from assistant_events.clients.recovery import FetchedRun, RecoveryPolicy
from assistant_events.clients.retry import RequestFailedError
from assistant_events.errors import JsonError, LocalProtocolError
from assistant_events.values import ErrorInfo, ErrorKind, read_json, write_json
from assistant_events.values.credentials import Secrets, error_text, traceback_text

if TYPE_CHECKING:
    from assistant_events.clients.clock import Clock
    from assistant_events.clients.provider_api import ProviderApi

MAX_ERROR_BYTES: Final = 1 << 16
"""Maximum size of the body of an HTTP error. Real ones have some hundred bytes; a gateway may send a whole page."""

_GZIP: Final = "gzip"
"""The one content encoding that is accepted, and only for documents."""

_JSON: Final = "application/json"

_UNTYPED: Final = frozenset({"text/plain", "application/octet-stream"})
"""Media types with which gateways send a stream that was asked for, or a document."""

_ADVICE: Final = {"true": True, "false": False}
"""Values of the header `x-should-retry`."""

_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
_LOOKED_AT: Final = 64
"""Beginnings of server-sent events, behind blanks, and the number of bytes in which they are looked for."""

_UNSENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
"""Raised before anything of the request was sent."""

_UNCONNECTED: Final = (httpx2.ConnectError, httpx2.ConnectTimeout)

_DEFAULT_TEXTS: Final = {ErrorKind.NETWORK: "the connection broke", ErrorKind.TIMEOUT: "it took too long"}
"""For exceptions without a text, such as that of a reset connection."""

_log = logging.getLogger("assistant_events.clients")


class _BodyError(Exception):
    """A body that is not read to its end. The text is for users."""


@final
class _Chunks:
    """The bytes of a response as they were sent: httpx decompresses a chunk in one piece of any size."""

    def __init__(self, response: httpx2.Response) -> None:
        self.are_decoded = response.is_stream_consumed  # by the transport
        self._rest: AsyncGenerator[bytes]
        self._rest = response.aiter_bytes() if self.are_decoded else response.aiter_raw()
        self._seen = b""

    def __aiter__(self) -> _Chunks:
        return self

    async def __anext__(self) -> bytes:
        seen, self._seen = self._seen, b""
        return seen or await anext(self._rest)

    async def begin_as_events(self) -> bool:
        """Look at the start, which is read later again: whether it is that of server-sent events."""
        async for chunk in self._rest:
            self._seen += chunk
            if len(self._seen) > _LOOKED_AT or len(self._seen.lstrip()) > len("event:"):
                break
        return self._seen.lstrip().startswith(_FIELDS)

    async def aclose(self) -> None:
        """End the reading."""
        await self._rest.aclose()


@final
class _Body:
    """The received part of a body, with limits of its size as sent and when decompressed."""

    def __init__(self, encoding: str, *, sent_bytes: int, inflated_bytes: int) -> None:
        if encoding not in ("", _GZIP):
            raise _BodyError(f"has the content encoding {encoding!r}, expected {_GZIP!r} or none")
        self.data = bytearray()
        self._sent = 0
        self._sent_bytes = sent_bytes
        self._inflated_bytes = inflated_bytes
        self._inflater = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS) if encoding else None

    def add(self, chunk: bytes) -> None:
        """Add the next bytes. When they are too many or not valid gzip, it raises, and `data` holds what fits."""
        self._sent += len(chunk)
        if self._inflater is None:
            self.data += chunk[: max(self._sent_bytes - len(self.data), 0)]
        elif not self._inflater.eof:
            # Bytes behind the end do not belong to the document, and zlib would copy all of them for each chunk.
            room = self._inflated_bytes - len(self.data)
            try:
                # One byte beyond the limit shows whether there is more.
                inflated = self._inflater.decompress(chunk, room + 1)
            except zlib.error:
                raise _BodyError("is not valid gzip") from None
            self.data += inflated
            if len(inflated) > room:
                raise _BodyError(f"has more than {self._inflated_bytes} bytes when it is inflated")
        if self._sent > self._sent_bytes:
            raise _BodyError(f"has more than {self._sent_bytes} bytes")


@final
class Stream:
    """A response that is a stream of events."""

    def __init__(self, response: httpx2.Response, chunks: _Chunks, transport: Transport) -> None:
        self._response = response
        self._transport = transport
        self._chunks = chunks
        self._closing: asyncio.Task[None] | None = None
        transport.streams.add(self)

    async def read(self) -> bytes:
        """
        Return the next bytes; none at the end. Nothing is read before it is asked for.

        Raises:
            RequestFailedError: The connection broke.
        """
        try:
            async for chunk in self._chunks:
                return self._transport.secrets.data(chunk)  # httpx yields no empty ones
        except Exception as error:  # noqa: BLE001 - whatever breaks a stream is an error of the message
            raise self._transport.failure(error) from None
        return b""

    async def aclose(self) -> None:
        """Close the connection. Concurrent calls wait for the same closing."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await _close(self._response, self._chunks)
        self._transport.streams.discard(self)


@final
@attrs.frozen(kw_only=True, eq=False, repr=False)
class Transport:
    """The requests, each made once."""

    http: httpx2.AsyncClient  # for the requests that carry runs
    control: httpx2.AsyncClient  # for those that must never wait for the others
    api: ProviderApi
    url: str  # of the service, with its version
    headers: Mapping[str, str]  # of each request, besides those of the API
    key: str  # empty for none
    policy: RecoveryPolicy
    clock: Clock
    secrets: Secrets  # to remove from everything that is read
    streams: set[Stream]  # that are not closed

    async def create(self, body: Fields) -> Stream | FetchedRun:
        """Ask for an answer."""
        path, sent = self.api.request(body)
        accept = self.api.stream_type if body.get("stream") is True else _JSON
        return await self._answer("POST", f"{self.url}/{path}", accept, content=write_json(sent))

    async def follow(self, run_id: str, cursor: str | None) -> Stream | FetchedRun:
        """Request the stream of a run, from behind an event, or from its start."""
        params = {"stream": "true"}
        if cursor is not None:
            params[self.api.cursor_parameter] = cursor
        answer = await self._answer("GET", self._of(run_id), self.api.stream_type, params=params)
        return self._checked(answer, run_id) if isinstance(answer, FetchedRun) else answer

    async def fetch(self, run_id: str, *, control: bool = False) -> FetchedRun:
        """Fetch the document of a run."""
        http, timeout_s = (self.control, self.policy.control_s) if control else (self.http, self.policy.response_s)
        response = await self._send(http, "GET", self._of(run_id), timeout_s=timeout_s)
        return self._checked(await self._document(response, _Chunks(response), timeout_s, _JSON), run_id)

    async def cancel(self, run_id: str) -> None:
        """Cancel a run."""
        await self._do("POST", f"{self._of(run_id)}/cancel")

    async def delete(self, run_id: str) -> None:
        """Delete what is stored of a run, which does not cancel it."""
        await self._do("DELETE", self._of(run_id))

    def failure(self, error: Exception) -> RequestFailedError:
        """Return the failure of a request or a stream that raised *error*."""
        kind: ErrorKind
        if isinstance(error, (httpx2.TimeoutException, TimeoutError)):
            kind = ErrorKind.TIMEOUT
        elif isinstance(error, (httpx2.HTTPError, httpx2.StreamError, OSError, EOFError)):
            kind = ErrorKind.NETWORK
        else:
            # Possibly a mistake in a transport of the app; only the traceback shows its place.
            _log.warning("a request raised\n%s", traceback_text(error, self.secrets))
            kind = ErrorKind.UNKNOWN
        unconnected = isinstance(error, _UNCONNECTED)
        before = f"no connection to {httpx2.URL(self.url).netloc.decode()}: " if unconnected else ""
        text = error_text(error, self.secrets, before=before, default=_DEFAULT_TEXTS.get(kind, ""))
        return RequestFailedError(
            ErrorInfo(kind=kind, message=text, retryable=None if kind is ErrorKind.UNKNOWN else True),
            unsent=isinstance(error, _UNSENT),
        )

    # -- internals

    def _of(self, run_id: str) -> str:
        # Dots, too: an id of dots would name another place. An escaped id may hold a lone surrogate.
        return f"{self.url}/{self.api.collection}/{quote(run_id, safe='', errors='surrogatepass').replace('.', '%2E')}"

    async def _answer(
        self, method: str, url: str, accept: str, *, content: bytes | None = None, params: Fields | None = None
    ) -> Stream | FetchedRun:
        timeout_s = self.policy.response_s
        response = await self._send(self.http, method, url, accept, timeout_s=timeout_s, content=content, params=params)
        kind, is_asked = self._header(response, "content-type") or accept, accept == self.api.stream_type
        chunks = _Chunks(response)
        is_stream = kind == self.api.stream_type or (is_asked and kind in _UNTYPED)
        if is_stream or (is_asked and kind == _JSON and await self._is_stream(response, chunks, timeout_s)):
            encoding = self._encoding(response, chunks)
            if not encoding:
                return Stream(response, chunks, self)
            await _close(response, chunks)
            raise self._unusable(f"the stream has the content encoding {encoding!r}, expected none", final=True)
        return await self._document(response, chunks, timeout_s, f"{_JSON} or {self.api.stream_type}")

    async def _is_stream(self, response: httpx2.Response, chunks: _Chunks, timeout_s: float) -> bool:
        """Return whether a response with the media type of documents is a stream, as gateways send some."""
        try:
            async with self.clock.timeout(timeout_s):
                return await chunks.begin_as_events()
        except BaseException as error:
            await _close(response, chunks)
            if not isinstance(error, Exception):
                raise
            raise self._failure_within(error, timeout_s) from None

    async def _do(self, method: str, url: str) -> None:
        content = b"{}" if method == "POST" else None
        await _close(await self._send(self.control, method, url, content=content, timeout_s=self.policy.control_s))

    async def _send(
        self,
        http: httpx2.AsyncClient,
        method: str,
        url: str,
        accept: str = _JSON,
        *,
        timeout_s: float,
        content: bytes | None = None,
        params: Fields | None = None,
    ) -> httpx2.Response:
        connect_s = self.clock.limit(min(self.policy.connect_s, timeout_s))
        try:
            request = http.build_request(
                method,
                url,
                headers=self._headers(accept, content),
                content=content,
                params=params,
                # `timeout_s` limits the whole response; the silence of a stream is up to its reader.
                timeout=httpx2.Timeout(connect=connect_s, read=None, write=self.clock.limit(timeout_s), pool=connect_s),
            )
            async with self.clock.timeout(timeout_s):
                response = await http.send(request, stream=True, follow_redirects=False)
        except Exception as error:  # noqa: BLE001 - whatever breaks a request is an error of the message
            raise self._failure_within(error, timeout_s) from None
        if 200 <= response.status_code < 300:
            return response
        try:
            raise await self._refusal(response)
        finally:
            await _close(response)

    def _headers(self, accept: str, content: bytes | None) -> httpx2.Headers:
        headers = httpx2.Headers({"Accept": accept, "User-Agent": "assistant-events", **self.api.headers})
        # Compression delays a stream.
        headers["Accept-Encoding"] = "identity" if accept == self.api.stream_type else _GZIP
        if content is not None:
            headers["Content-Type"] = _JSON
        if self.key:
            headers[self.api.key_header] = f"{self.api.key_prefix}{self.key}"
        headers.update(self.headers)
        return headers

    def _failure_within(self, error: Exception, timeout_s: float) -> RequestFailedError:
        """Return the failure of a request with a limit of time that raised *error*."""
        if type(error) is not TimeoutError:
            return self.failure(error)
        late = ErrorInfo(kind=ErrorKind.TIMEOUT, message=f"no response within {timeout_s:g} s", retryable=True)
        return RequestFailedError(late)

    async def _refusal(self, response: httpx2.Response) -> RequestFailedError:
        status = response.status_code
        if status < 400:
            message = f"the server answered with HTTP {status}, and redirects are not followed"
            error = ErrorInfo(kind=ErrorKind.PROTOCOL, message=message, status=status)
            return RequestFailedError(error, status=status)
        error = self.api.dialect.http_error(status, response.headers, await self._error_body(response))
        advice = _ADVICE.get(response.headers.get("x-should-retry", ""))
        return RequestFailedError(self.secrets.error(error), status=status, should_retry=advice)

    async def _error_body(self, response: httpx2.Response) -> bytes:
        """Return the body of an HTTP error, as far as it arrives and fits."""
        body, chunks = _Body("", sent_bytes=MAX_ERROR_BYTES, inflated_bytes=MAX_ERROR_BYTES), _Chunks(response)
        with suppress(Exception):  # the status is enough
            encoding = self._encoding(response, chunks)
            body = _Body(encoding, sent_bytes=MAX_ERROR_BYTES, inflated_bytes=MAX_ERROR_BYTES)
            await self._read(response, chunks, body, self.policy.control_s)
        return bytes(body.data)

    async def _document(
        self, response: httpx2.Response, chunks: _Chunks, timeout_s: float, expected: str
    ) -> FetchedRun:
        policy = self.policy
        try:
            self._check_type(response, expected)
            body = _Body(
                self._encoding(response, chunks),
                sent_bytes=policy.document_bytes,
                inflated_bytes=policy.inflated_bytes,
            )
            await self._read(response, chunks, body, timeout_s)
        except _BodyError as error:
            raise self._unusable(f"the document of the run {error}", final=True) from None
        except RequestFailedError:
            raise
        except Exception as error:  # noqa: BLE001 - as in `_send`
            raise self._failure_within(error, timeout_s) from None
        finally:
            await _close(response, chunks)
        data = self.secrets.data(bytes(body.data))
        try:
            resource = read_json(data)
        except JsonError as error:
            raise self._unusable(f"the document of the run, {len(data)} bytes, is {error}") from None
        if not isinstance(resource, dict):
            raise self._unusable(f"the document of the run holds {type(resource).__name__} where an object belongs")
        resource = self.secrets.json(resource, data)
        run = attrs.evolve(self.api.summarize(resource), served_at=_http_date(response.headers.get("date")))
        return FetchedRun(resource, run)

    def _check_type(self, response: httpx2.Response, expected: str) -> None:
        kind = self._header(response, "content-type")
        if kind not in (_JSON, "", *_UNTYPED):
            raise self._unusable(f"expected {expected}, got {kind!r}")

    async def _read(self, response: httpx2.Response, chunks: _Chunks, body: _Body, timeout_s: float) -> None:
        try:
            async with self.clock.timeout(timeout_s):
                async for chunk in chunks:
                    body.add(chunk)
        finally:
            await _close(response, chunks)

    def _encoding(self, response: httpx2.Response, chunks: _Chunks) -> str:
        """Return the content encoding of a response; empty for none, or when the transport has decoded it."""
        name = self._header(response, "content-encoding")
        return "" if chunks.are_decoded or name == "identity" else name

    def _header(self, response: httpx2.Response, name: str) -> str:
        """Return a header with a name as its value, without parameters and credentials."""
        value: str = response.headers.get(name, "").partition(";")[0]
        return self.secrets.text(value).strip().lower()[:100]

    def _checked(self, fetched: FetchedRun, run_id: str) -> FetchedRun:
        """Return a document, unless it is that of another run."""
        found = string(fetched.resource, "id")
        if found and found != self.secrets.text(run_id):
            raise self._unusable(f"asked for run {run_id[:100]!r}, got the document of {found[:100]!r}", final=True)
        return fetched

    def _unusable(self, message: str, *, final: bool = False) -> RequestFailedError:
        """Return the failure of a response that cannot be used; with *final*, the next one would be the same."""
        error = ErrorInfo(kind=ErrorKind.PROTOCOL, message=self.secrets.text(message))
        return RequestFailedError(error, status=200 if final else None)


def is_service_url(base_url: str) -> bool:
    """Return whether httpx accepts the base URL of a service."""
    try:
        return bool(httpx2.URL(base_url).host)
    except httpx2.InvalidURL:
        return False


def http_client(base_url: str) -> httpx2.AsyncClient:
    """
    Return an HTTP client for a service.

    Raises:
        LocalProtocolError: A proxy of the environment cannot be used.
    """
    # A run keeps its connection for as long as it lasts, so that no number of them is the right limit.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    if is_loopback(httpx2.URL(base_url).host):
        # A client with a transport does not read the proxy variables.
        return httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(limits=limits))
    try:
        return httpx2.AsyncClient(limits=limits)
    except ImportError:
        socks = [name for name, url in getproxies().items() if url.startswith("socks")]
        variables = " and ".join(sorted(f"{name.upper()}_PROXY" for name in socks))
        message = f"{variables} names a SOCKS proxy, which needs socksio: pip install 'httpx2[socks]', or unset it"
        raise LocalProtocolError(message) from None
    except (ValueError, httpx2.InvalidURL):
        # Not from the exception: it may show the password.
        message = "a proxy variable of the environment is not a proxy URL: expected http://host:port"
        raise LocalProtocolError(message) from None


def _http_date(text: Any) -> datetime | None:
    # Any: the value of a header, if there is one.
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):  # the latter for numbers of many digits
        return None
    return None if date.tzinfo is None else date


async def _close(response: httpx2.Response, chunks: _Chunks | None = None) -> None:
    """Close a response, and the generator that reads it."""
    try:
        with suppress(httpx2.HTTPError, OSError):
            await response.aclose()
    finally:
        if chunks is not None:
            # When the garbage collector or the end of the loop closes the nested generators, in any order, Python
            # reports that on standard error. They are closed in turns of the loop.
            with suppress(Exception):
                await chunks.aclose()
            for _ in range(3):
                await asyncio.sleep(0)
