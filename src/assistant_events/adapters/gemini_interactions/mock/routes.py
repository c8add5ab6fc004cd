"""
The HTTP interface of the Interactions API: its paths, and what browsers may send.

Official clients put a version before the path (`v1`, `v1beta` and others), for Vertex a project and a location too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp

from assistant_events.adapters.gemini_interactions.mock.api_errors import error_response
from assistant_events.adapters.gemini_interactions.mock.interactions import InteractionsService
from assistant_events.mock.api_errors import ApiError
from assistant_events.mock.app import Api

VERSIONS: Final = ("v1", "v1beta", "v1alpha", "v1beta1")

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

    def preflight(request: Request) -> Mapping[str, str]:
        wanted = request.headers.get("access-control-request-headers")
        return _CORS if service.settings.strict or not wanted else {**_CORS, "access-control-allow-headers": wanted}

    table = (
        ("/interactions", ("POST",), collection),
        ("/interactions/{id}/cancel", ("POST",), cancel),
        ("/interactions/{id}:cancel", ("POST",), cancel),
        ("/interactions/{id}", ("GET", "DELETE"), one),
    )
    return Api(
        routes=[(prefix + path, methods, handler) for prefix in _PREFIXES for path, methods, handler in table],
        error_response=error_response,
        check=_check_version,
        preflight=preflight,
    )


def _check_version(request: Request) -> None:
    if request.path_params["version"] not in VERSIONS:
        raise ApiError(404, f"unknown version of the API; known: {', '.join(VERSIONS)}")
