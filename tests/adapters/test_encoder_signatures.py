"""
Signatures and calls in requests: the rules of §7.3, and laws for all conversations.
"""

import copy
import json

import attrs
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from assistant_events import Origin, StepStarted, fold
from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.gemini_interactions import decode_resource, encode
from assistant_events.errors import LocalProtocolError
from assistant_events.history import DropReason
from assistant_events.testing import Call, answer, error, prompt
from tests.drawn import broken_sessions, sessions

from .notation import fc, mo, step, th
from .test_encoder import BODY, CLAUDE, GEMINI, conversation, result, said, succeeded, user
from .test_wire_steps import ANY_STEP, code_units

A, B = "a+/b==", "CiRlMmYxNmQ3Yi1mYTU4LTQ5YmQtODgxNi1hNzQ1YjYyNTNlYzE="
"""Two signatures; the second is of the short kind that the service gives as a placeholder."""

BIG = "aB+/" * 26_000 + "=="

SEARCH = step("google_search_call", id="s1", arguments={"queries": ["q"]}, signature=A)
FOUND = step("google_search_result", call_id="s1", result=[{"search_suggestions": "<div>"}], signature=BIG)
CODE = step("code_execution_call", id="x1", arguments={"code": "1"}, signature=A)
PRINTED = step("code_execution_result", call_id="x1", result="1\n", signature=B)

RULES = {
    "1: on thoughts, on calls of the provider and on their results": (
        [th(signature=A), SEARCH, FOUND, CODE, PRINTED, mo("Hi")],
        [th(signature=A), SEARCH, FOUND, CODE, PRINTED, mo("Hi")],
    ),
    "1: on calls of 1.x at once, behind code": (
        [th(signature=A), CODE, PRINTED, fc("c1", signature=A), fc("c2", "g", signature=B)],
        [
            *(th(signature=A), CODE, PRINTED, fc("c1", signature=A), fc("c2", "g", signature=B)),
            *(result("c1"), result("c2", "g")),
        ],
    ),
    "1: not on calls of the app, where the wire has an empty one": ([fc(signature="")], [fc(), result()]),
    "2: letter for letter": (
        [th(signature=" a+/=\n"), th(signature="é\u2028"), th(signature="a")],
        [th(signature=" a+/=\n"), th(signature="é\u2028"), th(signature="a")],
    ),
    "3: every thought in its place, with its summary": (
        [
            th(signature=A, summary=[{"type": "text", "text": "  Plan "}, {"type": "text", "text": ""}]),
            mo("one"),
            th(signature=B, summary=[{"type": "text", "text": "More"}]),
            mo("two"),
        ],
        [
            th(signature=A, summary=[{"type": "text", "text": "  Plan "}, {"type": "text", "text": ""}]),
            mo("one"),
            th(signature=B, summary=[{"type": "text", "text": "More"}]),
            mo("two"),
        ],
    ),
    "4: an empty one is none, and a thought without one does not go": (
        [th(signature="", summary="hm"), th(), step("google_search_call", id="s1", arguments={}, signature="")],
        [step("google_search_call", id="s1", arguments={})],
    ),
    "4: nor on a step of tomorrow": ([step("dream", signature="", a=1)], [step("dream", a=1)]),
    "5: a thought stays before its call, and its signature on it": (
        [th(signature=A), fc("c1"), th(signature=B), fc("c2")],
        [th(signature=A), fc("c1"), th(signature=B), fc("c2"), result("c1"), result("c2")],
    ),
    "6: short ones are as good as any": ([th(signature=B), mo("Hi")], [th(signature=B), mo("Hi")]),
    "8: they may be of any size": ([th(signature=BIG)], [th(signature=BIG)]),
}


@pytest.mark.parametrize(("given", "sent"), RULES.values(), ids=RULES)
@pytest.mark.parametrize("model", [GEMINI.model, "gemini-2.5-pro"], ids=["same model", "other model"])
def test_rules_of_signatures(given, sent, model):
    """
    Rules 1 to 6 and 8: which parts of an answer are sent in full, to its own model and to another one.
    """
    transcript = conversation(prompt("Hi"), said(*given, status="requires_action"))
    transcript = succeeded(transcript, *["x"] * len(transcript.pending_tool_calls))

    assert [user("Hi"), *sent] == encode(transcript, {"model": model}, mode="full").body["input"]


def test_rule_3_through_many_turns():
    """
    Thoughts of all turns are sent, however old.
    """
    turns = [
        [prompt(f"{at}", message_id=f"u{at}"), said(th(signature=f"s{at}"), mo("Hi"), id="", message_id=f"a{at}")]
        for at in range(10)
    ]
    sent = encode(conversation(*[part for turn in turns for part in turn]), BODY).body["input"]

    assert [f"s{at}" for at in range(10)] == [each["signature"] for each in sent if each["type"] == "thought"]


def test_rule_5_a_thought_that_cannot_go():
    """
    Rule 5: without its signed thought a call is sent as text only.
    """
    transcript = succeeded(conversation(prompt("Hi"), said(th(signature=A), fc(), status="requires_action")), "x")
    sent = encode(transcript, BODY, strip=True).body["input"]

    assert {"user_input"} == {each["type"] for each in sent}


def test_rule_7_reasoning_of_others():
    """
    Rule 7: the reasoning of another provider is not sent, whatever its signature.
    """
    other = answer("Hello", origin=CLAUDE, reasoning="hm", reasoning_state={"i": 0, "signature": A})

    assert [user("Hi"), mo("Hello")] == encode(conversation(prompt("Hi"), other), BODY).body["input"]


# -- laws

ORIGINS = (
    GEMINI,
    attrs.evolve(GEMINI, model="gemini-2.5-pro"),
    CLAUDE,
)


@st.composite
def transcripts(draw):
    """
    Transcripts of whatever sessions, of whose answers many are the service's.
    """
    events = draw(st.one_of(sessions(), sessions(settled=True), broken_sessions()))
    return fold(
        [
            attrs.evolve(
                event,
                origin=draw(st.sampled_from(ORIGINS)),
                state=draw(st.sampled_from(({}, {"interaction_id": "v1"}, {"interaction_id": "v1", "new": 1}))),
            )
            if isinstance(event, StepStarted)
            else event
            for event in events
        ]
    )


@given(transcripts(), st.sampled_from(("auto", "full")), st.booleans())
def test_any_conversation_is_a_request(transcript, mode, strip):
    """
    No conversation raises, nothing is changed by it, and the same one gives the same request.
    """
    body = {"model": GEMINI.model, "tools": [{"type": "google_search"}]}
    before = copy.deepcopy(body)
    encoded = attempted(transcript, body, mode=mode, strip=strip)

    assert before == body
    assert before == {key: encoded.body[key] for key in before}
    assert encoded == encode(transcript, body, mode=mode, strip=strip)
    assert {"previous_interaction_id", "input", *before} >= encoded.body.keys()


def attempted(transcript, body, **options):
    """
    Encode; a paused answer that cannot be resumed is skipped.
    """
    try:
        return encode(transcript, body, **options)
    except LocalProtocolError as paused:
        if "was paused without a continuation token" not in str(paused):
            raise
        return reject()


@given(transcripts(), st.booleans())
def test_every_call_has_one_answer(transcript, strip):
    """
    Each call of the app that is sent is followed by its result, with its name, and by nothing else.
    """
    parts = [part for message in transcript.messages for part in getattr(message, "parts", ())]
    theirs = {wire_id(part) for part in parts if part.type == "tool" and part.provider_executed}
    sent = encode(transcript, BODY, mode="full", strip=strip).body["input"]
    calls = [(each.get("id"), each["name"]) for each in sent if each["type"] == "function_call"]
    answers = [(each.get("call_id"), each.get("name")) for each in sent if each["type"] == "function_result"]

    own_calls, own_answers = ([str(each) for each in steps if each[0] not in theirs] for steps in (calls, answers))
    assert sorted(own_calls) == sorted(own_answers)
    assert all(isinstance(each["arguments"], dict) for each in sent if each["type"] == "function_call")


@given(transcripts(), st.booleans())
def test_every_drop_names_what_was_dropped(transcript, strip):
    """
    What was left out is a message of the conversation, or a part of one, each for one reason once.
    """
    drops = encode(transcript, BODY, mode="full", strip=strip).drops
    named = [(drop.message_id, drop.part, drop.reason) for drop in drops]

    assert len(named) == len(set(named))
    for drop in drops:
        parts = getattr(transcript[drop.message_id], "parts", ())
        assert drop.part is None or 0 <= drop.part < len(parts)


@given(transcripts())
def test_no_signature_is_empty(transcript):
    """
    A thought is sent with a signature, and no step with an empty one.
    """
    sent = encode(transcript, BODY, mode="full").body["input"]

    assert all(each.get("signature", "x") for each in sent)
    assert all("signature" in each for each in sent if each["type"] == "thought")


@given(st.lists(ANY_STEP, max_size=6), st.integers(0, 3))
def test_state_goes_back_verbatim(steps, turn):
    """
    Law 9: all strings of the service, in documented fields and in others, are sent back code unit for code unit.
    """
    steps = json.loads(json.dumps(steps))
    others = [[prompt(f"{at}", message_id=f"w{at}"), said(mo("Hi"), message_id=f"b{at}")] for at in range(turn)]
    transcript = conversation(*[part for other in others for part in other], prompt("Hi"), said(*steps))
    sent = encode(transcript, BODY, mode="full").body["input"]
    expected = [each for each in steps if each["type"] != "thought" or each.get("signature")]

    assert code_units(expected) == code_units(
        [each for each in sent[2 * turn + 1 :] if each["type"] != "function_result"]
    )


@given(st.lists(ANY_STEP, max_size=6))
def test_what_was_sent_reads_the_same(steps):
    """
    The steps of a full request, read as an answer, give the same request again: where each call has its own id.
    """
    ids = [each["id"] for each in steps if "id" in each]
    assume(len(ids) == len(set(ids)))
    steps = json.loads(json.dumps(steps))
    first = encode(conversation(said(*steps)), BODY, mode="full").body["input"]
    again = fold(decode_resource({"id": "v1", "status": "completed", "model": GEMINI.model, "steps": first}, "a1"))

    assert first == encode(again, BODY, mode="full").body["input"]


def test_a_made_up_call_in_a_made_up_message():
    """
    Messages of builders are sent too: a part without state is written from its fields.
    """
    transcript = conversation(
        prompt("Hi"),
        answer(
            "Hm",
            origin=Origin(provider="google", model=GEMINI.model, dialect="gemini-interactions"),
            calls=[Call("f", {"a": 1}, call_id="c1", output={"b": 2})],
        ),
    )

    assert [user("Hi"), mo("Hm"), fc("c1", "f", {"a": 1}), result(result='{"b":2}')] == encode(transcript, BODY).body[
        "input"
    ]


def test_an_input_and_a_state_without_a_place():
    """
    One sentence is enough for both.
    """
    origin = Origin(provider="google", model=BODY["model"], dialect="gemini-interactions")
    ran = Call("search", {}, output="x", provider_executed=True, result_state={"a": "x"})
    message = fold(answer(calls=[ran], origin=origin)).last
    broken = attrs.evolve(message.parts[0], input=None, raw_input="{", status="failed", error=error("interrupted"))
    drops = encode([attrs.evolve(message, parts=(broken,))], BODY, mode="full").drops

    assert [0] == [drop.part for drop in drops if drop.reason is DropReason.UNPLACED]
