"""
What the programs that call openai share.
"""

from functools import lru_cache

import openai
from program import answer_lines


async def collected(found, mode, first=None):
    """Return the events of a stream."""
    events = []
    if mode == "sync":
        for event in found:
            events.append(event)
            if len(events) == first:
                break
        found.close()
        return events
    async for event in found:
        events.append(event)
        if len(events) == first:
            break
    await found.close()
    return events


@lru_cache(maxsize=4)
def client_of(mode, url, retries):
    """Return a client that talks to *url*."""
    made = {"sync": openai.OpenAI, "async": openai.AsyncOpenAI}[mode]
    return made(api_key="key", base_url=f"{url}/v1", max_retries=retries)


def answer_with(*functions):
    """Answer every line of the input with the function that it names."""
    calls = {each.__name__: each for each in functions}

    async def answer(request):
        mode, retries = request.pop("mode"), request.pop("retries", 0)
        client = client_of(mode, request.pop("url"), retries)
        return await calls[request.pop("call")](client, mode, **request)

    answer_lines(openai.__version__, answer)
