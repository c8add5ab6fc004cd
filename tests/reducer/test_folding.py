"""
What events add up to: parts, calls, steps, restarts, rewinds, compactions, places and times.
"""

from datetime import timedelta

import pytest

from assistant_events import (
    AssistantMessage,
    Awaits,
    CallStatus,
    Citation,
    CompactionFailed,
    CompactionMessage,
    CompactionStarted,
    ErrorInfo,
    FinishReason,
    JsonContent,
    MediaDelta,
    MediaEnded,
    MediaPart,
    MediaStarted,
    MessageStatus,
    OpaquePart,
    OpaqueReceived,
    ReasoningDelta,
    ReasoningPart,
    ReasoningStarted,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextContent,
    TextDelta,
    TextEnded,
    TextPart,
    TextStarted,
    ToolApprovalRequested,
    ToolApproved,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolPart,
    ToolProgress,
    ToolStarted,
    ToolSuccess,
    Transcript,
    Usage,
    UserMessage,
    fold,
    reduce,
)
from assistant_events.messages import PartStatus, Times
from assistant_events.reducer import Builder
from assistant_events.testing import (
    Call,
    Clock,
    answer,
    compaction,
    deltas,
    durable,
    error,
    origin,
    prompt,
    records,
    rewind,
    run,
)
from assistant_events.testing.fixed_ids_and_clock import START as DAWN

A = {"message_id": "a1"}
C = {"message_id": "a1", "call_id": "c1"}
START = StepStarted(**A, origin=origin())
END = StepEnded(**A, finish_reason="stop")


def only(events):
    """
    Return the one message that *events* give, in order.
    """
    transcript = fold(events, strict=True)
    assert len(transcript) == 1
    return transcript.last


def call(events):
    """
    Return the one call of the one message.
    """
    (part,) = only(events).tool_calls
    return part


def at(second):
    return DAWN + timedelta(seconds=second)


def test_a_prompt_is_a_user_message():
    """
    What was submitted is a message as a whole.
    """
    assert UserMessage(id="u1", content=(TextContent("hi"),)) == only([prompt()])


def test_a_started_step_is_a_running_message():
    """
    A step is a message from its start on, with what is known of it.
    """
    start = StepStarted(**A, origin=origin("acme", "x"), run=run(), state={"s": 1})

    assert AssistantMessage(id="a1", origin=origin("acme", "x"), run=run(), state={"s": 1}) == only([start])


def test_an_ended_step_is_completed():
    """
    The end brings finish, usage, run and state.
    """
    end = StepEnded(
        **A, finish_reason="length", raw_finish_reason="MAX", usage=Usage(output_tokens=9), run=run(), state={"s": 1}
    )
    message = only([START, end])

    assert (MessageStatus.COMPLETED, FinishReason.LENGTH, "MAX") == (
        message.status,
        message.finish_reason,
        message.raw_finish_reason,
    )
    assert (Usage(output_tokens=9), run(), {"s": 1}) == (message.usage, message.run, message.state)
    assert message.error is None


def test_details_come_with_the_end():
    """
    Details of a text, a result and a step are those of its end.
    """
    events = [
        *(START, TextStarted(**A), TextEnded(**A, text="Hi", details={"speakers": ["Ada"]})),
        *(ToolCalled(**C, name="search", input={}, provider_executed=True), ToolSuccess(**C, details={"ms": 3})),
        StepEnded(**A, finish_reason="stop", details={"tier": 1}),
    ]
    message = only(events)

    assert [{"speakers": ["Ada"]}, {"ms": 3}] == [part.details for part in message.parts]
    assert {"tier": 1} == message.details


def test_details_of_failures_come_with_them():
    """
    So are those of a failed result and a failed step, until a restart.
    """
    call = ToolCalled(**C, name="search", input={}, provider_executed=True)
    events = [
        START,
        call,
        ToolFailed(**C, error=error(), details={"ms": 3}),
        StepFailed(**A, error=error(), details={"t": 1}),
    ]
    message = only(events)

    assert ({"ms": 3}, {"t": 1}) == (message.parts[0].details, message.details)
    assert {} == only([*events, StepRestarted(**A, reason="again")]).details


def test_a_failed_step_keeps_what_came():
    """
    A failure brings error and usage; the parts stay, without a finish reason.
    """
    message = only(
        [START, TextStarted(**A), TextEnded(**A, text="Hel", complete=False), StepFailed(**A, error=error())]
    )

    assert (MessageStatus.FAILED, None, error()) == (message.status, message.finish_reason, message.error)
    assert "Hel" == message.text


def test_the_end_leaves_run_and_state_that_it_does_not_say_anew():
    """
    Run and state of the start stay unless the end has others.
    """
    message = only([StepStarted(**A, origin=origin(), run=run(), state={"s": 1}), END])

    assert (run(), {"s": 1}) == (message.run, message.state)


def test_a_text_streams():
    """
    Deltas are joined while the text is open.
    """
    message = only([START, TextStarted(**A), *deltas("Hello")])

    assert (TextPart(text="Hello", status=PartStatus.STREAMING),) == message.parts


def test_a_text_ends():
    """
    The end of a text brings all of it, with citations and state.
    """
    end = TextEnded(**A, text="Hello", citations=[Citation(url="https://x.test")], state={"s": 1})
    (part,) = only([START, TextStarted(**A), end]).parts

    assert ("Hello", PartStatus.COMPLETED, {"s": 1}) == (part.text, part.status, part.state)
    assert (Citation(url="https://x.test"),) == part.citations


def test_a_delta_that_is_partly_covered_adds_the_rest():
    """
    What overlaps is not doubled.
    """
    events = [START, TextStarted(**A), *deltas("Hello"), TextDelta(**A, offset=3, delta="lo, you")]

    assert "Hello, you" == only(events).text


def test_offsets_count_code_points():
    """
    A character outside the basic plane is one.
    """
    events = [START, TextStarted(**A), TextDelta(**A, offset=0, delta="😀"), TextDelta(**A, offset=1, delta="!")]

    assert "😀!" == only(events).text


def test_media_stream_and_end():
    """
    Bytes are joined while media are open; their end may have a URI instead.
    """
    open_ = [START, MediaStarted(**A, media_type="image/png")]
    streaming = [*open_, MediaDelta(**A, offset=0, delta=b"ab"), MediaDelta(**A, offset=1, delta=b"bc")]
    ended = [*streaming, MediaEnded(**A, media_type="image/webp", uri="https://x.test/1", state={"s": 1})]

    assert [(None, PartStatus.STREAMING)] == [(part.data, part.status) for part in only(open_).media]
    assert [(b"abc", PartStatus.STREAMING)] == [(part.data, part.status) for part in only(streaming).media]
    assert (MediaPart(media_type="image/webp", uri="https://x.test/1", status="completed", state={"s": 1}),) == only(
        ended
    ).media


def test_an_opaque_item_is_a_part():
    """
    What has no word of ours keeps its place among the parts.
    """
    message = only([START, OpaqueReceived(**A, state={"raw": 1}), TextStarted(**A)])

    assert (OpaquePart(state={"raw": 1}), TextPart(text="", status="streaming")) == message.parts


def test_parts_stand_in_the_order_of_their_start():
    """
    Which of them ends first plays no part.
    """
    events = [
        START,
        ReasoningStarted(**A),
        TextStarted(**A),
        TextEnded(**A, text="t"),
        ReasoningDelta(**A, offset=0, delta="r"),
    ]

    assert [("reasoning", "r"), ("text", "t")] == [(part.type, part.text) for part in only(events).parts]


def test_a_call_streams():
    """
    The raw input is there while it is written, and nothing else yet.
    """
    events = [START, ToolInputStarted(**C, name="search", provider_executed=True), *deltas('{"a"', call_id="c1")]

    assert ToolPart(
        **C,
        name="search",
        provider_executed=True,
        status="streaming",
        raw_input='{"a"',
        input_status="streaming",
    ) == call(events)


def test_a_call_whose_input_ended_waits():
    """
    Between the end of its input and `tool.called` a call is still streaming.
    """
    part = call([START, ToolInputStarted(**C, name="search"), ToolInputEnded(**C, text="{}", state={"s": 1})])

    assert (CallStatus.STREAMING, PartStatus.COMPLETED, None) == (part.status, part.input_status, part.input)
    assert ("{}", {"s": 1}) == (part.raw_input, part.state)


def test_a_call_keeps_raw_and_parsed_input():
    """
    The part has the raw text of the input beside the parsed one.
    """
    part = call(answer(calls=[Call("search", '{"a" : 1}')]))

    assert ('{"a" : 1}', {"a": 1}, CallStatus.CALLED) == (part.raw_input, part.input, part.status)


def test_a_call_that_came_whole_has_no_raw_input():
    """
    `tool.called` alone makes a call, with its state.
    """
    part = call([START, ToolCalled(**C, name="search", input={"a": 1}, state={"s": 1})])

    assert ("", None, {"a": 1}, {"s": 1}) == (part.raw_input, part.input_status, part.input, part.state)


@pytest.mark.parametrize(("state", "expected"), [({}, {"s": 1}), ({"s": 2}, {"s": 2})])
def test_the_state_of_a_call(state, expected):
    """
    The state of `tool.called` replaces that of the input unless it is empty.
    """
    events = [START, ToolInputStarted(**C, name="search"), ToolInputEnded(**C, text="{}", state={"s": 1})]

    assert expected == call([*events, ToolCalled(**C, name="search", input={}, state=state)]).state


def test_progress_replaces_the_last_one():
    """
    The output of a running call is its last progress.
    """
    called = [START, ToolCalled(**C, name="search", input={})]
    events = [*called, ToolProgress(**C, output="a"), ToolProgress(**C, output=[1, 2])]

    assert (JsonContent([1, 2]),) == call(events).output


def test_a_call_waits_for_approval_and_is_started():
    """
    A call shows what the app asked for, what it got, and its last attempt, also behind a snapshot and once it is over.
    """
    before = [START, ToolCalled(**C, name="search", input={}), StepEnded(**A, finish_reason="tool-calls")]
    acts = [
        ToolApprovalRequested(**C, reason="it sends a mail"),
        ToolApproved(**C),
        ToolStarted(**C, attempt=1),
        ToolStarted(**C, attempt=3),
        ToolSuccess(**C, output="sent"),
    ]
    seen = [(None, None, 0, False)]
    transcript = fold(before)
    for act in acts:
        transcript = fold([act], start=transcript, strict=True)
        (part,) = transcript.last.tool_calls
        seen.append((part.approval, part.approval_reason, part.attempt, part.is_outcome_unknown))

    why = "it sends a mail"
    assert [
        (None, None, 0, False),
        ("requested", why, 0, False),
        ("approved", why, 0, False),
        ("approved", why, 1, True),
        ("approved", why, 3, True),
        ("approved", why, 3, False),
    ] == seen
    assert transcript == fold([*before, *acts])


def test_success_replaces_progress():
    """
    The result replaces the progress, with a state of its own.
    """
    called = [START, ToolCalled(**C, name="search", input={}, state={"s": 1}), ToolProgress(**C, output="a")]
    part = call([*called, ToolSuccess(**C, output="b", state={"s": 2})])

    assert (CallStatus.SUCCESS, (TextContent("b"),)) == (part.status, part.output)
    assert ({"s": 1}, {"s": 2}) == (part.state, part.result_state)


def test_a_failure_keeps_what_it_says_it_had():
    """
    A failed call has an error, and the output that the event gives.
    """
    called = [START, ToolCalled(**C, name="search", input={"a": 1})]
    part = call([*called, ToolFailed(**C, error=error("tool"), output="half", state={"s": 2})])

    assert (CallStatus.FAILED, error("tool"), (TextContent("half"),)) == (part.status, part.error, part.output)
    assert ({"a": 1}, {"s": 2}) == (part.input, part.result_state)


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([ToolCalled(**C, name="t", input={}, provider_executed=True), ToolSuccess(**C)], id="called"),
        pytest.param(
            [
                *(ToolInputStarted(**C, name="t"), ToolInputEnded(**C, text="{}")),
                ToolCalled(**C, name="t", input={}, provider_executed=True),
            ],
            id="called after its input",
        ),
        pytest.param([ToolCalled(**C, name="t", input={}), ToolSuccess(**C, provider_executed=True)], id="answered"),
        pytest.param(
            [ToolCalled(**C, name="t", input={}), ToolFailed(**C, error=error(), provider_executed=True)], id="failed"
        ),
        pytest.param(
            [
                ToolInputStarted(**C, name="t", provider_executed=True),
                ToolInputEnded(**C, text="{}"),
                ToolCalled(**C, name="t", input={}),
            ],
            id="begun",
        ),
    ],
)
def test_a_provider_executed_call_stays_one(events):
    """
    One event with `provider_executed` is enough.
    """
    assert call([START, *events]).provider_executed


def test_a_restart_empties_the_message():
    """
    Parts, error, usage, details and state are removed, also the state of the end; origin and run stay.
    """
    start = StepStarted(**A, origin=origin(), run=run(), state={"s": 1})
    failed = StepFailed(**A, error=error(), usage=Usage(output_tokens=1), details={"d": 1}, state={"s": 2})
    restarted = only([start, TextStarted(**A), TextEnded(**A, text="a"), failed, StepRestarted(**A, reason="again")])

    assert AssistantMessage(id="a1", origin=origin(), run=run()) == restarted


def test_a_restart_may_bring_another_run_and_state():
    """
    Run and state of the restart replace those of the start.
    """
    start = StepStarted(**A, origin=origin(), run=run(), state={"s": 1})
    restarted = only([start, StepRestarted(**A, reason="again", run=run("run-2"), state={"s": 2})])

    assert (run("run-2"), {"s": 2}) == (restarted.run, restarted.state)


UNKNOWN = origin(model=None)


@pytest.mark.parametrize(
    ("started", "restarted", "expected"),
    [
        pytest.param(UNKNOWN, origin(served_model="y"), origin(served_model="y"), id="both unknown"),
        pytest.param(origin(), origin(model="x", served_model="y"), origin(served_model="y"), id="served unknown"),
        pytest.param(origin(served_model="y"), origin(served_model="z"), origin(served_model="y"), id="known"),
        pytest.param(origin(served_model="y"), UNKNOWN, origin(served_model="y"), id="unknown in the restart"),
        pytest.param(origin(), None, origin(), id="no origin in the restart"),
    ],
)
def test_a_restart_fills_in_the_models_that_were_unknown(started, restarted, expected):
    """
    The origin of a restart gives the models that the start did not know; those it knew stay.
    """
    events = [StepStarted(**A, origin=started), StepRestarted(**A, reason="again", origin=restarted)]

    assert expected == only(events).origin


def test_a_restarted_step_goes_on_as_a_fresh_one():
    """
    After a restart the same kinds and call ids begin anew.
    """
    before = [START, TextStarted(**A), *deltas("old"), ToolInputStarted(**C, name="t"), *deltas("{", call_id="c1")]
    again = [StepRestarted(**A, reason="again"), *answer("new", calls=[Call("t", call_id="c1")])[1:]]

    assert only(answer("new", calls=[Call("t", call_id="c1")])) == only([*before, *again])


def test_a_rewind_takes_all_after_it():
    """
    The message and all after it leave; their ids stay spent.
    """
    transcript = fold([prompt(), *answer("a"), prompt(message_id="u2"), rewind("a1")], strict=True)

    assert ["u1"] == [message.id for message in transcript]
    assert {"a1", "u2"} == transcript.rewound


def test_finding_messages():
    """
    The newest message, the newest answer, and a message by its id.
    """
    transcript = fold([prompt(), *answer("a"), prompt(message_id="u2")], strict=True)

    assert ("u2", "a1") == (transcript.last.id, transcript.last_answer.id)
    assert transcript["u1"] is transcript.get("u1")
    assert transcript.get("u3") is None
    assert Transcript().last_answer is fold([prompt()]).last_answer is Transcript().last is None


def test_after_a_rewind_the_session_goes_on():
    """
    New messages come under new ids; what still comes for the old ones is late.
    """
    events = [prompt(), *answer("a"), rewind("a1"), *answer("b", message_id="a2")]
    transcript = fold(events, strict=True)

    assert ["hi", "b"] == [message.text for message in transcript]
    assert "late" == reduce(transcript, TextDelta(**A, offset=1, delta="!")).outcome
    assert transcript == fold([*events, *answer("again")])


def test_an_answer_that_has_not_read_the_last_prompts():
    """
    It is before the first of them, and so does what streams of it and after it; a prompt that is gone is none.
    """
    said = [prompt(message_id=name) for name in ("u1", "u2", "u3")]
    late = StepStarted(message_id="a1", origin=origin(), before="u2")
    more = StepStarted(message_id="a2", origin=origin(), before="u3")
    text = [TextStarted(**A), TextDelta(**A, offset=0, delta="So"), TextDelta(**A, offset=2, delta=" it is")]
    events = [*said, late, *text[:2], more, text[2], prompt(message_id="u4")]

    def ids(*events):
        return [message.id for message in fold(events, strict=True)]

    assert ["u1", "a1", "u2", "a2", "u3", "u4"] == ids(*events)
    assert "So it is" == fold(events)["a1"].text
    assert ["u1", "a1", "u2"] == ids(*events, rewind("a2"))
    assert ["u1"] == ids(*events, rewind("a1"))
    assert ["u1", "u3", "a1"] == ids(said[0], said[2], late)
    assert ["u1", "u3", "a1"] == ids(*said[:2], rewind("u2"), said[2], late)
    again = fold([*said[:2], said[1], late, END, said[2]])
    assert ["u1", "a1", "u2", "u3"] == [message.id for message in again]
    assert Awaits.MODEL is fold([*said, late, END]).awaits


def test_messages_interleave():
    """
    Events of several messages may come mixed; messages are in the order of their first event.
    """
    one, two = answer("one", message_id="m1"), answer("two", message_id="m2")
    mixed = [event for pair in zip(one, two, strict=True) for event in pair]

    assert fold([*one, *two]) == fold(mixed, strict=True)


def test_the_same_call_id_in_two_messages_is_two_calls():
    """
    A call id is unique only inside its message.
    """
    events = [
        *answer(calls=[Call("a", call_id="c1")]),
        *answer(calls=[Call("b", call_id="c1")], message_id="a2"),
        ToolSuccess(message_id="a1", call_id="c1", output="done"),
    ]

    assert [("a1", "success"), ("a2", "called")] == [
        (part.message_id, part.status) for message in fold(events, strict=True) for part in message.tool_calls
    ]


def test_a_compaction_streams_and_ends():
    """
    A summary is a message of its own; its end has the whole text.
    """
    events = compaction("Summary", reason="manual", origin=origin())

    assert ("Summ", MessageStatus.RUNNING) == (only(events[:2]).text, only(events[:2]).status)
    assert CompactionMessage(id="c1", reason="manual", origin=origin(), status="completed", text="Summary") == only(
        events
    )


def test_a_compaction_that_failed_has_no_text():
    """
    What came live is not in the log, so it does not stay.
    """
    message = only([*compaction("Summary")[:-1], CompactionFailed(message_id="c1", error=error())])

    assert ("", MessageStatus.FAILED, error()) == (message.text, message.status, message.error)


def test_a_compaction_continues_from_a_snapshot():
    """
    Deltas of a summary continue the text of the transcript.
    """
    events = compaction("Summary")

    assert fold(events) == fold(events[2:], start=fold(events[:2]), strict=True)


def test_context_begins_at_the_last_completed_compaction():
    """
    A model sees the last summary that was completed and what began after it.
    """
    events = [
        prompt(),
        *compaction("one"),
        prompt(message_id="u2"),
        *compaction("two", message_id="c2"),
        prompt(message_id="u3"),
        CompactionStarted(message_id="c3", reason="auto"),
    ]

    assert ["c2", "u3", "c3"] == [message.id for message in fold(events, strict=True).context()]


def test_records_fill_seq_and_times():
    """
    Times are those of the first and the last record; an opaque item takes no time.
    """
    events = [
        prompt(),
        *durable(answer("Hi", reasoning="Hm", calls=[Call("t", output="x")])),
    ]
    events.insert(2, OpaqueReceived(**A))
    transcript = fold(records(events), strict=True)
    user, message = transcript.messages

    # 0 prompt, 1 start, 2 opaque, 3-4 reasoning, 5-6 text, 7 input started, 8 input ended, 9 called, 10 end, 11 success
    assert 12 == transcript.seq
    assert Times(started=at(0)) == user.times
    assert Times(started=at(1), ended=at(10)) == message.times
    assert [(at(2), at(2)), (at(3), at(4)), (at(5), at(6)), (at(7), at(11))] == [
        (part.times.started, part.times.ended) for part in message.parts
    ]


def test_times_of_a_call_that_came_whole():
    """
    A call without input events begins when it is made.
    """
    events = [START, ToolCalled(**C, name="t", input={}), ToolSuccess(**C)]

    assert Times(started=at(1), ended=at(2)) == call(records(events)).times


def test_times_of_a_compaction():
    """
    A summary has times as an answer has them.
    """
    failed = CompactionFailed(message_id="c1", error=error())

    assert Times(started=at(0), ended=at(1)) == only(records(compaction())).times
    assert Times(started=at(0), ended=at(1)) == only(records([compaction()[0], failed])).times


def test_a_restart_opens_the_time_of_its_message():
    """
    A message that starts over began when it first began, and has not ended.
    """
    events = [START, StepFailed(**A, error=error()), StepRestarted(**A, reason="again")]

    assert Times(started=at(0)) == only(records(events)).times


def test_without_records_there_are_no_times():
    """
    Events without records have no times.
    """
    message = only(answer("Hi", calls=[Call("t", output=1)]))

    assert message.times is None
    assert [None, None] == [part.times for part in message.parts]


def test_an_end_that_is_recorded_has_its_time():
    """
    A part that began live and ended in the log has only an end.
    """
    transcript = fold([START, TextStarted(**A)])
    after = fold(records([TextEnded(**A, text="Hi")]), start=transcript, strict=True)

    assert Times(ended=at(0)) == after.last.parts[0].times


def test_times_play_no_part_in_equality():
    """
    The same events with other times are the same transcript.
    """
    events = [prompt(), *answer("Hi")]
    later = records(events, clock=Clock(at(500)))

    assert fold(records(events)) == fold(later)
    assert fold(records(events)).last.times != fold(later).last.times


def test_the_builder_hands_out_what_it_does_not_change():
    """
    A transcript does not change when the builder continues.
    """
    builder = Builder()
    builder.extend(answer("Hello")[:3])
    taken = builder.transcript
    builder.extend(answer("Hello")[3:])

    assert "Hell" == taken.last.text
    assert "Hello" == builder.transcript.last.text


def test_what_did_not_change_is_shared():
    """
    A new transcript holds the very messages and parts that an event did not touch.
    """
    before = fold([prompt(), *answer("a"), START.__class__(message_id="a2", origin=origin())])
    after = reduce(before, TextStarted(message_id="a2")).transcript

    assert before.messages[0] is after.messages[0]
    assert before.messages[1] is after.messages[1]


def test_the_builder_knows_where_the_log_stands():
    """
    `seq` is the place of the last record.
    """
    builder = Builder(Transcript(seq=4))
    builder.apply(records([prompt()], after=4)[0])

    assert 5 == builder.seq


def test_many_messages_are_found():
    """
    An event for an old message lands there however many came since, after rewinds too.
    """
    events = [event for n in range(20) for event in answer(calls=[Call("t")], message_id=f"m{n}")]
    builder = Builder(fold(events))
    builder.apply(ToolSuccess(message_id="m3", call_id="call-1", output="x"))
    builder.apply(rewind("m10"))
    builder.extend(answer("new", message_id="n1"))
    builder.apply(ToolSuccess(message_id="m4", call_id="call-1", output="x"))
    transcript = builder.transcript

    assert ["m3", "m4"] == [part.message_id for message in transcript for part in message.tool_calls if part.settled]
    assert "new" == transcript.last.text


def test_an_input_of_a_call_goes_on_after_a_snapshot():
    """
    An input that was open in the snapshot takes the next delta at its offset.
    """
    start = fold([START, ToolInputStarted(**C, name="t"), *deltas('{"a"', call_id="c1")])
    after = fold([ToolInputDelta(**C, offset=4, delta=":1}")], start=start, strict=True)

    assert '{"a":1}' == after.last.tool_calls[0].raw_input


def test_a_reasoning_may_be_empty():
    """
    A reasoning without text keeps its state.
    """
    message = only(answer("Hi", reasoning_state={"signature": "abc"}))

    assert ReasoningPart(text="", status="completed", state={"signature": "abc"}) == message.parts[0]


def test_an_error_of_an_unknown_kind_is_kept():
    """
    A kind that a newer version wrote folds like any other.
    """
    message = only([START, StepFailed(**A, error=ErrorInfo(kind="newer", message="x"))])

    assert "newer" == message.error.kind


def test_an_iterator_that_fails_loses_nothing():
    """
    What an iterator gave before it raised is applied, and the next delta continues it.
    """
    events = [START, TextStarted(**A), *deltas("Hello world")]

    def broken():
        yield from events[:-1]
        raise OSError("connection lost")

    builder = Builder()
    with pytest.raises(OSError, match="connection lost"):
        builder.extend(broken())

    assert "applied" == builder.apply(events[-1])
    assert "Hello world" == builder.transcript.last.text


def test_deltas_that_come_singly():
    """
    `extend` with one delta at a time appends what is in place, and nothing for another message, kind or call.
    """
    events = [START, TextStarted(**A), *deltas("Hello"), TextDelta(**A, offset=3, delta="lo, you")]
    events += [TextDelta(**A, offset=99, delta="gap"), TextDelta(**A, offset=2, delta="ll")]
    events += [TextDelta(message_id="a2", offset=10, delta="other"), ReasoningDelta(**A, offset=10, delta="other")]
    events += [ToolInputStarted(message_id="a1", call_id=each, name="t") for each in ("c1", "c2")]
    events += [ToolInputDelta(message_id="a1", call_id=each, offset=0, delta=f'"{each}') for each in ("c1", "c2")]
    events += [ToolInputDelta(**C, offset=3, delta='"'), TextDelta(**A, offset=10, delta="!")]
    builder = Builder()
    for event in events:
        builder.extend([event])

    message = builder.transcript.last
    assert ("Hello, you!", "") == (message.text, message.reasoning)
    assert ['"c1"', '"c2'] == [call.raw_input for call in message.tool_calls]


def test_a_delta_that_belongs_nowhere_comes_singly():
    """
    One behind the end of its text adds nothing, nor does one that another message could have at that place.
    """
    builder = Builder()
    for event in [StepStarted(message_id="a2", origin=origin()), START, TextStarted(**A), *deltas("Hello")]:
        builder.extend([event])
    builder.extend([TextDelta(message_id="a2", offset=5, delta="!")])
    [(_, _, text)] = builder.open_text()
    assert ("Hello", "Hello") == (builder.transcript.last.text, text.value())

    for event in [TextEnded(**A, text="Hello"), TextDelta(**A, offset=5, delta="!"), TextStarted(**A)]:
        builder.extend([event])
    builder.extend([TextDelta(**A, offset=0, delta="Bye")])
    assert ("HelloBye", "Hello") == (builder.transcript.last.text, text.value())


def test_records_of_one_moment():
    """
    Records that were appended together have the same time.
    """
    log = records(durable(answer("Hi")), clock=lambda: DAWN)

    assert Times(started=DAWN, ended=DAWN) == only(log).times
    assert [Times(started=DAWN, ended=DAWN)] == [part.times for part in only(log).parts]


def test_an_end_that_is_not_recorded_has_no_time():
    """
    What began in the log and ended as a bare event has only a start.
    """
    start = fold(records([START, TextStarted(**A)]))
    after = fold([TextEnded(**A, text="Hi"), END], start=start, strict=True)

    assert Times(started=at(0)) == after.last.times
    assert [Times(started=at(1))] == [part.times for part in after.last.parts]
