"""
Requests that no client means to send: a mock answers or refuses them, and never fails itself.
"""

import asyncio
import json
from random import Random

import pytest

from assistant_events import UserMessage, fold
from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.mock import load_mock
from assistant_events.mock.fixture_files import load_fixtures
from tests.fuzz.seeds import samples

from .asgi import JumpClock, ask

HEADERS = {"authorization": "Bearer secret", "x-api-key": "secret", "anthropic-version": "2023-06-01"}
REQUESTS = {
    "anthropic-messages": ("/v1/messages", {"model": "claude-opus-5-5", "max_tokens": 2000, "stream": True}),
    "bedrock-converse": ("/model/eu.anthropic.claude-opus-5-5-v1:0/converse-stream", {"model": "claude"}),
    "gemini-generate-content": ("/v1beta/models/gemini-3-pro:generateContent", {"model": "gemini-3-pro"}),
    "gemini-interactions": ("/v1beta/interactions", {"model": "gemini-3.6-flash", "store": False}),
    "openai-chat": ("/v1/chat/completions", {"model": "gpt-5.6", "stream": True}),
    "openai-responses": ("/v1/responses", {"model": "gpt-5.6", "store": False}),
}
ODD = [None, 0, -1, 1.5, True, "", "x", [], {}, [None], [[]], {"a": 1}, "\ud800", 10**30, ["x"], {"type": ["x"]}]
COUNT = 200


def places(value):
    """
    Yield each place in a JSON value: what holds it, and its key or index.
    """
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def damaged(body, random):
    """
    Return a request with one to three places that are missing, there twice, or hold something else.
    """
    for _ in range(random.randint(1, 3)):
        found = list(places(body))
        if not found:
            break
        held, key = random.choice(found)
        what = random.random()
        if what < 0.2:
            del held[key]
        elif what < 0.4 and isinstance(held, list):
            held.insert(key, json.loads(json.dumps(held[key])))
        else:
            other, at = random.choice(found)
            held[key] = json.loads(json.dumps(other[at] if what < 0.6 else random.choice(ODD)))
    return body


def request(name, random):
    """
    Return the request of another turn behind an answer of a sample; most are damaged.
    """
    decoder = load_dialect(name).decoder("m")
    sample = random.choice(list(samples(name).values()))
    messages = fold(decoder.feed(sample.body) + decoder.close()).messages
    prompts = [UserMessage(id=each, content=each) for each in ("Hello", "And?")]
    body = load_dialect(name).encoder([prompts[0], *messages, prompts[1]], REQUESTS[name][1], mode="full").body
    plain = json.loads(json.dumps(body))
    return damaged(plain, random) if random.random() < 0.9 else plain


@pytest.mark.parametrize("sign", [True, False], ids=["signed", "unsigned"])
@pytest.mark.parametrize("name", dialect_names())
def test_damaged_requests(name, sign):
    """
    Each is answered or refused in the words of the provider; some of both.
    """
    mock = load_mock(name)
    fixtures = load_fixtures(mock.form, {"fixtures": [{"match": {}, "response": {"content": "Hi"}}]})
    provider = mock.provider(fixtures, clock=JumpClock(), sign=sign)

    async def statuses():
        requests = (request(name, Random(seed)) for seed in range(COUNT))
        return [(await ask(provider, "POST", REQUESTS[name][0], each, HEADERS)).status for each in requests]

    found = asyncio.run(statuses())
    assert [] == [(seed, status) for seed, status in enumerate(found) if status >= 500]
    assert {200, 400} <= set(found)
