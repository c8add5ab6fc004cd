"""The consuming side: events in, transcript out. It reports what is out of place and never guesses."""

from assistant_events.lifecycle import Outcome
from assistant_events.reducer.builder import Builder
from assistant_events.reducer.fold import Problem, Reduced, describe, explain, find_problems, fold, reduce
from assistant_events.reducer.reconcile import reconcile

__all__ = [
    "Builder",
    "Outcome",
    "Problem",
    "Reduced",
    "describe",
    "explain",
    "find_problems",
    "fold",
    "reconcile",
    "reduce",
]
