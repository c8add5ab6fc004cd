"""
A program that calls Chat Completions of openai as an application does, and writes the returned objects as JSON.

Each request is `{"url": …, "mode": "sync" | "async", "call": name, …arguments}`.
"""

from openai_client import answer_with, collected
from program import result


async def create(client, mode, **body):
    """Create a completion and return it."""
    return await result(client.chat.completions.create(**body))


async def raw(client, mode, **body):
    """Create a completion and return its chunks."""
    return await collected(await result(client.chat.completions.create(stream=True, **body)), mode)


async def stream(client, mode, **body):
    """Create a completion and return what its chunks add up to."""
    if mode == "sync":
        with client.chat.completions.stream(**body) as found:
            return found.get_final_completion()
    async with client.chat.completions.stream(**body) as found:
        return await found.get_final_completion()


async def converse(client, mode, prompts, **body):
    """Hold a conversation: every request contains all messages that came before, as objects."""
    messages, answers = [], []
    for prompt in prompts:
        messages.append({"role": "user", "content": prompt})
        answers.append(await result(client.chat.completions.create(messages=messages, **body)))
        messages.append(answers[-1].choices[0].message)
    return answers


if __name__ == "__main__":
    answer_with(create, raw, stream, converse)
