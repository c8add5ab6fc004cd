"""
Fragments of one kind that overlap on the wire, and the cases of the interleaving study (§7).

The start of B ends A at once. Text and state that still come for A become one more fragment, once the provider ends A
or the step ends; while B is open they wait for its end.
"""

import pytest

from assistant_events import (
    MediaDelta,
    MediaEnded,
    MediaStarted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    StepEnded,
    TextDelta,
    TextEnded,
    TextStarted,
    find_problems,
    fold,
)
from assistant_events.errors import LocalProtocolError
from assistant_events.recorder import Recorder
from assistant_events.testing import durable, error, origin

A = {"message_id": "a1"}
PNG = {"message_id": "a1", "media_type": "image/png"}


def parts(sink):
    """
    Return the texts of the parts of the message, with their state.
    """
    assert [] == find_problems(sink)
    return [(part.type, getattr(part, "text", None), dict(part.state)) for part in fold(sink).last.parts]


def test_the_start_of_b_ends_a(recorder):
    """
    A second text begins: the first ends with what it has, at once.
    """
    recorder.text("one", key="A", state={"item": "A"})

    assert [
        TextEnded(**A, text="one", state={"item": "A"}),
        TextStarted(**A),
        TextDelta(**A, offset=0, delta="two"),
    ] == recorder.text("two", key="B")


def test_late_text_is_collected(recorder):
    """
    Text for A while B is open causes nothing yet.
    """
    recorder.text("one", key="A")
    recorder.text("two", key="B")

    assert [] == recorder.text(" more", key="A")
    assert [] == recorder.begin("A", "text")


def test_the_stop_of_a_waits_for_b(recorder):
    """
    What came late for A follows when B has ended, with the state of its own stop.
    """
    recorder.text("one", key="A", state={"item": "A"})
    recorder.text("two", key="B")
    recorder.text(" more", key="A")

    assert [] == recorder.end_text({"item": "A", "done": 1}, key="A")
    assert [
        TextEnded(**A, text="two"),
        TextStarted(**A),
        TextEnded(**A, text=" more", state={"item": "A", "done": 1}),
    ] == recorder.end_text(key="B")


def test_two_stops_that_wait_for_c(recorder):
    """
    What came late for A and for B follows when C has ended, in the order of their stops.
    """
    for key, text in [("A", "one"), ("B", "two"), ("C", "three"), ("A", " more"), ("B", " still")]:
        recorder.text(text, key=key, state={"item": key})

    assert [] == recorder.end_text(key="B") + recorder.end_text(key="A")
    assert [
        TextEnded(**A, text="three", state={"item": "C"}),
        TextStarted(**A),
        TextEnded(**A, text=" still", state={"item": "B"}),
        TextStarted(**A),
        TextEnded(**A, text=" more", state={"item": "A"}),
    ] == recorder.end_text(key="C")


def test_the_stop_of_a_after_b(recorder):
    """
    When nothing is open what came late follows at once.
    """
    recorder.text("one", key="A", state={"item": "A"})
    recorder.text("two", key="B")
    recorder.end_text(key="B")
    recorder.text(" more", key="A")

    assert [TextStarted(**A), TextEnded(**A, text=" more", state={"item": "A"})] == recorder.end_text(key="A")


def test_a_late_state_alone(recorder):
    """
    A state that only the stop brings makes an empty fragment.
    """
    recorder.reasoning("one", key="A")
    recorder.reasoning("two", key="B")
    recorder.end_reasoning(key="B")

    assert [ReasoningStarted(**A), ReasoningEnded(**A, text="", state={"signature": "x"})] == (
        recorder.end_reasoning({"signature": "x"}, key="A")
    )


def test_a_stop_that_brings_nothing_new(recorder):
    """
    A stop without text and with the state that was known causes nothing.
    """
    recorder.reasoning("one", key="A", state={"item": "A"})
    recorder.reasoning("two", key="B")

    assert [] == recorder.end_reasoning({"item": "A"}, key="A")
    assert [ReasoningEnded(**A, text="two")] == recorder.end_reasoning(key="B")


def test_facts_of_an_item_before_it_begins_anew(recorder):
    """
    What came behind its end, state and details, is that of its next fragment.
    """
    recorder.text("one", key="A")
    recorder.end_text(key="A")
    recorder.keep("A", {"item": "A"}, details={"logprobs": [1]})
    recorder.text("two", key="A")

    assert [TextEnded(**A, text="two", state={"item": "A"}, details={"logprobs": [1]})] == recorder.end_text(key="A")


def test_the_text_of_a_late_stop_is_only_what_is_late(recorder):
    """
    Text that the stop has for late content wins over the deltas.
    """
    recorder.text("one", key="A")
    recorder.text("two", key="B")
    recorder.text("x", key="A")
    recorder.end_text(key="B")

    assert [TextStarted(**A), TextEnded(**A, text="late")] == recorder.end_text(text="late", key="A")


def test_an_item_that_ended_may_begin_anew(recorder):
    """
    After its late stop a key is free again.
    """
    recorder.text("one", key="A")
    recorder.text("two", key="B")
    recorder.end_text(key="A")
    recorder.end_text(key="B")

    assert [TextStarted(**A), TextDelta(**A, offset=0, delta="three")] == recorder.text("three", key="A")


def test_without_a_key_nothing_is_late(recorder):
    """
    A text without a key that is ended by one with a key is over.
    """
    recorder.text("one")

    assert [TextEnded(**A, text="one"), TextStarted(**A), TextDelta(**A, offset=0, delta="two")] == (
        recorder.text("two", key="B")
    )
    assert [TextEnded(**A, text="two"), TextStarted(**A), TextDelta(**A, offset=0, delta="three")] == (
        recorder.text("three")
    )


def test_half_a_pair_in_what_is_late(recorder, sink):
    """
    What is collected joins surrogate pairs like what is streamed.
    """
    recorder.text("one", key="A")
    recorder.text("two", key="B")
    recorder.text("\ud83d", key="A")
    recorder.text("\ude00\ud83d", key="A")
    recorder.finish("stop")

    assert [("text", "one", {}), ("text", "two", {}), ("text", "😀\ufffd", {})] == parts(sink)


@pytest.mark.parametrize(("end", "complete"), [("finish", True), ("fail", False)])
def test_the_end_of_the_step_brings_what_is_late(recorder, end, complete):
    """
    Late content whose item never stops follows at the end of the step; it is complete when the step is.
    """
    recorder.text("one", key="A", state={"item": "A"})
    recorder.text("two", key="B")
    recorder.text(" more", key="A")
    events = recorder.finish("stop") if end == "finish" else recorder.fail(error())

    assert [
        TextEnded(**A, text="two", complete=complete),
        TextStarted(**A),
        TextEnded(**A, text=" more", complete=complete, state={"item": "A"}),
    ] == events[:-1]


def test_what_waits_is_complete_when_the_step_fails(recorder):
    """
    An item that the provider ended is whole, though the step fails before it could follow.
    """
    recorder.text("one", key="A")
    recorder.text("two", key="B")
    recorder.text(" more", key="A")
    recorder.end_text(key="A")

    assert TextEnded(**A, text=" more") == recorder.fail(error())[2]


def test_nothing_late_is_left_without_text(recorder):
    """
    An item that ended early and got nothing more adds nothing at the end of the step.
    """
    recorder.reasoning("one", key="A", state={"item": "A"})
    recorder.reasoning("two", key="B")

    assert [ReasoningEnded(**A, text="two"), StepEnded(**A, finish_reason="stop")] == recorder.finish("stop")


class TestMedia:
    """
    Media that overlap follow the same rules, in bytes.
    """

    @pytest.fixture(autouse=True)
    def _overlap(self, recorder):
        recorder.media(b"one", "image/png", key="A")
        recorder.media(b"two", "image/png", key="B")

    def test_late_bytes_follow(self, recorder):
        """
        Late bytes wait for the end of what is open.
        """
        assert [] == recorder.media(b"more", "image/png", key="A")
        assert [] == recorder.end_media({"s": 1}, key="A")
        assert [
            MediaEnded(**PNG, data=b"two"),
            MediaStarted(**PNG),
            MediaEnded(**PNG, data=b"more", state={"s": 1}),
        ] == recorder.end_media(key="B")

    def test_the_end_of_a_leaves_b_open(self, recorder):
        """
        The stop of the one that ended early ends nothing else.
        """
        assert [] == recorder.end_media(key="A")
        assert [MediaDelta(**A, offset=3, delta=b"!")] == recorder.media(b"!", "image/png", key="B")

    def test_a_late_place(self, recorder):
        """
        Where the medium is may come late as well.
        """
        recorder.end_media(key="B")

        assert [MediaStarted(**PNG), MediaEnded(**PNG, uri="x:1")] == recorder.end_media(uri="x:1", key="A")

    def test_late_bytes_at_the_end_of_the_step(self, recorder):
        """
        Late bytes whose item never stops follow at the end of the step.
        """
        recorder.media(b"more", "image/png", key="A")

        assert [
            MediaEnded(**PNG, data=b"two"),
            MediaStarted(**PNG),
            MediaEnded(**PNG, data=b"more"),
        ] == recorder.finish("stop")[:-1]

    def test_nothing_late(self, recorder):
        """
        Without late bytes there is one fragment for each.
        """
        assert [MediaEnded(**PNG, data=b"two")] == recorder.finish("stop")[:-1]


# -- the cases of the study


def test_case_1_summary_parts_of_one_item(recorder, sink):
    """
    The next part of a reasoning begins before the last one stopped; the item's stop brings its state to the last part.
    """
    recorder.reasoning("first", key=("rs", 0))
    recorder.reasoning("second", key=("rs", 1))
    recorder.end_reasoning({"item": "rs", "encrypted": "x"}, key=("rs", 1))
    recorder.finish("stop")

    assert [("reasoning", "first", {}), ("reasoning", "second", {"item": "rs", "encrypted": "x"})] == parts(sink)


def test_case_2_two_reasoning_items(recorder, sink):
    """
    Late text and state of the first item become a third fragment.
    """
    recorder.reasoning("a", key="A", state={"item": "A"})
    recorder.reasoning("b", key="B", state={"item": "B"})
    recorder.reasoning(" late", key="A")
    recorder.end_reasoning({"item": "A", "encrypted": "x"}, key="A")
    recorder.end_reasoning(key="B")

    assert [
        ("reasoning", "a", {"item": "A"}),
        ("reasoning", "b", {"item": "B"}),
        ("reasoning", " late", {"item": "A", "encrypted": "x"}),
    ] == parts(sink)


def test_case_3_reasoning_that_stops_last(recorder, sink):
    """
    A reasoning stays open while the text runs, and ends with its state after it.
    """
    recorder.reasoning("think", key="rs")
    recorder.text("answer", key="msg")
    recorder.end_text(key="msg")
    recorder.end_reasoning({"encrypted": "x"}, key="rs")

    assert [("reasoning", "think", {"encrypted": "x"}), ("text", "answer", {})] == parts(sink)


def test_case_4_two_message_items(recorder, sink):
    """
    The second text begins before the first stopped; a late delta becomes a third fragment.
    """
    recorder.text("one", key="A")
    recorder.text("two", key="B")
    recorder.text("!", key="A")
    recorder.end_text(key="A")
    recorder.end_text(key="B")

    assert ["one", "two", "!"] == [text for _, text, _ in parts(sink)]


def test_case_5_inputs_that_alternate(recorder, sink):
    """
    The inputs of two calls do not mix.
    """
    for piece in ("{", '"a"', ":1", "}"):
        recorder.tool_input("c1", "one", piece)
        recorder.tool_input("c2", "two", piece)
    recorder.finish("tool-calls")

    assert [{"a": 1}, {"a": 1}] == [call.input for call in fold(sink).last.tool_calls]


def test_case_6_results_in_another_order(recorder, sink):
    """
    Calls are in the order of their start; results find them by id.
    """
    for number in range(5):
        recorder.tool_call(f"h{number}", "search", {}, provider_executed=True)
    for number in (3, 4, 1, 2, 0):
        recorder.result(f"h{number}", number)

    assert [(f"h{number}", number) for number in range(5)] == [
        (call.call_id, call.output[0].value) for call in fold(sink).last.tool_calls
    ]


def test_case_7_a_channel_that_alternates(recorder, sink):
    """
    Content, reasoning, content without keys are three fragments in a row.
    """
    recorder.text("a")
    recorder.reasoning("b")
    recorder.text("c")

    assert [("text", "a", {}), ("reasoning", "b", {}), ("text", "c", {})] == parts(sink)


@pytest.mark.parametrize("key", [1, None], ids=["keyed", "bare"])
def test_case_8_a_block_without_a_stop(recorder, key):
    """
    A text that was never stopped ends when the next block begins, or with the step.
    """
    recorder.text("a", key=0)

    assert TextEnded(**A, text="a") == recorder.text("b", key=key)[0]


def test_case_9_a_second_block_before_the_stop_of_the_first(recorder, sink):
    """
    A stop that comes after the next block began, with nothing new, changes nothing.
    """
    recorder.text("a", key=0)
    recorder.text("b", key=1)
    recorder.end_text(key=0)
    recorder.end_text(key=1)

    assert ["a", "b"] == [text for _, text, _ in parts(sink)]


def test_case_10_a_second_start_in_a_log():
    """
    In a log a second open text is a conflict, an error with `strict`; the recorder never writes one.
    """
    recorder = Recorder("a1")
    log = [*recorder.start(origin()), *recorder.text("a"), TextStarted(**A)]

    assert ["conflict"] == [problem.outcome for problem in find_problems(log)]
    with pytest.raises(LocalProtocolError):
        fold(log, strict=True)


def test_case_11_a_stream_that_dies(recorder):
    """
    Reasoning, text and input are cut, the call fails, the step fails.
    """
    recorder.reasoning("r", key="r")
    recorder.text("t", key="t")
    recorder.tool_input("c1", "search", "{")

    assert ["tool.input.ended", "reasoning.ended", "text.ended", "tool.failed", "step.failed"] == [
        event.type for event in recorder.close()
    ]


def test_case_12_the_log_equals_the_stream(recorder, sink):
    """
    Deltas left out or not, the message is the same.
    """
    recorder.reasoning("r", key="r")
    assert [ReasoningDelta(**A, offset=1, delta="r")] == recorder.reasoning("r", key="r")
    recorder.text("t", key="t")
    recorder.finish("stop")

    assert fold(sink) == fold(durable(sink))
