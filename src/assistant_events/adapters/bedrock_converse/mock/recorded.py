"""What a recording reads of Converse: which requests, which events, and the answer of a fixture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
from typing_extensions import override

from assistant_events.adapters.aws import error_in, read_http
from assistant_events.adapters.aws_event_stream import AwsEventStream
from assistant_events.adapters.bedrock_converse import dialect
from assistant_events.adapters.bedrock_converse.mock.aimock import FORM
from assistant_events.adapters.bedrock_converse.mock.answers import Answer, answer_fields
from assistant_events.adapters.bedrock_converse.mock.request_facts import path_fields, read_request
from assistant_events.adapters.json_fields import string
from assistant_events.messages import AssistantMessage
from assistant_events.mock.bedrock_api import error_response
from assistant_events.mock.fixtures import HttpError, StreamError
from assistant_events.mock.tape import FrameFacts, RecordedApi, RecordedRequest, stream_error


@final
class RecordedConverse(RecordedApi):
    """Converse, over HTTP. Its requests have an API key: a signature is one for the host of the service."""

    dialect = dialect
    form = FORM
    framing = AwsEventStream
    path = re.compile(r"/model/.+/converse(?:-stream)?$")
    facts_of = staticmethod(read_request)
    error_response = staticmethod(error_response)

    @override
    def request_of(self, method: str, path: str, query: Mapping[str, str]) -> RecordedRequest | None:
        recorded = super().request_of(method, path, query)
        return None if recorded is None else recorded._replace(fields=path_fields(path))

    @override
    def frame_facts(self, name: str | None, payload: Mapping[str, Any]) -> FrameFacts:
        exception = error_in(payload) or {}
        error = stream_error(exception, string(exception, "code") or "")
        return FrameFacts(is_end="messageStop" in payload, error=error)

    @override
    def answer_of(self, messages: Sequence[AssistantMessage], error: StreamError | None) -> Answer:
        # A document of an answer that failed is the exception alone.
        fields = answer_fields(messages[-1] if error is None else attrs.evolve(messages[-1], error=None))
        more = {key: fields.pop(key) for key in fields.keys() - {"content", "stop_reason", "usage"}}
        return Answer(**fields, more=more, stream_error=error)

    @override
    def error_of(self, status: int, headers: Mapping[str, str], data: bytes) -> HttpError:
        return attrs.evolve(super().error_of(status, headers, data), code=read_http(status, headers, data).code)
