"""A mock of the Messages API: its service, its HTTP interface, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from secrets import token_urlsafe
from typing import ClassVar, Final, Unpack, cast, final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from assistant_events.adapters.anthropic_messages.mock.answers import Answer, text_block
from assistant_events.adapters.anthropic_messages.mock.form import FORM
from assistant_events.adapters.anthropic_messages.mock.request_facts import read_request
from assistant_events.adapters.anthropic_messages.mock.runs import (
    FAULT_FRAMES,
    Prepared,
    Run,
    error_body,
    sealed_content,
    signature_key,
)
from assistant_events.adapters.anthropic_messages.mock.validation import check_create
from assistant_events.mock import app, fixtures
from assistant_events.mock.app import Api, preflight_for
from assistant_events.mock.clock import ProviderClock, ScaledClock
from assistant_events.mock.documents import DocumentOptions, DocumentService, DocumentSettings, PreparedAnswer
from assistant_events.mock.faults import Fault
from assistant_events.mock.fixture_files import FixtureSource, fixtures_of
from assistant_events.mock.fixtures import Fixtures
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.requests import ApiError, json_response
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call, parsed_faults

_TYPES: Final[dict[int, str]] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""Types of errors by status; of others below 500 `invalid_request_error`, else `api_error`."""


@final
class MessagesService(DocumentService[Run]):
    """The state of a mock of the Messages API."""

    OTHER_ANSWER: ClassVar[fixtures.Answer] = Answer(content=(text_block("This is the answer of another run."),))

    def __init__(
        self, given: Fixtures, settings: DocumentSettings, faults: Sequence[Fault], clock: ProviderClock
    ) -> None:
        super().__init__(
            given,
            settings,
            faults,
            FAULT_FRAMES,
            clock,
            make_id=lambda: f"msg_{token_urlsafe(18)}",
        )

    def prepare(self, answer: fixtures.Answer) -> PreparedAnswer:
        """Return an answer that can be sent."""
        return Prepared(answer, signs=self.signs)

    def make_run(self, run_id: str, prepared: PreparedAnswer, body: Body, salt: bytes, faults: Iterable[Fault]) -> Run:
        """Return a run."""
        return Run(run_id, cast("Prepared", prepared), body, salt=salt, clock=self.clock, faults=faults)

    def signed_items(self, answer: fixtures.Answer) -> Iterable[tuple[str, object]]:
        """Yield the signatures that an answer of a fixture has itself, with what each seals."""
        for block in cast("Answer", answer).content:
            content, signature = sealed_content(block), block.get(signature_key(block))
            if content is not None and isinstance(signature, str):
                yield signature, content

    def facts(self, body: Body) -> RequestFacts:
        """Return what fixtures are compared with in a request."""
        return read_request(body)

    def check(self, call: Call, body: Body) -> None:
        """Check a request as the service does. Raises `ApiError`."""
        check_create(call.request.headers, body, self.ledger if self.signs else None)

    def document(self, call: Call, run: Run, status: str) -> ASGIApp:
        """Return the message. Raises `ApiError` when an error ends it: a unary answer has nothing else then."""
        error = run.answer.stream_error
        if error is not None:
            raise ApiError(500, error.message, code=error.code)
        return json_response(run.whole())


def error_response(error: ApiError) -> Response:
    """Return the HTTP answer of an error."""
    otherwise = _TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    known = isinstance(error.code, str) and error.code != "internal"
    body = error_body(str(error.code) if known else otherwise, error.message)
    return json_response(body, error.status, {"request-id": body["request_id"], **error.headers})


def api_of(service: MessagesService) -> Api:
    """Return the HTTP interface of a service."""

    async def create(request: Request) -> ASGIApp:
        return await service.create(await service.read_call(request))

    return Api(
        routes=[("/v1/messages", ("POST",), create)],
        error_response=error_response,
        check=lambda request: None,
        preflight=preflight_for("POST"),
    )


class MockProvider(app.MockProvider):
    """
    A provider of the Messages API that answers from fixtures.

    Args:
        fixtures: The answers, in any form that `assistant_events.mock.fixture_files.fixtures_of` accepts.

        faults: For every request, as `parse_fault` reads them. A fixture has its own, and a request may name more in
            the header `x-mock-fault`.

        time_scale: Real seconds for each second of the provider.

        clock: The time, in place of *time_scale*.

        strict: Reject what the service rejects, the default. Otherwise every JSON object is a request.

        sign: Sign thoughts, and reject a signature or thought that comes back changed; the default.

        require_key: Reject requests without a key; as *strict* when `None`, the default. Any key is accepted.

        max_body_bytes: Of a request; 32 MiB by default, as the service.

        max_kept_bytes: Bytes of requests that are kept in the log (64 MiB).

        max_requests: Number of requests in the log (1,000).

        make_id: Returns the id of the next message; random by default.

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
        service = MessagesService(
            fixtures_of(FORM, fixtures),
            DocumentSettings(**settings),
            parsed,
            clock,
        )
        super().__init__(service, FORM, api_of(service))
