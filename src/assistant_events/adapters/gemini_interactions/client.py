"""
The client of the Gemini Interactions API. Needs the extra `http`.

A run that is cut is followed again by itself:

    async with GeminiInteractions() as client:
        async with session.respond(client, {"agent": "deep-research-preview-04-2026"}) as events:
            async for event in events:
                ...

After a restart, `session.resume(client)` takes it up in the same way.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, Final, final

from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder, dialect, vocabulary
from assistant_events.adapters.gemini_interactions.decoder import BEGINNINGS
from assistant_events.adapters.json_fields import Fields, flag, integer, listed, mapping, string
from assistant_events.clients.client import ProviderClient
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.recovery import RunSummary, RunTraits
from assistant_events.clients.sync_client import SyncProviderClient
from assistant_events.clients.tracking_decoder import Observation, TrackingDecoder
from assistant_events.errors import JsonError
from assistant_events.messages import AssistantMessage
from assistant_events.values import read_json

MODEL: Final = "gemini-3.6-flash"
"""The model that is asked when none is named."""

_COMPLETED: Final = ("interaction.completed", "interaction.complete")

_WITH_USAGE: Final = frozenset({"completed", "idle", "incomplete", "budget_exceeded", "requires_action"})
"""Statuses of runs that have usage, if not in the stream then in the document."""

_CONTINUATIONS: Final = ("step.delta", "step.stop", "content.delta", "content.stop")

_CUT_WORDS: Final = re.compile(r'"code"\s*:\s*503\b|"status"\s*:\s*"UNAVAILABLE"')


@final
class GeminiTrackingDecoder(TrackingDecoder, GeminiInteractionsDecoder):
    """Decodes a stream and records what recovery has to know of it."""

    unfinished = vocabulary.UNFINISHED

    @property
    def resumable(self) -> bool:
        """Whether the run continues without a connection, and can be followed again."""
        return bool(self.run_id) and vocabulary.is_resumable(self.request)

    @property
    def stream_cursor(self) -> str | None:
        """Id of the last event, if the stream can continue there."""
        return self.cursor

    @property
    def stored(self) -> bool:
        """Whether the provider keeps a document of the run."""
        return bool(self.run_id) and flag(self.request, "store") is not False

    def observe(self, event: Fields) -> Observation:
        """Return what an event means for recovery."""
        name = self.event_name(event)
        is_lifecycle = name in BEGINNINGS or name in _COMPLETED
        interaction = vocabulary.interaction_of(event) if is_lifecycle else mapping(event, "interaction")
        run_id = string(interaction, "id")
        foreign = self._foreign(run_id or string(event, "interaction_id"))
        if name in BEGINNINGS:
            return Observation(run_id=run_id, status=string(interaction, "status"), foreign=foreign)
        if name in _COMPLETED:
            status = string(interaction, "status")
            return Observation(
                run_id=run_id,
                status=status,
                completes={**event, "event_type": name},
                pauses=status == "requires_continuation",
                lacks_usage=not mapping(interaction, "usage") and (status or self.status) in _WITH_USAGE,
                foreign=foreign,
            )
        if name == "interaction.status_update":
            return Observation(status=string(event, "status"), foreign=foreign)
        if name == "error":
            return Observation(error=vocabulary.stream_error(mapping(event, "error")) is not None, foreign=foreign)
        index = integer(event, "index")
        known = index in self._steps
        misplaced = index is not None and not known and name in _CONTINUATIONS
        content = 0
        if (string(event, "event_id") or "").encode(errors="surrogatepass") not in self.frame_ids:
            if name in ("step.start", "content.start"):
                content = int(not known)
            elif name in ("step.delta", "content.delta"):
                content = int(any(value for key, value in mapping(event, "delta").items() if key != "type"))
        return Observation(content=content, misplaced=misplaced, foreign=foreign)

    def with_usage(self, event: Fields, usage: Fields) -> Fields:
        """Return a completion event with usage."""
        return {**event, "interaction": {**vocabulary.interaction_of(event), "usage": usage}}

    def _foreign(self, run_id: str | None) -> str | None:
        """Return an id when it is neither that of the replayed run nor of a response before or after it."""
        known = not self.replayed or not run_id or run_id in (self.replayed, self.run_id) or run_id in self._past
        return None if known or self._paused else run_id


@final
class GeminiInteractionsApi(ProviderApi):
    """What the client has to know of the API."""

    dialect = dialect
    provider = "google"
    base_url = "https://generativelanguage.googleapis.com"
    version = "v1beta"
    """`v1` is what the official SDKs request since 3.0; the `gemini-*-latest` models, and recovery, are on `v1beta`."""

    collection = "interactions"
    keeps_runs = True
    cursor_parameter = "last_event_id"
    key_header = "x-goog-api-key"
    key_variable = "GEMINI_API_KEY"
    decoder = GeminiTrackingDecoder
    traits = RunTraits(cut_at_s=(595.0, 610.0), zombie_after=timedelta(minutes=60))
    """Connections were cut at 600 s, give or take 1 s. Runs older than 60 min without output never had any."""

    def with_defaults(self, body: Fields) -> Fields:
        """Return a body that is streamed, and for an agent also stored and in the background, unless it differs."""
        made = {"stream": True, **body}
        agent = string(body, "agent") or ""
        if agent and vocabulary.runs_in_background(agent) and flag(body, "store") is not False:
            made = {"background": True, "store": True, **made}
        return made

    def settings(
        self, before: Fields, *, model: str | None, agent: str | None, system: str | None, background: bool
    ) -> dict[str, Any]:
        """Return a request body without a conversation. Deep Research takes no instruction, and none of a model."""
        if model is None and agent is None:
            model, agent = string(before, "model"), string(before, "agent")
        thoughts = {"thinking_summaries": "auto"}
        if agent is None:
            body: dict[str, Any] = {"model": model or MODEL, "generation_config": thoughts}
        else:
            body = {"agent": agent}
            if agent.startswith("deep-research"):
                if system:
                    raise ValueError(f"{agent} takes no system instruction, put it into the prompt")
                system = ""
                body["agent_config"] = {"type": "deep-research", **thoughts}  # required for thoughts
        system = string(before, "system_instruction") if system is None else system
        if system:
            body["system_instruction"] = system
        if background:
            body |= {"background": True, "store": True}
        return dict(self.with_defaults(body))

    def request_of(self, message: AssistantMessage) -> Fields:
        """Return what is known of the request body of a stored message."""
        name = message.origin.model
        sent: dict[str, object] = {"store": True, "background": True} if message.run and message.run.resumable else {}
        if name:
            sent["agent" if vocabulary.is_agent(name) else "model"] = name
        return sent

    def summarize(self, resource: Fields) -> RunSummary:
        """Return the document of a run without its content."""
        status = string(resource, "status")
        return RunSummary(
            status=status,
            running=status in vocabulary.UNFINISHED,
            created=_time(string(resource, "created")),
            updated=_time(string(resource, "updated")),
            outputs=len(vocabulary.resource_steps(resource)),
        )

    def is_agent(self, request: Fields) -> bool:
        """Return whether a request body is for an agent."""
        return bool(string(request, "agent"))

    def is_cut_tail(self, tail: str) -> bool:
        """Return whether text is `[{"error": {"code": 503, …, "status": "UNAVAILABLE"}}]`, sometimes cut itself."""
        text = tail.strip()
        if not text.startswith(("[", "{")):
            return False
        try:
            document = read_json(text)
        except JsonError:
            return _CUT_WORDS.search(text) is not None
        first = listed({"all": document}, "all")[:1]
        error = mapping(first[0] if first else {}, "error")
        return integer(error, "code") == 503 or string(error, "status") == "UNAVAILABLE"


def _time(text: str | None) -> datetime | None:
    """Return a time of the wire (ISO 8601 with a zone); `None` when it is not valid."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return None if time.tzinfo is None else time


@final
class GeminiInteractions(ProviderClient):
    """Runs of the Gemini Interactions API, over HTTP. The key is `GEMINI_API_KEY` by default."""

    api = GeminiInteractionsApi()


@final
class SyncGeminiInteractions(SyncProviderClient):
    """`GeminiInteractions` without `await`."""

    asynchronous = GeminiInteractions


__all__ = ["GeminiInteractions", "GeminiInteractionsApi", "SyncGeminiInteractions"]
