"""
The one-line builders of events, and the fixed ids and clock.
"""

from datetime import UTC, datetime, timedelta, timezone

import pytest

import assistant_events.testing
from assistant_events import (
    Citation,
    CompactionDelta,
    HistoryRewound,
    JsonContent,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    StepEnded,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolInputDelta,
    UnknownEvent,
    Usage,
    find_problems,
    fold,
)
from assistant_events.testing import (
    Call,
    Clock,
    answer,
    compaction,
    deltas,
    durable,
    error,
    ids,
    message,
    origin,
    prompt,
    records,
    rewind,
    run,
)

A = {"message_id": "a1"}


def test_names_are_sorted():
    """
    The package offers its names in order, and Hypothesis is not among what it needs.
    """
    names = assistant_events.testing.__all__

    assert sorted(names, key=lambda name: (name[0].islower(), name)) == names
    assert all(hasattr(assistant_events.testing, name) for name in names)


def test_a_whole_answer():
    """
    An answer is a legal step with all its events.
    """
    assert [
        StepStarted(**A, origin=origin()),
        ReasoningStarted(**A),
        ReasoningDelta(**A, offset=0, delta="Hm"),
        ReasoningEnded(**A, text="Hm"),
        TextStarted(**A),
        TextDelta(**A, offset=0, delta="Hell"),
        TextDelta(**A, offset=4, delta="o"),
        TextEnded(**A, text="Hello"),
        StepEnded(**A, finish_reason="stop"),
    ] == answer("Hello", reasoning="Hm")


def test_an_answer_with_everything():
    """
    The message has what was given.
    """
    built = message(
        answer(
            "Hi",
            message_id="m1",
            origin=origin("other"),
            run=run(),
            finish_reason="length",
            usage=Usage(output_tokens=1),
            citations=[Citation(url="https://x.test")],
            state={"s": 1},
            text_state={"t": 1},
            reasoning_state={"r": 1},
        )
    )

    assert ("m1", "other", run(), "length") == (built.id, built.origin.provider, built.run, built.finish_reason)
    assert (Usage(output_tokens=1), {"s": 1}) == (built.usage, built.state)
    assert [("", {"r": 1}), ("Hi", {"t": 1})] == [(part.text, part.state) for part in built.parts]
    assert "https://x.test" == built.parts[1].citations[0].url


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(Call("t", {"a": 1}), ("called", {"a": 1}, (), "tool-calls"), id="waiting"),
        pytest.param(Call("t", output=5), ("success", {}, (JsonContent(5),), "tool-calls"), id="answered"),
        pytest.param(Call("t", error=error("tool")), ("failed", {}, (), "tool-calls"), id="failed"),
        pytest.param(Call("t", "{"), ("failed", None, (), "stop"), id="invalid"),
        pytest.param(
            Call("t", output=5, provider_executed=True),
            ("success", {}, (JsonContent(5),), "stop"),
            id="by the provider",
        ),
    ],
)
def test_calls(call, expected):
    """
    A call becomes its events, and the step ends for the reason that follows from it.
    """
    events = answer(calls=[call])
    (part,) = message(events).tool_calls

    assert expected == (part.status, part.input, part.output, message(events).finish_reason)
    assert ("call-1", {}) == (part.call_id, part.state)


def test_an_answer_that_fails():
    """
    With an error the step fails and its calls with it.
    """
    events = answer("Hi", calls=[Call("t")], error=error("network"))

    assert "network" == message(events).error.kind
    assert ["failed"] == [call.status for call in message(events).tool_calls]


def test_all_of_it_is_legal():
    """
    A session of builders is a legal one.
    """
    events = [prompt(), *answer("Hi", calls=[Call("t", output=1)]), *compaction()]
    events += [prompt(message_id="u2"), rewind("u2")]

    assert [] == find_problems(events)
    assert [] == find_problems(records(events))


def test_prompts_and_rewinds():
    """
    They are one event each.
    """
    assert PromptSubmitted(message_id="u1", content="hi") == prompt()
    assert HistoryRewound(message_id="u2") == rewind("u2")


@pytest.mark.parametrize(
    ("given", "cls"),
    [
        ({}, TextDelta),
        ({"kind": "reasoning"}, ReasoningDelta),
        ({"kind": "compaction"}, CompactionDelta),
        ({"call_id": "c1"}, ToolInputDelta),
    ],
)
def test_deltas(given, cls):
    """
    A text is cut into deltas of its kind, each at its offset.
    """
    cut = deltas("Hello", size=3, **given)

    assert [(cls, 0, "Hel"), (cls, 3, "lo")] == [(type(delta), delta.offset, delta.delta) for delta in cut]


def test_durable():
    """
    Live events are left out.
    """
    assert ["compaction.started", "compaction.ended"] == [event.type for event in durable(compaction())]


def test_records():
    """
    Durable events become records, with the same places and times in every run.
    """
    unknown = UnknownEvent(type="new", version=1, data={})
    log = records([prompt(), *deltas("Hi"), unknown], after=4, session_id="s2", meta={"user": 1})

    assert [(5, prompt()), (6, unknown)] == [(record.seq, record.event) for record in log]
    assert {("s2", 1)} == {(record.session_id, record.meta["user"]) for record in log}
    assert [datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC) for second in (0, 1)] == [record.at for record in log]


def test_records_take_a_clock():
    """
    The times are those of the clock that is given.
    """
    now = datetime(2030, 1, 1, tzinfo=UTC)

    assert [now] == [record.at for record in records([prompt()], clock=Clock(now))]


def test_ids():
    """
    Ids count up from 1, each function on its own.
    """
    one, two = ids("m"), ids("m")

    assert ["m1", "m2", "m1"] == [one(), one(), two()]


def test_the_clock_moves_by_its_step():
    """
    Each call returns a time one step later.
    """
    clock = Clock(datetime(2030, 1, 1, tzinfo=UTC), timedelta(minutes=1))

    assert [0, 1, 2] == [clock().minute for _ in range(3)]


@pytest.mark.parametrize("zone", [None, timezone(timedelta(hours=1))], ids=["naive", "elsewhere"])
def test_the_clock_is_in_utc(zone):
    """
    A start that is not in UTC is refused.
    """
    with pytest.raises(ValueError, match="expected a datetime in UTC"):
        Clock(datetime(2030, 1, 1, tzinfo=zone))


def test_a_message_is_an_answer():
    """
    `message` wants events that end in an answer.
    """
    assert fold(answer("Hi")).last == message(answer("Hi"))
    with pytest.raises(AssertionError):
        message([prompt()])
