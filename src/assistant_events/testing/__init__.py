"""
What tests of apps and adapters need: events in one line, ids and times that never change.

`assistant_events.testing.strategies` makes everything for Hypothesis and is imported by its own name, since Hypothesis
is an extra.
"""

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
from assistant_events.testing.deterministic import Clock, ids

__all__ = [
    "Call",
    "Clock",
    "answer",
    "compaction",
    "deltas",
    "durable",
    "error",
    "ids",
    "message",
    "origin",
    "prompt",
    "records",
    "rewind",
    "run",
]
