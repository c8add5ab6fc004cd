"""
The client against the mock provider: two implementations of one wire, and every fault that the mock knows by name.
"""

import httpx2
import pytest

from assistant_events import find_problems, fold
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.clients import Clock
from assistant_events.testing import mock_provider
from assistant_events.testing.virtual_loop import run

from .answers import AGENT, end_of, events_of
from .mocked import OVERCOME, LoopClock, with_cut
from .recorded import DOCUMENTS

BODY = {"agent": AGENT, "input": [{"type": "user_input", "content": [{"type": "text", "text": "Why?"}]}]}


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


@pytest.mark.parametrize("fault", ["no-usage@2", "recut@7", "stall@4x3", *OVERCOME])
def test_a_fault_is_overcome(fault):
    """
    Whatever the mock does wrong, the run comes to the answer of one to which nothing was done.
    """
    whole, _, _ = followed()

    events, report, asked = followed(*with_cut(fault))

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
