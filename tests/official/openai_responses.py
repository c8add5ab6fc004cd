"""
A program that calls the Responses API of openai as an application does, and writes the returned objects as JSON.

Each request is `{"url": …, "mode": "sync" | "async", "call": name, …arguments}`.
"""

from openai_client import answer_with, collected
from program import listed, result


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


async def models(client, mode, name):
    """Return all models, and one of them."""
    return {"all": await listed(client.models.list()), "one": await result(client.models.retrieve(name))}


async def inputs(client, mode, response, **page):
    """Return the items before an answer, on all pages."""
    return await listed(client.responses.input_items.list(response, **page))


async def remember(client, mode, given, prompts, **body):
    """
    Hold a conversation that the service remembers: it begins with the items *given*, and requests have one prompt each.

    Return it, the answers, its items in order, and what is left of it when the first item and then itself are removed.
    """
    conversations = client.conversations
    made = await result(conversations.create(items=given, metadata={"topic": "rain"}))
    first = given and (await listed(conversations.items.list(made.id, order="asc", limit=1)))[0]
    answers = [await result(client.responses.create(input=prompt, conversation=made.id, **body)) for prompt in prompts]
    items = await listed(conversations.items.list(made.id, order="asc", limit=2))
    again = await result(conversations.items.retrieve(first.id, conversation_id=made.id))
    await result(conversations.items.delete(first.id, conversation_id=made.id))
    added = await result(conversations.items.create(made.id, items=given))
    left = await listed(conversations.items.list(made.id))
    changed = await result(conversations.update(made.id, metadata={"topic": "sun"}))
    removed = await result(conversations.delete(made.id))
    return {
        "made": made,
        "answers": answers,
        "items": items,
        "again": again,
        "added": added,
        "left": left,
        "changed": changed,
        "removed": removed,
    }


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
    answer_with(create, raw, stream, get, replay, cancel, delete, models, inputs, remember, converse)
