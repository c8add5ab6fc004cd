"""
What a transport raised, as an error of the message that it carried.

Clients are told by the names of their exceptions and by the status that they carry, so none of them is imported.
Messages and tracebacks are without the credentials of the request, see `assistant_events.values.credentials`.
"""

from __future__ import annotations

import traceback
from asyncio import CancelledError
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from assistant_events.errors import RemoteProtocolError
from assistant_events.values import ErrorInfo, ErrorKind
from assistant_events.values.credentials import error_text, secrets_of, without_credentials

STATUS_KINDS: Final[Mapping[int, ErrorKind]] = MappingProxyType(
    {
        401: ErrorKind.AUTH,
        402: ErrorKind.QUOTA,
        403: ErrorKind.AUTH,
        404: ErrorKind.NOT_FOUND,
        408: ErrorKind.TIMEOUT,
        410: ErrorKind.NOT_FOUND,
        429: ErrorKind.RATE_LIMIT,
        503: ErrorKind.OVERLOADED,
        504: ErrorKind.TIMEOUT,
        529: ErrorKind.OVERLOADED,  # Anthropic's "overloaded_error"
    }
)
"""HTTP statuses with a kind of their own; others of 500 and more are the provider's, of 400 and more the request's."""

# Bases of what clients raise for a stream that broke: httpx, httpcore, aiohttp, requests, urllib3, http.client,
# websockets, and the SDKs of OpenAI and Anthropic.
_BROKEN: Final = frozenset(
    {
        "APIConnectionError",
        "ClientConnectionError",
        "ClientPayloadError",
        "ConnectionClosed",
        "HTTPException",
        "NetworkError",
        "ProtocolError",
        "TransportError",
    }
)
_ABORTED: Final[Mapping[type[BaseException], str]] = MappingProxyType(
    {
        CancelledError: "the task that received it was cancelled",
        GeneratorExit: "the app stopped listening before its end",
        KeyboardInterrupt: "stopped from the keyboard",
    }
)


def transport_error(error: Exception) -> ErrorInfo:
    """Return what goes into a message whose stream raised *error*."""
    if isinstance(error, RemoteProtocolError):
        return ErrorInfo(kind=error.kind, message=without_credentials(error.message, secrets_of(error)))
    status = _status(error)
    if status is not None:
        return ErrorInfo(kind=_kind_of(status), message=error_text(error), status=status, retryable=_retryable(status))
    names = [cls.__name__ for cls in type(error).__mro__]
    if any("Timeout" in name for name in names):
        return ErrorInfo(kind=ErrorKind.TIMEOUT, message=error_text(error), retryable=True)
    if isinstance(error, (OSError, EOFError)) or not _BROKEN.isdisjoint(names):
        return ErrorInfo(kind=ErrorKind.NETWORK, message=error_text(error), retryable=True)
    return ErrorInfo(kind=ErrorKind.UNKNOWN, message=error_text(error))


def abortion(reason: BaseException) -> ErrorInfo:
    """Return what goes into a message that nobody receives any more because of *reason*."""
    said = _ABORTED.get(type(reason), f"the app stopped listening with {type(reason).__name__}")
    return ErrorInfo(kind=ErrorKind.ABORTED, message=said)


def traceback_of(error: Exception) -> str:
    """Return the traceback of *error* as Python prints it, without credentials."""
    return without_credentials("".join(traceback.format_exception(error)), secrets_of(error))


def _status(error: Exception) -> int | None:
    response = getattr(error, "response", None)
    # `status` is that of aiohttp and urllib.
    for value in (
        getattr(error, "status_code", None),
        getattr(response, "status_code", None),
        getattr(error, "status", None),
    ):
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return None


def _kind_of(status: int) -> ErrorKind:
    return STATUS_KINDS.get(status, ErrorKind.PROVIDER if status >= 500 else ErrorKind.INVALID_REQUEST)


def _retryable(status: int) -> bool:
    return status in {408, 429} or status >= 500
