"""
What Converse takes back: order, signatures, results, and what must not be sent.
"""

import re

import attrs
import pytest

from assistant_events import Origin, Transcript, UserMessage, fold
from assistant_events.adapters import load_dialect
from assistant_events.testing import Call, error
from assistant_events.testing import answer as built
from assistant_events.values import JsonContent, MediaContent, TextContent, thaw

from .notation import DIALECT, MODEL, REQUEST, B, C, D, G, H, J, R, T, X, answer, encoded, message, text, tool
from .samples import FACTS, NOVA, RAN, SAMPLES, result

USER = UserMessage(id="u1", content="Hi")
ASKED = {"role": "user", "content": [{"text": "Hi"}]}
NEXT = UserMessage(id="u2", content="And?")


def own(body, **options):
    """
    Return the message of a stream that the model of the request has given.
    """
    return message(body, request=REQUEST, **options)


def sent(body, **options):
    """
    Return the content of an answer in the next request, and what was dropped.
    """
    messages, drops = encoded(USER, own(body), NEXT, **options)
    found = [each["content"] for each in messages if each["role"] == "assistant"]
    return found[0] if found else None, drops


SENT = {
    "two texts": [{"text": "One."}, {"text": "Two."}],
    "redacted content in pieces": [{"reasoningContent": {"redactedContent": "cnNuX3BVUGgxNnRv"}}, {"text": "So."}],
    "code interpreter": [
        {
            "toolUse": {
                "toolUseId": "tooluse_n",
                "name": "nova_code_interpreter",
                "input": {"a": 1},
                "type": "server_tool_use",
            }
        },
        {
            "toolResult": {
                "toolUseId": "tooluse_n",
                "content": [RAN],
                "type": "nova_code_interpreter_result",
                "status": "success",
            }
        },
        {"text": "It is 4950."},
    ],
    "citation before its text": [{"citationsContent": {"content": [{"text": "Matz."}], "citations": [FACTS]}}],
    "overlapping": [
        {"reasoningContent": {"reasoningText": {"text": "one more", "signature": "EpwCc2lnbmF0dXJl"}}},
        {"text": "two words"},
    ],
    "unknown block": [{"hologram": {"beam": [1, 2]}}, {"text": "So."}],
}


@pytest.mark.parametrize("name", SENT)
def test_an_answer_is_sent_as_it_came(name):
    """
    Every block is sent back with its state, at its place.
    """
    content, drops = sent(SAMPLES[name])

    assert SENT[name] == content
    assert ("unknown block" == name) is bool(drops)


def test_c3_redacted_content_for_boto3():
    """
    The state is base64; boto3 takes the bytes.
    """
    for_boto3 = pytest.importorskip("assistant_events.adapters.bedrock_converse").for_boto3
    content, _ = sent(answer(R(0, "YWJj"), X(0), *text(1, "So.")))

    assert [{"reasoningContent": {"redactedContent": b"abc"}}, {"text": "So."}] == for_boto3(content)


def test_inputs_are_not_for_boto3():
    """
    Names inside of an input, and of other documents of the app, are the app's: a text named `bytes` stays a text.
    """
    for_boto3 = pytest.importorskip("assistant_events.adapters.bedrock_converse").for_boto3
    content, _ = sent(answer(*tool(0, input='{"bytes":"YWJj"}')))
    result = {"toolResult": {"content": [{"json": {"bytes": "YWJj"}}]}}
    named = {key: {"bytes": "YWJj"} for key in ("additionalModelRequestFields", "requestMetadata")}

    assert {"bytes": "YWJj"} == for_boto3(content)[0]["toolUse"]["input"]
    assert [result, named] == for_boto3([result, named])


@pytest.mark.parametrize(
    ("begun", "block"),
    [
        (T(0, "Hi"), {"text": "Hi"}),
        (G(0, "EpwC"), {"reasoningContent": {"reasoningText": {"text": "", "signature": "EpwC"}}}),
    ],
    ids=["text", "reasoning"],
)
def test_an_unknown_delta_is_not_sent(begun, block):
    """
    It is kept with its part; a request has a field for none.
    """
    body = answer(begun, D(0, hologram={"beam": "x"}), X(0), *text(1, "So."))

    assert [{"hologram": {"beam": "x"}}] == thaw(own(body).parts[0].state["deltas"])
    assert [block, {"text": "So."}] == sent(body)[0]


PROFILE = "arn:aws:bedrock:us-west-2:1:application-inference-profile/c3myu2h6"


@pytest.mark.parametrize(
    ("model", "expected"), [(MODEL, None), (PROFILE, None), ("amazon.nova-pro-v1:0", ["reasoningContent"])]
)
def test_a_thought_at_the_end(model, expected):
    """
    Claude refuses an answer that ends with a thought; a message of nothing else is not sent.
    """
    request = {**REQUEST, "modelId": model}
    own = message(answer(H(0, "Hm."), G(0, "EpwC"), X(0)), request=request)
    messages = DIALECT.encoder([USER, own, NEXT], request).body["messages"]
    found = [[*block] for each in messages if each["role"] == "assistant" for block in each["content"]]

    assert ([expected] if expected else []) == found


def test_a_thought_before_a_call_that_is_sent_as_text():
    """
    Without tools in the request nothing follows the thought.
    """
    bare = {key: each for key, each in REQUEST.items() if key != "toolConfig"}
    own = message(answer(H(0, "Hm."), G(0, "EpwC"), X(0), *tool(1)), request=bare)
    messages = DIALECT.encoder([USER, own, NEXT], bare).body["messages"]

    assert "reasoningContent" not in str(messages)


@pytest.mark.parametrize("raw", [{"SDK_UNKNOWN_MEMBER": {"name": "hologram"}}, {"toolUse": {"input": {}}}])
def test_a_thought_before_a_block_that_is_not_sent(raw):
    """
    It would be the last block.
    """
    content, drops = sent(answer(*text(0, "a"), H(1, "Hm."), G(1, "EpwC"), X(1), B(2, **raw), X(2)))

    assert [{"text": "a"}] == content
    assert [1, 2] == [place for place, _ in drops]


def test_two_thoughts_with_nothing_sent_between():
    """
    Claude refuses them: the later one is sent.
    """
    thoughts = [(H(at, f"Hm {at}"), G(at, "EpwC"), X(at)) for at in (0, 2)]
    content, drops = sent(answer(*thoughts[0], *tool(1, **NOVA), *thoughts[1], *text(3, "So.")))

    assert [{"reasoningContent": {"reasoningText": {"text": "Hm 2", "signature": "EpwC"}}}, {"text": "So."}] == content
    assert [0, 1] == [place for place, _ in drops]


def test_a_blank_prompt():
    """
    A sentence is in its place: a conversation begins with the user.
    """
    messages, drops = encoded(UserMessage(id="u1", content=TextContent(" ")), own(answer(*text(0, "a"))), NEXT)

    assert [{"text": "The user has sent a blank text, which cannot be passed on."}] == messages[0]["content"]
    assert ["user", "assistant", "user"] == [each["role"] for each in messages]
    assert [(None, "unsupported")] == drops


def test_c15_reasoning_without_a_signature():
    """
    It is not sent: some models refuse it, others repeat it.
    """
    assert ([{"text": "So."}], [(0, "unsigned")]) == sent(answer(H(0, "Hm."), X(0), *text(1, "So.")))


IDS = {
    "mistral.mistral-large-2407-v1:0": r"[a-zA-Z0-9]{9}",
    MODEL: r"tooluse_Xy-1",
}


@pytest.mark.parametrize("model", IDS)
def test_c17_ids_of_mistral(model):
    """
    Models of Mistral get ids of nine letters and digits, the same in a call and its result, the same each time.
    """
    asked = own(answer(*tool(0, "tooluse_Xy-1"), *tool(1, "abcdefgh9"), reason="tool_use"))
    messages, _ = encoded(USER, asked, model=model)
    again, _ = encoded(USER, asked, NEXT, model=model)
    calls = [block["toolUse"]["toolUseId"] for block in messages[1]["content"]]

    assert calls == [block["toolResult"]["toolUseId"] for block in messages[2]["content"]]
    assert calls == [block["toolUse"]["toolUseId"] for block in again[1]["content"]]
    assert re.fullmatch(IDS[model], calls[0])
    assert "abcdefgh9" == calls[1]


def test_c18_spaces_of_signed_reasoning():
    """
    The text of a signed thought is sent to its last space.
    """
    content, _ = sent(answer(H(0, " Need weather. \n"), G(0, "EpwC"), X(0), *text(1, "So. ")))

    assert [
        {"reasoningContent": {"reasoningText": {"text": " Need weather. \n", "signature": "EpwC"}}},
        {"text": "So. "},
    ] == content


def test_ids_that_the_service_refuses():
    """
    Other characters and long ids are replaced; ids are unique.
    """
    calls = [Call("f", {}, output="a", call_id="a b/c" * 20), Call("f", {}, output="b", call_id="a b")]
    messages, _ = encoded(USER, fold(built(calls=calls)).last)
    ids = [block["toolUse"]["toolUseId"] for block in messages[1]["content"]]

    assert all(re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", each) for each in ids)
    assert ids == [block["toolResult"]["toolUseId"] for block in messages[2]["content"]]
    assert "a_b" == ids[1]


OUTPUTS = {
    "text": ("sun", [{"text": "sun"}]),
    "JSON": ({"sky": "blue"}, [{"text": '{"sky":"blue"}'}]),
    "nothing": ("", []),
    "media": (
        [TextContent("see"), MediaContent(media_type="image/png", data=b"abc")],
        [{"text": "see"}, {"image": {"format": "png", "source": {"bytes": "YWJj"}}}],
    ),
}


@pytest.mark.parametrize(("output", "content"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs(output, content):
    """
    What a tool returned is in the message behind the call, before the next prompt.
    """
    messages, drops = encoded(USER, fold(built(calls=[Call("f", {"a": 1}, output=output, call_id="t1")])).last, NEXT)

    assert [
        ASKED,
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": content}}, {"text": "And?"}]},
    ] == messages
    assert [] == drops


def test_audio_in_an_output():
    """
    A result cannot have audio, which a prompt can.
    """
    output = [TextContent("hear"), MediaContent(media_type="audio/wav", data=b"abc")]
    messages, drops = encoded(USER, fold(built(calls=[Call("f", {}, output=output, call_id="t1")])).last)

    assert [{"toolUseId": "t1", "content": [{"text": "hear"}]}] == [
        block["toolResult"] for block in messages[2]["content"]
    ]
    assert [(0, "unsupported")] == drops


def test_a_failure_without_a_text():
    """
    An error has content: the service refuses an empty one.
    """
    failed = fold(built(calls=[Call("f", {}, error=error("tool", " "), call_id="t1")])).last

    [block] = encoded(USER, failed)[0][2]["content"]
    assert {"toolUseId": "t1", "content": [{"text": "The call has failed."}], "status": "error"} == block["toolResult"]


def test_a_failure_of_the_provider_without_a_text():
    """
    It is sent with one, too.
    """
    failed = [*tool(0, "t1", "nova_grounding", "{}", type="server_tool_use"), *result(1, id="t1", status="error")]
    [_, found], _ = encoded(USER, own(answer(*failed, *text(2, "Sorry."))))

    assert [{"text": "The call has failed."}] == found["content"][1]["toolResult"]["content"]


def test_a_call_that_failed():
    """
    Its result has the status `error`, and so has that of a call without an answer.
    """
    failed = fold(built(calls=[Call("f", {}, error=error("tool", "no"), call_id="t1")])).last
    open_call = own(answer(*tool(0, "t2"), reason="tool_use"))
    [block] = encoded(USER, failed)[0][2]["content"]
    messages, drops = encoded(USER, open_call)

    assert {"toolUseId": "t1", "content": [{"text": "no"}], "status": "error"} == block["toolResult"]
    assert "error" == messages[2]["content"][0]["toolResult"]["status"]
    assert [(0, "no-answer")] == drops


def test_names_that_the_service_refuses():
    """
    Names of calls are of 64 letters, digits, hyphens and underscores at most.
    """
    calls = [Call(name, {}, output="1", call_id=f"t{at}") for at, name in enumerate(["maps.find:one", "x" * 65])]
    messages, _ = encoded(USER, fold(built(calls=calls)).last)

    assert ["maps_find_one", "x" * 64] == [block["toolUse"]["name"] for block in messages[1]["content"]]


def test_input_that_is_not_an_object():
    """
    The call is sent with an empty object, and its result has the fault.
    """
    messages, _ = encoded(USER, own(answer(*tool(0, input="[1"), reason="tool_use")))

    assert {} == messages[1]["content"][0]["toolUse"]["input"]
    assert "was not run" in messages[2]["content"][0]["toolResult"]["content"][0]["text"]


def test_calls_without_tools():
    """
    A request without `toolConfig` has no calls: they are text of the user. Calls of the provider are left out.
    """
    asked = own(answer(*text(0, "I look."), *tool(1, "t1"), *tool(2, **NOVA), *result(3, RAN), reason="tool_use"))
    messages, drops = encoded(USER, asked, toolConfig=None)

    assert "toolUse" not in str(messages)
    assert "toolResult" not in str(messages)
    assert 'f was called with {"a":1}' in messages[2]["content"][0]["text"]
    assert {(1, "reworded"), (1, "no-answer"), (2, "unplaced")} == set(drops)


@pytest.mark.parametrize("more", [{}, {"toolConfig": None}], ids=["with tools", "without tools"])
def test_a_raw_result(more):
    """
    A result whose call is not known is refused: it is not sent.
    """
    raw = own(answer(*result(0, RAN, id="tooluse_0"), *text(1, "Hm.")))
    messages, drops = encoded(USER, raw, **more)

    assert [{"text": "Hm."}] == messages[1]["content"]
    assert [(0, "unplaced")] == drops


def test_a_block_that_boto3_does_not_know():
    """
    Of a block of tomorrow boto3 gives the name alone, and takes back nothing.
    """
    unknown = B(0, SDK_UNKNOWN_MEMBER={"name": "hologram"})

    assert ([{"text": "Hm."}], [(0, "unplaced")]) == sent(answer(unknown, X(0), *text(1, "Hm.")))


UNKNOWN = {"SDK_UNKNOWN_MEMBER": {"name": "of_tomorrow"}}
BOTO3_IN_BLOCKS = {
    "place of a citation": (
        (T(0, "Matz."), C(0, title="Ruby", location=UNKNOWN), X(0)),
        {"citationsContent": {"content": [{"text": "Matz."}], "citations": [{"title": "Ruby"}]}},
    ),
    "fact of a thought": (
        (H(0, "Hm."), D(0, reasoningContent=UNKNOWN), G(0, "EpwC"), X(0), *text(1, "So.")),
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "EpwC"}}},
    ),
    "content of a result": (
        (*tool(0, **NOVA), *result(1, RAN, UNKNOWN), *text(2, "So.")),
        {"toolResult": {"toolUseId": "tooluse_n", "content": [RAN], "type": "nova_code_interpreter_result"}},
    ),
}


@pytest.mark.parametrize(("body", "block"), BOTO3_IN_BLOCKS.values(), ids=BOTO3_IN_BLOCKS)
def test_a_part_of_a_block_that_boto3_does_not_know(body, block):
    """
    The block is sent without what has a name alone.
    """
    content, _ = sent(answer(*body))

    assert block in content


def test_a_call_of_the_provider_that_nothing_answers():
    """
    It is not sent.
    """
    content, drops = sent(answer(*tool(0, **NOVA), *text(1, "Hm.")))

    assert [{"text": "Hm."}] == content
    assert [(0, "unanswered")] == drops


@pytest.mark.parametrize("blank", [" ", "\n\n"])
def test_blank_texts(blank):
    """
    The service refuses a blank text, of the model and of the user.
    """
    messages, drops = encoded(USER, UserMessage(id="u0", content=[TextContent(blank), TextContent("So?")]))
    content, left_out = sent(answer(*text(0, blank), *text(1, "So.")))

    assert [{"role": "user", "content": [{"text": "Hi"}, {"text": "So?"}]}] == messages
    assert [(None, "unsupported")] == drops
    assert ([{"text": "So."}], [(0, "empty")]) == (content, left_out)


def test_another_model():
    """
    Reasoning and raw blocks stay with their model; texts keep their citations.
    """
    cited = (T(2, "Matz."), D(2, citation=FACTS), X(2))
    asked = own(answer(H(0, "Hm."), G(0, "EpwC"), X(0), B(1, hologram={"a": 1}), X(1), *cited))
    messages, drops = encoded(USER, asked, model="amazon.nova-pro-v1:0")

    assert [{"citationsContent": {"content": [{"text": "Matz."}], "citations": [FACTS]}}] == messages[1]["content"]
    assert {(0, "other-model"), (1, "other-model")} <= set(drops)


def test_a_tool_of_another_model():
    """
    The tools that Bedrock runs are Nova's, and other models do not know them.
    """
    messages, drops = encoded(USER, own(SAMPLES["code interpreter"]), model="amazon.titan-text-express-v1")

    assert [{"text": "It is 4950."}] == messages[1]["content"]
    assert (0, "other-model") in drops


def test_another_provider():
    """
    State of another dialect is not sent.
    """
    origin = Origin(provider="anthropic", model="m", dialect="anthropic-messages")
    asked = fold(built("So.", reasoning="Hm.", reasoning_state={"signature": "x" * 9}, origin=origin)).last
    messages, drops = encoded(USER, asked)

    assert [{"text": "So."}] == messages[1]["content"]
    assert (0, "other-provider") in drops


def test_an_image_of_the_model():
    """
    Only messages of the user have media.
    """
    content, drops = sent(SAMPLES["image"])

    assert [{"text": "Here."}] == content
    assert [(0, "unsupported")] == drops


def test_strip():
    """
    Without state, no signature is sent and no citation.
    """
    body = {**REQUEST, "modelId": MODEL}
    found = DIALECT.encoder([USER, own(SAMPLES["citations"])], body, strip=True).body["messages"]

    assert [{"text": "Matz made it."}, {"text": "See its page."}, {"text": "Fin."}] == found[1]["content"]


def content_of(*content):
    """
    Return the blocks of a prompt.
    """
    messages, _ = encoded(UserMessage(id="u1", content=list(content)))
    return messages[0]["content"] if messages else []


CONTENT = {
    "JSON": (JsonContent({"a": 1}), {"text": '{"a":1}'}),
    "an image": (
        MediaContent(media_type="image/jpeg", data=b"abc"),
        {"image": {"format": "jpeg", "source": {"bytes": "YWJj"}}},
    ),
    "audio": (
        MediaContent(media_type="audio/mpeg", data=b"abc"),
        {"audio": {"format": "mp3", "source": {"bytes": "YWJj"}}},
    ),
    "a document": (
        # The name begins with the SHA-256 of "abc".
        MediaContent(media_type="application/pdf", data=b"abc"),
        {"document": {"format": "pdf", "name": "document-ba7816bf8f01", "source": {"bytes": "YWJj"}}},
    ),
    "a type with parameters": (
        MediaContent(media_type="text/plain; charset=utf-8", data=b"abc"),
        {"document": {"format": "txt", "name": "document-ba7816bf8f01", "source": {"bytes": "YWJj"}}},
    ),
    "an image in its address": (
        MediaContent(media_type="image/png", uri="data:image/webp;base64,YWJj"),
        {"image": {"format": "webp", "source": {"bytes": "YWJj"}}},
    ),
}


@pytest.mark.parametrize(("content", "block"), CONTENT.values(), ids=CONTENT)
def test_content(content, block):
    """
    Content of a prompt has a block by its type; the service requires a text beside a document.
    """
    beside = [{"text": "The user has sent no text beside the documents."}] if "document" in block else []

    assert [block, *beside] == content_of(content)


@pytest.mark.parametrize(
    "content",
    [
        MediaContent(media_type="image/png", uri="https://example.com/a.png"),
        MediaContent(media_type="image/bmp", data=b"abc"),
    ],
)
def test_content_that_has_no_block(content):
    """
    It is reported.
    """
    messages, drops = encoded(UserMessage(id="u1", content=[TextContent("see"), content]))

    assert [{"role": "user", "content": [{"text": "see"}]}] == messages
    assert [(None, "unsupported")] == drops


S3 = (
    *("arn:aws:bedrock:us-west-2:1:inference-profile/us.amazon.nova-pro-v1:0", "amazon.nova-2-lite-v1:0", PROFILE),
    *[f"arn:aws:bedrock:us-west-2:1:{kind}-model/c3myu2h6" for kind in ("provisioned", "custom", "imported")],
)
NO_S3 = MODEL, "us.meta.llama4-maverick-17b-instruct-v1:0", "moonshotai.kimi-k2.5"


@pytest.mark.parametrize(("model", "is_read"), [*[(model, True) for model in S3], *[(model, False) for model in NO_S3]])
def test_an_object_of_s3(model, is_read):
    """
    Nova alone reads one: others answer "document.source.type: Field required" (aws/aws-sdk-js-v3#7732).
    """
    stored = MediaContent(media_type="video/mp4", uri="s3://bucket/key")
    found, drops = encoded(UserMessage(id="u1", content=[TextContent("see"), stored]), model=model)
    block = {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://bucket/key"}}}}

    assert [{"role": "user", "content": [{"text": "see"}, *([block] if is_read else [])]}] == found
    assert ([] if is_read else [(None, "unsupported")]) == drops


FORMATS = {
    "image": {f"image/{each}": each for each in ("png", "jpeg", "gif", "webp")},
    "video": {
        **{f"video/{each}": each for each in ("mp4", "webm", "mpeg")},
        "video/quicktime": "mov",
        "video/x-matroska": "mkv",
        "video/x-flv": "flv",
        "video/x-ms-wmv": "wmv",
        "video/3gpp": "three_gp",
    },
    "audio": {
        **{f"audio/{each}": each for each in ("aac", "flac", "mp4", "ogg", "opus", "wav", "webm")},
        "audio/mpeg": "mp3",
    },
    "document": {"application/msword": "doc", "application/vnd.ms-excel": "xls", "text/markdown": "md"},
}


@pytest.mark.parametrize("kind", FORMATS)
def test_formats(kind):
    """
    The format of a block is a word of an enum (botocore 1.44.5), not the end of the media type.
    """
    media = [MediaContent(media_type=each, data=b"abc") for each in FORMATS[kind]]
    [found], drops = encoded(UserMessage(id="u1", content=[TextContent("see"), *media]), model=MODEL)

    assert [*FORMATS[kind].values()] == [block[kind]["format"] for block in found["content"][1:]]
    assert [] == drops


@pytest.mark.parametrize(("model", "mark"), [("us.writer.palmyra-x5-v1:0", {}), (MODEL, {"status": "error"})])
def test_the_mark_of_a_failure(model, mark):
    """
    Palmyra answers "This model doesn't support the status field" (strands-agents/harness-sdk#393).
    """
    step = fold(built(calls=[Call("f", {}, error=error(), call_id="t1")])).last
    [block] = encoded(USER, step, model=model)[0][2]["content"]

    assert {"toolUseId": "t1", "content": [{"text": "it broke"}], **mark} == block["toolResult"]


@pytest.mark.parametrize("output", ["", " ", [TextContent(""), TextContent("\n")]], ids=["empty", "blank", "several"])
def test_an_empty_output(output):
    """
    Claude takes a result without content, which Nova refuses: it gets a sentence, as does a profile, maybe of Nova.
    """
    step = fold(built(calls=[Call("f", {}, output=output, call_id="t1")])).last
    models = (MODEL, "us.amazon.nova-pro-v1:0", PROFILE)
    claude, nova, profile = [encoded(USER, step, model=model)[0][2] for model in models]

    assert [{"toolResult": {"toolUseId": "t1", "content": []}}] == claude["content"]
    assert [{"text": "The call has returned no text."}] == nova["content"][0]["toolResult"]["content"]
    assert nova == profile


def test_an_answer_at_the_beginning():
    """
    The service refuses it: "A conversation must start with a user message."
    """
    begun = {"role": "user", "content": [{"text": "The beginning of the conversation is left out."}]}
    greeted = fold(built("Hello")).last

    assert [begun, {"role": "assistant", "content": [{"text": "Hello"}]}, ASKED] == encoded(greeted, USER)[0]


PICTURE, PAPER = MediaContent(media_type="image/png", data=b"\x89PNG"), MediaContent(media_type="text/csv", data=b"a")
HOLDING = [MODEL, PROFILE, "us.amazon.nova-pro-v1:0", "us.meta.llama4-maverick-17b-instruct-v1:0"]
OTHERS = ["openai.gpt-5.6-sol", "mistral.pixtral-large-2502-v1:0", "moonshotai.kimi-k2.5"]


@pytest.mark.parametrize(
    ("model", "is_held"), [*[(model, True) for model in HOLDING], *[(model, False) for model in OTHERS]]
)
def test_images_of_results(model, is_held):
    """
    Claude, Nova and Llama 4 take them in a result, other models behind the results (anomalyco/opencode#49443).
    """
    calls = [Call("f", {}, output=[PICTURE, PAPER], call_id="t1"), Call("f", {}, output=[PICTURE], call_id="t2")]
    step = fold(built(calls=calls)).last
    messages, drops = encoded(USER, step, model=model)
    results = [block["toolResult"]["content"] for block in messages[2]["content"] if "toolResult" in block]
    kinds = [[next(iter(block)) for block in content] for content in results]

    assert ([["image", "document"], ["image"]] if is_held else [["document"], ["text"]]) == kinds
    behind = ["image", "image"] if not is_held else []
    assert ["toolResult", "toolResult", *behind] == [next(iter(block)) for block in messages[2]["content"]]
    assert [] == drops


ONE_KIND = [
    "us.meta.llama3-3-70b-instruct-v1:0",
    "us.meta.llama4-maverick-17b-instruct-v1:0",
    "mistral.mistral-large-2402-v1:0",
    "mistral.mistral-small-2402-v1:0",
]


@pytest.mark.parametrize("model", ONE_KIND)
def test_turns_of_one_kind(model):
    """
    “Conversation blocks and tool use blocks cannot be provided in the same turn”, nor results and a text of the user.
    """
    step = fold(built("I look.", calls=[Call("f", {}, output="1", call_id="123456789")])).last
    messages, drops = encoded(USER, step, NEXT, model=model)
    call = {"toolUse": {"toolUseId": "123456789", "name": "f", "input": {}}}

    assert [
        ASKED,
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "123456789", "content": [{"text": "1"}]}}]},
        {"role": "assistant", "content": [{"text": "I have the results."}]},
        {"role": "user", "content": [{"text": "And?"}]},
    ] == messages
    assert [(0, "The model refuses a text beside a call.")] == drops


def test_an_argument_without_a_name():
    """
    The service refuses one in the input of a call, also a nested one, and keeps values and blank names.
    """
    given = {"": 1, " ": "", "a": [{"": 2, "b": None}, {}], "c": {"": {}}}
    step = fold(built(calls=[Call("f", given, output="1", call_id="t1")])).last
    messages, _ = encoded(USER, step)

    assert {" ": "", "a": [{"b": None}, {}], "c": {}} == messages[1]["content"][0]["toolUse"]["input"]
    assert given == step.tool_calls[0].arguments


def test_a_text_beside_calls_that_are_not_sent():
    """
    It is sent: without tools in the request the calls are words of the user.
    """
    step = fold(built("I look.", calls=[Call("f", {}, output="1")])).last
    body = DIALECT.encoder([USER, step], {"modelId": ONE_KIND[0]}).body

    assert [{"text": "I look."}] == body["messages"][1]["content"]
    assert "text" in body["messages"][2]["content"][0]


def test_a_document_without_a_text():
    """
    It is sent with one; a text of the user, also a blank one, is sent or replaced.
    """
    document = MediaContent(media_type="application/pdf", data=b"abc")
    alone, blank, beside = [
        [[*block] for block in content_of(*content)]
        for content in ([document], [TextContent(" "), document], [document, TextContent("See")])
    ]

    assert [["document"], ["text"]] == alone == blank == beside


def test_one_document_twice():
    """
    The service refuses two documents of one name; those of the beginning keep theirs when the conversation grows.
    """
    document = MediaContent(media_type="application/pdf", data=b"abc")
    read = fold(built(calls=[Call("f", {}, output=[TextContent("it"), document], call_id="t1")])).last
    conversation = [UserMessage(id="u1", content=document), read, UserMessage(id="u2", content=document)]
    earlier, _ = encoded(*conversation[:2])
    messages, _ = encoded(*conversation)
    first, (result_, last, _) = messages[0]["content"][0], messages[2]["content"]

    assert earlier == [*messages[:2], {"role": "user", "content": [result_]}]
    assert ["document-ba7816bf8f01", "document-ba7816bf8f01-2", "document-ba7816bf8f01-3"] == [
        block["document"]["name"] for block in (first, result_["toolResult"]["content"][1], last)
    ]


def test_the_body_is_the_apps():
    """
    Everything else of the body is as it was; `messages` are not the app's.
    """
    body = {**REQUEST, "system": [{"text": "Be brief."}], "inferenceConfig": {"maxTokens": 9}}

    assert {**body, "messages": [ASKED]} == DIALECT.encoder([USER], body).body
    assert MODEL == DIALECT.encoder([USER], {"model": MODEL}).body["model"]
    with pytest.raises(ValueError, match="body: expected a model"):
        DIALECT.encoder([USER], {})
    with pytest.raises(ValueError, match="messages comes out of the transcript"):
        DIALECT.encoder([USER], {**REQUEST, "messages": []})


def test_deltas_of_tomorrow_are_reported():
    """
    A delta of an unknown type has no place in a request.
    """
    content, drops = sent(SAMPLES["unknown delta"])

    assert [{"text": "So"}] == content
    assert [(0, "unplaced")] == drops


def test_parallel_calls_with_results():
    """
    All results are in one message, in the order of the calls.
    """
    transcript = fold(
        [*built(calls=[Call("f", {}, output="1", call_id="t1"), Call("g", {}, output="2", call_id="t2")])]
    )
    messages, _ = encoded(USER, *transcript.messages)

    assert ["assistant", "user"] == [each["role"] for each in messages[1:]]
    assert ["t1", "t2"] == [block["toolResult"]["toolUseId"] for block in messages[2]["content"]]


def test_input_is_sent_as_it_was_read():
    """
    The pieces of an input are one object.
    """
    body = answer(B(0, toolUse={"toolUseId": "t1", "name": "f"}), J(0, '{"a" :'), J(0, " 1.0}"), X(0))

    assert [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1.0}}}] == sent(body)[0]


def test_a_redacted_thought_of_anthropic():
    """
    Bedrock wraps the data of Anthropic in base64 once more (recorded: pydantic-ai, redacted thinking of Claude 3.7).
    """
    claude = load_dialect("anthropic-messages")
    data = "Eu8ECkgIBxABGAIqQIhkIaSt8pEeqy7zNaEK"
    whole = {"type": "message", "role": "assistant", "model": "claude-opus-5-5", "stop_reason": "end_turn"}
    blocks = [{"type": "redacted_thinking", "data": data}, {"type": "text", "text": "So."}]
    there = fold(claude.decode_resource({**whole, "content": blocks}, "a1")).last
    messages, drops = encoded(USER, there, NEXT)
    wrapped = {"reasoningContent": {"redactedContent": "RXU4RUNrZ0lCeEFCR0FJcVFJaGtJYVN0OHBFZXF5N3pOYUVL"}}

    assert [wrapped, {"text": "So."}] == messages[1]["content"]
    assert [] == [drop for drop in drops if drop[0] is not None]

    here = own(answer(R(0, wrapped["reasoningContent"]["redactedContent"]), X(0), *text(1, "So.")))
    request = claude.encoder([USER, here, NEXT], {"model": "claude-opus-5-5", "max_tokens": 9})

    assert blocks == request.body["messages"][1]["content"]


def test_a_redacted_thought_with_half_a_pair():
    """
    Base64 has no half of a surrogate pair, which only a damaged log has: a question mark is in its place.
    """
    claude = load_dialect("anthropic-messages")
    whole = {"type": "message", "role": "assistant", "model": "claude-opus-5-5", "stop_reason": "end_turn"}
    blocks = [{"type": "redacted_thinking", "data": "Eu8\ud83d"}, {"type": "text", "text": "So."}]
    messages, _ = encoded(USER, fold(claude.decode_resource({**whole, "content": blocks}, "a1")).last, NEXT)

    assert {"reasoningContent": {"redactedContent": "RXU4Pw=="}} == messages[1]["content"][0]


def test_a_redacted_thought_of_other_bytes():
    """
    What is not the text that Anthropic sends stays as it came.
    """
    claude = load_dialect("anthropic-messages")
    here = own(answer(R(0, "/////w=="), X(0), *text(1, "So.")))
    request = claude.encoder([USER, here, NEXT], {"model": "claude-opus-5-5", "max_tokens": 9})

    assert {"type": "redacted_thinking", "data": "/////w=="} == request.body["messages"][1]["content"][0]


@pytest.mark.parametrize("model", [MODEL, "mistral.mistral-large-2402-v1:0"])
@pytest.mark.parametrize(("behind", "expected"), [([], ["user"]), ([NEXT], ["user", "assistant", "user"])])
def test_an_answer_that_was_cut(behind, expected, model):
    """
    It is asked for again: Claude and others refuse a request that ends with an answer.
    """
    messages, drops = encoded(USER, own(answer(T(0, "Let me "))[:-40]), *behind, model=model)

    assert expected == [each["role"] for each in messages]
    assert (not behind) is bool(drops)


@pytest.mark.parametrize("field", ["thinking", "reasoning_config"])
def test_a_thought_is_bound_to_what_was_sent_before_it(field):
    """
    Calls that were sent as text when Claude made its thought remain text behind the end of their turn.

    Claude 3.7 has another name for its field.
    """
    thinking = {"additionalModelRequestFields": {field: {"type": "enabled", "budget_tokens": 1024}}}
    called = fold(built(calls=[Call("f", output="4")], origin=Origin(provider="openai", dialect="openai-chat"))).last
    thought = own(answer(H(0, "Hm"), G(0, "EqQB"), X(0), *text(1, "So.")))
    asked, _ = encoded(USER, called, **thinking)
    later, _ = encoded(USER, called, attrs.evolve(thought, id="a2"), NEXT, **thinking)

    assert "was called with" in str(asked)
    assert asked == later[:1]


@pytest.mark.parametrize(
    ("asked", "kinds"), [("amazon.nova-2-lite-v1:0", [*"ct"]), (MODEL, [*"tc"])], ids=["Nova", "Claude"]
)
def test_a_cited_text_behind_a_call_of_nova(asked, kinds):
    """
    Claude refuses a text between a call and its result: it is in front of the call, with its sources.
    """
    body = answer(*tool(0, "t1"), T(1, "So."), C(1, **FACTS), X(1), reason="tool_use")
    found = message(body, request={"modelId": "amazon.nova-2-lite-v1:0"})
    transcript = fold([found.pending_tool_calls[0].succeed("ok")], start=Transcript(messages=(USER, found)))
    messages, _ = encoded(*transcript.messages, model=asked)
    cited = {"citationsContent": {"content": [{"text": "So."}], "citations": [FACTS]}}
    blocks = {"t": cited, "c": {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}}

    assert [blocks[kind] for kind in kinds] == messages[1]["content"]
