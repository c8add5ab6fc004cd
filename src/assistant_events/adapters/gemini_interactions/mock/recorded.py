"""What a recording reads of the Interactions API: which requests, which events, and the answer of a fixture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast, final

import attrs
from typing_extensions import override

from assistant_events.adapters.gemini_interactions import dialect, emit_resource
from assistant_events.adapters.gemini_interactions.mock.aimock import FORM
from assistant_events.adapters.gemini_interactions.mock.answers import Answer
from assistant_events.adapters.gemini_interactions.mock.errors import error_response
from assistant_events.adapters.gemini_interactions.mock.frames import default_status
from assistant_events.adapters.gemini_interactions.mock.request_facts import Match, read_request
from assistant_events.adapters.gemini_interactions.mock.runs import FAULT_FRAMES
from assistant_events.adapters.json_fields import is_object, string
from assistant_events.messages import AssistantMessage
from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.tape import FrameFacts, RecordedApi

_KEPT_FIELDS: Final = ("environment_id", "errors")


@final
class RecordedInteractions(RecordedApi):
    """The Interactions API."""

    dialect = dialect
    form = FORM
    path = re.compile(r"/interactions(?:/([^/:]+))?/?$")
    after = "last_event_id"
    previous = "previous_interaction_id"
    facts_of = staticmethod(read_request)
    error_response = staticmethod(error_response)

    @override
    def frame_facts(self, name: str | None, payload: Mapping[str, Any]) -> FrameFacts:
        kind, interaction, error = payload.get("event_type", name), payload.get("interaction"), payload.get("error")
        cursor = payload.get("event_id")
        status = interaction.get("status") if is_object(interaction) else "requires_continuation"
        stream_error = None
        if kind == "error" and is_object(error):
            code, message = self.code_of(error), string(error, "message") or ""
            if code or message:
                stream_error = StreamError(code=StreamError().code if code is None else code, message=message)
        return FrameFacts(
            cursor=cursor if isinstance(cursor, str) else None,
            is_end=kind in FAULT_FRAMES.end_names and status != "requires_continuation",
            error=stream_error,
        )

    @override
    def answer_of(self, messages: Sequence[AssistantMessage], error: StreamError | None) -> Answer:
        resources = [emit_resource(message) for message in messages]
        last = resources[-1]
        answer = Answer(
            id=next((resource["id"] for resource in resources if resource.get("id")), None),
            steps=[step for resource in resources for step in resource.get("steps", ())],
            usage=last.get("usage"),
            more={name: last[name] for name in _KEPT_FIELDS if name in last and (name != "errors" or error is None)},
            stream_error=error,
            continuation_token=last.get("continuation_token"),
        )
        status = last.get("status")
        return answer if error is not None or status == default_status(answer) else attrs.evolve(answer, status=status)

    @override
    def match_of(self, body: Mapping[str, Any]) -> Match:
        match = cast("Match", super().match_of(body))
        return attrs.evolve(match, continuation_token=match.continuation_token or None)

    @override
    def code_of(self, error: Mapping[str, Any]) -> str | int | None:
        # Beside a number there is a status, and `read_http` returns the better word of the two.
        code = error.get("code")
        return code if isinstance(code, (str, int)) and not isinstance(code, bool) else None
