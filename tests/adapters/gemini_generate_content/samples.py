"""
Streams of every shape that the wire has: what holds for any adapter is tried on each.
"""

from .notation import END, HEAD, USAGE, C, F, H, O, P, R, T, X, answer, candidate, ended, stream

SIG = "EpQBdGhvdWdodC1zaWduYXR1cmU="
SIG_2 = "EqADc2Vjb25kLXNpZ25hdHVyZQ=="
ERROR = {
    "code": 503,
    "message": "The model is overloaded.",
    "status": "UNAVAILABLE",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}],
}
SEARCH = {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["largest city"]}}
FOUND = {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"search_suggestions": "<style></style>"}}
GROUNDING = {
    "webSearchQueries": ["weather in Paris"],
    "groundingChunks": [
        {"web": {"uri": "https://a.example", "title": "A"}},
        {"retrievedContext": {"uri": "files/1", "title": "B", "text": "It is warm in Paris."}},
    ],
    "groundingSupports": [
        {"segment": {"endIndex": 11, "text": "Ça va là."}, "groundingChunkIndices": [0]},
        {"segment": {"startIndex": 12, "endIndex": 17, "text": "It is"}, "groundingChunkIndices": [0, 1]},
    ],
    "searchEntryPoint": {"renderedContent": "<div>search</div>"},
}
BLOCK = {
    "promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "The prompt was blocked."},
    "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9},
    **HEAD,
}
CAPITAL = F("get_capital", willContinue=True, sig=SIG)

COUNTS = {
    **USAGE,
    "thoughtsTokenCount": 3,
    "toolUsePromptTokenCount": 7,
    "cachedContentTokenCount": 5,
    "totalTokenCount": 30,
}
SIG_3 = "EpQDdGhpcmQtc2lnbmF0dXJl"
SIG_4 = "EpQEZm91cnRoLXNpZ25hdHVyZQ=="
SIG_5, SIG_6 = f"EpQF{SIG_3}", f"EpQG{SIG_3}"
SECOND_SEARCH = {**SEARCH, "id": "t2", "args": {"queries": ["smallest city"]}}

SAMPLES = {
    "text": stream(
        C(T("Hel"), usage={"trafficType": "ON_DEMAND"}),
        C(T("lo"), usage={"promptTokenCount": 12, "totalTokenCount": 12}),
        C(T(" world")),
        END,
    ),
    "thought and text": answer(H("Plan: "), H("look"), T("Yes"), T(".")),
    "thought, text, thought": answer(H("a"), T("b"), H("c"), F("f", {"x": 1})),
    "parallel calls": answer([F("a", {"x": 1}, SIG, id="fc1"), F("b", {"y": "é"}, id="fc2")]),
    "calls without ids": answer(F("a", {}, SIG), F("a", {"x": [1, None]})),
    "call without arguments": answer({"functionCall": {"name": "g"}}),
    "signature at the end of a text": answer(T("Hello"), end=C(T("", SIG), finish="STOP", usage=USAGE)),
    "signature alone": answer(F("f", {}), end=C(T("", SIG), finish="STOP", usage=USAGE)),
    "signed text in the middle": answer(T("one "), T("two", SIG), T(" three"), T("", SIG_2)),
    "signed thought": answer(H("hm", SIG), H("more"), T("Yes.")),
    "two thoughts and two searches": answer(
        H("First of all", SIG),
        [{"toolCall": SEARCH, "thoughtSignature": SIG_3}, {"toolCall": SECOND_SEARCH, "thoughtSignature": SIG_4}],
        [{"toolResponse": FOUND}, {"toolResponse": {**FOUND, "id": "t2", "response": {"search_suggestions": "<p>"}}}],
        H("Then again", SIG_2),
        T("So it is."),
        [F("a", {"x": "one"}, SIG_5, id="fc1"), F("a", {"x": "two"}, SIG_6, id="fc2")],
        *(X("sleep()", id="x1"), O("", "OUTCOME_DEADLINE_EXCEEDED", id="x1"), T("And so on.")),
        end=C(T(""), finish="MAX_TOKENS", usage=COUNTS),
    ),
    "arguments in pieces": answer(
        CAPITAL,
        P("$.country.name", goes_on=True, stringValue='Fr"an'),
        P("$.country.name", goes_on=True, stringValue="ce é"),
        P("$.country.name", stringValue=""),
        P("$.items[0].price", numberValue=0.5),
        P("$.items[0]['a b']", boolValue=True),
        P("$.items[1]", nullValue="NULL_VALUE"),
        P("$.items[2].count", numberValue=2),
        R,
        end=ended("STOP"),
    ),
    "arguments in pieces, two calls": answer(
        CAPITAL, P("$.a", stringValue="x"), F("g", willContinue=True), P("$.b", stringValue="y", last=True), T("So.")
    ),
    "a string in pieces that are not announced": answer(
        F("f", willContinue=True), P("$.a", stringValue="San"), P("$.a", last=True, stringValue=" Jose")
    ),
    "the same call in each piece": answer(
        F("f", id="c", partialArgs=[{"jsonPath": "$.a", "numberValue": 1}], willContinue=True),
        F("f", id="c", partialArgs=[{"jsonPath": "$.b", "stringValue": "x"}], willContinue=False),
    ),
    "arguments out of order": answer(
        F("f", willContinue=True), P("$.a.b", numberValue=1), P("$.c", numberValue=2), P("$.a.d", numberValue=3), R
    ),
    "arguments that were cut": stream(C(CAPITAL), C(P("$.country", goes_on=True, stringValue="Fra"))),
    "a text and a call in one part": answer(
        {"text": "I look.", "functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": SIG},
        {"text": "", "functionCall": {"name": "g", "args": {}}},
    ),
    "code": answer(X("print(1)", SIG, id="x1"), O("1\n", id="x1"), T("It is 1.")),
    "code without ids": answer(F("f", {}), X("a"), O("1\n"), X("b"), T("hm"), O("no", "OUTCOME_FAILED"), X("c")),
    "search": answer({"toolCall": SEARCH, "thoughtSignature": SIG}, {"toolResponse": FOUND}, T("Found.", SIG_2)),
    "searches at once": answer(
        [{"toolCall": SEARCH}, {"toolCall": {**SEARCH, "id": "t2"}}],
        [{"toolResponse": {**FOUND, "id": "t2"}}, {"toolResponse": FOUND}],
    ),
    "call that the service answers": answer(
        F("weather", {"city": "Oslo"}),
        {"functionResponse": {"name": "weather", "response": {"result": "2 °C"}}},
        T("It is cold."),
    ),
    "result without its call": answer(T("hm"), O("1\n"), T("It is 1.")),
    "images": answer(
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}, "thought": True},
        {"inlineData": {"mimeType": "image/jpeg", "data": "/9j/4A==", "displayName": "cat"}, "thoughtSignature": SIG},
        {"fileData": {"mimeType": "audio/wav", "fileUri": "https://files.example/1"}},
    ),
    "speech": answer(
        {"inlineData": {"mimeType": "audio/L16;codec=pcm;rate=24000", "data": "AAEA"}},
        {"inlineData": {"mimeType": "audio/L16;codec=pcm;rate=24000", "data": "AgAD"}},
        T("So."),
        {"inlineData": {"mimeType": "audio/L16;codec=pcm;rate=24000", "data": "BAAF"}},
        {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}},
        {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}},
    ),
    "grounding": answer(T("Ça va là. "), T("It is hot."), end=ended("STOP", groundingMetadata=GROUNDING)),
    "citations": answer(
        T("It was the best of times"),
        end=ended(
            "RECITATION",
            citationMetadata={
                "citationSources": [{"startIndex": 7, "endIndex": 24, "uri": "https://b.example", "license": "mit"}]
            },
            urlContextMetadata={"urlMetadata": [{"retrievedUrl": "https://b.example", "urlRetrievalStatus": "OK"}]},
        ),
    ),
    "blocked prompt": stream(BLOCK),
    "blocked in the middle": answer(T("I will"), end=ended("SAFETY", safetyRatings=[{"category": "HARM_X"}])),
    "malformed call": stream(ended("MALFORMED_FUNCTION_CALL", finishMessage="Malformed function call: print(")),
    "error after text": stream(C(T("He")), C(T("re")), {"error": ERROR}),
    "error first": stream({"error": ERROR}),
    "without an end": stream(C(T("He")), C(T("re"))),
    "continuation": answer(T("half"), end=ended("CONTINUATION", continuationToken="Y29udGludWF0aW9uLXRva2Vu")),
    "several candidates": stream(
        C(T("one")),
        {"candidates": [candidate(T("other"), index=1)], **HEAD},
        {"candidates": [candidate(T(" two"), finish="STOP"), candidate(T("!"), index=1, finish="STOP")], **HEAD},
    ),
    "unknown parts": answer({"hologram": {"beam": "blue-green"}}, T("So."), {"thoughtSignature": SIG}),
    "unknown fields": answer(
        {"text": "Look", "partMetadata": {"origin": "somewhere"}},
        F("f", {"x": 1}, priority="highest"),
        end=C(
            finish="STOP",
            head={**HEAD, "turnToken": "v1_abcdefgh", "modelStatus": {"modelStage": "PREVIEW"}},
            avgLogprobs=-0.25,
        ),
    ),
    "a finish on the way": stream(
        C(F("f", {"x": 1}, id="f1"), finish="STOP"),
        C({"functionResponse": {"id": "f1", "name": "f", "response": {"ok": True}}}),
        C(T("Done."), finish="STOP", usage=USAGE),
    ),
}
