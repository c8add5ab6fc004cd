"""
Conversations of any dialect as requests of Claude's two: the checks of their strict mocks take each of them.
"""

from functools import cache

import attrs
import pytest

from assistant_events import AssistantMessage, Awaits, ErrorInfo, Transcript, UserMessage, fold
from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.adapters.anthropic_messages.mock.validation import check_create as check_messages
from assistant_events.adapters.bedrock_converse.mock.validation import check_create as check_converse
from assistant_events.values import MediaContent, TextContent
from tests.fuzz.seeds import samples

IMAGE = MediaContent(media_type="image/png", data=b"x")
REPORT = MediaContent(media_type="application/pdf", data=b"x")
TOOLS = {"toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]}}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}

TARGETS = {
    "Messages": ("anthropic-messages", {"model": "m", "max_tokens": 9}),
    "Messages of a new model": ("anthropic-messages", {"model": "claude-opus-5-5", "max_tokens": 9}),
    "Messages with thinking": ("anthropic-messages", {"model": "m", "max_tokens": 2048, **THINKING}),
    "Converse": ("bedrock-converse", {"modelId": "m", **TOOLS}),
    "a new Claude on Converse": ("bedrock-converse", {"modelId": "anthropic.claude-opus-5-5", **TOOLS}),
    "Claude on Converse with thinking": (
        "bedrock-converse",
        {"modelId": "anthropic.m", "additionalModelRequestFields": THINKING, **TOOLS},
    ),
    "Converse without tools": ("bedrock-converse", {"modelId": "m"}),
    "Mistral on Converse": ("bedrock-converse", {"modelId": "mistral.m", **TOOLS}),
}
CHECKS = {
    "anthropic-messages": lambda body: check_messages({"anthropic-version": "2023-06-01"}, body, None),
    "bedrock-converse": lambda body: check_converse(body, None),
}

PROMPT = UserMessage(id="u1", content="Hi")
NEXT = UserMessage(id="u2", content=[TextContent(" "), IMAGE, REPORT])
LAST = UserMessage(id="u3", content=[TextContent("And?"), REPORT])
OUTPUTS = [
    "sunny",
    "",
    {"a": 1},
    [TextContent(""), IMAGE],
    [TextContent("\n"), REPORT],
    MediaContent(media_type="audio/wav", data=b"x"),
]
FAULTS = ["no", " ", ""]

OF_GATEWAYS = {"result of a gateway"}
"""Samples with a block that its gateway takes back, and the service does not have."""


def endings(answer):
    """
    Yield an answer as it is, and with its calls answered in each way.
    """
    yield answer
    calls = [call for call in answer.tool_calls if not (call.provider_executed or call.settled)]
    for at, output in enumerate(OUTPUTS if calls else ()):
        fault = ErrorInfo(kind="tool", message=FAULTS[at % len(FAULTS)])
        for results in ([call.succeed(output) for call in calls], [call.fail(fault, output=output) for call in calls]):
            yield fold(results, start=Transcript(messages=(answer,))).last


@cache
def conversations(name):
    """
    Return conversations with each sample of a dialect: once, twice, and at their end.
    """
    found = []
    for sample in [sample for each, sample in samples(name).items() if each not in OF_GATEWAYS]:
        decoder = load_dialect(name).decoder("a1")
        messages = fold(decoder.feed(sample.body) + decoder.close()).messages
        for answer in [message for message in messages if isinstance(message, AssistantMessage)]:
            for ended in endings(answer):
                again = attrs.evolve(ended, id="a2")
                awaits_model = Transcript(messages=(PROMPT, ended)).awaits is Awaits.MODEL
                found += [[PROMPT, ended]] if awaits_model else []
                found += [[PROMPT, ended, NEXT], [PROMPT, ended, NEXT, again, LAST]]
    return found


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", dialect_names())
def test_requests_keep_the_rules(source, target):
    """
    Roles alternate, results are directly behind their calls, and no text, error or name is one that is refused.
    """
    name, body = TARGETS[target]
    encode = load_dialect(name).encoder
    tried = [encode(conversation, body).body for conversation in conversations(source)]
    for request in tried:
        CHECKS[name](request)

    assert len(tried) > 60
