"""
Recorded bodies of the Responses wire: what they fold to, and what the official client makes of them.
"""

import pytest

from assistant_events import fold
from assistant_events.messages import MessageStatus
from assistant_events.values import thaw

from .recordings import answers, opinions

FOLDER = "openai-responses"

ANSWERS = answers(FOLDER)
OPINIONS = {
    name: opinion for name, opinion in opinions(FOLDER).items() if name in ANSWERS and f"{name}#2" not in ANSWERS
}
"""The second opinion has the last answer of a capture of several, or a mixture."""

OURS = {
    "openai-compatible.vercel.compatible-basic-text-1-v2.jsonl": {"text"},  # the client needs indexes to join deltas
    "rust-genai.yakbak-openai-resp-custom-grammar-tool.sse": {"calls"},  # free text is the `input` of our object
    "vercel.apply-patch-tool-1.jsonl": {"calls"},  # the opinion knows functions and custom tools alone: the app
    "vercel.local-shell-tool-1.jsonl": {"calls"},  # runs these, too
    "vercel.mcp-tool-approval-1-v2.jsonl": {"calls"},  # the app has to answer it
    "xai.vercel.xai-x-search-tool.jsonl": {"calls"},  # xAI runs its searches itself, though they look like the app's
}
"""Where the second opinion is wrong, or differs in form, and about what."""


@pytest.mark.parametrize("name", OPINIONS)
def test_second_opinions(name):
    """
    Text, reasoning, calls, finish and every count are those of the official client.
    """
    expected, message = OPINIONS[name], fold(ANSWERS[name].events()).last
    calls = [
        {"id": call.call_id, "name": call.name, "args": call.raw_input if call.input is None else call.arguments}
        for call in message.tool_calls
        if not call.provider_executed
    ]
    found = {"text": message.text, "reasoning": message.reasoning, "calls": calls}
    found |= {"finish": message.raw_finish_reason, "usage": None if message.usage is None else message.usage.details}
    different = {name for name, value in found.items() if expected["tool_calls" if name == "calls" else name] != value}

    assert OURS.get(name, set()) == different


CALLS = {
    "rust-genai.yakbak-openai-resp-custom-grammar-tool.sse": ["apply_patch"],
    "vercel.apply-patch-tool-1.jsonl": ["apply_patch"],
    "vercel.local-shell-tool-1.jsonl": ["local_shell"],
    "vercel.mcp-tool-approval-1-v2.jsonl": ["mcp_approval"],
    "xai.vercel.xai-x-search-tool.jsonl": [],
    "azure.vercel.azure-tool-search-1.jsonl": ["get_weather"],
    "azure.vercel.azure-tool-search-1.jsonl#2": [],
    "vercel.reasoning-encrypted-content-1.jsonl": ["calculator"],
    "vercel.reasoning-encrypted-content-1.jsonl#2": ["calculator"],
    "vercel.reasoning-encrypted-content-1.jsonl#3": ["calculator"],
    "vercel.reasoning-encrypted-content-1.jsonl#4": [],
}
"""By answer without a second opinion about its calls, the calls that the wire leaves to the app."""


@pytest.mark.parametrize("name", [name for name in CALLS if name in ANSWERS])
def test_calls_of_the_app(name):
    """
    The calls that the app has to answer are those of the wire.
    """
    message = fold(ANSWERS[name].events()).last

    assert CALLS[name] == [call.name for call in message.tool_calls if not call.provider_executed]


@pytest.mark.parametrize("name", ANSWERS)
def test_counts(name):
    """
    The counts of a message follow from those of the wire by one table.
    """
    message = fold(ANSWERS[name].events()).last
    if message.usage is None:
        assert message.status is MessageStatus.FAILED
        return
    counts, usage = thaw(message.usage.details), message.usage
    inputs, outputs = [counts.get(f"{side}_tokens_details") or {} for side in ("input", "output")]

    assert (counts["input_tokens"], inputs.get("cached_tokens"), inputs.get("cache_write_tokens")) == (
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    )
    assert (counts["output_tokens"], outputs.get("reasoning_tokens")) == (usage.output_tokens, usage.reasoning_tokens)
