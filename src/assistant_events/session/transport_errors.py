"""
Exceptions of HTTP libraries as errors of the message.

The libraries are recognised by the names of their exceptions and by their status attributes; none is imported. Error
messages contain no credentials of the request, see `assistant_events.values.credentials`.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import attrs

from assistant_events.adapters.aws import read_exception
from assistant_events.adapters.errors import ErrorTable, error_of_body, error_of_document, retry_after_s
from assistant_events.adapters.json_fields import is_array, is_object, plain_json
from assistant_events.errors import RemoteProtocolError
from assistant_events.values import ErrorInfo, ErrorKind
from assistant_events.values.credentials import error_text, secrets_of, without_credentials
from assistant_events.values.info import is_retryable_status, kind_of_status

# Base classes of exceptions for a broken stream: httpx, httpcore, aiohttp, requests, urllib3, http.client,
# websockets, botocore, anyio, and the SDKs of OpenAI and Anthropic.
_BROKEN: Final = frozenset(
    {"APIConnectionError", "ClientConnectionError", "ClientPayloadError", "ConnectionClosed"}
) | {
    *("HTTPException", "NetworkError", "ProtocolError", "TransportError"),
    *("ConnectionClosedError", "EndpointConnectionError", "ResponseStreamingError"),
    *("BrokenResourceError", "EndOfStream", "IncompleteRead"),
}
_ABORTED: Final[Mapping[type, str]] = MappingProxyType(
    {
        CancelledError: "the task that received it was cancelled",
        type(None): "the app stopped receiving before the end",
        GeneratorExit: "the app stopped receiving before the end",
        KeyboardInterrupt: "stopped from the keyboard",
    }
)


def transport_error(error: Exception, table: ErrorTable | None = None) -> ErrorInfo:
    """
    Return the error of a message whose stream raised *error*; that of a group is its first, if all are known.

    Args:
        error: The exception.

        table: Reads the error of the provider that an exception of an SDK has; `None` where the wire is not known.
    """
    first = _first_of(error, table)
    if first is not None:
        return first
    if isinstance(error, RemoteProtocolError):
        return ErrorInfo(kind=error.kind, message=without_credentials(error.message, secrets_of(error)))
    response = getattr(error, "response", None)
    if isinstance(response, Mapping) and "Error" in response:  # of botocore, also in the middle of a stream
        found = read_exception(cast("Mapping[str, object]", response))
        return attrs.evolve(found, message=without_credentials(found.message, secrets_of(error)))
    status = _status(error)
    sent = None if table is None else _of_provider(error, table, status)
    if sent is not None:
        return sent
    if status is not None:
        return ErrorInfo(
            kind=kind_of_status(status), message=error_text(error), status=status, retryable=is_retryable_status(status)
        )
    names = [cls.__name__ for cls in type(error).__mro__]
    if any("Timeout" in name for name in names):
        return ErrorInfo(kind=ErrorKind.TIMEOUT, message=error_text(error), retryable=True)
    if isinstance(error, (OSError, EOFError)) or not _BROKEN.isdisjoint(names):
        return ErrorInfo(kind=ErrorKind.NETWORK, message=error_text(error), retryable=True)
    return ErrorInfo(kind=ErrorKind.UNKNOWN, message=error_text(error))


def abortion(reason: BaseException | None) -> ErrorInfo:
    """Return the error of a message whose stream was left early, with the exception *reason* or without any."""
    message = _ABORTED.get(type(reason), f"the app stopped receiving with {type(reason).__name__}")
    return ErrorInfo(kind=ErrorKind.ABORTED, message=message)


def _of_provider(error: Exception, table: ErrorTable, status: int | None) -> ErrorInfo | None:
    """
    Return the error that the provider has sent; in the middle of a stream the status is 200.

    SDKs keep it read, httpx and requests in the response, which httpx has read when the app has.
    """
    # `body`: those of Anthropic and OpenAI. `details`: that of Google.
    documents: list[object] = [getattr(error, name, None) for name in ("body", "details")]
    document = next((each for each in documents if is_object(each)), None)
    response = getattr(error, "response", None)
    given = error_of_document(plain_json(document or {}), table.beside)
    given = given or error_of_body(_content(response), table.beside)
    if not given:
        return None
    found = table.read(_masked(given, secrets_of(error)), status=status)
    if status is not None and found.kind == kind_of_status(status):
        found = attrs.evolve(found, retryable=is_retryable_status(status))
    headers = getattr(response, "headers", None)
    after = retry_after_s(cast("Mapping[str, str]", headers)) if isinstance(headers, Mapping) else None
    return found if after is None else attrs.evolve(found, retry_after_s=after)


def _content(response: object) -> bytes:
    try:
        content = getattr(response, "content", b"")
    except Exception:  # noqa: BLE001 - of any library, for one that was not read
        return b""
    return content if isinstance(content, bytes) else b""


def _masked(value: Any, secrets: set[str]) -> Any:
    """Return plain JSON without credentials in its texts."""
    if isinstance(value, str):
        return without_credentials(value, secrets)
    if is_array(value):
        return [_masked(each, secrets) for each in value]
    if is_object(value):
        return {key: _masked(each, secrets) for key, each in value.items()}
    return value


def _first_of(error: Exception, table: ErrorTable | None) -> ErrorInfo | None:
    """Return the first error of a group, if all are known."""
    if not isinstance(error, ExceptionGroup):
        return None
    found = [transport_error(each, table) for each in cast("ExceptionGroup[Exception]", error).exceptions]
    return found[0] if all(each.kind != ErrorKind.UNKNOWN for each in found) else None


def _status(error: Exception) -> int | None:
    response = getattr(error, "response", None)
    # `status`: aiohttp and urllib.
    for holder, name in ((error, "status_code"), (response, "status_code"), (error, "status")):
        value = getattr(holder, name, None)
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return None
