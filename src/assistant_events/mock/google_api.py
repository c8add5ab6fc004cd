"""What the APIs of Gemini share: versions, models, and errors as most of Google's APIs answer with them."""

from __future__ import annotations

from typing import Any, ClassVar, Final, TypeVar

import attrs
from starlette.requests import Request
from starlette.responses import Response

from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.requests import Api, ApiError, json_response
from assistant_events.mock.runs import Run
from assistant_events.mock.service import MockService

_RunT = TypeVar("_RunT", bound=Run[Any])

VERSIONS: Final = ("v1", "v1beta", "v1alpha", "v1beta1")

STATUSES: Final[dict[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    409: "ABORTED",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""Names of google.rpc.Code by HTTP status; of others below 500 `INVALID_ARGUMENT`, else `INTERNAL`."""


MODEL: Final = "gemini-3.6-flash"
"""The model of an answer to a request that names none, as a lenient mock accepts."""


def _check_address(request: Request) -> None:
    """Check version and method of a path. Raises `ApiError`."""
    if request.path_params["version"] not in VERSIONS:
        raise ApiError(404, f"unknown version of the API; known: {', '.join(VERSIONS)}")
    if request.method == "POST" and "model_name" in request.path_params:
        raise ApiError(404, f"POST {request.scope['path']}: no such method.")


class GoogleService(MockService[_RunT]):
    """The state of a mock of an API of Gemini, whose paths begin with a version."""

    STATUS_WITHOUT_KEY: ClassVar[int] = 403

    def model_document(self, name: str) -> dict[str, Any]:
        """Return the document of a model."""
        return {
            "name": f"models/{name}",
            "displayName": name,
            "version": "001",
            "inputTokenLimit": 1 << 20,
            "outputTokenLimit": 1 << 16,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }

    def model_list(self, models: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the list of these documents of models."""
        return {"models": models}

    def api(self) -> Api:
        """Return the HTTP interface."""
        return attrs.evolve(super().api(), check=_check_address)


def error_response(error: ApiError, *, is_array: bool = False) -> Response:
    """Return the HTTP answer of an error: its `error` has `code`, `message` and `status`; in a JSON array or not."""
    name = error.name if error.code is None or isinstance(error.code, int) else error.code
    body = _body(error.status, error.message, name)
    return json_response([body] if is_array else body, error.status, error.headers)


def status_of_name(name: str) -> int:
    """Return the HTTP status of a name in any case; 500 for one that is not known."""
    return next((status for status, each in STATUSES.items() if each == name.upper()), 500)


def error_of_stream(error: StreamError) -> dict[str, Any]:
    """Return the chunk of an error."""
    if isinstance(error.code, int):
        return _body(error.code, error.message, None)
    return _body(status_of_name(error.code), error.message, error.code)


def _body(status: int, message: str, name: str | None) -> dict[str, Any]:
    if name is None:
        name = STATUSES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
    elif name.upper() in STATUSES.values():
        name = name.upper()
    return {"error": {"code": status, "message": message, "status": name}}
