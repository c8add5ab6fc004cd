"""
Which path is what, and what every answer has: the shape of errors, and what browsers ask for.

Official clients put a version before the path (`v1`, `v1beta` and others), for Vertex a project and a location too.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant_events.mock.api_errors import ApiError
from assistant_events.mock.service import Service

VERSIONS: Final = ("v1", "v1beta", "v1alpha", "v1beta1")

_PREFIXES: Final = ("/{version}", "/{version}/projects/{project}/locations/{location}")

# What the service lets a browser send (wire reference, seen 2026-11): `api-revision` is not among them.
_CORS: Final = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": "content-type, x-goog-api-key, x-goog-api-client, authorization",
    "access-control-max-age": "3600",
}
_EXPOSED: Final = ((b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"retry-after"))

_log = logging.getLogger(__name__)

Answering = Callable[[Request], Awaitable[ASGIApp]]


def make_routes(service: Service) -> list[Route]:
    """Return the routes of a service, each under every prefix."""

    async def collection(request: Request) -> ASGIApp:
        return await service.create(await service.call(request))

    async def one(request: Request) -> ASGIApp:
        call = await service.call(request)
        run_id: str = request.path_params["id"]
        return await (service.get if request.method == "GET" else service.delete)(call, run_id)

    async def cancel(request: Request) -> ASGIApp:
        return await service.cancel(await service.call(request), request.path_params["id"])

    table: tuple[tuple[str, Answering, tuple[str, ...]], ...] = (
        ("/interactions", collection, ("POST",)),
        ("/interactions/{id}/cancel", cancel, ("POST",)),
        ("/interactions/{id}:cancel", cancel, ("POST",)),
        ("/interactions/{id}", one, ("GET", "DELETE")),
    )
    return [
        Route(prefix + path, _Endpoint(answer, methods, strict=service.settings.strict))
        for prefix in _PREFIXES
        for path, answer, methods in table
    ]


async def not_found(request: Request, error: Exception) -> Response:
    """Answer a path that there is not."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    return ApiError(status, f"{request.method} {request.scope['path']}: there is no such method.").response()


class _Endpoint:
    """Answers one path: chooses by method, makes errors into documents, and lets browsers in."""

    def __init__(self, answer: Answering, methods: tuple[str, ...], *, strict: bool) -> None:
        self._answer = answer
        self._methods = methods
        self._strict = strict

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method == "OPTIONS":
            await Response(headers=self._cors(request))(scope, receive, send)
            return
        response = await self._respond(request)
        await response(scope, receive, _for_browsers(send) if "origin" in request.headers else send)

    def _cors(self, request: Request) -> dict[str, str]:
        wanted = request.headers.get("access-control-request-headers")
        return _CORS if self._strict or not wanted else {**_CORS, "access-control-allow-headers": wanted}

    async def _respond(self, request: Request) -> ASGIApp:
        if request.path_params["version"] not in VERSIONS:
            return ApiError(404, f"unknown version of the API; known: {', '.join(VERSIONS)}").response()
        if request.method not in self._methods:
            allowed = ", ".join(self._methods)
            return ApiError(405, f"{request.method} is not allowed here; allowed: {allowed}").response()
        try:
            return await self._answer(request)
        except ApiError as refusal:
            return refusal.response()
        except Exception:  # noqa: BLE001 - whatever is wrong here, a client gets a document
            _log.exception("the mock provider failed at %s", request.scope["path"])
            return ApiError(500, "the mock provider itself failed; its log says why").response()


def _for_browsers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *_EXPOSED]}
        await send(message)

    return sending
