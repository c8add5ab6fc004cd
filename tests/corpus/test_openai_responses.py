"""
Recorded bodies of the Responses wire: what they fold to, and what the official client makes of them.
"""

import pytest

from assistant_events import fold
from assistant_events.adapters import Sse, load_dialect
from assistant_events.messages import MessageStatus
from assistant_events.values import thaw
from tests.each import for_each

from .recordings import answers, opinions

FOLDER = "openai-responses"

DIALECT = load_dialect(FOLDER)

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


@for_each(OPINIONS)
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


@for_each(ANSWERS)
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


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # of tools that the client does not know
@pytest.mark.parametrize("name", [name for name, answer in ANSWERS.items() if answer.form != "json"])
def test_the_official_client(name):
    """
    The items of the answer, as they go back, are those that the official client has put together.
    """
    if name in GIVEN_UP:
        pytest.skip(GIVEN_UP[name])
    ours = DIALECT.emit_resource(fold(ANSWERS[name].events()).last)["output"]

    assert client_output(ANSWERS[name]) == [plain(item) for item in ours]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # of tools that the client does not know
@pytest.mark.parametrize("name", [name for name, answer in ANSWERS.items() if answer.form != "json"])
def test_events_of_the_official_client(name):
    """
    The events of the client, as objects, give the message of the stream.
    """
    if name in NOT_DUMPED:
        pytest.skip(NOT_DUMPED[name])
    openai = pytest.importorskip("openai", reason="the official client is not installed")
    with openai.OpenAI(api_key="any-key", http_client=recorded(ANSWERS[name])) as client:
        decoder = DIALECT.decoder("a1")
        events = []
        for event in client.responses.create(model="m", input="", stream=True):
            events += decoder.feed_event(event)

    assert fold(ANSWERS[name].events()).last == fold(events + decoder.close()).last


GIVEN_UP = {
    "bedrock.ruby-llm.providers-bedrock-mantle-responses-chat-through-the-responses-surface.sse": "its index is 1",
    "openai-compatible.vercel.compatible-reasoning-1.jsonl": "a message has no end, and the client leaves it out",
    "openrouter.pydantic-ai.responses-raw-cot-stream-openrouter.sse": "the last response has another id",
    "copilot.rig.reasoning-roundtrip.0.sse": "the client refuses ids that change",
    "openai-compatible.vercel.compatible-basic-text-1-v2.jsonl": "the client needs indexes",
    "vercel.issue-8562-missing-reasoning-summary-1.jsonl": "the client needs a last frame",
    "prism.stream-rate-limited-1.sse": "the client raises the error",
    "prism.stream-unknown-error-responses-1.sse": "the client raises the error",
}
"""Answers that the client cannot put together."""

NOT_DUMPED = {
    "prism.stream-rate-limited-1.sse": "the client raises the error",
    "prism.stream-unknown-error-responses-1.sse": "the client raises the error",
}
"""Answers whose events are not all there as objects."""


def recorded(answer):
    """
    Return a transport that answers with the recorded frames.
    """
    httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed")
    body = b"".join(Sse.frame(frame["type"], frame) for frame in answer.frames())
    response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    return httpx2.Client(transport=httpx2.MockTransport(lambda request: response))


def client_output(answer):
    """
    Return the items that the official client has put together; those of their ends where the last response has none.
    """
    openai = pytest.importorskip("openai", reason="the official client is not installed")
    with (
        openai.OpenAI(api_key="any-key", http_client=recorded(answer)) as client,
        client.responses.stream(model="m", input="") as stream,
    ):
        ended = [event.item for event in stream if event.type == "response.output_item.done"]
        try:
            output = stream.get_final_response().output
        except RuntimeError:  # it takes completed responses alone
            output = []
    return [plain(item.model_dump(mode="json", by_alias=True)) for item in output or ended]


WITHOUT = {"parsed", "parsed_arguments", "encrypted_content", "fingerprint"}


def plain(item):
    """
    Return an item without nulls, empty texts and lists, and without what the client adds of its own.

    What is encrypted is another text in each frame that has it; that of the end of its item is ours.
    """
    if isinstance(item, dict):
        kept = {key: plain(value) for key, value in item.items() if value is not None}
        return {key: value for key, value in kept.items() if value not in ([], "") and key not in WITHOUT}
    return [plain(each) for each in item] if isinstance(item, list) else item
