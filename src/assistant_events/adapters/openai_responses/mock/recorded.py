"""What a recording reads of the Responses API: which requests, which events, and the answer of a fixture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, final

from typing_extensions import override

from assistant_events.adapters.errors import error_of
from assistant_events.adapters.json_fields import integer, string
from assistant_events.adapters.openai_responses import dialect, emit_resource, vocabulary
from assistant_events.adapters.openai_responses.mock.aimock import FORM
from assistant_events.adapters.openai_responses.mock.answers import RESERVED, Answer
from assistant_events.adapters.openai_responses.mock.request_facts import read_request
from assistant_events.messages import AssistantMessage
from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.openai_api import error_response
from assistant_events.mock.tape import FrameFacts, RecordedApi, stream_error


@final
class RecordedResponses(RecordedApi):
    """The Responses API."""

    dialect = dialect
    form = FORM
    path = re.compile(r"/v1/responses(?:/([^/]+))?/?$")
    after = "starting_after"
    previous = "previous_response_id"
    facts_of = staticmethod(read_request)
    error_response = staticmethod(error_response)

    @override
    def frame_facts(self, name: str | None, payload: Mapping[str, Any]) -> FrameFacts:
        kind = str(payload.get("type", name))
        error, number = error_of(payload) or payload, integer(payload, "sequence_number")
        is_error = kind == "error" and (error.get("code") or error.get("message"))
        return FrameFacts(
            cursor=None if number is None else str(number),
            is_end=kind.removeprefix("response.") in vocabulary.ENDS,
            error=stream_error(error if is_error else {}, string(error, "code") or "server_error"),
        )

    @override
    def answer_of(self, messages: Sequence[AssistantMessage], error: StreamError | None) -> Answer:
        resource = emit_resource(messages[-1])
        repeated = {*RESERVED, *vocabulary.REPEATED, "model", *(() if error is None else ("error",))}
        status = resource.get("status")
        return Answer(
            id=resource.get("id") or None,
            output=resource.get("output", ()),
            status=None if error is not None or status == "completed" else status,
            usage=resource.get("usage"),
            more={key: value for key, value in resource.items() if key not in repeated and value is not None},
            stream_error=error,
        )
