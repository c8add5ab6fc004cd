"""
The errors of the Interactions API as HTTP answers.

Seen live, 2026-05 to 2026-11: errors of the API itself have a word as `code`, errors of the gateway before it have the
classic body with a number and a `status`.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from assistant_events.mock.google_api import STATUSES
from assistant_events.mock.requests import ApiError, json_response

_WORDS: Final[dict[int, str]] = {
    400: "invalid_request",
    408: "deadline_exceeded",
    409: "aborted",
    429: "too_many_requests",
    500: "internal",
    501: "not_implemented",
    503: "unavailable",
    504: "deadline_exceeded",
}
"""Codes of the statuses of the API itself."""

_CLASSIC: Final = {status: STATUSES[status] for status in (401, 403, 404, 405, 413)}
"""Names of the statuses of the gateway: google.rpc.Code."""


def error_body(error: ApiError) -> dict[str, Any]:
    """Return the JSON body of an error: with a word as code, or the classic one with number and status name."""
    code = error.code
    if code is None:
        status = error.status
        code = status if status in _CLASSIC else _WORDS.get(status, _phrase(status).lower())
    if isinstance(code, str):
        return {"error": {"code": code, "message": error.message}}
    name = error.name or _CLASSIC.get(code) or _WORDS.get(code, _phrase(code)).upper()
    return {"error": {"code": code, "message": error.message, "status": name}}


def error_response(error: ApiError) -> Response:
    """Return the HTTP answer of an error."""
    return json_response(error_body(error), error.status, error.headers)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).name
    except ValueError:
        return "UNKNOWN"
