"""
What tests of apps, adapters and stores need.

Events in one line, ids and times that never change, checks that try everything an adapter or a store has promised, and
a provider that answers from fixtures.

`assistant_events.testing.strategies` makes everything for Hypothesis and is imported by its own name, since Hypothesis
is an extra.
"""

from assistant_events.testing.adapters import check_adapter
from assistant_events.testing.builders import (
    Call,
    answer,
    compaction,
    deltas,
    durable,
    error,
    message,
    origin,
    prompt,
    records,
    rewind,
    run,
)
from assistant_events.testing.fixed_ids_and_clock import Clock, ids
from assistant_events.testing.live import check_live
from assistant_events.testing.provider import RunningProvider, mock_provider
from assistant_events.testing.stores import check_store

__all__ = [
    "Call",
    "Clock",
    "RunningProvider",
    "answer",
    "check_adapter",
    "check_live",
    "check_store",
    "compaction",
    "deltas",
    "durable",
    "error",
    "ids",
    "message",
    "mock_provider",
    "origin",
    "prompt",
    "records",
    "rewind",
    "run",
]
