"""
Recorded bodies of the generateContent wire: what they fold to, and what the official client makes of their chunks.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assistant_events import fold
from assistant_events.adapters import load_dialect
from assistant_events.values import thaw
from tests.each import for_each

from .recordings import answers, files, opinions

FOLDER = "gemini-generate-content"

DIALECT = load_dialect(FOLDER)

ANSWERS = answers(FOLDER)
OPINIONS = opinions(FOLDER)

PIECES = {
    "js-genai.client-generate-content-stream-partial-f-unction-calling-in-the-content.jsonl": [
        ("getCurrentWeather", ["country", "location", "purpose", "unit"])
    ],
    "js-genai.mcp-related-client-generate-content-stre-hen-afc-is-disabled-explicitly.jsonl": [
        ("greet", ["greeting", "name"])
    ],
    "vercel.google-stream-tool-call-arguments.jsonl": [("getWeather", ["location"]), ("getWeather", ["location"])],
    "vercel.stream-tool-call-array-arguments-missing-terminal-function-call.jsonl": [("writeItems", ["operations"])],
}
"""Answers with arguments in pieces: the opinion does not join them, each piece is a call. The calls and their keys."""


@for_each(OPINIONS)
def test_second_opinions(name):
    """
    Text, reasoning, calls, finish and every count are those of the official client.

    A blocked prompt has no finish there; we take the reason for the block. The kind of billing of early chunks is kept.
    """
    expected, message = OPINIONS[name], fold(ANSWERS[name].events()).last
    calls = [
        {"id": call.state.get("id", call.call_id), "name": call.name, "args": call.arguments}
        for call in message.tool_calls
        if "type" not in call.state
    ]
    counts = thaw(message.usage.details)

    assert (expected["text"], expected["reasoning"]) == (message.text, message.reasoning)
    assert (expected["finish"] or "PROHIBITED_CONTENT") == message.raw_finish_reason
    if name in PIECES:
        assert PIECES[name] == [(call["name"], list(call["args"])) for call in calls]
    else:
        assert expected["tool_calls"] == calls
    assert expected["usage"].items() <= {snake(key): snaked(value) for key, value in counts.items()}.items()


def snake(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def snaked(value):
    """
    Return the counts of modalities as the client names them.
    """
    if not isinstance(value, list):
        return value
    return [{snake(key): each for key, each in entry.items()} for entry in value]


@for_each(ANSWERS)
def test_counts(name):
    """
    The counts of a message follow from those of the wire by one table; all of them together are the total.
    """
    usage = fold(ANSWERS[name].events()).last.usage
    if usage is None:
        assert "usageMetadata" not in ANSWERS[name].frames()[-1] or "model-armor" in name
        return
    counts = thaw(usage.details)
    prompt, tools = counts.get("promptTokenCount"), counts.get("toolUsePromptTokenCount", 0)
    written, thoughts = counts.get("candidatesTokenCount"), counts.get("thoughtsTokenCount")

    assert (None if prompt is None else prompt + tools, thoughts) == (usage.input_tokens, usage.reasoning_tokens)
    # A zero is not written: thoughts alone come without a count of candidates.
    assert ((written or 0) + (thoughts or 0) if written is not None or thoughts else None) == usage.output_tokens
    if "totalTokenCount" in counts:
        assert counts["totalTokenCount"] == prompt + tools + (written or 0) + (thoughts or 0)


CALLS = {
    "llm-gemini.tools.0.json": ["pelican_name_generator"],
    "llm-gemini.tools.1.json": ["pelican_name_generator"],
    "vercel.nonstream-google-tool-call.json": ["weather"],
    "chatlas.google-mixed-tools-end-to-end.3.sse": ["double"],
    "js-genai.chats-send-message-multiple-messages-with-server-side-mcp-tools-stream.0.jsonl": [],
    "pydantic-ai.code-execution-code-execution-stream.sse": [],
}
"""By answer, the calls that the wire leaves to the app."""


@pytest.mark.parametrize("name", [name for name in CALLS if name in ANSWERS])
def test_calls_of_the_app(name):
    """
    The calls that the app has to answer are those of the wire: not code, nor calls that the service has answered.
    """
    message = fold(ANSWERS[name].events()).last

    assert CALLS[name] == [call.name for call in message.tool_calls if not call.provider_executed]


HTTP = {
    "mirascope.http-error-authentication-error-stream-google-gemini-2-5-flash.json": (400, "auth"),
    "mirascope.http-error-model-not-found-stream-google-gemini-2-5-flash.json": (404, "not-found"),
    "other.js-genai.http-error-chats-send-message-send-message-stream-with-error.json": (404, "not-found"),
    "vercel.http-error-issue-8943-gemini-2-5-flash-lite-error.json": (400, "invalid-request"),
    "vercel.http-error-issue-8943-gemini-2-5-pro-error.json": (400, "invalid-request"),
}


@pytest.mark.parametrize("name", [name for name in files(FOLDER) if "http-error" in name])
def test_http_errors(name):
    """
    A recorded error gives its kind.
    """
    status, kind = HTTP[name]
    error = DIALECT.http_error(status, {}, files(FOLDER)[name])

    assert (kind, status) == (error.kind, error.status)


# -- the official client

CLIENT = Path(__file__).parents[2] / ".venv" / "clients" / "google-genai-3.4"
PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
import httpx2
from google import genai
from google.genai import types

for line in sys.stdin:
    body = b"".join(b"data: %b\\r\\n\\r\\n" % json.dumps(frame).encode() for frame in json.loads(line))
    answer = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    transport = httpx2.MockTransport(lambda request: answer)
    options = types.HttpOptions(httpx_client=httpx2.Client(transport=transport))
    models = genai.Client(api_key="any-key", http_options=options).models
    chunks = models.generate_content_stream(model="m", contents="x")
    print(json.dumps([each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in chunks]), flush=True)
"""
NUMBERED = [name for name, answer in ANSWERS.items() if b'"modality": 1' in answer.body]
"""Answers with enums as numbers, which the client does not take."""


@pytest.fixture(scope="module")
def client():
    """
    A function that returns the chunks of an answer as the official client has read and dumped them.
    """
    if not (CLIENT / "pins.txt").is_file():
        pytest.skip("google-genai-3.4 is not installed; `make clients` does it")
    environment = {**os.environ, "PYTHONPATH": str(CLIENT)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as program:

        def chunks_of(frames):
            program.stdin.write(json.dumps(frames) + "\n")
            program.stdin.flush()
            return json.loads(program.stdout.readline())

        yield chunks_of
        program.kill()


@pytest.mark.parametrize("name", [name for name, answer in ANSWERS.items() if name not in NUMBERED])
def test_chunks_of_the_official_client(name, client):
    """
    The chunks of the client, as objects, give the message of the stream; it writes bytes in the alphabet `-_`.
    """
    decoder = DIALECT.decoder("a1")
    events = [event for chunk in client(ANSWERS[name].frames()) for event in decoder.feed_event(chunk)]
    found, expected = fold(events + decoder.close()).last, fold(ANSWERS[name].events()).last

    assert contents(expected) == contents(found)


def contents(message):
    """
    Return what a message has, with signatures in one alphabet, and without fields that the client does not know.
    """
    parts = [
        {
            "type": part.type,
            "text": getattr(part, "text", None),
            "input": getattr(part, "input", None),
            "output": getattr(part, "output", None),
            "data": getattr(part, "data", None),
            "signature": str(part.state.get("thoughtSignature")).replace("+", "-").replace("/", "_").rstrip("="),
            "keys": part.state.keys(),
        }
        for part in message.parts
    ]
    usage = message.usage
    counts = None if usage is None else (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens)
    return parts, message.finish_reason, message.raw_finish_reason, message.error and message.error.code, counts
