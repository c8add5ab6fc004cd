"""A mock of the Messages API: its service, and its options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from secrets import token_urlsafe
from typing import Any, Final, cast, final
from uuid import uuid4

import attrs
from starlette.responses import Response
from starlette.types import ASGIApp

from assistant_events.adapters.anthropic_messages.mock.aimock import FORM
from assistant_events.adapters.anthropic_messages.mock.answers import Answer
from assistant_events.adapters.anthropic_messages.mock.request_facts import read_request
from assistant_events.adapters.anthropic_messages.mock.runs import (
    CHUNK_FAULT_FRAMES,
    FAULT_FRAMES,
    Prepared,
    Run,
    bedrock_code,
    error_body,
    sealed_content,
    signature_key,
)
from assistant_events.adapters.anthropic_messages.mock.validation import check_create, is_thinking
from assistant_events.adapters.json_fields import array, base64_bytes, mapping, string
from assistant_events.mock import app, bedrock_api, fixtures
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.requests import ApiError, json_response, parse_object
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call, MockService, Slot

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

_THOUGHT: Final = {"type": "thinking", "thinking": "A tool is needed."}
"""Of an answer to which a fixture gives none."""

_STATUSES: Final = {"invalid_request_error": 400, **{kind: status for status, kind in reversed(_TYPES.items())}}


_VERSION: Final = re.compile(r"-v\d+(:\d+)?$")
"""Of the name of a model at Bedrock."""

_PREFIXES: Final = ("", "/anthropic")
"""Beginnings of paths, at Anthropic and at Foundry and Mantle of Bedrock."""

_COUNT: Final = "count-tokens"
"""At Vertex the name of a model, at Bedrock an operation of one."""

_VERTEX: Final = "/v1/projects/{project}/locations/{location}/publishers/anthropic/models"
_BEDROCK: Final = "/model/{model:path}"


def error_response(error: ApiError) -> Response:
    """Return the HTTP answer of an error."""
    otherwise = _TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    known = isinstance(error.code, str) and error.code != "internal"
    body = error_body(str(error.code) if known else otherwise, error.message, error.name)
    return json_response(body, error.status, {"request-id": body["request_id"], **error.headers})


@final
class MessagesService(MockService[Run]):
    """The state of a mock of the Messages API."""

    PATHS = (
        *[f"{prefix}/v1/messages" for prefix in _PREFIXES],
        *[f"{_VERTEX}/{{model}}:{method}" for method in ("rawPredict", "streamRawPredict")],
        *[f"{_BEDROCK}/{method}" for method in ("invoke", "invoke-with-response-stream")],
    )
    COUNT_PATHS = (*[f"{prefix}/v1/messages/count_tokens" for prefix in _PREFIXES], f"{_BEDROCK}/{_COUNT}")
    MODEL_PATHS = ("/v1/models",)
    FRAMES = FAULT_FRAMES
    PREPARED = Prepared
    RUN = Run
    FORM = FORM
    error_response = staticmethod(error_response)

    def new_id(self) -> str:
        """Return a random id of an answer."""
        return f"msg_{token_urlsafe(18)}"

    def body(self, call: Call) -> Body:
        """
        Return the body of a request, with what its path has, and the conversation that the server holds of a thread.

        Raises:
            ApiError: It is not an object, or no such thread is known.
        """
        body = {**super().body(call), **_of_path(call)}
        thread = mapping(body, "thread")
        if thread.get("type") != "continue":
            return body
        previous = string(thread, "previous_message_id") or ""
        run = self.runs.get(previous)
        if run is None:
            raise ApiError(404, f"No thread was found for '{previous}'.", name="thread_not_found")
        if run.is_continued:
            raise ApiError(400, f"'{previous}' was continued before.", name="thread_already_continued")
        held = {key: value for key, value in run.body.items() if key != "stream"}
        answer = {"role": "assistant", "content": run.whole()["content"]}
        return {**held, **body, "messages": [*array(held, "messages"), answer, *array(body, "messages")]}

    def new_run(self, call: Call, body: Body, slot: Slot) -> Run:
        """Return the run of a request; that of a thread is kept for the request that continues it."""
        run = super().new_run(call, body, slot)
        thread = mapping(body, "thread")
        if thread:
            previous = self.runs.get(string(thread, "previous_message_id") or "")
            if previous is not None:
                previous.is_continued = True
            self.runs.add(run, len(call.data))
        return run

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
        version = call.request.headers.get("anthropic-version") or string(body, "anthropic_version")
        betas = [*call.request.headers.getlist("anthropic-beta"), *map(str, array(body, "anthropic_beta"))]
        check_create(version, body, self.ledger if self.signs else None, ",".join(betas))

    def answer_to(self, body: Body, answer: fixtures.Answer) -> fixtures.Answer:
        """
        Return the answer; with thinking on one of calls begins with a thought, without which it is refused later.

        The texts of thoughts are empty where the request wants none.
        """
        content = cast("Answer", answer).content
        if mapping(body, "thinking").get("display") == "omitted":
            shown = [{**block, "thinking": ""} if "thinking" in block else block for block in content]
            answer = attrs.evolve(cast("Answer", answer), content=cast("Any", shown))
            content = answer.content
        calls = any(block.get("type") == "tool_use" for block in content)
        if not calls or not is_thinking(body) or sealed_content(content[0]) is not None:
            return answer
        return attrs.evolve(cast("Answer", answer), content=(_THOUGHT, *content))

    def counted_body(self, call: Call) -> Body:
        """Return the request whose tokens are to be counted: it has no limit of the answer. Raises `ApiError`."""
        body = self.body(call)
        if _is_bedrock(call):
            given = string(mapping(mapping(body, "input"), "invokeModel"), "body")
            body = parse_object(base64_bytes(given) or b"")
        return {"max_tokens": 1 << 31, "model": Run.MODEL, **body}

    def count_document(self, call: Call, tokens: int) -> dict[str, Any]:
        """Return the answer to a request that counts tokens."""
        return {"inputTokens" if _is_bedrock(call) else "input_tokens": tokens}

    def model_document(self, name: str) -> dict[str, Any]:
        """Return the document of a model."""
        return {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active",
        }

    def model_list(self, models: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the list of these documents of models."""
        return {"data": models, "has_more": False, "first_id": models[0]["id"], "last_id": models[-1]["id"]}

    async def create(self, call: Call) -> ASGIApp:
        """Answer the request for a new answer, at Bedrock with its own errors; at Vertex it may be one to count."""
        if call.request.path_params.get("model") == _COUNT:
            return self.count(call)
        try:
            return await super().create(call)
        except ApiError as error:
            return _bedrock_error(call, error)

    def count(self, call: Call) -> ASGIApp:
        """Answer a request that counts tokens, at Bedrock with its own errors."""
        try:
            return super().count(call)
        except ApiError as error:
            return _bedrock_error(call, error)

    def frames_of(self, run: Run) -> FaultFrames:
        """Return the frames that faults use in a stream of a run."""
        return CHUNK_FAULT_FRAMES if run.is_in_chunks else FAULT_FRAMES

    def response_headers(self, run: Run) -> Mapping[str, str]:
        """Return the id of the request; at Bedrock also the type of streams, or what a document cost."""
        if run.is_in_chunks:
            is_stream = run.body.get("stream") is True
            more = {"content-type": "application/vnd.amazon.eventstream"} if is_stream else run.costs()
            return {"x-amzn-requestid": str(uuid4()), **more}
        return {"request-id": f"req_{run.salt.hex()[:24]}"}

    def error_status(self, code: str) -> int:
        """Return the HTTP status of a type of errors."""
        return _STATUSES.get(code, 500)


def _of_path(call: Call) -> dict[str, Any]:
    """Return what the path of a request has: at Vertex the model, at Bedrock also whether the answer is a stream."""
    path, model = call.request.scope["path"], call.request.path_params.get("model")
    if model is None or _COUNT in (model, path.rpartition("/")[2]):
        return {}
    found = {"model": _VERSION.sub("", model.rpartition("anthropic.")[2]).replace("@", "-")}
    return {**found, "platform": "bedrock", "stream": path.endswith("-stream")} if _is_bedrock(call) else found


def _is_bedrock(call: Call) -> bool:
    path: str = call.request.scope["path"]
    return path.startswith(_BEDROCK.partition("{")[0])


def _bedrock_error(call: Call, error: ApiError) -> Response:
    """Return the HTTP answer of an error at Bedrock, with an exception and a status of its own; raise it elsewhere."""
    if not _is_bedrock(call):
        raise error
    if code := bedrock_code(error.code or _TYPES.get(error.status)):
        error = ApiError(bedrock_api.status_of(code), error.message, code=code, headers=error.headers)
    return bedrock_api.error_response(error)


class MockProvider(app.MockProvider):
    """A provider of the Messages API that answers from fixtures, with the options of the class in `mock`."""

    SERVICE = MessagesService
