"""
Mocks of dialects whose answers are one JSON document, which the emitter of the dialect writes as a stream.

The frames of an answer are made once, as bytes with marks; each run fills in what is its own: ids, usage, signatures.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from secrets import token_hex
from typing import Any, ClassVar, Final, Generic, TypeVar, Unpack, cast

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from assistant_events.adapters.emitter import EmitterBase, Frame
from assistant_events.adapters.framing import Framing, Sse
from assistant_events.adapters.json_fields import is_array, is_object, others, valid_json
from assistant_events.mock.app import Api, MockProvider, ProviderOptions, preflight_for
from assistant_events.mock.clock import ProviderClock
from assistant_events.mock.faults import Fault
from assistant_events.mock.fixture_files import FixtureSource
from assistant_events.mock.fixtures import Answer, Fixtures, StreamError
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.requests import ApiError, json_response, parse_object
from assistant_events.mock.runs import Body, Run
from assistant_events.mock.service import OTHER_ANSWER, Call, MockService, Settings, Slot
from assistant_events.mock.signatures import SignatureLedger, make_signature
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.values import read_json, write_json


@attrs.frozen(kw_only=True)
class DocumentSettings(Settings):
    """Limits and behaviour of the mock of a dialect whose answers are documents."""

    sign: bool = True
    max_body_bytes: int = 32 << 20
    """As Anthropic's API."""


DELTA_CHARS: Final = 20
"""Characters of one delta by default, as in aimock."""

_TOKEN: Final = token_hex(8)
_MARK: Final = re.compile(rb'"<%b ([^">]+)>"' % _TOKEN.encode())


def mark(name: str) -> str:
    """Return the placeholder of a value of the run, of any type; no text of a fixture is taken for one."""
    return f"<{_TOKEN} {name}>"


def fill(data: bytes, values: Mapping[str, Any]) -> bytes:
    """Return JSON with the values of a run in place of the marks."""
    return _MARK.sub(lambda found: write_json(values[found[1].decode()]), data)


def fill_frame(framing: type[Framing], data: bytes, values: Mapping[str, Any]) -> bytes:
    """Return a frame with the values of a run in place of the marks; one with a checksum is written anew."""
    if not framing.checksums:
        return fill(data, values)
    if not _MARK.search(data):
        return data
    [payload] = framing().feed(data)
    event: dict[str, Any] = read_json(fill(payload, values))
    return framing.frame(None, event)


class PreparedAnswer:
    """
    An answer that can be sent any number of times. A dialect has a subclass, which makes the document.

    With *signs*, items of the answer that the service signs get a signature unless they have one.
    """

    emitter: ClassVar[type[EmitterBase]]

    repeated: ClassVar[Collection[str]] = ()
    """Fields of the document that repeat the request. The decoder does not read them; frames have their marks."""

    def __init__(self, answer: Answer, *, signs: bool) -> None:
        self.answer = answer
        self.signs = signs
        self.signed: dict[str, tuple[int, object]] = {}
        """By the name of a mark for a signature: the place of its item, and what it seals."""

        self.document: bytes = write_json(valid_json(self.make_document()))
        """The whole answer, with marks."""

        self.frames: tuple[WireFrame, ...] = tuple(self.make_frames())
        """The events of the answer, with marks."""

    @abstractmethod
    def make_document(self) -> dict[str, Any]:
        """Return the answer as one document, with marks."""

    def make_frames(self) -> Iterator[WireFrame]:
        """Yield the events of the answer, with marks; by default those that the emitter makes of the document."""
        emitter = self.emitter(delta_chars=self.answer.timing.delta_chars or DELTA_CHARS)
        frames: list[Frame] = []
        for event in emitter.decoder.decode_resource(others(read_json(self.document), self.repeated), "mock"):
            frames += emitter.emit(event)
        frames += emitter.close()
        for frame in frames:
            if frame != "[DONE]":  # a run has it as `done`
                yield WireFrame(self.name_of(frame), emitter.to_bytes(self.with_marks(frame)))

    def with_marks(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Return a frame with marks for what the emitter cannot have from the document; the default changes nothing."""
        return frame

    def name_of(self, frame: Frame) -> str:
        """Return the type of a frame."""
        return str(frame.get("type", "")) if is_object(frame) else ""

    def signature_mark(self, place: int, content: object) -> str:
        """Return the mark of the signature of an item, and remember what it seals."""
        name = f"signature {place}"
        self.signed[name] = place, content
        return mark(name)


def find_deltas(prepared: type[PreparedAnswer], name: str) -> Callable[[Answer], list[bool]]:
    """Return what finds the deltas of an answer, which have this end of a name: for each event whether it is one."""
    return lambda answer: [frame.name.endswith(name) for frame in prepared(answer, signs=False).frames]


_PreparedT = TypeVar("_PreparedT", bound=PreparedAnswer)


class DocumentRun(Run, Generic[_PreparedT]):
    """One answer of a mock, whose *salt* distinguishes its signatures from those of other runs."""

    HEAD_EVENTS = 1
    MODEL: ClassVar[str] = ""
    """The model of an answer to a request that names none, as a lenient mock accepts."""

    done = b""

    def __init__(
        self,
        run_id: str,
        prepared: _PreparedT,
        body: Body,
        *,
        salt: bytes,
        clock: ProviderClock,
        faults: Iterable[Fault] = (),
        background: bool = False,
        previous_id: object = None,
    ) -> None:
        self.prepared = prepared
        self.salt = salt
        self.frames = self.chosen_frames(prepared.frames, body)
        answer, names = prepared.answer, [frame.name for frame in self.frames]
        if answer.stream_error is not None:
            after = answer.stream_error.after
            names = [*names[: -1 if after is None else after], "error"]
        super().__init__(
            run_id,
            answer,
            body,
            event_names=names,
            clock=clock,
            faults=faults,
            background=background,
            previous_id=previous_id,
        )
        self.values: Mapping[str, Any] = {
            "id": run_id,
            **{name: make_signature(seals, salt, place) for name, (place, seals) in prepared.signed.items()},
            **self.own_values(),
        }
        """What this run has in place of the marks."""

    def chosen_frames(self, frames: Sequence[WireFrame], body: Body) -> Sequence[WireFrame]:
        """Return the frames that a request asks for; by default all of them."""
        return frames

    @staticmethod
    def input_tokens(body: Body) -> int:
        """Return the estimated tokens of a request: by default of its messages and what is before them."""
        return token_count(texts_of([body.get("system"), body.get("messages")]))

    @abstractmethod
    def own_values(self) -> dict[str, Any]:
        """Return the values of marks beside those of the id and of signatures."""

    @abstractmethod
    def error_frame(self) -> WireFrame:
        """Return the frame of the error that ends the stream."""

    @property
    def stream_error(self) -> StreamError:
        """The error that ends the stream, of an answer that has one."""
        error = self.answer.stream_error
        assert error is not None, "the answer has no error"
        return error

    @property
    def final_status(self) -> str:
        """The status after the end."""
        return "completed"

    def event(self, number: int) -> WireFrame:
        """Return the frame of an event."""
        if self.answer.stream_error is not None and number == len(self.event_names) - 1:
            return self.error_frame()
        name, data = self.frames[number]
        return WireFrame(name, fill_frame(self.prepared.emitter.decoder.framing, data, self.values))

    def end(self) -> WireFrame:
        """Return the frame of the end."""
        return self.event(len(self.event_names) - 1)

    def whole(self) -> dict[str, Any]:
        """Return the answer as one document."""
        document: dict[str, Any] = read_json(fill(self.prepared.document, self.values))
        return document


_RunT = TypeVar("_RunT", bound=DocumentRun[Any])


class DocumentService(MockService[_RunT]):
    """
    The state of a mock whose answers are documents.

    With the setting `sign` answers are signed, and the signatures of requests may be checked with `ledger`.
    """

    PATHS: ClassVar[tuple[str, ...]]
    """Of the requests for a new answer."""

    COUNT_PATHS: ClassVar[tuple[str, ...]] = ()
    """Of the requests that count the tokens of a request for an answer."""

    MODEL_PATHS: ClassVar[tuple[str, ...]] = ()
    """Of the list of models; the document of one is below it, at its name."""

    PREPARED: ClassVar[type[PreparedAnswer]]
    RUN: ClassVar[type[DocumentRun[Any]]]
    LEDGER: ClassVar[type[SignatureLedger]] = SignatureLedger

    def __init__(
        self, fixtures: Fixtures, settings: DocumentSettings, faults: Sequence[Fault], clock: ProviderClock
    ) -> None:
        self.signs = settings.sign
        self.ledger = self.LEDGER()
        self._make_id = settings.make_id or self.new_id
        self._prepared: dict[tuple[Slot, Answer | None], PreparedAnswer] = {}
        self._made = 0
        super().__init__(fixtures, settings, faults, clock)

    # -- implemented by a dialect

    @abstractmethod
    def new_id(self) -> str:
        """Return a random id of an answer."""

    @abstractmethod
    def facts(self, body: Body) -> RequestFacts:
        """Return what fixtures are compared with in a request."""

    @abstractmethod
    def check(self, call: Call, body: Body) -> None:
        """Check a request of a strict mock as the service does. Raises `ApiError`."""

    @staticmethod
    @abstractmethod
    def error_response(error: ApiError) -> Response:
        """Return the HTTP answer of an error."""

    def signed_items(self, answer: Answer) -> Iterable[tuple[str, object]]:
        """Yield the signatures that an answer of a fixture has itself, with what each seals; by default none."""
        return ()

    def body(self, call: Call) -> Body:
        """Return the body of a request, with what its path has, if anything. Raises `ApiError`."""
        return parse_object(call.data)

    def answer_to(self, body: Body, answer: Answer) -> Answer:
        """Return the answer of a fixture, or the form of it for requests for which the service changes it."""
        return answer

    def prepare(self, answer: Answer) -> PreparedAnswer:
        """Return an answer as it can be sent."""
        return self.PREPARED(answer, signs=self.signs)

    @staticmethod
    def wants_stream(body: Body) -> bool:
        """Return whether a request wants a stream."""
        return body.get("stream") is True

    def counted_body(self, call: Call) -> Body:
        """Return the request whose tokens are to be counted. Raises `ApiError`."""
        return self.body(call)

    def count_document(self, call: Call, tokens: int) -> dict[str, Any]:
        """Return the answer to a request that counts tokens."""
        return {"input_tokens": tokens}

    def model_document(self, name: str) -> dict[str, Any]:
        """Return the document of a model, by default as OpenAI and the servers that speak its language."""
        return {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "mock"}

    def model_list(self, models: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the list of these documents of models."""
        return {"object": "list", "data": models}

    def error_status(self, code: str) -> int:
        """Return the HTTP status of an error with this code; 500 for one that the service does not have."""
        return 500

    def run_options(self, body: Body) -> Mapping[str, Any]:
        """Return further options of the run of a request; by default none."""
        return {}

    def api(self) -> Api:
        """Return the HTTP interface; by default its routes are `PATHS`, `COUNT_PATHS` and `MODEL_PATHS`."""

        async def create(request: Request) -> ASGIApp:
            return await self.create(await self.read_call(request))

        async def count(request: Request) -> ASGIApp:
            return self.count(await self.read_call(request))

        async def models(request: Request) -> ASGIApp:
            return self.models(await self.read_call(request))

        models_below = [f"{path}/{{model_name:path}}" for path in self.MODEL_PATHS]
        handlers = [
            (self.PATHS, "POST", create),
            (self.COUNT_PATHS, "POST", count),
            ((*self.MODEL_PATHS, *models_below), "GET", models),
        ]
        return Api(
            routes=[(path, (method,), handler) for paths, method, handler in handlers for path in paths],
            error_response=self.error_response,
            check=lambda request: None,
            preflight=preflight_for("GET", "POST"),
        )

    # -- requests

    async def create(self, call: Call) -> ASGIApp:
        """Answer the request for a new answer: with a document, or with a stream when the body wants one."""
        self.check_faults(call, "create")
        body = self.body(call)
        if self.settings.strict:
            self.check(call, body)
        run = self.new_run(call, body, self.find(self.facts(body)).serve())
        return await self.respond(call, run, is_stream=self.wants_stream(body))

    def count(self, call: Call) -> ASGIApp:
        """Answer a request that counts tokens."""
        self.check_faults(call, "count")
        body = self.counted_body(call)
        if self.settings.strict:
            self.check(call, body)
        return json_response(self.count_document(call, self.RUN.input_tokens(body)))

    def models(self, call: Call) -> ASGIApp:
        """Answer a request for one model, of any name, or for all: the default one, and those that fixtures name."""
        name = call.request.path_params.get("model_name")
        if name is not None:
            return json_response(self.model_document(name))
        return json_response(self.model_list([*map(self.model_document, self.model_names(self.RUN.MODEL))]))

    def new_run(self, call: Call, body: Body, slot: Slot) -> _RunT:
        """Return the run of a request. Raises `ApiError` when its answer is an HTTP error."""
        answer, faults = self.answer_to(body, slot.answer), self.faults_of_run(call, slot)
        key = slot, None if answer is slot.answer else answer
        if key not in self._prepared:
            self._prepared[key] = self.prepare(answer)
        prepared = self._prepared[key]
        run_id = answer.id or self._make_id()
        self._made += 1
        salt = sha256(f"{run_id} {self._made}".encode()).digest()
        return self.start(self._run(run_id, prepared, body, salt, faults))

    def document(self, call: Call, run: _RunT, status: str) -> ASGIApp:
        """Return the answer. Raises `ApiError` when an error ends it: a document has nothing else then."""
        if run.answer.stream_error is not None:
            error = run.stream_error
            http_status = self.error_status(error.code) if isinstance(error.code, str) else error.code
            raise ApiError(http_status if 400 <= http_status < 600 else 500, error.message, code=error.code)
        return json_response(run.whole(), headers=self.response_headers(run))

    # -- what the general service needs

    def add(self, fixtures: Fixtures) -> None:
        """Add fixtures before the present ones, until the next reset. Present ones keep their counts."""
        super().add(fixtures)
        for fixture in fixtures:
            for answer in fixture.answers:
                for signature, content in self.signed_items(answer):
                    self.ledger.note(signature, content)

    def reset(self) -> None:
        """Forget all runs, requests and added fixtures, reset the counts, and end all streams."""
        self._prepared = {}
        self.ledger = self.LEDGER()
        super().reset()

    def other_run(self, run: _RunT) -> _RunT:
        """Return a finished run that no client created."""
        other = self.prepare(self.FORM.read_answer(OTHER_ANSWER))
        return self.start(self._run(self._make_id(), other, run.body, b"", ()))

    def _run(self, run_id: str, prepared: PreparedAnswer, body: Body, salt: bytes, faults: Iterable[Fault]) -> _RunT:
        options = self.run_options(body)
        return cast("_RunT", self.RUN(run_id, prepared, body, salt=salt, clock=self.clock, faults=faults, **options))


class DocumentOptions(ProviderOptions, total=False):
    """The options of the mock provider of a dialect whose answers are documents."""

    sign: bool


class DocumentProvider(MockProvider):
    """A provider of a dialect whose answers are documents."""

    SETTINGS = DocumentSettings

    def __init__(self, fixtures: FixtureSource, **options: Unpack[DocumentOptions]) -> None:
        super().__init__(fixtures, **options)

    def api(self) -> Api:
        """Return the HTTP interface of the service."""
        return cast("DocumentService[Any]", self._service).api()


def changed_frame(
    write: Callable[[Any], WireFrame], change: Callable[[dict[str, Any]], object], framing: type[Framing] = Sse
) -> Callable[[bytes], bytes]:
    """Return the function that changes the JSON of a frame; *write* returns its frame."""

    def changed(data: bytes) -> bytes:
        [payload] = framing().feed(data)
        event: dict[str, Any] = read_json(payload)
        change(event)
        return write(event).data

    return changed


def texts_of(value: object) -> Iterator[str]:
    """Yield all texts of a conversation or an answer in any form: strings, and those of texts, contents and results."""
    if is_object(value):
        for key in ("text", "content", "output", "toolResult"):
            yield from texts_of(value.get(key))
    elif is_array(value):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, str):
        yield value


def token_count(texts: Iterable[str]) -> int:
    """Return an estimate: one token for four characters."""
    return -(-sum(map(len, texts)) // 4)
