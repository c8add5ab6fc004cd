"""
Recorded conversations on the Chat Completions wire: what was accepted is sent again.
"""

import json

import pytest

from assistant_events import PromptSubmitted, fold
from assistant_events.adapters import load_dialect

from .recordings import conversations

DIALECT = load_dialect("openai-chat")

RECORDED = conversations("openai-chat")

PROVIDERS = {
    "fantasy": "openrouter",
    "rig": "openrouter",
    "ruby-llm": "openrouter",
    "pydantic-ai": "somewhere",
    "activeagent": "somewhere",
    "chatlas": "deepseek",
}
"""By the client that was recorded, the server that it asked; OpenAI otherwise."""


def provider_of(file):
    return PROVIDERS.get(file.partition(".")[0], "openai")


def text_of(content):
    return content if isinstance(content, str) else "".join(each.get("text", "") for each in content or ())


def plain(item):
    """
    Return the content of a message of the assistant: text, calls with parsed inputs, reasoning, and state of it.

    Clients send reasoning in a field of their own, or leave its text out of the details.
    """
    details = item.get("reasoning_details") or []
    texts = [item.get(field) for field in ("reasoning_content", "reasoning")]
    texts += ["".join(each.get("text") or each.get("summary") or "" for each in details)]
    return {
        "text": text_of(item.get("content")),
        "calls": [
            (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"] or "{}"))
            for call in item.get("tool_calls") or ()
        ],
        "reasoning": next(filter(None, texts), ""),
        "state": [
            {key: each[key] for key in ("type", "index", "data", "signature", "id") if each.get(key)}
            for each in details
            if each.get("data") or each.get("signature")
        ],
    }


def is_sent(theirs, ours):
    """
    Return whether what a client sent of a message is in ours; most clients leave reasoning out.
    """
    return (
        (theirs["text"], theirs["calls"]) == (ours["text"], ours["calls"])
        and theirs["reasoning"] in ("", ours["reasoning"])
        and all(each in ours["state"] for each in theirs["state"])
    )


def is_made_up(item):
    """
    Return whether a client has made up the calls of a message: no answer had them.
    """
    return any(call["id"].startswith("auto_load_") for call in item.get("tool_calls") or ())


def app_events(messages, transcript, number):
    """
    Return what the app appended before a request: answers of its tools, and a prompt.
    """
    answers = [at for at, each in enumerate(messages) if each["role"] == "assistant" and not is_made_up(each)]
    last = max(answers, default=-1)
    pending = {call.state.get("id", call.call_id): call for call in transcript.pending_tool_calls}
    events, prompt = [], []
    for item in messages[last + 1 :]:
        if item["role"] == "tool" and item["tool_call_id"] in pending:
            events.append(pending[item["tool_call_id"]].succeed(text_of(item["content"])))
        elif item["role"] == "user":
            prompt.append(text_of(item["content"]))
    return [*events, PromptSubmitted(message_id=f"u{number}", content="\n".join(prompt))] if prompt else events


@pytest.mark.parametrize("file", RECORDED)
def test_the_accepted_request(file):
    """
    Every message that the server accepted is in our request, in its order, with all its state, and so are all results.
    """
    transcript, provider, requests = fold([]), provider_of(file), 0
    for number, (request, answer) in enumerate(RECORDED[file]):
        messages = request["messages"]
        transcript = fold(app_events(messages, transcript, number), start=transcript)
        if number:
            model = [each for each in transcript.messages if each.type == "assistant"][-1].origin.model
            encoded = DIALECT.encoder(transcript, {"model": model}, provider=provider)
            ours = [plain(each) for each in encoded.body["messages"] if each["role"] == "assistant"]
            theirs = [plain(each) for each in messages if each["role"] == "assistant" and not is_made_up(each)]
            rest = iter(ours)

            assert [] == [each for each in theirs if not any(is_sent(each, one) for one in rest)], ours
            assert results_of(messages) == results_of(encoded.body["messages"])
            requests += len(theirs)
        transcript = fold(answer.events(message_id=f"a{number}", request=request, provider=provider), start=transcript)

    assert requests


def results_of(messages):
    return [
        (each["tool_call_id"], text_of(each["content"]))
        for each in messages
        if each["role"] == "tool" and not each["tool_call_id"].startswith("auto_load_")
    ]
