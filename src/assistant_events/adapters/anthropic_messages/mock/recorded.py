"""What a recording reads of the Messages API: which requests, which events, and the answer of a fixture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from typing_extensions import override

from assistant_events.adapters.anthropic_messages import dialect, emit_resource
from assistant_events.adapters.anthropic_messages.mock.aimock import FORM
from assistant_events.adapters.anthropic_messages.mock.answers import RESERVED, Answer
from assistant_events.adapters.anthropic_messages.mock.provider import error_response
from assistant_events.adapters.anthropic_messages.mock.request_facts import read_request
from assistant_events.adapters.json_fields import mapping, string, without
from assistant_events.messages import AssistantMessage
from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.tape import FrameFacts, RecordedApi, stream_error

_OF_STREAM: Final = RESERVED | {"model"}


@final
class RecordedMessages(RecordedApi):
    """The Messages API."""

    dialect = dialect
    form = FORM
    path = re.compile(r"/v1/messages/?$")
    code_field = "type"
    facts_of = staticmethod(read_request)
    error_response = staticmethod(error_response)

    @override
    def frame_facts(self, name: str | None, payload: Mapping[str, Any]) -> FrameFacts:
        kind, error = payload.get("type", name), mapping(payload, "error")
        failure = stream_error(error, string(error, "type") or "api_error") if kind == "error" else None
        return FrameFacts(is_end=kind == "message_stop", error=failure)

    @override
    def answer_of(self, messages: Sequence[AssistantMessage], error: StreamError | None) -> Answer:
        resource = emit_resource(messages[-1])
        return Answer(
            id=resource.get("id") or None,
            content=resource.get("content", ()),
            stop_reason=resource.get("stop_reason"),
            usage=resource.get("usage") or None,
            more=without(resource, _OF_STREAM | {"error"}),
            stream_error=error,
        )
