"""A mock of generateContent: its service, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from secrets import token_urlsafe
from typing import Any, Final, cast, final

from starlette.types import ASGIApp

from assistant_events.adapters.gemini_generate_content.mock.aimock import FORM
from assistant_events.adapters.gemini_generate_content.mock.answers import Answer
from assistant_events.adapters.gemini_generate_content.mock.request_facts import read_request
from assistant_events.adapters.gemini_generate_content.mock.runs import (
    ARRAY_FRAMES,
    FAULT_FRAMES,
    Prepared,
    Run,
    sealed_content,
)
from assistant_events.adapters.gemini_generate_content.mock.validation import check_create, check_fields, standard
from assistant_events.adapters.google_rpc import camel_keys
from assistant_events.adapters.json_fields import Fields, mapping, string
from assistant_events.mock import app, fixtures
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.fixtures import Fixtures
from assistant_events.mock.google_api import GoogleService, error_response, status_of_name
from assistant_events.mock.matching import RequestFacts, choose
from assistant_events.mock.requests import ApiError, parse_object
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call
from assistant_events.values import thaw

_CALL: Final = "functionCall"
_STREAM: Final = "streamGenerateContent"
_METHODS: Final = ("generateContent", _STREAM)
_PREFIXES: Final = (
    *("/{version}", "/{version}/publishers/google"),
    "/{version}/projects/{project}/locations/{location}/publishers/google",
)


@final
class GenerateContentService(GoogleService[Run]):
    """The state of a mock of generateContent."""

    PATHS = tuple([f"{prefix}/models/{{model}}:{method}" for prefix in _PREFIXES for method in _METHODS])
    COUNT_PATHS = tuple([f"{prefix}/models/{{model}}:countTokens" for prefix in _PREFIXES])
    MODEL_PATHS = tuple([f"{prefix}/models" for prefix in _PREFIXES])
    FRAMES = FAULT_FRAMES
    PREPARED = Prepared
    RUN = Run
    FORM = FORM
    error_response = staticmethod(error_response)

    def new_id(self) -> str:
        """Return a random id of an answer."""
        return token_urlsafe(17)

    def body(self, call: Call) -> Body:
        """Return the body of a request in camelCase, with what its address has. Raises `ApiError`."""
        return self._with_address(call, camel_keys(parse_object(call.data)))

    def counted_body(self, call: Call) -> Body:
        """Return the request whose tokens are to be counted, or its contents alone. Raises `ApiError`."""
        body = camel_keys(parse_object(call.data))
        return self._with_address(call, mapping(body, "generateContentRequest") or body)

    def count_document(self, call: Call, tokens: int) -> dict[str, Any]:
        """Return the answer to a request that counts tokens."""
        return {"totalTokens": tokens, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}]}

    def _with_address(self, call: Call, body: Mapping[str, Any]) -> Body:
        path = call.request.url.path
        if self.settings.strict:
            check_fields(body)
        address = {
            "model": call.request.path_params["model"],
            "stream": path.endswith(f":{_STREAM}"),
            "alt": call.request.query_params.get("alt"),
        }
        return {**body, **address}

    def signed_items(self, answer: fixtures.Answer) -> Iterable[tuple[str, object]]:
        """Yield the signatures that an answer of a fixture has itself, with what each seals."""
        for part in cast("Answer", answer).parts:
            signature = string(part, "thoughtSignature")
            if signature:
                yield standard(signature), sealed_content(part)

    def add(self, fixtures: Fixtures) -> None:
        """Add fixtures before the present ones, until the next reset. Present ones keep their counts."""
        super().add(fixtures)
        self._sent = [
            (fixture.match, [mapping(part, _CALL) for part in cast("Answer", answer).parts if _CALL in part])
            for fixture in self.catalog
            for answer in fixture.answers
        ]

    def facts(self, body: Body) -> RequestFacts:
        """Return what fixtures are compared with in a request."""
        return read_request(body, self._ids_of)

    def _ids_of(self, facts: RequestFacts, calls: Sequence[Fields]) -> Sequence[str | None] | None:
        """Return the ids of the calls of an answer that a client repeats without them; `None` if no fixture has it."""
        repeated = [*map(_called, calls)]
        equal = [(place, match) for place, (match, sent) in enumerate(self._sent) if [*map(_called, sent)] == repeated]
        place = choose(equal, facts)
        return None if place is None else [string(call, "id") for call in self._sent[place][1]]

    def check(self, call: Call, body: Body) -> None:
        """Check a request as the service does. Raises `ApiError`."""
        check_create(body, self.ledger if self.signs else None)

    async def create(self, call: Call) -> ASGIApp:
        """Answer the request for a new answer; a stream that is an array is one of an error, too."""
        try:
            return await super().create(call)
        except ApiError as error:
            if not call.request.url.path.endswith(f":{_STREAM}") or call.request.query_params.get("alt") == "sse":
                raise
            return error_response(error, is_array=True)

    def error_status(self, code: str) -> int:
        """Return the HTTP status of a name."""
        return status_of_name(code)

    def frames_of(self, run: Run) -> FaultFrames:
        """Return the frames that faults use in a stream of a run."""
        return ARRAY_FRAMES if run.is_array else FAULT_FRAMES

    def response_headers(self, run: Run) -> Mapping[str, str]:
        """Return the HTTP headers of an answer beside those of its type, and the type of an array."""
        return {"content-type": "application/json"} if run.is_array else {}


def _called(call: Fields) -> tuple[object, object]:
    """Return name and input of a call: numbers are equal in any spelling."""
    return call.get("name"), thaw(call.get("args") or {})


class MockProvider(app.MockProvider):
    """A provider of generateContent that answers from fixtures, with the options of the class in `mock`."""

    SERVICE = GenerateContentService
