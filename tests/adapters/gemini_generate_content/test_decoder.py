"""
The cases of the generateContent wire: what each stream becomes, worked out from the wire by hand.
"""

import json

import pytest

from assistant_events import AssistantMessage, ErrorKind, FinishReason, OpaquePart, ReasoningPart, TextPart, Usage, fold
from assistant_events.adapters import JsonArray, JsonLines
from assistant_events.messages import CallStatus, MediaPart, MessageStatus, PartStatus, UserMessage
from assistant_events.values import Citation, ErrorInfo, JsonContent, TextContent, thaw
from assistant_events.values.json_values import LazyObject

from .notation import (
    DIALECT,
    END,
    HEAD,
    MODEL,
    USAGE,
    C,
    F,
    H,
    O,
    P,
    T,
    X,
    answer,
    candidate,
    ended,
    events,
    message,
    stream,
)
from .samples import BLOCK, CAPITAL, ERROR, FOUND, GROUNDING, SAMPLES, SEARCH, SIG, SIG_2


def without_number(state):
    return {key: value for key, value in thaw(state).items() if key != "i"}


def parts(body):
    """
    Return type, text and state of each part of a stream; of a call its id, name, input, status and state.
    """
    found = []
    for part in message(body).parts:
        state = without_number(part.state)
        if isinstance(part, (TextPart, ReasoningPart)):
            found.append((part.type, part.text, state))
        elif isinstance(part, OpaquePart):
            found.append((part.type, state))
        elif isinstance(part, MediaPart):
            found.append((part.type, part.media_type, part.data or part.uri, state))
        else:
            found.append((part.type, part.call_id, part.name, part.input, part.status.value, state))
    return found


def call(call_id, name, input, status="called", **state):
    return "tool", call_id, name, input, status, state


def nameless(number, name, input, status="called", **state):
    """
    Return a call that came without an id: it has one of ours, and none is sent back.
    """
    return call(f"call-{number}", name, input, status, id=None, **state)


S = {"thoughtSignature": SIG}
S_2 = {"thoughtSignature": SIG_2}
CODE = {"language": "PYTHON"}

PARTS = {
    "text": [("text", "Hello world", {})],
    "thought and text": [("reasoning", "Plan: look", {}), ("text", "Yes.", {})],
    "thought, text, thought": [
        ("reasoning", "a", {}),
        ("text", "b", {}),
        ("reasoning", "c", {}),
        nameless(1, "f", {"x": 1}),
    ],
    "parallel calls": [call("fc1", "a", {"x": 1}, **S), call("fc2", "b", {"y": "é"})],
    "calls without ids": [nameless(1, "a", {}, **S), nameless(2, "a", {"x": [1, None]})],
    "call without arguments": [nameless(1, "g", {})],
    "signature at the end of a text": [("text", "Hello", S)],
    "signature alone": [nameless(1, "f", {}), ("text", "", S)],
    "signed text in the middle": [("text", "one two", S), ("text", " three", S_2)],
    "signed thought": [("reasoning", "hm", S), ("reasoning", "more", {}), ("text", "Yes.", {})],
    "arguments in pieces": [
        nameless(
            1,
            "get_capital",
            {"country": {"name": 'Fr"ance é'}, "items": [{"price": 0.5, "a b": True}, None, {"count": 2}]},
            **S,
        )
    ],
    "arguments in pieces, two calls": [
        nameless(1, "get_capital", {"a": "x"}, **S),
        nameless(2, "g", {"b": "y"}),
        ("text", "So.", {}),
    ],
    "arguments out of order": [nameless(1, "f", {"a": {"b": 1, "d": 3}, "c": 2})],
    "a text and a call in one part": [
        ("text", "I look.", {}),
        nameless(1, "f", {"x": 1}, **S),
        nameless(2, "g", {}),
    ],
    "search": [
        call("t1", "GOOGLE_SEARCH_WEB", {"queries": ["largest city"]}, "success", type="toolCall", **S),
        ("text", "Found.", S_2),
    ],
    "speech": [
        ("media", "audio/L16;codec=pcm;rate=24000", b"\x00\x01\x00\x02\x00\x03", {}),
        ("text", "So.", {}),
        ("media", "audio/L16;codec=pcm;rate=24000", b"\x04\x00\x05", {}),
        ("media", "audio/wav", b"RIFF", {}),
        ("media", "audio/wav", b"RIFF", {}),
    ],
    "images": [
        ("media", "image/png", b"\x89PNG", {"thought": True}),
        ("media", "image/jpeg", b"\xff\xd8\xff\xe0", {"fields": {"displayName": "cat"}, **S}),
        ("media", "audio/wav", "https://files.example/1", {}),
    ],
    "unknown parts": [
        ("opaque", {"part": {"hologram": {"beam": "blue-green"}}}),
        ("text", "So.", S),
    ],
    "unknown fields": [
        ("text", "Look", {"partMetadata": {"origin": "somewhere"}}),
        nameless(1, "f", {"x": 1}, fields={"priority": "highest"}),
    ],
}


@pytest.mark.parametrize("name", PARTS)
def test_parts(name):
    """
    Parts of one kind are one part up to a signature; what has to go back is its state, under the names of the wire.
    """
    assert PARTS[name] == parts(SAMPLES[name])


ENDS = {
    "text": (FinishReason.STOP, "STOP"),
    "parallel calls": (FinishReason.TOOL_CALLS, "STOP"),
    "a text and a call in one part": (FinishReason.TOOL_CALLS, "STOP"),
    "call that the service answers": (FinishReason.STOP, "STOP"),
    "a finish on the way": (FinishReason.STOP, "STOP"),
    "blocked prompt": (FinishReason.CONTENT_FILTER, "PROHIBITED_CONTENT"),
    "blocked in the middle": (FinishReason.CONTENT_FILTER, "SAFETY"),
    "citations": (FinishReason.CONTENT_FILTER, "RECITATION"),
    "continuation": (FinishReason.PAUSE, "CONTINUATION"),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends(name):
    """
    A stop with a call that the app has to run is `tool-calls`: the wire has no word for it.
    """
    found = message(SAMPLES[name])

    assert (*ENDS[name], MessageStatus.COMPLETED) == (found.finish_reason, found.raw_finish_reason, found.status)


WORDS = {
    "MAX_TOKENS": FinishReason.LENGTH,
    "BLOCKLIST": FinishReason.CONTENT_FILTER,
    "SPII": FinishReason.CONTENT_FILTER,
    "MODEL_ARMOR": FinishReason.CONTENT_FILTER,
    "ESCALATION": FinishReason.CONTENT_FILTER,
    "SAFETY": FinishReason.CONTENT_FILTER,
    "RECITATION": FinishReason.CONTENT_FILTER,
    "PROHIBITED_CONTENT": FinishReason.CONTENT_FILTER,
    "IMAGE_SAFETY": FinishReason.CONTENT_FILTER,
    "IMAGE_PROHIBITED_CONTENT": FinishReason.CONTENT_FILTER,
    "IMAGE_RECITATION": FinishReason.CONTENT_FILTER,
    "OTHER": FinishReason.OTHER,
    "WORD_OF_TOMORROW": FinishReason.OTHER,
}


@pytest.mark.parametrize("word", WORDS)
def test_finish_reasons(word):
    """
    Every reason has its place, unknown ones are `other`.
    """
    assert (WORDS[word], word) == (
        message(answer(T("a"), end=ended(word))).finish_reason,
        message(answer(T("a"), end=ended(word))).raw_finish_reason,
    )


def test_the_last_finish_reason():
    """
    It counts: a stop on the way is none.
    """
    body = stream(C(T("a"), finishReason="STOP"), ended("MAX_TOKENS"))

    assert (FinishReason.LENGTH, "MAX_TOKENS") == (message(body).finish_reason, message(body).raw_finish_reason)


def test_a_finish_reason_before_the_last_chunk():
    """
    It counts: what comes behind it, such as sources, is of the answer that has ended.
    """
    found = message(stream(C(T("a"), finish="STOP"), C(groundingMetadata={"webSearchQueries": ["q"]}, usage=USAGE)))

    assert (None, "STOP") == (found.error, found.raw_finish_reason)


@pytest.mark.parametrize(
    ("number", "word"), [(1, "STOP"), (2, "MAX_TOKENS"), (3, "SAFETY"), (11, "IMAGE_SAFETY"), (99, "99")]
)
def test_a_finish_reason_as_a_number(number, word):
    """
    Clients that ask for enums as numbers get their words.
    """
    assert word == message(answer(T("a"), end=ended(number))).raw_finish_reason


@pytest.mark.parametrize(
    ("number", "word"),
    [(0, "OUTCOME_UNSPECIFIED"), (1, None), (2, "OUTCOME_FAILED"), (3, "OUTCOME_DEADLINE_EXCEEDED")],
)
def test_the_outcome_of_code_as_a_number(number, word):
    """
    Code that has run well has not failed, and the outcome is sent back as a word.
    """
    [call] = message(answer(X("1"), O("1", number))).tool_calls

    assert word == (call.error and call.error.code)
    assert (word or "OUTCOME_OK") == call.result_state["outcome"]


def test_a_blocked_prompt_with_a_number():
    """
    It is blocked, not cut.
    """
    found = message(stream({"promptFeedback": {"blockReason": 4}}))

    assert (FinishReason.CONTENT_FILTER, "PROHIBITED_CONTENT") == (found.finish_reason, found.raw_finish_reason)


def test_a_source_without_a_title_or_an_address():
    """
    An empty one is none (test data of Firebase, 2025).
    """
    sources = [{"endIndex": 1, "uri": "https://a.org", "title": ""}, {"endIndex": 1, "uri": "", "title": "A"}]
    [one, two] = message(stream(C(T("a"), citationMetadata={"citations": sources}), END)).parts[0].citations

    assert (("https://a.org", None), (None, "A")) == ((one.url, one.title), (two.url, two.title))


def test_a_blocked_prompt_with_a_message_alone():
    """
    It is blocked, not cut: JSON of a proto leaves out the first word of an enum (test data of Firebase, 2025).
    """
    feedback = {"promptFeedback": {"blockReasonMessage": "No."}}
    found = message(stream({"candidates": [], **feedback}))

    assert (FinishReason.CONTENT_FILTER, "BLOCK_REASON_UNSPECIFIED") == (found.finish_reason, found.raw_finish_reason)
    assert feedback == found.details
    assert "a" == message(stream(C(T("a"), finish="STOP"), {**feedback})).text


FAILURES = {
    "MALFORMED_FUNCTION_CALL": ErrorKind.PROVIDER,
    "TOO_MANY_TOOL_CALLS": ErrorKind.PROVIDER,
    "UNEXPECTED_TOOL_CALL": ErrorKind.PROVIDER,
    "MALFORMED_RESPONSE": ErrorKind.PROVIDER,
    "MISSING_THOUGHT_SIGNATURE": ErrorKind.INVALID_REQUEST,
    "LANGUAGE": ErrorKind.INVALID_REQUEST,
    "PUP_LIMITED_DISABLED": ErrorKind.AUTH,
    "NO_IMAGE": ErrorKind.PROVIDER,
    "IMAGE_OTHER": ErrorKind.PROVIDER,
    "503 Service Unavailable": ErrorKind.PROVIDER,
    "Proxy queue error": ErrorKind.PROVIDER,
}


@pytest.mark.parametrize("word", FAILURES)
def test_finish_reasons_that_are_errors(word):
    """
    A candidate that failed fails the step; what came before is whole. Proxies put their own errors there.
    """
    found = message(answer(T("a", SIG), end=ended(word, finishMessage="That failed.")))

    assert MessageStatus.FAILED is found.status
    assert (FAILURES[word], word, "That failed.") == (found.error.kind, found.error.code, found.error.message)
    assert [("text", "a", S)] == parts(answer(T("a", SIG), end=ended(word)))
    assert USAGE == found.usage.details


def test_the_origin():
    """
    The model is that of the request, where that is known; the wire reports the one that served it.
    """
    start = message(answer(T("a")), request={"model": "gemini-latest"})

    assert ("google", "gemini-latest", MODEL) == (start.origin.provider, start.origin.model, start.origin.served_model)
    assert MODEL == message(answer(T("a"))).origin.model
    assert {"responseId": "r1"} == start.state


def test_usage():
    """
    The last counts are totals; early chunks have only the kind of traffic. Tokens of thoughts are counted apart.
    """
    found = message(SAMPLES["text"]).usage

    assert (
        Usage(input_tokens=12, output_tokens=48, reasoning_tokens=40, details={"trafficType": "ON_DEMAND", **USAGE})
        == found
    )


def test_nulls_in_place_of_counts():
    """
    They replace no counts: dumps have them beside the kind of traffic.
    """
    nulls = {"trafficType": "ON_DEMAND", "promptTokenCount": None, "candidatesTokenCount": None}
    found = message(stream(C(T("Hi"), usage=USAGE), C(T(""), finish="STOP", usage=nulls)))
    blocked = {"promptFeedback": {"blockReason": "MODEL_ARMOR"}, "usageMetadata": nulls}

    assert (12, 48) == (found.usage.input_tokens, found.usage.output_tokens)
    assert message(stream(blocked)).usage is None


def test_usage_of_tools_and_cache():
    """
    Tokens of tools are counted apart from the prompt, cached ones are a part of it.
    """
    counts = {"promptTokenCount": 100, "cachedContentTokenCount": 60, "toolUsePromptTokenCount": 7}
    counts |= {"candidatesTokenCount": 5, "totalTokenCount": 112}
    found = message(answer(T("a"), end=C(finish="STOP", usage=counts))).usage

    assert (107, 60, 5, None) == (
        found.input_tokens,
        found.cache_read_tokens,
        found.output_tokens,
        found.reasoning_tokens,
    )


def test_counts_of_an_answer_without_an_end():
    """
    They have `partial` in their details.
    """
    found = message(stream(C(T("a"), usage={"promptTokenCount": 3, "totalTokenCount": 3})))

    assert {"promptTokenCount": 3, "totalTokenCount": 3, "partial": True} == found.usage.details


def test_a_thought_then_a_text_then_the_end():
    """
    Each channel is one part; the empty text of the last chunk is none.
    """
    found = message(answer(H("Plan"), T("Yes")))

    assert ("Plan", "Yes", FinishReason.STOP) == (found.reasoning, found.text, found.finish_reason)


def test_parallel_calls_of_which_the_first_is_signed():
    """
    The signature stays with the first.
    """
    first, second = message(SAMPLES["parallel calls"]).tool_calls

    assert (S, {}) == (without_number(first.state), without_number(second.state))


def test_arguments_stream():
    """
    Pieces of arguments are deltas of one JSON text.
    """
    body = stream(
        C(CAPITAL),
        C(P("$.country", goes_on=True, stringValue='a"b')),
        C(P("$.n", numberValue=1.5)),
        C({"functionCall": {}}),
        END,
    )
    deltas = [event.delta for event in events(body) if event.type == "tool.input.delta"]

    assert ['{"country":"a\\"b', '","n":1.5', "}"] == deltas


IN_PIECES = {
    "a string whose pieces are not announced": (
        [F("f", willContinue=True), P("$.a", stringValue="San"), P("$.a", last=True, stringValue=" Jose")],
        {"a": "San Jose"},
    ),
    "the same call in each piece": (
        [
            F("f", id="c", partialArgs=[{"jsonPath": "$.a", "numberValue": 1}], willContinue=True),
            F("f", id="c", partialArgs=[{"jsonPath": "$.b", "stringValue": "x"}], willContinue=False),
        ],
        {"a": 1, "b": "x"},
    ),
    "arguments beside pieces": (
        [F("f", {"kept": "yes", "a": "no"}, partialArgs=[{"jsonPath": "$.a", "stringValue": "x"}])],
        {"kept": "yes", "a": "x"},
    ),
    "a null of JSON": (
        [F("f", willContinue=True), P("$.a", nullValue=None), P("$.b", last=True, stringValue="x")],
        {"a": None, "b": "x"},
    ),
    "nulls of a dump": (
        [F("f", willContinue=True), P("$.a", last=True, stringValue="x", nullValue=None, numberValue=None)],
        {"a": "x"},
    ),
}


@pytest.mark.parametrize(("pieces", "value"), IN_PIECES.values(), ids=IN_PIECES)
def test_arguments_in_pieces(pieces, value):
    """
    Pieces of one place are one string, and pieces of one call one object, with what the call has whole.

    As adk-python and the AI SDK read them; a null is proto3's JSON of `NullValue`.
    """
    [call] = message(stream(*map(C, pieces), END)).tool_calls

    assert value == call.input


@pytest.mark.parametrize(
    "parts",
    [
        [F("f", {}, SIG), {"functionCall": {"args": {"x": 1}}}],
        [F("f"), {"functionCall": {"args": {"x": 1}}}, {"functionCall": {}}],
        [F("f", {}, id="c1"), F("f", {"x": 1}, id="c1")],
        [F("f", willContinue=True), {"functionCall": {"args": {"x": 1}}}],
        [
            F("f", {}, willContinue=True),
            {"functionCall": {"args": {"x": 1}, "willContinue": True}},
            {"functionCall": {}},
        ],
    ],
    ids=["without a name", "and an end", "with its id", "announced", "announced, and an end"],
)
def test_arguments_in_the_part_behind_a_call(parts):
    """
    Gateways send them so (smallmain/vscode-unify-chat-provider#48): they are of the call before, and no call.
    """
    found = message(answer(F("g", {}), *parts, F("h")))

    assert [("g", {}), ("f", {"x": 1}), ("h", {})] == [(each.name, each.arguments) for each in found.parts]
    assert ["called"] * 3 == [str(each.status) for each in found.parts]


@pytest.mark.parametrize("key", ["arguments", "partial"])
def test_pieces_of_arguments_as_an_argument(key):
    """
    So new-api and LiteLLM (2025) sent those of Chat Completions, in parts with an empty name.
    """

    def piece(text):
        return F("", {key: text})

    found = message(answer(F("f", {}), piece('{"x"'), piece(": 1}"), F("g", {}), piece('{"y": [')))

    assert ["f", "g"] == [each.name for each in found.parts]
    assert ({"x": 1}, "invalid-input") == (found.parts[0].arguments, found.parts[1].error.kind)


def test_a_call_without_arguments_before_a_limit():
    """
    It is whole, whatever ends the answer behind it.
    """
    [call] = message(answer(F("f"), end=ended("MAX_TOKENS"))).tool_calls

    assert ({}, "called") == (call.arguments, str(call.status))


def test_pieces_of_calls_by_turns():
    """
    A piece belongs to the call with its id, whatever came between; one without name and id to the last that is open.
    """
    found = message(
        stream(
            C(F("f", id="c1", willContinue=True)),
            C(F("g", id="c2", willContinue=True)),
            C({"functionCall": {"id": "c1", "partialArgs": [{"jsonPath": "$.a", "numberValue": 1}]}}),
            C({"text": "", "thoughtSignature": "c2ln"}),
            C(P("$.b", stringValue="x")),
            END,
        )
    )

    assert [("f", {"a": 1}), ("g", {"b": "x"})] == [(call.name, call.input) for call in found.tool_calls]


def test_an_empty_part():
    """
    Vertex sends such ones (recorded by Firebase); they are nothing.
    """
    assert ["text"] == [part.type for part in message(answer({}, T("Hi"), {})).parts]


def test_sources_of_several_chunks():
    """
    Each chunk has its own ones, or those before again (recorded by Firebase).
    """
    one, two, three = [{"startIndex": 5 * at, "endIndex": 5 * at + 4, "uri": f"https://{at}.test"} for at in range(3)]

    def body(*chunks):
        return stream(*[C(T("12345"), citationMetadata={"citationSources": sources}) for sources in chunks], END)

    for chunks in ([[one], [two, three]], [[one], [one, two], [one, two, three]]):
        found = message(body(*chunks))

        assert [one, two, three] == thaw(found.details)["citationMetadata"]["citationSources"]
        assert ["https://0.test", "https://1.test", "https://2.test"] == [each.url for each in found.parts[0].citations]


def test_a_source_without_fields():
    """
    It is not a citation.
    """
    support = {"segment": {"endIndex": 2}, "groundingChunkIndices": [0, 1]}
    grounding = {"groundingChunks": [{}, {"web": {"uri": "https://a.test"}}], "groundingSupports": [support]}
    [part] = message(stream(C(T("Hi")), C(T(""), finish="STOP", groundingMetadata=grounding))).parts

    assert ["https://a.test"] == [each.url for each in part.citations]


def test_places_of_sources_as_floats():
    """
    A proxy that reads JSON without types, as Gson does, writes each integer so.
    """
    support = {"segment": {"startIndex": 1.0, "endIndex": 2.0}, "groundingChunkIndices": [1.0, 0.5, -1.0, 2.0, True]}
    chunks = [{"web": {"uri": f"https://{name}.test"}} for name in "ab"]
    grounding = {"groundingChunks": chunks, "groundingSupports": [support]}
    [part] = message(stream(C(T("Hi")), C(T(""), finish="STOP", groundingMetadata=grounding))).parts

    assert [("https://b.test", 1, 2)] == [(each.url, each.start, each.end) for each in part.citations]


def test_arguments_out_of_order():
    """
    A value that belongs further up is in the input, not in the text.
    """
    [call] = message(SAMPLES["arguments out of order"]).tool_calls

    assert ('{"a":{"b":1},"c":2', {"a": {"b": 1, "d": 3}, "c": 2}) == (call.raw_input, call.input)


def test_a_missing_end_of_the_arguments():
    """
    The reason for the end closes them, and so does a piece after which none follows.
    """
    open_call = F("f", willContinue=True)
    piece = P("$.a", goes_on=True, stringValue="x")
    last = P("$.a", last=True, stringValue="x")
    for body in (
        answer(open_call, piece, T("b")),
        answer(open_call, piece),
        answer(open_call, last, {"functionCall": {}}),
    ):
        assert nameless(1, "f", {"a": "x"}) == parts(body)[0]


FOLLOWED = {
    "a whole string": ([P("$.a", stringValue="x")], T("So"), {"a": "x"}),
    "a string in pieces": (
        [P("$.a", goes_on=True, stringValue="x"), P("$.a", stringValue="")],
        F("g", {}),
        {"a": "x"},
    ),
    "a string of which more was announced": ([P("$.a", goes_on=True, stringValue="x")], T("So"), None),
    "no value": ([], T("So"), None),
    "nothing behind it": ([P("$.a", stringValue="x")], {}, None),
}


@pytest.mark.parametrize(("pieces", "behind", "value"), FOLLOWED.values(), ids=FOLLOWED)
def test_a_call_that_a_limit_follows(pieces, behind, value):
    """
    A part behind the arguments closes them where their end is missing; else the limit of the answer has cut them.
    """
    found = message(answer(F("f", willContinue=True), *pieces, behind, end=ended("MAX_TOKENS"))).tool_calls[0]

    assert (value, PartStatus.INCOMPLETE if value is None else PartStatus.COMPLETED) == (
        found.input,
        found.input_status,
    )


def test_arguments_of_a_call_that_is_not_open():
    """
    Pieces with the id of another call are none of the open one, which keeps its own.
    """
    stranger = {"functionCall": {"id": "fc9", "partialArgs": [{"jsonPath": "$.b", "numberValue": 2}]}}
    body = answer(F("f", id="fc1", willContinue=True), P("$.a", numberValue=1), stranger)
    found = fold(events(body)).last

    assert [{"a": 1}] == [call.input for call in found.tool_calls]
    assert [stranger] == [thaw(part.state["part"]) for part in found.parts[1:]]


OF_AN_ARRAY = {
    "the end of a string": (
        [P("$.t[0].a", goes_on=True, stringValue="x"), P("$.t[0].a", last=True)],
        {"t": [{"a": "x"}]},
    ),
    "the end of an array": ([P("$.t[0]", stringValue="x"), P("$.t[]", last=True)], {"t": ["x"]}),
    "a later element first": (
        [P("$.t[1]", stringValue="y"), P("$.t[0]", last=True, stringValue="x")],
        {"t": ["x", "y"]},
    ),
}


@pytest.mark.parametrize(("pieces", "value"), OF_AN_ARRAY.values(), ids=OF_AN_ARRAY)
def test_arguments_of_an_array(pieces, value):
    """
    As Vertex streams them (google/adk-go#1609): ends are pieces without a value, and none is left out.
    """
    decoder = DIALECT.decoder("a1")
    found = fold(decoder.feed(answer(F("f", willContinue=True), *pieces)) + decoder.close()).last

    assert (value, []) == (found.tool_calls[0].input, decoder.notes)


STRAYS = {
    "inside a number": P("$.a.b", numberValue=2),
    "no path": P("a", stringValue="x"),
    "nothing as the path": P(None, stringValue="x"),
    "a value of another kind": P("$.b", listValue=[1]),
}


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
def test_an_argument_without_a_place(stray):
    """
    It is left out, with a note, as one that is of no known kind; the others stay.
    """
    decoder = DIALECT.decoder("a1")
    body = answer(F("f", willContinue=True), P("$.a", numberValue=1), stray)
    found = fold(decoder.feed(body) + decoder.close()).last

    assert {"a": 1} == found.tool_calls[0].input
    assert ["stray-argument"] == [note.code for note in decoder.notes]


ARGUMENTS = {
    "JSON text": ('{"x":1}', ("called", {"x": 1})),
    "an array": ([1], ("failed", None)),
    "null": (None, ("called", {})),
}


@pytest.mark.parametrize(("args", "expected"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_that_are_no_object(args, expected):
    """
    JSON text is read, anything else fails the call: it must not run without its arguments.
    """
    [part] = message(answer({"functionCall": {"name": "f", "args": args}})).tool_calls

    assert expected == (part.status.value, part.input)


def test_arguments_in_pieces_with_nulls():
    """
    Of the values of a piece the one that is not null counts, as in dumps of the official client.
    """
    piece = {"jsonPath": "$.x", "stringValue": None, "numberValue": 2.0, "boolValue": None, "nullValue": None}
    [part] = message(answer({"functionCall": {"name": "f", "partialArgs": [piece], "willContinue": None}})).tool_calls

    assert ('{"x":2}', {"x": 2}) == (part.raw_input, thaw(part.input))


def test_arguments_that_were_cut():
    """
    The call failed with its step; its text is what came.
    """
    found = message(SAMPLES["arguments that were cut"])
    [call] = found.tool_calls

    assert (MessageStatus.FAILED, ErrorKind.INTERRUPTED) == (found.status, found.error.kind)
    assert (CallStatus.FAILED, '{"country":"Fra') == (call.status, call.raw_input)


def test_code():
    """
    Code is a call of the provider; its id pairs it with the result.
    """
    [call] = message(SAMPLES["code"]).tool_calls

    assert ("x1", "code_execution", True, {**CODE, "code": "print(1)"}) == (
        call.call_id,
        call.name,
        call.provider_executed,
        call.input,
    )
    assert (CallStatus.SUCCESS, (TextContent("1\n"),)) == (call.status, call.output)
    assert {"type": "executableCode", **S} == without_number(call.state)
    assert {"outcome": "OUTCOME_OK", "i": 1} == call.result_state


def test_code_without_ids():
    """
    A result is that of the last code before it; code without a result has failed.
    """
    _, a, b, c = message(SAMPLES["code without ids"]).tool_calls

    assert [("a", "1\n"), ("b", "no"), ("c", "")] == [
        (call.input["code"], "".join(each.text for each in call.output)) for call in (a, b, c)
    ]
    assert [None, (ErrorKind.TOOL, "OUTCOME_FAILED"), (ErrorKind.NO_RESULT, None)] == [
        call.error and (call.error.kind, call.error.code) for call in (a, b, c)
    ]


def test_code_that_has_no_result_before_other_code():
    """
    A result without an id is that of the last code, not of the first that waits for one.
    """
    first, second = message(answer(X("a"), X("b"), O("2\n"), T("x"))).tool_calls

    assert [("a", "no-result", ()), ("b", None, (TextContent("2\n"),))] == [
        (call.input["code"], call.error and call.error.kind, call.output) for call in (first, second)
    ]


def test_tools_of_the_service():
    """
    A call and its result keep their whole content, also when results come in another order.
    """
    found = message(SAMPLES["searches at once"])
    outputs = {call.call_id: call.output for call in found.tool_calls}

    assert {"t1": (JsonContent(FOUND["response"]),), "t2": (JsonContent(FOUND["response"]),)} == outputs
    assert [3, 2] == [call.result_state["i"] for call in found.tool_calls]
    assert FinishReason.STOP is found.finish_reason


def test_a_tool_of_the_service_without_a_response():
    """
    It has answered nothing, and not an empty object.
    """
    searched = {"toolType": "FILE_SEARCH", "id": "s1"}
    [call] = message(answer({"toolCall": searched}, {"toolResponse": searched})).tool_calls

    assert ("success", ()) == (call.status, call.output)


def test_a_call_that_the_service_answers():
    """
    With tools of a remote server, the answer has calls and their results before its text.
    """
    [call] = message(SAMPLES["call that the service answers"]).tool_calls

    assert (True, (JsonContent({"result": "2 °C"}),)) == (call.provider_executed, call.output)


@pytest.mark.parametrize("ids", [("c1", "c2"), (None, None)], ids=["ids", "no ids"])
def test_functions_that_the_official_client_has_run(ids):
    """
    Streams of google-genai go on behind calls that it has run; their results are in the history of the next chunks.
    """

    def result(of, given):
        named = {"name": "f", "response": {"result": of}, **({"id": given} if given else {})}
        return {"function_call": None, "function_response": named}

    calls = [F("f", {"a": at}, **({"id": given} if given else {})) for at, given in enumerate(ids)]
    earlier = [result("of an earlier turn", None)]
    asked, called = {"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": calls}
    results = [result("one", ids[0]), result("two", ids[1])]
    history = [{"role": "user", "parts": earlier}, asked, called, {"role": "user", "parts": results}]
    dumps = [
        {**C(T(text), finish=end), "automatic_function_calling_history": history}
        for text, end in (("Both", None), (".", "STOP"))
    ]
    dumps = [{**dump, "model_version": MODEL} for dump in (C(*calls), END, *dumps)]
    decoder = DIALECT.decoder("a1")
    read = fold([event for dump in dumps for event in decoder.feed_event(dump)] + decoder.close()).last

    assert ["one", "two"] == [thaw(call.output[0].value)["result"] for call in read.tool_calls]
    assert (FinishReason.STOP, "Both.", []) == (read.finish_reason, read.text, decoder.notes)
    prompt = UserMessage(id="u1", content="?")
    assert ["user", "model", "user", "model"] == [
        each["role"] for each in DIALECT.encoder([prompt, read], {"model": MODEL}).body["contents"]
    ]


def test_a_function_that_the_client_runs_again():
    """
    The history repeats what earlier calls have returned: none of it is the result of a later one.
    """

    def result(of):
        return {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": of}}}]}

    first, second = (C({"functionCall": {"name": "f", "args": {"a": at}}}) for at in (1, 2))
    history = [{"role": "user", "parts": [{"text": "?"}]}, result("one")]
    one, two = ({"automaticFunctionCallingHistory": each} for each in (history, [*history, result("two")]))
    decoder = DIALECT.decoder("a1")
    for event in (first, {**second, **one}, {**C(), **one}, {**C(T("So."), finish="STOP"), **two}):
        decoder.feed_event(event)
    decoder.close()

    assert ["one", "two"] == [thaw(call.output[0].value)["result"] for call in decoder.message.tool_calls]


@pytest.mark.parametrize("kind", ["audio/pcm;rate=24000", "audio/l16;rate=24000"])
def test_sound_without_a_header_in_pieces(kind):
    """
    It is one medium, in small letters, too.
    """
    pieces = [{"inlineData": {"mimeType": kind, "data": each}} for each in ("AAEA", "AgAD")]
    [sound] = message(answer(*pieces)).parts

    assert (kind, b"\0\1\0\2\0\3") == (sound.media_type, sound.data)


def test_deltas_are_not_decoded_in_full():
    """
    Of a text all but the first few are learned.
    """
    decoder, read = DIALECT.decoder("a1"), []
    take = decoder.on_event
    decoder.on_event = lambda event: (read.append(event), take(event))
    pieces = [f"piece {at} " for at in range(30)]
    decoder.feed(stream(*[C(T(piece)) for piece in pieces]))

    assert "".join(pieces) == decoder.message.text
    assert len(read) < 6


def test_a_result_without_its_call():
    """
    The call is made up, and that is noted.
    """
    decoder = DIALECT.decoder("a1")
    call, text = fold(decoder.feed(answer(O("1\n"), T("hm"))) + decoder.close()).last.parts

    assert "hm" == text.text
    assert ("code_execution", (TextContent("1\n"),), True) == (call.name, call.output, call.state["orphan"])
    assert ["orphan-result"] == [note.code for note in decoder.notes]


def test_grounding():
    """
    Places are bytes on the wire and code points in citations; the whole is in the details of the step.
    """
    found = message(SAMPLES["grounding"])
    a, b = (
        Citation(url="https://a.example", title="A"),
        Citation(url="files/1", title="B", cited_text="It is warm in Paris."),
    )
    [text] = found.parts

    assert "Ça va là. It is hot." == text.text
    assert [(a.url, 0, 9), (a.url, 10, 15), (b.url, 10, 15)] == [
        (each.url, each.start, each.end) for each in text.citations
    ]
    assert (b.title, b.cited_text) == (text.citations[2].title, text.citations[2].cited_text)
    assert GROUNDING == thaw(found.details)["groundingMetadata"]


def test_grounding_of_another_text():
    """
    Where the text at a place is another one, the citation has no place.
    """
    other = {
        **GROUNDING,
        "groundingSupports": [{"segment": {"endIndex": 4, "text": "What"}, "groundingChunkIndices": [0, 9]}],
    }
    [text] = message(answer(T("Hello"), end=ended("STOP", groundingMetadata=other))).parts

    assert (Citation(url="https://a.example", title="A"),) == text.citations


def test_grounding_behind_a_call():
    """
    The text has ended before its sources came: they are in the details alone.
    """
    found = message(answer(T("Hello"), F("f", {}), end=ended("STOP", groundingMetadata=GROUNDING)))

    assert () == found.parts[0].citations
    assert GROUNDING == thaw(found.details)["groundingMetadata"]


def test_citations():
    """
    Citations of the older form have their places, too.
    """
    [text] = message(SAMPLES["citations"]).parts

    assert (Citation(url="https://b.example", start=7, end=24),) == text.citations


def test_a_blocked_prompt():
    """
    The message is empty; the details have the reason.
    """
    found = message(SAMPLES["blocked prompt"])

    assert () == found.parts
    assert BLOCK["promptFeedback"] == thaw(found.details)["promptFeedback"]
    assert 9 == found.usage.input_tokens


def test_an_error_in_the_middle():
    """
    What came before is kept, incomplete; the delay before a retry is read.
    """
    found = message(SAMPLES["error after text"])

    assert ("Here", ErrorKind.OVERLOADED, "UNAVAILABLE", 503, 1.5) == (
        found.text,
        found.error.kind,
        found.error.code,
        found.error.status,
        found.error.retry_after_s,
    )


def test_a_bare_error_at_the_end():
    """
    A line of JSON outside of the frames is an error of the server.
    """
    found = message(stream(C(T("Hi"))) + json.dumps({"error": ERROR}).encode() + b"\n")

    assert (MessageStatus.FAILED, ErrorKind.OVERLOADED) == (found.status, found.error.kind)


def test_a_stream_without_an_end():
    """
    A body that ends without a reason was cut.
    """
    found = message(SAMPLES["without an end"])

    assert (MessageStatus.FAILED, ErrorKind.INTERRUPTED, "Here") == (found.status, found.error.kind, found.text)


def test_a_cut_behind_the_reason():
    """
    A connection that was lost has not ended: more may have come.
    """
    decoder = DIALECT.decoder("a1")
    found = decoder.feed(SAMPLES["text"]) + decoder.close(ErrorInfo(kind=ErrorKind.NETWORK, message="reset"))

    assert ErrorKind.NETWORK == fold(found).last.error.kind


def test_several_candidates():
    """
    The first one is kept, each chunk of another gives a note.
    """
    decoder = DIALECT.decoder("a1")
    found = fold(decoder.feed(SAMPLES["several candidates"]) + decoder.close()).last

    assert ("one two", ["other-candidate"] * 2) == (found.text, [note.code for note in decoder.notes])


def test_a_candidate_alone_with_another_index():
    """
    The candidate that comes first is the answer, whatever its index.
    """
    body = stream(C(T("one "), index=1), C(T("two"), index=1, finish="STOP", usage=USAGE))

    assert "one two" == message(body).text


@pytest.mark.parametrize("last", [None, {}, dict.fromkeys(USAGE)], ids=["none", "empty", "nulls"])
def test_counts_before_the_last_chunk(last):
    """
    A last chunk without counts takes none away.
    """
    body = stream(C(T("a"), usage=USAGE), C(T("b"), finish="STOP", usage=last))

    assert USAGE == message(body).usage.details


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"])
def test_arguments_that_the_end_has_cut(reason):
    """
    A call that was to go on is not one to be run, whatever of its arguments has come; a stop alone may leave them open.
    """
    body = stream(C(F("f", willContinue=True)), C(P("$.path", stringValue="/etc")), ended(reason))
    [found] = message(body).tool_calls
    [stopped] = message(stream(C(F("f", willContinue=True)), C(P("$.path", stringValue="/etc")), END)).tool_calls

    assert (CallStatus.FAILED, PartStatus.INCOMPLETE) == (found.status, found.input_status)
    assert {"path": "/etc"} == stopped.arguments


def test_the_last_counts():
    """
    They are totals: a count that only a chunk before has is not one of the answer.
    """
    early = {"promptTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 12}
    last = {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8}
    found = message(stream(C(H("Hm"), usage=early), C(T("So."), finish="STOP", usage=last))).usage

    assert (5, 3, None, last) == (found.input_tokens, found.output_tokens, found.reasoning_tokens, thaw(found.details))


def test_output_of_thoughts_alone():
    """
    Zeros are not written: without a count of candidates the thoughts are all of the output (google/adk-python#1357).
    """
    usage = {"promptTokenCount": 1706, "thoughtsTokenCount": 2999, "totalTokenCount": 4705}
    found = message(stream(C(H("Hm"), finish="MAX_TOKENS", usage=usage))).usage

    assert (1706, 2999, 2999, 4705) == (
        found.input_tokens,
        found.output_tokens,
        found.reasoning_tokens,
        found.total_tokens,
    )


def test_dumps_with_nulls():
    """
    A source is found beside the nulls of a dump, and an object of nulls in a later chunk takes nothing away.
    """
    chunk = {"image": None, "maps": None, "web": {"title": "uefa", "uri": "https://x/1"}}
    support = {"grounding_chunk_indices": [0], "segment": {"end_index": 5, "start_index": None, "text": "Spain"}}
    found = {"grounding_chunks": [chunk], "grounding_supports": [support]}
    nothing = dict.fromkeys(found)
    frames = [
        {"candidates": [{"content": {"parts": [{"text": text}]}, "finish_reason": reason, "grounding_metadata": given}]}
        for text, reason, given in (("Spain", None, found), (".", "STOP", nothing))
    ]
    decoder = DIALECT.decoder("a1")
    events = [event for each in frames for event in decoder.feed_event({"model_version": MODEL, **each})]
    [part] = fold(events + decoder.close()).last.parts

    assert [("https://x/1", "uefa", 0, 5)] == [(each.url, each.title, each.start, each.end) for each in part.citations]


def test_a_source_of_an_image_search():
    """
    Google wants its page attributed, not the image.
    """
    image = {"image": {"sourceUri": "https://page", "imageUri": "https://img", "title": "T"}}
    metadata = {
        "groundingChunks": [image],
        "groundingSupports": [{"segment": {"endIndex": 1}, "groundingChunkIndices": [0]}],
    }
    [part] = message(stream(C(T("a"), finish="STOP", groundingMetadata=metadata))).parts

    assert ["https://page"] == [each.url for each in part.citations]


def test_facts_of_the_end():
    """
    What is beside the parts is in the details of the step, what continues it in its state.
    """
    found = message(SAMPLES["unknown fields"])

    assert {"avgLogprobs": -0.25, "modelStatus": {"modelStage": "PREVIEW"}} == thaw(found.details)
    assert "Y29udGludWF0aW9uLXRva2Vu" == message(SAMPLES["continuation"]).state["continuationToken"]


@pytest.mark.parametrize(
    ("end", "token"),
    [
        (END, None),
        (ended("CONTINUATION"), "dG9rZW4="),
        (ended("CONTINUATION", continuationToken="bGFzdA=="), "bGFzdA=="),
        (ended("MAX_TOKENS", continuationToken="bGFzdA=="), "bGFzdA=="),
    ],
    ids=["stop", "pause", "pause with a token", "limit with a token"],
)
def test_a_checkpoint(end, token):
    """
    The token of a chunk on the way counts only where the answer may be continued; google-genai 3.4 takes it so, too.
    """
    read = message(stream(C(T("a"), continuationToken="dG9rZW4="), C(T("b")), end))

    assert (token, "ab") == (read.state.get("continuationToken"), read.text)


def test_log_probabilities():
    """
    Those of all chunks are details of the step, one behind the other.
    """
    results = [{"chosenCandidates": [{"token": each}], "topCandidates": [{"candidates": []}]} for each in "ab"]
    chunks = [C(T(each), logprobsResult=result) for each, result in zip("ab", results, strict=True)]

    assert {
        "logprobsResult": {
            "chosenCandidates": [{"token": "a"}, {"token": "b"}],
            "topCandidates": [{"candidates": []}, {"candidates": []}],
        }
    } == thaw(message(stream(*chunks, END)).details)


@pytest.mark.parametrize("fast", [True, False])
def test_an_id_that_changes_and_comes_back(fast):
    """
    The last id counts, also of chunks that are like earlier ones.
    """
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    changed = [*[C(T("a"))] * 6, C(T("a"), head={**HEAD, "responseId": "r2"})]
    found = decoder.feed(stream(*changed, *[C(T("a"))] * 6)) + decoder.close()

    assert {"responseId": "r1"} == thaw(fold(found).last.state)
    assert {"responseId": "r2"} == thaw(message(stream(*changed)).state)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([T("b"), X("1"), O("1")], ["aaaaaaaaab", "code_execution", "cd"]),
        ([T("b"), F("f", {})], ["aaaaaaaaab", "f", "cd"]),
        ([T("b"), H("b")], ["aaaaaaaaab", "b", "cd"]),
        ([T("b"), T("b", SIG)], ["aaaaaaaaabb", "cd"]),
        ([{**T("b"), **F("f", {})}], ["aaaaaaaaab", "f", "cd"]),
    ],
    ids=["code", "call", "thought", "signed", "two kinds"],
)
def test_a_chunk_of_several_parts_in_a_long_text(parts, expected):
    """
    What ends or signs a text in the chunk that continues it ends it also for the chunks that follow.
    """
    found = message(answer(*[T("a")] * 9, parts, T("c"), T("d")))

    assert expected == [part.name if part.type == "tool" else part.text for part in found.parts]


def test_a_thought_and_a_call_in_one_part():
    """
    The text is still one of a thought.
    """
    found = message(answer({**H("Hm"), **F("f", {})}))

    assert ("Hm", "", ["f"]) == (found.reasoning, found.text, [call.name for call in found.tool_calls])


def test_audio_at_two_rates():
    """
    Each is an item of its own, since one has one type.
    """
    kinds = [f"audio/L16;codec=pcm;rate={rate}" for rate in (24000, 16000)]
    found = message(answer(*[{"inlineData": {"mimeType": kind, "data": "AAE="}} for kind in kinds]))

    assert [(kind, b"\0\1") for kind in kinds] == [(part.media_type, part.data) for part in found.media]


def test_audio_with_a_name():
    """
    It does not continue other audio, and its name is kept.
    """
    audio = {"mimeType": "audio/L16;codec=pcm;rate=24000", "data": "AAE=", "displayName": "greeting"}
    [found] = message(answer({"inlineData": audio})).media

    assert (b"\0\1", {"i": 0, "fields": {"displayName": "greeting"}}) == (found.data, found.state)


def test_a_chunk_with_no_candidate():
    """
    It does not start the step, whose model the next chunk has.
    """
    assert MODEL == message(stream({"candidates": []}, C(T("a")), END)).origin.served_model


def test_chunks_without_content():
    """
    Chunks with counts alone, a candidate without content, and parts that are null are none of them an error.
    """
    odd = [
        {"usageMetadata": {"trafficType": "ON_DEMAND"}},
        {"candidates": [{"content": {}}]},
        {"candidates": [{"content": None}]},
    ]
    found = message(stream({}, *odd, C(T("a")), {"candidates": [{"content": {"parts": None}}]}, END))

    assert ("a", FinishReason.STOP) == (found.text, found.finish_reason)


FORMS = {
    JsonLines: lambda chunks: b"\n".join(json.dumps(each).encode() for each in chunks),
    JsonArray: lambda chunks: json.dumps(chunks, indent=2).encode(),
}


@pytest.mark.parametrize("framing", FORMS)
def test_other_framings(framing):
    """
    A stream that was asked for without `alt=sse` is one JSON array.
    """
    chunks = [C(H("Plan {")), C(T('"quoted\\')), C(F("f", {"x": "}"}, SIG)), END]

    assert message(stream(*chunks)) == message(FORMS[framing](chunks), framing=framing)


def test_a_document():
    """
    A document is one chunk with all parts: it gives the message of the stream.
    """
    document = {
        "candidates": [candidate(H("Plan"), T("Yes", SIG), F("f", {"x": 1}), finish="STOP")],
        "usageMetadata": USAGE,
        **HEAD,
    }
    found = fold(DIALECT.decode_resource(document, "a1")).last

    assert isinstance(found, AssistantMessage)
    assert found == message(answer(H("Plan"), T("Yes", SIG), F("f", {"x": 1})))


def test_dumps_in_snake_case():
    """
    Dumps of the official client, with its names and nulls, are read as the chunks; inputs keep their keys.
    """
    nulls = {"thought": None, "function_call": None, "inline_data": None, "thought_signature": None}
    arguments = {"call_id": 1, "nested_key": {"a_b": 2}}
    found = {**nulls, "function_call": {"name": "f", "args": arguments, "id": "c1"}, "thought_signature": SIG}
    head = {"model_version": MODEL, "response_id": "r1", "usage_metadata": None, "prompt_feedback": None}
    end = {"index": 0, "content": None, "finish_reason": "STOP", "avg_logprobs": -0.5, "grounding_metadata": None}
    counts = {"prompt_token_count": 3, "candidates_token_count": 4, "total_token_count": 7, "traffic_type": None}
    dumps = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{**nulls, "text": "Hi"}, found]}}], **head},
        {"candidates": [end], **head, "usage_metadata": counts},
    ]
    decoder = DIALECT.decoder("a1")
    read = fold([event for dump in dumps for event in decoder.feed_event(dump)] + decoder.close()).last

    assert "Hi" == read.text
    assert ("c1", "f", arguments) == (read.parts[1].call_id, read.parts[1].name, thaw(read.parts[1].input))
    assert {"i": 1, "thoughtSignature": SIG} == thaw(read.parts[1].state)
    assert (FinishReason.TOOL_CALLS, 3, 4) == (read.finish_reason, read.usage.input_tokens, read.usage.output_tokens)
    assert {"avgLogprobs": -0.5} == thaw(read.details)


def test_a_call_without_arguments_in_a_dump():
    """
    Nulls of fields for pieces are not pieces of its input, which is whole whatever has ended the answer.
    """
    dump = F("f", {}, partialArgs=None, willContinue=None)
    [call] = message(stream(C(dump), ended("SAFETY"))).tool_calls

    assert ({}, CallStatus.CALLED) == (thaw(call.input), call.status)


def test_keys_of_the_app_in_a_dump():
    """
    Metadata that an app gives a part has its own keys.
    """
    own = {"trace_id": "t1", "span": {"parent_id": 1}}
    read = message({"model_version": MODEL, **C({"text": "Hi", "part_metadata": own}, finishReason="STOP")})

    assert own == thaw(read.parts[0].state["partMetadata"])


def test_a_blocked_prompt_dumped_in_snake_case():
    """
    A document of the official client that has no candidates is an answer, too.
    """
    dump = {
        "sdk_http_response": {"headers": {}, "body": None},
        "candidates": None,
        "prompt_feedback": {"block_reason": "SAFETY", "block_reason_message": None},
        "usage_metadata": {"prompt_token_count": 4, "cached_content_token_count": None},
    }
    read = message(dump)

    assert (FinishReason.CONTENT_FILTER, "SAFETY", None) == (read.finish_reason, read.raw_finish_reason, read.error)
    assert 4 == read.usage.input_tokens
    assert DIALECT.detect(dump)


def test_detect():
    """
    Chunks, documents, blocked prompts and errors of Google are of this wire; answers of others are not.
    """
    known = [C(T("a")), BLOCK, {"usageMetadata": {}}, {"error": ERROR}]
    others = [
        {"choices": []},
        {"type": "message"},
        {"error": {"code": 1, "message": "x"}},
        {"error": {"type": "x"}},
        {},
    ]

    assert ([True] * 4, [False] * 5) == (
        [DIALECT.detect(each) for each in known],
        [DIALECT.detect(each) for each in others],
    )


ERRORS = {
    (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."): ErrorKind.AUTH,
    (400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)."): (
        ErrorKind.CONTEXT_LENGTH
    ),
    (400, "INVALID_ARGUMENT", "Penalty is not enabled"): ErrorKind.INVALID_REQUEST,
    (404, "NOT_FOUND", "no such model"): ErrorKind.NOT_FOUND,
    (429, "RESOURCE_EXHAUSTED", "quota"): ErrorKind.RATE_LIMIT,
    (500, "INTERNAL", "oops"): ErrorKind.PROVIDER,
    (503, "UNAVAILABLE", "overloaded"): ErrorKind.OVERLOADED,
}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{error[1]} {error[2][:12]}")
def test_http_errors(error):
    """
    An error has its kind and code, as an object and as an array of one.
    """
    code, status, text = error
    document = {"error": {"code": code, "status": status, "message": text}}
    for body in (document, [document]):
        found = DIALECT.http_error(code, {}, json.dumps(body).encode())

        assert (ERRORS[error], status, code, text) == (found.kind, found.code, found.status, found.message)


def test_fields_of_the_wrong_type():
    """
    They count as missing.
    """
    body = stream(
        {
            "candidates": [{"content": {"parts": [{"text": 5}, {"functionCall": "f"}, {"inlineData": {"data": "?"}}]}}],
            **HEAD,
        },
        {"candidates": "none", "usageMetadata": [1]},
        C(X("a", id=7), O(None, outcome=3), {"toolCall": {"id": "t", "args": "x"}}, {"toolCall": SEARCH}),
        END,
    )

    assert ["opaque", "tool", "opaque", "tool"] == [part[0] for part in parts(body) if part[0] != "text"]


def test_a_finish_reason_of_thousands_of_digits():
    """
    A number without a meaning counts as missing.
    """
    body = stream(C(T("Hi")), C(T("!"), finish=7654321)).replace(b"7654321", b"9" * 5000)

    assert "Hi!" == message(body).text


@pytest.mark.parametrize(
    "end",
    [
        {"candidates": [{"content": {"parts": []}, "finishReason": "FINISH_REASON_UNSPECIFIED", "index": 0}]},
        {"candidates": [{"content": {"parts": []}, "finishReason": 0, "index": 0}]},
        {"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}},
        {"promptFeedback": {"blockReason": "BLOCKED_REASON_UNSPECIFIED"}},
        {"promptFeedback": {"blockReason": 0}},
    ],
)
def test_a_default_is_no_end(end):
    """
    A stream with the default of an enum alone was cut.
    """
    assert ErrorKind.INTERRUPTED == message(stream(C([T("a")]), end)).error.kind


def test_code_whose_result_has_no_id():
    """
    The result is that of the last code, whose id it does not repeat.
    """
    [found] = message(answer(X("1", id="x1"), O("1"), T("So."))).tool_calls

    assert ("success", "1") == (found.status, found.output[0].text)


ACROSS = {
    "with ids": ([X("1", id="x1"), X("2", id="x2")], [O("one", id="x1"), O("two", id="x2")], [2, 3]),
    "without ids": ([X("1"), X("2")], [O("two"), O("one")], [3, 2]),
}


@pytest.mark.parametrize(("code", "results", "numbers"), ACROSS.values(), ids=ACROSS)
def test_results_behind_a_pause(code, results, numbers):
    """
    They are of the message that was paused; one that comes behind other parts is kept at its place.
    """
    start = events(answer(*code, end=ended("CONTINUATION")))
    decoder = DIALECT.decoder("a2", continues=fold(start).last)
    rest = decoder.feed(answer(*results, T("So."), O("late"))) + decoder.close()
    paused, last = fold([*start, *rest], strict=True).messages

    assert ["one", "two"] == [call.output[0].text for call in paused.tool_calls]
    assert numbers == [call.result_state["i"] for call in paused.tool_calls]
    assert [("text", 0), ("tool", 1)] == [(part.type, part.state["i"]) for part in last.parts]


def test_an_empty_signature():
    """
    It counts as missing: the text continues.
    """
    assert [("text", "ab", {})] == parts(answer(T("a", sig=""), T("b")))


def test_a_signature_in_a_later_piece_of_a_call():
    """
    It is that of the call.
    """
    body = answer(F("f", willContinue=True), {**P("$.a", last=True, stringValue="x"), "thoughtSignature": SIG})
    [found] = message(body).tool_calls

    assert SIG == found.state["thoughtSignature"]


def test_a_piece_that_goes_on_inside():
    """
    The flag may be in the piece alone, and not in the call.
    """
    pieces = [{"jsonPath": "$.a", "stringValue": "x", "willContinue": True}, {"jsonPath": "$.a", "stringValue": "y"}]
    first = F("f", partialArgs=pieces[:1])
    second = {"functionCall": {"partialArgs": pieces[1:]}}
    [found] = message(answer(first, second)).tool_calls

    assert {"a": "xy"} == found.input


def test_a_bare_error_behind_a_stop():
    """
    The answer was not whole.
    """
    error = json.dumps({"error": {"code": 503, "message": "Busy", "status": "UNAVAILABLE"}}).encode()
    found = message(stream(C(T("a")), ended("STOP")) + error)

    assert (MessageStatus.FAILED, "overloaded") == (found.status, found.error.kind)


def test_an_input_that_is_frozen_late():
    """
    A whole one stays as it was parsed until something looks into it: freezing a large one takes longer than reading.
    """
    given = {"lines": [{"text": "a"}]}
    [called] = [each for each in events(answer(F("f", given))) if each.type == "tool.called"]

    assert LazyObject is type(called.input)
    assert given == called.input
    assert LazyObject is not type(called.input)


def test_chunks_inside_an_object():
    """
    Code Assist, which serves the Gemini CLI, has each chunk and document under `response`, with an id of its own.
    """
    chunks = [C(H("Hm."), T("one")), *[C(T(f" and {word}")) for word in ("two", "three", "four", "five")], END]
    wrapped = [{"response": each, "traceId": "4bf92f"} for each in chunks]
    plain, found = message(stream(*chunks)), message(stream(*wrapped))

    assert (plain.parts, plain.usage, plain.origin) == (found.parts, found.usage, found.origin)
    assert "one and two and three and four and five" == found.text
    assert {"traceId": "4bf92f"} == found.details
    assert found.text == message({"response": C(T(found.text), finish="STOP", usage=USAGE)}).text
    assert all(DIALECT.detect(each) for each in wrapped)
