"""The mock provider of any dialect as an ASGI app: its errors are documents, and it lets browsers in."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, ClassVar, Final, Unpack, final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant_events.mock.clock import ProviderClock, ScaledClock
from assistant_events.mock.faults import Fault
from assistant_events.mock.fixture_files import FixtureSource, fixtures_of
from assistant_events.mock.requests import Api, ApiError, LoggedRequest
from assistant_events.mock.service import MockService, Settings, SettingsOptions, parsed_faults
from assistant_events.mock.streaming import RAW_SEND

_SLASHES: Final = re.compile("//+")

_EXPOSED: Final = ((b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"retry-after"))

_log = logging.getLogger(__name__)


class ProviderOptions(SettingsOptions, total=False):
    """The options of every mock provider."""

    faults: Iterable[Fault | str]
    time_scale: float
    clock: ProviderClock | None


class MockProvider:
    """
    A provider that answers from fixtures. A dialect has a subclass, which may have further options.

    Args:
        fixtures: The answers, in any form that `assistant_events.mock.fixture_files.fixtures_of` accepts.

        faults: For every request, as `parse_fault` reads them. A fixture has its own, and a request may name more in
            the header `x-mock-fault`.

        time_scale: Real seconds for each second of the provider: with 0.001 ten minutes take 0.6 s.

        clock: The time, in place of *time_scale*.

        strict: Reject what the service rejects, the default. Otherwise every JSON object is a request.

        sign: Sign what the service signs, and reject a signature or content that comes back changed; the default.

        require_key: Reject requests without a key; as *strict* when `None`, the default. Any key is accepted.

        max_body_bytes: Of a request; by default as the service.

        max_runs: Number of runs that are kept (2,000), of *max_kept_bytes* of requests. Beyond it the oldest are
            removed, as the service removes those older than its retention.

        max_kept_bytes: Bytes of requests that are kept, for runs and for the log each (64 MiB).

        max_requests: Number of requests in the log (1,000).

        make_id: Returns the id of the next answer; random by default.

    Raises:
        ValueError: An option is not valid.

        FixtureError: The fixtures are not valid.
    """

    SETTINGS: ClassVar[type[Settings]] = Settings
    SERVICE: ClassVar[type[MockService[Any]]]
    """Called with fixtures, settings, faults and clock."""

    def __init__(
        self,
        fixtures: FixtureSource,
        *,
        faults: Iterable[Fault | str] = (),
        time_scale: float = 1.0,
        clock: ProviderClock | None = None,
        **settings: Unpack[SettingsOptions],
    ) -> None:
        parsed, clock = parsed_faults(faults), clock or ScaledClock(time_scale)
        self._service: MockService[Any] = self.SERVICE(
            fixtures_of(self.SERVICE.FORM, fixtures), self.SETTINGS(**settings), parsed, clock
        )
        self.app: ASGIApp = _app(self._service.api())
        """The ASGI app: for uvicorn, for a test client, or mounted in another app."""

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """The last requests, oldest first, with their keys masked."""
        return self._service.log.entries

    def close(self) -> None:
        """End all open streams, so that a server can stop. Runs and requests stay, and more may come."""
        self._service.close()

    def add(self, fixtures: FixtureSource) -> None:
        """
        Add fixtures before the present ones, until the next `reset`.

        Raises:
            FixtureError: They are not valid.
        """
        self._service.add(fixtures_of(self.SERVICE.FORM, fixtures))

    def reset(self) -> None:
        """Forget all runs, requests and added fixtures, reset all counts, and end all streams."""
        self._service.reset()


def _app(api: Api) -> ASGIApp:
    async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
        error = ApiError(404, f"{scope.get('method', 'GET')} {scope['path']}: no such method.")
        await api.error_response(error)(scope, receive, send)

    routes = [Route(path, _Endpoint(api, handler, methods)) for path, methods, handler in api.routes]
    router = Router(routes, redirect_slashes=False, default=not_found)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            # A connection is reset through the `send` of the server itself, which middleware hides.
            scope = {**scope, RAW_SEND: send, "path": _SLASHES.sub("/", scope["path"]).rstrip("/") or "/"}
        await router(scope, receive, send)

    return app


@final
class _Endpoint:
    """One route: checks the method, turns errors into documents, and lets browsers in."""

    def __init__(self, api: Api, handler: Callable[[Request], Awaitable[ASGIApp]], methods: Sequence[str]) -> None:
        self._api = api
        self._handler = handler
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method == "OPTIONS":
            await Response(headers=self._api.preflight(request))(scope, receive, send)
            return
        response = await self._respond(request)
        await response(scope, receive, self._for_browsers(send) if "origin" in request.headers else send)

    async def _respond(self, request: Request) -> ASGIApp:
        try:
            self._check(request)
            return await self._handler(request)
        except ApiError as error:
            return self._api.error_response(error)
        except ClientDisconnect:  # before it had sent all of its request
            return Response(status_code=400)
        except Exception:  # noqa: BLE001 - whatever is wrong here, a client gets a document
            _log.exception("the mock provider failed at %s", request.scope["path"])
            return self._api.error_response(ApiError(500, "the mock provider itself failed, see its log"))

    def _check(self, request: Request) -> None:
        self._api.check(request)
        if request.method not in self._methods:
            raise ApiError(405, f"{request.method} is not allowed here; allowed: {', '.join(self._methods)}")

    @staticmethod
    def _for_browsers(send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_EXPOSED]}
            await send(message)

        return sending
