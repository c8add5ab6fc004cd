"""
The AI SDK's providers of several wires against their mocks: what is the same for all of them.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pytest

from tests.official.client import OfficialError

TEXT = "Hi there, Zoë!"
THOUGHT = "They greet me."
CALL = {"id": "call_1", "name": "get_weather", "arguments": {"city": "Zürich"}}


class Wire(NamedTuple):
    """
    A wire: its dialect, the package of its provider, settings of a call, and the usage of an answer.

    `steps` returns the kinds of what a request has, those of a tool loop are `sent`. A `signature` is the place of one
    in the options of a part, and the message for one that was changed.
    """

    dialect: str
    package: str
    settings: dict
    usage: dict
    steps: Callable
    sent: list
    signature: tuple[str, str, str] | None
    reasoning: str | None = THOUGHT


def steps_of_claude(body):
    _, answer, result = body["messages"]
    return [block["type"] for message in (answer, result) for block in message["content"]]


def steps_of_responses(body):
    return [item.get("type", "message") for item in body["input"]]


def steps_of_chat(body):
    return [message["role"] for message in body["messages"]]


def steps_of_gemini(body):
    return [(content["role"], sorted(part)) for content in body["contents"] for part in content["parts"]]


OF_OPENAI = {"input_tokens": 9, "output_tokens": 22, "total_tokens": 31}
OF_CHAT = {"prompt_tokens": 9, "completion_tokens": 22, "total_tokens": 31}
OF_GEMINI = {"promptTokenCount": 9, "candidatesTokenCount": 12, "thoughtsTokenCount": 10, "totalTokenCount": 31}
ENCRYPTED = {"store": False, "include": ["reasoning.encrypted_content"]}
WIRES = {
    "messages": Wire(
        "anthropic-messages",
        "@ai-sdk/anthropic",
        {"model": "claude-sonnet-4-5", "options": {"thinking": {"type": "enabled", "budgetTokens": 2000}}},
        {"input_tokens": 9, "output_tokens": 22},
        steps_of_claude,
        ["thinking", "tool_use", "tool_result"],
        ("anthropic", "signature", "cannot be modified"),
    ),
    "responses": Wire(
        "openai-responses",
        "@ai-sdk/openai",
        {"model": "gpt-5.6"},
        OF_OPENAI,
        steps_of_responses,
        ["message", "item_reference", "function_call", "function_call_output"],
        None,
    ),
    "responses that are not stored": Wire(
        "openai-responses",
        "@ai-sdk/openai",
        {"model": "gpt-5.6", "options": ENCRYPTED},
        OF_OPENAI,
        steps_of_responses,
        ["message", "reasoning", "function_call", "function_call_output"],
        ("openai", "reasoningEncryptedContent", "could not be verified"),
    ),
    "chat": Wire(
        "openai-chat",
        "@ai-sdk/openai",
        {"model": "gpt-5.6", "api": "chat"},
        OF_CHAT,
        steps_of_chat,
        ["user", "assistant", "tool"],
        None,
        reasoning=None,  # it does not read `reasoning_content`
    ),
    "generateContent": Wire(
        "gemini-generate-content",
        "@ai-sdk/google",
        {"model": "gemini-3.6-flash", "api": "languageModel"},
        OF_GEMINI,
        steps_of_gemini,
        [
            ("user", ["text"]),
            ("model", ["text", "thought"]),
            ("model", ["functionCall", "thoughtSignature"]),
            ("user", ["functionResponse"]),
        ],
        ("google", "thoughtSignature", "Corrupted thought signature."),
    ),
}
SIGNED = [name for name, wire in WIRES.items() if wire.signature]


@pytest.fixture(params=WIRES)
def call(request, javascript, provider):
    """
    A function that returns, for fixtures, how an answer is generated and streamed, and the mock provider.
    """
    wire = WIRES[request.param]

    def calls(fixtures):
        mock = provider(fixtures, dialect=wire.dialect)
        api = javascript("ai-sdk.mjs", wire.package, "ai", mock.url)
        return partial(api.generate, **wire.settings), partial(api.stream, **wire.settings), mock

    calls.wire = wire
    return calls


def answer(wire):
    """Return a fixture."""
    return {"thought": THOUGHT, "text": TEXT, "usage": wire.usage, "timing": {"delta_chars": 5}}


def joined(parts, kind):
    """Return what the parts of a kind add up to."""
    return "".join(part["text"] for part in parts if part["type"] == kind)


def test_a_unary_answer(call):
    """
    Text, reasoning, usage and the reason to finish are there.
    """
    generate, _, _ = call({"Hello": answer(call.wire)})
    found = generate(prompt="Hello")

    assert (TEXT, call.wire.reasoning, "stop") == (found["text"], found.get("reasoning"), found["finish"])
    assert (9, 22) == (found["usage"]["inputTokens"], found["usage"]["outputTokens"])


def test_a_stream(call):
    """
    The parts of the stream are those of the unary answer.
    """
    _, stream, _ = call({"Hello": answer(call.wire)})
    parts = stream(prompt="Hello")

    assert (TEXT, call.wire.reasoning or "") == (joined(parts, "text-delta"), joined(parts, "reasoning-delta"))
    assert ("finish", "stop") == (parts[-1]["type"], parts[-1]["finishReason"])
    assert (9, 22) == (parts[-1]["totalUsage"]["inputTokens"], parts[-1]["totalUsage"]["outputTokens"])


@pytest.mark.parametrize("how", ["generate", "stream"])
def test_a_tool_loop(call, how):
    """
    The tool gets parsed arguments; its result comes back behind the call, and what is signed before it.
    """
    first = {"thought": "A tool knows.", "calls": [CALL], "timing": {"delta_chars": 4}}
    generate, stream, mock = call({"Weather?": [first, "It is 12 degrees."]})
    found = {"generate": generate, "stream": stream}[how](prompt="Weather?", tool_output="12 degrees")
    if how == "generate":
        text, calls = found["text"], found["calls"]
    else:
        text, calls = joined(found, "text-delta"), [part for part in found if part["type"] == "tool-call"]

    assert "It is 12 degrees." == text
    assert [("call_1", "get_weather", {"city": "Zürich"})] == [
        (each["toolCallId"], each["toolName"], each["input"]) for each in calls
    ]
    assert call.wire.sent == call.wire.steps(mock.requests[-1].body)


@pytest.mark.parametrize("call", SIGNED, indirect=True)
def test_a_second_turn(call):
    """
    An answer comes back with its signature, and is refused when that was changed.
    """
    generate, _, _ = call({"Hello": answer(call.wire), "Again": "Hi again."})
    name, key, message = call.wire.signature
    first = generate(prompt="Hello")["messages"]
    sent = [{"role": "user", "content": "Hello"}, *first, {"role": "user", "content": "Again"}]
    options = [part.get("providerOptions", {}).get(name, {}) for each in first for part in each["content"]]
    [signature] = {each[key] for each in options if each.get(key)}
    second = generate(messages=sent)
    with pytest.raises(OfficialError) as caught:
        generate(messages=json.loads(json.dumps(sent).replace(signature, "eHk=")))

    assert "Hi again." == second["text"]
    assert 400 == caught.value.status_code
    assert message in caught.value.message


def test_http_errors(call):
    """
    An HTTP error is an exception of a call, with the message of the service, and a part of a stream.
    """
    generate, stream, _ = call({"Hello": {"http_error": {"status": 429, "message": "Slow down"}}})
    with pytest.raises(OfficialError) as caught:
        generate(prompt="Hello")
    parts = stream(prompt="Hello")

    assert ("APICallError", 429, "Slow down") == (
        caught.value.classes[0],
        caught.value.status_code,
        caught.value.message,
    )
    assert "error" in [part["type"] for part in parts]
