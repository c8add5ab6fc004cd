"""
What a mock provider does for any dialect: it reads requests, finds their fixtures, counts, and applies faults.

The service of a dialect extends `MockService` with what is its own.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, ClassVar, Final, Generic, TypedDict, TypeVar, cast, final
from weakref import WeakSet

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from assistant_events.mock.clock import ProviderClock, wait_until
from assistant_events.mock.documents import PreparedAnswer
from assistant_events.mock.fault_effects import FaultFrames, Point
from assistant_events.mock.faults import Fault, FaultBudget, apply_faults, delay_of, parse_fault, parse_faults
from assistant_events.mock.fixture_files import FixtureFormat
from assistant_events.mock.fixtures import Answer, Fixture, Fixtures
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.requests import (
    Api,
    ApiError,
    RequestLog,
    decoded_body,
    has_key,
    json_response,
    parse_body,
    parse_object,
    preflight_for,
    read_body,
)
from assistant_events.mock.runs import Body, Run, RunStore
from assistant_events.mock.signatures import SignatureLedger
from assistant_events.mock.stream_actions import StreamActions
from assistant_events.mock.streaming import SSE_HEADERS, StreamResponse

_RunT = TypeVar("_RunT", bound=Run[Any])

FAULT_HEADER: Final = "x-mock-fault"

OTHER_ANSWER: Final = "This is the answer of another run."
"""The answer of `MockService.other_run`."""


@attrs.frozen(kw_only=True)
class Settings:
    """Limits and behaviour of a mock provider, as its class describes them."""

    strict: bool = True
    sign: bool = True
    require_key: bool | None = None
    max_body_bytes: int = 32 << 20
    """As Anthropic's API."""

    max_runs: int = 2_000
    max_kept_bytes: int = 64 << 20
    max_requests: int = 1_000
    make_id: Callable[[], str] | None = None


class SettingsOptions(TypedDict, total=False):
    """The options of mock providers that are `Settings`, which has their defaults."""

    strict: bool
    sign: bool
    require_key: bool | None
    max_body_bytes: int
    max_runs: int
    max_kept_bytes: int
    max_requests: int
    make_id: Callable[[], str] | None


@final
@attrs.frozen(kw_only=True)
class Call:
    """One request, with its faults."""

    request: Request
    data: bytes
    budget: FaultBudget


@final
@attrs.frozen(eq=False)
class Slot:
    """One answer of a fixture, and the budget of its faults."""

    answer: Answer
    budget: FaultBudget


@final
class ServedFixture:
    """A fixture, and how many requests it has answered."""

    def __init__(self, fixture: Fixture) -> None:
        self.fixture = fixture
        self.count = 0
        self._slots = [Slot(answer, FaultBudget(_faults_of(answer))) for answer in fixture.answers]

    def serve(self) -> Slot:
        """Return the next answer and count it."""
        slot = self._slots[min(self.count, len(self._slots) - 1)]
        self.count += 1
        return slot


class MockService(ABC, Generic[_RunT]):
    """
    The state of a mock provider: its fixtures and their counts, its runs, and the log of requests.

    *faults* are those of the whole server. With the setting `sign` answers are signed, and the signatures of requests
    may be checked with `ledger`.
    """

    FORM: ClassVar[FixtureFormat]
    """The form of its fixture files."""

    FRAMES: ClassVar[FaultFrames]
    """The frames of the wire that faults use."""

    STATUS_WITHOUT_KEY: ClassVar[int] = 401
    """The HTTP status for a request without a key."""

    STREAM_HEADERS: ClassVar[Mapping[str, str]] = SSE_HEADERS

    PATHS: ClassVar[tuple[str, ...]]
    """Paths of the requests for a new answer."""

    COUNT_PATHS: ClassVar[tuple[str, ...]] = ()
    """Paths of the requests that count the tokens of a request for an answer."""

    MODEL_PATHS: ClassVar[tuple[str, ...]] = ()
    """Paths of the list of models; the document of one is below it, at its name."""

    PREPARED: ClassVar[type[PreparedAnswer]]
    RUN: ClassVar[type[Run[Any]]]
    LEDGER: ClassVar[type[SignatureLedger]] = SignatureLedger

    def __init__(self, fixtures: Fixtures, settings: Settings, faults: Sequence[Fault], clock: ProviderClock) -> None:
        self.settings = settings
        self.clock = clock
        self.faults = tuple(faults)
        self.signs = settings.sign
        self._make_id = settings.make_id or self.new_id
        self._made = 0
        self._first = fixtures
        self._active: WeakSet[_RunT] = WeakSet()
        self._epoch = 0
        self.begin()

    def begin(self) -> None:
        """Begin without runs, requests and counts, and with the first fixtures alone."""
        settings = self.settings
        self.log = RequestLog(settings.max_requests, settings.max_kept_bytes)
        self.runs: RunStore[_RunT] = RunStore(settings.max_runs, settings.max_kept_bytes)
        self._budget = FaultBudget(self.faults)
        self.ledger = self.LEDGER()
        self._prepared: dict[tuple[Slot, Answer | None], PreparedAnswer] = {}
        self._fixtures: list[ServedFixture] = []
        self.add(self._first)

    def add(self, fixtures: Fixtures) -> None:
        """Add fixtures before the present ones, until the next reset. Present ones keep their counts."""
        self._fixtures = [*map(ServedFixture, fixtures), *self._fixtures]
        self.catalog = Fixtures([served.fixture for served in self._fixtures])
        for answer in [answer for fixture in fixtures for answer in fixture.answers]:
            for signature, content in self.signed_items(answer):
                self.ledger.note(signature, content)

    def close(self) -> None:
        """End all open streams and everything else that waits."""
        self._epoch += 1
        for run in tuple(self._active):
            run.notify()

    def reset(self) -> None:
        """Forget all runs, requests and added fixtures, reset the counts, and end all streams."""
        self.close()
        self.begin()

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

        models_below = [f"{path}/{{model_name:path}}" for path in self.MODEL_PATHS]
        handlers = [
            (self.PATHS, "POST", create),
            (self.COUNT_PATHS, "POST", self.handler(self.count)),
            ((*self.MODEL_PATHS, *models_below), "GET", self.handler(self.models)),
        ]
        return Api(
            routes=[(path, (method,), handler) for paths, method, handler in handlers for path in paths],
            error_response=self.error_response,
            check=lambda request: None,
            preflight=preflight_for("GET", "POST"),
        )

    def handler(self, answer: Callable[[Call], ASGIApp]) -> Callable[[Request], Awaitable[ASGIApp]]:
        """Return the handler of a route whose requests *answer* answers."""

        async def handle(request: Request) -> ASGIApp:
            return answer(await self.read_call(request))

        return handle

    # -- requests of each kind

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
        named = [model for fixture in self.catalog if isinstance(model := fixture.match.model, str)]
        return json_response(self.model_list([*map(self.model_document, dict.fromkeys([self.RUN.MODEL, *named]))]))

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

    def other_run(self, run: _RunT) -> _RunT:
        """Return a finished run that no client created, as an endpoint returns it that mixes up its runs."""
        other = self.prepare(self.FORM.read_answer(OTHER_ANSWER))
        return self.start(self._run(self._make_id(), other, run.body, b"", ()))

    def _run(self, run_id: str, prepared: PreparedAnswer, body: Body, salt: bytes, faults: Iterable[Fault]) -> _RunT:
        options = self.run_options(body)
        return cast("_RunT", self.RUN(run_id, prepared, body, salt=salt, clock=self.clock, faults=faults, **options))

    # -- a request

    async def read_call(self, request: Request) -> Call:
        """
        Read a request and add it to the log.

        Raises:
            ApiError: For a missing key, its length, an encoding or an unknown fault.
        """
        data = await read_body(request, self.settings.max_body_bytes)
        try:
            if data is not None:
                data = decoded_body(request, data, self.settings.max_body_bytes)
        finally:
            self.log.add(request, _readable(data), len(data or b""))
        required = self.settings.strict if self.settings.require_key is None else self.settings.require_key
        if required and not has_key(request):
            raise ApiError(
                self.STATUS_WITHOUT_KEY,
                "The request has no API key: send it in its header, in ?key= or as Authorization.",
            )
        if data is None:
            raise ApiError(413, f"Request payload size exceeds the limit: {self.settings.max_body_bytes} bytes.")
        try:
            faults = parse_faults(request.headers.get(FAULT_HEADER, ""))
        except ValueError as error:
            raise ApiError(400, f"{FAULT_HEADER}: {error}") from None
        return Call(request=request, data=data, budget=FaultBudget(faults))

    def check_faults(self, call: Call, route: str, run: Run[Any] | None = None) -> None:
        """Raise `ApiError` when an HTTP fault of a request is due."""
        for budget in (call.budget, self._budget, *([] if run is None else [run.budget])):
            self._raise_due(budget, route)

    def takes_fault(self, call: Call, name: str) -> bool:
        """Take a fault of requests if it is due, and return whether it was."""
        return any(budget.takes("request", name=name) for budget in (call.budget, self._budget))

    def peek(self, facts: RequestFacts) -> ServedFixture | None:
        """Return the fixture that answers a request, without counting it; `None` when none matches."""
        index = self.catalog.find(facts, self._counts())
        return None if index is None else self._fixtures[index]

    def find(self, facts: RequestFacts) -> ServedFixture:
        """Return the fixture that answers a request, without counting it. Raises `ApiError` when none matches."""
        found = self.peek(facts)
        if found is None:
            # The classic body: @ai-sdk/google shows the message of no other.
            raise ApiError(400, self.catalog.miss(facts, self._counts()), code=400, name="NO_FIXTURE")
        return found

    def _counts(self) -> dict[int, int]:
        return {index: served.count for index, served in enumerate(self._fixtures)}

    def faults_of_run(self, call: Call, slot: Slot) -> list[Fault]:
        """Return the faults of a new run. Raises `ApiError` when its answer is an HTTP error, or a fault is one."""
        self._raise_due(slot.budget, "create")
        error = slot.answer.http_error
        if error is not None:
            raise ApiError(error.status, error.message, code=error.code, headers=dict(error.headers))
        about_runs = [fault for fault in (*self.faults, *call.budget.faults) if fault.kind.reach != "request"]
        return [*about_runs, *slot.budget.faults]

    def _raise_due(self, budget: FaultBudget, route: str) -> None:
        for fault in budget.take_due("request", route=route):
            # The official clients of Gemini read both headers, milliseconds first.
            wait = {"retry-after": "1", "retry-after-ms": f"{self.clock.real(1.0) * 1000:.0f}"}
            headers = wait if fault.status == 429 else {}
            raise ApiError(fault.status, f"the fault {fault.name} of the mock provider", headers=headers)

    # -- answers

    async def respond(self, call: Call, run: _RunT, *, is_stream: bool) -> ASGIApp:
        """Return the answer to the request that created a run: a stream, or a document at its end or at once."""
        if is_stream:
            return self.stream(call, run, after=0, is_replay=False)
        delay = delay_of(run.budget.take_due("stream", name="slow-first-byte"))
        if run.background or run.is_zombie:
            await self.wait(run, self.clock.now() + delay + run.answer.timing.first_byte_s)
            return self.document(call, run, run.first_status())
        await self.wait(run, run.ends_at() + delay)
        return self.document(call, run, run.poll())

    def start(self, run: _RunT) -> _RunT:
        """Add a run to those that `close` ends."""
        self._active.add(run)
        return run

    def actions_of(self, call: Call, run: _RunT, after: int) -> tuple[StreamActions, Callable[[], StreamActions]]:
        """Return the actions of a run after so many events, and those of its cancellation, as a request wants them."""
        return run.actions(after=after), run.cancellation

    def stream(self, call: Call, run: _RunT, *, after: int, is_replay: bool) -> StreamResponse:
        """Return a response that streams the events of a run, with the effects of the faults that are due."""
        faults = [*run.budget.take_due(*(("stream", "replay") if is_replay else ("stream",)))]
        if is_replay:
            faults += call.budget.take_due("stream", "replay")
        if any(fault.name == "other-run-replay" for fault in faults):
            run, after = self.other_run(run), 0
        opens = self.clock.now() + delay_of(faults) + (0.0 if is_replay else run.answer.timing.first_byte_s)
        actions, cancellation = self.actions_of(call, run, after)
        frames = self.frames_of(run)
        opening = Point(opened=opens, status_update=run.status_update(), frames=frames)
        return StreamResponse(
            run=run,
            actions=apply_faults(actions, faults, opening),
            cancellation=cancellation,
            end_names=frames.end_names,
            clock=self.clock,
            opens=opens,
            headers={**self.STREAM_HEADERS, **self.response_headers(run)},
            is_closing=self._closing(),
            on_end=partial(self.on_end, run),
        )

    def frames_of(self, run: _RunT) -> FaultFrames:
        """Return the frames that faults use in a stream of a run."""
        return self.FRAMES

    def response_headers(self, run: _RunT) -> Mapping[str, str]:
        """Return the HTTP headers of an answer beside those of its type; by default none."""
        return {}

    def on_end(self, run: _RunT, whole: bool) -> None:
        """Record the end of a stream, which has sent the end of its run (*whole*) or not."""
        if whole:
            run.delivered()

    def _closing(self) -> Callable[[], bool]:
        """Return a function that returns whether the server has been closed since."""
        epoch = self._epoch
        return lambda: epoch != self._epoch

    async def wait(self, run: Run[Any], until: float) -> None:
        """Wait for a time, or for the end of the run or of the server."""
        changed, is_closing = asyncio.Event(), self._closing()
        with run.listening(changed):
            await wait_until(self.clock, changed, until, lambda: run.cancelled_at is not None or is_closing())


def parsed_faults(faults: Iterable[Fault | str]) -> list[Fault]:
    """
    Return the option `faults` of a mock provider, parsed.

    Raises:
        TypeError: It is one string.

        ValueError: One of them is not valid.
    """
    if isinstance(faults, str):
        raise TypeError("faults: expected several of them, got one string")
    return [parse_fault(fault) if isinstance(fault, str) else fault for fault in faults]


def _faults_of(answer: Answer) -> Iterator[Fault]:
    yield from parse_faults(" ".join(answer.faults))
    if answer.cut_after is not None:
        yield Fault(name="cut", at=answer.cut_after, times=1)


def _readable(data: bytes | None) -> Any:
    try:
        return parse_body(data) if data else None
    except ApiError:
        return None
