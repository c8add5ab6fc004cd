"""
The mock of the Messages API: its answers, what it refuses, its fixtures, faults and recordings.

Expected values come from Claude's documentation and the reports that `validation` names; those of aimock's fixtures
from the Claude handler of `@copilotkit/aimock` 1.43.0.
"""

import asyncio
import base64
import json

import pytest

from assistant_events import fold
from assistant_events.adapters import AwsEventStream, Sse
from assistant_events.adapters.anthropic_messages import dialect
from assistant_events.adapters.anthropic_messages.mock import Answer, MockProvider, mock, read_request
from assistant_events.adapters.errors import exception_name
from assistant_events.mock.fixture_files import load_fixtures

from .asgi import JumpClock, ask, asked, message_of, recorded_and_replayed

PATH = "/v1/messages"
MODEL = "claude-opus-5-5"
HEADERS = {"x-goog-api-key": None, "x-api-key": "secret", "anthropic-version": "2023-06-01"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "rain", "input": {"city": "Oslo"}}
FOUND = {"type": "tool_reference", "tool_name": "snow"}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}
TEXT = {"type": "text", "text": "Hi"}
SYSTEM = {"role": "system", "content": "Be brief."}
TOOLS = [{"name": "rain", "input_schema": {"type": "object"}}]


def provider_of(fixtures, **options):
    return MockProvider(fixtures, **{"clock": JumpClock(), "make_id": lambda: "msg_1", **options})


def body(*messages, **more):
    sent = [{"role": "user", "content": one} if isinstance(one, str) else one for one in messages or ["Hello"]]
    return {"model": MODEL, "max_tokens": 2048, "messages": sent, **more}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def model(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def image(kind):
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": "iVBORw=="}}


def posted(fixtures, request, headers=(), **options):
    return asked(provider_of(fixtures, **options), "POST", PATH, request, {**HEADERS, **dict(headers)})


def loaded(*entries):
    return load_fixtures(mock.form, {"fixtures": list(entries)})


def one(response, **more):
    ((answer,),) = [fixture.answers for fixture in loaded({"match": {}, "response": response, **more})]
    return answer


# -- answers


def test_a_document():
    """
    Without `stream` the answer is a message, with the usage of its texts: one token for four characters.
    """
    found = posted({"Hello": {"text": "Hi there"}}, body())

    assert (200, "application/json") == (found.status, found.headers["content-type"])
    assert {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": "Hi there"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 2,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 2,
        },
    } == found.document


def test_the_usage_of_calls():
    """
    The inputs of calls count as written, and results as read.
    """
    call = {"id": "toolu_1", "name": "rain", "input": {"city": "Oslo"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}
    fixtures = {"Hello": {"calls": [{"id": "toolu_1", "name": "rain", "arguments": {"city": "Oslo"}}]}, "": "Fine"}
    found = posted(fixtures, body())
    after = posted(fixtures, body("Hello", model({"type": "tool_use", **call}), user(result)))

    assert "tool_use" == found.document["stop_reason"]
    assert 4 == found.document["usage"]["output_tokens"]  # {"city":"Oslo"}
    assert 3 == after.document["usage"]["input_tokens"]  # Hellosunny


def test_a_stream():
    """
    A stream has one frame for each event, named by its type.
    """
    found = posted({"Hello": {"text": "Hi", "usage": {"output_tokens": 7}}}, body(stream=True))
    frames = [frame.split("\n") for frame in found.body.decode().split("\n\n") if frame]

    assert "text/event-stream" == found.headers["content-type"]
    assert [[f"event: {event['type']}"] for event in found.events] == [frame[:1] for frame in frames]
    assert {"output_tokens": 1} == found.events[0]["message"]["usage"]
    assert {"output_tokens": 7} == found.events[-2]["usage"]
    assert "message_stop" == found.events[-1]["type"]


CONTAINER = {"id": "c1", "expires_at": "x"}

FIELDS = {
    "stop reason": ({"stop_reason": "max_tokens"}, "stop_reason", "max_tokens"),
    "stop sequence": ({"stop_reason": "stop_sequence", "more": {"stop_sequence": "END"}}, "stop_sequence", "END"),
    "model": ({"more": {"model": "claude-other"}}, "model", "claude-other"),
    "container": (
        {"more": {"container": {"id": "c1", "expires_at": "x"}}},
        "container",
        {"id": "c1", "expires_at": "x"},
    ),
    "id": ({"id": "msg_mine"}, "id", "msg_mine"),
}


@pytest.mark.parametrize(("answer", "field", "expected"), FIELDS.values(), ids=FIELDS)
def test_fields_of_a_message(answer, field, expected):
    """
    Fields of a fixture are in the document, and in the events that the wire has for them.
    """
    fixtures = {"Hello": {"content": [TEXT], **answer}}
    events = posted(fixtures, body(stream=True)).events
    found = {**events[0]["message"], **events[-2]["delta"]}

    assert expected == posted(fixtures, body()).document[field]
    assert expected == found[field]


def test_a_thread():
    """
    A thread is held by the server: the request that continues it has the new messages alone, and continues once.

    The types of anthropic 2.14 and the requests of `toolRunner` of `@anthropic-ai/sdk` 1.14, which has threads on.
    """
    fixtures = {
        "version": 1,
        "fixtures": [
            {"match": {"call_id": "toolu_1", "tool": "rain", "turn": 1}, "answer": {"text": "Fine."}},
            {"match": {"user_text": "And?", "turn": 2}, "answer": {"text": "Rain."}},
            {"match": {}, "answer": {"calls": [{"id": "toolu_1", "name": "rain", "arguments": {"city": "Oslo"}}]}},
        ],
    }
    numbers = iter(range(1, 9))
    provider = provider_of(fixtures, make_id=lambda: f"msg_{next(numbers)}")

    def continued(previous, *messages):
        thread = {"type": "continue", "previous_message_id": previous}
        request = {"model": MODEL, "max_tokens": 99, "messages": list(messages), "thread": thread}
        return asked(provider, "POST", PATH, request, HEADERS)

    first = asked(provider, "POST", PATH, body(tools=TOOLS, thread={"type": "create"}), HEADERS).document
    second = continued(first["id"], user(RESULT)).document
    third = continued(second["id"], user({"type": "text", "text": "And?"})).document
    again, unknown = continued(first["id"], user(RESULT)), continued("msg_99", user(RESULT))

    assert ["Fine.", "Rain."] == [each["content"][0]["text"] for each in (second, third)]
    assert (400, "thread_already_continued") == (again.status, again.document["error"]["details"]["error_code"])
    assert (404, "thread_not_found") == (unknown.status, unknown.document["error"]["details"]["error_code"])


def test_a_call_without_an_id():
    """
    Each run makes ids of its own for calls, so that a conversation may have several.
    """
    answer = {"calls": [{"name": "rain"}, {"name": "sun"}]}
    provider = provider_of({"Hello": answer})

    async def main():
        return [(await ask(provider, "POST", PATH, body(), HEADERS)).document for _ in range(2)]

    ids = [block["id"] for message in asyncio.run(main()) for block in message["content"]]

    assert 4 == len(set(ids))
    assert all(each.startswith("toolu_") for each in ids)


# -- requests


THINKING = {"type": "enabled", "budget_tokens": 1024}
TURN = model({"type": "thinking", "thinking": "Hm", "signature": "s"}, CALL)
ASKED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
HELD = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}

REFUSED = {
    "no model": ({**body(), "model": None}, "model: Field required"),
    "no max_tokens": ({**body(), "max_tokens": None}, "max_tokens: Field required"),
    "max_tokens of a wrong type": (body(max_tokens="9"), "max_tokens: Input should be a valid integer"),
    "max_tokens of 0": (body(max_tokens=0), "max_tokens: Input should be greater than or equal to 1"),
    "stream of a wrong type": (body(stream="yes"), "stream: Input should be a valid boolean"),
    "a first block that is not an object": (body(model("Hi")), 'messages: first message must use the "user" role'),
    "no messages": ({"model": "m", "max_tokens": 1}, "messages: Field required"),
    "empty messages": ({**body(), "messages": []}, "messages: at least one message is required"),
    "messages of a wrong type": ({**body(), "messages": "Hi"}, "messages: Input should be a valid list"),
    "message of a wrong type": (body("Hi", 7), "messages.1: Input should be an object, got a number"),
    "unknown role": (body({"role": "tool", "content": "x"}), "messages.0.role: Input should be"),
    "the model first": (body(model(TEXT)), 'first message must use the "user" role'),
    "no content": (body({"role": "user"}), "messages.0.content: expected a text or at least one block"),
    "a block without a type": (body(user({"text": "Hi"})), "messages.0.content.0.type: Field required"),
    "an empty text": (body(user({"type": "text", "text": ""})), "text content blocks must be non-empty"),
    "a text of spaces": (body(user({"type": "text", "text": " "})), "must contain non-whitespace text"),
    "an answer of spaces": (
        body("Hi", model({"type": "text", "text": "\n\n"}, {"type": "text", "text": " "}), "And?"),
        "messages: text content blocks must contain non-whitespace text",
    ),
    "an empty compaction": (
        body("Hi", model({"type": "compaction", "content": ""}, TEXT), "And?"),
        "messages.1.content.0.compaction.content: String should have at least 1 character",
    ),
    "a failed compaction first": (
        body(model({"type": "compaction", "content": None}, TEXT), "And?"),
        'first message must use the "user" role',
    ),
    "an empty text in a result": (
        body("Hi", model(CALL), user({**RESULT, "content": [{"type": "text", "text": ""}]})),
        "messages: text content blocks must be non-empty",
    ),
    "an error without content": (
        body("Hi", model(CALL), user({**RESULT, "content": "", "is_error": True})),
        "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true",
    ),
    "an error with an image": (
        body("Hi", model(CALL), user({**RESULT, "content": [image("image/png")], "is_error": True})),
        "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true",
    ),
    "a call without a name": (
        body("Hi", model({**CALL, "name": None}), user(RESULT)),
        "messages.1.content.0.tool_use.name: Field required",
    ),
    "the id of a call": (
        body("Hi", model({**CALL, "id": "a.b"}), user(RESULT)),
        "String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    "an id that is a number": (
        body("Hi", model({**CALL, "id": 1}), user(RESULT)),
        "messages.1.content.0.tool_use.id: Input should be a valid string",
    ),
    "the input of a call": (
        body("Hi", model({**CALL, "input": "{}"}), user(RESULT)),
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    "a result of the model": (body("Hi", model(RESULT)), "`tool_result` blocks cannot be in `assistant` messages"),
    "a call of the user": (body(user(CALL)), "`tool_use` blocks cannot be in `user` messages"),
    "a call without a result": (
        body("Hi", model(CALL), "And?"),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    "a call at the end": (body("Hi", model(CALL)), "messages.1: `tool_use` ids were found without"),
    "a result behind a text": (body("Hi", model(CALL), user(TEXT, RESULT)), "messages.1: `tool_use` ids were found"),
    "a text behind a call": (
        body("Hi", model(CALL, TEXT), user(RESULT)),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    "a search without its result": (
        body("Hi", model(ASKED, TEXT), "And?"),
        "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding",
    ),
    "a search whose result is before it": (
        body("Hi", model(HELD, ASKED), "And?"),
        "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1.",
    ),
    "a call in an answer of its own behind a call": (
        body("Hi", model(CALL), model({**CALL, "id": "toolu_2"}), user({**RESULT, "tool_use_id": "toolu_2"})),
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    "a text in an answer of its own behind a call": (
        body("Hi", model(CALL), model(TEXT), user(RESULT)),
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    "a message of the system between": (
        body("Hi", model(CALL), SYSTEM, user(RESULT)),
        "messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool",
    ),
    "messages of the system behind an answer": (
        body("Hi", model(TEXT), SYSTEM, SYSTEM),
        "messages.2: role 'system' must follow a 'user' message",
    ),
    "messages of the system between prompts": (
        body("Hi", SYSTEM, SYSTEM, "And?"),
        "messages.2: role 'system' must precede an 'assistant' message or end the array",
    ),
    "a message of the system first": (
        body(SYSTEM, "Hi"),
        "messages.0: use the top-level 'system' parameter for the initial system prompt",
    ),
    "an image of another type": (
        body(user(image("image/jpg"))),
        "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' ",
    ),
    "an image of another type in a result": (
        body("Hi", model(CALL), user({**RESULT, "content": [TEXT, image("image/svg+xml")]})),
        "messages.2.content.0.tool_result.content.1.image.source.base64.media_type: Input should be 'image/jpeg', ",
    ),
    "a document of the system": (
        body("Hi", {"role": "system", "content": [{"type": "document"}]}),
        "messages.1: role 'system' supports text, tool_addition, and tool_removal blocks only",
    ),
    "one of two results": (
        body("Hi", model(CALL, {**CALL, "id": "toolu_2"}), user(RESULT)),
        "immediately after: toolu_2.",
    ),
    "a result without a call": (
        body("Hi", model(TEXT), user(RESULT)),
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
    ),
    "two results of a call": (
        body("Hi", model(CALL), user(RESULT, RESULT)),
        "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: ",
    ),
    "a second result behind a text": (
        body("Hi", model(CALL), user(RESULT, TEXT, RESULT)),
        "messages.2.content.2: each tool_use must have a single result.",
    ),
    "the same id again": (
        body("Hi", model(CALL), user(RESULT), model(CALL), user(RESULT)),
        "messages.3: `tool_use` ids must be unique",
    ),
    "tools of a wrong type": (body(tools={"name": "rain"}), "tools: Input should be a valid list"),
    "a tool of a wrong type": (body(tools=["rain"]), "tools.0: Input should be an object, got a string"),
    "a tool of a wrong name": (
        body(tools=[{**TOOLS[0], "name": "weather.rain"}]),
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    "a tool whose name is no text": (
        body(tools=[{**TOOLS[0], "name": 7}]),
        "tools.0.custom.name: Input should be a valid string",
    ),
    "an empty text of the system": (
        body(system=[{"type": "text", "text": "Be brief."}, {"type": "text", "text": ""}]),
        "system: text content blocks must be non-empty",
    ),
    "a blank text of the system": (
        body(system=[{"type": "text", "text": " "}]),
        "system: text content blocks must contain non-whitespace text",
    ),
    "a text that is none": (
        body(user({"type": "text", "text": 7})),
        "messages.0.content.0.text.text: Input should be a valid string",
    ),
    "an image without a source": (
        body(user({"type": "image"})),
        "messages.0.content.0.image.source: Field required",
    ),
    "a tool without a schema": (body(tools=[{"name": "rain"}]), "tools.0.input_schema: Field required"),
    "a tool of OpenAI": (
        body(tools=[{"type": "function", "name": "rain", "parameters": {}}]),
        "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: 'custom'",
    ),
    "two tools of a name": (body(tools=[*TOOLS, *TOOLS]), "tools: Tool names must be unique."),
    "a tool that a search of the provider has found": (
        body(
            "Hi",
            model(
                {"type": "tool_search_tool_result", "tool_use_id": "s1", "content": {"tool_references": [FOUND]}}, TEXT
            ),
            "And?",
            tools=TOOLS,
        ),
        "Tool reference 'snow' not found in available tools",
    ),
    "a tool that a search of the app has found": (
        body("Hi", model(CALL), user({**RESULT, "content": [FOUND]}), tools=TOOLS),
        "Tool reference 'snow' not found in available tools",
    ),
    "a choice without tools": (body(tool_choice={"type": "any"}), "tool_choice: may only be specified while providing"),
    "a small budget": (
        body(thinking={**THINKING, "budget_tokens": 9}),
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    "a large budget": (
        body(thinking={**THINKING, "budget_tokens": 2048}),
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    "a forced call while thinking": (
        body(thinking=THINKING, tools=TOOLS, tool_choice={"type": "any"}),
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    "no thought in a tool loop": (
        body("Hi", model(CALL), user(RESULT), thinking=THINKING),
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
    ),
    "a thought without a signature": (
        body("Hi", model({"type": "thinking", "thinking": "Hm"}), "And?"),
        "messages.1.content.0.thinking.signature: Field required",
    ),
    "an empty signature": (
        body("Hi", model({"type": "thinking", "thinking": "Hm", "signature": ""}, TEXT), "And?"),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "a thought at the end": (
        body("Hi", model(TEXT, {"type": "thinking", "thinking": "Hm", "signature": "EqQB"}), "And?"),
        "messages.1: The final block in an assistant message cannot be `thinking`.",
    ),
    "a name with a dot": (
        body("Hi", model({**CALL, "name": "functions.f"}), user(RESULT)),
        "messages.1.content.0.tool_use.name: String should match pattern",
    ),
    "a signature of others": (body("Hi", TURN, user(RESULT)), "cannot be modified"),
}


@pytest.mark.parametrize(("request_", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(request_, message):
    """
    A strict mock refuses what the service refuses, with an error of its shape.
    """
    found = anything(request_)

    assert (400, "error", "invalid_request_error") == (
        found.status,
        found.document["type"],
        found.document["error"]["type"],
    )
    assert message in found.document["error"]["message"]
    assert found.document["request_id"] == found.headers["request-id"]


ACCEPTED = {
    "a text": body(),
    "images": body(user(image("image/webp"), {"type": "image", "source": {"type": "url", "url": "https://a/b.svg"}})),
    "unknown keys": body(speed="fast"),
    "a loop": body("Hi", model(CALL), user(RESULT, TEXT)),
    "two messages of the model": body("Hi", model(TEXT), model(CALL), user(RESULT)),
    "messages of the system": body("Hi", SYSTEM, SYSTEM, model(TEXT), "And?", SYSTEM),
    "a message of the system behind a search": body("Hi", model(ASKED, HELD), SYSTEM, model(TEXT), "And?"),
    "a text of line ends by the model": body("Hi", model({"type": "text", "text": "\n\n"}, TEXT), "And?"),
    "a compaction first": body(model({"type": "compaction", "content": "So far."}, TEXT), "And?"),
    "a result without content": body("Hi", model(CALL), user({"type": "tool_result", "tool_use_id": CALL["id"]})),
    "a search": body("Hi", model(ASKED, HELD, TEXT), "And?"),
    "a search that was paused": body("Hi", model(ASKED)),
    "a search beside a call": body("Hi", model(ASKED, CALL), user(RESULT)),
    "a result in the next answer": body("Hi", model(ASKED, CALL), user(RESULT), model(HELD, TEXT), "And?"),
    "a tool of the provider": body(tools=[{"type": "web_search_20250305", "name": "web_search"}]),
}


@pytest.mark.parametrize("request_", ACCEPTED.values(), ids=ACCEPTED)
def test_what_is_accepted(request_):
    """
    What the service accepts is answered.
    """
    assert 200 == anything(request_).status


@pytest.mark.parametrize(("count", "last"), [(6, "error"), (7, "message_stop")])
def test_a_fault_behind_the_last_event(count, last):
    """
    A fault behind as many events as there are takes place, one behind more does not.
    """
    found = posted({"Hello": "Hi"}, body(stream=True), faults=[f"error@{count}"])

    assert last == found.events[-1]["type"]


INTERLEAVED = "interleaved-thinking-2025-05-14"
BUDGETS = {
    "in a header": ({"anthropic-beta": f"files-api-2025-04-14,{INTERLEAVED}"}, {"tools": TOOLS}, 200),
    "in the body, as at Bedrock": ({}, {"tools": TOOLS, "anthropic_beta": [INTERLEAVED]}, 200),
    "without tools": ({"anthropic-beta": INTERLEAVED}, {}, 400),
    "another beta": ({"anthropic-beta": "files-api-2025-04-14"}, {"tools": TOOLS}, 400),
}


@pytest.mark.parametrize(("headers", "more", "status"), BUDGETS.values(), ids=BUDGETS)
def test_a_budget_of_several_thoughts(headers, more, status):
    """
    With thoughts between calls the budget may be larger than one answer, as Qwen Code sends it.
    """
    request = body(thinking={**THINKING, "budget_tokens": 32000}, **more)

    assert status == posted({"Hello": "Hi"}, request, headers).status


def anything(request_):
    return posted({"fixtures": [{"match": {}, "answer": {"text": "Hi"}}], "version": 1}, request_)


AGAIN = model({**CALL, "id": "toolu_2"}), user({**RESULT, "tool_use_id": "toolu_2"})
SEALED = {"type": "thinking", "thinking": "Hm", "signature": "EqQB"}
LOOPS = {
    "a thought at its start": (200, [model(SEALED, CALL), user(RESULT), *AGAIN]),
    "a thought behind its start": (200, [model(CALL), user(RESULT), model(SEALED, AGAIN[0]["content"][0]), AGAIN[1]]),
    "a thought before another prompt": (400, [model(SEALED, CALL), user(RESULT, TEXT), *AGAIN]),
    "a thought of the turn before": (400, [model(SEALED, TEXT), "And?", *AGAIN]),
}


@pytest.mark.parametrize(("status", "messages"), LOOPS.values(), ids=LOOPS)
def test_a_tool_loop_has_one_thought(status, messages):
    """
    While thinking is on, a model that does not think between calls thinks once, and its later answers have calls alone.
    """
    fixtures = {"fixtures": [{"match": {}, "answer": {"text": "Hi"}}], "version": 1}

    assert status == posted(fixtures, body("Hi", *messages, thinking=THINKING), sign=False).status


NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
NO_THOUGHT = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`."
OLD_AND_NEW = {
    "claude-3-5-sonnet-latest": None,
    "claude-opus-4-20250514": None,
    "claude-opus-4-1-20250805": None,
    "claude-haiku-4-5@20251001": None,
    "claude-opus-4-6": NO_PREFILL,
    "claude-sonnet-4-6-20260217": NO_PREFILL,
    "claude-sonnet-5": NO_PREFILL,
    "claude-fable-5-1": NO_PREFILL,
    "deepseek-v4": None,
}
PREFILLS = {
    **{name: (name, {}, [TEXT], message) for name, message in OLD_AND_NEW.items()},
    "while thinking": ("claude-sonnet-4-5", {"thinking": THINKING}, [TEXT], NO_THOUGHT),
    "behind a thought": ("claude-sonnet-4-5", {"thinking": THINKING}, [SEALED, TEXT], None),
    "that was paused": (MODEL, {}, [TEXT, ASKED], None),
    "with a blank at its end": (
        "claude-haiku-4-5",
        {},
        [TEXT, {"type": "text", "text": "So\n"}],
        "messages: final assistant content cannot end with trailing whitespace",
    ),
    "with a blank before its end": ("claude-haiku-4-5", {}, [{"type": "text", "text": "So "}, TEXT], None),
}


@pytest.mark.parametrize(("name", "more", "blocks", "message"), PREFILLS.values(), ids=PREFILLS)
def test_a_prefill(name, more, blocks, message):
    """
    Models from 4.6 on take no text of the assistant at the end, and older ones none without a thought while they think.

    (Reports: ericc-ch/copilot-api#261, router-for-me/CLIProxyAPI#5321, Aider-AI/aider#3820.)
    """
    request = {**body("Hi", model(*blocks), **more), "model": name}
    found = posted({"fixtures": [{"match": {}, "answer": {"text": "So"}}], "version": 1}, request, sign=False)

    assert (200 if message is None else 400) == found.status
    assert (message or "") in found.document.get("error", {"message": ""})["message"]


HEADERS_REFUSED = {
    "no key": ({"x-api-key": None}, 401, "authentication_error"),
    "no version": ({"anthropic-version": None}, 400, "invalid_request_error"),
}


@pytest.mark.parametrize(("headers", "status", "kind"), HEADERS_REFUSED.values(), ids=HEADERS_REFUSED)
def test_headers(headers, status, kind):
    """
    A key, any key, and the version of the API are required; a lenient mock needs neither.
    """
    found = posted({"Hello": "Hi"}, body(), headers)

    assert (status, kind) == (found.status, found.document["error"]["type"])
    assert 200 == posted({"Hello": "Hi"}, body(), headers, strict=False).status


def test_no_such_route():
    """
    Other paths and methods are errors of the provider's shape.
    """
    provider = provider_of({})
    paths = asked(provider, "POST", "/v1/complete", {}, HEADERS), asked(provider, "GET", PATH, None, HEADERS)

    assert [(404, "not_found_error"), (405, "invalid_request_error")] == [
        (each.status, each.document["error"]["type"]) for each in paths
    ]


# -- signatures


def thought(text="Plan it", **more):
    return {"type": "thinking", "thinking": text, **more}


def resent(change, *blocks, **options):
    """Return the status of a request that sends an answer back with a change of its blocks."""

    async def main():
        provider = provider_of({"Hello": {"content": list(blocks)}, "Again": "Hi"}, **options)
        first = (await ask(provider, "POST", PATH, body(), HEADERS)).document
        turn = model(*change(first["content"]))
        return (await ask(provider, "POST", PATH, body("Hello", turn, "Again"), HEADERS)).status

    return asyncio.run(main())


ANSWER = (thought(), TEXT, {"type": "redacted_thinking"}, thought("More"), {"type": "text", "text": "So."})


def altered(place, **more):
    return lambda blocks: [{**block, **more} if at == place else block for at, block in enumerate(blocks)]


CHANGES = {
    "as it was": (lambda blocks: blocks, 200),
    "without the first": (lambda blocks: blocks[1:], 200),
    "another text": (altered(1, text="Ho"), 200),
    "another thought": (altered(0, thinking="Plan"), 400),
    "another signature": (lambda blocks: altered(0, signature=blocks[3]["signature"])(blocks), 400),
    "other data": (altered(2, data="eHk="), 400),
    "another order": (lambda blocks: [blocks[3], blocks[1], blocks[2], blocks[0], blocks[4]], 400),
    "twice": (lambda blocks: [blocks[0], *blocks], 400),
}


@pytest.mark.parametrize(("change", "status"), CHANGES.values(), ids=CHANGES)
def test_signatures(change, status):
    """
    A thought is taken back as it was and in its order only; texts are not signed.
    """
    assert status == resent(change, *ANSWER)


def test_signatures_of_a_fixture():
    """
    A signature of a fixture is sent as it is, and belongs to its thought.
    """
    given = thought(signature="Z2l2ZW4=")

    assert 200 == resent(lambda blocks: blocks, given, TEXT)
    assert 400 == resent(altered(0, thinking="Plan"), given, TEXT)


def test_without_signatures():
    """
    A mock that does not sign checks none.
    """
    assert 200 == resent(altered(0, thinking="Plan", signature="x"), thought(), TEXT, sign=False)


# -- fixtures


def test_facts_of_a_request():
    """
    The results of a message precede its text, system texts are joined, and tools of the provider are not functions.
    Fixtures of aimock find the text first.
    """
    facts = read_request(
        body(
            "Hello",
            model(CALL),
            user(RESULT, {"type": "text", "text": "And?"}),
            system=[{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}],
            tools=[*TOOLS, {"type": "web_search_20250305", "name": "web_search"}],
        )
    )

    assert (MODEL, "Be brief.", {"rain"}) == (facts.model, facts.system, facts.tools)
    assert ("And?", ("toolu_1",), None, 2) == (facts.user_text, facts.call_ids, facts.result_text, facts.turn)
    assert ("And?", "sunny") == (facts.alone.user_text, facts.alone.result_text)


def test_fixtures_of_aimock():
    """
    Redacted thoughts are first, then the thought, the text and the calls; words for the end are translated.
    """
    answer = one(
        {
            "content": "Hi",
            "toolCalls": [{"name": "rain", "id": "c1", "arguments": '{"city":"Oslo"}'}],
            "reasoning": "Hm",
            "reasoningSignature": "cw==",
            "redactedThinking": ["ZA=="],
            "finishReason": "length",
            "usage": {"prompt_tokens": 3, "completion_tokens": 4},
            "id": "msg_9",
            "model": "other",
        }
    )

    assert (
        Answer(
            id="msg_9",
            content=(
                {"type": "redacted_thinking", "data": "ZA=="},
                {"type": "thinking", "thinking": "Hm", "signature": "cw=="},
                TEXT,
                {**CALL, "id": "c1"},
            ),
            stop_reason="max_tokens",
            usage={"input_tokens": 3, "output_tokens": 4},
            more={"model": "other"},
        )
        == answer
    )


def test_another_word_of_aimock():
    """
    A finish reason that aimock does not translate is sent as it is.
    """
    assert "refusal" == one({"content": "Hi", "finishReason": "refusal"}).stop_reason


def test_an_error_of_aimock():
    """
    An error has the type and the message of the file.
    """
    fixtures = {
        "fixtures": [{"match": {}, "response": {"error": {"message": "no", "type": "odd_error"}, "status": 418}}]
    }
    found = posted(fixtures, body())

    assert (418, {"type": "odd_error", "message": "no"}) == (found.status, found.document["error"])


# -- errors of streams


def test_a_stream_error_without_a_stream():
    """
    The error of a stream is an HTTP error of a unary answer.
    """
    found = posted({"Hello": {"text": "Hi", "stream_error": {"message": "boom"}}}, body())

    assert (500, {"type": "api_error", "message": "boom"}) == (found.status, found.document["error"])


# -- recordings


@pytest.mark.parametrize("stream", [True, False])
def test_a_recording_gives_the_same(tmp_path, stream):
    """
    What was recorded is given again: blocks, signature, usage and stop reason; an error with its type.
    """
    path = tmp_path / "recorded.json"
    requests = [body(text, stream=stream) for text in ("Hello", "Bad")]
    script = {
        "Hello": {"thought": "Hm", "text": "Hi é", "calls": [{"id": "toolu_1", "name": "rain"}]},
        "Bad": {"http_error": {"status": 529, "message": "later"}},
    }

    asked_ = [(PATH, each) for each in requests]
    recorded, replayed = asyncio.run(recorded_and_replayed(mock, provider_of, script, path, asked_, HEADERS))

    assert message_of(mock.name, recorded[0]) == message_of(mock.name, replayed[0])
    assert recorded[1].status == replayed[1].status == 529
    assert recorded[1].document["error"] == replayed[1].document["error"]
    assert "secret" not in path.read_text("utf-8")
    assert json.loads(path.read_bytes())["version"] == 1


# -- platforms

BEDROCK = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke"
VERTEX = "/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict"
PLATFORMS = {
    "bedrock": (BEDROCK, f"{BEDROCK}-with-response-stream", AwsEventStream, "bedrock-2023-05-31"),
    "vertex": (VERTEX, VERTEX.replace("rawPredict", "streamRawPredict"), Sse, "vertex-2023-10-16"),
}
THINKING = {"type": "enabled", "budget_tokens": 1024}


def platform_request(name, *messages, **more):
    """
    Return the body of a request as `AnthropicBedrock` and `AnthropicVertex` send it: without a model.
    """
    given = {**body(*messages), "anthropic_version": PLATFORMS[name][3], "max_tokens": 4096, **more}
    return {key: value for key, value in given.items() if key != "model"}


@pytest.mark.parametrize("name", PLATFORMS)
def test_claude_at_other_platforms(name):
    """
    At Bedrock and Vertex the model is in the path and the version in the body; the stream of Bedrock is binary. The
    conversation is checked as everywhere.
    """
    whole, streamed, framing, _ = PLATFORMS[name]
    headers = {"x-api-key": None, "anthropic-version": None, "authorization": "AWS4-HMAC-SHA256 x"}

    async def main():
        provider = provider_of({"Hello": {"thought": "Hm", "text": "Hi"}})
        first = await ask(provider, "POST", whole, platform_request(name, thinking=THINKING), headers)
        second = await ask(provider, "POST", streamed, platform_request(name, thinking=THINKING, stream=True), headers)
        [thought, text] = first.document["content"]
        changed = [user(TEXT), model({**thought, "signature": "AAAA"}, text), user(TEXT)]
        refused = await ask(provider, "POST", whole, platform_request(name, *changed, thinking=THINKING), headers)
        versionless = {**platform_request(name), "anthropic_version": None}
        return first, second, refused, await ask(provider, "POST", whole, versionless, headers)

    first, second, refused, versionless = asyncio.run(main())
    decoder = dialect.decoder("a1", framing=framing, provider=name)
    message = fold(decoder.feed(second.body) + decoder.close()).last

    assert ("claude-sonnet-4-5-20250929", "Hi") == (first.document["model"], first.document["content"][1]["text"])
    assert ("claude-sonnet-4-5-20250929", "Hi", "Hm") == (
        message.origin.served_model,
        message.text,
        message.reasoning,
    )
    assert [] == decoder.notes
    assert (400, 400) == (refused.status, versionless.status)
    if name == "bedrock":
        assert "signature" in refused.document["message"].lower()
        assert refused.headers["x-amzn-errortype"].startswith("ValidationException")
    else:
        assert "invalid_request_error" == refused.document["error"]["type"]


AWS = {"x-api-key": None, "anthropic-version": None, "authorization": "AWS4-HMAC-SHA256 x"}


def test_what_an_answer_of_bedrock_costs():
    """
    The counts are in headers of a document, and beside the last event of a stream, as in the recordings.
    """
    usage = {"input_tokens": 7, "output_tokens": 3}
    provider = provider_of({"Hello": {"text": "Hi", "usage": usage}})
    whole = asked(provider, "POST", BEDROCK, platform_request("bedrock"), AWS)
    streamed = asked(provider, "POST", PLATFORMS["bedrock"][1], platform_request("bedrock", stream=True), AWS)
    *_, last = [json.loads(frame) for frame in AwsEventStream().feed(streamed.body)]
    metrics = last["amazon-bedrock-invocationMetrics"]

    assert ("7", "3") == tuple(whole.headers[f"x-amzn-bedrock-{each}-token-count"] for each in ("input", "output"))
    assert "message_stop" == last["type"]
    assert (7, 3) == (metrics["inputTokenCount"], metrics["outputTokenCount"])
    assert {"inputTokenCount", "outputTokenCount", "invocationLatency", "firstByteLatency"} == {*metrics}


AT_BEDROCK = {
    "overloaded_error": (503, "serviceUnavailableException"),
    "rate_limit_error": (429, "throttlingException"),
    "permission_error": (403, "accessDeniedException"),
    "timeout_error": (408, "modelTimeoutException"),
    "api_error": (500, "internalServerException"),
    "internal": (500, "internalServerException"),
    "modelStreamErrorException": (424, "modelStreamErrorException"),
}


@pytest.mark.parametrize(("code", "expected"), AT_BEDROCK.items(), ids=AT_BEDROCK)
def test_errors_of_bedrock(code, expected):
    """
    Bedrock has its own exceptions, in a stream as a frame of the type `exception`: other clients than boto3 do not see
    an error of another type (@ai-sdk/amazon-bedrock), or call it a bad request (litellm).
    """
    provider = provider_of({"Hello": {"text": "Hi", "stream_error": {"code": code, "message": "later", "after": 2}}})
    whole = asked(provider, "POST", BEDROCK, platform_request("bedrock"), AWS)
    streamed = asked(provider, "POST", PLATFORMS["bedrock"][1], platform_request("bedrock", stream=True), AWS)
    *_, last = [json.loads(frame) for frame in AwsEventStream().feed(streamed.body)]
    status, name = expected

    assert (status, {"message": "later"}) == (whole.status, whole.document)
    assert name == exception_name(whole.headers["x-amzn-errortype"])
    assert {name: {"message": "later"}} == last


def test_the_status_of_an_overload_at_bedrock():
    """
    Bedrock does not have the status 529.
    """
    provider = provider_of({"Hello": {"http_error": {"status": 529, "message": "later"}}})

    found = asked(provider, "POST", BEDROCK, platform_request("bedrock"), AWS)

    assert (503, {"message": "later"}) == (found.status, found.document)
    assert "serviceUnavailableException" == exception_name(found.headers["x-amzn-errortype"])


def test_tokens_are_counted_at_other_platforms():
    """
    At Vertex a model of that name counts, at Bedrock an operation whose request has the body in base64; Foundry and
    Mantle have a prefix. A body that would be refused is not counted.
    """
    provider = provider_of({"Hello": "Hi"})
    bare = {key: value for key, value in platform_request("vertex").items() if key != "max_tokens"}
    vertex = VERTEX.rpartition("/")[0] + "/count-tokens:rawPredict"
    encoded = base64.b64encode(json.dumps(platform_request("bedrock")).encode()).decode()
    counting = BEDROCK.replace("/invoke", "/count-tokens")
    expected = asked(provider, "POST", "/v1/messages/count_tokens", body(), HEADERS).document["input_tokens"]

    def count(path, given, headers=HEADERS):
        return asked(provider, "POST", path, given, headers)

    assert {"input_tokens": expected} == count(vertex, bare).document
    assert {"input_tokens": expected} == count("/anthropic/v1/messages/count_tokens", body()).document
    assert {"inputTokens": expected} == count(counting, {"input": {"invokeModel": {"body": encoded}}}, AWS).document
    for given in ("e30=", "e3", "?", 5, None):
        refused = count(counting, {"input": {"invokeModel": {"body": given}}}, AWS)
        assert (400, True) == (refused.status, "x-amzn-errortype" in refused.headers)
    assert "Hi" == asked(provider, "POST", "/anthropic/v1/messages", body(), HEADERS).document["content"][0]["text"]


def test_thoughts_that_are_not_shown():
    """
    Their text is empty where the request wants none, and their signature is genuine.
    """
    provider = provider_of({"Hello": {"thought": "Hm", "text": "Hi"}, "Hi": "Again"})
    given = {"thinking": {**THINKING, "display": "omitted"}, "max_tokens": 4096}

    async def main():
        first = await ask(provider, "POST", "/v1/messages", {**body(), **given}, HEADERS)
        again = body(user(TEXT), model(*first.document["content"]), user(TEXT))
        second = await ask(provider, "POST", "/v1/messages", {**again, **given}, HEADERS)
        shown = await ask(provider, "POST", "/v1/messages", {**body(), **given, "thinking": THINKING}, HEADERS)
        return first.document, second, shown.document

    first, second, shown = asyncio.run(main())
    thought, text = first["content"]

    assert "Hm" == shown["content"][0]["thinking"]
    assert ("thinking", "", "Hi") == (thought["type"], thought["thinking"], text["text"])
    assert thought["signature"]
    assert 200 == second.status


@pytest.mark.parametrize(
    "fault", ["error@3", "bad-checksum@3", "cut@3", "ten-minute-cut@3", "bad-json@3", "unknown-events@2"]
)
def test_faults_of_a_binary_stream(fault):
    """
    The frames of faults are binary, too: each is read as what it is.
    """
    name = "bedrock"
    provider = provider_of({"Hello": "Hi there"}, faults=[fault])
    headers = {"x-api-key": None, "anthropic-version": None, "authorization": "AWS4-HMAC-SHA256 x"}
    found = asked(provider, "POST", PLATFORMS[name][1], platform_request(name, stream=True), headers)
    decoder = dialect.decoder("a1", framing=AwsEventStream, provider=name)
    message = fold(decoder.feed(found.body) + decoder.close()).last

    assert decoder.failure is None
    assert ("completed" if fault in ("bad-json@3", "unknown-events@2") else "failed") == message.status.value
