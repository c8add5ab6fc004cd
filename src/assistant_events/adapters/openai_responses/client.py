"""
The client of the OpenAI Responses API. Needs the extra `http`.

    async with OpenAIResponses() as client:
        async with session.respond(client, {"model": "gpt-5.6", "background": True}) as events:
            async for event in events:
                ...

A run in the background that is cut is followed again by itself, behind the last event. After a restart,
`session.resume(client)` takes it up in the same way. Any other answer ends with its connection.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import final

from assistant_events.adapters.json_fields import Fields, integer, mapping, mappings, string
from assistant_events.adapters.openai_responses import OpenAIResponsesDecoder, dialect, vocabulary
from assistant_events.clients.client import ProviderClient
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.recovery import RunSummary
from assistant_events.clients.sync_client import SyncProviderClient
from assistant_events.clients.tracking_decoder import Observation, TrackingDecoder
from assistant_events.messages import AssistantMessage


@final
class OpenAITrackingDecoder(TrackingDecoder, OpenAIResponsesDecoder):
    """Decodes a stream and records what recovery has to know of it."""

    unfinished = vocabulary.UNFINISHED

    @property
    def resumable(self) -> bool:
        """Whether the run continues without a connection, and can be followed again."""
        return bool(self.run_id) and self.response_flag("background") is True

    @property
    def stream_cursor(self) -> str | None:
        """Number of the last event, if the stream can continue there."""
        number = self.last_sequence_number
        return None if number is None else str(number)

    @property
    def stored(self) -> bool:
        """Whether the provider keeps a document of the run."""
        return bool(self.run_id) and self.response_flag("store") is not False

    def observe(self, event: Fields) -> Observation:
        """Return what an event means for recovery."""
        name = (string(event, "type") or self.frame_name() or "").removeprefix("response.")
        response = mapping(event, "response")
        if response:
            run_id, status = string(response, "id"), string(response, "status")
            is_other = bool(self.replayed and run_id) and run_id != self.replayed
            ends = name in vocabulary.ENDS
            if ends and status not in vocabulary.ENDS:
                status = name  # of gateways, which repeat the first status
            return Observation(
                run_id=run_id,
                status=status or None,
                completes=event if ends else None,
                error=True if name == "failed" else None,
                foreign=run_id if is_other else None,
            )
        if name == "error":
            return Observation(error=bool(mapping(event, "error") or string(event, "message")))
        index = integer(event, "output_index")
        is_known = self._items.at(index) is not None
        is_start = name == "output_item.added"
        is_new = (integer(event, "sequence_number") or 0) > (self.last_sequence_number or -1)
        content = is_new and ((is_start and not is_known) or bool(event.get("delta")))
        return Observation(content=int(content), misplaced=index is not None and not is_known and not is_start)


@final
class OpenAIResponsesApi(ProviderApi):
    """What the client has to know of the API."""

    dialect = dialect
    provider = "openai"
    base_url = "https://api.openai.com"
    version = "v1"
    collection = "responses"
    keeps_runs = True
    cursor_parameter = "starting_after"
    key_header = "authorization"
    key_prefix = "Bearer "
    key_variable = "OPENAI_API_KEY"
    decoder = OpenAITrackingDecoder
    system_field = "instructions"

    def keeps_run(self, body: Fields) -> bool:
        """Return whether the response runs in the background."""
        return body.get("background") is True

    def request_of(self, message: AssistantMessage) -> Fields:
        """Return what is known of the request body of a stored message."""
        resumable = message.run is not None and message.run.resumable
        return {**super().request_of(message), **({"store": True, "background": True} if resumable else {})}

    def summarize(self, resource: Fields) -> RunSummary:
        """Return the document of a run without its content."""
        status, created = string(resource, "status"), integer(resource, "created_at")
        return RunSummary(
            status=status,
            running=status in vocabulary.UNFINISHED,
            created=None if created is None else _time(created),
            outputs=len(mappings(resource, "output")),
        )


def _time(seconds: int) -> datetime | None:
    """Return a time of the wire (seconds since 1970); `None` for one beyond all dates."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


@final
class OpenAIResponses(ProviderClient):
    """Responses of the OpenAI API, over HTTP. The key is `OPENAI_API_KEY` by default."""

    api = OpenAIResponsesApi()


@final
class SyncOpenAIResponses(SyncProviderClient):
    """`OpenAIResponses` without `await`."""

    asynchronous = OpenAIResponses


__all__ = ["OpenAIResponses", "OpenAIResponsesApi", "SyncOpenAIResponses"]
