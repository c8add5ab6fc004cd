"""
The client of generateContent: its requests, what is asked again, and answers that end with their connection.
"""

import json

import httpx2
import pytest

from assistant_events import fold
from assistant_events.adapters.gemini_generate_content.client import GeminiGenerateContent, SyncGeminiGenerateContent
from assistant_events.clients import Situation, load_client
from assistant_events.errors import LocalProtocolError
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from tests.clients.virtual import run

from .notation import HEAD, MODEL, USAGE, C, T, answer, candidate, ended, stream

BODY = {"model": MODEL, "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
KEY = "AIza-key-of-a-test-0123456789"
HELLO = answer(T("Hello"))
DOCUMENT = {"candidates": [candidate(T("Hello"), finish="STOP")], "usageMetadata": USAGE, **HEAD}
HOST = "https://generativelanguage.googleapis.com/v1beta"


def streamed(body):
    return httpx2.Response(200, content=body, headers={"content-type": "text/event-stream"})


def refused(status, word, **headers):
    return httpx2.Response(status, json={"error": {"code": status, "status": word, "message": "no"}}, headers=headers)


def served(*responses):
    """
    Return an HTTP client with these responses, and the list of its requests.
    """
    left, requests = list(responses), []

    def respond(request):
        requests.append(request)
        return left.pop(0)

    return httpx2.AsyncClient(transport=httpx2.MockTransport(respond)), requests


def asked(*responses, body=BODY, **options):
    """
    Return the message, the situation, the requests, and the seconds that it took.
    """
    http, requests = served(*responses)

    async def work():
        async with GeminiGenerateContent(KEY, http=http, **options) as client, client.create(body, "a1") as stream:
            events = [event async for event in stream]
            return fold(events).last, stream.report.situation

    return *run(work()), requests


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


AGAIN = {
    "overloaded": (503, "UNAVAILABLE"),
    "rate limit": (429, "RESOURCE_EXHAUSTED"),
    "server error": (500, "INTERNAL"),
    "deadline": (504, "DEADLINE_EXCEEDED"),
}


@pytest.mark.parametrize("refusal", AGAIN.values(), ids=AGAIN)
def test_a_refusal_that_passes(refusal):
    """
    The request is made again when the provider could not take it.
    """
    message, _, requests = asked(refused(*refusal, **{"retry-after": "3"}), refused(*refusal), streamed(HELLO))

    assert ("Hello", None, 3) == (message.text, message.error, len(requests))


def test_a_provider_that_stays_overloaded():
    """
    After four tries the message fails with the provider's error.
    """
    message, situation, requests = asked(*[refused(503, "UNAVAILABLE")] * 9)

    assert ("overloaded", 503, True, 4) == (
        message.error.kind,
        message.error.status,
        message.error.retryable,
        len(requests),
    )
    assert Situation.LOST is situation


def test_a_long_retry_after():
    """
    The client does not wait for minutes; the error has the time after which to ask again.
    """
    message, _, requests = asked(refused(429, "RESOURCE_EXHAUSTED", **{"retry-after": "60"}), streamed(HELLO))

    assert ("rate-limit", 60.0, 1) == (message.error.kind, message.error.retry_after_s, len(requests))


FINAL = {"invalid": (400, "INVALID_ARGUMENT"), "key": (403, "PERMISSION_DENIED"), "model": (404, "NOT_FOUND")}


@pytest.mark.parametrize("refusal", FINAL.values(), ids=FINAL)
def test_a_refusal_that_stays(refusal):
    """
    A request that would be refused again is made once.
    """
    message, _, requests = asked(refused(*refusal), streamed(HELLO))

    assert (refusal[0], "failed", 1) == (message.error.status, message.status, len(requests))


def test_a_request_without_an_answer():
    """
    A request that was sent and got no response may have been billed: it is not made again.
    """
    requests = []

    def respond(request):
        requests.append(request)
        raise httpx2.ReadError("reset")

    async def work():
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(respond))
        async with GeminiGenerateContent(KEY, http=http) as client, client.create(BODY, "a1") as stream:
            return fold([event async for event in stream]).last

    assert ("network", 1) == (run(work()).error.kind, len(requests))


def test_a_stream_that_is_cut():
    """
    The answer ends with its connection: the message fails with what has come, and only one request was sent.
    """
    message, situation, requests = asked(streamed(stream(C(T("Hello")))))

    assert ("Hello", "interrupted", 1, Situation.LOST) == (message.text, message.error.kind, len(requests), situation)


def test_an_answer_without_a_run():
    """
    Nothing can be followed, fetched or stopped, and nothing is sent for it.
    """
    http, requests = served(streamed(stream(C(T("Hello")))))

    async def work():
        async with GeminiGenerateContent(KEY, http=http) as client:
            async with client.create(BODY, "a1") as stream:
                message = fold([event async for event in stream]).last
            for call in (client.resume, client.recover):
                with pytest.raises(LocalProtocolError, match="has no run"):
                    call(message)
            with pytest.raises(LocalProtocolError, match="no id"):
                await client.status("r1")
            return await client.stop("r1")

    assert (None, False, False) == ((stopped := run(work())).run_id, stopped.cancelled, stopped.deleted)
    assert 1 == len(requests)


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
