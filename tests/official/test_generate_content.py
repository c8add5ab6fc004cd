"""
The official Python client of generateContent against its mock: text, tools, thoughts, errors, usage and turns.
"""

import pytest

from tests.official.client import OfficialError

MODEL = "gemini-3.6-flash"
HI = {"text": "Hi there, Zoë!", "timing": {"delta_chars": 5}}
THOUGHT = {"thought": "They greet me.", **HI}
CALL = {"calls": [{"id": "c1", "name": "weather", "arguments": {"city": "Zürich", "days": 2}}]}
TOOLS = {"tools": [{"function_declarations": [{"name": "weather", "parameters_json_schema": {"type": "object"}}]}]}
USAGE = {"promptTokenCount": 9, "candidatesTokenCount": 12, "thoughtsTokenCount": 10, "totalTokenCount": 31}
RESULT = {"function_response": {"id": "c1", "name": "weather", "response": {"output": "12 degrees"}}}


@pytest.fixture(params=["sync", "async"])
def client(request, generate_content):
    """
    A function that returns the client in each of its modes for a mock provider.
    """
    return lambda mock: generate_content("3.4", request.param, mock.url)


@pytest.fixture
def gemini(provider):
    """
    A function that returns a mock provider of generateContent.
    """
    return lambda fixtures, **options: provider(fixtures, dialect="gemini-generate-content", **options)


def user(*parts):
    """Return a content of the user; a text is a part of its own."""
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def parts_of(response):
    """Return the parts of a response of the client, without the names of their classes."""
    content = response["candidates"][0].get("content") or {}
    return [{key: value for key, value in part.items() if key != "class"} for part in content.get("parts", [])]


def test_text_as_a_response(client, gemini):
    """
    A unary answer is a response with one candidate.
    """
    found = client(gemini({"Hello": HI})).generate(model=MODEL, contents="Hello")
    [candidate] = found["candidates"]
    [part] = parts_of(found)

    assert ("GenerateContentResponse", MODEL) == (found["class"], found["model_version"])
    assert ("model", "STOP", "Hi there, Zoë!") == (
        candidate["content"]["role"],
        candidate["finish_reason"],
        part["text"],
    )
    assert found["response_id"]


def test_text_as_a_stream(client, gemini):
    """
    A stream is chunks of one id: thoughts and text cut as the fixture wants, and the reason to finish in the last one.
    """
    *chunks, last = client(gemini({"Hello": THOUGHT})).stream(model=MODEL, contents="Hello")
    parts = [part for chunk in chunks for part in parts_of(chunk)]

    assert [("They ", True), ("greet", True), (" me.", True), ("Hi th", None), ("ere, ", None), ("Zoë!", None)] == [
        (part["text"], part.get("thought")) for part in parts
    ]
    assert ([{"text": ""}], "STOP") == (parts_of(last), last["candidates"][0]["finish_reason"])
    assert 1 == len({chunk["response_id"] for chunk in [*chunks, last]})


def test_models(client, gemini):
    """
    The models are the default one and those that fixtures name; any name is one.
    """
    named = {"match": {"model": "gemini-3-pro"}, "answer": {"text": "Hi"}}
    found = client(gemini({"version": 1, "fixtures": [named]})).models(name="gemini-9")

    assert ["models/gemini-3.6-flash", "models/gemini-3-pro"] == [model["name"] for model in found["all"]]
    assert ("Model", "models/gemini-9") == (found["one"]["class"], found["one"]["name"])
    assert ["generateContent", "countTokens"] == found["one"]["supported_actions"]


def test_usage(client, gemini):
    """
    Usage is that of the fixture, in the response and in the last chunk; before it the counts of the prompt are known.
    """
    api = client(gemini({"Hello": {**HI, "usage": USAGE}}))
    unary = api.generate(model=MODEL, contents="Hello")["usage_metadata"]
    first, *_, last = [chunk["usage_metadata"] for chunk in api.stream(model=MODEL, contents="Hello")]

    for found in (unary, last):
        assert (9, 12, 10, 31) == tuple(
            found[f"{name}_token_count"] for name in ("prompt", "candidates", "thoughts", "total")
        )
    assert (9, None) == (first["prompt_token_count"], first.get("candidates_token_count"))


@pytest.mark.parametrize("how", ["generate", "stream"])
def test_a_tool_loop(client, gemini, how):
    """
    The call comes back with its signature and its result, untouched by the client, and the next fixture answers.
    """
    mock = gemini({"Weather?": [{**THOUGHT, **CALL}, "It is 12 degrees."]})
    first, second = client(mock).converse(contents=[user("Weather?"), user(RESULT)], model=MODEL, config=TOOLS, how=how)
    [call] = [part for part in first if "function_call" in part]

    assert ("weather", {"city": "Zürich", "days": 2}) == (call["function_call"]["name"], call["function_call"]["args"])
    assert "It is 12 degrees." == "".join(part["text"] for part in second)
    [sent] = [part for part in mock.requests[-1].body["contents"][1]["parts"] if "functionCall" in part]
    assert "thoughtSignature" in sent


SIGNATURES = {
    "changed": ("other", "Corrupted thought signature."),
    "lost": ("", "Function call is missing a thought_signature in functionCall parts."),
}


@pytest.mark.parametrize(("change", "message"), SIGNATURES.values(), ids=SIGNATURES)
def test_a_signature_that_does_not_come_back(client, gemini, change, message):
    """
    The second turn is refused as the service does it.
    """
    api = client(gemini({"Weather?": [CALL, "It is 12 degrees."]}))
    with pytest.raises(OfficialError) as caught:
        api.converse(contents=[user("Weather?"), user(RESULT)], model=MODEL, config=TOOLS, change=change)

    assert ("ClientError", 400, "INVALID_ARGUMENT") == (caught.value.classes[0], caught.value.code, caught.value.status)
    assert message in caught.value.message


def test_a_text_sent_back(client, gemini):
    """
    Texts with their signature are taken back, as one part or as the pieces of a stream.
    """
    api = client(gemini({"Hello": THOUGHT, "Again": "Hi again."}))
    for how in ("generate", "stream"):
        _, second = api.converse(contents=[user("Hello"), user("Again")], model=MODEL, how=how)
        assert "Hi again." == "".join(part["text"] for part in second)


def test_a_blocked_prompt(client, gemini):
    """
    A prompt that was blocked has no candidates, but the reason.
    """
    answer = {"parts": [], "more": {"promptFeedback": {"blockReason": "SAFETY"}}}
    found = client(gemini({"Hello": answer})).generate(model=MODEL, contents="Hello")

    assert ("SAFETY", None) == (found["prompt_feedback"]["block_reason"], found.get("candidates"))


ERRORS = {
    400: ("ClientError", "INVALID_ARGUMENT"),
    403: ("ClientError", "PERMISSION_DENIED"),
    429: ("ClientError", "RESOURCE_EXHAUSTED"),
    500: ("ServerError", "INTERNAL"),
    503: ("ServerError", "UNAVAILABLE"),
}


@pytest.mark.parametrize("call", ["generate", "stream"])
@pytest.mark.parametrize("status", ERRORS)
def test_http_errors(client, gemini, status, call):
    """
    An HTTP error is the exception of its status, with the name that the service uses for it.
    """
    mock = gemini({"Hello": {"http_error": {"status": status, "message": "later"}}})
    with pytest.raises(OfficialError) as caught:
        getattr(client(mock), call)(model=MODEL, contents="Hello")

    assert (*ERRORS[status], status) == (caught.value.classes[0], caught.value.status, caught.value.code)
    assert "later" in caught.value.message


def test_an_error_inside_of_a_stream(client, gemini):
    """
    A chunk with an error ends the stream with an exception.
    """
    error = {"stream_error": {"code": "UNAVAILABLE", "message": "slow down", "after": 2}}
    with pytest.raises(OfficialError) as caught:
        client(gemini({"Hello": {**HI, **error}})).stream(model=MODEL, contents="Hello")

    assert ("ServerError", 503, "UNAVAILABLE") == (caught.value.classes[0], caught.value.code, caught.value.status)
