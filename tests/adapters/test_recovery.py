"""
Cases 94 to 104 of the wire reference: replays, cursors, documents that finish a stream, and long decode.
"""

import pytest

from assistant_events import AssistantMessage, Origin, UserMessage, find_problems, fold, reconcile
from assistant_events.adapters.gemini_interactions import encode
from assistant_events.testing import durable as kept

from .notation import (
    DIALECT,
    DONE,
    MODEL,
    USAGE,
    C,
    D,
    K,
    S,
    U,
    X,
    answer,
    args,
    codes,
    decoder,
    durable,
    ended,
    events,
    fc,
    interrupted,
    mo,
    signature,
    started,
    step,
    stream,
    summary,
    terminal,
    text,
    text_of,
    th,
)
from .samples import hops, numbered

FIRST = (S(0, mo()), D(0, text("P1 ")))
SECOND = (S(0, mo()), D(0, text("P2")), X(0))


def priors(found):
    return [message for message in fold(found).messages if isinstance(message, AssistantMessage)]


def assert_whole(found, body):
    assert [] == find_problems(found)
    assert fold(events(body)) == fold(found)


def test_c94_full_replay_replaces():
    """
    Part of a stream, a cut, and the whole stream give the message of the whole stream.
    """
    wire = (C(), S(0, th()), D(0, summary("t")), X(0), S(1, mo()), D(1, text("Hel")))
    body = stream(*wire, D(1, text("lo")), X(1), K(), DONE)
    made = decoder()
    before = made.feed(stream(*wire))
    made.rejoin()
    after = made.feed(body) + made.close()

    assert_whole(before + after, body)
    assert ["text.delta", "text.ended", "step.ended"] == [event.type for event in after]


def test_c95_cursor_resume():
    """
    The same decoder simply continues where a cursor resumes: inside a step, without its start.
    """
    wire = numbered(C(), S(0, th(signature="A=")), X(0), S(1, mo()), D(1, text("Hel")), D(1, text("lo")), X(1), K())
    made = decoder()
    before = made.feed(stream(*wire[:5]))

    assert "e4" == made.last_event_id
    assert_whole(before + made.feed(stream(*wire[5:])) + made.close(), stream(*wire))


def test_c96_duplicates_after_resume():
    """
    Events that were seen before, by their id, are dropped.
    """
    wire = numbered(C(), S(0, mo()), D(0, text("a")), D(0, text("b")), D(0, text("c")), X(0), K())
    body = stream(*wire[:4], *wire[2:])

    assert [started(), *text_of("abc"), ended()] == durable(body)


CODE = step("code_execution_call", id="x1", arguments={"code": "1"}, signature="B=")
PRINTED = step("code_execution_result", call_id="x1", result="1", signature="C=")
TURN = numbered(
    *(C(), S(0, th()), D(0, summary("p")), D(0, signature("A=")), X(0), S(1, CODE), X(1), S(2, PRINTED), X(2)),
    *(S(3, fc()), D(3, args('{"a":')), D(3, args("1}")), X(3), S(4, fc("c2", "g")), D(4, args("{}")), X(4)),
    *(S(5, mo()), D(5, text("Hel")), D(5, text("lo")), X(5), K("requires_action")),
)


@pytest.mark.parametrize("how", ["cursor", "replay", "another process"])
def test_c95_a_cut_anywhere_in_signed_steps(how):
    """
    Behind a cut at any event, inside the input of parallel calls too, everything comes once, with each signature.
    """
    for at in range(1, len(TURN)):
        made = decoder()
        before, rest = made.feed(stream(*TURN[:at])), TURN
        if how == "cursor":
            made.reconnect()
            rest = TURN[at:]
        elif how == "replay":
            made.rejoin()
        else:
            before = kept(before)
            made = decoder(prior=fold(before))

        assert_whole(before + made.feed(stream(*rest)) + made.close(), stream(*TURN))


STATUSES = {
    "completed": ("step.ended", "stop"),
    "incomplete": ("step.ended", "length"),
    "budget_exceeded": ("step.ended", "length"),
    "requires_action": ("step.ended", "other"),
    "requires_continuation": ("step.ended", "pause"),
    "weird": ("step.ended", "other"),
    "failed": ("step.failed", "provider"),
    "cancelled": ("step.failed", "cancelled"),
    "in_progress": ("step.failed", "interrupted"),
    "queued": ("step.failed", "interrupted"),
}


@pytest.mark.parametrize(("status", "outcome"), STATUSES.items(), ids=STATUSES.keys())
def test_c98_recover_from_a_document(status, outcome):
    """
    A document that is asked for after a cut finishes the message, whatever its status.
    """
    made = decoder(request={"background": True})
    before = made.feed(stream(C(), S(0, mo()), D(0, text("Hel"))))
    document = {"id": "v1", "model": MODEL, "status": status, "steps": [mo("Hello")], "usage": USAGE}
    after = DIALECT.decode_resource(document, "m", request={"background": True}, prior=priors(before))
    last = (before + after)[-1]

    assert [] == find_problems(before + after)
    assert outcome == (last.type, last.finish_reason if last.type == "step.ended" else last.error.kind)
    assert "Hello" == fold(before + after).last.text


def test_c98_a_document_that_holds_less():
    """
    A document that is not finished and has less removes nothing.
    """
    made = decoder()
    before = made.feed(stream(C(), S(0, mo()), D(0, text("Hello"))))
    document = {"id": "v1", "model": MODEL, "status": "in_progress", "steps": []}
    found = before + DIALECT.decode_resource(document, "m", prior=priors(before))

    assert [] == find_problems(found)
    assert ("Hello", "failed") == (fold(found).last.text, fold(found).last.status)


def test_c100_two_hops():
    """
    Each hop is a message of its own; indices begin anew, and usage is that of each.
    """
    body = stream(*hops(FIRST, SECOND))
    paused = {"interaction_id": "a", "continuation_token": "dG9rMQ=="}

    assert [
        started("a"),
        *text_of("P1 "),
        ended("pause", "requires_continuation", id="a", state=paused),
        started("b", message_id="m.2"),
        *text_of("P2", message_id="m.2"),
        ended(id="b", message_id="m.2"),
    ] == durable(body)
    assert "P1 P2" == "".join(message.text for message in fold(events(body)).messages)


def test_c100_a_result_in_the_second_hop():
    """
    It is of the call in the first one. Both are sent back as the hops came, each part with its signature.
    """
    found = events(stream(*hops([S(0, CODE), X(0)], [S(0, PRINTED), X(0), S(1, mo("P2")), X(1)])))
    first, _ = fold(found).messages

    assert ["success"] == [call.status for call in first.tool_calls]
    assert [CODE, PRINTED, mo("P2")] == encode(fold(found), {"model": MODEL}, mode="full").body["input"]


def test_c100_a_second_hop_that_is_cut():
    """
    What ends without an end is the hop that is running.
    """
    found = durable(stream(*hops(FIRST, SECOND)[:-3]))

    assert ("m.2", interrupted()) == (found[-1].message_id, found[-1].error)
    assert ("m", "pause") == (found[3].message_id, found[3].finish_reason)


def test_c100_a_second_hop_that_never_comes():
    """
    A pause is an end: nothing fails without a continuation.
    """
    assert "pause" == terminal(stream(C(), K("requires_continuation", continuation_token="t"), DONE)).finish_reason


@pytest.mark.parametrize("stray", [S(0, mo("b")), D(0, text("b")), X(0), K("failed"), U(), {"event_type": "error"}])
def test_c100_what_comes_between_two_hops(stray):
    """
    Between two hops there is nothing to add to.
    """
    wire = hops([S(0, mo()), D(0, text("P1 "))], SECOND)

    assert durable(stream(*wire)) == durable(stream(*wire[:4], stray, *wire[4:]))


def test_c100_the_second_hop_by_itself():
    """
    A hop may be replayed alone: its run identifies the message.
    """
    wire = hops(FIRST, SECOND)
    before = decoder().feed(stream(*wire[:6]))
    second = decoder(prior=priors(before))
    after = second.feed(stream(*wire[4:])) + second.close()

    assert_whole(before + after, stream(*wire))
    assert {"m.2"} == {event.message_id for event in after}


@pytest.mark.parametrize("start", [0, 4], ids=["both hops", "second hop"])
@pytest.mark.parametrize("cut", [4, 5, 6])
def test_c100_rejoin_in_the_second_hop(cut, start):
    """
    In the same decoder the replay may begin at either hop.
    """
    wire = hops(FIRST, SECOND)
    made = decoder()
    before = made.feed(stream(*wire[:cut]))
    made.rejoin()

    assert_whole(before + made.feed(stream(*wire[start:])) + made.close(), stream(*wire))


def test_c100_hops_without_ids():
    """
    What is not stored has no ids; a rejoin begins with the hop that comes.
    """
    wire = [C(""), *FIRST, K("requires_continuation", id=""), C(""), *SECOND, K(id="")]
    body = stream(*wire)
    made = decoder()
    before = made.feed(stream(*wire[:4]))
    made.rejoin()

    assert ["m", "m.2"] == [message.id for message in fold(events(body)).messages]
    assert_whole(before + made.feed(body) + made.close(), body)


def test_c102_requires_continuation_without_a_token():
    """
    The step pauses; the state has the token to continue with, if there is one.
    """
    last = terminal(stream(C(), K("requires_continuation")))

    assert ("pause", "requires_continuation") == (last.finish_reason, last.raw_finish_reason)
    assert {"interaction_id": "v1"} == last.state


def test_c102_the_same_token_again():
    """
    A token that comes back unchanged is kept as it is; not to loop is up to the caller.
    """
    wire = [K("requires_continuation", id=one, continuation_token="t") for one in ("a", "b")]
    found = durable(stream(C("a"), wire[0], C("b"), wire[1]))

    assert ["t", "t"] == [event.state["continuation_token"] for event in found if event.type == "step.ended"]


def test_c103_checkpoint_then_drop():
    """
    A token that came on the way is in the state of the step that was cut.
    """
    body = stream(C(), U(continuation_token="t1"), S(0, mo()), D(0, text("a")), U(continuation_token="t2"))

    assert {"interaction_id": "v1", "continuation_token": "t2"} == terminal(body).state


def test_c103_the_end_voids_checkpoints():
    """
    The token of the end counts; without one earlier ones are void.
    """
    assert {"interaction_id": "v1"} == terminal(stream(C(), U(continuation_token="t1"), K("incomplete"))).state


def test_c104_background_long_decode():
    """
    A server that joins the hops itself gives one interaction with more outputs.
    """
    wire = [S(0, mo("P1 ")), X(0), S(1, th()), D(1, signature("A=")), X(1), S(2, mo("P2")), X(2)]
    found = events(answer(*wire))

    assert "P1 P2" == fold(found).last.text
    assert ["m"] == [message.id for message in fold(found).messages]


def test_a_replay_is_known_by_its_first_step():
    """
    A created that comes again in the middle, with no step after it, begins nothing.
    """
    body = stream(C(), S(0, mo()), D(0, text("a")), C(), D(0, text("b")), X(0), K())

    assert text_of("ab") == durable(body)[1:-1]


def test_a_second_step_after_a_second_created_is_no_replay():
    """
    Neither does one that is followed by another step than the first.
    """
    body = stream(C(), S(0, mo("a")), X(0), C(), S(1, mo("b")), X(1), K())

    assert [*text_of("a"), *text_of("b", 1)] == durable(body)[1:-1]


def test_a_replay_behind_the_echo_of_the_input():
    """
    The steps of a replay may have other indexes than those of the stream: the input is the first of its steps.
    """
    echo = [S(0, {"type": "user_input"}), D(0, text("Hi")), X(0)]
    body = stream(C(), S(0, mo()), D(0, text("He")), C(), *echo, S(1, mo()), D(1, text("Hello")), X(1), K())
    found = events(body)

    assert ["Hello"] == [part.text for part in fold(found, strict=True).last.parts]
    assert "step.restarted" not in [event.type for event in found]


def test_a_replay_with_ids_behind_the_echo_of_the_input():
    """
    Its first step has an id that came before, and begins the replay all the same.
    """
    wire = [C(), S(0, mo()), D(0, text("He")), C(), S(0, {"type": "user_input"}), D(0, text("Hi")), X(0)]
    wire += [S(1, mo()), D(1, text("Hello")), X(1), K()]
    body = stream(*[{**event, "event_id": ident} for event, ident in zip(wire, "1231abc2345", strict=True)])

    assert ["Hello"] == [part.text for part in fold(events(body), strict=True).last.parts]


def test_a_message_that_was_closed_starts_over():
    """
    On a message that was closed by a cut nothing comes until the replay has passed it, then the whole.
    """
    wire = (C(), S(0, mo()), D(0, text("Hel")), D(0, text("lo")), X(0), K())
    made = decoder()
    before = made.feed(stream(*wire[:3])) + made.close()
    second = decoder(prior=priors(kept(before)))

    assert [] == second.feed(stream(*wire[:2]))
    after = second.feed(stream(*wire[2:])) + second.close()
    assert "step.restarted" == after[0].type
    assert_whole(before + after, stream(*wire))


def test_a_run_that_several_hops_have():
    """
    The replay of an interaction that came again behind another one begins at the first of its messages.
    """
    wire = [C("v1"), S(0, mo("a")), C("v2"), S(0, mo("b")), C("v1"), S(0, mo("c")), X(0), K("v1")]
    made = decoder()
    before = made.feed(stream(*wire[:6])) + made.close()
    second = decoder(prior=priors(before))
    found = before + second.feed(stream(*wire)) + second.close()

    assert [] == find_problems(found)
    assert ["a", "b", "c"] == [message.text for message in fold(found).messages]
    assert [] == reconcile(fold(found))


def test_a_stream_cut_inside_its_first_frame_learns_its_model_from_the_replay():
    """
    A message that failed before its model was known has origin, run and state of the replay, and can be chained.
    """
    wire = stream(C(), S(0, mo("Hel")), X(0), K())
    made = decoder()
    before = made.feed(wire[:20]) + made.close()
    second = decoder(prior=priors(before))
    message = fold(before + second.feed(wire) + second.close())["m"]
    chained = encode([message, UserMessage(id="u2", content="And?")], {"model": MODEL}, mode="chained")

    assert Origin(provider="google", model=MODEL, dialect="gemini-interactions", served_model=MODEL) == message.origin
    assert "v1" == chained.body["previous_interaction_id"]


def test_codes_of_a_clean_replay():
    """
    A replay is nothing to note.
    """
    body = stream(C(), S(0, mo()), D(0, text("a")), C(), S(0, mo()), D(0, text("a")), X(0), K())

    assert [] == codes(body)
