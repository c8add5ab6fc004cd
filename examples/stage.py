"""The provider of the demonstration: what its agent answers, when, and a clock that pauses behind the scenes."""

from __future__ import annotations

import asyncio
import re
import time
from datetime import UTC, datetime

from assistant_events.testing import RunningProvider, mock_provider

QUESTION = "What is there to see in Vardø in spring, and when?"
BODY = {
    "agent": "deep-research-preview-04-2026",
    "agent_config": {"type": "deep-research", "thinking_summaries": "auto"},
    "background": True,
    "store": True,
    "stream": True,
}
SECONDS = 1_500.0
"""How long the agent works."""

EVENTS = 114
"""How many events its stream has."""

PLAN = "I look for the birds first, then for the light, and then for how to get there."
REPORT = """\
# Vardø in spring

**The birds.** From the middle of March the cliffs of Hornøya fill: guillemots and razorbills come first, the puffins at
the end of the month. King and Steller's eiders lie off the harbour until late April, so that the first half of April
has the most of everything.

**The light.** In March the days grow by ten minutes each. By the middle of May the sun does not set any more, and the
cliffs stand in warm light around midnight.

**The way.** A boat goes from the harbour to Hornøya and takes ten minutes. It does not go in a strong swell, so keep a
day in hand. The coastal ship calls at Vardø once a day in each direction.

**In short.** Go in the first half of April for the birds, in May for the light, and book a room that looks north.
"""
_SEARCHES = ("Hornøya seabirds", "Vardø midnight sun")


class StageClock:
    """
    The provider's clock: faster than the wall, and paused between two of its calls.

    Args:
        scale: How many real seconds one of its seconds takes.
    """

    def __init__(self, scale: float) -> None:
        self._scale = scale
        self._paused_at = 0.0
        self._since: float | None = None

    def resume(self) -> None:
        """Run from here on."""
        if self._since is None:
            self._since = time.monotonic()

    def pause(self) -> None:
        """Pause."""
        self._paused_at, self._since = self.now(), None

    def now(self) -> float:
        """Return how many of its seconds have passed."""
        return self._paused_at + (0.0 if self._since is None else (time.monotonic() - self._since) / self._scale)

    def utc(self) -> datetime:
        """Return its time of day."""
        return datetime.now(UTC)

    def real(self, seconds: float) -> float:
        """Return how long *seconds* take while it runs."""
        return seconds * self._scale

    async def wait(self, changed: asyncio.Event, seconds: float | None) -> None:
        """Return after *seconds* or when *changed* is set."""
        end = float("inf") if seconds is None else self.now() + seconds
        while not changed.is_set() and self.now() < end:
            try:
                async with asyncio.timeout(min(self.real(end - self.now()), 0.05)):
                    await changed.wait()
            except TimeoutError:
                continue


def provider(clock: StageClock, *, cuts: bool) -> RunningProvider:
    """Return the provider; with *cuts* it ends every stream after ten minutes."""
    answer = {
        "steps": [
            thought(PLAN),
            *[step for number, query in enumerate(_SEARCHES, 1) for step in search(f"s{number}", query)],
            {"type": "model_output", "content": [{"type": "text", "text": REPORT}]},
        ],
        "timing": {"between_s": SECONDS / EVENTS, "delta_chars": 10},
        "faults": ["recut"] if cuts else [],
    }
    fixtures = {"version": 1, "fixtures": [{"match": {}, "answer": answer}]}
    return mock_provider(fixtures, clock=clock, make_id=lambda: "run-1")


def thought(text: str) -> dict[str, object]:
    """Return the step of a thought, a few words at a time."""
    words = re.findall(r"\S+\s*", text)
    return {"type": "thought", "summary": [{"type": "text", "text": word} for word in words]}


def search(call_id: str, query: str) -> list[dict[str, object]]:
    """Return the steps of a search that the provider runs."""
    return [
        {"type": "google_search_call", "id": call_id, "arguments": {"queries": [query]}},
        {"type": "google_search_result", "call_id": call_id, "result": [{"search_suggestions": query}]},
    ]
