"""Lists of events that know which of their deltas are one text: to fold such a text takes one step, not one a delta."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assistant_events.events import Event


class DeltaRun(NamedTuple):
    """Deltas of one fragment in a list, each of which continues the one before it."""

    at: int
    """Index of the first in the list."""

    deltas: list[Event]
    """At least one."""

    text: str
    """Their texts, joined."""


class EventList(list[Event]):
    """
    What a decoder returns for a chunk with runs of deltas.

    It can be changed like any other list: readers of `runs` compare the deltas of each with what the list has there.

    Args:
        events: The items.

        runs: Their runs, in order; those that *events* has by default.
    """

    __slots__ = ("runs",)

    runs: Sequence[DeltaRun]

    def __init__(self, events: Iterable[Event], runs: Sequence[DeltaRun] | None = None) -> None:
        super().__init__(events)
        known = events.runs if isinstance(events, EventList) else ()
        self.runs = known if runs is None else runs
