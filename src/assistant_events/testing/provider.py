"""
A mock provider for the tests of an app: on a port of this machine, or without any socket.

It needs the extra `web`, and `transport` needs `http`. Neither is imported before it is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Self, TypeVar, Unpack, final

from assistant_events.extras import require

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from assistant_events.adapters.gemini_interactions.mock.provider import ProviderOptions
    from assistant_events.mock import FixtureSource, LoggedRequest, MockProvider
    from assistant_events.mock.threaded_server import ThreadedServer
    from assistant_events.testing.transport import StreamingTransport

_T = TypeVar("_T")


def mock_provider(
    fixtures: FixtureSource = (),
    *,
    dialect: str = "gemini-interactions",
    port: int = 0,
    **options: Unpack[ProviderOptions],
) -> RunningProvider:
    """
    Return a mock provider, to be used in `with` or `async with`.

    Args:
        fixtures: The answers: `{"Hello": "Hi there"}`, a path, `Fixtures`, or any other source that
            `assistant_events.mock.fixture_files.fixtures_of` accepts.

        dialect: The dialect that it speaks.

        port: Its port, once its `url` is used; 0 for any that is free.

        **options: Options of the mock provider of the dialect, typed as those of Gemini Interactions.

    Raises:
        FixtureError: The fixtures are not valid.

        UnknownDialectError: No mock of the dialect is installed.

        ImportError: The extra `web` is not installed.
    """
    require("the mock provider", {"web": ("starlette", "uvicorn")})
    from assistant_events.mock import load_mock

    return RunningProvider(load_mock(dialect).provider(fixtures, **options), port)


@final
class RunningProvider:
    """
    The result of `mock_provider`.

    Nothing runs before `url` is used. The end of the block ends all streams and the server.
    """

    def __init__(self, provider: MockProvider, port: int) -> None:
        self._provider = provider
        self._port = port
        self._serving: ThreadedServer | None = None
        self._is_open = False

    @property
    def url(self) -> str:
        """
        Its address without a version, the base URL of official clients.

        For example `http://127.0.0.1:41327`.

        Raises:
            OSError: The port is taken.

            RuntimeError: Used outside of the block.
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
        """The requests, oldest first: method, path, query, headers and body, keys masked."""
        return self._run(lambda: self._provider.requests)

    def transport(self) -> StreamingTransport:
        """
        Return a transport for `httpx2.AsyncClient` without a socket: every address is this provider.

        Raises:
            RuntimeError: Used outside of the block.
        """
        from assistant_events.testing.transport import StreamingTransport

        self._check()
        return StreamingTransport(self._provider.app)

    def add(self, fixtures: FixtureSource) -> None:
        """
        Add fixtures before the present ones, so that one test can have other answers than the rest.

        Raises:
            FixtureError: They are not valid.
        """
        self._run(lambda: self._provider.add(fixtures))

    def reset(self) -> None:
        """Forget all runs, requests and added fixtures, reset all counts, and end all streams."""
        self._run(self._provider.reset)

    def __enter__(self) -> Self:
        self._is_open = True
        return self

    def __exit__(self, *_exception: object) -> None:
        self._is_open = False
        serving, self._serving = self._serving, None
        if serving is not None:
            serving.stop()
        else:
            self._provider.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_exception: object) -> None:
        if self._serving is None:
            self.__exit__()
        else:
            # In a thread, so that clients in the loop see the end of their streams.
            await asyncio.to_thread(self.__exit__)

    def _run(self, function: Callable[[], _T]) -> _T:
        return function() if self._serving is None else self._serving.run(function)

    def _check(self) -> None:
        if not self._is_open:
            raise RuntimeError("the mock provider is closed: use it inside of `with mock_provider(…) as provider:`")
