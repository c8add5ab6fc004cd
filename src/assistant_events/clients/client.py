"""The client for apps with an event loop."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Final, Protocol, Self, TypeAlias, cast, final
from urllib.request import getproxies
from weakref import WeakSet

import attrs
import httpx2

from assistant_events.adapters.base import Prior
from assistant_events.adapters.json_fields import Fields, flag, plain_json, string
from assistant_events.clients.clock import Clock
from assistant_events.clients.hosts import is_loopback, proxy_secrets, service_url
from assistant_events.clients.http import FetchedRun, RequestFailedError, Stream, Transport
from assistant_events.clients.recovery import RecoveryPolicy, read_document
from assistant_events.clients.run_driver import RunDriver
from assistant_events.clients.run_stream import RunStream
from assistant_events.clients.start import Create, FetchDocument, FollowStream, Start
from assistant_events.clients.tracking_decoder import TrackingDecoder
from assistant_events.errors import LocalProtocolError
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.values import ErrorInfo, ErrorKind
from assistant_events.values.credentials import Secrets

BASE_URL: Final = "https://generativelanguage.googleapis.com"

API_VERSION: Final = "v1beta"
"""
Which version is asked for. `v1` is what the official SDKs ask for since 3.0; the `gemini-*-latest` models, and all that
was seen of recovery so far, are on `v1beta`.
"""

KEY_VARIABLE: Final = "GEMINI_API_KEY"

_FOREGROUND_AGENTS: Final = "antigravity-preview-05"
"""Agents of this name refuse to be sent to the background (big-AGI, live, 2026-06)."""

_AGENTS: Final = ("antigravity", "code-mender", "deep-research")
"""What the names of agents begin with; anything else is a model."""


class HasBody(Protocol):
    """What an encoder returns."""

    @property
    def body(self) -> Fields:
        """The request body."""
        ...


Body: TypeAlias = Fields | HasBody
"""A request body in the provider's words, or what an encoder made of a transcript."""

Target: TypeAlias = RunStream | AssistantMessage | str
"""A run: its stream, the message that it becomes, or the provider's id of it."""


@final
@attrs.frozen(kw_only=True)
class StopResult:
    """What came of stopping a run."""

    run_id: str | None
    """`None` when the provider had told none yet: then there was nothing to cancel."""

    cancelled: bool
    """Whether the provider took the cancellation."""

    deleted: bool
    """Whether what was stored is gone, or was never there."""

    cancel_error: ErrorInfo | None = None
    """Why it did not take it. The Developer API answered 404 to every cancellation for months of 2026."""

    delete_error: ErrorInfo | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is left at the provider. A run that could be deleted and not cancelled may still cost."""
        return self.deleted


@final
@attrs.frozen(kw_only=True)
class RunStatus:
    """What the provider says of a run."""

    run_id: str

    status: str | None = None
    """The provider's word; `None` when it could not be asked, see `error`."""

    created: datetime | None = None
    updated: datetime | None = None
    outputs: int = 0
    """How many steps were generated."""

    zombie: bool = False
    """Whether the run is dead though it is said to be in progress."""

    gone: bool = False
    """Whether the provider does not have it any more."""

    error: ErrorInfo | None = None
    """Why it could not be asked; `None` when it could."""


@final
class GeminiInteractions:
    """
    Runs of the Gemini Interactions API, over HTTP.

    `create`, `resume` and `recover` return a `RunStream` at once and send nothing before it is read; `stop` and
    `status` ask at once. What the provider or the network does is never raised.

    Use it as a context manager, or call `aclose`: it keeps connections. One client serves any number of runs of one
    event loop.

    Args:
        api_key: Sent as `x-goog-api-key`, to no other host than that of *base_url*. `None` takes `GEMINI_API_KEY` from
            the environment, each time a run begins; an empty one sends none.

        base_url: Of the service, without the version. A server of this machine is reached directly; for others the
            proxy variables of the environment hold (`HTTPS_PROXY`, `NO_PROXY`, …).

        api_version: See `API_VERSION`.

        policy: How long it waits for what, and how often it tries.

        http: Makes the requests, for proxies, certificates and tests; it is not closed. By default the client has two:
            one for runs, as many as there are, and one that Stop never has to wait for.

        clock: See `Clock`.

    Raises:
        ValueError: *base_url* is not an HTTP URL, or has a user, a password, a query or a fragment; or *api_key* cannot
            be a header.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str = BASE_URL,
        api_version: str = API_VERSION,
        policy: RecoveryPolicy | None = None,
        http: httpx2.AsyncClient | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._api_key = None if api_key is None else _checked_key(api_key)
        self._base_url = _checked_url(base_url)
        self._api_version = api_version
        self._policy = RecoveryPolicy() if policy is None else policy
        self._clock = Clock() if clock is None else clock
        self._given = http
        self._own: tuple[httpx2.AsyncClient, httpx2.AsyncClient] | None = None
        self._runs: WeakSet[RunStream] = WeakSet()
        self._streams: set[Stream] = set()
        self._closed = False

    def __repr__(self) -> str:
        return f"GeminiInteractions({self._base_url!r}, api_version={self._api_version!r})"

    # -- runs

    def create(
        self,
        body: Body,
        message_id: str,
        *,
        prior: Prior = None,
        fallback: Callable[[], Body] | None = None,
    ) -> RunStream:
        """
        Begin a run.

        A body for a model is streamed, one for an agent is also sent to the background and stored, as far as it does
        not say otherwise. The request is made again only if it was never sent, or was refused as one too many (429).

        Args:
            body: The request body, or what `encode` returned.

            message_id: Id of the message that the answer becomes.

            prior: A message of this id that failed: the answer takes its place (`step.restarted`).

            fallback: Gives the body to send when the provider has forgotten the interaction before this one (404 once
                it has expired, 501 for some that hold built-in tools), once:
                `lambda: encode(transcript, body, mode="full")`.

        Raises:
            TypeError: *body* is neither a mapping nor has one.

            LocalProtocolError: There is no key, a proxy of the environment cannot be used, or the client is closed.
        """
        request = with_defaults(_body_of(body))
        start = Create(body=request, fallback=None if fallback is None else lambda: with_defaults(_body_of(fallback())))
        return self._run(start, message_id, request, prior)

    def resume(self, target: RunStream | AssistantMessage, *, request: Fields | None = None) -> RunStream:
        """
        Follow the stream of a run that exists, from its start; what the message has already is left out.

        Args:
            target: The message, as it is stored, or a stream of this process that was cut or closed.

            request: The body that was sent, if it is still known: it says whose the calls are.

        Raises:
            LocalProtocolError: The message has ended, or has no run; there is no key; or the client is closed.
        """
        message, body = _message_of(target, request)
        return self._run(FollowStream(run_id=_run_id(message)), message.id, body, message)

    def recover(
        self, target: RunStream | AssistantMessage, *, request: Fields | None = None, wait: bool = False
    ) -> RunStream:
        """
        Take a run from its document, which is whole where streams are cut.

        While the run is in progress nothing is given, the message stays as it is, and `report.outcome` says `running`.

        Args:
            target: See `resume`.

            request: See `resume`.

            wait: Ask until the run has ended, for as long as the policy says.

        Raises:
            LocalProtocolError: See `resume`.
        """
        message, body = _message_of(target, request)
        return self._run(FetchDocument(run_id=_run_id(message), wait=wait), message.id, body, message)

    async def stop(self, target: Target) -> StopResult:
        """
        Cancel a run, then delete it: a deletion alone leaves it running, and costing.

        It waits for nothing but its own two requests. A stream of this client that follows the run, even one that
        hangs, ends as cancelled; as aborted, when the provider could not be told.

        Raises:
            LocalProtocolError: There is no key, or the client is closed.
        """
        transport = self._transport()
        run_id = _id_of(target)
        stopped = StopResult(run_id=run_id, cancelled=False, deleted=False)
        try:
            if run_id is not None:
                stopped = await _stop(transport, run_id)
        finally:
            self._end(target, run_id, stopped)
        return stopped

    async def status(self, target: Target) -> RunStatus:
        """
        Ask how a run stands.

        Raises:
            LocalProtocolError: The run has no id; there is no key; or the client is closed.
        """
        run_id = _id_of(target)
        if run_id is None:
            raise LocalProtocolError("the run has no id, so the provider cannot be asked for it")
        try:
            fetched = await self._transport().fetch(run_id, control=True)
        except RequestFailedError as failure:
            return RunStatus(run_id=run_id, gone=failure.status == 404, error=failure.error)
        return self._status_of(run_id, fetched)

    async def aclose(self) -> None:
        """Close the connections. Runs that are read meanwhile end as if their connection was lost."""
        self._closed = True
        error = ErrorInfo(kind=ErrorKind.INTERRUPTED, message="the client was closed while it read", retryable=True)
        for run in list(self._runs):
            run.interrupt(error)
            await run.aclose()
        for stream in list(self._streams):
            await stream.aclose()
        own, self._own = self._own, None
        for http in own or ():
            await http.aclose()

    async def __aenter__(self) -> Self:
        self._clients()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    # -- inside

    def _run(self, start: Start, message_id: str, request: Fields, prior: Prior) -> RunStream:
        transport = self._transport()
        decoder = TrackingDecoder(message_id, request=request, prior=prior, secrets=transport.secrets)
        course = RunDriver(start, decoder, transport, self._policy, self._clock)
        run = RunStream(course, message_id)
        self._runs.add(run)
        return run

    def _transport(self) -> Transport:
        if self._closed:
            raise LocalProtocolError("the client is closed")
        http, control = self._clients()
        url = f"{self._base_url}/{self._api_version}/interactions"
        key = self._key()
        return Transport(
            http,
            control,
            url=url,
            key=key,
            policy=self._policy,
            clock=self._clock,
            secrets=Secrets([key, *proxy_secrets()]),
            streams=self._streams,
        )

    def _clients(self) -> tuple[httpx2.AsyncClient, httpx2.AsyncClient]:
        if self._given is not None:
            return self._given, self._given
        if self._own is None:
            self._own = _http_client(self._base_url), _http_client(self._base_url)
        return self._own

    def _key(self) -> str:
        if self._api_key is not None:
            return self._api_key
        found = os.environ.get(KEY_VARIABLE)
        if not found:
            raise LocalProtocolError(f"there is no API key: pass api_key, or set {KEY_VARIABLE}")
        return _checked_key(found, KEY_VARIABLE)

    def _end(self, target: Target, run_id: str | None, stopped: StopResult) -> None:
        for run in list(self._runs):
            if run is target or (run_id is not None and run.report.run_id == run_id):
                run.interrupt(_ending(stopped, background=flag(run.request, "background") is True))

    def _status_of(self, run_id: str, fetched: FetchedRun) -> RunStatus:
        document = read_document(fetched.resource)
        return RunStatus(
            run_id=run_id,
            status=document.status,
            created=document.created,
            updated=document.updated,
            outputs=document.outputs,
            zombie=document.is_zombie(fetched.date or self._clock.now()),
        )


def with_defaults(body: Fields) -> Fields:
    """
    Return *body* with what is best for it where it says nothing.

    A model is streamed. An agent works for longer than a connection lasts, so it is also sent to the background and
    stored; without being stored it could not be.
    """
    made = {"stream": True, **body}
    agent = string(body, "agent") or ""
    if agent and not agent.startswith(_FOREGROUND_AGENTS) and flag(body, "store") is not False:
        made = {"background": True, "store": True, **made}
    return made


async def _stop(transport: Transport, run_id: str) -> StopResult:
    cancel_error = await _tried(lambda: transport.cancel(run_id))
    delete_error = await _tried(lambda: transport.delete(run_id))
    gone = delete_error is not None and delete_error.status == 404
    return StopResult(
        run_id=run_id,
        cancelled=cancel_error is None,
        deleted=delete_error is None or gone,
        cancel_error=cancel_error,
        delete_error=None if gone else delete_error,
    )


async def _tried(request: Callable[[], Awaitable[object]]) -> ErrorInfo | None:
    try:
        await request()
    except RequestFailedError as failure:
        return failure.error
    return None


def _ending(stopped: StopResult, *, background: bool) -> ErrorInfo:
    # A run in the foreground ends with its connection.
    if stopped.cancelled or stopped.deleted or (stopped.run_id is None and not background):
        return ErrorInfo(kind=ErrorKind.CANCELLED, message="the run was stopped")
    return ErrorInfo(
        kind=ErrorKind.ABORTED, message="the run was left; the provider could not be told to stop it", retryable=True
    )


def _body_of(body: Body) -> Fields:
    fields: object = body if isinstance(body, Mapping) else getattr(body, "body", None)
    plain = plain_json(fields)
    if not isinstance(plain, dict):
        raise TypeError(f"body: expected a mapping, or something with a body, got {type(body).__name__}")
    return cast("Fields", plain)  # what `plain_json` makes of a mapping


def _message_of(target: RunStream | AssistantMessage, request: Fields | None) -> tuple[AssistantMessage, Fields]:
    if isinstance(target, RunStream):
        message = target.message
        request = target.request if request is None else request
        if message is None:
            raise LocalProtocolError(f"message {target.message_id!r} has not begun, so there is no run to take up")
    elif isinstance(target, AssistantMessage):
        message = target
    else:
        raise TypeError(f"target: expected a RunStream or an AssistantMessage, got {type(target).__name__}")
    if message.status is MessageStatus.COMPLETED:
        raise LocalProtocolError(f"message {message.id!r} has ended, so there is nothing to take up")
    if message.run is None:
        raise LocalProtocolError(f"message {message.id!r} has no run, so there is nothing to take up")
    return message, _request_of(message) if request is None else request


def _request_of(message: AssistantMessage) -> Fields:
    """Return what can be said of the request of a message that was stored."""
    name = message.origin.model
    sent: dict[str, object] = {"store": True, "background": True} if message.run and message.run.resumable else {}
    if name:
        sent["agent" if name.startswith(_AGENTS) else "model"] = name
    return sent


def _run_id(message: AssistantMessage) -> str:
    assert message.run is not None, "checked by whoever asks"
    return message.run.id


def _id_of(target: Target) -> str | None:
    if isinstance(target, RunStream):
        return target.report.run_id
    if isinstance(target, AssistantMessage):
        return None if target.run is None else target.run.id
    if isinstance(target, str):
        return target or None
    raise TypeError(
        f"target: expected a RunStream, an AssistantMessage or the id of a run, got {type(target).__name__}"
    )


def _checked_key(key: object, name: str = "api_key") -> str:
    if not isinstance(key, str):
        raise TypeError(f"api_key: expected str or None, got {type(key).__name__}")
    key = key.strip()
    if not (key.isascii() and (key.isprintable() or not key)) or " " in key:
        raise ValueError(f"{name}: expected printable ASCII characters without spaces")
    return key


def _checked_url(base_url: object) -> str:
    if not isinstance(base_url, str):
        raise TypeError(f"base_url: expected str, got {type(base_url).__name__}")
    try:
        valid = service_url(base_url) is not None and bool(httpx2.URL(base_url).host)
    except httpx2.InvalidURL:
        valid = False
    if not valid:
        # The value is not shown: it may hold a password.
        raise ValueError("base_url: expected an http or https URL without user, password, query and fragment")
    return base_url.rstrip("/")


def _http_client(base_url: str) -> httpx2.AsyncClient:
    """
    Return a client for a service.

    Raises:
        LocalProtocolError: A proxy of the environment cannot be used.
    """
    # A run holds its connection for as long as it lasts, so that no number of them is the right limit.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    if is_loopback(httpx2.URL(base_url).host):
        # A client that is given a transport does not read the proxy variables.
        return httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(limits=limits))
    try:
        return httpx2.AsyncClient(limits=limits)
    except ImportError:
        socks = [name for name, url in getproxies().items() if url.startswith("socks")]
        variables = " and ".join(sorted(f"{name.upper()}_PROXY" for name in socks))
        message = f"{variables} names a SOCKS proxy, which needs socksio: pip install 'httpx2[socks]', or unset it"
        raise LocalProtocolError(message) from None
    except (ValueError, httpx2.InvalidURL):
        # Not from the exception: it may show the password.
        message = "a proxy variable of the environment is not a proxy URL: expected http://host:port"
        raise LocalProtocolError(message) from None


__all__ = [
    "API_VERSION",
    "BASE_URL",
    "Body",
    "GeminiInteractions",
    "HasBody",
    "RunStatus",
    "StopResult",
    "Target",
    "with_defaults",
]
