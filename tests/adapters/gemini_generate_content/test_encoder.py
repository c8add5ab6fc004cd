"""
What generateContent takes back: order, signatures, results, and what must not be sent.
"""

import base64

import attrs
import pytest

from assistant_events import ErrorInfo, ErrorKind, Transcript, UserMessage, fold
from assistant_events.adapters.gemini_generate_content import NO_SIGNATURE
from assistant_events.errors import LocalProtocolError
from assistant_events.testing import Call, prompt
from assistant_events.testing import answer as built
from assistant_events.values import JsonContent, MediaContent, TextContent

from .notation import DIALECT, MODEL, C, F, H, O, P, T, X, answer, encoded, ended, events, message, stream
from .samples import ERROR, FOUND, SAMPLES, SEARCH, SIG, SIG_2

USER = UserMessage(id="u1", content="Hi")
ASKED = {"role": "user", "parts": [{"text": "Hi"}]}
BYPASS = base64.b64encode(b"skip_thought_signature_validator").decode()
SHOWN = {"toolConfig": {"includeServerSideToolInvocations": True}}
PNG = {"mimeType": "image/png", "data": "iVBORw=="}


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def user(*parts):
    return {"role": "user", "parts": list(parts)}


def response(name, response, **fields):
    return {"functionResponse": {"name": name, "response": response, **fields}}


SENT = {
    "text": [T("Hello world")],
    "thought and text": [H("Plan: look"), T("Yes.")],
    "signature at the end of a text": [T("Hello", SIG)],
    "signed text in the middle": [T("one two", SIG), T(" three", SIG_2)],
    "signed thought": [H("hm", SIG), H("more"), T("Yes.")],
    "code": [X("print(1)", SIG, id="x1"), O("1\n", id="x1"), T("It is 1.")],
    "speech": [
        {"inlineData": {"mimeType": "audio/L16;codec=pcm;rate=24000", "data": "AAEAAgAD"}},
        T("So."),
        {"inlineData": {"mimeType": "audio/L16;codec=pcm;rate=24000", "data": "BAAF"}},
        {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}},
        {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}},
    ],
    "images": [
        {"inlineData": PNG, "thought": True},
        {"inlineData": {"mimeType": "image/jpeg", "data": "/9j/4A==", "displayName": "cat"}, "thoughtSignature": SIG},
        {"fileData": {"mimeType": "audio/wav", "fileUri": "https://files.example/1"}},
    ],
    "unknown parts": [{"hologram": {"beam": "blue-green"}}, {**T("So."), "thoughtSignature": SIG}],
    "result without its call": [T("hm"), O("1\n"), T("It is 1.")],
}


CUT = stream(C(H("Hm")), C(T("Hel")))
ENDS = {
    "asked again": ([CUT], [ASKED]),
    "asked again, and answered": ([CUT, answer(T("Hello"))], [ASKED, model(T("Hello"))]),
    "a prompt follows": ([CUT, "Go on"], [ASKED, model(T("Hel")), user(T("Go on"))]),
}


@pytest.mark.parametrize(("behind", "expected"), ENDS.values(), ids=ENDS)
def test_an_answer_that_was_cut(behind, expected):
    """
    Gemini 3.6 Flash answers 400: "Requests ending with a model turn are not supported" (LibreChat-AI/agents#323).
    """
    messages = [message(each) if isinstance(each, bytes) else UserMessage(id="u2", content=each) for each in behind]
    messages = [attrs.evolve(each, id=f"m{at}") for at, each in enumerate(messages)]
    found, drops = encoded(USER, *messages)

    assert expected == found
    assert ("asked for again" in str(drops)) == (len(expected) < 3)


@pytest.mark.parametrize("before", [[], [UserMessage(id="u1", content="")]], ids=["no prompt", "an empty one"])
def test_a_call_at_the_beginning(before):
    """
    The service refuses it: "ensure that function call turn comes immediately after a user turn" (gemini-cli#11814).
    """
    begun = user(T("The beginning of the conversation is left out."))
    called = fold(built("Hm", calls=[Call("f", {}, output="1")])).last
    greeted = message(answer(T("Hello")))

    found, _ = encoded(*before, called, model="gemini-2.5-flash")
    assert [begun, model(T("Hm"), F("f", {})), user(response("f", {"output": "1"}))] == found
    assert [model(T("Hello")), ASKED] == encoded(greeted, USER)[0]


@pytest.mark.parametrize("name", SENT)
def test_parts_go_back(name):
    """
    Every part is sent as it came, at its place: none is merged with another, and a signature stays in its part.
    """
    assert ([ASKED, model(*SENT[name])], []) == encoded(USER, message(SAMPLES[name]))


def test_the_outcome_of_code_that_failed():
    """
    It returns in the word of the service.
    """
    sent = [X("sleep()", id="x1"), O("", "OUTCOME_DEADLINE_EXCEEDED", id="x1"), T("So.")]

    assert ([ASKED, model(*sent)], []) == encoded(USER, message(answer(*sent)))


@pytest.mark.parametrize("part", [{"audioTranscription": {"text": "a"}}, {"partMetadata": {"a": "b"}}])
def test_a_part_without_data(part):
    """
    The service refuses it ("required oneof field 'data'"), also where it has sent it: it is output alone.
    """
    contents, drops = encoded(USER, message(answer(part, T("So."))))

    assert [ASKED, model(T("So."))] == contents
    assert [(0, "unplaced")] == drops


@pytest.mark.parametrize("kind", ["functionCall", "functionResponse"])
def test_a_function_without_a_name(kind):
    """
    The service refuses it ("Name cannot be empty"), in each later request of the conversation.
    """
    found = message(answer(T("Hm."), {kind: {"name": "", "args": {"x": 1}, "response": {}}, "thoughtSignature": SIG}))

    assert ([ASKED, model(T("Hm."))], [(1, "unplaced")]) == encoded(USER, found)
    assert "opaque" == found.parts[1].type


STEP = (None, "other-model")  # the id of a response
IMAGE_MODELS = ["gemini-3-pro-image-preview", "gemini-3.1-flash-image", "nano-banana-pro-preview", "gemini-10-image"]


@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_an_image_without_a_signature(name):
    """
    Image models refuse it in an answer ("Image part is missing a thought_signature in content position 2, part position
    2", archestra#2548, langchain-google#1431, big-AGI for images of other models): it is sent as one of the user.
    """
    drawn = message(answer(T("Here."), {"inlineData": PNG}))
    later = UserMessage(id="u2", content="Make it red")
    expected = [ASKED, model(T("Here.")), user({"inlineData": PNG}, T("Make it red"))]

    assert (expected, [STEP, (1, "reworded")]) == encoded(USER, drawn, later, model=name)


def test_an_image_without_a_signature_beside_a_call():
    """
    It is behind the results, which are directly behind their calls.
    """
    transcript = fold(events(answer(F("f", {}, SIG, id="f1"), {"inlineData": PNG})))
    transcript = fold([transcript.pending_tool_calls[0].succeed("done")], start=transcript)
    results = [user(response("f", {"output": "done"}, id="f1")), user({"inlineData": PNG})]
    found = encoded(USER, *transcript.messages, model="gemini-3-pro-image-preview")

    assert ([ASKED, model(F("f", {}, SIG, id="f1")), *results], [STEP, (1, "reworded")]) == found


IMAGES_THAT_STAY = {
    "a signed one": ({"inlineData": PNG, "thoughtSignature": SIG}, "gemini-3-pro-image-preview"),
    "one of a thought": ({"inlineData": PNG, "thought": True}, "gemini-3-pro-image-preview"),
    "audio": ({"inlineData": {"mimeType": "audio/wav", "data": "AA=="}}, "gemini-3-pro-image-preview"),
    "for an older model": ({"inlineData": PNG}, "gemini-2.5-flash-image"),
    "for a model of texts": ({"inlineData": PNG}, "gemini-3-pro-preview"),
}


@pytest.mark.parametrize(("part", "name"), IMAGES_THAT_STAY.values(), ids=IMAGES_THAT_STAY)
def test_an_image_that_stays_in_its_answer(part, name):
    """
    What no model refuses is sent at its place.
    """
    found = encoded(USER, message(answer(T("Here."), part)), model=name)

    assert ([ASKED, model(T("Here."), part)], [STEP]) == found


def test_the_same_request_twice():
    """
    The same messages give the same bytes: the service caches what is before.
    """
    assert repr(encoded(USER, message(SAMPLES["code"]))) == repr(encoded(USER, message(SAMPLES["code"])))


# -- calls and results


def called(name, *outputs, model=MODEL):
    """
    Return the contents behind a prompt after the calls of a sample were answered with these outputs, and the drops.
    """
    transcript = fold(events(SAMPLES[name]))
    calls = transcript.last.tool_calls
    transcript = fold([call.succeed(each) for call, each in zip(calls, outputs, strict=True)], start=transcript)
    found, drops = encoded(USER, *transcript.messages, model=model)
    return found[1:], drops


def test_results_of_parallel_calls():
    """
    All results are in one content, in the order of the calls, with the ids that the service gave.
    """
    found, drops = called("parallel calls", "one", JsonContent({"two": 2}))

    assert [
        model(F("a", {"x": 1}, SIG, id="fc1"), F("b", {"y": "é"}, id="fc2")),
        user(response("a", {"output": "one"}, id="fc1"), response("b", {"two": 2}, id="fc2")),
    ] == found
    assert [] == drops


def test_a_call_without_an_id():
    """
    It is sent without one, and so is its result.
    """
    found, _ = called("calls without ids", "one", "two")

    assert [
        model(F("a", {}, SIG), F("a", {"x": [1, None]})),
        user(response("a", {"output": "one"}), response("a", {"output": "two"})),
    ] == found


def test_calls_with_one_id():
    """
    The service refuses two ids of one name in a content (watt-mind/coach#280): they and their results have none.
    """
    transcript = fold(events(answer(F("a", {"x": 1}, SIG, id="c1"), F("a", {"x": 2}, id="c1"), F("b", {}, id="c2"))))
    calls = transcript.pending_tool_calls
    results = [call.succeed(output) for call, output in zip(calls, ("one", "two", "three"), strict=True)]
    found, drops = encoded(USER, *fold(results, start=transcript).messages)

    assert [
        model(F("a", {"x": 1}, SIG), F("a", {"x": 2}), F("b", {})),
        user(*[response(name, {"output": text}) for name, text in (("a", "one"), ("a", "two"), ("b", "three"))]),
    ] == found[1:]
    assert [] == drops


def test_arguments_that_came_in_pieces():
    """
    They are sent whole.
    """
    found, _ = called("arguments out of order", "done")

    assert model(F("f", {"a": {"b": 1, "d": 3}, "c": 2})) == found[0]


RESULTS = {
    "text": ("cold", {"output": "cold"}, []),
    "an object": (JsonContent({"t": [1]}), {"t": [1]}, []),
    "another JSON value": (JsonContent([1, None]), {"output": [1, None]}, []),
    "a text and JSON": ((TextContent("cold"), JsonContent({"t": 1})), {"output": 'cold\n{"t":1}'}, []),
    "nothing": ((), {"output": ""}, []),
    "an image": (
        (TextContent("see"), MediaContent(media_type="image/png", data=b"\x89PNG")),
        {"output": "see"},
        [{"inlineData": PNG}],
    ),
    "an object and an image": (  # google/computer-use-preview, agent.py
        (JsonContent({"url": "https://x"}), MediaContent(media_type="image/png", data=b"\x89PNG")),
        {"url": "https://x"},
        [{"inlineData": PNG}],
    ),
    "an image elsewhere": (
        MediaContent(media_type="image/png", uri="gs://a/b.png"),
        {"output": ""},
        [{"fileData": {"mimeType": "image/png", "fileUri": "gs://a/b.png"}}],
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    """
    The response is an object; images are beside it.
    """
    output, expected, media = RESULTS[name]
    found, drops = called("call without arguments", output)

    more = {"parts": media} if media else {}
    assert ([model(F("g", {})), user(response("g", expected, **more))], []) == (found, drops)


BESIDE = {
    "audio": ("gemini-3-flash-preview", "audio/wav", False),
    "an archive": ("gemini-3-flash-preview", "application/zip", False),
    "an image": ("gemini-3-flash-preview", "image/png", True),
    "a document": ("gemini-3-flash-preview", "application/pdf", True),
    "an image for an older model": ("gemini-2.5-flash", "image/png", False),
    "a screenshot": ("gemini-2.5-computer-use-preview-10-2025", "image/png", True),
}


@pytest.mark.parametrize(("name", "kind", "is_held"), BESIDE.values(), ids=BESIDE)
def test_media_that_no_response_holds(name, kind, is_held):
    """
    The service refuses other media inside of a response, and older models all: these are a content behind the results.
    """
    media = MediaContent(media_type=kind, data=b"\x89PNG")
    found, drops = called("parallel calls", (TextContent("see"), media), "two", model=name)
    part = {"inlineData": {"mimeType": kind, "data": "iVBORw=="}}

    responses = [
        response("a", {"output": "see"}, id="fc1", **({"parts": [part]} if is_held else {})),
        response("b", {"output": "two"}, id="fc2"),
    ]
    assert [user(*responses), *([] if is_held else [user(part)])] == found[1:]
    assert [] == [drop for drop in drops if "unsupported" in map(str, drop)]


@pytest.mark.parametrize(
    ("kind", "is_seen"),
    [("image/gif", False), ("image/svg+xml", False), ("image/tiff", False), ("image/heic", True), ("video/mp4", True)],
)
def test_an_image_that_gemini_does_not_read(kind, is_seen):
    """
    “Unsupported MIME type: image/gif”, also where another model had seen it before (vscode#286628, gemini-cli#14762).
    """
    prompt = UserMessage(id="u1", content=[TextContent("see"), MediaContent(media_type=kind, data=b"GIF8")])
    request = DIALECT.encoder([prompt], {"model": MODEL})

    part = {"inlineData": {"mimeType": kind, "data": "R0lGOA=="}}
    assert [user({"text": "see"}, *([part] if is_seen else []))] == request.body["contents"]
    assert ([] if is_seen else ["unsupported"]) == [drop.reason for drop in request.drops]


@pytest.mark.parametrize("uri", ["file-1", "file_1", "s3://bucket/a.png"])
def test_addresses_of_others(uri):
    """
    What another provider stores cannot be read; bytes in an address can.
    """
    media = [MediaContent(media_type="image/png", uri=each) for each in (uri, "data:image/png;base64,AA==")]
    found, drops = encoded(UserMessage(id="u1", content=media))

    assert [user({"inlineData": {"mimeType": "image/png", "data": "AA=="}})] == found
    assert [(None, "unsupported")] == drops


def test_a_failed_call():
    """
    Its fault is the `error`.
    """
    transcript = fold(events(SAMPLES["call without arguments"]))
    error = ErrorInfo(kind=ErrorKind.TOOL, message="no such place")
    transcript = fold([transcript.last.tool_calls[0].fail(error)], start=transcript)

    assert user(response("g", {"error": "no such place"})) == encoded(USER, *transcript.messages)[0][2]


def test_a_call_that_nothing_answers():
    """
    The request answers it, before the prompt that follows: Gemini 3.6 refuses a text beside results.
    """
    found, drops = encoded(USER, message(SAMPLES["call without arguments"]), USER)

    assert [
        ASKED,
        model(F("g", {})),
        user(response("g", {"error": "No result is available for this call."})),
        ASKED,
    ] == found
    assert [(0, "no-answer")] == drops


def test_a_call_that_the_service_has_answered():
    """
    Its result is the user's, between two contents of the model.
    """
    found, _ = encoded(USER, message(SAMPLES["call that the service answers"]))

    assert [
        ASKED,
        model(F("weather", {"city": "Oslo"})),
        user(response("weather", {"result": "2 °C"})),
        model(T("It is cold.")),
    ] == found


BESIDE_THE_APP = {
    "a text behind them": (
        [[F("w", {}, SIG, id="w1"), F("f", {}, id="f1")], response("w", {"t": 2}, id="w1"), T("It is cold.")],
        model(F("w", {}, SIG, id="w1"), F("f", {}, id="f1"), T("It is cold.")),
    ),
    "one call after the other": (
        [F("w", {}, SIG, id="w1"), F("f", {}, id="f1"), response("w", {"t": 2}, id="w1")],
        model(F("w", {}, SIG, id="w1"), F("f", {}, id="f1")),
    ),
}


@pytest.mark.parametrize(("parts", "called"), BESIDE_THE_APP.values(), ids=BESIDE_THE_APP)
def test_a_result_of_the_service_beside_calls_of_the_app(parts, called):
    """
    All results are in the content directly behind that with the calls, as the service wants them.
    """
    transcript = fold(events(answer(*parts)))
    [waiting] = transcript.pending_tool_calls
    transcript = fold([waiting.succeed("done")], start=transcript)
    results = user(response("w", {"t": 2}, id="w1"), response("f", {"output": "done"}, id="f1"))

    assert ([ASKED, called, results], []) == encoded(USER, *transcript.messages)


def test_a_result_without_its_call_before_a_call_of_the_app():
    """
    It counts for no other call: what is behind the result of the service is before the results all the same.
    """
    lone = response("x", {"t": 1}, id="x1")
    called = [F("a", {}, SIG, id="a1"), F("h", {}, id="h1")]
    transcript = fold(events(answer(lone, called, response("h", {"t": 2}, id="h1"), T("So."))))
    [waiting] = transcript.pending_tool_calls
    contents, _ = encoded(USER, *fold([waiting.succeed("done")], start=transcript).messages)

    results = user(response("h", {"t": 2}, id="h1"), response("a", {"output": "done"}, id="a1"))
    assert [model(*called, T("So.")), results] == contents[-2:]


def test_a_result_of_the_service_before_a_call_of_the_app():
    """
    It stays where it came.
    """
    parts = [F("w", {}, SIG, id="w1"), response("w", {"t": 2}, id="w1"), T("So."), F("f", {}, SIG_2, id="f1")]
    contents, _ = encoded(USER, message(answer(*parts)))

    assert [model(parts[0]), user(parts[1]), model(*parts[2:])] == contents[1:4]


def test_tools_of_the_service():
    """
    They are sent when the request asks for them, and both halves are left out otherwise.
    """
    answered = message(SAMPLES["search"])
    call, result = {"toolCall": SEARCH, "thoughtSignature": SIG}, {"toolResponse": FOUND}

    in_snake_case = {"tool_config": {"include_server_side_tool_invocations": True}}  # which the service takes, too

    for shown in (SHOWN, in_snake_case):
        assert ([ASKED, model(call, result, T("Found.", SIG_2))], []) == encoded(USER, answered, **shown)
    assert ([ASKED, model(T("Found.", SIG_2))], [(0, "unplaced")]) == encoded(USER, answered)


def test_tools_of_the_service_without_a_type():
    """
    The halves of a video that was watched by an agent have an id alone; they are left out as those with a type are.
    """
    call, result = ({half: {"id": "call_3627313"}, "thoughtSignature": SIG} for half in ("toolCall", "toolResponse"))
    text = T("No animals appear.", SIG_2)
    answered = message(answer(call, result, text))

    assert ([ASKED, model(call, result, text)], []) == encoded(USER, answered, **SHOWN)
    assert ([ASKED, model(text)], [(0, "unplaced"), (1, "unplaced")]) == encoded(USER, answered)


@pytest.mark.parametrize("value", ["2 °C, rain", ["rain", 2], {"output": "rain"}, {}])
def test_results_of_the_service_of_any_type(value):
    """
    The response of a tool is returned as it came, also where it is not the object that the service documents.
    """
    call, result = {"toolCall": SEARCH}, {"toolResponse": {**FOUND, "response": value}}
    found, _ = encoded(USER, message(answer(call, result, T("Found."))), **SHOWN)

    assert [ASKED, model(call, result, T("Found."))] == found


@pytest.mark.parametrize(("given", "found"), [({}, {}), ({"args": {}}, {"response": {}})], ids=["missing", "empty"])
def test_tools_of_the_service_without_arguments(given, found):
    """
    A search in files has neither arguments nor a response: none is made up, in requests and in documents.
    """
    searched = {"toolType": "FILE_SEARCH", "id": "s1"}
    call = {"toolCall": {**searched, **given}, "thoughtSignature": SIG}
    result = {"toolResponse": {**searched, **found}, "thoughtSignature": SIG_2}
    answered = message(answer(call, result, T("Found.")))

    assert ([ASKED, model(call, result, T("Found."))], []) == encoded(USER, answered, **SHOWN)
    assert [call, result, T("Found.")] == DIALECT.emit_resource(answered)["candidates"][0]["content"]["parts"]


# -- other models, other providers


def test_another_model_of_google():
    """
    It gets all parts with their state.
    """
    found, drops = called("parallel calls", "1", "2", model="gemini-2.5-flash")

    assert (SIG, [(None, "other-model")]) == (found[0]["parts"][0]["thoughtSignature"], drops)


def moved(name=MODEL, **options):
    """
    Return the contents for a conversation of another provider whose turn has not ended, and what was dropped.
    """
    calls = [Call("f", {"x": 1}, output="one"), Call("g", {}, output="two")]
    transcript = fold(
        [
            prompt("Before", message_id="u0"),
            *built(calls=[Call("e", {}, output="zero")], message_id="a0"),
            prompt("Hi", message_id="u1"),
            *built("I look.", calls=calls, message_id="a1"),
            *built(calls=[Call("h", {}, output="three")], message_id="a2"),
        ]
    )
    request = DIALECT.encoder(transcript, {"model": name}, **options)
    return request.body["contents"][4:], [(drop.message_id, drop.part, str(drop.reason)) for drop in request.drops]


def test_the_history_of_another_provider():
    """
    Calls have no signatures, and ids of others are not sent.
    """
    found, drops = moved("gemini-2.5-flash")

    assert [
        model(T("I look."), F("f", {"x": 1}), F("g", {})),
        user(response("f", {"output": "one"}), response("g", {"output": "two"})),
        model(F("h", {})),
        user(response("h", {"output": "three"})),
    ] == found
    assert {"placeholder", "reworded"}.isdisjoint([reason for _, _, reason in drops])


def test_a_turn_of_another_provider():
    """
    Gemini 3 refuses its calls, which have no signatures, when it takes over within it (pipecat-ai/pipecat#5809).
    """
    found, drops = moved()
    words = [('f was called with {"x":1}', "one"), ("g was called with {}", "two"), ("h was called with {}", "three")]

    assert [
        model(T("I look.")),
        user(*[T(each) for call, output in words for each in (f"{call}. It answered:", output)]),
    ] == found
    assert [("a1", 1), ("a1", 2), ("a2", 0)] == [drop[:2] for drop in drops if drop[2] == "reworded"]


def test_lost_signatures():
    """
    Where the app wants it, the first call of each step of the current turn has the documented value, which is reported.
    """
    found, drops = moved(policy=attrs.evolve(DIALECT.policy, lost_signature=NO_SIGNATURE))

    assert model(T("I look."), F("f", {"x": 1}, BYPASS), F("g", {})) == found[0]
    assert model(F("h", {}, BYPASS)) == found[2]
    assert [("a1", 1, "placeholder"), ("a2", 0, "placeholder")] == [drop for drop in drops if drop[2] == "placeholder"]


def test_a_signature_that_is_there():
    """
    A signature that the service reads is not replaced.
    """
    policy = attrs.evolve(DIALECT.policy, lost_signature=NO_SIGNATURE)
    request = DIALECT.encoder([USER, message(SAMPLES["parallel calls"])], {"model": MODEL}, policy=policy)

    assert SIG == request.body["contents"][1]["parts"][0]["thoughtSignature"]
    assert [] == [drop for drop in request.drops if str(drop.reason) == "placeholder"]


def test_a_hosted_call_without_a_signature():
    """
    The service looks for signatures of functions alone: code before a signed call stays as it is.
    """
    policy = attrs.evolve(DIALECT.policy, lost_signature=NO_SIGNATURE)
    request = DIALECT.encoder(
        [USER, message(answer([X("1")], [O("1")], [F("f", {}, SIG)]))], {"model": MODEL}, policy=policy
    )

    assert model(X("1"), O("1"), F("f", {}, SIG)) == request.body["contents"][1]


def test_an_own_call_without_a_signature():
    """
    The model has made none, so none is sent.
    """
    assert F("g", {}) == called("call without arguments", "1")[0][0]["parts"][0]


def test_a_request_without_state():
    """
    Signatures of earlier turns are left out; the id stays.
    """
    later = UserMessage(id="u2", content="And now?")
    body = DIALECT.encoder([USER, message(SAMPLES["parallel calls"]), later], {"model": MODEL}, strip=True).body

    assert model(F("a", {"x": 1}, id="fc1"), F("b", {"y": "é"}, id="fc2")) == body["contents"][1]


def cut(*behind):
    """
    Return an answer whose first call was cut, and what came behind that.
    """
    pieces = [F("f", willContinue=True, sig=SIG), P("$.x", goes_on=True, stringValue="a")]
    return message(answer(*pieces, *behind, end=ended("MAX_TOKENS")))


def failed(*parts):
    """
    Return an answer that failed after its calls were answered.
    """
    decoder = DIALECT.decoder("a1")
    found = decoder.feed(stream(C(*parts)))
    found += [call.succeed("one") for call in fold(found).last.tool_calls]
    return fold(found + decoder.feed(stream({"error": ERROR}))).last


ONE = [T('f was called with {"x":1}. It answered:'), T("one")]
LOST = {
    "an answer that failed": (failed(F("f", {"x": 1}, SIG)), {}, [], [*ASKED["parts"], *ONE]),
    "calls at once": (
        failed(T("I look."), F("f", {"x": 1}, SIG), F("f", {"x": 1})),
        {},
        [ASKED, model(T("I look."))],
        [*ONE, *ONE],
    ),
    "a request without state": (
        message(answer(T("I look.", SIG), F("f", {"x": 1}, SIG_2))),
        {"strip": True},
        [ASKED, model(T("I look."))],
        [T('f was called with {"x":1}. It failed: No result is available for this call.')],
    ),
}


@pytest.mark.parametrize(("found", "options", "before", "words"), LOST.values(), ids=LOST)
def test_calls_whose_signature_is_lost(found, options, before, words):
    """
    Gemini 3 refuses a step of the current turn whose first call has none: they are sent in words.
    """
    request = DIALECT.encoder([USER, found], {"model": MODEL}, **options)

    assert [*before, user(*words)] == request.body["contents"]
    assert "reworded" in [str(drop.reason) for drop in request.drops]


def test_a_signed_call_that_was_cut_behind_one_of_the_service():
    """
    The signature of another call is not its own: it is sent in words, too.
    """
    ran = F("w", {}, SIG, id="w1"), response("w", {"t": 2}, id="w1")
    pieces = [F("f", willContinue=True, sig=SIG_2), P("$.x", goes_on=True, stringValue="a")]
    contents, drops = encoded(USER, message(answer(*ran, *pieces, end=ended("MAX_TOKENS"))))

    assert [ASKED, model(ran[0]), user(ran[1])] == contents[:3]
    assert "functionCall" not in str(contents[3:])
    assert (1, "reworded") in drops


def test_a_signed_call_that_was_cut():
    """
    It is sent in words, and a signed one behind it as it came.
    """
    contents, drops = encoded(USER, cut(F("g", {}, SIG_2)))
    words = 'f was called with {"x":"a"}. It failed: The call was not run: the provider marked the input as incomplete'

    assert [
        ASKED,
        model(F("g", {}, SIG_2)),
        user(response("g", {"error": "No result is available for this call."})),
        user(T(words)),
    ] == contents
    assert [(0, "incomplete"), (0, "reworded"), (0, "uncalled"), (1, "no-answer")] == drops


STAYS = {
    "an older model": ("gemini-2.5-flash", [], {}),
    "an earlier turn": (MODEL, [UserMessage(id="u2", content="And now?")], {}),
    "a placeholder": (MODEL, [], {"policy": attrs.evolve(DIALECT.policy, lost_signature=NO_SIGNATURE)}),
}


@pytest.mark.parametrize(("name", "behind", "options"), STAYS.values(), ids=STAYS)
def test_calls_that_need_no_signature(name, behind, options):
    """
    They stay calls.
    """
    request = DIALECT.encoder([USER, failed(F("f", {"x": 1}, SIG)), *behind], {"model": name}, **options)
    [call] = request.body["contents"][1]["parts"]

    assert {"name": "f", "args": {"x": 1}} == call["functionCall"]
    assert "reworded" not in [str(drop.reason) for drop in request.drops]


# -- what else is in a request


def test_a_continuation():
    """
    The request is the same again, with the token; the app may ask for the answer to be sent instead.
    """
    paused = message(SAMPLES["continuation"])
    encoder = DIALECT.encoder([USER, paused], {"model": MODEL, "tools": []})

    assert "hop" == encoder.mode
    assert {
        "model": MODEL,
        "tools": [],
        "contents": [ASKED],
        "continuationToken": "Y29udGludWF0aW9uLXRva2Vu",
    } == encoder.body
    assert [ASKED, model(T("half"))] == DIALECT.encoder([USER, paused], {"model": MODEL}, mode="full").body["contents"]


def test_a_pause_without_a_token():
    """
    The answer is sent, and the model continues.
    """
    paused = message(stream(C(T("half")), ended("CONTINUATION")))

    assert ([ASKED, model(T("half"))], []) == encoded(USER, paused)


def test_a_limit_with_a_token():
    """
    An answer of Gemini 4 that has spent its limit is continued by a higher one (OpenRouter: "long decode").
    """
    spent = message(stream(C(T("half")), ended("MAX_TOKENS", continuationToken="dG9rZW4=")))
    body = {"model": MODEL, "generationConfig": {"maxOutputTokens": 131072}}

    assert {**body, "contents": [ASKED], "continuationToken": "dG9rZW4="} == DIALECT.encoder([USER, spent], body).body
    assert ([ASKED, model(T("half"))], []) == encoded(USER, message(stream(C(T("half")), ended("MAX_TOKENS"))))
    assert ([ASKED, model(T("half")), ASKED], []) == encoded(USER, spent, attrs.evolve(USER, id="u2"))


def test_a_token_that_came_back():
    """
    The same request would only be the same again (google-genai 3.4 stops there): the answers are sent.
    """
    first, second, third = [
        attrs.evolve(message(stream(C(T(text)), ended("CONTINUATION", continuationToken=token))), id=f"a1{hop}")
        for hop, text, token in (("", "one", "MQ=="), (".2", "two", "Mg=="), (".3", "three", "Mg=="))
    ]

    assert "Mg==" == DIALECT.encoder([USER, first, second], {"model": MODEL}).body["continuationToken"]
    assert ([ASKED, model(T("one"), T("two"), T("three"))], []) == encoded(USER, first, second, third)


def test_prompts():
    """
    Media are data or an address; JSON is text; adjacent prompts are one content.
    """
    content = [TextContent("See"), MediaContent(media_type="image/png", data=b"\x89PNG"), JsonContent({"a": 1})]
    linked = UserMessage(id="u2", content=MediaContent(media_type="video/mp4", uri="https://v.example"))
    found, _ = encoded(UserMessage(id="u1", content=content), linked)

    video = {"fileData": {"mimeType": "video/mp4", "fileUri": "https://v.example"}}
    assert [user({"text": "See"}, {"inlineData": PNG}, {"text": '{"a":1}'}, video)] == found


def test_empty_texts():
    """
    One with a signature is sent, one without is not.
    """
    signed = message(SAMPLES["signature alone"])
    empty = attrs.evolve(signed, parts=(attrs.evolve(signed.parts[1], state={}),))

    assert T("", SIG) in encoded(USER, signed)[0][1]["parts"]
    assert ([ASKED], [(0, "empty")]) == encoded(USER, empty)


def test_nothing_of_the_body_is_changed():
    """
    The conversation is its own field; the app must not have it.
    """
    body = {"model": MODEL, "systemInstruction": {"parts": [{"text": "Be brief."}]}, "generationConfig": {}}

    assert {**body, "contents": [ASKED]} == DIALECT.encoder([USER], body).body
    with pytest.raises(ValueError, match="contents comes out of the transcript"):
        DIALECT.encoder(Transcript(), {**body, "contents": []})


def test_chaining_is_not_possible():
    """
    The service stores no answers.
    """
    with pytest.raises(LocalProtocolError, match="the provider stores no answers"):
        DIALECT.encoder(
            [USER, message(SAMPLES["text"]), UserMessage(id="u2", content="b")], {"model": MODEL}, mode="chained"
        )


def test_a_failure_whose_output_is_an_object():
    """
    It is an error with the output, and not the object, which would be read as a success.
    """
    failed = fold(built(calls=[Call("f", {}, error=ErrorInfo(kind="tool", message="broken"), output={"a": 1})])).last
    contents, _ = encoded(USER, failed, model="gemini-2.5-flash")

    assert {"error": 'broken\n{"a":1}'} == contents[-1]["parts"][0]["functionResponse"]["response"]
