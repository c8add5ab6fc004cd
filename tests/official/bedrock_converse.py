"""
A program that calls boto3 as an application does, and writes the returned objects as JSON.

Each request is `{"url": …, "call": name, …arguments}`.
"""

from functools import lru_cache

import boto3
from botocore.config import Config
from botocore.exceptions import EventStreamError
from program import answer_lines, refusal


def converse(client, **body):
    """Ask for an answer and return its document."""
    return client.converse(**body)


def stream(client, **body):
    """Ask for an answer and return its events, and what the client raised among them."""
    found = client.converse_stream(**body)
    events = []
    try:
        events += iter(found.pop("stream"))
    except EventStreamError as error:
        return {"events": events, "raised": refusal(error), **found}
    return {"events": events, **found}


def conversation(client, prompts, **body):
    """Hold a conversation: every request contains all messages that came before, as objects of the client."""
    messages, answers = [], []
    for prompt in prompts:
        messages.append({"role": "user", "content": [{"text": prompt}]})
        answers.append(client.converse(messages=messages, **body))
        messages.append(answers[-1]["output"]["message"])
    return answers


CALLS = {each.__name__: each for each in (converse, stream, conversation)}


@lru_cache(maxsize=4)
def client_of(url):
    """Return a client that signs its requests and talks to *url*, once each."""
    once = Config(retries={"total_max_attempts": 1}, proxies={})
    return boto3.client(
        "bedrock-runtime",
        region_name="eu-central-1",
        endpoint_url=url,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        aws_session_token="session",
        config=once,
    )


async def answer(request):
    """Make one call and return its result."""
    del request["mode"]
    client = client_of(request.pop("url"))
    return CALLS[request.pop("call")](client, **request)


if __name__ == "__main__":
    answer_lines(boto3.__version__, answer)
