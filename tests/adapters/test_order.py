"""
Cases 42 to 59 of the wire reference: overlap, gaps, repetition; and what else a stream may do to its order.
"""

import attrs
import pytest

from assistant_events.adapters.gemini_interactions.client import GeminiTrackingDecoder
from assistant_events.reducer import fold
from assistant_events.values import thaw

from .notation import (
    DONE,
    MODEL,
    C,
    D,
    K,
    S,
    X,
    answer,
    args,
    call_of,
    codes,
    delta,
    durable,
    ended,
    events,
    fc,
    inner,
    message,
    mo,
    notes,
    opaque,
    reasoning_of,
    signature,
    started,
    step,
    stream,
    summary,
    text,
    text_of,
    th,
)

T1, T2 = summary("t1"), summary("t2")


def test_c42_overlapped_thought_and_text():
    """
    One reasoning and one text may be open at once; each ends with its own step.
    """
    body = answer(
        *(S(0, th()), S(1, mo()), D(1, text("A")), D(0, T1), D(1, text("B")), D(0, T2)),
        *(X(1), X(0)),
    )
    [reasoning_started, reasoning_ended] = reasoning_of("t1t2", summary=[T1["content"], T2["content"]])
    [text_started, text_ended] = text_of("AB", 1)

    assert [reasoning_started, text_started, text_ended, reasoning_ended] == inner(body)


def test_c42_overlap_is_live():
    """
    Nothing is held back while two fragments are open.
    """
    body = stream(C(), S(0, th()), S(1, mo()), D(1, text("A")), D(0, T1))

    assert ["reasoning.started", "text.started", "text.delta", "reasoning.delta"] == [
        event.type for event in events(body)[1:5]
    ]


def test_c42_two_texts_overlap():
    """
    The start of a second text ends the first; what comes late for it is one more part of the same step.
    """
    body = answer(
        *(S(0, mo()), S(1, mo()), D(0, text("a")), D(1, text("b")), D(0, text("A")), D(1, text("B"))),
        *(X(0), X(1)),
    )

    assert [*text_of("a"), *text_of("bB", 1), *text_of("A")] == inner(body)


def test_c43_missing_stop_of_a_thought():
    """
    A thought without a stop ends with the interaction; its signature is kept.
    """
    body = answer(S(0, th()), D(0, summary("t")), D(0, signature("A=")), S(1, mo()), D(1, text("x")), X(1))
    [reasoning_started, reasoning_ended] = reasoning_of("t", signature="A=")

    assert [reasoning_started, *text_of("x", 1), reasoning_ended] == inner(body)


def test_c44_all_stops_missing():
    """
    Steps without stops end with the interaction, in the order of their start.
    """
    body = answer(S(0, th()), D(0, summary("t")), S(1, mo()), D(1, text("x")))
    [reasoning_started, reasoning_ended] = reasoning_of("t")
    [text_started, text_ended] = text_of("x", 1)

    assert [reasoning_started, text_started, reasoning_ended, text_ended] == inner(body)


def test_c44_sources_without_a_stop():
    """
    A text ends with its sources where the next one begins, also with a thought between them.
    """
    one, two = ({"type": "url_citation", "url": f"https://{name}.x/"} for name in "ab")
    first, second = (S(0, mo()), D(0, text("a")), D(0, notes(one))), (S(2, mo()), D(2, text("b")), D(2, notes(two)))
    for between in ((), (S(1, th()), D(1, signature("A=")))):
        texts = [part for part in message(answer(*first, *between, *second)).parts if part.type == "text"]

        assert [("a", [one["url"]]), ("b", [two["url"]])] == [
            (part.text, [each.url for each in part.citations]) for part in texts
        ]


def test_c44_summaries_without_a_stop():
    """
    A thought ends with all items of its summary where the next one begins.
    """
    body = answer(S(0, th()), D(0, T1), D(0, T2), S(1, th()), D(1, T1))

    assert [*reasoning_of("t1t2", summary=[T1["content"], T2["content"]]), *reasoning_of("t1", 1)] == inner(body)


def test_c44_places_without_a_stop():
    """
    A step of an unknown type is before the step that follows; a result is where it ends, for its signature may follow.
    """
    call = delta("google_search_call", arguments={"queries": ["q"]})
    found = delta("google_search_result", result=[{"url": "https://a.x/"}])
    body = answer(
        *(S(0, step("hologram")), S(1, step("google_search_call", id="s1")), D(1, call)),
        *(S(2, step("google_search_result", call_id="s1")), D(2, found), S(3, mo()), D(3, text("x"))),
    )
    unknown, searched, answered = message(body).parts

    assert ("opaque", "tool", "text") == (unknown.type, searched.type, answered.type)
    assert [0, 1, 3, 2] == [
        state["i"] for state in (unknown.state, searched.state, searched.result_state, answered.state)
    ]


def test_c44_a_signature_behind_the_next_step():
    """
    Steps go by their index: a result whose signature comes behind the start of the next one has it.
    """
    call = delta("google_search_call", arguments={"queries": ["q"]})
    found = delta("google_search_result", result=[{"url": "https://a.x/"}])
    body = answer(
        *(S(0, step("google_search_call", id="s1")), D(0, call), X(0)),
        *(
            S(1, step("google_search_result", call_id="s1")),
            D(1, found),
            S(2, mo()),
            D(1, delta("google_search_result", signature="A=")),
        ),
    )
    [searched, *_] = message(body).parts

    assert "A=" == searched.result_state["signature"]


def test_c44_thoughts_by_turns():
    """
    Two thoughts whose pieces come by turns are a few parts, and not one for each piece.
    """
    pieces = [D(at % 2, summary(f"{at} ")) for at in range(80)]
    body = answer(S(0, th()), S(1, th()), *pieces)

    assert len(inner(body)) <= 10
    assert {f"{at} " for at in range(80)} == {f"{word} " for part in message(body).parts for word in part.text.split()}


def test_c45_delta_before_start():
    """
    A delta opens its step when the start has not come; the start adds nothing then.
    """
    assert text_of("ab") == inner(answer(D(0, text("a")), S(0, mo()), D(0, text("b")), X(0)))


def test_c45_thought_before_start():
    """
    A thought may be implied as well, by its signature.
    """
    assert reasoning_of("", signature="A=") == inner(answer(D(0, signature("A=")), S(0, th()), X(0)))


def test_c46_arguments_before_start():
    """
    Arguments wait for the start, which names their call.
    """
    start = step("function_call", id="c1", name="f")

    assert call_of("c1", '{"a":1}') == inner(answer(D(0, args('{"a":1}')), S(0, start), X(0)))


def test_c46_arguments_without_start():
    """
    Arguments of a call that never began are kept raw.
    """
    assert [opaque(0, type="function_call", id=None, arguments='{"a":1}')] == inner(answer(D(0, args('{"a":1}'))))


def test_c47_stop_without_start():
    """
    A stop of nothing is nothing.
    """
    assert [] == inner(answer(X(5)))


def test_c48_duplicate_start():
    """
    A second start of the same item is the first once more.
    """
    assert text_of("ab") == inner(answer(S(0, mo()), D(0, text("a")), S(0, mo()), D(0, text("b")), X(0)))


def test_c48_start_of_another_item():
    """
    A start of another item under an old index ends the item before.
    """
    assert [*text_of("a"), *reasoning_of("t", 1)] == inner(
        answer(S(0, mo()), D(0, text("a")), S(0, th()), D(0, summary("t")), X(0))
    )
    assert [*call_of("c1", "{}"), *call_of("c2", "{}", i=1)] == inner(answer(S(0, fc("c1")), S(0, fc("c2")), X(0)))


def test_c48_start_of_the_same_call():
    """
    A start with the same id is the same call, one with another `call_id` another result.
    """
    assert call_of("c1", '{"a":1}') == inner(answer(S(0, fc("c1")), S(0, fc("c1")), D(0, args('{"a":1}')), X(0)))
    results = [step("google_search_result", call_id=one, result=[]) for one in ("x", "x", "y")]
    body = answer(*[S(0, result) for result in results], X(0))

    assert ["x", "y"] == [call.call_id for call in message(body).tool_calls]


def test_c49_double_stop():
    """
    A step ends once.
    """
    assert text_of("a") == inner(answer(S(0, mo()), D(0, text("a")), X(0), X(0)))


def test_c50_late_signature_after_stop():
    """
    A signature that comes too late is one more reasoning of the same step, without text.
    """
    body = answer(S(0, th()), D(0, summary("t")), X(0), D(0, signature("A=")))

    assert [*reasoning_of("t"), *reasoning_of("", signature="A=")] == inner(body)


def test_a_signature_again_after_stop():
    """
    One that the thought has already makes no other reasoning.
    """
    body = answer(S(0, th()), D(0, summary("t")), D(0, signature("A=")), X(0), D(0, signature("A=")))

    assert reasoning_of("t", signature="A=") == inner(body)


def test_c50_late_summary_after_stop():
    """
    So is a summary; with the items that make one of what came before, without the signature that is there.
    """
    body = answer(S(0, th()), D(0, summary("t")), D(0, signature("A=")), X(0), D(0, summary("u")))
    both = [summary("t")["content"], summary("u")["content"]]

    assert [*reasoning_of("t", signature="A="), *reasoning_of("u", summary=both)] == inner(body)


def test_c50_late_text_after_stop():
    """
    Text that comes after its stop is one more text of the same step.
    """
    body = answer(S(0, mo()), D(0, text("a")), X(0), D(0, text("b")))

    assert [*text_of("a"), *text_of("b")] == inner(body)


def test_c50_late_annotations_after_stop():
    """
    Sources that come after the text has ended are kept as a text without words.
    """
    one = {"type": "url_citation", "url": "https://e.x/"}
    body = answer(S(0, mo()), D(0, text("a")), X(0), D(0, notes(one)))

    assert {"i": 0, "annotations": [one]} == inner(body)[-1].state
    assert ["a", ""] == [part.text for part in message(body).parts]


def test_sources_of_a_text_that_is_cut():
    """
    They are kept with the text, whose end did not come.
    """
    one = {"type": "url_citation", "url": "https://e.x/"}
    [part] = message(stream(C(), S(0, mo()), D(0, text("a")), D(0, notes(one)))).parts

    assert (["https://e.x/"], {"i": 0, "annotations": [one]}) == (
        [each.url for each in part.citations],
        thaw(part.state),
    )


def test_c51_index_gap_and_descending():
    """
    Steps are in the order in which they were opened; the index only groups.
    """
    body = answer(*[event for at in (0, 3, 1) for event in (S(at, mo()), D(at, text(str(at))), X(at))])

    assert [*text_of("0"), *text_of("3", 1), *text_of("1", 2)] == inner(body)


def test_c51_steps_that_give_nothing_are_not_counted():
    """
    Steps are counted when they first give something; a step without content, and one of the app, never do.
    """
    body = answer(S(0, mo()), X(0), S(1, th()), X(1), S(2, mo()), S(3, th()), D(2, text("a")), X(2), X(3))

    assert [*reasoning_of(""), *reasoning_of("", 1)[:1], *text_of("a", 2), *reasoning_of("", 1)[1:]] == inner(body)


def test_c52_empty_delta_object():
    """
    An empty delta is nothing, and not worth a note.
    """
    body = answer(S(0, mo()), D(0, {}), D(0, text("a")), X(0))

    assert text_of("a") == inner(body)
    assert [] == codes(body)


def test_c53_unknown_event():
    """
    An event that is not known is left out; the rest is as it was.
    """
    body = answer({"event_type": "step.paused"}, S(0, mo()), D(0, text("a")), X(0))

    assert text_of("a") == inner(body)
    assert ["unknown-event"] == codes(body)


def test_c53_unknown_delta():
    """
    A delta that is not known is kept with its step.
    """
    odd = delta("sparkle", level=3)
    body = answer(S(0, mo()), D(0, text("a")), D(0, odd), X(0))

    assert text_of("a", deltas=[odd]) == inner(body)
    assert ["unknown-delta"] == codes(body)


def test_c53_unknown_delta_of_a_thought():
    """
    So it is with a thought.
    """
    odd = delta("sparkle", level=3)

    assert reasoning_of("", deltas=[odd]) == inner(answer(S(0, th()), D(0, odd), X(0)))
    assert [odd] == thaw(message(answer(S(0, mo()), D(0, odd), X(0))).parts[0].state["deltas"])


def test_c53_delta_without_a_type():
    """
    A delta with only a text is text (the manual has one); with anything else it is left out and noted.
    """
    assert text_of("a") == inner(answer(S(0, mo()), D(0, {"text": "a"}), X(0)))
    assert ["unknown-delta"] == codes(answer(S(0, mo()), D(0, {"level": 3}), X(0)))


def test_c54_no_created_event():
    """
    The step begins with what comes first; the id of the end is the run's, and its model a detail.
    """
    body = stream(S(0, mo()), D(0, text("a")), X(0), K(model="gemini-x"), DONE)
    end = attrs.evolve(ended(), details={"served_model": "gemini-x"})

    assert [started("", None, served=None), *text_of("a"), end] == durable(body)


def test_c54_created_after_the_first_step():
    """
    A late created fills in the id, its model is a detail, and it begins nothing.
    """
    body = stream(S(0, mo()), C(), D(0, text("a")), X(0), K(id=""), DONE)
    end = attrs.evolve(ended(), details={"served_model": MODEL})

    assert [started("", None, served=None), *text_of("a"), end] == durable(body)


def test_c54_only_completed():
    """
    An end alone is an empty answer.
    """
    assert [started(served=MODEL_OF_END, model=MODEL_OF_END), ended("stop", "completed")] == durable(
        stream(K(model=MODEL_OF_END), DONE)
    )


MODEL_OF_END = "gemini-y"


def test_c55_two_created_with_the_same_id():
    """
    The second adds nothing.
    """
    assert [started(), *text_of("a"), ended()] == durable(
        stream(C(), C(), S(0, mo()), D(0, text("a")), X(0), K(), DONE)
    )


def test_c55_created_without_an_id_after_one_with():
    """
    A created without an id is of the same interaction.
    """
    assert [started(), *text_of("a"), ended()] == durable(
        stream(C(), C(""), S(0, mo()), D(0, text("a")), X(0), K(), DONE)
    )


def test_c56_completed_twice():
    """
    The first end counts.
    """
    assert [started(), ended()] == durable(stream(C(), K(), K("failed"), DONE))


def test_c57_events_after_completed():
    """
    Nothing follows the end.
    """
    assert [started(), ended()] == durable(stream(C(), K(), S(0, mo()), D(0, text("zzz")), X(0)))


def test_c58_steps_in_completed():
    """
    Steps that the end repeats are not taken again.
    """
    body = stream(C(), S(0, mo()), D(0, text("a")), X(0), K(steps=[mo("a")]), DONE)

    assert text_of("a") == inner(body)


def test_c58_steps_only_in_completed():
    """
    Steps that come with the end alone are the answer.
    """
    assert [*reasoning_of("t"), *text_of("a", 1)] == inner(stream(C(), K(steps=[th(summary="t"), mo("a")]), DONE))


def test_c59_type_instead_of_event_type():
    """
    Pages of the manual name events by `type`.
    """
    plain = [C(), S(0, mo()), D(0, text("a")), X(0), K()]
    named = [{("type" if key == "event_type" else key): value for key, value in event.items()} for event in plain]

    assert durable(stream(*plain)) == durable(b"".join(bare(event) for event in named))


def test_c59_name_beside_the_document():
    """
    The event line names what the document does not.
    """
    plain = [C(), S(0, mo()), D(0, text("a")), X(0), K()]
    body = b"".join(
        f"event: {event['event_type']}\n".encode()
        + bare({key: value for key, value in event.items() if key != "event_type"})
        for event in plain
    )

    assert durable(stream(*plain)) == durable(body)


def bare(event):
    return b"data: " + stream(event | {"event_type": "-"}, named=False)[6:].replace(b',"event_type":"-"', b"")


def test_a_missing_index_means_the_open_step():
    """
    Without an index a delta and a stop belong to the step that is open, and a start is the next step.
    """
    events = [S(0, mo()), D(0, text("a")), X(0), S(1, mo()), D(1, text("b")), X(1)]
    body = answer(*[{key: value for key, value in event.items() if key != "index"} for event in events])

    assert [*text_of("a"), *text_of("b", 1)] == inner(body)
    assert {"no-index"} == {*codes(body)}


def test_a_missing_index_behind_a_step_inside_of_another():
    """
    A delta belongs to the step that is open then: the outer one.
    """
    bare = {key: value for key, value in D(0, text(" b")).items() if key != "index"}
    found = message(answer(S(0, mo()), D(0, text("a")), S(1, th()), X(1), bare, X(0)))

    assert ["a b"] == [part.text for part in found.parts if part.type == "text"]


def test_a_missing_index_without_an_open_step():
    """
    A delta opens a step of its own then; a stop is nothing.
    """
    events = [X(0), D(0, text("a")), X(0), X(0), D(0, text("b"))]
    body = answer(*[{key: value for key, value in event.items() if key != "index"} for event in events])

    assert [*text_of("a"), *text_of("b", 1)] == inner(body)


@pytest.mark.parametrize("place", [{}, {"index": 0}], ids=["without an index", "at one index"])
def test_deltas_of_several_types_without_a_start(place):
    """
    A delta of another type begins a step: no text and no call is kept raw with what is before it.
    """
    call = delta("function_call", id="c1", name="f", arguments={"x": 1})
    deltas = [summary("p"), signature("A="), text("He"), text("llo"), call]
    found = message(stream(C(), *[{"event_type": "step.delta", "delta": each, **place} for each in deltas], K()))
    thought, said, called = found.parts

    assert ("p", "A=", "Hello", {"x": 1}) == (thought.text, thought.state["signature"], said.text, called.arguments)
    assert all("deltas" not in part.state for part in found.parts)


def test_a_text_behind_a_call_without_an_index():
    """
    It is text, and no unknown delta of the call.
    """
    call = delta("function_call", id="c1", name="f", arguments={"x": 1})
    found = message(stream(C(), *[{"event_type": "content.delta", "delta": each} for each in (call, text("a"))], K()))

    assert ({"x": 1}, "a") == (found.parts[0].arguments, found.parts[1].text)


def test_an_index_that_is_no_integer():
    """
    It counts as missing; a float without a fraction is an integer.
    """
    for index in ("0", None, [0], True, 0.5):
        assert text_of("a") == inner(answer(S(index, mo()), D(index, text("a")), X(index)))
    assert text_of("ab") == inner(answer(S(0.0, mo()), D(0, text("a")), D(0.0, text("b")), X(0)))


def test_a_negative_or_huge_index():
    """
    Indices only group, so any integer does.
    """
    for index in (-1, 10**30):
        assert text_of("a") == inner(answer(S(index, mo()), D(index, text("a")), X(index)))


def test_the_echo_of_the_input_is_left_out():
    """
    Replays may have the input of the app; it is in the transcript already.
    """
    body = answer(
        S(0, step("user_input", content=[{"type": "text", "text": "hi"}])),
        D(0, text("!")),
        X(0),
        S(1, mo()),
        D(1, text("a")),
        X(1),
    )

    assert text_of("a") == inner(body)


def test_another_id_without_an_end_is_another_answer():
    """
    When a second interaction begins before the first has ended, the first has failed.
    """
    body = stream(C("a"), S(0, mo()), D(0, text("x")), C("b"), S(0, mo()), D(0, text("y")), X(0), K(id="b"))
    found = durable(body)

    assert [started("a"), *text_of("x", complete=False)] == found[:3]
    assert ("step.failed", "interrupted", "m") == (found[3].type, found[3].error.kind, found[3].message_id)
    assert [
        started("b", message_id="m.2"),
        *text_of("y", message_id="m.2"),
        ended(id="b", message_id="m.2"),
    ] == found[4:]
    assert ["id-changed"] == codes(body)

    decoder = GeminiTrackingDecoder("m")
    assert "y" == fold(decoder.feed(body) + decoder.close())["m.2"].text


def test_an_index_without_end_learned_before():
    """
    A huge index is not kept as a number, even where deltas of other steps came before.
    """
    huge = b'{"event_type":"step.delta","index":' + b"9" * 5000 + b',"delta":{"type":"text","text":"b"}}'
    body = stream(C(), S(0, mo()), D(0, text("a")), D(0, text("a")), X(0)) + b"data: " + huge + b"\n\n" + stream(K())

    assert [*text_of("aa"), *text_of("b", 1)] == durable(body)[1:-1]


def test_an_unknown_delta_before_the_start():
    """
    It opens a step that is kept raw, which a start of an unknown type completes.
    """
    odd = delta("dream_piece", x=1)
    found = inner(answer(D(0, odd), S(0, step("dream", plot=1)), X(0)))

    assert [opaque(0, step={"type": "dream", "plot": 1}, deltas=[odd])] == found


def test_an_unknown_delta_before_a_known_start():
    """
    A start that is known begins a step of its own: nothing of it is hidden.
    """
    odd = delta("dream_piece", x=1)
    found = inner(answer(D(0, odd), S(0, mo()), D(0, text("a")), X(0)))

    assert [opaque(0, step={"type": "dream_piece"}, deltas=[odd]), *text_of("a", 1)] == found


def test_marks_of_third_parties():
    """
    Events that only mark an end have no effect.
    """
    body = answer(S(0, mo("a")), X(0), {"event_type": "finish"}, {"event_type": "done"})

    assert text_of("a") == inner(body)
    assert [] == codes(body)
