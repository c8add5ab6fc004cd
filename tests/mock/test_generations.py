"""
Which generation of the wire a request gets, and what generation 1.x looks like.
"""

import asyncio

import pytest
from starlette.datastructures import Headers

from assistant_events.adapters.gemini_interactions.mock import Answer
from assistant_events.adapters.gemini_interactions.mock.validation import generation_of

from .asgi import CREATED, MODEL, ask, asked, call_step, create, provider_of, text_step, thought_step

V1 = "/v1beta/interactions"
OLD = {"api-revision": "2026-05-07"}


@pytest.mark.parametrize("default", [1, 2])
@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"api-revision": "2026-05-07"}, 1),
        ({"api-revision": "2026-05-19"}, 1),
        ({"api-revision": "2026-05-20"}, 2),
        ({"api-revision": "soon"}, None),
        ({"x-goog-api-client": "google-genai-sdk/1.75.0 gl-python/3.11.7"}, 1),
        ({"x-goog-api-client": "google-genai-sdk/1.33.0 gl-node/v20.20.2"}, 1),
        ({"user-agent": "google-genai-sdk/1.75.0 gl-python/3.11.7"}, 1),
        ({"x-goog-api-client": "google-genai-sdk/2.19.0 gl-python/3.11.7"}, None),
        ({"x-goog-api-client": "google-genai-sdk/3.4.0 gl-python/3.11.7"}, None),
        ({"x-goog-api-client": "google-genai-sdk/11.0.0 gl-python/3.11.7"}, None),
        ({"user-agent": "speakeasy-sdk/python 2.4.1-preview.5 2.924.0 v1beta google-genai"}, None),
        ({"api-revision": "2026-05-20", "x-goog-api-client": "google-genai-sdk/1.75.0"}, 2),
    ],
    ids=range(13),
)
def test_who_gets_which(headers, expected, default):
    """
    The revision of a request decides, then an old client; other requests get the default of the server.
    """
    assert (expected or default) == generation_of(Headers(headers), default)


def test_one_of_two_user_agents_is_old():
    """
    google-genai 1.75 sends `user-agent` twice, and only the second names it.
    """
    raw = [(b"user-agent", b"GeminiNextGenAPIClient/Python 1.75.0"), (b"user-agent", b"google-genai-sdk/1.75.0")]

    assert 1 == generation_of(Headers(raw=raw), 2)


def test_bytes_of_generation_1():
    """
    A 1.x stream has its own names, a `content` for each block, and `outputs` that are empty at its end.
    """
    provider = provider_of(Answer(steps=(text_step("Hello"),), usage={"total_tokens": 3}))
    body = asked(provider, "POST", V1, create(stream=True), OLD).body

    assert (
        b"event: interaction.start\n"
        b'data: {"interaction":{"id":"v1_1","status":"in_progress","model":"gemini-3.6-flash"},'
        b'"event_type":"interaction.start"}\n\n'
        b"event: interaction.status_update\n"
        b'data: {"interaction_id":"v1_1","status":"in_progress","event_type":"interaction.status_update"}\n\n'
        b"event: content.start\n"
        b'data: {"index":0,"content":{"type":"text"},"event_type":"content.start"}\n\n'
        b"event: content.delta\n"
        b'data: {"index":0,"delta":{"text":"Hello","type":"text"},"event_type":"content.delta"}\n\n'
        b"event: content.stop\n"
        b'data: {"index":0,"event_type":"content.stop"}\n\n'
        b"event: interaction.complete\n"
        b'data: {"interaction":{"id":"v1_1","status":"completed","model":"gemini-3.6-flash",'
        b'"created":"2026-11-22T12:00:00Z","updated":"2026-11-22T12:00:00Z","usage":{"total_tokens":3},"outputs":[]},'
        b'"event_type":"interaction.complete"}\n\n'
        b"event: done\n"
        b"data: [DONE]\n\n"
    ) == body


def test_calls_of_generation_1():
    """
    A call of 1.x comes with its arguments as one object.
    """
    events = asked(provider_of([call_step(city="Oslo")]), "POST", V1, create(stream=True), OLD).events
    deltas = [event["delta"] for event in events if event["event_type"] == "content.delta"]

    assert [{"type": "function_call", "id": "c1", "name": "getWeather", "arguments": {"city": "Oslo"}}] == deltas
    assert "requires_action" == events[-1]["interaction"]["status"]


def test_document_of_generation_1():
    """
    A document of 1.x has `outputs`, a block for each text, thought and call, and no steps of the user.
    """
    answer = Answer(steps=(thought_step("p", signature="c2ln"), text_step("Hello")), usage={"total_tokens": 3})

    async def main():
        provider = provider_of(answer, generation=1)
        return await ask(provider, "POST", V1, create()), await ask(provider, "GET", f"{V1}/v1_1")

    created, got = asyncio.run(main())

    assert created.document == got.document
    assert {
        "id": "v1_1",
        "status": "completed",
        "model": MODEL,
        "created": CREATED,
        "updated": CREATED,
        "outputs": [thought_step("p", signature="c2ln"), {"type": "text", "text": "Hello"}],
        "usage": {"total_tokens": 3},
    } == got.document


def test_one_run_in_both_generations():
    """
    One process, and even one run, is read by clients of both generations.
    """

    async def main():
        provider = provider_of()
        await ask(provider, "POST", V1, create(background=True))
        return [await ask(provider, "GET", f"{V1}/v1_1?stream=true", None, headers) for headers in ({}, OLD)]

    new, old = asyncio.run(main())

    assert "step.delta" == new.names[3]
    assert "content.delta" == old.names[3]
    assert new.events[3]["delta"] == old.events[3]["delta"]


def test_background_of_generation_1():
    """
    A run that is under way has no outputs.
    """
    document = asked(provider_of(generation=1), "POST", V1, create(background=True)).document

    assert {"id": "v1_1", "status": "in_progress", "model": MODEL, "created": CREATED, "updated": CREATED} == document
