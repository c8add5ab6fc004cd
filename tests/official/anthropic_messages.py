"""
A program that calls anthropic as an application does, and writes the returned objects as JSON.

Each request is `{"url": …, "mode": "sync" | "async", "call": name, …arguments}`.
"""

from functools import lru_cache

import anthropic
from program import answer_lines, listed, result


async def create(client, mode, **body):
    """Create a message and return it."""
    return await result(client.messages.create(**body))


async def stream(client, mode, **body):
    """Create a message and return its events, with those that the client derives, and the message they add up to."""
    if mode == "sync":
        with client.messages.stream(**body) as found:
            return {"events": list(found), "message": found.get_final_message()}
    async with client.messages.stream(**body) as found:
        return {"events": [event async for event in found], "message": await found.get_final_message()}


async def raw(client, mode, **body):
    """Create a message and return the events of the wire."""
    found = await result(client.messages.create(stream=True, **body))
    return list(found) if mode == "sync" else [event async for event in found]


async def beta(client, mode, **body):
    """Create a message with the beta interface and return it."""
    return await result(client.beta.messages.create(**body))


async def models(client, mode, name):
    """Return all models, and one of them."""
    return {"all": await listed(client.models.list()), "one": await result(client.models.retrieve(name))}


async def converse(client, mode, prompts, **body):
    """Hold a conversation: every request contains all blocks that came before, as objects of the client."""
    messages, answers = [], []
    for prompt in prompts:
        messages.append({"role": "user", "content": prompt})
        answers.append(await result(client.messages.create(messages=messages, **body)))
        messages.append({"role": "assistant", "content": answers[-1].content})
    return answers


CALLS = {each.__name__: each for each in (create, stream, raw, beta, models, converse)}


@lru_cache(maxsize=4)
def client_of(mode, url, retries):
    """Return a client that talks to *url*."""
    made = {"sync": anthropic.Anthropic, "async": anthropic.AsyncAnthropic}[mode]
    return made(api_key="key", base_url=url, max_retries=retries)


async def answer(request):
    """Make one call and return its result."""
    mode, retries = request.pop("mode"), request.pop("retries", 0)
    client = client_of(mode, request.pop("url"), retries)
    return await CALLS[request.pop("call")](client, mode, **request)


if __name__ == "__main__":
    answer_lines(anthropic.__version__, answer)
