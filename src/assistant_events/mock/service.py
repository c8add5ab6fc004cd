"""
What the mock provider does for each request: the fixture that answers it, the run that it makes or asks for.

Knows nothing of paths; `routes` says which request is which.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from math import inf
from typing import Any, Final, TypeAlias, TypeVar, cast, final
from weakref import WeakSet

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from assistant_events.adapters.gemini_interactions.step_stream import Arguments
from assistant_events.adapters.gemini_interactions.wire_versions import version_1
from assistant_events.adapters.json_fields import valid_json
from assistant_events.mock import fixtures
from assistant_events.mock.answers import Answer
from assistant_events.mock.api_errors import ApiError
from assistant_events.mock.api_versions import Generation, generation_of
from assistant_events.mock.clock import ProviderClock
from assistant_events.mock.faults import Fault, apply_faults, delay_of, parse_faults
from assistant_events.mock.fixtures import Fixtures
from assistant_events.mock.frames import Prepared, joined
from assistant_events.mock.request_facts import read_request
from assistant_events.mock.requests import RequestLog, has_key, parse_body, read_body
from assistant_events.mock.runs import EventIds, FaultBudget, Run, RunStore, version_1_moves
from assistant_events.mock.signatures import SignatureLedger
from assistant_events.mock.streaming import EventStream
from assistant_events.mock.validation import Known, check_create, is_bound_to_connection, is_stored, is_true
from assistant_events.values import write_json

_T = TypeVar("_T")

_Key: TypeAlias = tuple[int, ...]
"""Of an answer: the place of its fixture and its number there, and the same of every hop that is joined to it."""

FAULT_HEADER: Final = "x-mock-fault"

_OTHER_ANSWER: Final = Answer(
    steps=({"type": "model_output", "content": [{"type": "text", "text": "This is the answer of another run."}]},)
)


@final
@attrs.frozen(kw_only=True)
class Settings:
    """How a mock provider behaves. `MockProvider` says what each of them means."""

    generation: Generation
    strict: bool
    require_key: bool
    sign: bool
    arguments: Arguments
    event_ids: EventIds
    max_body_bytes: int
    max_runs: int
    max_kept_bytes: int
    max_requests: int
    make_id: Callable[[], str]


@final
@attrs.frozen(kw_only=True)
class Call:
    """One request, as far as every action needs it."""

    query: Mapping[str, str]
    generation: Generation
    faults: tuple[Fault, ...]
    """Of the request itself."""

    strikes: FaultBudget
    data: bytes


class Service:
    """
    The state of a mock provider, and what it does for a request.

    Args:
        fixtures: What it answers.

        settings: How it behaves.

        faults: Of the whole server.

        clock: Its time.
    """

    def __init__(self, fixtures: Fixtures, settings: Settings, faults: Sequence[Fault], clock: ProviderClock) -> None:
        self.settings = settings
        self._fixtures = fixtures
        self._faults = tuple(faults)
        self._clock = clock
        self._prepared: dict[_Key, Prepared] = {}
        self._active: WeakSet[Run] = WeakSet()
        self._epoch = 0
        self._made = 0
        self._own_faults = _own_faults(fixtures)
        self._first = fixtures
        self._begin()

    def _begin(self) -> None:
        settings = self.settings
        self.log = RequestLog(settings.max_requests, settings.max_kept_bytes)
        self.runs = RunStore(settings.max_runs, settings.max_kept_bytes)
        self._served: dict[int, int] = {}
        self._strikes = FaultBudget(self._faults)
        self._fixture_strikes: dict[_Key, FaultBudget] = {}
        self._ledger = SignatureLedger()
        self._note(self._fixtures)

    def _note(self, fixtures: Fixtures) -> None:
        for fixture in fixtures:
            for answer in fixture.answers:
                self._ledger.note_steps(cast("Answer", answer).steps, served=False)

    def add(self, fixtures: Fixtures) -> None:
        """Put *fixtures* before those that there are, until the next reset. What is counted stays with its fixture."""
        own_faults, count = _own_faults(fixtures), len(fixtures)
        self._fixtures = Fixtures((*fixtures, *self._fixtures))
        self._own_faults = own_faults | _moved(self._own_faults, count)
        self._prepared = _moved(self._prepared, count)
        self._fixture_strikes = _moved(self._fixture_strikes, count)
        self._served = {place + count: served for place, served in self._served.items()}
        self._note(fixtures)

    def close(self) -> None:
        """End all open streams, and whatever else waits."""
        self._epoch += 1
        for run in tuple(self._active):
            run.notify()

    def reset(self) -> None:
        """Forget every run and request, count from the start again, and end all streams."""
        self.close()
        if self._fixtures is not self._first:
            self._fixtures, self._prepared = self._first, {}
            self._own_faults = _own_faults(self._first)
        self._begin()

    # -- a request

    async def call(self, request: Request) -> Call:
        """
        Read a request and note it in the log.

        Raises:
            Refusal: When it has no key, is too long, or names a fault that there is not.
        """
        data = await read_body(request, self.settings.max_body_bytes)
        self.log.add(request, _readable(data), len(data or b""))
        if self.settings.require_key and not has_key(request):
            raise ApiError(403, "The request has no API key: send x-goog-api-key, ?key= or Authorization.")
        if data is None:
            raise ApiError(413, f"Request payload size exceeds the limit: {self.settings.max_body_bytes} bytes.")
        try:
            faults = parse_faults(request.headers.get(FAULT_HEADER, ""))
        except ValueError as error:
            raise ApiError(400, f"{FAULT_HEADER}: {error}") from None
        return Call(
            query=request.query_params,
            generation=generation_of(request.headers, self.settings.generation),
            faults=faults,
            strikes=FaultBudget(faults),
            data=data,
        )

    async def create(self, call: Call) -> ASGIApp:
        """Answer `POST /interactions`: with a document, or with a stream when the body says so."""
        self._strike(call, "create")
        body = parse_body(call.data)
        if not isinstance(body, dict):
            raise ApiError(400, "Invalid JSON payload received: the request is no object.")
        chain = self._chain(body)
        if chain and self._due(call, "no-chaining"):
            raise ApiError(501, "previous_interaction_id is not implemented for interactions with built-in tools.")
        self._check(body, call.generation, chain)
        place, answer = self._answer(body, chain)
        run = self._new_run(call, body, place, answer)
        if is_true(body.get("stream")):
            return self._stream(call, run, after=0, is_replay=False)
        delay = delay_of(run.strikes.take_due("stream", name="slow-first-byte"))
        if run.background or run.is_zombie:
            await self._wait(run, self._clock.now() + delay + answer.timing.first_byte_s)
            return _resource(call, run, run.first_status())
        await self._wait(run, run.ends_at() + delay)
        return _resource(call, run, run.poll())

    async def get(self, call: Call, run_id: str) -> ASGIApp:
        """Answer `GET /interactions/{id}`: with the document, or with its events from the start or after a cursor."""
        run = self._run(run_id)
        self._strike(call, "get", run)
        if not is_true(call.query.get("stream")):
            if run.strikes.take_due("document") + call.strikes.take_due("document"):
                run = self._other_run(run)
            return _resource(call, run, run.poll(), with_input=True)
        event_id = call.query.get("last_event_id")
        after = run.place_of(event_id) if event_id else 0
        if after is None:
            raise ApiError(400, "last_event_id: this interaction has no such event")
        return self._stream(call, run, after=after, is_replay=True)

    async def cancel(self, call: Call, run_id: str) -> ASGIApp:
        """Answer `POST /interactions/{id}/cancel`: the run ends here, and its open streams say so."""
        run = self._run(run_id)
        self._strike(call, "cancel", run)
        run.cancel()
        return _resource(call, run, run.poll(), with_input=True)

    async def delete(self, call: Call, run_id: str) -> ASGIApp:
        """
        Answer `DELETE /interactions/{id}`: the record is gone, the run is not.

        The service answers 200 for every id, also for those that it does not know.
        """
        self._strike(call, "delete", self.runs.get(run_id))
        self.runs.remove(run_id)
        return _json({})

    # -- what a request needs

    def _run(self, run_id: str) -> Run:
        run = self.runs.get(run_id)
        if run is None:
            raise ApiError(404, f"Interaction {run_id!r} was not found.")
        return run

    def _chain(self, body: Mapping[str, Any]) -> list[Run]:
        previous = body.get("previous_interaction_id")
        chain = self.runs.chain(previous)
        if isinstance(previous, str) and previous and not chain and self.settings.strict:
            raise ApiError(404, f"Previous interaction {previous!r} was not found.")
        return chain

    def _check(self, body: Mapping[str, Any], generation: Generation, chain: Sequence[Run]) -> None:
        if not self.settings.strict:
            return
        known = Known(
            ledger=self._ledger if self.settings.sign else None,
            call_ids=frozenset(_call_ids(chain)) if chain else None,
            token=chain[-1].token if chain else None,
        )
        check_create(body, generation, known)

    def _answer(self, body: Mapping[str, Any], chain: Sequence[Run]) -> tuple[_Key, Answer]:
        bodies = [run.body for run in chain]
        wanted = read_request(body, bodies)
        place = self._fixtures.find(wanted, self._served)
        if place is None:
            # The classic body: @ai-sdk/google shows the message of no other.
            text = self._fixtures.miss(wanted, self._served)
            raise ApiError(400, text, code=400, name="NO_FIXTURE")
        key, answer = self._serve(place)
        if body.get("background") is True or body.get("agent"):
            return self._with_hops([*bodies, body], key, answer)
        return key, answer

    def _serve(self, place: int) -> tuple[_Key, Answer]:
        fixture = self._fixtures.fixtures[place]
        number = self._served.get(place, 0)
        answer = fixture.answer(number)
        assert answer is not None  # what `find` returns has one
        self._served[place] = number + 1
        return (place, min(number, len(fixture.answers) - 1)), cast("Answer", answer)

    def _with_hops(self, bodies: Sequence[Mapping[str, Any]], key: _Key, answer: Answer) -> tuple[_Key, Answer]:
        """Join the hops of a long answer, as the service does in the background and for agents."""
        hop = {name: value for name, value in bodies[-1].items() if name != "input"}
        tokens: set[str] = set()
        while answer.continuation_token is not None and answer.continuation_token not in tokens:
            token = answer.continuation_token
            tokens.add(token)
            place = self._fixtures.find(read_request({**hop, "continuation_token": token}, bodies), self._served)
            # A fixture for anything would follow itself for ever.
            if place is None or getattr(self._fixtures.fixtures[place].match, "continuation_token", None) != token:
                break
            more, following = self._serve(place)
            key, answer = (*key, *more), joined(answer, following)
        return key, answer

    def _new_run(self, call: Call, body: Mapping[str, Any], place: _Key, answer: Answer) -> Run:
        own = self._own_faults[place[:2]]
        strikes = self._fixture_strikes.setdefault(place, FaultBudget(own))
        for fault in strikes.take_due("request", route="create"):
            _refuse(fault, self._clock)
        if answer.http_error is not None:
            error = answer.http_error
            raise ApiError(error.status, error.message, code=error.code, headers=dict(error.headers))
        about_runs = [fault for fault in (*self._faults, *call.faults) if fault.kind.reach != "request"]
        run_id = answer.id or self.settings.make_id()
        self._made += 1
        run = Run(
            run_id,
            self._prepare(place, answer),
            body,
            salt=sha256(f"{run_id} {self._made}".encode()).digest(),
            clock=self._clock,
            faults=(*about_runs, *own),
            event_ids=self.settings.event_ids,
        )
        self._active.add(run)
        if self.settings.sign:
            self._ledger.note_steps(run.steps)
        if is_stored(body):
            self.runs.add(run, len(call.data))
        return run

    def _other_run(self, run: Run) -> Run:
        """Return a finished run that nobody has asked for, as an endpoint returns it that mixes up its runs."""
        prepared = Prepared(_OTHER_ANSWER, arguments=self.settings.arguments, signs=False)
        event_ids = self.settings.event_ids
        other = Run(self.settings.make_id(), prepared, run.body, salt=b"", clock=self._clock, event_ids=event_ids)
        self._active.add(other)
        return other

    def _prepare(self, place: _Key, answer: Answer) -> Prepared:
        if place not in self._prepared:
            settings = self.settings
            self._prepared[place] = Prepared(answer, arguments=settings.arguments, signs=settings.sign)
        return self._prepared[place]

    def _strike(self, call: Call, route: str, run: Run | None = None) -> None:
        """Refuse the request when a fault says so."""
        for strikes in (call.strikes, self._strikes, *([] if run is None else [run.strikes])):
            for fault in strikes.take_due("request", route=route):
                _refuse(fault, self._clock)

    def _due(self, call: Call, name: str) -> bool:
        return any(strikes.take_due("request", name=name) for strikes in (call.strikes, self._strikes))

    # -- answers

    def _stream(self, call: Call, run: Run, *, after: int, is_replay: bool) -> EventStream:
        faults = run.strikes.take_due(*(("stream", "replay") if is_replay else ("stream",)))
        if is_replay:
            faults += call.strikes.take_due("stream", "replay")
        if any(fault.name == "other-run-replay" for fault in faults):
            run, after = self._other_run(run), 0
        first_byte = 0.0 if is_replay else run.prepared.answer.timing.first_byte_s
        opens = self._clock.now() + delay_of(faults) + first_byte
        moves, cancellation = run.moves(after=after), run.cancellation
        if call.generation == 1:
            moves = version_1_moves(run.moves(), after)
            cancellation = lambda: version_1_moves(run.cancellation(), 0)  # noqa: E731
        return EventStream(
            run,
            cancellation,
            apply_faults(moves, faults, opened=opens, status_update=run.status_update()),
            clock=self._clock,
            opens=opens,
            is_closing=partial(self._is_past, self._epoch),
            on_end=partial(self._on_end, run),
        )

    def _on_end(self, run: Run, whole: bool) -> None:
        if whole:
            run.delivered()
        elif is_bound_to_connection(run.body.get("agent")):
            self.runs.remove(run.id)

    def _is_past(self, epoch: int) -> bool:
        return epoch != self._epoch

    async def _wait(self, run: Run, until: float) -> None:
        """Wait for a time, or for the end of the run or of the server."""
        changed = asyncio.Event()
        epoch = self._epoch
        stop_listening = run.listen(asyncio.get_running_loop(), changed)
        try:
            while run.cancelled_at is None and epoch == self._epoch:
                left = until - self._clock.now()
                if left <= 0:
                    return
                changed.clear()
                await self._clock.wait(changed, None if left == inf else left)
        finally:
            stop_listening()


def _resource(call: Call, run: Run, status: str, *, with_input: bool = False) -> ASGIApp:
    document = run.resource(status, with_input=with_input)
    return _json(document if call.generation == 2 else version_1(document))


def _call_ids(chain: Sequence[Run]) -> Iterator[str]:
    for run in chain:
        given = run.body.get("input")
        for step in (*run.prepared.steps, *(given if isinstance(given, list) else ())):
            if isinstance(step, dict) and step.get("type") == "function_call" and isinstance(step.get("id"), str):
                yield step["id"]


def _own_faults(fixtures: Fixtures) -> dict[_Key, tuple[Fault, ...]]:
    return {
        (place, number): (*parse_faults(" ".join(answer.faults)), *_cut(answer))
        for place, fixture in enumerate(fixtures)
        for number, answer in enumerate(fixture.answers)
    }


def _moved(kept: Mapping[_Key, _T], count: int) -> dict[_Key, _T]:
    return {
        tuple([number + count * (at % 2 == 0) for at, number in enumerate(key)]): value for key, value in kept.items()
    }


def _cut(answer: fixtures.Answer) -> tuple[Fault, ...]:
    return () if answer.cut_after is None else (Fault(name="cut", at=answer.cut_after, times=1),)


def _refuse(fault: Fault, clock: ProviderClock) -> None:
    if not fault.name.startswith("http-"):
        return
    headers: dict[str, str] = {}
    if fault.status == 429:
        # The official clients read both, milliseconds first.
        headers = {"retry-after": "1", "retry-after-ms": f"{clock.real(1.0) * 1000:.0f}"}
    raise ApiError(fault.status, f"the mock provider was told to answer {fault.status}", headers=headers)


def _readable(data: bytes | None) -> Any:
    # Any: a client sent it.
    try:
        return parse_body(data) if data else None
    except ApiError:
        return None


def _json(document: Mapping[str, Any]) -> Response:
    data = write_json(document)
    if b"\\ud" in data:  # never for a pair that is whole, unless the text itself talks of escapes
        data = write_json(valid_json(document))
    return Response(data, media_type="application/json")
