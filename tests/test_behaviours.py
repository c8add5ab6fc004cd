"""
The 64 behaviours that a test list of the ancestor of our events asks for, as our rules have them.

Each test is named after the number of its behaviour. Fragments have no ordinals here: the kind is the address, since
a message has at most one open text, reasoning and media item; the offset of a delta is its place.

Elsewhere, because they concern other modules:

- 45, 52: how JSON and states are frozen, compared and shown is tested with the values; the law of storage tries every
  state.
- 46, 47: which state is sent where is decided by `history`, and tested with it and with the encoders.
- 50: what a provider's redacted or signed items become is tested with the dialects; that their parts keep state is
  `test_b48`.
- 53, 54, 55, 57 (bytes): the wire form, unknown types and versions, upcasting and golden files are tested with the
  converters.
- 58, 60: a store refuses live events and foreign records; tested with the stores.

Not ours:

- 39: a new step does not close another one: several messages may run in one session, each until its own end.
  `reconcile` settles what no process will end.
- 42: retries are the app's; `step.restarted` is what a retry leaves in a log, see `test_b38`.
- 51: capture of state by a route key: state is never nested under a provider name, adapters hand over what they mean.
- 59: a log of JSON lines does not exist; the stores are databases.
"""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import (
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputEnded,
    ToolInputStarted,
    ToolProgress,
    ToolSuccess,
    Usage,
    find_problems,
    fold,
    reconcile,
    reduce,
)
from assistant_events.errors import LocalProtocolError
from assistant_events.messages import PartStatus, Times
from assistant_events.recorder import Recorder
from assistant_events.testing import (
    Call,
    answer,
    compaction,
    deltas,
    durable,
    error,
    message,
    origin,
    prompt,
    records,
    rewind,
)
from assistant_events.testing.strategies import recut
from tests.drawn import sessions

A = {"message_id": "a1"}
C = {"message_id": "a1", "call_id": "c1"}
START = StepStarted(**A, origin=origin())
END = StepEnded(**A, finish_reason="stop")
CALLED = [START, ToolCalled(**C, name="search", input={"a": 1})]


def outcomes(before, *events):
    """
    Return what becomes of *events* after what happened before, and check that only `applied` changes anything.
    """
    transcript, found = fold(before, strict=True), []
    for event in events:
        after, outcome = reduce(transcript, event)
        assert outcome == "applied" or after == transcript
        transcript = after
        found.append(outcome.value)
    return found


def texts(events):
    return [part.text for part in message(events).parts]


# -- fragments


def test_b01_without_deltas():
    """
    Starts and ends alone give the message that all events give.
    """
    events = answer("Hello", reasoning="Hm", calls=[Call("t", {"a": 1}, output="x")])

    assert fold(events) == fold(durable(events))


@given(sessions(settled=True))
def test_b02_durable_suffices(events):
    """
    Durable events alone give the transcript of the full stream, for every legal session.
    """
    assert fold(events) == fold(durable(events))


@given(sessions(), st.data())
def test_b03_recut_deltas(events, data):
    """
    Any other cutting of the deltas gives the same messages.
    """
    assert fold(events) == fold(data.draw(recut(events)))


def test_b03_cut_inside_a_character():
    """
    A recorder joins a surrogate pair that is cut; a combining mark is a code point of its own and may be alone.
    """
    recorder = Recorder("a1")
    events = recorder.start(origin())
    for piece in ("e", "\u0301\ud83d", "\ude00"):
        events += recorder.text(piece)

    assert ["e\u0301😀"] == texts(events)


def test_b04_ended_wins():
    """
    The text of the end replaces what the deltas add up to.
    """
    assert ["Other"] == texts([START, TextStarted(**A), *deltas("Hello"), TextEnded(**A, text="Other")])


@pytest.mark.parametrize(
    ("events", "text"),
    [
        pytest.param([TextEnded(**A, text="")], "", id="empty"),
        pytest.param([TextDelta(**A, offset=0, delta=""), TextEnded(**A, text="")], "", id="empty delta"),
        pytest.param([*deltas("Hello"), TextEnded(**A, text="")], "", id="emptied"),
    ],
)
def test_b05_empty_fragments(events, text):
    """
    An empty fragment is a part; an empty end empties it.
    """
    assert [text] == [part.text for part in fold([START, TextStarted(**A), *events]).last.parts]


def test_b06_texts_in_a_row():
    """
    Each text is a part of its own, in order.
    """
    one = [TextStarted(**A), TextEnded(**A, text="one")]

    assert ["one", "two"] == texts([START, *one, TextStarted(**A), *deltas("two")])


def test_b07_text_and_reasoning_open_at_once():
    """
    Each delta finds the open fragment of its kind.
    """
    pairs = zip(deltas("text", size=1), deltas("hmmm", size=1, kind="reasoning"), strict=True)
    events = [START, TextStarted(**A), ReasoningStarted(**A), *(event for pair in pairs for event in pair)]

    assert ["text", "hmmm"] == texts(events)


def test_b08_kinds_do_not_collide():
    """
    Ours: ordinals that could be equal do not exist; the same offset in text and reasoning means each its own.
    """
    events = [START, TextStarted(**A), ReasoningStarted(**A)]
    events += [ReasoningDelta(**A, offset=0, delta="r"), TextDelta(**A, offset=0, delta="t")]

    assert ["t", "r"] == texts(events)


def test_b09_end_without_start():
    """
    An end of what never began is reported as `orphan` and changes nothing; strict it raises. Recorders write the start.
    """
    end = TextEnded(**A, text="a")

    assert ["orphan"] == outcomes([START], end)
    with pytest.raises(LocalProtocolError):
        fold([START, end], strict=True)


def test_b10_deltas_out_of_place():
    """
    A delta before the start is an orphan, after the end it is late, beyond the end of what is there a gap.
    """
    over = [START, TextStarted(**A), TextEnded(**A, text="Hi")]

    assert ["orphan"] == outcomes([START], TextDelta(**A, offset=0, delta="a"))
    assert ["late"] == outcomes(over, TextDelta(**A, offset=2, delta="a"))
    assert ["gap"] == outcomes([START, TextStarted(**A)], TextDelta(**A, offset=2, delta="a"))


def test_b11_start_again():
    """
    Ours: a second start while the first is open is a `conflict` that changes nothing; without ordinals it may be
    another text.
    """
    assert ["conflict"] == outcomes([START, TextStarted(**A)], TextStarted(**A))


def test_b12_end_again():
    """
    The same end again is a duplicate, another one a conflict.
    """
    over = [START, TextStarted(**A), TextEnded(**A, text="Hi")]

    assert ["duplicate", "conflict"] == outcomes(over, TextEnded(**A, text="Hi"), TextEnded(**A, text="Ho"))


def test_b13_second_open_fragment_of_a_kind():
    """
    In a log it is a conflict, strict an error; a recorder ends the first when the second begins.
    """
    recorder = Recorder("a1")
    events = [*recorder.start(origin()), *recorder.text("a", key=1), *recorder.text("b", key=2)]

    assert ["conflict"] == outcomes([START, TextStarted(**A)], TextStarted(**A))
    assert ["a", "b"] == texts(events)


def test_b14_out_of_order():
    """
    Ours: what comes out of order is seen by the offset, a gap or a duplicate.
    """
    first, second = deltas("Hell", size=2)

    assert ["gap", "applied", "applied", "duplicate"] == outcomes(
        [START, TextStarted(**A)], second, first, second, first
    )


def test_b15_wrong_messages():
    """
    An unknown message makes an orphan, a prompt a conflict, a completed answer something late.
    """
    assert ["orphan"] == outcomes([], TextStarted(**A))
    assert ["conflict"] == outcomes([prompt(message_id="a1")], TextStarted(**A))
    assert ["late"] == outcomes([START, END], TextStarted(**A))


# -- tools


def test_b16_happy_path():
    """
    A call moves from streaming to called to success, and records fill its times.
    """
    log = records(answer(calls=[Call("t", output="x")]))
    stages = [fold(log[: at + 1]).last.tool_calls[0].status.value for at in range(1, len(log))]
    times = fold(log).last.tool_calls[0].times

    assert ["streaming", "streaming", "called", "called", "success"] == stages
    assert Times(started=log[1].at, ended=log[-1].at) == times


def test_b17_interleaved_inputs():
    """
    The deltas of two inputs do not mix.
    """
    other = {"message_id": "a1", "call_id": "c2"}
    events = [START, ToolInputStarted(**C, name="t"), ToolInputStarted(**other, name="t")]
    for one, two in zip(deltas("abcd", call_id="c1", size=1), deltas("1234", call_id="c2", size=1), strict=True):
        events += [one, two]

    assert ["abcd", "1234"] == [call.raw_input for call in message(events).tool_calls]


def test_b18_same_id_in_two_steps():
    """
    A call id is unique only inside its message.
    """
    events = [*answer(calls=[Call("t", call_id="c1")]), *answer(calls=[Call("t", call_id="c1")], message_id="a2")]
    transcript = fold([*events, ToolSuccess(message_id="a2", call_id="c1")], strict=True)

    assert ["called", "success"] == [call.status.value for answer in transcript for call in answer.tool_calls]


def test_b19_same_id_twice_in_a_step():
    """
    In a log the second start of a call is a conflict; a recorder gives the second call another id.
    """
    recorder = Recorder("a1")
    recorder.start(origin())
    ids = [event.call_id for _ in range(2) for event in recorder.tool_call("c1", "t", {})]

    assert ["conflict"] == outcomes(CALLED, ToolInputStarted(**C, name="search"))
    assert ["c1", "c1#2"] == ids


def test_b20_called_without_input():
    """
    `tool.called` has a name, so it makes a call on its own.
    """
    assert [("search", {"a": 1})] == [(call.name, call.input) for call in message(CALLED).tool_calls]


def test_b21_success_too_early():
    """
    Success while the input streams, or before the call is made, is a conflict.
    """
    streaming = [START, ToolInputStarted(**C, name="t")]

    assert ["conflict"] == outcomes(streaming, ToolSuccess(**C))
    assert ["conflict"] == outcomes([*streaming, ToolInputEnded(**C, text="{}")], ToolSuccess(**C))


def test_b22_failed_while_streaming():
    """
    A call whose input was not an object keeps the raw text and has no input.
    """
    (call,) = message(answer(calls=[Call("t", "{broken")])).tool_calls

    assert ("{broken", None, "invalid-input") == (call.raw_input, call.input, call.error.kind)


def test_b23_failed_while_called():
    """
    A call that failed while it ran keeps its input.
    """
    (call,) = message([*CALLED, ToolFailed(**C, error=error("tool"))]).tool_calls

    assert {"a": 1} == call.input


def test_b24_first_terminal_wins():
    """
    A second answer is reported and changes nothing.
    """
    assert ["conflict", "conflict", "duplicate"] == outcomes(
        [*CALLED, ToolSuccess(**C, output="a")],
        ToolFailed(**C, error=error()),
        ToolSuccess(**C, output="b"),
        ToolSuccess(**C, output="a"),
    )


def test_b25_called_again():
    """
    A call that is answered does not run again: the same `tool.called` is a duplicate, another one a conflict.
    """
    assert ["duplicate", "conflict"] == outcomes(
        [*CALLED, ToolSuccess(**C)], CALLED[1], ToolCalled(**C, name="search", input={"a": 2})
    )


def test_b26_late_progress():
    """
    Progress after the answer is late.
    """
    assert ["late"] == outcomes([*CALLED, ToolSuccess(**C)], ToolProgress(**C, output="x"))


def test_b27_progress():
    """
    Progress replaces the last one and is live. Ours: what a failed call had so far is in its event when its author
    puts it there; the fold does not add it.
    """
    running = [*CALLED, ToolProgress(**C, output="a"), ToolProgress(**C, output="b")]
    (failed,) = message([*running, ToolFailed(**C, error=error(), output="b")]).tool_calls

    assert not ToolProgress.durable
    assert ["b"] == [content.text for content in message(running).tool_calls[0].output]
    assert ["b"] == [content.text for content in failed.output]


@pytest.mark.parametrize("raw", ["{", "nonsense"])
def test_b28_malformed_input(raw):
    """
    Malformed JSON fails the call as `invalid-input`, keeps the raw text, and the step continues to its end.
    """
    answered = message(answer(calls=[Call("t", raw)]))

    assert ("completed", "invalid-input", raw) == (
        answered.status,
        answered.tool_calls[0].error.kind,
        answered.tool_calls[0].raw_input,
    )


@pytest.mark.parametrize("raw", ["[]", '"a"', "null", "1"])
def test_b29_input_that_is_no_object(raw):
    """
    Ours: input that is JSON but no object fails the call as `invalid-input`; nothing is wrapped.
    """
    (call,) = message(answer(calls=[Call("t", raw)])).tool_calls

    assert ("invalid-input", raw, None) == (call.error.kind, call.raw_input, call.input)


def test_b30_calls_of_the_provider():
    """
    That the provider ran a call stays recorded, and the state of the result is apart from that of the call.
    """
    events = answer(calls=[Call("t", output="x", provider_executed=True, state={"c": 1}, result_state={"r": 1})])
    (call,) = message(events).tool_calls

    assert (True, {"c": 1}, {"r": 1}) == (call.provider_executed, call.state, call.result_state)


def test_b31_call_of_the_provider_without_result():
    """
    It fails as `no-result` when the answer ends.
    """
    (call,) = message(answer(calls=[Call("t", provider_executed=True)])).tool_calls

    assert ("failed", "no-result") == (call.status, call.error.kind)


def test_b32_name_mismatch():
    """
    A call that changes its name between input and call is a conflict.
    """
    begun = [START, ToolInputStarted(**C, name="search"), ToolInputEnded(**C, text="{}")]

    assert ["conflict"] == outcomes(begun, ToolCalled(**C, name="fetch", input={}))


@pytest.mark.parametrize("provider_executed", [True, False])
def test_b33_calls_settle_before_the_step(provider_executed):
    """
    Ours: calls of the provider settle before the step ends; calls of the app are answered after it.
    """
    called = [START, ToolCalled(**C, name="t", input={}, provider_executed=provider_executed)]

    assert ["conflict" if provider_executed else "applied"] == outcomes(called, END)


# -- steps


def test_b34_the_end_of_a_step():
    """
    It brings finish, the provider's own word, usage and the time.
    """
    log = records(
        [START, StepEnded(**A, finish_reason="length", raw_finish_reason="MAX", usage=Usage(output_tokens=3))]
    )
    last = fold(log).last

    assert ("length", "MAX", Usage(output_tokens=3)) == (last.finish_reason, last.raw_finish_reason, last.usage)
    assert log[1].at == last.times.ended


def test_b35_closing():
    """
    Fragments end as incomplete, calls fail, then the step fails, once.
    """
    recorder = Recorder("a1")
    recorder.start(origin())
    recorder.text("t", key="t")
    recorder.reasoning("r", key="r")
    recorder.tool_input("c1", "search", "{")
    closed = recorder.close()

    assert ["tool.input.ended", "text.ended", "reasoning.ended", "tool.failed", "step.failed"] == [
        event.type for event in closed
    ]
    assert {False} == {event.complete for event in closed if hasattr(event, "complete")}
    assert [] == recorder.close()


def test_b36_partial_text_stays():
    """
    A failed step keeps what came.
    """
    recorder = Recorder("a1")
    events = [*recorder.start(origin()), *recorder.text("Hel"), *recorder.fail(error())]

    assert "Hel" == message(events).text
    assert PartStatus.INCOMPLETE is message(events).parts[0].status


def test_b37_second_step_terminal():
    """
    The same again is a duplicate, another one a conflict.
    """
    assert ["duplicate", "conflict", "conflict"] == outcomes(
        [START, END], END, StepEnded(**A, finish_reason="length"), StepFailed(**A, error=error())
    )


def test_b38_restart():
    """
    Ours: a restart is an event of its own; it empties content, error, usage and finish. A second `step.started` is a
    conflict.
    """
    failed = [
        START,
        TextStarted(**A),
        TextEnded(**A, text="a"),
        StepFailed(**A, error=error(), usage=Usage(output_tokens=1)),
    ]
    restarted = message([*failed, StepRestarted(**A, reason="again")])

    assert message([START]) == restarted
    assert ["conflict"] == outcomes(failed, START)


def test_b40_old_steps_are_not_revived():
    """
    Ours: a step is addressed by its id; an older one that runs continues by its own events only, one that was closed
    does not.
    """
    closed = [START, *reconcile(fold([START])), StepStarted(message_id="a2", origin=origin())]

    assert ["late", "applied"] == outcomes(closed, TextStarted(**A), TextStarted(message_id="a2"))


def test_b41_content_filter():
    """
    Ours: a step that the provider withheld completes with finish `content-filter` and what came; no failure is made up.
    """
    answered = message(answer("Hal", finish_reason="content-filter"))

    assert ("completed", "content-filter", "Hal", None) == (
        answered.status,
        answered.finish_reason,
        answered.text,
        answered.error,
    )


def test_b43_reconcile():
    """
    What a crash left open is settled by events for exactly that, and twice gives nothing new.
    """
    events = [START, ToolInputStarted(**C, name="t"), *answer("done", message_id="a2")]
    ends = reconcile(fold(events))

    assert ["tool.input.ended", "tool.failed", "step.failed"] == [event.type for event in ends]
    assert [] == reconcile(fold([*events, *ends], strict=True))


# -- provider state


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        pytest.param({}, {"s": 1}, id="nothing new"),
        pytest.param({"s": None}, {"s": None}, id="null is kept"),
        pytest.param({"t": 2}, {"s": 1, "t": 2}, id="added"),
    ],
)
def test_b44_state_of_start_and_end(end, expected):
    """
    Ours: a state at the end is added to that of the start, and wins over it: what is known of an item survives.
    """
    recorder = Recorder("a1")
    events = [*recorder.start(origin()), *recorder.text("a", state={"s": 1}), *recorder.end_text(end)]

    assert [expected] == [part.state for part in message(events).parts]


def test_b48_empty_reasoning():
    """
    With a state it is kept; without one the recorder makes nothing of it.
    """
    recorder = Recorder("a1")
    events = [*recorder.start(origin()), *recorder.end_reasoning({"signature": "x"})]

    assert [("", {"signature": "x"})] == [(part.text, part.state) for part in message(events).parts]
    assert [] == recorder.end_reasoning()


def test_b49_two_fragments_of_one_item():
    """
    Fragments with the same id in their state are distinguished by their order.
    """
    recorder = Recorder("a1")
    events = recorder.start(origin())
    for number in range(2):
        events += recorder.reasoning(f"part {number}", key=number)
        events += recorder.end_reasoning({"item": "rs"}, key=number)

    assert [("part 0", {"item": "rs"}), ("part 1", {"item": "rs"})] == [
        (part.text, part.state) for part in message(events).parts
    ]


# -- logs


def test_b56_places_in_the_log():
    """
    A record is applied in its place, a duplicate when that has passed, a gap beyond it; a snapshot holds its place.
    """
    log = records([prompt(), *durable(answer("Hi"))])

    assert ["gap", "applied", "duplicate", "applied"] == outcomes([], log[1], log[0], log[0], log[1])
    assert [] == find_problems(log[2:], start=fold(log[:2]))


@given(sessions())
def test_b57_the_same_log_twice(events):
    """
    The same log folds to equal transcripts.
    """
    log = records(events)

    assert fold(log) == fold(log)
    assert fold(log) == fold([*log, *log])


def test_b61_nothing_is_mutated():
    """
    An old transcript is as good as before once a new one was made, and shares what did not change.
    """
    before = fold([prompt(), START, TextStarted(**A), *deltas("Hel")])
    after = reduce(before, TextDelta(**A, offset=3, delta="lo")).transcript

    assert ("Hel", "Hello") == (before.last.text, after.last.text)
    assert before.messages[0] is after.messages[0]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        before.last.status = "failed"


def test_b62_many_deltas():
    """
    Ten thousand deltas are one text; that their cost is linear is a law of its own.
    """
    text = "word" * 10_000

    assert text == message([START, TextStarted(**A), *deltas(text)]).text


@given(sessions(), st.data())
def test_b63_snapshot_and_rest(events, data):
    """
    A snapshot at any record and the records after it give the whole.
    """
    log = records(events)
    at = data.draw(st.integers(0, len(log)))

    assert fold(log) == fold(log[at:], start=fold(log[:at]))


def test_b64_compactions():
    """
    Deltas are live, the end has all; without a start it is an orphan. A compaction that failed changes no context,
    and of two the last counts. Ours: each has an id of its own.
    """
    events = [prompt(), *compaction("one"), *answer("Hi"), *compaction("two", message_id="c2")]

    assert fold(events) == fold(durable(events))
    assert ["orphan"] == outcomes([], compaction()[-1])
    assert ["c2"] == [each.id for each in fold(events).context()]
    assert ["c1", "a1"] == [each.id for each in fold([*events, rewind("c2")]).context()]


def test_b64_a_failed_step_keeps_its_reasoning_apart():
    """
    A summary carries no state of the messages that it replaces: a compaction has only its own.
    """
    events = [*answer("Hi", reasoning="Hm", reasoning_state={"signature": "x"}), *compaction("sum")]

    assert {} == fold(events).context()[0].state
    assert ReasoningEnded(**A, text="Hm", state={"signature": "x"}) in events
