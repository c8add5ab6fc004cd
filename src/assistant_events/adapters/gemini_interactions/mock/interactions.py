"""The requests of the Interactions API: create, get, cancel and delete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, ClassVar, cast, final, get_args

import attrs
from starlette.responses import Response
from starlette.types import ASGIApp

from assistant_events.adapters.gemini_interactions.mock.answers import Answer
from assistant_events.adapters.gemini_interactions.mock.fault_frames import FAULT_FRAMES
from assistant_events.adapters.gemini_interactions.mock.form import FORM
from assistant_events.adapters.gemini_interactions.mock.frames import Prepared, joined
from assistant_events.adapters.gemini_interactions.mock.request_facts import read_request
from assistant_events.adapters.gemini_interactions.mock.runs import EventIds, Run, version_1_actions
from assistant_events.adapters.gemini_interactions.mock.signatures import SignatureLedger
from assistant_events.adapters.gemini_interactions.mock.validation import (
    Generation,
    Known,
    check_create,
    generation_of,
    is_bound_to_connection,
    is_stored,
    is_true,
)
from assistant_events.adapters.gemini_interactions.mock.wire_versions import version_1
from assistant_events.adapters.gemini_interactions.step_stream import Arguments
from assistant_events.adapters.json_fields import is_array, is_object
from assistant_events.mock.clock import ProviderClock
from assistant_events.mock.faults import Fault
from assistant_events.mock.fixtures import Fixtures
from assistant_events.mock.requests import ApiError, json_response, parse_object
from assistant_events.mock.service import OTHER_ANSWER, Call, MockService, Settings, Slot
from assistant_events.mock.stream_actions import StreamActions


@final
@attrs.frozen(kw_only=True)
class InteractionsSettings(Settings):
    """Limits and behaviour of the mock, as `MockProvider` describes them."""

    generation: Generation = 2
    sign: bool = True
    arguments: Arguments = "streamed"
    event_ids: EventIds = "background"
    max_body_bytes: int = 20 << 20
    """Limit of the Gemini API: "Request payload size exceeds the limit: 20971520 bytes"."""

    def __attrs_post_init__(self) -> None:
        for name, words in (("generation", Generation), ("arguments", Arguments), ("event_ids", EventIds)):
            if (value := getattr(self, name)) not in get_args(words):
                raise ValueError(f"{name}: expected {' or '.join(map(repr, get_args(words)))}, got {value!r}")


@final
class InteractionsService(MockService[Run]):
    """The state of a mock of the Interactions API."""

    FORM = FORM
    FRAMES = FAULT_FRAMES
    STATUS_WITHOUT_KEY: ClassVar[int] = 403

    def __init__(
        self, fixtures: Fixtures, settings: InteractionsSettings, faults: Sequence[Fault], clock: ProviderClock
    ) -> None:
        self._settings = settings
        self._make_id = settings.make_id or (lambda: f"v1_{token_urlsafe(24)}")
        self._prepared: dict[tuple[Slot, ...], Prepared] = {}
        self._ledger = SignatureLedger()
        self._made = 0
        super().__init__(fixtures, settings, faults, clock)

    def add(self, fixtures: Fixtures) -> None:
        """Add fixtures before the present ones, until the next reset. Present ones keep their counts."""
        super().add(fixtures)
        for fixture in fixtures:
            for answer in fixture.answers:
                self._ledger.note_steps(cast("Answer", answer).steps, served=False)

    def reset(self) -> None:
        """Forget all runs, requests and added fixtures, reset the counts, and end all streams."""
        self._prepared = {}
        self._ledger = SignatureLedger()
        super().reset()

    # -- requests

    async def create(self, call: Call) -> ASGIApp:
        """Answer `POST /interactions`: with a document, or with a stream when the body wants one."""
        self.check_faults(call, "create")
        body = parse_object(call.data)
        chain = self._chain(body)
        if chain and self.takes_fault(call, "no-chaining"):
            raise ApiError(501, "previous_interaction_id is not implemented for interactions with built-in tools.")
        self._check(body, self._generation(call), chain)
        run = self._new_run(call, body, self._slots(body, [run.body for run in chain]))
        return await self.respond(call, run, is_stream=is_true(body.get("stream")))

    async def get(self, call: Call, run_id: str) -> ASGIApp:
        """Answer `GET /interactions/{id}`: with the document, or with its events from the start or after a cursor."""
        run = self._run(run_id)
        self.check_faults(call, "get", run)
        query = call.request.query_params
        if not is_true(query.get("stream")):
            if run.budget.take_due("document") + call.budget.take_due("document"):
                run = self.other_run(run)
            return self.document(call, run, run.poll(), with_input=True)
        event_id = query.get("last_event_id")
        after = run.place_of(event_id) if event_id else 0
        if after is None:
            raise ApiError(400, "last_event_id: this interaction has no such event")
        return self.stream(call, run, after=after, is_replay=True)

    async def cancel(self, call: Call, run_id: str) -> ASGIApp:
        """Answer `POST /interactions/{id}/cancel`: the run and its open streams end."""
        run = self._run(run_id)
        self.check_faults(call, "cancel", run)
        run.cancel()
        return self.document(call, run, run.poll(), with_input=True)

    async def delete(self, call: Call, run_id: str) -> ASGIApp:
        """
        Answer `DELETE /interactions/{id}`: the record is removed, the run continues.

        The service answers 200 for every id, also for unknown ones.
        """
        self.check_faults(call, "delete", self.runs.get(run_id))
        self.runs.remove(run_id)
        return json_response({})

    # -- parts of them

    def _run(self, run_id: str) -> Run:
        run = self.runs.get(run_id)
        if run is None:
            raise ApiError(404, f"Interaction {run_id!r} was not found.")
        return run

    def _generation(self, call: Call) -> Generation:
        return generation_of(call.request.headers, self._settings.generation)

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
            ledger=self._ledger if self._settings.sign else None,
            call_ids=frozenset(_call_ids(chain)) if chain else None,
            token=chain[-1].token if chain else None,
        )
        check_create(body, generation, known)

    def _slots(self, body: Mapping[str, Any], bodies: Sequence[Mapping[str, Any]]) -> list[Slot]:
        """Return the answer of a request, and the hops that the service joins with it in the background."""
        slots = [self.find(read_request(body, bodies)).serve()]
        if body.get("background") is not True and not body.get("agent"):
            return slots
        hop = {name: value for name, value in body.items() if name != "input"}
        tokens: set[str] = set()
        while (token := _token(slots[-1])) is not None and token not in tokens:
            tokens.add(token)
            facts = read_request({**hop, "continuation_token": token}, [*bodies, body])
            # A fixture without this token would continue itself without end.
            served = self.peek(facts)
            if served is None or getattr(served.fixture.match, "continuation_token", None) != token:
                break
            slots.append(served.serve())
        return slots

    def _new_run(self, call: Call, body: Mapping[str, Any], slots: Sequence[Slot]) -> Run:
        faults = self.faults_of_run(call, slots[0])
        prepared = self._prepare(tuple(slots))
        run_id = prepared.answer.id or self._make_id()
        self._made += 1
        run = self.start(
            Run(
                run_id,
                prepared,
                body,
                salt=sha256(f"{run_id} {self._made}".encode()).digest(),
                clock=self.clock,
                faults=faults,
                event_ids=self._settings.event_ids,
            )
        )
        if self._settings.sign:
            self._ledger.note_steps(run.steps)
        if is_stored(body):
            self.runs.add(run, len(call.data))
        return run

    def _prepare(self, slots: tuple[Slot, ...]) -> Prepared:
        if slots not in self._prepared:
            first, *others = [cast("Answer", slot.answer) for slot in slots]
            for answer in others:
                first = joined(first, answer)
            self._prepared[slots] = Prepared(first, arguments=self._settings.arguments, signs=self._settings.sign)
        return self._prepared[slots]

    # -- what the general service needs

    def other_run(self, run: Run) -> Run:
        """Return a finished run that no client created, as an endpoint returns it that mixes up its runs."""
        other = cast("Answer", self.FORM.read_answer(OTHER_ANSWER))
        prepared = Prepared(other, arguments=self._settings.arguments, signs=False)
        event_ids = self._settings.event_ids
        return self.start(Run(self._make_id(), prepared, run.body, salt=b"", clock=self.clock, event_ids=event_ids))

    def actions_of(self, call: Call, run: Run, after: int) -> tuple[StreamActions, Callable[[], StreamActions]]:
        """Return the actions of a run and of its cancellation, in the generation that the request wants."""
        if self._generation(call) == 2:
            return super().actions_of(call, run, after)
        return version_1_actions(run.actions(), after), lambda: version_1_actions(run.cancellation())

    def on_end(self, run: Run, whole: bool) -> None:
        """Record the end of a stream; a run that is bound to its connection ends with it."""
        super().on_end(run, whole)
        if not whole and is_bound_to_connection(run.body.get("agent")):
            self.runs.remove(run.id)

    def document(self, call: Call, run: Run, status: str, *, with_input: bool = False) -> Response:
        """Return a run as a document, in the generation that the request wants."""
        document = run.resource(status, with_input=with_input)
        return json_response(document if self._generation(call) == 2 else version_1(document))


def _token(slot: Slot) -> str | None:
    return cast("Answer", slot.answer).continuation_token


def _call_ids(chain: Sequence[Run]) -> Iterator[str]:
    for run in chain:
        given = run.body.get("input")
        for step in (*run.prepared.steps, *(given if is_array(given) else ())):
            if is_object(step) and step.get("type") == "function_call" and isinstance(step.get("id"), str):
                yield step["id"]
