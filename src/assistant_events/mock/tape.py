"""Answers of a real endpoint, written to a file as fixtures."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from json import dumps
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, final

import attrs
from starlette.responses import Response

from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.errors import error_of_body
from assistant_events.adapters.framing import Framing, Sse
from assistant_events.adapters.json_fields import Fields, is_object, json_object, string
from assistant_events.errors import FixtureError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage
from assistant_events.mock.fixture_files import FixtureFormat, fixture_document, load_fixtures
from assistant_events.mock.fixtures import Answer, Fixture, HttpError, StreamError
from assistant_events.mock.json_reader import read_file_text
from assistant_events.mock.matching import Match, RequestFacts
from assistant_events.mock.requests import ApiError
from assistant_events.reducer import fold
from assistant_events.values import ErrorKind
from assistant_events.values.credentials import Secrets

_ID: Final = "recorded"


class RecordedRequest(NamedTuple):
    """A request whose answer is recorded: of a run that is fetched, *after* a cursor, or of a new one (None)."""

    run_id: str | None = None
    after: str | None = None
    fields: Mapping[str, Any] = MappingProxyType({})
    """Fields of the request that its path has, in place of the body."""


class FrameFacts(NamedTuple):
    """The facts of one event for a recording: its cursor, whether the answer ends with it, its error."""

    cursor: str | None = None
    is_end: bool = False
    error: StreamError | None = None


def stream_error(error: Fields, code: str) -> StreamError | None:
    """Return the error of an event, by the object that the wire has for it; `None` where that is empty."""
    return StreamError(code=code, message=string(error, "message") or "") if error else None


_KEPT_HEADERS: Final = ("retry-after", "retry-after-ms")


class RecordedApi(ABC):
    """What the recording needs of a dialect."""

    dialect: ClassVar[Dialect]
    form: ClassVar[FixtureFormat]
    path: ClassVar[re.Pattern[str]]
    """Paths of requests that are recorded. A group matches the id of a run that is fetched, on a wire that has runs."""

    after: ClassVar[str] = ""
    """The parameter of the query that has a cursor."""

    previous: ClassVar[str] = ""
    """The field of a request that names what it continues: that identifies it, in place of its turn."""

    framing: ClassVar[type[Framing]] = Sse

    code_field: ClassVar[str] = "code"
    """The field of an error that has its code."""

    @staticmethod
    @abstractmethod
    def facts_of(body: Mapping[str, Any]) -> RequestFacts:
        """Return what fixtures are compared with in a create request."""

    @staticmethod
    @abstractmethod
    def error_response(error: ApiError) -> Response:
        """Return an HTTP error of the proxy itself, in the shape of the provider."""

    def request_of(self, method: str, path: str, query: Mapping[str, str]) -> RecordedRequest | None:
        """Return the request to record; `None` for another one."""
        found = self.path.search(path)
        run_id = None if found is None or not self.path.groups else found[1]
        if found is None or method != ("POST" if run_id is None else "GET"):
            return None
        return RecordedRequest(run_id=run_id, after=query.get(self.after))

    def match_of(self, body: Mapping[str, Any]) -> Match:
        """Return what matches a create request, and no other of its conversation."""
        facts = self.facts_of(body)
        own: dict[str, Any] = {**facts.fields}  # Any: the fields of the match of a dialect
        return self.form.match(
            user_text=facts.user_text,
            model=facts.model,
            call_id=facts.call_ids[-1] if facts.call_ids else None,
            turn=None if facts.fields.get(self.previous) else facts.turn,
            **own,
        )

    def runs_on(self, body: Mapping[str, Any]) -> bool:
        """Return whether the answer to a create request continues without its connection."""
        return self.path.groups > 0 and body.get("background") is True

    @abstractmethod
    def frame_facts(self, name: str | None, payload: Mapping[str, Any]) -> FrameFacts:
        """Return the facts of an event."""

    @abstractmethod
    def answer_of(self, messages: Sequence[AssistantMessage], error: StreamError | None) -> Answer:
        """Return the answer of a fixture that gives the same; *error* has ended its stream."""

    def code_of(self, error: Mapping[str, Any]) -> str | int | None:
        """Return the code of the error of a body."""
        return string(error, self.code_field)

    def error_of(self, status: int, headers: Mapping[str, str], data: bytes) -> HttpError:
        """Return the HTTP error of a fixture that gives the same."""
        return HttpError(
            status=status,
            code=self.code_of(error_of_body(data)),
            message=self.dialect.http_error(status, headers, data).message,
            headers=tuple([(name, headers[name]) for name in _KEPT_HEADERS if name in headers]),
        )


@attrs.define
class _Pending:
    """A background run that has not ended."""

    match: Match
    polls: int = 0
    streams: list[_RecordedStream] = attrs.Factory(list["_RecordedStream"])
    """Newest first."""


@final
class _RecordedStream:
    """A stream of a run from its start, in as many pieces as it took connections."""

    def __init__(self, api: RecordedApi, data: bytes) -> None:
        self.cursors: set[object] = set()
        self.error: StreamError | None = None
        self._api = api
        self._pieces: list[bytes] = []
        self._is_over = False
        self.add(data)

    def add(self, data: bytes) -> None:
        """Continue with the bytes of another connection."""
        framing = self._api.framing()
        for payload in framing.feed(data):
            self._read(framing.name(payload), payload)
        last = framing.close()
        for payload in last:
            self._read(framing.name(payload), payload)
        # A client may continue behind an event that lacks only its end mark.
        self._pieces.append(data + b"\n\n" if last else data)

    @property
    def events(self) -> list[Event]:
        """The events that a decoder returns for it."""
        decoder = self._api.dialect.decoder(_ID)
        events: list[Event] = []
        for number, piece in enumerate(self._pieces):
            if number:
                decoder.reconnect()
            events += decoder.feed(piece)
        return [*events, *decoder.close()]

    def _read(self, name: str | None, payload: bytes) -> None:
        event = json_object(payload)
        if event is None:
            return
        facts = self._api.frame_facts(name, event)
        if facts.cursor is not None:
            self.cursors.add(facts.cursor)
        if facts.error is not None and not self._is_over:
            self.error = facts.error
        self._is_over = self._is_over or facts.is_end or facts.error is not None


@final
class Tape:
    """The recorded answers and their file, without *secrets*, which an endpoint may repeat in an answer."""

    def __init__(self, path: Path, api: RecordedApi, secrets: Secrets) -> None:
        if not path.parent.is_dir():
            raise ValueError(f"{path}: no folder {path.parent}")
        self._path = path
        self._api = api
        self._secrets = secrets
        self._fixtures: list[Fixture] = _kept(path, api.form)
        self._pending: dict[str, _Pending] = {}

    def created(
        self,
        body: bytes,
        status: int,
        headers: Mapping[str, str],
        data: bytes,
        *,
        is_stream: bool,
        fields: Mapping[str, Any] = MappingProxyType({}),
    ) -> str:
        """Record the answer to a create request, whose path has *fields*; return what was done, in one line."""
        given = json_object(body)
        if given is None:
            return "not recorded: the request is not a JSON object"
        given = {**given, **fields}
        match = self._api.match_of(given)
        if 200 != status < 400 or status > 599:
            return f"not recorded, the endpoint answered HTTP {status}: {match.summary}"
        if status != 200:
            return self._add(match, Answer(http_error=self._api.error_of(status, headers, data)))
        stream = _RecordedStream(self._api, data) if is_stream else None
        answer, run_id = (
            self._answer_of_document(data) if stream is None else self._answer_of(stream.events, stream.error)
        )
        if answer is not None:
            return self._add(match, answer)
        if run_id and self._api.runs_on(given):
            self._pending[run_id] = _Pending(match, streams=[] if stream is None else [stream])
            return f"recorded when it has ended: {match.summary}"
        return f"not recorded, the answer has no end: {match.summary}"

    def fetched(self, run_id: str, data: bytes, *, is_stream: bool, after: str | None = None) -> str:
        """
        Record the end of a background run that has not ended before, and return what was done, in one line.

        A stream that continues *after* a cursor needs the events before it: half an answer is not recorded.
        """
        pending = self._pending.get(run_id)
        if pending is None:
            return f"not recorded: run {run_id!r} does not wait for its end"
        if is_stream:
            stream = self._continued(pending.streams, data, after)
            if stream is None:
                return f"not recorded, the events before this cursor are missing: {pending.match.summary}"
            answer, _ = self._answer_of(stream.events, stream.error)
        else:
            answer, _ = self._answer_of_document(data)
        if answer is None:
            pending.polls += not is_stream
            return f"recorded when it has ended: {pending.match.summary}"
        del self._pending[run_id]
        return self._add(pending.match, attrs.evolve(answer, polls_in_progress=pending.polls))

    def _continued(self, streams: list[_RecordedStream], data: bytes, after: str | None) -> _RecordedStream | None:
        """Return the stream that the bytes begin or continue; `None` for neither."""
        if not after:
            streams.insert(0, _RecordedStream(self._api, data))
            return streams[0]
        stream = next((stream for stream in streams if after in stream.cursors), None)
        if stream is not None:
            stream.add(data)
        return stream

    def _answer_of_document(self, data: bytes) -> tuple[Answer | None, str]:
        """Return the answer of a fixture, None when it has not ended; and the id of the run."""
        document, decode = json_object(data), self._api.dialect.decode_resource
        if document is None or decode is None:
            return None, ""
        return self._answer_of(decode(document, _ID), None)

    def _answer_of(self, events: Sequence[Event], error: StreamError | None) -> tuple[Answer | None, str]:
        messages = [message for message in fold(events).messages if isinstance(message, AssistantMessage)]
        if not messages:
            return None, ""
        answer = self._api.answer_of(messages, error)
        failure = messages[-1].error
        is_cut = failure is not None and failure.kind == ErrorKind.INTERRUPTED
        return None if is_cut else answer, answer.id or ""

    def _add(self, match: Match, answer: Answer) -> str:
        if answer.id in {answer.id for fixture in self._fixtures for answer in fixture.answers}:
            answer = attrs.evolve(answer, id=None)
        try:
            load_fixtures(self._api.form, self._document([Fixture(match=match, answers=(answer,))]))
        except FixtureError as error:
            return f"not recorded, no fixture can have {error.field}, {error.reason}: {match.summary}"
        place = next((at for at, fixture in enumerate(self._fixtures) if fixture.match == match), None)
        if place is None:
            self._fixtures.append(Fixture(match=match, answers=(answer,)))
        else:
            before = self._fixtures[place]
            self._fixtures[place] = attrs.evolve(before, answers=(*before.answers, answer))
        self._write()
        return f"recorded: {match.summary}"

    def _document(self, fixtures: Sequence[Fixture]) -> Any:
        return self._secrets.json(fixture_document(fixtures))

    def _write(self) -> None:
        document = self._document(self._fixtures)
        text = dumps(document, ensure_ascii=False, indent=2)
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            text = dumps(document, indent=2)
        # In the same folder, so that one move replaces the old file, with the same permissions.
        made = self._path.with_name(f".{self._path.name}.{token_hex(8)}")
        try:
            with made.open("xb") as file:
                file.write(f"{text}\n".encode())
            with suppress(FileNotFoundError):
                made.chmod(S_IMODE(self._path.stat().st_mode))
            made.replace(self._path)
        finally:
            made.unlink(missing_ok=True)


def _kept(path: Path, form: FixtureFormat) -> list[Fixture]:
    if not path.exists() or not path.stat().st_size:
        return []
    document = read_file_text(path.read_bytes(), str(path))
    if not is_object(document) or "version" not in document:
        raise FixtureError(str(path), "", "version", "is missing: recordings are added to files of this library only")
    return list(load_fixtures(form, path))
