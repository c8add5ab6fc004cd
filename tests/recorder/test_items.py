"""
Items by key: begin, keep, end, results that wait for their call, and the numbers of items.
"""

import pytest

from assistant_events.events import (
    OpaqueReceived,
    ReasoningEnded,
    ReasoningStarted,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolSuccess,
)
from assistant_events.recorder import Recorder
from assistant_events.testing import error, origin
from assistant_events.values import Citation, ErrorInfo

A = {"message_id": "a1"}
C = {"message_id": "a1", "call_id": "c1"}
SOURCE = Citation(url="https://x.test")


ENDS = {
    "end": (lambda recorder: recorder.end("t"), True),
    "another text": (lambda recorder: recorder.text("b", key="u"), True),
    "finish": (lambda recorder: recorder.finish("stop"), True),
    "fail": (lambda recorder: recorder.fail(error()), False),
    "close": (lambda recorder: recorder.close(), False),
}


@pytest.mark.parametrize(("end", "complete"), ENDS.values(), ids=ENDS)
def test_facts_survive_every_end(recorder, end, complete):
    """
    State, citations and details that were kept are those of the text, however it ends.
    """
    recorder.text("Hi", key="t", state={"item": 1})
    recorder.keep("t", {"signature": "s"}, [SOURCE], {"words": [1]})

    expected = TextEnded(
        **A,
        text="Hi",
        complete=complete,
        citations=[SOURCE],
        details={"words": [1]},
        state={"item": 1, "signature": "s"},
    )
    assert expected == end(recorder)[0]


def test_facts_are_merged(recorder):
    """
    Objects are merged, arrays are joined, other values are replaced; the state of the end wins.
    """
    recorder.begin("t", "reasoning")
    recorder.keep("t", {"extra": {"a": 1}, "deltas": [1], "s": "old", "e": 1})
    recorder.keep("t", {"extra": {"b": 2}, "deltas": [2, 3], "s": "new"})

    assert {"extra": {"a": 1, "b": 2}, "deltas": [1, 2, 3], "s": "new", "e": 2} == (
        recorder.end_reasoning({"e": 2}, key="t")[0].state
    )


def test_facts_of_the_open_fragment_without_a_key(recorder):
    """
    A wire without items keeps facts for what is open; a change of channel ends it with them.
    """
    recorder.reasoning("Hm")
    recorder.keep(None, {"signature": "s"})

    assert ReasoningEnded(**A, text="Hm", state={"signature": "s"}) == recorder.text("Hi")[0]


def test_facts_after_the_end(recorder):
    """
    Facts that come after the end of an item are an empty fragment, with the state of the item.
    """
    recorder.reasoning("Hm", key="r", state={"item": 1})
    recorder.end("r")
    recorder.keep("r", {"signature": "s"})

    assert [ReasoningStarted(**A), ReasoningEnded(**A, text="", state={"item": 1, "signature": "s"})] == (
        recorder.end("r")
    )
    assert [] == recorder.end("r")


def test_sources_after_the_end(recorder):
    """
    Of a text they are so, too, without any state.
    """
    recorder.text("Hi", key="t")
    recorder.end("t")
    recorder.keep("t", citations=[SOURCE])

    assert [TextStarted(**A), TextEnded(**A, text="", citations=[SOURCE])] == recorder.end("t")


def test_the_end_of_an_unknown_item(recorder):
    """
    An end without a start has no effect.
    """
    assert [] == recorder.end("x")


def test_an_opaque_item_that_grows(recorder):
    """
    An opaque item is recorded at its end, with everything that was kept for it.
    """
    assert [] == recorder.begin("o", "opaque", {"step": {"type": "dream"}, "deltas": [1]})
    recorder.keep("o", {"deltas": [2]})
    recorder.keep("o", {"deltas": [3]})

    assert [OpaqueReceived(**A, state={"step": {"type": "dream"}, "deltas": [1, 2, 3]})] == recorder.end("o")


def test_an_opaque_item_that_begins_again(recorder):
    """
    What is known of it stays; a restart voids it.
    """
    recorder.begin("o", "opaque", {"a": 1})
    recorder.begin("o", "opaque", {"b": 2})
    assert [OpaqueReceived(**A, state={"a": 1, "b": 2})] == recorder.end("o")

    recorder.begin("p", "opaque", {"a": 1})
    recorder.restart("the stream was cut")
    assert ["step.ended"] == [event.type for event in recorder.finish("stop")]


@pytest.mark.parametrize("end", ["finish", "close"])
def test_an_opaque_item_without_an_end(recorder, end):
    """
    The end of the step records it.
    """
    recorder.begin("o", "opaque", {"a": 1})
    events = recorder.finish("stop") if end == "finish" else recorder.close()

    assert OpaqueReceived(**A, state={"a": 1}) == events[0]


# -- calls


def test_an_input_waits_for_the_name(recorder):
    """
    Nothing is emitted until the name is known; the pieces before it are one delta then.
    """
    assert [] == recorder.tool_input(None, None, '{"a"', key=0)
    assert [] == recorder.tool_input("c1", None, ":", key=0)
    recorder.keep(0, {"signature": "s"})

    assert [
        ToolInputStarted(**C, name="search"),
        ToolInputDelta(**C, offset=0, delta='{"a":'),
        ToolInputDelta(**C, offset=5, delta="1}"),
    ] == recorder.tool_input(None, "search", "1}", key=0)
    assert [
        ToolInputEnded(**C, text='{"a":1}', state={"signature": "s"}),
        ToolCalled(**C, name="search", input={"a": 1}),
    ] == recorder.end(0)


def test_a_call_of_the_provider_waits_for_the_name(recorder):
    """
    That the provider runs it may be known with the name, or before.
    """
    for key, first in enumerate([False, True]):
        recorder.tool_input(None, None, key=key, provider_executed=first)
        [begun] = recorder.tool_input(None, "search", key=key, provider_executed=not first)

        assert begun.provider_executed


def test_half_of_a_pair_in_an_input(recorder):
    """
    It stays in its place, also where its second half does not come.
    """
    for delta in ('{"a":"\ud83d', "x", '"}'):
        recorder.tool_input("c1", "search", delta)

    assert {"a": "\ufffdx"} == recorder.end_tool_input("c1")[-1].input


def test_an_input_whose_end_waits_ends_before_another(recorder):
    """
    Both were open: the one without a text waits for the next event.
    """
    recorder.tool_input("c1", "search")
    recorder.tool_input("c2", "search", "{}")

    assert [] == recorder.end_tool_input("c1")
    assert ["c1", "c1", "c2", "c2"] == [event.call_id for event in recorder.end_tool_input("c2")]


def test_a_call_without_key_and_name_is_kept_once(recorder):
    """
    Its own end settles it, so the end of the step does not.
    """
    recorder.tool_input("c1", None, "{}")
    events = recorder.end_tool_input("c1") + recorder.finish("stop")

    assert ["opaque.received", "step.ended"] == [event.type for event in events]


@pytest.mark.parametrize(
    ("arguments", "raw"),
    [({"delta": '{"a":1}'}, '{"a":1}'), ({"input": {"a": 1}}, {"a": 1}), ({}, None)],
    ids=["text", "object", "nothing"],
)
@pytest.mark.parametrize("end", ["item", "step"])
def test_a_call_without_a_name_is_kept_raw(arguments, raw, end):
    """
    A call that never gets a name cannot be run; it may have to go back.
    """
    notes = []
    recorder = Recorder("a1", note=lambda code, message: notes.append(code))
    recorder.start(origin())
    recorder.tool_input("c1", key=0, state={"type": "call"}, **arguments)
    events = recorder.end(0) if end == "item" else recorder.close()

    assert OpaqueReceived(**A, state={"type": "call", "id": "c1", "arguments": raw}) == events[0]
    assert ["nameless-call"] == notes


def test_a_whole_call_without_a_name_is_kept_raw():
    """
    So is one that came in one piece, with its state.
    """
    notes = []
    recorder = Recorder("a1", note=lambda code, message: notes.append(code))
    recorder.start(origin())

    assert [OpaqueReceived(**A, state={"type": "call", "id": "c1", "arguments": {"a": 1}})] == recorder.tool_call(
        "c1", "", {"a": 1}, state={"type": "call"}
    )
    assert ["nameless-call"] == notes


def test_facts_of_a_call_that_was_made(recorder):
    """
    The state of a call is complete with the end of its input.
    """
    recorder.tool_call("c1", "search", {}, key=0)

    assert [] == recorder.keep(0, {"signature": "s"})
    assert {} == recorder.so_far()[-1].state


# -- results


def test_a_result_ends_the_input_of_its_call(recorder):
    """
    A call whose input has no end of its own has ended when its result comes.
    """
    recorder.tool_input("c1", "search", '{"a":1}', provider_executed=True)

    assert [
        ToolInputEnded(**C, text='{"a":1}'),
        ToolCalled(**C, name="search", input={"a": 1}, provider_executed=True),
        ToolSuccess(**C, output="found", provider_executed=True, details={"ms": 5}, state={"s": 1}),
    ] == recorder.result("c1", "found", state={"s": 1}, details={"ms": 5})


def test_a_second_result_is_ignored():
    """
    The first result of a call counts.
    """
    notes = []
    recorder = Recorder("a1", note=lambda code, message: notes.append(code))
    recorder.start(origin())
    recorder.tool_call("c1", "search", {}, provider_executed=True)
    recorder.result("c1", 1)

    assert [] == recorder.result("c1", 2)
    assert ["second-result"] == notes


def test_a_result_that_comes_before_its_call(recorder):
    """
    It waits in the recorder, and keeps facts there.
    """
    assert [] == recorder.result("c1", "found", name="search", key="r", provider_executed=True)
    recorder.keep("r", {"signature": "s"})
    recorder.tool_call("c1", "search", {}, provider_executed=True)

    assert (
        ToolSuccess(**C, output="found", provider_executed=True, state={"signature": "s"})
        == (recorder.finish("stop")[0])
    )


def test_a_result_that_waits_for_a_call_whose_input_is_cut(recorder):
    """
    Such a call fails, since its input is unknown.
    """
    recorder.result("c1", "found", name="search")
    recorder.tool_input("c1", "search", "{", provider_executed=True)

    assert ["tool.input.ended", "tool.failed", "step.failed"] == [event.type for event in recorder.close()]


@pytest.mark.parametrize("end", ["finish", "close"])
def test_a_result_without_a_call(recorder, end):
    """
    At the end of the step a call is made up for it.
    """
    why = ErrorInfo(kind="tool", message="no")
    recorder.result("c1", "half", why, "search", call_state={"type": "search_call"})
    state = {"type": "search_call", "orphan": True}
    events = recorder.finish("stop") if end == "finish" else recorder.close()

    assert [
        ToolInputStarted(**C, name="search", provider_executed=True),
        ToolInputEnded(**C, text="{}", state=state),
        ToolCalled(**C, name="search", input={}, provider_executed=True),
        ToolFailed(**C, error=why, output="half", provider_executed=True),
    ] == events[:-1]


def test_results_without_calls_and_keys(recorder):
    """
    Each is one of its own.
    """
    for call_id in ("c1", "c2"):
        recorder.result(call_id, call_id, name="search")

    assert ["c1", "c2"] == [event.call_id for event in recorder.finish("stop") if event.type == "tool.success"]


# -- numbers


def test_items_are_numbered_when_they_first_cause_an_event():
    """
    Each part of an item has its number in the state; an item that causes no event has none.
    """
    recorder = Recorder("a1", item_key="i")
    recorder.start(origin())
    recorder.tool_input(None, None, key="waits")
    events = [
        *recorder.text("a", key="t"),
        *recorder.end("t"),
        *recorder.end_media(data=b"x", media_type="image/png", key="t"),
        *recorder.tool_call("c1", "search", {}, key="call", provider_executed=True),
        *recorder.result("c1", key="result"),
        *recorder.opaque({}, "o"),
        *recorder.text("without a key"),
        *recorder.end_text(),
    ]

    assert [0, 0, 1, 2, 3, None] == [event.state.get("i") for event in events if hasattr(event, "state")]


def test_numbers_start_again_with_the_step():
    """
    A restart voids the items.
    """
    recorder = Recorder("a1", item_key="i")
    recorder.start(origin())
    recorder.text("a", key="t")
    recorder.restart("again")

    assert [TextStarted(**A), TextEnded(**A, text="b", state={"i": 0})] == recorder.end_text(text="b", key="u")
