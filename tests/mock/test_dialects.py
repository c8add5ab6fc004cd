"""
What the mocks of several dialects do alike: answers in events, faults of fixture files, and files of aimock.
"""

import pytest

from assistant_events import ErrorKind, FinishReason
from assistant_events.errors import FixtureError
from assistant_events.mock import load_mock
from assistant_events.mock.fixture_files import load_fixtures

from .asgi import asked, followed

HEADERS = {"x-goog-api-key": "secret", "authorization": "Bearer secret", "anthropic-version": "2023-06-01"}

TOOL_USE = {"type": "tool_use", "id": "c1", "name": "rain", "input": {}}
CONVERSE_CALL = {"toolUse": {"toolUseId": "c1", "name": "rain", "input": {}}}
GEMINI_CALL = {"functionCall": {"name": "rain", "args": {}, "id": "c1"}}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "rain", "arguments": "{}"}}
RESPONSES_CALL = {"type": "function_call", "call_id": "c1", "name": "rain", "arguments": "{}"}
REASONING_ALONE = {"reasoningContent": {"reasoningText": {}}}

EVERYWHERE = {
    "the same id twice, in short": ({"calls": [{"id": "c", "name": "f"}, {"id": "c", "name": "f"}]}, "calls[1].id"),
    "events and a text": ({"events": [], "text": "Hi"}, ""),
    "nothing": ({"usage": {}}, ""),
}
OF_DIALECTS = {
    "anthropic-messages": {
        "a block without a type": ({"content": [{}]}, "content[0].type"),
        "a text without text": ({"content": [{"type": "text"}]}, "content[0].text"),
        "a result": ({"content": [{"type": "tool_result", "tool_use_id": "c1"}]}, "content[0].type"),
        "a call without a name": ({"content": [{"type": "tool_use"}]}, "content[0].name"),
        "two forms": ({"content": [], "text": "Hi"}, ""),
        "a typing error in the stop reason": ({"text": "Hi", "stop_reason": "endturn"}, "stop_reason"),
        "a typing error in the usage": ({"text": "Hi", "usage": {"input_token": 1}}, "usage.input_token"),
        "usage that is no count": ({"text": "Hi", "usage": {"input_tokens": -1}}, "usage.input_tokens"),
        "a field of the server": ({"text": "Hi", "more": {"role": "user"}}, "more.role"),
        "the same id twice": ({"content": [TOOL_USE, TOOL_USE]}, "content[1].id"),
    },
    "bedrock-converse": {
        "an empty block": ({"content": [{}]}, "content[0]"),
        "a block of two kinds": ({"content": [{"text": "Hi", **CONVERSE_CALL}]}, "content[0]"),
        "a text of a wrong type": ({"content": [{"text": 7}]}, "content[0].text"),
        "a call without a name": ({"content": [{"toolUse": {}}]}, "content[0].toolUse.name"),
        "reasoning alone": ({"content": [REASONING_ALONE]}, "content[0].reasoningContent.reasoningText.text"),
        "two forms": ({"content": [], "text": "Hi"}, ""),
        "a typing error in the stop reason": ({"text": "Hi", "stop_reason": "endturn"}, "stop_reason"),
        "a typing error in the usage": ({"text": "Hi", "usage": {"inputToken": 1}}, "usage.inputToken"),
        "usage that is no count": ({"text": "Hi", "usage": {"inputTokens": -1}}, "usage.inputTokens"),
        "a field of the server": ({"text": "Hi", "more": {"output": {}}}, "more.output"),
        "the same id twice": ({"content": [CONVERSE_CALL, CONVERSE_CALL]}, "content[1].id"),
    },
    "gemini-generate-content": {
        "a part that is no object": ({"parts": ["Hi"]}, "parts[0]"),
        "a text that is none": ({"parts": [{"text": 5}]}, "parts[0].text"),
        "a call without a name": ({"parts": [{"functionCall": {}}]}, "parts[0].functionCall.name"),
        "arguments as text": (
            {"parts": [{"functionCall": {"name": "f", "args": "{}"}}]},
            "parts[0].functionCall.args",
        ),
        "a result": ({"parts": [{"functionResponse": {"name": "rain"}}]}, "parts[0].functionResponse"),
        "two forms": ({"parts": [], "text": "Hi"}, ""),
        "a typing error in the reason": ({"text": "Hi", "finish_reason": "STOPP"}, "finish_reason"),
        "a typing error in the usage": ({"text": "Hi", "usage": {"promptTokensCount": 1}}, "usage.promptTokensCount"),
        "usage that is no count": ({"text": "Hi", "usage": {"promptTokenCount": -1}}, "usage.promptTokenCount"),
        "a field of the server": ({"text": "Hi", "more": {"responseId": "x"}}, "more.responseId"),
        "a field of the candidate": ({"text": "Hi", "candidate": {"finishReason": "STOP"}}, "candidate.finishReason"),
        "the same id twice": ({"parts": [GEMINI_CALL, GEMINI_CALL]}, "parts[1].id"),
    },
    "openai-chat": {
        "a message of another role": ({"message": {"role": "user", "content": "Hi"}}, "message.role"),
        "a call without a name": (
            {"message": {"tool_calls": [{"function": {}}]}},
            "message.tool_calls[0].function.name",
        ),
        "arguments that are no text": (
            {"message": {"tool_calls": [{"function": {"name": "rain", "arguments": {}}}]}},
            "message.tool_calls[0].function.arguments",
        ),
        "two forms": ({"message": {"content": "Hi"}, "text": "Hi"}, ""),
        "a typing error in the reason": ({"text": "Hi", "finish_reason": "tool_call"}, "finish_reason"),
        "a typing error in the usage": ({"text": "Hi", "usage": {"prompt_token": 1}}, "usage.prompt_token"),
        "a field of the server": ({"text": "Hi", "more": {"object": "x"}}, "more.object"),
        "a field of the choice": ({"text": "Hi", "choice": {"message": {}}}, "choice.message"),
        "the same id twice": ({"message": {"tool_calls": [CHAT_CALL, CHAT_CALL]}}, "message.tool_calls[1].id"),
    },
    "openai-responses": {
        "an item without a type": ({"output": [{}]}, "output[0].type"),
        "a message without content": ({"output": [{"type": "message"}]}, "output[0].content"),
        "a result": ({"output": [{"type": "function_call_output", "call_id": "c1"}]}, "output[0].type"),
        "a call without a name": ({"output": [{"type": "function_call"}]}, "output[0].name"),
        "arguments that are no text": ({"output": [{**RESPONSES_CALL, "arguments": {}}]}, "output[0].arguments"),
        "two forms": ({"output": [], "text": "Hi"}, ""),
        "a typing error in the status": ({"text": "Hi", "status": "complete"}, "status"),
        "a typing error in the usage": ({"text": "Hi", "usage": {"input_token": 1}}, "usage.input_token"),
        "a field of the server": ({"text": "Hi", "more": {"object": "x"}}, "more.object"),
        "the same id twice": ({"output": [RESPONSES_CALL, RESPONSES_CALL]}, "output[1].id"),
    },
}
WRONG = [
    pytest.param(dialect, answer, place, id=f"{dialect} {name}")
    for dialect, rows in OF_DIALECTS.items()
    for name, (answer, place) in [*EVERYWHERE.items(), *rows.items()]
]


@pytest.mark.parametrize(("dialect", "answer", "place"), WRONG)
def test_faults_of_fixtures(dialect, answer, place):
    """
    A fault of a file is reported with its path.
    """
    with pytest.raises(FixtureError) as caught:
        load_fixtures(load_mock(dialect).form, {"version": 1, "fixtures": [{"match": {}, "answer": answer}]})

    assert f"answer.{place}".rstrip(".") == caught.value.field


OF_AIMOCK = {
    "anthropic-messages": (2, "Messages"),
    "bedrock-converse": (1, "Converse"),
    "gemini-generate-content": (0, "generateContent"),
    "openai-chat": (1, "Chat Completions"),
    "openai-responses": (4, "Responses"),
}


@pytest.mark.parametrize(("dialect", "head", "api"), [(name, *row) for name, row in OF_AIMOCK.items()])
def test_files_of_aimock(dialect, head, api):
    """
    A stream that is cut after a number of chunks ends after as many deltas, which come behind the events of its head.
    Fixtures of other endpoints are left out, with a note that names the API.
    """
    entry = {"match": {}, "response": {"content": "abcdef"}, "chunkSize": 2, "truncateAfterChunks": 2}
    other = {"match": {"endpoint": "image"}, "response": {"content": "Hi"}}
    found = load_fixtures(load_mock(dialect).form, {"fixtures": [entry, other]})
    [[answer]] = [fixture.answers for fixture in found]

    assert (head + 2, 2) == (answer.cut_after, answer.timing.delta_chars)
    assert [f"fixtures: fixtures[1]: match.endpoint 'image' is not an endpoint of {api}"] == list(found.left_out)


@pytest.mark.parametrize(("dialect", "head"), [(name, head) for name, (head, _) in OF_AIMOCK.items()])
def test_the_size_of_deltas(dialect, head):
    """
    A text is cut into deltas of twenty characters where the fixture does not have their size.
    """
    entries = [{"match": {}, "response": {"content": 41 * "a"}, "truncateAfterChunks": count} for count in (3, 4)]
    found = load_fixtures(load_mock(dialect).form, {"fixtures": entries})

    assert [head + 3, None] == [answer.cut_after for fixture in found for answer in fixture.answers]


PROMPT = [{"role": "user", "content": "Hello"}]
REQUESTS = {
    "anthropic-messages": {"model": "claude-opus-5-5", "max_tokens": 99, "messages": PROMPT},
    "bedrock-converse": {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "Hello"}]}]},
    "gemini-generate-content": {
        "model": "gemini-3.6-flash",
        "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
    },
    "openai-chat": {"model": "gpt-5.6", "messages": PROMPT},
    "openai-responses": {"model": "gpt-5.6", "input": "Hello"},
}
EVENTS = [
    {"type": "step.started", "message_id": "a1", "origin": {"provider": "p", "dialect": "d", "model": "m"}},
    {"type": "reasoning.started", "message_id": "a1", "ordinal": 0},
    {"type": "reasoning.ended", "message_id": "a1", "ordinal": 0, "text": "of another model"},
    {"type": "text.started", "message_id": "a1", "ordinal": 1},
    {"type": "text.ended", "message_id": "a1", "ordinal": 1, "text": "Hi"},
    {"type": "step.ended", "message_id": "a1", "finish_reason": "length"},
]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("dialect", "body"), REQUESTS.items(), ids=REQUESTS)
def test_an_answer_in_events(dialect, body, stream):
    """
    Events of one answer, of any provider, become its content and its reason to finish.
    """
    found, _ = followed(dialect, {"events": EVENTS}, {**body, "stream": stream})

    assert ("Hi", FinishReason.LENGTH, None) == (found.text, found.finish_reason, found.error)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("dialect", [name for name in REQUESTS if name != "bedrock-converse"])
def test_the_model_of_an_answer(dialect, stream):
    """
    It is that of the request. An answer of Converse has none.
    """
    found, _ = followed(dialect, "Hi", {**REQUESTS[dialect], "model": "model-of-a-test", "stream": stream})

    assert "model-of-a-test" == found.origin.served_model


@pytest.mark.parametrize("dialect", [name for name in REQUESTS if name != "openai-responses"])
def test_an_answer_in_events_that_has_failed(dialect):
    """
    A document of these wires cannot have an error beside an answer, which a fixture gives in another field.
    """
    failed = {"type": "step.failed", "message_id": "a1", "error": {"kind": "provider", "message": "boom"}}
    entry = {"match": {}, "answer": {"events": [EVENTS[0], failed]}}

    with pytest.raises(FixtureError, match="expected an answer that has completed") as caught:
        load_fixtures(load_mock(dialect).form, {"version": 1, "fixtures": [entry]})

    assert "answer.events" == caught.value.field


def body_of(dialect):
    """Return a request without what its address has."""
    address = {"bedrock-converse": {"modelId"}, "gemini-generate-content": {"model"}}.get(dialect, set())
    return {key: value for key, value in REQUESTS[dialect].items() if key not in address}


def provider_of(dialect, *fixtures):
    return load_mock(dialect).provider({"version": 1, "fixtures": list(fixtures)})


COUNTS = {
    "anthropic-messages": ("/v1/messages/count_tokens", {"model": "m", "messages": PROMPT}, {"input_tokens": 2}),
    "bedrock-converse": (
        "/model/m/count-tokens",
        {"input": {"converse": {"messages": [{"role": "user", "content": [{"text": "Hello"}]}]}}},
        {"inputTokens": 2},
    ),
    "gemini-generate-content": (
        "/v1beta/models/m:countTokens",
        {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]},
        {"totalTokens": 2, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 2}]},
    ),
    "gemini-generate-content with a whole request": (
        "/v1beta/models/m:countTokens",
        {
            "generateContentRequest": {
                "model": "models/m",
                "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
                "system_instruction": {"parts": [{"text": "Be brief"}]},
            }
        },
        {"totalTokens": 4, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 4}]},
    ),
    "gemini-generate-content with the result of a call": (
        "/v1beta/models/gemini-2.5-pro:countTokens",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Hello"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "rain"}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "rain", "response": {"output": "sunny"}}}]},
            ]
        },
        {"totalTokens": 6, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 6}]},  # and {"output":"sunny"}
    ),
    "openai-responses": (
        "/v1/responses/input_tokens",
        {"model": "m", "input": "Hello"},
        {"object": "response.input_tokens", "input_tokens": 2},
    ),
}


@pytest.mark.parametrize(("dialect", "path", "body", "expected"), [(key.split()[0], *COUNTS[key]) for key in COUNTS])
def test_a_count_of_tokens(dialect, path, body, expected):
    """
    The tokens of a request are counted without an answer of a fixture: one for four characters. Anything else is
    refused, but by a lenient mock.
    """
    provider = provider_of(dialect)
    found = asked(provider, "POST", path, body, HEADERS)

    assert (200, expected) == (found.status, found.document)
    assert 400 == asked(provider, "POST", path, {}, HEADERS).status
    assert 503 == asked(provider, "POST", path, body, {**HEADERS, "x-mock-fault": "http-503@any"}).status
    lenient, nothing = load_mock(dialect).provider({}, strict=False), {"input": {"converse": {}}}
    assert 200 == asked(lenient, "POST", path, nothing, HEADERS).status


def test_models_of_servers_of_chat():
    """
    Chat Completions has the list of models that clients of its many servers read, at OpenAI's and Azure's paths.
    """
    provider = provider_of("openai-chat", {"match": {"model": "qwen3/32b"}, "answer": {"text": "Hi"}})
    listed = asked(provider, "GET", "/v1/models", None, HEADERS)
    one = asked(provider, "GET", "/openai/v1/models/qwen3/32b", None, HEADERS)

    assert ["gpt-5.6", "qwen3/32b"] == [model["id"] for model in listed.document["data"]]
    assert listed.document["data"][1] == one.document
    assert listed.document == asked(provider, "GET", "/openai/models", None, HEADERS).document
    assert 405 == asked(provider, "POST", "/v1/models", {}, HEADERS).status


ENDS = {
    "anthropic-messages": (
        "/v1/messages",
        {"overloaded_error": 529, "invalid_request_error": 400, "odd": 500, 413: 413},
    ),
    "bedrock-converse": ("/model/m/converse", {"throttlingException": 429, "odd": 500}),
    "gemini-generate-content": ("/v1beta/models/m:generateContent", {"unavailable": 503, 429: 429, "odd": 500, 7: 500}),
    "openai-chat": ("/v1/chat/completions", {"rate_limit_exceeded": 429, 503: 503, "odd": 500, 1008: 500}),
}


@pytest.mark.parametrize(
    ("dialect", "code", "status"),
    [(dialect, code, status) for dialect, (_, rows) in ENDS.items() for code, status in rows.items()],
)
def test_the_status_of_an_error(dialect, code, status):
    """
    Without a stream the error of a stream is the HTTP error that the service has for it.
    """
    answer = {"text": "Hi", "stream_error": {"code": code, "message": "boom"}}
    provider = provider_of(dialect, {"match": {}, "answer": answer})
    request = body_of(dialect)
    found = asked(provider, "POST", ENDS[dialect][0], request, HEADERS)

    assert status == found.status


IDS = {
    "anthropic-messages": ("/v1/messages", "request-id"),
    "bedrock-converse": ("/model/m/converse", "x-amzn-requestid"),
    "openai-chat": ("/v1/chat/completions", "x-request-id"),
    "openai-responses": ("/v1/responses", "x-request-id"),
}


@pytest.mark.parametrize(("dialect", "path", "header"), [(dialect, *row) for dialect, row in IDS.items()])
def test_ids_of_requests(dialect, path, header):
    """
    Each answer names its request in a header, which clients show.
    """
    provider = provider_of(dialect, {"match": {}, "answer": {"text": "Hi"}})
    request = body_of(dialect)
    ids = [asked(provider, "POST", path, request, HEADERS).headers[header] for _ in range(2)]

    assert all(ids)
    assert 2 == len(set(ids))


@pytest.mark.parametrize(("dialect", "path", "header"), [(dialect, *row) for dialect, row in IDS.items()])
def test_ids_of_requests_of_streams(dialect, path, header):
    """
    A stream has the header, too.
    """
    provider = provider_of(dialect, {"match": {}, "answer": {"text": "Hi"}})
    is_bedrock = dialect == "bedrock-converse"
    request = body_of(dialect) if is_bedrock else {**body_of(dialect), "stream": True}

    assert asked(provider, "POST", f"{path}-stream" if is_bedrock else path, request, HEADERS).headers[header]


@pytest.mark.parametrize(("dialect", "path"), [(dialect, path) for dialect, (path, _) in IDS.items()])
def test_browsers_may_send_what_they_ask_for(dialect, path):
    """
    OPTIONS allows the headers that are asked for.
    """
    found = asked(provider_of(dialect), "OPTIONS", path, None, {"access-control-request-headers": "x-mine"})

    assert "x-mine" == found.headers["access-control-allow-headers"]


THINKING = {"type": "enabled", "budget_tokens": 1024}
BY_THOUGHT = {
    "anthropic-messages": ("/v1/messages", {"max_tokens": 2048, "thinking": THINKING}),
    "bedrock-converse": (
        "/model/m/converse",
        {
            "additionalModelRequestFields": {"thinking": THINKING},
            "toolConfig": {"tools": [{"toolSpec": {"name": "rain", "inputSchema": {"json": {}}}}]},
        },
    ),
}


@pytest.mark.parametrize(("dialect", "path", "fields"), [(dialect, *row) for dialect, row in BY_THOUGHT.items()])
def test_calls_while_thinking_is_on(dialect, path, fields):
    """
    An answer of calls begins with a signed thought, so that the next request with all of it is not refused.
    """
    fixtures = [
        {"match": {"call_id": "c1"}, "answer": {"text": "It rains."}},
        {"match": {}, "answer": {"calls": [{"id": "c1", "name": "rain"}]}},
    ]
    provider = provider_of(dialect, *fixtures)
    request = {**body_of(dialect), **fields}
    document = asked(provider, "POST", path, request, HEADERS).document
    message = document["output"]["message"] if "output" in document else {"role": "assistant", **document}
    answer = {key: message[key] for key in ("role", "content")}
    result = {
        "anthropic-messages": {"type": "tool_result", "tool_use_id": "c1", "content": "yes"},
        "bedrock-converse": {"toolResult": {"toolUseId": "c1", "content": [{"text": "yes"}]}},
    }[dialect]

    def status(content, **more):
        messages = [*request["messages"], {**answer, "content": content}, {"role": "user", "content": [result]}]
        return asked(provider, "POST", path, {**request, "messages": messages, **more}, HEADERS).status

    said = {"anthropic-messages": {"type": "text", "text": "Hi"}, "bedrock-converse": {"text": "Hi"}}[dialect]
    spoken = [*request["messages"], {**answer, "content": [said]}, {"role": "user", "content": [said]}]

    assert 2 == len(answer["content"])
    assert 200 == asked(provider, "POST", path, {**request, "messages": spoken}, HEADERS).status
    assert (200, 400) == (status(answer["content"]), status(answer["content"][1:]))
    assert 200 == status(answer["content"][1:], thinking=None, additionalModelRequestFields=None)


HARMLESS = ("comments", "crlf", "no-done", "no-usage", "split-bytes", "unknown-events")
FOLLOWED = {
    "anthropic-messages": {
        **dict.fromkeys((*HARMLESS, "bad-json@5", "data-only", "no-blank-line", "no-stops", "http-529")),
        "cut@3": ErrorKind.INTERRUPTED,
        "drop@3": ErrorKind.NETWORK,
        "no-completed": ErrorKind.INTERRUPTED,
        "ten-minute-cut@3": ErrorKind.PROVIDER,
        "error@3": ErrorKind.OVERLOADED,
        "empty-errors": ErrorKind.PROVIDER,
        "http-400": ErrorKind.INVALID_REQUEST,
    },
    "bedrock-converse": {
        **dict.fromkeys((*HARMLESS, "bad-json@3", "data-only", "no-blank-line", "no-stops", "http-503")),
        "cut@3": ErrorKind.INTERRUPTED,
        "drop@3": ErrorKind.NETWORK,
        "no-completed": ErrorKind.INTERRUPTED,
        "truncated-utf8@3": ErrorKind.INTERRUPTED,
        "ten-minute-cut@3": ErrorKind.PROVIDER,
        "bad-checksum@3": ErrorKind.PROTOCOL,
        "error@3": ErrorKind.RATE_LIMIT,
        "empty-errors": ErrorKind.PROVIDER,
        "http-400": ErrorKind.INVALID_REQUEST,
    },
    "gemini-generate-content": {
        **dict.fromkeys((*HARMLESS, "heartbeat-comments", "bad-json", "http-503")),
        "cut@1": ErrorKind.INTERRUPTED,
        "drop@1": ErrorKind.NETWORK,
        "no-completed": ErrorKind.INTERRUPTED,
        "error@1": ErrorKind.OVERLOADED,
        "empty-errors@1": ErrorKind.PROVIDER,
        "ten-minute-cut@1": ErrorKind.TIMEOUT,
    },
}
"""By dialect and fault, how the answer has failed; `None` where it is whole."""


@pytest.mark.parametrize(
    ("dialect", "fault", "kind"),
    [(dialect, fault, kind) for dialect, kinds in FOLLOWED.items() for fault, kind in kinds.items()],
)
def test_what_our_client_makes_of_a_fault(dialect, fault, kind):
    """
    The answer is whole, also after a refusal that is asked for again, or has failed with the kind of what happened.
    """
    answer, body = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 4}}, {**REQUESTS[dialect], "stream": True}
    found, count = followed(dialect, answer, body, fault)

    assert kind == (None if found.error is None else found.error.kind)
    assert "Hi there, Zoë!".startswith(found.text)
    assert kind is not None or ("Hi there, Zoë!", FinishReason.STOP) == (found.text, found.finish_reason)
    assert (2 if fault in ("http-503", "http-529") else 1) == count
