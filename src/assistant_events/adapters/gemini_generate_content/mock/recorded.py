"""What a recording reads of generateContent: which requests, which chunks, and the answer of a fixture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, final
from urllib.parse import unquote

from typing_extensions import override

from assistant_events.adapters.errors import error_of
from assistant_events.adapters.gemini_generate_content import dialect
from assistant_events.adapters.gemini_generate_content.mock.aimock import FORM
from assistant_events.adapters.gemini_generate_content.mock.answers import RESERVED, Answer, response_fields
from assistant_events.adapters.gemini_generate_content.mock.request_facts import read_request
from assistant_events.adapters.google_rpc import camel_keys
from assistant_events.adapters.json_fields import string, without
from assistant_events.messages import AssistantMessage
from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.google_api import error_response
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.tape import FrameFacts, RecordedApi, RecordedRequest, stream_error


@final
class RecordedGenerateContent(RecordedApi):
    """The API generateContent: its documents, and its streams of events. Those in JSON arrays are not recorded."""

    dialect = dialect
    form = FORM
    path = re.compile(r":(?:generateContent|streamGenerateContent)$")
    code_field = "status"
    error_response = staticmethod(error_response)

    @staticmethod
    @override
    def facts_of(body: Mapping[str, Any]) -> RequestFacts:
        return read_request(camel_keys(body))

    @override
    def request_of(self, method: str, path: str, query: Mapping[str, str]) -> RecordedRequest | None:
        request = super().request_of(method, path, query)
        model = unquote(path.rpartition("/")[2].partition(":")[0])
        return None if request is None else request._replace(fields={"model": model})

    @override
    def frame_facts(self, name: str | None, payload: Mapping[str, Any]) -> FrameFacts:
        error = error_of(payload)
        return FrameFacts(error=stream_error(error, string(error, "status") or "internal"))

    @override
    def answer_of(self, messages: Sequence[AssistantMessage], error: StreamError | None) -> Answer:
        fields = response_fields(messages[-1])
        return Answer(
            id=fields["id"],
            parts=fields["parts"],
            finish_reason=None if error else fields["finish_reason"],
            usage=fields["usage"],
            candidate=fields["candidate"],
            more=without(fields, RESERVED | {"modelVersion"}),
            stream_error=error,
        )
