"""
Runs of the Gemini Interactions API over HTTP, with recovery. Needs the extra `http`.

A run that is cut goes on by itself:

    async with GeminiInteractions() as client:
        run = client.create({"agent": "deep-research-preview-04-2026", "input": "…"}, session.new_id())
        async with session.receive(run) as events:
            async for event in events:
                ...

After a restart, `client.resume(session.transcript[message_id])` is received in the same way.
"""

from assistant_events.clients import needed  # noqa: F401  # pyright: ignore[reportUnusedImport] - first of all
from assistant_events.clients.gemini_interactions.blocking import SyncGeminiInteractions, SyncRunStream
from assistant_events.clients.gemini_interactions.client import GeminiInteractions, RunStatus, Stopped
from assistant_events.clients.gemini_interactions.clock import Clock
from assistant_events.clients.gemini_interactions.recovery import (
    DECISIONS,
    Action,
    Choice,
    Choices,
    Mode,
    Policy,
    Situation,
    situation_of,
)
from assistant_events.clients.gemini_interactions.report import Attempt, Backfill, Outcome, Report, Stage
from assistant_events.clients.gemini_interactions.running import RunStream

__all__ = [
    "DECISIONS",
    "Action",
    "Attempt",
    "Backfill",
    "Choice",
    "Choices",
    "Clock",
    "GeminiInteractions",
    "Mode",
    "Outcome",
    "Policy",
    "Report",
    "RunStatus",
    "RunStream",
    "Situation",
    "Stage",
    "Stopped",
    "SyncGeminiInteractions",
    "SyncRunStream",
    "situation_of",
]
