"""Requests as they come in: read within limits, kept in a log, and never with a key."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final, final

import attrs
from starlette.requests import Request

from assistant_events.errors import JsonError
from assistant_events.mock.api_errors import ApiError
from assistant_events.values import read_json
from assistant_events.values.credentials import MASK, secrets_of_header

_SECRET_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization", "x-goog-api-key"})
_SECRET_PARAMETERS: Final = frozenset({"access_token", "key"})


def secrets_of_request(request: Request) -> Iterator[str]:
    """Yield the keys and passwords that a request is let in with."""
    for name in _SECRET_PARAMETERS:
        yield from request.query_params.getlist(name)
    for name in _SECRET_HEADERS:
        for value in request.headers.getlist(name):
            yield from secrets_of_header(value)


@final
@attrs.frozen(kw_only=True)
class LoggedRequest:
    """One request that a mock provider got."""

    method: str
    path: str
    query: Mapping[str, str]
    """Of a parameter that stands there twice the last; keys are `[hidden]`."""

    headers: Mapping[str, str]
    """By their names in small letters; keys are `[hidden]`."""

    body: Any
    """Parsed JSON; `None` when there was none, or none that could be read."""
    # Any: a client sent it.


@final
class RequestLog:
    """
    The last requests, the oldest given up first.

    Args:
        max_requests: How many are kept.

        max_bytes: How many bytes of bodies are kept; the newest request is kept whatever its size.
    """

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        self._entries: deque[tuple[LoggedRequest, int]] = deque()
        self._max_requests = max_requests
        self._max_bytes = max_bytes
        self._bytes = 0

    @property
    def entries(self) -> tuple[LoggedRequest, ...]:
        """What is kept, oldest first."""
        return tuple([entry for entry, _ in self._entries])

    def add(self, request: Request, body: object, size: int) -> None:
        """Keep a request whose body had *size* bytes."""
        entry = LoggedRequest(
            method=request.method,
            path=request.scope["path"],
            query={name: _masked(name, value, _SECRET_PARAMETERS) for name, value in request.query_params.items()},
            headers={name: _masked(name, value, _SECRET_HEADERS) for name, value in request.headers.items()},
            body=body,
        )
        self._entries.append((entry, size))
        self._bytes += size
        while len(self._entries) > max(self._max_requests, 1) or (
            self._bytes > self._max_bytes and len(self._entries) > 1
        ):
            self._bytes -= self._entries.popleft()[1]

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._bytes = 0


async def read_body(request: Request, max_bytes: int) -> bytes | None:
    """
    Return the body; `None` when it is longer than *max_bytes*.

    What is too long is read to its end and thrown away: a client that still sends would not see the answer.
    """
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size <= max_bytes:
            pieces.append(piece)
    return b"".join(pieces) if size <= max_bytes else None


def parse_body(data: bytes) -> Any:
    """
    Return the JSON document of a body.

    Raises:
        Refusal: With status 400, when it is none.
    """
    # Any: a client sent it.
    try:
        return read_json(data)
    except JsonError as error:
        raise ApiError(400, f"Invalid JSON payload received: {error}") from None


def has_key(request: Request) -> bool:
    """Tell whether a request says who asks, in one of the three ways there are."""
    headers = request.headers
    return bool(headers.get("x-goog-api-key") or headers.get("authorization") or request.query_params.get("key"))


def _masked(name: str, value: str, secrets: frozenset[str]) -> str:
    return MASK if name.lower() in secrets else value
