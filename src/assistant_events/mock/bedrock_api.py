"""What the APIs of Bedrock share: exceptions as answers and as frames, and frames of faults."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

from starlette.responses import Response

from assistant_events.adapters.aws_event_stream import AwsEventStream
from assistant_events.adapters.errors import exception_name
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.requests import ApiError, json_response
from assistant_events.mock.stream_actions import WireFrame

_STATUSES: Final[dict[str, int]] = {
    "validationException": 400,
    "serviceQuotaExceededException": 400,
    "accessDeniedException": 403,
    "resourceNotFoundException": 404,
    "modelTimeoutException": 408,
    "modelErrorException": 424,
    "modelStreamErrorException": 424,
    "throttlingException": 429,
    "modelNotReadyException": 429,
    "internalServerException": 500,
    "serviceUnavailableException": 503,
}
"""Statuses of exceptions; the first exception of a status is the one that it has without another code."""

_NAMES: Final = {status: name for name, status in reversed(_STATUSES.items())}

_SOURCE: Final = "http://internal.amazon.com/coral/com.amazon.bedrock/"
"""Text of the service behind the name of an exception."""


def status_of(code: str) -> int:
    """Return the HTTP status of an exception; 500 for one that is not known."""
    return _STATUSES.get(exception_name(code), 500)


def error_response(error: ApiError) -> Response:
    """Return the HTTP answer of an error: its exception is in a header."""
    known = isinstance(error.code, str) and error.code != "internal"
    name = str(error.code) if known else _NAMES.get(error.status, _NAMES[400 if error.status < 500 else 500])
    headers = {"x-amzn-requestid": str(uuid4()), "x-amzn-errortype": f"{name[:1].upper()}{name[1:]}:{_SOURCE}"}
    return json_response({"message": error.message}, error.status, {**headers, **error.headers})


def exception_frame(name: str, fields: dict[str, Any]) -> WireFrame:
    """Return the frame of an exception in a stream, or of another event."""
    return WireFrame(name, AwsEventStream.frame(None, {name: fields}))


def error_frame(error: StreamError) -> WireFrame:
    """Return the frame of the error that ends a stream: an exception, or an error with a code of another kind."""
    name = exception_name("InternalServerException" if error.code == "internal" else str(error.code))
    if name.endswith("Exception"):
        return exception_frame(name, {"message": error.message})
    return exception_frame("error", {"code": str(error.code), "message": error.message})


def fault_frames(empty_delta: WireFrame, **more: Any) -> FaultFrames:
    """Return the frames of faults: those of all streams of Bedrock, and *more*. *empty_delta* gets a wrong checksum."""
    # Any: the fields of `FaultFrames`.
    data = empty_delta.data
    return FaultFrames(
        cut_tail=exception_frame(
            "internalServerException", {"message": "The system encountered an unexpected error."}
        ).data,
        error=lambda _: exception_frame(
            "throttlingException", {"message": "Too many requests, please wait before trying again."}
        ),
        empty_errors=(
            exception_frame("internalServerException", {}),
            exception_frame("throttlingException", {"message": ""}),
        ),
        bad_json=WireFrame(empty_delta.name, AwsEventStream.frame(None, '{"index":0,')),
        bad_checksum=empty_delta._replace(data=data[:-1] + bytes([data[-1] ^ 1])),
        done=b"[DONE]\n\n",
        has_lines=False,
        **more,
    )
