"""A mock of the Interactions API: its service, and its options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from secrets import token_urlsafe
from typing import Any, Final, Unpack, cast, final, get_args

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from assistant_events.adapters.gemini_interactions.mock.aimock import FORM
from assistant_events.adapters.gemini_interactions.mock.answers import Answer
from assistant_events.adapters.gemini_interactions.mock.errors import error_response
from assistant_events.adapters.gemini_interactions.mock.frames import Prepared, joined
from assistant_events.adapters.gemini_interactions.mock.request_facts import read_request
from assistant_events.adapters.gemini_interactions.mock.runs import FAULT_FRAMES, EventIds, Run, version_1_actions
from assistant_events.adapters.gemini_interactions.mock.signatures import StepLedger
from assistant_events.adapters.gemini_interactions.mock.validation import (
    Generation,
    Known,
    check_create,
    generation_of,
    is_bound_to_connection,
    is_true,
)
from assistant_events.adapters.gemini_interactions.mock.wire_versions import version_1
from assistant_events.adapters.gemini_interactions.step_stream import Arguments
from assistant_events.adapters.json_fields import is_array, is_object, string
from assistant_events.mock import app, fixtures
from assistant_events.mock.fixture_files import FixtureSource
from assistant_events.mock.fixtures import Fixtures
from assistant_events.mock.google_api import GoogleService
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.requests import Api, ApiError, json_response
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call, Settings, Slot
from assistant_events.mock.stream_actions import StreamActions

# Official clients put a version before the path, for Vertex a project and a location too.
_PREFIXES: Final = ("/{version}", "/{version}/projects/{project}/locations/{location}")

# What the service lets a browser send (wire reference, seen 2026-11): `api-revision` is not among them.
_CORS: Final = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": "content-type, x-goog-api-key, x-goog-api-client, authorization",
    "access-control-max-age": "3600",
}


@final
@attrs.frozen(kw_only=True)
class InteractionsSettings(Settings):
    """Limits and behaviour of the mock, as `MockProvider` describes them."""

    generation: Generation = 2
    arguments: Arguments = "streamed"
    event_ids: EventIds = "background"
    max_body_bytes: int = 20 << 20
    """Limit of the Gemini API: "Request payload size exceeds the limit: 20971520 bytes"."""

    def __attrs_post_init__(self) -> None:
        for name, words in (("generation", Generation), ("arguments", Arguments), ("event_ids", EventIds)):
            if (value := getattr(self, name)) not in get_args(words):
                raise ValueError(f"{name}: expected {' or '.join(map(repr, get_args(words)))}, got {value!r}")


@final
class InteractionsService(GoogleService[Run]):
    """The state of a mock of the Interactions API."""

    PATHS = tuple([f"{prefix}/interactions" for prefix in _PREFIXES])
    MODEL_PATHS = tuple([f"{prefix}/models" for prefix in _PREFIXES])
    FRAMES = FAULT_FRAMES
    PREPARED = Prepared
    RUN = Run
    FORM = FORM
    LEDGER = StepLedger
    error_response = staticmethod(error_response)

    def add(self, fixtures: Fixtures) -> None:
        """Add fixtures before the present ones, until the next reset. Present ones keep their counts."""
        super().add(fixtures)
        for fixture in fixtures:
            for answer in fixture.answers:
                self._ledger.note_steps(cast("Answer", answer).steps, served=False)

    @property
    def _settings(self) -> InteractionsSettings:
        return cast("InteractionsSettings", self.settings)

    @property
    def _ledger(self) -> StepLedger:
        return cast("StepLedger", self.ledger)

    # -- what the base asks for

    def new_id(self) -> str:
        """Return a random id of an answer."""
        return f"v1_{token_urlsafe(24)}"

    def body(self, call: Call) -> Body:
        """Return the body of a request. Raises `ApiError`."""
        body = super().body(call)
        if self._chain(body) and self.takes_fault(call, "no-chaining"):
            raise ApiError(501, "previous_interaction_id is not implemented for interactions with built-in tools.")
        return body

    @staticmethod
    def wants_stream(body: Body) -> bool:
        """Return whether a request wants a stream, in any spelling of `true`."""
        return is_true(body.get("stream"))

    def facts(self, body: Body) -> RequestFacts:
        """Return what fixtures are compared with in a request."""
        return read_request(body, [run.body for run in self._chain(body)])

    def check(self, call: Call, body: Body) -> None:
        """Check a request as the service does. Raises `ApiError`."""
        previous, chain = body.get("previous_interaction_id"), self._chain(body)
        if isinstance(previous, str) and previous and not chain:
            raise ApiError(404, f"Previous interaction {previous!r} was not found.")
        known = Known(
            ledger=self._ledger if self.signs else None,
            call_ids=frozenset(_call_ids(chain)) if chain else None,
            token=chain[-1].token if chain else None,
        )
        check_create(body, self._generation(call), known)

    def answer_to(self, body: Body, answer: fixtures.Answer) -> Answer:
        """Return an answer with the hops that the service joins with it in the background."""
        found = cast("Answer", answer)
        if body.get("background") is not True and not body.get("agent"):
            return found
        hop = {name: value for name, value in body.items() if name != "input"}
        bodies = [*[run.body for run in self._chain(body)], body]
        tokens: set[str] = set()
        while (token := found.continuation_token) is not None and token not in tokens:
            tokens.add(token)
            # A fixture without this token would continue itself without end.
            served = self.peek(read_request({**hop, "continuation_token": token}, bodies))
            if served is None or getattr(served.fixture.match, "continuation_token", None) != token:
                break
            found = joined(found, cast("Answer", served.serve().answer))
        return found

    def prepare(self, answer: fixtures.Answer) -> Prepared:
        """Return an answer as it can be sent."""
        return Prepared(answer, signs=self.signs, arguments=self._settings.arguments)

    def run_options(self, body: Body) -> Mapping[str, Any]:
        """Return further options of the run of a request."""
        background, previous = body.get("background") is True, body.get("previous_interaction_id")
        return {"background": background, "previous_id": previous, "event_ids": self._settings.event_ids}

    def new_run(self, call: Call, body: Body, slot: Slot) -> Run:
        """Return the run of a request; it is kept unless `store` is false."""
        run = super().new_run(call, body, slot)
        if self.signs:
            self._ledger.note_steps(run.steps)
        if run.stored:
            self.runs.add(run, len(call.data))
        return run

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

    def document(self, call: Call, run: Run, status: str) -> Response:
        """Return a run as a document, in the generation that the request wants; a run that exists has its input."""
        document = run.resource(status, with_input="id" in call.request.path_params)
        return json_response(document if self._generation(call) == 2 else version_1(document))

    def api(self) -> Api:
        """Return the HTTP interface."""

        def one(call: Call) -> ASGIApp:
            return (self.get if call.request.method == "GET" else self.delete)(call)

        def preflight(request: Request) -> Mapping[str, str]:
            wanted = request.headers.get("access-control-request-headers")
            return _CORS if self.settings.strict or not wanted else {**_CORS, "access-control-allow-headers": wanted}

        api = super().api()
        rows = (
            ("/{id}/cancel", ("POST",), self.cancel),
            ("/{id}:cancel", ("POST",), self.cancel),
            ("/{id}", ("GET", "DELETE"), one),
        )
        more = [(f"{path}{end}", methods, self.handler(answer)) for end, methods, answer in rows for path in self.PATHS]
        return attrs.evolve(api, routes=[*api.routes, *more], preflight=preflight)

    # -- requests for a run that exists

    def get(self, call: Call) -> ASGIApp:
        """Answer `GET /interactions/{id}`: with the document, or with its events from the start or after a cursor."""
        run = self._found(call)
        self.check_faults(call, "get", run)
        query = call.request.query_params
        if not is_true(query.get("stream")):
            if run.budget.takes("document") or call.budget.takes("document"):
                run = self.other_run(run)
            return self.document(call, run, run.poll())
        event_id = query.get("last_event_id")
        after = run.place_of(event_id) if event_id else 0
        if after is None:
            raise ApiError(400, "last_event_id: this interaction has no such event")
        return self.stream(call, run, after=after, is_replay=True)

    def cancel(self, call: Call) -> ASGIApp:
        """Answer `POST /interactions/{id}/cancel`: the run and its open streams end."""
        run = self._found(call)
        self.check_faults(call, "cancel", run)
        run.cancel()
        return self.document(call, run, run.poll())

    def delete(self, call: Call) -> ASGIApp:
        """
        Answer `DELETE /interactions/{id}`: the record is removed, the run continues.

        The service answers 200 for every id, also for unknown ones.
        """
        run_id = call.request.path_params["id"]
        self.check_faults(call, "delete", self.runs.get(run_id))
        self.runs.remove(run_id)
        return json_response({})

    # -- parts of them

    def _found(self, call: Call) -> Run:
        run_id = call.request.path_params["id"]
        run = self.runs.get(run_id)
        if run is None:
            raise ApiError(404, f"Interaction {run_id!r} was not found.")
        return run

    def _generation(self, call: Call) -> Generation:
        return generation_of(call.request.headers, self._settings.generation)

    def _chain(self, body: Body) -> list[Run]:
        return self.runs.chain(body.get("previous_interaction_id"))


def _call_ids(chain: Sequence[Run]) -> Iterator[str]:
    for run in chain:
        given = run.body.get("input")
        for step in (*cast("Answer", run.answer).steps, *(given if is_array(given) else ())):
            call_id = string(step, "id") if is_object(step) and step.get("type") == "function_call" else None
            if call_id is not None:
                yield call_id


class ProviderOptions(app.ProviderOptions, total=False):
    """The options of `MockProvider`."""

    generation: Generation
    arguments: Arguments
    event_ids: EventIds


class MockProvider(app.MockProvider):
    """
    A provider of the Interactions API that answers from fixtures, in both generations at once.

    It has the options of `assistant_events.mock.MockProvider`, and some of its own.

    Args:
        fixtures: The answers, in any form that `fixtures_of` accepts.

        generation: Of the wire, 2 by default, for requests that do not name one in `Api-Revision` and are not of a
            client 1.x.

        arguments: Whether the arguments of calls come in deltas after `arguments: {}` (`streamed`, as the service
            sends them, the default), or with the start of their step (`whole`).

        event_ids: Which events have a cursor: those of `background` runs by default.

    Raises:
        ValueError: An option is not valid.

        FixtureError: The fixtures are not valid.
    """

    SETTINGS = InteractionsSettings
    SERVICE = InteractionsService

    def __init__(self, fixtures: FixtureSource, **options: Unpack[ProviderOptions]) -> None:
        # Any: the base does not know the options of this one.
        super().__init__(fixtures, **cast("Any", options))
