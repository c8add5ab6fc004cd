"""
The client of generateContent: its requests, what is asked again, and answers that end with their connection.
"""

import json
from functools import partial

import httpx2
import pytest

from assistant_events.adapters.gemini_generate_content.client import GeminiGenerateContent, SyncGeminiGenerateContent
from assistant_events.clients import Situation, load_client
from assistant_events.errors import LocalProtocolError
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from assistant_events.testing.virtual_loop import run
from tests.clients.canned import answered, served, streamed

from .notation import HEAD, MODEL, USAGE, C, T, answer, candidate, ended, stream

BODY = {"model": MODEL, "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
KEY = "AIza-key-of-a-test-0123456789"
HELLO = answer(T("Hello"))
DOCUMENT = {"candidates": [candidate(T("Hello"), finish="STOP")], "usageMetadata": USAGE, **HEAD}
HOST = "https://generativelanguage.googleapis.com/v1beta"


def refused(status, word, **headers):
    return httpx2.Response(status, json={"error": {"code": status, "status": word, "message": "no"}}, headers=headers)


def asked(*responses, body=BODY, **options):
    """
    Return the message, the situation, and the requests.
    """
    return answered(partial(GeminiGenerateContent, KEY), body, *responses, **options)


def test_a_stream():
    """
    Model and method are in the path, the key is in its header, and the answer is streamed as server-sent events.
    """
    message, situation, [request] = asked(streamed(HELLO))

    assert ("Hello", "completed", "google", MODEL, Situation.FINISHED) == (
        message.text,
        message.status,
        message.origin.provider,
        message.origin.model,
        situation,
    )
    assert ("POST", f"{HOST}/models/{MODEL}:streamGenerateContent?alt=sse") == (request.method, str(request.url))
    assert KEY == request.headers["x-goog-api-key"]
    assert {"contents": BODY["contents"]} == json.loads(request.content)


def test_a_document():
    """
    Without a stream the answer is one document.
    """
    message, situation, [request] = asked(httpx2.Response(200, json=DOCUMENT), body={**BODY, "stream": False})

    assert ("Hello", 60, Situation.FINISHED) == (message.text, message.usage.total_tokens, situation)
    assert (f"{HOST}/models/{MODEL}:generateContent", "application/json") == (
        str(request.url),
        request.headers["accept"],
    )


def test_models_elsewhere():
    """
    A model with a path is used as it is, on the host of the app.
    """
    vertex = {"base_url": "https://aiplatform.googleapis.com", "api_version": "v1", "provider": "vertex"}
    model = "publishers/google/models/gemini-3-pro"
    message, _, [request] = asked(streamed(HELLO), body={**BODY, "model": model}, **vertex)

    assert ("vertex", model) == (message.origin.provider, message.origin.model)
    assert f"https://aiplatform.googleapis.com/v1/{model}:streamGenerateContent?alt=sse" == str(request.url)


def test_a_model_that_could_be_another_address():
    """
    What is special in an address is escaped.
    """
    _, _, [request] = asked(streamed(HELLO), body={**BODY, "model": "a?b#c"})

    assert f"{HOST}/models/a%3Fb%23c:streamGenerateContent?alt=sse" == str(request.url)


def test_a_body_without_a_model():
    """
    It is refused before anything is sent.
    """
    with pytest.raises(LocalProtocolError, match="expected a model"):
        asked(streamed(HELLO), body={"contents": []})


def test_a_connection_that_is_lost_behind_the_reason():
    """
    The body has not ended: more could have come.
    """

    async def body():
        yield HELLO
        raise httpx2.ReadError("reset")

    message, situation, _ = asked(streamed(body()))

    assert ("Hello", "network", Situation.LOST) == (message.text, message.error.kind, situation)


def test_a_paused_answer_in_a_session():
    """
    The session sends the same request again with the token of the answer.
    """
    paused = stream(C(T("half")), ended("CONTINUATION", continuationToken="dG9rZW4="))
    http, requests = served(streamed(paused), streamed(HELLO))

    async def work():
        session = await Session.open(MemoryStore(), "s1")
        await session.prompt("Hi")
        async with GeminiGenerateContent(KEY, http=http) as client:
            for name in ("a1", "a2"):
                async with session.respond(client, {"model": MODEL}, message_id=name) as events:
                    async for _ in events:
                        pass
        return session.transcript

    transcript = run(work())

    assert ("half", "Hello", "completed") == (transcript["a1"].text, transcript["a2"].text, transcript["a2"].status)
    assert [BODY["contents"]] * 2 == [json.loads(each.content)["contents"] for each in requests]
    assert "dG9rZW4=" == json.loads(requests[1].content)["continuationToken"]


def test_the_entry_point():
    """
    The client is found by the name of its dialect, and has a face without an event loop.
    """
    http, _ = served(streamed(HELLO))

    assert GeminiGenerateContent is load_client("gemini-generate-content")
    with SyncGeminiGenerateContent(KEY, http=http) as client:
        assert "step.ended" == [*client.create(BODY, "a1")][-1].type
