"""
Recorded conversations on the Messages wire: what was accepted is sent again.
"""

import pytest

from assistant_events import AssistantMessage, PromptSubmitted, fold
from assistant_events.adapters import load_dialect
from assistant_events.values import TextContent

from .recordings import conversations
from .test_anthropic_messages import plain

DIALECT = load_dialect("anthropic-messages")


RECORDED = conversations("anthropic-messages")

ADDED = {"llm-anthropic.test-anthropic-test-tools.json": [{"type": "text", "text": " "}]}
"""Blocks that no response had: their client puts a text before calls."""


def blocks_of(content):
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def app_events(messages, transcript, number):
    """
    Return what the app appended before a request: answers of its tools, and a prompt.
    """
    events, content = [], []
    for block in [block for message in messages for block in blocks_of(message["content"])]:
        if block["type"] == "tool_result":
            [call] = [call for call in transcript.pending_tool_calls if call.call_id == block["tool_use_id"]]
            events.append(call.succeed("".join(each.get("text", "") for each in blocks_of(block["content"]))))
        else:
            content.append(TextContent(block.get("text") or f"<{block['type']}>"))
    return [*events, PromptSubmitted(message_id=f"u{number}", content=content)] if content else events


def new_messages(request):
    """
    Return the messages of a request behind its last answer.
    """
    messages = request["messages"]
    last = max((at for at, each in enumerate(messages) if each["role"] == "assistant"), default=-1)
    return messages[last + 1 :]


def assistant_blocks(messages):
    found = [blocks_of(each["content"]) for each in messages if each["role"] == "assistant"]
    return [
        plain({key: value for key, value in block.items() if key != "cache_control"})
        for each in found
        for block in each
    ]


@pytest.mark.parametrize("file", RECORDED)
def test_the_accepted_request(file):
    """
    Every block that the service accepted is in our request with all its fields, in its order, and so are all results.

    Clients leave out what they do not know: callers, citations, thoughts. We send them.
    """
    transcript, requests = fold([]), 0
    for number, (request, answer) in enumerate(RECORDED[file]):
        transcript = fold(app_events(new_messages(request), transcript, number), start=transcript)
        body = {key: value for key, value in request.items() if key not in ("messages", "container")}
        # On Bedrock the model is in the address of a request.
        answers = [message for message in transcript.messages if isinstance(message, AssistantMessage)]
        encoded = DIALECT.encoder(transcript, {"model": answers[-1].origin.model if answers else "m", **body})
        ours = iter(assistant_blocks(encoded.body["messages"]))
        theirs = [each for each in assistant_blocks(request["messages"]) if each not in ADDED.get(file, [])]

        assert [] == [each for each in theirs if not any(each.items() <= block.items() for block in ours)]
        assert [each["role"] for each in request["messages"]] == [each["role"] for each in encoded.body["messages"]]
        assert results_of(request["messages"]) == results_of(encoded.body["messages"])
        if number and isinstance(request.get("container"), str):
            assert request["container"] == encoded.body["container"]
        requests += bool(theirs)
        transcript = fold(answer.events(message_id=f"a{number}", request=request), start=transcript)

    assert requests


def results_of(messages):
    blocks = [block for each in messages for block in blocks_of(each["content"])]
    return [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
