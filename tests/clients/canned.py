"""
Clients with responses that are given: what they send, and what becomes of the responses.
"""

import httpx2

from assistant_events import fold
from assistant_events.testing.virtual_loop import run


def streamed(body):
    return httpx2.Response(200, content=body, headers={"content-type": "text/event-stream"})


def served(*responses):
    """
    Return an HTTP client with these responses, and the list of its requests.
    """
    left, requests = list(responses), []

    def respond(request):
        requests.append(request)
        return left.pop(0)

    return httpx2.AsyncClient(transport=httpx2.MockTransport(respond)), requests


def answered(client, body, *responses, **options):
    """
    Return the message, the situation, and the requests of an answer.
    """
    http, requests = served(*responses)

    async def work():
        async with client(http=http, **options) as api, api.create(body, "a1") as stream:
            events = [event async for event in stream]
            return fold(events).last, stream.report.situation

    return *run(work()), requests
