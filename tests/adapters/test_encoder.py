"""
A conversation as the next request: cases 101, 102 and 105 to 112 of the wire reference, and what the app may ask for.
"""

import copy
import json

import attrs
import pytest
from hypothesis import given

from assistant_events import (
    AssistantMessage,
    MediaPart,
    MessageStatus,
    OpaquePart,
    Origin,
    TextContent,
    Transcript,
    fold,
)
from assistant_events.adapters import Encoded, EncoderBase, load_dialect
from assistant_events.adapters.gemini_interactions import decode_resource, encode
from assistant_events.adapters.gemini_interactions.encoder import GeminiInteractionsEncoder
from assistant_events.adapters.gemini_interactions.policy import POLICY
from assistant_events.adapters.gemini_interactions.step_stream import step_frames
from assistant_events.errors import LocalProtocolError
from assistant_events.history import REASONS, REPAIRS, DropReason
from assistant_events.testing import Call, answer, compaction, error, prompt, records, rewind
from assistant_events.values import ErrorInfo, MediaContent, as_content
from tests.drawn import sessions

from .notation import C, D, K, S, X, delta, fc, mo, step, stream, th

MODEL = "gemini-3.6-flash"
BODY = {"model": MODEL, "stream": True}
GEMINI = Origin(provider="google", model=MODEL, dialect="gemini-interactions")
CLAUDE = Origin(provider="anthropic", model="claude-sonnet-4-5", dialect="anthropic-messages")


def said(*steps, id="v1", message_id="a1", status="completed", model=MODEL, **fields):
    """
    Return the events of an answer of the service; without an id it was not stored.
    """
    known = {"id": id} if id else {}
    return decode_resource({**known, "status": status, "model": model, "steps": list(steps), **fields}, message_id)


def conversation(*parts):
    """
    Fold events and lists of events.
    """
    return fold([event for part in parts for event in (part if isinstance(part, list) else [part])])


def succeeded(transcript, *outputs):
    """
    Answer the calls that wait, in their order.
    """
    calls = transcript.pending_tool_calls
    return fold([call.succeed(output) for call, output in zip(calls, outputs, strict=True)], start=transcript)


def user(*texts):
    return step("user_input", content=[{"type": "text", "text": text} for text in texts])


def result(call_id="c1", name="f", result="x", **fields):
    return step("function_result", call_id=call_id, name=name, result=result, **fields)


def steps(transcript, mode="full", **body):
    return encode(transcript, {**BODY, **body}, mode=mode).body["input"]


def reasons(encoded):
    return [(drop.message_id, drop.part, drop.reason.value, drop.whole) for drop in encoded.drops]


TURN = (prompt("Hi"), said(th(signature="c2ln"), mo("Hello")), prompt("More", message_id="u2"))


# -- the body


def test_the_first_request():
    """
    A conversation without an answer is sent in full, and the app's body is not changed.
    """
    body = {"model": MODEL, "tools": [{"type": "google_search"}], "generation_config": {"temperature": 0}}
    before = copy.deepcopy(body)
    encoded = encode(conversation(prompt("Hi")), body)

    assert Encoded(body={**before, "input": [user("Hi")]}, drops=(), mode="full") == encoded
    assert before == body


def test_the_body_is_fresh():
    """
    Nothing in the result is shared with the body that was given, or with another result.
    """
    body = {"model": MODEL, "tools": [{"type": "google_search"}]}
    one = encode(conversation(*TURN), body).body
    one["tools"][0].clear()
    one["input"].clear()

    assert {"model": MODEL, "tools": [{"type": "google_search"}]} == body
    assert [user("More")] == encode(conversation(*TURN), body).body["input"]


def test_the_dialect_has_it():
    """
    The dialect names the encoder.
    """
    assert load_dialect("gemini-interactions").encoder is encode


def test_nothing_secret_is_shown():
    """
    The repr of a result has the size of the body, not its content.
    """
    shown = repr(encode(conversation(*TURN), BODY, mode="full"))

    assert "Encoded(body=<3 keys>, drops=(), mode='full')" == shown


@pytest.mark.parametrize("key", ["input", "previous_interaction_id", "continuation_token"])
def test_the_conversation_is_not_the_bodys(key):
    """
    A field that the encoder fills is refused in the body, unless it is `None`.
    """
    assert encode(conversation(*TURN), BODY) == encode(conversation(*TURN), {**BODY, key: None})
    with pytest.raises(ValueError, match=f"^body: {key} comes out of the transcript, leave it out$"):
        encode(conversation(*TURN), {**BODY, key: "v0"})


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "body: expected a model or an agent, got none"),
        ({"model": ""}, "body: expected a model or an agent, got none"),
        ({"model": 7}, "body: expected a model or an agent, got none"),
        ({"model": "m", "agent": "a"}, "body: expected a model or an agent, got both"),
    ],
)
def test_whom_the_request_is_for(body, text):
    """
    The body names one model or one agent.
    """
    with pytest.raises(ValueError, match=f"^{text}$"):
        encode(conversation(*TURN), body)


@pytest.mark.parametrize(
    ("transcript", "body", "text"),
    [
        (Transcript(), [], "body: expected a mapping, got list"),
        (Transcript(), {"model": MODEL, "tools": {1}}, None),
        (7, BODY, "transcript: expected a Transcript or messages, got int"),
        (["Hi"], BODY, "transcript: expected messages, got str"),
    ],
)
def test_what_is_no_conversation(transcript, body, text):
    """
    Other types are refused at once.
    """
    with pytest.raises(TypeError, match=text and f"^{text}$"):
        encode(transcript, body)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mode": "hop"}, "mode: expected 'auto', 'chained' or 'full', got 'hop'"),
        (
            {"mode": "chained", "strip": True},
            "strip: the state that the service keeps cannot be left out; use the mode 'full'",
        ),
    ],
)
def test_what_cannot_be_asked_for(options, text):
    """
    So are modes that there are not, and what contradicts itself.
    """
    with pytest.raises(ValueError, match=f"^{text}$"):
        encode(conversation(*TURN), BODY, **options)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"type": "deep-research", "visualization": "auto"}, {"type": "deep-research"}),
        ({"type": "deep-research", "visualization": None, "a": 1}, {"type": "deep-research", "a": 1}),
        (
            {"visualization": "off", "thinking_summaries": "auto"},
            {"visualization": "off", "thinking_summaries": "auto"},
        ),
        ({"type": "deep-research"}, {"type": "deep-research"}),
        ("odd", "odd"),
    ],
)
def test_visualization_goes_when_it_is_off(given, sent):
    """
    `agent_config.visualization` is sent only when it is `off`.
    """
    body = {"agent": "deep-research-preview-04-2026", "agent_config": given}

    assert sent == encode(conversation(*TURN), body).body["agent_config"]


def test_messages_may_be_given():
    """
    Messages are as good as a transcript.
    """
    transcript = conversation(*TURN)

    assert encode(transcript, BODY) == encode(iter(transcript.messages), BODY)


# -- prompts


def test_content_of_the_user():
    """
    Text, JSON and media are blocks; an empty text is left out.
    """
    content = (
        "look",
        "",
        {"a": [1, "é"]},
        MediaContent(media_type="image/png", data=b"\x00\xff"),
        MediaContent(media_type="application/pdf", uri="files/1"),
        MediaContent(media_type="audio/wav", data=b""),
        MediaContent(media_type="video/mp4", uri="files/2"),
    )

    assert [
        step(
            "user_input",
            content=[
                {"type": "text", "text": "look"},
                {"type": "text", "text": '{"a":[1,"é"]}'},
                {"type": "image", "data": "AP8=", "mime_type": "image/png"},
                {"type": "document", "uri": "files/1", "mime_type": "application/pdf"},
                {"type": "audio", "data": "", "mime_type": "audio/wav"},
                {"type": "video", "uri": "files/2", "mime_type": "video/mp4"},
            ],
        )
    ] == steps(conversation(prompt(tuple(item for each in content for item in as_content(each)))))


@pytest.mark.parametrize("kind", ["image/svg+xml", "image/avif"])
def test_an_image_that_the_service_does_not_read(kind):
    """
    It is left out of prompts and results, and reported: “Unsupported MIME type: image/svg+xml” (gemini-cli#3054).
    """
    unseen = MediaContent(media_type=kind, data=b"<svg/>")
    seen = MediaContent(media_type="image/gif", data=b"GIF8")
    call = Call("draw", call_id="c1", output=("drawn", unseen, seen))
    read = {"type": "image", "data": "R0lGOA==", "mime_type": "image/gif"}
    encoded = encode(conversation(prompt(("see", unseen, seen)), answer(origin=GEMINI, calls=[call])), BODY)

    assert [
        step("user_input", content=[{"type": "text", "text": "see"}, read]),
        step("function_call", id="c1", name="draw", arguments={}),
        result("c1", "draw", [{"type": "text", "text": "drawn"}, read]),
    ] == encoded.body["input"]
    assert [("u1", None, "unsupported", False), ("a1", 0, "unsupported", False)] == reasons(encoded)


def test_a_prompt_of_nothing():
    """
    An empty prompt is not sent, and is reported.
    """
    encoded = encode(conversation(prompt(()), prompt("Hi", message_id="u2")), BODY)

    assert [user("Hi")] == encoded.body["input"]
    assert [("u1", None, "empty", True)] == reasons(encoded)


def test_a_summary_of_the_app():
    """
    A completed compaction is sent as the first prompt, in the place of the messages that it summarizes.
    """
    transcript = conversation(*TURN, compaction("So far: hi."), prompt("Go on", message_id="u3"))
    encoded = encode(transcript, BODY)

    assert [user("So far: hi."), user("Go on")] == encoded.body["input"]
    assert ("full", ()) == (encoded.mode, encoded.drops)


def test_a_summary_that_failed():
    """
    A compaction that was not completed is not sent.
    """
    [begin, *_] = compaction("So")
    encoded = encode(conversation(*TURN[:2], begin, prompt("Go on", message_id="u3")), BODY)

    assert [user("Go on")] == encoded.body["input"]
    assert [("c1", None, "unfinished", True)] == reasons(encoded)


def test_the_state_of_a_summary():
    """
    The state of a compaction has no place in a request.
    """
    transcript = conversation(compaction("So far", origin=GEMINI), prompt("Go on"))
    summary, rest = transcript.messages
    encoded = encode([attrs.evolve(summary, state={"a": 1}), rest], BODY)

    assert [("c1", None, "unplaced", False)] == reasons(encoded)


# -- chained


def test_c109_chained_sends_what_is_new():
    """
    The last answer is named by its interaction, the messages after it are sent, and the app's settings are sent again.
    """
    transcript = conversation(
        *TURN,
        said(mo("Sure"), id="v2", message_id="a2"),
        prompt("And now?", message_id="u3"),
    )
    tools = [{"type": "google_search"}]
    encoded = encode(transcript, {**BODY, "tools": tools, "system_instruction": "Be kind."})

    assert {
        **BODY,
        "tools": tools,
        "system_instruction": "Be kind.",
        "previous_interaction_id": "v2",
        "input": [user("And now?")],
    } == encoded.body
    assert ("chained", ()) == (encoded.mode, encoded.drops)


def test_c109_several_new_prompts_keep_their_order():
    """
    The messages after the answer are sent in their order.
    """
    transcript = conversation(*TURN, prompt("And now?", message_id="u3"), prompt("Hello?", message_id="u4"))

    assert [user("More"), user("And now?"), user("Hello?")] == steps(transcript, mode="chained")


def test_c109_results_are_what_is_new():
    """
    Results are sent in the order of the calls, before the prompts, however late they came.
    """
    transcript = conversation(prompt("Hi"), said(fc("c1"), fc("c2", "g"), status="requires_action"))
    one, two = transcript.pending_tool_calls
    transcript = fold([two.succeed("2"), prompt("Hurry", message_id="u2"), one.succeed("1")], start=transcript)
    encoded = encode(transcript, BODY)

    assert [result("c1", "f", "1"), result("c2", "g", "2"), user("Hurry")] == encoded.body["input"]
    assert ("v1", "chained", ()) == (encoded.body["previous_interaction_id"], encoded.mode, encoded.drops)


def test_the_service_has_what_it_refuses():
    """
    What the service keeps is not left out, even what could not be sent to it.
    """
    transcript = conversation(prompt("Hi"), said(th(summary="unsigned"), mo("Hello")), prompt("More", message_id="u2"))

    assert () == encode(transcript, BODY).drops
    assert [("a1", 0, "unsigned", True)] == reasons(encode(transcript, BODY, mode="full"))


def test_an_answer_that_failed_at_once():
    """
    A failed answer of which nothing is sent does not break the chain.
    """
    transcript = conversation(*TURN, answer(message_id="a2", origin=GEMINI, reasoning="hm", error=error("overloaded")))
    encoded = encode(transcript, BODY)

    assert ("v1", [user("More")]) == (encoded.body["previous_interaction_id"], encoded.body["input"])
    assert [("a2", 0, "unfinished", True)] == reasons(encoded)


def test_a_rewind_keeps_the_chain():
    """
    Rewound messages came after the answer that is left, so the service still has everything before it.
    """
    transcript = conversation(*TURN, said(mo("Sure"), id="v2", message_id="a2"), rewind("u2"))
    transcript = fold([prompt("Rather this", message_id="u3")], start=transcript)

    assert {**BODY, "previous_interaction_id": "v1", "input": [user("Rather this")]} == encode(transcript, BODY).body


def test_a_chain_behind_a_summary():
    """
    An answer that was asked for with a summary is chained to.
    """
    transcript = conversation(compaction("So far"), prompt("Hi"), said(mo("Hello")), prompt("More", message_id="u2"))

    assert {**BODY, "previous_interaction_id": "v1", "input": [user("More")]} == encode(transcript, BODY).body


UNCHAINED = {
    "no answer": ([prompt("Hi")], {}, "the conversation has no answer"),
    "a summary since": ([*TURN, compaction("So far")], {}, "the conversation has no answer"),
    "store is off": ([*TURN], {"store": False}, "store is off"),
    "failed": (
        [prompt("Hi"), answer("Half", origin=GEMINI, error=error())],
        {},
        "answer 'a1' is not completed",
    ),
    "running": ([prompt("Hi"), said(mo("Half"))[:-1]], {}, "answer 'a1' is not completed"),
    "another model": ([*TURN], {"model": "gemini-2.5-pro"}, "answer 'a1' is of another model or agent"),
    "another provider": (
        [prompt("Hi"), answer("Hello", origin=CLAUDE), prompt("More", message_id="u2")],
        {},
        "answer 'a1' is of another model or agent",
    ),
    "not stored": (
        [prompt("Hi"), said(mo("Hello"), id=""), prompt("More", message_id="u2")],
        {},
        "answer 'a1' was not stored, it has no interaction id",
    ),
    "paused": (
        [prompt("Hi"), said(mo("Hello"), status="requires_continuation"), prompt("More", message_id="u2")],
        {},
        "answer 'a1' was paused before its end",
    ),
    "a call without an id": (
        [prompt("Hi"), said(fc(""), status="requires_action")],
        {},
        "answer 'a1' has a call without an id",
    ),
    "one of two calls without an id": (
        [prompt("Hi"), said(fc("c1"), fc("", "g"), status="requires_action")],
        {},
        "answer 'a1' has a call without an id",
    ),
    "a call without an id in the hop before": (
        [
            prompt("Hi"),
            said(fc(""), status="requires_continuation", continuation_token="t1"),
            said(mo("P2"), id="v2", message_id="a1.2"),
        ],
        {},
        "answer 'a1.2' has a call without an id",
    ),
    "nothing new": ([prompt("Hi"), said(mo("Hello"))], {}, "nothing has come after answer 'a1'"),
    "nothing new after two hops": (
        [
            prompt("Hi"),
            said(mo("P1"), status="requires_continuation", continuation_token="t1"),
            said(mo("P2"), id="v2", message_id="a1.2"),
        ],
        {},
        "nothing has come after answer 'a1.2'",
    ),
}


@pytest.mark.parametrize(("parts", "body", "reason"), UNCHAINED.values(), ids=UNCHAINED)
def test_what_cannot_be_chained(parts, body, reason):
    """
    `auto` sends everything where nothing can be chained; `chained` raises with the reason.
    """
    transcript = conversation(*parts)
    encoded = encode(transcript, {**BODY, **body})

    assert encode(transcript, {**BODY, **body}, mode="full") == encoded
    with pytest.raises(LocalProtocolError, match=f"^the request cannot be chained: {reason}; use the mode 'full'$"):
        encode(transcript, {**BODY, **body}, mode="chained")


def stored(*parts):
    """
    Fold records, each one second after the one before it.
    """
    return fold(records([event for part in parts for event in (part if isinstance(part, list) else [part])]))


def test_records_tell_nothing_new():
    """
    A conversation whose events happened one after another is chained.
    """
    first = stored(prompt("Hi"), said(fc(), status="requires_action"))
    events = [prompt("Hi"), *said(fc(), status="requires_action"), first.pending_tool_calls[0].succeed("x")]
    transcript = stored(events, said(mo("Done"), id="v2", message_id="a2"), prompt("More", message_id="u2"))

    assert "chained" == encode(transcript, BODY).mode


def test_an_answer_that_came_too_late_for_the_chain():
    """
    When a call was answered after the last answer had begun, the service does not know that: everything is sent.
    """
    asked = [prompt("Hi"), *said(fc(), status="requires_action")]
    call = stored(asked).pending_tool_calls[0]
    transcript = stored(
        asked, said(mo("Done"), id="v2", message_id="a2"), call.succeed("late"), prompt("More", message_id="u2")
    )
    encoded = encode(transcript, BODY)

    assert ("full", [result(result="late")]) == (encoded.mode, encoded.body["input"][2:3])
    with pytest.raises(LocalProtocolError, match="answer 'a2' does not know all before it"):
        encode(transcript, BODY, mode="chained")


def test_a_result_between_the_hops_of_an_answer():
    """
    It came after the first hop was asked for, which does not know it.
    """
    asked = [prompt("Hi"), *said(fc(), status="requires_action")]
    call = stored(asked).pending_tool_calls[0]
    paused = said(mo("One"), id="v2", message_id="a2")
    hop = [attrs.evolve(event, finish_reason="pause") if event.type == "step.ended" else event for event in paused]
    transcript = stored(
        *(asked, hop[:1], call.succeed("late"), hop[1:]),
        said(mo("Two"), id="v3", message_id="a2.2"),
        prompt("More", message_id="u2"),
    )
    encoded = encode(transcript, BODY)

    assert ("full", True) == (encoded.mode, result(result="late") in encoded.body["input"])


def test_two_answers_to_one_prompt():
    """
    So it is when two answers ran side by side: the second was asked for without the first.
    """
    one, two = said(mo("One")), said(mo("Two"), id="v2", message_id="a2")
    transcript = stored(prompt("Hi"), one[:2], two[:1], one[2:], two[1:], prompt("More", message_id="u2"))

    assert "full" == encode(transcript, BODY).mode


def test_a_clock_that_stands_still():
    """
    What happened at the same time as the answer began counts as known to it.
    """
    [first, *_] = records([prompt("Hi")])
    events = [prompt("Hi"), *said(mo("One")), *said(mo("Two"), id="v2", message_id="a2")]
    transcript = fold(records([*events, prompt("More", message_id="u2")], clock=lambda: first.at))

    assert "chained" == encode(transcript, BODY).mode


def test_a_summary_among_messages():
    """
    When messages are given, nothing is chained over a summary among them.
    """
    messages = conversation(*TURN, compaction("So far"), prompt("Go on", message_id="u3")).messages
    encoded = encode(messages, BODY)

    assert ("full", [user("So far"), user("Go on")]) == (encoded.mode, encoded.body["input"][-2:])


def test_models_that_read_each_other():
    """
    The policy of the app names models that continue each other's answers.
    """
    rules = attrs.evolve(POLICY, interchangeable_models=(frozenset({MODEL, "gemini-4-argon"}),))
    transcript = conversation(*TURN)

    assert "full" == encode(transcript, {"model": "gemini-4-argon"}).mode
    assert "chained" == encode(transcript, {"model": "gemini-4-argon"}, policy=rules).mode


# -- agents

AGENT = "antigravity-preview-09-2026"


def agent_turn(**fields):
    return conversation(
        prompt("Hi"), said(mo("Done"), model=None, agent=AGENT, **fields), prompt("More", message_id="u2")
    )


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({}, "0b7e"),
        ({"environment": None}, "0b7e"),
        ({"environment": "remote"}, "0b7e"),
        ({"environment": "f00d"}, "f00d"),
        (
            {"environment": {"type": "remote", "network": "disabled"}},
            {"type": "remote", "network": "disabled", "environment_id": "0b7e"},
        ),
        ({"environment": {"environment_id": "f00d"}}, {"environment_id": "f00d"}),
    ],
)
def test_the_sandbox_of_an_agent(given, sent):
    """
    An agent continues in its sandbox, unless the app names another.
    """
    encoded = encode(agent_turn(environment_id="0b7e"), {"agent": AGENT, **given})

    assert ("chained", "v1") == (encoded.mode, encoded.body["previous_interaction_id"])
    assert sent == encoded.body["environment"]


def test_the_sandbox_goes_whatever_the_mode():
    """
    A sandbox outlives the interaction; but it is state.
    """
    transcript = agent_turn(environment_id="0b7e")

    assert "0b7e" == encode(transcript, {"agent": AGENT}, mode="full").body["environment"]
    assert "environment" not in encode(transcript, {"agent": AGENT}, strip=True).body


def test_no_sandbox():
    """
    Without a sandbox, or with one of another agent, no environment is sent.
    """
    assert "environment" not in encode(agent_turn(), {"agent": AGENT}).body
    assert "environment" not in encode(agent_turn(environment_id="0b7e"), {"agent": "another"}).body


# -- long answers


def long(*tokens, id="v{}", **fields):
    """
    Return the hops of a long answer, each with the token it gave.
    """
    return [
        event
        for at, token in enumerate(tokens, 1)
        for event in said(
            mo(f"P{at}"),
            id=id.format(at),
            message_id="a1" if at == 1 else f"a1.{at}",
            status="requires_continuation",
            **({} if token is None else {"continuation_token": token}),
            **fields,
        )
    ]


@pytest.mark.parametrize("mode", ["auto", "chained"])
def test_c101_a_hop_that_is_stored(mode):
    """
    The next hop has the token, the id of the interaction that gave it, and no input.
    """
    encoded = encode(conversation(prompt("Hi"), long("dG9rMQ==", "dG9rMg==")), BODY, mode=mode)

    assert {**BODY, "previous_interaction_id": "v2", "continuation_token": "dG9rMg=="} == encoded.body
    assert ("hop", ()) == (encoded.mode, encoded.drops)


@pytest.mark.parametrize(("id", "store"), [("v{}", False), ("", False), ("", True)])
def test_c101_a_hop_that_is_not_stored(id, store):
    """
    Without a stored interaction it has the token, the original input, and no id.
    """
    body = {**BODY, "store": store}
    transcript = conversation(
        prompt("Hi"),
        said(th(summary="unsigned"), mo("Hello"), id="v0", message_id="a0"),
        prompt("A long story", message_id="u2"),
        long("dG9rMQ==", "dG9rMg==", id=id),
    )
    encoded = encode(transcript, body)

    assert {
        **body,
        "continuation_token": "dG9rMg==",
        "input": [user("Hi"), mo("Hello"), user("A long story")],
    } == encoded.body
    assert [("a0", 0, "unsigned", True)] == reasons(encoded)
    assert "hop" == encoded.mode


@pytest.mark.parametrize("mode", ["auto", "chained"])
@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["t1", "t1"], "message 'a1.2' gave back the continuation token that was sent, so it made no progress"),
        ([None], "message 'a1' was paused without a continuation token, nothing can go on with it"),
        (["t1", None], "message 'a1.2' was paused without a continuation token, nothing can go on with it"),
    ],
)
def test_c102_no_progress(tokens, text, mode):
    """
    A token that came back, or no token, raises: a request would start the answer anew.
    """
    with pytest.raises(LocalProtocolError, match=f"^{text}; ask something new, or use the mode 'full'$"):
        encode(conversation(prompt("Hi"), long(*tokens)), BODY, mode=mode)


def test_a_long_answer_is_history():
    """
    In full, all hops of an answer are sent in their order, without a token.
    """
    encoded = encode(conversation(prompt("Hi"), long("t1", "t1")), BODY, mode="full")

    assert {**BODY, "input": [user("Hi"), mo("P1"), mo("P2")]} == encoded.body


def test_a_long_answer_that_has_ended():
    """
    The last hop is what the next request is chained to; calls of every hop are answered.
    """
    transcript = conversation(
        prompt("Hi"),
        said(fc("c1"), status="requires_continuation", continuation_token="t1"),
        said(mo("P2"), fc("c2", "g"), id="v2", message_id="a1.2", status="requires_action"),
    )
    transcript = succeeded(transcript, "1", "2")
    results = [result("c1", "f", "1"), result("c2", "g", "2")]

    assert {**BODY, "previous_interaction_id": "v2", "input": results} == encode(transcript, BODY).body
    assert [user("Hi"), fc("c1"), mo("P2"), fc("c2", "g"), *results] == steps(transcript)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(fc("c1"), mo("P2"), id="in the first hop"),
        pytest.param(mo("P1"), fc("c1"), id="in the last hop"),
    ],
)
def test_a_long_answer_of_which_one_hop_has_a_call(first, second):
    """
    A result of a call in one hop is new, though the other hops have no calls.
    """
    transcript = conversation(
        prompt("Hi"),
        said(first, status="requires_continuation", continuation_token="t1"),
        said(second, id="v2", message_id="a1.2", status="requires_action"),
    )
    encoded = encode(succeeded(transcript, "1"), BODY, mode="chained")

    assert {**BODY, "previous_interaction_id": "v2", "input": [result("c1", "f", "1")]} == encoded.body


def test_a_call_of_the_provider_needs_no_id_to_be_chained():
    """
    Only what the app has to answer must have a name.
    """
    search = step("google_search_call", arguments={"queries": ["q"]})
    transcript = conversation(prompt("Hi"), said(search, mo("Hello")), prompt("More", message_id="u2"))

    assert [user("More")] == steps(transcript, mode="chained")


def test_a_long_answer_of_another_model():
    """
    The token is its model's: another one gets the conversation.
    """
    encoded = encode(conversation(prompt("Hi"), long("t1")), {"model": "gemini-2.5-pro"})

    assert ("full", [user("Hi"), mo("P1")]) == (encoded.mode, encoded.body["input"])


def test_a_long_answer_without_state():
    """
    Stripped of state, a paused answer cannot be resumed.
    """
    encoded = encode(conversation(prompt("Hi"), long("t1")), BODY, strip=True)

    assert {**BODY, "input": [user("Hi"), mo("P1")]} == encoded.body


def test_checkpoints_are_void_at_the_end():
    """
    Case 103 is not resumed: of an answer that failed its content is sent.
    """
    transcript = conversation(
        prompt("Hi"), answer("Half", origin=GEMINI, error=error("network"), state={"continuation_token": "t"})
    )

    assert {**BODY, "input": [user("Hi"), mo("Half")]} == encode(transcript, BODY).body


# -- in full


def test_c105_full_is_what_was_said():
    """
    Every step of the history is sent as it came, unknown fields included; a result directly follows its answer.
    """
    first = [
        step("google_search_call", id="s1", arguments={"queries": ["q"]}, search_type="web_search", signature="a+/="),
        step("google_search_result", call_id="s1", result=[{"search_suggestions": "<div>"}], signature="b" * 90_000),
        th(signature="c", summary=[{"type": "text", "text": "Plan"}], new={"a": 1}),
        mo("It rains.", new=2),
        step("dream", plot=[1]),
        fc("c1", "f", {"a": 1}),
    ]
    transcript = succeeded(conversation(prompt("Hi"), said(*first, status="requires_action")), "x")
    encoded = encode(transcript, BODY, mode="full")

    assert {**BODY, "input": [user("Hi"), *first, result()]} == encoded.body
    assert () == encoded.drops


def test_c106_an_unsigned_thought():
    """
    A thought without a signature is not sent.
    """
    encoded = encode(conversation(prompt("Hi"), said(th(summary="hm", signature=""), mo("Hello"))), BODY)

    assert [user("Hi"), mo("Hello")] == encoded.body["input"]
    assert [("a1", 0, "unsigned", True)] == reasons(encoded)


def test_c107_text_and_media_are_one_step():
    """
    What belongs to one step of the wire is one step again.
    """
    output = step(
        "model_output",
        content=[
            {"type": "text", "text": "see"},
            {"type": "image", "data": "AAAA", "mime_type": "image/png"},
            {"type": "text", "text": "and"},
        ],
    )

    assert [user("Hi"), output] == steps(conversation(prompt("Hi"), said(output)))


MEDIUM = MediaContent(media_type="image/png", data=b"\x00")
IMAGE = {"type": "image", "data": "AA==", "mime_type": "image/png"}
OUTPUTS = {
    "text": ("sunny", "sunny"),
    "nothing": ((), ""),
    "an object": ({"sum": 18.0, "é": [1]}, '{"sum":18.0,"é":[1]}'),
    "an array": ([1, "a"], '[1,"a"]'),
    "a number": (5, "5"),
    "null": (None, "null"),
    "a medium": (MEDIUM, [IMAGE]),
    "text and a medium": ((TextContent("see"), MEDIUM), [{"type": "text", "text": "see"}, IMAGE]),
    "texts": ((TextContent("a"), TextContent("b")), [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
}


@pytest.mark.parametrize(("output", "sent"), OUTPUTS.values(), ids=OUTPUTS)
def test_c108_forms_of_a_result(output, sent):
    """
    Text is sent as it is, JSON as JSON text, media and several outputs as blocks; the name of the tool always.
    """
    transcript = conversation(prompt("Hi"), said(fc(), status="requires_action"))
    transcript = fold([transcript.pending_tool_calls[0].succeed(output)], start=transcript)

    assert [result(result=sent)] == steps(transcript, "chained")


FAULTS = {
    "the fault": ("no such city", (), "no such city"),
    "the fault and text": ("no such city", "tried Oslo", "no such city\ntried Oslo"),
    "the fault and JSON": ("no such city", {"a": 1}, 'no such city\n{"a":1}'),
    "the fault twice": ("no such city", "no such city", "no such city"),
    "the fault and a medium": ("no", MEDIUM, [{"type": "text", "text": "no"}, IMAGE]),
    "a fault without words": (ErrorInfo(kind="timeout", message=""), (), "timeout"),
}


@pytest.mark.parametrize(("fault", "output", "sent"), FAULTS.values(), ids=FAULTS)
def test_c108_a_call_that_failed(fault, output, sent):
    """
    A failed call is answered with `is_error`, what was wrong, and what there was of an output.
    """
    transcript = conversation(prompt("Hi"), said(fc(), status="requires_action"))
    transcript = fold([transcript.pending_tool_calls[0].fail(fault, output=output)], start=transcript)
    encoded = encode(transcript, BODY)

    assert [result(result=sent, is_error=True)] == encoded.body["input"]
    assert () == encoded.drops


def test_c111_reasoning_of_another_provider():
    """
    Of another provider's answer text, calls and their results are sent, without state.
    """
    transcript = conversation(
        prompt("Hi"),
        answer(
            "Hello",
            origin=CLAUDE,
            reasoning="hm",
            reasoning_state={"signature": "claude"},
            text_state={"i": 0, "annotations": [1]},
            calls=[Call("f", {"a": 1}, call_id="toolu_1", output="x", state={"signature": "other"})],
        ),
    )
    encoded = encode(transcript, {"model": "gemini-2.5-flash"})

    assert [user("Hi"), mo("Hello"), fc("toolu_1", "f", {"a": 1}), result("toolu_1")] == encoded.body["input"]
    assert [
        ("a1", 0, "other-provider", True),
        ("a1", 1, "other-provider", False),
        ("a1", 2, "other-provider", False),
    ] == reasons(encoded)


def test_a_call_of_another_provider_without_an_id():
    """
    A call of another provider has the id of the transcript, because this one wants one.
    """
    call = Call("f", call_id="call-1", output="x", state={"id": None})
    sent = steps(conversation(prompt("Hi"), answer(origin=CLAUDE, calls=[call])), model="gemini-2.5-flash")

    assert [user("Hi"), fc("call-1"), result("call-1")] == sent


@pytest.mark.parametrize("name", [{}, {"model": "gemini-pro-latest"}], ids=["Gemini 3", "an alias"])
def test_calls_of_another_provider(name):
    """
    Gemini 3 refuses a call of the current turn without a signed thought before it (obsidian-gemini#1269): calls of
    others have none, and are sent in words.
    """
    calls = [Call("f", {"a": 1}, call_id="toolu_1", output="x"), Call("g", call_id="toolu_2", output="y")]
    begun = [prompt("Hi"), answer("Hello", origin=CLAUDE, calls=calls)]
    encoded = encode(conversation(*begun), {**BODY, **name})
    later = steps(conversation(*begun, prompt("And?", message_id="u2")), **name)
    words = ['f was called with {"a":1}. It answered:', "x", "g was called with {}. It answered:", "y"]

    assert [user("Hi"), mo("Hello"), user(*words)] == encoded.body["input"]
    assert ["function_call", "function_call", "function_result", "function_result"] == [
        step["type"] for step in later if step["type"].startswith("function")
    ]
    assert [("a1", 1, "reworded", False), ("a1", 2, "reworded", False)] == [
        each for each in reasons(encoded) if each[2] == "reworded"
    ]


def test_left_out_in_the_order_of_the_conversation():
    """
    Drops are reported in the order of the conversation, whatever caused them.
    """
    broken = {**fc("c1"), "arguments": "[]"}
    transcript = conversation(
        prompt(()),
        said(broken, th(summary="unsigned"), fc("c2"), status="requires_action"),
        prompt((), message_id="u2"),
    )

    assert [
        ("u1", None, "empty", True),
        ("a1", 0, "uncalled", False),
        ("a1", 1, "unsigned", True),
        ("a1", 2, "no-answer", False),
        ("u2", None, "empty", True),
    ] == reasons(encode(transcript, BODY, mode="full"))


def test_the_state_of_another_model():
    """
    To another model of the same provider every signature is sent as well.
    """
    first = [th(signature="a"), mo("Hello")]
    encoded = encode(conversation(prompt("Hi"), said(*first)), {"model": "gemini-2.5-pro"})

    assert [user("Hi"), *first] == encoded.body["input"]
    assert [("a1", None, "other-model", False)] == reasons(encoded)


def test_stripped():
    """
    Without state, texts are sent, and calls as text where their signed thought is missing.
    """
    transcript = succeeded(
        conversation(prompt("Hi"), said(th(signature="a"), mo("Hm"), fc(), status="requires_action")), "x"
    )
    encoded = encode(transcript, BODY, strip=True)

    assert [user("Hi"), mo("Hm"), user("f was called with {}. It answered:", "x")] == encoded.body["input"]
    assert [
        ("a1", None, "stripped", False),
        ("a1", 0, "stripped", True),
        ("a1", 2, "reworded", False),
    ] == reasons(encoded)


# -- what did not go well


def test_the_text_of_a_failed_answer():
    """
    Of a failed answer the content is sent, without state and without unanswered calls.
    """
    failed = answer(
        "Half",
        origin=GEMINI,
        reasoning="hm",
        reasoning_state={"i": 0, "signature": "a"},
        calls=[Call("f", {"a": 1}, state={"i": 2})],
        error=error("network"),
    )
    encoded = encode(conversation(prompt("Hi"), failed, prompt("Again", message_id="u2")), BODY)

    assert [user("Hi"), mo("Half"), user("Again")] == encoded.body["input"]
    assert [
        ("a1", 0, "unfinished", True),
        ("a1", 2, "unanswered", True),
    ] == reasons(encoded)


def failed_with_answers(*steps, outputs):
    """
    Return an answer whose calls the app had run before it was cut.
    """
    events = said(*steps, status="requires_action")
    ran = fold(events[:-1])
    answers = [call.succeed(output) for call, output in zip(ran.messages[0].tool_calls, outputs, strict=True)]
    decoder = load_dialect("gemini-interactions").decoder("a1")
    wire = [{"event_type": "interaction.created", "interaction": {"id": "v1", "model": MODEL}}]
    for at, each in enumerate(steps):
        wire += step_frames(each, at)
    cut = [event for frame in wire for event in decoder.feed_event(frame)]
    return [*cut, *answers, *decoder.close()]


def test_answered_calls_of_a_failed_answer():
    """
    Calls that were answered before their step failed are sent with their results, and with the provider's id.
    """
    transcript = conversation(prompt("Hi"), failed_with_answers(fc("c"), fc("c", "g", {"a": 1}), outputs=["1", "2"]))
    encoded = encode(transcript, BODY)

    calls = [fc("c"), fc("c", "g", {"a": 1})]
    assert [user("Hi"), *calls, result("c", "f", "1"), result("c", "g", "2")] == encoded.body["input"]
    assert [
        ("a1", None, "unfinished", False),
        ("a1", 1, "unfinished", False),
    ] == reasons(encoded)


def test_a_call_that_lost_its_thought():
    """
    Without the signed thought before it a call would be refused: it is sent as text after the answer.
    """
    steps = [fc("c0", "early"), th(signature="a"), fc("c1", "mail", {"to": "é"}), fc("c2", "g"), mo("Half")]
    events = failed_with_answers(*steps, outputs=["0", {"sent": True}, (MEDIUM,)])
    encoded = encode(conversation(prompt("Hi"), events), BODY)

    assert [
        user("Hi"),
        fc("c0", "early"),
        mo("Half"),
        result("c0", "early", "0"),
        step(
            "user_input",
            content=[
                {"type": "text", "text": 'mail was called with {"to":"é"}. It answered:'},
                {"type": "text", "text": '{"sent":true}'},
                {"type": "text", "text": "g was called with {}. It answered:"},
                IMAGE,
            ],
        ),
    ] == encoded.body["input"]
    assert [("a1", 2, "reworded", False), ("a1", 3, "reworded", False)] == [
        each for each in reasons(encoded) if each[2] == "reworded"
    ]


def test_a_failed_call_that_lost_its_thought():
    """
    As text, a failed call has its error.
    """
    transcript = conversation(prompt("Hi"), said(th(signature="a"), fc(), status="requires_action"))
    transcript = fold([transcript.pending_tool_calls[0].fail("no such city", output="")], start=transcript)

    assert [user("Hi"), user("f was called with {}. It failed: no such city")] == encode(
        transcript, BODY, strip=True
    ).body["input"]


@pytest.mark.parametrize("mode", ["full", "chained"])
def test_a_call_that_nobody_answered(mode):
    """
    A call that waits is answered by the request, in its place among the others.
    """
    transcript = conversation(prompt("Hi"), said(fc("c1"), fc("c2", "g"), status="requires_action"))
    transcript = fold([transcript.pending_tool_calls[1].succeed("2")], start=transcript)
    encoded = encode(transcript, BODY, mode=mode)

    assert [
        result("c1", "f", "No result is available for this call.", is_error=True),
        result("c2", "g", "2"),
    ] == encoded.body["input"][-2:]
    assert [("a1", 0, "no-answer", False)] == reasons(encoded)


@pytest.mark.parametrize(("mode", "before"), [("full", [user("Hi"), fc()]), ("chained", [])])
def test_a_call_that_never_was_one(mode, before):
    """
    A call whose input is not an object is sent with an empty input, and its result has the error.
    """
    transcript = conversation(
        prompt("Hi"), said({**fc(), "arguments": "[1]"}, status="requires_action"), prompt("Hm", message_id="u2")
    )
    encoded = encode(transcript, BODY, mode=mode)
    answered = result(result="The call was not run: the input is not a JSON object but an array", is_error=True)

    assert [*before, answered, user("Hm")] == encoded.body["input"]
    assert [("a1", 0, "uncalled", False)] == reasons(encoded)
    assert (
        "part 0 of message 'a1' repaired: The arguments were not a JSON object, so the call was not executed; "
        "the request reports that as its result."
    ) == str(encoded.drops[0])


def test_a_call_of_the_sandbox_without_a_result():
    """
    A function that the provider should have run, and did not, is answered too.
    """
    body = {"agent": AGENT}
    resource = {"id": "v1", "status": "completed", "agent": AGENT, "steps": [fc("r1", "read_file"), mo("Hm")]}
    transcript = fold([prompt("Hi"), *decode_resource(resource, "a1", request=body)])
    encoded = encode(transcript, body, mode="full")

    assert [
        user("Hi"),
        fc("r1", "read_file"),
        mo("Hm"),
        result("r1", "read_file", "No result is available for this call.", is_error=True),
    ] == encoded.body["input"]
    assert [("a1", 0, "no-answer", False)] == reasons(encoded)


def test_calls_that_the_provider_answered():
    """
    A call that the provider ran is sent as it came, without a result of ours.
    """
    sandbox = [fc("r1", "read_file"), step("function_result", call_id="r1", name="read_file", result="x")]
    alone = step("google_search_call", id="s1", arguments={"queries": []}, signature="a")

    assert [user("Hi"), *sandbox, alone] == steps(conversation(prompt("Hi"), said(*sandbox, alone)))


def test_a_call_of_the_provider_with_nonsense():
    """
    A call of the provider whose input is not an object is sent with an empty input; the raw input has no place.
    """
    steps = [step("code_execution_call", id="x", arguments="{oops", signature="a")]
    encoded = encode(conversation(prompt("Hi"), said(*steps)), BODY)

    assert [user("Hi"), {**steps[0], "arguments": {}}] == encoded.body["input"]
    assert [("a1", 0, "unplaced", False)] == reasons(encoded)


def test_ids_that_the_provider_did_not_give():
    """
    Ids made by the recorder are never sent: a call without an id is sent as text, a second one with its own id.
    """
    nameless = {"type": "function_call", "id": None, "name": "f", "arguments": {"a": 1}}
    transcript = succeeded(
        conversation(prompt("Hi"), said(nameless, fc("", "g"), fc("c", "h"), fc("c", "h"), status="requires_action")),
        *("1", "", "3", "4"),
    )
    encoded = encode(transcript, BODY)

    assert [
        user("Hi"),
        fc("c", "h"),
        fc("c", "h"),
        result("c", "h", "3"),
        result("c", "h", "4"),
        user('f was called with {"a":1}. It answered:', "1", "g was called with {}. It answered:"),
    ] == encoded.body["input"]
    assert [("a1", 0, "reworded", False), ("a1", 1, "reworded", False)] == reasons(encoded)


WORDS = {
    "no answer": (
        None,
        fc("", "f", {"a": 1}),
        'f was called with {"a":1}. It failed: No result is available',
        "no-answer",
    ),
    "no call": (
        None,
        {**fc(""), "arguments": "[1]"},
        "f was called with [1]. It failed: The call was not run",
        "uncalled",
    ),
    "nothing": ((), fc(""), "f was called with {}. It answered nothing.", None),
}


@pytest.mark.parametrize(("output", "call", "words", "reason"), WORDS.values(), ids=WORDS)
def test_calls_in_words(output, call, words, reason):
    """
    The text has the outcome of a call, and repairs are reported as for any other call.
    """
    transcript = conversation(prompt("Hi"), said(call, status="requires_action"))
    transcript = transcript if output is None else succeeded(transcript, output)
    encoded = encode(transcript, BODY)
    [_, spoken] = encoded.body["input"]

    assert spoken["content"][0]["text"].startswith(words)
    assert ["reworded", *([reason] if reason else [])] == [each[2] for each in reasons(encoded)]


def test_a_call_without_a_name():
    """
    A call without a name cannot be answered, so it is not sent.
    """
    encoded = encode(conversation(prompt("Hi"), said(step("function_call", id="c1"), mo("Hm"))), BODY, mode="full")

    assert [user("Hi"), mo("Hm")] == encoded.body["input"]
    assert [("a1", 0, "unplaced", True)] == reasons(encoded)


def test_deltas_of_unknown_types():
    """
    Deltas that cannot be written are reported.
    """
    wire = stream(C(), S(0, th(signature="a")), D(0, delta("sparkle", x=1)), X(0), K())
    decoder = load_dialect("gemini-interactions").decoder("a1")
    encoded = encode(fold([prompt("Hi"), *decoder.feed(wire), *decoder.close()]), BODY, mode="full")

    assert [user("Hi"), th(signature="a")] == encoded.body["input"]
    assert [("a1", 0, "unplaced", False)] == reasons(encoded)


def test_deltas_of_unknown_types_of_a_result():
    """
    They are reported of its call.
    """
    search = step("google_search_call", id="s1", arguments={"queries": ["q"]})
    found = step("google_search_result", call_id="s1", result=[{"search_suggestions": "<p>"}])
    wire = stream(C(), S(0, search), X(0), S(1, found), D(1, delta("sparkle", x=1)), X(1), S(2, mo("a")), X(2), K())
    decoder = load_dialect("gemini-interactions").decoder("a1")
    encoded = encode(fold([prompt("Hi"), *decoder.feed(wire), *decoder.close()]), BODY, mode="full")

    assert [user("Hi"), search, found, mo("a")] == encoded.body["input"]
    assert [("a1", 0, "unplaced", False)] == reasons(encoded)


def test_a_summary_that_goes_on_behind_its_stop():
    """
    What is in parts of its own here is one step of the wire, in the order in which it came.
    """
    first, last = ({"type": "image", "data": data, "mime_type": "image/png"} for data in ("AAAA", "BBBB"))
    plan = {"type": "text", "text": "Plan"}
    begun = [S(0, th(summary=[first], signature="a")), D(0, delta("thought_summary", content=plan)), X(0)]
    late = [D(0, delta("thought_summary", content=last)), X(0)]
    decoder = load_dialect("gemini-interactions").decoder("a1")
    found = decoder.feed(stream(C(), *begun, *late, S(1, mo("a")), X(1), K())) + decoder.close()
    encoded = encode(fold([prompt("Hi"), *found]), BODY, mode="full")

    assert [user("Hi"), th(summary=[first, plan, last], signature="a"), mo("a")] == encoded.body["input"]
    assert [] == reasons(encoded)


PARTS = {
    "an empty text": ({"text": "", "text_state": {"i": 0}}, [], ("empty", True)),
    "an unknown key of a text": ({"text": "a", "text_state": {"i": 0, "new": 1}}, [mo("a")], ("unplaced", False)),
    "an unknown key of an answer": (
        {"calls": [Call("f", call_id="c1", output="x", result_state={"new": 1})]},
        [fc(), result()],
        ("unplaced", False),
    ),
}


@pytest.mark.parametrize(("given", "sent", "expected"), PARTS.values(), ids=PARTS)
def test_state_that_this_version_does_not_write(given, sent, expected):
    """
    State of a newer version, without a known place, is reported; so is empty state.
    """
    encoded = encode(conversation(prompt("Hi"), answer(origin=GEMINI, **given)), BODY, mode="full")

    assert [user("Hi"), *sent] == encoded.body["input"]
    assert [("a1", 0, *expected)] == reasons(encoded)


def test_a_medium_of_nothing():
    """
    Media without bytes and without a URI are not sent.
    """
    empty = MediaPart(media_type="image/png", data=b"", status="completed")
    message = AssistantMessage(id="a1", origin=GEMINI, parts=(empty,), status=MessageStatus.COMPLETED)

    assert [("a1", 0, "empty", True)] == reasons(encode([message], BODY))


def test_opaque_items_of_nobody():
    """
    An opaque item of another wire is not sent.
    """
    message = AssistantMessage(
        id="a1", origin=GEMINI, parts=(OpaquePart(state={"item": 1}),), status=MessageStatus.COMPLETED
    )

    assert [("a1", 0, "unplaced", True)] == reasons(encode([message], BODY))


def test_c112_state_is_never_nested():
    """
    State is written at its place in the wire, under no name of a provider.
    """
    signed = {"type": "thought", "signature": "a", "vertex": {"b": 1}}

    assert signed == steps(conversation(prompt("Hi"), said(signed)))[1]


def test_reasons_of_encoders_are_sentences():
    """
    Each reason that only encoders give has a sentence.
    """
    repairs = {DropReason.UNCALLED, DropReason.NO_ANSWER, DropReason.REWORDED, DropReason.PLACEHOLDER}

    assert repairs == REPAIRS
    assert all(REASONS[reason].endswith(".") for reason in {DropReason.UNPLACED, *repairs})


def test_json_all_the_way():
    """
    What comes out can be sent.
    """
    transcript = succeeded(conversation(*TURN[:1], said(fc(), status="requires_action")), {"a": 1})

    assert {**BODY, "previous_interaction_id": "v1", "input": [result(result='{"a":1}')]} == json.loads(
        json.dumps(encode(transcript, BODY).body)
    )


@given(said=sessions())
def test_a_part_is_sent_when_it_has_a_step(said):
    """
    The encoder knows without writing it whether a part has a step: what it knows is what the base finds by writing.
    """
    encoder = GeminiInteractionsEncoder((), dict(BODY), provider="google", policy=POLICY, strip=False)
    answers = [message for message in fold(said).messages if isinstance(message, AssistantMessage)]
    parts = [(message, part) for message in answers for part in message.parts]

    assert [EncoderBase.is_sent(encoder, *each) for each in parts] == [encoder.is_sent(*each) for each in parts]


@pytest.mark.parametrize(("state", "output", "sent"), [({"orphan": True}, None, False), ({"orphan": True}, "x", True)])
def test_a_call_without_a_step(state, output, sent):
    """
    A call that the decoder made up for a result is sent as that result alone.
    """
    [message] = fold(answer(calls=[Call("google_search", output=output, provider_executed=True, state=state)])).messages
    encoder = GeminiInteractionsEncoder((), dict(BODY), provider="google", policy=POLICY, strip=False)
    [part] = message.parts

    assert sent is encoder.is_sent(message, part) is EncoderBase.is_sent(encoder, message, part)
