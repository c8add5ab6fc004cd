"""
Fixtures of a whole conversation, asked by the session of an app through the client of each dialect.
"""

import asyncio

import pytest

from assistant_events.adapters import dialect_names
from assistant_events.clients import load_client
from assistant_events.messages import Awaits
from assistant_events.session import Session, run_tools
from assistant_events.stores import MemoryStore
from assistant_events.testing import mock_provider

from .test_moving_conversations import BODIES

RAIN = {
    "version": 1,
    "fixtures": [
        {
            "match": {"user_text": "Rain?"},
            "answer": {"calls": [{"id": "rain0Osl1", "name": "rain", "arguments": {}}]},  # Mistral takes it as well
        },
        {"match": {"call_id": "rain0Osl1"}, "answer": {"text": "None."}},
    ],
}


async def ask(session, client, dialect, prompt):
    """
    Prompt, and run the tools until it is the user's move; return the answers, at most six.
    """
    answers = []
    await session.prompt(prompt)
    while session.transcript.awaits is not Awaits.USER and len(answers) < 6:
        if session.transcript.awaits is Awaits.TOOLS:
            await run_tools(session, {"rain": lambda: "none"})
            continue
        async with session.respond(client, BODIES[dialect]) as events:
            async for _ in events:
                pass
        answers.append(session.transcript.last_answer.text)
    return answers


async def talk(dialect, fixtures, *prompts):
    with mock_provider(fixtures, dialect=dialect) as mock:
        async with load_client(dialect)("key", base_url=mock.url) as client:
            session = await Session.open(MemoryStore(), "s1")
            return [await ask(session, client, dialect, prompt) for prompt in prompts], session.transcript.last_answer


@pytest.mark.parametrize("dialect", dialect_names())
def test_the_same_question_twice(dialect):
    """
    A fixture that names a call also answers its repetition, whose id has a number in the request.
    """
    answers, _ = asyncio.run(talk(dialect, RAIN, "Rain?", "Rain?"))

    assert [["", "None."], ["", "None."]] == answers


@pytest.mark.parametrize("dialect", dialect_names())
def test_a_prompt_behind_a_refusal(dialect):
    """
    The newest text is that of the last prompt, also on wires that have two prompts in one message.
    """
    fixtures = {"Broken": {"http_error": {"status": 400, "message": "no"}}, "Hello": "Hi there"}

    answers, last = asyncio.run(talk(dialect, fixtures, "Broken", "Hello"))

    assert [[""], ["Hi there"]] == answers
    assert last.error is None
