"""
A mock provider for the tests of an app: on a port of this machine, or without any socket.

Needs the extra `server`; `transport` needs `http`. Neither is imported before it is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, TypedDict, TypeVar, Unpack, final

from assistant_events.extras import require

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from assistant_events.mock import Fault, FixtureSource, LoggedRequest, MockProvider
    from assistant_events.mock.clock import ProviderClock
    from assistant_events.mock.threaded_server import ThreadedServer
    from assistant_events.testing.transport import StreamingTransport

_T = TypeVar("_T")


class ProviderOptions(TypedDict, total=False):
    """What `MockProvider` takes besides fixtures, which says what each of them means."""

    generation: Literal[1, 2]
    strict: bool
    faults: Iterable[Fault | str]
    time_scale: float
    sign: bool
    arguments: Literal["streamed", "whole"]
    event_ids: Literal["background", "all", "some", "none"]
    require_key: bool | None
    max_body_bytes: int
    max_runs: int
    max_kept_bytes: int
    max_requests: int
    clock: ProviderClock | None
    make_id: Callable[[], str] | None


def mock_provider(
    fixtures: FixtureSource = (), *, port: int = 0, **options: Unpack[ProviderOptions]
) -> RunningProvider:
    """
    Return a mock provider, to be used in `with` or `async with`.

    Args:
        fixtures: What it answers to what: `{"Hello": "Hi there"}`, a path, `Fixtures`, and everything else that
            `assistant_events.mock.fixtures_of` takes.

        port: Where it listens when it is asked for its `url`; 0 for any that is free.

        **options: As for `assistant_events.mock.MockProvider`.

    Raises:
        FixtureError: The fixtures make no sense.

        ImportError: The extra `server` is not installed.
    """
    require("the mock provider", {"web": ("starlette", "uvicorn")})
    from assistant_events.mock import MockProvider

    return RunningProvider(MockProvider(fixtures, **options), port)


@final
class RunningProvider:
    """
    What `mock_provider` gives.

    Nothing runs before `url` is asked for. The end of the block ends all streams and the server, whoever still listens.
    """

    def __init__(self, provider: MockProvider, port: int) -> None:
        self._provider = provider
        self._port = port
        self._serving: ThreadedServer | None = None
        self._is_open = False

    @property
    def url(self) -> str:
        """
        Where it listens, without a version, which is what official clients take as base URL.

        For example `http://127.0.0.1:41327`.

        Raises:
            OSError: The port is taken.

            RuntimeError: Outside of the block.
        """
        self._check()
        if self._serving is None:
            from assistant_events.mock.threaded_server import ThreadedServer

            self._serving = ThreadedServer(self._provider.app, port=self._port, before_stop=self._provider.close)
        return self._serving.url

    @property
    def app(self) -> ASGIApp:
        """The ASGI app, for a client that takes one."""
        return self._provider.app

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """What was asked, oldest first: method, path, query, headers and body, keys masked."""
        return self._run(lambda: self._provider.requests)

    def transport(self) -> StreamingTransport:
        """
        Return a transport for `httpx2.AsyncClient`, which then needs no socket: every address is this provider.

        Raises:
            RuntimeError: Outside of the block.
        """
        from assistant_events.testing.transport import StreamingTransport

        self._check()
        return StreamingTransport(self._provider.app)

    def add(self, fixtures: FixtureSource) -> None:
        """
        Answer more. What is added goes before what was there, so that a test can answer otherwise than all others.

        Raises:
            FixtureError: It makes no sense.
        """
        self._run(lambda: self._provider.add(fixtures))

    def reset(self) -> None:
        """Forget every interaction, every request and what was added; count from the start, and end all streams."""
        self._run(self._provider.reset)

    def __enter__(self) -> Self:
        self._is_open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_open = False
        serving, self._serving = self._serving, None
        if serving is not None:
            serving.stop()
        else:
            self._provider.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._serving is None:
            self.__exit__(kind, error, trace)
        else:
            # The loop goes on, so that clients in it see the end of their streams.
            await asyncio.to_thread(self.__exit__, kind, error, trace)

    def _run(self, function: Callable[[], _T]) -> _T:
        return function() if self._serving is None else self._serving.run(function)

    def _check(self) -> None:
        if not self._is_open:
            raise RuntimeError("the mock provider is closed: use it inside of `with mock_provider(…) as provider:`")
