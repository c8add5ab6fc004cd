"""
Answers that are no interaction: HTTP errors in the two shapes that the service has.

Seen live, 2026-05 to 2026-11: what the Interactions API itself refuses has a word as `code`, what the gateway before it
refuses has the classic body with a number and a `status`.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from starlette.responses import Response

from assistant_events.adapters.json_fields import valid_json
from assistant_events.values import write_json

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
"""Codes of the statuses that the API itself answers with."""

_CLASSIC: Final[dict[int, str]] = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    413: "INVALID_ARGUMENT",
}
"""Names of the statuses that the gateway answers with: google.rpc.Code."""


class ApiError(Exception):
    """
    A request is answered with an HTTP error.

    Args:
        status: Of the response, 400 or more.

        message: What is wrong, for people.

        code: `error.code`; made from *status* when None.

        name: `error.status` of the classic body; made from the code when None.

        headers: More headers of the response.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | int | None = None,
        name: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message
        self.code = code
        self.name = name
        self.headers = dict(headers or {})

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"

    @property
    def body(self) -> dict[str, object]:
        """The JSON body: with a word as code, or the classic one with number and status name."""
        code = self.code
        if code is None:
            code = self.status if self.status in _CLASSIC else _WORDS.get(self.status, _phrase(self.status).lower())
        if isinstance(code, str):
            return {"error": {"code": code, "message": self.message}}
        name = self.name or _CLASSIC.get(code) or _WORDS.get(code, _phrase(code)).upper()
        return {"error": {"code": code, "message": self.message, "status": name}}

    def response(self) -> Response:
        """Return the HTTP answer. Its text is valid whatever a client has sent that is repeated there."""
        body = write_json(valid_json(self.body))
        return Response(body, self.status, headers=self.headers, media_type="application/json")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).name
    except ValueError:
        return "UNKNOWN"
