"""
Passes requests on to a real endpoint and writes what it answers as fixtures, to be given again without it.

The client gets every byte as the endpoint sent it, and when it did. Of a request only what a fixture matches on is
written: no header, no key, no cookie. Signatures are, since the next turn needs them.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from json import dumps
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import Any, Final, final
from urllib.parse import quote
from urllib.request import getproxies, proxy_bypass

import attrs
import httpx2
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from assistant_events.adapters.framing import Sse
from assistant_events.adapters.gemini_interactions import decode_resource, emit_resource, vocabulary
from assistant_events.adapters.gemini_interactions.decoder import GeminiInteractionsDecoder
from assistant_events.clients.hosts import is_loopback, proxy_secrets, service_url
from assistant_events.errors import FixtureError, JsonError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage
from assistant_events.mock.answers import Answer
from assistant_events.mock.api_errors import ApiError
from assistant_events.mock.fixture_format import fixture_document
from assistant_events.mock.fixtures import Fixture, HttpError, StreamError
from assistant_events.mock.form import load_fixtures
from assistant_events.mock.frames import default_status
from assistant_events.mock.json_reader import read_file_text
from assistant_events.mock.request_facts import Match, read_request
from assistant_events.mock.requests import secrets_of_request
from assistant_events.reducer import fold
from assistant_events.values import ErrorKind, read_json
from assistant_events.values.credentials import Secrets

_PATH: Final = re.compile(r"/interactions(?:/([^/:]+))?/?$")

# Of one connection only (RFC 9110, 7.6.1), or made anew for the next.
_OWN_HEADERS: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_KEPT_HEADERS: Final = ("retry-after", "retry-after-ms")
_KEPT_FIELDS: Final = ("environment_id", "errors")
_UNFINISHED: Final = ("in_progress", "queued")
_ENDS: Final = frozenset({"interaction.completed", "interaction.complete"})


@final
class RecordingProxy:
    """
    An ASGI app that asks another endpoint, and records.

    Args:
        upstream: Address of the endpoint without version and path, for example
            `https://generativelanguage.googleapis.com`.

        path: The file that is written, after each answer, as a whole or not at all. Fixtures that it holds stay.

        note: Is told, in one line, what was recorded and what could not be.

        transport: How the endpoint is reached; over the network by default.

    Raises:
        FixtureError: The file holds something else than fixtures of our own form.

        ValueError: *upstream* is no address, or there is no folder for the file.
    """

    def __init__(
        self,
        upstream: str,
        path: Path,
        *,
        note: Callable[[str], None] = lambda text: None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._upstream = _origin(upstream)
        self.upstream = str(self._upstream).rstrip("/")
        self._secrets = Secrets(proxy_secrets())
        self._tape = Tape(path, self._secrets)
        self._tell = note
        self._transport = transport
        if transport is None:
            self._make_transport()

    def close(self) -> None:
        """Do nothing: what is under way ends with its connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask the endpoint what was asked here, and give its answer."""
        request = Request(scope, receive)
        self._secrets.add(secrets_of_request(request))
        body = await request.body()
        try:
            asked = self._request(request, body)
        except (httpx2.InvalidURL, ValueError):
            await ApiError(400, "the target of the request is not a path").response()(scope, receive, send)
            return
        pieces: list[bytes] = []
        # Without a client of httpx2: it writes every URL to its log, the key in the query included.
        async with self._transport or self._make_transport() as transport:
            try:
                response = await transport.handle_async_request(asked)
            except httpx2.TransportError as error:
                refusal = ApiError(502, f"{self.upstream} cannot be reached: {type(error).__name__}")
                await refusal.response()(scope, receive, send)
                return
            try:
                await _pass_on(response, send, pieces)
            except httpx2.TransportError as error:
                is_stream = _is_stream(response)
                lost = "" if is_stream else "not recorded, "
                self._note(f"{lost}the endpoint broke off: {type(error).__name__}")
                if is_stream:
                    self._take(request, body, response, b"".join(pieces))
                await _break_off(receive, send)
                return
        self._take(request, body, response, b"".join(pieces))

    def _request(self, request: Request, body: bytes) -> httpx2.Request:
        """
        Return the request for the endpoint. Its scheme, host and port are those of the endpoint whatever was asked.

        Raises:
            InvalidURL: The target is not a URL.

            ValueError: The target is not a path, for example `@host/`, `http://host/`, or that of CONNECT.
        """
        # As the client has quoted it: an id may hold what would be another path.
        path: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
        query: bytes = request.scope["query_string"]
        if request.method == "CONNECT" or not path.startswith(b"/"):
            raise ValueError("the target is not a path")
        target = self._upstream.raw_path.rstrip(b"/") + path + (b"?" + query if query else b"")
        headers = [pair for pair in request.headers.raw if pair[0].decode("latin-1") not in _OWN_HEADERS]
        headers.append((b"accept-encoding", b"identity"))
        return httpx2.Request(request.method, self._upstream.copy_with(raw_path=target), headers=headers, content=body)

    def _make_transport(self) -> httpx2.AsyncBaseTransport:
        """
        Return a transport over the network: through the proxy of the environment, but to this machine without one.

        Raises:
            ValueError: The proxy cannot be used. The text does not show it: it may hold a password.
        """
        try:
            return httpx2.AsyncHTTPTransport(proxy=_proxy_for(self._upstream))
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            raise ValueError(f"the proxy that the environment names cannot be used: {type(error).__name__}") from None

    def _note(self, text: str) -> None:
        self._tell(self._secrets.text(text))

    def _take(self, request: Request, body: bytes, response: httpx2.Response, data: bytes) -> None:
        found = _PATH.search(request.scope["path"])
        if found is None or "content-encoding" in response.headers:
            return
        is_stream = _is_stream(response)
        try:
            if request.method == "POST" and found[1] is None:
                said = self._tape.created(body, response.status_code, response.headers, data, is_stream=is_stream)
            elif request.method == "GET" and found[1] is not None and response.status_code == 200:
                after = request.query_params.get("last_event_id") if is_stream else None
                said = self._tape.fetched(found[1], data, is_stream=is_stream, after=after)
            else:
                return
        except OSError as error:
            said = f"not recorded, the file cannot be written: {error.strerror or type(error).__name__}"
        self._note(said)


def _origin(upstream: str) -> httpx2.URL:
    if service_url(upstream) is not None:
        with suppress(httpx2.InvalidURL):
            return httpx2.URL(upstream)
    raise ValueError("upstream: expected an address such as https://generativelanguage.googleapis.com")


def _proxy_for(url: httpx2.URL) -> str | None:
    """Return the proxy that the environment names for *url*; `None` without one, and for this machine."""
    if is_loopback(url.host) or proxy_bypass(url.host):
        return None
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _is_stream(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").startswith("text/event-stream")


async def _pass_on(response: httpx2.Response, send: Send, pieces: list[bytes]) -> None:
    """Give an answer to the client, piece by piece, and add each to *pieces*."""
    headers = [(name.lower(), value) for name, value in response.headers.raw]
    headers = [pair for pair in headers if pair[0].decode() not in _OWN_HEADERS - {"content-length"}]
    # Servers cannot send other codes than those of HTTP, which end with 599.
    status = response.status_code if response.status_code < 600 else 502
    try:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        async for piece in response.aiter_raw():
            pieces.append(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        await response.aclose()


async def _break_off(receive: Receive, send: Send) -> None:
    """Break the connection to the client as the one to the endpoint broke."""
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is None:
        raise ConnectionResetError("the endpoint broke off")
    transport.abort()
    while (await receive())["type"] != "http.disconnect":
        pass


@final
@attrs.define
class _Pending:
    """A background run whose answer is still to come."""

    match: Match
    polls: int = 0
    tellings: list[_Telling] = attrs.Factory(list)
    """Its streams so far, newest first."""


@final
class _Telling:
    """A stream of a run from its start, in as many pieces as connections that it took."""

    def __init__(self, data: bytes) -> None:
        self.pieces: list[bytes] = []
        self.cursors: set[object] = set()
        self.stream_error: StreamError | None = None
        self._is_over = False
        self.add(data)

    def add(self, data: bytes) -> None:
        """Go on with what another connection brought."""
        self.pieces.append(data)
        framing = Sse()
        for payloads in (framing.feed(data), framing.close()):
            for payload in payloads:
                self._read(framing.name(payload), payload)

    @property
    def events(self) -> list[Event]:
        """The events of the library that it makes."""
        decoder = GeminiInteractionsDecoder("recorded")
        events: list[Event] = []
        for number, piece in enumerate(self.pieces):
            if number:
                decoder.reconnect()
            events += decoder.feed(piece)
        return [*events, *decoder.close()]

    def _read(self, name: str | None, payload: bytes) -> None:
        try:
            event = read_json(payload)
        except JsonError:
            return
        if not isinstance(event, Mapping):
            return
        if isinstance(event.get("event_id"), str):
            self.cursors.add(event["event_id"])
        kind, interaction, error = event.get("event_type", name), event.get("interaction"), event.get("error")
        if kind in _ENDS and isinstance(interaction, Mapping):
            self._is_over = interaction.get("status") != "requires_continuation"
        if kind != "error" or self._is_over or not isinstance(error, Mapping):
            return
        code, message = _code_of(error), error.get("message")
        if code or message:
            self._is_over = True
            self.stream_error = StreamError(
                code=StreamError().code if code is None else code, message=message if isinstance(message, str) else ""
            )


@final
class Tape:
    """
    What was recorded, and the file that holds it.

    Args:
        path: The file.

        secrets: What is written nowhere, though an endpoint may say it in an answer.
    """

    def __init__(self, path: Path, secrets: Secrets) -> None:
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.parent}")
        self._path = path
        self._secrets = secrets
        self._fixtures: list[Fixture] = _kept(path)
        self._pending: dict[str, _Pending] = {}

    def created(self, body: bytes, status: int, headers: Mapping[str, str], data: bytes, *, is_stream: bool) -> str:
        """Take down what was answered to a create request, and return what became of it."""
        try:
            given = read_json(body)
        except JsonError:
            given = None
        if not isinstance(given, Mapping):
            return "not recorded: the request is no JSON object"
        match = match_of(given)
        if 200 != status < 400 or status > 599:
            return f"not recorded, the endpoint answered HTTP {status}: {match.summary}"
        if status != 200:
            return self._add(match, Answer(http_error=_http_error_of(status, headers, data)))
        telling = _Telling(data) if is_stream else None
        answer, interaction_id = _answer_of_document(data) if telling is None else _answer_of_stream(telling)
        if answer is not None:
            return self._add(match, answer)
        if interaction_id and given.get("background") is True:
            self._pending[interaction_id] = _Pending(match, tellings=[] if telling is None else [telling])
            return f"recorded when it is done: {match.summary}"
        return f"not recorded, the answer has no end: {match.summary}"

    def fetched(self, interaction_id: str, data: bytes, *, is_stream: bool, after: str | None = None) -> str:
        """
        Take down what a background run has come to, if it is one that waits for that.

        Args:
            interaction_id: Of the run.

            data: The document, or the stream.

            is_stream: Whether it is a stream.

            after: The cursor behind which the stream goes on; `None` when it is from the start. What had come before it
                was seen here or is missing, and half an answer is not recorded.
        """
        pending = self._pending.get(interaction_id)
        if pending is None:
            return f"not recorded: interaction {interaction_id!r} does not wait for its answer"
        if is_stream:
            telling = _gone_on(pending.tellings, data, after)
            if telling is None:
                return f"not recorded, what came before this cursor is missing: {pending.match.summary}"
            answer, _ = _answer_of_stream(telling)
        else:
            answer, _ = _answer_of_document(data)
        if answer is None:
            pending.polls += not is_stream
            return f"recorded when it is done: {pending.match.summary}"
        del self._pending[interaction_id]
        return self._add(pending.match, attrs.evolve(answer, polls_in_progress=pending.polls))

    def _add(self, match: Match, answer: Answer) -> str:
        ids = {answer.id for fixture in self._fixtures for answer in fixture.answers}
        if answer.id in ids:
            answer = attrs.evolve(answer, id=None)
        try:
            load_fixtures(self._document([Fixture(match=match, answers=(answer,))]))
        except FixtureError as error:
            return f"not recorded, no fixture can give {error.field}, {error.reason}: {match.summary}"
        place = next((at for at, fixture in enumerate(self._fixtures) if fixture.match == match), None)
        if place is None:
            self._fixtures.append(Fixture(match=match, answers=(answer,)))
        else:
            before = self._fixtures[place]
            self._fixtures[place] = attrs.evolve(before, answers=(*before.answers, answer))
        self._write()
        return f"recorded: {match.summary}"

    def _document(self, fixtures: Sequence[Fixture]) -> Any:
        # Any: plain JSON.
        return self._secrets.json(fixture_document(fixtures))

    def _write(self) -> None:
        document = self._document(self._fixtures)
        text = dumps(document, ensure_ascii=False, indent=2)
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            text = dumps(document, indent=2)
        # In the same folder, so that it takes the place of the old one in one move, and may be read by the same people.
        made = self._path.with_name(f".{self._path.name}.{token_hex(8)}")
        try:
            with made.open("xb") as file:
                file.write(f"{text}\n".encode())
            with suppress(FileNotFoundError):
                made.chmod(S_IMODE(self._path.stat().st_mode))
            made.replace(self._path)
        finally:
            made.unlink(missing_ok=True)


def match_of(body: Mapping[str, Any]) -> Match:
    """
    Return what matches a create request, and no other of its conversation.

    One that names a previous interaction is known by that; one that sends the whole conversation by its turn.
    """
    facts = read_request(body)
    previous = facts.fields["previous_interaction_id"]
    return Match(
        user_text=facts.user_text,
        model=facts.model,
        agent=facts.fields["agent"],
        call_id=facts.call_ids[-1] if facts.call_ids else None,
        previous_interaction_id=previous,
        continuation_token=facts.fields["continuation_token"] or None,
        turn=None if previous else facts.turn,
    )


def _gone_on(tellings: list[_Telling], data: bytes, after: str | None) -> _Telling | None:
    """Return the telling that a stream begins or goes on with, among *tellings* from then on; `None` for neither."""
    if not after:
        tellings.insert(0, _Telling(data))
        return tellings[0]
    telling = next((telling for telling in tellings if after in telling.cursors), None)
    if telling is not None:
        telling.add(data)
    return telling


def _answer_of_document(data: bytes) -> tuple[Answer | None, str]:
    """Return an answer as a fixture gives it, None when it has not come to its end; and the id of the interaction."""
    try:
        document = read_json(data)
    except JsonError:
        return None, ""
    if not isinstance(document, Mapping):
        return None, ""
    if document.get("status") in _UNFINISHED:
        return None, str(document.get("id", ""))
    return _answer_of_events(decode_resource(document, "recorded"))


def _answer_of_stream(telling: _Telling) -> tuple[Answer | None, str]:
    """Return the same of a stream. One that an `error` event has ended is given again with that event."""
    answer, interaction_id = _answer_of_events(telling.events)
    if answer is None or telling.stream_error is None:
        return answer, interaction_id
    more = {name: value for name, value in answer.more.items() if name != "errors"}
    return attrs.evolve(answer, status=None, more=more, stream_error=telling.stream_error), interaction_id


def _answer_of_events(events: Sequence[Event]) -> tuple[Answer | None, str]:
    messages = [message for message in fold(events).messages if isinstance(message, AssistantMessage)]
    resources = [emit_resource(message) for message in messages]
    interaction_id = next((resource["id"] for resource in resources if resource.get("id")), "")
    if not resources or (messages[-1].error is not None and messages[-1].error.kind == ErrorKind.INTERRUPTED):
        return None, interaction_id
    last = resources[-1]
    answer = Answer(
        id=interaction_id or None,
        steps=[step for resource in resources for step in resource.get("steps", ())],
        status=last.get("status"),
        usage=last.get("usage"),
        more={name: last[name] for name in _KEPT_FIELDS if name in last},
        continuation_token=last.get("continuation_token"),
    )
    usual = default_status(attrs.evolve(answer, status=None))
    return (attrs.evolve(answer, status=None) if usual == answer.status else answer), interaction_id


def _http_error_of(status: int, headers: Mapping[str, str], data: bytes) -> HttpError:
    # The code is read here: a number stands beside a status there, of which `read_http` returns the better word.
    try:
        document = read_json(data)
    except JsonError:
        document = None
    first = document[0] if isinstance(document, list) and document else document
    error = first.get("error") if isinstance(first, Mapping) else None
    return HttpError(
        status=status,
        code=_code_of(error) if isinstance(error, Mapping) else None,
        message=vocabulary.ERRORS.read_http(status, headers, data).message,
        headers=tuple([(name, headers[name]) for name in _KEPT_HEADERS if name in headers]),
    )


def _code_of(error: Mapping[str, Any]) -> str | int | None:
    code = error.get("code")
    return code if isinstance(code, (str, int)) and not isinstance(code, bool) else None


def _kept(path: Path) -> list[Fixture]:
    if not path.exists() or not path.stat().st_size:
        return []
    document = read_file_text(path.read_bytes(), str(path))
    if not isinstance(document, Mapping) or "version" not in document:
        raise FixtureError(str(path), "", "version", "is missing: recordings are added to files of our own form only")
    return list(load_fixtures(path))
