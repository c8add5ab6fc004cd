"""What a recording reads of Chat Completions: which requests, which chunks, and the answer of a fixture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from starlette.responses import Response
from typing_extensions import override

from assistant_events.adapters.errors import error_of, error_of_body
from assistant_events.adapters.json_fields import string
from assistant_events.adapters.openai_chat import dialect
from assistant_events.adapters.openai_chat.mock.answers import RESERVED, Answer, completion_fields
from assistant_events.adapters.openai_chat.mock.form import FORM
from assistant_events.adapters.openai_chat.mock.request_facts import read_request
from assistant_events.adapters.openai_errors import ERRORS
from assistant_events.messages import AssistantMessage
from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.matching import Match
from assistant_events.mock.openai_errors import error_response
from assistant_events.mock.requests import ApiError
from assistant_events.mock.tape import FrameFacts, RecordedApi, RecordedRequest, recorded_error

_PATH: Final = re.compile(r"/chat/completions/?$")


@final
class RecordedChat(RecordedApi):
    """Chat Completions."""

    dialect = dialect
    form = FORM

    @override
    def request_of(self, method: str, path: str, query: Mapping[str, str]) -> RecordedRequest | None:
        return RecordedRequest() if method == "POST" and _PATH.search(path) else None

    @override
    def match_of(self, body: Mapping[str, Any]) -> Match:
        facts = read_request(body)
        return Match(
            user_text=facts.user_text,
            model=facts.model,
            call_id=facts.call_ids[-1] if facts.call_ids else None,
            turn=facts.turn,
        )

    @override
    def runs_on(self, body: Mapping[str, Any]) -> bool:
        return False

    @override
    def frame_facts(self, name: str | None, payload: Mapping[str, Any]) -> FrameFacts:
        error = error_of(payload)
        code = string(error, "code") or string(error, "type") or "server_error"
        stream_error = StreamError(code=code, message=string(error, "message") or "") if error else None
        return FrameFacts(cursor=None, is_end=False, error=stream_error)

    @override
    def answer_of(self, messages: Sequence[AssistantMessage], error: StreamError | None) -> Answer:
        fields = completion_fields(messages[-1])
        return Answer(
            id=fields.get("id") or None,
            message=fields["message"],
            finish_reason=None if error else fields["finish_reason"],
            usage=fields.get("usage"),
            choice={key: value for key, value in fields["choice"].items() if key not in ("index", "finish_reason")},
            more={key: value for key, value in fields.items() if key not in RESERVED | {"model"}},
            stream_error=error,
        )

    @override
    def error_response(self, error: ApiError) -> Response:
        return error_response(error)

    @override
    def error_answer(self, status: int, headers: Mapping[str, str], data: bytes) -> Answer:
        code = string(error_of_body(data), "code")
        return Answer(http_error=recorded_error(status, headers, data, ERRORS, code))
