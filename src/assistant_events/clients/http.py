"""
Requests of the Interactions API, and what came of them.

Whatever a provider or a network does becomes a `RequestFailedError`. Redirects are not followed: a client that follows
one would send the key along, to whatever host it names.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final
from urllib.parse import quote

import attrs
import httpx2

from assistant_events.adapters.gemini_interactions import http_error
from assistant_events.adapters.json_fields import Fields, string
from assistant_events.clients.recovery import RecoveryPolicy
from assistant_events.clients.response_body import GZIP, Body, BodyError, chunks_of
from assistant_events.errors import JsonError
from assistant_events.values import ErrorInfo, ErrorKind, read_json
from assistant_events.values.credentials import Secrets, error_text, traceback_text
from assistant_events.values.info import is_retryable_status

if TYPE_CHECKING:
    from assistant_events.clients.clock import Clock

MAX_ERROR_BYTES: Final = 1 << 16
"""How much of the body of an HTTP error is read. Real ones have some hundred bytes; a gateway may send a whole page."""

_SSE: Final = "text/event-stream"
_JSON: Final = "application/json"

_UNSENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
"""Raised before anything of the request was sent."""

_UNCONNECTED: Final = (httpx2.ConnectError, httpx2.ConnectTimeout)

_WORDLESS: Final = {ErrorKind.NETWORK: "the connection broke", ErrorKind.TIMEOUT: "it took too long"}
"""What is said for an exception that says nothing, as that of a reset connection does."""

_log = logging.getLogger("assistant_events.clients.gemini_interactions")


class RequestFailedError(Exception):
    """One request did not give what it was made for. Never leaves the client: it becomes the error of a message."""

    def __init__(
        self, error: ErrorInfo, *, status: int | None = None, unsent: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.status = status
        """HTTP status; `None` when none came."""

        self.unsent = unsent
        """Whether the provider has seen nothing of the request."""

        self.retry_after = retry_after
        """Seconds after which the provider wants to be asked again; `None` when it did not say."""

    @property
    def refused(self) -> bool:
        """Whether the provider has understood the request and will answer it in the same way the next time."""
        return self.status is not None and not self.passing

    @property
    def passing(self) -> bool:
        """Whether the same request may go through a little later."""
        return self.status is None or is_retryable_status(self.status)


@final
@attrs.frozen
class FetchedRun:
    """The document of a run."""

    resource: Fields

    date: datetime | None
    """What time it was at the server; `None` when it did not say."""


@final
class Stream:
    """A response that is a stream of events."""

    def __init__(self, response: httpx2.Response, transport: Transport) -> None:
        self._response = response
        self._transport = transport
        self._chunks = chunks_of(response)
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
                return self._transport.secrets.data(chunk)  # httpx gives no empty ones
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


Answer: TypeAlias = Stream | FetchedRun


@final
class Transport:
    """
    The requests, each made once.

    Args:
        http: Makes the requests that carry runs.

        control: Makes those that must never wait for the others.

        url: Of the collection, for example `https://…/v1beta/interactions`.

        key: Sent as `x-goog-api-key`; empty for none.

        secrets: The credentials to remove from everything that is read.

        streams: Holds the streams that are not closed.
    """

    def __init__(
        self,
        http: httpx2.AsyncClient,
        control: httpx2.AsyncClient,
        *,
        url: str,
        key: str,
        policy: RecoveryPolicy,
        clock: Clock,
        secrets: Secrets,
        streams: set[Stream],
    ) -> None:
        self._http = http
        self._control = control
        self._url = url
        self._key = key
        self._policy = policy
        self._clock = clock
        self.secrets = secrets
        self.streams = streams

    async def create(self, body: bytes, *, stream: bool) -> Answer:
        """Begin a run: `POST /interactions`."""
        return await self._open("POST", self._url, content=body, stream=stream)

    async def follow(self, run_id: str, cursor: str | None) -> Answer:
        """Follow the stream of a run, from behind an event, or from its start when there is none."""
        params = {"stream": "true"}
        if cursor is not None:
            params["last_event_id"] = cursor
        answer = await self._open("GET", self._of(run_id), params=params, stream=True)
        return self._own(answer, run_id) if isinstance(answer, FetchedRun) else answer

    async def fetch(self, run_id: str, *, control: bool = False) -> FetchedRun:
        """Get the document of a run."""
        http, timeout_s = (self._control, self._policy.control_s) if control else (self._http, self._policy.response_s)
        response = await self._send(http, "GET", self._of(run_id), timeout_s=timeout_s)
        return self._own(await self._document(response, timeout_s, _JSON), run_id)

    async def cancel(self, run_id: str) -> int:
        """Stop a run: `POST /interactions/{id}/cancel`. Returns the HTTP status."""
        return await self._do("POST", f"{self._of(run_id)}/cancel")

    async def delete(self, run_id: str) -> int:
        """Delete what is stored of a run, which stops nothing. Returns the HTTP status."""
        return await self._do("DELETE", self._of(run_id))

    def failure(self, error: Exception) -> RequestFailedError:
        """Return what a request or a stream that raised *error* has failed with."""
        kind: ErrorKind
        if isinstance(error, (httpx2.TimeoutException, TimeoutError)):
            kind = ErrorKind.TIMEOUT
        elif isinstance(error, (httpx2.HTTPError, httpx2.StreamError, OSError, EOFError)):
            kind = ErrorKind.NETWORK
        else:
            # It may as well be a mistake of a transport that the app brought, whose place only the traceback tells.
            _log.warning("a request raised\n%s", traceback_text(error, self.secrets))
            kind = ErrorKind.UNKNOWN
        unconnected = isinstance(error, _UNCONNECTED)
        before = f"no connection to {httpx2.URL(self._url).netloc.decode()}: " if unconnected else ""
        said = error_text(error, self.secrets, before=before, default=_WORDLESS.get(kind, ""))
        return RequestFailedError(
            ErrorInfo(kind=kind, message=said, retryable=None if kind is ErrorKind.UNKNOWN else True),
            unsent=isinstance(error, _UNSENT),
        )

    # -- inside

    def _of(self, run_id: str) -> str:
        # Dots, too: an id of dots would name another place. Half a pair of UTF-16 is in an id that came as an escape.
        return f"{self._url}/{quote(run_id, safe='', errors='surrogatepass').replace('.', '%2E')}"

    async def _open(
        self,
        method: str,
        url: str,
        *,
        stream: bool,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
    ) -> Answer:
        accept = _SSE if stream else _JSON
        timeout_s = self._policy.response_s
        response = await self._send(
            self._http, method, url, accept=accept, content=content, params=params, timeout_s=timeout_s
        )
        if (self._header(response, "content-type") or accept) == _SSE:
            encoding = self._encoding(response)
            if not encoding:
                return Stream(response, self)
            await _close(response)
            raise self._unusable(f"the stream has the content encoding {encoding!r}, expected none", final=True)
        return await self._document(response, timeout_s, f"{_JSON} or {_SSE}")

    async def _do(self, method: str, url: str) -> int:
        content = b"{}" if method == "POST" else None
        timeout_s = self._policy.control_s
        response = await self._send(self._control, method, url, content=content, timeout_s=timeout_s)
        await _close(response)
        return response.status_code

    async def _send(
        self,
        http: httpx2.AsyncClient,
        method: str,
        url: str,
        *,
        timeout_s: float,
        accept: str = _JSON,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        connect_s = self._clock.limit(min(self._policy.connect_s, timeout_s))
        try:
            request = http.build_request(
                method,
                url,
                headers=self._headers(accept, content),
                content=content,
                params=params,
                # How long a response takes is for `timeout_s`, how long a stream is silent for those who read it.
                timeout=httpx2.Timeout(
                    connect=connect_s, read=None, write=self._clock.limit(timeout_s), pool=connect_s
                ),
            )
            async with self._clock.timeout(timeout_s):
                response = await http.send(request, stream=True, follow_redirects=False)
        except Exception as error:  # noqa: BLE001 - whatever breaks a request is an error of the message
            raise self._late(timeout_s) if type(error) is TimeoutError else self.failure(error) from None
        if 200 <= response.status_code < 300:
            return response
        try:
            raise await self._refusal(response)
        finally:
            await _close(response)

    def _headers(self, accept: str, content: bytes | None) -> dict[str, str]:
        headers = {"Accept": accept, "User-Agent": "assistant-events"}
        # Compressing a stream delays it.
        headers["Accept-Encoding"] = "identity" if accept == _SSE else GZIP
        if content is not None:
            headers["Content-Type"] = _JSON
        if self._key:
            headers["x-goog-api-key"] = self._key
        return headers

    def _late(self, timeout_s: float) -> RequestFailedError:
        return RequestFailedError(
            ErrorInfo(kind=ErrorKind.TIMEOUT, message=f"no response within {timeout_s:g} s", retryable=True)
        )

    async def _refusal(self, response: httpx2.Response) -> RequestFailedError:
        status = response.status_code
        if status < 400:
            message = f"the server answered with HTTP {status}, and redirects are not followed"
            error = ErrorInfo(kind=ErrorKind.PROTOCOL, message=message, status=status)
            return RequestFailedError(error, status=status)
        error = http_error(status, response.headers, await self._error_body(response))
        return RequestFailedError(
            self.secrets.error(error), status=status, retry_after=self._retry_after(response.headers)
        )

    async def _error_body(self, response: httpx2.Response) -> bytes:
        """Return the body of an HTTP error, as far as it comes and fits."""
        body = Body("", sent_bytes=MAX_ERROR_BYTES, inflated_bytes=MAX_ERROR_BYTES)
        with suppress(Exception):  # the status is enough
            body = Body(self._encoding(response), sent_bytes=MAX_ERROR_BYTES, inflated_bytes=MAX_ERROR_BYTES)
            await self._gather(response, body, self._policy.control_s)
        return bytes(body.data)

    async def _document(self, response: httpx2.Response, timeout_s: float, expected: str) -> FetchedRun:
        policy = self._policy
        try:
            self._check_type(response, expected)
            body = Body(
                self._encoding(response), sent_bytes=policy.document_bytes, inflated_bytes=policy.inflated_bytes
            )
            await self._gather(response, body, timeout_s)
        except BodyError as error:
            raise self._unusable(f"the document of the run {error}", final=True) from None
        except RequestFailedError:
            raise
        except Exception as error:  # noqa: BLE001 - as in `_send`
            raise self._late(timeout_s) if type(error) is TimeoutError else self.failure(error) from None
        finally:
            await _close(response)
        data = self.secrets.data(bytes(body.data))
        try:
            resource = read_json(data)
        except JsonError as error:
            raise self._unusable(f"the document of the run, {len(data)} bytes, is {error}") from None
        if not isinstance(resource, dict):
            raise self._unusable(f"the document of the run holds {type(resource).__name__} where an object belongs")
        return FetchedRun(self.secrets.json(resource, data), _http_date(response.headers.get("date")))

    def _check_type(self, response: httpx2.Response, expected: str) -> None:
        kind = self._header(response, "content-type")
        if kind not in (_JSON, ""):
            raise self._unusable(f"expected {expected}, got {kind!r}")

    async def _gather(self, response: httpx2.Response, body: Body, timeout_s: float) -> None:
        chunks = chunks_of(response)
        try:
            async with self._clock.timeout(timeout_s):
                async for chunk in chunks:
                    body.add(chunk)
        finally:
            await _close(response, chunks)

    def _encoding(self, response: httpx2.Response) -> str:
        """Return the content encoding of a response; empty for none, or when the transport has decoded it."""
        name = self._header(response, "content-encoding")
        return "" if response.is_stream_consumed or name == "identity" else name

    def _header(self, response: httpx2.Response, name: str) -> str:
        """Return a header that names something, without parameters and credentials."""
        value: str = response.headers.get(name, "").partition(";")[0]
        return self.secrets.text(value).strip().lower()[:100]

    def _own(self, fetched: FetchedRun, run_id: str) -> FetchedRun:
        """Return a document, unless it is that of another run."""
        said = string(fetched.resource, "id")
        if said and said != self.secrets.text(run_id):
            raise self._unusable(f"asked for run {run_id[:100]!r}, got the document of {said[:100]!r}", final=True)
        return fetched

    def _unusable(self, message: str, *, final: bool = False) -> RequestFailedError:
        """Return the failure of a response that cannot be used; with *final*, the next one would be the same."""
        error = ErrorInfo(kind=ErrorKind.PROTOCOL, message=self.secrets.text(message))
        return RequestFailedError(error, status=200 if final else None)

    def _retry_after(self, headers: httpx2.Headers) -> float | None:
        # `retry-after-ms` is what the official SDKs look at first (google-genai 3.4).
        for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            text = headers.get(name, "")
            if text.isascii() and text.isdigit():
                return int(text[:9]) * unit
        date = _http_date(headers.get("retry-after"))
        return None if date is None else max((date - self._clock.now()).total_seconds(), 0.0)


def _http_date(text: Any) -> datetime | None:
    # Any: what a header of that name holds, if there is one.
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):  # the latter for numbers of many digits
        return None
    return None if date.tzinfo is None else date


async def _close(response: httpx2.Response, chunks: AsyncGenerator[bytes] | None = None) -> None:
    """Close a response, and the generator that reads it."""
    try:
        with suppress(httpx2.HTTPError, OSError):
            await response.aclose()
    finally:
        if chunks is not None:
            # Python reports on standard error when the garbage collector or the end of the loop closes the generators
            # inside of this one, because it closes them in any order. They are closed in turns of the loop.
            with suppress(Exception):
                await chunks.aclose()
            for _ in range(3):
                await asyncio.sleep(0)


__all__ = ["Answer", "FetchedRun", "RequestFailedError", "Stream", "Transport"]
