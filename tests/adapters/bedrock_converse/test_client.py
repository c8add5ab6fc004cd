"""
The client of Converse: its addresses, its streams and documents, and errors whose type is in a header.
"""

import json
from functools import partial

import httpx2
import pytest

from assistant_events.adapters.bedrock_converse.client import BedrockConverse, SyncBedrockConverse
from assistant_events.clients import Situation, load_client
from assistant_events.errors import LocalProtocolError
from tests.clients.canned import answered

from .notation import MODEL, E, K, M, T, U, X, answer, stream, text

BODY = {"modelId": MODEL, "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
KEY = "bedrock-api-key-of-a-test"
HELLO = answer(*text(0, "Hello"))
DOCUMENT = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Hello"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
}
HOST = "https://bedrock-runtime.us-east-1.amazonaws.com"


def streamed(body):
    return httpx2.Response(200, content=body, headers={"content-type": "application/vnd.amazon.eventstream"})


def refused(status, kind, **headers):
    return httpx2.Response(status, json={"message": "no"}, headers={"x-amzn-errortype": kind, **headers})


def asked(*responses, body=BODY, **options):
    """
    Return the message, the situation, and the requests.
    """
    return answered(partial(BedrockConverse, KEY), body, *responses, **options)


def test_a_stream():
    """
    The model and the operation are in the path, and the answer is a binary stream.
    """
    message, situation, [request] = asked(streamed(HELLO))

    assert ("Hello", "completed", MODEL, Situation.FINISHED) == (
        message.text,
        message.status,
        message.origin.model,
        situation,
    )
    assert ("POST", f"{HOST}/model/us.anthropic.claude-opus-5-5-v1%3A0/converse-stream") == (
        request.method,
        str(request.url),
    )
    assert f"Bearer {KEY}" == request.headers["authorization"]
    assert "application/vnd.amazon.eventstream" == request.headers["accept"]
    assert {"messages": BODY["messages"]} == json.loads(request.content)


def test_a_document():
    """
    Without a stream the operation is another, and the answer one document.
    """
    message, situation, [request] = asked(httpx2.Response(200, json=DOCUMENT), body={**BODY, "stream": False})

    assert ("Hello", 15, Situation.FINISHED) == (message.text, message.usage.total_tokens, situation)
    assert str(request.url).endswith("/converse")


def test_an_arn():
    """
    An ARN is one segment of the path.
    """
    arn = "arn:aws:bedrock:eu-central-1:1:inference-profile/eu.amazon.nova"
    _, _, [request] = asked(streamed(HELLO), body={**BODY, "modelId": arn}, base_url="https://proxy.example/x")

    assert (
        "https://proxy.example/x/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A1%3Ainference-profile%2Feu.amazon.nova"
        "/converse-stream"
    ) == str(request.url)


def test_a_refusal():
    """
    The header has the type of the error; the same request is not made again.
    """
    message, _, requests = asked(refused(400, "ValidationException:http://a", **{"x-amzn-requestid": "r1"}))

    assert ("invalid-request", "validationException", "no", "r1") == (
        message.error.kind,
        message.error.code,
        message.error.message,
        message.error.details["requestId"],
    )
    assert 1 == len(requests)


def test_an_exception_in_the_stream():
    """
    What came before it is kept; the request is not made again.
    """
    message, _, requests = asked(streamed(stream(M, T(0, "Hel"), E())))

    assert ("Hel", "rate-limit", 1) == (message.text, message.error.kind, len(requests))


def test_a_damaged_stream():
    """
    A wrong checksum fails the answer.
    """
    message, _, _ = asked(streamed(HELLO[:-1] + b"\0"))

    assert ("Hello", "protocol") == (message.text, message.error.kind)


@pytest.mark.parametrize(("cut", "ended"), [(0, None), (1, "interrupted"), (2, "interrupted"), (3, "interrupted")])
def test_a_stream_without_its_last_bytes(cut, ended):
    """
    Nothing is added to the bytes of a frame: a cut inside of it does not damage it, and one behind it is the end.
    """
    body = stream(M, T(0, "Hello"), X(0), K())
    message, _, _ = asked(streamed(body[: len(body) - cut]))

    assert ("Hello", ended) == (message.text, message.error and message.error.kind)


def test_a_key_in_an_answer():
    """
    A credential never arrives: its frame fails the answer.
    """
    message, _, _ = asked(streamed(stream(M, T(0, f"It is {KEY}."), X(0), K(), U())))

    assert KEY not in repr(message)
    assert "protocol" == message.error.kind


def test_the_key_of_the_environment(monkeypatch):
    """
    Without a key, that of the environment is sent.
    """
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    with pytest.raises(LocalProtocolError, match="AWS_BEARER_TOKEN_BEDROCK"):
        BedrockConverse().create(BODY, "a1")


def test_it_is_installed():
    """
    The client is found by the name of the dialect, and has a form without `await`.
    """
    assert BedrockConverse is load_client("bedrock-converse")
    assert BedrockConverse is SyncBedrockConverse.asynchronous
