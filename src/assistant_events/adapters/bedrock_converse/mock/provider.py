"""A mock of Converse: its service, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, cast, final
from uuid import uuid4

import attrs

from assistant_events.adapters.bedrock_converse.mock.aimock import FORM
from assistant_events.adapters.bedrock_converse.mock.answers import Answer, app_call
from assistant_events.adapters.bedrock_converse.mock.request_facts import path_fields, read_request
from assistant_events.adapters.bedrock_converse.mock.runs import (
    FAULT_FRAMES,
    Prepared,
    Run,
    sealed_content,
    signature_of,
)
from assistant_events.adapters.bedrock_converse.mock.validation import check_create, is_thinking
from assistant_events.adapters.json_fields import mapping
from assistant_events.mock import app, fixtures
from assistant_events.mock.bedrock_api import error_response, status_of
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.requests import ApiError, parse_object
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call, MockService

_THOUGHT: Final = {"reasoningContent": {"reasoningText": {"text": "A tool is needed."}}}
"""Of an answer to which a fixture gives none."""


@final
class ConverseService(MockService[Run]):
    """The state of a mock of Converse."""

    PATHS = ("/model/{model:path}/converse", "/model/{model:path}/converse-stream")
    COUNT_PATHS = ("/model/{model:path}/count-tokens",)
    STATUS_WITHOUT_KEY: ClassVar[int] = 403
    STREAM_HEADERS: ClassVar[Mapping[str, str]] = {"content-type": "application/vnd.amazon.eventstream"}
    FRAMES = FAULT_FRAMES
    PREPARED = Prepared
    RUN = Run
    FORM = FORM
    error_response = staticmethod(error_response)

    def new_id(self) -> str:
        """Return a random id of a request."""
        return str(uuid4())

    def body(self, call: Call) -> Body:
        """Return the body of a request, with the model and the operation of its path. Raises `ApiError`."""
        return {**super().body(call), **path_fields(call.request.scope["path"])}

    def answer_to(self, body: Body, answer: fixtures.Answer) -> fixtures.Answer:
        """Return the answer; with thinking on one of calls begins with a thought, without which it is refused later."""
        content = cast("Answer", answer).content
        if not any(map(app_call, content)) or not is_thinking(body) or sealed_content(content[0]) is not None:
            return answer
        return attrs.evolve(cast("Answer", answer), content=(_THOUGHT, *content))

    def counted_body(self, call: Call) -> Body:
        """Return the request whose tokens are to be counted. Raises `ApiError`, also for one of `InvokeModel`."""
        counted = mapping(parse_object(call.data), "input")
        if "converse" not in counted:
            raise ApiError(400, "The mock counts the tokens of requests of Converse: `input.converse` is missing.")
        return mapping(counted, "converse")

    def count_document(self, call: Call, tokens: int) -> dict[str, Any]:
        """Return the answer to a request that counts tokens."""
        return {"inputTokens": tokens}

    def signed_items(self, answer: fixtures.Answer) -> Iterable[tuple[str, object]]:
        """Yield the signatures that an answer of a fixture has itself, with what each seals."""
        for block in cast("Answer", answer).content:
            content, signature = sealed_content(block), signature_of(block)
            if content is not None and signature:
                yield signature, content

    def facts(self, body: Body) -> RequestFacts:
        """Return what fixtures are compared with in a request."""
        return read_request(body)

    def check(self, call: Call, body: Body) -> None:
        """Check a request as the service does. Raises `ApiError`."""
        check_create(body, self.ledger if self.signs else None)

    def response_headers(self, run: Run) -> Mapping[str, str]:
        """Return the id of the request: the body has none."""
        return {"x-amzn-requestid": run.id}

    def error_status(self, code: str) -> int:
        """Return the HTTP status of an exception."""
        return status_of(code)


class MockProvider(app.MockProvider):
    """A provider of Converse that answers from fixtures, with the options of the class in `mock`."""

    SERVICE = ConverseService
