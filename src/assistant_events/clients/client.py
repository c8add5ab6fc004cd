"""The client of a provider, for apps with an event loop."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final, Self, TypeAlias, TypedDict, cast
from weakref import WeakSet

from assistant_events.adapters.base import DecoderOptions
from assistant_events.adapters.encoded import Encoded
from assistant_events.adapters.hops import Prior
from assistant_events.adapters.json_fields import Fields, flag, plain_json
from assistant_events.clients.clock import Clock
from assistant_events.clients.hosts import proxy_secrets, service_url
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.recovery import RecoveryPolicy, RequestKind, RunSummary
from assistant_events.clients.report import StopResult
from assistant_events.clients.retry import GONE, RequestFailedError
from assistant_events.clients.run_driver import RunDriver, Start
from assistant_events.clients.run_stream import RunStream
from assistant_events.errors import LocalProtocolError
from assistant_events.extras import require
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.values import ErrorInfo, ErrorKind, RemoteRun
from assistant_events.values.arguments import check_object
from assistant_events.values.credentials import Secrets, secrets_of_headers

if TYPE_CHECKING:
    import httpx2

    from assistant_events.clients.http import Stream, Transport


Body: TypeAlias = Fields | Encoded
"""A request body in the provider's words, or what an encoder returned."""


class ClientOptions(TypedDict, total=False):
    """Options of a client, see `ProviderClient`."""

    base_url: str | None
    api_version: str | None
    provider: str | None
    headers: Mapping[str, str] | None
    policy: RecoveryPolicy | None
    http: httpx2.AsyncClient | None
    clock: Clock | None


_VERSION: Final = re.compile("/v[0-9]+[a-z0-9]*$")
"""A version at the end of an address, as the manuals of most servers have it."""

Target: TypeAlias = RunStream | AssistantMessage | str
"""A run: its stream, its message, or the provider's id of it."""


class ProviderClient:
    """
    Runs of one provider, over HTTP.

    `create`, `resume` and `recover` return a `RunStream` at once, and send nothing before it is read; `stop` and
    `status` send their requests at once. What the provider or the network does never raises.

    Use it as a context manager, which raises a `LocalProtocolError` where the key is missing, or call `aclose`: it
    keeps connections. One client serves any number of runs of one event loop.

    Args:
        api_key: Sent to the host of *base_url* only. `None` takes the environment variable of the provider, each time a
            run is started; `""` sends none, for servers that want none.

        base_url: Address of the service, with or without the version at its end. A server of this machine is reached
            without a proxy; for others the environment decides (`HTTPS_PROXY`, `NO_PROXY`, …).

        api_version: Version in the path, behind *base_url*; by default that of the provider, unless the address ends
            with one.

        provider: Who runs the model, where *base_url* is not the address of the provider that the API is named after.

        headers: Sent with each request, for example those that choose features of the provider that are not final.

        policy: Timeouts, retries and limits.

        http: Makes the requests, for proxies, certificates and tests; it is not closed. By default the client has two:
            `stop` and `status` never wait for runs.

        clock: For tests and mock providers.

    Raises:
        ValueError: *base_url* is not an HTTP URL, or has a user, a password, a query or a fragment; or *api_key* cannot
            be a header.

        ModuleNotFoundError: The extra `http` is not installed.
    """

    api: ClassVar[ProviderApi]

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        api_version: str | None = None,
        provider: str | None = None,
        headers: Mapping[str, str] | None = None,
        policy: RecoveryPolicy | None = None,
        http: httpx2.AsyncClient | None = None,
        clock: Clock | None = None,
    ) -> None:
        require("the client", {"http": ("httpx2", "stamina")})
        self.dialect, self.provider = self.api.dialect, self.api.provider if provider is None else provider
        for value, kind, expected in (
            (headers, Mapping, "headers: expected a mapping"),
            (policy, RecoveryPolicy, "policy: expected a RecoveryPolicy"),
            (clock, Clock, "clock: expected a Clock of assistant_events.clients"),
        ):
            if not isinstance(value, kind | None):
                raise TypeError(f"{expected}, got {type(value).__name__}")
        if http is not None:
            check_object(http, "aclose", "http: expected an httpx2.AsyncClient")
        self._headers = dict(headers or {})
        self._api_key = None if api_key is None else checked_key(api_key)
        self._base_url = _checked_url(self.api.base_url if base_url is None else base_url)
        version = "" if _VERSION.search(self._base_url) else self.api.version
        self._api_version = version if api_version is None else api_version
        self._policy = RecoveryPolicy() if policy is None else policy
        self._clock = Clock() if clock is None else clock
        self._given = http
        self._own: tuple[httpx2.AsyncClient, httpx2.AsyncClient] | None = None
        self._runs: WeakSet[RunStream] = WeakSet()
        self._streams: set[Stream] = set()
        self._closed = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._base_url!r}, api_version={self._api_version!r})"

    # -- runs

    def create(
        self, body: Body, message_id: str, *, prior: Prior = None, continues: AssistantMessage | None = None
    ) -> RunStream:
        """
        Ask for an answer.

        A body for a model is streamed, one for an agent is also sent to the background and stored, unless it sets these
        fields itself. The request is repeated only if it was never sent, or was refused as one too many (429); where
        the provider keeps no runs, also after the other HTTP errors that may pass (408, 498, 499, 5xx but 501). It is
        not where the error stays, such as a used-up quota.

        Args:
            body: The request body, or what `encode` returned.

            message_id: Id of the message that the answer becomes.

            prior: A failed message of this id: the answer replaces its content (`step.restarted`).

            continues: The message before, when it was paused: results of its calls are recorded there.

        Raises:
            TypeError: *body* is neither a mapping nor has one.

            LocalProtocolError: The key is missing, a proxy of the environment cannot be used, or the client is closed.
        """
        request = self._with_defaults(_body_of(body))
        return self._run(Start(kind=RequestKind.CREATE, body=request), message_id, request, prior, continues)

    def resume(self, target: RunStream | AssistantMessage, *, request: Fields | None = None) -> RunStream:
        """
        Follow the stream of an existing run from its start; what the message has already is left out.

        Args:
            target: The message, as it is stored, or a stream of this process that was cut or closed.

            request: The body that was sent, if it is known: it decides which calls are the app's.

        Raises:
            LocalProtocolError: The message is complete, or has no run; the key is missing; or the client is closed.
        """
        message, run, body = self._resumed(target, request)
        return self._run(Start(kind=RequestKind.REPLAY, run_id=run.id), message.id, body, message)

    def recover(
        self, target: RunStream | AssistantMessage, *, request: Fields | None = None, wait: bool = False
    ) -> RunStream:
        """
        Build a message from the document of its run, which is whole where streams are cut.

        While the run is in progress, the stream is empty and the message stays as it is.

        Args:
            target: See `resume`, also for errors.

            request: See `resume`.

            wait: Fetch the document until the run has ended, for as long as the policy allows.
        """
        message, run, body = self._resumed(target, request)
        return self._run(Start(kind=RequestKind.FETCH, run_id=run.id, wait=wait), message.id, body, message)

    async def stop(self, target: Target) -> StopResult:
        """
        Cancel a run, then delete it: a deletion alone leaves it running, and costing.

        An answer that ends with its connection is only closed. It waits for nothing but its own two requests. A stream
        of this client that follows the run, even one that hangs, ends as cancelled; as aborted, when the provider could
        not be informed.

        Raises:
            LocalProtocolError: The key is missing, or the client is closed.
        """
        transport = self._transport()
        run_id = self._run_id(target)
        result = StopResult(run_id=run_id, cancelled=False, deleted=False)
        try:
            if run_id is not None:
                result = await _stop(transport, run_id)
        finally:
            for run in list(self._runs):
                if run is target or (run_id is not None and run.report.run_id == run_id):
                    run.interrupt(_end_of(result, background=flag(run.request, "background") is True))
        return result

    async def status(self, target: Target) -> RunSummary | ErrorInfo:
        """
        Return the document of a run without its content, or why it cannot be fetched (404 when the run is gone).

        Raises:
            LocalProtocolError: The run has no id; the key is missing; or the client is closed.
        """
        run_id = self._run_id(target)
        if run_id is None:
            kept = "the run has no id yet" if self.api.keeps_runs else f"{self.provider} keeps no runs"
            raise LocalProtocolError(f"{kept}, so a document cannot be fetched")
        try:
            return (await self._transport().fetch(run_id, control=True)).run
        except RequestFailedError as failure:
            return failure.error

    async def aclose(self) -> None:
        """Close the connections. Runs that are being read end as if their connection was lost."""
        self._closed = True
        error = ErrorInfo(kind=ErrorKind.INTERRUPTED, message="the client was closed while it read", retryable=True)
        for run in list(self._runs):
            run.interrupt(error)
            await run.aclose()
        for stream in list(self._streams):
            await stream.aclose()
        for http in self._own or ():
            await http.aclose()

    def check_key(self) -> None:
        """Raise a `LocalProtocolError` where no key is known, as the start of the context manager does."""
        self._key()

    async def __aenter__(self) -> Self:
        self.check_key()
        self._clients()
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.aclose()

    # -- internals

    def _with_defaults(self, body: Fields) -> Fields:
        """Return a request body with the best settings of the API, and of the provider, for what it leaves open."""
        return self.api.with_defaults(body)

    def _run(
        self,
        start: Start,
        message_id: str,
        request: Fields,
        prior: Prior,
        continues: AssistantMessage | None = None,
    ) -> RunStream:
        transport = self._transport()
        options: DecoderOptions = {
            "request": request,
            "prior": prior,
            "continues": continues,
            "provider": self.provider,
        }
        decoder = self.api.decoder(message_id, secrets=transport.secrets, **options)
        run = RunStream(RunDriver(start, decoder, transport))
        self._runs.add(run)
        return run

    def _transport(self) -> Transport:
        from assistant_events.clients.http import Transport

        if self._closed:
            raise LocalProtocolError("the client is closed")
        http, control = self._clients()
        key = self._key()
        return Transport(
            http=http,
            control=control,
            api=self.api,
            url="/".join(filter(None, (self._base_url, self._api_version))),
            headers=self._headers,
            key=key,
            policy=self._policy,
            clock=self._clock,
            secrets=Secrets([key, *proxy_secrets(), *secrets_of_headers(self._headers.items())]),
            streams=self._streams,
        )

    def _clients(self) -> tuple[httpx2.AsyncClient, httpx2.AsyncClient]:
        from assistant_events.clients.http import http_client

        if self._given is not None:
            return self._given, self._given
        if self._own is None:
            self._own = http_client(self._base_url), http_client(self._base_url)
        return self._own

    def _key(self) -> str:
        if self._api_key is not None:
            return self._api_key
        variable = self.api.key_variable
        if found := os.environ.get(variable):
            return checked_key(found, variable)
        raise LocalProtocolError(f"no API key: pass api_key, or set {variable}")

    def _run_id(self, target: Target) -> str | None:
        if isinstance(target, RunStream):
            found = target.report.run_id
        elif isinstance(target, AssistantMessage):
            found = None if target.run is None else target.run.id
        elif isinstance(target, str):
            found = target or None
        else:
            raise TypeError(
                f"target: expected a RunStream, an AssistantMessage or the id of a run, got {type(target).__name__}"
            )
        return found if self.api.keeps_runs else None

    def _resumed(
        self, target: RunStream | AssistantMessage, request: Fields | None
    ) -> tuple[AssistantMessage, RemoteRun, Fields]:
        if isinstance(target, RunStream):
            message, request = target.message, target.request if request is None else request
        elif isinstance(target, AssistantMessage):
            message = target
        else:
            raise TypeError(f"target: expected a RunStream or an AssistantMessage, got {type(target).__name__}")
        if message is None:
            raise LocalProtocolError("the message has not begun, so it has no run to resume")
        if message.status is MessageStatus.COMPLETED:
            raise LocalProtocolError(f"message {message.id!r} has ended, so it cannot be resumed")
        if message.run is None or not self.api.keeps_runs:
            raise LocalProtocolError(
                f"message {message.id!r} has no run, so it cannot be resumed; ask for the answer again"
            )
        return message, message.run, self.api.request_of(message) if request is None else request


async def _stop(transport: Transport, run_id: str) -> StopResult:
    errors: list[ErrorInfo | None] = []
    for request in (transport.cancel, transport.delete):
        try:
            await request(run_id)
            errors.append(None)
        except RequestFailedError as failure:
            errors.append(failure.error)
    cancel_error, delete_error = errors
    gone = delete_error is not None and delete_error.status in GONE
    return StopResult(
        run_id=run_id,
        cancelled=cancel_error is None,
        deleted=delete_error is None or gone,
        cancel_error=cancel_error,
        delete_error=None if gone else delete_error,
    )


def _end_of(result: StopResult, *, background: bool) -> ErrorInfo:
    # A run in the foreground ends with its connection.
    if result.cancelled or result.deleted or (result.run_id is None and not background):
        return ErrorInfo(kind=ErrorKind.CANCELLED, message="the run was stopped")
    return ErrorInfo(
        kind=ErrorKind.ABORTED, message="the run was left; the provider could not be asked to stop it", retryable=True
    )


def _body_of(body: Body) -> Fields:
    plain = plain_json(body.body if isinstance(body, Encoded) else body)
    if not isinstance(plain, dict):
        raise TypeError(f"body: expected a mapping or an Encoded, got {type(body).__name__}")
    return cast("Fields", plain)  # the result of `plain_json` for a mapping


def checked_key(key: object, name: str = "api_key") -> str:
    """Return an API key without surrounding space. It raises `ValueError` for a key that cannot be a header."""
    if not isinstance(key, str):
        raise TypeError(f"api_key: expected str or None, got {type(key).__name__}")
    key = key.strip()
    if not (key.isascii() and (key.isprintable() or not key)) or " " in key:
        raise ValueError(f"{name}: expected printable ASCII characters without spaces")
    return key


def _checked_url(base_url: object) -> str:
    from assistant_events.clients.http import is_service_url

    if not isinstance(base_url, str):
        raise TypeError(f"base_url: expected str, got {type(base_url).__name__}")
    if service_url(base_url) is None or not is_service_url(base_url):
        # The value is not shown: it may hold a password.
        raise ValueError("base_url: expected an http or https URL without user, password, query and fragment")
    return base_url.rstrip("/")
