"""
Recorded bodies of the Messages wire: what they fold to, what is sent back, and what the official client makes of them.
"""

import pytest

from assistant_events import fold
from assistant_events.adapters import Sse, load_dialect
from assistant_events.messages import MessageStatus
from assistant_events.values import thaw
from tests.each import for_each

from .recordings import answers, files, opinions

DIALECT = load_dialect("anthropic-messages")
FOLDER = "anthropic-messages"

ANSWERS = answers(FOLDER)
OPINIONS = {name: opinion for name, opinion in opinions(FOLDER).items() if f"{name}#2" not in ANSWERS}
"""The second opinion has mixed the answers of a capture of several."""


@for_each(OPINIONS)
def test_second_opinions(name):
    """
    Text, reasoning, calls, finish and every count are those of the official client.

    It merges only some counts of the last frame: what more there is stays in our details.
    """
    expected, message = OPINIONS[name], fold(ANSWERS[name].events()).last
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


@for_each(ANSWERS)
def test_counts(name):
    """
    The counts of a message follow from those of the wire by one table.
    """
    usage = fold(ANSWERS[name].events()).last.usage
    counts = usage.details
    cached, written = counts.get("cache_read_input_tokens"), counts.get("cache_creation_input_tokens")

    assert (cached, written, counts.get("output_tokens")) == (
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
    )
    assert counts["input_tokens"] + (cached or 0) + (written or 0) == usage.input_tokens


@pytest.mark.parametrize("name", [name for name, answer in ANSWERS.items() if answer.form != "json"])
def test_the_official_client(name):
    """
    The blocks of the answer, as they go back, are those that the official client has put together.
    """
    anthropic = pytest.importorskip("anthropic", reason="the official client is not installed")
    httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed")
    message = fold(ANSWERS[name].events()).last
    if message.status is MessageStatus.FAILED:
        pytest.skip("the answer failed")
    frames = ANSWERS[name].frames()
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


HTTP = {
    "langsmith.http-error-chat-async-api-stream.24.json": (404, "not-found", "req_011CYYx4Fse9QM6ES7dE8YSE"),
    "langsmith.http-error-completions-async-api.10.json": (400, "invalid-request", "req_011CWuFX1fVW1jPfsftHHqJE"),
}


@pytest.mark.parametrize("name", [name for name in files(FOLDER) if "http-error" in name])
def test_http_errors(name):
    """
    A recorded error gives its kind, and the id of its request.
    """
    status, kind, request = HTTP[name]
    error = DIALECT.http_error(status, {}, files(FOLDER)[name])

    assert (kind, request) == (error.kind, error.details["request_id"])
