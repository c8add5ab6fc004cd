"""A mock of Chat Completions: its service, and its options."""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_hex
from typing import final

from assistant_events.adapters.openai_chat.mock.aimock import FORM
from assistant_events.adapters.openai_chat.mock.request_facts import read_request
from assistant_events.adapters.openai_chat.mock.runs import FAULT_FRAMES, Prepared, Run
from assistant_events.adapters.openai_chat.mock.validation import check_create
from assistant_events.mock import app
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.openai_api import MODEL_PATHS, PREFIXES, STATUSES, error_response, request_id
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call, MockService


@final
class ChatService(MockService[Run]):
    """The state of a mock of Chat Completions. No part of a completion is signed."""

    PATHS = tuple([f"{prefix}/chat/completions" for prefix in (*PREFIXES, "/openai/deployments/{deployment}")])
    MODEL_PATHS = MODEL_PATHS
    FRAMES = FAULT_FRAMES
    PREPARED = Prepared
    RUN = Run
    FORM = FORM
    error_response = staticmethod(error_response)

    def new_id(self) -> str:
        """Return a random id of an answer."""
        return f"chatcmpl-{token_hex(14)}"

    def body(self, call: Call) -> Body:
        """Return the body of a request. A deployment of Azure is the model where the body names none."""
        body = super().body(call)
        deployment: str | None = call.request.path_params.get("deployment")
        return body if deployment is None or body.get("model") else {**body, "model": deployment}

    def facts(self, body: Body) -> RequestFacts:
        """Return what fixtures are compared with in a request."""
        return read_request(body)

    def check(self, call: Call, body: Body) -> None:
        """Check a request as the service does. Raises `ApiError`."""
        check_create(body)

    def response_headers(self, run: Run) -> Mapping[str, str]:
        """Return the id of the request."""
        return request_id(run.salt)

    def error_status(self, code: str) -> int:
        """Return the HTTP status of a code."""
        return STATUSES.get(code, 500)


class MockProvider(app.MockProvider):
    """
    A provider of Chat Completions that answers from fixtures.

    Its options are those of `assistant_events.mock.MockProvider`; `sign` has no effect.
    """

    SERVICE = ChatService
