"""
Exceptions of transports as errors of messages.
"""

import asyncio
import http.client
import json

import httpx2
import pytest

from assistant_events.adapters import load_dialect
from assistant_events.adapters.errors import ErrorTable
from assistant_events.errors import RemoteProtocolError
from assistant_events.session.transport_errors import abortion, transport_error
from assistant_events.values import ErrorInfo, ErrorKind, thaw
from assistant_events.values.credentials import MAX_MESSAGE


class Response:
    def __init__(self, status_code):
        self.status_code = status_code


def stranger(name, *bases, **attributes):
    """An exception of a client that is not installed here."""
    error = type(name, bases or (Exception,), {})("gone")
    for key, value in attributes.items():
        setattr(error, key, value)
    return error


class TransportError(Exception):
    """As httpx and httpcore name theirs."""


RAISED = {
    "timeout": (TimeoutError("slow"), ErrorKind.TIMEOUT, True),
    "connection reset": (ConnectionResetError("gone"), ErrorKind.NETWORK, True),
    "any of the system": (OSError("gone"), ErrorKind.NETWORK, True),
    "end of file": (asyncio.IncompleteReadError(b"", 4), ErrorKind.NETWORK, True),
    "http.client": (http.client.IncompleteRead(b""), ErrorKind.NETWORK, True),
    "httpx timeout": (stranger("ReadTimeout", TransportError), ErrorKind.TIMEOUT, True),
    "httpx": (stranger("RemoteProtocolError", TransportError), ErrorKind.NETWORK, True),
    "openai timeout": (stranger("APITimeoutError"), ErrorKind.TIMEOUT, True),
    "openai": (stranger("APIConnectionError"), ErrorKind.NETWORK, True),
    "aiohttp": (stranger("ClientPayloadError"), ErrorKind.NETWORK, True),
    "botocore": (stranger("EndpointConnectionError"), ErrorKind.NETWORK, True),
    "websockets": (stranger("ConnectionClosed"), ErrorKind.NETWORK, True),
    "anyio": (stranger("BrokenResourceError"), ErrorKind.NETWORK, True),
    "a group": (ExceptionGroup("a", [stranger("ReadTimeout", TransportError), OSError("x")]), ErrorKind.TIMEOUT, True),
    "a group in a group": (ExceptionGroup("a", [ExceptionGroup("b", [OSError("x")])]), ErrorKind.NETWORK, True),
    "a group with something else": (ExceptionGroup("a", [OSError("x"), ValueError("odd")]), ErrorKind.UNKNOWN, None),
    "anything": (ValueError("odd"), ErrorKind.UNKNOWN, None),
}


@pytest.mark.parametrize(("error", "kind", "retryable"), RAISED.values(), ids=RAISED)
def test_kinds(error, kind, retryable):
    """
    An exception of a client is recognized by its class, or by the name of a base class.
    """
    info = transport_error(error)

    assert (kind, retryable, None) == (info.kind, info.retryable, info.status)


STATUSES = {
    400: (ErrorKind.INVALID_REQUEST, False),
    401: (ErrorKind.AUTH, False),
    402: (ErrorKind.QUOTA, False),
    403: (ErrorKind.AUTH, False),
    404: (ErrorKind.NOT_FOUND, False),
    408: (ErrorKind.TIMEOUT, True),
    410: (ErrorKind.NOT_FOUND, False),
    422: (ErrorKind.INVALID_REQUEST, False),
    429: (ErrorKind.RATE_LIMIT, True),
    500: (ErrorKind.PROVIDER, True),
    501: (ErrorKind.INVALID_REQUEST, False),
    503: (ErrorKind.OVERLOADED, True),
    504: (ErrorKind.TIMEOUT, True),
    529: (ErrorKind.OVERLOADED, True),
}


@pytest.mark.parametrize(("status", "expected"), STATUSES.items(), ids=str)
def test_statuses(status, expected):
    """
    An exception with an HTTP status, of its own or in its response, is recognized by that.
    """
    own = transport_error(stranger("APIStatusError", status_code=status))
    of_response = transport_error(stranger("HTTPStatusError", response=Response(status)))
    of_aiohttp = transport_error(stranger("ClientResponseError", status=status))

    assert (*expected, status) == (own.kind, own.retryable, own.status)
    assert own.kind == of_response.kind == of_aiohttp.kind


@pytest.mark.parametrize("status", [200, 700, "500", None])
def test_no_statuses(status):
    """
    A status that is not one of an error is ignored.
    """
    assert ErrorKind.UNKNOWN == transport_error(stranger("Odd", status_code=status)).kind


OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
QUOTA = {"type": "insufficient_quota", "code": "insufficient_quota", "message": "no more"}
LONG = {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}
CODES = {"overloaded_error": "overloaded", "invalid_request_error": "invalid-request", "insufficient_quota": "quota"}
BODIES = {
    "in a stream of anthropic": ({"error": OVERLOADED, "request_id": "r1"}, 200, ("overloaded", "Overloaded", True)),
    "in a stream of openai": (OVERLOADED, None, ("overloaded", "Overloaded", True)),
    "a status": ({"error": OVERLOADED}, 529, ("overloaded", "Overloaded", True)),
    "more than the status": ({"error": LONG}, 400, ("context-length", LONG["message"], None)),
    "no more than the status": ({"message": "It broke"}, 500, ("provider", "It broke", True)),
    "a quota": (QUOTA, 429, ("quota", "no more", None)),
    "a text": ("<html>", 529, ("overloaded", "APIStatusError: gone", True)),
    "nothing": ({}, 529, ("overloaded", "APIStatusError: gone", True)),
}


@pytest.mark.parametrize(("body", "status", "expected"), BODIES.values(), ids=BODIES)
def test_an_exception_with_the_error_of_the_provider(body, status, expected):
    """
    SDKs raise it in the middle of a stream, too, whose status was 200; what the provider wrote decides.
    """
    codes = {word: ErrorKind(kind) for word, kind in CODES.items()}
    table = ErrorTable(codes=codes, fields=("code", "type"), otherwise="api_error", beside=("request_id",))
    raised = stranger("APIStatusError", body=body, status_code=status)
    found, in_group = transport_error(raised, table), transport_error(ExceptionGroup("a", [raised]), table)

    assert expected == (found.kind, found.message, found.retryable)
    assert found == in_group


def test_credentials_that_a_provider_repeats():
    """
    Nothing of the error has the key of the request.
    """
    table = ErrorTable(codes={}, otherwise="api_error")
    request = Response(None)
    request.headers = {"x-api-key": "my-own-token-1"}
    body = {"error": {"message": "no my-own-token-1", "given": ["my-own-token-1"]}}
    found = transport_error(stranger("APIStatusError", body=body, request=request), table)

    assert found.message.startswith("no ")
    assert "my-own-token-1" not in f"{found.message} {thaw(found.details)}"


def test_when_a_provider_may_be_asked_again():
    """
    The header of the response has it.
    """
    table = ErrorTable(codes={"overloaded_error": "overloaded"}, otherwise="overloaded_error")
    response = Response(529)
    response.headers = {"retry-after": "7"}
    error = stranger("APIStatusError", body={"error": OVERLOADED}, response=response)

    assert 7 == transport_error(error, table).retry_after_s


@pytest.mark.parametrize("library", ["httpx", "requests"])
def test_the_response_of_a_client_of_the_app(library):
    """
    What the provider wrote is in a response that was read; of one that was not, the status is all.
    """
    table = load_dialect("anthropic-messages").decoder.error_table
    body = json.dumps({"type": "error", "error": LONG, "request_id": "r1"}).encode()
    if library == "httpx":
        request = httpx2.Request("POST", "https://api.example")
        read = httpx2.Response(400, content=body, headers={"retry-after": "7"}, request=request)
        unread = httpx2.Response(400, stream=httpx2.AsyncByteStream(), request=request)
        errors = [httpx2.HTTPStatusError("400", request=request, response=each) for each in (read, unread)]
    else:
        read, unread = Response(400), Response(400)
        read.content, read.headers, unread.content = body, {"retry-after": "7"}, None
        errors = [stranger("HTTPError", response=each) for each in (read, unread)]
    found, of_status = (transport_error(error, table) for error in errors)

    assert ("context-length", 400, 7) == (found.kind, found.status, found.retry_after_s)
    assert LONG["message"] == found.message
    assert ("invalid-request", 400) == (of_status.kind, of_status.status)


def test_a_body_that_breaks_off_while_it_is_read():
    """
    The `content` of requests reads the rest of the body, and raises what that raises: the status is enough.
    """

    class Broken(Response):
        @property
        def content(self):
            raise ConnectionResetError("reset by peer")

    error = transport_error(stranger("HTTPError", response=Broken(503)), ErrorTable(codes={}, otherwise="api_error"))

    assert ("overloaded", 503) == (error.kind, error.status)


def test_the_error_of_google():
    """
    Its SDK keeps the document under another name.
    """
    table = ErrorTable(codes={"unavailable": "overloaded"}, fields=("status", "code"), otherwise="unavailable")
    document = {"error": {"code": 503, "message": "later", "status": "UNAVAILABLE"}}
    found = transport_error(stranger("ServerError", details=document, code=503), table)

    assert ("overloaded", "later", "UNAVAILABLE") == (found.kind, found.message, found.code)


def test_a_key_in_an_exception_of_botocore():
    """
    It is not in the error, though the service repeats it.
    """
    response = {"Error": {"Code": "AccessDeniedException", "Message": "bad key sk-0123456789abcdefghij"}}

    assert "bad key [hidden]" == transport_error(stranger("ClientError", response=response)).message


def test_an_exception_of_botocore():
    """
    Its response has the name of the exception and, before a stream, the status.
    """
    in_stream = {"Error": {"Code": "throttlingException", "Message": "slow"}}
    before = {
        "Error": {"Code": "AccessDeniedException", "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": 403, "RequestId": "r1"},
    }
    slow, refused = [transport_error(stranger("ClientError", response=response)) for response in (in_stream, before)]

    assert (ErrorKind.RATE_LIMIT, "slow", True, None) == (slow.kind, slow.message, slow.retryable, slow.status)
    assert (ErrorKind.AUTH, "no", 403) == (refused.kind, refused.message, refused.status)


def test_an_error_of_the_provider():
    """
    A `RemoteProtocolError` has its own kind.
    """
    assert ErrorInfo(kind="quota", message="no more") == transport_error(RemoteProtocolError("quota", "no more"))
    assert "of https://x/y?…" == transport_error(RemoteProtocolError("quota", "of https://x/y?key=k")).message


def test_messages_name_the_exception():
    """
    The message is the class and the text of the exception; the class alone without a text.
    """
    assert "OSError: gone" == transport_error(OSError("gone")).message
    assert "OSError" == transport_error(OSError()).message


def test_long_messages_are_cut():
    """
    An exception that quotes a whole answer does not fill the log.
    """
    message = transport_error(OSError("x" * 10_000)).message

    assert MAX_MESSAGE == len(message)
    assert message.endswith("x…")


LEFT = {
    "cancelled": (asyncio.CancelledError(), "the task that received it was cancelled"),
    "closed": (GeneratorExit(), "the app stopped receiving before the end"),
    "keyboard": (KeyboardInterrupt(), "stopped from the keyboard"),
    "anything": (ValueError("secret"), "the app stopped receiving with ValueError"),
}


@pytest.mark.parametrize(("reason", "message"), LEFT.values(), ids=LEFT)
def test_leaving(reason, message):
    """
    Leaving gives `aborted`, with the way of leaving, and without text of the app.
    """
    assert ErrorInfo(kind=ErrorKind.ABORTED, message=message) == abortion(reason)
