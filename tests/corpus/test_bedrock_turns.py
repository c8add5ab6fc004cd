"""
Recorded conversations on the Converse wire: what was accepted is sent again.
"""

import pytest

from assistant_events import PromptSubmitted, fold
from assistant_events.adapters import load_dialect
from assistant_events.adapters.bedrock_converse import for_boto3
from assistant_events.values import TextContent

from .recordings import conversations
from .test_bedrock_converse import bedrock

DIALECT = load_dialect("bedrock-converse")

RECORDED = conversations("bedrock-converse")

__all__ = ["bedrock"]

MADE = {"pydantic-ai.test-bedrock-test-bedrock-moonshotai-tool-call.json": "<think>"}
"""By file, what a text that the client made of unsigned reasoning begins with. We do not send such reasoning."""


def app_events(messages, transcript, number):
    """
    Return what the app appended before a request: answers of its tools, and a prompt.
    """
    events, content = [], []
    for block in [block for message in messages for block in message["content"]]:
        if "toolResult" in block:
            result = block["toolResult"]
            [call] = [call for call in transcript.pending_tool_calls if call.call_id == result["toolUseId"]]
            output = "".join(each.get("text") or str(each) for each in result["content"])
            events.append(call.fail(output) if result.get("status") == "error" else call.succeed(output))
        else:
            content.append(TextContent(block.get("text") or f"<{next(iter(block))}>"))
    return [*events, PromptSubmitted(message_id=f"u{number}", content=content)] if content else events


def new_messages(request):
    """
    Return the messages of a request behind its last answer.
    """
    last = max((at for at, each in enumerate(request["messages"]) if each["role"] == "assistant"), default=-1)
    return request["messages"][last + 1 :]


def assistant_blocks(messages):
    return [block for each in messages if each["role"] == "assistant" for block in each["content"]]


def results_of(messages):
    blocks = [block["toolResult"] for each in messages for block in each["content"] if "toolResult" in block]
    return [(block["toolUseId"], block.get("status", "success")) for block in blocks]


@pytest.mark.parametrize("file", RECORDED)
def test_the_accepted_request(bedrock, file):
    """
    Every block that the service accepted is in our request, in its order, and so are all results.

    botocore finds nothing wrong with the request, and sends it as it was encoded.
    """
    transcript, requests = fold([]), 0
    for number, (request, answer) in enumerate(RECORDED[file]):
        transcript = fold(app_events(new_messages(request), transcript, number), start=transcript)
        body = {"modelId": "m", **{key: value for key, value in request.items() if key != "messages"}}
        encoded = DIALECT.encoder(transcript, body).body
        ours, theirs = (assistant_blocks(each["messages"]) for each in (encoded, request))
        theirs = [block for block in theirs if not (file in MADE and block.get("text", "").startswith(MADE[file]))]
        left = iter(ours)

        assert [] == [block for block in theirs if block not in left]
        assert [each["role"] for each in request["messages"]] == [each["role"] for each in encoded["messages"]]
        assert results_of(request["messages"]) == results_of(encoded["messages"])
        _, sent = bedrock("converse", b"{}", **for_boto3({**encoded, "modelId": "m"}))
        assert {key: value for key, value in encoded.items() if key != "modelId"} == sent[-1]
        requests += bool(theirs)
        transcript = fold(answer.events(message_id=f"a{number}", request=body), start=transcript)

    assert requests
