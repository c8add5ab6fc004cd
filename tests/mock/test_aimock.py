"""
Fixture files of aimock: what they answer there, they answer here.

Expected values come from the sources of `@copilotkit/aimock` 1.43.0 (its types, loader, router and Interactions
handler), and from what it streamed for known fixtures (`aimock-*` in the corpus).
"""

import asyncio
import json
import re

import httpx2
import pytest

from assistant_events import fold
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder
from assistant_events.adapters.gemini_interactions.mock import Answer, Match, MockProvider, load_fixtures, read_request
from assistant_events.errors import FixtureError
from assistant_events.mock import Contains, Fixtures, HttpError, Timing
from assistant_events.testing.transport import StreamingTransport
from tests.corpus.bodies import body_of

NO_USAGE = {"total_input_tokens": 0, "total_output_tokens": 0, "total_tokens": 0}
HI = {"type": "model_output", "content": [{"type": "text", "text": "Hi"}]}
RAIN = {"type": "function_call", "id": "c1", "name": "rain", "arguments": {"city": "Oslo"}}


def loaded(*entries: object) -> Fixtures:
    return load_fixtures({"fixtures": list(entries)})


def one(response: object, **more: object) -> Answer:
    (fixture,) = loaded({"match": {}, "response": response, **more})
    (answer,) = fixture.answers
    return answer


def match_of(**match: object) -> Match:
    (fixture,) = loaded({"match": match, "response": {"content": "Hi"}})
    return fixture.match


def complaints(*entries: object) -> list[str]:
    with pytest.raises(FixtureError) as caught:
        loaded(*entries)
    return [
        ": ".join([part for part in (error.entry, error.field, error.reason) if part])
        for error in (caught.value, *caught.value.others)
    ]


MATCHES = {
    "userMessage": ({"userMessage": "weather"}, {"user_text": Contains("weather")}),
    "systemMessage": ({"systemMessage": "brief"}, {"system": (Contains("brief"),)}),
    "several in systemMessage": ({"systemMessage": ["a", "b"]}, {"system": (Contains("a"), Contains("b"))}),
    "none in systemMessage": ({"systemMessage": []}, {}),
    "toolCallId": ({"toolCallId": "c1"}, {"last_call_id": "c1"}),
    "toolResultContains": ({"toolResultContains": "sun"}, {"result_text": Contains("sun")}),
    "toolName": ({"toolName": "rain"}, {"tool": "rain"}),
    "hasToolResult": ({"hasToolResult": False}, {"has_result": False}),
    "turnIndex": ({"turnIndex": 2}, {"position": 2}),
    "endpoint": ({"endpoint": "chat"}, {}),
    "nothing": ({}, {}),
}


@pytest.mark.parametrize(("given", "expected"), MATCHES.values(), ids=MATCHES.keys())
def test_match(given, expected):
    """
    Texts match any part of a text, and only in the request itself.
    """
    assert Match(**expected, conversation=False) == match_of(**given)


MODELS = {
    "itself": ("gemini-3.6-flash", True),
    "a dated version": ("gemini-3.6-flash-0905", True),
    "another with the same start": ("gemini-3.6-flash-lite", False),
    "another": ("gemini-2.5-pro", False),
    "inside": ("models/gemini-3.6-flash", False),
}


@pytest.mark.parametrize(("model", "expected"), MODELS.values(), ids=MODELS.keys())
def test_model(model, expected):
    """
    A model matches itself and what a date follows.
    """
    fixtures = loaded({"match": {"model": "gemini-3.6-flash"}, "response": {"content": "Hi"}})

    assert (0 if expected else None) == fixtures.find(read_request({"model": model, "input": "x"}))


ANSWERS = {
    "content": ({"content": "Hi"}, [HI]),
    "content as an object": (
        {"content": {"a": [1, "é"]}},
        [{"type": "model_output", "content": [{"type": "text", "text": '{"a":[1,"é"]}'}]}],
    ),
    "toolCalls": ({"toolCalls": [{"id": "c1", "name": "rain", "arguments": '{"city":"Oslo"}'}]}, [RAIN]),
    "arguments as an object": ({"toolCalls": [{"id": "c1", "name": "rain", "arguments": {"city": "Oslo"}}]}, [RAIN]),
    "no arguments": ({"toolCalls": [{"id": "c1", "name": "rain", "arguments": ""}]}, [{**RAIN, "arguments": {}}]),
    "no id": (
        {"toolCalls": [{"name": "rain", "arguments": {"city": "Oslo"}} | more for more in ({}, {"id": ""})]},
        [{**RAIN, "id": "call_1"}, {**RAIN, "id": "call_2"}],
    ),
    "both": (
        {"content": "Hi", "toolCalls": [{"id": "c1", "name": "rain", "arguments": {"city": "Oslo"}}]},
        [HI, RAIN],
    ),
    "blocks": (
        {
            "blocks": [
                {"type": "toolCall", "id": "c1", "name": "rain", "arguments": '{"city":"Oslo"}'},
                {"type": "text", "text": "Hi"},
            ]
        },
        [RAIN, HI],
    ),
    "blocks go before content": (
        {"content": "no", "toolCalls": [], "blocks": [{"type": "text", "text": "Hi"}]},
        [HI],
    ),
    "no blocks": ({"content": "Hi", "blocks": []}, [HI]),
    "reasoning": (
        {"content": "Hi", "reasoning": "Rain?"},
        [{"type": "thought", "summary": [{"type": "text", "text": "Rain?"}]}, HI],
    ),
}


@pytest.mark.parametrize(("response", "expected"), ANSWERS.values(), ids=ANSWERS.keys())
def test_steps(response, expected):
    """
    Text, calls and ordered blocks become steps; reasoning, which aimock leaves out for Interactions, a thought.
    """
    assert Answer(steps=expected, usage=NO_USAGE) == one(response)


USAGES = {
    "openai": ({"prompt_tokens": 3, "completion_tokens": 4}, (3, 4, 7)),
    "anthropic": ({"input_tokens": 3, "output_tokens": 4}, (3, 4, 7)),
    "gemini": ({"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 9}, (3, 4, 9)),
    "a total": ({"input_tokens": 3, "total_tokens": 9}, (3, 0, 9)),
    "other numbers": ({"cost": 0.5, "prompt_tokens_details": {"cached_tokens": 2}}, (0, 0, 0)),
}


@pytest.mark.parametrize(("usage", "expected"), USAGES.values(), ids=USAGES.keys())
def test_usage(usage, expected):
    """
    Usage is read in any provider's words; missing counts are 0, as in aimock.
    """
    found = one({"content": "Hi", "usage": usage}).usage

    assert dict(zip(NO_USAGE, expected, strict=True)) == found


FINISHES = {"stop": None, "tool_calls": None, "length": "incomplete"}


@pytest.mark.parametrize(("word", "status"), FINISHES.items(), ids=FINISHES.keys())
def test_finish_reason(word, status):
    """
    An answer that is cut by its length is `incomplete`; the other words follow from its steps.
    """
    assert status == one({"content": "Hi", "finishReason": word}).status


def test_what_is_ignored():
    """
    Fields that aimock does not read for Interactions are ignored, and so are notes with an underscore.
    """
    ignored = {
        "id": "x",
        "created": 5,
        "systemFingerprint": "x",
        "role": "assistant",
        "provider": "x",
        "nativeFinishReason": "STOP",
        "reasoningSignature": "c2ln",
        "redactedThinking": ["x"],
        "webSearches": ["x"],
        "_warning": "truncated",
    }

    found = one({"content": "Hi", **ignored}, openRouterProcessing=True, metadata={"systemHash": "x"}, _comment="x")

    assert Answer(steps=[HI], usage=NO_USAGE) == found


def test_model_of_an_answer():
    """
    A model in the answer is the served model.
    """
    assert {"model": "gemini-9"} == one({"content": "Hi", "model": "gemini-9"}).more


ERRORS = {
    "a type": ({"error": {"message": "Quota exceeded.", "type": "Q"}, "status": 503}, 503, "Q", ()),
    "nothing but a message": ({"error": {"message": "Quota exceeded."}}, 500, "ERROR", ()),
    "code and param are not sent": (
        {"error": {"message": "Quota exceeded.", "code": "x", "param": "y"}, "fallthrough": False},
        500,
        "ERROR",
        (),
    ),
    "429": (
        {"error": {"message": "Quota exceeded.", "type": "Q"}, "status": 429},
        429,
        "Q",
        (("retry-after", "1"),),
    ),
    "429 with a time": (
        {"error": {"message": "Quota exceeded."}, "status": 429, "retryAfter": 7},
        429,
        "ERROR",
        (("retry-after", "7"),),
    ),
}


@pytest.mark.parametrize(("response", "status", "code", "headers"), ERRORS.values(), ids=ERRORS.keys())
def test_errors(response, status, code, headers):
    """
    The type of an error is its code; 429 has a retry-after header.
    """
    error = HttpError(status=status, code=code, message="Quota exceeded.", headers=headers)

    assert Answer(http_error=error) == one(response)


TIMES = {
    "latency": ({"latency": 500}, Timing(first_byte_s=0.5, between_s=0.5)),
    "chunkSize": ({"chunkSize": 4}, Timing(delta_chars=4)),
    "profile": (
        {"streamingProfile": {"ttft": 250, "tps": 8, "jitter": 0.5}},
        Timing(first_byte_s=0.25, between_s=0.125),
    ),
    "half a profile": ({"streamingProfile": {"ttft": 250}, "latency": 500}, Timing(first_byte_s=0.25, between_s=0.5)),
    "recorded": (
        {"recordedTimings": {"ttftMs": 1000, "interChunkDelaysMs": [100, 400], "totalDurationMs": 1500}},
        Timing(first_byte_s=1.0, between_s=0.25),
    ),
    "nothing recorded": ({"recordedTimings": {"ttftMs": 0, "interChunkDelaysMs": []}, "latency": 5}, Timing()),
    "profile goes before recorded": (
        {"streamingProfile": {"ttft": 250}, "recordedTimings": {"ttftMs": 1000, "interChunkDelaysMs": [100]}},
        Timing(first_byte_s=0.25),
    ),
    "replaySpeed": ({"latency": 500, "replaySpeed": 2}, Timing(first_byte_s=0.25, between_s=0.25)),
    "chaos": ({"chaos": {"latencyMs": 500, "dropRate": 0}}, Timing(first_byte_s=0.5)),
}


@pytest.mark.parametrize(("given", "expected"), TIMES.values(), ids=TIMES.keys())
def test_timing(given, expected):
    """
    Times in milliseconds become seconds; a recording is its mean, and nothing is left to chance.
    """
    assert expected == one({"content": "Hi"}, **given).timing


def test_disconnect():
    """
    A connection that is closed after a time is dropped after that time.
    """
    assert ("drop@0.25s",) == one({"content": "Hi"}, disconnectAfterMs=250).faults


def test_truncate():
    """
    A stream that ends after its third chunk ends after its third delta: created, status_update, step.start, three
    deltas.
    """
    assert 6 == one({"content": "abcdef"}, chunkSize=1, truncateAfterChunks=3).cut_after


def test_truncate_after_the_end():
    """
    A stream with fewer chunks is whole.
    """
    assert one({"content": "abc"}, chunkSize=1, truncateAfterChunks=9).cut_after is None


def test_sequence():
    """
    Entries that differ in their `sequenceIndex` alone answer one after another and are used up.
    """
    fixtures = loaded(
        {"match": {"userMessage": "x", "sequenceIndex": 0}, "response": {"content": "Hi"}},
        {"match": {"userMessage": "y"}, "response": {"content": "Hi"}},
        {"match": {"userMessage": "x", "sequenceIndex": 1}, "response": {"error": {"message": "no"}}},
        {"match": {"userMessage": "x"}, "response": {"content": "Hi"}},
    )
    first, second, third = fixtures
    request = read_request({"input": "x"})

    assert 2 == len(first.answers)
    assert not first.repeat_last
    assert [Contains("y"), Contains("x")] == [second.match.user_text, third.match.user_text]
    assert [0, 0, 2] == [fixtures.find(request, {0: served}) for served in range(3)]


def test_turn_index_in_one_request():
    """
    Answers are counted in the request itself: in a chained one there are 0.
    """
    fixtures = loaded(
        {"match": {"turnIndex": 0}, "response": {"content": "Hi"}},
        {"match": {"turnIndex": 1}, "response": {"content": "Hi"}},
    )
    second = [
        {"type": "user_input", "content": []},
        HI,
        {"type": "user_input", "content": [{"type": "text", "text": "x"}]},
    ]

    assert 1 == fixtures.find(read_request({"input": second}))
    assert 0 == fixtures.find(read_request({"input": "x"}, [{"input": "y"}]))


LEFT_OUT = {
    "another endpoint": (
        {"match": {"endpoint": "embedding"}, "response": {"embedding": [1]}},
        "match.endpoint 'embedding' is not an endpoint of Interactions",
    ),
    "inputText": (
        {"match": {"inputText": "x"}, "response": {"content": "Hi"}},
        "match.inputText is never in a request of Interactions",
    ),
    "responseFormat": (
        {"match": {"responseFormat": "json_object"}, "response": {"content": "{}"}},
        "match.responseFormat is never in a request of Interactions",
    ),
    "an image": ({"match": {}, "response": {"image": {"url": "x"}}}, "response.image is not an answer of Interactions"),
}


@pytest.mark.parametrize(("entry", "expected"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_left_out(entry, expected):
    """
    Fixtures that no request of Interactions can match are left out, with a note.
    """
    fixtures = loaded(entry)

    assert 0 == len(fixtures)
    assert (f"fixtures: fixtures[0]: {expected}",) == fixtures.left_out


WRONG = {
    "no match": ({"response": {"content": "Hi"}}, "match: is missing"),
    "match is no object": ({"match": 5, "response": {"content": "Hi"}}, "match: expected an object, got the number 5"),
    "no response": ({"match": {}}, "response: is missing"),
    "response is no object": ({"match": {}, "response": "Hi"}, "response: expected an object, got a string"),
    "an empty response": ({"match": {}, "response": {}}, "response: expected one of content, toolCalls, blocks, error"),
    "a function": (
        {"match": {"predicate": "x"}, "response": {"content": "Hi"}},
        "match.predicate: a function cannot be in a file; write a Fixture in Python",
    ),
    "context": (
        {"match": {"context": "x"}, "response": {"content": "Hi"}},
        "match.context: fixtures for one X-AIMock-Context only are not supported",
    ),
    "an unknown key of a match": (
        {"match": {"userMesage": "x"}, "response": {"content": "Hi"}},
        "match.userMesage: unknown key; did you mean 'userMessage'?",
    ),
    "an unknown key of a response": (
        {"match": {}, "response": {"content": "Hi", "toolCall": []}},
        "response.toolCall: unknown key; did you mean 'toolCalls'?",
    ),
    "an unknown key of an entry": (
        {"match": {}, "response": {"content": "Hi"}, "latencyMs": 5},
        "latencyMs: unknown key; did you mean 'latency'?",
    ),
    "content is a number": (
        {"match": {}, "response": {"content": 5}},
        "response.content: expected a string, got the number 5",
    ),
    "an unknown block": (
        {"match": {}, "response": {"blocks": [{"type": "image"}]}},
        "response.blocks[0].type: expected 'text' or 'toolCall'",
    ),
    "no name": (
        {"match": {}, "response": {"toolCalls": [{"arguments": "{}"}]}},
        "response.toolCalls[0].name: is missing",
    ),
    "no JSON": (
        {"match": {}, "response": {"toolCalls": [{"name": "rain", "arguments": "{"}]}},
        "response.toolCalls[0].arguments: not valid JSON",
    ),
    "no object": (
        {"match": {}, "response": {"toolCalls": [{"name": "rain", "arguments": "[1]"}]}},
        "response.toolCalls[0].arguments: expected an object, or the JSON text of one",
    ),
    "another finish": (
        {"match": {}, "response": {"content": "Hi", "finishReason": "content_filter"}},
        "response.finishReason: expected one of stop, tool_calls, length; Interactions has no 'content_filter'",
    ),
    "no message": (
        {"match": {}, "response": {"error": {"type": "x"}}},
        "response.error.message: is missing",
    ),
    "error is no object": (
        {"match": {}, "response": {"error": "x"}},
        "response.error: expected an object, got a string",
    ),
    "chance": (
        {"match": {}, "response": {"content": "Hi"}, "chaos": {"dropRate": 0.5}},
        "chaos.dropRate: answers by chance are not supported; use a fault in a file of this library's form",
    ),
    "a gap in a sequence": (
        {"match": {"sequenceIndex": 1}, "response": {"content": "Hi"}},
        "match.sequenceIndex: expected 0, the next one of this match, got 1",
    ),
}


@pytest.mark.parametrize(("entry", "expected"), WRONG.values(), ids=WRONG.keys())
def test_wrong_entries(entry, expected):
    """
    A field that is not valid or has no counterpart is a fault with its path.
    """
    (found,) = complaints(entry, {"match": {}, "response": {"content": "Hi"}})

    assert f"fixtures[0]: {expected}" == re.sub(r"(not valid JSON): .*", r"\1", found)


HELLO = "Hello from the mock server: naïve café, 日本語, 🚀 done."
NOTE = 'a "quote", a back\\slash, a\nnewline and 🚀'
WEATHER = {"city": "Zürich", "unit": "celsius", "days": 3, "note": NOTE}

# What aimock was given for what it streamed, worked out from its sources.
CAPTURED = {
    "text": {"content": HELLO, "usage": {"input_tokens": 11, "output_tokens": 17}},
    "tools": {
        "toolCalls": [{"id": "call_weather_1", "name": "get_weather", "arguments": WEATHER}],
        "usage": {"prompt_tokens": 53, "completion_tokens": 15},
    },
    "text-tools": {
        "content": "Let me look that up.",
        "toolCalls": [{"id": "call_weather_2", "name": "get_weather", "arguments": '{"city":"Lima","days":1}'}],
        "usage": {"input_tokens": 44, "output_tokens": 19},
    },
    "parallel-tools": {
        "toolCalls": [
            {"id": "call_par_a", "name": "get_weather", "arguments": {"city": "Oslo"}},
            {"id": "call_par_b", "name": "get_time", "arguments": {"zone": "Europe/Oslo"}},
        ],
        "usage": {"promptTokenCount": 60, "candidatesTokenCount": 22},
    },
    "blocks": {
        "blocks": [
            {"type": "toolCall", "id": "call_b1", "name": "get_time", "arguments": {"zone": "UTC"}},
            {"type": "text", "text": "In between."},
            {"type": "toolCall", "id": "call_b2", "name": "get_weather", "arguments": {"city": "Rome"}},
        ]
    },
    "usage-off": {"content": "no usage given"},
    "surrogate-split": {"content": "a🚀b👩\u200d👩\u200d👧c"},
}


def content_of(message: object) -> tuple[object, ...]:
    """Return the content of a message, without ids of runs and the name of the model."""
    parts = [(part.call_id, part.name, part.arguments) if part.type == "tool" else part.text for part in message.parts]
    return parts, message.finish_reason, message.usage.input_tokens, message.usage.output_tokens


async def answered(response: object, *, stream: bool, generation: int) -> bytes:
    provider = MockProvider(
        load_fixtures({"fixtures": [{"match": {"userMessage": "ask"}, "response": response, "chunkSize": 8}]}),
        generation=generation,
    )
    async with httpx2.AsyncClient(transport=StreamingTransport(provider.app)) as client:
        body = {"model": "gemini-2.5-flash", "input": "I ask", "stream": stream}
        answer = await client.post("http://x/v1beta/interactions", json=body, headers={"x-goog-api-key": "k"})
        return answer.content


def decoded(data: bytes) -> object:
    decoder = GeminiInteractionsDecoder("a")
    return fold([*decoder.feed(data), *decoder.close()]).last


@pytest.mark.parametrize("name", CAPTURED)
def test_captured_streams(name):
    """
    What aimock streamed for a fixture and what is streamed here for it are the same message.
    """
    theirs = body_of(f"aimock-{name}.sse")
    ours = asyncio.run(answered(CAPTURED[name], stream=True, generation=2))

    assert content_of(decoded(theirs)) == content_of(decoded(ours))


@pytest.mark.parametrize("name", ["text", "tools", "text-tools"])
def test_captured_streams_of_the_first_generation(name):
    """
    The same holds for the wire of 1.x.
    """
    theirs = body_of(f"aimock-v1-{name}.sse")
    ours = asyncio.run(answered(CAPTURED[name], stream=True, generation=1))

    assert b"content.delta" in ours
    assert content_of(decoded(theirs)) == content_of(decoded(ours))


@pytest.mark.parametrize("name", ["text", "tools"])
@pytest.mark.parametrize("generation", [1, 2])
def test_captured_documents(name, generation):
    """
    The same holds for answers in one piece.
    """
    theirs = json.loads(body_of(f"aimock-{'v1-' if generation == 1 else ''}{name}-unary.json"))
    ours = json.loads(asyncio.run(answered(CAPTURED[name], stream=False, generation=generation)))
    key = "outputs" if generation == 1 else "steps"

    assert theirs["status"] == ours["status"]
    assert theirs[key] == ours[key]
    assert theirs["usage"] == ours["usage"]


def test_captured_error():
    """
    An error has the same body.
    """
    response = {
        "error": {"message": "Quota exceeded in the mock.", "type": "RESOURCE_EXHAUSTED", "code": "429"},
        "status": 429,
    }

    assert json.loads(body_of("aimock-error-429.json")) == json.loads(
        asyncio.run(answered(response, stream=True, generation=2))
    )
