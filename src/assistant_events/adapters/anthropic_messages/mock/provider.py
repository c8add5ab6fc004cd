"""A mock of the Messages API: its service, and its options."""

from __future__ import annotations

from collections.abc import Iterable
from secrets import token_urlsafe
from typing import ClassVar, Final, cast, final

from starlette.responses import Response

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
from assistant_events.mock import fixtures
from assistant_events.mock.documents import DocumentProvider, DocumentService
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.requests import ApiError, json_response
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call

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

    PATHS = ("/v1/messages",)
    FRAMES = FAULT_FRAMES
    PREPARED = Prepared
    RUN = Run
    OTHER_ANSWER: ClassVar[fixtures.Answer] = Answer(content=(text_block("This is the answer of another run."),))

    def new_id(self) -> str:
        """Return a random id of an answer."""
        return f"msg_{token_urlsafe(18)}"

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

    def error_response(self, error: ApiError) -> Response:
        """Return the HTTP answer of an error."""
        return error_response(error)


def error_response(error: ApiError) -> Response:
    """Return the HTTP answer of an error."""
    otherwise = _TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    known = isinstance(error.code, str) and error.code != "internal"
    body = error_body(str(error.code) if known else otherwise, error.message)
    return json_response(body, error.status, {"request-id": body["request_id"], **error.headers})


class MockProvider(DocumentProvider):
    """A provider of the Messages API that answers from fixtures, with the options of the class in `mock`."""

    FORM = FORM
    SERVICE = MessagesService
