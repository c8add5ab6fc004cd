"""
The mock of generateContent: its answers, what it refuses, its faults, fixtures and recordings.

Expected values come from the types of google-genai 3.4.0, Google's guide to thought signatures, and reports of refused
requests; those of aimock's fixtures from its Gemini handler of `@copilotkit/aimock` 1.43.0.
"""

import asyncio
import json
from base64 import b64encode
from hashlib import sha256

import pytest

from assistant_events import AssistantMessage, is_durable
from assistant_events.adapters.framing import JsonArray
from assistant_events.adapters.gemini_generate_content import NO_SIGNATURE, GeminiGenerateContentDecoder
from assistant_events.adapters.gemini_generate_content.client import SyncGeminiGenerateContent
from assistant_events.adapters.gemini_generate_content.mock import Answer, MockProvider, mock, read_request, validation
from assistant_events.converters import unstructure
from assistant_events.mock import Match
from assistant_events.mock.fixture_files import load_fixtures
from assistant_events.session import SyncSession
from assistant_events.stores import MemoryStore
from assistant_events.testing import mock_provider

from .asgi import JumpClock, asked, message_of, recorded_and_replayed

MODEL = "gemini-3.6-flash"
UNARY = f"/v1beta/models/{MODEL}:generateContent"
ARRAY = f"/v1beta/models/{MODEL}:streamGenerateContent"
STREAM = f"{ARRAY}?alt=sse"
OLD = UNARY.replace(MODEL, "gemini-2.5-pro")
USER = {"role": "user", "parts": [{"text": "Hello"}]}
CALL = {"functionCall": {"name": "rain", "args": {"at": 1}, "id": "c1"}}
OTHER = {"functionCall": {"name": "snow", "args": {}, "id": "c2"}}
RESULT = {"functionResponse": {"name": "rain", "id": "c1", "response": {"output": "sunny"}}}
EVERYTHING = {"thought": ["Hm"], "text": "Hi é", "calls": [{"id": "c1", "name": "rain", "arguments": {"at": 1}}]}
BLOCKED = {"parts": [], "more": {"promptFeedback": {"blockReason": "SAFETY"}}}


def provider_of(fixtures, **options):
    numbers = iter(range(1, 100))
    return MockProvider(fixtures, **{"clock": JumpClock(), "make_id": lambda: f"r{next(numbers)}", **options})


def anything(answer="Hi", **options):
    fixture = {"match": {}, "answer": {"text": answer} if isinstance(answer, str) else answer}
    return provider_of({"version": 1, "fixtures": [fixture]}, **options)


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def user(*parts):
    return {"role": "user", "parts": list(parts)}


def body(*contents, **more):
    return {"contents": list(contents) or [USER], **more}


def posted(provider, request=None, path=UNARY, headers=None):
    return asked(provider, "POST", path, body() if request is None else request, headers)


def streamed(provider, path=STREAM):
    return posted(provider, path=path).events


def parts_of(response):
    return [part for each in response.get("candidates", []) for part in each.get("content", {}).get("parts", [])]


def without_signature(part):
    return {key: value for key, value in part.items() if key != "thoughtSignature"}


# -- answers


def test_a_document():
    """
    A response has one candidate, with the content of the model.
    """
    found = posted(anything("Hi there")).document
    [candidate] = found["candidates"]

    assert ("r1", MODEL) == (found["responseId"], found["modelVersion"])
    assert ("model", "STOP", 0) == (candidate["content"]["role"], candidate["finishReason"], candidate["index"])
    assert [{"text": "Hi there"}] == [without_signature(part) for part in candidate["content"]["parts"]]
    assert {"promptTokenCount": 2, "candidatesTokenCount": 2, "totalTokenCount": 4} == found["usageMetadata"]


PARTS = [
    {"text": "Hm", "thought": True},
    {"text": "Hi "},
    {"text": "é"},
    {"functionCall": {"name": "rain", "args": {"at": 1}, "id": "c1"}},
]


@pytest.mark.parametrize("framing", ["events", "array"])
def test_a_stream(framing):
    """
    Each chunk has a part, texts are cut, calls whole and the first one signed; the last has the reason and all counts.
    """
    provider = anything({**EVERYTHING, "timing": {"delta_chars": 3}})
    exchange = posted(provider, path=STREAM if framing == "events" else ARRAY)
    *chunks, last = exchange.events if framing == "events" else exchange.document
    kind = "text/event-stream" if framing == "events" else "application/json"

    assert kind == exchange.headers["content-type"]
    assert PARTS == [without_signature(part) for chunk in chunks for part in parts_of(chunk)]
    assert [False, False, False, True] == ["thoughtSignature" in part for chunk in chunks for part in parts_of(chunk)]
    assert [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP", "index": 0}] == last[
        "candidates"
    ]
    assert {("r1", MODEL)} == {(chunk["responseId"], chunk["modelVersion"]) for chunk in [*chunks, last]}
    assert {"promptTokenCount": 2, "totalTokenCount": 2} == chunks[0]["usageMetadata"]
    assert {
        "promptTokenCount": 2,
        "candidatesTokenCount": 3,  # "Hi é" and {"at":1}
        "thoughtsTokenCount": 1,
        "totalTokenCount": 6,
    } == last["usageMetadata"]


def test_ids_of_each_run():
    """
    A call without an id gets another one in each run; with `null` it has none.
    """
    calls = [{"functionCall": {"name": "rain"}}, {"functionCall": {"name": "snow"}}]
    provider = anything({"parts": [*calls, {"functionCall": {"name": "hail", "id": None}}]})
    found = [part["functionCall"] for _ in range(2) for part in parts_of(posted(provider).document)]

    assert 4 == len({call["id"] for call in found if "id" in call})
    assert {"name": "hail", "args": {}} == found[2]


def test_fields_of_a_response():
    """
    Parts in the words of the wire are sent as they are, with other fields of the candidate and of the response.
    """
    answer = {
        "parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": "1", "thoughtSignature": "AAAA"}],
        "finish_reason": "MAX_TOKENS",
        "candidate": {"finishMessage": "too long"},
        "more": {"modelVersion": "gemini-served", "modelStatus": {"message": "old"}},
        "usage": {"promptTokenCount": 9, "totalTokenCount": 9},
    }
    provider = anything(answer)
    found = posted(provider).document
    [candidate] = found["candidates"]
    *_, last = streamed(provider)

    assert answer["parts"] == parts_of(found)
    assert ("MAX_TOKENS", "too long") == (candidate["finishReason"], candidate["finishMessage"])
    assert ("gemini-served", {"message": "old"}) == (found["modelVersion"], found["modelStatus"])
    assert answer["usage"] == found["usageMetadata"] == last["usageMetadata"]
    assert "too long" == last["candidates"][0]["finishMessage"]


def test_a_blocked_prompt():
    """
    The response has no candidate.
    """
    provider = anything(BLOCKED)
    found = posted(provider).document
    [chunk] = streamed(provider)

    assert not {"candidates"} & {*found, *chunk}
    assert BLOCKED["more"]["promptFeedback"] == found["promptFeedback"] == chunk["promptFeedback"]


def test_events_of_this_library():
    """
    An answer in events is the response that they were decoded from.
    """
    answer = {**EVERYTHING, "finish_reason": "MAX_TOKENS", "candidate": {"citationMetadata": {"citationSources": []}}}
    wire = posted(anything(answer)).document
    decoded = GeminiGenerateContentDecoder.decode_resource(wire, "m")
    found = posted(anything({"events": [unstructure(event) for event in decoded if is_durable(event)]})).document

    assert wire["candidates"] == found["candidates"]
    assert wire["usageMetadata"] == found["usageMetadata"]


STREAM_ERRORS = {
    "without a code": ({}, 500, "INTERNAL"),
    "a name": ({"code": "unavailable"}, 503, "UNAVAILABLE"),
    "a status": ({"code": 429}, 429, "RESOURCE_EXHAUSTED"),
    "a status without a name": ({"code": 508}, 508, "INTERNAL"),
    "a status of the client without a name": ({"code": 418}, 418, "INVALID_ARGUMENT"),
}


@pytest.mark.parametrize(("error", "code", "status"), STREAM_ERRORS.values(), ids=STREAM_ERRORS)
def test_an_error_of_a_stream(error, code, status):
    """
    A stream ends with a chunk that has an error; the unary answer is that HTTP error.
    """
    provider = anything({"text": "Hi", "stream_error": {"message": "boom", **error}})
    expected = {"error": {"code": code, "message": "boom", "status": status}}
    unary = posted(provider)

    assert expected == streamed(provider)[-1] == posted(provider, path=ARRAY).document[-1]
    assert (code, expected) == (unary.status, unary.document)


# -- requests


COUNT = "the number of function response parts is equal to the number of function call parts"
NO_CALL = "function response turn comes immediately after a function call turn"
NO_DATA = "required oneof field 'data' must have one initialized field"
FUNCTION = {"functionDeclarations": [{"name": "rain"}]}
SKIPPED = {**CALL, "thoughtSignature": NO_SIGNATURE}
REFUSED = {
    "no contents": ({}, "* GenerateContentRequest.contents: contents is not specified"),
    "contents of a wrong type": ({"contents": "Hello"}, "Invalid value at 'contents'"),
    "a text as the system instruction": (
        body(systemInstruction="Be brief."),
        "Invalid value at 'system_instruction' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content), ",
    ),
    "a configuration of a wrong type": (body(generationConfig=[1]), "Invalid value at 'generation_config'"),
    "a text that is none": (
        body(USER, user({"text": 7})),
        "Invalid value at 'contents[1].parts[0].text' (TYPE_STRING), 7",
    ),
    "a content of a wrong type": (body(USER, 7), "Invalid value at 'contents'"),
    "an unknown field": (body(stream=True), 'Unknown name "stream": Cannot find field.'),
    "a tool of OpenAI": (
        body(tools=[FUNCTION, {"type": "function", "name": "rain", "parameters": {}}]),
        "Unknown name \"type\" at 'tools[1]': Cannot find field.",
    ),
    "a tool of Claude": (
        body(tools=[{"name": "rain", "input_schema": {}}]),
        "Unknown name \"name\" at 'tools[0]': Cannot find field.",
    ),
    "an unknown role": (
        body({"role": "assistant", "parts": [{"text": "Hi"}]}),
        "Please use a valid role: user, model.",
    ),
    "no parts": (body(user()), "contents[0].parts: contents.parts must not be empty."),
    "an empty part": (body(user({"text": "Hi"}, {})), f"contents[0].parts[1].data: {NO_DATA}"),
    "a part of two kinds": (
        body(USER, model({"text": "Hi", **SKIPPED}), user(RESULT)),
        "Invalid value at 'contents[1].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'functionCall'",
    ),
    "a result that is text": (
        body(USER, model(SKIPPED), user({"functionResponse": {"name": "rain", "response": "wet"}})),
        "Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Str",
    ),
    "an image that it does not read": (
        body(user({"text": "see"}, {"inlineData": {"mimeType": "image/gif", "data": "R0lGOA=="}})),
        "Unsupported MIME type: image/gif",
    ),
    "an empty text": (body(USER, model({"text": ""}), USER), "it must have a text parameter"),
    "a call without a result": (body(USER, model(SKIPPED)), COUNT),
    "a prompt before the result": (body(USER, model(SKIPPED), USER, user(RESULT)), COUNT),
    "results of one content in two": (body(USER, model(SKIPPED, OTHER), user(RESULT), user(RESULT)), COUNT),
    "an answer at the end": (body(USER, model({"text": "Hi"})), "Requests ending with a model turn are not supported"),
    "one result of two": (body(USER, model(SKIPPED, OTHER), user(RESULT)), COUNT),
    "a result without a call": (body(USER, model({"text": "Hi"}), user(RESULT)), NO_CALL),
    "a call before all prompts": (
        body(model({"text": "Hm"}), model(SKIPPED), user(RESULT)),
        "call turn comes immediately",
    ),
    "a call without a name": (
        body(USER, model({"functionCall": {"args": {}}}), user(RESULT)),
        "contents[1].parts[0].function_call.name: Name cannot be empty.",
    ),
    "calls with one id": (
        body(USER, model(*[{"functionCall": {"id": "c1", "name": "rain"}}] * 2), user(RESULT, RESULT)),
        "Request contains an invalid argument.",
    ),
    "a result without a name": (
        body(USER, model(SKIPPED), user({"functionResponse": {"name": "", "response": {}}})),
        "contents[2].parts[0].function_response.name: Name cannot be empty.",
    ),
    "a function without a name": (body(tools=[{"functionDeclarations": [{}]}]), "Invalid function name."),
    "the same function twice": (body(tools=[FUNCTION, FUNCTION]), "Duplicate function declaration found: rain"),
    "a call without a signature": (
        body(USER, model(CALL), user(RESULT)),
        "Function call is missing a thought_signature in functionCall parts.",
    ),
    "a second step without a signature": (
        body(USER, model(SKIPPED), user(RESULT), model(CALL), user(RESULT)),
        "function call `default_api:rain` , position 4.",
    ),
    "a signature of half a character": (
        body(USER, model({**CALL, "thoughtSignature": "\ud800"}), user(RESULT)),
        "Corrupted thought signature.",
    ),
    "an unknown signature": (
        body(USER, model({**CALL, "thoughtSignature": "AAAA"}), user(RESULT)),
        "Corrupted thought signature.",
    ),
}


@pytest.mark.parametrize(("request_", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(request_, message):
    """
    A strict mock refuses what the service refuses, with an error of its shape.
    """
    found = posted(anything(), request_)
    error = found.document["error"]

    assert (400, 400, "INVALID_ARGUMENT") == (found.status, error["code"], error["status"])
    assert message in error["message"]


ACCEPTED = {
    "a call and the last chunk of its stream": body(USER, model(SKIPPED), model({"text": ""}), user(RESULT)),
    "a greeting": body(model({"text": "Hello"}), USER),
    "a prompt without a role": body({"parts": {"text": "Hello"}}),
    "a loop": body(USER, model({"text": "Hm", "thought": True}, SKIPPED, OTHER), user(RESULT, RESULT)),
    "results in contents of their own": body(USER, model(SKIPPED), model(CALL), user(RESULT), user(RESULT)),
    "a turn before without a signature": body(USER, model(CALL), user(RESULT), model({"text": "Sunny."}), USER),
    "an empty text behind a call": body(USER, model(SKIPPED, {"text": ""}), user(RESULT)),
    "the other signature without a check": body(
        USER, model({**CALL, "thoughtSignature": "context_engineering_is_the_way_to_go"}), user(RESULT)
    ),
    "fields in snake_case": {
        "contents": [USER, model({"function_call": CALL["functionCall"], "thought_signature": NO_SIGNATURE}),
                     user({"function_response": RESULT["functionResponse"]})],
        "system_instruction": {"parts": {"text": "Be brief."}},
        "generation_config": {"max_output_tokens": 9},
    },
}  # fmt: skip


@pytest.mark.parametrize("request_", ACCEPTED.values(), ids=ACCEPTED)
def test_what_is_accepted(request_):
    """
    What the service accepts is answered.
    """
    assert 200 == posted(anything(), request_).status


PREFILLED = {
    "gemini-2.5-pro": 200,
    "gemini-3.5-flash": 200,
    "gemini-3.5-flash-lite": 400,
    "gemini-3.8-flash": 400,
    "gemini-4-pro": 400,
}


@pytest.mark.parametrize(("name", "status"), PREFILLED.items())
def test_a_prompt_beside_a_result(name, status):
    """
    The same models refuse one in the same content (vellum-ai/vellum-assistant#39495), and take it behind that.
    """
    path, text = UNARY.replace(MODEL, name), {"text": "And?"}
    beside = body(USER, model(SKIPPED), user(RESULT, text))
    behind = body(USER, model(SKIPPED), user(RESULT), user(text))

    assert [status, 200] == [posted(anything(), each, path).status for each in (beside, behind)]


@pytest.mark.parametrize(("name", "status"), PREFILLED.items())
def test_an_answer_at_the_end(name, status):
    """
    Models from 3.6 on, and 3.5 Flash-Lite, refuse one (LibreChat-AI/agents#323 and #499, measured).
    """
    assert status == posted(anything(), body(USER, model({"text": "Hi"})), UNARY.replace(MODEL, name)).status


def test_a_signature_that_clients_carry(monkeypatch):
    """
    A real signature that a client has for calls without one is known by its hash; any other is refused.
    """
    known, other = (b64encode(text).decode() for text in (b"a real one", b"another one"))
    monkeypatch.setattr(validation, "_OF_CLIENTS", {sha256(known.encode()).hexdigest()})

    assert [200, 400] == [
        posted(anything(), body(USER, model({**CALL, "thoughtSignature": each}), user(RESULT))).status
        for each in (known, other)
    ]


def called(*ids):
    inputs = [{"name": "rain", "arguments": {"at": 1}}, {"name": "rain", "arguments": {"at": 2}}, {"name": "snow"}]
    return {"calls": [{"id": call_id, **call} for call_id, call in zip(ids, inputs, strict=True)]}


BY_CALL = {
    "version": 1,
    "fixtures": [
        {"match": {"user_text": "Hello"}, "answer": called("c1", "c2", "c3")},
        {"match": {"user_text": "Bye"}, "answer": called("c7", "c8", "c9")},
        *[
            {"match": {"last_call_id": call_id}, "answer": {"text": f"after {call_id}"}}
            for call_id in ("c2", "c3", "c9", "call_gemini_hail_0")
        ],
    ],
}
RAIN_1, RAIN_2, SNOW, HAIL = [
    {"functionCall": {"name": name, **({"args": args} if args else {})}}
    for name, args in [("rain", {"at": 1.0}), ("rain", {"at": 2}), ("snow", None), ("hail", {"at": 1})]
]
RAINED, SNOWED, HAILED = [
    {"functionResponse": {"name": name, "response": {"output": "sunny"}}} for name in ("rain", "snow", "hail")
]
WITHOUT_IDS = {
    "in order": (USER, [RAIN_1, RAIN_2, SNOW], [RAINED, RAINED, SNOWED], "after c3"),
    "results in another order": (USER, [RAIN_1, RAIN_2, SNOW], [SNOWED, RAINED, RAINED], "after c2"),
    "another conversation": (user({"text": "Bye"}), [RAIN_1, RAIN_2, SNOW], [RAINED, RAINED, SNOWED], "after c9"),
    "not of a fixture": (USER, [HAIL], [HAILED], "after call_gemini_hail_0"),
    "ids in another order": (
        USER,
        [{"functionCall": {"name": "rain", "id": each}} for each in ("c2", "c3")],
        [{"functionResponse": {**RAINED["functionResponse"], "id": each}} for each in ("c3", "c2")],
        "after c2",
    ),
    "results alone": (USER, [{"functionCall": {"name": "hail", "id": "c9"}}], [HAILED], "after c9"),
}


@pytest.mark.parametrize(("prompt", "calls", "results", "text"), WITHOUT_IDS.values(), ids=WITHOUT_IDS)
def test_calls_without_ids(prompt, calls, results, text):
    """
    Calls that a client sends back without their ids are those of the fixture that answers the conversation before them.

    langchain-google-genai and aisuite send them so; the former writes whole numbers as `1.0`.
    """
    signed = [{**calls[0], "thoughtSignature": NO_SIGNATURE}, *calls[1:]]
    found = posted(provider_of(BY_CALL), body(prompt, model(*signed), user(*results)))

    assert [text] == [part.get("text") for part in parts_of(found.document)]


def test_old_models():
    """
    Models before Gemini 3 take a call without its signature, and no other one.
    """
    changed = body(USER, model({**CALL, "thoughtSignature": "AAAA"}), user(RESULT))

    assert 200 == posted(anything(), body(USER, model(CALL), user(RESULT)), OLD).status
    assert 400 == posted(anything(), changed, OLD).status


SECOND = {
    "as it came": (lambda signature: signature, 200),
    "in the alphabet for addresses": (lambda signature: signature.translate(str.maketrans("+/", "-_")), 200),
    "without padding": (lambda signature: signature.rstrip("="), 200),
    "changed": (lambda signature: signature[:-3] + ("A" if signature[-3] != "A" else "B") + signature[-2:], 400),
    "lost": (lambda signature: "", 400),
}


@pytest.mark.parametrize(("change", "status"), SECOND.values(), ids=SECOND)
@pytest.mark.parametrize("given", [None, b64encode(b"\xfb\xff given").decode()])
def test_a_second_turn(given, change, status):
    """
    The signature of a call has to come back, one of ours and one of a fixture.
    """
    part = {**CALL, **({} if given is None else {"thoughtSignature": given})}
    provider = provider_of({"Hello": {"parts": [part, OTHER]}, Match(call_id="c1"): "Sunny."})
    signed, other = parts_of(posted(provider).document)
    signature = signed["thoughtSignature"]
    found = posted(
        provider, body(USER, model({**signed, "thoughtSignature": change(signature)}, other), user(RESULT, RESULT))
    )

    assert given in (None, signature)
    assert OTHER == other
    assert status == found.status


def test_signatures_elsewhere():
    """
    The last text of an answer without calls is signed; in another part the signature of a call is refused.
    """
    provider = provider_of({"Hello": {"text": "Hi"}, "Call": {"parts": [CALL]}})
    [text] = parts_of(posted(provider).document)
    [call] = parts_of(posted(provider, body(user({"text": "Call"}))).document)
    moved = {**text, "thoughtSignature": call["thoughtSignature"]}
    asked_ = [posted(provider, body(USER, model(part), USER)).status for part in (text, without_signature(text), moved)]

    assert [200, 200, 400] == asked_
    assert "thoughtSignature" in text


def test_images_are_signed():
    """
    Image models from Gemini 3 on refuse an image of an answer that comes back without its signature.
    """
    path = "/v1beta/models/gemini-3-pro-image-preview:generateContent"
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}
    provider = provider_of({"Hello": {"parts": [{**image, "thought": True}, {"text": "Here."}, image]}})
    thought, text, signed = parts_of(posted(provider, path=path).document)
    lost = posted(provider, body(USER, model(thought, text, image), USER), path)

    assert [image, text] == [without_signature(signed), {"text": "Here."}]
    assert "thoughtSignature" not in thought
    assert 200 == posted(provider, body(USER, model(thought, text, signed), USER), path).status
    assert 200 == posted(provider, body(USER, model(thought, text, image), USER)).status
    assert 400 == lost.status
    assert "Image part is missing a thought_signature in content position 2, part position 3." in str(lost.document)


def test_a_signature_that_a_fixture_leaves_out():
    """
    An empty signature is none: the answer is not signed.
    """
    found = posted(anything({"parts": [{"text": "Hi", "thoughtSignature": ""}]})).document

    assert [{"text": "Hi"}] == parts_of(found)


@pytest.mark.parametrize("stream", [True, False])
def test_turns_of_our_client(stream):
    """
    What the encoder sends back is accepted: calls with their signatures and results, and texts.
    """
    answers = [
        {"text": "Hm.", "calls": [{"id": "c1", "name": "rain"}, {"id": "c2", "name": "snow"}]},
        {"calls": [{"id": "c3", "name": "rain"}]},
        {"text": "Sunny."},
        {"text": "Rainy."},
    ]
    session = SyncSession.open(MemoryStore(), "s")
    session.prompt("Hello")
    with (
        mock_provider({"version": 1, "fixtures": [{"match": {}, "answers": answers}]}, dialect=mock.name) as provider,
        SyncGeminiGenerateContent("key-of-a-test", base_url=provider.url) as client,
    ):
        for _ in answers:
            with session.respond(client, {"model": MODEL, "stream": stream}) as events:
                list(events)
            if not session.transcript.pending_tool_calls:
                session.prompt("And?")
            for call in session.transcript.pending_tool_calls:
                session.append(call.succeed("sunny"))

    assert ["Hm.", "", "Sunny.", "Rainy."] == [
        message.text for message in session.transcript.messages if isinstance(message, AssistantMessage)
    ]
    assert session.transcript.last_answer.error is None


def test_without_signatures():
    """
    A mock that does not sign neither asks for signatures nor checks them.
    """
    provider = provider_of({"Hello": {"parts": [CALL]}, Match(call_id="c1"): "Sunny."}, sign=False)
    found = posted(provider, body(USER, model({**CALL, "thoughtSignature": "AAAA"}), user(RESULT)))

    assert [CALL] == parts_of(posted(provider).document)
    assert 200 == found.status


def test_keys_and_routes():
    """
    A key, any key, is required, in a header or in the query; Vertex has longer paths; other paths are errors.
    """
    provider = anything()
    without = {"x-goog-api-key": None}
    vertex = f"/v1/projects/p/locations/global/publishers/google/models/{MODEL}:generateContent"
    found = [
        posted(provider, headers=without),
        posted(provider, path=UNARY.replace("v1beta", "v9")),
        posted(provider, path=f"/v1beta/models/{MODEL}:embedContent"),
        asked(provider, "GET", UNARY),
    ]
    fine = [
        posted(provider, path=f"{UNARY}?key=secret", headers=without),
        posted(provider, path=vertex, headers={**without, "authorization": "Bearer secret"}),
        posted(provider, path=f"/v1/publishers/google/models/{MODEL}:streamGenerateContent"),
    ]

    assert [(403, "PERMISSION_DENIED"), (404, "NOT_FOUND"), (404, "NOT_FOUND"), (405, "UNIMPLEMENTED")] == [
        (each.status, each.document["error"]["status"]) for each in found
    ]
    assert [200] * 3 == [each.status for each in fine]


def test_a_lenient_mock():
    """
    Any object is a request.
    """
    found = posted(anything(strict=False), {"stream": True}, headers={"x-goog-api-key": None})

    assert (200, "Hi") == (found.status, parts_of(found.document)[0]["text"])


# -- faults


FAULTS = {
    "no-completed": lambda chunks: ["Hi"] == [part["text"] for part in parts_of(chunks[-1])],
    "completed-in-progress": lambda chunks: "finishReason" not in chunks[1]["candidates"][0],
    "no-usage": lambda chunks: "usageMetadata" in chunks[0] and "usageMetadata" not in chunks[1],
    "error@1": lambda chunks: len(chunks) == 2 and chunks[1]["error"]["status"] == "UNAVAILABLE",
    "cut@1": lambda chunks: len(chunks) == 1,
    "empty-errors@1": lambda chunks: [None, {}] == [chunk["error"] for chunk in chunks[1:3]],
    "unknown-events@1": lambda chunks: [{"dream": "of tomorrow"}] == parts_of(chunks[2]),
    "duplicated-frames@2": lambda chunks: chunks[:2] == chunks[2:],
    "no-done": lambda chunks: len(chunks) == 2,
    "comments": lambda chunks: len(chunks) == 2,
}


@pytest.mark.parametrize("path", [STREAM, ARRAY], ids=["events", "array"])
@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault, path):
    """
    A fault breaks the stream in the way of this wire. Without one it has a text and an end, and an array its bracket.
    """
    exchange = posted(anything(faults=[fault]), path=path)
    chunks = exchange.events if path == STREAM else [json.loads(each) for each in JsonArray().feed(exchange.body)]

    assert FAULTS[fault](chunks)
    assert exchange.body.endswith(b"]") == (path == ARRAY and fault not in ("error@1", "cut@1", "no-done"))


def test_a_cut_by_a_gateway():
    """
    The rest of the body is a bare error.
    """
    exchange = posted(anything(faults=["ten-minute-cut@1"]), path=STREAM)

    assert exchange.body.endswith(b'"status":"DEADLINE_EXCEEDED"}}\n')


def test_an_http_fault():
    """
    The first request gets an error with the time to wait.
    """
    found = posted(anything(faults=["http-429"]))

    assert (429, "RESOURCE_EXHAUSTED", "1") == (
        found.status,
        found.document["error"]["status"],
        found.headers["retry-after"],
    )


# -- fixtures


def test_facts_of_a_request():
    """
    System text, tools, and results with the id of their call are read; thoughts of the client are left out.
    """
    nameless = {"functionCall": {"name": "snow"}}
    facts = read_request(
        {
            "model": MODEL,
            **body(
                user({"text": "a thought", "thought": True}, {"text": "Hel"}, {"text": "lo"}),
                model(CALL),
                model(nameless),
                user({"functionResponse": {"name": "snow", "response": {"output": 1}}}, RESULT),
            ),
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [{"name": "rain"}, {"name": "snow"}]}, {"googleSearch": {}}],
        }
    )

    assert (MODEL, "Be brief.", {"rain", "snow"}) == (facts.model, facts.system, facts.tools)
    assert ("Hello", 1, 1) == (facts.user_text, facts.turn, [item.kind for item in facts.items].count("model"))
    assert (("call_gemini_snow_0", "c1"), '{"output":"sunny"}') == (facts.call_ids, facts.result_text)


def test_a_text_beside_a_result():
    """
    It is a prompt of its own behind the result.
    """
    facts = read_request(body(USER, model(CALL), user(RESULT, {"text": "And?"})))

    assert ("And?", 1) == (facts.user_text, [item.kind for item in facts.items].count("result"))


def one(response, **more):
    """Return the answer of a fixture of aimock."""
    fixtures = load_fixtures(mock.form, {"fixtures": [{"match": {}, "response": response, **more}]})
    ((answer,),) = [fixture.answers for fixture in fixtures]
    return answer


AIMOCK = {
    "a text": ({"content": "Hi"}, [{"text": "Hi"}], "STOP"),
    "reasoning and a call without an id": (
        {"reasoning": "Hm", "toolCalls": [{"name": "rain", "id": "", "arguments": '{"at": 1}'}]},
        [{"text": "Hm", "thought": True}, {"functionCall": {"name": "rain", "args": {"at": 1}, "id": None}}],
        "STOP",
    ),
    "a text before a call": (
        {"content": "Hi", "toolCalls": [{"name": "rain", "id": "c1", "arguments": {"at": 1}}]},
        [{"text": "Hi"}, CALL],
        "STOP",
    ),
    "a reason of another API": ({"content": "Hi", "finishReason": "length"}, [{"text": "Hi"}], "MAX_TOKENS"),
    "a reason of its own": ({"content": "Hi", "finishReason": "SPII"}, [{"text": "Hi"}], "SPII"),
}


@pytest.mark.parametrize(("response", "parts", "reason"), AIMOCK.values(), ids=AIMOCK)
def test_fixtures_of_aimock(response, parts, reason):
    """
    An answer is what aimock sends for it, with the service's own reason for calls; without counts they are 0.
    """
    usage = {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0}

    assert Answer(parts=parts, finish_reason=reason, usage=usage) == one(response)


def test_more_of_aimock():
    """
    Counts have the names of any API, errors their type as status; a cut counts chunks with content.
    """
    counted = one({"content": "Hi", "usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    error = one({"error": {"message": "later", "type": "RESOURCE_EXHAUSTED"}, "status": 429})
    provider = provider_of({"fixtures": [{"match": {}, "response": {"error": {"message": "later"}, "status": 404}}]})
    cut = one({"content": "abcdef", "reasoning": "Hm"}, chunkSize=2, truncateAfterChunks=2)

    assert {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7} == counted.usage
    assert (429, "RESOURCE_EXHAUSTED") == (error.http_error.status, error.http_error.code)
    assert {"code": 404, "message": "later", "status": "ERROR"} == posted(provider).document["error"]
    assert (2, 2) == (cut.cut_after, cut.timing.delta_chars)


# -- recordings


@pytest.mark.parametrize("path", [STREAM, UNARY], ids=["stream", "document"])
def test_a_recording_gives_the_same(tmp_path, path):
    """
    What was recorded is given again: parts with signatures, usage and the reason; an error with its status.
    """
    file = tmp_path / "recorded.json"
    script = {
        "Hello": {**EVERYTHING, "candidate": {"avgLogprobs": -0.5}, "more": {"promptFeedback": {"safetyRatings": []}}},
        "Blocked": BLOCKED,
        "Bad": {"http_error": {"status": 429, "message": "later", "headers": {"retry-after": "7"}}},
        "Broken": {"text": "Hi", "stream_error": {"code": "UNAVAILABLE", "message": "boom"}},
    }
    requests = [(path, body(user({"text": text}))) for text in script]
    recorded, replayed = asyncio.run(recorded_and_replayed(mock, provider_of, script, file, requests, {}))

    for before, after in zip(recorded, replayed, strict=True):
        assert before.status == after.status
        if before.status == 200:
            assert message_of(mock.name, before) == message_of(mock.name, after)
        else:
            assert before.document == after.document
    assert "7" == replayed[2].headers["retry-after"]
    assert {MODEL} == {fixture.match.model for fixture in load_fixtures(mock.form, file)}
    assert "secret" not in file.read_text("utf-8")


def test_calls_without_ids_are_recorded(tmp_path):
    """
    A recording of a client that sends no ids of calls answers that client.
    """
    calls = {"calls": [{"id": "c1", "name": "rain", "arguments": {"at": 1}}]}
    fixtures = [
        {"match": {"call_id": "c1"}, "answer": {"text": "It rains."}},
        {"match": {}, "answer": calls},
    ]
    again = body(USER, model({**RAIN_1, "thoughtSignature": NO_SIGNATURE}), user(RAINED))
    requests = [(UNARY, body()), (UNARY, again)]

    async def main():
        path = tmp_path / "recorded.json"
        return await recorded_and_replayed(
            mock, provider_of, {"version": 1, "fixtures": fixtures}, path, requests, None
        )

    for exchanges in asyncio.run(main()):
        assert [200, 200] == [each.status for each in exchanges]
        assert "It rains." == parts_of(exchanges[1].document)[0]["text"]


@pytest.mark.parametrize(("path", "is_array"), [(ARRAY, True), (STREAM, False), (UNARY, False)])
def test_an_error_in_place_of_a_stream(path, is_array):
    """
    Where a stream is a JSON array, so is the answer with an error.
    """
    found = posted(anything(faults=["http-429"]), path=path)
    [error] = found.document if is_array else [found.document]

    assert (429, 429) == (found.status, error["error"]["code"])
