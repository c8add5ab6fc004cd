"""
The mock of Converse: its answers, what it refuses, its fixtures, faults and recordings.

Expected values come from the model of bedrock-runtime in botocore 1.44.5 and the reports that `validation` names; those
of aimock's fixtures from the Converse handler of `@copilotkit/aimock` 1.43.0.
"""

import asyncio
import json

import httpx2
import pytest

from assistant_events import ErrorKind, fold
from assistant_events.adapters.aws_event_stream import AwsEventStream
from assistant_events.adapters.bedrock_converse import dialect
from assistant_events.adapters.bedrock_converse.client import BedrockConverse
from assistant_events.adapters.bedrock_converse.mock import Answer, MockProvider, mock, read_request
from assistant_events.mock.fixture_files import load_fixtures
from assistant_events.session import Session
from assistant_events.stores import MemoryStore
from assistant_events.testing import mock_provider

from . import asgi
from .asgi import JumpClock, ask, asked, message_of, recorded_and_replayed

MODEL = "eu.anthropic.claude-opus-5-5-v1:0"
UNARY, STREAM = [f"/model/{MODEL.replace(':', '%3A')}/{operation}" for operation in ("converse", "converse-stream")]
HEADERS = {"x-goog-api-key": None, "authorization": "Bearer my-secret"}
TEXT = {"text": "Hi"}
CALL = {"toolUse": {"toolUseId": "tooluse_1", "name": "rain", "input": {"city": "Oslo"}}}
RESULT = {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "sunny"}]}}
PDF = {"document": {"format": "pdf", "name": "facts", "source": {"bytes": "YWJj"}}}
TOOL = {"toolSpec": {"name": "rain", "inputSchema": {"json": {"type": "object"}}}}
TOOLS = {"toolConfig": {"tools": [TOOL]}}


def provider_of(fixtures, **options):
    return MockProvider(fixtures, **{"clock": JumpClock(), "make_id": lambda: "req-1", **options})


def user(*blocks):
    return {"role": "user", "content": [{"text": one} if isinstance(one, str) else one for one in blocks]}


def model(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def body(*messages, **more):
    return {"messages": [user(one) if isinstance(one, str) else one for one in messages or ["Hello"]], **more}


def posted(fixtures, request, headers=(), path=UNARY, **options):
    return asked(provider_of(fixtures, **options), "POST", path, request, {**HEADERS, **dict(headers)})


def streamed(fixtures, **options):
    """Return the events of a stream, without padding, and its HTTP exchange."""
    found = posted(fixtures, body(), path=STREAM, **options)
    events = [json.loads(payload) for payload in AwsEventStream().feed(found.body)]
    for event in events:
        for fields in event.values():
            fields.pop("p", None)
    return events, found


def loaded(*entries):
    return load_fixtures(mock.form, {"fixtures": list(entries)})


def one(response, **more):
    ((answer,),) = [fixture.answers for fixture in loaded({"match": {}, "response": response, **more})]
    return answer


def reasoning(text="Plan it", **more):
    return {"reasoningContent": {"reasoningText": {"text": text, **more}}}


def redacted(data=""):
    return {"reasoningContent": {"redactedContent": data}}


# -- answers


def test_a_document():
    """
    `converse` answers with a document, with the usage of its texts: one token for four characters.
    """
    found = posted({"Hello": {"text": "Hi there"}}, body())

    assert (200, "application/json", "req-1") == (
        found.status,
        found.headers["content-type"],
        found.headers["x-amzn-requestid"],
    )
    assert {
        "output": {"message": {"role": "assistant", "content": [{"text": "Hi there"}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 2, "outputTokens": 2, "totalTokens": 4},
        "metrics": {"latencyMs": 0},
    } == found.document


def test_the_usage_of_calls():
    """
    The inputs of calls count as written, and results as read.
    """
    call = {"toolUseId": "tooluse_1", "name": "rain", "input": {"city": "Oslo"}}
    result = {"toolUseId": "tooluse_1", "content": [{"text": "sunny"}]}
    found = posted({"Hello": {"calls": [{"id": "tooluse_1", "name": "rain", "arguments": {"city": "Oslo"}}]}}, body())
    after = anything(body("Hello", model({"toolUse": call}), user({"toolResult": result}), **TOOLS))

    assert 4 == found.document["usage"]["outputTokens"]  # {"city":"Oslo"}
    assert 3 == after.document["usage"]["inputTokens"]  # Hellosunny


def test_a_stream():
    """
    `converse-stream` answers with binary frames: texts have no start, and the usage is last.
    """
    usage = {"inputTokens": 3, "outputTokens": 7, "totalTokens": 10}
    events, found = streamed({"Hello": {"text": "Hi", "calls": [{"id": "tooluse_1", "name": "rain"}], "usage": usage}})

    assert ("application/vnd.amazon.eventstream", "req-1") == (
        found.headers["content-type"],
        found.headers["x-amzn-requestid"],
    )
    assert [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {
            "contentBlockStart": {
                "contentBlockIndex": 1,
                "start": {"toolUse": {"toolUseId": "tooluse_1", "name": "rain"}},
            }
        },
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{}"}}}},
        {"contentBlockStop": {"contentBlockIndex": 1}},
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}},
    ] == events


def test_padding():
    """
    Every event has padding, as those of the service.
    """
    found = posted({"Hello": "Hi"}, body(), path=STREAM)

    assert all("p" in fields for event in AwsEventStream().feed(found.body) for fields in json.loads(event).values())


MODELS = {
    "a profile": (STREAM, MODEL),
    "an ARN": (
        "/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Ainference-profile%2Feu.a.b/converse",
        "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.a.b",
    ),
}


@pytest.mark.parametrize(("path", "name"), MODELS.values(), ids=MODELS)
def test_the_model_of_the_path(path, name):
    """
    The model is that of the path, whose slashes may be escaped.
    """
    fixtures = {"version": 1, "fixtures": [{"match": {"model": name}, "answer": {"text": "Hi"}}]}

    assert 200 == posted(fixtures, body(), path=path).status


TRACE = {"guardrail": {"actionReason": "none"}}
STOPPED = {"delta": {"stop_sequence": "END"}}

FIELDS = {
    "stop reason": ({"stop_reason": "max_tokens"}, "stopReason", "max_tokens"),
    "metrics": ({"more": {"metrics": {"latencyMs": 9}}}, "metrics", {"latencyMs": 9}),
    "trace": ({"more": {"trace": TRACE}}, "trace", TRACE),
    "stop sequence": ({"more": {"additionalModelResponseFields": STOPPED}}, "additionalModelResponseFields", STOPPED),
}


@pytest.mark.parametrize(("answer", "field", "expected"), FIELDS.values(), ids=FIELDS)
def test_fields_of_an_answer(answer, field, expected):
    """
    Fields of a fixture are in the document, and in the events that the wire has for them.
    """
    fixtures = {"Hello": {"content": [TEXT], **answer}}
    *_, stop, metadata = streamed(fixtures)[0]

    assert expected == posted(fixtures, body()).document[field]
    assert expected == {**stop["messageStop"], **metadata["metadata"]}[field]


def test_the_time_of_an_answer():
    """
    The latency is the time of the last event.
    """
    timing = {"first_byte_s": 1.5, "waits_s": [0, 0.25]}
    provider = provider_of({"Hello": {"text": "Hi", "timing": timing}})

    async def main():
        return [(await ask(provider, "POST", UNARY, body(), HEADERS)).document["metrics"] for _ in range(2)]

    assert [{"latencyMs": 1750}] * 2 == asyncio.run(main())


def test_a_call_without_an_id():
    """
    Each run makes ids of its own for calls, so that a conversation may have several.
    """
    provider = provider_of({"Hello": {"calls": [{"name": "rain"}, {"name": "sun"}]}})

    async def main():
        return [(await ask(provider, "POST", UNARY, body(), HEADERS)).document for _ in range(2)]

    contents = [found["output"]["message"]["content"] for found in asyncio.run(main())]
    ids = [block["toolUse"]["toolUseId"] for content in contents for block in content]

    assert 4 == len(set(ids))
    assert all(each.startswith("tooluse_") for each in ids)


# -- requests


def altered_call(**more):
    return {"toolUse": {**CALL["toolUse"], **more}}


def altered_result(**more):
    return {"toolResult": {**RESULT["toolResult"], **more}}


THINKING = {"additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}}}
LOOP = ("Hi", model(CALL), user(RESULT))

REFUSED = {
    "a result of JSON that is no object": (
        body("Hi", model(CALL), user({"toolResult": {"toolUseId": "tooluse_1", "content": [{"json": "sunny"}]}})),
        "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid.",
    ),
    "no messages": ({}, "Value null at 'messages' failed to satisfy constraint: Member must not be null"),
    "messages of a wrong type": ({"messages": "Hi"}, "Value 'Hi' at 'messages' failed to satisfy constraint"),
    "empty messages": ({"messages": []}, "A conversation must start with a user message."),
    "message of a wrong type": (body(7), "at 'messages.0' failed"),
    "unknown role": (body({"role": "tool", "content": [TEXT]}), "at 'messages.0.role' failed to satisfy constraint"),
    "the model first": (body(model(TEXT)), "A conversation must start with a user message."),
    "twice the user": (body("Hi", "Ho"), "A conversation must alternate between user and assistant roles."),
    "twice the model": (body("Hi", model(TEXT), model(TEXT)), "A conversation must alternate"),
    "no content": (body({"role": "user"}), "at 'messages.0.content' failed to satisfy constraint"),
    "empty content": (body(user()), "The content field in the Message object at messages.0 is empty."),
    "a text as content": (body({"role": "user", "content": "Hi"}), "at 'messages.0.content' failed"),
    "a block of two kinds": (body(user({**TEXT, **RESULT})), "at 'messages.0.content.0' failed"),
    "a blank text": (body(user(" ")), "The text field in the ContentBlock object at messages.0.content.0 is blank."),
    "a call without a name": (
        body("Hi", model(altered_call(name=None)), user(RESULT), **TOOLS),
        "Value null at 'messages.1.content.0.toolUse.name' failed",
    ),
    "the id of a call": (
        body("Hi", model(altered_call(toolUseId="a b")), user(RESULT), **TOOLS),
        (
            "Value 'a b' at 'messages.1.content.0.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy "
            "regular expression pattern: [a-zA-Z0-9_.:-]+"
        ),
    ),
    "a long id": (
        body("Hi", model(altered_call(toolUseId="a" * 65)), user(RESULT), **TOOLS),
        "Member must have length less than or equal to 64",
    ),
    "the input of a call": (
        body("Hi", model(altered_call(input="{}")), user(RESULT), **TOOLS),
        "The format of the value at messages.1.content.0.toolUse.input is invalid. Provide a json object",
    ),
    "a result without content": (
        body("Hi", model(CALL), user(altered_result(content=None)), **TOOLS),
        "at 'messages.2.content.0.toolResult.content' failed",
    ),
    "an empty error": (
        body("Hi", model(CALL), user(altered_result(content=[], status="error")), **TOOLS),
        "The content field at messages.2.content.0.toolResult cannot be empty when status value is error.",
    ),
    "a call without a result": (
        body("Hi", model(CALL), "And?", **TOOLS),
        "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1",
    ),
    "a call at the end": (body("Hi", model(CALL), **TOOLS), "Expected toolResult blocks at messages.2.content"),
    "one of two results": (
        body("Hi", model(CALL, altered_call(toolUseId="t2")), user(RESULT), **TOOLS),
        "for the following Ids: t2",
    ),
    "a result without a call": (
        body("Hi", model(TEXT), user(RESULT), **TOOLS),
        "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.",
    ),
    "two calls of an id": (body("Hi", model(CALL, CALL), user(RESULT), **TOOLS), "contain duplicate Ids: tooluse_1"),
    "two results of a call": (body("Hi", model(CALL), user(RESULT, RESULT), **TOOLS), "contain duplicate Ids"),
    "two documents of one name": (
        body("Hi", model(CALL), user({"toolResult": {**RESULT["toolResult"], "content": [PDF]}}, PDF, TEXT), **TOOLS),
        "Messages can't contain duplicate document names.",
    ),
    "a document without a text": (body(user(PDF)), "A text block must be included when using documents."),
    "calls without tools": (body(*LOOP), "The toolConfig field must be defined when using toolUse and toolResult"),
    "no tools": (body(toolConfig={"tools": []}), "Value '[]' at 'toolConfig.tools' failed"),
    "a tool without a name": (
        body(toolConfig={"tools": [{"toolSpec": {}}]}),
        "at 'toolConfig.tools.0.toolSpec.name' failed",
    ),
    "a tool without a schema": (
        body(toolConfig={"tools": [{"toolSpec": {"name": "rain"}}]}),
        "toolConfig.tools.0.toolSpec.inputSchema.json is invalid",
    ),
    "two tools of a name": (
        body(toolConfig={"tools": [TOOL, TOOL]}),
        "The model returned the following errors: tools: Tool names must be unique.",
    ),
    "maxTokens of 0": (
        body(inferenceConfig={"maxTokens": 0}),
        "Value '0' at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member must have value greater than",
    ),
    "no thought in a tool loop": (
        body(*LOOP, **TOOLS, **THINKING),
        (
            "The model returned the following errors: messages.1.content.0.type: Expected `thinking` or "
            "`redacted_thinking`, but found `tool_use`."
        ),
    ),
    "a thought without a signature": (
        body("Hi", model(reasoning()), "And?"),
        "The model returned the following errors: messages.1.content.0.thinking.signature: Field required",
    ),
    "an empty signature": (body("Hi", model(reasoning(signature="")), "And?"), "thinking.signature: Field required"),
    "a signature of others": (
        body("Hi", model(reasoning(signature="c2lnbmVk")), "And?"),
        "The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
}


@pytest.mark.parametrize(("request_", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(request_, message):
    """
    A strict mock refuses what the service refuses, with an error of its shape.
    """
    found = anything(request_)

    assert (400, "ValidationException") == (found.status, kind_of(found))
    assert ["message"] == list(found.document)
    assert message in found.document["message"]


HOSTED = {"toolUse": {"toolUseId": "s1", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}}

ACCEPTED = {
    "a text": body(),
    "unknown keys": body(speed="fast"),
    "a loop": body("Hi", model(CALL), user(RESULT, TEXT), **TOOLS),
    "a message of the system": body("Hi", model(TEXT), "And?", {"role": "system", "content": [TEXT]}),
    "a call of the provider": body(
        "Hi", model(HOSTED, {"toolResult": {"toolUseId": "s1", "content": []}}), "And?", **TOOLS
    ),
    "a tool of the provider": body(toolConfig={"tools": [{"systemTool": {"name": "nova_grounding"}}]}),
    "an empty result": body("Hi", model(CALL), user(altered_result(content=[])), **TOOLS),
    "an image": body(user({"image": {"format": "png", "source": {"bytes": "eA=="}}})),
}


@pytest.mark.parametrize("request_", ACCEPTED.values(), ids=ACCEPTED)
def test_what_is_accepted(request_):
    """
    What the service accepts is answered.
    """
    assert 200 == anything(request_).status


SEALED = {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "EqQB"}}}
PREFILLS = {
    "an old model": ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", {}, [TEXT], ""),
    "another model": ("amazon.nova-pro-v1:0", {}, [TEXT], ""),
    "a new model": (MODEL, {}, [TEXT], "This model does not support assistant message prefill."),
    "while it thinks": (
        "anthropic.claude-haiku-4-5-20251001-v1:0",
        THINKING,
        [TEXT],
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.",
    ),
    "behind a thought": ("anthropic.claude-haiku-4-5-20251001-v1:0", THINKING, [SEALED, TEXT], ""),
}


@pytest.mark.parametrize(("name", "more", "blocks", "message"), PREFILLS.values(), ids=PREFILLS)
def test_a_prefill(name, more, blocks, message):
    """
    Claude from 4.6 on takes no text of the assistant at the end, older models none without a thought while they think.
    """
    fixtures = {"fixtures": [{"match": {}, "answer": {"text": "So"}}], "version": 1}
    path = f"/model/{name.replace(':', '%3A')}/converse"
    found = posted(fixtures, body("Hi", model(*blocks), **more), path=path, sign=False)

    assert (400 if message else 200) == found.status
    assert not message or f"The model returned the following errors: {message}" in found.document["message"]


@pytest.mark.parametrize(
    ("model_name", "status"),
    [("us.openai.gpt-5.6-sol", 400), ("moonshotai.kimi-k2.5", 400), ("us.amazon.nova-pro-v1:0", 200)],
)
def test_images_in_results(model_name, status):
    """
    Models of others than Claude and Nova refuse one there, and take it behind the results (anomalyco/opencode#49443).
    """
    image = {"image": {"format": "png", "source": {"bytes": "iVBORw=="}}}
    inside = body("Hi", model(CALL), user(altered_result(content=[image])), **TOOLS)
    behind = body("Hi", model(CALL), user(RESULT, image), **TOOLS)
    path = f"/model/{model_name.replace(':', '%3A')}/converse"

    assert status == anything(inside, path=path).status
    assert 200 == anything(behind, path=path).status


@pytest.mark.parametrize(("model_name", "status"), [("us.writer.palmyra-x5-v1:0", 400), ("amazon.nova-pro-v1:0", 200)])
def test_the_status_of_a_result(model_name, status):
    """
    Palmyra refuses one (strands-agents/harness-sdk#393).
    """
    failed = body("Hi", model(CALL), user(altered_result(content=[{"text": "no"}], status="error")), **TOOLS)

    assert status == anything(failed, path=f"/model/{model_name.replace(':', '%3A')}/converse").status


@pytest.mark.parametrize(
    ("model_name", "status"),
    [
        ("us.meta.llama4-scout-17b-instruct-v1:0", 400),
        ("us.writer.palmyra-x5-v1:0", 400),
        ("amazon.nova-pro-v1:0", 200),
    ],
)
def test_tools_in_a_stream(model_name, status):
    """
    Llama 4 and Palmyra call tools in documents alone (earendil-works/pi#3739, strands-agents/harness-sdk#393).
    """
    path = f"/model/{model_name.replace(':', '%3A')}/converse"

    assert [status, 200, 200] == [
        anything(body("Hi", **fields), path=path + operation).status
        for operation, fields in (("-stream", TOOLS), ("-stream", {}), ("", TOOLS))
    ]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("model_name", "status"), [("anthropic.claude-sonnet-4-6", 400), ("us.amazon.nova-pro-v1:0", 200)]
)
def test_media_in_s3(model_name, status, inside):
    """
    Nova alone reads them (aws/aws-sdk-js-v3#7732).
    """
    block = {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://bucket/key"}}}}
    turns = [model(CALL), user(altered_result(content=[block]))] if inside else [model(TEXT), user(TEXT, block)]
    answer = anything(body("Hi", *turns, **TOOLS), path=f"/model/{model_name.replace(':', '%3A')}/converse")

    assert status == answer.status
    assert ("source.type: Field required" in answer.body.decode()) is (status == 400)


def paper(name="facts", form="pdf"):
    return {"document": {"format": form, "name": name, "source": {"bytes": "YWJj"}}}


NAMES = {"a_b": 200, "test (1) [x]-y": 200, "report.pdf": 400, "a  b": 400, "a\u3000b": 400, "x" * 201: 400, "": 400}


@pytest.mark.parametrize(("name", "status"), NAMES.items())
def test_names_of_documents(name, status):
    """
    The service refuses other characters, and two blanks (vercel/ai#20366, strands-agents/harness-sdk#3019, measured).
    """
    assert status == anything(body(user(TEXT, paper(name)))).status


@pytest.mark.parametrize(
    "block", [paper(form="octet-stream"), {"image": {"format": "jpg", "source": {"bytes": "eA=="}}}]
)
@pytest.mark.parametrize("inside", [False, True])
def test_formats_of_media(block, inside):
    """
    The service refuses others (NousResearch/hermes-agent#55429, strands-agents/harness-sdk#3019, measured).
    """
    turns = [model(CALL), user(altered_result(content=[block]))] if inside else [model(TEXT), user(TEXT, block)]
    answer = anything(body("Hi", *turns, **TOOLS))

    assert 400 == answer.status
    assert "format' failed to satisfy constraint: Member must satisfy enum value set" in answer.document["message"]


@pytest.mark.parametrize(
    "block",
    [
        {"document": {"name": "facts", "source": {"text": "Rain"}}},
        {"video": {"format": "mpg", "source": {"bytes": "eA=="}}},
        *[{"audio": {"format": form, "source": {"bytes": "eA=="}}} for form in ("m4a", "pcm", "x-aac")],
    ],
)
def test_media_that_are_taken(block):
    """
    A document needs no format, and each one of the model of botocore 1.44.5 is taken.
    """
    assert 200 == anything(body(user(TEXT, block))).status


MIXED = {
    "calls": ([model(TEXT, CALL), user(RESULT)], "messages.1.content: Conversation blocks and tool use blocks cannot"),
    "results": (
        [model(CALL), user(RESULT, TEXT)],
        "messages.2.content: Conversation blocks and tool result blocks cannot",
    ),
    "neither": ([model(CALL), user(RESULT), model(TEXT), user("And?")], ""),
}


@pytest.mark.parametrize(("messages", "message"), MIXED.values(), ids=MIXED)
def test_texts_beside_calls_and_results(messages, message):
    """
    Llama refuses them, others do not (strands-agents/harness-sdk#1223).
    """
    path = "/model/us.meta.llama3-3-70b-instruct-v1%3A0/converse"
    response = anything(body("Hi", *messages, **TOOLS), path=path)

    assert (400 if message else 200) == response.status
    assert message in response.document.get("message", "")
    assert 200 == anything(body("Hi", *messages, **TOOLS)).status


def test_any_json_in_results_for_nova():
    """
    Nova has read a number that Claude's service refuses (0xPlaygrounds/rig, bedrock/agent/tool_roundtrip_smoke).
    """
    request = body("Hi", model(CALL), user(altered_result(content=[{"json": -3}])), **TOOLS)

    assert 400 == anything(request).status
    assert 200 == anything(request, path="/model/us.amazon.nova-lite-v1%3A0/converse").status


def anything(request_, **options):
    return posted({"fixtures": [{"match": {}, "answer": {"text": "Hi"}}], "version": 1}, request_, **options)


SECOND = {"toolUse": {**CALL["toolUse"], "toolUseId": "tooluse_2"}}
AGAIN = model(SECOND), user({"toolResult": {**RESULT["toolResult"], "toolUseId": "tooluse_2"}})
SEALED = reasoning(signature="EqQB")
LOOPS = {
    "a thought at its start": (200, [model(SEALED, CALL), user(RESULT), *AGAIN]),
    "a thought behind its start": (200, [model(CALL), user(RESULT), model(SEALED, SECOND), AGAIN[1]]),
    "a thought before another prompt": (400, [model(SEALED, CALL), user(RESULT, TEXT), *AGAIN]),
    "a thought of the turn before": (400, [model(SEALED, TEXT), "And?", *AGAIN]),
}


@pytest.mark.parametrize(("status", "messages"), LOOPS.values(), ids=LOOPS)
def test_a_tool_loop_has_one_thought(status, messages):
    """
    While thinking is on, a model that does not think between calls thinks once, and its later answers have calls alone.
    """
    fixtures = {"fixtures": [{"match": {}, "answer": {"text": "Hi"}}], "version": 1}

    assert status == posted(fixtures, body("Hi", *messages, **TOOLS, **THINKING), sign=False).status


def kind_of(found):
    """Return the exception of an error, as clients of AWS read it."""
    return found.headers["x-amzn-errortype"].partition(":")[0]


def test_keys():
    """
    A signature or a key is required, any of them; a lenient mock needs none. The log shows neither.
    """
    found = posted({"Hello": "Hi"}, body(), {"authorization": None})
    signed = {"authorization": "AWS4-HMAC-SHA256 Credential=my-secret", "x-amz-security-token": "my-secret"}
    provider = provider_of({"Hello": "Hi"})

    assert (403, "AccessDeniedException") == (found.status, kind_of(found))
    assert 200 == posted({"Hello": "Hi"}, body(), {"authorization": None}, strict=False).status
    assert 200 == asked(provider, "POST", UNARY, body(), {**HEADERS, **signed}).status
    assert "my-secret" not in str(provider.requests)


def test_no_such_route():
    """
    Other paths and methods are errors of the provider's shape.
    """
    provider = provider_of({})
    paths = asked(provider, "POST", "/model/m/invoke", {}, HEADERS), asked(provider, "GET", UNARY, None, HEADERS)

    assert [(404, "ResourceNotFoundException"), (405, "ValidationException")] == [
        (each.status, kind_of(each)) for each in paths
    ]


EXCEPTIONS = {
    "a throttled request": ({"status": 429}, 429, "ThrottlingException"),
    "an overloaded service": ({"status": 503}, 503, "ServiceUnavailableException"),
    "a service that failed": ({"status": 502}, 502, "InternalServerException"),
    "a code": ({"status": 429, "code": "modelNotReadyException"}, 429, "ModelNotReadyException"),
}


@pytest.mark.parametrize(("error", "status", "kind"), EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_http_errors(error, status, kind):
    """
    An HTTP error has the exception of its status, unless the fixture names another.
    """
    found = posted({"Hello": {"http_error": {**error, "message": "no"}}}, body())

    assert (status, kind, {"message": "no"}) == (found.status, kind_of(found), found.document)


STREAM_ERRORS = {
    "an exception": ("throttlingException", {"throttlingException": {"message": "no"}}, 429, "ThrottlingException"),
    "of another spelling": (
        "ModelStreamErrorException",
        {"modelStreamErrorException": {"message": "no"}},
        424,
        "ModelStreamErrorException",
    ),
    "of any code": ("internal", {"internalServerException": {"message": "no"}}, 500, "InternalServerException"),
    "an error of the stream": ("Broken", {"error": {"code": "Broken", "message": "no"}}, 500, "Broken"),
}


@pytest.mark.parametrize(("code", "event", "status", "kind"), STREAM_ERRORS.values(), ids=STREAM_ERRORS)
def test_errors_of_streams(code, event, status, kind):
    """
    An error is a frame of its own kind in a stream, and an HTTP error of a unary answer.
    """
    fixtures = {"Hello": {"text": "Hi", "stream_error": {"code": code, "message": "no", "after": 2}}}
    events, _ = streamed(fixtures)
    found = posted(fixtures, body())

    assert [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": TEXT}}, event] == events[1:]
    assert (status, kind) == (found.status, kind_of(found))


# -- signatures


def resent(change, *blocks, **options):
    """Return the status of a request that sends an answer back with a change of its blocks."""

    async def main():
        provider = provider_of({"Hello": {"content": list(blocks)}, "Again": "Hi"}, **options)
        first = (await ask(provider, "POST", UNARY, body(), HEADERS)).document
        turn = model(*change(first["output"]["message"]["content"]))
        return (await ask(provider, "POST", UNARY, body("Hello", turn, "Again"), HEADERS)).status

    return asyncio.run(main())


ANSWER = (reasoning(), TEXT, redacted(), reasoning("More"))


def signature(blocks, place):
    return blocks[place]["reasoningContent"]["reasoningText"]["signature"]


def altered(place, block):
    return lambda blocks: [block(blocks) if at == place else each for at, each in enumerate(blocks)]


CHANGES = {
    "as it was": (lambda blocks: blocks, 200),
    "without the first": (lambda blocks: blocks[1:], 200),
    "another text": (altered(1, lambda _: {"text": "Ho"}), 200),
    "another thought": (altered(0, lambda blocks: reasoning("Plan", signature=signature(blocks, 0))), 400),
    "another signature": (altered(0, lambda blocks: reasoning(signature=signature(blocks, 3))), 400),
    "no signature": (altered(0, lambda _: reasoning()), 400),
    "other data": (altered(2, lambda _: redacted("eHk=")), 400),
    "another order": (lambda blocks: [blocks[3], blocks[1], blocks[2], blocks[0]], 400),
    "twice": (lambda blocks: [blocks[0], *blocks], 400),
}


@pytest.mark.parametrize(("change", "status"), CHANGES.values(), ids=CHANGES)
def test_signatures(change, status):
    """
    Reasoning is taken back as it was and in its order only; texts are not signed.
    """
    assert status == resent(change, *ANSWER)


def test_signatures_of_a_fixture():
    """
    A signature of a fixture is sent as it is, and belongs to its reasoning.
    """
    given = reasoning(signature="Z2l2ZW4=")

    assert 200 == resent(lambda blocks: blocks, given)
    assert 400 == resent(altered(0, lambda _: reasoning("Plan", signature="Z2l2ZW4=")), given)


def test_without_signatures():
    """
    A mock that does not sign checks none, as models do that do not sign their reasoning.
    """
    assert 200 == resent(lambda blocks: blocks, reasoning(), sign=False)
    assert [reasoning()] == posted({"Hello": {"thought": "Plan it"}}, body(), sign=False).document["output"]["message"][
        "content"
    ]


# -- fixtures


def test_facts_of_a_request():
    """
    The results of a message precede its text, system texts are joined, and tools of the provider are not functions.
    """
    facts = read_request(
        {
            "modelId": MODEL,
            **body("Hello", model(CALL), user("And?", RESULT)),
            "system": [{"text": "Be "}, {"text": "brief."}],
            "toolConfig": {"tools": [TOOL, {"systemTool": {"name": "nova_grounding"}}]},
        }
    )

    assert (MODEL, "Be brief.", {"rain"}) == (facts.model, facts.system, facts.tools)
    assert ("And?", ("tooluse_1",), None, 2) == (facts.user_text, facts.call_ids, facts.result_text, facts.turn)


def test_a_point_of_the_cache_behind_results():
    """
    It is not a prompt: a fixture of the result was not found, and the agents of LangChain called their tools for ever.
    """
    point = {"cachePoint": {"type": "default"}}
    facts = read_request(body("Hello", model(CALL, point), user(RESULT, point)))

    assert (True, 1, "sunny") == (facts.has_result, facts.turn, facts.result_text)


def test_fixtures_of_aimock():
    """
    The reasoning is first, then the text and the calls; words for the end are translated. Ids are not read.
    """
    answer = one(
        {
            "content": "Hi",
            "toolCalls": [{"name": "rain", "id": "tooluse_1", "arguments": '{"city":"Oslo"}'}],
            "reasoning": "Hm",
            "finishReason": "length",
            "usage": {"prompt_tokens": 3, "completion_tokens": 4},
            "id": "msg_9",
        }
    )

    assert (
        Answer(
            content=(reasoning("Hm"), TEXT, CALL),
            stop_reason="max_tokens",
            usage={"inputTokens": 3, "outputTokens": 4, "totalTokens": 7},
        )
        == answer
    )


def test_an_error_of_aimock():
    """
    An error has the type and the message of the file.
    """
    error = {"error": {"message": "no", "type": "ThrottlingException"}, "status": 429}
    found = posted({"fixtures": [{"match": {}, "response": error}]}, body())

    assert (429, "ThrottlingException", {"message": "no"}) == (found.status, kind_of(found), found.document)


# -- through our client


def followed(answer, *faults):
    """Return the message that our client makes of an answer, and the number of requests."""
    return asgi.followed("bedrock-converse", answer, {"modelId": MODEL, **body(), "stream": True}, *faults)


def test_no_usage():
    """
    The usage may be missing.
    """
    assert followed({"text": "Hi"})[0].usage is not None
    assert followed({"text": "Hi"}, "no-usage")[0].usage is None


def test_signed_reasoning_through_the_client():
    """
    What the client of this library receives has its signature.
    """
    message, _ = followed({"thought": "Plan it", "text": "Hi"})

    assert ("Plan it", "Hi", True) == (message.reasoning, message.text, "signature" in message.parts[0].state)


@pytest.mark.parametrize("signature_", [None, "c2lnbmVk"], ids=["as it was", "another signature"])
def test_a_tool_loop_of_the_client(signature_):
    """
    The client sends reasoning back as it came, before the result of the call; a changed signature is refused.
    """
    answers = {"Rain?": [{"thought": "A tool knows.", "calls": [{"name": "rain"}]}, "It is sunny."]}

    async def work():
        session = await Session.open(MemoryStore(), "s1")
        await session.prompt("Rain?")
        async with (
            mock_provider(answers, dialect="bedrock-converse") as provider,
            httpx2.AsyncClient(transport=provider.transport()) as http,
            BedrockConverse("key-of-a-test", http=http, base_url="http://mock") as client,
        ):
            async with session.respond(client, {"modelId": MODEL, **TOOLS}) as events:
                _ = [event async for event in events]
            await session.append(*[call.succeed("sunny") for call in session.transcript.pending_tool_calls])
            request = dialect.encoder(session.transcript, {"modelId": MODEL, **TOOLS}).body
            if signature_ is not None:
                request["messages"][1]["content"][0]["reasoningContent"]["reasoningText"]["signature"] = signature_
            return fold([event async for event in client.create(request, "a2")]).last

    last = asyncio.run(work())

    if signature_ is None:
        assert ("It is sunny.", None) == (last.text, last.error)
    else:
        assert ("invalid-request", "validationException", 400) == (last.error.kind, last.error.code, last.error.status)


# -- recordings


@pytest.mark.parametrize("path", [UNARY, STREAM], ids=["unary", "stream"])
def test_a_recording_gives_the_same(tmp_path, path):
    """
    What was recorded is given again, for the model of its path: blocks, signature, usage and stop reason; an error with
    its exception.
    """
    file = tmp_path / "recorded.json"
    script = {
        "Hello": {"thought": "Hm", "text": "Hi é", "calls": [{"id": "tooluse_1", "name": "rain"}]},
        "Bad": {"http_error": {"status": 429, "code": "modelNotReadyException", "message": "later"}},
    }
    requests = [(path, body(text)) for text in script]
    recorded, replayed = asyncio.run(recorded_and_replayed(mock, provider_of, script, file, requests, HEADERS))
    written = file.read_text("utf-8")

    assert message_of(mock.name, recorded[0]) == message_of(mock.name, replayed[0])
    assert [(429, "ModelNotReadyException")] * 2 == [
        (each[1].status, kind_of(each[1])) for each in (recorded, replayed)
    ]
    assert recorded[1].document == replayed[1].document
    assert "my-secret" not in written
    assert [MODEL, MODEL] == [fixture["match"]["model"] for fixture in json.loads(written)["fixtures"]]


def test_a_recorded_exception(tmp_path):
    """
    An exception inside of a stream is recorded with what came before it.
    """
    script = {"Hello": {"text": "Hi", "stream_error": {"code": "throttlingException", "message": "no", "after": 2}}}
    file = tmp_path / "recorded.json"
    requests = [(STREAM, body())]
    [before], [after] = asyncio.run(recorded_and_replayed(mock, provider_of, script, file, requests, HEADERS))

    first, again = [message_of(mock.name, each) for each in (before, after)]

    assert ("Hi", first.error) == (again.text, again.error)
    assert ErrorKind.RATE_LIMIT == again.error.kind
