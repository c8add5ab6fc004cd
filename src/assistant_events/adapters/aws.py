"""Exceptions of AWS, in streams, in HTTP responses and of botocore; and the form of bytes in requests of boto3."""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from assistant_events.adapters.errors import ErrorTable, error_of_body, error_of_document, exception_name, retry_after_s
from assistant_events.adapters.json_fields import Fields, base64_bytes, integer, is_object, mapping, string, without
from assistant_events.values import ErrorInfo, ErrorKind

_KINDS: Final[dict[str, ErrorKind]] = {
    "throttlingException": ErrorKind.RATE_LIMIT,
    "serviceUnavailableException": ErrorKind.OVERLOADED,
    "modelNotReadyException": ErrorKind.OVERLOADED,
    "modelTimeoutException": ErrorKind.TIMEOUT,
    "validationException": ErrorKind.INVALID_REQUEST,
    "conflictException": ErrorKind.INVALID_REQUEST,
    "accessDeniedException": ErrorKind.AUTH,
    "unrecognizedClientException": ErrorKind.AUTH,
    "expiredTokenException": ErrorKind.AUTH,
    "resourceNotFoundException": ErrorKind.NOT_FOUND,
    "unknownOperationException": ErrorKind.NOT_FOUND,
    "serviceQuotaExceededException": ErrorKind.QUOTA,
    "internalServerException": ErrorKind.PROVIDER,
    "internalFailure": ErrorKind.PROVIDER,
    "modelStreamErrorException": ErrorKind.PROVIDER,
    "modelErrorException": ErrorKind.PROVIDER,
}
"""
Exceptions of Bedrock, whose names begin with a small letter in streams: the model of botocore 1.44.5. Those of the
signature, and the failure, are general ones of AWS.
"""

_NAMES: Final = {name.lower(): name for name in _KINDS}

AWS_ERRORS: Final = ErrorTable(
    codes={name.lower(): kind for name, kind in _KINDS.items()},
    otherwise="internalServerException",
    retryable=frozenset({"internalServerException", "internalFailure", "modelStreamErrorException"}),
)
"""Exceptions of Bedrock, with their names as codes."""


def error_in(event: Fields) -> Fields | None:
    """Return the exception or error that *event* is, for `AWS_ERRORS`; `None` when it is another event."""
    if string(mapping(event, "Output"), "__type"):
        return error_of_document(event)
    for name, fields in event.items():
        if name.endswith("Exception") and fields is not None:
            found = {key: value for key, value in mapping(event, name).items() if key != "p" and value is not None}
            return {"message": found.get("originalMessage"), **found, "code": name}  # of the model, where AWS adds none
        if name == "error" and is_object(fields) and "type" not in fields and string(fields, "code"):
            return fields
    return None


def read_http(status: int, headers: Mapping[str, str], body: bytes) -> ErrorInfo:
    """
    Return the error of an HTTP response. Its type is in a header, or in the body.

    Args:
        status: HTTP status.

        headers: Headers of the response, names in lower case.

        body: `{"message": "text"}`, or anything else.
    """
    found = dict(error_of_body(body))
    if kind := headers.get("x-amzn-errortype"):
        found["code"] = exception_name(kind)
    request = headers.get("x-amzn-requestid")
    error = AWS_ERRORS.read({"message": f"HTTP {status}", **found, "requestId": request}, status=status)
    after = retry_after_s(headers)
    return error if after is None else attrs.evolve(error, retry_after_s=after)


def read_exception(response: Mapping[str, Any]) -> ErrorInfo:
    """
    Return the error of an exception of botocore, for `DecoderBase.close`.

    Args:
        response: Its attribute `response`: `ClientError` and `EventStreamError` have it.
    """
    # Any: the attribute of another library.
    error, facts = mapping(response, "Error"), mapping(response, "ResponseMetadata")
    fields = without(error, ("Code", "Message"))
    code = exception_name(string(error, "Code") or "")
    found = {**fields, "code": code, "message": string(error, "Message"), "requestId": string(facts, "RequestId")}
    return AWS_ERRORS.read(found, status=integer(facts, "HTTPStatusCode"))


def write_exception(error: ErrorInfo) -> dict[str, Any]:
    """Return the event of an error: an exception, or an error of the stream where the code is not one of a service."""
    written = AWS_ERRORS.write(error)
    is_exception = str(written.get("code")).lower().endswith("exception")
    if not is_exception and error_in({"error": written}) is None:  # of another provider: without a code, or with a type
        written = {"code": error.code or AWS_ERRORS.word(error.kind), "message": error.message}
    name = _NAMES.get(written["code"].lower(), written["code"])
    if name.endswith("Exception"):
        return {name: without(written, ("code",))}
    return {"error": written}


_OF_THE_APP: Final = frozenset({"input", "json", "additionalModelRequestFields", "requestMetadata", "promptVariables"})
"""Fields of Converse whose names inside are the app's, such as the input of a call (API reference, 2026-10)."""


def for_boto3(body: Any) -> Any:
    """
    Return a body with bytes in place of base64, as boto3 takes it: in sources and in redacted content.

    Over HTTP the body is sent as it is.
    """
    if isinstance(body, list):
        return [for_boto3(each) for each in body]
    if not isinstance(body, dict):
        return body
    return {key: value if key in _OF_THE_APP else _as_bytes(key, value) for key, value in body.items()}


def _as_bytes(key: str, value: Any) -> Any:
    data = base64_bytes(value) if key in ("bytes", "redactedContent") and isinstance(value, str) else None
    return for_boto3(value) if data is None else data
