"""The consuming side: events in, transcript out. It reports what is out of place and never guesses."""

from assistant_events.lifecycle import Outcome
from assistant_events.reducer.builder import Builder
from assistant_events.reducer.folding import Problem, Reduced, describe, fold, problems, reduce
from assistant_events.reducer.reconciling import reconcile

__all__ = ["Builder", "Outcome", "Problem", "Reduced", "describe", "fold", "problems", "reconcile", "reduce"]
