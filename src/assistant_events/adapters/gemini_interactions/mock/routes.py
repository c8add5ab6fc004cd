"""
The HTTP interface of the Interactions API: its paths, its errors, and what browsers may send.

Official clients put a version before the path (`v1`, `v1beta` and others), for Vertex a project and a location too.
Seen live, 2026-05 to 2026-11: errors of the API itself have a word as `code`, errors of the gateway before it have the
classic body with a number and a `status`.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from assistant_events.adapters.gemini_interactions.mock.interactions import InteractionsService
from assistant_events.mock.app import Api
from assistant_events.mock.google_api import MODEL, STATUSES, check_address, model_document
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


_PREFIXES: Final = ("/{version}", "/{version}/projects/{project}/locations/{location}")

# What the service lets a browser send (wire reference, seen 2026-11): `api-revision` is not among them.
_CORS: Final = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": "content-type, x-goog-api-key, x-goog-api-client, authorization",
    "access-control-max-age": "3600",
}


def api_of(service: InteractionsService) -> Api:
    """Return the HTTP interface of a service, with each route under every prefix."""

    async def collection(request: Request) -> ASGIApp:
        return await service.create(await service.read_call(request))

    async def one(request: Request) -> ASGIApp:
        call = await service.read_call(request)
        run_id: str = request.path_params["id"]
        return await (service.get if request.method == "GET" else service.delete)(call, run_id)

    async def cancel(request: Request) -> ASGIApp:
        return await service.cancel(await service.read_call(request), request.path_params["id"])

    async def models(request: Request) -> ASGIApp:
        await service.read_call(request)
        return json_response({"models": [*map(model_document, service.model_names(MODEL))]})

    async def model(request: Request) -> ASGIApp:
        await service.read_call(request)
        return json_response(model_document(request.path_params["model_name"]))

    def preflight(request: Request) -> Mapping[str, str]:
        wanted = request.headers.get("access-control-request-headers")
        return _CORS if service.settings.strict or not wanted else {**_CORS, "access-control-allow-headers": wanted}

    table = (
        ("/interactions", ("POST",), collection),
        ("/interactions/{id}/cancel", ("POST",), cancel),
        ("/interactions/{id}:cancel", ("POST",), cancel),
        ("/interactions/{id}", ("GET", "DELETE"), one),
        ("/models", ("GET",), models),
        ("/models/{model_name:path}", ("GET",), model),
    )
    return Api(
        routes=[(prefix + path, methods, handler) for prefix in _PREFIXES for path, methods, handler in table],
        error_response=error_response,
        check=check_address,
        preflight=preflight,
    )
