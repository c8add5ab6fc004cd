"""A mock of Chat Completions: its service, its HTTP interface, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from secrets import token_hex
from typing import ClassVar, Unpack, cast, final

from starlette.requests import Request
from starlette.types import ASGIApp

from assistant_events.adapters.openai_chat.mock.answers import Answer
from assistant_events.adapters.openai_chat.mock.form import FORM
from assistant_events.adapters.openai_chat.mock.request_facts import read_request
from assistant_events.adapters.openai_chat.mock.runs import FAULT_FRAMES, Prepared, Run
from assistant_events.adapters.openai_chat.mock.validation import check_create
from assistant_events.mock import app, fixtures
from assistant_events.mock.app import Api, preflight_for
from assistant_events.mock.clock import ProviderClock, ScaledClock
from assistant_events.mock.documents import DocumentService, DocumentSettings, PreparedAnswer
from assistant_events.mock.faults import Fault
from assistant_events.mock.fixture_files import FixtureSource, fixtures_of
from assistant_events.mock.fixtures import Fixtures
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.openai_errors import error_response
from assistant_events.mock.requests import ApiError, json_response
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call, SettingsOptions, parsed_faults


@final
class ChatService(DocumentService[Run]):
    """The state of a mock of Chat Completions."""

    OTHER_ANSWER: ClassVar[fixtures.Answer] = Answer(message={"content": "This is the answer of another run."})

    def __init__(
        self, given: Fixtures, settings: DocumentSettings, faults: Sequence[Fault], clock: ProviderClock
    ) -> None:
        super().__init__(
            given,
            settings,
            faults,
            FAULT_FRAMES,
            clock,
            make_id=lambda: f"chatcmpl-{token_hex(14)}",
        )

    def prepare(self, answer: fixtures.Answer) -> PreparedAnswer:
        """Return an answer that can be sent."""
        return Prepared(answer, signs=False)

    def make_run(self, run_id: str, prepared: PreparedAnswer, body: Body, salt: bytes, faults: Iterable[Fault]) -> Run:
        """Return a run."""
        return Run(run_id, cast("Prepared", prepared), body, salt=salt, clock=self.clock, faults=faults)

    def signed_items(self, answer: fixtures.Answer) -> Iterable[tuple[str, object]]:
        """Return nothing: no part of a completion is signed."""
        return ()

    def facts(self, body: Body) -> RequestFacts:
        """Return what fixtures are compared with in a request."""
        return read_request(body)

    def check(self, call: Call, body: Body) -> None:
        """Check a request as the service does. Raises `ApiError`."""
        check_create(body)

    def document(self, call: Call, run: Run, status: str) -> ASGIApp:
        """Return the completion. Raises `ApiError` when an error ends it: a unary answer has nothing else then."""
        error = run.answer.stream_error
        if error is not None:
            raise ApiError(500, error.message, code=error.code)
        return json_response(run.whole())


def api_of(service: ChatService) -> Api:
    """Return the HTTP interface of a service."""

    async def create(request: Request) -> ASGIApp:
        return await service.create(await service.read_call(request))

    return Api(
        routes=[("/v1/chat/completions", ("POST",), create)],
        error_response=error_response,
        check=lambda request: None,
        preflight=preflight_for("POST"),
    )


class MockProvider(app.MockProvider):
    """
    A provider of Chat Completions that answers from fixtures.

    Args:
        fixtures: The answers, in any form that `assistant_events.mock.fixture_files.fixtures_of` accepts.

        faults: For every request, as `parse_fault` reads them. A fixture has its own, and a request may name more in
            the header `x-mock-fault`.

        time_scale: Real seconds for each second of the provider.

        clock: The time, in place of *time_scale*.

        strict: Reject what the service rejects, the default. Otherwise every JSON object is a request.

        require_key: Reject requests without a key; as *strict* when `None`, the default. Any key is accepted.

        max_body_bytes: Of a request; 32 MiB by default.

        max_kept_bytes: Bytes of requests that are kept in the log (64 MiB).

        max_requests: Number of requests in the log (1,000).

        make_id: Returns the id of the next completion; random by default.

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
        **settings: Unpack[SettingsOptions],
    ) -> None:
        parsed, clock = parsed_faults(faults), clock or ScaledClock(time_scale)
        service = ChatService(fixtures_of(FORM, fixtures), DocumentSettings(sign=False, **settings), parsed, clock)
        super().__init__(service, FORM, api_of(service))
