"""
What is refused: requests from elsewhere, bodies that are too long or not JSON, and the errors of the library.

A refusal is `{"detail": "a sentence"}`, as FastAPI has it. It never has an id, a text or a state of anyone else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from assistant_events import errors
from assistant_events.values.json_io import read_json

BODY_S: Final = 20.0
"""Seconds that a body may take to come."""

_HOST: Final = re.compile(r"(\[[\da-f:.]+\]|[^\s:/@\[\]]+)(:\d{1,5})?")

_ERRORS: Final[tuple[tuple[type[errors.AssistantEventsError], int, str | None], ...]] = (
    (errors.LocalProtocolError, 409, None),
    (errors.ConflictError, 409, "another request was first; read the session, and try again"),
    (errors.ClaimedError, 409, "another process has claimed the session; try again"),
    (errors.PrunedError, 410, "these records have been removed; read the session, and continue from there"),
    (errors.OwnerError, 404, "no such session"),
    (errors.StoreError, 503, "the session could not be read or written; try again later"),
    (errors.JsonError, 400, None),
    (errors.StructureError, 422, None),
)
"""Error, status and sentence; `None` where the text of the error is about the request alone. The first one counts."""


def check_host(request: Request, allowed: Collection[str]) -> None:
    """
    Refuse a request for another host: a page of elsewhere reaches a server behind a firewall by DNS rebinding.

    Args:
        request: The request.

        allowed: Host names in lower case, with a port, or without one for any port. An IPv6 address is in brackets.
    """
    hosts = request.headers.getlist("host")
    found = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
    if found is None:
        raise HTTPException(400, "expected one host header, with the name of a host")
    if not {found[0], found[1]} & {*allowed}:
        raise HTTPException(421, f"the request is for {found[0]:.100}, which is not among the hosts of this server")


def check_origin(request: Request, origins: Collection[str]) -> None:
    """Refuse what the page of another site sends with the cookies of its reader."""
    origin = request.headers.get("origin")
    if origin is None:
        own = request.headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
    else:
        own = origin in origins or origin.partition("://")[2].lower() == request.headers.get("host", "").lower()
    if not own:
        raise HTTPException(403, "the request comes from a page of another site, which is not among the origins")


async def read_object(request: Request, max_bytes: int) -> dict[str, Any]:
    """Return the body of a request: a JSON object. A page of another site cannot send one without being allowed to."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "expected content-type application/json")
    body = bytearray()
    length = request.headers.get("content-length", "0")
    try:
        async with asyncio.timeout(BODY_S):
            if length.isdecimal() and len(length) < 16 and int(length) <= max_bytes:
                async for piece in request.stream():
                    body += piece
                    if len(body) > max_bytes:
                        break
                else:
                    return _object_of(bytes(body))
    except TimeoutError:
        raise HTTPException(408, "the body has not come in time") from None
    raise HTTPException(413, f"the body has more than {max_bytes} bytes", {"connection": "close"})


def _object_of(body: bytes) -> dict[str, Any]:
    document: dict[str, Any] = read_json(body)
    if not isinstance(document, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise HTTPException(422, "expected a JSON object")
    return document


async def refused(_request: Request, error: Exception) -> Response:
    """Return the answer to a request that has raised *error*: the handler of all errors in `HANDLED`."""
    if isinstance(error, HTTPException):
        return JSONResponse({"detail": error.detail}, error.status_code, error.headers)
    for kind, status, sentence in _ERRORS:
        if isinstance(error, kind):
            return JSONResponse({"detail": str(error) if sentence is None else sentence}, status)
    return Response(status_code=400)  # the client has left before its body was read


HANDLED: Final = (HTTPException, ClientDisconnect, *[kind for kind, _, _ in _ERRORS])
