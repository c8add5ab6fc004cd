"""
Passes requests on to a real endpoint and writes what it answers as fixtures, to be given again without it.

The client gets every byte as the endpoint sent it, and when it did. Of a request only what a fixture matches on is
written: no header, no key, no cookie. Signatures are, since the next turn needs them.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from json import dumps
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final, final
from urllib.parse import quote, urlsplit

import attrs
import httpx2
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from assistant_events.adapters.gemini_interactions import decode_resource, emit_resource, http_error
from assistant_events.adapters.gemini_interactions.decoder import GeminiInteractionsDecoder
from assistant_events.errors import FixtureError, JsonError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage
from assistant_events.reducer import fold
from assistant_events.server.mock.answering import default_status
from assistant_events.server.mock.asking import MASK
from assistant_events.server.mock.entries import read_file_text
from assistant_events.server.mock.fixtures import Answer, Fixture, HttpError, Match
from assistant_events.server.mock.loading import fixture_document, load_fixtures
from assistant_events.server.mock.matching import asked
from assistant_events.server.mock.refusals import Refusal
from assistant_events.values import ErrorKind, read_json

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
_KEPT_FIELDS: Final = ("environment_id", "errors", "service_tier")
_UNFINISHED: Final = ("in_progress", "queued")

_SHORTEST_KEY: Final = 16
"""Real keys have 39 characters. What is shorter is the placeholder of a test, which may be a word of the answer too."""


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
        parts = urlsplit(upstream)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.username or parts.query:
            raise ValueError("upstream: expected an address such as https://generativelanguage.googleapis.com")
        self.upstream = upstream.rstrip("/")
        self._tape = Tape(path)
        self._note = note
        self._transport = transport

    def close(self) -> None:
        """Do nothing: what is under way ends with its connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask the endpoint what was asked here, and give its answer."""
        request = Request(scope, receive)
        body = await request.body()
        async with httpx2.AsyncClient(transport=self._transport, timeout=None, follow_redirects=False) as client:
            query = scope["query_string"].decode("latin-1")
            # As the client has quoted it: an id may hold what would be another path.
            path = (scope.get("raw_path") or quote(request.url.path).encode()).decode("latin-1")
            url = f"{self.upstream}{path}{f'?{query}' if query else ''}"
            headers = [(name, value) for name, value in request.headers.items() if name not in _OWN_HEADERS]
            headers.append(("accept-encoding", "identity"))
            try:
                response = await client.send(
                    client.build_request(request.method, url, headers=headers, content=body), stream=True
                )
            except httpx2.TransportError as error:
                refusal = Refusal(502, f"{self.upstream} cannot be reached: {type(error).__name__}")
                await refusal.response()(scope, receive, send)
                return
            try:
                data = await _passed_on(response, send)
            except httpx2.TransportError as error:
                self._note(f"not recorded, the endpoint broke off: {type(error).__name__}")
                await _break_off(receive, send)
                return
        self._take(request, body, response, data)

    def _take(self, request: Request, body: bytes, response: httpx2.Response, data: bytes) -> None:
        found = _PATH.search(request.url.path)
        if found is None or "content-encoding" in response.headers:
            return
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        self._tape.hide(_keys_of(request))
        if request.method == "POST" and found[1] is None:
            said = self._tape.created(body, response.status_code, response.headers, data, is_stream=is_stream)
        elif request.method == "GET" and found[1] is not None and response.status_code == 200:
            said = self._tape.fetched(found[1], data, is_stream=is_stream)
        else:
            return
        self._note(said)


def _keys_of(request: Request) -> list[str]:
    """Return what a request is let in with."""
    headers, query = request.headers, request.query_params
    scheme, _, token = headers.get("authorization", "").partition(" ")
    given = (headers.get("x-goog-api-key"), token or scheme, query.get("key"), query.get("access_token"))
    return [key for key in given if key]


async def _passed_on(response: httpx2.Response, send: Send) -> bytes:
    """Give an answer to the client, piece by piece, and return it."""
    headers = [(name.lower(), value) for name, value in response.headers.raw]
    headers = [pair for pair in headers if pair[0].decode() not in _OWN_HEADERS - {"content-length"}]
    pieces: list[bytes] = []
    try:
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        async for piece in response.aiter_raw():
            pieces.append(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        await response.aclose()
    return b"".join(pieces)


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


@final
class Tape:
    """What was recorded, and the file that holds it."""

    def __init__(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.parent}")
        self._path = path
        self._fixtures: list[Fixture] = _kept(path)
        self._pending: dict[str, _Pending] = {}
        self._keys: set[str] = set()

    def hide(self, keys: Iterable[str]) -> None:
        """Write none of these keys, though an endpoint may say one in an answer."""
        self._keys.update(key for key in keys if len(key) >= _SHORTEST_KEY)

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
        answer, interaction_id = answer_of(data, is_stream=is_stream)
        if answer is not None:
            return self._add(match, answer)
        if interaction_id and given.get("background") is True:
            self._pending[interaction_id] = _Pending(match)
            return f"recorded when it is done: {match.summary}"
        return f"not recorded, the answer has no end: {match.summary}"

    def fetched(self, interaction_id: str, data: bytes, *, is_stream: bool) -> str:
        """Take down what a background run has come to, if it is one that waits for that."""
        pending = self._pending.get(interaction_id)
        if pending is None:
            return f"not recorded: interaction {interaction_id!r} does not wait for its answer"
        answer, _ = answer_of(data, is_stream=is_stream)
        if answer is None:
            pending.polls += not is_stream
            return f"recorded when it is done: {pending.match.summary}"
        del self._pending[interaction_id]
        return self._add(pending.match, attrs.evolve(answer, polls_in_progress=pending.polls))

    def _add(self, match: Match, answer: Answer) -> str:
        place = next((at for at, fixture in enumerate(self._fixtures) if fixture.match == match), None)
        if place is None:
            self._fixtures.append(Fixture(match=match, answers=(answer,)))
        else:
            before = self._fixtures[place]
            self._fixtures[place] = attrs.evolve(before, answers=(*before.answers, answer))
        self._write()
        return f"recorded: {match.summary}"

    def _write(self) -> None:
        document = fixture_document(self._fixtures)
        text = dumps(document, ensure_ascii=False, indent=2)
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            text = dumps(document, indent=2)
        for key in self._keys:
            text = text.replace(dumps(key, ensure_ascii=False)[1:-1], MASK)
        # In the same folder, so that it takes the place of the old one in one move.
        with NamedTemporaryFile(dir=self._path.parent, prefix=f".{self._path.name}.", delete=False) as file:
            file.write(f"{text}\n".encode())
        Path(file.name).replace(self._path)


def match_of(body: Mapping[str, Any]) -> Match:
    """
    Return what matches a create request, and no other of its conversation.

    One that names a previous interaction is known by that; one that sends the whole conversation by its turn.
    """
    wanted = asked(body)
    return Match(
        user_text=wanted.user_text,
        model=wanted.model,
        agent=wanted.agent,
        call_id=wanted.call_ids[-1] if wanted.call_ids else None,
        previous_interaction_id=wanted.previous_interaction_id,
        continuation_token=wanted.continuation_token or None,
        turn=None if wanted.previous_interaction_id else wanted.turn,
    )


def answer_of(data: bytes, *, is_stream: bool) -> tuple[Answer | None, str]:
    """Return an answer as a fixture gives it, None when it has not come to its end; and the id of the interaction."""
    if is_stream:
        decoder = GeminiInteractionsDecoder("recorded")
        return _answer_of_events([*decoder.feed(data), *decoder.close()])
    try:
        document = read_json(data)
    except JsonError:
        return None, ""
    if not isinstance(document, Mapping):
        return None, ""
    if document.get("status") in _UNFINISHED:
        return None, str(document.get("id", ""))
    return _answer_of_events(decode_resource(document, "recorded"))


def _answer_of_events(events: list[Event]) -> tuple[Answer | None, str]:
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
    # The code is read here: a number stands beside a status there, of which `http_error` returns the better word.
    try:
        document = read_json(data)
    except JsonError:
        document = None
    first = document[0] if isinstance(document, list) and document else document
    error = first.get("error") if isinstance(first, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) else None
    return HttpError(
        status=status,
        code=code if isinstance(code, (str, int)) and not isinstance(code, bool) else None,
        message=http_error(status, headers, data).message,
        headers=tuple([(name, headers[name]) for name in _KEPT_HEADERS if name in headers]),
    )


def _kept(path: Path) -> list[Fixture]:
    if not path.exists() or not path.stat().st_size:
        return []
    document = read_file_text(path.read_bytes(), str(path))
    if not isinstance(document, Mapping) or "version" not in document:
        raise FixtureError(str(path), "", "version", "is missing: recordings are added to files of our own form only")
    return list(load_fixtures(path))
