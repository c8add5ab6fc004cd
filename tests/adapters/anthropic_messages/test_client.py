"""
The client of the Messages API: its requests, what is asked again, and answers that end with their connection.
"""

import json
from functools import partial

import httpx2

from assistant_events.adapters.anthropic_messages.client import AnthropicMessages, SyncAnthropicMessages
from assistant_events.clients import Situation, load_client
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from assistant_events.testing.virtual_loop import run
from tests.clients.canned import answered, served, streamed

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
