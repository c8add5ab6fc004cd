"""
Recorded conversations on the generateContent wire: what was accepted is sent again.
"""

import base64

import pytest

from assistant_events import AssistantMessage, PromptSubmitted, fold
from assistant_events.adapters import load_dialect
from assistant_events.values import JsonContent

from .recordings import conversations

DIALECT = load_dialect("gemini-generate-content")

RECORDED = conversations("gemini-generate-content")

INVENTED = {
    "pydantic-ai.test-tool-search-test-cross-provider-capability-replay-google-gemini-3-flash-preview-openai-respon.0"
    ".json": {"search_tools"}
}
"""Calls that no response had: their client puts them into the history."""

FORGOTTEN = {"ellmer.vcr-google-tool.json"}
"""Conversations in which the client leaves out ids of calls, and signatures of texts."""


def is_answer(content):
    return content["role"] == "model"


def new_contents(request):
    """
    Return the contents of a request behind its last answer.
    """
    contents = request["contents"]
    last = max((at for at, each in enumerate(contents) if is_answer(each)), default=-1)
    return [part for content in contents[last + 1 :] for part in content["parts"]]


def app_events(parts, transcript, number, invented):
    """
    Return what the app appended before a request: answers of its tools, in their order, and a prompt.
    """
    pending = list(transcript.pending_tool_calls)
    events, prompt = [], []
    for part in parts:
        result = part.get("functionResponse") or part.get("function_response")
        if result is None:
            prompt.append(part.get("text", "<media>"))
        elif result["name"] not in invented:
            call = pending.pop(0)
            assert call.name == result["name"]
            events.append(call.succeed(JsonContent(result["response"])))
    return [*events, PromptSubmitted(message_id=f"u{number}", content="\n".join(prompt))] if prompt else events


def signature(part):
    """
    Return the bytes of a signature: clients write them in two alphabets. Some recordings have words in its place.
    """
    text = part.get("thoughtSignature", "").replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4)) if text and "REDACTED" not in text else text


def plain(contents, ids=None, invented=()):
    """
    Return the parts of answers: of calls name, arguments and signature; the texts between two signatures as one.

    An id is there when *ids*, those that the service gave, has it: some clients send ids of their own.
    """
    found = []
    for part in [part for content in contents if is_answer(content) for part in content["parts"]]:
        call = part.get("functionCall") or part.get("function_call")
        if call is not None and call["name"] not in invented:
            given = call.get("id") if ids is None or call.get("id") in ids else None
            found.append((call["name"], call.get("args", {}), given, signature(part)))
        elif "text" in part and not part.get("thought"):
            if found and found[-1][0] == "" and not found[-1][2]:
                found[-1] = ("", found[-1][1] + part["text"], signature(part))
            elif part["text"] or signature(part):
                found.append(("", part["text"], signature(part)))
    return found


@pytest.mark.parametrize("file", RECORDED)
def test_the_accepted_request(file):
    """
    Every call and text that the service accepted is in our request at its place, with its id and its signature.

    Clients may leave out thoughts, and texts that they do not keep. We send them.
    """
    transcript, requests, invented = fold([]), 0, INVENTED.get(file, set())
    for number, (request, answer) in enumerate(RECORDED[file]):
        transcript = fold(app_events(new_contents(request), transcript, number, invented), start=transcript)
        answers = [message for message in transcript.messages if isinstance(message, AssistantMessage)]
        if answers:
            body = {key: value for key, value in request.items() if key != "contents"}
            encoded = DIALECT.encoder(transcript, {"model": answers[-1].origin.model, **body})
            ids = {call.call_id for message in answers for call in message.tool_calls if "id" not in call.state}
            ours = plain(encoded.body["contents"], () if file in FORGOTTEN else None)
            theirs = plain(request["contents"], ids, invented)
            if file in FORGOTTEN:
                ours, theirs = [[each for each in some if each[0]] for some in (ours, theirs)]

            assert theirs
            ours = iter(ours)
            assert [] == [each for each in theirs if each not in ours]
            assert results_of(request, invented) == results_of(encoded.body, invented)
            requests += 1
        transcript = fold(answer.events(message_id=f"a{number}", request=request), start=transcript)

    assert requests


def results_of(request, invented):
    parts = [part for content in request["contents"] for part in content["parts"]]
    results = [part.get("functionResponse") or part.get("function_response") for part in parts]
    return [(each["name"], each["response"]) for each in results if each and each["name"] not in invented]
