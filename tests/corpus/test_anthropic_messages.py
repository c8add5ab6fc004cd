"""
Recorded bodies of the Messages wire: what they fold to, what is sent back, and what the official client makes of them.
"""

import json
from collections import Counter

import pytest

from assistant_events import find_problems, fold, reconcile
from assistant_events.adapters import JsonLines, Sse, load_dialect
from assistant_events.messages import MessageStatus
from assistant_events.testing import durable
from assistant_events.values import thaw

from . import corpus_folder

DIALECT = load_dialect("anthropic-messages")
FOLDER = "anthropic-messages"

SEVERAL = {
    "vercel.tool-search-bm25-1.jsonl",
    "vercel.tool-search-deferred-bm25.jsonl",
    "vercel.tool-search-regex-1.jsonl",
}
"""Captures of several answers, one behind the other. The second opinion has mixed them; the decoder reads the first."""


def bodies():
    corpus = corpus_folder()
    return {} if corpus is None else {path.name: path for path in sorted((corpus / FOLDER).iterdir())}


def opinions():
    corpus = corpus_folder()
    if corpus is None:
        return {}
    lines = (corpus / "expected" / f"{FOLDER}.jsonl").read_text(encoding="utf-8").splitlines()
    return {opinion["file"]: opinion for opinion in map(json.loads, lines)}


BODIES, OPINIONS = bodies(), opinions()
ANSWERS = [name for name in BODIES if "http-error" not in name]


def first_answer(lines):
    """
    Return the lines of the first of several answers.
    """
    end = next((at for at, line in enumerate(lines) if '"message_stop"' in line), len(lines))
    return lines[: end + 1]


def events_of(name, fast=True):
    if name.endswith(".json"):
        return DIALECT.decode_resource(json.loads(BODIES[name].read_bytes()), "a1")
    decoder = DIALECT.decoder("a1", framing=JsonLines if name.endswith(".jsonl") else None)
    decoder.fast = fast
    events = decoder.feed(BODIES[name].read_bytes()) + decoder.close()
    assert decoder.failure is None
    assert [] == decoder.notes
    return events


def parsed(name):
    """
    Return the frames of a stream, read by nothing of the library.
    """
    lines = BODIES[name].read_text(encoding="utf-8").splitlines()
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in first_answer([line for line in lines if line.strip()])]
    data = [line.removeprefix("data:") for line in lines if line.startswith("data:")]
    return [json.loads(line) for line in data if line.strip() != "[DONE]"]


@pytest.mark.parametrize("name", ANSWERS)
def test_bodies_have_no_problems(name):
    """
    Every recorded answer is legal and settled; the fast path and the durable events alone give the same message.
    """
    events = events_of(name)

    assert [] == find_problems(events)
    assert [] == reconcile(fold(events))
    assert fold(events) == fold(durable(events))
    assert name.endswith(".json") or events == events_of(name, fast=False)


@pytest.mark.parametrize("name", sorted(OPINIONS.keys() - SEVERAL))
def test_second_opinions(name):
    """
    Text, reasoning, calls, finish and every count are those of the official client.

    It merges only some counts of the last frame: what more there is stays in our details.
    """
    expected, message = OPINIONS[name], fold(events_of(name)).last
    calls = [
        {"id": call.call_id, "name": call.name, "args": call.arguments}
        for call in message.tool_calls
        if not call.provider_executed
    ]
    counts = thaw(message.usage.details)

    assert (expected["text"], expected["reasoning"], expected["tool_calls"]) == (message.text, message.reasoning, calls)
    assert expected["finish"] == message.raw_finish_reason
    assert {key: value for key, value in expected["usage"].items() if value is not None} == {
        key: counts.get(key) for key, value in expected["usage"].items() if value is not None
    }


@pytest.mark.parametrize("name", ANSWERS)
def test_counts(name):
    """
    The counts of a message follow from those of the wire by one table.
    """
    usage = fold(events_of(name)).last.usage
    counts = usage.details
    cached, written = counts.get("cache_read_input_tokens"), counts.get("cache_creation_input_tokens")

    assert (cached, written, counts.get("output_tokens")) == (
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
    )
    assert counts["input_tokens"] + (cached or 0) + (written or 0) == usage.input_tokens


@pytest.mark.parametrize("name", [name for name in ANSWERS if not name.endswith(".json")])
def test_the_official_client(name):
    """
    The blocks of the answer, as they go back, are those that the official client has put together.
    """
    anthropic = pytest.importorskip("anthropic", reason="the official client is not installed")
    httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed")
    message = fold(events_of(name)).last
    if message.status is MessageStatus.FAILED:
        pytest.skip("the answer failed")
    frames = parsed(name)
    body = b"".join(Sse.frame(frame["type"], frame) for frame in frames)
    answer = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    transport = httpx2.MockTransport(lambda request: answer)
    with (
        anthropic.Anthropic(api_key="any-key", http_client=httpx2.Client(transport=transport)) as client,
        client.beta.messages.stream(model="m", max_tokens=9, messages=[]) as stream,
    ):
        snapshot = stream.get_final_message()
    blocks = [plain(block.model_dump(mode="json", by_alias=True)) for block in snapshot.content]

    assert blocks == [plain(block) for block in DIALECT.emit_resource(message)["content"]]


def plain(block):
    """
    Return a block without nulls and empty lists, and without what the client adds of its own.
    """
    if isinstance(block, dict):
        kept = {key: plain(value) for key, value in block.items() if value is not None}
        return {key: value for key, value in kept.items() if value != [] and key != "__json_buf"}
    return [plain(each) for each in block] if isinstance(block, list) else block


@pytest.mark.parametrize("name", ANSWERS)
def test_there_and_back(name):
    """
    Every recorded answer comes back from the frames of the emitter, and every completed one from its document.
    """
    events = events_of(name)
    emitter = DIALECT.emitter()
    frames = [frame for event in events for frame in emitter.emit(event)] + emitter.close()
    decoder = DIALECT.decoder("a1")
    found = decoder.feed(b"".join(map(emitter.to_bytes, frames))) + decoder.close()

    assert () == emitter.drops
    assert fold(events) == fold(found)
    assert Counter(durable(events)) == Counter(durable(found))
    message = fold(events).last
    if message.status is MessageStatus.COMPLETED:
        assert message == fold(DIALECT.decode_resource(DIALECT.emit_resource(message), "a1")).last


HTTP = {
    "langsmith.http-error-chat-async-api-stream.24.json": (404, "not-found", "req_011CYYx4Fse9QM6ES7dE8YSE"),
    "langsmith.http-error-completions-async-api.10.json": (400, "invalid-request", "req_011CWuFX1fVW1jPfsftHHqJE"),
}


@pytest.mark.parametrize("name", [name for name in BODIES if "http-error" in name])
def test_http_errors(name):
    """
    A recorded error gives its kind, and the id of its request.
    """
    status, kind, request = HTTP[name]
    error = DIALECT.http_error(status, {}, BODIES[name].read_bytes())

    assert (kind, request) == (error.kind, error.details["request_id"])
