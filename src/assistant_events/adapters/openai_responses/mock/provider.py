"""A mock of the Responses API: its service, its HTTP interface, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from secrets import token_hex
from typing import ClassVar, Unpack, cast, final

from starlette.requests import Request
from starlette.types import ASGIApp

from assistant_events.adapters.json_fields import string
from assistant_events.adapters.openai_responses.mock.answers import Answer, message_item
from assistant_events.adapters.openai_responses.mock.form import FORM
from assistant_events.adapters.openai_responses.mock.request_facts import input_items, read_request
from assistant_events.adapters.openai_responses.mock.runs import (
    FAULT_FRAMES,
    SEALED,
    Prepared,
    Run,
    call_ids,
    output_of,
)
from assistant_events.adapters.openai_responses.mock.validation import ItemLedger, Known, check_create
from assistant_events.mock import app, fixtures
from assistant_events.mock.app import Api, preflight_for
from assistant_events.mock.clock import ProviderClock, ScaledClock
from assistant_events.mock.documents import DocumentOptions, DocumentService, DocumentSettings, PreparedAnswer
from assistant_events.mock.faults import Fault
from assistant_events.mock.fixture_files import FixtureSource, fixtures_of
from assistant_events.mock.fixtures import Fixtures
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.openai_errors import error_response
from assistant_events.mock.requests import ApiError, json_response
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call, Slot, parsed_faults


@final
class ResponsesService(DocumentService[Run]):
    """The state of a mock of the Responses API."""

    OTHER_ANSWER: ClassVar[fixtures.Answer] = Answer(output=(message_item("This is the answer of another run."),))

    def __init__(
        self, given: Fixtures, settings: DocumentSettings, faults: Sequence[Fault], clock: ProviderClock
    ) -> None:
        self._items = ItemLedger()
        super().__init__(
            given,
            settings,
            faults,
            FAULT_FRAMES,
            clock,
            make_id=lambda: f"resp_{token_hex(24)}",
        )

    def reset(self) -> None:
        """Forget all runs, requests and added fixtures, reset the counts, and end all streams."""
        self._items = ItemLedger()
        super().reset()

    # -- what the base asks for

    def prepare(self, answer: fixtures.Answer) -> PreparedAnswer:
        """Return an answer that can be sent."""
        return Prepared(answer, signs=self.signs)

    def make_run(self, run_id: str, prepared: PreparedAnswer, body: Body, salt: bytes, faults: Iterable[Fault]) -> Run:
        """Return a run."""
        return Run(
            run_id,
            cast("Prepared", prepared),
            body,
            salt=salt,
            clock=self.clock,
            faults=faults,
            background=body.get("background") is True,
            previous_id=body.get("previous_response_id"),
        )

    def signed_items(self, answer: fixtures.Answer) -> Iterable[tuple[str, object]]:
        """Yield the encrypted contents that an answer of a fixture has itself."""
        for item in cast("Answer", answer).output:
            content = string(item, "encrypted_content")
            if content is not None:
                yield content, SEALED

    def facts(self, body: Body) -> RequestFacts:
        """Return what fixtures are compared with in a request."""
        return read_request(body, [run.body for run in self._chain(body)])

    def check(self, call: Call, body: Body) -> None:
        """Check a request as the service does. Raises `ApiError`."""
        chain = self._chain(body)
        previous = body.get("previous_response_id")
        if previous and not chain:
            text = f"Previous response with id '{previous}' not found."
            raise ApiError(400, text, code="previous_response_not_found")
        sent = [item for run in chain for item in (*input_items(run.body), *output_of(run))]
        answered = {string(item, "call_id") for item in sent if str(item.get("type")).endswith("_output")}
        earlier = [call_id for call_id in call_ids(sent) if call_id not in answered]
        check_create(body, Known(signatures=self.ledger if self.signs else None, items=self._items, call_ids=earlier))

    def new_run(self, call: Call, body: Body, slot: Slot) -> Run:
        """Return the run of a request; it is kept unless `store` is false."""
        if body.get("previous_response_id") and self.takes_fault(call, "no-chaining"):
            raise ApiError(501, "previous_response_id is not implemented.")
        run = super().new_run(call, body, slot)
        self._items.note(output_of(run), stored=run.stored)
        if run.stored:
            self.runs.add(run, len(call.data))
        return run

    def document(self, call: Call, run: Run, status: str) -> ASGIApp:
        """Return the response in a state."""
        return json_response(run.document(status))

    # -- requests for a run that exists

    async def get(self, call: Call, run_id: str) -> ASGIApp:
        """Answer `GET /responses/{id}`: with the document, or with its events from the start or after a number."""
        run = self._run(run_id)
        self.check_faults(call, "get", run)
        query = call.request.query_params
        if query.get("stream", "").lower() != "true":
            if run.budget.take_due("document") + call.budget.take_due("document"):
                run = self.other_run(run)
            return self.document(call, run, run.poll())
        if not run.background:
            raise ApiError(400, "Stream is only supported for responses created with background=true.")
        after = query.get("starting_after", "-1")
        if not after.lstrip("-").isdecimal():
            raise ApiError(400, f"Invalid value for 'starting_after': {after!r}.")
        return self.stream(call, run, after=max(int(after) + 1, 0), is_replay=True)

    async def cancel(self, call: Call, run_id: str) -> ASGIApp:
        """Answer `POST /responses/{id}/cancel`: the run and its open streams end."""
        run = self._run(run_id)
        self.check_faults(call, "cancel", run)
        if not run.background:
            raise ApiError(400, "Cannot cancel a synchronous response.")
        run.cancel()
        return self.document(call, run, run.poll())

    async def delete(self, call: Call, run_id: str) -> ASGIApp:
        """Answer `DELETE /responses/{id}`: the record is removed, the run continues."""
        self.check_faults(call, "delete", self._run(run_id))
        self.runs.remove(run_id)
        return json_response({"id": run_id, "object": "response", "deleted": True})

    def _run(self, run_id: str) -> Run:
        run = self.runs.get(run_id)
        if run is None:
            raise ApiError(404, f"Response with id '{run_id}' not found.")
        return run

    def _chain(self, body: Body) -> list[Run]:
        return self.runs.chain(body.get("previous_response_id"))


def api_of(service: ResponsesService) -> Api:
    """Return the HTTP interface of a service."""

    async def create(request: Request) -> ASGIApp:
        return await service.create(await service.read_call(request))

    async def one(request: Request) -> ASGIApp:
        call = await service.read_call(request)
        run_id: str = request.path_params["id"]
        return await (service.get if request.method == "GET" else service.delete)(call, run_id)

    async def cancel(request: Request) -> ASGIApp:
        return await service.cancel(await service.read_call(request), request.path_params["id"])

    return Api(
        routes=[
            ("/v1/responses", ("POST",), create),
            ("/v1/responses/{id}", ("GET", "DELETE"), one),
            ("/v1/responses/{id}/cancel", ("POST",), cancel),
        ],
        error_response=error_response,
        check=lambda request: None,
        preflight=preflight_for("GET", "POST", "DELETE"),
    )


class MockProvider(app.MockProvider):
    """
    A provider of the Responses API that answers from fixtures.

    Args:
        fixtures: The answers, in any form that `assistant_events.mock.fixture_files.fixtures_of` accepts.

        faults: For every request, as `parse_fault` reads them. A fixture has its own, and a request may name more in
            the header `x-mock-fault`.

        time_scale: Real seconds for each second of the provider.

        clock: The time, in place of *time_scale*.

        strict: Reject what the service rejects, the default. Otherwise every JSON object is a request.

        sign: Give reasonings an encrypted content, and reject one that comes back changed; the default.

        require_key: Reject requests without a key; as *strict* when `None`, the default. Any key is accepted.

        max_body_bytes: Of a request; 32 MiB by default.

        max_runs: Number of responses that are kept (2,000), of *max_kept_bytes* of requests.

        max_kept_bytes: Bytes of requests that are kept, for runs and for the log each (64 MiB).

        max_requests: Number of requests in the log (1,000).

        make_id: Returns the id of the next response; random by default.

    Raises:
        ValueError: An option is not valid.

        FixtureError: The fixtures are not valid.
    """

    def __init__(
        self,
        fixtures: FixtureSource,
        *,
        faults: Iterable[Fault | str] = (),
        time_scale: float = 1.0,
        clock: ProviderClock | None = None,
        **settings: Unpack[DocumentOptions],
    ) -> None:
        parsed, clock = parsed_faults(faults), clock or ScaledClock(time_scale)
        service = ResponsesService(
            fixtures_of(FORM, fixtures),
            DocumentSettings(**settings),
            parsed,
            clock,
        )
        super().__init__(service, FORM, api_of(service))
