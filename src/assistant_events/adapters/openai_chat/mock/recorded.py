"""What a recording reads of Chat Completions: which requests, which chunks, and the answer of a fixture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, final

from typing_extensions import override

from assistant_events.adapters.errors import error_of
from assistant_events.adapters.json_fields import string, without
from assistant_events.adapters.openai_chat import dialect
from assistant_events.adapters.openai_chat.mock.aimock import FORM
from assistant_events.adapters.openai_chat.mock.answers import RESERVED, Answer, completion_fields
from assistant_events.adapters.openai_chat.mock.request_facts import read_request
from assistant_events.messages import AssistantMessage
from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.openai_api import error_response
from assistant_events.mock.tape import FrameFacts, RecordedApi, stream_error


@final
class RecordedChat(RecordedApi):
    """Chat Completions."""

    dialect = dialect
    form = FORM
    path = re.compile(r"/chat/completions/?$")
    facts_of = staticmethod(read_request)
    error_response = staticmethod(error_response)

    @override
    def frame_facts(self, name: str | None, payload: Mapping[str, Any]) -> FrameFacts:
        error = error_of(payload)
        return FrameFacts(error=stream_error(error, string(error, "code") or string(error, "type") or "server_error"))

    @override
    def answer_of(self, messages: Sequence[AssistantMessage], error: StreamError | None) -> Answer:
        fields = completion_fields(messages[-1])
        return Answer(
            id=fields.get("id") or None,
            message=fields["message"],
            finish_reason=None if error else fields["finish_reason"],
            usage=fields.get("usage"),
            choice=without(fields["choice"], ("index", "finish_reason")),
            more=without(fields, RESERVED | {"model"}),
            stream_error=error,
        )
