"""
What the Messages API takes back: order, signatures, results, and what must not be sent.
"""

import json

import attrs
import pytest

from assistant_events import (
    CompactionMessage,
    CompactionStarted,
    ErrorInfo,
    MediaPart,
    Origin,
    Transcript,
    UserMessage,
    fold,
)
from assistant_events.adapters import load_dialect
from assistant_events.adapters.anthropic_messages import vocabulary as words
from assistant_events.testing import Call, prompt
from assistant_events.testing import answer as built
from assistant_events.values import JsonContent, MediaContent, TextContent

from .notation import (
    DIALECT,
    END,
    MODEL,
    B,
    C,
    D,
    E,
    H,
    J,
    K,
    M,
    S,
    T,
    X,
    answer,
    encoded,
    events,
    message,
    result,
    stream,
    text,
    tool,
)
from .samples import CITED, SAMPLES, SEARCH, SERVER, SUMMARY

USER = UserMessage(id="u1", content="Hi")
ASKED = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}


def sent(name, **body):
    """
    Return the content of the answer of a sample in the next request.
    """
    messages, drops = encoded(USER, message(SAMPLES[name]), **body)
    assert [] == drops
    [found] = [each["content"] for each in messages if each["role"] == "assistant"]
    return found


def another(body, message_id="a2"):
    """
    Return the message of the stream of another answer.
    """
    decoder = DIALECT.decoder(message_id)
    return fold(decoder.feed(body) + decoder.close()).last


def block(type, **fields):
    return {"type": type, **fields}


WORDS = block("text", text="Yes.")

SENT = {
    "plain text": [block("text", text="Hello world")],
    "thinking": [block("thinking", thinking="Let me see", signature="EqQB"), WORDS],
    "thinking without text": [block("thinking", thinking="", signature="EqQB"), WORDS],
    "web search": [
        block("server_tool_use", id="srvtoolu_1", name="web_search", input={"query": "q"}),
        block("web_search_tool_result", tool_use_id="srvtoolu_1", content=list(SEARCH), caller={"type": "direct"}),
        block("text", text="It is"),
        block("text", text=" so", citations=[CITED]),
        block("text", text="."),
    ],
    "failed search": [
        block("server_tool_use", id="srvtoolu_1", name="web_search", input={"a": 1}),
        block(
            "web_search_tool_result",
            tool_use_id="srvtoolu_1",
            content={"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        ),
        block("text", text="No."),
    ],
    "mcp": [
        block("mcp_tool_use", id="mcptoolu_1", name="echo", input={"a": 1}, server_name="s"),
        block("mcp_tool_result", tool_use_id="mcptoolu_1", content=[block("text", text="hi")], is_error=False),
    ],
    "compaction": [block("compaction", **SUMMARY), block("text", text="Go on.")],
    "failed compaction": [block("compaction", content=None), block("text", text="Go on.")],
    "fallback": [
        block("fallback", **{"from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal"}}),
        block("text", text="Hello"),
    ],
    "unknown block with its own deltas": [
        block("connector_text", connector_text="It went on and on", signature="EqQB")
    ],
    "unknown block of text": [
        block("connector_text", text="So it went", signature="EqQB"),
        block("text", text="Hm."),
    ],
    "fallback without a stop": [block("fallback", to={"model": "b"}), block("text", text="Hello")],
    "overlapping thoughts": [
        block("thinking", thinking="one more", signature="MA=="),
        block("thinking", thinking="two", signature="MQ=="),
        block("text", text="Both."),
    ],
}


@pytest.mark.parametrize("name", SENT)
def test_blocks_go_back(name):
    """
    Every block is sent as it came, at its place.
    """
    assert SENT[name] == sent(name)


def test_a_result_without_content():
    """
    It is sent as it came, and not with a null.
    """
    body = answer(*tool(0, **SERVER), B(1, "web_search_tool_result", tool_use_id="srvtoolu_1"), X(1), *text(2, "a"))
    messages, _ = encoded(USER, message(body))

    assert block("web_search_tool_result", tool_use_id="srvtoolu_1") == messages[1]["content"][1]


def test_the_same_request_twice():
    """
    The same messages give the same bytes: the service compares what is before a signature.
    """
    assert repr(encoded(USER, message(SAMPLES["web search"]))) == repr(encoded(USER, message(SAMPLES["web search"])))


# -- calls and results


def results(*calls):
    """
    Return an answer with these calls, and what answers them.
    """
    events = built(
        "I look.", calls=calls, origin=Origin(provider="anthropic", model=MODEL, dialect="anthropic-messages")
    )
    return encoded(USER, fold(events).last)


def test_results_of_parallel_calls():
    """
    All results are in one message, before the prompt that follows.
    """
    called = message(SAMPLES["parallel calls"])
    events = [call.succeed(output) for call, output in zip(called.tool_calls, ("1", {"b": 2}), strict=True)]
    transcript = fold(events, start=Transcript(messages=(USER, called)))
    request = DIALECT.encoder([*transcript.messages, UserMessage(id="u2", content="And?")], {"model": MODEL})
    _, answered, user = request.body["messages"]

    assert [
        block("text", text="I look."),
        block("tool_use", id="toolu_1", name="f", input={"a": "é"}),
        block("tool_use", id="toolu_2", name="g", input={"a": 1}, caller={"type": "direct"}),
    ] == answered["content"]
    assert [
        block("tool_result", tool_use_id="toolu_1", content="1"),
        block("tool_result", tool_use_id="toolu_2", content='{"b":2}'),
        block("text", text="And?"),
    ] == user["content"]


OUTPUTS = {
    "text": ("found", "found"),
    "nothing": ((), ""),
    "two texts": ((TextContent("a"), TextContent("b")), [block("text", text="a"), block("text", text="b")]),
    "an image": (
        MediaContent(media_type="image/png", data=b"x"),
        [block("image", source=block("base64", media_type="image/png", data="eA=="))],
    ),
    "JSON beside text": (
        (TextContent("a"), JsonContent([1])),
        [block("text", text="a"), block("text", text="[1]")],
    ),
    "an empty text beside an image": (
        (TextContent(""), MediaContent(media_type="image/png", data=b"x")),
        [block("image", source=block("base64", media_type="image/png", data="eA=="))],
    ),
}


@pytest.mark.parametrize(("output", "content"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs(output, content):
    """
    One text is a string, anything else a list of blocks.
    """
    messages, drops = results(Call("f", {"a": 1}, call_id="t1", output=output))

    assert [block("tool_result", tool_use_id="t1", content=content)] == messages[-1]["content"]
    assert [] == drops


@pytest.mark.parametrize(("provider", "is_held"), [("anthropic", True), ("ollama", False), ("lmstudio", False)])
def test_an_image_of_a_result_to_a_server_that_takes_text(provider, is_held):
    """
    Ollama's cloud and LM Studio refuse it there (ollama#18055, measured; lmstudio-bug-tracker#2008), and see it behind.
    """
    image = MediaContent(media_type="image/png", data=b"x")
    events = built("I look.", calls=[Call("f", {}, call_id="t1", output=(TextContent("a"), image))])
    request = DIALECT.encoder([USER, fold(events).last], {"model": MODEL}, provider=provider)
    result, *behind = request.body["messages"][-1]["content"]
    picture = block("image", source=block("base64", media_type="image/png", data="eA=="))

    assert ([] if is_held else [picture]) == behind
    assert ([block("text", text="a"), picture] if is_held else "a") == result["content"]


def test_a_call_that_failed():
    """
    The error of a call is its result, marked as one.
    """
    messages, _ = results(Call("f", {"a": 1}, call_id="t1", error=ErrorInfo(kind="tool", message="no")))

    assert [block("tool_result", tool_use_id="t1", content="no", is_error=True)] == messages[-1]["content"]


FAULTS = {
    "an image": (
        (ErrorInfo(kind="tool", message="no"), MediaContent(media_type="image/png", data=b"x")),
        {
            "content": [
                block("text", text="no"),
                block("image", source=block("base64", media_type="image/png", data="eA==")),
            ]
        },
        [],
    ),
    "two texts": (
        (ErrorInfo(kind="tool", message="no"), (TextContent("a"), TextContent("b"))),
        {"content": [block("text", text="no"), block("text", text="a"), block("text", text="b")], "is_error": True},
        [],
    ),
    "a blank error": (
        (ErrorInfo(kind="tool", message=" "), ()),
        {"content": "The call has failed.", "is_error": True},
        [(0, "unsupported")],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_output_of_a_call_that_failed(name):
    """
    The service refuses an error without content, and one with an image: that is sent without the mark.
    """
    (fault, output), fields, drops = FAULTS[name]
    called = message(answer(*tool(0), stop_reason="tool_use"))
    failed = fold([called.tool_calls[0].fail(fault, output=output)], start=Transcript(messages=(called,))).last
    messages, dropped = encoded(USER, failed)

    assert [block("tool_result", tool_use_id="toolu_1", **fields)] == messages[2]["content"]
    assert drops == dropped


def test_a_call_without_an_answer():
    """
    Every call that is sent has a result; what is made up is reported.
    """
    messages, drops = encoded(USER, message(SAMPLES["call without arguments"]))

    assert [(0, "no-answer")] == drops
    assert ("toolu_1", True) == tuple(messages[-1]["content"][0][key] for key in ("tool_use_id", "is_error"))


def test_a_member_of_a_toolset():
    """
    The result of a call of a toolset names it.
    """
    called = message(answer(*tool(0, toolset_name="browser"), stop_reason="tool_use"))
    messages, _ = encoded(USER, called)

    assert ["browser"] * 2 == [messages[at]["content"][0]["toolset_name"] for at in (1, 2)]


def test_calls_of_others():
    """
    Ids that the service refuses are replaced, in the call and in its result.
    """
    events = built(
        calls=[Call("f", {}, call_id="call.1", output="1")], origin=Origin(provider="google", model="g", dialect="d")
    )
    messages, _ = encoded(USER, fold(events).last)

    assert ["call_1", "call_1"] == [messages[1]["content"][0]["id"], messages[2]["content"][0]["tool_use_id"]]


SIGNED_ID = "call_2ee__thought__EqQB+/8="


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("litellm", "gemini-3-pro", SIGNED_ID),
        ("litellm", "claude-opus-5-5", "call_2ee__thought__EqQB__8_"),
        ("anthropic", "claude-opus-5-5", "call_2ee__thought__EqQB__8_"),
    ],
)
def test_ids_with_a_signature(provider, model, expected):
    """
    LiteLLM has the signature of Gemini in the id of a call, which Claude would refuse.
    """
    own = message(answer(*tool(0, SIGNED_ID), stop_reason="tool_use"), provider="litellm")
    transcript = fold([own.tool_calls[0].succeed("1")], start=Transcript(messages=(USER, own)))
    sent = DIALECT.encoder(transcript, {"model": model, "max_tokens": 9}, provider=provider).body["messages"]

    assert [expected, expected] == [sent[1]["content"][0]["id"], sent[2]["content"][0]["tool_use_id"]]


def test_results_behind_several_calls():
    """
    Calls and results of the provider keep their order, although a call and its result are one part.
    """
    kind = {"name": "web_search", "type": "server_tool_use"}
    body = answer(*tool(0, "s1", **kind), *tool(1, "s2", **kind), *result(2, "s1", SEARCH), *result(3, "s2", SEARCH))
    messages, _ = encoded(USER, message(body))

    found = [each.get("id") or each["tool_use_id"] for each in messages[1]["content"]]
    assert ["s1", "s2", "s1", "s2"] == found
    assert ["server_tool_use"] * 2 == [each["type"] for each in messages[1]["content"][:2]]


# -- calls of the provider without a result


def test_a_paused_answer_is_sent_again():
    """
    An answer that was paused is the end of the request, so that the service continues it.
    """
    messages, drops = encoded(USER, message(SAMPLES["paused"]))

    search = block("server_tool_use", id="srvtoolu_1", name="web_search", input={"a": 1})
    assert [ASKED, {"role": "assistant", "content": [block("text", text="I search."), search]}] == messages
    assert [] == drops


def test_an_answer_in_two_messages():
    """
    The answer after a pause continues the message before it, result behind call.
    """
    paused = message(SAMPLES["paused"])
    rest = fold(
        DIALECT.decode_resource(
            {
                "type": "message",
                "role": "assistant",
                "model": MODEL,
                "content": [
                    block("web_search_tool_result", tool_use_id="srvtoolu_1", content=list(SEARCH)),
                    WORDS,
                ],
                "stop_reason": "end_turn",
            },
            "a2",
        )
    ).last
    messages, drops = encoded(USER, paused, rest, UserMessage(id="u2", content="Hi"))

    assert ["user", "assistant", "user"] == [each["role"] for each in messages]
    assert ["text", "server_tool_use", "web_search_tool_result", "text"] == [
        each["type"] for each in messages[1]["content"]
    ]
    assert [] == drops


def test_a_call_that_nothing_answers():
    """
    A call of the provider whose result never came is left out, once the conversation has gone on.
    """
    lost = message(answer(*text(0, "a"), *tool(1, **SERVER), stop_reason="max_tokens"))
    messages, drops = encoded(USER, lost)

    assert [block("text", text="a")] == messages[1]["content"]
    assert [(1, "unanswered")] == drops


@pytest.mark.parametrize(("provider", "is_sent"), [("anthropic", True), ("bedrock", False)])
def test_a_search_that_waits_beside_a_call_of_the_app(provider, is_sent):
    """
    Claude's own API answers it behind the result of the app; Bedrock refuses the request (pydantic-ai#5143).
    """
    search = tool(0, **{**SERVER, "name": "tool_search_tool_regex"})
    step = message(answer(*search, *tool(1, "toolu_1"), stop_reason="tool_use"), provider=provider)
    asked = fold([step.tool_calls[1].succeed("ok")], start=Transcript(messages=(USER, step)))
    request = DIALECT.encoder(asked.messages, {"model": MODEL, "max_tokens": 9}, provider=provider)
    sent = [block["type"] for each in request.body["messages"][1:] for block in each["content"]]

    assert [*(["server_tool_use"] if is_sent else []), "tool_use", "tool_result"] == sent
    assert ([] if is_sent else [(0, "unanswered")]) == [(drop.part, str(drop.reason)) for drop in request.drops]


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_a_search_that_a_pause_has_left_open(provider):
    """
    The answer is continued on each platform.
    """
    step = message(answer(*tool(0, **SERVER), stop_reason="pause_turn"), provider=provider)
    request = DIALECT.encoder([USER, step], {"model": MODEL, "max_tokens": 9}, provider=provider)

    assert ["server_tool_use"] == [block["type"] for block in request.body["messages"][1]["content"]]


@pytest.mark.parametrize("declared", [True, False])
def test_an_advisor_that_is_not_declared(declared):
    """
    Calls of the advisor are refused unless the request declares it.
    """
    advised = message(
        answer(
            *tool(0, "srvtoolu_1", "advisor", "{}", "server_tool_use"),
            *result(1, content={"type": "advisor_result", "text": "so"}, type="advisor_tool_result"),
            *text(2, "a"),
        )
    )
    tools = {"tools": [{"type": "advisor_20260301", "name": "advisor"}]} if declared else {}
    messages, drops = encoded(USER, advised, **tools)

    assert (3 if declared else 1) == len(messages[1]["content"])
    assert ([] if declared else [(0, "unplaced")]) == drops


FOUND = {
    "all": ({"tools": [{"name": "f"}, {"name": "g"}]}, ["f", "g"], []),
    "some": ({"tools": [{"name": "f"}]}, ["f"], [(0, "unsupported")]),
    "none": ({}, [], [(0, "unsupported")]),
    "a toolset": ({"tools": [{"type": "mcp_toolset", "mcp_server_name": "s"}]}, ["f", "g"], []),
    "a server": ({"mcp_servers": [{"type": "url", "name": "s", "url": "https://a.test"}]}, ["f", "g"], []),
}


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize(("body", "names", "lost"), FOUND.values(), ids=FOUND)
def test_found_tools_that_are_not_declared(body, names, lost, is_late):
    """
    “Tool reference 'g' not found in available tools”: also in the result of a call of an earlier answer.
    """
    references = [{"type": "tool_reference", "tool_name": name} for name in "fg"]
    content = {"type": "tool_search_tool_search_result", "tool_references": references}
    search = tool(0, "srvtoolu_1", "tool_search_tool_regex", '{"pattern":"."}', "server_tool_use")
    found = result(1 - is_late, content=content, type="tool_search_tool_result")
    before = [another(answer(*search, stop_reason="pause_turn"), "a0")] if is_late else []
    messages, drops = encoded(USER, *before, message(answer(*(() if is_late else search), *found)), **body)

    [block] = [each for one in messages for each in one["content"] if each["type"] == "tool_search_tool_result"]
    assert names == [each["tool_name"] for each in block["content"]["tool_references"]]
    assert lost == drops


# -- thoughts


UNSIGNED = {
    "never signed": (answer(H(0, "Hm"), X(0), *text(1, "a")), [(0, "unsigned")]),
    "cut before its signature": (
        stream(M(), B(0, "thinking", thinking=""), H(0, "Hm")),
        [(None, "unfinished"), (0, "unfinished")],
    ),
}


@pytest.mark.parametrize(("body", "expected"), UNSIGNED.values(), ids=UNSIGNED)
def test_thoughts_without_a_signature(body, expected):
    """
    A thought is never sent without its signature: the service answers 400.
    """
    messages, drops = encoded(USER, message(body))

    assert expected == drops
    assert [] == [each for item in messages for each in item["content"] if each["type"] == "thinking"]


@pytest.mark.parametrize("provider", ["zai", "deepseek"])
def test_thoughts_of_servers_that_do_not_sign(provider):
    """
    Servers that imitate the wire get their own thoughts back as they came, and no others.
    """
    decoder = DIALECT.decoder("a1", provider=provider, request={"model": MODEL})
    own = fold(decoder.feed(answer(H(0, "Hm"), X(0), *text(1, "a"))) + decoder.close()).last
    requests = [DIALECT.encoder([USER, own], {"model": each}, provider=provider) for each in (MODEL, "another")]
    [sent, elsewhere] = [each.body["messages"][1]["content"] for each in requests]

    assert [block("thinking", thinking="Hm", signature=""), block("text", text="a")] == sent
    assert "Hm" not in str(elsewhere)


SIGNED = (H(0, "Hm"), S(0, "EqQB"), X(0))
THOUGHTS_LAST = {
    "alone": (answer(*SIGNED, stop_reason="max_tokens"), []),
    "before an empty text": (answer(*SIGNED, *text(1, "")), []),
    "redacted": (answer(B(0, "redacted_thinking", data="EqQB"), X(0), stop_reason="refusal"), []),
    "behind a text": (answer(*text(1, "a"), *SIGNED), ["text"]),
    "behind a call": (answer(*tool(1), *SIGNED, stop_reason="tool_use"), ["tool_use"]),
    "before a pause": (answer(*SIGNED, stop_reason="pause_turn"), ["thinking"]),
    "before a result": (
        answer(
            *(B(0, "server_tool_use", id="srvtoolu_1", name="web_search", input={}), X(0)),
            *(H(1, "Hm"), S(1, "EqQB"), X(1)),
            *result(2, content=[]),
        ),
        ["server_tool_use", "thinking", "web_search_tool_result"],
    ),
    "before a call that nothing answers": (
        answer(
            *text(0, "a"), H(1, "Hm"), S(1, "EqQB"), X(1), *tool(2, "srvtoolu_1", "web_search", "{}", "server_tool_use")
        ),
        ["text"],
    ),
    "before a call without a name": (
        answer(*text(0, "a"), H(1, "Hm"), S(1, "EqQB"), X(1), B(2, "tool_use", id="toolu_1", input={}), X(2)),
        ["text"],
    ),
    "of which a part comes late": (
        answer(*SIGNED[:1], *text(1, "a"), H(0, "m"), *SIGNED[1:]),
        ["thinking", "text"],
    ),
}


@pytest.mark.parametrize(("body", "expected"), THOUGHTS_LAST.values(), ids=THOUGHTS_LAST)
def test_a_thought_at_the_end(body, expected):
    """
    “The final block in an assistant message cannot be `thinking`”: it is left out; a paused answer keeps it.
    """
    messages, drops = encoded(USER, message(body))
    sent = [each["type"] for item in messages if item["role"] == "assistant" for each in item["content"]]

    assert expected == sent
    assert ("thinking" in expected) is all("thought" not in reason for _, reason in drops)


AFTER_A_PAUSE = {
    "a prompt": ([], ["text", "text"]),
    "an attempt that failed": ([stream(M(), E())], ["text", "text"]),
    "an answer of blanks": ([answer(*text(0, " "))], ["text", "text"]),
    "an answer": ([stream(M(), E()), answer(*text(0, "b"))], ["text", "thinking", "text", "text"]),
    "another pause": (
        [answer(*SIGNED, stop_reason="pause_turn"), answer(*text(0, "b"))],
        ["text", "thinking", "thinking", "text", "text"],
    ),
}


@pytest.mark.parametrize("name", AFTER_A_PAUSE)
def test_a_pause_that_does_not_go_on(name):
    """
    A thought before a pause stays while an answer may continue it, and not where none with a block does.
    """
    later, expected = AFTER_A_PAUSE[name]
    paused = message(answer(*text(1, "a"), *SIGNED, stop_reason="pause_turn"))
    answers = [another(body, f"a{number}") for number, body in enumerate(later, 2)]
    messages, _ = encoded(USER, paused, *answers, UserMessage(id="u2", content="And?"))

    assert expected == [each["type"] for item in messages[1:] for each in item["content"]]


def test_a_thought_before_a_call_of_a_pause_that_nothing_answers():
    """
    The call is left out, so that what continues the answer is not behind the thought.
    """
    thought = (H(1, "Hm"), S(1, "EqQB"), X(1))
    paused = message(answer(*text(0, "a"), *thought, *tool(2, **SERVER), stop_reason="pause_turn"))
    messages, drops = encoded(USER, paused, another(answer(*text(0, "b"))), AND)

    assert ["text", "text"] == [each["type"] for each in messages[1]["content"]]
    assert [1, 2] == [place for place, _ in drops]


def test_a_thought_before_the_result_of_a_paused_answer():
    """
    The message of the user follows it, so that it would be the last block of the answer.
    """
    paused = message(answer(*tool(1), *SIGNED, stop_reason="pause_turn"))
    called = fold([paused.tool_calls[0].succeed("1")], start=Transcript(messages=(USER, paused)))
    messages, _ = encoded(*called)

    assert ["text", "tool_use", "tool_result"] == [each["type"] for item in messages for each in item["content"]]


JOINED = {
    "by a call that nothing answers": (
        [*SIGNED, *tool(1, **SERVER), H(2, "So"), S(2, "MA=="), X(2), *text(3, "a")],
        ["So"],
    ),
    "by an empty text": ([*SIGNED, *text(1, ""), H(2, "So"), S(2, "MA=="), X(2), *text(3, "a")], ["So"]),
    "by the model": ([*SIGNED, H(1, "So"), S(1, "MA=="), X(1), *text(2, "a")], ["Hm", "So"]),
}


@pytest.mark.parametrize("name", JOINED)
def test_two_thoughts(name):
    """
    Claude refuses two thoughts between which something is left out; those that it made so stay.
    """
    blocks, expected = JOINED[name]
    [_, sent], drops = encoded(USER, message(answer(*blocks)))

    assert [*expected, "a"] == [each.get("thinking", each.get("text")) for each in sent["content"]]
    assert (len(expected) < 2) is ("Claude refuses two thoughts" in str(drops))


def test_own_thoughts_at_the_end_of_an_imitator():
    """
    What Claude refuses, servers that imitate its wire may want: their thoughts stay.
    """
    decoder = DIALECT.decoder("a1", provider="deepseek", request={"model": MODEL})
    own = fold(decoder.feed(answer(*text(0, "a"), H(1, "Hm"), X(1))) + decoder.close()).last
    sent = DIALECT.encoder([USER, own], {"model": MODEL}, provider="deepseek").body["messages"][1]["content"]

    assert [block("text", text="a"), block("thinking", thinking="Hm", signature="")] == sent


GATEWAYS = {
    "without a signature": ([H(0, "Hm"), X(0), *text(1, "a")], {}, ["text"]),
    "at the end": ([*text(0, "a"), H(1, "Hm"), S(1, "EqQB"), X(1)], {}, ["text"]),
    "none before a call": ([*tool(0)], {"thinking": {"type": "enabled", "budget_tokens": 1024}}, []),
    "signed": ([H(0, "Hm"), S(0, "EqQB"), X(0), *text(1, "a")], {}, ["thinking", "text"]),
}


@pytest.mark.parametrize(("blocks", "body", "expected"), GATEWAYS.values(), ids=GATEWAYS)
def test_thoughts_of_claude_behind_a_gateway(blocks, body, expected):
    """
    Its refusals come through Copilot, LiteLLM and other gateways; the name of the model has claude.
    """
    own = message(answer(*blocks), provider="copilot")
    request = DIALECT.encoder([USER, own], {"model": MODEL, **body}, provider="copilot").body["messages"]

    assert expected == [each["type"] for turn in request if turn["role"] == "assistant" for each in turn["content"]]


@pytest.mark.parametrize("file_id", [None, "file_1"])
def test_a_citation_without_a_file(file_id):
    """
    The stream has a `file_id` that a request cannot have, also in results; nulls of other fields are required.
    """
    cited = {"type": "char_location", "cited_text": "x", "document_title": None, "file_id": file_id}
    looked_up = {"tool_use_id": "m1", "is_error": False, "content": [block("text", text="r", citations=[cited])]}
    body = answer(
        *(B(0, "text", text=""), T(0, "a"), C(0, **cited), X(0)),
        *(B(1, "mcp_tool_use", id="m1", name="f", server_name="s", input={}), X(1)),
        *(B(2, "mcp_tool_result", **looked_up), X(2)),
        *text(3, "So."),
    )
    [_, sent], _ = encoded(USER, message(body))

    cited.pop("file_id")
    assert [cited] == sent["content"][0]["citations"] == sent["content"][2]["content"][0]["citations"]


@pytest.mark.parametrize(
    ("provider", "name", "expected"),
    [
        ("anthropic", "functions.f", "functions_f"),
        ("bedrock", "x" * 140, "x" * 128),
        ("zai", "functions.f", "functions.f"),
    ],
)
def test_names_of_calls(provider, name, expected):
    """
    A name that the model has made up, with other characters or too long, is refused by Claude as it is.
    """
    decoder = DIALECT.decoder("a1", provider=provider, request={"model": MODEL})
    own = fold(decoder.feed(answer(*tool(0, name=name), stop_reason="tool_use")) + decoder.close()).last
    [_, sent, _] = DIALECT.encoder([USER, own], {"model": MODEL}, provider=provider).body["messages"]

    assert expected == sent["content"][0]["name"]


WANTED = {
    "of DeepSeek": ("deepseek", {}, ""),
    "of DeepSeek, switched off": ("deepseek", {"thinking": {"type": "disabled"}}, None),
    "of Moonshot": ("moonshot", {}, " "),
    "of Xiaomi": ("xiaomi", {}, " "),
    "of Claude": ("anthropic", {}, None),
}


@pytest.mark.parametrize(("provider", "body", "thought"), WANTED.values(), ids=WANTED)
def test_an_answer_without_a_thought(provider, body, thought):
    """
    DeepSeek wants a thought in each answer, and accepts an empty one; Moonshot takes that for none.
    """
    signed, plain = [DIALECT.decoder(each, provider=provider, request={"model": MODEL}) for each in ("a1", "a2")]
    answers = [
        fold(decoder.feed(SAMPLES[name]) + decoder.close()).last
        for decoder, name in ((signed, "thinking"), (plain, "parallel calls"))
    ]
    request = DIALECT.encoder([USER, answers[0], USER, answers[1]], {"model": MODEL, **body}, provider=provider)
    [first, second] = [each["content"] for each in request.body["messages"] if each["role"] == "assistant"]

    assert "thinking" == first[0]["type"]
    assert first[0]["signature"]
    assert thought == second[0].get("thinking")
    assert "tool_use" == second[-1]["type"]


def test_thoughts_stay_with_their_model():
    """
    Another model gets text, calls and search results, and no thought.
    """
    signed = message(SAMPLES["thinking"])
    messages, drops = encoded(USER, signed, model="claude-haiku-5-5")

    assert [WORDS] == messages[1]["content"]
    assert [(0, "other-model")] == drops


def test_a_text_of_line_ends():
    """
    No text is trimmed, and an empty one is not sent: the service answers 400.
    """
    thought = (B(0, "thinking", thinking="", signature=""), H(0, "Hm "), S(0, "MA=="), X(0))
    messages, drops = encoded(USER, message(answer(*thought, *text(1, "\n\n"), B(2, "text", text=""), X(2))))

    assert [block("thinking", thinking="Hm ", signature="MA=="), block("text", text="\n\n")] == messages[1]["content"]
    assert [(2, "empty")] == drops


def test_an_answer_of_line_ends():
    """
    The service refuses a message that has blank texts alone, so it is not sent.
    """
    messages, drops = encoded(USER, message(answer(*text(0, "\n\n"), *text(1, " "))), USER)

    assert [{"role": "user", "content": ASKED["content"] * 2}] == messages
    assert [(0, "empty"), (1, "empty")] == drops


def test_deltas_of_tomorrow_are_reported():
    """
    What a delta of an unknown type has done to its block is not known.
    """
    messages, drops = encoded(USER, message(SAMPLES["unknown block"]))

    assert block("hologram", beam=[1, None]) == messages[1]["content"][0]
    assert [(0, "unplaced")] == drops


def test_a_call_without_a_name_is_not_sent():
    """
    It is reported.
    """
    messages, drops = encoded(USER, message(SAMPLES["call without a name"]))

    assert [block("text", text="Hm.")] == messages[1]["content"]
    assert [(0, "unplaced")] == drops


# -- compactions and containers


def summed(id="a2", **summary):
    fields = {**SUMMARY, **summary}
    body = answer(B(0, "compaction", content=None), D(0, "compaction_delta", **fields), X(0), *text(1, "Go on."))
    return fold(DIALECT.decoder(id).feed(body)).last


def test_a_compaction():
    """
    What is before the last compaction is not sent.
    """
    conversation = [
        USER,
        message(SAMPLES["parallel calls"]),
        UserMessage(id="u2", content="So?"),
        summed(),
        UserMessage(id="u3", content="Hi"),
    ]
    messages, drops = encoded(*conversation)

    assert [{"role": "assistant", "content": SENT["compaction"]}, ASKED] == messages
    assert [] == drops


def test_a_compaction_with_nulls():
    """
    Dumps of the official client have them, and the service refuses them (anthropic-sdk-python#1828).
    """
    nulls = dict.fromkeys(["encrypted_content", "signature", "tool_changes"])
    delta = D(0, "compaction_delta", content="Short.", encrypted_content=None)
    answers = [
        message(answer(B(0, "compaction", content=None, **nulls), delta, X(0))),
        message(answer(B(0, "compaction", content=None, **nulls), X(0), *text(1, "Go on."))),
    ]
    first = [encoded(USER, each)[0][-1]["content"][0] for each in answers]

    assert [{"type": "compaction", "content": "Short."}, {"type": "compaction", "content": None}] == first


def test_a_compaction_inside_of_an_answer():
    """
    What is before it in the answer is reported as not sent.
    """
    summary = [B(1, "compaction", content=None), D(1, "compaction_delta", **SUMMARY), X(1)]
    given = message(answer(*text(0, "Before."), *summary, *text(2, "Go on.")))
    messages, [(place, reason)] = encoded(USER, given, UserMessage(id="u3", content="Hi"))

    assert [{"role": "assistant", "content": SENT["compaction"]}, ASKED] == messages
    assert (0, True) == (place, "compaction" in reason)


def test_a_compaction_behind_a_call():
    """
    The call stays, for it has a result; so does its prompt, for a request begins with one.
    """
    summary = [B(1, "compaction", content=None), D(1, "compaction_delta", **SUMMARY), X(1)]
    given = message(answer(*tool(0), *summary, *text(2, "So.")))
    messages, _ = encoded(UserMessage(id="u0", content="Earlier"), USER, given)

    assert ["user", "assistant", "user"] == [each["role"] for each in messages]
    assert [ASKED["content"], ["tool_use", "compaction", "text"]] == [
        messages[0]["content"],
        [each["type"] for each in messages[1]["content"]],
    ]


def test_a_compaction_without_text():
    """
    The service refuses a compaction that is empty: it is not sent, and what is before it is.
    """
    messages, drops = encoded(USER, summed(content=""))

    assert [ASKED, {"role": "assistant", "content": [block("text", text="Go on.")]}] == messages
    assert [(0, "empty")] == drops


@pytest.mark.parametrize(
    "options", [{"model": "claude-haiku-5-5"}, {"content": None}], ids=["of another model", "that failed"]
)
def test_a_compaction_that_does_not_count(options):
    """
    A failed compaction changes nothing, and neither does one that is not sent.
    """
    content = {key: value for key, value in options.items() if key == "content"}
    messages, _ = encoded(USER, summed(**content), **{key: value for key, value in options.items() if key != "content"})

    assert ASKED == messages[0]


CONTAINERS = {
    "none": ({}, "container_1"),
    "another": ({"container": "c2"}, "c2"),
    "skills": ({"container": {"skills": []}}, {"skills": [], "id": "container_1"}),
    "skills of another": ({"container": {"skills": [], "id": "c2"}}, {"skills": [], "id": "c2"}),
}


@pytest.mark.parametrize(("body", "expected"), CONTAINERS.values(), ids=CONTAINERS)
def test_the_container(body, expected):
    """
    The container of the last answer is used again, unless the app names one.
    """
    request = DIALECT.encoder([USER, message(SAMPLES["container"]), USER], {"model": MODEL, **body})

    assert expected == request.body["container"]


def test_a_container_outlives_its_model_and_a_compaction():
    """
    It belongs to the account: another Claude uses it, and so does what follows a summary of its answer.
    """
    prompts = [UserMessage(id=f"u{place}", content="Hi") for place in (2, 3)]
    used = message(SAMPLES["container"])

    for model, *more in ((MODEL, prompts[0], summed()), ("claude-haiku-5-5",)):
        request = DIALECT.encoder([USER, used, *more, prompts[1]], {"model": model})
        assert "container_1" == request.body["container"]
    request = DIALECT.encoder([USER, used, prompts[1]], {"model": "claude"}, provider="bedrock")
    assert "container" not in request.body


# -- prompts


CONTENT = {
    "text": (TextContent("a"), block("text", text="a")),
    "JSON": (JsonContent({"a": 1}), block("text", text='{"a":1}')),
    "an image by address": (
        MediaContent(media_type="image/webp", uri="https://u"),
        block("image", source=block("url", url="https://u")),
    ),
    "a stored file": (
        MediaContent(media_type="application/pdf", uri="file_1"),
        block("document", source=block("file", file_id="file_1")),
    ),
    "a document": (
        MediaContent(media_type="application/pdf", data=b"x"),
        block("document", source=block("base64", media_type="application/pdf", data="eA==")),
    ),
    "plain text": (
        MediaContent(media_type="text/plain", data=b"x"),
        block("document", source=block("text", media_type="text/plain", data="x")),
    ),
    "plain text with its encoding": (
        MediaContent(media_type="Text/Plain; charset=utf-8", data=b"x"),
        block("document", source=block("text", media_type="text/plain", data="x")),
    ),
    "an image in its address": (
        MediaContent(media_type="image/png", uri="data:image/webp;base64,eA=="),
        block("image", source=block("base64", media_type="image/webp", data="eA==")),
    ),
}


@pytest.mark.parametrize(("content", "expected"), CONTENT.values(), ids=CONTENT)
def test_content(content, expected):
    """
    Text, images and documents have blocks.
    """
    assert [{"role": "user", "content": [expected]}] == encoded(UserMessage(id="u1", content=content))[0]


@pytest.mark.parametrize(
    "content",
    [
        MediaContent(media_type="audio/wav", data=b"x"),
        MediaContent(media_type="text/plain", data=b"\xff"),
        MediaContent(media_type="text/plain", uri="https://u"),
        MediaContent(media_type="image/png", uri="gs://bucket/a.png"),
    ],
)
def test_content_that_has_no_block(content):
    """
    Other media are reported, to the model too: roles alternate.
    """
    text = f"The user has sent {content.media_type}, which cannot be passed on."
    messages, drops = encoded(UserMessage(id="u1", content=content))

    assert [{"role": "user", "content": [{"type": "text", "text": text}]}] == messages
    assert [(None, "unsupported")] == drops


@pytest.mark.parametrize("provider", ["bedrock", "vertex"])
@pytest.mark.parametrize("uri", ["https://u", "file_1"])
def test_addresses_that_a_platform_does_not_read(provider, uri):
    """
    “URL sources are not supported”: an address is reported, also in a result, and bytes are sent.
    """
    by_address = MediaContent(media_type="image/png", uri=uri)
    asked = UserMessage(id="u1", content=(by_address, MediaContent(media_type="image/png", data=b"x")))
    called = message(answer(*tool(0), stop_reason="tool_use"), provider=provider)
    used = attrs.evolve(called, parts=[attrs.evolve(called.parts[0], status="success", output=(by_address,))])
    request = DIALECT.encoder([asked, used], {"model": MODEL, "tools": [{"name": "f"}]}, provider=provider)

    assert '"url"' not in json.dumps(request.body)
    assert '"file"' not in json.dumps(request.body)
    assert "eA==" == request.body["messages"][0]["content"][-1]["source"]["data"]
    assert ["unsupported"] * 2 == [str(drop.reason) for drop in request.drops]


@pytest.mark.parametrize(("blank", "reason"), [(" \n", "unsupported"), ("", "empty")])
def test_a_blank_prompt(blank, reason):
    """
    It is reported, and a sentence is in its place: the service refuses a conversation that the model begins or ends.
    """
    first, last = (UserMessage(id=each, content=TextContent(blank)) for each in ("u1", "u2"))
    messages, drops = encoded(first, message(answer(*text(0, "a"))), last)

    assert ["user", "assistant", "user"] == [each["role"] for each in messages]
    sentence = "The user has sent a blank text, which cannot be passed on."
    assert [[block("text", text=sentence)]] * 2 == [each["content"] for each in messages[::2]]
    assert [(None, reason)] * 2 == drops


def test_the_body_is_the_apps():
    """
    Nothing else of the body is touched, and it must not have messages.
    """
    body = {"model": MODEL, "max_tokens": 9, "system": "s", "tools": [], "thinking": {"type": "adaptive"}}

    assert {**body, "messages": [ASKED]} == DIALECT.encoder([USER], body).body
    with pytest.raises(ValueError, match="messages comes out of the transcript"):
        DIALECT.encoder([USER], {**body, "messages": []})


FALLBACK = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}


def test_what_a_replaced_model_has_left_behind():
    """
    Before the last `fallback` texts and results of the provider stay; thoughts, calls of the app and open calls do not.

    Claude's guide to refusals and fallback, and the docstring of `beta_fallback_block_param` in anthropic 2.12.
    """
    body = answer(
        B(0, "thinking", thinking=""),
        H(0, "old"),
        S(0, "OLD"),
        X(0),
        *text(1, "Let me look."),
        *tool(2, "srvtoolu_1", "web_search", type="server_tool_use"),
        *result(3),
        *tool(4, "toolu_old"),
        *tool(5, "srvtoolu_2", "web_search", type="server_tool_use"),
        B(6, "connector_text", text="and"),
        X(6),
        B(7, **FALLBACK),
        X(7),
        B(8, "thinking", thinking=""),
        H(8, "new"),
        S(8, "NEW"),
        X(8),
        *tool(9, "toolu_new"),
        stop_reason="tool_use",
    )
    found = message(body)
    _, old, _, new = found.tool_calls
    done = fold([new.succeed("ok")], start=Transcript(messages=(found,))).last
    messages, _ = encoded(USER, done)

    assert ("no-result", None) == (old.error.kind, new.error)
    assert [
        "text",
        "server_tool_use",
        "web_search_tool_result",
        "fallback",
        "thinking",
        "tool_use",
    ] == [each["type"] for each in messages[1]["content"]]
    assert ["toolu_new"] == [each["tool_use_id"] for each in messages[2]["content"]]


def test_an_answer_after_a_replaced_call():
    """
    The call of the model that declined is not to be run: the answer has ended.
    """
    found = fold(events(answer(*tool(0, "toolu_old"), B(1, **FALLBACK), X(1), *text(2, "I can."))))

    assert ("stop", "user") == (found.last.finish_reason, found.awaits)


def test_a_replaced_call_for_another_model():
    """
    It stays behind although the fallback is not sent: nothing answers it.
    """
    found = message(answer(*tool(0, "toolu_old"), B(1, **FALLBACK), X(1), *tool(2), stop_reason="tool_use"))
    messages, drops = encoded(USER, found, model="claude-sonnet-5")

    assert ["toolu_1"] == [block["id"] for block in messages[1]["content"]]
    assert [(0, words.REPLACED.message), (1, "other-model"), (2, "no-answer")] == drops


@pytest.mark.parametrize("input", ["", '{"a":1}', '{"a":'])
def test_an_answer_after_a_call_that_was_cut(input):
    """
    The same when the model declined within the input of its call.
    """
    begun = (B(0, "tool_use", id="toolu_old", name="f", input={}), J(0, input))
    found = fold(events(answer(*begun, B(1, **FALLBACK), X(1), *text(2, "I can."))))
    messages, _ = encoded(USER, found.last)

    assert ("stop", "user", "no-result") == (
        found.last.finish_reason,
        found.awaits,
        found.last.tool_calls[0].error.kind,
    )
    assert ["fallback", "text"] == [each["type"] for each in messages[1]["content"]]


def test_a_result_of_a_call_that_did_not_pause():
    """
    A search beside a call of the app comes back with the answer to the results, and returns behind its call.
    """
    first = message(answer(*tool(0, **SERVER), *tool(1, "toolu_1"), stop_reason="tool_use"))
    second = answer(*result(0, content=SEARCH), *text(1, "Here."))
    asked = fold([first.tool_calls[1].succeed("ok")], start=Transcript(messages=(first,)))
    answered = fold(DIALECT.decoder("a2", continues=asked.last).feed(second), start=asked)
    messages, drops = encoded(USER, *answered.messages)

    assert [
        ("assistant", ["server_tool_use", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["web_search_tool_result", "text"]),
    ] == [(each["role"], [block["type"] for block in each["content"]]) for each in messages[1:]]
    assert [] == drops


CODE = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
RAN = result(0, content={"type": "code_execution_result", "stdout": "4"}, type="code_execution_tool_result")
STEP = stream(
    M(),
    *tool(0, "srvtoolu_1", "code_execution", '{"code":"f()"}', "server_tool_use"),
    *tool(1, "toolu_1", caller=CODE),
    K("tool_use"),
    END,
)
CALLS_OF_CODE = {
    "its results": ([], ["server_tool_use", "tool_use srvtoolu_1", "tool_result"]),
    "another call": (
        [stream(M(), *tool(0, "toolu_2", caller=CODE), K("tool_use"), END)],
        ["server_tool_use", "tool_use srvtoolu_1", "tool_result", "tool_use srvtoolu_1", "tool_result"],
    ),
    "an attempt that failed": (
        [stream(M(), E())],
        ["server_tool_use", "tool_use srvtoolu_1", "tool_result"],
    ),
    "the result of the code": (
        [answer(*RAN, *text(1, "4"))],
        ["server_tool_use", "tool_use srvtoolu_1", "tool_result", "code_execution_tool_result", "text"],
    ),
    "a prompt": (["And?"], ["tool_use", "tool_result", "text"]),
    "the result of the code and a cut": (
        [stream(M(), *RAN, *text(1, "4"), E()), "And?"],
        ["tool_use", "tool_result", "text", "text"],
    ),
    "a text and a cut": (
        [stream(M(), *text(0, "So"), E())],
        ["server_tool_use", "tool_use srvtoolu_1", "tool_result"],
    ),
}


@pytest.mark.parametrize("name", CALLS_OF_CODE)
def test_calls_of_code(name):
    """
    Code that the provider runs continues after the results of the calls that it made, and is sent until its own result
    has come. Where that cannot come any more, it is left out, and its calls have no caller, which would be refused.
    """
    later, expected = CALLS_OF_CODE[name]
    transcript = Transcript()
    for number, each in enumerate([STEP, *later], 1):
        if isinstance(each, str):
            transcript = fold([prompt(each, message_id=f"u{number}")], start=transcript)
            continue
        answered = DIALECT.decoder(f"a{number}")
        transcript = fold([*answered.feed(each), *answered.close()], start=transcript)
        transcript = fold([call.succeed("2") for call in transcript.pending_tool_calls], start=transcript)
    messages, _ = encoded(USER, *transcript.messages)
    blocks = [block for message in messages[1:] for block in message["content"]]

    assert expected == [" ".join([each["type"], *each.get("caller", {}).values()][:3:2]) for each in blocks]


def test_sources_of_a_text_in_two_parts():
    """
    A text that another block has interrupted returns as one block, with the sources of both of its parts.
    """
    first, second = ({**CITED, "cited_text": words} for words in ("one", "two"))
    given = message(
        answer(
            *(B(0, "text", text="", citations=[]), T(0, "So "), C(0, **first), B(1, "text", text=""), T(1, "Hm.")),
            *(T(0, "it is."), C(0, **second), X(1), X(0)),
        )
    )
    [_, sent], _ = encoded(USER, given)

    assert [block("text", text="So it is.", citations=[first, second]), block("text", text="Hm.")] == sent["content"]


def test_a_call_behind_a_compaction_that_did_not_end():
    """
    The compaction is not sent; the call is, which the next answer will answer.
    """
    started = CompactionStarted(message_id="c1", reason="auto")
    transcript = fold([started, *events(answer(*tool(0, **SERVER), stop_reason="pause_turn"))])
    messages, _ = encoded(*transcript.messages)

    assert ["server_tool_use"] == [block["type"] for each in messages for block in each["content"]]


def test_a_result_of_another_model():
    """
    It is left out with the call that it answers.
    """
    first = message(answer(*tool(0, **SERVER), *tool(1, "toolu_1"), stop_reason="tool_use"))
    asked = fold([first.tool_calls[1].succeed("ok")], start=Transcript(messages=(first,)))
    later = fold(DIALECT.decoder("a2").feed(answer(*result(0, content=SEARCH), *text(1, "Here."))), start=asked)
    messages, drops = encoded(USER, *later.messages, model="claude-3-7-sonnet-20250219")

    assert ["tool_use", "tool_result", "text"] == [block["type"] for each in messages[1:] for block in each["content"]]
    assert {(0, "unanswered"), (0, "other-model")} <= set(drops)


AND = UserMessage(id="u2", content="And?")


def test_sealed_content_of_a_failed_result():
    """
    It is sent with the failure.
    """
    sealed = [{"type": "web_search_result", "url": "https://u.example", "encrypted_content": "Encrypted"}]
    body = answer(*tool(0, **SERVER), *result(1, content=sealed, is_error=True), *text(2, "a"))
    [_, found], _ = encoded(USER, message(body))

    assert sealed == found["content"][1]["content"]


def test_what_several_models_have_left_behind():
    """
    Everything before the last `fallback` counts, not before the first alone.
    """
    body = answer(
        *(*text(0, "a"), B(1, **FALLBACK), X(1)),
        *(B(2, "thinking", thinking=""), H(2, "x"), S(2, "EqQB"), X(2)),
        *(*text(3, "b"), B(4, **FALLBACK), X(4), *text(5, "c")),
    )
    [_, found], drops = encoded(USER, message(body))

    assert ["text", "fallback", "text", "fallback", "text"] == [each["type"] for each in found["content"]]
    assert [2] == [place for place, _ in drops]


def test_a_thought_alone_behind_an_answer_that_was_cut():
    """
    It is not sent, so the answer is in front of the next prompt, and not asked for again.
    """
    cut = message(stream(M(), *text(0, "So"), E()))
    thought = message(answer(B(0, "thinking", thinking=""), H(0, "x"), S(0, "EqQB"), X(0)))
    messages, _ = encoded(USER, cut, thought, AND)

    assert ["user", "assistant", "user"] == [each["role"] for each in messages]
    assert [block("text", text="So")] == messages[1]["content"]


def test_a_blank_text_before_a_thought():
    """
    The thought is not sent at the end of an answer, and what is left of it is blank.
    """
    thought = B(1, "thinking", thinking=""), H(1, "x"), S(1, "EqQB"), X(1)
    messages, drops = encoded(USER, message(answer(*text(0, "\n"), *thought)), AND)

    assert ["user"] == [each["role"] for each in messages]
    assert [0, 1] == [place for place, _ in drops]


def test_a_thought_before_an_empty_text():
    """
    An empty text is not sent, so that the thought would be the last block.
    """
    thought = B(1, "thinking", thinking=""), H(1, "x"), S(1, "EqQB"), X(1)
    cited = B(2, "text", text=""), C(2, **CITED), X(2)
    [_, found, _], drops = encoded(USER, message(answer(*text(0, "a"), *thought, *cited)), AND)

    assert [block("text", text="a")] == found["content"]
    assert {1, 2} == {place for place, _ in drops}


def test_the_caller_of_an_answered_call_of_code():
    """
    Behind a prompt the call of the code is not sent, nor is that it was the caller, which is reported.
    """
    answered = message(STEP)
    events = [answered.tool_calls[1].succeed("1")]
    transcript = fold(events, start=Transcript(messages=(USER, answered)))
    request = DIALECT.encoder([*transcript, AND], {"model": MODEL, "max_tokens": 9})

    assert [(0, "unanswered"), (1, "unplaced")] == [(drop.part, str(drop.reason)) for drop in request.drops]


ADVISED = {"tool_use_id": "srvtoolu_1", "content": {"type": "advisor_result", "text": "Do."}}
PAUSED = {
    "advisor": answer(
        *text(0, "a"), *tool(1, "srvtoolu_1", "advisor", "{}", "server_tool_use"), stop_reason="pause_turn"
    ),
    "search": answer(*text(0, "a"), *tool(1, **SERVER), stop_reason="pause_turn"),
    "text": answer(*text(0, "a"), stop_reason="pause_turn"),
    "call without a name": answer(
        *text(0, "a"), B(1, "server_tool_use", id="srvtoolu_1", input={}), X(1), stop_reason="pause_turn"
    ),
}
COMPACTED = (B(0, "compaction", content=None), D(0, "compaction_delta", **SUMMARY), X(0))
WITHOUT_CALLS = {
    "of an advisor that is not declared": ("advisor", [B(0, "advisor_tool_result", **ADVISED), X(0)], ["text", "text"]),
    "behind a compaction": ("search", [*COMPACTED, *result(1, content=SEARCH)], ["compaction", "text"]),
    "of another call": ("text", result(0, content=SEARCH), ["text", "text"]),
    "of a call without a name": ("call without a name", result(0, content=SEARCH), ["text", "text"]),
}


@pytest.mark.parametrize("name", WITHOUT_CALLS)
def test_a_result_without_its_call(name):
    """
    The service answers 400 to a result whose call is not in the request: it is left out, and reported.
    """
    before, blocks, expected = WITHOUT_CALLS[name]
    later = another(answer(*blocks, *text(2, "b")))
    request = DIALECT.encoder([USER, message(PAUSED[before]), later, AND], {"model": MODEL})
    [sent] = [each["content"] for each in request.body["messages"] if each["role"] == "assistant"]

    assert expected == [each["type"] for each in sent]
    place = len(later.parts) - 2
    assert [(place, "unplaced", True)] == [
        (drop.part, str(drop.reason), drop.whole) for drop in request.drops if drop.message_id == "a2"
    ]


def test_an_advisor_beside_other_tools():
    """
    A tool of the app does not declare it.
    """
    advised = answer(
        *tool(0, "srvtoolu_1", "advisor", "{}", "server_tool_use"),
        *result(1, content={"type": "advisor_result", "text": "Do."}, type="advisor_tool_result"),
        *text(2, "Done."),
    )
    [_, found], drops = encoded(USER, message(advised), tools=[{"name": "f", "input_schema": {"type": "object"}}])

    assert (["text"], [(0, "unplaced")]) == ([each["type"] for each in found["content"]], drops)


def test_a_redacted_thought_where_thoughts_are_wanted():
    """
    It is a thought, to which none is added.
    """
    body = answer(B(0, "redacted_thinking", data="EqQB"), X(0), *text(1, "a"))
    decoder = DIALECT.decoder("a1", provider="deepseek", request={"model": MODEL})
    own = fold(decoder.feed(body) + decoder.close()).last
    found = DIALECT.encoder([USER, own], {"model": MODEL}, provider="deepseek").body["messages"][1]["content"]

    assert ["redacted_thinking", "text"] == [each["type"] for each in found]


def test_one_search_in_two_answers():
    """
    The second pair has an id of its own, in the call and in the result.
    """
    searched = [*tool(0, **SERVER), *result(1), *text(2, "a")]
    again = fold(DIALECT.decoder("a2").feed(answer(*searched))).last
    messages, _ = encoded(USER, message(answer(*searched)), AND, again)
    call, found, _ = messages[3]["content"]

    assert "srvtoolu_1_2" == call["id"] == found["tool_use_id"]


def test_results_of_renamed_calls_in_later_answers():
    """
    A result that came with a later answer has the new id of its call, also where two calls had one.
    """
    answers = []
    for number, name in enumerate(("srv.1", "srvtoolu_1", "srvtoolu_1")):
        open_call = answer(
            *text(0, "a"), *tool(1, name, "web_search", "{}", "server_tool_use"), stop_reason="pause_turn"
        )
        answers += [
            another(open_call, f"a{number}"),
            another(answer(*result(0, name, SEARCH), *text(1, "b")), f"b{number}"),
        ]
    messages, drops = encoded(USER, *answers)
    [_, sent] = messages

    blocks = [each for each in sent["content"] if each["type"] != "text"]
    assert ["srv_1", "srvtoolu_1", "srvtoolu_1_2"] == [each["id"] for each in blocks[::2]]
    assert ["srv_1", "srvtoolu_1", "srvtoolu_1_2"] == [each["tool_use_id"] for each in blocks[1::2]]
    assert [] == drops


@pytest.mark.parametrize("of_call", [True, False], ids=["the call has it", "the result alone has it"])
def test_callers_that_were_renamed(of_call):
    """
    A call that code has made names the code by its new id, and so does a result.
    """
    caller = {"type": "code_execution_20250825", "tool_id": "srv.1"}
    beside = {"caller": caller} if of_call else {}
    body = answer(
        *tool(0, "srv.1", "code_execution", "{}", "server_tool_use"),
        *tool(1, "srvtoolu_2", "web_search", "{}", "server_tool_use", **beside),
        *result(2, "srvtoolu_2", SEARCH, caller=caller),
        *tool(3, "toolu_1", **beside),
        stop_reason="tool_use",
    )
    [_, sent, _], drops = encoded(USER, message(body))
    callers = ["srv_1"] * 3 if of_call else [None, "srv_1", None]

    assert callers == [each.get("caller", {}).get("tool_id") for each in sent["content"][1:]]
    assert [(2, "no-answer")] == drops


def compacted(index):
    """
    Return the frames of a compaction.
    """
    return B(index, "compaction", content=None), D(index, "compaction_delta", **SUMMARY), X(index)


def test_a_caller_that_a_compaction_has():
    """
    The call whose code has made another one is not sent, nor is its id: the service answers 400.
    """
    code = tool(1, "srvtoolu_1", "code_execution", "{}", "server_tool_use")
    made = tool(2, "toolu_2", caller={"type": "code_execution_20250825", "tool_id": "srvtoolu_1"})
    body = answer(
        *tool(0), *code, *made, *result(3, content=SEARCH), *compacted(4), *text(5, "a"), stop_reason="tool_use"
    )
    request = DIALECT.encoder([USER, message(body)], {"model": MODEL})

    assert ["tool_use", "tool_use", "compaction", "text"] == [
        each["type"] for each in request.body["messages"][1]["content"]
    ]
    assert "srvtoolu_1" not in json.dumps(request.body)
    assert [2] == [drop.part for drop in request.drops if str(drop.reason) == "unplaced"]


def test_a_thought_behind_which_a_compaction_leaves_nothing():
    """
    What is behind the thought is the result of a call before the compaction: the thought is the last, and refused.
    """
    thought = B(5, "thinking", thinking="", signature=""), H(5, "Hm"), S(5, "EqQB"), X(5)
    code, found = tool(1, **SERVER), result(6, content=SEARCH)
    body = answer(*tool(0), *code, *text(2, "a"), *compacted(3), *tool(4, "toolu_2"), *thought, *found)
    [_, sent, _], _ = encoded(USER, message(body))

    assert ["tool_use", "compaction", "tool_use"] == [each["type"] for each in sent["content"]]


@pytest.mark.parametrize("blank", ["", " "], ids=["empty", "blank"])
def test_a_blank_summary_of_the_app(blank):
    """
    It is left out: the user has not sent it.
    """
    summary = CompactionMessage(id="s1", reason="manual", status="completed", text=blank)
    messages, drops = encoded(summary, USER)

    assert [ASKED] == messages
    assert [(None, "empty")] == drops


def test_a_search_that_a_pause_leaves_open():
    """
    The next answer has its result, unless a prompt follows: the service answers 400 (anthropic-sdk-python#1339).
    """
    paused = message(answer(*text(0, "a"), *tool(1, **SERVER), stop_reason="pause_turn"))
    alone, behind = encoded(USER, paused), encoded(USER, paused, AND)

    assert (["text", "server_tool_use"], []) == ([each["type"] for each in alone[0][1]["content"]], alone[1])
    assert (["text"], [(1, "unanswered")]) == ([each["type"] for each in behind[0][1]["content"]], behind[1])


def test_a_result_of_a_paused_answer():
    """
    It is before the next prompt, in one message with it.
    """
    paused = message(answer(*tool(0), stop_reason="pause_turn"))
    transcript = fold([paused.tool_calls[0].succeed("1")], start=Transcript(messages=(USER, paused)))
    messages, _ = encoded(*transcript, AND)

    assert ["tool_result", "text"] == [each["type"] for each in messages[-1]["content"]]


def test_a_result_before_the_answer_that_continues_a_pause():
    """
    A call is followed by its result at once, as in the request that the answer continued.
    """
    paused = message(answer(*tool(0), stop_reason="pause_turn"))
    transcript = fold([paused.tool_calls[0].succeed("1")], start=Transcript(messages=(USER, paused)))
    messages, _ = encoded(*transcript, another(answer(*text(0, "b"))))

    assert [("assistant", "tool_use"), ("user", "tool_result"), ("assistant", "text")] == [
        (each["role"], block["type"]) for each in messages[1:] for block in each["content"]
    ]


def test_a_container_before_state_that_was_refused():
    """
    Another account does not have it, and the drop of the step is that of its container.
    """
    used = message(SAMPLES["container"])
    refused = another(stream(M(), E("invalid_request_error", "Invalid `data` in `redacted_thinking` block")))
    request = DIALECT.encoder([USER, used, AND, refused, AND], {"model": MODEL, "max_tokens": 9})

    assert "container" not in request.body
    assert ("a1", None, "stripped") in [(drop.message_id, drop.part, str(drop.reason)) for drop in request.drops]


def test_the_container_of_a_failed_answer():
    """
    It may be the reason for the failure.
    """
    failed = message(stream(M(container={"id": "c1"}), *text(0, "a"), E()))
    request = DIALECT.encoder([USER, failed, AND], {"model": MODEL, "max_tokens": 9})

    assert "container" not in request.body


def test_a_result_for_a_call_of_the_app():
    """
    The next answer answers calls of the provider alone.
    """
    paused = message(answer(*tool(0), stop_reason="pause_turn"))
    decoder = DIALECT.decoder("a2", continues=paused)
    found = decoder.feed(answer(*result(0, "toolu_1", type="tool_result"), *text(1, "a")))

    assert ["step.started", "opaque.received"] == [event.type for event in found if event.durable][:2]
    assert "tool.success" not in [event.type for event in found]


SO_FAR = stream(M(), *text(0, "Let me "))
THOUGHT = B(0, "thinking", thinking=""), H(0, "Hm."), S(0, "EqQB"), X(0)
AGAIN = stream(M(id="msg_2"), *THOUGHT, *tool(1), K("tool_use"), END)
CUT = {
    "the last": ([SO_FAR], ["user text"]),
    "twice": ([SO_FAR, SO_FAR], ["user text"]),
    "before the answer that replaces it": (
        [SO_FAR, AGAIN],
        ["user text", "assistant thinking tool_use", "user tool_result"],
    ),
    "before a prompt": ([SO_FAR, AND], ["user text", "assistant text", "user text"]),
    "before an attempt that got none": ([SO_FAR, stream(M(), E()), AND], ["user text", "assistant text", "user text"]),
    "with a call that was answered": (
        [stream(M(), *text(0, "Let me "), *tool(1), B(2, "text", text=""), T(2, "An"))],
        ["user text", "assistant text tool_use text", "user tool_result"],
    ),
}


@pytest.mark.parametrize("name", CUT)
def test_an_answer_that_was_cut(name):
    """
    It is asked for again, so the request ends with what the user has sent: no model of 2026 continues an answer, and
    older ones refuse blanks at its end. Before the thought of the next answer no text may be that it has not had.
    """
    later, expected = CUT[name]
    transcript = Transcript(messages=(USER,))
    for number, each in enumerate(later):
        if isinstance(each, UserMessage):
            transcript = Transcript(messages=(*transcript, each))
            continue
        decoder = DIALECT.decoder(f"a{number}")
        transcript = fold(decoder.feed(each), start=transcript)
        transcript = fold([call.succeed("ok") for call in transcript.last.tool_calls], start=transcript)
        transcript = fold(decoder.close(), start=transcript)
    messages, drops = encoded(*transcript)

    assert expected == [" ".join([each["role"], *[one["type"] for one in each["content"]]]) for each in messages]
    assert ("asked for again" in str(drops)) is name.startswith(("the last", "twice", "before the answer"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("anthropic-messages", ["text", "text", "tool_use", "tool_use"]),
        ("bedrock-converse", ["text", "text", "toolUse", "toolUse"]),
    ],
)
def test_a_text_behind_a_call_of_another_model(name, expected):
    """
    Gemini writes texts behind calls, which Claude refuses: each result has to follow its call.
    """
    parts = [{"text": "a"}, {"functionCall": {"name": "f", "args": {}}}, {"text": "b"}, {"functionCall": {"name": "g"}}]
    chunk = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}], "responseId": "r"}
    there = fold(load_dialect("gemini-generate-content").decode_resource(chunk, "a1"))
    transcript = fold([call.succeed("1") for call in there.pending_tool_calls], start=there)
    body = {"model": "anthropic.claude-opus-5-5", "toolConfig": {"tools": [{}]}}
    request = load_dialect(name).encoder([USER, *transcript], body)
    blocks = request.body["messages"][1]["content"]

    assert expected == [each.get("type") or next(iter(each)) for each in blocks]
    assert ["a", "b"] == [each["text"] for each in blocks[:2]]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("google/gemini-3.8-flash", "anthropic/claude-sonnet-5.5", ["text", "tool_use"]),
        ("anthropic/claude-sonnet-5.5", "anthropic/claude-sonnet-5.5", ["tool_use", "text"]),
        ("google/gemini-3.8-flash", "google/gemini-3.8-flash", ["tool_use", "text"]),
        ("anthropic/claude-sonnet-5.5", "google/gemini-3.8-flash", ["tool_use", "text"]),
    ],
)
def test_a_text_behind_a_call_of_another_model_of_a_gateway(before, now, expected):
    """
    Claude refuses it also where one gateway runs both models; what the model itself has sent stays as it came.
    """
    gateway = {"provider": "vercel"}
    body = answer(*tool(0), *text(1, "I look."), stop_reason="tool_use")
    there = fold(events(body, request={"model": before}, **gateway))
    transcript = fold([call.succeed("1") for call in there.pending_tool_calls], start=there)
    request = DIALECT.encoder([USER, *transcript], {"model": now, "max_tokens": 9}, **gateway)

    assert expected == [each["type"] for each in request.body["messages"][1]["content"]]


@pytest.mark.parametrize("name", ["anthropic-messages", "bedrock-converse"])
def test_a_pause_of_another_service(name):
    """
    Only the service that has paused an answer continues it; another one is asked for the whole.
    """
    search = tool(1, "srvtoolu_1", "web_search", "{}", "server_tool_use")
    paused = message(answer(*text(0, "I search "), *search, stop_reason="pause_turn"))
    body = {"model": f"anthropic.{MODEL}", "max_tokens": 9}
    request = load_dialect(name).encoder([USER, paused], body, provider="bedrock")

    assert ["user"] == [each["role"] for each in request.body["messages"]]
    assert "has no end" in str(request.drops[1])


def test_an_answer_that_a_gateway_has_cut():
    """
    A server between asks Claude as well; its name is another one.
    """
    cut = message(SO_FAR, provider="litellm")
    request = DIALECT.encoder([USER, cut], {"model": MODEL, "max_tokens": 9}, provider="litellm")

    assert [ASKED] == request.body["messages"]


THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
UNSEEN = (B(0, "thinking", thinking="", signature=""), S(0, "EqQB"), X(0))
OTHER_MODEL = M(model="claude-sonnet-4-5")


def worked(*steps):
    """
    Return a conversation with the answers of these steps, each of which ends with a call that is answered.
    """
    found = [USER]
    for number, (start, *frames) in enumerate(steps):
        decoder = DIALECT.decoder(f"a{number}")
        body = stream(start, *frames, K("tool_use"), END)
        step = fold(decoder.feed(body) + decoder.close()).last
        [call] = step.tool_calls
        found.append(fold([call.succeed("2")], start=Transcript(messages=(step,))).last)
    return found


LOOPS = {
    "begun by another model": ([(OTHER_MODEL, *UNSEEN, *tool(1))], [["text", "text", "text"]]),
    "begun by another model, with a text": (
        [(OTHER_MODEL, *text(0, "So"), *tool(1))],
        [["text"], ["text"], ["text", "text"]],
    ),
    "own": ([(M(), *UNSEEN, *tool(1))], [["text"], ["thinking", "tool_use"], ["tool_result"]]),
    "own, with one thought for two calls": (
        [(M(), *UNSEEN, *tool(1)), (M(), *tool(0, id="toolu_2"))],
        [["text"], ["thinking", "tool_use"], ["tool_result"], ["tool_use"], ["tool_result"]],
    ),
    "continued by another model": (
        [(M(), *UNSEEN, *tool(1)), (OTHER_MODEL, *tool(0, id="toolu_2"))],
        [["text"], ["thinking", "tool_use"], ["tool_result", "text", "text"]],
    ),
    "continued by another model, and by its own without a thought": (
        [(M(), *UNSEEN, *tool(1)), (OTHER_MODEL, *tool(0, id="toolu_2")), (M(), *tool(0, id="toolu_3"))],
        [["text"], ["thinking", "tool_use"], ["tool_result", "text", "text", "text", "text"]],
    ),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_a_tool_loop_begins_with_a_thought(loop):
    """
    While thinking is on, calls without a thought before them are text; without thinking they are calls.
    """
    steps, expected = LOOPS[loop]
    conversation = worked(*steps)
    messages, drops = encoded(*conversation, **THINKING)
    plain, _ = encoded(*conversation)

    assert expected == [[each["type"] for each in message["content"]] for message in messages]
    assert ("another" in loop) == any(reason == "reworded" for _, reason in drops)
    assert len(steps) == json.dumps(plain).count('"tool_use"')


def test_calls_of_earlier_turns_need_no_thought():
    """
    A text of the model behind them ends their turn; a failed attempt without an answer does not.
    """
    [_, step] = worked((OTHER_MODEL, *tool(0)))
    failed = attrs.evolve(another(stream(M(), E())), id="a9")
    ended, _ = encoded(USER, step, another(answer(*text(0, "So"))), AND, **THINKING)
    tried, _ = encoded(USER, step, failed, **THINKING)

    assert ["text", "tool_use", "tool_result", "text", "text"] == [
        each["type"] for message in ended for each in message["content"]
    ]
    assert ["text", "text", "text"] == [each["type"] for message in tried for each in message["content"]]


ENDED = (*UNSEEN, *text(1, "So"))
LATER = (B(1, "thinking", thinking="", signature=""), S(1, "EqQB"), X(1))
BOUND = {
    "of a model that ends the turn": [[(OTHER_MODEL, *tool(0))], ENDED],
    "of a model that calls again": [[(OTHER_MODEL, *tool(0)), (M(), *UNSEEN, *tool(1, id="toolu_2"))], text(0, "So")],
    "in a turn that nothing ended": [[(OTHER_MODEL, *tool(0)), AND], ENDED],
    "with its thought behind a text": [[(OTHER_MODEL, *tool(0))], (*text(0, "So"), *LATER, *text(2, "it"))],
    "of two other models": [[(OTHER_MODEL, *tool(0)), (OTHER_MODEL, *tool(0, id="toolu_2"))], ENDED],
    "behind its own, which begins with a text": [[(M(), *text(0, "So"), *LATER, *tool(2))], ENDED],
}


@pytest.mark.parametrize("case", BOUND)
def test_a_thought_is_bound_to_what_was_sent_before_it(case):
    """
    Calls that were sent as text when the model made its thought remain text behind the end of their turn.
    """
    steps, ending = BOUND[case]
    conversation = [USER]
    for step in steps:
        conversation += [step] if step is AND else worked(step)[1:]
    conversation = [attrs.evolve(each, id=f"m{at}") for at, each in enumerate(conversation)]
    asked, _ = encoded(*conversation, **THINKING)
    later, _ = encoded(*conversation, another(answer(*ending)), UserMessage(id="u3", content="More?"), **THINKING)

    assert "was called with" in str(asked)
    assert asked == later[: len(asked)]


@pytest.mark.parametrize("beside", ["", "\n", "image"])
def test_calls_of_a_turn_of_which_nothing_remains(beside):
    """
    Nor does a blank text remain, or an image that is not sent: the calls of the turn before are the last ones then.
    """
    _, first = worked((OTHER_MODEL, *tool(0)))
    _, last = worked((OTHER_MODEL, *text(0, beside if beside != "image" else ""), *tool(1)))
    image = MediaPart(media_type="image/png", data=b"png", status="completed")
    parts = (image, *last.parts) if beside == "image" else last.parts
    messages, _ = encoded(USER, first, AND, attrs.evolve(last, id="a9", parts=parts), **THINKING)

    assert {"text"} == {each["type"] for message in messages for each in message["content"]}


def test_a_cut_answer_and_calls_without_a_thought():
    """
    An answer that is asked for again ends no loop; one whose own calls are sent as text keeps its texts.
    """
    [_, step] = worked((OTHER_MODEL, *text(0, "So"), *tool(1)))
    cut = attrs.evolve(step, status="failed")
    again, drops = encoded(USER, step, another(SO_FAR, "a9"), **THINKING)
    kept, _ = encoded(USER, cut, **THINKING)

    assert [["text"], ["text"], ["text", "text"]] == [[each["type"] for each in one["content"]] for one in again]
    assert "asked for again" in str(drops)
    assert again == kept


def test_a_call_without_a_thought_for_deepseek():
    """
    Other servers take it where thinking is enabled, as Claude does not.
    """
    asked = {"model": "deepseek-chat", "max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    found = message(answer(*tool(0), stop_reason="tool_use"), provider="deepseek", request={"model": "deepseek-chat"})
    transcript = fold([found.tool_calls[0].succeed("ok")], start=Transcript(messages=(USER, found)))
    request = DIALECT.encoder(transcript, asked, provider="deepseek")

    assert ["thinking", "tool_use"] == [each["type"] for each in request.body["messages"][1]["content"]]
    assert () == request.drops
