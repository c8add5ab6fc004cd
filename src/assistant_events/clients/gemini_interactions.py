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
from assistant_events.clients.client import GeminiInteractions, RunStatus, StopResult
from assistant_events.clients.clock import Clock
from assistant_events.clients.recovery import (
    DECISIONS,
    Action,
    Choice,
    Choices,
    FailureMode,
    RecoveryPolicy,
    Situation,
    situation_of,
)
from assistant_events.clients.report import Attempt, Backfill, Report, RunOutcome, Stage
from assistant_events.clients.run_stream import RunStream
from assistant_events.clients.sync_client import SyncGeminiInteractions, SyncRunStream

__all__ = [
    "DECISIONS",
    "Action",
    "Attempt",
    "Backfill",
    "Choice",
    "Choices",
    "Clock",
    "FailureMode",
    "GeminiInteractions",
    "RecoveryPolicy",
    "Report",
    "RunOutcome",
    "RunStatus",
    "RunStream",
    "Situation",
    "Stage",
    "StopResult",
    "SyncGeminiInteractions",
    "SyncRunStream",
    "situation_of",
]
