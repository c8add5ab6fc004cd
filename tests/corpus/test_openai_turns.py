"""
Recorded conversations on the Responses wire: what was accepted is sent again.
"""

import json

import pytest

from assistant_events import AssistantMessage, PromptSubmitted, fold
from assistant_events.adapters import load_dialect
from assistant_events.adapters.openai_responses.vocabulary import TOOLS

from .recordings import conversations

DIALECT = load_dialect("openai-responses")

RECORDED = conversations("openai-responses")

ANSWERS = {tool.answer for tool in TOOLS.values() if tool.answer}


def items_of(request):
    """
    Return the input of a request as items.
    """
    sent = request.get("input", [])
    return [{"role": "user", "content": sent}] if isinstance(sent, str) else sent


def is_of_answer(item):
    return item.get("role", "assistant") == "assistant" and item.get("type") not in ANSWERS


def plain(item):
    """
    Return an item without nulls and empty lists, its arguments parsed; a message of the assistant has its text alone.
    """
    if "role" in item:
        content = item["content"] if isinstance(item["content"], list) else [{"text": item["content"]}]
        kept = {key: item[key] for key in ("role", "id", "phase") if item.get(key)}
        return {**kept, "text": "".join(part["text"] for part in content)}
    kept = {key: without_nulls(value) for key, value in item.items() if value not in (None, [])}
    return {**kept, "arguments": json.loads(kept["arguments"])} if "arguments" in kept else kept


def without_nulls(value):
    return {key: each for key, each in value.items() if each is not None} if isinstance(value, dict) else value


def with_call_ids(item, transcript):
    """
    Return an item with the id of its call: two clients send the id of the item instead.
    """
    answers = [message for message in transcript.messages if isinstance(message, AssistantMessage)]
    ids = {call.state.get("item_id"): call.call_id for message in answers for call in message.tool_calls}
    return {**item, "call_id": ids[item["call_id"]]} if item.get("call_id") in ids else item


def since_compaction(items):
    """
    Return the items from the last compaction on: the client sends what is before it as well, and is billed for it.
    """
    places = [place for place, item in enumerate(items) if item.get("type") == "compaction"]
    return items[places[-1] :] if places else items


def app_events(items, transcript, number):
    """
    Return what the app appended before a request: answers of its tools, and a prompt.
    """
    last = max((at for at, item in enumerate(items) if is_of_answer(item)), default=-1)
    events, prompt = [], []
    for item in items[last + 1 :]:
        if item.get("type") in ANSWERS:
            [call] = [call for call in transcript.pending_tool_calls if call.call_id == item["call_id"]]
            events.append(call.succeed(item["output"]))
        else:
            prompt.append(plain(item)["text"])
    return [*events, PromptSubmitted(message_id=f"u{number}", content="\n".join(prompt))] if prompt else events


@pytest.mark.parametrize("file", RECORDED)
def test_the_accepted_request(file):
    """
    Every item that the service accepted is in our request with all its fields, in its order, and so are all results.
    """
    transcript, requests = fold([]), 0
    for number, (request, answer) in enumerate(RECORDED[file]):
        chained = request.get("previous_response_id")
        sent = [with_call_ids(item, transcript) for item in items_of(request)]
        transcript = fold(app_events(sent, transcript, number), start=transcript)
        if number:
            body = {key: value for key, value in request.items() if key not in ("input", "previous_response_id")}
            body["model"] = transcript.messages[1].origin.model
            encoded = DIALECT.encoder(transcript, body, mode="chained" if chained else "full")
            ours = iter([plain(item) for item in encoded.body["input"] if is_of_answer(item)])
            theirs = [plain(item) for item in since_compaction(sent) if is_of_answer(item)]
            known = {message.text for message in transcript.messages if isinstance(message, AssistantMessage)}

            assert [] == [
                item
                for item in theirs
                if item.get("text", "") in ("", *known) and not any(item.items() <= each.items() for each in ours)
            ]
            assert chained == encoded.body.get("previous_response_id")
            assert results_of(sent) == results_of(encoded.body["input"])
            requests += bool(theirs or chained)
        transcript = fold(answer.events(message_id=f"a{number}", request=request), start=transcript)

    assert requests


def results_of(items):
    found = [item for item in items if item.get("type") in ANSWERS]
    return [(item["type"], item["call_id"], item["output"]) for item in found]
