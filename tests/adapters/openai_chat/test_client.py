"""
The client of Chat Completions: its requests, those to other servers, what is asked again, and documents.
"""

import json
from functools import partial

import httpx2
import pytest

from assistant_events.adapters.openai_chat.client import OpenAIChat, SyncOpenAIChat
from assistant_events.clients import Situation, load_client
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from assistant_events.testing.virtual_loop import run
from tests.clients.canned import answered, served, streamed

from .notation import MODEL, E, R, T, answer, document, stream

BODY = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]}
KEY = "sk-key-of-a-test"
HELLO = answer(T("Hello"))
USAGE = {"include_usage": True}


def refused(status, code, kind="invalid_request_error", **headers):
    error = {"message": "no", "type": kind, "param": None, "code": code}
    return httpx2.Response(status, json={"error": error}, headers=headers)


def asked(*responses, body=BODY, **options):
    """
    Return the message, the situation, and the requests.
    """
    return answered(partial(OpenAIChat, KEY), body, *responses, **options)


def test_a_stream():
    """
    The key and the path are those of the API, and the answer is streamed, with its usage.
    """
    message, situation, [request] = asked(streamed(HELLO))

    assert ("Hello", "completed", "openai", 15, Situation.FINISHED) == (
        message.text,
        message.status,
        message.origin.provider,
        message.usage.total_tokens,
        situation,
    )
    assert ("POST", "https://api.openai.com/v1/chat/completions") == (request.method, str(request.url))
    assert f"Bearer {KEY}" == request.headers["authorization"]
    assert {**BODY, "stream": True, "stream_options": USAGE} == json.loads(request.content)


def test_a_document():
    """
    Without a stream the answer is one document, and no option of streams is sent.
    """
    response = httpx2.Response(200, json=document(content="Hello"))
    message, situation, [request] = asked(response, body={**BODY, "stream": False})

    assert ("Hello", 15, Situation.FINISHED) == (message.text, message.usage.total_tokens, situation)
    assert "application/json" == request.headers["accept"]
    assert {**BODY, "stream": False} == json.loads(request.content)


@pytest.mark.parametrize("kind", ["text/plain;charset=UTF-8", "application/octet-stream"])
def test_a_document_without_its_media_type(kind):
    """
    Gateways in workers of Cloudflare send one as plain text, which is the default there.
    """
    response = httpx2.Response(200, json=document(content="Hello"), headers={"content-type": kind})
    message, _, _ = asked(response, body={**BODY, "stream": False})

    assert ("Hello", None) == (message.text, message.error)


OPTIONS = {
    "of the app": (
        "openai",
        {"stream_options": {"include_usage": False}},
        {"stream_options": {"include_usage": False}},
    ),
    "left out": ("openai", {"stream_options": None}, {}),
    "of Mistral": ("mistral", {}, {}),
    "of Databricks": ("databricks", {}, {}),
    "of the app, to Mistral": ("mistral", *[{"stream_options": USAGE}] * 2),
}


@pytest.mark.parametrize(("provider", "given", "sent"), OPTIONS.values(), ids=OPTIONS)
def test_stream_options(provider, given, sent):
    """
    Those of the app count; `None` leaves them out, as the profile of a server does that refuses them.
    """
    _, _, [request] = asked(streamed(HELLO), body={**BODY, **given}, provider=provider)

    assert {**BODY, "stream": True, **sent} == json.loads(request.content)


SERVERS = {
    "https://openrouter.ai/api": (None, "https://openrouter.ai/api/v1/chat/completions"),
    "https://api.deepseek.com": ("", "https://api.deepseek.com/chat/completions"),
    "http://localhost:11434": (None, "http://localhost:11434/v1/chat/completions"),
    "https://api.groq.com/openai/v1": (None, "https://api.groq.com/openai/v1/chat/completions"),
    "https://open.bigmodel.cn/api/paas/v4/": (None, "https://open.bigmodel.cn/api/paas/v4/chat/completions"),
    "https://gateway.example/v1": ("v1", "https://gateway.example/v1/v1/chat/completions"),
}


@pytest.mark.parametrize(("base_url", "case"), SERVERS.items(), ids=SERVERS)
def test_other_servers(base_url, case):
    """
    A server has an address, which may end with the version, a version or none, and a name.
    """
    version, url = case
    message, _, [request] = asked(streamed(HELLO), base_url=base_url, api_version=version, provider="acme")

    assert ("acme", url) == (message.origin.provider, str(request.url))


def test_the_profile_of_a_server():
    """
    The name of the provider decides what is sent back with the next request.
    """
    sent = {}
    for provider in ("deepseek", "openai"):
        http, requests = served(streamed(answer(R("Hm"), T("Hello"))), streamed(HELLO))

        async def work(http=http, provider=provider):
            session = await Session.open(MemoryStore(), "s1")
            async with OpenAIChat(KEY, http=http, provider=provider) as client:
                for text in ("Hi", "Again"):
                    await session.prompt(text)
                    async with session.respond(client, {"model": MODEL}) as events:
                        async for _ in events:
                            pass

        run(work())
        sent[provider] = json.loads(requests[1].content)["messages"][1]

    assert {"role": "assistant", "content": "Hello", "reasoning_content": "Hm"} == sent["deepseek"]
    assert {"role": "assistant", "content": "Hello"} == sent["openai"]


def test_a_server_without_a_key():
    """
    An empty key is not sent.
    """
    requests = answered(partial(OpenAIChat, ""), BODY, streamed(HELLO))[2]

    assert "authorization" not in requests[0].headers


FINAL = {
    "invalid": (400, "invalid_value", "invalid-request"),
    "too long": (400, "context_length_exceeded", "context-length"),
    "key": (401, "invalid_api_key", "auth"),
    "model": (404, "model_not_found", "not-found"),
}


@pytest.mark.parametrize(("status", "code", "kind"), FINAL.values(), ids=FINAL)
def test_a_refusal_that_stays(status, code, kind):
    """
    A request that would be refused again is made once.
    """
    message, _, requests = asked(refused(status, code), streamed(HELLO))

    assert (status, kind, "failed", 1) == (message.error.status, message.error.kind, message.status, len(requests))


def test_an_error_in_a_stream():
    """
    A chunk with an error fails the message.
    """
    body = stream(T("Hel"), E("no memory", type="server_error", code=500))
    message, _, _ = asked(streamed(body))

    assert ("Hel", "failed", "no memory") == (message.text, message.status, message.error.message)


def test_the_entry_point():
    """
    The client is found by the name of its dialect, and has a face without an event loop.
    """
    http, _ = served(streamed(HELLO))

    assert OpenAIChat is load_client("openai-chat")
    with SyncOpenAIChat(KEY, http=http) as client:
        assert "step.ended" == [*client.create(BODY, "a1")][-1].type
