"""
Conversations that move from provider to provider, turn by turn: the strict mock of each takes what all others wrote.
"""

import asyncio
import json
import os
from contextlib import AsyncExitStack
from functools import partial
from random import Random

import attrs
import httpx2
import pytest

from assistant_events import Awaits
from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.adapters.gemini_generate_content import NO_SIGNATURE
from assistant_events.clients import load_client
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from assistant_events.testing import mock_provider

NAMES = ("rain", "snow")
SCHEMA = {"type": "object"}
CLAUDE, GEMINI, GPT = "claude-opus-5-5", "gemini-3.6-flash", "gpt-5.6"
FUNCTIONS = [{"type": "function", "name": name, "parameters": SCHEMA} for name in NAMES]
SPECS = [{"toolSpec": {"name": name, "inputSchema": {"json": SCHEMA}}} for name in NAMES]
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2000}}

MORE = {
    "anthropic-messages": THINKING,
    "bedrock-converse": {"additionalModelRequestFields": THINKING, "inferenceConfig": {"maxTokens": 9000}},
    "openai-responses": {"store": False, "include": ["reasoning.encrypted_content"]},
}
"""What every second request to a dialect has, too."""

BODIES = {
    "anthropic-messages": {
        "model": CLAUDE,
        "max_tokens": 9000,
        "tools": [{"name": name, "input_schema": SCHEMA} for name in NAMES],
    },
    "bedrock-converse": {"model": f"anthropic.{CLAUDE}", "toolConfig": {"tools": SPECS}},
    "gemini-generate-content": {
        "model": GEMINI,
        "tools": [{"functionDeclarations": [{"name": name} for name in NAMES]}],
    },
    "gemini-interactions": {"model": GEMINI, "tools": FUNCTIONS},
    "openai-chat": {
        "model": GPT,
        "tools": [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES],
    },
    "openai-responses": {"model": GPT, "tools": FUNCTIONS},
}
SEEDS = range(60 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 6)
TURNS, ANSWERS = 6, 30


def answer(random, number):
    """
    Return the answer of a fixture, with a text, calls or both, and often a thought.
    """
    made = {"text": f"Answer {number}."} if random.random() < 0.7 else {}
    if random.random() < 0.6:
        made["thought"] = f"Thought {number}."
    if not made.get("text") or random.random() < 0.4:
        calls = range(random.choice((1, 1, 2, 3)))
        made["calls"] = [{"name": random.choice(NAMES), "arguments": {"n": number, "at": at}} for at in calls]
    return made


async def converse(session, client, body, random):
    """
    Ask until it is the user's move, with results of every kind for the calls.
    """
    while session.transcript.awaits is not Awaits.USER:
        if session.transcript.awaits is Awaits.MODEL:
            async with session.respond(client, body) as events:
                async for _ in events:
                    pass
            session.transcript.last_answer.raise_for_error()
        for call in session.transcript.last_answer.pending_tool_calls:
            results = [call.succeed("sunny"), call.succeed({"degrees": 4}), call.fail("no station")]
            await session.append(random.choice(results))


async def wander(random):
    """
    Return the transcript of a conversation, each turn of which another provider has answered.
    """
    async with AsyncExitStack() as opened:
        session = await Session.open(MemoryStore(), "s1")
        clients = {}
        for name in dialect_names():
            answers = [answer(random, f"{name} {number}") for number in range(ANSWERS)]
            answers.append({"text": "The last one."})
            fixtures = {"version": 1, "fixtures": [{"match": {}, "answers": answers}]}
            provider = await opened.enter_async_context(mock_provider(fixtures, dialect=name))
            http = await opened.enter_async_context(httpx2.AsyncClient(transport=provider.transport()))
            client = load_client(name)("key-of-a-test", http=http, base_url="http://mock")
            clients[name] = await opened.enter_async_context(client)
        for turn in range(TURNS):
            name = random.choice(list(clients))
            body = BODIES[name] | (MORE.get(name, {}) if random.random() < 0.5 else {})
            await session.prompt(f"Question {turn}?")
            await converse(session, clients[name], body, random)
        return session.transcript


@pytest.mark.parametrize("seed", SEEDS)
def test_every_provider_takes_the_conversation(seed):
    """
    No request is refused, and whole requests have every text of the conversation.
    """
    transcript = asyncio.run(wander(Random(seed)))
    texts = [message.text for message in transcript.messages if message.text]

    assert len(texts) > TURNS
    for name, body in BODIES.items():
        options = {"mode": "full"} if name in ("gemini-interactions", "openai-responses") else {}
        sent = json.dumps(load_dialect(name).encoder(transcript, body, **options).body)
        assert [] == [text for text in texts if text not in sent]


async def move_inside(target):
    """
    Return the transcript of a turn whose first step is of another provider, with a call; the last one is of *target*.
    """
    source = "openai-chat" if target != "openai-chat" else "openai-responses"
    steps = {source: {"calls": [{"name": "rain", "arguments": {}}]}, target: {"text": "Sunny."}}
    async with AsyncExitStack() as opened:
        session = await Session.open(MemoryStore(), "s1")
        await session.prompt("Rain?")
        for name, step in steps.items():
            fixtures = {"version": 1, "fixtures": [{"match": {}, "answers": [step]}]}
            provider = await opened.enter_async_context(mock_provider(fixtures, dialect=name))
            http = await opened.enter_async_context(httpx2.AsyncClient(transport=provider.transport()))
            client = load_client(name)("key-of-a-test", http=http, base_url="http://mock")
            if name == "gemini-generate-content":
                policy = attrs.evolve(client.dialect.policy, lost_signature=NO_SIGNATURE)
                encoder = partial(client.dialect.encoder, policy=policy)
                client.dialect = attrs.evolve(client.dialect, encoder=encoder, policy=policy)
            await opened.enter_async_context(client)
            async with session.respond(client, BODIES[name] | MORE.get(name, {})) as events:
                async for _ in events:
                    pass
            for call in session.transcript.last_answer.pending_tool_calls:
                await session.append(call.succeed("no"))
        return session.transcript


@pytest.mark.parametrize("target", dialect_names())
def test_a_turn_moves_in_its_middle(target):
    """
    Another provider continues from the results, with its thinking on, as the documentation of its dialect describes.
    """
    last = asyncio.run(move_inside(target)).last

    assert (None, "Sunny.") == (last.error, last.text)
