"""
Many events at once: deltas that follow each other are appended together, up to one that belongs elsewhere.
"""

import pytest

from assistant_events import (
    ErrorInfo,
    ReasoningEnded,
    ReasoningStarted,
    StepFailed,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
)
from assistant_events.event_lists import DeltaRun, EventList
from assistant_events.reducer import Builder
from assistant_events.testing import origin
from assistant_events.values.buffers import COMPACT_AT
from assistant_events.values.construct import copy_for_class


def streamed(builder):
    """
    Return the open texts and inputs by the ids of their messages and calls.
    """
    return {
        (message_id, key if isinstance(key, str) else ""): buffer.value()
        for message_id, key, buffer in builder.open_text()
    }


def test_deltas_of_two_messages():
    """
    A delta belongs to its own message, also where the message before it is at the same offset.
    """
    builder = Builder()
    for name, text in (("a2", "Good night"), ("a1", "Hello")):
        builder.extend([StepStarted(message_id=name, origin=origin()), TextStarted(message_id=name)])
        builder.extend([TextDelta(message_id=name, offset=0, delta=text)])
    builder.extend(
        [
            TextDelta(message_id="a1", offset=5, delta=" you"),
            TextDelta(message_id="a1", offset=9, delta="!"),
            TextDelta(message_id="a2", offset=10, delta=", you"),
            TextDelta(message_id="a2", offset=15, delta="."),
        ]
    )

    assert {("a1", ""): "Hello you!", ("a2", ""): "Good night, you."} == streamed(builder)


def test_deltas_of_two_calls():
    """
    The same holds for the inputs of two calls.
    """
    builder = Builder()
    builder.extend([StepStarted(message_id="a1", origin=origin())])
    builder.extend([ToolInputStarted(message_id="a1", call_id=each, name="f") for each in ("c1", "c2")])
    builder.extend(
        [
            ToolInputDelta(message_id="a1", call_id="c1", offset=0, delta='{"a"'),
            ToolInputDelta(message_id="a1", call_id="c2", offset=0, delta='{"bb'),
            ToolInputDelta(message_id="a1", call_id="c1", offset=4, delta=": 1}"),
            ToolInputDelta(message_id="a1", call_id="c2", offset=4, delta='": 2}'),
        ]
    )

    assert {("a1", "c1"): '{"a": 1}', ("a1", "c2"): '{"bb": 2}'} == streamed(builder)


def test_an_input_that_has_ended_is_not_open_after_a_snapshot():
    """
    A message that is folded on has the texts open that it had before.
    """
    of_calls = [{"message_id": "a1", "call_id": call_id} for call_id in ("c1", "c2")]
    builder = Builder()
    builder.extend(
        [
            StepStarted(message_id="a1", origin=origin()),
            *[ToolInputStarted(**of_call, name="t") for of_call in of_calls],
            ToolInputEnded(**of_calls[0], text="{}"),
            ToolInputDelta(**of_calls[1], offset=0, delta="{"),
        ]
    )
    later = Builder(builder.transcript)
    later.extend([ToolInputDelta(**of_calls[1], offset=1, delta="}")])

    assert {("a1", "c2"): "{}"} == streamed(later)


@pytest.mark.parametrize("before", [0, 1, COMPACT_AT - 1])
def test_pieces_are_joined(before):
    """
    However many deltas come at once, only some of their texts are kept apart.
    """
    builder = Builder()
    builder.extend([StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")])
    deltas = [TextDelta(message_id="a1", offset=at, delta="x") for at in range(3 * COMPACT_AT)]
    builder.extend(deltas[:before])
    builder.extend(deltas[before:])
    [(_, _, buffer)] = builder.open_text()

    assert len(buffer.pieces) < COMPACT_AT
    assert 3 * COMPACT_AT * "x" == buffer.value()


def run_of_text(*, before=()):
    """
    Return *before* and three deltas behind it, as a decoder returns them.
    """
    pieces = [(0, "Hel"), (3, "lo "), (6, "you")]
    deltas = [TextDelta(message_id="a1", offset=offset, delta=text) for offset, text in pieces]
    return EventList([*before, *deltas], [DeltaRun(len(before), deltas, "Hello you")])


def test_a_run_is_one_piece():
    """
    A run of deltas is not looked at delta by delta, and events around it are applied.
    """
    builder = Builder()
    events = run_of_text(before=[StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")])
    events.append(TextDelta(message_id="a1", offset=9, delta="!"))
    builder.extend(events)
    [(_, _, buffer)] = builder.open_text()

    assert (["Hello you", "!"], 10) == (buffer.pieces, buffer.length)


CHANGES = {
    "a delta left out": lambda events: events.pop(1),
    "a delta put first": lambda events: events.insert(0, events[0]),
    "the last left out": lambda events: events.pop(),
    "another delta": lambda events: events.__setitem__(2, TextDelta(message_id="a1", offset=6, delta="there")),
    "an event of another kind": lambda events: events.__setitem__(2, TextEnded(message_id="a1", text="Hello ")),
    "reversed": lambda events: events.reverse(),
    "nothing left": lambda events: events.clear(),
    "twice": lambda events: events.extend(list(events)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_list_that_was_changed(change):
    """
    What an app does to the list of a decoder counts, not what the decoder has made.
    """
    builder, one_by_one = Builder(), Builder()
    for each in (builder, one_by_one):
        each.extend([StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")])
    events = run_of_text()
    change(events)
    builder.extend(events)
    for event in list(events):
        one_by_one.apply(event)

    assert one_by_one.transcript == builder.transcript


def test_a_run_that_has_been_applied():
    """
    A run that comes again, or belongs to a message that nothing is known of, changes nothing.
    """
    builder = Builder()
    builder.extend([StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")])
    for _ in range(2):
        builder.extend(run_of_text())
    unknown = Builder()
    unknown.extend(run_of_text())

    assert "Hello you" == builder.transcript.last.text
    assert () == unknown.transcript.messages


def test_a_run_of_another_message():
    """
    A run belongs to its message, also when an event of another one was the last.
    """
    builder = Builder()
    for name in ("a1", "a2"):
        builder.extend([StepStarted(message_id=name, origin=origin()), TextStarted(message_id=name)])
    builder.extend(run_of_text())

    assert {("a1", ""): "Hello you"} == streamed(builder)


def run_of_input(call_id, *behind):
    """
    Return two deltas of an input and what is behind them, as a decoder returns them.
    """
    pieces = [(0, '{"a"'), (4, ": 1}")]
    deltas = [ToolInputDelta(message_id="a1", call_id=call_id, offset=offset, delta=piece) for offset, piece in pieces]
    return EventList([*deltas, *behind], [DeltaRun(0, deltas, '{"a": 1}')])


BEHIND = {
    "its end": TextEnded(message_id="a1", text="Hello you"),
    "an end with another text": TextEnded(message_id="a1", text="Goodbye"),
    "the end of another kind": ReasoningEnded(message_id="a1", text="Hm"),
    "the end of another message": TextEnded(message_id="a2", text="No"),
    "the end of the message": StepFailed(message_id="a1", error=ErrorInfo(kind="network", message="gone")),
}


@pytest.mark.parametrize("event", BEHIND.values(), ids=BEHIND)
def test_what_is_behind_a_run(event):
    """
    A run counts unless its end, which has the whole text, is behind it: the end of something else is not.
    """
    builder, one_by_one = Builder(), Builder()
    for each in (builder, one_by_one):
        for name in ("a2", "a1"):
            each.extend([StepStarted(message_id=name, origin=origin()), TextStarted(message_id=name)])
        each.extend([ReasoningStarted(message_id="a1")])
    events = run_of_text()
    events.append(event)
    builder.extend(events)
    for one in list(events):
        one_by_one.apply(one)

    assert streamed(one_by_one) == streamed(builder)
    assert one_by_one.transcript == builder.transcript


@pytest.mark.parametrize(("call_id", "inputs"), [("c1", ["{}", ""]), ("c2", ['{"a": 1}', "{}"])])
def test_an_end_behind_an_input(call_id, inputs):
    """
    The end of one call leaves what has come of another.
    """
    builder = Builder()
    builder.extend([StepStarted(message_id="a1", origin=origin())])
    builder.extend([ToolInputStarted(message_id="a1", call_id=each, name="f") for each in ("c1", "c2")])
    builder.extend(run_of_input("c1", ToolInputEnded(message_id="a1", call_id=call_id, text="{}")))

    assert inputs == [call.raw_input for call in builder.transcript.last.tool_calls]


def test_a_copy_has_the_runs():
    """
    A list that is made of one with runs has them, too; other lists have none.
    """
    events = run_of_text()

    assert events.runs == EventList(events).runs
    assert () == EventList(list(events)).runs


def test_code_of_its_own():
    """
    A copy for one class does the same, and shares no code that CPython adapts.
    """

    def length(value):
        return len(value)

    copy = copy_for_class(length)

    assert (2, "length") == (copy("ab"), copy.__name__)
    assert copy.__code__ is not length.__code__
