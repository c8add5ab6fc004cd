"""
Recorded conversations: the request that was accepted then is the request that the encoder makes.

Equivalent forms in the accepted requests are converted to ours first: input that is one text or
one content, turns of 1.x, results inside of `user_input`, results that are JSON and not JSON text.
"""

import json

import pytest

from assistant_events import fold
from assistant_events.adapters.gemini_interactions import decode_resource, encode
from assistant_events.testing import prompt

from . import corpus_folder
from .bodies import DIALECT, EXPECTATIONS, RESOURCES, STREAMS, body_of, events_of, stream_of
from .forms import document_of

FOLDER = "turns/gemini-interactions"
CONVERSATION = ("input", "previous_interaction_id", "continuation_token")
RECORDED = [
    "braintrust-sdk-javascript.cassettes-google-genai-v2-latest.84676973.json",
    "braintrust-sdk-javascript.cassettes-google-genai-v2.84676973.json",
    "rig.interactions-api-followup-with-previous-interaction-id.2fe0256d.json",
    "rig.interactions-api-followup-with-previous-interaction-id.8e9f2375.json",
    "rig.interactions-api-tool-result-roundtrip.8ad5291a.json",
    "rig.interactions-api-tool-result-roundtrip.json",
    "rig.streaming-grammar-interactions-requires-action.8ad5291a.json",
]


def exchanges_of(file):
    """
    Return the requests and responses of a conversation, or skip the test visibly.
    """
    corpus = corpus_folder()
    if corpus is None:
        pytest.skip("no recorded bodies in ../shared/corpus")
    return [
        (each["request"], json.loads(each["response"]["body"]))
        for each in json.loads((corpus / FOLDER / file).read_bytes())["exchanges"]
    ]


def steps_of(given):
    """
    Return the input of a request as steps, results on their own.
    """
    if isinstance(given, str):
        given = {"type": "text", "text": given}
    if isinstance(given, dict):
        given = [given]
    if given and all("content" not in each for each in given):
        given = [{"type": "user_input", "content": given}]
    steps = []
    for each in given:
        steps += [meant(block) for block in each["content"] if block["type"] == "function_result"]
        content = [block for block in each["content"] if block["type"] != "function_result"]
        steps += [{"type": "user_input", "content": content}] if content else []
    return steps


def meant(result):
    """
    Return the result of a function as JSON text, which is what its JSON means.
    """
    value = result["result"]
    return result if isinstance(value, str) else {**result, "result": json.dumps(value, separators=(",", ":"))}


def events_for(steps, transcript, number):
    """
    Return the events of the steps of a request: what the app appended before it.
    """
    events = []
    for step in steps:
        if step["type"] == "function_result":
            [call] = [call for call in transcript.pending_tool_calls if call.call_id == step["call_id"]]
            value = step["result"]
            events.append(call.succeed(json.loads(value) if value.startswith("{") else value))
        else:
            content = [block["text"] for block in step["content"]]
            events.append(prompt("".join(content), message_id=f"u{number}"))
    return events


@pytest.mark.parametrize("mode", ["auto", "full"])
@pytest.mark.parametrize("file", RECORDED)
def test_the_accepted_request(file, mode):
    """
    Each next request has the content of the accepted one; in full it has all steps before it as well.
    """
    transcript, history = fold([]), []
    for number, (request, response) in enumerate(exchanges_of(file)):
        said = steps_of(request["input"])
        transcript = fold(events_for(said, transcript, number), start=transcript)
        body = {key: value for key, value in request.items() if key not in CONVERSATION}
        encoded = encode(transcript, body, mode=mode)
        history += said
        chained = {"previous_interaction_id", "input"} if mode == "auto" and number else {"input"}
        accepted = {**request, "input": said if mode == "auto" else history}

        assert {key: accepted[key] for key in {*body, *chained}} == encoded.body
        assert ((), "chained" if "previous_interaction_id" in chained else "full") == (encoded.drops, encoded.mode)
        events = decode_resource(response, f"a{number}", request=request)
        transcript = fold(events, start=transcript)
        history += normal(response)


# -- recorded answers are sent back


def normal(document):
    """
    Return the generated steps of a document in the form in which they go back, written from the wire reference alone.
    """
    steps = []
    for each in document.get("steps") or document.get("outputs") or []:
        each = {key: value for key, value in each.items() if (key, value) not in (("signature", ""), ("summary", []))}
        if each["type"] in ("text", "image", "audio", "document", "video"):
            each = {"type": "model_output", "content": [each]}
        if each["type"] == "model_output":
            each = {**each, "content": joined(each.get("content", []))}
            if not each["content"]:
                continue
        if each["type"] != "user_input":
            steps.append(each)
    return steps


def joined(content):
    """
    Return content with adjacent texts joined; a stream cannot show where one ends.
    """
    blocks = []
    for block in content:
        last = blocks[-1] if blocks else {}
        if "TRUNCATED" in block.get("data", ""):
            continue  # cut by its recorder: without bytes to send
        if block["type"] != "text" or last.get("type") != "text":
            blocks.append(dict(block))
            continue
        moved = [shifted(note, len(last["text"].encode())) for note in block.get("annotations", [])]
        annotations = [*last.get("annotations", []), *moved]
        blocks[-1] = {**last, "text": last["text"] + block["text"]}
        if annotations:
            blocks[-1]["annotations"] = annotations
    return [block for block in blocks if block["type"] != "text" or block["text"]]


def shifted(note, by):
    """
    Return an annotation of a text that was moved by so many bytes.
    """
    return {**note, **{key: note[key] + by for key in ("start_index", "end_index") if key in note}}


def expected_of(document):
    """
    Return what has to go back of a document: its signed steps, with each annotation once, as they are kept.
    """
    steps = [each for each in normal(document) if each["type"] != "thought" or each.get("signature")]
    for block in [block for each in steps for block in each.get("content", []) if "annotations" in block]:
        notes = block["annotations"]
        block["annotations"] = [note for at, note in enumerate(notes) if note not in notes[:at]]
    return json.loads(json.dumps(steps))  # halves of a character that came apart are one again


def generated(message):
    """
    Return the encoded steps of an answer, without the encoder's answers to its calls.
    """
    body = encode([message], {"model": message.origin.model or "m"}, mode="full").body
    return [each for each in body["input"] if each["type"] != "function_result"]


@pytest.mark.parametrize("file", [file for file in RESOURCES if file.startswith(("gen2", "gen1", "misc"))])
def test_recorded_documents_go_back(file):
    """
    Every generated step of a recorded document is sent back unchanged, except unsigned thoughts.
    """
    document = json.loads(body_of(file))
    [message] = fold(decode_resource(document, "a1")).messages

    assert expected_of(document) == generated(message)


WHOLE = [file for file in STREAMS if EXPECTATIONS[file]["messages"][0]["status"] == "completed"]


@pytest.mark.parametrize("file", WHOLE)
def test_recorded_streams_go_back(file):
    """
    So does every step of a recorded stream.
    """
    body = stream_of(file)
    decoder = DIALECT.decoder("a1")
    [message] = fold(decoder.feed(body) + decoder.close()).messages

    assert expected_of(document_of(events_of(body))) == generated(message)


def test_all_conversations_are_tried():
    """
    No recorded conversation is forgotten.
    """
    corpus = corpus_folder()
    if corpus is None:
        pytest.skip("no recorded bodies in ../shared/corpus")

    assert sorted(path.name for path in (corpus / FOLDER).iterdir()) == RECORDED
