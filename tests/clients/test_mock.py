"""
The client against the mock provider: two implementations of one wire, and every fault that the mock knows by name.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from assistant_events import find_problems, fold
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.clients import Clock
from assistant_events.testing import mock_provider
from assistant_events.testing.virtual_loop import run

from .answers import AGENT, end_of, events_of
from .recorded import DOCUMENTS

BODY = {"agent": AGENT, "input": [{"type": "user_input", "content": [{"type": "text", "text": "Why?"}]}]}
BEGAN = datetime(2026, 11, 22, 10, tzinfo=UTC)


class LoopClock:
    """The time of a mock provider that lives in an event loop whose time jumps."""

    def now(self):
        return asyncio.get_running_loop().time()

    def utc(self):
        return BEGAN + timedelta(seconds=self.now())

    def real(self, seconds):
        return seconds

    async def wait(self, changed, seconds):
        with suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), seconds)


def followed(*faults, body=BODY, then=None, generation=2):
    """
    Follow a run of the recorded answer while *faults* strike; return its events, its report and what was asked.
    """
    answer = {"steps": [step for step in DOCUMENTS["searched"] if step["type"] != "user_input"]}

    async def work():
        clock = LoopClock()
        async with (
            mock_provider(
                {"Why?": answer}, faults=faults, clock=clock, sign=False, generation=generation, strict=False
            ) as provider,
            httpx2.AsyncClient(transport=provider.transport()) as http,
            GeminiInteractions("k", http=http, base_url="http://mock", clock=Clock(now=clock.utc)) as client,
        ):
            made = client.create(body, "m")
            events = await events_of(made)
            return events, made.report, [f"{each.method} {dict(each.query)}" for each in provider.requests]

    return run(work())


def test_without_a_fault():
    """
    One request, and the answer of the fixture.
    """
    events, report, asked = followed()

    assert [] == find_problems(events)
    assert "Tromsø: snø.Ta på lue." == fold(events).last.text.replace("\n", "")
    assert ("completed", 1) == (end_of(report), len(asked))


OVERCOME = [
    "ten-minute-cut@7",
    "recut@7",
    "recut@600s",
    "silent-replay",
    "drop@1",
    "drop@7",
    "dropx3",
    "cut@5",
    "cut@5x2",
    "stall@4",
    "stall@4x3",
    "no-usage",
    "no-usage@2",
    "empty-errors",
    "no-completed",
    "completed-in-progress",
    "http-503@get",
    "slow-first-byte",
    "duplicated-frames",
    "truncated-utf8",
    "bad-json@1",
    "no-stops",
    "no-done",
    "no-blank-line",
    "data-only",
    "crlf",
    "comments",
    "split-bytes",
    "queued",
    "unknown-events",
    "http-429@create",
]


@pytest.mark.parametrize("fault", OVERCOME)
def test_a_fault_is_overcome(fault):
    """
    Whatever the mock does wrong, the run comes to the answer of one to which nothing was done.
    """
    whole, _, _ = followed()

    events, report, asked = followed(fault, *(["drop@3"] if fault in ("silent-replay", "http-503@get") else ()))

    assert [] == find_problems(events)
    assert ("completed", fold(whole).last.text) == (end_of(report), fold(events).last.text)
    added = [part for part in fold(events).last.parts if part.type == "opaque"]
    assert len(fold(whole).last.parts) + len(added) == len(fold(events).last.parts)
    assert ["POST {}"] == asked[:1]


ENDS = {
    "zombie": "provider",
    "error@5": "provider",
    "http-500@create": "provider",
    "http-400@create": "invalid-request",
}


@pytest.mark.parametrize(("fault", "end"), ENDS.items(), ids=ENDS)
def test_a_fault_is_the_end(fault, end):
    """
    What cannot be overcome ends the message with a name.
    """
    events, report, _ = followed(fault)

    assert [] == find_problems(events)
    assert (end, "step.failed") == (end_of(report), events[-1].type)
