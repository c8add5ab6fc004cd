"""
The client of the Messages API: its requests, what is asked again, and answers that end with their connection.
"""

import json
from functools import partial

import httpx2
import pytest

from assistant_events import fold
from assistant_events.adapters.anthropic_messages.client import AnthropicMessages, SyncAnthropicMessages
from assistant_events.clients import Situation, load_client
from assistant_events.errors import LocalProtocolError
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from tests.clients.canned import answered, served, streamed
from tests.clients.virtual import run

from .notation import answer, result, text
from .samples import SAMPLES, SEARCH

BODY = {"model": "claude-opus-5-5", "max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]}
KEY = "sk-ant-key-of-a-test"
HELLO = answer(*text(0, "Hello"))
DOCUMENT = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5-5",
    "content": [{"type": "text", "text": "Hello"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 5},
}


def refused(status, kind, **headers):
    error = {"type": "error", "error": {"type": kind, "message": "no"}, "request_id": "req_1"}
    return httpx2.Response(status, json=error, headers=headers)


def asked(*responses, body=BODY, **options):
    """
    Return the message, the situation, and the requests.
    """
    return answered(partial(AnthropicMessages, KEY), body, *responses, **options)


def test_a_stream():
    """
    The key, the version and the path are those of the API, and the answer is streamed.
    """
    message, situation, [request] = asked(streamed(HELLO))

    assert ("Hello", "completed", "anthropic", Situation.FINISHED) == (
        message.text,
        message.status,
        message.origin.provider,
        situation,
    )
    assert ("POST", "https://api.anthropic.com/v1/messages") == (request.method, str(request.url))
    assert (KEY, "2023-06-01") == (request.headers["x-api-key"], request.headers["anthropic-version"])
    assert {**BODY, "stream": True} == json.loads(request.content)


def test_a_document():
    """
    Without a stream the answer is one document.
    """
    message, situation, [request] = asked(httpx2.Response(200, json=DOCUMENT), body={**BODY, "stream": False})

    assert ("Hello", 15, Situation.FINISHED) == (message.text, message.usage.total_tokens, situation)
    assert "application/json" == request.headers["accept"]


def test_betas_and_another_host():
    """
    Headers of the app go along, and the name of the one who runs the model is that of the app.
    """
    headers = {"anthropic-beta": "a,b"}
    message, _, [request] = asked(streamed(HELLO), headers=headers, provider="acme", base_url="https://acme.example/x")

    assert ("acme", "https://acme.example/x/v1/messages") == (message.origin.provider, str(request.url))
    assert ("a,b", "2023-06-01") == (request.headers["anthropic-beta"], request.headers["anthropic-version"])


def test_credentials_in_headers_are_removed():
    """
    A key that the app sends in a header of its own does not come back in an error.
    """
    echo = httpx2.Response(400, json={"error": {"type": "invalid_request_error", "message": "bad my-own-token-1"}})
    message, _, _ = asked(echo, headers={"authorization": "Bearer my-own-token-1"})

    assert "my-own-token-1" not in message.error.message


AGAIN = {
    "overloaded": (529, "overloaded_error"),
    "rate limit": (429, "rate_limit_error"),
    "server error": (500, "api_error"),
    "gateway": (503, "api_error"),
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
    message, situation, requests = asked(*[refused(529, "overloaded_error")] * 9)

    assert ("overloaded", 529, True, 4) == (
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
    message, _, requests = asked(refused(429, "rate_limit_error", **{"retry-after": "60"}), streamed(HELLO))

    assert ("rate-limit", 60.0, 1) == (message.error.kind, message.error.retry_after_s, len(requests))


FINAL = {"invalid": (400, "invalid_request_error"), "key": (401, "authentication_error"), "size": (413, "x")}


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
        async with AnthropicMessages(KEY, http=http) as client, client.create(BODY, "a1") as stream:
            return fold([event async for event in stream]).last

    assert ("network", 1) == (run(work()).error.kind, len(requests))


def test_a_stream_that_is_cut():
    """
    The answer ends with its connection: the message fails with what has come, and only one request was sent.
    """
    message, situation, requests = asked(streamed(HELLO[: HELLO.index(b"message_delta")]))

    assert ("Hello", "interrupted", 1, Situation.LOST) == (message.text, message.error.kind, len(requests), situation)


def test_an_answer_without_a_run():
    """
    Nothing can be followed, fetched or stopped, and nothing is sent for it.
    """
    http, requests = served(streamed(HELLO[: HELLO.index(b"message_delta")]))

    async def work():
        async with AnthropicMessages(KEY, http=http) as client:
            async with client.create(BODY, "a1") as stream:
                message = fold([event async for event in stream]).last
            for call in (client.resume, client.recover):
                with pytest.raises(LocalProtocolError, match="has no run"):
                    call(message)
            with pytest.raises(LocalProtocolError, match="no id"):
                await client.status("msg_1")
            return await client.stop("msg_1")

    assert (None, False, False) == ((stopped := run(work())).run_id, stopped.cancelled, stopped.deleted)
    assert 1 == len(requests)


def test_a_paused_answer_in_a_session():
    """
    The session sends a paused answer back, and the result of its call is recorded there.
    """
    searched = answer(*result(0, content=SEARCH), *text(1, "Here."))
    http, requests = served(streamed(SAMPLES["paused"]), streamed(searched))

    async def work():
        session = await Session.open(MemoryStore(), "s1")
        await session.prompt("Search!")
        async with AnthropicMessages(KEY, http=http) as client:
            for name in ("a1", "a2"):
                async with session.respond(client, {"model": "m", "max_tokens": 9}, message_id=name) as events:
                    async for _ in events:
                        pass
        return session.transcript

    transcript = run(work())

    [call] = transcript["a1"].tool_calls
    assert ("success", "Here.", "completed") == (call.status, transcript["a2"].text, transcript["a2"].status)
    assert ["user", "assistant"] == [each["role"] for each in json.loads(requests[1].content)["messages"]]


def test_the_entry_point():
    """
    The client is found by the name of its dialect, and has a face without an event loop.
    """
    http, _ = served(streamed(HELLO))

    assert AnthropicMessages is load_client("anthropic-messages")
    with SyncAnthropicMessages(KEY, http=http) as client:
        assert "step.ended" == [*client.create(BODY, "a1")][-1].type
