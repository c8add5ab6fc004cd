"""
A program that calls google-genai as an application does, and writes the returned objects as JSON.

Each request is `{"url": …, "mode": "sync" | "async", "call": name, …arguments}`. It runs with whatever version of
google-genai is found first.
"""

from functools import lru_cache

from google import genai
from program import answer_lines


class Sync:
    """The synchronous face of the client."""

    def __init__(self, client):
        self.api = client.interactions

    async def call(self, name, *arguments, **named):
        return getattr(self.api, name)(*arguments, **named)

    async def read(self, stream, first):
        events = []
        with stream:
            for event in stream:
                events.append(event)
                if len(events) == first:
                    break
        return events


class Async:
    """The asynchronous face of the client."""

    def __init__(self, client):
        self.api = client.aio.interactions

    async def call(self, name, *arguments, **named):
        return await getattr(self.api, name)(*arguments, **named)

    async def read(self, stream, first):
        events = []
        async with stream:
            async for event in stream:
                events.append(event)
                if len(events) == first:
                    break
        return events


async def create(face, **body):
    """Create an interaction and return it."""
    return await face.call("create", **body)


async def stream(face, first=None, **body):
    """Create an interaction and return its events, or the *first* so many."""
    return await face.read(await face.call("create", stream=True, **body), first)


async def dump(face, how, **body):
    """Create an interaction and return its events as applications store them: dumped to plain JSON."""
    return [event.model_dump(**how) for event in await stream(face, **body)]


async def get(face, interaction):
    """Return an interaction as it is now."""
    return await face.call("get", interaction)


async def replay(face, interaction, first=None, **cursor):
    """Return the events of an interaction, those behind `last_event_id` when that is given."""
    return await face.read(await face.call("get", interaction, stream=True, **cursor), first)


async def cancel(face, interaction):
    """Stop a run."""
    return await face.call("cancel", interaction)


async def delete(face, interaction):
    """Delete the record of an interaction."""
    await face.call("delete", interaction)


async def say_again(face, prompts, **body):
    """Hold a conversation that is not stored: every request contains all objects that came before."""
    said, answers = [], []
    for prompt in prompts:
        said.append(prompt)
        answers.append(await face.call("create", input=said, store=False, **body))
        said = [*said, *answers[-1].steps]
    return answers


CALLS = {each.__name__: each for each in (create, stream, dump, get, replay, cancel, delete, say_again)}


@lru_cache(maxsize=4)
def client_of(url):
    """Return a client that talks to *url*; making one takes longer than most calls."""
    return genai.Client(api_key="key", http_options={"base_url": url})


async def answer(request):
    """Make one call and return its result."""
    face = {"sync": Sync, "async": Async}[request.pop("mode")](client_of(request.pop("url")))
    call = CALLS[request.pop("call")]
    return await call(face, **request)


if __name__ == "__main__":
    # Version 1 warns that interactions are an experiment, version 3 that an answer continues.
    answer_lines(genai.__version__, answer)
