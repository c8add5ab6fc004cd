"""
A long conversation, sent in full at every turn to a provider that checks each signature, and each id.
"""

import asyncio

import attrs
import httpx2
import pytest

from assistant_events import fold
from assistant_events.adapters.gemini_interactions import decode_resource, encode
from assistant_events.adapters.gemini_interactions.mock import Answer, Match
from assistant_events.history import DropReason
from assistant_events.mock import Contains, Fixture
from assistant_events.testing import answer, mock_provider, prompt

from .notation import fc, mo, step, th
from .test_encoder import CLAUDE, GEMINI

OTHER = "gemini-2.5-pro"


def thought(text):
    return th(summary=[{"type": "text", "text": text}]) if text else th()


ANSWERS = {
    "one": [thought("Plan"), mo("Hello")],
    "two": [thought(""), fc("c1", "weather", {"city": "Oslo"}), fc("c2", "weather", {"city": "Bergen"})],
    "three": [
        thought("Look"),
        step("google_search_call", id="s1", arguments={"queries": ["é"]}),
        step("google_search_result", call_id="s1", result=[{"search_suggestions": "<div>"}]),
        thought(""),
        mo("Found"),
    ],
    "four": [thought("Once"), thought("Twice"), mo("four"), fc("c1", "mail", {"to": "a"})],
    "six": [
        step("code_execution_call", id="x", arguments={"code": "1"}),
        step("code_execution_result", call_id="x", result="1"),
    ],
    "seven": [thought("More"), mo("seven")],
    "eight": [thought("On"), mo("eight")],
    "nine": [mo("nine")],
    "ten": [thought("End"), mo("ten")],
}
"""What the provider says to each prompt; it signs what it says."""

DONE = [thought("Read"), mo("Done")]
"""What it says to results."""


class Conversation:
    """
    A conversation that is kept here alone: nothing is stored, and every request holds everything.
    """

    def __init__(self, http, **options):
        self.http = http
        self.options = options
        self.transcript = fold([])
        self.drops = []
        self.statuses = []
        self.count = 0

    def add(self, *events):
        self.transcript = fold(events, start=self.transcript)

    async def ask(self, *events, model=GEMINI.model, failing=False):
        """
        Append, ask, and append the answer; one that fails is cut behind its last step.
        """
        self.add(*events)
        self.count += 1
        encoded = encode(self.transcript, {"model": model, "store": False}, mode="full", **self.options)
        self.drops += encoded.drops
        response = await self.http.post("http://mock/v1beta/interactions", json=encoded.body)
        self.statuses.append((response.status_code, response.text if response.status_code != 200 else ""))
        resource = response.json()
        if response.status_code != 200:
            return
        if failing:
            resource |= {"status": "failed", "errors": [{"code": "internal", "message": "boom"}]}
        self.add(*decode_resource(resource, f"a{self.count}", request=encoded.body))

    async def run_tools(self, *outputs):
        calls = self.transcript.pending_tool_calls
        await self.ask(*[call.succeed(output) for call, output in zip(calls, outputs, strict=True)])


async def ten_turns(talk, fault=None):
    """
    Ten turns with tools, another provider's answer, a model switch, a failed turn and an edit.
    """

    def say(number):
        return prompt(number, message_id=f"u-{number}")

    await talk.ask(say("one"))
    await talk.ask(say("two"))
    await talk.run_tools("rain", {"degrees": 7})
    await talk.ask(say("three"))
    await talk.ask(say("four"))
    await talk.run_tools("sent")
    talk.add(
        prompt("five", message_id="u-five"), *answer("Claude says", reasoning="hm", origin=CLAUDE, message_id="b5")
    )
    await talk.ask(say("six"))
    await talk.ask(say("seven"), failing=True)
    await talk.ask(say("eight"), model=OTHER)
    edited = [
        attrs.evolve(message, content="one, edited") if message.id == "u-one" else message
        for message in talk.transcript.messages
    ]
    talk.transcript = attrs.evolve(talk.transcript, messages=edited)
    if fault is not None:
        talk.transcript = attrs.evolve(talk.transcript, messages=[fault(each) for each in talk.transcript.messages])
    await talk.ask(say("nine"))
    await talk.ask(say("ten"))


def talked(fault=None, **options):
    fixtures = [
        Fixture(match=Match(has_result=True), answers=(Answer(steps=DONE),)),
        Fixture(match=Match(user_text=Contains("was called with")), answers=(Answer(steps=DONE),)),
        *[Fixture(match=Match(user_text=text), answers=(Answer(steps=steps),)) for text, steps in ANSWERS.items()],
    ]

    async def main():
        async with (
            mock_provider(fixtures, sign=True, strict=True) as provider,
            httpx2.AsyncClient(transport=provider.transport(), headers={"x-goog-api-key": "k"}) as http,
        ):
            talk = Conversation(http, **options)
            await ten_turns(talk, fault)
            return talk

    return asyncio.run(main())


def test_ten_turns_in_full():
    """
    Every request of a long conversation is accepted by a provider that refuses what was changed, moved or dropped.
    """
    talk = talked()

    assert [(200, "")] * 11 == talk.statuses
    assert "ten" == talk.transcript.last.text
    assert {DropReason.UNFINISHED, DropReason.OTHER_PROVIDER} == {drop.reason for drop in talk.drops}


def test_ten_turns_without_state():
    """
    Stripped of all state the same conversation is accepted, too.
    """
    assert [(200, "")] * 11 == talked(strip=True).statuses


def changed_summary(message):
    if message.id != "a1":
        return message
    first, *rest = message.parts
    return attrs.evolve(message, parts=(attrs.evolve(first, text="Another plan"), *rest))


def moved_signature(message):
    if message.id != "a5":
        return message
    one, two, *rest = message.parts
    swapped = attrs.evolve(one, state=two.state), attrs.evolve(two, state=one.state)
    return attrs.evolve(message, parts=(*swapped, *rest))


def dropped_thought(message):
    return attrs.evolve(message, parts=message.parts[1:]) if message.id == "a2" else message


@pytest.mark.parametrize("fault", [changed_summary, moved_signature, dropped_thought])
def test_the_provider_would_have_seen_it(fault):
    """
    The same conversation with one thought changed, moved or dropped is refused: the check above checks something.
    """
    statuses = [status for status, _ in talked(fault).statuses]

    assert [200] * 9 + [400, 400] == statuses
