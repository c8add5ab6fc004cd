"""
Recorded bodies of the Chat Completions wire: what they fold to, and what the official client makes of them.
"""

import pytest

from assistant_events import fold
from assistant_events.adapters import Sse, load_dialect
from assistant_events.messages import MessageStatus
from assistant_events.values import thaw
from tests.each import for_each

from .recordings import answers, opinions

FOLDER = "openai-chat"

DIALECT = load_dialect(FOLDER)

ANSWERS = answers(FOLDER)
OPINIONS = {name: opinion for name, opinion in opinions(FOLDER).items() if f"{name}#2" not in ANSWERS}

MISTRAL = {"text", "reasoning"}  # the client drops content that is an array
PERPLEXITY = {"finish", "usage"}  # the client passes over the last event, which is not a chunk, and the costs in it
OURS = {
    "cerebras.vercel.cererebras-structured-output-tools-1.jsonl": {"calls"},  # two calls at one index are joined
    "groq.openinference.token-counts-token-counts-test-groq.sse": {"usage"},  # it is in `x_groq`
    "groq.openllmetry.chat-tracing-chat-streaming-legacy.sse": {"usage"},
    "groq.pydantic-ai.model-thinking-part-iter.0.sse": {"usage"},
    "groq.pydantic-ai.model-web-search-tool-stream.sse": {"usage"},
    "huggingface.braintrust-js.huggingface-v3-latest.6.sse": {"text"},  # completions: the text is in the choice
    "huggingface.braintrust-js.huggingface-v3.6.sse": {"text"},
    "local.openllmetry.completions-completion-streaming.sse": {"text", "finish"},
    "mistral.ddtrace.v1-chat-completions-post-ccfa08da.sse": {"reasoning"},
    "mistral.ruby-llm.chat-with-extended-thinking-mistral-smal-hinking-content-when-available.sse": MISTRAL,
    "mistral.vercel.mistral-reasoning.jsonl": {*MISTRAL, *PERPLEXITY},  # the client stops at the array
    "openai-compatible.vercel.compatible-issue-13703-mistral-thinking-v2.jsonl": MISTRAL,
    "perplexity.ruby-llm.chat-citations-with-perplexity-sonar-ret-esult-citations-when-streaming.sse": PERPLEXITY,
    "perplexity.ruby-llm.chat-streaming-responses-perplexity-sonar-supports-streaming-responses.sse": PERPLEXITY,
    "perplexity.ruby-llm.chat-with-extended-thinking-perplexity-s-hinking-content-when-available.sse": PERPLEXITY,
    "perplexity.vercel.perplexity-citations.jsonl": {"finish"},
    "pydantic-ai.moderation-stream.sse": {"usage"},  # it is in a chunk whose `moderation` the client refuses
    "snowflake.pydantic-ai.snowflake-thinking-streaming.sse": {"reasoning"},  # it is in `reasoning_details` alone
}
"""Where the second opinion is wrong, or knows less, and about what."""


def without_nulls(value):
    """
    Return usage without nulls and empty objects: the client's dump has none.
    """
    if isinstance(value, dict):
        kept = {key: without_nulls(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each is not None} or None
    return value


@for_each(OPINIONS)
def test_second_opinions(name):
    """
    Text, reasoning, calls, finish and every count are those of the official client.
    """
    expected, message = OPINIONS[name], fold(ANSWERS[name].events()).last
    calls = [
        {
            "id": call.state.get("id", call.call_id),
            "name": call.name,
            "args": call.raw_input if call.input is None else call.arguments,
        }
        for call in message.tool_calls
        if not call.provider_executed
    ]
    found = {"text": message.text, "reasoning": message.reasoning, "calls": calls, "finish": message.raw_finish_reason}
    found["usage"] = None if message.usage is None else without_nulls(thaw(message.usage.details))
    theirs = {**expected, "calls": expected["tool_calls"], "usage": without_nulls(expected["usage"])}
    different = {key for key, value in found.items() if theirs[key] != without_nulls(value)}

    assert OURS.get(name, set()) == different


TEXTS = {
    "mistral.vercel.mistral-reasoning.jsonl": (
        "The user is asking for 2+2. This is basic arithmetic. 2+2=4.",
        "2 + 2 = 4",
    ),
    "openai-compatible.vercel.compatible-issue-13703-mistral-thinking-v2.jsonl": ("Okay, the user is asking", "391"),
    "snowflake.pydantic-ai.snowflake-thinking-streaming.sse": ("15 * 27 = 405", "15 \u00d7 27 = **405**"),
    "huggingface.braintrust-js.huggingface-v3-latest.6.sse": ("", " a city that"),
    "gpustack.ruby-llm.chat-with-extended-thinking-gpustack-qwe-hinking-content-when-available.sse": ("\nOkay", ""),
}
"""By answer about which the opinion is wrong, how its reasoning and its text begin in the recording."""


@pytest.mark.parametrize("name", [name for name in TEXTS if name in ANSWERS])
def test_texts(name):
    """
    Reasoning and text that the client does not read begin as the recording does.
    """
    message = fold(ANSWERS[name].events()).last
    reasoning, text = TEXTS[name]

    assert message.reasoning.startswith(reasoning)
    assert message.text.startswith(text)


def counts(usage):
    """
    Return the counts that a usage object has: both sides include their parts.
    """
    inputs, outputs = [usage.get(f"{side}_tokens_details") or {} for side in ("prompt", "completion")]
    reasoning = outputs.get("reasoning_tokens", usage.get("reasoning_tokens"))
    output = usage.get("completion_tokens")
    more = (usage.get("total_tokens") or 0) - (usage.get("prompt_tokens") or 0) - (output or 0)
    if more > 0 and reasoning in (None, 0, more):
        output += more  # thoughts that are beside the output: by xAI under their name, by Gemini in the sum alone
    elif usage.get("cost") and reasoning and reasoning > 2 * output:
        output += reasoning  # by Vercel's gateway: its cost is that of both
    names = ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
    cached = inputs.get("cached_tokens", next((usage[name] for name in names if name in usage), None))
    written = inputs.get("cache_creation_tokens", usage.get("cache_creation_input_tokens"))
    return usage.get("prompt_tokens"), cached, inputs.get("cache_write_tokens", written), output, reasoning


@for_each(ANSWERS)
def test_counts(name):
    """
    The counts of a message follow from those of the wire by one table.
    """
    usage = fold(ANSWERS[name].events()).last.usage
    if usage is None:
        frames = [frame for frame in ANSWERS[name].frames() if (frame.get("usage") or {}).get("total_tokens")]
        assert [] == frames
        return
    found = (
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    )

    assert counts(thaw(usage.details)) == found


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # of content that is an array
@pytest.mark.parametrize("name", [name for name, answer in ANSWERS.items() if answer.form != "json"])
def test_chunks_of_the_official_client(name):
    """
    The chunks of the client, as objects, give the message of the stream.
    """
    openai = pytest.importorskip("openai", reason="the official client is not installed")
    message = fold(ANSWERS[name].events()).last
    if name in UNREAD or message.status is MessageStatus.FAILED:
        pytest.skip(UNREAD.get(name, "the client raises the error"))
    with openai.OpenAI(api_key="any-key", http_client=recorded(ANSWERS[name])) as client:
        decoder = DIALECT.decoder("a1")
        events = []
        for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
            events += decoder.feed_event(chunk)

    assert message == fold(events + decoder.close()).last


UNREAD = {
    "snowflake.pydantic-ai.snowflake-thinking-streaming.sse": "its only end is the mark, which the client takes away",
}
"""Answers whose chunks do not show all of the stream."""


def recorded(answer):
    """
    Return a transport that answers with the recorded frames.
    """
    httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed")
    body = b"".join(Sse.frame(None, frame) for frame in [*answer.frames(), "[DONE]"])
    response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    return httpx2.Client(transport=httpx2.MockTransport(lambda request: response))
