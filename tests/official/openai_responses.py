"""
A program that calls the Responses API of openai as an application does, and writes the returned objects as JSON.

Each request is `{"url": …, "mode": "sync" | "async", "call": name, …arguments}`.
"""

from openai_client import answer_with, collected
from program import result


async def create(client, mode, **body):
    """Create a response and return it."""
    return await result(client.responses.create(**body))


async def raw(client, mode, first=None, **body):
    """Create a response and return its events, or the *first* so many."""
    return await collected(await result(client.responses.create(stream=True, **body)), mode, first)


async def stream(client, mode, **body):
    """Create a response and return the types of its events, and the response that they add up to."""
    if mode == "sync":
        with client.responses.stream(**body) as found:
            types = [event.type for event in found]
            return {"types": types, "response": found.get_final_response()}
    async with client.responses.stream(**body) as found:
        types = [event.type async for event in found]
        return {"types": types, "response": await found.get_final_response()}


async def get(client, mode, response):
    """Return a response as it is now."""
    return await result(client.responses.retrieve(response))


async def replay(client, mode, response, **cursor):
    """Return the events of a response, those behind `starting_after` when that is given."""
    return await collected(await result(client.responses.retrieve(response, stream=True, **cursor)), mode)


async def cancel(client, mode, response):
    """Stop a run."""
    return await result(client.responses.cancel(response))


async def delete(client, mode, response):
    """Delete a response."""
    await result(client.responses.delete(response))


async def converse(client, mode, prompts, **body):
    """Hold a conversation that is not stored: every request contains all items that came before, as objects."""
    items, answers = [], []
    for prompt in prompts:
        items.append({"role": "user", "content": prompt})
        made = client.responses.create(input=items, store=False, include=["reasoning.encrypted_content"], **body)
        answers.append(await result(made))
        items += answers[-1].output
    return answers


if __name__ == "__main__":
    answer_with(create, raw, stream, get, replay, cancel, delete, converse)
