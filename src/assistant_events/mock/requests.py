"""Requests to a mock provider: its HTTP interface, and how they are read within limits and logged without keys."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final, final

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from assistant_events.adapters.json_fields import is_object, valid_json
from assistant_events.errors import JsonError
from assistant_events.values import read_json, write_json
from assistant_events.values.credentials import MASK, secrets_of_header


@final
class ApiError(Exception):
    """
    The provider answers a request with an HTTP error.

    *code* and *name* are those of the body, by default those that the provider uses for the status. *param* is the
    field of the request that is wrong, for providers that name it.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | int | None = None,
        name: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        self.code = code
        self.name = name
        self.param = param
        self.headers = dict(headers or {})


def rejected(message: str) -> ApiError:
    """Return the error of a request that is not valid."""
    return ApiError(400, message)


_SECRET_HEADERS: Final = ("authorization", "cookie", "api-key", "security-token")
"""Ends of the names."""

_SECRET_PARAMETERS: Final = frozenset({"access_token", "key"})


def secrets_of_request(request: Request) -> Iterator[str]:
    """Yield the keys and passwords of a request."""
    for name in _SECRET_PARAMETERS:
        yield from request.query_params.getlist(name)
    for name, value in request.headers.items():
        if name.endswith(_SECRET_HEADERS):
            yield from secrets_of_header(value)


@final
@attrs.frozen(kw_only=True)
class LoggedRequest:
    """One request to a mock provider."""

    method: str
    path: str
    query: Mapping[str, str]
    """The last value of each parameter; keys are `[hidden]`."""

    headers: Mapping[str, str]
    """By their names in lower case; keys are `[hidden]`."""

    body: Any
    """Parsed JSON; `None` without valid JSON."""


@final
class RequestLog:
    """The last requests; beyond its limits the oldest are removed, but not the newest whatever its size."""

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        self._entries: deque[tuple[LoggedRequest, int]] = deque()
        self._max_requests = max_requests
        self._max_bytes = max_bytes
        self._bytes = 0

    @property
    def entries(self) -> tuple[LoggedRequest, ...]:
        """The requests, oldest first."""
        return tuple([entry for entry, _ in self._entries])

    def add(self, request: Request, body: object, size: int) -> None:
        """Add a request whose body had *size* bytes."""
        query, headers = request.query_params.items(), request.headers.items()
        entry = LoggedRequest(
            method=request.method,
            path=request.scope["path"],
            query={name: MASK if name.lower() in _SECRET_PARAMETERS else value for name, value in query},
            headers={name: MASK if name.endswith(_SECRET_HEADERS) else value for name, value in headers},
            body=body,
        )
        self._entries.append((entry, size))
        self._bytes += size
        while len(self._entries) > max(self._max_requests, 1) or (
            self._bytes > self._max_bytes and len(self._entries) > 1
        ):
            self._bytes -= self._entries.popleft()[1]


async def read_body(request: Request, max_bytes: int) -> bytes | None:
    """
    Return the body; `None` when it is longer than *max_bytes*.

    A longer one is read to its end and dropped: a client that still sends would not see the answer.
    """
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size <= max_bytes:
            pieces.append(piece)
    return b"".join(pieces) if size <= max_bytes else None


def decoded_body(request: Request, data: bytes, max_bytes: int) -> bytes | None:
    """
    Return the body of a request without its content encoding; `None` when it is longer than *max_bytes*.

    Raises:
        ApiError: The encoding is another than `gzip` or `deflate`, or the body is not in it.
    """
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return data
    if encoding not in ("gzip", "deflate"):
        raise ApiError(415, f"Content-Encoding {encoding!r} is not supported; supported: gzip, deflate.")
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either of the two, whatever the header names
    try:
        decoded = decoder.decompress(data, max_bytes + 1)
    except zlib.error:
        decoded = b""
    if len(decoded) > max_bytes:
        return None
    if not decoder.eof:
        raise ApiError(400, f"The request body is not valid {encoding}.")
    return decoded


def parse_body(data: bytes) -> Any:
    """Return the JSON document of a body. Raises `ApiError` when it is not valid."""
    try:
        return read_json(data)
    except JsonError as error:
        raise ApiError(400, f"Invalid JSON payload received: {error}") from None


def parse_object(data: bytes) -> Mapping[str, Any]:
    """Return the JSON object of a body. Raises `ApiError` when it is not one."""
    body = parse_body(data)
    if not is_object(body):
        raise ApiError(400, "Invalid JSON payload received: the request is not an object.")
    return body


def json_response(
    document: Mapping[str, Any] | list[Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a document as an HTTP answer. Its text is valid even when it repeats invalid text of a client."""
    data = write_json(document)
    if b"\\ud" in data:  # never for a whole pair, unless the text itself contains an escape
        data = write_json(valid_json(document))
    return Response(data, status, headers=headers, media_type="application/json")


def has_key(request: Request) -> bool:
    """Return whether a request has a key, in a header or in the query."""
    names = [name for name, value in request.headers.items() if value]
    in_header = any(name == "authorization" or name.endswith("api-key") for name in names)
    return in_header or bool(request.query_params.get("key"))


@attrs.frozen(kw_only=True)
class Api:
    """The HTTP interface of a provider."""

    routes: Sequence[tuple[str, Sequence[str], Callable[[Request], Awaitable[ASGIApp]]]]
    """Path, methods and handler of each route. A handler may raise `ApiError`."""

    error_response: Callable[[ApiError], Response]
    """Returns the HTTP answer of an error, in the shape of the provider."""

    check: Callable[[Request], None]
    """Raises `ApiError` for a path that matches a route but does not exist."""

    preflight: Callable[[Request], Mapping[str, str]]
    """Returns the headers that answer the preflight request of a browser."""


def preflight_for(*methods: str) -> Callable[[Request], Mapping[str, str]]:
    """Return a `preflight` that lets browsers send these methods with any headers."""

    def preflight(request: Request) -> Mapping[str, str]:
        return {
            "access-control-allow-origin": "*",
            "access-control-allow-methods": ", ".join([*methods, "OPTIONS"]),
            "access-control-allow-headers": request.headers.get("access-control-request-headers", "*"),
        }

    return preflight
